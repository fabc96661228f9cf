"""Every rung on the course's simulator: equal to NumPy, without a finding, and with the accesses of the reference."""

import numpy as np
import pytest
from nightly import at_night, drawn
from oracles import reference
from oracles.comparison import assert_same_counts

from course_lib import simulate
from course_lib.kernels import LADDER, rung
from course_lib.machine import model

SIZES = [(37, 70, 18), (33, 36, 24), (1, 1, 1), (3, 2, 0), (20, 30, 25), (0, 4, 4), (4, 0, 3)]
#: For `best`, a few last rows, columns, or both, with or without whole tiles: inner products divided among lanes.
EDGES, EDGES_AT_NIGHT = [(3, 258, 37), (130, 3, 41)], [(130, 70, 35), (132, 260, 4)]
#: The parameters that say how wide a tile or a block is.
WIDTHS = {"tile_width", "block_width"}
#: Kernels with large tiles, whose launches take longest here: those that load four elements at once.
HEAVY = tuple(r.name for r in LADDER if "F" not in r.orders)
#: Kernels whose accesses the reference lists in seconds; `machine/gpu/test_counters.py` holds the others against a GPU.
LISTED = [r for r in LADDER[: LADDER.index(rung("register_1d"))] if r.name != "pipelined"]


def matrices(M, N, K, dtype=np.float32, order="C"):
    """Return random whole-numbered A and B, so that every type is exact, and a C that no product equals."""
    rng = drawn()
    A, B = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((M, K), (K, N)))
    return tuple(np.asarray(X, order=order) for X in (A, B, np.full((M, N), -12345, dtype)))


def prepared(r, A, B, C, **params):
    """Return the kernel, grid and block of a rung; skip the test where the rung has no room for the matrices."""
    params = {**r.params, **params}
    try:
        return r.make(dtype=C.dtype.type, **params), *r.launch(*C.shape, A.shape[1], **params)
    except ValueError as reason:
        pytest.skip(str(reason))


def simulated(r, A, B, C, **params):
    """Run a rung in strict mode and return the run."""
    kernel, grid, block = prepared(r, A, B, C, **params)
    return simulate(kernel)[grid, block](A, B, C)


def with_reference(r, size, dtype=np.float32, **params):
    """Assert that a rung has the right result; return its run, and the reference's record of it."""
    A, B, C = matrices(*size, dtype)
    kernel, grid, block = prepared(r, A, B, C, **params)
    run = simulate(kernel)[grid, block](A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    return run, reference.run(kernel, grid, block, A, B, C)


@pytest.mark.parametrize(
    ("r", "size"),
    [
        *((r, s) if r.name not in HEAVY or s in SIZES[:1] else at_night(r, s) for r in LADDER for s in SIZES),
        *((rung("best"), size) for size in EDGES),
        *(at_night(rung("best"), size) for size in EDGES_AT_NIGHT),
    ],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_rung_equals_numpy(r, size):
    """Sizes are rectangles that no tile divides, a single element, an empty inner dimension and empty results.

    The formula for the loads holds for the whole ladder, but for sizes below 2.
    """
    A, B, C = matrices(*size)
    run = simulated(r, A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()
    loaded = run.traffic.select(space="global", op="load").bytes
    best, tile = r.name == "best", r.tile(**r.params) or ()
    wanted = model.global_loads_of_best(*size) if best else model.global_loads(*size, *tile)
    assert loaded == 4 * wanted or min(size) < 2


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("r", [r for r in LADDER if len(r.dtypes) > 1], ids=lambda r: r.name)
def test_rung_of_other_types_and_fortran_order(r, dtype):
    """The same kernels run with float64 and int32, and with columns first in memory."""
    A, B, C = matrices(19, 23, 21, dtype, "F")
    simulated(r, A, B, C)
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "r", [r if r.name not in ("outer_product", "unrolled") else at_night(r) for r in LISTED], ids=lambda r: r.name
)
def test_a_rung_asks_for_what_the_reference_lists(r, dtype):
    """Rows of odd length begin at every phase to a sector."""
    if np.dtype(dtype).name in r.dtypes:
        assert_same_counts(*with_reference(r, (9, 14, 11), dtype))


@pytest.mark.parametrize("width", [12, *map(at_night, (2, 5, 32, None))])
@pytest.mark.parametrize("r", [r for r in LISTED if WIDTHS & {*r.params}], ids=lambda r: r.name)
def test_rung_with_other_widths(r, width):
    """The width of a tile or a block is not always 16; a warp begins inside a row of those that are 12 wide.

    The last width, and the size with it, is drawn anew every night; a failure names them.
    """
    size = (19, 9, 11) if width else tuple(int(n) for n in drawn().integers(1, 40, 3))
    width = width or int(drawn().integers(2, 33))
    assert_same_counts(*with_reference(r, size, **dict.fromkeys(WIDTHS & {*r.params}, width)))


@pytest.mark.parametrize("width", [5, *map(at_night, (2, 12, 32))])
def test_copies_with_other_widths(width):
    """Copies into a ring of tiles, which the reference counts in another line: that of the function that copies.

    Their wavefronts, which the reads add to, are held against a GPU.
    """
    run, record = with_reference(rung("pipelined"), (19, 9, 11), tile_width=width)
    for space, op in (("global", "load"), ("shared", "store"), ("shared", "load"), ("global", "store")):
        part, listed = run.traffic.select(space=space, op=op), record.counts(space=space, op=op)
        assert [part.accesses, part.requests, part.bytes] == [listed[k] for k in ("accesses", "requests", "bytes")]
        assert (space, op) == ("shared", "store") or (part.sectors, part.wavefronts) == (
            listed["sectors"],
            listed["wavefronts"],
        )
