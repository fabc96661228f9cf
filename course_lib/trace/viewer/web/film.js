// The film of a block: frames of the whole block, each with what its threads do, counted in the trace. No page is needed.
//
// A frame lasts from one barrier's opening to the next; stores of results to global memory at its end are a frame of their
// own. Without barriers, a loop that loads from global memory has a frame for each iteration, and other statements one for
// each that accesses memory. The frames of several warps overlap in the recorded order, so a film has its own: frame by
// frame, and inside a frame as recorded.

import { finish, pauses } from "./survey.js";
import { ATOMIC, Block, ITERATION, LOAD, popcount, RESULT } from "./trace.js";

const LATEST = 2 ** 20; // the number of what comes after all iterations
const MOST = 20; // iterations that are a frame each; of more, several are one frame

/**
 * @typedef {object} Facts  of a frame; numbers are elements that threads load or store, each thread's counted
 * @property {number} threads  that access memory or multiply
 * @property {number} fetched  loaded from global memory
 * @property {number} distinct  different elements among these
 * @property {string[]} from  the arrays from which they are loaded
 * @property {number} shared  stored to shared memory
 * @property {[number, number] | null} used  how often each of these is read before it is overwritten: least and most
 * @property {number} read  from shared memory
 * @property {number} held  different elements among these
 * @property {number} multiplied  multiply-adds
 * @property {number} stored  to global memory
 * @property {number} updated  in global memory, by atomics
 * @property {string[]} into  the arrays to which they are stored
 */
/**
 * @typedef {object} Frame
 * @property {number} from  the film's position before it
 * @property {number} to  the film's position at its end
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
    super(block.trace, { at: block.at, first: block.first, steps: block.length, releases: block.releases, phases: block.phases });
    this.order = order;
  }

  /** @param {number} i */
  row(i) {
    return super.row(this.order[i]);
  }
}

/** @type {WeakMap<Block, Film>} */
const KNOWN = new WeakMap();

export class Film {
  /** @param {Block} block */
  static of(block) {
    return finish(Film.making(block));
  }

  /** Make the film of a block, in pieces. @param {Block} block @returns {Generator<undefined, Film>} */
  static *making(block) {
    const known = KNOWN.get(block);
    if (known) return known;
    const keys = keysOf(block);
    yield;
    const film = new Film(block, framesOf(block, keys));
    yield;
    yield* film.count();
    KNOWN.set(block, film);
    return film;
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
      return { from, to, first: steps[0] + 1, step: steps[steps.length - 1] + 1, lines: new Set(), facts: nothing(), part: new Map(), sums: new Set(), read: new Map(), written: new Map() };
    });
    this.fetched = this.multiplied = this.products = 0;
  }

  /** The number of the frame to which a recorded step belongs; of step 0, -1. @param {number} step */
  frameAt(step) {
    return step > 0 ? this.frameOf[Math.min(step, this.frameOf.length) - 1] : -1;
  }

  /** How often a number that is loaded from global memory is an operand of a multiply-add, on average; 0 if that is unknown. */
  get uses() {
    return this.fetched && (2 * (this.products || this.multiplied)) / this.fetched;
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
    const uses = arrays.map(({ size, space }) => (space === "shared" ? new Int32Array(size) : null)); // since it was stored
    /** @type {Map<number, number>}  by accumulator, the threads that hold it already, a bit each */
    const begun = new Map();
    const settle = (/** @type {Int32Array} */ frames, /** @type {Int32Array} */ counts, /** @type {number} */ at) => {
      if (frames[at] < 0) return;
      const { facts } = this.frames[frames[at]];
      facts.used = facts.used ? [Math.min(facts.used[0], counts[at]), Math.max(facts.used[1], counts[at])] : [counts[at], counts[at]];
    };
    for (const [number, frame] of this.frames.entries()) {
      const { facts, part } = frame;
      for (let i = frame.from; i < frame.to; i++) {
        if (pauses(i)) yield;
        const [from, to] = block.rows("access", i);
        const warp = block.warp(i);
        const before = facts.multiplied;
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
          const [seen, last, counts] = [loaded[array], writer[array], uses[array]];
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
        if (gathers === 3) facts.multiplied += results; // read, added to and stored
        const [start, end] = block.rows("variable", i);
        for (let row = start; row < end; row++) {
          const name = columns.variable_name[row];
          if (!sums.has(name)) continue;
          const key = warp * trace.names.length + name;
          const held = begun.get(key) ?? 0;
          facts.multiplied += popcount(block.mask(i) & held);
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
    uses.forEach((counts, array) => {
      const last = writer[array];
      if (counts && last) for (let at = 0; at < counts.length; at++) settle(last, counts, at);
    });
    const sum = (/** @type {(facts: Facts) => number} */ of) => this.frames.reduce((total, { facts }) => total + of(facts), 0);
    this.fetched = sum((facts) => facts.fetched);
    this.multiplied = sum((facts) => facts.multiplied);
    // in C = A·B: K for each element of C
    const depth = arrays.find(({ role }) => role === "A")?.shape[1] ?? 0;
    this.products = depth * sum((facts) => facts.stored);
  }
}

/** @param {Map<number, number[]>} lists @param {number} key @param {number} item */
function add(lists, key, item) {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** @returns {Facts} */
const nothing = () => ({ threads: 0, fetched: 0, distinct: 0, from: [], shared: 0, used: null, read: 0, held: 0, multiplied: 0, stored: 0, updated: 0, into: [] });

const [FETCHES, READS, RESULTS, SHARES] = [1, 2, 4, 8]; // what a step does, a bit each

/**
 * For each step a number by which frames are ordered: the interval between barriers, the iteration or statement in it,
 * and whether it stores results at the end of that.
 * @param {Block} block
 */
function keysOf(block) {
  const { trace } = block;
  const { access_op, access_array } = trace.columns;
  const does = Array.from({ length: block.length }, (_, i) => {
    const [from, to] = block.rows("access", i);
    let kind = 0;
    for (let row = from; row < to; row++) {
      const { space } = trace.arrays[access_array[row]];
      if (space === "shared") kind |= access_op[row] === LOAD ? READS : SHARES;
      if (space === "global") kind |= access_op[row] === LOAD ? FETCHES : RESULTS;
    }
    return kind;
  });
  let interval = 0;
  /** @type {Map<number, number[]>}  of each warp in each interval, its steps */
  const parts = new Map();
  does.forEach((_, i) => {
    while (block.releases[interval] <= i) interval++;
    add(parts, interval * trace.warps + block.warp(i), i);
  });
  const loop = fetchingLoop(block, does, [...parts.values()]);
  const single = !loop && block.releases.length === 0;
  const keys = new Float64Array(block.length);
  for (const [part, steps] of parts) {
    let end = steps.length; // of what is before the stores of results
    for (let j = steps.length - 1; j >= 0 && !(does[steps[j]] & (FETCHES | READS)); j--) if (does[steps[j]] & RESULTS) end = j;
    const begins = (/** @type {number} */ i) => loop !== null && block.has(i, ITERATION) && block.line(i) === loop.line;
    const each = loop && steps.filter(begins).length > 1 ? Math.ceil(loop.most / MOST) : 0;
    let [round, statement] = [-1, 0];
    steps.forEach((i, j) => {
      if (each && begins(i)) round++;
      const after = round >= 0 && !loop?.inside.has(block.line(i));
      const turn = single ? statement : !each ? 0 : after ? LATEST : Math.floor(Math.max(0, round) / each);
      keys[i] = (Math.floor(part / trace.warps) * (LATEST + 1) + turn) * 2 + (j >= end && end ? 1 : 0);
      if (single && does[i]) statement++;
    });
  }
  return keys;
}

/**
 * The outermost loop that loads from global memory, except to copy, in several iterations between two barriers: its line,
 * its lines, and the most iterations.
 * @param {Block} block
 * @param {number[]} does
 * @param {number[][]} parts
 */
function fetchingLoop(block, does, parts) {
  const inside = new Map(block.trace.source.map(([line]) => [line, block.trace.loopsAround(line)]));
  /** @type {Map<number, number>} */
  const kinds = new Map();
  does.forEach((kind, i) => kind && (inside.get(block.line(i)) ?? []).forEach((header) => kinds.set(header, (kinds.get(header) ?? 0) | kind)));
  const fetching = [...kinds].filter(([, kind]) => kind & FETCHES && (kind & READS || !(kind & SHARES))).map(([header]) => header);
  for (const line of fetching.sort((x, y) => (inside.get(x)?.length ?? 0) - (inside.get(y)?.length ?? 0))) {
    const most = Math.max(...parts.map((steps) => steps.filter((i) => block.has(i, ITERATION) && block.line(i) === line).length));
    if (most > 1) return { line, most, inside: new Set([...inside].flatMap(([at, headers]) => (headers.includes(line) ? [at] : []))) };
  }
  return null;
}

/**
 * The steps of each frame: those in which nobody accesses memory belong to the next one, at the end to the last.
 * @param {Block} block
 * @param {Float64Array} keys
 */
function framesOf(block, keys) {
  const { access_array } = block.trace.columns;
  /** @type {Map<number, number[]>} */
  const groups = new Map();
  keys.forEach((key, i) => {
    add(groups, key, i);
  });
  const shows = (/** @type {number} */ i) => {
    const [from, to] = block.rows("access", i);
    for (let row = from; row < to; row++) if (block.trace.arrays[access_array[row]].space !== "local") return true;
    return false;
  };
  /** @type {number[][]} */
  const frames = [];
  /** @type {number[]} */
  let waiting = [];
  for (const [, steps] of [...groups].sort(([x], [y]) => x - y)) {
    waiting = waiting.length ? [...waiting, ...steps] : steps;
    if (!steps.some(shows)) continue;
    frames.push(waiting);
    waiting = [];
  }
  if (!frames.length) return [waiting];
  frames[frames.length - 1] = [...frames[frames.length - 1], ...waiting];
  return frames;
}

/** What a frame shows, in one sentence. @param {Frame} frame */
export function says({ facts }) {
  const { distinct, fetched, from, held, into, multiplied, read, shared, stored, threads, updated, used } = facts;
  const one = threads === 1 ? "s" : "";
  const some = (/** @type {number} */ n, /** @type {string} */ what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
  const numbers = (/** @type {number} */ n) => some(n, "number");
  const adds = multiplied ? some(multiplied, "multiply-add") : "";
  const use = shared && used?.[1] ? `; each will be used ${used[0] === used[1] ? times(used[0]) : `${count(used[0])} to ${times(used[1])}`}` : "";
  const done = [];
  if (fetched && shared && !read) {
    done.push(`${one ? "copies" : "copy"} ${numbers(fetched)} of ${list(from)} to shared memory`);
  } else {
    if (fetched) done.push(`load${one} ${numbers(fetched)} of ${list(from)}${distinct < fetched ? ` (${count(distinct)} different)` : ""}${adds && !read ? ` for ${adds}` : ""}`);
    if (read && (fetched || shared) && adds) done.push(`do${one && "es"} ${adds} with ${numbers(held)} in shared memory`);
    else if (read) done.push(`read${one} ${numbers(held)} in shared memory${read > held ? `, ${times(read)} in all` : ""}${adds ? `, for ${adds}` : ""}`);
    else if (adds && !fetched) done.push(`do${one && "es"} ${adds}`);
    if (shared) done.push(`store${one} ${numbers(shared)} to shared memory`);
  }
  if (stored) done.push(`store${one} ${numbers(stored)} of ${list(into)}`);
  if (updated) done.push(`update${one} ${numbers(updated)} of ${list(into)}`);
  const last = done.pop() ?? (one ? "computes" : "compute");
  return `${some(threads, "thread")} ${done.length ? `${done.join(", ")}${done.length > 1 ? "," : ""} and ${last}` : last}${use}.`;
}

const count = (/** @type {number} */ n) => n.toLocaleString("en");
const times = (/** @type {number} */ n) => ["never", "once", "twice"][n] ?? `${count(n)} times`;
const list = (/** @type {string[]} */ names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names[0]);
