"""The functions that compiled kernels call: masks, loops, barriers, conversions, and the operators NumPy has not.

A mask is ``True`` (every lane of the vector), ``False`` (none) or a boolean array of four axes. Functions that
narrow a mask return ``True`` and ``False`` themselves wherever they can, so that code which does not diverge
runs without masks.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..findings import KernelError, UnsupportedKernelError
from ..typing_rules import cast  # noqa: F401 (for the compiled kernels)
from .complexes import complex_of, complex_power, complex_quotient, product  # noqa: F401 (for the compiled kernels)
from .memory import unite

#: What the generated code puts into each version of a variable before any lane assigns it.
UNDEFINED = None


def split(mask, condition):
    """Divide ``mask`` by ``condition``: (lanes where it holds, lanes where it does not)."""
    if type(condition) is not np.ndarray:
        return (mask, False) if condition else (False, mask)
    if mask is True:
        if condition.all():
            return True, False
        return (condition, ~condition) if condition.any() else (False, True)
    yes = mask & condition
    if not yes.any():
        return False, mask
    no = mask & ~condition
    return (yes, no) if no.any() else (mask, False)


def minus(mask, gone):
    """The lanes of ``mask`` that are not in ``gone``."""
    if gone is False or mask is False:
        return mask
    if gone is True or gone is mask:
        return False
    if mask is not True and not (mask & gone).any():
        return mask  # the same object, which Site.locate and masked assignments recognise
    left = ~gone if mask is True else mask & ~gone
    return left if left.any() else False


def join(before, yes, no, yes_after, no_after):
    """The lanes that reach the end of an if: all of ``before`` where no lane left either branch."""
    if yes_after is yes and no_after is no:
        return before
    return unite(yes_after, no_after)


def blend(mask, new, old):
    """``new`` in the lanes of ``mask``, ``old`` in the others."""
    if mask is True or old is UNDEFINED:
        return new
    if new is old:
        return new
    return np.where(mask, new, old)


def choose(mask, new, old, line):
    """:func:`blend` for values that hold arrays: every lane must mean the same array."""
    if mask is True or old is UNDEFINED or new is old:
        return new
    if isinstance(new, tuple):
        return tuple(choose(mask, n, o, line) for n, o in zip(new, old, strict=True))
    if isinstance(new, (np.ndarray, np.generic)):
        return blend(mask, new, old)
    raise UnsupportedKernelError(
        "threads of one warp choose different arrays for one variable; the simulator needs "
        "one array for all of them: use one array with an index that differs",
        line,
    )


def both(left, right):
    """``left and right`` of conditions of which the right one is valid only where the left one holds."""
    if type(left) is not np.ndarray:
        return right if left else np.False_
    return left & right


def either(left, right):
    """``left or right``, likewise."""
    if type(left) is not np.ndarray:
        return np.True_ if left else right
    return left | right


def pick(condition, yes, no):
    """``yes if condition else no`` for values that are both known."""
    if type(condition) is not np.ndarray:
        return yes if condition else no
    return np.where(condition, yes, no)


class Barrier(NamedTuple):
    """What a warp yields when it arrives at a barrier, where it waits for the other warps of its blocks.

    ``place`` says where in program order it stands: positions in the source and iteration counts, outermost first.
    ``branch`` is the line of the innermost if or loop around it, or None; ``mask`` holds the lanes that arrived;
    ``reduction`` is None, or the name and the predicate of ``syncthreads_count``, ``_and`` or ``_or``.
    """

    place: tuple
    line: int
    branch: int | None
    mask: object
    reduction: tuple | None


class Steps:
    """The step budget of a launch: loop iterations of one warp vector, over all loops, and in one ``while`` loop."""

    LIMIT = 20_000_000  # some minutes of work
    WHILE_LIMIT = 100_000

    def __init__(self, limit: int | None):
        self.limit = self.left = self.LIMIT if limit is None else limit
        self.while_limit = self.WHILE_LIMIT if limit is None else limit
        self.seen: tuple | None = None  # see waits()

    def spend(self, line: int, count: int = 0):
        """Take one iteration from the budget; a ``while`` loop has already run ``count`` iterations."""
        self.left -= 1
        if self.left < 0:
            self.stop(line)
        if count >= self.while_limit:
            self.stop(line, self.while_limit, "")

    def waits(self, count: int, sites: tuple, variables: tuple, mask, line: int):
        """Stop a ``while`` loop without barriers that changes nothing from one iteration to the next.

        ``count`` iterations are over; ``sites`` are all that the loop accesses, ``variables`` all that it assigns.
        """
        if count % 1000 == 0 and all(site.array is not None and site.array.space != "local" for site in sites):
            written = [site.array for site in sites if site.op != "load"]
            self.seen = mask, variables, written, [array.storage().copy() for array in written]
        elif count % 1000 == 1 and self.seen:
            (before, values, written, copies), self.seen = self.seen, None
            if all(map(np.array_equal, (before, *values), (mask, *variables))) and all(
                np.array_equal(array.storage(), copy) for array, copy in zip(written, copies, strict=True)
            ):
                raise KernelError(
                    f"line {line}: this loop waits for something that no longer changes. A warp runs "
                    "alone up to its next barrier here, so no other thread ends the wait, and on a GPU "
                    "threads that wait for each other can hang too: use a barrier, or an atomic that "
                    "nobody waits for"
                )

    def stop(self, line: int, limit: int | None = None, where: str = " in one launch"):
        raise KernelError(
            f"line {line}: this loop was still running after {limit or self.limit:,} iterations{where}; "
            "check what ends it, or pass simulate(..., max_steps=...) if it is meant to be so long"
        )


def iterate(steps: Steps, live: list, start, stop, step, dtype, line: int, whole: bool):
    """Run a ``for ... in range``: yield (value, mask) while a lane of ``live[0]`` has values left.

    The body takes lanes out of ``live[0]`` when they break or return; ``whole``: it never does.
    """
    if not (type(start) is np.ndarray or type(stop) is np.ndarray or type(step) is np.ndarray):
        if step == 0:
            raise KernelError(f"line {line}: the step of range() is 0, so the loop would never end; give it another")
        start, stop, step = int(start), int(stop), int(step)
        if whole and -((start - stop) // step) > steps.left:
            steps.stop(line)
        for value in range(start, stop, step):
            steps.left -= 1
            if steps.left < 0:
                steps.stop(line)
            yield dtype(value), live[0]
            if live[0] is False:
                return
        return
    if np.any(np.asarray(step) == 0):
        raise KernelError(f"line {line}: the step of range() is 0, so the loop would never end; give it another")
    value = np.asarray(start).astype(dtype)
    value = value.reshape((1,) * (4 - value.ndim) + value.shape)
    up = np.asarray(step) > 0
    while True:
        mask, _ = split(live[0], np.where(up, value < stop, value > stop))
        if mask is False:
            return
        live[0] = mask
        steps.spend(line)
        yield value, mask
        if live[0] is False:
            return
        value = (value + step).astype(dtype)


def each(steps: Steps, live: list, items: tuple, line: int):
    """Run ``for ... in items`` of a tuple, as :func:`iterate` does."""
    for value in items:
        if live[0] is False:
            return
        steps.spend(line)
        yield value, live[0]


def numbered(iterator, start):
    """``enumerate``: every lane is in the same iteration as long as it runs."""
    for count, (value, mask) in enumerate(iterator):
        yield (start + np.int64(count), value), mask


def together(iterators: list):
    """``zip``: a lane runs as long as all of its iterators do. They take lanes out of one and the same list."""
    for steps in zip(*iterators, strict=False):
        yield tuple(value for value, _ in steps), steps[-1][1]


def item_at(items: tuple, index, full, mask, line: int, text: str):
    """``items[index]`` of a tuple whose items have one type, for an index that the threads work out."""
    count = len(items)
    wrong = full((index < -count) | (index >= count)) & full(mask)
    if wrong.any():
        found = np.broadcast_to(index, wrong.shape)[wrong][0]
        raise KernelError(
            f"line {line}: the index of {text} is {found}, and the tuple has {count} items; keep it "
            f"below {count}, with an if or %"
        )
    if type(index) is not np.ndarray:
        return items[int(index)]
    result = items[0]
    for i in range(1, count):
        result = choose((index == i) | (index == i - count), items[i], result, line)
    return result


def quotient(a, b):
    """``a // b`` of integers: 0 where b is 0, and where the lowest integer is divided by -1."""
    result = a // b
    if result.dtype.kind == "i":
        overflow = (b == -1) & (a == np.iinfo(result.dtype).min)
        if np.any(overflow):
            return np.where(overflow, result.dtype.type(0), result)[()]
    return result


def power(a, b):
    """``a ** b``; integers to negative powers are what a GPU makes of 1 / a: 0, but for -1, 0 and 1."""
    if np.asarray(a).dtype.kind == "f" or not (np.asarray(b) < 0).any():
        return np.power(a, b)
    value = np.power(a, np.where(b < 0, 0, b))
    small = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), np.where(a == 0, -(2**63), 0)))
    return np.where(b < 0, small, value).astype(np.asarray(a).dtype)[()]


def raised(a, exponent: int):
    """``a ** exponent`` of a float and a literal: squared and multiplied, rounding each time, as numba's code does."""
    value, left = a.dtype.type(1), abs(exponent)
    while left:
        if left & 1:
            value = value * a
        left >>= 1
        a = a * a
    return value if exponent >= 0 else a.dtype.type(1) / value


def dim(array, axis: int) -> np.int64:
    """``array.shape[axis]``, as numba types it."""
    return np.int64(array.shape[axis])


def smaller(a, b):
    """``min(a, b)``; where one is NaN the other, as CUDA's fmin."""
    return np.fmin(a, b)


def larger(a, b):
    """``max(a, b)``; where one is NaN the other, as CUDA's fmax."""
    return np.fmax(a, b)


def fused(a, b, c):
    """``a * b + c`` rounded once: through float64; float64 through the platform's long double."""
    kind = np.asarray(a).dtype
    wide = np.float64 if kind.itemsize < 8 else np.longdouble
    return (a.astype(wide) * b.astype(wide) + c.astype(wide)).astype(kind)


def elementwise(function, value):
    """A ``math`` function that NumPy has not, lane by lane; nan where it is not defined."""

    def one(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan

    result = np.vectorize(one, otypes=[np.float64])(value)
    return result.astype(value.dtype)[()]


def _bits(value) -> int:
    return 8 * np.asarray(value).dtype.itemsize


def _unsigned(value):
    return np.asarray(value).view(f"uint{_bits(value)}")


def bit_popc(value):
    """Number of bits set."""
    return np.bitwise_count(_unsigned(value))[()]


def bit_clz(value):
    """Number of zero bits above the highest one that is set."""
    rest, count = _unsigned(value).copy(), np.zeros(np.shape(value), np.int64)
    one = rest.dtype.type(1)
    while np.any(rest):
        count = count + (rest != 0)
        rest = rest >> one
    return (_bits(value) - count)[()]


def bit_ffs(value):
    """Position of the lowest bit that is set, from 1; 0 if there is none."""
    bits = _unsigned(value)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, _bits(value) - bit_clz(lowest))[()]


def bit_brev(value):
    """The bits in reverse order."""
    bits, result = _unsigned(value).copy(), np.zeros(np.shape(value), _unsigned(value).dtype)
    one = result.dtype.type(1)
    for _ in range(_bits(value)):
        result = (result << one) | (bits & one)
        bits = bits >> one
    return result.view(np.asarray(value).dtype)[()]
