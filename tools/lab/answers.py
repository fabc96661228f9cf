"""The answers to the exercises that promise speed: each as its solution has it, beside kernels with one thing changed.

`answers.toml` says what is changed: the others are the exercise's given kernel, or the answer with other lines. All
have the exercise's launch. Where a name is the width of a tile, they are measured in blocks a warp wide, too.
"""

import linecache
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numba import uint64

from course_lib.classroom.teach.cells import NOTEBOOKS, lesson_cells
from course_lib.exercises import EXERCISES, LESSONS
from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.problem import KERNEL_SECONDS, resources
from course_lib.machine.gpu.timing import time_shuffled
from course_lib.machine.gpu.types import Names, Progress, Result, Results

SOLUTIONS = NOTEBOOKS / "solutions"
#: Sizes of a launch by their number: copies read 268 MB, products are those of the ladder.
SIZES = {1: 2**26, 2: 8192, 3: 4096}
SETS = 3
JIT = "@cuda.jit\n"
_EXERCISES: dict[str, Any] = {**EXERCISES}


@dataclass(frozen=True)
class Version:
    """One kernel of an exercise: its source, the widths of its tiles, and how many times as wide its block is.

    The grid has `across` times as many blocks in x as the exercise's.
    """

    exercise: str
    version: str
    source: str
    names: dict[str, int]
    wider: int
    across: int = 1

    def __str__(self) -> str:
        return f"{self.exercise}, {self.version}, {self.wider} times as wide"

    @property
    def task(self) -> Any:
        """What the kernel computes, and its launches."""
        return _EXERCISES[self.exercise].task

    def compiled(self) -> Any:
        """Return the kernel, compiled at its first launch."""
        scope: dict[str, Any] = {"uint64": uint64}
        exec(dict(lesson_cells(_lesson(self.exercise), SOLUTIONS))["imports"], scope)
        scope.update(self.names)
        known = set(scope)
        source, path = JIT + self.source.removeprefix(JIT), f"<{self}>"
        linecache.cache[path] = len(source), None, source.splitlines(True), path
        exec(compile(source, path, "exec"), scope)
        (kernel,) = (value for name, value in scope.items() if name not in known)
        return kernel

    def launch(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return (grid, block) for arrays of a shape."""
        grid, block = self.task.launch(*shape)
        grid = grid[0] * self.across, *grid[1:]
        if self.wider == 1:
            return grid, block
        return tuple(-(-size // self.wider) for size in grid), tuple(size * self.wider for size in block)


def _lesson(exercise: str) -> str:
    return next(lesson for lesson in LESSONS if f"exercise-{exercise}" in dict(lesson_cells(lesson, SOLUTIONS)))


def versions(names: Names = None) -> Iterator[Version]:
    """Yield the answer and what it is compared with for every exercise, or for those that are named, in each width.

    Raise ValueError if a text to change does not occur once.
    """
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for name, entry in table.items():
        if names and name not in names:
            continue
        answer = dict(lesson_cells(_lesson(name), SOLUTIONS))[f"exercise-{name}"].rpartition("\n\n\ncheck(")[0]
        for wider in sorted({1, entry.get("wider", 1)}):
            wide = entry.get("names", {}) if wider > 1 else {}
            yield Version(name, "answer", answer, wide, wider)
            for other in entry["others"]:
                source = answer if "changes" in other else _EXERCISES[name].given
                for old, new in other.get("changes", ()):
                    if source.count(old) != 1:
                        raise ValueError(f"{old!r} occurs {source.count(old)} times in the answer to {name}")
                    source = source.replace(old, new)
                yield Version(name, other["is"], source, wide, wider, other.get("grid", 1))


def answers(names: Names, repeats: int, progress: Progress) -> Results:
    """Verify every version on the exercise's launches and on the timed one, and time all in one shuffled run."""
    results, calls, entries = [], [], []
    for version in progress(list(versions(names)), str):
        kernel = version.compiled()
        shape = (SIZES[n := len(re.findall(r"\w+", version.task.sizes))],) * n
        grid, block = version.launch(shape)
        entry: Result = {"exercise": version.exercise, "shape": shape, "grid": grid, "block": block}
        entry["params"] = {"version": version.version, "wider": version.wider}
        results.append(entry)
        small = [tuple(size * version.wider for size in each) for each in version.task.launches]
        wrong = [each for each in (*small, shape) if not _right(version, kernel, each)]
        if wrong:
            entry["wrong"] = f"another result at {wrong[0]}"
            continue
        entry |= resources(kernel, block)
        entries.append(entry)
        calls.append(_call(kernel[grid, block], version.exercise, shape))
    times = time_shuffled(calls, [(number,) for number in range(SETS)], repeats, KERNEL_SECONDS)
    for entry, milliseconds in zip(entries, times, strict=True):
        median, shape = float(np.median(milliseconds)), entry["shape"]
        product = len(shape) == 3
        rate = {"gflops": 2 * prod(shape) / median / 1e6} if product else {}
        entry |= {"milliseconds": list(milliseconds), "median": median, **rate}
    return results


def _right(version: Version, kernel: Any, shape: tuple[int, ...]) -> bool:
    """Whether a launch stores exactly the right values: all sums of such whole numbers are exact."""
    cuda, grid_and_block = require(), version.launch(shape)
    inputs, want = _values(version.exercise, shape)
    got = cuda.to_device(np.full(want.shape, np.nan, np.float32))
    kernel[grid_and_block](*map(cuda.to_device, inputs), got)
    cuda.synchronize()
    return np.array_equal(got.copy_to_host(), want)


@cache
def _values(exercise: str, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], Any]:
    """Return an exercise's inputs and its output."""
    task = _EXERCISES[exercise].task
    inputs = task.inputs(np.random.default_rng(0), *shape)
    return inputs, task.answer(*inputs)


def _call(launch: Callable[..., object], exercise: str, shape: tuple[int, ...]) -> Callable[[int], object]:
    """Return a function of a number that launches on the arrays with that number."""
    inputs, output = _values(exercise, shape)
    arrays = _arrays(tuple(each.shape for each in (*inputs, output)))
    return lambda number: launch(*arrays[number])


@cache
def _arrays(shapes: tuple[tuple[int, ...], ...]) -> list[list[Any]]:
    """Return SETS copies of arrays of random numbers on the device."""
    random, cuda = np.random.default_rng(0), require()
    return [[cuda.to_device(random.standard_normal(each, np.float32)) for each in shapes] for _ in range(SETS)]
