"""The profiles of a program's launches: what :class:`Launches` asks for each that is new."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...simulator.testing import exceeded
from .. import measurements
from ..programs.launches import MAX_VERDICTS, Fault, LaunchHandler
from ..simulated_launch import Simulated
from .costs import costs
from .profiling import Profile, full_profile, preliminary_profile


@dataclass
class ProfilingHandler(LaunchHandler):
    """Says of a launch what `profile` says.

    Attributes:
        gpu, registers: as `profile` takes them.
        repair_seconds: for tries of repairs, of all launches together.
        budgets: the most of each count that a launch may have.
        compare_machine_code: whether to execute the machine code, too.
    """

    gpu: str = measurements.DEFAULT_GPU
    registers: int | None = None
    repair_seconds: float = 0.0
    budgets: Mapping[str, int] = field(default_factory=dict)
    compare_machine_code: bool = False

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

    def preliminary_report(self, launch: Simulated) -> Profile:
        """Return what the simulator tells of a launch by itself."""
        return preliminary_profile(launch, self.registers, self.gpu)

    def full_report(self, launch: Simulated, number: int) -> Profile | None:
        """Return a profile with trace, time and repair; None for the later ones of many kernels without findings."""
        if number > MAX_VERDICTS and not (launch.failed or launch.run.findings or costs(launch.run)):
            return None
        began = time.process_time()
        seconds = min(self.repair_seconds / MAX_VERDICTS, self._left)
        profile = full_profile(launch, self.registers, self.gpu, seconds, self.compare_machine_code)
        self._left -= time.process_time() - began
        return profile
