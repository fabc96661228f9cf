"""The course as a site: a page a lesson, with live steppers, and pages that lead to them; opens from a folder, too.

Pages link to each other by relative addresses and load nothing. Every link is checked before anything is written.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from ...trace.viewer.explore import small_rungs
from .. import lessons
from ..course_map import roadmap
from .convert import executed, html_page
from .links import dead_links, linked, refuse_duplicates

#: Pages that are not lessons, by name: their links in the bar of every page.
EXTRAS = {"gallery": "Gallery", "glossary": "Glossary", "numba_and_cuda_c": "CUDA C", "sources": "Sources"}
EXTRAS |= {"LICENSE": "Licence"}
_BAR_STYLE = """<style>
.tile-by-tile-bar { display: flex; flex-wrap: wrap; gap: 0.3em 1.5em; padding: 0.6em 1em; font-size: 14px;
  font-family: var(--jp-ui-font-family, sans-serif); border-block: 1px solid var(--jp-border-color2, #c0c0c0); }
.tile-by-tile-bar a { color: var(--jp-content-link-color, #0b5cad); }
.tile-by-tile-bar .ends { margin-inline-start: auto; }
</style>"""

#: Converts what is to be a page: (notebook, its folder) -> the same with outputs.
Execute = Callable[[Any, Path], Any]


def site(
    theme: str = "light", solutions: bool = False, execute: Execute = executed, run: Callable[..., Any] = map
) -> dict[str, str]:
    """Return the pages by name; raise ValueError where two have one name, or a link leads nowhere.

    Args:
        theme: "light" or "dark".
        solutions: whether the solutions become pages, too, to which lessons link.
        execute: runs a notebook that has code.
        run: what applies a function to many arguments, such as the map of an executor.
    """
    home = lessons.home()
    found = lessons.lessons_in(home)
    titles = {f"{path.stem}.html": lessons.title(_read(path), path.stem) for path in found}
    order = list(titles)
    named = [("index.html", _index(found), home), ("gallery.html", _gallery(), home)]
    named += [(f"{path.stem}.html", _read(path, solutions), home) for path in found]
    named += [(f"{path.stem}.html", _text(path), home) for path in lessons.files() if path.suffix == ".md"]
    if solutions:
        named += [
            (f"solutions/{path.stem}.html", _read(path), path.parent) for path in sorted(home.glob("solutions/*.ipynb"))
        ]
    refuse_duplicates([name for name, _, _ in named])
    ran = run(
        lambda notebook, folder: execute(notebook, folder) if _has_code(notebook) else notebook,
        *zip(*[(notebook, folder) for _, notebook, folder in named], strict=True),
    )
    pages = {}
    for (name, written, _), notebook in zip(named, ran, strict=True):
        title = titles.get(name) or lessons.title(written, name)
        page = html_page(notebook, title, theme, bar=_bar(name, order, titles))
        pages[name] = linked(page, lambda target: re.sub(r"\.\w+$", ".html", target))
    if dead := dead_links(pages):
        raise ValueError("links lead nowhere: " + "; ".join(dead))
    return pages


def _read(path: Path, solutions: bool = True) -> Any:
    text = path.read_text(encoding="utf-8")
    return nbformat.reads(text if solutions else lessons.for_students(text), as_version=4)  # type: ignore[no-untyped-call]


def _has_code(notebook: Any) -> bool:
    return any(cell.cell_type == "code" for cell in notebook.cells)


def _text(path: Path) -> Any:
    return new_notebook(cells=[new_markdown_cell(path.read_text(encoding="utf-8"))])  # type: ignore[no-untyped-call]


def _bar(name: str, order: Sequence[str], titles: Mapping[str, str]) -> str:
    """Links to the start, to the lessons before and after this one, and to the other pages."""
    up = "../" if "/" in name else ""
    links = [("index.html", "Tile by Tile", "")]
    if name in order:
        at = order.index(name)
        before, after = order[max(at - 1, 0) : at], order[at + 1 : at + 2]
        links += [(page, f"← {titles[page]}", ' rel="prev"') for page in before]
        links += [(page, f"{titles[page]} →", ' rel="next"') for page in after]
    links += [(f"{page}.html", title, "") for page, title in EXTRAS.items()]
    parts = [f'<a href="{up}{page}"{more}>{html.escape(title)}</a>' for page, title, more in links if page != name]
    return f'{_BAR_STYLE}<nav class="tile-by-tile-bar" aria-label="Pages">{" ".join(parts)}</nav>'


def _index(found: Sequence[Path]) -> Any:
    rows = []
    for path in found:
        notebook = _read(path)
        (goal,) = re.findall(r"\*\*Goal: (.+?)\*\*", notebook.cells[0].source)
        (minutes,) = re.findall(r"about (\d+) minutes", notebook.cells[0].source)
        rows.append(f"| [{lessons.title(notebook)}]({path.name}) | {minutes} | {goal[0].upper()}{goal[1:]} |")
    lines = [
        "# Tile by Tile",
        "",
        "How does a matrix multiplication become fast on a GPU? These pages are the lessons of a course in Jupyter "
        "notebooks, with the outputs of running them. Every stepper is live: it replays what a simulator of GPUs "
        "recorded. Exercises and predictions need the notebooks.",
        "",
        "## Lessons",
        "",
        "| lesson | minutes | goal |",
        "|---|---:|---|",
        *rows,
        "",
        "## The ladder",
        "",
        "The kernels in the order of the course, and the lesson that explains each.",
        "",
        roadmap()._repr_markdown_(),
        "",
        "The [gallery](gallery.md) has a recorded launch of the first kernels.",
    ]
    return new_notebook(cells=[new_markdown_cell("\n".join(lines))])  # type: ignore[no-untyped-call]


def _gallery() -> Any:
    """Steppers of the rungs whose tiles fit small matrices, in a notebook that is still to be executed."""
    cells = [
        new_markdown_cell(  # type: ignore[no-untyped-call]
            "# Gallery\n\nThe same product, C = A·B of 16×16 matrices, by each kernel whose tiles fit such matrices. "
            "Each stepper replays a recorded launch; the arrow keys step through it."
        ),
        _hidden(
            "from course_lib import Stepper\nfrom course_lib.kernels import rung\n"
            "from course_lib.trace.viewer.explore import run_product"
        ),
    ]
    for rung in small_rungs():
        where = f" Explained in [lesson {int(rung.lesson[:2])}]({rung.lesson}.ipynb)." if rung.lesson else ""
        cells.append(new_markdown_cell(f"## {rung.title}\n\n`{rung.name}`.{where}"))  # type: ignore[no-untyped-call]
        cells.append(_hidden(f"Stepper(run_product(rung({json.dumps(rung.name)}), 16, 8, trace=True))"))
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]


def _hidden(source: str) -> Any:
    return new_code_cell(source, metadata={"jupyter": {"source_hidden": True}})  # type: ignore[no-untyped-call]
