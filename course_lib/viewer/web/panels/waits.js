// Where warps wait: a row for each warp over the statements of the block, and the life of each shared buffer.

import { html, write } from "../dom.js";
import { layout, pixel } from "../grid.js";
import { countUpTo } from "../survey.js";
import { BARRIER } from "../trace.js";

const WIDTH = 1200; // pixels of the picture, whatever its size on the page
const HEIGHT = 160; // pixels for all rows, between these for each
const [THIN, THICK] = [5, 18];
const NAME = 14; // pixels that a row's name needs

/** @type {import("../panel.js").Lens} */
export const waits = {
  name: "waits",
  title: "Waiting",
  wants: () => true,
  build: (place, context) => new Waits(place, context),
};

class Waits {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.said = html("p", { class: "tt-waiting" });
    this.canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { role: "img", width: WIDTH }));
    this.head = html("i", { class: "tt-playhead" });
    this.names = html("div", { class: "tt-strip-names", "aria-hidden": "true" });
    const strip = html("div", { class: "tt-strip" }, this.canvas, this.head);
    strip.addEventListener("click", (event) => {
      const box = strip.getBoundingClientRect();
      const { length } = this.context.machine;
      context.choose({ step: Math.max(1, Math.ceil(((event.clientX - box.left) / box.width) * length)) });
    });
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
    place.append(this.said, html("div", { class: "tt-strips" }, this.names, strip), key);
    this.block = -1;
  }

  choose() {
    if (this.block === this.context.machine.blockNumber) return;
    this.block = this.context.machine.blockNumber;
    this.read();
    if (this.canvas.isConnected) this.paint();
  }

  /** What each warp and each buffer does, as spans of positions with a colour of the stylesheet. */
  read() {
    const { machine, trace } = this.context;
    const { block } = machine;
    /** @typedef {{from: number, to: number, colour: string, part: number}} Span */
    /** @type {Span[][]} */
    const rows = Array.from({ length: trace.warps }, () => []);
    /** @type {number[][]} */
    this.arrivals = rows.map(() => []);
    const buffers = trace.arrays.flatMap((array, number) => {
      if (array.space !== "shared") return [];
      const { planes, each } = layout(array);
      return Array.from({ length: planes }, (_, s) => {
        return { number, from: s * each, name: planes > 1 ? `${array.name}[${s}]` : array.name, touched: /** @type {{at: number, loading: boolean}[]} */ ([]) };
      });
    });
    for (let i = 0; i < block.length; i++) {
      const warp = block.warp(i);
      let [colour, part, rank] = ["var(--tt-still)", 0.3, 0];
      for (const access of block.accesses(i)) {
        const { space, hue } = trace.arrays[access.array];
        const now = space === "local" ? 0 : (space === "global" ? 3 : 1) + (access.loading ? 0 : 1);
        if (now > rank) [colour, part, rank] = [hue, access.loading ? 0.6 : 1, now];
        if (space !== "shared") continue;
        const element = access.element(0);
        const buffer = buffers.filter((b) => b.number === access.array && b.from <= element).pop();
        buffer?.touched.push({ at: i, loading: access.loading });
      }
      if (block.has(i, BARRIER)) {
        this.arrivals[warp].push(i + 1);
        [colour, part] = ["var(--tt-ink)", 1];
        const release = block.releases.find((r) => r >= i + 1) ?? block.length;
        rows[warp].push({ from: i + 1, to: release, colour: "var(--tt-ink)", part: 0.12 });
      }
      const before = rows[warp][rows[warp].length - 1];
      if (before && before.to === i && before.colour === colour && before.part === part) before.to = i + 1;
      else rows[warp].push({ from: i, to: i + 1, colour, part });
    }
    this.rows = rows.map((spans, warp) => ({ name: `warp ${warp}`, spans }));
    for (const { number, name, touched } of buffers) {
      const { hue } = trace.arrays[number];
      /** @type {Span[]} */
      const spans = [];
      touched.forEach(({ at, loading }, k) => {
        const before = touched[k - 1];
        // from a store on, the buffer holds what a load still wants
        if (before && loading) spans.push({ from: before.at + 1, to: at, colour: hue, part: 0.18 });
        spans.push({ from: at, to: at + 1, colour: hue, part: loading ? 0.6 : 1 });
      });
      this.rows.push({ name, spans });
    }
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
    const label = `What each of ${trace.warps} warps does over the ${machine.length} statements of the block`;
    this.canvas.setAttribute("aria-label", label);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const colours = this.colours();
    const scale = WIDTH / machine.length;
    this.rows.forEach(({ spans }, i) => {
      const [top, row] = [i * pitch, pitch - Math.ceil(pitch / 5)];
      for (const { from, to, colour, part } of spans) {
        const width = Math.max(1, (to - from) * scale - (scale > 4 ? 1 : 0));
        context.fillStyle = colours(colour);
        context.fillRect(from * scale, top + row * (1 - part), width, row * part);
      }
    });
    this.painted = true;
  }

  /** The colours as the theme has them. */
  colours() {
    const probe = html("i");
    this.canvas.parentElement?.append(probe);
    /** @type {Map<string, string>} */
    const known = new Map();
    const take = (/** @type {string} */ name) => {
      probe.style.color = name;
      const bytes = new Uint8Array(Uint32Array.of(pixel(getComputedStyle(probe).color)).buffer);
      return `rgb(${bytes[0]} ${bytes[1]} ${bytes[2]})`;
    };
    for (const { spans } of this.rows ?? []) {
      for (const { colour } of spans) if (!known.has(colour)) known.set(colour, take(colour));
    }
    probe.remove();
    return (/** @type {string} */ name) => known.get(name) ?? "";
  }

  repaint() {
    if (this.painted) this.paint();
  }

  draw() {
    if (!this.painted) this.paint();
    const { machine, trace } = this.context;
    this.head.style.left = `${(100 * machine.position) / machine.length}%`;
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
        : `No warp waits. ${machine.block.releases.length ? "" : "This kernel has no barrier."}`,
    );
    this.said.dataset.waiting = waiting.join(" ");
  }
}
