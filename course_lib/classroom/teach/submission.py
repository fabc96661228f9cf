"""The cells of a student's notebook that answer each exercise. Only texts are read; nothing is executed."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cells import ExerciseCell, calls, code_cells, parsed

#: Characters of a cell that are read; an answer has some hundred.
LONGEST = 64 * 1024


@dataclass(frozen=True)
class Answer:
    """The cell that answers an exercise, and the other cells of the notebook: those below it, then those above.

    ``remark`` says how the cell was found where its id was lost. ``source`` is None where there is none.
    """

    source: str | None
    others: tuple[str, ...] = ()
    remark: str = ""


def read(path: Path) -> list[tuple[str, str]]:
    """Return the code cells of a notebook, (id, source) each; raise ValueError if it cannot be read."""
    try:
        return list(code_cells(json.loads(path.read_text(encoding="utf-8"))))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"the file is no notebook: {error}") from None


def answers(cells: list[tuple[str, str]], places: Mapping[str, ExerciseCell]) -> dict[str, Answer]:
    """Return the answer to each exercise: in the cell with its id, else where ``check`` or ``explain`` is called,
    else where the function of its name is defined."""
    return {name: _answer(cells, place) for name, place in places.items()}


def _answer(cells: list[tuple[str, str]], place: ExerciseCell) -> Answer:
    def has_id(cell: str, source: str) -> bool:
        return cell == place.cell

    def asks(cell: str, source: str) -> bool:
        tree = _tree(source)
        return tree is not None and any(name == place.exercise for name, _ in calls(tree))

    def defines(cell: str, source: str) -> bool:
        tree = _tree(source)
        defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] if tree else []
        return bool(place.function) and place.function in defined

    for found_by, remark in (
        (has_id, ""),
        (asks, f'the cell has lost its id; it was found by "{place.exercise}".'),
        (defines, f"the cell has lost its id; it was found by the function {place.function}."),
    ):
        found = [n for n, cell in enumerate(cells) if found_by(*cell)]
        if found:
            here = found[-1]
            texts = [source for _, source in cells]
            others = (text for text in (*texts[here + 1 :], *texts[:here]) if len(text) <= LONGEST)
            return Answer(texts[here][: LONGEST + 1], tuple(others), remark)
    return Answer(None)


def _tree(source: str) -> ast.Module | None:
    try:
        return parsed(source) if len(source) <= LONGEST else None
    except SyntaxError:
        return None


def as_json(found: Mapping[str, Answer]) -> dict[str, Any]:
    """Return the answers as values of JSON."""
    return {name: [answer.source, list(answer.others), answer.remark] for name, answer in found.items()}
