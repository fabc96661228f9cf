"""Calls: what a kernel calls, and the function that translates it.

Functions of numbers are rows of :mod:`..tables.functions`. Each other call (it takes an array or a shape, or allocates)
has a function of its own. Intrinsics that are defined outside the simulator describe themselves
(:mod:`custom_intrinsics`).
"""

import ast
import cmath
import math
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType
from typing import NoReturn

import numpy as np

from ..program.nodes import Apply, CompileTimeObject, Expr
from ..source.errors import refuse
from ..source.function import Inner
from ..source.names import COORDINATES, Symbol
from ..tables import functions as tables
from ..tables import package_gaps, unsupported_features
from ..types.types_of_objects import dtype_name, vector_of
from ..types.value_types import NONE, ArrayType, TupleType, describe_type
from . import (
    allocations,
    array_members,
    atomics,
    barriers,
    builtin_functions,
    custom_intrinsics,
    device_functions,
    grid_functions,
    numbers,
    table_functions,
    tuples,
)
from .translated_expression import Translated
from .translation import Translation

#: ``form(translation, call, used)`` translates a call; ``used``: its value is used.
Form = Callable[[Translation, ast.Call, bool], Expr]


def _rows(table: Mapping[str, tables.Row]) -> dict[str, Form]:
    """The translation of each function of a table."""
    return {name: partial(table_functions.of_row, row) for name, row in table.items()}


#: The functions of cmath.
CMATH: dict[str, Form] = {
    **_rows(tables.CMATH),
    "log": table_functions.complex_log,
    "rect": partial(table_functions.of_row, tables.RECT),
    "polar": table_functions.polar,
}
#: The functions of numba.cuda.
CUDA: dict[str, Form] = {
    **_rows(tables.CUDA),
    **{name: partial(atomics.hinted, name) for name in (*atomics.HINTED_LOADS, *atomics.HINTED_STORES)},
    **{f"libdevice.{name}": partial(numbers.parts, name, "d->d") for name in numbers.TUPLES},
    **{f"libdevice.{name}f": partial(numbers.parts, name, "f->f") for name in numbers.TUPLES},
    "match_all_sync": table_functions.match_all,
    "const.array_like": allocations.constant_array,
    "grid": grid_functions.grid,
    "gridsize": grid_functions.gridsize,
    "cg.this_grid": barriers.grid_group,
    "cg.this_grid().sync": partial(barriers.syncthreads, grid=True),
    "syncthreads": barriers.syncthreads,
    "syncwarp": barriers.syncwarp,
    "nanosleep": barriers.nanosleep,
    "threadfence": barriers.fence,
    "threadfence_block": partial(barriers.fence, code=barriers.BLOCK_FENCE),
    "threadfence_system": barriers.fence,
    **{f"syncthreads_{name}": partial(barriers.reduction, f"syncthreads_{name}") for name in ("count", "and", "or")},
    **{f"atomic.{name}": partial(atomics.atomic, name) for name in atomics.ATOMICS},
}


#: The functions of Python, its modules and NumPy.
PYTHON: dict[object, Form] = {
    min: partial(numbers.min_or_max, smaller=True),
    max: partial(numbers.min_or_max, smaller=False),
    abs: numbers.absolute,
    len: builtin_functions.length,
    pow: builtin_functions.power,
    divmod: builtin_functions.quotient_and_remainder,
    complex: numbers.complex_number,
    print: builtin_functions.print_values,
    round: table_functions.rounded,
    **builtin_functions.BUILTINS,
    math.frexp: partial(numbers.parts, "frexp", "f->f d->d"),
    math.modf: partial(numbers.parts, "modf", "d->d f->f"),
    **{getattr(math, name): form for name, form in _rows(tables.MATH).items()},
    **{getattr(cmath, name): form for name, form in CMATH.items()},
    **{getattr(np, name): form for name, form in _rows(tables.NUMPY_TESTS).items()},
    **{getattr(np, name): partial(table_functions.of_numpy, row) for name, row in tables.NUMPY.items()},
}


def call(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """Translate a call; ``used``: its value is used."""
    translated = _called(translation, node, used)
    has_value = not isinstance(translated, Apply) or translated.type != NONE
    if used and not has_value and ast.unparse(node.func) != "print":
        refuse(node, f"{ast.unparse(node)} has no value; write it as a statement of its own")
    return translated


def _called(translation: Translation, node: ast.Call, used: bool) -> Expr:
    if any(isinstance(part, ast.Starred) for part in node.args):
        values: list[ast.expr] = []
        for part in node.args:
            values += [Translated(value, part) for value in tuples.unpacked(translation, part)]
        node = ast.copy_location(ast.Call(node.func, values, node.keywords), node)
    if isinstance(node.func, ast.Attribute):
        translated = _method(translation, node, node.func, used)
        if translated is not None:
            return translated
    obj = translation.constant_object(node.func)
    if obj is None:
        target = translation.expr(node.func)
        if not isinstance(target, CompileTimeObject):
            advice = "index it with [ ]" if isinstance(target.type, (ArrayType, TupleType)) else "leave out the ( )"
            refuse(node, f"{ast.unparse(node.func)} is {describe_type(target.type)}, and cannot be called; {advice}")
        obj = target.obj
    return _call_of(translation, node, obj, used)


def _call_of(translation: Translation, node: ast.Call, obj: object, used: bool) -> Expr:
    if isinstance(obj, Symbol):
        return _cuda(translation, node, obj, used)
    if isinstance(obj, Inner):
        return device_functions.inner(translation, node, obj, used)
    if custom_intrinsics.declared(obj) is not None:
        return custom_intrinsics.call(translation, node, obj)
    form = PYTHON.get(obj) if isinstance(obj, (type, type(abs), np.ufunc)) else None
    if form is not None:
        return form(translation, node, used)
    if not isinstance(obj, str) and dtype_name(obj):
        return numbers.conversion(translation, node, obj)
    if isinstance(obj, type) and issubclass(obj, tuple) and hasattr(obj, "_fields"):
        return builtin_functions.named_tuple(translation, node, obj)
    if getattr(obj, "__module__", None) in unsupported_features.MODULES:
        _refuse_call(node, obj)
    if getattr(obj, "py_func", None) is not None:
        return device_functions.device(translation, node, obj, used)
    if isinstance(obj, FunctionType):
        translated = device_functions.overloaded(translation, node, obj, used)
        if translated is not None:
            return translated
    _refuse_call(node, obj)


#: The methods of arrays and numbers.
METHODS = (*array_members.METHODS, "bit_count")


def _method(translation: Translation, node: ast.Call, function: ast.Attribute, used: bool) -> Expr | None:
    """Translate the call of a method of an array or a number; None for other calls."""
    name = function.attr
    without_arguments = not node.args and not node.keywords
    if name == "conjugate" and without_arguments:
        return numbers.conjugate(translation, node)
    if name not in METHODS or translation.constant_object(function) is not None:
        return None
    owner = translation.unwrap_optional(function.value, translation.expr(function.value))
    if isinstance(owner.type, ArrayType) and name in array_members.METHODS:
        return array_members.METHODS[name](translation, node, owner)
    if owner.is_scalar and name == "view":
        return array_members.number_as(translation, node, owner)
    if owner.is_scalar and name == "bit_count" and without_arguments:
        package_gaps.check("int.bit_count", (str(owner.type),))
        of_number = ast.copy_location(ast.Call(function, [function.value], []), node)
        return CUDA["popc"](translation, of_number, used)
    return None


def _cuda(translation: Translation, node: ast.Call, symbol: Symbol, used: bool) -> Expr:
    name = ".".join(symbol.path)
    if not name:
        refuse(node, f"{ast.unparse(node.func)} is a module, and cannot be called; call one of its functions")
    vector = vector_of(symbol.obj)
    if vector is not None:
        return numbers.vector(translation, node, *vector)
    if name in CUDA:
        return CUDA[name](translation, node, used)
    if getattr(symbol.obj, "py_func", None) is not None:
        return device_functions.device(translation, node, symbol.obj, used)
    first = symbol.path[0]
    if name in ("shared.array", "local.array"):
        refuse(node, f"assign cuda.{name}(...) to a name first: tile = cuda.{name}(...)")
    if first == "atomic" and len(symbol.path) == 2:
        refuse(node, f"numba.cuda has no {name}; it has {', '.join(atomics.ATOMICS)}")
    if first in (*COORDINATES, "laneid", "warpsize"):
        refuse(node, f"cuda.{name} is a value, and cannot be called; leave out the ( )")
    if first in unsupported_features.CUDA or symbol.obj is not None:
        advice = unsupported_features.CUDA.get(first, "call it outside the kernel, or leave it out")
        refuse(node, f"the simulator does not run cuda.{name}; {advice}")
    refuse(node, f"numba.cuda has no {name!r}; look up how it is spelled")


def _refuse_call(node: ast.Call, obj: object) -> NoReturn:
    """Refuse a call of ``obj``, which is not a function that a kernel can call."""
    text, name = ast.unparse(node.func), str(getattr(obj, "__name__", obj))
    home = str(getattr(obj, "__module__", None) or "")
    if home in unsupported_features.MODULES:
        refuse(node, f"the simulator does not run {text}(); {unsupported_features.MODULES[home]}")
    if home == "math":
        advice = unsupported_features.MATH.get(name, "write it out with arithmetic and other functions of math")
        refuse(node, f"the simulator does not run math.{name}; {advice}")
    if isinstance(obj, np.ufunc) or home.split(".")[0] == "numpy":
        in_math = tables.MATH_OF_NUMPY.get(name)
        known = f"math.{in_math}" if in_math else "math functions and single elements"
        advice = unsupported_features.NUMPY.get(name, known)
        refuse(node, f"the simulator does not run {text}(), a NumPy function; use {advice}")
    if isinstance(obj, FunctionType):
        refuse(
            node,
            f"{text} is a plain Python function; decorate it with @cuda.jit(device=True) to call it from a kernel",
        )
    if type(obj).__name__ == "ExternFunction":
        refuse(node, f"{text} is only declared, and its code is in another language; write it in Python to run it here")
    if not callable(obj):
        refuse(node, f"{text} is no function, and cannot be called; leave out the ( )")
    owner = getattr(obj, "__self__", None)
    if owner is not None and type(owner) is not type(math):
        refuse(
            node,
            f"{text}() is a method of an object outside the kernel, of type {type(owner).__name__}, which no kernel "
            "calls; call it before the launch and pass its result",
        )
    advice = "write the operator itself" if home == "_operator" else unsupported_features.BUILTINS.get(name, "")
    refuse(
        node,
        f"the simulator does not run {text}(); {advice or 'write it out with arithmetic, comparisons, if and for'}",
    )
