"""The attributes that an answer may use, by the type of their owner: methods by what a call pays, and values."""

from typing import Any

import numpy as np

from . import costs
from .costs import Cost

#: An attribute that is a value: it is read, and nothing is called.
VALUE = None

_NUMBERS: dict[Cost | None, str] = {
    VALUE: "T dtype flat imag itemsize nbytes ndim real shape size",
    costs.numpy: """all any argmax argmin argsort astype clip conj copy cumprod cumsum fill flatten item max mean min
        nonzero partition prod ptp ravel reshape round searchsorted sort squeeze std sum swapaxes tolist trace
        transpose var conjugate is_integer""",
    costs.products: "dot take",
    costs.squared: "diagonal",
    costs.repeated: "repeat",
}
_SETS: dict[Cost | None, str] = {
    costs.reads: """copy difference intersection isdisjoint issubset issuperset symmetric_difference union"""
}
_ROWS: dict[type, dict[Cost | None, str]] = {
    np.ndarray: _NUMBERS,
    np.generic: _NUMBERS,
    np.dtype: {VALUE: "itemsize kind name"},
    np.finfo: {VALUE: "bits eps max min resolution tiny"},
    np.iinfo: {VALUE: "bits max min"},
    int: {VALUE: "denominator imag numerator real", costs.nothing: "bit_count bit_length conjugate"},
    float: {VALUE: "imag real", costs.nothing: "as_integer_ratio conjugate is_integer"},
    complex: {VALUE: "imag real", costs.nothing: "conjugate"},
    str: {
        costs.reads: """capitalize count endswith find index isalpha isdigit isnumeric lower lstrip partition rstrip
            split splitlines startswith strip title upper""",
        costs.few_digits: "center ljust rjust zfill",
        costs.replaced: "replace",
        costs.nothing: "format join",  # both are written out in `evaluate.py`
    },
    list: {
        costs.nothing: "append clear",
        costs.reads: "copy count extend index insert pop remove reverse sort",
    },
    tuple: {costs.reads: "count index"},
    dict: {
        costs.nothing: "clear items keys popitem values",
        costs.reads_rest: "get pop setdefault",
        costs.reads: "copy update",
    },
    set: _SETS | {costs.nothing: "clear pop", costs.reads_rest: "add discard remove update"},
    frozenset: _SETS,
    range: {VALUE: "start step stop", costs.nothing: "count index"},
    slice: {VALUE: "start step stop"},
    BaseException: {VALUE: "args"},
}
#: By type and name: what a call pays, or `VALUE`.
ATTRIBUTES: dict[type, dict[str, Cost | None]] = {
    kind: {name: cost for cost, names in rows.items() for name in names.split()} for kind, rows in _ROWS.items()
}
#: All names of attributes: another one is refused before anything is evaluated.
NAMES = frozenset(name for rows in ATTRIBUTES.values() for name in rows)


def row(value: Any, name: str) -> tuple[bool, Cost | None]:
    """Return whether the table has an attribute of a value, and what a call of it pays."""
    for kind in type(value).__mro__:
        if name in (rows := ATTRIBUTES.get(kind, {})):
            return True, rows[name]
    return False, None
