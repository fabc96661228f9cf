"""A Jupyter server extension: open the course when JupyterLab starts in its folder; change nothing anywhere else.

Installing the package puts ``jupyter_server_config.d/tile-by-tile.json``, which names this module, into the
environment's etc/jupyter. So ``jupyter lab`` needs no flags, on any system, and no file of anybody else's is touched.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

NEWS = "@jupyterlab/apputils-extension:announcements"
#: Keeps the pictures of widgets in the pages and documents that JupyterLab exports.
STILLS = "course_lib.publish.stills.Stills"


def quiet(handler: Any, page_config: dict[str, Any]) -> dict[str, Any]:
    """Ask nothing on top of the lesson: neither whether to send news about Jupyter, nor to rebuild JupyterLab.

    JupyterLab would look for something to rebuild at every start, with Node.js where that is installed.
    """
    disabled = page_config.setdefault("disabledExtensions", [])
    if NEWS not in disabled:
        disabled.append(NEWS)
    page_config["buildCheck"] = page_config["buildAvailable"] = False
    return page_config


def without_views(model: dict[str, Any], **_: Any) -> None:
    """Save a notebook without the views of the course's widgets, whose kernel nobody finds when it is opened again.

    The picture before each stays. A notebook that holds the widgets' states, which is the user's choice, keeps them.
    """
    from .publish.stills import is_view

    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict) or "widgets" in content.get("metadata", {}):
        return
    for cell in content.get("cells", ()):
        if "outputs" in cell:
            cell["outputs"] = [output for output in cell["outputs"] if not is_view(output)]


def settings(folder: Path) -> dict[str, dict[str, Any]]:
    """What JupyterLab is told when it starts in ``folder``, by application; nothing where that is not the course."""
    if not (folder / "course_lib" / "__init__.py").is_file():
        return {}
    # containers run as root, and Jupyter refuses that without a flag
    told: dict[str, dict[str, Any]] = {
        "ServerApp": {"allow_root": True, "tornado_settings": {"page_config_hook": quiet}},
        "TemplateExporter": {"preprocessors": [STILLS]},
        "ContentsManager": {"pre_save_hook": without_views},
    }
    lessons = sorted((folder / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    if lessons:
        told["LabApp"] = {"default_url": f"/lab/tree/notebooks/{lessons[0].name}"}
    return told


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "course_lib.lab"}]


def _link_jupyter_server_extension(server: Any) -> None:
    """Called before the server reads its configuration; what the user configured stays as it is."""
    config = type(server.config)()
    for application, traits in settings(Path.cwd()).items():
        for name, value in traits.items():
            if name not in server.config[application]:
                config[application][name] = value
    server.update_config(config)


def _load_jupyter_server_extension(server: Any) -> None:
    """Nothing is left to do once the server runs."""
