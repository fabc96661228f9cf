"""The texts of values, in a sentence and in a small cell."""

import re
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np


def number(value: Any) -> str:
    """Write a value: a whole number in full, another with at most seven significant digits, a truth as 1 or 0."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer | np.bool_):
        return str(int(value))
    if np.iscomplexobj(value):
        imaginary = number(value.imag)
        return f"({number(value.real)}{'' if imaginary.startswith('-') else '+'}{imaginary}j)"
    digits = _own_digits(value)
    if not np.isfinite(digits):
        return str(digits)
    if not digits.is_integer() or abs(digits) > _EXACT:
        digits = float(_SEVEN.create_decimal(Decimal(digits)))
    return str(int(digits)) if digits.is_integer() and abs(digits) < 1e16 else repr(digits)


def short(value: Any) -> str:
    """Write a value so that it fits a small cell: two or three significant digits, no leading zero.

    The imaginary part of a complex number is on a second line.
    """
    if np.iscomplexobj(value):
        return f"{short(value.real)}\n{short(value.imag)}j"
    value = float(value) if isinstance(value, bool | np.bool_) else _own_digits(value)
    if value.is_integer() and abs(value) < 1e5:
        return str(int(value))
    if not np.isfinite(value):
        return str(value)
    exact = Decimal(value)
    if abs(value) >= 1e4 or abs(value) < 0.005:
        return re.sub(r"e([+-])0*", lambda sign: "e" + sign[1].strip("+"), f"{_ONE.create_decimal(exact):.0e}")
    places = 0
    if abs(value) < 10:
        places = 2
    elif abs(value) < 100:
        places = 1
    text = str(exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


#: Rounding as in JavaScript, which rounds a tie to the larger number.
_ONE, _SEVEN = (Context(prec=digits, rounding=ROUND_HALF_UP) for digits in (1, 7))
_EXACT = 2**53  # up to here a float holds every whole number


def _own_digits(value: Any) -> float:
    """The value of a number's shortest digits in its type, or in float32 if that holds it, as in the browser."""
    if float(value).is_integer() and abs(float(value)) <= _EXACT:
        return float(value)
    digits = float(str(value))
    with np.errstate(over="ignore"):
        narrow = np.float32(digits)
    return float(str(narrow)) if float(narrow) == digits else digits
