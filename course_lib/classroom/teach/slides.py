"""The deck of a plan, as one file: slides of ``docs/teach/lecture.ipynb``, with steppers that need no kernel.

A slide begins at a cell of type "slide", as nbconvert has it; its tags name the decks that show it. Its notes begin
with ``Time: 3 min.``, in place of which the deck writes the running minutes.
"""

import argparse
import copy
import re
import tomllib
from itertools import accumulate
from pathlib import Path
from typing import Any

import nbformat

from ..lessons import home
from ..pages.frame import write
from ..publish.convert import executed, slides
from .cells import stored

FOLDER = home().parent / "docs" / "teach"  # in the repository alone
_TIME = re.compile(r"Time: (\d+) min\. ")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--plan", required=True, help="the deck of a plan of docs/teach/plans.md: lecture-50 or -100")
    parser.add_argument("--out", type=Path, help="the file to write (PLAN.html)")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")


def run(options: argparse.Namespace) -> int:
    """Execute the lecture and write the deck of a plan; return 0."""
    written = lecture()
    titles = {plan["deck"]: plan["title"] for plan in plans() if "deck" in plan}
    if options.plan not in titles:
        raise ValueError(f"there is no deck {options.plan!r}; choose from {', '.join(titles)}.")
    path = options.out or Path(f"{options.plan}.html")
    text = slides(deck(executed(written, FOLDER), options.plan), titles[options.plan], options.theme)
    write(path.parent, {path.name: text})
    shown = timed(written, options.plan)
    print(f"{path}: {len(shown)} slides, {sum(minutes for _, minutes in shown)} minutes, {len(text) / 1e6:.1f} MB")
    return 0


def lecture() -> Any:
    """Return the notebook of all slides; raise FileNotFoundError where the course is installed without it."""
    return nbformat.reads(stored(FOLDER / "lecture.ipynb"), as_version=4)  # type: ignore[no-untyped-call]


def plans() -> list[dict[str, Any]]:
    """Return the plans of docs/teach/plans.toml."""
    found: list[dict[str, Any]] = tomllib.loads(stored(FOLDER / "plans.toml"))["plan"]
    return found


def slides_of(notebook: Any, plan: str) -> list[list[Any]]:
    """Return the cells of each slide of a plan."""
    found: list[list[Any]] = [[]]
    for cell in notebook.cells:
        if _kind(cell) == "slide":
            found.append([])
        found[-1].append(cell)
    return [cells for cells in found[1:] if plan in cells[0].metadata.get("tags", ())]


def timed(notebook: Any, plan: str) -> list[tuple[str, int]]:
    """Return (heading, minutes) of each slide of a plan."""
    return [
        (cells[0].source.split("\n")[0].lstrip("# "), sum(int(time) for cell in cells for time in _time(cell)))
        for cells in slides_of(notebook, plan)
    ]


def deck(notebook: Any, plan: str) -> Any:
    """Return a copy of an executed lecture with the slides of a plan alone, and running minutes in their notes."""
    made = copy.deepcopy(notebook)
    chosen = slides_of(made, plan)
    ends = list(accumulate(minutes for _, minutes in timed(notebook, plan)))
    for start, end, cells in zip([0, *ends], ends, chosen, strict=False):
        for cell in cells:
            if _time(cell):
                cell.source = _TIME.sub(f"**Minutes {start}–{end} of {ends[-1]}.** ", cell.source, count=1)
    made.cells = [cell for cells in chosen for cell in cells]
    return made


def _kind(cell: Any) -> str:
    return str(cell.metadata.get("slideshow", {}).get("slide_type", ""))


def _time(cell: Any) -> list[str]:
    return _TIME.findall(cell.source) if _kind(cell) == "notes" else []
