"""The reference: cuBLAS in plain float32 (no TF32), through whichever installed Python library offers it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache
def cublas_matmul() -> tuple[str, Callable[..., None]] | tuple[None, None]:
    """Return (name, matmul) where matmul(A, B, C) multiplies numba device arrays; (None, None) without a library."""
    try:
        import torch
    except ImportError:
        pass
    else:
        torch.backends.cuda.matmul.allow_tf32 = False

        def with_torch(A: Any, B: Any, C: Any) -> None:
            A, B, C = (torch.as_tensor(X, device="cuda") for X in (A, B, C))
            torch.mm(A, B, out=C)

        return f"cuBLAS through PyTorch {torch.__version__}", with_torch
    try:
        import cupy
    except ImportError:
        return None, None

    def with_cupy(A: Any, B: Any, C: Any) -> None:
        cupy.matmul(cupy.asarray(A), cupy.asarray(B), out=cupy.asarray(C))

    return f"cuBLAS through CuPy {cupy.__version__}", with_cupy
