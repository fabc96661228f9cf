// The arrays of one run, and what its threads hold: the product's matrices, shared memory, registers. Each is placed by
// layout.js.

import { hasModifier, setAttributes, html, setText } from "../dom.js";
import { Grid, layout, planes, leastDigits, TEXT_SIZES } from "../grid.js";
import { BlockAnimation, recorded } from "../animation.js";
import { copiesIn, MovingCopies } from "../moving.js";
import { putHandle } from "../handle.js";
import { arrange } from "../layout.js";
import { loadsOf, scalesOf, tintedIn, wholeLaunch } from "../loads.js";
import { WRITTEN } from "../replay.js";
import { operandsOf } from "../operands.js";
import { Panel } from "../panel.js";
import { ElementCard } from "./element_card.js";
import { ACTIVE, EMPTY, FAINT, FAR, NOW_READ, NOW_WRITTEN, PENDING, PLAIN, REGION, SEEN, UNIT } from "../plane.js";
import { countUpTo } from "../summary.js";
import { copiesOf } from "../tracks.js";
import { ATOMIC, STORE, WARP } from "../trace.js";
import { sizeClassesOf } from "../widths.js";

/** @typedef {import("../plane.js").Plane} Plane */
/** @typedef {import("../trace.js").Value} Value */

const LARGEST = 3.7; // ems for an element
const THREAD = 1.4; // ems for a thread of which nothing is shown but whether it is active
const NUMBERED = 32; // a matrix with a longer side has no numbers
// Margins of drawings, in their own units: with indices of two digits and of one, of a tile, and without indices.
const [MARGIN, ONE_DIGIT, ONE_BUFFER, NARROW] = [20, 15, 12, 3];
const FOOT = 1.05; // ems of a line below a drawing
const [OPERAND, WORDS] = [3.4, 6.2]; // ems for a number in a register, and for what is said below it
const ENOUGH = 11; // pixels of the digits of sums, from which on they are smaller than tiles beside them
const SWIPE = 45; // pixels of a finger that steps
const WHOLE = 100; // percent of an element that is computed

/**
 * Row and column of an index in the drawing of an array; an index out of bounds is outside its edges.
 * @param {import("../trace.js").TraceArray} array
 * @param {number[]} index
 * @returns {[number, number]}
 */
function drawnAt(array, index) {
  const { rows, columns } = layout(array);
  const last = index[index.length - 1] ?? 0;
  if (index.length > 1 || rows <= 1) return [index[index.length - 2] ?? 0, last];
  const row = Math.floor(last / columns);
  return [row, last - row * columns];
}

/** @type {WeakMap<import("../trace.js").Block, number[][]>} */
const MULTIPLY_ADDS = new WeakMap();

/** Of each warp of a block, the positions of its multiply-adds, in the order of the block. @param {import("../trace.js").Block} block */
function multiplyAddsOf(block) {
  const known = MULTIPLY_ADDS.get(block);
  if (known) return known;
  const animation = BlockAnimation.of(block.trace.blocks[block.trace.blockNumber(block.at)]);
  /** @type {number[][]} */
  const found = Array.from({ length: block.trace.warps }, () => []);
  for (let i = 0; i < block.length; i++)
    if (animation.multiplyAdds.has(recorded(block, i))) found[block.warp(i)].push(i + 1);
  MULTIPLY_ADDS.set(block, found);
  return found;
}

/** @type {WeakMap<import("../trace.js").Block, Uint32Array>} */
const POSITIONS = new WeakMap();

/** Where a block has each step of the recorded order. @param {import("../trace.js").Block} block */
function positionsOf(block) {
  const known = POSITIONS.get(block);
  if (known) return known;
  const found = new Uint32Array(block.length);
  for (let i = 0; i < block.length; i++) found[recorded(block, i)] = i;
  POSITIONS.set(block, found);
  return found;
}

/**
 * For each array, how many elements below it and beside it the marks of accesses out of bounds reach.
 * @param {import("../trace.js").Trace} trace
 */
function reachOutside(trace) {
  /** @type {[number, number][]} */
  const found = trace.arrays.map(() => [0, 0]);
  if (!trace.columns.outside_op) return found;
  for (const block of trace.blocks) {
    for (let i = 0; i < block.length; i++) {
      for (const { array, index } of block.outside(i)) {
        const { rows, columns } = layout(trace.arrays[array]);
        const [row, column] = drawnAt(trace.arrays[array], index);
        const [below, beside] = found[array];
        found[array] = [
          Math.max(below, Math.min(row - rows + 1, FAR)),
          Math.max(beside, Math.min(column - columns + 1, FAR)),
        ];
      }
    }
  }
  return found;
}

/**
 * @typedef {object} Drawing  an array or a part of it, or a variable in all threads, in its place
 * @property {Plane} plane
 * @property {HTMLElement} node
 * @property {"product" | "main" | "aside"} group
 * @property {string} role  of a matrix in the product
 * @property {number} most  ems of an element, at most
 * @property {string} name
 * @property {number} lines  below it, for what it holds
 * @property {string} held  the name of the array or variable whose numbers it shows
 */

export class Picture extends Panel {
  static at = "memory";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    const { trace } = context;
    this.reachOutside = reachOutside(trace);
    /** @type {Drawing[]} */
    this.drawings = [];
    this.reached = false; // whether Tab reaches one of them; the arrow keys reach the others
    this.card = new ElementCard(context, this.place);
    this.moving = new MovingCopies(this.place, (array, element) => this.locate(array, element));
    const roles = trace.arrays.map(({ role }) => role);
    this.product = ["A", "B", "C"].every((role) => roles.includes(/** @type {any} */ (role)));
    /** @type {Plane[][]} */
    this.planes = trace.arrays.map((array, number) => this.arrayOf(array, number));
    /** @type {{name: string, plane: Plane}[]} */
    this.threads = this.threadsOf();
    this.operands = operandsOf(trace.blocks[0]).map(({ name, most }) => ({ name, plane: this.operandOf(name, most) }));
    const order = ["product", "main", "aside"];
    const flat = (/** @type {Drawing} */ { plane }) => (plane.height * 3 < plane.width ? 0 : 1); // beside each other
    const shared = (/** @type {Drawing} */ { node }) => ["shared", "register"].indexOf(node.dataset.space ?? "") >>> 0;
    this.drawings.sort(
      (x, y) =>
        order.indexOf(x.group) - order.indexOf(y.group) ||
        x.role.localeCompare(y.role) ||
        (x.group === "aside" ? flat(x) - flat(y) || shared(x) - shared(y) : 0),
    );
    this.signs = this.product
      ? ["·", "="].map((text) => html("span", { class: "tt-sign", "aria-hidden": "true" }, text))
      : [];
    let from = 0; // of a finger, which steps when it moves sideways over the picture
    place.addEventListener("touchstart", ({ touches }) => (from = touches[0].clientX), { passive: true });
    place.addEventListener("touchend", ({ changedTouches }) => {
      const way = changedTouches[0].clientX - from;
      if (Math.abs(way) > SWIPE) context.step(way < 0 ? 1 : -1);
    });
    this.place.append(...this.signs, ...this.drawings.map(({ node }) => node));
    /** @type {{replay: import("../replay.js").Replay, thread: number, position: number, frame: object | null, now: Map<number, number>[]} | null} */
    this.drawn = null;
    /** Of each array, what is on its way to elements that hold nothing. @type {Map<number, Value>[]} */
    this.pending = trace.arrays.map(() => new Map());
    /** Which arrays are tinted by how often their elements are loaded, and on which scales. @type {boolean[]} */
    this.loaded = [];
    this.most = { block: 1, launch: 1 };
    /** @type {{warp: Set<number>, thread: Set<number>}}  elements of the result that they store */
    this.owned = { warp: new Set(), thread: new Set() };
  }

  /** @param {import("../trace.js").TraceArray} array @param {number} number */
  arrayOf(array, number) {
    const inProduct = this.product && array.role !== null;
    const { rows, columns } = layout(array);
    const [{ shape }, long] = [array, Math.max(rows, columns)];
    const small = long <= NUMBERED;
    const lines = inProduct && array.tile && Math.max(...shape) / Math.min(...array.tile) <= 64 ? array.tile : null;
    const longest = Math.max(...this.context.trace.arrays.flatMap(({ role, shape }) => (role ? shape : [1]))); // of the product
    const indexed = (/** @type {number} */ most) => (most > 10 ? MARGIN : ONE_DIGIT);
    let margin = NARROW; // of several buffers, all have room beside each other
    if (inProduct) margin = Math.max(indexed(longest), 0.035 * longest * UNIT);
    else if (array.space === "global" && small) margin = indexed(long);
    else if (small && layout(array).planes === 1) margin = ONE_BUFFER;
    const found = planes(array, { tile: lines, margin, text: small });
    for (const plane of found) {
      const below = array.space === "global" ? "main" : "aside"; // of the matrices of the product
      const caption = found.length > 1 ? plane.name : array.name;
      const shared = array.space === "shared" ? ", shared" : "";
      const node = this.figure(caption, array.space === "local" ? "" : shape.join("×") + shared, plane, array.hue);
      node.dataset.space = array.space;
      if (inProduct) node.classList.add(`tt-matrix-${array.role}`);
      this.drawings.push({
        plane,
        node,
        group: inProduct ? "product" : below,
        role: inProduct ? (array.role ?? "") : "",
        most: LARGEST,
        name: caption,
        lines: 0,
        held: array.name,
      });
      this.interact(plane, number);
      plane.beyond = this.reachOutside[number];
    }
    return found;
  }

  /** @param {string} name @param {string} what @param {Plane} plane @param {string} hue */
  figure(name, what, plane, hue) {
    const caption = html("figcaption", { class: "tt-caption" }, name, " ", html("small", {}, what), html("small"));
    const node = html("figure", { class: "tt-figure" }, caption, plane.node, html("div", { class: "tt-foot" }));
    node.style.setProperty("--hue", hue);
    return node;
  }

  /** The accumulators in all threads of the block, or, without any, the threads: who is active, and what each holds. */
  threadsOf() {
    const { trace, choose } = this.context;
    const [bx, by, bz] = trace.block;
    const [rows, columns] = by * bz === 1 && bx % WARP === 0 ? [bx / WARP, WARP] : [by * bz, bx]; // a row is a warp, if it can be
    const held = trace.accumulators.filter((name) => trace.names.includes(name));
    return (held.length ? held : ["threads"]).map((name) => {
      const array = { name, shape: [rows, columns], size: rows * columns, hue: "var(--tt-register)" };
      const [plane] = planes(array, { margin: NARROW, text: true });
      plane.node.addEventListener("click", (event) => {
        const thread = plane.elementAt(/** @type {MouseEvent} */ (event));
        if (thread !== null) choose({ thread: trace.threadPosition(thread) });
      });
      const node = this.figure(name, held.length ? "1 in each thread" : "of the block", plane, array.hue);
      node.classList.add("tt-of-threads");
      const most = held.length ? LARGEST : THREAD;
      this.drawings.push({ plane, node, group: "aside", role: "", most, name, lines: 0, held: name });
      return { name, plane };
    });
  }

  /** A variable that holds a number for several multiply-adds of the chosen thread. @param {string} name @param {number} most */
  operandOf(name, most) {
    const array = { name, shape: [1, 1], size: 1, hue: "var(--tt-register)" };
    const [plane] = planes(array, { margin: NARROW, text: true });
    if (plane instanceof Grid) Object.assign(plane, { reads: most, showsUsesToCome: true });
    const node = this.figure(name, "register", plane, array.hue);
    node.dataset.space = "register";
    this.drawings.push({ plane, node, group: "aside", role: "", most: OPERAND, name, lines: 2, held: name });
    return plane;
  }

  /** Whether it shows tiles in shared memory. */
  get tiled() {
    return this.drawings.some(({ node }) => node.dataset.space === "shared");
  }

  /** An element in the drawing of its array. @param {number} array @param {number} element */
  locate(array, element) {
    const planes = this.planes[array];
    const plane = planes[Math.floor(element / planes[0].size)];
    return { plane, i: element - plane.offset, array, element };
  }

  /**
   * Show the card of the element under the pointer or chosen by the arrow keys; a click on the result chooses the block and
   * thread that store the element.
   * @param {Plane} plane
   * @param {number} array
   */
  interact(plane, array) {
    const hint = "the arrow keys choose an element, and beyond an edge the next array";
    setAttributes(plane.layer, {
      role: "application",
      tabindex: this.reached ? -1 : 0,
      "aria-label": `${plane.name}, ${plane.rows} by ${plane.columns}; ${hint}`,
    });
    this.reached = true;
    this.followKeys(plane, array);
    this.followPointer(plane, array);
  }

  /** Let the arrow keys choose an element. @param {Plane} plane @param {number} array */
  followKeys(plane, array) {
    const { layer } = plane;
    const last = plane.size - 1;
    let cursor = 0;
    const go = (/** @type {number} */ i) => {
      cursor = i;
      this.card.showFor({ plane, i, array, element: i + plane.offset });
      plane.highlighted.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    layer.addEventListener("focus", () => {
      if (!layer.matches(":focus-visible")) return; // by mouse
      const marked = [...this.context.replay.markedByThread[array].keys()].map((element) => element - plane.offset);
      go(cursor || (marked.find((i) => i >= 0 && i <= last) ?? 0));
    });
    layer.addEventListener("blur", () => this.card.showFor(null));
    layer.addEventListener("keydown", (event) => {
      if (hasModifier(event)) return;
      const [row, column] = [Math.floor(cursor / plane.columns), cursor % plane.columns];
      const atLeft = column === 0;
      const atRight = column === plane.columns - 1;
      /** @type {Record<string, number>}  by how many elements each key goes on */
      const ways = {
        ArrowLeft: atLeft ? 0 : -1,
        ArrowRight: atRight ? 0 : 1,
        ArrowUp: row > 0 ? -plane.columns : 0,
        ArrowDown: plane.columns,
      };
      if (!(event.key in ways)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "ArrowLeft" && atLeft) this.focusNext(plane, -1);
      else if (event.key === "ArrowRight" && atRight) this.focusNext(plane, 1);
      else if (cursor + ways[event.key] <= last) go(cursor + ways[event.key]);
    });
  }

  /** Give the focus to the array after this one, or before it. @param {Plane} plane @param {number} way */
  focusNext({ layer }, way) {
    const layers = this.drawings.map(({ plane }) => plane.layer).filter((each) => each.hasAttribute("tabindex"));
    const next = layers[layers.indexOf(layer) + way];
    if (!next) return;
    for (const each of layers) each.setAttribute("tabindex", each === next ? "0" : "-1");
    next.focus();
  }

  /** Let the pointer choose an element. @param {Plane} plane @param {number} array */
  followPointer(plane, array) {
    const { trace } = this.context;
    const under = (/** @type {Event} */ event) => {
      const i = plane.elementAt(/** @type {MouseEvent} */ (event));
      return i === null ? null : { plane, i, array, element: i + plane.offset };
    };
    plane.node.classList.add("tt-click");
    plane.node.addEventListener("pointermove", (event) => {
      const target = under(event);
      if (target) this.card.showFor(target);
    });
    plane.node.addEventListener("pointerleave", () => this.card.showFor(null));
    plane.node.addEventListener("click", (event) => {
      const target = under(event);
      if (!target) return;
      this.card.root?.focus({ preventScroll: true }); // the arrows go on stepping
      this.card.showFor(target);
      const owner = array === trace.owner ? trace.owned[target.element] : -1;
      if (owner < 0) return;
      const [block, thread] = [Math.floor(owner / trace.threads), owner % trace.threads];
      this.context.choose({ block: trace.blocks[block].at, thread: trace.threadPosition(thread) });
    });
  }

  /**
   * The state of each element of an array. A drag asks for all elements of large arrays, so what they share is read once.
   * @param {number} number
   */
  statesOf(number) {
    const { replay, trace } = this.context;
    const { length, position, summary } = replay;
    const [loaded, stored] = [summary.loaded[number], summary.stored[number]];
    const { space, role } = trace.arrays[number];
    const [now, values] = [replay.marked[number], replay.valuesOf(number)];
    const all = this.loaded[number] && wholeLaunch(this.context); // of all blocks, no element is another's business
    return (/** @type {number} */ element) => {
      const marked = now.get(element);
      if (marked) return marked & WRITTEN ? NOW_WRITTEN : NOW_READ;
      const first = Math.min(loaded[element], stored[element]);
      const inside = first <= length; // the block loads or stores it in the launch
      const touched = space !== "global" || first <= position;
      let state = inside ? REGION : PLAIN;
      if (values[element] === null) state = EMPTY;
      else if (touched) state = SEEN;
      const ofOthers = !inside && !all;
      const oldResult = role === "C" && stored[element] > position;
      return ofOthers || oldResult ? state | FAINT : state;
    };
  }

  /** For each array, the elements at which this step breaks a rule, and the positions of its accesses out of bounds. */
  faults() {
    const { replay, trace } = this.context;
    /** @type {{wrong: number[], beyond: [number, number][]}[]} */
    const faults = trace.arrays.map(() => ({ wrong: [], beyond: [] }));
    for (const { array, index } of replay.findings) {
      const number = trace.arrays.findIndex((a) => a.name === array);
      if (number < 0 || !index) continue;
      const { shape } = trace.arrays[number];
      if (index.some((i, d) => i < 0 || i >= shape[d])) continue;
      faults[number].wrong.push(index.reduce((flat, i, d) => flat * shape[d] + i, 0));
    }
    trace.arrays.forEach(({ name }, number) => {
      for (const element of Object.keys(trace.wanted[name] ?? {}).map(Number)) {
        if (replay.stored(number, element)) faults[number].wrong.push(element);
      }
    });
    for (const { array, index } of replay.outside) faults[array].beyond.push(drawnAt(trace.arrays[array], index));
    for (const { beyond } of faults) {
      const seen = new Map(beyond.map((place) => [String(place), place]));
      beyond.splice(0, beyond.length, ...[...seen.values()].sort((x, y) => x[0] - y[0] || x[1] - y[1]));
    }
    return faults;
  }

  /** Where everything would be in a place of this size. @param {import("../panel.js").Size} size */
  arranged({
    width,
    height,
    em,
    letters,
    counter,
    lines,
    largest,
    arrangement,
    strict,
    pictureOnly,
    compared = false,
  }) {
    const { drawings } = this;
    const shape = (/** @type {Drawing} */ drawing) => {
      const { plane, node, most, name } = drawing;
      const digits = this.pixelsPerDigit(drawing);
      const long = (Math.max(plane.width, plane.height) + 2) / UNIT;
      const secondary = compared && node.classList.contains("tt-of-threads");
      const [below, beside] = plane.beyond; // what the marks beyond the edges need
      return {
        width: plane.width + 2 + beside * UNIT,
        height: plane.height + 2 + below * UNIT,
        most: (most * em) / UNIT,
        least: (node.dataset.space === "register" ? WORDS : 0.56 * name.length + 0.2) * em,
        digits,
        foot: drawing.lines * FOOT * em,
        ...(secondary && {
          secondary: { least: leastDigits(this.place) * digits * long, most: ENOUGH * digits * long },
        }),
        continues: plane.offset > 0,
        tile: node.dataset.space === "shared",
      };
    };
    const of = (/** @type {string} */ group) => drawings.filter((drawing) => drawing.group === group).map(shape);
    const [A, B, C] = of("product");
    const product_ = this.product ? { A, B, C } : null;
    const wanted = {
      width,
      height,
      em,
      letters,
      counter,
      lines,
      largest,
      least: leastDigits(this.place),
      arrangement,
      strict,
      pictureOnly,
      product: product_,
      main: of("main"),
      aside: of("aside"),
    };
    return arrange(wanted);
  }

  /**
   * Put everything into its place; returns what the layout says.
   * @param {import("../panel.js").Size} size
   */
  fit(size) {
    const { drawings } = this;
    const { width, em } = size;
    const layout = this.arranged(size);
    const { product, main, aside, code, counter: counted } = layout;
    const at = [...(product ? [product.A, product.B, product.C] : []), ...main, ...aside];
    const boxes = [
      code,
      ...(counted ? [counted] : []),
      ...at.map(({ x, y, scale }, i) => ({
        x,
        y: y - em,
        height: em + scale * drawings[i].plane.height + drawings[i].lines * FOOT * em,
      })),
    ];
    at.forEach((place, i) => {
      const beside = boxes.filter(({ x, y, height }) => x > place.x && y < place.y && y + height > place.y - em);
      const room = Math.min(width, ...beside.map(({ x }) => x - 0.5 * em)) - place.x; // of its caption
      placeDrawing(drawings[i].node, drawings[i].plane, { ...place, room });
    });
    this.signs.forEach((sign, i) => {
      const { A, B, C } = /** @type {NonNullable<import("../layout.js").Layout["product"]>} */ (product);
      const [left, right] = i
        ? [B.x + drawings[1].plane.width * B.scale, C.x]
        : [A.x + drawings[0].plane.width * A.scale, B.x];
      const top = A.y + (drawings[2].plane.height * A.scale) / 2;
      Object.assign(sign.style, { left: `${(left + right) / 2}px`, top: `${top}px` });
    });
    return layout;
  }

  /** Pixels of an element for each pixel of its digits, if they are as long as any in the launch; 0 without any. @param {Drawing} drawing */
  pixelsPerDigit({ plane, held }) {
    const wide = sizeClassesOf(this.context.trace).get(held);
    return plane instanceof Grid && wide ? UNIT / TEXT_SIZES[wide] : 0;
  }

  repaint() {
    for (const { plane } of this.drawings) plane.repaint();
  }

  choose() {
    const { replay, trace } = this.context;
    this.drawn = null;
    this.loaded = tintedIn(replay);
    this.most = scalesOf(replay, this.context.other);
    const animation = BlockAnimation.of(trace.blocks[replay.blockNumber]);
    const reads = Math.max(0, ...animation.frames.map(({ facts }) => facts.reads?.[1] ?? 0));
    const tiles = this.drawings.filter(({ node }) => node.dataset.space === "shared");
    for (const drawing of tiles) {
      drawing.lines = reads && drawing === tiles[0] ? 1 : 0;
      if (this.buffers(drawing.held) > 1) drawing.lines = 2;
    }
    this.planes.forEach((planes, number) => {
      if (trace.arrays[number].space !== "shared") return;
      for (const plane of planes) if (plane instanceof Grid) plane.reads = reads;
    });
    for (const { node, plane } of this.drawings) {
      const small = node.dataset.space === "local" && node.querySelector("small");
      if (small) small.textContent = `${plane.size} in thread ${trace.threadLabel(replay.thread)}`;
    }
    this.planes.forEach((planes, number) => {
      if (trace.arrays[number].space !== "global" || layout(trace.arrays[number]).wrapped) return;
      const { role } = trace.arrays[number];
      for (const plane of planes) {
        plane.frameRegion((element) => replay.inRegion(number, element));
        if (this.product && role && this.context.tiles) putHandle(plane, role, this.context.tiles);
      }
    });
    if (trace.owner < 0) return;
    const { warp, thread } = (this.owned = replay.stores(trace.owner));
    this.place.closest(".tt-root")?.toggleAttribute("data-owns", warp.size > 0);
    for (const plane of this.planes[trace.owner]) {
      plane.drawBorder("thread", (element) => thread.has(element));
      plane.drawBorder("warp", (element) => warp.has(element));
    }
  }

  draw() {
    const { frame, replay, trace } = this.context;
    this.moving.finish();
    const faults = this.faults();
    const { drawn } = this;
    // From one step to the next only elements that either of them accesses can change their state; of two runs, not all of
    // these are known.
    const pending = this.valuesInRegisters();
    const same = pending.every((values, number) => String([...values]) === String([...this.pending[number]]));
    this.pending = pending;
    const fewChanged = same && replay.marked !== replay.markedByThread && this.isNextStep();
    trace.arrays.forEach((array, number) => {
      const planes = this.planes[number];
      if (!planes.length) return;
      const each = planes[0].size;
      const stateOf = this.statesOf(number);
      const values = replay.valuesOf(number);
      const counts = this.countsOf(number);
      const paint = (/** @type {number} */ element) => {
        const plane = planes[Math.floor(element / each)];
        const coming = values[element] === null ? pending[number].get(element) : undefined;
        if (coming !== undefined) plane.setCell(element - plane.offset, PENDING, coming);
        else plane.setCell(element - plane.offset, stateOf(element), unknown(element) ? null : values[element]);
        if (counts) plane.setCount(element - plane.offset, counts[element]);
      };
      // what the kernel does not load, and has not stored yet, has no number
      const unknown = (/** @type {number} */ element) =>
        array.role === "C" &&
        replay.summary.loaded[number][element] > replay.length &&
        replay.summary.stored[number][element] > replay.position;
      if (this.loaded[number])
        for (const plane of planes) plane.setTintScale(wholeLaunch(this.context) ? this.most.launch : this.most.block);
      if (fewChanged && drawn)
        for (const now of [drawn.now[number], replay.marked[number]]) for (const e of now.keys()) paint(e);
      else for (let element = 0; element < array.size; element++) paint(element);
      const dots = array.space === "global" && !frame ? replay.elementsLoadedByThread(number) : [];
      const mine = [...replay.markedByThread[number].keys()].sort((x, y) => x - y);
      const { wrong, beyond } = faults[number];
      for (const plane of planes) {
        const inside = (/** @type {number[]} */ elements) =>
          elements.map((element) => element - plane.offset).filter((i) => i >= 0 && i < plane.size);
        plane.drawMarks(inside(dots), inside(mine));
        plane.markWrong(inside(wrong), plane === planes[planes.length - 1] ? beyond : []);
      }
    });
    this.fillResult();
    this.drawThreads();
    this.drawOperands();
    this.labelResult();
    this.labelTiles();
    this.drawn = { replay, thread: replay.thread, position: replay.position, frame, now: replay.marked };
    this.card.draw();
  }

  /** Whether this is the step after what was drawn last, or the one before it, and not a frame. */
  isNextStep() {
    const { drawn } = this;
    const { frame, replay } = this.context;
    if (!drawn || drawn.replay !== replay || drawn.thread !== replay.thread) return false;
    if (frame || drawn.frame) return false;
    const atStart = drawn.position === 0 || replay.position === 0;
    return !atStart && Math.abs(drawn.position - replay.position) <= 1;
  }

  /** C has its old numbers as long as the sums are in registers: its caption says so. */
  labelResult() {
    const { replay } = this.context;
    const stores = (/** @type {number} */ position) =>
      replay.summary.counts.global[STORE][position] + replay.summary.counts.global[ATOMIC][position];
    const small = this.drawings.find(({ role }) => role === "C")?.node.querySelector("small + small");
    if (small) setText(small, !stores(replay.position) && stores(replay.length) ? ", not stored yet" : "");
  }

  /** @param {string} name  of an array */
  buffers(name) {
    return this.planes[this.context.trace.arrays.findIndex((array) => array.name === name)]?.length ?? 0;
  }

  /** For each shared array, the values that registers hold until they are stored to it, by element. */
  valuesInRegisters() {
    const { replay, trace } = this.context;
    const block = trace.blocks[replay.blockNumber];
    const places = positionsOf(replay.block);
    /** @type {Map<number, Value>[]} */
    const found = trace.arrays.map(() => new Map());
    for (const { load, store } of copiesOf(block).held) {
      if (places[load] >= replay.position || places[store] < replay.position) continue;
      const global = block
        .accesses(load)
        .filter(({ array, loading }) => loading && trace.arrays[array].space === "global");
      const loaded = new Set(global.flatMap(({ lanes }) => lanes));
      for (const access of block.accesses(store)) {
        if (access.loading || trace.arrays[access.array].space !== "shared") continue;
        access.lanes.forEach((lane, k) => {
          if (!loaded.has(lane)) return;
          for (let w = 0; w < access.width; w++) found[access.array].set(access.element(k) + w, access.stored(k, w));
        });
      }
    }
    return found;
  }

  /** Below the tiles: what their marks are, and, of several buffers, which pair each of them holds. */
  labelTiles() {
    const { replay, trace } = this.context;
    const { tiles } = copiesOf(trace.blocks[replay.blockNumber]);
    const places = positionsOf(replay.block);
    for (const { held, lines, node, plane } of this.drawings) {
      const foot = node.querySelector(".tt-foot");
      if (!foot || node.dataset.space !== "shared") continue;
      const marks =
        plane instanceof Grid &&
        plane.showsUses &&
        plane.counts.some(Boolean) &&
        (plane.marksEachUse ? "a mark for each use" : "a line for its uses");
      foot.classList.toggle("tt-one-line", lines < 2);
      if (lines < 2) {
        setText(foot, (lines && marks) || "");
        continue;
      }
      const array = trace.arrays.findIndex(({ name }) => name === held);
      const mine = tiles.filter((tile) => tile.array === array && tile.buffer === plane.offset / plane.size);
      const next = mine.find(({ first }) => places[first] >= replay.position);
      const now = mine.filter(({ first }) => places[first] < replay.position).pop();
      const inRegisters = next && next.load >= 0 && places[next.load] < replay.position;
      let coming = "";
      if (inRegisters) coming = `pair ${next.pair} still in registers`;
      else if (next && next.load >= 0) coming = `pair ${next.pair} not loaded yet`;
      if (!now) setText(foot, coming);
      else {
        const here = now.load < 0 ? "no pair" : `pair ${now.pair}`;
        const later = inRegisters ? `; pair ${next.pair} in registers` : "";
        setText(foot, here + (later || (marks ? `: ${marks}` : "")));
      }
    }
  }

  /** The numbers in registers that the chosen thread uses several times, with a mark for each use so far. */
  drawOperands() {
    const { replay, trace } = this.context;
    if (!this.operands.length) return;
    const places = positionsOf(replay.block);
    const all = operandsOf(trace.blocks[replay.blockNumber]);
    for (const { name, plane } of this.operands) {
      const value = replay.variables.get(name)?.[replay.thread] ?? null;
      const operand = all.find((each) => each.name === name);
      const mine = operand?.held.filter(
        ({ warp, loaded }) => warp === replay.thread >> 5 && places[loaded] < replay.position,
      );
      const last = mine?.reduce((x, y) => (places[y.loaded] > places[x.loaded] ? y : x), mine[0]);
      const used = last?.uses.filter((step) => places[step] < replay.position).length ?? 0;
      const known = replay.changed.has(name) ? NOW_WRITTEN : SEEN;
      plane.setCell(0, value === null ? EMPTY : known, value);
      if (plane instanceof Grid) plane.drawUses(0, used);
      plane.drawMarks([], []);
      const foot = plane.node.parentElement?.querySelector(".tt-foot");
      if (foot && operand) setText(foot, `loaded once, used ${operand.most} times`);
    }
  }

  /** How often each element of an array has been loaded, or read since it was stored; null where that is not shown. @param {number} number */
  countsOf(number) {
    const { replay, trace } = this.context;
    if (trace.arrays[number].space === "shared") return replay.loads[number];
    if (!this.loaded[number]) return null;
    return wholeLaunch(this.context) ? loadsOf(trace)[number] : replay.loads[number];
  }

  /** Fill the elements of C as far as the threads that will store them have computed. */
  fillResult() {
    const { replay, trace } = this.context;
    const { blockNumber, position, summary } = replay;
    const number = trace.owner;
    const adds = multiplyAddsOf(replay.block);
    if (number < 0 || !adds.some((steps) => steps.length)) return;
    const done = adds.map((steps) => (steps.length ? countUpTo(steps, position) / steps.length : 0));
    const [first, stored] = [blockNumber * trace.threads, summary.stored[number]];
    for (const plane of this.planes[number]) {
      plane.setTintScale(WHOLE);
      for (let i = 0; i < plane.size; i++) {
        const element = i + plane.offset;
        const thread = trace.owned[element] - first;
        const mine = thread >= 0 && thread < trace.threads;
        const computed = mine ? done[thread >> 5] : 0;
        plane.setCount(i, Math.round((stored[element] <= position ? 1 : computed) * WHOLE));
      }
    }
  }

  drawThreads() {
    const { frame, replay } = this.context;
    const here = replay.findings.flatMap(({ at }) => at.filter(({ block }) => block === replay.blockNumber));
    const wrong = here.map(({ thread }) => thread);
    for (const { name, plane } of this.threads) {
      const held = replay.variables.get(name);
      for (let thread = 0; thread < plane.size; thread++) {
        const value = held ? held[thread] : null;
        const active = frame
          ? Boolean(((frame.activeLanes.get(thread >> 5) ?? 0) >>> (thread & 31)) & 1)
          : replay.isActive(thread);
        const changed = active && (frame ? frame.sums.has(name) : replay.assigned.has(name));
        let state = held || name !== "threads" ? EMPTY : PLAIN;
        if (value !== null) state = SEEN;
        if (active) state = changed ? NOW_WRITTEN : ACTIVE;
        plane.setCell(thread, state, value);
      }
      plane.drawMarks([], [replay.thread]);
      plane.markWrong([...new Set(wrong)], []);
    }
  }

  /**
   * Let the numbers that a frame copies to shared memory move there.
   * @param {number} speed  how much faster than usual
   */
  moveCopies(speed) {
    const { frame, replay, trace } = this.context;
    if (!frame?.facts.fetched || !frame.facts.shared) return;
    this.moving.start(copiesIn(replay, frame), (array) => trace.arrays[array].hue, speed);
  }

  close() {
    return this.card.showFor(null);
  }
}

/**
 * Put a drawing into its place.
 * @param {HTMLElement} node
 * @param {Plane} plane
 * @param {import("../layout.js").Place} place
 */
function placeDrawing(node, plane, { x, y, scale, room }) {
  Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${(plane.width + 2) * scale}px` });
  node.style.setProperty("--tt-room", `${room}px`);
  plane.setScale(scale);
}
