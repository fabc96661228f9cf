"""The cells of a student's notebook that answer each exercise. Only texts are read; nothing is executed."""

import ast
import io
import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ...exercises import LESSONS
from .cells import ExerciseCell, calls, code_cells, parsed, places

#: Characters of a cell that are read; an answer has some hundred.
LONGEST = 64 * 1024
#: Bytes of a file, or of all notebooks in an archive. A lesson with outputs has 2 MB; a print by mistake may add 100.
LARGEST = 128 << 20
#: Files in an archive.
_MOST_FILES = 1_000
NOTHING = "there is no notebook (*.ipynb)"


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


def notebooks(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, data) of a notebook, or of each one in an archive; raise ValueError for an archive that is too large
    or cannot be read. Nothing is written, so a member's name leads nowhere."""
    if not name.casefold().endswith(".zip"):
        yield name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > _MOST_FILES:
                raise ValueError(f"the archive has more than {_MOST_FILES:,} files")
            found = [m for m in members if is_notebook(m.filename)]
            if sum(m.file_size for m in found) > LARGEST:  # no more than a member's size is unpacked
                raise ValueError(f"the archive's notebooks have more than {LARGEST >> 20} MiB; clear their outputs")
            for member in found:
                yield f"{name}/{member.filename}", archive.read(member)
    except (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, lzma.LZMAError) as error:  # needs a password, too
        raise ValueError(f"the file is no archive that can be read: {error}") from None


def is_notebook(name: str) -> bool:
    """Say whether a file's relative path is a notebook's, not hidden, nor what macOS adds to archives."""
    hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
    return name.casefold().endswith(".ipynb") and not hidden and not name.startswith("/")


def of_lesson(names: list[str], lesson: str) -> list[str]:
    """Return the names of a student's files that may be of this lesson, those with its name first.

    Of equal names the last is first: a learning system counts upwards.
    """
    others = [each for each in LESSONS if each != lesson]
    found = [name for name in names if not any(other in name for other in others)] or names
    return sorted(sorted(found, reverse=True), key=lambda name: lesson not in name)


def best(name: str, data: bytes, lesson: str) -> dict[str, Any]:
    """Return, as values of JSON, what is read in a notebook or an archive: the ``answers`` of the notebook in which
    most exercises are ``answered``, its ``name``, and how many ``notebooks`` there are; ValueError as above."""
    texts = dict(notebooks(name, data))
    found: list[dict[str, Any]] = []
    problem = NOTHING
    for each in of_lesson(list(texts), lesson):
        try:
            here = answers(read(texts[each]), places(lesson))
        except ValueError as error:
            problem = str(error)
            continue
        answered = sum(_is_answered(here[name].source or "", place) for name, place in places(lesson).items())
        found.append({"name": each, "answered": answered, "answers": here})
    if not found:
        raise ValueError(problem)
    return max(found, key=lambda each: each["answered"]) | {"notebooks": len(found)}


def _is_answered(source: str, place: ExerciseCell) -> bool:
    """Whether a cell is more than what the lesson gives, indents included; three dots are given, in any edition."""
    text, given = ([line.rstrip() for line in cell.strip().split("\n")] for cell in (source, place.source))
    if text in ([""], given):
        return False
    values = (node.value for node in ast.walk(_tree("\n".join(text))) if isinstance(node, ast.Constant))
    return not any(value is ... or (isinstance(value, str) and value.strip() == "...") for value in values)


def answers(cells: list[tuple[str, str]], wanted: Mapping[str, ExerciseCell]) -> dict[str, Answer]:
    """Return the answer to each exercise: in the cell with its id, else, or if that is as it was given, where ``check``
    or ``explain`` is called, else where the function of its name is defined. Of several cells the last one counts."""
    return {name: _answer(cells, place) for name, place in wanted.items()}


def _answer(cells: list[tuple[str, str]], place: ExerciseCell) -> Answer:
    found_by = {
        3: "",
        2: f'the cell does not have the lesson\'s id; it was found by "{place.exercise}".',
        1: f"the cell does not have the lesson's id; it was found by the function {place.function}.",
    }

    def rank(number: int) -> tuple[bool, int, int]:
        id, source = cells[number]
        asks = any(name == place.exercise for name, _ in calls(_tree(source)))
        found = 3 if id == place.cell else 2 if asks else int(place.function in _functions(source))
        return found > 1 and _is_answered(source, place), found, number

    _, found, here = max(map(rank, range(len(cells))), default=(False, 0, 0))
    if not found:
        return Answer(None)
    texts = [source for _, source in cells]
    others = (text for text in (*texts[here + 1 :], *texts[:here]) if len(text) <= LONGEST)
    return Answer(texts[here][: LONGEST + 1], tuple(others), found_by[found])


def _functions(source: str) -> set[str]:
    return {node.name for node in _tree(source).body if isinstance(node, ast.FunctionDef)}


def _tree(source: str) -> ast.Module:
    """The tree of a cell, an empty one if it is too long or no Python."""
    try:
        return parsed(source if len(source) <= LONGEST else "")
    except SyntaxError:
        return ast.Module([], [])
