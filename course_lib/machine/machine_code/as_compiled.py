"""A launch as written and as compiled: the counts of each source line beside those of its machine code, with the cause.

The source's counts are the simulator's (`source_counts`); those of the machine code come from executing it, for the
same launch (`traffic`). Where they differ, words say why (`causes`).
"""

import html
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...simulator.formatting import html_table
from ..simulated_launch import Simulated
from .causes import CAUSES, Difference, Instructions, KernelText, bytes_of
from .emulator import unknown_instructions
from .instructions import MachineCode
from .operations import UnknownInstruction
from .source_counts import AMOUNT, Key, RequestCounts, SourceCounts, source_counts, total
from .traffic import InstructionTraffic, Place, checked_traffic

#: Where there is no machine code.
WITHOUT = (
    "A compiler may make other accesses than the source asks for, for example one in the place of two, and a GPU "
    "counts those"
)
#: Instructions of a launch's warps, executed together, after which it is not compared: they take some ten seconds.
MAX_INSTRUCTIONS = 200_000
#: The operations of a space.
OPS = {"load": "loads", "store": "stores", "atomic": "atomics"}


@dataclass(frozen=True)
class ComparedCounts:
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

    rows: tuple[ComparedCounts, ...]
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

    def totals(self) -> Iterator[ComparedCounts]:
        """Yield the sums of each space and operation."""
        for space, op in dict.fromkeys((row.space, row.op) for row in self.rows):
            rows = [row for row in self.rows if (row.space, row.op) == (space, op)]
            yield ComparedCounts(
                0, "", space, op, total(row.written for row in rows), total(row.compiled for row in rows)
            )

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
            written = row.written.text(row.space)
            compiled = "the same" if row.written == row.compiled else row.compiled.text(row.space)
            line = str(row.line) if row.line else "all" if row not in self.rows else ""
            cells.append((line, row.accesses, written, compiled, ", ".join(row.causes))[: len(head)])
        cells += [
            (str(line), "not executed", operation, "", "")[: len(head)] for line, operation in self.unknown.items()
        ]
        words = dict.fromkeys(word for row in self.rows for word in row.causes)
        said = [f"The machine code was not executed: {self.why}."] if self.why else []
        said += [f"{word}: {CAUSES[word]}." for word in words]
        below = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in said)
        return f"{html_table([head, *cells], left=range(1, len(head)))}{below}"


def as_compiled(code: MachineCode, launch: Simulated, most: int = MAX_INSTRUCTIONS) -> AsCompiled:
    """Execute the machine code of a launch that was simulated, and return its counts beside those of the simulator.

    A launch that the emulator cannot execute has the source's counts alone, with the reason. most: instructions of the
    launch's warps, executed together, after which it is given up.
    """
    plain = getattr(launch.kernel, "py_func", launch.kernel)
    names = [*inspect.signature(plain).parameters]
    lines = dict(launch.run.source.lines)
    source = source_counts(launch.run.traffic.rows, names)
    try:
        traffic = checked_traffic(code, launch, names, most)
    except ValueError as error:
        unknown = {code.source_line(each): each.operation for each in unknown_instructions(code)}
        what = "the emulator does not know " if isinstance(error, UnknownInstruction) else ""
        rows = (ComparedCounts(*key, asked.counts, asked.counts) for key, asked in source.items())
        return AsCompiled(tuple(rows), lines, unknown, f"{what}{error}")
    compiled = _instructions(code, traffic, source)
    return AsCompiled(tuple(_compared(source, compiled, KernelText.of(plain), code)), lines, {})


def _instructions(
    code: MachineCode, traffic: Mapping[Place, InstructionTraffic], source: Mapping[Key, SourceCounts]
) -> dict[Key, Instructions]:
    """Return the instructions of each key.

    Where the source has no access in the line that the compiler names, they belong to the line that lacks most bytes
    of the same array, which is how a load gets out of a loop.
    """
    found: dict[Key, Instructions] = {}
    for (place, _), each in traffic.items():
        if each.space in AMOUNT:
            line = code.source_line(code.instructions[place])
            array = next(iter(each.arrays), "") if each.space == "global" and len(each.arrays) == 1 else ""
            of_all_arrays = line, "", each.space, each.op
            key = of_all_arrays if of_all_arrays in source else (line, array, each.space, each.op)
            found.setdefault(key, {})[place] = each
    for key in [key for key in found if key not in source and key[1]]:
        lacking = {other: asked.bytes - bytes_of(found.get(other, {})) for other, asked in source.items()}
        alike = {other: count for other, count in lacking.items() if other[1:] == key[1:] and count > 0}
        if alike:
            found.setdefault(max(alike, key=alike.__getitem__), {}).update(found.pop(key))
    return found


def _compared(
    source: Mapping[Key, SourceCounts], compiled: Mapping[Key, Instructions], text: KernelText, code: MachineCode
) -> Iterator[ComparedCounts]:
    """Yield the counts of each line as written and as compiled, with the causes of a difference."""
    for key in sorted(source.keys() | compiled.keys()):
        line, array, space, op = key
        asked = source.get(key, SourceCounts())
        instructions = compiled.get(key, {})
        amount = sum(each.sectors if space == "global" else each.wavefronts for each in instructions.values())
        counts = RequestCounts(sum(each.counted for each in instructions.values()), amount)
        if not any(asked.counts) and not any(counts):
            continue
        causes: tuple[str, ...] = ()
        if counts != asked.counts:
            causes = tuple(_difference(key, source, compiled).causes(text, code))
        yield ComparedCounts(line, array, space, op, asked.counts, counts, causes)


def _difference(key: Key, source: Mapping[Key, SourceCounts], compiled: Mapping[Key, Instructions]) -> Difference:
    """Return what is known of a line's accesses, also of those of the same array in all lines."""
    line, array, space, op = key
    of_source = [asked for other, asked in source.items() if other[1:] == key[1:]]
    of_code = [instructions for other, instructions in compiled.items() if other[1:] == key[1:]]
    asked_requests = sum(asked.counts.requests for asked in of_source)
    requests = sum(each.requests for instructions in of_code for each in instructions.values())
    atomics = compiled.get((line, array, space, "atomic"), {})
    return Difference(
        line,
        array,
        op,
        source.get(key, SourceCounts()),
        compiled.get(key, {}),
        bytes_beyond=sum(map(bytes_of, of_code)) - sum(asked.bytes for asked in of_source),
        fewer_requests=requests < asked_requests,
        retried=any(each.how in ("CAS", "CAST") for each in atomics.values()),
    )
