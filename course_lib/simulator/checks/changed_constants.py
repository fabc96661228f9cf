"""Globals and closure variables that changed after the kernel was compiled, which keeps the old values."""

from ..compile.compiled_kernel import CompiledKernel
from ..findings import Finding
from ..language.source.constants import shown
from ..observer import Observer


class ChangedConstantsObserver(Observer):
    """Reports the changes that the compiled kernel lists."""

    def warnings(self, compiled: CompiledKernel) -> None:
        for change in compiled.changes.values():
            said = (
                f"{change.name} was {shown(change.first)} when this function was first compiled for arguments of these "
                f"types, and is {shown(change.now)} now; the compiled code keeps what it was: pass it as an argument, "
                "or define the kernel again"
            )
            self.add(Finding("changed-constant", change.line, said))
