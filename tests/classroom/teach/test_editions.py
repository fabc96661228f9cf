"""The edition for students: they find no solution in it."""

import json
import re
from pathlib import Path

import pytest

from course_lib.classroom.teach import editions
from course_lib.classroom.teach.cells import GRADED
from course_lib.classroom.teach.command import main
from course_lib.exercises import EXERCISES, LESSONS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def edition():
    return editions.students()


def answers():
    """(name, its code) of each answer in the solutions, read here by other means: whole cells."""
    for path in (ROOT / "notebooks" / "solutions").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                own = re.sub(r"attempt\((?=mine)", 'check("capstone", ', source)
                yield from ((name, source) for name in re.findall(r'(?:check|explain)\(\s*"([^"]+)', own))


def test_students_find_no_solution(edition):
    assert editions.leaks(edition) == []
    assert {name for name, _ in answers()} == set(GRADED) == {solution.name for solution in editions.solutions()}
    text = b"\n".join(content for name, content in edition.items() if "reveal.js" not in name)
    for name, source in answers():
        assert source.encode() not in text and json.dumps(source)[1:-1].encode() not in text, name
    assert editions.SHOWN <= set(EXERCISES)


@pytest.mark.parametrize("name", sorted(set(GRADED) - editions.SHOWN))
def test_a_solution_that_is_reachable_is_found(name):
    """In a notebook, and indented in a module, without the check and with a comment."""
    source = dict(answers())[name]
    cells = [{"cell_type": "code", "source": [line + "\n" for line in source.split("\n")], "metadata": {}}]
    indented = "".join(
        f"    {line}  # told\n" for line in source.split("\n") if not line.startswith(("check", "attempt", "@cuda"))
    )
    found = editions.leaks({"a.ipynb": json.dumps({"cells": cells}).encode(), "b.py": indented.encode()})
    assert {f"{file} contains the solution of {name}." for file in ("a.ipynb", "b.py")} <= set(found)


def test_students_get_no_material_for_teachers(edition):
    names = set(edition)
    assert {"README.md", "pyproject.toml", "notebooks/04_tiling.ipynb", "course_lib/kernels/tiled.py"} <= names
    assert not [n for n in names if n.startswith(("tests", "docs/teach", "tools", ".git/")) or "solutions" in n]
    assert not [n for n in names if n.startswith(("course_lib/classroom/teach", "course_lib/classroom/nbgrader"))]
    assert "course_lib/exercises/digests.json" in names and not [n for n in names if n.endswith("drawn.json")]
    assert not any(
        "Speaker notes" in editions.text_of(n, c) for n, c in edition.items() if n.endswith((".ipynb", ".md"))
    )
    assert b"pytest" not in edition["pyproject.toml"] + edition["environment.yml"] + edition["README.md"]
    assert b"jupyterlab>=" in edition["pyproject.toml"] and b"- -e ." in edition["environment.yml"]


def test_an_edition_has_all_lessons(edition):
    numbered = [name for name in edition if re.fullmatch(r"notebooks/\d\d_\w+\.ipynb", name)]
    assert len(numbered) == 18 and "notebooks/express.ipynb" in edition


@pytest.mark.parametrize("numbers", [None, {"00", "01"}])
def test_every_link_of_an_edition_leads_somewhere(numbers):
    edition = editions.students(numbers)
    lessons = [name for name in edition if re.match(r"notebooks/\d", name)]
    assert len(lessons) == (len(numbers) if numbers else len(LESSONS))
    folders = {str(Path(name).parent.as_posix()) for name in edition}
    for name in [*lessons, "README.md", "notebooks/glossary.md", "notebooks/sources.md"]:
        text = edition[name].decode()
        if name.endswith(".ipynb"):
            cells = json.loads(text)["cells"]
            text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        prose = re.sub(r"`[^`]*`", "", text)
        for target in re.findall(r"(?<!\])\[[^\]\n]*\]\(([^)#\s]+)", prose):
            place = (Path(name).parent / target).as_posix()
            assert target.startswith("https://") or place in edition or place in folders, (name, target)


def test_the_command_writes_an_edition_or_says_why_not(tmp_path, capsys, monkeypatch):
    assert main(["students", "--out", str(tmp_path / "a"), "--lessons", "0, 1-1"]) == 0
    written = {path.name for path in (tmp_path / "a" / "notebooks").glob("*.ipynb")}
    assert written == {"00_start_here.ipynb", "01_threads_and_data.ipynb", "express.ipynb"}
    assert f"{len(GRADED) + 1} solutions searched for, none found" in capsys.readouterr().out
    for wrong in ("05-00", "99", "all", "4,,5"):
        assert main(["students", "--out", str(tmp_path / "b"), "--lessons", wrong]) == 2
        assert "no lesson" in capsys.readouterr().err

    monkeypatch.setattr(editions, "TEACHERS", ("course_lib/classroom/teach/",))
    assert main(["students", "--out", str(tmp_path / "b")]) == 1
    assert "students would find solutions" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()
