// What each warp does over the statements of a block, as spans, and their picture: for the timeline and for Waiting.

import { BlockAnimation } from "./animation.js";
import { pixel, styled } from "./canvas_plane.js";
import { namesIn } from "./text.js";
import { BARRIER, LOAD } from "./trace.js";

/** @typedef {[number, number, string]} Span  first and last position, and what: "load A", "other", "barrier", "wait", "held"; in cycles also "multiply", "wait for global memory" */
/** @typedef {{name: string, spans: Span[]}} Strip */
/** @typedef {[string, number, number]} Wait  for which memory, the first cycle and that after the last */
/** @typedef {[string, number[], Wait[][]]} Order  a name, the cycle at which each step ends, and when each warp waits */
/** @typedef {{strips: Strip[], arrivals: number[][]}} Histories  of each warp, its history and its arrivals at barriers */

export const ORDER_IS_NOT_TIME =
  "Order is not time: the simulator runs one warp after another, each up to its next barrier. A GPU interleaves the warps.";

/** How much of its row a span fills, from below. @type {Record<string, number>} */
export const HEIGHT_SHARES = { load: 0.6, store: 1, other: 0.3, barrier: 1, wait: 0.12, held: 0.18, multiply: 1 };

/** The part of a picture of time that is visible: of `end` steps or cycles those from `from` on; each zoom halves it. */
export class VisibleRange {
  /** @param {number} closest  the least that is in sight @param {number} end */
  constructor(closest, end) {
    this.closest = closest;
    this.end = end;
    this.zoom = this.from = 0;
  }

  get span() {
    return this.end / 2 ** this.zoom;
  }

  /** Bring the part from a position into sight. @param {number} from */
  show(from) {
    this.from = Math.min(this.end - this.span, Math.max(0, from));
  }

  /** Show half or twice as much, and keep a position in its place; returns whether it did. @param {number} way @param {number} at */
  zoomBy(way, at) {
    const most = Math.max(0, Math.floor(Math.log2(this.end / this.closest)));
    const [zoom, share] = [Math.min(most, Math.max(0, this.zoom + way)), (at - this.from) / this.span];
    if (zoom === this.zoom) return false;
    this.zoom = zoom;
    this.show(at - share * this.span);
    return true;
  }

  /** Place an element at a position, or hide it out of sight. @param {HTMLElement} node @param {number} position */
  put(node, position) {
    const share = (position - this.from) / this.span;
    node.style.left = `${100 * share}%`;
    node.hidden = share < 0 || share > 1;
  }
}

/** @type {WeakMap<import("./trace.js").Block, Histories>} */
const HISTORIES = new WeakMap();

/** A row for each warp of a block, without its spans. @param {import("./trace.js").Block} block @returns {Strip[]} */
const rowsOf = ({ trace }) => Array.from({ length: trace.warps }, (_, warp) => ({ name: `warp ${warp}`, spans: [] }));

/** The history of each warp of a block, as in tests/oracles/strips.py. @param {import("./trace.js").Block} block */
export function historiesOf(block) {
  const known = HISTORIES.get(block);
  if (known) return known;
  const what = kindsOf(block);
  const strips = rowsOf(block);
  /** @type {number[][]} */
  const arrivals = strips.map(() => []);
  let open = 0; // the next barrier
  for (let i = 0; i < block.length; i++) {
    const [warp, kind] = [block.warp(i), what(i)];
    const { spans } = strips[warp];
    const before = spans[spans.length - 1];
    if (before && before[1] === i && before[2] === kind) before[1] = i + 1;
    else spans.push([i, i + 1, kind]);
    if (kind !== "barrier") continue;
    arrivals[warp].push(i + 1);
    while (block.releases[open] <= i) open++;
    const release = block.releases[open] ?? block.length;
    if (release > i + 1) spans.push([i + 1, release, "wait"]);
  }
  const read = { strips, arrivals };
  HISTORIES.set(block, read);
  return read;
}

/** What a step is drawn as: its access to the outermost memory, a store before a load. @param {import("./trace.js").Block} block */
function kindsOf(block) {
  const { trace } = block;
  const { access_array, access_op } = trace.columns;
  // for each array, what a store and what a load is called, and its rank among a statement's accesses
  const kinds = trace.arrays.map(({ name, space }) => {
    const least = { global: 3, shared: 1, local: -1 }[space];
    return ["store", "load"].map((verb, loading) => ({ what: `${verb} ${name}`, rank: least + 1 - loading }));
  });
  return (/** @type {number} */ i) => {
    if (block.has(i, BARRIER)) return "barrier";
    const [from, to] = block.rows("access", i);
    let [what, rank] = ["other", 0];
    for (let row = from; row < to; row++) {
      const kind = kinds[access_array[row]][access_op[row] === LOAD ? 1 : 0];
      if (kind.rank > rank) ({ what, rank } = kind);
    }
    return what;
  };
}

/**
 * The history of each warp in another order: a statement lasts from the end of the one before it, or from the opening of
 * the barrier after that, to its own cycle. Beside the strips, for each warp its steps with their ends.
 * @param {import("./trace.js").Block} block
 * @param {Order} order
 */
export function historiesIn(block, [, cycles, waits]) {
  const kinds = kindsOf(block);
  const { multiplyAdds } = BlockAnimation.of(block);
  const outer = new Set(block.trace.arrays.flatMap(({ name, space }) => (space === "global" ? [`load ${name}`] : [])));
  const what = (/** @type {number} */ i) => (multiplyAdds.has(i) && !outer.has(kinds(i)) ? "multiply" : kinds(i));
  const strips = rowsOf(block);
  const ends = strips.map(() => /** @type {[number, number][]} */ ([]));
  const from = strips.map(() => 0);
  /** @type {number[]}  steps that wait at the next barrier */
  let waiting = [];
  for (let i = 0; i < block.length; i++) {
    const [warp, kind] = [block.warp(i), what(i)];
    const { spans } = strips[warp];
    for (const [memory, first, last] of waits[warp] ?? []) {
      if (last <= from[warp] || first >= cycles[i]) continue;
      if (first > from[warp]) spans.push([from[warp], first, kind]);
      spans.push([Math.max(from[warp], first), (from[warp] = Math.min(last, cycles[i])), `wait for ${memory}`]);
    }
    if (cycles[i] > from[warp]) spans.push([from[warp], cycles[i], kind]);
    ends[warp].push([cycles[i], i + 1]);
    from[warp] = Math.max(from[warp], cycles[i]);
    if (kind === "barrier") waiting.push(i);
    if (!block.releases.includes(i + 1)) continue;
    const open = Math.max(...waiting.map((step) => cycles[step]));
    for (const step of waiting) {
      if (open > cycles[step]) strips[block.warp(step)].spans.push([cycles[step], open, "wait"]);
      from[block.warp(step)] = open;
    }
    waiting = [];
  }
  return { strips, ends };
}

/**
 * From each step that loads from global memory to the one of the same warp that first uses what it loads: itself, if it
 * stores to shared memory or adds; else the next that names the variable, or loads from the local array, that holds it.
 * @param {import("./trace.js").Block} block
 * @returns {[number, number][]}
 */
export function firstUsesOf(block) {
  const { trace } = block;
  const { access_array, access_op, variable_name } = trace.columns;
  const { multiplyAdds } = BlockAnimation.of(block);
  // the names in each line, without its targets
  const words = new Map(trace.source.map(([line, text]) => [line, namesIn(text.replace(/^\s*[\w, ]+=(?!=)/, ""))]));
  /** @type {Map<string, number>[]}  of each warp, the place of a value -> the step that has loaded it */
  const open = Array.from({ length: trace.warps }, () => new Map());
  /** @type {[number, number][]} */
  const found = [];
  for (let i = 0; i < block.length; i++) {
    const mine = open[block.warp(i)];
    const [from, to] = block.rows("access", i);
    let [loads, stores] = [false, false]; // from global memory, to shared memory
    /** @type {Map<string, boolean>}  local arrays, and whether they are loaded */
    const local = new Map();
    for (let row = from; row < to; row++) {
      const { name, space } = trace.arrays[access_array[row]];
      const reads = access_op[row] === LOAD;
      if (space === "global") loads ||= reads;
      else if (space === "shared") stores ||= !reads;
      else if (!local.has(name)) local.set(name, reads);
    }
    for (const [name, step] of mine) {
      if (!(local.get(name) ?? words.get(block.line(i))?.has(name))) continue;
      found.push([step, i]);
      mine.delete(name);
    }
    if (!loads) continue;
    if (stores || multiplyAdds.has(i)) {
      found.push([i, i]);
      continue;
    }
    const [start, end] = block.rows("variable", i);
    for (let row = start; row < end; row++) mine.set(trace.names[variable_name[row]], i);
    for (let row = from; row < to; row++) {
      const { name, space } = trace.arrays[access_array[row]];
      if (space === "local" && access_op[row] !== LOAD) mine.set(name, i);
    }
  }
  return found;
}

/**
 * Draw strips below each other, from one position to another.
 * @param {HTMLCanvasElement} canvas
 * @param {Strip[]} strips
 * @param {{from: number, to: number, pitch: number, hues: (what: string, strip: string) => string, above?: number}} how  with
 *   so many pixels above each row
 */
export function paint(canvas, strips, { from, to, pitch, hues, above = 0 }) {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const scale = canvas.width / (to - from);
  strips.forEach(({ name, spans }, i) => {
    const [top, row] = [i * pitch + above, pitch - above - Math.ceil(pitch / 5)];
    /** @type {Map<string, [number, string]>}  the height and the colour of each kind of span */
    const styles = new Map();
    for (const [first, last, what] of spans) {
      if (last <= from || first >= to) continue;
      const width = Math.max(1, (last - first) * scale - (scale > 4 ? 1 : 0));
      const style = styles.get(what) ?? [Math.max(1, row * HEIGHT_SHARES[what.split(" ")[0]]), hues(what, name)];
      styles.set(what, style);
      const [high, hue] = style;
      context.fillStyle = hue;
      context.fillRect((first - from) * scale, top + row - high, width, high);
    }
  });
}

/**
 * The colour of a kind of span in the present theme.
 * @param {HTMLElement} place
 * @param {import("./trace.js").TraceArray[]} arrays
 */
export function coloursOf(place, arrays) {
  const colours = [
    ["other", "var(--tt-neutral)"],
    ["multiply", "var(--tt-register)"],
    ...["barrier", "wait"].map((what) => [what, "var(--tt-ink)"]),
    ...[
      ["global", "other"],
      ["shared", "shared"],
    ].map(([memory, colour]) => [`wait for ${memory} memory`, `var(--tt-${colour})`]),
    ...arrays.flatMap(({ name, hue }) => ["load", "store"].map((op) => [`${op} ${name}`, hue])),
  ];
  const found = styled(
    place,
    colours.map(([, fill]) => ({ style: `fill: ${fill}` })),
    ({ fill }) => new Uint8Array(Uint32Array.of(pixel(fill)).buffer),
  );
  const known = new Map(colours.map(([what], i) => [what, `rgb(${found[i].slice(0, 3).join(" ")})`]));
  return (/** @type {string} */ what) => known.get(what) ?? "";
}
