// The texts of values, lines of Python and steps.

import { html } from "./dom.js";
import { exchanged, actionOf } from "./lane_exchanges.js";
import { LOAD, lanesOf, RESULT, STORE, WARP } from "./trace.js";

/** @typedef {import("./trace.js").Value} Value */

const EXACT = 2 ** 53; // whole numbers are exact up to here
const PART = "[+-]?(?:[\\d.]+(?:e[+-]\\d+)?|nan|inf)";
const COMPLEX = new RegExp(`^\\(?(?:(${PART})(?=[+-]))?(${PART})j\\)?$`);

/** The parts of a complex number, which Python writes as (1+2j). @param {string} text */
function parts(text) {
  const [, real = "0", imaginary] = COMPLEX.exec(text) ?? [];
  const part = (/** @type {string} */ digits) => Number(digits.replace("inf", "Infinity").replace("nan", "NaN"));
  return imaginary === undefined ? null : [part(real), part(imaginary)];
}

/**
 * At most seven characters, so that a value fits its cell; of a complex number, two lines of them.
 * @param {Value | undefined} value
 * @returns {string}
 */
export function short(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") {
    const complex = parts(value);
    return complex ? `${short(complex[0])}\n${short(complex[1])}j` : short(Number(value)); // a long whole number
  }
  if (!Number.isFinite(value)) return nonFinite(value);
  value = shortestDigits(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e4 || (size < 0.005 && size > 0)) return value.toExponential(0).replace("e+", "e");
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace(/^(-?)0\./, "$1.");
}

/**
 * Whole numbers in full, others with seven significant digits, as Python writes them.
 * @param {Value | undefined} value
 * @returns {string}
 */
export function full(value) {
  if (typeof value === "string") {
    const complex = parts(value);
    if (!complex) return value;
    const [real, imaginary] = complex.map(full);
    return `(${real}${imaginary.startsWith("-") ? "" : "+"}${imaginary}j)`;
  }
  if (typeof value !== "number") return "empty";
  if (!Number.isFinite(value)) return nonFinite(value);
  const digits = shortestDigits(value);
  const whole = Number.isInteger(digits) && Math.abs(digits) <= EXACT;
  const rounded = whole ? digits : Number(digits.toPrecision(7));
  const size = Math.abs(rounded);
  if (size === 0 || (size >= 1e-4 && size < 1e16)) return String(rounded);
  return rounded.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** @param {number} value */
function nonFinite(value) {
  if (Number.isNaN(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

/** The shortest digits that identify the value in its own precision, as Python writes them. @param {number} value */
function shortestDigits(value) {
  if ((Number.isInteger(value) && Math.abs(value) <= EXACT) || Math.fround(value) !== value) return value;
  for (let digits = 6; digits < 10; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}

/** The active threads of a warp in words. @param {number} warp @param {number} mask */
export function activeThreads(warp, mask) {
  const active = lanesOf(mask).map((lane) => WARP * warp + lane);
  const [first, last] = [active[0], active[active.length - 1]];
  if (active.length === 1) return `thread ${first}`;
  return last - first + 1 === active.length ? `threads ${first}–${last}` : `${active.length} threads`;
}

/** What a thread does that starts a product of a warpgroup; the pieces that are named after it are some of them. */
const STARTS_PRODUCT = "starts a product of its warpgroup, for which the tensor cores read, among others,";

/**
 * The step in words, with the numbers of the chosen thread.
 * @param {import("./replay.js").Replay} replay
 * @returns {(string | Node)[]}
 */
export function sentence(replay) {
  const { trace, block } = replay;
  if (replay.line === null) {
    return [`Block ${trace.label(block.at)} is about to start: ${block.length} steps. Space plays and stops, → steps.`];
  }
  const start = [
    html("b", {}, `Line ${replay.line}`),
    `, warp ${replay.warp} (${activeThreads(replay.warp, replay.mask)}). `,
  ];
  if (replay.barrier) {
    const opens = block.releases.includes(replay.position);
    return [
      ...start,
      opens ? "Every warp has arrived: the barrier opens." : "It waits at the barrier for the other warps.",
    ];
  }
  const thread = `Thread ${trace.threadLabel(replay.thread)}`;
  if (!replay.isActive(replay.thread)) return [...start, `${thread} takes no part.`];
  const clauses = actionsIn(replay)
    .filter(([, objects]) => objects.length)
    .map(([verb, objects]) => `${verb} ${objects.join(", ")}`);
  return [...start, `${thread} ${clauses.join("; ") || "runs it"}.`];
}

/** What the chosen thread does in a step: verbs with their objects. @param {import("./replay.js").Replay} replay @returns {[string, string[]][]} */
function actionsIn(replay) {
  const { block, trace } = replay;
  const conditions = evaluatedConditions(replay).map(
    ({ said, filled, holds }) => `${said}${filled ? `: ${filled}` : ""} is ${holds}`,
  );
  const exchanges = replay.exchanges.flatMap((exchange) => {
    const action = actionOf(exchanged(exchange, full), replay.thread % WARP);
    return action ? [action] : [];
  });
  const outOfBounds = replay.outside
    .filter((outside) => outside.thread === replay.thread)
    .map(({ array, index }) => `${trace.arrays[array].name}[${index.join(", ")}] (out of bounds)`);
  const startsProduct = trace.columns.product_step?.includes(block.first + replay.position - 1);
  const variables = [...replay.changed].map((name) => `${name} = ${full(replay.variable(name))}`);
  return [
    ["finds", conditions],
    [startsProduct ? STARTS_PRODUCT : "reads", elementsOf(replay, LOAD)],
    ...exchanges,
    ["writes", elementsOf(replay, STORE)],
    ["receives", elementsOf(replay, RESULT)],
    ["updates", updatesIn(replay)],
    ["misses", outOfBounds],
    ["sets", variables],
  ];
}

/** The elements of an operation of the chosen thread, with their values. @param {import("./replay.js").Replay} replay @param {number} op */
function elementsOf({ events, trace }, op) {
  return events
    .filter((event) => event.op === op)
    .map(({ array, element, values, foreign }) => {
      const from = foreign ? " (stored by another block)" : "";
      return `${trace.elements(trace.arrays[array], element, values.length)} = ${values.map(full).join(", ")}${from}`;
    });
}

/** The elements that the chosen thread updates by atomics. @param {import("./replay.js").Replay} replay */
function updatesIn({ events, trace }) {
  return events.flatMap(({ array, element, values, update }) => {
    if (!update) return [];
    const { space } = trace.arrays[array];
    const [old, left] = [full(update.old), full(update.left)];
    const others = space === "global" && left !== old ? `; other blocks changed it from ${left}` : "";
    const how = `${update.operation} ${update.given.map(full).join(", ")}${others}`;
    return [`${trace.element(trace.arrays[array], element)}: ${old} → ${full(values[0])} (${how})`];
  });
}

/**
 * Sentences for elements that the chosen thread stores in this step and whose final values are wrong.
 * @param {import("./replay.js").Replay} replay
 */
export function wrongNow(replay) {
  const { trace } = replay;
  const stored = replay.events.filter(({ op }) => op !== LOAD);
  return stored.flatMap(({ array, element, values }) =>
    values.flatMap((_, w) => {
      const wrong = trace.wanted[trace.arrays[array].name]?.[element + w];
      const place = trace.element(trace.arrays[array], element + w);
      return wrong ? [`${place} holds ${wrong[0]} in the end, and ${wrong[1]} was wanted.`] : [];
    }),
  );
}

/**
 * The conditions that the chosen thread evaluated, with its numbers: row < M, 7 < 5, false.
 * @param {import("./replay.js").Replay} replay
 */
function evaluatedConditions(replay) {
  const lane = replay.thread % WARP;
  if (!replay.isActive(replay.thread)) return [];
  return replay.tests
    .filter(({ mask }) => (mask >>> lane) & 1)
    .map(({ text, parts, truth, sides }) => {
      const values = parts.length === 3 ? sides(lane) : null;
      const filled = values ? `${full(values[0])} ${parts[1]} ${full(values[1])}` : "";
      return { said: text, filled, holds: Boolean((truth >>> lane) & 1) };
    });
}

/**
 * The conditions, short enough for the space beside the line: "7 < 5: false".
 * @param {import("./replay.js").Replay} replay
 */
export function conditionOf(replay) {
  const tests = evaluatedConditions(replay);
  if (!tests.length) return null;
  const text = tests.map(({ said, filled, holds }) => `${filled || said}: ${holds}`).join(", ");
  return { text, holds: tests.every(({ holds }) => holds) };
}

const KEYWORDS = /^(?:and|break|continue|def|elif|else|for|if|in|is|not|or|pass|return|while|True|False|None)$/;
const TOKENS = /(#.*$)|("[^"]*"|'[^']*')|([A-Za-z_]\w*)|(\d[\w.]*)/g;

/** The names in a line of Python. @param {string} line */
export const namesIn = (line) => new Set(line.match(/[A-Za-z_]\w*/g));

/** A line of Python, indented by two columns a level in place of four. @param {string} text */
export const halfIndented = (text) => text.replace(/^( {4})+/, (indent) => " ".repeat(indent.length / 2));

/**
 * Colour a line of Python: keywords, numbers, comments, and the arrays in their own colours.
 * @param {string} text
 * @param {Map<string, string>} hues
 */
export function highlight(text, hues) {
  const line = html("code", { class: "tt-code" });
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    line.append(text.slice(from, match.index));
    const [word, remark, string, name, number] = match;
    const attribute = name && text[match.index - 1] === ".";
    const kinds = { remark, string, digits: number, keyword: KEYWORDS.test(word) };
    const [kind] = Object.entries(kinds).find(([, found]) => found) ?? [];
    const hue = name && !attribute ? hues.get(name) : undefined;
    if (hue) {
      const node = html("span", { class: "tt-array" }, word);
      node.style.setProperty("--hue", hue);
      line.append(node);
    } else {
      line.append(kind ? html("span", { class: `tt-${kind}` }, word) : word);
    }
    from = match.index + word.length;
  }
  line.append(text.slice(from));
  return line;
}
