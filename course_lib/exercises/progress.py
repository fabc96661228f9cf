"""A reader's predictions and solved exercises, kept in one small file beside the notebook.

There is such a file only where a notebook server, or Visual Studio Code, runs a notebook for a reader: tests, graders
and exporters execute notebooks too, and nothing of theirs is kept.
"""

import contextlib
import html
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..trace.notebook_outputs import VIEW

#: Set by Jupyter's server for the kernel of a notebook: the notebook's path.
_NOTEBOOK = "JPY_SESSION_NAME"
#: Set by the first process that asks, so that a notebook executed by a command in a cell is not taken for the reader's.
_READERS_PROCESS = "TILE_BY_TILE_READER"


@dataclass
class Score:
    """The predictions and the solved exercises of a lesson's reader.

    ``guesses`` maps a question to whether its *first* guess was right, None where there was none yet, and ``answers``
    to the latest guess; ``points`` maps an exercise to (reached, of), by its latest verdict; ``ticks`` maps an exercise
    in words to the points that its reader has ticked; ``attempts`` are the capstone's. With a ``path``, all of it but
    questions without a guess is in that file, and ``note`` says if that is not so.
    """

    guesses: dict[str, bool | None] = field(default_factory=dict)
    points: dict[str, tuple[int, int]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    ticks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    attempts: list[dict[str, Any]] = field(default_factory=list)
    path: Path | None = None
    note: str = ""

    def ask(self, question: str) -> None:
        """Count the question, once."""
        self.guesses.setdefault(question, None)

    def guess(self, question: str, right: bool, answer: str = "") -> None:
        """Keep the answer; count it, unless the question has a guess already."""
        if self.guesses.get(question) is None:
            self.guesses[question] = right
        if self.answers.get(question) != answer:
            self.answers[question] = answer
            self.keep()

    def solve(self, exercise: str, reached: int, of: int) -> None:
        """Count the latest verdict on an exercise."""
        if self.points.get(exercise) != (reached, of):
            self.points[exercise] = (reached, of)
            self.keep()

    def tick(self, exercise: str, points: Iterable[int], of: int) -> None:
        """Count the points that the reader has ticked."""
        self.ticks[exercise] = tuple(points)
        self.solve(exercise, len(self.ticks[exercise]), of)

    def try_out(self, attempt: dict[str, Any]) -> None:
        """Add an attempt at the capstone, unless it is the one before."""
        if self.attempts[-1:] != [attempt]:
            self.attempts.append(attempt)
            self.keep()

    def clear(self) -> None:
        """Forget everything, and delete the file."""
        self.guesses = dict.fromkeys(self.guesses)
        self.points, self.answers, self.ticks, self.attempts, self.note = {}, {}, {}, [], ""
        if self.path is not None:
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:
                self.note = f"{self.path.name} cannot be deleted ({error.strerror}): delete it yourself."

    def keep(self) -> None:
        """Write the file, in one step: a reader who stops the kernel meanwhile finds the old one or the new one."""
        if self.path is None:
            return
        new = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        guesses = {
            question: {"right": right, "latest": self.answers.get(question, "")}
            for question, right in self.guesses.items()
            if right is not None
        }
        kept = {"guesses": guesses, "points": self.points, "ticks": self.ticks, "attempts": self.attempts}
        try:
            new.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            new.replace(self.path)
            self.note = ""
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)
            self.note = f"{self.path.name} cannot be written ({error.strerror}): answers last until the kernel stops."

    @classmethod
    def kept(cls, path: Path | None) -> "Score":
        """The score that a file holds; an empty one, with a note, if the file is damaged. A copy of it is kept."""
        if path is None or not path.is_file():
            return cls(path=path)
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                {question: _checked(guess["right"], bool) for question, guess in told["guesses"].items()},
                {name: _points(points) for name, points in told["points"].items()},
                {question: _checked(guess["latest"], str) for question, guess in told["guesses"].items()},
                {name: tuple(_checked(n, int) for n in ticks) for name, ticks in told["ticks"].items()},
                [_checked(attempt, dict) for attempt in told["attempts"]],
                path,
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            damaged = path.with_name(f"{path.name}.damaged")
            try:
                path.replace(damaged)
                said = f"{path.name} is damaged: your answers begin anew, and the old file is {damaged.name} now."
            except OSError:
                said = f"{path.name} cannot be read: your answers begin anew."
            return cls(path=path, note=said)

    def __str__(self) -> str:
        given = [right for right in self.guesses.values() if right is not None]
        lines = [f"predictions: {sum(given)} right of {len(given)} given, {len(self.guesses)} asked"]
        if self.points:
            reached, of = (sum(column) for column in zip(*self.points.values(), strict=True))
            lines.append(f"exercises: {reached} of {of} points")
        if self.path is not None:
            lines.append(self.note or f"answers are kept in {self.path.name}, beside this notebook")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())

    def _ipython_display_(self) -> None:
        """Show the score; where answers are kept, also a button that clears them, as an output of its own."""
        if self.path is None:
            raise NotImplementedError  # IPython then shows text and HTML
        from IPython.display import display

        display({"text/plain": str(self), "text/html": self._repr_html_()}, raw=True)  # type: ignore[no-untyped-call]
        view = _button(self)._repr_mimebundle_()
        display({VIEW: view[VIEW]}, raw=True)  # type: ignore[no-untyped-call]


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _points(told: Any) -> tuple[int, int]:
    reached, of = (_checked(number, int) for number in told)
    return reached, of


def _button(score: Score) -> Any:
    """Clears the answers at the second click."""
    import ipywidgets

    wide = ipywidgets.Layout(width="auto")
    button = ipywidgets.Button(description="Clear my answers", layout=wide)
    said = ipywidgets.Label()

    def click(_: Any) -> None:
        if button.description == "Clear my answers":
            button.description = "Click again to clear all answers of this lesson"
            return
        score.clear()
        button.description = "Clear my answers"
        said.value = score.note or "Cleared. Run the lesson's cells again to answer anew."

    button.on_click(click)
    return ipywidgets.HBox([button, said])


def place() -> Path | None:
    """The file of the notebook that a reader has open, which may not exist yet; None where there is no reader."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or os.environ.setdefault(_READERS_PROCESS, str(os.getpid())) != str(os.getpid()):
        return None
    notebook = Path(shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get(_NOTEBOOK, ""))
    if notebook.suffix != ".ipynb" or not notebook.parent.is_dir():
        return None
    return notebook.with_name(f".{notebook.stem}.progress.json")


@cache
def score() -> Score:
    """The lesson's score: predictions that were right, and points of the exercises.

    A notebook has a Python process of its own, so there is one.

    >>> asked = predict("How many lanes has a warp?", 32, guess=16)
    >>> score()
    predictions: 0 right of 1 given, 1 asked
    """
    return Score.kept(place())
