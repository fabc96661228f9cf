"""Executes notebooks and writes each as one HTML page, with steppers that need no kernel and no network.

tile-by-tile export notebooks/02_naive.ipynb --output site
"""

import argparse
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from ..lazy import called
from .lessons import home, lessons_in, title
from .publish.convert import executed, html_page
from .publish.links import linked, refuse_duplicates


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if a cell failed, or 2 for what is no notebook."""
    import nbformat  # here, since `publish` says first what is missing
    from nbclient.exceptions import CellExecutionError

    parser = argparse.ArgumentParser(
        prog=called("export"), description="Write executed notebooks as pages with live steppers."
    )
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path, help="notebooks, as notebooks/02_naive.ipynb")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder to write to (here)")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    options = parser.parse_args(arguments)
    names = {path.resolve(): f"{path.stem}.html" for path in options.notebooks}
    try:
        refuse_duplicates(list(names.values()))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    options.output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in options.notebooks:
        try:
            written: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, nbformat.ValidationError) as error:
            what = "cannot be read" if isinstance(error, OSError) else "is no notebook of version 4 or older"
            print(f"{path} {what}, so nothing is written.", file=sys.stderr)
            if isinstance(error, OSError):
                print("The lessons are", *lessons_in(home()), sep="\n  ", file=sys.stderr)
            failed = 2
            continue
        try:
            notebook = executed(written, path.parent)
        except CellExecutionError as error:
            print(f"{path}: a cell failed, so nothing is written.\n{error}", file=sys.stderr)
            failed = max(failed, 1)
            continue
        target = options.output / names[path.resolve()]
        text = html_page(notebook, title(notebook, path.stem), options.theme)
        text = linked(text, lambda link, folder=path.parent: names.get((folder / link).resolve()))  # type: ignore[misc]
        target.write_text(text, encoding="utf-8")
        print(f"{target} ({len(text.encode()) / 1e6:.1f} MB)")
    return failed
