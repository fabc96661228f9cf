"""Every rung on the course's simulator: equal to NumPy, and without a single finding."""

import numpy as np
import pytest
from nightly import at_night
from oracles import closed_forms
from oracles.comparison import assert_modelled

from course_lib import simulate
from course_lib.kernels import LADDER, rung
from course_lib.kernels.vector import load4, store4
from course_lib.machine import model

SIZES = [(37, 70, 18), (33, 36, 24), (1, 1, 1), (3, 2, 0), (20, 30, 25), (0, 4, 4), (4, 0, 3)]
#: More sizes for the formulas: several blocks each way, rows at every phase to a sector, whole tiles, thin edges.
MODELLED_SIZES = [(150, 3, 7), (3, 150, 9), (17, 32, 16), (130, 133, 5)]
#: A tile of 128-bit loads and a ragged one after it in K; whole tiles of a matrix whose rows, or whose partner's, begin
#: off 16 bytes; four blocks with rows at every phase to a sector.
WHOLE = [(128, 256, 20), (128, 257, 16), (128, 256, 17), (130, 133, 5)]
#: The parameters that say how wide a tile or a block is.
WIDTHS = {"tile_width", "block_width"}
#: Kernels with large tiles, whose launches take longest here: those that load four elements at once.
HEAVY = tuple(r.name for r in LADDER if "F" not in r.orders)


def matrices(M, N, K, dtype=np.float32, order="C"):
    """Return random whole-numbered A and B, so that every type is exact, and a C that no product equals."""
    rng = np.random.default_rng()
    A, B = (rng.integers(-9, 10, shape).astype(dtype) for shape in ((M, K), (K, N)))
    return tuple(np.asarray(X, order=order) for X in (A, B, np.full((M, N), -12345, dtype)))


def simulated(r, A, B, C, **params):
    """Run a rung in strict mode and return the run; skip the test where the rung has no room for the matrices."""
    params = {**r.params, **params}
    M, K = A.shape
    try:
        grid, block = r.launch(M, B.shape[1], K, **params)
    except ValueError as reason:
        pytest.skip(str(reason))
    return simulate(r.make(dtype=C.dtype.type, **params))[grid, block](A, B, C)


@pytest.mark.parametrize(
    ("r", "size"),
    [(r, s) if r.name not in HEAVY or s in SIZES[:1] else at_night(r, s) for r in LADDER for s in SIZES],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_rung_equals_numpy(r, size):
    """Sizes are rectangles that no tile divides, a single element, an empty inner dimension and empty results.

    The formulas for its traffic give the simulator's counts.
    """
    A, B, C = matrices(*size)
    run = simulated(r, A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()
    assert_modelled(run, r, size)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("r", [r for r in LADDER if len(r.dtypes) > 1], ids=lambda r: r.name)
def test_rung_of_other_types_and_fortran_order(r, dtype):
    """The same kernels run with float64 and int32, and with columns first in memory."""
    A, B, C = matrices(19, 23, 21, dtype, "F")
    simulated(r, A, B, C)
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize("width", [2, 5, 24, 32])
@pytest.mark.parametrize("r", [r for r in LADDER if WIDTHS & {*r.params}], ids=lambda r: r.name)
def test_rung_with_other_widths(r, width):
    """The width of a tile or a block is not always 16; a warp begins inside a row of those that are 24 wide."""
    A, B, C = matrices(19, 9, 11)
    params = dict.fromkeys(WIDTHS & {*r.params}, width)
    run = simulated(r, A, B, C, **params)
    np.testing.assert_array_equal(C, A @ B)
    assert_modelled(run, r, (19, 9, 11), **params)


@pytest.mark.parametrize("size", MODELLED_SIZES, ids=str)
@pytest.mark.parametrize("r", [r for r in LADDER if r.name not in HEAVY], ids=lambda r: r.name)
def test_model_equals_the_simulators_counts(r, size):
    """Accesses, requests, sectors and wavefronts of every array agree, by formulas and as counted."""
    assert_modelled(simulated(r, *matrices(*size)), r, size)


@pytest.mark.parametrize(
    ("name", "size"),
    # the default run has the last and smallest of these sizes for the first kernel, and the edges of the best one
    [(n, s) if s == WHOLE[-1] and n == HEAVY[0] else at_night(n, s) for n in HEAVY for s in WHOLE],
    ids=str,
)
def test_model_equals_the_simulators_counts_of_whole_tiles(name, size):
    """Sizes have whole tiles and parts of them, for the kernels with large tiles."""
    r = rung(name)
    assert_modelled(simulated(r, *matrices(*size)), r, size)


@pytest.mark.parametrize("r", [r for r in LADDER if "float64" in r.dtypes], ids=lambda r: r.name)
def test_sectors_of_8_byte_elements(r):
    """There are four to a sector, and rows of odd length."""
    size = (19, 25, 21)
    run = simulated(r, *matrices(*size, np.float64))
    for (space, op, array), count in closed_forms.traffic(r.name, *size, **r.params, itemsize=8).items():
        if space == "global":
            counted = run.traffic.select(space=space, op=op, array=array)
            assert (count.requests, count.sectors) == (counted.requests, counted.sectors)


@pytest.mark.parametrize("r", [at_night(r) if r.name in HEAVY else r for r in LADDER], ids=lambda r: r.name)
def test_model_equals_the_simulators_counts_of_random_sizes(r):
    """M, N, K and the width of tiles or blocks drawn anew every time; a failure names them."""
    rng = np.random.default_rng()
    most = 32 if r.name in ("single_block", "per_element") else 70 if r.name == "best" else 160
    size = tuple(int(n) for n in rng.integers(1, most + 1, 2)) + (int(rng.integers(1, 32)),)
    params = {key: int(rng.integers(2, 33)) for key in WIDTHS & {*r.params}}
    assert_modelled(simulated(r, *matrices(*size), **params), r, size, **params)


@pytest.mark.parametrize(
    "size", [(3, 258, 37), at_night((130, 70, 35)), (130, 3, 41), at_night((132, 260, 4))], ids=str
)
def test_edges_of_the_best_kernel(size):
    """A few last rows, columns, or both, with or without whole tiles, are inner products divided among lanes."""
    A, B, C = matrices(*size)
    run = simulated(rung("best"), A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()
    assert_modelled(run, rung("best"), size)
    assert run.traffic.select(space="global", op="load").bytes == 4 * model.global_loads_of_best(*size)


@pytest.mark.parametrize("r", [at_night(r) if r.name in HEAVY else r for r in LADDER], ids=lambda r: r.name)
def test_global_bytes_follow_from_the_tile(r):
    """The formula for the loads holds for the whole ladder."""
    M, N, K = (27, 26, 22) if r.name in ("single_block", "per_element") else (37, 70, 18)
    A, B, C = matrices(M, N, K)
    run = simulated(r, A, B, C)
    loaded = run.traffic.select(space="global", op="load").bytes
    assert loaded == 4 * model.global_loads(M, N, K, *(r.tile(**r.params) or ()))


@pytest.mark.parametrize("access", [load4, store4])
def test_vector_access_says_what_it_is_on_a_gpu(access):
    """A simulator can distinguish a 16-byte access from four of 4 bytes."""
    assert access.__simulated_as__[1] == 4
    assert callable(access.py_func)
