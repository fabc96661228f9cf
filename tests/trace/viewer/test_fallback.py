"""Widgets in cells that are run again: the kernel forgets those that nothing shows and no name holds."""

import gc
import subprocess
import sys
import weakref

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell
from launches.samples import launch
from traitlets.config import Config

from course_lib.trace.notebook_outputs import VIEW
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.fallback import WithFallback

MADE = []


class Small(WithFallback, ipywidgets.DOMWidget):
    """As much of a widget as a cell shows; MADE refers to it weakly."""

    def __init__(self):
        super().__init__()
        MADE.append(weakref.ref(self))

    def _repr_mimebundle_(self, **_):
        return {"text/plain": "small", VIEW: {"model_id": self.model_id}}, {}


@pytest.fixture(autouse=True)
def few_objects():
    """Leave what other tests hold out of the search for garbage after a cell."""
    gc.freeze()


@pytest.fixture
def run():
    """Run a cell as a front end does; return how many of the widgets there are, and how many can have a view."""
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    shell.user_ns["Small"] = Small
    MADE.clear()

    def run(cell, code):
        shell.run_cell(code, store_history=True, cell_id=cell).raise_error()
        alive = [made() for made in MADE if made() is not None]
        return len(alive), sum(each.comm is not None for each in alive)

    yield run
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("code", ["Small()", "shown = Small()\nshown", "display(Small())"])
def test_a_cell_run_again_forgets_what_it_showed_before(run, code):
    assert [run("a", code) for _ in range(4)] == [(1, 1)] * 4


def test_a_widget_in_a_box_is_closed_too(run):
    code = "import ipywidgets\nipywidgets.HBox([Small()])"
    assert [run("a", code)[1] for _ in range(3)] == [1, 1, 1]


def test_what_another_cell_shows_or_a_name_holds_stays(run):
    """A widget is closed if no cell shows it, and opens again when it is shown."""
    run("a", "kept = Small()")
    assert run("b", "kept") == (1, 1)
    assert run("b", "kept") == (1, 1)
    run("c", "kept")
    assert run("b", "1") == (1, 1)
    assert run("c", "1") == (1, 0)
    assert run("d", "kept") == (1, 1)


FIRST_WIDGETS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
print(len(shell.events.callbacks["post_run_cell"]))
from course_lib.trace.viewer.fallback import WithFallback
print(len(shell.events.callbacks["post_run_cell"]))
WithFallback(), WithFallback()
print(len(shell.events.callbacks["post_run_cell"]))
"""


def test_cells_are_followed_from_the_first_widget_on():
    """An import changes nothing in a reader's shell, and a second widget registers nothing again."""
    done = subprocess.run([sys.executable, "-c", FIRST_WIDGETS], capture_output=True, text=True, check=True)
    before, imported, shown = map(int, done.stdout.split())

    assert (imported, shown) == (before, before + 1)


def test_without_identifiers_of_cells_nothing_is_closed(run):
    assert [run(None, "Small()")[1] for _ in range(3)] == [1, 2, 3]


def test_a_closed_stepper_leaves_the_memory():
    """Also nothing of its front end holds it."""
    made = Stepper(launch("naive"))
    kept = weakref.ref(made)
    made.close()
    del made
    gc.collect()
    assert kept() is None


def test_a_closed_widget_closes_its_layout():
    """A layout that stayed open would keep the widget's views on the page. Both open again."""
    made = Small()
    for act, closed in ((made.close, True), (made.open, False)):
        act()
        assert [each.comm is None for each in (made, made.layout)] == [closed, closed]
