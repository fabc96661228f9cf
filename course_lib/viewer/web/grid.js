// A grid of elements with their values: a matrix, one buffer of a shared array, or the threads of a block.

import { html, svg } from "./dom.js";
import { short } from "./text.js";

/** @typedef {import("./trace.js").Value} Value */
/**
 * @typedef {object} GridOptions
 * @property {[number, number] | null} [tile]
 * @property {number} [margin]  for the name and the indices, in SVG units
 * @property {boolean} [labels]
 * @property {boolean} [text]  whether the elements show their values
 */

const UNIT = 20; // side of one element in SVG units
// How an element looks: its number here is its state, FAINT added where its value is not the kernel's business.
const LOOKS = ["", " tt-region", " tt-seen", " tt-active", " tt-empty", " tt-now tt-read", " tt-now tt-written"];
export const [PLAIN, REGION, SEEN, ACTIVE, EMPTY, NOW_READ, NOW_WRITTEN] = LOOKS.keys();
export const FAINT = 8;

export class Grid {
  /**
   * @param {{name: string, rows: number, columns: number, hue: string, offset?: number} & GridOptions} options
   */
  constructor({ name, rows, columns, hue, tile = null, margin = 15, labels = true, text = true, offset = 0 }) {
    this.rows = rows;
    this.columns = columns;
    this.margin = margin;
    this.offset = offset;
    this.text = text;
    this.size = rows * columns;
    this.width = columns * UNIT + margin;
    this.height = rows * UNIT + margin;
    const gap = rows * columns > 1024 ? 0.4 : 1;
    this.tip = svg("title");
    this.node = svg(
      "svg",
      { class: "tt-grid", viewBox: `0 0 ${this.width + 2} ${this.height + 2}`, role: "img", "aria-label": name },
      this.tip,
    );
    this.node.style.setProperty("--hue", hue);
    const corner = { class: "tt-name", x: margin * 0.42, y: margin * 0.5, "font-size": margin * 0.8 };
    if (labels) this.node.append(svg("text", corner, name));
    if (margin >= 10 && text) this.indices();
    /** @type {SVGElement[]} */
    this.cells = [];
    /** @type {SVGElement[]} */
    this.texts = [];
    const cells = svg("g", { class: "tt-cells" });
    this.labels = svg("g", { class: "tt-texts" });
    for (let i = 0; i < this.size; i++) {
      const [x, y] = this.corner(i);
      const side = UNIT - gap;
      this.cells.push(svg("rect", { x: x + gap / 2, y: y + gap / 2, width: side, height: side, class: "tt-c" }));
      if (text) this.texts.push(svg("text", { x: x + UNIT / 2, y: y + UNIT / 2, class: "tt-t" }));
    }
    cells.append(...this.cells);
    this.labels.append(...this.texts);
    this.dots = svg("g", { class: "tt-dots" });
    this.rings = svg("g", { class: "tt-rings" });
    this.outline = svg("rect", { class: "tt-outline", rx: 1.5 });
    this.node.append(cells, this.tileLines(tile), this.outline, this.labels, this.dots, this.rings);
    this.looks = new Uint8Array(this.size).fill(PLAIN);
    /** @type {Value[]} */
    this.held = new Array(this.size).fill(null);
    this.dotted = "";
    this.ringed = "";
  }

  /**
   * @param {number} i
   * @returns {[number, number]}
   */
  corner(i) {
    return [this.margin + (i % this.columns) * UNIT, this.margin + Math.floor(i / this.columns) * UNIT];
  }

  indices() {
    const side = this.margin * 0.5;
    for (let c = 0; c < this.columns; c++) {
      this.node.append(svg("text", { class: "tt-index", x: this.margin + (c + 0.5) * UNIT, y: side }, String(c)));
    }
    for (let r = 0; r < this.rows; r++) {
      this.node.append(svg("text", { class: "tt-index", x: side, y: this.margin + (r + 0.5) * UNIT }, String(r)));
    }
  }

  /** @param {[number, number] | null} tile */
  tileLines(tile) {
    const lines = svg("g", { class: "tt-tiles" });
    if (!tile) return lines;
    const [m, right, bottom] = [this.margin, this.width, this.height];
    for (let y = tile[0]; y < this.rows; y += tile[0]) {
      lines.append(svg("line", { x1: m, x2: right, y1: m + y * UNIT, y2: m + y * UNIT }));
    }
    for (let x = tile[1]; x < this.columns; x += tile[1]) {
      lines.append(svg("line", { y1: m, y2: bottom, x1: m + x * UNIT, x2: m + x * UNIT }));
    }
    return lines;
  }

  /**
   * Frame the smallest rectangle around the marked elements; without any, nothing.
   * @param {(element: number) => boolean} marked
   */
  frame(marked) {
    let [top, left, bottom, right] = [Infinity, Infinity, -1, -1];
    for (let i = 0; i < this.size; i++) {
      if (!marked(i + this.offset)) continue;
      const [row, column] = [Math.floor(i / this.columns), i % this.columns];
      [top, left] = [Math.min(top, row), Math.min(left, column)];
      [bottom, right] = [Math.max(bottom, row), Math.max(right, column)];
    }
    this.outline.style.display = bottom < 0 ? "none" : "";
    if (bottom < 0) return;
    const [x, y] = this.corner(top * this.columns + left);
    const size = { x, y, width: (right - left + 1) * UNIT, height: (bottom - top + 1) * UNIT };
    for (const [key, value] of Object.entries(size)) this.outline.setAttribute(key, String(value));
  }

  /**
   * Touch only what differs from what is on the page.
   * @param {number} i
   * @param {number} look
   * @param {Value} value
   */
  cell(i, look, value) {
    if (this.looks[i] !== look) {
      if ((this.looks[i] ^ look) & ~FAINT) this.cells[i].setAttribute("class", `tt-c${LOOKS[look & ~FAINT]}`);
      this.looks[i] = look;
      if (this.text) {
        const on = look === NOW_READ || look === NOW_WRITTEN;
        this.texts[i].setAttribute("class", `tt-t${look & FAINT ? " tt-faint" : ""}${on ? " tt-on" : ""}`);
      }
    }
    if (!this.text || this.held[i] === value) return;
    this.held[i] = value;
    this.texts[i].textContent = short(value);
  }

  /**
   * What follows the last cell of a drawing: one text size for the whole grid, dots and rings.
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    const longest = this.texts.reduce((most, text) => Math.max(most, text.textContent?.length ?? 0), 0);
    const size = `tt-texts tt-wide-${Math.min(4, Math.max(2, longest))}`;
    if (this.labels.getAttribute("class") !== size) this.labels.setAttribute("class", size);
    if (this.dotted !== String(dots)) {
      this.dotted = String(dots);
      this.dots.replaceChildren(
        ...dots.map((i) => {
          const [x, y] = this.corner(i);
          const r = this.text ? 2 : 4;
          return svg("circle", { cx: x + UNIT - 1.6 - r, cy: y + 1.6 + r, r });
        }),
      );
    }
    if (this.ringed !== String(rings)) {
      this.ringed = String(rings);
      this.rings.replaceChildren(
        ...rings.map((i) => {
          const [x, y] = this.corner(i);
          return svg("rect", { x: x + 0.6, y: y + 0.6, width: UNIT - 1.2, height: UNIT - 1.2, rx: 4 });
        }),
      );
    }
  }

  /**
   * The element under the pointer.
   * @param {MouseEvent} event
   */
  elementAt(event) {
    const box = this.node.getBoundingClientRect();
    const scale = (this.width + 2) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - this.margin) / UNIT);
    const row = Math.floor(((event.clientY - box.top) * scale - this.margin) / UNIT);
    if (row < 0 || column < 0 || row >= this.rows || column >= this.columns) return null;
    return row * this.columns + column;
  }
}

/**
 * The grids of one array: a vector is one row, and every leading index of a buffer has a grid of its own.
 * @param {{name: string, shape: number[], size: number, hue: string}} array
 * @param {GridOptions} options
 */
export function arrayGrids(array, options = {}) {
  const shape = array.shape.length === 1 ? [1, ...array.shape] : array.shape.length === 0 ? [1, 1] : array.shape;
  const [rows, columns] = shape.slice(-2);
  const slices = rows * columns === 0 ? 0 : array.size / (rows * columns);
  return Array.from({ length: slices }, (_, s) => {
    const name = slices === 1 ? array.name : `${array.name}[${s}]`;
    const text = columns <= 8 && rows <= 16;
    return new Grid({ name, rows, columns, hue: array.hue, offset: s * rows * columns, text, ...options });
  });
}

/**
 * A shared array with its buffers side by side, or the threads: as large as it can be read, in pixels.
 * @param {{name: string, hue: string}} array
 * @param {Grid[]} grids
 */
export function figure(array, grids) {
  for (const grid of grids) {
    const side = grid.columns <= 4 ? (grids.length > 1 ? 28 : 34) : Math.max(4, Math.min(25, 210 / grid.columns));
    grid.node.style.width = `${((grid.width + 2) / UNIT) * side}px`;
  }
  const caption = html("figcaption", {}, array.name);
  caption.style.setProperty("--hue", array.hue);
  if (grids.length === 1) return html("figure", {}, caption, grids[0].node);
  const buffers = grids.map((grid, i) => html("figure", {}, html("figcaption", {}, `[${i}]`), grid.node));
  return html("figure", {}, caption, html("div", { class: "tt-buffers" }, ...buffers));
}

const LEGEND = [
  ["tt-c tt-region", "the block's region"],
  ["tt-c tt-seen", "loaded or stored by the block"],
  ["tt-c tt-now tt-read", "read in this step"],
  ["tt-c tt-now tt-written", "written in this step"],
  ["ring", "by the chosen thread"],
  ["dot", "loaded by the chosen thread"],
  ["tt-c tt-empty", "nothing stored yet"],
];

/** What the looks of an element mean. */
export function legend() {
  return LEGEND.map(([look, text]) => {
    const box = { x: 1, y: 1, width: 18, height: 18 };
    const sample = svg("svg", { class: "tt-grid", viewBox: "0 0 20 20", "aria-hidden": "true" });
    if (look === "ring") {
      const ring = svg("g", { class: "tt-rings" }, svg("rect", { ...box, rx: 4 }));
      sample.append(svg("rect", { ...box, class: "tt-c tt-now tt-read" }), ring);
    } else if (look === "dot") {
      const dot = svg("g", { class: "tt-dots" }, svg("circle", { cx: 15.5, cy: 4.5, r: 2.4 }));
      sample.append(svg("rect", { ...box, class: "tt-c tt-seen" }), dot);
    } else {
      sample.append(svg("rect", { ...box, class: look }));
    }
    return html("span", {}, sample, text);
  });
}
