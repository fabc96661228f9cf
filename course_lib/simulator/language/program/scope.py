"""The names that generated code uses: those of the runtime, and those that are made for a module."""

import re

import numpy as np

from ...runtime import arithmetic, array_views, diverging_arrays, elementwise, loops, masks
from ...runtime.barrier import Barrier

#: What the code of every kernel can call.
SCOPE: dict[str, object] = {
    "__builtins__": {},
    "np": np,
    "Barrier": Barrier,
    "CHECKED_ITERATIONS": loops.CHECKED_ITERATIONS,
} | {
    name: obj
    for module in (arithmetic, diverging_arrays, elementwise, loops, masks, array_views)
    for name, obj in vars(module).items()
    if callable(obj) and getattr(obj, "__module__", None) == module.__name__
}
#: The other names that are not a function's own: the warp, and what `Module` names.
_OF_MODULE = re.compile(
    r"warp|make|sites"
    r"|(dtype|constant|device|bool|u?int\d+|float\d+|complex\d+)_.*"  # types, objects, functions, numbers
    r"|.*_line_\d+(_\d+)?"  # accesses
)


def is_reserved(name: str) -> bool:
    """Whether a variable of a kernel cannot have this name in the generated code."""
    return name in SCOPE or _OF_MODULE.fullmatch(name) is not None
