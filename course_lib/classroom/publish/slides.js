// Follows reveal.js, and the constant `size` of convert.py.
const WIDGETS = ".tt-root, .tt-schedule, .tt-launches";
Reveal.initialize({
  ...size,
  margin: 0.02,
  center: false,
  hash: true,
  transition: "none",
  slideNumber: "c/t",
  plugins: [RevealNotes],
  // a widget that has the focus keeps its keys; Enter gives it to the slide's first one, Escape takes it back
  keyboardCondition: () => !document.activeElement?.closest(WIDGETS),
  keyboard: { 13: () => Reveal.getCurrentSlide().querySelector(".tt-root, .tt-schedule input")?.focus() },
});
addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || !document.activeElement?.closest(".tt-schedule, .tt-launches")) return;
    document.activeElement.blur();
    event.stopPropagation(); // reveal.js shows all slides
  },
  true,
);
