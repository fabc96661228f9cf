"""tile-by-tile COMMAND ...: runs one of the course's commands; without one, lists lessons and commands.

``python -m course_lib`` is the same. The exit status is 0; 1 if a command found something wrong in what it was given; 2
if it was called wrongly, a file cannot be read or written, or its packages are missing. A new command is a row of
COMMANDS: its name, the module whose ``main(arguments)`` runs it and returns the status, and what it does. Modules are
imported when they are needed.
"""

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec

from .classroom import lessons
from .lazy import called, ended, of_an_extra

#: The exit status of a command whose reader has ended, as a shell gives it: 128 + SIGPIPE.
UNREAD = 141
Main = Callable[[Sequence[str] | None], int]


def command(main: Main) -> Callable[..., int]:
    """Make a command end without a trace where the reader of what it prints has ended, as in ``command | head``."""

    @wraps(main)
    def run(arguments: Sequence[str] | None = None) -> int:
        try:
            try:
                return main(arguments)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it once more at its end
            return UNREAD

    return run


COMMANDS = {
    "open": (".classroom.lessons", "copy the lessons into a folder, and open the short way in JupyterLab"),
    "run": (".machine.programs.command", "run a program or a test suite without a GPU, and judge each launch of it"),
    "profile": (".machine.profile.command", "say what your kernel requests and which rules it breaks, without a GPU"),
    "bugs": (".classroom.pages.bugs", "twelve kernels with a bug: find each in 60 seconds, in the browser"),
    "export": (".classroom.export", "write lessons as pages with live steppers"),
    "site": (".classroom.site", "write all lessons as a site of pages that open from a folder"),
    "teach": (
        ".classroom.teach.command",
        "write editions of the course and guides to the lessons, and grade notebooks",
    ),
    "gpu": (".machine.gpu.command", "measure the kernels on this machine's GPU"),
    "machine-code": (
        ".machine.record_machine_code",
        "record the compiler's code of the course's kernels, without a GPU",
    ),
}


def present() -> dict[str, tuple[str, str]]:
    """Return the commands whose modules are there: the edition for students has none of the teachers'."""
    return {name: row for name, row in COMMANDS.items() if find_spec(f"{__package__}{row[0].rpartition('.')[0]}")}


def listing() -> str:
    """Return one line for each lesson and for each command."""
    found = lessons.lessons_in(lessons.home())
    titles = [lessons.title(json.loads(path.read_text(encoding="utf-8")), path.stem) for path in found]
    rows = [f"  {name:13} {does}" for name, (_, does) in present().items()]
    return "\n".join(
        [f"Tile by Tile {version('tile-by-tile')}: {len(found)} lessons in {lessons.home()}", ""]
        + [f"  {title}" for title in titles]
        + ["", f"{called('COMMAND')} ...; COMMAND --help tells more.", "", *rows]
    )


@command
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named first; return its exit status: 2 for a command that does not exist."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    if not given or given[0] in ("-h", "--help"):
        print(listing())
        return 0
    if given[0] == "--version":
        print(f"Tile by Tile {version('tile-by-tile')}")
        return 0
    name, *rest = given
    if name not in present():
        print(f"There is no command {name!r}; there are {', '.join(present())}.", file=sys.stderr)
        return 2
    try:
        module = import_module(COMMANDS[name][0], __package__)
    except ModuleNotFoundError as missing:  # of an extra that is not installed
        print(of_an_extra(missing, called(name)), file=sys.stderr)
        return 2
    return ended(called(name), partial(module.main, rest))


if __name__ == "__main__":
    sys.exit(main())
