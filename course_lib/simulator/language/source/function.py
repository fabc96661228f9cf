"""A function's source: its syntax tree, with lines numbered as the student sees them, and its names."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import FunctionType

from ...findings import UnsupportedKernelError
from .tree import assigned_names
from .variable_regions import regions


@dataclass(frozen=True, eq=False)
class Source:
    """A function's syntax tree (line numbers are the file's or the cell's), its text, and the look-up of its names."""

    function: FunctionType
    tree: ast.FunctionDef
    lines: tuple[tuple[int, str], ...]
    filename: str
    debug: bool = False
    fast: bool = False
    inlined: bool = False

    @cached_property
    def debugged(self) -> dict[bool, Source]:
        """The same function, compiled with debug=True, where a division by 0 raises; if ``fast``, not of float32."""
        return {fast: replace(self, debug=True, fast=fast) for fast in (False, True)}

    @cached_property
    def in_place(self) -> Source:
        """The same function, written out where it is called, as with inline="always": it may return any array."""
        return replace(self, inlined=True)

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def all_lines(self) -> tuple[tuple[int, str], ...]:
        """The numbered lines among which its statements are: those of the function around it, if there is one."""
        return self.lines

    @property
    def key(self) -> object:
        return self.function

    @property
    def defaults(self) -> tuple[object, ...]:
        return self.function.__defaults__ or ()

    @property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.tree.args.args] + [self.rest] * bool(self.rest)

    @property
    def own(self) -> list[str]:
        """The parameters that a call gives one by one."""
        return [argument.arg for argument in self.tree.args.args]

    @property
    def rest(self) -> str:
        """The parameter that takes the rest of the arguments, as a tuple; empty if there is none."""
        return self.tree.args.vararg.arg if self.tree.args.vararg else ""

    @cached_property
    def regions(self) -> dict[str, int]:
        return regions(self.tree)

    @cached_property
    def locals(self) -> frozenset[str]:
        return frozenset(assigned_names(self.tree.body) | {*self.parameters})

    def assigned_in(self, statement: ast.stmt) -> frozenset[str]:
        if statement not in self._assigned:
            self._assigned[statement] = frozenset(assigned_names([statement]))
        return self._assigned[statement]

    @cached_property
    def _assigned(self) -> dict[ast.stmt, frozenset[str]]:
        return {}

    def lookup(self, name: str) -> object:
        """Look up a free name: closure, then globals, then builtins. Raises KeyError."""
        code = self.function.__code__
        if name in code.co_freevars:
            return (self.function.__closure__ or ())[code.co_freevars.index(name)].cell_contents
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]


@dataclass(frozen=True, eq=False, kw_only=True)
class Inner(Source):
    """A function that another one defines, by def or lambda.

    It is compiled as a device function. The variables of the outer function that it reads, ``free``, are its last
    parameters: a call gives them the values that they have then. ``constants`` holds those that are constants, by name.
    """

    node: ast.FunctionDef | ast.Lambda
    outer: Source
    free: tuple[str, ...]
    values: tuple[object, ...]
    constants: dict[str, object]

    @property
    def key(self) -> object:
        return self.node

    @property
    def all_lines(self) -> tuple[tuple[int, str], ...]:
        return self.outer.all_lines

    @property
    def defaults(self) -> tuple[object, ...]:
        return self.values

    @property
    def own(self) -> list[str]:
        return [name for name in super().own if name not in self.free]


def inner(
    outer: Source,
    node: ast.FunctionDef | ast.Lambda,
    values: tuple[object, ...],
    more: set[str],
    constants: Mapping[str, object],
) -> Inner:
    """The function that ``node`` defines.

    ``values`` are those of its defaults, ``more`` names that it also needs, ``constants`` known values of variables.
    """
    tree = as_def(node)
    own = {part.arg for part in ast.walk(tree.args) if isinstance(part, ast.arg)}
    read: set[str] = set()
    for statement in tree.body:
        read |= {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
    free = tuple(sorted(((read & outer.locals) | more) - own - assigned_names(tree.body)))
    if clash := more - set(free):
        raise UnsupportedKernelError(
            f"{tree.name} uses a function that reads {', '.join(sorted(clash))}, and has a variable of this name; "
            "rename it",
            node.lineno,
        )
    arguments = [*tree.args.args, *(ast.copy_location(ast.arg(name), node) for name in free)]
    takes = ast.arguments([], arguments, tree.args.vararg, [], [], None, [])
    tree = ast.copy_location(ast.FunctionDef(tree.name, takes, tree.body, []), node)
    names_of_outer = [part for part in ast.walk(outer.tree) if isinstance(part, ast.Name)]
    stored = [name.id for name in names_of_outer if isinstance(name.ctx, ast.Store)]
    assigned_once = {name for name in free if name in constants and stored.count(name) == 1}
    return Inner(
        function=outer.function,
        tree=tree,
        lines=(),
        filename=outer.filename,
        debug=outer.debug,
        fast=outer.fast,
        node=node,
        outer=outer,
        free=free,
        values=values,
        constants={name: constants[name] for name in free if name in assigned_once},
    )


def as_def(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef:
    """A function's tree, also of a lambda, with plain parameters alone. Refuses others."""
    arguments = copy.copy(node.args)
    if arguments.kwarg or arguments.kwonlyargs:
        raise UnsupportedKernelError(
            "a kernel cannot take **kwargs or keyword-only arguments; name each argument", node.lineno
        )
    arguments.args, arguments.posonlyargs = arguments.posonlyargs + arguments.args, []
    if isinstance(node, ast.FunctionDef):
        tree = copy.copy(node)
        tree.args = arguments
        return tree
    body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
    return ast.copy_location(ast.FunctionDef("lambda_", arguments, body, []), node)
