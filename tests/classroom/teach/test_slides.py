"""The decks of lessons and of plans: what the command writes, and that notes and plans fit the lessons."""

import json
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from course_lib.classroom import lessons, notes
from course_lib.classroom.publish import deck
from course_lib.classroom.publish.speaker import annotate
from course_lib.classroom.teach import slides
from course_lib.classroom.teach.command import main
from course_lib.exercises import LESSONS

every_lesson = pytest.mark.parametrize("lesson", LESSONS)
PLANS = {plan["deck"]: plan for plan in notes.plans() if "deck" in plan}
#: Of whole sections; a class needs a moment to look at a slide.
LEAST_MINUTES = 0.9


def stored(lesson):
    """Return a lesson's slides, with its stored outputs, in which no stepper lives and no prediction is asked."""
    book = nbformat.read(lessons.home() / f"{lesson}.ipynb", as_version=4)
    found = deck.slides_of(book)
    annotate(found, lesson)
    return found


@every_lesson
def test_a_deck_has_no_more_slides_than_its_time_allows(lesson):
    """Each section with notes has slides, or is left to the reader; each slide has notes with its minutes."""
    found = stored(lesson)
    assert all(re.match(r"\*\*Minutes? \d+", slide.notes) for slide in found)
    timed = [slide for slide in found if slide.minutes]
    assert sum(slide.minutes for slide in timed) >= LEAST_MINUTES * len(timed)


@every_lesson
def test_what_is_said_at_a_cell_has_its_slide(lesson):
    slides_of = Counter(cell for slide in stored(lesson) for cell in dict.fromkeys(slide.cells))
    at_slides = {f"{cell} {at}".removesuffix(" 1") for cell, most in slides_of.items() for at in range(1, most + 1)}
    cells = json.loads((lessons.home() / f"{lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
    predictions = {cell["id"] for cell in cells if "".join(cell["source"]).lstrip().startswith("predict(")}
    assert set(notes.notes_at(lesson)) <= at_slides | predictions | {f"{cell} 2" for cell in predictions}


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_shows_slides_that_there_are(plan):
    """In its own minutes, without a gap."""
    found = slides.slides_of_plan(PLANS[plan], {lesson: stored(lesson) for lesson in LESSONS})
    clocks = [tuple(map(int, re.match(r"\*\*Minutes (\d+)–(\d+) of (\d+)\.", slide.notes).groups())) for slide in found]
    starts = list(dict.fromkeys(clocks))
    assert [end for _, end, _ in starts[:-1]] == [start for start, _, _ in starts[1:]]
    (session,) = PLANS[plan]["session"]
    assert starts[0][0] == 0 and starts[-1][1] == starts[-1][2] <= session["minutes"] - session.get("pause", 0)


def test_a_plan_with_a_slide_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no slide of lesson 04 has this cell"):
        slides.slides_of_plan({"deck": "d", "slides": [{"at": "04 nowhere", "minutes": 1}]}, {"04_tiling": []})


@pytest.mark.nightly
def test_the_command_writes_a_deck_and_a_page_that_lists_all(tmp_path, monkeypatch, capsys):
    assert main(["slides", "--lesson", "13", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "13_many_shapes.html").read_text(encoding="utf-8")
    assert "13 · Many shapes" in text and re.search(r'<aside class="notes">.*?Minutes 0–', text, re.DOTALL)
    monkeypatch.setattr(slides, "deck_of", lambda path: stored(path.stem))
    assert main(["slides", "--all", "--out", str(tmp_path)]) == 0
    listed = re.findall(r'href="([^"]+)"', (tmp_path / "index.html").read_text(encoding="utf-8"))
    assert listed == [*(f"{lesson}.html" for lesson in LESSONS), *(f"{plan}.html" for plan in PLANS)]
    assert all((tmp_path / name).is_file() for name in listed)


def test_a_course_without_the_notes_says_so(monkeypatch, capsys):
    monkeypatch.setattr(notes, "_PLACES", (Path("nowhere"),))
    assert main(["slides", "--lesson", "04"]) == 2
    assert "has no speaker's notes" in capsys.readouterr().err
