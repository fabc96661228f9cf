"""The machine's parts by themselves: atomics, the order within a warp, masks, and what fits in memory."""

import numpy as np
import pytest
from numba import cuda, int32

from course_lib import simulate
from course_lib.simulator.lanes import masks
from course_lib.simulator.launch.engine import Engine
from course_lib.simulator.launch.prepare import prepare
from course_lib.simulator.observer import Observer


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


def divergent(a, out, n):
    i = cuda.grid(1)
    tile = cuda.shared.array(64, int32)
    mine = cuda.local.array(4, int32)
    tile[cuda.threadIdx.x] = i
    if i >= n:
        return
    for k in range(i % 5):
        if a[i] > k:
            mine[k % 4] = k
            continue
        while a[i] < 3:
            a[i] += 1
            if a[i] == 2 and i % 3 == 0:
                break
        else:
            out[i] += 1
        out[i] += tile[cuda.threadIdx.x] if i % 2 else k
    cuda.atomic.add(out, i // 2, 1)


class Freezer(Observer):
    """Makes every mask that it meets read-only, and remembers the lanes that it held."""

    def __init__(self):
        super().__init__()
        self.met = {}

    def keep(self, mask):
        if isinstance(mask, np.ndarray):
            mask.flags.writeable = False
            self.met.setdefault(id(mask), (mask, mask.copy()))

    def watch(self, array):
        return lambda site, pattern, base, value: self.keep(pattern.mask)

    def statement(self, vector, line, mask):
        self.keep(mask)


@pytest.mark.parametrize("tracing", ["", "values"])
def test_no_mask_is_changed_in_place(tracing):
    """A kernel with every kind of branch and loop runs with its masks frozen, and gives the same results."""
    a = np.random.default_rng(3).integers(0, 5, 100).astype("i4")
    expected_a, expected = a.copy(), np.zeros(100, "i4")
    simulate(divergent, strict=False)[2, 64](expected_a, expected, 100)

    freezer, got = Freezer(), np.zeros(100, "i4")
    Engine(prepare(divergent, 2, 64, (a, got, 100), tracing=tracing), [freezer]).run()

    np.testing.assert_array_equal((a, got), (expected_a, expected))
    assert len(freezer.met) > 10
    assert all((mask == lanes).all() for mask, lanes in freezer.met.values())


def test_narrowing_gives_the_same_object_or_another_set():
    """True and False stand for all lanes and none, and a mask from which nothing is taken is returned itself."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        mask = rng.random((1, 8, 1, 2)) < rng.choice([0.2, 0.8])
        condition = rng.random((1, 8, 1, 2)) < rng.choice([0, 0.2, 0.8, 1])
        if not mask.any():
            continue
        frozen = mask.copy()
        mask.flags.writeable = condition.flags.writeable = False
        for before in (True, mask):
            yes, no = masks.split(before, condition)
            lanes = np.broadcast_to(before, mask.shape)
            for part, want in ((yes, lanes & condition), (no, lanes & ~condition)):
                np.testing.assert_array_equal(np.broadcast_to(part, mask.shape), want)
                assert part is before or (part is False and not want.any()) or want.any()
                assert part is before or (want != lanes).any()
            left = masks.minus(before, condition)
            np.testing.assert_array_equal(np.broadcast_to(left, mask.shape), lanes & ~condition)
            assert before is True or (left is before) == (not (lanes & condition).any())
        assert (mask == frozen).all()
        assert masks.minus(mask, mask) is False
        assert masks.join(mask, yes, no, yes, no) is mask
