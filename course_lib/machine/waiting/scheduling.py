"""Instruction scheduling: the order that a compiler gives to code between barriers, and the paces that it writes.

- Loads are moved up, with the instructions of their addresses, as long as registers are free for their results: AHEAD
  words, or as many as the source needs in its own order. No load passes a store that may be to the same memory.
- Instructions of the loop itself, its counter and the pointers that it advances, fill the gaps between the others.
- A result of fixed latency is covered by the paces of the instructions before its use; only loads make a warp wait.
- A multiply-add reads three operands, two of them from one of the two register banks. An operand that its neighbours
  use, too, is kept: then the others read two, one from each bank.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple

from ...simulator.hardware import ceil_div
from . import idioms

AHEAD = 8
REGISTER_BYTES = 4
#: Registers of a pointer.
POINTER = 1
#: Latencies that the compiler assumes where it does not know them: it fills them, but leaves no pace for them. The
#: table is the compiler's own, for any machine; those of this machine are measured (:class:`.machine.Machine`).
EXPECTED = {"shared load": 24, "constant": 30, "load": 300, "copy": 300}
#: Kinds of instructions that are moved up with a load that depends on them.
LEADS = ("index", "integer", "multiply", "uniform", "constant", "branch", "other")


class Instruction(NamedTuple):
    """An instruction of a warp: its `kind`, and the positions in the program of those whose results it needs.

    kind: "multiply-add" (any +, - or * of floats), "load", "store", "shared load", "shared store", "copy", "commit",
    "wait" or "barrier"; of index arithmetic "index" for all of an index, or the kind of a machine instruction:
    "integer", "multiply", "uniform", "constant" (a value from the kernel's arguments), "branch" or "other".
    amount: of operations, for an index; wavefronts: passes through shared memory or the first-level cache;
    sectors: the 32-byte sectors of global memory; arithmetic: the kind of index arithmetic ("signed", …, "").
    bytes: what a lane moves; iteration: that of the outermost loop, from 1; 0 before it.
    pace: cycles until the warp's next instruction; reads: operands that it takes from the even and the odd registers;
    uniform_read: whether it reads a uniform register that the loop changes; step: the warp's step in the trace, from 0.
    """

    kind: str
    line: int
    needs: tuple[int, ...] = ()
    arithmetic: str = ""
    amount: float = 0
    wavefronts: int = 0
    sectors: tuple[tuple[str, int], ...] = ()
    iteration: int = 0
    bytes: int = 4
    pace: int = 1
    reads: tuple[int, int] = (0, 0)
    uniform_read: bool = False
    step: int = 0


class _Registers:
    """The registers that hold loaded values until their last use, by the load's number."""

    def __init__(self, region: dict[int, Instruction], ahead: int) -> None:
        self.users: dict[int, list[int]] = {}
        for number, instruction in region.items():
            for need in instruction.needs:
                if need in region and region[need].kind in ("load", "shared load"):
                    self.users.setdefault(need, []).append(number)
        self.size = {load: ceil_div(region[load].bytes, REGISTER_BYTES) for load in self.users}
        self.freed: Counter[int] = Counter()  # instruction -> the registers of which it is the last user
        for load, users in self.users.items():
            each = len(users) == self.size[load]  # one use for each element of it
            for user in users if each else users[-1:]:
                self.freed[user] += 1 if each else self.size[load]
        self.held = self.most = 0
        for number in region:
            self.take(number)
        self.held, self.most = 0, max(self.most, ahead)

    def again(self, needs: Iterable[int]) -> int:
        """Return how many multiply-adds share an operand of one with these needs: 1 where each is used once."""
        return max([1, *(len(self.users[load]) // self.size[load] for load in needs if load in self.users)])

    def room(self, number: int) -> bool:
        """Whether registers are free for what an instruction loads."""
        return self.held + self.size.get(number, 0) <= self.most

    def take(self, number: int) -> None:
        """Issue an instruction: allocate registers for its result, and free those of which it is the last user."""
        self.held += self.size.get(number, 0)
        self.most = max(self.most, self.held)
        self.held -= self.freed[number]


class Schedule:
    """Instructions in the compiler's order, in `out`, one region after the other.

    By the number of an instruction: `latency`, cycles until the result where the compiler knows them; `holds`, cycles
    until the next instruction; `fills`, what fills gaps; `after`, the store that a load must follow; `place`, the
    position in `out`.
    """

    def __init__(self) -> None:
        self.out: list[Instruction] = []
        self.place: dict[int, int] = {}
        self.latency: dict[int, int] = {}
        self.holds: dict[int, int] = {}
        self.fills: set[int] = set()
        self.after: dict[int, tuple[int, ...]] = {}
        self.kept: set[str] = set()  # arrays with an advancing pointer, which keeps its registers
        self.known = _Clock()  # as the paces have it
        self.assumed = _Clock()  # with the latencies that the compiler assumes
        self.multiply_adds = 0

    def put(self, region: dict[int, Instruction], whole: bool) -> dict[int, Instruction]:
        """Put a region, by number, in order; return the part left for the next one.

        Only gap fillers can be left; nothing if `whole`.
        """
        early = {number for number, each in region.items() if each.kind in ("load", "shared load", "copy")}
        for number in reversed(region):  # the instructions of their addresses, too
            if number in early:
                early |= {p for p in region[number].needs if p in region and region[p].kind in LEADS}
        fills = deque(number for number in region if number in self.fills)
        loads = deque(number for number in region if number in early - self.fills)
        others = deque(number for number in region if number not in early | self.fills)
        registers = _Registers(region, AHEAD - POINTER * len(self.kept))

        def ready(number: int) -> bool:
            return all(p in self.place for p in (*region[number].needs, *self.after.get(number, ())))

        def begin(number: int) -> int:
            return self.assumed.begin(region[number].kind, region[number].needs)

        while loads or others:
            take_load = loads and ready(loads[0]) and (registers.room(loads[0]) or not others or not ready(others[0]))
            queue = loads if take_load or not others else others
            if fills and begin(fills[0]) < begin(queue[0]):
                queue = fills
            number = queue.popleft()
            self._issue(number, region[number], registers.again(region[number].needs))
            registers.take(number)
        while fills and whole:
            number = fills.popleft()
            self._issue(number, region[number], 1)
        return {number: region[number] for number in fills}

    def _issue(self, number: int, instruction: Instruction, again: int) -> None:
        """Append an instruction to `out`, with unknown latencies as needs and known ones as paces."""
        self.place[number] = len(self.out)
        needs, kind = instruction.needs, instruction.kind
        latency, holds = self.latency.get(number), self.holds.get(number, 1)
        before, begun = self.known.cycle, self.known.begin(kind, needs)
        if self.out and begun > before:
            self.out[-1] = self.out[-1]._replace(pace=self.out[-1].pace + begun - before)
        self.known.issue(number, kind, begun, latency, holds)
        expected = EXPECTED.get(kind) if latency is None else latency
        self.assumed.issue(number, kind, self.assumed.begin(kind, needs), expected, holds)
        reads = self._reads(again) if kind == "multiply-add" else (0, 0)
        unknown = sorted({self.place[p] for p in needs if p not in self.known.done})
        self.out.append(instruction._replace(needs=tuple(unknown), pace=holds, reads=reads))

    def _reads(self, again: int) -> tuple[int, int]:
        """Return how many operands a multiply-add reads from each register bank."""
        self.multiply_adds += 1
        if self.multiply_adds % again:
            return 1, 1
        return (2, 1) if self.multiply_adds // again % 2 else (1, 2)


class _Clock:
    """The clock of a warp that runs alone: the cycle now, and by number when results are available."""

    def __init__(self) -> None:
        self.cycle = 0
        self.done: dict[int, int] = {}
        self.free: dict[str, int] = {}

    def begin(self, kind: str, needs: Iterable[int]) -> int:
        """Return when an instruction with these needs can issue."""
        begun, done = self.cycle, self.done
        for need in needs:
            if done.get(need, 0) > begun:
                begun = done[need]
        unit = idioms.UNIT.get(kind)
        return max(begun, self.free.get(unit[0], 0)) if unit else begun

    def issue(self, number: int, kind: str, begun: int, latency: int | None, holds: int) -> None:
        """Issue an instruction; without a latency, the time of its result stays unknown."""
        if latency is not None:
            self.done[number] = begun + latency
        if unit := idioms.UNIT.get(kind):
            self.free[unit[0]] = begun + unit[1]
        self.cycle = begun + holds
