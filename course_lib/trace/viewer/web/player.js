// The player: follows the model, the keys, the buttons and the clock, and sets the step that the scene shows.

import { hasModifier, setAttributes, html, icon, part, roveFocus } from "./dom.js";
import { listOfKeys } from "./keys.js";
import { followAddress, followLink } from "./links.js";
import { threadOfSameElement } from "./alignment.js";
import { layOut, replaysOf, Scene } from "./scene.js";
import { finish } from "./summary.js";
import { Timeline } from "./timeline.js";
import { BROKEN, open, Unreadable } from "./trace.js";

/** @typedef {import("./fallback.js").Model} Model */

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8]; // times the usual speed
const SECONDS_PER_FRAME = 1.6; // or common step, at the usual speed
const STATEMENTS_PER_SECOND = 2; // at the usual speed
const PAPER_WIDTH = 680; // pixels of a sheet of paper, inside its margins
const LEAST_VISIBLE = 0.6; // of the picture, or of a window that is lower than it, to be in sight before the animation starts
const VISIBLE_SHARES = Array.from({ length: 51 }, (_, i) => i / 50); // in sight, at which the page tells of the picture
/** What one step is. */
const UNITS = [
  ["frame", "a frame of the animation"],
  ["thread", "a statement of this thread"],
  ["statement", "a statement of any warp"],
];
const LINK = "Copy a link to this step";
const PIECE_MS = 20; // ms of work at a time while a trace is read
const SAVE_AFTER = 300; // ms without a change
const FRAMES_TO_SETTLE = 3; // drawings of the page after which it has the size that it keeps
const NEAR = "50% 0px"; // of a screen above and below what is in sight

/**
 * @typedef {object} Unsaved  the choices of readers, in any view, that have not been sent to the kernel
 * @property {Record<string, unknown>} values
 * @property {number} views how many show the model; the last one to be removed clears the timer
 * @property {ReturnType<typeof setTimeout>} [timer]
 */
/** @type {WeakMap<Model, Unsaved>} */
const UNSAVED = new WeakMap();

/**
 * Call back when the page has nothing else to do, with the time that there is; Safari has no function for it.
 * After half a second call back in any case, for 8 ms: a page that draws no frames is never idle for Chromium.
 * @param {IdleRequestCallback} work
 */
function whenIdle(work) {
  const now = () => {
    const end = performance.now() + 8;
    work({ didTimeout: false, timeRemaining: () => end - performance.now() });
  };
  if (!window.requestIdleCallback) return setTimeout(now, 30);
  return window.requestIdleCallback((idle) => (idle.didTimeout ? now() : work(idle)), { timeout: 500 });
}

/**
 * Do a work piece by piece, and let the page answer its reader in between.
 * @template T
 * @param {Generator<undefined, T>} pieces
 */
async function inPieces(pieces) {
  for (;;) {
    const end = performance.now() + PIECE_MS;
    while (performance.now() < end) {
      const piece = pieces.next();
      if (piece.done) return piece.value;
    }
    await nextTask();
  }
}

/** Wait until the page has been drawn as often. @param {number} count */
async function animationFrames(count) {
  for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
}

/** Whether a key presses the button that has the focus. @param {KeyboardEvent} event */
const pressesButton = ({ key }) => key === " " || key === "Enter";

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** The model's traits that hold a trace, or what is shown of it. */
const TRACE_TRAITS = ["_data", "_other", "_wanted", "_orders", "panels", "_tiles", "tile_width"];
/** The attributes in which JupyterLab and VS Code write their theme. */
const THEME_ATTRIBUTES = ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind"];

export class Player {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    const step = model.get("step");
    if (!Number.isInteger(step) || step < 0) model.set("step", 0); // of a page that somebody changed
    this.root = this.makeRoot();
    /** A link that waits for the drawing. @type {import("./links.js").Link | null} */
    this.link = null;
    /** The drawing that is under way or done. @type {Promise<void> | null} */
    this.drawn = null;
    this.timeline = new Timeline(this.root, (step) => this.go(step));
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
    this.speed = 2;
    this.unit = model.get("step") > 0 ? 1 : 0; // a step that is asked for is a statement
    /** Whether only the reader starts the animation: somebody has acted, or asks for a step. */
    this.autoplayStopped = model.get("step") > 0;
    this.advancing = false; // playing goes a step on, which is no act
    this.unsaved = UNSAVED.get(model) ?? { values: {}, views: 0 };
    this.unsaved.views++;
    UNSAVED.set(model, this.unsaved);
    /** @type {(() => boolean)[]}  what makes the rest of each run's snapshots */
    this.pendingSnapshots = [];
    this.removed = false;
    this.lifetime = new AbortController();
    this.connectButtons();
    this.watchActs();
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    this.listeners = this.modelListeners();
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.sizeObserver = new ResizeObserver(() => this.scene?.fit(true));
    this.themeObserver = new MutationObserver(() => this.scene?.repaint());
    this.themeObserver.observe(document.body, { attributes: true, attributeFilter: THEME_ATTRIBUTES });
    this.drawOnce = this.drawOnce.bind(this);
    this.listenToPage();
    if (model.get("_saved")) this.listenToSavedPage();
    // Many steppers on a page: each is drawn when it comes near to what is in sight, or is printed.
    el.classList.add("tt-undrawn");
    this.nearObserver = this.makeNearObserver();
    this.watch(el);
    /** @type {Map<Element, IntersectionObserverEntry>}  how much of the stepper and of its bar is in sight */
    this.visibleParts = new Map();
    this.visibilityObserver = this.makeVisibilityObserver();
  }

  /** The stepper's element, and its place, in which others find this player. */
  makeRoot() {
    const root = html("div", { class: "tt-root", tabindex: "0", role: "group" });
    // JupyterLab checks this attribute before it treats a key press as one of its shortcuts.
    root.setAttribute("data-lm-suppress-shortcuts", "true");
    // Tests read here what the page shows.
    Object.assign(root, { stepper: this });
    // A link in the prose looks for the places of steppers.
    this.el.classList.add("tt-place");
    Object.assign(this.el, { stepper: this });
    layOut(root);
    return root;
  }

  /** What follows the model, by the names of its events. @returns {Record<string, () => void>} */
  modelListeners() {
    const reload = () => {
      if (!this.drawn) return;
      this.stopAutoplay();
      this.drawn = this.load();
    };
    const choose = () => this.choose();
    const shows = {
      step: () => this.showStep(),
      block: choose,
      thread: choose,
      statements_of: choose,
      panel: () => this.showPanel(),
    };
    return Object.fromEntries([
      ...TRACE_TRAITS.map((name) => [`change:${name}`, reload]),
      ...Object.entries(shows).map(([name, show]) => [`change:${name}`, () => this.onModelChange(name, show)]),
    ]);
  }

  /** Listen until this view is removed. @param {EventTarget} place @param {string} what @param {(event: any) => void} listener */
  listen(place, what, listener) {
    place.addEventListener(what, listener, { signal: this.lifetime.signal });
  }

  /** Follow the page: its colours, its size, full screen, paper, and links in its prose. */
  listenToPage() {
    this.listen(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.scene?.repaint());
    this.listen(document, "fullscreenchange", () => this.scene?.fit());
    this.listen(window, "resize", () => this.scene?.fit());
    this.listen(window, "beforeprint", () => this.fitToPaper(true));
    this.listen(window, "afterprint", () => this.fitToPaper(false));
    this.listen(window, "beforeprint", this.drawOnce);
    document.addEventListener("click", followLink, true); // once, however many steppers there are
  }

  /** On a page without a kernel: follow keys, the slides of a deck, and the address. */
  listenToSavedPage() {
    this.listen(document, "keydown", (event) => {
      // on a page of one stepper the keys need no focus; in a deck they are those of the slides
      const alone = document.querySelectorAll(".tt-root").length === 1 && !this.slideOfDeck;
      if (alone && event.target === document.body) this.onKey(event);
    });
    this.listen(document, "slidechanged", () => this.playWhileVisible());
    this.listen(window, "hashchange", () => followAddress(this));
    followAddress(this);
  }

  /** On paper nothing scrolls, and nothing is wider than the sheet. @param {boolean} paper */
  fitToPaper(paper) {
    this.root.classList.toggle("tt-on-paper", paper);
    this.root.style.width = paper ? `${Math.min(PAPER_WIDTH, this.root.clientWidth)}px` : ""; // known before it is laid out
    if (paper) this.stopAutoplay();
    this.scene?.fit();
  }

  /** What draws the stepper when it comes near; what is in sight first. */
  makeNearObserver() {
    const onSight = (/** @type {IntersectionObserverEntry[]} */ entries) => {
      const near = entries.filter(({ isIntersecting }) => isIntersecting);
      if (!near.length) return;
      const inSight = near.some(({ boundingClientRect: { top, bottom } }) => top < innerHeight && bottom > 0);
      if (inSight) this.drawOnce();
      else whenIdle(this.drawOnce);
    };
    const options = /** @type {IntersectionObserverInit} */ ({ rootMargin: NEAR, scrollMargin: NEAR });
    return new IntersectionObserver(onSight, options);
  }

  /** What starts the animation where the stepper is visible, and pauses it elsewhere. */
  makeVisibilityObserver() {
    const onSight = (/** @type {IntersectionObserverEntry[]} */ entries) => {
      for (const entry of entries) this.visibleParts.set(entry.target, entry);
      this.playWhileVisible();
    };
    return new IntersectionObserver(onSight, { threshold: VISIBLE_SHARES });
  }

  /** Draw when this element comes near: the stepper's place, or the fallback above it. @param {HTMLElement} element */
  watch(element) {
    if (!this.drawn) this.nearObserver.observe(element);
  }

  /** Read the trace and draw it, once: a promise of that, also for whoever asks meanwhile. */
  drawOnce() {
    this.nearObserver.disconnect();
    if (this.removed) return Promise.resolve();
    return (this.drawn ??= this.load().then(() => this.scrollToStepper()));
  }

  /**
   * In JupyterLab, scroll to what the reader has just run: with Shift+Enter, Lab scrolls to the cell below it, and half of the
   * picture would be above the window.
   */
  async scrollToStepper() {
    if (!this.isActiveCell()) return;
    await animationFrames(FRAMES_TO_SETTLE); // the fallback above is hidden, and Lab has scrolled
    if (this.removed || !this.isActiveCell()) return;
    const { height } = this.root.getBoundingClientRect();
    const room = this.root.closest(".jp-WindowedPanel-outer")?.clientHeight ?? innerHeight;
    this.root.scrollIntoView({ block: height > room ? "start" : "nearest" });
  }

  /** Whether its cell, or the one above it, is chosen in JupyterLab, and no cell is edited. */
  isActiveCell() {
    const cell = this.root.closest(".jp-Cell");
    const notebook = this.root.closest(".jp-Notebook:not(.jp-mod-editMode)");
    const chosen = [cell, cell?.nextElementSibling].some((each) => each?.classList.contains("jp-mod-active"));
    return notebook !== null && chosen;
  }

  destroy() {
    this.lifetime.abort();
    this.nearObserver.disconnect();
    this.visibilityObserver.disconnect();
    this.removed = true;
    this.pendingSnapshots = [];
    this.pause();
    if (!--this.unsaved.views) clearTimeout(this.unsaved.timer); // its channel to the kernel may be closed
    this.sizeObserver.disconnect();
    this.themeObserver.disconnect();
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
    // a front end that keeps the place of a closed view keeps nothing of the trace
    this.scene = null;
    this.timeline.runs = [];
    this.root.replaceChildren();
    this.root.remove();
    delete (/** @type {any} */ (this.root).stepper);
    delete (/** @type {any} */ (this.el).stepper);
  }

  /** Read the model's traces and show them. Traces that arrive while others are read replace these. */
  async load() {
    this.pause();
    const stored = JSON.parse(this.model.get("_tiles") || "{}");
    const launch = stored[this.model.get("tile_width")] ?? this.model.get("_data");
    const texts = [launch, this.model.get("_other")].filter(Boolean);
    this.loading = texts;
    try {
      const traces = await this.readTraces(texts);
      if (this.loading !== texts) return;
      const blocks = await this.readBlocks(traces);
      if (this.loading !== texts) return;
      if (!this.root.isConnected) this.el.replaceChildren(this.root);
      this.root.style.visibility = this.scene ? "" : "hidden"; // until it is drawn
      this.el.classList.remove("tt-undrawn");
      const panels = this.model.get("panels") ?? null;
      const scene = new Scene(this.root, traces, blocks, this.actions(stored), panels, this.timeline);
      await nextTask();
      if (this.loading !== texts) return;
      await this.showScene(scene);
    } catch (error) {
      if (this.loading === texts) this.showError(error);
    }
  }

  /** Read traces, with what the model says beside them. @param {string[]} texts */
  async readTraces(texts) {
    const traces = await Promise.all(texts.map(open));
    traces[0].wanted = JSON.parse(this.model.get("_wanted") || "{}");
    const orders = JSON.parse(this.model.get("_orders") || "[]");
    traces.forEach((trace, run) => (trace.orders = orders[run] ?? []));
    return traces;
  }

  /** Of each trace, read the block that is shown. @param {import("./trace.js").Trace[]} traces */
  async readBlocks(traces) {
    const [first, second] = traces;
    const chosen = /** @type {[number, number]} */ ([
      first.blockNumber(this.model.get("block")),
      first.threadNumber(this.model.get("thread")),
    ]);
    const blocks = [await inPieces(replaysOf(first, ...chosen))];
    if (second) blocks.push(await inPieces(replaysOf(second, ...threadOfSameElement(first, second, chosen))));
    return blocks;
  }

  /** What a scene asks of the player. @param {Record<string, string>} stored  launches, by the widths of their tiles */
  actions(stored) {
    const now = this.model.get("tile_width");
    const choose = (/** @type {number} */ width) => this.chooseTileWidth(width);
    return {
      choose: (/** @type {import("./panel.js").Choice} */ choice, /** @type {number} */ run) =>
        this.jumpTo(choice, run),
      open: (/** @type {string} */ panel) => this.setTraits({ panel }),
      into: () => this.enterFrame(),
      step: (/** @type {number} */ way) => this.move(way),
      tiles: stored[now] ? { widths: Object.keys(stored).map(Number), now, choose } : null,
    };
  }

  /** @param {Scene} scene */
  async showScene(scene) {
    this.scene = scene;
    scene.openPanel(this.model.get("panel") ?? "");
    await inPieces(this.choosingInPieces(scene));
    if (this.scene !== scene) return;
    if (this.link) this.goToLink(this.link);
    this.root.style.visibility = "";
    this.sizeObserver.disconnect();
    this.sizeObserver.observe(this.root);
    for (const element of [this.root, part(this.root, "bar")]) this.visibilityObserver.observe(element);
  }

  /** Say why no picture is here. A trace that can be read but not shown gets the same message; the console has the cause. @param {unknown} error */
  showError(error) {
    this.scene = null;
    if (!(error instanceof Unreadable)) console.error(error);
    const message = error instanceof Unreadable ? error.message : BROKEN;
    const advice = this.model.get("_saved") ? message.replace("run the cell again", "save the page again") : message;
    this.el.classList.remove("tt-undrawn");
    this.el.replaceChildren(html("p", { class: "tt-unreadable", role: "alert" }, advice));
  }

  choose() {
    if (this.scene) finish(this.choosingInPieces(this.scene));
  }

  /** Show the model's block and thread, in pieces. @param {Scene} scene @returns {Generator<undefined, void>} */
  *choosingInPieces(scene) {
    const { model } = this;
    const { trace } = scene;
    scene.statementsOf = scene.runs.length > 1 ? (model.get("statements_of") ?? 0) : 0;
    scene.choose(trace.blockNumber(model.get("block")), trace.threadNumber(model.get("thread")));
    if (model.get("step") > this.last) this.setTraits({ step: this.last });
    yield;
    if (this.scene !== scene) return; // another trace came
    scene.tracks.choose();
    yield;
    if (this.scene !== scene) return;
    this.draw();
    yield;
    if (this.scene !== scene) return;
    scene.fit();
    this.takeSnapshots();
  }

  /** While the page is idle, keep copies of the memory, so that a drag of the timeline replays few steps. */
  takeSnapshots() {
    const ahead = (this.scene?.runs ?? []).map((run) => run.replay.snapshotsAhead());
    this.pendingSnapshots = ahead;
    /** @type {IdleRequestCallback} */
    const work = (idle) => {
      if (this.pendingSnapshots !== ahead) return; // another block or thread was chosen
      while (ahead.length && idle.timeRemaining() > 0) if (!ahead[0]()) ahead.shift();
      if (ahead.length) whenIdle(work);
    };
    whenIdle(work);
  }

  showPanel() {
    const { scene } = this;
    if (!scene) return;
    scene.openPanel(this.model.get("panel") ?? "");
    this.draw();
    scene.fit();
    if (this.root.contains(document.activeElement)) part(this.root, "panel").scrollIntoView({ block: "nearest" }); // below the picture
  }

  draw() {
    this.scene?.draw(this.step, this.byFrames);
  }

  /** Whether a step is a frame of the animation. */
  get byFrames() {
    return this.unit === 0 && this.scene?.runs.length === 1;
  }

  /** Show the model's step; one that is inside a frame, which a lesson or a link asked for, as a statement. */
  showStep() {
    const animation = this.scene?.runs[0].animation;
    const frame = this.byFrames && this.step ? animation?.frames[animation.frameAt(this.step)] : null;
    if (frame && frame.step !== this.step) this.setUnit(1);
    else this.draw();
  }

  /**
   * Follow a link: the step that it names is a statement, or a common step of two runs. If it names something that there
   * is not, say so, and stay.
   * @param {import("./links.js").Link} link
   */
  goToLink(link) {
    this.stopAutoplay();
    const { model, scene } = this;
    this.link = scene ? null : link; // until there is a trace to follow it in
    if (!scene) return;
    const lacks = scene.missingFor(link);
    if (lacks) return this.reportMissing(lacks);
    const { step, ...where } = { statements_of: 0, ...link.values };
    const before = Object.fromEntries(["step", ...Object.keys(where)].map((name) => [name, model.get(name)]));
    const { unit } = this;
    if (step && unit === 0) this.unit = 1;
    this.setTraits(where);
    const { last } = this;
    if (step !== undefined && step > last) {
      this.unit = unit;
      this.setTraits(before);
      this.draw();
      return this.reportMissing(`step ${step}, and the last one is ${last}`);
    }
    if (step !== undefined) this.setTraits({ step });
    if (!this.comparesRuns) /** @type {HTMLSelectElement} */ (part(this.root, "unit")).value = String(this.unit);
    this.draw();
  }

  /** Say what a link asks for that there is not. @param {string} lacks */
  reportMissing(lacks) {
    part(this.root, "status").replaceChildren(
      html("p", { class: "tt-wrong", role: "alert" }, `The link asks for ${lacks}. The stepper stays where it was.`),
    );
  }

  /** From a frame to its first statement of the chosen thread. */
  enterFrame() {
    if (!this.scene || !this.byFrames) return;
    const [{ animation }] = this.scene.runs;
    const frame = animation.frames[Math.max(0, animation.frameAt(this.step))];
    this.setUnit(1);
    this.go(frame.first);
    if (!this.scene.replay.isActive(this.scene.replay.thread)) this.move(1);
  }

  /** The slide of a deck that the stepper is on, if any. */
  get slideOfDeck() {
    return this.root.closest(".reveal section");
  }

  /** Whether two runs are beside each other. */
  get comparesRuns() {
    return (this.scene?.runs.length ?? 0) > 1;
  }

  /** Start the animation by itself, unless the reader has acted, wants no motion, or it is at its end; later go on with it. */
  autoplay() {
    const unwanted = this.autoplayStopped || matchMedia("(prefers-reduced-motion: reduce)").matches;
    const plays = this.timer !== null;
    if (unwanted || plays || !this.longSteps || this.step === this.end) return;
    if (this.slideOfDeck && !this.slideOfDeck.classList.contains("present")) return; // a slide beside the one that is shown is laid out
    this.play();
  }

  /** Start the animation where most of the picture is in sight, and pause it elsewhere; what the reader plays, out of sight. */
  playWhileVisible() {
    const [whole, bar] = [this.root, part(this.root, "bar")].map((element) => this.visibleParts.get(element));
    if (!whole || !bar) return;
    const { boundingClientRect: all, intersectionRect: seen } = whole;
    const windowHeight = whole.rootBounds?.height ?? innerHeight;
    const least = LEAST_VISIBLE * all.width * Math.min(all.height, windowHeight);
    const mostIsVisible = seen.width * seen.height >= least;
    // The bar says what happens; of a picture that is higher than the window, any part may be in sight.
    const barIsVisible = bar.intersectionRatio > 0.99 || all.height > windowHeight;
    if (mostIsVisible && barIsVisible) this.autoplay();
    else if (!this.autoplayStopped || !whole.isIntersecting) this.pause();
  }

  /** An act of the reader, or of a lesson's code: from now on only Play moves the animation. */
  stopAutoplay() {
    this.autoplayStopped = true;
    this.pause();
  }

  /** Follow the acts of the reader in the stepper, whatever they do; those of Play are `toggle`'s. */
  watchActs() {
    const act = (/** @type {any} */ event) => {
      if (hasModifier(event)) return; // for the page
      if (event.pointerType === "touch" && event.type === "pointerdown") return; // may scroll the page
      const target = /** @type {Element} */ (event.target);
      const onPlay = target.closest(".tt-play") !== null;
      const pressed = event.type !== "keydown" || pressesButton(event);
      const spaceOnPicture = event.key === " " && !/SELECT|INPUT|BUTTON/.test(target.tagName);
      const plays = onPlay ? pressed : spaceOnPicture;
      if (!plays) this.stopAutoplay();
    };
    for (const what of ["keydown", "pointerdown", "click", "change"]) this.root.addEventListener(what, act, true);
    this.root.addEventListener("wheel", (event) => event.defaultPrevented && this.stopAutoplay()); // it zooms
  }

  get last() {
    return this.scene?.last ?? 0;
  }

  /** Whether a step is more than one statement: a frame, or a common step of two runs. */
  get longSteps() {
    return this.byFrames || (this.scene?.runs.length ?? 0) > 1;
  }

  /** The step at which playing ends: of the animation, that of its last frame. */
  get end() {
    const frames = this.byFrames ? this.scene?.runs[0].animation.frames : null;
    return frames ? frames[frames.length - 1].step : this.last;
  }

  get step() {
    return Math.min(this.model.get("step"), this.last);
  }

  connectButtons() {
    const find = (/** @type {string} */ name) => part(this.root, name);
    /** @type {(name: string, image: Parameters<typeof icon>[0] | null, action: () => void) => void} */
    const onClick = (name, image, action) => {
      const button = find(name);
      if (image) button.append(icon(image));
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", action);
    };
    onClick("start", "start", () => this.go(0));
    onClick("back", "back", () => this.move(-1));
    onClick("play", "play", () => this.togglePlaying());
    onClick("forward", "forward", () => this.stepForward());
    onClick("mode", null, () => this.changeUnit());
    onClick("menu", null, () => this.toggleMenu());
    onClick("end", "end", () => this.go(this.end));
    onClick("next-finding", "finding", () => this.goToFinding(1));
    onClick("help", null, () => {
      this.toggleMenu();
      this.toggleLegend();
    });
    onClick("full", null, () => this.fullScreen());
    onClick("link", "link", () => this.copyLink());
    find("link").hidden = !this.model.get("_saved"); // with a kernel, the page has another address
    find("full").hidden = !document.fullscreenEnabled; // as in VS Code
    this.connectMenus();
    part(find("choices"), "close").addEventListener("click", () => this.toggleMenu());
    this.connectToolbars();
    find("key-list").append(listOfKeys());
    part(find("keys"), "close").addEventListener("click", () => {
      this.toggleLegend();
      find("menu").focus();
    });
  }

  /** The menus of block, thread, unit and speed. */
  connectMenus() {
    const find = (/** @type {string} */ name) => /** @type {HTMLSelectElement} */ (part(this.root, name));
    /** @type {(name: string, action: (number: number) => void) => void} */
    const onChange = (name, action) => {
      const menu = find(name);
      menu.addEventListener("change", () => action(Number(menu.value)));
    };
    const addOptions = (/** @type {string} */ name, /** @type {string[]} */ texts) =>
      find(name).append(...texts.map((text, value) => html("option", { value }, text)));
    onChange("block", (number) => this.scene && this.setTraits({ block: this.scene.trace.blocks[number].at }));
    onChange("thread", (number) => this.scene && this.setTraits({ thread: this.scene.trace.threadPosition(number) }));
    onChange("speed", (number) => this.setSpeed(number));
    onChange("unit", (number) => this.setUnit(number));
    const speeds = SPEEDS.map((speed) => `${speed}×`);
    const units = UNITS.map(([, text]) => text);
    addOptions("speed", speeds);
    addOptions("unit", units);
    this.setSpeed(this.speed);
    find("unit").value = String(this.unit);
  }

  /** Of the buttons in a row, Tab reaches one, and the arrow keys reach the others; after a click by mouse, the arrows go on stepping. */
  connectToolbars() {
    const byMouse = (/** @type {MouseEvent} */ { detail }) => {
      if (detail && part(this.root, "choices").hidden) this.root.focus({ preventScroll: true });
    };
    for (const place of ["controls", "tabs"].map((name) => part(this.root, name))) {
      roveFocus(place, "button", ["ArrowRight", "ArrowLeft"], true);
      place.addEventListener("click", byMouse);
    }
    for (const button of part(this.root, "controls").querySelectorAll("button"))
      button.tabIndex = button.matches(".tt-play") ? 0 : -1;
  }

  /** From a frame to its statements, and back to frames; of two runs, to the next of what a step may be. */
  changeUnit() {
    if (this.byFrames) this.enterFrame();
    else this.setUnit(this.comparesRuns ? this.chosenUnit + 1 : 0);
  }

  /** @param {number} number */
  setSpeed(number) {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, number));
    /** @type {HTMLSelectElement} */ (part(this.root, "speed")).value = String(this.speed);
  }

  /** Go to a block, a thread or a step of a run. @param {import("./panel.js").Choice} choice @param {number} run */
  jumpTo({ step, ...who }, run) {
    const { scene } = this;
    if (!scene) return;
    if (who.block || who.thread) this.setTraits({ ...scene.inFirstRun(run, who) });
    if (step === undefined) return;
    if (this.byFrames) this.setUnit(1);
    this.setTraits({ ...(this.comparesRuns && { statements_of: run + 1 }), step });
  }

  /** Show the stored launch with another width of the tile, from its start. @param {number} width */
  chooseTileWidth(width) {
    if (width !== this.model.get("tile_width")) this.setTraits({ step: 0, tile_width: width });
  }

  toggleMenu() {
    const choices = part(this.root, "choices");
    choices.hidden = !choices.hidden;
    part(this.root, "menu").setAttribute("aria-expanded", String(!choices.hidden));
    if (!choices.hidden) part(choices, "block").focus();
    else part(this.root, "menu").focus();
  }

  /** The number of what a step is, in the menu. */
  get chosenUnit() {
    return this.comparesRuns ? (this.scene?.statementsOf ?? 0) : this.unit;
  }

  /** @param {number} number */
  setUnit(number) {
    if (this.scene && this.comparesRuns) {
      const { alignment, units } = this.scene;
      const [lead, at] = [alignment.leadingRun ?? 0, alignment.at(this.step)]; // where both runs stay
      const follows = number % units.length;
      const step = follows ? at[follows - 1] : alignment.commonStepAt(lead, at[lead]);
      this.setTraits({ statements_of: follows });
      return this.setTraits({ step });
    }
    this.unit = number % UNITS.length;
    /** @type {HTMLSelectElement} */ (part(this.root, "unit")).value = String(this.unit);
    const [{ animation } = { animation: null }] = this.scene?.runs ?? [];
    const frame = this.byFrames && this.step ? animation?.frames[animation.frameAt(this.step)] : null;
    if (frame && frame.step !== this.step) this.setTraits({ step: frame.step });
    else this.draw();
  }

  /** What each key does. @param {KeyboardEvent} event @returns {Record<string, () => void>} */
  keyActions({ shiftKey, target }) {
    const onTimeline = /** @type {HTMLElement} */ (target).classList.contains("tt-scrub");
    return {
      " ": () => this.togglePlaying(),
      Enter: () => this.enterFrame(),
      ...(onTimeline && { ArrowUp: () => this.move(1), ArrowDown: () => this.move(-1) }),
      ArrowRight: () => (shiftKey ? this.goBy("barrier", 1) : this.stepForward()),
      ArrowLeft: () => (shiftKey ? this.goBy("barrier", -1) : this.move(-1)),
      n: () => this.goBy("barrier", 1),
      p: () => this.goBy("barrier", -1),
      PageDown: () => this.goBy("barrier", 1),
      PageUp: () => this.goBy("barrier", -1),
      l: () => this.goBy("iteration", 1),
      L: () => this.goBy("iteration", -1),
      e: () => this.goToFinding(1),
      E: () => this.goToFinding(-1),
      Home: () => this.go(0),
      End: () => this.go(this.end),
      u: () => this.setUnit(this.chosenUnit + 1),
      t: () => this.cycle("thread", 1),
      T: () => this.cycle("thread", -1),
      b: () => this.cycle("block", 1),
      B: () => this.cycle("block", -1),
      v: () => this.cycle("panel", 1),
      V: () => this.cycle("panel", -1),
      f: () => this.fullScreen(),
      "?": () => this.toggleLegend(),
    };
  }

  /**
   * Keep every key press inside: the notebook would use it as a shortcut (two d's delete the cell).
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    event.stopPropagation();
    if (hasModifier(event) || !this.scene) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Escape") {
      if (!part(this.root, "keys").hidden) return this.toggleLegend();
      if (!part(this.root, "choices").hidden) return this.toggleMenu();
      if (this.scene.views.some((view) => view.close?.())) return;
      return target.blur();
    }
    if (/SELECT|INPUT/.test(target.tagName)) return;
    if (target.tagName === "BUTTON" && pressesButton(event)) return;
    const actions = this.keyActions(event);
    if (!(event.key in actions)) return;
    event.preventDefault();
    if (event.key !== " ") this.stopAutoplay(); // on a page of one stepper, keys come from outside of it
    actions[event.key]();
  }

  /** Choose the next one, or the one before. @param {"thread" | "block" | "panel"} what @param {number} way */
  cycle(what, way) {
    const { panel, panelNames, replay, trace } = /** @type {Scene} */ (this.scene);
    const next = (/** @type {number} */ at, /** @type {number} */ count) => (at + way + count) % count;
    if (what === "thread") this.setTraits({ thread: trace.threadPosition(next(replay.thread, trace.threads)) });
    else if (what === "block")
      this.setTraits({ block: trace.blocks[next(replay.blockNumber, trace.blocks.length)].at });
    else this.setTraits({ panel: ["", ...panelNames][next(panelNames.indexOf(panel) + 1, panelNames.length + 1)] });
  }

  toggleLegend() {
    const list = part(this.root, "keys");
    list.hidden = !list.hidden;
    if (!list.hidden) this.scene?.fillLegend();
    part(this.root, "help").setAttribute("aria-expanded", String(!list.hidden));
  }

  /** Put this step into the page's address, and copy the address. */
  async copyLink() {
    if (!this.scene) return;
    const { replay, trace } = this.scene;
    const number = this.model.get("_saved");
    const position = (/** @type {readonly number[]} */ place) => place.slice(0, trace.dims).join();
    const asked = [
      ["step", this.step],
      ...(this.scene.statementsOf ? [["run", this.scene.statementsOf]] : []),
      ["block", position(replay.block.at)],
      ["thread", position(trace.threadPosition(replay.thread))],
      ...(this.scene.panel ? [["panel", this.scene.panel]] : []),
      ...(number > 1 ? [["stepper", number]] : []),
    ];
    history.replaceState(history.state, "", `#${asked.map((pair) => pair.join("=")).join("&")}`);
    const copied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    this.setIcon("link", "done", copied ? "The link is copied" : "The link is in the address bar");
  }

  /** Give a button another picture and another title. @param {string} name @param {Parameters<typeof icon>[0]} image @param {string} title */
  setIcon(name, image, title) {
    const button = part(this.root, name);
    button.replaceChildren(icon(image));
    setAttributes(button, { title, "aria-label": title });
  }

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.fullscreenEnabled) this.root.requestFullscreen();
  }

  /**
   * Go to the next or previous finding: first in this block, in the order of its steps, then in the other blocks.
   * @param {number} way
   */
  goToFinding(way) {
    if (!this.scene) return;
    const { scene } = this;
    const places = scene.findingPlaces;
    if (way < 0) places.reverse();
    const here = scene.blockOrder({ block: scene.replay.block.at });
    // how far a place is from here: in blocks, else in steps, else in runs
    const distance = (/** @type {typeof places[0]} */ place) => {
      const inRuns = scene.statementsOf && place.run - (scene.statementsOf - 1);
      return scene.blockOrder(place) - here || place.step - this.step || inRuns;
    };
    const place = places.find((each) => way * distance(each) > 0) ?? places[0];
    if (!place) return;
    if (this.byFrames) this.setUnit(1);
    this.setTraits({
      block: place.block,
      thread: place.thread,
      ...(this.comparesRuns && { statements_of: place.run + 1 }),
    });
    this.setTraits({ step: place.position });
  }

  /** @param {number} way */
  move(way) {
    const unit = this.comparesRuns ? "statement" : UNITS[this.unit][0];
    this.goBy(this.byFrames ? "frame" : unit, way);
  }

  /** @param {string} unit @param {number} way */
  goBy(unit, way) {
    if (unit === "statement") return this.go(this.step + way);
    if (unit === "frame") {
      const animation = /** @type {Scene} */ (this.scene).runs[0].animation;
      const number = animation.frameAt(this.step) + way;
      return this.go(number < 0 ? 0 : (animation.frames[number]?.step ?? this.end));
    }
    // With two runs, the nearer target counts: a run at its end has none.
    const stops = (this.scene?.runs ?? []).map(({ replay }, run) => {
      replay.seek(this.scene?.alignment.at(this.step)[run] ?? 0);
      const stop = stopOf(replay, unit, way);
      return this.scene?.alignment.step(run, stop) ?? stop;
    });
    const beyond = stops.filter((stop) => way * (stop - this.step) > 0);
    if (!beyond.length) return this.go(way > 0 ? this.last : 0);
    this.go(way > 0 ? Math.min(...beyond) : Math.max(...beyond));
  }

  /** @param {number} step */
  go(step) {
    part(this.root, "status").setAttribute("aria-live", this.timer === null ? "polite" : "off");
    this.setTraits({ step: Math.min(this.last, Math.max(0, step)) });
  }

  /**
   * The views follow the model at once; the kernel gets the values when they have not changed for a while.
   * @param {Record<string, unknown>} values
   */
  setTraits(values) {
    const { model, unsaved } = this;
    Object.assign(unsaved.values, values);
    if (part(this.root, "link").title !== LINK) this.setIcon("link", "link", LINK);
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    clearTimeout(unsaved.timer);
    unsaved.timer = setTimeout(() => {
      unsaved.values = {};
      model.save_changes();
    }, SAVE_AFTER);
  }

  /**
   * An echo of the kernel is older than the reader's later choices, so it is ignored if there are any.
   * @param {string} name
   * @param {() => void} show
   */
  onModelChange(name, show) {
    const mine = this.unsaved.values[name];
    if (mine !== undefined && JSON.stringify(mine) !== JSON.stringify(this.model.get(name)))
      return this.withoutAct(() => this.model.set(name, mine));
    if (!this.advancing) this.stopAutoplay(); // by the reader, in another view, or from Python
    show();
  }

  /** Change the model without an act of the reader. @param {() => void} change */
  withoutAct(change) {
    const before = this.advancing;
    this.advancing = true;
    try {
      change();
    } finally {
      this.advancing = before;
    }
  }

  togglePlaying() {
    const plays = this.timer !== null;
    this.stopAutoplay();
    if (!plays) this.play();
  }

  /** Play up to the end, and stay there; from the end, all again. */
  play() {
    if (this.step === this.end) this.go(0);
    const wait = () => (1000 / SPEEDS[this.speed]) * (this.longSteps ? SECONDS_PER_FRAME : 1 / STATEMENTS_PER_SECOND);
    const tick = () => {
      if (!document.hidden) {
        this.withoutAct(() => this.move(1));
        this.moveCopies();
      }
      if (this.step === this.end) this.pause();
      else this.timer = setTimeout(tick, wait());
    };
    this.timer = setTimeout(tick, wait());
    this.setIcon("play", "pause", "Pause (space)");
  }

  /** Let what the frame copies move, unless motion is unwanted. */
  moveCopies() {
    if (!this.byFrames || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const { views } of this.scene?.runs ?? []) for (const view of views) view.moveCopies?.(SPEEDS[this.speed]);
  }

  /** A step on, by the reader. */
  stepForward() {
    const before = this.step;
    this.move(1);
    if (this.step !== before) this.moveCopies();
  }

  pause() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.setIcon("play", "play", "Play (space)");
  }
}

/**
 * The next position at which a replay meets a barrier, or starts an iteration, or its chosen thread runs a statement.
 * @param {import("./replay.js").Replay} replay
 * @param {string} unit
 * @param {number} way
 */
function stopOf(replay, unit, way) {
  if (unit === "barrier") return replay.barrierFrom(way);
  if (unit === "thread") return replay.ownStatementFrom(way);
  return replay.iterationFrom(way);
}
