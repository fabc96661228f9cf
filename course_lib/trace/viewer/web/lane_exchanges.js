// The shuffles and votes of a warp in words: what each lane gives, from which lane it takes, and what it gets.

import { WARP } from "./trace.js";

const COMPARE = ["eq_sync", "match_all_sync", "match_any_sync"]; // votes on any values; the others are on a condition
const BITS = ["ballot_sync", "match_any_sync"]; // the result has a bit for each lane
export const UNDEFINED = "undefined"; // where the lane that it takes from gives none

/** @typedef {import("./trace.js").Exchange} Exchange */
/** @typedef {ReturnType<typeof exchanged>} Exchanged */

/**
 * The texts of an exchange, as course_lib/trace/viewer/lane_exchanges.py has them: of each lane what it gave, from which lane it
 * took, and what it got; null of a lane that takes no part, and as the source of a vote.
 * @param {Exchange} exchange
 * @param {(value: import("./trace.js").Value) => string} digits
 */
export function exchanged({ operation, lanes, given, source, result }, digits) {
  const gave = /** @type {(string | null)[]} */ (new Array(WARP).fill(null));
  const got = /** @type {(string | null)[]} */ (new Array(WARP).fill(null));
  const from = /** @type {(number | null)[]} */ (new Array(WARP).fill(null));
  const condition = !source && !COMPARE.includes(operation);
  lanes.forEach((lane, k) => {
    gave[lane] = condition ? (given(k) ? "yes" : "no") : digits(given(k));
    if (source) {
      from[lane] = (source(k) + WARP) % WARP;
      got[lane] = source(k) < 0 ? UNDEFINED : digits(result(k));
    } else if (BITS.includes(operation)) {
      got[lane] = `0x${(Number(result(k)) >>> 0).toString(16).padStart(8, "0")}`;
    } else {
      got[lane] = String(Boolean(result(k)));
    }
  });
  return { operation, gave, source: from, got, says: sentence(operation, lanes, gave, from, got) };
}

/** @type {(operation: string, lanes: number[], gave: (string | null)[], source: (number | null)[], got: (string | null)[]) => string} */
function sentence(operation, lanes, gave, source, got) {
  const results = [...new Set(lanes.map((lane) => got[lane]))].sort();
  if (operation.startsWith("shfl")) {
    const silent = got.filter((text) => text === UNDEFINED).length;
    const own = lanes.filter((lane) => source[lane] === lane).length;
    const parts = [`${lanes.length - own - silent} of ${lanes.length} lanes take another lane's value`];
    if (own) parts.push(`${own} keep their own`);
    if (silent) parts.push(`${silent} take from a lane that gives none`);
    return `${operation}: ${parts.join(", ")}.`;
  }
  if (operation === "match_any_sync")
    return `${operation}: ${lanes.length} lanes in ${results.length} groups of equal values.`;
  const result = results.join(" or ");
  const yes = gave.filter((text) => text === "yes").length;
  if (COMPARE.includes(operation))
    return `${operation}: ${lanes.length} lanes compare their values; the result is ${result}.`;
  return `${operation}: ${yes} of ${lanes.length} lanes vote yes; the result is ${result}.`;
}

/**
 * A verb and what a lane did: gets, "3 from lane 5"; null if it takes no part.
 * @param {Exchanged} exchange
 * @param {number} lane
 * @returns {[string, string[]] | null}
 */
export function actionOf({ operation, gave, source, got }, lane) {
  if (gave[lane] === null) return null;
  const from = source[lane];
  if (from === null) return ["votes", [`${gave[lane]} in ${operation}: ${got[lane]}`]];
  if (got[lane] === UNDEFINED) return ["gets", [`an undefined value from lane ${from}, which gives none`]];
  return ["gets", [from === lane ? `its own ${got[lane]}` : `${got[lane]} from lane ${from}`]];
}
