"""Guides and plans for teachers: up to date, tied to exercises that exist, and no longer than the time there is."""

import re
import tomllib
from pathlib import Path

import pytest

from course_lib.classroom.teach import guides
from course_lib.exercises import EXERCISES, LESSONS

ROOT = Path(__file__).parents[3]
TEACH = ROOT / "docs" / "teach"
OURS = tomllib.loads((TEACH / "lessons.toml").read_text(encoding="utf-8"))
lessons = pytest.mark.parametrize("name", LESSONS)


@pytest.fixture(scope="module")
def made():
    return guides.pages()


def test_the_pages_are_up_to_date(made):
    """If not: uv run tile-by-tile teach guides."""
    stored = {path.relative_to(TEACH).as_posix(): path for path in [*TEACH.glob("lessons/*"), TEACH / "plans.md"]}
    assert set(stored) == set(made)
    assert [name for name, path in stored.items() if path.read_text(encoding="utf-8") != made[name]] == []


@lessons
def test_objectives_can_be_tested(name):
    """Each with an exercise of the lesson."""
    objectives = OURS[name[:2]]["objectives"]
    assert objectives
    assert set(objectives) <= {exercise.name for exercise in LESSONS[name]}


def test_plans_fit_their_time():
    """Counted again from the pages: sections, the pause and what is left are the minutes of the session."""
    text = (TEACH / "plans.md").read_text(encoding="utf-8")
    notes = "\n".join(path.read_text(encoding="utf-8") for path in sorted((TEACH / "notes").glob("*.md")))
    planned = dict(re.findall(r"^## (\d+\.\d+) .*\n\nTime: (\d+)", notes, re.MULTILINE))
    sessions = re.findall(
        r"\n\| together \| (\d+) \|\n\n(?:(\d+) minutes of pause; )?(\d+) of (\d+) minutes left", text
    )
    tables = [re.findall(r"^\| (\S+) .* \| (\d+) \|$", part, re.MULTILINE) for part in text.split("| together |")[:-1]]
    assert len(tables) == len(sessions) > 0
    for rows, (total, pause, left, minutes) in zip(tables, sessions, strict=True):
        assert sum(int(time) for _, time in rows) == int(total)
        assert int(total) + int(pause or 0) + int(left) == int(minutes)
        assert all(planned[section] == time for section, time in rows if "." in section)
    homework = {
        name for line in re.findall(r"^Homework: .*", text, re.MULTILINE) for name in re.findall(r"`(.*?)`", line)
    }
    assert homework and homework <= set(EXERCISES)


def test_a_plan_that_is_too_long_or_names_no_section_is_refused():
    with pytest.raises(ValueError, match="lasts 10 minutes too long"):
        guides._planned({}, {"minutes": 50, "sections": ["3"]})
    with pytest.raises(ValueError, match=r"section 4\.77"):
        guides.sections(["4.77"])
