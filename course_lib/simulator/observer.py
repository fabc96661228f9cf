"""The base class of observers."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .compile.compiled_kernel import CompiledKernel
from .findings import Finding, FindingKey
from .launch.prepare import Prepared
from .runtime.access import Index, Site
from .runtime.array_views import View
from .runtime.arrays import Array, Pattern, Watcher
from .runtime.async_copies import SourceUse
from .runtime.barrier import Barrier
from .runtime.lane_vector import LaneVector
from .runtime.masks import Mask
from .runtime.warp import WarpVector
from .runtime.warpgroup_products import PendingProduct

#: The warps that met, and the lanes of each.
Arrivals = Sequence[tuple[WarpVector, Mask]]
#: Returns sectors, wavefronts and bank conflicts of one access of a pattern, at a byte phase of the base.
Figures = Callable[[Pattern, int], tuple[np.ndarray, np.ndarray, np.ndarray]]
#: The barrier at which each warp waits.
Waiting = dict[int, Barrier]


class Hooks:
    """The events of a launch: a method for each, which does nothing.

    Each is called once for a pattern, a barrier, a violation, a chunk of blocks or a launch; when tracing, also for
    each statement. ``vector`` is a :class:`~course_lib.simulator.runtime.warp.WarpVector`, and ``lanes`` a mask over
    it; ``site``, ``pattern`` and ``base`` describe an access, see :mod:`course_lib.simulator.runtime.access`.
    """

    def warnings(self, compiled: CompiledKernel) -> None:
        """Report warnings about the source: ``compiled.promotions`` lists arithmetic that became float64."""

    def counted(self, site: Site, pattern: Pattern) -> None:
        """``pattern.tally`` holds how often ``site`` used this pattern, by byte phase of the base."""

    def negative_index(self, site: Site, array: Array | View, index: Index, dimension: int, lanes: Mask) -> None:
        """A negative index in ``lanes`` (a mask), which numba wraps."""

    def out_of_bounds(self, site: Site, array: Array | View, index: Index, dimension: int, lanes: Mask) -> None:
        """An index outside the array in ``lanes`` (a mask), whose access was skipped."""

    def misaligned(self, site: Site, pattern: Pattern, base: int, lanes: Mask) -> None:
        """A vector access whose address, in ``lanes`` (a mask), is not a multiple of its size."""

    def updated(
        self, site: Site, pattern: Pattern, base: int, operation: str, values: tuple[Any, ...], old: Any
    ) -> None:
        """An update by an atomic ``operation``: ``values`` are its operands, ``old`` what each lane found."""

    def unwritten(self, site: Site, pattern: Pattern, base: int, lanes: Mask) -> None:
        """A read, in ``lanes`` (a mask), of an element of a local array that has not been written."""

    def missing(self, what: str, name: str, line: int, vector: WarpVector, lanes: Mask) -> None:
        """A use, in ``lanes``, of what has no value there.

        ``what``: a "variable", a "register" of another lane, the "result" of a function, or "none", where a variable or
        a result that may be None is None.
        """

    def barrier(self, arrivals: Arrivals, complete: bool) -> None:
        """A barrier at which warps met. ``arrivals`` are (vector, mask); ``complete``: all threads arrived."""

    def grid_barrier(self) -> None:
        """A barrier that all threads of the grid passed."""

    def divergence(
        self,
        program_point: tuple[int, ...],
        vectors: Sequence[WarpVector],
        missing: dict[int, np.ndarray],
        waiting: Waiting,
    ) -> None:
        """A barrier, at this ``program_point``, that in some blocks of the chunk only some threads reached.

        ``vectors`` are all warps; ``missing`` holds the masks of the threads that did not arrive, by warp.
        """

    def fence(self, vector: WarpVector, mask: Mask, block_only: bool) -> None:
        """A ``threadfence`` or ``threadfence_system`` of some lanes, or, ``block_only``, a ``threadfence_block``."""

    def released(self, vector: WarpVector, pattern: Pattern) -> None:
        """Arrivals at barriers in shared memory: a thread that waits for the phase acquires what these lanes did."""

    def copy_started(self, site: Site, pattern: Pattern, base: int, values: tuple[Any, ...]) -> None:
        """The start of an asynchronous copy to shared memory; ``pattern`` and ``base`` are its target.

        ``values`` are the copied values, one for each element of a lane's access.
        """

    def copied(self, site: Site, pattern: Pattern, base: int, array: Array, index: Any) -> None:
        """An asynchronous copy to count: as `copy_started`, with the source, ``index`` of the global ``array``."""

    def source_in_use(self, use: SourceUse) -> None:
        """The start of an asynchronous copy from a global array that the kernel may write."""

    def source_read(self, use: SourceUse, done: np.ndarray) -> None:
        """The end of this use of the source in the lanes or blocks ``done``: their copies arrive."""

    def copy_arrived(self, site: Site, pattern: Pattern, base: int) -> None:
        """The arrival of an asynchronous copy; its store to shared memory follows, as an access of ``site``."""

    def product_started(self, site: Site, vector: WarpVector, product: PendingProduct) -> None:
        """The start of a product of a warpgroup by one of its warps; ``site`` reads ``product.operands``."""

    def product_finished(self, vector: WarpVector, product: PendingProduct, lanes: np.ndarray) -> None:
        """The end of the wait of ``lanes`` for a product of their warpgroup."""

    def results_arrived(self, vector: WarpVector, pattern: Pattern, values: Sequence[np.ndarray]) -> None:
        """The results of finished products: ``values`` of each of the first elements of ``pattern.array``."""

    def proxy_fence(self, vector: WarpVector, mask: Mask) -> None:
        """A fence that makes the lanes' stores to shared memory visible to the tensor cores."""

    def register_fence(self, vector: WarpVector, mask: Mask) -> None:
        """A fence that orders the lanes' accesses to registers before the products that follow."""

    def descriptor_fault(self, line: int, vector: WarpVector, array: Array, operand: str, element: int) -> None:
        """A descriptor of operand "A" or "B" that includes ``element``, which is outside ``array``."""

    def unfinished_phase(
        self, line: int, vector: WarpVector, lanes: Mask, array: Array, index: Index, missing: tuple[int, int, int]
    ) -> None:
        """A wait of ``lanes`` for a phase of the barrier ``array[index]`` that never completes; they continue.

        ``missing`` are arrivals, out of how many, and bytes.
        """

    def failed(self, kind: str, text: str, line: int, vector: WarpVector, lanes: Any) -> None:
        """A failed assert (``kind`` "failed-assertion") or a raise, in which lanes end; ``text`` is its source."""

    def exchanged(self, vector: WarpVector, line: int, name: str, exchange: tuple[Any, Any, Any], mask: Mask) -> None:
        """A shuffle or vote by ``cuda.name``: what each lane gave, the lane that it took from, and what it got.

        That lane is None for a vote; 32 less than the lane if that lane gave nothing.
        """

    def wrong_mask(self, line: int, vector: WarpVector, lanes: Mask, what: str) -> None:
        """A warp operation whose mask is wrong for ``lanes``.

        ``what`` is "absent" if it names them but they did not arrive, "stray" if they arrived but are not named.
        """

    def statement(self, vector: WarpVector, line: int, mask: Mask, head: bool) -> None:
        """The beginning of a statement (only when tracing); ``head``: of an iteration of the loop on this line."""

    def iterated(self, vector: WarpVector, line: int, mask: Mask) -> None:
        """The beginning of an iteration of the loop on this line of the kernel (only when tracing or watching)."""

    def assigned(self, vector: WarpVector, line: int, name: str, value: Any, mask: Mask) -> None:
        """The assignment of a variable by the statement on this line (only when tracing)."""

    def tested(self, vector: WarpVector, line: int, text: str, sides: tuple[Any, Any], truth: Any, mask: Mask) -> None:
        """The comparison ``text`` of ``sides`` in the lanes of ``mask``, with its result (only when tracing)."""

    def end_of_chunk(self, vectors: Sequence[WarpVector]) -> None:
        """The end of all warps of a chunk."""


class Observer(Hooks):
    """Receives the events of a launch: override the hooks you need. The engine calls only those.

    To see every access in order, which costs time on every access, override :meth:`watch`.
    """

    def __init__(self) -> None:
        self._findings: dict[FindingKey, Finding] = {}
        self._counts: Counter[FindingKey] = Counter()

    def start(self, prepared: Prepared) -> None:
        """Prepare for a launch; ``prepared`` has its shape, its compiled kernel and its arguments."""
        self.launch = prepared.launch

    def watch(self, array: Array) -> Watcher | None:
        """Return a function ``(site, pattern, base, value)`` to be called at each access of ``array``, or None."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found in a launch that has ended."""
        return tuple(replace(finding, count=self._counts[key]) for key, finding in list(self._findings.items()))

    def findings_so_far(self) -> tuple[Finding, ...]:
        """Return what was found so far in a launch that another thread runs. Nothing of the observer is changed."""
        return self.findings

    def add_finding(
        self,
        kind: str,
        line: int,
        vector: LaneVector,
        lanes: Mask,
        said: str,
        *,
        other: int | None = None,
        array: str | None = None,
        index: tuple[int, ...] | None = None,
    ) -> None:
        """Add a finding about threads, the lanes of a mask; the message begins with the name of the first one."""
        thread, count = vector.first_thread(lanes), int(np.count_nonzero(vector.full(lanes)))
        self.add(
            Finding(kind, line, f"{self.launch.format_thread(thread)} {said}", other, array, index, (thread,), count)
        )

    def add_access_finding(
        self, kind: str, site: Site, pattern: Pattern, base: int, lanes: Mask, said: str, *, other: int | None = None
    ) -> None:
        """Add a finding about an access; ``{}`` in ``said`` is the element of the first thread."""
        array, index = pattern.array, pattern.index_at(base, site.vector.first_lane(lanes))
        said = said.format(array.element_name(index))
        self.add_finding(kind, site.line, site.vector, lanes, said, other=other, array=array.name, index=index)

    def add(self, finding: Finding) -> None:
        """Store a finding; if its key is known, only add to the count of the first one."""
        self._findings.setdefault(finding.key, finding)
        self._counts[finding.key] += finding.count


class Recorder(Observer):
    """An observer that makes the trace of a launch, which becomes ``Run.trace``.

    ``figures(pattern, phase)`` returns the (sectors, wavefronts, bank conflicts) of one access of a pattern: arrays
    with one number for every block of the chunk, computed by the rules of the counters.
    """

    def __init__(self, figures: Figures) -> None:
        super().__init__()

    def trace(self, findings: Sequence[Finding], traffic: Sequence[Any]) -> Any:
        """Return the trace of a finished launch, with what the other observers found and counted."""
        raise NotImplementedError
