"""The lessons: short cells, predictions before results, kernels that are the course's own, outputs that stay stable."""

import ast
import json
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
SOLUTIONS = sorted((ROOT / "notebooks" / "solutions").glob("*.ipynb"))


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


def test_each_lesson_has_its_solutions():
    assert LESSONS
    assert [path.name for path in LESSONS] == [path.name for path in SOLUTIONS]


@lessons
def test_cells_are_short(path):
    lengths = [len([line for line in source.splitlines() if line.strip()]) for source in _sources(path, "code")]
    assert 15 <= len(lengths) <= 30
    assert statistics.median(lengths) <= 4
    assert max(lengths) <= 25


@lessons
def test_prose_is_a_lesson_long(path):
    words = sum(len(source.split()) for source in _sources(path, "markdown"))
    assert 1500 <= words <= 3000


@lessons
def test_a_prediction_comes_before_the_cell_that_answers_it(path):
    cells = _read(path)["cells"]
    predictions = [
        i
        for i, cell in enumerate(cells)
        if cell["cell_type"] == "markdown" and "**Predict:**" in "".join(cell["source"])
    ]
    assert len(predictions) >= 8
    for i in predictions:
        assert cells[i + 1]["cell_type"] == "code"
        text = "".join(cells[i]["source"])
        assert "?" in text or "." in text.split("**Predict:**")[1]


@lessons
def test_two_exercises_with_folded_hints(path):
    exercises = [source for source in _sources(path, "code") if re.search(r"^check\(", source, re.MULTILINE)]
    assert len(exercises) == 2
    assert all("# your code here (about " in source for source in exercises)
    assert sum(source.count("<details><summary>Hint") for source in _sources(path, "markdown")) >= 4
    assert sum("- Budget: " in source and "- Launch: " in source for source in _sources(path, "markdown")) == 2


@notebooks
def test_nothing_is_captured_hidden_or_installed(path):
    for source in _sources(path, "code"):
        assert not source.rstrip().endswith(";")
        assert not re.search(r"^\s*[!%]", source, re.MULTILINE)  # no magics, no shell
        for word in ("Output(", "interact", "pip install", "open(", "urllib"):
            assert word not in source, word


@notebooks
def test_outputs_are_stored_small_and_stable(path):
    outputs = _outputs(path)
    assert outputs
    assert len(json.dumps(outputs)) < 200_000
    for output in outputs:
        assert output["output_type"] in ("execute_result", "display_data") or output["name"] == "stdout"
        assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
        text = "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
        assert text and "at 0x" not in text
        assert not re.search(r"/(home|root|tmp|Users|work)/", json.dumps(output))


@notebooks
def test_the_file_holds_nothing_of_the_run_that_made_it(path):
    notebook = _read(path)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in notebook["metadata"]
    identities = [cell["id"] for cell in notebook["cells"]]
    assert len(set(identities)) == len(identities)
    assert all(re.fullmatch(r"[a-z0-9-]+", identity) for identity in identities)  # named by hand, so they stay
    assert not any("execution" in cell["metadata"] for cell in notebook["cells"])


@notebooks
def test_links_lead_somewhere(path):
    for source in _sources(path, "markdown"):
        for target in re.findall(r"(?<!\])\[[^\]]+\]\(([^)#]+)\)", re.sub(r"`[^`]*`", "", source)):
            assert target.startswith("https://") or (path.parent / target).exists(), target


SHOWN = [
    ("02_naive.ipynb", "matmul_host", "host.py", "matmul_host"),
    ("02_naive.ipynb", "naive", "naive.py", "naive"),
    ("04_tiling.ipynb", "single_block", "single_block.py", "single_block"),
    ("04_tiling.ipynb", "tiled_any", "tiled.py", "tiled"),
    ("03_prefetching.ipynb", "prefetched", "prefetched.py", "prefetched"),
]


def _function(source, name):
    """The innermost function of this name as an AST without its docstring and its name."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    *_, found = [node for node in functions if node.name == name]
    body = found.body[1:] if ast.get_docstring(found) else found.body
    return ast.dump(found.args), [ast.dump(node) for node in found.decorator_list], [ast.dump(node) for node in body]


@pytest.mark.parametrize("notebook, shown, file, kept", SHOWN)
def test_the_kernel_shown_is_the_one_that_the_course_keeps(notebook, shown, file, kept):
    cells = [source for source in _sources(ROOT / "notebooks" / notebook, "code") if f"def {shown}(" in source]
    assert len(cells) == 1
    kept_source = (ROOT / "course_lib" / "kernels" / file).read_text(encoding="utf-8")
    assert _function(cells[0], shown) == _function(kept_source, kept)
