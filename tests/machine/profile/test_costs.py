"""Atomics of many lanes on one word are slow where a GPU serves them one after another; a histogram is not."""

import numba
import numpy as np
import pytest
from numba import cuda

from course_lib.kernels import rung
from course_lib.machine.gpu.verification import prepare, random_matrices
from course_lib.machine.profile import profile

LANES = 256


def kernel(shared, dtype, bins):
    """Return a kernel that adds 1 to a bin of 1, or of ``bins``, for each thread."""
    kind = getattr(numba, dtype)

    @cuda.jit
    def in_shared_memory(where, out):
        i = cuda.threadIdx.x
        counts = cuda.shared.array(bins, kind)
        if i < bins:
            counts[i] = 0
        cuda.syncthreads()
        cuda.atomic.add(counts, where[i] % bins, 1)
        cuda.syncthreads()
        if i < bins:
            out[i] = counts[i]

    @cuda.jit
    def in_global_memory(where, out):
        cuda.atomic.add(out, where[cuda.threadIdx.x] % bins, 1)

    return in_shared_memory if shared else in_global_memory


@pytest.mark.parametrize(
    ("shared", "dtype", "bins", "slow"),
    [
        (True, "float32", 1, True),
        (True, "float32", 4, True),
        (True, "float32", 64, False),
        (True, "int32", 1, False),
        (False, "float32", 2, True),
        (False, "int32", 1, True),
        (False, "int32", 256, False),
    ],
)
def test_atomics_that_many_lanes_contend_for_are_slow(shared, dtype, bins, slow):
    where, out = np.random.default_rng(bins).integers(0, bins, LANES), np.zeros(bins, dtype)
    found = profile(kernel(shared, dtype, bins), 1, LANES, where, out)
    np.testing.assert_array_equal(out, np.bincount(where, minlength=bins))
    lanes = sum(np.bincount(part).max() for part in where.reshape(-1, 32))
    assert found.run.traffic.rounds == lanes
    assert found.run.traffic.retries == lanes * (shared and dtype == "float32")
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
