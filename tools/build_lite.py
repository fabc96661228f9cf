"""Write the lessons as a JupyterLite site: JupyterLab and Python in the reader's browser, without an installation.

    uv run --group lite python tools/build_lite.py --out _site/lite

The site holds the lessons, the course's wheel, the widgets' extension, and the packages that the lessons need and that
Pyodide lacks. Pyodide, NumPy and matplotlib come from Pyodide's own address when a reader runs a cell; no server does.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from course_lib.classroom import lessons

REPOSITORY = Path(__file__).parents[1]
#: Packages of pure Python that the lessons import and that Pyodide's distribution lacks.
PURE = ("anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")
KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
#: What a lesson begins with in a browser.
SAYS = """\
**In your browser.** Run the next cell first. It loads Python packages, about 30 MB the first time, and then the lesson
runs in this page alone: no GPU, no numba, no server. The simulator runs the kernels; cells that need a GPU show what
was recorded. What you write stays in this browser: to keep it elsewhere, choose File → Download."""
#: The second line lets guesses and points be kept beside the notebook, as a Jupyter server does.
CODE = """\
%pip install -q tile-by-tile[course]
import course_lib, os; os.environ["JPY_SESSION_NAME"] = "{name}"
"""


def for_browsers(name: str, text: str) -> str:
    """Return a lesson, as its file's text, with a first cell that loads its packages, for the kernel of a browser."""
    notebook = nbformat.reads(lessons.for_students(text), as_version=4)
    notebook.metadata["kernelspec"] = KERNEL
    notebook.cells[1:1] = [
        new_markdown_cell(SAYS, id="in-your-browser"),
        new_code_cell(CODE.format(name=name).strip(), id="packages-of-the-lesson"),
    ]
    return nbformat.writes(notebook) + "\n"


def write_lessons(folder: Path) -> None:
    """Write the lessons, and the pages and the licence beside them."""
    for path in lessons.files():
        text = path.read_text(encoding="utf-8")
        text = for_browsers(path.name, text) if path.suffix == ".ipynb" else text
        (folder / path.name).write_text(text, encoding="utf-8")


def write_wheels(folder: Path) -> None:
    """Write the course's wheel, and those of pure Python in the versions that are installed here."""
    subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", folder, REPOSITORY], check=True)
    pure = ["--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none", "--python-version=3.14"]
    wanted = [f"{name}=={metadata.version(name)}" for name in PURE]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    subprocess.run([*pip, *pure, f"--dest={folder}", *wanted], check=True)


def build(out: Path) -> None:
    """Write the site to a folder, which it replaces."""
    with tempfile.TemporaryDirectory() as scratch:
        contents, wheels, here = (Path(scratch, name) for name in ("contents", "wheels", "lite"))
        for folder in (contents, wheels, here):
            folder.mkdir()
        write_lessons(contents)
        write_wheels(wheels)
        settings = {"jupyter-config-data": {"appName": "Tile by Tile", "exposeAppInBrowser": True}}
        (here / "jupyter-lite.json").write_text(json.dumps(settings), encoding="utf-8")
        made = here / "_output"
        command = [sys.executable, "-m", "jupyterlite_core", "build", f"--lite-dir={here}", f"--output-dir={made}"]
        command += ["--apps=lab", "--no-unused-shared-packages", f"--contents={contents}"]
        command += [f"--piplite-wheels={wheel}" for wheel in sorted(wheels.glob("*.whl"))]
        subprocess.run(command, check=True, cwd=here, stdout=subprocess.DEVNULL)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)


def main() -> None:
    """Write the site and say how large it is."""
    parser = argparse.ArgumentParser(description="Write the lessons as a JupyterLite site.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to; what is in it is replaced")
    out = parser.parse_args().out
    build(out)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
    print(
        f"{out}: {len(list(out.glob('files/*.ipynb')))} lessons, {size:.0f} MB; open {out}/lab/index.html by a server."
    )


if __name__ == "__main__":
    main()
