"""The judge that decides whether a kernel is right; it needs no GPU."""

import numpy as np
import pytest

from course_lib.machine.gpu.verification import judge, random_matrices


def product(M=64, N=48, K=80, dtype=np.float32):
    """Return a correct result and its float64 reference."""
    A, B, _ = random_matrices(M, N, K, dtype)
    return A @ B, A.astype(np.float64) @ B.astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_right_result_passes(dtype):
    """NumPy's own product is within the tolerance of every type."""
    assert judge(*product(dtype=dtype)).correct


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0])
def test_one_wrong_element_fails(wrong):
    """One element that is NaN, infinite or never computed is enough, out of three thousand."""
    C, reference = product()
    at = np.unravel_index(np.argmax(np.abs(reference)), reference.shape)  # of random elements, one may be nearly 0
    C[at] = wrong
    assert not judge(C, reference).correct


def test_an_untouched_output_fails():
    """The poison that C starts with is never taken for a result, not even for an empty inner dimension."""
    for dtype in (np.float32, np.int32):
        A, B, C = random_matrices(3, 4, 0, dtype)
        assert not judge(C, A.astype(np.float64) @ B.astype(np.float64)).correct
        assert judge(np.zeros_like(C), A.astype(np.float64) @ B.astype(np.float64)).correct


def test_inputs_are_fresh():
    """Two calls without a seed give different matrices, two with the same seed equal ones."""
    assert not np.array_equal(random_matrices(4, 4, 4)[0], random_matrices(4, 4, 4)[0])
    assert np.array_equal(random_matrices(4, 4, 4, seed=1)[0], random_matrices(4, 4, 4, seed=1)[0])
