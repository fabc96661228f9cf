"""The verdicts on the launches of a program: what :class:`Launches` asks of each that is new."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...simulator.testing import exceeded
from .. import measurements
from ..programs.launches import MAX_VERDICTS, Fault, LaunchJudge
from ..simulated_launch import Simulated
from .costs import costs
from .profiling import Profile, examined, outlined


@dataclass
class Profiler(LaunchJudge):
    """Says of a launch what `profile` says.

    Attributes:
        gpu, registers: as `profile` takes them.
        repair_seconds: for tries of repairs, of all launches together.
        budgets: the most of each count that a launch may have.
        executes: whether to execute the machine code.
    """

    gpu: str = measurements.DEFAULT_GPU
    registers: int | None = None
    repair_seconds: float = 0.0
    budgets: Mapping[str, int] = field(default_factory=dict)
    executes: bool = False

    def __post_init__(self) -> None:
        self._left = self.repair_seconds

    def needs_arguments(self, kernel: Any) -> bool:
        """Say yes: a profile makes the launch again."""
        return True

    def problems(self, launch: Simulated) -> Sequence[Fault]:
        """Return what is wrong or slow, and the budgets that are exceeded."""
        return [*launch.run.findings, *costs(launch.run), *exceeded(launch.run, self.budgets)]

    def within(self, launch: Simulated, problem: Fault) -> str:
        """Return nothing: the verdict names the iterations."""
        return ""

    def outlined(self, launch: Simulated) -> Profile:
        """Return what the simulator tells of a launch by itself."""
        return outlined(launch, self.registers, self.gpu)

    def examined(self, launch: Simulated, number: int) -> Profile | None:
        """Return a profile with trace, time and repair; None for the later ones of many kernels without findings."""
        if number > MAX_VERDICTS and not (launch.failed or launch.run.findings or costs(launch.run)):
            return None
        began = time.process_time()
        seconds = min(self.repair_seconds / MAX_VERDICTS, self._left)
        profile = examined(launch, self.registers, self.gpu, seconds, self.executes)
        self._left -= time.process_time() - began
        return profile
