"""What the budgets of exercises count in a launch, beside its traffic: barriers, iterations of loops, sectors."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...simulator.counters.sectors import distinct, sectors_of
from ...simulator.language.program.nodes import Apply, Const
from ...simulator.launch.prepare import Prepared
from ...simulator.observer import Arrivals, Observer
from ...simulator.runtime.access import Site
from ...simulator.runtime.arrays import Pattern
from ...simulator.runtime.masks import Mask
from ...simulator.runtime.warp import WarpVector

#: What barriers are counted under; iterations are counted by the line of their loop.
_BARRIERS = 0


class BudgetCounts(Observer):
    """Counts the steps of each warp, and keeps what each request to global memory accessed."""

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        self._compiled = prepared.compiled
        #: how often anything was counted, for the warps of several blocks at once
        self.iterations = 0
        #: the counts of a warp are numbers or, where its blocks differ, arrays with one for each
        self._warps: list[Counter[Any]] = []
        self._running: defaultdict[WarpVector, Any] = defaultdict(Counter)
        self._requests: list[tuple[str, str, np.ndarray, Mask]] = []

    def iterated(self, vector: WarpVector, line: int, mask: Mask) -> None:
        self.iterations += 1
        self._running[vector][line] += 1 if mask is True else vector.full(mask).any(axis=(0, 1))

    def barrier(self, arrivals: Arrivals, complete: bool) -> None:
        for vector, mask in arrivals:
            self.iterated(vector, _BARRIERS, mask)

    def end_of_chunk(self, vectors: Sequence[WarpVector]) -> None:
        self._warps += [self._running.pop(vector, Counter()) for vector in vectors]

    def counted(self, site: Site, pattern: Pattern) -> None:
        if pattern.array.space == "global" and pattern.mask is not False:
            of = pattern.array.name, site.op
            self._requests += [(*of, sectors_of(pattern, phase), pattern.mask) for phase in pattern.tally]

    def most_barriers(self) -> int:
        """The barriers of the warp with the most of them."""
        return self.most_iterations([_BARRIERS])

    def most_iterations(self, lines: Iterable[int]) -> int:
        """The iterations of the loops on these lines, together, by the warp with the most of them."""
        sums: list[Any] = [sum(counts[line] for line in lines) for counts in self._warps]
        return max((int(np.max(each)) for each in sums), default=0)

    def signed_loads(self, arrays: Collection[str]) -> int:
        """The loads in the text, from these arrays, with an index of a signed type that is no constant."""
        loads = (each for each in _parts(self._compiled.program, set()) if isinstance(each, Apply) and each.sites)
        return sum(each.variable in arrays and each.sites[0][0] == "load" and _has_signed_index(each) for each in loads)

    def most_sectors(self, array: str, op: str) -> int:
        """The 32-byte sectors of the most expensive request of this kind to an array in global memory."""
        found = (distinct(sectors, mask) for *of, sectors, mask in self._requests if of == [array, op])
        return max((int(each.max()) for each in found), default=0)

    def shared_elements(self) -> int:
        """The elements of the shared arrays that a block declares."""
        return sum(elements for _, _, elements, _ in self._compiled.static_shared.values())


def _has_signed_index(load: Apply) -> bool:
    """Whether an index of a load has a signed type and is no constant."""
    indices = (index for index in load.args[1:] if not isinstance(index, Const))
    return any(str(index.type).startswith("int") for index in indices)


def _parts(part: Any, seen: set[int]) -> Iterator[Any]:
    """The nodes of a typed program, each once."""
    if isinstance(part, list | tuple):
        for each in part:
            yield from _parts(each, seen)
    elif hasattr(part, "__dataclass_fields__") and id(part) not in seen:
        seen.add(id(part))
        yield part
        for name in part.__dataclass_fields__:
            yield from _parts(getattr(part, name), seen)
