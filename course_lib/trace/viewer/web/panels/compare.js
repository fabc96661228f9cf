// Two runs in step: what each has cost at the same place, as bars that grow.

import { html, setText } from "../dom.js";
import { Panel } from "../panel.js";
import { countUpTo } from "../summary.js";
import { tip } from "../terms.js";

/** @typedef {import("../replay.js").Replay} Replay */
/** Counts of a block, at a position; the first ones are shown also where both runs have none. @type {[string, (replay: Replay, position: number) => number][]} */
const COUNTS = [
  ["sectors", (replay, position) => replay.summary.totals.sectors[position]],
  ["bank conflicts", (replay, position) => replay.summary.totals.conflicts[position]],
  ["barriers", ({ block }, position) => countUpTo(block.releases, position)],
  ["global loads", (replay, position) => replay.summary.counts.global[0][position]],
  ["global stores", (replay, position) => replay.summary.counts.global[1][position]],
  ["global atomics", (replay, position) => replay.summary.counts.global[2][position]],
  ["shared loads", (replay, position) => replay.summary.counts.shared[0][position]],
  ["wavefronts", (replay, position) => replay.summary.totals.wavefronts[position]],
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
    place.append(this.bars);
    /** @type {{name: string, of: {value: (position: number) => number, total: number, bar: HTMLElement, text: HTMLElement}[], most: number}[]} */
    this.rows = [];
  }

  get replays() {
    const { replay, other } = this.context;
    return other ? [replay, other] : [replay];
  }

  choose() {
    const { replays } = this;
    this.rows = COUNTS.flatMap(([name, count], i) => {
      const totals = replays.map((replay) => count(replay, replay.length));
      const most = Math.max(...totals);
      if (!most && i >= ALWAYS) return [];
      const of = replays.map((replay, run) => {
        const bar = html("i");
        bar.style.background = HUES[run];
        return { value: (/** @type {number} */ at) => count(replay, at), total: totals[run], bar, text: html("b") };
      });
      return [{ name, of, most }];
    });
    this.bars.replaceChildren(
      ...this.rows.map(({ name, of }) => {
        const lines = of.map(({ total, bar, text }, run) => {
          const who = html("span", { class: "tt-who" }, replays[run].trace.name);
          const whole = html("span", { class: "tt-soft" }, ` of ${total}`);
          return html("div", {}, who, html("span", { class: "tt-meter" }, bar), html("span", {}, text, whole));
        });
        const heading = html("div", { class: "tt-heading" }, html("span", tip(name), name), " of this block");
        return html("div", { class: "tt-compare-row" }, heading, ...lines);
      }),
    );
  }

  draw() {
    const { replays } = this;
    for (const { of, most } of this.rows) {
      of.forEach(({ value, bar, text }, run) => {
        const now = value(replays[run].position);
        bar.style.setProperty("--part", String(most && now / most));
        setText(text, String(now));
      });
    }
  }
}
