"""Execution of a notebook, and its conversion to one file: steppers interactive, other widgets as pictures or text.

The model of waiting and pictures with sliders are interactive, too, with recorded settings.

nbconvert lays out the cells; its own pages load the code of widgets, MathJax and reveal.js from the network. Here the
viewer's modules are part of the page, and so is reveal.js, from the folder ``reveal`` with its licence.
"""

from __future__ import annotations

import copy
import html
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbconvert.exporters import HTMLExporter, SlidesExporter
from nbconvert.preprocessors import ExecutePreprocessor
from traitlets.config import Config

from ...machine.dials.widget import BUNDLE as DIALS
from ...machine.dials.widget import recorded as recorded_dials
from ...machine.waiting.widget import BUNDLE as WAITING
from ...machine.waiting.widget import recorded
from ...trace.viewer.explore import recorded as recorded_launches
from ...trace.viewer.page import STEPPER, Bundle, module, place, style
from ...trace.viewer.still import CLASS, HTML, VIEW, mark_of
from .deck import HEIGHT, HIGHEST, PICTURE, deck
from .stills import STATE, Stills

#: Of a slide, in CSS pixels: that of a projector.
WIDTH = 1280
#: The least scale of a slide that is shrunk to fit: its smallest text, of 20 pixels, has 18 then.
SMALLEST = 0.9
#: The least height of a picture that is made smaller to fit, in pixels.
LEAST_PICTURE = 300
#: The most seconds that a cell may take.
CELL_SECONDS = 600
_SLIDES_SIZES = f"const size = {{ width: {WIDTH}, height: {HEIGHT} }}, leastPicture = {LEAST_PICTURE}, "
_SLIDES_SIZES += f"smallestZoom = {round(100 * SMALLEST)};\n"
_SLIDES_VARIABLES = f"--picture: {PICTURE}px; --highest: {HIGHEST}px;"

# Blocks of nbconvert's templates that load from the network, and where the viewer is inserted.
_BLOCKS = """
{%- block html_head_js -%}{%- endblock html_head_js -%}
{%- block html_head_js_mathjax -%}{%- endblock html_head_js_mathjax -%}
{%- block html_head_js_mermaidjs -%}{%- endblock html_head_js_mermaidjs -%}
{%- block jupyter_widgets -%}{{ resources.tile_by_tile.style }}{%- endblock jupyter_widgets -%}
{%- block footer_js -%}{{ resources.tile_by_tile.module }}{%- endblock footer_js -%}
"""
_PAGE = (
    "{%- extends 'lab/index.html.j2' -%}"
    + _BLOCKS
    + """
{%- block body_header -%}{{ super() }}{{ resources.tile_by_tile.bar }}{%- endblock body_header -%}
{%- block body_footer -%}{{ resources.tile_by_tile.bar }}{{ super() }}{%- endblock body_footer -%}
"""
)
_SLIDES = (
    "{%- extends 'reveal/index.html.j2' -%}"
    + _BLOCKS
    + """
{%- block header -%}
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ resources.tile_by_tile.title }}</title>
{{ resources.tile_by_tile.reveal }}
{{ self.notebook_css() }}
{{ self.jupyter_widgets() }}
{{ resources.tile_by_tile.slides }}
</head>
{%- endblock header -%}
"""
)
# nbconvert cuts long lines of code off, breaks lines of output inside words, and sets text directly below code.
_LINES_STYLE = """<style>
.jp-InputArea pre { white-space: pre-wrap; }
.jp-OutputArea .jp-OutputArea-output pre { word-break: normal; overflow-wrap: anywhere; }
.jp-RenderedHTMLCommon.jp-RenderedMarkdown > .highlight { margin-bottom: 1em; }
</style>"""


def executed(notebook: Any, folder: pathlib.Path) -> Any:
    """Return a copy of the notebook with the outputs, and the widgets' states, of running it in ``folder``.

    Raise nbconvert's CellExecutionError if a cell fails.
    """
    notebook = copy.deepcopy(notebook)
    runner: Any = ExecutePreprocessor(  # type: ignore[no-untyped-call]
        timeout=CELL_SECONDS, store_widget_state=True, extra_arguments=["--log-level=ERROR"]
    )
    runner.preprocess(notebook, {"metadata": {"path": str(folder)}})
    return notebook


def html_page(notebook: Any, title: str, theme: str = "light", bar: str = "") -> str:
    """Return an executed notebook as a page; ``theme`` is "light" or "dark", ``bar`` is HTML above and below."""
    exporter = HTMLExporter(raw_template=_PAGE, config=_config(theme))  # type: ignore[no-untyped-call]
    return _converted(exporter, notebook, title, bar)


def slides(notebook: Any, title: str, theme: str = "light", exercises: bool = False, plumbing: bool = False) -> str:
    """Return an executed notebook as slides of reveal.js: see `deck`.

    Cells of type "notes" are for the speaker, who opens them with the key s. Enter leads into the slide's widget.
    """
    exporter = SlidesExporter(raw_template=_SLIDES, config=_config(theme))  # type: ignore[no-untyped-call]
    return _converted(exporter, deck(notebook, exercises, plumbing), title)


def _file(name: str) -> str:
    return (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8")


def _config(theme: str) -> Config:
    return Config({"HTMLExporter": {"theme": theme, "preprocessors": [Stills]}})


def _converted(exporter: HTMLExporter, notebook: Any, title: str, bar: str = "") -> str:
    scripts = f"<script>{_file('reveal/reveal.js')}</script><script>{_file('reveal/notes.js')}</script>"
    scripts += f"<script>{_SLIDES_SIZES}{_file('slides.js')}</script>"
    resources: dict[str, dict[str, str]] = {
        "metadata": {"name": title},
        "tile_by_tile": {
            "title": html.escape(title),
            "bar": bar,
            "style": _LINES_STYLE + style(),
            # reveal.js first: it moves the slides' elements before the viewer fills them
            "module": (scripts if isinstance(exporter, SlidesExporter) else "") + module(),
            "reveal": f"<style>{_file('reveal/reveal.css')}</style>",
            "slides": f"<style>.reveal {{ {_SLIDES_VARIABLES} }}\n{_file('slides.css')}</style>",
        },
    }
    alive = living(notebook)
    for bundle in (WAITING, DIALS):
        if _holds(alive, bundle.mark):
            for part, bring in (("style", style), ("module", module)):
                resources["tile_by_tile"][part] += bring(bundle)
    text, _ = exporter.from_notebook_node(alive, resources)
    return str(text)


def living(notebook: Any) -> Any:
    """Return a copy of an executed notebook with places for live widgets instead of views of them.

    Steppers, the model of waiting and pictures with sliders are live; the explorer gets menus of recorded launches.
    Other widgets, which need a kernel, are replaced by their pictures and texts.
    """
    notebook = copy.deepcopy(notebook)
    models = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["transient"] = {"remove_source": True}  # read by nbconvert's templates
        if cell.cell_type == "code":
            cell.outputs = _living(cell.outputs, models)
    notebook.metadata.pop("widgets", None)
    return notebook


def _living(outputs: Sequence[Any], models: Mapping[str, Any]) -> list[Any]:
    """Return the outputs of a cell, without the pictures of widgets that are live."""
    kept: list[Any] = []
    for output in outputs:
        view = output.get("data", {}).pop(VIEW, None)
        found = list(_alive(models, view.get("model_id", ""))) if view else []
        if found:
            marks = {state.get("_still") for state, _ in found} - {CLASS}  # for these the pictures stay
            kept = [before for before in kept if mark_of(before.get("data", {})) not in marks]
            output.data = {HTML: "\n".join(place(state, bundle) for state, bundle in found)}
        if output.get("data") != {}:
            kept.append(output)
    return kept


def _alive(models: Mapping[str, Any], model: str) -> Iterator[tuple[Mapping[str, Any], Bundle]]:
    """Yield the states of all widgets in a widget's view that need no kernel, each with its bundle."""
    state = models.get(model, {}).get("state", {})
    kind = str(state.get("_anywidget_id", "")).rpartition(".")[2]
    if kind == "Stepper":
        yield state, STEPPER
    elif kind == "Waiting":
        yield recorded(state), WAITING
    elif kind == "Dials":
        yield recorded_dials(state), DIALS
    launches = recorded_launches(state) if "_recipe" in state else []
    for child in state.get("children", ()):
        for found, bundle in _alive(models, str(child).removeprefix("IPY_MODEL_")):
            yield ({**found, "_launches": launches} if launches else found), bundle


def _holds(notebook: Any, text: str) -> bool:
    """Whether an output is HTML that contains this text."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return any(text in output.get("data", {}).get(HTML, "") for output in outputs)
