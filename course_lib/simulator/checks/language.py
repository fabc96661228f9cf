"""What breaks a rule of the language: globals that changed, float64 by accident, failed assertions and raises."""

from typing import Any

from ..compile.compiled_kernel import CompiledKernel
from ..findings import Finding
from ..language.source.constants import shown
from ..launch.prepare import Prepared
from ..observer import Observer
from ..runtime.warp import WarpVector


class LanguageObserver(Observer):
    """Reports each assert and raise that threads end in, and converts the compiler's own lists to warnings.

    Compiled code keeps the old values of globals; float64 arithmetic is many times slower on most GPUs, and easy to
    overlook.
    """

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        with_debug = "with debug=True a GPU ends the thread there, and the launch raises the exception"
        without = "without debug=True a GPU ends the thread there silently"
        self._on_gpu = with_debug if prepared.source.debug else without

    def failed(self, kind: str, text: str, line: int, vector: WarpVector, lanes: Any) -> None:
        what = "fails" if kind == "failed-assertion" else "ends"
        said = f"{what} at {text}; {self._on_gpu}: look at its values, with print or in the stepper"
        self.add_finding(kind, line, vector, lanes, said)

    def warnings(self, compiled: CompiledKernel) -> None:
        for change in compiled.changes.values():
            said = (
                f"{change.name} was {shown(change.first)} when this function was first compiled for arguments of these "
                f"types, and is {shown(change.now)} now; the compiled code keeps what it was: pass it as an argument, "
                "or define the kernel again"
            )
            self.add(Finding("changed-constant", change.line, said))
        for promotion in compiled.promotions.values():
            said = (
                f"{promotion.expression} is computed in {promotion.wide}, because {promotion.operand}; write "
                f"{promotion.advice} to stay in {promotion.narrow}"
            )
            self.add(Finding("float64", promotion.line, said))
