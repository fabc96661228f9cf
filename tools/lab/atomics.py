"""Atomics of a warp whose lanes contend for few words: what Nsight Compute counts, and how long each takes.

A launch has one warp. Its 32 lanes share `32 // lanes` neighbouring words, so that `lanes` of them update each word.
The operand is an argument, which the compiler does not know; but for `count`, where it is 1.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import cuda

from course_lib.machine.gpu.counters import METRICS, parse_ncu, under_ncu
from course_lib.machine.gpu.result_types import Names, Result, Results
from course_lib.machine.gpu.timing import time_calls
from course_lib.simulator.hardware import WARP_SIZE

#: Lanes that update one word.
LANES = (1, 2, 4, 8, 16, 32)
#: Atomics of each lane in a launch that is timed: so many that the launch itself does not count.
ROUNDS = 4096
#: What is counted of a launch. An atomic whose old value nobody uses is a reduction, `red`, in global memory. A loop
#: that retries also loads from shared memory.
COUNTED = {
    "shared_atomic_requests": "smsp__inst_executed_op_shared_atom.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "global_atomic_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "global_reduction_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    **{name: METRICS[name] for name in ("shared_load_requests", "shared_load_wavefronts", "instructions")},
}


@cuda.jit(device=True)
def add(array: Any, i: int, value: Any) -> None:
    """Add to a word."""
    cuda.atomic.add(array, i, value)


@cuda.jit(device=True)
def count(array: Any, i: int, value: Any) -> None:
    """Add 1 to a word, which the compiler knows: shared memory then counts the lanes of each word."""
    cuda.atomic.add(array, i, 1)


@cuda.jit(device=True)
def maximum(array: Any, i: int, value: Any) -> None:
    """Keep the larger number in a word."""
    cuda.atomic.max(array, i, value)


@cuda.jit(device=True)
def exchange(array: Any, i: int, value: Any) -> None:
    """Write to a word, and get what was there."""
    cuda.atomic.exch(array, i, value)


@cuda.jit(device=True)
def compare(array: Any, i: int, value: Any) -> None:
    """Write to a word if it holds what is expected."""
    cuda.atomic.cas(array, i, value, value)


#: numba has an exchange, and one with a condition, of integers only.
OPERATIONS = {
    "add": (add, ("float32", "int32")),
    "max": (maximum, ("float32", "int32")),
    "exch": (exchange, ("int32",)),
    "cas": (compare, ("int32",)),
    "count": (count, ("int32",)),
}


@lru_cache
def in_shared_memory(operation: Any, dtype: Any) -> Any:
    """Return a kernel of one warp: lane i updates word where[i] of shared memory, `rounds` times."""

    @cuda.jit
    def contended(where: Any, value: Any, rounds: int, out: Any) -> None:
        words = cuda.shared.array(WARP_SIZE, dtype)
        i = cuda.threadIdx.x
        words[i] = 0
        cuda.syncthreads()
        for _ in range(rounds):
            operation(words, where[i], value)
        cuda.syncthreads()
        out[i] = words[i]

    return contended


@lru_cache
def in_global_memory(operation: Any) -> Any:
    """Return a kernel of one warp: lane i updates word where[i] of `out`, `rounds` times."""

    @cuda.jit
    def contended(where: Any, value: Any, rounds: int, out: Any) -> None:
        for _ in range(rounds):
            operation(out, where[cuda.threadIdx.x], value)

    return contended


@dataclass(frozen=True)
class Contention:
    """One launch: `lanes` lanes of a warp update each word."""

    space: str
    operation: str
    dtype: str
    lanes: int
    kernel: Any = field(repr=False)

    @property
    def about(self) -> Result:
        """What distinguishes the launch."""
        pattern = f"{self.space} {self.operation} of {self.dtype}"
        return {"pattern": pattern, "lanes": self.lanes}

    def arguments(self, rounds: int = 1, put: Callable[[Any], Any] = lambda array: array) -> tuple[Any, ...]:
        """Fresh arguments; `put` brings an array where the kernel runs."""
        where = np.arange(WARP_SIZE) * (WARP_SIZE // self.lanes) // WARP_SIZE
        return put(where), np.dtype(self.dtype).type(3), rounds, put(np.zeros(WARP_SIZE, self.dtype))


def contentions(names: Names = None) -> list[Contention]:
    """Return the launches whose pattern begins with one of `names` (all, without), as a profiler sees them."""
    every = [each for space in ("shared", "global") for each in _in(space)]
    return [each for each in every if each.about["pattern"].startswith(tuple(names or ("",)))]


def _in(space: str) -> Iterator[Contention]:
    for name, (operation, dtypes) in OPERATIONS.items():
        for dtype in dtypes:
            shared = space == "shared"
            kernel = in_shared_memory(operation, getattr(numba, dtype)) if shared else in_global_memory(operation)
            for lanes in LANES:
                yield Contention(space, name, dtype, lanes, kernel)


def launch_once(names: Iterable[str]) -> None:
    """Launch each of `contentions` for one atomic, for a profiler to look at."""
    for each in contentions(tuple(names)):
        each.kernel[1, WARP_SIZE](*each.arguments(put=cuda.to_device))
    cuda.synchronize()


def atomics(names: Names, repeats: int) -> Results:
    """Return the counts of one atomic by a warp, and the nanoseconds of each of many, one after another."""
    launch = f"from tools.lab.atomics import launch_once; launch_once({tuple(names or ('',))!r})"
    counted = parse_ncu(under_ncu(["-W", "ignore", "-c", launch], COUNTED), (), COUNTED)
    return [
        {**each.about, **{name: result[name] for name in COUNTED if name in result}, **_timed(each, repeats)}
        for each, result in zip(contentions(names), counted, strict=True)
    ]


def _timed(each: Contention, repeats: int) -> Result:
    arguments = each.arguments(ROUNDS, cuda.to_device)
    milliseconds = time_calls(each.kernel[1, WARP_SIZE], [arguments], repeats)
    nanoseconds = float(np.median(milliseconds)) / ROUNDS * 1e6
    return {"milliseconds": list(milliseconds), "nanoseconds_per_atomic": round(nanoseconds, 1)}
