"""A saved stepper in a real browser, from a file and with every request refused."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from launches.samples import launch
from nightly import NIGHTLY, at_night
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.classroom.publish.convert import STATE, html_page
from course_lib.classroom.publish.deck import slides
from course_lib.machine.timing_model import Waiting
from course_lib.machine.timing_model import widget as timing_widget
from course_lib.machine.timing_model.widget import plan
from course_lib.trace.notebook_outputs import HTML, VIEW
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper, compare
from course_lib.trace.viewer.fallback import mark_of
from course_lib.trace.viewer.words import sentence

from .conftest import drawn, violations
from .test_waiting_lab import H200, expect_plan

#: Beside the setting at which a page was saved. Nightly those that a page holds, which take ten seconds to simulate.
LATENCIES, WIDTHS = (timing_widget.RECORDED_LATENCIES, timing_widget.TILE_WIDTHS) if NIGHTLY else ((600,), (8,))


@pytest.fixture(scope="module", autouse=True)
def played_once():
    """Let the model simulate each setting once for all pages."""
    plans = {}

    def once(machine, *setting):
        key = repr(machine), *setting
        if key not in plans:
            plans[key] = plan(machine, *setting)
        return plans[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing_widget, "plan", once)
        patch.setattr(timing_widget, "RECORDED_LATENCIES", LATENCIES)
        patch.setattr(timing_widget, "TILE_WIDTHS", WIDTHS)
        yield


@pytest.fixture
def offline(visit):
    """Open a file in a page that has no network; the page's errors and what it asked for are listed."""

    def open_file(path):
        page = visit(offline=True)
        page.goto(Path(path).resolve().as_uri())
        return page

    return open_file


@pytest.fixture
def exported(offline, tmp_path):
    """Open a notebook as a page, or as slides."""

    def exported(book, convert):
        path = tmp_path / "lesson.html"
        path.write_text(convert(book, "A lesson"), encoding="utf-8")
        return offline(path)

    return exported


def expect_alone(page):
    """No error, and no request but the page's own."""
    assert [] == page.errors
    assert [page.url.partition("#")[0]] == [url for url in page.asked if not url.startswith(("data:", "blob:"))]


def test_a_saved_comparison_is_drawn_in_a_small_window(offline, tmp_path):
    """The fallback of two runs is higher than the window; the stepper takes its place without scrolling."""
    path = compare(launch("naive_16"), launch("tiled_16"), step=9).save(tmp_path / "page.html")
    page = offline(path)
    page.set_viewport_size({"width": 853, "height": 480})
    page.reload()
    expect(page.locator(".tt-count")).to_contain_text("step 9 of")
    expect(page.get_by_role("heading", level=1)).to_have_text("naive beside tiled, step by step")
    expect(page.locator(".tt-kernel")).to_have_text("naive | tiled")
    expect(page.locator(".tt-until-drawn")).to_have_count(0)
    assert drawn(page.locator(".tt-root")).bounding_box()["y"] < 480
    assert [] == page.errors


def test_a_kernel_that_speaks_of_html(offline, tmp_path):
    """What opens a remark or a script in HTML does neither in the source of a kernel."""

    def kernel(x):
        x[0] = 1  # <!-- not a remark of <script> HTML </script>

    run = simulate(kernel, trace=True)[1, 1](np.zeros(1, np.float32))
    page = offline(Stepper(run, step=1).save(tmp_path / "page.html"))
    expect(page.locator(".tt-current .tt-code")).to_contain_text("# <!-- not a remark of <script> HTML </script>")
    expect_alone(page)


def test_a_place_that_cannot_be_read_leaves_the_others_alive(offline, tmp_path):
    """And says so, also where its trace is of another version; both before the one that lives."""
    text = Stepper(launch("tiled"), step=21).save(tmp_path / "page.html").read_text()
    (script,) = re.findall(r'<script type="application/json".*?</script>', text)
    broken = re.sub(r">.*<", r'>{"_data": "\\!"}<', script)
    older = re.sub(r">.*<", lambda _: '>{"_data": "{\\"version\\": 2}"}<', script)
    path = tmp_path / "three.html"
    path.write_text(text.replace(script, "<hr>".join([broken, older, script])))
    page = offline(path)
    expect(page.locator(".tt-count")).to_contain_text("step 21 of")
    first, second = page.get_by_role("alert").all()
    expect(first).to_have_text("This widget's data cannot be read: save the page again, or export the lesson again.")
    expect(second).to_have_text("This trace is of an older version of the course; save the page again.")


def test_a_page_without_scripts_or_cut_off_shows_its_picture(browser, tmp_path):
    """And a sentence that says what to do."""
    path = Stepper(launch("tiled"), step=21).save(tmp_path / "page.html")
    text = path.read_text()
    for scripts, shares in ((False, [1]), (True, [0.9, 0.5])):
        context = browser.new_context(java_script_enabled=scripts, viewport={"width": 853, "height": 480})
        page = context.new_page()
        for share in shares:
            path.write_text(text[: int(share * len(text))])
            page.goto(path.as_uri())
            picture = page.get_by_role("img").first
            expect(picture).to_be_visible()
            assert "step 21" in picture.get_attribute("alt")
            says = page.get_by_text("If nothing replaces it")
            expect(says).to_contain_text("save the page again")
            expect(says).to_be_in_viewport(ratio=1)
        context.close()


@pytest.mark.nightly  # of whole pages `test_accessibility.py` judges one by day
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_a_saved_page(offline, tmp_path, theme):
    """Its rules for whole pages, too."""
    page = offline(Stepper(launch("racy"), step=12).save(tmp_path / "page.html"))
    page.emulate_media(color_scheme=theme)
    expect(page.locator(".tt-count")).to_be_visible()
    assert violations(page) == []


def test_a_link_leads_to_a_step(offline, tmp_path):
    """In a saved page: by its address, by a link in it, and by the one that the button copies."""
    path = Stepper(launch("tiled")).save(tmp_path / "page.html")
    page = offline(path)
    page.goto(path.as_uri() + "#step=21&block=1,0&thread=1,1&panel=waits")
    page.reload()
    expect(page.locator(".tt-count")).to_contain_text("step 21 of")
    expect(page.locator(".tt-tab-waits")).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".tt-sentence")).to_have_text(sentence(Timeline(launch("tiled").trace, (1, 0, 0)), 21, 3))
    nowhere = (
        "step=x step=-1 step=32 step=6&run=1 step=6&block=2,0 step=6&thread=0,2 step=6&panel=fragments step=6&thread=x"
    )
    for hash, step in (
        ("#step=5", 5),
        ("#chapter", 5),
        *((f"#{link}", 5) for link in nowhere.split()),
        ("#step=31", 31),
    ):
        page.evaluate(
            "hash => new Promise((done) => (addEventListener('hashchange', done), (location.hash = hash)))", hash
        )
        expect(page.get_by_role("alert")).to_have_count(int(hash[1:] in nowhere.split()))
        expect(page.locator(".tt-count")).to_have_text(f"step {step} of 31")
        expect(page.locator(".tt-block")).to_have_value("1")
        expect(page.locator(".tt-thread")).to_have_value("3")
    page.locator(".tt-root").press("ArrowLeft")
    page.locator(".tt-menu").click()
    page.get_by_role("button", name="Copy a link to this step").click()
    expect(page.get_by_role("button", name="The link")).to_be_visible()
    assert page.url.endswith("#step=30&block=1,0&thread=1,1&panel=waits")
    assert [] == page.errors


def test_a_link_to_a_statement_of_one_of_two_runs(offline, tmp_path):
    """And to a common step; what neither run has is said, and the copied link leads back."""
    tiled = launch("tiled_16")
    path = compare(launch("naive_16"), tiled, panels=["launch"]).save(tmp_path / "page.html")
    timeline = Timeline(tiled.trace, (0, 0, 0))
    page = offline(path)
    page.goto(path.as_uri() + "#step=20&run=2")
    page.reload()
    expect(page.locator(".tt-sentence").nth(1)).to_have_text(f"tiled: {sentence(timeline, 20, 0)}")
    expect(page.locator(".tt-count")).to_have_text(f"step 20 of {len(timeline)}")
    for hash in (f"#step={len(timeline) + 1}&run=2", "#step=20&run=3", "#step=18", "#step=1&panel=waits"):
        page.evaluate("hash => (location.hash = hash)", hash)
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.locator(".tt-count")).to_have_text(f"step 20 of {len(timeline)}")
        page.evaluate("() => (location.hash = '#step=20&run=2')")
        expect(page.get_by_role("alert")).to_have_count(0)
    page.locator(".tt-menu").click()
    page.get_by_role("button", name="Copy a link to this step").click()
    expect(page.get_by_role("button", name="The link")).to_be_visible()
    assert page.url.endswith("#step=20&run=2&block=0,0&thread=0,0")
    page.evaluate("() => (location.hash = '#step=3')")
    expect(page.locator(".tt-count")).to_have_text("step 3 of 17")
    assert [] == page.errors


@pytest.mark.nightly
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_timing_model_shows_what_was_recorded(offline, tmp_path, theme):
    """From the setting where it was saved, beside the grid; each slider leads to a plan, and the page says so."""
    page = offline(Waiting(H200, 340, 6, 8, 1).save(tmp_path / "page.html"))
    page.emulate_media(color_scheme=theme)
    expect(page.locator(".tt-recorded")).to_contain_text("This page has no kernel: it holds recorded settings")
    expect_plan(page, 340, 6, 8, 1)
    latency = page.locator(".tt-slider-latency")
    latency.press("ArrowRight")
    expect_plan(page, 600, 6, 8, 1)
    for _ in LATENCIES:
        latency.press("ArrowRight")
    expect_plan(page, LATENCIES[-1], 6, 8, 1)
    page.locator(".tt-slider-warps").press("ArrowLeft")
    expect_plan(page, LATENCIES[-1], 4, 8, 1)
    page.locator(".tt-slider-buffers").press("ArrowRight")
    expect_plan(page, LATENCIES[-1], 4, 8, 2)
    page.locator(".tt-slider-tile_width").press("End")  # a block of T = 32 has eight warps here
    expect_plan(page, LATENCIES[-1], 8, 32, 2)
    page.locator(".tt-slider-warps").press("ArrowRight")
    expect_plan(page, LATENCIES[-1], 16, 32, 2)
    assert violations(page, ".tt-sliders-widget") == []
    expect_alone(page)


def lesson_of(*widgets):
    """A notebook as it is saved: for each widget a cell with its fallback and its view."""
    cells, states = [], {}
    for widget in widgets:
        cells.append(nbformat.v4.new_code_cell("shown", metadata={"slideshow": {"slide_type": "slide"}}))
        data, _ = widget._repr_mimebundle_()
        widget._mark(mark_of(data))
        fallback = nbformat.v4.new_output("display_data", {HTML: data[HTML]})
        view = nbformat.v4.new_output("display_data", {VIEW: {"model_id": type(widget).__name__}})
        cells[-1].outputs = [fallback, view]
        states[type(widget).__name__] = {"state": widget.get_state()}
    return nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {STATE: {"state": states}}})


def test_a_lesson_that_nobody_has_scrolled_prints_with_its_pictures(exported):
    """A page is printed before a trace can be read: until its stepper is drawn, the fallback is in its place."""
    book = lesson_of(Stepper(launch("tiled"), step=21))
    book.cells.insert(0, nbformat.v4.new_markdown_cell("A line.\n\n" * 200))
    page = exported(book, html_page)
    fallback = page.locator(".tt-place img")
    expect(fallback).to_be_visible()
    assert "step 21" in fallback.get_attribute("alt")
    assert page.evaluate("() => (dispatchEvent(new Event('beforeprint')), document.images.length)") == 1
    expect(page.locator(".tt-count")).to_contain_text("step 21 of")
    expect(fallback).to_have_count(0)


@pytest.mark.parametrize("convert", [html_page, at_night(slides)])
def test_a_lesson_with_the_timing_model_works_without_a_network(exported, convert):
    """Beside a stepper, each alive, and no picture in the place of either."""
    page = exported(lesson_of(Stepper(launch("tiled"), step=21), Waiting(H200, 600)), convert)
    expect(page.locator(".tt-count")).to_contain_text("step 21 of")
    if convert is slides:
        page.wait_for_function("() => window.Reveal?.isReady()")
        assert page.evaluate("Reveal.getTotalSlides()") == 2  # no element of a widget is taken for a slide
        page.keyboard.press("ArrowRight")
    expect(page.locator(".tt-sliders-widget")).to_be_visible()
    expect(page.locator("img")).to_have_count(0)
    page.locator(".tt-slider-buffers").press("ArrowRight")
    expect_plan(page, 600, 2, 8, 2)
    expect_alone(page)


@pytest.mark.parametrize("convert", [html_page, slides])
def test_a_link_in_the_prose_moves_the_stepper_below_it(exported, convert):
    """And gives it the focus; the stepper above stays. A deck goes to the stepper's slide, which fits 1280×720."""
    prose = "Look at [the last step of warp 0](#step=9&thread=1,1&panel=waits), or [nothing](#chapter)."
    book, again = lesson_of(Stepper(launch("tiled"), step=21)), lesson_of(Stepper(launch("tiled"), step=21)).cells[0]
    book.cells += [nbformat.v4.new_markdown_cell(prose, metadata=again.metadata), again]
    again.metadata = {}
    page = exported(book, convert)
    above, below = page.locator(".tt-root").nth(0), page.locator(".tt-root").nth(1)
    if convert is slides:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.wait_for_function("() => window.Reveal?.isReady()")
        page.keyboard.press("ArrowRight")
    page.get_by_role("link", name="the last step").first.click()  # a deck has it beside the heading, too
    expect(below.locator(".tt-count")).to_have_text("step 9 of 31")
    expect(below.locator(".tt-thread")).to_have_value("3")
    expect(below.locator(".tt-tab-waits")).to_have_attribute("aria-expanded", "true")
    expect(above.locator(".tt-count")).to_have_text("step 21 of 31")
    expect(below).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(below.locator(".tt-count")).to_have_text(re.compile(r"step 1\d of 31"))
    if convert is html_page:
        page.get_by_role("link", name="the last step").press("Enter")
        expect(below.locator(".tt-count")).to_have_text("step 9 of 31")
    else:
        box = drawn(below).bounding_box()
        assert 0 <= box["x"] <= 1280 - box["width"]
        assert 0 <= box["y"] <= 720 - box["height"]
        page.locator("body").press("ArrowLeft")
        expect(above).to_be_visible()
    assert "step=" not in page.url
    expect_alone(page)


#: Of each word on the page, in how many lines it is; words beyond the edge of what shows them count as two.
LINES_OF_WORDS = """() => [...document.querySelectorAll("pre, td code")].flatMap((pre) => {
  const nodes = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const edge = pre.closest(".jp-InputArea, .jp-OutputArea").getBoundingClientRect().right;
  const found = [];
  while (nodes.nextNode()) for (const { index, 0: word } of nodes.currentNode.data.matchAll(/[\\w.]+/g)) {
    const range = new Range();
    range.setStart(nodes.currentNode, index);
    range.setEnd(nodes.currentNode, index + word.length);
    const boxes = [...range.getClientRects()];
    found.push([word, boxes.some(({ right }) => right > edge) ? 2 : boxes.length]);
  }
  return found;
})"""


def test_long_lines_are_whole_in_a_narrow_window(exported):
    """Code wraps, also in a table, output wraps between words, and text stays apart from the code above it."""
    words = " ".join(f"word{number:03}.of_a_line" for number in range(12))
    code = nbformat.v4.new_code_cell(f"# {words}", metadata={"slideshow": {"slide_type": "slide"}})
    source = launch("tiled").source
    table = nbformat.v4.new_output("display_data", {HTML: source._repr_html_()})
    code.outputs = [nbformat.v4.new_output("stream", name="stdout", text=words), table]
    prose = nbformat.v4.new_markdown_cell(f"```python\n# {words}\n```\nThe next sentence.")
    page = exported(nbformat.v4.new_notebook(cells=[code, prose]), html_page)
    page.set_viewport_size({"width": 853, "height": 480})
    expect(page.get_by_text("The next sentence.", exact=True)).to_be_visible()
    found = page.evaluate(LINES_OF_WORDS)
    assert len(found) > 3 * 12 + len(source.lines) and {lines for _, lines in found} == {1}, found
    above = page.locator(".jp-RenderedMarkdown .highlight").bounding_box()
    assert page.get_by_text("The next sentence.", exact=True).bounding_box()["y"] >= above["y"] + above["height"] + 8
