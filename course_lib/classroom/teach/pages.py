"""The grader's pages: one for each student, and one for the teacher."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...exercises import EXERCISES
from ...exercises.grading.explain import Explanation
from .cells import counted
from .gradebook import Total, summary, total
from .judge import Judged
from .likeness import Group, groups

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
section { margin: 2rem 0; }
blockquote { border-left: 3px solid #8c8c8c; margin: 0 0 1rem; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem; text-align: left; vertical-align: top; }
th { white-space: nowrap; } .any { max-width: 24rem; overflow-wrap: anywhere; }
tr { border-bottom: 1px solid #8c8c8c; }
.beside { display: grid; grid-template-columns: 2fr 3fr; gap: 2rem; }
img { max-width: 100%; }
.bar { background: #0072b2; height: 1em; }
"""


def document(title: str, body: str) -> str:
    """Return a page of HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of HTML; the texts in it are escaped."""

    def line(tag: str, row: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in row)}</tr>"

    return f"<table>{line('th', head)}{''.join(line('td', row) for row in rows)}</table>"


#: The status of an answer whose points a person gave.
BY_HAND = "by hand"


def feedback(lesson: str, student: str, rows: Sequence[Judged], note: str = "") -> str:
    """Return the page of a student: each verdict, with the picture of the step that went wrong, and what a person gave
    and wrote; ``note`` is about the submission as a whole."""
    title, reached = html.escape(f"{lesson}: {student}"), total(rows)
    waiting = f"; to be read by your teacher: {', '.join(reached.unread)}" if reached.unread else ""
    said = f"<p>{reached.points:g} of {reached.of} points{waiting}</p><p>{html.escape(note)}</p>"
    sections = "".join(f"<section>{row.page}\n{_by_hand(row)}</section>\n" for row in rows)
    return document(f"{lesson}: {student}", f"<h1>{title}</h1>{said}\n{sections}")


def _by_hand(row: Judged) -> str:
    said = f"<p><b>Your teacher writes:</b> {html.escape(row.comment)}</p>" if row.comment else ""
    if row.status == BY_HAND:
        exercise = EXERCISES[row.exercise]
        said += f"<p><b>{row.points or 0:g} of {row.of} points, given by your teacher.</b></p>"
        said += _rubric(exercise) if isinstance(exercise, Explanation) else ""
    return said


def _rubric(exercise: Explanation) -> str:
    ideas = "".join(f"<li>{html.escape(idea)}</li>" for idea in exercise.ideas)
    return f"<p>One point for each of:</p><ol>{ideas}</ol><p>A model answer: {html.escape(exercise.model)}</p>"


def nearly_the_same(graded: Mapping[str, Sequence[Judged]]) -> list[tuple[str, Group]]:
    """Return the groups of answers that are nearly the same, or nearly what the course has, with their exercise."""
    by_exercise: dict[str, dict[str, Judged]] = {}
    for student, each in graded.items():
        for row in each:
            by_exercise.setdefault(row.exercise, {})[student] = row
    return [
        (name, group)
        for name, rows in by_exercise.items()
        for group in groups({s: row.units for s, row in rows.items()}, {s: row.course for s, row in rows.items()})
    ]


def remarks(same: Sequence[tuple[str, Group]], page: str) -> dict[tuple[str, str], str]:
    """Return what the table says about such answers: {(student, exercise): a sentence}."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, group in same:
        for student in group.students:
            like = group.course or counted(len(group.students) - 1, "other answer")
            found.setdefault((student, name), []).append(like)
    return {key: f"Nearly the same as {' and '.join(like)}: see {page}." for key, like in found.items()}


NO_PROOF = (
    "What the lesson gives is left out. Equal answers are no proof: where an exercise leaves no other form, right "
    "answers are like each other, and like those of the course."
)


class Student(NamedTuple):
    """A line of the class's page; ``label`` is the name or the pseudonym, ``page`` a link."""

    label: str
    total: Total
    late: str
    note: str
    page: str


def for_teacher(
    lesson: str,
    graded: Mapping[str, Sequence[Judged]],
    same: Sequence[tuple[str, Group]],
    students: Sequence[Student] = (),
    absent: Sequence[str] = (),
) -> str:
    """Return the class's page: totals, statuses and hints, answers in words beside their rubrics, and equal answers.

    ``graded`` and ``students`` are by label; those in ``absent`` handed in nothing, so they are in no mean.
    """
    from jinja2 import Environment, FileSystemLoader  # of the extra `teach`; an assignment's own check needs no page

    present = [rows for student, rows in graded.items() if student not in absent]
    words: dict[str, dict[str, list[str]]] = {}
    for student, row in ((student, row) for student, each in graded.items() for row in each):
        if isinstance(EXERCISES[row.exercise], Explanation):
            answers, points = words.setdefault(row.exercise, {}), f" ({row.points or 0:g} of {row.of})"
            if row.text:
                answers.setdefault(row.text.strip(), []).append(student + points * (row.points is not None))
    return (
        Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
        .get_template("class.html")
        .render(
            lesson=lesson,
            style=_STYLE,
            students=students,
            summary=summary(present),
            statuses=list(dict.fromkeys(row.status for rows in present for row in rows)),
            unread=sum(row.points is None for rows in present for row in rows),
            words=[(EXERCISES[name], answers) for name, answers in words.items()],
            same=same,
            no_proof=NO_PROOF,
        )
    )
