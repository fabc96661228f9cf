"""Globals and closure variables, which are constants in compiled code.

numba compiles a function once for the types of its arguments, with the values of that time; a later assignment to a
global does not change the code. The simulator does the same, and reports the change.
"""

import weakref
from collections.abc import Hashable
from dataclasses import dataclass
from types import FunctionType

import numpy as np

#: The types of a function's arguments.
ArgumentTypes = tuple[Hashable, ...]
#: The values of each function's globals, by the types of its arguments.
_values: weakref.WeakKeyDictionary[FunctionType, dict[ArgumentTypes, dict[str, object]]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class Change:
    """A name that had another value when the function was first compiled."""

    line: int
    name: str
    first: object
    now: object


def is_constant(obj: object) -> bool:
    """Whether numba copies ``obj`` into the code. It looks up functions and modules by name instead."""
    if isinstance(obj, tuple):
        return all(map(is_constant, obj))
    return isinstance(obj, (bool, int, float, complex, slice, np.generic, np.ndarray))


def shown(obj: object) -> str:
    """A constant, for a message."""
    return f"an array of {obj.shape}" if isinstance(obj, np.ndarray) and obj.size > 8 else repr(obj)


class Constants:
    """The values of a function's globals, for some types of its arguments.

    :meth:`store` stores them for later launches.
    """

    def __init__(self, function: FunctionType, types: ArgumentTypes):
        self.function, self.types = function, types
        self.first = _values.get(function, {}).get(types, {})
        self.found: dict[str, object] = {}
        self.changes: dict[tuple[int, str], Change] = {}

    def value(self, name: str, now: object, line: int) -> object:
        """Return the value of ``name`` in the compiled code; report a change if it is not ``now``, Python's value."""
        if not is_constant(now) and name not in self.first:
            return now
        first = self.first.get(name, self.found.get(name, now))
        if isinstance(first, np.ndarray) and first is now:
            first = now.copy(order="K")
            first.flags.writeable = False
        if not _same(first, now):
            self.changes.setdefault((line, name), Change(line, name, first, now))
        self.found[name] = first
        return first

    def store(self) -> None:
        """Store the values for later launches, after the function was compiled."""
        _values.setdefault(self.function, {}).setdefault(self.types, {}).update(self.found)


def _same(a: object, b: object) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if type(a) is not type(b):
        return False
    both_nan = a != a and b != b
    return bool(a == b or both_nan)
