// All threads of the block: who is active, and what each holds in the accumulators.

import { part } from "../dom.js";
import { ACTIVE, arrayGrids, EMPTY, figure, NOW_WRITTEN, SEEN } from "../grid.js";

/** @type {import("../panel.js").Panel} */
export const threads = {
  wants: () => true,
  build: (place, context) => new Threads(part(place, "accumulators"), context),
};

class Threads {
  /**
   * @param {HTMLElement} section
   * @param {import("../panel.js").Context} context
   */
  constructor(section, context) {
    this.context = context;
    const { trace } = context;
    const [bx, by, bz] = trace.block;
    const shape = by * bz === 1 && bx % 32 === 0 ? [bx / 32, 32] : [by * bz, bx]; // a row is a warp, if it can be
    const names = trace.accumulators.length ? trace.accumulators : ["threads"];
    this.rows = names.map((name) => {
      const array = { name, shape, size: bx * by * bz, hue: "var(--tt-register)" };
      const [grid] = arrayGrids(array, { labels: false, margin: 2 });
      grid.outline.style.display = "none";
      grid.node.addEventListener("click", (event) => {
        const thread = grid.elementAt(event);
        if (thread !== null) context.choose({ thread: trace.threadPosition(thread) });
      });
      return { name, grid, figure: figure(array, [grid]) };
    });
    section.querySelector(".tt-row")?.replaceChildren(...this.rows.map((row) => row.figure));
    const heading = section.querySelector("h4");
    if (heading) heading.textContent = trace.accumulators.length ? "All threads" : "Threads of the block";
  }

  choose() {}

  draw() {
    const { machine } = this.context;
    const active = new Set(machine.active);
    for (const { name, grid } of this.rows) {
      const held = machine.variables.get(name);
      for (let thread = 0; thread < grid.size; thread++) {
        const value = held ? held[thread] : null;
        const changed = active.has(thread) && machine.assigned.has(name);
        grid.cell(thread, changed ? NOW_WRITTEN : active.has(thread) ? ACTIVE : value === null ? EMPTY : SEEN, value);
      }
      grid.finish([], [machine.thread]);
    }
  }
}
