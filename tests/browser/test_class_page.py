"""The teacher's page of a class, on a phone and on a screen."""

import pytest

from course_lib.classroom.teach.cells import lesson_named, places
from course_lib.classroom.teach.judge import unjudged
from course_lib.classroom.teach.pages import for_teacher

from .conftest import violations


@pytest.mark.parametrize("width, scrolls", [(390, True), (1280, False)])
def test_a_wide_table_scrolls_and_the_page_does_not(new_page, width, scrolls):
    """And axe-core finds nothing."""
    lesson, hint = lesson_named("04"), "a thread reads what another one has not yet stored. "
    rows = [
        unjudged(name, status, hint) for name, status in zip(places(lesson), ("failed", "refused") * 2, strict=True)
    ]
    page = new_page()
    page.set_viewport_size({"width": width, "height": 844})
    page.set_content(for_teacher(lesson, {"Ana Lima": rows}, {"Ana Lima": ("2", "a note", "ana.html")}, (), 7))
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = page.locator("table").evaluate_all("tables => tables.some((t) => t.scrollWidth > t.clientWidth)")
    assert wide == scrolls
    assert violations(page) == []
