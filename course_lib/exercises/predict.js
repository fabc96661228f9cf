/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources 323d6ddf2291bddb bundle c553c7885501c7d4 */
// still.js
var FIRST_TRY = 20;
var SLOWEST = 5e3;
function replaceStill(model, el) {
  const mark = model.get("_still");
  if (!mark) return () => {
  };
  let hidden = null;
  let timer = void 0;
  const replace = () => {
    if (!el.isConnected || !el.firstElementChild || el.querySelector("[role=alert]")) return false;
    sizes.disconnect();
    clearTimeout(timer);
    hidden = outputBefore(el, mark);
    if (hidden) hidden.style.display = "none";
    return true;
  };
  const sizes = new ResizeObserver(replace);
  sizes.observe(el);
  const again = (after) => {
    timer = setTimeout(() => replace() || again(Math.min(2 * after, SLOWEST)), after);
  };
  again(FIRST_TRY);
  return () => {
    sizes.disconnect();
    clearTimeout(timer);
    hidden?.style.removeProperty("display");
  };
}
function outputBefore(el, mark) {
  for (let node = el; node.parentElement && node !== document.body; node = node.parentElement) {
    for (let before = node.previousElementSibling; before instanceof HTMLElement; before = before.previousElementSibling) {
      const all = [...before.querySelectorAll("img, .tile-by-tile-still")];
      if (!all.length) break;
      const stills = all.filter((still2) => isStill(still2, mark));
      if (!stills.length || before.style.display === "none") continue;
      const [still] = stills;
      const alone = stills.length === 1 && before.textContent?.trim() === still.textContent?.trim();
      return alone ? before : null;
    }
  }
  return null;
}
function isStill(node, mark) {
  return !(node instanceof HTMLImageElement) || node.src.endsWith(mark);
}

// predict.js
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== void 0) made.append(...coded(text));
  return made;
}
function coded(text) {
  return text.split("`").map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}
var TYPE = "Type your guess, then press Enter. Esc leaves the box.";
var CHOOSE = "Choose with the arrow keys, then press Enter. Esc leaves the choices.";
var KEYS = "Enter: answer · Shift+Enter: answer and go on · Esc: leave";
function input(model, submit, say) {
  const choices = model.get("choices");
  return choices.length ? buttons(choices, submit, say) : box(model.get("question"), submit, say);
}
function buttons(choices, submit, say) {
  const group = element("div", "predict-choices");
  group.setAttribute("role", "group");
  group.tabIndex = -1;
  group.title = KEYS;
  const all = choices.map((choice) => {
    const button = element("button", "predict-choice", choice);
    button.type = "button";
    button.addEventListener("click", () => submit(choice));
    return button;
  });
  group.append(...all);
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = all.findIndex((button) => button === event.target);
    if (step) all.at(at < 0 && step < 0 ? -1 : (at + step) % all.length)?.focus();
    else if (event.key !== "Enter") return;
    else if (at < 0) say(CHOOSE);
    else all[at].click();
    event.preventDefault();
  });
  return { shown: group, focused: group };
}
function box(question, submit, say) {
  const form = element("form", "predict-form");
  const field = element("input", "predict-box");
  field.type = "text";
  field.placeholder = "your guess";
  field.title = KEYS;
  field.setAttribute("aria-label", question);
  const button = element("button", "predict-choice", "Compare");
  button.type = "submit";
  form.append(field, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) submit(field.value.trim());
    else say(TYPE);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  return { shown: form, focused: field };
}
function justRun(root) {
  const cell = root.closest(".jp-Notebook.jp-mod-commandMode:not(.jp-mod-readWrite) .jp-Cell");
  const notebook = cell?.closest(".jp-Notebook");
  if (!cell || !notebook?.contains(document.activeElement)) return false;
  return [cell, cell.nextElementSibling].some((each) => each?.classList.contains("jp-mod-active"));
}
function leave(root, onward) {
  const cell = root.closest(".jp-Cell");
  const next = onward ? cell?.nextElementSibling : null;
  const to = next ?? cell;
  if (to instanceof HTMLElement) to.focus();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}
function outcome(model) {
  const guess = model.get("guess");
  const shown = element("div", `predict-outcome predict-${model.get("right") || "open"}`);
  const table = element("dl", "predict-pair");
  const marks = { yes: "✓ ", no: "✗ " };
  const mark = marks[model.get("right")] ?? "";
  table.append(element("dt", "", "your guess"), element("dd", "", mark + guess));
  table.append(element("dt", "", "the answer"), element("dd", "", model.get("answer")));
  shown.append(table);
  if (model.get("because")) shown.append(element("p", "predict-because", model.get("because")));
  shown.append(element("p", "predict-score", model.get("score")));
  return shown;
}
function render({ model, el }) {
  const root = element("section", "predict");
  const live = element("div", "predict-live");
  live.setAttribute("aria-live", "polite");
  let goesOn = false;
  const say = (what) => live.replaceChildren(element("p", "predict-problem", what));
  const submit = (guess) => {
    if (guess === model.get("guess")) return draw();
    model.set("right", "");
    model.set("problem", "");
    model.set("guess", guess);
    model.save_changes();
  };
  const question = element("p", "predict-question");
  question.append(element("b", "", "Predict: "), ...coded(model.get("question")));
  const { shown, focused } = input(model, submit, say);
  root.append(question, shown, live);
  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape") leave(root, false);
  });
  root.addEventListener("keydown", (event) => {
    goesOn = event.key === "Enter" && event.shiftKey;
  }, true);
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
  const bringBack = replaceStill(model, el);
  return () => {
    arrived.disconnect();
    bringBack();
    model.off(watched, draw);
  };
}
var predict_default = { render };
export {
  predict_default as default
};
