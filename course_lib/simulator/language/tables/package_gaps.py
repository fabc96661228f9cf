"""What one of the packages lacks that compile kernels for a GPU, numba and numba-cuda, and the other has."""

import sys
from collections.abc import Callable, Iterable

from ..source import packages
from ..source.packages import NUMBA, NUMBA_CUDA
from ..types.value_types import TypingError, is_float, is_int

#: The types that numba-cuda moves between lanes.
MOVED = ("int32", "int64", "float32", "float64")
SHUFFLES = [f"cuda.shfl_{way}sync" for way in ("", "up_", "down_", "xor_")]
VOTES = [f"cuda.{name}_sync" for name in ("all", "any", "eq", "ballot")]
#: What numba lacks, and what to write instead.
_LACKED_BY_NUMBA = {
    "math.exp2": "write 2.0 ** x",
    "math.nextafter": "pass the value from the host",
    "int.bit_count": "write cuda.popc(x)",
    "sum() without a first number": "write sum(t, 0)",
    "min() and max() of a tuple": "write its items out",
    "min() and max() of what may be None": "compare, as in x if x < y else y",
    **dict.fromkeys(("np.isnan", "np.isinf", "np.isfinite"), "use that of math"),
    **dict.fromkeys(("np.finfo", "np.iinfo"), "give the value a name outside the kernel"),
    **dict.fromkeys(("np.ndindex", "np.ndenumerate"), "write a loop over range() for each dimension"),
    **{f"cuda.ld{how}": "write A[i]: the hint changes no value" for how in ("ca", "cg", "cs", "lu", "cv")},
    **{f"cuda.st{how}": "write A[i] = x: the hint changes no value" for how in ("cg", "cs", "wb", "wt")},
}
#: For each package and function: a test whether it lacks the function for these types, and what to write instead.
LACKS: dict[str, dict[str, tuple[Callable[..., bool], str]]] = {
    NUMBA: {name: (lambda *kinds: True, advice) for name, advice in _LACKED_BY_NUMBA.items()},
    NUMBA_CUDA: {
        **dict.fromkeys(
            SHUFFLES,
            (
                lambda mask, value, lane: value not in MOVED,
                f"convert the value to {', '.join(MOVED[:-1])} or {MOVED[-1]}",
            ),
        ),
        **dict.fromkeys(VOTES, (lambda mask, value: is_float(value), "compare the value, as in x != 0")),
        # it takes the result for an integer, and then its compiler fails
        "/=": (
            lambda value, by: all(kind == "bool" or is_int(kind) for kind in (value, by)),
            "write x = x / y, or x //= y for a whole number",
        ),
        # the first of its passes over a loop knows the variable as None alone, and its error then ends the compilation
        "value in a variable that is None before the loop": (
            lambda: True,
            "begin with a number, and keep in a bool whether it counts",
        ),
    },
}
#: The options of cuda.jit that numba-cuda alone takes.
OPTIONS = ("forceinline", "lto", "launch_bounds", "shared_memory_carveout")


def _with_rules() -> str | None:
    """The package whose kernels the differences concern; None if they may be those of numba-cuda-mlir, too."""
    return None if "numba_cuda_mlir.cuda" in sys.modules else packages.installed()


def check(name: str, kinds: tuple[str, ...]) -> None:
    """Raise TypingError if the installed package has no function ``name`` of arguments of these types."""
    package = _with_rules()
    lacks, advice = LACKS.get(package or "", {}).get(name, (None, ""))
    if lacks is not None and lacks(*kinds):
        other = NUMBA if package == NUMBA_CUDA else NUMBA_CUDA
        of = f" of {' and '.join(kinds)}" if kinds else ""
        raise TypingError(f"{package} has no {name}{of} (but {other} has); {advice}")


def check_options(options: Iterable[str]) -> None:
    """Raise TypingError if the installed package does not take one of these options of cuda.jit."""
    unknown = next((name for name in OPTIONS if name in options), None)
    if unknown and _with_rules() == NUMBA:
        raise TypingError(f"{NUMBA}'s cuda.jit takes no {unknown} (but {NUMBA_CUDA}'s does); leave it out")
