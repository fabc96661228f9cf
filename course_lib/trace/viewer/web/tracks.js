// When a block's loads from global memory are under way and when it multiplies, as bars over its steps, or over the
// cycles of another order. No page is needed.
//
// Where a block copies pairs of tiles to shared memory, there is a bar for each pair. Its loads are under way from the
// first statement that loads it to the barrier after which all threads may read it; it is multiplied from the first to
// the last multiply-add with it. Another load is under way up to the statement that first uses its value; where that is
// its own statement, a multiply-add, each has half of it.

import { BlockAnimation } from "./animation.js";
import { layout } from "./grid.js";
import { firstUsesOf } from "./strips.js";
import { LOAD } from "./trace.js";

/** @typedef {{from: number, to: number, pair: number | null, buffer: number}} Bar  over steps or cycles; the pair of tiles, and its buffer */
/** @typedef {{loads: Bar[], multiplies: Bar[], end: number, at: (position: number) => number}} Tracks */
/**
 * @typedef {object} Tile  that is copied to a buffer of a shared array
 * @property {number} array
 * @property {number} pair  its number among those of the array
 * @property {number} buffer
 * @property {number} interval  between barriers, in which it is first stored
 * @property {number} load  the first step that loads it, -1 without any
 * @property {number} first  the first step that stores it
 * @property {number} last  the last step that stores it
 * @property {boolean} read
 */

/** @param {import("./trace.js").Block} block @param {ArrayLike<number> | null} [cycles]  at which each step ends, in another order */
export function tracksOf(block, cycles = null) {
  const clock = clockOf(block, cycles);
  const { tiles, direct, multiplied } = copiesOf(block);
  /** @type {Map<number, Bar>} */
  const loads = new Map();
  for (const { pair, buffer, load, last } of tiles) {
    if (load < 0) continue;
    const release = block.releases.find((position) => position > last) ?? last + 1;
    widen(loads, pair, buffer, clock.start(load), clock.reached(release));
  }
  /** @type {Map<number, Bar>} */
  const multiplies = new Map();
  // of loads and of multiply-adds for no tile
  const otherLoads = /** @type {Bar[]} */ ([]);
  const otherMultiplies = /** @type {Bar[]} */ ([]);
  const half = (/** @type {number} */ i) => (clock.start(i) + clock.end(i)) / 2;
  for (const [i, tile] of multiplied) {
    if (tile) widen(multiplies, tile.pair, tile.buffer, clock.start(i), clock.end(i));
    else {
      const from = direct.get(i) === i ? half(i) : clock.start(i);
      otherMultiplies.push({ from, to: clock.end(i), pair: null, buffer: 0 });
    }
  }
  for (const [i, use] of direct) {
    let to = Math.max(clock.end(i), clock.start(use));
    if (use === i) to = multiplied.has(i) ? half(i) : clock.end(i);
    otherLoads.push({ from: clock.start(i), to, pair: null, buffer: 0 });
  }
  const all = (/** @type {Map<number, Bar>} */ of, /** @type {Bar[]} */ others) =>
    [...of.values(), ...joined(others)].sort((x, y) => x.from - y.from || x.to - y.to);
  const end = clock.reached(block.length);
  return { loads: all(loads, otherLoads), multiplies: all(multiplies, otherMultiplies), end, at: clock.at };
}

/**
 * How many pairs of tiles are multiplied while loads of another pair are under way, and how many are multiplied.
 * @param {Tracks} tracks
 */
export function overlappedPairs({ loads, multiplies }) {
  const done = multiplies.filter(({ pair }) => pair !== null);
  const ofPairs = loads.filter(({ pair }) => pair !== null);
  const overlapped = done.filter(({ from, to, pair }) =>
    ofPairs.some((load) => load.pair !== pair && load.from < to && from < load.to),
  );
  return [overlapped.length, done.length];
}

/** @type {WeakMap<import("./trace.js").Block, ReturnType<typeof findCopies>>} */
const COPIES = new WeakMap();

/** What a block copies to shared memory, and what it multiplies. @param {import("./trace.js").Block} block */
export function copiesOf(block) {
  const found = COPIES.get(block) ?? findCopies(block);
  COPIES.set(block, found);
  return found;
}

/**
 * The tiles that a block copies, and the steps that load and store a value of them, where a register holds it meanwhile;
 * of each step that loads from global memory for no tile, the step that first uses its
 * value; and of each step that multiplies, the tile that its warp has read last.
 * @param {import("./trace.js").Block} block
 */
function findCopies(block) {
  const { multiplyAdds } = BlockAnimation.of(block);
  const buffers = new Buffers(block);
  /** @type {Map<number, Tile | null>} */
  const multiplied = new Map();
  for (let i = 0; i < block.length; i++) {
    buffers.follow(i);
    if (!multiplyAdds.has(i)) continue;
    const tile = buffers.readLast.get(block.warp(i)) ?? null;
    multiplied.set(i, buffers.loading.has(i) ? null : tile);
  }
  const { loading, storing, tiles } = buffers;
  const late = [...loading].some((i) => !storing.has(i) && !multiplyAdds.has(i)); // their values are used in later steps
  const uses = late ? new Map(firstUsesOf(block)) : new Map();
  /** @type {Map<number, number>} */
  const direct = new Map();
  /** @type {{load: number, store: number}[]} */
  const held = [];
  for (const i of loading) {
    const use = storing.has(i) ? i : (uses.get(i) ?? i);
    const tile = storing.get(use);
    if (!tile) {
      direct.set(i, use);
      continue;
    }
    tile.load = tile.load < 0 ? i : Math.min(tile.load, i);
    if (use !== i) held.push({ load: i, store: use });
  }
  return { tiles, held, direct, multiplied };
}

/** The buffers of a block's shared arrays, and the tiles that its warps store and read there, step by step. */
class Buffers {
  /** @param {import("./trace.js").Block} block */
  constructor(block) {
    const { trace } = block;
    this.block = block;
    /** Of each array, the elements of a buffer. */
    this.sizes = trace.arrays.map((array) => layout(array).each || 1);
    /** The number of an array's first buffer among those of all arrays. @type {number[]} */
    this.firsts = [];
    let count = 0;
    trace.arrays.forEach(({ size }, array) => {
      this.firsts.push(count);
      count += Math.ceil(size / this.sizes[array]);
    });
    /** @type {Tile[]} */
    this.tiles = [];
    /** @type {Tile[][]}  of each buffer */
    this.tilesIn = Array.from({ length: count }, () => []);
    /** @type {{tile: Tile, read: boolean}[][]}  of each warp and buffer, the tile that the warp stored last */
    this.stored = Array.from({ length: trace.warps }, () => []);
    this.pairs = trace.arrays.map(() => 0); // so far, of each array
    /** @type {Map<number, Tile>}  of each warp, the tile that it has read last */
    this.readLast = new Map();
    /** @type {Set<number>}  steps that load from global memory */
    this.loading = new Set();
    /** @type {Map<number, Tile>}  of each step that stores to shared memory, the tile */
    this.storing = new Map();
    this.hasBarriers = block.releases.length > 0; // then all warps have the same tiles between two of them
    this.interval = 0; // between barriers
  }

  /** Follow the accesses of a step. @param {number} i */
  follow(i) {
    const { block } = this;
    const { columns, arrays } = block.trace;
    while (block.releases[this.interval] <= i) this.interval++;
    const [from, to] = block.rows("access", i);
    for (let row = from; row < to; row++) {
      const array = columns.access_array[row];
      const { space } = arrays[array];
      const loads = columns.access_op[row] === LOAD;
      if (space === "global" && loads) this.loading.add(i);
      if (space !== "shared") continue;
      const first = columns.access_base[row] + Number(block.trace.vector(columns.access_pattern[row])[0]);
      const buffer = Math.floor(first / this.sizes[array]);
      if (loads) this.read(block.warp(i), array, buffer);
      else this.store(i, array, buffer);
    }
  }

  /** A warp reads what was stored before the last barrier, or else what it stored itself. @param {number} warp @param {number} array @param {number} buffer */
  read(warp, array, buffer) {
    const place = this.firsts[array] + buffer;
    const own = this.stored[warp][place];
    const all = this.tilesIn[place];
    let last = all.length - 1;
    while (last >= 0 && all[last].interval >= this.interval) last--;
    const tile = all[last] ?? own?.tile;
    if (own) own.read = true;
    if (!tile) return;
    tile.read = true;
    this.readLast.set(warp, tile);
  }

  /** A step stores to a tile: to one that is there, or to a new one. @param {number} i @param {number} array @param {number} buffer */
  store(i, array, buffer) {
    const place = this.firsts[array] + buffer;
    const warp = this.block.warp(i);
    const known = this.hasBarriers ? this.tileOfInterval(warp, place) : this.tileOfWarp(warp, place);
    const tile = known ?? {
      ...{ array, pair: this.pairs[array], buffer, interval: this.interval },
      ...{ load: -1, first: i, last: i, read: false },
    };
    if (!known) {
      this.pairs[array]++;
      this.tiles.push(tile);
      this.tilesIn[place].push(tile);
    }
    this.stored[warp][place] = { tile, read: false };
    tile.last = i;
    this.storing.set(i, tile);
  }

  /** The tile to which a warp stores, if it is there; without barriers, each warp has its own sequence of the same tiles. @param {number} warp @param {number} place @returns {Tile | undefined} */
  tileOfWarp(warp, place) {
    const all = this.tilesIn[place];
    const own = this.stored[warp][place];
    if (!own) return all[0];
    return own.read ? all[all.indexOf(own.tile) + 1] : own.tile;
  }

  /** The same with barriers: the warp's own tile until it is read, then one that another warp has begun. @param {number} warp @param {number} place @returns {Tile | undefined} */
  tileOfInterval(warp, place) {
    const last = this.tilesIn[place].at(-1);
    const own = this.stored[warp][place];
    const over = own && (own.read || (last?.read && own.tile.interval < this.interval));
    if (own && !over) return own.tile;
    if (!last || last === own?.tile) return undefined;
    return last.interval === this.interval || !last.read ? last : undefined;
  }
}

/**
 * When steps start and end: in their own order, or in cycles.
 * @param {import("./trace.js").Block} block
 * @param {ArrayLike<number> | null} cycles
 */
function clockOf(block, cycles) {
  if (!cycles) {
    const same = (/** @type {number} */ position) => position;
    return { start: same, end: (/** @type {number} */ i) => i + 1, reached: same, at: same };
  }
  /** @type {Map<number, number>} */
  const before = new Map(); // of each warp
  const starts = Array.from({ length: block.length }, (_, i) => {
    const start = before.get(block.warp(i)) ?? 0;
    before.set(block.warp(i), cycles[i]);
    return start;
  });
  let most = 0;
  const reached = [0, ...starts.map((_, i) => (most = Math.max(most, cycles[i])))];
  return {
    start: (/** @type {number} */ i) => starts[i],
    end: (/** @type {number} */ i) => cycles[i],
    reached: (/** @type {number} */ position) => reached[position],
    at: (/** @type {number} */ position) => (position ? cycles[position - 1] : 0),
  };
}

/** Let the bar of a pair reach over a time. @param {Map<number, Bar>} bars @param {number} pair @param {number} buffer @param {number} from @param {number} to */
function widen(bars, pair, buffer, from, to) {
  const bar = bars.get(pair);
  if (!bar) bars.set(pair, { from, to, pair, buffer });
  else Object.assign(bar, { from: Math.min(bar.from, from), to: Math.max(bar.to, to) });
}

/** Bars without gaps or overlaps between them are one. @param {Bar[]} bars */
function joined(bars) {
  /** @type {Bar[]} */
  const found = [];
  for (const bar of bars.sort((x, y) => x.from - y.from)) {
    const last = found[found.length - 1];
    if (last && bar.from <= last.to) last.to = Math.max(last.to, bar.to);
    else found.push({ ...bar });
  }
  return found;
}
