"""Decks: a lesson's own cells as slides with the speaker's notes, in one file that needs no kernel and no network.

A plan of ``plans.toml`` with a deck lists slides of several lessons, each by its lesson and a cell on it.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellExecutionError

from ...exercises import LESSONS
from .. import lessons
from ..notes import home, plans
from ..pages.frame import write
from ..publish.deck import Slide, listing, page
from ..publish.speaker import deck_of
from .cells import lesson_named, notebook


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--lesson", help="the deck of a lesson, such as 06")
    which.add_argument("--plan", help="the deck of a plan of docs/teach/plans.md: lecture-50 or lecture-100")
    which.add_argument(
        "--all", action="store_true", help="the decks of all lessons and plans, and a page that lists them"
    )
    parser.add_argument("--out", type=Path, default=Path(), help="the folder to write to (here)")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="the key d changes it")
    parser.add_argument("--jobs", type=int, default=2, help="lessons that are executed at a time (2)")


def run(options: argparse.Namespace) -> int:
    """Execute the lessons, and write the decks; return 0."""
    home()  # says where a course has no notes
    planned = {plan["deck"]: plan for plan in plans() if "deck" in plan}
    if options.plan and options.plan not in planned:
        raise ValueError(f"there is no deck {options.plan!r}; choose from {', '.join(planned)}.")
    chosen, decks = list(LESSONS), list(planned.values())  # of all
    if options.lesson:
        chosen, decks = [lesson_named(options.lesson)], []
    elif options.plan:
        chosen, decks = [], [planned[options.plan]]
    wanted = dict.fromkeys([*chosen, *(lesson_named(at["at"].split()[0]) for plan in decks for at in plan["slides"])])
    with ThreadPoolExecutor(max(options.jobs, 1)) as jobs:
        try:
            slides = dict(zip(wanted, jobs.map(deck_of, map(_path, wanted)), strict=True))
        except CellExecutionError as error:
            raise ValueError(f"a cell of a lesson failed, so nothing is written: {error}") from None
    listed = [(name, lessons.title(notebook(name), name), slides[name]) for name in chosen]
    listed += [(plan["deck"], plan["title"], slides_of_plan(plan, slides)) for plan in decks]
    files: dict[str, str | bytes] = {f"{name}.html": page(shown, title, options.theme) for name, title, shown in listed}
    if options.all:
        files["index.html"] = listing(listed)
    write(options.out, files)
    for name, _, shown in listed:
        path, minutes = options.out / f"{name}.html", round(sum(slide.minutes for slide in shown))
        print(f"{path}: {len(shown)} slides, {minutes} minutes, {len(files[path.name]) / 1e6:.1f} MB")
    return 0


def _path(lesson: str) -> Path:
    return lessons.home() / f"{lesson}.ipynb"


def slides_of_plan(plan: Mapping[str, Any], decks: Mapping[str, Sequence[Slide]]) -> list[Slide]:
    """Return the slides of a plan, with its own minutes; raise ValueError if a lesson does not have one of them."""
    whole = sum(at["minutes"] for at in plan["slides"])
    ends = list(accumulate(at["minutes"] for at in plan["slides"]))
    found = []
    for start, end, at in zip([0, *ends], ends, plan["slides"], strict=False):
        lesson, cell = at["at"].split()
        slides = [slide for slide in decks[lesson_named(lesson)] if cell in slide.cells]
        if not slides:
            raise ValueError(
                f"the plan {plan['deck']} shows {at['at']}, but no slide of lesson {lesson} has this cell."
            )
        for slide in slides:
            notes = re.sub(r"^\*\*Minutes? .*?\*\*", f"**Minutes {start}–{end} of {whole}.**", slide.notes)
            found.append(replace(slide, notes=notes, minutes=(end - start) / len(slides)))
    return found
