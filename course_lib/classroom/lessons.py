"""The lessons as files: where they are, which notebook is one, and a copy of them for a reader."""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..lazy import called, install
from ..trace.notebook_outputs import KEY

#: The parts of the course, each with its last lesson. The short way in belongs to the first.
PARTS = {"The walk": "05", "The way to cuBLAS": "10", "Electives": "99"}
#: Lessons that had another name, with the lesson in which most of each is now: links to the old pages lead there.
MOVED = {
    "05_coalescing": "06_coalescing",
    "06_bank_conflicts": "07_bank_conflicts",
    "07_register_tiles": "08_register_tiles",
    "08_unrolling_and_occupancy": "09_waiting",
    "09_prefetching": "05_prefetching",
    "10_waiting": "09_waiting",
    "11_towards_best": "10_towards_cublas",
    "12_the_last_20_percent": "10_towards_cublas",
    "13_debugging": "11_debugging",
    "14_speed_tests": "12_speed_tests",
    "15_many_shapes": "13_many_shapes",
    "16_tensor_cores": "15_tensor_cores",
    "17_wgmma": "16_wgmma",
    "18_capstone": "17_capstone",
}

#: The sentence of a lesson's first cell that leads to its solutions.
_SOLUTIONS = re.compile(r" \*\*Solutions:\*\* \[solutions\]\(solutions/[^)]*\), after you have tried\.")


def home() -> Path:
    """Return the folder of the lessons: in the installed package, or in the repository."""
    package = Path(__file__).parents[1]
    installed = package / "notebooks"
    return installed if installed.is_dir() else package.parent / "notebooks"


def is_course(notebook: Mapping[str, Any]) -> bool:
    """Whether a notebook, or an output, belongs to the course, as its metadata says."""
    return KEY in notebook.get("metadata", {})


def lessons_in(folder: Path) -> list[Path]:
    """Return the lessons in a folder or in its folder ``notebooks``, in order; none if the first is not a lesson."""
    for place in (folder, folder / "notebooks"):
        found = sorted(place.glob("[0-9][0-9]_*.ipynb"))
        try:
            if found and is_course(json.loads(found[0].read_text(encoding="utf-8"))):
                return found
        except (OSError, ValueError, AttributeError):  # not readable, not a notebook
            continue
    return []


def part(name: str) -> str:
    """Return the part of the course to which a lesson belongs, by the file's name.

    >>> part("09_waiting.ipynb"), part("express.ipynb")
    ('The way to cuBLAS', 'The walk')
    """
    return next((title for title, last in PARTS.items() if name[:2] <= last), next(iter(PARTS)))


def opening(folder: Path) -> Path | None:
    """Return the notebook that a reader should open first in a folder: the short way in, or else the first lesson."""
    found = lessons_in(folder)
    express = [path.with_name("express.ipynb") for path in found[:1]]
    return next((path for path in (*express, *found) if path.is_file()), None)


def title(notebook: Mapping[str, Any], otherwise: str = "") -> str:
    """Return the first heading of a notebook."""
    for cell in notebook["cells"]:
        for line in "".join(cell["source"]).splitlines() if cell["cell_type"] == "markdown" else ():
            if line.startswith("# "):
                return line[2:].strip()
    return otherwise


def for_students(text: str) -> str:
    """Return a lesson, as its file's text, without the link to its solutions."""
    return _SOLUTIONS.sub("", text)


def files() -> Iterator[Path]:
    """Yield what a reader gets: the lessons, the pages beside them and the licence."""
    yield from sorted(path for path in home().iterdir() if path.suffix in (".ipynb", ".md"))


def copy(folder: Path) -> tuple[list[str], list[str]]:
    """Copy the lessons into a folder; a file that is there already stays as it is.

    Return the names of the files that were written, and of those that were there and differ.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, kept = [], []
    for path in files():
        text = for_students(path.read_text(encoding="utf-8"))
        target = folder / path.name
        try:
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
            written.append(path.name)
        except FileExistsError:
            if not target.is_file() or target.read_text(encoding="utf-8", errors="replace") != text:
                kept.append(path.name)
    return written, kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Copy the lessons into a folder, and run JupyterLab there until the reader ends it; return the exit status."""
    parser = argparse.ArgumentParser(prog=called("open"), description="Copy the lessons and open them.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("tile-by-tile"), help="(tile-by-tile)")
    parser.add_argument("--copy-only", action="store_true", help="do not start JupyterLab")
    options = parser.parse_args(arguments)
    folder = options.folder
    written, kept = copy(folder)
    print(f"{folder}: {len(written)} files copied; files that were there stay as they are. Begin with express.ipynb.")
    if kept:
        print(f"These differ from the course's: {', '.join(kept)}.")
    if options.copy_only:
        return 0
    if importlib.util.find_spec("jupyterlab") is None:
        print(f"The lessons are there, but JupyterLab is not installed: {install('lab')}", file=sys.stderr)
        return 2
    try:
        return subprocess.call([sys.executable, "-m", "jupyterlab"], cwd=folder)
    except KeyboardInterrupt:  # the server has heard it too, and has ended
        return 0
