"""The student's kernel as a text: its tree and lines, what its names stand for, and whether it was filled in."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeGuard


@dataclass(frozen=True)
class Submission:
    """A function's tree, with the lines of its file or cell, and those lines by their numbers.

    ``tree`` is None where no source can be read; the simulator says why.
    """

    function: FunctionType
    decorated: bool
    tree: ast.FunctionDef | None
    lines: dict[int, str]

    @property
    def known(self) -> dict[str, Any]:
        """What the function's free names stand for."""
        code, closure = self.function.__code__, self.function.__closure__ or ()
        cells = {name: cell.cell_contents for name, cell in zip(code.co_freevars, closure, strict=True)}
        return vars(builtins) | self.function.__globals__ | cells

    @property
    def loops(self) -> frozenset[int]:
        """The lines that run once in each turn of its loops.

        That is where a for begins; a while asks once more, before it ends, so there it is the first line of the body.
        """
        nodes = ast.walk(self.tree) if self.tree else ()
        return frozenset(
            node.body[0].lineno if isinstance(node, ast.While) and not _is_loop(node.body[0]) else node.lineno
            for node in nodes
            if _is_loop(node)
        )

    def quoted(self, *numbers: int | None) -> tuple[tuple[int, str], ...]:
        """The lines of these numbers, each once and in order."""
        return tuple((n, self.lines[n]) for n in sorted({n for n in numbers if n in self.lines}))


def _is_loop(node: ast.AST) -> TypeGuard[ast.For | ast.While]:
    return isinstance(node, ast.For | ast.While)


def read(kernel: Any) -> Submission | None:
    """The source of a numba kernel or of a plain function; None where ``kernel`` is neither."""
    function = getattr(kernel, "py_func", kernel)
    if not inspect.isfunction(function):
        return None
    decorated = function is not kernel
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, SyntaxError, IndexError):  # no source, or a lambda in the middle of a line
        return Submission(function, decorated, None, {})
    ast.increment_lineno(tree, first - 1)
    numbered = {first + i: line.rstrip("\n") for i, line in enumerate(lines)}
    return Submission(function, decorated, tree if isinstance(tree, ast.FunctionDef) else None, numbered)


def is_unfilled(tree: ast.FunctionDef) -> bool:
    """Whether a ``...`` of the skeleton still stands in the body, or the body raises NotImplementedError."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis:
            return True
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node):
            return True
    return False


def is_empty(tree: ast.FunctionDef) -> bool:
    """Whether the body does nothing: a docstring, `pass`, a name."""
    return all(isinstance(node, ast.Pass | ast.Expr) and not _has_call(node) for node in tree.body)


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def same_body(tree: ast.FunctionDef, given: str) -> bool:
    """Whether the function does, word for word, what the text of ``given`` does, comments aside."""
    other = next((node for node in ast.walk(ast.parse(given)) if isinstance(node, ast.FunctionDef)), None)
    return other is not None and _body(tree) == _body(other)


def _body(tree: ast.FunctionDef) -> list[str]:
    statements = tree.body[1:] if ast.get_docstring(tree) else tree.body
    return [ast.dump(statement) for statement in statements]
