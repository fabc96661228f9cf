"""The package that compiles this process's kernels for a GPU: numba or numba-cuda."""

import sys

NUMBA, NUMBA_CUDA = "numba", "numba-cuda"


def installed() -> str | None:
    """The package that compiles the kernels of this process as ``numba.cuda``; None where neither is loaded."""
    file = getattr(sys.modules.get("numba.cuda"), "__file__", None)  # None of a stand-in
    if file is None:
        return None
    return NUMBA_CUDA if "numba_cuda" in file else NUMBA
