"""The lessons: predictions before results, founded figures, the kernels of the course, outputs that stay stable."""

import ast
import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from oracles import minutes

from course_lib.classroom.lessons import part
from course_lib.classroom.notes import notes_of
from course_lib.exercises import OPTIONAL

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
SOLUTIONS = sorted((ROOT / "notebooks" / "solutions").glob("*.ipynb"))


@cache
def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _sources(path, kind):
    return ["".join(cell["source"]) for cell in _read(path)["cells"] if cell["cell_type"] == kind]


def _outputs(path):
    return [output for cell in _read(path)["cells"] for output in cell.get("outputs", [])]


def _name(path):
    return str(path.relative_to(ROOT / "notebooks"))


lessons = pytest.mark.parametrize("path", LESSONS, ids=_name)
notebooks = pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=_name)


def _notes(path):
    return notes_of(path.name[:2])


def _slide(cell):
    return cell["metadata"].get("slideshow", {}).get("slide_type")


@cache
def _named_calls(source):
    """Return the calls of a cell by the name of the function; many tests read each cell."""
    found = defaultdict(list)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found[node.func.id].append(node)
    return found


def _calls(source, name):
    return _named_calls(source).get(name, [])


#: The assertions that `unheld_comparisons` looks for, a file a lesson; they run after its last cell (conftest.py).
HELD = Path(__file__).parent / "comparisons"


@lessons
def test_the_first_cell_has_what_guides_and_the_site_take_from_it(path):
    """Title, goal and time; and it leads to the solutions."""
    title = _sources(path, "markdown")[0]
    assert re.match(r"# \d+ · .+\n\n\*\*Goal: .+\*\*\n", title)
    assert len(re.findall(r"\*\*Time:\*\* about \d+ minutes", title)) == 1
    if any("check(" in source for source in _sources(path, "code")):
        assert f"](solutions/{path.name})" in title


@lessons
def test_the_notes_plan_no_more_minutes_than_a_reader_needs(path):
    """A class works on a part of the exercises; the others are homework."""
    (stated,) = re.findall(r"\*\*Time:\*\* about (\d+) minutes", _sources(path, "markdown")[0])
    assert sum(int(re.match(r"Time: (\d+) min", text)[1]) for text in _notes(path).values()) <= int(stated)


def test_the_readme_lists_each_lesson_once_and_says_how_long_each_part_takes():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = re.findall(r"^\| \*\*(.+?)\*\* \| (\d+) \| (\d+) \| (.+) \|$", readme, re.MULTILINE)
    listed = []
    for title, total, exercises, row in parts:
        names = re.findall(r"\]\(notebooks/(\d\d_\w+\.ipynb)\)", row)
        stated = [_sources(ROOT / "notebooks" / name, "markdown")[0] for name in names]
        assert sum(int(re.search(r"\*\*Time:\*\* about (\d+) minutes", text)[1]) for text in stated) == int(total)
        counted = [minutes.of_exercises(_read(ROOT / "notebooks" / name)["cells"]) for name in names]
        assert sum(counted) == int(exercises)
        assert {part(name) for name in names} == {title}
        listed += names
    assert listed == [path.name for path in LESSONS]
    (hours,) = {*re.findall(r"(?i)about (\d+) hours", readme)}
    assert round(sum(int(total) for _, total, *_ in parts) / 60) == int(hours)


def _optional(cell):
    return "optional" in cell["metadata"].get("tags", ())


@lessons
def test_the_minutes_are_those_that_counting_gives(path):
    (stated,) = re.findall(r"\*\*Time:\*\* about (\d+) minutes", _sources(path, "markdown")[0])
    counted = minutes.of_lesson(_read(path)["cells"])
    assert abs(counted - int(stated)) <= 5, "run python tests/oracles/minutes.py"


@lessons
def test_optional_exercises_are_marked_and_folded(path):
    """They come after the score; JupyterLab folds what is below their heading."""
    cells, offered = _read(path)["cells"], {each.name for each in OPTIONAL.get(path.stem, ())}
    checks = [
        (re.search(r'^check\("([\w-]+)"', "".join(cell["source"]), re.MULTILINE), _optional(cell)) for cell in cells
    ]
    assert {found[1] for found, optional in checks if found and optional} == offered
    assert not offered & {found[1] for found, optional in checks if found and not optional}
    (score,) = (place for place, cell in enumerate(cells) if re.search(r"\bscore\(\)", "".join(cell["source"])))
    assert not any(map(_optional, [*cells[:score], cells[-1]]))  # the last cell is the summary
    for cell in filter(_optional, cells):
        assert cell["cell_type"] == "code" or cell["metadata"]["jp-MarkdownHeadingCollapsed"]
        assert cell["cell_type"] == "code" or "".join(cell["source"]).startswith("### Optional: ")


@lessons
def test_predictions_are_taken_before_their_answers(path):
    """Each truth comes from a run: an expression with a name in it, in a cell that shows and asserts nothing else."""
    asked = [(source, call) for source in _sources(path, "code") for call in _calls(source, "predict")]
    for source, call in asked:
        assert len(call.args) == 2, source
        assert any(isinstance(node, ast.Name) for node in ast.walk(call.args[1])), source
        assert "assert" not in source, source
        assert "guess" not in {keyword.arg for keyword in call.keywords}, source
    for output in _outputs(path):
        text = "".join(output.get("data", {}).get("text/plain", ""))
        if text.startswith("Predict: "):
            shown = "".join(output["data"]["text/html"])
            assert "<details><summary>The answer</summary>" in shown


@lessons
def test_a_prediction_does_not_show_its_reason_beside_the_question(path):
    """The truth stands in the cell too, so its code is folded. JupyterLab still shows the first line of it."""
    for cell in _read(path)["cells"]:
        source = "".join(cell["source"])
        for call in _calls(source, "predict") if cell["cell_type"] == "code" else ():
            assert cell["metadata"].get("jupyter", {}).get("source_hidden"), source
            assert call.args[1].lineno > 1, source
            assert "because" not in source.splitlines()[0], source


@lessons
def test_a_stored_output_does_not_show_the_answer_below_its_question(path):
    """What a cell shows after a prediction of its section is folded until the cell is run.

    JupyterLab shows a line of the first output in the place of the folded ones: that output is one of nothing.
    """
    asked = False
    for cell in _read(path)["cells"]:
        source, hidden = "".join(cell["source"]), cell["metadata"].get("jupyter", {}).get("outputs_hidden", False)
        if cell["cell_type"] == "markdown":
            asked = asked and not re.search(r"^## ", source, re.MULTILINE)
        elif _calls(source, "predict"):
            asked = True
        else:
            shows = bool(cell["outputs"]) and not any(_calls(source, name) for name in ("check", "explain", "score"))
            assert hidden == (asked and shows), source
            assert [output.get("data") == {} for output in cell["outputs"]].count(True) == hidden, source
            assert not hidden or cell["outputs"][0].get("data") == {}, source


@lessons
def test_an_exercise_has_hints_that_are_folded(path):
    """In the text above it; a kernel whose bug is still to be found has none."""
    told = ""
    for cell in _read(path)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            told = source
        elif re.search(r"^check\(", source, re.MULTILINE) and not re.search(r"^def unseen_", source, re.MULTILINE):
            assert "<details><summary>Hint: " in told, source


@lessons
def test_no_constant_of_a_kernel_changes(path):
    """A kernel keeps the value that a global had at its first launch: a lesson that changed it would show nothing."""
    assigned, used = Counter(), set()
    for source in _sources(path, "code"):
        tree = ast.parse(source)
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", ast.Pass())]
            assigned.update({n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)})
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and "cuda.jit" in "".join(map(ast.unparse, node.decorator_list)):
                own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                own |= {argument.arg for argument in node.args.args}
                used |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - own
    assert not {name for name, times in assigned.items() if times > 1} & used


@lessons
def test_matrices_and_launches_come_from_the_course(path):
    """`matrices` and `multiply` have one home, `course_lib.exercises.products`."""
    for source in _sources(path, "code"):
        defined = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
        assert not defined & {"matrices", "multiply"}


@lessons
def test_every_assert_says_what_was_expected(path):
    for source in _sources(path, "code"):
        for node in ast.walk(ast.parse(source)):
            assert not isinstance(node, ast.Assert) or node.msg is not None, ast.unparse(node)


@lessons
def test_every_cell_has_its_place_in_the_slides(path):
    assert {_slide(cell) for cell in _read(path)["cells"]} <= {"slide", "subslide", "fragment", "skip", "-"}


@lessons
def test_notes_belong_to_a_section_and_plan_its_minutes(path):
    """In a file for teachers, under the heading of the lesson's cell; no reader of the lesson meets an answer there."""
    headings = re.findall(r"^#+ (.+)$", "\n".join(_sources(path, "markdown")), re.MULTILINE)
    assert set(_notes(path)) <= set(headings)
    assert all(re.match(r"Time: \d+ min", text) for text in _notes(path).values())
    assert "speaker" not in "".join(_sources(path, "markdown")).lower()


@lessons
def test_a_section_begins_a_slide(path):
    for cell in _read(path)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (found := re.search(r"^## \d+\.\d+ ", source, re.MULTILINE)):
            assert found.start() == 0, found[0]
            assert _slide(cell) in ("slide", "subslide"), found[0]


NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")


def _figures(text, digits=3):
    """Numbers of so many digits or more, and those with a fraction: what somebody measured or counted."""
    numbers = [number.rstrip(",").replace(",", "") for number in NUMBER.findall(text)]
    return {number for number in numbers if "." in number or len(number) >= digits}


def _has(number, known):
    """Whether the number is known, to its own precision: 15.2 is known where 15.2047 is."""
    digits = len(number.partition(".")[2])
    return any(f"{value:.{digits}f}" == number for value in known)


def _told(source):
    """The sentences of a prediction: its question, and the reason that is shown with the answer."""
    calls = _calls(source, "predict")
    strings = [
        node for call in calls for node in (call.args[0], *(k.value for k in call.keywords if k.arg == "because"))
    ]
    parts = [part for node in strings for part in ast.walk(node)]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _without_sentences(source):
    """The source without what predictions tell: a figure is not founded by the sentence that states it."""
    for sentence in _told(source) if _calls(source, "predict") else ():
        for line in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source):
            if line in sentence:
                source = source.replace(f'"{line}"', '""')
    return source


def _answer_alone(text):
    """The text of a prediction up to its answer, without the question and the reason."""
    found = re.search(r"^  answer: (.*)", text, re.MULTILINE) if text.startswith("Predict: ") else None
    return found[1].split(". ")[0] if found else text


def unfounded_figures(notebook, notes=""):
    """The figures in the prose and in the notes that no code and no output of the lesson has."""
    cells = notebook["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    source = "\n".join(map(_without_sentences, code))
    shown = [
        _answer_alone("".join(output.get("text", output.get("data", {}).get("text/plain", ""))))
        for cell in cells
        for output in cell.get("outputs", [])
    ]
    declared = " ".join(" ".join(cell["metadata"].get("figures", [])) for cell in cells)
    known = [float(n.rstrip(",").replace(",", "")) for n in NUMBER.findall("\n".join([source, *shown, declared]))]
    known += [32 * n for n in (4, 32)]  # a warp's 4-byte elements, and a block's 1,024 threads
    prose = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    prose += "\n" + "\n".join(sentence for source in code for sentence in _told(source))
    sections = set(re.findall(r"^## (\d+\.\d+) ", prose, re.MULTILINE))
    # notes give answers, which are small numbers, too
    figures = _figures(_without_code(prose)) | _figures(re.sub(r"Time: [^.]*\.", "", _without_code(notes)), digits=2)
    years = {number for number in figures if re.fullmatch(r"(19|20)\d\d", number)}
    return sorted(n for n in figures - years - sections if not _has(n, known))


def _without_code(text):
    """Prose without headings, code, addresses, tags, numbers of lessons, and the minutes, which are counted."""
    return re.sub(
        r"^#.*$|\*\*Time:\*\* about \d+ minutes|`[^`]*`|\]\([^)]*\)|<[^>]*>|\b[Ll]essons? \d+",
        " ",
        text,
        flags=re.MULTILINE,
    )


@lessons
def test_figures_in_the_prose_come_from_the_lesson(path):
    assert unfounded_figures(_held(path), "\n".join(_notes(path).values())) == []


def test_an_unfounded_figure_is_seen():
    """A rounded one is known to its own precision; words, sections and small whole numbers are not figures."""
    prose = ["## 6.1 Banks\n\nIn 6.1 it was 1,056 or 15.2 %, not 7.5 and 4096; 8 is small, as in 2009.\n"]
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": prose, "metadata": {}},
            {"cell_type": "code", "source": ["33 * 32"], "metadata": {}, "outputs": [{"text": ["1056 15.2047"]}]},
        ]
    }
    assert unfounded_figures(notebook) == ["4096", "7.5"]
    assert unfounded_figures(notebook, "Time: 12 min. 33, not 34.") == ["34", "4096", "7.5"]


_PART = (
    r"(?:half|twice|(?:a|one) (?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|fiftieth|hundredth)|\w+ times"
    r"|[\d.,]+ times|[\d.,]+ ?%|0\.\d+)"
)
#: Words that compare what was measured: "half the speed", "twice as fast", "slower by a seventh".
COMPARED = re.compile(
    rf"{_PART}(?: of| as)?(?: the| its| our)? (?:speed|fast|faster|slow|slower|long|longer|time|second)\b"
    rf"|{_PART} of (?:what|the arithmetic|the wavefronts)|(?:faster|slower|longer),? (?:by|than)\b|\bat the speed of\b"
    r"|\btimes? (?:doubles|halves)\b|\bas fast as\b|\bin speed\b|\bno speed\b",
    re.IGNORECASE,
)


def _sentences(text):
    text = re.sub(r"^#.*$|\]\([^)]*\)|<[^>]*>", " ", text, flags=re.MULTILINE)
    parts = re.split(r"(?<=[.!?:;])\s+|\n\n|\n- |\|", re.sub(r"[\[*`]", "", text))
    return [" ".join(part.split()) for part in parts]


def _held(path):
    """A lesson with what holds its comparisons as its last cell."""
    lesson, held = _read(path), (HELD / f"{path.stem}.py").read_text(encoding="utf-8")
    cell = {"cell_type": "code", "source": [held], "metadata": {}, "outputs": []}
    return {**lesson, "cells": [*lesson["cells"], cell]}


def unheld_comparisons(notebook):
    """Sentences that compare what was measured, and quote the message of no assertion in the lesson, or beside it.

    Questions are none; what is a rule and no result stands in the cell's metadata, under "comparisons".
    """
    cells = [("".join(cell["source"]), cell) for cell in notebook["cells"]]
    code = [source for source, cell in cells if cell["cell_type"] == "code"]
    asserts = [node for source in code for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]
    held = [node.msg.value.lower() for node in asserts if isinstance(node.msg, ast.Constant)]
    unheld = []
    for source, cell in cells:
        texts = [source] if cell["cell_type"] == "markdown" else _told(source)
        known = held + [words.lower() for words in cell["metadata"].get("comparisons", [])]
        for sentence in (sentence for text in texts for sentence in _sentences(text)):
            if COMPARED.search(sentence) and sentence[-1:] != "?" and not any(k in sentence.lower() for k in known):
                unheld.append(sentence)
    return unheld


@lessons
def test_comparisons_in_the_prose_are_held(path):
    assert unheld_comparisons(_held(path)) == []


def test_an_unheld_comparison_is_seen():
    prose = (
        "It runs at half the speed. Is it twice as fast? Here it is slower by a seventh, and there no speed is gained."
    )
    cells = [
        {"cell_type": "markdown", "source": [prose], "metadata": {}},
        {"cell_type": "code", "source": ['assert 0.45 < x < 0.55, "half the speed"'], "metadata": {}},
    ]
    (unheld,) = unheld_comparisons({"cells": cells})
    assert unheld.startswith("Here it is slower")
    cells[0]["metadata"]["comparisons"] = ["slower by a seventh"]
    assert unheld_comparisons({"cells": cells}) == []


@notebooks
def test_nothing_is_captured_hidden_or_installed(path):
    for source in _sources(path, "code"):
        assert not source.rstrip().endswith(";")
        assert not re.search(r"^\s*[!%]", source, re.MULTILINE)  # no magics, no shell
        for word in ("Output(", "interact", "pip install", "open(", "urllib"):
            assert word not in source, word


@notebooks
def test_outputs_are_stable_and_have_texts(path):
    outputs = _outputs(path)
    assert outputs
    for output in outputs:
        assert output["output_type"] in ("execute_result", "display_data") or output["name"] == "stdout"
        if output.get("data") == {}:
            continue  # before folded answers
        assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
        text = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        assert text and "at 0x" not in text
        # pages of nbconvert and JupyterLab show the text of a picture in HTML alone
        assert not any(kind.startswith("image/") for kind in output.get("data", {}))
        for picture in re.findall(r"<img [^>]*>", "".join(output.get("data", {}).get("text/html", ""))):
            assert re.search(r' alt="[^"]', picture)


@notebooks
def test_cells_are_named_by_hand(path):
    """So the names stay when the notebook is executed."""
    identities = [cell["id"] for cell in _read(path)["cells"]]
    assert len(set(identities)) == len(identities)
    assert all(re.fullmatch(r"[a-z0-9-]+", identity) for identity in identities)


CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@cache
def _anchors(path):
    """The places of a notebook or a page that a link can name: its headings, as JupyterLab calls them, and its ids."""
    text = "\n".join(_sources(path, "markdown") if path.suffix == ".ipynb" else [path.read_text(encoding="utf-8")])
    headings = re.findall(r"^#+ +(.*?)\s*$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    words = (re.sub(r"[*`]|\[(?=[^\]]*\]\()|\]\([^)]*\)", "", heading) for heading in headings)
    return {*(each.replace(" ", "-") for each in words), *re.findall(r'(?:id|name)="([^"]+)"', text)}


@pytest.mark.parametrize(
    "path",
    sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("notebooks/*.md"), *SOLUTIONS]),
    ids=_name,
)
def test_links_lead_somewhere(path):
    """To a file that there is, and in it to a heading or a term; links to steps have their own test."""
    sources = _sources(path, "markdown") if path.suffix == ".ipynb" else [path.read_text(encoding="utf-8")]
    text = CODE.sub("", "\n".join(sources))
    for target in re.findall(r'(?:\]\(|href=")([^)"\s]+)', text):
        if target.startswith(("https://", "#step=")):
            continue
        file, _, place = target.partition("#")
        goal = path.parent / file if file else path
        assert goal.exists(), target
        assert not place or unquote(place) in _anchors(goal), target


def _kept():
    """(path, source, file and function) of each cell that shows a kernel of the ladder, as its metadata says."""
    for path in LESSONS:
        for cell in _read(path)["cells"]:
            if "kept" in cell["metadata"]:
                yield path.name, "".join(cell["source"]), cell["metadata"]["kept"]


KEPT = list(_kept())


def test_the_ladder_is_shown():
    """The rungs short enough for a cell stand in one, as the course keeps them."""
    shown = {kept.split(":")[1] for _, _, kept in KEPT}
    assert {"naive", "single_block", "tiled", "uncoalesced", "prefetched"} <= shown


def _function(source, name):
    """The innermost function of this name as an AST without its docstring and its name."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    *_, found = [node for node in functions if node.name == name]
    body = found.body[1:] if ast.get_docstring(found) else found.body
    return ast.dump(found.args), [ast.dump(node) for node in found.decorator_list], [ast.dump(node) for node in body]


@pytest.mark.parametrize("lesson, source, kept", KEPT, ids=[f"{lesson}: {kept}" for lesson, _, kept in KEPT])
def test_the_kernel_shown_is_the_one_that_the_course_keeps(lesson, source, kept):
    """Name and docstring aside: the lesson calls its kernels as it needs."""
    file, name = kept.split(":")
    *_, shown = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    kept_source = (ROOT / "course_lib" / "kernels" / file).read_text(encoding="utf-8")
    assert _function(source, shown) == _function(kept_source, name)
