"""Every slide of the lectures: nothing is cut off, its text can be read, and its steppers keep to it at each step."""

import nbformat
import pytest
from playwright.sync_api import expect

from course_lib.classroom.publish.convert import HEIGHT, WIDTH, executed, slides
from course_lib.classroom.teach.slides import FOLDER, deck, lecture
from course_lib.kernels import rung
from course_lib.trace.viewer import Stepper, explore
from course_lib.trace.viewer.explorer import recorded
from course_lib.trace.viewer.page import STEPPER, place

from .conftest import STATEMENTS, drawn

#: By how much the content of the slide is taller or wider than its frame, or goes beyond it; its smallest text, and the
#: smallest of its steppers, in pixels of a slide of 720; whether a picture is missing.
MEASURE = """() => {
  const slide = Reveal.getCurrentSlide();
  const frame = slide.getBoundingClientRect();
  const unit = frame.width / slide.offsetWidth;
  const sizes = { text: [99], stepper: [99] };
  const walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const place = walk.currentNode.parentElement;
    const style = getComputedStyle(place);
    const seen = walk.currentNode.textContent.trim() && place.getClientRects().length && style.visibility !== "hidden";
    if (!seen || place.closest("aside, script, style, .anchor-link")) continue;
    const drawn = place.ownerSVGElement ? place.getScreenCTM().d / unit : 1;
    sizes[place.closest(".tt-root") ? "stepper" : "text"].push(parseFloat(style.fontSize) * drawn);
  }
  const blocks = [...slide.querySelectorAll(".jp-OutputArea-output, .jp-InputArea-editor, table, img, pre")];
  const edges = blocks.filter((b) => b.getClientRects().length).map((b) => b.getBoundingClientRect());
  return {
    heading: slide.querySelector("h2")?.textContent ?? "",
    tall: Math.max(slide.scrollHeight - slide.clientHeight, ...edges.map((e) => (e.bottom - frame.bottom) / unit)),
    wide: Math.max(slide.scrollWidth - slide.clientWidth, ...blocks.map((b) => b.scrollWidth - b.clientWidth - 18)),
    text: Math.min(...sizes.text),
    stepper: Math.min(...sizes.stepper),
    missing: [...slide.querySelectorAll("img")].filter((image) => !image.naturalWidth).length,
  };
}"""


#: What of a stepper is not inside its frame and on the screen: the running line and a finding's, an array, a count.
OUTSIDE = """() => {
  const root = Reveal.getCurrentSlide().querySelector(".tt-root");
  const clips = (element) => {
    const frames = [];
    for (let one = element.parentElement; one && root.contains(one); one = one.parentElement)
      if (getComputedStyle(one).overflow !== "visible" || one === root) frames.push(one.getBoundingClientRect());
    return [...frames, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }];
  };
  const parts = [
    ...root.querySelectorAll(".tt-line:is(.tt-current, .tt-broken), .tt-counter b, .tt-say, .tt-memory svg.tt-grid"),
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

#: Whether the steppers of the slide are there: until they come in sight, their places are empty or hold a still.
DRAWN = """() => {
  const slide = Reveal.getCurrentSlide();
  return [...slide.querySelectorAll(".jp-OutputArea-output > div")].every((place) => place.innerHTML)
    && !slide.querySelector('.tt-later, .tt-root[style*="hidden"]');
}"""


@pytest.fixture(scope="module")
def lectures(tmp_path_factory):
    """Return the file of the deck that has every slide."""
    path = tmp_path_factory.mktemp("deck") / "lecture.html"
    path.write_text(slides(deck(executed(lecture(), FOLDER), "lecture-100"), "A lecture"), encoding="utf-8")
    return path


@pytest.mark.nightly
@pytest.mark.parametrize("size", [(WIDTH, HEIGHT), (1920, 1080)], ids=str)
def test_every_slide_can_be_read_in_the_last_row(visit, lectures, size):
    """→ leads to each; text has 24 pixels of 720, that of steppers 18; at each step of a stepper nothing is cut off."""
    page = visit()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(lectures.as_uri())
    page.wait_for_function("() => window.Reveal?.isReady()")
    seen = []
    while True:
        page.wait_for_function(DRAWN)
        found = page.evaluate(MEASURE)
        assert (found["tall"] <= 2, found["wide"] <= 2, found["missing"]) == (True, True, 0), found
        assert found["text"] >= 24 and found["stepper"] >= 17.9, found
        if found["heading"] not in seen:
            seen.append(found["heading"])
            if found["stepper"] < 99:
                assert not [cut for cut in page.evaluate(AT_EACH_STEP % OUTSIDE) if cut["outside"]], found["heading"]
        if page.evaluate("() => Reveal.isLastSlide() && !Reveal.availableFragments().next"):
            break
        page.keyboard.press("ArrowRight")
    assert len(seen) == page.evaluate("() => Reveal.getTotalSlides()")


def opened(page, folder, output):
    """Open a deck of two slides, the first of which has a stepper and notes, and return the page."""
    cells = [
        nbformat.v4.new_markdown_cell("# One", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell("@cuda.jit", outputs=[output]),
        nbformat.v4.new_markdown_cell("say this", metadata={"slideshow": {"slide_type": "notes"}}),
        nbformat.v4.new_markdown_cell("# Two", metadata={"slideshow": {"slide_type": "slide"}}),
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


def test_a_stepper_of_another_slide_stays_at_its_step(new_page, launch_of, tmp_path):
    """The keys that lead through the deck are not the stepper's, and its film begins when its slide is shown."""
    cells = [nbformat.v4.new_markdown_cell(f"# {n}", metadata={"slideshow": {"slide_type": "slide"}}) for n in "123"]
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

    Step, thread and view stay; of a thread that the block does not have, the nearest is shown.
    """
    explorer = explore(["naive", "tiled"], kernel="naive", n=8, tile_width=2)
    page = opened(visit(), tmp_path, stepper_output(explorer.stepper.run, _launches=recorded(explorer.get_state())))
    page.locator(".tt-menu").click()
    shown = [page.get_by_label(name, exact=True) for name in ("Kernel", "n", "Tile width")]
    page.locator(".tt-root .tt-thread").select_option(label="(1, 0)")
    page.locator(".tt-menu").click()
    page.locator(".tt-tab-launch").click()
    for _ in range(3):
        page.locator(".tt-root").press("ArrowRight")
    shown[0].select_option(rung("tiled").title)
    expect(page.locator(".tt-root .tt-kernel")).to_have_text("tiled")
    expect(page.locator(".tt-root")).to_contain_text("step 3 of")
    expect(page.locator(".tt-root .tt-thread option:checked")).to_have_text("(1, 0)")
    expect(page.locator(".tt-tab-launch")).to_have_attribute("aria-expanded", "true")
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
    """What `living` leaves of a stepper."""
    stepper = Stepper(run)
    state = {name: getattr(stepper, name) for name in STEPPER.traits if hasattr(stepper, name)} | more
    return nbformat.v4.new_output("display_data", data={"text/html": place(state)})
