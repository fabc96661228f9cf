"""What was found in a program, by kernel and line: each finding once, with the number of launches that have it."""

import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from ...simulator.findings import KINDS, Finding
from ...simulator.tables import plural
from .launches import Found, Launches, LaunchPlace, ScriptLaunch, accepted

#: What `--allow` takes, beside kinds of findings, for launches that are not simulated.
REFUSED = "refused"
#: Columns of a line.
WIDTH = 118
#: Characters of a launch's arguments.
ARGUMENTS = 80


def fails(found: Found, allow: Sequence[str], warnings: bool) -> bool:
    """Whether a program fails by a finding.

    Those do that may change values, or, with ``warnings``, all; not those that are accepted by ``allow``.
    """
    if not isinstance(found.problem, Finding):
        return True
    return not _accepted(found, allow) and (warnings or KINDS[found.problem.kind].values)


def report(launches: Launches, allow: Sequence[str] = ()) -> list[str]:
    """Return the findings in lines; those that ``allow`` accepts are counted alone."""
    told = [each for each in launches.found.values() if not _accepted(each, allow)]
    told.sort(key=lambda each: (each.code, line_of(each)))
    lines = []
    for code, of_kernel in groupby(told, lambda each: each.code):
        lines.append(f"{code[1]}, {shown(code[0])}")
        for number, at_line in groupby(of_kernel, line_of):
            found = [*at_line]
            lines.append(f"  line {number} | {found[0].text}")
            for each in found:
                lines += wrapped(f"{each.problem} {where(each.first, each.launches)}", "    ")
                lines += wrapped(each.within, "      ") if each.within else []
    for launch in launches.every:
        if launch.refused and REFUSED not in allow:
            lines += wrapped(refused(launch))
        elif launch.stopped:
            lines += wrapped(f"{launch.stopped} did not end {where(launch.first)}")
    if not launches.number:
        return [*lines, "No launch was simulated: the program launched no kernel of numba.cuda."]
    return [*lines, _summary(launches, len(told), allow)]


def _accepted(found: Found, allow: Sequence[str]) -> str:
    """Return which of ``allow`` accepts something that was found; "" if none does."""
    return accepted(allow, found.problem.kind, found.code[1]) if isinstance(found.problem, Finding) else ""


def _summary(launches: Launches, told: int, allow: Sequence[str]) -> str:
    """Return how many launches were simulated and how many were not, and how many findings there are."""
    running = sum(bool(each.stopped) for each in launches.every)
    kernels = len({each.code for each in launches.every if not each.refused and not each.stopped})
    parts = []
    if whole := launches.number - launches.refused - running:
        parts.append(f"{plural(whole, 'launch', 'es')} of {plural(kernels, 'kernel')} simulated")
    if launches.refused:
        by_option = f" (accepted by --allow {REFUSED})" if REFUSED in allow else ""
        parts.append(f"{plural(launches.refused, 'launch', 'es')} not simulated{by_option}")
    if running:
        parts.append(f"{plural(running, 'launch', 'es')} not ended")
    by = Counter(_accepted(each, allow) for each in launches.found.values())
    if told:
        parts.append(plural(told, "finding"))
    elif whole:
        parts.append("no other findings" if by else "no findings")
    parts += [f"{by[word]:,} accepted by --allow {word}" for word in sorted(set(allow)) if by[word]]
    return f"{', '.join(parts)}; no GPU was used."


def wrapped(said: str, indent: str = "") -> list[str]:
    """Return a sentence in lines, with its own words alone: no path is cut."""
    further = f"{indent}  "
    return textwrap.wrap(said, WIDTH, initial_indent=indent, subsequent_indent=further, break_on_hyphens=False)


def line_of(found: Found) -> int:
    """Return the kernel's line of what was found; 0 if it is of no line."""
    return getattr(found.problem, "line", 0)


def refused(launch: ScriptLaunch) -> str:
    """Return why a launch was not simulated."""
    return (
        f"{launch.name}, {shown(launch.code[0])}: not simulated: {launch.refused} {where(launch.first, launch.times)}"
    )


def where(first: LaunchPlace, launches: int = 1) -> str:
    """Return in how many launches something was found, and where the first of them is made, with its arguments."""
    several = f"in {launches:,} launches; the first is " if launches > 1 else ""
    place = f"in {shown(first.file)}, line {first.line}" if first.line else f"number {first.number}"
    arguments = textwrap.shorten(first.arguments, ARGUMENTS, placeholder=" …")
    return f"({several}{place}: {arguments or 'no arguments'})"


def shown(file: str) -> str:
    """Return a file as from the current folder, if it is in it; a notebook's cell has no file that one could open."""
    if Path(file).parent.name.startswith("ipykernel_"):
        return "a cell of the notebook"
    try:
        return os.path.relpath(file) if Path(file).is_relative_to(Path.cwd()) else file
    except OSError:  # the folder is gone
        return file
