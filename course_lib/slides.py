"""Executes notebooks and writes each as one file of slides, with steppers that need no kernel and no network.

python -m course_lib.slides notebooks/02_naive.ipynb --output slides

The cells' slide types, which JupyterLab's property inspector sets, say where slides begin. The speaker's notes to the
course's lessons (``docs/teach/notes``), and cells of type "notes", open with the key s. Slides are laid out for 1280 by
720 pixels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .publish.command import run
from .publish.convert import slides
from .publish.notes import with_notes


def with_speaker(notebook: Any, title: str, theme: str) -> str:
    """Return an executed lesson as slides, with the speaker's notes."""
    return slides(with_notes(notebook), title, theme)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run(
        "slides", "Write executed notebooks as slides with live steppers.", with_speaker, arguments, ".slides.html"
    )


if __name__ == "__main__":
    sys.exit(main())
