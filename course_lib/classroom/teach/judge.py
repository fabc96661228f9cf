"""Judgement of one answer: points, status, hint, checks. Runs in a process of `worker.py`; the grader makes pages."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...exercises import LESSONS, check
from ...exercises.grading.explain import Explanation, compare
from ...exercises.grading.routines import Routine, StoredCall
from ...exercises.grading.routines import judge as call
from ...exercises.grading.verdict import FAILED, NOT_YET, Verdict
from . import capstone
from .cells import GRADED, Capstone, lesson_cells, places
from .extract import Refused, extract, text_of
from .interpreter import Unlisted
from .submission import LONGEST, Answer, answers_in
from .templates import rendered

#: How many of an exercise's stored calls are made.
CALLS = 5
#: What may stand in the column "status", beside "passed", "failed" and "not yet" of a verdict.
REFUSED, MISSING, STOPPED, UNREADABLE, TO_READ = "refused", "missing", "stopped", "unreadable", "to read"


@dataclass(frozen=True)
class Judged:
    """The verdict on one answer. ``points`` is None where a person gives them. ``checks`` are (passed, text, numbered
    lines), ``remarks`` do not affect the points. ``picture`` is a PNG in base64, of the step that went wrong, and
    ``alt`` its text. ``text`` is an answer in words. Equal hints are counted by ``hint_id``, that of `Verdict`."""

    exercise: str
    points: float | None
    of: int
    status: str
    hint: str = ""
    checks: tuple[Any, ...] = ()
    remarks: tuple[str, ...] = ()
    picture: str = ""
    alt: str = ""
    text: str = ""
    hint_id: str = ""

    def __str__(self) -> str:
        points = "points by hand" if self.points is None else f"{self.points:g} of {self.of} points"
        return f"{self.exercise}: {self.status}, {points}. {self.hint}".rstrip(". ") + "."

    def _repr_html_(self) -> str:
        return rendered("verdict.html", row=self)


def from_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a verdict that came as JSON, which has lists for tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def unjudged(exercise: str, status: str, hint: str) -> Judged:
    """The verdict on an answer that was not launched: no points, and a sentence."""
    return Judged(exercise, 0, GRADED[exercise].points, status, hint)


def judge(exercise: str, lesson: str, answer: Answer, seed: int | None = None) -> Judged:
    """Judge the answer to an exercise of a lesson. A wrong answer raises no exception: its faults are in the result.

    ``seed`` draws sizes and calls.
    """
    if answer.source is None:
        return unjudged(exercise, MISSING, "the notebook has no cell with this exercise.")
    if len(answer.source) > LONGEST:
        return unjudged(exercise, REFUSED, f"the cell has more than {LONGEST:,} characters.")
    try:
        if isinstance(GRADED[exercise], Explanation):
            return _in_words(exercise, text_of(exercise, answer.source, answer.others))
        return _function(exercise, lesson, answer, seed)
    except SyntaxError as error:
        where = f"line {error.lineno}" if error.lineno else "the cell"
        return unjudged(exercise, FAILED, f"{where} is no Python: {error.msg}.")
    except Refused as error:
        return unjudged(exercise, REFUSED, str(error))
    except Unlisted as error:
        return replace(unjudged(exercise, TO_READ, str(error)), points=None)


def _in_words(name: str, text: str | None) -> Judged:
    exercise = GRADED[name]
    assert isinstance(exercise, Explanation)
    if text is None:
        return unjudged(name, NOT_YET, "the cell gives no text to explain.")
    if compare(exercise, text, (), lambda points: None).status == NOT_YET:
        return unjudged(name, NOT_YET, "the answer has too few words.")
    return Judged(name, None, exercise.points, TO_READ, text=text)


def _function(name: str, lesson: str, answer: Answer, seed: int | None) -> Judged:
    """Judge an answer that is a function: a kernel, a routine, or the capstone's kernel."""
    exercise, place = GRADED[name], places(lesson)[name]
    assert not isinstance(exercise, Explanation)
    if not (found := extract(lesson, place, answer)):
        return unjudged(name, NOT_YET, f"the cell defines no function of ({', '.join(exercise.parameters)}).")
    if isinstance(exercise, Routine):
        verdict = call(exercise, found.function, found.run, draw_calls(name, seed or 0))
    elif isinstance(exercise, Capstone):
        others = [text for _, text in lesson_cells(lesson) if text != place.source]
        verdict = capstone.judge(found.function, str(answer.source), [*others, *answer.others], seed)
    else:
        verdict = check(name, found.function, seed=seed)
    picture, alt = _picture(verdict)
    failed = (each.text for each in verdict.checks if each.passed is False)
    return Judged(
        name,
        verdict.points,
        verdict.of,
        verdict.status,
        verdict.hint or next(failed, ""),
        checks=tuple(map(astuple, verdict.checks)),
        remarks=(*verdict.remarks, *filter(None, [answer.remark]), *found.remarks),
        picture=picture,
        alt=alt,
        hint_id=verdict.hint_id,
    )


def draw_calls(name: str, seed: int) -> list[StoredCall]:
    """Draw calls of a routine from those that only the grader has. Of answers that are truths there are both."""
    stored = json.loads(Path(__file__).with_name("drawn.json").read_text(encoding="utf-8"))[name]
    rng, chosen = np.random.default_rng(seed), list[StoredCall]()
    while len({want for _, want in chosen}) < 2:
        chosen = [stored[i] for i in rng.choice(len(stored), CALLS, replace=False)]
    return chosen


def _picture(verdict: Verdict) -> tuple[str, str]:
    """The picture of the step that went wrong, and its text; both empty where there is none."""
    if verdict.opens is None:
        return "", ""
    picture = verdict.show().picture(hint="")
    return base64.b64encode(picture.png).decode(), repr(picture)


def judge_each(lesson: str, answers: Mapping[str, Answer], seed: int | None = None) -> dict[str, Judged]:
    """Return the verdicts on the answers to these exercises of a lesson."""
    return {name: judge(name, lesson, answer, seed) for name, answer in answers.items()}


#: What a process of `worker.py` can be asked to do.
TASKS: Mapping[str, Callable[..., Any]] = {"read": answers_in, "judge": judge_each}


def prepare() -> None:
    """Import and read once, before the processes of the tasks begin, what judging an answer needs: 1 s otherwise."""
    lesson = next(iter(LESSONS))
    place = next(iter(places(lesson).values()))
    wrong = place.source.replace("...", "acc += A[row, k] + B[k, col]")
    assert judge(place.exercise, lesson, Answer(wrong)).status == "failed"
