"""Find the place of an unknown mistake: change one name or number of an index, and launch the kernel again.

As in `repairs`, a result is certain: with that one change the kernel gives the right values. The advice names the
place, but not the change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType

from .causes import Cause
from .repairs import Candidate, repaired
from .source import Submission

#: Limit for the nodes of syntax of all changed kernels together, so that a student need not wait. A wrong kernel fails
#: at its first launch, after 25 to 60 µs for each node.
_MOST_NODES = 50_000
#: The comment above the lines that a student writes.
_MARK = "# your code here"


def cause_by_place(source: Submission, is_right: Callable[[FunctionType], bool]) -> Cause | None:
    """The line and the expression in which one change makes ``is_right(kernel)`` true, or None."""
    if source.tree is None:
        return None
    most = _MOST_NODES // sum(1 for _ in ast.walk(source.tree))
    written = min((number for number, line in source.lines.items() if _MARK in line), default=0)
    # lines above the mark are the lesson's: the student's lines come first
    candidates = sorted(_candidates(source.tree), key=lambda candidate: candidate[1].line < written)
    for changes, cause in candidates[:most]:
        if is_right(repaired(source, changes)):
            return cause
    return None


def _candidates(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """The changes; kinds with few changes come first."""
    yield from _subtracted(tree)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and not _is_shape(node)]
    arrays = sorted({place.value.id for place in places if isinstance(place.value, ast.Name)} | _parameters(tree))
    names = sorted({node.id for place in places for node in ast.walk(place.slice) if isinstance(node, ast.Name)})
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    counted = [loop.target.id for loop in loops if isinstance(loop.target, ast.Name)]
    statements, sums = _statements(tree), _sums(tree)
    found: list[list[Candidate]] = [
        [(change, _look_at(place)) for place in places for change in _indices_exchanged(place)],
        [(change, _look_at(place)) for place in places for change in _other_array(place, arrays)],
        [(change, _look_at(part)) for part in statements for change in _other_sums(part, sums)],
        [(change, _look_at(part)) for part in statements for change in _other_directions(part)],
        [(change, _look_at(part)) for part in statements for change in _other_names(_without_arrays(part), names)],
        [(change, _look_at(place)) for place in places for change in _other_names(place.slice, names)],
        [(change, _look_at(part)) for part in statements for change in _other_name_throughout(part, names)],
        [(change, _look_at(place)) for place in places for change in _something_added(place, counted)],
        [(change, _look_at(part)) for part in statements for change in _other_numbers(part)],
    ]
    for kind in sorted(found, key=len):
        yield from kind


def _look_at(place: ast.expr | ast.stmt) -> Cause:
    text = ast.unparse(place).splitlines()[0].rstrip(":")
    return Cause(place.lineno, f"look at `{text}`: one name or number of it is not the right one.")


def _is_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _subtracted(tree: ast.FunctionDef) -> Iterator[Candidate]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub):
            text = ast.unparse(node.target)
            yield (
                ((node, ast.AugAssign(node.target, ast.Add(), node.value)),),
                Cause(node.lineno, f"`{text} -= …` subtracts; a sum needs `{text} += …`."),
            )


Change = tuple[tuple[ast.AST, ast.AST], ...]


def _indices_exchanged(place: ast.Subscript) -> Iterator[Change]:
    if isinstance(place.slice, ast.Tuple) and len(place.slice.elts) == 2:
        yield ((place.slice, ast.Tuple(place.slice.elts[::-1], ast.Load())),)


def _other_array(place: ast.Subscript, arrays: list[str]) -> Iterator[Change]:
    for array in arrays:
        if array != ast.unparse(place.value):
            yield ((place.value, ast.Name(array, ast.Load())),)


def _other_names(part: ast.AST | None, names: list[str]) -> Iterator[Change]:
    """Another name of those used in indices."""
    for node in ast.walk(part) if part is not None else ():
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            yield from (((node, ast.Name(name, ast.Load())),) for name in names if name != node.id)


def _other_name_throughout(part: ast.expr | ast.stmt, names: list[str]) -> Iterator[Change]:
    """Another name, in all its places in a statement: in an index, and in the guard of that index."""
    used = [node for node in ast.walk(part) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for name in names:
        same = [node for node in used if node.id == name]
        for other in names if len(same) > 1 else ():
            if other != name:
                yield tuple((node, ast.Name(other, ast.Load())) for node in same)


def _other_directions(statement: ast.expr | ast.stmt) -> Iterator[Change]:
    """x for y, or y for x, in the number of a block or a thread."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and node.attr in ("x", "y") and isinstance(node.value, ast.Attribute):
            yield ((node, ast.Attribute(node.value, "y" if node.attr == "x" else "x", ast.Load())),)


def _other_sums(statement: ast.expr | ast.stmt, sums: list[str]) -> Iterator[Change]:
    """Another of the variables that are added to."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and node.id in sums:
            yield from (((node, ast.Name(name, node.ctx)),) for name in sums if name != node.id)


def _sums(tree: ast.FunctionDef) -> list[str]:
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    loaded = {
        node.value.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    }
    return sorted({name for name in stored if stored.count(name) > 1} | loaded & set(stored))


def _without_arrays(statement: ast.expr | ast.stmt) -> ast.AST | None:
    """The part of a statement without array elements: a comparison, or the computation of an index."""
    part = (
        statement.value if isinstance(statement, ast.Assign) else statement if isinstance(statement, ast.expr) else None
    )
    has_elements = part is not None and any(
        isinstance(node, ast.Subscript) and not _is_shape(node) for node in ast.walk(part)
    )
    return None if has_elements else part


def _parameters(tree: ast.FunctionDef) -> set[str]:
    return {argument.arg for argument in tree.args.args[:-1]}


def _something_added(place: ast.Subscript, counted: list[str]) -> Iterator[Change]:
    """The counter of a loop is missing from an index."""
    used = {node.id for node in ast.walk(place.slice) if isinstance(node, ast.Name)}
    for index in place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]:
        for name in counted:
            if name not in used:
                yield ((index, ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), index)),)


def _statements(tree: ast.FunctionDef) -> list[ast.expr | ast.stmt]:
    """The parts of the kernel in which a number may be one too many."""
    found: list[ast.expr | ast.stmt] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            found.append(node.iter)
        elif isinstance(node, ast.If):
            found.append(node.test)
        elif isinstance(node, ast.Assign | ast.AugAssign):
            found.append(node)
    return found


def _other_numbers(statement: ast.expr | ast.stmt) -> Iterator[Change]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield from (((node, ast.parse(str(node.value + by), mode="eval").body),) for by in (-1, 1))
