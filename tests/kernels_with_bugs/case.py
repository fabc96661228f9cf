"""A kernel with a bug is an edit of a safe kernel: what a row of the table says, and how it becomes two kernels."""

import inspect
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import simulate

#: They break no rule of the machine in this launch: the values are wrong, the twin stores less often, or another
#: schedule or another input would show the bug.
SILENT_KINDS = ("wrong-value", "extra-stores", "unseen")
#: How each safe kernel is launched.
LAUNCHES: dict[Any, dict[str, Any]] = {}
#: The bugs of each safe kernel. A blank line separates them. The first line is the bug's name and what is wrong; the
#: others begin with a sign:
#:
#:     - old -> new    an edit: a part of a line, and what takes its place. It stands once in the kernel; a line of
#:                     which nothing is left is deleted
#:     - +             an edit of several lines, which are indented as the place where the first one begins; a `+` alone
#:                     stands between what is only deleted and the next edit
#:     -- ++           an edit that the bug and its twin have in common, where the twin is not the safe kernel itself
#:     ?               findings: kind and array: text in its line | text in the other line; what is left out is not
#:                     asked. After ~, kinds that may be found besides, as consequences
#:     @               what differs in the launch: grid, block, arguments, answer, shared_bytes, or bug_grid, for the
#:                     bug alone
BUGS: dict[Any, str] = {}
#: The simulator, numba and compute-sanitizer name the lines of a file.
FOLDER = tempfile.TemporaryDirectory()


@dataclass(frozen=True)
class Expected:
    """A finding: its kind, its array (None: any), and the lines, one of which it names, and one of which besides."""

    kind: str
    array: str | None
    lines: frozenset[int]
    other_lines: frozenset[int]


@dataclass(frozen=True)
class Case:
    """A bug and its twin, the same kernel without the mistake, that can be launched.

    `inputs(rng)` makes the arguments, and `answer(*arguments)` is {position: right array}. `shared_bytes` of
    dynamic shared memory belong to the launch.
    """

    name: str
    safe: Any
    edits: list[tuple[str, str]]
    common: list[tuple[str, str]]
    finds: list[tuple[str, str | None, str | None, str | None]]
    also: tuple[str, ...]
    grid: Any
    block: Any
    inputs: Callable
    answer: Callable
    shared_bytes: int = 0
    bug_grid: Any = None

    @property
    def expected(self):
        lines = self.lines
        return [Expected(kind, array, lines(one), lines(other)) for kind, array, one, other in self.finds]

    @property
    def kinds(self):
        return {e.kind for e in self.expected} | set(self.also)

    @cached_property
    def bug(self):
        return self._imported("bug")

    @cached_property
    def twin(self):
        return self._imported("twin")

    def text(self, which):
        """Return the text of the "bug" or of the "twin", after the device functions of its file that it calls."""
        text = "@cuda.jit" + inspect.getsource(self.safe.py_func).split("@cuda.jit", 1)[1]
        for old, new in [*self.common, *(self.edits if which == "bug" else [])]:
            text = edited(text, old, new)
        names = set(re.findall(r"\w+", text))
        called = [f.py_func for name, f in vars(self._module).items() if name in names and hasattr(f, "py_func")]
        own = [f for f in called if f.__module__ == self.safe.__module__ and f is not self.safe.py_func]
        return "\n\n".join([*map(inspect.getsource, own), text])

    def launch(self, which):
        """Return grid, block, stream and bytes of dynamic shared memory."""
        return (which == "bug" and self.bug_grid) or self.grid, self.block, 0, self.shared_bytes

    def arguments(self, seed=7):
        return self.inputs(np.random.default_rng(seed))

    def simulated(self, which, **options):
        """Return the run of a launch, which raises nothing for its findings, and the arguments after it."""
        arguments = self.arguments()
        return simulate(getattr(self, which), strict=False, **options)[self.launch(which)](*arguments), arguments

    def wrong(self, after):
        """Return the positions of the arrays that are not right after a launch."""
        return [k for k, right in self.answer(*self.arguments()).items() if not same(after[k], right)]

    def line(self, number, which="bug"):
        """Return the text of a line."""
        return self.text(which).splitlines()[number - 1].strip()

    def lines(self, part):
        """Return the numbers of the lines of the bug that contain a text; none for None."""
        lines = self.text("bug").splitlines() if part else []
        found = frozenset(number for number, line in enumerate(lines, 1) if part in line)
        if part and not found:
            raise LookupError(f"no line of {self.name} contains {part!r}")
        return found

    @property
    def _module(self):
        return sys.modules[self.safe.__module__]

    def _imported(self, which):
        path = Path(FOLDER.name, which, f"{self.name}.py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(self.text(which))
        names = dict(vars(self._module))
        exec(compile(path.read_text(), path, "exec"), names)
        return names[self.safe.__name__]


def same(got, right):
    """Compare with a tolerance for floats; NaN equals nothing."""
    if got.dtype.kind != "f":
        return got.shape == right.shape and bool((got == right).all())
    return got.shape == right.shape and np.allclose(got, right, rtol=1e-4, atol=1e-5)


def edited(text, old, new):
    """Return the text with `new` in the place of `old`; see BUGS."""
    first = old.split("\n")[0]
    places = []
    for start in (match.start() for match in re.finditer(re.escape(first), text)):
        indent = "\n" + re.match(" *", text[text.rfind("\n", 0, start) + 1 : start])[0]
        if text.startswith(old.replace("\n", indent), start):
            places.append((start, indent))
    if len(places) != 1:
        raise LookupError(f"{old!r} stands {len(places)} times in\n{text}")
    start, indent = places[0]
    text = text[:start] + new.replace("\n", indent) + text[start + len(old.replace("\n", indent)) :]
    return re.sub(r"^ +\n", "", text, flags=re.MULTILINE)


def safe(grid, block, arguments, answer, shared_bytes=0):
    """Say how a safe kernel is launched, and what it gives: see `Case`."""

    def enter(kernel):
        launch = {"grid": grid, "block": block, "shared_bytes": shared_bytes}
        LAUNCHES[kernel] = {**launch, "arguments": arguments, "answer": answer}
        return kernel

    return enter


def cases():
    """Return {name: case} of what stands in `BUGS`."""
    found = [read(row, kernel) for kernel, table in BUGS.items() for row in table.strip().split("\n\n")]
    return {case.name: case for case in sorted(found, key=lambda case: case.name)}


def read(row, kernel):
    """Return the case of a row of a table: see `BUGS`."""
    title, *lines = re.split(r"\n(?=[-+?@])", row)
    found = {**LAUNCHES[kernel], "edits": [], "common": [], "finds": [], "also": ()}
    last = ""
    for line in lines:
        sign, _, said = line.partition(" ")
        edits = found["common" if len(sign) == 2 else "edits"]
        if sign == "?":
            said, _, also = said.partition("~ ")
            found["finds"] += [finding(each) for each in said.strip().split("; ") if each]
            found["also"] += tuple(also.split())
        elif sign == "@":
            found |= eval(f"dict({said})", kernel.py_func.__globals__)
        elif "-" in sign and last != sign:
            edits.append(tuple(re.split(" -> ?", said)) if " ->" in said else (said, ""))
        else:
            old, new = edits.pop()
            edits.append((f"{old}\n{said}", "") if "-" in sign else (old, f"{new}\n{said}".lstrip("\n")))
        last = "" if " ->" in said else sign
    if not found["finds"] or not (found["edits"] or "bug_grid" in found):
        raise ValueError(f"nothing is changed, or nothing is expected to be found, in {row!r}")
    return Case(title.split(":")[0], kernel, inputs=found.pop("arguments"), **found)


def finding(text):
    """Return (kind, array, text in the line, text in the other line) of a text such as `race s: s[t] = | out[t] =`."""
    what, _, where = text.partition(": ")
    return (*[*what.split(), None][:2], *[*(where.split(" | ") if where else ()), None, None][:2])


def normal(rng, *shape):
    return rng.standard_normal(shape, np.float32)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def word(dtype=np.int32):
    """A word that holds 0."""
    return np.zeros(1, dtype)


def vector(n):
    """Return what makes n random numbers, and room for as many."""
    return lambda rng: (normal(rng, n), zeros(n))


def whole(low, high, n, *sizes):
    """Return what makes n random whole numbers, and zeros of these sizes."""
    return lambda rng: (rng.integers(low, high, n, np.int32), *(zeros(size, dtype=np.int32) for size in sizes))


def summed(position):
    """Return the answer of kernels that add up their first argument, in that one."""
    return lambda x, *rest: {position: np.array([x.sum()], np.int32)}


def factors(M, K, N):
    """Return what makes A (M×K), B (K×N) and room for C (M×N)."""
    return lambda rng: (normal(rng, M, K), normal(rng, K, N), zeros(M, N))


def product(A, B, C):
    return {2: A @ B}
