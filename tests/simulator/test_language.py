"""The language: each kernel's values against a loop over the threads in plain Python."""

import math
from types import CodeType, FunctionType

import numpy as np
import pytest
from numba import cuda, float32, int32, int64, njit, uint8
from numba.cuda.cudaimpl import round_to_impl

from course_lib import KernelError, simulate

THREADS, BLOCKS = 40, 3
N = THREADS * BLOCKS
x = np.random.default_rng(3).integers(-20, 20, N)


@cuda.jit(device=True)
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@cuda.jit(device=True)
def clipped(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@cuda.jit(device=True)
def twice_clipped(value, low):
    return 2 * clipped(value, low, 10)


LIMIT = 7


def branches(a, out):
    i = cuda.grid(1)
    v = a[i]
    if v < -5:
        out[i] = -1
    elif v < 5 and v % 2 == 0:
        out[i] = v * v
    else:
        out[i] = v + LIMIT


def loops(a, out):
    i = cuda.grid(1)
    total = 0
    for k in range(a[i], 20, 3):
        if k == 5:
            continue
        if k > 15:
            break
        total += k
    out[i] = total


def nested(a, out):
    i = cuda.grid(1)
    total = 0
    for r in range(i % 5):
        for c in range(a[i] % 7):
            if c > r:
                break
            total += 10 * r + c
    out[i] = total


def whiles(a, out):
    i = cuda.grid(1)
    v = a[i]
    steps = 0
    while v > 0 or v < -3:
        v = v // 2 if v > 0 else v + 2
        steps += 1
        if steps == 5:
            break
    out[i] = 100 * steps + v


def early_returns(a, out):
    i = cuda.grid(1)
    if a[i] < 0:
        out[i] = -1
        return
    for k in range(100):
        if k * k > a[i]:
            out[i] = k
            return
    out[i] = 1000


def short_circuit(a, out):
    i = cuda.grid(1)
    if i + 1 < a.shape[0] and a[i + 1] > 0:
        out[i] = 1
    elif i + 1 >= a.shape[0] or a[i + 1] == 0:
        out[i] = 2
    else:
        out[i] = 3


def conditional_loads(a, out):
    i = cuda.grid(1)
    out[i] = a[i + 1] if i + 1 < a.shape[0] else -99


def tuples(a, out):
    i = cuda.grid(1)
    p, q = a[i], i
    p, q = q, p
    (r, s), t = (p + 1, q + 2), 3
    out[i] = 100 * r + 10 * s + t


def functions(a, out):
    i = cuda.grid(1)
    out[i] = gcd(abs(a[i]), 12) + 100 * twice_clipped(a[i], -3)


def numbers(a, out):
    i = cuda.grid(1)
    v = a[i]
    out[i] = (v // 4) * 1000 + (v % 4) * 100 + min(v, 3) + max(v, -2, i) + (v << 2) + (v >> 1) + (~v) + (-v) + v**2


def chained(a, out):
    i = cuda.grid(1)
    out[i] = 1 if -4 <= a[i] < 6 != i else 0


def casts(a, out):
    i = cuda.grid(1)
    out[i] = int(float32(a[i]) / float32(3)) + uint8(a[i]) + int(math.floor(math.sqrt(float(abs(a[i])))))


def rows(a, out):
    i = cuda.grid(1)
    table = cuda.local.array((2, 3), int64)
    for r in range(2):
        for c in range(3):
            table[r, c] = r * 10 + c + a[i]
    out[i] = table[i % 2][i % 3]


def carried(a, out):
    i = cuda.grid(1)
    last = -1
    for k in range(6):
        if (i + k) % 3 == 0:
            continue
        if k > 0 and last >= 0:
            out[i] += last * k
        last = k
    out[i] += 1000 * last


WEIGHTS = (3, -1, 2)
PAIRS = ((0, 5), (2, 1), (4, 3))


def loop_else(a, out):
    i = cuda.grid(1)
    for k in range(2, a[i]):
        if a[i] % k == 0:
            out[i] = k
            break
    else:
        out[i] = -1
    k = 0
    while k < i % 7:
        k += 1
        if k == a[i]:
            break
        if k > 4:
            out[i] += 5
            return
    else:
        out[i] += 100
    out[i] += 1000


def else_leaves_the_outer_loop(a, out):
    i = cuda.grid(1)
    found = -1
    for k in range(6):
        for j in range(k):
            if (a[i] + j) % 5 == k:
                break
        else:
            if k == a[i] % 7:
                found = k
                break
            continue
        found -= 10
        if found < -40:
            return
    else:
        found = 99
    out[i] = found


def over_tuples(a, out):
    i = cuda.grid(1)
    for w in WEIGHTS:
        if w == a[i] % 4:
            continue
        out[i] += w * i
    for p, q in PAIRS:
        out[i] += p * a[i] - q
        if out[i] > 300:
            break
    for w in (a[i], i, 7):
        out[i] = 3 * out[i] % 1009 + w


def numbered(a, out):
    i = cuda.grid(1)
    for k, w in enumerate(WEIGHTS):
        out[i] += (k + 1) * w * a[i]
    for k, (w, (p, q)) in enumerate(zip(WEIGHTS, PAIRS), i):  # noqa: B905 (numba takes no strict=)
        out[i] = out[i] * 2 % 10007 + k * w + p * q
    for t, k in enumerate(range(a[i] % 3, i % 11, 2)):
        out[i] += 100 * t + k
    for k, w in zip(range(i % 4), WEIGHTS):  # noqa: B905
        out[i] -= k * w


def values_of_and_and_or(a, out):
    i = cuda.grid(1)
    v = a[i]
    out[i] = (v and i) + 10 * (v or 7) + 100 * (v % 3 and i % 5 or 2) + (v > 3 and i or 0) - (0 or v and 5)
    if v and not (i % 3 or v % 2):
        out[i] += 1000
    while v and out[i] % 7:
        out[i] += 1


def guarded_values(a, out):
    i = cuda.grid(1)
    out[i] = (i + 1 < a.shape[0] and a[i + 1]) or (i > 0 and a[i - 1]) or -1
    if 0 <= i - 2 < a.shape[0] - 5 < a[i - 2] + 112 != a[i + 3]:
        out[i] += 1000


def choices(a, out):
    i = cuda.grid(1)
    out[i] = WEIGHTS[i % 3] * 10 + PAIRS[a[i] % 3][i % 2] + (i, a[i])[a[i] % 2] + WEIGHTS[-1 - i % 3]
    if a[i] in WEIGHTS:
        out[i] += 1000
    if (a[i] % 2, i % 3) == (1, 2) or (i, 1) != (i, a[i] % 2):
        out[i] += 500
    t = WEIGHTS[:2] + (i, 7)
    for k in range(len(t)):
        out[i] += k * t[k] + t[1:][k % 3]


def constant_expressions(a, out):
    i = cuda.grid(1)
    nothing = None
    out[i] = (2**-1) * 4 + ~True + (nothing is None) * 7 + (a is not None) + (-7 // 2) + a[i] * (1 + 2 * 3)
    if nothing is not None:
        out[i] = 0


KERNELS = [
    branches, loops, nested, whiles, early_returns, short_circuit, conditional_loads, tuples, functions,
    numbers, chained, casts, rows, carried, loop_else, else_leaves_the_outer_loop, over_tuples, numbered,
    values_of_and_and_or, guarded_values, choices, constant_expressions,
]  # fmt: skip
ARRAYS_IN_PYTHON = (short_circuit, conditional_loads, guarded_values)  # they ask for a shape


class Launch:
    """What `cuda` is to a kernel that plain Python runs, one thread after another."""

    def __init__(self, i):
        self.i = i
        self.local = self

    def grid(self, _):
        return self.i

    @staticmethod
    def array(shape, dtype):
        return np.zeros(shape, np.int64)


def by_thread(kernel, a):
    """Run ``kernel`` thread by thread with Python's own integers."""
    out = np.zeros(N, np.int64)
    names = {
        **kernel.__globals__,
        "gcd": gcd.py_func,
        "float32": np.float32,
        "uint8": lambda v: int(v) % 256,
        "twice_clipped": lambda v, low: 2 * clipped.py_func(v, low, 10),
    }
    for i in range(N):
        names["cuda"] = Launch(i)
        function = type(kernel)(kernel.__code__, names)
        function([int(v) for v in a] if kernel not in ARRAYS_IN_PYTHON else a, out)
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_values_equal_a_loop_over_the_threads(kernel):
    out = np.zeros(N, np.int64)
    run = simulate(kernel)[BLOCKS, THREADS](x, out)
    np.testing.assert_array_equal(out, by_thread(kernel, x))
    assert not run.errors


def test_shuffles_reduce_a_warp():
    def total(a, out):
        v = a[cuda.grid(1)]
        offset = 16
        while offset > 0:
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, offset)
            offset //= 2
        if cuda.laneid == 0:
            out[cuda.grid(1) // 32] = v

    a, out = np.arange(128), np.zeros(4, np.int64)
    simulate(total)[2, 64](a, out)
    np.testing.assert_array_equal(out, a.reshape(4, 32).sum(axis=1))


def test_other_shuffles_and_votes():
    def exchange(a, out):
        i = cuda.threadIdx.x
        v = a[i]
        out[0, i] = cuda.shfl_sync(0xFFFFFFFF, v, 3)
        out[1, i] = cuda.shfl_up_sync(0xFFFFFFFF, v, 2)
        out[2, i] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 1)
        out[3, i] = cuda.all_sync(0xFFFFFFFF, v >= 0)
        out[4, i] = cuda.any_sync(0xFFFFFFFF, v == 63)
        out[5, i] = cuda.ballot_sync(0xFFFFFFFF, v % 2 == 1)
        out[6, i] = cuda.syncthreads_count(int(v > 40))
        out[7, i] = cuda.syncthreads_or(int(v > 62))
        out[8, i] = cuda.syncthreads_and(int(v > 0))

    a, out = np.arange(64), np.zeros((9, 64), np.int64)
    simulate(exchange)[1, 64](a, out)
    lane, warp = a % 32, a // 32
    np.testing.assert_array_equal(out[0], warp * 32 + 3)
    np.testing.assert_array_equal(out[1], np.where(lane < 2, a, a - 2))
    np.testing.assert_array_equal(out[2], a ^ 1)
    np.testing.assert_array_equal(out[3], 1)
    np.testing.assert_array_equal(out[4], warp)
    np.testing.assert_array_equal(out[5].astype(np.uint32), 0xAAAAAAAA)
    np.testing.assert_array_equal(out[6], 23)
    np.testing.assert_array_equal(out[7], 1)
    np.testing.assert_array_equal(out[8], 0)


def test_lanes_with_different_masks_vote_apart():
    """After match_any_sync the even and the odd lanes are two groups; a lane may not take from the other one."""

    def exchange(out):
        i = cuda.threadIdx.x
        group = cuda.match_any_sync(0xFFFFFFFF, i % 2)
        out[0, i] = cuda.ballot_sync(group, i % 4 < 2)
        out[1, i] = cuda.all_sync(group, i % 2 == 1)
        out[2, i] = cuda.eq_sync(group, i % 2)
        out[3, i] = cuda.shfl_xor_sync(group, i, 2)
        cuda.shfl_xor_sync(group, i, 3)

    out = np.zeros((4, 32), np.int32)
    run = simulate(exchange, strict=False)[1, 32](out)
    lane = np.arange(32)
    np.testing.assert_array_equal(out[0].view(np.uint32), np.where(lane % 2, 0x22222222, 0x11111111))
    np.testing.assert_array_equal(out[1], lane % 2)
    np.testing.assert_array_equal(out[2], 1)
    np.testing.assert_array_equal(out[3], lane ^ 2)
    (finding,) = run.findings
    assert (finding.kind, finding.count) == ("uninitialized-read", 32)


def test_atomics_return_the_old_value_once_to_each_thread():
    def tickets(counter, out, low, high):
        i = cuda.grid(1)
        out[i] = cuda.atomic.add(counter, 0, 2)
        cuda.atomic.max(high, 0, out[i])
        cuda.atomic.min(low, 0, i - 5)
        cuda.atomic.cas(low, 1, 0, i + 1)

    counter, out = np.zeros(1, "i4"), np.zeros(100, "i4")
    low, high = np.zeros(2, "i4"), np.zeros(1, "i4")
    run = simulate(tickets)[4, 25](counter, out, low, high)
    np.testing.assert_array_equal(np.sort(out), np.arange(0, 200, 2))
    assert (counter[0], low[0], low[1], high[0]) == (200, -5, 1, 198)
    assert run.findings == ()


def test_shared_memory_through_a_device_function_with_a_barrier():
    @cuda.jit(device=True)
    def rotate(tile, i):
        cuda.syncthreads()
        value = tile[(i + 1) % 48]
        cuda.syncthreads()
        return value

    def twice(a, out):
        tile = cuda.shared.array(48, int32)
        i = cuda.threadIdx.x
        tile[i] = a[i]
        tile[i] = rotate(tile, i)
        out[i] = rotate(tile, i)

    a, out = np.arange(48, dtype="i4"), np.zeros(48, "i4")
    run = simulate(twice)[1, 48](a, out)
    np.testing.assert_array_equal(out, np.roll(a, -2))
    assert run.findings == ()


def test_two_buffers_that_swap_names():
    def ping_pong(a, out):
        front = cuda.shared.array(64, float32)
        back = cuda.shared.array(64, float32)
        i = cuda.threadIdx.x
        front[i] = a[i]
        for _ in range(3):
            cuda.syncthreads()
            back[i] = front[(i + 1) % 64]
            front, back = back, front
        cuda.syncthreads()
        out[i] = front[i]

    a, out = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    run = simulate(ping_pong)[1, 64](a, out)
    np.testing.assert_array_equal(out, np.roll(a, -3))
    assert run.findings == ()


def test_negative_indices_wrap_as_in_numba_and_warn():
    def shift(a, out):
        i = cuda.grid(1)
        out[i] = a[i - 1]

    a, out = np.arange(8, dtype="f4"), np.zeros(8, "f4")
    run = simulate(shift)[1, 8](a, out)
    np.testing.assert_array_equal(out, np.roll(a, 1))
    (finding,) = run.findings
    assert (finding.kind, finding.severity, finding.index, finding.count) == ("negative-index", "warning", (-1,), 1)


def test_what_follows_an_endless_loop_has_the_types_of_its_breaks():
    def kernel(a, n, out):
        w = n
        while True:
            w = a[0]
            if n > 0:
                break
        out[0] = w * a[1]

    a, out = np.array([1.5, 3], "f4"), np.zeros(1, "f4")
    run = simulate(kernel)[1, 1](a, np.int32(1), out)
    assert out[0] == 4.5
    assert run.findings == ()


def test_a_type_that_changes_in_a_loop_which_every_lane_has_left():
    def kernel(out):
        v = 1
        w = 0
        for _ in range(1):
            if 1 != w < 19:
                return
            v = uint8(1)
        out[0] = v

    out = np.zeros(1, "i8")
    simulate(kernel)[1, 2](out)
    assert out[0] == 0


def test_other_names_for_what_is_known_when_the_kernel_is_compiled():
    def kernel(out):
        index, width = cuda.threadIdx, cuda.blockDim
        function = gcd
        number = float32
        i = index.x + width.x * cuda.blockIdx.x
        out[i] = function(i, 12) + number(0.1)

    out = np.zeros(16)
    simulate(kernel)[2, 8](out)
    np.testing.assert_array_equal(out, np.gcd(np.arange(16), 12) + np.float32(0.1))


def test_a_function_of_cuda_may_be_an_item_of_a_tuple():
    def kernel(total, count):
        functions = (cuda.atomic.add, cuda.atomic.sub, cuda.syncthreads_count)
        functions[0](total, 0, 5)
        functions[1](total, 0, 2)
        count[cuda.threadIdx.x] = functions[2](1)

    total, count = np.zeros(1, "i4"), np.zeros(3, "i4")
    simulate(kernel)[1, 3](total, count)
    assert (total[0], count.tolist()) == (9, [3, 3, 3])


def test_a_loop_over_an_array_loads_its_elements():
    def kernel(a, out):
        i = cuda.grid(1)
        for v in a:
            if v > i:
                out[i] = v
                break
        for k, v in enumerate(a):
            out[i] += k * v

    a, out = np.arange(10) * 3, np.zeros(40)
    run = simulate(kernel)[1, 40](a, out)
    np.testing.assert_array_equal(out, [min(a[a > i], default=0) + (a * range(10)).sum() for i in range(40)])
    first, second = (
        run.traffic.select(array="a", line=line).accesses
        for line in sorted({row.line for row in run.traffic.rows if row.array == "a"})
    )
    assert (first, second) == (sum(i // 3 + 2 for i in range(27)) + 13 * 10, 400)


def test_an_array_from_a_tuple_is_written_and_watched():
    def kernel(a, b):
        for array in (a, b):
            array[0] = cuda.grid(1)

    run = simulate(kernel, strict=False)[1, 40](np.zeros(4), np.zeros(4))
    assert {(f.kind, f.array) for f in run.findings} == {("race", "a"), ("race", "b")}


def test_an_index_beyond_a_tuple_names_its_line():
    def kernel(out):
        i = cuda.grid(1)
        if i < 5:
            out[i] = WEIGHTS[i]

    with pytest.raises(KernelError, match=r"line \d+: the index of WEIGHTS\[i\] is 3, and the tuple has 3 items"):
        simulate(kernel)[1, 8](np.zeros(8))


@cuda.jit(device=True)
def chosen(a, b, c=None, scale=3):
    if c is None:
        return a + scale * b
    return c


def test_a_device_function_has_defaults_and_takes_names():
    """As numba-cuda has it; the arguments are evaluated in the order in which they are written."""

    def kernel(out):
        i = cuda.grid(1)
        out[i] = chosen(i, 2) + 100 * chosen(b=cuda.atomic.add(out, 8, 1), a=cuda.atomic.add(out, 8, 1), scale=7)
        out[i] += chosen(i, i, 1000)

    out = np.zeros(9)
    simulate(kernel)[1, 1](out)
    assert out[0] == 6 + 100 * (1 + 7 * 0) + 1000


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint64", "float32", "float64"])
def test_an_array_takes_its_type_from_another_array_or_a_numpy_dtype(dtype):
    known = np.dtype(dtype)

    def kernel(a, out):
        tile = cuda.shared.array(32, a.dtype)
        mine = cuda.local.array(1, known)
        i = cuda.threadIdx.x
        tile[i] = a[i]
        mine[0] = tile[i]
        out[i] = mine[0]

    a = np.arange(32).astype(dtype)
    out = np.zeros_like(a)
    assert simulate(kernel)[1, 32](a, out).traffic.select(space="shared", op="load").bytes == 32 * a.itemsize
    np.testing.assert_array_equal(out, a)


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


def test_rounding_to_digits_stops_at_64_bits():
    """A GPU converts to an integer of 64 bits on the way, which stops at the ends of its range."""

    def kernel(out):
        out[0] = round(1e20, 2)
        out[1] = round(-1e20, 1)
        out[2] = round(1e17, 1)

    out = np.zeros(3)
    simulate(kernel)[1, 1](out)
    assert out.tolist() == [2.0**63 / 100, -(2.0**63) / 10, 1e17]
