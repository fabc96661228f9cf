"""Every slide of every lesson at 1280×720: one key leads to each, nothing is cut off, and its text can be read."""

from pathlib import Path

import nbformat
import pytest
from launches.samples import product
from nightly import at_night
from playwright.sync_api import expect

from course_lib.classroom.publish.convert import HEIGHT, WIDTH, slides
from course_lib.classroom.publish.deck import lines_of
from course_lib.classroom.publish.notes import with_notes
from course_lib.kernels import rung
from course_lib.trace.viewer import Stepper, explore
from course_lib.trace.viewer.explore import recorded
from course_lib.trace.viewer.page import STEPPER, place

from .conftest import STATEMENTS

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("[0-9]*.ipynb"))
#: Those of the default profile: the first, one with most kinds of outputs, and the last. The others are laid out alike.
BY_DAY = ("00", "16")
#: Goes through all slides by the key → and measures each: by how much its content is taller or wider than its frame,
#: its smallest text in pixels, whether a picture is missing, its heading and its words.
MEASURE = """async () => {
  const slide = Reveal.getCurrentSlide();
  await new Promise(requestAnimationFrame);
  const zoom = Number(slide.style.zoom || 1);
  const sizes = [99];
  const walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const place = walk.currentNode.parentElement;
    const seen = walk.currentNode.textContent.trim() && place.getClientRects().length;
    if (!seen || place.closest(".tt-root, aside, script, style, .anchor-link")) continue;
    sizes.push(parseFloat(getComputedStyle(place).fontSize) * zoom);
  }
  const blocks = [...slide.querySelectorAll(".jp-OutputArea-output, .jp-InputArea-editor, table, img")];
  return {
    number: Reveal.getSlidePastCount(),
    tall: slide.scrollHeight - slide.clientHeight,
    wide: Math.max(slide.scrollWidth - slide.clientWidth, ...blocks.map((b) => b.scrollWidth - b.clientWidth - 18)),
    least: Math.min(...sizes),
    missing: [...slide.querySelectorAll("img")].filter((image) => !image.naturalWidth).length,
    heading: slide.querySelector("h1, h2")?.textContent ?? "",
    text: slide.innerText.trim(),
  };
}"""


def measured(page, notebook, tmp_path):
    file = tmp_path / "lesson.slides.html"
    file.write_text(slides(notebook, "Lesson"), encoding="utf-8")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(file.as_uri())
    page.wait_for_function("() => window.Reveal?.isReady()")
    found = []
    while True:
        found.append(page.evaluate(MEASURE))
        if page.evaluate("() => Reveal.isLastSlide() && !Reveal.availableFragments().next"):
            return found
        page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem.startswith(BY_DAY) else [pytest.mark.nightly])
        for path in LESSONS
    ],
)
def test_every_slide_of_a_lesson_fits(visit, path, tmp_path):
    """As it is stored: steppers are pictures here, and live ones keep to a height of their own."""
    notebook = nbformat.read(path, 4)
    found = measured(visit(), with_notes(notebook), tmp_path)
    numbers = [slide["number"] for slide in found]
    assert numbers == sorted(numbers) and set(numbers) == set(range(max(numbers) + 1))  # → skips none
    assert 10 <= len(set(numbers)) <= 20
    for slide in found:
        assert slide["heading"] and slide["least"] >= 18, slide
        assert (slide["tall"] <= 2, slide["wide"] <= 2, slide["missing"]) == (True, True, 0), slide
        assert "predict(" not in slide["text"], slide["text"][:80]


def test_a_slide_that_is_too_tall_is_drawn_smaller(visit, tmp_path):
    lines = "\n".join(f"# {number}" for number in range(23))
    cells = [
        nbformat.v4.new_markdown_cell("# One", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell(f"@cuda.jit\ndef kernel():\n{lines}"),
    ]
    *_, found = measured(visit(), nbformat.v4.new_notebook(cells=cells), tmp_path)
    assert 18 <= found["least"] < 20 and found["tall"] <= 2


def test_enter_leads_into_a_stepper_and_escape_out_of_it(new_page, launch_of, tmp_path):
    """There the arrow keys step; outside they go to the next slide, and the notes open in a window of their own."""
    page = new_page()
    cells = [
        nbformat.v4.new_markdown_cell("# One", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell("@cuda.jit", outputs=[stepper_output(launch_of("tiled"))]),
        nbformat.v4.new_markdown_cell("say this", metadata={"slideshow": {"slide_type": "notes"}}),
        nbformat.v4.new_markdown_cell("# Two", metadata={"slideshow": {"slide_type": "slide"}}),
    ]
    file = tmp_path / "lesson.slides.html"
    file.write_text(slides(nbformat.v4.new_notebook(cells=cells), "Lesson"), encoding="utf-8")
    page.goto(file.as_uri())
    stepper = page.locator(".tt-root")
    expect(stepper).to_contain_text("frame 0 of")
    page.evaluate(STATEMENTS)
    for key in ("Enter", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(stepper).to_contain_text("step 2 of")
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 0
    for key in ("Escape", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("() => Reveal.getSlidePastCount()") == 1
    page.keyboard.press("ArrowLeft")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    expect(opened.value.locator("body")).to_contain_text("say this")


def test_an_explorer_goes_to_recorded_launches(visit, tmp_path):
    """A choice shows the launch that has it, with the nearest of the other settings; arrow keys stay in the menu.

    Step, thread and view stay; of a thread that the block does not have, the nearest is shown.
    """
    page = visit()
    explorer = explore(["naive", "tiled"], kernel="naive", n=8, tile_width=2)
    cells = [
        nbformat.v4.new_markdown_cell("# One", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell(
            "explore()", outputs=[stepper_output(explorer.stepper.run, _launches=recorded(explorer.get_state()))]
        ),
        nbformat.v4.new_markdown_cell("# Two", metadata={"slideshow": {"slide_type": "slide"}}),
    ]
    file = tmp_path / "lesson.slides.html"
    file.write_text(slides(nbformat.v4.new_notebook(cells=cells), "Lesson"), encoding="utf-8")
    page.goto(file.as_uri())
    expect(page.locator(".tt-root")).to_contain_text("frame 0 of")
    page.evaluate(STATEMENTS)
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


def test_a_prediction_without_its_code_takes_no_lines_for_it():
    code = nbformat.v4.new_code_cell("predict(\n    1,\n    2,\n)", metadata={"jupyter": {"source_hidden": True}})
    assert lines_of(code) == 0


#: What of a stepper is not inside its frame and on the screen: the running line, an array, a count, a register.
OUTSIDE = """() => {
  const root = Reveal.getCurrentSlide().querySelector(".tt-root");
  const clips = (element) => {
    const frames = [];
    for (let one = element.parentElement; one && root.contains(one); one = one.parentElement)
      if (getComputedStyle(one).overflow !== "visible" || one === root) frames.push(one.getBoundingClientRect());
    return [...frames, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }];
  };
  const parts = [
    ...root.querySelectorAll(".tt-line.tt-current, .tt-counter b, .tt-say"),
    ...[...root.querySelectorAll(".tt-memory svg.tt-grid")].filter((e) => e.getClientRects().length),
  ];
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


#: The same after each of so many presses of → in the stepper, whose layout is complete a frame after the key.
AT_EACH_STEP = """async (steps) => {
  const root = Reveal.getCurrentSlide().querySelector(".tt-root");
  const found = [];
  for (let step = 1; step <= steps; step++) {
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    await new Promise(requestAnimationFrame);
    found.push({ at: root.querySelector(".tt-count").textContent, ...(%s)() });
  }
  return found;
}"""


@pytest.mark.parametrize("size", [at_night((1280, 720)), at_night((1920, 1080)), (1024, 768)], ids=str)
def test_a_stepper_fits_its_slide(visit, tmp_path, size):
    """At each step the running line, all arrays, the registers and the counts are in sight; nothing is scrolled."""
    page = visit()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    cells = [
        nbformat.v4.new_markdown_cell("## 4.3 A heading", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell("Stepper(run)", metadata={"jupyter": {"source_hidden": True}}),
    ]
    file = tmp_path / "lesson.slides.html"
    for name in ("tiled", "prefetched"):
        cells[1].outputs = [stepper_output(product(name, 8, 8, 8, tile_width=4)())]
        file.write_text(slides(nbformat.v4.new_notebook(cells=cells), "Lesson"), encoding="utf-8")
        page.goto(file.as_uri())
        expect(page.locator(".tt-root")).to_contain_text("frame 0 of")
        page.evaluate(STATEMENTS)
        for step, found in enumerate(page.evaluate(AT_EACH_STEP % OUTSIDE, 23), 1):
            assert found["at"].startswith(f"step {step} of")
            assert found["parts"] >= 8 and not found["outside"], (name, step, found)
