// The kernel's source: the line that runs, how often the chosen thread ran each, and its global loads there.

import { html, write } from "../dom.js";
import { follow, lead, reach } from "../jumps.js";
import { AROUND } from "../layout.js";
import { Panel } from "../panel.js";
import { highlight, shallow, truth } from "../text.js";

const GROUP = 10; // lines
const HANGING = 2; // columns by which what goes on in the next row is indented further

export class Source extends Panel {
  static at = "source";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    const { trace } = context;
    const hues = new Map(trace.arrays.map((a) => [a.name, a.hue]));
    for (const name of trace.accumulators) hues.set(name, "var(--tt-register)");
    this.head = html("div", { class: "tt-line tt-columns", "data-kernel": trace.name });
    for (const [text, title] of [
      ["", ""],
      ["runs", "How often the chosen thread has run the line"],
      ["loads", "Global loads of the chosen thread on the line"],
    ]) {
      this.head.append(html("span", { title, ...(text && { class: "tt-of-lines" }) }, html("small", {}, text)));
    }
    /** @type {Map<number, {node: HTMLElement, runs: HTMLElement, loads: HTMLElement}>} */
    this.lines = new Map();
    const rows = trace.source.map(([number, text]) => {
      const [runs, loads] = [html("span", { class: "tt-runs" }), html("span", { class: "tt-loads" })];
      const label = html("span", { class: "tt-number" }, lead(String(number), "runs the line"));
      const code = highlight(shallow(text), hues);
      code.style.setProperty("--tt-hang", `${shallow(text).search(/\S|$/) + HANGING}ch`);
      const node = html("div", { class: "tt-line", "data-line": number }, label, runs, loads, code);
      const remark = code.querySelector(".tt-remark")?.textContent ?? "";
      node.classList.toggle("tt-bare", text.trim() === remark.trim());
      this.lines.set(number, { node, runs, loads });
      return node;
    });
    // A group is painted again only where one of its lines has changed.
    const groups = Array.from({ length: Math.ceil(rows.length / GROUP) }, (_, i) =>
      html("div", { class: "tt-group" }, ...rows.slice(i * GROUP, (i + 1) * GROUP)),
    );
    this.list = html("div", { class: "tt-lines", tabindex: -1 }, ...groups);
    this.all = html(
      "button",
      {
        type: "button",
        class: "tt-all-lines",
        "aria-expanded": "false",
        tabindex: -1,
        title: "Show the whole source, or the lines around the current one",
      },
      "all lines",
    );
    this.all.addEventListener("click", () => {
      const open = place.classList.toggle("tt-all");
      this.all.setAttribute("aria-expanded", String(open));
      this.scroll();
    });
    this.head.append(html("div", { class: "tt-registers" }), this.all);
    place.replaceChildren(this.head, this.list);
    follow(
      place,
      ".tt-line",
      () => context,
      ({ dataset }) => context.replay.stepsOnLine(Number(dataset.line)),
    );
    reach(place);
    /** @type {HTMLElement | undefined} */
    this.current = undefined;
    this.truth = html("span", { class: "tt-truth" });
    /** @type {HTMLElement[]} */
    this.wrong = [];
  }

  choose() {
    const { replay, trace } = this.context;
    this.head.title = `Counts of thread ${trace.threadLabel(replay.thread)}`;
  }

  draw() {
    const { frame, replay } = this.context;
    for (const [number, line] of this.lines) {
      const { runs, loads } = replay.onLine(number);
      write(line.runs, runs ? String(runs) : "");
      write(line.loads, loads ? String(loads) : "");
    }
    const lit = frame ? [...frame.lines].sort((x, y) => x - y) : replay.line === null ? [] : [replay.line];
    for (const [number, { node }] of this.lines)
      node.classList.toggle("tt-in-frame", Boolean(frame) && lit.includes(number));
    const current = this.lines.get(lit[0])?.node;
    if (current !== this.current) {
      this.current?.classList.remove("tt-current");
      this.current?.removeAttribute("aria-current");
      current?.classList.add("tt-current");
      current?.setAttribute("aria-current", "step");
      this.current = current;
    }
    this.tell(frame ? null : truth(replay));
    const lines = replay.found.flatMap((finding) => [finding.line, finding.other_line ?? finding.line]);
    for (const node of this.wrong) node.classList.remove("tt-broken");
    this.wrong = lines.flatMap((number) => this.lines.get(number)?.node ?? []);
    for (const node of this.wrong) node.classList.add("tt-broken");
  }

  /**
   * The condition of the current line, with the numbers of the chosen thread.
   * @param {{text: string, holds: boolean} | null} said
   */
  tell(said) {
    if (!said || !this.current) return this.truth.remove();
    write(this.truth, said.text);
    this.truth.classList.toggle("tt-holds", said.holds);
    if (this.truth.parentNode !== this.current) this.current.append(this.truth);
  }

  /**
   * Keep the current line in the middle, with the lines around it, and a finding's lines in sight where they fit; asked
   * last, so that the page is laid out once a step.
   */
  scroll() {
    const { current, list } = this;
    if (!current) return;
    const shown = [...this.lines.values()].map(({ node }) => node).filter((node) => node.offsetHeight);
    const at = shown.indexOf(current);
    if (at < 0) return; // nothing is on the page
    const first = shown[Math.max(0, at - AROUND)].offsetTop;
    const last = shown[Math.min(shown.length - 1, at + AROUND)];
    const least = last.offsetTop + last.offsetHeight - list.clientHeight;
    const middle = current.offsetTop + current.offsetHeight / 2 - list.clientHeight / 2;
    const around = least > first ? middle : Math.min(first, Math.max(least, middle));
    const found = shown.filter((node) => node === current || node.classList.contains("tt-broken"));
    const [head, foot] = [found[0], found[found.length - 1]];
    const low = foot.offsetTop + foot.offsetHeight - list.clientHeight;
    const top = Math.round(low > head.offsetTop ? around : Math.min(head.offsetTop, Math.max(low, around)));
    if (list.scrollTop !== top) list.scrollTop = top;
  }
}
