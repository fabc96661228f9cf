"""The kernel of a student's capstone, judged and scored from its text. Runs in a process of `sandbox.py`."""

import ast
import contextlib
import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ...exercises import LESSONS
from ...exercises.capstone import BANDS, NAME, attempt
from ...exercises.capstone_costs import Size
from ...exercises.grading.verdict import Verdict
from .cells import ExerciseCell, lesson_cells, parsed
from .extract import Missing, Refused, extract, trees_of
from .judge import MISSING, REFUSED, last_function, no_answer, reason
from .names import Unknown, constant, names_of
from .similarity import nearest, written
from .submission import Answer, best

#: The cell of the lesson, what it calls the kernel, and how it launches it.
_CELL, _KERNEL, _SIZES = "own-kernel", "mine", ("TILE", "THREADS")
_PARAMETERS = ("A", "B", "C")
#: So many statements, beside those that the lesson gives, are the same as in a kernel of the course by chance.
_CHANCE = 9
#: The status of a kernel that has a place.
RANKED = "ranked"


@dataclass(frozen=True)
class Kernel:
    """A student's kernel: what it costs, or why it has no place. ``units`` are its statements, to find equal ones,
    and ``course`` is the kernel of the course that it is most like, and the part that they share."""

    status: str
    hint: str = ""
    points: int = 0
    milestones: int = 0
    costs: tuple[float | None, ...] = (None,) * len(BANDS)
    tile: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    units: tuple[str, ...] = ()
    course: tuple[str, float] = ("", 0.0)
    seconds: float = 0.0


def lesson() -> str:
    """Return the name of the capstone's lesson."""
    return next(name for name in LESSONS if any(cell == _CELL for cell, _ in lesson_cells(name)))


@cache
def _place() -> ExerciseCell:
    source = dict(lesson_cells(lesson()))[_CELL]
    return ExerciseCell(NAME, _CELL, source, _KERNEL)


def judged(name: str, data: bytes, seed: int | None = None, timed: bool = True) -> Kernel:
    """Judge the kernel in a notebook or an archive, of which nothing is executed; raise ValueError if it has none.

    seed: draws sizes and numbers. timed: compile it as well, once the simulator has accepted it, and play its code.
    """
    began = time.process_time()
    answer = best(name, data, lesson(), {NAME: _place()})["answers"][NAME]
    try:
        found = _judged(answer, seed, timed)
    except Missing as nothing:
        found = Kernel(MISSING, str(nothing))
    except (Refused, SyntaxError) as error:
        found = Kernel(*no_answer(error))
    except ValueError as refusal:
        found = Kernel(REFUSED, f"{refusal}.".replace("..", "."))
    return replace(found, seconds=round(time.process_time() - began, 2))


def _judged(answer: Answer, seed: int | None, timed: bool) -> Kernel:
    if answer.source is None:
        return Kernel(MISSING, "the notebook has no cell with a kernel of this lesson.")
    course = [source for name, source in lesson_cells(lesson()) if name != _CELL]
    cell = parsed(answer.source)
    called = _attempted(cell)
    wanted = called[0].id if called and isinstance(called[0], ast.Name) else _KERNEL
    found = extract(NAME, wanted, _PARAMETERS, answer.source, answer.others, course, simulated=True)
    given = last_function(_place().source)
    functions = found.tree, *found.helpers
    units, like = written(given, *functions), nearest(given, *functions)
    if like[1] == 1 and len(units) > _CHANCE:
        raise Refused(f"this is {like[0]} of the course with other names at most; only a student's own kernel counts.")
    names = names_of([*trees_of([*course, *answer.others]), cell])
    tile, threads = (_size(node, name, names) for node, name in zip([*called[1:], None, None], _SIZES, strict=False))
    result = attempt(found.function, tile, threads, keep=False, seed=seed, timed=timed)
    if isinstance(result, Verdict):
        return Kernel(result.status, reason(result), tile=tile, threads=threads)
    costs = tuple(band.cost(result.costs) for band in BANDS)
    why = result.costs.unknown
    unknown = f"the model cannot time this kernel: {why}." if why else ""
    return Kernel(RANKED, unknown, result.score, result.milestones, costs, tile, threads, units, like)


def _attempted(cell: ast.Module) -> list[ast.expr]:
    """The kernel, the tile and the threads that the last call of ``attempt`` in a cell is given."""
    called = [n for n in ast.walk(cell) if isinstance(n, ast.Call) and ast.unparse(n.func) == "attempt" and n.args]
    if not called:
        return []
    by_name = {word.arg: word.value for word in called[-1].keywords}
    return [*called[-1].args, *(by_name[name] for name in ("tile", "threads") if name in by_name)]


def _size(node: ast.expr | None, name: str, names: dict[str, Any]) -> Size:
    with contextlib.suppress(Unknown):
        match constant(node or ast.Name(name), names):
            case (int(first), int(second)):
                return first, second
    raise Refused(f"{name} is no pair of whole numbers that the grader can read; write it as {name} = (16, 16).")
