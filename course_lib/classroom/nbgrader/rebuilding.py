"""The rebuilding of a notebook: the assignment's own cells in their places, and of the student's cells only the text.

A test that is there twice ends nbgrader's whole batch, one that was renamed or deleted loses its points, and what a
student's Markdown, raw cells, outputs or metadata hold of HTML is shown to the teacher. So the notebook is made anew:
of its texts, and of the cells that the gradebook has of the assignment.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bleach
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor

from ...exercises import LESSONS
from ...trace.notebook_outputs import KEY
from ..teach.cells import places, texts_above
from ..teach.submission import LONGEST

#: Grade ids of an assignment: of the test of an exercise, and of the points for an answer in words.
TEST, POINTS = "test-", "points-"


class RebuildNotebook(NbGraderPreprocessor):
    """The first preprocessor of `nbgrader autograde`. The notebook's metadata get what `SubmissionReader` found.

    Ana has deleted the only test of the assignment, which is put back:

    >>> answer = new_code_cell("x = 1")
    >>> rebuilt, _ = RebuildNotebook().preprocess(new_notebook(cells=[answer]), {"nbgrader": of_ana})
    >>> [(cell.source, "nbgrader" in cell.metadata) for cell in rebuilt.cells]
    [('x = 1', False), ('assert x == 1', True)]
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Replace the cells of ``nb`` by rebuilt ones, and its metadata by what was found of the file."""
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as book:
            assigned = book.find_notebook(where["notebook"], where["assignment"])
            ours = {cell.name: _marked(cell, assigned) for cell in assigned.source_cells}
        found = list(_texts(nb.cells))
        missing = sorted(ours.keys() - {text.grade_id for text in found})
        if missing:
            self.log.warning("%s of %s: put back %s", where["notebook"], where["student"], ", ".join(missing))
        nb.cells = rebuilt(found, ours)
        problem = resources.get("unreadable", "")
        if problem:
            nb.cells.insert(0, new_markdown_cell(as_text(f"This submission cannot be read: {problem}")))
        nb.metadata = NotebookNode({KEY: {"submitted": resources.get("submitted", ""), "unreadable": problem}})
        nb.nbformat, nb.nbformat_minor = 4, 5
        return nb, resources


def exercise_of(grade_id: str) -> tuple[str, str] | None:
    """Return (lesson, exercise) of a cell of the assignment; None if it gives no points for an exercise."""
    exercise = grade_id.removeprefix(TEST).removeprefix(POINTS)
    if exercise == grade_id:
        return None
    return next(((lesson, exercise) for lesson in LESSONS if exercise in places(lesson)), None)


def place_of(grade_id: str) -> tuple[bool, str, int]:
    """The place of a cell among those of the assignment, to sort them: the points in the order of the exercises, after
    all other cells."""
    lesson, exercise = exercise_of(grade_id) or ("", grade_id)
    return bool(lesson), lesson or exercise, [*places(lesson)].index(exercise) if lesson else 0


def _marked(cell: Any, assigned: Any) -> NotebookNode:
    """A cell of the assignment as nbgrader stored it, with its marks."""
    points = {each.name: each.max_score for each in (*assigned.grade_cells, *assigned.task_cells)}
    marks: dict[str, Any] = {
        "grade": cell.name in {each.name for each in assigned.grade_cells},
        "solution": cell.name in {each.name for each in assigned.solution_cells},
        "task": cell.name in {each.name for each in assigned.task_cells},
        "locked": cell.locked,
        "grade_id": cell.name,
        "cell_type": cell.cell_type,
        "checksum": cell.checksum,
        "schema_version": 3,
    }
    if cell.name in points:
        marks["points"] = points[cell.name]
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return make(cell.source, metadata={"nbgrader": marks})


@dataclass(frozen=True)
class _Text:
    """What is kept of a student's cell."""

    kind: str
    source: str
    id: str
    grade_id: str
    attachments: dict[str, dict[str, str]]

    def plain(self) -> NotebookNode:
        """The cell without marks; of one that is no code, HTML without what a browser would execute."""
        if self.kind == "code":
            return new_code_cell(self.source)
        if self.kind == "markdown":
            return new_markdown_cell(clean(self.source, self.attachments))
        return new_markdown_cell(as_text(self.source))

    def has_more_than(self, cell: NotebookNode) -> bool:
        """Whether the cell has a line that the assignment's has not; that one may also have lines for the teacher."""
        own, given = ({line.strip() for line in text.splitlines()} for text in (self.source, cell.source))
        return not own - {""} <= given


def _texts(cells: Any) -> Iterator[_Text]:
    for cell in cells:
        metadata = cell.get("metadata")
        marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        yield _Text(
            str(cell.get("cell_type")),
            _printable(cell.source[: LONGEST + 1]),  # of a longer one nothing is read
            str(cell.get("id", "")),
            str(marks.get("grade_id", "")) if isinstance(marks, dict) else "",
            _pictures(cell.get("attachments")),
        )


def _printable(text: str) -> str:
    """A text that a file in UTF-8 can hold: JSON can have halves of characters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _pictures(found: Any) -> dict[str, dict[str, str]]:
    """The pictures that were pasted into a cell; nothing else."""
    files = found.items() if isinstance(found, dict) else ()
    kept = {name: {kind: data for kind, data in of.items() if isinstance(data, str)} for name, of in files if of}
    return {name: of for name, of in kept.items() if of}


def rebuilt(found: list[_Text], ours: dict[str, NotebookNode]) -> list[NotebookNode]:
    """Return the cells of a student, each without marks, and those of the assignment, each once, in their places.

    Where the student has changed one of the assignment's, both are there. One that is missing comes after the answer to
    its exercise, or last.
    """
    last = {text.grade_id: number for number, text in enumerate(found) if text.grade_id in ours}
    after: dict[str, list[str]] = {}
    for name in sorted(ours.keys() - last.keys(), key=place_of):
        exercise = exercise_of(name)
        after.setdefault(places(exercise[0])[exercise[1]].cell if exercise else "", []).append(name)
    cells: list[NotebookNode] = []

    def put(cell: NotebookNode, id: str) -> None:
        cells.append(cell)
        cell["id"] = re.sub("[^a-zA-Z0-9_-]", "-", id)[:64]  # a grade id may have other letters

    for number, text in enumerate(found):
        given = ours.get(text.grade_id)
        counts = given is not None and last[text.grade_id] == number
        if given is None or (text.has_more_than(given) and not (counts and given.metadata.nbgrader.solution)):
            put(text.plain(), f"own-{text.id}"[:64] if text.id in ours else text.id)
        if counts and given is not None:
            if given.metadata.nbgrader.solution:
                given["source"] = text.source if given.cell_type == "code" else clean(text.source, text.attachments)
            put(given, text.grade_id)
        for name in after.pop(text.id, ()):
            put(ours[name], name)
    for name in sorted((name for names in after.values() for name in names), key=place_of):
        put(ours[name], name)
    return cells


# ---- HTML --------------------------------------------------------------------------------------------------------

_TAGS = {
    *bleach.ALLOWED_TAGS,
    *("br", "dd", "del", "details", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "kbd", "p"),
    *("pre", "s", "span", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "u"),
}


def _is_allowed(tag: str, name: str, value: str) -> bool:
    """Whether an element may have an attribute.

    No id and no class: the grader's page finds its fields by them. A picture is in the page itself: one from elsewhere
    would tell who reads.
    """
    if tag == "img":
        return name == "alt" or (name == "src" and value.startswith("data:image/"))
    if tag == "a":
        return name == "title" or (name == "href" and not value.startswith("data:"))
    return False


def clean(markdown: str, attachments: dict[str, dict[str, str]] | None = None) -> str:
    """Return Markdown as HTML that executes nothing, in one line, so that it is the same as Markdown.

    The course's own texts stay as they are.
    """
    if markdown in _course_texts():
        return markdown
    if len(markdown) > LONGEST:
        return as_text(markdown)
    try:
        renderer = IPythonRenderer(escape=False, attachments=attachments or {}, exclude_anchor_links=True)
        shown = MarkdownWithMath(renderer=renderer).render(markdown)
        kept = bleach.clean(shown, _TAGS, _is_allowed, {*bleach.ALLOWED_PROTOCOLS, "data"}, strip_comments=True)
    except Exception:  # whatever a text does to the parsers, it is shown
        return as_text(markdown)
    return f"<div>{_one_line(kept)}</div>"


def as_text(words: str) -> str:
    """Return a text as HTML that shows its characters."""
    return f"<pre>{_one_line(html.escape(words[:LONGEST]))}</pre>"


def _one_line(text: str) -> str:
    """HTML in which no line ends: an empty line would end it for Markdown."""
    return re.sub(r"\r\n?|\n", "&#10;", text)


def _course_texts() -> set[str]:
    return {text for lesson in LESSONS for text in texts_above(lesson).values()}
