"""Each link of a lesson to a step of a stepper shows in JupyterLab what its text says."""

import pytest

from .moments import MOMENTS, links, ran
from .test_links import LESSONS, below, expect_moment, plain

#: Run the cells before one, and come to it; JupyterLab lays out only those near to what is in sight.
RUN_BEFORE = """async (number) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = number;
  await window.jupyterapp.commands.execute('notebook:run-all-above');
}"""
SHOW = "number => window.jupyterapp.shell.currentWidget.content.scrollToItem(number, 'start')"


@pytest.mark.nightly
@pytest.mark.parametrize("name", LESSONS)
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
