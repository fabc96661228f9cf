"""From a kernel object to its syntax tree, with lines numbered as the student sees them."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
import weakref
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType

from ..findings import UnsupportedKernelError
from .regions import Regions, assigned_names


@dataclass(frozen=True, eq=False)
class Source:
    """A function's tree (line numbers are the file's or the cell's), its text and where its names come from."""

    function: FunctionType
    tree: ast.FunctionDef
    lines: tuple[tuple[int, str], ...]
    filename: str

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.tree.args.args]

    @cached_property
    def regions(self) -> Regions:
        """Where its variables live."""
        return Regions(self.tree)

    @cached_property
    def locals(self) -> frozenset[str]:
        """The names of its variables."""
        return frozenset(assigned_names(self.tree.body) | {*self.parameters})

    def assigned(self, statement: ast.stmt) -> frozenset[str]:
        """The names that a statement assigns."""
        if statement not in self._assigned:
            self._assigned[statement] = frozenset(assigned_names([statement]))
        return self._assigned[statement]

    @cached_property
    def _assigned(self) -> dict[ast.stmt, frozenset[str]]:
        return {}

    def lookup(self, name: str) -> object:
        """The object a free name stands for: closure, then globals, then builtins. KeyError if none."""
        code = self.function.__code__
        if name in code.co_freevars:
            return (self.function.__closure__ or ())[code.co_freevars.index(name)].cell_contents
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]


_parsed: weakref.WeakKeyDictionary[FunctionType, Source] = weakref.WeakKeyDictionary()


def python_function(kernel: object) -> FunctionType:
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


def read(kernel: object) -> Source:
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
