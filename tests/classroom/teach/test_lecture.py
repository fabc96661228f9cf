"""The lectures: how long they take, and what the speaker says; tests/browser looks at each slide."""

import itertools
import re
from pathlib import Path

import nbformat
import pytest

from course_lib import measurements
from course_lib.classroom.teach import slides
from course_lib.classroom.teach.command import main

#: The minutes that each deck may take; the longer one has a pause of ten.
DECKS = {"lecture-50": 50, "lecture-100": 120 - 10}


@pytest.fixture(scope="module")
def notebook():
    """The lecture, which has no outputs."""
    found = slides.lecture()
    nbformat.validate(found)
    assert not any(cell.get("outputs") for cell in found.cells)
    return found


@pytest.mark.parametrize("plan", DECKS)
def test_a_deck_fits_its_time_and_every_slide_has_notes(notebook, plan):
    """The minutes run from 0 to the end, without a gap."""
    clock = 0
    for cells in slides.slides_of(slides.deck(notebook, plan), plan):
        (notes,) = (cell.source for cell in cells if cell.metadata["slideshow"]["slide_type"] == "notes")
        begin, end, whole = map(int, re.match(r"\*\*Minutes (\d+)–(\d+) of (\d+)\.\*\* ", notes).groups())
        assert begin == clock < end <= whole <= DECKS[plan]
        clock = end
    assert clock == whole


def test_the_long_lecture_has_every_slide(notebook):
    """Also those of the short one, in the same order."""
    short, long = (slides.timed(notebook, plan) for plan in DECKS)
    assert [slide for slide in long if slide in short] == short
    assert len(long) == sum(cell.metadata.get("slideshow", {}).get("slide_type") == "slide" for cell in notebook.cells)


def test_the_figures_that_are_told_are_those_of_the_recordings(notebook):
    """The speaker's factors, from the recording of the pairs."""
    twins = measurements.load("twins")
    told = {"uint64_32": 1.31, "c_unroll_32": 1.37, "uint64_32_uncached": 2.63, "c_unroll_32_uncached": 2.71}
    for name, times in told.items():
        naive, tiled = (twins.result(f"{kernel}_{name}")["gflops"] for kernel in ("naive", "tiled"))
        assert abs(tiled / naive - times) < 0.005
    (notes,) = (cell.source for cell in notebook.cells if cell.id == "fair-notes")
    assert all(f"{times:.3g}"[:3] in notes for times in told.values())


def test_no_word_of_the_machine_covers_another(notebook):
    """The slide makes the words of the picture larger, and some of them longer."""
    cells = {cell.id: cell.source for cell in notebook.cells}
    names = {}
    exec(cells["setup"], names)
    exec(cells["machine-1"], names)
    names["ax"].figure.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in names["ax"].texts if text.get_text()}
    assert {"global memory\n(DRAM)", "far: large,\nslow"} < set(boxes)
    assert not [(a, b) for a, b in itertools.combinations(boxes, 2) if boxes[a].overlaps(boxes[b])]


def test_a_course_without_the_lecture_says_so(monkeypatch, capsys):
    monkeypatch.setattr(slides, "FOLDER", Path("nowhere"))
    assert main(["slides", "--plan", "lecture-50"]) == 2
    assert "run this command in a git clone of the course" in capsys.readouterr().err
