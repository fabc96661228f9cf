"""Says what there is, and opens the lessons: ``python -m course_lib``, or ``tile-by-tile`` where it is installed.

tile-by-tile                    what there is
tile-by-tile open [folder]      copy the lessons into a folder, and open the first one in JupyterLab
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from . import lessons

COMMANDS = {
    "tile-by-tile open [folder]": "copy the lessons into a folder, and open the first one",
    "python -m course_lib.export": "write lessons as pages with live steppers",
    "python -m course_lib.slides": "write lessons as slides",
    "python -m course_lib.site": "write all lessons as a site",
    "python -m course_lib.teach": "for teachers: editions of the course, guides to the lessons",
    "python -m course_lib.gpu": "measure the kernels on your GPU",
    "python -m course_lib.measurements": "write the tables and pictures of the recorded measurements",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="tile-by-tile", description="GPU matrix multiplication, step by step.")
    parser.set_defaults(run=lambda options: show())
    parts = parser.add_subparsers(metavar="command")
    opening = parts.add_parser("open", help="copy the lessons into a folder, and open them in JupyterLab")
    opening.add_argument("folder", nargs="?", type=Path, default=Path("tile-by-tile"), help="(tile-by-tile)")
    opening.add_argument("--copy-only", action="store_true", help="do not start JupyterLab")
    opening.set_defaults(run=lambda options: start(options.folder, options.copy_only))
    options = parser.parse_args(arguments)
    return int(options.run(options))


def show() -> int:
    """Print the lessons and the commands."""
    found = lessons.lessons_in(lessons.home())
    print(f"Tile by Tile {version('tile-by-tile')}: {len(found)} lessons in {lessons.home()}\n")
    for path in found:
        print(f"  {lessons.title(json.loads(path.read_text(encoding='utf-8')), path.stem)}")
    print()
    for command, does in COMMANDS.items():
        module = command.rpartition("-m ")[2]
        if module == command or importlib.util.find_spec(module):  # students' editions lack course_lib.teach
            print(f"  {command:<36}{does}")
    return 0


def start(folder: Path, copy_only: bool = False) -> int:
    """Copy the lessons into ``folder``, and run JupyterLab there until the reader ends it."""
    try:
        written, kept = lessons.copy(folder)
    except OSError as error:
        print(f"The lessons cannot be copied to {folder}: {error.strerror}. Name another folder.", file=sys.stderr)
        return 1
    print(f"{folder}: {len(written)} files copied; files that were there stay as they are.")
    if kept:
        print(f"These differ from the course's: {', '.join(kept)}.")
    if copy_only:
        return 0
    if importlib.util.find_spec("jupyterlab") is None:
        print("JupyterLab is not installed: pip install jupyterlab", file=sys.stderr)
        return 1
    try:
        return subprocess.call([sys.executable, "-m", "jupyterlab"], cwd=folder)
    except KeyboardInterrupt:  # the server has heard it too, and has ended
        return 0


if __name__ == "__main__":
    sys.exit(main())
