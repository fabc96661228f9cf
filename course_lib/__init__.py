"""Tile by Tile: GPU matrix multiplication you can step through.

``simulate`` runs a numba CUDA kernel on the CPU, counts what each line requests from memory and reports the rules it
breaks. Everything else that lessons use is imported on first use: exercises (``check``, ``explain``, ``predict``,
``score``) and their matrices (``matrices``, ``multiply``), widgets (``Stepper``, ``compare``, ``explore``), pictures
(``figures``), formulas (``model``), machine code (``show_machine_code``), a ``timing_model``, what a launch of a
kernel of one's own takes (``profile``) and recorded ``measurements``. The kernels are in :mod:`course_lib.kernels`.
"""

from typing import TYPE_CHECKING

from .lazy import fall_back, lazily
from .simulator.findings import KernelError, LaunchError, UnsupportedKernelError
from .simulator.run import Finding, Run, Traffic
from .trace.simulate import simulate

if TYPE_CHECKING:
    from .classroom.course_map import ladder
    from .exercises import check, explain
    from .exercises.capstone import attempt, attempts
    from .exercises.predict import predict
    from .exercises.products import matrices, multiply
    from .exercises.progress import score
    from .machine import figures, measurements, model, sliders, timing_model
    from .machine.language_tabs import tabs
    from .machine.machine_code.show import show_machine_code
    from .machine.profile.profiling import profile
    from .machine.programs.this_process import without_gpu
    from .trace import palette
    from .trace.viewer.explorer import explore
    from .trace.viewer.stepper import Stepper, compare

__all__ = [
    "Finding",
    "KernelError",
    "LaunchError",
    "Run",
    "Stepper",
    "Traffic",
    "UnsupportedKernelError",
    "attempt",
    "attempts",
    "check",
    "compare",
    "explain",
    "explore",
    "figures",
    "ladder",
    "matrices",
    "measurements",
    "model",
    "multiply",
    "palette",
    "predict",
    "profile",
    "score",
    "show_machine_code",
    "simulate",
    "sliders",
    "tabs",
    "timing_model",
    "without_gpu",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        **dict.fromkeys(("check", "explain", "predict", "score"), ".exercises"),
        **dict.fromkeys(("attempt", "attempts"), ".exercises.capstone"),
        **dict.fromkeys(("matrices", "multiply"), ".exercises.products"),
        **dict.fromkeys(("Stepper", "compare"), ".trace.viewer.stepper"),
        "explore": ".trace.viewer.explorer",
        "ladder": ".classroom.course_map",
        "palette": ".trace.palette",
        **{name: f".machine.{name}" for name in ("figures", "measurements", "model", "sliders", "timing_model")},
        "profile": ".machine.profile.profiling",
        "show_machine_code": ".machine.machine_code.show",
        "tabs": ".machine.language_tabs",
        "without_gpu": ".machine.programs.this_process",
    },
)

#: Kernels and lessons import numba. Where it is not installed, they get the names that they use, and no compiler.
fall_back("numba", f"{__name__}.machine.programs.missing_packages:NumbaOfLessons")
