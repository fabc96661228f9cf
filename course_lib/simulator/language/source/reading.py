"""Read a kernel's source: its syntax tree, with lines numbered as the student sees them."""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import inspect
import linecache
import os
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from types import CodeType, FunctionType

from ...findings import UnsupportedKernelError
from .function import Source, as_def
from .match_statements import Matches
from .tree import nodes

#: Recursion limit for the analysis of a kernel: about five frames for each level of an expression.
MOST_FRAMES = 20_000
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


def may_be_stale(function: FunctionType) -> bool:
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
    for each in found:  # grows by the code objects inside each
        found += (part for part in each.co_consts if isinstance(part, CodeType))
        if (each.co_name, each.co_firstlineno) == (code.co_name, first) and _instructions(each) == _instructions(code):
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
    """The source of a function from its file or its cell. Raises UnsupportedKernelError if it is not there any more."""
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
    try:
        tree = _definition("".join(lines), first)
    except SyntaxError:
        raise UnsupportedKernelError(
            f"the source of {function.__name__!r} cannot be parsed by itself; define the "
            "kernel with def on a separate line"
        ) from None
    if isinstance(tree, ast.AsyncFunctionDef):
        raise UnsupportedKernelError(
            f"{code_name} is defined by async def, and no kernel is asynchronous; write def", first
        )
    if not isinstance(tree, ast.FunctionDef) or tree.name != code_name:
        raise changed(function)
    if may_be_stale(function) and not same_code(function, first):
        raise changed(function)
    return parsed(function, tree, tuple((first + i, line.rstrip("\n")) for i, line in enumerate(lines)))


def _definition(text: str, first: int) -> ast.stmt:
    """The first statement of ``text``, which begins in line ``first`` of the file. Raises SyntaxError."""
    if not text[:1].isspace():
        return ast.increment_lineno(ast.parse(text).body[0], first - 1)
    # it is inside an if, a function or a class, for which one more line is put before it
    around = ast.parse(f"if True:\n{text}").body[0]
    assert isinstance(around, ast.If)
    return ast.increment_lineno(around.body[0], first - 2)


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
    lambdas = [node for node in nodes if isinstance(node, ast.Lambda) and node.lineno == first]
    found = _of_code(lambdas, code)
    is_another = may_be_stale(function) and not same_code(function, first)
    if len(found) != 1 or is_another:
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
    around = []
    for one in lambdas:
        begin = (one.body.lineno, one.body.col_offset)
        end = (one.body.end_lineno, one.body.end_col_offset)
        if all(begin <= first and last <= end for first, last in places):
            around.append((begin, one))
    return [max(around, key=itemgetter(0))[1]] if around else []
