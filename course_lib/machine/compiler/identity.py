"""What a kernel is to the compiler: its text, without comments and docstrings, and the values that it uses."""

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

#: The compute capability for which kernels are compiled: that of the GPUs whose measurements come with the course.
HOPPER = (9, 0)


def functions_of(plain: FunctionType) -> dict[str, FunctionType]:
    """Return a kernel and the Python functions that it calls, directly or not, by their names; the kernel last."""
    found: dict[str, FunctionType] = {}

    def visit(function: FunctionType) -> None:
        for value in _used(function).values():
            called = getattr(value, "py_func", value)
            if isinstance(called, FunctionType) and called.__name__ not in found and called is not plain:
                if called.__module__.partition(".")[0] not in ("numba", "numpy"):
                    found[called.__name__] = called
                    visit(called)

    visit(plain)
    return {**found, plain.__name__: plain}


def digest(kernel: Any, types: Sequence[Any], options: dict[str, Any]) -> str:
    """Return a key that kernels share which compile to the same code: not their comments, names of files, lines."""
    plain = getattr(kernel, "py_func", kernel)
    parts = [f"{HOPPER}", *map(str, types), *(f"{name}={value}" for name, value in options.items())]
    for function in functions_of(plain).values():
        parts.append(_text(function))
        for name, value in sorted(_used(function).items()):
            if isinstance(value, int | float | bool | str | np.generic | tuple):
                parts.append(f"{name}={value!r}")
            elif isinstance(value, np.ndarray):
                parts.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _used(function: FunctionType) -> dict[str, Any]:
    """Return the values of the names that a function takes from outside: of its closure, of its module."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    found = {name: cell.cell_contents for name, cell in cells.items()}
    found |= {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    for module in [value for value in found.values() if isinstance(value, ModuleType)]:
        if module.__name__.partition(".")[0] not in ("numba", "numpy", "math"):
            found |= {name: getattr(module, name) for name in code.co_names if hasattr(module, name)}
    return found


def _text(function: FunctionType) -> str:
    """Return a function's source as its syntax tree has it, without decorators and docstring."""
    tree = _tree(function)
    tree.decorator_list, tree.body = [], tree.body or [ast.Pass()]
    return ast.unparse(tree)


def _tree(function: FunctionType) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    del tree.body[: ast.get_docstring(tree, clean=False) is not None]
    return tree


def outline(function: FunctionType) -> list[int]:
    """Return the lines of a function that hold code, counted from its first one: `def`, and its body's lines."""
    tree = _tree(function)
    lines = {node.lineno - 1 for each in tree.body for node in ast.walk(each) if hasattr(node, "lineno")}
    return sorted({0, tree.lineno - 1, *lines})
