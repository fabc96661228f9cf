"""The compiler's own code of the device functions that Python cannot say: one module for each of theirs.

A module is imported when a kernel that uses it is compiled for a GPU. So a kernel's file needs neither llvmlite nor
numba's internals where only the simulator runs it.
"""

from ...lazy import lazily

_MODULES = "async_copy bulk_copy instructions tensor_core tensor_core_loads vector warpgroup".split()

__getattr__, __dir__ = lazily(__name__, {name: f".{name}" for name in _MODULES})
