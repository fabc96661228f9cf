"""The tile of `tiled` in Triton, launched as numba's kernels are; there where Triton and PyTorch are installed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from ...kernels import Rung, rung
from .result_types import Result


class TritonKernel:
    """Triton's kernel for tiles of one width: `kernel[grid, block](A, B, C)`; Triton chooses the block itself."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.compiled: Any = None

    def __getitem__(self, launch: tuple[Any, ...]) -> Callable[[Any, Any, Any], None]:
        import torch

        from .triton_tiled import triton_tiled

        def call(A: Any, B: Any, C: Any) -> None:
            (M, K), N = A.shape, B.shape[1]
            tensors = (torch.as_tensor(X, device="cuda") for X in (A, B, C))
            self.compiled = triton_tiled[launch[0]](*tensors, M, N, K, self.width)

        return call

    def resources(self, block: Sequence[int]) -> Result:
        """Return the compiler, and the registers of a thread of the last launch."""
        return {"compiler": f"Triton {metadata.version('triton')}", "registers": self.compiled.n_regs}


def in_triton() -> list[Rung]:
    """Return `tiled` in Triton; nothing where it is not installed."""
    if not (find_spec("triton") and find_spec("torch")):
        return []

    @lru_cache
    def make(dtype: Any = None, tile_width: int = 16) -> TritonKernel:
        return TritonKernel(tile_width)

    return [replace(rung("tiled"), name="tiled_triton", title="tiled in Triton", make=make, dtypes=("float32",))]
