"""python -m course_lib.teach takes its subcommands from a table."""

import sys
from types import ModuleType

import pytest

from course_lib.classroom.teach.command import COMMANDS, main


@pytest.fixture
def double(monkeypatch):
    """A command that doubles a number and refuses 0."""
    module = ModuleType("course_lib.classroom.teach.doubling")

    def run(chosen):
        if chosen.number == 0:
            raise ValueError("0 cannot be doubled; take another number")
        if chosen.number == 1:
            open("no such file")
        return 2 * chosen.number

    module.arguments = lambda parser: parser.add_argument("number", type=int)
    module.run = run
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(COMMANDS, "double", ("doubling", "Double a number."))


def test_a_command_of_the_table_runs(double):
    assert main(["double", "4"]) == 8


def test_an_error_is_one_sentence(double, capsys):
    assert main(["double", "0"]) == 2
    assert capsys.readouterr().err == "tile-by-tile teach double: 0 cannot be doubled; take another number\n"


def test_a_file_that_is_not_there_is_named_first(double, capsys):
    assert main(["double", "1"]) == 2
    assert "double: no such file: No such file or directory\n" in capsys.readouterr().err


def test_without_a_command_all_are_listed(capsys):
    assert main([]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert all(f"{name} {does}" in told for name, (_, does) in COMMANDS.items())


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert COMMANDS[command][1] in " ".join(capsys.readouterr().out.split())
