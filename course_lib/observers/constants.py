"""Globals that changed after the kernel was compiled: the code keeps what they were."""

from __future__ import annotations

from ..simulator.compile.unit import Unit
from ..simulator.findings import Finding
from ..simulator.observer import Observer


class ConstantsObserver(Observer):
    """Turns the compiler's list of changed names into warnings."""

    def warnings(self, unit: Unit) -> None:
        for change in unit.changes.values():
            self.add(
                Finding(
                    "changed-constant",
                    change.line,
                    f"{change.name} was {change.first!r} when this function was first compiled for arguments of these "
                    f"types, and is {change.now!r} now; the compiled code keeps {change.first!r}: pass it as an "
                    "argument, or define the kernel again",
                )
            )
