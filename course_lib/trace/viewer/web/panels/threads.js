// All threads of the block: who is active, and what each holds in the accumulators.

import { part } from "../dom.js";
import { figure } from "../grid.js";
import { ACTIVE, EMPTY, NOW_WRITTEN, PLAIN, SEEN } from "../plane.js";
import { WARP } from "../trace.js";

const WIDTH = 270; // pixels at the usual size of the text

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
    const shape = by * bz === 1 && bx % WARP === 0 ? [bx / WARP, WARP] : [by * bz, bx]; // a row is a warp, if it can be
    const held = trace.accumulators.filter((name) => trace.names.includes(name));
    const names = held.length ? held : ["threads"];
    this.rows = names.map((name) => {
      const array = { name, shape, size: bx * by * bz, hue: "var(--tt-register)" };
      const { planes, node } = figure(array, WIDTH, { margin: 2 });
      const [plane] = planes;
      plane.node.addEventListener("click", (event) => {
        const thread = plane.elementAt(/** @type {MouseEvent} */ (event));
        if (thread !== null) context.choose({ thread: trace.threadPosition(thread) });
      });
      return { name, plane, figure: node };
    });
    section.querySelector(".tt-row")?.replaceChildren(...this.rows.map((row) => row.figure));
    const heading = section.querySelector(".tt-heading");
    if (heading) heading.textContent = held.length ? "All threads" : "Threads of the block";
  }

  fit() {
    for (const { plane } of this.rows) plane.measure();
  }

  repaint() {
    for (const { plane } of this.rows) plane.repaint();
  }

  choose() {}

  draw() {
    const { machine } = this.context;
    const here = machine.found.flatMap(({ at }) => at.filter(({ block }) => block === machine.blockNumber));
    const wrong = here.map(({ thread }) => thread);
    for (const { name, plane } of this.rows) {
      const held = machine.variables.get(name);
      for (let thread = 0; thread < plane.size; thread++) {
        const value = held ? held[thread] : null;
        const active = machine.isActive(thread);
        const changed = active && machine.assigned.has(name);
        const still = value !== null ? SEEN : held || name !== "threads" ? EMPTY : PLAIN;
        plane.cell(thread, changed ? NOW_WRITTEN : active ? ACTIVE : still, value);
      }
      plane.finish([], [machine.thread]);
      plane.fault([...new Set(wrong)], []);
    }
  }

  state() {
    return { variables: this.rows.map(({ plane }) => plane.state()) };
  }
}
