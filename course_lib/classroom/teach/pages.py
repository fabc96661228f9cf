"""The grader's pages: one for each student, and one for the teacher."""

from collections.abc import Mapping, Sequence

from ...exercises.grading.explain import Explanation
from .cells import GRADED, places, texts_above
from .gradebook import by_exercise, summary, total
from .judge import Judged
from .similarity import alike, like_course
from .templates import rendered

#: The status of an answer whose points a person gave.
BY_HAND = "by hand"


def feedback(lesson: str, student: str, rows: Sequence[Judged], seed: int, note: str = "") -> str:
    """Return the page of a student: each verdict, with the picture of the step that went wrong, and what a person gave
    and wrote; ``seed`` is that of the grading, ``note`` is about the submission as a whole."""
    data = {"rows": rows, "total": total(rows), "seed": seed, "note": note, "exercises": GRADED}
    return rendered("student.html", title=f"{lesson}: {student}", **data)


#: The most names in one place; of more, their number is said.
_MOST_NAMES = 10


def _named(students: Sequence[str]) -> str:
    first = ", ".join(students[:_MOST_NAMES])
    return first if len(students) <= _MOST_NAMES else f"{len(students)} students: {first}, …"


def for_teacher(
    lesson: str,
    graded: Mapping[str, Sequence[Judged]],
    students: Mapping[str, tuple[str, str, str]],
    absent: Sequence[str],
    seed: int,
) -> str:
    """Return the class's page: totals, statuses and hints, answers in words beside their rubrics, and equal answers.

    ``graded`` and ``students``, of whom each is (how late, a note, a link to the page), are by label: the name or the
    pseudonym. Those in ``absent`` handed in nothing, so they are in no mean. ``seed`` is that of the grading.
    """
    present = {student: rows for student, rows in graded.items() if student not in absent}
    texts, cells = texts_above(lesson), places(lesson)
    judged = [row for rows in present.values() for row in rows]
    words: dict[str, dict[str, list[str]]] = {}
    same: list[tuple[str, float, str]] = []
    for name, row_of in by_exercise(graded).items():
        found = alike({student: row.units for student, row in row_of.items()})
        found += like_course({student: row.course for student, row in row_of.items()})
        same += [(name, each.share, ", ".join(filter(None, (each.course, _named(each.authors))))) for each in found]
        if isinstance(GRADED[name], Explanation):
            words[name] = {}
            for student, row in ((student, row) for student, row in row_of.items() if row.text):
                points = f" ({row.points or 0:g} of {row.of})" * (row.points is not None)
                words[name].setdefault(row.text.strip(), []).append(student + points)
    return rendered(
        "class.html",
        title=f"{lesson}: for the teacher",
        lesson=lesson,
        # in the order of the labels: in that of the names, pseudonyms would tell them
        students=[(label, total(graded[label]), *students[label]) for label in sorted(students)],
        summary=summary(present),
        statuses=list(dict.fromkeys(row.status for row in judged)),
        unread=sum(row.points is None for row in judged),
        words=[
            # what the lesson asks is below the heading of the text above its cell
            (
                GRADED[name],
                texts[cells[name].cell].split("\n\n")[1],
                [(text, _named(who)) for text, who in told.items()],
            )
            for name, told in words.items()
        ],
        same=same,
        seed=seed,
    )
