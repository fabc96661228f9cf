"""Execution of a notebook, and its conversion to one file: steppers interactive, other widgets as pictures or text.

The timing model and pictures with sliders are interactive, too, with recorded settings.

nbconvert lays out the cells; its own pages load the code of widgets and MathJax from the network. Here the viewer's
modules are part of the page.
"""

import copy
import html
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbclient import execute
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell
from traitlets.config import Config

from ...exercises.predict import PREDICTION
from ...machine.sliders.widget import BUNDLE as SLIDERS
from ...machine.sliders.widget import recorded as recorded_sliders
from ...machine.timing_model.widget import BUNDLE as WAITING
from ...machine.timing_model.widget import recorded
from ...trace.notebook_outputs import HTML, VIEW
from ...trace.viewer.explorer import recorded as recorded_launches
from ...trace.viewer.fallback import CLASS, mark_of
from ...trace.viewer.page import STEPPER, Bundle, module, place, style
from ..fallbacks import STATE, Fallbacks

#: Names, operators and spaces in highlighted code, which have no colour: half of a lesson's bytes.
_PLAIN = re.compile(r'<span class="(?:n|nn|o|p|w)">([^<]*)</span>|<span></span>')
#: The most seconds that a cell may take.
CELL_SECONDS = 600
# nbconvert cuts long lines of code off, breaks lines of output inside words, and sets text directly below code.
_LINES_STYLE = """<style>
.jp-InputArea pre { white-space: pre-wrap; }
.jp-OutputArea .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.jp-RenderedHTMLCommon.jp-RenderedMarkdown > .highlight { margin-bottom: 1em; }
</style>"""


def executed(notebook: Any, folder: pathlib.Path, first: str = "") -> Any:
    """Return a copy of the notebook with the outputs, and the widgets' states, of running it in ``folder``.

    ``first`` is run before its cells. Raise nbclient's CellExecutionError if a cell fails.

    >>> ran = executed(new_notebook(cells=[new_code_cell("print(6 * 7)")]), Path())
    >>> ran.cells[0].outputs[0].text.strip()
    '42'
    """
    quiet = ["--log-level=ERROR"]
    ours = copy.deepcopy(notebook)
    ours.cells[:0] = [new_code_cell(first)]  # type: ignore[no-untyped-call]
    ran = execute(ours, str(folder), timeout=CELL_SECONDS, extra_arguments=quiet)
    del ran.cells[0]
    return ran


def html_page(notebook: Any, title: str, theme: str = "light") -> str:
    """Return an executed notebook as a page; ``theme`` is "light" or "dark".

    >>> page = html_page(new_notebook(cells=[new_markdown_cell("An **idea**.")]), "A lesson")
    >>> "<strong>idea</strong>" in page
    True
    """
    exporter = HTMLExporter(raw_template=_file("page.html.j2"), config=_config(theme))  # type: ignore[no-untyped-call]
    return _converted(exporter, notebook, title)


def cells(notebook: Any, bundles: Sequence[Bundle]) -> str:
    """Return the cells of an executed notebook as HTML, without prompts, for a page that brings style and code."""
    live = with_live_widgets(notebook, bundles)
    for cell in live.cells:
        if cell.cell_type == "code":
            cell.metadata["site"] = _shown(cell)
    exporter = HTMLExporter(raw_template=_file("cells.html.j2"), config=_config("light"))  # type: ignore[no-untyped-call]
    text, _ = exporter.from_notebook_node(live)
    return _PLAIN.sub(r"\1", str(text))


def _shown(cell: Any) -> str:
    """Return how a page shows a cell's code: "none" of what is hidden and of imports; "fold" what only prepares."""
    if cell.metadata.get("jupyter", {}).get("source_hidden") or cell.get("id") == "imports":
        return "none"
    return "fold" if cell.metadata.get("slideshow", {}).get("slide_type") == "skip" else "code"


def _file(name: str) -> str:
    return (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8")


def _config(theme: str) -> Config:
    return Config({"HTMLExporter": {"theme": theme, "preprocessors": [Fallbacks]}})


def _converted(exporter: HTMLExporter, notebook: Any, title: str) -> str:
    """Return an executed notebook as the exporter lays it out, with the style and the code of its live widgets."""
    resources: dict[str, dict[str, str]] = {
        "metadata": {"name": title},
        "tile_by_tile": {
            "title": html.escape(title),
            "style": _LINES_STYLE + style(),
            "module": module(),
        },
    }
    live = with_live_widgets(notebook)
    shown = [output.get("data", {}).get(HTML, "") for cell in live.cells for output in cell.get("outputs", ())]
    for bundle in (WAITING, SLIDERS):
        if any(bundle.mark in text for text in shown):
            for part, bring in (("style", style), ("module", module)):
                resources["tile_by_tile"][part] += bring(bundle)
    text, _ = exporter.from_notebook_node(live, resources)
    return str(text)


def with_live_widgets(notebook: Any, bundles: Sequence[Bundle] = (STEPPER, WAITING, SLIDERS)) -> Any:
    """Return a copy of an executed notebook with places for live widgets, those of ``bundles``, instead of their views.

    Steppers, the timing model and pictures with sliders are live; the explorer gets menus of recorded launches.
    Other widgets, which need a kernel, are replaced by their pictures and texts.
    """
    notebook = copy.deepcopy(notebook)
    models = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}  # read by nbconvert's templates
        if cell.cell_type == "code":
            cell.outputs = _live_outputs(cell.outputs, models, bundles)
    notebook.metadata.pop("widgets", None)
    return notebook


def _live_outputs(outputs: Sequence[Any], models: Mapping[str, Any], bundles: Sequence[Bundle]) -> list[Any]:
    """Return the outputs of a cell, without the pictures of widgets that are live."""
    kept: list[Any] = []
    for output in outputs:
        view = output.get("data", {}).pop(VIEW, None)
        found = []
        if view:
            found = [(state, bundle) for state, bundle in live_widgets(models, view["model_id"]) if bundle in bundles]
        if found:
            places = [place(state, bundle, _until_drawn(state, bundle, kept)) for state, bundle in found]
            kept = [before for before in kept if not _is_replaced(before, found)]
            output.data = {HTML: "\n".join(places)}
        if output.get("data") != {}:
            kept.append(output)
    return kept


def _until_drawn(state: Mapping[str, Any], bundle: Bundle, before: Sequence[Any]) -> str:
    """Return the fallback of a stepper, which its page shows until it is drawn; of another widget nothing."""
    if bundle is not STEPPER:
        return ""
    with_html = [output["data"] for output in before if HTML in output.get("data", {})]
    return {mark_of(data): data[HTML] for data in with_html}.get(str(state.get("_fallback")), "")


def _is_replaced(output: Any, found: Sequence[tuple[Mapping[str, Any], Bundle]]) -> bool:
    """Whether live widgets take the place of an output: of their own picture, and of a prediction's question."""
    data = output.get("data", {})
    marks = {state.get("_fallback") for state, _ in found} - {CLASS}  # for these the pictures stay
    if mark_of(data) in marks:
        return True
    return CLASS in data.get(HTML, "") and any(bundle is PREDICTION for _, bundle in found)


def live_widgets(models: Mapping[str, Any], model: str) -> Iterator[tuple[Mapping[str, Any], Bundle]]:
    """Yield the states of all widgets in a widget's view that need no kernel, each with its bundle."""
    state = models.get(model, {}).get("state", {})
    kind = str(state.get("_anywidget_id", "")).rpartition(".")[2]
    if kind == "Stepper":
        yield state, STEPPER
    elif kind == "Waiting":
        yield recorded(state), WAITING
    elif kind == "Sliders":
        yield recorded_sliders(state), SLIDERS
    elif kind == "Prediction":
        yield state, PREDICTION
    launches = recorded_launches(state) if "_recipe" in state else []
    for child in state.get("children", ()):
        for found, bundle in live_widgets(models, str(child).removeprefix("IPY_MODEL_")):
            yield ({**found, "_launches": launches} if launches else found), bundle
