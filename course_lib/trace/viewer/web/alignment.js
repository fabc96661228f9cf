// The common steps of two runs: the multiply-adds of one element of C, so that both show the same k and the same partial
// sum. Where nothing is multiplied, the iterations of the innermost loops; where there is none, the phases of the warps.
// Or the steps are the statements of one of the runs, and the other one is shown after the same multiply-add.

import { full, sentence } from "./text.js";
import { LOAD, ITERATION, popcount } from "./trace.js";

/** @typedef {import("./replay.js").Replay} Replay */
/** @typedef {import("./trace.js").Access} Access */
/** @typedef {import("./trace.js").Trace} Trace */
/** @typedef {{positions: number[], what: string, sum: () => string}} Marks  where a run has done each; what it does; the sum so far */

/** The accesses of the chosen thread in a step. @param {Replay} replay @param {number} i */
const accesses = ({ block, thread }, i) =>
  block.runs(i, thread) ? block.accesses(i).filter(({ mask }) => (mask >>> (thread & 31)) & 1) : [];

/**
 * The multiply-adds by which the chosen thread computes an element of C, or null without any.
 * @param {Replay} replay
 * @param {number} element
 * @returns {Marks | null}
 */
function multiplyAdds(replay, element) {
  const { block, thread, trace } = replay;
  const [lane, lines] = [thread & 31, new Map(trace.source.map(([line, text]) => [line, text]))];
  const own = (/** @type {Access} */ access) => access.element(popcount(access.mask & ((1 << lane) - 1)));
  const covers = (/** @type {Access} */ access, /** @type {number} */ wanted) =>
    own(access) <= wanted && wanted < own(access) + access.width;
  const storesResult = (/** @type {Access} */ access) =>
    access.op !== LOAD && access.array === trace.owner && covers(access, element);
  let stores = -1; // the last step that does
  for (let i = 0; i < block.length; i++) if (accesses(replay, i).some(storesResult)) stores = i;
  if (stores < 0) return null;
  const what = `multiply-add of ${trace.element(trace.arrays[trace.owner], element)}`;
  const from = accesses(replay, stores).find(
    ({ op, array }) =>
      op === LOAD && trace.arrays[array].space === "local" && trace.accumulators.includes(trace.arrays[array].name),
  );
  /** @type {number[]} */
  const positions = [];
  if (from) {
    const [array, at] = [from.array, own(from)];
    for (let i = 0; i < stores; i++) {
      const mine = accesses(replay, i).filter((access) => access.array === array && covers(access, at));
      if (mine.some(({ op }) => op === LOAD) && mine.some(({ op }) => op !== LOAD)) positions.push(i + 1);
    }
    const { name } = trace.arrays[array];
    return positions.length ? { positions, what, sum: () => `${name} = ${full(replay.value(array, at))}` } : null;
  }
  const text = lines.get(block.line(stores)) ?? "";
  const name = trace.accumulators.find((each) => trace.names.includes(each) && new RegExp(`\\b${each}\\b`).test(text));
  if (!name) return null;
  let begun = false;
  for (let i = 0; i < stores; i++) {
    if (!block.runs(i, thread)) continue;
    const [start, end] = block.rows("variable", i);
    if (!trace.columns.variable_name.subarray(start, end).includes(trace.names.indexOf(name))) continue;
    if (begun) positions.push(i + 1);
    begun = true;
  }
  return positions.length ? { positions, what, sum: () => `${name} = ${full(replay.variable(name))}` } : null;
}

/**
 * The iterations of the innermost loops of the chosen thread's warp, or null without any.
 * @param {Replay} replay
 * @returns {Marks | null}
 */
function iterations({ block, thread, trace }) {
  const parents = new Set(trace.loops.values());
  const warp = thread >> 5;
  const positions = [];
  for (let i = 0; i < block.length; i++)
    if (block.warp(i) === warp && block.has(i, ITERATION) && !parents.has(block.line(i))) positions.push(i + 1);
  return positions.length ? { positions, what: "iteration", sum: () => "" } : null;
}

/** The ends of the phases of the chosen thread's warp. @param {Replay} replay @returns {Marks} */
const phases = ({ block, thread }) => ({
  positions: (block.phases[thread >> 5] ?? []).map(([end]) => end),
  what: "phase",
  sum: () => "",
});

/**
 * The block and thread of another run that store the same element of C as these; without one, those of the same numbers.
 * @param {Trace} from
 * @param {Trace} to
 * @param {[number, number]} chosen  numbers of block and thread
 * @returns {[number, number]}
 */
export function threadOfSameElement(from, to, [block, thread]) {
  const same =
    from.owner >= 0 && to.owner >= 0 && String(from.arrays[from.owner].shape) === String(to.arrays[to.owner].shape);
  const element = same ? from.owned.indexOf(block * from.threads + thread) : -1;
  const owner = element < 0 ? -1 : to.owned[element];
  if (owner >= 0) return [Math.floor(owner / to.threads), owner % to.threads];
  return [Math.min(block, to.blocks.length - 1), Math.min(thread, to.threads - 1)];
}

export class Alignment {
  /** @param {Replay[]} replays  one or two @param {number} [statementsOf]  the run whose statements are the steps: 1 or 2; of 0, the common steps */
  constructor(replays, statementsOf = 0) {
    this.replays = replays;
    this.leadingRun = replays.length > 1 && statementsOf ? statementsOf - 1 : null;
    /** @type {Marks[]}  of two runs */
    this.marks = [];
    this.commonSteps = 0; // how many of them both runs have
    if (replays.length < 2) return;
    const [{ trace, blockNumber, thread }] = replays;
    const element = trace.owned.indexOf(blockNumber * trace.threads + thread);
    const products = element < 0 ? [] : replays.map((replay) => multiplyAdds(replay, element));
    const known = [products, replays.map(iterations)].find((marks) => marks.length && marks.every((each) => each));
    this.marks = /** @type {Marks[]} */ (known ?? replays.map(phases));
    this.commonSteps = Math.min(...this.marks.map(({ positions }) => positions.length));
  }

  get last() {
    return this.leadingRun === null && this.marks.length
      ? this.commonSteps + 1
      : this.replays[this.leadingRun ?? 0].length;
  }

  /** What both runs show at a common step. */
  get unit() {
    return this.marks[0].what;
  }

  /** Where each run is at a step. @param {number} step @returns {number[]} */
  at(step) {
    if (!this.marks.length) return [step];
    if (this.leadingRun !== null)
      return this.common(this.commonStepAt(this.leadingRun, step)).map((position, run) =>
        run === this.leadingRun ? step : position,
      );
    return this.common(step);
  }

  /** Where each run is at a common step. @param {number} step */
  common(step) {
    if (step <= 0) return this.marks.map(() => 0);
    if (step > this.commonSteps) return this.replays.map(({ length }) => length);
    return this.marks.map(({ positions }) => positions[step - 1]);
  }

  /** The last common step that a run at a position has done. @param {number} run @param {number} position */
  commonStepAt(run, position) {
    if (position >= this.replays[run].length) return this.commonSteps + 1;
    return this.marks[run].positions.slice(0, this.commonSteps).filter((each) => each <= position).length;
  }

  /** The first step at which a run has come to a position. @param {number} run @param {number} position */
  step(run, position) {
    if (!this.marks.length || run === this.leadingRun) return position;
    if (position <= 0) return 0;
    const before = this.marks[run].positions.slice(0, this.commonSteps).findIndex((each) => each >= position);
    const common = before < 0 ? this.commonSteps + 1 : before + 1;
    return this.leadingRun === null ? common : this.common(common)[this.leadingRun];
  }

  /** What a run has just done, in words. @param {number} run @returns {ReturnType<typeof sentence>} */
  sentenceOf(run) {
    return run === this.leadingRun ? sentence(this.replays[run]) : [this.commonSentence(run)];
  }

  /** What a run has done at a common step. @param {number} run */
  commonSentence(run) {
    const [replay, { positions, what, sum }] = [this.replays[run], this.marks[run]];
    const { position, trace } = replay;
    if (position === 0) return "before its first statement.";
    const number = positions.slice(0, this.commonSteps).indexOf(position) + 1;
    const total = sum();
    if (!number) return `at its end${total && `; ${total}`}.`;
    const read = replay.events
      .filter(
        ({ op, array, values }) =>
          op === LOAD && values.length === 1 && !trace.accumulators.includes(trace.arrays[array].name),
      )
      .map(({ array, element, values }) => `${trace.element(trace.arrays[array], element)} = ${full(values[0])}`);
    return `${what}, ${number} of ${this.commonSteps}${read.length ? `: ${read.join(", ")}` : ""}${total && `; ${total}`}.`;
  }
}
