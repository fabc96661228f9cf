"""Keeps pictures in the pages that nbconvert makes, where widgets have no kernel and may have no network.

nbconvert prefers a widget's view to the picture beside it, and such a view takes its code from the network: without one
the page shows nothing at all. It also leaves out the text of pictures. ``jupyter_nbconvert_config.json`` in the
course's folder names this module: ``jupyter nbconvert --config jupyter_nbconvert_config.json``. It is not installed,
for nbconvert reads no file of a name of our own, and another could be somebody's. In JupyterLab's own export
``course_lib.lab`` does the same.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from nbconvert.preprocessors import Preprocessor

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
PNG = "image/png"


class Stills(Preprocessor):
    """Puts the picture or the page of a widget of the course in its view's place, and gives pictures their texts.

    Widgets of others stay as they are, unless their state is not in the notebook: such a view cannot be shown.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Change the outputs of ``nb`` in place."""
        models = nb.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
        for cell in nb.cells:
            for output in cell.get("outputs", ()):
                data, described = output.get("data", {}), output.get("metadata", {}).get(PNG, {})
                if VIEW in data and (PNG in data or "text/html" in data) and _falls_back(data, described, models):
                    del data[VIEW]
                if VIEW not in data and "text/html" not in data and PNG in data and described.get("alt"):
                    data["text/html"] = image(data[PNG], described)
        return nb, resources


def _falls_back(data: Mapping[str, Any], described: Mapping[str, Any], models: Mapping[str, Any]) -> bool:
    model = models.get(data[VIEW].get("model_id", ""))
    if model is None or described.get("alt"):
        return True
    return str(model["state"].get("_anywidget_id", "")).startswith("course_lib.")


def image(png: str, described: Mapping[str, Any]) -> str:
    """An element for a picture in base64: its text ``alt``, and its ``width`` in CSS pixels where that is given."""
    width = f' width="{described["width"]:g}"' if "width" in described else ""
    packed = "".join(png.split())
    return f'<img src="data:image/png;base64,{packed}" alt="{html.escape(described["alt"])}"{width}>'
