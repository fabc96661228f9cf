"""What the viewer draws: every statement that every warp executed, with its accesses and assignments."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class TraceArray:
    """An array that the kernel touched.

    ``space`` is "global", "shared" or "local"; ``shape`` is in elements. ``initial`` is a copy of a global
    array's contents before the launch, and None for the arrays of the other spaces.
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    initial: np.ndarray | None = None


@dataclass(frozen=True)
class TraceAccess:
    """The part of one statement that touched one array: a row of ``index`` and a value per active thread.

    ``threads`` (n,) are linear thread ids in the block, x fastest; ``index`` is (n, ndim); ``values`` is (n,).
    """

    op: str
    array: str
    threads: np.ndarray
    index: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Step:
    """One source statement, executed once by one warp of one block.

    ``threads`` (n,) are the active linear thread ids; ``variables`` maps each name that the statement
    assigned to its new values, one per active thread.
    """

    line: int
    block: tuple[int, int, int]
    warp: int
    threads: np.ndarray
    accesses: tuple[TraceAccess, ...] = ()
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    barrier: bool = False


@dataclass(frozen=True)
class Trace:
    """A launch as the viewer sees it: ``steps`` in the order in which the simulator executed them."""

    kernel_name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    source: tuple[tuple[int, str], ...]
    arrays: dict[str, TraceArray]
    steps: tuple[Step, ...]

    def __repr__(self) -> str:
        return f"Trace({self.kernel_name}: {len(self.steps)} steps, {len(self.arrays)} arrays)"
