// The variables of the chosen thread that the current line uses, the ones it has just set framed.

import { html, setText } from "../dom.js";
import { jumpOnClick, jumpButton, addToTabOrder } from "../jumps.js";
import { Panel } from "../panel.js";
import { full, namesIn } from "../text.js";

export class Registers extends Panel {
  static at = "registers";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    /** @type {Map<string, {row: HTMLElement, value: HTMLElement}>} */
    this.rows = new Map();
    this.list = html("dl");
    place.append(this.list);
    jumpOnClick(
      place,
      "dl > div",
      () => context,
      ({ firstChild }) => context.replay.stepsThatSet(firstChild?.textContent ?? ""),
    );
  }

  choose() {
    const { replay, trace } = this.context;
    this.list.setAttribute("aria-label", `Registers of thread ${trace.threadLabel(replay.thread)}`);
  }

  /** The variables that the thread holds, in the order of their first assignments. */
  get held() {
    const { replay } = this.context;
    return [...replay.variables.keys()].filter((name) => replay.variable(name) !== null);
  }

  draw() {
    const { frame, replay, trace } = this.context;
    const text = trace.source.find(([line]) => line === replay.line)?.[1] ?? "";
    const words = namesIn(text);
    const shown = this.held.filter((name) =>
      frame ? trace.accumulators.includes(name) : replay.changed.has(name) || words.has(name),
    );
    if (String(shown) !== String([...this.rows.keys()])) {
      this.rows = new Map(shown.map((name) => [name, this.rows.get(name) ?? this.row(name)]));
      this.list.replaceChildren(...[...this.rows.values()].map(({ row }) => row));
      addToTabOrder(this.list);
    }
    for (const [name, { row, value }] of this.rows) {
      setText(value, full(replay.variable(name)));
      row.classList.toggle("tt-changed", !frame && replay.changed.has(name));
    }
  }

  /** @param {string} name */
  row(name) {
    const value = html("dd");
    return { value, row: html("div", {}, html("dt", {}, jumpButton(name, "sets it")), value) };
  }
}
