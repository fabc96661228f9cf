"""Programs of warps from a kernel's machine code: the compiler's own instructions in place of a model of the compiler.

    code = measurements.load("machine_code").result("tiled")["code"]
    warps = machine_programs(code, programs(kernel, run.trace), machine)
    waiting.play_programs(warps, machine, blocks=2)

Dependences of registers need no analysis: the compiler has written into every instruction how many cycles pass until
the warp's next one, and which counters must be down before it (:mod:`.probes.disassembly`). What the code does not
contain comes from the traced run: the sectors read from global memory, the wavefronts of shared memory, the iterations
of an inner loop. The comparison separates errors of the machine's model from errors of the compiler's model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from ..model.machine import Machine
from .instructions import Instruction, groups_arrived

#: What an operation is to the model, by the beginning of its name; the compiler writes constants into registers by
#: HFMA2. Other operations may occur around the loop that is played, not in it.
UNKNOWN = "unknown"
KINDS = {
    "SHFL": UNKNOWN,  # not a shift (SHF)
    **dict.fromkeys(("CS2R", "IADD3", "ISETP", "LEA", "LOP3", "MOV", "P2R", "PLOP3", "SEL", "SHF", "VIADD"), "integer"),
    "HFMA2": "other",
    "EXIT": "other",
    "FFMA": "multiply-add",
    "FADD": "multiply-add",
    "FMUL": "multiply-add",
    "LDGSTS": "copy",
    "LDGDEPBAR": "commit",
    "LDG": "load",
    "STG": "store",
    "LDS": "shared load",
    "STS": "shared store",
    "BAR": "barrier",
    "DEPBAR": "wait",
    "LDC": "constant",
    "S2": "constant",
    "IMAD": "multiply",
    "U": "uniform",
    "BRA": "branch",
    "BSSY": "other",
    "BSYNC": "other",
    "WARPSYNC": "other",
    "NOP": "other",
}
REGISTER = re.compile(r"\bR(\d+)")
#: A register that all lanes of a warp have in common.
UNIFORM = re.compile(r"\bUR(\d+)")
MEMORY = ("load", "store", "shared load", "shared store", "copy")
#: The most branches for which both ways are tried.
CHOICES = 10


class CodedOperation(NamedTuple):
    """A machine instruction: its kind, what it moves, and the compiler's control information about waiting.

    result: the counter that is lowered when its result is there, -1 for none; waits: the counters that must be down
    before; guarded: whether it has a predicate; off: whether that predicate is never true; target: where a branch goes.
    """

    kind: str
    text: str
    bytes: int
    pace: int
    result: int
    waits: tuple[int, ...]
    guarded: bool
    off: bool
    target: int
    reads: tuple[int, int]
    uniform_reads: frozenset[int]
    uniform_writes: frozenset[int]


def operations(code: Sequence[str]) -> list[CodedOperation]:
    """Return the instructions of recorded code; a branch's target is an index into this list, -1 outside of it."""
    places: dict[str, int] = {}
    lines: list[str] = []
    for line in code:
        if line.endswith(":"):
            places[line[:-1]] = len(lines)
        else:
            lines.append(line)
    found = []
    kept: dict[int, str] = {}  # operands kept from the instruction before, by operand place
    for line in lines:
        pace, result, _, waits, text = line.split(maxsplit=4)
        words = text.split()
        guarded = words[0].startswith("@")
        name = words[1 if guarded else 0]
        kind = next((kind for start, kind in KINDS.items() if name.startswith(start)), UNKNOWN)
        target = re.search(r"\.L\w+", text) if kind == "branch" else None
        reads, kept = _reads(text, kept)
        uniform_reads, uniform_writes = _uniform(words[1:] if guarded else words)
        width = next((int(bits) // 8 for bits in ("128", "64") if f".{bits}" in name), 4)
        found.append(
            CodedOperation(
                kind=kind,
                text=text,
                bytes=width,
                pace=int(pace),
                result=-1 if result == "-" else int(result),
                waits=() if waits == "-" else tuple(map(int, waits)),
                guarded=guarded,
                off=words[0] == "@!PT",
                target=places.get(target[0], -1) if target else -1,
                reads=reads,
                uniform_reads=uniform_reads,
                uniform_writes=uniform_writes,
            )
        )
    return found


def _reads(text: str, kept: Mapping[int, str]) -> tuple[tuple[int, int], dict[int, str]]:
    """Return how many operands an instruction reads from even and from odd registers, and the operands it keeps.

    An operand marked `.reuse` is not read again by the next instruction, if that has it in the same place.
    """
    operands = [operand.strip() for operand in text.partition(",")[2].split(",")]
    banks, read = [0, 0], set[str]()
    for place, operand in enumerate(operands):
        register = REGISTER.search(operand)
        if register and kept.get(place) != register[1] and register[1] not in read:
            read.add(register[1])
            banks[int(register[1]) % 2] += 1
            if ".64" in operand:
                banks[1 - int(register[1]) % 2] += 1
    keeps = {place: REGISTER.search(o) for place, o in enumerate(operands) if ".reuse" in o}
    return (banks[0], banks[1]), {place: register[1] for place, register in keeps.items() if register}


def _uniform(words: Sequence[str]) -> tuple[frozenset[int], frozenset[int]]:
    """Return the uniform registers that an instruction reads and those that it writes."""
    name, first, *rest = words if len(words) > 1 else [*words, ""]
    writes = UNIFORM.search(first) if name.startswith("U") or name.startswith("R2UR") else None
    pair = 2 if ".64" in name or ".WIDE" in name else 1
    written = range(int(writes[1]), int(writes[1]) + pair) if writes else ()
    read = " ".join(rest if writes else [first, *rest])
    return frozenset(map(int, UNIFORM.findall(read))), frozenset(written)


@dataclass
class Iteration:
    """The content of one iteration of a traced loop: its accesses by kind and bytes, multiply-adds and barriers."""

    multiply_adds: int
    memory: dict[tuple[str, int], list[Instruction]]
    barriers: int


def iterations_of(program: Sequence[Instruction]) -> list[Iteration]:
    """Return those iterations of a lowered program's outermost loop that multiply, in order."""
    found: dict[int, Iteration] = {}
    for instruction in program:
        iteration = found.setdefault(instruction.iteration, Iteration(0, {}, 0))
        if instruction.kind in MEMORY:
            iteration.memory.setdefault((instruction.kind, instruction.bytes), []).append(instruction)
        iteration.multiply_adds += instruction.kind == "multiply-add"
        iteration.barriers += instruction.kind == "barrier"
    return [iteration for number, iteration in sorted(found.items()) if number and iteration.multiply_adds]


def machine_programs(
    code: Sequence[str], lowered: Sequence[Sequence[Instruction]], machine: Machine
) -> list[list[Instruction]]:
    """Return the programs of a block's warps in machine instructions, from their programs as lowered from a trace.

    They hold only iterations of the outermost loop. Raise ValueError if no path through the code does what was traced,
    and for an instruction on the path that the model does not know.
    """
    ops = operations(code)
    iterations = [iterations_of(program) for program in lowered]
    if not iterations or not iterations[0]:
        raise ValueError(
            "the traced kernel has no loop that multiplies and adds, which the machine code could be matched with"
        )
    path = _path(ops, iterations[0][len(iterations[0]) // 2])
    unknown = [ops[place].text for place in path.order if ops[place].kind == UNKNOWN]
    if unknown:
        raise ValueError(f"the model of waiting does not know the instruction {unknown[0]!r} of the loop")
    return [_Emitter(ops, path, machine).run(each) for each in iterations]


class _CodePath(NamedTuple):
    """A path through the outermost loop: the operations once each, and the number of iterations of the inner loop."""

    order: list[int]
    inner: tuple[int, int]
    trips: int
    iterations: int


def _path(ops: list[CodedOperation], iteration: Iteration) -> _CodePath:
    """Return the path through a loop of the code that does what the traced iteration did."""
    back = [(op.target, place) for place, op in enumerate(ops) if op.kind == "branch" and 0 <= op.target <= place]
    outer = [loop for loop in back if not any(o[0] <= loop[0] and loop[1] <= o[1] and o != loop for o in back)]
    best: tuple[float, _CodePath] | None = None
    for start, end in outer:
        inside = [loop for loop in back if start <= loop[0] and loop[1] <= end and loop != (start, end)]
        branches = [p for p in range(start, end) if ops[p].kind == "branch" and ops[p].guarded and ops[p].target > p]
        for taken in product((False, True), repeat=min(len(branches), CHOICES)):
            choice = dict(zip(branches, taken, strict=False))
            order = _walk(ops, start, end, choice)
            for inner in [*inside, (-1, -1)]:
                scored = _fit(ops, order, inner, iteration) if order else None
                if scored is not None and (best is None or scored[0] < best[0]):
                    best = scored
    if best is None or best[0] >= 1:
        raise ValueError("no path through the machine code does what was traced")
    return best[1]


def _walk(ops: list[CodedOperation], start: int, end: int, choice: dict[int, bool]) -> list[int]:
    """Return the indices from a loop's beginning to its end, inner loops once; empty if the path leaves the loop."""
    order, place = [], start
    while place <= end:
        order.append(place)
        op = ops[place]
        forward = op.kind == "branch" and op.target > place
        if forward and (not op.guarded or choice.get(place, False)):
            place = op.target
        elif op.kind == "branch" and not op.guarded and op.target < 0:
            return []
        else:
            place += 1
    return order if order[-1] == end else []


def _fit(
    ops: list[CodedOperation], order: list[int], inner: tuple[int, int], iteration: Iteration
) -> tuple[float, _CodePath] | None:
    """Return the distance of a path from the traced iteration, and the path; None if its multiply-adds differ."""
    within = [p for p in order if inner[0] <= p <= inner[1]]
    each, whole = (sum(ops[p].kind == "multiply-add" for p in places) for places in (within, order))
    trips, iterations = 1, 1
    if inner[0] >= 0:
        if not each or (iteration.multiply_adds - whole + each) % each or iteration.multiply_adds < whole:
            return None
        trips = (iteration.multiply_adds - whole + each) // each
    elif not whole or whole % iteration.multiply_adds:
        return None
    else:
        iterations = whole // iteration.multiply_adds
    distance = 0.0
    for kind in MEMORY:
        wanted = iterations * sum(size * len(found) for (k, size), found in iteration.memory.items() if k == kind)
        sure = maybe = 0
        for p in order:
            if ops[p].kind == kind and not ops[p].off:
                amount = ops[p].bytes * (trips if inner[0] <= p <= inner[1] else 1)
                sure, maybe = (sure, maybe + amount) if ops[p].guarded else (sure + amount, maybe)
        off = max(sure - wanted, wanted - sure - maybe, 0)
        distance += off / max(wanted, 4)
    barriers = sum(ops[p].kind == "barrier" for p in order)
    distance += abs(barriers - iteration.barriers * iterations)
    # Of equivalent paths prefer the one with fewer instructions: the unrolled loop, not its remainder.
    executed = (len(order) + (trips - 1) * len(within)) / iterations
    return distance + 1e-3 * executed / (len(ops) * iteration.multiply_adds), _CodePath(order, inner, trips, iterations)


class _Emitter:
    """Follows the path through the code iteration by iteration, and tracks the counters."""

    def __init__(self, ops: list[CodedOperation], path: _CodePath, machine: Machine) -> None:
        self.ops, self.path, self.machine = ops, path, machine
        self.out: list[Instruction] = []
        self.counters: list[list[int]] = [[] for _ in range(6)]
        self.groups: list[list[int]] = [[]]
        inside = {p for p in path.order if path.inner[0] <= p <= path.inner[1]}
        first = next((i for i, p in enumerate(path.order) if p in inside), 0)
        before, rest = path.order[:first], path.order[first:]
        loop, after = [p for p in rest if p in inside], [p for p in rest if p not in inside]
        self.places = [*before, *loop * path.trips, *after]
        self.changing = frozenset[int]().union(*(ops[place].uniform_writes for place in self.places))

    def run(self, iterations: Sequence[Iteration]) -> list[Instruction]:
        """Return one warp's program."""
        for number in range(0, len(iterations) - self.path.iterations + 1, self.path.iterations):
            memory: dict[str, list[Instruction]] = {}
            for iteration in iterations[number : number + self.path.iterations]:
                for (kind, _), found in iteration.memory.items():
                    memory.setdefault(kind, []).extend(found)
            left = {kind: [sum(i.bytes for i in found), found] for kind, found in memory.items()}
            for place in self.places:
                self._operation(self.ops[place], left, number + 1)
        return self.out

    def _operation(self, op: CodedOperation, left: dict[str, list[object]], iteration: int) -> None:
        kind = op.kind
        needs: list[int] = []
        for counter in op.waits:
            needs += self.counters[counter]
            self.counters[counter] = []
        made = Instruction("integer", 0, tuple(needs), pace=op.pace, iteration=iteration, reads=op.reads)
        if kind != "uniform" and not op.uniform_reads.isdisjoint(self.changing):
            made = made._replace(uniform_read=True)
        if kind in MEMORY:
            made = self._access(op, made, left)
        elif kind == "wait" and "," in op.text:
            pending = int(op.text.rsplit(",", 1)[1], 16)
            done = groups_arrived(self.groups, pending)
            made = made._replace(kind="wait", needs=(*needs, *(p for group in done for p in group)))
            del self.groups[: len(done)]
        elif kind == "commit":
            self.groups.append([])
            made = made._replace(kind="commit")
        elif kind in ("multiply-add", "multiply", "uniform", "constant", "barrier", "branch", "other"):
            made = made._replace(kind=kind)
        self.out.append(made)
        if op.result >= 0 and kind != "commit":
            self.counters[op.result].append(len(self.out) - 1)

    def _access(self, op: CodedOperation, made: Instruction, left: dict[str, list[object]]) -> Instruction:
        """Return an access with its part of what the traced iteration moved; with nothing left, it only issues."""
        room, found = left.get(op.kind, [0, []])
        assert isinstance(room, int) and isinstance(found, list)
        if op.off or room <= 0:
            return made._replace(kind="other")
        left[op.kind][0] = room - op.bytes
        alike = [i for i in found if i.bytes == op.bytes]
        if alike:
            chosen = alike[0]
            found.remove(chosen)
            wavefronts, sectors = chosen.wavefronts, chosen.sectors
        elif found and found[0].bytes > op.bytes:  # the compiler did not join what the lowering joined
            wavefronts, sectors = 1, found[0].sectors
        else:  # or joined what that did not
            parts = found[: op.bytes // 4]
            del found[: len(parts)]
            wavefronts = max(1, round(sum(i.wavefronts for i in parts) / 2)) if parts else 1
            sectors = tuple(sorted({sector for i in parts for sector in i.sectors}))
        made = made._replace(kind=op.kind, wavefronts=wavefronts, sectors=sectors, bytes=op.bytes)
        if op.kind == "copy":
            self.groups[-1].append(len(self.out))
        return made


def register_bank_conflicts(code: Sequence[str]) -> tuple[int, int]:
    """Return the number of multiply-adds that read two registers of one bank, and the number of all multiply-adds.

    Even registers are one bank, odd ones the other. An operand that the instruction before kept (.reuse) in the same
    place is not read again.
    """
    conflicts = multiply_adds = 0
    kept: list[str | None] = [None] * 3
    for line in code:
        found = re.search(r"FFMA \w+, (\w+)(\.reuse)?, (\w+)(\.reuse)?, (\w+)(\.reuse)?$", line)
        if found is None:
            kept = [None] * 3
            continue
        operands, reused = found.groups()[::2], found.groups()[1::2]
        read = {name for name, before in zip(operands, kept, strict=True) if name not in ("RZ", before)}
        conflicts += len(read) > len({int(name[1:]) % 2 for name in read})
        multiply_adds += 1
        kept = [name if again else None for name, again in zip(operands, reused, strict=True)]
    return conflicts, multiply_adds
