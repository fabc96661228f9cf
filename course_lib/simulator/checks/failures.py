"""Failed assertions and raised exceptions: a GPU ends the thread there, and only debug=True tells the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..findings import Finding
from ..observer import Observer

if TYPE_CHECKING:
    from ..lanes.warp import WarpVector
    from ..launch.prepare import Prepared


class FailuresObserver(Observer):
    """Reports each assert and each raise that threads end in."""

    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        with_debug = "with debug=True a GPU ends the thread there, and the launch raises the exception"
        without = "without debug=True a GPU ends the thread there silently"
        self._on_gpu = with_debug if prepared.source.debug else without

    def failed(self, kind: str, text: str, line: int, vector: WarpVector, lanes: Any) -> None:
        thread = vector.first_thread(lanes)
        what = "fails" if kind == "failed-assertion" else "ends"
        said = f"{self.name(thread)} {what} at {text}; {self._on_gpu}: look at its values, with print or in the stepper"
        self.add(Finding(kind, line, said, threads=(thread,), count=int(np.count_nonzero(lanes))))
