"""Verification of kernels: fresh random inputs, a C filled with NaN, and float64 on the host as the reference."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...kernels.bulk_copy import WithMaps
from ...kernels.rung import Rung
from .device import require

#: Products with more multiplications are compared through one random vector.
DIRECT = 2**34
TOLERANCE = {"float32": 1e-5, "float64": 1e-13}


@dataclass(frozen=True)
class Comparison:
    """Distance of a result from float64: relative_error = ‖C - AB‖ / ‖AB‖ (Frobenius), NaN if any element is NaN.

    >>> gpu.Comparison(relative_error=2e-7, tolerance=1e-5).correct
    True
    """

    relative_error: float
    tolerance: float

    @property
    def correct(self) -> bool:
        """Whether the error is within the tolerance; that of NaN never is."""
        return bool(self.relative_error <= self.tolerance)


def judge(C: Any, reference: np.ndarray) -> Comparison:
    """Return the Comparison of C with the reference; integers must be equal. One wrong element of a large C is seen."""
    C, reference = np.asarray(C), np.asarray(reference)
    error = np.linalg.norm(C.astype(np.float64) - reference)
    norm = np.linalg.norm(reference)
    # With an empty inner dimension the exact result is 0: then any difference counts in full.
    return Comparison(float(error / norm if norm > 0 else error), TOLERANCE.get(C.dtype.name, 0.0))


def distance(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> float:
    """Return ‖C - AB‖ / ‖AB‖ in float64; of large matrices ‖(C - AB) x‖ / ‖AB x‖ for a random vector x."""
    A, B, C = (X.astype(np.float64) for X in (A, B, C))
    if A.size * B.shape[1] > DIRECT:
        x = np.random.default_rng().standard_normal((B.shape[1], 1))
        B, C = B @ x, C @ x
    exact = A @ B
    return float(np.linalg.norm(C - exact) / np.linalg.norm(exact))


def random_matrices(
    M: int, N: int, K: int, dtype: Any = np.float32, order: Literal["C", "F"] = "C", seed: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    C = np.full((M, N), poison, dtype)
    return np.asarray(A, order=order), np.asarray(B, order=order), np.asarray(C, order=order)


def prepare(
    r: Rung, M: int, N: int, K: int, *, dtype: Any = np.float32, **params: Any
) -> tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Return (kernel, grid, block, params) of a launch of the rung; ValueError if the size does not fit."""
    params = {**r.params, **params}
    grid, block = r.launch(M, N, K, **params)
    return r.make(dtype=np.dtype(dtype).type, **params), grid, block, params


def allow(compiled: Any, room: int) -> None:
    """Let the compiled kernel have `room` bytes of dynamic shared memory, also beyond 48 KiB."""
    from numba.cuda.cudadrv.driver import binding, driver

    function = compiled._codelibrary.get_cufunc()
    attribute = binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.cuKernelSetAttribute(attribute, room, function.handle, function.device.id)


def configured(kernel: Any, grid: Any, block: Any, room: int, arguments: Any) -> Any:
    """Return `kernel[grid, block]` with `room` bytes of dynamic shared memory, compiled for `arguments` if any."""
    if not room:
        return kernel[grid, block]
    given = kernel.given(arguments) if isinstance(kernel, WithMaps) else arguments
    kernel.compile(tuple(kernel.typeof_pyval(a) for a in given))
    allow(next(iter(kernel.overloads.values())), room)
    return kernel[grid, block, 0, room]


def verify(
    rung: Rung,
    M: int,
    N: int,
    K: int,
    *,
    dtype: Any = np.float32,
    order: Literal["C", "F"] = "C",
    seed: int | None = None,
    **params: Any,
) -> Comparison:
    """Launch the rung on fresh random matrices and return the Comparison. Raise NoGPUError without a GPU.

    The reference is the float64 product of the numbers that the rung multiplies: tensor cores round or truncate.

    >>> if gpu.available():
    ...     comparison = gpu.verify(rung("naive"), 64, 64, 64)
    ... else:
    ...     comparison = gpu.Comparison(relative_error=2e-7, tolerance=1e-5)
    >>> comparison.correct
    True
    """
    cuda = require()
    A, B, C = random_matrices(M, N, K, dtype, order, seed)
    kernel, grid, block, params = prepare(rung, M, N, K, dtype=dtype, **params)
    d_A, d_B, d_C = (cuda.to_device(X) for X in (rung.operand(A), rung.operand(B), C))
    configured(kernel, grid, block, rung.dynamic_bytes, (d_A, d_B, d_C))(d_A, d_B, d_C)
    cuda.synchronize()
    A, B = (rung.multiplied(X, **params).astype(np.float64) for X in (A, B))
    return judge(d_C.copy_to_host(), A @ B)
