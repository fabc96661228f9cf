"""explain(): an exercise answered in words. The reader writes first, then compares with a model answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .verdict import ANSWERED, NOT_YET, PASSED, Check, Verdict

EXPLAIN = "explain"

#: Fewer words are no explanation.
_FEWEST_WORDS = 8


@dataclass(frozen=True)
class Explanation:
    """A question to be answered in words.

    ``model`` is a good answer. ``ideas`` maps what a good answer says to a pattern (`re`, letters of either case)
    that finds it in the reader's words: a mirror for the reader, not a judgement.
    """

    name: str
    question: str
    model: str
    ideas: Mapping[str, str]
    kind: str = EXPLAIN

    @property
    def points(self) -> int:
        """One for each idea."""
        return len(self.ideas)


def compare(exercise: Explanation, answer: str) -> Verdict:
    """Which ideas of the model answer are in ``answer``, and the model answer itself, once there is an answer."""
    if len(answer.split()) < _FEWEST_WORDS:
        return Verdict(
            exercise.name, NOT_YET, hint="write a sentence or two between the quotes, and run this cell again."
        )
    found = [
        Check(True if re.search(pattern, answer, re.IGNORECASE) else None, idea)
        for idea, pattern in exercise.ideas.items()
    ]
    points = sum(check.passed is True for check in found)
    return Verdict(
        exercise.name,
        PASSED if points == exercise.points else ANSWERED,
        tuple(found),
        None if points == exercise.points else "where a ring is grey, these words were not found in yours: compare.",
        (f"a model answer. {exercise.model}",),
        points,
        exercise.points,
    )
