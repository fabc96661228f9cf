// The timeline: what each warp does over the statements of a block, its barriers and phases. It is the page's slider.

import { drag, setChildren, html, part, setAttribute, setText } from "./dom.js";
import { jumpOnClick, jumpButton, addToTabOrder } from "./jumps.js";
import { coloursOf, ORDER_IS_NOT_TIME, paint, historiesOf } from "./strips.js";

const GAP = 4; // pixels between two labels

/** @typedef {{at: number, to: number, texts: string[], node: HTMLElement}} Label  from a position to another, the longest text first */

export class Timeline {
  /** @param {HTMLElement} root @param {(step: number) => void} go */
  constructor(root, go) {
    this.slider = part(root, "scrub");
    this.canvas = /** @type {HTMLCanvasElement} */ (part(root, "warps"));
    this.slider.title = ORDER_IS_NOT_TIME;
    /** @type {import("./scene.js").Run[]} */
    this.runs = [];
    /** @type {import("./strips.js").Strip[]} */
    this.strips = [];
    /** @type {{step: number, mark: HTMLElement}[]} */
    this.marks = [];
    /** @type {Label[]} */
    this.labels = [];
    this.step = 0;
    this.end = 1;
    this.heads = part(root, "labels");
    /** @type {Map<HTMLElement, number[]>}  of each label of a barrier, the steps that arrive there */
    this.arrivals = new Map();
    jumpOnClick(
      this.heads,
      "span",
      () => this.runs[0].context,
      (row) => this.arrivals.get(row) ?? [],
    );
    const to = (/** @type {PointerEvent} */ event) => {
      const box = this.slider.getBoundingClientRect();
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      return Math.min(this.end, Math.ceil(share * this.end));
    };
    drag(this.slider, (event) => go(to(event)));
    this.slider.addEventListener("pointermove", (event) => {
      if (!event.buttons) this.slider.title = this.tooltipAt(to(event));
    });
  }

  /**
   * Another trace, block or thread.
   * @param {import("./scene.js").Run[]} runs
   * @param {number} last
   * @param {number[]} found  the steps of findings
   * @param {(run: number, position: number) => number} at  the step at which a run is at a position
   */
  choose(runs, last, found, at) {
    this.end = last;
    this.runs = runs;
    this.strips = runs.flatMap(({ context: { replay } }, run) =>
      historiesOf(replay.block).strips.map(({ name, spans }) => ({
        name,
        spans: spans.map(
          ([from, to, what]) => /** @type {import("./strips.js").Span} */ ([at(run, from), at(run, to - 1) + 1, what]),
        ),
      })),
    );
    const { block, thread } = runs[0].context.replay;
    const markAt = (/** @type {number} */ step, /** @type {string} */ name) => ({
      step,
      mark: html("i", { class: name, "data-step": step }),
    });
    this.marks = [
      ...block.releases.map((position) => markAt(at(0, position), "tt-release")),
      ...[...new Set(found)].map((step) => markAt(step, "tt-found")),
    ];
    part(this.slider, "ticks").replaceChildren(...this.marks.map(({ mark }) => mark));
    const barriers = block.releases.map((position, i, all) => {
      const end = i + 1 < all.length ? at(0, all[i + 1]) : last;
      return labelOfBarrier(i + 1, at(0, position), end);
    });
    const arrivals = historiesOf(block)
      .arrivals.flat()
      .sort((x, y) => x - y);
    this.arrivals = new Map(
      barriers.map(({ node }, i) => {
        const before = block.releases[i - 1] ?? 0;
        return [node, arrivals.filter((position) => position > before && position <= block.releases[i])];
      }),
    );
    const phases = runs.length > 1 ? [] : (block.phases[thread >> 5] ?? []);
    const labelsOfPhases = phases.flatMap(([to, kind], i) =>
      kind === "barrier" ? [] : [{ at: phases[i - 1]?.[0] ?? 0, to, texts: [kind], node: html("span") }],
    );
    this.labels = [...barriers, ...labelsOfPhases].sort((x, y) => x.at - y.at);
    setAttribute(this.slider, "aria-valuemax", String(last));
    this.redraw();
  }

  /** @param {number} step */
  draw(step) {
    this.step = step;
    const [{ context }] = this.runs;
    const { replay } = context;
    setAttribute(this.slider, "aria-valuenow", String(step));
    const where = replay.line === null ? "" : `, line ${replay.line}, warp ${replay.warp}`;
    setAttribute(this.slider, "aria-valuetext", `step ${step} of ${this.end}${this.runs.length > 1 ? "" : where}`);
    this.placeAt(part(this.slider, "position"), step);
  }

  /** @param {HTMLElement} node @param {number} step */
  placeAt(node, step) {
    node.style.left = `${(100 * step) / this.end}%`;
  }

  /** Draw all again: the page has another size or theme. */
  redraw() {
    const { canvas, runs, slider, strips } = this;
    this.placeAt(part(this.slider, "position"), this.step);
    for (const { step, mark } of this.marks) this.placeAt(mark, step);
    const wide = slider.clientWidth;
    if (!wide || !runs.length) return;
    this.writeLabels(wide);
    const [width, height] = [Math.round(wide * devicePixelRatio), Math.round(canvas.clientHeight * devicePixelRatio)];
    Object.assign(canvas, { width, height });
    const hues = coloursOf(
      slider,
      runs.flatMap(({ trace }) => trace.arrays),
    );
    paint(canvas, strips, {
      from: 0,
      to: this.end,
      pitch: height / strips.length,
      hues,
    });
  }

  /**
   * Write the labels that have room, none over another; barriers in full, unless more labels have room without that.
   * @param {number} wide
   */
  writeLabels(wide) {
    const [full, brief] = [0, 1].map((from) =>
      this.labelsThatFit(wide, (texts) => texts.slice(Math.min(from, texts.length - 1))),
    );
    const nodes = (brief.length > full.length ? brief : full).map(({ left, text, node }) => {
      setText(node.firstElementChild ?? node, text);
      node.style.left = `${left}px`;
      return node;
    });
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    setChildren(this.heads, nodes);
    if (this.heads.contains(focused)) focused?.focus({ preventScroll: true }); // which its place has lost
    addToTabOrder(this.heads);
  }

  /** @param {number} wide @param {(texts: string[]) => string[]} allowed */
  labelsThatFit(wide, allowed) {
    const pen = this.canvas.getContext("2d");
    if (!pen) return [];
    const { fontSize, fontFamily } = getComputedStyle(this.heads); // the shorthand is empty beside tabular digits
    pen.font = `${fontSize} ${fontFamily}`;
    const scale = wide / this.end;
    const most = wide - GAP;
    let end = 0; // of what is written
    return this.labels.flatMap(({ at, to, texts, node }) => {
      const left = Math.max(end, at * scale + 2);
      const room = Math.min(most, to * scale) - left;
      const text = allowed(texts).find((each) => pen.measureText(each).width <= room);
      if (!text) return [];
      end = left + pen.measureText(text).width + GAP;
      return [{ left, text, node }];
    });
  }

  /** What the steps up to a position are, for who points there. @param {number} position */
  tooltipAt(position) {
    if (this.runs.length > 1 || position < 1) return ORDER_IS_NOT_TIME;
    const { block } = this.runs[0].context.replay;
    return `step ${position}: line ${block.line(position - 1)}, warp ${block.warp(position - 1)}. ${ORDER_IS_NOT_TIME}`;
  }
}

/** @param {number} number @param {number} at @param {number} to @returns {Label} */
function labelOfBarrier(number, at, to) {
  const name = `barrier ${number}`;
  const node = html("span", {}, jumpButton("", `arrives at ${name}`));
  node.firstElementChild?.setAttribute("aria-label", name);
  return { at, to, texts: [name, String(number)], node };
}
