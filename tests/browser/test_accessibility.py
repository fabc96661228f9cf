"""The stepper for everyone: what axe-core finds in both themes, the keyboard's reach, reduced motion."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from course_lib.viewer import Stepper


def violations(page):
    """What axe-core finds, a line an element: the rule, the element and what is wrong with it."""
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary'][:200]}" for rule in found for node in rule["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name, step", [("tiled", 9), ("race_in_a_warp", 3), ("out_of_bounds_2d", 2)])
def test_axe_finds_nothing(show, launch_of, themes, name, step, theme):
    """Two steppers of one kernel on a page, every lens, no rule of axe-core broken; contrast is one of its rules."""
    stepper = Stepper(launch_of(name), step=step)
    page = show(stepper, stepper, theme=themes[theme])
    lenses = page.evaluate("() => document.querySelector('.tt-root').stepper.stage.names")
    assert {"warp", "waits", "launch"} <= set(lenses)
    page.locator(".tt-root").last.press("?")
    for lens in lenses:
        page.evaluate("lens => window.models[0].set('panel', lens)", lens)
        assert violations(page) == [], lens
