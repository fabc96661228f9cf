// The common steps of two runs: what the chosen thread of one completes is beside the same in the other. One that is
// there first waits. `course_lib/trace/viewer/alignment.py` does the same for the still picture.

import { Access, LOAD, ITERATION, WARP } from "./trace.js";

/** @typedef {import("./machine.js").Machine} Machine */
/** @typedef {import("./trace.js").Trace} Trace */

export const MATCHES = ["statement", "iteration", "outer iteration", "phase", "element"];

/**
 * The positions at which the chosen thread, or its warp, completes something, each with its name.
 * @param {Machine} machine
 * @param {string} match
 * @returns {[number, string][]}
 */
function marks({ block, thread, trace }, match) {
  const warp = thread >> 5;
  if (match === "phase") return numbered(block.phases[warp] ?? []);
  /** @type {[number, string][]} */
  const found = [];
  const parents = new Set(trace.loops.values());
  for (let i = 0; i < block.length; i++) {
    if (match === "element") {
      const [from, to] = block.rows("access", i);
      for (let row = from; row < to && block.runs(i, thread); row++) {
        const { access_op, access_array } = trace.columns;
        if (access_op[row] === LOAD || access_array[row] !== trace.owner) continue;
        const access = new Access(trace, row, warp);
        const k = access.lanes.indexOf(thread % WARP);
        for (let w = 0; w < access.width && k >= 0; w++) found.push([i + 1, `element ${access.element(k) + w}`]);
      }
    } else if (block.warp(i) === warp && block.has(i, ITERATION)) {
      const line = block.line(i);
      if (match === "iteration" ? !parents.has(line) : !trace.loops.get(line)) found.push([i + 1, "iteration"]);
    }
  }
  return match === "element" ? found : numbered(found);
}

/**
 * Number the marks of each name: load 1, barrier 1, load 2.
 * @param {[number, string][]} found
 */
function numbered(found) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  return found.map(([position, name]) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return /** @type {[number, string]} */ ([position, `${name} ${counts.get(name)}`]);
  });
}

/**
 * The block and thread of another run that belong to a block and thread of this one: those of the same numbers, or those
 * that store the same element of the result.
 * @param {Trace} from
 * @param {Trace} to
 * @param {[number, number]} chosen  numbers of block and thread
 * @param {string} match
 * @returns {[number, number]}
 */
export function partner(from, to, [block, thread], match) {
  const element = match === "element" ? from.owned.indexOf(block * from.threads + thread) : -1;
  const owner = element < 0 ? -1 : to.owned[element];
  if (owner >= 0) return [Math.floor(owner / to.threads), owner % to.threads];
  return [Math.min(block, to.blocks.length - 1), Math.min(thread, to.threads - 1)];
}

export class Alignment {
  /**
   * @param {Machine[]} machines  one or two
   * @param {string} match  one of MATCHES
   */
  constructor(machines, match) {
    /** @type {number[][]}  positions of each run at the matched places, from the start to the end */
    this.cuts = [machines.map(() => 0)];
    const [first, second] = match === "statement" ? [] : machines.map((machine) => marks(machine, match));
    /** @type {number[]}  how much each run completes, and how much of it is matched */
    this.completed = [first, second].map((all) => all?.length ?? 0);
    let from = 0;
    for (const [position, name] of second ? first : []) {
      const [x, y] = this.cuts[this.cuts.length - 1];
      const there = second.findIndex((mark, i) => i >= from && mark[0] > y && mark[1] === name);
      if (there < 0 || position <= x) continue;
      this.cuts.push([position, second[there][0]]);
      from = there + 1;
    }
    this.matched = this.cuts.length - 1;
    this.cuts.push(machines.map(({ length }) => length));
    this.starts = [0]; // the common step of each cut
    this.cuts.slice(1).forEach((cut, i) => {
      this.starts.push(this.starts[i] + Math.max(...cut.map((position, run) => position - this.cuts[i][run])));
    });
  }

  get last() {
    return this.starts[this.starts.length - 1];
  }

  /**
   * Where each run is at a common step.
   * @param {number} step
   */
  positions(step) {
    const after = this.starts.findIndex((start) => start > step);
    if (after < 0) return this.cuts[this.cuts.length - 1];
    return this.cuts[after - 1].map((position, run) => Math.min(position + step - this.starts[after - 1], this.cuts[after][run]));
  }

  /**
   * The common step at which a run is at a position; at a matched place the one at which both are there.
   * @param {number} run
   * @param {number} position
   */
  step(run, position) {
    const after = this.cuts.findIndex((cut) => cut[run] >= position);
    if (after <= 0) return 0;
    if (this.cuts[after][run] === position && after <= this.matched) return this.starts[after];
    return this.starts[after - 1] + position - this.cuts[after - 1][run];
  }
}
