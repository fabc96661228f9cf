// The player: follows the model, the keys, the buttons and the clock, and says which step the stage shows.

import { html, icon, part } from "./dom.js";
import { layOut, Stage } from "./stage.js";
import { Trace } from "./trace.js";

/**
 * @typedef {object} Model  as much of the widget's model as is used here
 * @property {(name: string) => any} get
 * @property {(name: string, value: unknown) => void} set
 * @property {(name: string, listener: () => void) => void} on
 * @property {(name: string, listener: () => void) => void} off
 * @property {() => void} save_changes
 */

const SPEEDS = [1, 2, 4, 8, 16, 32]; // steps per second
const SAVE_AFTER = 300; // ms without a change

export class Player {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.root = html("div", { class: "tt-root", tabindex: "0", role: "group" });
    // Lab looks for this attribute before it reads a key press as one of its shortcuts.
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    el.append(this.root);
    layOut(this.root);
    this.stage = this.newStage();
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.saving = undefined;
    this.speed = 2;
    /** @type {Record<string, unknown>} */
    this.unsaved = {};
    this.buttons();
    this.root.addEventListener("keydown", (event) => this.key(event));
    /** @type {Record<string, () => void>} */
    this.listeners = {
      "change:_data": () => this.load(),
      "change:step": () => this.changed("step", () => this.stage.draw(this.step)),
      "change:block": () => this.changed("block", () => this.choose()),
      "change:thread": () => this.changed("thread", () => this.choose()),
    };
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.choose();
  }

  destroy() {
    this.pause();
    clearTimeout(this.saving);
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
  }

  load() {
    this.pause();
    this.stage = this.newStage();
    this.choose();
  }

  newStage() {
    const actions = {
      choose: (/** @type {Record<string, unknown>} */ choice) => this.set(choice),
      go: (/** @type {number} */ step) => this.go(step),
    };
    return new Stage(this.root, new Trace(this.model.get("_data")), actions);
  }

  choose() {
    const { model, stage } = this;
    const { trace } = stage;
    const thread = Math.min(trace.threads - 1, trace.threadNumber(model.get("thread")));
    stage.choose(trace.blockNumber(model.get("block")), thread);
    if (model.get("step") > this.last) this.set({ step: this.last });
    stage.draw(this.step);
  }

  get last() {
    return this.stage.machine.length;
  }

  get step() {
    return Math.min(this.model.get("step"), this.last);
  }

  buttons() {
    const find = (/** @type {string} */ name) => part(this.root, name);
    /** @type {(name: string, image: Parameters<typeof icon>[0], action: () => void) => void} */
    const on = (name, image, action) => {
      const button = find(name);
      button.append(icon(image));
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", action);
    };
    on("start", "start", () => this.go(0));
    on("back", "back", () => this.go(this.step - 1));
    on("play", "play", () => this.toggle());
    on("forward", "forward", () => this.go(this.step + 1));
    on("next", "barrier", () => this.go(this.barrier(1)));
    on("end", "end", () => this.go(this.last));
    /** @type {(name: string, type: string, action: (number: number) => void) => void} */
    const follow = (name, type, action) => {
      const input = /** @type {HTMLInputElement | HTMLSelectElement} */ (find(name));
      input.addEventListener(type, () => action(Number(input.value)));
    };
    follow("scrub", "input", (step) => this.go(step));
    follow("block", "change", (number) => this.set({ block: this.stage.trace.blocks[number].at }));
    follow("thread", "change", (number) => this.set({ thread: this.stage.trace.threadPosition(number) }));
    follow("speed", "change", (number) => this.setSpeed(number));
    find("speed").append(...SPEEDS.map((s, i) => html("option", { value: i }, `${s} a second`)));
    this.setSpeed(this.speed);
  }

  /** @param {number} number */
  setSpeed(number) {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, number));
    /** @type {HTMLSelectElement} */ (part(this.root, "speed")).value = String(this.speed);
  }

  /**
   * Every key stays inside: what leaks, the notebook takes as its own (two d's delete the cell).
   * @param {KeyboardEvent} event
   */
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === "Escape") return target.blur();
    const presses = event.key === " " || event.key === "Enter";
    if (target.tagName === "SELECT" || (target.tagName === "BUTTON" && presses)) return;
    /** @type {(way: number) => void} */
    const arrow = (way) => this.go(event.shiftKey ? this.barrier(way) : this.step + way);
    /** @type {Record<string, () => void>} */
    const actions = {
      " ": () => this.toggle(),
      ArrowRight: () => arrow(1),
      ArrowLeft: () => arrow(-1),
      PageDown: () => this.go(this.barrier(1)),
      PageUp: () => this.go(this.barrier(-1)),
      n: () => this.go(this.barrier(1)),
      p: () => this.go(this.barrier(-1)),
      Home: () => this.go(0),
      End: () => this.go(this.last),
      "+": () => this.setSpeed(this.speed + 1),
      "-": () => this.setSpeed(this.speed - 1),
      t: () => this.cycleThread(1),
      T: () => this.cycleThread(-1),
      b: () => this.cycleBlock(1),
      B: () => this.cycleBlock(-1),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** @param {number} way */
  cycleThread(way) {
    const { machine, trace } = this.stage;
    this.set({ thread: trace.threadPosition((machine.thread + way + trace.threads) % trace.threads) });
  }

  /** @param {number} way */
  cycleBlock(way) {
    const { machine, trace } = this.stage;
    const n = trace.blocks.length;
    this.set({ block: trace.blocks[(machine.blockNumber + way + n) % n].at });
  }

  /**
   * The step at which the next barrier opens, or the last one before.
   * @param {number} way
   * @returns {number}
   */
  barrier(way) {
    const { releases } = this.stage.machine.block;
    if (way > 0) return releases.find((r) => r > this.step) ?? this.last;
    return releases.filter((r) => r < this.step).pop() ?? 0;
  }

  /** @param {number} step */
  go(step) {
    part(this.root, "say").setAttribute("aria-live", this.timer === null ? "polite" : "off");
    this.set({ step: Math.min(this.last, Math.max(0, step)) });
  }

  /**
   * The views follow the model at once; the kernel hears of it when things have come to rest.
   * @param {Record<string, unknown>} values
   */
  set(values) {
    Object.assign(this.unsaved, values);
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    clearTimeout(this.saving);
    this.saving = setTimeout(() => {
      this.unsaved = {};
      this.model.save_changes();
    }, SAVE_AFTER);
  }

  /**
   * What the kernel echoes is older than what the reader has done since, and gives way to it.
   * @param {string} name
   * @param {() => void} show
   */
  changed(name, show) {
    const mine = this.unsaved[name];
    if (mine === undefined || JSON.stringify(mine) === JSON.stringify(this.model.get(name))) show();
    else this.model.set(name, mine);
  }

  toggle() {
    if (this.timer === null) this.play();
    else this.pause();
  }

  play() {
    if (this.step === this.last) this.go(0);
    const tick = () => {
      this.timer = setTimeout(tick, 1000 / SPEEDS[this.speed]);
      this.go(this.step + 1);
      if (this.step === this.last) this.pause();
    };
    this.timer = setTimeout(tick, 1000 / SPEEDS[this.speed]);
    this.playing();
  }

  pause() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.playing();
  }

  playing() {
    const button = part(this.root, "play");
    const title = this.timer === null ? "Play (space)" : "Pause (space)";
    button.replaceChildren(icon(this.timer === null ? "play" : "pause"));
    button.title = title;
    button.setAttribute("aria-label", title);
  }
}
