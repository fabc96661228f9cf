"""Functions of numba.cuda and NumPy beside the common ones: their values are those of NumPy and math."""

import math

import numpy as np
import pytest
from numba import cuda
from numba.cuda import libdevice, libdevicefuncs

from course_lib import UnsupportedKernelError, simulate
from course_lib.simulator.language import calls, packages

X = np.random.default_rng(6).random(8) + 0.25


def test_vectors():
    def kernel(x, out):
        i = cuda.threadIdx.x
        pair = cuda.float32x2(x[i], 2)
        four = cuda.float4(pair, cuda.float32x1(3.7), i)
        if i > 4:
            four = cuda.float4(4, 3, 2, 1)
        whole = cuda.int32x3(four.x * 10, four.y, -2.5)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = four.x, four.y, four.z, four.w
        out[i, 4], out[i, 5] = whole.x, whole.z

    out = np.zeros((8, 6))
    simulate(kernel)[1, 8](X, out)
    four = [(np.float32(v), 2, np.float32(3.7), i) if i < 5 else (4, 3, 2, 1) for i, v in enumerate(X)]
    np.testing.assert_array_equal(out, [(*v, int(v[0] * 10), -2) for v in four])


def refuse_too_few(x):
    x[0] = cuda.float32x4(1, 2, 3).x


def refuse_another_type(x):
    x[0] = cuda.float32x4(cuda.float64x2(1, 2), 1, 2).x


def refuse_a_longer_one(x):
    x[0] = cuda.float32x1(cuda.float32x2(1, 2)).x


def refuse_a_missing_item(x):
    x[0] = cuda.float32x2(1, 2).z


@pytest.mark.parametrize("kernel", [refuse_too_few, refuse_another_type, refuse_a_longer_one, refuse_a_missing_item])
def test_what_is_no_vector(kernel):
    with pytest.raises(UnsupportedKernelError, match=r"^line \d+: "):
        simulate(kernel)[1, 1](np.zeros(1))


def test_libdevice_has_the_functions_and_types_of_numba():
    """Its table says which functions there are, how many numbers they take, and of which type."""
    for name, row in calls.LIBDEVICE.items():
        result, arguments = libdevicefuncs.functions[f"__nv_{name.removeprefix('libdevice.')}"]
        found, wanted = row.rule(*["float64"] * row.arity[0])
        assert (found, wanted) == (str(result), tuple(str(a.ty) for a in arguments)), name
        assert callable(getattr(libdevice, name.removeprefix("libdevice.")))


def test_values_of_libdevice():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i] = libdevice.rsqrt(x[i]) + cuda.libdevice.fma(x[i], x[i], 1)
        out[1, i] = libdevice.fast_expf(x[i]) + libdevice.powf(x[i], 3)
        out[2, i] = libdevice.exp10(x[i]) - libdevice.atan2(x[i], 2) + libdevice.tgamma(x[i])

    out = np.zeros((3, 8))
    simulate(kernel)[1, 8](X, out)
    single = X.astype(np.float32)
    want = [
        1 / np.sqrt(X) + (X * X + 1),
        np.exp(single) + single ** np.float32(3),
        10**X - np.arctan2(X, 2) + [math.gamma(v) for v in X],
    ]
    np.testing.assert_allclose(out, want, rtol=1e-6)


def test_remainder_is_ieees():
    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = math.remainder(a[i], b[i])

    values = [0.0, -0.0, 1.0, -1.5, 2.5, 7.0, -1e300, 5e-324, math.inf, math.nan, 1.7e308]
    pairs = np.array([(a, b) for a in values for b in values])
    out = np.zeros(len(pairs))
    simulate(kernel)[1, len(pairs)](*np.ascontiguousarray(pairs.T), out)
    for (a, b), got in zip(pairs, out, strict=True):
        want = math.nan if b == 0 or math.isinf(a) else math.remainder(a, b)
        np.testing.assert_equal((got, math.copysign(1, got)), (want, math.copysign(1, want if want == want else got)))


def test_tuples_of_libdevice():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0], out[i, 1] = libdevice.sincos(x[i])
        out[i, 2], out[i, 3] = libdevice.frexpf(x[i])
        out[i, 4], out[i, 5] = libdevice.modf(x[i])
        out[i, 6] = libdevice.sad(i, 5, 2)

    out = np.zeros((8, 7))
    simulate(kernel)[1, 8](X, out)
    want = [
        (math.sin(x), math.cos(x), *math.frexp(np.float32(x)), *math.modf(x), abs(i - 5) + 2) for i, x in enumerate(X)
    ]
    np.testing.assert_allclose(out, want, rtol=1e-15)


def test_halves():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i], out[1, i] = cuda.fp16.hrsqrt(x[i]), cuda.fp16.hrcp(x[i])
        out[2, i] = cuda.fp16.hexp10(x[i])

    x, out = X.astype(np.float16), np.zeros((3, 8), np.float16)
    simulate(kernel)[1, 8](x, out)
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(out, np.array([1 / np.sqrt(wide), 1 / wide, 10**wide]).astype(np.float16))


@pytest.mark.parametrize("name", ["sin", "arctanh", "log2", "maximum", "less", "logical_and", "logical_not", "equal"])
def test_functions_of_complex_numbers(name):
    function = getattr(np, name)
    both = function.nin == 2

    def of_one(x, y, out, whole):
        i = cuda.threadIdx.x
        out[i] = function(x[i])
        if i == 0:
            function(x, whole)

    def of_two(x, y, out, whole):
        i = cuda.threadIdx.x
        out[i] = function(x[i], y[i])
        if i == 0:
            function(x, y, whole)

    x, y = X + 1j * X[::-1], np.roll(X, 1) + 1j * X[::-1]
    y[3] = x[3]
    kind = function(x, y).dtype if both else function(x).dtype
    out, whole = np.zeros(8, kind), np.zeros(8, kind)
    simulate(of_two if both else of_one)[1, 8](x, y, out, whole)
    want = function(x, y) if both else function(x)
    np.testing.assert_allclose(out, want, rtol=1e-14)
    np.testing.assert_array_equal(whole, out)


def hinted(x, out):
    i = cuda.threadIdx.x
    cuda.stcs(out, (0, i), cuda.ldcg(x, i) + cuda.ldca(x, -1))


def limited(x, out):
    i = cuda.threadIdx.x
    out[0, i] = np.finfo(np.float32).max if np.isnan(x[i]) else np.iinfo(np.uint8).max
    out[1, i] = np.isfinite(x[i]) + 2 * np.isinf(x[i]) + np.finfo(x.dtype).bits


def next_number(x, out):
    i = cuda.threadIdx.x
    out[0, i] = math.nextafter(x[i], 9)


def test_the_next_number_of_small_integers_is_a_float32(monkeypatch):
    """As numba-cuda's typer says: math.nextafter has its rules of math.fmod."""
    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA_CUDA)

    def kernel(x, out):
        out[0] = math.nextafter(x[0], x[1])

    out = np.zeros(1)
    simulate(kernel)[1, 1](np.array([1, 9], "i1"), out)
    assert out[0] == np.nextafter(np.float32(1), np.float32(9))


@pytest.mark.parametrize("kernel", [hinted, limited, next_number], ids=lambda kernel: kernel.__name__)
def test_what_numba_cuda_alone_has(kernel, monkeypatch):
    x = np.array([1, np.nan, 2.5, np.inf, 0, -1, 7, 8])
    got, want = np.zeros((2, 8)), np.zeros((2, 8))
    with pytest.raises(UnsupportedKernelError, match="but numba-cuda has"):
        simulate(kernel)[1, 8](x, got)
    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA_CUDA)
    simulate(kernel)[1, 8](x, got)
    hints = {"ldcg": lambda a, i: a[i], "ldca": lambda a, i: a[i], "stcs": lambda a, i, v: a.__setitem__(i, v)}
    for name, function in hints.items():
        monkeypatch.setattr(cuda, name, function, raising=False)
    for thread in range(8):
        monkeypatch.setattr(cuda, "threadIdx", type("At", (), {"x": thread}))
        kernel(x, want)
    np.testing.assert_array_equal(got, want)


def test_an_index_from_a_tuple():
    def kernel(x, out):
        i = cuda.threadIdx.x
        place = (i, 1)
        out[i] = x[(0, *place)] + x[(*place[:1], 0, 0)]

    x, out = np.arange(12.0).reshape(2, 2, 3), np.zeros(2)
    simulate(kernel)[1, 2](x, out)
    assert out.tolist() == [x[0, i, 1] + x[i, 0, 0] for i in range(2)]
