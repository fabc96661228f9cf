"""cuBLASLt through ctypes: every algorithm that it proposes for a product, so that the fastest can be found."""

import ctypes
from collections.abc import Callable
from ctypes import POINTER, Structure, byref, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

#: Constants of the library: types of data and of arithmetic, and names of attributes (cublasLt.h, cudaDataType.h).
FLOAT32, FLOAT16, BFLOAT16 = 0, 2, 14
COMPUTE_FLOAT32, COMPUTE_TF32 = 68, 77
TRANSPOSE_A, TRANSPOSE_B = 3, 4
MAX_WORKSPACE = 1
TRANSPOSED = 1
WORKSPACE_BYTES = 64 << 20


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


def algorithms(
    M: int,
    N: int,
    K: int,
    element: int = FLOAT32,
    result: int = FLOAT32,
    compute: int = COMPUTE_FLOAT32,
    transposed: tuple[bool, bool] = (False, False),
    most: int = 16,
) -> list[Callable[[int, int, int, int], None]]:
    """Return up to `most` functions call(A, B, C, workspace), pointers as integers, one for each algorithm.

    Matrices are row-major. The library expects column-major ones, so it is called for Cᵀ = Bᵀ Aᵀ.
    """
    library, handle = _library()
    operation, preference = c_void_p(), c_void_p()
    _check(library.cublasLtMatmulDescCreate(byref(operation), compute, FLOAT32))
    for attribute, is_transposed in zip((TRANSPOSE_B, TRANSPOSE_A), transposed, strict=True):
        if is_transposed:
            value = c_int(TRANSPOSED)
            _check(library.cublasLtMatmulDescSetAttribute(operation, attribute, byref(value), c_size_t(4)))
    layouts = []
    shapes = ((K, N) if not transposed[1] else (N, K), (M, K) if not transposed[0] else (K, M), (M, N))
    for (rows, columns), kind in zip(shapes, (element, element, result), strict=True):
        layout = c_void_p()
        _check(
            library.cublasLtMatrixLayoutCreate(byref(layout), kind, c_uint64(columns), c_uint64(rows), c_int64(columns))
        )
        layouts.append(layout)
    _check(library.cublasLtMatmulPreferenceCreate(byref(preference)))
    most_bytes = c_uint64(WORKSPACE_BYTES)
    _check(library.cublasLtMatmulPreferenceSetAttribute(preference, MAX_WORKSPACE, byref(most_bytes), c_size_t(8)))
    found, count = (Algorithm * most)(), c_int()
    b, a, c = layouts
    heuristic = library.cublasLtMatmulAlgoGetHeuristic
    heuristic.argtypes = [c_void_p] * 7 + [c_int, POINTER(Algorithm), POINTER(c_int)]
    if heuristic(handle, operation, b, a, c, c, preference, most, found, byref(count)):
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
