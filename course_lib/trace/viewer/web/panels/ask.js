// The card of an element under the pointer, or chosen by the arrow keys: what it holds and who accesses it.

import { html, part, set } from "../dom.js";
import { elementSays, usesOf } from "../history.js";
import { UNIT } from "../plane.js";

const GAP = 8; // pixels between an element and its card

/** @typedef {{plane: import("../plane.js").Plane, i: number, array: number, element: number}} Asked */

export class Ask {
  /**
   * @param {import("../panel.js").Context} context
   * @param {HTMLElement} memory  of the run; the card lies over the whole stepper, which contains it
   */
  constructor(context, memory) {
    this.context = context;
    this.memory = memory;
    // the card says no more than the array's own value text
    this.node = html("div", { class: "tt-ask", "aria-hidden": "true", hidden: "" });
    /** @type {Asked | null} */
    this.asked = null;
    this.known = ""; // whose accesses are in `uses`
    /** @type {string[]} */
    this.texts = [];
    /** @type {import("../history.js").Use[]} */
    this.uses = [];
  }

  /** @returns {HTMLElement | null} */
  get root() {
    return this.memory.closest(".tt-root");
  }

  /** Tell of an element; of none, close the card. @param {Asked | null} asked @returns {boolean}  whether there was a card */
  point(asked) {
    const before = this.asked !== null;
    this.asked?.plane.ask(null);
    this.asked = asked;
    asked?.plane.ask(asked.i);
    this.draw();
    return before;
  }

  draw() {
    const { asked, node } = this;
    node.hidden = !asked;
    if (!asked) return;
    const { replay, trace } = this.context;
    const { array, element } = asked;
    const local = trace.arrays[array].space === "local";
    const key = [replay.blockNumber, local ? replay.thread : "", array, element].join();
    if (this.known !== key) this.uses = usesOf(replay, array, element);
    this.known = key;
    this.texts = elementSays(replay, array, element, this.uses);
    node.replaceChildren(...this.texts.map((text, i) => html(i ? "p" : "b", {}, text)));
    this.place(asked);
    // of the focused element, unless the page plays
    const { layer } = asked.plane;
    const { root } = this;
    if (root && layer === document.activeElement && part(root, "say").getAttribute("aria-live") !== "off") {
      set(layer, "aria-description", this.texts.join(" "));
    }
  }

  /** Put the card below the element, or above it, or beside it, inside the stepper. @param {Asked} asked */
  place({ i, plane }) {
    const { root } = this;
    if (!root) return;
    if (this.node.parentElement !== root) root.append(this.node);
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
