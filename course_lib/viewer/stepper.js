// The stepper's browser side. The whole trace is here, so a step is replayed and drawn without the kernel.

const SVG = "http://www.w3.org/2000/svg";
const LOAD = 0;
const UNIT = 20; // side of one element in SVG units
const READ = 1;
const WRITTEN = 2;
// How an element looks: its number here is its state, FAINT added where its value is not the kernel's business.
const LOOKS = ["", " tt-region", " tt-seen", " tt-active", " tt-empty", " tt-now tt-read", " tt-now tt-written"];
const [PLAIN, REGION, SEEN, ACTIVE, EMPTY, NOW_READ, NOW_WRITTEN] = LOOKS.keys();
const FAINT = 8;
const SPEEDS = [1, 2, 4, 8, 16, 32]; // steps per second
const HUES = { A: "var(--tt-a)", B: "var(--tt-b)", C: "var(--tt-c)" };
const SPACE_HUES = { shared: "var(--tt-shared)", local: "var(--tt-register)", global: "var(--tt-other)" };
const ICONS = {
  start: "M4 3h2v10H4zM13 3v10L6.5 8z",
  back: "M11.5 3v10L4.5 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M4.5 3v10l7-5z",
  barrier: "M3 3v10l6.5-5zM10.5 3h2.5v10h-2.5z",
  end: "M10 3h2v10h-2zM3 3v10l6.5-5z",
};

// --- the trace, decoded --------------------------------------------------------------------------------

class Trace {
  constructor(text) {
    Object.assign(this, JSON.parse(text));
    this.threads = this.block[0] * this.block[1] * this.block[2];
    this.dims = Math.max(...[this.grid, this.block].map((d) => (d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1)));
    for (const array of this.arrays) {
      array.size = array.shape.reduce((a, b) => a * b, 1);
      array.hue = HUES[array.role] ?? SPACE_HUES[array.space];
    }
    this.owners = new Map(); // "array:element" -> the block and thread that store it
    this.blocks.forEach((block, number) => {
      for (const step of block.steps) {
        for (const [op, array, threads, base, pattern] of step[4]) {
          if (op === LOAD || this.arrays[array].space !== "global") continue;
          const elements = this.vectors[pattern];
          const n = Math.max(elements.length, this.vectors[threads].length);
          for (let lane = 0; lane < n; lane++) {
            this.owners.set(`${array}:${base + at(elements, lane)}`, [number, at(this.vectors[threads], lane)]);
          }
        }
      }
    });
  }

  blockNumber(position) {
    return Math.max(0, this.blocks.findIndex((b) => b.at.every((x, i) => x === position[i])));
  }

  threadNumber([x, y, z]) {
    return x + this.block[0] * (y + this.block[1] * z);
  }

  threadPosition(number) {
    const [bx, by] = this.block;
    return [number % bx, Math.floor(number / bx) % by, Math.floor(number / (bx * by))];
  }

  label(position) {
    return this.dims === 1 ? `${position[0]}` : `(${position.slice(0, this.dims).join(", ")})`;
  }

  element(array, flat) {
    const index = [];
    for (const extent of [...array.shape].reverse()) {
      index.unshift(flat % extent);
      flat = Math.floor(flat / extent);
    }
    return `${array.name}[${index.join(", ")}]`;
  }
}

// A list whose entries are all equal was sent as its first entry.
function at(vector, lane) {
  return vector.length === 1 ? vector[0] : vector[lane];
}

// --- the machine, as one block and one of its threads see it ----------------------------------------------

class Machine {
  constructor(trace, blockNumber, thread) {
    this.trace = trace;
    this.thread = thread;
    this.steps = trace.blocks[blockNumber].steps;
    this.region = trace.arrays.map((a) => new Uint8Array(a.size)); // what the block touches in the whole launch
    this.releases = this.findReleases();
    this.seek(this.steps.length);
    this.total = this.counts;
    trace.arrays.forEach((a, i) => {
      for (let e = 0; e < a.size; e++) this.region[i][e] = this.loaded[i][e] | this.stored[i][e];
    });
    this.seek(0);
  }

  // A barrier opens at its last arrival: the step before a warp that had arrived runs again.
  findReleases() {
    const releases = [];
    let waiting = new Set();
    let last = -1;
    this.steps.forEach(([, warp, , barrier], i) => {
      if (waiting.has(warp)) {
        releases.push(last + 1);
        waiting = new Set();
      }
      if (barrier) {
        waiting.add(warp);
        last = i;
      }
    });
    if (waiting.size) releases.push(last + 1);
    return releases;
  }

  reset() {
    const { arrays, vectors, threads, source } = this.trace;
    const zeros = () => new Uint32Array(threads);
    this.position = 0;
    this.values = arrays.map((a) => {
      if (a.initial !== null) return Array.from({ length: a.size }, (_, i) => at(vectors[a.initial], i));
      return new Array(a.space === "local" ? a.size * threads : a.size).fill(null);
    });
    this.loaded = arrays.map((a) => new Uint8Array(a.size));
    this.stored = arrays.map((a) => new Uint8Array(a.size));
    this.mine = arrays.map((a) => new Uint8Array(a.size)); // loaded by the chosen thread
    this.variables = new Map();
    this.counts = { global: [zeros(), zeros()], shared: [zeros(), zeros()], local: [zeros(), zeros()] };
    this.runs = new Map(source.map(([line]) => [line, zeros()]));
    this.loads = new Map(source.map(([line]) => [line, zeros()]));
    this.quiet();
  }

  quiet() {
    this.line = null;
    this.active = new Set();
    this.changed = new Set();
    this.now = this.trace.arrays.map(() => new Map()); // element -> READ | WRITTEN
    this.nowMine = this.trace.arrays.map(() => new Map());
    this.events = [];
  }

  // Replaying from the start is cheap (a step touches one warp's lanes) and leaves no undo to go wrong.
  seek(position) {
    if (this.position === undefined || position < this.position) this.reset();
    while (this.position < position) {
      this.quiet();
      this.apply(this.steps[this.position]);
      this.position += 1;
    }
  }

  apply([line, warp, threads, barrier, accesses, variables]) {
    const { vectors, arrays } = this.trace;
    this.line = line;
    this.warp = warp;
    this.barrier = barrier;
    this.active = new Set(vectors[threads]);
    for (const thread of this.active) if (this.runs.has(line)) this.runs.get(line)[thread] += 1;
    for (const [op, number, lanes, base, pattern, stored] of accesses) {
      const array = arrays[number];
      const elements = vectors[pattern];
      const n = Math.max(elements.length, vectors[lanes].length);
      for (let lane = 0; lane < n; lane++) {
        const thread = at(vectors[lanes], lane);
        const value = op === LOAD ? null : at(vectors[stored], lane);
        this.access(op, array, number, thread, base + at(elements, lane), value);
      }
    }
    for (const [name, vector] of Object.entries(variables)) {
      if (!this.variables.has(name)) this.variables.set(name, new Array(this.trace.threads).fill(null));
      const held = this.variables.get(name);
      vectors[threads].forEach((thread, lane) => (held[thread] = at(vectors[vector], lane)));
      if (this.active.has(this.thread)) this.changed.add(name);
    }
  }

  access(op, array, number, thread, element, value) {
    const loading = op === LOAD;
    const mark = loading ? READ : WRITTEN;
    const mine = thread === this.thread;
    const slot = array.space === "local" ? element + thread * array.size : element;
    this.counts[array.space][loading ? 0 : 1][thread] += 1;
    if (loading && array.space === "global" && this.loads.has(this.line)) this.loads.get(this.line)[thread] += 1;
    if (array.space !== "local" || mine) {
      (loading ? this.loaded : this.stored)[number][element] = 1;
      this.now[number].set(element, (this.now[number].get(element) ?? 0) | mark);
    }
    if (!loading) this.values[number][slot] = value;
    if (mine) {
      if (loading) this.mine[number][element] = 1;
      this.nowMine[number].set(element, (this.nowMine[number].get(element) ?? 0) | mark);
      this.events.push({ loading, array, element, value: this.values[number][slot] });
    }
  }
}

// --- drawing ---------------------------------------------------------------------------------------------

function html(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

// At most five characters, so that a value fits its cell.
function short(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e4 || (size < 0.005 && size > 0)) return value.toExponential(0).replace("e+", "e");
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace(/^(-?)0\./, "$1.");
}

function full(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(7))) : String(value ?? "empty");
}

// A grid of elements: a matrix, one buffer of a shared array, or the threads of a block.
class Grid {
  constructor({ name, rows, columns, hue, tile = null, margin = 15, labels = true, text = true, offset = 0 }) {
    Object.assign(this, { name, hue, rows, columns, margin, offset, text });
    this.width = columns * UNIT + margin;
    this.height = rows * UNIT + margin;
    const gap = rows * columns > 1024 ? 0.4 : 1;
    this.tip = svg("title");
    this.node = svg(
      "svg",
      { class: "tt-grid", viewBox: `0 0 ${this.width + 2} ${this.height + 2}`, role: "img", "aria-label": name },
      this.tip,
    );
    this.node.style.setProperty("--hue", hue);
    const corner = { class: "tt-name", x: margin * 0.42, y: margin * 0.5, "font-size": margin * 0.8 };
    if (labels) this.node.append(svg("text", corner, name));
    if (margin >= 10 && text) this.indices();
    this.cells = [];
    this.texts = [];
    const cells = svg("g", { class: "tt-cells" });
    const texts = svg("g", { class: "tt-texts" });
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const [x, y] = this.corner(row * columns + column);
        const side = UNIT - gap;
        cells.append(svg("rect", { x: x + gap / 2, y: y + gap / 2, width: side, height: side, class: "tt-c" }));
        this.cells.push(cells.lastChild);
        if (!text) continue;
        texts.append(svg("text", { x: x + UNIT / 2, y: y + UNIT / 2, class: "tt-t" }));
        this.texts.push(texts.lastChild);
      }
    }
    this.dots = svg("g", { class: "tt-dots" });
    this.rings = svg("g", { class: "tt-rings" });
    this.outline = svg("rect", { class: "tt-outline", rx: 1.5 });
    this.node.append(cells, this.tileLines(tile), this.outline, texts, this.dots, this.rings);
    this.labels = texts;
    this.looks = new Uint8Array(this.cells.length).fill(PLAIN);
    this.held = this.cells.map(() => null);
    this.dotted = "";
    this.ringed = "";
  }

  corner(i) {
    return [this.margin + (i % this.columns) * UNIT, this.margin + Math.floor(i / this.columns) * UNIT];
  }

  indices() {
    const side = this.margin * 0.5;
    for (let c = 0; c < this.columns; c++) {
      this.node.append(svg("text", { class: "tt-index", x: this.margin + (c + 0.5) * UNIT, y: side }, String(c)));
    }
    for (let r = 0; r < this.rows; r++) {
      this.node.append(svg("text", { class: "tt-index", x: side, y: this.margin + (r + 0.5) * UNIT }, String(r)));
    }
  }

  tileLines(tile) {
    const lines = svg("g", { class: "tt-tiles" });
    if (!tile) return lines;
    const [m, right, bottom] = [this.margin, this.width, this.height];
    for (let y = tile[0]; y < this.rows; y += tile[0]) {
      lines.append(svg("line", { x1: m, x2: right, y1: m + y * UNIT, y2: m + y * UNIT }));
    }
    for (let x = tile[1]; x < this.columns; x += tile[1]) {
      lines.append(svg("line", { y1: m, y2: bottom, x1: m + x * UNIT, x2: m + x * UNIT }));
    }
    return lines;
  }

  // Frame the smallest rectangle around the marked elements.
  frame(marked) {
    let [top, left, bottom, right] = [Infinity, Infinity, -1, -1];
    for (let i = 0; i < this.cells.length; i++) {
      if (!marked[i + this.offset]) continue;
      const [row, column] = [Math.floor(i / this.columns), i % this.columns];
      [top, left] = [Math.min(top, row), Math.min(left, column)];
      [bottom, right] = [Math.max(bottom, row), Math.max(right, column)];
    }
    this.outline.style.display = bottom < 0 ? "none" : "";
    if (bottom < 0) return;
    const [x, y] = this.corner(top * this.columns + left);
    const size = { x, y, width: (right - left + 1) * UNIT, height: (bottom - top + 1) * UNIT };
    for (const [key, value] of Object.entries(size)) this.outline.setAttribute(key, value);
  }

  // Touch only what differs from what is on the page.
  cell(i, look, value) {
    if (this.looks[i] !== look) {
      if ((this.looks[i] ^ look) & ~FAINT) this.cells[i].setAttribute("class", `tt-c${LOOKS[look & ~FAINT]}`);
      this.looks[i] = look;
      if (this.text) {
        const on = look === NOW_READ || look === NOW_WRITTEN;
        this.texts[i].setAttribute("class", `tt-t${look & FAINT ? " tt-faint" : ""}${on ? " tt-on" : ""}`);
      }
    }
    if (!this.text || this.held[i] === value) return;
    this.held[i] = value;
    this.texts[i].textContent = short(value);
  }

  // What follows the last cell of a drawing: one text size for the whole grid, dots and rings.
  finish(dots, rings) {
    const longest = Math.max(...this.texts.map((t) => t.textContent.length), 0);
    const size = `tt-texts tt-wide-${Math.min(4, Math.max(2, longest))}`;
    if (this.labels.getAttribute("class") !== size) this.labels.setAttribute("class", size);
    if (this.dotted !== String(dots)) {
      this.dotted = String(dots);
      this.dots.replaceChildren(
        ...dots.map((i) => {
          const [x, y] = this.corner(i);
          const r = this.text ? 2 : 4;
          return svg("circle", { cx: x + UNIT - 1.6 - r, cy: y + 1.6 + r, r });
        }),
      );
    }
    if (this.ringed !== String(rings)) {
      this.ringed = String(rings);
      this.rings.replaceChildren(
        ...rings.map((i) => {
          const [x, y] = this.corner(i);
          return svg("rect", { x: x + 0.6, y: y + 0.6, width: UNIT - 1.2, height: UNIT - 1.2, rx: 4 });
        }),
      );
    }
  }

  elementAt(event) {
    const box = this.node.getBoundingClientRect();
    const scale = (this.width + 2) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - this.margin) / UNIT);
    const row = Math.floor(((event.clientY - box.top) * scale - this.margin) / UNIT);
    if (row < 0 || column < 0 || row >= this.rows || column >= this.columns) return null;
    return row * this.columns + column;
  }
}

// The grids of one array: a vector is one row, and every leading index of a buffer has a grid of its own.
function arrayGrids(array, options = {}) {
  const shape = array.shape.length === 1 ? [1, ...array.shape] : array.shape.length === 0 ? [1, 1] : array.shape;
  const [rows, columns] = shape.slice(-2);
  const slices = rows * columns === 0 ? 0 : array.size / (rows * columns);
  return Array.from({ length: slices }, (_, s) => {
    const name = slices === 1 ? array.name : `${array.name}[${s}]`;
    const text = columns <= 8 && rows <= 16;
    return new Grid({ name, rows, columns, hue: array.hue, offset: s * rows * columns, text, ...options });
  });
}

const KEYWORDS = /^(?:and|break|continue|def|elif|else|for|if|in|is|not|or|pass|return|while|True|False|None)$/;
const TOKENS = /(#.*$)|("[^"]*"|'[^']*')|([A-Za-z_]\w*)|(\d[\w.]*)/g;

// Colour a line of Python: words of the language, numbers, remarks, and the arrays in their own colours.
function highlight(text, hues) {
  const line = html("code", { class: "tt-code" });
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    line.append(text.slice(from, match.index));
    const [word, remark, string, name, number] = match;
    const attribute = name && text[match.index - 1] === ".";
    const kind = remark ? "remark" : string ? "string" : number ? "digits" : KEYWORDS.test(word) ? "keyword" : null;
    if (name && !attribute && hues.has(name)) {
      const node = html("span", { class: "tt-array" }, word);
      node.style.setProperty("--hue", hues.get(name));
      line.append(node);
    } else {
      line.append(kind ? html("span", { class: `tt-${kind}` }, word) : word);
    }
    from = match.index + word.length;
  }
  line.append(text.slice(from));
  return line;
}

const LAYOUT = `
  <div class="tt-head">
    <div class="tt-title"><code class="tt-kernel"></code><span class="tt-launch"></span></div>
    <label>Block <select class="tt-block"></select></label>
    <label>Thread <select class="tt-thread"></select></label>
    <label>Speed <select class="tt-speed" title="Speed (+ and −)"></select></label>
  </div>
  <div class="tt-controls" role="toolbar" aria-label="Playback">
    <button type="button" class="tt-start" title="To the start (Home)"></button>
    <button type="button" class="tt-back" title="One step back (←)"></button>
    <button type="button" class="tt-play" title="Play (space)"></button>
    <button type="button" class="tt-forward" title="One step (→)"></button>
    <button type="button" class="tt-next" title="To the next barrier (n; back with p)"></button>
    <button type="button" class="tt-end" title="To the end (End)"></button>
    <div class="tt-track"><input class="tt-scrub" type="range" min="0" value="0" aria-label="Step" />
      <div class="tt-ticks" aria-hidden="true"></div></div>
    <output class="tt-count"></output>
  </div>
  <p class="tt-say" role="status" aria-live="polite"></p>
  <div class="tt-main">
    <div class="tt-memory">
      <section class="tt-product" aria-label="Global memory: the matrices">
        <div class="tt-callout"></div>
      </section>
      <section class="tt-others"><h4>Global memory</h4><div class="tt-row"></div></section>
      <div class="tt-row">
        <section class="tt-shared"><h4>Shared memory</h4><div class="tt-row"></div></section>
        <section class="tt-accumulators"><h4></h4><div class="tt-row"></div></section>
        <section class="tt-locals"><h4></h4><div class="tt-row"></div></section>
      </div>
    </div>
    <div class="tt-program">
      <section class="tt-source" tabindex="-1" aria-label="Source of the kernel"></section>
      <div class="tt-row">
        <section class="tt-registers"><h4></h4><dl></dl></section>
        <section class="tt-traffic"><h4>Accesses so far</h4><table></table></section>
      </div>
    </div>
  </div>
  <div class="tt-legend"></div>`;

const LEGEND = [
  ["tt-c tt-region", "the block's region"],
  ["tt-c tt-seen", "loaded or stored by the block"],
  ["tt-c tt-now tt-read", "read in this step"],
  ["tt-c tt-now tt-written", "written in this step"],
  ["ring", "by the chosen thread"],
  ["dot", "loaded by the chosen thread"],
  ["tt-c tt-empty", "nothing stored yet"],
];

function legend() {
  return LEGEND.map(([look, text]) => {
    const box = { x: 1, y: 1, width: 18, height: 18 };
    const sample = svg("svg", { class: "tt-grid", viewBox: "0 0 20 20", "aria-hidden": "true" });
    if (look === "ring") {
      const ring = svg("g", { class: "tt-rings" }, svg("rect", { ...box, rx: 4 }));
      sample.append(svg("rect", { ...box, class: "tt-c tt-now tt-read" }), ring);
    } else if (look === "dot") {
      const dot = svg("g", { class: "tt-dots" }, svg("circle", { cx: 15.5, cy: 4.5, r: 2.4 }));
      sample.append(svg("rect", { ...box, class: "tt-c tt-seen" }), dot);
    } else {
      sample.append(svg("rect", { ...box, class: look }));
    }
    return html("span", {}, sample, text);
  });
}

// --- the view ----------------------------------------------------------------------------------------------

class View {
  constructor(model, el) {
    this.model = model;
    this.root = html("div", { class: "tt-root", tabindex: "0", role: "group" });
    // Lab looks for this attribute before it reads a key press as one of its shortcuts.
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    this.root.innerHTML = LAYOUT;
    el.append(this.root);
    this.find = (name) => this.root.querySelector(`.tt-${name}`);
    this.timer = null;
    this.speed = 2;
    this.find("legend").append(...legend());
    this.unsaved = {};
    this.buttons();
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.listeners = {
      "change:_data": () => this.load(),
      "change:step": () => this.changed("step", () => this.draw()),
      "change:block": () => this.changed("block", () => this.choose()),
      "change:thread": () => this.changed("thread", () => this.choose()),
    };
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.load();
  }

  destroy() {
    this.pause();
    clearTimeout(this.saving);
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
  }

  buttons() {
    const on = (name, image, action) => {
      const button = this.find(name);
      button.append(icon(image));
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", action);
    };
    on("start", "start", () => this.go(0));
    on("back", "back", () => this.go(this.step - 1));
    on("play", "play", () => (this.timer === null ? this.play() : this.pause()));
    on("forward", "forward", () => this.go(this.step + 1));
    on("next", "barrier", () => this.go(this.barrier(1)));
    on("end", "end", () => this.go(this.machine.steps.length));
    this.find("scrub").addEventListener("input", (event) => this.go(Number(event.target.value)));
    this.find("block").addEventListener("change", (event) => {
      this.set({ block: this.trace.blocks[event.target.value].at });
    });
    this.find("thread").addEventListener("change", (event) => {
      this.set({ thread: this.trace.threadPosition(Number(event.target.value)) });
    });
    const speed = this.find("speed");
    speed.append(...SPEEDS.map((s, i) => html("option", { value: i }, `${s} a second`)));
    speed.addEventListener("change", () => this.setSpeed(Number(speed.value)));
    this.setSpeed(this.speed);
  }

  setSpeed(number) {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, number));
    this.find("speed").value = this.speed;
  }

  // Every key stays inside: what leaks, the notebook takes as its own (two d's delete the cell).
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    if (event.key === "Escape") return event.target.blur();
    if (tag === "SELECT" || (tag === "BUTTON" && (event.key === " " || event.key === "Enter"))) return;
    const barrier = event.shiftKey ? (way) => this.go(this.barrier(way)) : (way) => this.go(this.step + way);
    const actions = {
      " ": () => (this.timer === null ? this.play() : this.pause()),
      ArrowRight: () => barrier(1),
      ArrowLeft: () => barrier(-1),
      PageDown: () => this.go(this.barrier(1)),
      PageUp: () => this.go(this.barrier(-1)),
      n: () => this.go(this.barrier(1)),
      p: () => this.go(this.barrier(-1)),
      Home: () => this.go(0),
      End: () => this.go(this.machine.steps.length),
      "+": () => this.setSpeed(this.speed + 1),
      "-": () => this.setSpeed(this.speed - 1),
      t: () => this.cycleThread(1),
      T: () => this.cycleThread(-1),
      b: () => this.cycleBlock(1),
      B: () => this.cycleBlock(-1),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  cycleThread(way) {
    const n = this.trace.threads;
    this.set({ thread: this.trace.threadPosition((this.machine.thread + way + n) % n) });
  }

  cycleBlock(way) {
    const n = this.trace.blocks.length;
    this.set({ block: this.trace.blocks[(this.blockNumber + way + n) % n].at });
  }

  get step() {
    return Math.min(this.model.get("step"), this.machine.steps.length);
  }

  barrier(way) {
    const { releases, steps } = this.machine;
    if (way > 0) return releases.find((r) => r > this.step) ?? steps.length;
    return releases.findLast((r) => r < this.step) ?? 0;
  }

  go(step) {
    this.find("say").setAttribute("aria-live", this.timer === null ? "polite" : "off");
    this.set({ step: Math.min(this.machine.steps.length, Math.max(0, step)) });
  }

  // The views follow the model at once; the kernel hears of it when things have come to rest.
  set(values) {
    Object.assign(this.unsaved, values);
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    clearTimeout(this.saving);
    this.saving = setTimeout(() => {
      this.unsaved = {};
      this.model.save_changes();
    }, 300);
  }

  // What the kernel echoes is older than what the reader has done since, and gives way to it.
  changed(name, show) {
    const mine = this.unsaved[name];
    if (mine === undefined || JSON.stringify(mine) === JSON.stringify(this.model.get(name))) show();
    else this.model.set(name, mine);
  }

  play() {
    if (this.step === this.machine.steps.length) this.go(0);
    const tick = () => {
      this.timer = setTimeout(tick, 1000 / SPEEDS[this.speed]);
      this.go(this.step + 1);
      if (this.step === this.machine.steps.length) this.pause();
    };
    this.timer = setTimeout(tick, 1000 / SPEEDS[this.speed]);
    this.playing();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing();
  }

  playing() {
    const [button, image, title] = [
      this.find("play"),
      this.timer === null ? "play" : "pause",
      this.timer === null ? "Play (space)" : "Pause (space)",
    ];
    button.replaceChildren(icon(image));
    button.title = title;
    button.setAttribute("aria-label", title);
  }

  // A new trace: build everything that stays the same from step to step.
  load() {
    this.pause();
    const trace = (this.trace = new Trace(this.model.get("_data")));
    this.find("kernel").textContent = trace.kernel;
    this.find("launch").textContent = `grid ${trace.label(trace.grid)} × block ${trace.label(trace.block)}`;
    this.root.setAttribute("aria-label", `Stepper of the kernel ${trace.kernel}`);
    const option = (value, text) => html("option", { value }, text);
    this.find("block").replaceChildren(...trace.blocks.map((b, i) => option(i, trace.label(b.at))));
    this.find("thread").replaceChildren(
      ...Array.from({ length: trace.threads }, (_, i) => option(i, trace.label(trace.threadPosition(i)))),
    );
    this.buildProduct();
    this.buildStrip();
    this.buildSource();
    this.choose();
  }

  buildProduct() {
    const { arrays } = this.trace;
    this.grids = arrays.map(() => []);
    const place = this.find("product");
    for (const old of place.querySelectorAll(".tt-grid")) old.remove();
    const matrix = Object.fromEntries(arrays.map((a, i) => [a.role, i]).filter(([role]) => role));
    place.style.display = "A" in matrix ? "" : "none";
    if (!("A" in matrix)) return;
    const [[M, K], N] = [arrays[matrix.A].shape, arrays[matrix.B].shape[1]];
    const margin = Math.max(15, 0.045 * (K + N) * UNIT);
    const text = Math.max(K + N, K + M) <= 20;
    for (const role of "ABC") {
      const array = arrays[matrix[role]];
      const [grid] = (this.grids[matrix[role]] = arrayGrids(array, { tile: array.tile, margin, text }));
      grid.node.classList.add(`tt-matrix-${role}`);
      place.append(grid.node);
      this.interact(grid, matrix[role]);
    }
    const side = (n) => n * UNIT + margin + 2;
    place.style.gridTemplateColumns = `minmax(8.5em, ${side(K)}fr) ${side(N)}fr`;
    place.style.maxWidth = `${(K + N) * 44 + 40}px`;
  }

  buildStrip() {
    const { arrays } = this.trace;
    const rows = { shared: [], local: [], global: [] };
    arrays.forEach((array, i) => {
      if (array.role) return;
      this.grids[i] = arrayGrids(array, { labels: false, margin: 10 });
      rows[array.space].push(this.figure(array, this.grids[i]));
      for (const grid of this.grids[i]) this.interact(grid, i);
    });
    const show = (name, figures) => {
      const place = this.find(name);
      place.style.display = figures.length ? "" : "none";
      place.querySelector(".tt-row").replaceChildren(...figures);
    };
    show("shared", rows.shared);
    show("locals", rows.local);
    show("others", rows.global);
    const [bx, by, bz] = this.trace.block;
    const names = this.trace.accumulators.length ? this.trace.accumulators : ["threads"];
    this.lanes = names.map((name) => {
      const shape = by * bz === 1 && bx % 32 === 0 ? [bx / 32, 32] : [by * bz, bx]; // a row is a warp, if it can be
      const array = { name, shape, size: by * bx * bz, hue: "var(--tt-register)" };
      const [grid] = arrayGrids(array, { labels: false, margin: 2 });
      grid.node.addEventListener("click", (event) => {
        const thread = grid.elementAt(event);
        if (thread !== null) this.set({ thread: this.trace.threadPosition(thread) });
      });
      return { name, grid, figure: this.figure(array, [grid]) };
    });
    show("accumulators", this.lanes.map((lane) => lane.figure));
    this.find("accumulators").querySelector("h4").textContent = this.trace.accumulators.length
      ? "All threads"
      : "Threads of the block";
  }

  // A shared array with its buffers side by side, or the threads: as large as it can be read, in pixels.
  figure(array, grids) {
    for (const grid of grids) {
      const side = grid.columns <= 4 ? (grids.length > 1 ? 28 : 34) : Math.max(4, Math.min(25, 210 / grid.columns));
      grid.node.style.width = `${((grid.width + 2) / UNIT) * side}px`;
    }
    const caption = html("figcaption", {}, array.name);
    caption.style.setProperty("--hue", array.hue);
    if (grids.length === 1) return html("figure", {}, caption, grids[0].node);
    const buffers = grids.map((grid, i) => html("figure", {}, html("figcaption", {}, `[${i}]`), grid.node));
    return html("figure", {}, caption, html("div", { class: "tt-buffers" }, ...buffers));
  }

  buildSource() {
    const hues = new Map(this.trace.arrays.map((a) => [a.name, a.hue]));
    for (const name of this.trace.accumulators) hues.set(name, "var(--tt-register)");
    const head = html("div", { class: "tt-line tt-columns" });
    for (const [text, title] of [
      ["", ""],
      ["runs", "How often the chosen thread has run the line"],
      ["loads", "Global loads of the chosen thread on the line"],
    ]) {
      head.append(html("span", { title }, html("small", {}, text)));
    }
    this.lines = new Map();
    const rows = this.trace.source.map(([number, text]) => {
      const [runs, loads] = [html("span", { class: "tt-runs" }), html("span", { class: "tt-loads" })];
      const label = html("span", { class: "tt-number" }, String(number));
      const node = html("div", { class: "tt-line", "data-line": number }, label, runs, loads, highlight(text, hues));
      this.lines.set(number, { node, runs, loads });
      return node;
    });
    this.find("source").replaceChildren(head, html("div", { class: "tt-lines" }, ...rows));
    this.current = null;
  }

  // A click on an element of C chooses the block and thread that store it.
  interact(grid, number) {
    const array = this.trace.arrays[number];
    grid.node.addEventListener("pointermove", (event) => {
      const i = grid.elementAt(event);
      if (i === null) return;
      const element = i + grid.offset;
      const slot = array.space === "local" ? element + this.machine.thread * array.size : element;
      const text = `${this.trace.element(array, element)} = ${full(this.machine.values[number][slot])}`;
      if (grid.tip.textContent !== text) grid.tip.textContent = text;
    });
    if (array.role !== "C") return;
    grid.node.classList.add("tt-click");
    grid.node.addEventListener("click", (event) => {
      const owner = this.trace.owners.get(`${number}:${grid.elementAt(event)}`);
      if (!owner) return;
      this.set({ block: this.trace.blocks[owner[0]].at, thread: this.trace.threadPosition(owner[1]) });
    });
  }

  choose() {
    const { trace, model } = this;
    this.blockNumber = trace.blockNumber(model.get("block"));
    const thread = Math.min(trace.threads - 1, trace.threadNumber(model.get("thread")));
    this.machine = new Machine(trace, this.blockNumber, thread);
    this.find("block").value = this.blockNumber;
    this.find("thread").value = thread;
    const name = trace.label(trace.threadPosition(thread));
    this.find("registers").querySelector("h4").textContent = `Registers of thread ${name}`;
    this.find("locals").querySelector("h4").textContent = `Local arrays of thread ${name}`;
    this.root.querySelector(".tt-columns").title = `Counts of thread ${name}`;
    const last = this.machine.steps.length;
    this.find("scrub").max = last;
    this.find("ticks").replaceChildren(
      ...this.machine.releases.map((r) => {
        const tick = html("i");
        tick.style.setProperty("--at", r / last);
        return tick;
      }),
    );
    this.grids.forEach((grids, i) => {
      for (const grid of grids) {
        if (trace.arrays[i].role) grid.frame(this.machine.region[i]);
        else grid.outline.style.display = "none";
      }
    });
    this.buildCounts();
    if (model.get("step") > last) this.set({ step: last });
    this.draw();
  }

  // The counts' places, with the totals of the whole launch; a step only changes the numbers.
  buildCounts() {
    const { total, thread } = this.machine;
    const sum = (counts) => counts.reduce((a, b) => a + b, 0);
    this.traffic = [];
    const place = (mine, all, ...of) => this.traffic.push({ of, mine, all });
    const [mine, all] = [html("b", { class: "tt-mine" }), html("b", { class: "tt-all" })];
    const beside = (count, who) => html("span", {}, `of ${count}`, html("br"), who);
    place(mine, all, "global", 0);
    this.find("callout").replaceChildren(
      html("h4", {}, "Global loads"),
      html("p", {}, mine, beside(total.global[0][thread], "this thread")),
      html("p", {}, all, beside(sum(total.global[0]), "this block")),
    );
    const rows = [html("tr", {}, html("td"), html("th", {}, "thread"), html("th", {}, "block"))];
    for (const space of ["global", "shared", "local"]) {
      ["loads", "stores"].forEach((what, op) => {
        if (space !== "global" && !sum(total[space][op])) return;
        const row = html("tr", {}, html("th", {}, `${space} ${what}`), html("td"), html("td"));
        place(row.children[1], row.children[2], space, op);
        rows.push(row);
      });
    }
    this.find("traffic").querySelector("table").replaceChildren(...rows);
  }

  draw() {
    this.machine.seek(this.step);
    const { machine } = this;
    this.find("scrub").value = this.step;
    this.find("count").textContent = `step ${this.step} of ${machine.steps.length}`;
    this.drawArrays();
    this.drawLanes();
    this.drawSource();
    this.drawCounts();
    this.find("say").replaceChildren(...this.sentence());
    this.scroll();
  }

  drawArrays() {
    const { machine, trace } = this;
    trace.arrays.forEach((array, number) => {
      const [now, mine, own] = [machine.now[number], machine.nowMine[number], machine.mine[number]];
      const base = array.space === "local" ? machine.thread * array.size : 0;
      for (const grid of this.grids[number]) {
        const [dots, rings] = [[], []];
        for (let i = 0; i < grid.cells.length; i++) {
          const element = i + grid.offset;
          const value = machine.values[number][base + element];
          const marked = now.get(element) ?? 0;
          const touched = array.space === "global" ? machine.loaded[number][element] | machine.stored[number][element] : 1;
          const inside = machine.region[number][element];
          const state = value === null ? EMPTY : touched ? SEEN : inside ? REGION : PLAIN;
          const faint = !inside || (array.role === "C" && !machine.stored[number][element]);
          const look = marked & WRITTEN ? NOW_WRITTEN : marked & READ ? NOW_READ : state | (faint ? FAINT : 0);
          grid.cell(i, look, value);
          if (array.space === "global" && own[element]) dots.push(i);
          if (mine.has(element)) rings.push(i);
        }
        grid.finish(dots, rings);
      }
    });
  }

  drawLanes() {
    for (const { name, grid } of this.lanes) {
      const held = this.machine.variables.get(name);
      for (let thread = 0; thread < grid.cells.length; thread++) {
        const value = held ? held[thread] : null;
        const active = this.machine.active.has(thread);
        const changed = active && this.machine.steps[this.step - 1]?.[5][name] !== undefined;
        const look = changed ? NOW_WRITTEN : active ? ACTIVE : value === null ? EMPTY : SEEN;
        grid.cell(thread, look, value);
      }
      grid.outline.style.display = "none";
      grid.finish([], [this.machine.thread]);
    }
  }

  drawSource() {
    const { machine } = this;
    for (const [number, line] of this.lines) {
      const [runs, loads] = [machine.runs.get(number)[machine.thread], machine.loads.get(number)[machine.thread]];
      const texts = [runs ? String(runs) : "", loads ? String(loads) : ""];
      if (line.runs.textContent !== texts[0]) line.runs.textContent = texts[0];
      if (line.loads.textContent !== texts[1]) line.loads.textContent = texts[1];
    }
    const current = this.lines.get(machine.line);
    if (current === this.current) return;
    this.current?.node.classList.remove("tt-current");
    this.current?.node.removeAttribute("aria-current");
    this.current = current;
    if (!current) return;
    current.node.classList.add("tt-current");
    current.node.setAttribute("aria-current", "step");
  }

  // Keep the current line in sight; asked last, so that the page is laid out once a step.
  scroll() {
    if (!this.current) return;
    const place = this.find("source");
    const { offsetTop: top, offsetHeight: height } = this.current.node;
    if (top < place.scrollTop + 2 * height) place.scrollTop = top - 2 * height;
    const below = top + 2 * height - place.clientHeight;
    if (below > place.scrollTop) place.scrollTop = below;
  }

  drawCounts() {
    const { machine, trace } = this;
    const sum = (counts) => counts.reduce((a, b) => a + b, 0);
    const now = machine.counts;
    const own = (counts) => counts[machine.thread];
    for (const cells of this.traffic) {
      const [space, op] = cells.of;
      cells.mine.textContent = own(now[space][op]);
      cells.all.textContent = sum(now[space][op]);
    }
    const registers = [];
    for (const [name, held] of machine.variables) {
      const value = held[machine.thread];
      if (value === null) continue;
      const look = machine.changed.has(name) ? "tt-changed" : "";
      registers.push(html("div", { class: look }, html("dt", {}, name), html("dd", {}, full(value))));
    }
    this.find("registers").querySelector("dl").replaceChildren(...registers);
  }

  // The step in words, with the numbers of the chosen thread.
  sentence() {
    const { machine, trace } = this;
    const thread = `Thread ${trace.label(trace.threadPosition(machine.thread))}`;
    if (machine.line === null) {
      const n = machine.steps.length;
      return [`Block ${trace.label(trace.blocks[this.blockNumber].at)} is about to start: ${n} steps. Press space to play, → to step.`];
    }
    const lead = [html("b", {}, `Line ${machine.line}`), `, warp ${machine.warp} (${lanes(machine.active)}). `];
    if (machine.barrier) {
      const open = machine.releases.includes(this.step);
      return [...lead, open ? "Every warp has arrived: the barrier opens." : "It waits at the barrier for the other warps."];
    }
    if (!machine.active.has(machine.thread)) return [...lead, `${thread} takes no part.`];
    const named = ({ array, element, value }) => `${trace.element(array, element)} = ${full(value)}`;
    const parts = [
      ["reads", machine.events.filter((e) => e.loading).map(named)],
      ["writes", machine.events.filter((e) => !e.loading).map(named)],
      ["sets", [...machine.changed].map((name) => `${name} = ${full(machine.variables.get(name)[machine.thread])}`)],
    ].filter(([, what]) => what.length);
    return [...lead, `${thread} ${parts.map(([verb, what]) => `${verb} ${what.join(", ")}`).join("; ") || "runs it"}.`];
  }
}

function lanes(active) {
  const sorted = [...active].sort((a, b) => a - b);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (sorted.length === 1) return `thread ${first}`;
  return last - first + 1 === sorted.length ? `threads ${first}–${last}` : `${sorted.length} threads`;
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.destroy();
  },
};
