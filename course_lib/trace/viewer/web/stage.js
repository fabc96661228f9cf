// The stage: the layout of the page, and the panels of one run, or of two beside each other.

import { html, icon, part, write } from "./dom.js";
import { legend, marksIn, marksOf, wordsOn } from "./legend.js";
import { Machine } from "./machine.js";
import { arrays } from "./panels/arrays.js";
import { banks } from "./panels/banks.js";
import { compare } from "./panels/compare.js";
import { counts } from "./panels/counts.js";
import { findings } from "./panels/findings.js";
import { fragments } from "./panels/fragments.js";
import { launch } from "./panels/launch.js";
import { registers } from "./panels/registers.js";
import { source } from "./panels/source.js";
import { threads } from "./panels/threads.js";
import { waits } from "./panels/waits.js";
import { warp } from "./panels/warp.js";
import { tip } from "./terms.js";
import { sentence, wrongNow } from "./text.js";
import { MATCHES, partner, Alignment } from "./alignment.js";

const PANELS = [arrays, threads, source, registers, counts];
/** @type {import("./panel.js").Lens[]} */
const LENSES = [findings, warp, banks, fragments, waits, launch];
// Below these sizes of the page, in ems of its text, either the matrices or a lens is shown.
const ROOMY_HEIGHT = 46;
const ROOMY_WIDTH = 62;
const ON_A_PHONE = 0.4; // of its height for the matrices
const BETWEEN = 1.5; // ems between the lenses of two runs, as the stylesheet has it
const NARROW = 38; // ems of a page in one column, as the stylesheet has it

const FRAME = `
  <div class="tt-bar">
    <div class="tt-head">
      <div class="tt-title"><code class="tt-kernel"></code><span class="tt-launch"></span></div>
      <label><span class="tt-word">Block</span> <select class="tt-block"></select></label>
      <label><span class="tt-word">Thread</span> <select class="tt-thread"></select></label>
      <label><span class="tt-word">By</span> <select class="tt-unit" title="What one step is (u)"></select></label>
      <label><span class="tt-word">Speed</span> <select class="tt-speed" title="Speed (+ and −)"></select></label>
      <label><span class="tt-word">Text</span> <select class="tt-text" title="Size of the text ([ and ])"></select></label>
      <span class="tt-tools">
        <button type="button" class="tt-link" title="Copy a link to this step"></button>
        <button type="button" class="tt-picture" title="Save a picture" aria-expanded="false"></button>
        <button type="button" class="tt-help" title="Legend and keys (?)" aria-expanded="false">?</button>
        <button type="button" class="tt-full" title="Full screen (f)"></button>
      </span>
    </div>
    <div class="tt-controls" role="toolbar" aria-label="Playback">
      <button type="button" class="tt-start" title="To the start (Home)"></button>
      <button type="button" class="tt-back" title="One step back (←)"></button>
      <button type="button" class="tt-play" title="Play (space)"></button>
      <button type="button" class="tt-forward" title="One step (→)"></button>
      <button type="button" class="tt-next" title="To the next barrier (n; back with p)"></button>
      <button type="button" class="tt-end" title="To the end (End)"></button>
      <button type="button" class="tt-fault" title="To the next finding (e; back with E)"></button>
      <div class="tt-timeline">
        <div class="tt-heads"><div class="tt-labels"></div><span class="tt-order">order is not time</span></div>
        <div class="tt-scrub" role="slider" tabindex="0" aria-label="Step" aria-valuemin="0">
          <canvas class="tt-warps"></canvas><div class="tt-ticks"></div><i class="tt-position"></i>
        </div>
        <div class="tt-part"><i class="tt-window"></i></div>
      </div>
      <span class="tt-zooms">
        <button type="button" class="tt-zoom-out" title="Zoom out of the timeline (Z)">−</button>
        <button type="button" class="tt-zoom-in" title="Zoom into the timeline (z)">+</button>
      </span>
      <span class="tt-phase"></span>
      <output class="tt-count"></output>
    </div>
    <div class="tt-say" role="status" aria-live="polite"></div>
  </div>
  <div class="tt-body">
    <div class="tt-main">
      <div class="tt-left">
        <div class="tt-views"><div class="tt-tabs" role="tablist" aria-label="Views"></div>
          <label class="tt-matching" title="What both runs do at the same time; a run that is there first waits">
            <span>Match by</span> <select class="tt-match"></select> <span class="tt-matched tt-soft"></span></label></div>
        <div class="tt-lens" tabindex="0" role="group" aria-label="The chosen view"></div></div>
      <div class="tt-right"></div>
    </div>
    <div class="tt-legend"></div>
  </div>
  <form class="tt-saving" aria-label="Save a picture" hidden>
    <label>Save as <select name="kind"><option>PNG</option><option>SVG</option><option>GIF</option></select></label>
    <label>step <input name="first" type="number" min="0" required /></label>
    <label class="tt-until">to <input name="last" type="number" min="0" required /></label>
    <button type="submit" class="tt-save">Save</button>
    <button type="button" class="tt-close" aria-label="Close (Esc)">×</button>
    <p role="status"></p>
  </form>
  <div class="tt-keys" role="dialog" aria-label="Legend and keys" tabindex="0" hidden>
    <button type="button" class="tt-close" aria-label="Close (Esc)">×</button>
    <div class="tt-heading">Colours and marks in this picture</div><div class="tt-marks"></div>
    <div class="tt-heading">Keys</div><div class="tt-key-list"></div>
    <div class="tt-heading">Words</div><dl class="tt-words"></dl>
  </div>`;

const RUN = `
  <div class="tt-memory" tabindex="0" role="group">
    <div class="tt-magnified"><code class="tt-now-line"></code><div class="tt-parts"></div></div>
    <div class="tt-product" role="group" aria-label="Global memory: the matrices">
      <div class="tt-callout"></div>
    </div>
    <div class="tt-row">
      <div class="tt-others"><div class="tt-heading">Global memory</div><div class="tt-row"></div></div>
      <div class="tt-shared"><div class="tt-heading">Shared memory</div><div class="tt-row"></div></div>
      <div class="tt-accumulators"><div class="tt-heading"></div><div class="tt-row"></div></div>
      <div class="tt-locals"><div class="tt-heading"></div><div class="tt-row"></div></div>
    </div>
  </div>
  <div class="tt-program">
    <div class="tt-source" tabindex="0" role="group"></div>
    <div class="tt-row tt-state">
      <div class="tt-registers"><div class="tt-heading"></div><div class="tt-scroll" tabindex="0" role="group"><dl></dl></div></div>
      <div class="tt-traffic"><div class="tt-heading">Accesses so far</div><table></table></div>
    </div>
  </div>`;

/** The contents of the page before there is a trace. @param {HTMLElement} root */
export function layOut(root) {
  root.innerHTML = FRAME;
  part(root, "legend").append(...legend());
  part(root, "full").append(icon("full"));
}

/** One run on the stage. */
export class Run {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {import("./panel.js").Context["choose"]} choose
   * @param {import("./panel.js").Context["offers"]} offers
   * @param {string} name
   */
  constructor(trace, choose, offers, name) {
    this.trace = trace;
    this.node = html("div");
    this.node.innerHTML = RUN;
    if (name) {
      part(this.node, "memory").prepend(html("div", { class: "tt-run-name" }, trace.name));
      part(this.node, "product").before(html("div", { class: "tt-run-name tt-run-again" }, trace.name));
    }
    part(this.node, "memory").setAttribute("aria-label", `Memory${name}`);
    part(this.node, "source").setAttribute("aria-label", `Source${name}`);
    this.memory = part(this.node, "memory");
    this.program = part(this.node, "program");
    /** @type {import("./panel.js").View[]}  of this run alone */
    this.lenses = [];
    /** @type {import("./panel.js").Context} */
    this.context = { trace, machine: new Machine(trace, 0, 0), other: null, choose, offers };
    this.views = PANELS.filter((panel) => panel.wants(trace)).map((panel) => panel.build(this.node, this.context));
  }

  /**
   * @param {number} blockNumber
   * @param {number} thread
   */
  choose(blockNumber, thread) {
    const { context, trace } = this;
    blockNumber = Math.min(blockNumber, trace.blocks.length - 1);
    thread = Math.min(thread, trace.threads - 1);
    if (context.machine.blockNumber === blockNumber) context.machine.choose(thread);
    else context.machine = new Machine(trace, blockNumber, thread);
  }
}

/** The panels of the traces: everything that stays the same from step to step is built once. */
export class Stage {
  /**
   * @param {HTMLElement} root
   * @param {import("./trace.js").Trace[]} traces
   * @param {{choose: (choice: import("./panel.js").Choice, run: number) => void, open: (lens: string) => void}} actions
   * @param {string[] | null} panels  the lenses that are offered, all of them without a list; findings always are
   * @param {import("./timeline.js").Timeline} timeline
   */
  constructor(root, traces, actions, panels, timeline) {
    this.root = root;
    this.timeline = timeline;
    this.offers = (/** @type {string} */ lens) => !panels || lens === findings.name || panels.includes(lens);
    const [trace, beside] = traces;
    this.trace = trace;
    if (trace.kernel === beside?.kernel) traces.forEach((one, i) => (one.name = `${one.kernel} (${i + 1})`));
    const names = traces.map(({ name }) => name).join(" beside ");
    write(part(root, "kernel"), traces.map(({ name }) => name).join(" | "));
    write(part(root, "launch"), `grid ${trace.label(trace.grid)} × block ${trace.label(trace.block)}`);
    const number = [...document.querySelectorAll(".tt-place")].findIndex((place) => place.contains(root)) + 1;
    root.setAttribute("aria-label", `Stepper ${number || ""} of the kernel ${names}`);
    /** @type {(value: number, text: string) => HTMLElement} */
    const option = (value, text) => html("option", { value }, text);
    part(root, "block").replaceChildren(...trace.blocks.map((b, i) => option(i, trace.label(b.at))));
    part(root, "thread").replaceChildren(
      ...Array.from({ length: trace.threads }, (_, i) => option(i, trace.threadLabel(i))),
    );
    part(root, "fault").style.display = traces.some(({ findings }) => findings.length) ? "" : "none";
    const body = part(root, "body");
    for (const old of root.querySelectorAll(".tt-memory, .tt-program, .tt-ask")) old.remove();
    this.runs = traces.map((one, run) => {
      const choose = (/** @type {import("./panel.js").Choice} */ choice) => actions.choose(choice, run);
      return new Run(one, choose, this.offers, beside ? ` of ${one.name}` : "");
    });
    root.toggleAttribute("data-two", Boolean(beside));
    part(root, "matching").hidden = !beside;
    body.toggleAttribute("data-compare", Boolean(beside));
    const product = beside && trace.owned.length && String(trace.arrays[trace.owner].shape) === String(beside.arrays[beside.owner]?.shape);
    this.matches = MATCHES.filter((match) => match !== "element" || product);
    part(root, "match").replaceChildren(...this.matches.map((match) => html("option", { value: match }, match === "element" ? `element of ${trace.arrays[trace.owner].name}` : match)));
    this.match = "statement";
    this.alignment = this.meet();
    this.lenses(actions.open);
    this.compact = false;
    this.lens = "";
    this.held = { place: "", height: 0 };
    /** @type {HTMLElement[]}  for each run, the sentence of its step and its findings */
    this.said = [];
    part(root, "body").style.minHeight = "";
    this.asked = ""; // the lens that the reader chose; if empty, the size of the page decides
    /** @type {Set<string>}  lenses that do not show the chosen block and thread yet */
    this.stale = new Set();
    this.arrange();
    for (const node of root.querySelectorAll(".tt-main .tt-heading, .tt-head .tt-word")) {
      for (const [name, value] of Object.entries(tip(node.textContent ?? ""))) node.setAttribute(name, value);
    }
  }

  /** Tell each of two runs of the other; returns their common steps. */
  meet() {
    const machines = this.runs.map(({ context }) => context.machine);
    this.runs.forEach(({ context }, run) => (context.other = machines[1 - run] ?? null));
    return new Alignment(machines, this.match);
  }

  /** Fill the legend with what the picture shows now. */
  explain() {
    const planes = this.runs.flatMap((run) => run.views.flatMap((view) => {
      const { grids = [], variables = [] } = /** @type {Record<string, any[]>} */ (view.state?.() ?? {});
      return [...grids, ...variables];
    }));
    const arrays = this.runs.flatMap(({ trace }) => trace.arrays);
    const names = new Set(arrays.map(({ name }) => name));
    const variables = planes.map(({ name }) => name.replace(/\[\d+\]$/, "")).filter((name) => !names.has(name));
    const rows = /** @type {[string, import("./strips.js").Span[]][]} */ (
      this.lens === waits.name ? this.runs.flatMap(({ lenses }) => lenses.flatMap((view) => view.state?.().strips ?? [])) : []
    );
    const spans = [...this.timeline.strips, ...rows.map(([, spans]) => ({ spans }))].flatMap((row) => row.spans);
    const kinds = new Set(spans.map(([, , what]) => what.split(" ")[0]));
    part(this.root, "marks").replaceChildren(...marksOf(planes, arrays, variables), ...marksIn(this.root, kinds));
    part(this.root, "words").replaceChildren(...wordsOn(this.root));
  }

  /** One run: its memory on the left, its program and a lens on the right. Two: a column each, the lens above. */
  arrange() {
    const { root, runs, compact } = this;
    const [left, right] = [part(root, "left"), part(root, "right")];
    const [tabs, lens] = [part(root, "views"), part(root, "lens")];
    const [first, second] = runs.map(({ memory, program }) => [memory, program]);
    if (second) {
      part(root, "body").prepend(tabs, lens);
      left.append(...first);
      right.append(...second);
    } else if (compact) {
      left.append(tabs, lens, first[0]);
      right.append(first[1]);
    } else {
      left.append(first[0], part(root, "legend"));
      right.append(first[1], tabs, lens);
    }
  }

  get machine() {
    return this.runs[0].context.machine;
  }

  /**
   * The tabs, and a place for each lens and run.
   * @param {(lens: string) => void} open
   */
  lenses(open) {
    const { root, runs } = this;
    /** @type {Map<string, {tab: HTMLElement, node: HTMLElement, views: import("./panel.js").View[]}>} */
    this.open = new Map();
    const id = `tt-${Math.random().toString(36).slice(2)}`;
    const wanted = LENSES.filter((lens) => this.offers(lens.name) && runs.some((run) => lens.wants(run.trace)));
    if (runs.length > 1) wanted.unshift(compare);
    const tabs = [{ name: "arrays", title: "Arrays" }, ...wanted].map(({ name, title }) => {
      const tab = html("button", { type: "button", role: "tab", class: `tt-tab-${name}`, id: `${id}-${name}`, ...tip(title) }, title);
      tab.addEventListener("click", ({ detail }) => {
        open(name);
        if (detail) root.focus({ preventScroll: true }); // by mouse: the arrows go on stepping
      });
      const node = html("div", { class: `tt-lens-${name}`, role: "tabpanel", "aria-labelledby": tab.id, hidden: "" });
      /** @type {import("./panel.js").View[]} */
      const views = [];
      this.open.set(name, { tab, node, views });
      return tab;
    });
    for (const lens of wanted) {
      const { node, views } = /** @type {{node: HTMLElement, views: import("./panel.js").View[]}} */ (this.open.get(lens.name));
      if (lens === compare) views.push(compare.build(node, runs[0].context));
      else for (const run of runs) {
        const place = html("div", { class: "tt-lens-run" });
        if (runs.length > 1) place.append(html("div", { class: "tt-heading" }, run.trace.name));
        node.append(place);
        if (!lens.wants(run.trace)) {
          place.append(html("p", {}, lens.none ?? ""));
          continue;
        }
        run.lenses.push(lens.build(place, run.context));
        views.push(run.lenses[run.lenses.length - 1]);
      }
    }
    part(root, "tabs").replaceChildren(...tabs);
    part(root, "lens").replaceChildren(...[...this.open.values()].map(({ node }) => node));
  }

  /** The names of the lenses, in their order. */
  get names() {
    return [...this.open.keys()].filter((name) => this.compact || name !== "arrays");
  }

  /**
   * Show another lens; if there is room, the arrays remain visible beside it.
   * @param {string} name
   */
  look(name) {
    this.asked = name;
    const first = this.runs.length > 1 ? "compare" : this.compact ? "arrays" : this.trace.findings.length ? "findings" : "warp";
    const lens = [name, first].find((one) => this.names.includes(one)) ?? this.names[0] ?? "arrays";
    this.lens = lens;
    for (const [one, { tab, node }] of this.open) {
      node.hidden = one !== lens;
      tab.setAttribute("aria-selected", String(one === lens));
      tab.tabIndex = one === lens ? 0 : -1;
      tab.hidden = one === "arrays" && !this.compact;
    }
    part(this.root, "tabs").hidden = this.names.length < 2 && lens === "arrays";
    part(this.root, "lens").hidden = lens === "arrays";
    const body = part(this.root, "body");
    body.dataset.lens = lens;
    body.toggleAttribute("data-strip", this.strip);
    if (!this.compact || this.runs.length > 1) return;
    const [{ memory }] = this.runs;
    const place = part(this.root, this.strip ? "right" : "left"); // below the source
    if (memory.parentElement !== place) place.append(memory);
  }

  /** Whether a view is beside what the line touches, magnified, in place of the matrices. */
  get strip() {
    return this.compact && (this.lens === fragments.name || this.lens === compare.name);
  }

  /** Adapt to the size of the page. */
  fit() {
    const { root } = this;
    const em = Number.parseFloat(getComputedStyle(root).fontSize);
    // the stylesheet leaves room for a notebook's bars, and a slide for its heading; a full screen has no limit
    const tall = Number.parseFloat(getComputedStyle(root).maxHeight) || window.innerHeight;
    // of two runs either the matrices or a lens, so that the matrices are as large as one run's
    const compact = this.runs.length > 1 || tall < ROOMY_HEIGHT * em || root.clientWidth < ROOMY_WIDTH * em;
    root.toggleAttribute("data-compact", compact);
    this.hold(compact, em);
    this.timeline.look();
    if (compact !== this.compact) {
      this.compact = compact;
      this.arrange();
      this.look(this.asked);
      if (this.said.length) this.views.forEach((view) => view.draw()); // not before the first step is chosen
    }
    for (const run of this.runs) {
      this.measure();
      const padding = 2 * Number.parseFloat(getComputedStyle(run.memory).paddingLeft);
      const lens = (part(root, "lens").clientWidth - (this.runs.length - 1) * BETWEEN * em) / this.runs.length;
      const narrow = root.clientWidth <= NARROW * em;
      const height = narrow ? Math.max(16 * em, ON_A_PHONE * window.innerHeight) : this.heightOfProduct(run, em);
      const size = { compact, narrow, two: this.runs.length > 1, strip: this.strip, width: (narrow ? part(root, "main") : run.memory).clientWidth - padding, height, lens, em };
      for (const view of run.views) view.fit?.(size);
      for (const view of this.open.get(this.lens)?.views ?? []) view.fit?.(size);
    }
    for (const view of this.views) view.scroll?.();
  }

  /** Tell the stylesheet how high the place below the bar is; a long sentence takes some of it. */
  measure() {
    const room = `${part(this.root, "body").clientHeight}px`;
    if (this.root.style.getPropertyValue("--tt-room") !== room) this.root.style.setProperty("--tt-room", room);
  }

  /**
   * The largest height of a run's matrices, in pixels.
   * @param {Run} run
   * @param {number} em
   */
  heightOfProduct(run, em) {
    const { compact, root, runs } = this;
    if (runs.length > 1) return part(root, "left").clientHeight - 0.6 * em;
    if (compact) return part(root, "left").clientHeight - part(root, "tabs").offsetHeight - em;
    return Math.max(20 * em, 0.55 * part(root, "body").clientHeight);
  }

  /**
   * Keep the page from shrinking from one step to the next, as long as its width is the same.
   * @param {boolean} compact
   * @param {number} em
   */
  hold(compact, em) {
    const { root } = this;
    const body = part(root, "body");
    const place = [compact, em, root.clientWidth, window.innerHeight, document.fullscreenElement === root].join();
    if (place !== this.held.place) {
      body.style.minHeight = "";
      this.held = { place, height: 0 };
    }
    if (compact || body.offsetHeight <= this.held.height) return;
    this.held.height = body.offsetHeight;
    body.style.minHeight = `${body.offsetHeight}px`;
  }

  /** Adapt to the colours of the theme. */
  repaint() {
    this.timeline.look();
    for (const { views } of [...this.runs, ...this.open.values()]) for (const view of views) view.repaint?.();
  }

  /**
   * The contents of the page for a run, as course_lib/trace/viewer/scene.py describes them.
   * @param {number} number
   */
  state(number) {
    const run = this.runs[number];
    for (const view of run.lenses) view.choose(); // including hidden ones
    for (const view of run.lenses) view.draw();
    const [says, ...findings] = [...this.said[number].children].map((node) => node.textContent);
    const phase = part(this.root, "phase").textContent;
    const { blockNumber, length, position, thread, trace } = run.context.machine;
    const where = [trace.blocks[blockNumber].at, thread, position, length];
    const title = ["kernel", "launch", "count"].map((name) => part(this.root, name).textContent);
    const legend = [...part(this.root, "marks").children].map(({ textContent }) => textContent);
    const shared = number ? [] : (this.open.get(compare.name)?.views ?? []);
    for (const view of shared) view.choose();
    for (const view of shared) view.draw();
    return Object.assign({ where, title, says, legend, findings, phase, ...this.timeline.state(number) }, ...[...run.views, ...run.lenses, ...shared].map((view) => view.state?.() ?? {}));
  }

  /** The visible views. */
  get views() {
    return [...this.runs.flatMap((run) => run.views), ...(this.open.get(this.lens)?.views ?? [])];
  }

  /**
   * @param {number} blockNumber
   * @param {number} thread
   * @param {string} match  what two runs are matched by
   */
  choose(blockNumber, thread, match) {
    const { root, runs } = this;
    const [first, second] = runs;
    this.match = this.matches.includes(match) ? match : "statement";
    first.choose(blockNumber, thread);
    second?.choose(...partner(first.trace, second.trace, [blockNumber, thread], this.match));
    this.alignment = this.meet();
    /** @type {HTMLSelectElement} */ (part(root, "match")).value = this.match;
    const { completed, matched } = this.alignment;
    write(part(root, "matched"), this.match === "statement" ? "" : `${matched} matched, of ${completed.join(" and ")}`);
    /** @type {HTMLSelectElement} */ (part(root, "block")).value = String(blockNumber);
    /** @type {HTMLSelectElement} */ (part(root, "thread")).value = String(thread);
    const here = String(this.machine.block.at);
    const found = this.places.flatMap(({ block, step }) => (String(block) === here ? [step] : []));
    const phases = runs.length > 1 ? 0 : this.machine.block.phases[this.machine.thread >> 5]?.length;
    // room for the longest texts, so that the timeline beside them keeps its width
    const room = { count: `step ${this.last} of ${this.last}`, phase: phases ? `warp 0: phase ${phases} of ${phases}, compute` : "" };
    for (const [name, longest] of Object.entries(room)) part(root, name).style.minWidth = `${0.9 * longest.length}ch`;
    this.timeline.choose(runs, this.last, found, (run, position) => this.alignment.step(run, position));
    for (const run of runs) for (const view of run.views) view.choose();
    this.stale = new Set(this.open.keys());
  }

  /**
   * The runs' findings, each at the access that caused it, in the order of blocks and steps: the block and thread of the
   * first run, and the common step, which in another block is that of the run.
   * @returns {{block: readonly number[], thread: readonly number[], step: number, run: number, position: number}[]}
   */
  get places() {
    const here = String(this.machine.block.at);
    const places = this.runs.flatMap(({ trace }, run) =>
      trace.findings.flatMap(({ at: [place] }) => {
        if (!place) return [];
        const who = this.ofFirst(run, { block: trace.blocks[place.block].at, thread: trace.threadPosition(place.thread) });
        const step = String(who.block) === here ? this.alignment.step(run, place.step) : place.step;
        return [{ .../** @type {{block: readonly number[], thread: readonly number[]}} */ (who), step, run, position: place.step }];
      }),
    );
    return places.sort((x, y) => this.order(x) - this.order(y) || x.step - y.step);
  }

  /**
   * The number of a place's block in the launch.
   * @param {{block: readonly number[]}} place
   */
  order({ block: [x, y, z] }) {
    const [gx, gy] = this.trace.grid;
    return x + gx * (y + gy * z);
  }

  /**
   * A choice in one of the runs as the first run's block and thread that belong to it.
   * @param {number} run
   * @param {import("./panel.js").Choice} choice
   */
  ofFirst(run, { block, thread }) {
    const [{ trace: first }, { trace, context }] = [this.runs[0], this.runs[run]];
    const { blockNumber, thread: now } = context.machine;
    const chosen = [block ? trace.blockNumber(block) : blockNumber, thread ? trace.threadNumber(thread) : now];
    const [number, who] = run ? partner(trace, first, /** @type {[number, number]} */ (chosen), this.match) : chosen;
    return { block: first.blocks[number].at, thread: first.threadPosition(who) };
  }

  /** The last common step. */
  get last() {
    return this.alignment.last;
  }

  /**
   * Show what the step of a run did, and its findings.
   * @param {Run} run
   */
  says({ context: { machine }, trace }) {
    const first = this.machine;
    const same = machine.blockNumber === first.blockNumber && machine.thread === first.thread;
    const where = same ? "" : `, block ${trace.label(machine.block.at)}, thread ${trace.threadLabel(machine.thread)}`;
    const at = `${where}, step ${machine.position} of ${machine.length}: `;
    const who = this.runs.length > 1 ? [html("code", {}, trace.name), at] : [];
    const found = machine.found.map(({ kind, message }) => [html("b", {}, kind), `: ${message}`]);
    const wrong = wrongNow(machine).map((text) => [text]);
    return html(
      "div",
      {},
      html("p", { class: "tt-sentence" }, ...who, ...sentence(machine)),
      ...[...found, ...wrong].map((words) => html("p", { class: "tt-wrong" }, ...words)),
    );
  }

  /** @param {number} step */
  draw(step) {
    const { machine, root } = this;
    this.alignment.positions(step).forEach((position, run) => this.runs[run].context.machine.seek(position));
    this.timeline.draw(step);
    write(part(root, "count"), `step ${step} of ${this.last}`);
    write(part(root, "phase"), this.runs.length === 1 ? machine.phase : "");
    if (this.stale.delete(this.lens)) for (const view of this.open.get(this.lens)?.views ?? []) view.choose();
    for (const view of this.views) view.draw();
    this.said = this.runs.map((run) => this.says(run));
    part(root, "say").replaceChildren(...this.said);
    this.measure();
    for (const view of this.views) view.scroll?.();
    if (!part(root, "keys").hidden) this.explain();
  }
}
