// The whole launch: how often each element of global memory is loaded, and what each line cost.

import { html, svg } from "../dom.js";
import { layout } from "../grid.js";
import { pixel } from "../heat.js";
import { tip } from "../terms.js";
import { LOAD } from "../trace.js";

const LEVELS = 24; // of a colour
/** @type {WeakMap<import("../trace.js").Trace, (Uint32Array | null)[]>} */
const LOADS = new WeakMap();

/** The strength of a count's colour; any count above 0 differs from the background. @param {number} count @param {number} scale */
const level = (count, scale) => Math.max(count ? 1 : 0, Math.round((count / scale) * LEVELS));

/** @type {import("../panel.js").Lens} */
export const launch = {
  name: "launch",
  title: "Launch",
  wants: () => true,
  build: (place, context) => new Launch(place, context),
};

class Launch {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.place = place;
    this.pictures = html("div", { class: "tt-row" });
    this.table = html("table", { class: "tt-costs" });
    place.append(this.pictures, html("div", { class: "tt-scroll tt-wide", tabindex: 0, role: "group", "aria-label": "Cost of each line in the whole launch" }, this.table));
    /** @type {{line: number, row: HTMLElement}[]} */
    this.rows = this.lines();
    this.painted = false;
  }

  lines() {
    const { trace, offers } = this.context;
    // counts that no offered view explains are not shown
    const heads = ["line", "access", "accesses"];
    if (offers("warp") || offers("banks")) heads.push("requests");
    if (offers("warp")) heads.push("sectors", "per request");
    if (offers("banks")) heads.push("wavefronts", "conflicts");
    const rows = trace.traffic.map((row) => {
      const each = row.requests && row.space === "global" ? Number((row.sectors / row.requests).toFixed(2)) : "";
      const shared = row.space === "shared";
      /** @type {Record<string, number | string>} */
      const counts = { accesses: row.accesses, requests: row.requests };
      if (shared) Object.assign(counts, { wavefronts: row.wavefronts, conflicts: row.bank_conflicts });
      else Object.assign(counts, { sectors: row.sectors, "per request": each });
      const cells = heads.slice(2).map((head) => counts[head] ?? "");
      const what = html("td", { class: "tt-what" }, `${row.op} ${row.array}`);
      const node = html("tr", {}, html("td", {}, String(row.line)), what, ...cells.map((cell) => html("td", {}, String(cell))));
      node.style.setProperty("--hue", trace.arrays.find(({ name }) => name === row.array)?.hue ?? "var(--tt-other)");
      return { line: row.line, row: node };
    });
    const head = html("tr", {}, ...heads.map((text) => html("th", { scope: "col", ...tip(text) }, text)));
    this.table.replaceChildren(html("tbody", {}, head, ...rows.map(({ row }) => row)));
    return rows;
  }

  /**
   * Loads of each element of each global array, by all blocks of a run.
   * @param {import("../trace.js").Trace} trace
   */
  loads(trace) {
    const known = LOADS.get(trace);
    if (known) return known;
    const loads = trace.arrays.map((array) => (array.space === "global" ? new Uint32Array(array.size) : null));
    for (const block of trace.blocks) {
      for (let i = 0; i < block.length; i++) {
        const [from, to] = block.rows("access", i);
        if (from === to) continue;
        for (const access of block.accesses(i)) {
          const counts = loads[access.array];
          if (!counts || access.op !== LOAD) continue;
          for (let k = 0; k < access.lanes.length; k++) {
            for (let w = 0; w < access.width; w++) counts[access.element(k) + w] += 1;
          }
        }
      }
    }
    LOADS.set(trace, loads);
    return loads;
  }

  paint() {
    const { trace, other } = this.context;
    this.painted = true;
    const loads = this.loads(trace);
    const most = (/** @type {Uint32Array | null} */ counts) => counts?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
    // one scale for all arrays, and for two runs: equal counts have the same strength of colour
    const scale = Math.max(...[...loads, ...(other ? this.loads(other.trace) : [])].map(most));
    const figures = loads.flatMap((counts, number) => {
      return counts && most(counts) ? [this.picture(counts, most(counts), number, scale)] : [];
    });
    const omitted = trace.omitted ? ` ${trace.omitted} blocks that are not here did the same.` : "";
    const title = html("div", { class: "tt-heading" }, `Loads of each element by all blocks.${omitted}`);
    this.pictures.replaceChildren(title, ...figures, ...(scale ? [this.key(scale)] : []));
  }

  /**
   * What the strengths of a colour mean.
   * @param {number} scale  loads of an element at most
   */
  key(scale) {
    const steps = [...new Set([0, 1, 2, 3, 4].map((part) => Math.round((part * scale) / 4)))];
    const boxes = steps.map((count) => {
      const box = html("i");
      box.style.background = `color-mix(in srgb, var(--tt-ink) ${Math.round((100 * level(count, scale)) / LEVELS)}%, var(--tt-bg))`;
      return html("span", {}, box, String(count));
    });
    return html("p", { class: "tt-loads-key" }, `Loads, in each array's colour: `, ...boxes);
  }

  /**
   * @param {Uint32Array} counts
   * @param {number} most
   * @param {number} number
   * @param {number} scale  loads of the darkest pixel
   */
  picture(counts, most, number, scale) {
    const array = this.context.trace.arrays[number];
    const { rows, columns, planes } = layout(array);
    const tall = rows * planes;
    const least = counts.reduce((a, b) => Math.min(a, b), most);
    const canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { width: columns, height: tall, role: "img" }));
    const times = (/** @type {number} */ n) => (n === 1 ? "once" : `${n} times`);
    const range = `each element ${least === most ? times(most) : `${least} to ${times(most)}`}`;
    canvas.setAttribute("aria-label", `Loads of ${array.name}: ${range}`);
    canvas.className = "tt-pixels tt-loads-picture";
    const side = Math.min(16, 190 / columns, 72 / tall);
    canvas.style.width = `${(columns * Math.max(side, 0.5)) / 13.5}em`;
    canvas.style.height = `${(tall * Math.max(side, 0.5)) / 13.5}em`;
    const caption = html("figcaption", {}, `${array.name} `, html("span", { class: "tt-soft" }, range));
    caption.style.setProperty("--hue", array.hue);
    const figure = html("figure", {}, caption, canvas);
    figure.dataset.most = String(most);
    figure.dataset.least = String(least);
    figure.dataset.scale = String(scale);
    const ramp = this.ramp(array.hue);
    const image = new ImageData(columns, tall);
    const pixels = new Uint32Array(image.data.buffer);
    counts.forEach((count, i) => (pixels[i] = ramp[level(count, scale)]));
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
      const row = Math.floor(((event.clientY - box.top) / box.height) * tall);
      const i = row * columns + column;
      if (i < counts.length) canvas.title = `${this.context.trace.element(array, i)}: ${counts[i]} loads`;
    });
    return figure;
  }

  /**
   * Pixels from the background to the array's colour.
   * @param {string} hue
   */
  ramp(hue) {
    const probe = svg("rect");
    const layer = svg("svg", { class: "tt-probe", width: 0, height: 0 }, probe);
    this.place.append(layer);
    const ramp = Array.from({ length: LEVELS + 1 }, (_, i) => {
      probe.style.fill = `color-mix(in srgb, ${hue} ${Math.round((100 * i) / LEVELS)}%, var(--tt-bg))`;
      return pixel(getComputedStyle(probe).fill);
    });
    layer.remove();
    return ramp;
  }

  repaint() {
    if (this.painted) this.paint();
  }

  choose() {}

  draw() {
    if (!this.painted) this.paint();
    const { machine } = this.context;
    for (const { line, row } of this.rows) row.classList.toggle("tt-here", line === machine.line);
  }
}
