// Follows reveal.js, and the constant `size` of deck.py.
const WIDGETS = ".tt-root, .tt-sliders-widget, .tt-launches";
// Text and code are as large as their slide allows, in pixels of a slide that is 720 high.
const TEXT = { alone: 40, largest: 32, smallest: 24 };
const CODE = { largest: 30, smallest: 18 };

/** Whether code or a table is wider than its slide. */
function tooWide(slide) {
  return [...slide.querySelectorAll("pre, .table")].some((each) => each.scrollWidth > each.clientWidth + 1);
}

/** Whether all of a slide's content is in its frame. */
function fits(slide) {
  const body = slide.querySelector(".body");
  return body.scrollHeight <= body.clientHeight + 1 && !tooWide(slide);
}

function fit(slide) {
  if (!slide?.querySelector(".body")) return;
  const resize = (text, code) => {
    slide.style.setProperty("--text", `${Math.max(text, TEXT.smallest)}px`);
    slide.style.setProperty("--code", `${Math.max(code, CODE.smallest)}px`);
  };
  const text = slide.querySelector("pre, table, .picture, .live, .asks") ? TEXT.largest : TEXT.alone;
  let code = CODE.largest;
  for (resize(text, code); code > CODE.smallest && tooWide(slide); resize(text, --code));
  for (let less = 0; less <= CODE.largest - CODE.smallest || less <= text - TEXT.smallest; less++) {
    resize(text - less, code - less);
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
    if (event.key !== "Escape" || !document.activeElement?.closest(".tt-sliders-widget, .tt-launches")) return;
    document.activeElement.blur();
    event.stopPropagation(); // reveal.js shows all slides
  },
  true,
);
