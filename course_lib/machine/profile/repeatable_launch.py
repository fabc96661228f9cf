"""A launch that can be made again: with another order of the warps, other arguments, or a change of its kernel."""

import builtins
import contextlib
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...simulator.check_all import SCHEDULES
from ...simulator.language.source.function import Source
from ...simulator.language.source.names import cuda_module, is_cuda_module
from ...simulator.language.source.reading import read
from ...simulator.launch_shape import y_and_x
from ...simulator.repairs.kernel_syntax import Kernel
from ...simulator.repairs.table import Candidate
from ...simulator.run import Run
from ...trace.simulate import simulate
from ..simulated_launch import Simulated
from .names_for_repairs import NUMBA, TYPES, is_float32, is_module, sure_names


@dataclass(frozen=True)
class RepeatableLaunch:
    """A kernel and its launch, to be launched again with changes; ``options`` are those of the decorator.

    ``wide`` are lines that compute in float64 by accident, and ``known`` the sure names of the kernel before changes.
    """

    source: Source
    options: Mapping[str, Any]
    grid: Any
    block: Any
    shared_bytes: int
    arguments: Sequence[Any]
    max_steps: int | None = None
    trace: bool = False
    wide: frozenset[int] = frozenset()
    known: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, launch: Simulated, wide: frozenset[int] = frozenset()) -> "RepeatableLaunch":
        """Take a launch that was simulated, with its arguments as they were before it."""
        kernel, run = launch.kernel, launch.run
        names = ("targetoptions", "overloads", "_can_compile")
        return cls(
            source=read(kernel),
            options={name: getattr(kernel, name) for name in names if hasattr(kernel, name)},
            grid=run.grid,
            block=run.block,
            shared_bytes=launch.shared_bytes,
            arguments=launch.before,
            max_steps=launch.max_steps,
            wide=wide,
        )

    def __call__(self, schedule: str = SCHEDULES[0], arguments: Sequence[Any] | None = None) -> tuple[Run, list[Any]]:
        """Launch with a copy of the arguments; return the run, and the arguments after it."""
        own = copy.deepcopy(list(self.arguments if arguments is None else arguments))
        kernel = SimpleNamespace(py_func=self.source.function, __name__=self.source.name, **self.options)
        with contextlib.redirect_stdout(None):
            launch = simulate(kernel, strict=False, schedule=schedule, trace=self.trace, max_steps=self.max_steps)
            return launch[self.grid, self.block, 0, self.shared_bytes](*own), own

    def changed(self, candidate: Candidate) -> "RepeatableLaunch":
        """Return the launch of the kernel with a change."""
        names = {"cuda": cuda_module(self.names), "float32": np.float32} | self.names  # where a repair imports them
        source = read(self.kernel.changed(candidate.changes, names))
        changed = replace(self, source=source, known=self.sure)
        return replace(changed, grid=y_and_x(self.grid), block=y_and_x(self.block)) if candidate.exchanges else changed

    def launched_with(self, candidate: Candidate) -> "ChangedLaunch | None":
        """Launch the kernel with a change; None if the change makes no kernel, and so is no repair."""
        try:
            changed = self.changed(candidate)
            return ChangedLaunch(changed, *changed(), candidate)
        except Exception:
            return None

    @cached_property
    def names(self) -> dict[str, Any]:
        """The values of the kernel's free names."""
        function = self.source.function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return vars(builtins) | function.__globals__ | {name: cell.cell_contents for name, cell in cells}

    @cached_property
    def sure(self) -> Mapping[str, Any]:
        """Those of the names whose value is sure in the kernel."""
        return sure_names(self.source, self.names) if self.known is None else self.known

    @cached_property
    def cuda(self) -> str:
        """How the kernel writes numba.cuda."""
        own = [name for name, value in self.sure.items() if is_cuda_module(value)]
        packages = [f"{name}.cuda" for name, value in self.sure.items() if is_module(value, NUMBA)]
        return [*own, *packages, "cuda"][0]

    @cached_property
    def float32(self) -> str:
        """How the kernel writes float32; empty if no name for it is sure."""
        own = sorted(
            (name for name, value in self.sure.items() if is_float32(value)), key=lambda name: name != "float32"
        )
        packages = [f"{name}.float32" for name, value in self.sure.items() if value is np]
        packages += [
            f"{name}.float32"
            for name, value in self.sure.items()
            if is_module(value, TYPES) and hasattr(value, "float32")
        ]
        taken = "float32" in self.names or "float32" in self.source.locals
        return [*own, *packages, "" if taken else "float32"][0]

    @property
    def imported(self) -> str:
        """What has to be imported for `float32`, in words."""
        known = "." in self.float32 or self.float32 in self.sure
        package = "numba_cuda_mlir.types" if "mlir" in cuda_module(self.names).__name__ else "numba"
        return "" if known else f", and from {package} import float32 above the kernel"

    @cached_property
    def kernel(self) -> Kernel:
        """The text, as the rows of the table ask for it."""
        source = self.source
        arrays = [name for name, value in zip(source.parameters, self.arguments, strict=False) if np.ndim(value)]
        return Kernel(
            source.function,
            source.tree,
            source.lines,
            self.names,
            arrays=arrays,
            grid=self.grid,
            block=self.block,
            cuda=self.cuda,
            float32=self.float32,
            imported=self.imported,
            wide=self.wide,
        )


@dataclass(frozen=True)
class LaunchResult:
    """A launch that was made: its run, and its arguments ``after`` it."""

    launch: RepeatableLaunch
    run: Run
    after: Sequence[Any]

    @property
    def findings(self) -> set[Any]:
        """What tells the findings of the launch apart."""
        return {finding.key for finding in self.run.findings}


@dataclass(frozen=True)
class ChangedLaunch(LaunchResult):
    """A launch that was made with a ``change`` of its kernel."""

    change: Candidate
