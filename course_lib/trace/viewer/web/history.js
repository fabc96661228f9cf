// The accesses of one element in the steps of a block, and what they say of it.

import { full } from "./text.js";
import { LOAD, STORE, lanesOf, popcount, WARP } from "./trace.js";

/**
 * @typedef {object} ElementAccess  an access of the element by some lanes of a warp
 * @property {number} position  of its step
 * @property {number} line
 * @property {number} op
 * @property {number} warp
 * @property {number} mask  of the lanes that access the element
 */

const PAST_TENSE = ["read", "written", "updated", "received"]; // by op
const times = (/** @type {number} */ n) => `${n} time${n === 1 ? "" : "s"}`;

/**
 * All accesses of an element by the block, in their order; those of a local array by the chosen thread.
 * @param {import("./replay.js").Replay} replay
 * @param {number} array
 * @param {number} element
 */
export function accessesOf({ block, thread, trace }, array, element) {
  const { columns } = trace;
  const local = trace.arrays[array].space === "local";
  /** @type {ElementAccess[]} */
  const uses = [];
  for (let i = 0; i < block.length; i++) {
    const warp = block.warp(i);
    if (local && warp !== thread >> 5) continue;
    const [from, to] = block.rows("access", i);
    for (let row = from; row < to; row++) {
      if (columns.access_array[row] !== array) continue;
      const [place, width] = [element - columns.access_base[row], columns.access_width[row]];
      const pattern = /** @type {ArrayLike<number>} */ (trace.vector(columns.access_pattern[row]));
      let mask = 0;
      lanesOf(columns.access_lanes[row]).forEach((lane, k) => {
        const first = pattern.length === 1 ? pattern[0] : pattern[k];
        if (first <= place && place < first + width && (!local || lane === thread % WARP)) mask |= 1 << lane;
      });
      if (mask) uses.push({ position: i + 1, line: block.line(i), op: columns.access_op[row], warp, mask });
    }
  }
  return uses;
}

/** Lanes in words: "lanes 0–3, 8". @param {number} mask */
function laneRanges(mask) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const lane of lanesOf(mask)) {
    const last = runs[runs.length - 1];
    if (last && last[1] === lane - 1) last[1] = lane;
    else runs.push([lane, lane]);
  }
  const texts = runs.map(([first, last]) => (first === last ? first : `${first}–${last}`));
  return `lane${popcount(mask) === 1 ? "" : "s"} ${texts.join(", ")}`;
}

/** The threads of an access: "thread (0, 1) and 3 more". @param {import("./trace.js").Trace} trace @param {ElementAccess} use */
function threadsOf(trace, { warp, mask }) {
  const more = popcount(mask) - 1;
  return `thread ${trace.threadLabel(WARP * warp + lanesOf(mask)[0])}${more ? ` and ${more} more` : ""}`;
}

/**
 * What an element holds, which lanes access it in this step, who accessed it first, and how often it was accessed so far.
 * @param {import("./replay.js").Replay} replay
 * @param {number} number
 * @param {number} element
 * @param {ElementAccess[]} uses
 */
export function elementSentences(replay, number, element, uses) {
  const { position, trace } = replay;
  const array = trace.arrays[number];
  const wrong = trace.wanted[array.name]?.[element];
  const holds = `${trace.element(array, element)} = ${full(replay.value(number, element))}`;
  const now = uses.filter((use) => use.position === position);
  const present = now
    .map(({ op, warp, mask }) => `${PAST_TENSE[op]} by ${laneRanges(mask)} of warp ${warp}`)
    .join(", ");
  const past = uses.filter((use) => use.position <= position);
  const kinds = [...PAST_TENSE.keys()];
  const firsts = kinds.flatMap((op) => {
    const first = past.find((use) => use.op === op);
    return first ? [`First ${PAST_TENSE[op]} in step ${first.position} by ${threadsOf(trace, first)}.`] : [];
  });
  const counts = kinds
    .filter(
      (op) => op === LOAD || uses.some((use) => use.op === op) || (op === STORE && !uses.some((use) => use.op > STORE)),
    )
    .map(
      (op) =>
        `${PAST_TENSE[op]} ${times(past.reduce((sum, use) => sum + (use.op === op ? popcount(use.mask) : 0), 0))}`,
    );
  const by = array.space === "local" ? "by this thread" : "by this block";
  return [
    `${holds}${wrong ? `, and ${wrong[1]} was wanted` : ""}`,
    present ? `In this step: ${present}.` : "Not used in this step.",
    ...firsts,
    `So far ${by}: ${counts.join(", ")}.`,
  ];
}
