"""wgmma on a real GPU of compute capability 9.0, against its meaning in NumPy; skipped on others."""

import numpy as np
import pytest

from course_lib.kernels import WGMMA
from course_lib.kernels.warpgroup import HOPPER
from course_lib.machine import gpu
from course_lib.machine.gpu.dynamic_shared import configured
from tools.lab.wgmma import OPERANDS


def hopper():
    if not gpu.available():
        return False
    from numba import cuda

    return tuple(cuda.get_current_device().compute_capability)[:2] == HOPPER


pytestmark = pytest.mark.skipif(not hopper(), reason="no GPU of compute capability 9.0")
SIZES = [(257, 129, 65), (64, 132, 100), (1, 1, 1), (3, 2, 0), (1000, 776, 552), (1000, 777, 555)]


@pytest.mark.parametrize("case", OPERANDS, ids=str)
@pytest.mark.parametrize("name", ["wgmma_bf16", "wgmma_f16", "wgmma_tf32"])
def test_one_instruction_bit_by_bit(name, case):
    from tools.lab.wgmma import compare

    result = compare(name, case)
    assert result["compared"] > 0 == result["different"]


@pytest.mark.parametrize("r", WGMMA, ids=lambda r: r.name)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rung_is_right(r, size):
    """Within the bounds of the sums of what is multiplied."""
    from numba import cuda

    M, N, K = size
    rng = np.random.default_rng()
    A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
    arguments = [cuda.to_device(X) for X in (r.operand(A), r.operand(B), np.full((M, N), np.nan, np.float32))]
    grid, block = r.launch(M, N, K)
    configured(r.make(), grid, block, r.dynamic_bytes(), arguments)(*arguments)
    multiplied = r.multiplied(A).astype(np.float64) @ r.multiplied(B)
    bound = (K + 8) * 2.0**-22 * (abs(A).astype(np.float64) @ abs(B))
    assert (abs(arguments[2].copy_to_host() - multiplied) <= bound).all()
