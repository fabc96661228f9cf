// The variables of the chosen thread, the ones it has just set framed.

import { html, part, write } from "../dom.js";
import { follow, lead, reach } from "../jumps.js";
import { full } from "../text.js";

/** @type {import("../panel.js").Panel} */
export const registers = {
  wants: () => true,
  build: (place, context) => new Registers(part(place, "registers"), context),
};

class Registers {
  /**
   * @param {HTMLElement} section
   * @param {import("../panel.js").Context} context
   */
  constructor(section, context) {
    this.context = context;
    this.heading = section.querySelector(".tt-heading");
    /** @type {Map<string, {row: HTMLElement, value: HTMLElement}>} */
    this.rows = new Map();
    this.list = section.querySelector("dl");
    this.frame = section.querySelector(".tt-scroll");
    follow(section, "dl > div", context, ({ firstChild }) => context.machine.stepsThatSet(firstChild?.textContent ?? ""));
  }

  choose() {
    const { machine, trace } = this.context;
    const thread = trace.threadLabel(machine.thread);
    if (this.heading) this.heading.textContent = `Registers of thread ${thread}`;
    this.frame?.setAttribute("aria-label", `Registers of thread ${thread}`);
  }

  draw() {
    const { machine } = this.context;
    const held = [...machine.variables.keys()].filter((name) => machine.variable(name) !== null);
    if (String(held) !== String([...this.rows.keys()])) {
      this.rows = new Map(held.map((name) => [name, this.rows.get(name) ?? this.row(name)]));
      this.list?.replaceChildren(...[...this.rows.values()].map(({ row }) => row));
      reach(this.list);
    }
    for (const [name, { row, value }] of this.rows) {
      write(value, full(machine.variable(name)));
      row.classList.toggle("tt-changed", machine.changed.has(name));
    }
  }

  /** @param {string} name */
  row(name) {
    const value = html("dd");
    return { value, row: html("div", {}, html("dt", {}, lead(name, "sets it")), value) };
  }

  state() {
    const rows = [...(this.list?.children ?? [])];
    const changed = rows.filter((row) => row.classList.contains("tt-changed")).map((row) => row.children[0].textContent);
    return { registers: rows.map((row) => [...row.children].map((cell) => cell.textContent)), changed };
  }
}
