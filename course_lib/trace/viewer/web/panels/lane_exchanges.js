// The picture of a shuffle or a vote: the lanes of the warp, what each gives and gets, and lines from one to another.

import { html, svg } from "../dom.js";
import { exchanged, actionOf, UNDEFINED } from "../lane_exchanges.js";
import { beside as fitting, draw } from "../rows.js";
import { full, short } from "../text.js";
import { WARP } from "../trace.js";

const CELL = 20; // a lane, in SVG units
const BAND = 24; // two lines of values: those of odd lanes are on the second
const FLOW = 48; // between the lanes that give and those that get

/**
 * A shuffle has two rows of lanes, and a line from each lane that gives to each that gets.
 * @param {import("../trace.js").Exchange} exchange
 * @param {number} mine  the lane of the chosen thread, or -1
 * @param {number} room  for it, in units
 */
export function picture(exchange, mine, room) {
  const beside = fitting(room, CELL);
  const [texts, cells] = [exchanged(exchange, full), exchanged(exchange, short)];
  const rows = (WARP / beside) * (CELL + BAND);
  const shuffle = exchange.source !== null;
  const action = (/** @type {number} */ lane) => (actionOf(texts, lane) ?? []).flat().join(" ");
  const node = svg("svg", {
    class: "tt-lanes tt-flows",
    role: "img",
    "aria-label": `${texts.operation}: ${exchange.lanes.map((lane) => `lane ${lane} ${action(lane)}`).join("; ")}`,
  });
  draw(node, beside * CELL + 2, shuffle ? 2 * rows + FLOW : rows);
  const across = (/** @type {number} */ lane) => 1 + ((lane % beside) + 0.5) * CELL;
  /** @type {(lane: number, below: boolean) => number}  the upper edge of its cell */
  const edge = (lane, below) =>
    Math.floor(lane / beside) * (CELL + BAND) + (below ? (shuffle ? rows + FLOW : 0) : BAND);
  /** @type {(name: string, values: (string | null)[], below: boolean, title: (lane: number) => string, mark: (lane: number) => boolean) => void} */
  const row = (name, values, below, title, mark) =>
    values.forEach((value, lane) => {
      const [x, y, on] = [across(lane), edge(lane, below), value !== null];
      const look = `tt-lane ${on && value !== "no" ? "tt-on-lane" : on ? "tt-says-no" : ""}${mark(lane) ? " tt-mine-lane" : ""}`;
      const box = { x: x - CELL / 2 + 0.5, y: y + 0.5, width: CELL - 1.5, height: CELL - 1, class: look };
      const level = y + (below ? CELL + 7 : -17) + (lane % 2) * 11;
      const says = on ? `lane ${lane} ${title(lane)}` : `lane ${lane} takes no part`;
      const digits = svg("text", { x, y: level, class: "tt-given" }, value === UNDEFINED ? "?" : (value ?? ""));
      const number = svg("text", { x, y: y + CELL / 2, class: on ? "tt-lane-on" : "tt-lane-off" }, String(lane));
      node.append(
        svg("g", { "data-lane": lane, class: name }, svg("title", {}, says), svg("rect", box), number, digits),
      );
    });
  if (!shuffle) {
    const group = texts.operation === "match_any_sync" && mine >= 0 ? texts.got[mine] : null;
    row("tt-gets", cells.gave, true, action, (lane) => lane === mine || (group !== null && texts.got[lane] === group));
  } else {
    for (const lane of [...exchange.lanes].sort((x, y) => Number(x === mine) - Number(y === mine))) {
      const from = texts.source[lane] ?? lane;
      if (texts.got[lane] === UNDEFINED) continue;
      const [x1, y1, x2, y2] = [across(from), edge(from, false) + CELL, across(lane), edge(lane, true)];
      const middle = (y1 + y2) / 2;
      const line = `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
      node.append(
        svg("path", {
          d: line,
          class: lane === mine ? "tt-flow tt-my-flow" : "tt-flow",
          "data-from": from,
          "data-to": lane,
        }),
      );
    }
    row(
      "tt-gives",
      cells.gave,
      false,
      (lane) => `gives ${texts.gave[lane]}`,
      (lane) => mine >= 0 && texts.source[mine] === lane,
    );
    row("tt-gets", cells.got, true, action, (lane) => lane === mine);
  }
  const hint = shuffle ? "Above: what each lane gives; below: what it gets." : "Below each lane: what it gives.";
  return html("div", { class: "tt-exchange" }, html("p", {}, html("b", {}, texts.says), ` ${hint}`), node);
}
