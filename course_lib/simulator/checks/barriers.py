"""Barriers that only some threads of a block reach, and warp operations whose mask is wrong."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..findings import Finding, FindingKey
from ..launch.prepare import Prepared
from ..observer import Arrivals, Observer, Waiting
from ..runtime.access import Site
from ..runtime.arrays import Array, Pattern, Watcher
from ..runtime.barrier import Barrier
from ..runtime.masks import Mask
from ..runtime.warp import WarpVector


def went_on(site: Site, pattern: Pattern, base: int, value: Any) -> None:
    """Report lanes that access memory while a syncwarp waits for them."""
    if site.vector.awaited:
        site.vector.went_on(pattern.mask)


class BarriersObserver(Observer):
    """Reports threads that did not reach a barrier, and why: returned, at another barrier, or on another path."""

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        #: (branch, barrier) lines -> masks of the threads that missed that barrier, on another path
        self._paths: dict[tuple[int, int], dict[int, np.ndarray]] = {}

        self._syncwarps = prepared.compiled.syncwarps

    def watch(self, array: Array) -> Watcher | None:
        return went_on if self._syncwarps and array.space != "local" else None

    def barrier(self, arrivals: Arrivals, complete: bool) -> None:
        for vector, mask in arrivals:
            if vector.awaited:
                vector.went_on(mask)

    def divergence(
        self,
        program_point: tuple[int, ...],
        vectors: Sequence[WarpVector],
        missing: dict[int, np.ndarray],
        waiting: Waiting,
    ) -> None:
        """Say which thread reached the barrier, which one did not, and where that one is or which way it took."""
        arrived = {warp: barrier for warp, barrier in waiting.items() if barrier.program_point == program_point}
        arrivals = [(vectors[warp], barrier.mask) for warp, barrier in sorted(arrived.items())]
        barrier = next(iter(arrived.values()))
        line, branch = barrier.line, barrier.enclosing_line
        in_part = np.any([lanes.any(axis=(0, 1)) for lanes in missing.values()], axis=0)
        arrived_in_part = [(vector, vector.full(mask) & in_part) for vector, mask in arrivals]
        came = next(vector.first_thread(lanes) for vector, lanes in arrived_in_part if lanes.any())
        count = sum(int(np.count_nonzero(lanes)) for lanes in missing.values())
        vector = next(each for each in vectors if missing[each.warp_number].any())
        absent = missing[vector.warp_number]
        other, why = branch, "took another path" + (f" at line {branch}" if branch else "")
        elsewhere = None if vector.warp_number in arrived else waiting.get(vector.warp_number)
        if elsewhere is not None and not (vector.full(elsewhere.mask) & absent).any():
            elsewhere = None
        for mask, at in vector.returned:
            if (vector.full(mask) & absent).any():
                absent = vector.full(mask) & absent
                other, why = at, f"had returned at line {at}"
                break
        else:
            if elsewhere is not None:
                absent = vector.full(elsewhere.mask) & absent
                other, why = elsewhere.line, f"waits at the barrier in line {elsewhere.line}"
            elif branch:
                met = self._barrier_of_the_other_path(barrier, arrivals)
                if met is None:
                    self._paths[branch, line] = missing
                else:
                    first = FindingKey("barrier-divergence", met, branch, None)
                    self._findings.pop(first, None)
                    self._counts.pop(first, None)
                    other, why = met, f"went to the barrier in line {met}"
        thread = vector.first_thread(absent)
        name, whole = ("this_grid().sync()", "the grid") if barrier.grid else ("syncthreads()", "a block")
        text = (
            f"{self.launch.format_thread(came)} reached {name} in line {line}, but "
            f"{self.launch.format_thread(thread)} {why}; every thread of {whole} must reach the same barrier"
        )
        self.add(Finding("barrier-divergence", line, text, other_line=other, threads=(came, thread), count=count))

    def _barrier_of_the_other_path(self, barrier: Barrier, arrivals: Arrivals) -> int | None:
        """The line of the barrier on the branch's other path that the threads which are now here have missed.

        One finding with both lines then replaces the first one.
        """
        for (branch, line), absentees in self._paths.items():
            if branch == barrier.enclosing_line and line != barrier.line:
                if any((each.full(mask) & absentees.get(each.warp_number, False)).any() for each, mask in arrivals):
                    return line
        return None

    def unfinished_phase(
        self, line: int, vector: WarpVector, lanes: Mask, array: Any, index: Any, missing: tuple[int, int, int]
    ) -> None:
        left, arrivals, unpaid = missing
        what = [f"{left} of its {arrivals} arrivals"] if left else []
        what += [f"{unpaid} bytes"] if unpaid > 0 else []
        what += [f"the arrival that expects {-unpaid} bytes"] if unpaid < 0 else []
        what = what if arrivals else ["init_barrier"]
        said = (
            f"waits for a phase of {array.element_name(index)} that never completes: missing are "
            f"{' and '.join(what) or 'none'}; look at its arrivals, at the bytes of its copies and at the parity, "
            "which changes with each phase"
        )
        self.add_finding("barrier-divergence", line, vector, lanes, said, array=array.name, index=index)

    def wrong_mask(self, line: int, vector: WarpVector, lanes: Mask, what: str) -> None:
        fault = {
            "absent": "is named in the mask of this warp operation but does not arrive at it",
            "stray": "arrives at this warp operation but is not named in its mask",
        }[what]
        said = f"{fault}; the mask must name exactly the lanes that take part"
        self.add_finding("barrier-divergence", line, vector, lanes, said)
