// Predictions on a page without a kernel: what `course_lib.exercises.predict` judges in Python, from the answer's text.
// `viewer` is the widget's module. The reader's guesses are kept in the browser.
const TOLERANCE = 0.01;
/** The numbers in a text such as "1,024", "3/4", "2*8+3" or "1, 4"; null where there is anything else. */
function numbers(text, count) {
  const parts = count === 1 ? [text] : text.split(/[;,]\s*|\s+and\s+|\s+/);
  const found = parts.filter(Boolean).map((part) => {
    const sum = part
      .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
      .replace(/\^/g, "**")
      .replace(/[·×]/g, "*")
      .trim();
    if (!/^[\d.+\-*/() eE]+$/.test(sum)) return NaN;
    try {
      return Number(Function(`"use strict"; return (${sum})`)());
    } catch {
      return NaN;
    }
  });
  return found.length === count && found.every(Number.isFinite) ? found : null;
}
/** What became of a guess: "yes", "no", or "" and what is wanted instead. */
function judged(guess, answer, choices) {
  if (choices.length) return [guess === answer || answer.endsWith(`(${guess})`) ? "yes" : "no", ""];
  const wanted = answer.split(", "),
    truths = numbers(answer, wanted.length);
  if (!truths) return [guess.toLowerCase() === answer.toLowerCase() ? "yes" : "no", ""];
  const given = numbers(guess, wanted.length);
  if (!given)
    return [
      "",
      `'${guess}' cannot be compared; please give ${wanted.length > 1 ? `${wanted.length} numbers with a space between them` : "a number"}`,
    ];
  const same = (a, b, whole) => (whole ? a === b : Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b)));
  return [given.every((number, i) => same(number, truths[i], /^-?[\d,]+$/.test(wanted[i]))) ? "yes" : "no", ""];
}
const models = [];
function score() {
  const told = models.filter(({ state }) => state.right);
  return `${told.filter(({ state }) => state.right === "yes").length} of ${models.length} predictions right on this page, ${models.length - told.length} open; kept in this browser`;
}
for (const place of document.querySelectorAll("script.tile-by-tile-predict")) {
  const state = { guess: "", right: "", problem: "", score: "", ...JSON.parse(place.textContent) };
  const listeners = [],
    key = ["guess", state.question, ...state.choices].join(" "),
    kept = window.tileByTile.kept;
  const el = document.createElement("div");
  const judge = () => {
    if (!state.guess) return;
    [state.right, state.problem] = judged(state.guess, state.answer, state.choices);
    if (!state.right) return;
    kept.set(key, state.guess);
    state.score = score();
    dispatchEvent(new CustomEvent("tile-by-tile-answered", { detail: el }));
  };
  const model = {
    state,
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      if (name !== "guess") return;
      judge();
      listeners.forEach((listener) => listener());
    },
    on: (_, listener) => listeners.push(listener),
    off() {},
    save_changes() {},
  };
  models.push(model);
  place.replaceWith(el);
  state.guess = kept.get(key) ?? "";
  queueMicrotask(() => {
    judge();
    viewer.render({ model, el });
  });
}
