/* Built by tools/build_viewer.py; change course_lib/viewer/web instead. sources dcedd0ea277b6e2f bundle ca97c30201400812 */
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
function input(model, submit) {
  const choices = model.get("choices");
  if (choices.length) {
    const group = element("div", "predict-choices");
    group.setAttribute("role", "group");
    for (const choice of choices) {
      const button2 = element("button", "predict-choice", choice);
      button2.type = "button";
      button2.addEventListener("click", () => submit(choice));
      group.append(button2);
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
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const live = element("div", "predict-live");
  live.setAttribute("aria-live", "polite");
  const submit = (guess) => {
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
var predict_default = { render };
export {
  predict_default as default
};
