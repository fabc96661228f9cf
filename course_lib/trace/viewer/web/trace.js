// The trace of a launch, decoded, with the sizes and names derived from it.
// `course_lib/trace/viewer/payload.py` writes it and describes the format.

import { inflate } from "./dom.js";

/** @typedef {number | string | null} Value  null if nothing was stored; a string if no JavaScript number equals it */
/** @typedef {[number, number, number]} Position  of a block or a thread: x, y, z */
/** @typedef {"global" | "shared" | "local"} Space */
/**
 * @typedef {object} TraceArray
 * @property {string} name
 * @property {Space} space
 * @property {string} dtype
 * @property {number} itemsize  bytes
 * @property {number[]} shape
 * @property {number[]} strides  in elements
 * @property {"A" | "B" | "C" | null} role  in C = A·B
 * @property {[number, number] | null} tile  rows and columns that a block touches between two barriers
 * @property {number} initial  the vector of its contents before the launch, or -1
 * @property {number} size
 * @property {string} hue  a colour of the palette
 */
/**
 * @typedef {object} Finding
 * @property {string} kind
 * @property {"error" | "warning"} severity
 * @property {number} line
 * @property {number | null} other_line
 * @property {string | null} array
 * @property {number[] | null} index
 * @property {string} message
 * @property {number} count
 * @property {string} counted  the same with its unit
 * @property {{block: number, step: number, thread: number}[]} at  the access that broke the rule, then the one before
 */
/**
 * @typedef {object} Traffic  of the whole launch on one line
 * @property {number} line
 * @property {string} array
 * @property {Space} space
 * @property {"load" | "store" | "atomic"} op
 * @property {number} accesses
 * @property {number} requests
 * @property {number} sectors
 * @property {number} wavefronts
 * @property {number} bank_conflicts
 */
/**
 * @typedef {object} MatrixOperation  on matrices in the registers of a warp, in the statement that begins on a line
 * @property {number} line
 * @property {string} name
 * @property {{name: string, rows: number, columns: number, held: number[][]}[]} fragments  for each matrix and each lane
 *   the elements that it holds, row-major, in the order of the lane's values
 * @property {{name: string, rows: number, columns: number, first: number[]}[]} pieces  of matrices that are read from
 *   shared memory: for each piece of 16 bytes, in the order of reading, its first element
 */
/**
 * @typedef {object} Statement  as `course_lib/trace/data_flow.py` reads it from the source; names are of variables
 * @property {string[]} carried  read, and only copied; a name for each time
 * @property {string[]} used  read for arithmetic
 * @property {boolean} loads  whether what it loads from arrays is copied
 * @property {boolean} computes  whether that is used
 * @property {string[]} into  assigned what is copied
 * @property {{name: string, from: string[], loads: boolean}[]} given  parameters of device functions that it calls
 * @property {number} products  that it adds to what it assigns
 */
/**
 * @typedef {object} Exchange  a shuffle or a vote of a warp
 * @property {string} operation  of cuda
 * @property {number[]} lanes  that take part
 * @property {(k: number) => Value} given  by the k-th of them
 * @property {((k: number) => number) | null} source  the lane from which the k-th takes, or 32 less if that one gives
 *   nothing; null for a vote
 * @property {(k: number) => Value} result  what the k-th gets
 */
/** @typedef {ArrayLike<number> | ArrayLike<string>} Vector  of length 1 where all lanes have the same */
/** @typedef {Int8Array | Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array} Column */

export const VERSION = 4;
// The sizes of the hardware, as in course_lib/simulator/hardware.py; a test compares them.
export const WARP = 32;
export const SECTOR_BYTES = 32;
export const BANKS = 32;
export const WORD_BYTES = 4;

export const BARRIER = 1;
export const ITERATION = 2;
export const RESUMED = 4;
export const OPS = /** @type {const} */ (["load", "store", "atomic", "result"]);
export const [LOAD, STORE, ATOMIC, RESULT] = [0, 1, 2, 3];

const TYPES = {
  i1: Int8Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};
const HUES = { A: "var(--tt-a)", B: "var(--tt-b)", C: "var(--tt-c)" };
const SPACE_HUES = { shared: "var(--tt-shared)", local: "var(--tt-register)", global: "var(--tt-other)" };

// Messages to the reader; on a saved page, the advice is to save it again.
const NEWER = "This trace is of a newer version of the course; update and run the cell again.";
const OLDER = "This trace is of an older version of the course; run the cell again.";
export const BROKEN = "This trace can't be read; run the cell again.";

/** The error whose message is shown in place of a picture. */
export class Unreadable extends Error {}

/** Read a payload; throws Unreadable if it has another version or is not a trace. @param {string} text */
export async function open(text) {
  try {
    const sent = JSON.parse(text);
    if (sent.version > VERSION) throw new Unreadable(NEWER);
    if (sent.version < VERSION) throw new Unreadable(OLDER);
    if (sent.version !== VERSION) throw new Unreadable(BROKEN);
    return new Trace(sent, columns(sent.columns, await inflate(sent.packed).arrayBuffer()));
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(BROKEN);
  }
}

/**
 * The columns are stored one after another; of each, the first bytes of all its numbers, then the second bytes, and so on.
 * @param {[string, keyof typeof TYPES, number][]} named
 * @param {ArrayBuffer} buffer
 */
function columns(named, buffer) {
  let from = 0;
  /** @type {Record<string, Column>} */
  const found = {};
  for (const [name, type, count] of named) {
    const column = new TYPES[type](count);
    const [bytes, size] = [new Uint8Array(column.buffer), column.BYTES_PER_ELEMENT];
    const sent = new Uint8Array(buffer, from, bytes.length);
    for (let byte = 0, at = 0; byte < size; byte++)
      for (let i = byte; i < bytes.length; i += size) bytes[i] = sent[at++];
    found[name] = column;
    from += bytes.length;
  }
  return found;
}

/** The lanes whose bit is set, in ascending order. @param {number} mask */
export function lanesOf(mask) {
  const lanes = [];
  for (let lane = 0; lane < WARP; lane++) if ((mask >>> lane) & 1) lanes.push(lane);
  return lanes;
}

/** @param {number} mask */
export function popcount(mask) {
  let n = 0;
  for (let rest = mask >>> 0; rest; rest &= rest - 1) n++;
  return n;
}

/** An access of one array by one statement of one warp. */
export class Access {
  /** @param {Trace} trace @param {number} row @param {number} warp */
  constructor(trace, row, warp) {
    const { columns } = trace;
    this.op = columns.access_op[row];
    this.loading = this.op === LOAD;
    this.array = columns.access_array[row];
    this.warp = warp;
    this.mask = columns.access_lanes[row];
    this.lanes = lanesOf(this.mask);
    this.width = columns.access_width[row];
    this.sectors = columns.access_sectors[row];
    this.wavefronts = columns.access_wavefronts[row];
    this.conflicts = columns.access_conflicts[row];
    this.base = columns.access_base[row];
    this.pattern = /** @type {ArrayLike<number>} */ (trace.vector(columns.access_pattern[row]));
    // of a load only if they are new to the block, because another one stored them
    this.values = columns.access_values[row] < 0 ? null : trace.vector(columns.access_values[row]);
    // what an atomic did, null of any other access
    this.update = this.op === ATOMIC ? trace.update(row, this.lanes.length) : null;
  }

  /** The first element of the k-th lane that takes part. @param {number} k */
  element(k) {
    return this.base + (this.pattern.length === 1 ? this.pattern[0] : this.pattern[k]);
  }

  /**
   * What the k-th lane stored in its w-th element, or found there if that is new to the block.
   * @param {number} k
   * @param {number} w
   * @returns {Value}
   */
  stored(k, w) {
    return this.values ? this.values[this.values.length === this.width ? w : k * this.width + w] : null;
  }
}

/**
 * @typedef {object} Test  a condition that some threads of a warp evaluated
 * @property {string} text
 * @property {string[]} parts  left, comparison, right; empty unless it is one plain comparison
 * @property {number} mask  of the lanes that evaluated it
 * @property {number} truth  of those for which it held
 * @property {(lane: number) => [Value, Value] | null} sides  the values of both sides
 */

/** The statements of one block, in the order in which its warps executed them; the i-th leads to position i + 1. */
export class Block {
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

  /** Where a step is in the columns. @param {number} i */
  row(i) {
    return this.first + i;
  }

  /** @param {number} i @returns {number} */
  line(i) {
    return this.trace.columns.step_line[this.row(i)];
  }

  /** @param {number} i @returns {number} */
  warp(i) {
    return this.trace.columns.step_warp[this.row(i)];
  }

  /** The frame of the animation to which a step belongs. @param {number} i @returns {number} */
  frame(i) {
    return this.trace.columns.step_frame[this.row(i)];
  }

  /** The active lanes of the warp, a bit each. @param {number} i @returns {number} */
  mask(i) {
    return this.trace.columns.step_lanes[this.row(i)];
  }

  /** @param {number} i @param {number} flag  BARRIER, ITERATION or RESUMED */
  has(i, flag) {
    return Boolean(this.trace.columns.step_flags[this.row(i)] & flag);
  }

  /** @param {number} i @param {number} thread */
  runs(i, thread) {
    return this.warp(i) === thread >> 5 && Boolean((this.mask(i) >>> (thread & 31)) & 1);
  }

  /**
   * Rows of the columns "access", "variable", "test", "outside" or "exchange" that belong to a step.
   * @param {keyof Trace["starts"]} what
   * @param {number} i
   * @returns {[number, number]}
   */
  rows(what, i) {
    const starts = this.trace.starts[what];
    if (!starts) return [0, 0]; // most launches have no exchanges
    const row = this.row(i);
    return [starts[row], starts[row + 1]];
  }

  /** @param {number} i */
  accesses(i) {
    const [from, to] = this.rows("access", i);
    return Array.from({ length: to - from }, (_, k) => new Access(this.trace, from + k, this.warp(i)));
  }

  /** The accesses out of bounds, which were not performed. @param {number} i */
  outside(i) {
    const { columns, arrays } = this.trace;
    const [from, to] = this.rows("outside", i);
    const found = /** @type {{array: number, loading: boolean, thread: number, index: number[]}[]} */ ([]);
    for (let row = from; row < to; row++) {
      const array = columns.outside_array[row];
      const dims = arrays[array].shape.length;
      const numbers = /** @type {ArrayLike<number>} */ (this.trace.vector(columns.outside_index[row]));
      lanesOf(columns.outside_lanes[row]).forEach((lane, k) => {
        const start = numbers.length === dims ? 0 : k * dims;
        const index = Array.from({ length: dims }, (_, d) => (numbers.length === 1 ? numbers[0] : numbers[start + d]));
        found.push({ array, loading: columns.outside_op[row] === LOAD, thread: WARP * this.warp(i) + lane, index });
      });
    }
    return found;
  }

  /** @param {number} i @returns {Exchange[]} */
  exchanges(i) {
    const { columns, operations } = this.trace;
    const [from, to] = this.rows("exchange", i);
    return Array.from({ length: to - from }, (_, k) => {
      const row = from + k;
      const [given, source, result] = ["given", "source", "result"].map((part) => {
        const number = columns[`exchange_${part}`][row];
        return (/** @type {number} */ lane) => at(this.trace.vector(number), lane);
      });
      const isShuffle = columns.exchange_source[row] >= 0;
      return {
        operation: operations[columns.exchange_operation[row]],
        lanes: lanesOf(columns.exchange_lanes[row]),
        given,
        source: isShuffle ? (/** @type {number} */ lane) => Number(source(lane)) : null,
        result,
      };
    });
  }

  /** @param {number} i @returns {Test[]} */
  tests(i) {
    const { trace } = this;
    const { columns } = trace;
    const [from, to] = this.rows("test", i);
    return Array.from({ length: to - from }, (_, k) => {
      const row = from + k;
      const [text, parts] = trace.tests[columns.test_text[row]];
      const mask = columns.test_lanes[row];
      const [left, right] = [columns.test_left[row], columns.test_right[row]];
      /** @type {Test["sides"]} */
      const sides = (lane) => {
        if (left < 0 || right < 0) return null;
        const k = popcount(mask & ((1 << lane) - 1));
        return [at(trace.vector(left), k), at(trace.vector(right), k)];
      };
      return { text, parts: parts ?? [], mask, truth: columns.test_truth[row], sides };
    });
  }
}

/** @param {Vector} vector @param {number} lane @returns {Value} */
export function at(vector, lane) {
  return vector.length === 1 ? vector[0] : vector[lane];
}

/** The nearest position inside a grid or a block. @param {readonly number[]} position @param {Position} shape */
const within = (position, shape) => shape.map((extent, i) => Math.min(position[i], extent - 1));

/** How many directions a grid or a block has. @param {Position} shape */
function dimensionsOf([, y, z]) {
  if (z > 1) return 3;
  return y > 1 ? 2 : 1;
}

export class Trace {
  /** @param {any} sent @param {Record<string, Column>} columns */
  constructor(sent, columns) {
    this.columns = columns;
    const { step_access, step_variable, step_test, step_outside, step_exchange } = columns;
    this.starts = {
      access: step_access,
      variable: step_variable,
      test: step_test,
      outside: step_outside,
      exchange: step_exchange,
    };
    /** @type {string} */
    this.kernel = sent.kernel;
    this.name = this.kernel; // beside another run of the same kernel, with a number
    /** @type {Position} */
    this.grid = sent.grid;
    /** @type {Position} */
    this.block = sent.block;
    /** @type {[number, string, number][]}  line, text, line of the innermost loop around it or 0 */
    this.source = sent.source;
    /** @type {Map<number, number>}  header of a loop -> header of the loop around it */
    this.loops = new Map(sent.loops);
    /** @type {string[]} */
    this.names = sent.names;
    /** @type {string[]}  of atomics */
    this.operations = sent.operations;
    /** @type {string[]} */
    this.accumulators = sent.accumulators;
    /** @type {string[]} */
    this.texts = sent.texts;
    /** @type {[string, string[] | null][]} */
    this.tests = sent.tests;
    /** @type {Finding[]} */
    this.findings = sent.findings;
    /** @type {Traffic[]} */
    this.traffic = sent.traffic;
    /** @type {TraceArray[]} */
    this.arrays = sent.arrays;
    /** @type {MatrixOperation[]}  traces of before the first such view have none */
    this.matrices = sent.matrices ?? [];
    /** @type {Map<number, Statement>}  by their first lines, what statements do with the numbers that they read */
    this.statements = new Map((sent.statements ?? []).map((/** @type {any} */ each) => [each.line, each]));
    /** @type {number}  blocks of the launch that were not sent */
    this.omitted = sent.omitted ?? 0;
    /** @type {Record<string, Record<string, [string, string]>>}  array, element: what it holds in the end, and should */
    this.wanted = {};
    /** @type {import("./strips.js").Order[]}  other orders of the first block's steps */
    this.orders = [];
    this.threads = this.block[0] * this.block[1] * this.block[2];
    this.warps = Math.ceil(this.threads / WARP);
    this.dims = Math.max(dimensionsOf(this.grid), dimensionsOf(this.block));
    for (const array of this.arrays) {
      array.size = array.shape.reduce((a, b) => a * b, 1);
      array.hue = array.role ? HUES[array.role] : SPACE_HUES[array.space];
    }
    /** @type {Vector[]} */
    this.vectors = new Array(columns.vector_kind.length);
    this.pools = [columns.ints, columns.floats, columns.doubles, this.texts];
    /** @type {Block[]} */
    this.blocks = sent.blocks.map((/** @type {any} */ block) => new Block(this, block));
    const steps = columns.step_line.length;
    if (!this.blocks.length || this.blocks.some(({ first, length }) => !(length > 0 && first + length <= steps))) {
      throw new RangeError("no steps");
    }
    if (this.blocks.length + this.omitted !== this.grid.reduce((a, b) => a * b, 1))
      throw new RangeError("another grid");
    this.owner = this.arrays.findIndex((array) => array.name === sent.owner && array.space === "global");
    this.owned = this.findOwners();
  }

  /** @param {number} number @returns {Vector} */
  vector(number) {
    const known = this.vectors[number];
    if (known) return known;
    const { vector_kind: kind, vector_start: start, vector_length: length } = this.columns;
    const [from, to] = [start[number], start[number] + length[number]];
    const pool = this.pools[kind[number]];
    return (this.vectors[number] = Array.isArray(pool) ? pool.slice(from, to) : pool.subarray(from, to));
  }

  /** What an atomic did: its operation, what the k-th lane found, and its operands. @param {number} row @param {number} lanes */
  update(row, lanes) {
    const { access_old, access_given, access_operation } = this.columns;
    const [old, given] = [this.vector(access_old[row]), this.vector(access_given[row])];
    const each = given.length / lanes;
    return {
      operation: this.operations[access_operation[row]],
      old: (/** @type {number} */ k) => at(old, k),
      given: (/** @type {number} */ k) => Array.from({ length: each }, (_, i) => given[k * each + i]),
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

  /** The header lines of the loops around a line, from the inside out. @param {number} line */
  loopsAround(line) {
    /** @type {number[]} */
    const headers = [];
    let header = this.source.find(([number]) => number === line)?.[2] ?? 0;
    while (header && !headers.includes(header)) {
      headers.push(header);
      header = this.loops.get(header) ?? 0;
    }
    return headers;
  }

  /** The contents of an array before the block starts. @param {TraceArray} array @returns {Value[]} */
  initial(array) {
    if (array.initial < 0) {
      return new Array(array.space === "local" ? array.size * this.threads : array.size).fill(null);
    }
    const vector = this.vector(array.initial);
    return vector.length === array.size
      ? Array.from(/** @type {ArrayLike<Value>} */ (vector))
      : new Array(array.size).fill(vector[0]);
  }

  /**
   * The number of a block; of one that the launch does not have, the nearest, or else the first.
   * @param {readonly number[]} position
   */
  blockNumber(position) {
    const there = within(position, this.grid);
    return Math.max(
      0,
      this.blocks.findIndex((b) => b.at.every((x, i) => x === there[i])),
    );
  }

  /** The number of a thread; of one that the block does not have, the nearest. @param {readonly number[]} position */
  threadNumber(position) {
    const [x, y, z] = within(position, this.block);
    return x + this.block[0] * (y + this.block[1] * z);
  }

  /** @param {number} number @returns {Position} */
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

  /** The index of an element, one number per dimension. @param {TraceArray} array @param {number} flat */
  index(array, flat) {
    const index = [];
    for (const extent of [...array.shape].reverse()) {
      index.unshift(flat % extent);
      flat = Math.floor(flat / extent);
    }
    return index;
  }

  /** The element as the kernel writes it. @param {TraceArray} array @param {number} flat */
  element(array, flat) {
    return `${array.name}[${this.index(array, flat).join(", ") || "()"}]`;
  }

  /** Neighbouring elements of a row. @param {TraceArray} array @param {number} flat @param {number} width */
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
}
