// Where everything on the stage is: a pure function of its width and height, of the size of the text and of the shapes of
// the arrays. No page is needed. C never shrinks when the stage grows: each arrangement's scale is a minimum of functions
// that rise with the width and the height, and the largest scale is taken.

/**
 * @typedef {object} Shape  of an array's drawing, in units of which an element has UNIT, its labels included
 * @property {number} width
 * @property {number} height
 * @property {number} most  pixels of a unit, at most
 * @property {number} least  pixels of its place, at least: its name
 * @property {number} weight  how much longer its sides are than those of others beside it
 */
/**
 * @typedef {object} Wanted
 * @property {number} width  of the stage, in pixels
 * @property {number} height  in pixels
 * @property {number} em  size of the text, in pixels
 * @property {{A: Shape, B: Shape, C: Shape} | null} product
 * @property {Shape[]} main  arrays in global memory that are no matrices of the product
 * @property {Shape[]} aside  shared and local arrays, and what threads hold
 * @property {boolean} counter  whether numbers are counted beside the picture
 */
/** @typedef {{x: number, y: number, width: number, height: number}} Box  in pixels */
/** @typedef {{x: number, y: number, scale: number, room?: number}} Place  of a drawing: its corner in pixels, the pixels of a unit, and those for its caption */
/**
 * @typedef {object} Layout
 * @property {string} name  of the arrangement: "row", "edges", "over", "column" or "flow"
 * @property {Record<"A" | "B" | "C", Place> | null} product
 * @property {Place[]} main
 * @property {Place[]} aside
 * @property {Box} code
 * @property {Box | null} counter
 * @property {number} height  that is used
 */

const GAP = 10; // pixels between drawings
const SIGN = 1.6; // ems between matrices in a row, for · and =
const CAPTION = 1; // ems above each drawing, for its name
const CODE = { width: 25, share: 0.4, height: 8.6, least: 6, part: 0.17 }; // ems: seven lines, five where that is more than a part of the height; and at most a share of the width
const COUNTER = { width: 11, height: 7.6 }; // ems
const NARROWEST = 9.5; // ems of the counter, where there is no more
const PHONE = 40; // ems of a stage in one column
const SMALLEST = 1 / 3; // of the size that arrays have below, at least, beside the matrices of one column
const LOWEST = 28; // ems of a stage beside which a page scrolls

/** The height of the code: rises more slowly than that of the stage. @param {number} height @param {number} em */
const linesHigh = (height, em) => Math.min(CODE.height * em, Math.max(CODE.least * em, CODE.part * height));

/** @param {Wanted} wanted @returns {Layout} */
export function arrange(wanted) {
  const { width, em, product, counter } = wanted;
  const height = Math.max(LOWEST * em, wanted.height);
  const [codeWide, codeHigh] = [
    Math.max(16 * em, Math.min(CODE.width * em, CODE.share * width)),
    linesHigh(height, em),
  ];
  if (width < PHONE * em) return stacked({ ...wanted, height }, CODE.height * em);
  const strip = codeHigh + GAP;
  if (!product) {
    const free = { x: 0, y: 0, width: width - codeWide - GAP, height };
    const side = { x: width - codeWide, y: 0, width: codeWide, height };
    return beside(wanted, { name: "flow", product: null, used: 0 }, flow(wanted.main, free, em), free, side, null);
  }
  const { A, B, C } = product;
  const caption = CAPTION * em;
  const most = Math.min(A.most, B.most, C.most);
  const [signs, left] = [2 * SIGN * em, (counter ? Math.max(codeWide, COUNTER.width * em) : codeWide) + 2 * GAP];
  const [inRow, atEdges] = [A.width + B.width + C.width, A.width + C.width];
  const [rowHigh, edgesHigh] = [Math.max(A.height, B.height, C.height), B.height + C.height];
  const scales = {
    row: Math.min((width - signs) / inRow, (height - strip - caption) / rowHigh),
    edges: Math.min((width - left) / atEdges, (height - 2 * caption) / edgesHigh),
    over: Math.min(width / atEdges, (height - strip - 2 * caption) / edgesHigh),
  };
  const name = /** @type {(keyof typeof scales)[]} */ (["row", "edges", "over"]).reduce((x, y) =>
    scales[y] > scales[x] ? y : x,
  );
  const scale = Math.max(0.01, Math.min(most, scales[name]));
  const places = name === "row" ? inARow(product, scale, SIGN * em, caption) : atTheEdges(product, scale, caption);
  const wide = scale * (name === "row" ? inRow : atEdges) + (name === "row" ? signs : 0);
  const high = name === "row" ? scale * rowHigh + caption : scale * edgesHigh + 2 * caption;
  const right = { x: wide + 2 * GAP, y: 0, width: width - wide - 2 * GAP, height };
  const below = { x: 0, y: high + GAP, width, height: height - high - GAP };
  const roomy = right.width >= codeWide;
  const spare = right.width >= NARROWEST * em ? { ...right, y: caption, height: COUNTER.height * em } : null;
  return beside(
    wanted,
    { name, product: places, used: high },
    [],
    roomy ? right : below,
    roomy ? right : null,
    roomy && name !== "edges" ? { ...below, width: wide } : null,
    spare,
    high,
  );
}

/**
 * Put the code and the counter into a side, or below if there is none, and the other arrays where they become largest.
 * @param {Wanted} wanted
 * @param {{name: string, product: Layout["product"], used: number}} matrices
 * @param {Place[]} main
 * @param {Box} free  for the other arrays, unless the side is better
 * @param {Box | null} side
 * @param {Box | null} below
 * @param {Box | null} [spare]  a narrow place for the counter, and below it for a window on the matrices
 * @param {number} [high]  where that place ends
 * @returns {Layout}
 */
function beside(wanted, { name, product, used }, main, free, side, below, spare = null, high = 0) {
  const { em, counter } = wanted;
  const height = Math.max(LOWEST * em, wanted.height);
  const codeWide = Math.max(16 * em, Math.min(CODE.width * em, CODE.share * wanted.width));
  const [codeHigh, countHigh, countWide] = [
    linesHigh(height, em),
    counter ? COUNTER.height * em : 0,
    counter ? COUNTER.width * em : 0,
  ];
  if (!side) {
    const wide = counter && !spare ? countWide + GAP : 0;
    const all = wanted.product ? wanted.aside : [...wanted.main, ...wanted.aside];
    const rest = { ...free, width: free.width - codeWide - wide - 2 * GAP };
    const aside = flow(all, rest, em);
    const last = all.length - 1;
    if (spare && all[last]?.weight > 1) {
      const top = spare.y + (counter ? countHigh + GAP : 0);
      const [alone] = flow([all[last]], { ...spare, y: top, height: high - top }, em);
      if (alone.scale > aside[last].scale) aside.splice(0, last + 1, ...flow(all.slice(0, last), rest, em), alone);
    }
    const inRest = all.filter((_, i) => !spare || aside[i].x < spare.x);
    const end = Math.max(
      free.x,
      ...inRest.map((_, i) => aside[i].x + Math.max(aside[i].scale * all[i].width, all[i].least) + 2 * GAP),
    );
    const tall = Math.max(codeHigh, Math.min(CODE.height * em, Math.max(0, ...ends(all, aside)) - free.y)); // beside the arrays
    const counted = counter
      ? (spare ?? { x: end, y: free.y, width: countWide, height: Math.max(countHigh, tall) })
      : null;
    const left = end + wide;
    const code = { x: left, y: free.y, width: Math.max(codeWide, free.x + free.width - left), height: tall };
    return {
      name,
      product,
      main: [],
      aside,
      code,
      counter: counted,
      height: Math.max(used, code.y + code.height, ...ends(all, aside)),
    };
  }
  const together = countWide + GAP + codeWide <= side.width;
  const need = together || !counter ? codeHigh : codeHigh + GAP + countHigh;
  const above = { ...side, height: side.height - need - GAP };
  if (!product) {
    const split = wanted.aside.length && wanted.main.length ? 0.6 : wanted.main.length ? 1 : 0;
    const first = { ...free, height: split * free.height };
    main = flow(wanted.main, first, em);
    const end = Math.max(0, ...ends(wanted.main, main));
    below = { ...free, y: end && end + GAP, height: free.height - end - (end && GAP) };
    used = end;
  }
  const candidates = [above, ...(below ? [below] : [])].map((box) => ({ box, places: flow(wanted.aside, box, em) }));
  const area = (/** @type {Place[]} */ places) =>
    places.reduce((sum, { scale }, i) => sum + scale * scale * wanted.aside[i].width * wanted.aside[i].height, 0);
  const best = candidates.reduce((x, y) => (area(y.places) > area(x.places) ? y : x));
  const top = best.box === above ? Math.max(side.y, ...ends(wanted.aside, best.places).map((y) => y + GAP)) : side.y;
  const code = {
    x: side.x,
    y: together || !counter ? top : top + countHigh + GAP,
    width: Math.max(Math.min(codeWide, side.width), together ? side.width - countWide - GAP : side.width),
    height: codeHigh,
  };
  code.height = Math.max(codeHigh, Math.min(1.6 * codeHigh, height - code.y));
  const counted = counter
    ? { x: together ? side.x + side.width - countWide : side.x, y: top, width: countWide, height: countHigh }
    : null;
  return {
    name,
    product,
    main,
    aside: best.places,
    code,
    counter: counted,
    height: Math.max(used, code.y + code.height, ...ends(wanted.aside, best.places)),
  };
}

/**
 * One column, as on a phone: the matrices, the code, the counter, the other arrays; what exceeds the height scrolls.
 * Above A and beside C there is room for the other arrays and for the counter, where they are not too small there.
 * @param {Wanted} wanted
 * @param {number} codeHigh
 * @returns {Layout}
 */
function stacked({ width, height, em, product, main, aside, counter }, codeHigh) {
  const caption = CAPTION * em;
  const all = [...main, ...aside];
  /** @type {Layout["product"]} */
  let places = null;
  let y = 0;
  /** @type {Box[]} */
  let rooms = [];
  if (product) {
    const { A, B, C } = product;
    const scale = Math.max(
      0.01,
      Math.min(
        A.most,
        width / (A.width + C.width),
        Math.min(0.65 * height, height - codeHigh - GAP - 2 * caption) / (B.height + C.height),
      ),
    );
    places = atTheEdges(product, scale, caption);
    const [left, high] = [A.width * scale, scale * (B.height + C.height) + 2 * caption];
    const end = left + C.width * scale + GAP;
    rooms = [
      { x: end, y: 0, width: width - end, height: high },
      { x: 0, y: 0, width: left - GAP, height: high - A.height * scale - caption },
    ];
    y = high + GAP;
  }
  const below = flow(all, { x: 0, y: 0, width, height: Math.max(16 * em, height) }, em);
  const size = (/** @type {Place[]} */ places) => Math.min(...places.map(({ scale }, i) => scale / below[i].scale));
  const fitting = rooms
    .map((room) => ({ room, places: flow(all, room, em) }))
    .filter(
      ({ room, places }) =>
        Math.max(0, ...ends(all, places)) <= room.height &&
        Math.max(0, ...rights(all, places)) <= room.x + room.width &&
        size(places) >= SMALLEST,
    );
  const best = fitting.reduce(
    (x, y) => (x && size(x.places) >= size(y.places) ? x : y),
    /** @type {typeof fitting[0] | null} */ (null),
  );
  const spare = counter
    ? rooms.find((room) => room !== best?.room && room.width >= NARROWEST * em && room.height >= COUNTER.height * em)
    : null;
  const code = { x: 0, y, width, height: counter && !spare ? codeHigh / 2 : codeHigh };
  y += code.height + GAP;
  let counted = spare ?? null;
  if (counter && !counted) {
    counted = { x: 0, y, width, height: COUNTER.height * em };
    y += counted.height + GAP;
  }
  const found = best?.places ?? below.map((place) => ({ ...place, y: place.y + y }));
  return {
    name: "column",
    product: places,
    main: found.slice(0, main.length),
    aside: found.slice(main.length),
    code,
    counter: counted,
    height: Math.max(y, ...ends(all, found)),
  };
}

/**
 * A · B = C, their tops aligned.
 * @param {{A: Shape, B: Shape, C: Shape}} product
 * @param {number} scale
 * @param {number} sign
 * @param {number} top
 */
function inARow({ A, B }, scale, sign, top) {
  const b = A.width * scale + sign;
  return {
    A: { x: 0, y: top, scale },
    B: { x: b, y: top, scale },
    C: { x: b + B.width * scale + sign, y: top, scale },
  };
}

/**
 * B above C, and A on its left; their names are between.
 * @param {{A: Shape, B: Shape, C: Shape}} product
 * @param {number} scale
 * @param {number} top
 */
function atTheEdges({ A, B }, scale, top) {
  const [x, y] = [A.width * scale, 2 * top + B.height * scale];
  return { A: { x: 0, y, scale }, B: { x, y: top, scale }, C: { x, y, scale } };
}

/**
 * Drawings from left to right, in as many rows as needed: the largest that fit, all with sides of about one length.
 * @param {Shape[]} shapes
 * @param {Box} box
 * @param {number} em
 * @returns {Place[]}
 */
function flow(shapes, box, em) {
  let [low, high] = [0, Math.max(box.width, box.height, 1)];
  let best = placed(shapes, box, em, Math.min(high, 3 * em)).places;
  for (let i = 0; i < 12; i++) {
    const middle = (low + high) / 2;
    const { places, fits } = placed(shapes, box, em, middle);
    if (fits) [low, best] = [middle, places];
    else high = middle;
  }
  return best;
}

/**
 * @param {Shape[]} shapes
 * @param {Box} box
 * @param {number} em
 * @param {number} side  in pixels, of the longer side of each drawing
 */
function placed(shapes, box, em, side) {
  const caption = CAPTION * em;
  let [x, y, deep] = [0, 0, 0];
  let wide = 0;
  const places = shapes.map(({ width, height, most, least, weight }) => {
    const scale = Math.min(most, (weight * side) / Math.max(width, height));
    const [w, h] = [Math.max(width * scale, least), height * scale + caption];
    if (x && x + w > box.width) [x, y, deep] = [0, y + deep + GAP, 0];
    const place = { x: box.x + x, y: box.y + y + caption, scale };
    x += w + GAP;
    wide = Math.max(wide, x - GAP);
    deep = Math.max(deep, h);
    return place;
  });
  return { places, fits: wide <= box.width && y + deep <= box.height };
}

/** The lower ends of drawings. @param {Shape[]} shapes @param {Place[]} places */
const ends = (shapes, places) => places.map(({ y, scale }, i) => y + scale * shapes[i].height);

/** The right ends of drawings. @param {Shape[]} shapes @param {Place[]} places */
const rights = (shapes, places) =>
  places.map(({ x, scale }, i) => x + Math.max(scale * shapes[i].width, shapes[i].least));
