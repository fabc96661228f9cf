"""The page of a profile in a real browser: alive without a network, and legible in both themes and on a phone."""

from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from course_lib.kernels import rung
from course_lib.machine.profile import profile
from course_lib.machine.profile.report import ProfiledLaunch, as_page

from .conftest import drawn, violations


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """The profile of a launch, with a finding made up for its length."""
    kernel = rung("naive").make()
    A, B = (np.ones((n, 6), np.float32) for n in (8, 6))
    launch = profile(kernel, (2, 2), (8, 4), A, B, np.zeros((8, 5), np.float32))
    path = tmp_path_factory.mktemp("profile") / "launch.html"
    verdict = replace(
        launch.verdict(), word="SLOW", says="a finding that is long enough for a line of its own, on a phone"
    )
    judged = ProfiledLaunch(
        "naive [2×2, 8×4]", verdict, launch, ("a budget that is exceeded by so much that it needs two lines",)
    )
    again = replace(judged, launched=f"{judged.launched}, 2 times")
    path.write_text(as_page([judged, again], "tile-by-tile profile naive.py"), "utf-8")
    return path


@pytest.mark.nightly
@pytest.mark.parametrize(("theme", "size"), [("light", (1280, 720)), ("dark", (1280, 720)), ("dark", (390, 844))])
def test_the_page_of_a_profile(visit, page_file, theme, size):
    """The stepper steps, axe-core finds nothing, nothing but the tables scrolls sideways, and nothing is loaded."""
    page = visit(offline=True)
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(page_file.as_uri())

    expect(page.locator(".tt-count").last).to_contain_text("step 19 of 19")  # the first finding
    drawn(page.locator(".tt-root").last).press("ArrowLeft")
    expect(page.locator(".tt-count").last).to_contain_text("step 18 of")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == page.errors == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []
