// Two tracks under the picture: when loads from global memory are under way, and when the block multiplies.

import { html } from "../dom.js";
import { ORDER_IS_NOT_TIME } from "../strips.js";
import { overlappedPairs, tracksOf } from "../tracks.js";

const NAMES = /** @type {const} */ ([
  ["loads", "loads under way", "From a load from global memory to the barrier after which its value may be used"],
  ["multiplies", "multiplying", "From the first to the last multiply-add with a pair of tiles"],
]);
const MOST = 500; // bars of a track; of more, those that nearly touch are one

/** @typedef {import("../scene.js").Run} Run */

export class Tracks {
  /** @param {HTMLElement} place @param {Run[]} runs */
  constructor(place, runs) {
    this.place = place;
    this.runs = runs;
    /** @type {{run: Run, tracks: ReturnType<typeof tracksOf>, end: number, head: HTMLElement}[]}  ``end``: of its tracks */
    this.shown = [];
    this.inCycles = false; // else in the order of statements
    this.says = html("p", { class: "tt-soft" });
  }

  choose() {
    const { place, runs } = this;
    /** Another order is that of the first block. */
    const orders = runs.map(({ replay, trace }) => (replay.blockNumber === 0 ? (trace.orders[0] ?? null) : null));
    const order = orders.every((each) => each) ? orders[0] : null;
    const all = runs.map((run, i) => tracksOf(run.replay.block, order && orders[i] ? orders[i][1] : null));
    const longest = Math.max(1, ...all.map(({ end }) => end));
    // cycles of two runs can be compared, and their numbers of statements say nothing about time
    this.shown = runs.map((run, i) => {
      const end = order ? longest : Math.max(1, all[i].end);
      return { run, tracks: all[i], end, head: html("i", { class: "tt-playhead" }) };
    });
    place.hidden = !this.shown.some(({ tracks }) => tracks.loads.length || tracks.multiplies.length);
    this.tell(order ? order[0] : null);
    this.inCycles = Boolean(order);
    place.toggleAttribute("data-timed", this.inCycles);
    const letters = Math.max(...runs.map(({ trace }) => trace.name.length));
    place.style.setProperty("--tt-names", runs.length > 1 ? `${0.66 * letters + 1}em` : "0em");
    place.replaceChildren(...this.shown.map((shown) => this.tracksOfRun(shown)), this.says);
  }

  /** Say in which order the bars are, and how many pairs of tiles are multiplied while another one is loaded. @param {string | null} order  in cycles */
  tell(order) {
    const two = this.runs.length > 1;
    const ofStatements = two
      ? "each in the order of its own statements, not in time: the lengths of two kernels cannot be compared"
      : "in the order of the statements, one warp after another, not in time";
    const withPairs = this.shown.filter(({ tracks }) => tracks.multiplies.some(({ pair }) => pair !== null));
    const overlaps = withPairs.map(({ run, tracks }) => ({ name: run.trace.name, counts: overlappedPairs(tracks) }));
    const texts = overlaps.map(({ name, counts }) => `${two ? `${name} ` : ""}${counts.join(" of ")}`);
    const overlapped = overlaps.some(({ counts }) => counts[0])
      ? ["; pairs of tiles multiplied while another is loaded: ", html("b", {}, texts.join(", "))]
      : [];
    this.says.replaceChildren(order ? `in cycles: ${order}` : ofStatements, ...overlapped);
    this.says.title = order ? "" : ORDER_IS_NOT_TIME;
  }

  /** @param {Tracks["shown"][number]} shown */
  tracksOfRun({ run, tracks, end, head }) {
    const rows = NAMES.map(([what, name, title]) => {
      const bars = merged(tracks[what], end).map((bar) => barOf(bar, what, end));
      return html(
        "div",
        { class: "tt-track" },
        html("span", { title }, name),
        html("div", { class: `tt-track-${what}` }, ...bars),
      );
    });
    const label = this.runs.length > 1 ? [html("code", {}, run.trace.name)] : [];
    const ends = this.inCycles ? [endOf(tracks.end, end)] : [];
    return html(
      "div",
      { class: "tt-track-run" },
      ...label,
      ...rows,
      html("div", { class: "tt-track-head" }, ...ends, head),
    );
  }

  draw() {
    for (const { run, tracks, end, head } of this.shown) {
      const { frame, replay } = run.context;
      head.style.left = share(tracks.at(frame ? frame.step : replay.position), end);
    }
  }
}

/** A mark where a run ends, with its cycles. @param {number} cycles @param {number} end */
function endOf(cycles, end) {
  const mark = html("span", { class: "tt-track-end", title: "The block has ended" }, cycles.toLocaleString("en"));
  mark.style.right = share(end - cycles, end);
  return mark;
}

/** @param {number} length @param {number} end */
const share = (length, end) => `${(100 * length) / end}%`;

/** @param {import("../tracks.js").Bar} bar @param {string} what  of the names of tracks @param {number} end */
function barOf({ from, to, pair, buffer }, what, end) {
  const number = pair === null ? [] : [html("b", {}, String(pair))];
  const node = html("i", { class: `tt-bar-${what}`, "data-buffer": Math.min(buffer, 1) }, ...number);
  Object.assign(node.style, { left: share(from, end), width: share(to - from, end) });
  return node;
}

/** Bars, of which those that nearly touch are one where there are very many. @param {import("../tracks.js").Bar[]} bars @param {number} end */
function merged(bars, end) {
  if (bars.length <= MOST) return bars;
  /** @type {import("../tracks.js").Bar[]} */
  const found = [];
  for (const bar of bars) {
    const last = found[found.length - 1];
    if (last && bar.from - last.to < end / MOST) last.to = Math.max(last.to, bar.to);
    else found.push({ ...bar, pair: null });
  }
  return found;
}
