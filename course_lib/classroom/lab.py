"""A Jupyter server extension: opens the course where JupyterLab starts in its folder; keeps widgets' pictures anywhere.

Installing the package puts ``jupyter_server_config.d/tile-by-tile.json``, which names this module, into the
environment's etc/jupyter. So ``jupyter lab`` needs no flags, on any system, and no file of the user is changed. Without
the extra ``course``, as where only the simulator is installed, there is no such extension.

The lessons are known by their metadata, and outputs of the course's widgets by theirs. In a folder without the course
JupyterLab has its own settings and opens as it does elsewhere; other notebooks and outputs are changed nowhere.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..trace.notebook_outputs import is_view
from .lessons import opening

#: Settings of JupyterLab in the course's folder: cells number their lines, which findings name, and a link to a page in
#: Markdown shows it as a page.
SETTINGS = Path(__file__).with_name("jupyter")
#: Keeps the pictures of widgets in the pages and documents that JupyterLab exports.
FALLBACKS = "course_lib.classroom.fallbacks.Fallbacks"


def without_views(model: dict[str, Any], **_: Any) -> None:
    """Save a notebook without the views of the course's widgets, which have no kernel when it is opened again.

    The picture before each stays. A notebook that holds the widgets' states, which is the user's choice, keeps them.
    """
    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict) or "widgets" in content.get("metadata", {}):
        return
    for cell in content.get("cells", ()):
        if "outputs" in cell:
            cell["outputs"] = [output for output in cell["outputs"] if not is_view(output)]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Return this module; none without the package of the course's widgets, of which no output can be there then."""
    return [{"module": "course_lib.classroom.lab"}] if find_spec("anywidget") is not None else []


def _link_jupyter_server_extension(server: Any) -> None:
    """Open the first lesson, and keep pictures; before the server reads its configuration, which takes precedence."""
    config = type(server.config)()
    if first := opening(Path.cwd()):
        more = os.environ.get("JUPYTER_CONFIG_PATH")
        os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join([*([more] if more else []), str(SETTINGS)])
        config.LabApp.default_url = f"/lab/tree/{first.relative_to(Path.cwd()).as_posix()}"
    config.merge(server.config)
    config.TemplateExporter.preprocessors = [*config.TemplateExporter.get("preprocessors", []), FALLBACKS]
    server.update_config(config)


def _load_jupyter_server_extension(server: Any) -> None:
    """Register what concerns the course's outputs in notebooks of any folder."""
    server.contents_manager.register_pre_save_hook(without_views)
