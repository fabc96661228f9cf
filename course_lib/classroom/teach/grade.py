"""Grade the submissions of a class: a table, a page for each student, and a page for the teacher."""

import argparse
import contextlib
import hashlib
import json
import os
import re
import secrets
import sqlite3
import sys
import time
import unicodedata
from collections import Counter, UserDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

from tqdm import tqdm

from ...exercises.grading.routines import Routine
from ...simulator.tables import plural
from . import container, walls
from .cells import GRADED, lesson_named, places
from .collect import ABSENT, HandedIn, is_submission, shown, submissions
from .gradebook import EXPORTS, exact, plain, read_table, total, write_table
from .judge import MISSING, STOPPED, UNREADABLE, Judged, from_json, received, unjudged
from .limits import Limits, Stopped
from .pages import BY_HAND, feedback, for_teacher
from .sandbox import Sandbox
from .submission import LARGEST, NOTHING, Answer

_SHOWN = ("id", "student", "exercise", "points", "of", "comment", "status", "hint", "late", "note", "page", "seconds")
#: The last one has the answer's digest, and the points that the grader gave.
COLUMNS = (*_SHOWN, "answer")
#: What a person may change, and what it belongs to.
_NEEDED = ("id", "exercise", "points", "comment", "answer")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("submissions", type=Path, help="a folder: NAME.ipynb, NAME.zip or a folder NAME for each student")
    add("--lesson", required=True, help="such as 04")
    add("--csv", type=Path, default=Path("grades.csv"), help="the table; points and comments that you write are kept")
    add("--feedback", type=Path, default=Path("feedback"), help="the folder of the students' pages")
    add("--roster", type=Path, help="a table with the columns id, name, e-mail, or a list of Canvas, Moodle or GitHub")
    add("--export", choices=EXPORTS, help="write the totals for a gradebook, too, beside the table")
    add("--anonymous", action="store_true", help="pseudonyms on all pages; the table says whose they are")
    add("--jobs", type=int, default=1, help="how many submissions are judged at a time")
    add("--seconds", type=int, default=Limits.seconds, help="of processor time, for one answer")
    add("--student-seconds", type=int, default=Limits.student, help="of processor time, for one student")
    add("--memory", type=int, default=Limits.memory >> 20, help="MiB, for one answer")
    add("--seed", type=int, help="draw sizes and calls as the run with this seed did; else a new table draws one")
    add("--again", action="store_true", help="judge also what was judged before")
    add("--without-walls", action="store_true", help="execute functions also where the system has no walls")
    add("--container", choices=("docker", "podman"), help="do all of it in a container without a network")


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    for name, least in {"jobs": 1, "seconds": 1, "student_seconds": 1, "memory": 1, "seed": 0}.items():
        if (value := getattr(chosen, name)) is not None and value < least:
            raise ValueError(f"--{name.replace('_', '-')} must be at least {least}, not {value}")
    if chosen.container:
        return container.run(chosen)
    if chosen.without_walls and sys.platform != "linux":
        raise ValueError("--without-walls works on Linux alone: use --container")
    executes = chosen.without_walls or bool(walls.standing())
    without = "none, and functions are executed" if executes else f"none, so functions are not executed: {walls.NONE}"
    print(f"Walls around each answer: {walls.standing() or without}.")
    walls.hide()
    limits = Limits(chosen.seconds, chosen.memory << 20, student=chosen.student_seconds, executes=executes)
    lesson = lesson_named(chosen.lesson)
    handed_in = submissions(chosen.submissions, lesson, limits, chosen.roster)
    with alone(chosen.csv.with_name(f".{chosen.csv.name}.in-use")), alone(chosen.feedback / ".in-use"):
        more = {"anonymous": chosen.anonymous, "seed": chosen.seed}
        batch = Batch(handed_in, lesson, chosen.csv, chosen.feedback, limits, **more)
        batch.grade(chosen.jobs, chosen.again)
        print(batch.said())
        if chosen.export:
            print(batch.export(chosen.export))
    own = {path.resolve() for path in (batch.table, batch.journal.path, batch.teacher, chosen.roster) if path}
    others = [p.name for p in shown(chosen.submissions) if not is_submission(p) and p.resolve() not in own]
    if others:
        print(f"Passed over, since they are no notebooks (*.ipynb): {', '.join(map(ascii_of, others))}.")
    return 0


def ascii_of(name: str) -> str:
    """Return a name that any terminal can print."""
    return name if name.isprintable() else name.encode("ascii", "backslashreplace").decode()


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a file that only one run at a time can hold, by SQLite's lock; the system lets go of it however a run ends.

    Raise ValueError, with the folder, if another run holds it, and with the file if it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = sqlite3.connect(path, timeout=0)
        held.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ValueError(f"{path.parent} is in use by another run: wait until it ends") from None
        raise ValueError(f"{path} cannot be written: {error}") from None
    with contextlib.closing(held):
        yield


class Journal(UserDict[str, Any]):
    """What is known of a class, kept in a file: a line of JSON for each value, as soon as it is known."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError, TypeError):  # a line that was cut off
                self.data.update(json.loads(line))

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps({name: value})}")  # a line that was cut off stays alone


@dataclass(frozen=True)
class Marks:
    """The verdicts on a student's answers, a note on what was read, and the key of what was judged."""

    rows: tuple[Judged, ...]
    note: str = ""
    key: str = ""


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
        self.exercises, self.teacher = tuple(places(lesson)), table.with_suffix(".html")
        table.parent.mkdir(parents=True, exist_ok=True)
        pages.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(table.with_name(table.name + ".journal"))
        if seed is not None and self.journal.get("seed") != seed:
            self.journal["seed"] = seed
        self.seed = int(self.journal.setdefault("seed", secrets.randbelow(1_000_000)))
        self._salt = self.journal.setdefault("salt", secrets.token_hex(16)) if anonymous else ""
        self.submissions = tuple(replace(each, key=f"{each.key} {self.seed}") for each in handed_in)
        names = Counter(each.student for each in handed_in)
        full = {each.id: each.student + f" ({each.id})" * (names[each.student] > 1) for each in handed_in}
        #: What each student is called on a page, by id.
        self.labels = {id: f"student-{self._digest(id)}" if anonymous else name for id, name in full.items()}
        self.found = dict(self._read())
        self._pages, self.lost = set[str](), set[str]()
        self._by_hand = self._read_table()

    def _read(self) -> Iterator[tuple[str, Marks]]:
        for each in self.submissions:
            with contextlib.suppress(KeyError, TypeError):  # not judged yet, or by another version of the course
                told = self.journal[f"student {each.id}"]
                rows = tuple(Judged(**from_json(row)) for row in told["rows"])
                if {row.exercise for row in rows} <= {*self.exercises}:  # else it is of another lesson
                    yield each.id, Marks(rows, told["note"], told["key"])

    def grade(self, jobs: int = 1, again: bool = False) -> None:
        """Judge all ``again``, or those whose files, limits or seed are new; ``jobs`` sandboxes work at a time. Then
        write table and pages, also where this is interrupted.

        Whatever is raised concerns one student, whose rows say it. But a RuntimeError, of a process that does not
        start, ends it all.
        """
        judged = {id: marks.key for id, marks in self.found.items()}
        waiting = [each for each in self.submissions if again or judged.get(each.id) != each.key]
        free = SimpleQueue[Sandbox]()
        try:
            with contextlib.ExitStack() as sandboxes, ThreadPoolExecutor(jobs) as pool:
                for _ in range(min(jobs, len(waiting))):
                    free.put(sandboxes.enter_context(Sandbox(self.limits)))
                judging = {pool.submit(self._judged, each, free): each for each in waiting}
                try:
                    for done in tqdm(as_completed(judging), total=len(waiting), unit="submission", disable=None):
                        self._keep(judging[done], done.result())
                finally:
                    pool.shutdown(cancel_futures=True)
        finally:
            self._write()

    def _judged(self, each: HandedIn, free: SimpleQueue[Sandbox]) -> Marks:
        sandbox = free.get()
        try:
            return judged_submission(self.lesson, each, sandbox, self.limits, self.seed)
        except Exception as error:
            if type(error) is RuntimeError:
                raise
            said = f"the grader failed with {type(error).__name__}: {str(error)[:300]}."
            return Marks(tuple(unjudged(name, UNREADABLE, said) for name in self.exercises))
        finally:
            free.put(sandbox)

    def _keep(self, each: HandedIn, marks: Marks) -> None:
        self.found[each.id] = replace(marks, key=each.key)
        self.journal[f"student {each.id}"] = asdict(self.found[each.id])

    def graded(self) -> dict[str, list[Judged]]:
        """Return the rows of each student, by id, with the points and comments that were given by hand; a student
        whose turn has not come has none."""
        judged = ((each, self.found.get(each.id)) for each in self.submissions)
        return {each.id: [self._corrected(each, row) for row in found.rows] for each, found in judged if found}

    def said(self) -> str:
        """Say what there is now, for the person who graded."""
        rows = [row for each in self.graded().values() for row in each]
        statuses = ", ".join(f"{count} {status}" for status, count in Counter(row.status for row in rows).items())
        lines = [f"{plural(len(self.submissions), 'student')}, {plural(len(rows), 'answer')}: {statuses}."]
        lines.append(f"The sizes and calls were drawn by the seed {self.seed}: --seed {self.seed} draws them again.")
        if any(row.points is None for row in rows):
            lines.append(f"Read the answers in words in {self.teacher}, write points into {self.table}, and run again.")
        if any(each.roster for each in self.submissions):
            strange = [ascii_of(each.student) for each in self.submissions if not each.roster]
            lines += [f"Not in the roster: {', '.join(strange)}."] if strange else []
        return "\n".join([*lines, *sorted(self.lost)])

    def export(self, system: str) -> str:
        """Write the totals for a learning system, and say where they are and who is not among them.

        What the roster has in the system's own columns is copied, so that the system finds its students again.
        """
        graded, without = self.graded(), dict[str, list[str]]()
        theirs = (column for each in self.submissions for column in each.roster if column.startswith(self.lesson))
        title = next(theirs, self.lesson)  # as Canvas itself writes it
        of = f"{sum(GRADED[name].points for name in self.exercises):g}"
        lines = [{"Student": "Points Possible", title: of}] if system == "canvas" else []
        first = len(lines)
        for each in self.submissions:
            rows = graded.get(each.id, [])
            reached = total(rows)
            why = "" if each.paths or any(row.status == BY_HAND for row in rows) else "nothing was handed in"
            why = "an answer is unread" if reached.unread else why
            if system == "moodle" and not (each.number or each.roster.get("Identifier")):
                why = "no Moodle number: give --roster the assignment's grading worksheet"
            if why:
                without.setdefault(why, []).append(ascii_of(each.student))
                continue
            points = f"{reached.points:g}"
            own = {"Student": each.student, "ID": each.number, "SIS User ID": each.id if each.roster else ""}
            own |= {"Full name": each.student, "Identifier": f"Participant {each.number}"}
            own |= {column: text for column, text in each.roster.items() if text}
            own |= {"Email address": each.roster.get("e-mail", ""), "Grade can be changed": "Yes"}
            own |= {"Feedback comments": "\n".join(f"{row.exercise}: {row.comment}" for row in rows if row.comment)}
            lines.append(own | {"Maximum Grade": of, "Grade": points, title: points})
        path, columns = self.table.with_name(f"{self.table.stem}-{system}.csv"), EXPORTS[system]
        write_table(
            path, [c or title for c in columns], [[line.get(c or title, "") for c in columns] for line in lines]
        )
        left = (f"\nWithout a line in it ({why}): {', '.join(names)}." for why, names in without.items())
        return f"{path}: {plural(len(lines) - first, 'total')} for {system.title()}.{''.join(left)}"

    def _digest(self, id: str) -> str:
        """What tells students apart in names of files; with a salt only this table's journal tells whose it is."""
        return hashlib.sha256((self._salt + id).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    def _page(self, id: str) -> Path:
        """The file of a student's page: of plain letters, and not too long, whatever the name is."""
        name = "student" if self._salt else self.labels[id]
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40]
        return self.pages / f"{slug}-{self._digest(id)}.html"

    def _read_table(self) -> dict[tuple[str, str], tuple[float | None, str, str]]:
        """The points and comments that a person gave, and the digest of the answer to which they belong: points that
        differ from those that the table says were judged."""
        given: dict[tuple[str, str], tuple[float | None, str, str]] = {}
        first: dict[tuple[str, str], int] = {}
        known = {exact(each.id): each for each in self.submissions}
        for number, line in read_table(self.table, _NEEDED) if self.table.exists() else ():
            name, where = line["exercise"], f"{self.table}, line {number}"
            self._pages |= {line["page"]} if re.fullmatch(r"[a-z0-9-]+\.html", line.get("page") or "") else set()
            if name not in self.exercises:
                raise ValueError(f"{where}: {self.lesson} has no exercise {name!r}; each lesson needs its own --csv")
            same = first.setdefault((line["id"].strip(), name), number)
            if same != number:
                raise ValueError(f"{where}: line {same} is the same student's {name}, too; delete one of them")
            points, comment = line["points"].strip().replace(",", "."), plain(line["comment"])
            most = GRADED[name].points
            try:
                reached = float(points) if points else None
            except ValueError:
                reached = -1
            if reached is not None and not 0 <= reached <= most:
                raise ValueError(f"{where}: the points of {name} are from 0 to {most}, not {points!r}")
            digest, known_as, judged = line["answer"].strip().rpartition("/")
            student = known.get(line["id"].strip())
            if student and not known_as:
                raise ValueError(f"{where}: the column answer is not as it was written; undo what was changed in it")
            own = reached if _text(reached) != judged else None
            if own is None and not comment:
                continue
            if student is None:
                raise ValueError(f"{where}: {line['id']!r} handed in nothing; correct the id, or delete the line")
            given[student.id, name] = own, comment, digest
        return given

    def _corrected(self, each: HandedIn, row: Judged) -> Judged:
        reached, comment, digest = self._by_hand.get((each.id, row.exercise), (None, "", row.digest))
        if digest != row.digest:
            self.lost.add(
                f"{ascii_of(each.student)} changed the answer to {row.exercise}: what you gave for it no longer counts."
            )
            return row
        given: dict[str, Any] = {} if reached is None else {"points": reached, "status": BY_HAND}
        return replace(row, comment=comment, **given)

    def _write(self) -> None:
        graded, seed = self.graded(), self.seed
        table, students, by_label = [], {}, {}
        for each in (each for each in self.submissions if each.id in graded):
            label, page, found = self.labels[each.id], self._page(each.id), self.found[each.id]
            rows = by_label[label] = graded[each.id]
            note = "; ".join(filter(None, (found.note, each.problem if each.paths else "")))
            for row, judged in zip(rows, found.rows, strict=True):
                who, said = (exact(each.id), each.student, row.exercise), (_text(row.points), row.of, row.comment)
                rest = each.late, note, page.name, f"{row.seconds:.2f}", f"{row.digest}/{_text(judged.points)}"
                table.append((*who, *said, row.status, row.hint, *rest))
            lost = rows[0].hint if found.rows[0].status == UNREADABLE else ""
            if self._salt and (note or lost):  # both name files, which often have the names of their students
                note, rows = "the teacher's table says why", [replace(row, hint="") for row in rows] if lost else rows
            page.write_text(feedback(self.lesson, label, rows, seed, note), encoding="utf-8", errors="backslashreplace")
            link = quote(os.path.relpath(page, self.teacher.parent).replace(os.sep, "/"))
            students[label] = each.late, note or lost or each.problem, link
        for name in self._pages - {self._page(id).name for id in graded}:  # of names that are not shown any more
            (self.pages / name).unlink(missing_ok=True)
        write_table(self.table, COLUMNS, table)
        absent = [self.labels[each.id] for each in self.submissions if not each.paths]
        text = for_teacher(self.lesson, by_label, students, absent, seed)
        self.teacher.write_text(text, encoding="utf-8", errors="backslashreplace")


def _text(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


# ---- judging ---------------------------------------------------------------------------------------------------


def judged_submission(
    lesson: str, submission: HandedIn, sandbox: Sandbox, limits: Limits, seed: int | None = None
) -> Marks:
    """Return the verdict on each exercise of a lesson, of the notebook with most answers.

    After ``limits.student`` seconds, no more is read or judged: an answer takes what its process took, a file that is
    read the clock's time, and what is stopped takes the limit.
    """
    if not submission.paths:
        status = MISSING if submission.problem == ABSENT else UNREADABLE
        return Marks(tuple(unjudged(name, status, f"{submission.problem or NOTHING}.") for name in places(lesson)))
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
        rows = [unjudged(name, UNREADABLE, f"{notes[0]}.") for name in places(lesson)]
        return Marks(tuple(rows), "; ".join(notes[1:]))
    if read > 1:
        notes.insert(0, f"{best['name']} counts: {plural(best['answered'], 'answer')}, the most of {read} notebooks")
    rows, answers = [], {name: Answer(*best["answers"][name]) for name in places(lesson)}
    together = judged_together(lesson, answers, sandbox, seed) if spent < limits.student else {}
    for name, answer in answers.items():
        if isinstance(GRADED[name], Routine) and not limits.runs:
            row = replace(unjudged(name, STOPPED, f"it was not executed: {walls.NONE}."), points=None)
        elif spent < limits.student:
            row = together.get(name) or judged_answer(name, lesson, answer, sandbox, seed)
            spent += limits.seconds if row.status == STOPPED else row.seconds
        else:
            hint = f"the other answers of this student took the {limits.student} seconds of one student."
            row = unjudged(name, STOPPED, hint)
        digest = hashlib.sha256(str(answer.source).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        rows.append(replace(row, digest=digest))
    return Marks(tuple(rows), "; ".join(notes))


def contents(path: Path) -> bytes:
    """Return what is in a file; raise ValueError for one that is too large to be read."""
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"the file has {size >> 20:,} MiB; clear the outputs and hand it in again")
    return path.read_bytes()


def _replied(lesson: str, answers: Mapping[str, Answer], sandbox: Sandbox, seed: int | None) -> dict[str, Judged]:
    found = sandbox.do("judge", lesson, answers, seed)
    return {name: received(name, found.get(name, {})) for name in answers}


def judged_together(
    lesson: str, answers: Mapping[str, Answer], sandbox: Sandbox, seed: int | None = None
) -> dict[str, Judged]:
    """Return the verdicts on the answers that are not executed, from one process; none if one of them stops it."""
    texts = {name: answer for name, answer in answers.items() if not isinstance(GRADED[name], Routine)}
    with contextlib.suppress(Stopped, ValueError):
        return _replied(lesson, texts, sandbox, seed) if texts else {}
    return {}


def judged_answer(name: str, lesson: str, answer: Answer, sandbox: Sandbox, seed: int | None = None) -> Judged:
    """Return the verdict on one answer, judged in the sandbox; the rest as in `judge`."""
    try:
        return _replied(lesson, {name: answer}, sandbox, seed)[name]
    except (Stopped, ValueError) as error:
        return unjudged(name, STOPPED, f"{error}.")
