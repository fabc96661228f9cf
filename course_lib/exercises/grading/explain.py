"""Exercises that are answered in words: the reader writes first, then compares with a model answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from ...simulator.formatting import plural
from .verdict import ANSWERED, NOT_YET, Check, Verdict

EXPLAIN = "explain"

#: The shortest answer, in words.
_FEWEST_WORDS = 8

_COMPARE = (
    "compare your answer with the model answer. Which of these points does your answer have? Tick them, or add "
    "found=(…) with their numbers to the call; found=() if it has none."
)

#: Called with the numbers, from 1, of the points that readers find in their own answers.
TickHandler = Callable[[Collection[int]], None]


@dataclass(frozen=True)
class Explanation:
    """A question, which the lesson asks, to be answered in words.

    ``model`` is a good answer, and ``ideas`` are its points. No program can tell whether a reader's words mean the
    same: readers compare, and tick the points that their own answers have, too. ``advice`` helps after a short answer.
    """

    name: str
    model: str
    ideas: tuple[str, ...]
    kind: str = EXPLAIN
    advice: str = ""

    @property
    def points(self) -> int:
        """The points: one for each idea."""
        return len(self.ideas)


def compare(exercise: Explanation, answer: str, found: Collection[int] | None, on_tick: TickHandler) -> Verdict:
    """Return the model answer and its points, if there is an answer; ``found`` are the points that it has, from 1.

    None: the reader has not said it yet.

    ``on_tick`` is called with their numbers whenever the reader ticks one.
    """
    words = sum(any(character.isalnum() for character in word) for word in answer.split())  # not the exercise's dots
    if words < _FEWEST_WORDS:
        short = f"that is {plural(words, 'word')}" if words else "there is no answer yet"
        more = f" {exercise.advice}" if words and exercise.advice else ""
        asked = f"write what happens and why, in a sentence or two of at least {_FEWEST_WORDS} words"
        return Verdict(
            exercise.name, NOT_YET, hint=f"{short}: {asked}, between the quotes, and run this cell again.{more}"
        )
    ticked = set(found or ())
    unknown = sorted(ticked - set(range(1, exercise.points + 1)))
    if unknown:
        raise ValueError(f"{exercise.name} has the points 1 to {exercise.points}, not {unknown[0]}")
    return Verdict(
        exercise.name,
        ANSWERED,
        tuple(Check(True if n in ticked else None, f"{n}. {idea}") for n, idea in enumerate(exercise.ideas, 1)),
        _COMPARE if found is None else None,
        (f"a model answer. {exercise.model}",),
        len(ticked),
        exercise.points,
        ticks=lambda: _boxes(exercise, ticked, on_tick),
    )


def _boxes(exercise: Explanation, found: Collection[int], on_tick: TickHandler) -> Any:
    """A box to tick for each point."""
    import ipywidgets

    wide = ipywidgets.Layout(width="100%")
    boxes = [
        ipywidgets.Checkbox(n in found, description=idea, indent=False, layout=wide)
        for n, idea in enumerate(exercise.ideas, 1)
    ]
    summary = ipywidgets.Label("Compare with the model answer. Which of these points does your answer have?")

    def count(_: Any) -> None:
        ticked = [n for n, box in enumerate(boxes, 1) if box.value]
        on_tick(ticked)
        summary.value = f"{len(ticked)} of {exercise.points} points"

    for box in boxes:
        box.observe(count, "value")
    return ipywidgets.VBox([summary, *boxes])
