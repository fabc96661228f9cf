"""JupyterLab as a student meets it: it opens without questions, runs a notebook and shows a widget."""

from playwright.sync_api import expect

NEWS = "@jupyterlab/apputils-extension:announcements"


def test_runs_all_cells(open_notebook):
    """The kernel has the installed course, and each cell shows its own output."""
    notebook = open_notebook(["import course_lib\nnumbers = [3, 5, 7]", "print(course_lib.__name__)", "sum(numbers)"])

    notebook.run_all()

    expect(notebook.outputs(1)).to_have_text("course_lib\n")
    expect(notebook.outputs(2)).to_have_text("15")
    assert [cell["execution_count"] for cell in notebook.cells()] == [1, 2, 3]
    assert notebook.page_errors == []


def test_kernel_starts_in_notebooks(open_notebook):
    """A lesson may read a file beside it."""
    notebook = open_notebook(["from pathlib import Path\nPath.cwd().name"])

    notebook.run_all()

    expect(notebook.outputs(0)).to_have_text("'notebooks'")


def test_widget_talks_to_the_kernel(open_notebook):
    """A click in the browser runs Python, and what Python changes comes back to the page."""
    notebook = open_notebook(
        [
            "import ipywidgets\nbutton, label = ipywidgets.Button(description='step'), ipywidgets.Label('0')",
            "button.on_click(lambda _: setattr(label, 'value', str(int(label.value) + 1)))",
            "ipywidgets.HBox([button, label])",
        ]
    )
    notebook.run_all()

    for _ in range(3):
        notebook.cell(2).get_by_role("button", name="step").click()

    expect(notebook.cell(2).locator(".widget-label")).to_have_text("3")


def test_no_news_prompt(open_notebook):
    """JupyterLab's question about news would cover the corner of a lesson; the course leaves that extension out."""
    page = open_notebook(["1"]).page

    expect(page.locator(".jp-NotebookPanel")).to_be_visible()
    assert not page.evaluate(f"() => window.jupyterapp.hasPlugin('{NEWS}')")
    assert page.evaluate("() => window.jupyterapp.hasPlugin('@jupyterlab/apputils-extension:notification')")
