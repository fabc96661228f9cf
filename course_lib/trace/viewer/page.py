"""A widget as one HTML file, which needs no kernel and no network.

The page contains the widget's module, its stylesheet, its data (a stepper's traces, the recorded settings of the timing
model) and a model that stores the reader's choices.
"""

import html
import json
import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

_HERE = pathlib.Path(__file__).parent


@dataclass(frozen=True)
class Bundle:
    """The browser side of a widget: ``NAME.js`` and ``NAME.css`` in ``folder``.

    ``traits`` are the traits of the page's model; the rest of a widget's state needs a kernel. ``mark`` is the class of
    the elements that the widget replaces.
    """

    name: str
    folder: pathlib.Path
    traits: tuple[str, ...]
    mark: str

    def read(self, kind: str) -> str:
        """The bundle's text, "js" or "css"."""
        return (self.folder / f"{self.name}.{kind}").read_text(encoding="utf-8")


STEPPER = Bundle(
    "stepper",
    _HERE,
    (
        "_data",
        "_other",
        "_wanted",
        "_orders",
        "_launches",
        "_tiles",
        "tile_width",
        "step",
        "statements_of",
        "block",
        "thread",
        "panel",
        "panels",
    ),
    "tile-by-tile-state",
)

#: The text in place of a widget whose data cannot be read; other widgets of the page work.
FAULT = "This widget's data cannot be read: save the page again, or export the lesson again."
#: The class of the fallback of a page's widget.
_FALLBACK = "tt-until-drawn"
_FALLBACK_HINT = (
    "This is a still picture. If nothing replaces it, this browser does not run the page's scripts, or the file is "
    "incomplete: allow scripts, or save the page again."
)

# JupyterLab's own variables, which the viewer's stylesheet reads to find a dark page.
_DARK = {
    "--jp-layout-color0": "#111111",
    "--jp-layout-color1": "#1c1c1c",
    "--jp-layout-color2": "#2b2b2b",
    "--jp-layout-color3": "#424242",
    "--jp-border-color1": "#5a5a5a",
    "--jp-border-color2": "#424242",
    "--jp-ui-font-color0": "#ffffff",
    "--jp-ui-font-color1": "#e8e8e8",
    "--jp-ui-font-color2": "#bdbdbd",
    "--jp-content-font-color0": "#ffffff",
    "--jp-content-font-color1": "#e8e8e8",
    "--jp-content-font-color2": "#bdbdbd",
    "--jp-cell-editor-background": "#212121",
    "--jp-brand-color1": "#64b5f6",
    "--jp-mirror-editor-keyword-color": "#66bb6a",
    "--jp-mirror-editor-number-color": "#66bb6a",
}


def style(bundle: Bundle = STEPPER) -> str:
    """The style element of a widget; once a page."""
    return f"<style>{bundle.read('css')}</style>"


def module(bundle: Bundle = STEPPER) -> str:
    """The script element of a widget's module, which renders all of its widgets; once, at the end of the page."""
    # nothing imports a module inside a page
    code, found = re.subn(r"export\s*\{\s*([\w$]+) as default[^}]*\};?", r"const viewer = \1;", bundle.read("js"))
    if found != 1:
        raise RuntimeError(f"{bundle.name}.js does not end in one default export; build it with tools/build_viewer.py")
    constants = f"\nconst pageMark = {json.dumps(bundle.mark)}, pageFault = {json.dumps(FAULT)};\n"
    live = (_HERE / "page.js").read_text(encoding="utf-8")  # gives each of a page's widgets a model, and renders it
    return f'<script type="module">{escaped(code + constants + live)}</script>'


def place(state: Mapping[str, Any], bundle: Bundle = STEPPER, fallback: str = "") -> str:
    """The element that a widget of this state (its traits by name) replaces; ``fallback``: HTML to show until then."""
    kept = {name: state[name] for name in bundle.traits if name in state}
    instead = f'<div class="{_FALLBACK}">{fallback}</div>' if fallback else ""
    return f'{instead}<script type="application/json" class="{bundle.mark}">{escaped(json.dumps(kept))}</script>'


def escaped(text: str) -> str:
    """Escape text for a script element: JSON, or JavaScript with markup only in strings."""
    return re.sub(r"<(?=/script|/style|!--)", r"\\u003c", text, flags=re.IGNORECASE)


def page(title: str, state: Mapping[str, Any], fallback: str, bundle: Bundle = STEPPER) -> str:
    """A page with one widget; ``fallback`` is HTML for a browser that runs no scripts, or has an incomplete file."""
    body = f"<h1>{html.escape(title)}</h1>\n{place(state, bundle, f'<p>{_FALLBACK_HINT}</p>{fallback}')}"
    return document(title, body, style(bundle), module(bundle))


def document(title: str, body: str, style: str, module: str) -> str:
    """A page in light and dark around ``body``, with the elements that widgets in it need."""
    dark = " ".join(f"{name}: {colour};" for name, colour in _DARK.items())
    frame = Template((_HERE / "page.html").read_text(encoding="utf-8"))
    return frame.substitute(title=html.escape(title), dark=dark, style=style, body=body, module=module)
