"""A Jupyter server extension: opens the course when JupyterLab starts in its folder; changes nothing elsewhere.

Installing the package puts ``jupyter_server_config.d/tile-by-tile.json``, which names this module, into the
environment's etc/jupyter. So ``jupyter lab`` needs no flags, on any system, and no file of the user is changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

NEWS = "@jupyterlab/apputils-extension:announcements"
#: Keeps the pictures of widgets in the pages and documents that JupyterLab exports.
STILLS = "course_lib.publish.stills.Stills"


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


def settings(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the settings for JupyterLab when it starts in ``folder``, by application; none outside of the course."""
    if not (folder / "course_lib" / "__init__.py").is_file():
        return {}
    # containers run as root, which Jupyter refuses without a flag
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
    """Apply the settings before the server reads its configuration; those of the user take precedence."""
    config = type(server.config)()
    for application, traits in settings(Path.cwd()).items():
        for name, value in traits.items():
            if name not in server.config[application]:
                config[application][name] = value
    server.update_config(config)


def _load_jupyter_server_extension(server: Any) -> None:
    """Do nothing: all is done before the server runs."""
