"""The table an instructor needs: rosters, totals, hints, comments, pseudonyms, and the gradebooks of other systems."""

import html
import json
import re
from dataclasses import replace

import pytest
from classroom.teach.cheats import LESSON
from classroom.teach.here import ODD_NAMES, WORDS, edit, page, rows, run
from classroom.teach.made_class import NAMES, exercises

from course_lib.classroom.teach.collect import read_roster
from course_lib.classroom.teach.gradebook import commonest, exact, plain, read_table, safe, summary
from course_lib.classroom.teach.judge import Judged
from course_lib.classroom.teach.pages import for_teacher

#: The same class as three systems write it, and as a person does; Ana and Ben have the numbers 12345 and 12346.
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,04_tiling (77),Current Score
Points Possible,,,,,15,(read only)
"Lima, Ana",12345,S1,ana@example.org,A,,
"Sol, Ben",12346,S2,ben@example.org,A,,
"Null, Dora",12347,S3,dora@example.org,A,,
"""
MOODLE = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 12345,Ana Lima,ana@example.org,Submitted for grading,,15.00,Yes,"Monday, 2 November 2026, 10:00 AM",-,
Participant 12346,Ben Sol,ben@example.org,Submitted for grading,,15.00,Yes,"Monday, 2 November 2026, 10:00 AM",-,
Participant 12347,Dora Null,dora@example.org,No submission,,15.00,Yes,-,-,
"""
GITHUB = """"identifier","github_username","github_id","name"
"Ana Lima","ana-lima","1",""
"Ben Sol","ana-bsol","2",""
"Dora Null","","",""
"""
HAND = (
    'id;name;e-mail\n00123;Ana Lima;ana@example.org\n00124;"Sol, Ben";ben@example.org\n00125;Dora Null;d@example.org\n'
)
CANVAS_FILES = ["limaana_12345_998877_a.ipynb", "solben_12346_998878_a.ipynb"]
#: A roster, what Ana's and Ben's files are called, and their ids in the table.
CLASSES = {
    "canvas": (CANVAS, CANVAS_FILES, ["12345", "12346", "12347"]),
    "moodle": (
        MOODLE,
        ["Ana Lima_12345_assignsubmission_file_/a.ipynb", "Ben Sol_12346_assignsubmission_file_/a.ipynb"],
        [f"Participant {n}" for n in (12345, 12346, 12347)],
    ),
    "github": (
        GITHUB,
        ["04-tiling-ana-lima/04_tiling.ipynb", "04-tiling-ana-bsol/04_tiling.ipynb"],
        ["Ana Lima", "Ben Sol", "Dora Null"],
    ),
    "by hand": (HAND, ["ana.ipynb", "Bén  SOL.ipynb"], ["00123", "00124", "00125"]),
    "by hand, in Canvas": (HAND, CANVAS_FILES, ["00123", "00124", "00125"]),
}


@pytest.fixture(params=CLASSES)
def a_class(request, tmp_path):
    """A folder of submissions and its roster."""
    roster, files, ids = CLASSES[request.param]
    (tmp_path / "names.csv").write_text(roster, "utf-8-sig")
    for name in files:
        path = tmp_path / "submitted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(exercises()), "utf-8")
        if request.param == "github":
            (path.parent / ".git").mkdir()
    return request.param, tmp_path, ids


def test_everybody_in_the_roster_has_rows(a_class, judged):
    """Also who handed in nothing; files are matched by number, name, e-mail or login, nobody is there twice."""
    _, folder, ids = a_class
    assert run(folder, "--roster", str(folder / "names.csv")) == 0
    found = rows(folder)
    assert sorted((row["id"], row["exercise"]) for row in found) == sorted((id, name) for id in ids for name in NAMES)
    dora = [row for row in found if row["id"] == ids[2]]
    assert {(row["status"], row["points"], row["hint"]) for row in dora} == {("missing", "0", "nothing was handed in.")}
    assert len(judged) == 2 * len(NAMES)
    text = (folder / "grades.html").read_text()
    assert "0 of 15" in text and "Dora" in text


ROSTERS = {"a,b\n1,2\n": "the first line must name the columns id, name and e-mail", "": "the first line must name"}
ROSTERS |= {"id,name\n1,Ana\n1,Ben\n": "line 3: the id '1' is there twice"}


@pytest.mark.parametrize("text, told", ROSTERS.items())
def test_a_roster_that_cannot_be_read_is_told(tmp_path, text, told):
    (tmp_path / "names.csv").write_text(text)
    with pytest.raises(ValueError, match=re.escape(told)):
        read_roster(tmp_path / "names.csv")


def test_two_students_of_one_name_are_never_mixed(folder, judged, capsys):
    """A name that two have in the roster means nobody; the number, the e-mail or an accent does."""
    (folder / "names.csv").write_text("id,name,email\n1,anna,a@x.org\n2,anna,b@x.org\n3,ben,c@x.org\n4,bén,d@x.org\n")
    assert run(folder, "--roster", str(folder / "names.csv")) == 0
    assert "Not in the roster: anna." in capsys.readouterr().out
    assert {row["id"] for row in rows(folder)} == {"1", "2", "3", "4", "anna"}
    (folder / "submitted" / "anna.ipynb").rename(folder / "submitted" / "b@x.org.ipynb")
    assert run(folder, "--roster", str(folder / "names.csv")) == 0
    status = {row["id"]: row["status"] for row in rows(folder)}
    assert status == {"1": "missing", "2": "to read", "3": "to read", "4": "missing"}


@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_a_gradebook_is_read_back(a_class, judged, system, capsys):
    """By the rules of the importers' own sources: Canvas finds the assignment and its students by the columns before
    it, Moodle a participant by Identifier. A total that is not complete is not in it."""
    kind, folder, ids = a_class
    names = str(folder / "names.csv")
    run(folder, "--roster", names)
    for student in {row["student"] for row in rows(folder)} - {"Null, Dora", "Dora Null"}:
        edit(folder, student, WORDS, "1.5" if "Ana" in student else "")
    capsys.readouterr()
    assert run(folder, "--roster", names, "--export", system) == 0
    told = capsys.readouterr().out
    known = system == "canvas" or kind in ("canvas", "moodle", "by hand, in Canvas")
    lines = rows(folder, f"grades-{system}.csv")
    assert "Ben" in told and "Dora" in told, "Ben's answer in words is unread, Dora handed in nothing"
    if system == "canvas":
        columns = list(lines[0])
        assert columns[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"] and len(columns) == 6
        assert columns[5] == ("04_tiling (77)" if kind == "canvas" else LESSON)
        assert lines[0]["Student"] == "Points Possible" and lines[0][columns[5]] == "15"
        (ana,) = lines[1:]
        assert ana[columns[5]] == "1.5" and "Ana" in ana["Student"]
        assert ana["ID"] == ("12345" if kind in ("canvas", "moodle", "by hand, in Canvas") else "")
        assert (ana["SIS Login ID"] == "ana@example.org") == (kind == "canvas")
        return
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(lines[0]) if lines else not known
    for ana in lines:
        assert (ana["Identifier"], ana["Grade"], ana["Maximum Grade"]) == ("Participant 12345", "1.5", "15")
        assert ana["Last modified (grade)"] == ("-" if kind == "moodle" else "")


def test_points_for_who_handed_in_no_notebook(folder, judged):
    """The table says which file it was; who has points given by a person is in the gradebook, too."""
    (folder / "names.csv").write_text("id,name\n1,anna\n2,ben\n3,carl\n4,Dora Ek\n")
    (folder / "submitted" / "ekdora_LATE_123_456_04_tiling.pdf").touch()
    command = folder, "--roster", str(folder / "names.csv"), "--export", "canvas"
    run(*command)
    (dora,) = {(r["status"], r["hint"], r["late"]) for r in rows(folder) if r["student"] == "Dora Ek"}
    assert dora == ("unreadable", "ekdora_LATE_123_456_04_tiling.pdf is no notebook (*.ipynb).", "yes")
    edit(folder, "carl", WORDS, "1")
    run(*command)
    assert [row["points"] for row in rows(folder) if row["student"] == "carl"] == ["0", "0", "0", "1"]
    assert [(row["Student"], row[LESSON]) for row in rows(folder, "grades-canvas.csv")[1:]] == [("carl", "1")]


def test_pages_by_pseudonym_name_nobody(folder, judged):
    """The same ones in every run, and others in another table; the table says whose they are. Pages with names that
    an earlier run wrote are removed. No page names a file, which the class's page else does where none can be read."""
    (folder / "submitted" / "ben" / "of ben.ipynb").write_text(json.dumps(exercises()))
    (folder / "submitted" / "annabel.ipynb").touch()
    run(folder)
    assert "annabel.ipynb: the file is no notebook" in (folder / "grades.html").read_text()
    run(folder, "--anonymous")
    before = {row["student"]: row["page"] for row in rows(folder)}
    run(folder, "--anonymous")
    assert {row["student"]: row["page"] for row in rows(folder)} == before
    for path in (folder / "grades.html", *(folder / "feedback").glob("*.html")):
        text = path.read_text() + path.name
        assert "anna" not in text and "ben" not in text, path
    assert all(page_name.removesuffix(".html") in (folder / "grades.html").read_text() for page_name in before.values())
    run(folder, "--anonymous", "--csv", str(folder / "other.csv"))
    assert {row["page"] for row in rows(folder, "other.csv")}.isdisjoint(before.values())


def judged_rows(*points, hint=""):
    return [Judged(name, reached, 5, "failed", hint) for name, reached in zip(NAMES, points, strict=False)]


def test_the_class_is_summed_up():
    """Two exercises of 5 points; totals 0, 3, 10 and 10."""
    graded = {"a": judged_rows(0, 0, hint="A race. Line 3."), "b": judged_rows(3, 0, hint="A race. Line 9.")}
    found = summary(graded | {"c": judged_rows(5, 5), "d": judged_rows(5, 5, hint="No barrier.")})
    assert (found["mean"], found["median"], found["of"]) == (5.75, 6.5, 10)
    assert [number for *_, number in found["bins"]] == [1, 0, 0, 1, 0, 0, 0, 0, 0, 2]
    counts, mean, of, hints = found["exercises"][NAMES[0]]
    assert (counts, mean, of) == ({"failed": 4}, 3.25, 5)
    assert hints == (("A race.", 2), ("No barrier.", 1))
    assert summary({})["bins"] == ()


def test_the_page_of_the_class_shows_it(folder, judged):
    run(folder)
    text = html.unescape((folder / "grades.html").read_text())
    for authors in ("anna, ben", "the course's solution, anna, ben"):
        assert f"<td>{WORDS}</td><td>100%</td><td>{authors}</td>" in text
    assert "<p>What could go wrong without the first barrier, and what without the second?" in text
    assert "Mean 0.0, median 0 of 15 points" in text and "Answers in words that have no points yet: 2." in text
    assert "Content-Security-Policy" in text and page(folder, "anna").name in text


def test_of_many_equal_answers_ten_names_are_shown():
    rows = [replace(row, text="the same", units=("the", "same") * 9) for row in judged_rows(*[1] * 4)]
    students = {f"s{n}": [replace(rows[-1], exercise=WORDS, points=None)] for n in range(58)}
    text = for_teacher(LESSON, students, dict.fromkeys(students, ("", "", "")), (), 7)
    assert text.count("58 students: s0, s1, s10, s11, s12, s13, s14, s15, s16, s17, …") == 1
    assert text.count("58 students: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, …") == 1


#: What a table has for a field that a spreadsheet might take for a formula, or for several lines.
SAFE = {"=1+1": "'=1+1", "\t=1": "'=1", "＝1+1": "'＝1+1", "a;=1+1": "a;'=1+1", 'a",@x': "a\",'@x", "-1": "'-1"}
SAFE |= {"-": "-", "a-b = c": "a-b = c", "a\u2028 b": "a b"}


@pytest.mark.parametrize("field, told", SAFE.items())
def test_a_field_is_no_formula(field, told):
    assert safe(field) == safe(told) == told
    assert plain(told) == " ".join(field.split())


def test_ids_are_exact():
    """Different names have different ids, which survive a spreadsheet."""
    names = [*ODD_NAMES, "a", "a ", "a%20", " a", "a  b", "a b", "'-1", "'=1", "\ud800", "é", "e\u0301", "1\n"]
    ids = [exact(name) for name in names]
    assert len(set(ids)) == len(ids)
    assert all(safe(id) == id and id.isprintable() for id in ids)


@pytest.mark.parametrize("separator", ",;\t")
def test_a_cell_may_have_lines_and_a_table_empty_ones(tmp_path, separator):
    table = 'id;comment\n1;"one\nand two"\n;\n2;x\n'.replace(";", separator)
    (tmp_path / "t.csv").write_text(table, "utf-8-sig")
    assert list(read_table(tmp_path / "t.csv", ["id"])) == [
        (3, {"id": "1", "comment": "one\nand two"}),
        (5, {"id": "2", "comment": "x"}),
    ]


def test_hints_are_counted_by_their_id_or_their_first_sentence():
    """Two students read one hint about different variables; two others one without an id, at different lines."""
    loop, other = "line 17: this loop never ends: nothing changes; see k.", "line 3: this loop never ends: it is k."
    (row,) = judged_rows(1)
    rows = [replace(row, hint=hint) for hint in (loop, loop.replace("17", "8"), other)]
    rows += [replace(row, hint=hint, hint_id="sum-replaced") for hint in ("acc, too.", "sum, too.")]

    assert commonest(rows) == (
        ("this loop never ends: nothing changes.", 2), ("acc, too.", 2), ("this loop never ends: it is k.", 1)
    )  # fmt: skip
