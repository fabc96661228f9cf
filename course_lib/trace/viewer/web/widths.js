// How long the texts of a launch are: what the numbers that an array in shared or local memory holds, or a variable, take.

import { sizeClassOf } from "./grid.js";
import { short } from "./text.js";

/** @typedef {import("./trace.js").Trace} Trace */

const FRACTION = 4; // characters of a number that is not whole, as text.js shortens it
const SHORTEST = 2;
/** @type {WeakMap<Trace, Map<string, number>>} */
const SIZE_CLASSES = new WeakMap();

/**
 * By the names of arrays and variables, the class (``sizeClassOf``) of the longest text of what they hold in the launch.
 * @param {Trace} trace
 */
export function sizeClassesOf(trace) {
  const known = SIZE_CLASSES.get(trace);
  if (known) return known;
  const { access_array, access_values, variable_name, variable_values } = trace.columns;
  /** @type {Map<string, number>} */
  const widths = new Map();
  /** @type {Map<number, number>}  of vectors */
  const measured = new Map();
  const note = (/** @type {string} */ name, /** @type {number} */ vector) => {
    if (vector < 0) return;
    let wide = measured.get(vector);
    if (wide === undefined) measured.set(vector, (wide = longest(trace.vector(vector))));
    if (wide > (widths.get(name) ?? 0)) widths.set(name, wide);
  };
  for (const { initial, name } of trace.arrays) note(name, initial);
  for (let row = 0; row < access_values.length; row++) note(trace.arrays[access_array[row]].name, access_values[row]);
  for (let row = 0; row < variable_values.length; row++) note(trace.names[variable_name[row]], variable_values[row]);
  SIZE_CLASSES.set(trace, widths);
  return widths;
}

/** The class of the longest text. @param {ArrayLike<import("./trace.js").Value>} values */
function longest(values) {
  let [wide, most, least] = [SHORTEST, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value !== "number") wide = Math.max(wide, sizeClassOf(short(value)));
    else if (value > most) most = value;
    else if (value < least) least = value;
    if (typeof value === "number" && !Number.isInteger(value)) wide = Math.max(wide, FRACTION);
  }
  return Math.max(wide, sizeClassOf(short(most)), sizeClassOf(short(least)));
}
