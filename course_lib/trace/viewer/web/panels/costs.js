// The cost so far of the lines that access a space: a row for each line and array, with a bar for its average request.

import { setChildren, html, setText } from "../dom.js";
import { jumpOnClick, jumpButton, addToTabOrder } from "../jumps.js";
import { Panel } from "../panel.js";
import { widthInUnits } from "../rows.js";
import { countUpTo } from "../summary.js";
import { tip } from "../terms.js";
import { OPS, SECTOR_BYTES, WARP, WORD_BYTES } from "../trace.js";

/** @typedef {"sectors" | "wavefronts"} Cost */
/** @typedef {{node: HTMLElement, draw: (replay: import("../replay.js").Replay, access: import("../trace.js").Access) => void}} Drawn */

/**
 * A request in a sentence, as tests/oracles/scene.py says it; the figures are the observers'.
 * @param {import("../trace.js").Access} access
 * @param {import("../trace.js").TraceArray} array
 * @param {number} used  bytes asked for, each counted once
 */
export function requestSentence(access, array, used) {
  const { sectors, wavefronts, conflicts, width, lanes } = access;
  const plural = (/** @type {number} */ n, /** @type {string} */ word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const verb = OPS[access.op][0].toUpperCase() + OPS[access.op].slice(1);
  const what = `${verb} of ${array.name}: ${lanes.length} lanes × ${width * array.itemsize} bytes in`;
  if (array.space === "shared")
    return `${what} ${plural(wavefronts, "wavefront")}, ${plural(conflicts, "bank conflict")}.`;
  return `${what} ${plural(sectors, "sector")}; ${used} of ${sectors * SECTOR_BYTES} bytes asked for.`;
}

/**
 * What a request asks for: of each word the lanes, the address of each lane, null for one that takes no part, and the
 * number of bytes, each counted once.
 * @param {import("../trace.js").Trace} trace
 * @param {import("../trace.js").Access} access
 */
export function bytesRequested(trace, access) {
  const array = trace.arrays[access.array];
  const size = access.width * array.itemsize;
  /** @type {Map<number, number[]>} */
  const words = new Map();
  /** @type {(number | null)[]} */
  const starts = new Array(WARP).fill(null);
  const bytes = new Set();
  access.lanes.forEach((lane, k) => {
    const start = (starts[lane] = trace.address(array, access.element(k)));
    for (let byte = start; byte < start + size; byte++) bytes.add(byte);
    for (let word = Math.floor(start / WORD_BYTES); word * WORD_BYTES < start + size; word++)
      words.set(word, [...(words.get(word) ?? []), lane]);
  });
  return { words, starts, used: bytes.size };
}

/** A table of the requests of a space, and of what each needed on average. */
export class Costs {
  /** @param {import("../panel.js").Context} context @param {import("../trace.js").Space} space @param {Cost} cost */
  constructor(context, space, cost) {
    this.context = context;
    this.space = space;
    this.cost = cost;
    this.node = html("table", { class: "tt-costs" });
    jumpOnClick(
      this.node,
      "tr",
      () => context,
      (row) => this.rows.find((one) => one.row === row)?.site.positions ?? [],
    );
    /** @type {{site: import("../summary.js").Site, row: HTMLElement, cells: HTMLElement[], bar: HTMLElement}[]} */
    this.rows = [];
  }

  choose() {
    const { replay, trace } = this.context;
    const sites = [...replay.summary.sites.values()].filter(({ array }) => trace.arrays[array].space === this.space);
    sites.sort((x, y) => x.line - y.line || x.array - y.array || x.op - y.op);
    const extra = this.cost === "wavefronts" ? ["conflicts"] : [];
    const heads = ["line", "access", "requests", this.cost, ...extra, "per request"];
    this.rows = sites.map((site) => {
      const { name, hue } = trace.arrays[site.array];
      const cells = heads.slice(2).map(() => html("td"));
      const bar = html("i", { class: "tt-cost-bar" });
      const what = html("td", { class: "tt-what" }, jumpButton(`${OPS[site.op]} ${name}`, "makes such a request"));
      const row = html(
        "tr",
        {},
        html("td", {}, String(site.line)),
        what,
        ...cells,
        html("td", { class: "tt-bars" }, bar),
      );
      row.style.setProperty("--hue", hue);
      return { site, row, cells, bar };
    });
    const head = html("tr", {}, ...heads.map((text) => html("th", { scope: "col", ...tip(text) }, text)), html("td"));
    this.node.replaceChildren(html("tbody", {}, head, ...this.rows.map(({ row }) => row)));
    addToTabOrder(this.node);
  }

  draw() {
    const { replay } = this.context;
    for (const { site, row, cells, bar } of this.rows) {
      const requests = countUpTo(site.positions, replay.position);
      const total = (/** @type {number[]} */ list) => (requests ? list[requests - 1] : 0);
      const cost = total(site[this.cost]);
      const each = requests ? cost / requests : 0;
      const numbers = [requests, cost, ...(this.cost === "wavefronts" ? [total(site.conflicts)] : [])];
      const texts = [...numbers.map(String), requests ? String(Number(each.toFixed(2))) : ""];
      texts.forEach((text, i) => setText(cells[i], text));
      const part = String(Math.min(1, each / WARP));
      if (bar.style.getPropertyValue("--part") !== part) bar.style.setProperty("--part", part);
      row.classList.toggle("tt-here", site.positions[requests - 1] === replay.position);
    }
  }
}

/** A view of the step's requests to a space, a drawing each, above what such requests have cost so far. */
export class Requests extends Panel {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   * @param {import("../trace.js").Space} space
   * @param {Cost} cost
   */
  constructor(place, context, space, cost) {
    super(place, context);
    this.space = space;
    this.said = html("div", { class: "tt-requests" });
    this.costs = new Costs(context, space, cost);
    place.append(html("div", { class: "tt-split" }, this.said, this.costs.node));
    this.shown = -1;
    this.room = 0; // in units
    /** @type {Drawn[]}  one for each request that a step has made so far */
    this.requests = [];
  }

  /** @returns {Drawn} */
  request() {
    throw new Error("a request to some space");
  }

  /** What is shown above the requests; or, of a step without any, alone. @param {boolean} _alone @returns {Element[]} */
  others(_alone) {
    return [];
  }

  choose() {
    this.costs.choose();
    this.shown = -1;
  }

  /** Draw all again, in another size. @param {import("../panel.js").Size} size */
  fit(size) {
    const room = widthInUnits(size);
    if (room === this.room) return;
    this.room = room;
    this.requests = [];
    this.shown = -1;
    this.draw();
  }

  draw() {
    this.costs.draw();
    const { replay, trace } = this.context;
    if (this.shown === replay.position) return;
    this.shown = replay.position;
    const accesses = replay.accesses
      .filter(({ array }) => trace.arrays[array].space === this.space)
      .sort((x, y) => y.conflicts - x.conflicts);
    while (this.requests.length < accesses.length) this.requests.push(this.request());
    const requests = this.requests.slice(0, accesses.length);
    requests.forEach((request, i) => request.draw(replay, accesses[i]));
    setChildren(this.said, [...this.others(!requests.length), ...requests.map(({ node }) => node)]);
  }
}
