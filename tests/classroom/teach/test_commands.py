"""tile-by-tile teach takes its subcommands from a table."""

import pytest

from course_lib.classroom.teach.cells import NOTEBOOKS
from course_lib.classroom.teach.command import COMMANDS, main


@pytest.mark.parametrize(
    "words, told",
    [
        ("assignment 4 --out NOTEBOOKS", "04_tiling.ipynb would replace a lesson; choose another folder with --out"),
        ("grade nowhere --lesson 4", "nowhere is no folder"),
        ("grade . --lesson 4 --seconds 0", "--seconds must be at least 1, not 0"),
        ("grade . --lesson 4 --seed -1", "--seed must be at least 0, not -1"),
        ("grade empty --lesson 4", "empty is empty"),
        ("grade . --lesson 99", "there is no lesson '99'; the lessons are 00_start_here,"),
        ("guides --out file", "lessons: "),
        ("slides --plan lecture-3", "there is no deck 'lecture-3'; choose from lecture-50, lecture-100."),
        ("students --out NOTEBOOKS", "is not empty: name a new folder."),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(words, told, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    command, *more = (str(NOTEBOOKS) if word == "NOTEBOOKS" else word for word in words.split())
    assert main([command, *more]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"tile-by-tile teach {command}: ") and told in said and said.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_listed_and_explains_itself(command, capsys):
    does = COMMANDS[command][1]
    assert main([]) == 0
    assert f"{command} {does}" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert does in " ".join(capsys.readouterr().out.split())
