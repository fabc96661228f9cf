"""The player of the model of waiting (:mod:`waiting`): an event simulation of the warps of one multiprocessor.

Programs and the machine's numbers become flat arrays here, and :mod:`.loop` plays them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ...simulator.hardware import LINE_BYTES, SECTOR_BYTES
from ..model.machine import LEVELS, Machine
from . import loop
from .loop import ARITHMETIC, BARRIER, CONSTANT, GLOBAL, INTEGER, MULTIPLY, NOTHING, PATH, SHARED, TURN, UNIFORM

#: The reasons for waiting; the first one is for the cycles in which a warp issues.
REASONS = ("issuing", "global memory", "shared memory", "arithmetic", "barrier", "not selected")


class Work(NamedTuple):
    """A kind of instructions: its unit; the reason for waiting while that is busy, and while the result is missing.

    after: what happens when its wavefronts have passed the path to memory.
    """

    unit: int = NOTHING
    held_by: int = TURN
    waits_for: int = ARITHMETIC
    after: int = loop.ENDS


KINDS = {
    "load": Work(PATH, GLOBAL, GLOBAL, loop.FETCHES),
    "copy": Work(PATH, GLOBAL, GLOBAL, loop.FETCHES),
    "store": Work(PATH, GLOBAL, ARITHMETIC, loop.STORES),
    "commit": Work(PATH, SHARED, ARITHMETIC),
    "shared load": Work(PATH, SHARED, SHARED, loop.READS_SHARED),
    "shared store": Work(PATH, SHARED, ARITHMETIC),
    "constant": Work(CONSTANT, SHARED, SHARED),
    "integer": Work(INTEGER, ARITHMETIC, ARITHMETIC),
    **dict.fromkeys(("multiply", "wide multiply"), Work(MULTIPLY, ARITHMETIC, ARITHMETIC)),
    "uniform": Work(UNIFORM, ARITHMETIC, ARITHMETIC),
    "barrier": Work(NOTHING, TURN, BARRIER),
}


class Instruction(NamedTuple):
    """An instruction of a warp: its `kind`, and the positions in the program of those whose results it needs.

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


class Programs:
    """The programs of a block's warps as arrays, for one play or several. One that is empty issues nothing.

    In a program, an instruction needs results of earlier ones alone. Equal instructions are stored once.
    """

    def __init__(self, warps: Sequence[Sequence[Instruction]]) -> None:
        places: dict[Instruction, int] = {}
        self.code = _whole([places.setdefault(i, len(places)) for program in warps for i in program])
        self.starts = _whole([0, *accumulate(map(len, warps))])
        self.distinct = [*places]
        #: The sectors that the programs access, as (array, number), in the order of their numbers here.
        self.sectors: dict[tuple[str, int], int] = {}
        for each in self.distinct:
            for sector in each.sectors:
                self.sectors.setdefault(sector, len(self.sectors))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The distinct instructions as records, without the machine's numbers; their gates; the numbers of kinds."""
        distinct, kinds = self.distinct, [*KINDS, *{i.kind for i in self.distinct if i.kind not in KINDS}]
        number = {kind: n for n, kind in enumerate(kinds)}
        known = np.array([KINDS.get(kind, Work()) for kind in kinds])
        kind = _whole([number[i.kind] for i in distinct])
        steps = np.zeros(len(distinct), loop.STEP)
        units, steps["held_by"], steps["waits_for"], steps["after"] = known[kind].T
        steps["barrier"] = kind == number["barrier"]
        for name in ("pace", "uniform_read", "iteration"):
            steps[name] = [getattr(i, name) for i in distinct]
        steps["even"], steps["odd"] = np.array([i.reads for i in distinct]).T
        gates, steps["gate"] = np.unique(
            np.array([units, steps["even"] > 0, steps["odd"] > 0]), axis=1, return_inverse=True
        )
        for ends, lengths in (
            ("need", [len(i.needs) for i in distinct]),
            ("sector", [len(i.sectors) for i in distinct]),
        ):
            steps[f"last_{ends}"] = np.cumsum(lengths)
            steps[f"first_{ends}"] = steps[f"last_{ends}"] - lengths
        return steps, np.array([*map(tuple, gates.T)], loop.GATE), kind

    @cached_property
    def begun(self) -> list[int]:
        """For each program, how often it comes to an iteration that is later than all before."""
        iterations = self.steps[0]["iteration"][self.code]
        latest = (np.maximum.accumulate(iterations[first:last]) for first, last in pairwise(self.starts))
        return [int(np.count_nonzero(np.unique(each))) for each in latest]

    def measured(self, machine: Machine) -> np.ndarray:
        """Return the records of the instructions with the machine's numbers."""
        steps, _, kind = self.steps
        steps = steps.copy()
        named = np.array([i.kind for i in self.distinct])
        steps["busy"], steps["latency"] = machine.integer, 1.0
        for name, busy in (("constant", machine.constant_request), ("wide multiply", 2 * machine.integer)):
            steps["busy"][named == name] = busy
        for name, latency in (
            ("multiply-add", machine.multiply_add),
            ("constant", machine.constant),
            ("copy", machine.copy),
            ("load", 0.0),
            ("shared load", machine.latency["shared"] - machine.address),
        ):
            steps["latency"][named == name] = latency
        wavefronts = np.array([i.wavefronts for i in self.distinct], np.float64)
        shared, words = np.char.startswith(named, "shared"), np.array([i.bytes == 4 for i in self.distinct])
        passes = np.where(shared, wavefronts, np.maximum(wavefronts, 1))
        steps["path"] = passes * machine.wavefront
        copies = (named == "copy") & words
        steps["path"][copies] = machine.copy_request + passes[copies] * machine.copy_row
        steps["path"][named == "commit"] = machine.commit
        return steps

    def served(self, machine: Machine, served: Mapping[str, str] | str, loaded_by: Mapping[str, float]) -> np.ndarray:
        """Return the records of the sectors, with the level that serves each, and how many blocks load it."""
        names = sorted({name for name, _ in self.sectors})
        of = {name: number for number, name in enumerate(names)}
        array, number = _whole([(of[name], number) for name, number in self.sectors]).reshape(-1, 2).T
        level = [served if isinstance(served, str) else served.get(name, "L2") for name in names]
        sectors = np.zeros(len(number), loop.SECTOR)
        first = number * SECTOR_BYTES
        sectors["name"] = _whole([crc32(name.encode()) for name in names])[array]
        sectors["number"], sectors["line"], sectors["run"] = number, first // LINE_BYTES, first // machine.dram_run
        pieces = np.array([array, first // machine.dram_bytes])
        sectors["piece"] = np.unique(pieces, axis=1, return_inverse=True)[1].reshape(-1)
        sectors["from_dram"] = _whole([each == "DRAM" for each in level])[array]
        sectors["loaded_by"] = np.array([loaded_by.get(name, 1) for name in names], np.float64)[array]
        return sectors


def _whole(numbers: Sequence[Any]) -> np.ndarray:
    return np.array(numbers, np.int64)


class Player:
    """Plays `blocks` resident blocks of warps with these programs, each followed by `rounds` - 1 others in its place.

    A warp whose program is empty has left before its block began. `run` fills `waits` (cycles by index of the reason),
    `issued` and, for each warp, `ended`, the cycle at which it ended. Of `spans`, `iterations`, `fetches` and `left`
    `schedule.Play` says what they are.
    """

    def __init__(
        self,
        programs: Programs,
        machine: Machine,
        blocks: int,
        served: Mapping[str, str] | str,
        l1_bytes: int,
        *,
        rounds: int = 1,
        loaded_by: Mapping[str, float] | None = None,
        in_step: bool = False,
    ) -> None:
        self.programs = programs
        steps, sectors = programs.measured(machine), programs.served(machine, served, loaded_by or {})
        working = int(np.count_nonzero(np.diff(programs.starts)))  # the warps of a block that issue anything
        warps = self._warps(blocks, rounds, machine.schedulers)
        schedulers = np.zeros(machine.schedulers, loop.SCHEDULER)
        schedulers["last"], schedulers["event"], schedulers["next_wake"] = -1, -1, loop.INFINITE
        places = np.zeros(blocks, loop.BLOCK)
        places["age"], places["running"] = np.arange(blocks), working
        places["first_warp"] = np.arange(blocks) * len(programs)
        lines = np.zeros(blocks * rounds * len(sectors), loop.LINE)
        lines["arrives"] = lines["brought"] = -1
        once = np.zeros(1, loop.ONCE)
        once["begun"], once["oldest"], once["newest"] = blocks, -1, -1
        asked = (steps["last_sector"] - steps["first_sector"])[programs.code].sum()
        self.board = loop.Board(
            machine=_measured(machine, max(l1_bytes // SECTOR_BYTES, 1), rounds, working, in_step),
            steps=steps,
            gates=programs.steps[1],
            sectors=sectors,
            code=programs.code,
            needs=_whole([need for i in programs.distinct for need in i.needs]),
            asked=_whole([programs.sectors[sector] for i in programs.distinct for sector in i.sectors]),
            ways=np.array(machine.spread, np.float64),
            dram_ways=np.array(machine.dram_spread, np.float64),
            warps=warps,
            results=np.zeros(blocks * len(programs.code), loop.RESULT),
            begun=np.zeros(blocks * rounds * sum(programs.begun)),
            schedulers=schedulers,
            at=np.zeros(machine.schedulers * loop.UNITS),
            gates_here=np.zeros(machine.schedulers * len(programs.steps[1]), loop.GATE_HERE),
            blocks=places,
            lines=lines,
            once=once,
            waits=np.zeros(len(REASONS)),
            fetches=np.zeros(2 * blocks * rounds * int(asked)),
        )

    def _warps(self, blocks: int, rounds: int, schedulers: int) -> np.ndarray:
        programs, starts = self.programs, self.programs.starts
        warps = np.zeros((blocks, len(programs)), loop.WARP)
        block = np.arange(blocks)[:, None]
        begun = rounds * np.cumsum([0, *programs.begun])
        warps["block"] = block
        warps["scheduler"] = np.arange(warps.size).reshape(warps.shape) % schedulers
        warps["first_code"], warps["size"] = starts[:-1], np.diff(starts)
        warps["first_result"] = starts[:-1] + block * len(programs.code)
        warps["first_begun"] = begun[:-1] + block * begun[-1]
        return warps.reshape(-1)

    def run(self) -> None:
        """Simulate until every warp has ended."""
        board, most = self.board, 8 * (len(self.programs) + 2)
        spans: Any = np.zeros(max(16 * len(self.programs.code), most) * loop.SPAN)
        if loop.COMPILED:
            spans = loop.run(self.board, spans, most)
            warps, (once,), results = _objects(self.board.warps), _objects(self.board.once), self.board.results["left"]
        else:
            board = loop.Board(*map(_objects, self.board))
            spans = loop.run(board, spans.tolist(), most)
            self.board, warps, (once,) = board, board.warps, board.once
            results = np.array([result.left for result in board.results])
        self._warps_ended, self._left = warps, results
        self.issued, self.waits = float(once.issued), [float(cycles) for cycles in self.board.waits]
        self.ended = [warp.ended for warp in warps]
        self._spans = np.array(spans[: once.spans * loop.SPAN]).reshape(-1, loop.SPAN)
        self._fetches = np.array(self.board.fetches[: 2 * once.fetched]).reshape(-1, 2)

    @property
    def spans(self) -> tuple[tuple[tuple[str, float, float], ...], ...]:
        warps, reasons, first, last = self._spans[np.argsort(self._spans[:, 0], kind="stable")].T
        names = [REASONS[reason] for reason in reasons.astype(int).tolist()]
        every = tuple(zip(names, first.tolist(), last.tolist(), strict=True))
        ends = np.searchsorted(warps, np.arange(len(self.ended) + 1)).tolist()
        return tuple(every[start:end] for start, end in pairwise(ends))

    @property
    def fetches(self) -> tuple[tuple[float, float], ...]:
        return tuple((asked, arrived) for asked, arrived in self._fetches.tolist())

    @property
    def iterations(self) -> tuple[tuple[float, ...], ...]:
        begun = np.array(self.board.begun).tolist()
        return tuple(tuple(begun[w.first_begun : w.first_begun + w.begun]) for w in self._warps_ended)

    @property
    def left(self) -> tuple[tuple[float, ...], ...]:
        left = self._left.tolist()
        return tuple(tuple(left[w.first_result : w.first_result + w.size]) for w in self._warps_ended)


def _measured(machine: Machine, room: int, rounds: int, working: int, in_step: bool) -> np.ndarray:
    """Return the record of the machine; room, rounds, working, in_step: of a play."""
    found = np.zeros(1, loop.MACHINE)
    found["l1"], found["l2"], found["dram"] = (machine.latency[level] for level in ("L1", "L2", "DRAM"))
    found["l2_rate"], found["dram_rate"] = (machine.bytes_per_cycle[level] for level in LEVELS)
    found["barrier"], found["arrival"] = machine.barrier
    found["barrier_path"], found["request"] = machine.barrier_path, machine.request
    found["dram_bytes"], found["sector_bytes"] = machine.dram_bytes, SECTOR_BYTES
    found["room"], found["rounds"], found["working"], found["in_step"] = room, rounds, working, in_step
    return found


def _objects(array: np.ndarray) -> list[Any]:
    """Return the items of an array as Python's numbers, or as objects with the attributes of its records."""
    names = array.dtype.names
    if names is None:
        return list(array.tolist())
    return [SimpleNamespace(**dict(zip(names, item, strict=True))) for item in array.tolist()]
