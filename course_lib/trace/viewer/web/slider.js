// A slider over a list of values, of the timing model and of pictures with sliders.

import { html, setText } from "./dom.js";

/**
 * A slider over a list of values; its text is above it, and is read out.
 * @param {string} name @param {number[]} values @param {(value: number) => string} says
 * @param {(value: number) => void} chosen
 */
export function slider(name, values, says, chosen) {
  const input = /** @type {HTMLInputElement} */ (
    html("input", { type: "range", min: 0, max: values.length - 1, step: 1, class: `tt-slider-${name}` })
  );
  const text = html("b");
  input.addEventListener("input", () => chosen(values[Number(input.value)]));
  return {
    label: html("label", {}, text, input),
    /** @param {number} value */
    show(value) {
      input.value = String(Math.max(values.indexOf(value), 0));
      input.setAttribute("aria-valuetext", says(value));
      setText(text, says(value));
    },
  };
}
