"""Tile by Tile: GPU matrix multiplication you can step through.

``simulate`` runs a numba CUDA kernel on the CPU, counts what each line requests from memory and reports the rules it
breaks. Everything else that lessons use is imported on first use: exercises (``check``, ``explain``, ``predict``,
``score``), widgets (``Stepper``, ``compare``, ``explore``), pictures (``figures``), formulas (``model``), the rule
of lesson 15 (``planning``) and recorded ``measurements``. The kernels are in :mod:`course_lib.kernels`.
"""

from typing import TYPE_CHECKING

from .lazy import lazily
from .run import Finding, Run, Traffic
from .simulate import simulate
from .simulator.findings import KernelError, LaunchError, UnsupportedKernelError

if TYPE_CHECKING:
    from . import dials, figures, look, measurements, model, planning
    from .course_map import roadmap
    from .exercises import check, explain
    from .exercises.predict import predict
    from .exercises.progress import score
    from .viewer.explore import explore
    from .viewer.stepper import Stepper, compare

__all__ = [
    "Finding",
    "KernelError",
    "LaunchError",
    "Run",
    "Stepper",
    "Traffic",
    "UnsupportedKernelError",
    "check",
    "compare",
    "dials",
    "explain",
    "explore",
    "figures",
    "look",
    "measurements",
    "model",
    "planning",
    "predict",
    "roadmap",
    "score",
    "simulate",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        **dict.fromkeys(("check", "explain", "predict", "score"), ".exercises"),
        **dict.fromkeys(("Stepper", "compare", "explore"), ".viewer"),
        "roadmap": ".course_map",
        **{name: f".{name}" for name in ("dials", "figures", "look", "measurements", "model", "planning")},
    },
)
