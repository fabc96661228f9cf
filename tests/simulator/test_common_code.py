"""Forms that much public code uses: each gives what plain Python and NumPy give, in the types of numba."""

import math

import numpy as np
import pytest
from numba import cuda, float32, types
from oracles import numba_typing as oracle

from course_lib import simulate


@cuda.jit(device=True)
def digits(a, b, c):
    return 100 * a + 10 * b + c


def test_two_arrays_in_one_statement():
    def kernel(x, out):
        a, (b, c) = cuda.shared.array(32, float32), (cuda.local.array(1, float32), cuda.shared.array(32, float32))
        i = cuda.threadIdx.x
        a[i] = x[i]
        b[0] = 2 * x[i]
        c[i] = 3 * x[i]
        cuda.syncthreads()
        out[i] = a[31 - i] + b[0] + c[31 - i]

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    run = simulate(kernel)[1, 32](x, out)
    np.testing.assert_array_equal(out, 4 * x[::-1] + 2 * x)
    assert {row.array for row in run.traffic.rows} == {"x", "out", "a", "b", "c"}


def test_arguments_from_a_tuple():
    def kernel(x, out):
        i = cuda.threadIdx.x
        both = x[i], 2
        out[i] = digits(*both, 3) + digits(1, *(both[1:] + both[:1]))

    x, out = np.arange(8), np.zeros(8, np.int64)
    simulate(kernel)[1, 8](x, out)
    assert out.tolist() == [digits.py_func(v, 2, 3) + digits.py_func(1, 2, v) for v in x]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8"])
def test_parts_of_numbers(dtype):
    def kernel(x, out, wide):
        i = cuda.threadIdx.x
        m, e = math.frexp(x[i])
        part, whole = math.modf(x[i])
        out[0, i], out[1, i], out[2, i], out[3, i] = m, e, part, whole
        out[4, i] = math.ldexp(x[i], -2)
        wide[i] = x.itemsize

    x = np.array([0, 1, -5, 7.75, 100.5, -0.25]).astype(dtype)
    out, wide = np.zeros((5, 6)), np.zeros(6, np.int64)
    simulate(kernel)[1, 6](x, out, wide)
    want = [[*math.frexp(v), *math.modf(v), math.ldexp(v, -2)] for v in x.tolist()]
    np.testing.assert_array_equal(out.T, want)
    assert set(wide) == {x.itemsize}


def takes_apart(x, out):
    m, e = math.frexp(x[0])
    end = m + math.modf(x[0])[1]
    out[0] = end + e


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int64"])
def test_parts_have_the_types_of_numba(dtype):
    x, out = np.ones(1, dtype), np.zeros(1)
    kind = {"float16": types.float16}.get(dtype) or getattr(types, dtype)
    wanted = oracle.oracle_variable(takes_apart, [kind[::1], types.float64[::1]], "end")
    run = simulate(takes_apart, trace=True)[1, 1](x, out)
    assert [s.variables["end"].dtype for s in run.trace.steps if "end" in s.variables] == [wanted]


def test_tuples_are_ordered():
    """Item by item, as Python orders them; the shorter one comes first."""

    def kernel(x, out):
        i = cuda.threadIdx.x
        a, b = (x[i, 0], x[i, 1]), (x[i, 2], x[i, 3])
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a < b, a <= b, a > b, a >= b
        out[i, 4], out[i, 5] = a < b + (0,), a + (0,) >= b

    x = np.random.default_rng(5).integers(0, 3, (81, 4))
    out = np.zeros((81, 6), np.int64)
    simulate(kernel)[1, 81](x, out)
    pairs = [((a, b), (c, d)) for a, b, c, d in x.tolist()]
    assert out.tolist() == [[a < b, a <= b, a > b, a >= b, a < (*b, 0), (*a, 0) >= b] for a, b in pairs]


def test_all_lanes_that_match():
    def kernel(x, out):
        i = cuda.threadIdx.x
        mask, same = cuda.match_all_sync(0xFFFFFFFF, x[i])
        out[i, 0], out[i, 1] = mask & 0xFFFFFFFF, same

    x, out = np.full(64, 7), np.zeros((64, 2), np.int64)
    x[40] = 8
    simulate(kernel)[1, 64](x, out)
    assert out.tolist() == [[0xFFFFFFFF, 1]] * 32 + [[0, 0]] * 32
    simulate(kernel)[1, 10](x, out)  # numba's own test: of a warp with ten lanes, ten bits
    assert out[:10].tolist() == [[0b11_1111_1111, 1]] * 10


def test_a_pause_computes_nothing():
    def kernel(x):
        i = cuda.threadIdx.x
        cuda.nanosleep(100 + i)
        x[i] = i

    x = np.zeros(8)
    assert simulate(kernel)[1, 8](x).findings == ()
    assert x.tolist() == list(range(8))


@pytest.mark.parametrize(("how", "right"), [("sum", 3), ("product", 2), ("other", 0)])
def test_strings_outside_choose_a_branch(how, right):
    """Numba compares them when it compiles the kernel, and leaves out the other branches."""

    @cuda.jit
    def kernel(out):
        if how == "sum":
            out[0] = 1 + 2
        elif "product" == how:
            out[0] = 1 * 2
        elif how != "other":
            out[0] = 2.5 & 1

    out = np.zeros(1)
    simulate(kernel)[1, 1](out)
    assert out[0] == right
