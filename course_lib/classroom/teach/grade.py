"""Grade a folder of notebooks: a table of points, and a page with the commonest hints.

Nothing is kept between runs. `docs/teach/nbgrader.md` is for a class that hands in each week.
"""

import argparse
import os
import re
import secrets
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...simulator.formatting import plural
from .cells import GRADED, lesson_named, places
from .isolated import SECONDS, judged_notebook, limits_for
from .judge import MISSING, UNREADABLE, Judged
from .submission import contents
from .table import write_table
from .templates import rendered
from .worker import Stopped, Worker

COLUMNS = ("file", "exercise", "points", "status", "hint")
#: The status of a file that is not read, beside those of `judge`.
NO_NOTEBOOK = "no notebook"
_DEEPEST = 20  # folders inside each other
#: nbgrader's file with the time of a submission, in each folder of `submitted`: no student's.
_TIME = "timestamp.txt"
#: A file's verdicts, by its path in the folder. A file that is not graded has one, of no exercise and without points.
Graded = dict[str, list[Judged]]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("folder", type=Path, help="the notebooks, also in folders inside it")
    add("--lesson", required=True, help="such as 04")
    add("--csv", type=Path, default=Path("grades.csv"), help="the table to write, with a page of its name beside it")
    shared = f"of processor time for one file, shared equally by its answers ({SECONDS})"
    add("--seconds", type=int, default=SECONDS, help=shared)
    add("--seed", type=int, help="draw sizes and calls as the run with this seed did")


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    for name, least in (("seconds", 1), ("seed", 0)):
        if (value := getattr(chosen, name)) is not None and value < least:
            raise ValueError(f"--{name} must be at least {least}, not {value}")
    lesson, table, page = lesson_named(chosen.lesson), chosen.csv, chosen.csv.with_suffix(".html")
    for path in (table, page):
        if path.exists():
            raise ValueError(f"{path} is there: move it, or name another table with --csv; nothing is overwritten")
    if not chosen.folder.is_dir():
        raise NotADirectoryError(f"{chosen.folder} is no folder")
    found = sorted(files(chosen.folder))
    if not found:
        raise ValueError(f"{chosen.folder} is empty")
    table.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(table.parent, os.W_OK):
        raise PermissionError(f"{table.parent} cannot be written to")
    seed = secrets.randbelow(1_000_000) if chosen.seed is None else chosen.seed
    graded: Graded = {}
    with Worker(limits_for(lesson, chosen.seconds)) as worker:
        for path, problem in tqdm(found, unit="file", disable=None):
            name = path.relative_to(chosen.folder).as_posix()
            graded[name] = [_ungraded(NO_NOTEBOOK, problem)] if problem else judged_file(path, lesson, worker, seed)
    write_table(table, COLUMNS, rows_of(graded))
    page.write_text(page_of(lesson, graded, seed), encoding="utf-8", errors="backslashreplace")
    print(summary(graded, table, page, seed))
    return 0


def files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file below a folder with why it is no notebook, "" for one; in the same way what is no file: an empty
    or hidden folder, a link, which is not followed, and a folder that cannot be listed."""
    errors: list[OSError] = []
    for place, inside, found in os.walk(folder, onerror=errors.append):
        here, names = Path(place), [name for name in found if name != _TIME]
        if here != folder and not inside and not names:
            yield here, "the folder is empty"
        too_deep = len(here.relative_to(folder).parts) >= _DEEPEST
        passed_over = {name: _why_not_entered(here / name, too_deep) for name in sorted(inside)}
        yield from ((here / name, why) for name, why in passed_over.items() if why)
        inside[:] = [name for name, why in passed_over.items() if not why]
        yield from ((here / name, _why_not_read(here / name)) for name in sorted(names))
    yield from ((Path(error.filename), f"the folder cannot be listed: {error.strerror}") for error in errors)


def _why_not_entered(folder: Path, too_deep: bool) -> str:
    """Why a folder is not looked into, "" if it is."""
    if folder.is_symlink():
        return "a link is not followed: put the folder itself here"
    if _hidden(folder):
        return "a hidden folder is not looked into"
    return f"there are more than {_DEEPEST} folders inside each other" if too_deep else ""


def _why_not_read(path: Path) -> str:
    """Why a file is not read, "" if it is."""
    if path.is_symlink():
        return "a link is not followed: put the file itself here"
    if _hidden(path):
        return "a hidden file is not read"
    if path.suffix.casefold() == ".zip":
        return "an archive is not read: unpack it"
    if path.suffix.casefold() != ".ipynb":
        return "the name does not end in .ipynb"
    return "" if path.is_file() else "it is no file"


def _hidden(path: Path) -> bool:
    """Also what macOS packs into archives."""
    return path.name.startswith((".", "__MACOSX"))


def judged_file(path: Path, lesson: str, worker: Worker, seed: int | None = None) -> list[Judged]:
    """Return the verdict on each exercise of a lesson in a notebook; one that says why if it cannot be graded."""
    try:
        rows = judged_notebook(contents(path), lesson, worker, seed)
    except (Stopped, ValueError, OSError) as error:
        return [_ungraded(UNREADABLE, getattr(error, "strerror", None) or str(error))]
    if all(row.status == MISSING for row in rows):
        return [_ungraded(MISSING, f"the notebook has none of the exercises of {lesson}")]
    return rows


def _ungraded(status: str, why: str) -> Judged:
    return Judged("", None, 0, status, f"{why}.")


# ---- what is written -------------------------------------------------------------------------------------------


def rows_of(graded: Graded) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the table's rows: one for each exercise of each file, and one for each file that is not graded."""
    for file, verdicts in graded.items():
        for row in verdicts:
            points = "" if row.points is None else f"{row.points:g}"
            yield file, row.exercise, points, row.status, row.hint


def page_of(lesson: str, graded: Graded, seed: int) -> str:
    """Return the page: for each exercise its points, commonest hints and the answers to read; and all files."""
    exercises: list[tuple[Any, ...]] = []
    for name in places(lesson):
        rows = [row for each in graded.values() for row in each if row.exercise == name]
        points = [row.points for row in rows if row.points is not None]
        mean = statistics.fmean(points) if rows and len(points) == len(rows) else None
        exercises.append((GRADED[name], mean, Counter(row.status for row in rows), commonest(rows)))
    unread = [(file, row) for file, rows in graded.items() for row in rows if _is_for_a_person(row)]
    return rendered("grades.html", lesson=lesson, graded=graded, exercises=exercises, unread=unread, seed=seed)


def _is_for_a_person(row: Judged) -> bool:
    """Whether a person gives the points of an answer."""
    return row.exercise != "" and row.points is None


def commonest(rows: Sequence[Judged]) -> list[tuple[str, int]]:
    """Return three hints as one file has them, and in how many files they are; those of one id count as one."""
    with_hints = [row for row in rows if row.hint and row.status != MISSING]
    first = {row.hint_id or _sentence(row.hint): _sentence(row.hint) for row in reversed(with_hints)}
    counted = Counter(row.hint_id or _sentence(row.hint) for row in with_hints)
    return [(first[id], number) for id, number in counted.most_common(3)]


def _sentence(hint: str) -> str:
    """The first sentence of a hint, without the line that it is about."""
    first = re.split(r"(?<=[.;])\s", re.sub(r"^line \d+: ", "", hint.strip()), maxsplit=1)[0]
    return re.sub(";$", ".", first)


def summary(graded: Graded, table: Path, page: Path, seed: int) -> str:
    """Say what was graded, and what is left to do."""
    rows = [row for each in graded.values() for row in each]
    answers = Counter(row.status for row in rows if row.exercise)
    lines = [f"{table}: {plural(len(graded), 'file')}, {plural(answers.total(), 'answer')}"]
    lines[0] += "".join(f", {number} {status}" for status, number in answers.items()) + "."
    lines.append(f"{page}: the commonest hints.")
    if left := sum(not row.exercise for row in rows):
        lines.append(f"Not graded: {plural(left, 'file')}; the rows say why.")
    if unread := sum(map(_is_for_a_person, rows)):
        lines.append(f"Read {plural(unread, 'answer')}: they are on the page. Write their points into the table.")
    lines.append(f"The sizes and calls were drawn by the seed {seed}: --seed {seed} draws them again.")
    return "\n".join(lines)
