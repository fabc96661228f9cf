"""Neither the lessons' text nor docstrings contain words that CONTRIBUTING replaces."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")) + sorted((ROOT / "notebooks/solutions").glob("*.ipynb"))
GENERATED = ROOT / "docs/verdicts.md"
PAGES = [*ROOT.glob("*.md"), ROOT / "notebooks/glossary.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {GENERATED})]


def _words():
    """The left column of the table of words in CONTRIBUTING."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Words\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)
    return [word for row in rows[1:] for word in row.split(", ")]


def _without_code(text):
    return re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<code>.*?</code>", " ", text, flags=re.DOTALL)


def _text(notebook):
    """What is written for readers: markdown without code, and the strings of predictions."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield _without_code(source)
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "predict":
                yield _without_code(" ".join(_strings(ast.walk(node))))


def _strings(nodes):
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def unwanted(texts, words):
    """Each unwanted word with what stands around it."""
    word = rf"\b(?:{'|'.join(map(re.escape, words))})(?!\w)"
    texts = [text for text in texts if re.search(word, text, re.IGNORECASE)]
    around = re.compile(rf"[^.\n]{{0,30}}{word}[^.\n]{{0,30}}", re.IGNORECASE)  # slow
    return [" ".join(found.split()) for text in texts for found in around.findall(text)]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_lesson_is_in_the_words_to_use(path):
    assert unwanted(_text(json.loads(path.read_text(encoding="utf-8"))), _words()) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_page_is_in_the_words_to_use(path):
    """The table of words itself has them."""
    text = re.sub(r"\n## Words\n.*?(?=\n## |\Z)", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert unwanted([_without_code(text)], _words()) == []


def test_hints_and_docstrings_are_in_the_words_to_use():
    """All strings of the exercises, and the docstrings of everything else."""
    said = []
    for path in (ROOT / "course_lib").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        documented = [n for n in nodes if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
        said += _strings(nodes) if "exercises" in path.parts else [ast.get_docstring(n) or "" for n in documented]
    assert unwanted(map(_without_code, said), _words()) == []


def test_an_unwanted_word_is_found():
    words = _words()
    assert len(words) > 30 and "mend" in words and "not" not in words
    asked = 'predict(\n    "Which is dear?",\n    truth,\n    because="The `mend` reckons.",\n)'
    cells = [
        {"cell_type": "markdown", "source": ["Mend `stands` here.\n", "\n", "He amends it."]},
        {"cell_type": "code", "source": [asked]},
        {"cell_type": "code", "source": ["mend = 'mend'"]},
    ]
    assert unwanted(_text({"cells": cells}), words) == ["Mend here", "Which is dear? The reckons"]
