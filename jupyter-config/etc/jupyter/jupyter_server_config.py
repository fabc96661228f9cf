"""Open the course when JupyterLab starts in its folder; change nothing anywhere else.

Installing the package puts this file into the environment's etc/jupyter, where Jupyter finds it and runs it
with `get_config` defined. So `jupyter lab` needs no flags, on any system.
"""

from pathlib import Path

NEWS = "@jupyterlab/apputils-extension:announcements"


def quiet(handler, page_config):
    """Ask nothing on top of the lesson: neither whether to send news about Jupyter, nor to rebuild JupyterLab.

    JupyterLab would look for something to rebuild at every start, with Node.js where that is installed.
    """
    disabled = page_config.setdefault("disabledExtensions", [])
    if NEWS not in disabled:
        disabled.append(NEWS)
    page_config["buildCheck"] = page_config["buildAvailable"] = False
    return page_config


if Path("course_lib", "__init__.py").is_file():
    c = get_config()  # noqa: F821  Jupyter defines it
    c.ServerApp.allow_root = True  # containers run as root, and Jupyter refuses that without a flag
    c.ServerApp.tornado_settings = {"page_config_hook": quiet}
    lessons = sorted(Path("notebooks").glob("[0-9][0-9]_*.ipynb"))
    if lessons:
        c.LabApp.default_url = f"/lab/tree/notebooks/{lessons[0].name}"
