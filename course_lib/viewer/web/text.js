// Words and numbers: how a value, a line of Python and a step are written.

import { html } from "./dom.js";

/** @typedef {import("./trace.js").Value} Value */

/**
 * At most five characters, so that a value fits its cell.
 * @param {Value | undefined} value
 */
export function short(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e4 || (size < 0.005 && size > 0)) return value.toExponential(0).replace("e+", "e");
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace(/^(-?)0\./, "$1.");
}

/**
 * Seven significant digits.
 * @param {Value | undefined} value
 */
export function full(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(7))) : String(value ?? "empty");
}

/**
 * The active threads of a warp in words.
 * @param {readonly number[]} active
 */
export function lanes(active) {
  const sorted = [...active].sort((a, b) => a - b);
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  if (sorted.length === 1) return `thread ${first}`;
  return last - first + 1 === sorted.length ? `threads ${first}–${last}` : `${sorted.length} threads`;
}

/**
 * The step in words, with the numbers of the chosen thread.
 * @param {import("./machine.js").Machine} machine
 * @returns {(string | Node)[]}
 */
export function sentence(machine) {
  const { trace, block } = machine;
  if (machine.line === null) {
    return [`Block ${trace.label(block.at)} is about to start: ${block.length} steps. Press space to play, → to step.`];
  }
  const lead = [html("b", {}, `Line ${machine.line}`), `, warp ${machine.warp} (${lanes(machine.active)}). `];
  if (machine.barrier) {
    const open = block.releases.includes(machine.position);
    return [...lead, open ? "Every warp has arrived: the barrier opens." : "It waits at the barrier for the other warps."];
  }
  const thread = `Thread ${trace.label(trace.threadPosition(machine.thread))}`;
  if (!machine.active.includes(machine.thread)) return [...lead, `${thread} takes no part.`];
  /** @param {import("./machine.js").Event} event */
  const named = ({ array, element, value }) => `${trace.element(array, element)} = ${full(value)}`;
  const parts = [
    ["reads", machine.events.filter((e) => e.loading).map(named)],
    ["writes", machine.events.filter((e) => !e.loading).map(named)],
    ["sets", [...machine.changed].map((name) => `${name} = ${full(machine.variable(name))}`)],
  ].filter(([, what]) => what.length);
  const done = parts.map(([verb, what]) => `${verb} ${/** @type {string[]} */ (what).join(", ")}`).join("; ");
  return [...lead, `${thread} ${done || "runs it"}.`];
}

const KEYWORDS = /^(?:and|break|continue|def|elif|else|for|if|in|is|not|or|pass|return|while|True|False|None)$/;
const TOKENS = /(#.*$)|("[^"]*"|'[^']*')|([A-Za-z_]\w*)|(\d[\w.]*)/g;

/**
 * Colour a line of Python: words of the language, numbers, remarks, and the arrays in their own colours.
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
    const kind = remark ? "remark" : string ? "string" : number ? "digits" : KEYWORDS.test(word) ? "keyword" : null;
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
