// Numbers that a block copies from global to shared memory, on their way from cell to cell.

import { html } from "./dom.js";
import { Grid, TEXT_SIZES } from "./grid.js";
import { UNIT } from "./plane.js";
import { short } from "./text.js";
import { LOAD, WARP } from "./trace.js";

const DURATION = 700; // ms of a number
const SPREAD = 500; // ms from the first to the last
const MOST = 512; // numbers that move; of more, none does

/** @typedef {{array: number, element: number}} Cell */
/** @typedef {{from: Cell, to: Cell, value: import("./trace.js").Value}} Copy */

/**
 * The numbers that threads load from global memory in a frame and store, unchanged, to shared memory.
 * @param {import("./replay.js").Replay} replay
 * @param {import("./animation.js").Frame} frame
 */
export function copiesIn({ block, trace }, frame) {
  /** @type {Copy[]} */
  const copies = [];
  /** @type {Map<number, {from: Cell, value: import("./trace.js").Value}[]>}  of each thread, what it has loaded and not stored yet */
  const carried = new Map();
  for (let i = frame.from; i < frame.to; i++) {
    for (const access of block.accesses(i)) {
      const { space } = trace.arrays[access.array];
      if (space === "local" || (space === "global") !== (access.op === LOAD)) continue;
      access.lanes.forEach((lane, k) => {
        const thread = WARP * access.warp + lane;
        const held = carried.get(thread) ?? [];
        carried.set(thread, held);
        for (let w = 0; w < access.width; w++) {
          const cell = { array: access.array, element: access.element(k) + w };
          if (space === "global") {
            held.push({ from: cell, value: loaded(trace, cell) });
            continue;
          }
          const value = access.stored(k, w);
          const at = held.findIndex((each) => each.value === value);
          if (at >= 0) copies.push({ from: held.splice(at, 1)[0].from, to: cell, value });
        }
      });
    }
  }
  return copies;
}

/** What an array held before the launch. @param {import("./trace.js").Trace} trace @param {Cell} cell */
function loaded(trace, { array, element }) {
  const { initial, size } = trace.arrays[array];
  const values = initial < 0 ? null : trace.vector(initial);
  return values && (values.length === size ? values[element] : values[0]);
}

/** The numbers of a picture that move: each is hidden in its tile until it is there. */
export class MovingCopies {
  /**
   * @param {HTMLElement} place  of the picture
   * @param {(array: number, element: number) => {plane: import("./plane.js").Plane, i: number}} locate
   */
  constructor(place, locate) {
    this.place = place;
    this.locate = locate;
    /** @type {{node: HTMLElement, animation: Animation, text: SVGElement | null}[]} */
    this.moving = [];
  }

  /** Let everything be where it goes. */
  finish() {
    for (const { node, animation, text } of this.moving) {
      animation.cancel();
      node.remove();
      if (text) text.style.visibility = "";
    }
    this.moving = [];
  }

  /**
   * @param {Copy[]} copies
   * @param {(array: number) => string} hue
   * @param {number} speed  how much faster than usual
   */
  start(copies, hue, speed) {
    this.finish();
    if (copies.length > MOST) return;
    const frame = this.place.getBoundingClientRect();
    /** @type {Map<import("./plane.js").Plane, {x: number, y: number, scale: number}>} */
    const places = new Map();
    const placeOf = (/** @type {Cell} */ cell) => {
      const { plane, i } = this.locate(cell.array, cell.element);
      const box = plane.layer.getBoundingClientRect();
      const at = places.get(plane) ?? {
        x: box.left - frame.left,
        y: box.top - frame.top,
        scale: box.width / (plane.width + 2),
      };
      places.set(plane, at);
      const [x, y] = plane.corner(i);
      return { plane, i, side: UNIT * at.scale, x: at.x + x * at.scale, y: at.y + y * at.scale };
    };
    this.moving = copies.map(({ from, to, value }, n) => {
      const [start, end] = [placeOf(from), placeOf(to)];
      const grid = end.plane instanceof Grid ? end.plane : null;
      const text = grid?.legible ? /** @type {SVGElement} */ (grid.texts[end.i]) : null;
      const node = html("i", { class: "tt-moving", "aria-hidden": "true" }, text ? short(value) : "");
      node.style.setProperty("--hue", hue(from.array));
      const size = Math.max(3, 0.92 * end.side);
      Object.assign(node.style, {
        width: `${size}px`,
        height: `${size}px`,
        fontSize: grid ? `${(TEXT_SIZES[grid.widestClass] * end.side) / UNIT}px` : "0",
        lineHeight: `${size}px`,
      });
      this.place.append(node);
      const moves = [start, end].map(({ x, y, side }) => {
        const scale = Math.max(0.3, (0.92 * side) / size);
        const inset = (side - size) / 2;
        return { transform: `translate(${x + inset}px, ${y + inset}px) scale(${scale})` };
      });
      const timing = { duration: DURATION / speed, delay: (SPREAD * n) / copies.length / speed };
      const animation = node.animate(moves, { ...timing, easing: "ease-in-out", fill: "both" });
      if (text) text.style.visibility = "hidden";
      const arrived = () => {
        node.remove();
        if (text) text.style.visibility = "";
      };
      animation.finished.then(arrived, () => {});
      return { node, animation, text };
    });
  }
}
