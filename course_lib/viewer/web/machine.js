// The machine as one block and one of its threads see it after some of the block's steps. It knows no page.

import { at } from "./trace.js";

/** @typedef {import("./trace.js").Value} Value */
/** @typedef {import("./trace.js").TraceArray} TraceArray */
/** @typedef {{loading: boolean, array: TraceArray, element: number, value: Value}} Event */
/** @typedef {"global" | "shared" | "local"} Space */

export const READ = 1;
export const WRITTEN = 2;
/** @type {Space[]} */
const SPACES = ["global", "shared", "local"];
// How many copies of the memory a walk keeps, so that a step back replays only what follows the last one.
const SNAPSHOTS = 64;

/**
 * How many entries of an ascending list are at most a bound.
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

/** What one block does in the whole launch: totals, and the step of everything that only grows. */
class Survey {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {import("./trace.js").Block} block
   */
  constructor(trace, block) {
    const never = block.length + 1;
    // For each array, the step that first loads and first stores each element.
    this.loaded = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    this.stored = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    // For each space, loads and stores of all threads after each number of steps.
    this.counts = Object.fromEntries(
      SPACES.map((space) => [space, [0, 1].map(() => new Uint32Array(block.length + 1))]),
    );
    for (let i = 0; i < block.length; i++) {
      for (const space of SPACES) for (const op of [0, 1]) this.counts[space][op][i + 1] = this.counts[space][op][i];
      for (const { loading, array, base, elements, lanes } of block.accesses(i)) {
        this.counts[trace.arrays[array].space][loading ? 0 : 1][i + 1] += lanes;
        const first = (loading ? this.loaded : this.stored)[array];
        for (const element of elements) if (first[base + element] > i + 1) first[base + element] = i + 1;
      }
    }
  }
}

/** The same for one thread of the block; a list of steps for each thing that it did. */
class ThreadSurvey {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {import("./trace.js").Block} block
   * @param {number} thread
   */
  constructor(trace, block, thread) {
    const never = block.length + 1;
    this.loaded = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    /** @type {Record<Space, [number[], number[]]>} */
    this.counts = { global: [[], []], shared: [[], []], local: [[], []] };
    /** @type {Map<number, number[]>} */
    this.runs = new Map(trace.source.map(([line]) => [line, []]));
    /** @type {Map<number, number[]>} */
    this.loads = new Map(trace.source.map(([line]) => [line, []]));
    for (let i = 0; i < block.length; i++) {
      if (!block.threads(i).includes(thread)) continue;
      const line = block.line(i);
      this.runs.get(line)?.push(i + 1);
      for (const access of block.accesses(i)) {
        const { space } = trace.arrays[access.array];
        for (let lane = 0; lane < access.lanes; lane++) {
          if (at(access.threads, lane) !== thread) continue;
          this.counts[space][access.loading ? 0 : 1].push(i + 1);
          if (!access.loading) continue;
          const element = access.base + at(access.elements, lane);
          if (this.loaded[access.array][element] > i + 1) this.loaded[access.array][element] = i + 1;
          if (space === "global") this.loads.get(line)?.push(i + 1);
        }
      }
    }
  }
}

export class Machine {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {number} blockNumber
   * @param {number} thread
   */
  constructor(trace, blockNumber, thread) {
    this.trace = trace;
    this.blockNumber = blockNumber;
    this.block = trace.blocks[blockNumber];
    this.survey = new Survey(trace, this.block);
    this.every = Math.max(256, Math.ceil(this.block.length / SNAPSHOTS));
    /** @type {{values: Value[][], variables: Map<string, Value[]>}[]} */
    this.snapshots = [];
    this.thread = thread;
    this.own = new ThreadSurvey(trace, this.block, thread);
    this.position = 0;
    /** @type {Value[][]} */
    this.values = [];
    /** @type {Map<string, Value[]>} */
    this.variables = new Map();
    this.quiet();
    this.reset(0);
  }

  /** @param {number} thread */
  choose(thread) {
    this.thread = thread;
    this.own = new ThreadSurvey(this.trace, this.block, thread);
    this.reset(0);
  }

  get length() {
    return this.block.length;
  }

  /**
   * Go back to a copy of the memory.
   * @param {number} number
   */
  reset(number) {
    const kept = this.snapshots[number];
    this.position = number * this.every;
    this.values = kept ? kept.values.map((v) => v.slice()) : this.trace.arrays.map((a) => this.trace.initial(a));
    this.variables = new Map(kept ? [...kept.variables].map(([name, held]) => [name, held.slice()]) : []);
    this.quiet();
  }

  quiet() {
    /** @type {number | null} */
    this.line = null;
    this.warp = 0;
    this.barrier = false;
    /** @type {readonly number[]} */
    this.active = [];
    /** @type {Set<string>} */
    this.assigned = new Set(); // by any thread
    /** @type {Set<string>} */
    this.changed = new Set(); // by the chosen thread
    /** @type {Map<number, number>[]} */
    this.now = this.trace.arrays.map(() => new Map()); // element -> READ | WRITTEN
    /** @type {Map<number, number>[]} */
    this.nowMine = this.trace.arrays.map(() => new Map());
    /** @type {Event[]} */
    this.events = [];
  }

  /**
   * Replay up to a number of steps, from the nearest copy of the memory if it lies behind.
   * @param {number} position
   */
  seek(position) {
    if (position === this.position) return;
    const nearest = Math.min(this.snapshots.length - 1, Math.floor((position - 1) / this.every));
    if (position <= this.position || nearest * this.every > this.position) this.reset(Math.max(0, nearest));
    while (this.position < position) {
      if (this.position % this.every === 0 && this.snapshots.length === this.position / this.every) this.keep();
      const last = this.position === position - 1;
      if (last) this.quiet();
      this.apply(this.position, last);
      this.position += 1;
    }
  }

  keep() {
    const variables = new Map([...this.variables].map(([name, held]) => [name, held.slice()]));
    this.snapshots.push({ values: this.values.map((v) => v.slice()), variables });
  }

  /**
   * @param {number} i
   * @param {boolean} shown  whether the page will show this step
   */
  apply(i, shown) {
    const { block } = this;
    const threads = block.threads(i);
    if (shown) {
      this.line = block.line(i);
      this.warp = block.warp(i);
      this.barrier = block.barrier(i);
      this.active = threads;
    }
    for (const access of block.accesses(i)) this.access(access, shown);
    for (const [name, values] of block.variables(i)) {
      let held = this.variables.get(name);
      if (!held) this.variables.set(name, (held = new Array(this.trace.threads).fill(null)));
      for (let lane = 0; lane < threads.length; lane++) held[threads[lane]] = at(values, lane);
      if (shown) this.assigned.add(name);
      if (shown && threads.includes(this.thread)) this.changed.add(name);
    }
  }

  /**
   * @param {import("./trace.js").Access} access
   * @param {boolean} shown
   */
  access({ loading, array: number, threads, base, elements, values, lanes }, shown) {
    if (loading && !shown) return;
    const array = this.trace.arrays[number];
    const local = array.space === "local" ? array.size : 0;
    const held = this.values[number];
    for (let lane = 0; lane < lanes; lane++) {
      const thread = at(threads, lane);
      const element = base + at(elements, lane);
      const slot = element + thread * local;
      if (values) held[slot] = at(values, lane);
      if (shown) this.mark(loading, number, thread, element, held[slot]);
    }
  }

  /**
   * @param {boolean} loading
   * @param {number} number
   * @param {number} thread
   * @param {number} element
   * @param {Value} value
   */
  mark(loading, number, thread, element, value) {
    const array = this.trace.arrays[number];
    const mine = thread === this.thread;
    const how = loading ? READ : WRITTEN;
    if (array.space !== "local" || mine) {
      this.now[number].set(element, (this.now[number].get(element) ?? 0) | how);
    }
    if (!mine) return;
    this.nowMine[number].set(element, (this.nowMine[number].get(element) ?? 0) | how);
    this.events.push({ loading, array, element, value });
  }

  /**
   * Does the block load or store the element in the launch, by now, or did the chosen thread load it by now?
   * @param {number} array
   * @param {number} element
   */
  inRegion(array, element) {
    const { loaded, stored } = this.survey;
    return Math.min(loaded[array][element], stored[array][element]) <= this.block.length;
  }

  /**
   * @param {number} array
   * @param {number} element
   */
  touched(array, element) {
    return Math.min(this.survey.loaded[array][element], this.survey.stored[array][element]) <= this.position;
  }

  /**
   * @param {number} array
   * @param {number} element
   */
  stored(array, element) {
    return this.survey.stored[array][element] <= this.position;
  }

  /**
   * @param {number} array
   * @param {number} element
   */
  loadedByThread(array, element) {
    return this.own.loaded[array][element] <= this.position;
  }

  /**
   * What the chosen thread finds in an element.
   * @param {number} array
   * @param {number} element
   */
  value(array, element) {
    const { space, size } = this.trace.arrays[array];
    return this.values[array][space === "local" ? element + this.thread * size : element];
  }

  /**
   * The chosen thread's value of a variable.
   * @param {string} name
   */
  variable(name) {
    return this.variables.get(name)?.[this.thread] ?? null;
  }

  /**
   * Loads (0) or stores (1) of a space: by the chosen thread and by the block, so far or after all steps.
   * @param {Space} space
   * @param {number} op
   * @param {number} position
   */
  count(space, op, position = this.position) {
    return { thread: countUpTo(this.own.counts[space][op], position), block: this.survey.counts[space][op][position] };
  }

  /**
   * How often the chosen thread has run a line, and its global loads there.
   * @param {number} line
   */
  onLine(line) {
    return {
      runs: countUpTo(this.own.runs.get(line) ?? [], this.position),
      loads: countUpTo(this.own.loads.get(line) ?? [], this.position),
    };
  }
}
