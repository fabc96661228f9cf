// The scene: the layout of the page, and the panels of one run, or of two beside each other.

import { setAttributes, html, icon, part, setText } from "./dom.js";
import { BlockAnimation } from "./animation.js";
import { frameSentence } from "./captions.js";
import { ARRANGEMENTS, picturesFirst, STACKED } from "./layout.js";
import { marksIn, marksOf, wordsOn } from "./legend.js";
import { Replay } from "./replay.js";
import { finish } from "./summary.js";
import { Banks } from "./panels/banks.js";
import { Compare } from "./panels/compare.js";
import { Counter } from "./panels/counter.js";
import { Findings } from "./panels/findings.js";
import { Fragments } from "./panels/fragments.js";
import { Launch } from "./panels/launch.js";
import { Picture } from "./panels/picture.js";
import { Registers } from "./panels/registers.js";
import { Source } from "./panels/source.js";
import { Tracks } from "./panels/tracks.js";
import { Waits } from "./panels/waits.js";
import { Warp } from "./panels/warp.js";
import { tip } from "./terms.js";
import { sentence, halfIndented, wrongNow } from "./text.js";
import { Alignment, threadOfSameElement } from "./alignment.js";

const PARTS = [Picture, Source, Registers, Counter];
const PANELS = [Findings, Warp, Banks, Fragments, Waits, Launch];
const BESIDE = 70; // ems of a page on which an open view is beside the picture, not below it
const SHARE = 0.42; // of the page for an open view
const PHONE = 40; // ems of a page in one column
const PICTURE = 18; // ems of the height of each of two pictures below each other, at least: both are in sight on a phone
const COUNTER = 3.8; // ems of the counter's number and bar
const LINE = 1.25; // ems of a line of the counter, or of a run's name
const BARS = 130; // pixels of a notebook's, as the stylesheet has them
const BETWEEN = 1.5; // ems between the pictures and the panels of two runs, as the stylesheet has it

const FRAME = `
  <div class="tt-bar">
    <div class="tt-controls" role="toolbar" aria-label="Playback">
      <code class="tt-kernel"></code>
      <span class="tt-transport">
        <button type="button" class="tt-start" title="To the start (Home)"></button>
        <button type="button" class="tt-back" title="Back (←)"></button>
        <button type="button" class="tt-play" title="Play (space)"></button>
        <button type="button" class="tt-forward" title="On (→)"></button>
        <button type="button" class="tt-end" title="To the end (End)"></button>
        <button type="button" class="tt-next-finding" title="To the next finding (e; back with E)"></button>
      </span>
      <button type="button" class="tt-mode"></button>
      <div class="tt-timeline">
        <div class="tt-heads"><div class="tt-labels"></div></div>
        <div class="tt-scrub" role="slider" tabindex="-1" aria-label="Step" aria-valuemin="0">
          <canvas class="tt-warps"></canvas><div class="tt-ticks"></div><i class="tt-position"></i>
        </div>
      </div>
      <output class="tt-count"></output>
      <button type="button" class="tt-menu" title="Menu" aria-expanded="false" aria-haspopup="true">☰</button>
    </div>
    <div class="tt-status" role="status" aria-live="polite"></div>
  </div>
  <div class="tt-choices" role="group" aria-label="Menu" hidden>
    <button type="button" class="tt-close" aria-label="Close (Esc)">×</button>
    <p class="tt-launch"></p>
    <label>Block <select class="tt-block"></select></label>
    <label>Thread <select class="tt-thread"></select></label>
    <label>A step is <select class="tt-unit"></select></label>
    <label>Speed <select class="tt-speed"></select></label>
    <span class="tt-tools">
      <button type="button" class="tt-link" title="Copy a link to this step"></button>
      <button type="button" class="tt-help" title="Legend and keys (?)" aria-expanded="false">?</button>
      <button type="button" class="tt-full" title="Full screen (f)"></button>
    </span>
  </div>
  <div class="tt-body">
    <div class="tt-scene">
      <div class="tt-main"></div>
      <div class="tt-tracks" role="img" aria-label="When loads are under way, and when the block multiplies"></div>
    </div>
    <div class="tt-panel" tabindex="0" role="group" aria-label="The chosen view"></div>
  </div>
  <div class="tt-tabs" role="group" aria-label="Views"></div>
  <div class="tt-keys" role="dialog" aria-label="Legend and keys" tabindex="0" hidden>
    <button type="button" class="tt-close" aria-label="Close (Esc)">×</button>
    <div class="tt-heading">Colours and marks in this picture</div><div class="tt-marks"></div>
    <div class="tt-heading">Keys</div><div class="tt-key-list"></div>
    <div class="tt-heading">Words</div><dl class="tt-words"></dl>
  </div>`;

const RUN = `
  <div class="tt-memory" role="group"></div>
  <div class="tt-program">
    <div class="tt-source" role="group"></div>
  </div>
  <div class="tt-counter"></div>`;

/** The contents of the page before there is a trace. @param {HTMLElement} root */
export function layOut(root) {
  root.innerHTML = FRAME;
  part(root, "full").append(icon("full"));
}

/**
 * Read a block of a trace, in pieces: its replay in the recorded order, its animation, and the replay in the
 * animation's order.
 * @param {import("./trace.js").Trace} trace
 * @param {number} blockNumber
 * @param {number} thread
 */
export function* replaysOf(trace, blockNumber, thread) {
  const replay = yield* Replay.making(trace.blocks[blockNumber], thread);
  const animation = yield* BlockAnimation.making(replay.block);
  const frameReplay = animation.recorded ? replay : yield* Replay.making(animation.block, thread);
  return { replay, animation, frameReplay };
}

/** One run in the scene. */
export class Run {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {{replay: Replay, animation: BlockAnimation, frameReplay: Replay}} block
   * @param {Pick<import("./panel.js").Context, "choose" | "offers" | "step" | "tiles">} actions
   * @param {string} ofKernel  after the names of its parts, where there are two runs
   */
  constructor(trace, { replay, animation, frameReplay }, actions, ofKernel) {
    this.trace = trace;
    this.node = html("div", { class: "tt-run" });
    this.node.innerHTML = RUN;
    for (const name of ["memory", "counter"]) part(this.node, name).dataset.kernel = trace.name;
    part(this.node, "memory").setAttribute("aria-label", `Memory${ofKernel}`);
    part(this.node, "source").setAttribute("aria-label", `Source${ofKernel}`);
    /** @type {import("./panel.js").View[]}  of this run alone */
    this.panels = [];
    /** @type {import("./panel.js").Context} */
    this.context = { trace, replay, other: null, frame: null, ...actions };
    this.replay = replay; // in the recorded order
    this.animation = animation;
    this.frameReplay = frameReplay; // in that of the animation
    /** @type {import("./panel.js").View[]} */
    this.views = PARTS.map((Part) => new Part(part(this.node, Part.at), this.context));
  }

  /** The characters of each line of the source, without its comment and with it. @returns {[number, number][]} */
  get lengths() {
    return this.trace.source.map(([, text]) => [
      halfIndented(text).replace(/\s*#.*/, "").length,
      halfIndented(text).length,
    ]);
  }

  get picture() {
    return /** @type {Picture} */ (this.views[0]);
  }

  get counter() {
    return /** @type {Counter} */ (this.views[3]);
  }

  /** Put everything where the picture's arrangement has it. @param {import("./layout.js").Layout} layout @param {number} width */
  place({ code, counter, height }, width) {
    place(part(this.node, "program"), code);
    place(part(this.node, "counter"), counter);
    Object.assign(this.node.style, { width: `${width}px`, height: `${height}px` });
  }

  /** @param {number} blockNumber @param {number} thread */
  choose(blockNumber, thread) {
    const { context, trace } = this;
    blockNumber = Math.min(blockNumber, trace.blocks.length - 1);
    thread = Math.min(thread, trace.threads - 1);
    if (this.replay.blockNumber === blockNumber)
      for (const replay of new Set([this.replay, this.frameReplay])) replay.choose(thread);
    else Object.assign(this, finish(replaysOf(trace, blockNumber, thread)));
    context.replay = this.replay;
  }

  /** Show a frame of the animation, or the start. @param {number} number */
  show(number) {
    const { context, animation } = this;
    context.frame = animation.frames[number] ?? null;
    context.replay = this.frameReplay;
    if (context.frame) this.frameReplay.show(context.frame, (step) => animation.frameAt(step) === number);
    else this.frameReplay.seek(0);
  }

  /**
   * Show a step.
   * @param {number} position
   * @param {boolean} alone  whether only what the chosen thread accesses is lit
   */
  seek(position, alone) {
    const { context } = this;
    context.frame = null;
    context.replay = this.replay;
    this.replay.seek(position);
    if (alone) this.replay.marked = this.replay.markedByThread;
  }
}

/** The panels of the traces: everything that stays the same from step to step is built once. */
export class Scene {
  /**
   * @param {HTMLElement} root
   * @param {import("./trace.js").Trace[]} traces
   * @param {{replay: Replay, animation: BlockAnimation, frameReplay: Replay}[]} blocks  of each trace
   * @param {{choose: (choice: import("./panel.js").Choice, run: number) => void, open: (panel: string) => void, into: () => void, step: (way: number) => void, tiles: import("./handle.js").Tiles | null}} actions
   * @param {string[] | null} panels  the panels that are offered, all of them without a list; findings always are
   * @param {import("./timeline.js").Timeline} timeline
   */
  constructor(root, traces, blocks, actions, panels, timeline) {
    this.root = root;
    this.timeline = timeline;
    this.offers = (/** @type {string} */ panel) => !panels || panel === Findings.id || panels.includes(panel);
    const [trace, second] = traces;
    this.trace = trace;
    if (trace.kernel === second?.kernel) traces.forEach((one, i) => (one.name = `${one.kernel} (${i + 1})`));
    this.nameAll(traces);
    this.runs = traces.map((one, run) => {
      const { step } = actions;
      const choose = (/** @type {import("./panel.js").Choice} */ choice) => actions.choose(choice, run);
      const tiles = run ? null : actions.tiles;
      return new Run(one, blocks[run], { choose, offers: this.offers, step, tiles }, second ? ` of ${one.name}` : "");
    });
    const hasFindings = traces.some(({ findings, wanted }) => findings.length || Object.keys(wanted).length);
    root.toggleAttribute("data-two", Boolean(second));
    root.toggleAttribute("data-found", hasFindings);
    part(root, "main").replaceChildren(...this.runs.map(({ node }) => node));
    this.tracks = new Tracks(part(root, "tracks"), this.runs);
    /** What a step of two runs is: 0 for the common ones, 1 or 2 for the statements of a run. */
    this.statementsOf = 0;
    this.alignment = this.align();
    this.byFrames = true;
    this.size = ""; // of the root when all was placed
    this.sentence = { width: 0, height: 0 }; // the highest at a width of its place
    this.panel = ""; // that is open
    /** @type {HTMLElement[]}  for each run, the sentence of its step and its findings */
    this.texts = [];
    /** @type {Set<string>}  panels that do not show the chosen block and thread yet */
    this.stale = new Set();
    this.makePanels(actions.open);
    // a click on the picture of a whole frame leads to its statements
    for (const { node } of this.runs) node.addEventListener("dblclick", () => actions.into());
    for (const node of root.querySelectorAll(".tt-main .tt-heading")) setAttributes(node, tip(node.textContent ?? ""));
  }

  /** Write the names of kernels, blocks and threads into the page. @param {import("./trace.js").Trace[]} traces */
  nameAll(traces) {
    const { root, trace } = this;
    const names = traces.map(({ name }) => name);
    setText(part(root, "kernel"), names.join(" | "));
    setText(part(root, "launch"), `grid ${trace.label(trace.grid)} × block ${trace.label(trace.block)}`);
    const number = [...document.querySelectorAll(".tt-place")].findIndex((place) => place.contains(root)) + 1;
    root.setAttribute("aria-label", `Stepper ${number || ""} of the kernel ${names.join(" beside ")}`);
    const option = (/** @type {string} */ text, /** @type {number} */ value) => html("option", { value }, text);
    const threads = Array.from({ length: trace.threads }, (_, thread) => trace.threadLabel(thread));
    part(root, "block").replaceChildren(...trace.blocks.map(({ at }) => trace.label(at)).map(option));
    part(root, "thread").replaceChildren(...threads.map(option));
    part(root, "next-finding").style.display = traces.some(({ findings }) => findings.length) ? "" : "none";
  }

  /** Let each of two runs know the other; returns their common steps. */
  align() {
    const replays = this.runs.map(({ replay }) => replay);
    this.runs.forEach(({ context }, run) => (context.other = replays[1 - run] ?? null));
    return new Alignment(replays, this.statementsOf);
  }

  /** Fill the legend with what the picture shows now. */
  fillLegend() {
    const pictures = this.runs.flatMap(({ views }) => views.filter((view) => view instanceof Picture));
    const planes = pictures.flatMap(({ planes, threads }) => [...planes.flat(), ...threads.map(({ plane }) => plane)]);
    const variables = pictures.flatMap(({ threads }) => threads.map(({ name }) => name));
    const arrays = this.runs.flatMap(({ trace }) => trace.arrays);
    const rows = this.views.flatMap((view) => (view instanceof Waits ? (view.rows ?? []) : []));
    const spans = [...this.timeline.strips, ...rows].flatMap((row) => row.spans);
    const kinds = new Set(spans.map(([, , what]) => what.split(" ")[0]));
    part(this.root, "marks").replaceChildren(...marksOf(planes, arrays, variables), ...marksIn(this.root, kinds));
    part(this.root, "words").replaceChildren(...wordsOn(this.root));
  }

  get replay() {
    return this.runs[0].replay;
  }

  /** The tabs, and a place for each panel and run. @param {(panel: string) => void} open */
  makePanels(open) {
    const { root, runs } = this;
    /** @type {Map<string, {tab: HTMLElement, node: HTMLElement, views: import("./panel.js").View[]}>} */
    this.panels = new Map();
    const wanted = [
      ...(runs.length > 1 ? [Compare] : []),
      ...PANELS.filter((panel) => this.offers(panel.id) && runs.some((run) => panel.wants(run.trace))),
    ];
    wanted.forEach((Panel, i) => {
      const { id: name, title } = Panel;
      const tab = html(
        "button",
        { type: "button", class: `tt-tab-${name}`, "aria-expanded": "false", tabindex: i ? -1 : 0, ...tip(title) },
        title,
      );
      tab.addEventListener("click", () => open(this.panel === name ? "" : name));
      const node = html("div", { class: `tt-panel-${name}`, role: "group", "aria-label": title, hidden: "" });
      /** @type {import("./panel.js").View[]} */
      const views = [];
      this.panels.set(name, { tab, node, views });
      if (Panel === Compare) views.push(new Panel(node, runs[0].context));
      else
        for (const run of runs) {
          const place = html("div", { class: "tt-panel-run" });
          if (runs.length > 1) place.append(html("div", { class: "tt-heading" }, run.trace.name));
          node.append(place);
          if (!Panel.wants(run.trace)) {
            place.append(html("p", {}, Panel.none));
            continue;
          }
          views.push(new Panel(place, run.context));
          run.panels.push(views[views.length - 1]);
        }
    });
    const all = [...this.panels.values()];
    part(root, "tabs").replaceChildren(...all.map(({ tab }) => tab));
    part(root, "tabs").hidden = !all.length;
    part(root, "panel").replaceChildren(...all.map(({ node }) => node));
  }

  /** The names of the panels, in their order. */
  get panelNames() {
    return [...this.panels.keys()];
  }

  /** Open a panel, or close it without a name. @param {string} name */
  openPanel(name) {
    this.panel = this.panels.has(name) ? name : "";
    for (const [one, { tab, node }] of this.panels) {
      node.hidden = one !== this.panel;
      tab.setAttribute("aria-expanded", String(one === this.panel));
    }
    part(this.root, "panel").hidden = !this.panel;
    part(this.root, "body").dataset.panel = this.panel;
  }

  /** Adapt to the size of the page. @param {boolean} [resized]  whether only another size of the root is a reason */
  fit(resized = false) {
    const { root, runs } = this;
    if (resized && this.rootSize === this.size) return;
    const em = Number.parseFloat(getComputedStyle(root).fontSize);
    const narrow = root.clientWidth < PHONE * em;
    root.toggleAttribute("data-narrow", narrow);
    this.timeline.redraw();
    this.keepSentenceHeight();
    const place = this.placeOfRuns(em, narrow);
    const sizes = runs.map((run) => this.sizeOf(run, place, em, narrow));
    if (runs.length > 1) this.compareSizes(sizes, place.stacked);
    const layouts = runs.map(({ picture }, i) => picture.fit(sizes[i]));
    if (place.stacked) picturesFirst(layouts, (BETWEEN + LINE) * em);
    runs.forEach((run, i) => run.place(layouts[i], place.width));
    for (const view of this.panels.get(this.panel)?.views ?? []) view.fit?.(sizes[0]);
    for (const view of this.views) view.scroll?.();
    this.size = this.rootSize;
  }

  get rootSize() {
    return `${this.root.clientWidth} ${this.root.clientHeight}`;
  }

  /**
   * The place of each run, and of its panel, in pixels; ``stacked``: whether two pictures are below each other.
   * @param {number} em
   * @param {boolean} narrow  whether the page has one column
   */
  placeOfRuns(em, narrow) {
    const { panel, root, runs } = this;
    const body = part(root, "body");
    const style = getComputedStyle(body);
    const padding = (/** @type {"Left" | "Right" | "Top" | "Bottom"} */ side) =>
      Number.parseFloat(style[`padding${side}`]);
    const bars = ["bar", "tabs", "tracks"].reduce((sum, name) => sum + part(root, name).offsetHeight, 0);
    const whole = {
      width: root.clientWidth - padding("Left") - padding("Right"),
      height: this.availableHeight - bars - padding("Top") - padding("Bottom") - 2,
    };
    const panelBeside = panel !== "" && root.clientWidth >= BESIDE * em;
    const panelBelow = panel !== "" && !panelBeside && !narrow;
    body.toggleAttribute("data-beside", panelBeside);
    body.style.setProperty("--tt-panel-width", `${whole.width * SHARE}px`);
    const space = {
      width: panelBeside ? whole.width * (1 - SHARE) - em : whole.width,
      height: panelBelow ? whole.height * (1 - SHARE) - em : whole.height,
    };
    const gaps = (runs.length - 1) * BETWEEN * em;
    const oneColumn = narrow || runs.length === 1; // runs are below each other on a phone
    const stacked = narrow && runs.length > 1;
    const share = oneColumn ? (space.height - gaps) / runs.length : space.height;
    return {
      width: oneColumn ? space.width : (space.width - gaps) / 2,
      height: stacked ? PICTURE * em : share,
      panelWidth: panelBeside ? whole.width * SHARE : (whole.width - gaps) / runs.length,
      stacked,
    };
  }

  /**
   * What the picture of a run needs to know of its place.
   * @param {Run} run
   * @param {ReturnType<Scene["placeOfRuns"]>} place
   * @param {number} em
   * @param {boolean} narrow
   * @returns {import("./panel.js").Size}
   */
  sizeOf(run, { width, height, panelWidth, stacked }, em, narrow) {
    const countsShown = getComputedStyle(this.root).getPropertyValue("--tt-counts") !== "none"; // a slide may be too small for them
    const lines = run.counter.lines + Number(stacked); // with its kernel's name
    return {
      ...{ width, height, em, panelWidth, compared: this.runs.length > 1, pictureOnly: stacked },
      letters: Number.parseFloat(getComputedStyle(part(this.runs[0].node, "source")).fontSize),
      counter: countsShown && run.animation.fetched ? lines * LINE + COUNTER : 0,
      lines: run.lengths,
      ...(narrow && !run.picture.tiled && { arrangement: STACKED }), // a counter beside the matrices would take half of their width
    };
  }

  /**
   * Give two runs one arrangement, that in which the one with less room has most of it, and one scale.
   * @param {import("./panel.js").Size[]} sizes  which are changed
   * @param {boolean} stacked
   */
  compareSizes(sizes, stacked) {
    const { runs } = this;
    const arranged = (/** @type {Partial<import("./panel.js").Size>} */ more) =>
      runs.map(({ picture }, i) => picture.arranged({ ...sizes[i], ...more }));
    const strict = arranged({}).some(({ legible }) => !legible);
    const candidates = (stacked ? [STACKED] : ARRANGEMENTS).map((arrangement) => ({
      arrangement,
      layouts: arranged({ strict, arrangement }),
    }));
    candidates.sort((x, y) => quality(y.layouts, y.arrangement) - quality(x.layouts, x.arrangement));
    const [{ arrangement, layouts }] = candidates;
    // beside another run with tiles, one without them has more room for the matrices
    const oneScale = stacked || runs[0].picture.tiled === runs[1].picture.tiled;
    const scales = layouts.map(({ product }) => product?.A.scale ?? Infinity);
    const largest = oneScale ? Math.min(...scales) : Infinity;
    for (const size of sizes) Object.assign(size, { strict, largest, arrangement });
  }

  /** Keep the room that the longest sentence so far needs: the picture must not change its size from step to step. */
  keepSentenceHeight() {
    const status = part(this.root, "status");
    const width = status.clientWidth;
    if (this.sentence.width !== width) this.sentence = { width, height: 0 };
    status.style.minHeight = "";
    this.sentence.height = Math.max(this.sentence.height, status.offsetHeight);
    status.style.minHeight = `${this.sentence.height}px`;
  }

  /** The height that a notebook leaves with its bars, and a slide with its heading; a full screen has all. */
  get availableHeight() {
    const { root } = this;
    if (document.fullscreenElement === root) return window.innerHeight;
    return Number.parseFloat(getComputedStyle(root).getPropertyValue("--tt-tall")) || window.innerHeight - BARS;
  }

  /** Adapt to the colours of the theme. */
  repaint() {
    this.timeline.redraw();
    for (const { views } of [...this.runs, ...this.panels.values()]) for (const view of views) view.repaint?.();
  }

  /** The visible views. */
  get views() {
    return [...this.runs.flatMap((run) => run.views), ...(this.panels.get(this.panel)?.views ?? [])];
  }

  /** @param {number} blockNumber @param {number} thread */
  choose(blockNumber, thread) {
    const { root, runs } = this;
    const [first, second] = runs;
    first.choose(blockNumber, thread);
    second?.choose(...threadOfSameElement(first.trace, second.trace, [blockNumber, thread]));
    this.alignment = this.align();
    setAttributes(part(root, "mode"), {
      title: second
        ? `A step is ${this.units[this.statementsOf]}: both kernels are shown after the same ${this.alignment.unit} (u)`
        : "What a step is (u)",
    });
    const unit = /** @type {HTMLSelectElement} */ (part(root, "unit"));
    if (second) {
      unit.replaceChildren(...this.units.map((text, value) => html("option", { value }, text)));
      unit.value = String(this.statementsOf);
    }
    /** @type {HTMLSelectElement} */ (part(root, "block")).value = String(blockNumber);
    /** @type {HTMLSelectElement} */ (part(root, "thread")).value = String(thread);
    const here = String(this.replay.block.at);
    const found = this.findingPlaces.flatMap(({ block, step }) => (String(block) === here ? [step] : []));
    // room for the longest text, so that the timeline beside it keeps its width
    part(root, "count").style.minWidth = `${0.9 * `step ${this.last} of ${this.last}`.length}ch`;
    this.timeline.choose(runs, this.last, found, (run, position) => this.alignment.step(run, position));
    for (const run of runs) for (const view of run.views) view.choose();
    this.stale = new Set(this.panels.keys());
  }

  /**
   * The runs' findings, each at the access that caused it, in the order of blocks and steps: the block and thread of the
   * first run, and the common step, which in another block is that of the run.
   * @returns {{block: readonly number[], thread: readonly number[], step: number, run: number, position: number}[]}
   */
  get findingPlaces() {
    const here = String(this.replay.block.at);
    const places = this.runs.flatMap(({ trace }, run) =>
      trace.findings.flatMap(({ at: [place] }) => {
        if (!place) return [];
        const who = this.inFirstRun(run, {
          block: trace.blocks[place.block].at,
          thread: trace.threadPosition(place.thread),
        });
        const step = String(who.block) === here ? this.alignment.step(run, place.step) : place.step;
        return [
          {
            .../** @type {{block: readonly number[], thread: readonly number[]}} */ (who),
            step,
            run,
            position: place.step,
          },
        ];
      }),
    );
    return places.sort((x, y) => this.blockOrder(x) - this.blockOrder(y) || x.step - y.step);
  }

  /** The number of a place's block in the launch. @param {{block: readonly number[]}} place */
  blockOrder({ block: [x, y, z] }) {
    const [gx, gy] = this.trace.grid;
    return x + gx * (y + gy * z);
  }

  /**
   * A choice in one of the runs as the first run's block and thread that belong to it.
   * @param {number} run
   * @param {import("./panel.js").Choice} choice
   */
  inFirstRun(run, { block, thread }) {
    const [{ trace: first }, { trace, replay }] = [this.runs[0], this.runs[run]];
    const chosen = [
      block ? trace.blockNumber(block) : replay.blockNumber,
      thread ? trace.threadNumber(thread) : replay.thread,
    ];
    const [number, who] = run ? threadOfSameElement(trace, first, /** @type {[number, number]} */ (chosen)) : chosen;
    return { block: first.blocks[number].at, thread: first.threadPosition(who) };
  }

  /** The last step. */
  get last() {
    return this.alignment.last;
  }

  /** What a link asks for that there is not, in words; "" if there is all, its step aside. @param {import("./links.js").Link} link */
  missingFor({ values: { block, thread, panel, statements_of: run = 0 }, invalid }) {
    const { runs, trace } = this;
    if (invalid.length) return `${invalid.join(", ")}, where a number belongs`;
    if (run > (runs.length > 1 ? runs.length : 0))
      return `a step of run ${run}, and there ${runs.length > 1 ? "are two" : "is one"}`;
    if (block && !trace.blocks.some(({ at }) => String(at) === String(block)))
      return `block ${trace.label(block)}, which is not in the trace`;
    if (thread?.some((x, i) => x >= trace.block[i]))
      return `thread ${trace.label(thread)}, and a block has ${trace.label(trace.block)}`;
    return panel && !this.panels.has(panel) ? `the view ${panel}, which is not offered here` : "";
  }

  /** What a step of two runs may be. */
  get units() {
    return [`the same ${this.alignment.unit}`, ...this.runs.map(({ trace }) => `a statement of ${trace.name}`)];
  }

  /** What a step is, in a word or two. */
  get unitInWords() {
    const { alignment, byFrames, runs, statementsOf } = this;
    if (statementsOf) return `statements of ${runs[statementsOf - 1].trace.name}`;
    if (runs.length > 1) return `same ${alignment.unit.split(" ")[0]}`;
    return byFrames ? "frames" : "statements";
  }

  /** Show what the step of a run did, and its findings. @param {Run} run @param {number} number */
  stepText({ context: { frame, replay }, trace }, number) {
    const found = replay.findings.map(({ kind, message }) => [html("b", {}, kind), `: ${message}`]);
    const wrong = wrongNow(replay).map((text) => [text]);
    const compared = this.runs.length > 1;
    const words = compared
      ? [html("code", {}, trace.name), ": ", ...this.alignment.sentenceOf(number)]
      : frame
        ? [frameSentence(frame)]
        : sentence(replay);
    const where = `block ${trace.label(replay.block.at)}${frame ? "" : `, thread ${trace.threadLabel(replay.thread)}`}`;
    const said = [html("span", { class: "tt-where" }, where), html("p", { class: "tt-sentence" }, ...words)];
    if (compared) said.reverse(); // the kernel's name is the first word
    const [first, second] = said;
    return html(
      "div",
      {},
      ...[first, " ", second],
      ...[...found, ...wrong].map((words) => html("p", { class: "tt-wrong" }, ...words)),
    );
  }

  /**
   * @param {number} step  common to both runs
   * @param {boolean} byFrames  whether a whole frame of the animation is shown, not a step
   */
  draw(step, byFrames) {
    const { root, runs } = this;
    this.byFrames = byFrames && runs.length === 1;
    const [{ animation }] = runs;
    if (this.byFrames) runs[0].show(animation.frameAt(step));
    else
      for (const [run, position] of this.alignment.at(step).entries())
        runs[run].seek(position, runs.length > 1 && run !== this.alignment.leadingRun);
    this.timeline.draw(step);
    this.tracks.draw();
    const number = animation.frameAt(step) + 1;
    setText(
      part(root, "count"),
      this.byFrames ? `frame ${number} of ${animation.frames.length}` : `step ${step} of ${this.last}`,
    );
    setText(part(root, "mode"), this.unitInWords);
    if (this.stale.delete(this.panel)) for (const view of this.panels.get(this.panel)?.views ?? []) view.choose();
    for (const view of this.views) view.draw();
    this.texts = runs.map((run, i) => this.stepText(run, i));
    part(root, "status").replaceChildren(...this.texts);
    for (const view of this.views) view.scroll?.();
    if (!part(root, "keys").hidden) this.fillLegend();
  }
}

/**
 * How good an arrangement of two runs is: what the one with less room has of it, and the scale of the matrices.
 * @param {import("./layout.js").Layout[]} layouts
 * @param {string} arrangement
 */
const quality = (layouts, arrangement) =>
  layouts.filter((layout) => layout.arrangement === arrangement).length +
  Math.min(...layouts.map(({ share }) => share)) +
  0.3 * Math.min(1, ...layouts.map(({ product }) => product?.A.scale ?? 1)) -
  Math.max(...layouts.map(({ height }) => height)) / 1e3;

/** @param {HTMLElement} node @param {import("./layout.js").Box | null} box */
function place(node, box) {
  node.hidden = !box;
  if (box)
    Object.assign(node.style, {
      left: `${box.x}px`,
      top: `${box.y}px`,
      width: `${box.width}px`,
      height: `${box.height}px`,
    });
}
