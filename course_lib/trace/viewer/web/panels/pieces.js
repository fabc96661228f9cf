// What the tensor cores read from shared memory themselves: the banks of each piece, and the products in flight.

import { html } from "../dom.js";
import { BANKS, LOAD, WARP, WORD_BYTES } from "../trace.js";

const PIECE = 16; // bytes
const AT_ONCE = 8; // pieces that are read at the same time
const MOST = 16; // rows of them that are shown
const SPAN = PIECE / WORD_BYTES; // the banks of a piece
const PLACES = BANKS / SPAN;

/** @typedef {import("../trace.js").MatrixOperation["pieces"]} Matrices */
/** @typedef {[string, string[][]]} Read  a title, and for each pass what is in each four banks */

/**
 * A sentence with the groups of products of the step's warp that are in flight after it.
 * @param {import("../replay.js").Replay} replay
 */
export function productsInFlight({ trace: { columns }, block, position, warp }) {
  if (!position || !columns.product_step?.length) return "";
  const now = block.first + position - 1;
  /** @type {Map<string, [number, number]>} */
  const groups = new Map();
  for (let row = 0; row < columns.product_step.length; row++) {
    const [step, end] = [columns.product_step[row], columns.product_end[row]];
    if (step < block.first || step > now || columns.step_warp[step] !== warp || (end >= 0 && end <= now)) continue;
    const [group, line] = [columns.product_group[row] + 1, columns.step_line[step]];
    groups.set(`group ${group} (line ${line})`, [group, line]);
  }
  const sorted = [...groups].sort(([, [g, l]], [, [h, m]]) => g - h || l - m).map(([said]) => said);
  return `Products of warp ${warp} in flight: ${sorted.join(", ") || "none"}.`;
}

/**
 * What the first instruction of a step reads, as course_lib/trace/viewer/pieces.py describes it.
 * @param {import("../replay.js").Replay} replay
 * @param {Matrices} matrices
 * @returns {Read[]}
 */
export function reads({ trace, accesses }, matrices) {
  const loads = accesses.filter(({ op, array, width, lanes }) => {
    const { space, itemsize } = trace.arrays[array];
    return op === LOAD && space === "shared" && width * itemsize === PIECE && lanes.length === WARP;
  });
  /** @type {Read[]} */
  const found = [];
  for (const { name, rows, columns, first } of matrices) {
    const mine = loads.splice(0, Math.ceil(first.length / WARP));
    if (mine.length * WARP < first.length) return [];
    const array = trace.arrays[mine[0].array];
    const table = Array.from({ length: Math.min(MOST, Math.ceil(first.length / AT_ONCE)) }, () =>
      Array(PLACES).fill(""),
    );
    first.slice(0, AT_ONCE * MOST).forEach((element, number) => {
      const start = trace.address(array, mine[Math.floor(number / WARP)].element(number % WARP));
      const [row, place] = [table[Math.floor(number / AT_ONCE)], Math.floor(start / PIECE) % PLACES];
      row[place] = `${row[place]} ${Math.floor(element / columns)},${element % columns}`.trim();
    });
    found.push([`${name}, ${rows}×${columns}, in ${array.name}`, table]);
  }
  return found;
}

/** @param {Read} read */
export function table([title, rows]) {
  const heads = Array.from({ length: PLACES }, (_, place) =>
    html("th", { scope: "col" }, `${SPAN * place}–${SPAN * place + SPAN - 1}`),
  );
  const body = rows.map((row) =>
    html("tr", {}, ...row.map((text) => html("td", { class: text.includes(" ") ? "tt-same-bank" : "" }, text))),
  );
  return html(
    "figure",
    { class: "tt-pieces" },
    html("figcaption", {}, title),
    html(
      "table",
      { "aria-label": `${title}: the first element of each piece, by its banks; a row is read at once` },
      html("thead", {}, html("tr", {}, ...heads)),
      html("tbody", {}, ...body),
    ),
  );
}
