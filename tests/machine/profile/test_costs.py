"""Atomics of many lanes on one word are slow where a GPU serves them one after another; a histogram is not."""

import numba
import numpy as np
import pytest
from numba import cuda

from course_lib.kernels import rung
from course_lib.machine.gpu.verification import prepare, random_matrices
from course_lib.machine.profile import profile

LANES = 256


@cuda.jit(device=True)
def one(x, i):
    return 1


@cuda.jit(device=True)
def other(x, i):
    return x[i]


def kernel(shared, dtype, bins, amount=one, only=None):
    """Return a kernel that adds an amount to one of ``bins``, or to the bin ``only``, for each thread."""
    kind = getattr(numba, dtype)

    @cuda.jit(device=True)
    def place(where, i):
        return where[i] % bins if only is None else only

    @cuda.jit
    def in_shared_memory(where, x, out):
        i = cuda.threadIdx.x
        counts = cuda.shared.array(bins, kind)
        if i < bins:
            counts[i] = 0
        cuda.syncthreads()
        cuda.atomic.add(counts, place(where, i), amount(x, i))
        cuda.syncthreads()
        if i < bins:
            out[i] = counts[i]

    @cuda.jit
    def in_global_memory(where, x, out):
        i = cuda.threadIdx.x
        cuda.atomic.add(out, place(where, i), amount(x, i))

    return in_shared_memory if shared else in_global_memory


@pytest.mark.parametrize(
    ("shared", "dtype", "bins", "amount", "only", "slow"),
    [
        (True, "float32", 1, one, None, True),
        (True, "float32", 4, one, None, True),
        (True, "float32", 64, one, None, False),
        (True, "float32", 4, other, 0, True),
        (True, "int32", 1, one, None, False),
        (True, "int32", 1, other, None, True),
        (True, "int32", 4, other, None, False),
        (True, "int32", 4, other, 0, False),
        (True, "int64", 4, other, 0, True),
        (False, "float32", 2, one, None, True),
        (False, "int32", 1, one, None, True),
        (False, "int32", 4, other, 3, False),
        (False, "int32", 256, one, None, False),
    ],
)
def test_atomics_that_many_lanes_contend_for_are_slow(shared, dtype, bins, amount, only, slow):
    """The compiler combines the lanes of a warp if their index is one; shared memory counts them if they add 1."""
    rng = np.random.default_rng(bins)
    where, x, out = rng.integers(0, bins, LANES), rng.integers(0, 9, LANES).astype(dtype), np.zeros(bins, dtype)
    found = profile(kernel(shared, dtype, bins, amount, only), 1, LANES, where, x, out)
    where = where if only is None else np.full(LANES, only)
    np.testing.assert_array_equal(out, np.bincount(where, None if amount is one else x, minlength=bins))
    assert found.run.traffic.rounds == sum(np.bincount(part).max() for part in where.reshape(-1, 32))
    assert found.verdict().word == ("SLOW" if slow else "RIGHT")
    assert [cost.op for cost in found.slow] == ["atomic"] * slow


def profiled(name):
    """The profile of a rung on 64×64 matrices."""
    kernel, grid, block, _ = prepare(rung(name), 64, 64, 64)
    A, B, C = random_matrices(64, 64, 64)
    return profile(kernel, grid, block, A, B, C, repair_seconds=0)


def test_a_slow_line_costs_what_its_twin_without_conflicts_saves():
    slow, twin = profiled("bank_conflicts"), profiled("padded")
    (cost,) = slow.slow
    assert cost.share == pytest.approx(1 - twin.time.cycles / slow.time.cycles, abs=0.1)
    assert cost.share > 0.1 and f"{cost.share:.0%}" in str(cost)
