"""A kernel of two or three dimensions in a launch that has fewer: part of its results is stored by no thread."""

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from ..findings import Finding
from ..language.source.function import Source
from ..launch.prepare import Prepared
from ..observer import Observer
from ..runtime.access import Site
from ..runtime.arrays import Array, Pattern, Watcher
from ..runtime.memory import GlobalArray

AXES = "xyz"
VECTORS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
#: Names of numbers outside the kernel, with their values.
Numbers = tuple[tuple[str, int], ...]
NUMBERS = {1: "one dimension", 2: "two dimensions"}


class DimensionsObserver(Observer):
    """Watches stores where the kernel reads a coordinate that is 0 in every thread of this launch.

    It reports an array of several dimensions if every stored element has the index 0 in one of them, and the kernel
    computes that index from the coordinate, and from none that the launch has: that one could give other indices. Of
    an array of one dimension that holds rows one after another, it reports that only the first row is stored, if the
    kernel multiplies the coordinate for the index.
    """

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        launch = prepared.launch
        # one thread is meant, and so is a size of 1 that was given
        flat = AXES[launch.dimensions :] if launch.blocks * launch.threads_per_block > 1 else ""
        trees = tuple(source.tree for source in prepared.compiled.sources)
        numbers: list[tuple[str, int]] = []
        of_axes: list[Coordinate] = []
        if flat:
            for source in prepared.compiled.sources:
                numbers += _numbers(source)
            of_axes = [coordinate_of(axis, prepared.source.tree, trees, tuple(numbers)) for axis in AXES]
        #: those of the axes that the launch lacks, and those of its own
        self._coordinates = of_axes[launch.dimensions :]
        self._others = of_axes[: launch.dimensions]
        self._stores: dict[str, Stores] = {}

    def watch(self, array: Array) -> Watcher | None:
        read = any(coordinate.text for coordinate in self._coordinates)
        if not (read and isinstance(array, GlobalArray) and array.ndim):
            return None
        return self._stores.setdefault(array.name, Stores(array))

    @property
    def findings(self) -> tuple[Finding, ...]:
        found = []
        for stores in self._stores.values():
            rows = stores.array.ndim == 1
            dimensions = stores.first_row() if rows else stores.dimensions_of_zeros()
            for dimension in dimensions[:1]:
                for coordinate in self._coordinates:
                    if all(coordinate.gives(line, dimension, self._others, rows=rows) for line in stores.lines):
                        found.append(self._finding(stores, dimension, coordinate))
        return tuple(found)

    def findings_so_far(self) -> tuple[Finding, ...]:
        """Return nothing: the elements that are not stored yet may be stored later."""
        return ()

    def _finding(self, stores: "Stores", dimension: int, coordinate: "Coordinate") -> Finding:
        array, axis = stores.array, coordinate.axis
        needed = 1 + AXES.index(axis)
        missing = array.size - np.count_nonzero(stores.stored)
        above = "an index above 0" + (f" in dimension {dimension}" if array.ndim > 1 else " for the row")
        said = (
            f"{missing:,} of the {array.size:,} elements of {array.name} are stored by no thread, among them all with "
            f"{above}: the kernel uses {coordinate.text}, and the launch has "
            f"{NUMBERS[self.launch.dimensions]}, so {axis} is 0 in every thread; give the grid and the block {needed} "
            f"numbers each, as in [{(2,) * needed}, {(8,) * needed}]"
        )
        return Finding("missing-dimension", min(stores.lines), said, array=array.name)


class Stores:
    """Which elements of an array the launch has stored, and the lines that did."""

    def __init__(self, array: GlobalArray) -> None:
        self.array = array
        self.lines: set[int] = set()
        self.stored = np.zeros(array.size, bool)

    def __call__(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        if site.op != "load":
            self.lines.add(site.line)
            self.stored[pattern.keys_and_lanes(base)[0]] = True  # a store of several elements comes once for each

    def dimensions_of_zeros(self) -> list[int]:
        """The dimensions of several elements of which only index 0 was stored; none if nothing was."""
        offsets = np.flatnonzero(self.stored)
        indices = self.array.index_of(offsets)  # type: ignore[arg-type]
        pairs = enumerate(zip(indices, self.array.shape, strict=True))
        return [d for d, (index, size) in pairs if offsets.size and size > 1 and not np.any(index)]

    def first_row(self) -> list[int]:
        """The dimension of an array of several rows, one after another, of which exactly the first was stored."""
        width = int(np.count_nonzero(self.stored))
        if not width or not self.stored[:width].all():
            return []
        several_rows = self.stored.size > width and self.stored.size % width == 0
        return [0] if several_rows else []


class Coordinate:
    """What a kernel computes from the thread's or the block's position along an axis, as its text says.

    ``text`` is what reads the position; it is empty if nothing does.
    """

    def __init__(
        self, axis: str, kernel: ast.FunctionDef, functions: tuple[ast.FunctionDef, ...], numbers: Numbers = ()
    ) -> None:
        self.axis, self.text = axis, ""
        self._numbers = dict(numbers)
        self._functions: set[str] = set()
        self._names: set[str] = set()
        self._values: dict[str, list[ast.expr]] = {}  # what is assigned to each name
        others = [function for function in functions if function is not kernel]
        self._functions = {function.name for function in others if self._reads(function)}
        assignments = [node for node in ast.walk(kernel) if isinstance(node, (ast.Assign, ast.AugAssign, ast.For))]
        for node in assignments:
            self._note(node)
        before = -1
        while len(self._names) > before:
            before = len(self._names)
            for node in assignments:
                self._assign(node)
        self._reads(kernel)
        self._indices: dict[int, list[list[ast.expr]]] = {}
        for statement in ast.walk(kernel):
            for index in _stored_indices(statement):
                line = index[0].lineno if index else 0
                self._indices.setdefault(line, []).append(index)

    def gives(self, line: int, dimension: int, others: "Sequence[Coordinate]", *, rows: bool = False) -> bool:
        """Whether all that this line of the kernel stores has an index in this dimension that is computed from it.

        It must not be computed from one of the ``others``. ``rows``: it is multiplied in the index, by itself: with an
        offset, as in ``(first + y) * width``, a launch is one of several.
        """
        stored = self._indices.get(line, [])
        if any(len(index) <= dimension for index in stored):
            return False
        through = self._multiplied if rows else self._decides
        return bool(stored) and all(through(index[dimension], others) for index in stored)

    def _decides(self, part: ast.AST, others: "Sequence[Coordinate]") -> bool:
        return self._reads(part) and not any(other._reads(part) for other in others)

    def _multiplied(self, index: ast.AST, others: "Sequence[Coordinate]") -> bool:
        sides: list[ast.expr] = []
        for node in ast.walk(index):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                sides += [node.left, node.right]
        return any(self._decides(side, others) and self._alone(side) for side in sides)

    def _alone(self, node: ast.AST, within: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is computed from positions and sizes of the launch alone; ``within`` these names."""
        match node:
            case ast.Name(name) if name not in within:
                values = self._values.get(name, [])
                return bool(values) and all(self._alone(value, within | {name}) for value in values)
            case ast.Attribute(ast.Attribute(attr=name) | ast.Name(name), _):
                return name in VECTORS
            case ast.Subscript(ast.Call(function)) | ast.Call(function):
                return _is_grid(function)
            case ast.BinOp(left, ast.Add() | ast.Mult(), right):
                return self._alone(left, within) and self._alone(right, within)
        return False

    def _note(self, node: ast.Assign | ast.AugAssign | ast.For) -> None:
        for name, value in _assigned(node):
            self._values.setdefault(name, []).append(value)
            if isinstance(value, ast.Constant) and type(value.value) is int and isinstance(node, ast.Assign):
                self._numbers.setdefault(name, value.value)

    def _assign(self, node: ast.Assign | ast.AugAssign | ast.For) -> None:
        for name, value in _assigned(node):
            if self._reads(value):
                self._names.add(name)

    def _reads(self, node: ast.AST) -> bool:
        """Whether an expression, or a function, depends on the position along the axis."""
        match node:
            case ast.Attribute(ast.Attribute(attr=name) | ast.Name(name), axis) if name in ("threadIdx", "blockIdx"):
                return self._found(node, axis == self.axis)
            case ast.Subscript(ast.Call(function, [_]), ast.Constant(int() as number)) if _is_grid(function):
                return self._found(node.value, AXES[number : number + 1] == self.axis)
            case ast.Call(function, [ast.Constant(int() as dimensions)]) if _is_grid(function):
                return self._found(node, self.axis in AXES[:dimensions])
            case ast.Call(function, [ast.Name(name)]) if _is_grid(function) and name in self._numbers:
                return self._found(node, self.axis in AXES[: self._numbers[name]])
            case ast.Call(ast.Name(name)) if name in self._functions:
                return True
            case ast.Name(name):
                return name in self._names
        return any([self._reads(child) for child in ast.iter_child_nodes(node)])

    def _found(self, node: ast.AST, reads: bool) -> bool:
        if reads and not self.text:
            self.text = ast.unparse(node)
        return reads


@lru_cache(maxsize=256)  # a program launches a kernel many times
def coordinate_of(
    axis: str, kernel: ast.FunctionDef, functions: tuple[ast.FunctionDef, ...], numbers: Numbers
) -> Coordinate:
    return Coordinate(axis, kernel, functions, numbers)


def _numbers(source: Source) -> Iterator[tuple[str, int]]:
    """The numbers outside a function that it names as those of dimensions: N of ``cuda.grid(N)``."""
    for name in _names_of_dimensions(source.tree):
        with suppress(KeyError, ValueError):  # it has no value yet
            value = source.lookup(name)
            if name not in source.locals and type(value) is int:
                yield name, value


@lru_cache(maxsize=256)
def _names_of_dimensions(tree: ast.FunctionDef) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_grid(node.func):
            names += [part.id for part in node.args if isinstance(part, ast.Name)]
    return tuple(names)


def _assigned(node: ast.Assign | ast.AugAssign | ast.For) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds, with the expression of each."""
    value = node.iter if isinstance(node, ast.For) else node.value
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        items = target.elts if isinstance(target, ast.Tuple) else [target]
        for number, item in enumerate(items):
            if isinstance(item, ast.Name):
                yield item.id, _item(value, number, len(items))


def _is_grid(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name == "grid"


def _item(value: ast.expr, number: int, count: int) -> ast.expr:
    """The expression of an item of a tuple that is unpacked."""
    if isinstance(value, ast.Tuple) and len(value.elts) == count > 1:
        return value.elts[number]
    if isinstance(value, ast.Call) and _is_grid(value.func) and count > 1:
        return ast.Subscript(value, ast.Constant(number), ast.Load())
    return value


def _stored_indices(node: ast.AST) -> list[list[ast.expr]]:
    """The indices of the elements that a statement stores, or an atomic operation updates."""
    places: list[ast.expr] = []
    match node:
        case ast.Assign(targets):
            for target in targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                places += [part.slice for part in parts if isinstance(part, ast.Subscript)]
        case ast.AugAssign(ast.Subscript(slice=index)):
            places = [index]
        case ast.Call(ast.Attribute(ast.Attribute(attr="atomic")), [_, index, *_]):
            places = [index]
        case ast.Expr(ast.Call(_, [_, ast.expr(), *_]) as call):  # store4(C, row, column, values)
            first = call.args[1]
            places = [first if isinstance(first, ast.Tuple) else ast.Tuple(call.args[1:], ast.Load())]
    return [place.elts if isinstance(place, ast.Tuple) else [place] for place in places]
