"""Assertions that fail, and raises: the exceptions that threads end in."""

from typing import Any

from ..launch.prepare import Prepared
from ..observer import Observer
from ..runtime.warp import WarpVector


class ExceptionsObserver(Observer):
    """Reports each assert and raise that threads end in."""

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        with_debug = "with debug=True a GPU ends the thread there, and the launch raises the exception"
        without = "without debug=True a GPU ends the thread there silently"
        self._on_gpu = with_debug if prepared.source.debug else without

    def failed(self, kind: str, text: str, line: int, vector: WarpVector, lanes: Any) -> None:
        what = "fails" if kind == "failed-assertion" else "ends"
        said = f"{what} at {text}; {self._on_gpu}: look at its values, with print or in the stepper"
        self.add_finding(kind, line, vector, lanes, said)
