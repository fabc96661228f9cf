"""The text of a student's kernel: its syntax tree, lines and names, and whether it was filled in."""

import ast
import builtins
import inspect
import textwrap
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

from ...simulator.language.source.reading import known_source
from ...simulator.repairs.kernel_syntax import Kernel


@dataclass(frozen=True)
class Submission:
    """A function's syntax tree, and the lines of its file or cell by number.

    ``tree`` is None if no source can be read; the simulator says why.
    """

    function: FunctionType
    decorated: bool
    tree: ast.FunctionDef | None
    lines: dict[int, str]

    @property
    def names(self) -> dict[str, Any]:
        """The values of the function's free names."""
        code, closure = self.function.__code__, self.function.__closure__ or ()
        cells = {name: cell.cell_contents for name, cell in zip(code.co_freevars, closure, strict=True)}
        return vars(builtins) | self.function.__globals__ | cells

    @property
    def parameters(self) -> tuple[str, ...]:
        """The student's names of the parameters."""
        return parameters(self.function)

    @cached_property
    def kernel(self) -> Kernel | None:
        """The text, as the rows of repairs ask for it."""
        return None if self.tree is None else Kernel(self.function, self.tree, self.lines.items(), self.names)

    @cached_property
    def loop_lines(self) -> frozenset[int]:
        """The first lines of the loops."""
        return frozenset(loop.lineno for loop in self._loops)

    @cached_property
    def unrolled_loop_lines(self) -> frozenset[int]:
        """The lines of `loop_lines` for inner loops of constant length, which a compiler unrolls."""
        inner = {node for loop in self._loops for node in ast.walk(loop) if node is not loop}
        return frozenset(loop.lineno for loop in self._loops if loop in inner and self._is_constant(loop))

    @property
    def _loops(self) -> list[ast.For | ast.While]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.For | ast.While)] if self.tree else []

    def _is_constant(self, loop: ast.For | ast.While) -> bool:
        if isinstance(loop, ast.While):
            limits = loop.test.comparators if isinstance(loop.test, ast.Compare) else [loop.test]
        else:
            limits = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
        return all(
            isinstance(node, ast.expr_context | ast.operator | ast.unaryop | ast.Constant | ast.BinOp | ast.UnaryOp)
            or (isinstance(node, ast.Name) and type(self.names.get(node.id)) is int)
            for limit in limits
            for node in ast.walk(limit)
        )

    def numbered_lines(self, *numbers: int | None) -> tuple[tuple[int, str], ...]:
        """The lines of these numbers, each once and in order."""
        return tuple((n, self.lines[n]) for n in sorted({n for n in numbers if n in self.lines}))


def parameters(kernel: Any) -> tuple[str, ...]:
    """The names of the parameters of a numba kernel or of a plain function."""
    code = getattr(kernel, "py_func", kernel).__code__
    return tuple(code.co_varnames[: code.co_argcount])


def read(kernel: Any) -> Submission | None:
    """The source of a numba kernel or of a plain function; None if ``kernel`` is neither."""
    function = getattr(kernel, "py_func", kernel)
    if not inspect.isfunction(function):
        return None
    decorated = function is not kernel
    if known := known_source(function):  # what was compiled from a tree has no text of its own
        return Submission(function, decorated, known.tree, dict(known.lines))
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, SyntaxError, IndexError):  # no source, or a lambda in the middle of a line
        return Submission(function, decorated, None, {})
    ast.increment_lineno(tree, first - 1)
    numbered = {first + i: line.rstrip("\n") for i, line in enumerate(lines)}
    return Submission(function, decorated, tree if isinstance(tree, ast.FunctionDef) else None, numbered)


def statement_lines(tree: ast.FunctionDef) -> tuple[tuple[int, str], ...]:
    """The first line of each statement of a tree, to be shown; it may mean something else when it is parsed again."""
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return tuple((node.lineno, ast.unparse(node).partition("\n")[0]) for node in statements)


def is_unfilled(tree: ast.FunctionDef) -> bool:
    """Whether the body raises NotImplementedError, or contains a ``...`` of the skeleton: in Python it does nothing."""
    return bool(dots(tree)) or any(
        isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node) for node in ast.walk(tree)
    )


def dots(tree: ast.FunctionDef) -> list[ast.Expr]:
    """The three dots of a skeleton that stand where a statement may be."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return [node for node in found if isinstance(node.value, ast.Constant) and node.value.value is Ellipsis]


def is_empty(tree: ast.FunctionDef) -> bool:
    """Whether the body does nothing (a docstring, `pass`, a name)."""
    called = any(isinstance(part, ast.Call) for node in tree.body for part in ast.walk(node))
    return not called and all(isinstance(node, ast.Pass | ast.Expr) for node in tree.body)


def same_body(tree: ast.FunctionDef, given: str) -> bool:
    """Whether the function's code, without comments, is that of ``given``."""
    other = next((node for node in ast.walk(ast.parse(given)) if isinstance(node, ast.FunctionDef)), None)
    return other is not None and _body(tree) == _body(other)


def _body(tree: ast.FunctionDef) -> list[str]:
    statements = tree.body[1:] if ast.get_docstring(tree) else tree.body
    return [ast.dump(statement) for statement in statements]
