"""What a program without a GPU needs to be installed."""

import subprocess
import sys

ONLY_NUMPY = """
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numba", "llvmlite", "matplotlib", "PIL", "IPython", "ipywidgets", "anywidget"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import importlib, pkgutil
for room in ("programs", "profile"):
    assert not [name for name in sys.modules if name.startswith("course_lib.machine.profile")]
    package = importlib.import_module(f"course_lib.machine.{room}")
    names = [each.name for each in pkgutil.iter_modules(package.__path__)]
    for name in names:
        importlib.import_module(f"{package.__name__}.{name}")
    print(*names)
"""


def test_numpy_alone_must_do():
    """No module of the two imports numba, pictures or widgets before it needs them, nor one of programs a profile."""
    out = subprocess.run([sys.executable, "-c", ONLY_NUMPY], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    assert {"host_api", "launches", "process", "stand_ins", "profiling", "report"} <= set(out.stdout.split())
