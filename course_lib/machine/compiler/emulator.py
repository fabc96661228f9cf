"""Run one block of a kernel's machine code: which instructions each warp executes, and what they access.

All threads that are at the same instruction run it together, those that are furthest behind first; threads of a block
meet at its barriers. It knows no time: :mod:`course_lib.machine.waiting` plays what it finds. The arithmetic is done,
too, so that branches and addresses that depend on values are right, and the results can be held against NumPy.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...simulator.hardware import WARP_SIZE, ceil_div
from .code import MachineCode
from .operations import Region, Threads, UnknownInstruction, action, predicate, raw, split, writer

#: Where the kernel's parameters and a block's shared memory begin, in compute capability 9.0.
PARAMETERS = 0x210
SHARED = 0x400
#: Where the arrays begin: far apart, and 256-byte aligned as allocations are.
ARRAYS = 1 << 40
#: Instructions of a block's warps, executed together, after which a run is given up.
MOST = 400_000
WIDTHS = {"8": 1, "U8": 1, "S8": 1, "16": 2, "U16": 2, "S16": 2, "64": 8, "128": 16}
MEMORY = {
    "LDG": ("global", "load"),
    "STG": ("global", "store"),
    "LDS": ("shared", "load"),
    "STS": ("shared", "store"),
    "LDL": ("local", "load"),
    "STL": ("local", "store"),
    "LDGSTS": ("global", "copy"),
}


@dataclass(frozen=True, eq=False)
class WarpAccess:
    """What one warp's instruction accesses: the bytes of each active lane, from its address on.

    ``array`` is the kernel's parameter, "" for shared and local memory; addresses are counted from its beginning.
    ``active`` are the lanes that take part, ``addresses`` those of all 32. A copy to shared memory has the places that
    it writes there in ``stored``.
    """

    space: str
    op: str
    array: str
    bytes: int
    active: np.ndarray
    addresses: np.ndarray
    stored: np.ndarray | None = None

    def of(self, lanes: slice) -> "WarpAccess":
        """Return the part of some lanes in the access of all threads of a block."""
        stored = None if self.stored is None else self.stored[lanes]
        return replace(self, active=self.active[lanes], addresses=self.addresses[lanes], stored=stored)


@dataclass
class BlockRun:
    """What the warps of a block executed: `executed[w]` are indices of instructions, `accesses[w]` by their places."""

    code: MachineCode
    executed: list[list[int]]
    accesses: list[dict[int, WarpAccess]]


def run_block(
    code: MachineCode,
    arguments: Sequence[Any],
    block: Sequence[int],
    grid: Sequence[int] = (1, 1, 1),
    index: Sequence[int] = (0, 0, 0),
    *,
    names: Sequence[str] = (),
    dynamic_bytes: int = 0,
    until: int | None = None,
    pointers: bool = False,
    zeros: bool = False,
    most: int = MOST,
) -> BlockRun:
    """Run the block `index` of a launch, and change the arrays in `arguments` as it does.

    names: those of the parameters. until: the instructions after which the run ends early. pointers: whether the kernel
    takes addresses of arrays, as in CUDA C, not numba's arrays with their shapes. zeros: much of the arrays is zero, so
    look for products of zeros, and for zeros in shared memory: those take no time, and such accesses are not in the
    result. Raise ValueError for an instruction that is not known, an access outside of the arrays, and a block that
    does not end within `most` instructions.
    """
    block, grid = (*block, 1, 1)[:3], (*grid, 1, 1)[:3]
    threads = prod(block)
    width = ceil_div(threads, WARP_SIZE) * WARP_SIZE
    linear = np.arange(width, dtype=np.uint64)
    x, y, z = (np.uint64(n) for n in block)
    place: dict[str, Any] = {
        "SR_TID.X": linear % x,
        "SR_TID.Y": linear // x % y,
        "SR_TID.Z": linear // (x * y) % z,
        "SR_LANEID": linear % np.uint64(WARP_SIZE),
        "SR_CgaCtaId": np.zeros(width, np.uint64),
        **{f"SR_CTAID.{axis}": np.full(width, n, np.uint64) for axis, n in zip("XYZ", index, strict=True)},
    }
    arrays, parameters = _parameters(arguments, names, pointers)
    constants, local = np.zeros(0x1000, np.uint8), code.stack_bytes + 16
    constants.view(np.uint32)[[0, 1, 2, 3, 4, 5, 10]] = *block, *grid, local
    constants[PARAMETERS : PARAMETERS + len(parameters)] = np.frombuffer(parameters, np.uint8)
    truths = np.zeros((2, 8, width), bool)
    truths[:, 7] = True
    state = Threads(
        registers=np.zeros((256, width), np.uint32),
        uniform=np.zeros((64, width), np.uint32),
        predicates=truths[0],
        uniform_predicates=truths[1],
        mask=linear < threads,
        warps=np.ones(width, bool),
        constants=constants,
        place=place,
        local=np.zeros((width, local), np.uint8),
        shared=np.zeros(SHARED + code.shared_bytes + dynamic_bytes, np.uint8),
        arrays=arrays,
    )
    with np.errstate(all="ignore"):
        return (_SparseBlock if zeros else _Block)(code, state, until, most).run()


def _parameters(arguments: Sequence[Any], names: Sequence[str], pointers: bool) -> tuple[list[Region], bytes]:
    """Return the memory of the arrays, and the bytes in which a kernel finds its arguments."""
    arrays, parameters = [], b""
    for number, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            if not (value.flags.c_contiguous or value.flags.f_contiguous):
                raise ValueError("an array with gaps between its elements: give a contiguous one")
            first, data = ARRAYS + (number << 36), value.ravel("K").view(np.uint8)  # the array itself
            arrays.append(Region(names[number] if names else f"argument {number}", first, data))
            about = (0, 0, value.size, value.itemsize, first, *value.shape, *value.strides)
            given = np.array((first,) if pointers else about, np.int64)
        else:
            given = np.asarray(value)
        parameters += b"\0" * (-len(parameters) % given.itemsize) + given.tobytes()
    return arrays, parameters


def _address(text: str) -> Callable[[Threads], Any]:
    """Return the addresses that an operand such as desc[UR4][R2.64+0x10] or [R5+UR4] gives."""
    found = re.fullmatch(r"(?:desc\[UR\d+\])?\[([^\]]*)\]", text)
    if found is None:
        raise UnknownInstruction(f"address {text}")
    parts, scales = [], []
    for part in re.findall(r"[+-]?[^+-]+", found[1]):
        sign, name = part[0] == "-", part.lstrip("+-")
        if name.startswith("0x"):
            parts.append(raw(f"-{name}" if sign else name, 2))
            scales.append(1)
            continue
        register, _, how = name.partition(".")
        wide = "64" in how
        parts.append(raw(register, 2 if wide else 1))
        scales.append(int(how[1:]) if re.fullmatch(r"X\d+", how) else 1)

    def get(t: Threads) -> Any:
        total: Any = np.zeros(t.mask.shape, np.uint64)
        for part, scale in zip(parts, scales, strict=True):
            total = total + part(t) * np.uint64(scale)
        return total

    return get


class _Memory:
    """An instruction that accesses memory."""

    def __init__(self, operation: str, operands: list[str]) -> None:
        name, *mods = operation.split(".")
        self.space, self.op = MEMORY[name]
        self.bytes = next((WIDTHS[m] for m in mods if m in WIDTHS), 4)
        self.signed = bool({"S8", "S16"} & {*mods})
        self.words = ceil_div(self.bytes, 4)
        self.allowed = predicate(operands.pop()) if operands[-1].lstrip("!").startswith(("P", "UP")) else None
        self.to: Any = None
        self.registers: list[Any] = []
        if self.op == "copy":
            self.to, self.at = _address(operands[0]), _address(operands[1])
        elif self.op == "load":
            self.registers, self.at = self._row(operands[0], writer), _address(operands[1])
        else:
            self.registers, self.at = self._row(operands[1], raw), _address(operands[0])

    def _row(self, text: str, make: Callable[[str], Any]) -> list[Any]:
        name = text.replace(".reuse", "")
        if name == "RZ" or self.words == 1:
            return [make(name)] * self.words
        first = int(name[1:])
        return [make(f"R{first + i}") for i in range(self.words)]

    def run(self, t: Threads) -> WarpAccess:
        """Do it; return what all threads access."""
        at = self.at(t)
        name, data, places, stored = "", t.shared, at.astype(np.int64), None
        addresses = places
        if self.space == "local":
            width, room = t.local.shape
            places = (at & np.uint64(0xFFFFFFFF)).astype(np.int64)
            _check(places[t.mask], self.bytes, room)
            if self.bytes >= 4 and (places == places[0]).all():  # as of registers that are spilled
                self._move_columns(t, int(places[0]) // 4)
                return WarpAccess(self.space, self.op, name, self.bytes, t.mask, addresses, stored)
            data, places = t.local.reshape(-1), places + room * np.arange(width)
        elif self.space == "global":
            first = int(at[t.mask.argmax()])
            memory = next((m for m in t.arrays if m.first <= first < m.first + (1 << 36)), None)
            if memory is None:
                raise ValueError("the machine code accesses memory that is none of its arrays")
            name, data = memory.name, memory.data
            addresses = places = (at - np.uint64(memory.first)).astype(np.int64)
        if self.op == "copy":
            stored = self.to(t).astype(np.int64)
            allowed = t.mask if self.allowed is None else t.mask & self.allowed(t)
            span = np.arange(self.bytes)
            t.shared[stored[t.mask][:, None] + span] = 0
            _check(places[allowed], self.bytes, len(data))
            t.shared[stored[allowed][:, None] + span] = data[places[allowed][:, None] + span]
        else:
            self._move(t, data, places)
        return WarpAccess(self.space, self.op, name, self.bytes, t.mask, addresses, stored)

    def _move_columns(self, t: Threads, first: int) -> None:
        """Load or store the same words of each thread's local memory."""
        words = t.local.view(np.uint32)
        for i, register in enumerate(self.registers):
            if self.op == "load":
                register(t, words[:, first + i].astype(np.uint64))
            else:
                np.copyto(words[:, first + i], register(t), where=t.mask, casting="unsafe")

    def _move(self, t: Threads, data: np.ndarray, offsets: np.ndarray) -> None:
        where, size = offsets[t.mask], min(self.bytes, 4)
        _check(where, self.bytes, len(data))
        words = data[: len(data) // size * size].view(f"{'i' if self.signed else 'u'}{size}")
        for i, register in enumerate(self.registers):
            place = where // size + i
            if self.op == "load":
                value = np.zeros(t.mask.shape, np.uint64)
                value[t.mask] = words[place].astype(np.int64).view(np.uint64)
                register(t, value)
            else:
                words[place] = np.broadcast_to(register(t), t.mask.shape)[t.mask].astype(words.dtype)


def _check(offsets: np.ndarray, size: int, room: int) -> None:
    if len(offsets) and (int(offsets.min()) < 0 or int(offsets.max()) + size > room):
        raise ValueError("the machine code accesses memory outside of an array")


def _whole_warps(threads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which warps some of these threads are in, and all lanes of these warps."""
    warps = np.asarray(threads.reshape(-1, WARP_SIZE).any(axis=1))
    return warps, np.repeat(warps, WARP_SIZE)


class _Block:
    """Runs the groups of threads of a block, each at its own instruction."""

    def __init__(self, code: MachineCode, state: Threads, until: int | None, most: int) -> None:
        self.code, self.state, self.until, self.most = code, state, until, most
        self.warps = len(state.mask) // WARP_SIZE
        self.groups: dict[int, np.ndarray] = {0: state.mask.copy()}
        self.waiting: dict[int, np.ndarray] = {}  # at a barrier, by the instruction after it
        self.log: list[tuple[int, np.ndarray]] = []
        self.touched: dict[int, WarpAccess] = {}

    def run(self) -> BlockRun:
        while (self.groups or self.waiting) and len(self.log) != self.until:
            if not self.groups:
                self.groups, self.waiting = self.waiting, {}
            place = min(self.groups)
            self._go_on(place, self.groups.pop(place))
        return self._by_warp()

    def _go_on(self, place: int, threads: np.ndarray) -> None:
        """Run a group of threads until it is no longer the one that is furthest behind, or divides."""
        code, state, log = self.code.instructions, self.state, self.log
        if place >= len(code):
            raise ValueError("the machine code has no end here")
        behind = min(self.groups, default=len(code))
        warps, lanes = _whole_warps(threads)
        while place < behind and len(log) != self.until:
            if len(log) >= self.most:
                raise ValueError(f"the block executes more than {self.most:,} instructions")
            kind, guard, work = _compiled(code[place].text)
            log.append((place, warps))
            active = threads
            if guard is not None:
                active = threads & guard(state)
            state.mask, state.warps = active, lanes
            if kind in ("", "memory"):
                self._do(code[place].text, kind, work)
            elif kind == "branch":
                taken = active if work is None else active & work(state)
                if taken.any():
                    self._join(self.groups, code[place].target, taken)
                    self._join(self.groups, place + 1, threads & ~taken)
                    return
            elif kind == "barrier":
                self._wait(place + 1, threads)
                return
            elif kind == "exit":
                threads = threads & ~active
                if not threads.any():
                    return
                warps, lanes = _whole_warps(threads)
            place += 1
        self._join(self.groups, place, threads)

    def _do(self, text: str, kind: str, work: Any) -> None:
        """Do an instruction that computes, or accesses memory."""
        if kind == "":
            work(self.state)
        elif self.state.mask.any():
            self.touched[len(self.log) - 1] = work.run(self.state)

    def _wait(self, place: int, threads: np.ndarray) -> None:
        """Let threads wait at a barrier, after which they go on at a place."""
        self._join(self.waiting, place, threads)

    @staticmethod
    def _join(groups: dict[int, np.ndarray], place: int, threads: np.ndarray) -> None:
        if not threads.any():
            return
        if place < 0:
            raise ValueError("the machine code branches to a place that is not known")
        groups[place] = groups[place] | threads if place in groups else threads

    def _by_warp(self) -> BlockRun:
        places = np.array([place for place, _ in self.log])
        ran = np.array([warps for _, warps in self.log]).reshape(-1, self.warps)
        executed, accesses = [], []
        for warp in range(self.warps):
            mine = np.flatnonzero(ran[:, warp])
            executed.append(places[mine].tolist())
            lanes = slice(warp * WARP_SIZE, (warp + 1) * WARP_SIZE)
            own = {n: self.touched[at].of(lanes) for n, at in enumerate(mine.tolist()) if at in self.touched}
            accesses.append({number: access for number, access in own.items() if access.active.any()})
        return BlockRun(self.code, executed, accesses)


class _SparseBlock(_Block):
    """Runs a block on arrays that are zero for the most part: a product of zeros is not computed, nor a zero loaded.

    Nothing is assumed: the registers of each product are looked at, and shared memory after each store to it.
    """

    empty = True  # all of shared memory is zero

    def _do(self, text: str, kind: str, work: Any) -> None:
        what, registers = _with_zeros(text)
        if not what or not self._done(what, registers):
            super()._do(text, kind, work)

    def _wait(self, place: int, threads: np.ndarray) -> None:
        super()._wait(place, threads)
        self.empty = self.empty or not self.state.shared.any()

    def _done(self, what: str, registers: Sequence[int]) -> bool:
        """Do an instruction, if all that it multiplies, loads or stores is zero; return whether that was so."""
        files = self.state.registers
        if what == "load":
            for register in registers if self.empty else ():
                np.copyto(files[register], 0, where=self.state.mask)
            return self.empty
        if what == "store":
            self.empty = self.empty and not any(files[register].any() for register in registers)
            return self.empty
        to, one, other, sum = registers
        if files[one].any() or files[other].any():
            return False
        if to != sum:
            np.copyto(files[to], files[sum], where=self.state.mask)
        return True


@lru_cache(maxsize=4096)
def _with_zeros(text: str) -> tuple[str, tuple[int, ...]]:
    """Return what an instruction may do with zeros, "product", "load" or "store", and its registers; or "" and none."""
    if found := re.fullmatch(rf"(?:@!?U?P\d )?FFMA(?:\.FTZ)? {', '.join([_REGISTER] * 4)}", text):
        return "product", tuple(map(int, found.groups()))
    kind, _, work = _compiled(text)
    if kind != "memory" or work.space != "shared" or work.op not in ("load", "store"):
        return "", ()
    operands = split(text.split(maxsplit=2 if text.startswith("@") else 1)[-1])
    name = operands[0 if work.op == "load" else 1].replace(".reuse", "")
    if not re.fullmatch(r"R\d+", name):
        return "", ()
    return work.op, tuple(int(name[1:]) + i for i in range(work.words))


#: A register as a factor or a sum, without its sign.
_REGISTER = r"-?R(\d+)(?:\.reuse)?"


@lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[str, Any, Any]:
    """Return an instruction's kind, its guard, and what it does."""
    words = text.split(maxsplit=1)
    guard = None
    if words[0].startswith("@"):
        guard = predicate(words[0][1:])
        words = words[1].split(maxsplit=1)
    operation, operands = words[0], split(words[1] if len(words) > 1 else "")
    name = operation.partition(".")[0]
    if name in ("BRA", "UBRA"):
        if "DIV" in operation.split("."):
            return "", guard, lambda t: None  # the warp is together
        return "branch", guard, predicate(operands[0]) if len(operands) > 1 else None
    if name == "EXIT":
        return "exit", guard, None
    if name == "BAR":
        return "barrier", guard, None
    if name in MEMORY:
        return "memory", guard, _Memory(operation, operands)
    return "", guard, action(operation, operands)
