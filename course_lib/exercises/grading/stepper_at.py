"""The viewer of a verdict, opened at the step of the mistake, with the wanted values beside the wrong ones."""

from typing import NamedTuple

import numpy as np

from ...simulator.findings import Finding
from ...simulator.launch_shape import linear
from ...trace.finding_locations import Place, locate
from ...trace.replay import Timeline
from ...trace.viewer import Stepper
from ...trace.viewer.stepper import PANELS
from ...trace.viewer.words import element
from .exercise import Outcome, Task
from .wrong_operands import Computation, Misread, OutputFor, WrongSum, have_equal_steps

#: The lesson that explains each view: counts by line, sectors, banks, and waiting warps. Fragments are offered only for
#: kernels with tensor-core instructions.
LESSON_OF_PANEL = {"findings": 0, "launch": 1, "warp": 6, "banks": 7, "waits": 5, "fragments": 0}


def panels_explained_by(lesson: int) -> tuple[str, ...]:
    """The views that the reader of a lesson, 0 to 17, can understand."""
    return tuple(name for name in PANELS if LESSON_OF_PANEL[name] <= lesson)


def without_advice(finding: Finding) -> str:
    """What a finding says has happened, without its advice: that is for a kernel of which nothing else is known."""
    said, separator, advice = finding.message.partition("; ")
    return said + separator + advice if advice.startswith(_RULES) else said


#: What a finding says after its semicolon is a rule and no advice if it begins so.
_RULES = ("every thread of", "the mask must", "numba wraps")


class OpenedViewer(NamedTuple):
    """A viewer, and what the step is that it shows; ``kind`` is "finding", "operand", "sum", "store" or "start".

    ``found`` is what is wrong with the operands or the sum of the step, and ``outcome`` the launch that is shown.
    """

    stepper: Stepper
    kind: str
    description: str
    outcome: Outcome
    found: Misread | WrongSum | None = None


def open_at_finding(outcome: Outcome, finding: Finding, output: str) -> OpenedViewer:
    """The viewer at the step that takes part in the finding, of a race at the later one; else when its block ends."""
    trace = outcome.run.trace
    found = locate(trace, finding)
    last = [Place(at, len(Timeline.of(trace, at)), linear(thread, trace.block)) for at, thread in finding.threads[-1:]]
    where = "the step of this finding" if found else "the end of the block with this finding, of which no step tells"
    return OpenedViewer(
        _stepper(outcome, output, *(found or last)[:1]), "finding", f"{where}: {without_advice(finding)}", outcome
    )


def open_at_wrong_value(
    outcome: Outcome, tagged: Outcome | None, task: Task, output: str, output_for: OutputFor
) -> OpenedViewer:
    """The viewer at the first step that uses something which the first wrong element of the output does not need.

    ``tagged`` is a launch of the same kernel on tagged numbers, or None if it cannot have one, and ``output_for``
    returns the output of the kernel for other inputs. Without such a step: at the store of the element, or at the start
    if it is never stored.
    """
    wrong = int(np.flatnonzero(outcome.differs)[0])
    name = element(output, wrong, outcome.got.shape)
    stored = _store(outcome, output, wrong)
    if stored is None:
        return OpenedViewer(
            _stepper(outcome, output), "start", f"the start of the launch: {name} is never stored.", outcome
        )
    says = f"the store of the first wrong element, {name}"
    computed = _computation(outcome, tagged, task, stored, wrong, output_for)
    if computed is not None:
        found = computed.first_wrong_step()
        if found:
            kind = "operand" if isinstance(found, Misread) else "sum"
            said = f"the first wrong step: {_describe(found, outcome, name)}."
            return OpenedViewer(_stepper(outcome, output, found.place), kind, said, outcome, found)
        if computed.terms_read is not None and computed.terms_read < len(computed.terms):
            says += f": of the {len(computed.terms)} terms that it needs, its thread has read {computed.terms_read}"
    return OpenedViewer(_stepper(outcome, output, stored), "store", f"{says}.", outcome)


def first_wrong_step(
    outcome: Outcome, tagged: Outcome | None, task: Task, output: str, output_for: OutputFor
) -> tuple[int, str] | None:
    """Return the line of the first step that makes an element wrong, and what is wrong there; None if none is found."""
    wrong = int(np.flatnonzero(outcome.differs)[0])
    stored = _store(outcome, output, wrong)
    computed = _computation(outcome, tagged, task, stored, wrong, output_for) if stored else None
    found = computed.first_wrong_step() if computed else None
    if found is None:
        return None
    line = Timeline.of(outcome.run.trace, found.place.block).lines[found.place.position - 1]
    return int(line), _describe(found, outcome, element(output, wrong, outcome.got.shape))


def _computation(
    outcome: Outcome, tagged: Outcome | None, task: Task, stored: Place, wrong: int, output_for: OutputFor
) -> Computation | None:
    """How an element was computed; None if that cannot be compared."""
    if tagged is None or not have_equal_steps(outcome.run.trace, tagged.run.trace, stored.block):
        return None
    return Computation(task, outcome, tagged, stored, wrong, output_for)


def _describe(found: Misread | WrongSum, outcome: Outcome, wrong: str) -> str:
    """Say what is read or added, and what would be right."""
    if isinstance(found, WrongSum):
        value, right = (f"{each:.6g}" for each in (found.value, found.right))
        return f"after it {found.variable} is {value}, where {wrong} needs {right}"
    shapes = dict(zip(outcome.names, (array.shape for array in outcome.inputs), strict=False))
    own = {
        each: element(outcome.names[each[0]], each[1], shapes[each[0]])
        for each in (*found.operands, found.missing)
        if each
    }
    if found.repeated:
        product = " and ".join(own[each] for each in found.operands)
        return f"it adds the product of {product} to {wrong} for the second time"
    if found.unneeded is None:
        product = " by ".join(own[each] for each in found.operands)
        return f"it multiplies {product}, which is no product of {wrong}"
    if found.missing is None:
        return f"it uses {own[found.unneeded]}, and {wrong} does not need it"
    others = " and ".join(own[each] for each in found.operands if each != found.unneeded)
    return f"it multiplies {own[found.unneeded]} by {others}, and {wrong} needs {own[found.missing]} there"


def _store(outcome: Outcome, output: str, wrong: int) -> Place | None:
    """The last store of an element in the first block that stores it; None if none does."""
    trace = outcome.run.trace
    for block in map(tuple, trace.columns.blocks.tolist() if output in trace.arrays else ()):
        accesses = Timeline.of(trace, block).accesses(output)
        for at in np.flatnonzero(accesses.store & (accesses.element == wrong))[-1:]:
            return Place(block, int(accesses.position[at]), int(accesses.thread[at]))
    return None


def _stepper(outcome: Outcome, output: str, place: Place | None = None) -> Stepper:
    array = outcome.run.trace.arrays.get(output)
    wanted = {output: outcome.want} if array is not None and array.space == "global" else {}  # if the kernel uses it
    return Stepper(outcome.run, wanted=wanted, **(place.choices(outcome.run.trace) if place else {}))
