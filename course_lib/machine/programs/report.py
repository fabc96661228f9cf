"""What was found in a program, by kernel and line: each finding once, with the number of launches that have it."""

import os
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from ...simulator.findings import Finding
from ...simulator.formatting import plural
from .launches import Found, Launches, LaunchPlace, ScriptLaunch, accepted, failing

#: What `--allow` takes, beside kinds of findings, for launches that are not simulated.
REFUSED = "refused"
#: Kinds of findings that are errors, unless somebody else counts others as such.
ERRORS = failing(warnings=False)
#: Columns of a line.
WIDTH = 118
#: Characters of a launch's arguments.
ARGUMENTS = 80


def fails(found: Found, allow: Sequence[str], warnings: bool) -> bool:
    """Whether a program fails by a finding.

    Those of the kinds that :func:`failing` names do, unless ``allow`` accepts them, and a launch that had to stop.
    """
    return _severity(found, failing(warnings)) == "error" and not _accepted(found, allow)


def _severity(found: Found, errors: Collection[str]) -> str:
    """Return "error" for what is of one of these kinds of findings, or had to stop, and "warning" for all else."""
    return "warning" if isinstance(found.problem, Finding) and found.problem.kind not in errors else "error"


def report(
    launches: Launches, allow: Sequence[str] = (), errors: Collection[str] = failing(warnings=False)
) -> list[str]:
    """Return the findings in lines; those that ``allow`` accepts are counted alone.

    ``errors``: the kinds that are told as errors; the others are warnings.
    """
    reported = [each for each in launches.found.values() if not _accepted(each, allow)]
    reported.sort(key=lambda each: (each.code, line_of(each)))
    lines = []
    for code, of_kernel in groupby(reported, lambda each: each.code):
        lines.append(f"{code[1]}, {shown(code[0])}")
        for number, at_line in groupby(of_kernel, line_of):
            found = [*at_line]
            lines.append(f"  line {number} | {found[0].text}")
            for each in found:
                lines += wrapped(
                    f"{_severity(each, errors)}: {each.problem} {where(each.first, each.launches)}", "    "
                )
                lines += wrapped(each.within, "      ") if each.within else []
    for launch in launches.every:
        if launch.refused and REFUSED not in allow:
            lines += wrapped(refused(launch))
        elif launch.stopped:
            lines += wrapped(f"{launch.stopped} did not end {where(launch.first)}")
    if launches.number:
        lines.append(_summary(launches, Counter(_severity(each, errors) for each in reported), allow))
    else:
        lines.append("No launch was simulated, so nothing was judged: the program launched no kernel of numba.cuda.")
    accepting = {_accepted(each, allow) for each in launches.found.values()} | (
        {REFUSED} if launches.refused else set()
    )
    return lines + [f"--allow {word} accepted nothing." for word in sorted({*allow} - accepting)]


def _accepted(found: Found, allow: Sequence[str]) -> str:
    """Return which of ``allow`` accepts something that was found; "" if none does."""
    return accepted(allow, found.problem.kind, found.code[1]) if isinstance(found.problem, Finding) else ""


def _summary(launches: Launches, counts: Mapping[str, int], allow: Sequence[str]) -> str:
    """Return how many launches were simulated and how many were not, and how many errors and warnings are told."""
    running = sum(bool(each.stopped) for each in launches.every)
    kernels = len({each.code for each in launches.every if not each.refused and not each.stopped})
    parts = []
    if simulated := launches.number - launches.refused - running:
        parts.append(f"{plural(simulated, 'launch', 'es')} of {plural(kernels, 'kernel')} simulated")
    if launches.refused:
        by_option = f" (accepted by --allow {REFUSED})" if REFUSED in allow else ""
        parts.append(f"{plural(launches.refused, 'launch', 'es')} not simulated{by_option}")
    if running:
        parts.append(f"{plural(running, 'launch', 'es')} not ended")
    accepted_by = Counter(_accepted(each, allow) for each in launches.found.values())
    if counts:
        parts += [plural(counts[severity], severity) for severity in ("error", "warning") if severity in counts]
    elif simulated:
        parts.append("no other findings" if accepted_by else "no findings")
    parts += [f"{accepted_by[word]:,} accepted by --allow {word}" for word in sorted(set(allow)) if accepted_by[word]]
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
