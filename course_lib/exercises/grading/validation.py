"""Checks of a student's function before anything runs."""

from typing import Any, Protocol

from .source import Submission, is_unfilled, read, same_body
from .verdict import FAILED, NOT_YET, Check, Verdict


class Graded(Protocol):
    """The part of an exercise that describes the function to write."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...
    @property
    def given(self) -> str: ...
    @property
    def points(self) -> int: ...


def validate_submission(exercise: Graded, thing: Any, noun: str) -> Submission | Verdict:
    """Return the source of the ``noun`` (kernel or function), or a verdict if it cannot be graded."""
    source = read(thing)
    if source is None:
        text = f'check takes the {noun} itself, as in check("{exercise.name}", {noun}), and got {_article(thing)}'
        return Verdict(exercise.name, FAILED, (Check(False, text),), of=exercise.points)
    got, wanted = source.parameters, exercise.parameters
    if len(got) != len(wanted) or (got != wanted and sorted(got) == sorted(wanted)):  # other names are accepted
        takes = f"the {noun} takes ({', '.join(wanted)}), and {source.function.__name__} takes ({', '.join(got)})"
        return Verdict(exercise.name, FAILED, (Check(False, takes),), of=exercise.points)
    if source.tree is not None and is_unfilled(source.tree):
        begin = (
            "put your lines where the three dots are, and run this cell again. If they are written, delete the dots."
        )
    elif source.tree is not None and exercise.given and same_body(source.tree, exercise.given):
        begin = f"this is the {noun} as it was given; change it, and run this cell again."
    else:
        return source
    return Verdict(exercise.name, NOT_YET, hint=begin, of=exercise.points)


def _article(thing: Any) -> str:
    name = type(thing).__name__
    return "None" if thing is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
