"""Write the API's pages from the docstrings, with pdoc: python tools/build_api.py [FOLDER] (default build/api).

The front page is course_lib's, with the public names; every module has a page, so that those who read or change the
simulator find its parts too.
"""

import pkgutil
import re
import sys
import warnings
from pathlib import Path

import pdoc
import pdoc.render

import course_lib
import course_lib.classroom


def modules() -> list[str]:
    """The package and all its modules, without the command lines and what only imports where Triton or nbgrader is
    installed."""
    found = [module.name for module in pkgutil.walk_packages(course_lib.__path__, "course_lib.")]
    left_out = re.compile(r".*__main__|.*\.gpu\.triton_tiled|course_lib\.classroom\.nbgrader(\..*)?")
    return ["course_lib", *(name for name in found if not left_out.fullmatch(name))]


def build(folder: Path) -> None:
    """Write a page for each module into ``folder``, and index.html, which leads to the package's."""
    # pdoc imports each module of a package to draw its page, except where an __all__ leaves it out
    parts = [module.name for module in pkgutil.iter_modules(course_lib.classroom.__path__)]
    vars(course_lib.classroom)["__all__"] = [name for name in parts if name != "nbgrader"]
    pdoc.render.configure(docformat="google", show_source=False, footer_text="Tile by Tile")
    with warnings.catch_warnings():
        # pdoc finds the modules of a package itself, except where its __all__ does not name them
        warnings.filterwarnings("ignore", "The module specification")
        pdoc.pdoc(*modules(), output_directory=folder)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("build", "api")
    build(target)
    print(target / "index.html")
