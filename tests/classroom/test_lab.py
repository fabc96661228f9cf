"""JupyterLab in an environment with the course, in a folder without it: as if the course were not installed."""

import json
import re
from urllib.request import Request, urlopen

import nbformat
import pytest
from jupyter_server.extension.manager import ExtensionPackage
from lab_server import PATIENCE, jupyter_lab

from course_lib.classroom import lab

#: Somebody's own notebook: an empty output, a widget of another library, and text.
NOTEBOOK = nbformat.v4.new_notebook(
    cells=[
        nbformat.v4.new_code_cell(
            "1",
            id="one",
            outputs=[
                nbformat.v4.new_output("display_data"),
                nbformat.v4.new_output(
                    "display_data",
                    {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "IntSlider()"},
                ),
                nbformat.v4.new_output("stream", text="hello"),
            ],
        )
    ]
)


def seen(folder, private, *options):
    """Return what a user sees of JupyterLab, and of a notebook that it saves and exports."""
    own = str(folder.parent)
    with jupyter_lab(folder, private, *options) as lab:

        def asked(path, method="GET", data=None):
            request = Request(f"{lab.url}{path}", data, {"Authorization": f"token {lab.token}"}, method=method)
            with urlopen(request, timeout=PATIENCE) as answer:
                return answer.url.removeprefix(lab.url), answer.read().decode()

        address, page = asked("")
        configured = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
        settings = json.loads(asked("lab/api/settings")[1])["settings"]
        model = json.dumps({"type": "notebook", "format": "json", "content": NOTEBOOK}).encode()
        asked("api/contents/own.ipynb", "PUT", model)
        return {
            "opens": address,
            "page": {name: value for name, value in configured.items() if own not in str(value) and name != "token"},
            "settings": {row["id"]: (row["schema"], row["settings"]) for row in settings},
            "saved": (folder / "own.ipynb").read_text(encoding="utf-8"),
            "exported": asked("nbconvert/html/own.ipynb")[1],
        }


@pytest.mark.parametrize("installed", [True, False], ids=["the course", "the simulator alone"])
def test_there_is_no_extension_without_the_course(monkeypatch, installed):
    """Jupyter's server asks for its parts, and gets none."""
    monkeypatch.setattr(lab, "find_spec", {"anywidget": object() if installed else None}.get)
    assert [*ExtensionPackage(name=lab.__name__, enabled=True).extension_points] == [lab.__name__] * installed


@pytest.mark.nightly
def test_elsewhere_jupyterlab_is_as_if_nothing_were_installed(tmp_path):
    """The one difference between the two servers is the extension; the wheel installs nothing beside it."""
    off = '--ServerApp.jpserver_extensions={"course_lib.classroom.lab": False}'
    found = []
    for name, options in {"with": (), "without": (off,)}.items():
        folder, private = tmp_path / name / "folder", tmp_path / name / "private"
        folder.mkdir(parents=True)
        private.mkdir()
        found.append(seen(folder, private, *options))

    assert found[0] == found[1]
    assert len(found[0]["settings"]) > 30 and "hello" in found[0]["exported"]
