"""The operators, and what each pays for its result before it is made."""

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ....simulator.language.source.literals import PYTHON
from .budget import StepBudget, length

#: Comparisons; `is` and `in` beside those of numbers.
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}
#: What ``x += y`` does to a list or an array, which it changes in place.
IN_PLACE = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
    ast.MatMult: operator.imatmul,
}
BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{kind: PYTHON[kind] for kind in IN_PLACE if kind in PYTHON},
    ast.MatMult: operator.matmul,
}
UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    **{kind: PYTHON[kind] for kind in (ast.USub, ast.UAdd, ast.Invert)},
}
#: The bits of NumPy's largest whole number.
_WORD = 64
#: A width or a precision of more than three digits, or one that is an argument.
_WIDE = re.compile(r"\d{4}|\*")
_WIDTH = re.compile(r"\d+")


def pay_binary(budget: StepBudget, kind: type[ast.AST], left: Any, right: Any) -> None:
    """Pay for the result of a binary operator."""
    sequence, times = (left, right) if isinstance(left, str | list | tuple) else (right, left)
    if kind is ast.Mult and isinstance(sequence, str | list | tuple) and isinstance(times, int | np.integer):
        budget.room(length(sequence) * max(0, int(times)))
    elif isinstance(left, np.ndarray | np.generic) or isinstance(right, np.ndarray | np.generic):
        refuse_large(budget, left, right)
        pay_arrays(budget, kind is ast.MatMult, left, right)
    elif isinstance(left, int) and isinstance(right, int):
        _pay_numbers(budget, kind, left, right)
    elif kind is ast.Mod and isinstance(left, str):
        pay_format(budget, left)
        budget.read(left, right)
    else:  # also sets and dictionaries
        budget.read(left, right)


def refuse_large(budget: StepBudget, *values: Any) -> None:
    """Raise TooLarge for a whole number that NumPy computes with as Python does, whatever its size."""
    if any(isinstance(value, int) and value.bit_length() > _WORD for value in values):
        raise budget.too_large(f"a whole number of more than {_WORD} bits in NumPy")


def pay_arrays(budget: StepBudget, product: bool, *arrays: Any) -> None:
    """Pay for an array as large as arrays and numbers together: broadcast, or multiplied element by element."""
    budget.read(*arrays)
    shapes = [np.shape(array) for array in arrays]
    if product:
        budget.room(int(np.prod([max(1, int(np.prod(shape, dtype=object))) for shape in shapes], dtype=object)))
    else:
        whole = 1
        for extents in zip(*((1,) * (32 - len(shape)) + shape for shape in shapes), strict=True):
            whole *= max(extents)
        budget.room(whole)


def _pay_numbers(budget: StepBudget, kind: type[ast.AST], left: int, right: int) -> None:
    if kind is ast.Pow and right > 0:
        budget.bits(left.bit_length() * right if abs(left) > 1 else 1)
    elif kind is ast.LShift and right > 0 and left:
        budget.bits(left.bit_length() + right)
    else:
        budget.bits(
            left.bit_length() + right.bit_length() if kind is ast.Mult else max(left.bit_length(), right.bit_length())
        )


def pay_format(budget: StepBudget, specification: str) -> None:
    """Pay for what a format makes of a value beside the value's own text."""
    if _WIDE.search(specification):
        raise budget.unlisted("a format of more than 999 characters")
    budget.room(sum(map(int, _WIDTH.findall(specification))))
