"""Machine instructions that the compiler makes of a tile's indices and guards, as recorded code shows them.

An idiom is a short program in the names of the machine's operations. A line is a result, an operation, and the results
that it depends on; `*` is the input of the idiom. The latency of a result is fixed for all but LDC and S2UR,
and the compiler writes into every instruction how many cycles pass until the next: its pace (:mod:`scheduling`). The
numbers are those that it writes (:mod:`.probes.disassembly`): a comparison guards or branches 13 cycles later, a sum
can be used after 5, a product after 4; a unit of 16 lanes takes an instruction every second cycle, and the path to
memory a request every fourth.
"""

from __future__ import annotations

from typing import NamedTuple


class IdiomPart(NamedTuple):
    """An instruction of an idiom; `needs` are places in the idiom, -1 for its input.

    latency: cycles until its result can be used, 0 where the dependent instruction waits for it; holds: the least
    number of cycles until the warp's next instruction.
    """

    kind: str
    needs: tuple[int, ...]
    latency: int
    holds: int


#: Operations by the beginning of their names: kind, cycles until the result, cycles until the next instruction.
OPERATIONS = {
    "ISETP.EX": ("integer", 13, 1),
    "ISETP": ("integer", 4, 1),
    "FSETP": ("integer", 13, 1),
    "PLOP3": ("integer", 13, 1),
    "IMAD": ("multiply", 4, 1),
    "BRA": ("branch", 1, 5),
    "BSYNC": ("other", 1, 5),
    "BSSY": ("other", 1, 1),
    "NOP": ("other", 1, 1),
    "LDC": ("constant", 0, 1),
    "S2UR": ("constant", 0, 1),
    "U": ("uniform", 4, 1),
    "": ("integer", 5, 1),
}
#: Latency of the multiply-add, equal to that of a product. These cycles are the compiler's own table, as it writes them
#: into code; a test compares them with the measured ones.
MULTIPLY_ADD = OPERATIONS["IMAD"][1]
#: For each kind of instruction its unit, and the cycles from one to the next that the compiler assumes.
UNIT = {
    **{kind: (kind, 2) for kind in ("integer", "multiply", "uniform")},
    **dict.fromkeys(("load", "copy", "store", "shared load", "shared store"), ("path", 4)),
}


def idiom(text: str) -> tuple[IdiomPart, ...]:
    """Read an idiom: parts "result operation needs …", one a line or separated by semicolons."""
    places = {"*": -1}
    parts: list[IdiomPart] = []
    for line in filter(None, (line.strip() for line in text.replace(";", "\n").splitlines())):
        result, operation, *needs = line.split()
        kind, latency, holds = next(each for name, each in OPERATIONS.items() if operation.startswith(name))
        parts.append(IdiomPart(kind, tuple(places[need] for need in needs), latency, holds))
        places[result] = len(parts) - 1
    return tuple(parts)


#: A 64-bit sum; one that is updated every iteration; one of values that all threads have in common.
SUM = idiom("a IADD3 *; b IADD3.X a")
ADVANCED_SUM = idiom("a IADD3; b IMAD.X a")
UNIFORM_SUM = idiom("a UIADD3 *; b UIADD3.X a")
#: A 64-bit comparison; with a bound read from the kernel's arguments; beside another comparison.
COMPARE = idiom("a ISETP *; p ISETP.EX a")
COMPARE_ARGUMENT = idiom("k LDC; a ISETP * k; p ISETP.EX a k")
COMPARE_UNIFORM = idiom("a UISETP *; b UISETP.EX a; p PLOP3 b")
#: A comparison of a number that was loaded or computed.
COMPARE_VALUE = idiom("p FSETP *")
#: A branch around guarded code, and where its two paths join. A value that was not loaded is set to 0.
BRANCH = idiom("s BSSY; b BRA * s")
JUMP = idiom("b BRA *")
MEET = idiom("e BSYNC *")
ZERO = idiom("z IMAD.MOV")
#: The address of an element along a row, or down a column; the first four test for negative indices, as numba does.
ALONG_ROW = idiom(
    """s SHF *; t SHF *; w IMAD.WIDE *; a LOP3 s; b LOP3 t; m IMAD; n IMAD m
    j IADD3 a w; k IADD3.X b j n; x LEA k; y LEA.HI.X x"""
)
ALONG_COLUMN = idiom(
    """s SHF *; t SHF *; a LOP3 s; b LOP3 t; j IADD3 a; k IMAD.X b j; m IMAD k; w IMAD.WIDE j
    n IMAD m; x LEA w; h IMAD.IADD w n; y LEA.HI.X x h"""
)
#: The same under a predicate: the array's length and address are read from the kernel's arguments.
COLUMN_IF = idiom(
    """l LDC *; s SHF *; t SHF *; c LDC *; a LOP3 s l; b LOP3 t l; j IADD3 a; k IMAD.X b j; m IMAD k; w IMAD.WIDE j
    n IMAD m; x LEA w c; h IMAD.IADD w n; y LEA.HI.X x h"""
)
ROW_IF = idiom(
    """l LDC *; s SHF *; t SHF *; c LDC *; w IMAD.WIDE *; a LOP3 s l; b LOP3 t l; m IMAD; n IMAD m
    j IADD3 a w; k IADD3.X b j n; x LEA k c; y LEA.HI.X x"""
)
#: An address without that test, and a pointer that is only advanced.
UNSIGNED = idiom("s SHF *; t IMAD.SHL *; u ULDC; v ULDC; m IMAD *; w IMAD.WIDE t; n IMAD m; j IADD3 w; k IADD3.X j s n")
ADVANCED = idiom("u IMAD.U32; j LEA u; k IADD3.X j")
#: A varying address in shared memory: the shared window first, then the arrays' beginnings.
SHARED = idiom("c S2UR; u UMOV; l ULOP3 *; h ULEA.HI l; s USHF h; v VIADD s; b ULEA c u; x LEA v b")
STORED = idiom("l ULOP3 *; h ULEA.HI l; v IMAD.U32 h; m IMAD.U32 v; s IMAD.SHL m")
SHARED_ALSO = idiom("v UIADD3; b ULEA v; j VIADD; x LEA j b *")
SHARED_AGAIN = idiom("i IMAD *; j IMAD.U32 *; x LEA i; y LEA j")
COPIED = idiom(
    """c S2UR *; a IADD3 *; u UMOV; v IMAD.U32 u; s IMAD.SHL a; i IMAD s; w IMAD.U32 c; x LEA w v; y IADD3.X a
    j IMAD.IADD x i"""
)
COPIED_AGAIN = idiom("v VIADD *; s IMAD.SHL *; x LEA v; y LEA s; j IMAD.IADD x y")
#: Slots that the compiler leaves before an asynchronous copy.
BEFORE_COPY = idiom("a NOP *; b NOP *; c NOP *")
#: What a function that loads only inside the matrix compares first, without the sum; it is a branch.
GUARDED = idiom("u ULDC; s BSSY; a ISETP * u; p ISETP.EX a; b BRA p s")
UNIFORM_CHOICE = idiom("a UISETP *; b UISETP.EX a; s USEL b; t USEL b")
#: An iteration of a loop: it counts down, updates its variable, and branches back.
ITERATION = idiom(
    """a ISETP; u UIADD3; p ISETP.EX a; v UIADD3.X u; w UMOV; x UMOV; y UMOV; z UMOV
    s SEL p; c IADD3 s; d IMAD.X c; e BRA d"""
)
