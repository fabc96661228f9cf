"""The viewer of a verdict, opened at the step of the mistake, with the wanted values beside the wrong ones."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...simulator.findings import Finding
from ...trace.viewer import Stepper
from ...trace.viewer.stepper import PANELS
from .exercise import Array, Outcome

#: The lesson that explains each view: counts by line, sectors, banks, and waiting warps. Fragments are offered only for
#: kernels with tensor-core instructions.
EXPLAINED = {"findings": 0, "launch": 1, "warp": 5, "banks": 6, "waits": 9, "fragments": 0}


def explained(lesson: int) -> tuple[str, ...]:
    """The views that the reader of a lesson, 0 to 17, can understand."""
    return tuple(name for name in PANELS if EXPLAINED[name] <= lesson)


def at_finding(outcome: Outcome, finding: Finding, output: str) -> Stepper:
    """The viewer after the first step in which the finding's last thread executes its line."""
    block, thread = finding.threads[-1] if finding.threads else ((0, 0, 0), (0, 0, 0))
    width, height, _ = outcome.run.block
    lane = thread[0] + width * (thread[1] + height * thread[2])
    chosen = last = 0
    for number, step in _numbered(outcome):
        if step.block == tuple(block):
            last = number
            if not chosen and step.line == finding.line and lane in step.threads:
                chosen = number
    return _opened(outcome, output, step=chosen or last, block=tuple(block), thread=tuple(thread))


def at_wrong_store(outcome: Outcome, output: str) -> Stepper:
    """The viewer at the store of the output's first wrong element, or at the start if it was never stored."""
    index = np.argwhere(outcome.differs)[0]
    width, height, _ = outcome.run.block
    for number, step in _numbered(outcome):
        for access in step.accesses:
            if access.op == "load" or access.array != output:
                continue
            lanes = access.threads[(access.index == index).all(axis=1)]
            if lanes.size:
                lane = int(lanes[0])
                thread = (lane % width, lane // width % height, lane // (width * height))
                return _opened(outcome, output, step=number, block=step.block, thread=thread)
    return _opened(outcome, output)


def _numbered(outcome: Outcome) -> Iterator[tuple[int, Any]]:
    """Each step with its number in its block, from 1, as the viewer counts."""
    counted: Counter[Any] = Counter()
    for step in outcome.run.trace.steps:
        counted[step.block] += 1
        yield counted[step.block], step


def _opened(outcome: Outcome, output: str, **place: Any) -> Stepper:
    return Stepper(outcome.run, wanted=_right(outcome, output), **place)


def _right(outcome: Outcome, output: str) -> dict[str, Array]:
    """The wanted values of the output, if the kernel accesses it."""
    array = outcome.run.trace.arrays.get(output)
    return {output: outcome.want} if array is not None and array.space == "global" else {}
