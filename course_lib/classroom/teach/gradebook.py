"""The tables of a class: what a spreadsheet may read and write, what the class reached, and gradebooks of others."""

import csv
import io
import os
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .judge import MISSING, UNREADABLE, Judged

_BINS = 10
#: Their hints say nothing about an answer.
_NO_ANSWER = (MISSING, UNREADABLE)


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the lines of a table that a person or a spreadsheet may have written, with their numbers.

    Columns may be separated by commas, semicolons or tabs. Raise ValueError if the table lacks some of ``columns``.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8: save it as a CSV file in UTF-8") from None
    first = text.partition("\n")[0]
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), restval="")
    if not set(columns) <= set(lines.fieldnames or ()):
        raise ValueError(f"{path}: the first line must name the columns {', '.join(columns)}")
    for line in lines:
        if any((line.get(column) or "").strip() for column in columns or line):
            yield lines.line_num, line


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table in place of an earlier one, which stays where this fails; fields are made `safe`."""
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        writer.writerows([safe(field) for field in row] for row in rows)
    os.replace(new, path)


#: What a spreadsheet takes for the beginning of a formula, at the beginning of a field or after what may separate two.
_FORMULA = re.compile(r"(^|[,;|\"])(\s*)(?=[-=+@\uff0d\uff1d\uff0b\uff20].)")


def safe(field: Any) -> str:
    """Return a field that no spreadsheet takes for a formula, on one line, whatever it takes for a separator."""
    return _FORMULA.sub(r"\1\2'", " ".join(str(field).split()))


def plain(field: str) -> str:
    """Return what `safe` was given, on one line."""
    return re.sub(_FORMULA.pattern.replace("(?=", "'(?="), r"\1\2", " ".join(field.split()))


def exact(name: str) -> str:
    """Return a name as the column ``id`` has it: itself, or percent-encoded where a spreadsheet might change it."""
    if name.isprintable() and "%" not in name and "'" not in name[:1] and safe(name) == name:
        return name
    return quote(name.encode("utf-8", "surrogatepass"), safe="").replace("-", "%2D")


# ---- what the class reached ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Total:
    """A student's points; ``unread`` are the exercises whose points a person has yet to give."""

    points: float
    of: int
    unread: tuple[str, ...] = ()


def total(rows: Sequence[Judged]) -> Total:
    """Return a student's total."""
    unread = tuple(row.exercise for row in rows if row.points is None)
    return Total(sum(row.points or 0 for row in rows), sum(row.of for row in rows), unread)


def hint_of(row: Judged) -> str:
    """Return the first sentence of a hint, without the line that it is about."""
    first = re.split(r"(?<=[.;])\s", re.sub(r"^line \d+: ", "", row.hint.strip()), maxsplit=1)[0]
    return re.sub(";$", ".", first)


def commonest(rows: Sequence[Judged]) -> tuple[tuple[str, int], ...]:
    """Return three hints as one student reads them, and their numbers; those of one id count as one."""
    told = [row for row in rows if row.hint and row.status not in _NO_ANSWER]
    said = {row.hint_id or hint_of(row): hint_of(row) for row in reversed(told)}
    return tuple((said[id], n) for id, n in Counter(row.hint_id or hint_of(row) for row in told).most_common(3))


def by_exercise(graded: Mapping[str, Sequence[Judged]]) -> dict[str, dict[str, Judged]]:
    """Return {exercise: {student: row}} of {student: rows}."""
    found: dict[str, dict[str, Judged]] = {}
    for student, rows in graded.items():
        for row in rows:
            found.setdefault(row.exercise, {})[student] = row
    return found


def summary(graded: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """Return what a class has reached in one lesson: "mean", "median" and "of" of the totals, and their histogram.

    "bins" are (from, to, students). "exercises" maps each to ({status: students}, mean points or None while some are
    not given, of, commonest hints with their numbers).
    """
    totals = [total(rows) for rows in graded.values()] or [Total(0, 0)]
    points, of = [each.points for each in totals], totals[0].of
    width = -(-of // _BINS) or 1
    counts = Counter(min(int(reached // width), (of - 1) // width) for reached in points)
    bins = tuple((n * width, min((n + 1) * width, of), counts[n]) for n in range(-(-of // width)))
    exercises = {
        name: (
            Counter(row.status for row in rows),
            None if any(row.points is None for row in rows) else statistics.fmean(row.points or 0 for row in rows),
            rows[0].of,
            commonest(rows),
        )
        for name, rows in ((name, list(found.values())) for name, found in by_exercise(graded).items())
    }
    middle = {"mean": statistics.fmean(points), "median": statistics.median(points), "of": of}
    return middle | {"bins": bins if graded else (), "exercises": exercises}


# ---- gradebooks of learning systems ----------------------------------------------------------------------------


#: The columns for which `teach grade --export` writes each learning system's gradebook, with "" for the assignment's:
#: those that `lib/gradebook_importer.rb` of Canvas expects, and those of the grading worksheet that
#: `mod/assign/feedback/offline` of Moodle reads by Identifier, with the last change.
EXPORTS = {
    "canvas": ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", ""),
    "moodle": (
        *("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"),
        *("Last modified (submission)", "Last modified (grade)", "Feedback comments"),
    ),
}
