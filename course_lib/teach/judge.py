"""Judgement of one answer: points, status, hint, and the student's page. Runs in a process of `sandbox.py`."""

from __future__ import annotations

import ast
import html
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ..exercises import EXERCISES, LESSONS, check
from ..exercises.grading.exercise import FILL_IN, Exercise
from ..exercises.grading.explain import Explanation, compare
from ..exercises.grading.routines import Routine
from ..exercises.grading.verdict import NOT_YET, Verdict
from ..exercises.variants import Variant
from . import likeness
from .extract import Missing, Refused, extract, text_of
from .lessons import NOTEBOOKS, ExerciseCell, lesson_cells, parsed, places
from .submission import LONGEST, Answer

#: What may stand in the column "status", beside "passed", "failed" and "not yet" of a verdict.
REFUSED, MISSING, STOPPED, UNREADABLE, TO_READ = "refused", "missing", "stopped", "unreadable", "to read"


@dataclass(frozen=True)
class Judged:
    """The verdict on one answer. ``points`` is None where a person gives them; ``page`` is HTML for the student;
    ``units`` are what the student wrote, part by part, to be compared with what others wrote; ``text`` is an
    answer in words, ``digest`` tells the answer from another one to the same exercise."""

    exercise: str
    points: float | None
    of: int
    status: str
    hint: str = ""
    seconds: float = 0.0
    page: str = ""
    units: tuple[str, ...] = ()
    text: str = ""
    digest: str = ""

    def __str__(self) -> str:
        points = "points by hand" if self.points is None else f"{self.points:g} of {self.of} points"
        return f"{self.exercise}: {self.status}, {points}. {self.hint}".rstrip(". ") + "."

    def _repr_html_(self) -> str:
        return self.page


def unjudged(exercise: str, status: str, hint: str) -> Judged:
    """The verdict on an answer that was not launched: no points, and a sentence."""
    page = f"<p><b>{exercise}: {status}</b></p><p>{html.escape(hint)}</p>"
    return Judged(exercise, 0, EXERCISES[exercise].points, status, hint, page=page)


def judge(exercise: str, lesson: str, answer: Answer, own: bool = True, variant: str = "") -> Judged:
    """Judge the answer to an exercise of a lesson. A wrong answer raises no exception: its faults are in the result.

    ``own``: a copy of the course's text is refused. ``variant``: the code of the student's variant.
    """
    began = time.process_time()
    judged = _judged(exercise, lesson, answer, own, variant)
    return Judged(**{**asdict(judged), "seconds": round(time.process_time() - began, 3)})


def _judged(exercise: str, lesson: str, answer: Answer, own: bool, variant: str) -> Judged:
    if answer.source is None:
        return unjudged(exercise, MISSING, "the notebook has no cell with this exercise.")
    if len(answer.source) > LONGEST:
        return unjudged(exercise, REFUSED, f"the cell has more than {LONGEST:,} characters.")
    course = [source for _, source in lesson_cells(lesson)]
    if variant:
        course.append(Variant(variant).constants(places(lesson)))
    try:
        if isinstance(EXERCISES[exercise], Explanation):
            return _in_words(exercise, text_of(exercise, answer.source, answer.others))
        return _function(exercise, places(lesson)[exercise], answer, course, own, variant)
    except Refused as refusal:
        return unjudged(exercise, REFUSED, str(refusal))
    except Missing as nothing:
        return unjudged(exercise, NOT_YET, str(nothing))
    except SyntaxError as error:
        where = f"line {error.lineno}" if error.lineno else "the cell"
        return unjudged(exercise, "failed", f"{where} is no Python: {error.msg}.")


def _in_words(name: str, text: str | None) -> Judged:
    exercise = EXERCISES[name]
    assert isinstance(exercise, Explanation)
    if text is None:
        return unjudged(name, NOT_YET, "the cell gives no text to explain.")
    if compare(exercise, text, (), lambda points: None).status == NOT_YET:
        return unjudged(name, NOT_YET, "the answer has too few words.")
    page = f"<p><b>{name}</b></p><blockquote>{_paragraphs(text)}</blockquote>"
    return Judged(name, None, exercise.points, TO_READ, page=page, units=_words(text), text=text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower()))


def _paragraphs(text: str) -> str:
    return "<br>".join(html.escape(line) for line in text.strip().splitlines())


def _function(name: str, place: ExerciseCell, answer: Answer, course: Sequence[str], own: bool, variant: str) -> Judged:
    exercise = EXERCISES[name]
    assert isinstance(exercise, Exercise | Routine) and answer.source is not None
    kernel = isinstance(exercise, Exercise)
    varied = bool(variant) and isinstance(exercise, Exercise)
    parameters = Variant(variant).parameters(exercise.parameters) if varied else exercise.parameters
    found = extract(name, place.function, parameters, answer.source, answer.others, course, simulated=kernel)
    remarks = (*filter(None, [answer.remark]), *found.remarks)
    given = last_function(place.source)
    keeps = exercise.kind == FILL_IN
    if own and (source := likeness.copied_from(found.tree, given, keeps, found.helpers)):
        raise Refused(f"this is {source} of the course with other names at most; only a student's own kernel counts.")
    verdict = check(name, found.function, variant)
    hint, units = reason(verdict), _units(answer.source, place, found.tree, *found.helpers)
    return Judged(name, verdict.points, verdict.of, verdict.status, hint, page=_page(verdict, remarks), units=units)


def reason(verdict: Verdict) -> str:
    """Return the hint of a verdict, else what failed first."""
    return verdict.hint or next((check.text for check in verdict.checks if check.passed is False), "")


def last_function(cell: str) -> ast.FunctionDef:
    """Return the last function that a cell defines."""
    return next(node for node in reversed(parsed(cell).body) if isinstance(node, ast.FunctionDef))


def _units(cell: str, place: ExerciseCell, *functions: ast.FunctionDef) -> tuple[str, ...]:
    """The functions' statements, and the comments of a cell, that the lesson does not give."""
    known = set(likeness.comments(place.source))
    own = (comment for comment in likeness.comments(cell) if comment not in known)
    return (*likeness.written(last_function(place.source), *functions), *own)


def _page(verdict: Verdict, remarks: Sequence[str]) -> str:
    """The verdict, and the picture of the step that went wrong."""
    said = "".join(f"<p><b>Grader:</b> {html.escape(remark)}</p>" for remark in remarks)
    picture = ""
    if verdict.opens is not None:
        picture = verdict.show().picture(hint="")._repr_html_()
    return f"{verdict._repr_html_()}{said}{picture}"


#: The authors of the course's own answers.
COURSE = ("the course's solution", "the course's model answer")


def course_units(lesson: str, name: str) -> dict[str, tuple[str, ...]]:
    """Return what the course's own answers to an exercise say, part by part, as `Judged.units` does."""
    exercise, folder, found = EXERCISES[name], NOTEBOOKS / "solutions", {}
    if (folder / f"{lesson}.ipynb").exists():
        place, solved = places(lesson)[name], places(lesson, folder)[name].source
        if isinstance(exercise, Explanation):
            found[COURSE[0]] = _words(text_of(name, solved, ()) or "")
        else:
            found[COURSE[0]] = _units(solved, place, last_function(solved))
    if isinstance(exercise, Explanation):
        found[COURSE[1]] = _words(exercise.model)
    return found


def prepare() -> None:
    """Import and read once, before the processes of the tasks begin, what judging an answer needs: 1 s otherwise."""
    likeness.course_texts()
    lesson = next(iter(LESSONS))
    place = next(iter(places(lesson).values()))
    wrong = place.source.replace("...", "acc += A[row, k] + B[k, col]")
    assert judge(place.exercise, lesson, Answer(wrong)).status == "failed"
