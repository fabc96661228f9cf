// When a block's loads from global memory are under way and when it multiplies, as bars over its steps, or over the
// cycles of another order. No page is needed.
//
// Where a block copies pairs of tiles to shared memory, there is a bar for each pair. Its loads are under way from the
// first statement that loads it to the barrier after which all threads may read it; it is multiplied from the first to
// the last multiply-add with it. Another load is under way up to the statement that first uses its value; where that is
// its own statement, a multiply-add, each has half of it.

import { BlockAnimation } from "./animation.js";
import { layout } from "./grid.js";
import { usesOf } from "./strips.js";
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
  /** @type {[Bar[], Bar[]]} */
  const alone = [[], []];
  const half = (/** @type {number} */ i) => (clock.start(i) + clock.end(i)) / 2;
  for (const [i, tile] of multiplied) {
    if (tile) widen(multiplies, tile.pair, tile.buffer, clock.start(i), clock.end(i));
    else
      alone[1].push({ from: direct.get(i) === i ? half(i) : clock.start(i), to: clock.end(i), pair: null, buffer: 0 });
  }
  for (const [i, use] of direct) {
    const to = use === i ? (multiplied.has(i) ? half(i) : clock.end(i)) : Math.max(clock.end(i), clock.start(use));
    alone[0].push({ from: clock.start(i), to, pair: null, buffer: 0 });
  }
  const all = (/** @type {Map<number, Bar>} */ of, /** @type {Bar[]} */ others) =>
    [...of.values(), ...joined(others)].sort((x, y) => x.from - y.from || x.to - y.to);
  const end = clock.reached(block.length);
  return { loads: all(loads, alone[0]), multiplies: all(multiplies, alone[1]), end, at: clock.at };
}

/**
 * How many pairs of tiles are multiplied while loads of another pair are under way, and how many are multiplied.
 * @param {Tracks} tracks
 */
export function aheadIn({ loads, multiplies }) {
  const done = multiplies.filter(({ pair }) => pair !== null);
  const ahead = done.filter(({ from, to, pair }) =>
    loads.some((load) => load.pair !== null && load.pair !== pair && load.from < to && from < load.to),
  );
  return [ahead.length, done.length];
}

/** @type {WeakMap<import("./trace.js").Block, ReturnType<typeof read>>} */
const COPIES = new WeakMap();

/** What a block copies to shared memory, and what it multiplies. @param {import("./trace.js").Block} block */
export function copiesOf(block) {
  const found = COPIES.get(block) ?? read(block);
  COPIES.set(block, found);
  return found;
}

/**
 * The tiles that a block copies, and the steps that load and store a value of them, where a register holds it meanwhile;
 * of each step that loads from global memory for no tile, the step that first uses its
 * value; and of each step that multiplies, the tile that its warp has read last.
 * @param {import("./trace.js").Block} block
 */
function read(block) {
  const { trace } = block;
  const { access_array, access_base, access_op, access_pattern } = trace.columns;
  const { adds } = BlockAnimation.of(block);
  const buffers = trace.arrays.map((array) => layout(array).each || 1);
  /** The number of an array's first buffer among those of all arrays. */
  let buffered = 0;
  const firsts = trace.arrays.map(
    (array, i) => (buffered += Math.ceil(array.size / buffers[i])) - Math.ceil(array.size / buffers[i]),
  );
  /** @type {Tile[]} */
  const tiles = [];
  /** @type {Tile[][]}  of each buffer */
  const inBuffer = Array.from({ length: buffered }, () => []);
  /** @type {{tile: Tile, read: boolean}[][]}  of each warp and buffer, the tile that the warp stored last */
  const own = Array.from({ length: trace.warps }, () => []);
  const counts = trace.arrays.map(() => 0);
  /** @type {Map<number, Tile>} */
  const latest = new Map();
  /** @type {Map<number, Tile | null>} */
  const multiplied = new Map();
  /** @type {Set<number>}  steps that load from global memory */
  const loading = new Set();
  /** @type {Map<number, Tile>}  of each step that stores to shared memory, the tile */
  const storing = new Map();
  const alike = block.releases.length > 0; // the tiles of all warps between two barriers
  let interval = 0;
  for (let i = 0; i < block.length; i++) {
    while (block.releases[interval] <= i) interval++;
    const warp = block.warp(i);
    const [from, to] = block.rows("access", i);
    for (let row = from; row < to; row++) {
      const array = access_array[row];
      const { space } = trace.arrays[array];
      const reads = access_op[row] === LOAD;
      if (space === "global" && reads) loading.add(i);
      if (space !== "shared") continue;
      const first = access_base[row] + Number(trace.vector(access_pattern[row])[0]);
      const buffer = Math.floor(first / buffers[array]);
      const all = inBuffer[firsts[array] + buffer];
      const mine = own[warp][firsts[array] + buffer];
      if (reads) {
        let k = all.length - 1;
        while (k >= 0 && all[k].interval >= interval) k--;
        const tile = all[k] ?? mine?.tile;
        if (mine) mine.read = true;
        if (!tile) continue;
        tile.read = true;
        latest.set(warp, tile);
        continue;
      }
      const last = all[all.length - 1];
      /** @type {Tile | undefined} */
      let tile = mine?.tile;
      // without barriers, each warp has its own sequence of the same tiles
      if (!alike) tile = mine ? (mine.read ? all[all.indexOf(mine.tile) + 1] : mine.tile) : all[0];
      else if (!tile || mine.read || (last.read && tile.interval < interval))
        tile = last && last !== tile && (last.interval === interval || !last.read) ? last : undefined;
      if (!tile) {
        tile = { array, pair: counts[array]++, buffer, interval, load: -1, first: i, last: i, read: false };
        tiles.push(tile);
        all.push(tile);
      }
      own[warp][firsts[array] + buffer] = { tile, read: false };
      tile.last = i;
      storing.set(i, tile);
    }
    if (adds.has(i)) multiplied.set(i, loading.has(i) ? null : (latest.get(warp) ?? null));
  }
  const late = [...loading].some((i) => !storing.has(i) && !adds.has(i)); // their values are used in later steps
  const uses = late ? new Map(usesOf(block)) : new Map();
  /** @type {Map<number, number>} */
  const direct = new Map();
  /** @type {{load: number, store: number}[]} */
  const held = [];
  for (const i of loading) {
    const use = storing.has(i) ? i : (uses.get(i) ?? i);
    const tile = storing.get(use);
    if (!tile) direct.set(i, use);
    else {
      tile.load = tile.load < 0 ? i : Math.min(tile.load, i);
      if (use !== i) held.push({ load: i, store: use });
    }
  }
  return { tiles, held, direct, multiplied };
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
