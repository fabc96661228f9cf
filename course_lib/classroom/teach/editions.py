"""The edition of the course for students, without solutions, notes and tests.

The edition for students is a folder that runs by itself (``uv run jupyter lab``). Every file that it holds is searched
for the solutions before anything is written.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...exercises import LESSONS
from .. import lessons
from ..pages.frame import write
from .cells import calls, lesson_cells, lesson_named, parsed

ROOT = lessons.home().parent
#: Files and folders that students get, and what in them is for teachers alone.
STUDENTS = (
    ".gitignore",
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "course_lib/",
    "docs/stepper.png",
    "environment.yml",
    "jupyter-config/",
    "jupyter_nbconvert_config.json",
    "notebooks/",
    "pyproject.toml",
)
TEACHERS = ("course_lib/classroom/teach/", "course_lib/classroom/nbgrader/", "notebooks/solutions/")
#: What students read as README.md.
README = "docs/teach/students.md"
#: Functions of the ladder are what some exercises ask for; the course needs them, and lessons show most of them.
LADDER = "course_lib/kernels/"
#: Lines of an answer's cell that its skeleton has, too: of the function that it defines, and of the check.
_FRAME = re.compile(r"@cuda\.jit|def |check\(|explain\(|attempt\(")
#: Exercises whose answer a lesson shows later: as the kernel that the next section, or exercise, begins with.
SHOWN = {"half-a-guard", "four-at-once", "plan"}
_LINK = re.compile(r"\[([^\[\]\n]*)\]\(((?:\d\d_\w+|notebooks/\d\d_\w+)\.ipynb)\)")
#: Sections of pyproject.toml that students need not: those of the tests and tools.
_TOOLS = re.compile(
    r"^\[\[?(?:dependency-groups|tool\.(?!uv|hatch)[^\]]*)\]\]?\n.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL
)
#: What `uv run` installs beside the dependencies.
_GROUP = '[dependency-groups]\ndev = ["tile-by-tile[lab,teach]"]\n'
_TEST_PACKAGES = re.compile(r"  # the tests\n.*?(  - pip:\n).*?(      - -e \.\n)", re.DOTALL)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--lessons", help="such as 04, or 00-05,07 (all)")


def run(options: argparse.Namespace) -> int:
    """Write an edition; return 0, or 1 where it would hold solutions."""
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        raise ValueError(f"{options.out} is not empty: name a new folder.")
    edition = students(chosen(options.lessons) if options.lessons else None)
    if found := leaks(edition):
        print("Nothing is written, since students would find solutions.", *found, file=sys.stderr)
        return 1
    write(options.out, edition)
    size = sum(map(len, edition.values())) / 1e6
    print(f"{options.out}: {len(edition)} files, {size:.1f} MB; {len(solutions())} solutions searched for, none found.")
    return 0


def chosen(text: str) -> set[str]:
    """Return the numbers of the lessons that "00-05,07" or "04" means; raise ValueError for a part that has none."""
    numbers = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        begin, end = lesson_named(first.strip()), lesson_named((last or first).strip())
        if begin > end:
            raise ValueError(f"there are no lessons {part.strip()}: name the first and then the last, as in 00-05.")
        numbers |= {lesson[:2] for lesson in LESSONS if begin <= lesson <= end}
    return numbers


def repository() -> dict[str, bytes]:
    """Return the course's files by name, as git knows them."""
    command = ["git", "-c", f"safe.directory={ROOT.as_posix()}", "ls-files", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        raise ValueError("editions are made from a git clone of the course: run this command in one.") from None
    return {name: (ROOT / name).read_bytes() for name in listed if name and (ROOT / name).is_file()}


def students(numbers: set[str] | None = None) -> dict[str, bytes]:
    """Return the files of an edition for students: all lessons, or those of the numbers."""
    files = repository()
    files["README.md"] = files[README]
    kept = {
        name: content for name, content in files.items() if name.startswith(STUDENTS) and not name.startswith(TEACHERS)
    }
    if numbers is not None:
        kept = {n: c for n, c in kept.items() if not re.match(r"notebooks/\d\d_", n) or n[10:12] in numbers}
    for name in kept:
        if name.startswith("notebooks/") or name in ("README.md", "pyproject.toml", "environment.yml"):
            kept[name] = _for_students(name, kept[name].decode(), kept).encode()
    return kept


def _for_students(name: str, text: str, kept: Mapping[str, bytes]) -> str:
    if name == "pyproject.toml":
        return f"{_TOOLS.sub('', text).rstrip()}\n\n{_GROUP}"
    if name == "environment.yml":
        return _TEST_PACKAGES.sub(r"\1\2", text)
    if name == "README.md":
        titles = {n: lessons.title(json.loads(c)) for n, c in sorted(kept.items()) if n.endswith(".ipynb")}
        return text.replace("{lessons}", "\n".join(f"- [{title}]({n})" for n, title in titles.items()))
    folder = name.rpartition("/")[0]
    return _LINK.sub(lambda link: link[0 if f"{folder}/{link[2]}" in kept else 1], lessons.for_students(text))


def leaks(edition: Mapping[str, bytes]) -> list[str]:
    """Return a sentence for each solution that a file of an edition contains.

    Looked for are lines of solutions that no lesson shows, and whole answers except `SHOWN`. The ladder's functions may
    be answers: lessons use them.
    """
    answers, found = [answer for answer in solutions() if answer.name not in SHOWN], []
    for name, content in edition.items():
        lines = [] if name.startswith(LADDER) else _lines(text_of(name, content))
        bare, joined = {line for _, line in lines}, _joined(lines)
        found += [
            f"{name} contains the solution of {answer.name}."
            for answer in answers
            if not answer.own.isdisjoint(bare) or answer.whole in joined
        ]
    return found


@dataclass(frozen=True)
class Solution:
    """The answer to an exercise: those of its lines that no lesson shows, and all of them as `_joined` writes them."""

    name: str
    own: frozenset[str]
    whole: str


@cache
def solutions() -> tuple[Solution, ...]:
    """Return the solutions of all exercises."""
    known = {line for path in lessons.files() for _, line in _lines(text_of(path.name, path.read_bytes()))}
    found = []
    for path in sorted((lessons.home() / "solutions").glob("*.ipynb")):
        for _, source in lesson_cells(path.stem, path.parent):
            for called, _ in calls(parsed(source)):
                lines = _lines("\n".join(line for line in source.splitlines() if not _FRAME.match(line)))
                own = frozenset(line for _, line in lines) - known
                found.append(Solution(called, own, "\n" + _joined(lines).partition("\n")[2]))
    return tuple(found)


def text_of(name: str, content: bytes) -> str:
    """Return the text of a file, of a notebook that of its cells; "" for a picture."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"]) if name.endswith(".ipynb") else text


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines of code without their layout, each with its indent relative to the line before."""
    whole = [line.partition("#")[0].rstrip() for line in text.splitlines()]
    indents = [(len(line) - len(line.lstrip()), "".join(line.split())) for line in whole if line]
    return [(indent - before, bare) for (before, _), (indent, bare) in zip([(0, ""), *indents], indents, strict=False)]


def _joined(lines: Sequence[tuple[int, str]]) -> str:
    """The lines as one text; the indent of the first, which depends on what is around it, is on a line of its own."""
    return "".join(f"{indent}\n{bare}\n" for indent, bare in lines)
