"""The lessons' matrices and the launch on them: equal each time, exact, and honest about each element."""

import numpy as np
from numba import cuda, float32

from course_lib import matrices, multiply
from course_lib.kernels import rung


def test_matrices_are_whole_numbers_and_the_same_each_time():
    A, B, C = matrices(5, 7, 6)
    assert (A.shape, B.shape, C.shape) == ((5, 6), (6, 7), (5, 7))
    assert np.isnan(C).all() and {X.dtype for X in (A, B, C)} == {np.dtype(np.float32)}
    assert all(np.array_equal(X, X.round()) and 1 <= X.min() and X.max() <= 9 for X in (A, B))
    assert all(map(np.array_equal, matrices(5, 7, 6)[:2], (A, B)))
    assert all((X == 1).all() for X in matrices(3, 4, 5, most=1)[:2])


def test_a_right_kernel_is_right_everywhere():
    run, right = multiply(rung("naive").make(), 5, 7, 6, block=(4, 2), trace=True)
    assert right.shape == (5, 7) and right.all() and run.trace is not None
    assert run.traffic.select(space="global", op="load").accesses == 2 * 5 * 7 * 6


def test_a_wrong_or_missing_element_is_told():
    @cuda.jit
    def half(A, B, C):
        col, row = cuda.grid(2)
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        if row:
            C[row, col] = acc + (col == 3)

    _, right = multiply(half, 4, 4, 4, block=(2, 2))
    assert not right[0].any() and not right[1:, 3].any() and right[1:, :3].all()
    _, right = multiply(half, 4, 4, 4, block=(2, 2), grid=(1, 2), most=99)
    assert right.sum() == 6
