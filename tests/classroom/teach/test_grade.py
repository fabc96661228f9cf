"""The command that grades a class: its table, pages and journal, and what a second run does."""

import json
import re

import pytest
from classroom.teach.cheats import LESSON
from classroom.teach.here import WORDS, edit, page, rows, run, words_of
from classroom.teach.made_class import NAMES, exercises, save, surprises

from course_lib.classroom.teach import collect
from course_lib.classroom.teach import grade as command
from course_lib.classroom.teach.collect import submissions
from course_lib.classroom.teach.limits import Limits
from course_lib.classroom.teach.pages import BY_HAND


def test_everybody_has_a_row_for_each_exercise(folder, judged, capsys):
    """Also a folder with something else, and what is no archive; another file is named."""
    for name in ("carl", "__MACOSX", ".git"):
        (folder / "submitted" / name).mkdir()
        (folder / "submitted" / name / "lesson.py").touch()
    for name in ("dora.zip", "emil.txt", ".DS_Store"):
        (folder / "submitted" / name).touch()
    assert run(folder, "--csv", str(folder / "submitted" / "grades.csv")) == 0
    assert run(folder) == 0
    table = rows(folder)
    assert tuple(table[0]) == command.COLUMNS
    assert [(row["student"], row["exercise"]) for row in table] == [
        (student, name) for student in ("anna", "ben", "carl", "dora") for name in NAMES
    ]
    assert words_of(folder, "anna") == ("", "to read")
    assert {(row["status"], row["hint"]) for row in table[2 * len(NAMES) :]} == {
        ("unreadable", "there is no notebook (*.ipynb)."),
        ("unreadable", "dora.zip: the file is no archive that can be read: File is not a zip file."),
    }
    told = capsys.readouterr().out
    assert "4 students, 16 answers: 6 not yet, 2 to read, 8 unreadable." in told
    assert "Passed over, since they are no notebooks (*.ipynb): emil.txt.\n" in told


def test_what_was_judged_is_not_judged_again(folder, judged, monkeypatch):
    run(folder)
    (folder / "submitted" / "ben" / "lesson" / "my work.ipynb").write_text(json.dumps(exercises(too_deep="")))
    judged.clear()
    run(folder)
    assert [name for name, *_ in judged] == NAMES and ("too-deep", "") in [each[:2] for each in judged]
    judged.clear()
    before = (folder / "grades.csv").read_text()
    run(folder)
    assert judged == [] and (folder / "grades.csv").read_text() == before
    page(folder, "anna").unlink()
    run(folder)
    assert judged == [] and page(folder, "anna").exists(), "a page is written again from what was judged"
    run(folder, "--again")
    assert len(judged) == 2 * len(NAMES)
    monkeypatch.setattr(collect, "exercise_texts", lambda lesson: b"another text")
    run(folder)
    assert len(judged) == 4 * len(NAMES), "a lesson whose exercises changed is judged again"
    run(folder, "--seconds", "9")
    assert len(judged) == 6 * len(NAMES), "and so is all with another limit"


def test_a_grading_has_one_seed(folder, judged, monkeypatch, capsys):
    """Drawn for a table and kept, on all pages; another one that is chosen judges all again."""

    def seeds():
        pages = page(folder, "anna"), page(folder, "ben"), folder / "grades.html"
        texts = [capsys.readouterr().out, *(path.read_text() for path in pages)]
        (found,) = {frozenset(re.findall(r"by the seed (\d+)", text)) for text in texts}
        return found

    drawn = [30]
    monkeypatch.setattr(command.secrets, "randbelow", lambda most: drawn[-1])
    run(folder)
    run(folder)
    assert seeds() == {"30"} and [seed for *_, seed in judged] == [30] * 2 * len(NAMES)
    judged.clear()
    for _ in range(2):
        run(folder, "--seed", "7")
    run(folder)
    assert seeds() == {"7"} and [seed for *_, seed in judged] == [7] * 2 * len(NAMES)
    drawn.append(40)
    run(folder, "--csv", str(folder / "other.csv"))
    assert judged[-1][-1] == 40


def test_a_run_that_was_interrupted_goes_on(folder, judged, monkeypatch):
    """Ctrl-C after the first student: the table has that one, and the next run judges the other; nor does a last line
    of the journal that was cut off stop it."""
    keep, kept = command.Batch._keep, []

    def interrupted(self, submission, *more):
        if kept:
            raise KeyboardInterrupt
        kept.append(submission.student)
        keep(self, submission, *more)

    monkeypatch.setattr(command.Batch, "_keep", interrupted)
    assert run(folder) == 130
    assert {row["student"] for row in rows(folder)} == set(kept)
    monkeypatch.setattr(command.Batch, "_keep", keep)
    journal = folder / "grades.csv.journal"
    for lost in (0, 20):
        journal.write_text(journal.read_text()[: len(journal.read_text()) - lost])
        judged.clear()
        run(folder)
        assert len(judged) == len(NAMES) and len(rows(folder)) == 2 * len(NAMES)


def test_a_journal_of_another_lesson_gives_no_row(folder, judged):
    """The table was removed, and its name is used again."""
    run(folder)
    (folder / "grades.csv").unlink()
    found = submissions(folder / "submitted", "05_coalescing", Limits())
    assert command.Batch(found, "05_coalescing", folder / "grades.csv", folder / "feedback", Limits()).graded() == {}


def test_points_by_hand_are_taken_from_the_table(folder, judged, capsys):
    run(folder)
    teacher, his = folder / "grades.html", page(folder, "ben")
    assert "1. " not in his.read_text() and "overwrites the tile" in teacher.read_text()
    assert "0 of 15 points; to be read by your teacher: two-barriers" in his.read_text()
    edit(folder, "ben", WORDS, "1,5")
    judged.clear()
    run(folder)
    assert judged == []
    assert words_of(folder, "ben") == ("1.5", BY_HAND) and words_of(folder, "anna") == ("", "to read")
    assert "1.5 of 15 points</p>" in his.read_text() and "given by your teacher" in his.read_text()
    edit(folder, "ben", "barriers", "0,00")  # as a spreadsheet writes 0
    run(folder)  # and stay
    assert words_of(folder, "ben") == ("1.5", BY_HAND)
    assert {row["status"] for row in rows(folder) if row["exercise"] == "barriers"} == {"not yet"}


def test_points_and_comments_belong_to_one_answer(folder, judged, capsys):
    """Shown on its page, and kept until the student changes it."""
    run(folder)
    edit(folder, "anna", WORDS, "2", "Say <b>which</b> tile;\n=1+1")
    edit(folder, "ben", "barriers", "0", "-1 for no reason")
    for _ in range(2):
        assert run(folder) == 0
        found = {(row["student"], row["exercise"]): row["status"] for row in rows(folder) if row["comment"]}
        assert found == {("anna", WORDS): BY_HAND, ("ben", "barriers"): "not yet"}
        assert "Your teacher writes:</b> Say &lt;b&gt;which&lt;/b&gt; tile; =1+1<" in page(folder, "anna").read_text()
    given = (folder / "grades.csv").read_bytes()
    new = 'explain("two-barriers", "the first one fills and the second one keeps what others read")'
    (folder / "submitted" / "anna.ipynb").write_text(json.dumps(exercises(two_barriers=new)))
    capsys.readouterr()
    run(folder)
    assert "anna changed the answer to two-barriers" in capsys.readouterr().out
    assert [row["comment"] for row in rows(folder) if row["student"] == "anna"] == [""] * len(NAMES)
    assert words_of(folder, "anna") == ("", "to read")
    (folder / "grades.csv").write_bytes(given)  # as a run leaves it that is killed once it has judged the new answer
    run(folder)
    assert words_of(folder, "anna") == ("", "to read")
    edit(folder, "anna", WORDS, "2")  # the same points, for the new answer
    run(folder)
    assert words_of(folder, "anna") == ("2", BY_HAND)


def _points(given):
    told = f"grades.csv, line 5: the points of two-barriers are from 0 to 2, not '{given}'"
    return lambda text: text.replace(f'"{WORDS}","1"', f'"{WORDS}","{given}"'), told


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda text: text.replace("points", "Punkte", 1), "the first line must name the columns id, exercise, "),
        (lambda text: "", "the first line must name the columns"),
        (lambda text: text.encode("utf-16"), "is no text in UTF-8"),
        (lambda text: text + "anne,Anne,two-barriers,2,2,,by hand,,,,,0\n", "line 10: 'anne' handed in nothing"),
        (lambda text: re.sub(r'"\w+/[\d.]*"', '"0"', text), "line 2: the column answer is not as it was written"),
        (lambda text: text + text.splitlines()[4], f"line 10: line 5 is the same student's {WORDS}, too; delete one"),
        (lambda text: text.replace(WORDS, "rate"), "line 5: 04_tiling has no exercise 'rate'"),
        *map(_points, ("3", "-1", "two", "nan")),
    ],
)
def test_a_table_that_cannot_be_read_is_kept(folder, judged, change, told, capsys):
    """Points that were given by hand are nowhere else."""
    run(folder)
    edit(folder, "anna", WORDS, "1")
    run(folder)
    table = folder / "grades.csv"
    changed = change(table.read_text("utf-8"))
    table.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    before = table.read_bytes()
    assert run(folder) == 2
    assert told in capsys.readouterr().err
    assert table.read_bytes() == before


@pytest.mark.nightly
def test_a_class_gets_the_grades_that_are_expected(tmp_path):
    """One student of each kind."""
    made = save(128, tmp_path / "submitted")
    found = submissions(tmp_path / "submitted", LESSON, Limits())
    batch = command.Batch(found, LESSON, tmp_path / "grades.csv", tmp_path / "feedback", Limits(), seed=0)
    batch.grade(jobs=2)
    assert surprises(made, batch.graded()) == []
    assert len(batch.graded()) == len(made)
