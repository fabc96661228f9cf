// The variables of the chosen thread, the ones it has just set framed.

import { html, part } from "../dom.js";
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
    this.list = section.querySelector("dl");
  }

  choose() {
    const { machine, trace } = this.context;
    const thread = trace.threadLabel(machine.thread);
    if (this.heading) this.heading.textContent = `Registers of thread ${thread}`;
    this.list?.setAttribute("aria-label", `Registers of thread ${thread}`);
  }

  draw() {
    const { machine } = this.context;
    const rows = [];
    for (const name of machine.variables.keys()) {
      const value = machine.variable(name);
      if (value === null) continue;
      const look = machine.changed.has(name) ? "tt-changed" : "";
      rows.push(html("div", { class: look }, html("dt", {}, name), html("dd", {}, full(value))));
    }
    this.list?.replaceChildren(...rows);
  }
}
