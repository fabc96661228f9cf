// The animation of a block: its frames, each with what the threads do, counted in the trace. No page is needed.
//
// The trace has the frame of each step (`course_lib/trace/frames.py`). The frames of several warps overlap in the
// recorded order, so an animation has its own: frame by frame, and inside a frame as recorded.

import { noFacts } from "./captions.js";
import { finish, pauses } from "./summary.js";
import { ATOMIC, Block, LOAD, popcount, RESULT, RESUMED, STORE, WARP } from "./trace.js";

const NEVER = -1; // the frame of what no frame has done
const RETURNED = ".return"; // what a device function returns, as course_lib/trace/data_flow.py names it

/**
 * @typedef {object} Frame
 * @property {number} from  the animation's position before it
 * @property {number} to  the animation's position at its end
 * @property {number} step  the last of its steps in the recorded order
 * @property {number} first  the first of its steps in the recorded order
 * @property {Set<number>} lines  that access memory
 * @property {import("./captions.js").Facts} facts
 * @property {Map<number, number>} activeLanes  of each warp, the lanes that take part, a bit each
 * @property {Set<string>} sums  the accumulators to which threads add
 * @property {Map<number, number[]>} read  of each array, the elements that threads load
 * @property {Map<number, number[]>} written  and that they store or update
 */

/** A block whose steps are in another order. */
class Reordered extends Block {
  /** @param {Block} block @param {number[]} order  the recorded number of each step */
  constructor(block, order) {
    super(block.trace, {
      at: block.at,
      first: block.first,
      steps: block.length,
      releases: block.releases,
      phases: block.phases,
    });
    this.order = order;
  }

  /** @param {number} i */
  row(i) {
    return super.row(this.order[i]);
  }
}

/** The number of a block's step in the recorded order. @param {Block} block @param {number} i */
export const recorded = (block, i) => (block instanceof Reordered ? block.order[i] : i);

/** @type {WeakMap<Block, BlockAnimation>} */
const ANIMATIONS = new WeakMap();

export class BlockAnimation {
  /** @param {Block} block */
  static of(block) {
    return finish(BlockAnimation.making(block));
  }

  /** Make the animation of a block, in pieces. @param {Block} block @returns {Generator<undefined, BlockAnimation>} */
  static *making(block) {
    const known = ANIMATIONS.get(block);
    if (known) return known;
    const animation = new BlockAnimation(block, framesOf(block));
    yield;
    yield* animation.count();
    ANIMATIONS.set(block, animation);
    return animation;
  }

  /** @param {Block} block @param {number[][]} frames  the steps of each */
  constructor(block, frames) {
    this.order = frames.flat();
    this.recorded = this.order.every((step, i) => step === i);
    this.block = this.recorded ? block : new Reordered(block, this.order);
    /** @type {Set<number>}  the recorded steps that multiply and add */
    this.multiplyAdds = new Set();
    /** @type {Int32Array}  of each recorded step */
    this.frameOf = new Int32Array(block.length);
    frames.forEach((steps, number) => steps.forEach((i) => (this.frameOf[i] = number)));
    let to = 0;
    /** @type {Frame[]} */
    this.frames = frames.map((steps) => {
      const from = to;
      to += steps.length;
      return {
        from,
        to,
        first: steps[0] + 1,
        step: steps[steps.length - 1] + 1,
        lines: new Set(),
        facts: noFacts(),
        activeLanes: new Map(),
        sums: new Set(),
        read: new Map(),
        written: new Map(),
      };
    });
    this.fetched = 0;
    this.multiplied = 0;
    /** How often a number that is loaded from global memory is used in arithmetic, on average; 0 if that is unknown. */
    this.uses = 0;
  }

  /** The number of the frame to which a recorded step belongs; of step 0, -1. @param {number} step */
  frameAt(step) {
    return step > 0 ? this.frameOf[Math.min(step, this.frameOf.length) - 1] : -1;
  }

  /** Count what each frame does, in one pass over the accesses. @returns {Generator<undefined, void>} */
  *count() {
    const counter = new FrameCounter(this);
    for (const [number, frame] of this.frames.entries()) {
      for (let i = frame.from; i < frame.to; i++) {
        if (pauses(i)) yield;
        if (counter.countStep(number, i)) this.multiplyAdds.add(this.order[i]);
      }
      frame.facts.threads = [...frame.activeLanes.values()].reduce((sum, mask) => sum + popcount(mask), 0);
    }
    counter.closeAll();
    const { uses } = counter;
    this.fetched = this.frames.reduce((sum, { facts }) => sum + facts.fetched, 0);
    this.multiplied = this.frames.reduce((sum, { facts }) => sum + facts.multiplied, 0);
    this.uses = uses.known && this.fetched ? uses.count / this.fetched : 0;
  }
}

/** Counts the facts of frames, step by step, and knows what the steps before have left in memory and in accumulators. */
class FrameCounter {
  /** @param {BlockAnimation} animation */
  constructor({ block, frames }) {
    const { trace } = block;
    const { accumulators, arrays } = trace;
    this.block = block;
    this.frames = frames;
    this.uses = new Uses(block);
    /** @type {Set<number>}  the numbers of variables that are accumulators */
    this.accumulators = new Set(accumulators.map((name) => trace.names.indexOf(name)).filter((name) => name >= 0));
    /** Of each array, whether it is an accumulator. */
    this.accumulates = arrays.map(({ name, space }) => space === "local" && accumulators.includes(name));
    const ofElements = () =>
      arrays.map(({ size, space }) => (space === "local" ? null : new Int32Array(size).fill(NEVER)));
    this.loadedIn = ofElements(); // the last frame that loaded each element
    this.storedIn = ofElements(); // and that stored it
    /** Of each shared array, how often each element was read since it was stored. */
    this.reads = arrays.map(({ size, space }) => (space === "shared" ? new Int32Array(size) : null));
    /** @type {Map<number, number>}  by accumulator and warp, the lanes that hold it already, a bit each */
    this.begun = new Map();
  }

  /** Count a step of a frame; returns whether it multiplies and adds. @param {number} number @param {number} i */
  countStep(number, i) {
    const { block, frames, uses } = this;
    const { activeLanes, facts } = frames[number];
    const before = facts.multiplied;
    uses.follow(i);
    facts.multiplied += uses.matrixProducts(i);
    const active = this.countAccesses(number, i) | this.countSums(number, i);
    const warp = block.warp(i);
    activeLanes.set(warp, (activeLanes.get(warp) ?? 0) | active);
    return facts.multiplied > before;
  }

  /** Count the accesses of a step; returns the lanes that make them. @param {number} number @param {number} i */
  countAccesses(number, i) {
    const { accumulates, block, frames } = this;
    const { arrays, columns } = block.trace;
    let active = 0;
    let [loadsSum, storesSum, sums] = [false, false, 0]; // of an accumulator in local memory
    const [from, to] = block.rows("access", i);
    for (let row = from; row < to; row++) {
      const [array, op, mask] = [columns.access_array[row], columns.access_op[row], columns.access_lanes[row]];
      active |= mask;
      if (accumulates[array]) {
        if (op === LOAD) loadsSum = true;
        else {
          storesSum = true;
          sums += popcount(mask) * columns.access_width[row];
        }
      }
      if (arrays[array].space === "local" || op === RESULT) continue;
      frames[number].lines.add(block.line(i));
      this.countAccess(number, row);
      this.countElements(number, row);
    }
    if (loadsSum && storesSum) this.addSums(number, i, sums);
    return active;
  }

  /** Count the elements of an access, each thread's. @param {number} number @param {number} row */
  countAccess(number, row) {
    const { arrays, columns } = this.block.trace;
    const { name, space } = arrays[columns.access_array[row]];
    const { facts } = this.frames[number];
    const op = columns.access_op[row];
    const elements = popcount(columns.access_lanes[row]) * columns.access_width[row];
    if (space === "shared") {
      if (op === LOAD) facts.read += elements;
      return;
    }
    if (op === LOAD) facts.fetched += elements;
    else if (op === ATOMIC) facts.updated += elements;
    else facts.stored += elements;
    const names = op === LOAD ? facts.from : facts.into;
    if (!names.includes(name)) names.push(name);
  }

  /** Count the different elements of an access. @param {number} number @param {number} row */
  countElements(number, row) {
    const { trace } = this.block;
    const { columns } = trace;
    const array = columns.access_array[row];
    const pattern = /** @type {ArrayLike<number>} */ (trace.vector(columns.access_pattern[row]));
    const lanes = pattern.length === 1 ? popcount(columns.access_lanes[row]) : 1; // at the same element
    for (let k = 0; k < pattern.length; k++) {
      const first = columns.access_base[row] + pattern[k];
      for (let w = 0; w < columns.access_width[row]; w++) {
        if (columns.access_op[row] === LOAD) this.countLoad(number, array, first + w, lanes);
        else this.countStore(number, array, first + w);
      }
    }
  }

  /** @param {number} number @param {number} array @param {number} element @param {number} lanes */
  countLoad(number, array, element, lanes) {
    const [loadedIn, storedIn, reads] = [this.loadedIn[array], this.storedIn[array], this.reads[array]];
    if (!loadedIn || !storedIn) return;
    if (reads) reads[element] += lanes;
    if (loadedIn[element] === number) return;
    loadedIn[element] = number;
    const { facts, read } = this.frames[number];
    append(read, array, element);
    if (reads) {
      facts.held++;
      if (storedIn[element] === NEVER) facts.empty++;
    } else facts.distinct++;
  }

  /** @param {number} number @param {number} array @param {number} element */
  countStore(number, array, element) {
    const storedIn = this.storedIn[array];
    if (!storedIn || storedIn[element] === number) return;
    const reads = this.reads[array];
    const { facts, written } = this.frames[number];
    if (reads) {
      facts.shared++;
      this.close(array, element);
      reads[element] = 0;
    }
    storedIn[element] = number;
    append(written, array, element);
  }

  /** Tell the frame that stored an element in shared memory how often it was read since. @param {number} array @param {number} element */
  close(array, element) {
    const [storedIn, reads] = [this.storedIn[array], this.reads[array]];
    if (!storedIn || !reads || storedIn[element] === NEVER) return;
    const { facts } = this.frames[storedIn[element]];
    const [least, most] = facts.reads ?? [Infinity, 0];
    facts.reads = [Math.min(least, reads[element]), Math.max(most, reads[element])];
  }

  /** The same for each element, at the end. */
  closeAll() {
    this.reads.forEach((counts, array) => {
      for (let element = 0; element < (counts?.length ?? 0); element++) this.close(array, element);
    });
  }

  /** Count what a step adds to accumulators; returns the lanes that add. @param {number} number @param {number} i */
  countSums(number, i) {
    const { accumulators, begun, block, frames, uses } = this;
    const { columns, names } = block.trace;
    const mask = block.mask(i);
    let active = 0;
    const [from, to] = block.rows("variable", i);
    for (let row = from; row < to; row++) {
      const name = columns.variable_name[row];
      if (!accumulators.has(name)) continue;
      const key = block.warp(i) * names.length + name;
      const holding = begun.get(key) ?? 0;
      const adding = mask & holding; // the first assignment adds nothing
      if (!uses.matrixProducts(i)) this.addSums(number, i, popcount(adding));
      if (adding) frames[number].sums.add(names[name]);
      active |= adding;
      begun.set(key, holding | mask);
    }
    return active;
  }

  /** Count additions to sums: of products, or of what is none. @param {number} number @param {number} i @param {number} sums */
  addSums(number, i, sums) {
    const { facts } = this.frames[number];
    const products = this.block.trace.statements.get(this.block.line(i))?.products ?? 1;
    if (products) facts.multiplied += products * sums;
    else facts.added += sums;
  }
}

/**
 * Follows the numbers that are loaded from global memory through registers and shared memory, and counts how often they
 * are used in arithmetic. `course_lib/trace/data_flow.py` says what a statement does with what it reads.
 */
class Uses {
  /** @param {Block} block */
  constructor(block) {
    const { trace } = block;
    this.block = block;
    this.count = 0;
    this.known = true; // whether the source says all
    /** Of each array, the elements that hold one; of a local array, each thread's. */
    this.elements = trace.arrays.map(({ size, space }) =>
      space === "global" ? null : new Uint8Array(space === "local" ? size * trace.threads : size),
    );
    /** @type {Map<string, Int32Array>}  of each variable and each warp, the lanes in which it holds such a number, a bit each */
    const variables = new Map();
    const lanesOf = (/** @type {string} */ name) => {
      const known = variables.get(name) ?? new Int32Array(trace.warps);
      variables.set(name, known);
      return known;
    };
    /** The statements whose lines are known, with their variables; ``pending``: what they carry, for what follows a call. */
    this.statements = new Map(
      [...trace.statements].map(([line, { carried, computes, given, into, loads, used }]) => [
        line,
        {
          computes,
          loads,
          carried: carried.map(lanesOf),
          used: used.filter((name) => !name.endsWith(RETURNED)).map(lanesOf),
          returned: used.filter((name) => name.endsWith(RETURNED)).map(lanesOf), // known when the statement goes on
          into: into.map(lanesOf),
          given: given.map(({ name, from, loads }) => ({ to: lanesOf(name), from: from.map(lanesOf), loads })),
          pending: new Int32Array(trace.warps),
        },
      ]),
    );
    for (const { line } of trace.matrices) this.statements.delete(line); // an instruction's operands are not followed
    /** @type {Map<number, number>}  of each step that starts products of a warpgroup, how many */
    this.started = new Map();
    for (const step of trace.columns.product_step ?? []) this.started.set(step, (this.started.get(step) ?? 0) + 1);
  }

  /** The multiply-adds of the matrices that a step multiplies with one instruction. @param {number} i */
  matrixProducts(i) {
    const { block } = this;
    const operation = block.has(i, RESUMED) ? null : block.trace.matrices.find(({ line }) => line === block.line(i));
    if (!operation) return 0;
    const [A, B] = ["A", "B"].map((name) =>
      [...operation.fragments, ...operation.pieces].find((matrix) => matrix.name === name),
    );
    const times = operation.pieces.length ? (this.started.get(block.row(i)) ?? 0) : 1;
    return A && B ? times * A.rows * A.columns * B.columns : 0;
  }

  /**
   * Look at the elements of an access: those that hold such a number, or, given lanes, let them hold one in these.
   * @param {number} row
   * @param {number} warp
   * @param {number | null} [carried]  of what is stored
   * @returns {[number, number]}  how many hold one, and the lanes that access these
   */
  access(row, warp, carried = null) {
    const { trace } = this.block;
    const { access_array, access_base, access_lanes, access_pattern, access_width } = trace.columns;
    const elements = this.elements[access_array[row]];
    const [mask, width, base] = [access_lanes[row], access_width[row], access_base[row]];
    if (!elements) return carried === null ? [popcount(mask) * width, mask] : [0, 0];
    const { size, space } = trace.arrays[access_array[row]];
    const pattern = /** @type {ArrayLike<number>} */ (trace.vector(access_pattern[row]));
    let [count, lanes, k] = [0, 0, 0];
    for (let lane = 0; lane < WARP; lane++) {
      if (!((mask >>> lane) & 1)) continue;
      const at =
        base + (pattern.length === 1 ? pattern[0] : pattern[k]) + (space === "local" ? (WARP * warp + lane) * size : 0);
      k++;
      for (let w = 0; w < width; w++) {
        if (carried !== null) elements[at + w] = (carried >>> lane) & 1;
        else if (elements[at + w]) {
          count++;
          lanes |= 1 << lane;
        }
      }
    }
    return [count, lanes];
  }

  /** Follow the numbers through a step. @param {number} i */
  follow(i) {
    const { block } = this;
    const { trace } = block;
    const { access_op } = trace.columns;
    const statement = this.statements.get(block.line(i));
    if (!statement) {
      this.known = false;
      return;
    }
    const [warp, mask, resumed] = [block.warp(i), block.mask(i), block.has(i, RESUMED)];
    const [from, to] = block.rows("access", i);
    let [loaded, carried] = [0, resumed ? statement.pending[warp] : 0];
    for (let row = from; row < to; row++) {
      if (access_op[row] !== LOAD) continue;
      const [count, lanes] = this.access(row, warp);
      if (statement.computes) this.count += count;
      loaded |= lanes;
    }
    for (const lanes of resumed ? statement.returned : statement.used) this.count += popcount(lanes[warp] & mask);
    for (const lanes of statement.carried) carried |= lanes[warp] & mask;
    if (statement.loads) carried |= loaded;
    statement.pending[warp] = carried;
    const put = (/** @type {Int32Array} */ all, /** @type {number} */ lanes) =>
      (all[warp] = (all[warp] & ~mask) | (lanes & mask));
    if (!resumed)
      for (const { to, from, loads } of statement.given)
        put(
          to,
          from.reduce((lanes, each) => lanes | each[warp], loads ? loaded : 0),
        );
    for (const all of statement.into) put(all, carried);
    for (let row = from; row < to; row++)
      if (access_op[row] !== LOAD) this.access(row, warp, access_op[row] === STORE ? carried : 0);
  }
}

/** @param {Map<number, number[]>} lists @param {number} key @param {number} item */
function append(lists, key, item) {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** The steps of each frame, in the recorded order. @param {Block} block */
function framesOf(block) {
  /** @type {number[][]} */
  const frames = [];
  for (let i = 0; i < block.length; i++) (frames[block.frame(i)] ??= []).push(i);
  return frames;
}
