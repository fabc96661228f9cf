"""A kernel of two or three dimensions in a launch that has fewer: part of its results is stored by no thread."""

import ast
from typing import Any

import numpy as np

from ..findings import Finding
from ..lanes.access import Site
from ..lanes.arrays import Array, Pattern, Watcher
from ..lanes.memory import GlobalArray
from ..launch.prepare import Prepared
from ..observer import Observer

AXES = "xyz"
NUMBERS = {1: "one dimension", 2: "two dimensions"}


class DimensionsObserver(Observer):
    """Watches stores where the kernel reads a coordinate that is 0 in every thread of this launch.

    It reports an array of several dimensions of which every stored element has the index 0 in one dimension.
    """

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        grid, block = prepared.launch.grid, prepared.launch.block
        sizes = [blocks * threads for blocks, threads in zip(grid, block, strict=True)]
        # a launch of one thread is meant, and so is one along x: it is y and z that a launch by two numbers lacks
        self._flat = {axis for axis, size in zip(AXES, sizes, strict=True) if size == 1 < max(sizes) and axis != "x"}
        read = {axis: text for source in prepared.unit.sources for axis, text in _axes_read(source.tree).items()}
        self._missing = {axis: read[axis] for axis in sorted(self._flat & read.keys())}
        self._stores: dict[str, _Stores] = {}

    def watch(self, array: Array) -> Watcher | None:
        if not (self._missing and isinstance(array, GlobalArray) and array.ndim > 1):
            return None
        return self._stores.setdefault(array.name, _Stores(array))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(found for stores in self._stores.values() if (found := self._found(stores)) is not None)

    def _found(self, stores: "_Stores") -> Finding | None:
        array, dimension = stores.array, stores.only_zero()
        if dimension is None:
            return None
        missing = array.size - np.count_nonzero(stores.stored)
        (axis, read), *_ = self._missing.items()
        needed = 1 + max(map(AXES.index, self._missing))
        said = (
            f"{missing:,} of the {array.size:,} elements of {array.name} are stored by no thread, among them all with "
            f"an index above 0 in dimension {dimension}: the kernel uses {read}, and {self._extent(axis)}, so {axis} "
            f"is 0 in every thread; give the grid and the block {needed} numbers each, as in "
            f"[{(2,) * needed}, {(8,) * needed}]"
        )
        return Finding("missing-dimension", stores.line, said, array=array.name)

    def _extent(self, axis: str) -> str:
        """Why a coordinate is 0: how many dimensions the launch has, or that it has one thread along this axis."""
        if self._flat >= set(AXES[AXES.index(axis) :]):
            return f"the launch has {NUMBERS[AXES.index(axis)]}"
        return f"the grid and the block are 1 in {axis}"


class _Stores:
    """Which elements of an array the launch has stored, and the first line that did."""

    def __init__(self, array: GlobalArray) -> None:
        self.array, self.line = array, 0
        self.stored = np.zeros(array.size, bool)

    def __call__(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        if site.op != "load":
            self.line = self.line or site.line
            self.stored[pattern.words(base)[0]] = True  # a store of several elements comes once for each

    def only_zero(self) -> int | None:
        """The first dimension of which only index 0 was stored, and which has more; None if there is none."""
        offsets = np.flatnonzero(self.stored)
        for dimension, index in enumerate(self.array.index_of(offsets)):  # type: ignore[arg-type]
            if offsets.size and self.array.shape[dimension] > 1 and not np.any(index):
                return dimension
        return None


def _axes_read(tree: ast.AST) -> dict[str, str]:
    """The axes of the thread's or the block's position that a function reads, each with the text that reads it."""
    axes: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Attribute(attr=name) | ast.Name(name), axis) if name in ("threadIdx", "blockIdx"):
                axes.setdefault(axis, ast.unparse(node))
            case ast.Call(ast.Attribute(attr="grid") | ast.Name("grid"), [ast.Constant(int() as dimensions)]):
                axes.update(dict.fromkeys(AXES[:dimensions], ast.unparse(node)))
    return axes
