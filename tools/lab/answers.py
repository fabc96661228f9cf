"""The answers to the exercises that promise speed: each as its solution has it, beside kernels with one thing changed.

`answers.toml` says what is changed, and in which launches all of them are timed: that of the exercise, and others in
which what the exercise changes costs more of the time. Nsight Compute counts what each executes, where it is there.
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
from numba import int64, uint32, uint64

from course_lib.classroom.teach.cells import NOTEBOOKS, lesson_cells
from course_lib.exercises import EXERCISES, LESSONS
from course_lib.machine.gpu.counters import METRICS, NoProfilerError, parse_ncu, under_ncu
from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.measuring import KERNEL_SECONDS, resources
from course_lib.machine.gpu.result_types import Names, Progress, Result, Results
from course_lib.machine.gpu.timing import time_shuffled

SOLUTIONS = NOTEBOOKS / "solutions"
#: Sizes of a launch by their number: copies read 268 MB, products are those of the ladder.
SIZES = {1: 2**26, 2: 8192, 3: 4096}
#: Copies of the arrays, used in turn; their largest sizes are together more than twice as large as the L2 cache.
SETS = 3
#: What is counted of each kernel: all of METRICS but the instructions that none of them has.
COUNTED = {name: metric for name, metric in METRICS.items() if not name.startswith(("matrix", "copy", "product"))}
JIT = "@cuda.jit\n"
_EXERCISES: dict[str, Any] = {**EXERCISES}
#: Types that a changed line may name, beside what the lesson imports.
_TYPES = {"int64": int64, "uint32": uint32, "uint64": uint64}


@dataclass(frozen=True)
class Version:
    """One kernel of an exercise in one launch: its source, the widths of its tiles, and the sizes of the launch.

    Its block is `wider` times as wide as the exercise's, and its grid has `across` times as many blocks in x and y.
    `empty`: it does nothing, so it is not verified.
    """

    exercise: str
    version: str
    source: str
    names: dict[str, int]
    wider: int
    shape: tuple[int, ...]
    empty: bool = False
    across: tuple[int, int] = (1, 1)

    def __str__(self) -> str:
        return f"{self.exercise}, {self.version}, {'×'.join(map(str, self.shape))}, {self.wider} times as wide"

    @property
    def about(self) -> Result:
        """What distinguishes this version from the exercise's others: the entries of its result that say so."""
        params = {"version": self.version, "wider": self.wider, "sizes": self.task.sizes_by_name(self.shape)}
        return {"exercise": self.exercise, "params": params}

    @property
    def task(self) -> Any:
        """What the kernel computes, and its launches."""
        return _EXERCISES[self.exercise].task

    def compiled(self) -> Any:
        """Return the kernel, compiled at its first launch."""
        scope: dict[str, Any] = {}
        exec(dict(lesson_cells(_lesson(self.exercise), SOLUTIONS))["imports"], scope)
        scope |= _TYPES | self.names
        known = set(scope)
        source, path = JIT + self.source.removeprefix(JIT), f"<{self}>"
        linecache.cache[path] = len(source), None, source.splitlines(True), path
        exec(compile(source, path, "exec"), scope)
        (kernel,) = (value for name, value in scope.items() if name not in known)
        return kernel

    def launch(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return (grid, block) for arrays of a shape."""
        grid, block = self.task.launch(*shape)
        grid = tuple(size * times for size, times in zip(grid, self.across, strict=False))
        if self.wider == 1:
            return grid, block
        return tuple(-(-size // self.wider) for size in grid), tuple(size * self.wider for size in block)


def _lesson(exercise: str) -> str:
    return next(lesson for lesson in LESSONS if f"exercise-{exercise}" in dict(lesson_cells(lesson, SOLUTIONS)))


def versions(names: Names = None) -> Iterator[Version]:
    """Yield the answer and what it is compared with for every exercise, or for those that are named, in each launch.

    Raise ValueError if a text to change does not occur once.
    """
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for name, entry in table.items():
        if names and name not in names:
            continue
        answer = dict(lesson_cells(_lesson(name), SOLUTIONS))[f"exercise-{name}"].rpartition("\n\n\ncheck(")[0]
        number = len(_EXERCISES[name].task.sizes_by_name(_EXERCISES[name].task.shapes[0]))
        for launch in entry.get("launches", ({},)):
            for version in ({"is": "answer", "changes": ()}, *entry["others"]):
                other = version.get("kernel", _EXERCISES[name].given).lstrip()
                source = answer if "changes" in version else other
                if version.get("empty"):
                    source = f"def nothing({', '.join(_EXERCISES[name].parameters)}):\n    return\n"
                for old, new in version.get("changes", ()):
                    if source.count(old) != 1:
                        raise ValueError(f"{old!r} occurs {source.count(old)} times in the answer to {name}")
                    source = source.replace(old, new)
                for old, new in launch.get("replaced", ()):
                    source = re.sub(rf"\b{old}\b", new, source)
                yield Version(
                    name,
                    version["is"],
                    source,
                    launch.get("names", {}),
                    launch.get("wider", 1),
                    tuple(launch.get("shape", (SIZES[number],) * number)),
                    version.get("empty", False),
                    tuple(version.get("grid", (1, 1))),
                )


def answers(names: Names, repeats: int, progress: Progress) -> Results:
    """Verify every version on the exercise's launches and on the timed one, time all in one shuffled run, and count."""
    results, timed = [], []
    for version in progress(list(versions(names)), str):
        kernel = version.compiled()
        grid, block = version.launch(version.shape)
        entry: Result = {**version.about, "grid": grid, "block": block}
        results.append(entry)
        wrong = [each for each in sizes_verified(version) if not _right(version, kernel, each) and not version.empty]
        if wrong:
            entry["wrong"] = f"another result at {wrong[0]}"
            continue
        entry |= resources(kernel, block)
        timed.append((version, entry, _call(version, kernel[grid, block], SETS)))
    times = time_shuffled([call for *_, call in timed], [(number,) for number in range(SETS)], repeats, KERNEL_SECONDS)
    for (version, entry, _), milliseconds in zip(timed, times, strict=True):
        median = float(np.median(milliseconds))
        entry |= {"warmups": 1, "milliseconds": list(milliseconds), "median": median}
        if len(version.shape) == 3:
            entry["gflops"] = 2 * prod(version.shape) / median / 1e6
    _count([entry for version, entry, _ in timed if not version.empty], names)
    return results


def sizes_verified(version: Version) -> list[tuple[int, ...]]:
    """Return the sizes on which a version is verified: the exercise's, enlarged with its block, and the timed ones."""
    return [*(tuple(size * version.wider for size in each) for each in version.task.launches), version.shape]


def _count(entries: list[Result], names: Names) -> None:
    """Add what Nsight Compute counts to the entries of right versions; nothing where it is missing."""
    right = [{key: entry[key] for key in ("exercise", "params")} for entry in entries]
    launch = f"from tools.lab.answers import launch_versions; launch_versions({names}, {right})"
    try:
        counts = parse_ncu(under_ncu(["-W", "ignore", "-c", launch], COUNTED), ())
    except NoProfilerError:
        return
    for entry, counted in zip(entries, counts, strict=True):
        entry["counted"] = {name: counted[name] for name in COUNTED if name in counted}


def launch_versions(names: Names, chosen: Results) -> None:
    """Launch those versions once that the entries in `chosen` describe, for a profiler."""
    for version in versions(names):
        if version.about in chosen:
            grid, block = version.launch(version.shape)
            _call(version, version.compiled()[grid, block], 1)(0)
    require().synchronize()


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


def _call(version: Version, launch: Callable[..., object], sets: int) -> Callable[[int], object]:
    """Return a function of a number that launches a version on the arrays with that number."""
    inputs, output = _values(version.exercise, version.shape)
    arrays = _arrays(tuple(each.shape for each in (*inputs, output)), sets)
    return lambda number: launch(*arrays[number])


@cache
def _arrays(shapes: tuple[tuple[int, ...], ...], sets: int) -> list[list[Any]]:
    """Return copies of arrays of random numbers on the device."""
    random, cuda = np.random.default_rng(0), require()
    return [[cuda.to_device(random.standard_normal(each, np.float32)) for each in shapes] for _ in range(sets)]
