// A question, a box or buttons for the guess, and the truth beside the guess once there is one.
// What is right is decided in Python; without a kernel the page still shows the guess and the truth.

import { replaceStill } from "./still.js";

/**
 * @typedef {{get(name: string): any, set(name: string, value: any): void, save_changes(): void,
 *   on(names: string, listener: () => void): void, off(names: string, listener: () => void): void}} Model
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} className
 * @param {string} [text]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.append(...coded(text));
  return made;
}

// Words in backquotes become code.
/** @param {string} text */
function coded(text) {
  return text.split("`").map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}

/** @param {Model} model @param {(guess: string) => void} submit */
function input(model, submit) {
  const choices = model.get("choices");
  if (choices.length) {
    const group = element("div", "predict-choices");
    group.setAttribute("role", "group");
    for (const choice of choices) {
      const button = element("button", "predict-choice", choice);
      button.type = "button";
      button.addEventListener("click", () => submit(choice));
      group.append(button);
    }
    return group;
  }
  const form = element("form", "predict-form");
  const box = element("input", "predict-box");
  box.type = "text";
  box.placeholder = "your guess";
  box.setAttribute("aria-label", model.get("question"));
  const button = element("button", "predict-choice", "Compare");
  button.type = "submit";
  form.append(box, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (box.value.trim()) submit(box.value.trim());
  });
  return form;
}

/** @param {Model} model */
function outcome(model) {
  const guess = model.get("guess");
  const shown = element("div", `predict-outcome predict-${model.get("right") || "open"}`);
  const table = element("dl", "predict-pair");
  /** @type {Record<string, string>} */
  const marks = { yes: "✓ ", no: "✗ " };
  const mark = marks[model.get("right")] ?? "";
  table.append(element("dt", "", "your guess"), element("dd", "", mark + guess));
  table.append(element("dt", "", "the answer"), element("dd", "", model.get("answer")));
  shown.append(table);
  if (model.get("because")) shown.append(element("p", "predict-because", model.get("because")));
  shown.append(element("p", "predict-score", model.get("score")));
  return shown;
}

/** @param {{model: Model, el: HTMLElement}} place */
function render({ model, el }) {
  const root = element("section", "predict");
  root.addEventListener("keydown", (event) => event.stopPropagation()); // JupyterLab's shortcuts are not meant here
  const live = element("div", "predict-live");
  live.setAttribute("aria-live", "polite");
  const submit = (/** @type {string} */ guess) => {
    model.set("guess", guess);
    model.save_changes();
  };
  const question = element("p", "predict-question");
  question.append(element("b", "", "Predict: "), ...coded(model.get("question")));
  root.append(question, input(model, submit), live);
  const draw = () => {
    const problem = model.get("problem");
    const shown = problem ? element("p", "predict-problem", problem) : model.get("guess") ? outcome(model) : "";
    live.replaceChildren(shown);
  };
  const watched = "change:guess change:right change:problem change:score";
  model.on(watched, draw);
  draw();
  el.replaceChildren(root);
  const bringBack = replaceStill(model, el);
  return () => {
    bringBack();
    model.off(watched, draw);
  };
}

export default { render };
