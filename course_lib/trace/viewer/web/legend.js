// The legend: the colours and marks of the picture, and the words of the glossary on the page.

import { setAttributes, html, svg } from "./dom.js";
import { ACTIVE, EMPTY, FAINT, NOW_READ, NOW_WRITTEN, PENDING, PLAIN, REGION, SEEN } from "./plane.js";
import { HEIGHT_SHARES } from "./strips.js";
import { GLOSSARY } from "./terms.js";

/** @typedef {import("./plane.js").Plane} Plane */
/** @typedef {[string, string, (plane: Plane) => unknown]} Mark  its classes or its name in OVER, its meaning, and whether a plane has it */

const TINTED = [PLAIN, REGION, SEEN]; // states that counts replace
const inState = (/** @type {number} */ state) => (/** @type {Plane} */ plane) =>
  !(plane.most && TINTED.includes(state)) && plane.states.some((each) => (each & ~FAINT) === state);
const drawn = (/** @type {string} */ selector) => (/** @type {Plane} */ plane) => plane.layer.querySelector(selector);

const BOX = { x: 1, y: 1, width: 18, height: 18 };

/** The states of elements, and what is drawn over them. @type {Mark[]} */
const ELEMENTS = [
  ["tt-c tt-region", "the block's region", inState(REGION)],
  ["tt-c tt-seen", "loaded or stored by the block", inState(SEEN)],
  ["tt-c tt-now tt-read", "read in this step", inState(NOW_READ)],
  ["tt-c tt-now tt-written", "written in this step", inState(NOW_WRITTEN)],
  ["ring", "by the chosen thread", drawn(".tt-rings > *")],
  ["dot", "loaded by the chosen thread", drawn(".tt-dots > *")],
  ["tt-c tt-empty", "nothing stored yet", inState(EMPTY)],
  ["tt-c tt-pending", "loaded to a register, and not stored here yet", inState(PENDING)],
  ["thread", "what the chosen thread stores", drawn(".tt-own-thread[d^=M]")],
  ["warp", "what its warp stores", drawn(".tt-own-warp[d^=M]")],
  ["tt-c", "not used by this block", inState(PLAIN)],
  ["tt-c tt-active", "a thread that takes part in this step", inState(ACTIVE)],
  ["frame", "around the block's region", drawn(".tt-outline[display=inline]")],
  ["tile", "the borders of tiles", ({ tile }) => tile],
  ["fault", "breaks a rule, or holds a wrong value", drawn(".tt-faults > rect")],
  ["beyond", "an access out of bounds", drawn(".tt-faults > g")],
];
/** @typedef {() => SVGElement} Sample  what draws a mark in the legend */
/** @type {(attributes: import("./dom.js").Attributes) => Sample} */
const box = (attributes) => () => svg("rect", { ...BOX, ...attributes });
/** @type {(style: string) => Sample} */
const thin = (style) => () => svg("rect", { x: 8.5, y: 1, width: 3, height: 18, style });
/** @type {(style: string) => Sample} */
const flat = (style) => () => svg("rect", { x: 1, y: 5, width: 18, height: 10, style });
/** @type {(classes: string) => Sample} */
const curve = (classes) => () => svg("path", { d: "M2 2C2 10 18 10 18 18", class: classes });
/** @type {(style: string) => Sample} */
const letter = (style) => () => svg("text", { x: 5, y: 15, style }, "b");
/** Marks of the timeline, the source and the views: where they are, how the legend draws them, what they mean. @type {[string, Sample, string][]} */
const MARKS_ON_PAGE = [
  [".tt-position, .tt-playhead", thin("fill: var(--tt-focus)"), "the current step"],
  [".tt-ticks .tt-release", thin("fill: var(--tt-soft)"), "a barrier opens"],
  [".tt-ticks .tt-found", box({ style: "fill: var(--tt-wrong)" }), "a finding, at its step"],
  [
    ".tt-current, .tt-costs .tt-here",
    flat("fill: color-mix(in srgb, var(--tt-focus) 17%, var(--tt-bg)); stroke: var(--tt-focus)"),
    "the line of this step",
  ],
  [
    ".tt-broken",
    flat("fill: color-mix(in srgb, var(--tt-wrong) 14%, var(--tt-bg)); stroke: var(--tt-wrong)"),
    "a line that breaks a rule in this step",
  ],
  [
    ".tt-registers .tt-changed, .tt-filled",
    flat("fill: none; stroke: var(--tt-ink); stroke-width: 2"),
    "a register that this step fills",
  ],
  [".tt-exchange .tt-lane, .tt-panel-warp .tt-on-lane", box({ class: "tt-lane tt-on-lane" }), "a lane that takes part"],
  [".tt-panel-warp .tt-lane:not(.tt-on-lane, .tt-votes-no)", box({ class: "tt-lane" }), "a lane that takes no part"],
  [".tt-votes-no", box({ class: "tt-lane tt-votes-no" }), "a lane that answers no"],
  [
    ".tt-request .tt-mine-lane, .tt-panel-warp > :not(:has(.tt-exchange)) .tt-mine-lane",
    box({ class: "tt-lane tt-on-lane tt-mine-lane" }),
    "the chosen thread's lane or word",
  ],
  [
    ".tt-exchange .tt-mine-lane",
    box({ class: "tt-lane tt-on-lane tt-mine-lane" }),
    "the chosen thread's lane, and those that share their values with it",
  ],
  [".tt-flow", curve("tt-flow"), "from the lane that gives to the lane that gets"],
  [".tt-my-flow", curve("tt-flow tt-my-flow"), "what the chosen thread gets"],
  [".tt-sector", box({ class: "tt-sector" }), "a sector, 32 bytes, that is loaded or stored"],
  [".tt-no-sector", box({ class: "tt-no-sector" }), "a sector of the same 128 bytes that is not"],
  [".tt-used", box({ class: "tt-used" }), "4 bytes that lanes ask for"],
  [".tt-unused", box({ class: "tt-unused" }), "4 bytes that no lane asks for"],
  [".tt-bank", box({ class: "tt-bank" }), "a bank, with its number below"],
  [
    ".tt-banks .tt-word:not(.tt-same-bank)",
    box({ class: "tt-word" }),
    "a word that lanes ask for, with a lane's number or, with ×, how many",
  ],
  [
    ".tt-banks .tt-same-bank",
    box({ class: "tt-word tt-same-bank" }),
    "a further word of the same bank, which comes after the first",
  ],
  [
    ".tt-fragment .tt-lane:not(.tt-mine-lane)",
    box({ class: "tt-lane" }),
    "an element, with the number of the lane that holds it",
  ],
  [
    ".tt-fragment .tt-mine-lane",
    box({ class: "tt-lane tt-on-lane tt-mine-lane" }),
    "an element that the chosen thread holds",
  ],
  [
    ".tt-pieces .tt-same-bank",
    letter("font-weight: 700; fill: var(--tt-ink)"),
    "pieces in the same banks, which are read one after another",
  ],
  [".tt-costs .tt-cost-bar", flat("fill: var(--hue)"), "the cost of a request on average; a full bar is 32"],
  [
    ".tt-counter .tt-meter",
    flat("fill: var(--tt-focus)"),
    "the block's global loads so far; of two runs, each bar is as long as the number of all of its block",
  ],
  [
    ".tt-panel .tt-meter",
    flat("fill: var(--tt-ink)"),
    "a count so far; a full bar is the larger total of the two runs",
  ],
  [
    ".tt-tinted:not(.tt-matrix-C *)",
    box({ class: "tt-seen" }),
    "how often an element has been loaded: the more often, the stronger its colour",
  ],
  [".tt-matrix-C .tt-tinted", box({ class: "tt-seen" }), "how much of an element is computed"],
  [".tt-tally[d^=M]", thin("fill: var(--tt-ink)"), "a mark for each use of a number in a tile or a register"],
  [".tt-track-loads > *", flat("fill: var(--tt-shared)"), "a pair of tiles, in the colour of its buffer"],
];
/** What the rows of warps show, as shares of their height. @type {[string, number, string, string][]} */
const SPANS = [
  ["load", HEIGHT_SHARES.load, "var(--hue)", "a load, in the array's colour"],
  ["store", HEIGHT_SHARES.store, "var(--hue)", "a store or an atomic operation, in the array's colour"],
  ["other", HEIGHT_SHARES.other, "var(--tt-neutral)", "another statement of a warp"],
  ["barrier", HEIGHT_SHARES.barrier, "var(--tt-ink)", "a warp arrives at a barrier"],
  ["wait", HEIGHT_SHARES.wait, "var(--tt-ink)", "a warp waits at a barrier"],
  ["held", HEIGHT_SHARES.held, "var(--hue)", "a buffer holds values for a later load"],
];
/** Marks that are drawn over an element. @type {Record<string, (() => SVGElement) | undefined>} */
const OVER = {
  ring: () => svg("g", { class: "tt-rings" }, svg("rect", { ...BOX, rx: 4 })),
  dot: () => svg("g", { class: "tt-dots" }, svg("circle", { cx: 15.5, cy: 4.5, r: 2.4 })),
  thread: () => svg("path", { class: "tt-own-thread", d: "M2 2h16v16h-16z" }),
  warp: () => svg("path", { class: "tt-own-warp", d: "M2 2h16v16h-16z" }),
  frame: () => svg("rect", { ...BOX, class: "tt-outline" }),
  tile: () => svg("g", { class: "tt-tiles" }, svg("line", { x1: 10, x2: 10, y1: 0, y2: 20 })),
  fault: () => svg("g", { class: "tt-faults" }, svg("rect", { ...BOX, rx: 4 })),
  beyond: () =>
    svg(
      "g",
      { class: "tt-faults" },
      svg("rect", { ...BOX, class: "tt-beyond" }),
      svg("path", { d: "M5 5l10 10m0 -10l-10 10" }),
    ),
};
/** @param {Mark} mark */
function entry([mark, text]) {
  const over = OVER[mark];
  const seen = mark === "ring" ? "tt-c tt-now tt-read" : "tt-c tt-seen";
  const below = over ? seen : mark;
  return setAttributes(item(text, svg("rect", { ...BOX, class: below }), ...(over ? [over()] : [])), {
    class: `tt-legend-${mark.split("tt-").pop()}`,
  });
}

/** @param {string} text @param {...Element} samples */
const item = (text, ...samples) =>
  html("span", {}, svg("svg", { class: "tt-grid", viewBox: "0 0 20 20", "aria-hidden": "true" }, ...samples), text);

/**
 * The marks of the timeline, the source and the view in sight.
 * @param {HTMLElement} root
 * @param {Set<string>} kinds  of the spans in the rows of warps
 */
export function marksIn(root, kinds) {
  const bars = SPANS.filter(([kind]) => kinds.has(kind)).map(([, high, fill, text]) =>
    item(text, svg("rect", { x: 1, y: 19 - 18 * high, width: 18, height: 18 * high, style: `fill: ${fill}` })),
  );
  const marks = MARKS_ON_PAGE.flatMap(([places, sample, text]) => {
    const node = [...root.querySelectorAll(places)].find(
      (each) => each.getClientRects().length && !each.closest(".tt-keys"),
    );
    if (!node) return [];
    const drawing = sample();
    drawing.style.setProperty("--hue", getComputedStyle(node).getPropertyValue("--hue"));
    return [item(text, drawing)];
  });
  return [...marks, ...bars];
}

/**
 * The colours and marks that planes show, with their meanings; a colour for all arrays that have it.
 * @param {Plane[]} planes
 * @param {import("./trace.js").TraceArray[]} arrays
 * @param {string[]} variables  accumulators, whose elements are threads
 */
export function marksOf(planes, arrays, variables) {
  /** @type {Map<string, string[]>}  by colour */
  const hues = new Map();
  const name = (/** @type {string} */ hue, /** @type {string} */ text) =>
    hues.set(hue, [...(hues.get(hue) ?? []), text]);
  for (const { name: array, hue, role, space } of arrays)
    name(hue, role ? `the matrix ${array}` : `${array} (${space} memory)`);
  for (const variable of variables)
    name("var(--tt-register)", variable === "threads" ? "the threads" : `${variable} (registers)`);
  const colours = [...hues].map(([hue, texts]) => {
    const node = entry(["tt-c tt-now", [...new Set(texts)].join(", "), () => true]);
    node.style.setProperty("--hue", hue);
    return node;
  });
  return [...colours, ...ELEMENTS.filter(([, , shown]) => planes.some(shown)).map(entry)];
}

/** The words of the glossary that a page shows, with their meanings. @param {ParentNode} page */
export function wordsOn(page) {
  const terms = [...page.querySelectorAll("[data-term]")].map(
    (node) => /** @type {HTMLElement} */ (node).dataset.term ?? "",
  );
  return [...new Set(terms)]
    .sort()
    .map((term) =>
      html("div", {}, html("dt", {}, term.replace("-", " ").toLowerCase()), html("dd", {}, GLOSSARY[term])),
    );
}
