"""The functions and modules that an answer may use, by what a call of each pays: everything else is refused."""

import ast
import builtins
import functools
import itertools
import math
import statistics
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from . import costs
from .costs import Cost

#: The types that an answer may name, call and give to ``isinstance`` or as ``dtype``.
TYPES: dict[type, Cost] = {
    **dict.fromkeys((bool, int, float, complex), costs.reads),
    **dict.fromkeys((str, list, tuple, dict, set, frozenset), costs.reads),
    **dict.fromkeys((range, slice, enumerate, zip, map, filter, reversed), costs.nothing),
    **dict.fromkeys((np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32), costs.numpy),
    **dict.fromkeys((np.uint64, np.float16, np.float32, np.float64, np.complex64, np.complex128), costs.numpy),
    **dict.fromkeys((np.integer, np.floating, np.number, np.generic, np.ndarray), costs.nothing),  # not to be called
    **dict.fromkeys((np.dtype, np.finfo, np.iinfo), costs.numpy),
    **dict.fromkeys((ArithmeticError, AssertionError, Exception, IndexError, KeyError, LookupError), costs.reads),
    **dict.fromkeys((NotImplementedError, OverflowError, RuntimeError, StopIteration, TypeError), costs.reads),
    **dict.fromkeys((ValueError, ZeroDivisionError, MemoryError, RecursionError, NameError), costs.reads),
}

#: Python's own functions.
_BUILTINS: dict[Cost, str] = {
    costs.nothing: "callable chr isinstance iter len next ord print type",
    costs.few_digits: "round",
    costs.modular: "pow",
    costs.pair: "divmod",
    costs.reads: "abs all any ascii bin format hex max min oct repr sorted sum",
}
_MATH: dict[Cost, str] = {
    costs.nothing: """acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees exp expm1 fabs floor fmod
        frexp gcd isclose isfinite isinf isnan isqrt ldexp log log10 log1p log2 modf pow radians remainder sin sinh sqrt
        tan tanh trunc""",
    costs.reads: "dist fsum hypot",
    costs.bits: "lcm prod",
    costs.small: "comb factorial perm",
}
_STATISTICS: dict[Cost, str] = {
    costs.reads: """fmean geometric_mean harmonic_mean mean median median_high median_low mode multimode pstdev
        pvariance stdev variance""",
    costs.few_digits: "quantiles",
}
_NUMPY: dict[Cost, str] = {
    costs.numpy: """all amax amin any append argmax argmin argsort around array array_equal asarray ascontiguousarray
        atleast_1d atleast_2d average column_stack concatenate copy count_nonzero cumprod cumsum delete dstack
        expand_dims extract flatnonzero flip fliplr flipud hstack insert isscalar max mean median min moveaxis
        nanargmax nanargmin nanmax nanmean nanmedian nanmin nanstd nansum nanvar ndim nonzero partition
        percentile prod ptp quantile ravel reshape roll rollaxis rot90 round searchsorted shape size sort
        squeeze stack std sum swapaxes trace transpose tril triu unique var vstack
        argwhere argpartition nanpercentile nanquantile nanprod trapezoid""",
    costs.together: """abs absolute add allclose arccos arccosh arcsin arcsinh arctan arctan2 arctanh array_equiv
        bitwise_and bitwise_not bitwise_or bitwise_xor ceil clip conj copysign cos cosh deg2rad degrees divide divmod
        equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod gcd greater greater_equal hypot imag
        invert isclose isfinite isin isinf isnan lcm ldexp left_shift less less_equal log log10 log1p log2 logical_and
        logical_not logical_or logical_xor maximum minimum mod multiply nan_to_num negative nextafter not_equal
        positive power rad2deg radians real reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt
        square subtract tan tanh true_divide trunc where interp""",
    costs.products: "convolve dot inner kron matmul meshgrid outer take vdot",
    costs.squared: "corrcoef cov diagonal",
    costs.diagonals: "diag diagflat",
    costs.numpy_few: "diff",
    costs.like: "empty_like full_like ones_like zeros_like",
    costs.shaped: "empty full ones zeros",
    costs.broadcast: "broadcast_to",
    costs.tiled: "tile",
    costs.repeated: "repeat",
    costs.linspace: "linspace",
    costs.bincount: "bincount",
    costs.arange: "arange",
    costs.plane: "eye identity",
}
_LINALG: dict[Cost, str] = {costs.squared: "norm"}
_TESTING: dict[Cost, str] = {
    costs.together: "assert_allclose assert_almost_equal assert_array_almost_equal assert_array_equal assert_equal",
}
_CONSTANTS = {math: "e inf nan pi tau", np: "e euler_gamma inf nan newaxis pi"}
#: Iterators of itertools: a step for each item that one gives.
_ITERTOOLS: dict[Cost, str] = {
    costs.nothing: "accumulate chain count cycle islice pairwise repeat takewhile zip_longest",
    costs.few_digits: "combinations combinations_with_replacement permutations product",  # which read all at first
}
_FUNCTOOLS: dict[Cost, str] = {costs.nothing: "reduce"}
#: What an answer gives a function of its own to.
TAKES_FUNCTION = (map, filter, sorted, min, max, list.sort, functools.reduce, itertools.accumulate, itertools.takewhile)

#: What is called, and the types, with what a call pays.
FUNCTIONS: dict[Any, Cost] = dict(TYPES)
#: The names of a module that an answer may use, with what they are.
MODULES: dict[ModuleType, dict[str, Any]] = {}


def _add(module: ModuleType, rows: dict[Cost, str]) -> None:
    known = MODULES.setdefault(module, {})
    for cost, names in rows.items():
        for name in names.split():
            if (function := getattr(module, name, None)) is not None:  # trapezoid is new in NumPy 2, ptp old
                known[name] = function
                FUNCTIONS[function] = cost


for _module, _rows in (
    (builtins, _BUILTINS),
    (math, _MATH),
    (statistics, _STATISTICS),
    (np, _NUMPY),
    (np.linalg, _LINALG),
    (np.testing, _TESTING),
    (itertools, _ITERTOOLS),
    (functools, _FUNCTOOLS),
):
    _add(_module, _rows)
for _module, _names in _CONSTANTS.items():
    MODULES[_module] |= {name: getattr(_module, name) for name in _names.split()}
for _type in TYPES:
    if _type.__module__ in ("builtins", "numpy"):
        MODULES[builtins if _type.__module__ == "builtins" else np][_type.__name__.removesuffix("_")] = _type
MODULES[np] |= {"bool_": np.bool_, "linalg": np.linalg, "testing": np.testing, "int_": np.int64, "double": np.float64}
#: Python's own names.
BUILTINS = MODULES.pop(builtins)
BY_NAME = {module.__name__: module for module in MODULES}


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Any]]:
    """Yield each name that an import binds, with what it is; raise KeyError for what no table lists."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, MODULES[BY_NAME[node.module or ""]][alias.name]
        else:
            module = BY_NAME[alias.name]
            top = module if alias.asname else BY_NAME[alias.name.partition(".")[0]]
            yield alias.asname or top.__name__, top
