"""What proves a change of a kernel: right values, no new findings, and less of what was wrong or slow."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...simulator.check_all import SCHEDULES
from ...simulator.findings import SimulatorError
from ...simulator.repairs import bounds
from ...simulator.run import Run
from ...simulator.testing import differs
from ...trace.replay import Timeline
from .costs import Cost
from .repeatable_launch import ChangedLaunch, LaunchResult, RepeatableLaunch

#: A repair leaves at most this share of a cost.
MAX_SHARE_LEFT = 0.75


def traffic_of(run: Run) -> dict[str, int]:
    """Return the counts of a launch of which a repair may not make more."""
    return {"wavefronts": run.traffic.wavefronts, "sectors": run.traffic.sectors}


def saves(cost: Cost, changed: ChangedLaunch, before: LaunchResult) -> bool:
    """Whether a change lowers a cost, no other kind of traffic pays for it, and all values are equal."""
    now, was = traffic_of(changed.run), traffic_of(before.run)
    if now[cost.count] > MAX_SHARE_LEFT * was[cost.count] or any(now[name] > was[name] for name in was):
        return False
    return changed.findings <= before.findings and _equal_bits(changed.after, before.after)


def avoids_float64(changed: ChangedLaunch, before: LaunchResult) -> bool:
    """Whether a changed kernel computes in float32, and its values are equal up to rounding."""
    if any(finding.kind == "float64" for finding in changed.run.findings):
        return False
    return changed.findings <= before.findings and _equal_up_to_rounding(changed.after, before.after)


def is_right(changed: ChangedLaunch, before: LaunchResult) -> bool:
    """Whether a changed kernel without errors gives the same values in every order, and fills what it must."""
    for schedule in SCHEDULES[1:]:
        run, values = changed.launch(schedule)
        if run.errors or not _equal_up_to_rounding(values, changed.after):
            return False
    change = changed.change
    if change.id in bounds.guards.texts and not _equal_bits(changed.after, before.after):
        return False  # an access outside an array was skipped: a guard changes no value
    if change.id in ("barrier", "read-barrier-write") and not _all_read(changed.launch):
        return False
    return not change.must_fill or _fills(changed.launch, change.must_fill)


def _fills(launch: RepeatableLaunch, names: Sequence[str]) -> bool:
    """Whether every element of these arrays is stored: it is none of two values that were there before."""
    places = [launch.source.parameters.index(name) for name in names]
    untouched = []
    for mark in (1, 2):
        arguments = copy.deepcopy(list(launch.arguments))
        for place in places:
            np.asarray(arguments[place])[...] = mark
        _, values = launch(arguments=arguments)
        untouched.append([np.asarray(values[place]) == mark for place in places])
    return not any((one & other).any() for one, other in zip(*untouched, strict=True))


def _all_read(launch: RepeatableLaunch) -> bool:
    """Whether some of what each line stores in shared memory is read.

    A barrier orders any two accesses, also where a tile must not be overwritten at all: then it hides the mistake.
    """
    try:
        run, _ = replace(launch, grid=1, trace=True)()
    except SimulatorError:  # too large to be traced
        return True
    trace = run.trace
    assert trace is not None
    timeline = Timeline.of(trace, (0, 0, 0))
    read: dict[int, bool] = {}
    for name, array in trace.arrays.items():
        if array.space == "shared":
            touched = timeline.accesses(name)
            order = np.lexsort((touched.store, touched.position, touched.element))
            element = touched.element[order]
            atomic = touched.atomic[order]
            store = touched.store[order] & ~atomic
            used = np.append((element[1:] == element[:-1]) & ~store[1:], False)
            lines = timeline.lines[touched.position[order] - 1]
            for line in np.unique(lines[store]).tolist():
                read[line] = read.get(line, False) or bool(used[store & (lines == line)].any())
    return all(read.values())


def _equal_up_to_rounding(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal up to rounding."""
    return not any(np.any(differs(one, other)) for one, other in _arrays(values, others))


def _equal_bits(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal, bit by bit."""
    return all(one.tobytes() == other.tobytes() for one, other in _arrays(values, others))


def _arrays(values: Sequence[Any], others: Sequence[Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from ((np.asarray(a), np.asarray(b)) for a, b in zip(values, others, strict=True) if np.ndim(a))
