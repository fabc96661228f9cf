// Elements without their values: a canvas, in which only changed elements are drawn again. An element is a square, as in
// grid.js, if there is room for it; else a pixel.

import { setAttributes, html, svg } from "./dom.js";
import { LEVELS, level, mixed } from "./loads.js";
import { FAINT, STATE_CLASSES, NOW_READ, NOW_WRITTEN, Plane, UNIT } from "./plane.js";

const SQUARE = 3; // pixels of the screen that an element needs to be more than a pixel
const MOST_SQUARES = 4096;
const UNKNOWN = 255; // the state of an element before the first step
const MOST_DOTS = 256; // more of them, on small elements, would hide the elements

/** @typedef {ReturnType<typeof stylesOf>[number]} ElementStyle  the stylesheet's look of an element */

export class CanvasPlane extends Plane {
  /** @param {import("./plane.js").PlaneOptions} options */
  constructor(options) {
    super(options);
    this.canvas = /** @type {HTMLCanvasElement} */ (
      html("canvas", { class: "tt-pixels", role: "img", "aria-label": this.name })
    );
    this.node = html("div", { class: "tt-canvas-plane" }, this.canvas, this.layer);
    this.node.style.setProperty("--hue", options.hue);
    const share = (/** @type {number} */ part, /** @type {number} */ of) => `${(100 * part) / of}%`;
    Object.assign(this.canvas.style, {
      left: share(this.margin, this.width + 2),
      top: share(this.margin, this.height + 2),
      width: share(this.columns * UNIT, this.width + 2),
      height: share(this.rows * UNIT, this.height + 2),
    });
    this.states.fill(UNKNOWN);
    /** @type {Set<number>}  elements whose state differs from the canvas */
    this.stale = new Set();
    this.side = 0; // of an element, in pixels of the canvas; 0 before it is on the page
    /** @type {ElementStyle[] | null} */
    this.styles = null;
  }

  /** @param {number} i @param {number} state */
  setCell(i, state) {
    state &= ~FAINT;
    if (this.states[i] === state) return;
    this.states[i] = state;
    this.stale.add(i);
  }

  /** @param {number} i */
  setTint(i) {
    if (this.states[i] !== UNKNOWN) this.stale.add(i);
  }

  /** Which of the styles an element has now: of its state, or of its count. @param {number} i */
  styleNumber(i) {
    const { counts, states, most } = this;
    const now = states[i] === NOW_READ || states[i] === NOW_WRITTEN;
    return most && !now ? STATE_CLASSES.length + level(counts[i], most) : states[i];
  }

  /** @param {number[]} dots @param {number[]} rings */
  drawMarks(dots, rings) {
    super.drawMarks(dots.length > MOST_DOTS ? [] : dots, rings);
    this.drawStale();
  }

  /** A canvas has as many pixels as the screen. @param {number} scale */
  setScale(scale) {
    super.setScale(scale);
    const wide = UNIT * scale * devicePixelRatio;
    const side = wide < SQUARE || this.size > MOST_SQUARES ? 1 : Math.round(wide);
    if (side === this.side) return;
    this.side = side;
    Object.assign(this.canvas, { width: this.columns * side, height: this.rows * side });
    this.node.classList.toggle("tt-tiny", side === 1);
    this.repaint();
  }

  /** Draw everything again, after a change of theme or size. */
  repaint() {
    this.styles = null;
    this.states.forEach((state, i) => state === UNKNOWN || this.stale.add(i));
    this.drawStale();
  }

  drawStale() {
    const context = this.side && this.stale.size ? this.canvas.getContext("2d") : null;
    if (!context || !this.node.isConnected) return;
    this.styles ??= stylesOf(this.node);
    if (this.side === 1) this.drawPixels(context, this.styles);
    else for (const i of this.stale) this.drawSquare(context, i, this.styles[this.styleNumber(i)]);
    this.stale.clear();
  }

  /** @param {CanvasRenderingContext2D} context @param {ElementStyle[]} styles */
  drawPixels(context, styles) {
    if (!this.image || this.stale.size === this.size) {
      this.image = new ImageData(this.columns, this.rows);
      this.colours = styles.map(({ fill }) => pixel(fill));
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const { colours } = this;
    if (colours) for (const i of this.stale) pixels[i] = colours[this.styleNumber(i)];
    context.putImageData(this.image, 0, 0);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} i @param {ElementStyle} style */
  drawSquare(context, i, { fill, stroke, width, dash, round }) {
    const { side } = this;
    const gap = side / UNIT;
    const [x, y] = [(i % this.columns) * side, Math.floor(i / this.columns) * side];
    const inner = side - gap;
    context.clearRect(x, y, side, side);
    context.beginPath();
    if (round) context.arc(x + side / 2, y + side / 2, inner / 2, 0, 2 * Math.PI);
    else context.rect(x + gap / 2, y + gap / 2, inner, inner);
    context.fillStyle = fill;
    context.fill();
    if (!stroke) return;
    context.strokeStyle = stroke;
    context.lineWidth = (width * side) / UNIT;
    context.setLineDash(dash.map((part) => (part * side) / UNIT));
    context.stroke();
  }
}

/** @type {Map<string, number>}  to read one from a canvas takes a millisecond */
const PIXELS = new Map();

/** A colour of the stylesheet as a pixel. @param {string} colour  as the page computes it */
export function pixel(colour) {
  const known = PIXELS.get(colour);
  if (known !== undefined) return known;
  const context = /** @type {CanvasRenderingContext2D} */ (
    Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", {
      willReadFrequently: true,
    })
  );
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [found] = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer);
  PIXELS.set(colour, found);
  return found;
}

/** The style of each state, and then of each level of a count, in the present theme, read from the stylesheet. @param {HTMLElement | SVGElement} place */
function stylesOf(place) {
  return styled(
    place,
    [
      ...STATE_CLASSES.map((classes) => ({ class: `tt-c${classes}` })),
      ...Array.from({ length: LEVELS + 1 }, (_, i) => ({ class: "tt-c", style: `fill: ${mixed("var(--hue)", i)}` })),
    ],
    ({ fill, stroke, strokeWidth, strokeDasharray, rx }) => ({
      fill,
      stroke: stroke === "none" ? "" : stroke,
      width: Number.parseFloat(strokeWidth), // of the stroke, in SVG units
      dash: strokeDasharray === "none" ? [] : strokeDasharray.split(",").map(Number.parseFloat),
      round: Number.parseFloat(rx) > 0,
    }),
  );
}

/**
 * What the stylesheet makes of an element with each of some attributes.
 * @template T
 * @param {HTMLElement | SVGElement} place
 * @param {import("./dom.js").Attributes[]} attributes
 * @param {(style: CSSStyleDeclaration) => T} read
 */
export function styled(place, attributes, read) {
  const probe = svg("rect");
  const layer = svg("svg", { class: "tt-probe", width: 0, height: 0 }, probe);
  place.append(layer);
  const found = attributes.map((each) => read(getComputedStyle(setAttributes(probe, each))));
  layer.remove();
  return found;
}
