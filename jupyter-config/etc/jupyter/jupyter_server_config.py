"""Open the course when JupyterLab starts in its folder; change nothing anywhere else.

Installing the package puts this file into the environment's etc/jupyter, where Jupyter finds it and runs it
with `get_config` defined. So `jupyter lab` needs no flags, on any system.
"""

from pathlib import Path

NEWS = "@jupyterlab/apputils-extension:announcements"


def without_news(handler, page_config):
    """Leave out the extension that asks, on top of the lesson, whether to send news about Jupyter."""
    disabled = page_config.setdefault("disabledExtensions", [])
    if NEWS not in disabled:
        disabled.append(NEWS)
    return page_config


if Path("course_lib", "__init__.py").is_file():
    c = get_config()  # noqa: F821  Jupyter defines it
    c.ServerApp.allow_root = True  # containers run as root, and Jupyter refuses that without a flag
    c.ServerApp.tornado_settings = {"page_config_hook": without_news}
    lessons = sorted(Path("notebooks").glob("[0-9][0-9]_*.ipynb"))
    if lessons:
        c.LabApp.default_url = f"/lab/tree/notebooks/{lessons[0].name}"
