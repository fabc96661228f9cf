"""Operations of compiled kernels that NumPy lacks, or does differently from numba on a GPU."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..findings import KernelError
from .masks import Mask, Vector


def cast(value: Vector, dtype: np.dtype) -> Vector:
    """``value`` converted as a GPU does: ints wrap, floats go to ints towards zero and stop at the ends of their range.

    That is PTX's ``cvt.rzi``. It has no 8-bit form: an 8-bit result is the low bits of a 16-bit conversion. NaN gives
    0, or only the highest bit set if one of the types has 64 bits. From float16 numba uses ``cvt.rni``: to the nearest
    integer, ties to even, and directly to 8 bits.
    """
    if dtype.kind not in "iu" or value.dtype.kind != "f":
        return value.astype(dtype)
    half = value.dtype.itemsize == 2
    if half:
        value = value.astype(np.float32)
    wide = dtype if dtype.itemsize > 1 or half else np.dtype(f"{dtype.kind}2")
    whole, least, most = (np.rint if half else np.trunc)(value), np.iinfo(wide).min, np.iinfo(wide).max
    inside = (whole >= least) & (whole < float(most) + 1 if wide.itemsize < 8 else whole < float(most))
    if np.all(inside):
        return whole.astype(wide).astype(dtype)
    nan = 1 << wide.itemsize * 8 - 1 if 8 in (wide.itemsize, value.dtype.itemsize) else 0
    beyond = np.where(whole < 0, wide.type(least), wide.type(most))
    beyond = np.where(np.isnan(whole), np.array(nan, f"u{wide.itemsize}").view(wide), beyond)
    return np.where(inside, np.where(inside, whole, 0).astype(wide), beyond).astype(dtype)[()]


def quotient(a: Vector, b: Vector) -> Vector:
    """``a // b`` of integers: 0 where b is 0, and where the lowest integer is divided by -1."""
    result = a // b
    if result.dtype.kind == "i":
        overflow = (b == -1) & (a == np.iinfo(result.dtype).min)
        if np.any(overflow):
            return np.where(overflow, result.dtype.type(0), result)[()]
    return result


def floor_division(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """``a // b`` and ``a % b`` of floats as numba and the GPU's compiler compute them.

    The rest is |a| - floor(|a| / |b|) * |b|, rounded once, where a CPU's is exact: so it is NaN for an infinite ``b``.
    """
    size, step = np.abs(a), np.abs(b)
    rest = fused(-np.floor(size / step), step, size)
    rest = np.where(a < 0, -rest, rest)
    whole = (a - rest) / b
    other_sign = (rest != 0) & ((rest < 0) != (b < 0))
    whole = np.where(other_sign, whole - 1, whole)
    rest = np.where(other_sign, rest + b, np.where(rest == 0, np.copysign(rest, b), rest))
    nearest = np.floor(whole) + (whole - np.floor(whole) > 0.5)
    nearest = np.where(whole == 0, whole * whole * a / b, nearest)
    return np.where(b == 0, a / b, nearest).astype(rest.dtype)[()], rest[()]


def power(a: Vector, b: Vector) -> Vector:
    """``a ** b``; an integer to a negative power is 1 / a as a GPU computes it: 0, except for a of -1, 0 and 1."""
    if np.asarray(a).dtype.kind == "f":
        result = np.power(a, b)
        if np.any(b == 0.5):  # NumPy takes the square root, which differs at -inf and at -0.0
            is_root = b == 0.5
            dtype = result.dtype
            result = result + 0.0 * is_root
            result = np.where(is_root & (a == -np.inf), np.inf, result).astype(dtype)[()]
        return result
    if not (np.asarray(b) < 0).any():
        return np.power(a, b)
    value = np.power(a, np.where(b < 0, 0, b))
    of_minus_one = np.where(b % 2 == 0, 1, -1)
    inverse = np.select([a == 1, a == -1, a == 0], [1, of_minus_one, -(2**63)], 0)
    return np.where(b < 0, inverse, value).astype(np.asarray(a).dtype)[()]


def min_or_max(function: np.ufunc, a: Vector, b: Vector, by_sign: bool = False) -> Vector:
    """``function``, which gives the smaller or the larger of two floats; NumPy's leaves open which zero it takes.

    Of 0.0 and -0.0 it takes ``a``, as numba compiles NumPy's functions, or ``by_sign`` the one that PTX's ``min`` and
    ``max`` take: -0.0 is the smaller.
    """
    result, same = function(a, b), a == b
    if result.dtype.kind != "f" or not np.count_nonzero(same):
        return result
    if by_sign:
        a = np.where(np.signbit(a) == (function is np.fmin), a, b)
    return np.where(same, a, result)[()]


def later_if(compare: np.ufunc, a: Vector, b: Vector) -> Vector:
    """``b`` where ``compare(b, a)``, else ``a``: Python's ``min`` and ``max``, of which NaN is neither."""
    chosen: Vector = np.where(compare(b, a), b, a)
    return chosen[()]


def raised(a: Vector, exponent: int) -> Vector:
    """``a ** exponent`` of a float and a literal, by repeated squaring, rounded at each step as in numba's code."""
    value, left = a.dtype.type(1), abs(int(exponent))
    while left:
        if left & 1:
            value = value * a
        left >>= 1
        a = a * a
    return value if exponent >= 0 else a.dtype.type(1) / value


#: The largest power of ten that is exact in float64.
EXACT_POWERS = 22


def rounded(x: Vector, digits: Vector) -> Vector:
    """``round(x, digits)`` of a float: scaled, rounded to the nearest integer (half to even) and scaled back.

    The steps are those of numba's code, in double precision. The rounded integer has 64 bits, as on a GPU, so larger
    values become the ends of that range.
    """
    value = x.astype(np.float64)
    digits = np.asarray(digits)
    after_point = digits >= 0
    large = digits > EXACT_POWERS  # such a power of ten is no exact float64, and is taken as two factors
    scale = np.power(10.0, np.where(large, digits - EXACT_POWERS, np.abs(digits)))
    more = np.where(large, 10.0**EXACT_POWERS, 1.0)
    scaled = np.where(after_point, value * scale * more, value / scale)
    integer = np.dtype(np.int64)
    whole = cast(np.rint(scaled), integer).astype(np.float64)
    nearest_even = 2.0 * cast(np.rint(scaled / 2.0), integer)
    whole = np.where(np.abs(scaled - whole) == 0.5, nearest_even, whole)
    result = np.where(after_point, whole / more / scale, whole * scale)
    unchanged = ~np.isfinite(value) | (after_point & np.isinf(scaled))
    return np.where(unchanged, value, result).astype(x.dtype)[()]


def remainder(a: Vector, b: Vector) -> Vector:
    """``a - n * b``, where n is the integer nearest to a / b, the even one of two: IEEE 754's remainder, exact."""
    size, step = np.abs(a), np.abs(b)
    below = np.fmod(size, step)
    above = step - below
    even = np.fmod((size - below) / 2, step) == 0
    take_below = (below < above) | ((below == above) & even)
    return np.copysign(a.dtype.type(1), a) * np.where(take_below, below, -above)


def fused(a: Vector, b: Vector, c: Vector) -> Vector:
    """``a * b + c`` rounded once: computed in float64, or for float64 with the errors of product and sum added.

    These are one float64; where there is none, as beside 0 and infinity, the platform's long double computes all.
    """
    kind = np.asarray(a).dtype
    wide = np.float64 if kind.itemsize < 8 else np.longdouble
    whole = (a.astype(wide) * b.astype(wide) + c.astype(wide)).astype(kind)
    if kind.itemsize < 8:
        return whole
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    lost_by_product = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    total = product + c
    added = total - product
    lost_by_sum = (product - (total - added)) + (c - added)
    lost = lost_by_product + lost_by_sum
    no_underflow = np.abs(product) > 2.0**-900
    return np.where(no_underflow & np.isfinite(lost), total + lost, whole)[()]


def _halves(x: Vector) -> tuple[Vector, Vector]:
    """Two float64 of 26 bits each, whose sum is ``x``."""
    high = x * (2**27 + 1)
    high = high - (high - x)
    return high, x - high


def _lane_by_lane(function: Callable[[Any], float], value: Vector, beyond: Callable[[Any], float] = float) -> Vector:
    """``function`` of each lane's number; infinite where it overflows, and ``beyond(number)`` where it has no value."""

    def one(number: Any) -> float:
        try:
            return function(number)
        except OverflowError:
            return math.inf
        except ValueError:
            return beyond(number)

    result = np.vectorize(one, otypes=[np.float64])(value)
    return result.astype(value.dtype)[()]


def erf(x: Vector) -> Vector:
    return _lane_by_lane(math.erf, x)


def erfc(x: Vector) -> Vector:
    """1 - erf(x), without losing digits."""
    return _lane_by_lane(math.erfc, x)


def gamma(x: Vector) -> Vector:
    """The gamma function like CUDA's tgamma: infinite on overflow and at zero (with its sign), NaN at other poles."""
    return _lane_by_lane(math.gamma, x, lambda number: math.nan if number else math.copysign(math.inf, number))


def lgamma(x: Vector) -> Vector:
    """The logarithm of gamma's absolute value, like CUDA's lgamma: inf at a pole and on overflow."""
    return _lane_by_lane(math.lgamma, x, lambda number: math.inf)


def _bits(value: Vector) -> int:
    return 8 * np.asarray(value).dtype.itemsize


def _unsigned(value: Vector) -> Vector:
    return np.asarray(value).view(f"uint{_bits(value)}")


def bit_popc(value: Vector) -> Vector:
    """Number of bits set."""
    return np.bitwise_count(_unsigned(value))[()]


def bit_clz(value: Vector) -> Vector:
    """Number of zero bits above the highest one that is set."""
    bits = _unsigned(value)
    for shift in (1, 2, 4, 8, 16, 32):  # sets all bits below the highest one
        bits = bits | bits >> bits.dtype.type(min(shift, _bits(value) - 1))
    return (_bits(value) - np.bitwise_count(bits).astype(np.int64))[()]


def bit_ffs(value: Vector) -> Vector:
    """Position of the lowest bit that is set, from 1; 0 if there is none."""
    bits = _unsigned(value)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, _bits(value) - bit_clz(lowest))[()]


def bit_brev(value: Vector) -> Vector:
    """The bits in reverse order."""
    bits = np.unpackbits(np.asarray(value)[..., None].copy().view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(bits[..., ::-1], axis=-1, bitorder="little").view(np.asarray(value).dtype)[..., 0][()]


# --- complex numbers, part by part: NumPy's product may round once where numba rounds twice -----------------------


def complex_of(real: Vector, imaginary: Vector) -> Vector:
    """``complex(real, imaginary)`` of two floats of one type."""
    kind = np.complex64 if real.dtype == np.float32 else np.complex128
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), kind)
    result.real, result.imag = real, imaginary
    return result[()]


def rectangular(r: Vector, phi: Vector) -> Vector:
    """``cmath.rect(r, phi)``, as numba compiles it: infinity times zero is zero."""
    infinite = np.isinf(r)
    cos, sin = np.cos(phi), np.sin(phi)
    real = np.where((cos == 0) & infinite, cos / r, cos * r)
    imaginary = np.where((sin == 0) & infinite, sin / r, sin * r)
    dtype = real.dtype
    without_angle = ~np.isfinite(phi)
    real = np.where(without_angle & infinite, r, real)
    imaginary = np.where(without_angle & infinite, phi, imaginary)
    zero = without_angle & (r == 0)
    return complex_of(np.where(zero, 0, real).astype(dtype), np.where(zero, 0, imaginary).astype(dtype))


def magnitude(a: Vector) -> Vector:
    """``abs(a)`` of a complex number."""
    return np.hypot(a.real, a.imag)


def product(a: Vector, b: Vector) -> Vector:
    """``a * b`` of complex numbers of one type."""
    real = a.real * b.real - a.imag * b.imag
    imaginary = a.real * b.imag + a.imag * b.real
    return complex_of(real, imaginary)


def complex_quotient(a: Vector, b: Vector, full: Callable[[Any], Any], mask: Mask, line: int) -> Vector:
    """``a / b`` by CPython's algorithm, which numba uses. Raises KernelError if an active lane divides by zero."""
    if np.any(b == 0) and (full(b == 0) & full(mask)).any():
        raise KernelError(
            "a complex number is divided by zero; numba ends such a thread there, in the middle of the kernel, without "
            "a message: check the divisor first",
            line=line,
        )
    by_real = np.abs(b.real) >= np.abs(b.imag)
    large, small = np.where(by_real, b.real, b.imag), np.where(by_real, b.imag, b.real)
    ratio = small / large
    scale = large + small * ratio
    first, second = np.where(by_real, a.real, a.imag), np.where(by_real, a.imag, a.real)
    crossed = np.where(by_real, second - first * ratio, first * ratio - second)
    return complex_of((first + second * ratio) / scale, crossed / scale)


def overflowed(result: Vector, a: Vector, of_nan: bool) -> Vector:
    """A function of ``a`` by numba's products: infinity times zero is NaN, where C99 has zero.

    ``of_nan``: beside NaN, too.
    """
    big = (np.isinf(result.real) | np.isinf(result.imag)) & np.isfinite(a)
    lost = big | np.isnan(result) if of_nan else big
    real, imaginary = (
        np.where(lost & (part == 0), part.dtype.type(np.nan), part) for part in (result.real, result.imag)
    )
    return complex_of(real, imaginary)


def complex_power(a: Vector, b: Vector) -> Vector:
    """``a ** b`` in polar form, as numba compiles it for a GPU; 0 if both real parts are 0 and b is not 0."""
    kind = a.dtype.type
    size, angle = np.hypot(a.real, a.imag), np.arctan2(a.imag, a.real)
    length, phase = np.power(size, b.real), angle * b.real
    rotates = b.imag != 0
    length = np.where(rotates, length / np.exp(angle * b.imag), length)
    phase = np.where(rotates, phase + b.imag * np.log(size), phase)
    result = product(length.astype(kind), complex_of(np.cos(phase), np.sin(phase)))
    result = np.where((a.real == 0) & (b.real == 0), kind(0), result)
    return np.where(b == 0, kind(1), result)[()]
