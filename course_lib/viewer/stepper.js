/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources 5de2102b371672ee bundle d4283ca6c0887d36 */
// dom.js
var SVG = "http://www.w3.org/2000/svg";
var ICONS = {
  start: "M4 3h2v10H4zM13 3v10L6.5 8z",
  back: "M11.5 3v10L4.5 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M4.5 3v10l7-5z",
  barrier: "M3 3v10l6.5-5zM10.5 3h2.5v10h-2.5z",
  end: "M10 3h2v10h-2zM3 3v10l6.5-5z"
};
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
function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
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

// text.js
function short(value) {
  if (value === null || value === void 0) return "";
  if (typeof value === "string") return value;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e4 || size < 5e-3 && size > 0) return value.toExponential(0).replace("e+", "e");
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace(/^(-?)0\./, "$1.");
}
function full(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(7))) : String(value ?? "empty");
}
function lanes(active) {
  const sorted = [...active].sort((a, b) => a - b);
  const [first, last] = [sorted[0], sorted[sorted.length - 1]];
  if (sorted.length === 1) return `thread ${first}`;
  return last - first + 1 === sorted.length ? `threads ${first}–${last}` : `${sorted.length} threads`;
}
function sentence(machine) {
  const { trace, block } = machine;
  if (machine.line === null) {
    return [`Block ${trace.label(block.at)} is about to start: ${block.length} steps. Press space to play, → to step.`];
  }
  const lead = [html("b", {}, `Line ${machine.line}`), `, warp ${machine.warp} (${lanes(machine.active)}). `];
  if (machine.barrier) {
    const open = block.releases.includes(machine.position);
    return [...lead, open ? "Every warp has arrived: the barrier opens." : "It waits at the barrier for the other warps."];
  }
  const thread = `Thread ${trace.label(trace.threadPosition(machine.thread))}`;
  if (!machine.active.includes(machine.thread)) return [...lead, `${thread} takes no part.`];
  const named = ({ array, element, value }) => `${trace.element(array, element)} = ${full(value)}`;
  const parts = [
    ["reads", machine.events.filter((e) => e.loading).map(named)],
    ["writes", machine.events.filter((e) => !e.loading).map(named)],
    ["sets", [...machine.changed].map((name) => `${name} = ${full(machine.variable(name))}`)]
  ].filter(([, what]) => what.length);
  const done = parts.map(([verb, what]) => `${verb} ${/** @type {string[]} */
  what.join(", ")}`).join("; ");
  return [...lead, `${thread} ${done || "runs it"}.`];
}
var KEYWORDS = /^(?:and|break|continue|def|elif|else|for|if|in|is|not|or|pass|return|while|True|False|None)$/;
var TOKENS = /(#.*$)|("[^"]*"|'[^']*')|([A-Za-z_]\w*)|(\d[\w.]*)/g;
function highlight(text, hues) {
  const line = html("code", { class: "tt-code" });
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    line.append(text.slice(from, match.index));
    const [word, remark, string, name, number] = match;
    const attribute = name && text[match.index - 1] === ".";
    const kind = remark ? "remark" : string ? "string" : number ? "digits" : KEYWORDS.test(word) ? "keyword" : null;
    const hue = name && !attribute ? hues.get(name) : void 0;
    if (hue) {
      const node = html("span", { class: "tt-array" }, word);
      node.style.setProperty("--hue", hue);
      line.append(node);
    } else {
      line.append(kind ? html("span", { class: `tt-${kind}` }, word) : word);
    }
    from = match.index + word.length;
  }
  line.append(text.slice(from));
  return line;
}

// grid.js
var UNIT = 20;
var LOOKS = ["", " tt-region", " tt-seen", " tt-active", " tt-empty", " tt-now tt-read", " tt-now tt-written"];
var [PLAIN, REGION, SEEN, ACTIVE, EMPTY, NOW_READ, NOW_WRITTEN] = LOOKS.keys();
var FAINT = 8;
var Grid = class {
  /**
   * @param {{name: string, rows: number, columns: number, hue: string, offset?: number} & GridOptions} options
   */
  constructor({ name, rows, columns, hue, tile = null, margin = 15, labels = true, text = true, offset = 0 }) {
    this.rows = rows;
    this.columns = columns;
    this.margin = margin;
    this.offset = offset;
    this.text = text;
    this.size = rows * columns;
    this.width = columns * UNIT + margin;
    this.height = rows * UNIT + margin;
    const gap = rows * columns > 1024 ? 0.4 : 1;
    this.tip = svg("title");
    this.node = svg(
      "svg",
      { class: "tt-grid", viewBox: `0 0 ${this.width + 2} ${this.height + 2}`, role: "img", "aria-label": name },
      this.tip
    );
    this.node.style.setProperty("--hue", hue);
    const corner = { class: "tt-name", x: margin * 0.42, y: margin * 0.5, "font-size": margin * 0.8 };
    if (labels) this.node.append(svg("text", corner, name));
    if (margin >= 10 && text) this.indices();
    this.cells = [];
    this.texts = [];
    const cells = svg("g", { class: "tt-cells" });
    this.labels = svg("g", { class: "tt-texts" });
    for (let i = 0; i < this.size; i++) {
      const [x, y] = this.corner(i);
      const side = UNIT - gap;
      this.cells.push(svg("rect", { x: x + gap / 2, y: y + gap / 2, width: side, height: side, class: "tt-c" }));
      if (text) this.texts.push(svg("text", { x: x + UNIT / 2, y: y + UNIT / 2, class: "tt-t" }));
    }
    cells.append(...this.cells);
    this.labels.append(...this.texts);
    this.dots = svg("g", { class: "tt-dots" });
    this.rings = svg("g", { class: "tt-rings" });
    this.outline = svg("rect", { class: "tt-outline", rx: 1.5 });
    this.node.append(cells, this.tileLines(tile), this.outline, this.labels, this.dots, this.rings);
    this.looks = new Uint8Array(this.size).fill(PLAIN);
    this.held = new Array(this.size).fill(null);
    this.dotted = "";
    this.ringed = "";
  }
  /**
   * @param {number} i
   * @returns {[number, number]}
   */
  corner(i) {
    return [this.margin + i % this.columns * UNIT, this.margin + Math.floor(i / this.columns) * UNIT];
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
  /** @param {[number, number] | null} tile */
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
  /**
   * Frame the smallest rectangle around the marked elements; without any, nothing.
   * @param {(element: number) => boolean} marked
   */
  frame(marked) {
    let [top, left, bottom, right] = [Infinity, Infinity, -1, -1];
    for (let i = 0; i < this.size; i++) {
      if (!marked(i + this.offset)) continue;
      const [row, column] = [Math.floor(i / this.columns), i % this.columns];
      [top, left] = [Math.min(top, row), Math.min(left, column)];
      [bottom, right] = [Math.max(bottom, row), Math.max(right, column)];
    }
    this.outline.style.display = bottom < 0 ? "none" : "";
    if (bottom < 0) return;
    const [x, y] = this.corner(top * this.columns + left);
    const size = { x, y, width: (right - left + 1) * UNIT, height: (bottom - top + 1) * UNIT };
    for (const [key, value] of Object.entries(size)) this.outline.setAttribute(key, String(value));
  }
  /**
   * Touch only what differs from what is on the page.
   * @param {number} i
   * @param {number} look
   * @param {Value} value
   */
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
  /**
   * What follows the last cell of a drawing: one text size for the whole grid, dots and rings.
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    const longest = this.texts.reduce((most, text) => Math.max(most, text.textContent?.length ?? 0), 0);
    const size = `tt-texts tt-wide-${Math.min(4, Math.max(2, longest))}`;
    if (this.labels.getAttribute("class") !== size) this.labels.setAttribute("class", size);
    if (this.dotted !== String(dots)) {
      this.dotted = String(dots);
      this.dots.replaceChildren(
        ...dots.map((i) => {
          const [x, y] = this.corner(i);
          const r = this.text ? 2 : 4;
          return svg("circle", { cx: x + UNIT - 1.6 - r, cy: y + 1.6 + r, r });
        })
      );
    }
    if (this.ringed !== String(rings)) {
      this.ringed = String(rings);
      this.rings.replaceChildren(
        ...rings.map((i) => {
          const [x, y] = this.corner(i);
          return svg("rect", { x: x + 0.6, y: y + 0.6, width: UNIT - 1.2, height: UNIT - 1.2, rx: 4 });
        })
      );
    }
  }
  /**
   * The element under the pointer.
   * @param {MouseEvent} event
   */
  elementAt(event) {
    const box = this.node.getBoundingClientRect();
    const scale = (this.width + 2) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - this.margin) / UNIT);
    const row = Math.floor(((event.clientY - box.top) * scale - this.margin) / UNIT);
    if (row < 0 || column < 0 || row >= this.rows || column >= this.columns) return null;
    return row * this.columns + column;
  }
};
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
function figure(array, grids) {
  for (const grid of grids) {
    const side = grid.columns <= 4 ? grids.length > 1 ? 28 : 34 : Math.max(4, Math.min(25, 210 / grid.columns));
    grid.node.style.width = `${(grid.width + 2) / UNIT * side}px`;
  }
  const caption = html("figcaption", {}, array.name);
  caption.style.setProperty("--hue", array.hue);
  if (grids.length === 1) return html("figure", {}, caption, grids[0].node);
  const buffers = grids.map((grid, i) => html("figure", {}, html("figcaption", {}, `[${i}]`), grid.node));
  return html("figure", {}, caption, html("div", { class: "tt-buffers" }, ...buffers));
}
var LEGEND = [
  ["tt-c tt-region", "the block's region"],
  ["tt-c tt-seen", "loaded or stored by the block"],
  ["tt-c tt-now tt-read", "read in this step"],
  ["tt-c tt-now tt-written", "written in this step"],
  ["ring", "by the chosen thread"],
  ["dot", "loaded by the chosen thread"],
  ["tt-c tt-empty", "nothing stored yet"]
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

// trace.js
var LOAD = 0;
var HUES = { A: "var(--tt-a)", B: "var(--tt-b)", C: "var(--tt-c)" };
var SPACE_HUES = { shared: "var(--tt-shared)", local: "var(--tt-register)", global: "var(--tt-other)" };
function at(vector, lane) {
  return vector.length === 1 ? vector[0] : vector[lane];
}
var Block = class {
  /**
   * @param {any} sent
   * @param {any[][]} vectors
   */
  constructor(sent, vectors) {
    this.at = sent.at;
    this.steps = sent.steps;
    this.vectors = vectors;
    this.length = sent.steps.length;
    this.releases = this.findReleases();
  }
  /** @param {number} i */
  line(i) {
    return (
      /** @type {number} */
      this.steps[i][0]
    );
  }
  /** @param {number} i */
  warp(i) {
    return (
      /** @type {number} */
      this.steps[i][1]
    );
  }
  /** @param {number} i */
  threads(i) {
    return (
      /** @type {number[]} */
      this.vectors[this.steps[i][2]]
    );
  }
  /** @param {number} i */
  barrier(i) {
    return Boolean(this.steps[i][3]);
  }
  /**
   * @param {number} i
   * @returns {Access[]}
   */
  accesses(i) {
    const { vectors } = this;
    return this.steps[i][4].map(([op, array, lanes2, base, pattern, stored]) => {
      const [threads2, elements] = [vectors[lanes2], vectors[pattern]];
      return {
        loading: op === LOAD,
        array,
        threads: threads2,
        base,
        elements,
        values: op === LOAD ? null : vectors[stored],
        lanes: Math.max(threads2.length, elements.length)
      };
    });
  }
  /**
   * The variables that a statement assigned, with a value per active thread.
   * @param {number} i
   * @returns {[string, Value[]][]}
   */
  variables(i) {
    return Object.entries(this.steps[i][5]).map(([name, vector]) => [name, this.vectors[vector]]);
  }
  // A barrier opens at its last arrival: the step before a warp that had arrived runs again.
  findReleases() {
    const releases = [];
    let waiting = /* @__PURE__ */ new Set();
    let last = -1;
    for (let i = 0; i < this.length; i++) {
      if (waiting.has(this.warp(i))) {
        releases.push(last + 1);
        waiting = /* @__PURE__ */ new Set();
      }
      if (this.barrier(i)) {
        waiting.add(this.warp(i));
        last = i;
      }
    }
    if (waiting.size) releases.push(last + 1);
    return releases;
  }
};
var Trace = class {
  /** @param {string} text */
  constructor(text) {
    const sent = JSON.parse(text);
    this.kernel = sent.kernel;
    this.grid = sent.grid;
    this.block = sent.block;
    this.source = sent.source;
    this.accumulators = sent.accumulators;
    this.vectors = sent.vectors;
    this.arrays = sent.arrays;
    this.threads = this.block[0] * this.block[1] * this.block[2];
    this.dims = Math.max(...[this.grid, this.block].map((d) => d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1));
    for (const array of this.arrays) {
      array.size = array.shape.reduce((a, b) => a * b, 1);
      array.hue = array.role ? HUES[array.role] : SPACE_HUES[array.space];
    }
    this.blocks = sent.blocks.map((block) => new Block(block, sent.vectors));
    this.owners = this.findOwners();
  }
  /** Of an element of C, as "array:element", the block and the thread that store it. */
  findOwners() {
    const owners = /* @__PURE__ */ new Map();
    this.blocks.forEach((block, number) => {
      for (let i = 0; i < block.length; i++) {
        for (const { loading, array, threads: threads2, base, elements, lanes: lanes2 } of block.accesses(i)) {
          if (loading || this.arrays[array].space !== "global") continue;
          for (let lane = 0; lane < lanes2; lane++) {
            owners.set(`${array}:${base + at(elements, lane)}`, [number, at(threads2, lane)]);
          }
        }
      }
    });
    return owners;
  }
  /**
   * The contents of an array before the block starts.
   * @param {TraceArray} array
   * @returns {Value[]}
   */
  initial(array) {
    if (array.initial === null) return new Array(array.space === "local" ? array.size * this.threads : array.size).fill(null);
    const vector = this.vectors[array.initial];
    return vector.length === array.size ? vector.slice() : new Array(array.size).fill(vector[0]);
  }
  /** @param {Position} position */
  blockNumber(position) {
    return Math.max(0, this.blocks.findIndex((b) => b.at.every((x, i) => x === position[i])));
  }
  /** @param {Position} position */
  threadNumber([x, y, z]) {
    return x + this.block[0] * (y + this.block[1] * z);
  }
  /**
   * @param {number} number
   * @returns {Position}
   */
  threadPosition(number) {
    const [bx, by] = this.block;
    return [number % bx, Math.floor(number / bx) % by, Math.floor(number / (bx * by))];
  }
  /** @param {readonly number[]} position */
  label(position) {
    return this.dims === 1 ? `${position[0]}` : `(${position.slice(0, this.dims).join(", ")})`;
  }
  /**
   * The element as the kernel writes it.
   * @param {TraceArray} array
   * @param {number} flat
   */
  element(array, flat) {
    const index = [];
    for (const extent of [...array.shape].reverse()) {
      index.unshift(flat % extent);
      flat = Math.floor(flat / extent);
    }
    return `${array.name}[${index.join(", ")}]`;
  }
};

// machine.js
var READ = 1;
var WRITTEN = 2;
var SPACES = ["global", "shared", "local"];
var SNAPSHOTS = 64;
function countUpTo(sorted, bound) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = low + high >> 1;
    if (sorted[middle] <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
var Survey = class {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {import("./trace.js").Block} block
   */
  constructor(trace, block) {
    const never = block.length + 1;
    this.loaded = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    this.stored = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    this.counts = Object.fromEntries(
      SPACES.map((space) => [space, [0, 1].map(() => new Uint32Array(block.length + 1))])
    );
    for (let i = 0; i < block.length; i++) {
      for (const space of SPACES) for (const op of [0, 1]) this.counts[space][op][i + 1] = this.counts[space][op][i];
      for (const { loading, array, base, elements, lanes: lanes2 } of block.accesses(i)) {
        this.counts[trace.arrays[array].space][loading ? 0 : 1][i + 1] += lanes2;
        const first = (loading ? this.loaded : this.stored)[array];
        for (const element of elements) if (first[base + element] > i + 1) first[base + element] = i + 1;
      }
    }
  }
};
var ThreadSurvey = class {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {import("./trace.js").Block} block
   * @param {number} thread
   */
  constructor(trace, block, thread) {
    const never = block.length + 1;
    this.loaded = trace.arrays.map((a) => new Int32Array(a.size).fill(never));
    this.counts = { global: [[], []], shared: [[], []], local: [[], []] };
    this.runs = new Map(trace.source.map(([line]) => [line, []]));
    this.loads = new Map(trace.source.map(([line]) => [line, []]));
    for (let i = 0; i < block.length; i++) {
      if (!block.threads(i).includes(thread)) continue;
      const line = block.line(i);
      this.runs.get(line)?.push(i + 1);
      for (const access of block.accesses(i)) {
        const { space } = trace.arrays[access.array];
        for (let lane = 0; lane < access.lanes; lane++) {
          if (at(access.threads, lane) !== thread) continue;
          this.counts[space][access.loading ? 0 : 1].push(i + 1);
          if (!access.loading) continue;
          const element = access.base + at(access.elements, lane);
          if (this.loaded[access.array][element] > i + 1) this.loaded[access.array][element] = i + 1;
          if (space === "global") this.loads.get(line)?.push(i + 1);
        }
      }
    }
  }
};
var Machine = class {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {number} blockNumber
   * @param {number} thread
   */
  constructor(trace, blockNumber, thread) {
    this.trace = trace;
    this.blockNumber = blockNumber;
    this.block = trace.blocks[blockNumber];
    this.survey = new Survey(trace, this.block);
    this.every = Math.max(256, Math.ceil(this.block.length / SNAPSHOTS));
    this.snapshots = [];
    this.thread = thread;
    this.own = new ThreadSurvey(trace, this.block, thread);
    this.position = 0;
    this.values = [];
    this.variables = /* @__PURE__ */ new Map();
    this.quiet();
    this.reset(0);
  }
  /** @param {number} thread */
  choose(thread) {
    this.thread = thread;
    this.own = new ThreadSurvey(this.trace, this.block, thread);
    this.reset(0);
  }
  get length() {
    return this.block.length;
  }
  /**
   * Go back to a copy of the memory.
   * @param {number} number
   */
  reset(number) {
    const kept = this.snapshots[number];
    this.position = number * this.every;
    this.values = kept ? kept.values.map((v) => v.slice()) : this.trace.arrays.map((a) => this.trace.initial(a));
    this.variables = new Map(kept ? [...kept.variables].map(([name, held]) => [name, held.slice()]) : []);
    this.quiet();
  }
  quiet() {
    this.line = null;
    this.warp = 0;
    this.barrier = false;
    this.active = [];
    this.assigned = /* @__PURE__ */ new Set();
    this.changed = /* @__PURE__ */ new Set();
    this.now = this.trace.arrays.map(() => /* @__PURE__ */ new Map());
    this.nowMine = this.trace.arrays.map(() => /* @__PURE__ */ new Map());
    this.events = [];
  }
  /**
   * Replay up to a number of steps, from the nearest copy of the memory if it lies behind.
   * @param {number} position
   */
  seek(position) {
    if (position === this.position) return;
    const nearest = Math.min(this.snapshots.length - 1, Math.floor((position - 1) / this.every));
    if (position <= this.position || nearest * this.every > this.position) this.reset(Math.max(0, nearest));
    while (this.position < position) {
      if (this.position % this.every === 0 && this.snapshots.length === this.position / this.every) this.keep();
      const last = this.position === position - 1;
      if (last) this.quiet();
      this.apply(this.position, last);
      this.position += 1;
    }
  }
  keep() {
    const variables = new Map([...this.variables].map(([name, held]) => [name, held.slice()]));
    this.snapshots.push({ values: this.values.map((v) => v.slice()), variables });
  }
  /**
   * @param {number} i
   * @param {boolean} shown  whether the page will show this step
   */
  apply(i, shown) {
    const { block } = this;
    const threads2 = block.threads(i);
    if (shown) {
      this.line = block.line(i);
      this.warp = block.warp(i);
      this.barrier = block.barrier(i);
      this.active = threads2;
    }
    for (const access of block.accesses(i)) this.access(access, shown);
    for (const [name, values] of block.variables(i)) {
      let held = this.variables.get(name);
      if (!held) this.variables.set(name, held = new Array(this.trace.threads).fill(null));
      for (let lane = 0; lane < threads2.length; lane++) held[threads2[lane]] = at(values, lane);
      if (shown) this.assigned.add(name);
      if (shown && threads2.includes(this.thread)) this.changed.add(name);
    }
  }
  /**
   * @param {import("./trace.js").Access} access
   * @param {boolean} shown
   */
  access({ loading, array: number, threads: threads2, base, elements, values, lanes: lanes2 }, shown) {
    if (loading && !shown) return;
    const array = this.trace.arrays[number];
    const local = array.space === "local" ? array.size : 0;
    const held = this.values[number];
    for (let lane = 0; lane < lanes2; lane++) {
      const thread = at(threads2, lane);
      const element = base + at(elements, lane);
      const slot = element + thread * local;
      if (values) held[slot] = at(values, lane);
      if (shown) this.mark(loading, number, thread, element, held[slot]);
    }
  }
  /**
   * @param {boolean} loading
   * @param {number} number
   * @param {number} thread
   * @param {number} element
   * @param {Value} value
   */
  mark(loading, number, thread, element, value) {
    const array = this.trace.arrays[number];
    const mine = thread === this.thread;
    const how = loading ? READ : WRITTEN;
    if (array.space !== "local" || mine) {
      this.now[number].set(element, (this.now[number].get(element) ?? 0) | how);
    }
    if (!mine) return;
    this.nowMine[number].set(element, (this.nowMine[number].get(element) ?? 0) | how);
    this.events.push({ loading, array, element, value });
  }
  /**
   * Does the block load or store the element in the launch, by now, or did the chosen thread load it by now?
   * @param {number} array
   * @param {number} element
   */
  inRegion(array, element) {
    const { loaded, stored } = this.survey;
    return Math.min(loaded[array][element], stored[array][element]) <= this.block.length;
  }
  /**
   * @param {number} array
   * @param {number} element
   */
  touched(array, element) {
    return Math.min(this.survey.loaded[array][element], this.survey.stored[array][element]) <= this.position;
  }
  /**
   * @param {number} array
   * @param {number} element
   */
  stored(array, element) {
    return this.survey.stored[array][element] <= this.position;
  }
  /**
   * @param {number} array
   * @param {number} element
   */
  loadedByThread(array, element) {
    return this.own.loaded[array][element] <= this.position;
  }
  /**
   * What the chosen thread finds in an element.
   * @param {number} array
   * @param {number} element
   */
  value(array, element) {
    const { space, size } = this.trace.arrays[array];
    return this.values[array][space === "local" ? element + this.thread * size : element];
  }
  /**
   * The chosen thread's value of a variable.
   * @param {string} name
   */
  variable(name) {
    return this.variables.get(name)?.[this.thread] ?? null;
  }
  /**
   * Loads (0) or stores (1) of a space: by the chosen thread and by the block, so far or after all steps.
   * @param {Space} space
   * @param {number} op
   * @param {number} position
   */
  count(space, op, position = this.position) {
    return { thread: countUpTo(this.own.counts[space][op], position), block: this.survey.counts[space][op][position] };
  }
  /**
   * How often the chosen thread has run a line, and its global loads there.
   * @param {number} line
   */
  onLine(line) {
    return {
      runs: countUpTo(this.own.runs.get(line) ?? [], this.position),
      loads: countUpTo(this.own.loads.get(line) ?? [], this.position)
    };
  }
};

// panels/arrays.js
var UNIT2 = 20;
var arrays = {
  wants: () => true,
  build: (place, context) => new Arrays(place, context)
};
var Arrays = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.grids = context.trace.arrays.map(() => []);
    this.product(part(place, "product"));
    this.others(place);
  }
  /** @param {HTMLElement} place */
  product(place) {
    const { arrays: arrays2 } = this.context.trace;
    for (const old of place.querySelectorAll(".tt-grid")) old.remove();
    const matrix = Object.fromEntries(arrays2.map((a, i) => [a.role, i]).filter(([role]) => role));
    place.style.display = "A" in matrix ? "" : "none";
    if (!("A" in matrix)) return;
    const [[M, K], N] = [arrays2[matrix.A].shape, arrays2[matrix.B].shape[1]];
    const margin = Math.max(15, 0.045 * (K + N) * UNIT2);
    const text = Math.max(K + N, K + M) <= 20;
    for (const role of "ABC") {
      const array = arrays2[matrix[role]];
      const [grid] = this.grids[matrix[role]] = arrayGrids(array, { tile: array.tile, margin, text });
      grid.node.classList.add(`tt-matrix-${role}`);
      place.append(grid.node);
      this.interact(grid, matrix[role]);
    }
    const side = (n) => n * UNIT2 + margin + 2;
    place.style.gridTemplateColumns = `minmax(8.5em, ${side(K)}fr) ${side(N)}fr`;
    place.style.maxWidth = `${(K + N) * 44 + 40}px`;
  }
  /** @param {HTMLElement} place */
  others(place) {
    const rows = { shared: [], local: [], global: [] };
    this.context.trace.arrays.forEach((array, i) => {
      if (array.role) return;
      this.grids[i] = arrayGrids(array, { labels: false, margin: 10 });
      rows[array.space].push(figure(array, this.grids[i]));
      for (const grid of this.grids[i]) this.interact(grid, i);
    });
    for (const [name, figures] of [["shared", rows.shared], ["locals", rows.local], ["others", rows.global]]) {
      const section = part(place, String(name));
      section.style.display = figures.length ? "" : "none";
      section.querySelector(".tt-row")?.replaceChildren(.../** @type {HTMLElement[]} */
      figures);
    }
    this.locals = part(place, "locals");
  }
  /**
   * A click on an element of C chooses the block and thread that store it.
   * @param {import("../grid.js").Grid} grid
   * @param {number} number
   */
  interact(grid, number) {
    const { trace } = this.context;
    const array = trace.arrays[number];
    grid.node.addEventListener("pointermove", (event) => {
      const i = grid.elementAt(event);
      if (i === null) return;
      const element = i + grid.offset;
      const text = `${trace.element(array, element)} = ${full(this.context.machine.value(number, element))}`;
      if (grid.tip.textContent !== text) grid.tip.textContent = text;
    });
    if (array.role !== "C") return;
    grid.node.classList.add("tt-click");
    grid.node.addEventListener("click", (event) => {
      const owner = trace.owners.get(`${number}:${grid.elementAt(event)}`);
      if (!owner) return;
      this.context.choose({ block: trace.blocks[owner[0]].at, thread: trace.threadPosition(owner[1]) });
    });
  }
  choose() {
    const { machine, trace } = this.context;
    const heading = this.locals?.querySelector("h4");
    if (heading) heading.textContent = `Local arrays of thread ${trace.label(trace.threadPosition(machine.thread))}`;
    this.grids.forEach((grids, number) => {
      for (const grid of grids) {
        if (trace.arrays[number].role) grid.frame((element) => machine.inRegion(number, element));
        else grid.outline.style.display = "none";
      }
    });
  }
  draw() {
    const { machine, trace } = this.context;
    trace.arrays.forEach((array, number) => {
      const [now, mine] = [machine.now[number], machine.nowMine[number]];
      for (const grid of this.grids[number]) {
        const dots = [];
        const rings = [];
        for (let i = 0; i < grid.size; i++) {
          const element = i + grid.offset;
          const value = machine.value(number, element);
          const marked = now.get(element) ?? 0;
          const touched = array.space !== "global" || machine.touched(number, element);
          const inside = machine.inRegion(number, element);
          const state = value === null ? EMPTY : touched ? SEEN : inside ? REGION : PLAIN;
          const faint = !inside || array.role === "C" && !machine.stored(number, element);
          grid.cell(i, marked & WRITTEN ? NOW_WRITTEN : marked & READ ? NOW_READ : state | (faint ? FAINT : 0), value);
          if (array.space === "global" && machine.loadedByThread(number, element)) dots.push(i);
          if (mine.has(element)) rings.push(i);
        }
        grid.finish(dots, rings);
      }
    });
  }
};

// panels/counts.js
var counts = {
  wants: () => true,
  build: (place, context) => new Counts(place, context)
};
var Counts = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.callout = part(place, "callout");
    this.table = part(place, "traffic").querySelector("table");
    this.numbers = [];
  }
  // The counts' places, with the totals of the whole launch; a step only changes the numbers.
  choose() {
    const { machine } = this.context;
    const last = machine.length;
    const [thread, block] = [html("b", { class: "tt-mine" }), html("b", { class: "tt-all" })];
    this.numbers = [{ space: "global", op: 0, thread, block }];
    const beside = (count, who) => html("span", {}, `of ${count}`, html("br"), who);
    const total = machine.count("global", 0, last);
    this.callout.replaceChildren(
      html("h4", {}, "Global loads"),
      html("p", {}, thread, beside(total.thread, "this thread")),
      html("p", {}, block, beside(total.block, "this block"))
    );
    const rows = [html("tr", {}, html("td"), html("th", {}, "thread"), html("th", {}, "block"))];
    for (
      const space of
      /** @type {Space[]} */
      ["global", "shared", "local"]
    ) {
      ["loads", "stores"].forEach((what, op) => {
        if (space !== "global" && !machine.count(space, op, last).block) return;
        const cells = [html("td"), html("td")];
        this.numbers.push({ space, op, thread: cells[0], block: cells[1] });
        rows.push(html("tr", {}, html("th", {}, `${space} ${what}`), ...cells));
      });
    }
    this.table?.replaceChildren(...rows);
  }
  draw() {
    const { machine } = this.context;
    for (const { space, op, thread, block } of this.numbers) {
      const count = machine.count(space, op);
      write(thread, String(count.thread));
      write(block, String(count.block));
    }
  }
};

// panels/registers.js
var registers = {
  wants: () => true,
  build: (place, context) => new Registers(part(place, "registers"), context)
};
var Registers = class {
  /**
   * @param {HTMLElement} section
   * @param {import("../panel.js").Context} context
   */
  constructor(section, context) {
    this.context = context;
    this.heading = section.querySelector("h4");
    this.list = section.querySelector("dl");
  }
  choose() {
    const { machine, trace } = this.context;
    const thread = trace.label(trace.threadPosition(machine.thread));
    if (this.heading) this.heading.textContent = `Registers of thread ${thread}`;
  }
  draw() {
    const { machine } = this.context;
    const rows = [];
    for (const name of machine.variables.keys()) {
      const value = machine.variable(name);
      if (value === null) continue;
      const look = machine.changed.has(name) ? "tt-changed" : "";
      rows.push(html("div", { class: look }, html("dt", {}, name), html("dd", {}, full(value))));
    }
    this.list?.replaceChildren(...rows);
  }
};

// panels/source.js
var source = {
  wants: () => true,
  build: (place, context) => new Source(part(place, "source"), context)
};
var Source = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.place = place;
    this.context = context;
    const { trace } = context;
    const hues = new Map(trace.arrays.map((a) => [a.name, a.hue]));
    for (const name of trace.accumulators) hues.set(name, "var(--tt-register)");
    this.head = html("div", { class: "tt-line tt-columns" });
    for (const [text, title] of [
      ["", ""],
      ["runs", "How often the chosen thread has run the line"],
      ["loads", "Global loads of the chosen thread on the line"]
    ]) {
      this.head.append(html("span", { title }, html("small", {}, text)));
    }
    this.lines = /* @__PURE__ */ new Map();
    const rows = trace.source.map(([number, text]) => {
      const [runs, loads] = [html("span", { class: "tt-runs" }), html("span", { class: "tt-loads" })];
      const label = html("span", { class: "tt-number" }, String(number));
      const node = html("div", { class: "tt-line", "data-line": number }, label, runs, loads, highlight(text, hues));
      this.lines.set(number, { node, runs, loads });
      return node;
    });
    place.replaceChildren(this.head, html("div", { class: "tt-lines" }, ...rows));
    this.current = void 0;
  }
  choose() {
    const { machine, trace } = this.context;
    this.head.title = `Counts of thread ${trace.label(trace.threadPosition(machine.thread))}`;
  }
  draw() {
    const { machine } = this.context;
    for (const [number, line] of this.lines) {
      const { runs, loads } = machine.onLine(number);
      write(line.runs, runs ? String(runs) : "");
      write(line.loads, loads ? String(loads) : "");
    }
    const current = machine.line === null ? void 0 : this.lines.get(machine.line)?.node;
    if (current !== this.current) {
      this.current?.classList.remove("tt-current");
      this.current?.removeAttribute("aria-current");
      current?.classList.add("tt-current");
      current?.setAttribute("aria-current", "step");
      this.current = current;
    }
  }
  // Keep the current line in sight; asked last, so that the page is laid out once a step.
  scroll() {
    if (!this.current) return;
    const { place } = this;
    const { offsetTop: top, offsetHeight: height } = this.current;
    if (top < place.scrollTop + 2 * height) place.scrollTop = top - 2 * height;
    const below = top + 2 * height - place.clientHeight;
    if (below > place.scrollTop) place.scrollTop = below;
  }
};

// panels/threads.js
var threads = {
  wants: () => true,
  build: (place, context) => new Threads(part(place, "accumulators"), context)
};
var Threads = class {
  /**
   * @param {HTMLElement} section
   * @param {import("../panel.js").Context} context
   */
  constructor(section, context) {
    this.context = context;
    const { trace } = context;
    const [bx, by, bz] = trace.block;
    const shape = by * bz === 1 && bx % 32 === 0 ? [bx / 32, 32] : [by * bz, bx];
    const names = trace.accumulators.length ? trace.accumulators : ["threads"];
    this.rows = names.map((name) => {
      const array = { name, shape, size: bx * by * bz, hue: "var(--tt-register)" };
      const [grid] = arrayGrids(array, { labels: false, margin: 2 });
      grid.outline.style.display = "none";
      grid.node.addEventListener("click", (event) => {
        const thread = grid.elementAt(event);
        if (thread !== null) context.choose({ thread: trace.threadPosition(thread) });
      });
      return { name, grid, figure: figure(array, [grid]) };
    });
    section.querySelector(".tt-row")?.replaceChildren(...this.rows.map((row) => row.figure));
    const heading = section.querySelector("h4");
    if (heading) heading.textContent = trace.accumulators.length ? "All threads" : "Threads of the block";
  }
  choose() {
  }
  draw() {
    const { machine } = this.context;
    const active = new Set(machine.active);
    for (const { name, grid } of this.rows) {
      const held = machine.variables.get(name);
      for (let thread = 0; thread < grid.size; thread++) {
        const value = held ? held[thread] : null;
        const changed = active.has(thread) && machine.assigned.has(name);
        grid.cell(thread, changed ? NOW_WRITTEN : active.has(thread) ? ACTIVE : value === null ? EMPTY : SEEN, value);
      }
      grid.finish([], [machine.thread]);
    }
  }
};

// stage.js
var PANELS = [arrays, threads, source, registers, counts];
var LAYOUT = `
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
function layOut(root) {
  root.innerHTML = LAYOUT;
  part(root, "legend").append(...legend());
}
var Stage = class {
  /**
   * @param {HTMLElement} root
   * @param {import("./trace.js").Trace} trace
   * @param {Pick<import("./panel.js").Context, "choose" | "go">} actions
   */
  constructor(root, trace, actions) {
    this.root = root;
    this.trace = trace;
    write(part(root, "kernel"), trace.kernel);
    write(part(root, "launch"), `grid ${trace.label(trace.grid)} × block ${trace.label(trace.block)}`);
    root.setAttribute("aria-label", `Stepper of the kernel ${trace.kernel}`);
    const option = (value, text) => html("option", { value }, text);
    part(root, "block").replaceChildren(...trace.blocks.map((b, i) => option(i, trace.label(b.at))));
    part(root, "thread").replaceChildren(
      ...Array.from({ length: trace.threads }, (_, i) => option(i, trace.label(trace.threadPosition(i))))
    );
    this.context = { trace, machine: new Machine(trace, 0, 0), ...actions };
    this.views = PANELS.filter((panel) => panel.wants(trace)).map((panel) => panel.build(root, this.context));
  }
  get machine() {
    return this.context.machine;
  }
  /**
   * @param {number} blockNumber
   * @param {number} thread
   */
  choose(blockNumber, thread) {
    const { root } = this;
    if (this.machine.blockNumber === blockNumber) this.machine.choose(thread);
    else this.context.machine = new Machine(this.trace, blockNumber, thread);
    part(root, "block").value = String(blockNumber);
    part(root, "thread").value = String(thread);
    const last = this.machine.length;
    part(root, "scrub").max = String(last);
    part(root, "ticks").replaceChildren(
      ...this.machine.block.releases.map((release) => {
        const tick = html("i");
        tick.style.setProperty("--at", String(release / last));
        return tick;
      })
    );
    for (const view of this.views) view.choose();
  }
  /** @param {number} step */
  draw(step) {
    const { machine, root } = this;
    machine.seek(step);
    part(root, "scrub").value = String(step);
    write(part(root, "count"), `step ${step} of ${machine.length}`);
    for (const view of this.views) view.draw();
    part(root, "say").replaceChildren(...sentence(machine));
    for (const view of this.views) view.scroll?.();
  }
};

// player.js
var SPEEDS = [1, 2, 4, 8, 16, 32];
var SAVE_AFTER = 300;
var Player = class {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.root = html("div", { class: "tt-root", tabindex: "0", role: "group" });
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    el.append(this.root);
    layOut(this.root);
    this.stage = this.newStage();
    this.timer = null;
    this.saving = void 0;
    this.speed = 2;
    this.unsaved = {};
    this.buttons();
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.listeners = {
      "change:_data": () => this.load(),
      "change:step": () => this.changed("step", () => this.stage.draw(this.step)),
      "change:block": () => this.changed("block", () => this.choose()),
      "change:thread": () => this.changed("thread", () => this.choose())
    };
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.choose();
  }
  destroy() {
    this.pause();
    clearTimeout(this.saving);
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
  }
  load() {
    this.pause();
    this.stage = this.newStage();
    this.choose();
  }
  newStage() {
    const actions = {
      choose: (choice) => this.set(choice),
      go: (step) => this.go(step)
    };
    return new Stage(this.root, new Trace(this.model.get("_data")), actions);
  }
  choose() {
    const { model, stage } = this;
    const { trace } = stage;
    const thread = Math.min(trace.threads - 1, trace.threadNumber(model.get("thread")));
    stage.choose(trace.blockNumber(model.get("block")), thread);
    if (model.get("step") > this.last) this.set({ step: this.last });
    stage.draw(this.step);
  }
  get last() {
    return this.stage.machine.length;
  }
  get step() {
    return Math.min(this.model.get("step"), this.last);
  }
  buttons() {
    const find = (name) => part(this.root, name);
    const on = (name, image, action) => {
      const button = find(name);
      button.append(icon(image));
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", action);
    };
    on("start", "start", () => this.go(0));
    on("back", "back", () => this.go(this.step - 1));
    on("play", "play", () => this.toggle());
    on("forward", "forward", () => this.go(this.step + 1));
    on("next", "barrier", () => this.go(this.barrier(1)));
    on("end", "end", () => this.go(this.last));
    const follow = (name, type, action) => {
      const input = (
        /** @type {HTMLInputElement | HTMLSelectElement} */
        find(name)
      );
      input.addEventListener(type, () => action(Number(input.value)));
    };
    follow("scrub", "input", (step) => this.go(step));
    follow("block", "change", (number) => this.set({ block: this.stage.trace.blocks[number].at }));
    follow("thread", "change", (number) => this.set({ thread: this.stage.trace.threadPosition(number) }));
    follow("speed", "change", (number) => this.setSpeed(number));
    find("speed").append(...SPEEDS.map((s, i) => html("option", { value: i }, `${s} a second`)));
    this.setSpeed(this.speed);
  }
  /** @param {number} number */
  setSpeed(number) {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, number));
    part(this.root, "speed").value = String(this.speed);
  }
  /**
   * Every key stays inside: what leaks, the notebook takes as its own (two d's delete the cell).
   * @param {KeyboardEvent} event
   */
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = (
      /** @type {HTMLElement} */
      event.target
    );
    if (event.key === "Escape") return target.blur();
    const presses = event.key === " " || event.key === "Enter";
    if (target.tagName === "SELECT" || target.tagName === "BUTTON" && presses) return;
    const arrow = (way) => this.go(event.shiftKey ? this.barrier(way) : this.step + way);
    const actions = {
      " ": () => this.toggle(),
      ArrowRight: () => arrow(1),
      ArrowLeft: () => arrow(-1),
      PageDown: () => this.go(this.barrier(1)),
      PageUp: () => this.go(this.barrier(-1)),
      n: () => this.go(this.barrier(1)),
      p: () => this.go(this.barrier(-1)),
      Home: () => this.go(0),
      End: () => this.go(this.last),
      "+": () => this.setSpeed(this.speed + 1),
      "-": () => this.setSpeed(this.speed - 1),
      t: () => this.cycleThread(1),
      T: () => this.cycleThread(-1),
      b: () => this.cycleBlock(1),
      B: () => this.cycleBlock(-1)
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }
  /** @param {number} way */
  cycleThread(way) {
    const { machine, trace } = this.stage;
    this.set({ thread: trace.threadPosition((machine.thread + way + trace.threads) % trace.threads) });
  }
  /** @param {number} way */
  cycleBlock(way) {
    const { machine, trace } = this.stage;
    const n = trace.blocks.length;
    this.set({ block: trace.blocks[(machine.blockNumber + way + n) % n].at });
  }
  /**
   * The step at which the next barrier opens, or the last one before.
   * @param {number} way
   * @returns {number}
   */
  barrier(way) {
    const { releases } = this.stage.machine.block;
    if (way > 0) return releases.find((r) => r > this.step) ?? this.last;
    return releases.filter((r) => r < this.step).pop() ?? 0;
  }
  /** @param {number} step */
  go(step) {
    part(this.root, "say").setAttribute("aria-live", this.timer === null ? "polite" : "off");
    this.set({ step: Math.min(this.last, Math.max(0, step)) });
  }
  /**
   * The views follow the model at once; the kernel hears of it when things have come to rest.
   * @param {Record<string, unknown>} values
   */
  set(values) {
    Object.assign(this.unsaved, values);
    for (const [name, value] of Object.entries(values)) this.model.set(name, value);
    clearTimeout(this.saving);
    this.saving = setTimeout(() => {
      this.unsaved = {};
      this.model.save_changes();
    }, SAVE_AFTER);
  }
  /**
   * What the kernel echoes is older than what the reader has done since, and gives way to it.
   * @param {string} name
   * @param {() => void} show
   */
  changed(name, show) {
    const mine = this.unsaved[name];
    if (mine === void 0 || JSON.stringify(mine) === JSON.stringify(this.model.get(name))) show();
    else this.model.set(name, mine);
  }
  toggle() {
    if (this.timer === null) this.play();
    else this.pause();
  }
  play() {
    if (this.step === this.last) this.go(0);
    const tick = () => {
      this.timer = setTimeout(tick, 1e3 / SPEEDS[this.speed]);
      this.go(this.step + 1);
      if (this.step === this.last) this.pause();
    };
    this.timer = setTimeout(tick, 1e3 / SPEEDS[this.speed]);
    this.playing();
  }
  pause() {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.playing();
  }
  playing() {
    const button = part(this.root, "play");
    const title = this.timer === null ? "Play (space)" : "Pause (space)";
    button.replaceChildren(icon(this.timer === null ? "play" : "pause"));
    button.title = title;
    button.setAttribute("aria-label", title);
  }
};

// index.js
var index_default = {
  /** @param {{model: import("./player.js").Model, el: HTMLElement}} place */
  render({ model, el }) {
    const player = new Player(model, el);
    return () => player.destroy();
  }
};
export {
  index_default as default
};
