// The request of a warp to global memory: its 32 lanes, where each asks, and the 32-byte sectors that answer.

import { html, svg } from "../dom.js";
import { SECTOR_BYTES, WARP } from "../trace.js";
import { beside, Costs, requestSays, requestState, spread } from "./costs.js";

const CELL = 20; // a lane, in SVG units
const WORD = 9; // four bytes of a sector
const LINE = 4; // sectors side by side: 128 bytes, a line of the cache
const MOST_LINES = 8; // with more, the sectors that nobody asks for are left out

/** @type {import("../panel.js").Lens} */
export const warp = {
  name: "warp",
  title: "Warp",
  wants: () => true,
  build: (place, context) => new Warp(place, context),
};

class Warp {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.said = html("div", { class: "tt-requests" });
    this.costs = new Costs(context, "global", "sectors");
    place.append(html("div", { class: "tt-split" }, this.said, this.costs.node));
    this.shown = -1;
    this.beside = WARP; // lanes in a row
  }

  /** @param {import("../panel.js").Size} size */
  fit(size) {
    if (beside(size) === this.beside) return;
    this.beside = beside(size);
    this.shown = -1;
    this.draw();
  }

  state() {
    return { requests: [...this.said.querySelectorAll(".tt-request")].map(requestState) };
  }

  choose() {
    this.costs.choose();
    this.shown = -1;
  }

  draw() {
    this.costs.draw();
    const { machine, trace } = this.context;
    if (this.shown === machine.position) return;
    this.shown = machine.position;
    const requests = machine.accesses.filter(({ array }) => trace.arrays[array].space === "global");
    this.said.replaceChildren(...(requests.length ? requests.map((access) => this.request(access)) : [this.idle()]));
  }

  idle() {
    const { machine, trace } = this.context;
    const lanes = machine.line === null ? 0 : machine.mask;
    const node = this.frame("The lanes of the warp", CELL + 2);
    for (let lane = 0; lane < WARP; lane++) {
      node.append(...this.lane(lane, (lanes >>> lane) & 1 ? "tt-on-lane" : "", CELL + 2));
    }
    const text =
      machine.line === null
        ? "No warp has run yet. Its 32 lanes:"
        : `Warp ${machine.warp} asks nothing of global memory on line ${machine.line}. Its 32 lanes:`;
    return html("div", {}, html("p", {}, text), node);
  }

  /**
   * The place of the 32 lanes.
   * @param {string} label
   * @param {number} height  of a row of them
   */
  frame(label, height) {
    const box = `0 0 ${this.beside * CELL + 2} ${(WARP / this.beside) * height}`;
    return svg("svg", { class: "tt-lanes", viewBox: box, role: "img", "aria-label": label });
  }

  /**
   * @param {number} lane
   * @param {string} look
   * @param {number} height  of a row of lanes
   */
  lane(lane, look, height) {
    const { machine } = this.context;
    const mine = machine.line !== null && machine.thread === WARP * machine.warp + lane ? " tt-mine-lane" : "";
    const x = 1 + (lane % this.beside) * CELL;
    const y = 1 + Math.floor(lane / this.beside) * height;
    return [
      svg("rect", { x: x + 0.5, y, width: CELL - 1.5, height: CELL - 1, class: `tt-lane ${look}${mine}` }),
      svg("text", { x: x + CELL / 2, y: y + CELL / 2, class: look ? "tt-lane-on" : "tt-lane-off" }, String(lane)),
    ];
  }

  /** @param {import("../trace.js").Access} access */
  request(access) {
    const { trace, machine } = this.context;
    const array = trace.arrays[access.array];
    const bytes = access.width * array.itemsize;
    // For each sector, the lanes that ask for each of its bytes.
    /** @type {Map<number, Map<number, number[]>>} */
    const sectors = new Map();
    const used = new Set();
    const starts = access.lanes.map((_, k) => trace.address(array, access.element(k)));
    access.lanes.forEach((lane, k) => {
      for (let byte = starts[k]; byte < starts[k] + bytes; byte++) {
        used.add(byte);
        const sector = Math.floor(byte / SECTOR_BYTES);
        const words = sectors.get(sector) ?? new Map();
        sectors.set(sector, words);
        const word = Math.floor((byte % SECTOR_BYTES) / 4);
        const lanes = words.get(word) ?? [];
        if (lanes[lanes.length - 1] !== lane) lanes.push(lane);
        words.set(word, lanes);
      }
    });
    const said = html("p", {}, html("b", {}, requestSays(access, array, used.size)));
    const place = html("div", { class: "tt-request" }, said, this.lanes(access, starts), this.sectors(sectors, machine.thread >> 5 === access.warp ? machine.thread % WARP : -1));
    place.style.setProperty("--hue", array.hue);
    place.dataset.sectors = String(access.sectors);
    place.dataset.used = String(used.size);
    place.dataset.lanes = JSON.stringify(spread(access, starts));
    return place;
  }

  /**
   * @param {import("../trace.js").Access} access
   * @param {number[]} starts
   */
  lanes(access, starts) {
    const { trace } = this.context;
    const array = trace.arrays[access.array];
    const row = CELL + 14;
    const node = this.frame(`The lanes of the warp and where each asks in ${array.name}`, row);
    const digits = String(Math.max(...starts)).length;
    const size = Math.min(7.5, (CELL * 0.92) / (digits * 0.6)); // the longest address fits below its lane
    for (let lane = 0; lane < WARP; lane++) {
      const k = access.lanes.indexOf(lane);
      node.append(...this.lane(lane, k < 0 ? "" : "tt-on-lane", row));
      if (k < 0) continue;
      const y = Math.floor(lane / this.beside) * row + CELL + 8;
      const at = { x: 1 + ((lane % this.beside) + 0.5) * CELL, y, class: "tt-address", style: `font-size: ${size}px` };
      const what = trace.elements(array, access.element(k), access.width);
      node.append(svg("text", at, String(starts[k]), svg("title", {}, `${what}, byte ${starts[k]}`)));
    }
    return node;
  }

  /**
   * The sectors in lines of the cache, those that nobody asks for too; where there are many lines, only the sectors.
   * @param {Map<number, Map<number, number[]>>} sectors
   * @param {number} mine  the lane of the chosen thread, or -1
   */
  sectors(sectors, mine) {
    const numbers = [...sectors.keys()].sort((x, y) => x - y);
    const many = new Set(numbers.map((sector) => Math.floor(sector / LINE))).size > MOST_LINES;
    const beside = many ? 1 : LINE;
    const groups = [...new Set(numbers.map((sector) => Math.floor(sector / beside)))];
    const words = SECTOR_BYTES / 4;
    const [width, height] = [words * WORD + 4, WORD + 5];
    const columns = many ? LINE : groups.length > 4 ? 2 : 1;
    const rows = Math.ceil(groups.length / columns);
    const gutter = 34;
    const across = beside * width + gutter;
    const node = svg("svg", {
      class: "tt-sectors",
      viewBox: `0 0 ${columns * across} ${rows * height + 2}`,
      role: "img",
      "aria-label": `${numbers.length} sectors of ${SECTOR_BYTES} bytes, with the words that are used`,
    });
    node.style.maxWidth = `${(columns * across * 1.45) / 13.5}em`;
    groups.forEach((group, i) => {
      const [left, top] = [(i % columns) * across, Math.floor(i / columns) * height];
      node.append(svg("text", { x: left + gutter - 4, y: top + height / 2, class: "tt-byte" }, String(group * beside * SECTOR_BYTES)));
      for (let s = 0; s < beside; s++) {
        const asked = sectors.get(group * beside + s);
        const x = left + gutter + s * width;
        const frame = { x, y: top + 1, width: width - 3, height: WORD + 2, class: asked ? "tt-sector" : "tt-no-sector" };
        node.append(svg("rect", frame));
        if (!asked) continue;
        for (let w = 0; w < words; w++) {
          const lanes = asked.get(w);
          const look = !lanes ? "tt-unused" : lanes.includes(mine) ? "tt-used tt-mine-lane" : "tt-used";
          const box = { x: x + 1 + w * WORD, y: top + 2, width: WORD - 1, height: WORD, class: look };
          const who = lanes ? `lanes ${lanes.join(", ")}` : "no lane asks for it";
          node.append(svg("rect", box, svg("title", {}, `byte ${(group * beside + s) * SECTOR_BYTES + 4 * w}: ${who}`)));
        }
      }
    });
    return node;
  }
}
