// The whole launch: what each line cost.

import { html } from "../dom.js";
import { Panel } from "../panel.js";
import { tip } from "../terms.js";

export class Launch extends Panel {
  static id = "launch";
  static title = "Launch";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    this.table = html("table", { class: "tt-costs" });
    place.append(
      html(
        "div",
        {
          class: "tt-scroll tt-wide",
          tabindex: 0,
          role: "group",
          "aria-label": "Cost of each line in the whole launch",
        },
        this.table,
      ),
    );
    /** @type {{line: number, row: HTMLElement}[]} */
    this.rows = this.lines();
  }

  lines() {
    const { trace, offers } = this.context;
    // counts that no offered view explains are not shown
    const heads = ["line", "access", "accesses"];
    if (offers("warp") || offers("banks")) heads.push("requests");
    if (offers("warp")) heads.push("sectors", "per request");
    if (offers("banks")) heads.push("wavefronts", "conflicts");
    const rows = trace.traffic.map((row) => {
      const each = row.requests && row.space === "global" ? Number((row.sectors / row.requests).toFixed(2)) : "";
      const shared = row.space === "shared";
      /** @type {Record<string, number | string>} */
      const counts = { accesses: row.accesses, requests: row.requests };
      if (shared) Object.assign(counts, { wavefronts: row.wavefronts, conflicts: row.bank_conflicts });
      else Object.assign(counts, { sectors: row.sectors, "per request": each });
      const cells = heads.slice(2).map((head) => counts[head] ?? "");
      const what = html("td", { class: "tt-what" }, `${row.op} ${row.array}`);
      const node = html(
        "tr",
        {},
        html("td", {}, String(row.line)),
        what,
        ...cells.map((cell) => html("td", {}, String(cell))),
      );
      node.style.setProperty("--hue", trace.arrays.find(({ name }) => name === row.array)?.hue ?? "var(--tt-other)");
      return { line: row.line, row: node };
    });
    const head = html("tr", {}, ...heads.map((text) => html("th", { scope: "col", ...tip(text) }, text)));
    this.table.replaceChildren(html("tbody", {}, head, ...rows.map(({ row }) => row)));
    return rows;
  }

  draw() {
    const { replay } = this.context;
    for (const { line, row } of this.rows) row.classList.toggle("tt-here", line === replay.line);
  }
}
