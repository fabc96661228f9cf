"""The commands for teachers.

tile-by-tile teach students --out edition --lessons 00-05
tile-by-tile teach assignment 04 --for nbgrader --out source
tile-by-tile teach grade submissions --lesson 04
tile-by-tile teach slides --lesson 04
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from ...lazy import called, ended, of_an_extra
from ..lessons import home

#: Each command: the module of this package that runs it, and what it does. The module has ``arguments(parser)``, and
#: ``run(chosen)``, which returns the exit status; a ValueError or an OSError of it is shown as one sentence. It is
#: imported only when its command is called.
COMMANDS = {
    "students": ("editions", "Write an edition without solutions, notes and tests."),
    "assignment": ("assignment", "Write a lesson's exercises as an assignment for nbgrader, Otter or neither."),
    "grade": ("grade", "Grade a folder of notebooks in one lesson."),
    "slides": ("slides", "Write the deck of a lesson, of a plan, or of all, with the speaker's notes."),
    "guides": ("guides", "Write the guides to the lessons, and the plans."),
}
#: Commands that need the solutions, or other files that only a clone of the course has.
OF_A_CLONE = ("students", "assignment", "guides")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first argument names; return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    lacking = () if (home() / "solutions").is_dir() else OF_A_CLONE
    says = f"{', '.join(lacking)}: in a git clone of the course, which has the solutions." if lacking else ""
    parser = argparse.ArgumentParser(prog=called("teach"), description="Commands for teachers.", epilog=says)
    if words[:1] and words[0] in lacking:
        needs = "needs the solutions, which the installed package does not have: run it in a git clone of the course."
        print(f"{parser.prog} {words[0]} {needs}", file=sys.stderr)
        return 2
    table = parser.add_subparsers(metavar="command")
    for name, (module, does) in COMMANDS.items():
        if name in lacking:
            continue
        part = table.add_parser(name, help=does, description=does)
        if name in words[:1]:
            try:
                found = import_module(f"{__package__}.{module}")
            except ModuleNotFoundError as missing:  # of an extra that is not installed
                print(of_an_extra(missing, f"{parser.prog} {name}"), file=sys.stderr)
                return 2
            found.arguments(part)
            part.set_defaults(run=found.run, command=name)
    chosen = parser.parse_args(words)
    if "run" not in chosen:
        parser.print_help()
        return 0
    return ended(f"{parser.prog} {words[0]}", partial(chosen.run, chosen), ValueError)
