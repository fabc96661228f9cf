// Drawings of lanes and banks whose digits are never smaller than the stylesheet says: they take more rows instead.

import { WARP } from "./trace.js";

const EM = 13.5; // pixels of the text at its usual size
const SCROLLBAR = 16; // pixels that it may take from the place

/** The width of a view's place in units, of a pixel or, in a larger text, of more. @param {import("./panel.js").Size} size */
export const widthInUnits = ({ panelWidth, em }) => Math.floor((panelWidth - SCROLLBAR) / Math.max(1, em / EM));

/**
 * How many lanes, or banks, are in a row.
 * @param {number} room  in units
 * @param {number} cell  the width of each, in units
 */
export const cellsPerRow = (room, cell) =>
  [WARP, WARP / 2, WARP / 4].find((count) => count * cell + 2 <= room) ?? WARP / 8;

/**
 * Give a drawing its size: a unit is a pixel at least.
 * @param {SVGElement} node
 * @param {number} width  in units
 * @param {number} height  in units
 * @param {number} [larger]  how much larger than a pixel it becomes at the usual size of the text, where there is room
 */
export function setDrawingSize(node, width, height, larger = 1.15) {
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  node.style.maxWidth = `max(${width}px, ${(larger * width) / EM}em)`;
}
