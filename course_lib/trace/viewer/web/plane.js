// The positions of an array's elements on the page, and the marks that are drawn over them.

import { setAttributes, svg } from "./dom.js";

/** @typedef {import("./trace.js").Value} Value */
/**
 * @typedef {object} PlaneOptions
 * @property {string} name
 * @property {number} rows
 * @property {number} columns
 * @property {string} hue
 * @property {number} [size]  elements, where the last row is not full
 * @property {number} [offset]  the array's element at the upper left corner
 * @property {[number, number] | null} [tile]
 * @property {number} [margin]  for the indices, in SVG units
 * @property {boolean} [text]  whether the elements show their values
 * @property {number} [pitch]  elements in a row of the vector that this is a part of
 * @property {boolean} [wrapped]  whether the rows are one vector, so that a row is numbered by its first element
 */

export const UNIT = 20; // side of one element in SVG units
// The classes of an element in each state; to a state's number FAINT is added where the value is not the kernel's business.
export const STATE_CLASSES = [
  "",
  " tt-region",
  " tt-seen",
  " tt-active",
  " tt-empty",
  " tt-now tt-read",
  " tt-now tt-written",
  " tt-pending",
];
export const [PLAIN, REGION, SEEN, ACTIVE, EMPTY, NOW_READ, NOW_WRITTEN, PENDING] = STATE_CLASSES.keys();
export const FAINT = 8;
/** Of indices, pixels: at least, at most, as a share of an element, and what the margin needs. */
const INDEX = { least: 11, most: 13, share: 0.32, margin: 11.5 };
export const FAR = 1.6; // how many elements beyond an edge a mark is drawn at most

export class Plane {
  /** @param {PlaneOptions} options */
  constructor({
    name,
    rows,
    columns,
    hue,
    size,
    offset = 0,
    tile = null,
    margin = 15,
    wrapped = false,
    pitch = columns,
  }) {
    this.name = name;
    this.rows = rows;
    this.columns = columns;
    this.size = size ?? rows * columns;
    this.offset = offset;
    this.margin = margin;
    this.width = columns * UNIT + margin;
    this.height = rows * UNIT + margin;
    this.layer = svg("svg", { class: "tt-grid", viewBox: `0 0 ${this.width + 2} ${this.height + 2}` });
    /** @type {HTMLElement | SVGElement}  its element on the page */
    this.node = this.layer;
    this.layer.style.setProperty("--hue", hue);
    this.below = svg("g");
    this.outline = svg("rect", { class: "tt-outline", rx: 1.5, display: "none" });
    this.borders = { warp: svg("path", { class: "tt-own-warp" }), thread: svg("path", { class: "tt-own-thread" }) };
    /** @type {[number, number]}  elements below and beside it that marks out of bounds reach */
    this.beyond = [0, 0];
    this.tile = tile;
    this.wrapped = wrapped;
    this.pitch = pitch;
    this.above = svg("g");
    this.dots = svg("g", { class: "tt-dots" });
    this.rings = svg("g", { class: "tt-rings" });
    this.faults = svg("g", { class: "tt-faults" });
    this.layer.append(
      this.below,
      this.tileLines(tile),
      this.outline,
      this.borders.warp,
      this.borders.thread,
      this.above,
    );
    this.highlighted = svg("rect", { class: "tt-highlighted", rx: 3, display: "none" });
    this.layer.append(this.dots, this.rings, this.faults, this.highlighted);
    /** @type {Map<Element, string>}  what each group of marks shows */
    this.shown = new Map();
    this.states = new Uint8Array(this.size).fill(PLAIN);
    /** How often each element has been loaded, or what of it is computed, out of the largest number of a colour. */
    this.counts = new Uint32Array(this.size);
    this.most = 0; // 0 where the elements are not tinted
    /** @type {{number: number, text: string, node: SVGElement, across: boolean}[]}  of columns and rows */
    this.labels = margin >= 10 ? this.indices() : [];
  }

  /** @param {number} i @returns {[number, number]} */
  corner(i) {
    return [this.margin + (i % this.columns) * UNIT, this.margin + Math.floor(i / this.columns) * UNIT];
  }

  indices() {
    const side = this.margin * 0.5;
    const columns = Array.from({ length: this.columns }, (_, number) => {
      const node = svg("text", { class: "tt-index", x: this.margin + (number + 0.5) * UNIT, y: side });
      return { number, text: String(number), node, across: true };
    });
    const rows = Array.from({ length: this.rows }, (_, number) => {
      const text = String(this.wrapped ? number * this.pitch : number);
      const long = text.length > 2; // it ends at the first element, and starts left of the drawing
      this.layer.classList.toggle("tt-long-indices", long);
      const at = long ? { class: "tt-index tt-long-index", x: this.margin - 1.5 } : { class: "tt-index", x: side };
      return { number, text, node: svg("text", { ...at, y: this.margin + (number + 0.5) * UNIT }), across: false };
    });
    return [...columns, ...rows];
  }

  /**
   * Show as many indices as have room, of one size on the page; of a map none.
   * @param {number} scale  pixels on the page of a unit of the drawing
   */
  drawIndices(scale) {
    const { labels, layer } = this;
    const size = Math.min(INDEX.most, Math.max(INDEX.least, INDEX.share * UNIT * scale));
    const fits = scale * this.margin >= INDEX.margin;
    const long = Math.max(1, ...labels.filter(({ across }) => across).map(({ text }) => text.length));
    const room = Math.max(size * 1.1, long * size * 0.64 + 2);
    const every = 2 ** Math.max(0, Math.ceil(Math.log2(room / (UNIT * scale))));
    layer.style.setProperty("--tt-index", `${size / scale}px`);
    for (const { number, text, node } of labels) {
      const shown = fits && number % every === 0 && (every === 1 || every < Math.max(this.rows, this.columns));
      if (!shown) node.remove();
      else {
        node.textContent = text;
        if (!node.parentNode) layer.append(node);
      }
    }
  }

  /** @param {[number, number] | null} tile */
  tileLines(tile) {
    const lines = svg("g", { class: "tt-tiles" });
    if (!tile || tile[0] < 1 || tile[1] < 1) return lines;
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
  frameRegion(marked) {
    let [top, left, bottom, right] = [Infinity, Infinity, -1, -1];
    for (let i = 0; i < this.size; i++) {
      if (!marked(i + this.offset)) continue;
      const [row, column] = [Math.floor(i / this.columns), i % this.columns];
      [top, left] = [Math.min(top, row), Math.min(left, column)];
      [bottom, right] = [Math.max(bottom, row), Math.max(right, column)];
    }
    this.frameElements(this.outline, bottom < 0 ? null : [top, left, bottom - top + 1, right - left + 1]);
  }

  /**
   * Put a rectangle around elements, or hide it.
   * @param {SVGElement} rectangle
   * @param {number[] | null} place  the first row and column, how many rows and columns
   * @param {number} [away]  from the elements
   */
  frameElements(rectangle, place, away = 0) {
    rectangle.setAttribute("display", place ? "inline" : "none");
    if (!place) return;
    const [top, left, rows, columns] = place;
    const [x, y] = this.corner(top * this.columns + left);
    setAttributes(rectangle, {
      x: x - away,
      y: y - away,
      width: columns * UNIT + 2 * away,
      height: rows * UNIT + 2 * away,
    });
  }

  /**
   * Draw the border of the elements that the chosen thread, or its warp, owns: a line between an owned element and another.
   * @param {"warp" | "thread"} who
   * @param {(element: number) => boolean} owned
   */
  drawBorder(who, owned) {
    const { rows, columns, size, offset } = this;
    const all = new Uint8Array(size);
    for (let i = 0; i < size; i++) all[i] = owned(i + offset) ? 1 : 0;
    const inside = (/** @type {number} */ r, /** @type {number} */ c) =>
      r >= 0 && c >= 0 && c < columns && all[r * columns + c] === 1;
    let path = "";
    /** @type {(lines: number, long: number, edge: (line: number, i: number) => boolean, draw: (line: number, from: number, length: number) => string) => void} */
    const borders = (lines, long, edge, draw) => {
      for (let line = 0; line <= lines; line++) {
        for (let i = 0, from = -1; i <= long; i++) {
          const here = i < long && edge(line, i);
          if (here && from < 0) from = i;
          if (here || from < 0) continue;
          path += draw(this.margin + line * UNIT, this.margin + from * UNIT, (i - from) * UNIT);
          from = -1;
        }
      }
    };
    borders(
      rows,
      columns,
      (r, c) => inside(r, c) !== inside(r - 1, c),
      (y, x, length) => `M${x} ${y}h${length}`,
    );
    borders(
      columns,
      rows,
      (c, r) => inside(r, c) !== inside(r, c - 1),
      (x, y, length) => `M${x} ${y}v${length}`,
    );
    this.borders[who].setAttribute("d", path);
  }

  /**
   * Replace the marks of a group if they have changed.
   * @param {SVGElement} group
   * @param {readonly unknown[]} what
   * @param {() => SVGElement[]} make
   */
  replaceMarks(group, what, make) {
    const text = JSON.stringify(what);
    if ((this.shown.get(group) ?? "[]") === text) return;
    this.shown.set(group, text);
    group.replaceChildren(...make());
  }

  /** Draw the dots and rings, after the last cell. @param {number[]} dots @param {number[]} rings */
  drawMarks(dots, rings) {
    const r = this.dotRadius;
    this.replaceMarks(this.dots, dots, () =>
      dots.map((i) => {
        const [x, y] = this.corner(i);
        return svg("circle", { cx: x + UNIT - 1.6 - r, cy: y + 1.6 + r, r });
      }),
    );
    this.replaceMarks(this.rings, rings, () => rings.map((i) => this.ringAround(i)));
  }

  /** Frame the element of which the reader asks. @param {number | null} i */
  highlight(i) {
    this.frameElements(this.highlighted, i === null ? null : [Math.floor(i / this.columns), i % this.columns, 1, 1], 1);
  }

  get dotRadius() {
    return 4;
  }

  /** Adapt to the pixels on the page of a unit of the drawing. @param {number} scale */
  setScale(scale) {
    this.drawIndices(scale);
    this.layer.style.setProperty("--tt-px", `${1 / scale}px`);
  }

  /** Adapt to the colours of the theme. */
  repaint() {}

  /** @param {number} i */
  ringAround(i) {
    const [x, y] = this.corner(i);
    return svg("rect", { x: x + 0.6, y: y + 0.6, width: UNIT - 1.2, height: UNIT - 1.2, rx: 4 });
  }

  /**
   * Mark elements in red: those of findings, and accesses out of bounds, at their positions beyond the edges.
   * @param {number[]} wrong
   * @param {[number, number][]} beyond  rows and columns
   */
  markWrong(wrong, beyond) {
    this.replaceMarks(this.faults, [...wrong, ...beyond], () => [
      ...wrong.map((i) => this.ringAround(i)),
      ...beyond.map(([row, column]) => {
        const x = this.margin + UNIT * Math.min(this.columns - 1 + FAR, Math.max(-FAR, column));
        const y = this.margin + UNIT * Math.min(this.rows - 1 + FAR, Math.max(-FAR, row));
        const cross = `M${x + 5} ${y + 5}l10 10m0 -10l-10 10`;
        const box = svg("rect", { x: x + 1, y: y + 1, width: UNIT - 2, height: UNIT - 2, class: "tt-beyond" });
        return svg("g", {}, box, svg("path", { d: cross }), svg("title", {}, `${this.name}[${row}, ${column}]`));
      }),
    ]);
  }

  /** The element under the pointer. @param {MouseEvent} event */
  elementAt(event) {
    const box = this.layer.getBoundingClientRect();
    const scale = (this.width + 2) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - this.margin) / UNIT);
    const row = Math.floor(((event.clientY - box.top) * scale - this.margin) / UNIT);
    if (row < 0 || column < 0 || row >= this.rows || column >= this.columns) return null;
    const i = row * this.columns + column;
    return i < this.size ? i : null;
  }

  /**
   * Tint the elements by their counts, on a scale up to the largest.
   * @param {number} most
   */
  setTintScale(most) {
    if (this.most === most) return;
    this.most = most;
    this.node.classList.toggle("tt-tinted", most > 0);
    for (let i = 0; i < this.size; i++) this.setTint(i);
  }

  /** @param {number} i @param {number} count */
  setCount(i, count) {
    if (this.counts[i] === count) return;
    this.counts[i] = count;
    if (this.most) this.setTint(i);
  }

  /** Give an element the colour of its count. @param {number} _i */
  setTint(_i) {}

  /**
   * Draw an element, if it differs from what is on the page.
   * @param {number} _i
   * @param {number} _state
   * @param {Value} _value
   */
  setCell(_i, _state, _value) {
    throw new Error("a plane of some kind");
  }
}
