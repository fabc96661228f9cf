"""The course as a site: a page a lesson, with live steppers and predictions, and pages that lead to them.

Pages link to each other by relative addresses, share their style and code, and open from a folder, too. Every link is
checked before anything is written.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

import nbformat
from jinja2 import Environment
from nbformat.v4 import new_markdown_cell, new_notebook

from ...exercises.predict import PREDICTION
from ...kernels import rung
from ...machine.sliders.widget import BUNDLE as SLIDERS
from ...machine.timing_model.widget import BUNDLE as WAITING
from ...trace.viewer import Stepper, compare
from ...trace.viewer.explorer import run_product
from ...trace.viewer.page import STEPPER, place
from .. import lessons
from ..course_map import course_map
from ..pages import bugs
from ..pages.frame import HERE, Page, SidebarLink, assets, framed, with_pictures_as_files
from .convert import cells, executed
from .deck import colours, listing, without_notes
from .deck import page as deck_page
from .links import dead_links, linked, refuse_duplicates
from .speaker import annotated

#: Pages that are not lessons, by name: their links in the sidebar of every page.
EXTRAS = {"glossary": "Glossary", "numba_and_cuda_c": "CUDA C", "sources": "Sources", "LICENSE": "Licence"}
#: What opens a notebook of a repository, and the address: of the repository and the notebook.
SERVICES = {
    "Binder": "https://mybinder.org/v2/gh/{}/HEAD?urlpath=lab/tree/{}",
    "Colab": "https://colab.research.google.com/github/{}/blob/HEAD/{}",
}
BUNDLES = (STEPPER, WAITING, SLIDERS, PREDICTION)
_HEADING = re.compile(r"<h([23]) id=\"([^\"]+)\">(.*?)(?:<a class=\"anchor-link\".*?</a>)?</h\1>", re.DOTALL)
#: What a section's entry in the search has of its text, in characters.
_SEARCHED = 500
CLAIM = (
    "Write a CUDA kernel in Python, run it without a GPU, and see for every line which bytes it moves and which "
    "rule it breaks."
)

#: Converts what is to be a page: (notebook, its folder) -> the same with outputs.
Execute = Callable[[Any, Path], Any]


def site(
    solutions: bool = False,
    execute: Execute = executed,
    run: Callable[..., Any] = map,
    address: str = "",
    lite: str = "",
    repository: str = "",
    *,
    decks: bool = False,
) -> dict[str, str | bytes]:
    """Return the files by name; raise ValueError where two have one name, or a link leads nowhere.

    Args:
        solutions: whether the solutions become pages, too, to which lessons link.
        execute: runs a notebook that has code.
        run: what applies a function to many arguments, such as the map of an executor.
        address: that of the site, for the cards that other sites show.
        lite: the folder of a JupyterLite site beside the pages, to which each of them leads; "" for none.
        repository: "owner/name" on GitHub, whose notebooks Binder and Colab open; without it pages have no such links.
        decks: whether each lesson's page leads to its slides; the speaker's notes are there with ``solutions`` alone.
    """
    home = lessons.home()
    in_order = lessons.lessons_in(home)
    found = [path for path in (home / "express.ipynb",) if path.is_file()] + in_order
    named = _named(found, home, solutions)
    refuse_duplicates([name for name, _, _ in named])

    def executed_if_code(notebook: Any, folder: Path) -> Any:
        return execute(notebook, folder) if any(cell.cell_type == "code" for cell in notebook.cells) else notebook

    ran = list(run(executed_if_code, *zip(*[(notebook, folder) for _, notebook, folder in named], strict=True)))
    titles = {path.stem: lessons.title(_read(path), path.stem) for path in found}
    side = [SidebarLink(f"{path.stem}.html", titles[path.stem], lessons.part(path.name)) for path in found]
    side += [SidebarLink("bug_01.html", "Find the bug in 60 seconds", "More")]
    side += [SidebarLink(f"{name}.html", title, "More") for name, title in EXTRAS.items()]
    pictures: dict[str, bytes] = {}
    pages = {"index.html": _index(found, side)}
    for (name, written, _), notebook in zip(named, ran, strict=True):
        body = with_pictures_as_files(cells(notebook, BUNDLES), name, pictures)
        pages[name] = _page(name, body, lessons.title(written, name), written, side, repository)
    pages |= bugs.pages(side)
    presented = _decks(ran[len(found) - len(in_order) : len(found)], in_order, solutions) if decks else {}
    for name, page in pages.items():
        if f"decks/{name}" in presented:
            pages[name] = replace(page, opened=[("Slides", f"decks/{name}"), *page.opened])
    files: dict[str, str | bytes] = dict(framed(pages, address, lite=lite))
    for name in pages:
        files[name] = linked(str(files[name]), lambda target: re.sub(r"\.\w+$", ".html", target))
    shared = assets(pages.values(), _searched(pages))
    shared["assets/site.css"] += colours()
    sources = {f"notebooks/{path.name}": lessons.for_students(path.read_text(encoding="utf-8")) for path in found}
    known = {*shared, *pictures, *sources, *files, *presented, f"{lite}/lab/index.html"}
    if dead := dead_links({name: str(files[name]) for name in pages}, known):
        raise ValueError("links lead nowhere: " + "; ".join(dead))
    card = Stepper(run_product(rung("tiled"), 8, 4, trace=True)).picture(hint="").png  # that other sites show
    moved = _moved(titles, solutions)
    return {**files, **shared, **pictures, **sources, **moved, **presented, "assets/card.png": card}


def _named(found: Sequence[Path], home: Path, solutions: bool) -> list[tuple[str, Any, Path]]:
    """Return what becomes a page: its name, a notebook, and the folder in which that is executed.

    These are the lessons, the texts beside them, and with ``solutions`` the solutions.
    """
    named = [(f"{path.stem}.html", _read(path, solutions), home) for path in found]
    named += [(f"{path.stem}.html", _text(path), home) for path in lessons.files() if path.suffix == ".md"]
    if solutions:
        solved = sorted(home.glob("solutions/*.ipynb"))
        named += [(f"solutions/{path.stem}.html", _read(path), path.parent) for path in solved]
    return named


def _decks(executed: Sequence[Any], found: Sequence[Path], notes: bool) -> dict[str, str]:
    """Return the decks of lessons, with or without the speaker's notes, and the page that lists them."""
    listed = []
    for notebook, path in zip(executed, found, strict=True):
        slides = annotated(notebook, path.stem)
        listed.append((path.stem, lessons.title(notebook, path.stem), slides if notes else without_notes(slides)))
    files = {f"decks/{name}.html": deck_page(slides, title) for name, title, slides in listed}
    return files | {"decks/index.html": listing(listed)}


def _moved(titles: Mapping[str, str], solutions: bool) -> dict[str, str]:
    """Return a page for each name that a lesson once had: it leads to the lesson of today, if the site has that."""
    template = Template((HERE / "moved.html").read_text(encoding="utf-8"))
    folders = ("", "solutions/") if solutions else ("",)
    return {
        f"{folder}{old}.html": template.substitute(target=f"{new}.html", title=html.escape(titles[new]))
        for old, new in lessons.MOVED.items()
        if new in titles
        for folder in folders
    }


def _read(path: Path, solutions: bool = True) -> Any:
    text = path.read_text(encoding="utf-8")
    return nbformat.reads(text if solutions else lessons.for_students(text), as_version=4)  # type: ignore[no-untyped-call]


def _text(path: Path) -> Any:
    return new_notebook(cells=[new_markdown_cell(path.read_text(encoding="utf-8"))])  # type: ignore[no-untyped-call]


def _page(name: str, body: str, title: str, notebook: Any, side: Sequence[SidebarLink], repository: str) -> Page:
    """Return a page with the contents of its own sections in the sidebar, below its name."""
    sections = [(place, _plain(text)) for level, place, text in _HEADING.findall(body) if level == "2"]
    here = [SidebarLink(f"#{place}", text, lessons.part(name)) for place, text in sections]
    at = next((at for at, link in enumerate(side) if link.target == name), len(side) - 1)
    in_order = "/" not in name and (name[:2].isdigit() or name == "express.html")
    contents = [*side[: at + 1], *(here if in_order else []), *side[at + 1 :]]
    goal = re.search(r"\*\*Goal: (.+?)\*\*", "".join(cell.source for cell in notebook.cells[:1]))
    used = [bundle for bundle in BUNDLES if bundle.mark in body]
    told, source = goal[1] if goal else f"{title}: {CLAIM}", f"notebooks/{name[:-5]}.ipynb" if in_order else ""
    opened = [(service, where.format(repository, source)) for service, where in SERVICES.items()] if repository else []
    return Page(title, body, told, contents, used, source, "lesson" if in_order else name, opened)


def _markdown(text: str) -> str:
    return cells(new_notebook(cells=[new_markdown_cell(text)]), ())  # type: ignore[no-untyped-call]


def _plain(text: str) -> str:
    return html.unescape(re.sub(r'<a class="anchor-link".*?</a>|<h1.*?</h1>|<[^>]+>', "", text)).strip()


def _short(text: str) -> str:
    return " ".join(_plain(text).split())[:_SEARCHED]


def _searched(pages: dict[str, Page]) -> list[list[str]]:
    """Return a row for each section of each page: where it is, its heading, and how its text begins."""
    rows = []
    for name, page in pages.items():
        body = re.sub(r"<(script|svg|style)\b.*?</\1>", " ", page.body, flags=re.DOTALL)
        parts = _HEADING.split(body)
        rows.append([name, page.title, _short(parts[0])])
        for at in range(1, len(parts), 4):
            where, heading, text = parts[at + 1 : at + 4]
            rows.append([f"{name}#{where}", f"{_plain(heading)} ({page.title})", _short(text)])
    return rows


def _index(found: Sequence[Path], side: Sequence[SidebarLink]) -> Page:
    """Return the first page: naive beside tiled, live; the ways in; the lessons as cards; the ladder."""
    shown = compare(*(run_product(rung(name), 8, 4, trace=True) for name in ("naive", "tiled")))
    shown.panel = "arrays"
    parts: dict[str, list[tuple[str, str, str, str]]] = {}
    for path in found:
        notebook = _read(path)
        (goal,) = re.findall(r"\*\*Goal: (.+?)\*\*", notebook.cells[0].source)
        (minutes,) = re.findall(r"about (\d+) minutes", notebook.cells[0].source)
        card = path.stem, lessons.title(notebook), goal[0].upper() + goal[1:], minutes
        parts.setdefault(lessons.part(path.name), []).append(card)
    template = Environment(autoescape=True).from_string((HERE / "index.html").read_text(encoding="utf-8"))
    ladder = _markdown(course_map().markdown())
    body = template.render(
        claim=CLAIM,
        stepper=place(shown.get_state()),
        parts=parts.items(),
        first=found[0].stem,
        bugs=bugs.bugs(),
        ladder=ladder,
    )
    return Page("Tile by Tile", body, CLAIM, side, (STEPPER,), "", "index")
