"""The description of one kernel of the ladder: its parameters, its launch, its resources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Any

from numba import float32
from numpy import integer


def with_tile(tile: Callable[..., tuple[int, int]]) -> Any:
    """Return a decorator of a launch whose blocks each load A and B once for a tile of C: its (rows, columns)."""

    def decorate(launch: Any) -> Any:
        launch.tile = tile
        return launch

    return decorate


@with_tile(lambda tile_width, **params: (tile_width, tile_width))
def square_blocks(M, N, K, tile_width=16, stages=1):
    """Return (grid, block) for an M×N result: one block of T×T threads per tile of C, whatever its buffers."""
    return (max(1, -(-N // tile_width)), max(1, -(-M // tile_width))), (tile_width, tile_width)


def blocks(rows: int, columns: int, width: int, height: int = 1) -> Any:
    """Return the launch of a kernel whose blocks of width×height threads each compute a tile of C, as a function."""

    @with_tile(lambda **params: (rows, columns))
    def launch(M, N, K):
        return (max(1, -(-N // columns)), max(1, -(-M // rows))), (width, height)

    return launch


def ready_made(kernel: Any) -> Any:
    """Return a factory that returns `kernel`, for kernels without compile-time parameters."""
    return lambda dtype=float32, **params: kernel


#: Parameters that may be zero.
MAY_BE_ZERO = ("padding", "a_after", "b_after")


def checked(make: Callable[..., Any], params: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a factory that refuses sizes which no kernel can be made for; `params` has defaults that it lacks."""
    defaults = {name: each.default for name, each in signature(make).parameters.items()} | dict(params)

    @wraps(make)
    def checking(*args, **params):
        for name, size in {**dict(zip(defaults, args, strict=False)), **params}.items():
            least = 0 if name in MAY_BE_ZERO else 1
            if type(defaults.get(name)) is int and not (isinstance(size, int | integer) and size >= least):
                raise ValueError(f"{name} is {size!r}; give a whole number of at least {least}")
        return make(*args, **params)

    return checking


#: What a kernel takes that loads four float32 at once, along the rows.
VECTORS: dict[str, Any] = {"dtypes": ("float32",), "orders": ("C",)}


@dataclass(frozen=True)
class Rung:
    """One kernel of the ladder, its parameters with their defaults, and how it is launched.

    make(dtype=, **params) returns the function to call as `kernel[grid, block](A, B, C)`.
    launch(M, N, K, **params) returns that grid and block, x first, and raises ValueError where the kernel
    cannot hold matrices of that size. dynamic_bytes is the dynamic shared memory that each block is launched with.
    dtypes and orders name what element types and memory orders it takes.

    A rung on tensor cores multiplies other numbers than it is given: operand(X) is what it takes for a float32 matrix
    X, and multiplied(X, **params) are the numbers that it multiplies, as float32.

    lesson is the name of the lesson that explains the kernel, empty where it is no milestone of the course's map;
    change says in a few words what the kernel changes, and from which rung.

    >>> tiled = rung("tiled")
    >>> tiled.launch(64, 64, 64), tiled.tile(**tiled.params)
    (((4, 4), (16, 16)), (16, 16))
    """

    name: str
    title: str
    make: Callable[..., Any]
    launch: Callable[..., tuple[tuple[int, int], tuple[int, int]]]
    params: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float32", "float64", "int32")
    orders: tuple[str, ...] = ("C", "F")
    dynamic_bytes: int = 0
    operand: Callable[..., Any] = lambda X: X
    multiplied: Callable[..., Any] = lambda X, **params: X
    lesson: str = ""
    change: str = ""

    def __post_init__(self):
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))
        object.__setattr__(self, "make", checked(self.make, self.params))

    @property
    def tile(self) -> Callable[..., tuple[int, int] | None]:
        """The function of the parameters that gives the (rows, columns) of C for which a block loads A and B once.

        It returns None for a kernel whose threads each load all they need.
        """
        return getattr(self.launch, "tile", lambda **params: None)
