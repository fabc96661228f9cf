"""The first version of the payload, which `stepper.js` reads until it reads :mod:`payload`."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ..trace.program import accumulators, roles, shown_source, tiles
from ..trace.trace import Step, Trace, TraceAccess, TraceArray

MAX_SIDE = 64
MAX_BYTES = 4_000_000
_OPS = {"load": 0, "store": 1, "atomic": 2}


def check_drawable(trace: Trace) -> None:
    """Refuse with a ValueError a launch that is too large to draw; name the array and the limit."""
    for array in trace.arrays.values():
        if max(array.shape, default=1) > MAX_SIDE:
            size = " × ".join(map(str, array.shape))
            raise ValueError(
                f"The stepper draws arrays of at most {MAX_SIDE} elements a side; {array.name} is {size}. "
                "Step through a smaller launch; every block of the large one does the same thing."
            )
    if not trace.steps:
        raise ValueError(f"{trace.kernel_name} ran no step in this launch, so there is nothing to see.")


def encode(trace: Trace) -> str:
    """Write the trace as JSON; raises ValueError for a launch too large to draw.

    Positions are row-major element numbers, sent as a base and a list relative to it, so that a loop's
    iterations and the blocks of a launch share their lists. A list whose entries are all equal is sent as
    its first entry. Values of loads are not sent: the browser knows what the memory holds.
    """
    check_drawable(trace)
    vectors = _Vectors()
    blocks: dict[tuple[int, int, int], list[list[Any]]] = {}
    names = list(trace.arrays)
    for step in trace.steps:
        blocks.setdefault(step.block, []).append(_step(step, trace, names, vectors))
    role, tile = roles(trace), tiles(trace)
    text = json.dumps(
        {
            "kernel": trace.kernel_name,
            "grid": trace.grid,
            "block": trace.block,
            "source": shown_source(trace),
            "accumulators": accumulators(trace),
            "arrays": [_array(array, role.get(name), tile.get(name), vectors) for name, array in trace.arrays.items()],
            "blocks": [{"at": at, "steps": steps} for at, steps in sorted(blocks.items(), key=_z_y_x)],
            "vectors": vectors.lists,
        },
        separators=(",", ":"),
        allow_nan=False,
    )
    if len(text) > MAX_BYTES:
        raise ValueError(
            f"The trace of this launch takes {len(text) / 1e6:.1f} MB; the stepper sends at most "
            f"{MAX_BYTES / 1e6:.0f} MB to the browser. Step through a smaller launch."
        )
    return text


def _z_y_x(item: tuple[tuple[int, int, int], Any]) -> tuple[int, ...]:
    return item[0][::-1]


def _array(array: TraceArray, role: str | None, tile: Any, vectors: _Vectors) -> dict[str, Any]:
    return {
        "name": array.name,
        "space": array.space,
        "dtype": array.dtype,
        "shape": array.shape,
        "role": role,
        "tile": tile,
        "initial": None if array.initial is None else vectors.add(np.ascontiguousarray(array.initial).reshape(-1)),
    }


def _step(step: Step, trace: Trace, names: list[str], vectors: _Vectors) -> list[Any]:
    accesses = []
    for access in step.accesses:
        where, inside = flat_index(access, trace.arrays[access.array].shape)
        if not len(where):
            continue
        values = -1 if access.op == "load" else vectors.add(np.asarray(access.values)[inside])
        threads = vectors.add(access.threads[inside])
        place = (int(where[0]), vectors.add(where - where[0]))
        accesses.append([_OPS[access.op], names.index(access.array), threads, *place, values])
    variables = {name: vectors.add(np.asarray(values)) for name, values in step.variables.items()}
    return [step.line, step.warp, vectors.add(step.threads), int(step.barrier), accesses, variables]


class _Vectors:
    """Lists of numbers, each stored once and known by its position."""

    def __init__(self) -> None:
        self.lists: list[list[Any]] = []
        self._seen: dict[tuple[str, bytes], int] = {}

    def add(self, vector: np.ndarray) -> int:
        if len(vector) > 1 and (vector == vector[0]).all():
            vector = vector[:1]
        key = (vector.dtype.str, vector.tobytes())
        if key not in self._seen:
            self._seen[key] = len(self.lists)
            self.lists.append([_number(value) for value in vector])
        return self._seen[key]


def _number(value: Any) -> int | float | str:
    """Write one element with the digits its own type has; JSON has no nan, inf or complex numbers."""
    if isinstance(value, np.bool_ | np.integer):
        return int(value)
    if isinstance(value, np.floating) and math.isfinite(value):
        return float(str(value))
    return str(value)


def flat_index(access: TraceAccess, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Give the row-major position of each element accessed, and which lanes stayed inside the array."""
    if not shape:
        return np.zeros(len(access.threads), np.int64), np.ones(len(access.threads), bool)
    index = np.asarray(access.index).reshape(len(access.threads), len(shape))
    index = np.where(index < 0, index + np.array(shape, dtype=index.dtype), index)
    inside = ((index >= 0) & (index < np.array(shape))).all(axis=1)
    return np.ravel_multi_index(tuple(index[inside].T), shape), np.asarray(inside)
