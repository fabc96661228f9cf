"""Tensor cores on a real GPU, against their meaning in NumPy; skipped where there is none."""

import numpy as np
import pytest

from course_lib.kernels import TENSOR_CORES
from course_lib.machine import gpu
from tools.lab.tensor import OPERANDS, compare_mma, compare_rounding

pytestmark = pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")


@pytest.mark.parametrize("case", OPERANDS, ids=str)
@pytest.mark.parametrize("name", ["mma_tf32", "mma_bf16"])
def test_one_instruction_bit_by_bit(name, case):
    """Near and far exponents, zeros, denormals, overflow, infinities: the same bits, but for the payload of a NaN."""
    result = compare_mma(name, case)
    assert result["compared"] > 0 == result["different"]


def test_rounding_bit_by_bit():
    assert compare_rounding()["different"] == 0


SIZES = [(257, 129, 65), (64, 132, 100), (1, 1, 1), (3, 2, 0), (1000, 776, 552), (1000, 777, 555)]


@pytest.mark.parametrize("r", TENSOR_CORES, ids=lambda r: r.name)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_rung_is_right(r, size):
    """Within the bounds of the sums of what is multiplied."""
    M, N, K = size
    rng = np.random.default_rng()
    A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
    C = np.full((M, N), np.nan, np.float32)
    r.make(**r.params)[r.launch(M, N, K, **r.params)](r.operand(A), r.operand(B), C)
    magnitude = abs(A).astype(np.float64) @ abs(B)
    multiplied = r.multiplied(A).astype(np.float64) @ r.multiplied(B)
    assert (abs(C - multiplied) <= (K + 8) * 2.0**-22 * magnitude).all()
