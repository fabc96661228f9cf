"""Executes notebooks and writes each as one HTML page, with steppers that need no kernel and no network.

tile-by-tile export notebooks/02_naive.ipynb --output site
"""

import argparse
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..lazy import called
from .lessons import home, lessons_in, title
from .publish.convert import executed, html_page
from .publish.links import linked, refuse_duplicates

#: Exit statuses: a cell of a notebook failed; a file is no notebook, or two pages would have one name.
FAILED, REFUSED = 1, 2


class _NoNotebookError(Exception):
    """A file cannot be read as a notebook; the message is for the reader."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if a cell failed, or 2 for what is no notebook."""
    options = _parser().parse_args(arguments)
    pages = {path.resolve(): f"{path.stem}.html" for path in options.notebooks}
    try:
        refuse_duplicates(list(pages.values()))
    except ValueError as error:
        print(error, file=sys.stderr)
        return REFUSED
    options.output.mkdir(parents=True, exist_ok=True)
    return max(_export(path, options.output, options.theme, pages) for path in options.notebooks)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=called("export"), description="Write executed notebooks as pages with live steppers."
    )
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path, help="notebooks, as notebooks/02_naive.ipynb")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder to write to (here)")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    return parser


def _export(path: pathlib.Path, folder: pathlib.Path, theme: str, pages: Mapping[pathlib.Path, str]) -> int:
    """Execute a notebook, and write it as a page into a folder; return the exit status.

    ``pages`` has the name of each notebook's page: links between these notebooks lead to the pages.
    """
    from nbclient.exceptions import CellExecutionError  # here, since `publish` says first what is missing

    try:
        notebook = executed(_read(path), path.parent)
    except _NoNotebookError as error:
        print(error, file=sys.stderr)
        return REFUSED
    except CellExecutionError as error:
        print(f"{path}: a cell failed, so nothing is written.\n{error}", file=sys.stderr)
        return FAILED
    text = html_page(notebook, title(notebook, path.stem), theme)
    text = linked(text, lambda link: pages.get((path.parent / link).resolve()))
    target = folder / pages[path.resolve()]
    target.write_text(text, encoding="utf-8")
    print(f"{target} ({len(text.encode()) / 1e6:.1f} MB)")
    return 0


def _read(path: pathlib.Path) -> Any:
    """Return a notebook; raise _NoNotebookError if there is none, with the lessons if the file cannot be read."""
    import nbformat

    try:
        return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except OSError:
        listed = "\n  ".join(["The lessons are", *map(str, lessons_in(home()))])
        raise _NoNotebookError(f"{path} cannot be read, so nothing is written.\n{listed}") from None
    except (ValueError, KeyError, TypeError, AttributeError, nbformat.ValidationError):
        raise _NoNotebookError(f"{path} is no notebook of version 4 or older, so nothing is written.") from None
