// The kernel's source: the line that runs, how often the chosen thread ran each, and its global loads there.

import { html, setText } from "../dom.js";
import { jumpOnClick, jumpButton, addToTabOrder } from "../jumps.js";
import { AROUND } from "../layout.js";
import { Panel } from "../panel.js";
import { highlight, halfIndented, conditionOf } from "../text.js";

const GROUP = 10; // lines
const HANGING = 2; // columns by which what goes on in the next row is indented further

/** The heads of the columns beside the lines. */
function columnHeads() {
  const heads = [
    ["", ""],
    ["runs", "How often the chosen thread has run the line"],
    ["loads", "Global loads of the chosen thread on the line"],
  ];
  return heads.map(([text, title]) =>
    html("span", { title, ...(text && { class: "tt-of-lines" }) }, html("small", {}, text)),
  );
}

/** A line of the source, with the places of its counts. @param {number} number @param {string} text @param {Map<string, string>} hues  of names */
function lineOf(number, text, hues) {
  const [runs, loads] = [html("span", { class: "tt-runs" }), html("span", { class: "tt-loads" })];
  const label = html("span", { class: "tt-number" }, jumpButton(String(number), "runs the line"));
  const code = highlight(halfIndented(text), hues);
  code.style.setProperty("--tt-hang", `${halfIndented(text).search(/\S|$/) + HANGING}ch`);
  const node = html("div", { class: "tt-line", "data-line": number }, label, runs, loads, code);
  const remark = code.querySelector(".tt-remark")?.textContent ?? "";
  node.classList.toggle("tt-without-code", text.trim() === remark.trim());
  return { node, runs, loads };
}

export class Source extends Panel {
  static at = "source";

  /** @param {HTMLElement} place @param {import("../panel.js").Context} context */
  constructor(place, context) {
    super(place, context);
    const { trace } = context;
    const hues = new Map(trace.arrays.map((a) => [a.name, a.hue]));
    for (const name of trace.accumulators) hues.set(name, "var(--tt-register)");
    /** @type {Map<number, {node: HTMLElement, runs: HTMLElement, loads: HTMLElement}>} */
    this.lines = new Map(trace.source.map(([number, text]) => [number, lineOf(number, text, hues)]));
    const rows = [...this.lines.values()].map(({ node }) => node);
    // A group is painted again only where one of its lines has changed.
    const groups = Array.from({ length: Math.ceil(rows.length / GROUP) }, (_, i) =>
      html("div", { class: "tt-group" }, ...rows.slice(i * GROUP, (i + 1) * GROUP)),
    );
    this.list = html("div", { class: "tt-lines", tabindex: -1 }, ...groups);
    this.all = this.buttonOfAllLines();
    this.head = html("div", { class: "tt-line tt-columns", "data-kernel": trace.name }, ...columnHeads());
    this.head.append(html("div", { class: "tt-registers" }), this.all);
    place.replaceChildren(this.head, this.list);
    jumpOnClick(
      place,
      ".tt-line",
      () => context,
      ({ dataset }) => context.replay.stepsOnLine(Number(dataset.line)),
    );
    addToTabOrder(place);
    /** @type {HTMLElement | undefined} */
    this.current = undefined;
    this.condition = html("span", { class: "tt-condition" });
    /** @type {HTMLElement[]} */
    this.wrong = [];
  }

  buttonOfAllLines() {
    const button = html(
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
    button.addEventListener("click", () => {
      const open = this.place.classList.toggle("tt-all");
      button.setAttribute("aria-expanded", String(open));
      this.scroll();
    });
    return button;
  }

  choose() {
    const { replay, trace } = this.context;
    this.head.title = `Counts of thread ${trace.threadLabel(replay.thread)}`;
  }

  draw() {
    const { frame, replay } = this.context;
    for (const [number, line] of this.lines) {
      const { runs, loads } = replay.onLine(number);
      setText(line.runs, runs ? String(runs) : "");
      setText(line.loads, loads ? String(loads) : "");
    }
    const ofStep = replay.line === null ? [] : [replay.line];
    const lit = frame ? [...frame.lines].sort((x, y) => x - y) : ofStep;
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
    this.showCondition(frame ? null : conditionOf(replay));
    const lines = replay.findings.flatMap((finding) => [finding.line, finding.other_line ?? finding.line]);
    for (const node of this.wrong) node.classList.remove("tt-broken");
    this.wrong = lines.flatMap((number) => this.lines.get(number)?.node ?? []);
    for (const node of this.wrong) node.classList.add("tt-broken");
  }

  /**
   * The condition of the current line, with the numbers of the chosen thread.
   * @param {{text: string, holds: boolean} | null} condition
   */
  showCondition(condition) {
    if (!condition || !this.current) return this.condition.remove();
    setText(this.condition, condition.text);
    this.condition.classList.toggle("tt-holds", condition.holds);
    if (this.condition.parentNode !== this.current) this.current.append(this.condition);
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
