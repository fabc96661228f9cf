"""Preprocessing for nbconvert: pages that need no network, and pictures in documents without HTML.

Without it a page shows a picture and, after it, the view of the widget, which stays empty where its code cannot be
loaded, and hides the picture where it can (``course_lib.trace.viewer.fallback``); and LaTeX has text in place of
pictures. ``jupyter_nbconvert_config.json`` in the course's folder names this module: ``jupyter nbconvert --config
jupyter_nbconvert_config.json``. It is not installed: nbconvert reads no file of a name of our own, and a file of
another name could belong to the user. In JupyterLab's own export ``course_lib.classroom.lab`` does the same.
"""

from typing import Any

from nbconvert.preprocessors import Preprocessor

from ..trace.notebook_outputs import HTML, is_view
from ..trace.png import packed_in
from .lessons import is_course

STATE = "application/vnd.jupyter.widget-state+json"


class Fallbacks(Preprocessor):
    """Removes the views of the course's widgets, for each of which the output before has a picture.

    Also removes the empty outputs before a lesson's folded answers, and offers the course's pictures without HTML.
    Other notebooks and widgets of other libraries are unchanged: theirs are not the only thing in an output.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Change the outputs of ``nb`` in place."""
        lesson = is_course(nb)
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [
                    output
                    for output in cell.outputs
                    if not is_view(output) and not (lesson and output.get("data") == {})
                ]
            for output in cell.get("outputs", ()):
                if packed := packed_in(output.get("data", {}).get(HTML, "")):
                    output.data.setdefault("image/png", packed)
        return nb, resources
