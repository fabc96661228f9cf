"""Checks of a student's function before anything runs."""

from typing import Any, Protocol

from .source import Submission, is_unfilled, read, same_body
from .verdict import FAILED, NOT_YET, Check, Verdict


class GradedFunction(Protocol):
    """The part of an exercise that describes the function to write."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...
    @property
    def given(self) -> str: ...
    @property
    def points(self) -> int: ...


def validate_submission(exercise: GradedFunction, answer: Any, noun: str) -> Submission | Verdict:
    """Return the source of the ``noun`` (kernel or function), or a verdict if it cannot be graded."""
    source = read(answer)
    if source is None:
        text = f'check takes the {noun} itself, as in check("{exercise.name}", {noun}), and got {_type_of(answer)}'
        return Verdict(exercise.name, FAILED, (Check(False, text),), of=exercise.points)
    got, wanted = source.parameters, exercise.parameters
    other_order = got != wanted and sorted(got) == sorted(wanted)  # other names are accepted
    if len(got) != len(wanted) or other_order:
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


def _type_of(answer: Any) -> str:
    name = type(answer).__name__
    return "None" if answer is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
