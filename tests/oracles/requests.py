"""The requests of a warp in one step, one for each access, with their lanes and words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from course_lib.simulator.hardware import SECTOR_BYTES, WARP_SIZE, WORD_BYTES, ceil_div
from course_lib.trace.trace import Trace, TraceAccess


@dataclass
class Request:
    """A request of the warp in this step: one access of one array.

    ``lanes`` has, for each lane of the warp, the byte address (from the array's start) or None if it takes no
    part. ``words`` maps the number of each word of four bytes to the lanes that access it. ``used`` is how many bytes
    of global memory are accessed. The other counts are those of the observers.
    """

    array: str
    op: str
    space: str
    access_bytes: int
    lanes: list[int | None]
    n_sectors: int
    n_wavefronts: int
    n_conflicts: int
    used: int = 0
    words: dict[int, list[int]] = field(default_factory=dict)

    @property
    def active(self) -> int:
        return sum(address is not None for address in self.lanes)

    @property
    def says(self) -> str:
        """A sentence that describes the request."""
        what = f"{self.op.capitalize()} of {self.array}: {self.active} lanes × {self.access_bytes} bytes"
        if self.space == "global":
            moved = self.n_sectors * SECTOR_BYTES
            plural = "s" * (self.n_sectors != 1)
            return f"{what} in {self.n_sectors} sector{plural}; {self.used} of {moved} bytes asked for."
        wave, conflict = "s" * (self.n_wavefronts != 1), "s" * (self.n_conflicts != 1)
        return f"{what} in {self.n_wavefronts} wavefront{wave}, {self.n_conflicts} bank conflict{conflict}."


def request_of(trace: Trace, access: TraceAccess) -> Request:
    """The request that an access makes to global or shared memory."""
    array = trace.arrays[access.array]
    itemsize = np.dtype(array.dtype).itemsize
    strides = np.array(array.strides, np.int64)
    at = (access.index @ strides * itemsize) if len(strides) else np.zeros(len(access.threads), np.int64)
    size = itemsize * access.width
    lanes: list[int | None] = [None] * WARP_SIZE
    for thread, address in zip(access.threads.tolist(), at.tolist(), strict=True):
        lanes[thread % WARP_SIZE] = int(address)
    figures = access.sectors, access.wavefronts, access.conflicts
    request = Request(access.array, access.op, array.space, size, lanes, *figures)
    for lane, first in enumerate(lanes):
        if first is not None:
            for word in range(first // WORD_BYTES, ceil_div(first + size, WORD_BYTES)):
                request.words.setdefault(word, []).append(lane)
    if array.space == "global":
        request.used = len(np.unique(at[:, None] + np.arange(size)))
    return request
