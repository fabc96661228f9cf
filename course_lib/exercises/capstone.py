"""The capstone: a kernel of the reader's own, judged on what it computes, and scored by its predicted speed.

`attempt` first grades the kernel: its values equal NumPy's on ragged sizes, and it breaks no rule. Then a launch is
counted, and the timing model says how fast its machine code would run on large matrices on the recorded GPU. The
points follow the speed: each is for a sixth more. Beside it are the costs that explain it, each with limits from the
slow rungs of the ladder to the fast ones: the cost that keeps the fewest of them is what to improve. Without the
compiler there are no points, here or anywhere; the milestones count what the source does, so they are the same
everywhere.
"""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ..machine import measurements
from ..machine.timing_model.error_bound import largest_error
from ..simulator.findings import SimulatorError
from ..simulator.formatting import html_table, text_table
from ..simulator.hardware import MAX_THREADS_PER_BLOCK, ceil_div
from .capstone_costs import (
    INSTRUCTIONS,
    MOST_REGISTERS,
    WAVEFRONTS,
    Costs,
    Size,
    WrongProduct,
    costs,
    most_steps,
    no_room,
)
from .grading.exercise import Exercise, Hint, write
from .grading.grades import grade
from .grading.matrix_product import PRODUCT, grid_over
from .grading.validation import validate_submission
from .grading.verdict import FAILED, Check, Verdict
from .progress import score

NAME = "capstone"


#: The points. The first is for so many GFLOP/s, the last one for so many; a step between is a factor of 1.17.
OF, FIRST, LAST = 25, 1_000.0, 44_000.0
LIMITS = tuple(FIRST * (LAST / FIRST) ** (point / (OF - 1)) for point in range(OF))


@dataclass(frozen=True)
class Band:
    """A cost and its limits, from the first to the hardest.

    Without a value none is kept: a kernel without tiles shares nothing, so that it needs no barrier either.
    by_code: the machine code has it, and shows what to change.
    """

    name: str
    cost: Callable[[Costs], float | None]
    limits: tuple[float, ...]
    by_code: bool = False

    def kept(self, costs: Costs) -> int:
        """The number of limits that are kept."""
        value = self.cost(costs)
        return 0 if value is None else sum(value <= limit for limit in self.limits)


BANDS = (
    Band("sectors of global memory", lambda costs: costs.sectors, (0.5, 0.25, 0.125, 0.0625, 0.05)),
    Band(WAVEFRONTS, lambda costs: costs.wavefronts or None, (2, 1, 0.25, 0.2, 0.17), by_code=True),
    Band("barriers", lambda costs: costs.barriers or None, (0.125, 0.0625, 0.004, 0.0025, 0.0015)),
    Band(INSTRUCTIONS, lambda costs: costs.instructions, (5, 3, 2, 1.5, 1.15), by_code=True),
)
NOT_JUDGED = "not judged here"


@dataclass(frozen=True)
class Goal:
    """A step on the way, its check on the mechanism, and the rung of the ladder that has taken it.

    ``hint`` is the next thing to do in a kernel that has not taken this step. ``results``: the elements that a thread
    then computes; ``again``: the next thing in a kernel whose threads already compute as many.
    """

    title: str
    rung: str
    taken: Callable[[Costs], bool]
    hint: str
    results: int = 0
    again: str = ""


_KEEP = "read each element of the tiles once for each k, into a variable, and multiply all pairs of these variables"
MILESTONES = (
    Goal(
        "tiled",
        "tiled",
        lambda costs: costs.loads > 0 and costs.sectors <= 0.5,
        "load tiles of A and B into shared memory, so that a warp loads at most 0.5 sectors for each multiplication.",
    ),
    Goal(
        "2×2",
        "outer_product",
        lambda costs: costs.loads <= 1,
        "let a thread compute 2×2 elements, so that it makes at most one shared load for each multiplication.",
        results=4,
        again=f"{_KEEP}: at most one shared load for each multiplication.",
    ),
    Goal(
        "8×8",
        "register_2d",
        lambda costs: costs.loads <= 0.25,
        "let a thread compute 8×8 elements, so that it makes at most 16 shared loads for 64 multiplications.",
        results=64,
        again=f"{_KEEP}: at most 16 shared loads for 64 multiplications.",
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

    The score is None where the machine code, by which it is judged, is not there.

    ``remarks`` are what the grader found that breaks no rule, such as arithmetic in float64.
    """

    kernel: str
    tile: Size
    threads: Size
    costs: Costs
    remarks: tuple[str, ...] = ()

    @property
    def score(self) -> int | None:
        """The points: the limits of speed that are kept, by the lower end; 0 without a speed."""
        if not self.costs.compiled:
            return None
        least = self.costs.least or 0
        return sum(least >= limit for limit in LIMITS)

    @property
    def results(self) -> float:
        """The elements of C that a thread computes."""
        return prod(self.tile) / prod(self.threads)

    @property
    def milestones(self) -> int:
        """The number of milestones reached, one after the other; none where it is not known if a GPU can launch it."""
        if self.costs.doubt:
            return 0
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
        rows = [["for each multiplication of a warp", "yours", "limits kept", "next limit"]]
        for band in BANDS:
            if band.by_code and self.costs.gflops is None:
                rows.append([band.name, NOT_JUDGED, "", ""])
                continue
            value, kept = band.cost(self.costs), band.kept(self.costs)
            to_come = [format(limit, ".3g") for limit in band.limits[kept : kept + 1]] or ["–"]
            shown = "–" if value is None else format(value, ".3g")
            rows.append([band.name, shown, f"{kept} of {len(band.limits)}", *to_come])
        return [*rows, self._speed_row()]

    def _speed_row(self) -> list[str]:
        if self.costs.least is None or self.score is None:
            return ["GFLOP/s, at least", NOT_JUDGED, "", ""]
        to_come = [format(limit, ",.0f") for limit in LIMITS[self.score : self.score + 1]] or ["–"]
        return ["GFLOP/s, at least", format(self.costs.least, ",.0f"), f"{self.score} of {OF}", *to_come]

    def _steps(self) -> list[list[str]]:
        ladder = measurements.load("ladder")
        rows = [["milestone", "yours", "rung", "its GFLOP/s, measured"]]
        for number, milestone in enumerate(MILESTONES):
            mark = "✓" if number < self.milestones else "·"
            if self.costs.doubt:
                mark = NOT_JUDGED
            rows.append([milestone.title, mark, milestone.rung, f"{ladder.result(milestone.rung)['gflops']:,.0f}"])
        return rows

    def _said(self) -> list[str]:
        said = [f"Remark: {remark}" for remark in self.remarks]
        if self.costs.gflops is None:
            if self.costs.doubt:
                return [*said, f"Cannot time: {self.costs.unknown}.", f"No milestone is judged: {self.costs.doubt}."]
            return [*said, f"Cannot time: {self.costs.unknown}. Without a speed the milestones count.", *self._next()]
        said.append(f"The model predicts {_speed(self.costs.gflops)} GFLOP/s. The lower end counts.")
        return [*said, *self._next()]

    def _next(self) -> list[str]:
        """What to do next, one thing: by the machine code where that says it of the worst cost, or for a milestone."""
        said, advice = [], [told for _, told in self.costs.advice]
        if self.costs.gflops is not None:
            kept = [band.kept(self.costs) for band in BANDS]
            worst = BANDS[kept.index(min(kept))]
            if max(kept) > min(kept):
                said.append(
                    f"The cost that is furthest behind: {worst.name}, {min(kept)} of {len(worst.limits)} limits."
                )
            if self.milestones < len(MILESTONES):
                advice = [told for cost, told in self.costs.advice if cost == worst.name and max(kept) > min(kept)]
        if advice:
            return [*said, f"Next, by the machine code: {advice[0]}"]
        return [*said, *(f"Next, {each.title}: {self._hint(each)}" for each in MILESTONES[self.milestones :][:1])]

    def _hint(self, goal: Goal) -> str:
        """Return what to do for a milestone in a kernel whose threads compute `results` elements each."""
        if not goal.results or self.results <= 1:
            return goal.hint
        if self.results < goal.results:
            return f"a thread computes {self.results:.3g} elements of C. {goal.hint[:1].upper()}{goal.hint[1:]}"
        told = f"a thread computes {self.results:.3g} elements of C already, but reads elements again: {goal.again}"
        if self.costs.reads is not None and self.costs.reads < 0.75 * self.costs.loads:
            told += f" The compiler joins these loads as far as it can: {self.costs.reads:.2g} are left."
        return told

    def _head(self) -> str:
        (down, across), (x, y) = self.tile, self.threads
        points = f"{OF} points: {NOT_JUDGED}" if self.score is None else f"{self.score} of {OF} points"
        reached = f"{self.milestones} of {len(MILESTONES)} milestones"
        if self.costs.doubt:
            reached = f"{len(MILESTONES)} milestones: {NOT_JUDGED}"
        return f"{self.kernel}: right, {points}, {reached} (tile {down}×{across}, {x}×{y} threads)"

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
                NOT_JUDGED if row["score"] is None else f"{row['score']} of {OF}",
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
    task = exercise(tile, threads, seed or 0)
    begun = validate_submission(task, kernel, "kernel")
    told = no_room(kernel, threads) if timed and not isinstance(begun, Verdict) else ""
    if told:  # at once: no launch is tried
        return Verdict(NAME, FAILED, (Check(False, told),), Hint(f"{told}.", "no-room"), of=OF)
    verdict = grade(task, kernel, seed)
    if not verdict.passed:
        return replace(verdict, of=OF)
    name = getattr(kernel, "__name__", NAME)
    try:
        counted = costs(kernel, tile, threads, seed or 0, timed)
    except (WrongProduct, SimulatorError) as fault:
        told = f"a launch of several tiles: {fault}"
        return Verdict(NAME, FAILED, (Check(False, told),), Hint(str(fault), "several-tiles"), of=OF)
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
    most = (2 * down, 2 * across, 40) + drawn.integers(1, (down + 1, across + 1, 40))
    results = ceil_div(down * across, x * y)
    task = PRODUCT.replace(
        shapes=((down + 3, across + 5, 21), (2 * down, across, 64), (5, 7, 3), (1, 1, 1), tuple(most.tolist())),
        larger_sizes="one",
        launch=grid_over(down, across, block=(x, y)),
        elements_per_thread=lambda M, N, K: results,
        max_steps=most_steps(tile, threads, 320),
    )
    hints = {
        "out-of-bounds": "sizes are ragged: guard every load and every store by M, N and K.",
        "misaligned-access": "load4 needs a column that 4 divides, and rows whose length 4 divides.",
        "race": "a barrier must separate the stores to a tile from the loads of it, and those from the next stores.",
    }
    return write(NAME, task, hints=hints)


def _pair(given: Any, name: str, what: str) -> Size:
    numbers = tuple(given) if isinstance(given, tuple | list) else ()
    if len(numbers) != 2 or not all(isinstance(each, int) and each > 0 for each in numbers):
        raise ValueError(f"{name} is {given!r}: give two whole numbers of at least 1, {what}")
    return numbers[0], numbers[1]
