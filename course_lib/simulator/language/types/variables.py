"""The knowledge of a variable at one point of the program, and its merging where paths meet."""

from dataclasses import dataclass, replace

import numpy as np

from .float64_reasons import TypedOperand, Why, reason_of_merge, reason_of_operands
from .unification import unify_types
from .value_types import Type


@dataclass(frozen=True)
class LiteralNumbers:
    """The items of a tuple of literal integers."""

    items: tuple[np.generic, ...]


#: The known value of a variable: a number, the items of a tuple, or a compile-time object (in a tuple of one).
Known = np.generic | LiteralNumbers | tuple[object]


@dataclass(frozen=True)
class Variable:
    """A local name: its type, the reason for it, its known value.

    ``maybe_unassigned``: some path has not assigned it; ``joined``: several assignments, or a tuple, give it the value,
    so that numba does not drop a branch for it; ``outcome``: that of a condition on it, for which numba drops the other
    branch.
    """

    type: Type
    why: Why = None
    const: Known | None = None
    maybe_unassigned: bool = False
    joined: bool = False
    outcome: bool | None = None


Variables = dict[str, Variable]


def merge(a: Variable | None, b: Variable | None) -> Variable:
    """The variable where two paths meet (None: not assigned on that path)."""
    if a is None or b is None:
        one = a or b
        assert one is not None
        return replace(one, maybe_unassigned=True, const=None, outcome=None)
    if a is b:
        return a
    kind = unify_types(a.type, b.type)
    why = reason_of_operands(
        kind, (TypedOperand(a.type, a.why), TypedOperand(b.type, b.why)), reason_of_merge(a.type, b.type)
    )
    const = a.const if same(a.const, b.const) else None
    return Variable(kind, why, const, a.maybe_unassigned or b.maybe_unassigned, joined=True)


def merge_all(a: Variables, b: Variables) -> Variables:
    return {name: merge(a.get(name), b.get(name)) for name in {**a, **b}}


def same(a: object, b: object) -> bool:
    """Whether two constants have one type and are equal."""
    return a is not None and type(a) is type(b) and bool(a == b)
