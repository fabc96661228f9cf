/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources 323d6ddf2291bddb bundle 00353706ecb54c79 */
// dom.js
var SVG = "http://www.w3.org/2000/svg";
var ICONS = {
  start: "M4 3h2v10H4zM13 3v10L6.5 8z",
  back: "M11.5 3v10L4.5 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M4.5 3v10l7-5z",
  barrier: "M3 3v10l6.5-5zM10.5 3h2.5v10h-2.5z",
  end: "M10 3h2v10h-2zM3 3v10l6.5-5z",
  fault: "M8 1.6 15 14H1zM7.2 6v4h1.6V6zm0 5v1.6h1.6V11z",
  link: "M6.5 9.5 9.5 6.5M7 5l2-2a2.8 2.8 0 0 1 4 4l-2 2M9 11l-2 2a2.8 2.8 0 0 1-4-4l2-2",
  picture: "M2 3h12v10H2zM3.5 4.5v7h9v-7zM4 11l2.5-3.5 2 2 1.5-2 2 3.5zM6 6.2a.9.9 0 1 1-.01 0z",
  done: "M3 8.5 6.5 12 13 4.5",
  full: "M2 2h5v2H4v3H2zm7 0h5v5h-2V4H9zM2 9h2v3h3v2H2zm10 0h2v5H9v-2h3z"
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
function write(node, text2) {
  if (node.textContent !== text2) node.textContent = text2;
}
function set(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
function fill(place, nodes) {
  const there = place.children;
  if (there.length !== nodes.length || nodes.some((node, i) => node !== there[i])) place.replaceChildren(...nodes);
}

// keys.js
var KEYS = [
  [["ArrowRight", "ArrowLeft"], "→ ←", "a step on, back"],
  [[" "], "space", "play, pause"],
  [["n", "p", "PageDown", "PageUp"], "n p", "to the next barrier, the one before (also Shift → ←, Page down and up)"],
  [[".", ","], ". ,", "to the end of this phase (load, compute, store, barrier), the one before"],
  [["l", "L"], "l L", "to the next iteration of the loop, the one before"],
  [["e", "E"], "e E", "to the next finding, the one before"],
  [["Home", "End"], "Home End", "to the start, to the end"],
  [["t", "T"], "t T", "the next thread, the one before"],
  [["b", "B"], "b B", "the next block, the one before"],
  [["u"], "u", "what a step is: a statement, an iteration, a phase, a barrier"],
  [["+", "-"], "+ −", "faster, slower"],
  [[], "Tab", "to the next array; there the arrows choose an element, and Enter lists its accesses"],
  [["v", "V"], "v V", "the next view, the one before"],
  [["[", "]"], "[ ]", "smaller text, larger text"],
  [["f"], "f", "full screen, and back"],
  [["?"], "?", "the legend and these keys"],
  [["Escape"], "Esc", "out of the stepper, for the notebook's own keys"]
];
function listOfKeys() {
  const rows = KEYS.map(
    ([, keys, what]) => html("div", {}, html("dt", {}, ...keys.split(" ").map((key) => html("kbd", {}, key))), html("dd", {}, what))
  );
  return html("dl", {}, ...rows);
}

// links.js
var PLACES = ["block", "thread", "step"];
function asked(hash) {
  const words2 = new URLSearchParams(hash.slice(1));
  if (!words2.has("step")) return null;
  const values = {};
  for (const name of PLACES) {
    const numbers = (words2.get(name) ?? "").split(",").filter(Boolean).map(Number);
    if (!numbers.length || !numbers.every((n) => Number.isInteger(n) && n >= 0)) continue;
    values[name] = name === "step" ? numbers[0] : [...numbers, 0, 0].slice(0, 3);
  }
  for (const name of ["match", "panel"]) if (words2.has(name)) values[name] = words2.get(name);
  return { values, number: Number(words2.get("stepper") ?? 0) };
}
function followAddress(player) {
  const link = asked(location.hash);
  if (!link || (link.number || 1) !== player.model.get("_saved")) return;
  player.set(link.values);
  if (link.number) player.el.scrollIntoView();
}
function followLink(event) {
  const link = (
    /** @type {HTMLElement} */
    event.target.closest?.("a[href^='#step=']")
  );
  const wanted = link && asked(link.getAttribute("href") ?? "");
  if (!wanted || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const places = (
    /** @type {(HTMLElement & {stepper: import("./player.js").Player})[]} */
    [...document.querySelectorAll(".tt-place")]
  );
  const below = places.find((place2) => link.compareDocumentPosition(place2) & Node.DOCUMENT_POSITION_FOLLOWING);
  const place = wanted.number ? places.find(({ stepper }) => stepper.model.get("_saved") === wanted.number) : below;
  if (!place) return;
  event.preventDefault();
  event.stopPropagation();
  place.stepper.set(wanted.values);
  const { Reveal } = (
    /** @type {any} */
    globalThis
  );
  const { h, v } = Reveal?.getIndices?.(place.closest("section")) ?? {};
  Reveal?.slide?.(h, v);
  place.stepper.root.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
}

// gif.js
var words = (...numbers) => numbers.flatMap((n) => [n & 255, n >> 8]);
var text = (letters) => [...letters].map((letter) => letter.charCodeAt(0));
function gif(frames, pause) {
  const [width, height] = [Math.max(...frames.map((f) => f.width)), Math.max(...frames.map((f) => f.height))];
  const parts2 = [[...text("GIF89a"), ...words(width, height), 112, 0, 0]];
  parts2.push([33, 255, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0]);
  for (const frame of frames) {
    const { colours, pixels } = reduced(frame);
    parts2.push([33, 249, 4, 8, ...words(Math.round(pause / 10)), 0, 0]);
    parts2.push([44, 0, 0, 0, 0, ...words(frame.width, frame.height), 135, ...colours, 8], packed(pixels), [0]);
  }
  return new Blob([...parts2, [59]].map((part2) => Uint8Array.from(part2)), { type: "image/gif" });
}
function reduced({ data }) {
  const bin = (i) => data[i] >> 3 << 10 | data[i + 1] >> 3 << 5 | data[i + 2] >> 3;
  const counts2 = new Uint32Array(1 << 15);
  const first = /* @__PURE__ */ new Map();
  for (let i = 0; i < data.length; i += 4) if (!counts2[bin(i)]++) first.set(bin(i), i);
  const kept = [...first.keys()].sort((a, b) => counts2[b] - counts2[a]).slice(0, 256);
  const palette = kept.map((key) => [...data.slice(first.get(key), (first.get(key) ?? 0) + 3)]);
  const nearest = new Int16Array(1 << 15).fill(-1);
  const pixels = new Uint8Array(data.length / 4);
  for (let i = 0; i < data.length; i += 4) {
    const key = bin(i);
    if (nearest[key] < 0) {
      const far = palette.map(([r, g, b]) => (r - data[i]) ** 2 + (g - data[i + 1]) ** 2 + (b - data[i + 2]) ** 2);
      nearest[key] = far.indexOf(Math.min(...far));
    }
    pixels[i / 4] = nearest[key];
  }
  return { colours: [...palette.flat(), ...new Array(768 - 3 * palette.length).fill(0)], pixels };
}
function packed(pixels) {
  const [CLEAR, END] = [256, 257];
  const bytes = [];
  let [bits, held, size, next] = [0, 0, 9, 258];
  let codes = /* @__PURE__ */ new Map();
  const put = (code2) => {
    held |= code2 << bits;
    for (bits += size; bits >= 8; bits -= 8, held >>>= 8) bytes.push(held & 255);
  };
  put(CLEAR);
  let code = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = code << 8 | pixels[i];
    const longer = codes.get(key);
    if (longer !== void 0) {
      code = longer;
      continue;
    }
    put(code);
    code = pixels[i];
    if (next === 4096) {
      put(CLEAR);
      [codes, size, next] = [/* @__PURE__ */ new Map(), 9, 258];
      continue;
    }
    if (next === 1 << size) size++;
    codes.set(key, next++);
  }
  put(code);
  put(END);
  if (bits) bytes.push(held & 255);
  const blocks = [];
  for (let i = 0; i < bytes.length; i += 255) blocks.push(Math.min(255, bytes.length - i), ...bytes.slice(i, i + 255));
  return Uint8Array.from(blocks);
}

// saving.js
var MOST = 300;
var SHARP = 2;
var FRAME = 1e3;
var Saving = class {
  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.form = /** @type {HTMLFormElement} */
    part(player.root, "saving");
    this.form.noValidate = true;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
    this.form.addEventListener("change", () => this.show());
  }
  get open() {
    return !this.form.hidden;
  }
  toggle() {
    const { form, player } = this;
    form.hidden = !form.hidden;
    const button = part(player.root, "picture");
    button.setAttribute("aria-expanded", String(this.open));
    if (!this.open) return button.focus();
    for (const name of ["first", "last"]) this.input(name).value = String(name === "first" ? player.step : player.last);
    this.tell("");
    this.show();
    this.input("kind").focus();
  }
  /** @param {string} name */
  input(name) {
    return (
      /** @type {HTMLInputElement} */
      this.form.elements.namedItem(name)
    );
  }
  show() {
    part(this.form, "until").hidden = this.input("kind").value !== "GIF";
  }
  /** @param {string} text */
  tell(text2) {
    const place = this.form.querySelector("p");
    if (place) place.textContent = text2;
  }
  async save() {
    const { player } = this;
    const kind = this.input("kind").value.toLowerCase();
    const [first, last] = ["first", "last"].map((name) => Number(this.input(kind === "gif" ? name : "first").value || NaN));
    if (![first, last].every((n) => Number.isInteger(n) && n >= 0 && n <= player.last) || first > last || last - first >= MOST) {
      return this.tell(`Give steps from 0 to ${player.last}, the first one first, and at most ${MOST} of them.`);
    }
    this.tell("Drawing…");
    try {
      const name = `${player.stage?.trace.kernel}-step-${first}${last > first ? `-to-${last}` : ""}.${kind}`;
      download(await this.file(kind, first, last), name);
      this.tell(`${name} is saved.`);
    } catch (error) {
      console.error(error);
      this.tell('This browser cannot draw the picture. In Python, stepper.save_picture("step.png") does.');
    }
    player.stage?.draw(player.step);
  }
  /**
   * @param {string} kind
   * @param {number} first
   * @param {number} last
   */
  async file(kind, first, last) {
    const { stage, root } = this.player;
    const frames = [];
    for (let step = first; step <= last; step++) {
      stage?.draw(step);
      const text2 = svgOf(root);
      if (kind === "svg") return new Blob([text2], { type: "image/svg+xml" });
      const canvas = await drawn(text2, kind === "png" ? SHARP : 1);
      if (kind === "png") return (
        /** @type {Promise<Blob>} */
        new Promise((done, fail) => canvas.toBlob((blob) => blob ? done(blob) : fail(new Error("no picture"))))
      );
      frames.push(
        /** @type {CanvasRenderingContext2D} */
        canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
      );
    }
    return gif(frames, FRAME);
  }
};
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 6e4);
}
function svgOf(root) {
  const copy = (
    /** @type {HTMLElement} */
    root.cloneNode(true)
  );
  const canvases = root.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((canvas, i) => {
    const picture3 = html("img", { src: canvases[i].toDataURL(), class: canvas.className, style: canvas.style.cssText, alt: "" });
    canvas.replaceWith(picture3);
  });
  const chosen = root.querySelectorAll("select");
  copy.querySelectorAll("select").forEach((select, i) => {
    const text2 = chosen[i].selectedOptions[0]?.textContent ?? "";
    if (!select.matches(".tt-block, .tt-thread")) return select.replaceChildren();
    select.replaceWith(html("b", {}, text2));
  });
  const rules = rulesOf();
  const style = getComputedStyle(root);
  for (const [, name] of rules.matchAll(/var\((--jp-[\w-]+)/g)) {
    const value = style.getPropertyValue(name);
    if (value) copy.style.setProperty(name, value);
  }
  copy.classList.add("tt-whole");
  copy.style.width = `${root.offsetWidth}px`;
  root.parentElement?.append(copy);
  for (const node of copy.querySelectorAll("*")) if (getComputedStyle(node).display === "none") node.remove();
  const [width, height] = [Math.ceil(copy.offsetWidth), Math.ceil(copy.offsetHeight)];
  copy.remove();
  const image = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) image.setAttribute(name, String(value));
  const place = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
  for (const [name, value] of Object.entries({ width, height })) place.setAttribute(name, String(value));
  place.append(html("style", {}, rules), copy);
  image.append(place);
  return new XMLSerializer().serializeToString(image);
}
function rulesOf() {
  const texts = [...document.styleSheets].map((sheet) => {
    const written = sheet.ownerNode?.textContent;
    try {
      return written || [...sheet.cssRules].map(({ cssText }) => cssText).join("\n");
    } catch {
      return "";
    }
  });
  return texts.filter((text2) => text2.includes(".tt-root")).join("\n");
}
async function drawn(text2, scale) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text2)}`;
  await image.decode();
  const canvas = (
    /** @type {HTMLCanvasElement} */
    html("canvas", { width: image.width * scale, height: image.height * scale })
  );
  canvas.getContext("2d", { willReadFrequently: true })?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

// terms.js
var GLOSSARY = {
  Access: "One thread's load or store of one element. The counts called accesses are sums over threads.",
  Bank: "Shared memory consists of 32 banks. Each one delivers one word of 4 bytes at a time. Neighbouring words are in neighbouring banks.",
  "Bank-conflict": "Lanes of a warp ask one bank for different words, and the bank delivers them one after the other. The count called conflicts is the number of wavefronts beyond the fewest that the request can need.",
  Barrier: "A line of the kernel where a thread waits until all threads of its block have reached it: cuda.syncthreads(). What a thread stored before it, every thread can read after it.",
  Block: "Threads that run on the same multiprocessor and can share memory and wait for each other; at most 1,024. It has up to three directions, x, y and z.",
  Finding: "The simulator's report that a launch broke a rule: which rule, the line, the thread and what to do.",
  Fragment: "The few elements of a small matrix that one lane holds in registers, for a step of the inner loop or for a tensor core.",
  "Global-memory": "The large memory of the GPU. All threads can read and write it, and it is far from all of them.",
  Launch: "Starting a kernel, with a grid and a block: kernel[grid, block](...), and here simulate(kernel)[grid, block](...).",
  "Local-memory": "A thread's own memory for values that do not fit into registers. It is part of global memory, and as far away.",
  Request: "One load or store of a whole warp: its lanes access memory together.",
  Sector: "32 neighbouring bytes, the smallest piece that global memory delivers.",
  "Shared-memory": "The small memory of a block, on its multiprocessor.",
  Thread: "One run of the kernel, with its own numbers.",
  Warp: "32 threads of a block that execute a line together.",
  Wavefront: "One pass in which shared memory answers a request, or a part of it."
};
var FORMS = { waiting: "Barrier", conflicts: "Bank-conflict", accesses: "Access", "global loads": "Global-memory" };
function tip(word) {
  const known = (text2) => Object.keys(GLOSSARY).find((term2) => term2.toLowerCase() === text2);
  const plain = word.toLowerCase().replaceAll(" ", "-");
  const term = FORMS[word.toLowerCase()] ?? known(plain) ?? known(plain.replace(/s$/, ""));
  return term ? { title: GLOSSARY[term], "data-term": term } : {};
}

// legend.js
var looks = (letter) => (planes2) => planes2.some((plane) => plane.looks.includes(letter));
var some = (marks2) => (planes2) => planes2.some((plane) => plane[marks2].length > 0);
var ELEMENTS = [
  ["tt-c tt-region", "the block's region", looks("r")],
  ["tt-c tt-seen", "loaded or stored by the block", looks("s")],
  ["tt-c tt-now tt-read", "read in this step", looks("R")],
  ["tt-c tt-now tt-written", "written in this step", looks("W")],
  ["ring", "by the chosen thread", some("mine")],
  ["dot", "loaded by the chosen thread", some("dots")],
  ["tt-c tt-empty", "nothing stored yet", looks("e")],
  ["thread", "what the chosen thread stores", some("owned")],
  ["warp", "what its warp stores", some("owned_by_warp")]
];
var MORE = [
  ["tt-c", "not used by this block", looks(".")],
  ["tt-c tt-active", "a thread that takes part in this step", looks("a")],
  ["frame", "around the block's region", (planes2) => planes2.some(({ frame }) => frame)],
  ["tile", "the borders of tiles", (planes2) => planes2.some(({ tile }) => tile)],
  ["fault", "breaks a rule, or holds a wrong value", some("wrong")],
  ["beyond", "an access out of bounds", some("outside")]
];
var BOX = { x: 1, y: 1, width: 18, height: 18 };
var OVER = {
  ring: () => svg("g", { class: "tt-rings" }, svg("rect", { ...BOX, rx: 4 })),
  dot: () => svg("g", { class: "tt-dots" }, svg("circle", { cx: 15.5, cy: 4.5, r: 2.4 })),
  thread: () => svg("path", { class: "tt-own-thread", d: "M2 2h16v16h-16z" }),
  warp: () => svg("path", { class: "tt-own-warp", d: "M2 2h16v16h-16z" }),
  frame: () => svg("rect", { ...BOX, class: "tt-outline" }),
  tile: () => svg("g", { class: "tt-tiles" }, svg("line", { x1: 10, x2: 10, y1: 0, y2: 20 })),
  fault: () => svg("g", { class: "tt-faults" }, svg("rect", { ...BOX, rx: 4 })),
  beyond: () => svg("g", { class: "tt-faults" }, svg("rect", { ...BOX, class: "tt-beyond" }), svg("path", { d: "M5 5l10 10m0 -10l-10 10" }))
};
function entry([look, text2]) {
  const sample = svg("svg", { class: "tt-grid", viewBox: "0 0 20 20", "aria-hidden": "true" });
  const over = OVER[look];
  const below = look === "ring" ? "tt-c tt-now tt-read" : over ? "tt-c tt-seen" : look;
  sample.append(svg("rect", { ...BOX, class: below }), ...over ? [over()] : []);
  return html("span", { class: `tt-legend-${look.split("tt-").pop()}` }, sample, text2);
}
function legend() {
  return ELEMENTS.map(entry);
}
function marksOf(planes2, arrays2, variables) {
  const hues = /* @__PURE__ */ new Map();
  const name = (hue, text2) => hues.set(hue, [...hues.get(hue) ?? [], text2]);
  for (const { name: array, hue, role, space } of arrays2) name(hue, role ? `the matrix ${array}` : `${array} (${space} memory)`);
  for (const variable of variables) name("var(--tt-register)", variable === "threads" ? "the threads" : `${variable} (registers)`);
  const colours = [...hues].map(([hue, texts]) => {
    const node = entry(["tt-c tt-now", [...new Set(texts)].join(", "), () => true]);
    node.style.setProperty("--hue", hue);
    return node;
  });
  return [...colours, ...[...ELEMENTS, ...MORE].filter(([, , shown2]) => shown2(planes2)).map(entry)];
}
function wordsOn(page) {
  const terms = [...page.querySelectorAll("[data-term]")].map((node) => (
    /** @type {HTMLElement} */
    node.dataset.term ?? ""
  ));
  return [...new Set(terms)].sort().map((term) => html("div", {}, html("dt", {}, term.replace("-", " ").toLowerCase()), html("dd", {}, GLOSSARY[term])));
}

// trace.js
var VERSION = 3;
var WARP = 32;
var SECTOR_BYTES = 32;
var BANKS = 32;
var WORD_BYTES = 4;
var BARRIER = 1;
var LOOP_TURN = 2;
var CONTINUED = 4;
var OPS = (
  /** @type {const} */
  ["load", "store", "atomic"]
);
var LOAD = 0;
var ATOMIC = 2;
var TYPES = { i1: Int8Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
var HUES = { A: "var(--tt-a)", B: "var(--tt-b)", C: "var(--tt-c)" };
var SPACE_HUES = { shared: "var(--tt-shared)", local: "var(--tt-register)", global: "var(--tt-other)" };
var NEWER = "This trace is of a newer version of the course; update and run the cell again.";
var OLDER = "This trace is of an older version of the course; run the cell again.";
var BROKEN = "This trace can't be read; run the cell again.";
var Unreadable = class extends Error {
};
async function open(text2) {
  try {
    const sent = JSON.parse(text2);
    if (sent.version > VERSION) throw new Unreadable(NEWER);
    if (sent.version < VERSION) throw new Unreadable(OLDER);
    if (sent.version !== VERSION) throw new Unreadable(BROKEN);
    return new Trace(sent, columns(sent.columns, await inflate(sent.packed)));
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(BROKEN);
  }
}
async function inflate(packed2) {
  const bytes = Uint8Array.from(atob(packed2), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
function columns(named, buffer2) {
  let from = 0;
  const found = {};
  for (const [name, type, count] of named) {
    const column = new TYPES[type](count);
    const [bytes, size] = [new Uint8Array(column.buffer), column.BYTES_PER_ELEMENT];
    const sent = new Uint8Array(buffer2, from, bytes.length);
    for (let byte = 0, at2 = 0; byte < size; byte++) for (let i = byte; i < bytes.length; i += size) bytes[i] = sent[at2++];
    found[name] = column;
    from += bytes.length;
  }
  return found;
}
function lanesOf(mask) {
  const lanes3 = [];
  for (let lane = 0; lane < WARP; lane++) if (mask >>> lane & 1) lanes3.push(lane);
  return lanes3;
}
function popcount(mask) {
  let n = 0;
  for (let rest = mask >>> 0; rest; rest &= rest - 1) n++;
  return n;
}
var Access = class {
  /**
   * @param {Trace} trace
   * @param {number} row
   * @param {number} warp
   */
  constructor(trace, row, warp2) {
    const { columns: columns2 } = trace;
    this.op = columns2.access_op[row];
    this.loading = this.op === LOAD;
    this.array = columns2.access_array[row];
    this.warp = warp2;
    this.mask = columns2.access_lanes[row];
    this.lanes = lanesOf(this.mask);
    this.width = columns2.access_width[row];
    this.sectors = columns2.access_sectors[row];
    this.wavefronts = columns2.access_wavefronts[row];
    this.conflicts = columns2.access_conflicts[row];
    this.base = columns2.access_base[row];
    this.pattern = /** @type {ArrayLike<number>} */
    trace.vector(columns2.access_pattern[row]);
    this.values = this.loading ? null : trace.vector(columns2.access_values[row]);
    this.update = this.op === ATOMIC ? trace.update(row, this.lanes.length) : null;
  }
  /**
   * The first element of the k-th lane that takes part.
   * @param {number} k
   */
  element(k) {
    return this.base + (this.pattern.length === 1 ? this.pattern[0] : this.pattern[k]);
  }
  /**
   * What the k-th lane stored in its w-th element.
   * @param {number} k
   * @param {number} w
   * @returns {Value}
   */
  stored(k, w) {
    return this.values && this.values[this.values.length === this.width ? w : k * this.width + w];
  }
};
var Block = class {
  /**
   * @param {Trace} trace
   * @param {{at: Position, first: number, steps: number, releases: number[], phases: [number, string][][]}} sent
   */
  constructor(trace, sent) {
    this.trace = trace;
    this.at = sent.at;
    this.first = sent.first;
    this.length = sent.steps;
    this.releases = sent.releases;
    this.phases = sent.phases;
  }
  /**
   * @param {number} i
   * @returns {number}
   */
  line(i) {
    return this.trace.columns.step_line[this.first + i];
  }
  /**
   * @param {number} i
   * @returns {number}
   */
  warp(i) {
    return this.trace.columns.step_warp[this.first + i];
  }
  /**
   * The active lanes of the warp, a bit each.
   * @param {number} i
   * @returns {number}
   */
  mask(i) {
    return this.trace.columns.step_lanes[this.first + i];
  }
  /**
   * @param {number} i
   * @param {number} flag  BARRIER, LOOP_TURN or CONTINUED
   */
  has(i, flag) {
    return Boolean(this.trace.columns.step_flags[this.first + i] & flag);
  }
  /**
   * @param {number} i
   * @param {number} thread
   */
  runs(i, thread) {
    return this.warp(i) === thread >> 5 && Boolean(this.mask(i) >>> (thread & 31) & 1);
  }
  /**
   * Rows of the columns "access", "variable", "test" or "outside" that belong to a step.
   * @param {string} what
   * @param {number} i
   * @returns {[number, number]}
   */
  rows(what, i) {
    const starts = this.trace.columns[`step_${what}`];
    return [starts[this.first + i], starts[this.first + i + 1]];
  }
  /** @param {number} i */
  accesses(i) {
    const [from, to] = this.rows("access", i);
    return Array.from({ length: to - from }, (_, k) => new Access(this.trace, from + k, this.warp(i)));
  }
  /**
   * @param {number} i
   * @returns {Outside[]}
   */
  outside(i) {
    const { columns: columns2, arrays: arrays2 } = this.trace;
    const [from, to] = this.rows("outside", i);
    const found = [];
    for (let row = from; row < to; row++) {
      const array = columns2.outside_array[row];
      const dims = arrays2[array].shape.length;
      const numbers = (
        /** @type {ArrayLike<number>} */
        this.trace.vector(columns2.outside_index[row])
      );
      lanesOf(columns2.outside_lanes[row]).forEach((lane, k) => {
        const start = numbers.length === dims ? 0 : k * dims;
        const index = Array.from({ length: dims }, (_, d) => numbers.length === 1 ? numbers[0] : numbers[start + d]);
        found.push({ array, loading: columns2.outside_op[row] === LOAD, thread: WARP * this.warp(i) + lane, index });
      });
    }
    return found;
  }
  /**
   * @param {number} i
   * @returns {Test[]}
   */
  tests(i) {
    const { trace } = this;
    const { columns: columns2 } = trace;
    const [from, to] = this.rows("test", i);
    return Array.from({ length: to - from }, (_, k) => {
      const row = from + k;
      const [text2, parts2] = trace.tests[columns2.test_text[row]];
      const mask = columns2.test_lanes[row];
      const [left, right] = [columns2.test_left[row], columns2.test_right[row]];
      const sides = (lane) => {
        if (left < 0 || right < 0) return null;
        const k2 = popcount(mask & (1 << lane) - 1);
        return [at(trace.vector(left), k2), at(trace.vector(right), k2)];
      };
      return { text: text2, parts: parts2 ?? [], mask, truth: columns2.test_truth[row], sides };
    });
  }
};
function at(vector, lane) {
  return vector.length === 1 ? vector[0] : vector[lane];
}
var Trace = class {
  /**
   * @param {any} sent
   * @param {Record<string, any>} columns
   */
  constructor(sent, columns2) {
    this.columns = columns2;
    this.kernel = sent.kernel;
    this.name = this.kernel;
    this.grid = sent.grid;
    this.block = sent.block;
    this.source = sent.source;
    this.loops = new Map(sent.loops);
    this.names = sent.names;
    this.operations = sent.operations;
    this.accumulators = sent.accumulators;
    this.texts = sent.texts;
    this.tests = sent.tests;
    this.findings = sent.findings;
    this.traffic = sent.traffic;
    this.arrays = sent.arrays;
    this.matrices = sent.matrices ?? [];
    this.omitted = sent.omitted ?? 0;
    this.wanted = {};
    this.threads = this.block[0] * this.block[1] * this.block[2];
    this.warps = Math.ceil(this.threads / WARP);
    this.dims = Math.max(...[this.grid, this.block].map((d) => d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1));
    for (const array of this.arrays) {
      array.size = array.shape.reduce((a, b) => a * b, 1);
      array.hue = array.role ? HUES[array.role] : SPACE_HUES[array.space];
    }
    this.vectors = new Array(columns2.vector_kind.length);
    this.pools = [columns2.ints, columns2.floats, columns2.doubles, this.texts];
    this.blocks = sent.blocks.map((block) => new Block(this, block));
    const steps = columns2.step_line.length;
    if (!this.blocks.length || this.blocks.some(({ first, length }) => !(length > 0 && first + length <= steps))) {
      throw new RangeError("no steps");
    }
    this.owner = this.arrays.findIndex((array) => array.name === sent.owner && array.space === "global");
    this.owned = this.findOwners();
  }
  /**
   * @param {number} number
   * @returns {Vector}
   */
  vector(number) {
    const known = this.vectors[number];
    if (known) return known;
    const { vector_kind: kind, vector_start: start, vector_length: length } = this.columns;
    const [from, to] = [start[number], start[number] + length[number]];
    const pool = this.pools[kind[number]];
    return this.vectors[number] = Array.isArray(pool) ? pool.slice(from, to) : pool.subarray(from, to);
  }
  /**
   * @param {number} row  of an atomic
   * @param {number} lanes
   * @returns {Update}
   */
  update(row, lanes3) {
    const { access_old, access_given, access_operation } = this.columns;
    const [old, given] = [this.vector(access_old[row]), this.vector(access_given[row])];
    const each = given.length / lanes3;
    return {
      operation: this.operations[access_operation[row]],
      old: (k) => at(old, k),
      given: (k) => Array.from({ length: each }, (_, i) => given[k * each + i])
    };
  }
  /** Of each element of the array that says what a thread owns: block * threads + thread, or -1. */
  findOwners() {
    if (this.owner < 0) return new Int32Array(0);
    const owned = new Int32Array(this.arrays[this.owner].size).fill(-1);
    const { access_op, access_array } = this.columns;
    this.blocks.forEach((block, number) => {
      for (let i = 0; i < block.length; i++) {
        const [from, to] = block.rows("access", i);
        for (let row = from; row < to; row++) {
          if (access_op[row] === LOAD || access_array[row] !== this.owner) continue;
          const access = new Access(this, row, block.warp(i));
          access.lanes.forEach((lane, k) => {
            const owner = number * this.threads + access.warp * WARP + lane;
            for (let w = 0; w < access.width; w++) owned[access.element(k) + w] = owner;
          });
        }
      }
    });
    return owned;
  }
  /**
   * The contents of an array before the block starts.
   * @param {TraceArray} array
   * @returns {Value[]}
   */
  initial(array) {
    if (array.initial < 0) {
      return new Array(array.space === "local" ? array.size * this.threads : array.size).fill(null);
    }
    const vector = this.vector(array.initial);
    return vector.length === array.size ? Array.from(
      /** @type {ArrayLike<Value>} */
      vector
    ) : new Array(array.size).fill(vector[0]);
  }
  /** @param {readonly number[]} position */
  blockNumber(position) {
    return Math.max(0, this.blocks.findIndex((b) => b.at.every((x, i) => x === position[i])));
  }
  /** @param {readonly number[]} position */
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
  /** @param {number} thread */
  threadLabel(thread) {
    return this.label(this.threadPosition(thread));
  }
  /**
   * The index of an element, one number per dimension.
   * @param {TraceArray} array
   * @param {number} flat
   */
  index(array, flat) {
    const index = [];
    for (const extent of [...array.shape].reverse()) {
      index.unshift(flat % extent);
      flat = Math.floor(flat / extent);
    }
    return index;
  }
  /**
   * The element as the kernel writes it.
   * @param {TraceArray} array
   * @param {number} flat
   */
  element(array, flat) {
    return `${array.name}[${this.index(array, flat).join(", ") || "()"}]`;
  }
  /**
   * Neighbouring elements of a row.
   * @param {TraceArray} array
   * @param {number} flat
   * @param {number} width
   */
  elements(array, flat, width) {
    if (width === 1) return this.element(array, flat);
    const index = this.index(array, flat);
    const column = index.pop() ?? 0;
    return `${array.name}[${[...index, `${column}:${column + width}`].join(", ")}]`;
  }
  /**
   * The byte at which an element starts, from the start of its array.
   * @param {TraceArray} array
   * @param {number} flat
   */
  address(array, flat) {
    return this.index(array, flat).reduce((sum, i, d) => sum + i * array.strides[d], 0) * array.itemsize;
  }
};

// survey.js
var SPACES = ["global", "shared", "local"];
var COSTS = (
  /** @type {const} */
  ["sectors", "wavefronts", "conflicts"]
);
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
    const zeros = () => new Uint32Array(block.length + 1);
    const kinds = () => OPS.map(zeros);
    this.counts = { global: kinds(), shared: kinds(), local: kinds() };
    this.totals = { requests: zeros(), sectors: zeros(), wavefronts: zeros(), conflicts: zeros() };
    const rising = [...SPACES.flatMap((space) => this.counts[space]), ...Object.values(this.totals)];
    this.sites = /* @__PURE__ */ new Map();
    for (let i = 0; i < block.length; i++) {
      for (const list of rising) list[i + 1] = list[i];
      const [from, to] = block.rows("access", i);
      for (let row = from; row < to; row++) this.add(trace, row, i + 1, block.line(i));
    }
  }
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {number} row  of the access; read from the columns, because there may be a hundred thousand
   * @param {number} position
   * @param {number} line
   */
  add(trace, row, position, line) {
    const { columns: columns2 } = trace;
    const number = columns2.access_array[row];
    const op = columns2.access_op[row];
    const { space } = trace.arrays[number];
    const count = popcount(columns2.access_lanes[row]);
    this.counts[space][op][position] += count;
    const first = (op === LOAD ? this.loaded : this.stored)[number];
    const [base, width] = [columns2.access_base[row], columns2.access_width[row]];
    const pattern = (
      /** @type {ArrayLike<number>} */
      trace.vector(columns2.access_pattern[row])
    );
    for (let k = 0; k < pattern.length; k++) {
      const element = base + pattern[k];
      for (let w = 0; w < width; w++) if (first[element + w] > position) first[element + w] = position;
    }
    if (space === "local") return;
    this.totals.requests[position] += 1;
    const key = (line * trace.arrays.length + number) * OPS.length + op;
    let site = this.sites.get(key);
    if (!site) {
      site = { line, array: number, op, positions: [], sectors: [], wavefronts: [], conflicts: [] };
      this.sites.set(key, site);
    }
    site.positions.push(position);
    for (const name of COSTS) {
      const cost = columns2[`access_${name}`][row];
      this.totals[name][position] += cost;
      site[name].push((site[name][site[name].length - 1] ?? 0) + cost);
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
    this.counts = { global: [[], [], []], shared: [[], [], []], local: [[], [], []] };
    this.runs = new Map(trace.source.map(([line]) => [line, []]));
    this.loads = new Map(trace.source.map(([line]) => [line, []]));
    const lane = thread % WARP;
    for (let i = 0; i < block.length; i++) {
      if (!block.runs(i, thread)) continue;
      const line = block.line(i);
      if (!block.has(i, CONTINUED)) this.runs.get(line)?.push(i + 1);
      for (const access of block.accesses(i)) {
        if (!(access.mask >>> lane & 1)) continue;
        const { space } = trace.arrays[access.array];
        this.counts[space][access.op].push(i + 1);
        if (!access.loading) continue;
        const element = access.element(popcount(access.mask & (1 << lane) - 1));
        const loaded = this.loaded[access.array];
        for (let w = 0; w < access.width; w++) if (loaded[element + w] > i + 1) loaded[element + w] = i + 1;
        if (space === "global") this.loads.get(line)?.push(i + 1);
      }
    }
    this.everLoaded = this.loaded.map((first) => {
      const elements = [];
      first.forEach((position, element) => position < never && elements.push(element));
      return elements;
    });
  }
};

// machine.js
var READ = 1;
var WRITTEN = 2;
var SNAPSHOTS = 64;
var SNAPSHOT_EVERY = 256;
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
    this.length = this.block.length;
    this.survey = new Survey(trace, this.block);
    this.every = Math.max(SNAPSHOT_EVERY, Math.ceil(this.length / SNAPSHOTS));
    this.snapshots = [];
    this.thread = thread;
    this.own = new ThreadSurvey(trace, this.block, thread);
    this.position = 0;
    this.values = [];
    this.variables = /* @__PURE__ */ new Map();
    this.line = null;
    this.warp = 0;
    this.mask = 0;
    this.quiet();
    this.reset(0);
  }
  /** @param {number} thread */
  choose(thread) {
    this.thread = thread;
    this.own = new ThreadSurvey(this.trace, this.block, thread);
    this.reset(0);
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
    this.mask = 0;
    this.accesses = [];
    this.outside = [];
    this.tests = [];
    this.assigned = /* @__PURE__ */ new Set();
    this.changed = /* @__PURE__ */ new Set();
    this.now = this.trace.arrays.map(() => /* @__PURE__ */ new Map());
    this.nowMine = this.trace.arrays.map(() => /* @__PURE__ */ new Map());
    this.events = [];
  }
  /**
   * Replay up to a number of steps; to go back, from the nearest copy of the memory before it.
   * @param {number} position
   */
  seek(position) {
    if (position === this.position) return;
    const nearest = Math.min(this.snapshots.length - 1, Math.floor((position - 1) / this.every));
    if (position <= this.position || nearest * this.every > this.position) this.reset(Math.max(0, nearest));
    while (this.position < position) {
      if (this.position === this.snapshots.length * this.every) this.keep();
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
  apply(i, shown2) {
    const { block, trace } = this;
    const { columns: columns2 } = trace;
    const mask = block.mask(i);
    const first = WARP * block.warp(i);
    if (shown2) {
      this.line = block.line(i);
      this.warp = block.warp(i);
      this.barrier = block.has(i, BARRIER);
      this.mask = mask;
      this.accesses = block.accesses(i);
      this.outside = block.outside(i);
      this.tests = block.tests(i);
    }
    const [from, to] = block.rows("access", i);
    if (shown2) this.show();
    for (let row = from; row < to; row++) if (columns2.access_op[row]) this.store(row, first);
    const [start, end] = block.rows("variable", i);
    for (let row = start; row < end; row++) {
      const name = trace.names[columns2.variable_name[row]];
      const values = trace.vector(columns2.variable_values[row]);
      let held = this.variables.get(name);
      if (!held) this.variables.set(name, held = new Array(trace.threads).fill(null));
      let k = 0;
      for (let lane = 0; lane < WARP; lane++) if (mask >>> lane & 1 && held) held[first + lane] = at(values, k++);
      if (!shown2) continue;
      this.assigned.add(name);
      if (block.runs(i, this.thread)) this.changed.add(name);
    }
  }
  /**
   * @param {number} row
   * @param {number} first  thread of the warp
   */
  store(row, first) {
    const { columns: columns2, arrays: arrays2 } = this.trace;
    const number = columns2.access_array[row];
    const [mask, width, base] = [columns2.access_lanes[row], columns2.access_width[row], columns2.access_base[row]];
    const pattern = (
      /** @type {ArrayLike<number>} */
      this.trace.vector(columns2.access_pattern[row])
    );
    const values = this.trace.vector(columns2.access_values[row]);
    const local = arrays2[number].space === "local" ? arrays2[number].size : 0;
    const held = this.values[number];
    let k = 0;
    for (let lane = 0; lane < WARP; lane++) {
      if (!(mask >>> lane & 1)) continue;
      const slot = base + (pattern.length === 1 ? pattern[0] : pattern[k]) + (first + lane) * local;
      for (let w = 0; w < width; w++) held[slot + w] = values[values.length === width ? w : k * width + w];
      k += 1;
    }
  }
  /** Record the accesses of this step, before they change the memory. */
  show() {
    const { trace } = this;
    const left = trace.arrays.map(() => /* @__PURE__ */ new Map());
    for (const access of this.accesses) {
      const { array: number, loading, width } = access;
      const local = trace.arrays[number].space === "local";
      const how = loading ? READ : WRITTEN;
      access.lanes.forEach((lane, k) => {
        const mine = WARP * access.warp + lane === this.thread;
        const element = access.element(k);
        for (let w = 0; w < width; w++) {
          const add = (marks2) => marks2.set(element + w, (marks2.get(element + w) ?? 0) | how);
          if (!local || mine) add(this.now[number]);
          if (mine) add(this.nowMine[number]);
        }
        const before = left[number].get(element) ?? this.value(number, element);
        if (!loading) for (let w = 0; w < width; w++) left[number].set(element + w, access.stored(k, w));
        if (!mine) return;
        const values = Array.from(
          { length: width },
          (_, w) => loading ? this.value(number, element + w) : access.stored(k, w)
        );
        const { update } = access;
        this.events.push({
          loading,
          array: number,
          element,
          values,
          ...update && { update: { operation: update.operation, old: update.old(k), given: update.given(k), left: before } }
        });
      });
    }
  }
  /**
   * The elements of an array that the chosen thread, and those that its warp, stores in the whole launch.
   * @param {number} array
   */
  stores(array) {
    const { block, thread } = this;
    const { access_op, access_array } = this.trace.columns;
    const found = { warp: /* @__PURE__ */ new Set(), thread: /* @__PURE__ */ new Set() };
    for (let i = 0; i < block.length; i++) {
      if (block.warp(i) !== thread >> 5) continue;
      const [from, to] = block.rows("access", i);
      for (let row = from; row < to; row++) {
        if (access_op[row] === LOAD || access_array[row] !== array) continue;
        const access = new Access(this.trace, row, block.warp(i));
        access.lanes.forEach((lane, k) => {
          for (let w = 0; w < access.width; w++) {
            found.warp.add(access.element(k) + w);
            if (lane === thread % WARP) found.thread.add(access.element(k) + w);
          }
        });
      }
    }
    return found;
  }
  /**
   * Whether a thread took part in the step.
   * @param {number} thread
   */
  isActive(thread) {
    return this.line !== null && thread >> 5 === this.warp && Boolean(this.mask >>> (thread & 31) & 1);
  }
  /**
   * Whether the block loads or stores the element in the launch.
   * @param {number} array
   * @param {number} element
   */
  inRegion(array, element) {
    const { loaded, stored } = this.survey;
    return Math.min(loaded[array][element], stored[array][element]) <= this.length;
  }
  /**
   * Whether the block has loaded or stored it by now.
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
   * Whether the chosen thread has loaded it by now.
   * @param {number} array
   * @param {number} element
   */
  loadedByThread(array, element) {
    return this.own.loaded[array][element] <= this.position;
  }
  /**
   * The elements of an array that the chosen thread has loaded by now, in their order.
   * @param {number} array
   */
  elementsLoadedByThread(array) {
    const { position } = this;
    return this.own.everLoaded[array].filter((element) => this.own.loaded[array][element] <= position);
  }
  /**
   * The value of an element, as the chosen thread sees it.
   * @param {number} array
   * @param {number} element
   * @returns {Value}
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
   * Loads (0), stores (1) or atomics (2) of a space: by the chosen thread and by the block, up to a position.
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
  /** The findings in which this step takes part. */
  get found() {
    const here = (place) => place.block === this.blockNumber && place.step === this.position;
    return this.trace.findings.filter(({ at: at2 }) => at2.some(here));
  }
  // --- targets of navigation ---------------------------------------------------------------------------------
  /**
   * The next of some ascending positions, or the one before; the end and the start follow the last and the first.
   * @param {readonly number[]} positions
   * @param {number} way  1 or -1
   */
  nextOf(positions, way) {
    if (way > 0) return positions.find((p) => p > this.position) ?? this.length;
    return [...positions].reverse().find((p) => p < this.position) ?? 0;
  }
  /**
   * The next position at which a barrier opens.
   * @param {number} way
   */
  barrierFrom(way) {
    return this.nextOf(this.block.releases, way);
  }
  /**
   * The next end of a phase (load, compute, store, barrier) of the chosen thread's warp.
   * @param {number} way
   */
  phaseFrom(way) {
    const { block } = this;
    const warp2 = this.thread >> 5;
    const stops = (block.phases[warp2] ?? []).map(([end, kind]) => {
      const arrives = kind === "barrier" && block.warp(end - 1) === warp2 && block.has(end - 1, BARRIER);
      return arrives ? block.releases.find((release) => release >= end) ?? end : end;
    });
    return this.nextOf(stops, way);
  }
  /** The current phase of the chosen thread's warp, also at its end: its number and its kind. */
  get phase() {
    const phases = this.block.phases[this.thread >> 5] ?? [];
    const number = phases.findIndex(([end]) => end >= this.position);
    return number < 0 ? "" : `warp ${this.thread >> 5}: phase ${number + 1} of ${phases.length}, ${phases[number][1]}`;
  }
  /**
   * The start of the next iteration of the loop around the current line of the chosen thread's warp; after the last
   * iteration, that of the loop around it.
   * @param {number} way
   */
  turnFrom(way) {
    const { block } = this;
    const warp2 = this.thread >> 5;
    let here = this.position - 1;
    while (here >= 0 && block.warp(here) !== warp2) here--;
    const headers = here < 0 ? [] : this.loopsAround(block.line(here));
    for (const header of [...headers, 0]) {
      for (let i = this.position - 1 + way; i >= 0 && i < this.length; i += way) {
        if (block.warp(i) === warp2 && block.has(i, LOOP_TURN) && (!header || block.line(i) === header)) return i + 1;
      }
    }
    return way > 0 ? this.length : 0;
  }
  /**
   * The header lines of the loops around a line, from the inside out.
   * @param {number} line
   */
  loopsAround(line) {
    const { source: source2, loops } = this.trace;
    const headers = [];
    let header = source2.find(([number]) => number === line)?.[2] ?? 0;
    while (header && !headers.includes(header)) {
      headers.push(header);
      header = loops.get(header) ?? 0;
    }
    return headers;
  }
};

// plane.js
var UNIT = 20;
var LOOKS = ["", " tt-region", " tt-seen", " tt-active", " tt-empty", " tt-now tt-read", " tt-now tt-written"];
var [PLAIN, REGION, SEEN, ACTIVE, EMPTY, NOW_READ, NOW_WRITTEN] = LOOKS.keys();
var FAINT = 8;
var LETTERS = ".rsaeRW";
var FAR = 1.6;
var Plane = class {
  /** @param {PlaneOptions} options */
  constructor({ name, rows, columns: columns2, hue, size, offset = 0, tile = null, margin = 15, labels = true, origin = [0, 0], wrapped = false, pitch = columns2, text: text2 = false }) {
    this.name = name;
    this.rows = rows;
    this.columns = columns2;
    this.size = size ?? rows * columns2;
    this.offset = offset;
    this.margin = margin;
    this.width = columns2 * UNIT + margin;
    this.height = rows * UNIT + margin;
    this.layer = svg("svg", { class: "tt-grid", viewBox: `0 0 ${this.width + 2} ${this.height + 2}` });
    this.node = this.layer;
    this.layer.style.setProperty("--hue", hue);
    if (labels) {
      const corner2 = { class: "tt-name", x: margin * 0.42, y: margin * 0.5, "font-size": margin * 0.8 };
      this.layer.append(svg("text", corner2, name));
    }
    this.below = svg("g");
    this.outline = svg("rect", { class: "tt-outline", rx: 1.5, display: "none" });
    this.owns = { warp: svg("path", { class: "tt-own-warp" }), thread: svg("path", { class: "tt-own-thread" }) };
    this.outlined = { warp: [], thread: [] };
    this.framed = null;
    this.tile = tile;
    this.wrapped = wrapped;
    this.pitch = pitch;
    this.above = svg("g");
    this.dots = svg("g", { class: "tt-dots" });
    this.rings = svg("g", { class: "tt-rings" });
    this.faults = svg("g", { class: "tt-faults" });
    this.layer.append(this.below, this.tileLines(tile), this.outline, this.owns.warp, this.owns.thread, this.above);
    this.asked = svg("rect", { class: "tt-asked", width: UNIT + 2, height: UNIT + 2, rx: 3, display: "none" });
    this.layer.append(this.dots, this.rings, this.faults, this.asked);
    this.shown = /* @__PURE__ */ new Map();
    this.looks = new Uint8Array(this.size).fill(PLAIN);
    if (margin >= 10) this.indices(origin, wrapped, text2);
  }
  /**
   * @param {number} i
   * @returns {[number, number]}
   */
  corner(i) {
    return [this.margin + i % this.columns * UNIT, this.margin + Math.floor(i / this.columns) * UNIT];
  }
  /**
   * @param {number[]} origin
   * @param {boolean} wrapped
   * @param {boolean} numbered  whether the elements show their values, and are as large
   */
  indices([top, left], wrapped, numbered2) {
    const side = this.margin * 0.5;
    const most = Math.max(this.rows, this.columns);
    const every = most <= (numbered2 ? 20 : 6) ? 1 : 2 ** Math.ceil(Math.log2(most / 6));
    const size = { class: "tt-index" };
    const upTo = (n) => every === 1 || n > every ? n : 0;
    for (let c = 0; c < upTo(this.columns); c += every) {
      this.layer.append(svg("text", { ...size, x: this.margin + (c + 0.5) * UNIT, y: side }, String(left + c)));
    }
    for (let r = 0; r < upTo(this.rows); r += every) {
      const number = String(wrapped ? (top + r) * this.pitch : top + r);
      this.layer.append(svg("text", { ...size, x: side, y: this.margin + (r + 0.5) * UNIT }, number));
    }
  }
  /** @param {[number, number] | null} tile */
  tileLines(tile) {
    const lines = svg("g", { class: "tt-tiles" });
    if (!tile || tile[0] < 1 || tile[1] < 1) return lines;
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
    this.outline.setAttribute("display", bottom < 0 ? "none" : "inline");
    this.framed = bottom < 0 ? null : [top, left, bottom, right];
    if (bottom < 0) return;
    const [x, y] = this.corner(top * this.columns + left);
    const size = { x, y, width: (right - left + 1) * UNIT, height: (bottom - top + 1) * UNIT };
    for (const [key, value] of Object.entries(size)) this.outline.setAttribute(key, String(value));
  }
  /**
   * Draw the border of the elements that the chosen thread, or its warp, owns: a line between an owned element and another.
   * @param {"warp" | "thread"} who
   * @param {(element: number) => boolean} owned
   */
  own(who2, owned) {
    const { rows, columns: columns2, size, offset } = this;
    const inside = (r, c) => r >= 0 && c >= 0 && r < rows && c < columns2 && r * columns2 + c < size && owned(r * columns2 + c + offset);
    let path = "";
    for (let r = 0; r <= rows; r++) {
      for (let c = 0, from = -1; c <= columns2; c++) {
        const edge = c < columns2 && inside(r, c) !== inside(r - 1, c);
        if (edge && from < 0) from = c;
        if (edge || from < 0) continue;
        path += `M${this.margin + from * UNIT} ${this.margin + r * UNIT}h${(c - from) * UNIT}`;
        from = -1;
      }
    }
    for (let c = 0; c <= columns2; c++) {
      for (let r = 0, from = -1; r <= rows; r++) {
        const edge = r < rows && inside(r, c) !== inside(r, c - 1);
        if (edge && from < 0) from = r;
        if (edge || from < 0) continue;
        path += `M${this.margin + c * UNIT} ${this.margin + from * UNIT}v${(r - from) * UNIT}`;
        from = -1;
      }
    }
    this.owns[who2].setAttribute("d", path);
    this.outlined[who2] = Array.from({ length: path ? size : 0 }, (_, i) => i).filter((i) => owned(i + offset));
  }
  /**
   * Replace the marks of a group if they have changed.
   * @param {SVGElement} group
   * @param {readonly unknown[]} what
   * @param {() => SVGElement[]} make
   */
  marks(group, what, make) {
    const text2 = JSON.stringify(what);
    if ((this.shown.get(group) ?? "[]") === text2) return;
    this.shown.set(group, text2);
    group.replaceChildren(...make());
  }
  /**
   * Draw the dots and rings, after the last cell.
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    const r = this.dot;
    this.marks(
      this.dots,
      dots,
      () => dots.map((i) => {
        const [x, y] = this.corner(i);
        return svg("circle", { cx: x + UNIT - 1.6 - r, cy: y + 1.6 + r, r });
      })
    );
    this.marks(this.rings, rings, () => rings.map((i) => this.ring(i)));
  }
  /**
   * Frame the element of which the reader asks.
   * @param {number | null} i
   */
  ask(i) {
    this.asked.setAttribute("display", i === null ? "none" : "inline");
    const [x, y] = this.corner(i ?? 0);
    this.asked.setAttribute("x", String(x - 1));
    this.asked.setAttribute("y", String(y - 1));
  }
  get dot() {
    return 4;
  }
  /** Adapt to the size on the page. */
  measure() {
  }
  /** Adapt to the colours of the theme. */
  repaint() {
  }
  /** @param {number} i */
  ring(i) {
    const [x, y] = this.corner(i);
    return svg("rect", { x: x + 0.6, y: y + 0.6, width: UNIT - 1.2, height: UNIT - 1.2, rx: 4 });
  }
  /**
   * Mark elements in red: those of findings, and accesses out of bounds, at their positions beyond the edges.
   * @param {number[]} wrong
   * @param {[number, number][]} beyond  rows and columns
   */
  fault(wrong, beyond) {
    this.marks(this.faults, [...wrong, ...beyond], () => [
      ...wrong.map((i) => this.ring(i)),
      ...beyond.map(([row, column]) => {
        const x = this.margin + UNIT * Math.min(this.columns - 1 + FAR, Math.max(-FAR, column));
        const y = this.margin + UNIT * Math.min(this.rows - 1 + FAR, Math.max(-FAR, row));
        const cross = `M${x + 5} ${y + 5}l10 10m0 -10l-10 10`;
        const box = svg("rect", { x: x + 1, y: y + 1, width: UNIT - 2, height: UNIT - 2, class: "tt-beyond" });
        return svg("g", {}, box, svg("path", { d: cross }), svg("title", {}, `${this.name}[${row}, ${column}]`));
      })
    ]);
  }
  /** The contents of the page, as course_lib/viewer/scene.py describes them. */
  state() {
    const marks2 = (group) => JSON.parse(this.shown.get(group) ?? "[]");
    return {
      name: this.name,
      rows: this.rows,
      columns: this.columns,
      looks: Array.from(this.looks, (look) => LETTERS[look & ~FAINT]).join(""),
      texts: (
        /** @type {string[] | null} */
        null
      ),
      mine: (
        /** @type {number[]} */
        marks2(this.rings)
      ),
      dots: (
        /** @type {number[]} */
        marks2(this.dots)
      ),
      outside: marks2(this.faults).filter(Array.isArray),
      wrong: [...new Set(marks2(this.faults).filter(Number.isInteger))].sort((x, y) => x - y),
      frame: this.framed,
      tile: this.tile,
      owned: this.outlined.thread,
      owned_by_warp: this.outlined.warp
    };
  }
  /**
   * The element under the pointer.
   * @param {MouseEvent} event
   */
  elementAt(event) {
    const box = this.layer.getBoundingClientRect();
    const scale = (this.width + 2) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - this.margin) / UNIT);
    const row = Math.floor(((event.clientY - box.top) * scale - this.margin) / UNIT);
    if (row < 0 || column < 0 || row >= this.rows || column >= this.columns) return null;
    const i = row * this.columns + column;
    return i < this.size ? i : null;
  }
  /**
   * Draw an element, if it differs from what is on the page.
   * @param {number} _i
   * @param {number} _look
   * @param {Value} _value
   */
  cell(_i, _look, _value) {
    throw new Error("a plane of some kind");
  }
};

// heat.js
var SQUARE = 3;
var MOST_SQUARES = 4096;
var UNKNOWN = 255;
var MOST_DOTS = 256;
var Heat = class extends Plane {
  /** @param {import("./plane.js").PlaneOptions} options */
  constructor(options) {
    super(options);
    this.canvas = /** @type {HTMLCanvasElement} */
    html("canvas", { class: "tt-pixels", role: "img", "aria-label": this.name });
    this.node = html("div", { class: "tt-heat" }, this.canvas, this.layer);
    this.node.style.setProperty("--hue", options.hue);
    const share = (part2, of) => `${100 * part2 / of}%`;
    Object.assign(this.canvas.style, {
      left: share(this.margin, this.width + 2),
      top: share(this.margin, this.height + 2),
      width: share(this.columns * UNIT, this.width + 2),
      height: share(this.rows * UNIT, this.height + 2)
    });
    this.looks.fill(UNKNOWN);
    this.stale = /* @__PURE__ */ new Set();
    this.side = 0;
    this.paints = null;
  }
  /**
   * @param {number} i
   * @param {number} look
   */
  cell(i, look) {
    look &= ~FAINT;
    if (this.looks[i] === look) return;
    this.looks[i] = look;
    this.stale.add(i);
  }
  /**
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    super.finish(dots.length > MOST_DOTS ? [] : dots, rings);
    this.paint();
  }
  /** Adapt to the size on the page: a canvas has as many pixels as the screen. */
  measure() {
    const wide = this.canvas.clientWidth / this.columns * devicePixelRatio;
    const side = wide < SQUARE || this.size > MOST_SQUARES ? 1 : Math.round(wide);
    if (side === this.side || !wide) return;
    this.side = side;
    Object.assign(this.canvas, { width: this.columns * side, height: this.rows * side });
    this.node.classList.toggle("tt-tiny", side === 1);
    this.repaint();
  }
  /** Draw everything again, after a change of theme or size. */
  repaint() {
    this.paints = null;
    this.looks.forEach((look, i) => look === UNKNOWN || this.stale.add(i));
    this.paint();
  }
  paint() {
    const context = this.side && this.stale.size ? this.canvas.getContext("2d") : null;
    if (!context || !this.node.isConnected) return;
    this.paints ??= paintsOf(this.node);
    if (this.side === 1) this.pixels(context, this.paints);
    else for (const i of this.stale) this.square(context, i, this.paints[this.looks[i]]);
    this.stale.clear();
  }
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Paint[]} paints
   */
  pixels(context, paints) {
    if (!this.image || this.stale.size === this.size) {
      this.image = new ImageData(this.columns, this.rows);
      this.colours = paints.map(({ fill: fill2 }) => pixel(fill2));
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    const { colours, looks: looks2 } = this;
    if (colours) for (const i of this.stale) pixels[i] = colours[looks2[i]];
    context.putImageData(this.image, 0, 0);
  }
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} i
   * @param {Paint} paint
   */
  square(context, i, { fill: fill2, stroke, width, dash, round }) {
    const { side } = this;
    const gap = side / UNIT;
    const [x, y] = [i % this.columns * side, Math.floor(i / this.columns) * side];
    const inner = side - gap;
    context.clearRect(x, y, side, side);
    context.beginPath();
    if (round) context.arc(x + side / 2, y + side / 2, inner / 2, 0, 2 * Math.PI);
    else context.rect(x + gap / 2, y + gap / 2, inner, inner);
    context.fillStyle = fill2;
    context.fill();
    if (!stroke) return;
    context.strokeStyle = stroke;
    context.lineWidth = width * side / UNIT;
    context.setLineDash(dash.map((part2) => part2 * side / UNIT));
    context.stroke();
  }
};
function pixel(colour) {
  const context = (
    /** @type {CanvasRenderingContext2D} */
    Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true })
  );
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
}
function paintsOf(place) {
  const probe = svg("rect");
  const layer = svg("svg", { class: "tt-probe", width: 0, height: 0 }, probe);
  place.append(layer);
  const paints = LOOKS.map((look) => {
    probe.setAttribute("class", `tt-c${look}`);
    const { fill: fill2, stroke, strokeWidth, strokeDasharray, rx } = getComputedStyle(probe);
    return {
      fill: fill2,
      stroke: stroke === "none" ? "" : stroke,
      width: Number.parseFloat(strokeWidth),
      dash: strokeDasharray === "none" ? [] : strokeDasharray.split(",").map(Number.parseFloat),
      round: Number.parseFloat(rx) > 0
    };
  });
  layer.remove();
  return paints;
}

// text.js
var EXACT = 2 ** 53;
var PART = "[+-]?(?:[\\d.]+(?:e[+-]\\d+)?|nan|inf)";
var COMPLEX = new RegExp(`^\\(?(${PART})?(${PART})j\\)?$`);
function parts(text2) {
  const [, real = "0", imaginary] = COMPLEX.exec(text2) ?? [];
  const part2 = (digits) => Number(digits.replace("inf", "Infinity").replace("nan", "NaN"));
  return imaginary === void 0 ? null : [part2(real), part2(imaginary)];
}
function short(value) {
  if (value === null || value === void 0) return "";
  if (typeof value === "string") {
    const complex = parts(value);
    return complex ? `${short(complex[0])}
${short(complex[1])}j` : short(Number(value));
  }
  if (!Number.isFinite(value)) return odd(value);
  value = ownDigits(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e4 || size < 5e-3 && size > 0) return value.toExponential(0).replace("e+", "e");
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace(/^(-?)0\./, "$1.");
}
function full(value) {
  if (typeof value === "string") {
    const complex = parts(value);
    if (!complex) return value;
    const [real, imaginary] = complex.map(full);
    return `(${real}${imaginary.startsWith("-") ? "" : "+"}${imaginary}j)`;
  }
  if (typeof value !== "number") return "empty";
  if (!Number.isFinite(value)) return odd(value);
  const digits = ownDigits(value);
  const whole = Number.isInteger(digits) && Math.abs(digits) <= EXACT;
  const rounded = whole ? digits : Number(digits.toPrecision(7));
  const size = Math.abs(rounded);
  if (size === 0 || size >= 1e-4 && size < 1e16) return String(rounded);
  return rounded.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}
function odd(value) {
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
function ownDigits(value) {
  if (Number.isInteger(value) && Math.abs(value) <= EXACT || Math.fround(value) !== value) return value;
  for (let digits = 6; digits < 10; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}
function lanes(warp2, mask) {
  const active = lanesOf(mask).map((lane) => WARP * warp2 + lane);
  const [first, last] = [active[0], active[active.length - 1]];
  if (active.length === 1) return `thread ${first}`;
  return last - first + 1 === active.length ? `threads ${first}–${last}` : `${active.length} threads`;
}
function sentence(machine) {
  const { trace, block } = machine;
  if (machine.line === null) {
    return [`Block ${trace.label(block.at)} is about to start: ${block.length} steps. Press space to play, → to step.`];
  }
  const lead = [html("b", {}, `Line ${machine.line}`), `, warp ${machine.warp} (${lanes(machine.warp, machine.mask)}). `];
  if (machine.barrier) {
    const open2 = block.releases.includes(machine.position);
    return [...lead, open2 ? "Every warp has arrived: the barrier opens." : "It waits at the barrier for the other warps."];
  }
  const thread = `Thread ${trace.threadLabel(machine.thread)}`;
  if (!machine.isActive(machine.thread)) return [...lead, `${thread} takes no part.`];
  const done = (loading) => machine.events.filter((event) => event.loading === loading && !event.update).map(({ array, element, values }) => {
    return `${trace.elements(trace.arrays[array], element, values.length)} = ${values.map(full).join(", ")}`;
  });
  const updated = machine.events.flatMap(({ array, element, values, update }) => {
    if (!update) return [];
    const { space } = trace.arrays[array];
    const [old, left] = [full(update.old), full(update.left)];
    const others = space === "global" && left !== old ? `; other blocks changed it from ${left}` : "";
    const how = `${update.operation} ${update.given.map(full).join(", ")}${others}`;
    return `${trace.element(trace.arrays[array], element)}: ${old} → ${full(values[0])} (${how})`;
  });
  const missed2 = machine.outside.filter((outside) => outside.thread === machine.thread).map(({ array, index }) => `${trace.arrays[array].name}[${index.join(", ")}] (out of bounds)`);
  const doings = [
    ["finds", tested(machine).map(({ said, filled, holds }) => `${said}${filled ? `: ${filled}` : ""} is ${holds}`)],
    ["reads", done(true)],
    ["writes", done(false)],
    ["updates", updated],
    ["misses", missed2],
    ["sets", [...machine.changed].map((name) => `${name} = ${full(machine.variable(name))}`)]
  ];
  const parts2 = doings.filter(([, what]) => what.length);
  const all = parts2.map(([verb, what]) => `${verb} ${/** @type {string[]} */
  what.join(", ")}`).join("; ");
  return [...lead, `${thread} ${all || "runs it"}.`];
}
function wrongNow(machine) {
  const { trace } = machine;
  const stored = machine.events.filter(({ loading }) => !loading);
  return stored.flatMap(
    ({ array, element, values }) => values.flatMap((_, w) => {
      const wrong = trace.wanted[trace.arrays[array].name]?.[element + w];
      const place = trace.element(trace.arrays[array], element + w);
      return wrong ? [`${place} holds ${wrong[0]} in the end, and ${wrong[1]} was wanted.`] : [];
    })
  );
}
function tested(machine) {
  const lane = machine.thread % WARP;
  if (!machine.isActive(machine.thread)) return [];
  return machine.tests.filter(({ mask }) => mask >>> lane & 1).map(({ text: text2, parts: parts2, truth: truth2, sides }) => {
    const values = parts2.length === 3 ? sides(lane) : null;
    const filled = values ? `${full(values[0])} ${parts2[1]} ${full(values[1])}` : "";
    return { said: text2, filled, holds: Boolean(truth2 >>> lane & 1) };
  });
}
function truth(machine) {
  const tests = tested(machine);
  if (!tests.length) return null;
  const text2 = tests.map(({ said, filled, holds }) => `${filled || said}: ${holds}`).join(", ");
  return { text: text2, holds: tests.every(({ holds }) => holds) };
}
var KEYWORDS = /^(?:and|break|continue|def|elif|else|for|if|in|is|not|or|pass|return|while|True|False|None)$/;
var TOKENS = /(#.*$)|("[^"]*"|'[^']*')|([A-Za-z_]\w*)|(\d[\w.]*)/g;
function highlight(text2, hues) {
  const line = html("code", { class: "tt-code" });
  let from = 0;
  for (const match of text2.matchAll(TOKENS)) {
    line.append(text2.slice(from, match.index));
    const [word, remark, string, name, number] = match;
    const attribute = name && text2[match.index - 1] === ".";
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
  line.append(text2.slice(from));
  return line;
}

// grid.js
var WRAP = 16;
var MOST_NUMBERS = 1100;
var LINE = 7.5;
var GAP = 1;
var TEXT_SIZES = { 2: 11, 3: 8.4, 4: 6.6, 6: 4.6 };
var widthOf = (text2) => {
  const long = Math.max(...text2.split("\n").map((line) => line.length));
  return long > 5 || text2.includes("\n") ? 6 : Math.min(4, Math.max(2, long));
};
var Grid = class extends Plane {
  /** @param {PlaneOptions} options */
  constructor(options) {
    super({ ...options, text: true });
    this.layer.setAttribute("role", "img");
    this.layer.setAttribute("aria-label", this.name);
    const side = UNIT - GAP;
    this.cells = [];
    this.texts = [];
    const cells = svg("g", { class: "tt-cells" });
    this.labels = svg("g", { class: "tt-texts" });
    for (let i = 0; i < this.size; i++) {
      const [x, y] = this.corner(i);
      this.cells.push(svg("rect", { x: x + GAP / 2, y: y + GAP / 2, width: side, height: side, class: "tt-c" }));
      this.texts.push(svg("text", { x: x + UNIT / 2, y: y + UNIT / 2, class: "tt-t" }));
    }
    cells.append(...this.cells);
    this.labels.append(...this.texts);
    this.below.append(cells);
    this.above.append(this.labels);
    this.held = new Array(this.size).fill(null);
    this.written = new Array(this.size).fill("");
    this.widths = [0, 0, this.size, 0, 0, 0, 0];
  }
  get dot() {
    return 2;
  }
  /** The class of the longest text. */
  get widest() {
    return [6, 4, 3].find((long) => this.widths[long]) ?? 2;
  }
  state() {
    const lines = (text2) => [...text2.children].map((line) => line.textContent).join("\n");
    return { ...super.state(), texts: this.texts.map((text2) => lines(text2) || (text2.textContent ?? "")) };
  }
  /**
   * @param {number} i
   * @param {number} look
   * @param {Value} value
   */
  cell(i, look, value) {
    if (this.looks[i] !== look) {
      if ((this.looks[i] ^ look) & ~FAINT) this.cells[i].setAttribute("class", `tt-c${LOOKS[look & ~FAINT]}`);
      this.looks[i] = look;
      const on = look === NOW_READ || look === NOW_WRITTEN;
      this.texts[i].setAttribute("class", `tt-t${look & FAINT ? " tt-faint" : ""}${on ? " tt-on" : ""}`);
    }
    if (this.held[i] === value) return;
    this.held[i] = value;
    const text2 = short(value);
    this.widths[widthOf(this.written[i])] -= 1;
    this.widths[widthOf(text2)] += 1;
    this.written[i] = text2;
    const lines = text2.split("\n");
    if (lines.length === 1) this.texts[i].textContent = text2;
    else this.texts[i].replaceChildren(...lines.map((line, n) => svg("tspan", { x: this.corner(i)[0] + UNIT / 2, dy: n ? LINE : -LINE / 2 }, line)));
  }
  /**
   * One text size for the whole grid.
   * @param {number[]} dots
   * @param {number[]} rings
   */
  finish(dots, rings) {
    const size = `tt-texts tt-wide-${this.widest}`;
    if (this.labels.getAttribute("class") !== size) this.labels.setAttribute("class", size);
    super.finish(dots, rings);
  }
};
function layout({ shape, size }) {
  if (shape.length >= 2) {
    const [rows, columns3] = shape.slice(-2);
    return { rows, columns: columns3, each: rows * columns3, planes: rows * columns3 ? size / (rows * columns3) : 0, wrapped: false };
  }
  const columns2 = Math.max(1, Math.min(WRAP, size));
  return { rows: Math.ceil(size / columns2), columns: columns2, each: size, planes: size ? 1 : 0, wrapped: size > columns2 };
}
function planes(array, options) {
  const { rows, columns: columns2, each, planes: planes2, wrapped } = layout(array);
  return Array.from({ length: planes2 }, (_, s) => {
    const name = planes2 === 1 ? array.name : `${array.name}[${s}]`;
    const all = { name, rows, columns: columns2, size: each, hue: array.hue, offset: s * each, wrapped, ...options };
    return options.text && each <= MOST_NUMBERS ? new Grid(all) : new Heat({ ...all, text: false });
  });
}
function figure(array, budget, options = {}) {
  const { columns: columns2, planes: count } = layout(array);
  const most = columns2 <= 4 ? 28 : 25;
  const side = Math.max(4, Math.min(most, budget / columns2));
  const found = planes(array, { labels: false, text: side >= 15, margin: side >= 15 ? 12 : 3, ...options });
  const em = 13.5;
  const width = (pixels) => `calc(${pixels / em}em * var(--tt-shrink, 1))`;
  for (const plane of found) plane.node.style.width = width((plane.width + 2) / UNIT * side);
  const caption = html("figcaption", {}, array.name);
  caption.style.setProperty("--hue", array.hue);
  const buffers = found.map((plane, i) => html("figure", {}, html("figcaption", {}, `[${i}]`), plane.node));
  const content = found.length === 1 ? found[0].node : html("div", { class: "tt-buffers" }, ...buffers);
  const node = html("figure", {}, caption, content);
  node.style.setProperty("--tt-side", width(side));
  return { planes: found, node };
}

// history.js
var DID = ["read", "written", "updated"];
var times = (n) => `${n} time${n === 1 ? "" : "s"}`;
function usesOf({ block, thread, trace }, array, element) {
  const { columns: columns2 } = trace;
  const local = trace.arrays[array].space === "local";
  const uses = [];
  for (let i = 0; i < block.length; i++) {
    const warp2 = block.warp(i);
    if (local && warp2 !== thread >> 5) continue;
    const [from, to] = block.rows("access", i);
    for (let row = from; row < to; row++) {
      if (columns2.access_array[row] !== array) continue;
      const [place, width] = [element - columns2.access_base[row], columns2.access_width[row]];
      const pattern = (
        /** @type {ArrayLike<number>} */
        trace.vector(columns2.access_pattern[row])
      );
      let mask = 0;
      lanesOf(columns2.access_lanes[row]).forEach((lane, k) => {
        const first = pattern.length === 1 ? pattern[0] : pattern[k];
        if (first <= place && place < first + width && (!local || lane === thread % WARP)) mask |= 1 << lane;
      });
      if (mask) uses.push({ position: i + 1, line: block.line(i), op: columns2.access_op[row], warp: warp2, mask });
    }
  }
  return uses;
}
function lanes2(mask) {
  const runs = [];
  for (const lane of lanesOf(mask)) {
    const last = runs[runs.length - 1];
    if (last && last[1] === lane - 1) last[1] = lane;
    else runs.push([lane, lane]);
  }
  const texts = runs.map(([first, last]) => first === last ? first : `${first}–${last}`);
  return `lane${popcount(mask) === 1 ? "" : "s"} ${texts.join(", ")}`;
}
function who(trace, { warp: warp2, mask }) {
  const more = popcount(mask) - 1;
  return `thread ${trace.threadLabel(WARP * warp2 + lanesOf(mask)[0])}${more ? ` and ${more} more` : ""}`;
}
var useSays = (trace, use) => `step ${use.position}, line ${use.line}: ${DID[use.op]} by ${who(trace, use)}`;
function elementSays(machine, number, element, uses) {
  const { position, trace } = machine;
  const array = trace.arrays[number];
  const wrong = trace.wanted[array.name]?.[element];
  const holds = `${trace.element(array, element)} = ${full(machine.value(number, element))}`;
  const now = uses.filter((use) => use.position === position);
  const present = now.map(({ op, warp: warp2, mask }) => `${DID[op]} by ${lanes2(mask)} of warp ${warp2}`).join(", ");
  const past = uses.filter((use) => use.position <= position);
  const kinds = [...DID.keys()];
  const firsts = kinds.flatMap((op) => {
    const first = past.find((use) => use.op === op);
    return first ? [`First ${DID[op]} in step ${first.position} by ${who(trace, first)}.`] : [];
  });
  const counts2 = kinds.filter((op) => op === LOAD || uses.some((use) => use.op === op) || op !== ATOMIC && !uses.some((use) => use.op === ATOMIC)).map((op) => `${DID[op]} ${times(past.reduce((sum, use) => sum + (use.op === op ? popcount(use.mask) : 0), 0))}`);
  const by = array.space === "local" ? "by this thread" : "by this block";
  return [
    `${holds}${wrong ? `, and ${wrong[1]} was wanted` : ""}`,
    present ? `In this step: ${present}.` : "Not used in this step.",
    ...firsts,
    `So far ${by}: ${counts2.join(", ")}.`
  ];
}

// panels/ask.js
var LISTED = 200;
var GAP2 = 8;
var Ask = class {
  /**
   * @param {import("../panel.js").Context} context
   * @param {HTMLElement} memory  of the run; the card lies over the whole stepper, which contains it
   * @param {(array: number, element: number) => Asked} home  the element in the drawing of its whole array
   */
  constructor(context, memory, home) {
    this.context = context;
    this.memory = memory;
    this.home = home;
    this.lines = html("div");
    this.list = html("ol", { tabindex: "-1" });
    this.left = html("p", { class: "tt-soft" });
    this.close = html("button", { type: "button", class: "tt-ask-close", "aria-label": "Close (Esc)" }, "×");
    this.close.addEventListener("click", () => this.shut(true));
    this.node = html("div", { class: "tt-ask", role: "dialog", hidden: "" }, this.close, this.lines, this.left, this.list);
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.shut(true);
    });
    this.asked = null;
    this.pinned = false;
    this.byKey = false;
    this.known = "";
    this.listed = "";
    this.told = [];
    this.uses = [];
    this.rows = [];
  }
  /**
   * Tell of an element, unless the list of another one is open.
   * @param {Asked | null} asked
   */
  point(asked2) {
    if (this.pinned) return;
    this.mark(asked2);
    this.draw();
  }
  /**
   * Open the list of an element's accesses; of the same element again, close it.
   * @param {Asked} asked
   * @param {boolean} byKey
   */
  pin(asked2, byKey) {
    const again = this.pinned && this.asked?.array === asked2.array && this.asked.element === asked2.element;
    this.shut(false);
    if (again) return;
    this.pinned = true;
    this.byKey = byKey;
    this.mark(asked2);
    this.draw();
    if (!byKey) return;
    const { position } = this.context.machine;
    const past = this.rows.filter(({ use }) => use.position <= position);
    (past.pop() ?? this.rows[0] ?? { button: this.close }).button.focus();
  }
  /**
   * Close the card; returns whether a list was open.
   * @param {boolean} back  whether the array gets the focus back that it had
   */
  shut(back) {
    const { asked: asked2, pinned } = this;
    this.pinned = false;
    this.mark(null);
    this.draw();
    if (back && pinned) (this.byKey ? asked2?.plane.layer : this.root)?.focus({ preventScroll: true });
    return pinned;
  }
  /** @returns {HTMLElement | null} */
  get root() {
    return this.memory.closest(".tt-root");
  }
  /** @param {Asked | null} asked */
  mark(asked2) {
    this.asked?.plane.ask(null);
    this.asked = asked2;
    asked2?.plane.ask(asked2.i);
  }
  draw() {
    const { node, pinned } = this;
    node.hidden = !this.asked;
    if (!this.asked) return;
    const { context: { machine, trace } } = this;
    if (!this.asked.plane.node.isConnected) this.mark(this.home(this.asked.array, this.asked.element));
    const { array, element } = this.asked;
    const local = trace.arrays[array].space === "local";
    const key = [machine.blockNumber, local ? machine.thread : "", array, element].join();
    if (this.known !== key) this.uses = usesOf(machine, array, element);
    this.told = elementSays(machine, array, element, this.uses);
    this.lines.replaceChildren(...this.told.map((text2, i) => html(i ? "p" : "b", {}, text2)));
    const listed = `${key},${pinned}`;
    if (listed !== this.listed) this.fill();
    [this.known, this.listed] = [key, listed];
    for (const { use, button } of this.rows) {
      if (use.position === machine.position) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    node.toggleAttribute("data-open", pinned);
    set(node, "aria-hidden", String(!pinned));
    set(node, "aria-label", `Accesses of ${trace.element(trace.arrays[array], element)}`);
    this.place();
    const { layer } = this.asked.plane;
    const { root } = this;
    if (root && layer === document.activeElement && part(root, "say").getAttribute("aria-live") !== "off") {
      set(layer, "aria-valuetext", this.told.join(" "));
    }
  }
  /** The list: each access is a button that leads to its step, and to a thread that takes part. */
  fill() {
    const { machine, trace, choose } = this.context;
    const { pinned, uses } = this;
    const before = uses.filter(({ position }) => position <= machine.position).length;
    const from = Math.max(0, Math.min(uses.length - LISTED, before - LISTED / 2));
    const some2 = pinned ? uses.slice(from, from + LISTED) : [];
    this.rows = some2.map((use) => {
      const button = html("button", { type: "button" }, useSays(trace, use));
      button.addEventListener("click", () => {
        const threads2 = lanesOf(use.mask).map((lane) => WARP * use.warp + lane);
        const { thread } = this.context.machine;
        choose({ step: use.position, ...threads2.includes(thread) ? {} : { thread: trace.threadPosition(threads2[0]) } });
      });
      return { use, button };
    });
    const count = uses.length === 1 ? "its 1 access" : `its ${uses.length} accesses`;
    const by = this.asked && trace.arrays[this.asked.array].space === "local" ? "this thread" : "this block";
    const all = some2.length < uses.length ? `The ${some2.length} of ${uses.length} accesses nearest to this step:` : `All accesses by ${by}:`;
    write(this.left, !uses.length ? `In this launch ${by} never uses it.` : pinned ? all : `Click, or press Enter, for ${count}.`);
    this.list.replaceChildren(...this.rows.map(({ button }) => html("li", {}, button)));
    this.list.hidden = !this.rows.length;
    this.close.hidden = !pinned;
  }
  /** Put the card below the element, or above it, or beside it, inside the stepper. */
  place() {
    const { root } = this;
    if (!root || !this.asked) return;
    if (this.node.parentElement !== root) root.append(this.node);
    const { i, plane } = this.asked;
    const [frame, box] = [root.getBoundingClientRect(), plane.layer.getBoundingClientRect()];
    const scale = box.width / (plane.width + 2);
    const [x, y] = plane.corner(i).map((at3) => at3 * scale);
    const [left, top] = [box.left - frame.left + x, box.top - frame.top + y];
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const [right, below] = [left + UNIT * scale + GAP2, top + UNIT * scale + GAP2];
    const within = (at3, most) => Math.max(GAP2, Math.min(at3, most - GAP2));
    const free = below + height + GAP2 <= frame.height ? below : top - GAP2 - height;
    const beside2 = free < GAP2;
    const at2 = beside2 && right + width > frame.width ? left - GAP2 - width : right;
    this.node.style.left = `${within(beside2 ? at2 : left, frame.width - width)}px`;
    this.node.style.top = `${within(beside2 ? top : free, frame.height - height)}px`;
  }
  /** What the card shows; null without one. */
  state() {
    if (!this.asked) return null;
    const { array, element } = this.asked;
    const list = this.rows.map(({ button }) => [button.textContent, button.hasAttribute("aria-current")]);
    return { array: this.context.trace.arrays[array].name, element, says: [...this.lines.children].map((line) => line.textContent), list };
  }
};

// panels/arrays.js
var READABLE = 20;
var UNREADABLE = 0.8;
var MOST2 = 8;
var NUMBERS = 9;
var [AROUND, ARROW] = [34, 20];
var TIGHT = 22;
var SHARE = 0.5;
var HIGH = 0.3;
var CALLOUT = 9;
var LARGEST = 3.2;
var GAP3 = 8;
var BESIDE = 10;
var WORTH = 0.5;
var WIDE = 30;
var NARROW = 18;
var arrays = {
  wants: () => true,
  build: (place, context) => new Arrays(place, context)
};
function landing(array, index) {
  const { rows, columns: columns2 } = layout(array);
  const last = index[index.length - 1] ?? 0;
  if (index.length > 1 || rows <= 1) return [index[index.length - 2] ?? 0, last];
  const row = Math.floor(last / columns2);
  return [row, last - row * columns2];
}
function missed(trace) {
  const found = trace.arrays.map(() => [0, 0]);
  if (!trace.columns.outside_op.length) return found;
  for (const block of trace.blocks) {
    for (let i = 0; i < block.length; i++) {
      for (const { array, index } of block.outside(i)) {
        const { rows, columns: columns2 } = layout(trace.arrays[array]);
        const [row, column] = landing(trace.arrays[array], index);
        const [below, beside2] = found[array];
        found[array] = [Math.max(below, Math.min(row - rows + 1, FAR)), Math.max(beside2, Math.min(column - columns2 + 1, FAR))];
      }
    }
  }
  return found;
}
var Arrays = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.place = place;
    this.missed = missed(context.trace);
    this.planes = context.trace.arrays.map(() => []);
    this.productPlace = part(place, "product");
    this.ask = new Ask(context, part(place, "memory"), (array, element) => this.home(array, element));
    this.product();
    this.others();
    this.locals = part(place, "locals");
    this.memory = part(place, "memory");
    this.magnifier = part(place, "magnified");
    this.row = part(this.magnifier, "parts");
    this.line = part(this.magnifier, "now-line");
    this.small = this.planes.flat().some((plane) => plane instanceof Heat);
    this.magnifier.hidden = !this.small;
    this.room = { width: 400, height: 130 };
    this.drawn = null;
    this.pointed = null;
    this.owned = { warp: /* @__PURE__ */ new Set(), thread: /* @__PURE__ */ new Set() };
    this.lenses = /* @__PURE__ */ new Map();
  }
  product() {
    const { trace } = this.context;
    const place = this.productPlace;
    const matrix2 = Object.fromEntries(trace.arrays.map((a, i) => [a.role, i]).filter(([role]) => role));
    this.matrices = "A" in matrix2 && "B" in matrix2 && "C" in matrix2;
    place.style.display = this.matrices ? "" : "none";
    if (!this.matrices) return;
    const [[M, K], N] = [trace.arrays[matrix2.A].shape, trace.arrays[matrix2.B].shape[1]];
    const margin = Math.max(15, 0.04 * (K + N) * UNIT, 0.05 * (K + M) * UNIT);
    const text2 = Math.max(K + N, K + M) <= READABLE;
    for (const role of "ABC") {
      const array = trace.arrays[matrix2[role]];
      const lines = array.tile && Math.max(...array.shape) / Math.min(...array.tile) <= 64 ? array.tile : null;
      const [plane] = this.planes[matrix2[role]] = planes(array, { tile: lines, margin, text: text2 });
      plane.node.classList.add(`tt-matrix-${role}`);
      place.append(plane.node);
      this.interact(plane, matrix2[role]);
    }
    const side = (n) => n * UNIT + margin + 2;
    const [below, beside2] = ["A", "B", "C"].map((role) => this.missed[matrix2[role]]).reduce(([x, y], [z, w]) => [Math.max(x, z), Math.max(y, w)], [0, 0]);
    place.style.setProperty("--tt-below", String(below * UNIT));
    this.sides = { M: side(M) + below * UNIT, K: side(K), N: side(N), beside: beside2 * UNIT };
    this.share = text2 ? 1 : UNREADABLE;
  }
  others() {
    const { trace } = this.context;
    const place = this.place;
    const rows = { shared: [], locals: [], others: [] };
    trace.arrays.forEach((array, i) => {
      if (array.role && this.matrices) return;
      const wide = array.space === "global" ? WIDE : NARROW;
      const { planes: found, node } = figure(array, wide * 13.5);
      this.planes[i] = found;
      const [below, beside2] = this.missed[i].map((n) => `calc(${n} * var(--tt-side))`);
      Object.assign(node.style, { paddingBottom: below, paddingRight: beside2 });
      rows[{ global: "others", shared: "shared", local: "locals" }[array.space]].push(node);
      for (const plane of found) this.interact(plane, i);
    });
    for (const [name, figures] of Object.entries(rows)) {
      part(place, name).style.display = figures.length ? "" : "none";
      part(place, name).querySelector(".tt-row")?.replaceChildren(...figures);
    }
  }
  /**
   * An element in the drawing of its array, or in the part that is magnified.
   * @param {number} array
   * @param {number} element
   */
  home(array, element) {
    const planes2 = this.planes[array];
    const plane = planes2[Math.floor(element / planes2[0].size)];
    const [lens, asked2] = [this.lenses.get(array), { plane, i: element - plane.offset, array, element }];
    const i = lens?.elements.indexOf(element) ?? -1;
    return lens && i >= 0 && plane instanceof Heat ? { ...asked2, plane: lens.grid, i } : asked2;
  }
  /**
   * Tell of the element under the pointer or chosen by the arrow keys, and magnify a large array there; a click or
   * Enter lists its accesses, and of the result also chooses the block and thread that store it.
   * @param {Plane} plane
   * @param {number} number
   */
  interact(plane, number) {
    this.listen(plane, number, (i) => i + plane.offset);
    const { layer } = plane;
    let cursor = 0;
    const most = plane.size - 1;
    const hint = `${plane.rows}×${plane.columns} elements; the arrow keys choose one, Enter lists its accesses`;
    const attributes = { role: "slider", tabindex: 0, "aria-label": plane.name, "aria-valuemin": 0, "aria-valuemax": most, "aria-valuenow": 0, "aria-valuetext": hint };
    for (const [key, value] of Object.entries(attributes)) layer.setAttribute(key, String(value));
    const asked2 = () => ({ plane, i: cursor, array: number, element: cursor + plane.offset });
    const go = (to) => {
      cursor = to;
      this.aimAt(asked2());
      layer.setAttribute("aria-valuenow", String(cursor));
      plane.asked.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    layer.addEventListener("focus", () => {
      if (!layer.matches(":focus-visible")) return;
      const mine = [...this.context.machine.nowMine[number].keys()].find((e) => e >= plane.offset && e - plane.offset <= most);
      go(cursor || (mine ?? plane.offset) - plane.offset);
    });
    layer.addEventListener("blur", () => this.aimAt(null));
    layer.addEventListener("keydown", (event) => {
      const [row, column] = [Math.floor(cursor / plane.columns), cursor % plane.columns];
      const ways = { ArrowLeft: column > 0 ? -1 : 0, ArrowRight: column < plane.columns - 1 ? 1 : 0, ArrowUp: row > 0 ? -plane.columns : 0, ArrowDown: plane.columns };
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in ways || event.key === "Enter")) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") this.ask.pin(asked2(), true);
      else if (cursor + ways[event.key] <= most) go(cursor + ways[event.key]);
    });
  }
  /** @param {import("./ask.js").Asked | null} asked */
  aimAt(asked2) {
    this.pointed = asked2;
    this.magnify();
    this.ask.point(asked2);
  }
  /**
   * @param {Plane} plane  of an array, or of a part of it that is magnified
   * @param {number} number
   * @param {(i: number) => number} elementOf
   */
  listen(plane, number, elementOf) {
    const { trace } = this.context;
    const whole = this.planes[number].includes(plane);
    const under = (event) => {
      const i = plane.elementAt(event);
      return i === null ? null : { plane, i, array: number, element: elementOf(i) };
    };
    plane.node.classList.add("tt-click");
    plane.node.addEventListener("pointermove", (event) => {
      const asked2 = under(
        /** @type {PointerEvent} */
        event
      );
      if (!asked2) return;
      if (whole) this.aimAt(asked2);
      else this.ask.point(asked2);
    });
    plane.node.addEventListener("pointerleave", () => {
      if (whole) this.aimAt(null);
      else this.ask.point(null);
    });
    plane.node.addEventListener("click", (event) => {
      const asked2 = under(
        /** @type {MouseEvent} */
        event
      );
      if (!asked2) return;
      this.ask.pin(asked2, false);
      this.ask.root?.focus({ preventScroll: true });
      const owner = number === trace.owner ? trace.owned[asked2.element] : -1;
      if (owner < 0) return;
      const [block, thread] = [Math.floor(owner / trace.threads), owner % trace.threads];
      this.context.choose({ block: trace.blocks[block].at, thread: trace.threadPosition(thread) });
    });
  }
  /**
   * Show all three matrices at one scale, the largest that fits. The elements that the line accesses are shown
   * again, magnified, if an array is too small to be read or not all of them are visible.
   * @param {import("../panel.js").Size} size
   */
  fit(size) {
    const { magnifier, memory } = this;
    const { width, height, em } = size;
    magnifier.hidden = true;
    this.productPlace.classList.remove("tt-tight");
    if (this.sides) this.scale(this.sides, size);
    const hidden = () => memory.scrollHeight > memory.clientHeight + 1 || memory.getBoundingClientRect().bottom > this.bottom;
    magnifier.hidden = !(this.small || size.narrow || hidden() || this.planes.flat().some(illegible));
    if (!magnifier.hidden) {
      this.productPlace.classList.toggle("tt-tight", size.compact && !size.narrow && height < TIGHT * em);
      this.room = { width, height: Math.max(6.3 * em, HIGH * height) };
      magnifier.style.setProperty("--tt-high", `${this.room.height}px`);
      if (this.sides && !size.narrow) this.scale(this.sides, { ...size, height: Math.max(height - magnifier.offsetHeight - 0.2 * em, SHARE * height) });
      this.lenses.clear();
      this.magnify();
    }
    for (const plane of this.planes.flat()) plane.measure();
  }
  /** The lower end, on the page, of the element that scrolls the arrays. */
  get bottom() {
    return this.memory.closest(".tt-body")?.getBoundingClientRect().bottom ?? Infinity;
  }
  /**
   * @param {{M: number, K: number, N: number, beside: number}} sides
   * @param {import("../panel.js").Size} size
   */
  scale({ M, K, N, beside: beside2 }, { compact, narrow, width, height, em }) {
    const high = part(this.productPlace, "callout").offsetHeight;
    const wide = high ? CALLOUT * em : 0;
    const fitting = (room, other, least) => {
      const scale2 = (room - GAP3) / (K + other);
      return scale2 * K < least ? Math.max(0, room - GAP3 - least) / other : scale2;
    };
    const most = Math.min(fitting(compact ? height : height * (this.share ?? 1), M, high), LARGEST * em / UNIT);
    const within = (room) => Math.max(0.01, Math.min(fitting(room, N + beside2, wide), most));
    const [whole, less] = [within(width), within(width - BESIDE * em)];
    const scale = compact && !narrow && less > WORTH * whole ? less : whole;
    const style = this.productPlace.style;
    style.setProperty("--tt-k", `${K * scale}px`);
    style.setProperty("--tt-n", `${N * scale}px`);
    style.setProperty("--tt-scale", String(scale));
  }
  repaint() {
    for (const plane of this.planes.flat()) plane.repaint();
  }
  choose() {
    const { machine, trace } = this.context;
    const locals = this.locals.querySelector(".tt-heading");
    if (locals) locals.textContent = `Local arrays of thread ${trace.threadLabel(machine.thread)}`;
    this.planes.forEach((planes2, number) => {
      if (trace.arrays[number].space !== "global" || layout(trace.arrays[number]).wrapped) return;
      for (const plane of planes2) plane.frame((element) => machine.inRegion(number, element));
    });
    if (trace.owner < 0) return;
    const { warp: warp2, thread } = this.owned = machine.stores(trace.owner);
    this.memory.closest(".tt-root")?.toggleAttribute("data-owns", warp2.size > 0);
    for (const plane of this.planes[trace.owner]) {
      plane.own("thread", (element) => thread.has(element));
      plane.own("warp", (element) => warp2.has(element));
    }
  }
  draw() {
    const { machine, trace } = this.context;
    const faults = this.faults();
    const { drawn: drawn2 } = this;
    const near = drawn2 !== null && drawn2.machine === machine && drawn2.thread === machine.thread && Math.abs(drawn2.position - machine.position) <= 1;
    trace.arrays.forEach((array, number) => {
      const planes2 = this.planes[number];
      if (!planes2.length) return;
      const each = planes2[0].size;
      const paint = (element) => {
        const plane = planes2[Math.floor(element / each)];
        plane.cell(element - plane.offset, this.look(number, element), machine.value(number, element));
      };
      if (near && drawn2) for (const now of [drawn2.now[number], machine.now[number]]) for (const e of now.keys()) paint(e);
      else for (let element = 0; element < array.size; element++) paint(element);
      const dots = array.space === "global" ? machine.elementsLoadedByThread(number) : [];
      const mine = [...machine.nowMine[number].keys()].sort((x, y) => x - y);
      const { wrong, beyond } = faults[number];
      for (const plane of planes2) {
        const inside = (elements) => elements.map((element) => element - plane.offset).filter((i) => i >= 0 && i < plane.size);
        plane.finish(inside(dots), inside(mine));
        plane.fault(inside(wrong), plane === planes2[planes2.length - 1] ? beyond : []);
      }
    });
    this.drawn = { machine, thread: machine.thread, position: machine.position, now: machine.now };
    this.magnify();
    this.ask.draw();
  }
  /**
   * @param {number} number
   * @param {number} element
   */
  look(number, element) {
    const { machine, trace } = this.context;
    const marked = machine.now[number].get(element) ?? 0;
    if (marked) return marked & WRITTEN ? NOW_WRITTEN : NOW_READ;
    const { space, role } = trace.arrays[number];
    const touched = space !== "global" || machine.touched(number, element);
    const inside = machine.inRegion(number, element);
    const state = machine.value(number, element) === null ? EMPTY : touched ? SEEN : inside ? REGION : PLAIN;
    return state | (!inside || role === "C" && !machine.stored(number, element) ? FAINT : 0);
  }
  /** For each array, the elements at which this step breaks a rule, and the positions of its accesses out of bounds. */
  faults() {
    const { machine, trace } = this.context;
    const faults = trace.arrays.map(() => ({ wrong: [], beyond: [] }));
    for (const { array, index } of machine.found) {
      const number = trace.arrays.findIndex((a) => a.name === array);
      if (number < 0 || !index) continue;
      const { shape } = trace.arrays[number];
      if (index.some((i, d) => i < 0 || i >= shape[d])) continue;
      faults[number].wrong.push(index.reduce((flat, i, d) => flat * shape[d] + i, 0));
    }
    trace.arrays.forEach(({ name }, number) => {
      for (const element of Object.keys(trace.wanted[name] ?? {}).map(Number)) {
        if (machine.stored(number, element)) faults[number].wrong.push(element);
      }
    });
    for (const { array, index } of machine.outside) faults[array].beyond.push(landing(trace.arrays[array], index));
    for (const { beyond } of faults) {
      const seen = new Map(beyond.map((place) => [String(place), place]));
      beyond.splice(0, beyond.length, ...[...seen.values()].sort((x, y) => x[0] - y[0] || x[1] - y[1]));
    }
    return faults;
  }
  state() {
    const { arrays: arrays2 } = this.context.trace;
    const lenses = [...this.lenses.values()].map(({ array, elements, grid }) => ({ array: arrays2[array].name, elements, ...grid.state() }));
    return { asked: this.ask.state(), grids: this.planes.flat().map((plane) => plane.state()), lenses: this.magnifier.hidden ? [] : lenses };
  }
  close() {
    return this.ask.shut(true);
  }
  /** Show, with numbers, the elements that the line accesses, or the part of a large array under the pointer. */
  magnify() {
    if (this.magnifier.hidden) return;
    const { machine, trace } = this.context;
    const now = trace.source.find(([line]) => line === machine.line);
    write(this.line, now ? `${now[0]}  ${now[1].trim()}` : "");
    const targets = this.targets();
    if (targets.length) {
      const known = this.lenses;
      this.lenses = new Map(targets.map((target) => [target.array, this.aim(target, targets.length, known.get(target.array))]));
    }
    const reads = [...this.lenses.values()].filter(({ written }) => !written);
    const writes = [...this.lenses.values()].filter(({ written }) => written);
    const arrow = html("span", { class: "tt-arrow", "aria-hidden": "true" }, "→");
    for (const lens of this.lenses.values()) this.paint(lens);
    fill(this.row, [...reads, ...writes].map(({ node }) => node));
    if (reads.length && writes.length) writes[0].node.before(arrow);
  }
  /**
   * The elements to magnify: of each array that the line accesses, those of the chosen thread, or those of other threads
   * if it takes no part; arrays that are read come before those that are written.
   * @returns {{array: number, elements: number[], written: boolean}[]}
   */
  targets() {
    const { machine, trace } = this.context;
    const small = (number) => this.planes[number].some((plane) => plane instanceof Heat);
    if (this.pointed && small(this.pointed.array)) {
      return [{ array: this.pointed.array, elements: [this.pointed.element], written: false }];
    }
    const touched = trace.arrays.flatMap((_, array) => {
      const [mine, all] = [machine.nowMine[array], machine.now[array]];
      const elements = [...(mine.size ? mine : all).keys()].sort((x, y) => x - y);
      const written = Boolean((all.get(elements[0]) ?? 0) & WRITTEN);
      return elements.length && this.planes[array].length ? [{ array, elements, written }] : [];
    });
    if (touched.length || this.lenses.size || trace.owner < 0) return touched;
    const [element] = this.owned.thread;
    return [{ array: trace.owner, elements: [element ?? 0], written: false }];
  }
  /**
   * The part of an array around elements: as large as fits beside the parts of the other arrays with readable digits.
   * It moves by whole parts, so it stays the same while a thread goes through it.
   * @param {{array: number, elements: number[], written: boolean}} target
   * @param {number} beside  the number of parts side by side
   * @param {Lens} [known]  the last part of this array
   * @returns {Lens}
   */
  aim({ array: number, elements: wanted, written }, beside2, known) {
    const { machine, trace } = this.context;
    const plane = this.planes[number].find((p) => wanted[0] >= p.offset && wanted[0] < p.offset + p.size) ?? this.planes[number][0];
    const places = wanted.map((element) => element - plane.offset).filter((i) => i >= 0 && i < plane.size);
    const fitting = (room, all, side2) => Math.min(all, Math.max(1, Math.min(MOST2, Math.floor(room / side2))));
    const window2 = (side2) => {
      const rows2 = fitting(this.room.height - AROUND, plane.rows, side2);
      const columns3 = fitting((this.room.width - ARROW) / beside2 - side2, plane.columns, side2);
      const top2 = corner(places.map((i) => Math.floor(i / plane.columns)), rows2, plane.rows);
      const left2 = corner(places.map((i) => i % plane.columns), columns3, plane.columns);
      const inside = Array.from({ length: rows2 * columns3 }, (_, i) => (top2 + Math.floor(i / columns3)) * plane.columns + left2 + i % columns3);
      const elements2 = inside.filter((i) => i < plane.size).map((i) => i + plane.offset);
      return { side: side2, rows: rows2, columns: columns3, top: top2, left: left2, elements: elements2 };
    };
    const texts = (elements2) => elements2.map((element) => short(machine.value(number, element)));
    const narrow = window2(sideFor(texts(wanted), known?.side ?? 0));
    const { side, rows, columns: columns2, top, left, elements } = window2(sideFor(texts(narrow.elements), narrow.side));
    const key = [number, plane.offset, top, left, rows, columns2, side].join();
    if (known?.key === key) return Object.assign(known, { written });
    const { hue } = trace.arrays[number];
    const grid = new Grid({ name: `${plane.name}, magnified`, rows, columns: columns2, size: elements.length, hue, labels: false, origin: [top, left], wrapped: plane.wrapped, pitch: plane.columns });
    grid.node.style.width = `${(grid.width + 2) / UNIT * side}px`;
    const part2 = rows < plane.rows || columns2 < plane.columns ? html("small", {}, ` ${rows}×${columns2} of ${plane.rows}×${plane.columns}`) : "";
    const caption = html("figcaption", {}, plane.name, part2);
    caption.style.setProperty("--hue", hue);
    this.listen(grid, number, (i) => elements[i]);
    return { key, grid, array: number, elements, written, side, node: html("figure", {}, caption, grid.node) };
  }
  /** @param {Lens} lens */
  paint({ grid, array, elements }) {
    const { machine, trace } = this.context;
    elements.forEach((element, i) => grid.cell(i, this.look(array, element), machine.value(array, element)));
    const at2 = (some2) => [...some2].map((e) => elements.indexOf(e)).filter((i) => i >= 0);
    const global = trace.arrays[array].space === "global";
    const dots = global ? elements.filter((element) => machine.loadedByThread(array, element)) : [];
    grid.finish(at2(dots), at2(machine.nowMine[array].keys()));
    if (array !== trace.owner) return;
    for (
      const who2 of
      /** @type {const} */
      ["warp", "thread"]
    ) grid.own(who2, (i) => this.owned[who2].has(elements[i]));
  }
};
function illegible(plane) {
  if (!(plane instanceof Grid)) return false;
  const scale = plane.layer.clientWidth / (plane.width + 2);
  return scale > 0 && TEXT_SIZES[Math.max(3, plane.widest)] * scale < NUMBERS;
}
function sideFor(texts, least) {
  const size = TEXT_SIZES[Math.max(...texts.map(widthOf))];
  return Math.max(least, Math.ceil(NUMBERS * UNIT / size) + 1);
}
function corner(places, shown2, all) {
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const whole = Math.floor(first / shown2) * shown2;
  return Math.max(0, Math.min(all - shown2, last < whole + shown2 || last - first >= shown2 ? whole : first));
}

// panels/costs.js
function requestSays(access, array, used) {
  const { sectors, wavefronts, conflicts, width, lanes: lanes3 } = access;
  const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
  const verb = OPS[access.op][0].toUpperCase() + OPS[access.op].slice(1);
  const what = `${verb} of ${array.name}: ${lanes3.length} lanes × ${width * array.itemsize} bytes in`;
  if (array.space === "shared") return `${what} ${plural(wavefronts, "wavefront")}, ${plural(conflicts, "bank conflict")}.`;
  return `${what} ${plural(sectors, "sector")}; ${used} of ${sectors * SECTOR_BYTES} bytes asked for.`;
}
function spread(access, starts) {
  const lanes3 = new Array(WARP).fill(null);
  access.lanes.forEach((lane, k) => lanes3[lane] = starts[k]);
  return lanes3;
}
function requestState(place) {
  const { lanes: lanes3 } = (
    /** @type {HTMLElement} */
    place.dataset
  );
  const words2 = [...place.querySelectorAll("svg rect > title")].flatMap(({ textContent }) => {
    const [, unit, at2, asking] = /^(byte|word) (\d+): lanes? ([\d, ]+)$/.exec(textContent ?? "") ?? [];
    return asking ? [[unit === "byte" ? Number(at2) / WORD_BYTES : Number(at2), asking.split(", ").map(Number)]] : [];
  });
  words2.sort(([x], [y]) => Number(x) - Number(y));
  return { says: place.querySelector("b")?.textContent, lanes: JSON.parse(lanes3 ?? "[]"), words: words2 };
}
var ROOMY = 40;
function beside({ lens, em }) {
  return lens < ROOMY * em ? WARP / 2 : WARP;
}
var Costs = class {
  /**
   * @param {import("../panel.js").Context} context
   * @param {import("../trace.js").Space} space
   * @param {Cost} cost
   */
  constructor(context, space, cost) {
    this.context = context;
    this.space = space;
    this.cost = cost;
    this.node = html("table", { class: "tt-costs" });
    this.rows = [];
  }
  choose() {
    const { machine, trace } = this.context;
    const sites = [...machine.survey.sites.values()].filter(({ array }) => trace.arrays[array].space === this.space);
    sites.sort((x, y) => x.line - y.line || x.array - y.array || x.op - y.op);
    const extra = this.cost === "wavefronts" ? ["conflicts"] : [];
    const heads = ["line", "access", "requests", this.cost, ...extra, "per request"];
    this.rows = sites.map((site) => {
      const { name, hue } = trace.arrays[site.array];
      const cells = heads.slice(2).map(() => html("td"));
      const bar = html("i", { class: "tt-bar-of" });
      const what = html("td", { class: "tt-what" }, `${OPS[site.op]} ${name}`);
      const row = html("tr", {}, html("td", {}, String(site.line)), what, ...cells, html("td", { class: "tt-bars" }, bar));
      row.style.setProperty("--hue", hue);
      return { site, row, cells, bar };
    });
    const head = html("tr", {}, ...heads.map((text2) => html("th", { scope: "col", ...tip(text2) }, text2)), html("td"));
    this.node.replaceChildren(html("tbody", {}, head, ...this.rows.map(({ row }) => row)));
  }
  draw() {
    const { machine } = this.context;
    for (const { site, row, cells, bar } of this.rows) {
      const requests = countUpTo(site.positions, machine.position);
      const total = (list) => requests ? list[requests - 1] : 0;
      const cost = total(site[this.cost]);
      const each = requests ? cost / requests : 0;
      const numbers = [requests, cost, ...this.cost === "wavefronts" ? [total(site.conflicts)] : []];
      const texts = [...numbers.map(String), requests ? String(Number(each.toFixed(2))) : ""];
      texts.forEach((text2, i) => write(cells[i], text2));
      const part2 = String(Math.min(1, each / WARP));
      if (bar.style.getPropertyValue("--part") !== part2) bar.style.setProperty("--part", part2);
      row.classList.toggle("tt-here", site.positions[requests - 1] === machine.position);
    }
  }
  state() {
    return this.rows.map(({ row }) => {
      const [line, access, ...numbers] = [...row.children].map((cell) => cell.textContent ?? "");
      return [this.space, Number(line), access, ...numbers.slice(0, this.cost === "wavefronts" ? 3 : 2).map(Number)];
    });
  }
};

// panels/banks.js
var CELL = 20;
var NUMBERS2 = 16;
var TALLEST = 8;
var TALLEST_COMPACT = 5;
var banks = {
  name: "banks",
  title: "Banks",
  none: "It has no shared memory.",
  wants: (trace) => trace.arrays.some(({ space }) => space === "shared"),
  build: (place, context) => new Banks(place, context)
};
var Banks = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.idle = html("p");
    this.said = html("div", { class: "tt-requests" });
    this.costs = new Costs(context, "shared", "wavefronts");
    place.append(html("div", { class: "tt-split" }, this.said, this.costs.node));
    this.beside = BANKS;
    this.tallest = TALLEST;
    this.shown = -1;
    this.empty = new Stacks(this.beside, this.tallest);
    this.requests = [];
  }
  /** @param {import("../panel.js").Size} size */
  fit(size) {
    const tallest = size.compact ? TALLEST_COMPACT : TALLEST;
    if (beside(size) === this.beside && tallest === this.tallest) return;
    this.beside = beside(size);
    this.tallest = tallest;
    this.empty = new Stacks(this.beside, this.tallest);
    this.requests = [];
    this.shown = -1;
    this.draw();
  }
  state() {
    return { banked: [...this.said.querySelectorAll(".tt-request")].map(requestState), bank_costs: this.costs.state() };
  }
  choose() {
    this.costs.choose();
    this.shown = -1;
  }
  draw() {
    this.costs.draw();
    const { machine, trace } = this.context;
    if (this.shown === machine.position) return;
    this.shown = machine.position;
    const accesses = machine.accesses.filter(({ array }) => trace.arrays[array].space === "shared");
    accesses.sort((x, y) => y.conflicts - x.conflicts);
    while (this.requests.length < accesses.length) this.requests.push(new Request(this.beside, this.tallest));
    const requests = this.requests.slice(0, accesses.length);
    requests.forEach((request, i) => request.draw(machine, accesses[i]));
    if (!requests.length) {
      write(this.idle, machine.line === null ? "No warp has run yet." : `Line ${machine.line} does not access shared memory.`);
      this.empty.draw([], -1, "The banks of shared memory");
    }
    fill(this.said, requests.length ? requests.map(({ node }) => node) : [this.idle, this.empty.node]);
  }
};
var Request = class {
  /**
   * @param {number} beside
   * @param {number} tallest
   */
  constructor(beside2, tallest) {
    this.said = html("b");
    this.busiest = html("span");
    this.stacks = new Stacks(beside2, tallest);
    this.node = html("div", { class: "tt-request" }, html("p", {}, this.said, this.busiest), this.stacks.node);
  }
  /**
   * @param {import("../machine.js").Machine} machine
   * @param {import("../trace.js").Access} access
   */
  draw(machine, access) {
    const { trace } = machine;
    const array = trace.arrays[access.array];
    const stacks = Array.from({ length: BANKS }, () => /* @__PURE__ */ new Map());
    const size = access.width * array.itemsize;
    const starts = access.lanes.map((_, k) => trace.address(array, access.element(k)));
    access.lanes.forEach((lane, k) => {
      const start = starts[k];
      for (let word = Math.floor(start / WORD_BYTES); word * WORD_BYTES < start + size; word++) {
        const lanes3 = stacks[word % BANKS].get(word) ?? [];
        lanes3.push(lane);
        stacks[word % BANKS].set(word, lanes3);
      }
    });
    const most = Math.max(...stacks.map((stack) => stack.size));
    write(this.said, requestSays(access, array, 0));
    write(this.busiest, ` The busiest bank: ${most} word${most === 1 ? "" : "s"}.`);
    const mine = machine.thread >> 5 === machine.warp ? machine.thread % WARP : -1;
    this.stacks.draw(stacks, mine, `The banks of shared memory and the words of ${array.name} that are accessed in each`);
    this.node.style.setProperty("--hue", array.hue);
    set(this.node, "data-wavefronts", String(access.wavefronts));
    set(this.node, "data-conflicts", String(access.conflicts));
    set(this.node, "data-lanes", JSON.stringify(spread(access, starts)));
  }
};
var Stacks = class {
  /**
   * @param {number} beside  banks in a row
   * @param {number} tallest  words of full height in a bank
   */
  constructor(beside2, tallest) {
    this.beside = beside2;
    this.tallest = tallest;
    this.frames = svg("g");
    this.words = svg("g");
    this.node = svg("svg", { class: "tt-banks", role: "img" }, this.frames, this.words);
    this.heights = [];
    this.drawn = "";
  }
  /**
   * @param {Map<number, number[]>[]} stacks
   * @param {number} mine  the lane of the chosen thread, or -1
   * @param {string} label
   */
  draw(stacks, mine, label) {
    set(this.node, "aria-label", label);
    const words2 = (first, end) => Math.max(1, ...stacks.slice(first, end).map((stack) => stack.size));
    const most = words2(0, BANKS);
    const high = most <= this.tallest ? CELL * 0.8 : Math.max(2, this.tallest * CELL * 0.8 / most);
    const rows = Array.from({ length: BANKS / this.beside }, (_, row) => words2(row * this.beside, (row + 1) * this.beside));
    this.frame(rows.map((row) => Math.max(1.6 * CELL, row * high) + 2));
    const what = JSON.stringify([mine, stacks.map((stack) => [...stack])]);
    if (what === this.drawn) return;
    this.drawn = what;
    this.words.replaceChildren(...stacks.flatMap((stack, bank) => this.stack(bank, [...stack], high, mine)));
  }
  /** @param {number[]} heights */
  frame(heights) {
    if (String(heights) === String(this.heights)) return;
    this.heights = heights;
    this.drawn = "";
    this.node.setAttribute("viewBox", `0 0 ${this.beside * CELL + 2} ${this.top(heights.length)}`);
    const banks2 = Array.from({ length: BANKS }, (_, bank) => {
      const { x, top, bottom } = this.place(bank);
      const box = { x: x + 0.5, y: top + 1, width: CELL - 1.5, height: bottom - top - 1, class: "tt-bank" };
      const at2 = { x: x + CELL / 2, y: bottom + NUMBERS2 / 2, class: "tt-address" };
      return [svg("rect", box), svg("text", at2, String(bank))];
    });
    this.frames.replaceChildren(...banks2.flat());
  }
  /** Where a row begins. @param {number} row */
  top(row) {
    return this.heights.slice(0, row).reduce((sum, height) => sum + height + NUMBERS2, 0);
  }
  /** @param {number} bank */
  place(bank) {
    const row = Math.floor(bank / this.beside);
    const top = this.top(row);
    return { x: 1 + bank % this.beside * CELL, top, bottom: top + this.heights[row] };
  }
  /**
   * @param {number} bank
   * @param {[number, number[]][]} words  with the lanes that access each
   * @param {number} high  a word, in SVG units
   * @param {number} mine
   */
  stack(bank, words2, high, mine) {
    const { x, bottom } = this.place(bank);
    return words2.flatMap(([word, lanes3], i) => {
      const look = `tt-word${i ? " tt-again" : ""}${lanes3.includes(mine) ? " tt-mine-lane" : ""}`;
      const y = bottom - (i + 1) * high;
      const who2 = `word ${word}: ${lanes3.length === 1 ? "lane" : "lanes"} ${lanes3.join(", ")}`;
      const box = svg("rect", { x: x + 1.5, y, width: CELL - 3.5, height: high - 1, class: look }, svg("title", {}, who2));
      if (high <= 10) return [box];
      const [text2, size] = lanes3.length === 1 ? [String(lanes3[0]), ""] : [`${lanes3.length}×`, " tt-crowd"];
      return [box, svg("text", { x: x + CELL / 2, y: y + high / 2, class: `tt-lane-on${size}` }, text2)];
    });
  }
};

// loads.js
var LEVELS = 24;
var LOADS = /* @__PURE__ */ new WeakMap();
function loadsOf(trace) {
  const known = LOADS.get(trace);
  if (known) return known;
  const loads = trace.arrays.map((array) => array.space === "global" ? new Uint32Array(array.size) : null);
  for (const block of trace.blocks) {
    for (let i = 0; i < block.length; i++) {
      const [from, to] = block.rows("access", i);
      if (from === to) continue;
      for (const access of block.accesses(i)) {
        const counts2 = loads[access.array];
        if (!counts2 || access.op !== LOAD) continue;
        for (let k = 0; k < access.lanes.length; k++) {
          for (let w = 0; w < access.width; w++) counts2[access.element(k) + w] += 1;
        }
      }
    }
  }
  LOADS.set(trace, loads);
  return loads;
}
var mostOf = (counts2) => counts2?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
var scaleOf = (traces) => Math.max(...traces.flatMap((trace) => loadsOf(trace).map(mostOf)));
var rangeOf = (least, most) => {
  const times2 = (n) => n === 1 ? "once" : `${n} times`;
  return `each element ${least === most ? times2(most) : `${least} to ${times2(most)}`}`;
};
var level = (count, scale) => Math.max(count ? 1 : 0, Math.round(count / scale * LEVELS));
function picture(place, array, counts2, scale, hues, range, tell) {
  const { rows, columns: columns2, planes: planes2 } = layout(array);
  const tall = rows * planes2;
  const canvas = (
    /** @type {HTMLCanvasElement} */
    html("canvas", { width: columns2, height: tall, role: "img" })
  );
  canvas.setAttribute("aria-label", `Loads of ${array.name}: ${range}`);
  canvas.className = "tt-pixels tt-loads-picture";
  const side = Math.min(16, 190 / columns2, 72 / tall);
  canvas.style.width = `${columns2 * Math.max(side, 0.5) / 13.5}em`;
  canvas.style.height = `${tall * Math.max(side, 0.5) / 13.5}em`;
  const caption = html("figcaption", {}, `${array.name} `, html("span", { class: "tt-soft" }, range));
  caption.style.setProperty("--hue", array.hue);
  const figure2 = html("figure", {}, caption, canvas);
  const ramps = hues.map((hue) => ramp(place, hue));
  const image = new ImageData(columns2, tall);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < counts2.length; i++) pixels[i] = ramps[counts2[i] < 0 ? 1 : 0][level(Math.abs(counts2[i]), scale)];
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / box.width * columns2);
    const i = Math.floor((event.clientY - box.top) / box.height * tall) * columns2 + column;
    if (i >= 0 && i < counts2.length) canvas.title = tell(i);
  });
  return figure2;
}
function keyOf(title, scale, hue = "var(--tt-ink)") {
  const steps = [...new Set([0, 1, 2, 3, 4].map((part2) => Math.round(part2 * scale / 4)))];
  const boxes = steps.map((count) => {
    const box = html("i");
    box.style.background = `color-mix(in srgb, ${hue} ${Math.round(100 * level(count, scale) / LEVELS)}%, var(--tt-bg))`;
    return html("span", {}, box, String(count));
  });
  return html("p", { class: "tt-loads-key" }, `${title}: `, ...boxes);
}
function ramp(place, hue) {
  const probe = svg("rect");
  const layer = svg("svg", { class: "tt-probe", width: 0, height: 0 }, probe);
  place.append(layer);
  const ramp2 = Array.from({ length: LEVELS + 1 }, (_, i) => {
    probe.style.fill = `color-mix(in srgb, ${hue} ${Math.round(100 * i / LEVELS)}%, var(--tt-bg))`;
    return pixel(getComputedStyle(probe).fill);
  });
  layer.remove();
  return ramp2;
}

// panels/compare.js
var COUNTS = [
  ["sectors", (machine, position) => machine.survey.totals.sectors[position]],
  ["bank conflicts", (machine, position) => machine.survey.totals.conflicts[position]],
  ["barriers", ({ block }, position) => countUpTo(block.releases, position)],
  ["global loads", (machine, position) => machine.count("global", 0, position).block],
  ["global stores", (machine, position) => machine.count("global", 1, position).block],
  ["global atomics", (machine, position) => machine.count("global", 2, position).block],
  ["shared loads", (machine, position) => machine.count("shared", 0, position).block],
  ["wavefronts", (machine, position) => machine.survey.totals.wavefronts[position]],
  ["statements", (_, position) => position]
];
var ALWAYS = 3;
var HUES2 = ["var(--tt-ink)", "var(--tt-focus)"];
var compare = {
  name: "compare",
  title: "Compare",
  wants: () => false,
  // not for a single trace: the stage adds this lens if there are two
  build: (place, context) => new Compare(place, context)
};
var Compare = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.bars = html("div", { class: "tt-compared" });
    this.maps = html("div", { class: "tt-row tt-maps" });
    place.append(this.bars, this.maps);
    this.rows = [];
    this.loads = [];
  }
  get machines() {
    const { machine, other } = this.context;
    return other ? [machine, other] : [machine];
  }
  choose() {
    const { machines } = this;
    this.rows = COUNTS.flatMap(([name, count], i) => {
      const totals = machines.map((machine) => count(machine, machine.length));
      const most = Math.max(...totals);
      if (!most && i >= ALWAYS) return [];
      const of = machines.map((machine, run) => {
        const bar = html("i");
        bar.style.background = HUES2[run];
        return { value: (at2) => count(machine, at2), total: totals[run], bar, text: html("b") };
      });
      return [{ name, of, most }];
    });
    this.bars.replaceChildren(
      ...this.rows.map(({ name, of }) => {
        const lines = of.map(({ total, bar, text: text2 }, run) => {
          const who2 = html("span", { class: "tt-who" }, machines[run].trace.name);
          const whole = html("span", { class: "tt-soft" }, ` of ${total}`);
          return html("div", {}, who2, html("span", { class: "tt-track-of" }, bar), html("span", {}, text2, whole));
        });
        const heading = html("div", { class: "tt-heading" }, html("span", tip(name), name), " of this block");
        return html("div", { class: "tt-compare-row" }, heading, ...lines);
      })
    );
  }
  /** The loads of each element of the arrays that both runs have, and their difference, on one scale. */
  paint() {
    this.painted = true;
    const traces = this.machines.map(({ trace }) => trace);
    const [first, second] = traces;
    const scale = scaleOf(traces);
    this.loads = first.arrays.flatMap(({ name, shape }, number) => {
      const there = second.arrays.findIndex((array) => array.name === name && String(array.shape) === String(shape));
      const [x, y] = [loadsOf(first)[number], there < 0 ? null : loadsOf(second)[there]];
      if (!x || !y || !(mostOf(x) || mostOf(y))) return [];
      return [{ name, counts: [[...x], [...y], Array.from(x, (count, i) => count - y[i])] }];
    });
    const figures = this.loads.map(({ name, counts: counts2 }) => {
      const array = first.arrays.find((one) => one.name === name) ?? first.arrays[0];
      const tell = (i) => `${first.element(array, i)}: ${counts2[0][i]} loads in ${first.name}, ${counts2[1][i]} in ${second.name}`;
      const pictures = counts2.map((each, run) => {
        const [least, most] = [each.reduce((a, b) => Math.min(a, b)), each.reduce((a, b) => Math.max(a, b))];
        if (run < 2) return picture(this.maps, array, each, scale, [array.hue], `in ${traces[run].name}
${rangeOf(least, most)}`, tell);
        return picture(this.maps, array, each, scale, HUES2, `difference
${this.differs(least, most)}`, tell);
      });
      return html("div", { class: "tt-row tt-map-of" }, ...pictures);
    });
    const heading = html("div", { class: "tt-heading" }, "Loads of each element by all blocks, and the difference");
    const keys = [keyOf("Loads, in each array's colour", scale), ...traces.map(({ name }, run) => keyOf(`More loads in ${name}`, scale, HUES2[run]))];
    this.maps.replaceChildren(...figures.length ? [heading, ...figures, ...keys] : []);
  }
  /**
   * A range of differences in words.
   * @param {number} least
   * @param {number} most
   */
  differs(least, most) {
    const [first, second] = this.machines.map(({ trace }) => trace.name);
    const more = (low, high, name) => `${low === high ? high : `${low} to ${high}`} more in ${name}`;
    if (!least && !most) return "the same in both";
    if (least >= 0) return more(least, most, first);
    if (most <= 0) return more(-most, -least, second);
    return `up to ${more(most, most, first)}, up to ${more(-least, -least, second)}`;
  }
  repaint() {
    if (this.painted) this.paint();
  }
  draw() {
    if (!this.painted) this.paint();
    const { machines } = this;
    for (const { of, most } of this.rows) {
      of.forEach(({ value, bar, text: text2 }, run) => {
        const now = value(machines[run].position);
        bar.style.setProperty("--part", String(most && now / most));
        write(text2, String(now));
      });
    }
  }
  state() {
    const bars = this.rows.map(({ name, of }) => [name, ...of.map(({ text: text2, total }) => [Number(text2.textContent), total])]);
    return { compare: { bars, loads: this.loads.map(({ name, counts: counts2 }) => [name, ...counts2]) } };
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
    const beside2 = (count, who2) => html("span", {}, `of ${count}`, html("br"), who2);
    const total = machine.count("global", 0, last);
    this.callout.replaceChildren(
      html("div", { class: "tt-heading" }, "Global loads"),
      html("p", {}, thread, beside2(total.thread, "this thread")),
      html("p", {}, block, beside2(total.block, "this block"))
    );
    thread.classList.toggle("tt-long", String(total.thread).length > 3);
    block.classList.toggle("tt-long", String(total.block).length > 3);
    const rows = [html("tr", {}, html("td"), html("th", {}, "thread"), html("th", {}, "block"))];
    for (
      const space of
      /** @type {Space[]} */
      ["global", "shared", "local"]
    ) {
      OPS.forEach((what, op) => {
        if ((space !== "global" || op === ATOMIC) && !machine.count(space, op, last).block) return;
        const cells = [html("td"), html("td")];
        this.numbers.push({ space, op, thread: cells[0], block: cells[1] });
        rows.push(html("tr", {}, html("th", {}, `${space} ${what}s`), ...cells));
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
  state() {
    const rows = this.numbers.map(({ space, op, thread, block }) => [
      `${space} ${OPS[op]}`,
      [Number(thread.textContent), Number(block.textContent)]
    ]);
    return { counts: Object.fromEntries(rows) };
  }
};

// panels/findings.js
var findings = {
  name: "findings",
  title: "Findings",
  none: "It breaks no rule.",
  wants: (trace) => trace.findings.length > 0,
  build: (place, context) => new Findings(place, context)
};
var Findings = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.rows = context.trace.findings.map((finding) => this.row(finding));
    place.append(html("ol", { class: "tt-found-list" }, ...this.rows));
  }
  /** @param {import("../trace.js").Finding} finding */
  row(finding) {
    const { trace } = this.context;
    const { kind, severity, line, other_line: other, message, count, counted, at: at2 } = finding;
    const lines = other === null || other === line ? `line ${line}` : `lines ${other} and ${line}`;
    const head = html("div", { class: "tt-found-head" }, html("b", {}, kind), ` ${severity}, ${lines}`);
    if (count > 1) head.append(`, ${counted}`);
    const row = html("li", { class: `tt-${severity}` }, head, html("p", {}, message));
    at2.forEach((place, i) => {
      const who2 = `${i ? "the earlier access" : "show it"}: thread ${trace.threadLabel(place.thread)}`;
      const block = trace.blocks.length > 1 ? ` of block ${trace.label(trace.blocks[place.block].at)}` : "";
      const button = html("button", { type: "button", class: "tt-go" }, `${who2}${block}, step ${place.step}`);
      button.addEventListener("click", () => {
        const thread = trace.threadPosition(place.thread);
        this.context.choose({ step: place.step, block: trace.blocks[place.block].at, thread });
      });
      row.append(button);
    });
    return row;
  }
  choose() {
  }
  draw() {
    const { machine, trace } = this.context;
    const found = machine.found;
    trace.findings.forEach((finding, i) => {
      const here = found.includes(finding);
      this.rows[i].classList.toggle("tt-here", here);
      if (here) this.rows[i].setAttribute("aria-current", "step");
      else this.rows[i].removeAttribute("aria-current");
    });
  }
};

// panels/fragments.js
var [CELL2, ROW] = [20, 13];
var SHARE2 = 1.35;
var fragments = {
  name: "fragments",
  title: "Fragments",
  none: "It multiplies no matrices with one instruction.",
  wants: (trace) => trace.matrices.length > 0,
  build: (place, context) => new Fragments(place, context)
};
var Fragments = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.said = html("div", { class: "tt-requests" });
    place.append(this.said);
    this.operations = context.trace.matrices.map((operation) => new Multiplied(operation));
    this.said.addEventListener("click", ({ target }) => {
      const cell = target instanceof Element ? target.closest("[data-lane]") : null;
      const lane = Number(cell?.getAttribute("data-lane"));
      const { trace, machine, choose } = this.context;
      if (cell && machine.line !== null) choose({ thread: trace.threadPosition(WARP * machine.warp + lane) });
    });
  }
  state() {
    return { matrices: [...this.said.querySelectorAll(".tt-multiplied")].map(shown) };
  }
  choose() {
  }
  draw() {
    const { machine } = this.context;
    const here = this.operations.filter(({ operation }) => operation.line === machine.line);
    const lane = machine.thread >> 5 === machine.warp ? machine.thread % WARP : -1;
    for (const each of here) each.draw(says(each.operation, lane), "", lane);
    if (!here.length) this.operations[0].draw("", this.elsewhere(), -1);
    fill(this.said, (here.length ? here : [this.operations[0]]).map(({ node }) => node));
  }
  /** A sentence for a line that multiplies nothing, with the next line that does. */
  elsewhere() {
    const { machine, trace } = this.context;
    const [next] = trace.matrices;
    const now = machine.line === null ? "No warp has run yet." : `Line ${machine.line} multiplies no matrices.`;
    return `${now} Line ${next.line} does (${next.name}), and its warp holds them so, a lane's number in each element:`;
  }
};
var Multiplied = class {
  /** @param {import("../trace.js").MatrixOperation} operation */
  constructor(operation) {
    this.operation = operation;
    this.words = { here: html("b"), elsewhere: html("span") };
    const held = operation.fragments;
    const row = html("div", { class: "tt-fragments" }, ...held.map(matrix));
    row.style.gridTemplateColumns = held.map(({ columns: columns2 }) => `minmax(0, ${columns2}fr)`).join(" ");
    row.style.maxWidth = `${SHARE2 * held.reduce((sum, { columns: columns2 }) => sum + columns2 + 1, 0)}em`;
    this.node = html("div", {}, html("p", {}, this.words.here, this.words.elsewhere), row);
    this.cells = [...row.querySelectorAll("[data-lane]")];
    this.mine = -1;
  }
  /**
   * @param {string} here  what the step's line multiplies
   * @param {string} elsewhere  what another line would, if it multiplies nothing
   * @param {number} mine  the lane of the chosen thread, or -1
   */
  draw(here, elsewhere, mine) {
    write(this.words.here, here);
    write(this.words.elsewhere, elsewhere);
    this.node.classList.toggle("tt-multiplied", here !== "");
    if (mine === this.mine) return;
    this.mine = mine;
    for (const cell of this.cells) {
      const own = Number(cell.getAttribute("data-lane")) === mine;
      const [box, number] = cell.children;
      set(box, "class", own ? "tt-lane tt-on-lane tt-mine-lane" : "tt-lane");
      set(number, "class", own ? "tt-lane-on" : "tt-lane-off");
    }
  }
};
function says({ name, fragments: matrices }, lane) {
  if (lane < 0) return `The thread is in another warp, and holds nothing of ${name}'s matrices.`;
  const parts2 = matrices.map(({ name: matrix2, columns: columns2, held }) => {
    const places = held[lane].map((i) => `[${Math.floor(i / columns2)}, ${i % columns2}]`);
    return `${matrix2} ${places.join(", ")}`;
  });
  return `Lane ${lane} holds of ${name}'s ${parts2.join("; of its ")}.`;
}
function matrix({ name, rows, columns: columns2, held }) {
  const title = `${name}, ${rows}×${columns2}`;
  const node = svg("svg", {
    class: "tt-fragment",
    viewBox: `0 0 ${columns2 * CELL2 + 2} ${rows * ROW + 2}`,
    role: "img",
    "aria-label": `${title}: the lane that holds each element`
  });
  const cells = held.flatMap((elements, lane) => elements.map((i, item) => (
    /** @type {[number, number, number]} */
    [i, lane, item]
  )));
  for (const [i, lane, item] of cells.sort(([x], [y]) => x - y)) {
    const [row, column] = [Math.floor(i / columns2), i % columns2];
    const [x, y] = [1 + column * CELL2, 1 + row * ROW];
    const what = `row ${row}, column ${column}: value ${item} of lane ${lane}`;
    const box = { x: x + 0.5, y: y + 0.5, width: CELL2 - 1.5, height: ROW - 1.5, class: "tt-lane" };
    const at2 = { x: x + CELL2 / 2, y: y + ROW / 2, class: "tt-lane-off" };
    node.append(
      svg("g", { "data-lane": lane }, svg("rect", box, svg("title", {}, what)), svg("text", at2, String(lane)))
    );
  }
  return html("figure", {}, html("figcaption", {}, title), node);
}
function shown(place) {
  const held = [...place.querySelectorAll("figure")].map((figure2) => {
    const cells = [...figure2.querySelectorAll("[data-lane]")];
    const lanes3 = cells.map((cell) => Number(cell.querySelector("text")?.textContent));
    const mine = cells.flatMap((cell, i) => cell.querySelector(".tt-mine-lane") ? [i] : []);
    return [figure2.querySelector("figcaption")?.textContent, lanes3, mine];
  });
  return { says: place.querySelector("b")?.textContent, held };
}

// panels/launch.js
var launch = {
  name: "launch",
  title: "Launch",
  wants: () => true,
  build: (place, context) => new Launch(place, context)
};
var Launch = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.place = place;
    this.pictures = html("div", { class: "tt-row" });
    this.table = html("table", { class: "tt-costs" });
    place.append(this.pictures, html("div", { class: "tt-scroll tt-wide", tabindex: 0, role: "group", "aria-label": "Cost of each line in the whole launch" }, this.table));
    this.rows = this.lines();
    this.painted = false;
  }
  lines() {
    const { trace, offers } = this.context;
    const heads = ["line", "access", "accesses"];
    if (offers("warp") || offers("banks")) heads.push("requests");
    if (offers("warp")) heads.push("sectors", "per request");
    if (offers("banks")) heads.push("wavefronts", "conflicts");
    const rows = trace.traffic.map((row) => {
      const each = row.requests && row.space === "global" ? Number((row.sectors / row.requests).toFixed(2)) : "";
      const shared = row.space === "shared";
      const counts2 = { accesses: row.accesses, requests: row.requests };
      if (shared) Object.assign(counts2, { wavefronts: row.wavefronts, conflicts: row.bank_conflicts });
      else Object.assign(counts2, { sectors: row.sectors, "per request": each });
      const cells = heads.slice(2).map((head2) => counts2[head2] ?? "");
      const what = html("td", { class: "tt-what" }, `${row.op} ${row.array}`);
      const node = html("tr", {}, html("td", {}, String(row.line)), what, ...cells.map((cell) => html("td", {}, String(cell))));
      node.style.setProperty("--hue", trace.arrays.find(({ name }) => name === row.array)?.hue ?? "var(--tt-other)");
      return { line: row.line, row: node };
    });
    const head = html("tr", {}, ...heads.map((text2) => html("th", { scope: "col", ...tip(text2) }, text2)));
    this.table.replaceChildren(html("tbody", {}, head, ...rows.map(({ row }) => row)));
    return rows;
  }
  paint() {
    const { trace, other } = this.context;
    this.painted = true;
    const scale = scaleOf(other ? [trace, other.trace] : [trace]);
    const figures = loadsOf(trace).flatMap((counts2, number) => {
      const most = mostOf(counts2);
      if (!counts2 || !most) return [];
      const array = trace.arrays[number];
      const least = counts2.reduce((a, b) => Math.min(a, b), most);
      const tell = (i) => `${trace.element(array, i)}: ${counts2[i]} loads`;
      const figure2 = picture(this.place, array, counts2, scale, [array.hue], rangeOf(least, most), tell);
      Object.assign(figure2.dataset, { most, least, scale });
      return [figure2];
    });
    const omitted = trace.omitted ? ` ${trace.omitted} blocks that are not here did the same.` : "";
    const title = html("div", { class: "tt-heading" }, `Loads of each element by all blocks.${omitted}`);
    this.pictures.replaceChildren(title, ...figures, ...scale ? [keyOf("Loads, in each array's colour", scale)] : []);
  }
  repaint() {
    if (this.painted) this.paint();
  }
  choose() {
  }
  draw() {
    if (!this.painted) this.paint();
    const { machine } = this.context;
    for (const { line, row } of this.rows) row.classList.toggle("tt-here", line === machine.line);
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
    this.heading = section.querySelector(".tt-heading");
    this.rows = /* @__PURE__ */ new Map();
    this.list = section.querySelector("dl");
    this.frame = section.querySelector(".tt-scroll");
  }
  choose() {
    const { machine, trace } = this.context;
    const thread = trace.threadLabel(machine.thread);
    if (this.heading) this.heading.textContent = `Registers of thread ${thread}`;
    this.frame?.setAttribute("aria-label", `Registers of thread ${thread}`);
  }
  draw() {
    const { machine } = this.context;
    const held = [...machine.variables.keys()].filter((name) => machine.variable(name) !== null);
    if (String(held) !== String([...this.rows.keys()])) {
      this.rows = new Map(held.map((name) => [name, this.rows.get(name) ?? this.row(name)]));
      this.list?.replaceChildren(...[...this.rows.values()].map(({ row }) => row));
    }
    for (const [name, { row, value }] of this.rows) {
      write(value, full(machine.variable(name)));
      row.classList.toggle("tt-changed", machine.changed.has(name));
    }
  }
  /** @param {string} name */
  row(name) {
    const value = html("dd");
    return { value, row: html("div", {}, html("dt", {}, name), value) };
  }
  state() {
    const rows = [...this.list?.children ?? []];
    const changed = rows.filter((row) => row.classList.contains("tt-changed")).map((row) => row.children[0].textContent);
    return { registers: rows.map((row) => [...row.children].map((cell) => cell.textContent)), changed };
  }
};

// panels/source.js
var GROUP = 10;
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
    for (const [text2, title] of [
      ["", ""],
      ["runs", "How often the chosen thread has run the line"],
      ["loads", "Global loads of the chosen thread on the line"]
    ]) {
      this.head.append(html("span", { title }, html("small", {}, text2)));
    }
    this.lines = /* @__PURE__ */ new Map();
    const rows = trace.source.map(([number, text2]) => {
      const [runs, loads] = [html("span", { class: "tt-runs" }), html("span", { class: "tt-loads" })];
      const label = html("span", { class: "tt-number" }, String(number));
      const node = html("div", { class: "tt-line", "data-line": number }, label, runs, loads, highlight(text2, hues));
      this.lines.set(number, { node, runs, loads });
      return node;
    });
    const groups = Array.from(
      { length: Math.ceil(rows.length / GROUP) },
      (_, i) => html("div", { class: "tt-group" }, ...rows.slice(i * GROUP, (i + 1) * GROUP))
    );
    place.replaceChildren(this.head, html("div", { class: "tt-lines" }, ...groups));
    this.current = void 0;
    this.truth = html("span", { class: "tt-truth" });
    this.wrong = [];
  }
  choose() {
    const { machine, trace } = this.context;
    this.head.title = `Counts of thread ${trace.threadLabel(machine.thread)}`;
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
    this.tell(truth(machine));
    const lines = machine.found.flatMap((finding) => [finding.line, finding.other_line ?? finding.line]);
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
  state() {
    const number = (node) => Number(node.textContent);
    return {
      line: this.current ? Number(this.current.dataset.line) : null,
      truth: this.truth.isConnected ? this.truth.textContent : "",
      source: [...this.lines].map(([line, { runs, loads }]) => [line, number(runs), number(loads)])
    };
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
var WIDTH = 270;
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
    const shape = by * bz === 1 && bx % WARP === 0 ? [bx / WARP, WARP] : [by * bz, bx];
    const held = trace.accumulators.filter((name) => trace.names.includes(name));
    const names = held.length ? held : ["threads"];
    this.rows = names.map((name) => {
      const array = { name, shape, size: bx * by * bz, hue: "var(--tt-register)" };
      const { planes: planes2, node } = figure(array, WIDTH, { margin: 2 });
      const [plane] = planes2;
      plane.node.addEventListener("click", (event) => {
        const thread = plane.elementAt(
          /** @type {MouseEvent} */
          event
        );
        if (thread !== null) context.choose({ thread: trace.threadPosition(thread) });
      });
      return { name, plane, figure: node };
    });
    section.querySelector(".tt-row")?.replaceChildren(...this.rows.map((row) => row.figure));
    const heading = section.querySelector(".tt-heading");
    if (heading) heading.textContent = held.length ? "All threads" : "Threads of the block";
  }
  fit() {
    for (const { plane } of this.rows) plane.measure();
  }
  repaint() {
    for (const { plane } of this.rows) plane.repaint();
  }
  choose() {
  }
  draw() {
    const { machine } = this.context;
    const here = machine.found.flatMap(({ at: at2 }) => at2.filter(({ block }) => block === machine.blockNumber));
    const wrong = here.map(({ thread }) => thread);
    for (const { name, plane } of this.rows) {
      const held = machine.variables.get(name);
      for (let thread = 0; thread < plane.size; thread++) {
        const value = held ? held[thread] : null;
        const active = machine.isActive(thread);
        const changed = active && machine.assigned.has(name);
        const still = value !== null ? SEEN : held || name !== "threads" ? EMPTY : PLAIN;
        plane.cell(thread, changed ? NOW_WRITTEN : active ? ACTIVE : still, value);
      }
      plane.finish([], [machine.thread]);
      plane.fault([...new Set(wrong)], []);
    }
  }
  state() {
    return { variables: this.rows.map(({ plane }) => plane.state()) };
  }
};

// panels/waits.js
var WIDTH2 = 1200;
var HEIGHT = 160;
var [THIN, THICK] = [5, 18];
var NAME = 14;
var ORDER = "Order is not time: the simulator runs one warp after another, each up to its next barrier. A GPU interleaves the warps.";
var buffer = (name) => name.replace(/\[\d+\]$/, "");
var waits = {
  name: "waits",
  title: "Waiting",
  wants: () => true,
  build: (place, context) => new Waits(place, context)
};
var PART2 = { load: 0.6, store: 1, other: 0.3, barrier: 1, wait: 0.12, held: 0.18 };
var Buffers = class {
  /**
   * @param {import("../trace.js").TraceArray} array
   * @param {number} number
   */
  constructor(array, number) {
    const { planes: planes2, each } = layout(array);
    this.array = array;
    this.number = number;
    this.each = each;
    this.rows = Array.from({ length: planes2 }, (_, s) => {
      return { name: planes2 > 1 ? `${array.name}[${s}]` : array.name, spans: (
        /** @type {Span[]} */
        []
      ) };
    });
  }
  /**
   * @param {number} i  the step
   * @param {import("../trace.js").Access[]} accesses
   */
  take(i, accesses) {
    const touched = /* @__PURE__ */ new Map();
    for (const access of accesses) {
      if (access.array !== this.number) continue;
      for (let k = 0; k < access.lanes.length; k++) {
        const buffer2 = this.rows.length > 1 ? Math.floor(access.element(k) / this.each) : 0;
        touched.set(buffer2, access.loading || (touched.get(buffer2) ?? false));
        if (this.rows.length === 1) break;
      }
    }
    for (const [buffer2, loading] of touched) {
      const { spans } = this.rows[buffer2];
      const what = `${loading ? "load" : "store"} ${this.array.name}`;
      const before = spans[spans.length - 1];
      if (before && loading && before[1] < i) spans.push([before[1], i, "held"]);
      if (before && before[1] === i && before[2] === what) before[1] = i + 1;
      else spans.push([i, i + 1, what]);
    }
  }
};
var Waits = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.said = html("p", { class: "tt-waiting" });
    this.canvas = /** @type {HTMLCanvasElement} */
    html("canvas", { role: "img", width: WIDTH2 });
    this.head = html("i", { class: "tt-playhead" });
    this.names = html("div", { class: "tt-strip-names", "aria-hidden": "true" });
    const strip = html("div", { class: "tt-strip" }, this.canvas, this.head);
    strip.addEventListener("click", (event) => {
      const box = strip.getBoundingClientRect();
      const { length } = this.context.machine;
      context.choose({ step: Math.max(1, Math.ceil((event.clientX - box.left) / box.width * length)) });
    });
    const key = html("p", { class: "tt-strip-key" });
    key.append(
      ...[
        ["tt-key-global", "global memory, in the array's colour: load below, store in full"],
        ["tt-key-shared", "shared memory"],
        ["tt-key-other", "everything else"],
        ["tt-key-barrier", "arrives at a barrier"],
        ["tt-key-wait", "waits there"]
      ].map(([look, text2]) => html("span", {}, html("i", { class: look }), text2))
    );
    const order = html("p", { class: "tt-soft" }, ORDER);
    place.append(this.said, html("div", { class: "tt-strips" }, this.names, strip), order, key);
    this.block = -1;
  }
  choose() {
    if (this.block === this.context.machine.blockNumber) return;
    this.block = this.context.machine.blockNumber;
    this.read();
    if (this.canvas.isConnected) this.paint();
  }
  /** The history of each warp and each buffer, as in course_lib/trace/strips.py. */
  read() {
    const { machine, trace } = this.context;
    const { block } = machine;
    const warps = Array.from({ length: trace.warps }, () => []);
    this.arrivals = warps.map(() => []);
    const buffers = trace.arrays.flatMap((array, number) => array.space === "shared" ? [new Buffers(array, number)] : []);
    for (let i = 0; i < block.length; i++) {
      const warp2 = block.warp(i);
      let [what, rank] = ["other", 0];
      const accesses = block.accesses(i);
      for (const access of accesses) {
        const { space, name } = trace.arrays[access.array];
        const now = space === "local" ? 0 : (space === "global" ? 3 : 1) + (access.loading ? 0 : 1);
        if (now > rank) [what, rank] = [`${access.loading ? "load" : "store"} ${name}`, now];
      }
      for (const each of buffers) each.take(i, accesses);
      if (block.has(i, BARRIER)) what = "barrier";
      const spans = warps[warp2];
      const before = spans[spans.length - 1];
      if (before && before[1] === i && before[2] === what) before[1] = i + 1;
      else spans.push([i, i + 1, what]);
      if (what !== "barrier") continue;
      this.arrivals[warp2].push(i + 1);
      const release = block.releases.find((r) => r >= i + 1) ?? block.length;
      if (release > i + 1) spans.push([i + 1, release, "wait"]);
    }
    this.rows = [
      ...warps.map((spans, warp2) => ({ name: `warp ${warp2}`, spans })),
      ...buffers.flatMap(({ rows }) => rows)
    ];
  }
  paint() {
    const { machine, trace } = this.context;
    if (!this.rows) return;
    const pitch = Math.min(THICK, Math.max(THIN, Math.floor(HEIGHT / this.rows.length)));
    const height = this.rows.length * pitch;
    Object.assign(this.canvas, { width: WIDTH2, height });
    this.canvas.style.height = `${height / 13.5}em`;
    this.names.style.setProperty("--tt-pitch", `${pitch / 13.5}em`);
    const every = Math.ceil(NAME / pitch);
    this.names.replaceChildren(...this.rows.map(({ name }, i) => html("span", {}, i % every ? "" : name)));
    const label = `What each of ${trace.warps} warps does over the ${machine.length} statements of the block`;
    this.canvas.setAttribute("aria-label", label);
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const colours = this.colours();
    const scale = WIDTH2 / machine.length;
    this.rows.forEach(({ name, spans }, i) => {
      const [top, row] = [i * pitch, pitch - Math.ceil(pitch / 5)];
      for (const [from, to, what] of spans) {
        const width = Math.max(1, (to - from) * scale - (scale > 4 ? 1 : 0));
        const part2 = PART2[what.split(" ")[0]];
        context.fillStyle = colours(what === "held" ? `load ${buffer(name)}` : what);
        context.fillRect(from * scale, top + row * (1 - part2), width, row * part2);
      }
    });
    this.painted = true;
  }
  /** The colour of a kind of span in the present theme. */
  colours() {
    const probe = html("i");
    this.canvas.parentElement?.append(probe);
    const known = /* @__PURE__ */ new Map();
    const take = (what, colour) => {
      probe.style.color = colour;
      const bytes = new Uint8Array(Uint32Array.of(pixel(getComputedStyle(probe).color)).buffer);
      known.set(what, `rgb(${bytes[0]} ${bytes[1]} ${bytes[2]})`);
    };
    take("other", "var(--tt-still)");
    for (const what of ["barrier", "wait"]) take(what, "var(--tt-ink)");
    for (const { name, hue } of this.context.trace.arrays) for (const op of ["load", "store"]) take(`${op} ${name}`, hue);
    probe.remove();
    return (what) => known.get(what) ?? "";
  }
  repaint() {
    if (this.painted) this.paint();
  }
  state() {
    return { strips: (this.rows ?? []).map(({ name, spans }) => [name, spans]), waiting: this.said.textContent };
  }
  draw() {
    if (!this.painted) this.paint();
    const { machine, trace } = this.context;
    this.head.style.left = `${100 * machine.position / machine.length}%`;
    const released = machine.block.releases.filter((r) => r <= machine.position).pop() ?? 0;
    const waiting = (this.arrivals ?? []).flatMap((arrivals, warp2) => {
      const last = arrivals[countUpTo(arrivals, machine.position) - 1] ?? 0;
      return last > released ? [warp2] : [];
    });
    const list = (warps) => `warp${warps.length > 1 ? "s" : ""} ${warps.join(", ")}`;
    const others = Array.from({ length: trace.warps }, (_, warp2) => warp2).filter((warp2) => !waiting.includes(warp2));
    write(
      this.said,
      waiting.length ? `At the barrier: ${list(waiting)}; not there yet: ${list(others)}.` : `No warp waits.${machine.block.releases.length ? "" : " This block meets no barrier."}`
    );
    this.said.dataset.waiting = waiting.join(" ");
  }
};

// panels/warp.js
var CELL3 = 20;
var WORD = 9;
var LINE2 = 4;
var MOST_LINES = 8;
var warp = {
  name: "warp",
  title: "Warp",
  wants: () => true,
  build: (place, context) => new Warp(place, context)
};
var Warp = class {
  /**
   * @param {HTMLElement} place
   * @param {import("../panel.js").Context} context
   */
  constructor(place, context) {
    this.context = context;
    this.said = html("div", { class: "tt-requests" });
    this.costs = new Costs(context, "global", "sectors");
    place.append(html("div", { class: "tt-split" }, this.said, this.costs.node));
    this.beside = WARP;
    this.shown = -1;
    this.idle = new Idle(this.beside);
    this.requests = [];
  }
  /** @param {import("../panel.js").Size} size */
  fit(size) {
    if (beside(size) === this.beside) return;
    this.beside = beside(size);
    this.idle = new Idle(this.beside);
    this.requests = [];
    this.shown = -1;
    this.draw();
  }
  state() {
    return { requests: [...this.said.querySelectorAll(".tt-request")].map(requestState), costs: this.costs.state() };
  }
  choose() {
    this.costs.choose();
    this.shown = -1;
  }
  draw() {
    this.costs.draw();
    const { machine, trace } = this.context;
    if (this.shown === machine.position) return;
    this.shown = machine.position;
    const accesses = machine.accesses.filter(({ array }) => trace.arrays[array].space === "global");
    while (this.requests.length < accesses.length) this.requests.push(new Request2(this.beside));
    const requests = this.requests.slice(0, accesses.length);
    requests.forEach((request, i) => request.draw(machine, accesses[i]));
    if (!requests.length) this.idle.draw(machine);
    fill(this.said, requests.length ? requests.map(({ node }) => node) : [this.idle.node]);
  }
};
var Lanes = class {
  /**
   * @param {number} beside  lanes in a row
   * @param {number} height  of a row of them
   */
  constructor(beside2, height) {
    const box = `0 0 ${beside2 * CELL3 + 2} ${WARP / beside2 * height}`;
    this.node = svg("svg", { class: "tt-lanes", viewBox: box, role: "img" });
    this.size = 0;
    this.lanes = Array.from({ length: WARP }, (_, lane) => {
      const [x, y] = [1 + lane % beside2 * CELL3, 1 + Math.floor(lane / beside2) * height];
      const cell = svg("rect", { x: x + 0.5, y, width: CELL3 - 1.5, height: CELL3 - 1 });
      const number = svg("text", { x: x + CELL3 / 2, y: y + CELL3 / 2 }, String(lane));
      const [byte, title] = [document.createTextNode(""), svg("title")];
      const address = svg("text", { x: x + CELL3 / 2, y: y + CELL3 + 7, class: "tt-address" }, byte, title);
      this.node.append(cell, number, address);
      return { cell, number, address, byte, title };
    });
  }
  /**
   * @param {string} label
   * @param {number} active  lanes, a bit each
   * @param {number} mine  the lane of the chosen thread, or -1
   */
  draw(label, active, mine) {
    set(this.node, "aria-label", label);
    this.lanes.forEach(({ cell, number }, lane) => {
      const on = active >>> lane & 1;
      set(cell, "class", `tt-lane ${on ? "tt-on-lane" : ""}${lane === mine ? " tt-mine-lane" : ""}`);
      set(number, "class", on ? "tt-lane-on" : "tt-lane-off");
    });
  }
  /**
   * @param {Map<number, [number, string]>} addresses  lane -> its byte address, and the name of its element
   */
  ask(addresses) {
    const digits = Math.max(...[...addresses.values()].map(([byte]) => String(byte).length));
    const size = Math.min(7.5, CELL3 * 0.92 / (digits * 0.6));
    this.lanes.forEach(({ address, byte, title }, lane) => {
      const asked2 = addresses.get(lane);
      if (size !== this.size) address.setAttribute("style", `font-size: ${size}px`);
      write(byte, asked2 ? String(asked2[0]) : "");
      write(title, asked2 ? `${asked2[1]}, byte ${asked2[0]}` : "");
    });
    this.size = size;
  }
};
var laneOf = (machine) => machine.line !== null && machine.thread >> 5 === machine.warp ? machine.thread % WARP : -1;
var Idle = class {
  /** @param {number} beside */
  constructor(beside2) {
    this.said = html("p");
    this.lanes = new Lanes(beside2, CELL3 + 2);
    this.node = html("div", {}, this.said, this.lanes.node);
  }
  /** @param {import("../machine.js").Machine} machine */
  draw(machine) {
    const text2 = machine.line === null ? "No warp has run yet. Its 32 lanes:" : `Warp ${machine.warp} does not access global memory on line ${machine.line}. Its 32 lanes:`;
    write(this.said, text2);
    this.lanes.draw("The lanes of the warp", machine.line === null ? 0 : machine.mask, laneOf(machine));
  }
};
var Request2 = class {
  /** @param {number} beside */
  constructor(beside2) {
    this.said = html("b");
    this.lanes = new Lanes(beside2, CELL3 + 14);
    this.sectors = picture2(/* @__PURE__ */ new Map(), -1);
    this.node = html("div", { class: "tt-request" }, html("p", {}, this.said), this.lanes.node, this.sectors);
    this.drawn = "";
  }
  /**
   * @param {import("../machine.js").Machine} machine
   * @param {import("../trace.js").Access} access
   */
  draw(machine, access) {
    const { trace } = machine;
    const array = trace.arrays[access.array];
    const bytes = access.width * array.itemsize;
    const mine = laneOf(machine);
    const sectors = /* @__PURE__ */ new Map();
    const used = /* @__PURE__ */ new Set();
    const starts = access.lanes.map((_, k) => trace.address(array, access.element(k)));
    access.lanes.forEach((lane, k) => {
      for (let byte = starts[k]; byte < starts[k] + bytes; byte++) {
        used.add(byte);
        const sector = Math.floor(byte / SECTOR_BYTES);
        const words2 = sectors.get(sector) ?? /* @__PURE__ */ new Map();
        sectors.set(sector, words2);
        const word = Math.floor(byte % SECTOR_BYTES / WORD_BYTES);
        const lanes3 = words2.get(word) ?? [];
        if (lanes3[lanes3.length - 1] !== lane) lanes3.push(lane);
        words2.set(word, lanes3);
      }
    });
    write(this.said, requestSays(access, array, used.size));
    this.lanes.draw(`The lanes of the warp and the element of ${array.name} that each accesses`, access.mask, mine);
    this.lanes.ask(new Map(access.lanes.map((lane, k) => [lane, [starts[k], trace.elements(array, access.element(k), access.width)]])));
    const where = JSON.stringify([starts, bytes, access.mask, mine]);
    if (this.drawn !== where) {
      const old = this.sectors;
      old.replaceWith(this.sectors = picture2(sectors, mine));
      this.drawn = where;
    }
    this.node.style.setProperty("--hue", array.hue);
    set(this.node, "data-sectors", String(access.sectors));
    set(this.node, "data-used", String(used.size));
    set(this.node, "data-lanes", JSON.stringify(spread(access, starts)));
  }
};
function picture2(sectors, mine) {
  const numbers = [...sectors.keys()].sort((x, y) => x - y);
  const many = new Set(numbers.map((sector) => Math.floor(sector / LINE2))).size > MOST_LINES;
  const beside2 = many ? 1 : LINE2;
  const groups = [...new Set(numbers.map((sector) => Math.floor(sector / beside2)))];
  const words2 = SECTOR_BYTES / WORD_BYTES;
  const [width, height] = [words2 * WORD + 4, WORD + 5];
  const columns2 = many ? LINE2 : groups.length > 4 ? 2 : 1;
  const rows = Math.ceil(groups.length / columns2);
  const gutter = 34;
  const across = beside2 * width + gutter;
  const node = svg("svg", {
    class: "tt-sectors",
    viewBox: `0 0 ${columns2 * across} ${rows * height + 2}`,
    role: "img",
    "aria-label": `${numbers.length} sectors of ${SECTOR_BYTES} bytes, with the words that are used`
  });
  node.style.maxWidth = `${columns2 * across * 1.45 / 13.5}em`;
  groups.forEach((group, i) => {
    const [left, top] = [i % columns2 * across, Math.floor(i / columns2) * height];
    node.append(svg("text", { x: left + gutter - 4, y: top + height / 2, class: "tt-byte" }, String(group * beside2 * SECTOR_BYTES)));
    for (let s = 0; s < beside2; s++) {
      const asked2 = sectors.get(group * beside2 + s);
      const x = left + gutter + s * width;
      const frame = { x, y: top + 1, width: width - 3, height: WORD + 2, class: asked2 ? "tt-sector" : "tt-no-sector" };
      node.append(svg("rect", frame));
      if (!asked2) continue;
      for (let w = 0; w < words2; w++) {
        const lanes3 = asked2.get(w);
        const look = !lanes3 ? "tt-unused" : lanes3.includes(mine) ? "tt-used tt-mine-lane" : "tt-used";
        const box = { x: x + 1 + w * WORD, y: top + 2, width: WORD - 1, height: WORD, class: look };
        const who2 = lanes3 ? `lanes ${lanes3.join(", ")}` : "not used by any lane";
        node.append(svg("rect", box, svg("title", {}, `byte ${(group * beside2 + s) * SECTOR_BYTES + WORD_BYTES * w}: ${who2}`)));
      }
    }
  });
  return node;
}

// alignment.js
var MATCHES = ["statement", "iteration", "outer iteration", "phase", "element"];
function marks({ block, thread, trace }, match) {
  const warp2 = thread >> 5;
  if (match === "phase") return numbered(block.phases[warp2] ?? []);
  const found = [];
  const parents = new Set(trace.loops.values());
  for (let i = 0; i < block.length; i++) {
    if (match === "element") {
      const [from, to] = block.rows("access", i);
      for (let row = from; row < to && block.runs(i, thread); row++) {
        const { access_op, access_array } = trace.columns;
        if (access_op[row] === LOAD || access_array[row] !== trace.owner) continue;
        const access = new Access(trace, row, warp2);
        const k = access.lanes.indexOf(thread % WARP);
        for (let w = 0; w < access.width && k >= 0; w++) found.push([i + 1, `element ${access.element(k) + w}`]);
      }
    } else if (block.warp(i) === warp2 && block.has(i, LOOP_TURN)) {
      const line = block.line(i);
      if (match === "iteration" ? !parents.has(line) : !trace.loops.get(line)) found.push([i + 1, "iteration"]);
    }
  }
  return match === "element" ? found : numbered(found);
}
function numbered(found) {
  const counts2 = /* @__PURE__ */ new Map();
  return found.map(([position, name]) => {
    counts2.set(name, (counts2.get(name) ?? 0) + 1);
    return (
      /** @type {[number, string]} */
      [position, `${name} ${counts2.get(name)}`]
    );
  });
}
function partner(from, to, [block, thread], match) {
  const element = match === "element" ? from.owned.indexOf(block * from.threads + thread) : -1;
  const owner = element < 0 ? -1 : to.owned[element];
  if (owner >= 0) return [Math.floor(owner / to.threads), owner % to.threads];
  return [Math.min(block, to.blocks.length - 1), Math.min(thread, to.threads - 1)];
}
var Alignment = class {
  /**
   * @param {Machine[]} machines  one or two
   * @param {string} match  one of MATCHES
   */
  constructor(machines, match) {
    this.cuts = [machines.map(() => 0)];
    const [first, second] = match === "statement" ? [] : machines.map((machine) => marks(machine, match));
    this.completed = [first, second].map((all) => all?.length ?? 0);
    let from = 0;
    for (const [position, name] of second ? first : []) {
      const [x, y] = this.cuts[this.cuts.length - 1];
      const there = second.findIndex((mark, i) => i >= from && mark[0] > y && mark[1] === name);
      if (there < 0 || position <= x) continue;
      this.cuts.push([position, second[there][0]]);
      from = there + 1;
    }
    this.matched = this.cuts.length - 1;
    this.cuts.push(machines.map(({ length }) => length));
    this.starts = [0];
    this.cuts.slice(1).forEach((cut, i) => {
      this.starts.push(this.starts[i] + Math.max(...cut.map((position, run) => position - this.cuts[i][run])));
    });
  }
  get last() {
    return this.starts[this.starts.length - 1];
  }
  /**
   * Where each run is at a common step.
   * @param {number} step
   */
  positions(step) {
    const after = this.starts.findIndex((start) => start > step);
    if (after < 0) return this.cuts[this.cuts.length - 1];
    return this.cuts[after - 1].map((position, run) => Math.min(position + step - this.starts[after - 1], this.cuts[after][run]));
  }
  /**
   * The common step at which a run is at a position; at a matched place the one at which both are there.
   * @param {number} run
   * @param {number} position
   */
  step(run, position) {
    const after = this.cuts.findIndex((cut) => cut[run] >= position);
    if (after <= 0) return 0;
    if (this.cuts[after][run] === position && after <= this.matched) return this.starts[after];
    return this.starts[after - 1] + position - this.cuts[after - 1][run];
  }
};

// stage.js
var PANELS = [arrays, threads, source, registers, counts];
var LENSES = [findings, warp, banks, fragments, waits, launch];
var ROOMY_HEIGHT = 46;
var ROOMY_WIDTH = 62;
var ON_A_PHONE = 0.4;
var NARROW2 = 38;
var AROUND2 = 130;
var FRAME2 = `
  <div class="tt-bar">
    <div class="tt-head">
      <div class="tt-title"><code class="tt-kernel"></code><span class="tt-launch"></span></div>
      <label><span class="tt-word">Block</span> <select class="tt-block"></select></label>
      <label><span class="tt-word">Thread</span> <select class="tt-thread"></select></label>
      <label><span class="tt-word">By</span> <select class="tt-unit" title="What one step is (u)"></select></label>
      <label><span class="tt-word">Speed</span> <select class="tt-speed" title="Speed (+ and −)"></select></label>
      <label><span class="tt-word">Text</span> <select class="tt-text" title="Size of the text ([ and ])"></select></label>
      <span class="tt-tools">
        <button type="button" class="tt-link" title="Copy a link to this step"></button>
        <button type="button" class="tt-picture" title="Save a picture" aria-expanded="false"></button>
        <button type="button" class="tt-help" title="Legend and keys (?)" aria-expanded="false">?</button>
        <button type="button" class="tt-full" title="Full screen (f)"></button>
      </span>
    </div>
    <div class="tt-controls" role="toolbar" aria-label="Playback">
      <button type="button" class="tt-start" title="To the start (Home)"></button>
      <button type="button" class="tt-back" title="One step back (←)"></button>
      <button type="button" class="tt-play" title="Play (space)"></button>
      <button type="button" class="tt-forward" title="One step (→)"></button>
      <button type="button" class="tt-next" title="To the next barrier (n; back with p)"></button>
      <button type="button" class="tt-end" title="To the end (End)"></button>
      <button type="button" class="tt-fault" title="To the next finding (e; back with E)"></button>
      <div class="tt-track"><input class="tt-scrub" type="range" min="0" value="0" aria-label="Step" />
        <div class="tt-ticks" aria-hidden="true"></div></div>
      <span class="tt-phase"></span>
      <output class="tt-count"></output>
    </div>
    <div class="tt-say" role="status" aria-live="polite"></div>
  </div>
  <div class="tt-body">
    <div class="tt-main">
      <div class="tt-left">
        <div class="tt-views"><div class="tt-tabs" role="tablist" aria-label="Views"></div>
          <label class="tt-matching" title="What both runs do at the same time; a run that is there first waits">
            <span>Match by</span> <select class="tt-match"></select> <span class="tt-matched tt-soft"></span></label></div>
        <div class="tt-lens" tabindex="0" role="group" aria-label="The chosen view"></div></div>
      <div class="tt-right"></div>
    </div>
    <div class="tt-legend"></div>
  </div>
  <form class="tt-saving" aria-label="Save a picture" hidden>
    <label>Save as <select name="kind"><option>PNG</option><option>SVG</option><option>GIF</option></select></label>
    <label>step <input name="first" type="number" min="0" required /></label>
    <label class="tt-until">to <input name="last" type="number" min="0" required /></label>
    <button type="submit" class="tt-save">Save</button>
    <p role="status"></p>
  </form>
  <div class="tt-keys" role="dialog" aria-label="Legend and keys" tabindex="0" hidden>
    <div class="tt-heading">Colours and marks in this picture</div><div class="tt-marks"></div>
    <div class="tt-heading">Keys</div><div class="tt-key-list"></div>
    <div class="tt-heading">Words</div><dl class="tt-words"></dl>
  </div>`;
var RUN = `
  <div class="tt-memory" tabindex="0" role="group">
    <div class="tt-magnified"><code class="tt-now-line"></code><div class="tt-parts"></div></div>
    <div class="tt-product" role="group" aria-label="Global memory: the matrices">
      <div class="tt-callout"></div>
    </div>
    <div class="tt-row">
      <div class="tt-others"><div class="tt-heading">Global memory</div><div class="tt-row"></div></div>
      <div class="tt-shared"><div class="tt-heading">Shared memory</div><div class="tt-row"></div></div>
      <div class="tt-accumulators"><div class="tt-heading"></div><div class="tt-row"></div></div>
      <div class="tt-locals"><div class="tt-heading"></div><div class="tt-row"></div></div>
    </div>
  </div>
  <div class="tt-program">
    <div class="tt-source" tabindex="0" role="group"></div>
    <div class="tt-row tt-state">
      <div class="tt-registers"><div class="tt-heading"></div><div class="tt-scroll" tabindex="0" role="group"><dl></dl></div></div>
      <div class="tt-traffic"><div class="tt-heading">Accesses so far</div><table></table></div>
    </div>
  </div>`;
function layOut(root) {
  root.innerHTML = FRAME2;
  part(root, "legend").append(...legend());
  part(root, "full").append(icon("full"));
}
var Run = class {
  /**
   * @param {import("./trace.js").Trace} trace
   * @param {import("./panel.js").Context["choose"]} choose
   * @param {import("./panel.js").Context["offers"]} offers
   * @param {string} name
   */
  constructor(trace, choose, offers, name) {
    this.trace = trace;
    this.node = html("div");
    this.node.innerHTML = RUN;
    if (name) part(this.node, "memory").prepend(html("div", { class: "tt-run-name" }, trace.name));
    part(this.node, "memory").setAttribute("aria-label", `Memory${name}`);
    part(this.node, "source").setAttribute("aria-label", `Source${name}`);
    this.memory = part(this.node, "memory");
    this.program = part(this.node, "program");
    this.lenses = [];
    this.context = { trace, machine: new Machine(trace, 0, 0), other: null, choose, offers };
    this.views = PANELS.filter((panel) => panel.wants(trace)).map((panel) => panel.build(this.node, this.context));
  }
  /**
   * @param {number} blockNumber
   * @param {number} thread
   */
  choose(blockNumber, thread) {
    const { context, trace } = this;
    blockNumber = Math.min(blockNumber, trace.blocks.length - 1);
    thread = Math.min(thread, trace.threads - 1);
    if (context.machine.blockNumber === blockNumber) context.machine.choose(thread);
    else context.machine = new Machine(trace, blockNumber, thread);
  }
};
var Stage = class {
  /**
   * @param {HTMLElement} root
   * @param {import("./trace.js").Trace[]} traces
   * @param {{choose: (choice: import("./panel.js").Choice, run: number) => void, open: (lens: string) => void}} actions
   * @param {string[] | null} panels  the lenses that are offered, all of them without a list; findings always are
   */
  constructor(root, traces, actions, panels) {
    this.root = root;
    this.offers = (lens) => !panels || lens === findings.name || panels.includes(lens);
    const [trace, beside2] = traces;
    this.trace = trace;
    if (trace.kernel === beside2?.kernel) traces.forEach((one, i) => one.name = `${one.kernel} (${i + 1})`);
    const names = traces.map(({ name }) => name).join(" beside ");
    write(part(root, "kernel"), traces.map(({ name }) => name).join(" | "));
    write(part(root, "launch"), `grid ${trace.label(trace.grid)} × block ${trace.label(trace.block)}`);
    const number = [...document.querySelectorAll(".tt-root")].indexOf(root) + 1;
    root.setAttribute("aria-label", `Stepper ${number || ""} of the kernel ${names}`);
    const option = (value, text2) => html("option", { value }, text2);
    part(root, "block").replaceChildren(...trace.blocks.map((b, i) => option(i, trace.label(b.at))));
    part(root, "thread").replaceChildren(
      ...Array.from({ length: trace.threads }, (_, i) => option(i, trace.threadLabel(i)))
    );
    part(root, "fault").style.display = traces.some(({ findings: findings2 }) => findings2.length) ? "" : "none";
    const body = part(root, "body");
    for (const old of root.querySelectorAll(".tt-memory, .tt-program, .tt-ask")) old.remove();
    this.runs = traces.map((one, run) => {
      const choose = (choice) => actions.choose(choice, run);
      return new Run(one, choose, this.offers, beside2 ? ` of ${one.name}` : "");
    });
    root.toggleAttribute("data-two", Boolean(beside2));
    part(root, "matching").hidden = !beside2;
    body.toggleAttribute("data-compare", Boolean(beside2));
    const product = beside2 && trace.owned.length && String(trace.arrays[trace.owner].shape) === String(beside2.arrays[beside2.owner]?.shape);
    this.matches = MATCHES.filter((match) => match !== "element" || product);
    part(root, "match").replaceChildren(...this.matches.map((match) => html("option", { value: match }, match === "element" ? `element of ${trace.arrays[trace.owner].name}` : match)));
    this.match = "statement";
    this.alignment = this.meet();
    this.lenses(actions.open);
    this.compact = false;
    this.lens = "";
    this.held = { place: "", height: 0 };
    this.said = [];
    part(root, "body").style.minHeight = "";
    this.asked = "";
    this.stale = /* @__PURE__ */ new Set();
    this.arrange();
    for (const node of root.querySelectorAll(".tt-main .tt-heading, .tt-head .tt-word")) {
      for (const [name, value] of Object.entries(tip(node.textContent ?? ""))) node.setAttribute(name, value);
    }
  }
  /** Tell each of two runs of the other; returns their common steps. */
  meet() {
    const machines = this.runs.map(({ context }) => context.machine);
    this.runs.forEach(({ context }, run) => context.other = machines[1 - run] ?? null);
    return new Alignment(machines, this.match);
  }
  /** Fill the legend with what the picture shows now. */
  explain() {
    const planes2 = this.runs.flatMap((run) => run.views.flatMap((view) => {
      const { grids = [], variables: variables2 = [] } = (
        /** @type {Record<string, any[]>} */
        view.state?.() ?? {}
      );
      return [...grids, ...variables2];
    }));
    const arrays2 = this.runs.flatMap(({ trace }) => trace.arrays);
    const names = new Set(arrays2.map(({ name }) => name));
    const variables = planes2.map(({ name }) => name.replace(/\[\d+\]$/, "")).filter((name) => !names.has(name));
    part(this.root, "marks").replaceChildren(...marksOf(planes2, arrays2, variables));
    part(this.root, "words").replaceChildren(...wordsOn(this.root));
  }
  /** One run: its memory on the left, its program and a lens on the right. Two: a column each, the lens above. */
  arrange() {
    const { root, runs, compact } = this;
    const [left, right] = [part(root, "left"), part(root, "right")];
    const [tabs, lens] = [part(root, "views"), part(root, "lens")];
    const [first, second] = runs.map(({ memory, program }) => [memory, program]);
    if (second) {
      part(root, "body").prepend(tabs, lens);
      left.append(...first);
      right.append(...second);
    } else if (compact) {
      left.append(tabs, lens, first[0]);
      right.append(first[1]);
    } else {
      left.append(first[0], part(root, "legend"));
      right.append(first[1], tabs, lens);
    }
  }
  get machine() {
    return this.runs[0].context.machine;
  }
  /**
   * The tabs, and a place for each lens and run.
   * @param {(lens: string) => void} open
   */
  lenses(open2) {
    const { root, runs } = this;
    this.open = /* @__PURE__ */ new Map();
    const id = `tt-${Math.random().toString(36).slice(2)}`;
    const wanted = LENSES.filter((lens) => this.offers(lens.name) && runs.some((run) => lens.wants(run.trace)));
    if (runs.length > 1) wanted.unshift(compare);
    const tabs = [{ name: "arrays", title: "Arrays" }, ...wanted].map(({ name, title }) => {
      const tab = html("button", { type: "button", role: "tab", class: `tt-tab-${name}`, id: `${id}-${name}`, ...tip(title) }, title);
      tab.addEventListener("click", ({ detail }) => {
        open2(name);
        if (detail) root.focus({ preventScroll: true });
      });
      const node = html("div", { class: `tt-lens-${name}`, role: "tabpanel", "aria-labelledby": tab.id, hidden: "" });
      const views = [];
      this.open.set(name, { tab, node, views });
      return tab;
    });
    for (const lens of wanted) {
      const { node, views } = (
        /** @type {{node: HTMLElement, views: import("./panel.js").View[]}} */
        this.open.get(lens.name)
      );
      if (lens === compare) views.push(compare.build(node, runs[0].context));
      else for (const run of runs) {
        const place = html("div", { class: "tt-lens-run" });
        if (runs.length > 1) place.append(html("div", { class: "tt-heading" }, run.trace.name));
        node.append(place);
        if (!lens.wants(run.trace)) {
          place.append(html("p", {}, lens.none ?? ""));
          continue;
        }
        run.lenses.push(lens.build(place, run.context));
        views.push(run.lenses[run.lenses.length - 1]);
      }
    }
    part(root, "tabs").replaceChildren(...tabs);
    part(root, "lens").replaceChildren(...[...this.open.values()].map(({ node }) => node));
  }
  /** The names of the lenses, in their order. */
  get names() {
    return [...this.open.keys()].filter((name) => this.compact || name !== "arrays");
  }
  /**
   * Show another lens; if there is room, the arrays remain visible beside it.
   * @param {string} name
   */
  look(name) {
    this.asked = name;
    const first = this.runs.length > 1 ? "compare" : this.compact ? "arrays" : this.trace.findings.length ? "findings" : "warp";
    const lens = [name, first].find((one) => this.names.includes(one)) ?? this.names[0] ?? "arrays";
    this.lens = lens;
    for (const [one, { tab, node }] of this.open) {
      node.hidden = one !== lens;
      tab.setAttribute("aria-selected", String(one === lens));
      tab.tabIndex = one === lens ? 0 : -1;
      tab.hidden = one === "arrays" && !this.compact;
    }
    part(this.root, "tabs").hidden = this.names.length < 2 && lens === "arrays";
    part(this.root, "lens").hidden = lens === "arrays";
    part(this.root, "body").dataset.lens = lens;
  }
  /** Adapt to the size of the page. */
  fit() {
    const { root } = this;
    const em = Number.parseFloat(getComputedStyle(root).fontSize);
    const tall = document.fullscreenElement === root ? window.innerHeight : window.innerHeight - AROUND2;
    const compact = this.runs.length > 1 || tall < ROOMY_HEIGHT * em || root.clientWidth < ROOMY_WIDTH * em;
    root.toggleAttribute("data-compact", compact);
    this.hold(compact, em);
    if (compact !== this.compact) {
      this.compact = compact;
      this.arrange();
      this.look(this.asked);
      this.views.forEach((view) => view.draw());
    }
    const body = part(root, "body");
    for (const run of this.runs) {
      root.style.setProperty("--tt-room", `${body.clientHeight}px`);
      const padding = 2 * Number.parseFloat(getComputedStyle(run.memory).paddingLeft);
      const lens = part(root, "lens").clientWidth / this.runs.length;
      const narrow = root.clientWidth <= NARROW2 * em;
      const height = narrow ? Math.max(16 * em, ON_A_PHONE * window.innerHeight) : this.heightOfProduct(run, em);
      const size = { compact, narrow, width: run.memory.clientWidth - padding, height, lens, em };
      for (const view of run.views) view.fit?.(size);
      for (const view of this.open.get(this.lens)?.views ?? []) view.fit?.(size);
    }
  }
  /**
   * The largest height of a run's matrices, in pixels.
   * @param {Run} run
   * @param {number} em
   */
  heightOfProduct(run, em) {
    const { compact, root, runs } = this;
    if (runs.length > 1) return part(root, "left").clientHeight - 0.6 * em;
    if (compact) return part(root, "left").clientHeight - part(root, "tabs").offsetHeight - em;
    return Math.max(20 * em, 0.55 * part(root, "body").clientHeight);
  }
  /**
   * Keep the page from shrinking from one step to the next, as long as its width is the same.
   * @param {boolean} compact
   * @param {number} em
   */
  hold(compact, em) {
    const { root } = this;
    const body = part(root, "body");
    const place = [compact, em, root.clientWidth, window.innerHeight, document.fullscreenElement === root].join();
    if (place !== this.held.place) {
      body.style.minHeight = "";
      this.held = { place, height: 0 };
    }
    if (compact || body.offsetHeight <= this.held.height) return;
    this.held.height = body.offsetHeight;
    body.style.minHeight = `${body.offsetHeight}px`;
  }
  /** Adapt to the colours of the theme. */
  repaint() {
    for (const { views } of [...this.runs, ...this.open.values()]) for (const view of views) view.repaint?.();
  }
  /**
   * The contents of the page for a run, as course_lib/viewer/scene.py describes them.
   * @param {number} number
   */
  state(number) {
    const run = this.runs[number];
    for (const view of run.lenses) view.choose();
    for (const view of run.lenses) view.draw();
    const [says2, ...findings2] = [...this.said[number].children].map((node) => node.textContent);
    const ticks = [...part(this.root, "ticks").children].map((tick) => Number(
      /** @type {HTMLElement} */
      tick.dataset.step
    ));
    const phase = part(this.root, "phase").textContent;
    const legend2 = [...part(this.root, "marks").children].map(({ textContent }) => textContent);
    const shared = number ? [] : this.open.get(compare.name)?.views ?? [];
    for (const view of shared) view.choose();
    for (const view of shared) view.draw();
    return Object.assign({ says: says2, legend: legend2, findings: findings2, phase, ticks: [...new Set(ticks)].sort((x, y) => x - y) }, ...[...run.views, ...run.lenses, ...shared].map((view) => view.state?.() ?? {}));
  }
  /** The visible views. */
  get views() {
    return [...this.runs.flatMap((run) => run.views), ...this.open.get(this.lens)?.views ?? []];
  }
  /**
   * @param {number} blockNumber
   * @param {number} thread
   * @param {string} match  what two runs are matched by
   */
  choose(blockNumber, thread, match) {
    const { root, runs } = this;
    const [first, second] = runs;
    this.match = this.matches.includes(match) ? match : "statement";
    first.choose(blockNumber, thread);
    second?.choose(...partner(first.trace, second.trace, [blockNumber, thread], this.match));
    this.alignment = this.meet();
    part(root, "match").value = this.match;
    const { completed, matched } = this.alignment;
    write(part(root, "matched"), this.match === "statement" ? "" : `${matched} matched, of ${completed.join(" and ")}`);
    part(root, "block").value = String(blockNumber);
    part(root, "thread").value = String(thread);
    const last = this.last;
    part(root, "scrub").max = String(last);
    const tick = (position, look) => {
      const mark = html("i", { class: look, "data-step": position });
      mark.style.setProperty("--at", String(position / last));
      return mark;
    };
    const here = String(this.machine.block.at);
    const found = this.places.flatMap(({ block, step }) => String(block) === here ? [step] : []);
    part(root, "ticks").replaceChildren(
      ...this.machine.block.releases.map((release) => tick(this.alignment.step(0, release), "tt-release")),
      ...[...new Set(found)].map((step) => tick(step, "tt-found"))
    );
    for (const run of runs) for (const view of run.views) view.choose();
    this.stale = new Set(this.open.keys());
  }
  /**
   * The runs' findings, each at the access that caused it, in the order of blocks and steps: the block and thread of the
   * first run, and the common step, which in another block is that of the run.
   * @returns {{block: readonly number[], thread: readonly number[], step: number, run: number, position: number}[]}
   */
  get places() {
    const here = String(this.machine.block.at);
    const places = this.runs.flatMap(
      ({ trace }, run) => trace.findings.flatMap(({ at: [place] }) => {
        if (!place) return [];
        const who2 = this.ofFirst(run, { block: trace.blocks[place.block].at, thread: trace.threadPosition(place.thread) });
        const step = String(who2.block) === here ? this.alignment.step(run, place.step) : place.step;
        return [{ .../** @type {{block: readonly number[], thread: readonly number[]}} */
        who2, step, run, position: place.step }];
      })
    );
    return places.sort((x, y) => this.order(x) - this.order(y) || x.step - y.step);
  }
  /**
   * The number of a place's block in the launch.
   * @param {{block: readonly number[]}} place
   */
  order({ block: [x, y, z] }) {
    const [gx, gy] = this.trace.grid;
    return x + gx * (y + gy * z);
  }
  /**
   * A choice in one of the runs as the first run's block and thread that belong to it.
   * @param {number} run
   * @param {import("./panel.js").Choice} choice
   */
  ofFirst(run, { block, thread }) {
    const [{ trace: first }, { trace, context }] = [this.runs[0], this.runs[run]];
    const { blockNumber, thread: now } = context.machine;
    const chosen = [block ? trace.blockNumber(block) : blockNumber, thread ? trace.threadNumber(thread) : now];
    const [number, who2] = run ? partner(
      trace,
      first,
      /** @type {[number, number]} */
      chosen,
      this.match
    ) : chosen;
    return { block: first.blocks[number].at, thread: first.threadPosition(who2) };
  }
  /** The last common step. */
  get last() {
    return this.alignment.last;
  }
  /**
   * Show what the step of a run did, and its findings.
   * @param {Run} run
   */
  says({ context: { machine }, trace }) {
    const first = this.machine;
    const same = machine.blockNumber === first.blockNumber && machine.thread === first.thread;
    const where = same ? "" : `, block ${trace.label(machine.block.at)}, thread ${trace.threadLabel(machine.thread)}`;
    const at2 = `${where}, step ${machine.position} of ${machine.length}: `;
    const who2 = this.runs.length > 1 ? [html("code", {}, trace.name), at2] : [];
    const found = machine.found.map(({ kind, message }) => [html("b", {}, kind), `: ${message}`]);
    const wrong = wrongNow(machine).map((text2) => [text2]);
    return html(
      "div",
      {},
      html("p", { class: "tt-sentence" }, ...who2, ...sentence(machine)),
      ...[...found, ...wrong].map((words2) => html("p", { class: "tt-wrong" }, ...words2))
    );
  }
  /** @param {number} step */
  draw(step) {
    const { machine, root } = this;
    this.alignment.positions(step).forEach((position, run) => this.runs[run].context.machine.seek(position));
    const scrub = (
      /** @type {HTMLInputElement} */
      part(root, "scrub")
    );
    scrub.value = String(step);
    scrub.setAttribute("aria-valuetext", `step ${step} of ${this.last}`);
    write(part(root, "count"), `step ${step} of ${this.last}`);
    write(part(root, "phase"), this.runs.length === 1 ? machine.phase : "");
    if (this.stale.delete(this.lens)) for (const view of this.open.get(this.lens)?.views ?? []) view.choose();
    for (const view of this.views) view.draw();
    this.said = this.runs.map((run) => this.says(run));
    part(root, "say").replaceChildren(...this.said);
    for (const view of this.views) view.scroll?.();
    if (!part(root, "keys").hidden) this.explain();
  }
};

// player.js
var SPEEDS = [1, 2, 4, 8, 16, 32];
var UNITS = ["statement", "iteration", "phase", "barrier"];
var SIZES = [0.8, 1, 1.25, 1.5, 2];
var LINK = "Copy a link to this step";
var SAVE_AFTER = 300;
var UNSAVED = /* @__PURE__ */ new WeakMap();
var Player = class {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.root = html("div", { class: "tt-root", tabindex: "0", role: "group" });
    this.root.setAttribute("data-lm-suppress-shortcuts", "true");
    Object.assign(this.root, { stepper: this });
    el.classList.add("tt-place");
    Object.assign(el, { stepper: this });
    layOut(this.root);
    this.stage = null;
    this.timer = null;
    this.speed = 2;
    this.unit = 0;
    this.unsaved = UNSAVED.get(model) ?? { values: {}, views: 0 };
    this.unsaved.views++;
    UNSAVED.set(model, this.unsaved);
    this.saving = new Saving(this);
    this.buttons();
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.listeners = {
      "change:_data": () => this.load(),
      "change:_other": () => this.load(),
      "change:_wanted": () => this.load(),
      "change:panels": () => this.load(),
      "change:step": () => this.changed("step", () => this.stage?.draw(this.step)),
      "change:block": () => this.changed("block", () => this.choose()),
      "change:thread": () => this.changed("thread", () => this.choose()),
      "change:match": () => this.changed("match", () => this.choose()),
      "change:panel": () => this.changed("panel", () => this.look()),
      "change:text_size": () => this.changed("text_size", () => this.textSize())
    };
    for (const [name, listener] of Object.entries(this.listeners)) model.on(name, listener);
    this.sizes = new ResizeObserver(() => this.stage?.fit());
    this.themes = new MutationObserver(() => this.stage?.repaint());
    const attributeFilter = ["class", "style", "data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind"];
    this.themes.observe(document.body, { attributes: true, attributeFilter });
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.stage?.repaint();
    this.dark.addEventListener("change", this.repaint);
    this.resize = () => this.stage?.fit();
    document.addEventListener("fullscreenchange", this.resize);
    window.addEventListener("resize", this.resize);
    this.print = ({ type }) => this.root.classList.toggle("tt-whole", type === "beforeprint");
    for (const when of ["beforeprint", "afterprint"]) window.addEventListener(when, this.print);
    this.address = () => followAddress(this);
    if (model.get("_saved")) window.addEventListener("hashchange", this.address);
    document.addEventListener("click", followLink, true);
    if (model.get("_saved")) this.address();
    this.load();
  }
  destroy() {
    document.removeEventListener("fullscreenchange", this.resize);
    window.removeEventListener("resize", this.resize);
    window.removeEventListener("hashchange", this.address);
    for (const when of ["beforeprint", "afterprint"]) window.removeEventListener(when, this.print);
    this.pause();
    if (!--this.unsaved.views) clearTimeout(this.unsaved.timer);
    this.sizes.disconnect();
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.repaint);
    for (const [name, listener] of Object.entries(this.listeners)) this.model.off(name, listener);
  }
  // A trace that arrives while another is read replaces it.
  async load() {
    this.pause();
    const texts = [this.model.get("_data"), this.model.get("_other")].filter(Boolean);
    this.loading = texts;
    try {
      const traces = await Promise.all(texts.map(open));
      if (this.loading !== texts) return;
      traces[0].wanted = JSON.parse(this.model.get("_wanted") || "{}");
      if (!this.root.isConnected) this.el.replaceChildren(this.root);
      const actions = {
        choose: (choice, run) => this.jump(choice, run),
        open: (panel) => this.set({ panel })
      };
      this.stage = new Stage(this.root, traces, actions, this.model.get("panels") ?? null);
      this.textSize();
      this.stage.look(this.model.get("panel") ?? "");
      this.choose();
      this.sizes.disconnect();
      this.sizes.observe(this.root);
    } catch (error) {
      if (this.loading !== texts) return;
      this.stage = null;
      if (!(error instanceof Unreadable)) console.error(error);
      const message = error instanceof Unreadable ? error.message : BROKEN;
      const says2 = this.model.get("_saved") ? message.replace("run the cell again", "save the page again") : message;
      this.el.replaceChildren(html("p", { class: "tt-unreadable", role: "alert" }, says2));
    }
  }
  choose() {
    const { model, stage } = this;
    if (!stage) return;
    const { trace } = stage;
    const thread = Math.min(trace.threads - 1, trace.threadNumber(model.get("thread")));
    stage.choose(trace.blockNumber(model.get("block")), thread, model.get("match") ?? "");
    if (model.get("step") > this.last) this.set({ step: this.last });
    stage.draw(this.step);
    stage.fit();
  }
  look() {
    const { stage } = this;
    if (!stage) return;
    stage.look(this.model.get("panel") ?? "");
    stage.draw(this.step);
    stage.fit();
  }
  textSize() {
    const size = Math.min(3, Math.max(0.5, this.model.get("text_size") ?? 1));
    this.root.style.setProperty("--tt-size", String(size));
    const nearest = SIZES.reduce((best, s, i) => Math.abs(s - size) < Math.abs(SIZES[best] - size) ? i : best, 0);
    part(this.root, "text").value = String(nearest);
    this.stage?.fit();
  }
  /** The contents of the page for a run: the first, or the one beside it. */
  state(run = 0) {
    return { step: this.step, last: this.last, ...this.stage?.state(run) };
  }
  get last() {
    return this.stage?.last ?? 0;
  }
  get step() {
    return Math.min(this.model.get("step"), this.last);
  }
  buttons() {
    const find = (name) => part(this.root, name);
    const on = (name, image, action) => {
      const button = find(name);
      if (image) button.append(icon(image));
      button.setAttribute("aria-label", button.title);
      button.addEventListener("click", action);
    };
    on("start", "start", () => this.go(0));
    on("back", "back", () => this.move(-1));
    on("play", "play", () => this.toggle());
    on("forward", "forward", () => this.move(1));
    on("next", "barrier", () => this.goBy("barrier", 1));
    on("end", "end", () => this.go(this.last));
    on("fault", "fault", () => this.finding(1));
    on("help", null, () => this.help());
    on("full", null, () => this.fullScreen());
    on("link", "link", () => this.copyLink());
    on("picture", "picture", () => this.saving.toggle());
    find("link").hidden = !this.model.get("_saved");
    find("full").hidden = !document.fullscreenEnabled;
    const follow = (name, type, action) => {
      const input = (
        /** @type {HTMLInputElement | HTMLSelectElement} */
        find(name)
      );
      input.addEventListener(type, () => action(Number(input.value)));
    };
    const options = (name, texts) => find(name).append(...texts.map((text2, value) => html("option", { value }, text2)));
    follow("scrub", "input", (step) => this.go(step));
    follow("block", "change", (number) => this.stage && this.set({ block: this.stage.trace.blocks[number].at }));
    follow("thread", "change", (number) => this.stage && this.set({ thread: this.stage.trace.threadPosition(number) }));
    find("match").addEventListener("change", () => this.matchBy(
      /** @type {HTMLSelectElement} */
      find("match").value
    ));
    follow("speed", "change", (number) => this.setSpeed(number));
    follow("unit", "change", (number) => this.setUnit(number));
    follow("text", "change", (number) => this.set({ text_size: SIZES[number] }));
    options("speed", SPEEDS.map((s) => `${s}/s`));
    options("unit", UNITS);
    options("text", SIZES.map((s) => `${100 * s} %`));
    this.setSpeed(this.speed);
    find("key-list").append(listOfKeys());
  }
  /** @param {number} number */
  setSpeed(number) {
    this.speed = Math.min(SPEEDS.length - 1, Math.max(0, number));
    part(this.root, "speed").value = String(this.speed);
  }
  /** Match the two runs by something else; the first one stays where it is. @param {string} match */
  matchBy(match) {
    const { position } = (
      /** @type {Stage} */
      this.stage.machine
    );
    this.set({ match });
    this.jump({ step: position }, 0);
  }
  /**
   * Go to a block, a thread or a step of a run.
   * @param {import("./panel.js").Choice} choice
   * @param {number} run
   */
  jump({ step, ...who2 }, run) {
    const { stage } = this;
    if (!stage) return;
    if (who2.block || who2.thread) this.set({ ...stage.ofFirst(run, who2) });
    if (step !== void 0) this.set({ step: stage.alignment.step(run, step) });
  }
  /** @param {number} number */
  setUnit(number) {
    this.unit = number % UNITS.length;
    part(this.root, "unit").value = String(this.unit);
    const name = this.unit ? UNITS[this.unit] : "step";
    for (const [button, text2] of [["back", `One ${name} back (←)`], ["forward", `One ${name} (→)`]]) {
      part(this.root, button).title = text2;
      part(this.root, button).setAttribute("aria-label", text2);
    }
  }
  /**
   * Keep every key press inside: the notebook would use it as a shortcut (two d's delete the cell).
   * @param {KeyboardEvent} event
   */
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || !this.stage) return;
    const target = (
      /** @type {HTMLElement} */
      event.target
    );
    if (event.key === "Escape") {
      if (!part(this.root, "keys").hidden) return this.help();
      if (this.saving.open) return this.saving.toggle();
      if (this.stage.views.some((view) => view.close?.())) return;
      return target.blur();
    }
    const presses = event.key === " " || event.key === "Enter";
    if (/SELECT|INPUT/.test(target.tagName) && target.closest(".tt-saving")) return;
    if (target.tagName === "SELECT" || target.tagName === "BUTTON" && presses) return;
    const { shiftKey: shift } = event;
    const tab = target.getAttribute("role") === "tab";
    const arrow = (way) => tab ? this.view(way, true) : shift ? this.goBy("barrier", way) : this.move(way);
    const actions = {
      " ": () => this.toggle(),
      ArrowRight: () => arrow(1),
      ArrowLeft: () => arrow(-1),
      PageDown: () => this.goBy("barrier", 1),
      PageUp: () => this.goBy("barrier", -1),
      n: () => this.goBy("barrier", 1),
      p: () => this.goBy("barrier", -1),
      ".": () => this.goBy("phase", 1),
      ",": () => this.goBy("phase", -1),
      l: () => this.goBy("iteration", 1),
      L: () => this.goBy("iteration", -1),
      e: () => this.finding(1),
      E: () => this.finding(-1),
      Home: () => this.go(0),
      End: () => this.go(this.last),
      u: () => this.setUnit(this.unit + 1),
      "+": () => this.setSpeed(this.speed + 1),
      "-": () => this.setSpeed(this.speed - 1),
      t: () => this.cycleThread(1),
      T: () => this.cycleThread(-1),
      b: () => this.cycleBlock(1),
      B: () => this.cycleBlock(-1),
      v: () => this.view(1),
      V: () => this.view(-1),
      "[": () => this.scale(-1),
      "]": () => this.scale(1),
      f: () => this.fullScreen(),
      "?": () => this.help()
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }
  /** @param {number} way */
  cycleThread(way) {
    if (!this.stage) return;
    const { machine, trace } = this.stage;
    this.set({ thread: trace.threadPosition((machine.thread + way + trace.threads) % trace.threads) });
  }
  /** @param {number} way */
  cycleBlock(way) {
    if (!this.stage) return;
    const { machine, trace } = this.stage;
    const n = trace.blocks.length;
    this.set({ block: trace.blocks[(machine.blockNumber + way + n) % n].at });
  }
  /**
   * @param {number} way
   * @param {boolean} [focus]
   */
  view(way, focus = false) {
    if (!this.stage) return;
    const { names, lens } = this.stage;
    if (!names.length) return;
    const panel = names[(names.indexOf(lens) + way + names.length) % names.length];
    this.set({ panel });
    if (focus) part(this.root, `tab-${panel}`).focus();
  }
  /** @param {number} way */
  scale(way) {
    const number = Number(
      /** @type {HTMLSelectElement} */
      part(this.root, "text").value
    ) + way;
    if (SIZES[number]) this.set({ text_size: SIZES[number] });
  }
  help() {
    const list = part(this.root, "keys");
    list.hidden = !list.hidden;
    if (!list.hidden) this.stage?.explain();
    part(this.root, "help").setAttribute("aria-expanded", String(!list.hidden));
  }
  /** Put this step into the page's address, and copy the address. */
  async copyLink() {
    if (!this.stage) return;
    const { machine, trace } = this.stage;
    const number = this.model.get("_saved");
    const position = (place) => place.slice(0, trace.dims).join();
    const asked2 = [
      ["step", this.step],
      ["block", position(machine.block.at)],
      ["thread", position(trace.threadPosition(machine.thread))],
      ["panel", this.stage.lens],
      ...this.stage.match === "statement" ? [] : [["match", this.stage.match]],
      ...number > 1 ? [["stepper", number]] : []
    ];
    history.replaceState(history.state, "", `#${asked2.map((pair) => pair.join("=")).join("&")}`);
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    const says2 = copied ? "The link is copied" : "The link is in the address bar";
    this.offerLink(says2, "done");
  }
  /**
   * @param {string} says
   * @param {"link" | "done"} image
   */
  offerLink(says2, image) {
    const button = part(this.root, "link");
    button.replaceChildren(icon(image));
    button.title = says2;
    button.setAttribute("aria-label", says2);
  }
  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.fullscreenEnabled) this.root.requestFullscreen();
  }
  /**
   * Go to the next or previous finding: first in this block, in the order of its steps, then in the other blocks.
   * @param {number} way
   */
  finding(way) {
    if (!this.stage) return;
    const { stage } = this;
    const { places } = stage;
    if (way < 0) places.reverse();
    const here = stage.order({ block: stage.machine.block.at });
    const place = places.find((p) => way * (stage.order(p) - here || p.step - this.step) > 0) ?? places[0];
    if (!place) return;
    this.set({ block: place.block, thread: place.thread });
    this.set({ step: stage.alignment.step(place.run, place.position) });
  }
  /** @param {number} way */
  move(way) {
    this.goBy(UNITS[this.unit], way);
  }
  /**
   * @param {string} unit
   * @param {number} way
   */
  goBy(unit, way) {
    if (unit === "statement") return this.go(this.step + way);
    const stops = (this.stage?.runs ?? []).map(({ context: { machine } }, run) => {
      const stop = unit === "barrier" ? machine.barrierFrom(way) : unit === "phase" ? machine.phaseFrom(way) : machine.turnFrom(way);
      return this.stage?.alignment.step(run, stop) ?? stop;
    });
    const beyond = stops.filter((stop) => way * (stop - this.step) > 0);
    if (!beyond.length) return this.go(way > 0 ? this.last : 0);
    this.go(way > 0 ? Math.min(...beyond) : Math.max(...beyond));
  }
  /** @param {number} step */
  go(step) {
    part(this.root, "say").setAttribute("aria-live", this.timer === null ? "polite" : "off");
    this.set({ step: Math.min(this.last, Math.max(0, step)) });
  }
  /**
   * The views follow the model at once; the kernel gets the values when they have not changed for a while.
   * @param {Record<string, unknown>} values
   */
  set(values) {
    const { model, unsaved } = this;
    Object.assign(unsaved.values, values);
    if (part(this.root, "link").title !== LINK) this.offerLink(LINK, "link");
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    clearTimeout(unsaved.timer);
    unsaved.timer = setTimeout(() => {
      unsaved.values = {};
      model.save_changes();
    }, SAVE_AFTER);
  }
  /**
   * An echo of the kernel is older than the reader's later choices, so it is ignored if there are any.
   * @param {string} name
   * @param {() => void} show
   */
  changed(name, show) {
    const mine = this.unsaved.values[name];
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
      this.move(1);
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

// index.js
var index_default = {
  /** @param {{model: import("./player.js").Model, el: HTMLElement}} place */
  render({ model, el }) {
    const player = new Player(model, el);
    const bringBack = replaceStill(model, el);
    return () => {
      bringBack();
      player.destroy();
    };
  }
};
export {
  index_default as default
};
