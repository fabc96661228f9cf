"""The instructions that the warps of a block execute, in their order, and all of them as arrays.

A stream is the list of one warp's instructions. :mod:`.from_machine_code` makes streams of a kernel's machine code.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ...simulator.hardware import LINE_BYTES, SECTOR_BYTES, WORD_BYTES
from ..model.multiprocessor import Multiprocessor
from . import event_loop
from .event_loop import (
    ARITHMETIC,
    BARRIER,
    CONSTANT,
    GLOBAL,
    INTEGER,
    MULTIPLY,
    NOT_SELECTED,
    NOTHING,
    PATH,
    SHARED,
    UNIFORM,
)


class KindOfInstruction(NamedTuple):
    """A kind of instructions: its unit; the reason for waiting while that is busy, and while the result is missing.

    after: what happens when its wavefronts have passed the path to memory.
    """

    unit: int = NOTHING
    held_by: int = NOT_SELECTED
    waits_for: int = ARITHMETIC
    after: int = event_loop.ENDS


#: The kinds of instructions that do more than issue; what is not here needs no unit.
KINDS = {
    "load": KindOfInstruction(PATH, GLOBAL, GLOBAL, event_loop.FETCHES),
    "copy": KindOfInstruction(PATH, GLOBAL, GLOBAL, event_loop.FETCHES),
    "store": KindOfInstruction(PATH, GLOBAL, ARITHMETIC, event_loop.STORES),
    "commit": KindOfInstruction(PATH, SHARED, ARITHMETIC),
    "shared load": KindOfInstruction(PATH, SHARED, SHARED, event_loop.READS_SHARED),
    "shared store": KindOfInstruction(PATH, SHARED, ARITHMETIC),
    "constant": KindOfInstruction(CONSTANT, SHARED, SHARED),
    "integer": KindOfInstruction(INTEGER, ARITHMETIC, ARITHMETIC),
    **dict.fromkeys(("multiply", "wide multiply"), KindOfInstruction(MULTIPLY, ARITHMETIC, ARITHMETIC)),
    "uniform": KindOfInstruction(UNIFORM, ARITHMETIC, ARITHMETIC),
    "barrier": KindOfInstruction(NOTHING, NOT_SELECTED, BARRIER),
}


class Instruction(NamedTuple):
    """An instruction of a warp: its `kind`, and the positions in the stream of those whose results it needs.

    kind: "multiply-add" (any +, - or * of floats), "load", "store", "shared load", "shared store", "copy", "commit",
    "wait", "barrier", "integer", "multiply", "wide multiply" (with a result of 64 bits), "uniform", "constant" (a value
    from the kernel's arguments), "branch" or "other". line: the kernel's own line that it comes from, 0 for none;
    wavefronts: passes through shared memory or the first-level cache; sectors: the 32-byte sectors of global memory;
    iteration: that of the main loop, from 1; 0 outside of it; bytes: what a lane moves; pace: cycles until the warp's
    next instruction; reads: operands that it takes from the even and the odd registers; uniform_read: whether it reads
    a uniform register, other than for an address of memory.
    """

    kind: str
    line: int
    needs: tuple[int, ...] = ()
    wavefronts: int = 0
    sectors: tuple[tuple[str, int], ...] = ()
    iteration: int = 0
    bytes: int = 4
    pace: int = 1
    reads: tuple[int, int] = (0, 0)
    uniform_read: bool = False


class InstructionStreams:
    """The streams of a block's warps as arrays, for one simulation or several. A warp with an empty one issues nothing.

    In a stream, an instruction needs results of earlier ones alone. Equal instructions are stored once: ``distinct``
    has them, and ``numbers`` those of all streams, one stream after the other, from ``starts`` on.
    """

    def __init__(self, warps: Sequence[Sequence[Instruction]]) -> None:
        places: dict[Instruction, int] = {}
        self.numbers = integers([places.setdefault(each, len(places)) for stream in warps for each in stream])
        self.starts = integers([0, *accumulate(map(len, warps))])
        self.distinct = [*places]
        #: The sectors that the streams access, as (array, number), in the order of their numbers here.
        self.sectors: dict[tuple[str, int], int] = {}
        for each in self.distinct:
            for sector in each.sectors:
                self.sectors.setdefault(sector, len(self.sectors))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def needs(self) -> np.ndarray:
        """The positions that the distinct instructions need, one instruction after the other."""
        return integers([need for each in self.distinct for need in each.needs])

    @property
    def accessed(self) -> np.ndarray:
        """The numbers of the sectors that the distinct instructions access, one instruction after the other."""
        return integers([self.sectors[sector] for each in self.distinct for sector in each.sectors])

    @cached_property
    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct instructions without the multiprocessor's numbers, and the sets of resources that they need."""
        distinct = self.distinct
        kinds = [KINDS.get(each.kind, KindOfInstruction()) for each in distinct]
        records = np.zeros(len(distinct), event_loop.INSTRUCTION)
        units = integers([kind.unit for kind in kinds])
        for name in ("held_by", "waits_for", "after"):
            records[name] = [getattr(kind, name) for kind in kinds]
        for name in ("pace", "uniform_read", "iteration"):
            records[name] = [getattr(each, name) for each in distinct]
        records["barrier"] = [each.kind == "barrier" for each in distinct]
        records["even"], records["odd"] = np.array([each.reads for each in distinct]).T
        needed = np.array([units, records["even"] > 0, records["odd"] > 0])
        resource_sets, records["resources"] = np.unique(needed, axis=1, return_inverse=True)
        for ends, lengths in (
            ("need", [len(each.needs) for each in distinct]),
            ("sector", [len(each.sectors) for each in distinct]),
        ):
            records[f"last_{ends}"] = np.cumsum(lengths)
            records[f"first_{ends}"] = records[f"last_{ends}"] - lengths
        return records, np.array([*map(tuple, resource_sets.T)], event_loop.RESOURCES)

    @cached_property
    def begun(self) -> list[int]:
        """For each stream, how often it comes to an iteration that is later than all before."""
        iterations = self.records[0]["iteration"][self.numbers]
        latest = (np.maximum.accumulate(iterations[first:last]) for first, last in pairwise(self.starts))
        return [int(np.count_nonzero(np.unique(each))) for each in latest]

    def on(self, multiprocessor: Multiprocessor) -> np.ndarray:
        """Return the records of the distinct instructions with the multiprocessor's latencies and costs."""
        records = self.records[0].copy()
        kinds = np.array([each.kind for each in self.distinct])
        records["busy"] = multiprocessor.integer
        for kind, cycles in (
            ("constant", multiprocessor.constant_request),
            ("wide multiply", 2 * multiprocessor.integer),
        ):
            records["busy"][kinds == kind] = cycles
        records["latency"] = 1.0
        for kind, cycles in (
            ("multiply-add", multiprocessor.multiply_add),
            ("constant", multiprocessor.constant),
            ("copy", multiprocessor.copy),
            ("load", 0.0),
            ("shared load", multiprocessor.latency["shared"] - multiprocessor.address),
        ):
            records["latency"][kinds == kind] = cycles
        wavefronts = np.array([each.wavefronts for each in self.distinct], np.float64)
        passes = np.where(np.char.startswith(kinds, "shared"), wavefronts, np.maximum(wavefronts, 1))
        records["path"] = passes * multiprocessor.wavefront
        copies_of_words = (kinds == "copy") & np.array([each.bytes == WORD_BYTES for each in self.distinct])
        records["path"][copies_of_words] = (
            multiprocessor.copy_request + passes[copies_of_words] * multiprocessor.copy_row
        )
        records["path"][kinds == "commit"] = multiprocessor.commit
        return records

    def sectors_on(
        self, multiprocessor: Multiprocessor, served: Mapping[str, str] | str, loaded_by: Mapping[str, float]
    ) -> np.ndarray:
        """Return the records of the sectors, with the level that serves each, and how many blocks load it."""
        names = sorted({name for name, _ in self.sectors})
        places = {name: place for place, name in enumerate(names)}
        array = integers([places[name] for name, _ in self.sectors])
        number = integers([number for _, number in self.sectors])
        levels = [served if isinstance(served, str) else served.get(name, "L2") for name in names]
        sectors = np.zeros(len(number), event_loop.SECTOR)
        first_byte = number * SECTOR_BYTES
        sectors["name"] = integers([crc32(name.encode()) for name in names])[array]
        sectors["number"] = number
        sectors["line"] = first_byte // LINE_BYTES
        sectors["run"] = first_byte // multiprocessor.dram_run
        pieces = np.array([array, first_byte // multiprocessor.dram_bytes])
        sectors["piece"] = np.unique(pieces, axis=1, return_inverse=True)[1].reshape(-1)
        sectors["from_dram"] = integers([level == "DRAM" for level in levels])[array]
        sectors["loaded_by"] = np.array([loaded_by.get(name, 1) for name in names], np.float64)[array]
        return sectors


def integers(numbers: Sequence[Any]) -> np.ndarray:
    """Return numbers as an array of 64-bit integers, also where there are none."""
    return np.array(numbers, np.int64)
