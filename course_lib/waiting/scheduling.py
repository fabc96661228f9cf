"""Instruction scheduling: the order that a compiler gives to code between barriers, and the paces that it writes.

- Loads are moved up, with the instructions of their addresses, as long as registers are free for their results: AHEAD
  words, or as many as the source needs in its own order. No load passes a store that may be to the same memory.
- Instructions of the loop itself, its counter and the pointers that it advances, fill the gaps between the others.
- A result of fixed latency is covered by the paces of the instructions before its use; only loads make a warp wait.
- A multiply-add reads three operands, two of them from one of the two register banks. An operand that its neighbours
  use, too, is kept: then the others read two, one from each bank.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..simulator.hardware import ceil_div
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
    """What a warp issues: `kind`, and the positions in its program of the instructions whose results it needs.

    kind: "multiply-add" (any +, - or * of floats), "load", "store", "shared load", "shared store", "copy", "commit",
    "wait" or "barrier"; of index arithmetic "index" for all of an index, or the kind of a machine instruction:
    "integer", "multiply", "uniform", "constant" (a value from the kernel's arguments), "branch" or "other".
    amount: of operations, for an index; wavefronts: passes through shared memory or the first-level cache;
    sectors: the 32-byte sectors of global memory; arithmetic: the kind of index arithmetic ("signed", …, "").
    bytes: what a lane moves; turn: the iteration of the outermost loop, 0 before it.
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
    turn: int = 0
    bytes: int = 4
    pace: int = 1
    reads: tuple[int, int] = (0, 0)
    uniform_read: bool = False
    step: int = 0


class _Registers:
    """The registers that hold loaded values until their last use, by place in the region."""

    def __init__(self, region: Sequence[Instruction], base: int, ahead: int) -> None:
        self.users: dict[int, list[int]] = {}
        for place, instruction in enumerate(region):
            for need in instruction.needs:
                if need >= base and region[need - base].kind in ("load", "shared load"):
                    self.users.setdefault(need - base, []).append(place)
        self.size = {load: ceil_div(region[load].bytes, REGISTER_BYTES) for load in self.users}
        self.used: dict[int, list[int]] = {}  # instruction -> the loads it uses
        for load, users in self.users.items():
            each = len(users) == self.size[load]  # one use for each element of it
            for user in users if each else users[-1:]:
                self.used.setdefault(user, []).append(load if each else -load - 1)
        self.held = self.most = 0
        for place in range(len(region)):
            self.take(place)
        self.held, self.most = 0, max(self.most, ahead)

    def again(self, needs: Sequence[int], base: int) -> int:
        """Return how many multiply-adds share an operand of one with these needs: 1 where each is used once."""
        loads = (need - base for need in needs if need - base in self.users)
        return max([1, *(len(self.users[load]) // self.size[load] for load in loads)])

    def room(self, place: int) -> bool:
        """Whether registers are free for what an instruction loads."""
        return self.held + self.size.get(place, 0) <= self.most

    def take(self, place: int) -> None:
        """Issue an instruction: allocate registers for its result, and free those of which it is the last user."""
        self.held += self.size.get(place, 0)
        self.most = max(self.most, self.held)
        for load in self.used.get(place, ()):
            self.held -= 1 if load >= 0 else self.size[-load - 1]


class Schedule:
    """Instructions in the compiler's order, in `out`, one region after the other.

    Of the region to be put next, by position: `latency`, cycles until the result where the compiler knows them;
    `holds`, cycles until the next instruction; `fills`, what fills gaps; `after`, the store that a load must follow.
    """

    def __init__(self) -> None:
        self.out: list[Instruction] = []
        self.latency: dict[int, int] = {}
        self.holds: dict[int, int] = {}
        self.fills: set[int] = set()
        self.after: dict[int, int] = {}
        self.kept: set[str] = set()  # arrays with an advancing pointer, which keeps its registers
        self.known = _Clock()  # as the paces have it
        self.reckoned = _Clock()  # with the latencies that the compiler assumes
        self.multiply_adds = 0

    def put(self, region: Sequence[Instruction], whole: bool) -> tuple[list[Instruction], dict[int, int]]:
        """Put a region in order; return the part left for the next one, and the new positions of the rest by the old.

        Positions in the region count from the end of `out`. Only gap fillers can be left; nothing if `whole`.
        """
        base = len(self.out)
        early = {i for i, ins in enumerate(region) if ins.kind in ("load", "shared load", "copy")}
        for i in reversed(range(len(region))):  # the instructions of their addresses, too
            if i in early:
                early |= {p - base for p in region[i].needs if p >= base and region[p - base].kind in LEADS}
        fills = deque(i for i in range(len(region)) if base + i in self.fills)
        loads = deque(i for i in range(len(region)) if i in early and base + i not in self.fills)
        others = deque(i for i in range(len(region)) if i not in early and base + i not in self.fills)
        registers = _Registers(region, base, AHEAD - POINTER * len(self.kept))
        moved: dict[int, int] = {}  # old position -> new position

        def ready(i: int) -> bool:
            needs = (*region[i].needs, self.after.get(base + i, -1))
            return all(p < base or p in moved for p in needs)

        def begin(i: int) -> int:
            return self.reckoned.begin(region[i].kind, (moved.get(p, p) for p in region[i].needs))

        while loads or others:
            take_load = loads and ready(loads[0]) and (registers.room(loads[0]) or not others or not ready(others[0]))
            queue = loads if take_load or not others else others
            if fills and begin(fills[0]) < begin(queue[0]):
                queue = fills
            i = queue.popleft()
            self._issue(base + i, region[i], moved, registers.again(region[i].needs, base))
            registers.take(i)
        while fills and whole:
            i = fills.popleft()
            self._issue(base + i, region[i], moved, 1)
        end = len(self.out)
        moved.update({base + i: end + place for place, i in enumerate(fills)})
        rest = [region[i]._replace(needs=tuple(moved.get(p, p) for p in region[i].needs)) for i in fills]
        self.latency, self.holds = (
            {moved[base + i]: table[base + i] for i in fills if base + i in table}
            for table in (self.latency, self.holds)
        )
        self.fills = {moved[base + i] for i in fills}
        self.after.clear()  # no load is left
        return rest, moved

    def _issue(self, old: int, instruction: Instruction, moved: dict[int, int], again: int) -> None:
        """Append an instruction to `out`, with unknown latencies as needs and known ones as paces."""
        place = moved[old] = len(self.out)
        needs = sorted({moved.get(p, p) for p in instruction.needs})
        unknown = tuple(p for p in needs if p not in self.known.done)
        latency, holds, kind = self.latency.get(old), self.holds.get(old, 1), instruction.kind
        before, begun = self.known.cycle, self.known.begin(kind, needs)
        if self.out and begun > before:
            self.out[-1] = self.out[-1]._replace(pace=self.out[-1].pace + begun - before)
        self.known.issue(place, kind, begun, latency, holds)
        expected = EXPECTED.get(kind) if latency is None else latency
        self.reckoned.issue(place, kind, self.reckoned.begin(kind, needs), expected, holds)
        reads = self._reads(again) if kind == "multiply-add" else (0, 0)
        self.out.append(instruction._replace(needs=unknown, pace=holds, reads=reads))

    def _reads(self, again: int) -> tuple[int, int]:
        """Return how many operands a multiply-add reads from each register bank."""
        self.multiply_adds += 1
        if self.multiply_adds % again:
            return 1, 1
        return (2, 1) if self.multiply_adds // again % 2 else (1, 2)


class _Clock:
    """The clock of a warp that runs alone: the cycle now, and by position when results are available."""

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

    def issue(self, place: int, kind: str, begun: int, latency: int | None, holds: int) -> None:
        """Issue an instruction; without a latency, the time of its result stays unknown."""
        if latency is not None:
            self.done[place] = begun + latency
        if unit := idioms.UNIT.get(kind):
            self.free[unit[0]] = begun + unit[1]
        self.cycle = begun + holds
