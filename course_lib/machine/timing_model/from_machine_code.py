"""The streams of a block's warps from a kernel's machine code: the compiler's own instructions, as they are executed.

    code = machine_code(kernel, (A, B, C))
    warps = block_streams(run_block(code, (A, B, C), block))
    timing_model.simulate_warps(warps, multiprocessor, blocks=2)

Dependences of registers need no analysis: the compiler has written into every instruction how many cycles pass until
the warp's next one, and which counters must be down before it (:mod:`course_lib.machine.machine_code.instructions`).
The emulator says which instructions a warp executes, and the addresses of each access; wavefronts and sectors follow
from these.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...simulator.counters.bank_conflicts import NOBODY, busiest, in_groups
from ...simulator.counters.copy_wavefronts import copy_costs
from ...simulator.hardware import SECTOR_BYTES, WORD_BYTES
from ..machine_code.accesses import WarpAccess
from ..machine_code.emulator import BlockRun
from ..machine_code.instructions import UNIFORM, MachineCode
from .instruction_streams import Instruction
from .register_banks import register_reads

#: What an operation is to the model, by the beginning of its name; which unit takes it, Nsight Compute's counters of
#: instructions by pipe say. Operations that no kernel measured only issue, with the pace and the counters that the
#: compiler gave them ("other"); those of REFUSED would take much longer.
_NAMES = {
    "multiply-add": "FFMA FADD FMUL",
    "integer": "CS2R IADD3 ISETP LEA LOP3 MOV P2R R2P PLOP3 PRMT SEL SHF VIMNMX",
    "multiply": "IMAD VIADD",
    "wide multiply": "IMAD.WIDE",
    "uniform": "U",
    "other": "UMOV ULDC",
    "constant": "LDC S2R S2UR",
    "branch": "BRA",
    "barrier": "BAR",
    "copy": "LDGSTS",
    "commit": "LDGDEPBAR",
    "wait": "DEPBAR",
    "load": "LDG LDL",
    "store": "STG STL",
    "shared load": "LDS SHFL",
    "shared store": "STS",
}
KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
REFUSED = ("HMMA", "HGMMA", "WARPGROUP", "UTMA", "SYNCS", "ATOM", "RED", "MUFU", "DFMA", "DADD", "DMUL", "CALL")
_START = sorted(KINDS, key=len, reverse=True)


def kind_of(operation: str) -> str:
    """Return what an operation is to the model; raise ValueError for one whose time it does not know."""
    if operation.startswith(REFUSED):
        raise ValueError(f"the timing model does not know the instruction {operation}")
    return next((KINDS[start] for start in _START if operation.startswith(start)), "other")


def main_loop(run: BlockRun) -> tuple[int, int] | None:
    """Return the outermost loop in which the block executes most multiply-adds, or most instructions; None for none."""
    counts = np.zeros(len(run.code.instructions), np.int64)
    for executed in run.executed:
        counts += np.bincount(np.array(executed, np.intp), minlength=len(counts))
    multiply_adds = np.array([each.operation.startswith("FFMA") for each in run.code.instructions])
    loops = [loop for loop in run.code.loops if loop[1] > loop[0] and counts[loop[1]]]

    def is_inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
        return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]

    def work(loop: tuple[int, int]) -> tuple[int, int]:
        within = slice(loop[0], loop[1] + 1)
        return int(counts[within][multiply_adds[within]].sum()), int(counts[within].sum())

    outermost = [loop for loop in loops if not any(is_inside(loop, other) for other in loops)]
    return max(outermost, key=work, default=None)


def block_streams(run: BlockRun, pitches: Mapping[str, tuple[int, int]] | None = None) -> list[list[Instruction]]:
    """Return the streams of a block's warps.

    pitches: for a matrix that represents a part of a larger one, by the parameter's name, the bytes of its rows and of
    those of the larger one. Raise ValueError for an instruction whose time the model does not know.
    """
    loop = main_loop(run)
    fixed = _fixed(run.code)
    streams_of: dict[tuple[int, ...], list[Instruction]] = {}  # without the costs of accesses
    known: dict[Any, tuple[int, tuple[tuple[str, int], ...]]] = {}
    found = []
    for executed, accesses in zip(run.executed, run.accesses, strict=True):
        key = tuple(executed)
        if key not in streams_of:
            streams_of[key] = _without_costs(run.code, fixed, executed, loop)
        stream = list(streams_of[key])
        for place, each in enumerate(stream):
            if each.kind in _MEMORY:
                access = accesses.get(place)
                stream[place] = _with_costs(each, access, pitches or {}, known)
        found.append(stream)
    return found


def _fixed(code: MachineCode) -> list[tuple[Instruction, int]]:
    """Return what each instruction is wherever it is executed, and how many groups of copies it lets be in flight."""
    fixed: list[tuple[Instruction, int]] = []
    reused: dict[int, str] = {}
    for each in code.instructions:
        kind = "refused" if each.operation.startswith(REFUSED) else kind_of(each.operation)
        (even, odd), reused = register_reads(each.text, reused)
        pending = re.search(r", (0x\w+)$", each.text) if kind == "wait" else None
        reads_uniform = not each.operation.startswith("U") and kind not in _MEMORY
        instruction = Instruction(
            kind if each.predicate != "@!PT" else "other",
            code.line(each),
            pace=each.pace,
            reads=(len(even), len(odd)),
            uniform_read=reads_uniform and UNIFORM.search(each.text.partition(",")[2]) is not None,
        )
        fixed.append((instruction, int(pending[1], 16) if pending else -1))
    return fixed


def _without_costs(
    code: MachineCode, fixed: list[tuple[Instruction, int]], executed: Sequence[int], loop: tuple[int, int] | None
) -> list[Instruction]:
    """Return the stream of warps that execute these instructions, without the costs of their accesses."""
    counters: list[list[int]] = [[] for _ in range(6)]
    groups: list[list[int]] = [[]]
    first, last = loop or (-1, -1)
    last_of_loop = max((number for number, place in enumerate(executed) if first <= place <= last), default=-1)
    iteration = 0
    stream = []
    for number, place in enumerate(executed):
        each = code.instructions[place]
        instruction, pending = fixed[place]
        if instruction.kind == "refused":
            kind_of(each.operation)  # raises ValueError
        iteration += place == first
        needs: list[int] = []
        for counter in each.waits:
            needs += counters[counter]
            counters[counter] = []
        if pending >= 0:
            done = max(len(groups) - 1 - pending, 0)  # the last group is still open, and nothing waits for it
            needs += [copy for group in groups[:done] for copy in group]
            del groups[:done]
        elif instruction.kind == "commit":
            groups.append([])
        elif instruction.kind == "copy":
            groups[-1].append(number)
        stream.append(instruction._replace(needs=tuple(needs), iteration=iteration if number <= last_of_loop else 0))
        if each.result >= 0 and instruction.kind != "commit":
            counters[each.result].append(number)
    return stream


_MEMORY = ("load", "store", "shared load", "shared store", "copy")


def _with_costs(
    instruction: Instruction,
    access: WarpAccess | None,
    pitches: Mapping[str, tuple[int, int]],
    known: dict[Any, tuple[int, tuple[tuple[str, int], ...]]],
) -> Instruction:
    """Return an access with its wavefronts and sectors; one in which no lane takes part only issues."""
    if access is None:
        if instruction.kind == "shared load":
            return instruction._replace(wavefronts=1)
        return instruction._replace(kind="other")
    active = access.active
    stored = b"" if access.stored is None else access.stored[active].tobytes()
    key = access.array, access.space, access.bytes, active.tobytes(), access.addresses[active].tobytes(), stored
    if key not in known:
        sectors: tuple[tuple[str, int], ...] = ()
        if access.space == "global":
            sectors = tuple((access.array, n) for n in _sectors(access, pitches.get(access.array)))
        known[key] = _wavefronts(access), sectors
    wavefronts, sectors = known[key]
    return instruction._replace(wavefronts=wavefronts, sectors=sectors, bytes=access.bytes)


def _sectors(access: WarpAccess, pitch: tuple[int, int] | None) -> list[int]:
    first = access.addresses[access.active]
    if pitch:
        first = first // pitch[0] * pitch[1] + first % pitch[0]
    return [*map(int, np.unique(np.concatenate([first, first + access.bytes - 1]) // SECTOR_BYTES))]


def _wavefronts(access: WarpAccess) -> int:
    """Return the passes through shared memory or the first-level cache."""
    if access.space == "local":  # a thread's words lie beside those of its neighbours
        return max(1, access.bytes // WORD_BYTES)
    if access.stored is not None:
        shared, loaded = (
            np.where(access.active, addresses // access.bytes, 0)[:, None]
            for addresses in (access.stored, access.addresses)
        )
        return max(1, copy_costs(shared, loaded, access.active[:, None], access.bytes)[0])
    words = np.where(access.active, access.addresses // WORD_BYTES, NOBODY)[:, None]
    words_of_lane = max(1, access.bytes // WORD_BYTES)
    return int(busiest(words, 1)[0] if words_of_lane == 1 else in_groups(words, words_of_lane)[0][0])
