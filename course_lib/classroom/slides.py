"""Executes notebooks and writes each as one file of slides, with steppers that need no kernel and no network.

python -m course_lib.slides notebooks/02_naive.ipynb --output slides

A deck has at most 20 slides, each with a heading: questions, pictures, steppers, kernels, and as much text as there is
room for. The rest of the text goes to the speaker's notes (key s), with those of ``docs/teach/notes``. The key → goes
through all slides; Enter leads into a slide's stepper, and Esc out of it. Slides are laid out for 1280 by 720 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .publish.command import run
from .publish.convert import slides
from .publish.notes import with_notes

SWITCHES = {
    "exercises": "show the exercises and what their cells show",
    "plumbing": "show the code that prepares what is shown",
}


def with_speaker(notebook: Any, title: str, theme: str, **chosen: bool) -> str:
    """Return an executed lesson as slides, with the speaker's notes."""
    return slides(with_notes(notebook), title, theme, **chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run(
        "slides", "Write executed notebooks as slides with live steppers.", with_speaker, arguments, ".slides.html"
    )
