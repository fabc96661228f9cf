"""The entry point: ``run = simulate(kernel)[grid, block](A, B, C)``, with the recorder of traces for ``trace=True``."""

from typing import Any

from ..simulator.simulation import Simulation
from .record import TraceObserver


def simulate(
    kernel: Any,
    *,
    strict: bool = True,
    schedule: str | int = "in-order",
    trace: bool = False,
    max_steps: int | None = None,
) -> Simulation:
    """Prepare ``kernel`` for a launch on the CPU simulator.

    Args:
        kernel: a function decorated with ``@cuda.jit``, or a plain function of the same language.
        strict: raise :class:`KernelError` after a launch that broke a rule. With ``False`` the returned run
            carries the findings; a launch that had to stop, as in a loop that never ends, raises all the same.
        schedule: which warp of a block runs first between two barriers: "in-order", "reversed", "shuffled" or
            the seed of a shuffle. A correct kernel gives the same results for all of them.
        trace: record every statement of every warp, for the viewer. For small launches.
        max_steps: loop iterations allowed in one launch, of all its warps together, so that a loop that never ends is
            reported; by default 20,000,000, of which one execution of a ``while`` loop may take 100,000, and five
            minutes of processor time. An iteration of the same warp of many blocks that run together counts once.

    Returns:
        An object to be launched as a numba kernel is: ``[grid, block](*arguments)``. Arguments are numbers and
        NumPy arrays of bool, integers, float16, float32, float64, complex64 and complex128, C- or
        Fortran-contiguous, of any number of dimensions; arrays of records and single records with fields of these
        types; arrays of ``cuda.to_device`` and ``cuda.device_array``, of any strides; and tuples of all these. Arrays
        are changed in place; the launch returns a :class:`Run`.

    Raises (on launch):
        KernelError: the kernel broke a rule. LaunchError: grid, block or arguments are wrong.
        UnsupportedKernelError: the kernel uses something the simulator does not run.

    >>> @cuda.jit
    ... def double(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] = -x[i]
    >>> run = simulate(double)[4, 32](np.arange(100, dtype=np.float32))
    >>> run.traffic.requests, run.traffic.sectors, run.findings
    (8, 26, ())
    """
    return Simulation(kernel, strict, schedule, trace, TraceObserver, max_steps)
