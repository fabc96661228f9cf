// A question, a box or buttons for the guess, and the truth beside the guess once there is one.
// What is right is decided in Python; without a kernel the page still shows the guess and the truth.

import { html } from "./dom.js";
import { initialize, hideFallback } from "./fallback.js";

/** @typedef {import("./fallback.js").Model} Model */

// Words in backquotes become code.
/** @param {string} text */
function coded(text) {
  return text.split("`").map((part, i) => (i % 2 ? html("code", {}, part) : part));
}

const TYPE = "Type your guess, then press Enter. Esc leaves the box.";
const CHOOSE = "Choose with the arrow keys, then press Enter. Esc leaves the choices.";
const KEYS = "Enter: answer · Shift+Enter: answer and go on · Esc: leave";

// The part that takes the guess, and has the focus while there is none.
/** @param {Model} model @param {(guess: string) => void} submit @param {(what: string) => void} say */
function input(model, submit, say) {
  const choices = model.get("choices");
  return choices.length ? buttons(choices, submit, say) : box(model.get("question"), submit, say);
}

/** @param {string[]} choices @param {(guess: string) => void} submit @param {(what: string) => void} say */
function buttons(choices, submit, say) {
  const all = choices.map((choice) => {
    const button = html("button", { class: "predict-choice", type: "button" }, ...coded(choice));
    button.addEventListener("click", () => submit(choice));
    return button;
  });
  const group = html("div", { class: "predict-choices", role: "group", tabindex: -1, title: KEYS }, ...all);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = all.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    if (step) all.at(at < 0 && step < 0 ? -1 : (at + step) % all.length)?.focus();
    else if (event.key !== "Enter") return;
    else if (at < 0) say(CHOOSE);
    else all[at].click();
    event.preventDefault();
  });
  return { shown: group, focused: group };
}

/** @param {string} question @param {(guess: string) => void} submit @param {(what: string) => void} say */
function box(question, submit, say) {
  const field = /** @type {HTMLInputElement} */ (
    html("input", {
      class: "predict-box",
      type: "text",
      placeholder: "your guess",
      title: KEYS,
      "aria-label": question,
    })
  );
  const button = html("button", { class: "predict-choice", type: "submit" }, "Compare");
  const form = /** @type {HTMLFormElement} */ (html("form", { class: "predict-form" }, field, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) submit(field.value.trim());
    else say(TYPE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault(); // with Shift, a browser may open a window for the form
    form.requestSubmit();
  });
  return { shown: form, focused: field };
}

// Whether JupyterLab's reader has just run this cell: it is active, or the one after it is, and nobody is typing.
/** @param {HTMLElement} root */
function justRun(root) {
  const cell = root.closest(".jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) .jp-Cell");
  const notebook = cell?.closest(".jp-Notebook");
  if (!cell || !notebook?.contains(document.activeElement)) return false;
  return [cell, cell.nextElementSibling].some((each) => each?.classList.contains("jp-mod-active"));
}

// A cell that has the focus is JupyterLab's active one, in command mode.
/** @param {HTMLElement} root @param {boolean} onward to the next cell */
function leave(root, onward) {
  const cell = root.closest(".jp-Cell");
  const next = onward ? cell?.nextElementSibling : null;
  const to = next ?? cell;
  if (to instanceof HTMLElement) to.focus();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/** @param {Model} model */
function outcome(model) {
  const judged = { yes: ["✓ ", ", right"], no: ["✗ ", ", wrong"] };
  const [mark, verdict] = judged[/** @type {"yes" | "no"} */ (model.get("right"))] ?? ["", ""];
  const row = (/** @type {string} */ name, /** @type {string} */ text) => [
    html("dt", {}, name),
    html("dd", {}, ...coded(text)),
  ];
  const pair = html(
    "dl",
    { class: "predict-pair" },
    ...row(`your guess${verdict}`, mark + model.get("guess")),
    ...row("the answer", model.get("answer")),
  );
  const texts = ["because", "score"].filter((name) => name === "score" || model.get(name));
  const said = texts.map((name) => html("p", { class: `predict-${name}` }, ...coded(model.get(name))));
  return html("div", { class: `predict-outcome predict-${model.get("right") || "open"}` }, pair, ...said);
}

/** @param {{model: Model, el: HTMLElement}} place */
function render({ model, el }) {
  const live = html("div", { class: "predict-live", "aria-live": "polite" });
  let goesOn = false;
  const say = (/** @type {string} */ what) =>
    live.replaceChildren(html("p", { class: "predict-problem" }, ...coded(what)));
  const submit = (/** @type {string} */ guess) => {
    if (guess === model.get("guess")) return draw();
    model.set("right", ""); // until Python has answered
    model.set("problem", "");
    model.set("guess", guess);
    model.save_changes();
  };
  const question = html(
    "p",
    { class: "predict-question" },
    html("b", {}, "Predict: "),
    ...coded(model.get("question")),
  );
  const { shown, focused } = input(model, submit, say);
  const root = html("section", { class: "predict" }, question, shown, live);
  root.addEventListener("keydown", (event) => {
    event.stopPropagation(); // JupyterLab's shortcuts are not meant here
    if (event.key === "Escape") leave(root, false);
  });
  root.addEventListener(
    "keydown",
    (event) => {
      goesOn = event.key === "Enter" && event.shiftKey;
    },
    true,
  );
  const draw = () => {
    const problem = model.get("problem");
    if (problem) say(problem);
    else live.replaceChildren(model.get("guess") ? outcome(model) : "");
    if (!goesOn || !model.get("right")) return;
    goesOn = false;
    leave(root, true);
  };
  const watched = "change:guess change:right change:problem change:score";
  model.on(watched, draw);
  draw();
  el.replaceChildren(root);
  const arrived = new ResizeObserver(() => {
    arrived.disconnect();
    if (!model.get("right") && justRun(root)) focused.focus();
  });
  arrived.observe(root);
  const showFallback = hideFallback(model, el);
  return () => {
    arrived.disconnect();
    showFallback();
    model.off(watched, draw);
  };
}

export default { initialize, render };
