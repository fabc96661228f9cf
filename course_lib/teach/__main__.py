"""The commands for teachers.

python -m course_lib.teach students --out edition --lessons 00-05
python -m course_lib.teach assignment 04 --for nbgrader --out source
python -m course_lib.teach grade submissions --lesson 04 --csv grades.csv --feedback feedback
python -m course_lib.teach ranking submissions --csv ranking.csv --page ranking.html
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Command:
    """A subcommand: what it does, and the module of this package that implements it.

    The module has ``arguments(parser)``, and ``run(chosen)``, which returns the exit status; a ValueError or an OSError
    of it is shown as one sentence. The module is imported only when its command is called.
    """

    name: str
    does: str
    module: str

    @property
    def arguments(self) -> Callable[[argparse.ArgumentParser], None]:
        """Declare the command's arguments."""
        return self._module.arguments

    @property
    def run(self) -> Callable[[argparse.Namespace], int]:
        """Do it."""
        return self._module.run

    @property
    def _module(self) -> Any:
        return import_module(f"{__package__}.{self.module}")


COMMANDS: tuple[Command, ...] = (
    Command("students", "Write an edition without solutions, notes and tests.", "editions"),
    Command("assignment", "Write a lesson's exercises as an assignment for nbgrader, Otter or neither.", "assignment"),
    Command("grade", "Grade the submissions of a class in one lesson.", "grade"),
    Command("ranking", "Rank the kernels of a class in the capstone.", "ranking"),
    Command("guides", "Write the guides to the lessons, and the plans.", "guides"),
)


def main(arguments: Sequence[str] | None = None, commands: Sequence[Command] = COMMANDS) -> int:
    """Run the command that the first argument names; return its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="python -m course_lib.teach", description="Commands for teachers.")
    table = parser.add_subparsers(dest="command", metavar="command")
    for command in commands:
        part = table.add_parser(command.name, help=command.does, description=command.does)
        if command.name in words[:1]:
            command.arguments(part)
    chosen = parser.parse_args(words)
    if chosen.command is None:
        parser.print_help()
        return 0
    command = next(c for c in commands if c.name == chosen.command)
    try:
        return command.run(chosen)
    except (ValueError, OSError) as error:
        print(f"{parser.prog} {command.name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog} {command.name}: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
