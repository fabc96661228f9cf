"""The matrices that lessons multiply, and the launch of a kernel on them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..simulator.hardware import ceil_div
from ..simulator.run import Run
from ..trace.simulate import simulate

_Matrix = NDArray[np.float32]


def matrices(M: int, N: int, K: int, most: int = 9) -> tuple[_Matrix, _Matrix, _Matrix]:
    """Return A (M×K) and B (K×N) of random whole numbers, and C (M×N) full of NaN, all float32.

    Args:
        M: rows of A and of C.
        N: columns of B and of C.
        K: columns of A, and rows of B.
        most: the largest number; the smallest is 1, so 1 gives matrices of ones.

    Equal sizes give equal matrices. An element of C that no thread stores stays NaN, and cannot be right by accident.

    >>> A, B, C = matrices(2, 3, 4)
    >>> A.shape, B.shape, C.shape
    ((2, 4), (4, 3), (2, 3))
    """
    rng = np.random.default_rng(M * N + K)
    A = rng.integers(1, most + 1, (M, K)).astype(np.float32)
    B = rng.integers(1, most + 1, (K, N)).astype(np.float32)
    return A, B, np.full((M, N), np.nan, np.float32)


def multiply(
    kernel: Any,
    M: int,
    N: int,
    K: int,
    block: tuple[int, int],
    grid: tuple[int, int] | None = None,
    *,
    most: int = 9,
    **options: Any,
) -> tuple[Run, NDArray[np.bool_]]:
    """Simulate a launch of ``kernel(A, B, C)`` on `matrices`; return the run, and which elements of C are right.

    Args:
        kernel: a kernel that computes C = A·B.
        M: rows of A and of C.
        N: columns of B and of C.
        K: columns of A, and rows of B.
        block: threads of a block, as (x, y): x counts columns.
        grid: blocks, as (x, y); by default as many as give each element of C a thread.
        most: the largest number in A and B.
        options: of `simulate`, such as ``trace=True`` or ``strict=False``.

    The second value has the shape of C: True where the element is NumPy's. Products of such numbers are exact.

    >>> @cuda.jit
    ... def only_row_0(A, B, C):
    ...     col = cuda.threadIdx.x
    ...     acc = float32(0)
    ...     for k in range(A.shape[1]):
    ...         acc += A[0, k] * B[k, col]
    ...     C[0, col] = acc
    >>> run, right = multiply(only_row_0, 2, 4, 3, block=(4, 1), grid=(1, 1))
    >>> right.sum(axis=1)
    array([4, 0])
    """
    A, B, C = matrices(M, N, K, most)
    grid = grid or (ceil_div(N, block[0]), ceil_div(M, block[1]))
    run = simulate(kernel, **options)[grid, block](A, B, C)
    return run, C == A @ B
