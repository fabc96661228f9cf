"""Vector accesses: four elements a lane in one instruction, recognised by the attribute ``__simulated_as__``."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import simulate


def load4(array, row, column):
    raise AssertionError("the simulator does not call it")


def store4(array, row, column, values):
    raise AssertionError("the simulator does not call it")


load4.__simulated_as__ = ("load", 4)
store4.__simulated_as__ = ("store", 4)


def copy(A, out, shift):
    tile = cuda.shared.array((4, 128), float32)
    i, j = cuda.threadIdx.y, 4 * cuda.threadIdx.x + shift
    a, b, c, d = load4(A, i, j)
    store4(tile, i, j - shift, (a, b, c, d))
    cuda.syncthreads()
    store4(out, i, j - shift, load4(tile, i, j - shift))


def test_values_and_counts():
    A, out = np.random.default_rng(0).random((4, 128), "f4"), np.zeros((4, 128), "f4")
    run = simulate(copy)[1, (32, 4)](A, out, 0)
    np.testing.assert_array_equal(out, A)
    load = run.traffic.select(space="global", op="load")
    assert (load.accesses, load.requests, load.sectors, load.bytes) == (128, 4, 64, 2048)
    shared = run.traffic.select(space="shared", op="load")
    # 128 words from 32 banks: four wavefronts, and none of them is a conflict
    assert (shared.accesses, shared.wavefronts, shared.bank_conflicts) == (128, 16, 0)
    assert run.traffic.per_thread(space="global", op="load").sum() == 128


def test_an_address_off_its_alignment_is_found():
    A, out = np.random.default_rng(0).random((4, 132), "f4"), np.zeros((4, 128), "f4")
    (finding,) = simulate(copy, strict=False)[1, (32, 4)](A, out, 1).findings
    assert (finding.kind, finding.severity, finding.array, finding.index) == ("misaligned-access", "error", "A", (0, 1))
    assert finding.count == 128


@pytest.mark.parametrize("columns", [124, 127])
def test_all_four_elements_must_lie_inside(columns):
    A, out = np.ones((4, columns), "f4"), np.zeros((4, 128), "f4")
    kinds = {f.kind for f in simulate(copy, strict=False)[1, (32, 4)](A, out, 0).findings}
    assert "out-of-bounds" in kinds


def test_a_negative_index_does_not_wrap():
    A, out = np.ones((4, 128), "f4"), np.zeros((4, 128), "f4")
    kinds = {f.kind for f in simulate(copy, strict=False)[1, (32, 4)](A, out, -4).findings}
    assert kinds == {"out-of-bounds"}
