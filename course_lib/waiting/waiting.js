/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources 323d6ddf2291bddb bundle 6a1929329d553183 */
// dom.js
var SVG = "http://www.w3.org/2000/svg";
function html(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}
function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return (
    /** @type {SVGElement} */
    node
  );
}
function part(root, name) {
  const node = root.querySelector(`.tt-${name}`);
  if (!node) throw new Error(`The layout has no .tt-${name}.`);
  return (
    /** @type {HTMLElement} */
    node
  );
}
function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// still.js
var FIRST_TRY = 20;
var SLOWEST = 5e3;
function replaceStill(model, el) {
  const mark = model.get("_still");
  if (!mark) return () => {
  };
  let hidden = null;
  let timer = void 0;
  const replace = () => {
    if (!el.isConnected || !el.firstElementChild || el.querySelector("[role=alert]")) return false;
    sizes.disconnect();
    clearTimeout(timer);
    hidden = outputBefore(el, mark);
    if (hidden) hidden.style.display = "none";
    return true;
  };
  const sizes = new ResizeObserver(replace);
  sizes.observe(el);
  const again = (after) => {
    timer = setTimeout(() => replace() || again(Math.min(2 * after, SLOWEST)), after);
  };
  again(FIRST_TRY);
  return () => {
    sizes.disconnect();
    clearTimeout(timer);
    hidden?.style.removeProperty("display");
  };
}
function outputBefore(el, mark) {
  for (let node = el; node.parentElement && node !== document.body; node = node.parentElement) {
    for (let before = node.previousElementSibling; before instanceof HTMLElement; before = before.previousElementSibling) {
      const all = [...before.querySelectorAll("img, .tile-by-tile-still")];
      if (!all.length) break;
      const stills = all.filter((still2) => isStill(still2, mark));
      if (!stills.length || before.style.display === "none") continue;
      const [still] = stills;
      const alone = stills.length === 1 && before.textContent?.trim() === still.textContent?.trim();
      return alone ? before : null;
    }
  }
  return null;
}
function isStill(node, mark) {
  return !(node instanceof HTMLImageElement) || node.src.endsWith(mark);
}

// waiting.js
var FILLS = ["issuing", "global", "shared", "register", "barrier", "plain"].map((name) => `var(--tt-${name})`);
var LEFT = 84;
var WIDE = 900;
var ROW = 16;
var SLOTS = 12;
var ROWS = 160;
var NAMED = 13;
var FLIGHT = 74;
var RECORDED = "This page has no kernel: it holds recorded plays, and its sliders go from one of these to the next. In a notebook every setting is played anew.";
var SETTING = ["latency", "warps", "tile_width", "buffers"];
var across = (cycle, plan) => LEFT + (WIDE - LEFT - 8) * cycle / plan.shown;
var pitch = (plan) => Math.min(ROW, ROWS / plan.rows.length);
function bars(spans, top, high, plan) {
  const edge = (cycle) => across(cycle, plan).toFixed(1);
  return spans.map(([, first, last]) => `M${edge(first)} ${top}H${edge(last)}v${high}H${edge(first)}z`).join("");
}
function rows(plan) {
  const step = pitch(plan);
  const every = step < NAMED ? 2 : 1;
  const drawn = plan.rows.map((spans, row) => {
    const top2 = Number((row * step + 2).toFixed(1));
    const name = svg("text", { x: LEFT - 6, y: top2 + 0.4 * step + 3.5, "text-anchor": "end" }, `warp ${row}`);
    const paths = FILLS.map((fill, reason) => {
      const d = bars(spans.filter((span) => span[0] === reason), top2, Number((0.75 * step).toFixed(1)), plan);
      return d && svg("path", { d, style: `fill: ${fill}`, class: `tt-reason-${reason}` });
    });
    return svg("g", { class: "tt-warp" }, ...row % every ? [] : [name], ...paths.filter(Boolean));
  });
  const top = plan.rows.length * step + 8;
  const issued = plan.rows.flat().filter((span) => span[0] === 0);
  drawn.push(svg("text", { x: LEFT - 6, y: top + 10, "text-anchor": "end" }, "issue slots"));
  drawn.push(svg("path", { d: bars(issued, top, SLOTS, plan), style: `fill: ${FILLS[0]}`, class: "tt-issued" }));
  return drawn;
}
function flight(plan, top) {
  const most = Math.max(plan.needed, ...plan.in_flight, 1) * 1.08;
  const bottom = top + FLIGHT;
  const height = (bytes) => bottom - FLIGHT * bytes / most;
  const step = plan.shown / plan.in_flight.length;
  const steps = plan.in_flight.map((bytes, i) => `V${height(bytes).toFixed(1)}H${across((i + 1) * step, plan).toFixed(1)}`);
  const needed = height(plan.needed);
  const label = `latency × bandwidth: ${plan.needed.toLocaleString("en")} bytes`;
  return [
    svg("path", { d: `M${LEFT} ${bottom}${steps.join("")}V${bottom}z`, class: "tt-flight" }),
    svg("line", { x1: LEFT, x2: WIDE - 8, y1: needed, y2: needed, class: "tt-needed" }),
    svg("text", { x: WIDE - 10, y: needed - 4, "text-anchor": "end" }, label),
    svg("text", { x: LEFT - 6, y: bottom - 32, "text-anchor": "end" }, "bytes"),
    svg("text", { x: LEFT - 6, y: bottom - 17, "text-anchor": "end" }, "in flight")
  ];
}
function picture(plan) {
  const top = plan.rows.length * pitch(plan) + 44;
  const bottom = top + FLIGHT;
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
  return svg("svg", { viewBox: box, class: "tt-cycles", role: "img", "aria-label": label }, ...rows(plan), ...flight(plan, top), ...ticks);
}
function slider(name, values, says, chosen) {
  const input = (
    /** @type {HTMLInputElement} */
    html("input", { type: "range", min: 0, max: values.length - 1, step: 1, class: `tt-slider-${name}` })
  );
  const text = html("b");
  input.addEventListener("input", () => chosen(values[Number(input.value)]));
  return {
    label: html("label", {}, text, input),
    /** @param {number} value */
    show(value) {
      input.value = String(Math.max(values.indexOf(value), 0));
      input.setAttribute("aria-valuetext", says(value));
      write(text, says(value));
    }
  };
}
function legend(reasons) {
  const items = reasons.map((reason, number) => html("li", { style: `--fill: ${FILLS[number]}` }, reason));
  return html("ul", { class: "tt-reasons", "aria-label": "What a warp does or waits for" }, ...items);
}
function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
function render({ model, el }) {
  const offers = JSON.parse(model.get("_offers"));
  const [first, last, step] = offers.latency;
  const plays = offers.recorded ? unpacked(model.get("_plays")) : null;
  const latencies = offers.latencies ?? Array.from({ length: (last - first) / step + 1 }, (_, i) => first + i * step);
  const widths = Object.keys(offers.widths).map(Number);
  const ask = (name) => (value) => {
    if (model.get(name) === value) return;
    model.set(name, value);
    if (plays) playRecorded(plays);
    else model.save_changes();
  };
  const playRecorded = async (all) => {
    const counts2 = offers.recorded[model.get("tile_width")];
    const held = counts2.filter((count) => count <= model.get("warps"));
    model.set("warps", held.at(-1) ?? counts2[0]);
    const found = await all;
    model.set("_plan", JSON.stringify(found[SETTING.map((name) => model.get(name)).join()]));
  };
  const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const counts = Array.from({ length: offers.warps }, (_, i) => i + 1);
  const whole = (count) => {
    const size = offers.widths[model.get("tile_width")];
    const up = count > model.get("warps");
    const offered = offers.recorded?.[model.get("tile_width")] ?? counts.filter((each) => each % size === 0);
    const beyond = offered.filter((each) => up ? each >= count : each <= count);
    const chosen = (up ? beyond[0] : beyond.at(-1)) ?? offered.at(up ? -1 : 0);
    ask("warps")(chosen);
    sliders.warps.show(chosen);
  };
  const sliders = {
    latency: slider("latency", latencies, (n) => `latency: ${n.toLocaleString("en")} cycles`, ask("latency")),
    warps: slider("warps", counts, (n) => many(n, "resident warp"), whole),
    tile_width: slider("tile_width", widths, (n) => `T = ${n}, ${many(offers.widths[n], "warp")} a block`, ask("tile_width")),
    buffers: slider("buffers", [1, 2], (n) => n === 1 ? "1 buffer: tiled" : "2 buffers: prefetched", ask("buffers"))
  };
  const root = html(
    "div",
    // reveal.js takes every section for a slide
    { class: "tt-schedule", role: "region", "aria-label": "Waiting, as a model plays it" },
    html("div", { class: "tt-sliders" }, ...Object.values(sliders).map((each) => each.label)),
    ...plays ? [html("p", { class: "tt-recorded" }, RECORDED)] : [],
    html("div", { class: "tt-plan" }),
    html("div", { class: "tt-says" }),
    html("p", { class: "tt-asking", "aria-live": "polite" })
  );
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const asked = () => {
    const plan = (
      /** @type {Plan} */
      JSON.parse(model.get("_plan"))
    );
    for (const [name, each] of Object.entries(sliders)) each.show(model.get(name));
    const current = SETTING.every((name) => model.get(name) === /** @type {any} */
    plan[name]);
    write(part(root, "asking"), current ? "" : "The picture is the one before; Python plays the new setting.");
  };
  const draw = () => {
    const plan = (
      /** @type {Plan} */
      JSON.parse(model.get("_plan"))
    );
    part(root, "plan").replaceChildren(legend(plan.reasons), picture(plan));
    part(root, "says").replaceChildren(...plan.says.map((sentence) => html("p", {}, `${sentence}.`)));
    asked();
  };
  model.on("change:_plan", draw);
  for (const name of SETTING) model.on(`change:${name}`, asked);
  draw();
  el.replaceChildren(root);
  const bringBack = replaceStill(model, el);
  return () => {
    bringBack();
    model.off("change:_plan", draw);
    for (const name of SETTING) model.off(`change:${name}`, asked);
  };
}
var waiting_default = { render };
export {
  waiting_default as default
};
