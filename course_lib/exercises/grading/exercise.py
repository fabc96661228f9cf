"""The definition of an exercise: its launches, its right values, its budgets, and its advice."""

import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...simulator.hardware import WARP_SIZE
from ...simulator.repairs.table import RepairRow
from .budget_counts import BudgetCounts
from .source import Submission

#: The sizes that a launch is made from: (M, N, K), unless the exercise names others.
Shape = tuple[int, ...]
Array = NDArray[Any]
#: (grid, block)
GridAndBlock = tuple[tuple[int, ...], tuple[int, ...]]

#: Blocks are 8×8 threads, two warps, so that a missing barrier between warps has an effect.
TILE = 8
FILL_IN, WRITE, CHEAPER, FIND = "fill in", "write", "make it cheaper", "find the bug"


def differing(got: Array, want: Array) -> NDArray[np.bool_]:
    """A mask of the wrong elements; NaN is always wrong."""
    return ~np.isclose(got, want, rtol=1e-5, atol=1e-5)


@dataclass(frozen=True)
class Outcome:
    """One launch of the student's kernel: ``got`` and ``want`` are its output and the right values; ``inputs`` are the
    arrays that it reads, ``names`` its own names for the arrays of the exercise, ``counts`` what was counted beside the
    traffic, and ``source`` is its text, which is needed to count loops."""

    shape: Shape
    inputs: tuple[Array, ...]
    got: Array
    want: Array
    run: Any
    counts: BudgetCounts
    names: Mapping[str, str]
    source: Submission | None = None

    def own_name(self, array: str) -> str:
        """The kernel's name for an array of the exercise."""
        return self.names.get(array, array)

    @property
    def differs(self) -> NDArray[np.bool_]:
        """A mask of the output's wrong elements; NaN, which marks unstored elements, is always wrong."""
        return differing(self.got, self.want)

    def count(self, what: str, op: str, array: str | None = None, space: str = "global") -> int:
        """The sum of "accesses", "requests", "sectors" or "wavefronts" for one array, or for all of the space."""
        return sum(
            getattr(row, what)
            for row in self.run.traffic.rows
            if (row.space, row.op) == (space, op) and (array is None or self.own_name(array) == row.array)
        )

    def most_per_thread(self, space: str, op: str, array: str | None = None) -> int:
        """The accesses of this kind, to one array or to all, by the thread with the most of them."""
        if not self.count("accesses", op, array, space):
            return 0
        own = None if array is None else self.own_name(array)
        return int(self.run.traffic.per_thread(space=space, op=op, array=own).max(initial=0))

    def store_to_input(self) -> tuple[str, int] | None:
        """A global array other than the output that the kernel stores into, and the line of the store; else None."""
        *inputs, _ = self.names.values()
        for row in self.run.traffic.rows:
            if row.space == "global" and row.op != "load" and row.array in inputs:
                return row.array, row.line
        return None

    def iterations(self) -> int:
        """The iterations of all loops, also inner ones, in the warp with the most of them."""
        return self.counts.most_iterations(self.source.loop_lines if self.source else ())

    def iterations_not_unrolled(self) -> int:
        """The iterations without the loops that a compiler unrolls."""
        return self.counts.most_iterations(
            self.source.loop_lines - self.source.unrolled_loop_lines if self.source else ()
        )


#: Whether a budget counts for a launch of this shape.
ShapeTest = Callable[[Shape], bool]


def every_shape(shape: Shape) -> bool:
    return True


def format_number(value: float, digits: int = 4) -> str:
    """A number as a finding shows it: a fraction has so many digits."""
    return f"{value:g}" if float(value).is_integer() else f"{value:.{digits}g}"


def distinguishable(one: float, other: float) -> tuple[str, str]:
    """Two numbers as a finding shows them: with more digits where fewer do not tell them apart."""
    shown = format_number(one), format_number(other)
    return shown if shown[0] != shown[1] else (format_number(one, 6), format_number(other, 6))


#: The signs of formulas that Python writes in another way.
_SIGNS = str.maketrans({"·": "*", "⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")"})


@dataclass(frozen=True)
class Budget:
    """A limit for a kernel's cost: if ``measure(outcome)`` exceeds it, the student reads ``hint``.

    ``name`` says what is counted, ``formula`` is the limit as the exercise states it, from the sizes of a launch and
    the width T of the tiles; ``limit`` is the formula where the exercise states the limit in words. Launches for which
    ``where(shape)`` is false are not measured. ``traced``: ``measure`` needs the trace. Below ``minimum`` the student
    reads ``too_few``: a kernel that does without what it counts is not cheaper, but another one. ``known_costs`` are
    those of known mistakes, as formulas like ``formula``, each with the advice in place of ``hint``. ``lines`` finds
    the lines of an outcome that the hint names.
    """

    name: str
    formula: str
    measure: Callable[[Outcome], float]
    hint: str
    limit: str = ""
    where: ShapeTest = every_shape
    traced: bool = False
    minimum: int = 0
    too_few: str = ""
    known_costs: Mapping[str, str] = field(default_factory=dict)
    lines: Callable[[Outcome], Iterable[int]] = lambda outcome: ()

    def allowed(self, sizes: Mapping[str, int]) -> float:
        """The limit for a launch of these sizes, by their names."""
        return _value(self.limit or self.formula, sizes)

    def advice(self, costs: Sequence[tuple[float, Mapping[str, int]]]) -> str:
        """The advice for costs, each with the sizes of its launch: that of a mistake that costs as much in each."""
        for formula, advice in self.known_costs.items():
            if all(cost == _value(formula, sizes) for cost, sizes in costs):
                return advice
        return self.hint


def _value(formula: str, sizes: Mapping[str, int]) -> float:
    """The value of a formula for a launch of these sizes, by their names."""
    known = {"ceil": math.ceil, "floor": math.floor, "none": 0, "T": TILE}
    return float(eval(formula.translate(_SIGNS), known, dict(sizes)))


#: How much the last size of the additional launch exceeds that of the others: more than a constant that a student may
#: have guessed, such as 32 or 64, since the others are about 20.
_BEYOND_OTHER_LAUNCHES = 40
#: How much a size that is drawn exceeds those of all other launches, at most, or by how many of its multiples, if these
#: are more; and how many times the work of the largest of them the drawn launch has, at most.
_MOST_BEYOND, _MOST_MULTIPLES, MOST_WORK = 64, 8, 3


@dataclass(frozen=True)
class Task:
    """The computation that a kernel must do, and the launches on which it is checked.

    ``inputs(rng, *shape)`` makes the arrays that the kernel reads, ``answer(*inputs)`` the output that it must
    store; ``launch(*shape)`` is (grid, block). The output is the last of ``parameters`` and starts full of NaN.
    ``element`` says in Python how one element of the output is computed; the naive kernel follows from it.
    ``elements_per_thread(*shape)`` is the number of elements of the output that a thread stores, if the work is divided
    as the exercise says. ``larger_sizes`` says which sizes may be larger than those of ``shapes``: "every" one, in a
    further launch and in the drawn one; "one", in the drawn one alone; or "none". ``max_steps`` is the limit for the
    loop iterations of one warp. ``finished_launch(*shape)`` is one more launch for an answer that passes, where
    ``launch`` also serves the given kernel.
    """

    parameters: tuple[str, ...]
    inputs: Callable[..., tuple[Array, ...]]
    answer: Callable[..., Array]
    launch: Callable[..., GridAndBlock]
    shapes: tuple[Shape, ...]
    element: str
    sizes: str = "(M, N, K)"
    elements_per_thread: Callable[..., int] = lambda *shape: 1
    larger_sizes: str = "every"
    max_steps: int = 3_000
    finished_launch: Callable[..., GridAndBlock] | None = None

    def sizes_by_name(self, shape: Shape) -> dict[str, int]:
        """Return the sizes of a launch by their names in ``sizes``."""
        return dict(zip(re.findall(r"\w+", self.sizes), shape, strict=True))

    def replace(self, **changes: Any) -> "Task":
        """Return the task with the given fields changed."""
        return replace(self, **changes)

    @property
    def output(self) -> str:
        """The array that the kernel must store into."""
        return self.parameters[-1]

    @property
    def launches(self) -> tuple[Shape, ...]:
        """``shapes``, and one more that is larger in every size.

        It fails a kernel that works only for the sizes of ``shapes``. A number that divides a size in all of them
        divides it in the additional one, and sizes that are equal in all of them are equal there.
        """
        if self.larger_sizes != "every":
            return self.shapes
        sizes = tuple(zip(*self.shapes, strict=True))
        step = {size: math.gcd(*size) for size in sizes}
        far = {size: max(size) + step[size] for size in sizes}
        last = sizes[-1]
        far[last] = max(last) + step[last] * -(-_BEYOND_OTHER_LAUNCHES // step[last])
        return (*self.shapes, tuple(far[size] for size in sizes))


class Hint(str):
    """Advice, with the id by which tests and statistics know it, whatever its words are; made of any name."""

    id: str

    def __new__(cls, text: str, id: str = "") -> "Hint":
        hint = super().__new__(cls, text)
        hint.id = "-".join(re.findall(r"\w+", id.lower().replace("_", " ")))
        return hint


#: A function that returns advice if it recognises a mistake in an outcome.
Diagnosis = Callable[[Outcome], str | None]
#: Advice by the kind of a finding, or by the kind and the array: ``race of C``, ``race in shared memory``.
Hints = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Exercise:
    """An exercise for `grade`: a task, and how a kernel for it is graded.

    The first advice of ``diagnoses`` is shown; that of ``symptoms``, which say where values are wrong and not why, only
    if no change is proven. ``given`` is the kernel as the lesson shows it, if the exercise changes
    one; in other exercises, three dots mark the lines to write. ``given_lines`` are the lesson's lines beside those
    dots, which no hint may blame. ``rows`` are mistakes of its own, which come before those of the table. ``why`` is
    said after the times that were measured of its solution (`measured`), where they alone would not show what the
    exercise saves. Each of the functions below makes one kind of exercise.
    """

    name: str
    task: Task
    budgets: tuple[Budget, ...]
    hints: Hints
    diagnoses: tuple[Diagnosis, ...] = ()
    symptoms: tuple[Diagnosis, ...] = ()
    given: str = ""
    given_lines: tuple[str, ...] = ()
    rows: tuple[RepairRow, ...] = ()
    why: str = ""
    kind: str = WRITE

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the kernel."""
        return self.task.parameters

    def draw_shape(self, seed: int) -> Shape:
        """Draw the sizes of one more launch, larger than all others if the task ``larger_sizes``, or one of them.

        As in `Task.launches`, divisors and equal sizes stay. If a budget is measured for some shapes only, every second
        seed gives multiples of a warp's width, which all of them measure.
        """
        task, rng = self.task, np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        sizes = tuple(zip(*task.launches, strict=True))
        step = {size: math.gcd(*size) for size in sizes}
        some_shapes_only = any(budget.where is not every_shape for budget in self.budgets)
        if task.larger_sizes == "every" and some_shapes_only and rng.integers(2):
            step = {size: math.lcm(each, WARP_SIZE) for size, each in step.items()}
        larger = {"every": sizes, "one": (sizes[rng.integers(len(sizes))],), "none": ()}[task.larger_sizes]
        most = MOST_WORK * max(map(math.prod, task.launches))
        for tries in range(5_000):  # half as many sizes after each hundred, until one is not too much work
            chosen = {}
            for size, each in step.items():
                if size in larger:
                    first = max(size) // each + 1
                    count = max(_MOST_BEYOND // each, _MOST_MULTIPLES) >> tries // 100
                else:
                    first, count = 1, max(size) // each
                chosen[size] = each * (first + int(rng.integers(max(count, 1))))
            shape = tuple(chosen[size] for size in sizes)
            grid, block = task.launch(*shape)
            if math.prod(shape) <= min(most, task.max_steps // 2 * math.prod((*grid, *block))):
                break
        return shape

    @property
    def traced(self) -> bool:
        """Whether a budget needs the trace of a launch, which takes a third of its time."""
        return any(budget.traced for budget in self.budgets)

    @property
    def points(self) -> int:
        """The points: one for the rules, one for the values, one for each budget. A kernel gets those of its checks if
        neither the given kernel nor the naive one passes them all."""
        return 2 + len(self.budgets)


def fill_in(name: str, task: Task, *budgets: Budget, **more: Any) -> Exercise:
    """Return an exercise in which a few lines of a kernel are missing; ``more`` are other fields of it."""
    return Exercise(name, task, budgets, kind=FILL_IN, **more)


def write(name: str, task: Task, *budgets: Budget, **more: Any) -> Exercise:
    """Return an exercise in which little more than the kernel's first line is given."""
    return Exercise(name, task, budgets, kind=WRITE, **more)


def make_cheaper(name: str, task: Task, given: str, *budgets: Budget, **more: Any) -> Exercise:
    """Return an exercise on a ``given`` kernel that is correct but costs too much."""
    return Exercise(name, task, budgets, given=given, kind=CHEAPER, **more)


def find_bug(name: str, task: Task, given: str, *budgets: Budget, **more: Any) -> Exercise:
    """Return an exercise on a ``given`` kernel that is wrong."""
    return Exercise(name, task, budgets, given=given, kind=FIND, **more)
