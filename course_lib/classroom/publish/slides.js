// Follows reveal.js, and the constant `size` of deck.py.
const WIDGETS = ".tt-root, .tt-schedule, .tt-launches";
// Text and code are as large as their slide allows, in pixels of a slide that is 720 high.
const TEXT = { alone: 40, largest: 32, smallest: 24 };
const CODE = { largest: 26, smallest: 18 };

/** Whether all of a slide's content is in its frame. */
function fits(slide) {
  const body = slide.querySelector(".body");
  const wide = [...body.querySelectorAll("pre, .table")];
  return body.scrollHeight <= body.clientHeight + 1 && wide.every((each) => each.scrollWidth <= each.clientWidth + 1);
}

function fit(slide) {
  if (!slide?.querySelector(".body")) return;
  const largest = slide.querySelector("pre, table, .picture, .live, .asks") ? TEXT.largest : TEXT.alone;
  for (let less = 0; less <= largest - TEXT.smallest; less++) {
    slide.style.setProperty("--text", `${largest - less}px`);
    slide.style.setProperty("--code", `${Math.max(CODE.largest - less, CODE.smallest)}px`);
    if (fits(slide)) break;
  }
  for (const live of slide.querySelectorAll(".live")) {
    const menus = live.querySelector(".tt-launches")?.offsetHeight ?? 0;
    live.style.setProperty("--live", `${live.clientHeight - menus - (menus && 6)}px`);
  }
}

Reveal.initialize({
  ...size,
  margin: 0,
  center: false,
  display: "flex",
  hash: true,
  transition: "none",
  slideNumber: "c/t",
  plugins: [RevealNotes],
  // a widget that has the focus keeps its keys; Enter gives it to the slide's first one, Escape takes it back
  keyboardCondition: () => !document.activeElement?.closest(WIDGETS),
  keyboard: {
    13: () => Reveal.getCurrentSlide().querySelector(".tt-root, .live input")?.focus(),
    68: () => {
      const { dataset } = document.documentElement;
      dataset.theme = dataset.theme === "dark" ? "light" : "dark";
    },
  },
});
Reveal.on("ready", ({ currentSlide }) => fit(currentSlide));
Reveal.on("slidechanged", ({ currentSlide }) => fit(currentSlide));
addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || !document.activeElement?.closest(".tt-schedule, .tt-launches")) return;
    document.activeElement.blur();
    event.stopPropagation(); // reveal.js shows all slides
  },
  true,
);
