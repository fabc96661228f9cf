// The animation of a block: its frames, each with what the threads do, counted in the trace. No page is needed.
//
// The trace has the frame of each step (`course_lib/trace/frames.py`). The frames of several warps overlap in the
// recorded order, so an animation has its own: frame by frame, and inside a frame as recorded.

import { finish, pauses } from "./summary.js";
import { ATOMIC, Block, LOAD, popcount, RESULT, RESUMED, STORE, WARP } from "./trace.js";

const RETURNED = ".return"; // what a device function returns, as course_lib/trace/data_flow.py names it

/**
 * @typedef {object} Facts  of a frame; numbers are elements that threads load or store, each thread's counted
 * @property {number} threads  that access memory or multiply
 * @property {number} fetched  loaded from global memory
 * @property {number} distinct  different elements among these
 * @property {string[]} from  the arrays from which they are loaded
 * @property {number} shared  stored to shared memory
 * @property {[number, number] | null} reads  how often each of these is read before it is overwritten: least and most
 * @property {number} read  from shared memory
 * @property {number} held  different elements among these
 * @property {number} empty  of these, those that nobody has stored
 * @property {number} multiplied  multiply-adds
 * @property {number} added  additions to a sum of what is no product
 * @property {number} stored  to global memory
 * @property {number} updated  in global memory, by atomics
 * @property {string[]} into  the arrays to which they are stored
 */
/**
 * @typedef {object} Frame
 * @property {number} from  the animation's position before it
 * @property {number} to  the animation's position at its end
 * @property {number} step  the last of its steps in the recorded order
 * @property {number} first  the first of its steps in the recorded order
 * @property {Set<number>} lines  that access memory
 * @property {Facts} facts
 * @property {Map<number, number>} part  of each warp, the lanes that take part, a bit each
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
const KNOWN = new WeakMap();

export class BlockAnimation {
  /** @param {Block} block */
  static of(block) {
    return finish(BlockAnimation.making(block));
  }

  /** Make the animation of a block, in pieces. @param {Block} block @returns {Generator<undefined, BlockAnimation>} */
  static *making(block) {
    const known = KNOWN.get(block);
    if (known) return known;
    const animation = new BlockAnimation(block, framesOf(block));
    yield;
    yield* animation.count();
    KNOWN.set(block, animation);
    return animation;
  }

  /** @param {Block} block @param {number[][]} frames  the steps of each */
  constructor(block, frames) {
    const order = (this.order = frames.flat());
    this.recorded = order.every((step, i) => step === i);
    this.block = this.recorded ? block : new Reordered(block, order);
    /** @type {Set<number>}  the recorded steps that multiply and add */
    this.adds = new Set();
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
        facts: nothing(),
        part: new Map(),
        sums: new Set(),
        read: new Map(),
        written: new Map(),
      };
    });
    this.fetched = this.multiplied = 0;
    /** How often a number that is loaded from global memory is used in arithmetic, on average; 0 if that is unknown. */
    this.uses = 0;
  }

  /** The number of the frame to which a recorded step belongs; of step 0, -1. @param {number} step */
  frameAt(step) {
    return step > 0 ? this.frameOf[Math.min(step, this.frameOf.length) - 1] : -1;
  }

  /** Count what each frame does, in one pass over the accesses. @returns {Generator<undefined, void>} */
  *count() {
    const { block } = this;
    const { trace } = block;
    const { columns, arrays } = trace;
    const sums = new Set(trace.accumulators.map((name) => trace.names.indexOf(name)).filter((name) => name >= 0));
    const local = arrays.map(({ name, space }) => space === "local" && trace.accumulators.includes(name));
    const fresh = () => arrays.map(({ size, space }) => (space === "local" ? null : new Int32Array(size).fill(-1)));
    const [loaded, writer] = [fresh(), fresh()]; // the last frame that loaded, and that stored, each element
    const reads = arrays.map(({ size, space }) => (space === "shared" ? new Int32Array(size) : null)); // since it was stored
    const uses = new Uses(block);
    /** @type {Map<number, number>}  by accumulator, the threads that hold it already, a bit each */
    const begun = new Map();
    const settle = (/** @type {Int32Array} */ frames, /** @type {Int32Array} */ counts, /** @type {number} */ at) => {
      if (frames[at] < 0) return;
      const { facts } = this.frames[frames[at]];
      facts.reads = facts.reads
        ? [Math.min(facts.reads[0], counts[at]), Math.max(facts.reads[1], counts[at])]
        : [counts[at], counts[at]];
    };
    for (const [number, frame] of this.frames.entries()) {
      const { facts, part } = frame;
      for (let i = frame.from; i < frame.to; i++) {
        if (pauses(i)) yield;
        uses.follow(i);
        const [from, to] = block.rows("access", i);
        const warp = block.warp(i);
        const before = facts.multiplied;
        facts.multiplied += uses.matrixProducts(i);
        const products = trace.statements.get(block.line(i))?.products ?? 1;
        const gathered = (/** @type {number} */ sums) =>
          products ? (facts.multiplied += products * sums) : (facts.added += sums);
        let [took, gathers, results] = [0, 0, 0];
        for (let row = from; row < to; row++) {
          const array = columns.access_array[row];
          const op = columns.access_op[row];
          const { name, space } = arrays[array];
          const [mask, width, base] = [columns.access_lanes[row], columns.access_width[row], columns.access_base[row]];
          const lanes = popcount(mask);
          took |= mask;
          if (space === "local") {
            if (local[array]) op === LOAD ? (gathers |= 1) : (gathers |= 2);
            if (local[array] && op !== LOAD) results += lanes * width;
            continue;
          }
          if (op === RESULT) continue;
          frame.lines.add(block.line(i));
          if (space === "global") {
            facts[op === LOAD ? "fetched" : op === ATOMIC ? "updated" : "stored"] += lanes * width;
            const names = op === LOAD ? facts.from : facts.into;
            if (!names.includes(name)) names.push(name);
          } else if (op === LOAD) facts.read += lanes * width;
          const [seen, last, counts] = [loaded[array], writer[array], reads[array]];
          if (!seen || !last) continue;
          const pattern = /** @type {ArrayLike<number>} */ (trace.vector(columns.access_pattern[row]));
          const each = pattern.length === 1 ? lanes : 1; // lanes at the same element
          for (let k = 0; k < pattern.length; k++) {
            for (let w = 0; w < width; w++) {
              const at = base + pattern[k] + w;
              if (op === LOAD) {
                if (counts) counts[at] += each;
                if (seen[at] === number) continue;
                seen[at] = number;
                add(frame.read, array, at);
                space === "global" ? facts.distinct++ : facts.held++;
                if (space === "shared" && last[at] < 0) facts.empty++;
              } else if (last[at] !== number) {
                if (counts) {
                  facts.shared++;
                  settle(last, counts, at);
                  counts[at] = 0;
                }
                last[at] = number;
                add(frame.written, array, at);
              }
            }
          }
        }
        if (gathers === 3) gathered(results); // read, added to and stored
        const [start, end] = block.rows("variable", i);
        for (let row = start; row < end; row++) {
          const name = columns.variable_name[row];
          if (!sums.has(name)) continue;
          const key = warp * trace.names.length + name;
          const held = begun.get(key) ?? 0;
          if (!uses.matrixProducts(i)) gathered(popcount(block.mask(i) & held));
          if (block.mask(i) & held) {
            took |= block.mask(i) & held;
            frame.sums.add(trace.names[name]);
          }
          begun.set(key, held | block.mask(i));
        }
        if (facts.multiplied > before) this.adds.add(this.order[i]);
        part.set(warp, (part.get(warp) ?? 0) | took);
      }
      facts.threads = [...part.values()].reduce((sum, mask) => sum + popcount(mask), 0);
    }
    reads.forEach((counts, array) => {
      const last = writer[array];
      if (counts && last) for (let at = 0; at < counts.length; at++) settle(last, counts, at);
    });
    const sum = (/** @type {(facts: Facts) => number} */ of) =>
      this.frames.reduce((total, { facts }) => total + of(facts), 0);
    this.fetched = sum((facts) => facts.fetched);
    this.multiplied = sum((facts) => facts.multiplied);
    this.uses = uses.known && this.fetched ? uses.count / this.fetched : 0;
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
function add(lists, key, item) {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** @returns {Facts} */
const nothing = () => ({
  threads: 0,
  fetched: 0,
  distinct: 0,
  from: [],
  shared: 0,
  reads: null,
  read: 0,
  held: 0,
  empty: 0,
  multiplied: 0,
  added: 0,
  stored: 0,
  updated: 0,
  into: [],
});

/** The steps of each frame, in the recorded order. @param {Block} block */
function framesOf(block) {
  /** @type {number[][]} */
  const frames = [];
  for (let i = 0; i < block.length; i++) (frames[block.frame(i)] ??= []).push(i);
  return frames;
}

/** What a frame shows, in one sentence. @param {Frame} frame */
export function says({ facts }) {
  const {
    added,
    distinct,
    empty,
    fetched,
    from,
    held,
    into,
    multiplied,
    read,
    reads,
    shared,
    stored,
    threads,
    updated,
  } = facts;
  const one = threads === 1 ? "s" : "";
  const some = (/** @type {number} */ n, /** @type {string} */ what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
  const numbers = (/** @type {number} */ n) => some(n, "number");
  const adds = [
    ...(multiplied ? [some(multiplied, "multiply-add")] : []),
    ...(added ? [some(added, "addition")] : []),
  ].join(" and ");
  const later =
    shared && reads?.[1]
      ? `; each will be read ${reads[0] === reads[1] ? times(reads[0]) : `${count(reads[0])} to ${times(reads[1])}`}`
      : "";
  const found =
    empty === held ? `${some(empty, "empty element")}` : `${numbers(held)}${empty ? ` (${count(empty)} empty)` : ""}`;
  const done = [];
  if (fetched && shared && !read) {
    done.push(`${one ? "copies" : "copy"} ${numbers(fetched)} of ${list(from)} to shared memory`);
  } else {
    if (fetched)
      done.push(
        `load${one} ${numbers(fetched)} of ${list(from)}${distinct < fetched ? ` (${count(distinct)} different)` : ""}${adds && !read ? ` for ${adds}` : ""}`,
      );
    if (read && (fetched || shared) && adds) done.push(`do${one && "es"} ${adds} with ${found} in shared memory`);
    else if (read)
      done.push(
        `read${one} ${found} in shared memory${read > held ? `, ${times(read)} in all` : ""}${adds ? `, for ${adds}` : ""}`,
      );
    else if (adds && !fetched) done.push(`do${one && "es"} ${adds}`);
    if (shared) done.push(`store${one} ${numbers(shared)} to shared memory`);
  }
  if (stored) done.push(`store${one} ${numbers(stored)} of ${list(into)}`);
  if (updated) done.push(`update${one} ${numbers(updated)} of ${list(into)}`);
  const last = done.pop() ?? (one ? "computes" : "compute");
  return `${some(threads, "thread")} ${done.length ? `${done.join(", ")}${done.length > 1 ? "," : ""} and ${last}` : last}${later}.`;
}

const count = (/** @type {number} */ n) => n.toLocaleString("en");
const times = (/** @type {number} */ n) => ["never", "once", "twice"][n] ?? `${count(n)} times`;
const list = (/** @type {string[]} */ names) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names[0];
