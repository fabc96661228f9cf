"""python -m course_lib.measurements: rewrite the README's table and the pictures in docs/ from the recordings.

With the name of a GPU, or a folder, it prints the README's tables for that GPU's recordings and writes nothing.
"""

import sys
from collections.abc import Sequence

from . import folder_of, gpus
from .report import outputs, tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status: 0, or 2 if there is no such folder."""
    given = sys.argv[1:] if arguments is None else arguments
    for gpu in given:
        if not folder_of(gpu).is_dir():
            print(f"{gpu!r} is no folder of recordings; there are {', '.join(gpus())}", file=sys.stderr)
            return 2
        print(tables(gpu))
    if not given:
        for path, text in outputs().items():
            path.write_text(text, encoding="utf-8")
            print(path.name)
    return 0
