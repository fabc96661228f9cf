// The layout of the stage over all sizes: nothing shrinks when the window grows, and pictures have their share.

import assert from "node:assert/strict";
import test from "node:test";
import { arrange } from "../../../../course_lib/trace/viewer/web/layout.js";

const [EM, UNIT] = [13.5, 20];
const BAR = 92; // pixels of the bar and the tabs
const shape = (rows, columns, margin, ems) => ({
  width: columns * UNIT + margin + 2,
  height: rows * UNIT + margin + 2,
  most: (ems * EM) / UNIT,
  least: 60,
  weight: 1,
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
    aside: aside.map(([r, c]) => shape(r, c, 12, 2.7)),
    counter: true,
  };
};

test("no side of C shrinks when the stage grows by a pixel, in any size", () => {
  for (const name of Object.keys(KERNELS)) {
    for (let width = 320; width <= 2600; width += 19) {
      for (let height = 200; height <= 1400; height += 17) {
        const { scale } = arrange(wanted(name, width, height)).product.C;
        for (const [x, y] of [
          [1, 0],
          [0, 1],
          [19, 0],
          [0, 17],
        ]) {
          const larger = arrange(wanted(name, width + x, height + y)).product.C.scale;
          assert.ok(
            larger >= scale - 1e-9,
            `${name}: ${scale} at ${width}×${height}, ${larger} at ${width + x}×${height + y}`,
          );
        }
      }
    }
  }
});

test("nothing is outside the stage, and matrices, tiles, code and counter do not overlap", () => {
  for (const name of Object.keys(KERNELS)) {
    for (const [width, height] of [
      [1000, 530],
      [1250, 480],
      [1340, 520],
      [1890, 830],
      [2530, 1190],
      [655, 520],
      [645, 520],
      [483, 525],
      [440, 480],
      [346, 640],
    ]) {
      const asked = wanted(name, width, height);
      const { name: how, product, aside, code, counter } = arrange(asked);
      for (const box of [code, counter])
        assert.ok(!box || box.x + box.width <= width + 1, `${name} ${width}×${height}`);
      const drawn = ({ x, y, scale }, shape) => ({
        left: x,
        top: y,
        right: x + scale * shape.width,
        bottom: y + scale * shape.height,
      });
      const boxes = ["A", "B", "C"].map((role) => drawn(product[role], asked.product[role]));
      for (const { left, right, bottom } of boxes)
        assert.ok(left >= 0 && right <= width + 1 && bottom <= height + 1, `${name} ${width}×${height}`);
      boxes.push(...aside.map((place, i) => drawn(place, asked.aside[i])));
      for (const { x, y, width: across, height: high } of [code, counter])
        boxes.push({ left: x, top: y, right: x + across, bottom: y + high });
      boxes.forEach((one, i) =>
        boxes.slice(0, i).forEach((other, j) => {
          const apart =
            one.right <= other.left + 1 ||
            other.right <= one.left + 1 ||
            one.bottom <= other.top + 1 ||
            other.bottom <= one.top + 1;
          assert.ok(apart, `${name} ${width}×${height}: ${i} and ${j}`);
        }),
      );
      if (how === "column" && name === "tiled16")
        assert.ok(
          Math.max(...boxes.slice(3, -2).map(({ bottom }) => bottom)) < code.y,
          `tiles of ${name} at ${width} are beside its matrices`,
        );
    }
  }
});

test("pictures have 40 % of the stepper, or what geometry allows less five points", () => {
  for (const name of Object.keys(KERNELS)) {
    if (name === "tall") continue;
    for (const [w, h] of [
      [1024, 768],
      [1280, 720],
      [1366, 768],
      [1440, 900],
      [1920, 1080],
      [2560, 1440],
    ]) {
      const [outer, tall] = [w - 32, h - 130];
      const asked = wanted(name, outer - 24, tall - BAR - 14);
      const { product, aside, height } = arrange(asked);
      const area = ({ width, height: high }, scale) => scale * scale * width * high;
      const all =
        ["A", "B", "C"].reduce((sum, role) => sum + area(asked.product[role], product[role].scale), 0) +
        aside.reduce((sum, { scale }, i) => sum + area(asked.aside[i], scale), 0);
      const share = all / (outer * Math.min(tall, height + BAR + 14));
      const [{ A, B, C }] = [asked.product];
      const free = Math.max(
        Math.min(outer / (A.width + B.width + C.width), tall / C.height),
        Math.min(outer / (A.width + C.width), tall / (B.height + C.height)),
      );
      const most =
        ["A", "B", "C"].reduce((sum, role) => sum + area(asked.product[role], Math.min(free, C.most)), 0) /
        (outer * tall);
      assert.ok(share >= Math.min(0.4, most - 0.05), `${name} ${w}×${h}: ${share.toFixed(3)} of ${most.toFixed(3)}`);
    }
  }
});
