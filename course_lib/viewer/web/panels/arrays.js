// The product A·B = C with what the block and the thread did to it, and the arrays beside it.

import { html, part } from "../dom.js";
import { arrayGrids, EMPTY, FAINT, figure, NOW_READ, NOW_WRITTEN, PLAIN, REGION, SEEN } from "../grid.js";
import { READ, WRITTEN } from "../machine.js";
import { full } from "../text.js";

const UNIT = 20;

/** @type {import("../panel.js").Panel} */
export const arrays = {
  wants: () => true,
  build: (place, context) => new Arrays(place, context),
};

class Arrays {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    /** @type {import("../grid.js").Grid[][]} */
    this.grids = context.trace.arrays.map(() => []);
    this.product(part(place, "product"));
    this.others(place);
  }

  /** @param {HTMLElement} place */
  product(place) {
    const { arrays } = this.context.trace;
    for (const old of place.querySelectorAll(".tt-grid")) old.remove();
    const matrix = Object.fromEntries(arrays.map((a, i) => [a.role, i]).filter(([role]) => role));
    place.style.display = "A" in matrix ? "" : "none";
    if (!("A" in matrix)) return;
    const [[M, K], N] = [arrays[matrix.A].shape, arrays[matrix.B].shape[1]];
    const margin = Math.max(15, 0.045 * (K + N) * UNIT);
    const text = Math.max(K + N, K + M) <= 20;
    for (const role of "ABC") {
      const array = arrays[matrix[role]];
      const [grid] = (this.grids[matrix[role]] = arrayGrids(array, { tile: array.tile, margin, text }));
      grid.node.classList.add(`tt-matrix-${role}`);
      place.append(grid.node);
      this.interact(grid, matrix[role]);
    }
    /** @param {number} n */
    const side = (n) => n * UNIT + margin + 2;
    place.style.gridTemplateColumns = `minmax(8.5em, ${side(K)}fr) ${side(N)}fr`;
    place.style.maxWidth = `${(K + N) * 44 + 40}px`;
  }

  /** @param {HTMLElement} place */
  others(place) {
    /** @type {Record<string, HTMLElement[]>} */
    const rows = { shared: [], local: [], global: [] };
    this.context.trace.arrays.forEach((array, i) => {
      if (array.role) return;
      this.grids[i] = arrayGrids(array, { labels: false, margin: 10 });
      rows[array.space].push(figure(array, this.grids[i]));
      for (const grid of this.grids[i]) this.interact(grid, i);
    });
    for (const [name, figures] of [["shared", rows.shared], ["locals", rows.local], ["others", rows.global]]) {
      const section = part(place, String(name));
      section.style.display = figures.length ? "" : "none";
      section.querySelector(".tt-row")?.replaceChildren(.../** @type {HTMLElement[]} */ (figures));
    }
    this.locals = part(place, "locals");
  }

  /**
   * A click on an element of C chooses the block and thread that store it.
   * @param {import("../grid.js").Grid} grid
   * @param {number} number
   */
  interact(grid, number) {
    const { trace } = this.context;
    const array = trace.arrays[number];
    grid.node.addEventListener("pointermove", (event) => {
      const i = grid.elementAt(event);
      if (i === null) return;
      const element = i + grid.offset;
      const text = `${trace.element(array, element)} = ${full(this.context.machine.value(number, element))}`;
      if (grid.tip.textContent !== text) grid.tip.textContent = text;
    });
    if (array.role !== "C") return;
    grid.node.classList.add("tt-click");
    grid.node.addEventListener("click", (event) => {
      const owner = trace.owners.get(`${number}:${grid.elementAt(event)}`);
      if (!owner) return;
      this.context.choose({ block: trace.blocks[owner[0]].at, thread: trace.threadPosition(owner[1]) });
    });
  }

  choose() {
    const { machine, trace } = this.context;
    const heading = this.locals?.querySelector("h4");
    if (heading) heading.textContent = `Local arrays of thread ${trace.label(trace.threadPosition(machine.thread))}`;
    this.grids.forEach((grids, number) => {
      for (const grid of grids) {
        if (trace.arrays[number].role) grid.frame((element) => machine.inRegion(number, element));
        else grid.outline.style.display = "none";
      }
    });
  }

  draw() {
    const { machine, trace } = this.context;
    trace.arrays.forEach((array, number) => {
      const [now, mine] = [machine.now[number], machine.nowMine[number]];
      for (const grid of this.grids[number]) {
        /** @type {number[]} */
        const dots = [];
        /** @type {number[]} */
        const rings = [];
        for (let i = 0; i < grid.size; i++) {
          const element = i + grid.offset;
          const value = machine.value(number, element);
          const marked = now.get(element) ?? 0;
          const touched = array.space !== "global" || machine.touched(number, element);
          const inside = machine.inRegion(number, element);
          const state = value === null ? EMPTY : touched ? SEEN : inside ? REGION : PLAIN;
          const faint = !inside || (array.role === "C" && !machine.stored(number, element));
          grid.cell(i, marked & WRITTEN ? NOW_WRITTEN : marked & READ ? NOW_READ : state | (faint ? FAINT : 0), value);
          if (array.space === "global" && machine.loadedByThread(number, element)) dots.push(i);
          if (mine.has(element)) rings.push(i);
        }
        grid.finish(dots, rings);
      }
    });
  }
}
