"""What a student may do to a notebook, and what is left of it: text, and each cell of the assignment once."""

import copy
import json
from html.parser import HTMLParser

import pytest

pytest.importorskip("nbgrader")

import nbformat  # noqa: E402
from classroom.nbgrader.course import answered, hand_in, made, released, solved  # noqa: E402
from classroom.teach.cheats import LESSON, solution  # noqa: E402
from nbconvert.filters import markdown2html  # noqa: E402
from nbgrader.api import Gradebook  # noqa: E402
from nbgrader.nbgraderformat import MetadataValidator  # noqa: E402

from course_lib.classroom.nbgrader import RebuildNotebook, SubmissionReader  # noqa: E402
from course_lib.classroom.nbgrader.rebuilding import as_text, clean  # noqa: E402
from course_lib.classroom.teach.cells import places, texts_above  # noqa: E402
from course_lib.classroom.teach.submission import answers, code_cells, read  # noqa: E402
from course_lib.trace.notebook_outputs import KEY  # noqa: E402

GIVEN = {"imports", "test-tiles-of-transpose", "test-too-deep", "test-barriers", "points-two-barriers"}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with the released assignment."""
    folder = tmp_path_factory.mktemp("course")
    made(folder)
    return folder


@pytest.fixture
def notebook(course):
    """What a student has, with all exercises solved."""
    return answered(released(course), solved())


def rebuilt(course, handed_in, name="ana"):
    """Return the notebook that is graded of what was handed in."""
    path = hand_in(course, name, handed_in)
    where = {
        "notebook": LESSON,
        "assignment": LESSON,
        "student": name,
        "db_url": f"sqlite:///{course / 'gradebook.db'}",
    }
    exporter = SubmissionReader(config={"Exporter": {"default_preprocessors": [], "preprocessors": [RebuildNotebook]}})
    text, _ = exporter.from_filename(str(path), {"nbgrader": where})
    found = nbformat.reads(text, 4)
    nbformat.validate(found)
    MetadataValidator().validate_nb(found)
    return found


def marked(notebook):
    """The assignment's cells in a notebook, in order."""
    return [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]


def answer(notebook, exercise="barriers"):
    """What the judge takes for the answer."""
    cells = [(c.id, c.source) for c in notebook.cells if c.cell_type == "code" and "nbgrader" not in c.metadata]
    return answers(cells, {exercise: places(LESSON)[exercise]})[exercise].source


def cell_of(notebook, id):
    return next(cell for cell in notebook["cells"] if cell["id"] == id)


def doubled(notebook):
    notebook["cells"].append(copy.deepcopy(cell_of(notebook, "test-barriers")))
    notebook["cells"][-1]["id"] = "another"


def renamed(notebook):
    cell_of(notebook, "test-barriers")["metadata"]["nbgrader"]["grade_id"] = "test-mine"


def deleted(notebook):
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["id"].startswith(("test-", "points-"))]


def without_marks(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def strange_marks(notebook):
    kinds = ["text", [1], {"schema_version": 99}, {"grade_id": ["x"]}, {"grade_id": "test-barriers", "points": "many"}]
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"]["nbgrader"] = kinds[number % len(kinds)]


def more_points(notebook):
    cell_of(notebook, "test-barriers")["metadata"]["nbgrader"]["points"] = 500


def of_another_kind(notebook):
    for id in ("test-barriers", "points-two-barriers"):
        cell = cell_of(notebook, id)
        cell["cell_type"] = "markdown" if cell["cell_type"] == "code" else "code"


def marked_answer(notebook):
    cell_of(notebook, places(LESSON)["barriers"].cell)["metadata"]["nbgrader"] = {
        "grade": True,
        "grade_id": "test-barriers",
    }


def same_ids(notebook):
    notebook["cells"].append(copy.deepcopy(notebook["cells"][0]))


def without_ids(notebook):
    for cell in notebook["cells"]:
        del cell["id"]


def reordered(notebook):
    notebook["cells"].reverse()


def a_list_of_anything(notebook):
    notebook["cells"] += [None, 3, "x", {}, {"cell_type": "code"}, {"cell_type": "heading", "source": 7}]


def strange_metadata(notebook):
    notebook["metadata"] = {
        "language": 3,
        "kernelspec": "none",
        "widgets": "</script><script>",
        KEY: {"unreadable": "no"},
    }


def halves_of_characters(notebook):
    notebook["cells"].append({"cell_type": "markdown", "id": "half", "metadata": {}, "source": "\ud800"})


def two_answers(notebook):
    """Of which the last one counts; the first has a cell of the assignment's name."""
    own = cell_of(notebook, places(LESSON)["barriers"].cell)
    notebook["cells"].insert(0, {**copy.deepcopy(own), "source": solution("too-deep"), "id": "test-barriers"})
    notebook["cells"].insert(0, {**copy.deepcopy(own), "source": solution("too-deep")})


CHANGES = [
    *(
        two_answers,
        doubled,
        renamed,
        deleted,
        without_marks,
        strange_marks,
        more_points,
        of_another_kind,
        marked_answer,
        same_ids,
    ),
    *(without_ids, reordered, a_list_of_anything, strange_metadata, halves_of_characters),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_cell_of_the_assignment_is_there_once(change, course, notebook):
    """With its own text, points and kind; the student's answer is found as without the change; no reason is forged."""
    whole = rebuilt(course, copy.deepcopy(notebook))
    change(notebook)
    found = rebuilt(course, notebook)
    assert sorted(marked(found)) == sorted(GIVEN)
    ours = {cell.metadata.nbgrader.grade_id: cell for cell in found.cells if "nbgrader" in cell.metadata}
    given = {cell.metadata.nbgrader.grade_id: cell for cell in whole.cells if "nbgrader" in cell.metadata}
    assert {name: (c.source, c.cell_type, c.metadata) for name, c in ours.items()} == {
        name: (c.source, c.cell_type, c.metadata) for name, c in given.items()
    }
    assert answer(found) == solution("barriers")
    handed_in = answers(read(json.dumps(notebook).encode()), places(LESSON))
    assert {name: answer(found, name) for name in places(LESSON)} == {name: a.source for name, a in handed_in.items()}
    assert not found.metadata[KEY].unreadable


def test_what_is_put_back_stands_below_its_answer(course, notebook):
    places_before = marked(rebuilt(course, copy.deepcopy(notebook)))
    deleted(notebook)
    assert marked(rebuilt(course, notebook)) == places_before


def test_a_text_of_the_students_own_in_a_cell_of_the_assignment_stays(course, notebook):
    cell_of(notebook, "test-barriers")["source"] = solution("barriers")
    cell_of(notebook, "points-two-barriers")["source"] = "My answer is here."
    found = rebuilt(course, notebook)
    others = [cell.source for cell in found.cells if "nbgrader" not in cell.metadata]
    assert others.count(solution("barriers")) == 2 and any("My answer is here." in text for text in others)
    assert sorted(marked(found)) == sorted(GIVEN)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"nbformat": 3, "worksheets": []}', b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_notebook_becomes_one_that_says_so(data, course):
    found = rebuilt(course, data)
    assert found.metadata[KEY].unreadable.startswith("the file is no notebook") and sorted(marked(found)) == sorted(
        GIVEN
    )
    assert "cannot be read" in found.cells[0].source


def test_a_link_is_not_followed(course, tmp_path, notebook):
    (tmp_path / "other.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    path = course / "submitted" / "link" / LESSON / f"{LESSON}.ipynb"
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "other.ipynb")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}"):
        text, resources = SubmissionReader(config={"Exporter": {"default_preprocessors": []}}).from_filename(str(path))
    assert json.loads(text)["cells"] == [] and "link" in resources["unreadable"]


# ---- HTML --------------------------------------------------------------------------------------------------------

#: Markdown or HTML, each with something that a browser would execute, or that would change the grader's page.
HOSTILE = (
    "<script>alert(1)</script>",
    "text <img src=x onerror=alert(1)> text",
    "<svg><script>alert(1)</script></svg>",
    "<svg onload=alert(1)>",
    "<!--><script>alert(1)</script>-->",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "[a link](javascript:alert(1))",
    "[a link](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "![a picture](javascript:alert(1))",
    "<a href='java&#115;cript:alert(1)'>x</a>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<style>body { display: none }</style>",
    "<form action=/formgrader><input id='test-barriers'></form>",
    "<div id='test-barriers' class='score' style='position: fixed'>x</div>",
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "$<script>alert(1)</script>$",
    "| <script>alert(1)</script> |\n|---|\n| <b onmouseover=alert(1)>x</b> |",
    "<div>\n\n<script>\n\nalert(1)\n\n</script>\n\n</div>",
)


class Elements(HTMLParser):
    """The elements of a page, and their attributes, without what a browser may show."""

    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "style", "svg", "math", "iframe", "form", "input", "object", "meta", "base"):
            self.bad.append(tag)
        for name, value in attributes:
            address = value.lower() if name == "href" and not value.lower().startswith(("javascript:", "data:")) else ""
            picture = name == "src" and value.startswith("data:image/")
            if not (address or picture or name in ("alt", "title")):
                self.bad.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["markdown", "raw", "heading"])
def test_no_markup_of_a_student_is_executed(kind, text, course, notebook):
    """Whether it is in a cell, in an output or in the metadata, which nbconvert writes into the page, too."""
    own = {"cell_type": kind, "id": "own", "metadata": {"raw_mimetype": "text/html", "tags": [text]}, "source": text}
    output = {"output_type": "display_data", "data": {"text/html": text, "image/svg+xml": text}, "metadata": {}}
    code = {"cell_type": "code", "id": "code", "metadata": {"tags": [text]}, "source": text, "outputs": [output]}
    notebook["cells"], notebook["metadata"] = [own, code], {"title": text, "widgets": {text: text}}
    found = rebuilt(course, notebook)
    theirs = [cell for cell in found.cells if "nbgrader" not in cell.metadata]
    assert [cell.cell_type for cell in theirs] == ["markdown", "code"]
    assert [cell.metadata for cell in theirs] == [{}, {}] and not theirs[1].outputs and set(found.metadata) == {KEY}
    page = Elements()
    page.feed(markdown2html(theirs[0].source))
    assert page.bad == []


def test_honest_markdown_looks_as_before():
    """Headings, tables, code with < in it, formulas and a pasted picture; the course's own texts stay as they are."""
    text = (
        "# A title\n\nWhere `a < b` and **c**:\n\n```\nif a < b:\n\n    c\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    )
    text += "$a < b$"
    said = clean(text)
    for part in (
        "<h1>A title</h1>",
        "<code>a &lt; b</code>",
        "<strong>c</strong>",
        "if a &lt; b:&#10;&#10;    c",
        "<td>1</td>",
    ):
        assert part in said
    assert "$a &lt; b$" in said and "\n" not in said
    picture = clean("![p](attachment:p.png)", {"p.png": {"image/png": "iVBORw0KGgo="}})
    assert '<img alt="p" src="data:image/png;base64,iVBORw0KGgo="' in picture or (
        'src="data:image/png;base64,iVBORw0KGgo="' in picture
    )
    (own, *_) = (each for each in texts_above(LESSON).values() if each)
    assert clean(own) == own


@pytest.mark.parametrize(
    "text", ["<div>" * 50_000, "[" * 50_000, "> " * 5_000 + "x", "*" * 60_000, "`" * 60_000, "a" * 200_000]
)
def test_a_text_that_parsers_do_not_like_is_shown(text):
    assert clean(text).startswith(("<div>", "<pre>"))
    assert as_text("<b>\n") == "<pre>&lt;b&gt;&#10;</pre>"


def test_code_of_any_length_is_cut_where_the_judge_stops_reading(course, notebook):
    cell_of(notebook, places(LESSON)["barriers"].cell)["source"] = "#" * 10_000_000
    found = rebuilt(course, notebook)
    assert len(answer(found)) == 65_537
    assert len(list(code_cells(json.loads(json.dumps(found))))) == len(
        [c for c in notebook["cells"] if c["cell_type"] == "code"]
    )
