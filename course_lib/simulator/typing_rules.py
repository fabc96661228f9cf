"""Numba's scalar typing on the CUDA target, as rules over dtype names, and the conversion between the types.

The rules were read off numba's own typer, operator by operator; ``tests/simulator/test_typing_oracle.py`` holds
them to it. They differ from NumPy's: ``int32 * int32`` is int64, ``float32 * int32`` is float64 and
``uint64 + int64`` is int64.
"""

from __future__ import annotations

import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
SCALARS = ("bool", *SIGNED, *UNSIGNED, *FLOATS)
#: Integer types that float32 holds exactly as far as numba's arithmetic is concerned.
_NARROW = ("bool", "int8", "int16", "uint8")

DTYPE = {name: np.dtype(name) for name in SCALARS}


class TypingError(Exception):
    """The operator is not defined for these types, in numba as here."""


def is_int(t: str) -> bool:
    return t in SIGNED or t in UNSIGNED


def is_float(t: str) -> bool:
    return t in FLOATS


def cast(value, dtype: np.dtype):
    """``value`` converted as a GPU does: ints wrap, floats go to ints towards zero and stop at the ends of their range.

    That is PTX's ``cvt.rzi``, which has no 8-bit form: those are the low bits of a 16-bit conversion. NaN gives 0, or
    the highest bit alone where a side has 64 bits.
    """
    if dtype.kind not in "iu" or value.dtype.kind != "f":
        return value.astype(dtype)
    wide = dtype if dtype.itemsize > 1 else np.dtype(f"{dtype.kind}2")
    whole, least, most = np.trunc(value), np.iinfo(wide).min, np.iinfo(wide).max
    inside = (whole >= least) & (whole < float(most) + 1 if wide.itemsize < 8 else whole < float(most))
    if np.all(inside):
        return whole.astype(wide).astype(dtype)
    nan = 1 << wide.itemsize * 8 - 1 if 8 in (wide.itemsize, value.dtype.itemsize) else 0
    beyond = np.where(whole < 0, wide.type(least), wide.type(most))
    beyond = np.where(np.isnan(whole), np.array(nan, f"u{wide.itemsize}").view(wide), beyond)
    return np.where(inside, np.where(inside, whole, 0).astype(wide), beyond).astype(dtype)[()]


def bits(t: str) -> int:
    return 8 * DTYPE[t].itemsize


def _float_result(a: str, b: str) -> str:
    """float32 only where both sides fit in it: float32 with float32, bool, int8, int16 or uint8."""
    return "float32" if all(t == "float32" or t in _NARROW for t in (a, b)) else "float64"


def binary(op: str, a: str, b: str) -> tuple[str, str, str]:
    """Types of ``a op b``: (result, a is converted to, b is converted to). ``op`` is an AST class name."""
    if op in ("Add", "Sub", "Mult", "FloorDiv", "Mod"):
        if is_float(a) or is_float(b):
            t = _float_result(a, b)
        else:
            t = "uint64" if a in UNSIGNED and b in UNSIGNED else "int64"
        return t, t, t
    if op == "Div":
        t = _float_result(a, b) if is_float(a) or is_float(b) else "float64"
        return t, t, t
    if op == "Pow":
        if is_float(a) and not is_float(b):
            return a, a, "int64"
        if is_float(a) or is_float(b):
            t = _float_result(a, b)
            return t, t, t
        if a == "bool" and b == "int32":
            return "float32", "float32", "int32"
        t = "uint64" if a in UNSIGNED and b in UNSIGNED else "int64"
        return t, t, t
    if op in ("BitAnd", "BitOr", "BitXor"):
        if is_float(a) or is_float(b):
            raise TypingError(f"bit operations need integers, not {a} and {b}: convert with int()")
        if a == b == "bool":
            return "bool", "bool", "bool"
        t = "uint64" if a in UNSIGNED and b in UNSIGNED else "int64"
        return t, t, t
    if op in ("LShift", "RShift"):
        if is_float(a) or is_float(b):
            raise TypingError(f"shifts need integers, not {a} and {b}: convert with int()")
        t = "uint64" if a in UNSIGNED else "int64"
        return t, t, t
    raise TypingError(f"a kernel has no operator {'@: multiply and add in a loop' if op == 'MatMult' else op}")


def comparison(a: str, b: str) -> str:
    """The type in which ``a < b`` and the like compare."""
    return unify(a, b)


def unary(op: str, a: str) -> tuple[str, str]:
    """Types of a unary operator: (result, the type it works in before it widens to the result)."""
    if op == "Not":
        return "bool", a
    if op == "Invert" and (is_float(a)):
        raise TypingError(f"~ needs an integer, not {a}: convert with int()")
    if op == "Invert" and a == "bool":
        return "bool", "bool"
    if is_float(a):
        return a, a
    if a in UNSIGNED:
        return "uint64", a
    return "int64", "int64"


def unify(a: str, b: str) -> str:
    """The one type of a variable that has type ``a`` on one path and ``b`` on another (also min and max)."""
    if a == b:
        return a
    if a == "bool":
        return b
    if b == "bool":
        return a
    if is_float(a) or is_float(b):
        if "float64" in (a, b):
            return "float64"
        other = b if a == "float32" else a
        return "float32" if bits(other) <= 16 else "float64"
    if (a in SIGNED) == (b in SIGNED):
        return a if bits(a) >= bits(b) else b
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    if unsigned == "uint64":
        return "float64"
    if bits(signed) > bits(unsigned):
        return signed
    return f"int{2 * bits(unsigned)}"


def math_result(a: str) -> str:
    """Result of a one-argument ``math`` function: float32 stays, everything else computes in float64."""
    return "float32" if a == "float32" else "float64"


def range_type(arguments: list[tuple[str, bool]]) -> str:
    """Type of the variable of ``for ... in range(...)``; each argument is (type, is it a literal)."""
    types = [t for t, _ in arguments]
    if any(not is_int(t) and t != "bool" for t in types):
        raise TypingError(f"range() needs integers, not {' and '.join(types)}: convert with int()")
    if len(types) == 1:
        if types[0] in UNSIGNED:
            return "uint64"
        return "int64" if types[0] == "int64" else "int32"
    if all(t in UNSIGNED for t in types):
        return "uint64"
    return "int32" if all(t in SIGNED and bits(t) <= 32 for t in types) else "int64"


def of_value(value) -> str | None:
    """The type numba gives a Python or NumPy scalar, or None for other objects."""
    if isinstance(value, np.generic):
        return value.dtype.name if value.dtype.name in SCALARS else None
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64" if -2**63 <= value < 2**63 else ("uint64" if value < 2**64 and value > 0 else None)
    return "float64" if isinstance(value, float) else None
