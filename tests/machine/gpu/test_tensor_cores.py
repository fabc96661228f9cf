"""Tensor cores on a real GPU, against their meaning in NumPy; skipped where there is none that has them."""

import numpy as np
import pytest
from nightly import drawn

from course_lib.kernels import TENSOR_CORES, WGMMA
from course_lib.kernels.llvm.warpgroup import HOPPER
from course_lib.machine import gpu
from course_lib.machine.gpu.verification import configured
from tools.lab import tensor, wgmma


def hopper():
    if not gpu.available():
        return False
    from numba import cuda

    return tuple(cuda.get_current_device().compute_capability)[:2] == HOPPER


pytestmark = pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")
needs_hopper = pytest.mark.skipif(not hopper(), reason="no GPU of compute capability 9.0")
INSTRUCTIONS = [(name, case, tensor.compare_mma) for name in ("mma_tf32", "mma_bf16") for case in tensor.OPERANDS]
INSTRUCTIONS += [
    pytest.param(name, case, wgmma.compare, marks=needs_hopper)
    for name in ("wgmma_bf16", "wgmma_f16", "wgmma_tf32")
    for case in wgmma.OPERANDS
]


@pytest.mark.parametrize(("name", "case", "compare"), INSTRUCTIONS, ids=lambda of: getattr(of, "__name__", str(of)))
def test_one_instruction_bit_by_bit(name, case, compare):
    """Near and far exponents, zeros, denormals, overflow, infinities: the same bits, but for the payload of a NaN."""
    result = compare(name, case)
    assert result["compared"] > 0 == result["different"]


def test_rounding_bit_by_bit():
    assert tensor.compare_rounding()["different"] == 0


SIZES = [(257, 129, 65), (64, 132, 100), (1, 1, 1), (3, 2, 0), (1000, 776, 552), (1000, 777, 555)]


@pytest.mark.parametrize(
    "r", [*TENSOR_CORES, *(pytest.param(r, marks=needs_hopper) for r in WGMMA)], ids=lambda r: r.name
)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rung_is_right(r, size):
    """Within the bounds of the sums of what is multiplied."""
    from numba import cuda

    M, N, K = size
    rng = drawn()
    A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
    arguments = [cuda.to_device(X) for X in (r.operand(A), r.operand(B), np.full((M, N), np.nan, np.float32))]
    grid, block = r.launch(M, N, K, **r.params)
    configured(r.make(**r.params), grid, block, r.dynamic_bytes, arguments)(*arguments)
    multiplied = r.multiplied(A, **r.params).astype(np.float64) @ r.multiplied(B, **r.params)
    bound = (K + 8) * 2.0**-22 * (abs(A).astype(np.float64) @ abs(B))
    assert (abs(arguments[2].copy_to_host() - multiplied) <= bound).all()
