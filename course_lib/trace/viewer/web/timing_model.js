// The timing model. Python simulates each setting and sends its timeline; here it is asked for and drawn. On a page
// without a kernel some settings are recorded, and the sliders go from one of these to the next.

import { html, inflate, part, svg, setText } from "./dom.js";
import { initialize, hideFallback } from "./fallback.js";
import { slider } from "./slider.js";

/**
 * @typedef {object} Plan
 * @property {number} latency
 * @property {number} warps
 * @property {number} tile_width
 * @property {number} buffers
 * @property {string[]} reasons
 * @property {number} shown cycles that are drawn
 * @property {number} end cycles in all
 * @property {number[][][]} rows of every warp [reason, first cycle, cycle after the last]
 * @property {number[]} in_flight bytes, in equal parts of the cycles that are drawn
 * @property {number} needed bytes in flight that use the whole bandwidth
 * @property {string[]} says
 */
/** @typedef {import("./fallback.js").Model} Model */

const FILLS = ["issuing", "global", "shared", "register", "barrier", "plain"].map((name) => `var(--tt-${name})`);
const LEFT = 84;
const WIDE = 900;
const ROW = 16;
const SLOTS = 12; // high, as a row's bars where there is room
const ROWS = 160; // for all rows: a small screen must hold the sliders and the picture
const NAMED = 13; // rows that are less high have room for every second name
const IN_FLIGHT = 74;
const RECORDED =
  "This page has no kernel: it holds recorded settings, and its sliders go from one of these to the next. " +
  "In a notebook every setting is simulated anew.";
const SETTING = ["latency", "warps", "tile_width", "buffers"];

/** @param {number} cycle @param {Plan} plan */
const across = (cycle, plan) => LEFT + ((WIDE - LEFT - 8) * cycle) / plan.shown;

/** From one row to the next. @param {Plan} plan */
const pitch = (plan) => Math.min(ROW, ROWS / plan.rows.length);

/**
 * All of a warp's spans with one reason as one path: a row has hundreds.
 * @param {number[][]} spans @param {number} top @param {number} high @param {Plan} plan
 */
function bars(spans, top, high, plan) {
  const edge = (/** @type {number} */ cycle) => across(cycle, plan).toFixed(1);
  return spans.map(([, first, last]) => `M${edge(first)} ${top}H${edge(last)}v${high}H${edge(first)}z`).join("");
}

/** @param {Plan} plan */
function rows(plan) {
  const step = pitch(plan);
  const every = step < NAMED ? 2 : 1;
  const drawn = plan.rows.map((spans, row) => {
    const top = Number((row * step + 2).toFixed(1));
    const name = svg("text", { x: LEFT - 6, y: top + 0.4 * step + 3.5, "text-anchor": "end" }, `warp ${row}`);
    const paths = FILLS.map((fill, reason) => {
      const d = bars(
        spans.filter((span) => span[0] === reason),
        top,
        Number((0.75 * step).toFixed(1)),
        plan,
      );
      return d && svg("path", { d, style: `fill: ${fill}`, class: `tt-reason-${reason}` });
    });
    return svg("g", { class: "tt-warp" }, ...(row % every ? [] : [name]), ...paths.filter(Boolean));
  });
  const top = plan.rows.length * step + 8;
  const issued = plan.rows.flat().filter((span) => span[0] === 0);
  drawn.push(svg("text", { x: LEFT - 6, y: top + 10, "text-anchor": "end" }, "issue slots"));
  drawn.push(svg("path", { d: bars(issued, top, SLOTS, plan), style: `fill: ${FILLS[0]}`, class: "tt-issued" }));
  return drawn;
}

/** Bytes in flight over the cycles, and how many would use the whole bandwidth. @param {Plan} plan @param {number} top */
function bytesInFlight(plan, top) {
  const most = Math.max(plan.needed, ...plan.in_flight, 1) * 1.08;
  const bottom = top + IN_FLIGHT;
  const height = (/** @type {number} */ bytes) => bottom - (IN_FLIGHT * bytes) / most;
  const step = plan.shown / plan.in_flight.length;
  const steps = plan.in_flight.map(
    (bytes, i) => `V${height(bytes).toFixed(1)}H${across((i + 1) * step, plan).toFixed(1)}`,
  );
  const needed = height(plan.needed);
  const label = `latency × bandwidth: ${plan.needed.toLocaleString("en")} bytes`;
  return [
    svg("path", { d: `M${LEFT} ${bottom}${steps.join("")}V${bottom}z`, class: "tt-in-flight" }),
    svg("line", { x1: LEFT, x2: WIDE - 8, y1: needed, y2: needed, class: "tt-needed" }),
    svg("text", { x: WIDE - 10, y: needed - 4, "text-anchor": "end" }, label),
    svg("text", { x: LEFT - 6, y: bottom - 32, "text-anchor": "end" }, "bytes"),
    svg("text", { x: LEFT - 6, y: bottom - 17, "text-anchor": "end" }, "in flight"),
  ];
}

/** @param {Plan} plan */
function picture(plan) {
  const top = plan.rows.length * pitch(plan) + 44;
  const bottom = top + IN_FLIGHT;
  const ticks = [];
  for (let cycle = 0; cycle <= plan.shown; cycle += 500) {
    const x = across(cycle, plan);
    ticks.push(svg("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4, class: "tt-axis" }));
    const anchor = cycle === plan.shown ? "end" : "middle";
    ticks.push(svg("text", { x, y: bottom + 16, "text-anchor": anchor }, cycle.toLocaleString("en")));
  }
  ticks.push(svg("line", { x1: LEFT, x2: WIDE - 8, y1: bottom, y2: bottom, class: "tt-axis" }));
  ticks.push(svg("text", { x: LEFT, y: bottom + 31 }, "cycles, of a model"));
  if (plan.end < plan.shown) {
    const x = across(plan.end, plan);
    ticks.push(svg("line", { x1: x, x2: x, y1: 0, y2: bottom + 20, class: "tt-end" }));
    const anchor = plan.end > 0.9 * plan.shown ? "end" : "middle";
    ticks.push(svg("text", { x, y: bottom + 31, "text-anchor": anchor }, `done: ${plan.end.toLocaleString("en")}`));
  }
  const label = plan.says.join(". ");
  const box = `0 -3 ${WIDE} ${bottom + 39}`;
  return svg(
    "svg",
    { viewBox: box, class: "tt-cycles", role: "img", "aria-label": label },
    ...rows(plan),
    ...bytesInFlight(plan, top),
    ...ticks,
  );
}

/** The colours of the reasons. @param {string[]} reasons */
function legend(reasons) {
  const items = reasons.map((reason, number) => html("li", { style: `--fill: ${FILLS[number]}` }, reason));
  return html("ul", { class: "tt-reasons", "aria-label": "What a warp does or waits for" }, ...items);
}

/** @typedef {{latency: number[], latencies?: number[], warps: number, widths: Record<string, number>, recorded?: Record<string, number[]>}} Offers  of the sliders; ``widths``: the warps of a block */

/**
 * The sliders by the names of their traits.
 * @param {Model} model
 * @param {Offers} offers
 * @param {(name: string, value: number) => void} choose
 */
function slidersOf(model, offers, choose) {
  const [first, last, step] = offers.latency;
  const latencies = offers.latencies ?? Array.from({ length: (last - first) / step + 1 }, (_, i) => first + i * step);
  const widths = Object.keys(offers.widths).map(Number);
  const counts = Array.from({ length: offers.warps }, (_, i) => i + 1);
  const many = (/** @type {number} */ count, /** @type {string} */ noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const chooseFor = (/** @type {string} */ name) => (/** @type {number} */ value) => choose(name, value);
  const chooseWarps = (/** @type {number} */ count) => {
    const chosen = wholeBlocks(count, model, offers, counts);
    choose("warps", chosen);
    sliders.warps.show(chosen);
  };
  const sliders = {
    latency: slider("latency", latencies, (n) => `latency: ${n.toLocaleString("en")} cycles`, chooseFor("latency")),
    warps: slider("warps", counts, (n) => many(n, "resident warp"), chooseWarps),
    tile_width: slider(
      "tile_width",
      widths,
      (n) => `T = ${n}, ${many(offers.widths[n], "warp")} a block`,
      chooseFor("tile_width"),
    ),
    buffers: slider(
      "buffers",
      [1, 2],
      (n) => (n === 1 ? "1 buffer: tiled" : "2 buffers: prefetched"),
      chooseFor("buffers"),
    ),
  };
  return sliders;
}

/**
 * Warps come in whole blocks: a key or a drag goes to the next count that is one, in its direction.
 * @param {number} count
 * @param {Model} model
 * @param {Offers} offers
 * @param {number[]} counts
 */
function wholeBlocks(count, model, offers, counts) {
  const width = model.get("tile_width");
  const up = count > model.get("warps");
  const offered = offers.recorded?.[width] ?? counts.filter((each) => each % offers.widths[width] === 0);
  const beyond = offered.filter((each) => (up ? each >= count : each <= count));
  const nearest = up ? beyond[0] : beyond.at(-1);
  return /** @type {number} */ (nearest ?? offered.at(up ? -1 : 0));
}

/** @param {{model: Model, el: HTMLElement}} place */
function render({ model, el }) {
  /** @type {Offers} */
  const offers = JSON.parse(model.get("_offers"));
  /** @type {Promise<Record<string, Plan>> | null}  by their settings: "latency,warps,T,buffers" */
  const recordedPlans = offers.recorded ? inflate(model.get("_recorded")).json() : null;
  const showRecorded = async () => {
    const counts = offers.recorded?.[model.get("tile_width")] ?? [];
    const atMost = counts.filter((count) => count <= model.get("warps"));
    model.set("warps", atMost.at(-1) ?? counts[0]); // whole blocks, as Python has it
    const setting = SETTING.map((name) => model.get(name)).join();
    model.set("_plan", JSON.stringify((await recordedPlans)?.[setting]));
  };
  const sliders = slidersOf(model, offers, (name, value) => {
    if (model.get(name) === value) return;
    model.set(name, value);
    if (recordedPlans) showRecorded();
    else model.save_changes();
  });
  const root = html(
    "div", // reveal.js takes every section for a slide
    { class: "tt-sliders-widget", role: "region", "aria-label": "Waiting, by the timing model" },
    html("div", { class: "tt-sliders" }, ...Object.values(sliders).map((each) => each.label)),
    ...(recordedPlans ? [html("p", { class: "tt-recorded" }, RECORDED)] : []),
    html("div", { class: "tt-picture" }),
    html("div", { class: "tt-sentences" }),
    html("p", { class: "tt-outdated", "aria-live": "polite" }),
  );
  root.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab's shortcuts are not meant here

  const showSetting = () => {
    const plan = /** @type {Plan} */ (JSON.parse(model.get("_plan")));
    for (const [name, each] of Object.entries(sliders)) each.show(model.get(name));
    const current = SETTING.every((name) => model.get(name) === /** @type {any} */ (plan)[name]);
    setText(part(root, "outdated"), current ? "" : "The picture is the one before; Python simulates the new setting.");
  };
  const draw = () => {
    const plan = /** @type {Plan} */ (JSON.parse(model.get("_plan")));
    part(root, "picture").replaceChildren(legend(plan.reasons), picture(plan));
    part(root, "sentences").replaceChildren(...plan.says.map((sentence) => html("p", {}, `${sentence}.`)));
    showSetting();
  };
  model.on("change:_plan", draw);
  for (const name of SETTING) model.on(`change:${name}`, showSetting);
  draw();
  el.replaceChildren(root);
  const showFallback = hideFallback(model, el);
  return () => {
    showFallback();
    model.off("change:_plan", draw);
    for (const name of SETTING) model.off(`change:${name}`, showSetting);
  };
}

export default { initialize, render };
