"""What a function pays before it is called, by the size of its result: the words of the tables of functions."""

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .budget import StepBudget
from .operators import pay_arrays, pay_binary, refuse_large

#: Pays for a call with these arguments; the owner of a method is the first.
Cost = Callable[[StepBudget, tuple[Any, ...], Mapping[str, Any]], None]
#: The steps of NumPy's own lines in a call: `line_limit.bounded` counts about a hundred lines in a median.
_OF_NUMPY = 100
#: The largest argument of a function whose result grows faster than any power, and of a number of digits.
_SMALL = 400


def nothing(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for the node alone: the time does not depend on the size, or elements are counted as they come."""


def reads(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for all elements of the arguments: the result has no more."""
    budget.read(*given, *named.values())


def reads_rest(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for all elements of the arguments, and for none of the owner."""
    budget.read(*given[1:], *named.values())


def replaced(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a text with parts replaced by another one."""
    reads(budget, given, named)
    text, old, new = given[:3]
    budget.room(text.count(old) * len(new))


def few_digits(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay as `reads`; no whole number among the arguments behind the first may be large."""
    reads(budget, given, named)
    if any(isinstance(n, int | np.integer) and abs(int(n)) > _SMALL for n in (*given[1:], *named.values())):
        raise budget.too_large(f"an argument beyond {_SMALL} in this call")


def small(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a number as large as a factorial; no argument may be large."""
    few_digits(budget, (0, *given), named)


def bits(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a whole number of as many bits as all arguments and their elements have together."""
    reads(budget, given, named)
    waiting, found = [*given], 0
    while waiting:
        value = waiting.pop()
        waiting += value if isinstance(value, list | tuple) else ()
        found += value.bit_length() if isinstance(value, int) else 64
    budget.bits(found)


def modular(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a power, or for a multiplication for each bit of the exponent where there is a modulus."""
    base, exponent, *modulus = (*given, *named.values())
    if modulus and isinstance(exponent, int):
        budget.pay(10 * exponent.bit_length())
    else:
        pay_binary(budget, ast.Pow, base, exponent)


def pair(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for the result of an operator between two values."""
    pay_binary(budget, ast.FloorDiv, *given)


def numpy(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay as `reads` for a function of NumPy, whose arguments may be numbers, arrays, types and known words alone."""
    budget.pay(_OF_NUMPY)
    for value in (*given, *named.values()):
        _check_numpy(budget, value)
    reads(budget, given, named)


#: Words that a function of NumPy may be given: orders, indexings and modes.
_WORDS = frozenset("C F A K fro xy ij full same valid linear lower higher midpoint nearest left right".split())

#: A word for a type, such as "float32" or "<f4".
_TYPE = re.compile(r"[<>=|]?[A-Za-z_]+\d{0,3}")


def _check_numpy(budget: StepBudget, value: Any, inside: bool = False) -> None:
    """Refuse texts that ask for much memory, and what becomes an array of objects."""
    if isinstance(value, list | tuple):
        budget.pay(len(value))
        for each in value:
            _check_numpy(budget, each, inside=True)
    elif isinstance(value, str) and not inside:
        known = value in _WORDS or (_TYPE.fullmatch(value) and np.dtype(value).kind in "biufc")  # else TypeError
        if not known:
            raise budget.unlisted(f"{value[:20]!r} in NumPy")
    elif isinstance(value, int):
        refuse_large(budget, value)
    elif not isinstance(value, float | complex | np.generic | np.ndarray | range | slice | np.dtype | None) and (
        inside or not isinstance(value, type)
    ):
        raise budget.unlisted(f"an array of {type(value).__name__}")


def numpy_few(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay as `numpy`; no whole number among the arguments behind the first may be large."""
    numpy(budget, given, named)
    few_digits(budget, given, named)


def like(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for an array like another one, or of its own ``shape``."""
    numpy(budget, given, named)
    budget.room(_product(named.get("shape", ())))


def diagonals(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a square matrix that has the first argument as a diagonal."""
    numpy(budget, given, named)
    budget.room((int(np.size(given[0])) + abs(int(_argument(given, named, 1, "k", 0)))) ** 2)


def together(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for an array into which all arguments are broadcast."""
    numpy(budget, given, named)
    pay_arrays(budget, False, *(each for each in given if isinstance(each, np.ndarray | list | tuple)))


def products(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for the product of the arguments' sizes: each element meets each."""
    numpy(budget, given, named)
    pay_arrays(budget, True, *(each for each in given if isinstance(each, np.ndarray | list | tuple)))


def squared(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for each pair of elements."""
    products(budget, (*given[:1], *given[:1]), {})
    numpy(budget, given, named)


def shaped(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for an array whose shape is the first argument."""
    numpy(budget, given, named)
    budget.room(_product(_argument(given, named, 0, "shape", ())))


def broadcast(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for an array whose shape is the second argument."""
    numpy(budget, given, named)
    budget.room(_product(_argument(given, named, 1, "shape", ())))


def tiled(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for an array that is repeated as often as the second argument says, in each dimension."""
    numpy(budget, given, named)
    budget.room(int(np.size(given[0])) * _product(_argument(given, named, 1, "reps", 1)))


def repeated(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for an array whose elements are repeated, all as often or each as often as a list says."""
    numpy(budget, given, named)
    times = np.asarray(_argument(given, named, 1, "repeats", 1), dtype=float)
    budget.room(int(min(1e12, np.abs(times).sum())) * int(np.size(given[0])))


def linspace(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for as many numbers as the third argument says."""
    numpy(budget, given, named)
    budget.room(int(_argument(given, named, 2, "num", 50)))


def bincount(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a count of each number up to the largest, or to the third argument."""
    numpy(budget, given, named)
    largest = np.max(np.asarray(given[0], dtype=float), initial=0)
    budget.room(int(min(1e12, max(largest, _argument(given, named, 2, "minlength", 0)))))


def arange(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for the numbers from a start to a stop by a step."""
    numpy(budget, given, named)
    first, *rest = (0, *given) if len(given) == 1 else (*given, 0)
    start, stop = named.get("start", first), named.get("stop", rest[0])
    step = _argument(given, named, 2, "step", 1)
    budget.room(int(min(1e12, max(0.0, (float(stop) - float(start)) / float(step)))) + 1)


def plane(budget: StepBudget, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Pay for a matrix whose rows and columns are the first two arguments, or both the first."""
    numpy(budget, given, named)
    rows = _argument(given, named, 0, "N", 1)
    columns = _argument(given, named, 1, "M", None)
    budget.room(_product((rows, rows if columns is None or isinstance(columns, type) else columns)))


def _argument(given: tuple[Any, ...], named: Mapping[str, Any], position: int, name: str, default: Any) -> Any:
    return named.get(name, given[position] if len(given) > position else default)


def _product(shape: Any) -> int:
    whole = 1
    for extent in np.ravel(np.asarray(shape)).tolist():
        whole *= max(1, abs(int(extent)))
    return whole
