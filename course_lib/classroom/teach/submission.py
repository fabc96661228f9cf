"""The cells of a student's notebook that answer each exercise. Only texts are read; nothing is executed."""

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .cells import ExerciseCell, calls, code_cells, parsed, places, released_test

#: Characters of a cell that are read; an answer has some hundred.
LONGEST = 64 * 1024
#: Bytes of a file. A lesson with outputs has 2 MB; a print by mistake may add 100.
LARGEST = 128 << 20


class Answer(NamedTuple):
    """The cell that answers an exercise, and the other cells of the notebook: those below it, then those above.

    ``remark`` says how the cell was found where its id was lost. ``source`` is None where there is none.
    """

    source: str | None
    others: Sequence[str] = ()
    remark: str = ""


def read(data: bytes) -> list[tuple[str, str]]:
    """Return the code cells of a notebook, (id, source) each; raise ValueError if it cannot be read."""
    if not data:
        raise ValueError("the file is no notebook: it is empty")
    try:
        return list(code_cells(json.loads(data.decode("utf-8-sig"))))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"the file is no notebook: {error}") from None


def contents(path: Path) -> bytes:
    """Return what is in a file; raise ValueError for one that is too large to be read."""
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"the file has {size >> 20:,} MiB: clear its outputs")
    return path.read_bytes()


def answers_in(data: bytes, lesson: str) -> dict[str, Answer]:
    """Return the answer of a notebook to each exercise of a lesson; raise ValueError if it cannot be read."""
    return answers(read(data), places(lesson))


def _is_answered(source: str, place: ExerciseCell) -> bool:
    """Whether a cell is more than what the lesson and its assignment give, indents included; three dots are given, in
    any edition."""
    given = ["", place.source, *([released_test(place)] if place.function else [])]
    text, *others = ([line.rstrip() for line in cell.strip().split("\n")] for cell in (source, *given))
    if text in others:
        return False
    values = (node.value for node in ast.walk(_tree("\n".join(text))) if isinstance(node, ast.Constant))
    return not any(value is ... or (isinstance(value, str) and value.strip() == "...") for value in values)


def answers(cells: list[tuple[str, str]], wanted: Mapping[str, ExerciseCell]) -> dict[str, Answer]:
    """Return the answer to each exercise: in the cell with its id, else, or if that is as it was given, where ``check``
    or ``explain`` is called, else where the function of its name is defined. Of several cells the last one counts."""
    return {name: _answer(cells, place) for name, place in wanted.items()}


#: By what a cell is found, the better the higher: its id, its call of ``check`` or ``explain``, its function.
_NOT_FOUND, _BY_FUNCTION, _BY_CALL, _BY_ID = range(4)


def _answer(cells: list[tuple[str, str]], place: ExerciseCell) -> Answer:
    """Return the answer to an exercise: of the cells that may be it the best one, and of several of those the last."""
    remarks = {
        _BY_ID: "",
        _BY_CALL: f'the cell does not have the lesson\'s id; it was found by "{place.exercise}".',
        _BY_FUNCTION: f"the cell does not have the lesson's id; it was found by the function {place.function}.",
    }

    def rank(number: int) -> tuple[bool, int, int]:
        id, source = cells[number]
        found_by = _found_by(id, source, place)
        return found_by in (_BY_ID, _BY_CALL) and _is_answered(source, place), found_by, number

    _, found_by, here = max(map(rank, range(len(cells))), default=(False, _NOT_FOUND, 0))
    if found_by == _NOT_FOUND:
        return Answer(None)
    texts = [source for _, source in cells]
    others = (text for text in (*texts[here + 1 :], *texts[:here]) if len(text) <= LONGEST)
    return Answer(texts[here][: LONGEST + 1], tuple(others), remarks[found_by])


def _found_by(id: str, source: str, place: ExerciseCell) -> int:
    """Return by what a cell is found as the answer to an exercise."""
    if id == place.cell:
        return _BY_ID
    if any(name == place.exercise for name, _ in calls(_tree(source))):
        return _BY_CALL
    return _BY_FUNCTION if place.function in _functions(source) else _NOT_FOUND


def _functions(source: str) -> set[str]:
    return {node.name for node in _tree(source).body if isinstance(node, ast.FunctionDef)}


def _tree(source: str) -> ast.Module:
    """The tree of a cell, an empty one if it is too long or no Python."""
    try:
        return parsed(source if len(source) <= LONGEST else "")
    except SyntaxError:
        return ast.Module([], [])
