"""What students hand in: odd names and files have a row each, and change no neighbour's; run twice."""

import io
import json
import os
import shutil
import subprocess
import zipfile

import pytest
from classroom.teach.cheats import LESSON, solution
from classroom.teach.here import ODD_NAMES, WORDS, do, edit, here, raising, rows, run, words_of
from classroom.teach.made_class import NAMES, exercises, solved

from course_lib.classroom.teach import grade as command
from course_lib.classroom.teach.cells import notebook as lesson
from course_lib.classroom.teach.limits import Stopped

HONEST = {"anna", "ben"}


def notebook(**changed):
    return json.dumps(exercises(**changed))


def place(folder, name):
    """A path in the folder of submissions."""
    return folder / "submitted" / name


def file(here, suffix=".ipynb"):
    """The path of a student's file, whose name may have dots."""
    return here.with_name(here.name + suffix)


def holding(text=None, suffix=".ipynb", encoding="utf-8", **changed):
    """A function that writes a file, by default the notebook."""
    return lambda here: file(here, suffix).write_text(notebook(**changed) if text is None else text, encoding)


def links_in_a_loop(here):
    here.mkdir()
    for name, to in (("again", "."), ("one.ipynb", "two.ipynb"), ("two.ipynb", "one.ipynb")):
        (here / name).symlink_to(to)


def nested(here):
    before, deep = os.getcwd(), here
    for _ in range(1500):
        deep.mkdir()
        os.chdir(deep)
        deep = type(deep)("d")
    type(deep)("deep.ipynb").write_text(notebook())
    os.chdir(before)


def unreadable(here):
    """A notebook whose owner may not read it; root is refused by what stands in for reading (below)."""
    file(here).write_text(notebook())
    file(here).chmod(0)


def pack(path, *members):
    """Write an archive of (name, data)."""
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members:
            archive.writestr(member, data)


def zipped(*members):
    return lambda here: pack(file(here, ".zip"), *members)


def locked(here):
    pack(file(here, ".zip"), ("04_tiling.ipynb", notebook()))
    data = bytearray(file(here, ".zip").read_bytes())
    for start, flag in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(start) + flag] |= 1
    file(here, ".zip").write_bytes(data)


LONG = "one keeps the tile, the other one fills it, " * 3
#: What odd students hand in, by name; and words of the hint or the note where it is unreadable, "" where it is judged.
HANDED_IN = {
    "no JSON": (holding("junk"), "the file is no notebook"),
    "an empty file": (holding(""), "the file is no notebook: it is empty"),
    "no UTF-8": (holding(encoding="utf-16"), "the file is no notebook"),
    "a list": (holding("[]"), "it has no list of cells"),
    "lists without end": (holding("[" * 100_000), "the file is no notebook"),
    "no list of cells": (holding('{"cells": 3}'), "it has no list of cells"),
    "a folder named as a notebook": (lambda here: file(here).mkdir(), "no notebook"),
    "a lone surrogate in a cell": (holding(barriers="product = '\ud800'"), ""),
    "a number that Python does not print": (holding(barriers=f"x = 0x{'f' * 5000}"), ""),
    "a lone surrogate in words": (holding(two_barriers=f'explain("{WORDS}", "{LONG}\\ud800")'), ""),
    "c" * 249: (holding(), ""),
    "c" * 255: (lambda here: here.mkdir(), "no notebook"),
    "1,500 nested folders": (nested, "folders inside each other"),
    "links in a loop": (links_in_a_loop, "link"),
    "a link out of the folder": (lambda here: file(here).symlink_to("../out.ipynb"), "is a link"),
    "a link to a peer's notebook": (lambda here: file(here).symlink_to("anna.ipynb"), "is a link"),
    "a file that nobody may read": (unreadable, "Permission denied"),
    "a pipe": (lambda here: os.mkfifo(file(here)), "no file"),
    "a byte order mark": (holding(encoding="utf-8-sig"), ""),
    "another case of the suffix": (holding(suffix=".IPYNB"), ""),
    "an archive": (zipped(("work/04.ipynb", notebook()), ("__MACOSX/._04.ipynb", b"\0")), ""),
    "an archive in a folder": (lambda here: pack(here / "my.ZIP", ("04.ipynb", notebook())), ""),
    "paths out of an archive": (zipped(("../anna.ipynb", notebook()), ("/x.ipynb", notebook())), "no notebook"),
    "an archive of 1,001 files": (zipped(*((f"{n}.ipynb", "") for n in range(1001))), "more than 1,000 files"),
    "an archive of 300 MiB": (lambda here: pack(file(here, ".zip"), ("4.ipynb", bytes(300 << 20))), "128 MiB"),
    "half an archive": (holding("PK\3\4 and no more", ".zip"), "no archive"),
    "an archive with a password": (locked, "password"),
}


@pytest.mark.skipif(os.name != "posix", reason="such files cannot be made here")
def test_nothing_that_is_handed_in_stops_a_batch(folder, judged, monkeypatch):
    """The neighbours have the rows that they have alone; each odd one has its own; and so again in a second run."""
    run(folder)
    alone = rows(folder)
    (folder / "out.ipynb").write_text(notebook())
    for name, (make, _) in HANDED_IN.items():
        make(place(folder, name))
    if os.geteuid() == 0:
        opened = io.open

        def refuses(path, *more, **named):
            if not isinstance(path, int) and os.path.exists(path) and not os.stat(path).st_mode & 0o444:
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *more, **named)

        monkeypatch.setattr(io, "open", refuses)
    for _ in range(2):
        assert run(folder) == 0
        found = rows(folder)
        assert [row for row in found if row["student"] in HONEST] == alone
        assert {row["student"].removesuffix(".ipynb") for row in found} == HONEST | {*HANDED_IN}
        for name, (_, words) in HANDED_IN.items():
            odd = [row for row in found if row["student"].removesuffix(".ipynb") == name]
            assert [row["exercise"] for row in odd] == NAMES, name
            assert {row["status"] for row in odd} == ({"unreadable"} if words else {"not yet", "to read"}), odd[0]
            assert all(words in row["hint"] + row["note"] for row in odd), odd[0]
    # pytest's own way to remove a folder calls itself for each
    subprocess.run(["rm", "-rf", str(place(folder, "1,500 nested folders"))], check=True)


def test_a_second_run_finds_the_names_that_the_first_one_wrote(folder, judged):
    """Points given in the table to a student with any name are that student's, and no formula is in the table."""
    for name in ODD_NAMES:
        shutil.copy(place(folder, "anna.ipynb"), place(folder, f"{name}.ipynb"))
    for _ in range(2):
        assert run(folder) == 0
    odd = [student for student in dict.fromkeys(row["id"] for row in rows(folder)) if student not in HONEST]
    given = {student: f"{n / 10:g}" for n, student in enumerate(odd, 1)}
    assert len(odd) == len(ODD_NAMES) and len(rows(folder)) == len(NAMES) * len(HONEST | given.keys())
    for student, points in given.items():
        edit(folder, student, WORDS, points)
    for _ in range(2):
        assert run(folder) == 0
    assert {student: words_of(folder, student)[0] for student in odd} == given
    assert words_of(folder, "anna")[0] == ""
    text = (folder / "grades.csv").read_text("utf-8")
    assert not any(f"{sep}{sign}" in text for sep in ',;\t"' for sign in "=＝@+-")


@pytest.mark.parametrize("solved_one", ["solved.ipynb", "04_tiling (1).ipynb", "a/b/04_tiling.ipynb", "z.zip"])
def test_the_copy_with_most_answers_counts(folder, judged, solved_one):
    """A blank lesson beside the solved one is no answer, whatever their names; the row says which copy counts."""
    place(folder, "carl/a/b").mkdir(parents=True)
    place(folder, "carl/04_tiling.ipynb").write_text(json.dumps(lesson(LESSON)))
    data = json.dumps(solved())
    place(folder, f"carl/{solved_one}").write_text(data)
    if solved_one.endswith("zip"):
        pack(place(folder, "carl/z.zip"), ("work.ipynb", data))
    run(folder)
    carl = [row for row in rows(folder) if row["student"] == "carl"]
    assert [name for name, source, _ in judged if source == solution(name)].count(NAMES[0]) == 3
    assert all("counts: 4 answers, the most of 2 notebooks" in row["note"] for row in carl)


#: What lies in the folder, the student's name, late.
NAMES_OF_SYSTEMS = [
    (["limaana_12345_998877_04_tiling.ipynb"], "limaana", ""),
    (["solben_LATE_12346_998877_04_tiling-1.ipynb", "solben_12346_998876_04_tiling.ipynb"], "solben", "yes"),
    (["ekdora_12347_998877_04_tiling(-1)(LATE).ipynb"], "ekdora", "yes"),
    (["anon_Xk3fQ_998877_04_tiling.ipynb"], "anon_Xk3fQ", ""),
    (["Ana Lima_7_assignsubmission_file_/my.ipynb", "Ana Lima_7_assignsubmission_onlinetext_/t"], "Ana Lima", ""),
    (["Ben Sol_12345678_assignsubmission_file_04_tiling.ipynb"], "Ben Sol", ""),
    (["carl_LATE_2.ipynb", "carl.ipynb"], "carl", "2"),
    (["dan (LATE 3 days)/x.ipynb"], "dan", "3"),
    (["Xlate.ipynb"], "Xlate", ""),
    (["Jos\u00e9.ipynb", "Jose\u0301.ipynb"], "Jos\u00e9", ""),  # as macOS writes it
]


def test_names_as_canvas_and_moodle_write_them(folder, judged):
    """A second upload, a text beside the file, a late one and letters in two parts are the same student's."""
    for name in (name for files, *_ in NAMES_OF_SYSTEMS for name in files):
        place(folder, name).parent.mkdir(exist_ok=True)
        place(folder, name).write_text(notebook())
    run(folder)
    odd = [(row["student"], row["exercise"], row["late"]) for row in rows(folder) if row["student"] not in HONEST]
    assert sorted(odd) == sorted((student, name, late) for _, student, late in NAMES_OF_SYSTEMS for name in NAMES)


def test_a_student_has_a_limit_beside_the_answers(folder, judged, monkeypatch):
    """Sixty notebooks that are slow to read take what one student may take, not sixty times the limit of one."""
    asked = []

    def slow(task, *arguments):
        asked.append(task)
        if task == "read" and "slow" in str(arguments[0]):
            raise Stopped("it was not judged within 10 seconds of processor time")
        return do(task, *arguments)

    monkeypatch.setattr(command, "Sandbox", here(slow))
    place(folder, "carl").mkdir()
    for n in range(60):
        place(folder, f"carl/slow{n}.ipynb").write_text(notebook())
    run(folder, "--student-seconds", "30")
    assert asked.count("read") == 2 + 3
    carl = [row for row in rows(folder) if row["student"] == "carl"]
    assert {row["status"] for row in carl} == {"unreadable"}
    assert "57 notebooks were not read, since 30 seconds are over" in carl[0]["note"]
    assert words_of(folder, "anna") == ("", "to read")


def test_answers_after_the_limit_of_a_student_are_stopped(folder, judged, monkeypatch):
    monkeypatch.setattr(command, "Sandbox", raising(Stopped("it took more than 10 seconds")))
    run(folder, "--student-seconds", "20")
    hints = [row["hint"] for row in rows(folder) if row["student"] == "anna"]
    assert hints[:2] == ["it took more than 10 seconds."] * 2
    assert ["other answers of this student took" in hint for hint in hints[2:]] == [True, True]


def test_an_answer_that_ends_the_process_of_all_is_judged_alone_and_so_are_the_others(folder, judged, monkeypatch):
    def stopping(task, *arguments):
        if task == "judge" and "barriers" in arguments[1]:
            raise Stopped("it took more than 10 seconds")
        return do(task, *arguments)

    monkeypatch.setattr(command, "Sandbox", here(stopping))
    run(folder)
    found = {row["exercise"]: row["status"] for row in rows(folder) if row["student"] == "anna"}
    assert found.pop("barriers") == "stopped"
    assert set(found.values()) == {"passed", "to read"}


def test_a_second_grader_is_refused(folder, judged, monkeypatch, capsys):
    """While one run judges, another one with the same table, or with the same pages, ends and names the folder."""
    said = []
    keep = command.Batch._keep

    def again(self, *more):
        if not said:
            said.append(None)
            for options in (["--feedback", str(folder / "other")], ["--csv", str(folder / "other.csv")]):
                said.append(run(folder, *options))
        keep(self, *more)

    monkeypatch.setattr(command.Batch, "_keep", again)
    assert run(folder) == 0
    assert said == [None, 2, 2]
    told = capsys.readouterr().err
    assert f"{folder} is in use by another run" in told and f"{folder / 'feedback'} is in use by another run" in told
    assert run(folder) == 0
    (folder / ".grades.csv.in-use").unlink()
    (folder / ".grades.csv.in-use").mkdir()
    assert run(folder) == 2 and ".grades.csv.in-use cannot be written: " in capsys.readouterr().err


def test_a_failure_of_the_grader_with_one_student_is_a_row(folder, judged, monkeypatch):
    """Whatever is raised while one student is judged; but a process that does not start is no student's fault."""
    for error in (KeyError("x"), RecursionError("deep"), MemoryError()):
        monkeypatch.setattr(command, "Sandbox", raising(error))
        assert run(folder, "--again") == 0
        assert {row["status"] for row in rows(folder)} == {"unreadable"}
        assert type(error).__name__ in rows(folder)[0]["hint"]
    monkeypatch.setattr(command, "Sandbox", raising(RuntimeError("did not start"), "read"))
    with pytest.raises(RuntimeError, match="did not start"):
        run(folder, "--again")
