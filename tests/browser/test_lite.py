"""The lessons as a JupyterLite site: listed, opened with their stored pictures, and Python asked for.

Nothing runs here: Python comes from Pyodide's own address. `tools/open_lite.py` runs a lesson on the published site.
"""

import functools
import json
import re
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from course_lib.classroom import lessons
from tools import build_lite, open_lite

pytest.importorskip("jupyterlite_core", reason="the dependency group lite brings it")
pytestmark = pytest.mark.nightly


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder and the address of a site."""
    folder = tmp_path_factory.mktemp("site") / "lite"
    build_lite.build(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_what_a_lesson_needs_is_in_the_site(site):
    """The course's wheel, with the lessons' pages, the pure packages and the widgets' extension; no solutions."""
    folder, _ = site
    assert {path.name for path in folder.glob("files/*.*")} == {path.name for path in lessons.files()}
    wheels = {path.name.partition("-")[0]: path for path in folder.glob("pypi/*.whl")}
    assert set(wheels) == {"tile_by_tile", *(name.replace("-", "_") for name in build_lite.PURE)}
    names = zipfile.ZipFile(wheels["tile_by_tile"]).namelist()
    assert "course_lib/machine/programs/missing_packages.py" in names and not any(
        "solutions/" in name for name in names
    )
    extensions = {path.parent.name for path in folder.glob("extensions/**/package.json")}
    assert extensions >= {"jupyterlab-manager", "anywidget", "pyodide-kernel-extension"}
    settings = json.loads((folder / "jupyter-lite.json").read_text("utf-8"))
    assert "tile-by-tile" in json.dumps(json.loads((folder / "pypi" / "all.json").read_text("utf-8")))
    assert "all.json" in json.dumps(settings)


def test_lessons_open_with_their_pictures_and_ask_for_python(site, browser):
    """All are listed; the first cell loads the packages; what is stored is seen before anything ran."""
    _, address = site
    context = browser.new_context()
    page, away = context.new_page(), []

    def refuse(route):
        away.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith(address), refuse)
    try:
        with page.expect_request(re.compile(r"^https://cdn\.jsdelivr\.net/pyodide/v\d"), timeout=120_000):
            open_lite.open_lesson(page, address, "express.ipynb")
        listed = page.evaluate(
            "() => window.jupyterapp.serviceManager.contents.get('').then(all => all.content.map(each => each.name))"
        )
        assert {path.name for path in lessons.files()} <= set(listed)
        cells = page.evaluate(open_lite.CELLS)
        first = next(cell for cell in cells if cell["cell_type"] == "code")
        assert "%pip install" in "".join(first["source"]) and "numba" not in "".join(first["source"])
        page.locator(".jp-OutputArea-output img").first.wait_for()
        assert {re.sub(r"^(https://[^/]*).*", r"\1", url) for url in away} == {"https://cdn.jsdelivr.net"}
    finally:
        context.close()


def test_a_cell_that_fails_is_named():
    """And one that did not run; one that is meant to raise is not."""

    def cell(name, count=1, outputs=(), tags=()):
        return {"id": name, "cell_type": "code", "source": ["x"], "metadata": {"tags": [*tags]},
                "execution_count": count, "outputs": [*outputs]}  # fmt: skip

    error = {"output_type": "error", "ename": "KeyError", "evalue": "'x'"}
    cells = [cell("good"), cell("bad", outputs=[error]), cell("meant", outputs=[error], tags=["raises-exception"])]
    cells += [cell("late", count=None), {"cell_type": "markdown", "source": ["x"], "metadata": {}}]
    assert open_lite.failures(cells) == ["bad: KeyError: 'x'", "late: did not run"]
