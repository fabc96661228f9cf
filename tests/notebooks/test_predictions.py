"""What a reader sees of a page before the guess, as it is stored and as it is run, does not hold the answer."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
#: What is counted, so that a number beside its word is an answer: "8 loads", "loads: 8".
COUNTED = (
    "load store thread sector wavefront pair barrier byte line multiprocessor flop number element place block request "
    "cycle conflict time row column register warp stage"
).split()
#: Ratios that have a word.
RATIOS = {"half": (0.45, 0.55), "twice": (1.9, 2.1), "a third": (0.31, 0.36), "a quarter": (0.23, 0.27)}


#: The tree of a cell's source; many tests read each cell.
_tree = cache(ast.parse)


def _source(cell):
    return "".join(cell["source"])


def _folded(cell, which):
    return cell["metadata"].get("jupyter", {}).get(f"{which}_hidden", False)


def _question(cell):
    """The call of predict in a cell that makes one, else None."""
    if cell["cell_type"] != "code":
        return None
    calls = (node.value for node in _tree(_source(cell)).body if isinstance(node, ast.Expr))
    return next((c for c in calls if isinstance(c, ast.Call) and getattr(c.func, "id", "") == "predict"), None)


def _shown(cell):
    """The text of a cell's outputs."""
    outputs = cell.get("outputs", [])
    return "\n".join("".join(out.get("text", out.get("data", {}).get("text/plain", ""))) for out in outputs)


def _asked_and_answered(cell):
    """Of a prediction's stored output: (question with its choices, answer, reason)."""
    asked, _, told = _shown(cell).partition("\n")
    answer, _, reason = told.partition("answer: ")[2].partition(". ")
    return asked.removeprefix("Predict: "), answer, reason


def _visible(cell, passed):
    """What is seen of a cell; `passed`: its reader has run it, so that its outputs and its answer are there."""
    if cell["cell_type"] == "markdown":
        return re.sub(r"<details>.*?</details>", " ", _source(cell), flags=re.DOTALL)
    if _question(cell):
        asked, answer, reason = _asked_and_answered(cell)
        return f"{asked}\n{answer}. {reason}" if passed else asked
    source = "" if _folded(cell, "source") else _source(cell)
    return source if _folded(cell, "outputs") and not passed else f"{source}\n{_shown(cell)}"


def _section(cells, place):
    """The bounds of the section of a cell: from its heading to the next."""
    heads = [i for i, cell in enumerate(cells) if cell["cell_type"] == "markdown" and _source(cell).startswith("## ")]
    return max([0, *(i for i in heads if i <= place)]), min([len(cells), *(i for i in heads if i > place)])


def _numbers(text):
    return {found.replace(",", "") for found in re.findall(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)", text.strip(","))}


def _beside(number, nouns, text):
    """Whether a number stands beside the word for what it counts."""
    spelled = [re.escape(f"{int(number):,}"), re.escape(number)] if number.isdigit() else [re.escape(number)]
    spelled += [WORDS[int(number)]] if number.isdigit() and int(number) < len(WORDS) else []
    digits = rf"(?<![\w.,·×/])(?:{'|'.join(spelled)})(?![\w.,]\d|[·×/])"
    noun = rf"(?:{'|'.join(nouns)})s?\b"
    return re.search(rf"{digits}(?: [a-z-]+){{0,2}} {noun}|{noun}: {digits}", text, re.IGNORECASE)


def _asserts(cell):
    if cell["cell_type"] != "code" or _folded(cell, "source"):
        return []
    return [node for node in ast.walk(_tree(_source(cell))) if isinstance(node, ast.Assert)]


def _names(node, imported):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - imported


def _ratio(answer, given, text):
    """What in a text gives a ratio away, of which the question offers ranges."""
    value = float(answer.split(" ")[0].replace(",", ""))
    forms = [word for word, (low, high) in RATIOS.items() if low <= value <= high]
    forms += [f"{100 * value:.0f} %", f"{value:.2f}", f"{value:.3g} times", f"{round(value)} times"]
    return [form for form in forms if form not in given and re.search(rf"(?<![\w.]){re.escape(form)}(?!\w)", text)]


def _choice(answer, asked, prose):
    """The sentences that name a choice and no other."""
    others = [choice for choice in re.search(r"\(([^()]*)\)$", asked)[1].split(" · ") if choice != answer]
    named = re.compile("|".join(rf"\b{re.escape(choice)}\b" for choice in others))
    sentences = re.split(r"(?<=[.!?:])\s+|\n\n", "\n\n".join(prose))
    return [each for each in sentences if re.search(rf"\b{re.escape(answer)}\b", each) and not named.search(each)]


def _number(answer, asked, given, page, section):
    """The numbers of an answer that stand in the page or, with what they count, in the section."""
    nouns = re.findall(rf"how many (?:\w+ ){{0,2}}?({'|'.join(COUNTED)})", asked, re.IGNORECASE)
    nouns = nouns or re.findall(rf"\b({'|'.join(COUNTED)})", asked, re.IGNORECASE)[:1] or ["result"]
    for number in _numbers(answer.replace(", ", " ; ")) - given:
        anywhere = rf"(?<![\w.,])(?:{number}|{float(number):,.10g})(?!\w|[.,]\d)"
        if len(number) <= 2:
            seen = _beside(number, nouns, section if len(number) == 1 else page)
            yield from [seen[0]] if seen else []
        elif re.search(anywhere, page):
            yield number


def given_away(notebook):
    """(cell, what gives the answer away) for each prediction whose answer a reader sees before the guess.

    - a number of three digits or more, or with a fraction: anywhere in the lesson
    - another number: beside the word for what the question counts, one of a single digit in its section
    - a ratio of which the question offers ranges: in its section, as a word, as percent or as "times"
    - a text among choices: in its section, in a sentence below the question that names no other choice
    - an assertion in the section that names what the answer is computed from

    What the question itself says is no answer, nor what a cell's metadata lists under "given": data that happen to
    be the same number.
    """
    cells = notebook["cells"]
    imports = [n for c in cells if c["cell_type"] == "code" for n in ast.walk(_tree(_source(c)))]
    imported = {a.asname or a.name for n in imports if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
    found = []
    for place, cell in enumerate(cells):
        call = _question(cell)
        if call is None:
            continue
        asked, answer, _ = _asked_and_answered(cell)
        first, last = _section(cells, place)
        page = [_visible(each, passed=first <= i < place) for i, each in enumerate(cells) if i != place]
        section = [_visible(each, passed=i < place) for i, each in enumerate(cells) if first <= i < last and i != place]
        given = _numbers(asked) | set(cell["metadata"].get("given", []))
        asserts = [node for each in cells[first:last] for node in _asserts(each)]
        if re.search(r"\d \(", answer):
            told = _ratio(answer, given, "\n".join(section))
        elif any(keyword.arg == "choices" for keyword in call.keywords):
            below = [each for each in cells[place + 1 : last] if each["cell_type"] == "markdown"]
            prose = [section[0], *(_visible(each, passed=False) for each in below)]
            prose += [ast.unparse(node) for each in cells[place + 1 : last] for node in _asserts(each)]
            told = _choice(answer, asked, prose)
        else:
            told = [] if answer in ("yes", "no") else _number(answer, asked, given, "\n".join(page), "\n".join(section))
        names = _names(call.args[1], imported)
        told = [*told, *(ast.unparse(node) for node in asserts if _names(node.test, imported) & names)]
        found += [(cell["id"], what) for what in told]
    return found


def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))


lessons = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.name)


@lessons
def test_no_answer_is_seen_before_the_guess(path):
    assert given_away(_read(path)) == []


def _cell(kind, source, text="", **metadata):
    outputs = {"outputs": [{"data": {"text/plain": text}}]} if kind == "code" else {}
    identity = {"id": metadata.pop("identity", "other")}
    return {"cell_type": kind, "source": source, "metadata": metadata, **identity, **outputs}


def _predicted(question, answer, truth="truth", **more):
    source = f"predict(\n    {question!r},\n    {truth},\n{more.pop('choices', '')})"
    offered = more.pop("offered", "")
    text = f"Predict: {question}{offered}\n  no guess yet: run this cell\n  answer: {answer}. Because."
    return _cell("code", source, text, identity="asked", **more)


QUESTION = _predicted("How many loads does each thread make?", "8")


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        ([_cell("markdown", "## 1.1 A part\n\nIt makes 8 loads."), QUESTION], True),
        ([_cell("markdown", "## 1.1 A part\n\n<details>8 loads</details>"), QUESTION], False),
        ([_cell("markdown", "## 1.1 Eight loads"), QUESTION], True),
        ([_cell("markdown", "## 1.1 A part"), QUESTION, _cell("markdown", "There were 8 global loads.")], True),
        ([QUESTION, _cell("markdown", "## 1.2 Another part\n\n8 loads")], False),
        ([QUESTION, _cell("code", "x", "loads: 8")], True),
        ([QUESTION, _cell("code", "x", "loads: 8", jupyter={"outputs_hidden": True})], False),
        ([_cell("code", "x", "loads: 8", jupyter={"outputs_hidden": True}), QUESTION], True),  # as it is run
        ([QUESTION, _cell("code", "assert truth == 3, 'so many'", "")], True),
        ([_cell("markdown", "## 1.1 A part\n\n8×8 matrices, block of 8"), QUESTION], False),
        ([_predicted("How many loads are there?", "420"), _cell("markdown", "## 1.2 Far\n\nThe 420 of 1.1")], True),
        ([_predicted("How many loads are there?", "420", given=["420"]), _cell("markdown", "420")], False),
        ([_predicted("Which share?", "0.5 (0.35 to 0.7)"), _cell("code", "assert x, 'half the speed'")], True),
        (
            [
                _cell("markdown", "## 1.1 A part\n\nThreads, or memory?"),
                _predicted("Which limit?", "threads", choices="choices=(x, y),", offered=" (threads · memory)"),
                _cell("markdown", "It is the threads."),
            ],
            True,
        ),
    ],
)
def test_an_answer_that_is_seen_is_found(cells, seen):
    assert [identity for identity, _ in given_away({"cells": cells})] == ["asked"] * seen
