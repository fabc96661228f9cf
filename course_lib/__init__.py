"""Tile by Tile: GPU matrix multiplication you can step through.

``simulate`` runs a numba CUDA kernel on the CPU, counts what each line asks of memory and reports the rules it
breaks. The kernels, the figures, the stepper and the exercises are in the subpackages.
"""

from .run import Finding, Run, Traffic
from .simulate import simulate
from .simulator.findings import KernelError, LaunchError, UnsupportedKernelError

__all__ = ["Finding", "KernelError", "LaunchError", "Run", "Traffic", "UnsupportedKernelError", "simulate"]
