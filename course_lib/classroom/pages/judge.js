// Predictions on a page without a kernel: what `course_lib.exercises.predict` judges in Python, from the answer's text.
// `viewer` is the widget's module. The reader's guesses are kept in the browser.
const TOLERANCE = 0.01;
const LARGE = 10000;
const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const NAMED = { none: 0, half: 1 / 2, "a half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4 };
NUMBERS.forEach((word, number) => {
  NAMED[word] = number;
});
/** A text without spaces, commas, brackets and quotes, in small letters. */
function key(text) {
  return text
    .replace(/[\s,;()[\]"'`’]/g, "")
    .replace(/[.!]+$/, "")
    .toLowerCase();
}
/** The value of "1024", "3/4" or "2*8+3"; NaN where there is anything else. */
function calculated(text) {
  const sum = text.replace(/\^/g, "**").replace(/[·×]/g, "*").replace(/−/g, "-").trim();
  if (sum.length > 100 || !/^[\d.+\-*/() eE]+$/.test(sum)) return NaN;
  try {
    return Number(Function(`"use strict"; return (${sum})`)());
  } catch {
    return NaN;
  }
}
/** The numbers that a text may mean, as `guesses.numbers_of` has them. */
function numbersOf(guess, question, fraction) {
  let text = guess
    .trim()
    .toLowerCase()
    .replace(/[\u00a0\u2009\u202f]/g, " ")
    .replace(/^(?:about|around|roughly|approximately|approx\.?|circa|ca\.?|[~≈=])\s*/, "")
    .replace(/[ .!]+$/, "");
  const percent = /\s*(?:%|per ?cent)$/;
  const share = percent.test(text) && fraction && !/%|percent/i.test(question);
  text = text.replace(percent, "").replace(/(?<=[\d)])(?:\s*[x×*]|\s+times)$/, "");
  const singular = (word) => word.replace(/s+$/, "");
  const known = new Set((question.toLowerCase().match(/[a-z][a-z/]*/g) ?? []).map(singular));
  const unit = text.match(/(?<=[\d)])\s+([a-z][a-z/ ]*)$/);
  if (unit?.[1].split(/\s+/).every((word) => known.has(singular(word)))) text = text.slice(0, unit.index);
  const without = text.replace(/(?<=\d)[,' ’](?=\d{3}(?!\d))/g, "");
  const points = text.replace(/(?<![\d.])\d{1,3}(?:\.\d{3})+(?![\d.])/g, (found) => found.replaceAll(".", ""));
  const forms = [text, without, ...[text, without, points].map((form) => form.replaceAll(",", "."))];
  const values = text in NAMED ? [NAMED[text]] : [];
  values.push(...forms.map(calculated));
  return [...new Set(values)].filter(Number.isFinite).map((value) => (share ? value / 100 : value));
}
/** The lists of so many numbers that a text may mean, as `guesses.lists_of` has them. */
function listsOf(guess, count, question) {
  const text = guess.trim().replace(/^[([](.*)[)\]]$/, "$1");
  const whole = text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, "");
  const between = [/;|\band\b|&/, /,\s+|;|\band\b|&/, /\s+/, /[,;]/, /(?:[\s,;&]|\band\b)+/];
  const ways = [text, whole].flatMap((each) => between.map((signs) => each.split(signs).filter((part) => part.trim())));
  return ways
    .filter((parts) => parts.length === count)
    .flatMap((parts) =>
      parts
        .map((part) => numbersOf(part, question, true))
        .reduce((lists, values) => lists.flatMap((list) => values.map((value) => [...list, value])), [[]]),
    );
}
/** Whether a guess is right, as `guesses.equal` decides it. */
function equal(guess, truth, whole) {
  if (whole && Math.abs(truth) < LARGE) return guess === truth;
  const close = (a, b, share) => Math.abs(a - b) <= share * Math.max(Math.abs(a), Math.abs(b));
  const inPercent = Math.abs(truth) >= 0.1 && Math.abs(truth) < 1 && close(100 * guess, Math.round(100 * truth), 1e-9);
  return inPercent || close(guess, truth, TOLERANCE);
}
/** What became of a guess: "yes", "no", or "" and what is wanted instead. */
function judged(guess, answer, choices, question = "") {
  if (choices.length) return [guess === answer || answer.endsWith(`(${guess})`) ? "yes" : "no", ""];
  if (key(guess) === key(answer) && !answer.includes(", ")) return ["yes", ""];
  // digits without a comma are a text, such as "1101": a number of four digits has one
  if (/^\d{4,}$/.test(answer) && /^\d+$/.test(key(guess))) return ["no", ""];
  const wanted = answer.split(", ");
  const truths = wanted.map((each) => calculated(each.replaceAll(",", "")));
  if (!truths.every(Number.isFinite)) return [key(guess) === key(answer) ? "yes" : "no", ""];
  const several = wanted.length > 1;
  const given = several
    ? listsOf(guess, wanted.length, question)
    : numbersOf(guess, question, Math.abs(truths[0]) <= 1).map((number) => [number]);
  if (!given.length)
    return [
      "",
      `'${guess}' cannot be compared; please give ${several ? `${wanted.length} numbers with a space between them` : "a number"}`,
    ];
  const whole = wanted.map((each) => /^-?[\d,]+$/.test(each));
  return [given.some((list) => list.every((number, i) => equal(number, truths[i], whole[i]))) ? "yes" : "no", ""];
}
const models = [];
function score() {
  const judged = models.filter(({ state }) => state.right);
  return `${judged.filter(({ state }) => state.right === "yes").length} of ${models.length} predictions right on this page, ${models.length - judged.length} open; kept in this browser`;
}
for (const place of document.querySelectorAll("script.tile-by-tile-predict")) {
  const state = { guess: "", right: "", problem: "", score: "", ...JSON.parse(place.textContent) };
  const listeners = [],
    key = ["guess", state.question, ...state.choices].join(" "),
    kept = window.tileByTile.kept;
  const el = document.createElement("div");
  const judge = () => {
    if (!state.guess) return;
    [state.right, state.problem] = judged(state.guess, state.answer, state.choices, state.question);
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
