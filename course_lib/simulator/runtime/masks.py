"""Masks: which lanes of a vector take part.

A mask is ``True`` (every lane of the vector), ``False`` (none) or a boolean array of four axes. Functions that
narrow a mask return ``True`` and ``False`` themselves wherever they can, so that code which does not diverge
runs without masks.

One mask object means one set of lanes: no mask is ever changed in place. So access sites and masked assignments compare
masks with ``is``, without reading a lane. Two different objects may hold the same lanes.
"""

from math import prod
from typing import Any

import numpy as np

#: The value of each version of a variable before any lane assigns it.
UNDEFINED = None
#: The most elements that are copied more quickly than `np.broadcast_to` makes a view of them.
COPIED = 4096
#: True, False or a boolean array.
Mask = Any
#: A NumPy array of four axes, or a scalar where all lanes have one value.
Vector = Any


def widened(value: Vector, shape: tuple[int, ...]) -> np.ndarray:
    """``value`` broadcast to ``shape``, to be read: itself, a copy if that is small, or a view, which takes 20 µs."""
    if type(value) is np.ndarray and value.shape == shape:
        return value
    if prod(shape) > COPIED:
        return np.broadcast_to(value, shape)
    wide = np.empty(shape, np.asarray(value).dtype)
    wide[...] = value
    return wide


def union(a: Mask, b: Mask) -> Mask:
    if a is True or b is True:
        return True
    if a is False:
        return b
    return a if b is False else a | b


def split(mask: Mask, condition: Vector) -> tuple[Mask, Mask]:
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


def intersection(a: Mask, b: Mask) -> Mask:
    """The lanes of both masks."""
    if a is True or b is False:
        return b
    if b is True or a is False:
        return a
    here = a & b
    return here if here.any() else False


def without(mask: Mask, gone: Vector) -> Mask:
    if gone is False or mask is False:
        return mask
    if gone is True or gone is mask:
        return False
    if mask is not True and not (mask & gone).any():
        return mask  # the same object: Site.begin_access and masked assignments compare with `is`
    left = ~gone if mask is True else mask & ~gone
    return left if left.any() else False


def rejoined(before: Vector, yes: Vector, no: Vector, yes_after: Vector, no_after: Vector) -> Mask:
    """The lanes that reach the end of an if; ``before`` itself if no lane left either branch."""
    if yes_after is yes and no_after is no:
        return before
    return union(yes_after, no_after)


def blend(mask: Mask, new: Any, old: Any) -> Vector:
    """``new`` in the lanes of ``mask``, ``old`` in the others."""
    if mask is True or old is UNDEFINED or new is old:
        return new
    return np.where(mask, new, old)


def both(left: Vector, right: Vector) -> Mask:
    """``left and right`` of conditions; ``right`` is valid only in lanes where ``left`` is true."""
    if type(left) is not np.ndarray:
        return right if left else np.False_
    return left & right


def either(left: Vector, right: Vector) -> Mask:
    """``left or right`` of conditions; ``right`` is valid only in lanes where ``left`` is false."""
    if type(left) is not np.ndarray:
        return np.True_ if left else right
    return left | right


def pick(condition: Vector, yes: Vector, no: Vector) -> Vector:
    """``yes if condition else no`` for values that are both evaluated."""
    if type(condition) is not np.ndarray:
        return yes if condition else no
    return np.where(condition, yes, no)
