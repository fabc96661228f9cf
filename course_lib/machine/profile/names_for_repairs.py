"""The names that a repair may write: their value is sure where the kernel is.

A name that a loop or another statement binds again, that is a parameter of a factory, or that a variable of the kernel
hides, may mean something else in the next launch.
"""

import ast
import linecache
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...simulator.language.source.function import Source
from ...simulator.language.source.names import is_cuda_module
from ...simulator.language.types.types_of_objects import dtype_name

#: Packages with the decorator of kernels, and modules that have their types.
NUMBA = ("numba", "numba_cuda_mlir")
TYPES = (*NUMBA, *(f"{package}.types" for package in NUMBA))


def sure_names(source: Source, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the names outside a kernel whose value is sure, with their ``values``."""
    outside = {name: value for name, value in values.items() if name not in source.locals}
    tree = _module(source)
    if tree is None:
        own = {name: value for name, value in outside.items() if _is_usual(name, value)}
        return own | {name: value for name, value in outside.items() if name == "float32" and is_float32(value)}
    around = _around(tree, source)
    if around is None:
        return {}
    scopes = [(scope, _bindings(scope, tree)) for scope in around]
    stars = _stars(tree)
    return {
        name: value
        for name, value in outside.items()
        if _has_one_origin(name, source, tree, scopes)
        and not any(_gives_another(star, name, value, source) for star in stars)
    }


def _has_one_origin(
    name: str, source: Source, tree: ast.Module, scopes: Sequence[tuple[ast.AST, Mapping[str, Sequence[ast.AST]]]]
) -> bool:
    """Whether a name is bound by imports of one thing alone, or in the module by one assignment of another name.

    ``scopes``: those around the kernel, the innermost first, with their bindings.
    """
    innermost = next(((scope, bound[name]) for scope, bound in scopes if name in bound), None)
    if innermost is None:  # an import of all names may bind it
        return name in source.function.__globals__ and any("*" in bound for scope, bound in scopes if scope is tree)
    scope, bindings = innermost
    is_free = name in source.function.__code__.co_freevars
    if is_free == (scope is tree):
        return False
    if scope is tree and len(bindings) == 1:
        (binding,) = bindings
        if isinstance(binding, ast.Assign) and _is_name(binding.value):
            return True
    origins = {_imported(binding, name) for binding in bindings}
    return len(origins) == 1 and "" not in origins


def _stars(tree: ast.Module) -> list[ast.ImportFrom]:
    """Return the imports of all names of a module."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return [node for node in nodes if node.names[0].name == "*"]


def _gives_another(star: ast.ImportFrom, name: str, value: Any, source: Source) -> bool:
    """Whether an import of all names may bind a name to another value, now or in a later statement."""
    package = source.function.__globals__.get("__package__") or ""
    parts = package.split(".")[: len(package.split(".")) - star.level + 1] if star.level else []
    module = sys.modules.get(".".join([*parts, *([star.module] if star.module else [])]))
    if module is None:  # it was not imported yet
        return True
    own = getattr(module, "__all__", None)
    hidden = name not in own if own is not None else name.startswith("_")
    return not hidden and getattr(module, name, value) is not value


def is_float32(value: Any) -> bool:
    """Whether this is NumPy's or numba's float32."""
    return value is np.float32 or (not isinstance(value, str | type | np.dtype) and dtype_name(value) == "float32")


def is_module(value: Any, names: Iterable[str]) -> bool:
    """Whether this is a module of one of these names."""
    return isinstance(value, ModuleType) and value.__name__ in names


def _is_usual(name: str, value: Any) -> bool:
    """Whether a name outside the kernel means what it usually does; the rest of a notebook's module is not known."""
    if name in ("np", "numpy"):
        return value is np
    return is_cuda_module(value) if name == "cuda" else name in ("numba", "nb") and is_module(value, NUMBA)


def _module(source: Source) -> ast.Module | None:
    """Return the tree of the kernel's file; None if it is in none."""
    path = source.filename
    if not os.path.isfile(path):
        return None
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return None


def _around(tree: ast.Module, source: Source) -> list[ast.AST] | None:
    """Return the functions around a kernel, innermost first, and its module; None if it is not in it."""

    def search(node: ast.AST, above: list[ast.AST]) -> list[ast.AST] | None:
        for child in ast.iter_child_nodes(node):
            here = isinstance(child, ast.FunctionDef | ast.Lambda) and child.lineno == source.tree.lineno
            if here and getattr(child, "name", source.name) == source.name:
                return above
            inside = [child, *above] if isinstance(child, _FUNCTIONS) else above
            if (found := search(child, inside)) is not None:
                return found
        return None

    return search(tree, [tree])


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _bindings(scope: ast.AST, module: ast.Module) -> dict[str, list[ast.AST]]:
    """Return the statements and expressions that bind each name of a scope; one that may run again counts twice."""
    found: dict[str, list[ast.AST]] = {}
    for name, node, again in _bound(scope, False):
        found.setdefault(name, []).extend([node] * (1 + again))
    if scope is module:
        for function in ast.walk(module):
            if isinstance(function, _FUNCTIONS):
                declared = {name for node in _own(function) if isinstance(node, ast.Global) for name in node.names}
                for name, node, _ in _bound(function, True):
                    if name in declared:
                        found.setdefault(name, []).extend([node] * 2)
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of the functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield from _own(child)


def _bound(node: ast.AST, again: bool) -> Iterator[tuple[str, ast.AST, bool]]:
    """Yield (name, what binds it, whether that may run again) of a scope."""
    if isinstance(node, _FUNCTIONS):
        yield from ((each.arg, each, False) for each in ast.walk(node.args) if isinstance(each, ast.arg))
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    for child in parts:
        loops = again or isinstance(child, ast.For | ast.AsyncFor | ast.While)
        match child:
            case ast.Import(names) | ast.ImportFrom(names=names):
                for each in names:
                    yield each.asname or each.name.partition(".")[0], child, again
                continue
            case ast.Assign(targets=[ast.Name(name)]):
                yield name, child, again
                yield from _bound(child.value, again)
                continue
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name, child, True
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name, child, True
                continue
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, child, True
            case ast.Lambda():
                continue
        yield from _bound(child, loops)


def _imported(binding: ast.AST, name: str) -> str:
    """Return what an import binds to a name; "" if this is no import."""
    names = binding.names if isinstance(binding, ast.Import | ast.ImportFrom) else ()
    package = f"from {'.' * binding.level}{binding.module} " if isinstance(binding, ast.ImportFrom) else ""
    found = (each.name for each in names if (each.asname or each.name.partition(".")[0]) == name)
    return next((f"{package}import {each}" for each in found), "")


def _is_name(value: ast.expr) -> bool:
    """Whether this is a name, perhaps with attributes: ``np.float32``."""
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)
