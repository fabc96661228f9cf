// How often the whole launch loads each element of global memory, as pictures on one scale.

import { html } from "./dom.js";
import { layout } from "./grid.js";
import { pixel, styled } from "./heat.js";
import { LOAD } from "./trace.js";

/** @typedef {import("./trace.js").Trace} Trace */
/** @typedef {import("./trace.js").TraceArray} TraceArray */

const LEVELS = 24; // of a colour
/** @type {WeakMap<Trace, (Uint32Array | null)[]>} */
const LOADS = new WeakMap();

/**
 * The loads of each element by all blocks, array by array; null of an array that is not global.
 * @param {Trace} trace
 */
export function loadsOf(trace) {
  const known = LOADS.get(trace);
  if (known) return known;
  const loads = trace.arrays.map((array) => (array.space === "global" ? new Uint32Array(array.size) : null));
  for (const block of trace.blocks) {
    for (let i = 0; i < block.length; i++) {
      const [from, to] = block.rows("access", i);
      if (from === to) continue;
      for (const access of block.accesses(i)) {
        const counts = loads[access.array];
        if (!counts || access.op !== LOAD) continue;
        for (let k = 0; k < access.lanes.length; k++) {
          for (let w = 0; w < access.width; w++) counts[access.element(k) + w] += 1;
        }
      }
    }
  }
  LOADS.set(trace, loads);
  return loads;
}

/** The largest of some counts. @param {Uint32Array | null} counts */
export const mostOf = (counts) => counts?.reduce((a, b) => Math.max(a, b), 0) ?? 0;

/** Loads of an element at most: the scale of all pictures. @param {Trace[]} traces */
export const scaleOf = (traces) => Math.max(...traces.flatMap((trace) => loadsOf(trace).map(mostOf)));

/** What a range of counts is in words. @param {number} least @param {number} most */
export const rangeOf = (least, most) => {
  const times = (/** @type {number} */ n) => (n === 1 ? "once" : `${n} times`);
  return `each element ${least === most ? times(most) : `${least} to ${times(most)}`}`;
};

/** The strength of a count's colour; any count above 0 differs from the background. @param {number} count @param {number} scale */
const level = (count, scale) => Math.max(count ? 1 : 0, Math.round((count / scale) * LEVELS));

/**
 * A picture of numbers, one an element, under a caption. Numbers below 0 have the second colour.
 * @param {HTMLElement} place  on the page, for its colours
 * @param {TraceArray} array
 * @param {ArrayLike<number>} counts
 * @param {number} scale  of the strongest colour
 * @param {string[]} hues
 * @param {string} range  the caption after the array's name
 * @param {(element: number) => string} tell
 */
export function picture(place, array, counts, scale, hues, range, tell) {
  const { rows, columns, planes } = layout(array);
  const tall = rows * planes;
  const canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { width: columns, height: tall, role: "img" }));
  canvas.setAttribute("aria-label", `Loads of ${array.name}: ${range}`);
  canvas.className = "tt-pixels tt-loads-picture";
  const side = Math.min(16, 190 / columns, 72 / tall);
  canvas.style.width = `${(columns * Math.max(side, 0.5)) / 13.5}em`;
  canvas.style.height = `${(tall * Math.max(side, 0.5)) / 13.5}em`;
  const caption = html("figcaption", {}, `${array.name} `, html("span", { class: "tt-soft" }, range));
  caption.style.setProperty("--hue", array.hue);
  const figure = html("figure", {}, caption, canvas);
  const ramps = hues.map((hue) => ramp(place, hue));
  const image = new ImageData(columns, tall);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < counts.length; i++) pixels[i] = ramps[counts[i] < 0 ? 1 : 0][level(Math.abs(counts[i]), scale)];
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const i = Math.floor(((event.clientY - box.top) / box.height) * tall) * columns + column;
    if (i >= 0 && i < counts.length) canvas.title = tell(i);
  });
  return figure;
}

/** A colour of some strength. @param {string} hue @param {number} level */
const mixed = (hue, level) => `color-mix(in srgb, ${hue} ${Math.round((100 * level) / LEVELS)}%, var(--tt-bg))`;

/** What the strengths of a colour mean. @param {string} title @param {number} scale @param {string} hue */
export function keyOf(title, scale, hue = "var(--tt-ink)") {
  const steps = [...new Set([0, 1, 2, 3, 4].map((part) => Math.round((part * scale) / 4)))];
  const boxes = steps.map((count) => {
    const box = html("i");
    box.style.background = mixed(hue, level(count, scale));
    return html("span", {}, box, String(count));
  });
  return html("p", { class: "tt-loads-key" }, `${title}: `, ...boxes);
}

/** Pixels from the background to a colour. @param {HTMLElement} place @param {string} hue */
function ramp(place, hue) {
  const strengths = Array.from({ length: LEVELS + 1 }, (_, i) => ({ style: `fill: ${mixed(hue, i)}` }));
  return styled(place, strengths, ({ fill }) => pixel(fill));
}
