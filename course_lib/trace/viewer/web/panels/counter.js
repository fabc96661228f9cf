// What the block has loaded from global memory so far, as numbers that grow, beside the run that it is compared with, and
// the scale of the colours of A and B. Before the first step, what all blocks load.

import { html, write } from "../dom.js";
import { Film } from "../film.js";
import { level, loadsOf, mixed, scalesOf, tintedIn, wholeLaunch } from "../loads.js";
import { Panel } from "../panel.js";

const STEPS = 2; // of the scale's numbers, after 0

export class Counter extends Panel {
  static at = "counter";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.heading = html("div", { class: "tt-heading" });
    this.number = html("b");
    this.all = html("span", { class: "tt-soft" });
    this.bar = html("i");
    const often = "How often the threads calculate with a number that the block loads";
    this.uses = html("p", { class: "tt-uses", title: often });
    this.beside = html("p", { class: "tt-soft" });
    const strength = "The more often an element has been loaded, the stronger is its colour";
    this.key = html("p", { class: "tt-loads-key", title: strength });
    const track = html("span", { class: "tt-track-of" }, this.bar);
    place.append(this.heading, html("p", {}, this.number, this.all), track, this.uses, this.beside, this.key);
    this.most = 1;
    this.total = 0;
    this.scales = { block: 1, launch: 1 };
    /** @type {string[]} */
    this.hues = [];
    this.scale = ""; // that is shown
  }

  choose() {
    const { machine, other, trace } = this.context;
    const film = Film.of(trace.blocks[machine.blockNumber]);
    const { fetched: total, uses } = film;
    const theirs = other ? Film.of(other.trace.blocks[other.blockNumber]).fetched : 0;
    this.total = total;
    this.most = Math.max(1, total, theirs);
    const often = Number.isInteger(uses) ? String(uses) : uses.toFixed(1);
    write(this.uses, !uses ? "" : `used ${uses === 1 ? "once" : `${often}×`} on average`);
    const times = theirs > total ? theirs / total : 0;
    const more = Number.isInteger(times) ? times : times.toFixed(1);
    write(this.beside, times && total ? `${other?.trace.name}: ${more}× as many` : "");
    this.scales = scalesOf(machine, other);
    const tinted = tintedIn(machine);
    this.hues = [...new Set(trace.arrays.filter((_, number) => tinted[number]).map(({ hue }) => hue))];
    this.scale = "";
  }

  draw() {
    const { machine, trace } = this.context;
    const whole = wholeLaunch(this.context);
    const now = machine.fetched();
    const launch = () =>
      loadsOf(trace).reduce((sum, counts) => (counts ? counts.reduce((a, b) => a + b, sum) : sum), 0);
    write(this.heading, whole ? "All blocks' global loads" : "Block's global loads");
    this.heading.title = `Numbers that the threads of ${whole ? "all blocks" : "this block"} load from global memory`;
    write(this.number, (whole ? launch() : now).toLocaleString("en"));
    const { length: blocks } = trace.blocks;
    write(this.all, whole ? ` by ${blocks} block${blocks === 1 ? "" : "s"}` : ` of ${this.total.toLocaleString("en")}`);
    this.bar.style.setProperty("--part", String(whole ? 0 : now / this.most));
    this.tell(whole ? this.scales.launch : this.scales.block);
  }

  /** What the colours mean: of each number of loads, those of the arrays below each other. @param {number} most */
  tell(most) {
    if (this.scale === String(most)) return;
    this.scale = String(most);
    const parts = Array.from({ length: STEPS + 1 }, (_, i) => Math.round((i * most) / STEPS));
    const boxes = [...new Set(parts)].map((count) => {
      const box = html("i");
      const share = 100 / Math.max(1, this.hues.length);
      const stops = this.hues.map((hue, i) => `${mixed(hue, level(count, most))} ${i * share}% ${(i + 1) * share}%`);
      box.style.background = `linear-gradient(${["to bottom", ...stops].join(", ")})`;
      return html("span", {}, box, String(count));
    });
    this.key.replaceChildren(...(this.hues.length ? ["loads of each ", ...boxes] : []));
  }
}
