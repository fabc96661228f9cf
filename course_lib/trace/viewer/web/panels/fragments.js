// The matrices that a warp multiplies with one instruction: the lane that holds each element in its registers.

import { setChildren, html, setAttribute, svg, setText } from "../dom.js";
import { Panel } from "../panel.js";
import { setDrawingSize } from "../rows.js";
import { WARP } from "../trace.js";
import { productsInFlight, reads, table } from "./pieces.js";

const [CELL, ROW] = [16, 13]; // an element, in units
const LEAST = 14; // pixels of its width, for digits of nine

/** @typedef {import("../trace.js").MatrixOperation["fragments"][number]} Fragment */

export class Fragments extends Panel {
  static id = "fragments";
  static title = "Fragments";
  static none = "It multiplies no matrices with one instruction.";
  /** @param {import("../trace.js").Trace} trace */
  static wants(trace) {
    return trace.matrices.length > 0;
  }

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.said = html("div", { class: "tt-requests" });
    this.inFlight = html("p", { class: "tt-in-flight" });
    place.append(this.inFlight, this.said);
    this.operations = context.trace.matrices.map((operation) => new Multiplied(operation));
    this.said.addEventListener("click", ({ target }) => {
      const cell = target instanceof Element ? target.closest("[data-lane]") : null;
      const lane = Number(cell?.getAttribute("data-lane"));
      const { trace, replay, choose } = this.context;
      if (cell && replay.line !== null) choose({ thread: trace.threadPosition(WARP * replay.warp + lane) });
    });
  }

  draw() {
    const { replay } = this.context;
    const here = this.operations.filter(({ operation }) => operation.line === replay.line);
    const lane = replay.thread >> 5 === replay.warp ? replay.thread % WARP : -1;
    setText(this.inFlight, productsInFlight(replay));
    for (const each of here) {
      each.draw(heldElementsSentence(each.operation, lane), "", lane);
      setChildren(each.tables, reads(replay, each.operation.pieces ?? []).map(table));
    }
    if (!here.length) this.operations[0].draw("", this.elsewhere(), -1);
    setChildren(
      this.said,
      (here.length ? here : [this.operations[0]]).map(({ node }) => node),
    );
  }

  /** A sentence for a line that multiplies nothing, with the next line that does. */
  elsewhere() {
    const { replay, trace } = this.context;
    const [next] = trace.matrices;
    const now = replay.line === null ? "No warp has run yet." : `Line ${replay.line} multiplies no matrices.`;
    return `${now} Line ${next.line} does (${next.name}), and its warp holds them so, a lane's number in each element:`;
  }
}

/** The matrices of an operation; from step to step only the marks of the chosen thread's elements change. */
class Multiplied {
  /** @param {import("../trace.js").MatrixOperation} operation */
  constructor(operation) {
    this.operation = operation;
    this.words = { here: html("b"), elsewhere: html("span") };
    const held = operation.fragments;
    const row = html("div", { class: "tt-fragments" }, ...held.map(matrix));
    this.tables = html("div", { class: "tt-tables" });
    this.node = html(
      "div",
      {},
      html("p", {}, this.words.here, this.words.elsewhere),
      html("div", { class: "tt-beside" }, row, this.tables),
    );
    this.cells = [...row.querySelectorAll("[data-lane]")];
    this.mine = -1;
  }

  /**
   * @param {string} here  what the step's line multiplies
   * @param {string} elsewhere  what another line would, if it multiplies nothing
   * @param {number} mine  the lane of the chosen thread, or -1
   */
  draw(here, elsewhere, mine) {
    setText(this.words.here, here);
    if (!here) setChildren(this.tables, []);
    setText(this.words.elsewhere, elsewhere);
    this.node.classList.toggle("tt-multiplied", here !== "");
    if (mine === this.mine) return;
    this.mine = mine;
    for (const cell of this.cells) {
      const own = Number(cell.getAttribute("data-lane")) === mine;
      const [box, number] = cell.children;
      setAttribute(box, "class", own ? "tt-lane tt-on-lane tt-mine-lane" : "tt-lane");
      setAttribute(number, "class", own ? "tt-lane-on" : "tt-lane-off");
    }
  }
}

/**
 * The elements of the chosen thread in a sentence, as course_lib/trace/viewer/fragments.py says it.
 * @param {import("../trace.js").MatrixOperation} operation
 * @param {number} lane
 */
function heldElementsSentence({ name, fragments: matrices }, lane) {
  if (lane < 0) return `The thread is in another warp, and holds nothing of ${name}'s matrices.`;
  const parts = matrices.map(({ name: matrix, columns, held }) => {
    const places = held[lane].map((i) => `[${Math.floor(i / columns)}, ${i % columns}]`);
    return `${matrix}: ${places.join(", ")}`;
  });
  return `For ${name}, lane ${lane} holds ${parts.join("; ")}.`;
}

/** @param {Fragment} fragment */
function matrix({ name, rows, columns, held }) {
  const title = `${name}, ${rows}×${columns}`;
  const node = svg("svg", {
    class: "tt-fragment",
    role: "img",
    "aria-label": `${title}: the lane that holds each element`,
  });
  setDrawingSize(node, columns * CELL + 2, rows * ROW + 2, 1);
  /** @type {[number, number, number][]}  element, lane, and which of its values */
  const cells = held.flatMap((elements, lane) =>
    elements.map((i, item) => /** @type {[number, number, number]} */ ([i, lane, item])),
  );
  for (const [i, lane, item] of cells.sort(([x], [y]) => x - y)) {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const [x, y] = [1 + column * CELL, 1 + row * ROW];
    const what = `row ${row}, column ${column}: value ${item} of lane ${lane}`;
    const box = { x: x + 0.5, y: y + 0.5, width: CELL - 1.5, height: ROW - 1.5, class: "tt-lane" };
    const at = { x: x + CELL / 2, y: y + ROW / 2, class: "tt-lane-off" };
    node.append(
      svg("g", { "data-lane": lane }, svg("rect", box, svg("title", {}, what)), svg("text", at, String(lane))),
    );
  }
  const figure = html("figure", {}, html("figcaption", {}, title), node);
  figure.style.flex = `${columns} 1 ${columns * LEAST}px`;
  figure.style.minWidth = `${columns * LEAST}px`;
  return figure;
}
