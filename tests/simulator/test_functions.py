"""Functions of numba, NumPy and cmath: their types and values, against those packages themselves."""

import cmath
import itertools
import math
from types import CodeType, FunctionType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int8, njit, types
from numba.cuda import libdevice, libdevicefuncs
from numba.cuda import random as generators
from numba.cuda.cudaimpl import round_to_impl
from numba.np.numpy_support import ufunc_find_matching_loop
from oracles.sources import import_kernel

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.language.tables.functions import CMATH, LIBDEVICE, NUMPY
from course_lib.simulator.language.types.value_types import SCALARS, TypingError

FINITE = [complex(a, b) for a, b in itertools.product((-2.5, -1.0, -0.3, 0.5, 3.75), (-1.5, -0.2, 0.7, 2.0))]
PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e3, -1e-3, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("name", sorted(NUMPY))
def test_numpys_functions_have_numbas_types(name):
    """numba takes the first loop of NumPy's that fits."""
    ufunc, row = getattr(np, name), NUMPY[name]
    numbas = {t: types.boolean if t == "bool" else getattr(types, t) for t in SCALARS if not t.startswith("complex")}
    for a in numbas:
        for b in numbas if ufunc.nin == 2 else [a]:
            given = [a, b][: ufunc.nin]
            loop = ufunc_find_matching_loop(ufunc, [numbas[t] for t in given])
            try:
                found = row.rule(*given)
            except TypingError:
                assert loop is None, given
            else:
                expected = loop.numpy_outputs[0].name, tuple(kind.name for kind in loop.numpy_inputs)
                assert found == expected, given


def test_libdevice_has_the_functions_and_types_of_numba():
    """Its table says which functions there are, how many numbers they take, and of which type."""
    for name, row in LIBDEVICE.items():
        result, arguments = libdevicefuncs.functions[f"__nv_{name.removeprefix('libdevice.')}"]
        found, wanted = row.rule(*["float64"] * row.arity[0])
        assert (found, wanted) == (str(result), tuple(str(a.ty) for a in arguments)), name
        assert callable(getattr(libdevice, name.removeprefix("libdevice.")))


def of_cmath(name, z):
    """Return what cmath's function gives in a kernel, and an array for what it should give."""
    function = getattr(cmath, name)

    def kernel(z, out):
        i = cuda.grid(1)
        out[i] = function(z[i])

    dtype = bool if name.startswith("is") else z.real.dtype if name == "phase" else z.dtype
    out = np.zeros(z.size, dtype)
    assert simulate(kernel)[1, z.size](z, out).findings == ()
    return out, np.zeros(z.size, dtype)


@pytest.mark.parametrize("name", CMATH)
def test_values_of_cmath_are_cpythons(name):
    want = np.array([getattr(cmath, name)(z) for z in FINITE])
    for dtype, tolerance in (("c16", 1e-13), ("c8", 1e-5)):
        np.testing.assert_allclose(of_cmath(name, np.array(FINITE, dtype))[0], want, rtol=tolerance)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CMATH)
@pytest.mark.parametrize(("dtype", "tolerance"), [("c16", 1e-12), ("c8", 1e-4)])
def test_special_values_of_cmath_are_numbas(name, dtype, tolerance):
    function = getattr(cmath, name)

    @njit
    def loop(z, out):
        for i in range(z.size):
            out[i] = function(z[i])

    z = np.array([complex(a, b) for a, b in itertools.product(PARTS, PARTS)], dtype)
    z = z[z != 0] if name.startswith("log") else z  # on a CPU, numba raises there
    if name in ("cos", "cosh"):  # of two infinities, the sign of a NaN decides what numba gives
        z = z[~(np.isinf(z.real) & np.isinf(z.imag))]
    got, want = of_cmath(name, z)
    loop(z, want)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-7 if dtype == "c8" else 0)


def test_rectangular_form_of_infinities_and_zeros_is_numbas():
    def kernel(r, phi, out):
        i = cuda.grid(1)
        out[i] = cmath.rect(r[i], phi[i])

    rect = njit(lambda r, phi: cmath.rect(r, phi))
    r, phi = (np.array(part) for part in zip(*itertools.product(PARTS, PARTS), strict=True))
    want, out = np.array([rect(*one) for one in zip(r, phi, strict=True)]), np.zeros(r.size, complex)
    simulate(kernel)[1, r.size](r, phi, out)
    for got, right in ((out.real, want.real), (out.imag, want.imag)):
        np.testing.assert_allclose(got, right, rtol=1e-15)
        np.testing.assert_array_equal(np.signbit(got)[~np.isnan(got)], np.signbit(right)[~np.isnan(right)])


def numbas_round():
    """The code that numba's CUDA target compiles for ``round(x, n)``, compiled for the CPU."""
    code = next(c for c in round_to_impl.__code__.co_consts if isinstance(c, CodeType) and c.co_name == "round_ndigits")
    return njit(FunctionType(code, {"math": math}))


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "i8", "u1"])
def test_rounding_to_digits(kind):
    """numba has a code of its own for it on its CUDA target, which works in double precision."""

    def kernel(values, digits, out):
        i = cuda.grid(1)
        out[i] = round(values[i], digits[i])

    random = np.random.default_rng(5)
    digits = random.integers(-4, 5, 256)
    values = random.normal(0, 1000, 256) if kind.startswith("f") else random.integers(0, 256, 256)
    halves = random.integers(-99, 99, 256) * 0.5 / 10.0**digits
    values = np.where(np.arange(256) % 3, values, halves).astype(kind)
    if kind.startswith("f"):
        values[:5], digits[:5] = [np.inf, -np.inf, np.nan, 1e30, 1.5e-10], [2, -2, 1, 400, 25]
    floating = np.float32 if kind in ("f4", "u1") else np.float64
    rounded = numbas_round()
    expected = np.array([rounded(floating(v), n) for v, n in zip(values, digits, strict=True)], floating)
    out = np.zeros(256, floating)
    simulate(kernel)[8, 32](values, digits, out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", ["next", "uniform_float32", "uniform_float64", "normal_float32"])
def test_random_numbers_are_those_of_the_compiled_generator(name):
    draw, dtype = getattr(generators, f"xoroshiro128p_{name}"), "u8" if name == "next" else "f8"

    def kernel(rng_states, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            for k in range(out.shape[1]):
                out[i, k] = draw(rng_states, i)

    def of_one_state(rng_states, out):
        out[cuda.grid(1)] = draw(rng_states, 0)

    states = np.zeros(50, generators.xoroshiro128p_dtype)
    generators.init_xoroshiro128p_states_cpu(states, 7, 0)
    compiled, want, out = states.copy(), np.zeros((50, 3), dtype), np.zeros((50, 3), dtype)
    for i, k in np.ndindex(50, 3):
        want[i, k] = draw(compiled, i)
    assert simulate(kernel)[2, 32](states, out).findings == ()
    np.testing.assert_array_equal(states, compiled)
    np.testing.assert_allclose(out, want, rtol=1e-6 if dtype == "f8" else 0)
    findings = simulate(of_one_state, strict=False)[1, 64](states, np.zeros(64, dtype)).findings
    assert {(f.kind, f.array) for f in findings} == {("race", f"rng_states.{word}") for word in ("s0", "s1")}


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        *((name, "f4 f8 i4 u4 i8 u8") for name in ("add", "sub", "max", "min", "nanmax", "nanmin")),
        *((name, "i4 u4 i8 u8") for name in ("and_", "or_", "xor", "exch", "cas")),
        *((name, "u4 u8") for name in ("inc", "dec")),
    ],
)
def test_an_atomic_takes_what_numbas_takes(tmp_path, name, takes):
    """The types of numba's own declaration; a histogram of uint8 does not compile there."""
    values = "1, 2" if name == "cas" else "1"
    text = f"from numba import cuda\n\n\ndef kernel(a):\n    cuda.atomic.{name}(a, 0, {values})\n"
    kernel = import_kernel(text, tmp_path)
    for dtype in "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8".split():
        if dtype in takes.split():
            simulate(kernel)[1, 1](np.zeros(1, dtype))
        else:
            with pytest.raises(UnsupportedKernelError, match=rf"cuda\.atomic\.{name}\b"):
                simulate(kernel)[1, 1](np.zeros(1, dtype))


number = st.integers(-9, 9)


@given(number, number, number.filter(bool), st.integers(-3, 3))
@settings(max_examples=60, deadline=None)
def test_the_elements_that_are_filled_are_those_of_numpys_slice(start, stop, step, value):
    """The bounds differ between the threads, as those of a variable do."""

    def kernel(A, start, stop, step, value):
        t = cuda.threadIdx.x
        A[t, start + t : stop + t : step] = value
        A[t + 4, ::step] = value
        A[t + 4, start:] = value + 1
        A[t + 4, :stop] = value + 2

    A = np.zeros((8, 7), np.int64)
    expected = A.copy()
    for t in range(4):
        expected[t, start + t : stop + t : step] = value
        expected[t + 4, ::step], expected[t + 4, start:], expected[t + 4, :stop] = value, value + 1, value + 2
    simulate(kernel)[1, 4](A, start, stop, step, value)
    np.testing.assert_array_equal(A, expected)


VALUES = {
    "int8": np.int8(1), "int32": np.int32(1), "int64": np.int64(1), "uint8": np.uint8(1), "bool": True,
    "float32": np.float32(1), "float64": 1.0, "complex64": np.complex64(1), "tuple": (1, 2.0),
}  # fmt: skip
CLASSES = [int, float, bool, complex, range, np.float32, np.int64, np.bool_, float32, int8, (int, np.int32)]


def instances(asked, compile):
    """Return the names of the values that are instances of a class, in a kernel or in numba's code for the CPU."""

    first, second = asked if isinstance(asked, tuple) else (asked, None)

    def one(value, out):
        out[0] = isinstance(value, first)

    def either(value, out):
        out[0] = isinstance(value, (first, second))

    found = {name: np.zeros(1) for name in VALUES}
    for name, value in VALUES.items():
        compile(either if second else one)(value, found[name])
    return [name for name, out in found.items() if out[0]]


def simulated(kernel):
    return simulate(kernel)[1, 1]


@pytest.mark.parametrize(
    ("asked", "found"), [(int, ["int64"]), ((float, np.int32), ["int32", "float64"]), (tuple, ["tuple"])]
)
def test_isinstance_asks_for_the_exact_type(asked, found):
    """As numba does, of which the next test asks."""
    assert instances(asked, simulated) == found


@pytest.mark.nightly
@pytest.mark.parametrize("asked", [*CLASSES, (int, float)], ids=str)
def test_isinstance_says_what_numba_says(asked):
    assert instances(asked, simulated) == instances(asked, njit)
