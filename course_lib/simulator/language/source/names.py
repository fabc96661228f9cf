"""Look-up of a kernel's names: the parts of numba.cuda, and types."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType

#: Objects with x, y and z, such as ``cuda.threadIdx``.
COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@dataclass(frozen=True)
class Symbol:
    """A name in numba.cuda: ``cuda.shared.array`` is ``Symbol(("shared", "array"))``."""

    path: tuple[str, ...] = ()
    #: the object of this name in the package that the kernel imported
    obj: object = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return ".".join(("cuda", *self.path))


class KernelName:
    """A name that means something in a kernel alone, where no package that has it is installed; ``parts``: names in it.

    It is known by itself, not by the module from which it was imported.
    """

    def __init__(self, name: str, parts: Mapping[str, object]) -> None:
        self.__name__ = name
        vars(self).update(parts)

    def __call__(self, *arguments: object, **named: object) -> object:
        raise TypeError(f"cuda.{self.__name__} works in a kernel alone")

    def __repr__(self) -> str:
        return f"cuda.{self.__name__}"


#: What ``cuda.cg.this_grid()`` returns; its ``sync`` is ``cg.this_grid().sync``.
GRID_GROUP = Symbol(("cg", "this_grid()"))


def is_cuda_module(obj: object) -> bool:
    """Whether ``obj`` is numba.cuda, from either package."""
    return isinstance(obj, ModuleType) and "numba" in obj.__name__ and obj.__name__.split(".")[-1] == "cuda"


def cuda_module(names: Mapping[str, object]) -> ModuleType:
    """The module numba.cuda, or that of numba-cuda-mlir, that a kernel with these global names imports."""
    of_packages = [getattr(obj, "cuda", None) for obj in names.values() if isinstance(obj, ModuleType)]
    known = [obj for obj in (*names.values(), *of_packages) if is_cuda_module(obj)]
    found = [*known, *_cuda_modules(len(sys.modules)), ModuleType("numba.cuda")][0]
    assert isinstance(found, ModuleType)
    return found


@lru_cache(maxsize=1)
def _cuda_modules(loaded: int) -> tuple[ModuleType, ...]:
    """The loaded modules that are numba.cuda; cached by the number of loaded modules, since there are thousands."""
    return tuple(module for module in list(sys.modules.values()) if is_cuda_module(module))


def cuda_name(obj: object) -> str | None:
    """The name in numba.cuda of an object imported from there, such as ``threadIdx`` or ``libdevice.sqrtf``."""
    if isinstance(obj, KernelName):
        return obj.__name__
    home = obj.__name__ if isinstance(obj, ModuleType) else getattr(obj, "__module__", None)
    if "cuda" not in str(home or type(obj).__module__):
        return None
    for module in _cuda_modules(len(sys.modules)):
        for name, value in vars(module).items():
            if value is obj and not name.startswith("_"):
                return name
    parent, _, part = str(home).rpartition(".")
    own = getattr(obj, "__name__", "")
    in_its_module = bool(own) and getattr(sys.modules.get(str(home)), own, None) is obj
    if in_its_module and is_cuda_module(sys.modules.get(parent)):
        return f"{part}.{own}"
    return None


#: The parts of cuda for which numba-cuda-mlir has another name, too, by that name.
OTHER_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("local_array",): ("local", "array"),
    ("shared_array",): ("shared", "array"),
}
