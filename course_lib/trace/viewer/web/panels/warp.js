// What the 32 lanes of a warp do together: its requests to global memory, with their addresses and the 32-byte sectors
// that are loaded or stored, and its shuffles and votes.

import { html, setAttribute, svg, setText } from "../dom.js";
import { SECTOR_BYTES, WARP, WORD_BYTES } from "../trace.js";
import { cellsPerRow, setDrawingSize } from "../rows.js";
import { bytesRequested, requestSentence, Requests } from "./costs.js";
import { picture as flows } from "./lane_exchanges.js";

const CELL = 20; // height of a lane, and its least width, in units
const DIGIT = 5.5; // width of a digit of an address
const GUTTER = 38; // for the number of the first byte of a line of sectors
const WORD = 9; // four bytes of a sector
const LINE = 4; // sectors side by side: 128 bytes, a line of the cache
const MOST_LINES = 8; // with more, unused sectors are not drawn

/** @typedef {{room: number, cell: number}} Row  the width of the place and of a lane, in units */

export class Warp extends Requests {
  static id = "warp";
  static title = "Warp";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context, "global", "sectors");
    const { trace } = context;
    this.said.addEventListener("click", ({ target }) => {
      const lane = target instanceof Element ? target.closest("[data-lane]")?.getAttribute("data-lane") : null;
      const { replay, choose } = this.context;
      const thread = WARP * replay.warp + Number(lane);
      if (lane && thread < trace.threads) choose({ thread: trace.threadPosition(thread) });
    });
    const last = trace.arrays.map((array) =>
      array.space === "global" && array.size ? trace.address(array, array.size - 1) : 0,
    );
    this.cell = Math.max(CELL, 3 + DIGIT * String(Math.max(...last)).length); // the longest address fits below each lane
  }

  /** @returns {Row} */
  get row() {
    return { room: this.room, cell: this.cell };
  }

  request() {
    return new Request(this.row);
  }

  /** @param {boolean} alone */
  others(alone) {
    const { replay } = this.context;
    const exchanges = replay.exchanges.map((exchange) => flows(exchange, laneOf(replay), this.room));
    return exchanges.length || !alone ? exchanges : idle(replay, this.row);
  }
}

/** The 32 lanes of a warp, with the address of each below it. A step draws only what has changed. */
class Lanes {
  /** @param {Row} row @param {number} height  of a row of them */
  constructor({ room, cell: wide }, height) {
    const most = cellsPerRow(room, wide);
    this.node = svg("svg", { class: "tt-lanes", role: "img" });
    setDrawingSize(this.node, most * wide + 2, (WARP / most) * height);
    this.lanes = Array.from({ length: WARP }, (_, lane) => {
      const [x, y] = [1 + (lane % most) * wide, 1 + Math.floor(lane / most) * height];
      const cell = svg("rect", { x: x + 0.5, y, width: wide - 1.5, height: CELL - 1 });
      const number = svg("text", { x: x + wide / 2, y: y + CELL / 2 }, String(lane));
      const [byte, title] = [document.createTextNode(""), svg("title")];
      const address = svg("text", { x: x + wide / 2, y: y + CELL + 6, class: "tt-address" }, byte, title);
      this.node.append(cell, number, address);
      return { cell, number, byte, title };
    });
  }

  /**
   * @param {string} label
   * @param {number} active  lanes, a bit each
   * @param {number} mine  the lane of the chosen thread, or -1
   */
  draw(label, active, mine) {
    setAttribute(this.node, "aria-label", label);
    this.lanes.forEach(({ cell, number }, lane) => {
      const on = (active >>> lane) & 1;
      setAttribute(cell, "class", `tt-lane ${on ? "tt-on-lane" : ""}${lane === mine ? " tt-mine-lane" : ""}`);
      setAttribute(number, "class", on ? "tt-lane-on" : "tt-lane-off");
    });
  }

  /** @param {(number | null)[]} starts  the byte address of each lane @param {Map<number, string>} names  of their elements */
  ask(starts, names) {
    this.lanes.forEach(({ byte, title }, lane) => {
      setText(byte, String(starts[lane] ?? ""));
      setText(title, names.has(lane) ? `${names.get(lane)}, byte ${starts[lane]}` : "");
    });
  }
}

/** @param {import("../replay.js").Replay} replay */
const laneOf = (replay) => (replay.line !== null && replay.thread >> 5 === replay.warp ? replay.thread % WARP : -1);

/** What is shown for a step without a request. @param {import("../replay.js").Replay} replay @param {Row} row */
function idle(replay, row) {
  const { line, mask, warp } = replay;
  const text =
    line === null
      ? "No warp has run yet. Its 32 lanes:"
      : `Warp ${warp} does not access global memory on line ${line}. Its 32 lanes:`;
  const lanes = new Lanes(row, CELL + 2);
  lanes.draw("The lanes of the warp", line === null ? 0 : mask, laneOf(replay));
  return [html("div", {}, html("p", {}, text), lanes.node)];
}

class Request {
  /** @param {Row} row */
  constructor(row) {
    this.said = html("b");
    this.row = row;
    this.lanes = new Lanes(row, CELL + 14);
    this.sectors = picture(new Map(), -1, row.room);
    this.node = html("div", { class: "tt-request" }, html("p", {}, this.said), this.lanes.node, this.sectors);
    this.drawn = ""; // what the sectors show
  }

  /** @param {import("../replay.js").Replay} replay @param {import("../trace.js").Access} access */
  draw(replay, access) {
    const { trace } = replay;
    const array = trace.arrays[access.array];
    const mine = laneOf(replay);
    const { words, starts, used } = bytesRequested(trace, access);
    setText(this.said, requestSentence(access, array, used));
    this.lanes.draw(`The lanes of the warp and the element of ${array.name} that each accesses`, access.mask, mine);
    this.lanes.ask(
      starts,
      new Map(access.lanes.map((lane, k) => [lane, trace.elements(array, access.element(k), access.width)])),
    );
    const where = JSON.stringify([...words, mine]);
    if (this.drawn !== where) this.sectors.replaceWith((this.sectors = picture(words, mine, this.row.room)));
    this.drawn = where;
    this.node.style.setProperty("--hue", array.hue);
    setAttribute(this.node, "data-sectors", String(access.sectors));
    setAttribute(this.node, "data-used", String(used));
    setAttribute(this.node, "data-lanes", JSON.stringify(starts));
  }
}

/**
 * The sectors in lines of the cache, including unused ones; if there are many lines, only the used sectors.
 * @param {Map<number, number[]>} asked  the words, with the lanes that access each
 * @param {number} mine  the lane of the chosen thread, or -1
 * @param {number} room  in units
 */
function picture(asked, mine, room) {
  const words = SECTOR_BYTES / WORD_BYTES;
  const sectors = new Set([...asked.keys()].map((word) => Math.floor(word / words)));
  const numbers = [...sectors].sort((x, y) => x - y);
  const many = new Set(numbers.map((sector) => Math.floor(sector / LINE))).size > MOST_LINES;
  const [width, height] = [words * WORD + 4, WORD + 5];
  const beside = many ? 1 : ([LINE, LINE / 2].find((count) => count * width + GUTTER <= room) ?? 1);
  const groups = [...new Set(numbers.map((sector) => Math.floor(sector / beside)))];
  const across = beside * width + GUTTER;
  const columns = Math.min(many ? LINE : groups.length > 4 ? 2 : 1, Math.max(1, Math.floor(room / across)));
  const rows = Math.ceil(groups.length / columns);
  const node = svg("svg", {
    class: "tt-sectors",
    role: "img",
    "aria-label": `${numbers.length} sectors of ${SECTOR_BYTES} bytes, with the words that are used`,
  });
  setDrawingSize(node, columns * across, rows * height + 2);
  groups.forEach((group, i) => {
    const [left, top] = [(i % columns) * across, Math.floor(i / columns) * height];
    node.append(
      svg(
        "text",
        { x: left + GUTTER - 4, y: top + height / 2, class: "tt-byte" },
        String(group * beside * SECTOR_BYTES),
      ),
    );
    for (let s = 0; s < beside; s++) {
      const [sector, x] = [group * beside + s, left + GUTTER + s * width];
      const frame = {
        x,
        y: top + 1,
        width: width - 3,
        height: WORD + 2,
        class: sectors.has(sector) ? "tt-sector" : "tt-no-sector",
      };
      node.append(svg("rect", frame));
      for (let w = 0; w < words && sectors.has(sector); w++) {
        const lanes = asked.get(sector * words + w);
        const classes = !lanes ? "tt-unused" : lanes.includes(mine) ? "tt-used tt-mine-lane" : "tt-used";
        const box = { x: x + 1 + w * WORD, y: top + 2, width: WORD - 1, height: WORD, class: classes };
        const who = lanes ? `lanes ${lanes.join(", ")}` : "not used by any lane";
        node.append(svg("rect", box, svg("title", {}, `byte ${sector * SECTOR_BYTES + WORD_BYTES * w}: ${who}`)));
      }
    }
  });
  return node;
}
