"""Atomic extremes with NaN, lane by lane."""

import numpy as np
import pytest
from numba import cuda

from course_lib import simulate


def extremes(a, values, olds):
    i = cuda.threadIdx.x
    cuda.atomic.max(a, 0, values[i])
    cuda.atomic.min(a, 1, values[i])
    cuda.atomic.nanmax(a, 2, values[i])
    cuda.atomic.nanmin(a, 3, values[i])
    olds[0, i] = cuda.atomic.max(a, 4, values[i])
    olds[1, i] = cuda.atomic.min(a, 5, values[i])
    olds[2, i] = cuda.atomic.nanmax(a, 6, values[i])
    olds[3, i] = cuda.atomic.nanmin(a, 7, values[i])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_atomic_extremes_with_nan(dtype):
    """max and min leave a NaN in memory, nanmax and nanmin replace it; a NaN that is offered never counts."""
    nan = np.nan
    values = np.array([nan, 3, nan, 5, 2], dtype)

    for start, kept in ((nan, True), (4, False)):
        a, olds = np.full(8, start, dtype), np.zeros((4, 5), dtype)
        simulate(extremes)[1, 5](a, values, olds)
        high, low = (nan, nan) if kept else (5, 2)
        np.testing.assert_array_equal(a, [high, low, 5, 2] * 2)
        if kept:
            np.testing.assert_array_equal(olds, [[nan] * 5, [nan] * 5, [nan, nan, 3, 3, 5], [nan, nan, 3, 3, 3]])
        else:
            np.testing.assert_array_equal(olds, [[4, 4, 4, 4, 5], [4, 4, 3, 3, 3]] * 2)
