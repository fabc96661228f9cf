// A handle on the border of the block's region in A, B and C: dragged, it chooses another width of the tile, of which a
// launch is stored.

import { hasModifier, drag, setAttributes, svg } from "./dom.js";
import { UNIT } from "./plane.js";

/** @typedef {{widths: number[], now: number, choose: (width: number) => void}} Tiles */
/** @typedef {"A" | "B" | "C"} Role */

const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Put the handle on the border of a plane's region.
 * @param {import("./plane.js").Plane} plane
 * @param {Role} role
 * @param {Tiles} tiles
 */
export function putHandle(plane, role, tiles) {
  const { layer, outline } = plane;
  layer.querySelector(".tt-handle")?.remove();
  const side = (/** @type {string} */ name) => Number(outline.getAttribute(name));
  const [x, y, width, height] = ["x", "y", "width", "height"].map(side);
  const [across, down] = { A: [0.5, 1], B: [1, 0.5], C: [1, 1] }[role];
  const { widths, now } = tiles;
  const list = widths.join(", ");
  const node = svg(
    "g",
    {
      class: "tt-handle",
      role: "slider",
      tabindex: role === "C" ? 0 : -1,
      "aria-label": "Tile width",
      "aria-valuemin": widths[0],
      "aria-valuemax": widths[widths.length - 1],
      "aria-valuenow": now,
      "aria-valuetext": `T = ${now}`,
    },
    svg("circle", { cx: x + across * width, cy: y + down * height }),
    svg("title", {}, `Drag for another tile width T: ${list}`),
  );
  if (role === "C") {
    const at = setAttributes(svg("text", { class: "tt-handle-text" }), { x: x + width, y: y + height });
    at.textContent = `T = ${now}`;
    node.append(at);
  }
  layer.append(node);
  /** Pixels of the region's corner and of an element, where the drag began. */
  let [left, top, element] = [0, 0, 1];
  node.addEventListener("pointerdown", () => {
    const box = layer.getBoundingClientRect();
    const scale = box.width / (plane.width + 2);
    [left, top, element] = [box.left + x * scale, box.top + y * scale, UNIT * scale];
  });
  drag(node, (event) => {
    event.stopPropagation();
    event.preventDefault();
    const [beside, below] = [(event.clientX - left) / element, (event.clientY - top) / element];
    const wanted = { A: below, B: beside, C: Math.max(beside, below) }[role];
    tiles.choose(widths.reduce((best, each) => (Math.abs(each - wanted) < Math.abs(best - wanted) ? each : best)));
  });
  for (const what of ["click", "pointermove"]) node.addEventListener(what, (event) => event.stopPropagation());
  node.addEventListener("keydown", (event) => {
    const way = KEYS[/** @type {keyof typeof KEYS} */ (event.key)];
    if (!way || hasModifier(event)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = widths[widths.indexOf(now) + way];
    if (next) tiles.choose(next);
  });
}
