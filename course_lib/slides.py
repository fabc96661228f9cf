"""Executes notebooks and writes each as one file of slides, with steppers that need no kernel and no network.

python -m course_lib.slides notebooks/02_naive.ipynb --output slides

The cells' slide types, which JupyterLab's property inspector sets, say where slides begin; cells of type "notes" are
for the speaker (key s). Slides are laid out for 1280 by 720 pixels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .publish.command import run
from .publish.convert import slides


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run("slides", "Write executed notebooks as slides with live steppers.", slides, arguments, ".slides.html")


if __name__ == "__main__":
    sys.exit(main())
