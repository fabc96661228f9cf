// What the block has loaded from global memory so far, as numbers that grow, beside the run that it is compared with, and
// the scale of the colours of A and B. Before the first step, what all blocks load. Two blocks that do different work are
// compared by what they load for each multiply-add.

import { html, setText } from "../dom.js";
import { BlockAnimation } from "../animation.js";
import { level, loadsOf, mixed, mostOf, scalesOf, tintedIn, wholeLaunch } from "../loads.js";
import { Panel } from "../panel.js";
import { LOAD } from "../trace.js";

const STEPS = 2; // of the scale's numbers, after 0
const LETTERS = 22; // in a line
const LONG = 10_000; // a number beside which another one has no room

export class Counter extends Panel {
  static at = "counter";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.heading = html("div", { class: "tt-heading" }, "Global loads");
    this.number = html("b");
    this.all = html("span", { class: "tt-soft" });
    this.bar = html("i");
    this.loads = html("p", { title: "How often the block's threads load a number of A, B or another array" });
    const usesTitle = "How often the threads calculate with a number that the block loads";
    this.uses = html("p", { class: "tt-uses", title: usesTitle });
    this.beside = html("p", { class: "tt-soft tt-other-run" });
    const strength = "The more often an element has been loaded, the stronger is its colour";
    this.key = html("p", { class: "tt-loads-key", title: strength });
    this.track = html("span", { class: "tt-meter" }, this.bar);
    this.counted = html("p");
    place.append(this.heading, this.counted, this.track, this.loads, this.uses, this.key, this.beside);
    this.most = 1;
    this.total = 0;
    this.differentWork = false; // whether the two blocks do different work
    this.scales = { block: 1, launch: 1 };
    /** @type {string[]} */
    this.hues = [];
    this.scale = ""; // that is shown
  }

  choose() {
    const { replay, other, trace } = this.context;
    const animation = BlockAnimation.of(trace.blocks[replay.blockNumber]);
    const { fetched: total, multiplied, uses } = animation;
    const theirs = other ? BlockAnimation.of(other.trace.blocks[other.blockNumber]) : null;
    this.total = total;
    this.most = Math.max(1, total, theirs?.fetched ?? 0);
    setText(this.uses, !uses ? "" : `used ${times(uses)} per load`);
    const ratio = theirs && total ? theirs.fetched / total : 0;
    const compared = ratio === 1 ? `${total.toLocaleString("en")} too` : `${digits(ratio)} times as many`;
    this.differentWork = Boolean(theirs?.multiplied && multiplied && theirs.multiplied !== multiplied);
    this.track.hidden = this.differentWork;
    this.track.style.setProperty("--whole", String(total / this.most));
    if (this.differentWork) {
      const shared = [replay, /** @type {import("../replay.js").Replay} */ (other)].map(sharedLoads);
      const each = [...(Math.max(...shared) ? [[shared[0], " shared"]] : []), [total / multiplied, " global"]];
      const rows = each.map(([n, where]) => html("span", {}, html("b", {}, rounded(Number(n))), String(where)));
      this.counted.replaceChildren(...rows);
    } else this.counted.replaceChildren(this.number, this.all);
    const said = ratio >= 1 ? `${other?.trace.name}: ${compared}` : "";
    setText(this.beside, this.differentWork ? this.soFar(total) : said);
    this.scales = scalesOf(replay, other);
    const tinted = tintedIn(replay);
    this.hues = [...new Set(trace.arrays.filter((_, number) => tinted[number]).map(({ hue }) => hue))];
    this.scale = "";
    setText(this.loads, loadFrequency(replay.summary.loads));
  }

  draw() {
    const { replay, trace } = this.context;
    const whole = wholeLaunch(this.context);
    const now = replay.fetched();
    const launch = () =>
      loadsOf(trace).reduce((sum, counts) => (counts ? counts.reduce((a, b) => a + b, sum) : sum), 0);
    const who = whole ? "all blocks" : "this block";
    if (this.differentWork) {
      setText(this.heading, "Loads per multiply-add");
      this.heading.title = "Loads from shared and from global memory, divided by the multiply-adds of this block";
      setText(this.beside, whole ? `${launch().toLocaleString("en")} global loads by ${who}` : this.soFar(now));
      return this.drawScale(whole);
    }
    setText(this.heading, whole ? "All blocks' global loads" : "Block's global loads");
    this.heading.title = `Numbers that the threads of ${who} load from global memory`;
    // two runs are compared by what they load in all, not by what they have loaded at a step
    let [number, context] = [now, ` of ${this.total.toLocaleString("en")}`];
    if (whole) [number, context] = [launch(), " in all"];
    else if (this.context.other) {
      const soFar = ` (${now.toLocaleString("en")} so far)`;
      [number, context] = [this.total, this.total < LONG ? soFar : " in all"];
    }
    setText(this.number, number.toLocaleString("en"));
    setText(this.all, context);
    this.bar.style.setProperty("--part", String(whole ? 0 : now / Math.max(1, this.total)));
    this.drawScale(whole);
  }

  /** @param {number} now */
  soFar(now) {
    return `${now.toLocaleString("en")} of ${this.total.toLocaleString("en")} global loads`;
  }

  /** Lines of text. */
  get lines() {
    const texts = [this.heading, this.loads, this.uses].filter((line) => line.textContent).length;
    const second = this.differentWork ? 1 : 0; // of what is counted
    const key = this.hues.length ? 1 : 0;
    const beside = Math.ceil((this.beside.textContent ?? "").length / LETTERS);
    return texts + second + key + beside;
  }

  /**
   * Tell how often each number is loaded, and what the colours mean: of each count, those of the arrays below each other.
   * @param {boolean} whole  whether by all blocks
   */
  drawScale(whole) {
    const most = whole ? this.scales.launch : this.scales.block;
    if (this.scale === `${most} ${whole}`) return;
    this.scale = `${most} ${whole}`;
    const { replay, trace } = this.context;
    setText(this.loads, loadFrequency(whole ? loadsOf(trace) : replay.summary.loads));
    const parts = Array.from({ length: STEPS + 1 }, (_, i) => Math.round((i * most) / STEPS));
    const boxes = [...new Set(parts)].map((count) => {
      const box = html("i");
      const share = 100 / Math.max(1, this.hues.length);
      const stops = this.hues.map((hue, i) => `${mixed(hue, level(count, most))} ${i * share}% ${(i + 1) * share}%`);
      box.style.background = `linear-gradient(${["to bottom", ...stops].join(", ")})`;
      return html("span", {}, box, String(count));
    });
    this.key.replaceChildren(...(this.hues.length ? ["loads ", ...boxes] : []));
  }
}

/** How often each number that is loaded at all is loaded. @param {(Uint32Array | null)[]} loads  of each array */
function loadFrequency(loads) {
  const [least, most] = loads.reduce(
    ([least, most], counts) => [
      counts?.reduce((a, b) => (b ? Math.min(a, b) : a), least) ?? least,
      Math.max(most, mostOf(counts)),
    ],
    [Infinity, 0],
  );
  return most ? `each loaded ${least === most ? times(most) : `${least} to ${times(most)}`}` : "";
}

/** The loads from shared memory for each multiply-add of the block. @param {import("../replay.js").Replay} replay */
function sharedLoads({ block, length, summary, trace }) {
  const { multiplied } = BlockAnimation.of(trace.blocks[trace.blockNumber(block.at)]);
  return multiplied && summary.counts.shared[LOAD][length] / multiplied;
}

const rounded = (/** @type {number} */ n) => String(Number(n.toPrecision(2)));
const digits = (/** @type {number} */ n) => (Number.isInteger(n) ? String(n) : n.toFixed(1));
const times = (/** @type {number} */ n) => (n === 1 ? "once" : `${digits(n)} times`);
