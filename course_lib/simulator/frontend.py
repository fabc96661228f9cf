"""From a kernel object to its syntax tree, with lines numbered as the student sees them."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import sys
import textwrap
import weakref
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType

import numpy as np

from .findings import UnsupportedKernelError
from .typing_rules import SCALARS


@dataclass(frozen=True)
class Source:
    """A function's tree (line numbers are the file's or the cell's), its text and where its names come from."""

    function: FunctionType
    tree: ast.FunctionDef
    lines: tuple[tuple[int, str], ...]
    filename: str

    @property
    def name(self) -> str:
        return self.function.__name__

    def moved_to(self, line: int) -> Source:
        """The same function with everything in it on one line, that of its call; refusals name its own lines."""
        tree = copy.deepcopy(self.tree)
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                node.own_line = getattr(node, "own_line", node.lineno)
                node.lineno = node.end_lineno = line
        return replace(self, tree=tree)

    def lookup(self, name: str):
        """The object a free name stands for: closure, then globals, then builtins. KeyError if none."""
        code = self.function.__code__
        if name in code.co_freevars:
            return self.function.__closure__[code.co_freevars.index(name)].cell_contents
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]


_parsed: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def python_function(kernel) -> FunctionType:
    """The plain function behind a kernel: a dispatcher's ``py_func``, or the function itself."""
    for attribute in ("py_func", "fn"):
        inner = getattr(kernel, attribute, None)
        if isinstance(inner, FunctionType):
            return inner
    if isinstance(kernel, FunctionType):
        return kernel
    raise UnsupportedKernelError(
        f"simulate() was given a {type(kernel).__name__}; give it a function decorated "
        "with @cuda.jit, or a plain Python function"
    )


def read(kernel) -> Source:
    """Parse the source of ``kernel``. Raises UnsupportedKernelError if there is none to read."""
    function = python_function(kernel)
    if function in _parsed:
        return _parsed[function]
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise UnsupportedKernelError(
            f"the source of {function.__name__!r} cannot be read; define the kernel in a file or a notebook cell, "
            "not with exec or at a bare Python prompt"
        ) from None
    first = max(first, 1)
    try:
        module = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        raise UnsupportedKernelError(
            f"the source of {function.__name__!r} does not stand on its own; define the "
            "kernel with def on a line of its own"
        ) from None
    tree = module.body[0]
    if not isinstance(tree, ast.FunctionDef) or tree.name != function.__code__.co_name:
        raise UnsupportedKernelError(
            f"{function.__name__!r} is not a def statement (a lambda, perhaps, or the file "
            "changed since it was imported); define the kernel with def and import it anew"
        )
    ast.increment_lineno(tree, first - 1)
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise UnsupportedKernelError(
            "a kernel cannot take *args, **kwargs or keyword-only arguments; name each argument", tree.lineno
        )
    arguments.args, arguments.posonlyargs = arguments.posonlyargs + arguments.args, []
    text = tuple((first + i, line.rstrip("\n")) for i, line in enumerate(lines))
    source = Source(function, tree, text, function.__code__.co_filename)
    _parsed[function] = source
    return source


def is_cuda_module(thing) -> bool:
    """True for numba.cuda, whichever package provides it."""
    return isinstance(thing, ModuleType) and "numba" in thing.__name__ and thing.__name__.split(".")[-1] == "cuda"


def cuda_name(thing) -> str | None:
    """The name in numba.cuda of an object imported from there, such as ``threadIdx``."""
    home = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
    if "cuda" not in str(home or type(thing).__module__):
        return None
    for module in [m for name, m in list(sys.modules.items()) if is_cuda_module(m)]:
        for name, value in vars(module).items():
            if value is thing and not name.startswith("_"):
                return name
    return None


def dtype_name(thing) -> str | None:
    """The scalar type that ``thing`` stands for: a numba type, a NumPy type or dtype, a Python type or a name."""
    if isinstance(thing, type) and thing in (int, float, bool, complex):  # a NumPy dtype may be equal to one of them
        return {int: "int64", float: "float64", bool: "bool", complex: "complex128"}[thing]
    if isinstance(thing, np.dtype) or (isinstance(thing, type) and issubclass(thing, np.generic)):
        name = np.dtype(thing).name
    elif isinstance(thing, str):
        name = thing
    elif type(thing).__module__.startswith("numba") and hasattr(thing, "name"):
        name = str(thing.name)
    else:
        return None
    name = {"boolean": "bool"}.get(name, name)
    return name if name in SCALARS else None
