"""The map of the ladder: every measured rung on it, in the order of the lessons, with figures that can be traced."""

import re

import pytest

from course_lib.classroom.course_map import roadmap
from course_lib.kernels import LADDER
from course_lib.machine import measurements
from course_lib.machine.model import loads_per_output
from tools.report import measured


@pytest.fixture(scope="module")
def steps():
    return roadmap()


def test_every_measured_rung_is_explained_by_a_lesson(steps):
    known = {rung.name for rung in LADDER}
    names = [r["rung"] for r in measured(measurements.load("ladder")) if r["rung"] in known]
    assert sorted(step.rung for step in steps) == sorted(names)


def test_the_lessons_come_in_order(steps):
    assert [step.lesson for step in steps] == sorted(step.lesson for step in steps)


def test_figures_are_the_recordings_and_the_closed_forms(steps):
    n = 4096
    counters, ladder = measurements.load("counters"), measurements.load("ladder")
    for step in steps:
        assert step.speed == ladder.result(step.rung)["gflops"]
        if step.sectors is not None:
            assert step.sectors * n**2 == counters.result(step.rung, M=n)["global_load_sectors"]
    assert steps.step("naive").loads == 2 * n
    assert steps.step("tiled").loads == loads_per_output(n, n, n, 32) == 2 * n / 32
    assert steps.step("best").loads == loads_per_output(n, n, n, 128, 256)
    assert steps.step("per_row").sectors is None


def test_a_rung_that_is_not_on_the_map_is_named(steps):
    with pytest.raises(KeyError, match="no rung 'cublas' on the map; it has per_row, per_column"):
        steps.step("cublas")


def test_text_and_markdown_say_the_same(steps):
    text, markdown = repr(steps), steps._repr_markdown_()
    for step in steps:
        assert f"({step.lesson}.ipynb)" in markdown
        line = next(line for line in text.splitlines() if line.startswith(step.title + " "))
        row = next(row for row in markdown.splitlines() if f"| {step.title} |" in row)
        assert line.removeprefix(step.title).split()[:3] == row.replace("|", " ").split()[-3:]
    assert steps.gpu in text and steps.gpu in markdown


def test_a_lesson_that_an_edition_leaves_out_is_no_link(steps, tmp_path, monkeypatch):
    (tmp_path / "02_naive.ipynb").touch()
    monkeypatch.setattr("course_lib.classroom.lessons.home", lambda: tmp_path)
    links = re.findall(r"\(([^)]*\.ipynb)\)", steps._repr_markdown_())
    assert set(links) == {"02_naive.ipynb"} and "| 04 tiling |" in steps._repr_markdown_()
