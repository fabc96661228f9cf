"""Workflows of GitHub: this repository's, and those that the docs give to copy."""

import re
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def test_an_action_has_the_same_version_wherever_it_is_used():
    """A version that GitHub no longer runs is replaced in one go; a workflow in the docs is easily forgotten."""
    pages = [*(REPOSITORY / ".github").rglob("*.yml"), *(REPOSITORY / "docs").rglob("*.yml")]
    pages += (REPOSITORY / "docs").rglob("*.md")
    versions = defaultdict(set)
    for page in pages:
        for action, version in re.findall(r"uses: (\S+)@(\S+)", page.read_text(encoding="utf-8")):
            versions[action].add(version)

    assert "actions/checkout" in versions
    assert {action: found for action, found in versions.items() if len(found) > 1} == {}
