// The picture of a shuffle or a vote: the lanes of the warp, what each gives and gets, and lines from one to another.

import { html, svg } from "../dom.js";
import { exchanged, actionOf, UNDEFINED } from "../lane_exchanges.js";
import { cellsPerRow, setDrawingSize } from "../rows.js";
import { full, short } from "../text.js";
import { WARP } from "../trace.js";

const CELL = 20; // a lane, in SVG units
const BAND = 24; // two lines of values: those of odd lanes are on the second
const FLOW = 48; // between the lanes that give and those that get

/**
 * A shuffle has two rows of lanes, and a line from each lane that gives to each that gets.
 * @param {import("../trace.js").Exchange} exchange
 * @param {number} mine  the lane of the chosen thread, or -1
 * @param {number} width  that it may have, in units
 */
export function picture(exchange, mine, width) {
  const texts = exchanged(exchange, full);
  const action = (/** @type {number} */ lane) => (actionOf(texts, lane) ?? []).flat().join(" ");
  const label = `${texts.operation}: ${exchange.lanes.map((lane) => `lane ${lane} ${action(lane)}`).join("; ")}`;
  const drawing = new Drawing(cellsPerRow(width, CELL), exchange.source !== null, label);
  const cells = exchanged(exchange, short);
  if (exchange.source === null) drawVote(drawing, texts, cells, mine, action);
  else drawShuffle(drawing, exchange.lanes, texts, cells, mine, action);
  const hint = exchange.source
    ? "Above: what each lane gives; below: what it gets."
    : "Below each lane: what it gives.";
  return html("div", { class: "tt-exchange" }, html("p", {}, html("b", {}, texts.says), ` ${hint}`), drawing.node);
}

/** @typedef {import("../lane_exchanges.js").Exchanged} Exchanged */

/**
 * What each lane gives; framed are the chosen thread's lane, and those whose values are in one group with its value.
 * @param {Drawing} drawing
 * @param {Exchanged} texts
 * @param {Exchanged} cells  the same in fewer characters
 * @param {number} mine
 * @param {(lane: number) => string} action
 */
function drawVote(drawing, texts, cells, mine, action) {
  const group = texts.operation === "match_any_sync" && mine >= 0 ? texts.got[mine] : null;
  const framed = (/** @type {number} */ lane) => lane === mine || (group !== null && texts.got[lane] === group);
  drawing.addRow({ name: "tt-gets", values: cells.gave, below: true, title: action, framed });
}

/**
 * What each lane gives and gets; framed are the chosen thread's lane, and the one from which it gets its value.
 * @param {Drawing} drawing
 * @param {number[]} lanes
 * @param {Exchanged} texts
 * @param {Exchanged} cells  the same in fewer characters
 * @param {number} mine
 * @param {(lane: number) => string} action
 */
function drawShuffle(drawing, lanes, texts, cells, mine, action) {
  const [others, own] = [lanes.filter((lane) => lane !== mine), lanes.filter((lane) => lane === mine)];
  for (const lane of [...others, ...own])
    if (texts.got[lane] !== UNDEFINED) drawing.addFlow(texts.source[lane] ?? lane, lane, lane === mine);
  const gives = (/** @type {number} */ lane) => `gives ${texts.gave[lane]}`;
  const source = mine >= 0 ? texts.source[mine] : null;
  drawing.addRow({
    name: "tt-gives",
    values: cells.gave,
    below: false,
    title: gives,
    framed: (lane) => lane === source,
  });
  drawing.addRow({ name: "tt-gets", values: cells.got, below: true, title: action, framed: (lane) => lane === mine });
}

/** Rows of lanes with values beside them, and lines between the rows. */
class Drawing {
  /** @param {number} perRow  lanes @param {boolean} shuffle  whether there are two rows of all lanes @param {string} label */
  constructor(perRow, shuffle, label) {
    this.perRow = perRow;
    this.shuffle = shuffle;
    this.height = (WARP / perRow) * (CELL + BAND); // of all lanes
    this.node = svg("svg", { class: "tt-lanes tt-flows", role: "img", "aria-label": label });
    setDrawingSize(this.node, perRow * CELL + 2, shuffle ? 2 * this.height + FLOW : this.height);
  }

  /** The middle of a lane's cell. @param {number} lane */
  across(lane) {
    return 1 + ((lane % this.perRow) + 0.5) * CELL;
  }

  /** The upper edge of a lane's cell. @param {number} lane @param {boolean} below  in the lower row of a shuffle, and of a vote */
  edge(lane, below) {
    const first = this.shuffle ? this.height + FLOW : 0;
    return Math.floor(lane / this.perRow) * (CELL + BAND) + (below ? first : BAND);
  }

  /**
   * The lanes with a value each; null of one that takes no part.
   * @param {{name: string, values: (string | null)[], below: boolean, title: (lane: number) => string, framed: (lane: number) => boolean}} row
   */
  addRow({ name, values, below, title, framed }) {
    values.forEach((value, lane) => {
      const [x, y, takesPart] = [this.across(lane), this.edge(lane, below), value !== null];
      const classes = ["tt-lane"];
      if (takesPart) classes.push(value === "no" ? "tt-votes-no" : "tt-on-lane");
      if (framed(lane)) classes.push("tt-mine-lane");
      const size = { width: CELL - 1.5, height: CELL - 1 };
      const box = svg("rect", { x: x - CELL / 2 + 0.5, y: y + 0.5, ...size, class: classes.join(" ") });
      const level = y + (below ? CELL + 7 : -17) + (lane % 2) * 11;
      const digits = svg("text", { x, y: level, class: "tt-given" }, value === UNDEFINED ? "?" : (value ?? ""));
      const numberClass = takesPart ? "tt-lane-on" : "tt-lane-off";
      const number = svg("text", { x, y: y + CELL / 2, class: numberClass }, String(lane));
      const words = svg("title", {}, `lane ${lane} ${takesPart ? title(lane) : "takes no part"}`);
      this.node.append(svg("g", { "data-lane": lane, class: name }, words, box, number, digits));
    });
  }

  /** A line from the lane that gives to the one that gets. @param {number} from @param {number} to @param {boolean} mine */
  addFlow(from, to, mine) {
    const [x1, y1, x2, y2] = [this.across(from), this.edge(from, false) + CELL, this.across(to), this.edge(to, true)];
    const middle = (y1 + y2) / 2;
    this.node.append(
      svg("path", {
        d: `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`,
        class: mine ? "tt-flow tt-my-flow" : "tt-flow",
        "data-from": from,
        "data-to": to,
      }),
    );
  }
}
