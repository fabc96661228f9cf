"""Short errors in a notebook for two mistakes: a launch without a GPU, for which numba's traceback has 87 lines, and a
cell that is run before the ones above it, for which the traceback shows the answer of a prediction."""

from types import TracebackType
from typing import Any

NO_GPU = (
    "there is no GPU here. Call course_lib.without_gpu() before this, and the simulator takes such launches, arrays of "
    "cuda.to_device(...) and kernels with a signature; or write simulate(kernel)[grid, block](...) instead of "
    "kernel[grid, block](...), which returns what was counted."
)
NO_NAME = (
    "{error}, and line {line} of this cell uses it. A cell above may define it: choose Run → Run All Above Selected "
    "Cell, and then run this one. Or is it misspelt?"
)


def shorten_errors() -> None:
    """Register the short errors in the notebook; outside a notebook, do nothing.

    That happens where the exercises are imported, before any call: a name in the arguments of a lesson's first
    `predict` may be missing, and then `predict` is never called.
    """
    try:
        from IPython import get_ipython
    except ImportError:  # Python without Jupyter
        return
    shell = get_ipython()
    if shell is None:
        return
    from numba.cuda.cudadrv.error import CudaSupportError

    shell.set_custom_exc((CudaSupportError, NameError), _say)


def _say(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """Called by IPython instead of showing a traceback (`InteractiveShell.set_custom_exc`)."""
    if not isinstance(error, NameError):
        said = NO_GPU
    elif (line := _line_of_the_cell(shell, trace)) is not None:
        said = NO_NAME.format(error=error, line=line)
    else:
        shell.showtraceback((kind, error, trace), running_compiled_code=True)
        return
    shell._showtraceback(kind, error, [f"{kind.__name__}: {said}"])


def _line_of_the_cell(shell: Any, trace: TracebackType) -> int | None:
    """The line of the cell that raised the error; None if it was raised in a function that the cell calls."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    return trace.tb_lineno if frame.f_globals is shell.user_ns and frame.f_code.co_name == "<module>" else None
