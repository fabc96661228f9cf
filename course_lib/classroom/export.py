"""Executes notebooks and writes each as one HTML page, with steppers that need no kernel and no network.

python -m course_lib.export notebooks/02_naive.ipynb --output site
"""

from __future__ import annotations

from collections.abc import Sequence

from .publish.command import run
from .publish.convert import html_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run("export", "Write executed notebooks as pages with live steppers.", html_page, arguments, ".html")
