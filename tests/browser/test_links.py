"""Each link of a lesson to a step of a stepper shows what its text says: the line, the arrays and the step.

It is pressed in an exported page without a network, and in JupyterLab; what should be shown is the trace's.
"""

import nbformat
import pytest
from nightly import every

from course_lib.classroom.publish.convert import STATE, html_page
from course_lib.trace.notebook_outputs import HTML, VIEW
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.fallback import mark_of
from course_lib.trace.viewer.words import sentence

from .moments import LINK, MOMENTS, NOTEBOOKS, asked, book_of, links, ran

#: Of the stepper that has the focus: what it shows of each run.
SHOWN = """() => {
  const root = document.activeElement;
  const { scene, timer } = root.stepper;
  const NOW = [5, 6]; // of plane.js: read or written in this step
  const lit = ({ planes }) => planes.flat().filter(({ states }) => states.some((state) => NOW.includes(state & 7)));
  return {
    count: root.querySelector(".tt-count").textContent,
    panel: scene.panel,
    playing: timer !== null,
    alerts: root.querySelectorAll("[role=alert]").length,
    says: [...root.querySelectorAll(".tt-sentence")].map((node) => node.textContent),
    who: [root.stepper.model.get("block"), root.stepper.model.get("thread")],
    runs: scene.runs.map(({ node, views, replay }) => ({
      position: replay.position,
      line: Number(node.querySelector(".tt-current")?.dataset.line ?? 0),
      arrays: lit(views.find(({ planes }) => planes)).map(({ name }) => name.split("[")[0]),
    })),
  };
}"""
LESSONS = sorted({name for name, _ in MOMENTS})
CASES = every(3, LESSONS)


def expect_moment(page, stepper, link, holds):
    """The stepper with the focus shows this moment, all of it as the trace has it."""
    page.wait_for_function("() => document.activeElement?.classList.contains('tt-root')")
    shown = page.evaluate(SHOWN)
    wanted = asked(link)
    step, run = int(wanted["step"]), int(wanted.get("run", 0))
    traces = stepper._traces
    assert shown["count"].startswith(f"step {step} of "), link
    assert (shown["panel"], shown["playing"], shown["alerts"]) == (wanted.get("panel", ""), False, 0), link
    single = len(traces) == 1
    for number, (trace, each) in enumerate(zip(traces, shown["runs"], strict=True)):
        timeline, thread = Timeline(trace, (0, 0, 0)), 0
        if single or run == number + 1:
            says = sentence(timeline, step, thread)
            assert each["position"] == step, link
            assert shown["says"][number] == (says if single else f"{trace.kernel_name}: {says}"), link
        elif not run:
            assert f" {step} of " in shown["says"][number], link  # the same multiply-add
        if run in (0, number + 1):
            assert holds(timeline, each["position"]), (link, each)
        expect_step(timeline, thread, each)


def expect_step(timeline, thread, shown):
    """The line that is marked, and the arrays that are lit, are those of the step."""
    if not shown["position"]:
        assert (shown["line"], shown["arrays"]) == (0, [])
        return
    step = timeline.step(shown["position"])
    assert shown["line"] == step.line
    touched = [
        name
        for name in timeline.trace.arrays
        if ((timeline.accesses(name).position == shown["position"]) & (timeline.accesses(name).thread == thread)).any()
    ]
    assert sorted({*shown["arrays"]}) == sorted(touched), step


def exported(name):
    """The notebook's texts and its steppers as a page, as `export` writes them."""
    cells, states = [], {}
    for number, cell in enumerate(book_of(name).cells):
        if cell.cell_type == "markdown":
            cells.append(cell)
        elif number in ran(name):
            widget, key = ran(name)[number], f"stepper{number}"
            data, _ = widget._repr_mimebundle_()
            widget._mark(mark_of(data))
            fallback = nbformat.v4.new_output("display_data", {HTML: data[HTML]})
            view = nbformat.v4.new_output("display_data", {VIEW: {"model_id": key}})
            cells.append(nbformat.v4.new_code_cell(cell.source, outputs=[fallback, view]))
            states[key] = {"state": widget.get_state()}
    book = nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {STATE: {"state": states}}})
    return html_page(book, name)


@pytest.fixture
def page_of(visit, tmp_path):
    """Open a notebook as an exported page, without a network."""

    def page_of(name):
        path = tmp_path / "lesson.html"
        path.write_text(exported(name), encoding="utf-8")
        page = visit(offline=True)
        page.goto(path.as_uri())
        return page

    return page_of


def below(name, number):
    """The first stepper below a cell."""
    return next(stepper for at, stepper in ran(name).items() if at > number)


def plain(text):
    """The text of a link as a page shows it."""
    return text.replace("*", "")


@pytest.mark.parametrize("name", CASES)
def test_a_link_on_a_page_shows_what_it_says(page_of, name):
    page = page_of(name)
    for number, text, link in links(name):
        page.get_by_role("link", name=plain(text), exact=True).click()
        expect_moment(page, below(name, number), link, MOMENTS[name, text])
    assert page.errors == []


def test_every_link_to_a_step_has_its_moment():
    names = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert {(name, text) for name in names for _, text, _ in links(name)} == MOMENTS.keys()
    others = [*NOTEBOOKS.glob("*.md"), *NOTEBOOKS.glob("solutions/*.ipynb"), *NOTEBOOKS.parent.glob("docs/**/*.md")]
    assert not [path.name for path in others if LINK.search(path.read_text(encoding="utf-8"))]
