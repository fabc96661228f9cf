// The card of an element: what it holds and who accesses it; opened by a click or Enter, also all its accesses as a list.

import { html, part, set, write } from "../dom.js";
import { elementSays, usesOf, useSays } from "../history.js";
import { UNIT } from "../plane.js";
import { lanesOf, WARP } from "../trace.js";

const LISTED = 200; // accesses in the list at most: those nearest to the current step
const GAP = 8; // pixels between an element and its card

/** @typedef {{plane: import("../plane.js").Plane, i: number, array: number, element: number}} Asked */

export class Ask {
  /**
   * @param {import("../panel.js").Context} context
   * @param {HTMLElement} memory  of the run; the card lies over the whole stepper, which contains it
   * @param {(array: number, element: number) => Asked} home  the element in the drawing of its whole array
   */
  constructor(context, memory, home) {
    this.context = context;
    this.memory = memory;
    this.home = home;
    this.lines = html("div");
    this.list = html("ol", { tabindex: "-1" });
    this.left = html("p", { class: "tt-soft" });
    this.close = html("button", { type: "button", class: "tt-close", "aria-label": "Close (Esc)" }, "×");
    this.close.addEventListener("click", () => this.shut(true));
    this.node = html(
      "div",
      { class: "tt-ask", role: "dialog", hidden: "" },
      this.close,
      this.lines,
      this.left,
      this.list,
    );
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.shut(true);
    });
    /** @type {Asked | null} */
    this.asked = null;
    this.pinned = false;
    this.byKey = false;
    this.known = ""; // whose accesses are in `uses`
    this.listed = ""; // and in the list
    /** @type {string[]} */
    this.told = [];
    /** @type {import("../history.js").Use[]} */
    this.uses = [];
    /** @type {{use: import("../history.js").Use, button: HTMLElement}[]} */
    this.rows = [];
  }

  /** Tell of an element, unless the list of another one is open. @param {Asked | null} asked */
  point(asked) {
    if (this.pinned) return;
    this.mark(asked);
    this.draw();
  }

  /**
   * Open the list of an element's accesses; of the same element again, close it.
   * @param {Asked} asked
   * @param {boolean} byKey
   */
  pin(asked, byKey) {
    const again = this.pinned && this.asked?.array === asked.array && this.asked.element === asked.element;
    this.shut(false);
    if (again) return;
    this.pinned = true;
    this.byKey = byKey;
    this.mark(asked);
    this.draw();
    if (!byKey) return;
    const { position } = this.context.machine;
    const past = this.rows.filter(({ use }) => use.position <= position);
    (past.pop() ?? this.rows[0] ?? { button: this.close }).button.focus();
  }

  /**
   * Close the card; returns whether a list was open.
   * @param {boolean} back  whether the array gets the focus back that it had
   */
  shut(back) {
    const { asked, pinned } = this;
    this.pinned = false;
    this.mark(null);
    this.draw();
    if (back && pinned) (this.byKey ? asked?.plane.layer : this.root)?.focus({ preventScroll: true });
    return pinned;
  }

  /** @returns {HTMLElement | null} */
  get root() {
    return this.memory.closest(".tt-root");
  }

  /** @param {Asked | null} asked */
  mark(asked) {
    this.asked?.plane.ask(null);
    this.asked = asked;
    asked?.plane.ask(asked.i);
  }

  draw() {
    const { node, pinned } = this;
    node.hidden = !this.asked;
    if (!this.asked) return;
    const {
      context: { machine, trace },
    } = this;
    if (!this.asked.plane.node.isConnected) this.mark(this.home(this.asked.array, this.asked.element)); // a magnified part that has moved on
    const { array, element } = this.asked;
    const local = trace.arrays[array].space === "local";
    const key = [machine.blockNumber, local ? machine.thread : "", array, element].join();
    if (this.known !== key) this.uses = usesOf(machine, array, element);
    this.told = elementSays(machine, array, element, this.uses);
    this.lines.replaceChildren(...this.told.map((text, i) => html(i ? "p" : "b", {}, text)));
    const listed = `${key},${pinned}`;
    if (listed !== this.listed) this.fill();
    [this.known, this.listed] = [key, listed];
    for (const { use, button } of this.rows) {
      if (use.position === machine.position) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    node.toggleAttribute("data-open", pinned);
    // without its list the card says no more than the array's own value text
    set(node, "aria-hidden", String(!pinned));
    set(node, "aria-label", `Accesses of ${trace.element(trace.arrays[array], element)}`);
    this.place();
    // told of the focused element, unless the page plays
    const { layer } = this.asked.plane;
    const { root } = this;
    if (root && layer === document.activeElement && part(root, "say").getAttribute("aria-live") !== "off") {
      set(layer, "aria-description", this.told.join(" "));
    }
  }

  /** The list: each access is a button that leads to its step, and to a thread that takes part. */
  fill() {
    const { machine, trace, choose } = this.context;
    const { pinned, uses } = this;
    const before = uses.filter(({ position }) => position <= machine.position).length;
    const from = Math.max(0, Math.min(uses.length - LISTED, before - LISTED / 2));
    const some = pinned ? uses.slice(from, from + LISTED) : [];
    this.rows = some.map((use) => {
      const button = html("button", { type: "button" }, useSays(trace, use));
      button.addEventListener("click", () => {
        const threads = lanesOf(use.mask).map((lane) => WARP * use.warp + lane);
        const { thread } = this.context.machine;
        choose({
          step: use.position,
          ...(threads.includes(thread) ? {} : { thread: trace.threadPosition(threads[0]) }),
        });
      });
      return { use, button };
    });
    const count = uses.length === 1 ? "its 1 access" : `its ${uses.length} accesses`;
    const by = this.asked && trace.arrays[this.asked.array].space === "local" ? "this thread" : "this block";
    const all =
      some.length < uses.length
        ? `The ${some.length} of ${uses.length} accesses nearest to this step:`
        : `All accesses by ${by}:`;
    write(
      this.left,
      !uses.length ? `In this launch ${by} never uses it.` : pinned ? all : `Click, or press Enter, for ${count}.`,
    );
    this.list.replaceChildren(...this.rows.map(({ button }) => html("li", {}, button)));
    this.list.hidden = !this.rows.length;
    this.close.hidden = !pinned;
  }

  /** Put the card below the element, or above it, or beside it, inside the stepper. */
  place() {
    const { root } = this;
    if (!root || !this.asked) return;
    if (this.node.parentElement !== root) root.append(this.node);
    const { i, plane } = this.asked;
    const [frame, box] = [root.getBoundingClientRect(), plane.layer.getBoundingClientRect()];
    const scale = box.width / (plane.width + 2);
    const [x, y] = plane.corner(i).map((at) => at * scale);
    const [left, top] = [box.left - frame.left + x, box.top - frame.top + y];
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const [right, below] = [left + UNIT * scale + GAP, top + UNIT * scale + GAP];
    const within = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(GAP, Math.min(at, most - GAP));
    const free = below + height + GAP <= frame.height ? below : top - GAP - height;
    const beside = free < GAP; // neither below nor above
    const at = beside && right + width > frame.width ? left - GAP - width : right;
    this.node.style.left = `${within(beside ? at : left, frame.width - width)}px`;
    this.node.style.top = `${within(beside ? top : free, frame.height - height)}px`;
  }
}
