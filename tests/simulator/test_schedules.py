"""Whichever warp of a block runs first, a kernel does the same: its values, its counts and what is found in it.

An eighth of the kernels with a bug and of their twins, in order, reversed and shuffled; with `--nightly` all of them,
and 20 shuffles each. `test_differential.py` does the same with random kernels.
"""

import kernels_with_bugs as corpus
import numpy as np
import pytest
from nightly import NIGHTLY, every

SHUFFLES = 20 if NIGHTLY else 1
SCHEDULES = ("reversed", *range(SHUFFLES))


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
