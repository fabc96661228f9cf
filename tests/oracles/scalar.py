"""One scalar operation at a time, with numba's types: every value is a NumPy scalar of the type numba infers.

Division by zero follows the error model of the CUDA target: integers give 0, floats inf or nan.
"""

import builtins
import math
from fractions import Fraction

import numpy as np

from oracles import numba_typing as typing

INT64, FLOAT64, BOOL = (np.dtype(n) for n in ("int64", "float64", "bool"))


def literal(value):
    """Return a Python constant as the scalar that numba makes of it."""
    if isinstance(value, np.generic):
        return value
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value) if value < 2**63 else np.uint64(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, complex):
        return np.complex128(value)
    raise TypeError(f"no numba scalar for {value!r}")


def cast(value, dtype):
    """Convert as a GPU does: integers wrap; floats truncate toward zero, and stop at the ends of the range.

    float16 rounds to the nearest integer, and is the one that can be converted to 8 bits.
    """
    dtype = np.dtype(dtype)
    if value.dtype == dtype:
        return value
    if value.dtype.kind == "f" and dtype.kind in "iu":
        half = value.dtype == np.float16
        size = dtype.itemsize if half else max(dtype.itemsize, 2)
        value = np.rint(value) if half else value
        low, high = (0, 2 ** (8 * size) - 1) if dtype.kind == "u" else (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1)
        if np.isnan(value):
            whole = 2 ** (8 * size - 1) if 8 in (size, value.dtype.itemsize) else 0
        elif np.isinf(value):
            whole = low if value < 0 else high
        else:
            whole = min(max(int(value), low), high)
        bits = 8 * dtype.itemsize
        whole %= 2**bits
        return dtype.type(whole - 2**bits if dtype.kind == "i" and whole >= 2 ** (bits - 1) else whole)
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def binary(symbol, a, b, literal_exponent=None):
    """Return `a symbol b`; literal_exponent is the value of an exponent written as an int literal."""
    function = typing.BINARY[symbol]
    exponent = literal_exponent if symbol == "**" else None
    result = typing.oracle_binop(symbol, a.dtype, b.dtype if exponent is None else exponent)
    if result is None:
        raise TypeError(f"numba refuses {a.dtype} {symbol} {b.dtype}")
    if symbol == "**":
        return _power(a, b, result, exponent)
    if result.kind in "iu":
        return _integer(symbol, cast(a, result), cast(b, result), result)
    a, b = cast(a, result), cast(b, result)
    if result.kind == "c" and symbol in "*/":
        return _product(a, b) if symbol == "*" else _quotient(a, b)
    with np.errstate(all="ignore"):
        if symbol in ("//", "%"):
            return result.type(_divided_down(a, b)[symbol == "%"])
        return result.type(function(a, b))


def fused(a, b, c):
    """Return a * b + c of floats of one type, rounded once."""
    if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c):
        return c
    if not np.isfinite(a) or not np.isfinite(b):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return a * b + c  # with the sign of its zero
    if abs(exact) < 2**1024 - 2**970:
        return type(a)(float(exact))
    return type(a)(math.inf if exact > 0 else -math.inf)


def _divided_down(a, b):
    """Return the floats a // b and a % b, by numba's rule and the rest that NVIDIA's compiler takes: |a| - n |b|."""
    rest = fused(-np.floor(abs(a) / abs(b)), abs(b), abs(a)) * (-1 if a < 0 else 1)
    if b == 0:
        return a / b, rest
    whole = (a - rest) / b
    if rest and (rest < 0) != (b < 0):
        whole, rest = whole - 1, rest + b
    elif not rest:
        rest = np.copysign(rest, b)
    if not whole or np.isnan(whole):
        return whole * whole * a / b, rest
    return np.floor(whole) + (whole - np.floor(whole) > 0.5), rest


def _integer(symbol, a, b, result):
    if symbol in "//%":
        overflow = result.kind == "i" and a == np.iinfo(result).min and b == -1
        if b == 0 or overflow:
            return result.type(0)
    with np.errstate(all="ignore"):
        return result.type(typing.BINARY[symbol](a, b))


def _pair(real, imaginary, kind):
    return kind.type(complex(real, imaginary))


def _product(a, b):
    with np.errstate(all="ignore"):
        return _pair(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real, a.dtype)


def _quotient(a, b):
    """Divide as CPython does: by the larger part of b first."""
    if b == 0:
        raise ZeroDivisionError("complex division by zero")
    if abs(b.real) >= abs(b.imag):
        ratio = b.imag / b.real
        scale = b.real + b.imag * ratio
        return _pair((a.real + a.imag * ratio) / scale, (a.imag - a.real * ratio) / scale, a.dtype)
    ratio = b.real / b.imag
    scale = b.real * ratio + b.imag
    return _pair((a.real * ratio + a.imag) / scale, (a.imag * ratio - a.real) / scale, a.dtype)


def _complex_power(a, b, result):
    """Raise as numba's code for the CUDA target does."""
    a, b = cast(a, result), cast(b, result)
    if b == 0:
        return result.type(1)
    if a.real == 0 and b.real == 0:
        return result.type(0)
    with np.errstate(all="ignore"):
        size, angle = np.hypot(a.real, a.imag), np.arctan2(a.imag, a.real)
        length, phase = size**b.real, angle * b.real
        if b.imag != 0:
            length /= np.exp(angle * b.imag)
            phase += b.imag * np.log(size)
        return _product(result.type(length), _pair(np.cos(phase), np.sin(phase), result))


def _power(a, b, result, literal):
    if result.kind == "c":
        return _complex_power(a, b, result)
    if result.kind == "f":
        a = cast(a, result)
        with np.errstate(all="ignore"):
            if literal is None:
                return result.type(np.power(a, cast(b, result)))
            value = _by_squaring(a, abs(literal))
            return value if literal >= 0 else result.type(1) / value
    base, exponent = int(cast(a, result)), int(b)
    if exponent < 0:
        if base == 0:
            return result.type(np.iinfo(np.int64).min)
        return result.type(base**-exponent if base in (1, -1) else 0)
    bits = result.itemsize * 8
    return cast(np.uint64(pow(base, exponent, 2**bits)), result)


def _by_squaring(a, exponent):
    """Multiply as numba's code for a literal exponent does, rounding at every step."""
    value = a.dtype.type(1)
    while exponent:
        if exponent & 1:
            value *= a
        exponent >>= 1
        a = a * a
    return value


def compare(symbol, a, b):
    function = typing.COMPARE[symbol]
    left, right = typing.oracle_operands(function, a.dtype, b.dtype)
    return np.bool_(function(cast(a, left), cast(b, right)))


def unary(symbol, a):
    result = typing.oracle_unary(symbol, a.dtype)
    if result is None:
        raise TypeError(f"numba refuses {symbol}{a.dtype}")
    if symbol == "not":
        return np.bool_(not a)
    if symbol == "+":
        return cast(a, result)
    with np.errstate(all="ignore"):
        if symbol == "~":
            return np.bool_(not a) if result == BOOL else cast(~a, result)
        return -cast(a, result) if a.dtype == BOOL else cast(-a, result)  # negated first, widened after


def call(function, *values):
    """Return function(*values) for min, max, abs, int, float, complex, bool and math.*"""
    result = typing.oracle_call(function, *(v.dtype for v in values))
    if result is None:
        raise TypeError(f"numba refuses {function.__name__} of {[str(v.dtype) for v in values]}")
    if function in (builtins.min, builtins.max):
        same = [cast(v, result) for v in values]
        if len(values) == 2 and {v.dtype.name for v in values} <= {"float32", "float64"}:  # PTX's, else Python's
            return function([v for v in same if v == v] or same, key=lambda v: (v, not np.signbit(v)))
        return function(same)
    if function is builtins.complex:
        parts = [cast(v, typing.PARTS[result]) for v in values] if values[1:] else [cast(values[0], result)]
        return _pair(*parts, result) if values[1:] else parts[0]
    if function in (builtins.int, builtins.float):
        return cast(values[0], result)
    if function is builtins.bool:
        return np.bool_(values[0] != 0)
    if function is builtins.abs:
        with np.errstate(all="ignore"):
            one = values[0]
            return np.hypot(one.real, one.imag) if one.dtype.kind == "c" else cast(np.abs(one), result)
    name = {"fabs": "fabs", "pow": "power", "gamma": None}.get(function.__name__, function.__name__)
    numpy_function = getattr(np, name, None) if name else None
    with np.errstate(all="ignore"):
        if numpy_function is not None:
            converted = [cast(v, result if result.kind == "f" else np.float64) for v in values]
            return result.type(numpy_function(*converted))
        return result.type(function(*(float(v) for v in values)))
