"""Rank the kernels of a class in the capstone, by the costs that the lesson counts: a table and a page.

Kernels are judged as `grade` judges answers: from their text, each in a process of its own with limits.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...exercises.capstone import BANDS, MILESTONES, OF
from ...simulator.tables import plural
from . import container
from .capstone import RANKED, Kernel, lesson
from .collect import HandedIn, labels, submissions
from .grade import Journal, alone, batch_arguments, contents, journal_of, lock_of, walled
from .gradebook import write_table
from .judge import STOPPED, UNREADABLE, from_json
from .limits import Limits, Stopped
from .pages import NO_PROOF
from .sandbox import Sandbox
from .similarity import groups
from .submission import NOTHING
from .templates import rendered

COLUMNS = ("place", "student", "points", "of", "milestones", *(band.name for band in BANDS))
COLUMNS += ("tile", "threads", "status", "hint", "seconds")
#: The fastest kernel of the course takes less than half of it on a slow machine.
_LIMITS = Limits(seconds=120, memory=2 << 30)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = batch_arguments(parser, _LIMITS.seconds)
    add("--csv", type=Path, default=Path("ranking.csv"), help="the table")
    add("--page", type=Path, default=Path("ranking.html"), help="the page")


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    executes = walled(chosen, "kernels", "compiled")
    if chosen.container:
        return container.run(chosen)
    limits = replace(_LIMITS, seconds=chosen.seconds, executes=executes)
    handed_in = submissions(chosen.submissions, lesson(), limits)
    for path in (chosen.csv, chosen.page):
        path.parent.mkdir(parents=True, exist_ok=True)
    names = labels(handed_in)
    with alone(lock_of(chosen.csv)):
        journal = Journal(journal_of(chosen.csv), _kernel, chosen.seed)
        judge = partial(_in_sandbox, seed=journal.seed)
        try:
            journal.judge(handed_in, judge, partial(Kernel, UNREADABLE), limits, chosen.jobs, chosen.again)
        finally:
            places = ranked({names[id]: kernel for id, kernel in journal.found.items() if id in names})
            write_table(chosen.csv, COLUMNS, [_fields(*row) for row in places])
            chosen.page.write_text(page(places), encoding="utf-8", errors="backslashreplace")
    without = sum(place is None for place, _, _ in places)
    said = f"{len(places) - without} ranked, {without} without a place. See {chosen.page}."
    print(f"{plural(len(places), 'submission')}: {said}\n{journal.drawn()}")
    return 0


def _kernel(told: Mapping[str, Any]) -> Kernel:
    return Kernel(**from_json(told))


def _in_sandbox(submission: HandedIn, sandbox: Sandbox, seed: int) -> Kernel:
    """The best of a student's notebooks."""
    found = [] if submission.paths else [Kernel(UNREADABLE, f"{submission.problem or NOTHING}.")]
    for path in submission.paths:
        try:
            found.append(_kernel(sandbox.do("attempt", path.name, contents(path), seed)))
            if found[-1].status == RANKED:
                found[-1] = _timed(found[-1], path, sandbox, seed)
        except Stopped as error:
            found.append(Kernel(STOPPED, f"{error}."))
        except (ValueError, OSError) as error:
            found.append(Kernel(UNREADABLE, f"{path.name}: {error}."))
    return max(found, key=lambda kernel: (kernel.status == RANKED, kernel.points, kernel.status != UNREADABLE))


def _timed(judged: Kernel, path: Path, sandbox: Sandbox, seed: int) -> Kernel:
    """Compile and time a kernel that the simulator has accepted, in a process of its own."""
    try:
        return _kernel(sandbox.do("time", path.name, contents(path), seed))
    except (Stopped, ValueError) as error:
        return replace(judged, hint=f"the model cannot time this kernel: {error}.")


# ---- the table and the page ------------------------------------------------------------------------------------


def ranked(kernels: Mapping[str, Kernel]) -> list[tuple[int | None, str, Kernel]]:
    """Return (place, student, kernel), the most points first. Equal points share a place; without one come the others.

    After two kernels in the first place comes the third place.
    """
    order = sorted(kernels.items(), key=lambda k: (k[1].status != RANKED, -k[1].points, k[0]))
    points = [kernel.points for _, kernel in order]
    return [(points.index(k.points) + 1 if k.status == RANKED else None, student, k) for student, k in order]


def _fields(place: int | None, student: str, kernel: Kernel) -> list[str]:
    costs = [
        "" if cost is None else format(cost, band.form.strip(","))
        for band, cost in zip(BANDS, kernel.costs, strict=True)
    ]
    scored = [str(kernel.points), str(OF), str(kernel.milestones)] if place else ["0", str(OF), ""]
    sizes = ["×".join(map(str, size)) for size in (kernel.tile, kernel.threads)]
    return [str(place or ""), student, *scored, *costs, *sizes, kernel.status, kernel.hint, f"{kernel.seconds:.2f}"]


def page(places: Sequence[tuple[int | None, str, Kernel]]) -> str:
    """Return the page: the ranking, who has no place and why, and kernels that are nearly the same."""
    placed = {student: kernel for place, student, kernel in places if place}
    same = groups({s: kernel.units for s, kernel in placed.items()}, {s: kernel.course for s, kernel in placed.items()})
    costs = COLUMNS.index("status")
    without = [(student, kernel.status, kernel.hint) for place, student, kernel in places if not place]
    tables = [
        ("", "", COLUMNS[:costs], [_fields(*row)[:costs] for row in places if row[0]]),
        ("Without a place", "", ("student", "status", "hint"), without),
        ("Kernels that are nearly the same", NO_PROOF, ("shared", "written by"),
         [(f"{group.share:.0%}", group.authors) for group in same]),
    ]  # fmt: skip
    steps = ", ".join(milestone.title for milestone in MILESTONES)
    return rendered("ranking.html", title="Ranking of the capstone", of=OF, tables=tables, steps=steps)
