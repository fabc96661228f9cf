"""python -m course_lib.teach takes its subcommands from a table."""

import sys
from types import ModuleType

import pytest

from course_lib.teach.__main__ import COMMANDS, Command, main


@pytest.fixture
def commands(monkeypatch):
    """One command, "double", which doubles a number and refuses 0."""
    module = ModuleType("course_lib.teach.doubling")

    def run(chosen):
        if chosen.number == 0:
            raise ValueError("0 cannot be doubled; take another number")
        return 2 * chosen.number

    module.arguments = lambda parser: parser.add_argument("number", type=int)
    module.run = run
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return (Command("double", "Double a number.", "doubling"),)


def test_a_command_of_the_table_runs(commands):
    assert main(["double", "4"], commands) == 8


def test_an_error_is_one_sentence(commands, capsys):
    assert main(["double", "0"], commands) == 1
    assert capsys.readouterr().err == "python -m course_lib.teach double: 0 cannot be doubled; take another number\n"


def test_an_unknown_command_shows_the_known_ones(commands, capsys):
    with pytest.raises(SystemExit):
        main(["halve"], commands)
    assert "double" in capsys.readouterr().err


def test_without_a_command_all_are_listed(capsys):
    assert main([]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert all(f"{command.name} {command.does}" in told for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command.name, "--help"])
    assert ended.value.code == 0
    assert command.does in " ".join(capsys.readouterr().out.split())
