"""The value of arithmetic that a reader has typed as a guess."""

import ast
import math
from collections.abc import Callable

from ..simulator.language.operators import PYTHON

#: Characters. Python's parser could not hold an expression that is nested without limit.
_LONGEST = 100

_SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "^": "**"})

#: The arithmetic of Python, but that a power has no value where it is complex.
_ARITHMETIC: dict[type[ast.AST], Callable[..., float]] = {
    kind: PYTHON[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.USub, ast.UAdd)
} | {ast.Pow: math.pow}


def calculated(text: str) -> float:
    """The value of ``text``, such as "2*8+3" or "3/4", in float64; a percent sign at its end is ignored.

    Raises ValueError where it is not arithmetic with numbers, ArithmeticError where it has no value.
    """
    text = text.strip().rstrip("%×").translate(_SIGNS)
    if len(text) > _LONGEST:
        raise ValueError(f"more than {_LONGEST} characters")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not arithmetic") from error


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(sign, operand) if type(sign) in _ARITHMETIC:
            return float(_ARITHMETIC[type(sign)](_value(operand)))
        case ast.BinOp(left, operation, right) if type(operation) in _ARITHMETIC:
            return float(_ARITHMETIC[type(operation)](_value(left), _value(right)))
    raise ValueError(f"{ast.unparse(node)} is not arithmetic with numbers")
