"""Matrices in the registers of a warp: the lane that holds each element of the matrices that a step multiplies."""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.simulator.hardware import WARP_SIZE
from course_lib.trace.trace import Fragment, Step, Trace
from oracles.pieces import Read, reads_of


@dataclass
class Held:
    """A matrix in the registers of the step's warp: for each element, row-major, the lane that holds it.

    ``mine`` are the elements of the chosen thread, in the order of its values; none where it is in another warp.
    """

    name: str
    rows: int
    columns: int
    lanes: list[int]
    mine: list[int]

    @property
    def places(self) -> str:
        """The chosen thread's elements: ``[1, 1], [9, 1]``."""
        return ", ".join(f"[{i // self.columns}, {i % self.columns}]" for i in self.mine)

    @property
    def title(self) -> str:
        return f"{self.name}, {self.rows}×{self.columns}"


@dataclass
class Matrices:
    """An operation of the step's warp on whole matrices; each lane holds a few elements of them.

    ``read`` are those that the tensor cores read from shared memory.
    """

    name: str
    lane: int | None  # of the chosen thread; None where it is in another warp
    held: list[Held]
    read: list[Read]

    @property
    def says(self) -> str:
        """A sentence with the elements that the thread holds."""
        if self.lane is None:
            return f"The thread is in another warp, and holds nothing of {self.name}'s matrices."
        parts = "; ".join(f"{held.name}: {held.places}" for held in self.held)
        return f"For {self.name}, lane {self.lane} holds {parts}."


def matrices_of(trace: Trace, step: Step | None, thread: int) -> list[Matrices]:
    """The operations on matrices in a step's statement, as one thread sees them; none before the first step."""
    if step is None:
        return []
    lane = thread % WARP_SIZE if thread // WARP_SIZE == step.warp else None
    return [
        Matrices(
            operation.name,
            lane,
            [_held(fragment, lane) for fragment in operation.fragments],
            reads_of(trace, step, operation.pieces),
        )
        for operation in trace.matrices
        if operation.line == step.line
    ]


def _held(fragment: Fragment, lane: int | None) -> Held:
    lanes = [0] * (fragment.rows * fragment.columns)
    for holder, elements in enumerate(fragment.held):
        for i in elements:
            lanes[i] = holder
    mine = [] if lane is None else list(fragment.held[lane])
    return Held(fragment.name, fragment.rows, fragment.columns, lanes, mine)
