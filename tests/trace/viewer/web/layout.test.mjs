// The layout of a run over all sizes: what is given up when room is short, and in which order.

import assert from "node:assert/strict";
import test from "node:test";
import { arrange } from "../../../../course_lib/trace/viewer/web/layout.js";

const [EM, UNIT] = [13.5, 20];
const DIGITS = 8.4; // of a text of three characters, in units
const LEAST = 9; // pixels of digits that are shown
const shape = (rows, columns, margin, ems, tile = false) => ({
  width: columns * UNIT + margin + 2,
  height: rows * UNIT + margin + 2,
  most: (ems * EM) / UNIT,
  least: 60,
  digits: Math.max(rows, columns) <= 32 ? UNIT / DIGITS : 0,
  tile,
});
const KERNELS = {
  naive16: [16, 16, 16, [[4, 4]]],
  tiled16: [
    16,
    16,
    16,
    [
      [4, 4],
      [4, 4],
      [4, 4],
    ],
  ],
  register_2d: [
    128,
    16,
    128,
    [
      [8, 128],
      [8, 128],
      [1, 8],
      [1, 8],
      [8, 32],
      [8, 8],
      [8, 8],
    ],
  ],
  two_pairs: [
    8,
    32,
    8,
    [
      [8, 8],
      [8, 8],
      [8, 8],
      [8, 8],
      [8, 8],
    ],
  ],
  prefetched: [
    16,
    16,
    16,
    [
      [4, 4],
      [4, 4],
      [4, 4],
      [4, 4],
      [4, 4],
    ],
  ],
  best: [
    128,
    16,
    256,
    [
      [16, 132],
      [16, 256],
      [1, 8],
      [1, 16],
      [8, 16],
      [8, 8],
    ],
  ],
  tall: [64, 4, 8, []],
};
const wanted = (name, width, height) => {
  const [M, K, N, aside] = KERNELS[name];
  const margin = Math.max(15, 0.035 * Math.max(M, K, N) * UNIT);
  const product = { A: shape(M, K, margin, 3.2), B: shape(K, N, margin, 3.2), C: shape(M, N, margin, 3.2) };
  return {
    width,
    height,
    em: EM,
    product,
    main: [],
    // what is last is in registers
    aside: aside.map(([r, c], i) => shape(r, c, 12, 3.7, i < aside.length - 1)),
    counter: 9.6,
    least: LEAST,
    lines: [20, 31, 24, 58, 22, 40, 12, 33].map((length) => [length, length]),
  };
};

const drawn = ({ x, y, scale }, shape) => ({
  left: x,
  top: y,
  right: x + scale * shape.width,
  bottom: y + scale * shape.height,
});
const SIZES = [
  [440, 340],
  [440, 480],
  [710, 760],
  [905, 420],
  [905, 490],
  [1230, 560],
  [1450, 770],
  [1900, 900],
  [2530, 1190],
  [346, 260],
  [366, 640],
];

test("nothing is outside the scene, and matrices, tiles, code and counter do not overlap", () => {
  for (const name of Object.keys(KERNELS)) {
    for (const [width, height] of SIZES) {
      const asked = wanted(name, width, height);
      const { product, aside, code, counter, height: used } = arrange(asked);
      const boxes = ["A", "B", "C"].map((role) => drawn(product[role], asked.product[role]));
      boxes.push(...aside.map((place, i) => drawn(place, asked.aside[i])));
      for (const { x, y, width: across, height: high } of [code, counter])
        boxes.push({ left: x, top: y, right: x + across, bottom: y + high });
      boxes.forEach((one, i) => {
        const at = `${name} ${width}×${height}: ${i}`;
        assert.ok(one.left >= 0 && one.right <= width + 1 && one.bottom <= used + 1, at);
        boxes.slice(0, i).forEach((other, j) => {
          const apart =
            one.right <= other.left + 1 ||
            other.right <= one.left + 1 ||
            one.bottom <= other.top + 1 ||
            other.bottom <= one.top + 1;
          assert.ok(apart, `${at} and ${j}`);
        });
      });
    }
  }
});

test("the matrices are the first to become small: their elements are smaller than those of tiles with digits", () => {
  for (const name of Object.keys(KERNELS)) {
    for (const [width, height] of SIZES) {
      const asked = wanted(name, width, height);
      const { product, aside } = arrange(asked);
      const numbered = aside.map(({ scale }, i) => ({ scale, ...asked.aside[i] })).filter(({ digits }) => digits);
      if (!numbered.length) continue;
      const tiles = numbered.filter(({ tile }) => tile);
      const legible = numbered.every(({ digits, scale }) => UNIT * scale >= LEAST * digits);
      const map = (5 * EM) / Math.max(asked.product.A.height, asked.product.B.height, asked.product.C.height);
      const most = Math.max(...(tiles.length && legible ? tiles : numbered).map(({ scale }) => scale));
      const share = tiles.length && legible ? 0.8 : 1;
      assert.ok(product.C.scale <= Math.max(map, share * most) + 0.01, `${name} ${width}×${height}`);
    }
  }
});

test("tiles and accumulators have digits of 12 pixels in Lab beside its file browser, and of 20 on a large screen", () => {
  const pixels = ({ aside }) => DIGITS * Math.min(...aside.map(({ scale }) => scale)); // three digits in a cell
  for (const name of ["naive16", "tiled16", "prefetched"]) {
    for (const [width, height] of [
      [905, 440],
      [440, 420],
    ])
      if (name !== "prefetched" || width > 500)
        assert.ok(pixels(arrange(wanted(name, width, height))) >= 12, `${name} ${width}`);
    assert.ok(pixels(arrange(wanted(name, 1450, 790))) >= 20, name);
  }
});

test("the source has room for the current line with two above and below it, however they are wrapped", () => {
  const asked = { ...wanted("tiled16", 905, 490), lines: new Array(20).fill([30, 30]) };
  const [short, long] = [asked, { ...asked, lines: new Array(20).fill([90, 90]) }].map((each) => arrange(each).code);
  assert.ok(short.height >= 5 * EM && long.height * long.width >= 2 * 5 * EM * 19 * EM);
});
