// Two runs in step: what each has cost at the same place, as bars that grow, and how often each loads every element.

import { html, write } from "../dom.js";
import { keyOf, loadsOf, mostOf, picture, rangeOf, scaleOf } from "../loads.js";
import { Panel } from "../panel.js";
import { countUpTo } from "../survey.js";
import { tip } from "../terms.js";

/** @typedef {import("../machine.js").Machine} Machine */
/** Counts of a block, at a position; the first ones are shown also where both runs have none. @type {[string, (machine: Machine, position: number) => number][]} */
const COUNTS = [
  ["sectors", (machine, position) => machine.survey.totals.sectors[position]],
  ["bank conflicts", (machine, position) => machine.survey.totals.conflicts[position]],
  ["barriers", ({ block }, position) => countUpTo(block.releases, position)],
  ["global loads", (machine, position) => machine.survey.counts.global[0][position]],
  ["global stores", (machine, position) => machine.survey.counts.global[1][position]],
  ["global atomics", (machine, position) => machine.survey.counts.global[2][position]],
  ["shared loads", (machine, position) => machine.survey.counts.shared[0][position]],
  ["wavefronts", (machine, position) => machine.survey.totals.wavefronts[position]],
  ["statements", (_, position) => position],
];
const ALWAYS = 3;
const HUES = ["var(--tt-ink)", "var(--tt-focus)"]; // of the runs

export class Compare extends Panel {
  static id = "compare";
  static title = "Compare";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.bars = html("div", { class: "tt-compared" });
    this.maps = html("div", { class: "tt-row tt-maps" });
    place.append(this.bars, this.maps);
    /** @type {{name: string, of: {value: (position: number) => number, total: number, bar: HTMLElement, text: HTMLElement}[], most: number}[]} */
    this.rows = [];
    /** @type {{name: string, counts: number[][]}[]}  of each array that both runs have: the first, the second, the difference */
    this.loads = [];
  }

  get machines() {
    const { machine, other } = this.context;
    return other ? [machine, other] : [machine];
  }

  choose() {
    const { machines } = this;
    this.rows = COUNTS.flatMap(([name, count], i) => {
      const totals = machines.map((machine) => count(machine, machine.length));
      const most = Math.max(...totals);
      if (!most && i >= ALWAYS) return [];
      const of = machines.map((machine, run) => {
        const bar = html("i");
        bar.style.background = HUES[run];
        return { value: (/** @type {number} */ at) => count(machine, at), total: totals[run], bar, text: html("b") };
      });
      return [{ name, of, most }];
    });
    this.bars.replaceChildren(
      ...this.rows.map(({ name, of }) => {
        const lines = of.map(({ total, bar, text }, run) => {
          const who = html("span", { class: "tt-who" }, machines[run].trace.name);
          const whole = html("span", { class: "tt-soft" }, ` of ${total}`);
          return html("div", {}, who, html("span", { class: "tt-track-of" }, bar), html("span", {}, text, whole));
        });
        const heading = html("div", { class: "tt-heading" }, html("span", tip(name), name), " of this block");
        return html("div", { class: "tt-compare-row" }, heading, ...lines);
      }),
    );
  }

  /** The loads of each element of the arrays that both runs have, and their difference, on one scale. */
  paint() {
    this.painted = true;
    const traces = this.machines.map(({ trace }) => trace);
    const [first, second] = traces;
    const scale = scaleOf(traces);
    this.loads = first.arrays.flatMap(({ name, shape }, number) => {
      const there = second.arrays.findIndex((array) => array.name === name && String(array.shape) === String(shape));
      const [x, y] = [loadsOf(first)[number], there < 0 ? null : loadsOf(second)[there]];
      if (!x || !y || !(mostOf(x) || mostOf(y))) return [];
      return [{ name, counts: [[...x], [...y], Array.from(x, (count, i) => count - y[i])] }];
    });
    const figures = this.loads.map(({ name, counts }) => {
      const array = first.arrays.find((one) => one.name === name) ?? first.arrays[0];
      const tell = (/** @type {number} */ i) =>
        `${first.element(array, i)}: ${counts[0][i]} loads in ${first.name}, ${counts[1][i]} in ${second.name}`;
      const pictures = counts.map((each, run) => {
        const [least, most] = [each.reduce((a, b) => Math.min(a, b)), each.reduce((a, b) => Math.max(a, b))];
        if (run < 2)
          return picture(
            this.maps,
            array,
            each,
            scale,
            [array.hue],
            `in ${traces[run].name}\n${rangeOf(least, most)}`,
            tell,
          );
        return picture(this.maps, array, each, scale, HUES, `difference\n${this.differs(least, most)}`, tell);
      });
      return html("div", { class: "tt-row tt-map-of" }, ...pictures);
    });
    const heading = html("div", { class: "tt-heading" }, "Loads of each element by all blocks, and the difference");
    const keys = [
      keyOf("Loads, in each array's colour", scale),
      ...traces.map(({ name }, run) => keyOf(`More loads in ${name}`, scale, HUES[run])),
    ];
    this.maps.replaceChildren(...(figures.length ? [heading, ...figures, ...keys] : []));
  }

  /** A range of differences in words. @param {number} least @param {number} most */
  differs(least, most) {
    const [first, second] = this.machines.map(({ trace }) => trace.name);
    const more = (/** @type {number} */ low, /** @type {number} */ high, /** @type {string} */ name) =>
      `${low === high ? high : `${low} to ${high}`} more in ${name}`;
    if (!least && !most) return "the same in both";
    if (least >= 0) return more(least, most, first);
    if (most <= 0) return more(-most, -least, second);
    return `up to ${more(most, most, first)}, up to ${more(-least, -least, second)}`;
  }

  draw() {
    if (!this.painted) this.paint();
    const { machines } = this;
    for (const { of, most } of this.rows) {
      of.forEach(({ value, bar, text }, run) => {
        const now = value(machines[run].position);
        bar.style.setProperty("--part", String(most && now / most));
        write(text, String(now));
      });
    }
  }
}
