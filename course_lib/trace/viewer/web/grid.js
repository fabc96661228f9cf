// Elements with their values: a matrix, one buffer of a shared array, or the threads of a block, as squares with numbers.
// Arrays too large for numbers are a picture (canvas_plane.js).

import { setAttributes, setAttribute, svg } from "./dom.js";
import { CanvasPlane } from "./canvas_plane.js";
import { level, percent } from "./loads.js";
import { FAINT, STATE_CLASSES, NOW_READ, NOW_WRITTEN, Plane, UNIT } from "./plane.js";
import { short } from "./text.js";

/** @typedef {import("./trace.js").Value} Value */
/** @typedef {import("./plane.js").PlaneOptions} PlaneOptions */

const WRAP = 16; // elements a row of an array of one dimension, so that numbers fit
const MOST_NUMBERS = 1100; // a padded tile of 32×33 still has numbers
const LINE = 7.5; // from one line of a complex number to the next, in SVG units
export const LEGIBLE = 9; // pixels of the digits, at least; smaller ones are not shown
const LEGIBLE_IN_A_ROOM = 18; // on a slide of 720 pixels
const WITH_USES = 15; // pixels of an element with ticks
const TICKS = 8; // a cell has, at most
const GAP = 1; // between elements, in SVG units

/** The size of the texts of each class, in SVG units. @type {Record<number, number>} */
export const TEXT_SIZES = { 2: 11, 3: 8.4, 4: 6.6, 6: 4.6 };

/** The pixels of digits that are shown, at least. @param {Element} place */
export const leastDigits = (place) => (place.closest(".reveal") ? LEGIBLE_IN_A_ROOM : LEGIBLE);

/** The class of a text by the length of its longest line: of two, four or six characters. @param {string} text */
export const sizeClassOf = (text) => {
  const long = Math.max(...text.split("\n").map((line) => line.length));
  return long > 5 || text.includes("\n") ? 6 : Math.min(4, Math.max(2, long));
};

export class Grid extends Plane {
  /** @param {PlaneOptions} options */
  constructor(options) {
    super({ ...options, text: true });
    setAttributes(this.layer, { role: "img", "aria-label": this.name });
    const side = UNIT - GAP;
    /** @type {SVGElement[]} */
    this.cells = [];
    /** @type {SVGElement[]} */
    this.texts = [];
    const cells = svg("g", { class: "tt-cells" });
    this.digits = svg("g", { class: "tt-texts" });
    for (let i = 0; i < this.size; i++) {
      const [x, y] = this.corner(i);
      this.cells.push(svg("rect", { x: x + GAP / 2, y: y + GAP / 2, width: side, height: side, class: "tt-c" }));
      this.texts.push(svg("text", { x: x + UNIT / 2, y: y + UNIT / 2, class: "tt-t" }));
    }
    cells.append(...this.cells);
    this.digits.append(...this.texts);
    this.below.append(cells);
    /** How often an element of a tile is read at most before it is stored again; 0 where that is not shown. */
    this.reads = 0;
    this.showsUsesToCome = false; // whether the uses to come have faint marks
    /** @type {SVGElement[]} */
    this.usePaths = [];
    this.useMarks = svg("g", { class: "tt-tallies" });
    this.usesToCome = svg("path", { class: "tt-to-come" });
    this.above.append(this.useMarks);
    this.above.append(this.digits);
    /** @type {Value[]} */
    this.values = new Array(this.size).fill(null);
    this.shownTexts = new Array(this.size).fill("");
    this.widths = [0, 0, this.size, 0, 0, 0, 0]; // how many texts there are of each class
    this.scale = 0; // pixels of a unit; 0 before it is on the page
    this.least = LEGIBLE;
  }

  get dotRadius() {
    return 2;
  }

  /** Whether marks for uses are shown. */
  get showsUses() {
    return this.reads > 0 && this.scale * UNIT >= WITH_USES;
  }

  /** Whether these are marks, one for each use, and not a line. */
  get marksEachUse() {
    return this.reads <= TICKS;
  }

  /** The class of the longest text. */
  get widestClass() {
    return [6, 4, 3].find((long) => this.widths[long]) ?? 2;
  }

  /** @param {number} i @param {number} state @param {Value} value */
  setCell(i, state, value) {
    if (this.states[i] !== state) {
      if ((this.states[i] ^ state) & ~FAINT)
        this.cells[i].setAttribute("class", `tt-c${STATE_CLASSES[state & ~FAINT]}`);
      this.states[i] = state;
      const on = state === NOW_READ || state === NOW_WRITTEN;
      this.texts[i].setAttribute("class", `tt-t${state & FAINT ? " tt-faint" : ""}${on ? " tt-on" : ""}`);
    }
    if (this.values[i] === value) return;
    this.values[i] = value;
    const text = short(value);
    this.widths[sizeClassOf(this.shownTexts[i])] -= 1;
    this.widths[sizeClassOf(text)] += 1;
    this.shownTexts[i] = text;
    const lines = text.split("\n");
    if (lines.length === 1) this.texts[i].textContent = text;
    else
      this.texts[i].replaceChildren(
        ...lines.map((line, n) => svg("tspan", { x: this.corner(i)[0] + UNIT / 2, dy: n ? LINE : -LINE / 2 }, line)),
      );
  }

  /** @param {number} i */
  setTint(i) {
    const { counts, most } = this;
    this.cells[i].style.setProperty("--tint", most ? `${percent(level(counts[i], most))}%` : "");
  }

  /** @param {number} i @param {number} count */
  setCount(i, count) {
    if (this.counts[i] !== count && this.reads) this.drawUses(i, count);
    super.setCount(i, count);
  }

  /** Mark how often an element of a tile has been read: a tick each, of many a bar. @param {number} i @param {number} count */
  drawUses(i, count) {
    const [x, y] = this.corner(i);
    const [left, low, wide] = [x + 2.5, y + UNIT - 1.6, UNIT - 5];
    const bar = (Math.min(count, this.reads) / this.reads) * wide;
    const marks = (/** @type {number} */ from, /** @type {number} */ to) =>
      Array.from({ length: Math.max(0, to - from) }, (_, k) => {
        const at = left + ((from + k) * wide) / Math.max(4, this.reads);
        return `M${at} ${low}v-3.2`;
      }).join("");
    const line = count ? `M${left} ${low - 1}h${bar}` : "";
    const path = this.marksEachUse ? marks(0, Math.min(count, TICKS)) : line;
    let node = this.usePaths[i];
    if (!node) {
      node = this.usePaths[i] = svg("path", { class: "tt-tally" });
      this.useMarks.append(node, this.usesToCome);
    }
    if (this.showsUsesToCome && this.marksEachUse) this.usesToCome.setAttribute("d", marks(count, this.reads));
    node.setAttribute("d", path);
  }

  /** One text size for the whole grid. @param {number[]} dots @param {number[]} rings */
  drawMarks(dots, rings) {
    this.sizeTexts();
    super.drawMarks(dots, rings);
  }

  /** @param {number} scale */
  setScale(scale) {
    super.setScale(scale);
    setAttribute(this.useMarks, "display", scale * UNIT < WITH_USES ? "none" : "inline");
    this.scale = scale;
    this.least = leastDigits(this.layer);
    this.sizeTexts();
  }

  /** Whether the texts are large enough to be shown. */
  get legible() {
    return this.scale > 0 && TEXT_SIZES[this.widestClass] * this.scale >= this.least - 0.05;
  }

  /** Give the texts their size, and hide them where it is too small. */
  sizeTexts() {
    const small = this.scale > 0 && TEXT_SIZES[this.widestClass] * this.scale < this.least - 0.05;
    setAttribute(this.digits, "style", `font-size: ${TEXT_SIZES[this.widestClass]}px`);
    setAttribute(this.digits, "class", `tt-texts tt-wide-${this.widestClass}${small ? " tt-illegible" : ""}`);
  }
}

/**
 * The layout of an array: a long vector is wrapped into rows, and every leading index has its own plane.
 * @param {{shape: number[], size: number}} array
 */
export function layout({ shape, size }) {
  if (shape.length >= 2) {
    const [rows, columns] = shape.slice(-2);
    return {
      rows,
      columns,
      each: rows * columns,
      planes: rows * columns ? size / (rows * columns) : 0,
      wrapped: false,
    };
  }
  const columns = Math.max(1, Math.min(WRAP, size));
  return { rows: Math.ceil(size / columns), columns, each: size, planes: size ? 1 : 0, wrapped: size > columns };
}

/**
 * The planes of one array.
 * @param {{name: string, shape: number[], size: number, hue: string}} array
 * @param {Partial<PlaneOptions> & {text: boolean}} options
 * @returns {Plane[]}
 */
export function planes(array, options) {
  const { rows, columns, each, planes, wrapped } = layout(array);
  return Array.from({ length: planes }, (_, s) => {
    const name = planes === 1 ? array.name : `${array.name}[${s}]`;
    const all = { name, rows, columns, size: each, hue: array.hue, offset: s * each, wrapped, ...options };
    return options.text && each <= MOST_NUMBERS ? new Grid(all) : new CanvasPlane({ ...all, text: false });
  });
}
