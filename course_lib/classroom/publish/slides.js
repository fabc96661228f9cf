// Follows reveal.js, and the constants `size`, `leastPicture` and `smallestZoom` (per cent) of convert.py.
const WIDGETS = ".tt-root, .tt-schedule, .tt-launches";
Reveal.initialize({
  ...size, margin: 0.02, center: false, hash: true, transition: "none", slideNumber: "c/t",
  plugins: [RevealNotes],
  // a widget that has the focus keeps its keys; Enter gives it to the slide's first one, Escape takes it back
  keyboardCondition: () => !document.activeElement?.closest(WIDGETS),
  keyboard: { 13: () => Reveal.getCurrentSlide().querySelector(".tt-root, .tt-schedule input")?.focus() },
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !document.activeElement?.closest(".tt-schedule, .tt-launches")) return;
  document.activeElement.blur();
  event.stopPropagation(); // reveal.js shows all slides
}, true);
// What is too tall for its slide gets smaller: a live stepper takes the height that is left, then pictures, then all.
const fit = () => {
  const slide = Reveal.getCurrentSlide();
  if (!slide) return;
  const over = () => slide.scrollHeight - slide.clientHeight;
  slide.style.zoom = "";
  const stepper = slide.querySelector(".tt-root");
  if (stepper) {
    stepper.style.maxHeight = stepper.style.height = `${slide.clientHeight}px`;
    const room = slide.clientHeight - over();
    stepper.style.maxHeight = stepper.style.height = "";
    if (room < stepper.offsetHeight) stepper.style.maxHeight = `${room}px`;
  }
  for (const picture of slide.querySelectorAll("img")) {
    if (over() > 1) picture.style.maxHeight = `${Math.max(picture.offsetHeight - over(), leastPicture)}px`;
  }
  // The zoom in per cent, from large to small: what wraps gets lower by more than the zoom, borders by less.
  for (let zoom = 99; over() > 1 && zoom >= smallestZoom; zoom--) slide.style.zoom = zoom / 100;
};
Reveal.on("ready", fit);
addEventListener("load", fit); // when the widgets are there
Reveal.on("slidechanged", fit);
document.addEventListener("toggle", fit, true);
