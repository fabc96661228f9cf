"""A Jupyter server extension: opens the course where JupyterLab starts in its folder; keeps widgets' pictures anywhere.

The lessons are known by their metadata, and outputs of the course's widgets by theirs, so nothing depends on the folder
where the server starts: on a hub that is the user's home. Other notebooks and outputs are not changed.

Installing the package puts ``jupyter_server_config.d/tile-by-tile.json``, which names this module, into the
environment's etc/jupyter. So ``jupyter lab`` needs no flags, on any system, and no file of the user is changed.
"""

from pathlib import Path
from typing import Any

from .lessons import opening

NEWS = "@jupyterlab/apputils-extension:announcements"
#: Keeps the pictures of widgets in the pages and documents that JupyterLab exports.
STILLS = "course_lib.classroom.publish.stills.Stills"


def quiet(handler: Any, page_config: dict[str, Any]) -> dict[str, Any]:
    """Suppress dialogs on top of the lesson: on news about Jupyter, and on rebuilding JupyterLab.

    JupyterLab would check at every start whether to rebuild, with Node.js where that is installed.
    """
    disabled = page_config.setdefault("disabledExtensions", [])
    if NEWS not in disabled:
        disabled.append(NEWS)
    page_config["buildCheck"] = page_config["buildAvailable"] = False
    return page_config


def without_views(model: dict[str, Any], **_: Any) -> None:
    """Save a notebook without the views of the course's widgets, which have no kernel when it is opened again.

    The picture before each stays. A notebook that holds the widgets' states, which is the user's choice, keeps them.
    """
    from .publish.stills import is_view

    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict) or "widgets" in content.get("metadata", {}):
        return
    for cell in content.get("cells", ()):
        if "outputs" in cell:
            cell["outputs"] = [output for output in cell["outputs"] if not is_view(output)]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "course_lib.classroom.lab"}]


def _link_jupyter_server_extension(server: Any) -> None:
    """Open the first lesson, and keep pictures; before the server reads its configuration, which takes precedence."""
    config = type(server.config)()
    if first := opening(Path.cwd()):
        config.ServerApp.allow_root = True  # containers run as root, which Jupyter refuses without a flag
        config.LabApp.default_url = f"/lab/tree/{first.relative_to(Path.cwd()).as_posix()}"
    config.merge(server.config)
    config.TemplateExporter.preprocessors = [*config.TemplateExporter.get("preprocessors", []), STILLS]
    server.update_config(config)


def _load_jupyter_server_extension(server: Any) -> None:
    """Register what concerns the course's outputs in notebooks of any folder, and start quietly."""
    server.contents_manager.register_pre_save_hook(without_views)
    server.web_app.settings.setdefault("page_config_hook", quiet)
