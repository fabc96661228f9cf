"""A widget as one HTML file, which needs no kernel and no network.

The page contains the widget's module, its stylesheet, its data (a stepper's traces, the recorded plays of the model of
waiting) and a model that stores the reader's choices.
"""

from __future__ import annotations

import html
import json
import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    pathlib.Path(__file__).parent,
    (
        *("_data", "_other", "_wanted", "_orders", "_launches"),
        *("step", "block", "thread", "panel", "panels", "text_size"),
    ),
    "tile-by-tile-state",
)

# The page's model, instead of anywidget's: it stores values and calls listeners. save_changes does nothing.
_LIVE = """
class PageModel {
  constructor(state, number) { this.state = { ...state, _saved: number }; this.listeners = new Map(); }
  get(name) { return this.state[name]; }
  set(name, value) {
    if (JSON.stringify(this.state[name]) === JSON.stringify(value)) return;
    this.state[name] = value;
    for (const listener of [...(this.listeners.get(`change:${name}`) ?? [])]) listener();
  }
  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event).add(listener);
  }
  off(event, listener) { this.listeners.get(event)?.delete(listener); }
  save_changes() {}
}
// Menus for an explorer's recorded launches: a choice goes to the launch that has it, and most of the other settings.
function menus(model, launches) {
  const names = [...new Set(launches.flatMap(({ setting }) => Object.keys(setting)))];
  const bar = document.createElement("p");
  bar.className = "tt-launches";
  bar.style = "margin: 4px 0; font: var(--jp-ui-font-size1, 14px) sans-serif; color: var(--jp-ui-font-color1, inherit)";
  bar.append("This page has no kernel: choose from recorded launches. ");
  const menu = Object.fromEntries(names.map((name) => {
    const select = document.createElement("select"), label = document.createElement("label");
    select.ariaLabel = name;
    select.style = "font: inherit; color: inherit; background: var(--jp-layout-color0)";
    const values = new Set(launches.flatMap(({ setting }) => setting[name] ?? []));
    select.append(...[...values].map((value) => new Option(value)));
    label.append(`${name} `, select);
    bar.append(label, " ");
    return [name, select];
  }));
  const show = ({ setting, data }) => {
    for (const name of names) {
      menu[name].parentElement.hidden = !(name in setting);
      if (name in setting) menu[name].value = setting[name];
    }
    model.set("_data", data); // step, block, thread and view stay, as far as the launch has them
  };
  for (const name of names) menu[name].onchange = () => {
    const alike = ({ setting }) => names.filter((each) => String(setting[each]) === menu[each].value).length;
    const having = launches.filter(({ setting }) => String(setting[name]) === menu[name].value);
    show(having.reduce((best, each) => (alike(each) > alike(best) ? each : best)));
  };
  show(launches.find(({ data }) => data === model.get("_data")) ?? launches[0]);
  return bar;
}
let number = 0;
for (const state of document.querySelectorAll("script.%s")) {
  number += 1;
  const place = document.createElement("div");
  state.replaceWith(place);
  // A notebook's page has rules for the tables and lists of its outputs; a widget brings its own.
  place.closest(".jp-RenderedHTMLCommon")?.classList.remove("jp-RenderedHTMLCommon");
  // The still keeps the widget's place until it is drawn, and stays beside a message that it cannot be.
  const still = document.getElementById(state.dataset.still ?? "");
  if (still) place.append(still);
  new MutationObserver((_, sight) => {
    sight.disconnect();
    if (place.querySelector("[role=alert]") && still) place.append(still);
    else still?.remove();
  }).observe(place, { childList: true });
  try {
    const model = new PageModel(JSON.parse(state.textContent), number);
    const launches = model.get("_launches");
    if (launches) place.before(menus(model, launches));
    viewer.render({ model, el: place });
  } catch (error) {
    console.error(error);
    const says = document.createElement("p");
    says.setAttribute("role", "alert");
    says.className = "tt-unreadable";
    says.textContent = "%s";
    place.replaceChildren(says);
  }
}
"""
#: The text in place of a widget whose data cannot be read; other widgets of the page work.
FAULT = "This widget's data cannot be read: save the page again, or export the lesson again."
#: The identifier of the still of a saved page's widget.
_STILL = "tile-by-tile-still"
_STILL_HINT = (
    "This is a still picture. If nothing replaces it, this browser does not run the page's scripts, or the file is "
    "incomplete: allow scripts, or save the page again."
)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0 auto; padding: 1rem; max-width: 1500px; font-family: system-ui, sans-serif;
  background: #ffffff; color: #1a1a1a; --jp-layout-color0: #ffffff; --jp-ui-font-color0: #1a1a1a; }}
h1 {{ margin: 0 0 0.5rem; font-size: 1.1rem; }}
#tile-by-tile-still img {{ max-width: 100%; height: auto; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #111111; color: #e8e8e8; {dark} }}
}}
</style>
{style}
</head>
<body>
<main>
{body}
</main>
{module}
</body>
</html>
"""
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
    return f'<script type="module">{escaped(code + _LIVE % (bundle.mark, FAULT))}</script>'


def place(state: Mapping[str, Any], bundle: Bundle = STEPPER, still: str = "") -> str:
    """The element that a widget of this state (its traits by name) replaces; ``still`` is removed then."""
    kept = {name: state[name] for name in bundle.traits if name in state}
    instead = f' data-still="{still}"' if still else ""
    return f'<script type="application/json" class="{bundle.mark}"{instead}>{escaped(json.dumps(kept))}</script>'


def escaped(text: str) -> str:
    """Escape text for a script element: JSON, or JavaScript with markup only in strings."""
    return re.sub(r"<(?=/script|/style|!--)", r"\\u003c", text, flags=re.IGNORECASE)


def page(title: str, state: Mapping[str, Any], still: str, bundle: Bundle = STEPPER) -> str:
    """A page with one widget; ``still`` is HTML for a browser that runs no scripts, or has an incomplete file."""
    instead = f'<div id="{_STILL}"><p>{_STILL_HINT}</p>{still}</div>'
    body = f"<h1>{html.escape(title)}</h1>\n{instead}\n{place(state, bundle, _STILL)}"
    return document(title, body, style(bundle), module(bundle))


def document(title: str, body: str, style: str, module: str) -> str:
    """A page in light and dark around ``body``, with the elements that widgets in it need."""
    dark = " ".join(f"{name}: {colour};" for name, colour in _DARK.items())
    return _PAGE.format(title=html.escape(title), dark=dark, style=style, body=body, module=module)
