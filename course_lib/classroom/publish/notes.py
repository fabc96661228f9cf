"""The speaker's notes: in files of their own, since they contain answers, under the headings of the lessons' cells."""

from __future__ import annotations

import copy
import re
from typing import Any

from nbformat.v4 import new_markdown_cell

from ...trace.png import KEY
from ..lessons import home

#: The notes are in the repository alone.
NOTES = home().parent / "docs" / "teach" / "notes"


def notes_of(lesson: str) -> dict[str, str]:
    """Return the notes to a lesson, such as "04", by heading; none where the course is installed without them."""
    parts = [part for path in NOTES.glob(f"{lesson}_*.md") for part in path.read_text("utf-8").split("\n## ")[1:]]
    return {heading: text.strip() for heading, _, text in (part.partition("\n") for part in parts)}


def heading_of(cell: Any) -> str:
    """Return the first heading of a cell, without its number signs; "" if there is none."""
    found = re.search(r"^#+ (.+)$", "".join(cell["source"]), re.MULTILINE) if cell["cell_type"] == "markdown" else None
    return found[1].strip() if found else ""


def with_notes(notebook: Any) -> Any:
    """Return a copy of a lesson with the speaker's notes, each in a cell of type "notes" after its heading's."""
    notebook = copy.deepcopy(notebook)
    notes = notes_of(str(notebook.metadata.get(KEY, {}).get("lesson", "")))
    cells, notebook.cells = notebook.cells, []
    for cell in cells:
        notebook.cells.append(cell)
        if text := notes.get(heading_of(cell)):
            slide = {"slideshow": {"slide_type": "notes"}}
            notebook.cells.append(new_markdown_cell(text, metadata=slide))  # type: ignore[no-untyped-call]
    return notebook
