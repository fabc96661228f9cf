// The request of a warp to shared memory: the 32 banks, the words that the lanes access in each, and the wavefronts.

import { html, setAttribute, svg, setText } from "../dom.js";
import { cellsPerRow, setDrawingSize } from "../rows.js";
import { BANKS, WARP } from "../trace.js";
import { bytesRequested, requestSentence, Requests } from "./costs.js";

const CELL = 20; // a bank, in SVG units
const NUMBERS = 16; // the banks' numbers below a row of them
const TALLEST = 8; // words in a bank with a lane's number in them; taller stacks are drawn thinner

export class Banks extends Requests {
  static id = "banks";
  static title = "Banks";
  static none = "It has no shared memory.";
  /** @param {import("../trace.js").Trace} trace */
  static wants(trace) {
    return trace.arrays.some(({ space }) => space === "shared");
  }

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context, "shared", "wavefronts");
    this.idle = html("p");
  }

  request() {
    return new Request(cellsPerRow(this.room, CELL));
  }

  /** @param {boolean} alone */
  others(alone) {
    if (!alone) return [];
    const { line } = this.context.replay;
    setText(this.idle, line === null ? "No warp has run yet." : `Line ${line} does not access shared memory.`);
    const empty = new Stacks(cellsPerRow(this.room, CELL));
    empty.draw([], -1, "The banks of shared memory");
    return [this.idle, empty.node];
  }
}

class Request {
  /** @param {number} beside */
  constructor(beside) {
    this.said = html("b");
    this.busiest = html("span");
    this.stacks = new Stacks(beside);
    this.node = html("div", { class: "tt-request" }, html("p", {}, this.said, this.busiest), this.stacks.node);
  }

  /** @param {import("../replay.js").Replay} replay @param {import("../trace.js").Access} access */
  draw(replay, access) {
    const { trace } = replay;
    const array = trace.arrays[access.array];
    // For each bank, its words and the lanes that access them.
    /** @type {Map<number, number[]>[]} */
    const stacks = Array.from({ length: BANKS }, () => new Map());
    const { words, starts } = bytesRequested(trace, access);
    words.forEach((lanes, word) => stacks[word % BANKS].set(word, lanes));
    const most = Math.max(...stacks.map((stack) => stack.size));
    setText(this.said, requestSentence(access, array, 0));
    setText(this.busiest, ` The busiest bank: ${most} word${most === 1 ? "" : "s"}.`);
    const mine = replay.thread >> 5 === replay.warp ? replay.thread % WARP : -1;
    this.stacks.draw(
      stacks,
      mine,
      `The banks of shared memory and the words of ${array.name} that are accessed in each`,
    );
    this.node.style.setProperty("--hue", array.hue);
    setAttribute(this.node, "data-wavefronts", String(access.wavefronts));
    setAttribute(this.node, "data-conflicts", String(access.conflicts));
    setAttribute(this.node, "data-lanes", JSON.stringify(starts));
  }
}

/** The banks side by side, in each its accessed words. */
class Stacks {
  /** @param {number} beside  banks in a row */
  constructor(beside) {
    this.beside = beside;
    this.frames = svg("g");
    this.words = svg("g");
    this.node = svg("svg", { class: "tt-banks", role: "img" }, this.frames, this.words);
    /** @type {number[]}  the height of each row of banks, in SVG units: that of its contents */
    this.heights = [];
    this.drawn = "";
  }

  /**
   * @param {Map<number, number[]>[]} stacks
   * @param {number} mine  the lane of the chosen thread, or -1
   * @param {string} label
   */
  draw(stacks, mine, label) {
    setAttribute(this.node, "aria-label", label);
    /** @type {(first: number, end: number) => number} */
    const words = (first, end) => Math.max(1, ...stacks.slice(first, end).map((stack) => stack.size));
    const most = words(0, BANKS);
    const high = most <= TALLEST ? CELL * 0.8 : Math.max(2, (TALLEST * CELL * 0.8) / most);
    const rows = Array.from({ length: BANKS / this.beside }, (_, row) =>
      words(row * this.beside, (row + 1) * this.beside),
    );
    this.frame(rows.map((row) => Math.max(1.6 * CELL, row * high) + 2));
    const what = JSON.stringify([mine, stacks.map((stack) => [...stack])]);
    if (what === this.drawn) return;
    this.drawn = what;
    this.words.replaceChildren(...stacks.flatMap((stack, bank) => this.stack(bank, [...stack], high, mine)));
  }

  /** @param {number[]} heights */
  frame(heights) {
    if (String(heights) === String(this.heights)) return;
    this.heights = heights;
    this.drawn = "";
    setDrawingSize(this.node, this.beside * CELL + 2, this.top(heights.length));
    const banks = Array.from({ length: BANKS }, (_, bank) => {
      const { x, top, bottom } = this.place(bank);
      const box = { x: x + 0.5, y: top + 1, width: CELL - 1.5, height: bottom - top - 1, class: "tt-bank" };
      const at = { x: x + CELL / 2, y: bottom + NUMBERS / 2, class: "tt-address" };
      return [svg("rect", box), svg("text", at, String(bank))];
    });
    this.frames.replaceChildren(...banks.flat());
  }

  /** Where a row begins. @param {number} row */
  top(row) {
    return this.heights.slice(0, row).reduce((sum, height) => sum + height + NUMBERS, 0);
  }

  /** @param {number} bank */
  place(bank) {
    const row = Math.floor(bank / this.beside);
    const top = this.top(row);
    return { x: 1 + (bank % this.beside) * CELL, top, bottom: top + this.heights[row] };
  }

  /**
   * @param {number} bank
   * @param {[number, number[]][]} words  with the lanes that access each
   * @param {number} high  a word, in SVG units
   * @param {number} mine
   */
  stack(bank, words, high, mine) {
    const { x, bottom } = this.place(bank);
    return words.flatMap(([word, lanes], i) => {
      const classes = `tt-word${i ? " tt-same-bank" : ""}${lanes.includes(mine) ? " tt-mine-lane" : ""}`;
      const y = bottom - (i + 1) * high;
      const who = `word ${word}: ${lanes.length === 1 ? "lane" : "lanes"} ${lanes.join(", ")}`;
      const box = svg(
        "rect",
        { x: x + 1, y, width: CELL - 2.5, height: high - 1, class: classes },
        svg("title", {}, who),
      );
      if (high <= 10) return [box];
      const [text, size] = lanes.length === 1 ? [String(lanes[0]), ""] : [`${lanes.length}×`, " tt-lane-count"];
      /** @type {Record<string, string | number>} */
      const narrow = text.length > 2 ? { textLength: CELL - 4, lengthAdjust: "spacingAndGlyphs" } : {};
      return [box, svg("text", { x: x + CELL / 2, y: y + high / 2, class: `tt-lane-on${size}`, ...narrow }, text)];
    });
  }
}
