"""The table of operators: the code and the types of each."""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import arithmetic
from .nodes import Apply, Cast, Const, Expr, MakeTuple, tuple_of
from .reasons import Why
from .types import DTYPE, FLOATS, SCALARS, TupleType, Type, TypingError, describe_type, is_complex

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


def _infix(names: str, symbols: str) -> dict[str, str]:
    return {n: f"({{0}} {symbol} {{1}})" for n, symbol in zip(names.split(), symbols.split(), strict=True)}


#: The code of each operator, by its name in Python's syntax tree.
BINARY = _infix("Add Sub Mult Div FloorDiv Mod BitAnd BitOr BitXor LShift RShift", "+ - * / // % & | ^ << >>") | {
    "Pow": "power({0}, {1})"
}
COMPARISONS = _infix("Lt LtE Gt GtE Eq NotEq", "< <= > >= == !=")
UNARY = {"USub": "(-{0})", "Invert": "(~{0})"}
NOT, AND, OR = UNARY["Invert"], BINARY["BitAnd"], BINARY["BitOr"]
INTEGER_QUOTIENT = "quotient({0}, {1})"
FLOOR_DIVISION = {"FloorDiv": "floor_division({0}, {1})[0]", "Mod": "floor_division({0}, {1})[1]"}
LITERAL_POWER = "raised({0}, {1})"
COMPLEX = {
    "Mult": "product({0}, {1})",
    "Pow": "complex_power({0}, {1})",
    "Div": "complex_quotient({0}, {1}, w.full, {mask}, {line})",
}
NOT_ZERO = "w.nonzero({0}, {mask}, {line})"


@cache
def function_of(code: str, count: int) -> Callable[..., Any]:
    """Return ``code``, as in a kernel, as a function of ``count`` operands."""
    names = [f"x{i}" for i in range(count)]
    scope = {name: thing for name, thing in vars(arithmetic).items() if not name.startswith("__")}
    result: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {code.format(*names)}", scope)
    return result


def applied(code: str, args: tuple[Expr, ...], kind: str, line: int, why: Why = None) -> Expr:
    """``code`` of ``args``, evaluated at compile time if all of them are constants."""
    made = Apply(code=code, args=args, type=kind, line=line, why=why)
    constants = [a.value for a in args if isinstance(a, Const)]
    if not made.acts and len(constants) == len(args):
        with np.errstate(all="ignore"):
            value = DTYPE[kind].type(function_of(code, len(args))(*constants))
        return Const(type=kind, value=value, literal=False, why=why)
    return made


def cast(value: Expr, kind: Type) -> Expr:
    """Convert ``value`` to ``kind``; the caller states the reason for the type."""
    if value.type == kind:
        return value
    if isinstance(value.type, str) and isinstance(kind, str) and is_complex(value.type) and not is_complex(kind):
        raise TypingError(f"{value.type} does not convert to {kind}; take .real, .imag or abs() of it")
    if isinstance(value, Const) and isinstance(kind, str):
        with np.errstate(all="ignore"):
            return Const(type=kind, value=arithmetic.cast(value.value, DTYPE[kind]), literal=value.literal)
    if isinstance(kind, str) and kind not in SCALARS:
        raise TypingError(f"{describe_type(value.type)} does not convert to {describe_type(kind)}")
    if isinstance(value, MakeTuple) and isinstance(kind, TupleType):
        return tuple_of(tuple(map(cast, value.items, kind.items)), kind.fields)
    return Cast(value=value, type=kind)


def cut(value: Expr) -> Expr:
    """An index as numba takes it in a slice and in an atomic operation: it cuts floats."""
    return cast(value, "int64") if value.type in ("bool", *FLOATS) else value


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
    *before, last = (n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
    end = python_constant(last, names)  # first, because it is the short side of a long sum
    operands = [end] if end is None else [*(python_constant(part, names) for part in before), end]
    if None in operands or _left_to_run_time(node.op, operands):
        return None
    try:
        value = PYTHON[type(node.op)](*operands)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return value if isinstance(value, NUMBERS) else None


def _left_to_run_time(op: ast.AST, operands: list[Any]) -> bool:
    """Whether Python leaves this power or shift of integers to run time, because it may have more than 128 bits."""
    if not isinstance(op, (ast.Pow, ast.LShift)) or not all(isinstance(o, int) for o in operands):
        return False
    base, count = operands
    if count <= 0:
        return False
    return bool(base.bit_length() * count > 128 if isinstance(op, ast.Pow) else base.bit_length() + count > 128)
