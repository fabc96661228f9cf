// The request of a warp to shared memory: the 32 banks, the words that the lanes ask of each, and the wavefronts.

import { html, svg } from "../dom.js";
import { BANKS, WARP, WORD_BYTES } from "../trace.js";
import { beside, Costs, requestSays, requestState, spread } from "./costs.js";

const CELL = 20; // a bank, in SVG units
const NUMBERS = 16; // the banks' numbers below a row of them
const TALLEST = 8; // words in a bank with a lane's number in them; taller stacks are drawn thinner
const TALLEST_COMPACT = 5; // on a small page, so that both rows of banks are in sight

/** @type {import("../panel.js").Lens} */
export const banks = {
  name: "banks",
  title: "Banks",
  none: "It has no shared memory.",
  wants: (trace) => trace.arrays.some(({ space }) => space === "shared"),
  build: (place, context) => new Banks(place, context),
};

class Banks {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.said = html("div", { class: "tt-requests" });
    this.costs = new Costs(context, "shared", "wavefronts");
    place.append(html("div", { class: "tt-split" }, this.said, this.costs.node));
    this.shown = -1;
    this.beside = BANKS; // banks in a row
    this.tallest = TALLEST;
  }

  /** @param {import("../panel.js").Size} size */
  fit(size) {
    const tallest = size.compact ? TALLEST_COMPACT : TALLEST;
    if (beside(size) === this.beside && tallest === this.tallest) return;
    this.beside = beside(size);
    this.tallest = tallest;
    this.shown = -1;
    this.draw();
  }

  state() {
    return { banked: [...this.said.querySelectorAll(".tt-request")].map(requestState) };
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
    const requests = machine.accesses.filter(({ array }) => trace.arrays[array].space === "shared");
    requests.sort((x, y) => y.conflicts - x.conflicts);
    const idle = machine.line === null ? "No warp has run yet." : `Line ${machine.line} asks nothing of shared memory.`;
    this.said.replaceChildren(
      ...(requests.length ? requests.map((access) => this.request(access)) : [html("p", {}, idle), this.picture([], "")]),
    );
  }

  /** @param {import("../trace.js").Access} access */
  request(access) {
    const { trace, machine } = this.context;
    const array = trace.arrays[access.array];
    // For each bank, its words and the lanes that ask for them.
    /** @type {Map<number, number[]>[]} */
    const stacks = Array.from({ length: BANKS }, () => new Map());
    const size = access.width * array.itemsize;
    const starts = access.lanes.map((_, k) => trace.address(array, access.element(k)));
    access.lanes.forEach((lane, k) => {
      const start = starts[k];
      for (let word = Math.floor(start / WORD_BYTES); word * WORD_BYTES < start + size; word++) {
        const lanes = stacks[word % BANKS].get(word) ?? [];
        lanes.push(lane);
        stacks[word % BANKS].set(word, lanes);
      }
    });
    const said = html("p", {}, html("b", {}, requestSays(access, array, 0)));
    const busiest = Math.max(...stacks.map((stack) => stack.size));
    said.append(` The busiest bank: ${busiest} word${busiest === 1 ? "" : "s"}.`);
    const label = `The banks of shared memory and the words of ${array.name} that each is asked for`;
    const place = html("div", { class: "tt-request" }, said, this.picture(stacks, label));
    place.style.setProperty("--hue", array.hue);
    place.dataset.wavefronts = String(access.wavefronts);
    place.dataset.conflicts = String(access.conflicts);
    place.dataset.lanes = JSON.stringify(spread(access, starts));
    return place;
  }

  /**
   * @param {Map<number, number[]>[]} stacks
   * @param {string} label
   */
  picture(stacks, label) {
    /** @type {(first: number, end: number) => number} */
    const words = (first, end) => Math.max(1, ...stacks.slice(first, end).map((stack) => stack.size));
    const most = words(0, BANKS);
    const high = most <= this.tallest ? CELL * 0.8 : Math.max(2, (this.tallest * CELL * 0.8) / most);
    // Each row of banks is as high as what stands in it.
    const bottoms = Array.from({ length: BANKS / this.beside }, (_, row) =>
      Math.max(1.6 * CELL, words(row * this.beside, (row + 1) * this.beside) * high) + 2,
    );
    const tops = bottoms.map((_, row) => bottoms.slice(0, row).reduce((sum, bottom) => sum + bottom + NUMBERS, 0));
    const height = bottoms.reduce((sum, bottom) => sum + bottom + NUMBERS, 0);
    const node = svg("svg", {
      class: "tt-banks",
      viewBox: `0 0 ${this.beside * CELL + 2} ${height}`,
      role: "img",
      "aria-label": label || "The banks of shared memory",
    });
    const { machine } = this.context;
    const mine = machine.thread >> 5 === machine.warp ? machine.thread % WARP : -1;
    for (let bank = 0; bank < BANKS; bank++) {
      const x = 1 + (bank % this.beside) * CELL;
      const [top, bottom] = [tops, bottoms].map((rows) => rows[Math.floor(bank / this.beside)]);
      node.append(svg("rect", { x: x + 0.5, y: top + 1, width: CELL - 1.5, height: bottom - 1, class: "tt-bank" }));
      node.append(svg("text", { x: x + CELL / 2, y: top + bottom + 8, class: "tt-address" }, String(bank)));
      [...(stacks[bank] ?? [])].forEach(([word, lanes], i) => {
        const look = `tt-word${i ? " tt-again" : ""}${lanes.includes(mine) ? " tt-mine-lane" : ""}`;
        const y = top + bottom - (i + 1) * high;
        const who = `word ${word}: ${lanes.length === 1 ? "lane" : "lanes"} ${lanes.join(", ")}`;
        node.append(svg("rect", { x: x + 1.5, y, width: CELL - 3.5, height: high - 1, class: look }, svg("title", {}, who)));
        const [text, size] = lanes.length === 1 ? [String(lanes[0]), ""] : [`${lanes.length}×`, " tt-crowd"];
        if (high > 10) node.append(svg("text", { x: x + CELL / 2, y: y + high / 2, class: `tt-lane-on${size}` }, text));
      });
    }
    return node;
  }
}
