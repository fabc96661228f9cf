"""Functions of Python whose result follows from the types of their arguments, and those of the module operator."""

import ast
import operator
from collections.abc import Callable
from functools import partial

import numpy as np

from ..tables import plural
from . import operators, packages, tuples, views
from .context import Context
from .names import dtype_name
from .nodes import Expr, Static, after, compile_time, settled, tuple_of
from .refusals import check_arguments, refuse
from .types import COMPILE_TIME, DTYPE, NONE, TupleType, describe_type, is_float, is_int

#: Functions of operator, by the name of their operator in Python's syntax tree; some also exist in place.
_BINARY = {getattr(operator, f.__name__): node.__name__ for node, f in operators.PYTHON.items()}
UNARY: dict[object, str] = {f: _BINARY.pop(f) for f in (operator.neg, operator.pos, operator.invert)}
UNARY[operator.not_] = "Not"
BINARY = _BINARY | {getattr(operator, f"i{f.__name__.strip('_')}"): name for f, name in _BINARY.items()}
COMPARISONS: dict[object, str] = {
    **{operator.lt: "Lt", operator.le: "LtE", operator.gt: "Gt", operator.ge: "GtE"},
    **{operator.eq: "Eq", operator.ne: "NotEq"},
}


def of_operator(thing: object, x: Context, node: ast.Call, used: bool) -> Expr:
    """``operator.add(a, b)`` and the like."""
    count = 1 if thing in UNARY else 2
    check_arguments(node, plural(count, "value"), count)
    first = node.args[0]
    made: ast.expr
    if thing is operator.getitem:
        made = ast.Subscript(first, node.args[1], ast.Load())
    elif thing in UNARY:
        made = ast.UnaryOp(getattr(ast, UNARY[thing])(), first)
    elif thing in COMPARISONS:
        made = ast.Compare(first, [getattr(ast, COMPARISONS[thing])()], [node.args[1]])
    else:
        left, right = x.expr(first), x.expr(node.args[1])
        if isinstance(left.type, TupleType) or isinstance(right.type, TupleType):
            return tuples.combined(node, BINARY[thing], left, right)
        return x.binary(node, BINARY[thing], left, right, first, node.args[1])
    return x.expr(ast.copy_location(made, node))


def total(x: Context, node: ast.Call, used: bool) -> Expr:
    """``sum`` of a tuple, which begins with an integer 0."""
    check_arguments(node, "a tuple, and perhaps a first number", 1, 2)
    value = x.expr(node.args[0])
    if not isinstance(value.type, TupleType):
        refuse(node, f"the simulator runs sum() of tuples, not of {describe_type(value.type)}; add in a loop")
    if not value.type.items:
        refuse(node, "numba compiles no sum() of an empty tuple; write 0")
    if len(node.args) == 1:
        packages.check("sum() without a first number", ())
    value = settled(value)
    result = x.scalar(node.args[1]) if len(node.args) == 2 else x.number(0, literal=False)
    for item in tuples.items(value):
        result = x.binary(node, "Add", result, item, node.args[0], node.args[0])
    return after((value,), result)


#: Classes whose instances, if there are any in a kernel, are not numbers.
_OTHERS = (str, bytes, list, dict, set, range)


def is_instance(x: Context, node: ast.Call, used: bool) -> Expr:
    """``isinstance``, by the exact type: int is int64 and float is float64, as in numba."""
    check_arguments(node, "a value and a type", 2)
    value, asked = x.expr(node.args[0]), compile_time(x.expr(node.args[1]))
    kinds = asked[0] if asked and isinstance(asked[0], tuple) else asked or ()
    if value.type in (NONE, COMPILE_TIME) or not kinds:
        refuse(node, f"{ast.unparse(node)}: numba compares the type of a number, a tuple or an array with classes")
    found = False
    for kind in kinds:
        name = dtype_name(kind)
        if kind is tuple:
            found |= isinstance(value.type, TupleType)
        elif name:
            found |= value.type == name
        elif kind not in _OTHERS:
            refuse(
                node, f"numba cannot ask for {getattr(kind, '__name__', kind)}; ask for int, float, float32 and so on"
            )
    return after((value,), x.number(found))


def make_tuple(x: Context, node: ast.Call, used: bool) -> Expr:
    """``tuple`` of a tuple."""
    value = x.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if value is None or not isinstance(value.type, TupleType):
        refuse(node, "the simulator runs tuple() of a tuple alone; write the items out, as in (a, b)")
    value = settled(value)
    return after((value,), tuple_of(tuples.items(value)))


def type_of(x: Context, node: ast.Call, used: bool) -> Expr:
    """``type`` of a number, as in ``type(x)(0)``."""
    check_arguments(node, "one number", 1)
    value = x.scalar(node.args[0])
    return after((value,), Static(thing=DTYPE[str(value.type)].type))


def limits(x: Context, node: ast.Call, used: bool) -> Expr:
    """``np.finfo(np.float32)`` and ``np.iinfo(np.int32)``, whose attributes are numbers."""
    thing = x.constant_object(node.func)
    assert isinstance(thing, type)
    packages.check(f"np.{thing.__name__}", ())
    name = views.asked_type(x, node)
    if name is None or is_float(name) != (thing is np.finfo) or not (is_float(name) or is_int(name)):
        refuse(node, f"{ast.unparse(node.func)}() takes one type of {'floats' if thing is np.finfo else 'integers'}")
    return Static(thing=thing(name))


#: The functions of Python, and its operators as functions.
BUILTINS: dict[object, Callable[[Context, ast.Call, bool], Expr]] = {
    sum: total,
    isinstance: is_instance,
    tuple: make_tuple,
    type: type_of,
    np.finfo: limits,
    np.iinfo: limits,
    **{thing: partial(of_operator, thing) for thing in (*UNARY, *BINARY, *COMPARISONS, operator.getitem)},
}
