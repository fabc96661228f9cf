"""Unfinished products of a warpgroup: wgmma, which reads its operands directly from shared memory.

A GPU can read the tiles, and write the results, at any time between the instruction and the wait for its group. Here
the tiles are read when the product starts, and the results are written as late as possible, at the wait, so a thread
that reads them too early finds the old values. Each warp computes its own 16 rows, and reads its rows of A and all of
B. Each pass of shared memory that B needs is counted for one of the four warps.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..findings import KernelError
from ..hardware import WARP_SIZE
from .arrays import Ints, Pattern
from .async_copies import Groups, Pending
from .memory import LocalArray, SharedArray

#: Required alignment of an array in bytes (eight rows of the swizzle), by the code of the descriptor's swizzle.
DESCRIPTOR_ALIGNMENT = {0: 16, 1: 1024, 2: 512, 3: 256}
#: Warps of a warpgroup; alignment in bytes of a descriptor's start, and of each shared array.
WARPS, PIECE, ALIGNMENT = 4, 16, 1024


class Spec(Protocol):
    """An intrinsic's description of its products; addresses are bytes of shared memory, as in a descriptor.

    ``a_bytes(descriptor, warp)`` and ``b_bytes(descriptor)`` return the addresses of the 16-byte pieces, (pieces,), in
    the order in which the tensor cores read them, eight at a time; ``pieces`` says which elements of A and B these are:
    name, shape, and row and column of the first of each. ``fragments`` are D's, as those of `mma_tf32`.
    ``product(a, b, c)`` returns D: a and b are elements of shape (blocks, pieces, elements of 16 bytes), or a is A's
    registers; c and D are (blocks, 32 lanes, items).
    """

    columns: int
    dtype: str
    registers: bool

    def a_bytes(self, descriptor: int, warp: int) -> Ints: ...
    def b_bytes(self, descriptor: int) -> Ints: ...
    def product(self, a: Any, b: Any, c: Any) -> Any: ...


@dataclass(eq=False)
class Operand:
    """The part of a shared array that a warp reads for one operand: its elements, and requests of 32 pieces each.

    ``common`` says whether all warps of the group read the same: then each request is counted for one of them.
    """

    array: SharedArray
    elements: Ints
    patterns: list[Pattern]
    common: bool

    def requests(self, vector: Any, lanes: np.ndarray) -> list[Pattern]:
        """The requests of these lanes, which are whole warps of some or all blocks."""
        if lanes.all():
            return self.patterns
        return [Pattern(self.array, vector, each.offsets, each.mask & lanes, each.width) for each in self.patterns]


@dataclass(eq=False)
class PendingProduct(Pending):
    """One wgmma of a warp: its line, the array of its results, and its operands."""

    spec: Spec
    line: int
    acc: LocalArray
    operands: tuple[Operand, ...]


class Products(Groups[PendingProduct]):
    def __init__(self, vector: Any) -> None:
        super().__init__(vector)
        self.results: dict[LocalArray, Any] = {}  # of unfinished products: (items, lanes, blocks)
        self.operands: dict[Any, Operand] = {}

    def start(self, sites: Any, spec: Spec, acc: Any, a: Any, b: Any, add: Any, *, mask: Any, line: int) -> None:
        """Start D = A B + D, or D = A B if ``add`` is 0."""
        vector = self.vector
        if vector.launch.threads_per_block % (WARPS * WARP_SIZE):
            raise KernelError(
                f"wgmma is done by the {WARPS * WARP_SIZE} threads of a warpgroup together, and this block has "
                f"{vector.launch.threads_per_block}; launch a multiple of {WARPS * WARP_SIZE} threads",
                line=line,
            )
        here = vector.whole(mask, line)
        if acc.ndim != 1 or acc.size < spec.columns // 2 or acc.space != "local":
            raise KernelError(
                f"the results of {spec.columns} columns are {spec.columns // 2} elements of a thread, and {acc.name} "
                f"is {acc.space} and has {acc.size}; give it cuda.local.array({spec.columns // 2}, float32)",
                line=line,
            )
        blocks = here.any(axis=(0, 1)).reshape(-1)
        added = self._lanes(add).any(axis=0) & blocks
        results = self._current(acc, spec.columns // 2, added, sites[0])
        parts: list[Operand] = []
        shared = [] if spec.registers else [self._operands(sites, spec, a, 0, blocks, line)]
        shared.append(self._operands(sites, spec, b, 1, blocks, line))
        for places in self._alike(shared, blocks):
            operands = [of[places[0]] for of in shared]
            if any(operand is None for operand in operands):
                continue
            parts += operands
            values = []
            for operand in operands:
                of_blocks = operand.array.data.reshape(operand.array.size, -1)[:, places]
                values.append(np.moveaxis(of_blocks[operand.elements], -1, 0))
            if spec.registers:
                values.insert(0, np.stack([self._lanes(x)[:, places].T for x in a], axis=-1))
            c = np.where(added[places], results[:, :, places], np.float32(0)).transpose(2, 1, 0)
            results[:, :, places] = spec.product(values[0], values[1], c).transpose(2, 1, 0)
        self.results[acc] = results
        product = PendingProduct(self.group, here.copy(), spec, line, acc, tuple(dict.fromkeys(parts)))
        self.started.append(product)
        vector.engine.report("product_started", sites[1], vector, product)

    def arrive(self, product: PendingProduct, lanes: np.ndarray) -> None:
        vector, acc = self.vector, product.acc
        mask: Any = True if lanes.all() else lanes
        vector.engine.report("product_finished", vector, product, lanes)
        if any(each.acc is acc and (each.on_its_way & lanes).any() for each in self.started):
            return
        results = [values.reshape(vector.shape) for values in self.results[acc]]
        vector.engine.report("results_arrived", vector, Pattern(acc, vector, None, mask, len(results)), results)
        pattern = Pattern(acc, vector, None, mask)
        if acc.cells is not None and lanes.all():
            pattern.mask = acc.anchor
        for item, values in enumerate(results):
            acc.scatter(pattern, item, values)
        if not any(each.acc is acc and each.on_its_way.any() for each in self.started):
            del self.results[acc]

    def _lanes(self, value: Any) -> np.ndarray:
        """``value`` as (lanes, blocks)."""
        return np.broadcast_to(value, self.vector.shape).reshape(WARP_SIZE, -1)

    def _current(self, acc: LocalArray, items: int, added: np.ndarray, site: Any) -> np.ndarray:
        """The results so far, (items, lanes, blocks); reports unwritten elements in blocks that add to them."""
        if acc in self.results:
            return np.array(self.results[acc])
        vector = self.vector
        wanted = np.broadcast_to(added.reshape(vector.chunk.shape), vector.shape)
        pattern = Pattern(acc, vector, None, wanted)
        values = [np.array(self._lanes(acc.gather(pattern, item)), np.float32) for item in range(items)]
        if added.any():
            unwritten = [acc.unwritten(pattern, item) for item in range(items)]
            missing = [lanes for lanes in unwritten if lanes is not False]
            if missing:
                vector.engine.report("unwritten", site, pattern, 0, missing[0])
        return np.stack(values)

    def _alike(self, shared: list[list[Operand | None]], blocks: np.ndarray) -> list[Ints]:
        """The indices of the blocks that take part, in groups with the same operands."""
        groups: dict[Any, list[int]] = {}
        for block in np.flatnonzero(blocks).tolist():
            groups.setdefault(tuple(id(of[block]) for of in shared), []).append(block)
        return [np.array(places) for places in groups.values()]

    def _operands(
        self, sites: Any, spec: Spec, descriptor: Any, which: int, blocks: np.ndarray, line: int
    ) -> list[Operand | None]:
        """The operand that each block's descriptor describes; None if it is not inside one array."""
        vector = self.vector
        given = self._lanes(descriptor)
        if (given != given[:1])[:, blocks].any():
            raise KernelError(
                "a descriptor must be the same in all threads of a warp; compute it from the warp's", line=line
            )
        if not vector.shared:
            raise KernelError(
                f"the descriptor of {'AB'[which]} describes shared memory, and this block has none; declare its tile "
                "with cuda.shared.array first",
                line=line,
            )
        descriptors = given[0].tolist()
        known = {int(each): self._operand(sites, spec, int(each), which) for each in np.unique(given[0, blocks])}
        return [known.get(each) if takes_part else None for each, takes_part in zip(descriptors, blocks, strict=True)]

    def _operand(self, sites: Any, spec: Spec, descriptor: int, which: int) -> Operand | None:
        """The operand that a descriptor describes, of A (0) or B (1); None, and reported, if it is not in one array."""
        vector = self.vector
        key = spec, descriptor, which
        if key in self.operands:
            return self.operands[key]
        first = (descriptor & 0x3FFF) * PIECE
        arrays = sorted(vector.shared.values(), key=lambda array: array.address)
        before = [array for array in arrays if array.address <= first]
        array = before[-1] if before else arrays[0]  # the descriptor may begin after its end
        pieces = spec.b_bytes(descriptor) if which else spec.a_bytes(descriptor, vector.warp_number % WARPS)
        width = PIECE // array.itemsize
        at = (pieces - array.address) // array.itemsize
        outside = (at < 0) | (at + width > array.size)
        if outside.any():
            elements = np.where(at < 0, at, at + width - 1)
            beyond = int(elements[outside][0])
            vector.engine.report("descriptor_fault", sites[1].line, vector, array, "AB"[which], beyond)
            return None
        patterns = []
        for start in range(0, len(at), WARP_SIZE):
            piece = np.arange(start, start + WARP_SIZE).reshape(*vector.lanes.shape, 1, 1)
            mask: Any = True if piece[-1, -1] < len(at) else vector.full(piece < len(at))
            patterns.append(Pattern(array, vector, at[piece % len(at)], mask, width))
        operand = Operand(array, at[:, None] + np.arange(width), patterns, bool(which))
        self.operands[key] = operand
        return operand
