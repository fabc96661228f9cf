// What a frame of the animation does, counted and in words, as course_lib/trace/viewer/captions.py says it.

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

/** @returns {Facts} */
export const noFacts = () => ({
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

/** What a frame shows: "16 threads copy 32 numbers of A and B to shared memory; …". @param {{facts: Facts}} frame */
export function frameSentence({ facts }) {
  const doings = [...readsOf(facts), ...storesOf(facts)];
  const last = doings.pop() ?? verb(facts, "compute");
  const comma = doings.length > 1 ? "," : "";
  const listed = doings.length ? `${doings.join(", ")}${comma} and ${last}` : last;
  return `${plural(facts.threads, "thread")} ${listed}${laterReads(facts)}.`;
}

/** How often what is stored to shared memory will be read. @param {Facts} facts */
function laterReads({ reads, shared }) {
  if (!shared || !reads?.[1]) return "";
  const [least, most] = reads;
  return `; each will be read ${least === most ? times(least) : `${count(least)} to ${times(most)}`}`;
}

/** What threads load, copy and compute, and what they store to shared memory. @param {Facts} facts */
function* readsOf(facts) {
  const { distinct, fetched, from, held, read, shared } = facts;
  if (fetched && shared && !read) {
    yield `${verb(facts, "copy")} ${plural(fetched, "number")} of ${list(from)} to shared memory`;
    return;
  }
  const arithmetic = arithmeticOf(facts);
  if (fetched) {
    const different = distinct < fetched ? ` (${count(distinct)} different)` : "";
    const use = arithmetic && !read ? ` for ${arithmetic}` : "";
    yield `${verb(facts, "load")} ${plural(fetched, "number")} of ${list(from)}${different}${use}`;
  }
  const doesMore = fetched || shared;
  if (read && doesMore && arithmetic) {
    yield `${verb(facts, "do")} ${arithmetic} with ${sharedNumbers(facts)} in shared memory`;
  } else if (read) {
    const often = read > held ? `, ${times(read)} in all` : "";
    const use = arithmetic ? `, for ${arithmetic}` : "";
    yield `${verb(facts, "read")} ${sharedNumbers(facts)} in shared memory${often}${use}`;
  } else if (arithmetic && !fetched) {
    yield `${verb(facts, "do")} ${arithmetic}`;
  }
  if (shared) yield `${verb(facts, "store")} ${plural(shared, "number")} to shared memory`;
}

/** What threads store to global memory and update there. @param {Facts} facts */
function* storesOf(facts) {
  const { into, stored, updated } = facts;
  if (stored) yield `${verb(facts, "store")} ${plural(stored, "number")} of ${list(into)}`;
  if (updated) yield `${verb(facts, "update")} ${plural(updated, "number")} of ${list(into)}`;
}

/** @param {Facts} facts */
function arithmeticOf({ added, multiplied }) {
  const kinds = [];
  if (multiplied) kinds.push(plural(multiplied, "multiply-add"));
  if (added) kinds.push(plural(added, "addition"));
  return kinds.join(" and ");
}

/** @param {Facts} facts */
function sharedNumbers({ empty, held }) {
  if (empty === held) return plural(held, "empty element");
  return plural(held, "number") + (empty ? ` (${count(empty)} empty)` : "");
}

/** A verb as it is said of one thread, or of several. @param {Facts} facts @param {"compute" | "copy" | "do" | "load" | "read" | "store" | "update"} ofSeveral */
function verb({ threads }, ofSeveral) {
  const irregular = { copy: "copies", do: "does" };
  if (threads !== 1) return ofSeveral;
  return ofSeveral === "copy" || ofSeveral === "do" ? irregular[ofSeveral] : `${ofSeveral}s`;
}

const count = (/** @type {number} */ n) => n.toLocaleString("en");
const plural = (/** @type {number} */ n, /** @type {string} */ what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const times = (/** @type {number} */ n) => ["never", "once", "twice"][n] ?? `${count(n)} times`;
const list = (/** @type {string[]} */ names) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : names[0];
