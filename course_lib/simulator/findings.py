"""What a launch can break, and the errors that say so."""

from __future__ import annotations

from dataclasses import dataclass

#: Every kind of finding, with its severity: an error makes a strict launch raise. In the order in which a reader looks
#: at them, for the first kinds are the causes of the later ones.
KINDS = {
    "out-of-bounds": "error",
    "misaligned-access": "error",
    "barrier-divergence": "error",
    "race": "error",
    "uninitialized-read": "error",
    "negative-index": "warning",
    "float64": "warning",
    "changed-constant": "warning",
}


@dataclass(frozen=True)
class Finding:
    """One broken rule, reported once for each pair of source lines and array.

    Attributes:
        kind: "race", "barrier-divergence", "out-of-bounds", "uninitialized-read" or "misaligned-access", which are
            errors; "negative-index" or "float64", which are warnings.
        severity: "error" (a strict launch raises) or "warning".
        line: the line that broke the rule, as numbered in the student's file or notebook cell.
        other_line: the other line that takes part (the earlier access of a race, the return that keeps a
            thread from a barrier), or None.
        array: the kernel's own name for the array, or None.
        index: the element of the first occurrence, one number per dimension, or None.
        threads: the threads of the first occurrence, each ``((bx, by, bz), (tx, ty, tz))``.
        message: one sentence: what, where, what to do.
        count: how many times threads broke the rule at these lines; for a race, how often an instruction was
            seen to race; for "float64", how many operands did it.
    """

    kind: str
    severity: str
    line: int
    other_line: int | None
    array: str | None
    index: tuple[int, ...] | None
    threads: tuple
    message: str
    count: int = 1

    def __str__(self) -> str:
        where = (
            f"line {self.line}"
            if self.other_line in (None, self.line)
            else (f"lines {self.other_line} and {self.line}")
        )
        return f"{self.kind} ({where}): {self.message}"


class SimulatorError(Exception):
    """Base of the errors a user can cause. In a notebook only the message is shown, no internal frames."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class KernelError(SimulatorError):
    """A strict launch broke a rule. ``findings`` holds what was found, ``run`` the whole run."""

    def __init__(self, message: str, findings: tuple[Finding, ...] = (), run=None):
        super().__init__(message)
        self.findings = findings
        self.run = run


class UnsupportedKernelError(SimulatorError):
    """The kernel uses something that the simulator does not run. ``line`` says where."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


class LaunchError(SimulatorError, ValueError):
    """The grid, the block or the arguments of a launch are wrong."""
