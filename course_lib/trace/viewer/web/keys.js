// The keys, and the descriptions that their list shows.

import { html } from "./dom.js";

/** @typedef {[string[], string, string][]} Keys  keys, how they are written, what they do */

/** @type {Keys} */
export const KEYS = [
  [["ArrowRight", "ArrowLeft"], "→ ←", "a step on, back"],
  [[" "], "space", "play, pause"],
  [["n", "p", "PageDown", "PageUp"], "n p", "to the next barrier, the one before (also Shift → ←, Page down and up)"],
  [["l", "L"], "l L", "to the next iteration of the loop, the one before"],
  [["e", "E"], "e E", "to the next finding, the one before"],
  [["Home", "End"], "Home End", "to the start, to the end"],
  [["t", "T"], "t T", "the next thread, the one before"],
  [["b", "B"], "b B", "the next block, the one before"],
  [
    ["u"],
    "u",
    "what a step is: a frame, a statement of this thread, or one of any warp; of two runs, a common step or a statement of either",
  ],
  [[], "Tab", "to the next array; there the arrows choose an element"],
  [[], "↑ ↓", "the line, register, count or cost before and after; Enter leads to its steps in turn, also a click"],
  [["v", "V"], "v V", "the next view, the one before"],
  [["f"], "f", "full screen, and back"],
  [["?"], "?", "the legend and these keys"],
  [["Escape"], "Esc", "out of the stepper, for the notebook's own keys"],
];

export function listOfKeys() {
  const rows = KEYS.map(([, keys, what]) =>
    html("div", {}, html("dt", {}, ...keys.split(" ").map((key) => html("kbd", {}, key))), html("dd", {}, what)),
  );
  return html("dl", {}, ...rows);
}
