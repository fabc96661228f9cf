"""The functions of cmath give CPython's values by day, and numba's at night, also for zeros, infinities and NaN."""

import cmath
import itertools

import numba
import numpy as np
import pytest
from numba import cuda

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.language.calls import CMATH

FINITE = [complex(a, b) for a, b in itertools.product((-2.5, -1.0, -0.3, 0.5, 3.75), (-1.5, -0.2, 0.7, 2.0))]
PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e3, -1e-3, np.inf, -np.inf, np.nan)
SPECIAL = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]


def simulated(name, z):
    function = getattr(cmath, name)

    def kernel(z, out):
        i = cuda.grid(1)
        out[i] = function(z[i])

    out = np.zeros(z.size, result(name, z.dtype))
    assert simulate(kernel)[1, z.size](z, out).findings == ()
    return out


def result(name, dtype):
    return bool if name.startswith("is") else np.zeros(0, dtype).real.dtype if name == "phase" else dtype


@pytest.mark.parametrize("name", CMATH)
def test_values_are_cpythons(name):
    want = np.array([getattr(cmath, name)(z) for z in FINITE])
    for dtype, tolerance in (("c16", 1e-13), ("c8", 1e-5)):
        np.testing.assert_allclose(simulated(name, np.array(FINITE, dtype)), want, rtol=tolerance)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CMATH)
@pytest.mark.parametrize(("dtype", "tolerance"), [("c16", 1e-12), ("c8", 1e-4)])
def test_special_values_are_numbas(name, dtype, tolerance):
    function = getattr(cmath, name)

    @numba.njit
    def loop(z, out):
        for i in range(z.size):
            out[i] = function(z[i])

    z = np.array(SPECIAL, dtype)
    z = z[z != 0] if name.startswith("log") else z  # on a CPU, numba raises there
    if name in ("cos", "cosh"):  # of two infinities, the sign of a NaN decides what numba gives
        z = z[~(np.isinf(z.real) & np.isinf(z.imag))]
    want = np.zeros(z.size, result(name, dtype))
    loop(z, want)
    np.testing.assert_allclose(simulated(name, z), want, rtol=tolerance, atol=1e-7 if dtype == "c8" else 0)


@pytest.mark.parametrize(("dtype", "tolerance"), [("c16", 1e-14), ("c8", 1e-6)])
def test_polar_form_and_logarithms_to_a_base(dtype, tolerance):
    def kernel(z, out):
        i = cuda.grid(1)
        r, phi = cmath.polar(z[i])
        out[0, i], out[1, i] = cmath.rect(r, phi), complex(*cmath.polar(z[i]))
        out[2, i], out[3, i] = cmath.log(z[i], 3 - 1j), cmath.log(z[i])

    z = np.array(FINITE, dtype)
    out = np.zeros((4, z.size), dtype)
    simulate(kernel)[1, z.size](z, out)
    want = [(v, complex(*cmath.polar(v)), cmath.log(v, 3 - 1j), cmath.log(v)) for v in FINITE]
    np.testing.assert_allclose(out, np.transpose(want), rtol=tolerance, atol=tolerance)


def test_rectangular_form_of_infinities_and_zeros_is_numbas():
    @numba.njit
    def loop(r, phi, out):
        for i in range(r.size):
            out[i] = cmath.rect(r[i], phi[i])

    def kernel(r, phi, out):
        i = cuda.grid(1)
        out[i] = cmath.rect(r[i], phi[i])

    r, phi = (np.array(part) for part in zip(*itertools.product(PARTS, PARTS), strict=True))
    want, out = np.zeros(r.size, complex), np.zeros(r.size, complex)
    loop(r, phi, want)
    simulate(kernel)[1, r.size](r, phi, out)
    np.testing.assert_allclose(out, want, rtol=1e-15)
    np.testing.assert_array_equal(
        np.signbit([out.real, out.imag])[~np.isnan([out.real, out.imag])],
        np.signbit([want.real, want.imag])[~np.isnan([want.real, want.imag])],
    )
    with pytest.raises(UnsupportedKernelError, match="two floats"):
        simulate(kernel)[1, 1](np.ones(1, int), phi, out)


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "i2"])
def test_real_numbers_become_complex(dtype):
    """Of float32 and what fits in it complex64, of all else complex128, as numba's typer says."""

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = cmath.sqrt(x[i])

    x, out = np.array([-4, -2, 0, 3], dtype), np.zeros(4, "c16")
    simulate(kernel)[1, 4](x, out)
    want = np.sqrt(x.astype("c8" if dtype in ("f4", "i2") else "c16"))
    np.testing.assert_array_equal(out, want.astype("c16"))
