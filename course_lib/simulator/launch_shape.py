"""The shape of a launch, its limits, and the coordinates of blocks and lanes as broadcastable arrays.

Every lane vector has four axes: ``(lane row, lane column, block row, block column)``. The 32 lanes of a warp
are folded into rows of the thread block where its width allows it, and a chunk of blocks is a rectangle of the
grid. A value keeps length 1 along each axis that it does not depend on: ``threadIdx.x`` is ``(1, 16, 1, 1)``
in a block 16 wide. NumPy's broadcasting then does the work of a dependency analysis: an address that is equal
in all blocks is computed, checked and counted once for all of them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .findings import Coordinates, LaunchError, LaunchTypeError, Thread
from .hardware import MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK, WARP_SIZE, ceil_div

#: Vectors of about this many lanes ran fastest (256 lanes: 12x slower; 256 K: 2x slower).
LANES_PER_VECTOR = 16384


def dim3(value: Any, what: str) -> tuple[int, int, int]:
    """Return ``value`` (an int or 1 to 3 ints) as (x, y, z), or raise LaunchError."""
    values = value if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(values) <= 3:
        raise LaunchError(f"{what} has {len(values)} dimensions; give 1 to 3 whole numbers")
    try:
        dims = tuple(operator.index(each) for each in values)
    except TypeError:
        raise LaunchTypeError(f"{what} is {value!r}; give whole numbers, such as 16 or (16, 16)") from None
    if any(d < 1 for d in dims):
        raise LaunchError(f"{what} is {dims}; every dimension must be at least 1")
    x, y, z = dims + (1,) * (3 - len(dims))
    return x, y, z


def y_and_x(dims: Any) -> tuple[int, ...]:
    """Return the size (x, y, …) of a grid or a block as (y, x, …); a number is (x, 1)."""
    given = tuple(dims) if isinstance(dims, tuple | list) else (dims,)
    x, y, *rest = given if len(given) > 1 else (*given, 1)
    return y, x, *rest


@dataclass(frozen=True)
class LaunchShape:
    """A checked launch: ``grid`` and ``block`` as (x, y, z), and bytes of dynamic shared memory a block.

    ``dimensions``: how many numbers were given for the grid or the block, whichever has more.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int = 0
    dimensions: int = field(default=3, compare=False)

    @classmethod
    def of(cls, grid: Any, block: Any, dynamic_shared: Any = 0) -> LaunchShape:
        """Check ``grid`` and ``block`` against CUDA's limits (compute capability 5.0 and later)."""
        dimensions = max(len(given) if isinstance(given, (tuple, list)) else 1 for given in (grid, block))
        grid, block = dim3(grid, "the grid"), dim3(block, "the block")
        threads = prod(block)
        if threads > MAX_THREADS_PER_BLOCK:
            raise LaunchError(
                f"the block {block} has {threads:,} threads; a GPU allows at most "
                f"{MAX_THREADS_PER_BLOCK:,} a block: use smaller blocks and a larger grid"
            )
        for name, dims, limits in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
            for axis, size, limit in zip("xyz", dims, limits, strict=True):
                if size > limit:
                    raise LaunchError(
                        f"the {name}'s {axis} dimension is {size:,}; a GPU allows at most {limit:,}: use a smaller one"
                    )
        try:
            size = operator.index(dynamic_shared)
        except TypeError:
            size = -1
        if size < 0:
            raise LaunchError(f"dynamic shared memory is {dynamic_shared!r}; give a whole number of bytes, 0 or more")
        return cls(grid, block, size, dimensions)

    @property
    def threads_per_block(self) -> int:
        return prod(self.block)

    @property
    def blocks(self) -> int:
        return prod(self.grid)

    @property
    def warps(self) -> tuple[WarpLanes, ...]:
        return warps_of(self.block)

    def chunks(self, most: int = LANES_PER_VECTOR) -> Iterator[Chunk]:
        """Divide the grid into rectangles of at most ``most`` blocks, with about LANES_PER_VECTOR lanes a vector."""
        capacity = max(1, min(LANES_PER_VECTOR // min(WARP_SIZE, self.threads_per_block), most))
        columns, rows = self.grid[0], self.grid[1] * self.grid[2]
        width, height = min(columns, capacity), max(1, capacity // columns)
        for row in range(0, rows, height):
            for column in range(0, columns, width):
                yield Chunk(self, row, min(row + height, rows), column, min(column + width, columns))

    def thread_coordinates(self, linear: int) -> Thread:
        """``((bx, by, bz), (tx, ty, tz))`` of the thread with linear id ``linear`` in the grid."""
        block, thread = divmod(int(linear), self.threads_per_block)
        return coordinates(block, self.grid), coordinates(thread, self.block)

    def format_thread(self, thread: Thread) -> str:
        """``thread (3, 1) of block (0, 2)``; in one dimension, ``thread 3 of block 0``."""

        def place(coordinates: Coordinates, sizes: Coordinates) -> int | tuple[int, ...]:
            dims = max([1, *(d + 1 for d in range(3) if sizes[d] > 1)])
            return coordinates[0] if dims == 1 else coordinates[:dims]

        block, inner = thread
        return f"thread {place(inner, self.block)} of block {place(block, self.grid)}"


def coordinates(linear: Any, sizes: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    """(x, y, z) of the thread of a block, or the block of a grid, with this linear id (x fastest)."""
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)


def linear(coordinates: Coordinates, sizes: tuple[int, int, int]) -> int:
    """The linear id of the thread of a block, or the block of a grid, with these coordinates."""
    (x, y, z), (width, height, _) = coordinates, sizes
    return x + width * (y + height * z)


def _coordinate(values: np.ndarray, axes: Iterable[int] = ()) -> Any:
    """``values`` as int32, of length 1 along those of ``axes`` on which they do not depend; a scalar for one value."""
    for axis in axes:
        first = values[(slice(None),) * axis + (slice(1),)]
        if (values == first).all():
            values = first
    return np.int32(values.item()) if values.size == 1 else np.ascontiguousarray(values, dtype=np.int32)


class WarpLanes:
    """The lanes of one warp of the block: their shape (rows, columns) and their thread coordinates."""

    def __init__(self, block: Coordinates, warp_number: int) -> None:
        bx = block[0]
        first = warp_number * WARP_SIZE
        count = min(WARP_SIZE, prod(block) - first)
        linear = first + np.arange(count)
        if WARP_SIZE % bx == 0 and count % bx == 0:
            shape = (count // bx, bx)
        else:
            shape = (1, count)
        self.warp_number, self.count, self.shape = warp_number, count, shape
        self.linear = linear.reshape(*shape, 1, 1)
        self.thread_index = tuple(_coordinate(c, (0, 1)) for c in coordinates(self.linear, block))
        self.lane = _coordinate(self.linear - first)


@lru_cache(maxsize=64)  # a program launches blocks of a few shapes, many times
def warps_of(block: Coordinates) -> tuple[WarpLanes, ...]:
    """Return the lanes of each warp of a block of this shape."""
    return tuple(WarpLanes(block, number) for number in range(ceil_div(prod(block), WARP_SIZE)))


class Chunk:
    """A rectangle of blocks that run together: rows (z, y) by columns x, as the last two axes of a vector."""

    def __init__(self, launch: LaunchShape, row0: int, row1: int, column0: int, column1: int) -> None:
        gx, gy, _ = launch.grid
        rows = np.arange(row0, row1, dtype=np.int64).reshape(1, 1, -1, 1)
        columns = np.arange(column0, column1, dtype=np.int64).reshape(1, 1, 1, -1)
        self.shape = (row1 - row0, column1 - column0)
        self.count = self.shape[0] * self.shape[1]
        self.block_index = tuple(_coordinate(c, (2,)) for c in (columns, rows % gy, rows // gy))
        self.linear = rows * gx + columns

    @property
    def block_numbers(self) -> np.ndarray:
        """The number of each block in the chunk, as the last two axes of a vector."""
        return np.arange(self.count).reshape(1, 1, *self.shape)
