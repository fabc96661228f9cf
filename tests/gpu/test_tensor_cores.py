"""Tensor cores on a real GPU, against their meaning in NumPy; skipped where there is none."""

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu
from course_lib.kernels import rung
from course_lib.kernels.tensor_core import mma_tf32, mma_tf32_of_warps, round_to_tf32

pytestmark = pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")
WARPS = 2000


@cuda.jit
def one_instruction(a, b, c, d):
    """Each block, a warp, does one mma; item i of lane t of warp w is at [i, w, t]."""
    w, t = cuda.blockIdx.x, cuda.threadIdx.x
    a_items = a[0, w, t], a[1, w, t], a[2, w, t], a[3, w, t]
    c_items = c[0, w, t], c[1, w, t], c[2, w, t], c[3, w, t]
    d[0, w, t], d[1, w, t], d[2, w, t], d[3, w, t] = mma_tf32(a_items, (b[0, w, t], b[1, w, t]), c_items)


def fragments(rng, spread, scale=1.0, zeros=0.0, special=0.0):
    """Return a, b and c: normal numbers times powers of two up to 2**±spread, some of them zero or not finite."""
    for items in (4, 2, 4):
        x = rng.standard_normal((items, WARPS, 32)) * np.exp2(rng.integers(-spread, spread + 1, (items, WARPS, 32)))
        x = np.where(rng.random(x.shape) < zeros, 0, x * scale)
        yield np.where(rng.random(x.shape) < special, rng.choice([np.inf, -np.inf, np.nan], x.shape), x).astype("f4")


@pytest.mark.parametrize(
    "kind",
    [
        {"spread": 0},
        {"spread": 12},
        {"spread": 60},
        {"spread": 2, "zeros": 0.5},
        {"spread": 2, "scale": 2.0**-64},
        {"spread": 8, "scale": 2.0**-130},
        {"spread": 2, "scale": 2.0**63},
        {"spread": 2, "special": 0.02},
    ],
    ids=str,
)
def test_one_instruction_bit_by_bit(kind):
    """Near and far exponents, zeros, denormals, overflow, infinities: the same bits, but for the payload of a NaN."""
    a, b, c = fragments(np.random.default_rng(), **kind)
    d = np.zeros_like(c)
    one_instruction[WARPS, 32](a, b, c, d)
    meant = np.stack(mma_tf32_of_warps(tuple(a), tuple(b), tuple(c)))
    np.testing.assert_array_equal(np.isnan(d), np.isnan(meant))
    known = ~np.isnan(meant)
    np.testing.assert_array_equal(d[known].view(np.uint32), meant[known].view(np.uint32))


@pytest.mark.parametrize("size", [(257, 129, 65), (64, 132, 100), (1, 1, 1), (3, 2, 0), (1000, 777, 555)], ids=str)
def test_rung_is_right(size):
    """Within the bounds of float32 sums of the rounded matrices."""
    M, N, K = size
    rng = np.random.default_rng()
    A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
    C = np.full((M, N), np.nan, np.float32)
    r = rung("tensor_cores")
    r.make()[r.launch(M, N, K)](A, B, C)
    magnitude = abs(A).astype(np.float64) @ abs(B)
    assert (abs(C - round_to_tf32(A).astype(np.float64) @ round_to_tf32(B)) <= (K + 8) * 2.0**-23 * magnitude).all()
