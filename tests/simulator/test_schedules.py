"""Whichever warp of a block runs first, a kernel does the same: its values, its counts and what is found in it.

The kernels of the course and an eighth of the kernels with a bug, in order, reversed and shuffled; with `--nightly` all
of them, also the kernels with register tiles and on tensor cores, and 20 shuffles each.
"""

import kernels_with_bugs as corpus
import numpy as np
import pytest
from launches.samples import QUICK
from nightly import NIGHTLY, at_night, every

from course_lib import simulate
from course_lib.kernels import LADDER, TENSOR_CORES

SHUFFLES = 20 if NIGHTLY else 1
RUNGS = [*QUICK, *map(at_night, (*LADDER[len(QUICK) :], *TENSOR_CORES))]
SCHEDULES = ("reversed", *range(SHUFFLES))
#: (M, N, K), no multiple of any tile.
SIZES = [(33, 41, 21), (70, 35, 50)] if NIGHTLY else [(33, 41, 21)]
SMALL = (13, 19, 11)  # for kernels that hold all of C in one block
#: One tile of C that asynchronous copies bring.
COPIED = 128, 128, 64


def counts(run):
    """Return what is counted: the rows, and every thread's accesses."""
    return run.traffic.rows, [
        run.traffic.per_thread(space=space, op=op).tobytes()
        for space in ("global", "shared", "local") for op in ("load", "store", "atomic")
    ]  # fmt: skip


def assert_same(one, two):
    """Two launches, each a run and its arrays, are equal in counts, findings and every bit of the values.

    Atomics on floats may round differently: they add in the order in which they come.
    """
    (run, arrays), (other, others) = one, two
    assert counts(run) == counts(other)
    assert run.findings == other.findings
    atomics = any(row.op == "atomic" for row in run.traffic.rows)
    for a, b in zip(arrays, others, strict=True):
        if atomics and np.asarray(a).dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-5)
        else:
            np.testing.assert_array_equal(a, b)


def launches(rung):
    """Yield (grid, block, arrays) of a rung for ragged matrices, in blocks of several warps."""
    rng = np.random.default_rng(11)
    sizes = [SMALL] if rung.name in ("single_block", "per_element") else SIZES
    for M, N, K in [COPIED] if rung in TENSOR_CORES[1:] else sizes:
        params = {"block_width": 8, "tile_width": 8, "stages": 3, "width": max(M, N, K), "rounded": False}
        params = {name: params[name] for name in rung.params}
        grid, block = rung.launch(M, N, K, **params)
        if rung.name in ("per_row", "per_column"):
            grid, block = (1, 1), (96, 1)
        arrays = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
        yield params, grid, block, (*map(rung.operand, arrays), np.full((M, N), np.nan, np.float32))


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
def test_kernels_of_the_course(rung):
    for params, grid, block, arrays in launches(rung):
        assert np.prod(block) > 32

        def run(schedule, params=params, grid=grid, block=block, arrays=arrays):
            copies = [a.copy() for a in arrays]
            return simulate(rung.make(**params), schedule=schedule)[grid, block](*copies), copies

        right = run("in-order")
        assert right[0].findings == ()
        for schedule in SCHEDULES:
            assert_same(run(schedule), right)


@pytest.mark.parametrize("name", every(8, corpus.NAMES))
def test_innocent_twins(name):
    pair = corpus.load(name)
    right = pair.simulated("twin", schedule="in-order")
    assert right[0].findings == ()
    for schedule in SCHEDULES:
        assert_same(pair.simulated("twin", schedule=schedule), right)


def found(run):
    """Return the findings by kind, array and lines.

    Whether the reader in a race also comes before the first writer depends on the order, and is left out.
    """
    raced = {f.array for f in run.findings if f.kind == "race"}
    return {(f.kind, f.array, frozenset((f.line, f.other_line)))
            for f in run.findings if f.kind != "uninitialized-read" or f.array not in raced}  # fmt: skip


@pytest.mark.parametrize("name", every(8, corpus.NAMES))
def test_kernels_with_bugs(name):
    """A race gives other values, but it is found where it is, and so is everything else."""
    pair = corpus.load(name)
    right = found(pair.simulated("bug", schedule="in-order")[0])
    for schedule in SCHEDULES:
        assert found(pair.simulated("bug", schedule=schedule)[0]) == right
