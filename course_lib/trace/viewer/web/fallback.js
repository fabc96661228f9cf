// Fallbacks (course_lib/trace/viewer/fallback.py): a picture or a text in the output before the widget's own. A widget
// that runs hides its fallback, once it shows something.

const FIRST_TRY = 20; // ms, doubled after each attempt
const SLOWEST = 5000;

// The texts of a widget's model; the last one is short.
const TEXTS = ["_esm", "_css", "_data", "_other", "_orders", "_plan", "_sketch", "_fallback"];

/**
 * @typedef {{get(name: string): any, set(name: string, value: any): void, save_changes(): void,
 *   on(names: string, listener: () => void): void, off(names: string, listener: () => void): void}} Model  as far as it is used
 */

/**
 * When the kernel closes a widget, free the texts of its model: JupyterLab keeps the model until the kernel is shut down.
 * @param {{model: Model}} place
 */
export function initialize({ model }) {
  // after its views have left the page
  return () => setTimeout(() => TEXTS.forEach((name) => model.get(name) && model.set(name, "")));
}

/**
 * Hide the fallback, as soon as the widget is on the page.
 * @param {Model} model
 * @param {HTMLElement} el the widget's place, empty until the widget has drawn itself
 * @param {(fallback: HTMLElement) => void} [found] called with the fallback's output while the widget has not drawn itself
 * @returns {() => void} to be called when the widget leaves the page
 */
export function hideFallback(model, el, found) {
  const mark = model.get("_fallback");
  if (!mark) return () => {};
  /** @type {HTMLElement | null} */
  let hidden = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const replace = () => {
    if (!el.isConnected) return false;
    const fallback = outputBefore(el, mark);
    if (!el.firstElementChild || el.querySelector("[role=alert]")) {
      if (fallback) found?.(fallback);
      return false;
    }
    sizes.disconnect();
    clearTimeout(timer);
    hidden = fallback;
    if (hidden) hidden.style.display = "none";
    return true;
  };
  // Front ends insert the place at any time. It has a size once it is inserted and drawn; but outside the visible part of
  // the page this may not be reported, and the page must not move when the widget is scrolled into view.
  const sizes = new ResizeObserver(replace);
  sizes.observe(el);
  const again = (/** @type {number} */ after) => {
    timer = setTimeout(() => replace() || again(Math.min(2 * after, SLOWEST)), after);
  };
  again(FIRST_TRY);
  return () => {
    sizes.disconnect();
    clearTimeout(timer);
    hidden?.style.removeProperty("display");
  };
}

/**
 * The output before the widget's, if it holds only the fallback. It is found by its contents, because each front end
 * has its own elements and classes. Before a box of several widgets there are as many fallbacks.
 * @param {Element} el
 * @param {string} mark
 * @returns {HTMLElement | null}
 */
function outputBefore(el, mark) {
  for (let node = el; node.parentElement && node !== document.body; node = node.parentElement) {
    for (
      let before = node.previousElementSibling;
      before instanceof HTMLElement;
      before = before.previousElementSibling
    ) {
      const all = [...before.querySelectorAll("img, .tile-by-tile-still")];
      if (!all.length) break;
      const fallbacks = all.filter((fallback) => isFallback(fallback, mark));
      if (!fallbacks.length || before.style.display === "none") continue; // another widget's
      const [fallback] = fallbacks;
      const alone = fallbacks.length === 1 && before.textContent?.trim() === fallback.textContent?.trim();
      return alone ? before : null;
    }
  }
  return null;
}

/** @param {Element} node @param {string} mark */
function isFallback(node, mark) {
  return !(node instanceof HTMLImageElement) || node.src.endsWith(mark);
}
