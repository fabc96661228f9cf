"""A launch of a kernel of one's own, profiled without a GPU.

    from course_lib.machine.profile import profile
    launch = profile(kernel, (4, 4), (16, 16), A, B, C)
    launch.run.findings, launch.residency.occupancy, launch.time

``tile-by-tile profile my_kernel.py:kernel --grid 4,4 --block 16,16 ...`` does the same from the command line.
"""

from .predicted_time import Time
from .profiling import Profile, profile
from .residency import Residency

__all__ = ["Profile", "Residency", "Time", "profile"]
