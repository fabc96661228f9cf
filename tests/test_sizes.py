"""How large the house is, room by room: what one person can hold in one head. Limits are lowered, and never raised."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
#: The most lines that each part may have; the goals are 41,000, 33,000 and 9,500. What moves to `tools` is not gone.
LIMITS = {"course_lib": 45_559, "tests": 36_120, "browser": 9_383, "tools": 3_453}
#: The most words of the page that everybody reads first, and of that for those who change something.
WORDS = {"README.md": 700, "CONTRIBUTING.md": 2_500}
WEB = "course_lib/trace/viewer/web"


def files(part):
    """Return the files that count: Python, and for the browser its modules and styles."""
    if part == "browser":
        return [path for path in (REPOSITORY / WEB).rglob("*") if path.suffix in (".js", ".css")]
    return list((REPOSITORY / part).rglob("*.py"))


def rooms(part):
    """Return the number of lines of each folder of a part, with that of the files beside the folders."""
    top = REPOSITORY / (WEB if part == "browser" else part)
    sizes = {}
    for path in files(part):
        room, *inside = path.relative_to(top).parts
        lines = len(path.read_text(encoding="utf-8").splitlines())
        sizes[room if inside else "."] = sizes.get(room if inside else ".", 0) + lines
    return sizes


@pytest.mark.parametrize("part", LIMITS)
def test_a_part_is_no_larger_than_its_limit(part):
    """What is new pays for itself by lines that go elsewhere; `pytest -rP tests/test_sizes.py` prints the sizes."""
    sizes = rooms(part)
    for room, lines in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{part + '/' + room:28} {lines:7,}")

    assert sum(sizes.values()) <= LIMITS[part], sizes


@pytest.mark.parametrize("page", WORDS)
def test_a_page_has_no_more_words_than_its_limit(page):
    assert len((REPOSITORY / page).read_text(encoding="utf-8").split()) <= WORDS[page]
