"""Run a kernel's machine code: which instructions each warp executes, and what they access.

Threads of a warp that are together execute an instruction together. Where they part, each group goes its own way, until
a convergence barrier of the compiler (BSSY … BSYNC) brings them together again, as on a GPU since Volta: groups that
happen to be at the same instruction stay apart. Of all groups of all warps, those that are furthest behind run first;
threads of a block meet at its barriers. It knows no time: :mod:`course_lib.machine.timing_model` times what it finds.
The arithmetic is done, too, so that branches and addresses that depend on values are right, and the results can be held
against NumPy.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...simulator.hardware import WARP_SIZE, ceil_div
from .accesses import ARRAY_BITS, ATOMICS, MEMORY, Atomic, Memory, WarpAccess, by_warp
from .instructions import MachineCode, MachineInstruction
from .operations import Region, Threads, UnknownInstruction, action, predicate, raw, split

#: Where the kernel's parameters and a block's shared memory begin, in compute capability 9.0.
PARAMETERS = 0x210
SHARED = 0x400
#: Where the arrays begin: far apart, and 256-byte aligned as allocations are.
ARRAYS = 1 << 40
#: Instructions of the warps of a batch, executed together, after which a run is given up.
MAX_INSTRUCTIONS = 400_000
#: Threads of the blocks that are run together, in one batch.
BATCH = 1 << 14
#: Bytes of an instruction.
INSTRUCTION_BYTES = 16

#: Is told of each instruction: its place, the warps that execute it, and what their threads access.
Note = Callable[[int, np.ndarray, WarpAccess | None], None]


@dataclass
class BlockRun:
    """What the warps of a block executed: `executed[w]` are indices of instructions, `accesses[w]` by their places.

    >>> A, B, C = matrices(8, 8, 8)
    >>> naive = rung("naive").make()
    >>> code = machine_code.machine_code(naive, (A, B, C))
    >>> block = machine_code.run_block(code, (A, B, C), (8, 8, 1))
    >>> len(block.executed)
    2
    """

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
    most: int = MAX_INSTRUCTIONS,
) -> BlockRun:
    """Run the block `index` of a launch, and change the arrays in `arguments` as it does.

    names: those of the parameters. until: the instructions after which the run ends early. pointers: whether the kernel
    takes addresses of arrays, as in CUDA C, not numba's arrays with their shapes. zeros: much of the arrays is zero, so
    look for products of zeros, and for zeros in shared memory: those take no time, and such accesses are not in the
    result. Raise ValueError for an instruction that is not known, an access outside of the arrays, and a block that
    does not end within `most` instructions.

    >>> A, B, C = matrices(8, 8, 8)
    >>> naive = rung("naive").make()
    >>> code = machine_code.machine_code(naive, (A, B, C))
    >>> block = machine_code.run_block(code, (A, B, C), (8, 8, 1))
    >>> bool(np.allclose(C, A @ B))
    True
    """
    memory = _parameters(arguments, names, pointers)
    launch = _Launch(code, *memory, (*block, 1, 1)[:3], (*grid, 1, 1)[:3], dynamic_bytes)
    x, y, z = (*index, 0, 0)[:3]
    state = launch.threads(np.array([x + launch.grid[0] * (y + launch.grid[1] * z)]))
    log: list[tuple[int, np.ndarray]] = []
    touched: dict[int, WarpAccess] = {}

    def note(place: int, warps: np.ndarray, access: WarpAccess | None) -> None:
        if access is not None:
            touched[len(log)] = access
        log.append((place, warps))

    with np.errstate(all="ignore"):
        (SparseWarps if zeros else Warps)(code, state, note, until, most).run()
    return _by_warp(code, log, touched, len(state.mask) // WARP_SIZE)


def run_launch(
    code: MachineCode,
    arguments: Sequence[Any],
    block: Sequence[int],
    grid: Sequence[int],
    note: Note,
    *,
    names: Sequence[str] = (),
    dynamic_bytes: int = 0,
    most: int = MAX_INSTRUCTIONS,
) -> None:
    """Run all blocks of a launch, and change the arrays in `arguments` as it does; tell `note` of each instruction.

    Blocks run in batches, one after another. Raise ValueError as `run_block` does, and for a launch that does not end
    within `most` instructions.
    """
    memory = _parameters(arguments, names, pointers=False)
    launch = _Launch(code, *memory, (*block, 1, 1)[:3], (*grid, 1, 1)[:3], dynamic_bytes)
    blocks = prod(grid)
    together = max(1, BATCH // launch.width)
    for first in range(0, blocks, together):
        state = launch.threads(np.arange(first, min(first + together, blocks)))
        with np.errstate(all="ignore"):
            warps = Warps(code, state, note, None, most)
            warps.run()
        most -= warps.steps


@dataclass(frozen=True)
class _Launch:
    """A launch: the memory of its arrays, the bytes in which the kernel finds its arguments, and its sizes."""

    code: MachineCode
    arrays: list[Region]
    parameters: bytes
    block: tuple[int, ...]
    grid: tuple[int, ...]
    dynamic_bytes: int

    @property
    def width(self) -> int:
        """The threads of a block in whole warps."""
        return ceil_div(prod(self.block), WARP_SIZE) * WARP_SIZE

    def threads(self, numbers: np.ndarray) -> Threads:
        """Return the state in which the threads of these blocks begin."""
        code, width = self.code, self.width
        linear = np.tile(np.arange(width, dtype=np.uint64), len(numbers))
        ctaid = np.repeat(numbers.astype(np.uint64), width)
        lane = linear % np.uint64(WARP_SIZE)
        bit = np.uint64(1) << lane
        every = np.uint64(0xFFFFFFFF)
        x, y = (np.uint64(n) for n in self.block[:2])
        across, down = (np.uint64(n) for n in self.grid[:2])
        place: dict[str, Any] = {
            "SR_TID.X": linear % x,
            "SR_TID.Y": linear // x % y,
            "SR_TID.Z": linear // (x * y),
            "SR_CTAID.X": ctaid % across,
            "SR_CTAID.Y": ctaid // across % down,
            "SR_CTAID.Z": ctaid // (across * down),
            "SR_LANEID": lane,
            "SR_EQMASK": bit,
            "SR_LTMASK": bit - np.uint64(1),
            "SR_LEMASK": bit * np.uint64(2) - np.uint64(1),
            "SR_GTMASK": every & ~(bit * np.uint64(2) - np.uint64(1)),
            "SR_GEMASK": every & ~(bit - np.uint64(1)),
            "SR_CgaCtaId": np.zeros(len(linear), np.uint64),
        }
        constants = np.zeros(0x1000, np.uint8)
        local = code.stack_bytes + 16
        constants.view(np.uint32)[[0, 1, 2, 3, 4, 5, 10]] = *self.block, *self.grid, local
        constants[PARAMETERS : PARAMETERS + len(self.parameters)] = np.frombuffer(self.parameters, np.uint8)
        truths = np.zeros((2, 8, len(linear)), bool)
        truths[:, 7] = True
        shared_bytes = SHARED + code.shared_bytes + self.dynamic_bytes
        shared_bytes += -shared_bytes % WARP_SIZE
        return Threads(
            registers=np.zeros((256, len(linear)), np.uint32),
            uniform=np.zeros((64, len(linear)), np.uint32),
            predicates=truths[0],
            uniform_predicates=truths[1],
            mask=linear < prod(self.block),
            warps=np.ones(len(linear), bool),
            constants=constants,
            place=place,
            local=np.zeros((len(linear), local), np.uint8),
            shared=np.zeros(shared_bytes * len(numbers), np.uint8),
            block=np.repeat(np.arange(len(numbers)), width),
            shared_bytes=shared_bytes,
            barriers=np.zeros((16, len(linear)), np.int64),
            voted=np.zeros(len(linear), np.uint64),
            arrays=self.arrays,
        )


def _parameters(arguments: Sequence[Any], names: Sequence[str], pointers: bool) -> tuple[list[Region], bytes]:
    """Return the memory of the arrays, and the bytes in which a kernel finds its arguments."""
    arrays = []
    parameters = b""
    for number, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            if not (value.flags.c_contiguous or value.flags.f_contiguous):
                raise ValueError("an array with gaps between its elements: give a contiguous one")
            first = ARRAYS + (number << ARRAY_BITS)
            data = value.ravel("K").view(np.uint8)  # the array itself
            arrays.append(Region(names[number] if names else f"argument {number}", first, data))
            about = (0, 0, value.size, value.itemsize, first, *value.shape, *value.strides)
            given = np.array((first,) if pointers else about, np.int64)
        else:
            given = np.asarray(value)
        parameters += b"\0" * (-len(parameters) % given.itemsize) + given.tobytes()
    return arrays, parameters


def _by_warp(
    code: MachineCode, log: list[tuple[int, np.ndarray]], touched: dict[int, WarpAccess], warps: int
) -> BlockRun:
    places = np.array([place for place, _ in log])
    ran = np.array([those for _, those in log]).reshape(-1, warps)
    executed, accesses = [], []
    for warp in range(warps):
        of_warp = np.flatnonzero(ran[:, warp])
        executed.append(places[of_warp].tolist())
        lanes = slice(warp * WARP_SIZE, (warp + 1) * WARP_SIZE)
        own = {n: touched[at].of(lanes) for n, at in enumerate(of_warp.tolist()) if at in touched}
        accesses.append({number: access for number, access in own.items() if access.active.any()})
    return BlockRun(code, executed, accesses)


class Warps:
    """Runs the groups of threads of warps, each at its own instruction.

    ``ready`` has the groups that can go on, by the place of their next instruction: sets of threads, of which each has
    one group of a warp at most. ``waiting`` are those at a barrier of their block, by the instruction after it;
    ``votes``: what those say who wait at a barrier that counts votes, and ``counting`` how it counts them.
    ``joined_at``: for each thread that waits for others of its warp, the number of the step at which it joined their
    convergence barrier, -1 for WARPSYNC; 0 for none. ``continues_at``: the place of its next instruction then.
    ``serialized``: the places of loops that compare and swap, which one warp executes after the other, so that none
    makes another one try again.
    """

    def __init__(
        self, code: MachineCode, state: Threads, note: Note, until: int | None, most: int = MAX_INSTRUCTIONS
    ) -> None:
        self.code = code
        self.state = state
        self.note = note
        self.until = until
        self.most = most
        self.ready: dict[int, list[np.ndarray]] = {0: [state.mask.copy()]}
        self.waiting: dict[int, np.ndarray] = {}
        self.votes = np.zeros(len(state.mask), bool)
        self.counting: dict[int, str] = {}
        self.alive = state.mask.copy()
        self.joined_at = np.zeros(len(self.alive), np.int64)
        self.continues_at = np.zeros(len(self.alive), np.int64)
        self.serialized = {place for loop in _retries(code) for place in range(loop[0], loop[1] + 1)}
        self.steps = 0

    def run(self) -> None:
        while self.steps != self.until:
            if not self.ready:
                if not self.waiting:
                    if self.alive.any():
                        raise ValueError("threads of a warp wait for others that do not come")
                    return
                for place, threads in self.waiting.items():
                    if place in self.counting:
                        self._count(threads, self.counting[place])
                    self._add(place, threads)
                self.waiting = {}
            place = min(self.ready)
            groups = self.ready[place]
            threads = groups.pop()
            if place in self.serialized:
                first = threads & (np.arange(len(threads)) // WARP_SIZE == threads.argmax() // WARP_SIZE)
                threads, others = first, threads & ~first
                groups += [others] if others.any() else []
            if not groups:
                del self.ready[place]
            self._go_on(place, threads)

    def _add(self, place: int, threads: np.ndarray) -> None:
        """Let threads go on at a place, beside groups of other warps that are there."""
        if not threads.any():
            return
        if place < 0:
            raise ValueError("the machine code branches to a place that is not known")
        groups = self.ready.setdefault(place, [])
        warps = by_warp(threads)
        for number, other in enumerate(groups):
            if not (warps & by_warp(other)).any():
                groups[number] = other | threads
                return
        groups.append(threads)

    def _go_on(self, place: int, threads: np.ndarray) -> None:
        """Run groups of threads until they are no longer those that are furthest behind, or divide."""
        code, state = self.code.instructions, self.state
        next_ready = min(self.ready, default=len(code))
        warps = by_warp(threads)
        lanes = np.repeat(warps, WARP_SIZE)
        first = place  # others may be there, too, which cannot join
        while (place < next_ready or place == first or place in self.serialized) and self.steps != self.until:
            if place in self.serialized and np.count_nonzero(warps) > 1:
                break
            if place >= len(code):
                raise ValueError("the machine code has no end here")
            if self.steps >= self.most:
                raise ValueError(f"it executes more than {self.most:,} instructions")
            kind, guard, work = decoded(code[place].text)
            self.steps += 1
            active = threads if guard is None else threads & guard(state)
            state.mask, state.warps = active, lanes
            access = self._do(code[place].text, kind, work) if kind in ("", "memory") else None
            self.note(place, warps, access)
            if kind in _FLOW:
                threads = getattr(self, _FLOW[kind])(place, threads, active, work)
                if not threads.any():
                    return
                warps = by_warp(threads)
                lanes = np.repeat(warps, WARP_SIZE)
                next_ready = min(self.ready, default=len(code))
            place += 1
        self._add(place, threads)

    def _do(self, text: str, kind: str, work: Any) -> WarpAccess | None:
        """Do an instruction that computes, or accesses memory; return what it accesses."""
        if kind == "":
            work(self.state)
            return None
        return work.run(self.state) if self.state.mask.any() else None

    # What changes the flow: each returns the threads that go on with the next instruction.

    def _branch(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        taken = active if work is None else active & work(self.state)
        if taken.any():
            self._add(self.code.instructions[place].target, taken)
            self._add(place + 1, threads & ~taken)
            return np.zeros_like(threads)
        return threads

    def _call(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        self._add(self.code.instructions[place].target, active)
        return threads & ~active

    def _return(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        to = np.broadcast_to(work(self.state), active.shape).astype(np.int64) // INSTRUCTION_BYTES
        for target in np.unique(to[active]).tolist():
            self._add(target, active & (to == target))
        return threads & ~active

    def _barrier(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        others = self.waiting.get(place + 1)
        self.waiting[place + 1] = active if others is None else others | active
        return threads & ~active

    def _vote(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        self.counting[place + 1], says = work
        np.copyto(self.votes, says(self.state), where=active)
        return self._barrier(place, threads, active, None)

    def _count(self, threads: np.ndarray, how: str) -> None:
        """Tell the threads at a barrier how many of their block voted for it, whether any did, or all."""
        blocks = self.state.block[threads]
        votes = self.votes[threads]
        came = np.bincount(blocks)
        voted = np.bincount(blocks[votes], minlength=blocks.max() + 1)
        found = {"POPC": voted, "OR": voted > 0, "AND": voted == came}[how]
        self.state.voted[threads] = found[blocks]

    def _exit(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        ends = active if work is None else active & work(self.state)
        self.alive &= ~ends
        self._release(by_warp(ends))
        return threads & ~ends

    def _begin(self, place: int, threads: np.ndarray, active: np.ndarray, work: int) -> np.ndarray:
        self.state.barriers[work][active] = self.steps
        return threads

    def _leave(self, place: int, threads: np.ndarray, active: np.ndarray, work: int) -> np.ndarray:
        self.state.barriers[work][active] = 0
        self._release(by_warp(active))
        return threads

    def _meet(self, place: int, threads: np.ndarray, active: np.ndarray, work: int) -> np.ndarray:
        self.joined_at[active] = self.state.barriers[work][active]
        self.continues_at[active] = place + 1
        free_threads = active & (self.joined_at == 0)  # they are members of no barrier
        self._add(place + 1, free_threads)
        self._release(by_warp(active))
        return threads & ~active

    def _together(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        self.joined_at[active] = -1
        self.continues_at[active] = place + 1
        self._release(by_warp(active))
        return threads & ~active

    def _release(self, warps: np.ndarray) -> None:
        """Let threads of these warps go on for which all have come that they wait for."""
        joined_at = self.joined_at.reshape(-1, WARP_SIZE)[warps]
        if not joined_at.any():
            return
        alive = self.alive.reshape(-1, WARP_SIZE)[warps]
        barriers = self.state.barriers.reshape(len(self.state.barriers), -1, WARP_SIZE)[:, warps]
        free = np.zeros_like(alive)
        for event in np.unique(joined_at[joined_at != 0]).tolist():
            here = joined_at == event
            awaited = alive if event < 0 else alive & (barriers == event).any(axis=0)
            free |= here & ~(awaited & ~here).any(axis=1, keepdims=True)
        if not free.any():
            return
        threads = np.zeros_like(self.alive)
        threads.reshape(-1, WARP_SIZE)[warps] = free
        events = self.joined_at.copy()
        threads_of = np.flatnonzero(threads)
        self.joined_at[threads] = 0
        for event in np.unique(events[threads_of]).tolist():
            released = threads & (events == event)
            if event > 0:
                row = self.state.barriers
                row[(row == event) & released] = 0
            for place in np.unique(self.continues_at[released]).tolist():
                self._add(place, released & (self.continues_at == place))


def _retries(code: MachineCode) -> list[tuple[int, int]]:
    """Return the innermost loops with a compare-and-swap."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(code.loops, key=lambda loop: loop[1] - loop[0]):
        body = code.instructions[first : last + 1]
        inside = any(first <= begin and end <= last for begin, end in found)
        if not inside and any(re.match(r"ATOM\w*\..*CAST?\b", each.operation) for each in body):
            found.append((first, last))
    return found


class SparseWarps(Warps):
    """Runs a block on arrays that are zero for the most part: a product of zeros is not computed, nor a zero loaded.

    Nothing is assumed: the registers of each product are looked at, and shared memory after each store to it.
    """

    empty = True  # all of shared memory is zero

    def _do(self, text: str, kind: str, work: Any) -> WarpAccess | None:
        what, registers = _with_zeros(text)
        return None if what and self._done(what, registers) else super()._do(text, kind, work)

    def _barrier(self, place: int, threads: np.ndarray, active: np.ndarray, work: Any) -> np.ndarray:
        self.empty = self.empty or not self.state.shared.any()
        return super()._barrier(place, threads, active, work)

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
    kind, _, work = decoded(text)
    if kind != "memory" or work.space != "shared" or work.op not in ("load", "store"):
        return "", ()
    operands = split(text.split(maxsplit=2 if text.startswith("@") else 1)[-1])
    name = operands[0 if work.op == "load" else 1].replace(".reuse", "")
    if not re.fullmatch(r"R\d+", name):
        return "", ()
    return work.op, tuple(int(name[1:]) + i for i in range(work.words))


#: A register as a factor or a sum, without its sign.
_REGISTER = r"-?R(\d+)(?:\.reuse)?"


#: The method for each kind of instructions that change the flow.
_FLOW = {
    "branch": "_branch",
    "call": "_call",
    "return": "_return",
    "barrier": "_barrier",
    "vote": "_vote",
    "exit": "_exit",
    "begin": "_begin",
    "leave": "_leave",
    "meet": "_meet",
    "together": "_together",
}
#: The flow of operations on convergence barriers.
_CONVERGENCE = {"BSSY": "begin", "BSYNC": "meet", "BREAK": "leave"}


@lru_cache(maxsize=4096)
def decoded(text: str) -> tuple[str, Any, Any]:
    """Return an instruction's kind, its guard, and what it does; raise UnknownInstruction for one that is not known."""
    words = text.split(maxsplit=1)
    guard = None
    if words[0].startswith("@"):
        guard = predicate(words[0][1:])
        words = words[1].split(maxsplit=1)
    operation = words[0]
    operands = split(words[1] if len(words) > 1 else "")
    name = operation.partition(".")[0]
    if name in MEMORY:
        return "memory", guard, Memory(operation, operands)
    if name in ATOMICS:
        return "memory", guard, Atomic(operation, operands)
    kind, work = _flow(operation, operands) or ("", None)
    return kind, guard, action(operation, operands) if kind == "" else work


def unknown_instructions(code: MachineCode) -> list[MachineInstruction]:
    """Return the instructions that the emulator does not execute."""
    unknown = []
    for each in code.instructions:
        try:
            decoded(each.text)
        except UnknownInstruction:
            unknown.append(each)
    return unknown


def _flow(operation: str, operands: list[str]) -> tuple[str, Any] | None:
    """Return what an operation does to the flow, a key of _FLOW, with what it needs; None for other operations."""
    name, *mods = operation.split(".")
    if name in _CONVERGENCE and operands[0].startswith("B"):
        return _CONVERGENCE[name], int(operands[0][1:])
    if name == "EXIT":
        return "exit", predicate(operands[0]) if operands else None
    if name in ("BRA", "UBRA") and "DIV" not in mods:  # with it, a branch of a warp that is not together
        return "branch", predicate(operands[0]) if len(operands) > 1 else None
    if name == "RET" and "REL" in mods:
        return "return", raw(operands[0].split()[0])
    if [name, *mods[:1]] == ["BAR", "RED"] and mods[1] in ("POPC", "AND", "OR") and len(operands) == 2:
        return "vote", (mods[1], predicate(operands[1]))
    flow = {"CALL.REL": "call", "BAR.SYNC": "barrier", "WARPSYNC.ALL": "together"}
    found = flow.get(".".join([name, *mods[:1]]))
    if found == "barrier" and len(operands) > 1:
        raise UnknownInstruction(f"{operation} {', '.join(operands)}")
    return (found, None) if found else None
