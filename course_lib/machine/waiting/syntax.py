"""Facts from a kernel's syntax tree alone: the names in expressions, their sums, and the functions that they call."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ...simulator.language.intrinsics import declared
from ...simulator.language.source import Source


@dataclass(eq=False)
class TracedFunction:
    """One function of the kernel's file: its loops, the values of its names, and its calls."""

    source: Source
    constants: dict[str, Any]
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.source.name

    def stands_for(self, node: ast.expr) -> Any:
        """Return the object that an expression of names and attributes denotes; None if only the threads know it."""
        if isinstance(node, ast.Attribute):
            return getattr(self.stands_for(node.value), node.attr, None)
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.source.locals:
            assigned = [n for n in ast.walk(self.source.tree) if isinstance(n, ast.Assign)]
            given = [n.value for n in assigned if _is_name(n.targets, node.id)]
            return self.stands_for(given[0]) if len(given) == 1 else None
        try:
            return self.source.lookup(node.id)
        except (KeyError, ValueError):
            return None


def _is_name(targets: Sequence[ast.expr], name: str) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name


def same_function(one: FunctionType, other: FunctionType) -> bool:
    """Whether two functions do the same: one function, or two of the same code with equal values in their closures."""
    return one is other or (one.__code__ == other.__code__ and not other_values(one, other))


def other_values(one: FunctionType, other: FunctionType) -> list[str]:
    """Return the names in the closures of two functions of the same code that have different values."""
    cells = zip(one.__closure__ or (), other.__closure__ or (), strict=True)
    both = zip(one.__code__.co_freevars, cells, strict=True)
    return [name for name, (a, b) in both if a is not b and not _same_value(_content(a), _content(b))]


def _content(cell: Any) -> Any:
    """Return the value of a name in a closure; the cell itself if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _same_value(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    plain = [getattr(each, "py_func", each) for each in (one, other)]
    if all(isinstance(each, FunctionType) for each in plain):
        return same_function(*plain)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_same_value, one, other))
    try:
        return bool(one == other)
    except Exception:  # from objects that cannot be compared
        return False


#: Key by which lowering knows a value: the function, and the name in it or "return".
Value = tuple[TracedFunction, str]


class Sum(NamedTuple):
    """An addition of varying values, as source, and the names in it; VARIED: one that differs if a loop is unrolled."""

    text: str
    names: frozenset[str]


VARIED = Sum("", frozenset())

#: Nodes that no compiler puts under a predicate, or that make a guard more than a choice between values.
FAR = (ast.Call, ast.Subscript, ast.For, ast.While, ast.Break, ast.Continue, ast.Return)


def within(node: ast.If) -> Iterator[ast.AST]:
    """Yield all nodes in both branches of an `if`."""
    for statement in (*node.body, *node.orelse):
        yield from ast.walk(statement)


def names_of(node: ast.AST) -> set[str]:
    """Return the names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def names_bound(loop: ast.AST) -> set[str]:
    """Return the names that the header of a loop assigns."""
    return {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)} if isinstance(loop, ast.For) else set()


def targets(node: ast.AST) -> tuple[str, ...]:
    """Return the names that an assignment assigns."""
    parts = [n for target in getattr(node, "targets", ()) for n in ast.walk(target)]
    return tuple(n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def head(node: ast.AST) -> ast.AST:
    """Return the part that a statement itself evaluates: of a compound one its test, or its iterable."""
    if isinstance(node, (ast.If, ast.While)):
        return node.test
    return node.iter if isinstance(node, ast.For) else node


def terms(node: ast.AST) -> list[ast.expr]:
    """Return the operands of `and` and `or` in the test of an `if` or a while loop."""
    if not isinstance(node, (ast.If, ast.While)):
        return []
    return node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]


def comparisons_in(term: ast.expr, moving: frozenset[str]) -> int:
    """Return how many comparisons with varying values a part of a test makes; testing a variable counts as one."""
    compared = sum(bool(names_of(n) & moving) for n in ast.walk(term) if isinstance(n, ast.Compare))
    return compared or int(bool(names_of(term) & moving))


def sums_in(node: ast.AST, moving: frozenset[str], varied: frozenset[str]) -> tuple[Sum, ...]:
    """Return the additions in an expression that have a varying operand; VARIED for one with `varied` names."""
    found = [(n, names_of(n)) for n in ast.walk(node) if isinstance(n, ast.BinOp)]
    return tuple(
        VARIED if names & varied else Sum(ast.unparse(n), frozenset(names)) for n, names in found if names & moving
    )


def intrinsic(function: TracedFunction, call: ast.Call) -> str:
    """Return the declared kind of the intrinsic that a call calls; "" for any other function."""
    kind = declared(function.stands_for(call.func))
    return str(kind[0]) if kind else ""


def range_of(function: TracedFunction, loop: ast.For) -> list[ast.expr]:
    """Return the arguments of the range that a loop iterates over; empty for anything else."""
    if isinstance(loop.iter, ast.Call) and function.stands_for(loop.iter.func) is range:
        return loop.iter.args
    return []


def subscript(function: TracedFunction, node: ast.AST, array: str) -> tuple[str, list[ast.expr], bool]:
    """Return how a statement indexes an array, "signed" or "unsigned", the indices, and whether a function guards."""
    node = head(node)
    for part in ast.walk(node):
        parts: list[ast.expr] = []
        while isinstance(part, ast.Subscript):
            parts = [*(part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]), *parts]
            part = part.value
        if parts and isinstance(part, ast.Name) and part.id == array:
            return ("unsigned" if any("uint" in ast.dump(each) for each in parts) else "signed"), parts, False
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    accesses = [(call, _arguments(function, call)) for call in calls]
    accesses.sort(key=lambda access: not any(_is_name([argument], array) for argument in access[1]))
    for call, arguments in accesses:
        if len(arguments) >= 3:
            guards = not intrinsic(function, call)
            return "unsigned", arguments[1:3], guards and "shared" not in array
    return "signed", [n for n in ast.walk(node) if isinstance(n, ast.Name)], False


def _arguments(function: TracedFunction, call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call of a function that takes an array, in the order of its parameters."""
    thing = function.stands_for(call.func)
    inner = getattr(thing, "py_func", None)
    if not isinstance(inner, FunctionType) or not call.keywords:
        return call.args if thing is not None and (inner is not None or declared(thing)) else []
    parameters = list(inspect.signature(inner).parameters)
    given = {str(keyword.arg): keyword.value for keyword in call.keywords}
    return [*call.args, *(given[name] for name in parameters[len(call.args) :] if name in given)]
