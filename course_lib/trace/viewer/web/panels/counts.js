// The accesses so far, of the chosen thread and of its block; the global loads stand out beside the matrices.

import { html, part, write } from "../dom.js";
import { follow, lead, reach } from "../jumps.js";
import { ATOMIC, OPS, RESULT } from "../trace.js";

/** @typedef {import("../machine.js").Space} Space */

/** @type {import("../panel.js").Panel} */
export const counts = {
  wants: () => true,
  build: (place, context) => new Counts(place, context),
};

class Counts {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.callout = part(place, "callout");
    this.table = part(place, "traffic").querySelector("table");
    /** @type {{space: Space, op: number, thread: HTMLElement, block: HTMLElement}[]} */
    this.numbers = [];
    follow(part(place, "traffic"), "tr", context, (row) => {
      const shown = this.numbers.find(({ thread }) => thread.parentNode === row);
      return shown ? context.machine.own.counts[shown.space][shown.op] : [];
    });
  }

  // The counts' places, with the totals of the whole launch; a step only changes the numbers.
  choose() {
    const { machine } = this.context;
    const last = machine.length;
    const [thread, block] = [html("b", { class: "tt-mine" }), html("b", { class: "tt-all" })];
    this.numbers = [{ space: "global", op: 0, thread, block }];
    /** @type {(count: number, who: string) => HTMLElement} */
    const beside = (count, who) => html("span", {}, `of ${count}`, html("br"), who);
    const total = machine.count("global", 0, last);
    this.callout.replaceChildren(
      html("div", { class: "tt-heading" }, "Global loads"),
      html("p", {}, thread, beside(total.thread, "this thread")),
      html("p", {}, block, beside(total.block, "this block")),
    );
    thread.classList.toggle("tt-long", String(total.thread).length > 3);
    block.classList.toggle("tt-long", String(total.block).length > 3);
    const rows = [html("tr", {}, html("td"), html("th", {}, "thread"), html("th", {}, "block"))];
    for (const space of /** @type {Space[]} */ (["global", "shared", "local"])) {
      OPS.forEach((what, op) => {
        if (op === RESULT) return; // which no request makes
        if ((space !== "global" || op === ATOMIC) && !machine.count(space, op, last).block) return;
        const cells = [html("td"), html("td")];
        this.numbers.push({ space, op, thread: cells[0], block: cells[1] });
        rows.push(html("tr", {}, html("th", {}, lead(`${space} ${what}s`, "counts here, of the chosen thread")), ...cells));
      });
    }
    this.table?.replaceChildren(...rows);
    reach(this.table);
  }

  draw() {
    const { machine } = this.context;
    for (const { space, op, thread, block } of this.numbers) {
      const count = machine.count(space, op);
      write(thread, String(count.thread));
      write(block, String(count.block));
    }
  }

  state() {
    const rows = this.numbers.map(({ space, op, thread, block }) => [
      `${space} ${OPS[op]}`,
      [Number(thread.textContent), Number(block.textContent)],
    ]);
    return { counts: Object.fromEntries(rows), totals: [...this.callout.querySelectorAll("p > span")].map((text) => parseInt(text.textContent?.slice(3) ?? "")) };
  }
}
