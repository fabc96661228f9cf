/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources fa1b0a19eb1ce6ad bundle c1382e67a1b27651 */
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
function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

// dials.js
var WIDE = 1e3;
var ANCHORS = { left: "start", middle: "middle", right: "end" };
var RECORDED = "This page has no kernel: it holds the pictures of some settings, and its sliders go from one of these to the next. In a notebook every setting is drawn.";
function drawn([kind, ...fields]) {
  if (kind === "box") {
    const [x2, y2, width, height, fill2, edge, thick, rx] = fields;
    return svg("rect", { x: x2, y: y2, width, height, rx, fill: fill2 ?? "none", stroke: edge ?? "none", "stroke-width": thick });
  }
  const [x, y, text, size, fill, anchor, , bold] = fields;
  const at = { x, y, fill, "font-size": size, "text-anchor": ANCHORS[
    /** @type {"left"} */
    anchor
  ] };
  return svg("text", { ...at, "dominant-baseline": "central", "font-weight": bold ? 700 : 400 }, text);
}
function picture(sketch) {
  const label = sketch.says.join(". ");
  const box = `0 0 ${WIDE} ${sketch.height}`;
  return svg("svg", { viewBox: box, class: "tt-dialled", role: "img", "aria-label": label }, ...sketch.shapes.map(drawn));
}
function render({ model, el }) {
  const offers = JSON.parse(model.get("_offers"));
  const sketches = offers.recorded ? unpacked(model.get("_sketches")) : null;
  const names = Object.keys(offers.dials);
  const ask = (name) => async (value) => {
    model.set("setting", { ...model.get("setting"), [name]: value });
    if (!sketches) return model.save_changes();
    const chosen = names.map((each) => model.get("setting")[each]).join();
    model.set("_sketch", JSON.stringify((await sketches)[chosen]));
  };
  const sliders = Object.fromEntries(
    names.map((name) => {
      const { values, says } = offers.dials[name];
      return [name, slider(name, values, (value) => says[values.indexOf(value)], ask(name))];
    })
  );
  const root = html(
    "div",
    // reveal.js takes every section for a slide
    { class: "tt-schedule", role: "region", "aria-label": offers.title },
    html("div", { class: "tt-sliders" }, ...names.map((name) => sliders[name].label)),
    ...sketches ? [html("p", { class: "tt-recorded" }, RECORDED)] : [],
    html("div", { class: "tt-plan" }),
    html("div", { class: "tt-says", "aria-live": "polite" }),
    html("p", { class: "tt-asking" })
  );
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const asked = () => {
    const { setting } = JSON.parse(model.get("_sketch"));
    for (const name of names) sliders[name].show(model.get("setting")[name]);
    const current = names.every((name) => model.get("setting")[name] === setting[name]);
    write(part(root, "asking"), current ? "" : "The picture is the one before; Python draws the new setting.");
  };
  const draw = () => {
    const sketch = (
      /** @type {Sketch} */
      JSON.parse(model.get("_sketch"))
    );
    part(root, "plan").replaceChildren(picture(sketch));
    part(root, "says").replaceChildren(...sketch.says.map((sentence) => html("p", {}, `${sentence}.`)));
    asked();
  };
  model.on("change:_sketch", draw);
  model.on("change:setting", asked);
  draw();
  el.replaceChildren(root);
  const bringBack = replaceStill(model, el);
  return () => {
    bringBack();
    model.off("change:_sketch", draw);
    model.off("change:setting", asked);
  };
}
var dials_default = { render };
export {
  dials_default as default
};
