"""``python -m course_lib``: the commands that it lists are there, and a wrong name is one sentence."""

import os
import subprocess
import sys
from importlib import import_module, metadata

import pytest

from course_lib import __main__ as commands


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_each_command_has_a_main(name):
    """A row whose module was renamed would only fail when somebody uses it."""
    module, does = commands.COMMANDS[name]

    assert callable(import_module(module, "course_lib").main)
    assert f"{name} " in commands.listing() and does in commands.listing()


def test_a_command_gets_the_rest(capsys):
    """Its arguments are those after its name, and its status is that of the whole."""
    assert commands.main(["export", "no_such_lesson.ipynb"]) == 2
    said = capsys.readouterr().err
    assert "no_such_lesson.ipynb" in said and "02_naive.ipynb" in said  # and which lessons there are


def test_an_unknown_command_is_named(capsys):
    """With the names of those that there are."""
    assert commands.main(["exprot"]) == 2
    assert "'exprot'; there are open," in capsys.readouterr().err


def test_alone_it_lists_them():
    """As a reader types it."""
    done = subprocess.run([sys.executable, "-m", "course_lib"], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == commands.listing().replace("tile-by-tile COMMAND", "python -m course_lib COMMAND")


def test_a_command_whose_output_is_not_read_is_silent():
    """As a shell runs it: Python itself writes nothing at its end either."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as unread:
        done = subprocess.run([sys.executable, "-m", "course_lib"], stdout=unread, stderr=subprocess.PIPE, check=False)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["python", "-m", "course_lib", "profile", "-h"], "python -m course_lib profile"),
        (["python", "-W", "error", "-m", "course_lib", "profile", "-h"], "python -m course_lib profile"),
        (["/opt/bin/tile-by-tile", "profile", "-h"], "tile-by-tile profile"),
    ],
)
def test_the_program_calls_itself_as_it_was_called(words, named, monkeypatch, capsys):
    """What a reader copies from its help works where he is."""
    monkeypatch.setattr(sys, "orig_argv", words)
    with pytest.raises(SystemExit):
        commands.main(["profile", "-h"])

    assert capsys.readouterr().out.startswith(f"usage: {named} [-h]")


def test_its_version_is_that_of_the_package(capsys):
    assert commands.main(["--version"]) == 0
    assert capsys.readouterr().out == f"Tile by Tile {metadata.version('tile-by-tile')}\n"
