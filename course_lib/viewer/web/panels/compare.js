// Two runs in step: the accesses of each after the same number of statements, as bars that grow.

import { html, write } from "../dom.js";

/** @typedef {import("../machine.js").Machine} Machine */
/** @type {[string, (machine: Machine, position: number) => number][]} */
const COUNTS = [
  ["statements", (_, position) => position],
  ["global loads", (machine, position) => machine.count("global", 0, position).block],
  ["global stores", (machine, position) => machine.count("global", 1, position).block],
  ["sectors", (machine, position) => machine.survey.totals.sectors[position]],
  ["shared loads", (machine, position) => machine.count("shared", 0, position).block],
  ["wavefronts", (machine, position) => machine.survey.totals.wavefronts[position]],
  ["bank conflicts", (machine, position) => machine.survey.totals.conflicts[position]],
];

/** @type {import("../panel.js").Lens} */
export const compare = {
  name: "compare",
  title: "Compare",
  wants: () => false, // not for a single trace: the stage adds this lens if there are two
  build: (place, context) => new Compare(place, context),
};

class Compare {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.place = html("div", { class: "tt-compared" });
    place.append(this.place);
    /** @type {{value: (position: number) => number, last: number, most: number, bar: HTMLElement, text: HTMLElement}[]} */
    this.bars = [];
  }

  get machines() {
    const { machine, other } = this.context;
    return other ? [machine, other] : [machine];
  }

  choose() {
    const { machines } = this;
    this.bars = [];
    const rows = COUNTS.flatMap(([name, count]) => {
      const totals = machines.map((machine) => count(machine, machine.length));
      const most = Math.max(...totals);
      if (!most) return [];
      const lines = machines.map((machine, i) => {
        const bar = html("i", { class: i ? "tt-second" : "tt-first" });
        const text = html("b");
        this.bars.push({ value: (at) => count(machine, at), last: machine.length, most, bar, text });
        const whole = html("span", { class: "tt-soft" }, ` of ${totals[i]}`);
        return html("div", {}, html("span", { class: "tt-who" }, machine.trace.kernel), html("span", { class: "tt-track-of" }, bar), html("span", {}, text, whole));
      });
      return [html("div", { class: "tt-compare-row" }, html("div", { class: "tt-heading" }, `${name} of this block`), ...lines)];
    });
    this.place.replaceChildren(...rows);
  }

  draw() {
    const machines = this.machines;
    this.bars.forEach(({ value, most, bar, text }, i) => {
      const now = value(machines[i % machines.length].position);
      bar.style.setProperty("--part", String(now / most));
      write(text, String(now));
    });
  }
}
