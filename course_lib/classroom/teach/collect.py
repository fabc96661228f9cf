"""What a class has handed in: the files of each student, found by the names that people and learning systems give."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path

from ...exercises import MODULES
from .cells import lesson_cells
from .gradebook import read_table
from .limits import Limits
from .submission import LARGEST, of_lesson

_DEEPEST, _MOST = 20, 200  # folders inside each other, and files of a student
_FILES = (".ipynb", ".zip")
#: The problem of a student of the roster who has no file.
ABSENT = "nothing was handed in"


@dataclass(frozen=True)
class HandedIn:
    """A student's submission. ``id`` is unique and never changes: that of the roster, else the ``number`` in a learning
    system, else the exact name, in composed letters. ``late`` is what the name tells: days, "yes", or nothing. ``key``
    changes with the files, ``problem`` says what could not be found or read, ``roster`` is the student's line there."""

    id: str
    student: str
    paths: tuple[Path, ...] = ()
    late: str = ""
    problem: str = ""
    key: str = ""
    number: str = ""
    roster: Mapping[str, str] = field(default_factory=dict, hash=False)


def submissions(folder: Path, lesson: str, limits: Limits, roster: Path | None = None) -> tuple[HandedIn, ...]:
    """Return what each student handed in: ``NAME.ipynb``, ``NAME.zip`` or a folder ``NAME``, in the order of the names.

    Files of one student under several names are one submission; those of the ``roster`` have one in any case. Links are
    not followed. Raise NotADirectoryError if there is no such folder, ValueError if nobody handed in a notebook.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")
    people = read_roster(roster) if roster else []
    known: dict[str, list[HandedIn]] = {}
    for listed, name in ((each, name) for each in people for name in _names(each)):
        known.setdefault(name, []).append(listed)
    found: dict[str, HandedIn] = {}
    for path in sorted(shown(folder), key=lambda path: not is_submission(path)):
        try:
            each = _of(path)
        except (OSError, ValueError, RecursionError) as error:
            each = HandedIn(path.name, path.name, problem=str(error))
        if person := _person(each, known, is_clone=os.path.exists(path / ".git")):
            each = replace(each, id=person.id, student=person.student, roster=person.roster)
        if not is_submission(path) and (not person or each.id in found):
            continue
        before = found.get(each.id, replace(each, paths=(), late="", problem=""))
        late = max(before.late, each.late, key=lambda days: (days != "", days.isdigit(), len(days), days))
        problem = "; ".join(filter(None, (before.problem, each.problem)))
        found[each.id] = replace(before, paths=before.paths + each.paths, late=late, problem=problem)
    for person in people:
        found.setdefault(person.id, person)
    if not any(each.paths for each in found.values()):
        raise ValueError(f"{folder} holds no notebook (*.ipynb)")
    texts = exercise_texts(lesson)
    by_name = sorted(found.values(), key=lambda each: (each.student, each.id))
    return tuple(_keyed(each, lesson, repr(limits).encode() + texts) for each in by_name)


def is_submission(path: Path) -> bool:
    """Say whether a file or folder is a student's, not another file in the folder."""
    return path.suffix.casefold() in _FILES or path.is_symlink() or path.is_dir()


def shown(folder: Path) -> Iterator[Path]:
    """Return the contents of a folder, without hidden files and those that macOS packs into archives."""
    return (path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "__MACOSX")))


def _of(path: Path) -> HandedIn:
    """The submission in one file or folder; whatever it is, it stops nobody else's."""
    stem = path.name if path.is_dir() else path.stem
    student, number, late = named(stem.removesuffix(".ipynb"))
    found = list(islice(_files(path), 50 * _MOST))
    paths = tuple(file for file, problem in found if not problem)
    problems = [problem for _, problem in found if problem]
    problems += [f"it has more than {_MOST} notebooks"] * (len(paths) > _MOST)
    return HandedIn(number or student, student, paths[:_MOST], late, "; ".join(dict.fromkeys(problems)), number=number)


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """The notebooks and archives in a file or folder, or what is wrong with one."""
    if path.is_symlink():
        yield path, f"{path.name} is a link: hand in the file itself"
    elif not path.is_dir():
        wrong = "no file" if not path.is_file() else "" if is_submission(path) else "no notebook (*.ipynb)"
        yield path, wrong and f"{path.name} is {wrong}"
    else:
        errors: list[OSError] = []
        for folder, inside, files in os.walk(path, onerror=errors.append):
            here = Path(folder)
            links = [name for name in inside if os.path.islink(here / name)]
            files = [name for name in files if name.casefold().endswith(_FILES)]
            inside[:] = sorted(name for name in inside if not name.startswith((".", "__MACOSX")) and name not in links)
            if inside and len(here.relative_to(path).parts) >= _DEEPEST:
                inside.clear()
                yield here, f"it has more than {_DEEPEST} folders inside each other"
            for name in sorted(links):
                yield here, f"{name} is a link: hand in the file itself"
            for name in sorted(name for name in files if not name.startswith(".")):
                yield from _files(here / name)
        yield from ((path, f"{Path(error.filename).name}: {error.strerror}") for error in errors)


#: "LATE", and days if they follow, as a word of a name. Canvas writes it after the name.
_LATE = re.compile(r"(?:^|[ _(-]+)LATE(?:[ _-]?(\d{1,2})(?!\d)(?: days?)?)?\)*(?![A-Za-z0-9])")
#: Canvas names a file by student, [LATE], user, attachment, file (lib/content_zipper.rb); Moodle a folder or a file by
#: student, participant, plug-in, [file] (mod/assign).
_SYSTEMS = (
    re.compile(r"(?P<name>\w+?)_(?P<number>\d{3,})_\d{3,}_.+", re.DOTALL),
    re.compile(r"(?P<name>anon_[A-Za-z0-9]+)_(?P<number>)\d{3,}_.+", re.DOTALL),
    re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_.*", re.DOTALL),
)


def named(stem: str) -> tuple[str, str, str]:
    """Return the student, the number in a learning system ("" without one), and how late, as a name tells them."""
    stem = unicodedata.normalize("NFC", stem)
    late = _LATE.search(stem)
    if late:
        stem = (stem[: late.start()] + stem[late.end() :]).lstrip("_") or stem
    found = next(filter(None, (system.fullmatch(stem) for system in _SYSTEMS)), None)
    days = (late[1] or "yes") if late else ""
    return (found["name"], found["number"], days) if found else (stem, "", days)


def _keyed(each: HandedIn, lesson: str, seed: bytes) -> HandedIn:
    """The submission with its files of this lesson in the order of reading, and its key."""
    names = of_lesson([*{path.name for path in each.paths}], lesson)
    paths = tuple(path for name in names for path in each.paths if path.name == name)
    digest = hashlib.sha256(seed)
    for path in paths:
        digest.update(path.name.encode("utf-8", "surrogatepass"))
        try:
            if path.stat().st_size <= LARGEST:
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            digest.update(str(error).encode("utf-8", "surrogatepass"))
    return replace(each, paths=paths, key=digest.hexdigest() + each.problem)


def exercise_texts(lesson: str) -> bytes:
    """Return a digest of what judges a lesson: the file of its exercises, its cells, and the version of the course."""
    try:
        course = version("tile-by-tile")
    except PackageNotFoundError:  # a checkout that is not installed
        course = ""
    own = Path(MODULES[lesson].__file__ or "").read_bytes()
    return hashlib.sha256(f"{course} {lesson_cells(lesson)}".encode() + own).digest()


# ---- the roster ------------------------------------------------------------------------------------------------

#: Names of columns, without spaces and signs, the best one first.
_ID = ("id", "identifier", "studentid", "idnumber", "sisuserid", "sisloginid", "username", "githubusername")
_NAME = ("name", "fullname", "student", "studentname", "identifier")
_MAIL = ("email", "emailaddress", "mail")


def read_roster(path: Path) -> list[HandedIn]:
    """Return the students of a table with the columns id, name and e-mail, or of a list that Canvas (gradebook), Moodle
    (grading worksheet) or GitHub Classroom (roster) wrote; raise ValueError if it has no names, or an id twice."""
    people: dict[str, HandedIn] = {}
    for number, line in read_table(path, ()):
        fields = _fields(line)
        id, name, mail = (next((fields[c] for c in columns if c in fields), "") for columns in (_ID, _NAME, _MAIL))
        parts = (fields.get("firstname"), fields.get("lastname") or fields.get("surname"))
        student = name or " ".join(filter(None, parts)) or mail
        if not student or student == "Points Possible":  # Canvas has such a line below the first
            continue
        person = HandedIn(id or mail or student, student, problem=ABSENT, roster={**line, "e-mail": mail})
        if person.id in people:
            raise ValueError(f"{path}, line {number}: the id {person.id!r} is there twice")
        people[person.id] = person
    if not people:
        raise ValueError(f"{path}: there is no student in it; the first line must name the columns id, name and e-mail")
    return list(people.values())


def _fields(line: Mapping[str, str]) -> dict[str, str]:
    return {_letters(column): text.strip() for column, text in line.items() if column and text and text.strip()}


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", _spellings(text)[0])


def _spellings(text: str) -> tuple[str, str]:
    """A name in small letters; and, after a mark that no name has, without accents."""
    small = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return small, "\n" + "".join(c for c in unicodedata.normalize("NFKD", small) if not unicodedata.combining(c))


def _person(each: HandedIn, names: Mapping[str, Sequence[HandedIn]], is_clone: bool) -> HandedIn | None:
    """The one student of the roster whom the number or the name of a submission means, with its accents or without.

    GitHub Classroom names a repository ASSIGNMENT-LOGIN, and either may have more dashes.
    """
    told, words = [each.number, each.student], each.student.split("-")
    told += ["-".join(words[n:]) for n in range(1, len(words))] if is_clone else []
    spellings = (spelling for text in told for spelling in _spellings(text))
    return next((found[0] for text in spellings if len(found := names.get(text, ())) == 1), None)


def _names(person: HandedIn) -> set[str]:
    """What a file of a student may be called: id, name, also "Lima, Ana" as Ana Lima, e-mail, login, and the name as
    Canvas squeezes it."""
    fields, words = _fields(person.roster), person.student.split()
    known = [person.student, *(fields[column] for column in (*_ID, *_NAME, *_MAIL) if column in fields)]
    parts = [text.split("@")[0] if "@" in text else text.removeprefix("Participant ") for text in known]
    known.append(" ".join(reversed(person.student.split(", "))))
    squeezed = _letters("".join(words)), _letters("".join(words[-1:] + words[:-1]))
    return {spelling for text in (*known, *parts, *squeezed) if text.strip() for spelling in _spellings(text)}
