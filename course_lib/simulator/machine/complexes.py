"""Arithmetic of complex numbers as numba does it on a GPU, part by part.

NumPy's own product may round once where numba rounds twice, and its quotient and power follow other formulas.
"""

from __future__ import annotations

import numpy as np

from ..findings import KernelError


def complex_of(real, imaginary):
    """``complex(real, imaginary)`` of two floats of one type."""
    kind = np.complex64 if real.dtype == np.float32 else np.complex128
    result = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), kind)
    result.real, result.imag = real, imaginary
    return result[()]


def product(a, b):
    """``a * b`` of complex numbers of one type."""
    return complex_of(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def complex_quotient(a, b, full, mask, line: int):
    """``a / b``: CPython's way, which is numba's. Raises KernelError where an active lane divides by zero."""
    if np.any(b == 0) and (full(b == 0) & full(mask)).any():
        raise KernelError(
            f"line {line}: a complex number is divided by zero; numba ends such a thread there, in the "
            "middle of the kernel and without a word: check the divisor first"
        )
    by_real = np.abs(b.real) >= np.abs(b.imag)
    large, small = np.where(by_real, b.real, b.imag), np.where(by_real, b.imag, b.real)
    ratio = small / large
    scale = large + small * ratio
    first, second = np.where(by_real, a.real, a.imag), np.where(by_real, a.imag, a.real)
    crossed = np.where(by_real, second - first * ratio, first * ratio - second)
    return complex_of((first + second * ratio) / scale, crossed / scale)


def complex_power(a, b):
    """``a ** b`` in polar form, as numba compiles it for a GPU; 0 where both real parts are 0, but b is not."""
    kind = a.dtype.type
    size, angle = np.hypot(a.real, a.imag), np.arctan2(a.imag, a.real)
    length, phase = np.power(size, b.real), angle * b.real
    turns = b.imag != 0
    length = np.where(turns, length / np.exp(angle * b.imag), length)
    phase = np.where(turns, phase + b.imag * np.log(size), phase)
    result = product(length.astype(kind), complex_of(np.cos(phase), np.sin(phase)))
    result = np.where((a.real == 0) & (b.real == 0), kind(0), result)
    return np.where(b == 0, kind(1), result)[()]
