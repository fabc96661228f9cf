"""Barriers in shared memory (mbarrier), and the tiles that the TMA brings (cp.async.bulk.tensor).

On a GPU a tile can arrive at any time between the copy and the end of the phase that counts its bytes. Here it arrives
as late as possible, when a thread first waits for that phase, so a thread that reads too early finds the old values.
The bytes are counted when the copy starts. A thread that waits for a phase acquires what other threads did before they
arrived, or copied, in that phase: the races observer receives a fence and an atomic of each of them. One thread starts
a copy; the observers receive each 32 pieces of 16 bytes as a request of its warp. If all warps of a block wait and
nothing more arrives, that is reported, and they continue.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..findings import KernelError
from ..hardware import WARP_SIZE
from .access import Site
from .arrays import Ints, Pattern
from .async_copies import SourceUse
from .barrier import Pause
from .memory import SharedArray
from .warpgroup_products import ALIGNMENT, PIECE

#: The bytes of a tile's row; the swizzle exchanges the pieces of 16 bytes in it.
ROW_BYTES = 128


@dataclass(eq=False)
class PendingTile:
    """One copy that has not arrived in ``blocks``: its requests, each with the values that it stores, element by
    element; in each of these blocks, the word of its barrier and the phase that counts its bytes."""

    site: Site
    requests: list[tuple[Pattern, list[np.ndarray]]]
    blocks: np.ndarray
    words: Ints
    phase: Ints


@dataclass(eq=False)
class Barriers:
    """The barriers in one shared array, by word: arrivals that a phase needs (0: no barrier), and what is missing."""

    arrivals: Ints
    missing: Ints
    bytes: Ints
    phase: Ints  # how many are complete
    copies: list[PendingTile] = field(default_factory=list)
    uses: list[SourceUse] = field(default_factory=list)


class Mbarriers:
    """The barriers and bulk copies of the blocks of a chunk, which its warps share."""

    def __init__(self) -> None:
        self.of: dict[SharedArray, Barriers] = {}
        self.events = 0  # arrivals so far
        self.seen: dict[Any, int] = {}  # by vector: the events at its last pause
        self.given_up: set[Any] = set()  # vectors that no longer wait for their present phase

    # --- called by the generated code ---------------------------------------------------------------------------

    def init(self, vector: Any, array: Any, index: Any, arrivals: Any, mask: Any, line: int) -> None:
        """Make barriers[index] a barrier whose phases need ``arrivals`` arrivals."""
        keys, lanes, pattern = self._keys_and_lanes(vector, array, index, mask, line)
        wanted = np.broadcast_to(np.asarray(arrivals, np.int64), vector.shape)[lanes]
        if (wanted < 1).any():
            raise KernelError(f"a phase needs at least one arrival, not {int(wanted.min())}", line=line)
        of = self._barriers(array)
        of.arrivals[keys] = of.missing[keys] = wanted
        of.bytes[keys] = of.phase[keys] = 0
        self._touch(vector, "store", pattern, line)

    def expect(self, vector: Any, array: Any, index: Any, count: Any, mask: Any, line: int) -> None:
        """Let each lane arrive at its barrier, whose phase then also waits for ``count`` bytes."""
        keys, lanes, pattern = self._keys_and_lanes(vector, array, index, mask, line)
        of = self._known(array, keys, line)
        np.add.at(of.bytes, keys, np.broadcast_to(np.asarray(count, np.int64), vector.shape)[lanes])
        np.subtract.at(of.missing, keys, 1)
        if (of.missing[keys] < 0).any():
            word = int(keys[of.missing[keys] < 0][0])
            raise KernelError(
                f"{array.element_name(array.index_of_key(word))} gets more arrivals in a phase than the "
                f"{int(of.arrivals[word])} that it was made for; let fewer threads arrive, or wait in between",
                line=line,
            )
        self._touch(vector, "atomic", pattern, line)
        self._release(vector, pattern)
        self._settle(of, keys)

    def copy(
        self,
        vector: Any,
        tile: Any,
        first: Any,
        matrix: Any,
        corner: tuple[Any, Any],
        array: Any,
        *,
        index: Any,
        box: tuple[int, int],
        mask: Any,
        line: int,
    ) -> None:
        """Start to copy matrix[row:, column:] to ``tile``; its bytes arrive at barriers[index]."""
        keys, lanes, pattern = self._keys_and_lanes(vector, array, index, mask, line)
        if not len(keys):
            return
        if (lanes.sum(axis=(0, 1)) > 1).any():
            raise KernelError(
                "one thread starts a bulk copy, and several of a warp do here; let one do so, as `if threadIdx.x == 0`",
                line=line,
            )
        of = self._known(array, keys, line)
        blocks = lanes.any(axis=(0, 1)).reshape(-1)
        order = np.argsort(keys % array.chunk.count)  # that of the blocks, which have one copying lane each
        keys = keys[order]
        first, row, column = (
            np.broadcast_to(np.asarray(number, np.int64), vector.shape)[lanes][order] for number in (first, *corner)
        )
        site = self._site(vector, "bulk", line)
        requests = self._requests(site, tile, matrix, box, blocks, (first, row, column))
        for request, values in requests:
            vector.engine.report("copy_started", site, request, 0, tuple(values))
        of.copies.append(PendingTile(site, requests, blocks, keys, of.phase[keys].copy()))
        if matrix in vector.engine.arrays:
            self._use_source(of, matrix, (row, column), box)
        self._touch(vector, "atomic", pattern, line)
        self._release(vector, self._for_warp(vector, array, keys, blocks))
        of.bytes[keys] -= box[0] * ROW_BYTES
        self._settle(of, keys)

    def unfinished(self, vector: Any, array: Any, index: Any, parity: Any, mask: Any, line: int) -> Pause | None:
        """Return None if the phases with this parity are complete in all blocks; else what the warp yields."""
        keys, lanes, pattern = self._keys_and_lanes(vector, array, index, mask, line)
        of = self._barriers(array)
        wanted = np.broadcast_to(np.asarray(parity, np.int64), vector.shape)[lanes]
        late = (of.phase[keys] % 2 == wanted) | (of.arrivals[keys] == 0)  # another warp may make it yet
        if late.any():
            if vector not in self.given_up:
                unchanged = self.seen.get(vector) == self.events
                self.seen[vector] = self.events
                return Pause(line, unchanged, True)
            self.given_up.discard(vector)
            where = np.zeros(vector.shape, bool)
            where[lanes] = late
            word = int(keys[late][0])
            missing = int(of.missing[word]), int(of.arrivals[word]), int(of.bytes[word])
            vector.engine.report("unfinished_phase", line, vector, where, array, array.index_of_key(word), missing)
        self.seen.pop(vector, None)
        self._touch(vector, "atomic", pattern, line)
        for copy in of.copies:
            self._bring(vector, of, copy, lanes)
        of.copies = [copy for copy in of.copies if copy.blocks.any()]
        for use in of.uses:
            if use.waited is not None and not use.in_use().all():
                use.waited.add(vector.warp_number)
        return None

    def _keys_and_lanes(
        self, vector: Any, array: Any, index: Any, mask: Any, line: int
    ) -> tuple[Ints, np.ndarray, Pattern]:
        """Return the keys of the active lanes' barriers, these lanes, and the access as a pattern."""
        lanes = vector.full(mask)
        at = np.broadcast_to(np.asarray(index, np.int64), vector.shape)
        if array.space != "shared":
            raise KernelError(f"a barrier is in shared memory, and {array.name} is in {array.space} memory", line=line)
        outside = lanes & ((at < 0) | (at >= array.size))
        if outside.any():
            raise KernelError(f"{array.name} has {array.size} barriers, and no [{int(at[outside][0])}]", line=line)
        pattern = Pattern(array, vector, np.where(lanes, at, 0), lanes)
        return array.keys(pattern, 0)[lanes], lanes, pattern

    def _barriers(self, array: Any) -> Barriers:
        if array not in self.of:
            arrivals, missing, count, phase = np.zeros((4, array.word_count()), np.int64)
            self.of[array] = Barriers(arrivals, missing, count, phase)
        return self.of[array]

    def _known(self, array: Any, keys: Ints, line: int) -> Barriers:
        of = self._barriers(array)
        if (of.arrivals[keys] == 0).any():
            word = int(keys[of.arrivals[keys] == 0][0])
            name = array.element_name(array.index_of_key(word))
            raise KernelError(
                f"{name} is no barrier yet; call init_barrier for it in one thread, then synchronize", line=line
            )
        return of

    def _settle(self, of: Barriers, keys: Ints) -> None:
        """Begin the next phase of each barrier whose arrivals and bytes are complete."""
        done = np.unique(keys[(of.missing[keys] == 0) & (of.bytes[keys] == 0)])
        of.phase[done] += 1
        of.missing[done] = of.arrivals[done]
        self.events += 1

    def _site(self, vector: Any, op: str, line: int) -> Site:
        site = Site(line, op, vector.engine, 0)
        site.vector = vector
        return site

    def _touch(self, vector: Any, op: str, pattern: Pattern, line: int) -> None:
        site = self._site(vector, op, line)
        for watch in pattern.array.watchers:
            watch(site, pattern, 0, np.uint64(0))

    def _release(self, vector: Any, pattern: Pattern) -> None:
        """Order what these lanes did so far before what the lanes that wait for the phase do next."""
        vector.engine.report("fence", vector, pattern.mask, True)
        vector.engine.report("released", vector, pattern)

    def _for_warp(self, vector: Any, array: Any, keys: Ints, blocks: np.ndarray) -> Pattern:
        """Return the access to the barriers by all lanes of the warp: each counts as copying a part of the tile."""
        index = np.zeros(len(blocks), np.int64)
        index[blocks] = keys // array.chunk.count
        shape = (1, 1, *array.chunk.shape)
        lanes = np.broadcast_to(blocks.reshape(shape), vector.shape)
        return Pattern(array, vector, np.broadcast_to(index.reshape(shape), vector.shape), lanes)

    def _use_source(self, of: Barriers, matrix: Any, corner: tuple[Ints, Ints], box: tuple[int, int]) -> None:
        """Tell which elements of the matrix the copy reads in each block until it arrives: those inside."""
        copy = of.copies[-1]
        vector = copy.site.vector
        row, column = corner
        rows = row[:, None, None] + np.arange(box[0])[:, None]
        columns = column[:, None, None] + np.arange(box[1])
        in_rows = (rows >= 0) & (rows < matrix.shape[0])
        in_columns = (columns >= 0) & (columns < matrix.shape[1])
        elements = rows * matrix.strides[0] + columns * matrix.strides[1]
        shape = (-1, vector.lanes.count, len(copy.blocks))
        words = np.zeros((box[0] * box[1], len(copy.blocks)), np.int64)
        words[:, copy.blocks] = elements.reshape(len(row), -1).T
        lanes = np.zeros(words.shape, bool)
        lanes[:, copy.blocks] = (in_rows & in_columns).reshape(len(row), -1).T
        load = self._site(vector, "load", copy.site.line)
        of.uses.append(SourceUse(load, matrix, words.reshape(shape), lanes.reshape(shape), lambda: copy.blocks, set()))
        vector.engine.report("source_in_use", of.uses[-1])

    def _requests(
        self, site: Site, tile: Any, matrix: Any, box: tuple[int, int], blocks: np.ndarray, places: tuple[Ints, ...]
    ) -> list[tuple[Pattern, list[np.ndarray]]]:
        """Return the requests that store the tiles, 32 pieces of 16 bytes each, with their elements.

        ``places`` are the first element in ``tile``, and the row and column in ``matrix``, of each of the ``blocks``.
        """
        rows, columns = box
        first, row, column = places
        width = PIECE // tile.itemsize
        vector, line = site.vector, site.line
        start = tile.address + first * tile.itemsize
        if tile.alignment < ALIGNMENT or (start % ALIGNMENT).any():
            raise KernelError(
                f"a bulk copy goes to a multiple of {ALIGNMENT} bytes, and {tile.name}[{int(first[0])}] is none; give "
                f"cuda.shared.array the alignment {ALIGNMENT} as its third argument, and tiles whole rows of eight",
                line=line,
            )
        if (first < 0).any() or (first + rows * columns > tile.size).any():
            raise KernelError(
                f"the copy of {rows}×{columns} elements to {tile.name}[{int(first.max())}] goes beyond its "
                f"{tile.size} elements; look at its place",
                line=line,
            )
        fits = matrix.strides[1] == 1 and matrix.strides[0] * matrix.itemsize % PIECE == 0
        if matrix.size and not fits:
            raise KernelError(
                f"a bulk copy needs rows in C order that begin on {PIECE}-byte boundaries; pad those of {matrix.name}",
                line=line,
            )
        row_of_piece, piece = np.divmod(np.arange(rows * columns // width), columns // width)
        count = len(piece)
        byte = start[:, None] + row_of_piece * ROW_BYTES + PIECE * piece
        swizzled = byte ^ byte // ROW_BYTES % 8 * PIECE
        at = np.zeros((len(blocks), count), np.int64)
        at[blocks] = (swizzled - tile.address) // tile.itemsize
        copied = [_part(matrix, top, left, rows, columns) for top, left in zip(row, column, strict=True)]
        values = np.zeros((len(blocks), count, width), tile.dtype)
        values[blocks] = np.stack(copied).reshape(-1, count, width)
        shape, chunk = vector.lanes.shape, vector.chunk.shape
        alike = (at[blocks] == at[blocks][:1]).all()
        lanes: Any = True if blocks.all() else np.broadcast_to(blocks.reshape(1, 1, *chunk), vector.shape)
        requests = []
        for begin in range(0, count, WARP_SIZE):
            here = slice(begin, begin + WARP_SIZE)
            if alike:
                offsets = at[blocks][0, here].reshape(*shape, 1, 1)
            else:
                offsets = at[:, here].T.reshape(vector.shape)
            items = [values[:, here, i].T.reshape(*shape, *chunk) for i in range(width)]
            requests.append((Pattern(tile, vector, offsets, lanes, width), items))
        return requests

    def _bring(self, vector: Any, of: Barriers, copy: PendingTile, waiting: np.ndarray) -> None:
        """Let the copy arrive in those blocks of ``waiting`` lanes where the phase of its bytes is complete."""
        complete = np.zeros(len(copy.blocks), bool)
        complete[np.flatnonzero(copy.blocks)] = of.phase[copy.words] > copy.phase
        complete &= waiting.any(axis=(0, 1)).reshape(-1)
        if not complete.any():
            return
        own = copy.site.vector
        lanes: Any = np.broadcast_to(complete.reshape(1, 1, *own.chunk.shape), own.shape)
        for request, values in copy.requests:
            pattern = Pattern(request.array, own, request.offsets, True if complete.all() else lanes, request.width)
            own.engine.report("copy_arrived", copy.site, pattern, 0)
            for element, value in enumerate(values):
                request.array.scatter(pattern, element, value)
        left = ~complete[np.flatnonzero(copy.blocks)]
        copy.words, copy.phase = copy.words[left], copy.phase[left]
        copy.blocks = copy.blocks & ~complete


def _part(matrix: Any, row: int, column: int, rows: int, columns: int) -> np.ndarray:
    """matrix[row : row + rows, column : column + columns], zeros outside."""
    result = np.zeros((rows, columns), matrix.dtype)
    top, left = max(0, row), max(0, column)
    inside = matrix.host[top : max(top, row + rows), left : max(left, column + columns)]
    first_row, first_column = top - row, left - column
    height, width = inside.shape
    result[first_row : first_row + height, first_column : first_column + width] = inside
    return result
