"""A launch on a GPU that is not there: one sentence in a notebook, where numba's traceback has 87 lines."""

from __future__ import annotations

from types import TracebackType
from typing import Any

MESSAGE = (
    "there is no GPU here to launch this kernel on. The simulator runs the same kernel: write "
    "simulate(kernel)[grid, block](...) instead of kernel[grid, block](...)."
)


def explain_missing_gpu() -> None:
    """Let the notebook that runs this say MESSAGE where numba finds no GPU; outside of a notebook, do nothing."""
    try:
        from IPython import get_ipython
    except ImportError:  # the course's Python without Jupyter
        return
    shell = get_ipython()
    if shell is None:
        return
    from numba.cuda.cudadrv.error import CudaSupportError

    shell.set_custom_exc((CudaSupportError,), _say)


def _say(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """What IPython calls instead of showing a traceback (`InteractiveShell.set_custom_exc`)."""
    shell._showtraceback(kind, error, [f"{kind.__name__}: {MESSAGE}"])
