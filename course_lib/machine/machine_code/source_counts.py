"""What the source of a launch asks for, by lines: the simulator's counts, with which machine code is compared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...simulator.formatting import plural
from ...simulator.run import TrafficRow

#: What is counted of a space beside requests.
AMOUNT = {"global": "sector", "shared": "wavefront"}
#: A source line, the array if it is known to both sides (else ""), the space and the operation.
Key = tuple[int, str, str, str]


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


@dataclass
class SourceCounts:
    """What the source asks for in one line: the counts, the accesses of lanes, all their bytes, and the most of one."""

    counts: RequestCounts = RequestCounts()
    accesses: int = 0
    bytes: int = 0
    itemsize: int = 1


def source_counts(rows: Sequence[TrafficRow], names: Sequence[str]) -> dict[Key, SourceCounts]:
    """Return the source's counts. In a line with an array that is no parameter, such as a view, arrays are together."""
    found: dict[Key, SourceCounts] = {}
    views = {row.line for row in rows if row.space == "global" and row.array not in names}
    for row in rows:
        if row.space not in AMOUNT:
            continue
        array = row.array if row.space == "global" and row.line not in views else ""
        key = row.line, array, row.space, row.op
        before = found.get(key, SourceCounts())
        wavefronts = row.atomic_wavefronts if row.op == "atomic" else row.wavefronts
        amount = row.sectors if row.space == "global" else wavefronts
        found[key] = SourceCounts(
            RequestCounts(before.counts.requests + row.requests, before.counts.amount + amount),
            before.accesses + row.accesses,
            before.bytes + row.bytes,
            max(before.itemsize, row.itemsize),
        )
    return found
