"""Complex numbers, float16 and arrays without dimensions: values, counts, findings and refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from numba import complex64, complex128, cuda, float32
from numba.types import float16
from oracles import numba_cpu, reference
from oracles.comparison import assert_same_counts
from oracles.complexes import complex_cases, inputs
from oracles.sources import import_kernel
from simulator.test_differential import examples

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.payload import encode
from course_lib.trace.viewer.words import sentence

PARAMETERS = ("C", "Z", "F", "I", "H", "OUT_C", "OUT_Z", "OUT_D")


def run_case(case, folder):
    kernel, arrays = import_kernel(case.source, folder), inputs(case)
    run = simulate(kernel, strict=False)[case.grid, case.block](*arrays)
    assert [f for f in run.findings if f.kind != "float64"] == []
    return kernel, arrays, run


def assert_same_values(got, right):
    for name, one, two in zip(PARAMETERS, got, right, strict=True):
        np.testing.assert_array_equal(one, two, err_msg=name)


@examples(day=15, night=600)
@given(case=complex_cases(gpu=True))
def test_generated_kernels_against_the_reference(tmp_path_factory, case):
    """Values and counts are those of a program that runs one thread and one operation at a time."""
    kernel, arrays, run = run_case(case, tmp_path_factory.mktemp("kernels"))
    right = inputs(case)
    record = reference.run(kernel, case.grid, case.block, *right)
    assert_same_values(arrays, right)
    assert_same_counts(run, record)


@examples(day=4, night=150)
@given(case=complex_cases(gpu=False))
def test_generated_kernels_against_numbas_own_code(tmp_path_factory, case):
    """Values are those of numba's compiler for the CPU."""
    _, arrays, _ = run_case(case, tmp_path_factory.mktemp("kernels"))
    right = inputs(case)
    numba_cpu.run(case.source, case.grid, case.block, [*right[:4], right[2], *right[5:]])  # a CPU has no float16
    assert_same_values(arrays, right)


def tiled_product(A, B, C):
    a = cuda.shared.array((4, 4), complex64)
    b = cuda.shared.array((4, 4), complex64)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = complex64(0)
    for first in range(0, A.shape[1], 4):
        a[ty, tx] = A[y, first + tx] if y < A.shape[0] and first + tx < A.shape[1] else 0
        b[ty, tx] = B[first + ty, x] if first + ty < A.shape[1] and x < B.shape[1] else 0
        cuda.syncthreads()
        for k in range(4):
            acc += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = acc


def test_a_tiled_product_of_complex_matrices():
    rng = np.random.default_rng(1)
    A, B = ((rng.random(s) + 1j * rng.random(s)).astype("c8") for s in ((7, 9), (9, 10)))
    C = np.full((7, 10), np.nan, "c8")
    run = simulate(tiled_product)[(3, 2), (4, 4)](A, B, C)
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)
    assert run.findings == ()
    assert run.traffic.select(array="A").bytes == 8 * 7 * 9 * 3


def powers(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] ** b[i]


def test_powers():
    """As an H200 computes them (numba-cuda 0.30.4), in float32 through polar form; Python's own come close."""
    a = np.array([1 + 2j, 0, 0, 3 - 1j, 0.5, 1j, -2], "c8")
    b = np.array([1 + 1j, 0, 1, 2, 1j, 2j, 3], "c8")
    measured = [-0.24720004200935364 + 0.6964506506919861j, 1, 0, 8 - 6j, 0.7692388892173767 - 0.6389613151550293j,
                0, -8 - 1.9079809021604888e-07j]  # fmt: skip
    simulate(powers)[1, 7](a, b, out := np.full(7, 7, "c8"))
    np.testing.assert_allclose(out, measured, rtol=1e-6, atol=2e-6)
    assert out[[1, 2, 5]].tolist() == [1, 0, 0]  # the last is 0.043 in Python: numba takes 1j for a zero
    kept = [0, 3, 4, 6]
    np.testing.assert_allclose(out[kept], a[kept].astype("c16") ** b[kept].astype("c16"), rtol=1e-6)


def quotients(a, b, out):
    i = cuda.grid(1)
    if i < 5:
        out[i] = a[i] / b[i]  # here


def test_division_by_zero_ends_the_launch():
    """On a GPU numba ends the thread there: none of what follows in it is executed."""
    a, out = np.full(8, 1 + 2j), np.zeros(8, complex)
    b = np.array([3, 1j, 2 - 5j, -4 + 1j, 0.5, 0, 0, 0])
    simulate(quotients)[1, 8](a, b, out)
    assert out.tolist() == [*(x / y for x, y in zip(a[:5].tolist(), b[:5].tolist(), strict=True)), 0, 0, 0]
    b[3] = 0
    line = quotients.__code__.co_firstlineno + 3
    with pytest.raises(KernelError, match=rf"line {line}: a complex number is divided by zero"):
        simulate(quotients)[1, 8](a, b, out)


def converted(h, out):
    k = cuda.grid(1)
    out[k] = h[k]


@pytest.mark.parametrize(("dtype", "measured"), [
    ("i1", [0, -128, 127, -128, 0, 0, 4, 127]), ("u1", [0, 0, 255, 0, 0, 0, 4, 255]),
    ("i2", [0, -32768, 32767, -32768, 0, 0, 4, 256]), ("u2", [0, 0, 65504, 0, 0, 0, 4, 256]),
    ("i4", [0, -(2**31), 65504, -65504, 0, 0, 4, 256]), ("u4", [0, 0, 65504, 0, 0, 0, 4, 256]),
    ("i8", [-(2**63), -(2**63), 65504, -65504, 0, 0, 4, 256]), ("u8", [2**63, 0, 65504, 0, 0, 0, 4, 256]),
])  # fmt: skip
def test_float16_becomes_the_nearest_integer(dtype, measured):
    """As an H200 does it (numba-cuda 0.30.4): half to even, and the ends of the range. float32 would be cut off."""
    h = np.array([np.nan, -np.inf, 65504, -65504, 0.5, -0.5, 3.5, 255.5], "f2")
    simulate(converted)[1, 8](h, out := np.full(8, 7, dtype))
    assert out.tolist() == measured
    reference.run(converted, 1, 8, h, out := np.full(8, 7, dtype))
    assert out.tolist() == measured


def half_arithmetic(h, out, wide):
    k = cuda.grid(1)
    out[0, k] = h[k] + True
    out[1, k] = h[k] / h[7]
    out[2, k] = min(h[k], h[0])
    out[3, k] = cuda.fp16.hfma(h[k], h[k], float16(-2.25))
    wide[0, k] = h[k] ** 2
    wide[1, k] = h[k] + 1


def test_float16_arithmetic():
    """Rounded to float16 after each operation; powers in float32 and sums with an int in float64."""
    h = np.array([1.5, 2.5, -1.5, -2.7, 0.4, 3, np.inf, -1], "f2")
    out, wide = np.zeros((4, 8), "f2"), np.zeros((2, 8))
    run = simulate(half_arithmetic)[1, 8](h, out, wide)
    np.testing.assert_array_equal(out[0], [2.5, 3.5, -0.5, -1.69921875, 1.400390625, 4, np.inf, 0])
    np.testing.assert_array_equal(out[1], [-1.5, -2.5, 1.5, 2.69921875, -0.39990234375, -3, -np.inf, 1])
    np.testing.assert_array_equal(out[2], [1.5, 1.5, -1.5, -2.69921875, 0.39990234375, 1.5, 1.5, -1])
    np.testing.assert_array_equal(out[3], (h.astype(float) ** 2 - 2.25).astype("f2"))
    np.testing.assert_array_equal(wide[0].astype("f4"), h.astype("f4") ** 2)
    np.testing.assert_array_equal(wide[1], h.astype(float) + 1)
    (finding,) = run.findings
    assert finding.message.startswith(
        "h[k] + 1 is computed in float64, because 1 is int64, and float16 with int64 gives float64; write float16(...)"
    )


@pytest.mark.parametrize("statement", [
    "if h[0]: pass", "h[0] = 1 if h[0] else 2", "h[0] = bool(h[0])", "h[1] = not h[0]", "h[1] = h[0] and h[1]",
    "while h[0]: break", "h[0] = cuda.any_sync(-1, h[0])",
])  # fmt: skip
def test_float16_is_no_condition(statement, tmp_path):
    """Numba types it, and what it generates is then refused when it is compiled for a GPU."""
    kernel = import_kernel(f"from numba import cuda\ndef kernel(h):\n    {statement}\n", tmp_path)
    with pytest.raises(UnsupportedKernelError, match="line 3: numba cannot take a float16 as a condition"):
        simulate(kernel)[1, 1](np.ones(2, "f2"))


def scaled(c, out, factor):
    i = cuda.grid(1)
    out[i] = factor * c[i]


@pytest.mark.parametrize(("factor", "reason"), [
    (2j, "factor is complex128: factor, a Python complex argument"), (2.0, "factor is float64: factor, a Python float"),
    (3, "factor is int64, and complex64 with int64 gives complex128"), (np.complex64(2j), None), (np.float32(2), None),
    (np.complex128(2j), None),
])  # fmt: skip
def test_complex64_that_became_complex128_by_accident(factor, reason):
    c = np.arange(4).astype("c8") + 1j
    run = simulate(scaled)[1, 4](c, out := np.zeros(4, "c16"), factor)
    np.testing.assert_array_equal(out, factor * c)
    assert len(run.findings) == (reason is not None)
    if reason:
        message = run.findings[0].message
        assert reason in message and "is computed in complex128" in message and "write complex64(...)" in message


def unwritten(out):
    s = cuda.shared.array(4, complex64)
    v = cuda.local.array(2, complex128)
    i = cuda.threadIdx.x
    if i < 2:
        s[i] = 1j
        v[1] = 2
    cuda.syncthreads()
    out[i] = s[i] + v[1]


def test_unwritten_complex_memory_is_found_and_poisoned():
    run = simulate(unwritten, strict=False)[1, 4](out := np.zeros(4, "c16"))
    assert {(f.kind, f.array) for f in run.findings} == {("uninitialized-read", "s"), ("uninitialized-read", "v")}
    assert out[:2].tolist() == [2 + 1j] * 2
    assert np.isnan(out[2:].real).all() and np.isnan(out[2:].imag).all()


def careless(out, value):
    out[0] = value + cuda.threadIdx.x // 64


@pytest.mark.parametrize(("threads", "same"), [(64, True), (96, False)])
@pytest.mark.parametrize("value", [np.complex64(1 + 2j), np.float16(3)])
def test_races_say_whether_the_values_agree(threads, same, value):
    run = simulate(careless, strict=False)[1, threads](np.zeros(1, value.dtype), value)
    races = [f for f in run.findings if f.kind == "race"]
    assert races and all(("the same value" in f.message) == same for f in races)


@pytest.mark.parametrize(("dtype", "itemsize"), [("f2", 2), ("c8", 8), ("c16", 16)])
@pytest.mark.parametrize("stride", [0, 1, 2, 3, 16])
def test_an_access_is_as_wide_as_the_element(dtype, itemsize, stride):
    def load(a, out, stride):
        i = cuda.grid(1)
        out[i] = a[1 + i * stride]

    a = np.zeros(600, dtype)
    run = simulate(load)[1, 32](a, np.zeros_like(a), stride)
    row = run.traffic.select(op="load")
    sectors = {(1 + i * stride) * itemsize // 32 for i in range(32)}
    assert (row.requests, row.bytes, row.sectors) == (1, 32 * itemsize, len(sectors))


def without_dimensions(number, total, out):
    i = cuda.grid(1)
    out[i] = number[()] * float32(i) + number.ndim + number.size
    if i == 3:
        total[()] += number[()]


def test_arrays_without_dimensions():
    number, total, out = np.array(2.5, "f4"), np.array(1.0), np.zeros(32, "f4")
    run = simulate(without_dimensions, trace=True)[1, 32](number, total, out)
    np.testing.assert_array_equal(out, 2.5 * np.arange(32) + 1)
    assert total == 3.5
    loads = run.traffic.select(array="number", op="load")
    assert (loads.accesses, loads.requests, loads.sectors) == (33, 2, 2)
    assert "total[()] = 1" in sentence(Timeline(run.trace, (0, 0, 0)), len(run.trace.steps), 3)
    assert '"name":"number","space":"global","dtype":"float32","itemsize":4,"shape":[]' in encode(run.trace)


def test_atomics_of_an_array_without_dimensions_are_refused():
    def add(a):
        cuda.atomic.add(a, (), 1)

    with pytest.raises(UnsupportedKernelError, match="without dimensions; pass one of shape"):
        simulate(add)[1, 1](np.array(1.0))


def turned(c, out):
    i = cuda.threadIdx.x
    z = c[i] * 1j
    out[i] = z.imag


def test_complex_numbers_in_the_trace_and_the_viewer():
    c = np.array([1 + 2j, 3 - 4j], "c8")
    run = simulate(turned, trace=True)[1, 2](c, np.zeros(2, "f4"))
    (step,) = [s for s in run.trace.steps if "z" in s.variables]
    np.testing.assert_array_equal(step.variables["z"], c.astype("c16") * 1j)
    assert '"(-2+1j)","(4+3j)"' in encode(run.trace)
    assert "reads c[1] = (3-4j); sets z = (4+3j)" in sentence(Timeline(run.trace, (0, 0, 0)), 2, 1)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
def test_the_lowest_integer_negated_stays(dtype):
    """numba negates before it widens."""

    def kernel(a, out):
        out[0] = -a[0]

    lowest, out = np.iinfo(dtype).min, np.zeros(1, "i8")
    simulate(kernel)[1, 1](np.array([lowest], dtype), out)
    assert out[0] == lowest


def test_powers_of_one_half_are_no_square_roots():
    """C's pow(-inf, 0.5) is inf and pow(-0.0, 0.5) is 0.0; a square root gives nan and -0.0."""

    def kernel(a, out):
        i = cuda.grid(1)
        half = a[3]
        out[0, i] = a[i] ** half
        out[1, i] = a[i] ** 0.5
        out[2, i] = math.pow(a[i], 0.5)

    out = np.zeros((3, 3))
    simulate(kernel, strict=False)[1, 3](np.array([-np.inf, -0.0, 4, 0.5]), out)
    assert (out == [np.inf, 0, 2]).all() and not np.signbit(out).any()


def test_gamma_at_its_poles_and_beyond():
    """As CUDA's tgamma and lgamma; -200.5 underflows."""

    def kernel(a, gamma, lgamma):
        i = cuda.grid(1)
        gamma[i] = math.gamma(a[i])
        lgamma[i] = math.lgamma(a[i])

    a = np.array([0.0, -0.0, -1.0, 200.0, np.inf, 1e308])
    gamma, lgamma = np.zeros(6), np.zeros(6)
    simulate(kernel)[1, 6](a, gamma, lgamma)
    inf = np.inf
    np.testing.assert_array_equal(gamma, [inf, -inf, np.nan, inf, inf, inf])
    np.testing.assert_array_equal(lgamma[[0, 1, 2, 4, 5]], [inf] * 5)
    assert lgamma[3] == math.lgamma(200)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "int8"])
def test_reversed_bits(dtype):
    """All bits but those of a uint64 are reversed as 32: of an index, a shift brings the few that count back down."""

    def kernel(x, out, index):
        i = cuda.threadIdx.x
        out[i] = cuda.brev(x[i])
        index[i] = cuda.brev(i) >> 28

    x = np.array([0, 1, 2, 3, 100, -1, -2, 77, 5, 6, 7, 8, 9, 10, 11, 12]).astype(dtype)
    bits = 64 if dtype == "uint64" else 32
    out, index = np.zeros(16, np.uint64), np.zeros(16, np.int64)
    simulate(kernel)[1, 16](x, out, index)
    assert out.tolist() == [int(f"{int(v) % 2**bits:0{bits}b}"[::-1], 2) for v in x]
    assert index.tolist() == [int(f"{i:04b}"[::-1], 2) for i in range(16)]


def test_first_set_bit_is_a_uint32_of_any_integer():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[i] = cuda.ffs(x[i]) - 1 < 0  # a uint32 minus an int64 is an int64

    x, out = np.array([0, 1, 6, -8, 2**40]), np.zeros(5, np.int64)
    simulate(kernel)[1, 5](x, out)
    assert out.tolist() == [1, 0, 0, 0, 0]


def test_a_uint64_moves_between_lanes_as_a_float64():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 1)

    x, out = np.arange(32, dtype=np.uint64) + np.uint64(2**60), np.zeros(32)
    simulate(kernel)[1, 32](x, out)
    assert out.tolist() == [float(2**60)] * 32


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("name", ["add", "sub", "max", "nanmin"])
def test_atomics_where_all_lanes_meet(name, dtype, tmp_path):
    """Each lane gets what the lanes before it left, worked out one by one in the type of the array."""
    update = {"add": np.add, "sub": np.subtract, "max": np.maximum, "nanmin": np.fmin}[name]
    body = f"    i = cuda.grid(1)\n    if i % 3:\n        old[i] = cuda.atomic.{name}(total, 0, x[i])\n"
    kernel = import_kernel(f"from numba import cuda\ndef kernel(x, total, old):\n{body}", tmp_path)
    x = (np.random.default_rng(7).random(100) * 2e9).astype(dtype)
    total, old = np.array([3], dtype), np.zeros(100, dtype)
    simulate(kernel)[4, 25](x, total, old)  # a warp a block: they go in the order of the threads
    state, want = np.array([3], dtype), np.zeros(100, dtype)
    for i in range(100):
        if i % 3:
            want[i] = state[0]
            update(state, x[i : i + 1], out=state)
    np.testing.assert_array_equal(old, want)
    np.testing.assert_array_equal(total, state)
