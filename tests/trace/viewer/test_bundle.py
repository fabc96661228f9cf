"""The stepper's browser side: its bundle is fresh, and its modules without a page do what they say.

Its style and types are checked by `tools/build_viewer.py --check`, which `.ci/check` runs.
"""

from pathlib import Path

import pytest

from tools import build_viewer

BUNDLES = list(build_viewer.BUNDLES.items())
IDS = [bundle.name for _, bundle in BUNDLES]


@pytest.mark.parametrize("entry, bundle", BUNDLES, ids=IDS)
def test_bundle_is_fresh(entry, bundle):
    """Nobody changed the sources without the bundle, or the bundle by hand; needs no Node.js."""
    assert build_viewer.stale(entry, bundle) is None


@pytest.mark.parametrize("entry, bundle", BUNDLES, ids=IDS)
def test_a_stale_bundle_is_seen(entry, bundle, tmp_path):
    """A letter added to the bundle, or another digest of the sources, is found."""
    text = bundle.read_text(encoding="utf-8")
    changed = tmp_path / bundle.name
    changed.write_text(text + " ", encoding="utf-8")
    assert "run tools/build_viewer.py" in build_viewer.stale(entry, changed)
    sources = build_viewer.digest_of_sources(entry)
    changed.write_text(text.replace(sources, sources[::-1], 1), encoding="utf-8")
    assert "run tools/build_viewer.py" in build_viewer.stale(entry, changed)


def test_colours_of_the_widgets_are_those_of_the_palette():
    """They are written from it, not beside it."""
    assert build_viewer.TOKENS.read_text(encoding="utf-8") == build_viewer.tokens()


def test_modules_under_node(node):
    """The trace and the replay need no page: tests/trace/viewer/web holds their tests, which Node.js runs."""
    tests = sorted(map(str, Path(__file__).with_name("web").glob("*.test.mjs")))
    assert tests
    node("--test", *tests)
