"""The paper: the sections that JOSE asks for, the package's authors, and sources that are cited and defined."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper.md").read_text(encoding="utf-8")
HEAD, BODY = TEXT.removeprefix("---\n").split("\n---\n", 1)


def test_the_authors_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert yaml.safe_load(HEAD)["authors"] == project["authors"] == citation["authors"]


def test_it_has_the_sections_that_the_journal_asks_for():
    sections = re.findall(r"^# (.*)$", BODY, re.MULTILINE)
    assert {"Summary", "Statement of need", "Content and instructional design", "Learning objectives"} <= set(sections)
    assert sections[-1] == "References" and 250 < len(BODY.split()) < 1750


def test_what_is_cited_is_defined_and_what_is_defined_is_cited():
    library = (ROOT / yaml.safe_load(HEAD)["bibliography"]).read_text(encoding="utf-8")
    assert set(re.findall(r"@(\w+)", BODY)) == set(re.findall(r"^@\w+\{(\w+),", library, re.MULTILINE))
    assert len(re.findall(r"^  (?:doi|url) = ", library, re.MULTILINE)) == library.count("\n}")
