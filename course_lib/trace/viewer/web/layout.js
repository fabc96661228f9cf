// Where everything of a run is: a pure function of the width and height of its place, of the size of the text, of the
// shapes of the arrays and of the length of the source's lines. No page is needed.
//
// There is one arrangement. On top are the arrays in global memory, A · B = C in a row; below them what the threads work
// on: tiles, accumulators, other shared and local arrays. The source is beside these, or below them; the counter is
// beside the matrices, or before the source.
//
// When room is short, it is given up in this order: the white space; the size of the matrices, which become maps without
// digits; and only then the size of tiles and accumulators, down to that of legible digits. The source always has the
// current line and two lines above and below it. Tiles are what such a kernel is about, so their elements are larger than
// those of the matrices that they are copied from.

/**
 * @typedef {object} Shape  of an array's drawing, in units of which an element has UNIT, its labels included
 * @property {number} width
 * @property {number} height
 * @property {number} most  pixels of a unit, at most
 * @property {number} least  pixels of its place, at least: its name
 * @property {number} digits  pixels of an element for each pixel of its digits; 0 without any
 * @property {boolean} [tile]  whether it is in shared memory
 * @property {number} [foot]  pixels below it, for what it holds
 * @property {{least: number, most: number}} [secondary]  others are to be seen first: pixels of its longer side, that give it
 *   digits and from which on it is smaller than others
 * @property {boolean} [continues]  whether it belongs to the one before it
 */
/**
 * @typedef {object} Wanted
 * @property {number} width  of the run's place, in pixels
 * @property {number} height  in pixels; more is used only for legible digits, and where the least does not fit
 * @property {number} em  size of the text, in pixels
 * @property {number} [letters]  size of the source's text, in pixels
 * @property {{A: Shape, B: Shape, C: Shape} | null} product
 * @property {Shape[]} main  arrays in global memory that are no matrices of the product
 * @property {Shape[]} aside  shared and local arrays, and what threads hold
 * @property {number} counter  ems of the height of what is counted beside the picture; 0 without any
 * @property {[number, number][]} lines  the characters of each line of the source, without its comment and with it
 * @property {number} least  pixels of digits that are shown
 * @property {number} [rows]  of the source around a line, at most
 * @property {boolean} [pictureOnly]  whether counter and source need none of the height, see `picturesFirst`
 * @property {boolean} [strict]  whether no more height may be used for legible digits
 * @property {string} [arrangement]  the only arrangement that is asked for, where it is possible
 * @property {number} [largest]  of two runs, pixels of a unit of the matrices, at most: both have the same
 */
/** @typedef {{x: number, y: number, width: number, height: number}} Box  in pixels */
/** @typedef {{x: number, y: number, scale: number, room?: number}} Place  of a drawing: its corner in pixels, the pixels of a unit, and those for its caption */
/**
 * @typedef {object} Layout
 * @property {Record<"A" | "B" | "C", Place> | null} product
 * @property {Place[]} main
 * @property {Place[]} aside
 * @property {Box} code
 * @property {Box | null} counter
 * @property {number} height  that is used
 * @property {number} drawn  the height without counter and source
 * @property {number} share  of the size that the drawings below the matrices should have
 * @property {boolean} legible  whether the tiles have digits, as far as any size gives them some
 * @property {string} arrangement  where counter and source are, one of ARRANGEMENTS
 */

const UNIT = 20; // of an element, as in plane.js
const [GAP, NEAR] = [10, 5]; // pixels between drawings, and between those of one array
const SIGN = 1.6; // ems between matrices in a row, for · and =
const CAPTION = 1; // ems above each drawing, for its name
const CODE = { least: 19, most: 52, usual: 30, rows: 12, few: 7 }; // ems of its width; rows at most that five lines have, and where room is short
const HEAD = 2.3; // ems above the lines
const COLUMNS = 30; // ems of a source with comments, and with counts beside its lines
const LINE = { high: 1.06, letter: 0.535, number: 2.9, counts: 5 }; // ems of the text, if the source's is SOURCE of them
const SOURCE = 0.88;
/** Where counter and source may be. */
export const ARRANGEMENTS = ["low beside", "low below", "top beside", "top below"];
export const STACKED = "low below"; // of two runs below each other, see `picturesFirst`
export const AROUND = 2; // lines above and below the current one
const COUNTER = 12; // ems of its width
const MAP = 5; // ems of the height of matrices, at least
const GOOD = [12.5, 20.5]; // pixels of digits, at least and at most
const LARGE = 0.27; // of the height, a drawing that is large enough
// Of the side of other drawings, that of one that is to be seen later: at least, and if there is room.
const [SECONDARY_LEAST, SECONDARY] = [0.6, 0.8];
const SMALLER = 0.75; // of an element of a tile, one of the matrices
const STEP = 37; // of the height, for each pixel of these digits
const MORE = [1.1, 1.2, 1.3]; // times the height, for legible digits

/** @param {Wanted} wanted @returns {Layout} */
export function arrange(wanted) {
  const { aside, height } = wanted;
  const first = aside.some(({ digits, secondary }) => digits && !secondary);
  const numbered = aside.filter(({ digits, secondary }) => digits && !(first && secondary));
  // pixels of a side for each pixel of the digits, which are the smallest in the drawing with most elements
  const each = Math.max(0, ...numbered.map(({ digits, width, height }) => digits * (Math.max(width, height) / UNIT)));
  const legible = wanted.least * each;
  const digits = Math.min(GOOD[1], Math.max(GOOD[0], height / STEP)) * each;
  const good = Math.max(legible, digits, first ? LARGE * height : 0);
  let least = placed(wanted, height, 0, good);
  if (least.side < legible || least.height > height + 1) {
    wanted = { ...wanted, rows: CODE.few };
    least = placed(wanted, height, 0, good);
  }
  for (const more of MORE) {
    if (least.side >= legible || wanted.strict) break;
    const higher = placed(wanted, more * height, 0, good);
    if (higher.side >= legible) least = higher;
  }
  const high = Math.max(height, least.height);
  const side = Math.min(least.side, good) - 0.01;
  let [low, most, best] = [0, high, least];
  for (let i = 0; i < 12; i++) {
    const middle = (low + most) / 2;
    const found = placed(wanted, high, middle, good);
    const scales = numbered.map((shape) => found.aside[aside.indexOf(shape)].scale);
    const tiles = scales.filter((_, i) => numbered[i].tile);
    const largest = tiles.length && found.side >= legible ? SMALLER * Math.max(...tiles) : Math.max(0, ...scales);
    const scale = largest && first ? (found.product?.A.scale ?? 0) : 0; // of the matrices, where there are tiles
    const smaller = scale <= largest + 0.001;
    if (found.side >= side && found.height <= high + 1 && smaller) [low, best] = [middle, found];
    else most = middle;
  }
  return { ...best, legible: best.side >= legible, share: Math.min(1, best.side / good) };
}

/**
 * Place everything, the arrays in global memory in a band of some height; ``side``: pixels of the longer side of the
 * drawings below.
 * @param {Wanted} wanted
 * @param {number} height  of all
 * @param {number} band  pixels; at least that of maps
 * @param {number} good  a side beyond which a wider source is better
 * @returns {Omit<Layout, "legible" | "share"> & {side: number}}
 */
function placed(wanted, height, band, good) {
  const { width, em, counter, aside, pictureOnly } = wanted;
  const count = { width: COUNTER * em, height: counter * em };
  const least = Math.max(band, (MAP + CAPTION) * em);
  /** @type {(Omit<Layout, "product" | "main" | "legible" | "share"> & {side: number, top: ReturnType<typeof placeGlobals>})[]} */
  const candidates = [];
  /** @type {(arrangement: string, top: ReturnType<typeof placeGlobals>, y: number, above: Box | null) => void} */
  const below = (arrangement, top, y, above) => {
    const rest = height - y;
    const low = counter && !above ? count : { width: -GAP, height: 0 };
    /** @type {(counted: Box, code: Box, flowed: ReturnType<typeof flowInRows>) => void} */
    const add = (counted, code, { places, side }) => {
      const drawn = Math.max(top.height, ...ends(aside, places));
      candidates.push({
        arrangement: `${arrangement} ${code.y > y || !aside.length ? "below" : "beside"}`,
        side,
        top,
        aside: places,
        code,
        counter: counter ? (above ?? counted) : null,
        drawn,
        height: pictureOnly ? drawn : Math.max(drawn, y + low.height, code.y + code.height),
      });
    };
    // the source beside the drawings; their place is narrower if the source needs fewer rows so
    for (const letters of [CODE.least, CODE.usual]) {
      const room = { x: 0, y, width: width - low.width - 2 * GAP - letters * em, height: rest };
      if (room.width < 0.25 * width || !aside.length) continue;
      const flowed = flowInRows(aside, room, em);
      const left = Math.max(0, ...rights(aside, flowed.places)) + GAP;
      const spare = width - left - low.width - GAP;
      const high = Math.max(
        sourceHeight(wanted, spare),
        low.height,
        ...ends(aside, flowed.places).map((end) => end - y),
      );
      const code = { x: left + low.width + GAP, y, width: Math.min(CODE.most * em, spare), height: high };
      add({ x: left, y, ...low }, code, flowed);
    }
    // below them
    const beside = width - low.width - GAP >= CODE.least * em;
    const across = Math.min(CODE.most * em, beside ? width - low.width - GAP : width);
    const high = sourceHeight(wanted, across);
    const foot = beside ? Math.max(high, low.height) : high + low.height + GAP;
    const flowed = flowInRows(aside, { x: 0, y, width, height: pictureOnly ? rest : rest - foot - GAP }, em);
    const end = Math.max(y, ...ends(aside, flowed.places)) + (aside.length ? GAP : 0);
    const code = beside
      ? { x: low.width + GAP, y: end, width: across, height: foot }
      : { x: 0, y: end + (low.height && low.height + GAP), width: across, height: high };
    add({ x: 0, y: end, ...low }, code, flowed);
  };
  const top = placeGlobals(wanted, least, width);
  below("low", top, top.height ? top.height + GAP : 0, null);
  if (counter && wanted.product) {
    const room = width - count.width - 2 * GAP;
    const narrower = placeGlobals(wanted, Math.max(least, count.height), room);
    const at = {
      x: Math.max(narrower.end + 2 * GAP, Math.min(room + 2 * GAP, narrower.end + 4 * GAP)),
      y: 0,
      ...count,
    };
    if (room > 0.3 * width) below("top", narrower, Math.max(narrower.height, count.height) + GAP, at);
  }
  const asked = candidates.filter(({ arrangement }) => !wanted.arrangement || arrangement === wanted.arrangement);
  const known = asked.length ? asked : candidates;
  const fits = known.filter((each) => each.height <= height + 1);
  const of = fits.length ? fits : [known.reduce((x, y) => (y.height < x.height ? y : x))];
  const quality = (/** @type {typeof of[0]} */ { side, code, height, top }) =>
    Math.min(side, good) - 0.05 * height + 1e-3 * code.width + 2 * UNIT * (top.product?.A.scale ?? 0);
  const best = of.reduce((x, y) => (quality(y) > quality(x) ? y : x));
  return { ...best, product: best.top.product, main: best.top.main };
}

/**
 * The arrays in global memory, as large as a band allows.
 * @param {Wanted} wanted
 * @param {number} band  its height
 * @param {number} width
 */
function placeGlobals({ em, product, main, largest = Infinity }, band, width) {
  const caption = CAPTION * em;
  if (!product) {
    const { places } = flowInRows(main, { x: 0, y: 0, width, height: band }, em);
    return { product: null, main: places, height: Math.max(0, ...ends(main, places)), end: width };
  }
  const { A, B, C } = product;
  const sign = SIGN * em;
  const high = Math.max(A.height, B.height, C.height);
  const across = (width - 2 * sign) / (A.width + B.width + C.width);
  const scale = Math.max(0.01, Math.min(A.most, B.most, C.most, largest, across, (band - caption) / high));
  const b = A.width * scale + sign;
  const c = b + B.width * scale + sign;
  const [a, y] = [0, caption];
  const places = { A: { x: a, y, scale }, B: { x: b, y, scale }, C: { x: c, y, scale } };
  return { product: places, main: [], height: caption + high * scale, end: c + C.width * scale };
}

/**
 * Two runs below each other: their counters, side by side, and their sources come after both pictures, so that these are
 * in sight together.
 * @param {Layout[]} layouts  of the upper and of the lower run, which are changed
 * @param {number} between  pixels between the two runs
 */
export function picturesFirst([upper, lower], between) {
  const end = lower.drawn + GAP; // in the place of the lower run
  const above = upper.drawn + between; // what a place of the upper run has more than one of the lower
  const counted = Math.max(-GAP, ...[upper, lower].map(({ counter }) => counter?.height ?? -GAP));
  const first = { ...upper.code, x: 0, y: end + counted + GAP };
  const second = { ...lower.code, x: 0, y: first.y + first.height + GAP };
  if (upper.counter) upper.counter = { ...upper.counter, x: 0, y: above + end };
  if (lower.counter) lower.counter = { ...lower.counter, x: lower.counter.width + GAP, y: end };
  Object.assign(upper, { code: { ...first, y: above + first.y }, height: upper.drawn });
  Object.assign(lower, { code: second, height: second.y + second.height });
}

/** The height of the source for the current line and those around it, wherever that is. @param {Wanted} wanted @param {number} width */
function sourceHeight({ lines, em, letters: size = SOURCE * em, rows: most = CODE.rows }, width) {
  const wide = width >= COLUMNS * em;
  const unit = size / SOURCE;
  const room = width / unit - LINE.number - 1.5 - (wide ? LINE.counts : 0);
  const letters = Math.max(8, Math.floor(room / LINE.letter));
  const shown = lines.map(([code, all]) => (wide ? all : code)).filter((length) => length);
  const rows = shown.map((length) => Math.ceil(length / letters));
  const around = rows.map((_, i) => rows.slice(Math.max(0, i - AROUND), i + AROUND + 1).reduce((sum, n) => sum + n, 0));
  return HEAD * em + LINE.high * Math.min(most, Math.max(0, ...around)) * unit;
}

/**
 * Drawings from left to right, in as many rows as needed: the largest that fit, all with sides of about one length.
 * @param {Shape[]} shapes
 * @param {Box} box
 * @param {number} em
 */
function flowInRows(shapes, box, em) {
  let [low, high] = [0, Math.max(box.width, box.height, 1)];
  let [best, side] = [inRows(shapes, box, em, 3 * em).places, Math.min(3 * em, high)];
  if (!inRows(shapes, box, em, 3 * em).fits) side = 0;
  for (let i = 0; i < 12; i++) {
    const middle = (low + high) / 2;
    const { places, fits } = inRows(shapes, box, em, middle);
    if (fits) [low, best, side] = [middle, places, middle];
    else high = middle;
  }
  return { places: best, side };
}

/**
 * @param {Shape[]} shapes
 * @param {Box} box
 * @param {number} em
 * @param {number} side  in pixels, of the longer side of each drawing
 */
function inRows(shapes, box, em, side) {
  const caption = CAPTION * em;
  const sizes = shapes.map(({ width, height, most, least, foot = 0, secondary }) => {
    const own = secondary ? secondarySide(secondary, side) : side;
    const scale = Math.min(most, own / Math.max(width, height));
    return { scale, w: Math.max(width * scale, least), h: height * scale + foot + caption };
  });
  let [x, y, deep] = [0, 0, 0];
  let wide = 0;
  const places = sizes.map(({ scale, w, h }, i) => {
    const { continues } = shapes[i];
    if (continues && x) x -= GAP - NEAR;
    // those of one array are in one row, if a row is wide enough
    let together = w;
    for (let k = i + 1; !continues && shapes[k]?.continues; k++) together += NEAR + sizes[k].w;
    const needed = together <= box.width ? together : w;
    if (x && x + needed > box.width) [x, y, deep] = [0, y + deep + GAP, 0];
    const place = { x: box.x + x, y: box.y + y + caption, scale };
    x += w + GAP;
    wide = Math.max(wide, x - GAP);
    deep = Math.max(deep, h);
    return place;
  });
  return { places, fits: wide <= box.width && y + deep <= box.height };
}

/** The longer side of a drawing that is to be seen after others. @param {{least: number, most: number}} sides @param {number} others  the side of these */
function secondarySide({ least, most }, others) {
  const legible = Math.min(least, MORE[1] * others);
  return Math.max(SECONDARY_LEAST * others, Math.min(Math.max(SECONDARY * others, legible), most));
}

/** The lower ends of drawings. @param {Shape[]} shapes @param {Place[]} places */
const ends = (shapes, places) => places.map(({ y, scale }, i) => y + scale * shapes[i].height + (shapes[i].foot ?? 0));

/** The right ends of drawings. @param {Shape[]} shapes @param {Place[]} places */
const rights = (shapes, places) =>
  places.map(({ x, scale }, i) => x + Math.max(scale * shapes[i].width, shapes[i].least));
