// The waiting of warps: a row for each warp over the statements of the block, and the history of each shared buffer.

import { html, setText } from "../dom.js";
import { layout } from "../grid.js";
import { Panel } from "../panel.js";
import { coloursOf, ORDER_IS_NOT_TIME, paint, VisibleRange, firstUsesOf, historiesIn, historiesOf } from "../strips.js";
import { countUpTo } from "../summary.js";

const HEIGHT = 160; // pixels for all rows, between these for each
const [THIN, THICK, CYCLES] = [5, 18, 34]; // at least, at most, and in cycles, where arrows are above the bars
const AXIS = 18; // pixels for the cycles below the rows
const TICKS = [1, 2, 5];
const CLOSEST = 40; // cycles or statements that the largest zoom shows
const NAME = 14; // pixels that a row's name needs
const MOST = 8; // warps of which a sentence tells
const SIMULATED = "the simulator's";
const MODEL =
  "Cycles of a model, which interleaves the warps of this block. A bar ends when its warp has issued the statement. An arrow leads from a load of global memory to the statement that needs its value. A click goes to the statement; values remain those of the simulator's order.";

/** The array of a buffer: of A_tiles[1] A_tiles. @param {string} name */
const buffer = (name) => name.replace(/\[\d+\]$/, "");

/** @typedef {import("../strips.js").Span} Span */

/** The history of a shared array: when each of its buffers is stored, loaded, or holds values for later loads. */
class Buffers {
  /** @param {import("../trace.js").TraceArray} array @param {number} number */
  constructor(array, number) {
    const { planes, each } = layout(array);
    this.array = array;
    this.number = number;
    this.each = each;
    this.rows = Array.from({ length: planes }, (_, s) => {
      return { name: planes > 1 ? `${array.name}[${s}]` : array.name, spans: /** @type {Span[]} */ ([]) };
    });
  }

  /** @param {number} i  the step @param {import("../trace.js").Access[]} accesses */
  addStep(i, accesses) {
    /** @type {Map<number, boolean>}  buffer -> whether it is loaded, whatever else is done to it */
    const touched = new Map();
    for (const access of accesses) {
      if (access.array !== this.number) continue;
      for (let k = 0; k < access.lanes.length; k++) {
        const buffer = this.rows.length > 1 ? Math.floor(access.element(k) / this.each) : 0;
        touched.set(buffer, access.loading || (touched.get(buffer) ?? false));
        if (this.rows.length === 1) break;
      }
    }
    for (const [buffer, loading] of touched) {
      const { spans } = this.rows[buffer];
      const what = `${loading ? "load" : "store"} ${this.array.name}`;
      const before = spans[spans.length - 1];
      // after a store, the buffer holds values that a later load needs
      if (before && loading && before[1] < i) spans.push([before[1], i, "held"]);
      if (before && before[1] === i && before[2] === what) before[1] = i + 1;
      else spans.push([i, i + 1, what]);
    }
  }
}

/** What the heights and colours of the rows mean. @param {boolean} ordered  whether there are other orders */
function keyOf(ordered) {
  const line = "height: 2px; vertical-align: 0.1em;";
  const entries = [
    ["background: var(--tt-a)", "global memory, in the array's colour: load below, store in full"],
    ["background: var(--tt-shared)", "shared memory"],
    ["height: 0.3em; background: var(--tt-neutral); vertical-align: 0", "everything else"],
    ["width: 0.3em; background: var(--tt-ink)", "arrives at a barrier"],
    [`${line} background: var(--tt-ink)`, "waits there"],
  ];
  if (ordered)
    entries.push(
      ["background: var(--tt-register)", "multiplies and adds"],
      [`${line} background: var(--tt-other)`, "waits for memory, in grey for global memory"],
    );
  const items = entries.map(([style, text]) => html("span", {}, html("i", { style }), text));
  return html("p", { class: "tt-strip-key" }, ...items);
}

export class Waits extends Panel {
  static id = "waits";
  static title = "Waiting";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.said = html("p", { class: "tt-waiting" });
    this.canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { role: "img" }));
    this.head = html("i", { class: "tt-playhead" });
    this.names = html("div", { class: "tt-strip-names", "aria-hidden": "true" });
    this.strip = html(
      "div",
      {
        class: "tt-strip",
        title: "The wheel, + and − zoom",
        tabindex: 0,
        role: "group",
        "aria-label": "The picture of waiting; + and − zoom",
      },
      this.canvas,
      this.head,
    );
    this.orders = context.trace.orders;
    this.select = this.menuOfOrders();
    this.ordered = html("label", { class: "tt-ordered" }, "Order: ", this.select);
    this.note = html("p", { class: "tt-soft" });
    const strips = html("div", { class: "tt-strips" }, this.names, this.strip);
    place.append(this.ordered, this.said, strips, this.note, keyOf(this.orders.length > 0));
    this.listen();
    this.block = -1;
    this.range = new VisibleRange(CLOSEST, 1); // of steps or cycles
    this.at = 0; // the playhead
    /** @type {{warp: number, steps: number[], from: number, to: number}[]}  from loads to uses, in cycles */
    this.arrows = [];
    /** @type {[number, number][][] | null}  in another order, for each warp the end of each step */
    this.ends = null;
  }

  menuOfOrders() {
    const names = [SIMULATED, ...this.orders.map(([name]) => name)];
    const options = names.map((name, value) => html("option", { value }, name));
    return /** @type {HTMLSelectElement} */ (html("select", {}, ...options));
  }

  /** Follow clicks, the wheel and the keys on the picture, and the menu of orders. */
  listen() {
    const { strip } = this;
    strip.addEventListener("click", (event) => this.context.choose({ step: this.stepAt(event) }));
    strip.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    strip.addEventListener("keydown", (event) => {
      const way = { "+": 1, "-": -1 }[event.key];
      if (!way) return;
      event.stopPropagation();
      event.preventDefault();
      this.zoomBy(way, this.at);
    });
    // of two runs both show the order that is chosen for one
    this.place.parentElement?.addEventListener("change", ({ target }) => {
      this.select.value = /** @type {HTMLSelectElement} */ (target).value;
      this.read();
      this.paint();
      this.draw();
    });
  }

  /** The step under the pointer: in another order, that of the warp under it. @param {MouseEvent} event */
  stepAt({ clientX, clientY }) {
    const { ends, range } = this;
    const box = this.strip.getBoundingClientRect();
    const at = range.from + ((clientX - box.left) / box.width) * range.span;
    if (!ends) return Math.max(1, Math.ceil(at));
    const warp = Math.floor(((clientY - box.top) / box.height) * ends.length);
    const endsOfWarp = ends[Math.min(ends.length - 1, warp)];
    const [, step] = endsOfWarp.find(([end]) => end >= at) ?? endsOfWarp[endsOfWarp.length - 1] ?? [0, Math.ceil(at)];
    return Math.max(1, step);
  }

  /** The wheel zooms at the pointer, or sideways moves what is in sight. @param {WheelEvent} event */
  onWheel(event) {
    const { range } = this;
    const box = this.strip.getBoundingClientRect();
    if (event.deltaX) {
      if (range.zoom) event.preventDefault();
      this.show(range.from + (event.deltaX / box.width) * range.span);
      return;
    }
    const at = range.from + ((event.clientX - box.left) / box.width) * range.span;
    if (this.zoomBy(event.deltaY < 0 ? 1 : -1, at)) event.preventDefault();
  }

  choose() {
    if (this.block === this.context.replay.blockNumber) return;
    this.block = this.context.replay.blockNumber;
    this.read();
    if (this.canvas.isConnected) this.paint();
  }

  /** The history of each warp and each buffer, as in tests/oracles/strips.py. */
  read() {
    const { replay, trace } = this.context;
    const { block } = replay;
    this.ordered.hidden = !this.orders.length || String(block.at) !== "0,0,0"; // the block that is played
    this.arrivals = historiesOf(block).arrivals;
    const { order } = this;
    setText(this.note, order ? MODEL : ORDER_IS_NOT_TIME);
    if (order) {
      const [, cycles] = order;
      this.last = cycles.reduce((x, y) => Math.max(x, y));
      const { strips, ends } = historiesIn(block, order);
      [this.rows, this.ends] = [strips, ends];
      const theirs = this.context.other?.trace.orders.find(([name]) => name === order[0])?.[1] ?? []; // two runs have one scale
      this.range = new VisibleRange(
        CLOSEST,
        [...cycles, ...theirs].reduce((x, y) => Math.max(x, y)),
      );
      // a step begins where the one before it in its warp ends
      const begins = (/** @type {number} */ i) => ends[block.warp(i)].filter(([, step]) => step <= i).pop()?.[0] ?? 0;
      this.arrows = firstUsesOf(block).map(([load, use]) => ({
        warp: block.warp(load),
        steps: [load + 1, use + 1],
        from: load === use ? begins(load) : cycles[load],
        to: cycles[use],
      }));
      return;
    }
    this.arrows = [];
    const { strips } = historiesOf(block);
    this.ends = null;
    this.range = new VisibleRange(CLOSEST, replay.length);
    const buffers = trace.arrays.flatMap((array, number) =>
      array.space === "shared" ? [new Buffers(array, number)] : [],
    );
    for (let i = 0; buffers.length && i < block.length; i++) {
      const accesses = block.accesses(i);
      for (const each of buffers) each.addStep(i, accesses);
    }
    this.rows = [...strips, ...buffers.flatMap(({ rows }) => rows)];
  }

  /** The chosen order; null in the simulator's. */
  get order() {
    return this.ordered.hidden ? null : (this.orders[Number(this.select.value) - 1] ?? null);
  }

  /** Bring the part from a position into sight. @param {number} from */
  show(from) {
    this.range.show(from);
    this.paint();
    this.range.put(this.head, this.at);
  }

  /** Show half or twice as much around a position; returns whether it did. @param {number} way @param {number} at */
  zoomBy(way, at) {
    const done = this.range.zoomBy(way, at);
    if (done) this.show(this.range.from);
    return done;
  }

  paint() {
    const { replay, trace } = this.context;
    if (!this.rows) return;
    const pitch = Math.min(this.ends ? CYCLES : THICK, Math.max(THIN, Math.floor(HEIGHT / this.rows.length)));
    const height = this.rows.length * pitch + (this.ends ? AXIS : 0);
    const dots = devicePixelRatio;
    Object.assign(this.canvas, { width: Math.round(this.canvas.clientWidth * dots), height: height * dots });
    this.canvas.style.height = `${height / 13.5}em`;
    this.names.style.setProperty("--tt-pitch", `${pitch / 13.5}em`);
    const every = Math.ceil(NAME / pitch); // of many rows, every fourth has its name
    this.names.replaceChildren(...this.rows.map(({ name }, i) => html("span", {}, i % every ? "" : name)));
    const over = this.ends ? `${this.last} cycles of the model` : `the ${replay.length} statements of the block`;
    const label = `What each of ${trace.warps} warps does over ${over}`;
    this.canvas.setAttribute("aria-label", label);
    const colours = coloursOf(/** @type {HTMLElement} */ (this.canvas.parentElement), trace.arrays);
    const hues = (/** @type {string} */ what, /** @type {string} */ name) =>
      colours(what === "held" ? `load ${buffer(name)}` : what);
    const above = pitch > THICK ? pitch - THICK : 0;
    paint(this.canvas, this.rows, {
      from: this.range.from,
      to: this.range.from + this.range.span,
      pitch: pitch * dots,
      hues,
      above: above * dots,
    });
    if (this.ends) this.measure(pitch, above);
    this.painted = true;
  }

  /** The axis of cycles, and arrows from loads to uses. @param {number} pitch @param {number} above */
  measure(pitch, above) {
    const pen = this.canvas.getContext("2d");
    if (!pen || !this.rows) return;
    const { fontFamily, color } = getComputedStyle(this.said);
    const wide = this.canvas.width / devicePixelRatio;
    const x = (/** @type {number} */ cycle) => ((cycle - this.range.from) / this.range.span) * wide;
    pen.scale(devicePixelRatio, devicePixelRatio);
    Object.assign(pen, { strokeStyle: color, fillStyle: color, lineWidth: 1.5, font: `12px ${fontFamily}` });
    const power = 10 ** Math.floor(Math.log10(this.range.span / 4));
    const each = power * Math.max(...TICKS.filter((tick) => tick * power <= this.range.span / 4));
    const low = this.rows.length * pitch;
    for (let tick = Math.ceil(this.range.from / each) * each; tick <= this.range.from + this.range.span; tick += each) {
      const text = tick.toLocaleString("en") + (tick === 0 || x(tick) < wide / 4 ? " cycles" : "");
      pen.fillRect(x(tick), low, 1.5, 5);
      pen.fillText(text, Math.min(x(tick) + 4, wide - pen.measureText(text).width), low + 13);
    }
    if (!above) return;
    const last = this.rows.map(() => 0);
    const mine = this.context.replay.position;
    for (const { warp, steps, from, to } of this.arrows) {
      const [left, right, lane] = [x(from), x(to), last[warp]++ % 2];
      if (right < 0 || left > wide) continue;
      const y = warp * pitch + 4 + 6 * lane;
      pen.globalAlpha = steps.includes(mine) ? 1 : 0.55;
      pen.beginPath();
      pen.moveTo(left, y + 4);
      pen.lineTo(left, y);
      pen.lineTo(right, y);
      pen.moveTo(right - 5, y - 3);
      pen.lineTo(right, y);
      pen.lineTo(right - 5, y + 3);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  fit() {
    this.repaint();
  }

  draw() {
    const { frame, replay, trace } = this.context;
    const [step, cycles] = [frame ? frame.step : replay.position, this.order?.[1]]; // a frame's steps have an order of their own
    this.at = cycles ? (cycles[step - 1] ?? 0) : step;
    const hidden = this.at < this.range.from || this.at > this.range.from + this.range.span;
    if (!this.painted || hidden || cycles) this.show(hidden ? this.at - 0.1 * this.range.span : this.range.from);
    this.range.put(this.head, this.at);
    if (cycles) return this.tellPositions(this.at);
    const released = replay.block.releases.filter((r) => r <= replay.position).pop() ?? 0;
    const waiting = (this.arrivals ?? []).flatMap((arrivals, warp) => {
      const last = arrivals[countUpTo(arrivals, replay.position) - 1] ?? 0;
      return last > released ? [warp] : [];
    });
    const list = (/** @type {number[]} */ warps) => `warp${warps.length > 1 ? "s" : ""} ${warps.join(", ")}`;
    const others = Array.from({ length: trace.warps }, (_, warp) => warp).filter((warp) => !waiting.includes(warp));
    setText(
      this.said,
      waiting.length
        ? `At the barrier: ${list(waiting)}; not there yet: ${list(others)}.`
        : `No warp waits.${replay.block.releases.length ? "" : " This block meets no barrier."}`,
    );
    this.said.dataset.waiting = waiting.join(" ");
  }

  /** Say where each warp is at a cycle of the other order, in which the current step ends. @param {number} cycle */
  tellPositions(cycle) {
    const { block } = this.context.replay;
    const where = (this.ends ?? []).map((ends, warp) => {
      const [, , what = ""] = this.rows?.[warp].spans.find(([from, to]) => from <= cycle && cycle < to) ?? [];
      if (what === "wait") return `warp ${warp} waits at the barrier`;
      if (what.startsWith("wait")) return `warp ${warp} ${what.replace("wait", "waits")}`;
      const [, step] = ends.find(([end]) => end > cycle) ?? [0, 0];
      return `warp ${warp} ${step ? `is in line ${block.line(step - 1)}` : "has ended"}`;
    });
    const more = where.length > MOST ? `; and ${where.length - MOST} more` : "";
    setText(this.said, `At cycle ${cycle} of ${this.last}: ${where.slice(0, MOST).join(", ")}${more}.`);
    delete this.said.dataset.waiting;
  }
}
