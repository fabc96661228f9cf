// Summaries of what a block, and one of its threads, accesses in the whole launch: read once, so that everything that
// only grows (accessed elements, counts, costs) is looked up by position instead of being replayed.

import { countLoads } from "./loads.js";
import { LOAD, OPS, popcount, RESUMED, WARP } from "./trace.js";

/** @typedef {import("./trace.js").Space} Space */
/**
 * @typedef {object} Site  where a line accesses an array; one entry a request in each list
 * @property {number} line
 * @property {number} array
 * @property {number} op
 * @property {number[]} positions
 * @property {number[]} sectors  of this request and all before, as are the next two
 * @property {number[]} wavefronts
 * @property {number[]} conflicts
 */

/** @type {Space[]} */
export const SPACES = ["global", "shared", "local"];

/**
 * The number of entries of an ascending list that are at most a bound.
 * @param {ArrayLike<number>} sorted
 * @param {number} bound
 */
export function countUpTo(sorted, bound) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

const AT_ONCE = 1024; // steps that are read in one piece

/**
 * Do the rest of a work that is offered in pieces, at once.
 * @template T
 * @param {Generator<undefined, T>} pieces
 */
export function finish(pieces) {
  let piece = pieces.next();
  while (!piece.done) piece = pieces.next();
  return piece.value;
}

/** Whether a piece of work ends before a step. @param {number} step */
export const pauses = (step) => step % AT_ONCE === AT_ONCE - 1;

/** For each position, what the block has accessed up to it, and what that cost. */
export class BlockSummary {
  /**
   * Read a block, in pieces: a large one takes long.
   * @param {import("./trace.js").Block} block
   * @returns {Generator<undefined, BlockSummary>}
   */
  static *reading(block) {
    const summary = new BlockSummary(block);
    for (let i = 0; i < block.length; i++) {
      if (pauses(i)) yield;
      for (const list of summary.cumulative) list[i + 1] = list[i];
      const [from, to] = block.rows("access", i);
      for (let row = from; row < to; row++) summary.add(block, row, i);
    }
    return summary;
  }

  /** @param {import("./trace.js").Block} block */
  constructor(block) {
    const { trace } = block;
    const never = block.length + 1;
    // For each array, the position at which each element is first loaded and first stored.
    this.loaded = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    this.stored = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    /** Of each global array, how often the block loads each element in the launch. */
    this.loads = trace.arrays.map((a) => (a.space === "global" ? new Uint32Array(a.size) : null));
    const zeros = () => new Uint32Array(block.length + 1);
    // For each space, the accesses of each kind by all threads up to each position; and what the requests cost.
    const kinds = () => OPS.map(zeros);
    this.counts = { global: kinds(), shared: kinds(), local: kinds() };
    this.totals = { requests: zeros(), sectors: zeros(), wavefronts: zeros(), conflicts: zeros() };
    /** Numbers that are loaded from global memory: an access of several neighbouring ones counts as many. */
    this.fetched = zeros();
    this.cumulative = [this.fetched, ...SPACES.flatMap((space) => this.counts[space]), ...Object.values(this.totals)];
    /** @type {Map<number, Site>} */
    this.sites = new Map();
  }

  /**
   * @param {import("./trace.js").Block} block
   * @param {number} row  of the access; read from the columns, because there may be a hundred thousand
   * @param {number} i
   */
  add(block, row, i) {
    const { trace } = block;
    const { columns } = trace;
    const [position, line] = [i + 1, block.line(i)];
    const number = columns.access_array[row];
    const op = columns.access_op[row];
    const { space } = trace.arrays[number];
    const count = popcount(columns.access_lanes[row]);
    this.counts[space][op][position] += count;
    const loads = op === LOAD ? this.loads[number] : null;
    if (loads) {
      this.fetched[position] += count * columns.access_width[row];
      countLoads(trace, row, loads);
    }
    const first = (op === LOAD ? this.loaded : this.stored)[number];
    const [base, width] = [columns.access_base[row], columns.access_width[row]];
    const pattern = /** @type {ArrayLike<number>} */ (trace.vector(columns.access_pattern[row]));
    for (let k = 0; k < pattern.length; k++) {
      const element = base + pattern[k];
      for (let w = 0; w < width; w++) if (first[element + w] > position) first[element + w] = position;
    }
    if (space === "local") return;
    this.totals.requests[position] += 1;
    const key = (line * trace.arrays.length + number) * OPS.length + op;
    let site = this.sites.get(key);
    if (!site) {
      site = { line, array: number, op, positions: [], sectors: [], wavefronts: [], conflicts: [] };
      this.sites.set(key, site);
    }
    site.positions.push(position);
    const { access_sectors, access_wavefronts, access_conflicts } = columns;
    const before = site.positions.length - 2;
    const grow = (/** @type {"sectors" | "wavefronts" | "conflicts"} */ name, /** @type {number} */ cost) => {
      this.totals[name][position] += cost;
      site[name].push((before < 0 ? 0 : site[name][before]) + cost);
    };
    grow("sectors", access_sectors[row]);
    grow("wavefronts", access_wavefronts[row]);
    grow("conflicts", access_conflicts[row]);
  }
}

/** The accesses of one thread: the positions of each. */
export class ThreadSummary {
  /**
   * Read a thread of a block, in pieces.
   * @param {import("./trace.js").Block} block
   * @param {number} thread
   * @returns {Generator<undefined, ThreadSummary>}
   */
  static *reading(block, thread) {
    const summary = new ThreadSummary(block);
    for (let i = 0; i < block.length; i++) {
      if (pauses(i)) yield;
      if (block.runs(i, thread)) summary.read(block, i, thread % WARP);
    }
    summary.everLoaded = summary.loaded.map((first) => {
      /** @type {number[]} */
      const elements = [];
      first.forEach((position, element) => position <= block.length && elements.push(element));
      return elements;
    });
    return summary;
  }

  /** @param {import("./trace.js").Block} block */
  constructor(block) {
    const { trace } = block;
    const never = block.length + 1;
    this.loaded = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    /** @type {Map<number, number[]>} */
    this.runs = new Map(trace.source.map(([line]) => [line, []]));
    /** @type {Map<number, number[]>} */
    this.loads = new Map(trace.source.map(([line]) => [line, []]));
    /** @type {number[][]} */
    this.everLoaded = [];
  }

  /** @param {import("./trace.js").Block} block @param {number} i @param {number} lane */
  read(block, i, lane) {
    const line = block.line(i);
    if (!block.has(i, RESUMED)) this.runs.get(line)?.push(i + 1);
    for (const access of block.accesses(i)) {
      if (!((access.mask >>> lane) & 1)) continue;
      if (!access.loading) continue;
      const element = access.element(popcount(access.mask & ((1 << lane) - 1)));
      const loaded = this.loaded[access.array];
      for (let w = 0; w < access.width; w++) if (loaded[element + w] > i + 1) loaded[element + w] = i + 1;
      if (block.trace.arrays[access.array].space === "global") this.loads.get(line)?.push(i + 1);
    }
  }
}
