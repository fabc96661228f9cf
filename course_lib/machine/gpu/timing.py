"""Timing of kernels: CUDA events around every launch, every repeat kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle, islice, pairwise
from typing import Any

import numpy as np

from ...kernels.rung import Rung
from .device import l2_bytes, require
from .verification import configured, prepare, random_matrices

MAX_SETS = 64


@dataclass(frozen=True)
class Timing:
    """Milliseconds of every repeat of one launch that computes an M×K by K×N product.

    >>> timing = gpu.Timing(64, 64, 64, (0.5, 0.25, 0.75))
    >>> timing.median, round(timing.gflops, 3)
    (0.5, 1.049)
    """

    M: int
    N: int
    K: int
    milliseconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the repeats, in milliseconds."""
        return float(np.median(self.milliseconds))

    @property
    def gflops(self) -> float:
        """Billions of floating-point operations per second at the median: 2 M N K / time."""
        return 2 * self.M * self.N * self.K / self.median / 1e6


@lru_cache
def _plug() -> Any:
    """Return a kernel that keeps the GPU busy for about `milliseconds`, so that launches queue up after it."""
    from numba import cuda

    @cuda.jit
    def plug(milliseconds: int) -> None:
        for _ in range(milliseconds):
            cuda.nanosleep(1_000_000)

    return plug


def input_sets(M: int, N: int, K: int, dtype: Any = np.float32) -> list[Any]:
    """Return device copies (A, B, C), so many that together they are more than twice as large as the L2 cache."""
    cuda = require()
    size = max(1, np.dtype(dtype).itemsize * (M * K + K * N + M * N))
    count = min(MAX_SETS, 1 + 2 * l2_bytes() // size)
    return [tuple(cuda.to_device(X) for X in random_matrices(M, N, K, dtype, seed=i)) for i in range(count)]


def time_calls(call: Callable[..., object], sets: list[Any], repeats: int = 20, warmups: int = 3) -> tuple[float, ...]:
    """Return the milliseconds of each of `repeats` calls `call(A, B, C)`, rotating through `sets`.

    Events are recorded between the calls while a plug occupies the GPU, so that the calls run back to back and the time
    to launch from Python, tens of microseconds, is not included.
    """
    cuda = require()
    for arrays in islice(cycle(sets), warmups):
        call(*arrays)
    cuda.synchronize()
    events = [cuda.event() for _ in range(repeats + 1)]
    _plug()[1, 1](2 + repeats // 5)
    events[0].record()
    for event, arrays in zip(events[1:], cycle(sets), strict=False):
        call(*arrays)
        event.record()
    cuda.synchronize()
    return tuple(cuda.event_elapsed_time(a, b) for a, b in pairwise(events))


def time_shuffled(
    calls: Sequence[Callable[..., object]], sets: list[Any], repeats: int, seconds: float
) -> list[tuple[float, ...]]:
    """Return the milliseconds of each repeat of each call, timed in rounds, each round in a random order.

    So a clock that changes meanwhile changes the times of all calls alike. Every call has one launch for warming up; a
    call whose repeats would take longer than `seconds` gets fewer.
    """
    cuda = require()
    order = np.random.default_rng(0)
    once = [time_calls(call, sets, 1, 1)[0] for call in calls]
    wanted = [max(1, min(repeats, int(seconds * 1e3 / each))) for each in once]
    times: list[list[float]] = [[] for _ in calls]
    for number in range(repeats):
        chosen = order.permutation([i for i, count in enumerate(wanted) if number < count])
        events = [cuda.event() for _ in range(len(chosen) + 1)]
        _plug()[1, 1](2 + len(chosen) // 2)
        events[0].record()
        for i, event in zip(chosen, events[1:], strict=True):
            calls[i](*sets[number % len(sets)])
            event.record()
        cuda.synchronize()
        for i, (start, end) in zip(chosen, pairwise(events), strict=True):
            times[i].append(cuda.event_elapsed_time(start, end))
    return [tuple(each) for each in times]


def time(rung: Rung, M: int, N: int, K: int, *, dtype: Any = np.float32, repeats: int = 20, **params: Any) -> Timing:
    """Return the Timing of the rung on random matrices. Raise NoGPUError without a GPU. The result is not verified.

    >>> if gpu.available():
    ...     timing = gpu.time(rung("naive"), 64, 64, 64, repeats=3)
    ... else:
    ...     timing = gpu.Timing(64, 64, 64, (0.5, 0.25, 0.75))
    >>> len(timing.milliseconds)
    3
    """
    require()
    kernel, grid, block, params = prepare(rung, M, N, K, dtype=dtype, **params)
    sets = input_sets(M, N, K, dtype)
    launch = configured(kernel, grid, block, rung.dynamic_bytes, sets[0])
    return Timing(M, N, K, time_calls(launch, sets, repeats))
