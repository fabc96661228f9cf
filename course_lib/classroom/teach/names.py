"""The meaning of an answer's names: imports and constants of a list of allowed ones, read without executing them."""

import ast
import importlib
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numba import cuda, types

from ...simulator.language.source.literals import python_constant
from .interpreter import assigned_in
from .interpreter.functions import BUILTINS

#: The modules that an answer may import, or import from.
MODULES = (
    "numpy",  # the interpreter lists the parts of this one, and of those up to functools
    "numpy.linalg",
    "math",
    "statistics",
    "itertools",
    "functools",
    "numba",
    "numba.cuda",
    "numba.types",
)
#: Of this module only what a kernel calls, and numbers.
KERNELS = "course_lib.kernels"
#: Whole numbers have fewer bits: squares of squares would take hours.
_BITS = 128


class Unknown(Exception):
    """The value is no constant that is read from the text."""


def names_of(cells: Iterable[ast.Module]) -> dict[str, Any]:
    """Return the names that the cells define at their top level, in order: a later definition replaces an earlier one.

    A name that something else binds later, such as a loop or a call, is left out: its value is not read.
    """
    names: dict[str, Any] = {"__builtins__": BUILTINS, "__name__": "answer"}
    changed_by_functions = set[str]()
    for tree in cells:
        for statement in tree.body:
            read = dict(_defined(statement, names))
            for name in assigned_in([statement]) - read.keys() - _imported_again(statement, names):
                names.pop(name, None)
            names.update(read)
        changed_by_functions.update(*(node.names for node in ast.walk(tree) if isinstance(node, ast.Global)))
    return {name: thing for name, thing in names.items() if name not in changed_by_functions}


def _imported_again(statement: ast.stmt, names: dict[str, Any]) -> set[str]:
    """The names that imports inside a statement, such as a ``try``, give what they have already."""
    imports = (node for node in ast.walk(statement) if isinstance(node, ast.Import | ast.ImportFrom))
    return {name for node in imports for name, thing in _defined(node, names) if names.get(name) is thing}


def _defined(statement: ast.stmt, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names that a statement binds to what is read from it: imports on the list, and constants."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name in MODULES:
                top = alias.name if alias.asname else alias.name.split(".")[0]
                yield alias.asname or top, importlib.import_module(top)
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names if statement.level == 0 else ():
            for name in public(str(statement.module)) if alias.name == "*" else [alias.name]:
                if (thing := _imported(str(statement.module), name)) is not None:
                    yield alias.asname or name, thing
    elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        try:
            value = constant(statement.value, names)
        except Unknown:
            return
        for target in targets:
            yield from _bound(target, value)


def public(module: str) -> list[str]:
    """The names that ``from module import *`` binds; none of a module that an answer may not import."""
    if module not in (*MODULES, KERNELS):
        return []
    imported = importlib.import_module(module)
    return getattr(imported, "__all__", [name for name in dir(imported) if name[0] != "_"])


def _imported(module: str, name: str) -> Any:
    """Return what ``from module import name`` gives; None if the name is not on the list."""
    if name.startswith("_"):
        return None
    if module in MODULES:
        return getattr(importlib.import_module(module), name, None)
    if module == KERNELS or module.startswith(KERNELS + "."):
        thing = getattr(importlib.import_module(KERNELS), name, None)
        device = getattr(thing, "targetoptions", {}).get("device", False)
        return thing if device or hasattr(thing, "__simulated_as__") or isinstance(thing, int | float) else None
    return None


def _bound(target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
        for part, item in zip(target.elts, value, strict=True):
            yield from _bound(part, item)


def constant(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of a number, a text, a type, a tuple of such, or arithmetic on numbers; raise Unknown."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex | str):
        return node.value
    if isinstance(node, ast.Name) and _is_constant(names.get(node.id)):
        return names[node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = names.get(node.value.id)
        is_read = module in (np, math, cuda, types) and not node.attr.startswith("_")
        thing = getattr(module, node.attr, None) if is_read else None
        if _is_constant(thing):
            return thing
    if isinstance(node, ast.Tuple):
        return tuple(constant(part, names) for part in node.elts)
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        fields: dict[str, Any] = {name: _literal(part, names) for name, part in ast.iter_fields(node)}
        value = python_constant(type(node)(**fields))
        if value is not None and not (isinstance(value, int) and value.bit_length() > _BITS):
            return value
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        kind, value = constant(node.func, names), constant(node.args[0], names)
        if not isinstance(value, tuple | str | type) and (isinstance(kind, type) or isinstance(kind, types.Number)):
            # A numba type is called for a constant of this type: NumPy's of the same name.
            scalar = kind if isinstance(kind, type) else getattr(np, str(kind), None)
            if scalar is not None:
                return scalar(value)
    raise Unknown


def _literal(part: ast.AST, names: dict[str, Any]) -> ast.AST:
    return ast.Constant(constant(part, names)) if isinstance(part, ast.expr) else part


def _is_constant(thing: Any) -> bool:
    if isinstance(thing, tuple):
        return all(map(_is_constant, thing))
    number = isinstance(thing, int | float | complex | str | np.number | types.Type)
    return number or (isinstance(thing, type) and issubclass(thing, np.generic))
