"""Accesses recognised as shifts of earlier ones: values, counts and findings as when each is looked at anew."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import simulate
from course_lib.simulator.launch import engine
from course_lib.simulator.runtime import access

LANES = 40  # a whole warp and a partial one


@cuda.jit
def gather(x, rows, columns, active, out):
    t = cuda.threadIdx.x
    total = float32(0)
    for step in range(rows.shape[0]):
        if active[step, t] != 0:
            total += x[rows[step, t], columns[step, t]]
    out[t] = total


@cuda.jit
def through_shared_and_local(rows, active, out):
    t = cuda.threadIdx.x
    tile = cuda.shared.array(128, float32)
    own = cuda.local.array(128, float32)
    for i in range(128):
        own[i] = float32(i)
    for i in range(t, 128, cuda.blockDim.x):
        tile[i] = float32(i * i)
    cuda.syncthreads()
    total = float32(0)
    for step in range(rows.shape[0]):
        if active[step, t] != 0:
            total += tile[rows[step, t]] * own[rows[step, t]]
    out[t] = total


def both_ways(kernel, monkeypatch, *arguments):
    """Run with and without comparing by content; assert that all is the same, and return out and the run."""
    results = []
    for compared in (access.COMPARED, 0):
        monkeypatch.setattr(access, "COMPARED", compared)
        out = np.zeros(LANES, np.float32)
        run = simulate(kernel, strict=False)[1, LANES](*arguments, out)
        results.append((out, run))
    (out, run), (anew, other) = results
    np.testing.assert_array_equal(out, anew)
    assert run.traffic.rows == other.traffic.rows
    assert set(run.findings) == set(other.findings)
    return out, run


def shifted_patterns(rng, dtype, steps, size, outside):
    """Index rows: a few patterns, each at many shifts, which in a narrow type may wrap round."""
    info = np.iinfo(dtype)
    patterns = [np.arange(LANES) % 16, 3 * (np.arange(LANES) % 8), 32 * (np.arange(LANES) % 3), np.zeros(LANES, int)]
    patterns.append(rng.integers(0, 20, LANES))
    rows = np.empty((steps, LANES), dtype)
    for step in range(steps):
        pattern = patterns[rng.integers(len(patterns))]
        low, high = (-8, size + 4) if outside else (0, size - 1 - pattern.max())
        rows[step] = (pattern + rng.integers(low, high + 1)).clip(info.min if outside else 0, info.max).astype(dtype)
    return rows


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
def test_shifted_accesses(dtype, outside, monkeypatch):
    """Rows of indices that are shifts of each other, inside the array or partly not, under changing masks."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((100, 70), np.float32)
    rows = shifted_patterns(rng, dtype, 60, 100, outside)
    columns = shifted_patterns(rng, "int64", 60, 70, outside=False)
    active = (rng.random((60, LANES)) < rng.choice([0.3, 1.0], (60, 1))).astype(np.int8)
    out, run = both_ways(gather, monkeypatch, x, rows, columns, active)
    if not outside:
        wanted = (x[rows.astype(int), columns] * active).sum(axis=0)
        np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)
        assert not run.findings
    else:
        assert "out-of-bounds" in {f.kind for f in run.findings}


@pytest.mark.parametrize(
    ("dtype", "first", "second"), [("int8", 0, 60), ("int16", 0, 32_750), ("int32", 5, 2**31 - 20)]
)
def test_a_shift_that_wraps_in_the_index_type_is_not_a_shift(dtype, first, second, monkeypatch):
    """The differences of both rows are equal in their own type, but the later row wraps to negative indices."""
    pattern = np.arange(LANES) * (3 if dtype == "int8" else 1)
    rows = np.stack([pattern + first, pattern + second]).astype(dtype)
    assert rows[1].min() < 0 <= rows[0].min()
    np.testing.assert_array_equal(rows[0] - rows[0, 0], rows[1] - rows[1, 0])
    x = np.broadcast_to(np.arange(200, dtype=np.float32)[:, None], (200, 2)).copy()
    columns, active = np.zeros((2, LANES), np.int64), np.ones((2, LANES), np.int8)
    out, run = both_ways(gather, monkeypatch, x, rows, columns, active)
    wrapped = rows[1].astype(np.int64) + np.where(rows[1] < 0, 200, 0)
    inside = (wrapped >= 0) & (wrapped < 200)
    np.testing.assert_array_equal(out, x[rows[0], 0] + np.where(inside, x[np.where(inside, wrapped, 0), 0], 0))
    assert run.findings


def test_shared_and_local(monkeypatch):
    """Wavefronts of shared and the values of local arrays, at shifted and at equal indices."""
    rng = np.random.default_rng(6)
    rows = shifted_patterns(rng, "int32", 80, 128, outside=False)
    rows[::5] = rows[::5, :1]  # the same index in all lanes
    active = (rng.random((80, LANES)) < rng.choice([0.5, 1.0], (80, 1))).astype(np.int8)
    out, run = both_ways(through_shared_and_local, monkeypatch, rows, active)
    wanted = (rows.astype(np.float32) ** 3 * active).sum(axis=0)
    np.testing.assert_allclose(out, wanted, rtol=1e-5)
    assert run.traffic.select(space="shared", op="load").bank_conflicts > 0


def test_more_patterns_than_are_remembered(monkeypatch):
    """Patterns that are forgotten on the way are still counted, once."""
    monkeypatch.setattr(engine, "CACHED_ELEMENTS", 8_000)  # of 300 · 40 indices at each of two sites
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(0, 100, (300, LANES)), rng.integers(0, 70, (300, LANES))
    x = rng.standard_normal((100, 70), np.float32)
    out, run = both_ways(gather, monkeypatch, x, rows, columns, np.ones((300, LANES), np.int8))
    assert run.traffic.select(array="x").accesses == 300 * LANES
    np.testing.assert_allclose(out, x[rows, columns].sum(axis=0), rtol=1e-3, atol=1e-4)
