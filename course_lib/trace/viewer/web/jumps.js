// Lists whose rows lead to the steps behind them, one after another: lines, registers, counts, costs.

import { html, roveFocus } from "./dom.js";

/**
 * The button of a row; of a list, Tab reaches one of them, and the arrow keys reach the others.
 * @param {string} text
 * @param {string} what  the step does
 */
export function jumpButton(text, what) {
  return html(
    "button",
    {
      type: "button",
      class: "tt-jump",
      tabindex: -1,
      title: `To the next step that ${what}; with Shift, to the one before`,
    },
    text,
  );
}

/**
 * Follow clicks on the rows of a list, and the keys on their buttons.
 * @param {HTMLElement} place
 * @param {string} rows  their selector
 * @param {() => import("./panel.js").Context} context  of the moment
 * @param {(row: HTMLElement) => readonly number[]} positions  of the steps behind a row, ascending
 */
export function jumpOnClick(place, rows, context, positions) {
  roveFocus(place, ".tt-jump", ["ArrowDown", "ArrowUp"]);
  place.addEventListener("click", ({ target, shiftKey }) => {
    const row = /** @type {HTMLElement} */ (target).closest(rows);
    if (!row?.querySelector(".tt-jump") || !getSelection()?.isCollapsed) return;
    const { replay, choose } = context();
    const found = positions(/** @type {HTMLElement} */ (row));
    const [before, after] = [found.filter((p) => p < replay.position), found.filter((p) => p > replay.position)];
    const step = shiftKey ? (before.pop() ?? after.pop()) : (after[0] ?? before[0]);
    if (step !== undefined) choose({ step });
  });
}

/** Let Tab reach one of the buttons of a list. @param {HTMLElement | null} place */
export function addToTabOrder(place) {
  const [first, ...others] = place?.querySelectorAll(".tt-jump") ?? [];
  if (first && ![first, ...others].some((one) => /** @type {HTMLElement} */ (one).tabIndex === 0))
    /** @type {HTMLElement} */ (first).tabIndex = 0;
}
