"""What the judge writes into a notebook, and what nbgrader takes from it; the judgement itself is replaced."""

import pytest

pytest.importorskip("nbgrader")

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook  # noqa: E402
from nbgrader.utils import determine_grade  # noqa: E402
from traitlets.config import Config  # noqa: E402

from course_lib.classroom.nbgrader import Judge, judging  # noqa: E402
from course_lib.classroom.teach.cells import GRADED  # noqa: E402
from course_lib.classroom.teach.isolated import limits_for  # noqa: E402
from course_lib.classroom.teach.judge import STOPPED, TO_READ, UNREADABLE, Judged  # noqa: E402
from course_lib.classroom.teach.worker import Stopped  # noqa: E402
from course_lib.trace.notebook_outputs import KEY  # noqa: E402

LESSON = "04_tiling"
#: A verdict of each kind, by exercise.
ROWS = {
    "tiles-of-transpose": Judged("tiles-of-transpose", 4, 4, "passed"),
    "too-deep": Judged("too-deep", None, 4, STOPPED, "it needed more than 1 second of processor time."),
    "barriers": Judged("barriers", 2, 5, "failed", "a hint", picture="iVBORw0KGgo=", alt="the step"),
    "two-barriers": Judged("two-barriers", None, 2, TO_READ, text="words"),
}


def graded(grade_id, points, make=new_code_cell, **marks):
    """A cell of an assignment that gives points."""
    plain = {"grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3}
    return make("", metadata={"nbgrader": {**plain, "grade_id": grade_id, "points": points, **marks}})


@pytest.fixture
def notebook():
    cells = [graded(f"test-{name}", GRADED[name].points) for name in ("tiles-of-transpose", "too-deep", "barriers")]
    cells.append(graded("points-two-barriers", 2, new_markdown_cell, grade=False, task=True))
    return new_notebook(cells=[*cells, graded("my-own-test", 3), new_code_cell("answer", id="answer")])


@pytest.fixture
def asked(monkeypatch):
    """With what the judge was asked: (texts, lesson, limits, seed)."""
    found = []

    def judged_notebook(data, lesson, limits, seed):
        found.append((data, lesson, limits, seed))
        return list(ROWS.values())

    monkeypatch.setattr(judging, "judged_notebook", judged_notebook)
    monkeypatch.setattr(judging, "shared_worker", lambda limits: limits)
    return found


def points(notebook):
    """What nbgrader finds in each cell that it grades itself."""
    return {c.metadata.nbgrader.grade_id: determine_grade(c)[0] for c in notebook.cells[:5] if c.cell_type == "code"}


def test_each_test_has_an_output_with_the_points(notebook, asked):
    """One without would get all of them. What waits has none in the metadata, which `MarkManualGrades` reads."""
    found, _ = Judge().preprocess(notebook, {})
    assert points(found) == {
        "test-tiles-of-transpose": 4, "test-too-deep": 0, "test-barriers": 2, "my-own-test": 0,
    }  # fmt: skip
    said = {c.metadata.nbgrader.grade_id: c.metadata[KEY] for c in found.cells if KEY in c.metadata}
    assert {name: (each.status, each.points) for name, each in said.items()} == {
        "test-tiles-of-transpose": ("passed", 4),
        "test-too-deep": (STOPPED, None),
        "test-barriers": ("failed", 2),
        "points-two-barriers": (TO_READ, None),
        "my-own-test": (TO_READ, None),
    }
    shown = found.cells[2].outputs[0].data["text/html"]
    assert "a hint" in shown and "data:image/png;base64,iVBORw0KGgo=" in shown and "<style>" in shown
    ((data, *_),) = asked
    assert b"answer" in data and b"test-" not in data


def test_seed_and_limits_are_settings(notebook, asked):
    config = Config({"Judge": {"seed": 7, "seconds": 8, "memory": 512}})
    Judge(config=config).preprocess(notebook, {})
    ((_, lesson, limits, seed),) = asked
    assert (lesson, limits.seconds, limits.memory, seed) == (LESSON, limits_for(LESSON, 8).seconds, 512 << 20, 7)


@pytest.mark.parametrize("error", [Stopped("it took too long"), ValueError("no")])
def test_what_cannot_be_read_waits(error, notebook, monkeypatch):
    """Of the reader's process, as of the reader."""

    def failing(*asked):
        raise error

    monkeypatch.setattr(judging, "judged_notebook", failing)
    monkeypatch.setattr(judging, "shared_worker", lambda limits: limits)
    found, _ = Judge().preprocess(notebook, {})
    said = [cell.metadata[KEY] for cell in found.cells[:4]]
    assert {(each.status, each.points) for each in said} == {(UNREADABLE, None)} and set(points(found).values()) == {0}
    notebook.metadata[KEY] = {"unreadable": "it is a link."}
    found, _ = Judge().preprocess(notebook, {})
    assert {each.hint for each in (cell.metadata[KEY] for cell in found.cells[:4])} == {"it is a link."}
