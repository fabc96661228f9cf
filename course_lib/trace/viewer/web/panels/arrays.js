// The product A·B = C with the accesses of the block, the warp and the thread, and the arrays beside it.

import { fill, html, part, write } from "../dom.js";
import { figure, Grid, layout, LEGIBLE, planes, TEXT_SIZES, widthOf } from "../grid.js";
import { Heat } from "../heat.js";
import { READ, WRITTEN } from "../machine.js";
import { Ask } from "./ask.js";
import { EMPTY, FAINT, FAR, NOW_READ, NOW_WRITTEN, PLAIN, REGION, SEEN, UNIT } from "../plane.js";
import { full, short } from "../text.js";

/** @typedef {import("../plane.js").Plane} Plane */

const READABLE = 20; // a product with more elements along its sides shows no numbers
const UNREADABLE = 0.8; // of the height, for a product without numbers: the magnified part has them
const MOST = 8; // elements a side of a magnified part
const [AROUND, ARROW] = [34, 40]; // pixels for the name and the indices of such a part, and between parts
const FILLED = 9.2; // ems for a register that the line fills
const TIGHT = 22; // ems of height in which the matrices have no room for the counts
const SHARE = 0.5; // of the height that is kept below the matrices; what exceeds it scrolls
const HIGH = 0.3; // of the height for the magnified parts, at most
const CALLOUT = 9; // ems for the counts beside the matrices
const LARGEST = 3.2; // ems for an element
const GAP = 8; // pixels between the matrices
const BESIDE = 10; // ems that matrices on a small page leave to the other arrays
const SMALLER = [0.9, 0.8, 0.7, 0.6, 0.5]; // shares of the height, for the matrices on a slide
const WORTH = 0.5; // unless they would shrink to less than that
const WIDE = 30; // ems for the global arrays of a kernel without matrices
const NARROW = 18; // ems for shared and local arrays, beside each other

/** @type {import("../panel.js").Panel} */
export const arrays = {
  wants: () => true,
  build: (place, context) => new Arrays(place, context),
};

/**
 * Row and column of an index in the drawing of an array; an index out of bounds is outside its edges.
 * @param {import("../trace.js").TraceArray} array
 * @param {number[]} index
 * @returns {[number, number]}
 */
function landing(array, index) {
  const { rows, columns } = layout(array);
  const last = index[index.length - 1] ?? 0;
  if (index.length > 1 || rows <= 1) return [index[index.length - 2] ?? 0, last];
  const row = Math.floor(last / columns);
  return [row, last - row * columns];
}

/**
 * For each array, how many elements below it and beside it the marks of accesses out of bounds reach.
 * @param {import("../trace.js").Trace} trace
 */
function missed(trace) {
  /** @type {[number, number][]} */
  const found = trace.arrays.map(() => [0, 0]);
  if (!trace.columns.outside_op.length) return found;
  for (const block of trace.blocks) {
    for (let i = 0; i < block.length; i++) {
      for (const { array, index } of block.outside(i)) {
        const { rows, columns } = layout(trace.arrays[array]);
        const [row, column] = landing(trace.arrays[array], index);
        const [below, beside] = found[array];
        found[array] = [Math.max(below, Math.min(row - rows + 1, FAR)), Math.max(beside, Math.min(column - columns + 1, FAR))];
      }
    }
  }
  return found;
}

class Arrays {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.place = place;
    this.missed = missed(context.trace);
    /** @type {Plane[][]} */
    this.planes = context.trace.arrays.map(() => []);
    this.productPlace = part(place, "product");
    this.ask = new Ask(context, part(place, "memory"), (array, element) => this.home(array, element));
    this.product();
    this.others();
    this.locals = part(place, "locals");
    this.memory = part(place, "memory");
    this.magnifier = part(place, "magnified");
    this.row = part(this.magnifier, "parts");
    this.line = part(this.magnifier, "now-line");
    this.small = this.planes.flat().some((plane) => plane instanceof Heat);
    this.magnifier.hidden = !this.small;
    /** @type {{width: number, height: number, em: number}}  of the place of the magnified parts, in pixels */
    this.room = { width: 400, height: 130, em: 13.5 };
    /** @type {HTMLElement[]}  accumulators of the chosen thread that the line fills */
    this.filled = [];
    /** @type {{machine: import("../machine.js").Machine, thread: number, position: number, now: Map<number, number>[]} | null} */
    this.drawn = null;
    /** @type {{array: number, element: number} | null} */
    this.pointed = null;
    /** @type {{warp: Set<number>, thread: Set<number>}}  elements of the result that they store */
    this.owned = { warp: new Set(), thread: new Set() };
    /** @type {Map<number, Lens>}  by array, those in sight */
    this.lenses = new Map();
  }

  product() {
    const { trace } = this.context;
    const place = this.productPlace;
    const matrix = Object.fromEntries(trace.arrays.map((a, i) => [a.role, i]).filter(([role]) => role));
    this.matrices = "A" in matrix && "B" in matrix && "C" in matrix;
    place.style.display = this.matrices ? "" : "none";
    if (!this.matrices) return;
    const [[M, K], N] = [trace.arrays[matrix.A].shape, trace.arrays[matrix.B].shape[1]];
    const margin = Math.max(15, 0.04 * (K + N) * UNIT, 0.05 * (K + M) * UNIT); // fifteen pixels, as they will be shown
    const text = Math.max(K + N, K + M) <= READABLE;
    for (const role of "ABC") {
      const array = trace.arrays[matrix[role]];
      const lines = array.tile && Math.max(...array.shape) / Math.min(...array.tile) <= 64 ? array.tile : null;
      const [plane] = (this.planes[matrix[role]] = planes(array, { tile: lines, margin, text }));
      plane.node.classList.add(`tt-matrix-${role}`);
      place.append(plane.node);
      this.interact(plane, matrix[role]);
    }
    /** @param {number} n */
    const side = (n) => n * UNIT + margin + 2;
    const [below, beside] = ["A", "B", "C"].map((role) => this.missed[matrix[role]]).reduce(([x, y], [z, w]) => [Math.max(x, z), Math.max(y, w)], [0, 0]);
    place.style.setProperty("--tt-below", String(below * UNIT));
    // what the marks beyond the edges need belongs to the sides
    this.sides = { M: side(M) + below * UNIT, K: side(K), N: side(N), beside: beside * UNIT };

    this.share = text ? 1 : UNREADABLE;
  }

  others() {
    const { trace } = this.context;
    const place = this.place;
    /** @type {Record<string, HTMLElement[]>} */
    const rows = { shared: [], locals: [], others: [] };
    trace.arrays.forEach((array, i) => {
      if (array.role && this.matrices) return;
      const wide = array.space === "global" ? WIDE : NARROW;
      const { planes: found, node } = figure(array, wide * 13.5);
      this.planes[i] = found;
      const [below, beside] = this.missed[i].map((n) => `calc(${n} * var(--tt-side))`);
      Object.assign(node.style, { paddingBottom: below, paddingRight: beside });
      rows[{ global: "others", shared: "shared", local: "locals" }[array.space]].push(node);
      for (const plane of found) this.interact(plane, i);
    });
    for (const [name, figures] of Object.entries(rows)) {
      part(place, name).style.display = figures.length ? "" : "none";
      part(place, name).querySelector(".tt-row")?.replaceChildren(...figures);
    }
  }

  /**
   * An element in the drawing of its array, or in the part that is magnified.
   * @param {number} array
   * @param {number} element
   */
  home(array, element) {
    const planes = this.planes[array];
    const plane = planes[Math.floor(element / planes[0].size)];
    const [lens, asked] = [this.lenses.get(array), { plane, i: element - plane.offset, array, element }];
    const i = lens?.elements.indexOf(element) ?? -1;
    return lens && i >= 0 && plane instanceof Heat ? { ...asked, plane: lens.grid, i } : asked;
  }

  /**
   * Tell of the element under the pointer or chosen by the arrow keys, and magnify a large array there; a click or
   * Enter lists its accesses, and of the result also chooses the block and thread that store it.
   * @param {Plane} plane
   * @param {number} number
   */
  interact(plane, number) {
    this.listen(plane, number, (i) => i + plane.offset);
    const { layer } = plane;
    let cursor = 0;
    const most = plane.size - 1;
    const hint = `${plane.rows}×${plane.columns} elements; the arrow keys choose one, Enter lists its accesses`;
    const attributes = { role: "slider", tabindex: 0, "aria-label": plane.name, "aria-valuemin": 0, "aria-valuemax": most, "aria-valuenow": 0, "aria-valuetext": hint };
    for (const [key, value] of Object.entries(attributes)) layer.setAttribute(key, String(value));
    const asked = () => ({ plane, i: cursor, array: number, element: cursor + plane.offset });
    const go = (/** @type {number} */ to) => {
      cursor = to;
      this.aimAt(asked());
      layer.setAttribute("aria-valuenow", String(cursor));
      plane.asked.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    layer.addEventListener("focus", () => {
      if (!layer.matches(":focus-visible")) return; // by mouse
      const mine = [...this.context.machine.nowMine[number].keys()].find((e) => e >= plane.offset && e - plane.offset <= most);
      go(cursor || (mine ?? plane.offset) - plane.offset);
    });
    layer.addEventListener("blur", () => this.aimAt(null));
    layer.addEventListener("keydown", (event) => {
      const [row, column] = [Math.floor(cursor / plane.columns), cursor % plane.columns];
      /** @type {Record<string, number>} */
      const ways = { ArrowLeft: column > 0 ? -1 : 0, ArrowRight: column < plane.columns - 1 ? 1 : 0, ArrowUp: row > 0 ? -plane.columns : 0, ArrowDown: plane.columns };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in ways || event.key === "Enter")) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") this.ask.pin(asked(), true);
      else if (cursor + ways[event.key] <= most) go(cursor + ways[event.key]);
    });
  }

  /** @param {import("./ask.js").Asked | null} asked */
  aimAt(asked) {
    this.pointed = asked;
    this.magnify();
    this.ask.point(asked);
  }

  /**
   * @param {Plane} plane  of an array, or of a part of it that is magnified
   * @param {number} number
   * @param {(i: number) => number} elementOf
   */
  listen(plane, number, elementOf) {
    const { trace } = this.context;
    const whole = this.planes[number].includes(plane);
    const under = (/** @type {MouseEvent} */ event) => {
      const i = plane.elementAt(event);
      return i === null ? null : { plane, i, array: number, element: elementOf(i) };
    };
    plane.node.classList.add("tt-click");
    plane.node.addEventListener("pointermove", (event) => {
      const asked = under(/** @type {PointerEvent} */ (event));
      if (!asked) return;
      if (whole) this.aimAt(asked);
      else this.ask.point(asked);
    });
    plane.node.addEventListener("pointerleave", () => {
      if (whole) this.aimAt(null);
      else this.ask.point(null);
    });
    plane.node.addEventListener("click", (event) => {
      const asked = under(/** @type {MouseEvent} */ (event));
      if (!asked) return;
      this.ask.pin(asked, false);
      this.ask.root?.focus({ preventScroll: true }); // the arrows go on stepping
      const owner = number === trace.owner ? trace.owned[asked.element] : -1;
      if (owner < 0) return;
      const [block, thread] = [Math.floor(owner / trace.threads), owner % trace.threads];
      this.context.choose({ block: trace.blocks[block].at, thread: trace.threadPosition(thread) });
    });
  }

  /**
   * Show all three matrices at one scale, the largest that fits. The elements that the line accesses are shown
   * again, magnified, if an array is too small to be read or not all of them are visible.
   * @param {import("../panel.js").Size} size
   */
  fit(size) {
    const { magnifier, memory } = this;
    const { width, height, em } = size;
    magnifier.hidden = true;
    this.productPlace.classList.remove("tt-tight");
    if (this.sides) this.scale(this.sides, size);
    const hidden = () => memory.scrollHeight > memory.clientHeight + 1 || memory.getBoundingClientRect().bottom > this.bottom;
    // On a slide nobody scrolls: the matrices get smaller until all arrays are in sight.
    const whole = getComputedStyle(memory).getPropertyValue("--tt-whole") && this.sides;
    for (const share of SMALLER) if (whole && hidden()) this.scale(whole, { ...size, height: share * height });
    magnifier.hidden = !!whole || !(this.small || size.narrow || size.two || size.strip || hidden() || this.planes.flat().some(illegible));
    if (!magnifier.hidden) {
      this.productPlace.classList.toggle("tt-tight", size.compact && !size.narrow && height < TIGHT * em);
      const line = size.narrow ? 0 : this.line.offsetHeight;
      this.room = { em, width, height: Math.max(6.3 * em, HIGH * height - line) };
      magnifier.style.setProperty("--tt-high", `${this.room.height}px`);
      if (this.sides && !size.narrow) this.scale(this.sides, { ...size, height: Math.max(height - magnifier.offsetHeight - 0.2 * em, SHARE * height) });
      this.lenses.clear();
      this.magnify();
    }
    for (const plane of this.planes.flat()) plane.measure();
  }

  /** The lower end, on the page, of the element that scrolls the arrays. */
  get bottom() {
    return this.memory.closest(".tt-body")?.getBoundingClientRect().bottom ?? Infinity;
  }

  /**
   * @param {{M: number, K: number, N: number, beside: number}} sides
   * @param {import("../panel.js").Size} size
   */
  scale({ M, K, N, beside }, { compact, narrow, width, height, em }) {
    // The counts are above A and left of B, and may need more room than is free there.
    const high = part(this.productPlace, "callout").offsetHeight;
    const wide = high ? CALLOUT * em : 0;
    /** @type {(room: number, other: number, least: number) => number} */
    const fitting = (room, other, least) => {
      const scale = (room - GAP) / (K + other);
      return scale * K < least ? Math.max(0, room - GAP - least) / other : scale;
    };
    const most = Math.min(fitting(compact ? height : height * (this.share ?? 1), M, high), (LARGEST * em) / UNIT);
    const within = (/** @type {number} */ room) => Math.max(0.01, Math.min(fitting(room, N + beside, wide), most));
    const [whole, less] = [within(width), within(width - BESIDE * em)];
    const scale = compact && !narrow && less > WORTH * whole ? less : whole;
    const style = this.productPlace.style;
    style.setProperty("--tt-k", `${K * scale}px`);
    style.setProperty("--tt-n", `${N * scale}px`);
    style.setProperty("--tt-share", String(K / (K + N)));
    style.setProperty("--tt-scale", String(scale));
  }

  repaint() {
    for (const plane of this.planes.flat()) plane.repaint();
  }

  choose() {
    const { machine, trace } = this.context;
    const locals = this.locals.querySelector(".tt-heading");
    if (locals) locals.textContent = `Local arrays of thread ${trace.threadLabel(machine.thread)}`;
    this.planes.forEach((planes, number) => {
      if (trace.arrays[number].space !== "global" || layout(trace.arrays[number]).wrapped) return;
      for (const plane of planes) plane.frame((element) => machine.inRegion(number, element));
    });
    if (trace.owner < 0) return;
    const { warp, thread } = (this.owned = machine.stores(trace.owner));
    this.memory.closest(".tt-root")?.toggleAttribute("data-owns", warp.size > 0);
    for (const plane of this.planes[trace.owner]) {
      plane.own("thread", (element) => thread.has(element));
      plane.own("warp", (element) => warp.has(element));
    }
  }

  draw() {
    const { machine, trace } = this.context;
    const faults = this.faults();
    const { drawn } = this;
    // From one step to the next only elements that either of them accesses can change their look.
    const near =
      drawn !== null &&
      drawn.machine === machine &&
      drawn.thread === machine.thread &&
      Math.abs(drawn.position - machine.position) <= 1;
    trace.arrays.forEach((array, number) => {
      const planes = this.planes[number];
      if (!planes.length) return;
      const each = planes[0].size;
      const look = this.looks(number);
      const values = machine.held(number);
      const paint = (/** @type {number} */ element) => {
        const plane = planes[Math.floor(element / each)];
        plane.cell(element - plane.offset, look(element), values[element]);
      };
      if (near && drawn) for (const now of [drawn.now[number], machine.now[number]]) for (const e of now.keys()) paint(e);
      else for (let element = 0; element < array.size; element++) paint(element);
      const dots = array.space === "global" ? machine.elementsLoadedByThread(number) : [];
      const mine = [...machine.nowMine[number].keys()].sort((x, y) => x - y);
      const { wrong, beyond } = faults[number];
      for (const plane of planes) {
        const inside = (/** @type {number[]} */ elements) =>
          elements.map((element) => element - plane.offset).filter((i) => i >= 0 && i < plane.size);
        plane.finish(inside(dots), inside(mine));
        plane.fault(inside(wrong), plane === planes[planes.length - 1] ? beyond : []);
      }
    });
    this.drawn = { machine, thread: machine.thread, position: machine.position, now: machine.now };
    this.magnify();
    this.ask.draw();
  }

  /**
   * How each element of an array looks now. A drag asks for all elements of large arrays, so what they share is read once.
   * @param {number} number
   */
  looks(number) {
    const { machine, trace } = this.context;
    const { length, position, survey } = machine;
    const [loaded, stored] = [survey.loaded[number], survey.stored[number]];
    const { space, role } = trace.arrays[number];
    const [now, values] = [machine.now[number], machine.held(number)];
    return (/** @type {number} */ element) => {
      const marked = now.get(element);
      if (marked) return marked & WRITTEN ? NOW_WRITTEN : NOW_READ;
      const first = Math.min(loaded[element], stored[element]);
      const inside = first <= length; // the block loads or stores it in the launch
      const touched = space !== "global" || first <= position;
      const state = values[element] === null ? EMPTY : touched ? SEEN : inside ? REGION : PLAIN;
      return state | (!inside || (role === "C" && stored[element] > position) ? FAINT : 0);
    };
  }

  /** For each array, the elements at which this step breaks a rule, and the positions of its accesses out of bounds. */
  faults() {
    const { machine, trace } = this.context;
    /** @type {{wrong: number[], beyond: [number, number][]}[]} */
    const faults = trace.arrays.map(() => ({ wrong: [], beyond: [] }));
    for (const { array, index } of machine.found) {
      const number = trace.arrays.findIndex((a) => a.name === array);
      if (number < 0 || !index) continue;
      const { shape } = trace.arrays[number];
      if (index.some((i, d) => i < 0 || i >= shape[d])) continue;
      faults[number].wrong.push(index.reduce((flat, i, d) => flat * shape[d] + i, 0));
    }
    trace.arrays.forEach(({ name }, number) => {
      for (const element of Object.keys(trace.wanted[name] ?? {}).map(Number)) {
        if (machine.stored(number, element)) faults[number].wrong.push(element);
      }
    });
    for (const { array, index } of machine.outside) faults[array].beyond.push(landing(trace.arrays[array], index));
    for (const { beyond } of faults) {
      const seen = new Map(beyond.map((place) => [String(place), place]));
      beyond.splice(0, beyond.length, ...[...seen.values()].sort((x, y) => x[0] - y[0] || x[1] - y[1]));
    }
    return faults;
  }

  state() {
    const { arrays } = this.context.trace;
    const lenses = [...this.lenses.values()].map(({ array, elements, grid }) => ({ array: arrays[array].name, elements, ...grid.state() }));
    const filled = this.filled.map(({ children }) => [...children].map(({ textContent }) => textContent));
    const magnified = this.magnifier.hidden ? { lenses: [], filled: null } : { lenses, filled };
    return { asked: this.ask.state(), grids: this.planes.flat().map((plane) => plane.state()), ...magnified };
  }

  close() {
    return this.ask.shut(true);
  }

  /** Show, with numbers, the elements that the line accesses, or the part of a large array under the pointer. */
  magnify() {
    if (this.magnifier.hidden) return;
    const { machine, trace } = this.context;
    const now = trace.source.find(([line]) => line === machine.line);
    write(this.line, now ? `${now[0]}  ${now[1].trim()}` : "");
    const targets = this.targets();
    const names = this.pointed ? [] : trace.accumulators.filter((name) => machine.changed.has(name));
    this.filled = names.map((name) => html("figure", { class: "tt-filled" }, html("figcaption", {}, name), html("b", {}, full(machine.variable(name)))));
    if (targets.length) {
      const known = this.lenses;
      this.lenses = new Map(targets.map((target) => [target.array, this.aim(target, targets.length, known.get(target.array))]));
    }
    const reads = [...this.lenses.values()].filter(({ written }) => !written);
    const writes = [...this.lenses.values()].filter(({ written }) => written);
    const arrow = html("span", { class: "tt-arrow", "aria-hidden": "true" }, "→");
    for (const lens of this.lenses.values()) this.paint(lens);
    const into = [...writes.map(({ node }) => node), ...this.filled];
    fill(this.row, [...reads.map(({ node }) => node), ...into]);
    const read = reads.some(({ array }) => machine.now[array].size); // by this line: a part stays until the next access
    if (read && into.length) into[0].before(arrow);
  }

  /**
   * The elements to magnify: of each array that the line accesses, those of the chosen thread, or those of other threads
   * if it takes no part; arrays that are read come before those that are written.
   * @returns {{array: number, elements: number[], written: boolean}[]}
   */
  targets() {
    const { machine, trace } = this.context;
    const small = (/** @type {number} */ number) => this.planes[number].some((plane) => plane instanceof Heat);
    if (this.pointed && small(this.pointed.array)) {
      return [{ array: this.pointed.array, elements: [this.pointed.element], written: false }];
    }
    const touched = trace.arrays.flatMap((_, array) => {
      const [mine, all] = [machine.nowMine[array], machine.now[array]];
      const elements = [...(mine.size ? mine : all).keys()].sort((x, y) => x - y);
      const written = Boolean((all.get(elements[0]) ?? 0) & WRITTEN);
      return elements.length && this.planes[array].length ? [{ array, elements, written }] : [];
    });
    if (touched.length || this.lenses.size || trace.owner < 0) return touched;
    const [element] = this.owned.thread;
    return [{ array: trace.owner, elements: [element ?? 0], written: false }];
  }

  /**
   * The part of an array around elements: as large as fits beside the parts of the other arrays with readable digits.
   * It moves by whole parts, so it stays the same while a thread goes through it.
   * @param {{array: number, elements: number[], written: boolean}} target
   * @param {number} beside  the number of parts side by side
   * @param {Lens} [known]  the last part of this array
   * @returns {Lens}
   */
  aim({ array: number, elements: wanted, written }, beside, known) {
    const { machine, trace } = this.context;
    const plane = this.planes[number].find((p) => wanted[0] >= p.offset && wanted[0] < p.offset + p.size) ?? this.planes[number][0];
    const places = wanted.map((element) => element - plane.offset).filter((i) => i >= 0 && i < plane.size);
    const fitting = (/** @type {number} */ room, /** @type {number} */ all, /** @type {number} */ side) =>
      Math.min(all, Math.max(1, Math.min(MOST, Math.floor(room / side))));
    const window = (/** @type {number} */ side) => {
      const rows = fitting(this.room.height - AROUND, plane.rows, side);
      const columns = fitting((this.room.width - ARROW - this.filled.length * FILLED * this.room.em) / beside - side, plane.columns, side);
      const top = corner(places.map((i) => Math.floor(i / plane.columns)), rows, plane.rows);
      const among = places.filter((i) => i < (top + rows) * plane.columns); // elements in the rows that are shown
      const left = corner(among.map((i) => i % plane.columns), columns, plane.columns);
      const inside = Array.from({ length: rows * columns }, (_, i) => (top + Math.floor(i / columns)) * plane.columns + left + (i % columns));
      const elements = inside.filter((i) => i < plane.size).map((i) => i + plane.offset);
      return { side, rows, columns, top, left, elements };
    };
    const texts = (/** @type {number[]} */ elements) => elements.map((element) => short(machine.value(number, element)));
    const narrow = window(sideFor(texts(wanted), known?.side ?? 0));
    const { side, rows, columns, top, left, elements } = window(sideFor(texts(narrow.elements), narrow.side));
    const key = [number, plane.offset, top, left, rows, columns, side].join();
    if (known?.key === key) return Object.assign(known, { written });
    const { hue } = trace.arrays[number];
    const grid = new Grid({ name: `${plane.name}, magnified`, rows, columns, size: elements.length, hue, labels: false, origin: [top, left], wrapped: plane.wrapped, pitch: plane.columns });
    grid.node.style.width = `${((grid.width + 2) / UNIT) * side}px`;
    grid.node.style.setProperty("--tt-scale", String(side / UNIT));
    const part = rows < plane.rows || columns < plane.columns ? html("small", {}, ` ${rows}×${columns} of ${plane.rows}×${plane.columns}`) : "";
    const caption = html("figcaption", {}, plane.name, part);
    caption.style.setProperty("--hue", hue);
    this.listen(grid, number, (i) => elements[i]);
    const node = html("figure", {}, caption, grid.node);
    node.style.minWidth = grid.node.style.width; // only the caption may be cut off
    return { key, grid, array: number, elements, written, side, node };
  }

  /** @param {Lens} lens */
  paint({ grid, array, elements }) {
    const { machine, trace } = this.context;
    const [look, values] = [this.looks(array), machine.held(array)];
    elements.forEach((element, i) => grid.cell(i, look(element), values[element]));
    const at = (/** @type {Iterable<number>} */ some) => [...some].map((e) => elements.indexOf(e)).filter((i) => i >= 0);
    const global = trace.arrays[array].space === "global";
    const dots = global ? elements.filter((element) => machine.loadedByThread(array, element)) : [];
    grid.finish(at(dots), at(machine.nowMine[array].keys()));
    if (array !== trace.owner) return;
    for (const who of /** @type {const} */ (["warp", "thread"])) grid.own(who, (i) => this.owned[who].has(elements[i]));
  }
}

/**
 * @typedef {object} Lens  a part of an array, magnified
 * @property {string} key
 * @property {Grid} grid
 * @property {number} array
 * @property {number[]} elements
 * @property {boolean} written  by the line
 * @property {number} side  of an element, in pixels
 * @property {HTMLElement} node
 */

/** Whether the digits of a plane, at least three in an element, are too small to read. @param {Plane} plane */
function illegible(plane) {
  if (!(plane instanceof Grid)) return false;
  const scale = plane.layer.clientWidth / (plane.width + 2);
  return scale > 0 && TEXT_SIZES[Math.max(3, plane.widest)] * scale < LEGIBLE;
}

/**
 * The size of an element with readable digits; at least `least`.
 * @param {string[]} texts
 * @param {number} least
 */
function sideFor(texts, least) {
  const size = TEXT_SIZES[Math.max(...texts.map(widthOf))];
  return Math.max(least, Math.ceil((LEGIBLE * UNIT) / size) + 1);
}

/**
 * The first row, or column, of the part that contains these places.
 * @param {number[]} places
 * @param {number} shown
 * @param {number} all
 */
function corner(places, shown, all) {
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const whole = Math.floor(first / shown) * shown;
  return Math.max(0, Math.min(all - shown, last < whole + shown || last - first >= shown ? whole : first));
}
