// Sliders beside a picture. Python draws each setting and sends its shapes; here they become SVG. On a page without a
// kernel the pictures of some settings are recorded, and the sliders go from one of these to the next.

import { html, inflate, part, svg, setText } from "./dom.js";
import { initialize, hideFallback } from "./fallback.js";
import { slider } from "./slider.js";

/**
 * @typedef {object} Sketch
 * @property {Record<string, number>} setting
 * @property {number} height
 * @property {any[][]} shapes each with the fields of course_lib/trace/viewer/picture_shapes.py, after "box", "text" or "polygon"
 * @property {string[]} says
 */

const WIDE = 1000;
const ANCHORS = { left: "start", middle: "middle", right: "end" };
const RECORDED =
  "This page has no kernel: it holds the pictures of some settings, and its sliders go from one of these to the next. " +
  "In a notebook every setting is drawn.";

/** @param {any[]} shape */
function drawn([kind, ...fields]) {
  if (kind === "box") {
    const [x, y, width, height, fill, edge, thick, rx] = fields;
    return svg("rect", {
      x,
      y,
      width,
      height,
      rx,
      fill: fill ?? "none",
      stroke: edge ?? "none",
      "stroke-width": thick,
    });
  }
  if (kind === "polygon") {
    const [points, fill, edge, thick] = fields;
    return svg("polygon", {
      points: points.join(" "),
      fill: fill ?? "none",
      stroke: edge ?? "none",
      "stroke-width": thick,
    });
  }
  const [x, y, text, size, fill, anchor, , bold] = fields;
  const at = { x, y, fill, "font-size": size, "text-anchor": ANCHORS[/** @type {"left"} */ (anchor)] };
  return svg("text", { ...at, "dominant-baseline": "central", "font-weight": bold ? 700 : 400 }, text);
}

/** @param {Sketch} sketch */
function picture(sketch) {
  const label = sketch.says.join(". ");
  const box = `0 0 ${WIDE} ${sketch.height}`;
  return svg(
    "svg",
    { viewBox: box, class: "tt-sliders-picture", role: "img", "aria-label": label },
    ...sketch.shapes.map(drawn),
  );
}

/** @param {{model: import("./fallback.js").Model, el: HTMLElement}} place */
function render({ model, el }) {
  const offers = JSON.parse(model.get("_offers"));
  const sketches = offers.recorded ? inflate(model.get("_sketches")).json() : null;
  const names = Object.keys(offers.sliders);
  const chooseFor = (/** @type {string} */ name) => async (/** @type {number} */ value) => {
    model.set("setting", { ...model.get("setting"), [name]: value });
    if (!sketches) return model.save_changes();
    const chosen = names.map((each) => model.get("setting")[each]).join();
    model.set("_sketch", JSON.stringify((await sketches)[chosen]));
  };
  const sliders = Object.fromEntries(
    names.map((name) => {
      const { values, says } = offers.sliders[name];
      return [name, slider(name, values, (value) => says[values.indexOf(value)], chooseFor(name))];
    }),
  );
  const root = html(
    "div", // reveal.js takes every section for a slide
    { class: "tt-sliders-widget", role: "region", "aria-label": offers.title },
    html("div", { class: "tt-sliders" }, ...names.map((name) => sliders[name].label)),
    ...(sketches ? [html("p", { class: "tt-recorded" }, RECORDED)] : []),
    html("div", { class: "tt-picture" }),
    html("div", { class: "tt-sentences", "aria-live": "polite" }),
    html("p", { class: "tt-outdated" }),
  );
  root.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab's shortcuts are not meant here

  const showSetting = () => {
    const { setting } = JSON.parse(model.get("_sketch"));
    for (const name of names) sliders[name].show(model.get("setting")[name]);
    const current = names.every((name) => model.get("setting")[name] === setting[name]);
    setText(part(root, "outdated"), current ? "" : "The picture is the one before; Python draws the new setting.");
  };
  const draw = () => {
    const sketch = /** @type {Sketch} */ (JSON.parse(model.get("_sketch")));
    part(root, "picture").replaceChildren(picture(sketch));
    part(root, "sentences").replaceChildren(...sketch.says.map((sentence) => html("p", {}, `${sentence}.`)));
    showSetting();
  };
  model.on("change:_sketch", draw);
  model.on("change:setting", showSetting);
  draw();
  el.replaceChildren(root);
  const showFallback = hideFallback(model, el);
  return () => {
    showFallback();
    model.off("change:_sketch", draw);
    model.off("change:setting", showSetting);
  };
}

export default { initialize, render };
