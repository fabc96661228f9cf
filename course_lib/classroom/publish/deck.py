"""A lesson as a deck: what a room looks at. The rest of its text goes to the speaker's notes.

A slide has a heading, and one key leads to the next: no slides are below others. It holds what has to be seen:
questions, pictures, steppers, kernels, and as much text as 20 slides have room for.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from typing import Any

from nbformat.v4 import new_markdown_cell

from ...trace.png import height_of
from ...trace.viewer.still import HTML, VIEW
from .. import lessons
from .notes import heading_of
from .stills import is_view

#: The most slides of a deck.
SLIDES = 20
#: Lines of text that a slide holds, its heading included, and characters of a line.
LINES, CHARACTERS = 18, 100
#: The height of a slide, and the greatest of a picture, in pixels.
HEIGHT, PICTURE = 720, 600
#: The greatest height of a stepper, in pixels: with more it is laid out to be scrolled.
HIGHEST = 590
#: Lines of a section's first text that its slide shows.
OPENING = 8
#: What leaves the deck first if there are too many slides; a section's opening never does.
PROSE, TEXT, KERNEL, QUESTION, DRAWN, HEAD = range(6)
#: A text of more lines is read, and not looked at.
LONG = 12
#: Code that a slide shows with what it prints: no more than this many lines.
SHOWN = 2


@dataclass
class _Section:
    heading: str
    items: list[tuple[Any, int, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    exercises: list[str] = field(default_factory=list)


def deck(notebook: Any, exercises: bool = False, plumbing: bool = False) -> Any:
    """Return a copy of a lesson in which each cell is on a slide, or in the notes.

    Args:
        notebook: an executed lesson, with its speaker's notes as cells.
        exercises: whether exercises are shown, as they are in the lesson.
        plumbing: whether code is shown that prepares what is shown.
    """
    sections = _sections(notebook, exercises, plumbing)
    while sum(len(_packed(section)) for section in sections) > SLIDES:
        movable = [
            (rank, -lines, section, item)
            for section in sections
            for item in section.items
            for _, rank, lines in [item]
            if rank < HEAD
        ]
        if not movable:
            break
        _, _, section, item = min(movable, key=lambda each: each[:2])
        section.items.remove(item)
        section.notes.append(_spoken(item[0]))
    made = copy.copy(notebook)
    made.cells = [cell for section in sections for cell in _cells(section)]
    return made


def _sections(notebook: Any, exercises: bool, plumbing: bool) -> list[_Section]:
    sections: list[_Section] = []
    cells = copy.deepcopy(notebook.cells)
    for number, cell in enumerate(cells):
        following = next((c for c in cells[number + 1 :] if _kind(c) != "notes"), None)
        kind = _kind(cell)
        begins = kind == "slide" and re.match(r"##? ", cell.source)
        if begins or not sections:
            sections.append(_Section(heading_of(cell) or "Lesson"))
        section = sections[-1]
        if kind == "notes":
            section.notes.append(cell.source)
        elif begins:
            cell.source, rest = _opening(lessons.for_students(cell.source), exercises)
            section.items.append((cell, HEAD, lines_of(cell)))
            section.notes += [rest] if rest else []
            section.exercises = _titles(rest)
        elif not exercises and (_is_exercise(cell) or _introduces(cell, following)):
            if cell.cell_type == "markdown":
                section.notes.append(_spoken(cell))
                section.exercises += _titles(cell.source)
        elif plumbing or (kind != "skip" and _is_seen(cell)):
            rank = _rank(cell)
            if not plumbing and cell.cell_type == "code" and (rank == DRAWN or (rank == TEXT and _lines(cell) > SHOWN)):
                cell.metadata.setdefault("jupyter", {})["source_hidden"] = True
            if rank == PROSE and lines_of(cell) > LONG:
                section.notes.append(_spoken(cell))
            else:
                section.items.append((cell, rank, lines_of(cell)))
    for section in sections:
        if section.exercises:
            section.items[0][0].source += "\n\n" + "\n".join(f"- {title}" for title in section.exercises)
    return sections


def _kind(cell: Any) -> str:
    return str(cell.metadata.get("slideshow", {}).get("slide_type", "-"))


def _opening(source: str, exercises: bool) -> tuple[str, str]:
    """The first text of a section, as much as a slide has room for beside something else, and the rest."""
    if not exercises and "\n### " in source:
        source, _, rest = source.partition("\n### ")
        return source.strip(), f"### {rest}"
    parts = re.split(r"\n\n(?!(?:[^`]|`(?!``))*```\n(?:[^`]|`(?!``))*$)", source.strip())
    kept, lines = [parts[0]], 2.0
    while len(kept) < len(parts):
        lines += 1 + sum(1 + len(line) // CHARACTERS for line in parts[len(kept)].splitlines())
        if lines > OPENING and len(kept) > 1:
            break
        kept.append(parts[len(kept)])
    return "\n\n".join(kept), "\n\n".join(parts[len(kept) :])


def _titles(source: str) -> list[str]:
    """The titles of the exercises that a text introduces."""
    return re.findall(r"^### (.*)$", source, re.MULTILINE)


def _is_exercise(cell: Any) -> bool:
    return "exercise" in cell.metadata.get("tags", ()) or bool(re.match(r"score\(", cell.source))


def _introduces(cell: Any, following: Any) -> bool:
    return bool(cell.cell_type == "markdown" and following is not None and _is_exercise(following))


def _is_seen(cell: Any) -> bool:
    return bool(cell.cell_type == "markdown" or "@cuda.jit" in cell.source or any(map(_shows, cell.outputs)))


def _shows(output: Any) -> bool:
    return bool(output.get("data", output.get("text")))


def _lines(cell: Any) -> int:
    return int(cell.source.count("\n")) + 1


def _rank(cell: Any) -> int:
    if cell.cell_type == "markdown":
        return PROSE
    if re.match(r"predict\(", cell.source):
        return QUESTION
    if "@cuda.jit" in cell.source:
        return KERNEL
    shown = str([output.get("data", {}) for output in cell.outputs])
    return DRAWN if "<img" in shown or VIEW in shown else TEXT


def _spoken(cell: Any) -> str:
    """The notes' text for a cell that is not on a slide."""
    return str(cell.source) if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"


def _packed(section: _Section) -> list[list[Any]]:
    """The cells of a section by slides."""
    slides: list[list[Any]] = []
    room = 0.0
    for cell, _, lines in section.items:
        if not slides or lines > room:
            slides.append([])
            room = LINES - (0 if cell is section.items[0][0] else 2)  # a repeated heading
        slides[-1].append(cell)
        room -= lines
    return slides


def _cells(section: _Section) -> list[Any]:
    cells = []
    for number, slide in enumerate(_packed(section)):
        if number:
            slide.insert(0, new_markdown_cell(f"## {section.heading}"))  # type: ignore[no-untyped-call]
        for place, cell in enumerate(slide):
            # the first thing below a heading is there at once
            cell.metadata["slideshow"] = {"slide_type": "slide" if not place else "-" if place == 1 else "fragment"}
        cells += slide
        if not number and section.notes:
            notes = new_markdown_cell("\n\n".join(section.notes))  # type: ignore[no-untyped-call]
            notes.metadata["slideshow"] = {"slide_type": "notes"}
            cells.append(notes)
    return cells


def lines_of(cell: Any) -> float:
    """Estimate how many lines of text a cell takes on a slide, its outputs included."""
    if cell.cell_type == "markdown":
        return sum(1.0 + len(line) // CHARACTERS for line in cell.source.splitlines() if line.strip()) + 1
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden")
    lines = 0.0 if hidden else cell.source.count("\n") + 1.5
    outputs = cell.get("outputs", ())
    for output, following in zip(outputs, [*outputs[1:], {}], strict=False):
        if is_view(output):
            continue  # a widget takes its place
        data = output.get("data", {"text/plain": output.get("text", "")})
        shown = data.get(HTML, "")
        high = height_of(shown)
        if VIEW in data or any(kind.startswith("image/") for kind in data) or (high and is_view(following)):
            lines += LINES - 1  # a picture of unknown height, or a widget that fills the slide
        elif high:
            lines += min(PICTURE, high) * LINES / HEIGHT
        elif shown:
            lines += 1 + max(shown.count("<tr"), shown.count("<p") + shown.count("<li") + shown.count("<summary"))
        else:
            lines += data.get("text/plain", "").count("\n") + 1
    return float(lines)
