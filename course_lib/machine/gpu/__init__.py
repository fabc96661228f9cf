"""Run the ladder on a real GPU: verify a kernel first, time it afterwards.

    from course_lib.machine import gpu
    gpu.available()                              # False on a machine without a CUDA GPU
    gpu.verify(rung("tiled"), 70, 45, 130)       # a Comparison, with float64
    gpu.time(rung("tiled"), 4096, 4096, 4096)    # a Timing: milliseconds of every repeat

From a shell, `tile-by-tile gpu --help`: it verifies a kernel, and times it if it is right.
"""

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from .device import available, describe
    from .ladder_roofline import roofline
    from .timing import Timing, time
    from .verification import Comparison, verify

__all__ = ["Comparison", "Timing", "available", "describe", "roofline", "time", "verify"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "roofline": ".ladder_roofline",
        **dict.fromkeys(("available", "describe"), ".device"),
        **dict.fromkeys(("Timing", "time"), ".timing"),
        **dict.fromkeys(("Comparison", "verify"), ".verification"),
    },
)
