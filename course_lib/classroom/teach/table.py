"""A table for a spreadsheet: every field quoted, and none a formula."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table; fields are made `safe`, and letters that UTF-8 does not have are written as their numbers."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows([safe(field) for field in row] for row in rows)


#: What a spreadsheet takes for the beginning of a formula, at the beginning of a field or after what may separate two.
_FORMULA = re.compile(r"(^|[,;|\"])(\s*)(?=[-=+@\uff0d\uff1d\uff0b\uff20].)")


def safe(field: Any) -> str:
    """Return a field that no spreadsheet takes for a formula, on one line, whatever it takes for a separator."""
    return _FORMULA.sub(r"\1\2'", " ".join(str(field).split()))
