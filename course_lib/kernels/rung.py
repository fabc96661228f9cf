"""What the ladder says about one kernel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from numba import float32


def no_shared_memory(itemsize=4, **params):
    """Return 0, the bytes of shared memory of a kernel that uses none."""
    return 0


def ready_made(kernel):
    """Return a factory that hands out `kernel`, for kernels with nothing to fix at compile time."""
    return lambda dtype=float32, **params: kernel


@dataclass(frozen=True)
class Rung:
    """One kernel of the ladder, its parameters with their defaults, and how it is launched.

    make(dtype=, **params) returns the function to call as `kernel[grid, block](A, B, C)`.
    launch(M, N, K, **params) returns that grid and block, x first, and raises ValueError where the kernel
    cannot hold matrices of that size. shared_bytes(itemsize=, **params) is its static shared memory per block.
    """

    name: str
    title: str
    make: Callable[..., Any]
    launch: Callable[..., tuple[tuple[int, int], tuple[int, int]]]
    params: Mapping[str, Any] = field(default_factory=dict)
    shared_bytes: Callable[..., int] = no_shared_memory

    def __post_init__(self):
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))
