"""Calls of functions of numbers, which rows of :mod:`..tables.functions` describe."""

import ast
from typing import Any

import numpy as np

from ...formatting import plural
from ...runtime.arithmetic import cast as machine_cast
from ..program.builders import cast, elementwise, function_of, reusable, tuple_of
from ..program.nodes import Apply, Const, Expr, Select
from ..source.errors import refuse
from ..tables import package_gaps
from ..tables.functions import CMATH, LOG_TO_BASE, MAGNITUDE, ROUND, ROUND_TO, Row, check_members, vote_code
from ..types.value_types import FLOATS, PART, ArrayType, TypingError, is_complex
from . import conditions
from .refusals import mistyped
from .translation import Translation


def of_row(row: Row, translation: Translation, node: ast.Call, used: bool) -> Expr:
    """A call of the function that ``row`` describes."""
    given = translation.arguments(node, row.arity, row.name, real=not row.complex)
    kinds = tuple(str(value.type) for value in given)
    package_gaps.check(row.name, kinds)
    result, wanted = row.rule(*kinds)
    operands_of_row = zip(given, node.args, wanted, strict=True)
    parts: list[tuple[Expr, ast.AST]] = [
        (value, tree) for value, tree, kind in operands_of_row if kind in (*FLOATS, value.type)
    ]
    reason = translation.reason(node, result, parts, row.widening)
    operands = tuple(
        conditions.truth(translation, value, node.lineno) if kind == "bool" else cast(value, kind)
        for value, kind in zip(given, wanted, strict=True)
    )
    return Apply(code=row.code, args=operands, type=result, line=node.lineno, why=reason)


def of_numpy(row: Row, translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``np.sin(x)``; or ``np.sin(x, out)``, of numbers and elements of arrays, stored to all elements of ``out``."""
    if len(node.args) != row.arity[0] + 1:
        return of_row(row, translation, node, used)
    text = ast.unparse(node)
    if node.keywords:
        refuse(node, f"numba takes no named arguments in {text}; write out the output's name alone")
    *inputs, array = (translation.expr(part) for part in node.args)
    if not isinstance(array.type, ArrayType):
        takes = plural(row.arity[0], "argument")
        mistyped(node.args[-1], array.type, f"{row.name}() takes {takes} and perhaps an array for the result")
    for value, part in zip(inputs, node.args, strict=False):
        if isinstance(value.type, ArrayType) and value.type.ndim > array.type.ndim:
            refuse(node, f"{ast.unparse(part)} is {value.type}, and the result {array.type}; use parts of one shape")
        if not isinstance(value.type, ArrayType):
            translation.as_number(part, value)
    elements = [value.type.dtype if isinstance(value.type, ArrayType) else str(value.type) for value in inputs]
    result, wanted = row.rule(*elements)
    if not np.can_cast(result, array.type.dtype, "same_kind"):
        raise TypingError(
            f"{row.name} gives {result}, which {ast.unparse(node.args[-1])} of {array.type.dtype} "
            "does not take; convert the array before the launch"
        )
    translation.value_to_store(node.args[-1], array, Const(type=result, value=np.dtype(result).type(0)))
    compute = function_of(row.code, len(inputs))

    def of_elements(*values: Any) -> Any:
        return compute(*(machine_cast(value, np.dtype(kind)) for value, kind in zip(values, wanted, strict=True)))

    return elementwise(array, of_elements, tuple(inputs), node.lineno)


def rounded(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``round(x)``, and ``round(x, digits)``."""
    return of_row(ROUND_TO if len(node.args) == 2 else ROUND, translation, node, used)


def complex_log(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``cmath.log(z)``, and ``cmath.log(z, base)``."""
    return of_row(LOG_TO_BASE if len(node.args) == 2 else CMATH["log"], translation, node, used)


def match_all(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``cuda.match_all_sync(mask, value)``: (the lanes, True) if all lanes have one value, else (0, False)."""
    arguments = tuple(reusable(part) for part in translation.arguments(node, (2,), "cuda.match_all_sync"))
    check_members(str(arguments[0].type))
    same, lanes = (
        reusable(Apply(code=vote_code(name, more), args=arguments, type=kind, line=node.lineno))
        for name, kind, more in (
            ("eq_sync", "bool", ", {line}, 'match_all_sync'"),
            ("match_any_sync", "int32", ""),
        )
    )
    zero = cast(translation.number(0), "int32")
    return tuple_of((Select(test=same, yes=lanes, no=zero, type="int32", line=node.lineno), same))


def polar(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``cmath.polar(z)``: (abs(z), cmath.phase(z))."""
    (value,) = translation.arguments(node, (1,), "cmath.polar", real=False)
    if not is_complex(str(value.type)):
        raise TypingError(f"cmath.polar takes a complex number, not {value.type}; convert it with complex()")
    value, kind = reusable(value), PART[str(value.type)]
    parts = (MAGNITUDE, CMATH["phase"].code)
    return tuple_of(tuple(Apply(code=part, args=(value,), type=kind, line=node.lineno) for part in parts))
