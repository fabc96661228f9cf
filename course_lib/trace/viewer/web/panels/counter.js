// What the block has loaded from global memory so far, as numbers that grow, beside the run that it is compared with.

import { html, write } from "../dom.js";
import { Film } from "../film.js";
import { Panel } from "../panel.js";

export class Counter extends Panel {
  static at = "counter";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.number = html("b");
    this.all = html("span", { class: "tt-soft" });
    this.bar = html("i");
    this.uses = html("p", {
      class: "tt-uses",
      title: "How often the threads calculate with a number that the block loads",
    });
    this.beside = html("p", { class: "tt-soft" });
    const heading = html(
      "div",
      { class: "tt-heading", title: "Numbers that the threads of this block load from global memory" },
      "Block's global loads",
    );
    place.append(
      heading,
      html("p", {}, this.number, this.all),
      html("span", { class: "tt-track-of" }, this.bar),
      this.uses,
      this.beside,
    );
    this.most = 1;
  }

  choose() {
    const { machine, other, trace } = this.context;
    const film = Film.of(trace.blocks[machine.blockNumber]);
    const { fetched: total, uses } = film;
    const theirs = other ? Film.of(other.trace.blocks[other.blockNumber]).fetched : 0;
    this.most = Math.max(1, total, theirs);
    const often = Number.isInteger(uses) ? String(uses) : uses.toFixed(1);
    write(this.uses, !uses ? "" : `used ${uses === 1 ? "once" : `${often}×`} on average`);
    const times = theirs > total ? theirs / total : 0;
    write(this.all, ` of ${total.toLocaleString("en")}`);
    write(
      this.beside,
      times && total ? `${other?.trace.name}: ${Number.isInteger(times) ? times : times.toFixed(1)}× as many` : "",
    );
  }

  draw() {
    const { machine } = this.context;
    const now = machine.fetched();
    write(this.number, now.toLocaleString("en"));
    this.bar.style.setProperty("--part", String(now / this.most));
  }
}
