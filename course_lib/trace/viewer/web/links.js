// Links to a step: #step=21&block=1,0&thread=1,1&panel=warp, in the address of a page, or in the prose of a lesson, where
// a link moves the stepper below it. Of two runs beside each other the step is a common one; #step=8&run=2 is the eighth
// statement of the second run.

/** The model's name of what a number, or three of them, in a link stands for. */
const NUMBERS = { step: "step", run: "statements_of" };
const PLACES = ["block", "thread"];

/**
 * @typedef {object} Link  what a link asks for
 * @property {{step?: number, statements_of?: number, block?: number[], thread?: number[], panel?: string}} values  of the model
 * @property {string[]} invalid  its parts that are no numbers
 * @property {number} number  of the stepper
 */

/**
 * What a link asks for; null if it asks for no step.
 * @param {string} hash
 * @returns {Link | null}
 */
function parseLink(hash) {
  const words = new URLSearchParams(hash.slice(1));
  if (!words.has("step")) return null;
  /** @type {Record<string, unknown>} */
  const values = {};
  const invalid = [];
  for (const [name, text] of words) {
    const [number, place] = [Object.hasOwn(NUMBERS, name), PLACES.includes(name)];
    if (!number && !place) continue;
    if (!(number ? /^\d+$/ : /^\d+(,\d+){0,2}$/).test(text)) invalid.push(`${name}=${text}`);
    else if (number) values[NUMBERS[/** @type {keyof typeof NUMBERS} */ (name)]] = Number(text);
    else values[name] = [...text.split(",").map(Number), 0, 0].slice(0, 3);
  }
  if (words.get("panel")) values.panel = words.get("panel");
  return { values, invalid, number: Number(words.get("stepper") ?? 0) };
}

/**
 * Follow the address of a saved page, if it asks this stepper, the first one without a number.
 * @param {import("./player.js").Player} player
 */
export function followAddress(player) {
  const link = parseLink(location.hash);
  if (!link || (link.number || 1) !== player.model.get("_saved")) return;
  player.goToLink(link);
  if (link.number) player.el.scrollIntoView();
}

/**
 * Follow a link in the page: the stepper of its number, or the first one below the link, gets the step and the focus.
 * @param {MouseEvent} event
 */
export function followLink(event) {
  const link = /** @type {HTMLElement} */ (event.target).closest?.("a[href^='#step=']");
  const wanted = link && parseLink(link.getAttribute("href") ?? "");
  if (!wanted || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const places = /** @type {(HTMLElement & {stepper: import("./player.js").Player})[]} */ ([
    ...document.querySelectorAll(".tt-place"),
  ]);
  const below = places.find((place) => link.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING);
  const place = wanted.number ? places.find(({ stepper }) => stepper.model.get("_saved") === wanted.number) : below;
  if (!place) return;
  event.preventDefault();
  event.stopPropagation();
  const { stepper } = place;
  stepper.goToLink(wanted);
  const { Reveal } = /** @type {any} */ (globalThis); // of a deck, in which the stepper may have a slide of its own
  const { h, v } = Reveal?.getIndices?.(place.closest("section")) ?? {};
  Reveal?.slide?.(h, v);
  stepper.drawOnce().then(() => {
    stepper.root.focus({ preventScroll: true });
    stepper.root.scrollIntoView({ block: "nearest" });
  });
}
