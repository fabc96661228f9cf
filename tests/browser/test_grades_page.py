"""The page of a folder of notebooks that were graded, on a phone and on a screen."""

import pytest

from course_lib.classroom.teach.cells import lesson_named, places
from course_lib.classroom.teach.grade import page_of
from course_lib.classroom.teach.judge import Judged, unjudged

from .conftest import violations


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width, scrolls", [(390, True), (1280, False)])
def test_a_wide_table_scrolls_and_the_page_does_not(new_page, width, scrolls, theme):
    """And axe-core finds nothing."""
    lesson, hint = lesson_named("04"), "a thread reads what another one has not yet stored. "
    statuses = ("failed", "refused", "stopped")
    rows = [unjudged(name, status, hint) for name, status in zip(places(lesson), statuses, strict=False)]
    rows.append(Judged("two-barriers", None, 2, "to read", text="A fast warp overwrites the tile. " * 20))
    graded = {"Ana Lima.ipynb": rows, "a" * 200: [Judged("", None, 0, "unreadable", "it is empty.")]}
    page = new_page()
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 844})
    page.set_content(page_of(lesson, graded, 7))
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = page.locator("table").evaluate_all("tables => tables.some((t) => t.scrollWidth > t.clientWidth)")
    assert wide == scrolls
    assert violations(page) == []
