"""Is a kernel right? Fresh random inputs, a poisoned output, and float64 on the host as the judge."""

from dataclasses import dataclass

import numpy as np

from .device import require

TOLERANCE = {"float32": 1e-5, "float64": 1e-13}


@dataclass(frozen=True)
class Verdict:
    """How far a result is from float64: relative_error = ‖C - AB‖ / ‖AB‖ (Frobenius), NaN if any element is NaN."""

    relative_error: float
    tolerance: float

    @property
    def correct(self):
        """Whether the error is within the tolerance; a NaN never is."""
        return bool(self.relative_error <= self.tolerance)


def judge(C, reference, tolerance=None):
    """Return the Verdict on C; integers must be exactly equal. A single wrong element of a large C is seen."""
    C, reference = np.asarray(C), np.asarray(reference)
    if tolerance is None:
        tolerance = TOLERANCE.get(C.dtype.name, 0.0)
    error = np.linalg.norm(C.astype(np.float64) - reference)
    norm = np.linalg.norm(reference)
    # An empty inner dimension makes the exact result 0: then any difference counts in full.
    return Verdict(float(error / norm) if norm > 0 else float(error), tolerance)


def random_matrices(M, N, K, dtype=np.float32, order="C", seed=None):
    """Return random A (M×K) and B (K×N), and a C (M×N) that no product equals: NaN, or the smallest integer."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    shapes = ((M, K), (K, N))
    if dtype.kind == "f":
        A, B = (rng.random(shape, dtype) - dtype.type(0.5) for shape in shapes)
        poison = np.nan
    else:
        A, B = (rng.integers(-9, 10, shape).astype(dtype) for shape in shapes)
        poison = np.iinfo(dtype).min
    return tuple(np.asarray(X, order=order) for X in (A, B, np.full((M, N), poison, dtype)))


def verify(rung, M, N, K, *, dtype=np.float32, order="C", seed=None, **params):
    """Launch the rung on fresh random matrices and return the Verdict. Raise NoGPUError without a GPU."""
    cuda = require()
    A, B, C = random_matrices(M, N, K, dtype, order, seed)
    params = {**rung.params, **params}
    grid, block = rung.launch(M, N, K, **params)
    kernel = rung.make(dtype=np.dtype(dtype).type, **params)
    d_A, d_B, d_C = (cuda.to_device(X) for X in (A, B, C))
    kernel[grid, block](d_A, d_B, d_C)
    cuda.synchronize()
    return judge(d_C.copy_to_host(), A.astype(np.float64) @ B.astype(np.float64))
