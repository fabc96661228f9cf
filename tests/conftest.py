"""Two short kernels whose steps tests count by hand; they begin with line 1."""

import linecache
import sys
from pathlib import Path

import pytest
from numba import cuda, float32

from course_lib import simulate
from course_lib.simulator.hardware import ceil_div

sys.path.insert(0, str(Path(__file__).parent))  # so that `launches` and `oracles` are importable in every test

NAIVE = """\
def naive(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc"""

TILED = """\
def tiled(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * T + ty
    col = cuda.blockIdx.x * T + tx
    acc = float32(0)
    for t in range((A.shape[1] + T - 1) // T):
        As[ty, tx] = A[row, t * T + tx] if row < A.shape[0] and t * T + tx < A.shape[1] else 0
        Bs[ty, tx] = B[t * T + ty, col] if t * T + ty < B.shape[0] and col < B.shape[1] else 0
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc"""


def _traced(text, grid, block, *arrays, **names):
    path = f"<{text.split('(')[0]}>"
    linecache.cache[path] = len(text), None, text.splitlines(True), path
    scope = {"cuda": cuda, "float32": float32, **names}
    exec(compile(text, path, "exec"), scope)
    return simulate(scope[path[5:-1]], trace=True)[grid, block](*arrays)


@pytest.fixture
def naive_run():
    """Run the naive kernel on C = A·B, one thread per element of C."""

    def naive_run(A, B, C, block=(2, 2)):
        return _traced(NAIVE, tuple(map(ceil_div, C.shape[::-1], block)), block, A, B, C)

    return naive_run


@pytest.fixture
def tiled_run():
    """Run the tiled kernel on C = A·B with T×T tiles, guarded at ragged edges."""

    def tiled_run(A, B, C, T=2):
        return _traced(TILED, tuple(ceil_div(size, T) for size in C.shape[::-1]), (T, T), A, B, C, T=T)

    return tiled_run
