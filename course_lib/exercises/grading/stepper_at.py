"""The viewer of a verdict, opened at the step of the mistake, with the wanted values beside the wrong ones."""

import numpy as np

from ...simulator.findings import Finding
from ...simulator.geometry import linear
from ...trace.locate import Place, locate
from ...trace.replay import Timeline
from ...trace.viewer import Stepper
from ...trace.viewer.stepper import PANELS
from .exercise import Outcome

#: The lesson that explains each view: counts by line, sectors, banks, and waiting warps. Fragments are offered only for
#: kernels with tensor-core instructions.
EXPLAINED = {"findings": 0, "launch": 1, "warp": 5, "banks": 6, "waits": 9, "fragments": 0}


def explained(lesson: int) -> tuple[str, ...]:
    """The views that the reader of a lesson, 0 to 17, can understand."""
    return tuple(name for name in PANELS if EXPLAINED[name] <= lesson)


def at_finding(outcome: Outcome, finding: Finding, output: str) -> Stepper:
    """The viewer at the step that takes part in the finding, of a race at the later one; else when its block ends."""
    trace = outcome.run.trace
    last = [Place(at, len(Timeline(trace, at)), linear(thread, trace.block)) for at, thread in finding.threads[-1:]]
    return _opened(outcome, output, *(locate(trace, finding) or last)[:1])


def at_wrong_store(outcome: Outcome, output: str) -> Stepper:
    """The viewer at the store of the output's first wrong element, or at the start if it was never stored."""
    trace, wrong = outcome.run.trace, int(np.flatnonzero(outcome.differs)[0])
    for block in map(tuple, trace.columns.blocks.tolist() if output in trace.arrays else ()):
        touches = Timeline(trace, block).touches(output)
        for at in np.flatnonzero(touches.store & (touches.element == wrong))[:1]:
            return _opened(outcome, output, Place(block, int(touches.position[at]), int(touches.thread[at])))
    return _opened(outcome, output)


def _opened(outcome: Outcome, output: str, place: Place | None = None) -> Stepper:
    array = outcome.run.trace.arrays.get(output)
    wanted = {output: outcome.want} if array is not None and array.space == "global" else {}  # if the kernel uses it
    return Stepper(outcome.run, wanted=wanted, **(place.choices(outcome.run.trace) if place else {}))
