// The player: follows the model, the keys, the buttons and the clock, and sets the step that the scene shows.

import { give, html, icon, part, rove } from "./dom.js";
import { listOfKeys } from "./keys.js";
import { followAddress, followLink } from "./links.js";
import { partner } from "./alignment.js";
import { layOut, replaysOf, Scene } from "./scene.js";
import { finish } from "./summary.js";
import { Timeline } from "./timeline.js";
import { BROKEN, open, Unreadable } from "./trace.js";

/** @typedef {import("./fallback.js").Model} Model */

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8]; // times the usual speed
const [SECONDS, PACE] = [1.6, 2]; // for a frame or a common step, and statements in a second, at the usual speed
const SHEET = 680; // pixels of a sheet of paper, inside its margins
const MOST = 0.6; // of the picture, or of a window that is lower than it, to be in sight before the animation starts
const SHARES = Array.from({ length: 51 }, (_, i) => i / 50); // in sight, at which the page tells of the picture
/** What one step is. */
const UNITS = [
  ["frame", "a frame of the animation"],
  ["thread", "a statement of this thread"],
  ["statement", "a statement of any warp"],
];
const LINK = "Copy a link to this step";
const PIECE = 20; // ms of work at a time while a trace is read
const SAVE_AFTER = 300; // ms without a change
const SETTLED = 3; // drawings of the page after which it has the size that it keeps
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
    const end = performance.now() + PIECE;
    while (performance.now() < end) {
      const piece = pieces.next();
      if (piece.done) return piece.value;
    }
    await breath();
  }
}

/** Wait until the page has been drawn as often. @param {number} count */
async function drawings(count) {
  for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
}

const breath = () => new Promise((resolve) => setTimeout(resolve));

export class Player {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    if (!(Number.isInteger(model.get("step")) && model.get("step") >= 0)) model.set("step", 0); // of a page that somebody changed
    this.root = html("div", { class: "tt-root", tabindex: "0", role: "group" });
    // JupyterLab checks this attribute before it treats a key press as one of its shortcuts.
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    // Tests read here what the page shows.
    Object.assign(this.root, { stepper: this });
    // A link in the prose looks for the places of steppers.
    el.classList.add("tt-place");
    Object.assign(el, { stepper: this });
    layOut(this.root);
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
    this.held = model.get("step") > 0;
    this.advancing = false; // playing goes a step on, which is no act
    this.unsaved = UNSAVED.get(model) ?? { values: {}, views: 0 };
    this.unsaved.views++;
    UNSAVED.set(model, this.unsaved);
    this.buttons();
    this.followActs();
    this.root.addEventListener("keydown", (event) => this.key(event));
    const choose = () => this.choose();
    const chosen = {
      step: () => this.follow(),
      block: choose,
      thread: choose,
      statements_of: choose,
      panel: () => this.showPanel(),
    };
    /** @type {Record<string, () => void>} */
    this.listeners = Object.fromEntries([
      ...["_data", "_other", "_wanted", "_orders", "panels", "_tiles", "tile_width"].map((name) => [
        `change:${name}`,
        () => {
          if (!this.drawn) return;
          this.hold();
          this.drawn = this.load();
        },
      ]),
      ...Object.entries(chosen).map(([name, show]) => [`change:${name}`, () => this.changed(name, show)]),
    ]);
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.sizes = new ResizeObserver(() => this.scene?.fit(true));
    this.themes = new MutationObserver(() => this.scene?.repaint());
    // JupyterLab and VS Code write their theme there.
    const attributeFilter = ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind"];
    this.themes.observe(document.body, { attributes: true, attributeFilter });
    this.life = new AbortController();
    const { signal } = this.life;
    /** @type {(place: EventTarget, what: string, listener: (event: any) => void) => void}  until this view is removed */
    const listen = (place, what, listener) => place.addEventListener(what, listener, { signal });
    listen(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.scene?.repaint());
    listen(document, "fullscreenchange", () => this.scene?.fit());
    listen(window, "resize", () => this.scene?.fit());
    /** @param {Event} event  on paper nothing scrolls, and nothing is wider than the sheet */
    const print = ({ type }) => {
      const paper = type === "beforeprint";
      this.root.classList.toggle("tt-whole", paper);
      this.root.style.width = paper ? `${Math.min(SHEET, this.root.clientWidth)}px` : ""; // known before it is laid out
      if (paper) this.hold();
      this.scene?.fit();
    };
    for (const when of ["beforeprint", "afterprint"]) listen(window, when, print);
    document.addEventListener("click", followLink, true); // once, however many steppers there are
    if (model.get("_saved")) {
      listen(document, "keydown", (event) => {
        // on a page of one stepper the keys need no focus; in a deck they are those of the slides
        if (event.target === document.body && document.querySelectorAll(".tt-root").length === 1 && !this.slide)
          this.key(event);
      });
      listen(document, "slidechanged", () => this.inSight());
      listen(window, "hashchange", () => followAddress(this));
      followAddress(this);
    }
    /** @type {(() => boolean)[]} */
    this.ahead = [];
    // Many steppers on a page: each is drawn when it comes near to what is in sight, or is printed.
    this.gone = false;
    el.classList.add("tt-later");
    this.sight = new IntersectionObserver(
      (entries) => {
        const near = entries.filter(({ isIntersecting }) => isIntersecting);
        const seen = near.some(({ boundingClientRect: { top, bottom } }) => top < innerHeight && bottom > 0);
        if (near.length) seen ? this.approach() : whenIdle(this.approach); // what is in sight first
      },
      /** @type {IntersectionObserverInit} */ ({ rootMargin: NEAR, scrollMargin: NEAR }),
    );
    this.approach = this.approach.bind(this);
    this.watch(el);
    listen(window, "beforeprint", this.approach);
    /** @type {Map<Element, IntersectionObserverEntry>}  how much of the stepper and of its bar is in sight */
    this.sights = new Map();
    this.seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) this.sights.set(entry.target, entry);
        this.inSight();
      },
      { threshold: SHARES },
    );
  }

  /** Draw when this element comes near: the stepper's place, or the fallback above it. @param {HTMLElement} element */
  watch(element) {
    if (!this.drawn) this.sight.observe(element);
  }

  /** Read the trace and draw it, once: a promise of that, also for whoever asks meanwhile. */
  approach() {
    this.sight.disconnect();
    if (this.gone) return Promise.resolve();
    return (this.drawn ??= this.load().then(() => this.show()));
  }

  /**
   * In JupyterLab, scroll to what the reader has just run: with Shift+Enter, Lab scrolls to the cell below it, and half of the
   * picture would be above the window.
   */
  async show() {
    if (!this.asked()) return;
    await drawings(SETTLED); // the fallback above is hidden, and Lab has scrolled
    if (this.gone || !this.asked()) return;
    const { height } = this.root.getBoundingClientRect();
    const room = this.root.closest(".jp-WindowedPanel-outer")?.clientHeight ?? innerHeight;
    this.root.scrollIntoView({ block: height > room ? "start" : "nearest" });
  }

  /** Whether its cell, or the one above it, is chosen in JupyterLab, and no cell is edited. */
  asked() {
    const cell = this.root.closest(".jp-Cell");
    const notebook = this.root.closest(".jp-Notebook:not(.jp-mod-editMode)");
    const chosen = [cell, cell?.nextElementSibling].some((each) => each?.classList.contains("jp-mod-active"));
    return notebook !== null && chosen;
  }

  destroy() {
    this.life.abort();
    this.sight.disconnect();
    this.seen.disconnect();
    this.gone = true;
    this.ahead = [];
    this.pause();
    if (!--this.unsaved.views) clearTimeout(this.unsaved.timer); // its channel to the kernel may be closed
    this.sizes.disconnect();
    this.themes.disconnect();
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
    // a front end that keeps the place of a closed view keeps nothing of the trace
    this.scene = null;
    this.timeline.runs = [];
    this.root.replaceChildren();
    this.root.remove();
    delete (/** @type {any} */ (this.root).stepper);
    delete (/** @type {any} */ (this.el).stepper);
  }

  // A trace that arrives while another is read replaces it.
  async load() {
    this.pause();
    const stored = JSON.parse(this.model.get("_tiles") || "{}");
    const now = this.model.get("tile_width");
    const texts = [stored[now] ?? this.model.get("_data"), this.model.get("_other")].filter(Boolean);
    this.loading = texts;
    try {
      const traces = await Promise.all(texts.map(open));
      if (this.loading !== texts) return;
      traces[0].wanted = JSON.parse(this.model.get("_wanted") || "{}");
      const orders = JSON.parse(this.model.get("_orders") || "[]");
      traces.forEach((trace, run) => (trace.orders = orders[run] ?? []));
      const [first, second] = traces;
      const at = /** @type {[number, number]} */ ([
        first.blockNumber(this.model.get("block")),
        first.threadNumber(this.model.get("thread")),
      ]);
      const blocks = [];
      for (const trace of traces)
        blocks.push(await inPieces(replaysOf(trace, ...(trace === first ? at : partner(first, second, at)))));
      if (this.loading !== texts) return;
      if (!this.root.isConnected) this.el.replaceChildren(this.root);
      this.root.style.visibility = this.scene ? "" : "hidden"; // until it is drawn
      this.el.classList.remove("tt-later");
      const actions = {
        choose: (/** @type {import("./panel.js").Choice} */ choice, /** @type {number} */ run) =>
          this.jump(choice, run),
        open: (/** @type {string} */ panel) => this.set({ panel }),
        into: () => this.into(),
        step: (/** @type {number} */ way) => this.move(way),
        tiles: stored[now]
          ? { widths: Object.keys(stored).map(Number), now, choose: (/** @type {number} */ width) => this.tile(width) }
          : null,
      };
      const scene = new Scene(this.root, traces, blocks, actions, this.model.get("panels") ?? null, this.timeline);
      await breath();
      if (this.loading !== texts) return;
      this.scene = scene;
      scene.openPanel(this.model.get("panel") ?? "");
      await inPieces(this.choosing(scene));
      if (this.scene !== scene) return;
      if (this.link) this.lead(this.link);
      this.root.style.visibility = "";
      this.sizes.disconnect();
      this.sizes.observe(this.root);
      for (const element of [this.root, part(this.root, "bar")]) this.seen.observe(element);
    } catch (error) {
      if (this.loading !== texts) return;
      this.scene = null;
      // A trace that can be read but not shown gets the same message; the console has the cause.
      if (!(error instanceof Unreadable)) console.error(error);
      const message = error instanceof Unreadable ? error.message : BROKEN;
      const says = this.model.get("_saved") ? message.replace("run the cell again", "save the page again") : message;
      this.el.classList.remove("tt-later");
      this.el.replaceChildren(html("p", { class: "tt-unreadable", role: "alert" }, says));
    }
  }

  choose() {
    if (this.scene) finish(this.choosing(this.scene));
  }

  /** Show the model's block and thread, in pieces. @param {Scene} scene @returns {Generator<undefined, void>} */
  *choosing(scene) {
    const { model } = this;
    const { trace } = scene;
    scene.follows = scene.runs.length > 1 ? (model.get("statements_of") ?? 0) : 0;
    scene.choose(trace.blockNumber(model.get("block")), trace.threadNumber(model.get("thread")));
    if (model.get("step") > this.last) this.set({ step: this.last });
    yield;
    if (this.scene !== scene) return; // another trace came
    scene.tracks.choose();
    yield;
    if (this.scene !== scene) return;
    this.draw();
    yield;
    if (this.scene !== scene) return;
    scene.fit();
    this.lookAhead();
  }

  /** While the page is idle, keep copies of the memory, so that a drag of the timeline replays few steps. */
  lookAhead() {
    const ahead = (this.scene?.runs ?? []).map((run) => run.replay.ahead());
    this.ahead = ahead;
    /** @type {IdleRequestCallback} */
    const work = (idle) => {
      if (this.ahead !== ahead) return; // another block or thread was chosen
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
  follow() {
    const animation = this.scene?.runs[0].animation;
    if (this.byFrames && animation && this.step && animation.frames[animation.frameAt(this.step)]?.step !== this.step)
      this.setUnit(1);
    else this.draw();
  }

  /**
   * Follow a link: the step that it names is a statement, or a common step of two runs. If it names something that there
   * is not, say so, and stay.
   * @param {import("./links.js").Link} link
   */
  lead(link) {
    this.hold();
    const { model, scene } = this;
    this.link = scene ? null : link; // until there is a trace to follow it in
    if (!scene) return;
    const lacks = scene.lacks(link);
    if (lacks) return this.refuse(lacks);
    const { step, ...where } = { statements_of: 0, ...link.values };
    const before = Object.fromEntries(["step", ...Object.keys(where)].map((name) => [name, model.get(name)]));
    const { unit } = this;
    if (step && unit === 0) this.unit = 1;
    this.set(where);
    const { last } = this;
    if (step !== undefined && step > last) {
      this.unit = unit;
      this.set(before);
      this.draw();
      return this.refuse(`step ${step}, and the last one is ${last}`);
    }
    if (step !== undefined) this.set({ step });
    if (!this.two) /** @type {HTMLSelectElement} */ (part(this.root, "unit")).value = String(this.unit);
    this.draw();
  }

  /** Say what a link asks for that there is not. @param {string} lacks */
  refuse(lacks) {
    part(this.root, "say").replaceChildren(
      html("p", { class: "tt-wrong", role: "alert" }, `The link asks for ${lacks}. The stepper stays where it was.`),
    );
  }

  /** From a frame to its first statement of the chosen thread. */
  into() {
    if (!this.scene || !this.byFrames) return;
    const [{ animation }] = this.scene.runs;
    const frame = animation.frames[Math.max(0, animation.frameAt(this.step))];
    this.setUnit(1);
    this.go(frame.first);
    if (!this.scene.replay.isActive(this.scene.replay.thread)) this.move(1);
  }

  /** The slide of a deck that the stepper is on, if any. */
  get slide() {
    return this.root.closest(".reveal section");
  }

  /** Whether two runs are beside each other. */
  get two() {
    return (this.scene?.runs.length ?? 0) > 1;
  }

  /** Start the animation by itself, unless the reader has acted, wants no motion, or it is at its end; later go on with it. */
  begin() {
    const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.held || reduced || this.timer !== null || !this.longSteps || this.step === this.end) return;
    if (this.slide && !this.slide.classList.contains("present")) return; // a slide beside the one that is shown is laid out
    this.play();
  }

  /** Start the animation where most of the picture is in sight, and pause it elsewhere; what the reader plays, out of sight. */
  inSight() {
    const [whole, bar] = [this.root, part(this.root, "bar")].map((element) => this.sights.get(element));
    if (!whole || !bar) return;
    const { boundingClientRect: all, intersectionRect: seen } = whole;
    const window_ = whole.rootBounds?.height ?? innerHeight;
    const most = seen.width * seen.height >= MOST * all.width * Math.min(all.height, window_);
    // The bar says what happens; of a picture that is higher than the window, any part may be in sight.
    if (most && (bar.intersectionRatio > 0.99 || all.height > window_)) this.begin();
    else if (!this.held || !whole.isIntersecting) this.pause();
  }

  /** An act of the reader, or of a lesson's code: from now on only Play moves the animation. */
  hold() {
    this.held = true;
    this.pause();
  }

  /** Follow the acts of the reader in the stepper, whatever they do; those of Play are `toggle`'s. */
  followActs() {
    const act = (/** @type {any} */ event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return; // for the page
      if (event.pointerType === "touch" && event.type === "pointerdown") return; // may scroll the page
      const target = /** @type {Element} */ (event.target);
      const presses = event.type !== "keydown" || event.key === " " || event.key === "Enter";
      const plays = target.closest(".tt-play")
        ? presses
        : event.key === " " && !/SELECT|INPUT|BUTTON/.test(target.tagName);
      if (!plays) this.hold();
    };
    for (const what of ["keydown", "pointerdown", "click", "change"]) this.root.addEventListener(what, act, true);
    this.root.addEventListener("wheel", (event) => event.defaultPrevented && this.hold()); // it zooms
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

  buttons() {
    const find = (/** @type {string} */ name) => part(this.root, name);
    /** @type {(name: string, image: Parameters<typeof icon>[0] | null, action: () => void) => void} */
    const on = (name, image, action) => {
      const button = find(name);
      if (image) button.append(icon(image));
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", action);
    };
    on("start", "start", () => this.go(0));
    on("back", "back", () => this.move(-1));
    on("play", "play", () => this.toggle());
    on("forward", "forward", () => this.forward());
    on("mode", null, () => (this.byFrames ? this.into() : this.setUnit(this.two ? this.chosenUnit + 1 : 0)));
    on("menu", null, () => this.menu());
    on("end", "end", () => this.go(this.end));
    on("fault", "fault", () => this.finding(1));
    on("help", null, () => {
      this.menu();
      this.help();
    });
    on("full", null, () => this.fullScreen());
    on("link", "link", () => this.copyLink());
    find("link").hidden = !this.model.get("_saved"); // with a kernel, the page has another address
    find("full").hidden = !document.fullscreenEnabled; // as in VS Code
    /** @type {(name: string, type: string, action: (number: number) => void) => void} */
    const follow = (name, type, action) => {
      const input = /** @type {HTMLInputElement | HTMLSelectElement} */ (find(name));
      input.addEventListener(type, () => action(Number(input.value)));
    };
    const options = (/** @type {string} */ name, /** @type {string[]} */ texts) =>
      find(name).append(...texts.map((text, value) => html("option", { value }, text)));
    follow("block", "change", (number) => this.scene && this.set({ block: this.scene.trace.blocks[number].at }));
    follow("thread", "change", (number) => this.scene && this.set({ thread: this.scene.trace.threadPosition(number) }));
    follow("speed", "change", (number) => this.setSpeed(number));
    follow("unit", "change", (number) => this.setUnit(number));
    options(
      "speed",
      SPEEDS.map((s) => `${s}×`),
    );
    options(
      "unit",
      UNITS.map(([, text]) => text),
    );
    this.setSpeed(this.speed);
    /** @type {HTMLSelectElement} */ (find("unit")).value = String(this.unit);
    part(find("choices"), "close").addEventListener("click", () => this.menu());
    const byMouse = (/** @type {MouseEvent} */ { detail }) =>
      detail && find("choices").hidden && this.root.focus({ preventScroll: true });
    for (const place of ["controls", "tabs"].map(find)) {
      rove(place, "button", ["ArrowRight", "ArrowLeft"], true);
      place.addEventListener("click", byMouse); // the arrows go on stepping
    }
    for (const button of find("controls").querySelectorAll("button"))
      button.tabIndex = button.matches(".tt-play") ? 0 : -1;
    find("key-list").append(listOfKeys());
    part(find("keys"), "close").addEventListener("click", () => {
      this.help();
      find("menu").focus();
    });
  }

  /** @param {number} number */
  setSpeed(number) {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, number));
    /** @type {HTMLSelectElement} */ (part(this.root, "speed")).value = String(this.speed);
  }

  /** Go to a block, a thread or a step of a run. @param {import("./panel.js").Choice} choice @param {number} run */
  jump({ step, ...who }, run) {
    const { scene } = this;
    if (!scene) return;
    if (who.block || who.thread) this.set({ ...scene.ofFirst(run, who) });
    if (step === undefined) return;
    if (this.byFrames) this.setUnit(1);
    this.set({ ...(this.two && { statements_of: run + 1 }), step });
  }

  /** Show the stored launch with another width of the tile, from its start. @param {number} width */
  tile(width) {
    if (width !== this.model.get("tile_width")) this.set({ step: 0, tile_width: width });
  }

  menu() {
    const choices = part(this.root, "choices");
    choices.hidden = !choices.hidden;
    part(this.root, "menu").setAttribute("aria-expanded", String(!choices.hidden));
    if (!choices.hidden) part(choices, "block").focus();
    else part(this.root, "menu").focus();
  }

  /** The number of what a step is, in the menu. */
  get chosenUnit() {
    return this.two ? (this.scene?.follows ?? 0) : this.unit;
  }

  /** @param {number} number */
  setUnit(number) {
    if (this.scene && this.two) {
      const { alignment, units } = this.scene;
      const [lead, at] = [alignment.lead ?? 0, alignment.at(this.step)]; // where both runs stay
      const follows = number % units.length;
      const step = follows ? at[follows - 1] : alignment.reached(lead, at[lead]);
      this.set({ statements_of: follows });
      return this.set({ step });
    }
    this.unit = number % UNITS.length;
    /** @type {HTMLSelectElement} */ (part(this.root, "unit")).value = String(this.unit);
    const [{ animation } = { animation: null }] = this.scene?.runs ?? [];
    const frame = this.byFrames && this.step ? animation?.frames[animation.frameAt(this.step)] : null;
    if (frame && frame.step !== this.step) this.set({ step: frame.step });
    else this.draw();
  }

  /**
   * Keep every key press inside: the notebook would use it as a shortcut (two d's delete the cell).
   * @param {KeyboardEvent} event
   */
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || !this.scene) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Escape") {
      if (!part(this.root, "keys").hidden) return this.help();
      if (!part(this.root, "choices").hidden) return this.menu();
      if (this.scene.views.some((view) => view.close?.())) return;
      return target.blur();
    }
    const presses = event.key === " " || event.key === "Enter";
    if (/SELECT|INPUT/.test(target.tagName)) return;
    if (target.tagName === "BUTTON" && presses) return;
    const { shiftKey: shift } = event;
    const arrow = (/** @type {number} */ way) =>
      shift ? this.goBy("barrier", way) : way > 0 ? this.forward() : this.move(way);
    /** @type {Record<string, () => void>} */
    const actions = {
      " ": () => this.toggle(),
      Enter: () => this.into(),
      ...(target.classList.contains("tt-scrub") && { ArrowUp: () => this.move(1), ArrowDown: () => this.move(-1) }),
      ArrowRight: () => arrow(1),
      ArrowLeft: () => arrow(-1),
      n: () => this.goBy("barrier", 1),
      p: () => this.goBy("barrier", -1),
      PageDown: () => this.goBy("barrier", 1),
      PageUp: () => this.goBy("barrier", -1),
      l: () => this.goBy("iteration", 1),
      L: () => this.goBy("iteration", -1),
      e: () => this.finding(1),
      E: () => this.finding(-1),
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
      "?": () => this.help(),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    if (event.key !== " ") this.hold(); // on a page of one stepper, keys come from outside of it
    actions[event.key]();
  }

  /** Choose the next one, or the one before. @param {"thread" | "block" | "panel"} what @param {number} way */
  cycle(what, way) {
    const { panel, replay, names, trace } = /** @type {Scene} */ (this.scene);
    const next = (/** @type {number} */ at, /** @type {number} */ count) => (at + way + count) % count;
    if (what === "thread") this.set({ thread: trace.threadPosition(next(replay.thread, trace.threads)) });
    else if (what === "block") this.set({ block: trace.blocks[next(replay.blockNumber, trace.blocks.length)].at });
    else this.set({ panel: ["", ...names][next(names.indexOf(panel) + 1, names.length + 1)] });
  }

  help() {
    const list = part(this.root, "keys");
    list.hidden = !list.hidden;
    if (!list.hidden) this.scene?.explain();
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
      ...(this.scene.follows ? [["run", this.scene.follows]] : []),
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
    this.label("link", "done", copied ? "The link is copied" : "The link is in the address bar");
  }

  /** Give a button another picture and another title. @param {string} name @param {Parameters<typeof icon>[0]} image @param {string} title */
  label(name, image, title) {
    const button = part(this.root, name);
    button.replaceChildren(icon(image));
    give(button, { title, "aria-label": title });
  }

  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.fullscreenEnabled) this.root.requestFullscreen();
  }

  /**
   * Go to the next or previous finding: first in this block, in the order of its steps, then in the other blocks.
   * @param {number} way
   */
  finding(way) {
    if (!this.scene) return;
    const { scene } = this;
    const { places } = scene;
    if (way < 0) places.reverse();
    const here = scene.order({ block: scene.replay.block.at });
    const from = (/** @type {typeof places[0]} */ p) =>
      scene.order(p) - here || p.step - this.step || (scene.follows && p.run - (scene.follows - 1));
    const place = places.find((p) => way * from(p) > 0) ?? places[0];
    if (!place) return;
    if (this.byFrames) this.setUnit(1);
    this.set({ block: place.block, thread: place.thread, ...(this.two && { statements_of: place.run + 1 }) });
    this.set({ step: place.position });
  }

  /** @param {number} way */
  move(way) {
    this.goBy(this.byFrames ? "frame" : this.two ? "statement" : UNITS[this.unit][0], way);
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
      const stop =
        unit === "barrier"
          ? replay.barrierFrom(way)
          : unit === "thread"
            ? replay.ownFrom(way)
            : replay.iterationFrom(way);
      return this.scene?.alignment.step(run, stop) ?? stop;
    });
    const beyond = stops.filter((stop) => way * (stop - this.step) > 0);
    if (!beyond.length) return this.go(way > 0 ? this.last : 0);
    this.go(way > 0 ? Math.min(...beyond) : Math.max(...beyond));
  }

  /** @param {number} step */
  go(step) {
    part(this.root, "say").setAttribute("aria-live", this.timer === null ? "polite" : "off");
    this.set({ step: Math.min(this.last, Math.max(0, step)) });
  }

  /**
   * The views follow the model at once; the kernel gets the values when they have not changed for a while.
   * @param {Record<string, unknown>} values
   */
  set(values) {
    const { model, unsaved } = this;
    Object.assign(unsaved.values, values);
    if (part(this.root, "link").title !== LINK) this.label("link", "link", LINK);
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
  changed(name, show) {
    const mine = this.unsaved.values[name];
    if (mine !== undefined && JSON.stringify(mine) !== JSON.stringify(this.model.get(name)))
      return this.advance(() => this.model.set(name, mine));
    if (!this.advancing) this.hold(); // by the reader, in another view, or from Python
    show();
  }

  /** Change the model without an act of the reader. @param {() => void} change */
  advance(change) {
    const before = this.advancing;
    this.advancing = true;
    try {
      change();
    } finally {
      this.advancing = before;
    }
  }

  toggle() {
    const plays = this.timer !== null;
    this.hold();
    if (!plays) this.play();
  }

  /** Play up to the end, and stay there; from the end, all again. */
  play() {
    if (this.step === this.end) this.go(0);
    const wait = () => (1000 / SPEEDS[this.speed]) * (this.longSteps ? SECONDS : 1 / PACE);
    const tick = () => {
      if (!document.hidden) {
        this.advance(() => this.move(1));
        this.moveCopies();
      }
      if (this.step === this.end) this.pause();
      else this.timer = setTimeout(tick, wait());
    };
    this.timer = setTimeout(tick, wait());
    this.label("play", "pause", "Pause (space)");
  }

  /** Let what the frame copies move, unless motion is unwanted. */
  moveCopies() {
    if (!this.byFrames || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const { views } of this.scene?.runs ?? []) for (const view of views) view.moveCopies?.(SPEEDS[this.speed]);
  }

  /** A step on, by the reader. */
  forward() {
    const before = this.step;
    this.move(1);
    if (this.step !== before) this.moveCopies();
  }

  pause() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.label("play", "play", "Play (space)");
  }
}
