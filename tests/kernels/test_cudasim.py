"""The ladder under numba's own CUDA simulator: values only, in small, since it is slow.

As a program, it runs the rungs with small blocks, under this simulator if the environment asks for it.
"""

import os
import subprocess
import sys

import numpy as np
import pytest


def check(rung, shape, dtype, order, seed, **params):
    """Raise AssertionError unless the rung equals NumPy on random matrices of this shape, type and order."""
    (M, N, K), rng = shape, np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        A, B = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((M, K), (K, N)))
        C = np.full((M, N), -12345, dtype)
    else:
        A, B = (rng.standard_normal(shape).astype(dtype) for shape in ((M, K), (K, N)))
        C = np.full((M, N), np.nan, dtype)
    A, B, C = (np.asarray(X, order=order) for X in (A, B, C))
    grid, block = rung.launch(M, N, K, **{**rung.params, **params})
    rung.make(dtype=np.dtype(dtype).type, **{**rung.params, **params})[grid, block](A, B, C)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(C, A.astype(np.float64) @ B.astype(np.float64), rtol=tolerance, atol=tolerance * K)


def main():
    from course_lib.kernels import LADDER

    for rung in LADDER:
        if "tile_width" not in rung.params and "block_width" not in rung.params:
            continue  # numba's simulator runs one Python thread per GPU thread, so blocks must be small
        small = {"tile_width": 4, "block_width": 4}
        params = {name: small[name] for name in rung.params if name in small}
        check(rung, (7, 9, 5), np.float32, "C", 1, **params)
        check(rung, (5, 3, 10), np.float64, "F", 2, **params)
        check(rung, (4, 8, 8), np.int32, "C", 3, **params)
        check(rung, (1, 1, 1), np.float32, "C", 4, **params)
        check(rung, (3, 2, 0), np.float32, "C", 5, **params)
        print(rung.name, "equals NumPy")


@pytest.mark.nightly
def test_rungs_equal_numpy_under_numbas_simulator():
    """numba chooses its simulator when it is imported, so the comparison runs in a process of its own."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, check=False, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]


if __name__ == "__main__":
    main()
