"""The speaker's notes: what a teacher says in each section of a lesson, and how long that takes; and the plans.

A section of ``docs/teach/notes/04_tiling.md`` begins with its heading in the lesson, and with ``Time: 5 min.``
A heading ``### stepper`` in it begins what is said at the slide of the cell ``stepper``, and ``### stepper 2`` at the
second slide of this cell, such as the answer to a question. It may have a time of its own.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parents[1]
#: What is for teachers, beside this package: in the installed package, or in the repository.
_PLACES = (_PACKAGE / "classroom" / "teach", _PACKAGE.parent / "docs" / "teach")


def home() -> Path:
    """Return the folder with ``notes`` and ``plans.toml``; raise FileNotFoundError where the course has none."""
    for place in _PLACES:
        if (place / "notes").is_dir():
            return place
    raise FileNotFoundError("this edition of the course has no speaker's notes: use the package, or a git clone.")


@cache
def _text(lesson: str) -> str:
    try:
        return "".join(path.read_text(encoding="utf-8") for path in home().glob(f"notes/{lesson[:2]}_*.md"))
    except FileNotFoundError:
        return ""


def notes_of(lesson: str) -> dict[str, str]:
    """Return the notes to a lesson, such as "04", by heading; none where the course is without them."""
    found = re.findall(r"^## ([^\n]*)\n(.*?)(?=^#|\Z)", _text(lesson), re.M | re.S)
    return {heading: said.strip() for heading, said in found}


def whole_notes_of(lesson: str) -> dict[str, str]:
    """Return the notes to a lesson by heading, each with what is said at its slides."""
    found = re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", _text(lesson), re.M | re.S)
    return {heading: re.sub(r"^### .*\n", "", said, flags=re.M).strip() for heading, said in found}


def notes_at(lesson: str) -> dict[str, str]:
    """Return what is said at the slide of a cell, by the cell's id and, from the second slide on, its number."""
    found = re.findall(r"^### ([^\n]*)\n(.*?)(?=^#|\Z)", _text(lesson), re.M | re.S)
    return {cell.strip(): said.strip() for cell, said in found}


def minutes_of(lesson: str) -> dict[str, int]:
    """Return the minutes that the notes plan, by heading."""
    found = {heading: re.match(r"Time: (\d+) min", text) for heading, text in notes_of(lesson).items()}
    return {heading: int(time[1]) for heading, time in found.items() if time}


def plans() -> list[dict[str, Any]]:
    """Return the plans of plans.toml."""
    found: list[dict[str, Any]] = tomllib.loads((home() / "plans.toml").read_text(encoding="utf-8"))["plan"]
    return found
