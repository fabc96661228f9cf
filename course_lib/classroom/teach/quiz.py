"""A quiz of a lesson with fresh numbers: five questions of ``docs/teach/quiz.toml``, for a learning platform.

Of four seeds in a row, from a multiple of four on, each question has its right answer once at a, b, c and d.
"""

import argparse
import itertools
import math
import textwrap
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from ...kernels import rung
from ...machine import measurements
from ...simulator.hardware import ceil_div
from ...trace.viewer.explore import run_product
from ..pages.frame import write
from . import quiz_files
from .cells import lesson_named, stored
from .quiz_files import Question
from .slides import FOLDER

FILE = FOLDER / "quiz.toml"  # in the repository alone
#: What a formula of the table can call.
_CALLS = {"__builtins__": {}, "up": ceil_div, "gcd": math.gcd, "min": min, "max": max, "round": round}
_RECORDINGS = ("twins", "ladder", "tensor", "wgmma", "ragged")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", help="its number, as 04")
    parser.add_argument("--seed", type=int, required=True, help="chooses the numbers: a whole number from 0 on")
    parser.add_argument("--for", dest="platform", choices=tuple(quiz_files.WRITERS), required=True)
    parser.add_argument("--out", type=Path, help="the file to write")


def run(options: argparse.Namespace) -> int:
    """Write a quiz; return 0."""
    name = lesson_named(options.lesson)
    ending, made = quiz_files.WRITERS[options.platform]
    path = options.out or Path(f"quiz-{name[:2]}-{options.seed}-{options.platform}{ending}")
    found = quiz(name[:2], options.seed)
    write(path.parent, {path.name: made(f"Lesson {name[:2]}, quiz {options.seed}", found)})
    print(f"{path}: {len(found)} questions; right: {', '.join('abcd'[each.right] for each in found)}")
    return 0


def table() -> dict[str, Any]:
    """Return the questions of each lesson; raise FileNotFoundError where the course is installed without them."""
    return tomllib.loads(stored(FILE))


def quiz(lesson: str, seed: int) -> list[Question]:
    """Return the questions of a lesson, such as "04"; raise ValueError for a seed below 0."""
    if seed < 0:
        raise ValueError(f"there is no seed {seed}: choose a whole number from 0 on.")
    row = table()[lesson]
    chance = Random(f"{lesson} {seed}")
    made = [*(_counted(each, chance) for each in row["question"]), _line(row["line"], chance), _faster(row["faster"])]
    return [_placed(each, (Random(f"{lesson} {n} {seed // 4}").randrange(4) + seed) % 4) for n, each in enumerate(made)]


def _placed(question: Question, place: int) -> Question:
    right, *others = question.answers
    return Question(question.ask, question.code, (*others[:place], right, *others[place:]), place)


def _counted(row: Mapping[str, Any], chance: Random) -> Question:
    drawn = draws(row)
    values, answers = drawn[chance.randrange(len(drawn))]
    because = [row["because"], *(f"Your answer {wrong.split(': ', 1)[1]}." for wrong in row["wrong"])]
    said = tuple(zip(map(_shown, answers), because, strict=True))
    return Question(row["ask"].format_map({name: f"{value:,}" for name, value in values.items()}), "", said, 0)


def draws(row: Mapping[str, Any]) -> list[tuple[dict[str, float], list[float]]]:
    """Return (numbers, the right answer and three wrong ones) of all choices whose answers differ."""
    formulas = [row["right"], *(wrong.split(": ", 1)[0] for wrong in row["wrong"])]
    chosen = [dict(zip(row["draw"], values, strict=True)) for values in itertools.product(*row["draw"].values())]
    found = [(values, [eval(formula, _CALLS, values) for formula in formulas]) for values in chosen]
    return [(values, answers) for values, answers in found if len(set(map(_shown, answers))) == 4]


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


@cache
def lines_of(kernel: str) -> tuple[str, dict[tuple[str, str], set[str]], set[str]]:
    """Return a kernel's source, the lines that make each kind of access, (space, op), and its statements."""
    run = run_product(rung(kernel), 8, 4, trace=True)
    assert run.trace is not None
    text = dict(run.source.lines)
    made: dict[tuple[str, str], set[str]] = {}
    for row in run.traffic.rows:
        if row.line in text and row.space in ("global", "shared"):
            made.setdefault((row.space, row.op), set()).add(text[row.line].strip())
    steps = {text[step.line].strip() for step in run.trace.steps if step.line in text}
    return textwrap.dedent("\n".join(text.values())), made, steps


def _line(kernel: str, chance: Random) -> Question:
    code, made, steps = lines_of(kernel)
    space, op = chance.choice(sorted(made))
    right = chance.choice(sorted(made[space, op]))
    others = chance.sample(sorted(steps - made[space, op]), 3)
    kind = {"load": "loads from", "store": "stores to"}[op]
    answers = [(right, f"The simulator counts it: this line {kind} {space} memory."), *((line, "") for line in others)]
    return Question(f"Which of these lines {kind} {space} memory?", code, tuple(answers), 0)


def _faster(row: Mapping[str, Any]) -> Question:
    (fast, of_fast), (slow, of_slow) = (_measured(name) for name in row["kernels"])
    n = row.get("n") or max(of_fast.keys() & of_slow.keys())
    gpu = measurements.load("ladder").provenance["gpu"]
    told = f"Measured on an {gpu}: {of_fast[n]:,.0f} and {of_slow[n]:,.0f} GFLOP/s."
    if of_fast[n] <= of_slow[n]:
        raise ValueError(f"quiz.toml says that {fast} is faster than {slow}, and the recording does not.")
    answers = [(fast, row["why"], told), (fast, row["wrong"], ""), (slow, row["slower"], ""), (slow, row["other"], "")]
    ask = f"Two kernels were measured with n = {n:,}. Which one is faster, and why?"
    return Question(ask, "", tuple((f"{name}: {reason}.", said) for name, reason, said in answers), 0)


def _measured(name: str) -> tuple[str, dict[int, float]]:
    """Return a recorded kernel's title, and its GFLOP/s by n."""
    found = [
        result
        for recording in _RECORDINGS
        for result in measurements.load(recording).results
        if name in (result.get("name"), result.get("rung")) and "gflops" in result
    ]
    title = next((result["title"] for result in found if "title" in result), name)
    return title, {result["M"]: result["gflops"] for result in reversed(found)}
