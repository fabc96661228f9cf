"""The grader's pages: one for each student, and one for the teacher."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ...exercises import EXERCISES
from ...exercises.grading.explain import Explanation
from .cells import counted
from .judge import Judged
from .likeness import Group, groups

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
section { margin: 2rem 0; }
blockquote { border-left: 3px solid #8c8c8c; margin: 0 0 1rem; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem; text-align: left; vertical-align: top; }
tr { border-bottom: 1px solid #8c8c8c; }
.beside { display: grid; grid-template-columns: 2fr 3fr; gap: 2rem; }
img { max-width: 100%; }
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


def feedback(lesson: str, student: str, rows: Sequence[Judged]) -> str:
    """Return the page of a student: each verdict, with the picture of the step that went wrong."""
    title = f"{lesson}: {student}"
    sections = "".join(f"<section>{row.page}\n{_mark(row.exercise, '')}</section>\n" for row in rows)
    return with_points(document(title, f"<h1>{html.escape(title)}</h1>{_mark('total', '')}\n{sections}"), rows)


def with_points(page: str, rows: Sequence[Judged]) -> str:
    """Return the page with the points of ``rows``, of which some may have been given by hand."""
    reached = sum(row.points or 0 for row in rows)
    waiting = [row.exercise for row in rows if row.points is None]
    total = f"<p>{_points(reached)} of {sum(row.of for row in rows)} points"
    total += f"; to be read by your teacher: {', '.join(waiting)}</p>" if waiting else "</p>"
    page = _filled(page, "total", total)
    for row in rows:
        page = _filled(page, row.exercise, _by_hand(row) if row.status == BY_HAND else "")
    return page


#: The status of an answer whose points a person gave.
BY_HAND = "by hand"


def _points(number: float) -> str:
    return f"{number:g}"


def _by_hand(row: Judged) -> str:
    exercise = EXERCISES[row.exercise]
    said = f"<p><b>{_points(row.points or 0)} of {row.of} points, given by your teacher.</b></p>"
    return said + (_rubric(exercise) if isinstance(exercise, Explanation) else "")


def _rubric(exercise: Explanation) -> str:
    ideas = "".join(f"<li>{html.escape(idea)}</li>" for idea in exercise.ideas)
    return f"<p>One point for each of:</p><ol>{ideas}</ol><p>A model answer: {html.escape(exercise.model)}</p>"


def _mark(name: str, text: str) -> str:
    """Text that `_filled` finds again. No student writes such a comment: what students write is escaped."""
    return f"<!--{name}:-->{text}<!--:{name}-->"


def _filled(page: str, name: str, text: str) -> str:
    return re.sub(
        f"{re.escape(f'<!--{name}:-->')}.*?{re.escape(f'<!--:{name}-->')}",
        lambda _: _mark(name, text),
        page,
        flags=re.DOTALL,
    )


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


def for_teacher(lesson: str, graded: Mapping[str, Sequence[Judged]], same: Sequence[tuple[str, Group]]) -> str:
    """Return the teacher's page: how the class did, answers in words beside their rubrics, and equal answers."""
    rows = [row for each in graded.values() for row in each]
    names = list(dict.fromkeys(row.exercise for row in rows))
    body = f"<h1>{html.escape(lesson)}: {len(graded)} submissions</h1>{_passed(names, rows)}"
    for name in names:
        exercise = EXERCISES[name]
        texts = {student: row for student, each in graded.items() for row in each if row.exercise == name}
        if isinstance(exercise, Explanation):
            body += _answers(exercise, {student: row for student, row in texts.items() if row.text})
    body += f"<h2>Answers that are nearly the same</h2>{_listed(same)}"
    return document(f"{lesson}: for the teacher", body)


def _listed(same: Sequence[tuple[str, Group]]) -> str:
    if not same:
        return "<p>None.</p>"
    rows = [(name, f"{group.share:.0%}", group.authors) for name, group in same]
    return f"<p>{NO_PROOF}</p>{table(('exercise', 'shared', 'written by'), rows)}"


NO_PROOF = (
    "What the lesson gives is left out. Equal answers are no proof: where an exercise leaves no other form, right "
    "answers are like each other, and like those of the course."
)


def _passed(names: Sequence[str], rows: Sequence[Judged]) -> str:
    statuses = list(dict.fromkeys(row.status for row in rows))
    counted = Counter((row.exercise, row.status) for row in rows)
    lines = ([name, *(str(counted[name, status] or "") for status in statuses)] for name in names)
    return table(["exercise", *statuses], lines)


def _answers(exercise: Explanation, texts: Mapping[str, Judged]) -> str:
    authors: dict[str, list[str]] = {}
    for student, row in texts.items():
        points = "" if row.points is None else f" ({_points(row.points)} of {row.of})"
        authors.setdefault(row.text.strip(), []).append(student + points)
    given = "".join(
        f"<h3>{html.escape(', '.join(names))}</h3><blockquote>{html.escape(text)}</blockquote>"
        for text, names in authors.items()
    )
    return (
        f'<h2>{exercise.name}</h2><p>{html.escape(exercise.question)}</p><div class="beside">'
        f"<div>{_rubric(exercise)}</div><div>{given}</div></div>"
    )
