"""Every rung on the course's simulator: equal to NumPy, and without a single finding."""

import numpy as np
import pytest

from course_lib import model, simulate
from course_lib.kernels import LADDER, rung
from course_lib.kernels.vector import load4, store4

SIZES = [(37, 70, 18), (33, 36, 24), (1, 1, 1), (3, 2, 0), (20, 30, 25), (0, 4, 4)]
MODELLED = tuple(model.TRAFFIC)


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


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("r", LADDER, ids=lambda r: r.name)
def test_rung_equals_numpy(r, size):
    """Rectangles that no tile divides, a single element, an empty inner dimension and an empty result."""
    A, B, C = matrices(*size)
    run = simulated(r, A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("r", [r for r in LADDER if len(r.dtypes) > 1], ids=lambda r: r.name)
def test_rung_of_other_types_and_fortran_order(r, dtype):
    """The same kernels with float64 and int32, columns first in memory."""
    A, B, C = matrices(19, 23, 21, dtype, "F")
    simulated(r, A, B, C)
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize("tile_width", [2, 5, 32])
@pytest.mark.parametrize("r", [r for r in LADDER if "tile_width" in r.params], ids=lambda r: r.name)
def test_rung_with_other_tile_widths(r, tile_width):
    """The tile width is a compile-time constant of the kernel, not 16 in disguise."""
    A, B, C = matrices(19, 9, 11)
    simulated(r, A, B, C, tile_width=tile_width)
    np.testing.assert_array_equal(C, A @ B)


@pytest.mark.parametrize("size", [*SIZES[:5], (150, 3, 7), (3, 150, 9), (17, 32, 16)], ids=str)
@pytest.mark.parametrize("name", MODELLED)
def test_model_equals_the_simulators_counts(name, size):
    """Accesses, requests, sectors and wavefronts of every array, as closed forms and as counted."""
    r = rung(name)
    A, B, C = matrices(*size)
    run = simulated(r, A, B, C)
    for (space, op, array), count in model.traffic(name, *size, **r.params).items():
        if count.accesses:
            counted = run.traffic.select(space=space, op=op, array=array)
            assert (count.accesses, count.requests) == (counted.accesses, counted.requests)
            assert (count.sectors or count.wavefronts) == (counted.sectors if space == "global" else counted.wavefronts)


@pytest.mark.parametrize("size", [(3, 258, 37), (130, 70, 35), (130, 3, 41), (132, 260, 4)], ids=str)
def test_edges_of_the_best_kernel(size):
    """A few last rows, columns, or both, beside whole tiles and without them, are inner products split among lanes."""
    A, B, C = matrices(*size)
    run = simulated(rung("best"), A, B, C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()


@pytest.mark.parametrize("r", LADDER, ids=lambda r: r.name)
def test_global_bytes_follow_from_the_tile(r):
    """The closed form of the loads holds for the whole ladder."""
    M, N, K = (27, 26, 22) if r.name in ("single_block", "per_element") else (37, 70, 18)
    A, B, C = matrices(M, N, K)
    run = simulated(r, A, B, C)
    loaded = run.traffic.select(space="global", op="load").bytes
    assert loaded == 4 * model.global_loads(M, N, K, *(r.tile(**r.params) or ()))


@pytest.mark.parametrize("access", [load4, store4])
def test_vector_access_says_what_it_is_on_a_gpu(access):
    """A simulator can tell a 16-byte access from four of 4 bytes."""
    assert access.__simulated_as__[1] == 4
    assert callable(access.py_func)
