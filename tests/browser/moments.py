"""What the lessons' links to a step of a stepper claim, and the steps for which that is so, from the launch's trace.

`MOMENTS` has a row for each link, `[text](#step=…)`, by the notebook and the text: what is so at a step of a block, as
a function of its `Timeline` and of a position. Nothing here knows the number in the link. `ran` runs the cells of a
notebook up to the last stepper to which a link leads.
"""

import ast
import linecache
import re
from contextlib import chdir, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import nbformat
import numpy as np

from course_lib.trace.viewer import Stepper

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LINK = re.compile(r"\[([^\]]*)\]\(#(step=[^)]*)\)")


def filled(times, **sizes):
    """The step with which each of these shared arrays has been stored as often as it has elements that are used."""

    def holds(timeline, position):
        accesses = [(timeline.accesses(name), size) for name, size in sizes.items()]
        return position == max(int(each.position[each.store][times * size - 1]) for each, size in accesses)

    return holds


def reads(*names, first=False):
    """A step, or the first one, in which the first thread loads from each of these arrays."""

    def holds(timeline, position):
        accesses = map(timeline.accesses, names)
        loads = [set(each.position[~each.store & (each.thread == 0)].tolist()) for each in accesses]
        both = set.intersection(*loads)
        return position == min(both) if first else position in both

    return holds


def barrier_opens(timeline, position):
    """The arrival of the last warp at the first barrier."""
    arrived = {}
    for number in range(1, len(timeline) + 1):
        step = timeline.step(number)
        if step.barrier:
            arrived[step.warp] = number
        if len(arrived) == len(np.unique(timeline.warps)):
            return position == max(arrived.values())
    return False


def anywhere(timeline, position):
    """The link opens a view, and its text claims nothing of the step."""
    return 0 < position <= len(timeline)


MOMENTS = {
    ("03_shared_memory", "A is copied"): filled(1, A_shared=16),
    ("03_shared_memory", "B is copied"): filled(1, B_shared=16),
    ("03_shared_memory", "all threads have arrived at the barrier"): barrier_opens,
    ("03_shared_memory", "the first product is added"): reads("A_shared", "B_shared", first=True),
    ("04_tiling", "tiles used"): reads("A_tile", "B_tile", first=True),
    ("04_tiling", "tiles filled again"): filled(2, A_tile=4, B_tile=4),
    ("07_bank_conflicts", "a step that reads the tiles"): reads("A_tile", "B_tile"),
    ("05_prefetching", "Pair 1 under way"): reads("B"),
    ("08_register_tiles", "reads b"): reads("B"),
    ("14_what_the_compiler_makes", "the view *Waiting*"): anywhere,
}


def asked(link):
    """The fields of a link."""
    return dict(pair.split("=") for pair in link.split("&"))


@cache
def book_of(name):
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def links(name):
    """The (cell's index, text, link) of each link to a step in a notebook."""
    return [
        (number, *found)
        for number, cell in enumerate(book_of(name).cells)
        if cell.cell_type == "markdown"
        for found in LINK.findall(cell.source)
    ]


@cache
def ran(name):
    """The steppers that the notebook's cells show, by the cell's index, up to the first one below the last link."""
    cells = book_of(name).cells
    last = max((number for number, *_ in links(name)), default=0)
    found, names = {}, {"__name__": "__main__"}
    with chdir((NOTEBOOKS / name).parent), redirect_stdout(StringIO()):
        for number, cell in enumerate(cells):
            if cell.cell_type != "code":
                continue
            shown = run_cell(cell.source, f"<{name} {number}>", names)
            if isinstance(shown, Stepper):
                found[number] = shown
                if number >= last:
                    return found
    raise AssertionError(f"{name} shows no stepper below its last link")


def run_cell(source, file, names):
    """Run a cell as IPython does; return the value of its last expression."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    *body, last = ast.parse(source).body or [ast.Pass()]
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], None
    exec(compile(ast.Module(body, []), file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names) if last else None
