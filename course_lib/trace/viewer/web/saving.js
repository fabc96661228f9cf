// Pictures of the stepper as files: a copy of its elements as SVG, drawn for a PNG, and step by step for a GIF.

import { html, part } from "./dom.js";
import { gif } from "./gif.js";

const MOST = 300; // frames of a GIF
const SHARP = 2; // pixels of a PNG for each one of the page
const FRAME = 1000; // ms

/** The form that asks what to save, and the saving. */
export class Saving {
  /** @param {import("./player.js").Player} player */
  constructor(player) {
    this.player = player;
    this.form = /** @type {HTMLFormElement} */ (part(player.root, "saving"));
    this.form.noValidate = true;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.save();
    });
    this.form.addEventListener("change", () => this.show());
    part(this.form, "close").addEventListener("click", () => this.toggle());
  }

  get open() {
    return !this.form.hidden;
  }

  toggle() {
    const { form, player } = this;
    form.hidden = !form.hidden;
    const button = part(player.root, "picture");
    button.setAttribute("aria-expanded", String(this.open));
    if (!this.open) return part(player.root, "menu").focus();
    for (const name of ["first", "last"]) this.input(name).value = String(name === "first" ? player.step : player.last);
    this.tell("");
    this.show();
    this.input("kind").focus();
  }

  /** @param {string} name */
  input(name) {
    return /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name));
  }

  show() {
    part(this.form, "until").hidden = this.input("kind").value !== "GIF";
  }

  /** @param {string} text */
  tell(text) {
    const place = this.form.querySelector("p");
    if (place) place.textContent = text;
  }

  async save() {
    const { player } = this;
    const kind = this.input("kind").value.toLowerCase();
    const [first, last] = ["first", "last"].map((name) => Number(this.input(kind === "gif" ? name : "first").value || NaN));
    if (![first, last].every((n) => Number.isInteger(n) && n >= 0 && n <= player.last) || first > last || last - first >= MOST) {
      return this.tell(`Give steps from 0 to ${player.last}, the first one first, and at most ${MOST} of them.`);
    }
    this.tell("Drawing…");
    try {
      const name = `${player.stage?.trace.kernel}-step-${first}${last > first ? `-to-${last}` : ""}.${kind}`;
      download(await this.file(kind, first, last), name);
      this.tell(`${name} is saved.`);
    } catch (error) {
      console.error(error);
      this.tell("This browser cannot draw the picture. In Python, stepper.save_picture(\"step.png\") does.");
    }
    player.draw();
  }

  /**
   * @param {string} kind
   * @param {number} first
   * @param {number} last
   */
  async file(kind, first, last) {
    const { player } = this;
    const { root } = player;
    const frames = [];
    for (let step = first; step <= last; step++) {
      player.stage?.draw(step, player.filming);
      const text = svgOf(root);
      if (kind === "svg") return new Blob([text], { type: "image/svg+xml" });
      const canvas = await drawn(text, kind === "png" ? SHARP : 1);
      if (kind === "png") return /** @type {Promise<Blob>} */ (new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))))));
      frames.push(/** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(0, 0, canvas.width, canvas.height));
    }
    return gif(frames, FRAME);
  }
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  html("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * The stepper as SVG: a copy of its elements at their present width, all of it in sight, with the rules of the stylesheet.
 * @param {HTMLElement} root
 */
export function svgOf(root) {
  const copy = /** @type {HTMLElement} */ (root.cloneNode(true));
  const canvases = root.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((canvas, i) => {
    const picture = html("img", { src: canvases[i].toDataURL(), class: canvas.className, style: canvas.style.cssText, alt: "" });
    canvas.replaceWith(picture);
  });
  const chosen = root.querySelectorAll("select");
  copy.querySelectorAll("select").forEach((select, i) => {
    const text = chosen[i].selectedOptions[0]?.textContent ?? "";
    if (!select.matches(".tt-block, .tt-thread")) return select.replaceChildren();
    select.replaceWith(html("b", {}, text));
  });
  const rules = rulesOf();
  const style = getComputedStyle(root);
  for (const [, name] of rules.matchAll(/var\((--jp-[\w-]+)/g)) {
    const value = style.getPropertyValue(name);
    if (value) copy.style.setProperty(name, value); // an empty one would replace the stylesheet's own
  }
  copy.classList.add("tt-whole");
  copy.style.width = `${root.offsetWidth}px`;
  root.parentElement?.append(copy); // to measure it
  for (const node of copy.querySelectorAll("*")) if (getComputedStyle(node).display === "none") node.remove();
  const [width, height] = [Math.ceil(copy.offsetWidth), Math.ceil(copy.offsetHeight)];
  copy.remove();
  const image = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) image.setAttribute(name, String(value));
  const place = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
  for (const [name, value] of Object.entries({ width, height })) place.setAttribute(name, String(value));
  place.append(html("style", {}, rules), copy);
  image.append(place);
  return new XMLSerializer().serializeToString(image);
}

/** The stylesheet of the stepper, as it was written: rules that are read one by one lose a font with a variable in it. */
function rulesOf() {
  const texts = [...document.styleSheets].map((sheet) => {
    const written = sheet.ownerNode?.textContent;
    try {
      return written || [...sheet.cssRules].map(({ cssText }) => cssText).join("\n");
    } catch {
      return ""; // of another origin
    }
  });
  return texts.filter((text) => text.includes(".tt-root")).join("\n");
}

/**
 * Draw an SVG.
 * @param {string} text
 * @param {number} scale
 */
async function drawn(text, scale) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = /** @type {HTMLCanvasElement} */ (html("canvas", { width: image.width * scale, height: image.height * scale }));
  canvas.getContext("2d", { willReadFrequently: true })?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}
