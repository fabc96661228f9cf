"""cuBLASLt through ctypes: every algorithm that it proposes for a product, so that the fastest can be found.

nvmath-python 1.0 cannot take its place: `Matmul` accepts only arrays of NumPy, CuPy and PyTorch, and copies NumPy's to
and from the GPU; its bindings are these same calls, and its documentation calls them experimental.
"""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

#: Constants of the library: types of data and of arithmetic, and the name of an attribute (cublasLt.h, cudaDataType.h).
FLOAT32, COMPUTE_FLOAT32 = 0, 68
MAX_WORKSPACE = 1
WORKSPACE_BYTES = 64 << 20
#: The most algorithms that are asked for.
MOST = 16


class Algorithm(Structure):
    """The library's description of one algorithm (cublasLtMatmulHeuristicResult_t)."""

    _fields_ = [
        ("algorithm", c_uint64 * 8),
        ("workspace_bytes", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


@lru_cache
def _library() -> tuple[Any, Any]:
    """Return (library, handle); (None, None) if cuBLASLt is not installed."""
    try:
        import torch  # PyTorch contains the library, and loads it

        torch.cuda.current_blas_handle()
    except (ImportError, RuntimeError):
        pass
    for version in (13, 12):
        try:
            library = ctypes.CDLL(f"libcublasLt.so.{version}")
        except OSError:
            continue
        handle = c_void_p()
        _check(library.cublasLtCreate(byref(handle)))
        return library, handle
    return None, None


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"cuBLASLt refused, with status {status}")


def available() -> bool:
    """Return whether cuBLASLt is installed."""
    return _library()[0] is not None


def algorithms(M: int, N: int, K: int) -> list[Callable[[int, int, int, int], None]]:
    """Return up to MOST functions call(A, B, C, workspace), pointers as integers, one for each algorithm.

    Matrices are row-major, in float32. The library expects column-major ones, so it is called for Cᵀ = Bᵀ Aᵀ.
    """
    library, handle = _library()
    operation, preference = c_void_p(), c_void_p()
    _check(library.cublasLtMatmulDescCreate(byref(operation), COMPUTE_FLOAT32, FLOAT32))

    def layout(rows: int, columns: int) -> c_void_p:
        made = c_void_p()
        sizes = c_uint64(columns), c_uint64(rows), c_int64(columns)
        _check(library.cublasLtMatrixLayoutCreate(byref(made), FLOAT32, *sizes))
        return made

    a, b, c = layout(M, K), layout(K, N), layout(M, N)
    _check(library.cublasLtMatmulPreferenceCreate(byref(preference)))
    most_bytes = c_uint64(WORKSPACE_BYTES)
    _check(library.cublasLtMatmulPreferenceSetAttribute(preference, MAX_WORKSPACE, byref(most_bytes), c_size_t(8)))
    found, count = (Algorithm * MOST)(), c_int()
    heuristic = library.cublasLtMatmulAlgoGetHeuristic
    heuristic.argtypes = [c_void_p] * 7 + [c_int, POINTER(Algorithm), POINTER(c_int)]
    if heuristic(handle, operation, b, a, c, c, preference, MOST, found, byref(count)):
        return []
    one, zero = c_float(1), c_float(0)
    multiply = library.cublasLtMatmul
    multiply.argtypes = [c_void_p] * 14 + [c_size_t, c_void_p]

    def caller(algorithm: Algorithm) -> Callable[[int, int, int, int], None]:
        def call(A: int, B: int, C: int, workspace: int) -> None:
            pointers = (byref(one), B, b, A, a, byref(zero), C, c, C, c, byref(algorithm.algorithm), workspace)
            addresses = [ctypes.cast(p, c_void_p) if not isinstance(p, (int, c_void_p)) else p for p in pointers]
            _check(multiply(handle, operation, *addresses, WORKSPACE_BYTES, None))

        return call

    return [caller(algorithm) for algorithm in found[: count.value] if algorithm.state == 0]
