"""Whole tiles copied by Hopper's Tensor Memory Accelerator (TMA), and barriers in shared memory that count its bytes.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.extending import intrinsic

from . import llvm

#: The bytes of a tile's row, and of those of a matrix on whose multiple each must begin.
ROW_BYTES, PITCH_BYTES = 128, 16


class Mapped(NamedTuple):
    """The arguments of a kernel on a GPU for a matrix: its map, an array of 16 uint64, and its shape."""

    map: Any
    shape: Any


class WithMaps:
    """A kernel of (A, B, C) that copies tiles of A and B, of (rows, columns) elements each; it is launched as usual."""

    def __init__(self, kernel: Any, *boxes: tuple[int, int]) -> None:
        self.kernel, self.boxes = kernel, boxes
        self.maps: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def __getitem__(self, configuration: Any) -> Any:
        launch = self.kernel[configuration]

        def call(*arguments: Any) -> None:
            count = len(self.boxes)
            matrices = (X if cuda.is_cuda_array(X) else cuda.to_device(X) for X in arguments[:count])
            launch(*self.given((*matrices, *arguments[count:])))

        return call

    def given(self, arguments: Any) -> tuple[Any, ...]:
        """Return what the kernel gets for the arguments of a launch: the first ones with their maps."""
        count = len(self.boxes)
        return (*map(self.mapped, arguments[:count], self.boxes), *arguments[count:])

    def mapped(self, matrix: Any, box: tuple[int, int]) -> Mapped:
        """Return what the kernel gets of a matrix on the GPU; of an empty one, the map of a row of zeros."""
        matrix = cuda.as_cuda_array(matrix)
        key = matrix.device_ctypes_pointer.value, matrix.shape, matrix.strides, box
        if key not in self.maps:
            whole = matrix if matrix.size else cuda.to_device(np.zeros((1, ROW_BYTES), matrix.dtype))
            self.maps[key] = cuda.to_device(tensor_map(whole, box)), whole if whole is not matrix else None
        return Mapped(self.maps[key][0], matrix.shape)


def tensor_map(matrix: Any, box: tuple[int, int]) -> np.ndarray:
    """Return the map, 16 uint64, of a matrix of uint16 or float32 on the GPU, for copies of (rows, columns)."""
    pitch, size = matrix.strides
    if size != matrix.dtype.itemsize or pitch % PITCH_BYTES:
        raise ValueError(
            f"a bulk copy needs rows in C order that begin on {PITCH_BYTES}-byte boundaries, and these are {pitch} "
            "bytes apart; pad them, as course_lib.kernels.tensor_core_formats.with_whole_lines does"
        )
    from numba.cuda.cudadrv.driver import binding as driver

    rows, columns = matrix.shape
    wide, whole = driver.cuuint64_t, driver.cuuint32_t
    status, made = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{matrix.dtype.name.upper()}"),
        2,
        int(matrix.device_ctypes_pointer.value),
        [wide(columns), wide(rows)],
        [wide(pitch)],
        [whole(box[1]), whole(box[0])],
        [whole(1), whole(1)],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    if int(status):
        raise RuntimeError(f"the driver makes no map of a {rows}×{columns} matrix for tiles of {box}: {status!r}")
    return np.frombuffer(ctypes.string_at(int(made.getPtr()), 128), np.uint64).copy()


@intrinsic
def init_barrier(typingctx, barriers, i, arrivals):
    """Make barriers[i] a barrier whose phases need `arrivals` arrivals."""
    return llvm.bulk_copy.on_barrier("mbarrier.init.shared::cta.b64 [$0], $1;", barriers, i, arrivals)


@intrinsic
def expect_bytes(typingctx, barriers, i, count):
    """Arrive at barriers[i]; its phase also waits for `count` copied bytes."""
    return llvm.bulk_copy.on_barrier("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", barriers, i, count)


@intrinsic
def wait_barrier(typingctx, barriers, i, parity):
    """Wait until the phase of barriers[i] with this parity is complete: 0 for the first, 1 for the second, 0, ..."""
    loop = "again_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra again_${:uid};"
    return llvm.bulk_copy.on_barrier(f"{{ .reg .pred done; {loop} }}", barriers, i, parity)


@cache
def tile_copy(rows: int, columns: int) -> Any:
    """Return `copy(tile, place, A, row, column, barriers, i)`, which starts to copy `rows` rows of 128 bytes."""
    kinds = ("uint16", "float32")
    element = next((kind for kind in kinds if columns * np.dtype(kind).itemsize == ROW_BYTES), None)
    if not 0 < rows <= 256 or element is None:
        raise ValueError(
            f"a tile has 1 to 256 rows of {ROW_BYTES} bytes, which are 64 uint16 or 32 float32, not {rows} of {columns}"
        )

    @intrinsic
    def copy(typingctx, tile, place, matrix, row, column, barriers, i):
        """Start to copy matrix[row:, column:] to the tile at element `place`; its bytes arrive at barriers[i]."""
        return llvm.bulk_copy.copy(element, Mapped, tile, place, matrix, row, column, barriers, i)

    copy.__simulated_as__ = ("tile copy", rows, columns)
    return copy


init_barrier.__simulated_as__ = ("init barrier",)
expect_bytes.__simulated_as__ = ("expect bytes",)
wait_barrier.__simulated_as__ = ("wait barrier",)
