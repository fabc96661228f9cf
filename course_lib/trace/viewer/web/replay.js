// The replay of a block's steps: the state after any of them, as one of its threads sees it. No page is needed.

import { countLoads } from "./loads.js";
import { countUpTo, finish, BlockSummary, ThreadSummary } from "./summary.js";
import { Access, at, BARRIER, LOAD, ITERATION, WARP } from "./trace.js";

/** @typedef {import("./trace.js").Value} Value */
/** @typedef {import("./trace.js").TraceArray} TraceArray */
/** @typedef {import("./trace.js").Space} Space */
/**
 * @typedef {object} Event  what the chosen thread did with neighbouring elements
 * @property {number} op
 * @property {boolean} [foreign]  a load of what another block stored
 * @property {number} array
 * @property {number} element  the first
 * @property {Value[]} values  a load's are those before the step
 * @property {{operation: string, old: Value, given: Value[], left: Value}} [update]  of an atomic: the value that the
 *   thread found, its operands, and the value that this block had left in the element
 */

export const READ = 1;
export const WRITTEN = 2;
// Copies of the memory are kept, so that a step back replays only the steps after the last copy.
const SNAPSHOTS = 64;
const SNAPSHOT_EVERY = 256; // steps, at least
const AT_ONCE = 256; // steps that are replayed ahead in one piece

export class Replay {
  /**
   * Make a replay, in pieces.
   * @param {import("./trace.js").Block} block  in its recorded order or another
   * @param {number} thread
   * @returns {Generator<undefined, Replay>}
   */
  static *making(block, thread) {
    const summary = yield* BlockSummary.reading(block);
    return new Replay(block, thread, summary, yield* ThreadSummary.reading(block, thread));
  }

  /** @param {import("./trace.js").Block} block @param {number} thread @param {BlockSummary} summary @param {ThreadSummary} threadSummary */
  constructor(block, thread, summary, threadSummary) {
    this.trace = block.trace;
    this.blockNumber = this.trace.blockNumber(block.at);
    this.block = block;
    this.length = this.block.length;
    this.summary = summary;
    this.snapshotInterval = Math.max(SNAPSHOT_EVERY, Math.ceil(this.length / SNAPSHOTS));
    /** @type {{values: Value[][], loads: (Uint32Array | null)[], variables: Map<string, Value[]>}[]}  what does not change is shared by several */
    this.snapshots = [];
    /** @type {Set<Value[] | Uint32Array | null>}  what has changed since the last of them */
    this.dirty = new Set();
    this.thread = thread;
    this.threadSummary = threadSummary;
    this.position = 0;
    /** @type {((step: number) => boolean) | null}  of a frame, whether a recorded step is one of it */
    this.inFrame = null;
    /** @type {Value[][]} */
    this.values = [];
    /** Of each global array, how often each element has been loaded; of a shared one, since it was stored last. @type {(Uint32Array | null)[]} */
    this.loads = [];
    /** @type {Map<string, Value[]>} */
    this.variables = new Map();
    /** @type {number | null} */
    this.line = null;
    this.warp = 0;
    this.mask = 0;
    this.clearStep();
    this.reset(0);
  }

  /** @param {number} thread */
  choose(thread) {
    if (thread !== this.thread) this.threadSummary = finish(ThreadSummary.reading(this.block, thread));
    this.thread = thread;
    this.reset(0);
  }

  /** Go back to a copy of the memory. @param {number} number */
  reset(number) {
    const kept = this.snapshots[number];
    this.position = number * this.snapshotInterval;
    this.values = kept ? kept.values.map((v) => v.slice()) : this.trace.arrays.map((a) => this.trace.initial(a));
    const none = () => this.trace.arrays.map(({ size, space }) => (space === "local" ? null : new Uint32Array(size)));
    this.loads = kept ? kept.loads.map((counts) => counts?.slice() ?? null) : none();
    this.variables = new Map(kept ? [...kept.variables].map(([name, held]) => [name, held.slice()]) : []);
    this.dirty.clear();
    this.clearStep();
  }

  clearStep() {
    this.line = null;
    this.warp = 0;
    this.barrier = false;
    this.mask = 0; // of the active lanes of the warp
    /** @type {import("./trace.js").Access[]} */
    this.accesses = [];
    /** @type {ReturnType<import("./trace.js").Block["outside"]>} */
    this.outside = [];
    /** @type {import("./trace.js").Test[]} */
    this.tests = [];
    /** @type {import("./trace.js").Exchange[]} */
    this.exchanges = [];
    /** @type {Set<string>} */
    this.assigned = new Set(); // by any thread
    /** @type {Set<string>} */
    this.changed = new Set(); // by the chosen thread
    /** @type {Map<number, number>[]} */
    this.marked = this.trace.arrays.map(() => new Map()); // element -> READ | WRITTEN
    /** @type {Map<number, number>[]} */
    this.markedByThread = this.trace.arrays.map(() => new Map());
    /** @type {Event[]} */
    this.events = [];
  }

  /**
   * Replay up to a number of steps; to go back, from the nearest copy of the memory before it.
   * @param {number} position
   */
  seek(position) {
    if (position === this.position && !this.inFrame) return;
    this.inFrame = null;
    const nearest = Math.min(this.snapshots.length - 1, Math.floor((position - 1) / this.snapshotInterval));
    if (position <= this.position || nearest * this.snapshotInterval > this.position) this.reset(Math.max(0, nearest));
    while (this.position < position) {
      if (this.position % this.snapshotInterval === 0) {
        if (this.position === this.snapshots.length * this.snapshotInterval) this.takeSnapshot();
        this.dirty.clear();
      }
      const last = this.position === position - 1;
      if (last) this.clearStep();
      this.apply(this.position, last);
      this.position += 1;
    }
  }

  takeSnapshot() {
    const before = this.snapshots[this.snapshots.length - 1];
    const kept = (/** @type {Value[]} */ held, /** @type {Value[] | undefined} */ old) =>
      old && !this.dirty.has(held) ? old : held.slice();
    this.snapshots.push({
      values: this.values.map((held, i) => kept(held, before?.values[i])),
      loads: this.loads.map((counts, i) =>
        before && !this.dirty.has(counts) ? before.loads[i] : (counts?.slice() ?? null),
      ),
      variables: new Map([...this.variables].map(([name, held]) => [name, kept(held, before?.variables.get(name))])),
    });
  }

  /**
   * Keep copies up to the end of the block, before anybody goes there, a little at each call of what is returned; that
   * returns whether there is more to do. This replay stays where it is.
   */
  snapshotsAhead() {
    /** @type {Replay} */
    const copy = Object.create(this); // with a memory of its own, and these snapshots
    copy.dirty = new Set();
    copy.reset(Math.max(0, this.snapshots.length - 1));
    return () => {
      copy.seek(Math.min(this.length, copy.position + AT_ONCE));
      return copy.position < this.length;
    };
  }

  /** @param {number} i @param {boolean} shown  whether the page will show this step */
  apply(i, shown) {
    const { block, trace } = this;
    const { columns } = trace;
    const mask = block.mask(i);
    const first = WARP * block.warp(i);
    if (shown) {
      this.line = block.line(i);
      this.warp = block.warp(i);
      this.barrier = block.has(i, BARRIER);
      this.mask = mask;
      this.accesses = block.accesses(i);
      this.outside = block.outside(i);
      this.tests = block.tests(i);
      this.exchanges = block.exchanges(i);
    }
    const [from, to] = block.rows("access", i);
    if (shown) this.record();
    for (let row = from; row < to; row++) {
      const counts = columns.access_op[row] === LOAD ? this.loads[columns.access_array[row]] : null;
      if (counts) {
        countLoads(trace, row, counts);
        this.dirty.add(counts);
      }
      if (columns.access_values[row] >= 0) this.store(row, first);
    }
    const [start, end] = block.rows("variable", i);
    for (let row = start; row < end; row++) {
      const name = trace.names[columns.variable_name[row]];
      const values = trace.vector(columns.variable_values[row]);
      let held = this.variables.get(name);
      if (!held) this.variables.set(name, (held = new Array(trace.threads).fill(null)));
      this.dirty.add(held);
      let k = 0;
      for (let lane = 0; lane < WARP; lane++) if ((mask >>> lane) & 1 && held) held[first + lane] = at(values, k++);
      if (!shown) continue;
      this.assigned.add(name);
      if (block.runs(i, this.thread)) this.changed.add(name);
    }
  }

  /** @param {number} row @param {number} first  thread of the warp */
  store(row, first) {
    const { columns, arrays } = this.trace;
    const number = columns.access_array[row];
    const [mask, width, base] = [columns.access_lanes[row], columns.access_width[row], columns.access_base[row]];
    const pattern = /** @type {ArrayLike<number>} */ (this.trace.vector(columns.access_pattern[row]));
    const values = this.trace.vector(columns.access_values[row]);
    const local = arrays[number].space === "local" ? arrays[number].size : 0;
    const held = this.values[number];
    this.dirty.add(held);
    const reads = arrays[number].space === "shared" && columns.access_op[row] !== LOAD ? this.loads[number] : null;
    if (reads) this.dirty.add(reads);
    let k = 0;
    for (let lane = 0; lane < WARP; lane++) {
      if (!((mask >>> lane) & 1)) continue;
      const slot = base + (pattern.length === 1 ? pattern[0] : pattern[k]) + (first + lane) * local;
      for (let w = 0; w < width; w++) {
        held[slot + w] = values[values.length === width ? w : k * width + w];
        if (reads) reads[slot + w] = 0;
      }
      k += 1;
    }
  }

  /** Record the accesses of this step, before they change the memory. */
  record() {
    const { trace } = this;
    /** @type {Map<number, Value>[]}  what the lanes of this step have left in each array so far */
    const left = trace.arrays.map(() => new Map());
    for (const access of this.accesses) {
      const { array: number, loading, width } = access;
      const local = trace.arrays[number].space === "local";
      const how = loading ? READ : WRITTEN;
      access.lanes.forEach((lane, k) => {
        const mine = WARP * access.warp + lane === this.thread;
        const element = access.element(k);
        for (let w = 0; w < width; w++) {
          const add = (/** @type {Map<number, number>} */ marks) =>
            marks.set(element + w, (marks.get(element + w) ?? 0) | how);
          if (!local || mine) add(this.marked[number]);
          if (mine) add(this.markedByThread[number]);
        }
        const before = left[number].get(element) ?? this.value(number, element);
        if (access.values) for (let w = 0; w < width; w++) left[number].set(element + w, access.stored(k, w));
        if (!mine) return;
        const known = Array.from({ length: width }, (_, w) => this.value(number, element + w));
        const values = access.values ? known.map((_, w) => access.stored(k, w)) : known;
        const { update } = access;
        this.events.push({
          op: access.op,
          ...(loading && String(values) !== String(known) && { foreign: true }),
          array: number,
          element,
          values,
          ...(update && {
            update: { operation: update.operation, old: update.old(k), given: update.given(k), left: before },
          }),
        });
      });
    }
  }

  /**
   * Show a whole frame of the animation: what all threads do between its start and its end.
   * @param {import("./animation.js").Frame} frame
   * @param {(step: number) => boolean} inFrame  whether a recorded step is one of it
   */
  show(frame, inFrame) {
    if (this.position !== frame.to || !this.inFrame) this.seek(frame.to);
    this.clearStep();
    this.inFrame = inFrame;
    const lists = /** @type {const} */ ([
      ["read", READ],
      ["written", WRITTEN],
    ]);
    for (const [what, how] of lists) {
      for (const [array, elements] of frame[what]) {
        if (this.trace.arrays[array].space === "local") continue;
        const marks = this.marked[array];
        for (const element of elements) marks.set(element, (marks.get(element) ?? 0) | how);
      }
    }
    for (let i = frame.from; i < frame.to; i++) {
      if (!this.block.runs(i, this.thread)) continue;
      for (const access of this.block.accesses(i)) {
        const k = access.lanes.indexOf(this.thread % WARP);
        const [local, how] = [this.trace.arrays[access.array].space === "local", access.loading ? READ : WRITTEN];
        for (let w = 0; w < access.width && k >= 0; w++) {
          const element = access.element(k) + w;
          for (const marks of local ? [this.marked, this.markedByThread] : [this.markedByThread])
            marks[access.array].set(element, (marks[access.array].get(element) ?? 0) | how);
        }
      }
    }
  }

  /**
   * The elements of an array that the chosen thread, and those that its warp, stores in the whole launch.
   * @param {number} array
   */
  stores(array) {
    const { block, thread } = this;
    const { access_op, access_array } = this.trace.columns;
    /** @type {{warp: Set<number>, thread: Set<number>}} */
    const found = { warp: new Set(), thread: new Set() };
    for (let i = 0; i < block.length; i++) {
      if (block.warp(i) !== thread >> 5) continue;
      const [from, to] = block.rows("access", i);
      for (let row = from; row < to; row++) {
        if (access_op[row] === LOAD || access_array[row] !== array) continue;
        const access = new Access(this.trace, row, block.warp(i));
        access.lanes.forEach((lane, k) => {
          for (let w = 0; w < access.width; w++) {
            found.warp.add(access.element(k) + w);
            if (lane === thread % WARP) found.thread.add(access.element(k) + w);
          }
        });
      }
    }
    return found;
  }

  /** Whether a thread took part in the step. @param {number} thread */
  isActive(thread) {
    return this.line !== null && thread >> 5 === this.warp && Boolean((this.mask >>> (thread & 31)) & 1);
  }

  /** Whether the block loads or stores the element in the launch. @param {number} array @param {number} element */
  inRegion(array, element) {
    const { loaded, stored } = this.summary;
    return Math.min(loaded[array][element], stored[array][element]) <= this.length;
  }

  /** @param {number} array @param {number} element */
  stored(array, element) {
    return this.summary.stored[array][element] <= this.position;
  }

  /** The elements of an array that the chosen thread has loaded by now, in their order. @param {number} array */
  elementsLoadedByThread(array) {
    const { position } = this;
    return this.threadSummary.everLoaded[array].filter(
      (element) => this.threadSummary.loaded[array][element] <= position,
    );
  }

  /**
   * The value of an element, as the chosen thread sees it.
   * @param {number} array
   * @param {number} element
   * @returns {Value}
   */
  value(array, element) {
    const { space, size } = this.trace.arrays[array];
    return this.values[array][space === "local" ? element + this.thread * size : element];
  }

  /** The values of an array's elements, as the chosen thread sees them. @param {number} array */
  valuesOf(array) {
    const { space, size } = this.trace.arrays[array];
    const values = this.values[array];
    return space === "local" ? values.slice(this.thread * size, (this.thread + 1) * size) : values;
  }

  /** The chosen thread's value of a variable. @param {string} name */
  variable(name) {
    return this.variables.get(name)?.[this.thread] ?? null;
  }

  /** The numbers that the block has loaded from global memory by now. */
  fetched() {
    return this.summary.fetched[this.position];
  }

  /** How often the chosen thread has run a line, and its global loads there. @param {number} line */
  onLine(line) {
    return {
      runs: countUpTo(this.threadSummary.runs.get(line) ?? [], this.position),
      loads: countUpTo(this.threadSummary.loads.get(line) ?? [], this.position),
    };
  }

  /** The positions at which the chosen thread runs a line, or else any warp of the block. @param {number} line */
  stepsOnLine(line) {
    const mine = this.threadSummary.runs.get(line);
    return mine?.length ? mine : this.positionsWhere((i) => this.block.line(i) === line);
  }

  /** The positions at which the chosen thread sets a variable. @param {string} name */
  stepsThatSet(name) {
    const { block, thread, trace } = this;
    const number = trace.names.indexOf(name);
    return this.positionsWhere((i) => {
      const [from, to] = block.rows("variable", i);
      return block.runs(i, thread) && trace.columns.variable_name.subarray(from, to).includes(number);
    });
  }

  /** @param {(i: number) => boolean} holds */
  positionsWhere(holds) {
    return Array.from({ length: this.length }, (_, i) => i + 1).filter((position) => holds(position - 1));
  }

  /** The findings in which this step takes part. */
  get findings() {
    const here = (/** @type {{block: number, step: number}} */ place) =>
      place.block === this.blockNumber && (this.inFrame ? this.inFrame(place.step) : place.step === this.position);
    return this.trace.findings.filter(({ at }) => at.some(here));
  }

  // --- targets of navigation ---------------------------------------------------------------------------------

  /**
   * The next of some ascending positions, or the one before; the end and the start follow the last and the first.
   * @param {readonly number[]} positions
   * @param {number} way  1 or -1
   */
  nextOf(positions, way) {
    if (way > 0) return positions.find((p) => p > this.position) ?? this.length;
    return [...positions].reverse().find((p) => p < this.position) ?? 0;
  }

  /** The next position at which a barrier opens. @param {number} way */
  barrierFrom(way) {
    return this.nextOf(this.block.releases, way);
  }

  /** The next statement that the chosen thread runs. @param {number} way */
  ownStatementFrom(way) {
    return this.nextOf(
      this.positionsWhere((i) => this.block.runs(i, this.thread)),
      way,
    );
  }

  /**
   * The start of the next iteration of the loop around the current line of the chosen thread's warp; after the last
   * iteration, that of the loop around it.
   * @param {number} way
   */
  iterationFrom(way) {
    const { block, position, trace } = this;
    const warp = this.thread >> 5;
    let here = position - 1;
    while (here >= 0 && block.warp(here) !== warp) here--;
    const headers = here < 0 ? [] : trace.loopsAround(block.line(here));
    const begun = this.positionsWhere((i) => block.warp(i) === warp && block.has(i, ITERATION));
    const stops = [...headers, 0].map((header) => begun.filter((stop) => !header || block.line(stop - 1) === header));
    return this.nextOf(stops.find((all) => all.some((stop) => way * (stop - position) > 0)) ?? [], way);
  }
}
