"""The common part of the two commands: which notebooks to convert, where to write, and what to print."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import nbformat
from nbclient.exceptions import CellExecutionError

from .convert import executed


def run(
    name: str, kind: str, convert: Callable[[Any, str, str], str], arguments: Sequence[str] | None, suffix: str
) -> int:
    """Convert the notebooks named on the command line; return 0, or 1 if one could not be converted."""
    parser = argparse.ArgumentParser(prog=f"python -m course_lib.{name}", description=kind)
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path, help="notebooks, as notebooks/02_naive.ipynb")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder to write to (here)")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    options = parser.parse_args(arguments)
    missing = [str(path) for path in options.notebooks if not path.is_file()]
    if missing:
        print(f"There is no notebook {', '.join(missing)}.", file=sys.stderr)
        return 1
    options.output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in options.notebooks:
        try:
            written: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
            notebook = executed(written, path.parent)
        except CellExecutionError as error:
            print(f"{path}: a cell failed, so nothing is written.\n{error}", file=sys.stderr)
            failed = 1
            continue
        target = options.output / f"{path.stem}{suffix}"
        text = convert(notebook, title_of(notebook, path.stem), options.theme)
        target.write_text(text, encoding="utf-8")
        print(f"{target} ({len(text.encode()) / 1e6:.1f} MB)")
    return failed


def title_of(notebook: Any, name: str) -> str:
    """Return the first heading of a notebook, or its file's name."""
    for cell in notebook.cells:
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
            if line.startswith("# "):
                return str(line[2:].strip())
    return name
