"""Grade the submissions of a class: a table, a page for each student, and a page for the teacher."""

import argparse
import contextlib
import hashlib
import json
import os
import re
import secrets
import sys
import time
import unicodedata
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar
from urllib.parse import quote

from tqdm import tqdm

from ...exercises import EXERCISES
from ...exercises.grading.routines import Routine
from ...simulator.tables import plural
from . import container, walls
from .cells import lesson_named, places
from .collect import ABSENT, HandedIn, is_submission, labels, shown, submissions
from .gradebook import EXPORTS, Entry, exact, plain, read_table, total, write_table
from .judge import MISSING, STOPPED, UNREADABLE, Judged, from_json, received, unjudged
from .limits import Limits, Stopped
from .pages import BY_HAND, feedback, for_teacher
from .sandbox import Sandbox
from .submission import LARGEST, NOTHING

COLUMNS = ("id", "student", "exercise", "points", "of", "comment", "status", "hint", "late", "note", "page", "seconds")
#: What a person may change, and what it belongs to.
_NEEDED = ("id", "exercise", "points", "comment", "status")
Record = TypeVar("Record")
#: Points, a comment, and the digest of the answer to which they belong; None where it is not known.
_ByHand = tuple[float | None, str, str | None]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = batch_arguments(parser, Limits.seconds)
    add("--lesson", required=True, help="such as 04")
    add("--csv", type=Path, default=Path("grades.csv"), help="the table; points and comments that you write are kept")
    add("--feedback", type=Path, default=Path("feedback"), help="the folder of the students' pages")
    add("--roster", type=Path, help="a table with the columns id, name, e-mail, or a list of Canvas, Moodle or GitHub")
    add("--export", choices=EXPORTS, help="write the totals for a gradebook, too, beside the table")
    add("--anonymous", action="store_true", help="pseudonyms on all pages; the table says whose they are")
    add("--student-seconds", type=int, default=Limits.student, help="of processor time, for one student")
    add("--memory", type=int, default=Limits.memory >> 20, help="MiB, for one answer")


def batch_arguments(parser: argparse.ArgumentParser, seconds: int) -> Callable[..., Any]:
    """Declare what each command that judges a class takes; return how a further argument is declared."""
    add = parser.add_argument
    add("submissions", type=Path, help="a folder: NAME.ipynb, NAME.zip or a folder NAME for each student")
    add("--jobs", type=int, default=1, help="how many submissions are judged at a time")
    add("--seconds", type=int, default=seconds, help="of processor time, for one answer")
    add("--seed", type=int, help="draw sizes and calls as the run with this seed did; else a new table draws one")
    add("--again", action="store_true", help="judge also what was judged before")
    add("--without-walls", action="store_true", help="execute and compile also where the system has no walls")
    add("--container", choices=("docker", "podman"), help="do all of it in a container without a network")
    return add


def walled(chosen: argparse.Namespace, work: str, done: str, *numbers: str) -> bool:
    """Check what was chosen, and say which walls there are; return whether students' ``work`` is ``done``.

    It is done within walls, or because that was chosen. ``numbers`` are arguments that must be at least 1.
    """
    for name in ("jobs", "seconds", *numbers):
        if getattr(chosen, name) < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, not {getattr(chosen, name)}")
    if chosen.seed is not None and chosen.seed < 0:
        raise ValueError(f"--seed must be at least 0, not {chosen.seed}")
    if chosen.without_walls and sys.platform != "linux" and not chosen.container:
        raise ValueError("--without-walls works on Linux alone: use --container")
    executes = chosen.without_walls or bool(walls.standing())
    if not chosen.container:
        without = f"none, and {work} are {done}" if executes else f"none, so {work} are not {done}: {walls.NONE}"
        print(f"Walls around each answer: {walls.standing() or without}.")
        walls.hide()
    return executes


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    executes = walled(chosen, "functions", "executed", "student_seconds", "memory")
    if chosen.container:
        return container.run(chosen)
    limits = Limits(chosen.seconds, chosen.memory << 20, student=chosen.student_seconds, executes=executes)
    lesson = lesson_named(chosen.lesson)
    handed_in = submissions(chosen.submissions, lesson, limits, chosen.roster)
    with alone(_journal(chosen.csv)), alone(chosen.feedback / ".in-use"):
        more = {"anonymous": chosen.anonymous, "seed": chosen.seed}
        batch = Batch(handed_in, lesson, chosen.csv, chosen.feedback, limits, **more)
        batch.grade(chosen.jobs, chosen.again)
        print(batch.said())
        if chosen.export:
            print(batch.export(chosen.export))
    own = {path.resolve() for path in (batch.table, batch.journal, batch.teacher, chosen.roster) if path}
    others = [p.name for p in shown(chosen.submissions) if not is_submission(p) and p.resolve() not in own]
    if others:
        print(f"Passed over, since they are no notebooks (*.ipynb): {', '.join(map(ascii_of, others))}.")
    return 0


def ascii_of(name: str) -> str:
    """Return a name that any terminal can print."""
    return name if name.isprintable() else name.encode("ascii", "backslashreplace").decode()


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a file that only one run at a time can hold; the system lets go of it however a run ends.

    Raise ValueError, with the folder, if another run holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            try:
                import fcntl
            except ImportError:  # Windows
                import msvcrt

                file.seek(1 << 40)  # a byte that nobody reads
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            else:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(f"{path.parent} is in use by another run: wait until it ends") from None
        yield


def _journal(table: Path) -> Path:
    return table.with_name(table.name + ".journal")


class Batch:
    """The grades of a class in one lesson, kept in a table and, beside it, in a journal of what was judged."""

    def __init__(
        self,
        handed_in: Sequence[HandedIn],
        lesson: str,
        table: Path,
        pages: Path,
        limits: Limits,
        *,
        anonymous: bool = False,
        seed: int | None = None,
    ) -> None:
        self.lesson, self.table, self.pages, self.limits = lesson, table, pages, limits
        self.submissions, self.exercises = tuple(handed_in), tuple(places(lesson))
        self.journal, self.teacher = _journal(table), table.with_suffix(".html")
        table.parent.mkdir(parents=True, exist_ok=True)
        pages.mkdir(parents=True, exist_ok=True)
        self._records = self._read_journal()
        self._salt = noted(self.journal, "salt", lambda: secrets.token_hex(16))
        self.seed = seed_of(self.journal, seed)
        self.labels = labels(handed_in)
        if anonymous:
            self.labels = {id: self._pseudonym(id) for id in self.labels}
        self._pages, self._noted = set[str](), dict[tuple[str, str], _ByHand]()
        self._by_hand = self._read_table()
        self.lost: set[str] = set()

    def grade(self, jobs: int = 1, again: bool = False) -> None:
        """Judge what was not judged before, then write table and pages; also where this is interrupted."""
        waiting = [s for s in self.submissions if s.paths and (again or not self.is_done(s))]
        judge = partial(judged_submission, self.lesson, limits=self.limits, seed=self.seed)
        try:
            judging = each_judged(waiting, judge, self._failed, self.limits, jobs)
            for submission, rows in tqdm(judging, total=len(waiting), unit="submission", disable=None):
                self._keep(submission, *rows)
        finally:
            self._write()

    def graded(self) -> dict[str, list[Judged]]:
        """Return the rows of each student, by id, with the points and comments that were given by hand; a student
        whose turn has not come has none."""
        judged = {each: self._rows(each) for each in self.submissions}
        return {each.id: [self._corrected(each, row) for row in rows] for each, rows in judged.items() if rows}

    def _rows(self, each: HandedIn) -> Sequence[Judged]:
        """What was judged of a student, or what is said where there is nothing to judge."""
        if each.paths:
            return self._records[each.id]["rows"] if each.id in self._records else ()
        status = MISSING if each.problem == ABSENT else UNREADABLE
        return [unjudged(name, status, f"{each.problem or NOTHING}.") for name in self.exercises]

    def said(self) -> str:
        """Say what there is now, for the person who graded."""
        rows = [row for each in self.graded().values() for row in each]
        statuses = ", ".join(f"{count} {status}" for status, count in Counter(row.status for row in rows).items())
        lines = [f"{plural(len(self.submissions), 'submission')}, {plural(len(rows), 'answer')}: {statuses}."]
        lines.append(drawn_by(self.seed))
        if any(row.points is None for row in rows):
            lines.append(
                f"Answers in words are in {self.teacher}: write their points into {self.table}, and run again."
            )
        if any(each.roster for each in self.submissions):
            strange = [ascii_of(each.student) for each in self.submissions if not each.roster]
            lines += [f"Not in the roster: {', '.join(strange)}."] if strange else []
        return "\n".join([*lines, *sorted(self.lost)])

    def export(self, system: str) -> str:
        """Write the totals for a learning system, and say where they are and who is not among them."""
        graded, entries, without = self.graded(), [], []
        for each in self.submissions:
            reached = total(graded.get(each.id, ()))
            known = system != "moodle" or each.number or each.roster.get("Identifier")
            judged = each.paths or any(row.status == BY_HAND for row in graded.get(each.id, ()))
            if not known or reached.unread or not judged:
                without.append(ascii_of(each.student))
                continue
            comment = "\n".join(f"{row.exercise}: {row.comment}" for row in graded[each.id] if row.comment)
            own = each.id if each.roster else ""
            entries.append(Entry(each.student, own, each.number, each.roster, reached, comment))
        path = self.table.with_name(f"{self.table.stem}-{system}.csv")
        columns = (column for each in self.submissions for column in each.roster if column.startswith(self.lesson))
        write_table(path, *EXPORTS[system](next(columns, self.lesson), entries))  # titled as Canvas itself does
        left = f" Without a line in it, since something is unread, unknown or not handed in: {', '.join(without)}."
        return f"{path}: {plural(len(entries), 'total')} for {system.title()}.{left * bool(without)}"

    def is_done(self, submission: HandedIn) -> bool:
        """Return whether the same notebooks were judged before."""
        return self._records.get(submission.id, {}).get("key") == self._key(submission)

    def _key(self, submission: HandedIn) -> str:
        return f"{submission.key} {self.seed}"

    def _pseudonym(self, id: str) -> str:
        """A name that only this table connects with the student: the salt is in its journal."""
        return f"student-{hashlib.sha256((self._salt + id).encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"

    def _page(self, id: str) -> Path:
        """The file of a student's page: of plain letters, and not too long, whatever the name is."""
        label = self.labels[id]
        if label == self._pseudonym(id):
            return self.pages / f"{label}.html"
        plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40]
        return self.pages / f"{slug}-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.html"

    def _keep(self, submission: HandedIn, rows: Sequence[Judged], note: str) -> None:
        record = {"key": self._key(submission), "note": note}
        self._records[submission.id] = record | {"rows": rows}
        add_record(self.journal, {"id": submission.id} | record | {"rows": [asdict(row) for row in rows]})

    def _failed(self, submission: HandedIn, said: str) -> tuple[list[Judged], str]:
        return [unjudged(name, UNREADABLE, said) for name in self.exercises], ""

    def _read_journal(self) -> dict[str, dict[str, Any]]:
        """Return the earlier verdicts, without a last line that was cut off."""

        def read(record: Any) -> tuple[str, dict[str, Any]]:
            rows = [Judged(**from_json(row)) for row in record["rows"]]
            return record["id"], {"key": record["key"], "note": record["note"], "rows": rows}

        known = set(self.exercises)
        records = recorded(self.journal, read)
        return {id: found for id, found in records if {row.exercise for row in found["rows"]} <= known}

    def _read_table(self) -> dict[tuple[str, str], _ByHand]:
        """The points and comments that a person gave, and to which text: points that differ from what was judged.

        They are noted in the journal before anything is judged: the table alone does not say to which answer they
        belong, once a run that was killed has judged another one.
        """
        given: dict[tuple[str, str], _ByHand] = {}
        for lines in recorded(self.journal, lambda record: record["by hand"]):
            self._noted = {(id, name): (points, comment, digest) for id, name, points, comment, digest in lines}
        known = {exact(each.id): each for each in self.submissions}
        for number, line in read_table(self.table, _NEEDED) if self.table.exists() else ():
            name, where = line["exercise"], f"{self.table}, line {number}"
            self._pages |= {line["page"]} if re.fullmatch(r"[a-z0-9-]+\.html", line.get("page") or "") else set()
            if name not in self.exercises:
                raise ValueError(f"{where}: {self.lesson} has no exercise {name!r}; each lesson needs its own --csv")
            points, comment = line["points"].strip().replace(",", "."), plain(line["comment"])
            most = EXERCISES[name].points
            try:
                reached = float(points) if points else None
            except ValueError:
                reached = -1
            if reached is not None and not 0 <= reached <= most:
                raise ValueError(f"{where}: the points of {name} are from 0 to {most}, not {points!r}")
            student = known.get(line["id"].strip())
            row = next((row for row in self._rows(student) if row.exercise == name), None) if student else None
            changed = reached != row.points if row else line["status"] == BY_HAND
            own = reached if changed else None
            if own is None and not comment:
                continue
            if student is None:
                raise ValueError(f"{where}: {line['id']!r} handed in nothing; correct the id, or delete the line")
            now = own, comment, row.digest if row else None
            noted = self._noted.get((student.id, name), now)
            given[student.id, name] = noted if noted[:2] == now[:2] else now
        self._note_by_hand(given)
        return given

    def _note_by_hand(self, given: Mapping[tuple[str, str], _ByHand]) -> None:
        if given != self._noted:
            add_record(self.journal, {"by hand": [[*key, *value] for key, value in given.items()]})
        self._noted = dict(given)

    def _corrected(self, each: HandedIn, row: Judged) -> Judged:
        reached, comment, digest = self._by_hand.get((each.id, row.exercise), (None, "", None))
        if digest not in (None, row.digest):
            self.lost.add(
                f"{ascii_of(each.student)} changed the answer to {row.exercise}: what you gave for it no longer counts."
            )
            return row
        given: dict[str, Any] = {} if reached is None else {"points": reached, "status": BY_HAND}
        return replace(row, comment=comment, **given)

    def _write(self) -> None:
        graded = self.graded()
        by_label = {self.labels[id]: rows for id, rows in graded.items()}
        table, students = [], {}
        for each in (each for each in self.submissions if each.id in graded):
            label, page, rows = self.labels[each.id], self._page(each.id), graded[each.id]
            read = self._records[each.id]["note"] if each.paths else ""
            note = "; ".join(filter(None, (read, each.problem if each.paths else "")))
            for row in rows:
                points = "" if row.points is None else f"{row.points:g}"
                who, said = (exact(each.id), each.student, row.exercise), (points, row.of, row.comment)
                table.append((*who, *said, row.status, row.hint, each.late, note, page.name, f"{row.seconds:.2f}"))
            page.write_text(
                feedback(self.lesson, label, rows, self.seed, note), encoding="utf-8", errors="backslashreplace"
            )
            link = quote(os.path.relpath(page, self.teacher.parent).replace(os.sep, "/"))
            students[label] = each.late, note or each.problem, link
        for name in self._pages - {row[-2] for row in table}:  # of names that are not shown any more
            (self.pages / name).unlink(missing_ok=True)
        write_table(self.table, COLUMNS, table)
        given = {
            (id, row.exercise): (row.points if row.status == BY_HAND else None, row.comment, row.digest)
            for id, rows in graded.items()
            for row in rows
            if row.status == BY_HAND or row.comment
        }
        self._note_by_hand(given)
        absent = [self.labels[each.id] for each in self.submissions if not each.paths]
        text = for_teacher(self.lesson, by_label, students, absent, self.seed)
        self.teacher.write_text(text, encoding="utf-8", errors="backslashreplace")


def recorded(journal: Path, read: Callable[[Any], Record]) -> Iterator[Record]:
    """Yield what ``read`` makes of each line of a journal, without a last line that was cut off."""
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else ():
        try:
            yield read(json.loads(line))
        except (json.JSONDecodeError, KeyError, TypeError):
            continue


def add_record(journal: Path, record: dict[str, Any]) -> None:
    """Add a line to a journal."""
    with journal.open("a", encoding="utf-8") as file:
        file.write(f"\n{json.dumps(record)}")  # a line that was cut off stays alone


def noted(journal: Path, name: str, draw: Callable[[], Any], chosen: Any = None) -> Any:
    """Return a value that a table keeps: the chosen one, else the last of this name in its journal, else a new one."""
    *_, last = None, *recorded(journal, lambda record: record[name])
    value = last if chosen is None else chosen
    value = draw() if value is None else value
    if value != last:
        add_record(journal, {name: value})
    return value


def seed_of(journal: Path, chosen: int | None) -> int:
    """Return the seed of a run, which a new table draws."""
    return int(noted(journal, "seed", lambda: secrets.randbelow(1_000_000), chosen))


def drawn_by(seed: int) -> str:
    """Say by which seed sizes and calls were drawn."""
    return f"The sizes and calls were drawn by the seed {seed}: --seed {seed} draws them again."


# ---- judging ---------------------------------------------------------------------------------------------------


def each_judged(
    waiting: Sequence[HandedIn],
    judge: Callable[[HandedIn, Sandbox], Record],
    failed: Callable[[HandedIn, str], Record],
    limits: Limits,
    jobs: int,
) -> Iterator[tuple[HandedIn, Record]]:
    """Yield each submission with what ``judge`` returns, as they come; ``jobs`` sandboxes work at a time.

    Whatever ``judge`` raises concerns one student: that student gets what ``failed`` returns for a sentence. But a
    RuntimeError, of a process that does not start, ends it all.
    """
    free = SimpleQueue[Sandbox]()

    def judged(submission: HandedIn) -> Record:
        sandbox = free.get()
        try:
            return judge(submission, sandbox)
        except Exception as error:
            if type(error) is RuntimeError:
                raise
            return failed(submission, f"the grader failed with {type(error).__name__}: {str(error)[:300]}.")
        finally:
            free.put(sandbox)

    with contextlib.ExitStack() as sandboxes, ThreadPoolExecutor(jobs) as pool:
        for _ in range(min(jobs, len(waiting))):
            free.put(sandboxes.enter_context(Sandbox(limits)))
        judging = {pool.submit(judged, submission): submission for submission in waiting}
        try:
            for done in as_completed(judging):
                yield judging[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def judged_submission(
    lesson: str, submission: HandedIn, sandbox: Sandbox, limits: Limits, seed: int | None = None
) -> tuple[list[Judged], str]:
    """Return the verdict on each exercise of a lesson, of the notebook with most answers, and a note on what was read.

    After ``limits.student`` seconds, no more is read or judged: an answer takes what its process took, a file that is
    read the clock's time, and what is stopped takes the limit.
    """
    best: Mapping[str, Any] = {"answered": -1}
    read, spent, notes = 0, 0.0, list[str]()
    for number, path in enumerate(submission.paths):
        if spent >= limits.student:
            left = plural(len(submission.paths) - number, "notebook")
            notes.append(f"{left} were not read, since {limits.student} seconds are over")
            break
        began = time.monotonic()
        try:
            found = sandbox.do("read", path.name, contents(path), lesson)
        except (Stopped, ValueError, OSError) as error:
            notes.append(f"{path.name}: {getattr(error, 'strerror', None) or error}")
            spent += limits.seconds if isinstance(error, Stopped) else 0
        else:
            read += found["notebooks"]
            best = max(best, found, key=lambda each: int(each["answered"]))
        spent += min(time.monotonic() - began, limits.seconds)
    if best["answered"] < 0:
        rows = [unjudged(name, UNREADABLE, f"{(notes or [NOTHING])[0]}.") for name in places(lesson)]
        return rows, "; ".join(notes[1:])
    if read > 1:
        notes.insert(0, f"{best['name']} counts: {plural(best['answered'], 'answer')}, the most of {read} notebooks")
    rows = []
    for name in places(lesson):
        answer = best["answers"][name]
        if isinstance(EXERCISES[name], Routine) and not limits.runs:
            row = replace(unjudged(name, STOPPED, f"it was not executed: {walls.NONE}."), points=None)
        elif spent < limits.student:
            row = judged_answer(name, lesson, answer, sandbox, seed)
            spent += limits.seconds if row.status == STOPPED else row.seconds
        else:
            hint = f"the other answers of this student took the {limits.student} seconds of one student."
            row = unjudged(name, STOPPED, hint)
        digest = hashlib.sha256(str(answer[0]).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        rows.append(replace(row, digest=digest))
    return rows, "; ".join(notes)


def contents(path: Path) -> str:
    """Return a file as text of base 64; raise ValueError for one that is too large to be read."""
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"the file has {size >> 20:,} MiB; clear the outputs and hand it in again")
    return b64encode(path.read_bytes()).decode()


def judged_answer(name: str, lesson: str, answer: Sequence[Any], sandbox: Sandbox, seed: int | None = None) -> Judged:
    """Return the verdict on one answer, which is values of JSON (`submission.Answer`); the rest as in `judge`."""
    try:
        return received(name, sandbox.do("judge", name, lesson, answer, seed))
    except (Stopped, ValueError) as error:
        return unjudged(name, STOPPED, f"{error}.")
