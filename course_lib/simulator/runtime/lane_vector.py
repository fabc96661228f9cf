"""A lane vector: the same warp of every block of a chunk, with its shape, masks and thread numbers."""

from functools import cached_property

import numpy as np

from ..findings import Thread
from ..launch_shape import Chunk, LaunchShape, WarpLanes
from .masks import Mask, widened


class LaneVector:
    """The warp with the number ``warp_number`` of every block of a chunk.

    ``shape`` is (lane rows, lane columns, block rows, block columns). A mask over it is ``True`` (every lane),
    ``False`` (none) or a boolean array that broadcasts to ``shape``.
    """

    def __init__(self, launch: LaunchShape, lanes: WarpLanes, chunk: Chunk) -> None:
        self.launch, self.lanes, self.chunk = launch, lanes, chunk
        self.warp_number = lanes.warp_number
        self.shape = (*lanes.shape, *chunk.shape)
        self.size = lanes.count * chunk.count
        self.thread_index, self.block_index = lanes.thread_index, chunk.block_index
        self._active: tuple[Mask, np.ndarray, np.ndarray] | None = None

    def count(self, mask: Mask) -> int:
        if mask is True:
            return self.size
        if mask is False:
            return 0
        return int(np.count_nonzero(mask)) * (self.size // mask.size)

    def warps_active(self, mask: Mask) -> int:
        """Number of warps (one a block) with at least one active lane."""
        if mask is True:
            return self.chunk.count
        if mask is False:
            return 0
        return self.sum_over_blocks(mask.any(axis=(0, 1)))

    def sum_over_blocks(self, counts: np.ndarray) -> int:
        """The sum over all blocks of the chunk of counts that broadcast to (block rows, block columns)."""
        return int(counts.sum()) * (self.chunk.count // counts.size)

    @cached_property
    def ids(self) -> np.ndarray:
        """Linear id in the grid of every thread: block id times threads a block plus thread id."""
        return self.chunk.linear * self.launch.threads_per_block + self.lanes.linear

    def full(self, mask: Mask) -> np.ndarray:
        """``mask`` as a boolean array of the whole shape."""
        return self._everyone if mask is True else widened(mask, self.shape)

    @cached_property
    def _everyone(self) -> np.ndarray:
        return widened(True, self.shape)

    def active(self, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
        """Thread and block of each lane of a mask, in one dimension; those of the last mask are kept."""
        if self._active is None or self._active[0] is not mask:
            lanes = self.full(mask)
            self._active = mask, self.ids[lanes], widened(self.chunk.linear, self.shape)[lanes]
        return self._active[1:]

    def first_lane(self, mask: Mask) -> tuple[int, ...]:
        """The position in the vector of the first thread (in launch order) of a mask that is not empty."""
        ids = np.where(self.full(mask), self.ids, np.int64(np.iinfo(np.int64).max))
        return tuple(int(i) for i in np.unravel_index(int(ids.argmin()), self.shape))

    def first_thread(self, mask: Mask) -> Thread:
        """The first thread (in launch order) of a mask that is not empty."""
        return self.launch.thread_coordinates(self.ids[self.first_lane(mask)])
