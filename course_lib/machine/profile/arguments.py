"""Arguments of a launch, from words: ``A=random:float32:64,64``, ``n=64``."""

import contextlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..programs.statements import UsageError

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
#: Larger arrays are refused: a shape with a digit too many would fill the memory.
MAX_BYTES = 2**32
FORM = "KIND:DTYPE:SHAPE, as A=random:float32:64,64 or A=zeros:int32:100"


def _random(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], low: int, high: int) -> Any:
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.integers(low, high + 1, shape).astype(dtype)


Maker = Callable[[np.random.Generator, np.dtype[Any], tuple[int, ...], int, int], Any]
#: What an array can hold. ``random``: normal numbers; of integers, 0 to 99 or the range that is given.
KINDS: dict[str, Maker] = {
    "random": _random,
    "zeros": lambda rng, dtype, shape, low, high: np.zeros(shape, dtype),
    "ones": lambda rng, dtype, shape, low, high: np.ones(shape, dtype),
    "range": lambda rng, dtype, shape, low, high: np.arange(math.prod(shape)).astype(dtype).reshape(shape),
}


def array(name: str, words: str, rng: np.random.Generator) -> np.ndarray:
    """Return the array that KIND:DTYPE:SHAPE describes, or that of a file: ``file:data.npy``.

    After the shape ``F`` means Fortran's order, and ``0..63`` the least and the greatest random integer.
    """
    kind, _, rest = words.partition(":")
    if kind == "file":
        return _from_file(name, Path(rest))
    dtype, _, rest = rest.partition(":")
    shape, *extras = rest.split(":")
    if kind not in KINDS:
        raise UsageError(f"Array {name} is {kind!r}; choose from {', '.join(KINDS)}, file: write {FORM}.")
    if dtype not in DTYPES:
        raise UsageError(f"Array {name} is of {dtype!r}; choose from {', '.join(DTYPES)}: write {FORM}.")
    extent = numbers(f"the shape of array {name}", shape, least=0)
    size = math.prod(extent) * np.dtype(dtype).itemsize
    if size > MAX_BYTES:
        raise UsageError(f"Array {name} would take {size / 1e9:,.0f} GB; profile a smaller launch.")
    low, high = (0, 1) if dtype == "bool" else (0, 99)
    order = "C"
    for extra in extras:
        ends = extra.split("..")
        if extra == "F":
            order = "F"
        elif len(ends) == 2:
            low, high = (_number(int, f"the range of array {name}", end) for end in ends)
            if low > high:
                raise UsageError(f"The range of array {name} is {extra!r}; write the least number first, as 0..63.")
            if np.dtype(dtype).kind in "iu" and not np.iinfo(dtype).min <= low <= high <= np.iinfo(dtype).max:
                raise UsageError(f"The range {extra} of array {name} does not fit into {dtype}.")
        else:
            raise UsageError(f"Array {name} ends in {extra!r}; after the shape comes F, or a range such as 0..63.")
    return np.asarray(KINDS[kind](rng, np.dtype(dtype), extent, low, high), order="F" if order == "F" else "C")


def _from_file(name: str, path: Path) -> np.ndarray:
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise UsageError(f"Array {name} cannot be read from {str(path)!r}; np.save writes such a file.") from None
    if not isinstance(found, np.ndarray):
        raise UsageError(f"{str(path)!r} holds several arrays; save array {name} with np.save, in a file of its own.")
    return found


def scalar(name: str, words: str) -> Any:
    """Return the number of ``64``, ``1.5``, ``True`` or, with numba's type for it, ``float32:1.5``."""
    dtype, _, value = words.rpartition(":")
    if dtype and dtype not in DTYPES:
        raise UsageError(f"Scalar {name} is of {dtype!r}; choose from {', '.join(DTYPES)}, as {name}=float32:1.5.")
    plain: Any = {"True": True, "False": False}.get(value)
    for kind in (int, float, complex):
        if plain is None:
            with contextlib.suppress(ValueError):
                plain = kind(value)
    if plain is None:
        raise UsageError(f"Scalar {name} is {value!r}; write a number, as {name}=64, {name}=1.5 or {name}=True.")
    if not dtype:
        return plain
    try:
        number = np.dtype(dtype).type(plain)
        if np.dtype(dtype).kind in "iub" and number != plain:
            raise TypeError
        return number
    except (OverflowError, TypeError):
        raise UsageError(f"Scalar {name} is {value}, which is no {dtype}.") from None


def _number(kind: type, what: str, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"A number is missing in {what}: {text!r} is none.") from None


def numbers(what: str, text: str, least: int = 1) -> tuple[int, ...]:
    """Return the numbers of ``4,4``, each at least ``least``."""
    found = tuple(_number(int, what, part) for part in text.split(","))
    if min(found) < least:
        raise UsageError(f"{what[0].upper()}{what[1:]} is {text}; its numbers are {least} or more.")
    return found


def named(option: str, given: Sequence[str]) -> dict[str, str]:
    """Return the value of each name in the options ``NAME=…`` that were given."""
    found: dict[str, str] = {}
    for words in given:
        name, equals, value = words.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"--{option} takes NAME=…, with a parameter of the kernel, not {words!r}.")
        if name in found:
            raise UsageError(f"--{option} {name}=… is given twice.")
        found[name] = value
    return found


def in_order(
    kernel: str, parameters: Sequence[str], arrays: Sequence[str], scalars: Sequence[str], seed: int
) -> list[Any]:
    """Return the arguments of a kernel in the order of its parameters."""
    of_arrays = named("array", arrays)
    of_scalars = named("scalar", scalars)
    for name in {**of_arrays, **of_scalars}:
        if name not in parameters:
            raise UsageError(f"{kernel} has no parameter {name!r}; its parameters are {', '.join(parameters)}.")
        if name in of_arrays and name in of_scalars:
            raise UsageError(f"{name} is given twice, as an array and as a scalar.")
    missing = [name for name in parameters if name not in of_arrays and name not in of_scalars]
    if missing:
        raise UsageError(
            f"{kernel} also takes {', '.join(missing)}; add --array {missing[0]}=random:float32:64,64 (its dtype and "
            f"shape) or --scalar {missing[0]}=64 (its value)."
        )
    rng = np.random.default_rng(seed)
    return [
        array(name, of_arrays[name], rng) if name in of_arrays else scalar(name, of_scalars[name])
        for name in parameters
    ]
