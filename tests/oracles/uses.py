"""How often the numbers that a block loads from global memory are used, counted by numbers that know their origin.

The kernel runs as plain Python, thread after thread up to its next barrier, on arrays of such numbers: no trace, no
source and no typed program takes part.
"""

import itertools
import types
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from greenlet import getcurrent, greenlet


@dataclass
class Counts:
    """Of one block: numbers loaded from global and from shared memory, operands of arithmetic among those of global
    memory, products that were added to something.
    """

    fetched: int = 0
    shared: int = 0
    used: int = 0
    multiplied: int = 0


@dataclass
class Number:
    """A number; ``loaded`` from global memory and not computed, ``product`` of two others."""

    value: float
    counts: Counts
    loaded: bool = False
    product: bool = False

    def _combined(self, other, operation, product=False, adds=False):
        both = [each for each in (self, other) if isinstance(each, Number)]
        self.counts.used += sum(each.loaded for each in both)
        self.counts.multiplied += adds and sum(each.product for each in both)
        values = [each.value if isinstance(each, Number) else each for each in (self, other)]
        return Number(operation(*values), self.counts, product=product)

    def __add__(self, other):
        return self._combined(other, lambda a, b: a + b, adds=True)

    def __sub__(self, other):
        return self._combined(other, lambda a, b: a - b, adds=True)

    def __mul__(self, other):
        return self._combined(other, lambda a, b: a * b, product=True)

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other):
        return self._combined(other, lambda a, b: a > b).value


@dataclass
class Array:
    """An array of numbers; those of ``source`` are global memory, loaded anew each time."""

    shape: tuple
    counts: Counts
    source: np.ndarray | None = None
    shared: bool = False
    held: dict = field(default_factory=dict)

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if self.source is None:
            self.counts.shared += self.shared
            return self.held.get(index, 0.0)
        self.counts.fetched += 1
        return Number(float(self.held.get(index, self.source[index])), self.counts, loaded=True)

    def __setitem__(self, index, value):
        index = index if isinstance(index, tuple) else (index,)
        if self.source is None:
            self.held[index] = value if isinstance(value, Number) else Number(value, self.counts)
        else:
            self.held[index] = value.value if isinstance(value, Number) else value


def count_block(kernel, grid, block, arguments, at=(0, 0)):
    """Run one block of a launch of at most two dimensions, and return its `Counts`; the other blocks do not run."""
    counts, shared = Counts(), {}
    grid, block = (tuple(np.atleast_1d(shape).tolist()) + (1,) for shape in (grid, block))
    arrays = [Array(a.shape, counts, a) if isinstance(a, np.ndarray) else a for a in arguments]
    positions = {}  # of each thread that runs: its place in the block, and how many arrays it has allocated

    def allocate(shape, dtype):
        calls = positions[getcurrent()].calls = positions[getcurrent()].calls + 1
        return shared.setdefault(calls, Array(shape, counts, shared=True))

    def grid_of(dims):
        x, y = (at[d] * block[d] + positions[getcurrent()].thread[d] for d in range(2))
        return x if dims == 1 else (x, y)

    class ThreadIdx:
        x = property(lambda _: positions[getcurrent()].thread[0])
        y = property(lambda _: positions[getcurrent()].thread[1])

    cuda = SimpleNamespace(
        threadIdx=ThreadIdx(),
        blockIdx=SimpleNamespace(x=at[0], y=at[1], z=0),
        blockDim=SimpleNamespace(x=block[0], y=block[1], z=1),
        gridDim=SimpleNamespace(x=grid[0], y=grid[1], z=1),
        grid=grid_of,
        shared=SimpleNamespace(array=allocate),
        local=SimpleNamespace(array=lambda shape, dtype: Array(shape, counts)),
        syncthreads=lambda: getcurrent().parent.switch(True),
    )

    def plain(function):
        function = getattr(function, "py_func", function)
        names = {"cuda": cuda, "float32": lambda value: value}
        others = {
            name: plain(value)
            for name, value in function.__globals__.items()
            if hasattr(value, "py_func") and name in function.__code__.co_names
        }
        return types.FunctionType(
            function.__code__, {**function.__globals__, **others, **names}, "kernel", None, function.__closure__
        )

    run = plain(kernel)
    threads = []
    for y, x in itertools.product(range(block[1]), range(block[0])):
        thread = greenlet(lambda: run(*arrays))
        positions[thread] = SimpleNamespace(thread=(x, y), calls=0)
        threads.append(thread)
    while threads:
        for thread in threads:
            thread.switch()
        threads = [thread for thread in threads if not thread.dead]
    return counts
