"""Products of any shape on a real GPU: transposed, scaled, added to C, repeated; skipped without a GPU."""

import numpy as np
import pytest

from course_lib.machine import gpu
from course_lib.machine.products.multiplication import prepare

pytestmark = pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")

#: Whole tiles and shares of them, few and ragged units of K, thin results, rows on and off 16 bytes, a long K, none.
SIZES = [
    *((512, 512, 512), (257, 129, 65), (1025, 300, 700), (2000, 1001, 50)),
    *((64, 4096, 512), (3, 500, 2000), (7, 7, 20000), (40, 30, 0), (257, 8191, 33), (260, 8192, 36)),
]


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (-2, 0), (3, 0.5)])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_product_equals_float64(size, alpha, beta, transpose_a, transpose_b):
    """The result follows BLAS; with beta 0 the contents of C, here NaN, do not count; a second call gives the same."""
    from numba import cuda

    M, N, K = size
    rng = np.random.default_rng()
    A = rng.standard_normal((K, M) if transpose_a else (M, K), np.float32)
    B = rng.standard_normal((N, K) if transpose_b else (K, N), np.float32)
    before = rng.standard_normal((M, N), np.float32) if beta else np.full((M, N), np.nan, np.float32)
    on_gpu = cuda.to_device(before)
    arrays = (cuda.to_device(A), cuda.to_device(B), on_gpu)
    multiply = prepare(*arrays, alpha, beta, transpose_a, transpose_b)
    left, right = (A.T if transpose_a else A).astype("f8"), (B.T if transpose_b else B).astype("f8")
    for _ in range(2):
        on_gpu.copy_to_device(before)
        multiply()
        wanted = alpha * (left @ right) + (beta * before.astype("f8") if beta else 0)
        np.testing.assert_allclose(on_gpu.copy_to_host(), wanted, atol=1e-5 * max(1, K))
