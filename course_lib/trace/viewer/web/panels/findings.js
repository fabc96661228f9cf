// The findings of the launch: a list, in which those of this step are marked.

import { html } from "../dom.js";
import { Panel } from "../panel.js";

export class Findings extends Panel {
  static id = "findings";
  static title = "Findings";
  static none = "It breaks no rule.";
  /** @param {import("../trace.js").Trace} trace */
  static wants(trace) {
    return trace.findings.length > 0;
  }

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.rows = context.trace.findings.map((finding) => this.row(finding));
    place.append(html("ol", { class: "tt-found-list" }, ...this.rows));
  }

  /** @param {import("../trace.js").Finding} finding */
  row(finding) {
    const { trace } = this.context;
    const { kind, severity, line, other_line: other, message, count, counted, at } = finding;
    const lines = other === null || other === line ? `line ${line}` : `lines ${other} and ${line}`;
    const head = html("div", { class: "tt-found-head" }, html("b", {}, kind), ` ${severity}, ${lines}`);
    if (count > 1) head.append(`, ${counted}`);
    const row = html("li", { class: `tt-${severity}` }, head, html("p", {}, message));
    at.forEach((place, i) => {
      const who = `${i ? "the earlier access" : "show it"}: thread ${trace.threadLabel(place.thread)}`;
      const block = trace.blocks.length > 1 ? ` of block ${trace.label(trace.blocks[place.block].at)}` : "";
      const button = html("button", { type: "button", class: "tt-go" }, `${who}${block}, step ${place.step}`);
      button.addEventListener("click", () => {
        const thread = trace.threadPosition(place.thread);
        this.context.choose({ step: place.step, block: trace.blocks[place.block].at, thread });
      });
      row.append(button);
    });
    return row;
  }

  draw() {
    const { replay, trace } = this.context;
    const found = replay.findings;
    trace.findings.forEach((finding, i) => {
      const here = found.includes(finding);
      this.rows[i].classList.toggle("tt-here", here);
      if (here) this.rows[i].setAttribute("aria-current", "step");
      else this.rows[i].removeAttribute("aria-current");
    });
  }
}
