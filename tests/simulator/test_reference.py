"""The per-thread reference itself: judged by hand counts; its types are judged with the simulator's, by numba's."""

import numpy as np
import pytest
from numba import cuda, float32, int32
from oracles import reference
from oracles.expressions import BODIES, arguments, kernel_with, threads


def test_values_have_their_types(tmp_path):
    """What the reference stores from v is what the type says: run, it never meets a type it did not foresee."""
    for body in BODIES:
        kernel = kernel_with(body + "\nZ[7] = v", tmp_path)
        reference.run(kernel, 1, threads(body), *arguments())


@cuda.jit
def strided(x, out, stride):
    i = cuda.grid(1)
    if i * stride < x.shape[0]:
        out[i] = x[i * stride]


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (3, 12), (8, 32), (9, 32)])
def test_sectors_by_hand(stride, sectors):
    """32 lanes of 4 bytes at a stride touch min(32, 4 · stride) sectors, 32-byte sectors counted once."""
    x, out = np.arange(300, dtype=np.float32), np.zeros(32, np.float32)
    record = reference.run(strided, 1, 32, x, out, stride)
    wanted = {"accesses": 32, "requests": 1, "bytes": 128, "sectors": sectors, "wavefronts": 0}
    assert record.counts(array="x") == wanted
    np.testing.assert_array_equal(out, x[::stride][:32])


@cuda.jit
def shared_strided(out, stride):
    s = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    s[t * stride % 1024] = float32(t)
    out[t] = float32(t)


@pytest.mark.parametrize(("stride", "wavefronts"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (32, 32), (33, 1)])
def test_wavefronts_by_hand(stride, wavefronts):
    """A stride of s words is gcd(s, 32)-way conflicted; all lanes at one word are one pass."""
    record = reference.run(shared_strided, 1, 32, np.zeros(32, np.float32), stride)
    assert record.counts(space="shared")["wavefronts"] == wavefronts


@cuda.jit
def diverging(x, out):
    i = cuda.grid(1)
    acc = int32(0)
    for k in range(i % 3):
        if x[k] > 1:
            continue
        acc += x[k + i]
    out[i] = acc


def test_requests_follow_the_loops():
    """Lanes are together in one request if they are in the same iteration, and only the active ones count."""
    x, out = np.zeros(50, np.int32), np.zeros(40, np.int64)
    record = reference.run(diverging, 1, 40, x, out)
    counts = record.counts(array="x")
    assert (counts["accesses"], counts["requests"]) == (2 * sum(i % 3 for i in range(40)), 8)
    np.testing.assert_array_equal(record.per_thread(array="x")[0], [2 * (i % 3) for i in range(40)])


def test_division_follows_the_cuda_target():
    """Integer division floors, division by zero gives 0, and the lowest integer divided by -1 gives 0."""
    binary = reference.scalar.binary
    cases = [("//", -7, 2, -4), ("%", -7, 2, 1), ("//", 7, -2, -4), ("%", 7, -2, -1), ("//", 5, 0, 0), ("%", 5, 0, 0)]
    for symbol, a, b, right in [*cases, ("//", -(2**63), -1, 0)]:
        assert binary(symbol, np.int64(a), np.int64(b)) == right
    assert np.isinf(binary("/", np.int32(1), np.int32(0)))
    assert binary("-", np.uint32(0), np.uint32(1)) == np.uint64(2**64 - 1)
    assert reference.scalar.unary("-", np.uint32(1)) == np.uint64(2**32 - 1)
