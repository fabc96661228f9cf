"""Makes pages of nbconvert that need no network: pictures with their texts, and no view of a widget of the course.

Without it such a page shows a picture and the view after it, which stays empty where its code cannot be fetched, and
hides the picture where it can (``course_lib.viewer.still``); and the pictures have no texts.
``jupyter_nbconvert_config.json`` in the course's folder names this module: ``jupyter nbconvert --config
jupyter_nbconvert_config.json``. It is not installed, for nbconvert reads no file of a name of our own, and another
could be somebody's. In JupyterLab's own export ``course_lib.lab`` does the same.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from nbconvert.preprocessors import Preprocessor

from ..viewer.still import PNG, VIEW

HTML = "text/html"
STATE = "application/vnd.jupyter.widget-state+json"


class Stills(Preprocessor):
    """Takes away the views of the course's widgets, for which the output before stands, and gives pictures their texts.

    Widgets of others stay as they are: theirs are not the only thing in an output.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Change the outputs of ``nb`` in place."""
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [output for output in cell.outputs if not is_view(output)]
            for output in cell.get("outputs", ()):
                data, described = output.get("data", {}), output.get("metadata", {}).get(PNG, {})
                if VIEW not in data and HTML not in data and PNG in data and described.get("alt"):
                    data[HTML] = image(data[PNG], described)
        return nb, resources


def is_view(output: Mapping[str, Any]) -> bool:
    """Is this the view of a widget and nothing else, as our widgets send it?"""
    return set(output.get("data", {})) == {VIEW}


def image(png: str, described: Mapping[str, Any]) -> str:
    """An element for a picture in base64: its text ``alt``, and its ``width`` in CSS pixels where that is given."""
    width = f' width="{described["width"]:g}"' if "width" in described else ""
    packed = "".join(png.split())
    return f'<img src="data:image/png;base64,{packed}" alt="{html.escape(described["alt"])}"{width}>'
