"""The result of a launch: its traffic, its findings, its annotated source and its trace."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from .findings import Finding
from .formatting import html_table, plural, text_table

__all__ = ["AnnotatedSource", "Finding", "Run", "Traffic", "TrafficRow"]

#: Where the arrays of a kernel are, and the kinds of requests to them.
SPACES = ("global", "shared", "local", "constant")
REQUESTS = ("load", "store", "atomic")


def count(space: str | None = None, op: str | None = None) -> Any:
    """Return a dataclass field for a count of a row of traffic; with ``space`` or ``op``, only its accesses have it."""
    return field(default=0, metadata={"space": space, "op": op})


@dataclass(frozen=True)
class TrafficRow:
    """The traffic of one source line to one array, for one operation ("load", "store" or "atomic").

    itemsize: bytes of one thread's access. accesses: thread-level accesses. requests: warp-level instructions with
    at least one active lane; if lanes chose different arrays for one variable, one of each array. sectors: distinct
    32-byte sectors, summed over the requests (global memory; else 0).
    wavefronts: passes that shared memory needs, and bank_conflicts those beyond the ideal (shared memory; else 0).
    rounds: of atomics, the most lanes on one word, summed over the requests; serialized: those that a GPU serves one by
    one, because the compiler's code does not combine the lanes before; atomic_wavefronts: the passes that shared memory
    needs for them (atomics; else 0).

    >>> run = simulate(rung("naive").make())[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> run.traffic.rows[0].array, run.traffic.rows[0].accesses, run.traffic.rows[0].bytes
    ('A', 32768, 131072)
    """

    line: int
    array: str
    space: str
    op: str
    itemsize: int
    accesses: int = count()
    requests: int = count()
    sectors: int = count("global")
    wavefronts: int = count("shared")
    bank_conflicts: int = count("shared")
    rounds: int = count(op="atomic")
    serialized: int = count(op="atomic")
    atomic_wavefronts: int = count("shared", op="atomic")

    @property
    def bytes(self) -> int:
        """The bytes that the threads requested: accesses times the size of an element."""
        return self.accesses * self.itemsize


#: The numbered lines of a source.
Lines = tuple[tuple[int, str], ...]
#: Returns the accesses of each thread, by linear id in the grid, summed over keys of rows.
ThreadCounts = Callable[[Iterable[tuple[int, str, str, str, int]]], np.ndarray]


def total(name: str, meaning: str) -> property:
    """A property of :class:`Traffic`: the sum of a count over its rows."""
    return property(lambda traffic: sum(getattr(row, name) for row in traffic.rows), doc=meaning)


class Traffic:
    """Traffic rows, and their sums as attributes. Terms are Nsight Compute's.

    >>> A, B, C = np.ones((3, 32, 32), np.float32)
    >>> traffic = simulate(rung("tiled").make())[(2, 2), (16, 16)](A, B, C).traffic
    >>> traffic.select(space="global", op="load").sectors, traffic.select(space="shared").bank_conflicts
    (512, 0)
    >>> traffic.per_thread(array="A").shape
    (2, 2, 16, 16)
    """

    accesses = total("accesses", "Thread-level accesses.")
    requests = total("requests", "Warp-level instructions with at least one active lane.")
    sectors = total("sectors", "Distinct 32-byte sectors, summed over the requests (global memory).")
    wavefronts = total("wavefronts", "Passes that shared memory needs.")
    bank_conflicts = total("bank_conflicts", "Wavefronts beyond the ideal (shared memory).")
    rounds = total("rounds", "The most lanes that update one word, summed over the requests (atomics).")
    serialized = total("serialized", "Rounds that a GPU serves one by one (atomics).")
    atomic_wavefronts = total("atomic_wavefronts", "Passes of atomics in shared memory.")
    bytes = total("bytes", "Bytes that the threads asked for.")

    def __init__(
        self,
        rows: tuple[TrafficRow, ...],
        by_thread: ThreadCounts,
        shape: tuple[tuple[int, ...], tuple[int, ...]],
        known: tuple[TrafficRow, ...] | None = None,
    ) -> None:
        self.rows = rows
        self._by_thread, self._shape = by_thread, shape
        self._known = rows if known is None else known  # all rows of the run, to tell a typo from a zero

    def select(
        self, *, space: str | None = None, op: str | None = None, array: str | None = None, line: int | None = None
    ) -> Traffic:
        """Return the rows that match every filter given.

        Raise ValueError for a space or an operation that does not exist, and for an array or a line never accessed.
        """
        wanted = {"space": space, "op": op, "array": array, "line": line}
        legal = {"space": SPACES, "op": REQUESTS}
        for name, value in wanted.items():
            if value is None:
                continue
            options = legal.get(name) or tuple(dict.fromkeys(getattr(r, name) for r in self._known))
            if value not in options:
                raise ValueError(f"no {name} {value!r} in this run; it has {', '.join(map(repr, options)) or 'none'}")
        asked = {name: value for name, value in wanted.items() if value is not None}
        rows = tuple(row for row in self.rows if all(getattr(row, name) == value for name, value in asked.items()))
        return Traffic(rows, self._by_thread, self._shape, self._known)

    def per_thread(self, **filters: Any) -> np.ndarray:
        """Return the accesses of each thread: integers of shape grid × block, indexed [bx, by, …, tx, ty, …] (x, y, z).

        The dimensions are those of the launch: ``[(2, 3), (4, 5)]`` gives (2, 3, 4, 5), ``[2, 4]`` gives (2, 4).
        Filters are those of :meth:`select`.
        """
        rows = self.select(**filters).rows
        flat = self._by_thread([(row.line, row.array, row.space, row.op, row.itemsize) for row in rows])
        grid, block = self._shape
        linear = flat.reshape(*reversed(grid), *reversed(block))  # z, y, x of the grid, then of the block
        axes_of_grid = range(len(grid))
        axes_of_block = range(len(grid), len(grid) + len(block))
        return np.ascontiguousarray(linear.transpose(*reversed(axes_of_grid), *reversed(axes_of_block)))

    def __repr__(self) -> str:
        return table_text(self.rows)

    def _repr_html_(self) -> str:
        return html_table(table(self.rows), left=())


#: The keys of a row of traffic, and its counts.
NAMES = ("line", "space", "array", "op")
COUNTS = tuple(entry.name for entry in fields(TrafficRow) if "space" in entry.metadata)
#: The only space, and the only operation, whose accesses have a count; None for all of them.
SPACE_OF: dict[str, str | None] = {entry.name: entry.metadata.get("space") for entry in fields(TrafficRow)}
OP_OF: dict[str, str | None] = {entry.name: entry.metadata.get("op") for entry in fields(TrafficRow)}


def known_counts(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return ``names`` in the order of COUNTS; raise ValueError for none, or for one that is not counted."""
    unknown = [name for name in names if name not in COUNTS]
    if unknown or not names:
        said = f"{unknown[0]!r} is not counted" if unknown else "no count is named"
        raise ValueError(f"{said}; a run counts {', '.join(COUNTS)}")
    return tuple(name for name in COUNTS if name in names)


def title(name: str) -> str:
    """Return the head of a column: conflicts for bank_conflicts."""
    return name.removeprefix("bank_")


def table(rows: Sequence[TrafficRow], counts: tuple[str, ...] = COUNTS) -> list[list[str]]:
    """Return the cells of a table of the rows, below their titles, with a column for each of ``counts``.

    A column of atomics is left out where there is none.
    """
    operations = {row.op for row in rows}
    shown = [name for name in counts if OP_OF[name] is None or OP_OF[name] in operations]
    names = (*NAMES, *shown)
    cells = [[title(name) for name in names]]
    for row in rows:
        cells.append([_cell(row, name) for name in names])
    return cells


def _cell(row: TrafficRow, name: str) -> str:
    """Return a key or a count of a row as text; a dash for a count that such accesses do not have."""
    if SPACE_OF[name] not in (None, row.space) or OP_OF[name] not in (None, row.op):
        return "–"
    value = getattr(row, name)
    return f"{value:,}" if name in COUNTS else str(value)


def table_text(rows: Sequence[TrafficRow], counts: tuple[str, ...] = COUNTS) -> str:
    """Return that table as text."""
    return "\n".join(text_table(table(rows, counts), left=(1, 2, 3)))


@dataclass(frozen=True, repr=False, eq=False)
class AnnotatedSource:
    """The source of the kernel and its device functions, each line with its memory traffic and its findings.

    The traffic of a device function of another file or notebook cell is counted on the line that calls it.

    >>> run = simulate(rung("naive").make())[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> stores = [line for line in str(run.source.only("accesses")).splitlines() if "C[row, col] =" in line]
    >>> stores[0].split()[1:]
    ['1,024', 'C[row,', 'col]', '=', 'acc']
    """

    lines: Lines
    rows: Sequence[TrafficRow]
    findings: tuple[Finding, ...]
    counts: tuple[str, ...] = ("accesses", "requests", "sectors", "wavefronts")

    def only(self, *counts: str) -> AnnotatedSource:
        """Return the same source with only these counts: accesses, requests, sectors, wavefronts, bank_conflicts."""
        return replace(self, counts=known_counts(counts))

    def _notes(self) -> Iterator[tuple[int, str, int, list[int], list[Finding]]]:
        """Yield each line with its number, its accesses, the sums of the counts shown, and its findings."""
        for number, text in self.lines:
            rows = [row for row in self.rows if row.line == number]
            sums = [sum(getattr(row, name) for row in rows) for name in self.counts]
            accesses = sum(row.accesses for row in rows)
            found = [finding for finding in self.findings if finding.line == number]
            yield number, text, accesses, sums, found

    def __str__(self) -> str:
        widths = [12 if name == "accesses" else 10 for name in self.counts]
        heads = " ".join(f"{title(name):>{width}}" for name, width in zip(self.counts, widths, strict=True))
        out = [f"{'line':>5} {heads}"]
        width = len(out[0])
        for number, text, _, sums, found in self._notes():
            counts = " ".join(f"{s:>{w},}" if s else " " * w for s, w in zip(sums, widths, strict=True))
            out.append(f"{number:>5} {counts}  {text}".rstrip())
            out += [f"{'':>{width}}  ^ {f}" for f in found]
        return "\n".join(out)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        busiest = max((accesses for _, _, accesses, *_ in self._notes()), default=0) or 1
        body = []
        rest = len(self.counts) + 1
        for number, text, accesses, sums, found in self._notes():
            heat = f' style="background:rgba(230,159,0,{0.45 * accesses / busiest:.2f})"' if accesses else ""
            body.append(
                f'<tr{heat}><th scope="row">{number}</th>'
                + "".join(f"<td>{s:,}</td>" if s else "<td></td>" for s in sums)
                + f'<td style="text-align:left"><code style="white-space:pre-wrap;background:none">'
                f"{html.escape(text)}</code></td></tr>"
            )
            body += [
                f'<tr><td></td><td colspan="{rest}" style="text-align:left;border-left:3px solid #D55E00">'
                f"{html.escape(str(f))}</td></tr>"
                for f in found
            ]
        head = "".join(f'<th scope="col">{t}</th>' for t in ("line", *map(title, self.counts)))
        head += '<th scope="col" style="text-align:left">source</th>'
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """A finished launch on the simulator.

    Attributes: ``kernel_name``, ``grid`` and ``block`` (x, y, z), ``traffic``, ``findings``, ``source``, ``schedule``,
    ``trace`` (a :class:`course_lib.trace.trace.Trace`; None without ``trace=True``), ``printed``, what print() in the
    kernel said, in the order of the threads, ``shown``, the counts in its table, ``exception``, which a launch of a
    kernel with ``debug=True`` raises on a GPU (a copy in another process, which may not have its class, has none), and
    ``shared_bytes``, the shared memory of a block, static and dynamic.

    >>> A, B, C = np.ones((3, 32, 32), np.float32)
    >>> run = simulate(rung("naive").make())[(2, 2), (16, 16)](A, B, C)
    >>> run.grid, run.errors, run.traffic.select(array="C").accesses
    ((2, 2, 1), (), 1024)
    """

    kernel_name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    traffic: Traffic
    findings: tuple[Finding, ...]
    source: AnnotatedSource
    schedule: str | int
    trace: Any
    printed: str = ""
    shown: tuple[str, ...] = COUNTS
    exception: Exception | None = None
    shared_bytes: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"exception": None}

    def only(self, *counts: str) -> Run:
        """Return the same run, whose table and source show only these counts: ``run.only("accesses")``.

        The counts are accesses, requests, sectors, wavefronts and bank_conflicts; raise ValueError for any other.
        """
        return replace(self, source=self.source.only(*counts), shown=known_counts(counts))

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity == "error")

    def heading(self) -> str:
        """Return the kernel and the shape of its launch in one line."""
        return f"{self.kernel_name}: grid {trimmed(self.grid)}, block {trimmed(self.block)}"

    def _verdict(self) -> str:
        return plural(len(self.findings), "finding") if self.findings else "no findings"

    def __repr__(self) -> str:
        lines = [
            self.heading(),
            table_text(self.traffic.rows, self.shown),
            self._verdict(),
            *(f"  {f}" for f in self.findings),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        found = "".join(f"<li>{html.escape(str(f))}</li>" for f in self.findings)
        rows = html_table(table(self.traffic.rows, self.shown), left=())
        return f"<p><b>{html.escape(self.heading())}</b></p>{rows}<p>{self._verdict()}</p>" + (
            f"<ul>{found}</ul>" if found else ""
        )


def trimmed(dims: tuple[int, ...]) -> str:
    """Return (16, 16, 1) as 16×16."""
    while len(dims) > 1 and dims[-1] == 1:
        dims = dims[:-1]
    return "×".join(map(str, dims))
