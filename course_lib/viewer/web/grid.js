// Elements with their values: a matrix, one buffer of a shared array, or the threads of a block. Small ones are
// squares with numbers in them; large ones are a picture with a pixel for each element.

import { html, svg } from "./dom.js";
import { FAINT, LOOKS, NOW_READ, NOW_WRITTEN, Plane, UNIT } from "./plane.js";
import { short } from "./text.js";

/** @typedef {import("./trace.js").Value} Value */
/** @typedef {import("./plane.js").PlaneOptions} PlaneOptions */

const WRAP = 16; // elements a row of an array of one dimension, so that numbers fit
const MOST_SQUARES = 1100; // a padded tile of 32×33 still has squares

export class Grid extends Plane {
  /** @param {PlaneOptions} options */
  constructor({ text = true, ...options }) {
    super({ ...options, text });
    this.text = text;
    this.layer.setAttribute("role", "img");
    this.layer.setAttribute("aria-label", this.name);
    const gap = this.size > 1024 ? 0.4 : 1;
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
    this.below.append(cells);
    this.above.append(this.labels);
    /** @type {Value[]} */
    this.held = new Array(this.size).fill(null);
  }

  get dot() {
    return this.text ? 2 : 4;
  }

  state() {
    return { ...super.state(), texts: this.text ? this.texts.map((text) => text.textContent ?? "") : null };
  }

  /**
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
   * One text size for the whole grid.
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    const longest = this.texts.reduce((most, text) => Math.max(most, text.textContent?.length ?? 0), 0);
    const size = `tt-texts tt-wide-${Math.min(4, Math.max(2, longest))}`;
    if (this.labels.getAttribute("class") !== size) this.labels.setAttribute("class", size);
    super.finish(dots, rings);
  }
}

/** A pixel an element, drawn only where one has changed. */
export class Heat extends Plane {
  /** @param {PlaneOptions} options */
  constructor(options) {
    super(options);
    this.canvas = /** @type {HTMLCanvasElement} */ (
      html("canvas", { width: this.columns, height: this.rows, class: "tt-pixels", role: "img", "aria-label": this.name })
    );
    this.node = html("div", { class: "tt-heat" }, this.canvas, this.layer);
    this.node.style.setProperty("--hue", options.hue);
    const share = (/** @type {number} */ part, /** @type {number} */ of) => `${(100 * part) / of}%`;
    Object.assign(this.canvas.style, {
      left: share(this.margin, this.width + 2),
      top: share(this.margin, this.height + 2),
      width: share(this.columns * UNIT, this.width + 2),
      height: share(this.rows * UNIT, this.height + 2),
    });
    this.looks.fill(255); // none yet
    this.stale = true;
    /** @type {Uint32Array | null} */
    this.colours = null;
    this.image = new ImageData(this.columns, this.rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /**
   * @param {number} i
   * @param {number} look
   */
  cell(i, look) {
    look &= ~FAINT;
    if (this.looks[i] === look) return;
    this.looks[i] = look;
    this.stale = true;
  }

  /**
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    // dots on thousands of pixels would hide what they mark
    super.finish(dots.length > 256 ? [] : dots, rings);
    if (!this.stale || !this.node.isConnected) return;
    this.stale = false;
    this.colours ??= looksAsPixels(this.node);
    for (let i = 0; i < this.size; i++) this.pixels[i] = this.colours[this.looks[i]];
    this.canvas.getContext("2d")?.putImageData(this.image, 0, 0);
  }

  /** The theme changed: take its colours. */
  repaint() {
    this.colours = null;
    this.stale = true;
    this.finish(JSON.parse(this.shown.get(this.dots) ?? "[]"), JSON.parse(this.shown.get(this.rings) ?? "[]"));
  }
}

/**
 * A colour of the stylesheet as a pixel.
 * @param {string} colour  as the page computes it
 */
export function pixel(colour) {
  const context = /** @type {CanvasRenderingContext2D} */ (
    Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true })
  );
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
}

/** @param {HTMLElement | SVGElement} place */
function looksAsPixels(place) {
  const probe = svg("rect");
  const layer = svg("svg", { class: "tt-probe", width: 0, height: 0 }, probe);
  place.append(layer);
  const colours = LOOKS.map((look) => {
    probe.setAttribute("class", `tt-c${look}`);
    return pixel(getComputedStyle(probe).fill);
  });
  layer.remove();
  return Uint32Array.from(colours);
}

/**
 * How an array is laid out: a long vector is wrapped into rows, and every leading index has a plane of its own.
 * @param {{shape: number[], size: number}} array
 */
export function layout({ shape, size }) {
  if (shape.length >= 2) {
    const [rows, columns] = shape.slice(-2);
    return { rows, columns, each: rows * columns, planes: rows * columns ? size / (rows * columns) : 0, wrapped: false };
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
    return each > MOST_SQUARES ? new Heat({ ...all, text: false }) : new Grid(all);
  });
}

/**
 * An array under its name, its buffers side by side, as large as it can be read within a width in pixels.
 * @param {{name: string, shape: number[], size: number, hue: string}} array
 * @param {number} budget
 * @param {Partial<PlaneOptions>} options
 */
export function figure(array, budget, options = {}) {
  const { columns, planes: count } = layout(array);
  const most = columns <= 4 ? 28 : 25;
  const side = Math.max(4, Math.min(most, budget / columns));
  const found = planes(array, { labels: false, text: side >= 15, margin: side >= 15 ? 12 : 3, ...options });
  const em = 13.5; // pixels of the text at its usual size
  // a small page shrinks what is not global
  const width = (/** @type {number} */ pixels) => `calc(${pixels / em}em * var(--tt-shrink, 1))`;
  for (const plane of found) plane.node.style.width = width(((plane.width + 2) / UNIT) * side);
  const caption = html("figcaption", {}, array.name);
  caption.style.setProperty("--hue", array.hue);
  const buffers = found.map((plane, i) => html("figure", {}, html("figcaption", {}, `[${i}]`), plane.node));
  const content = found.length === 1 ? found[0].node : html("div", { class: "tt-buffers" }, ...buffers);
  const node = html("figure", {}, caption, content);
  node.style.setProperty("--tt-side", width(side));
  return { planes: found, node };
}

const LEGEND = [
  ["tt-c tt-region", "the block's region"],
  ["tt-c tt-seen", "loaded or stored by the block"],
  ["tt-c tt-now tt-read", "read in this step"],
  ["tt-c tt-now tt-written", "written in this step"],
  ["ring", "by the chosen thread"],
  ["dot", "loaded by the chosen thread"],
  ["tt-c tt-empty", "nothing stored yet"],
  ["thread", "what the chosen thread stores"],
  ["warp", "what its warp stores"],
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
    } else if (look === "thread" || look === "warp") {
      sample.append(svg("rect", { ...box, class: "tt-c tt-seen" }), svg("path", { class: `tt-own-${look}`, d: "M2 2h16v16h-16z" }));
    } else {
      sample.append(svg("rect", { ...box, class: look }));
    }
    return html("span", { class: `tt-legend-${look.split("tt-").pop()}` }, sample, text);
  });
}
