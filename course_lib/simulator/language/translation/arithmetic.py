"""Operators between numbers."""

import ast

import numpy as np

from ..program.builders import applied, cast, literal_integer
from ..program.nodes import Apply, Const, Expr
from ..source.function import Source
from ..tables.operators import BINARY_OPERATORS, LITERAL_POWER, MOST_LITERAL_EXPONENT, NOT_ZERO, BinaryOperator
from ..types import typing_rules
from ..types.float64_reasons import QUOTIENT_OF
from ..types.unification import unify
from ..types.value_types import is_complex, is_float, is_int
from .translation import Translation

#: An operand, and its syntax tree.
Operand = tuple[Expr, ast.AST]


def binary(translation: Translation, node: ast.expr | ast.stmt, op: str, left: Operand, right: Operand) -> Expr:
    """``left op right``, which is ``node`` in the source."""
    a, left_tree = left
    b, right_tree = right
    a = translation.unwrap_optional(left_tree, a)
    b = translation.unwrap_optional(right_tree, b)
    translation.as_number(left_tree, a)
    translation.as_number(right_tree, b)
    line = node.lineno
    kinds = (str(a.type), str(b.type))
    exponent = literal_integer(b) if op == "Pow" else None
    result = _result_type(translation, node, op, kinds, exponent)
    reason = translation.reason(node, result, [(a, left_tree), (b, right_tree)], QUOTIENT_OF)
    operator = BINARY_OPERATORS[op]
    if operator.divides and _raises_for_zero(translation.source, op, result) and not _is_not_zero(b):
        b = Apply(code=NOT_ZERO, args=(b,), type=b.type, line=line)
    if op in typing_rules.BIT_OPERATORS and is_float(result):  # the result has the types of a loop's first pass, too
        own = typing_rules.binary(op, *kinds)
        return cast(applied(operator.code, (cast(a, own), cast(b, own)), own, line), result)
    if exponent is not None and is_float(result) and abs(exponent) <= MOST_LITERAL_EXPONENT:
        return applied(LITERAL_POWER, (cast(a, result), cast(b, "int64")), result, line, reason)
    code = _code_of(operator, result, b)
    if code == operator.code and operator.converts and np.promote_types(*kinds).name == result:
        return applied(code, (a, b), result, line, reason)
    return applied(code, (cast(a, result), cast(b, result)), result, line, reason)


def _result_type(translation: Translation, node: ast.AST, op: str, kinds: tuple[str, str], exponent: int | None) -> str:
    """The type of the result; in a loop, unified with those of earlier passes over it: numba keeps all of them."""
    if exponent is None or is_complex(kinds[0]):
        result = typing_rules.binary(op, *kinds)
    elif kinds[0] == "float16":  # numba multiplies, in float32
        result = "float32"
    else:
        result = kinds[0] if is_float(kinds[0]) else "int64"
    earlier = translation.operation_types.get((node, op), result)
    translation.operation_types[node, op] = unify(result, earlier)
    return translation.operation_types[node, op]


def _raises_for_zero(source: Source, op: str, result: str) -> bool:
    """Whether a division by 0 raises an exception: with debug=True, but for floats that another instruction divides."""
    fast_division = source.fast and op == "Div" and result == "float32"
    return source.debug and result != "float16" and not fast_division


def _is_not_zero(value: Expr) -> bool:
    return isinstance(value, Const) and value.value != 0


def _code_of(operator: BinaryOperator, result: str, divisor: Expr) -> str:
    """The code of an operator for a result of this type."""
    if is_complex(result):
        return operator.of_complex or operator.code
    if is_float(result):
        return operator.of_floats or operator.code
    never_overflows = isinstance(divisor, Const) and divisor.value != -1
    if is_int(result) and operator.of_integers and not never_overflows:
        return operator.of_integers
    return operator.code
