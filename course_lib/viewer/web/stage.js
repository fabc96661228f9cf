// The stage: the layout of the page, and the panels of the run on it.

import { html, part, write } from "./dom.js";
import { legend } from "./grid.js";
import { Machine } from "./machine.js";
import { arrays } from "./panels/arrays.js";
import { counts } from "./panels/counts.js";
import { registers } from "./panels/registers.js";
import { source } from "./panels/source.js";
import { threads } from "./panels/threads.js";
import { sentence } from "./text.js";

const PANELS = [arrays, threads, source, registers, counts];

const LAYOUT = `
  <div class="tt-head">
    <div class="tt-title"><code class="tt-kernel"></code><span class="tt-launch"></span></div>
    <label>Block <select class="tt-block"></select></label>
    <label>Thread <select class="tt-thread"></select></label>
    <label>Speed <select class="tt-speed" title="Speed (+ and −)"></select></label>
  </div>
  <div class="tt-controls" role="toolbar" aria-label="Playback">
    <button type="button" class="tt-start" title="To the start (Home)"></button>
    <button type="button" class="tt-back" title="One step back (←)"></button>
    <button type="button" class="tt-play" title="Play (space)"></button>
    <button type="button" class="tt-forward" title="One step (→)"></button>
    <button type="button" class="tt-next" title="To the next barrier (n; back with p)"></button>
    <button type="button" class="tt-end" title="To the end (End)"></button>
    <div class="tt-track"><input class="tt-scrub" type="range" min="0" value="0" aria-label="Step" />
      <div class="tt-ticks" aria-hidden="true"></div></div>
    <output class="tt-count"></output>
  </div>
  <p class="tt-say" role="status" aria-live="polite"></p>
  <div class="tt-main">
    <div class="tt-memory">
      <section class="tt-product" aria-label="Global memory: the matrices">
        <div class="tt-callout"></div>
      </section>
      <section class="tt-others"><h4>Global memory</h4><div class="tt-row"></div></section>
      <div class="tt-row">
        <section class="tt-shared"><h4>Shared memory</h4><div class="tt-row"></div></section>
        <section class="tt-accumulators"><h4></h4><div class="tt-row"></div></section>
        <section class="tt-locals"><h4></h4><div class="tt-row"></div></section>
      </div>
    </div>
    <div class="tt-program">
      <section class="tt-source" tabindex="-1" aria-label="Source of the kernel"></section>
      <div class="tt-row">
        <section class="tt-registers"><h4></h4><dl></dl></section>
        <section class="tt-traffic"><h4>Accesses so far</h4><table></table></section>
      </div>
    </div>
  </div>
  <div class="tt-legend"></div>`;

/** What stands on the page before there is a trace. @param {HTMLElement} root */
export function layOut(root) {
  root.innerHTML = LAYOUT;
  part(root, "legend").append(...legend());
}

/** The panels of one trace: everything that stays the same from step to step is built once. */
export class Stage {
  /**
   * @param {HTMLElement} root
   * @param {import("./trace.js").Trace} trace
   * @param {Pick<import("./panel.js").Context, "choose" | "go">} actions
   */
  constructor(root, trace, actions) {
    this.root = root;
    this.trace = trace;
    write(part(root, "kernel"), trace.kernel);
    write(part(root, "launch"), `grid ${trace.label(trace.grid)} × block ${trace.label(trace.block)}`);
    root.setAttribute("aria-label", `Stepper of the kernel ${trace.kernel}`);
    /** @type {(value: number, text: string) => HTMLElement} */
    const option = (value, text) => html("option", { value }, text);
    part(root, "block").replaceChildren(...trace.blocks.map((b, i) => option(i, trace.label(b.at))));
    part(root, "thread").replaceChildren(
      ...Array.from({ length: trace.threads }, (_, i) => option(i, trace.label(trace.threadPosition(i)))),
    );
    /** @type {import("./panel.js").Context} */
    this.context = { trace, machine: new Machine(trace, 0, 0), ...actions };
    this.views = PANELS.filter((panel) => panel.wants(trace)).map((panel) => panel.build(root, this.context));
  }

  get machine() {
    return this.context.machine;
  }

  /**
   * @param {number} blockNumber
   * @param {number} thread
   */
  choose(blockNumber, thread) {
    const { root } = this;
    if (this.machine.blockNumber === blockNumber) this.machine.choose(thread);
    else this.context.machine = new Machine(this.trace, blockNumber, thread);
    /** @type {HTMLSelectElement} */ (part(root, "block")).value = String(blockNumber);
    /** @type {HTMLSelectElement} */ (part(root, "thread")).value = String(thread);
    const last = this.machine.length;
    /** @type {HTMLInputElement} */ (part(root, "scrub")).max = String(last);
    part(root, "ticks").replaceChildren(
      ...this.machine.block.releases.map((release) => {
        const tick = html("i");
        tick.style.setProperty("--at", String(release / last));
        return tick;
      }),
    );
    for (const view of this.views) view.choose();
  }

  /** @param {number} step */
  draw(step) {
    const { machine, root } = this;
    machine.seek(step);
    /** @type {HTMLInputElement} */ (part(root, "scrub")).value = String(step);
    write(part(root, "count"), `step ${step} of ${machine.length}`);
    for (const view of this.views) view.draw();
    part(root, "say").replaceChildren(...sentence(machine));
    for (const view of this.views) view.scroll?.();
  }
}
