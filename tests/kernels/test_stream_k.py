"""A kernel whose blocks share the sums of their tiles: values, counts, and mistakes that the simulator shows."""

import inspect

import numpy as np
import pytest
from nightly import NIGHTLY, at_night, drawn
from oracles.mutation import mutants
from oracles.sources import import_kernel

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.kernels import stream_k as module
from course_lib.kernels.stream_k import TILE, stream_k, workspace
from course_lib.machine import gpu

#: (M, N, K), blocks: whole tiles alone; shares of one, two and three tiles; fewer units than blocks; no units at all.
LAUNCHES = [
    at_night((40, 64, 100), 4),
    ((40, 64, 100), 3),
    ((33, 20, 170), 5),
    ((8, 9, 300), 4),
    ((1, 1, 1), 3),
    ((5, 7, 0), 2),
    at_night((70, 45, 130), 5),
    at_night((70, 100, 40), 7),
]
#: For mutants: a block for each unit; whole tiles of M and N; whole units of K, and tiles down and across.
MUTATED = [((8, 9, 70), 3), ((64, 32, 70), 4), ((40, 70, 64), 5)]
#: Mutants that compute the same, by what was changed and the text of the line, with the reason.
EQUIVALENT = {
    ("delete cuda.threadfence()", "cuda.threadfence()"): "of two fences around an atomic the second: to the simulator "
    "what follows an atomic is ordered by it",
    (
        "one iteration fewer: range(begin * TILE, end * TILE, TILE)",
        "for start in range(begin * TILE, end * TILE, TILE):",
    ): "the last iteration begins at (end - 1) * TILE anyway",
}


def launched(kernel, size, blocks, **options):
    """Launch on whole numbers; return (the run, what is wrong in C, tickets afterwards)."""
    M, N, K = size
    rng = np.random.default_rng(1)
    A, B = rng.integers(-9, 10, (M, K)).astype("f4"), rng.integers(-9, 10, (K, N)).astype("f4")
    C, (partial, tickets) = np.full((M, N), np.nan, "f4"), workspace(M, N, blocks)
    partial[:] = np.nan
    run = simulate(kernel, **options)[blocks, (TILE, TILE)](A, B, C, partial, tickets)
    return run, (C != A @ B).any(), tickets


def accesses(run):
    """How many elements of each array the threads load, store or change."""
    traffic = run.traffic
    return {array: traffic.select(array=array).accesses for array in {row.array for row in traffic.rows}}


def expected(size, blocks):
    """The same, from who has which unit, counted one by one."""
    M, N, K = size
    down, across, units = -(-M // TILE), -(-N // TILE), max(1, -(-K // TILE))
    ends = [(block + 1) * down * across * units // blocks for block in range(blocks)]
    owner = [next(block for block, end in enumerate(ends) if unit < end) for unit in range(down * across * units)]
    parts = [len(set(owner[tile * units : (tile + 1) * units])) for tile in range(down * across)]
    shared = sum(count for count in parts if count > 1)
    found = {"A": M * K * across, "B": K * N * down, "C": M * N, "partial": 2 * shared * TILE**2}
    found |= {name: (1 + TILE) * down * across * units * TILE**2 for name in ("A_tile", "B_tile")}
    # A ticket is taken by one thread, stored, and read by all.
    found |= {"tickets": shared, "ticket": shared * (1 + TILE**2)}
    return {name: count for name, count in found.items() if count}


@pytest.mark.parametrize(("size", "blocks"), LAUNCHES, ids=str)
def test_shares_add_up(size, blocks):
    """C is right, and no rule is broken; the tickets are zero again. C and the partial sums were full of NaN before.

    Every access of every array is counted: each part of a shared tile is stored once and added once.
    """
    run, wrong, tickets = launched(stream_k, size, blocks)
    assert not wrong and run.findings == () and not tickets.any()
    assert accesses(run) == expected(size, blocks)


def test_no_block_adds_where_tickets_do_not_begin_at_zero():
    """The last ticket of a shared tile decides who adds: without it the tile is not stored."""
    A, B, C = (np.ones(shape, np.float32) for shape in ((8, 300), (300, 8), (8, 8)))
    C[:], (partial, tickets) = np.nan, workspace(8, 8, 4)
    simulate(stream_k, strict=False)[4, (TILE, TILE)](A, B, C, partial, tickets + np.uint32(9))
    assert np.isnan(C).all()


@pytest.mark.parametrize("mutant", list(mutants(inspect.getsource(module), 1 if NIGHTLY else 30)), ids=str)
def test_mutant_is_noticed(mutant, tmp_path):
    """A finding, a wrong value, another count or a ticket that is left shows each change of the kernel."""
    changed = import_kernel(mutant.source, tmp_path, "stream_k", "course_lib.kernels")
    seen = set()
    for size, blocks in MUTATED:
        try:
            run, wrong, tickets = launched(changed, size, blocks, strict=False, max_steps=5_000)
        except (KernelError, UnsupportedKernelError) as error:
            seen.add(type(error).__name__)
            break
        seen |= {f.kind for f in run.findings}
        said = {"wrong": wrong, "tickets": tickets.any(), "counts": accesses(run) != expected(size, blocks)}
        seen |= {word for word, there in said.items() if there}
        if seen:
            break
    assert seen or (mutant.what, mutant.text) in EQUIVALENT


@pytest.mark.skipif(not gpu.available(), reason="no CUDA GPU")
@pytest.mark.parametrize(
    ("size", "blocks"),
    [((128, 128, 8192), 132), ((513, 300, 700), 264), ((64, 64, 64), 1), ((33, 20, 0), 5), ((1000, 1000, 1000), 132)],
    ids=str,
)
def test_a_gpu_computes_the_same(size, blocks):
    """Compared with float64, twice with the same workspace."""
    from numba import cuda

    M, N, K = size
    rng = drawn()
    A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
    memory = [cuda.to_device(array) for array in workspace(M, N, blocks)]
    for _ in range(2):
        C = cuda.to_device(np.full((M, N), np.nan, np.float32))
        stream_k[blocks, (TILE, TILE)](cuda.to_device(A), cuda.to_device(B), C, *memory)
        np.testing.assert_allclose(C.copy_to_host(), A.astype("f8") @ B.astype("f8"), atol=1e-5 * max(1, K))
