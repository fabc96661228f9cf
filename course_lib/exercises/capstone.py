"""The capstone: a kernel of the reader's own, judged on what it computes, and scored on what it costs.

`attempt` first grades the kernel: its values equal NumPy's on ragged sizes, and it breaks no rule. Then a launch is
counted, and its machine code is played as a launch on large matrices would run it on the recorded GPU. Each cost
reaches up to five limits, and each limit is a point; but the worst cost sets the speed, so every other one counts at
most a point more than the worst. The limits are rules of the score; beside them are the recorded speeds of the ladder.
"""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..machine import measurements
from ..machine.waiting.error_bound import largest_error
from ..simulator.findings import SimulatorError
from ..simulator.hardware import MAX_THREADS_PER_BLOCK, ceil_div
from ..simulator.tables import html_table, text_table
from .capstone_costs import MOST_REGISTERS, Costs, Size, WrongProduct, costs
from .grading.exercise import Exercise, write
from .grading.grades import grade
from .grading.matrices import PRODUCT, grid_over
from .grading.verdict import FAILED, Check, Verdict
from .progress import score

NAME = "capstone"


@dataclass(frozen=True)
class Band:
    """A cost and its limits, from the first to the hardest: each one that is kept gives a point.

    Without a value there is no point: a kernel without tiles shares nothing, so that it needs no barrier either.
    """

    name: str
    cost: Callable[[Costs], float | None]
    limits: tuple[float, ...]
    rises: bool = False  # more is better
    form: str = ".3g"
    by_code: bool = False  # the machine code shows what to change

    def points(self, costs: Costs) -> int:
        """The number of limits that are kept."""
        value = self.cost(costs)
        if value is None:
            return 0
        return sum(value >= limit if self.rises else value <= limit for limit in self.limits)


BANDS = (
    Band("sectors of global memory", lambda costs: costs.sectors, (0.5, 0.25, 0.125, 0.0625, 0.05)),
    Band("wavefronts of shared memory", lambda costs: costs.wavefronts or None, (2, 1, 0.25, 0.2, 0.17)),
    Band("barriers", lambda costs: costs.barriers or None, (0.125, 0.0625, 0.004, 0.0025, 0.0015)),
    Band("executed instructions", lambda costs: costs.instructions, (5, 3, 2, 1.5, 1.15), by_code=True),
    Band(
        "GFLOP/s, at least",
        lambda costs: costs.least,
        (4e3, 8e3, 16e3, 25e3, 40e3),
        rises=True,
        form=",.0f",
        by_code=True,
    ),
)
OF = sum(len(band.limits) for band in BANDS)


@dataclass(frozen=True)
class Goal:
    """A step on the way, its check on the mechanism, and the rung of the ladder that has taken it.

    ``hint`` is the next thing to do in a kernel that has not taken this step.
    """

    title: str
    rung: str
    taken: Callable[[Costs], bool]
    hint: str


MILESTONES = (
    Goal(
        "tiled",
        "tiled",
        lambda costs: costs.wavefronts > 0 and costs.sectors <= 0.5,
        "load tiles of A and B into shared memory, so that a warp loads at most 0.5 sectors for each multiplication.",
    ),
    Goal(
        "2×2",
        "outer_product",
        lambda costs: costs.loads <= 1,
        "let a thread compute 2×2 elements, so that it makes at most one shared load for each multiplication.",
    ),
    Goal(
        "8×8",
        "register_2d",
        lambda costs: costs.loads <= 0.25,
        "let a thread compute 8×8 elements, so that it makes at most 16 shared loads for 64 multiplications.",
    ),
    Goal(
        "vectors",
        "vectorized",
        lambda costs: costs.loads <= 0.08,
        "read the tiles with load4, so that one load brings four elements: about 4 loads for 64 multiplications.",
    ),
    Goal(
        "two buffers",
        "software_pipelined",
        lambda costs: costs.overlap >= 0.3,
        "load the next pair of tiles while you multiply this one: into registers, or into a second buffer.",
    ),
)


@dataclass(frozen=True, repr=False)
class Attempt:
    """A kernel that passed the gates: its costs, its score of `OF`, and the milestones that it has reached.

    ``remarks`` are what the grader found that breaks no rule, such as arithmetic in float64.
    """

    kernel: str
    tile: Size
    threads: Size
    costs: Costs
    remarks: tuple[str, ...] = ()

    @property
    def points(self) -> tuple[int, ...]:
        """The points of each band that count: at most one more than those of the lowest; none without a speed."""
        if self.costs.gflops is None:
            return (0,) * len(BANDS)
        kept = [band.points(self.costs) for band in BANDS]
        return tuple(min(points, min(kept) + 1) for points in kept)

    @property
    def score(self) -> int:
        """The points of all bands."""
        return sum(self.points)

    @property
    def milestones(self) -> int:
        """The number of milestones reached, one after the other."""
        taken = [milestone.taken(self.costs) for milestone in MILESTONES]
        return [*taken, False].index(False)

    def record(self) -> dict[str, Any]:
        """The row of the table of attempts."""
        return {
            "kernel": self.kernel,
            "tile": list(self.tile),
            "threads": list(self.threads),
            "score": self.score,
            "milestones": self.milestones,
            "gflops": self.costs.gflops and round(self.costs.gflops),
        }

    def _bands(self) -> list[list[str]]:
        rows = [["for each multiplication of a warp", "yours", "points", "next limit"]]
        for band, points in zip(BANDS, self.points, strict=True):
            value = band.cost(self.costs)
            to_come = [format(limit, band.form) for limit in band.limits][band.points(self.costs) :][:1]
            shown = "–" if value is None else format(value, band.form)
            rows.append([band.name, shown, f"{points} of {len(band.limits)}", *(to_come or ["–"])])
        return rows

    def _steps(self) -> list[list[str]]:
        ladder = measurements.load("ladder")
        rows = [["milestone", "yours", "rung", "its GFLOP/s, measured"]]
        for number, milestone in enumerate(MILESTONES):
            mark = "✓" if number < self.milestones else "·"
            rows.append([milestone.title, mark, milestone.rung, f"{ladder.result(milestone.rung)['gflops']:,.0f}"])
        return rows

    def _said(self) -> list[str]:
        said = [f"Remark: {remark}" for remark in self.remarks]
        if self.costs.gflops is None:
            return [*said, f"Cannot time: {self.costs.unknown}. Without a speed the milestones count.", *self._next()]
        said.append(f"The model predicts {_speed(self.costs.gflops)} GFLOP/s. The lower end counts.")
        return [*said, *self._next()]

    def _next(self) -> list[str]:
        """What to do next, one thing: by the machine code where that sets the points, or for the next milestone."""
        least, most = min(self.points), max(self.points)
        worst = BANDS[self.points.index(least)]
        said = [f"No cost counts more than {most} of 5 until this one improves: {worst.name}."] if most > least else []
        by_code = most > least and worst.by_code or self.milestones == len(MILESTONES)
        if by_code and self.costs.advice:
            return [*said, f"Next, by the machine code: {self.costs.advice[0]}"]
        following = MILESTONES[self.milestones : self.milestones + 1]
        return [*said, *(f"Next, {milestone.title}: {milestone.hint}" for milestone in following)]

    def _head(self) -> str:
        (down, across), (x, y) = self.tile, self.threads
        return (
            f"{self.kernel}: right, {self.score} of {OF} points, {self.milestones} of {len(MILESTONES)} "
            f"milestones (tile {down}×{across}, {x}×{y} threads)"
        )

    def __repr__(self) -> str:
        tables = [_text(self._bands()), _text(self._steps())]
        return "\n".join([self._head(), *tables, *self._said()])

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self._said())
        return f"<p><b>{html.escape(self._head())}</b></p>{html_table(self._bands())}{html_table(self._steps())}{said}"


@dataclass(frozen=True, repr=False)
class Attempts:
    """The reader's attempts, the first one first."""

    rows: tuple[dict[str, Any], ...]

    def _cells(self) -> list[list[str]]:
        head = ["attempt", "kernel", "tile", "threads", "points", "milestones", "GFLOP/s by the model"]
        rows = [
            [
                str(number),
                str(row["kernel"]),
                "×".join(map(str, row["tile"])),
                "×".join(map(str, row["threads"])),
                f"{row['score']} of {OF}",
                f"{row['milestones']} of {len(MILESTONES)}",
                "unknown" if row["gflops"] is None else _speed(row["gflops"]),
            ]
            for number, row in enumerate(self.rows, 1)
        ]
        return [head, *rows]

    def __repr__(self) -> str:
        return _text(self._cells()) if self.rows else _NO_ATTEMPT

    def _repr_html_(self) -> str:
        return html_table(self._cells()) if self.rows else f"<p>{_NO_ATTEMPT}</p>"


_NO_ATTEMPT = "No kernel has passed the gates yet."


def _speed(gflops: float) -> str:
    """Return a predicted speed with its error."""
    return f"{round(gflops, -2):,.0f} ± {100 * largest_error():.0f} %"


def _text(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"  {line}" for line in text_table(rows))


def attempt(
    kernel: Any, tile: Size, threads: Size, keep: bool = True, seed: int | None = None, timed: bool = True
) -> Verdict | Attempt:
    """Grade a kernel for C = A·B, and score it; what passes is added to `attempts`, unless ``keep`` is false.

    tile: rows and columns of C that a block computes. threads: those of a block, x first. The grid has a block for
    each tile, x along the columns of C. seed: draws sizes and numbers. timed: compile it and predict its speed,
    without which there are no points. Returns the Verdict of a kernel that is not begun or wrong. Raises ValueError
    for sizes that no launch can have.

    >>> tried = attempt(rung("tiled").make(), tile=(16, 16), threads=(16, 16))
    >>> f"{tried.costs.wavefronts:.0f} wavefronts of shared memory for each multiplication of a warp"
    '2 wavefronts of shared memory for each multiplication of a warp'
    """
    verdict = grade(exercise(tile, threads, seed or 0), kernel, seed)
    if not verdict.passed:
        return replace(verdict, of=OF)
    name = getattr(kernel, "__name__", NAME)
    try:
        counted = costs(kernel, tile, threads, seed or 0, timed)
    except (WrongProduct, SimulatorError) as fault:
        return Verdict(NAME, FAILED, (Check(False, f"a launch of several tiles: {fault}"),), str(fault), of=OF)
    result = Attempt(name, (tile[0], tile[1]), (threads[0], threads[1]), counted, verdict.remarks)
    if not keep:
        return result
    score().try_out(result.record())
    best = max(row["milestones"] for row in score().attempts)
    score().solve(NAME, best, len(MILESTONES))
    return result


def attempts() -> Attempts:
    """The table of the reader's attempts; they are kept with the lesson's score.

    >>> attempts()
    No kernel has passed the gates yet.
    """
    return Attempts(tuple(score().attempts))


def exercise(tile: Size, threads: Size, seed: int = 0) -> Exercise:
    """The task of a kernel for blocks of this shape: the gates of `attempt`. The seed draws the largest sizes."""
    down, across = _pair(tile, "tile", "(rows, columns)")
    x, y = _pair(threads, "threads", "(x, y)")
    if x * y > MAX_THREADS_PER_BLOCK:
        raise ValueError(f"threads is {x}×{y}: a block has at most {MAX_THREADS_PER_BLOCK:,}")
    if down * across > MOST_REGISTERS * x * y:
        raise ValueError(
            f"tile is {down}×{across}: with {x}×{y} threads that is more elements of C for each than the "
            f"{MOST_REGISTERS} registers of a thread"
        )
    drawn = np.random.default_rng([seed, down, across])
    most = (2 * down, 2 * across, 220) + drawn.integers(1, (down + 1, across + 1, 100))
    results = ceil_div(down * across, x * y)
    task = PRODUCT.but(
        shapes=((down + 3, across + 5, 21), (2 * down, across, 64), (5, 7, 3), (1, 1, 1), tuple(most.tolist())),
        grows="one",
        launch=grid_over(down, across, block=(x, y)),
        share=lambda M, N, K: results,
        max_steps=max(200_000, 4 * 3 * 3 * 320 * results),  # four loops around each multiplication, in 3×3 blocks
    )
    hints = {
        "out-of-bounds": "sizes are ragged: guard every load and every store by M, N and K.",
        "misaligned-access": "load4 needs a column that 4 divides, and rows whose length 4 divides.",
        "race": "a barrier must separate the stores to a tile from the loads of it, and those from the next stores.",
    }
    return write(NAME, task, hints=hints)


def _pair(given: Any, name: str, what: str) -> Size:
    numbers = tuple(given) if isinstance(given, tuple | list) else ()
    if len(numbers) != 2 or not all(isinstance(n, int) and n > 0 for n in numbers):
        raise ValueError(f"{name} is {given!r}: give two whole numbers of at least 1, {what}")
    return numbers[0], numbers[1]
