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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_fragments(show, launch_of, themes, theme):
    """At a step that multiplies, with the chosen thread's elements marked, and at one that does not."""
    stepper = Stepper(launch_of("tensor_cores"))
    (operation,) = stepper.trace.matrices
    timeline = stepper.timeline
    step = next(s for s in range(1, len(timeline) + 1) if timeline.step(s).line == operation.line)
    page = show(stepper, theme=themes[theme], step=step, panel="fragments")
    assert page.locator(".tt-multiplied .tt-mine-lane").count() == 10
    assert violations(page) == []
    page.evaluate("step => window.model.set('step', step)", step - 1)
    assert page.locator(".tt-multiplied").count() == 0
    assert violations(page) == []


@pytest.mark.parametrize(
    "name, beside, theme, size",
    [
        ("best", "", "light", (1280, 900)),
        ("best", "", "dark", (853, 480)),
        ("tiled", "racy", "dark", (1280, 900)),
        ("tiled", "racy", "light", (853, 480)),
    ],
)
def test_axe_finds_nothing_in_large_launches_and_in_two(show, launch_of, themes, name, beside, theme, size):
    """Heat, magnified parts and columns that scroll, on a roomy page and on one at 150 %, one run and two."""
    stepper = Stepper(launch_of(name))
    other = Stepper(launch_of(beside))._data if beside else ""
    page = show(stepper, theme=themes[theme], size=size, step=stepper.scene().position, _other=other)
    lenses = page.evaluate("() => document.querySelector('.tt-root').stepper.stage.names")
    for lens in (lenses[0], lenses[-1]):  # the rest of the page, which takes seconds to judge, stays the same
        page.evaluate("lens => window.model.set('panel', lens)", lens)
        assert violations(page) == [], lens


def test_axe_finds_nothing_inside_jupyterlab(open_notebook):
    """Of the stepper as Lab shows it, with Lab's own style sheets; Lab itself is not judged."""
    notebook = open_notebook(
        [
            "import numpy as np\nfrom course_lib import simulate\nfrom course_lib.kernels.tiled import tiled\n"
            "from course_lib.viewer import Stepper\nA = np.ones((4, 4), np.float32)\n"
            "Stepper(simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, A, A.copy()), step=9)"
        ]
    )
    notebook.run_all()
    page = notebook.page
    page.locator(".tt-count").wait_for()
    lenses = page.evaluate("() => document.querySelector('.tt-root').stepper.stage.names")
    assert lenses
    for lens in lenses:
        page.locator(f".tt-tab-{lens}").click()
        found = Axe().run(page, context=".tt-root").response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in found] == [], lens
