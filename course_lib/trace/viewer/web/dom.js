// Building the page: elements of HTML and SVG, and the icons of the buttons.

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  start: "M4 3h2v10H4zM13 3v10L6.5 8z",
  back: "M11.5 3v10L4.5 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M4.5 3v10l7-5z",
  end: "M10 3h2v10h-2zM3 3v10l6.5-5z",
  finding: "M8 1.6 15 14H1zM7.2 6v4h1.6V6zm0 5v1.6h1.6V11z",
  link: "M6.5 9.5 9.5 6.5M7 5l2-2a2.8 2.8 0 0 1 4 4l-2 2M9 11l-2 2a2.8 2.8 0 0 1-4-4l2-2",
  done: "M3 8.5 6.5 12 13 4.5",
  full: "M2 2h5v2H4v3H2zm7 0h5v5h-2V4H9zM2 9h2v3h3v2H2zm10 0h2v5H9v-2h3z",
};

/** @typedef {Record<string, string | number>} Attributes */

/** Give an element attributes. @template {Element} E @param {E} node @param {Attributes} attributes */
export function setAttributes(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}

/** @param {string} tag @param {Attributes} attributes @param {...(Node | string)} children @returns {HTMLElement} */
export function html(tag, attributes = {}, ...children) {
  const node = setAttributes(document.createElement(tag), attributes);
  node.append(...children);
  return node;
}

/** @param {string} tag @param {Attributes} attributes @param {...(Node | string)} children */
export function svg(tag, attributes = {}, ...children) {
  const node = /** @type {SVGElement} */ (setAttributes(document.createElementNS(SVG, tag), attributes));
  node.append(...children);
  return node;
}

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/**
 * The element of this class, which must be in the layout.
 * @param {ParentNode} root
 * @param {string} name
 * @returns {HTMLElement}
 */
export function part(root, name) {
  const node = root.querySelector(`.tt-${name}`);
  if (!node) throw new Error(`The layout has no .tt-${name}.`);
  return /** @type {HTMLElement} */ (node);
}

/** Write a text unless it is there already, which would cost a layout. @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set an attribute unless it has this value already, which would compute its style again.
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * Replace the children of an element unless they are the same.
 * @param {Element} place
 * @param {readonly Element[]} nodes
 */
export function setChildren(place, nodes) {
  const there = place.children;
  if (there.length !== nodes.length || nodes.some((node, i) => node !== there[i])) place.replaceChildren(...nodes);
}

/** What a page holds as text: bytes that were deflated. @param {string} packed */
export function inflate(packed) {
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
}

/**
 * Follow a pointer that is pressed on an element, also beside it, until it is released.
 * @param {Element} place
 * @param {(event: PointerEvent) => void} to
 */
export function drag(place, to) {
  const pressed = (/** @type {any} */ event) => {
    if (event.button) return;
    to(event);
    const held = new AbortController();
    window.addEventListener("pointermove", to, held);
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => held.abort(), held);
  };
  place.addEventListener("pointerdown", pressed);
}

/**
 * One stop of Tab for some elements of a place; arrow keys go from one that is shown to the next.
 * @param {HTMLElement} place
 * @param {string} which
 * @param {[string, string]} keys  on and back
 * @param {boolean} [around]  whether the first follows the last
 */
export function roveFocus(place, which, [on, back], around = false) {
  const all = () =>
    /** @type {HTMLElement[]} */ ([...place.querySelectorAll(which)]).filter((one) => one.getClientRects().length);
  place.addEventListener("keydown", (event) => {
    const [some, way] = [all(), { [on]: 1, [back]: -1 }[event.key]];
    const at = some.indexOf(/** @type {HTMLElement} */ (event.target));
    if (at < 0 || !way) return;
    event.preventDefault();
    event.stopPropagation();
    some[around ? (at + way + some.length) % some.length : at + way]?.focus();
  });
  place.addEventListener("focusin", ({ target }) => {
    const some = all();
    if (some.includes(/** @type {HTMLElement} */ (target)))
      for (const one of some) one.tabIndex = one === target ? 0 : -1;
  });
}

/** Whether a key press or a click is meant for the browser or the page, not for what has the focus. @param {KeyboardEvent | MouseEvent} event */
export const hasModifier = ({ altKey, ctrlKey, metaKey }) => altKey || ctrlKey || metaKey;
