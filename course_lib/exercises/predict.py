"""predict(): a guess first, and the truth after it."""

import html
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from ..simulator.formatting import as_code
from ..trace.viewer.fallback import CLASS, WithFallback
from ..trace.viewer.page import Bundle
from .guesses import equal, key, lists_of, numbers_of
from .progress import score

#: The widget on a page without a kernel.
PREDICTION = Bundle(
    "predict", pathlib.Path(__file__).parent, ("question", "choices", "answer", "because"), "tile-by-tile-predict"
)


class Prediction(WithFallback, anywidget.AnyWidget):
    """A question with a box for a number, or with buttons: see `predict`.

    ``guess`` is the reader's text ("" before there is one), ``right`` what became of it: "", "yes" or "no".
    """

    # as text: of a path, anywidget keeps each widget for changes of the file
    _esm = PREDICTION.read("js")
    _css = PREDICTION.read("css")
    question = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answer = traitlets.Unicode().tag(sync=True)
    because = traitlets.Unicode().tag(sync=True)
    guess = traitlets.Unicode().tag(sync=True)
    right = traitlets.Unicode().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)
    score = traitlets.Unicode().tag(sync=True)

    def __init__(self, question: str, truth: Any, choices: Sequence[Any] = (), because: str = "") -> None:
        self._truth = _plain(truth)
        self._yes_or_no = isinstance(self._truth, bool)
        if self._yes_or_no:
            self._truth, choices = _shown(self._truth), ("yes", "no")
        ranges = {_range_name(*choice): choice for choice in choices if isinstance(choice, tuple | list)}
        names = list(ranges) or [str(choice) for choice in choices]
        answer = ", ".join(map(_shown, self._truth)) if isinstance(self._truth, tuple) else _shown(self._truth)
        self._ranges = ranges
        self._right = _right_choice(self._truth, answer, names, ranges) if names else ""
        answer += f" ({self._right})" if ranges else ""
        because = because[:1].upper() + because[1:]
        super().__init__(question=question, choices=names, answer=answer, because=because)
        score().ask(question)
        self.score = str(score()).splitlines()[0]

    @traitlets.observe("guess")
    def _judge(self, change: dict[str, Any]) -> None:
        """Compare the guess with the truth, and count it; a text that is no number is asked for again."""
        text = change["new"].strip()
        right = self._is_right(text) if text else None
        if right is None:
            many = len(self._truth) if isinstance(self._truth, tuple) else 1
            wanted = f"{many} numbers with a space between them" if many > 1 else "a number"
            wanted = f"one of: {', '.join(self.choices)}" if self.choices else wanted
            self.right, self.problem = "", f"{text!r} cannot be compared; please give {wanted}" if text else ""
            return
        score().guess(self.question, right, text)
        self.problem, self.right, self.score = "", "yes" if right else "no", str(score()).splitlines()[0]

    def _is_right(self, text: str) -> bool | None:
        """Whether the guess is right; None if it is no answer to this question."""
        if self.choices:
            return self._is_right_choice(text)
        if isinstance(self._truth, str):
            wanted = key(self._truth)
            return key(text) == wanted if key(text).isdigit() or not wanted.isdigit() else None
        if isinstance(self._truth, tuple):
            lists = lists_of(text, len(self._truth), self.question)
            return any(all(map(equal, guess, self._truth)) for guess in lists) if lists else None
        numbers = numbers_of(text, self.question, fraction=abs(self._truth) <= 1)
        return any(equal(number, self._truth) for number in numbers) if numbers else None

    def _is_right_choice(self, text: str) -> bool | None:
        """As `_is_right`: a choice in any spelling, or a number that lies in one of the ranges."""
        said = {"true": "yes", "y": "yes", "false": "no", "n": "no"}.get(key(text), key(text))
        named = next((choice for choice in self.choices if key(choice) == said), None)
        if named is not None:
            return named == self._right
        if not self._ranges:
            return None
        numbers = numbers_of(text, self.question, fraction=self._truth <= 1)
        found = [_range_of(number, self._ranges) for number in numbers]
        return self._right in found if any(found) else None

    def __repr__(self) -> str:
        offered = f" ({' · '.join(self._offered)})" if self._offered else ""
        told = {"yes": f"your guess {self.guess} is right", "no": f"your guess {self.guess} is wrong"}
        lines = [f"Predict: {self.question}{offered}", f"  {told.get(self.right) or self.problem or _NO_GUESS}"]
        return "\n".join([*lines, f"  answer: {self._said()}"])

    @property
    def _offered(self) -> list[str]:
        """The choices, where the question itself does not say them."""
        return [] if self._yes_or_no else self.choices

    def _said(self) -> str:
        return f"{self.answer}. {self.because}".rstrip() if self.because else self.answer

    def _repr_html_(self) -> str:
        """For readers without widgets: the answer is folded until a guess was given."""
        offered = "".join(f"<li>{html.escape(choice)}</li>" for choice in self._offered)
        head = f"<p><b>Predict:</b> {as_code(self.question)}</p>" + (f"<ul>{offered}</ul>" if offered else "")
        if not self.right:
            said = f"<p>{html.escape(self.problem or _NO_GUESS)}</p>"
            said += f"<details><summary>The answer</summary><p>{as_code(self._said())}</p></details>"
        else:
            mark = "✓ right" if self.right == "yes" else "✗ wrong"
            said = f"<p>{mark}, your guess: {html.escape(self.guess)} · the answer: {as_code(self._said())}</p>"
        return f'<div class="{CLASS}">{head}{said}</div>'


_NO_GUESS = "no guess yet: run this cell to guess, or add guess=… to it"


def predict(
    question: str, truth: Any, *, choices: Sequence[Any] = (), because: str = "", guess: Any = None
) -> Prediction:
    """Ask ``question``, take a guess, and only then show the truth beside it.

    Args:
        question: what to predict, as a sentence.
        truth: what a run gave: a number, a bool, a text, or a tuple of numbers, which are guessed as "1, 4".
            `guesses.equal` says how exact a guess must be; a guess may have any usual form, such as "2*8", "0,25",
            "1 024", "8 loads" or "25 %".
        choices: where no number can be known: texts, of which ``truth`` is one, or ranges (low, high) of a number,
            with low ≤ truth < high and None for no limit. A number is right if it is in the truth's range.
        because: why, in a sentence or two; shown with the truth.
        guess: the reader's guess, for a notebook without widgets; else the latest answer that was kept is shown.

    Raises ValueError where the truth is not among the choices, TypeError where it cannot be guessed at all.

    >>> predict("How many lanes has a warp?", 32, guess=16)
    Predict: How many lanes has a warp?
      your guess 16 is wrong
      answer: 32
    """
    prediction = Prediction(question, truth, choices, because)
    if guess is None:
        prediction.guess = score().answers.get(question, "")
    else:
        prediction.guess = ", ".join(map(str, guess)) if isinstance(guess, tuple | list) else str(guess)
    return prediction


def _plain(truth: Any) -> Any:
    """The truth as Python's own bool, int, float, str or tuple of these; NumPy's numbers are unpacked."""
    if isinstance(truth, tuple | list):
        return tuple(_plain(part) for part in truth)
    value = truth.item() if hasattr(truth, "item") else truth
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() else value
    raise TypeError(f"predict takes a finite number, a bool, a text or a tuple of numbers for the truth, not {truth!r}")


def _range_name(low: float | None, high: float | None) -> str:
    if low is None:
        return f"under {high:,}"
    return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"


def _range_of(number: float, ranges: dict[str, Any]) -> str:
    """The name of the range that holds a number; "" where none does."""
    for name, (low, high) in ranges.items():
        is_below = low is not None and number < low
        is_above = high is not None and number >= high
        if not is_below and not is_above:
            return name
    return ""


def _right_choice(truth: Any, shown: str, names: list[str], ranges: dict[str, Any]) -> str:
    """The choice that is right; ValueError where none is."""
    if ranges:
        if name := _range_of(truth, ranges):
            return name
        raise ValueError(f"no range of the choices holds the truth {shown}: {', '.join(names)}")
    if truth not in names:
        raise ValueError(f"the truth {shown!r} is none of the choices: {', '.join(names)}")
    return shown


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
