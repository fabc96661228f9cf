"""The ladder under numba's own CUDA simulator: values only, in small, since it is slow."""

import numpy as np
import pytest

from course_lib.kernels import LADDER

#: numba's simulator runs one Python thread per GPU thread, so blocks must be small.
SMALL = {"tile_width": 4, "block_width": 4}
RUNGS = [rung for rung in LADDER if SMALL.keys() & rung.params.keys()]


@pytest.mark.nightly
@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
@pytest.mark.parametrize(
    "shape, dtype, order",
    [((7, 9, 5), "float32", "C"), ((5, 3, 10), "float64", "F"), ((4, 8, 8), "int32", "C"), ((1, 1, 1), "float32", "C"),
     ((3, 2, 0), "float32", "C")],
)  # fmt: skip
def test_rungs_equal_numpy_under_numbas_simulator(numba_simulator, rung, shape, dtype, order):
    (M, N, K), rng = shape, np.random.default_rng(1)
    params = {name: SMALL.get(name, value) for name, value in rung.params.items()}
    A, B = (np.asarray(5 * rng.standard_normal(each), dtype, order) for each in ((M, K), (K, N)))
    C = np.full((M, N), -12345, dtype, order)
    source = f"from course_lib.kernels import rung\nfrom numpy import {dtype}\n"
    source += f"kernel = rung({rung.name!r}).make(dtype={dtype}, **{params})"
    *_, found = numba_simulator.run(source, *rung.launch(M, N, K, **params), [A, B, C])
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(found, A.astype(float) @ B.astype(float), rtol=tolerance, atol=25 * tolerance * K)
