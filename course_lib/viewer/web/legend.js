// The legend: the colours and marks of the picture, and the words of the glossary on the page.

import { html, svg } from "./dom.js";
import { GLOSSARY } from "./terms.js";

/** @typedef {ReturnType<import("./plane.js").Plane["state"]>} Shown  what a plane shows */
/** @typedef {[string, string, (planes: Shown[]) => boolean]} Mark  its look, its meaning, and whether the planes have it */

const looks = (/** @type {string} */ letter) => (/** @type {Shown[]} */ planes) => planes.some((plane) => plane.looks.includes(letter));
const some = (/** @type {"mine" | "dots" | "owned" | "owned_by_warp" | "wrong" | "outside"} */ marks) => (/** @type {Shown[]} */ planes) => planes.some((plane) => plane[marks].length > 0);

/** The looks of elements, of which a roomy page has a row below the picture. @type {Mark[]} */
const ELEMENTS = [
  ["tt-c tt-region", "the block's region", looks("r")],
  ["tt-c tt-seen", "loaded or stored by the block", looks("s")],
  ["tt-c tt-now tt-read", "read in this step", looks("R")],
  ["tt-c tt-now tt-written", "written in this step", looks("W")],
  ["ring", "by the chosen thread", some("mine")],
  ["dot", "loaded by the chosen thread", some("dots")],
  ["tt-c tt-empty", "nothing stored yet", looks("e")],
  ["thread", "what the chosen thread stores", some("owned")],
  ["warp", "what its warp stores", some("owned_by_warp")],
];
/** @type {Mark[]} */
const MORE = [
  ["tt-c", "not used by this block", looks(".")],
  ["tt-c tt-active", "a thread that takes part in this step", looks("a")],
  ["frame", "around the block's region", (planes) => planes.some(({ frame }) => frame)],
  ["tile", "the borders of tiles", (planes) => planes.some(({ tile }) => tile)],
  ["fault", "breaks a rule, or holds a wrong value", some("wrong")],
  ["beyond", "an access out of bounds", some("outside")],
];
const BOX = { x: 1, y: 1, width: 18, height: 18 };
/** Marks that are drawn over an element. @type {Record<string, (() => SVGElement) | undefined>} */
const OVER = {
  ring: () => svg("g", { class: "tt-rings" }, svg("rect", { ...BOX, rx: 4 })),
  dot: () => svg("g", { class: "tt-dots" }, svg("circle", { cx: 15.5, cy: 4.5, r: 2.4 })),
  thread: () => svg("path", { class: "tt-own-thread", d: "M2 2h16v16h-16z" }),
  warp: () => svg("path", { class: "tt-own-warp", d: "M2 2h16v16h-16z" }),
  frame: () => svg("rect", { ...BOX, class: "tt-outline" }),
  tile: () => svg("g", { class: "tt-tiles" }, svg("line", { x1: 10, x2: 10, y1: 0, y2: 20 })),
  fault: () => svg("g", { class: "tt-faults" }, svg("rect", { ...BOX, rx: 4 })),
  beyond: () => svg("g", { class: "tt-faults" }, svg("rect", { ...BOX, class: "tt-beyond" }), svg("path", { d: "M5 5l10 10m0 -10l-10 10" })),
};
/** @param {Mark} mark */
function entry([look, text]) {
  const sample = svg("svg", { class: "tt-grid", viewBox: "0 0 20 20", "aria-hidden": "true" });
  const over = OVER[look];
  const below = look === "ring" ? "tt-c tt-now tt-read" : over ? "tt-c tt-seen" : look;
  sample.append(svg("rect", { ...BOX, class: below }), ...(over ? [over()] : []));
  return html("span", { class: `tt-legend-${look.split("tt-").pop()}` }, sample, text);
}

/** The row below the picture. */
export function legend() {
  return ELEMENTS.map(entry);
}

/**
 * The colours and marks that planes show, with their meanings; a colour for all arrays that have it.
 * @param {Shown[]} planes
 * @param {import("./trace.js").TraceArray[]} arrays
 * @param {string[]} variables  accumulators, whose elements are threads
 */
export function marksOf(planes, arrays, variables) {
  /** @type {Map<string, string[]>}  by colour */
  const hues = new Map();
  const name = (/** @type {string} */ hue, /** @type {string} */ text) => hues.set(hue, [...(hues.get(hue) ?? []), text]);
  for (const { name: array, hue, role, space } of arrays) name(hue, role ? `the matrix ${array}` : `${array} (${space} memory)`);
  for (const variable of variables) name("var(--tt-register)", variable === "threads" ? "the threads" : `${variable} (registers)`);
  const colours = [...hues].map(([hue, texts]) => {
    const node = entry(["tt-c tt-now", [...new Set(texts)].join(", "), () => true]);
    node.style.setProperty("--hue", hue);
    return node;
  });
  return [...colours, ...[...ELEMENTS, ...MORE].filter(([, , shown]) => shown(planes)).map(entry)];
}

/**
 * The words of the glossary that a page shows, with their meanings.
 * @param {ParentNode} page
 */
export function wordsOn(page) {
  const terms = [...page.querySelectorAll("[data-term]")].map((node) => /** @type {HTMLElement} */ (node).dataset.term ?? "");
  return [...new Set(terms)].sort().map((term) => html("div", {}, html("dt", {}, term.replace("-", " ").toLowerCase()), html("dd", {}, GLOSSARY[term])));
}
