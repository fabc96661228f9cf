"""Every slide of a lesson's deck: nothing is cut off, its text can be read, and its steppers keep to it."""

import re

import nbformat
import pytest
from nightly import at_night, every
from playwright.sync_api import expect

from course_lib.classroom.lessons import home
from course_lib.classroom.publish.deck import HEIGHT, WIDTH, page, slides
from course_lib.classroom.publish.speaker import deck_of
from course_lib.exercises import LESSONS
from course_lib.kernels import rung
from course_lib.trace.viewer import Stepper, explore
from course_lib.trace.viewer.explorer import recorded
from course_lib.trace.viewer.page import STEPPER, place

from .conftest import STATEMENTS, drawn

#: By how much the content of a slide is taller or wider than its frame, or a part of it than its own, or its heading
#: covers the number; the smallest text, that of code and tables, and that of a stepper, in pixels of a slide of 720;
#: whether a picture is missing; whether all of a stepper's picture, or of the view that is open, is in its frame.
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide(), body = slide.querySelector(".body");
  const frame = body.getBoundingClientRect();
  const unit = frame.width / body.offsetWidth;
  const sizes = { text: [99], code: [99], stepper: [99] };
  const walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement;
    const style = getComputedStyle(at);
    const seen = walk.currentNode.textContent.trim() && at.getClientRects().length && style.visibility !== "hidden";
    if (!seen || at.closest("aside, script, style, .anchor-link, svg.tt-sliders-picture")) continue;
    const scale = at.ownerSVGElement ? at.getScreenCTM().d / unit : 1;
    const kind = at.closest(".live") ? "stepper" : at.closest("pre, .table") ? "code" : "text";
    sizes[kind].push(parseFloat(style.fontSize) * scale);
  }
  const parts = [...body.children].filter((part) => part.getClientRects().length);
  const own = [slide, ...body.querySelectorAll("pre, .table, .words, .live, .picture")];
  const heading = document.createRange(), number = document.querySelector(".slide-number").getBoundingClientRect();
  heading.selectNodeContents(slide.querySelector("h2"));
  const over = heading.getBoundingClientRect();
  const covered = over.top < number.bottom && over.right > number.left ? (over.right - number.left) / unit : 0;
  return {
    cells: slide.dataset.cells,
    heading: slide.querySelector("h2").textContent,
    shown: parts.length,
    tall: Math.max(...parts.map((part) => (part.getBoundingClientRect().bottom - frame.bottom) / unit),
      ...own.map((part) => part.scrollHeight - part.clientHeight)),
    wide: Math.max(covered, ...own.map((part) => part.scrollWidth - part.clientWidth)),
    ...Object.fromEntries(Object.entries(sizes).map(([kind, found]) => [kind, Math.min(...found)])),
    missing: [...slide.querySelectorAll("img")].filter((image) => !image.naturalWidth).length,
    staged: [...slide.querySelectorAll(".tt-root")].every((root) => {
      const open = root.querySelector(".tt-panel > :not([hidden])") ?? root.querySelector(".tt-scene");
      const { bottom, height } = open.getBoundingClientRect();
      return height && bottom <= root.getBoundingClientRect().bottom + 1;
    }),
  };
}"""


#: What of a stepper is not inside its frame and on the screen: the running line and a finding's, an array, a count, a
#: track, a row of the view below them, a sentence of what it says.
OUTSIDE = """() => {
  const root = Reveal.getCurrentSlide().querySelector(".tt-root");
  const clips = (element) => {
    const frames = element.matches(".tt-status p") ? [root.querySelector(".tt-status").getBoundingClientRect()] : [];
    for (let one = element.parentElement; one && root.contains(one); one = one.parentElement)
      if (getComputedStyle(one).overflow !== "visible" || one === root) frames.push(one.getBoundingClientRect());
    return [...frames, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }];
  };
  const parts = [
    ...root.querySelectorAll(".tt-line:is(.tt-current, .tt-broken), .tt-counter b, .tt-status p, .tt-track, "
      + ".tt-memory svg.tt-grid, .tt-panel :is(text, td)"),
  ].filter((element) => element.getClientRects().length);
  return {
    parts: root.querySelector(".tt-current") ? parts.length : 0,
    outside: parts.flatMap((element) => {
      const inner = element.getBoundingClientRect();
      const over = Math.max(...clips(element).flatMap((outer) =>
        [outer.left - inner.left, outer.top - inner.top, inner.bottom - outer.bottom]));
      return over > 2 ? [`${element.className.baseVal ?? element.className} by ${over}: ${element.textContent}`] : [];
    }),
  };
}"""


#: The same at the step that is open, and after each of twenty presses of → in the stepper.
AT_EACH_STEP = """async () => {
  const root = Reveal.getCurrentSlide().querySelector(".tt-root");
  const found = [];
  for (let presses = 0; presses <= 20; presses++) {
    found.push({ at: root.querySelector(".tt-count").textContent, ...(%s)() });
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    await new Promise(requestAnimationFrame);
  }
  return found;
}"""

#: Whether the steppers of the slide are there: until they come in sight, their places are empty or hold a fallback.
DRAWN = """() => {
  const slide = Reveal.getCurrentSlide();
  return [...slide.querySelectorAll(".live > div")].every((place) => place.innerHTML)
    && !slide.querySelector('.tt-undrawn, .tt-root[style*="hidden"]');
}"""


#: By day the lesson that is executed in the least time.
BY_DAY = "00_start_here"
#: The widths of screens that are tried, in pixels; by day the smallest, for which slides are made.
SCREENS = (WIDTH, 1920)


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """Return a function that gives the file of a lesson's deck."""
    files = {}

    def deck(lesson):
        if lesson not in files:
            files[lesson] = tmp_path_factory.mktemp("deck") / f"{lesson}.html"
            files[lesson].write_text(page(deck_of(home() / f"{lesson}.ipynb"), lesson), encoding="utf-8")
        return files[lesson]

    return deck


@pytest.mark.parametrize("wide", every(len(SCREENS), SCREENS))
@pytest.mark.parametrize("lesson", [lesson if lesson == BY_DAY else at_night(lesson) for lesson in LESSONS])
def test_every_slide_can_be_read_in_the_last_row(visit, decks, lesson, wide):
    """→ leads to each; none is empty; text has 24 pixels of 720, code and steppers 18; nothing is cut or fetched.

    Of a stepper, the picture or the view that is open can be seen.
    """
    shown = visit(offline=True)
    shown.set_viewport_size({"width": wide, "height": wide * HEIGHT // WIDTH})
    shown.goto(decks(lesson).as_uri())
    shown.wait_for_function("() => window.Reveal?.isReady()")
    count = shown.evaluate("() => Reveal.getTotalSlides()")
    for number in range(count):
        shown.wait_for_function(DRAWN)
        found = shown.evaluate(MEASURE)
        assert found["heading"] and found["shown"] and found["cells"], found
        assert (found["tall"] <= 2, found["wide"] <= 2, found["missing"]) == (True, True, 0), found
        assert found["staged"], found
        assert found["text"] >= 24 and found["code"] >= 17.9 and found["stepper"] >= 17.9, found
        if shown.evaluate("() => !!Reveal.getCurrentSlide().querySelector('.tt-root')"):
            assert not [cut for cut in shown.evaluate(AT_EACH_STEP % OUTSIDE) if cut["outside"]], found
        shown.keyboard.press("ArrowRight")
        assert shown.evaluate("() => Reveal.getSlidePastCount()") == min(number + 1, count - 1)
    assert shown.evaluate("() => Reveal.isLastSlide()")
    assert not shown.errors
    assert not [url for url in shown.asked if not url.startswith(("file:", "data:", "blob:"))]


@pytest.mark.nightly
@pytest.mark.parametrize("lesson", ["04_tiling", "05_prefetching"])
def test_a_short_lecture_has_slides_for_45_minutes(decks, lesson):
    """The first slide's notes count them, without the slides that such a lecture skips."""
    (left,) = re.findall(r"Without the slides marked .*?: (\d+) minutes", decks(lesson).read_text(encoding="utf-8"))
    assert 40 <= int(left) <= 45


def opened(page, folder, output):
    """Open a deck of two slides, the first of which has a stepper and notes, and return the page."""
    cells = [
        nbformat.v4.new_markdown_cell("# One\n\nA text.", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell("@cuda.jit", outputs=[output]),
        nbformat.v4.new_markdown_cell("say this", metadata={"slideshow": {"slide_type": "notes"}}),
        nbformat.v4.new_markdown_cell("# Two\n\nA text.", metadata={"slideshow": {"slide_type": "slide"}}),
    ]
    (file := folder / "lesson.slides.html").write_text(slides(nbformat.v4.new_notebook(cells=cells), "Lesson"), "utf-8")
    page.goto(file.as_uri())
    drawn(page.locator(".tt-root"))
    page.evaluate(STATEMENTS)
    return page


def test_enter_leads_into_a_stepper_and_escape_out_of_it(new_page, launch_of, tmp_path):
    """There the arrow keys step; outside they go to the next slide, and the notes open in a window of their own."""
    page = opened(new_page(), tmp_path, stepper_output(launch_of("tiled")))
    stepper = page.locator(".tt-root")
    for key in ("Enter", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(stepper).to_contain_text("step 2 of")
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 0
    for key in ("Escape", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 1
    page.keyboard.press("ArrowLeft")
    with page.expect_popup() as notes:
        page.keyboard.press("s")
    expect(notes.value.locator("body")).to_contain_text("say this")


def test_d_changes_the_colours_of_page_and_words(new_page, launch_of, tmp_path):
    page = opened(new_page(), tmp_path, stepper_output(launch_of("tiled")))
    colours = (
        "() => { const { backgroundColor, color } = getComputedStyle(document.body); return [backgroundColor, color]; }"
    )
    light = page.evaluate(colours)
    page.keyboard.press("d")
    assert not set(light) & set(page.evaluate(colours))
    page.keyboard.press("d")
    assert page.evaluate(colours) == light


def test_a_stepper_of_another_slide_stays_at_its_step(new_page, launch_of, tmp_path):
    """The keys that lead through the deck are not the stepper's, and its animation begins when its slide is shown."""
    cells = [
        nbformat.v4.new_markdown_cell(f"# {n}\n\nA text.", metadata={"slideshow": {"slide_type": "slide"}})
        for n in "123"
    ]
    cells.append(nbformat.v4.new_code_cell("@cuda.jit", outputs=[stepper_output(launch_of("tiled_16"), step=0)]))
    file = tmp_path / "lesson.slides.html"
    file.write_text(slides(nbformat.v4.new_notebook(cells=cells), "Lesson"), "utf-8")
    page = new_page()
    page.emulate_media(reduced_motion="no-preference")
    page.goto(file.as_uri())
    drawn(page.locator(".tt-root"))
    at = "() => { const { step, timer } = document.querySelector('.tt-root').stepper; return [step, timer !== null]; }"
    for _ in range(2):
        assert page.evaluate(at) == [0, False]
        page.keyboard.press("ArrowRight")
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 2
    page.wait_for_function("() => document.querySelector('.tt-root').stepper.timer !== null")


def test_an_explorer_goes_to_recorded_launches(visit, tmp_path):
    """A choice shows the launch that has it, with the nearest of the other settings; arrow keys stay in the menu.

    Step and thread stay; of a thread that the block does not have, the nearest is shown.
    """
    explorer = explore(["naive", "tiled"], kernel="naive", n=8, tile_width=2)
    page = opened(visit(), tmp_path, stepper_output(explorer.stepper.run, _launches=recorded(explorer.get_state())))
    page.locator(".tt-menu").click()
    shown = [page.get_by_label(name, exact=True) for name in ("Kernel", "n", "Tile width")]
    page.locator(".tt-root .tt-thread").select_option(label="(1, 0)")
    page.locator(".tt-menu").click()
    for _ in range(3):
        page.locator(".tt-root").press("ArrowRight")
    shown[0].select_option(rung("tiled").title)
    expect(page.locator(".tt-root .tt-kernel")).to_have_text("tiled")
    expect(page.locator(".tt-root")).to_contain_text("step 3 of")
    expect(page.locator(".tt-root .tt-thread option:checked")).to_have_text("(1, 0)")
    assert [menu.input_value() for menu in shown] == [rung("tiled").title, "8", "2"]
    shown[1].select_option("16")  # in tiles of 2 nothing is recorded
    assert [menu.input_value() for menu in shown[1:]] == ["16", "4"]
    shown[1].focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 0
    page.keyboard.press("Escape")
    assert page.evaluate("() => [Reveal.isOverview(), document.activeElement.tagName]") == [False, "BODY"]
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 1


def stepper_output(run, **more):
    """What `with_live_widgets` leaves of a stepper."""
    stepper = Stepper(run)
    state = {name: getattr(stepper, name) for name in STEPPER.traits if hasattr(stepper, name)} | more
    return nbformat.v4.new_output("display_data", data={"text/html": place(state)})
