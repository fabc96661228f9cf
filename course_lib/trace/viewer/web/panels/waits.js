// The waiting of warps: a row for each warp over the statements of the block, and the history of each shared buffer.

import { html, write } from "../dom.js";
import { layout } from "../grid.js";
import { coloursOf, ORDER, paint, warpsIn, warpsOf } from "../strips.js";
import { countUpTo } from "../survey.js";

const WIDTH = 1200; // pixels of the picture, whatever its size on the page
const HEIGHT = 160; // pixels for all rows, between these for each
const [THIN, THICK] = [5, 18];
const NAME = 14; // pixels that a row's name needs
const MOST = 8; // warps of which a sentence tells
const SIMULATED = "the simulator's";
const MODEL =
  "Cycles of a model, which interleaves the warps of this block. A bar ends when its warp has issued the statement; where it is long, the warp has waited. A click goes to the statement; values remain those of the simulator's order.";

/** The array of a buffer: of A_tiles[1] A_tiles. @param {string} name */
const buffer = (name) => name.replace(/\[\d+\]$/, "");

/** @type {import("../panel.js").Lens} */
export const waits = {
  name: "waits",
  title: "Waiting",
  wants: () => true,
  build: (place, context) => new Waits(place, context),
};

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
  take(i, accesses) {
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

class Waits {
  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    this.context = context;
    this.said = html("p", { class: "tt-waiting" });
    this.canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { role: "img", width: WIDTH }));
    this.head = html("i", { class: "tt-playhead" });
    this.names = html("div", { class: "tt-strip-names", "aria-hidden": "true" });
    const strip = html("div", { class: "tt-strip" }, this.canvas, this.head);
    strip.addEventListener("click", (event) => {
      const box = strip.getBoundingClientRect();
      const [across, down] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
      const at = across * this.end;
      const ends = this.ends?.[Math.min(this.ends.length - 1, Math.floor(down * this.ends.length))];
      const [, step] = ends?.find(([end]) => end >= at) ?? ends?.[ends.length - 1] ?? [0, Math.ceil(at)];
      context.choose({ step: Math.max(1, step) });
    });
    this.orders = /** @type {[string, number[]][]} */ (context.trace.orders);
    this.select = /** @type {HTMLSelectElement} */ (
      html("select", {}, ...[SIMULATED, ...this.orders.map(([name]) => name)].map((name, value) => html("option", { value }, name)))
    );
    this.select.addEventListener("change", () => {
      this.read();
      this.paint();
      this.draw();
    });
    this.ordered = html("label", { class: "tt-ordered" }, "Order: ", this.select);
    const key = html("p", { class: "tt-strip-key" });
    key.append(
      ...[
        ["tt-key-global", "global memory, in the array's colour: load below, store in full"],
        ["tt-key-shared", "shared memory"],
        ["tt-key-other", "everything else"],
        ["tt-key-barrier", "arrives at a barrier"],
        ["tt-key-wait", "waits there"],
      ].map(([look, text]) => html("span", {}, html("i", { class: look }), text)),
    );
    this.note = html("p", { class: "tt-soft" });
    place.append(this.ordered, this.said, html("div", { class: "tt-strips" }, this.names, strip), this.note, key);
    this.block = -1;
    this.end = 1; // of the last step, in steps or in cycles
    /** @type {[number, number][][] | null}  in another order, for each warp the end of each step */
    this.ends = null;
  }

  choose() {
    if (this.block === this.context.machine.blockNumber) return;
    this.block = this.context.machine.blockNumber;
    this.read();
    if (this.canvas.isConnected) this.paint();
  }

  /** The history of each warp and each buffer, as in course_lib/trace/strips.py. */
  read() {
    const { machine, trace } = this.context;
    const { block } = machine;
    this.ordered.hidden = !this.orders.length || String(block.at) !== "0,0,0"; // the block that is played
    this.arrivals = warpsOf(trace, block).arrivals;
    const cycles = this.cycles;
    write(this.note, cycles ? MODEL : ORDER);
    if (cycles) {
      const { strips, ends } = warpsIn(trace, block, cycles);
      [this.rows, this.ends, this.end] = [strips, ends, Math.max(...ends.map((each) => each[each.length - 1]?.[0] ?? 0))];
      return;
    }
    const { strips } = warpsOf(trace, block);
    [this.ends, this.end] = [null, machine.length];
    const buffers = trace.arrays.flatMap((array, number) => (array.space === "shared" ? [new Buffers(array, number)] : []));
    for (let i = 0; buffers.length && i < block.length; i++) {
      const accesses = block.accesses(i);
      for (const each of buffers) each.take(i, accesses);
    }
    this.rows = [...strips, ...buffers.flatMap(({ rows }) => rows)];
  }

  /** When each step ends in the chosen order; null in the simulator's. */
  get cycles() {
    return this.ordered.hidden ? null : (this.orders[Number(this.select.value) - 1]?.[1] ?? null);
  }

  paint() {
    const { machine, trace } = this.context;
    if (!this.rows) return;
    const pitch = Math.min(THICK, Math.max(THIN, Math.floor(HEIGHT / this.rows.length)));
    const height = this.rows.length * pitch;
    Object.assign(this.canvas, { width: WIDTH, height });
    this.canvas.style.height = `${height / 13.5}em`;
    this.names.style.setProperty("--tt-pitch", `${pitch / 13.5}em`);
    const every = Math.ceil(NAME / pitch); // of many rows, every fourth has its name
    this.names.replaceChildren(...this.rows.map(({ name }, i) => html("span", {}, i % every ? "" : name)));
    const over = this.ends ? `${this.end} cycles of the model` : `the ${machine.length} statements of the block`;
    const label = `What each of ${trace.warps} warps does over ${over}`;
    this.canvas.setAttribute("aria-label", label);
    const colours = coloursOf(/** @type {HTMLElement} */ (this.canvas.parentElement), trace.arrays);
    const hues = (/** @type {string} */ what, /** @type {string} */ name) => colours(what === "held" ? `load ${buffer(name)}` : what);
    paint(this.canvas, this.rows, { from: 0, to: this.end, pitch, hues });
    this.painted = true;
  }

  repaint() {
    if (this.painted) this.paint();
  }

  state() {
    return { strips: (this.rows ?? []).map(({ name, spans }) => [name, spans]), waiting: this.said.textContent, order: this.cycles ? this.select.selectedOptions[0].textContent : SIMULATED };
  }

  draw() {
    if (!this.painted) this.paint();
    const { machine, trace } = this.context;
    const { cycles } = this;
    this.head.style.left = `${(100 * (cycles ? (cycles[machine.position - 1] ?? 0) : machine.position)) / this.end}%`;
    if (cycles) return this.tell(cycles[machine.position - 1] ?? 0);
    const released = machine.block.releases.filter((r) => r <= machine.position).pop() ?? 0;
    const waiting = (this.arrivals ?? []).flatMap((arrivals, warp) => {
      const last = arrivals[countUpTo(arrivals, machine.position) - 1] ?? 0;
      return last > released ? [warp] : [];
    });
    const list = (/** @type {number[]} */ warps) => `warp${warps.length > 1 ? "s" : ""} ${warps.join(", ")}`;
    const others = Array.from({ length: trace.warps }, (_, warp) => warp).filter((warp) => !waiting.includes(warp));
    write(
      this.said,
      waiting.length
        ? `At the barrier: ${list(waiting)}; not there yet: ${list(others)}.`
        : `No warp waits.${machine.block.releases.length ? "" : " This block meets no barrier."}`,
    );
    this.said.dataset.waiting = waiting.join(" ");
  }

  /** Say where each warp is at a cycle of the other order, in which the current step ends. @param {number} cycle */
  tell(cycle) {
    const { block } = this.context.machine;
    const where = (this.ends ?? []).map((ends, warp) => {
      const waits = this.rows?.[warp].spans.some(([from, to, what]) => what === "wait" && from <= cycle && cycle < to);
      const [, step] = ends.find(([end]) => end > cycle) ?? [0, 0];
      return `warp ${warp} ${waits ? "waits at the barrier" : step ? `is in line ${block.line(step - 1)}` : "has ended"}`;
    });
    const more = where.length > MOST ? `; and ${where.length - MOST} more` : "";
    write(this.said, `At cycle ${cycle} of ${this.end}: ${where.slice(0, MOST).join(", ")}${more}.`);
    delete this.said.dataset.waiting;
  }
}
