// The trace of a launch, decoded: what the browser was sent, and the sizes and names that follow from it.

/** @typedef {number | string | null} Value  null where nothing was stored; a string where JSON has no number for it */
/** @typedef {[number, number, number]} Position  of a block or a thread: x, y, z */
/**
 * @typedef {object} TraceArray
 * @property {string} name
 * @property {"global" | "shared" | "local"} space
 * @property {string} dtype
 * @property {number[]} shape
 * @property {"A" | "B" | "C" | null} role  in C = A·B
 * @property {[number, number] | null} tile  rows and columns that a block touches between two barriers
 * @property {number | null} initial  the vector of its contents before the launch
 * @property {number} size
 * @property {string} hue  a colour of the palette
 */
/**
 * @typedef {object} Access  what one statement did with one array
 * @property {boolean} loading
 * @property {number} array
 * @property {readonly number[]} threads
 * @property {number} base
 * @property {readonly number[]} elements  relative to the base
 * @property {readonly Value[] | null} values  that were stored
 * @property {number} lanes  how many threads take part
 */

const LOAD = 0;
const HUES = { A: "var(--tt-a)", B: "var(--tt-b)", C: "var(--tt-c)" };
const SPACE_HUES = { shared: "var(--tt-shared)", local: "var(--tt-register)", global: "var(--tt-other)" };

/**
 * A list whose entries are all equal was sent as its first entry.
 * @template T
 * @param {readonly T[]} vector
 * @param {number} lane
 */
export function at(vector, lane) {
  return vector.length === 1 ? vector[0] : vector[lane];
}

/** The statements of one block, in the order in which its warps executed them. */
export class Block {
  /**
   * @param {any} sent
   * @param {any[][]} vectors
   */
  constructor(sent, vectors) {
    /** @type {Position} */
    this.at = sent.at;
    this.steps = sent.steps;
    this.vectors = vectors;
    /** @type {number} */
    this.length = sent.steps.length;
    this.releases = this.findReleases();
  }

  /** @param {number} i */
  line(i) {
    return /** @type {number} */ (this.steps[i][0]);
  }

  /** @param {number} i */
  warp(i) {
    return /** @type {number} */ (this.steps[i][1]);
  }

  /** @param {number} i */
  threads(i) {
    return /** @type {number[]} */ (this.vectors[this.steps[i][2]]);
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
    return this.steps[i][4].map((/** @type {number[]} */ [op, array, lanes, base, pattern, stored]) => {
      const [threads, elements] = [vectors[lanes], vectors[pattern]];
      return {
        loading: op === LOAD,
        array,
        threads,
        base,
        elements,
        values: op === LOAD ? null : vectors[stored],
        lanes: Math.max(threads.length, elements.length),
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
    let waiting = new Set();
    let last = -1;
    for (let i = 0; i < this.length; i++) {
      if (waiting.has(this.warp(i))) {
        releases.push(last + 1);
        waiting = new Set();
      }
      if (this.barrier(i)) {
        waiting.add(this.warp(i));
        last = i;
      }
    }
    if (waiting.size) releases.push(last + 1);
    return releases;
  }
}

export class Trace {
  /** @param {string} text */
  constructor(text) {
    const sent = JSON.parse(text);
    /** @type {string} */
    this.kernel = sent.kernel;
    /** @type {Position} */
    this.grid = sent.grid;
    /** @type {Position} */
    this.block = sent.block;
    /** @type {[number, string][]} */
    this.source = sent.source;
    /** @type {string[]} */
    this.accumulators = sent.accumulators;
    /** @type {Value[][]} */
    this.vectors = sent.vectors;
    /** @type {TraceArray[]} */
    this.arrays = sent.arrays;
    this.threads = this.block[0] * this.block[1] * this.block[2];
    this.dims = Math.max(...[this.grid, this.block].map((d) => (d[2] > 1 ? 3 : d[1] > 1 ? 2 : 1)));
    for (const array of this.arrays) {
      array.size = array.shape.reduce((a, b) => a * b, 1);
      array.hue = array.role ? HUES[array.role] : SPACE_HUES[array.space];
    }
    /** @type {Block[]} */
    this.blocks = sent.blocks.map((/** @type {any} */ block) => new Block(block, sent.vectors));
    this.owners = this.findOwners();
  }

  /** Of an element of C, as "array:element", the block and the thread that store it. */
  findOwners() {
    /** @type {Map<string, [number, number]>} */
    const owners = new Map();
    this.blocks.forEach((block, number) => {
      for (let i = 0; i < block.length; i++) {
        for (const { loading, array, threads, base, elements, lanes } of block.accesses(i)) {
          if (loading || this.arrays[array].space !== "global") continue;
          for (let lane = 0; lane < lanes; lane++) {
            owners.set(`${array}:${base + at(elements, lane)}`, [number, at(threads, lane)]);
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
}
