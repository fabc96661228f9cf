"""Every term that a lesson uses has an entry in the glossary.

A term is recognised in two ways. Where a lesson introduces a word, it sets it in italics: such a word is a term unless
it is one of `STRESSED`, which are in italics to be stressed. And `FIELD` lists words of NVIDIA's documentation, among
them the profiler's names of stalls, which are terms wherever a lesson's text or an output has them. A term has an entry
if it is a heading of the glossary, or stands in italics in an entry.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from course_lib.machine import measurements

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("*.ipynb"))

#: Words in italics for stress alone, or that name something on the page.
STRESSED = """
after the barrier | all | and | another | any | before | before the products | close | column | columns | current |
executed | far | for one thread | how much | if the condition is the same for all threads of the block |
in the course's model | issues | its | its own | l1 bypassed | large | length | loads one pair of tiles too many |
local | makes | many | matrices | needs | needs the loaded value | next | next instruction | no findings | numba | one |
other | pass | rectangles | rounded up | row | rows | same | share | shared | show me | the access | then | time |
transpose it in shared memory | two | waiting | when | where | while
"""
STRESSED = {" ".join(word.split()) for word in STRESSED.split("|")}

#: Terms also where they are not marked. Of the stalls, "barrier" and "wait" are common words, and are left out.
FIELD = {
    "bfloat16",
    "tf32",
    "mbarrier",
    "ptx",
    "fence",
    "stream-k",
    "split-k",
    "profiler",
    "occupancy",
    "double buffering",
    "nsight compute",
    "ffma",
}
FIELD |= {
    "hardware counters",
    "warm-up",
    "little's law",
    "issue slot",
    "tensor memory accelerator",
    "roofline",
    "bandwidth",
}
_STALLS = {
    key.removeprefix("stalled_").removesuffix("_percent").replace("_", " ")
    for result in measurements.load("counters").results
    for key in result
    if key.startswith("stalled_")
}
FIELD |= {name for name in _STALLS if " " in name}

_CODE = re.compile(r"<code>.*?</code>|```.*?```|`[^`]*`", re.DOTALL)
_ITALIC = re.compile(r"(?<![*\w])\*(?!\*)([^*\n]+?)\*(?!\*)")


def _plain(word):
    return re.sub(r"[-_]", " ", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", word)).lower().strip()


def _forms(word):
    """A word as it is, and without the ending of its plural."""
    return {word, word.removesuffix("s"), re.sub(r"ies$", "y", word)}


@cache
def entries():
    text = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
    italic = _ITALIC.findall(_CODE.sub("", " ".join(text.split())))
    return {_plain(each) for each in [*re.findall(r"^## (.+)$", text, re.MULTILINE), *italic]}


def terms(notebook):
    """The terms of a lesson, by both ways."""
    prose, shown = [], []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        prose += [_CODE.sub("", source)] if cell["cell_type"] == "markdown" else []
        shown += [
            "".join(out.get("text", out.get("data", {}).get("text/plain", ""))) for out in cell.get("outputs", [])
        ]
    marked = {_plain(word) for text in prose for word in _ITALIC.findall(text)} - STRESSED
    read = _plain("\n".join([*prose, *shown]))
    return marked | {word for word in FIELD if re.search(rf"\b{re.escape(_plain(word))}s?\b", read)}


def missing(notebook, known):
    return sorted(word for word in terms(notebook) if not _forms(_plain(word)) & known)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.name)
def test_each_term_has_an_entry(path):
    assert missing(json.loads(path.read_text(encoding="utf-8")), entries()) == []


def test_the_entries_are_in_order_and_each_is_there_once():
    headings = re.findall(r"^## (.+)$", (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == sorted(set(headings), key=lambda each: each.lower().replace("'", ""))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("A *sprocket* turns.", ["sprocket"]),
        ("Two *sprockets* turn.", ["sprockets"]),
        ("A *[sprocket](glossary.md#Warp)* turns.", ["sprocket"]),
        ("*Warps*, and *the access*, `a * b * c`, **bold**.", []),
        ("It is a long scoreboard stall.", []),
        ("It says `long_scoreboard`, and two fences.", ["fence"]),
    ],
)
def test_a_term_without_an_entry_is_seen(source, found):
    notebook = {"cells": [{"cell_type": "markdown", "source": source}]}
    assert missing(notebook, {"warp", "long scoreboard"}) == found
