"""Whole tiles copied by Hopper's Tensor Memory Accelerator (TMA), and barriers in shared memory that count its bytes.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, types
from numba.extending import intrinsic

from .async_copy import BYTE, INT32, INT64, SHARED_ADDRESS_SPACE, assembly, element_address
from .warpgroup import require_hopper

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


def _are_barriers(kind):
    return isinstance(kind, types.Array) and (kind.dtype, kind.ndim, kind.layout) == (types.uint64, 1, "C")


def _address(context, builder, kind, value, index_type, index):
    place = element_address(context, builder, kind, value, [index_type], [index], SHARED_ADDRESS_SPACE)
    return builder.ptrtoint(place, INT32)


def _on_barrier(text, barriers, *numbers):
    """Return the signature and the generator of an instruction on barriers[i] with perhaps one more number."""
    if not _are_barriers(barriers) or not all(isinstance(n, (types.Integer, types.Boolean)) for n in numbers):
        return None

    def generate(context, builder, signature, args):
        kinds = signature.args
        operands = [_address(context, builder, kinds[0], args[0], kinds[1], args[1])]
        operands += [context.cast(builder, args[i], kinds[i], types.int32) for i in range(2, len(args))]
        require_hopper()
        assembly(builder, text, ",".join("r" for _ in operands), *operands)
        return context.get_dummy_value()

    return types.none(barriers, *numbers), generate


@intrinsic
def init_barrier(typingctx, barriers, i, arrivals):
    """Make barriers[i] a barrier whose phases need `arrivals` arrivals."""
    return _on_barrier("mbarrier.init.shared::cta.b64 [$0], $1;", barriers, i, arrivals)


@intrinsic
def expect_bytes(typingctx, barriers, i, count):
    """Arrive at barriers[i]; its phase also waits for `count` copied bytes."""
    return _on_barrier("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", barriers, i, count)


@intrinsic
def wait_barrier(typingctx, barriers, i, parity):
    """Wait until the phase of barriers[i] with this parity is complete: 0 for the first, 1 for the second, 0, ..."""
    loop = "again_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; @!done bra again_${:uid};"
    return _on_barrier(f"{{ .reg .pred done; {loop} }}", barriers, i, parity)


@cache
def tile_copy(rows: int, columns: int) -> Any:
    """Return `copy(tile, place, A, row, column, barriers, i)`, which starts to copy `rows` rows of 128 bytes."""
    element = next((kind for kind in (types.uint16, types.float32) if columns * kind.bitwidth == 8 * ROW_BYTES), None)
    if not 0 < rows <= 256 or element is None:
        raise ValueError(
            f"a tile has 1 to 256 rows of {ROW_BYTES} bytes, which are 64 uint16 or 32 float32, not {rows} of {columns}"
        )

    @intrinsic
    def copy(typingctx, tile, place, matrix, row, column, barriers, i):
        """Start to copy matrix[row:, column:] to the tile at element `place`; its bytes arrive at barriers[i]."""
        if not isinstance(tile, types.Array) or (tile.dtype, tile.ndim, tile.layout) != (element, 1, "C"):
            return None
        if not isinstance(matrix, types.NamedTuple) or matrix.instance_class is not Mapped:
            return None
        if not _are_barriers(barriers) or not all(isinstance(n, types.Integer) for n in (place, row, column, i)):
            return None

        def generate(context, builder, signature, args):
            kinds = signature.args
            array = context.make_array(kinds[2][0])(context, builder, builder.extract_value(args[2], 0))
            first = builder.bitcast(array.data, BYTE.as_pointer(array.data.type.addrspace))
            operands = [
                _address(context, builder, kinds[0], args[0], kinds[1], args[1]),
                builder.ptrtoint(first, INT64),
                *(context.cast(builder, args[n], kinds[n], types.int32) for n in (4, 3)),
                _address(context, builder, kinds[5], args[5], kinds[6], args[6]),
            ]
            text = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            require_hopper()
            assembly(builder, f"{text} [$0], [$1, {{$2, $3}}], [$4];", "r,l,r,r,r", *operands)
            return context.get_dummy_value()

        return types.none(tile, place, matrix, row, column, barriers, i), generate

    copy.__simulated_as__ = ("tile copy", rows, columns)
    return copy


init_barrier.__simulated_as__ = ("init barrier",)
expect_bytes.__simulated_as__ = ("expect bytes",)
wait_barrier.__simulated_as__ = ("wait barrier",)
