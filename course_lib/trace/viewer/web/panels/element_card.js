// The card of an element under the pointer, or chosen by the arrow keys: what it holds and who accesses it.

import { html, part, setAttribute } from "../dom.js";
import { elementSentences, accessesOf } from "../history.js";
import { UNIT } from "../plane.js";

const GAP = 8; // pixels between an element and its card

/** @typedef {{plane: import("../plane.js").Plane, i: number, array: number, element: number}} Target  an element in its drawing */

export class ElementCard {
  /**
   * @param {import("../panel.js").Context} context
   * @param {HTMLElement} memory  of the run; the card lies over the whole stepper, which contains it
   */
  constructor(context, memory) {
    this.context = context;
    this.memory = memory;
    // the card says no more than the array's own value text
    this.node = html("div", { class: "tt-element-card", "aria-hidden": "true", hidden: "" });
    /** @type {Target | null} */
    this.target = null;
    this.key = ""; // whose accesses are in `uses`
    /** @type {string[]} */
    this.texts = [];
    /** @type {import("../history.js").ElementAccess[]} */
    this.uses = [];
  }

  /** @returns {HTMLElement | null} */
  get root() {
    return this.memory.closest(".tt-root");
  }

  /** Show the card of an element; of none, close it. @param {Target | null} target @returns {boolean}  whether there was a card */
  showFor(target) {
    const before = this.target !== null;
    this.target?.plane.highlight(null);
    this.target = target;
    target?.plane.highlight(target.i);
    this.draw();
    return before;
  }

  draw() {
    const { target, node } = this;
    node.hidden = !target;
    if (!target) return;
    const { replay, trace } = this.context;
    const { array, element } = target;
    const local = trace.arrays[array].space === "local";
    const key = [replay.blockNumber, local ? replay.thread : "", array, element].join();
    if (this.key !== key) this.uses = accessesOf(replay, array, element);
    this.key = key;
    this.texts = elementSentences(replay, array, element, this.uses);
    node.replaceChildren(...this.texts.map((text, i) => html(i ? "p" : "b", {}, text)));
    this.place(target);
    // of the focused element, unless the page plays
    const { layer } = target.plane;
    const { root } = this;
    if (root && layer === document.activeElement && part(root, "status").getAttribute("aria-live") !== "off") {
      setAttribute(layer, "aria-description", this.texts.join(" "));
    }
  }

  /** Put the card below the element, or above it, or beside it, inside the stepper. @param {Target} target */
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
