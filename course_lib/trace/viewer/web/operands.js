// Variables that hold a loaded number for several multiply-adds: what register tiles save is seen at them. No page is
// needed.

import { BlockAnimation } from "./animation.js";
import { namesIn } from "./text.js";
import { LOAD } from "./trace.js";

/** @typedef {{warp: number, loaded: number, uses: number[]}} Held  a load to a variable, and the steps that multiply with it */
/** @typedef {{name: string, most: number, held: Held[]}} Operand  ``most``: the uses of one load, at most */

/** @type {WeakMap<import("./trace.js").Block, Operand[]>} */
const OPERANDS = new WeakMap();
const FEW = 4; // variables; of more, none are shown

/**
 * The variables that hold a loaded number for several multiply-adds of their thread, in the order of their first loads.
 * @param {import("./trace.js").Block} block
 * @returns {Operand[]}
 */
export function operandsOf(block) {
  const found = OPERANDS.get(block) ?? findOperands(block);
  OPERANDS.set(block, found);
  return found;
}

/** @param {import("./trace.js").Block} block @returns {Operand[]} */
function findOperands(block) {
  const { trace } = block;
  const { access_array, access_op, variable_name } = trace.columns;
  const { multiplyAdds } = BlockAnimation.of(block);
  const words = new Map(trace.source.map(([line, text]) => [line, namesIn(text)]));
  /** @type {Map<string, Held[]>} */
  const all = new Map();
  /** @type {Map<string, Held>[]}  of each warp, what its variables hold now */
  const now = Array.from({ length: trace.warps }, () => new Map());
  for (let i = 0; i < block.length; i++) {
    const [warp, mine] = [block.warp(i), now[block.warp(i)]];
    if (multiplyAdds.has(i)) {
      for (const [name, { uses }] of mine) if (words.get(block.line(i))?.has(name)) uses.push(i);
      continue;
    }
    const [from, to] = block.rows("access", i);
    let loads = false;
    for (let row = from; row < to; row++)
      loads ||= access_op[row] === LOAD && trace.arrays[access_array[row]].space !== "local";
    const [start, end] = block.rows("variable", i);
    for (let row = start; row < end; row++) {
      const name = trace.names[variable_name[row]];
      mine.delete(name);
      if (!loads || trace.accumulators.includes(name)) continue;
      const held = { warp, loaded: i, uses: [] };
      mine.set(name, held);
      const known = all.get(name);
      if (known) known.push(held);
      else all.set(name, [held]);
    }
  }
  const operands = [...all].map(([name, held]) => ({
    name,
    most: Math.max(...held.map(({ uses }) => uses.length)),
    held,
  }));
  const several = operands.filter(({ most }) => most > 1);
  return several.length > FEW ? [] : several;
}
