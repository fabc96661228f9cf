"""Kernels written by hand for what the generator does not write: values and counts equal the reference's."""

import math

import numpy as np
import pytest
from numba import cuda, float32, float64, int8, int32, int64, uint8, uint32
from oracles import reference
from oracles.comparison import assert_same_counts

from course_lib import simulate

T = 4
SHAPE = (3, 5)
WEIGHTS = (2, 3, 5)
FULL = 0xFFFFFFFF


def atomics_return_the_old_value(x, y, out):
    i = cuda.grid(1)
    if i == 0:
        out[0] = cuda.atomic.add(x, 1, 5)
        out[1] = cuda.atomic.sub(x, 1, 2)
        out[2] = cuda.atomic.max(x, 2, 50)
        out[3] = cuda.atomic.min(x, 2, -50)
        out[4] = cuda.atomic.exch(x, 3, 9)
        out[5] = cuda.atomic.cas(x, 3, 9, 11)
        out[6] = cuda.atomic.cas(x, 3, 9, 13)
        out[7] = cuda.atomic.and_(x, 4, 6)
        out[8] = cuda.atomic.or_(x, 4, 8)
        out[9] = cuda.atomic.xor(x, 4, 3)
        out[10] = cuda.atomic.add(y, 0, 0.1)
        out[11] = cuda.atomic.add(y, 0, 1)
        out[12] = y[0]


def atomics_in_two_dimensions(A, out):
    col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        cuda.atomic.add(out, (row % 2, col % 3), int32(A[row, col]))
        cuda.atomic.max(out, (1, 2), row * col)


def shared_in_three_dimensions(A, out):
    s = cuda.shared.array((2, T, 5), float32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    s[z, y, x] = A[z, y, x]
    cuda.syncthreads()
    out[z, y, x] = s[1 - z, T - 1 - y, x] + s[z, y, 0]


def local_in_two_dimensions(A, out):
    w = cuda.local.array(SHAPE, float32)
    i = cuda.grid(1)
    for r in range(3):
        for c in range(5):
            w[r, c] = A[r, c] * float32(i)
    total = float32(0)
    for c in range(5):
        total += w[i % 3, c]
    out[i] = total


def searches(x, out):
    i = cuda.grid(1)
    where = -1
    for k in range(x.shape[0]):
        if x[k] > i:
            where = k
            break
    n = 0
    while True:
        n += 1
        if n * n > i:
            break
        if n % 2:
            continue
        where += x[n]
    out[i, 0] = where
    out[i, 1] = n


def nested_loops(x, out):
    i = cuda.grid(1)
    total = 0
    for a in range(4):
        if a == i % 4:
            continue
        for b in range(a, 6, 2):
            if x[(a * b + i) % x.shape[0]] < 0:
                break
            for c in range(3, -1, -1):
                if c == i % 3:
                    continue
                total += x[(a + b + c) % x.shape[0]]
                if total > 40:
                    break
        total -= 1
    out[i, 0] = total
    out[i, 1] = a


def returns_at_three_places(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    for k in range(5):
        if x[i] > k * 3:
            out[i, 0] = k
            return
        out[i, 1] = x[(i + k) % x.shape[0]]
    out[i, 0] = 99


def short_circuits(x, out):
    i = cuda.grid(1)
    if i + 1 < x.shape[0] and x[i + 1] > x[i] or i == 0 and not x[0] > 0:
        out[i, 0] = 1
    k = 0
    while i + k < x.shape[0] and x[i + k] <= 0:
        k += 1
    out[i, 1] = k
    out[i, 0] += x[i] if x[i] > 3 else (x[i - 1] if i > 0 else 7)


def several_targets(x, out):
    i = cuda.grid(1)
    a = b = x[i]
    a += 1
    (c, d), e = (a, b), x[i] * 2
    c, d, e = e, c, d
    out[i, 0] = out[i, 1] = c - d * e


def constants(x, out):
    i = cuda.grid(1)
    total = 0
    for k in range(3):
        total += WEIGHTS[0] * x[(i + k) % x.shape[0]]
    out[i, 0] = total + WEIGHTS[1] - WEIGHTS[2]
    out[i, 1] = math.pi * T


def stores_convert(x, out8, out32, outf):
    i = cuda.grid(1)
    out8[i] = x[i] * 3
    out32[i] = x[i] / 2
    outf[i] = x[i] * 1.1
    out32[i] += 0.75


def casts(x, out):
    i = cuda.grid(1)
    out[i, 0] = int8(x[i] * 40) + uint8(x[i] * 40)
    out[i, 1] = uint32(x[i]) // 3 + int64(float32(x[i]) / float32(7)) + int(float64(x[i]) * 1.75)


def unsigned(u, n, out):
    i = cuda.grid(1)
    out[i, 0] = (u[i] - u[0]) % 7
    out[i, 1] = (u[i] >> 3) + (n[i] >> 1) - (u[i] // 5) * (n[i] % -4)


def division_by_zero(n, x, out):
    i = cuda.grid(1)
    out[i, 0] = n[i] // (i % 3)
    out[i, 1] = n[i] % (i % 3)
    out[i, 2] = x[i] / (i % 2)
    out[i, 3] = x[i] // x[i]


@cuda.jit(device=True)
def inner(X, k, scale):
    if k < 0:
        return X[0]
    return X[k] * scale


@cuda.jit(device=True)
def outer(X, k):
    total = inner(X, k, 2)
    for r in range(k % 3):
        total += inner(X, r, 1) + inner(X, k - 1, 3)
    return total


@cuda.jit(device=True)
def two_results(p, q):
    return p + q, p * q


def device_functions(x, out):
    i = cuda.grid(1)
    out[i, 0] = outer(x, i % x.shape[0])
    s, p = two_results(x[i], 3)
    out[i, 1] = s - p


def shuffles(x, out):
    i = cuda.grid(1)
    value = x[i]
    step = 16
    while step > 0:
        value += cuda.shfl_xor_sync(FULL, value, step)
        step //= 2
    out[i, 0] = value
    out[i, 1] = cuda.shfl_up_sync(FULL, x[i], 3) - cuda.shfl_down_sync(FULL, x[i], 5)
    out[i, 0] -= cuda.shfl_sync(FULL, x[i] * 2, i % 7)


def shuffles_of_half_a_warp(x, out):
    i = cuda.grid(1)
    if cuda.laneid < 16:
        out[i, 0] = cuda.shfl_xor_sync(0xFFFF, x[i], 1)
    else:
        out[i, 1] = cuda.shfl_xor_sync(0xFFFF0000, x[i], 2)


def votes(x, out):
    i = cuda.grid(1)
    if cuda.any_sync(FULL, x[i] > 8):
        out[i, 0] += 1
    if cuda.all_sync(FULL, x[i] > -20):
        out[i, 0] += 10
    out[i, 1] = cuda.ballot_sync(FULL, x[i] > 0)


def counting_barriers(x, out):
    t = cuda.threadIdx.x
    out[t, 0] = cuda.syncthreads_count(int(x[t] > 0))
    out[t, 1] = cuda.syncthreads_and(int(x[t] > -99)) + 2 * cuda.syncthreads_or(int(x[t] > 99))


def warp_exchange(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for r in range(3):
        s[t] = x[t] + r
        cuda.syncwarp()
        out[t, r % 2] = s[t // 32 * 32 + (t + 1) % 32]
        cuda.syncwarp()


def reads_in_any_order(A, out):
    i = cuda.grid(1)
    if i < A.shape[0]:
        for k in range(A.shape[1]):
            out[i] += A[i, k] * A[A.shape[0] - 1 - i, k]


def grid_stride(x, out):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        out[i, 0] = x[i] * 2
        out[i, 1] = cuda.gridDim.x * cuda.blockDim.x


def three_dimensions(A, out):
    x, y, z = cuda.grid(3)
    if z < A.shape[0] and y < A.shape[1] and x < A.shape[2]:
        out[z, y, x] = A[z, y, x] - A[z, y, A.shape[2] - 1 - x] * z


def integers(x, out):
    i = cuda.grid(1)
    out[i, 0] = x[i] // 3 + x[i] % 3 - (-x[i]) // 4 + abs(x[i]) ** 2
    out[i, 1] = (x[i] & 12 | 3) ^ (x[i] << 2) + (~x[i] >> 1)


def floats_beyond_the_integers(x, y, bytes_, out):
    i = cuda.grid(1)
    bytes_[i] = x[i]
    out[i, 0] = int32(x[i]) + uint8(x[i] * 3)
    out[i, 1] = uint32(x[i])
    out[i, 2] = int64(x[i])
    out[i, 3] = int32(y[i]) - int8(y[i])
    out[i, 4] = int64(y[i])
    out[i, 5] = y[i]


def literal_powers(x, y, out):
    i = cuda.grid(1)
    out[i, 0] = x[i] ** 3 + x[i] ** 5
    out[i, 1] = y[i] ** 7 - y[i] ** -3


def a_tuple_of_two_types(x, y, out):
    i = cuda.grid(1)
    t = (i, x[i])
    if i % 3:
        t = (x.shape[0], y[i])
    for _ in range(i % 4):
        t = (t[0] + 1, t[1] * y[i])
        if t[0] > 5:
            break
    else:
        t = (t[1], t[0])
    out[i, 0] = t[0]
    out[i, 1] = t[1]


def a_chain_that_guards_a_load(x, out):
    i = cuda.grid(1)
    if 0 <= i - 3 < x.shape[0] - 5 < x[i + 2] + 58 <= x[i - 3] + 70:
        out[i, 0] = 1
    out[i, 1] = x[i] < (i > 3 and x[i - 4]) <= (i < 60 and x[i + 4] or 7)


def returns_from_the_else_of_a_loop(x, out):
    i = cuda.grid(1)
    for a in range(4):
        for b in (1, 2, int64(x[i])):
            if b == a:
                break
            if b * a > 10:
                out[i, 0] = -b
                return
        else:
            if a == 3:
                return
            out[i, 1] += a
            continue
        out[i, 0] += 10 * a
    else:
        out[i, 1] += 1000


@cuda.jit(device=True)
def first_divisor(n, limit):
    for k in range(2, limit):
        if k * k > n:
            break
        if n % k == 0:
            return k
    else:
        return -1
    return n


def early_returns_of_a_device_function(x, out):
    i = cuda.grid(1)
    total = 0
    for k, w in enumerate((3, 5, 2)):
        if x[i] > w:
            total += first_divisor(i + 2, x[i] + k) * w
        elif total < 0 and first_divisor(total, 3):
            break
    out[i, 0] = total


def barriers_in_loops_over_tuples(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for step, (shift, scale) in enumerate(((1, 2), (33, 3), (62, 5))):
        s[t] = x[t] * scale + step
        cuda.syncthreads()
        out[t, step % 2] += s[(t + shift) % 64]
        cuda.syncthreads()


def the_lowest_integer(n, out):
    i = cuda.grid(1)
    out[i, 0] = n[i] // (i % 5 - 2)
    out[i, 1] = n[i] % (i % 5 - 2) + n[i] // -1
    out[i, 2] = (i % 5 - 2) ** (i % 7 - 3)
    out[i, 3] = -n[i] + abs(n[i]) - n[i] * 3


def shifts_beyond_the_bits(x, out):
    i = cuda.grid(1)
    out[i, 0] = x[i] << i
    out[i, 1] = (x[i] << 40) >> (i + 20)


def special_functions(x, out):
    i = cuda.grid(1)
    value = math.fabs(x[i]) + float32(1)
    out[i, 0] = math.sqrt(value) * math.floor(x[i]) + math.ceil(value)
    out[i, 1] = math.exp(-value) + math.sin(value) * math.atan2(value, x[i]) + math.pow(value, 1.5)


RNG = np.random.default_rng(5)
X = RNG.integers(-9, 10, 64).astype(np.int32)
F = (RNG.integers(-40, 40, 64) / 4).astype(np.float32)
M = (RNG.integers(-40, 40, (7, 9)) / 4).astype(np.float32)
V = (RNG.integers(-40, 40, (2, 4, 5)) / 4).astype(np.float32)


def zeros(*shape, dtype=np.float64):
    return np.zeros(shape, dtype)


CASES = [
    (atomics_return_the_old_value, 1, 40, X, F, zeros(13)),
    (atomics_in_two_dimensions, (3, 2), (4, 4), M, zeros(2, 3, dtype=np.int32)),
    (shared_in_three_dimensions, 1, (5, 4, 2), V, zeros(2, 4, 5)),
    (local_in_two_dimensions, 2, 20, M, zeros(40)),
    (searches, 2, 33, X, zeros(66, 2)),
    (nested_loops, 1, 50, X, zeros(50, 2)),
    (returns_at_three_places, 3, 30, X, zeros(64, 2)),
    (short_circuits, 2, 32, X, zeros(64, 2)),
    (several_targets, 2, 32, X, zeros(64, 2)),
    (constants, 2, 32, X, zeros(64, 2)),
    (stores_convert, 2, 32, X, zeros(64, dtype=np.int8), zeros(64, dtype=np.int32), zeros(64, dtype=np.float32)),
    (casts, 2, 32, np.abs(X), zeros(64, 2)),
    (unsigned, 2, 32, X.astype(np.uint32), X, zeros(64, 2)),
    (division_by_zero, 2, 32, X, F, zeros(64, 4)),
    (device_functions, 2, 32, X, zeros(64, 2)),
    (shuffles, 2, 32, X, zeros(64, 2)),
    (shuffles, 1, 64, F, zeros(64, 2)),
    (shuffles_of_half_a_warp, 1, 64, F, zeros(64, 2)),
    (votes, 1, 64, X, zeros(64, 2)),
    (counting_barriers, 1, 60, X, zeros(60, 2)),
    (warp_exchange, 1, 64, X, zeros(64, 2, dtype=np.int32)),
    (reads_in_any_order, 1, 33, np.asfortranarray(M), zeros(7)),
    (reads_in_any_order, 1, 33, M.astype(np.float64), zeros(7)),
    (reads_in_any_order, 1, 33, M.astype(np.int8), zeros(7, dtype=np.int16)),
    (grid_stride, 3, 8, X, zeros(64, 2)),
    (three_dimensions, (2, 2, 2), (3, 2, 2), V, zeros(2, 4, 5)),
    (three_dimensions, (5, 1, 2), (1, 4, 1), np.asfortranarray(V), zeros(2, 4, 5)),
    (integers, 2, 32, X, zeros(64, 2, dtype=np.int64)),
]


EDGES = np.array([0, 0.7, -0.7, 127.5, 128, -129, 255, 256.5, 300, 32768, -32769, 70000, 2147483520, 2147483648,
                  -2147483648, 3e9, -3e9, 4294967296, 9.3e18, -9.3e18, 1.9e19, np.inf, -np.inf, np.nan])  # fmt: skip
CASES += [
    (
        floats_beyond_the_integers,
        1,
        24,
        EDGES.astype(np.float32),
        EDGES,
        zeros(24, dtype=np.int8),
        zeros(24, 6, dtype=np.int64),
    ),
    (literal_powers, 2, 32, F / np.float32(3), F.astype(np.float64) / 7, zeros(64, 2)),
    (a_tuple_of_two_types, 2, 32, F, F.astype(np.float64) / 7, zeros(64, 2)),
    (a_chain_that_guards_a_load, 2, 32, X, zeros(64, 2)),
    (returns_from_the_else_of_a_loop, 2, 32, X, zeros(64, 2)),
    (early_returns_of_a_device_function, 2, 32, X, zeros(64, 2)),
    (barriers_in_loops_over_tuples, 1, 64, X, zeros(64, 2)),
    (the_lowest_integer, 1, 40, np.where(np.arange(40) % 3, -(2**63), 2**63 - 1), zeros(40, 4, dtype=np.int64)),
    (shifts_beyond_the_bits, 1, 64, X, zeros(64, 2, dtype=np.int64)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_equals_the_reference(case):
    kernel, grid, block, *arrays = case
    got, right = [[array.copy(order="K") for array in arrays] for _ in range(2)]
    run = simulate(kernel)[grid, block](*got)
    record = reference.run(kernel, grid, block, *right)
    for one, two in zip(got, right, strict=True):
        np.testing.assert_array_equal(one, two)
    assert_same_counts(run, record)


def test_special_functions():
    """Within rounding: the reference calls NumPy, a GPU its own library."""
    got, right = zeros(64, 2), zeros(64, 2)
    simulate(special_functions)[2, 32](F, got)
    reference.run(special_functions, 2, 32, F, right)
    np.testing.assert_allclose(got, right, rtol=1e-6)
    assert np.isfinite(got).all() and np.ptp(got) > 1
