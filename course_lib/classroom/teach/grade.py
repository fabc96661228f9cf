"""Grade the submissions of a class: a table, a page for each student, and a page for the teacher."""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from tqdm import tqdm

from ...exercises import EXERCISES
from .cells import counted, lesson_named, places
from .judge import STOPPED, UNREADABLE, Judged, from_json, unjudged
from .pages import BY_HAND, feedback, for_teacher, nearly_the_same, remarks, with_points
from .sandbox import Limits, Sandbox, Stopped

COLUMNS = ("student", "exercise", "points", "of", "status", "hint", "seconds")
NOTHING = "the folder holds no notebook (*.ipynb)."
Record = TypeVar("Record")
#: A notebook with the outputs of a whole lesson has 2 MB; a kernel that prints by mistake may add 100.
_LARGEST = 256 << 20


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("submissions", type=Path, help="a folder: NAME.ipynb, or a folder NAME, for each student")
    parser.add_argument("--lesson", required=True, help="such as 04")
    parser.add_argument(
        "--csv", type=Path, default=Path("grades.csv"), help="the table; points that you change in it are kept"
    )
    parser.add_argument("--feedback", type=Path, default=Path("feedback"), help="the folder of the students' pages")
    parser.add_argument("--jobs", type=int, default=1, help="how many submissions are judged at a time")
    parser.add_argument("--seconds", type=int, default=Limits.seconds, help="of processor time, for one answer")
    parser.add_argument("--memory", type=int, default=Limits.memory >> 20, help="MiB, for one answer")
    parser.add_argument("--again", action="store_true", help="judge also what was judged before")


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    check_positive(chosen, "jobs", "seconds", "memory")
    limits = Limits(chosen.seconds, chosen.memory << 20)
    batch = Batch(chosen.submissions, lesson_named(chosen.lesson), chosen.csv, chosen.feedback, limits)
    batch.grade(chosen.jobs, chosen.again)
    print(batch.said())
    return 0


def check_positive(chosen: argparse.Namespace, *names: str) -> None:
    """Raise ValueError if one of these numbers of a command is less than 1."""
    for name in names:
        if getattr(chosen, name) < 1:
            raise ValueError(f"--{name} must be at least 1, not {getattr(chosen, name)}")


@dataclass(frozen=True)
class HandedIn:
    """A student's submission: the notebooks, and a key that changes with them."""

    student: str
    paths: tuple[Path, ...]
    key: str


def submissions(folder: Path, lesson: str, limits: Limits) -> Iterator[HandedIn]:
    """Yield the students' notebooks: ``NAME.ipynb``, or all in a folder ``NAME``, which may be none. Links out of the
    folder are skipped.

    Raise NotADirectoryError if there is no such folder, ValueError if it contains no notebook.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")
    found: dict[str, list[Path]] = {path.name.removesuffix(".ipynb"): [] for path in _shown(folder) if path.is_dir()}
    for path in sorted(folder.rglob("*.ipynb")):
        parts = path.relative_to(folder).parts
        inside = path.resolve().is_relative_to(folder.resolve()) and path.is_file()
        if inside and not any(part.startswith(".") for part in parts):
            found.setdefault(parts[0].removesuffix(".ipynb"), []).append(path)
    if not any(found.values()):
        raise ValueError(f"{folder} holds no notebook (*.ipynb)")
    for student, paths in sorted(found.items()):
        named = [path for path in paths if lesson in path.name] or paths
        yield HandedIn(student, tuple(named), _key(named, lesson, limits))


def _shown(folder: Path) -> Iterator[Path]:
    """Return the contents of a folder, without hidden files and those that macOS packs into archives."""
    return (path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "__MACOSX")))


def _key(paths: Sequence[Path], lesson: str, limits: Limits) -> str:
    try:
        course = version("tile-by-tile")
    except PackageNotFoundError:  # a checkout that is not installed
        course = ""
    digest = hashlib.sha256(f"{course} {lesson} {limits}".encode())
    for path in paths:
        try:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            digest.update(str(error).encode())
    return digest.hexdigest()


class Batch:
    """The grades of a class in one lesson, kept in a table and, beside it, in a journal of what was judged."""

    def __init__(self, folder: Path, lesson: str, table: Path, pages: Path, limits: Limits) -> None:
        self.lesson, self.table, self.pages, self.limits = lesson, table, pages, limits
        self.exercises = tuple(places(lesson))
        self.submissions = tuple(submissions(folder, lesson, limits))
        self.journal = table.with_name(table.name + ".journal")
        self.teacher = table.with_suffix(".html")
        table.parent.mkdir(parents=True, exist_ok=True)
        pages.mkdir(parents=True, exist_ok=True)
        self._records = self._read_journal()
        self._by_hand = self._read_table()
        self.lost: set[str] = set()
        own = {path.resolve() for path in (self.table, self.journal, self.teacher)}
        self.others = [
            path.name
            for path in _shown(folder)
            if path.is_file() and path.suffix != ".ipynb" and path.resolve() not in own
        ]

    def grade(self, jobs: int = 1, again: bool = False) -> None:
        """Judge what was not judged before, then write table and pages; also where this is interrupted."""
        waiting = [s for s in self.submissions if again or not self.is_done(s)]
        try:
            with self.journal.open("a", encoding="utf-8") as journal:
                for submission, rows in tqdm(
                    each_judged(waiting, partial(judged_submission, self.lesson), self.limits, jobs),
                    total=len(waiting),
                    unit="submission",
                    disable=None,
                ):
                    self._keep(submission, rows, journal)
        finally:
            self._write()

    def graded(self) -> dict[str, list[Judged]]:
        """Return the rows of each student that was judged, with the points that were given by hand."""
        records = {s.student: self._records[s.student] for s in self.submissions if s.student in self._records}
        return {
            student: [self._corrected(student, row) for row in record["rows"]] for student, record in records.items()
        }

    def said(self) -> str:
        """Say what there is now, for the person who graded."""
        rows = [row for each in self.graded().values() for row in each]
        statuses = ", ".join(f"{count} {status}" for status, count in Counter(row.status for row in rows).items())
        lines = [f"{counted(len(self.submissions), 'submission')}, {counted(len(rows), 'answer')}: {statuses}."]
        if any(row.points is None for row in rows):
            lines.append(
                f"Answers in words are in {self.teacher}: write their points into {self.table}, and run again."
            )
        if self.others:
            lines.append(f"Passed over, since they are no notebooks (*.ipynb): {', '.join(self.others)}.")
        return "\n".join([*lines, *sorted(self.lost)])

    def is_done(self, submission: HandedIn) -> bool:
        """Return whether the same notebooks were judged before."""
        record = self._records.get(submission.student)
        return record is not None and record["key"] == submission.key and self._page(submission.student).exists()

    def _page(self, student: str) -> Path:
        return self.pages / f"{student}.html"

    def _keep(self, submission: HandedIn, rows: list[Judged], journal: Any) -> None:
        self._page(submission.student).write_text(feedback(self.lesson, submission.student, rows), encoding="utf-8")
        rows = [replace(row, page="") for row in rows]
        self._records[submission.student] = {"key": submission.key, "rows": rows}
        record = {"student": submission.student, "key": submission.key, "rows": [asdict(row) for row in rows]}
        journal.write(json.dumps(record) + "\n")
        journal.flush()

    def _read_journal(self) -> dict[str, dict[str, Any]]:
        """Return the earlier verdicts, without a last line that was cut off."""

        def read(record: Any) -> tuple[str, dict[str, Any]]:
            rows = [Judged(**from_json(row)) for row in record["rows"]]
            return record["student"], {"key": record["key"], "rows": rows}

        known = set(self.exercises)
        records = recorded(self.journal, read)
        return {student: found for student, found in records if {row.exercise for row in found["rows"]} <= known}

    def _read_table(self) -> dict[tuple[str, str], tuple[float, str]]:
        """The points that a person gave, and to which text: those that differ from what was judged."""
        given = {}
        known = {each.student for each in self.submissions}
        for number, line in read_table(self.table) if self.table.exists() else ():
            student, name = _plain(line["student"]), line["exercise"]
            points = line["points"].strip().replace(",", ".")
            where = f"{self.table}, line {number}"
            if name not in self.exercises:
                raise ValueError(f"{where}: {self.lesson} has no exercise {name!r}; each lesson needs its own --csv")
            if not points:
                continue
            record = self._records.get(student)
            row = next((row for row in record["rows"] if row.exercise == name), None) if record else None
            most = EXERCISES[name].points
            try:
                reached = float(points)
            except ValueError:
                reached = -1
            if not 0 <= reached <= most:
                raise ValueError(f"{where}: the points of {name} are from 0 to {most}, not {points!r}")
            if row is not None and reached == row.points:
                continue
            if student not in known:
                raise ValueError(f"{where}: {student!r} handed in nothing; correct the name, or delete the line")
            if row is None and line["status"] != BY_HAND:
                continue
            given[student, name] = reached, row.digest if row else ""
        return given

    def _corrected(self, student: str, row: Judged) -> Judged:
        reached, digest = self._by_hand.get((student, row.exercise), (None, ""))
        if reached is None:
            return row
        if digest not in ("", row.digest):
            self.lost.add(f"{student} changed the answer to {row.exercise}: the points given by hand no longer count.")
            return row
        return replace(row, points=reached, status=BY_HAND)

    def _write(self) -> None:
        graded = self.graded()
        same = nearly_the_same(graded)
        alike = remarks(same, self.teacher.name)
        new = self.table.with_name(self.table.name + ".new")
        with new.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for student, rows in graded.items():
                for row in rows:
                    points = "" if row.points is None else f"{row.points:g}"
                    hint = " ".join(filter(None, (row.hint, alike.get((student, row.exercise)))))
                    fields = (student, row.exercise, points, row.of, row.status, hint, f"{row.seconds:.2f}")
                    writer.writerow(map(safe, fields))
        os.replace(new, self.table)
        for student, rows in graded.items():
            page = self._page(student)
            before = page.read_text(encoding="utf-8")
            after = with_points(before, rows)
            if after != before:
                page.write_text(after, encoding="utf-8")
        self.teacher.write_text(for_teacher(self.lesson, graded, same), encoding="utf-8")


def recorded(journal: Path, read: Callable[[Any], Record]) -> Iterator[Record]:
    """Yield what ``read`` makes of each line of a journal, without a last line that was cut off."""
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else ():
        try:
            yield read(json.loads(line))
        except (json.JSONDecodeError, KeyError, TypeError):
            continue


def read_table(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the lines of a table that a person or a spreadsheet may have written, with their numbers.

    Columns may be separated by commas, semicolons or tabs. Raise ValueError if the table lacks some of COLUMNS.
    """
    try:
        first, *lines = path.read_text(encoding="utf-8-sig").splitlines() or [""]
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8: save it as a CSV file in UTF-8") from None
    delimiter = max(",;\t", key=first.count)
    if not set(COLUMNS[:5]) <= set(first.split(delimiter)):
        raise ValueError(f"{path}: the first line must name the columns {', '.join(COLUMNS)}")
    for number, line in enumerate(csv.DictReader([first, *lines], delimiter=delimiter, restval=""), 2):
        if any(line[column].strip() for column in COLUMNS[:2]):
            yield number, line


def safe(field: Any) -> str:
    """Return a field that no spreadsheet takes for a formula, on one line."""
    text = " ".join(str(field).split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _plain(text: str) -> str:
    return text[1:] if text[:2] in ("'=", "'+", "'-", "'@") else text


# ---- judging ---------------------------------------------------------------------------------------------------


def each_judged(
    waiting: Sequence[HandedIn], judge: Callable[[HandedIn, Sandbox], Any], limits: Limits, jobs: int
) -> Iterator[tuple[HandedIn, Any]]:
    """Yield each submission with what ``judge`` returns, as they come; ``jobs`` sandboxes work at a time."""
    left, done, ended = iter(waiting), SimpleQueue[Any](), threading.Event()
    taking = threading.Lock()

    def work() -> None:
        try:
            with Sandbox(limits) as sandbox:
                while not ended.is_set():
                    with taking:
                        submission = next(left, None)
                    if submission is None:
                        return
                    done.put((submission, judge(submission, sandbox)))
        except BaseException as error:
            done.put(error)

    workers = [threading.Thread(target=work) for _ in range(min(jobs, len(waiting)))]
    for worker in workers:
        worker.start()
    try:
        for _ in waiting:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        ended.set()
        for worker in workers:
            worker.join()


def judged_submission(lesson: str, submission: HandedIn, sandbox: Sandbox) -> list[Judged]:
    """Return the verdict on each exercise of a lesson, of the notebook that has most of its cells."""
    names = list(places(lesson))
    best: Mapping[str, Any] | None = None
    problem = "" if submission.paths else NOTHING
    for path in submission.paths:
        try:
            check_size(path)
            found = sandbox.do("read", str(path.resolve()), lesson)
        except (ValueError, OSError, Stopped) as error:
            problem = problem or f"{path.name}: {error}."
            continue
        if best is None or _cells(found) > _cells(best):
            best = found
    if best is None:
        return [unjudged(name, UNREADABLE, problem) for name in names]
    return [judged_answer(name, lesson, best[name], sandbox) for name in names]


def check_size(path: Path) -> None:
    """Raise ValueError for a file that is too large to be read."""
    if (size := path.stat().st_size) > _LARGEST:
        raise ValueError(f"the file has {size >> 20:,} MiB; clear the outputs and hand it in again")


def _cells(found: Mapping[str, Any]) -> int:
    return sum(source is not None for source, *_ in found.values())


def judged_answer(name: str, lesson: str, answer: Sequence[Any], sandbox: Sandbox, own: bool = True) -> Judged:
    """Return the verdict on one answer, which is values of JSON (`submission.as_json`); the rest as in `judge`."""
    digest = hashlib.sha256(str(answer[0]).encode()).hexdigest()[:16]
    try:
        fields = sandbox.do("judge", name, lesson, answer, own)
        return Judged(**{**from_json(fields), "digest": digest})
    except (Stopped, ValueError) as error:
        return replace(unjudged(name, STOPPED, f"{error}."), digest=digest)
