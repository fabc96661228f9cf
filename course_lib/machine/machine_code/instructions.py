"""The machine code of a kernel: its instructions, with the compiler's control information and the source lines.

These GPUs do not track dependences in hardware: the compiler states them in the instruction itself, in 21 bits that the
disassembler does not print. They hold the cycles until the warp may issue its next instruction (up to 15), a counter to
lower when the result is there, one to lower when the operands have been read, and the counters that must be down before
this instruction issues.
Source: Jia, Maggioni, Staiger, Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018),
section 2.1, on the 128-bit instructions, which have kept their places since.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

#: First bit of the control information in the upper 64 bits of an instruction.
CONTROL = 41
#: The number that means no counter.
NONE = 7
REGISTER = re.compile(r"\bR(\d+)")
#: A register that all lanes of a warp have in common.
UNIFORM = re.compile(r"\bUR(\d+)")
PREDICATE = re.compile(r"(@!?U?P\w+)\s+")

#: A function of the source, by its name, and a line: counted from the function's first one, which is 0.
Place = tuple[str, int]


class MachineInstruction(NamedTuple):
    """A machine instruction, with what the compiler wrote into it about waiting.

    pace: cycles until the warp may issue the next one; yields: whether the scheduler should then change warps; result,
    operands: the counter lowered with the result, and that lowered when the operands have been read, -1 for none;
    waits: the counters that must be down before. places: the source that it comes from, the innermost function first
    and the kernel last; empty where the compiler names none. target: of a branch or a call, an index into the
    instructions, else -1.

    >>> code = machine_code.machine_code(rung("naive").make(), matrices(8, 8, 8))
    >>> any("FFMA" in instruction.text for instruction in code.instructions)
    True
    """

    text: str
    pace: int
    yields: bool
    result: int
    operands: int
    waits: tuple[int, ...]
    places: tuple[tuple[str, int], ...]
    target: int

    @property
    def predicate(self) -> str:
        """The predicate before the operation, such as "@!P0"; empty for none."""
        found = PREDICATE.match(self.text)
        return found[1] if found else ""

    @property
    def operation(self) -> str:
        """The operation with its modifiers, such as "IMAD.WIDE"."""
        return self.text.split()[1 if self.predicate else 0]


@dataclass(frozen=True)
class MachineCode:
    """A compiled kernel. Bytes of shared memory are those of a block, of the stack and of spills those of a thread.

    ``spilled_bytes`` are what spilling stores. ``first_lines`` has, for each function in the instructions' places, its
    file and the line on which it begins. ``versions`` names compiler packages; ``recorded``: whether this code was
    recorded, not compiled here.

    >>> code = machine_code.machine_code(rung("naive").make(), matrices(8, 8, 8))
    >>> code.kernel, code.shared_bytes, code.spilled_bytes
    ('naive', 0, 0)
    """

    kernel: str
    instructions: tuple[MachineInstruction, ...]
    registers: int
    shared_bytes: int
    stack_bytes: int
    spilled_bytes: int
    versions: Mapping[str, str] = field(default_factory=dict)
    first_lines: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    recorded: bool = False

    def line(self, instruction: MachineInstruction) -> int:
        """Return the kernel's own line that an instruction comes from, 0 for none."""
        if not instruction.places:
            return 0
        function, offset = instruction.places[-1]
        return self.first_lines[function][1] + offset if function in self.first_lines else 0

    def source_line(self, instruction: MachineInstruction) -> int:
        """Return the line on which the simulator counts an instruction's access, 0 for none.

        It is the innermost one in the kernel's own file.
        """
        own, _ = self.first_lines.get(self.kernel, ("", 0))
        for function, offset in instruction.places:
            file, first = self.first_lines.get(function, ("", 0))
            if file and file == own:
                return first + offset
        return 0

    @cached_property
    def loops(self) -> tuple[tuple[int, int], ...]:
        """The first and the last instruction of each loop, the outer ones first."""
        back = {(each.target, place) for place, each in enumerate(self.instructions) if 0 <= each.target < place}
        widest: dict[int, int] = {}
        for first, last in back:  # several branches back to one instruction are one loop
            widest[first] = max(last, widest.get(first, 0))
        return tuple(sorted(widest.items(), key=lambda loop: (loop[0], -loop[1])))

    def text(self) -> list[str]:
        """Return the instructions as lines (see `from_text`)."""
        table: dict[tuple[Place, ...], int] = {}
        lines = []
        for each in self.instructions:
            place = table.setdefault(each.places, len(table))
            counters = ("-" if c < 0 else str(c) for c in (each.result, each.operands))
            control = f"{each.pace}{'y' if each.yields else ''} {' '.join(counters)}"
            waits = "".join(map(str, each.waits)) or "-"
            lines.append(f"{control} {waits} {place} {each.target}  {each.text}")
        places = [";".join(f"{function}:{offset}" for function, offset in place) for place in table]
        return [*places, "", *lines]


def from_text(lines: list[str]) -> tuple[MachineInstruction, ...]:
    """Return the instructions that `MachineCode.text` wrote: the table of places, an empty line, the instructions."""
    end = lines.index("")
    table: list[tuple[Place, ...]] = []
    for line in lines[:end]:
        parts = (part.rpartition(":") for part in line.split(";") if part)
        table.append(tuple((function, int(offset)) for function, _, offset in parts))
    found = []
    for line in lines[end + 1 :]:
        pace, result, operands, waits, place, target, text = line.split(maxsplit=6)
        found.append(
            MachineInstruction(
                text=text,
                pace=int(pace.rstrip("y")),
                yields=pace.endswith("y"),
                result=-1 if result == "-" else int(result),
                operands=-1 if operands == "-" else int(operands),
                waits=() if waits == "-" else tuple(map(int, waits)),
                places=table[int(place)],
                target=int(target),
            )
        )
    return tuple(found)


SOURCE = re.compile(r'//## File "(.*?)", line (\d+)')
INLINED = re.compile(r'inlined at "(.*?)", line (\d+)')


def from_listing(
    listing: str, functions: Mapping[str, Mapping[str, tuple[int, int]]]
) -> tuple[MachineInstruction, ...]:
    """Return the instructions of what nvdisasm prints with the bits of instructions and the lines of the source.

    functions: of each file, the functions by name, with their first and last lines.
    """
    labels: dict[str, int] = {}
    found: list[MachineInstruction] = []
    targets: list[str] = []
    chain: list[tuple[str, int]] = []
    places: tuple[Place, ...] = ()
    fresh = False

    for line in listing.splitlines():
        if source := SOURCE.search(line):
            if not fresh:
                chain = []
                fresh = True
            at = source[1], int(source[2])
            if not chain or chain[-1] != at:
                chain.append(at)
            if inlined := INLINED.search(line):
                chain.append((inlined[1], int(inlined[2])))
            places = tuple(_place(functions, *at) for at in chain)
        elif label := re.match(r"\s*(\.L\w+|\$[\w$]+):", line):
            labels[label[1]] = len(found)
        elif operation := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.+?)\s*;\s*/\* 0x[0-9a-f]{16} \*/", line):
            fresh = False
            text = " ".join(re.sub(r'\(\*".*?"\*\)', "", operation[1]).split())  # without remarks, such as of spills
            target = re.search(r"`\((\.L\w+|\$[\w$]+)\)", text) if re.search("BRA|CALL", text) else None
            targets.append(target[1] if target else "")
            found.append(MachineInstruction(text, 0, False, -1, -1, (), places, -1))
        elif bits := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$", line):
            found[-1] = found[-1]._replace(**control(int(bits[1], 16)))
    instructions = [
        each._replace(target=labels.get(target, -1) if target else -1)
        for each, target in zip(found, targets, strict=True)
    ]
    while instructions and instructions[-1].operation == "NOP":  # the code ends on a whole line
        instructions.pop()
    return tuple(instructions)


def _place(functions: Mapping[str, Mapping[str, tuple[int, int]]], file: str, line: int) -> Place:
    for name, (first, last) in functions.get(file, {}).items():
        if first <= line <= last:
            return name, line - first
    return file.replace("\\", "/").rpartition("/")[2], line


def control(upper: int) -> dict[str, Any]:
    """Return the control information in the upper 64 bits of an instruction, by the fields of MachineInstruction."""
    bits = upper >> CONTROL
    result = bits >> 5 & 7
    operands = bits >> 8 & 7
    waits = bits >> 11 & 63
    return {
        "pace": bits & 15,
        "yields": not bits >> 4 & 1,
        "result": -1 if result == NONE else result,
        "operands": -1 if operands == NONE else operands,
        "waits": tuple(i for i in range(6) if waits >> i & 1),
    }
