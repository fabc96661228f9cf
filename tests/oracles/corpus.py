"""The kernels with bugs: each file of tests/kernels_with_bugs holds a bug, its twin and what is expected of them.

The twin is the bug without its mistake. Comments in the bug say how it differs: a line that ends in `# bug` is not in
the twin, and what follows `# twin:` is a line of the twin alone.

EXPECTED    (kind, tag of the line, tag of the other line or None, array or None) for each finding; the tags
            stand in the source, as in `s[t] = x[t]  # <- write`. Three kinds break no rule of the
            machine in this launch: "wrong-value", "extra-stores" (more stores than the twin), and "unseen",
            which another schedule or another input would show.
ALSO        kinds that may be found besides, as consequences
GRID, BLOCK the launch (BUG_GRID: that of the bug, where the launch is the mistake)
arguments(rng), answer(*arguments)   inputs, and {position: right array}
"""

import importlib.util
import inspect
import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

from .sources import import_kernel

FOLDER = Path(__file__).parents[1] / "kernels_with_bugs"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.py")))
#: Those that the reference by threads can run: not those of warpgroups and of the copy engine, no assertions, and no
#: barriers of the grid.
REFERENCED = tuple(
    name for name in NAMES if not name.startswith(("wgmma_", "bulk_", "assertion_", "grid_sum", "grid_barrier"))
)
SILENT_KINDS = ("wrong-value", "extra-stores", "unseen")


@dataclass(frozen=True)
class Expected:
    kind: str
    lines: frozenset
    other_lines: frozenset
    array: str | None


@dataclass(frozen=True)
class Pair:
    name: str
    module: ModuleType
    expected: tuple
    also: tuple

    @property
    def kinds(self):
        return {e.kind for e in self.expected} | set(self.also)

    def launch(self, which):
        grid = getattr(self.module, "BUG_GRID", None) if which == "bug" else None
        return grid or self.module.GRID, self.module.BLOCK

    def arguments(self):
        return self.module.arguments(np.random.default_rng(7))

    def wrong(self, before, after):
        """Return which arrays differ from the right answer; `before` is a fresh set of the same arguments."""
        answer = self.module.answer(*before)
        return [k for k, right in answer.items() if not same(after[k], right)]


def same(got, right):
    """Compare with a tolerance for floats; NaN equals nothing."""
    if got.dtype.kind != "f":
        return got.shape == right.shape and bool((got == right).all())
    return got.shape == right.shape and np.allclose(got, right, rtol=1e-4, atol=1e-5)


def tagged_lines(module, tag):
    """Return the line numbers in the file with the tag `# <- tag`, in the bug or what it calls, not in the twin."""
    path = Path(inspect.getsourcefile(module))
    lines = path.read_text().splitlines()
    found = frozenset(n for n, text in enumerate(lines, 1) if text.endswith(f"# <- {tag}"))
    if tag is not None and not found:
        raise LookupError(f"no line tagged {tag!r} in {path.name}")
    return found


def twin_of(text):
    """Return the text of a file of the corpus with the twin in place of the bug, line by line."""
    text = re.sub(r"^.*  # bug(  # <- .*)?$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)# twin: ", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"^def bug\(", "def twin(", text, flags=re.MULTILINE)


def line_of_bug(name, number):
    """Return the number of a line of a file if the lines of the twin alone are not counted: what a recording has."""
    lines = (FOLDER / f"{name}.py").read_text().splitlines()[:number]
    return number - sum(line.lstrip().startswith("# twin: ") for line in lines)


#: Where the twins are written, for the simulator reads the source of a kernel from its file.
TWINS = tempfile.TemporaryDirectory()


@lru_cache(None)
def load(name):
    """Import one file of the corpus as a Pair."""
    spec = importlib.util.spec_from_file_location(f"kernels_with_bugs.{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.twin = import_kernel(twin_of((FOLDER / f"{name}.py").read_text()), Path(TWINS.name), "twin")
    expected = tuple(
        Expected(kind, tagged_lines(module, line), tagged_lines(module, other), array)
        for kind, line, other, array in module.EXPECTED
    )
    return Pair(name, module, expected, tuple(getattr(module, "ALSO", ())))
