"""numba's rules for types on the CUDA target, operator by operator.

They differ from NumPy's: ``int32 * int32`` is int64, ``float32 * int32`` is float64 and ``uint64 + int64`` is int64.
``tests/simulator/test_typing_oracle.py`` compares them with numba's.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache

import numpy as np

from .unification import unify
from .value_types import PART, SCALARS, SIGNED, SMALL, UNSIGNED, TypingError, bit_width, is_complex, is_float, is_int

#: numba's names of the qualities of a conversion, the best first.
EXACT = "exact"
PROMOTE = "promote"
SAFE = "safe"
UNSAFE = "unsafe"
#: For each type of floats, the types that convert to it safely.
SAFE_IN_FLOAT = {"float64": SCALARS, "float32": SMALL, "float16": ("bool", "int8")}


def conversion(have: str, want: str) -> str | None:
    """The quality of a conversion of numbers; None if there is none, from a complex number to a real one."""
    if have == want:
        return EXACT
    if is_complex(have) and not is_complex(want):
        return None
    both_complex = is_complex(have) and is_complex(want)
    both_float = is_float(have) and is_float(want)
    if both_complex or both_float:
        return PROMOTE if bit_width(have) < bit_width(want) else UNSAFE
    if is_complex(want):
        return UNSAFE if conversion(have, PART[want]) == UNSAFE else SAFE
    if is_float(want):
        return SAFE if have in SAFE_IN_FLOAT[want] else UNSAFE
    if not is_int(have) or not is_int(want) or bit_width(have) >= bit_width(want):
        return SAFE if have == "bool" else UNSAFE
    if (have in SIGNED) == (want in SIGNED):
        return PROMOTE
    return SAFE if have in UNSIGNED else UNSAFE


Cost = tuple[int, int, int]


def cost(given: Sequence[str], wanted: Sequence[str]) -> Cost | None:
    """Count the arguments that convert unsafely, safely and by promotion; None if one does not convert."""
    found = [conversion(have, want) for have, want in zip(given, wanted, strict=True)]
    return None if None in found else (found.count(UNSAFE), found.count(SAFE), found.count(PROMOTE))


_INTEGERS = "qq->q qQ->q Qq->q QQ->Q"
_REALS = "ff->f dd->d"
_NUMBERS = f"ee->e {_REALS} FF->F DD->D"
#: The operators on bits, which take integers alone.
BIT_OPERATORS = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift")
#: numba's overloads of each operator, by its name in Python's syntax tree; see :func:`best`.
OVERLOADS = {
    **dict.fromkeys(("Add", "Sub", "Mult"), f"{_INTEGERS} {_NUMBERS}"),
    "Div": f"qq->d QQ->d {_NUMBERS}",
    **dict.fromkeys(("FloorDiv", "Mod"), f"{_INTEGERS} {_REALS}"),
    "Pow": f"{_INTEGERS} fi->f fq->f fQ->f di->d dq->d dQ->d {_REALS} FF->F DD->D",
    **dict.fromkeys(BIT_OPERATORS[:3], f"??->? {_INTEGERS}"),
    **dict.fromkeys(BIT_OPERATORS[3:], "qq->q qQ->q Qq->Q QQ->Q"),
}


@cache
def best(overloads: str, *given: str, unsafe: bool = True) -> tuple[str, tuple[str, ...]]:
    """The overload to which ``given`` converts best, if need be ``unsafe``: its result and its arguments.

    ``overloads`` are such as "ff->f dd->d", in NumPy's letters. Raises TypingError if there is none.
    """
    found: dict[Cost, tuple[str, tuple[str, ...]]] = {}
    for overload in overloads.split():
        *wanted, result = (np.dtype(letter).name for letter in overload.replace("->", ""))
        rating = cost(given, wanted)
        if rating is not None and (unsafe or not rating[0]):
            found.setdefault(rating, (result, tuple(wanted)))  # of two that are equal, numba takes the first
    if not found:
        raise TypingError(f"it does not take {' and '.join(given)}")
    return found[min(found)]


def binary(op: str, a: str, b: str) -> str:
    """The type of ``a op b``, to which numba also converts the operands."""
    with suppress(TypingError):
        return best(OVERLOADS.get(op, ""), a, b, unsafe=False)[0]
    if is_complex(a) or is_complex(b):
        raise TypingError(f"numba has no such operator for {a} and {b}; compute with .real and .imag")
    if op not in OVERLOADS:
        raise TypingError(f"a kernel has no operator {'@: multiply and add in a loop' if op == 'MatMult' else op}")
    what = "shifts" if op.endswith("Shift") else "bit operations"
    raise TypingError(f"{what} need integers, not {a} and {b}: convert with int()")


def comparison(a: str, b: str, order: bool = True) -> str:
    """The type in which ``a < b`` and the like compare; without ``order``, ``a == b`` and ``a != b``."""
    if order and (is_complex(a) or is_complex(b)):
        raise TypingError("complex numbers have no order; compare .real, .imag or abs()")
    return unify(a, b)


def unary(op: str, a: str) -> tuple[str, str]:
    """Types of a unary operator: (result, the type of the computation, which is then widened to the result)."""
    if op == "Not":
        return "bool", a
    if op == "Invert" and (is_float(a) or is_complex(a)):
        raise TypingError(f"~ needs an integer, not {a}: convert {'.real of it ' * is_complex(a)}with int()")
    if op == "Invert" and a == "bool":
        return "bool", "bool"
    if op == "UAdd" and a == "float16":
        return "float32", "float32"
    if is_float(a) or is_complex(a):
        return a, a
    if a == "bool":
        return "int64", "int64"
    return ("uint64" if a in UNSIGNED else "int64"), a


def complex_result(a: str, b: str | None = None) -> str:
    """Type of ``complex(a)`` and ``complex(a, b)``."""
    for t in (a,) if b is None else (a, b):
        if t in ("bool", "float16") or (b is not None and is_complex(t)):
            raise TypingError(f"numba has no complex() of {t}; convert it, as in complex64({t} value)")
    return "complex64" if a == "float32" and b in (None, "float32") else "complex128"


def range_type(arguments: list[str]) -> str:
    """Type of the variable of ``for ... in range(...)``: the first to which the arguments convert best.

    numba converts a float or a bool as well, by cutting it.
    """
    if any(map(is_complex, arguments)):
        raise TypingError(f"range() takes no {' and '.join(arguments)}; take .real of it")

    def cost_of(kind: str) -> Cost:
        found = cost(arguments, [kind] * len(arguments))
        assert found is not None  # real numbers convert to all integers
        return found

    return min(("int32", "int64", "uint64"), key=cost_of)
