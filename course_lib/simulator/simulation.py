"""A launch on the simulator, from the kernel to its `Run`: ``Simulation(kernel)[grid, block](A, B, C)``."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from .check_all import LAUNCHES, Checked, LaunchFactory, check_all
from .checks import CHECKS
from .counters import COUNTERS
from .counters.bank_conflicts import wavefronts_by_block
from .counters.sectors import sectors_by_block
from .counters.traffic import TrafficObserver
from .findings import Finding, KernelDivisionError, KernelError, LaunchError
from .formatting import plural
from .hardware import FORALL, HOPPER, ceil_div
from .language.program.writer import Tracing
from .launch.engine import Engine
from .launch.prepare import Prepared, prepare
from .observer import Observer, Recorder
from .occupancy import occupancy
from .run import AnnotatedSource, Run, Traffic, TrafficRow
from .runtime.arrays import Pattern
from .runtime.loops import PartOfGrid, WaitsForOthers

#: The checks of the launches that run, for whoever ends the process before they do.
RUNNING: list[list[Observer]] = []


@dataclass(frozen=True, repr=False)
class Simulation:
    """A kernel that waits for its grid and block; what ``simulate`` returns.

    ``strict``, ``schedule`` and ``max_steps`` are those of :func:`course_lib.trace.simulate.simulate`. ``recorder``
    records a launch where ``trace`` is true; ``watching`` are other observers, which start anew.
    """

    kernel: Any
    strict: bool = True
    schedule: str | int = "in-order"
    trace: bool = False
    recorder: type[Recorder] | None = None
    max_steps: int | None = None
    watching: tuple[Observer, ...] = ()

    def __getitem__(self, configuration: Any) -> Callable[..., Run]:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise LaunchError("give the launch a grid and a block: simulate(kernel)[grid, block](...)")
        grid, block, *rest = configuration
        dynamic_shared = rest[1] if len(rest) == 2 else 0

        def launch(*arguments: Any, **named: Any) -> Run:
            if named:
                raise LaunchError(f"a kernel takes its arguments by position; give {', '.join(named)} without a name")
            return self._launch(grid, block, arguments, dynamic_shared)

        return launch

    def forall(self, ntasks: int, tpb: int = FORALL, stream: Any = 0, sharedmem: int = 0) -> Callable[..., Run | None]:
        """Return the launch of ``ntasks`` threads, rounded up to blocks of ``tpb``, as numba's ``forall`` does.

        Of 0 threads it launches nothing. Raises LaunchError for fewer.
        """
        if ntasks < 0:
            raise LaunchError(f"forall was given {ntasks} tasks; give at least 0")
        if ntasks == 0:
            return lambda *arguments: None
        return self[ceil_div(ntasks, tpb or FORALL), tpb or FORALL, stream, sharedmem]

    def check_all(
        self,
        launch: LaunchFactory | None = None,
        *,
        allow: Sequence[str] = ("float64",),
        launches: int = LAUNCHES,
        seed: int = 0,
        shared_bytes: int = 0,
        **values: Iterable[int],
    ) -> Checked:
        """Launch the kernel for many sizes and in several schedules; return what held, or the smallest that fails.

        Args:
            launch: takes sizes, any number of them, and returns grid, block, a tuple of arguments and, if wanted, what
                arrays should hold, by name; None for sizes without a launch. Sizes of 0 whose grid is 0 are left out.
                A parameter ``block`` is the number of threads of a block. By default the launch of a product of
                matrices, for a kernel of (A, B, C), (A, B, C, n) or (A, B, C, M, N, K).
            allow: kinds of findings that are accepted; by default "float64", which costs time at every size.
            launches: how many to try.
            seed: of the choice among more combinations of sizes than that.
            shared_bytes: dynamic shared memory of a block.
            values: what to try for a size, by its name: ``n=(0, 1, 1000)``. By default 0 to 3, and around once and
                twice the warp, and the widths that the kernel names, up to 130.

        Raises LaunchError for a launch that returns something else, UnsupportedKernelError as a launch does.

        >>> simulate(rung("naive").make()).check_all(launches=20)
        no finding for 16 launches up to M=130, N=130, K=130; 4 further sizes have no launch
        """

        def start(schedule: str, trace: bool, grid: Any, block: Any, arguments: Sequence[Any]) -> Run:
            simulation = replace(self, strict=False, schedule=schedule, trace=trace)
            return simulation[grid, block, 0, shared_bytes](*arguments)

        with contextlib.redirect_stdout(None):
            return check_all(self.kernel, start, launch, allow=allow, launches=launches, seed=seed, values=values)

    def __call__(self, *arguments: Any) -> NoReturn:
        raise LaunchError("give the launch a grid and a block: simulate(kernel)[grid, block](...)")

    def __repr__(self) -> str:
        return f"simulate({getattr(self.kernel, '__name__', 'kernel')})"

    def _launch(self, grid: Any, block: Any, arguments: Any, dynamic_shared: Any) -> Run:
        """Prepare a launch and run it; again block by block, if its blocks turn out to wait for each other."""
        if getattr(self.kernel, "targetoptions", {}).get("device"):
            raise LaunchError(
                f"{self.kernel.__name__} is a device function, which only a kernel calls; write @cuda.jit without "
                "device=True to launch it"
            )
        tracing: Tracing = ""
        if self.trace:
            tracing = "values"
        elif self.watching:
            tracing = "loops"
        ready = partial(prepare, self.kernel, grid, block, arguments, dynamic_shared, tracing=tracing)
        prepared = ready()
        if prepared.compiled.cooperative:
            check_resident(prepared)
        before: list[tuple[np.ndarray, np.ndarray]] = []
        if prepared.compiled.may_restart:
            for array in prepared.may_write:
                parts = [part for part in (array.storage(), array.written) if part is not None]
                before += [(part, part.copy()) for part in parts]
        try:
            return self._observed(prepared, grid, block)
        except (WaitsForOthers, PartOfGrid):  # of other blocks: run each by itself, in turns
            for part, values in before:
                part[...] = values
        return self._observed(ready(interleaved=True), grid, block)

    def _observed(self, prepared: Prepared, grid: Any, block: Any) -> Run:
        """Run a launch that is prepared, with all that watches it."""
        traffic = TrafficObserver()
        counters = [traffic, *(make() for make in COUNTERS)]
        checks = [make() for make in CHECKS]
        recorders = [self.recorder(request_figures)] if self.trace and self.recorder else []
        engine = Engine(prepared, [*counters, *checks, *recorders, *self.watching], self.schedule, self.max_steps)
        stopped = None
        RUNNING.append(checks)
        try:
            engine.run()
        except KernelError as error:  # a loop that does not end
            if isinstance(error, (WaitsForOthers, PartOfGrid)) and not prepared.interleaved:
                raise
            stopped = error
        finally:
            RUNNING.remove(checks)
        rows = rows_of(counters)
        found: list[Finding] = []
        for check in checks:
            found += check.findings
        findings = tuple(sorted(found, key=lambda finding: finding.rank))
        launch = prepared.launch
        shape = (as_given(grid, launch.grid), as_given(block, launch.block))
        run = Run(
            prepared.source.name,
            launch.grid,
            launch.block,
            Traffic(rows, traffic.per_thread, shape),
            findings,
            AnnotatedSource(prepared.lines, rows, findings),
            self.schedule,
            recorders[0].trace(findings, rows) if recorders else None,
            engine.printed.text(),
            exception=engine.raised if prepared.source.debug else None,
            shared_bytes=prepared.compiled.shared_bytes + launch.dynamic_shared,
        )
        print(run.printed, end="")
        if stopped is not None:
            more = stopped.option
            if run.errors:
                more += f"\nBefore that: {error_text(run.kernel_name, run.errors, prepared.lines, _IN_ERROR)}"
            kind = KernelDivisionError if isinstance(stopped, ZeroDivisionError) else KernelError
            raise kind(stopped.text, run.errors, run, line=stopped.line, option=more) from None
        if self.strict and run.errors:
            raise KernelError(error_text(run.kernel_name, run.errors, prepared.lines), run.errors, run)
        return run


def rows_of(counters: Sequence[Any]) -> tuple[TrafficRow, ...]:
    """Return the rows of traffic, of all counts of each line, array, space and operation."""
    columns: dict[str, dict[Any, int]] = {}
    for counter in counters:
        columns |= counter.columns()
    keys: set[Any] = set()
    for counts in columns.values():
        keys |= {*counts}
    rows = []
    for key in sorted(keys):
        counts_of_key: dict[str, Any] = {name: counts.get(key, 0) for name, counts in columns.items()}
        rows.append(TrafficRow(*key, **counts_of_key))
    return tuple(rows)


def check_resident(prepared: Prepared) -> None:
    """Raise LaunchError if not all blocks of the launch, which wait for each other, fit on a GPU at once."""
    launch = prepared.launch
    known = occupancy(launch.threads_per_block, 1, prepared.compiled.shared_bytes + launch.dynamic_shared, HOPPER)
    most = known.blocks * HOPPER["multiprocessors"]
    if launch.blocks > most:
        raise LaunchError(
            f"the launch has {launch.blocks:,} blocks, which wait for each other at this_grid().sync(), and an H100 or "
            f"H200 holds at most {most:,} of them at once ({known.blocks} on each of {HOPPER['multiprocessors']} "
            f"multiprocessors, limited by {known.limit}); launch fewer, and let each thread loop over several elements"
        )


def request_figures(pattern: Pattern, phase: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (sectors, wavefronts, bank conflicts) of one access, for each block of the chunk; 0 if not applicable."""
    blocks = pattern.vector.chunk.shape
    none = np.zeros(blocks, np.int64)
    figures = [none, none, none]
    if pattern.array.space == "global":
        figures[0] = sectors_by_block(pattern, phase)
    elif pattern.array.space == "shared":
        figures[1:] = wavefronts_by_block(pattern, phase)
    sectors, needed, beyond = (np.broadcast_to(figure, blocks).reshape(-1) for figure in figures)
    return sectors, needed, beyond


def as_given(value: Any, dims: tuple[int, int, int]) -> tuple[int, ...]:
    """Return as many dimensions of a grid or block as the launch named: 2 of them for (4, 4)."""
    return dims[: len(value)] if isinstance(value, (tuple, list)) else dims[:1]


#: Who has all findings of a launch whose first one is told.
_HAS_ALL = "simulate(..., strict=False) returns the run with them all"
_IN_ERROR = "the run of this error has them all"


def error_text(
    kernel: str, errors: Sequence[Finding], source: tuple[tuple[int, str], ...], has_all: str = _HAS_ALL
) -> str:
    """Return the first error of a kernel with its source lines, the number of others, and who ``has_all``."""
    first, text = errors[0], dict(source)
    lines = [n for n in dict.fromkeys((first.other_line, first.line)) if n in text]
    shown = [f"  line {n:>4} | {text[n].strip()}" for n in lines]
    more = len(errors) - 1
    if more:
        shown.append(f"(and {plural(more, 'more finding')}; {has_all})")
    return "\n".join([f"{first.kind} in {kernel}: {first.message}", *shown])
