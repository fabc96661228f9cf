// How often each element of global memory is loaded: by the whole launch, and the colours that say so. One scale is for
// all arrays of a picture, and of two runs beside each other.

import { LOAD, popcount } from "./trace.js";

/** @typedef {import("./trace.js").Trace} Trace */

export const LEVELS = 24; // of a colour
const STRONGEST = 72; // percent of the array's colour: digits on it are readable
/** @type {WeakMap<Trace, (Uint32Array | null)[]>} */
const LOADS = new WeakMap();

/**
 * The loads of each element by all blocks that were traced, array by array; null of an array that is not global.
 * @param {Trace} trace
 */
export function loadsOf(trace) {
  const known = LOADS.get(trace);
  if (known) return known;
  const { access_array, access_op } = trace.columns;
  const loads = trace.arrays.map((array) => (array.space === "global" ? new Uint32Array(array.size) : null));
  for (let row = 0; row < access_op.length; row++) {
    const counts = access_op[row] === LOAD ? loads[access_array[row]] : null;
    if (counts) countLoads(trace, row, counts);
  }
  LOADS.set(trace, loads);
  return loads;
}

/**
 * Count the elements that an access loads, once for each lane.
 * @param {Trace} trace
 * @param {number} row
 * @param {Uint32Array} counts
 */
export function countLoads(trace, row, counts) {
  const { access_base, access_lanes, access_pattern, access_width } = trace.columns;
  const pattern = /** @type {ArrayLike<number>} */ (trace.vector(access_pattern[row]));
  const each = pattern.length === 1 ? popcount(access_lanes[row]) : 1; // lanes at the same element
  const [base, width] = [access_base[row], access_width[row]];
  for (let k = 0; k < pattern.length; k++) for (let w = 0; w < width; w++) counts[base + pattern[k] + w] += each;
}

/** The largest of some counts. @param {Uint32Array | null} counts */
export const mostOf = (counts) => counts?.reduce((a, b) => Math.max(a, b), 0) ?? 0;

/** The strength of a count's colour, from 0; any count above 0 differs from none. @param {number} count @param {number} most */
export const level = (count, most) => (count ? Math.max(1, Math.round((Math.min(count, most) / most) * LEVELS)) : 0);

/** @param {number} level */
export const percent = (level) => Math.round((STRONGEST * level) / LEVELS);

/** A colour of some strength. @param {string} hue @param {number} level */
export const mixed = (hue, level) => `color-mix(in srgb, ${hue} ${percent(level)}%, var(--tt-plain))`;

/**
 * For each array, whether its elements are tinted by how often they are loaded: the block loads and never stores them.
 * @param {import("./replay.js").Replay} replay
 */
export function tintedIn({ length, summary: { loads, stored }, trace }) {
  return trace.arrays.map((_, number) => mostOf(loads[number]) > 0 && stored[number].every((at) => at > length));
}

/**
 * The most loads of an element in a run and the one beside it: by the block, and by all blocks.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./replay.js").Replay | null} other
 */
export function scalesOf(replay, other) {
  const replays = other ? [replay, other] : [replay];
  const of = (/** @type {(Uint32Array | null)[][]} */ all) => Math.max(1, ...all.flat().map(mostOf));
  const whole = replays.map(({ trace }) => (trace.omitted ? [] : loadsOf(trace)));
  return { block: of(replays.map(({ summary }) => summary.loads)), launch: of(whole) };
}

/** Whether a picture shows the loads of all blocks: before the first step, if all were traced. @param {import("./panel.js").Context} context */
export const wholeLaunch = ({ frame, replay, trace }) => !frame && replay.position === 0 && !trace.omitted;
