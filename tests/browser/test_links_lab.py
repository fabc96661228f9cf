"""Each link of a lesson to a step of a stepper shows in JupyterLab what its text says, and e in it the race."""

import pytest
from nightly import at_night

from course_lib.trace.replay import Timeline

from .conftest import drawn
from .moments import MOMENTS, RACES, in_a_race, links, ran
from .test_links import LESSONS, SHOWN, below, expect_moment, expect_step, plain

#: Run the cells before one, and come to it; JupyterLab lays out only those near to what is in sight.
RUN_BEFORE = """async (number) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = number;
  await window.jupyterapp.commands.execute('notebook:run-all-above');
}"""
SHOW = "number => window.jupyterapp.shell.currentWidget.content.scrollToItem(number, 'start')"


@pytest.mark.parametrize("name", [name if name.startswith("04") else at_night(name) for name in LESSONS])
def test_a_link_in_jupyterlab_shows_what_it_says(open_notebook, name):
    notebook = open_notebook(f"{name}.ipynb")
    page = notebook.page
    page.evaluate(RUN_BEFORE, max(ran(name)) + 1)
    for number, text, link in links(name):
        page.evaluate(SHOW, number)
        page.get_by_role("link", name=plain(text), exact=True).click()
        expect_moment(page, below(name, number), link, MOMENTS[name, text])
        assert "step=" not in page.url
    assert notebook.page_errors == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", RACES)
def test_e_in_jupyterlab_goes_to_the_race(open_notebook, name):
    notebook = open_notebook(f"{name}.ipynb")
    page = notebook.page
    ((number, stepper),) = ran(name).items()
    page.evaluate(RUN_BEFORE, number + 1)
    page.evaluate(SHOW, number)
    kernel = stepper.trace.kernel_name  # the stepper of a cell nearby may be laid out, too
    root = page.locator(f'.tt-root[aria-label$=" {kernel}"]')
    drawn(root)
    root.press("e")
    page.wait_for_function("() => document.activeElement.querySelector('.tt-count')?.textContent.startsWith('step')")
    shown = page.evaluate(SHOWN)
    timeline = Timeline(stepper.trace, tuple(shown["who"][0]))
    assert in_a_race(timeline, shown["runs"][0]["position"])
    x, y, _ = shown["who"][1]
    expect_step(timeline, x + stepper.trace.block[0] * y, shown["runs"][0])
    assert notebook.page_errors == []
