"""Globals that changed after the kernel was compiled; the code keeps their old values."""

from __future__ import annotations

from ..compile.unit import Unit
from ..findings import Finding
from ..language.constants import shown
from ..observer import Observer


class ConstantsObserver(Observer):
    """Converts the compiler's list of changed globals to warnings."""

    def warnings(self, unit: Unit) -> None:
        for change in unit.changes.values():
            self.add(
                Finding(
                    "changed-constant",
                    change.line,
                    f"{change.name} was {shown(change.first)} when this function was first compiled for arguments of "
                    f"these types, and is {shown(change.now)} now; the compiled code keeps what it was: pass it as an "
                    "argument, or define the kernel again",
                )
            )
