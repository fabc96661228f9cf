"""Operators between literals, which Python evaluates before numba sees them."""

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

NUMBERS = (bool, int, float, complex)
#: The operators that Python evaluates between literals.
PYTHON: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


def python_constant(
    node: ast.AST, names: Mapping[str, Any] = MappingProxyType({})
) -> bool | int | float | complex | None:
    """The value of an operator between literals, which Python evaluates before numba sees it; None for other nodes.

    It follows Python's rules, not numba's: ``2 ** -1`` is 0.5 and ``~True`` is -2. ``names`` are constants as well.
    """
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, NUMBERS) else None
    if isinstance(node, ast.Name) and isinstance(known := names.get(node.id), NUMBERS):
        return known
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)) or type(node.op) not in PYTHON:
        return None
    *before, last = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
    end = python_constant(last, names)  # first, because it is the short side of a long sum
    if end is None:
        return None
    operands = [*(python_constant(part, names) for part in before), end]
    if None in operands or _left_to_run_time(node.op, operands):
        return None
    try:
        value = PYTHON[type(node.op)](*operands)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return value if isinstance(value, NUMBERS) else None


def _left_to_run_time(op: ast.AST, operands: list[Any]) -> bool:
    """Whether Python leaves this power or shift of integers to run time, because it may have more than 128 bits."""
    if not isinstance(op, (ast.Pow, ast.LShift)) or not all(isinstance(each, int) for each in operands):
        return False
    base, count = operands
    if count <= 0:
        return False
    bits = base.bit_length() * count if isinstance(op, ast.Pow) else base.bit_length() + count
    return bool(bits > 128)
