"""A launch as written and as compiled: the counts of each source line beside those of its machine code, with the cause.

The source's counts are the simulator's; those of the machine code come from executing it, for the same launch. Where
they differ, words say why (`CAUSES`): they follow from the bytes that the lanes move, the width of the instructions,
and whether these are inside of a loop.
"""

import ast
import copy
import html
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...simulator.device_memory import AllocationView
from ...simulator.formatting import html_table, plural
from ...simulator.language.source.reading import read
from ...simulator.run import TrafficRow
from ..simulated_launch import Simulated
from .emulator import decoded
from .identity import functions_of
from .instructions import MachineCode, MachineInstruction
from .operations import UnknownInstruction
from .traffic import InstructionTraffic, Place, kinds_of, launch_traffic

#: What a compiler does to accesses, in a word, and what it means.
CAUSES = {
    "joined": "one access serves several of the source",
    "widened": "one access moves neighbouring elements",
    "hoisted": "made before the loop, not in each iteration",
    "split": "the lanes of a warp make it at different times",
    "in parts": "one access of the source is several",
    "moved": "the compiler names another line for it",
    "ahead": "made before it is known whether it is needed",
    "retried": "the update is a loop of loads and compare-and-swaps",
    "repeated": "lanes on one word are served one after another",
    "no lane": "the instruction counts also for warps of which no lane takes part",
}
#: Where there is no machine code.
WITHOUT = (
    "A compiler may join, widen, hoist or split the accesses that the source asks for, and a GPU counts what it made"
)
#: Instructions of a launch's warps, executed together, after which it is not compared: they take some ten seconds.
MOST = 200_000


class RequestCounts(NamedTuple):
    """Requests, and the sectors of global or the wavefronts of shared memory."""

    requests: int = 0
    amount: int = 0

    def text(self, space: str) -> str:
        """Return them as words."""
        return f"{plural(self.requests, 'request')}, {plural(self.amount, AMOUNT[space])}"


def total(counts: Iterable[RequestCounts]) -> RequestCounts:
    """Return the sums of counts."""
    requests, amounts = zip(*counts, strict=True)
    return RequestCounts(sum(requests), sum(amounts))


#: What is counted of a space beside requests.
AMOUNT = {"global": "sector", "shared": "wavefront"}
#: The operations of a space.
OPS = {"load": "loads", "store": "stores", "atomic": "atomics"}
#: A source line, the array if it is known to both sides (else ""), the space and the operation.
Key = tuple[int, str, str, str]


@dataclass(frozen=True)
class Beside:
    """The counts of a line's accesses as written and as compiled; ``causes`` are words of `CAUSES`."""

    line: int
    array: str
    space: str
    op: str
    written: RequestCounts
    compiled: RequestCounts
    causes: tuple[str, ...] = ()

    @property
    def accesses(self) -> str:
        """What is counted, such as "global loads of A"."""
        return f"{self.space} {OPS[self.op]}{f' of {self.array}' if self.array else ''}"

    def __str__(self) -> str:
        text = f"{self.accesses}: as written {self.written.text(self.space)}"
        if self.written == self.compiled:
            return f"{text} / as compiled the same"
        why = "; ".join(f"{word}: {CAUSES[word]}" for word in self.causes)
        return f"{text} / as compiled {self.compiled.text(self.space)}{f' ({why})' if why else ''}"


@dataclass(frozen=True)
class AsCompiled:
    """A launch as written and as compiled, by lines.

    source: the text of each line. unknown: for each line with an instruction that the emulator does not know, the
    operation. why: the reason for which the launch was not executed, empty if it was.
    """

    rows: tuple[Beside, ...]
    source: Mapping[int, str]
    unknown: Mapping[int, str]
    why: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        names = ("line", "array", "space", "op", "written", "compiled", "causes")
        rows = [{name: getattr(row, name) for name in names} for row in self.rows]
        for row in rows:
            row |= {side: {"requests": row[side][0], AMOUNT[row["space"]] + "s": row[side][1]} for side in names[4:6]}
        return {"rows": rows, "not_executed": self.why}

    def totals(self) -> Iterator[Beside]:
        """Yield the sums of each space and operation."""
        for space, op in dict.fromkeys((row.space, row.op) for row in self.rows):
            rows = [row for row in self.rows if (row.space, row.op) == (space, op)]
            yield Beside(0, "", space, op, total(r.written for r in rows), total(r.compiled for r in rows))

    def __str__(self) -> str:
        lines = ["As written (the source) and as compiled (its machine code, executed; what Nsight Compute counts)"]
        if self.why:
            lines = [f"As written alone, since the machine code was not executed: {self.why}"]
        for number in sorted({row.line for row in self.rows} | self.unknown.keys()):
            lines.append(f"{number or '':>5} | {self.source.get(number, '(no line)').strip()}")
            said = [str(row) for row in self.rows if row.line == number]
            lines += [f"        {text.partition(' / ')[0] if self.why else text}" for text in said]
            if number in self.unknown:
                lines.append(f"        not executed: {self.unknown[number]}")
        if not self.why:
            lines += ["  all lines", *(f"        {row}" for row in self.totals())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        every = ("line", "accesses", "as written", "as compiled", "why")
        head = every[:3] if self.why else every
        cells = []
        for row in (*sorted(self.rows, key=lambda row: row.line), *(() if self.why else self.totals())):
            made = "the same" if row.written == row.compiled else row.compiled.text(row.space)
            line = str(row.line) if row.line else "all" if row not in self.rows else ""
            cells.append((line, row.accesses, row.written.text(row.space), made, ", ".join(row.causes))[: len(head)])
        cells += [
            (str(line), "not executed", operation, "", "")[: len(head)] for line, operation in self.unknown.items()
        ]
        words = dict.fromkeys(word for row in self.rows for word in row.causes)
        said = [f"The machine code was not executed: {self.why}."] if self.why else []
        said += [f"{word}: {CAUSES[word]}." for word in words]
        below = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in said)
        return f"{html_table([head, *cells], left=range(1, len(head)))}{below}"


def as_compiled(code: MachineCode, made: Simulated, most: int = MOST) -> AsCompiled:
    """Execute the machine code of a launch that was simulated, and return its counts beside those of the simulator.

    A launch that the emulator cannot execute has the source's counts alone, with the reason. most: instructions of the
    launch's warps, executed together, after which it is given up.
    """
    plain = getattr(made.kernel, "py_func", made.kernel)
    names = [*inspect.signature(plain).parameters]
    written = _written(made.run.traffic.rows, names)
    given = copy.deepcopy([value.values if isinstance(value, AllocationView) else value for value in made.before])
    run = made.run
    try:
        traffic = launch_traffic(
            code, given, run.block, run.grid, names=names, dynamic_bytes=made.shared_bytes, most=most
        )
        _check_values(given, made, code)
    except ValueError as error:
        unknown = {source_line(code, each): each.operation for each in code.instructions if not _known(each)}
        what = "the emulator does not know " if isinstance(error, UnknownInstruction) else ""
        alone = (Beside(*key, asked.sums, asked.sums) for key, asked in written.items())
        return AsCompiled(tuple(alone), dict(run.source.lines), unknown, f"{what}{error}")
    rows = _beside(written, _instructions(code, traffic, written), KernelText.of(plain), code)
    return AsCompiled(tuple(rows), dict(run.source.lines), {})


def _check_values(given: Sequence[Any], made: Simulated, code: MachineCode) -> None:
    """Raise ValueError if the machine code leaves other values than the simulator, where their order cannot be why."""
    atomics = any(op == "atomic" for each in code.instructions for _, op in kinds_of(each.operation))
    if made.run.errors or atomics:
        return
    for mine, right in zip(given, made.after, strict=True):
        if isinstance(mine, np.ndarray):
            right = right.values if isinstance(right, AllocationView) else right
            exact = mine.dtype.kind not in "fc"
            close = np.array_equal(mine, right) if exact else np.allclose(mine, right, 1e-3, 1e-5, equal_nan=True)
            if not close:
                raise ValueError("it leaves other values than the source, so that its counts are not shown")


def _known(each: MachineInstruction) -> bool:
    """Return whether the emulator executes an instruction."""
    try:
        decoded(each.text)
    except UnknownInstruction:
        return False
    return True


def source_line(code: MachineCode, instruction: MachineInstruction) -> int:
    """Return the line on which the simulator counts an instruction's access, 0 for none.

    It is the innermost one in the kernel's own file.
    """
    own = code.first_lines.get(code.kernel, ("", 0))[0]
    for function, offset in instruction.places:
        file, first = code.first_lines.get(function, ("", 0))
        if file and file == own:
            return first + offset
    return 0


@dataclass
class AsWritten:
    """What the source asks for in one line: the counts, the accesses of lanes, all their bytes, and the most of one."""

    sums: RequestCounts = RequestCounts()
    accesses: int = 0
    bytes: int = 0
    itemsize: int = 1


def _written(rows: Sequence[TrafficRow], names: Sequence[str]) -> dict[Key, AsWritten]:
    """Return the source's counts. In a line with an array that is no parameter, such as a view, arrays are together."""
    found: dict[Key, AsWritten] = {}
    views = {row.line for row in rows if row.space == "global" and row.array not in names}
    for row in rows:
        if row.space not in AMOUNT:
            continue
        key = row.line, row.array if row.space == "global" and row.line not in views else "", row.space, row.op
        old = found.get(key, AsWritten())
        wavefronts = row.atomic_wavefronts if row.op == "atomic" else row.wavefronts
        amount = row.sectors if row.space == "global" else wavefronts
        found[key] = AsWritten(
            RequestCounts(old.sums.requests + row.requests, old.sums.amount + amount),
            old.accesses + row.accesses,
            old.bytes + row.bytes,
            max(old.itemsize, row.itemsize),
        )
    return found


#: The instructions of a line, an array, a space and an operation, by their places in the code.
Instructions = dict[int, InstructionTraffic]


def _instructions(
    code: MachineCode, traffic: Mapping[Place, InstructionTraffic], written: Mapping[Key, AsWritten]
) -> dict[Key, Instructions]:
    """Return the instructions of each key.

    Where the source has no access in the line that the compiler names, they belong to the line that lacks most bytes
    of the same array, which is how a load gets out of a loop.
    """
    found: dict[Key, Instructions] = {}
    for (place, _), each in traffic.items():
        if each.space in AMOUNT:
            line = source_line(code, code.instructions[place])
            array = next(iter(each.arrays), "") if each.space == "global" and len(each.arrays) == 1 else ""
            together = line, "", each.space, each.op
            key = together if together in written else (line, array, each.space, each.op)
            found.setdefault(key, {})[place] = each
    for key in [key for key in found if key not in written and key[1]]:
        lacks = {other: asked.bytes - _bytes(found.get(other, {})) for other, asked in written.items()}
        alike = {other: bytes_ for other, bytes_ in lacks.items() if other[1:] == key[1:] and bytes_ > 0}
        if alike:
            found.setdefault(max(alike, key=alike.__getitem__), {}).update(found.pop(key))
    return found


def _bytes(does: Instructions) -> int:
    return sum(each.lanes * each.bytes for each in does.values())


def _beside(
    written: Mapping[Key, AsWritten], made: Mapping[Key, Instructions], source: "KernelText", code: MachineCode
) -> Iterator[Beside]:
    for key in sorted(written.keys() | made.keys()):
        line, array, space, op = key
        asked = written.get(key, AsWritten())
        does = made.get(key, {})
        amount = sum(each.sectors if space == "global" else each.wavefronts for each in does.values())
        counts = RequestCounts(sum(each.counted for each in does.values()), amount)
        if any(asked.sums) or any(counts):
            alike = [other for other in written.keys() | made.keys() if other[1:] == key[1:]]
            asked_of_all = sum(written[other].bytes for other in alike if other in written)
            moved_of_all = sum(_bytes(made[other]) for other in alike if other in made)
            asked_for = sum(written[other].sums.requests for other in alike if other in written)
            requests = sum(each.requests for other in alike for each in made.get(other, {}).values())
            retried = any(each.how in ("CAS", "CAST") for each in made.get((line, array, space, "atomic"), {}).values())
            difference = Difference(
                line, array, op, asked, does, moved_of_all - asked_of_all, requests < asked_for, retried
            )
            causes = () if counts == asked.sums else tuple(difference.causes(source, code))
            yield Beside(line, array, space, op, asked.sums, counts, causes)


@dataclass(frozen=True)
class KernelText:
    """What the text of a kernel and its device functions says: lines in loops, and how often a line has an array."""

    loops: frozenset[int]
    loads: Counter[tuple[int, str]]

    @classmethod
    def of(cls, plain: Any) -> "KernelText":
        loops, loads = set[int](), Counter[tuple[int, str]]()
        for function in functions_of(plain).values():
            for node in ast.walk(read(function).tree):
                if isinstance(node, ast.For | ast.While):
                    first = node.body[0].lineno if isinstance(node, ast.For) else node.lineno
                    loops |= {*range(first, (node.end_lineno or first) + 1)}
                if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                    loads[node.lineno, node.value.id] += isinstance(node.ctx, ast.Load)
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                    loads[node.lineno, ast.unparse(node.target.value)] += 1
        return cls(frozenset(loops), loads)

    def sites(self, line: int, array: str) -> int:
        """Return how often a line loads from an array; from any, if that is not known."""
        return sum(n for (where, name), n in self.loads.items() if where == line and array in ("", name))


@dataclass(frozen=True)
class Difference:
    """A line's accesses of one kind: what the source asks for, and the instructions that do it.

    beyond: the bytes that all instructions of this kind move more than all lines ask for; fewer: whether they make
    fewer requests than these. retried: whether it updates memory in a loop of compare-and-swaps.
    """

    line: int
    array: str
    op: str
    asked: AsWritten
    does: Instructions
    beyond: int
    fewer: bool
    retried: bool

    def causes(self, source: KernelText, code: MachineCode) -> Iterator[str]:
        """Yield the words that say why the counts differ."""
        if self.retried:
            yield "retried"
        elif self.op == "atomic":
            yield from self._of_atomics()
        else:
            yield from self._of_loads_and_stores(source, code)
        if self._without_lanes():
            yield "no lane"

    def _without_lanes(self) -> bool:
        return any(each.counted > each.requests for each in self.does.values())

    def _of_atomics(self) -> Iterator[str]:
        """Yield the words of atomics. That one lane updates a word for its warp is none: in the source's counts the
        lanes on one word are together, too."""
        if sum(each.requests for each in self.does.values()) > self.asked.sums.requests:
            yield "split"
        yield "repeated"

    def _of_loads_and_stores(self, source: KernelText, code: MachineCode) -> Iterator[str]:
        asked = self.asked
        does = {place: each for place, each in self.does.items() if each.requests}
        moved = _bytes(does)
        requests = sum(each.requests for each in does.values())
        wide = any(each.bytes > asked.itemsize for each in does.values())
        if wide and asked.accesses:
            yield "widened"
        if does and all(each.bytes < asked.itemsize for each in does.values()):
            yield "in parts"
        elif moved > asked.bytes:
            yield "moved" if self.beyond <= 0 else "ahead"
        elif moved < asked.bytes:
            elsewhere = self.beyond == 0 and not self.fewer
            yield "moved" if elsewhere else "hoisted" if self._out_of_a_loop(source, code) else "joined"
        elif requests < asked.sums.requests:
            if not wide:
                yield "joined"
        elif not wide and (requests > asked.sums.requests or not self._without_lanes()):
            yield "split"

    def _out_of_a_loop(self, source: KernelText, code: MachineCode) -> bool:
        """Return whether instructions for a line in a loop are outside of every loop of the machine code, which was not
        unrolled: it has no more of them than the line has loads."""
        outside = [p for p in self.does if not any(first <= p <= last for first, last in code.loops)]
        few = len(outside) <= max(1, source.sites(self.line, self.array))
        return bool(outside) and self.line in source.loops and few
