"""Read a kernel's source: its syntax tree, with lines numbered as the student sees them."""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import dis
import inspect
import linecache
import os
import sys
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from types import CodeType, FunctionType

from ..findings import UnsupportedKernelError
from .matches import Matches
from .regions import assigned_names, nodes, regions

#: Recursion limit for the analysis of a kernel: about five frames for each level of an expression.
MOST_FRAMES = 20_000


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

    def assigned(self, statement: ast.stmt) -> frozenset[str]:
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
    parameters: a call gives them the values that they have then. ``known`` holds those that are constants, by name.
    """

    node: ast.FunctionDef | ast.Lambda
    outer: Source
    free: tuple[str, ...]
    values: tuple[object, ...]
    known: dict[str, object]

    @property
    def key(self) -> object:
        return self.node

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
    own = {a.arg for a in ast.walk(tree.args) if isinstance(a, ast.arg)}
    read = {n.id for s in tree.body for n in ast.walk(s) if isinstance(n, ast.Name)}
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
    stored = [n.id for n in ast.walk(outer.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    known = {name: constants[name] for name in free if name in constants and stored.count(name) == 1}
    given = outer.function, tree, (), outer.filename, outer.debug, outer.fast
    return Inner(*given, node=node, outer=outer, free=free, values=values, known=known)


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


_parsed: weakref.WeakKeyDictionary[FunctionType, tuple[CodeType, Source]] = weakref.WeakKeyDictionary()
#: When this module was loaded: a file written later may differ from what was imported.
_LOADED = time.time()


def python_function(kernel: object) -> FunctionType:
    """The Python function of a kernel: a dispatcher's ``py_func``, or the function itself."""
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


def changed(function: FunctionType) -> UnsupportedKernelError:
    name = function.__code__.co_filename
    if os.path.exists(name):
        return UnsupportedKernelError(
            f"the file of {function.__name__!r} has changed since it was imported; import it again (in a notebook, "
            "restart its kernel)"
        )
    return UnsupportedKernelError(
        f"the source of {function.__name__!r} is not known any more: {name} is the name of another text by now; give "
        "each text that is executed a name of its own"
    )


def edited(function: FunctionType) -> bool:
    """Whether the function's text may be another by now: its file was written after this module was loaded, or is none.

    A text that is executed, as a notebook's cell, may have the name of one before it.
    """
    try:
        return os.stat(function.__code__.co_filename).st_mtime > _LOADED
    except OSError:
        return True


def same_code(function: FunctionType, first: int) -> bool:
    """Whether the function in line ``first`` of the file compiles to the code of ``function``.

    The whole file is compiled, because the function's code depends on names in the rest of it.
    """
    code = function.__code__
    future = code.co_flags & sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    text = "".join(linecache.getlines(code.co_filename))
    try:
        found = [compile(text, code.co_filename, "exec", future, dont_inherit=True)]
    except SyntaxError:
        return not os.path.exists(code.co_filename)  # a cell may hold what only IPython compiles
    for made in found:  # grows by the code objects inside each
        found += (part for part in made.co_consts if isinstance(part, CodeType))
        if (made.co_name, made.co_firstlineno) == (code.co_name, first) and _instructions(made) == _instructions(code):
            return True
    return False


def _instructions(code: CodeType) -> list[tuple[str, str]]:
    """Operations and their arguments, without those that are code objects, whose text is an address."""
    return [(i.opname, "" if isinstance(i.argval, CodeType) else i.argrepr) for i in dis.get_instructions(code)]


def too_deep(name: str, line: int) -> UnsupportedKernelError:
    return UnsupportedKernelError(
        f"the statements of {name} are nested too deeply for the simulator (an elif is one level deeper than the if "
        "before it); look values up in an array, or move a part into a device function",
        line,
    )


@contextmanager
def deep_recursion(name: str, line: int) -> Iterator[None]:
    """Raise the recursion limit: long sums and chains of elif are deep trees."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MOST_FRAMES))
    try:
        yield
    except RecursionError:
        raise too_deep(name, line) from None
    finally:
        sys.setrecursionlimit(before)


def read(kernel: object) -> Source:
    """Parse the source of ``kernel``. Raises UnsupportedKernelError if there is none to read."""
    function = python_function(kernel)
    with deep_recursion(function.__name__, function.__code__.co_firstlineno):
        source = _read(function)
    options = getattr(kernel, "targetoptions", {})
    source = source.debugged[bool(options.get("fastmath"))] if options.get("debug") else source
    return source.in_place if options.get("inline") == "always" else source  # numba's own takes True, and compiles it


def _read(function: FunctionType) -> Source:
    if known := known_source(function):
        return known
    code_name = function.__code__.co_name
    if code_name == "<lambda>":
        return _read_lambda(function)
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise UnsupportedKernelError(
            f"the source of {function.__name__!r} cannot be read; define the kernel in a file or a notebook cell, "
            "not with exec or at a bare Python prompt"
        ) from None
    first = max(first, 1)
    text = "".join(lines)
    inside = text[:1].isspace()  # inside an if, a function or a class: one is put before it here
    try:
        tree = ast.parse("if True:\n" * inside + text).body[0]
    except SyntaxError:
        raise UnsupportedKernelError(
            f"the source of {function.__name__!r} cannot be parsed by itself; define the "
            "kernel with def on a separate line"
        ) from None
    if isinstance(tree, ast.If) and inside:
        tree = tree.body[0]
        first -= 1
    if isinstance(tree, ast.AsyncFunctionDef):
        raise UnsupportedKernelError(
            f"{code_name} is defined by async def, and no kernel is asynchronous; write def", first + inside
        )
    if not isinstance(tree, ast.FunctionDef) or tree.name != code_name:
        raise changed(function)
    if edited(function) and not same_code(function, first + inside):
        raise changed(function)
    ast.increment_lineno(tree, first - 1)
    return parsed(function, tree, tuple((first + inside + i, line.rstrip("\n")) for i, line in enumerate(lines)))


def defined(
    tree: ast.FunctionDef, file: str, names: dict[str, object], defaults: tuple[object, ...] | None = None
) -> FunctionType:
    """Return the function that a tree defines, among these global names and with these values of its defaults.

    Nothing is executed: neither a decorator nor an annotation nor the expression of a default.
    """
    code = compile(ast.Module([tree], []), file, "exec", dont_inherit=True)
    (inner,) = (part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == tree.name)
    return FunctionType(inner, names, tree.name, defaults)


def known_source(function: FunctionType) -> Source | None:
    """The source of a function that was read before, or None."""
    code, known = _parsed.get(function, (None, None))
    return known if code is function.__code__ else None  # autoreload replaces a function's code


def parsed(function: FunctionType, tree: ast.FunctionDef, lines: tuple[tuple[int, str], ...]) -> Source:
    """Return the source of a function that was compiled from ``tree``; from now on `read` returns it, too."""
    if any(isinstance(node, ast.Match) for node in nodes(tree)):
        tree = Matches().visit(copy.deepcopy(tree))
    source = Source(function, as_def(tree), lines, function.__code__.co_filename)
    _parsed[function] = function.__code__, source
    return source


def _read_lambda(function: FunctionType) -> Source:
    """The source of a lambda, of which several may begin in one line."""
    code = function.__code__
    text = linecache.getlines(code.co_filename)
    try:
        nodes = list(ast.walk(ast.parse("".join(text))))
    except SyntaxError:
        nodes = []
    first = code.co_firstlineno
    found = _of_code([node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == first], code)
    if len(found) != 1 or edited(function) and not same_code(function, first):
        raise UnsupportedKernelError(
            f"the lambda in line {first} cannot be read by itself; write it with def, on a separate line"
        )
    tree = as_def(found[0])
    last = found[0].end_lineno or first
    lines = tuple((i, text[i - 1].rstrip("\n")) for i in range(first, last + 1))
    return parsed(function, tree, lines)


def _of_code(lambdas: list[ast.Lambda], code: CodeType) -> list[ast.Lambda]:
    """The lambda of this code: the innermost one around its instructions; all, if Python keeps no columns of those."""
    places = [((line, column), (end, last)) for line, end, column, last in code.co_positions() if last]
    if not places:
        return lambdas
    bodies = [(one.body.lineno, one.body.col_offset, one.body.end_lineno, one.body.end_col_offset) for one in lambdas]
    around = [
        (body[:2], one)
        for one, body in zip(lambdas, bodies, strict=True)
        if all(body[:2] <= start and end <= body[2:] for start, end in places)
    ]
    return [max(around, key=itemgetter(0))[1]] if around else []
