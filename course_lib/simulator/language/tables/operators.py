"""The table of operators: the code of each, by its name in Python's syntax tree.

Their types are in :mod:`..types.typing_rules`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class BinaryOperator:
    """A binary operator: its code in Python, where ``{0}`` and ``{1}`` are the operands.

    ``of_floats``, ``of_complex`` and ``of_integers`` are the code for results of these types, where it is another one.
    ``of_integers`` is needed only for a divisor that may be -1. ``divides``: with debug=True, a divisor of 0 raises.
    ``converts``: NumPy converts operands of two types to the type of the result, if that is its own promotion of them.
    """

    code: str
    of_floats: str = ""
    of_complex: str = ""
    of_integers: str = ""
    divides: bool = False
    converts: bool = True


#: What a divisor becomes if the function is compiled with debug=True.
NOT_ZERO = "warp.nonzero({0}, {mask}, {line})"
#: ``x ** n`` of a float and a literal integer of at most this size, which numba multiplies out.
LITERAL_POWER = "raised({0}, {1})"
MOST_LITERAL_EXPONENT = 0x10000

BINARY_OPERATORS = {
    "Add": BinaryOperator("({0} + {1})"),
    "Sub": BinaryOperator("({0} - {1})"),
    "Mult": BinaryOperator("({0} * {1})", of_complex="product({0}, {1})"),
    "Div": BinaryOperator(
        "({0} / {1})", of_complex="complex_quotient({0}, {1}, warp.full, {mask}, {line})", divides=True
    ),
    "FloorDiv": BinaryOperator(
        "({0} // {1})", of_floats="floor_division({0}, {1})[0]", of_integers="quotient({0}, {1})", divides=True
    ),
    "Mod": BinaryOperator("({0} % {1})", of_floats="floor_division({0}, {1})[1]", divides=True),
    "Pow": BinaryOperator("power({0}, {1})", of_complex="complex_power({0}, {1})", converts=False),
    "BitAnd": BinaryOperator("({0} & {1})"),
    "BitOr": BinaryOperator("({0} | {1})"),
    "BitXor": BinaryOperator("({0} ^ {1})"),
    "LShift": BinaryOperator("({0} << {1})", converts=False),
    "RShift": BinaryOperator("({0} >> {1})", converts=False),
}
COMPARISONS = {
    "Lt": "({0} < {1})",
    "LtE": "({0} <= {1})",
    "Gt": "({0} > {1})",
    "GtE": "({0} >= {1})",
    "Eq": "({0} == {1})",
    "NotEq": "({0} != {1})",
}
UNARY_OPERATORS = {"USub": "(-{0})", "Invert": "(~{0})"}
#: The operators of conditions.
NOT, AND, OR = UNARY_OPERATORS["Invert"], BINARY_OPERATORS["BitAnd"].code, BINARY_OPERATORS["BitOr"].code
