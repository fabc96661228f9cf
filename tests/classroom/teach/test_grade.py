"""The command that grades a folder: a row for whatever lies in it, and the page with the commonest hints."""

import html
import io
import json
import os
import subprocess
import zipfile
from dataclasses import asdict

import pytest
from classroom.teach.cheats import LESSON
from classroom.teach.here import WORDS, do, here, rows, run
from classroom.teach.made_class import KERNELS, NAMES, exercises, save, surprises

from course_lib.classroom.teach import grade as command
from course_lib.classroom.teach.cells import notebook as lesson_notebook
from course_lib.classroom.teach.grade import commonest, files, judged_file
from course_lib.classroom.teach.judge import Judged, unjudged
from course_lib.classroom.teach.table import safe
from course_lib.classroom.teach.worker import Limits, Stopped, Worker
from course_lib.exercises import EXERCISES

HONEST = ("anna.ipynb", "ben/lesson/my work.ipynb")


def notebook(**changed):
    return json.dumps(exercises(**changed))


def of(table, *files):
    return [row for row in table if row["file"] in files]


@pytest.fixture
def judged(monkeypatch):
    """What was judged: (exercise, its cell, the seed). The worker is this process; kernels are "not yet" unseen."""
    asked = []

    def noted(task, *arguments):
        if task == "judge":
            lesson, answers, seed = arguments
            asked.extend((name, answer.source, seed) for name, answer in answers.items())
            unseen = {name for name, answer in answers.items() if name != WORDS and answer.source is not None}
            rows = {name: asdict(unjudged(name, "not yet", "")) for name in unseen}
            return rows | do(task, lesson, {name: a for name, a in answers.items() if name not in unseen}, seed)
        return do(task, *arguments)

    monkeypatch.setattr(command, "Worker", here(noted))
    return asked


@pytest.fixture
def folder(tmp_path):
    """Two students: anna's notebook, and ben's folder."""
    handed_in = tmp_path / "submitted"
    (handed_in / "ben" / "lesson").mkdir(parents=True)
    for name in ("anna", "ben/lesson/my work"):
        (handed_in / f"{name}.ipynb").write_text(json.dumps(exercises()), encoding="utf-8")
    return tmp_path


def test_a_notebook_has_a_row_for_each_exercise(folder, judged, capsys):
    """Wherever it lies, and whatever it is called."""
    assert run(folder, "--seed", "7") == 0
    table = rows(folder)
    assert tuple(table[0]) == command.COLUMNS
    assert [(row["file"], row["exercise"]) for row in table] == [(file, name) for file in HONEST for name in NAMES]
    assert {(row["points"], row["status"]) for row in table if row["exercise"] == WORDS} == {("", "to read")}
    assert {(row["points"], row["status"]) for row in table if row["exercise"] != WORDS} == {("0", "not yet")}
    told = capsys.readouterr().out
    assert "2 files, 8 answers, 6 not yet, 2 to read." in told and "Read 2 answers: they are on the page" in told
    assert [seed for *_, seed in judged] == [7] * 2 * len(NAMES)


# ---- what students hand in -------------------------------------------------------------------------------------


def holding(text=None, encoding="utf-8", **changed):
    """A function that writes a file, by default the notebook."""
    return lambda path: path.write_text(notebook(**changed) if text is None else text, encoding)


def nested(path):
    before, deep = os.getcwd(), path
    for _ in range(1500):
        deep.mkdir()
        os.chdir(deep)
        deep = type(deep)("d")
    type(deep)("deep.ipynb").write_text(notebook())
    os.chdir(before)


def unreadable(path):
    """A notebook whose owner may not read it; root is refused by what stands in for reading (below)."""
    path.write_text(notebook())
    path.chmod(0)


def large(path):
    path.touch()
    os.truncate(path, 129 << 20)


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("04_tiling.ipynb", notebook())


def inside(name, make=holding()):  # noqa: B008
    """A function that makes a folder with one file in it."""

    def made(path):
        (path / name).parent.mkdir(parents=True)
        make(path / name)

    return made


def another_lesson(path):
    path.write_text(json.dumps(lesson_notebook("03_shared_memory")))


LONG = "one keeps the tile, the other one fills it, " * 3
#: What lies in the folder, by name: how it is made, the file in its row, and the row's status and words of its hint;
#: no status where it is judged.
LYING = {
    "empty.ipynb": (holding(""), "", "unreadable", "it is empty"),
    "truncated.ipynb": (holding(notebook()[:-100]), "", "unreadable", "the file is no notebook"),
    "utf-16.ipynb": (holding(encoding="utf-16"), "", "unreadable", "the file is no notebook"),
    "a list.ipynb": (holding("[]"), "", "unreadable", "it has no list of cells"),
    "lists without end.ipynb": (holding("[" * 100_000), "", "unreadable", "the file is no notebook"),
    "cells are no list.ipynb": (holding('{"cells": 3}'), "", "unreadable", "it has no list of cells"),
    "129 MiB.ipynb": (large, "", "unreadable", "129 MiB"),
    "may not be read.ipynb": (unreadable, "", "unreadable", "Permission denied"),
    "no cells.ipynb": (holding('{"cells": [null, 3, {"cell_type": "code"}]}'), "", "missing", "none of the exercises"),
    "lesson 3.ipynb": (another_lesson, "", "missing", "none of the exercises of 04_tiling"),
    "misnamed.ipynb.txt": (holding(), "", "no notebook", "does not end in .ipynb"),
    "an archive.ZIP": (zipped, "", "no notebook", "unpack it"),
    "a pipe.ipynb": (lambda path: os.mkfifo(path), "", "no notebook", "no file"),
    "a link to a peer.ipynb": (lambda path: path.symlink_to("anna.ipynb"), "", "no notebook", "a link"),
    "a link out.ipynb": (lambda path: path.symlink_to("../out.ipynb"), "", "no notebook", "a link"),
    "a link to nothing.ipynb": (lambda path: path.symlink_to("nothing.ipynb"), "", "no notebook", "a link"),
    "a link to all": (lambda path: path.symlink_to("."), "", "no notebook", "a link"),
    "an empty folder": (lambda path: path.mkdir(), "", "no notebook", "the folder is empty"),
    "a folder.ipynb": (lambda path: path.mkdir(), "", "no notebook", "the folder is empty"),
    "nested": (nested, "nested" + "/d" * 20, "no notebook", "more than 20 folders"),
    "checkpoint": (inside(".ipynb_checkpoints/a.ipynb"), "/.ipynb_checkpoints", "no notebook", "a hidden folder"),
    "__MACOSX": (inside("._a.ipynb"), "", "no notebook", "a hidden folder"),
    "._macos.ipynb": (holding(), "", "no notebook", "a hidden file"),
    "in a folder": (inside("in/folder.ipynb"), "/in/folder.ipynb", "", ""),
    "a suffix.IPYNB": (holding(), "", "", ""),
    "a byte order mark.ipynb": (holding(encoding="utf-8-sig"), "", "", ""),
    "c" * 249 + ".ipynb": (holding(), "", "", ""),
    "lone surrogate.ipynb": (holding(barriers="product = '\ud800'"), "", "", ""),
    "lone surrogate in words.ipynb": (holding(two_barriers=f'explain("{WORDS}", "{LONG}\\ud800")'), "", "", ""),
    "a long number.ipynb": (holding(barriers=f"x = 0x{'f' * 5000}"), "", "", ""),
    "not utf8 \udce9.ipynb": (holding(), "not utf8 \\udce9.ipynb", "", ""),
}


@pytest.mark.skipif(os.name != "posix", reason="such files cannot be made here")
def test_whatever_lies_in_the_folder_has_its_row(folder, judged, monkeypatch, request):
    """And changes no row of its neighbours."""
    run(folder, table="alone.csv")
    (folder / "out.ipynb").write_text(notebook())
    # pytest's own way to remove a folder calls itself for each
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", str(folder / "submitted" / "nested")], check=True))
    for name, (make, *_) in LYING.items():
        make(folder / "submitted" / name)
    if os.geteuid() == 0:
        opened = io.open

        def refuses(path, *more, **named):
            if not isinstance(path, int) and os.path.exists(path) and not os.stat(path).st_mode & 0o444:
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *more, **named)

        monkeypatch.setattr(io, "open", refuses)
    assert run(folder) == 0
    table = rows(folder)
    assert of(table, *HONEST) == rows(folder, "alone.csv")
    for name, (_, file, status, words) in LYING.items():
        found = of(table, name + file if file.startswith("/") else file or name)
        if status:
            ((exercise, points, *told),) = ([row[c] for c in command.COLUMNS[1:]] for row in found)
            assert (exercise, points, told[0]) == ("", "", status) and words in told[1], name
        else:
            assert [row["exercise"] for row in found] == NAMES, name
    judged_ones = sum(not status for _, _, status, _ in LYING.values())
    assert len(table) == len(NAMES) * (len(HONEST) + judged_ones) + len(LYING) - judged_ones


#: Names of files that a table or a page could change.
ODD_NAMES = [
    "two  spaces",
    "new\nline",
    " leading",
    "'=1+1",
    "=1+1",
    "＝1+1",
    "a;=1+1",
    "a\t@x",
    'quo"te',
    "-1",
    "+1",
    "@x",
]
ODD_NAMES += ["50%", "\u202etxt", "a, b", "<script>alert(1)<", "{{ 7 * 191 }}"]


@pytest.mark.skipif(os.name != "posix", reason="such names cannot be given here")
def test_the_time_that_nbgrader_keeps_is_no_file_of_a_student(folder):
    """A folder with nothing else is empty."""
    handed_in = folder / "submitted"
    (handed_in / "eva").mkdir()
    for student in ("ben", "eva"):
        (handed_in / student / "timestamp.txt").write_text("2026-11-29 12:00:00 UTC")
    found = {path.relative_to(handed_in).as_posix(): why for path, why in files(handed_in)}
    assert found == {"anna.ipynb": "", "ben/lesson/my work.ipynb": "", "eva": "the folder is empty"}


def test_a_name_starts_no_formula_and_is_no_html(folder, judged):
    for name in ODD_NAMES:
        (folder / "submitted" / f"{name}.ipynb").write_text(notebook())
    assert run(folder) == 0
    assert len(rows(folder)) == len(NAMES) * (len(HONEST) + len(ODD_NAMES))
    text = (folder / "grades.csv").read_text("utf-8")
    assert not any(f"{separator}{sign}" in text for separator in ',;\t"' for sign in "=＝@+-")
    page = (folder / "grades.html").read_text("utf-8")
    assert "<script" not in page and "1337" not in page and "Content-Security-Policy" in page
    assert all(html.escape(name, quote=False) in html.unescape(page) or "<" in name for name in ODD_NAMES)


#: What a table has for a field that a spreadsheet might take for a formula, or for several lines.
SAFE = {"=1+1": "'=1+1", "\t=1": "'=1", "＝1+1": "'＝1+1", "a;=1+1": "a;'=1+1", 'a",@x': "a\",'@x", "-1": "'-1"}
SAFE |= {"-": "-", "a-b = c": "a-b = c", "a\u2028 b": "a b"}


@pytest.mark.parametrize("field, told", SAFE.items())
def test_a_field_is_no_formula(field, told):
    assert safe(field) == safe(told) == told


# ---- limits and seeds ------------------------------------------------------------------------------------------


def test_an_answer_that_is_stopped_changes_no_other(folder, judged, monkeypatch):
    """Each answer has an equal part of the file's seconds. A person gives the points of one that is stopped."""
    asked = []

    def stopping(task, *arguments):
        if task == "judge" and "barriers" in arguments[1]:
            raise Stopped("it needed more than 20 seconds of processor time")
        return do(task, *arguments)

    monkeypatch.setattr(command, "Worker", lambda limits: asked.append(limits) or here(stopping)(limits))
    run(folder)
    found = {row["exercise"]: (row["status"], row["points"], row["hint"]) for row in of(rows(folder), "anna.ipynb")}
    assert found.pop("barriers") == ("stopped", "", "it needed more than 20 seconds of processor time.")
    assert {status for status, *_ in found.values()} == {"passed", "to read"}
    assert asked == [Limits(seconds=60 // len(KERNELS))]
    page = (folder / "grades.html").read_text("utf-8")
    assert "<h3>barriers</h3>" in page and "anna.ipynb: stopped, it needed more than 20 seconds" in page


def test_a_file_that_cannot_be_read_in_time_stops_no_other(folder, judged, monkeypatch):
    slow = (folder / "submitted" / "anna.ipynb").read_bytes() + b" "
    (folder / "submitted" / "slow.ipynb").write_bytes(slow)

    def stopping(task, *arguments):
        if task == "read" and arguments[0] == slow:
            raise Stopped("it needed more than 15 seconds of processor time")
        return do(task, *arguments)

    monkeypatch.setattr(command, "Worker", here(stopping))
    run(folder)
    ((status, hint),) = {(row["status"], row["hint"]) for row in of(rows(folder), "slow.ipynb")}
    assert (status, hint) == ("unreadable", "it needed more than 15 seconds of processor time.")
    assert len(of(rows(folder), *HONEST)) == 2 * len(NAMES)


def test_the_seed_is_told_and_draws_the_same_again(folder, judged, monkeypatch, capsys):
    monkeypatch.setattr(command.secrets, "randbelow", lambda most: 30)
    run(folder)
    assert {seed for *_, seed in judged} == {30}
    assert "by the seed 30" in capsys.readouterr().out and "by the seed 30" in (folder / "grades.html").read_text()
    judged.clear()
    run(folder, "--seed", "7", table="other.csv")
    assert {seed for *_, seed in judged} == {7}


def test_nothing_is_overwritten(folder, judged, capsys):
    """Points that a person wrote into the table are nowhere else."""
    run(folder, "--seed", "7")
    before = (folder / "grades.csv").read_bytes()
    judged.clear()
    assert run(folder) == 2 and judged == []
    assert "grades.csv is there: move it, or name another table with --csv" in capsys.readouterr().err
    assert run(folder, "--seed", "7", table="again.csv") == 0
    assert (folder / "grades.csv").read_bytes() == before == (folder / "again.csv").read_bytes()
    (folder / "grades.csv").unlink()
    assert run(folder) == 2 and "grades.html is there" in capsys.readouterr().err


def test_a_process_that_does_not_start_is_no_files_fault(folder, judged, monkeypatch):
    def failing(*arguments):
        raise RuntimeError("the process that judges did not start")

    monkeypatch.setattr(command, "Worker", here(failing))
    with pytest.raises(RuntimeError, match="did not start"):
        run(folder)
    assert not (folder / "grades.csv").exists()


# ---- the page --------------------------------------------------------------------------------------------------


def test_the_page_has_hints_words_and_files(folder, judged):
    (folder / "submitted" / "empty.ipynb").touch()
    graded = {
        "a": [Judged(NAMES[0], 5, 5, "passed"), Judged(WORDS, None, 2, "to read", text="a <b>fast</b> warp")],
        "b": [Judged(NAMES[0], 1, 5, "failed", "line 3: a race."), Judged(WORDS, 0, 2, "not yet")],
        "c": [Judged("", None, 0, "unreadable", "it is empty.")],
    }
    page = command.page_of(LESSON, graded, 7)
    for told in (
        f">{NAMES[0]}</td><td>3.0 of {EXERCISES[NAMES[0]].points}</td>",
        ">1 passed<br>1 failed<br></td>",
        "1× a race.",
        "<td>5 of 7</td>",
        "<td>failed, 1</td>",
        "unreadable: it is empty.",
        f"<li>{html.escape(EXERCISES[WORDS].ideas[0])}</li>",
        "<blockquote>a &lt;b&gt;fast&lt;/b&gt; warp</blockquote>",
    ):
        assert told in page, told


def test_hints_are_counted_by_their_id_or_their_first_sentence():
    """Two files have one hint about different variables; two others one without an id, at different lines."""
    loop, other = "line 17: this loop never ends: nothing changes; see k.", "line 3: this loop never ends: it is k."
    told = [Judged(NAMES[0], 1, 5, "failed", hint) for hint in (loop, loop.replace("17", "8"), other)]
    told += [Judged(NAMES[0], 1, 5, "failed", hint, hint_id="sum-replaced") for hint in ("acc, too.", "sum, too.")]
    told.append(Judged(NAMES[0], 0, 5, "missing", "the notebook has no cell with this exercise."))

    assert commonest(told) == [
        ("this loop never ends: nothing changes.", 2), ("acc, too.", 2), ("this loop never ends: it is k.", 1)
    ]  # fmt: skip


# ---- a class ---------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_class_gets_the_grades_that_are_expected(tmp_path):
    """One notebook of each kind."""
    made = save(127, tmp_path)
    with Worker(Limits()) as worker:
        graded = {name: judged_file(tmp_path / f"{name}.ipynb", LESSON, worker, 0) for name in made}
    assert surprises(made, graded) == []
