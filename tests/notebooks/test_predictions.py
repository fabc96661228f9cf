"""What a reader sees before the guess, on the page and in all earlier lessons, does not hold the answer."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
#: In the order of a reader, who may begin with the short way.
WALK = [ROOT / "notebooks" / "express.ipynb", *LESSONS]

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
#: What is counted, so that a number beside its word is an answer: "8 loads", "loads: 8".
COUNTED = (
    "load store thread sector wavefront pair barrier byte line multiprocessor flop number element place block request "
    "cycle conflict time row column register warp stage"
).split()
#: Ratios that have a word.
RATIOS = {"half": (0.45, 0.55), "twice": (1.9, 2.1), "a third": (0.31, 0.36), "a quarter": (0.23, 0.27)}


#: Answers that are no terms: a recap says them of other things.
PLAIN = {"fewer", "equally many", "as many", "more", "above", "below", "yes", "no"}

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
            recap = [_visible(cells[0], passed=True)] if first and answer not in PLAIN else []
            prose = [*recap, section[0], *(_visible(each, passed=False) for each in below)]
            prose += [ast.unparse(node) for each in cells[place + 1 : last] for node in _asserts(each)]
            told = _choice(answer, asked, prose)
        else:
            told = [] if answer in ("yes", "no") else _number(answer, asked, given, "\n".join(page), "\n".join(section))
        names = _names(call.args[1], imported)
        told = [*told, *(ast.unparse(node) for node in asserts if _names(node.test, imported) & names)]
        found += [(cell["id"], what) for what in told]
    return found


def _whole(notebook):
    """All that a reader has seen of a lesson at its end: text with its folds, code, outputs, answers and reasons."""
    cells = notebook["cells"]
    return "\n".join(f"{_source(cell)}\n{_shown(cell)}" for cell in cells if not _folded(cell, "source")) + "\n".join(
        _shown(cell) for cell in cells if _folded(cell, "source")
    )


def _tells(number):
    """Whether a number is so peculiar that it is the same figure wherever it stands: 1,340 and 0.73, not 128 or 0.25.

    It has three digits or more. It is no small number times a power of two, nor one less than a power, as sizes and
    counts are; and no fraction of such a power, as shares of a warp are.
    """
    if "." in number:
        return len(number.replace(".", "").strip("0")) >= 3 and not (64 * float(number)).is_integer()
    odd = int(number)
    while odd and odd % 2 == 0:
        odd //= 2
    return len(number) >= 3 and odd > 15 and int(number) & (int(number) + 1) != 0 and len(number.strip("0")) >= 2


def _measured(number):
    """Whether a number may be half of a ratio: a speed or a count, with more digits than ratios themselves have."""
    return _tells(number) and ("." not in number or len(number.strip("0")) >= 5)


def _standing(number, text):
    """Whether a number stands in a text as a word of its own."""
    return re.search(rf"(?<![\w.,])(?:{re.escape(number)}|{float(number):,.10g})(?!\w|[.,]\d)", text)


def _quotient(answer):
    """The ratio that a question asks for: of ranges, or of percent more; None if it asks for something else."""
    if found := re.match(r"([\d,.]+) \(", answer):
        return float(found[1].replace(",", ""))
    return 1 + int(answer[:-1]) / 100 if re.fullmatch(r"\d+%", answer) else None


def told_earlier(notebook, earlier):
    """(cell, lesson, what is told) for each prediction whose answer a reader has met in an earlier lesson.

    Args:
        notebook: the lesson.
        earlier: (name, notebook) of each earlier lesson.

    An answer was met if one of its figures that `_tells` stands anywhere in an earlier lesson; or, if it is a ratio, if
    two figures of its reason and of what is folded until the guess give it, and both stand in earlier lessons, or above
    the question. What the question itself says is no answer, nor what the cell's metadata lists under "given".
    """
    cells, found = notebook["cells"], []
    read = [(name, _whole(each)) for name, each in earlier]
    for place, cell in enumerate(cells):
        if _question(cell) is None:
            continue
        asked, answer, reason = _asked_and_answered(cell)
        given = _numbers(asked) | set(cell["metadata"].get("given", []))
        numbers = [number for number in _numbers(answer.replace(", ", " ; ")) - given if _tells(number)]
        found += [(cell["id"], name, number) for number in numbers for name, text in read if _standing(number, text)]
        if (ratio := _quotient(answer)) is None:
            continue
        _, last = _section(cells, place)
        above = "\n".join(_visible(each, passed=True) for each in cells[:place])
        folded = [_shown(each) for each in cells[place + 1 : last] if _folded(each, "outputs")]
        figures = {n: float(n) for n in _numbers("\n".join([reason, *folded])) - given if len(n) > 1 and float(n)}
        for a, b in ((a, b) for a in figures for b in figures if _measured(a) and _measured(b)):
            if abs(figures[a] / figures[b] / ratio - 1) > 0.005:
                continue
            where = {n: next((name for name, text in [*read, ("", above)] if _standing(n, text)), None) for n in (a, b)}
            if None not in where.values() and any(where.values()):
                found.append((cell["id"], " and ".join(sorted({*where.values()} - {""})), f"{a} / {b}"))
    return found


def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))


lessons = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.name)


@pytest.mark.parametrize("path", WALK, ids=lambda path: path.name)
def test_no_answer_is_seen_before_the_guess(path):
    assert given_away(_read(path)) == []


@lessons
def test_no_answer_is_told_in_an_earlier_lesson(path):
    earlier = [(each.stem, _read(each)) for each in WALK[: WALK.index(path)]]
    assert told_earlier(_read(path), earlier) == []


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


SPEED = _predicted("How many GFLOP/s does it reach?", "1,340")
RATIO = _predicted("How many times as fast?", "1.31 (under 2)", offered=" (under 2 · 2 or more)")
SPEEDS = _cell("code", "x", "tiled 8,514, naive 6,517", jupyter={"outputs_hidden": True})
HEAD = _cell("markdown", "## 4.1 A part")


@pytest.mark.parametrize(
    ("earlier", "cells", "told"),
    [
        ([_cell("markdown", "It reaches 1,340 GFLOP/s.")], [SPEED], True),
        ([_cell("code", "x", "naive 1340", jupyter={"outputs_hidden": True})], [SPEED], True),
        ([_cell("markdown", "It reaches 11,340 or 1,340.5.")], [SPEED], False),
        ([_cell("markdown", "<details>1,340</details>")], [SPEED], True),
        ([SPEED], [SPEED], True),  # asked and answered there
        ([_cell("markdown", "n = 4096, 128 loads")], [_predicted("How many loads?", "128")], False),
        ([_cell("markdown", "8,514 and 6,517")], [HEAD, RATIO, SPEEDS], True),
        ([_cell("markdown", "8,514")], [_cell("markdown", "6,517"), HEAD, RATIO, SPEEDS], True),
        ([_cell("markdown", "8,514")], [HEAD, RATIO, SPEEDS], False),  # one of the two alone tells nothing
        ([], [_cell("markdown", "8,514 and 6,517"), HEAD, RATIO, SPEEDS], False),  # it asks to compare what is above
        ([_cell("markdown", "1,340")], [_predicted("How many GFLOP/s?", "1,340", given=["1340"])], False),
    ],
)
def test_an_answer_that_was_told_earlier_is_found(earlier, cells, told):
    found = told_earlier({"cells": cells}, [("before", {"cells": earlier})])
    assert [(identity, name) for identity, name, _ in found] == [("asked", "before")] * told
