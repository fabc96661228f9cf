"""Functions of Python that are not functions of numbers alone, and those of the module operator."""

import ast
import operator
from collections.abc import Callable
from functools import partial

import numpy as np

from ...findings import RaisedException
from ...formatting import plural
from ..program import builders, nodes
from ..program.builders import after, compile_time, reusable_items, tuple_of
from ..program.nodes import CompileTimeObject, Expr
from ..source import literals
from ..source.errors import refuse
from ..tables import package_gaps
from ..types.types_of_objects import dtype_name
from ..types.value_types import (
    COMPILE_TIME,
    DTYPE,
    NONE,
    ArrayType,
    RecordsType,
    TupleType,
    TypingError,
    describe_type,
    is_complex,
    is_float,
    is_int,
)
from . import arithmetic, array_members, records, tuples
from .refusals import bind_arguments, check_arguments, mistyped, refuse_construct
from .translation import Translation

#: Functions of operator, by the name of their operator in Python's syntax tree; those of two operands also exist in
#: place, as operator.iadd.
UNARY_FUNCTIONS: dict[object, str] = {
    operator.neg: "USub",
    operator.pos: "UAdd",
    operator.invert: "Invert",
    operator.not_: "Not",
}
_PLAIN_BINARY = {
    function: node.__name__ for node, function in literals.PYTHON.items() if function not in UNARY_FUNCTIONS
}
_IN_PLACE = {getattr(operator, f"i{function.__name__.strip('_')}"): name for function, name in _PLAIN_BINARY.items()}
BINARY_FUNCTIONS = _PLAIN_BINARY | _IN_PLACE
COMPARISON_FUNCTIONS: dict[object, str] = {
    operator.lt: "Lt",
    operator.le: "LtE",
    operator.gt: "Gt",
    operator.ge: "GtE",
    operator.eq: "Eq",
    operator.ne: "NotEq",
}
#: All functions of operator that a kernel may call.
OPERATOR_FUNCTIONS = (*UNARY_FUNCTIONS, *BINARY_FUNCTIONS, *COMPARISON_FUNCTIONS, operator.getitem)


def of_operator(obj: object, translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``operator.add(a, b)`` and the like."""
    count = 1 if obj in UNARY_FUNCTIONS else 2
    check_arguments(node, plural(count, "value"), count)
    first = node.args[0]
    equivalent: ast.expr
    if obj is operator.getitem:
        equivalent = ast.Subscript(first, node.args[1], ast.Load())
    elif obj in UNARY_FUNCTIONS:
        equivalent = ast.UnaryOp(getattr(ast, UNARY_FUNCTIONS[obj])(), first)
    elif obj in COMPARISON_FUNCTIONS:
        equivalent = ast.Compare(first, [getattr(ast, COMPARISON_FUNCTIONS[obj])()], [node.args[1]])
    else:
        left, right = translation.expr(first), translation.expr(node.args[1])
        if isinstance(left.type, TupleType) or isinstance(right.type, TupleType):
            return tuples.combined(node, BINARY_FUNCTIONS[obj], left, right)
        return arithmetic.binary(translation, node, BINARY_FUNCTIONS[obj], (left, first), (right, node.args[1]))
    return translation.expr(ast.copy_location(equivalent, node))


def total(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``sum`` of a tuple, which begins with an integer 0."""
    check_arguments(node, "a tuple, and perhaps a first number", 1, 2)
    value = translation.expr(node.args[0])
    if not isinstance(value.type, TupleType):
        refuse(node, f"the simulator runs sum() of tuples, not of {describe_type(value.type)}; add in a loop")
    if not value.type.items:
        refuse(node, "numba compiles no sum() of an empty tuple; write 0")
    if len(node.args) == 1:
        package_gaps.check("sum() without a first number", ())
    value = reusable_items(value)
    result = translation.scalar(node.args[1]) if len(node.args) == 2 else translation.number(0, literal=False)
    for item in tuples.items(value):
        result = arithmetic.binary(translation, node, "Add", (result, node.args[0]), (item, node.args[0]))
    return after((value,), result)


#: Classes whose instances, if there are any in a kernel, are not numbers.
_OTHERS = (str, bytes, list, dict, set, range)


def is_instance(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``isinstance``, by the exact type: int is int64 and float is float64, as in numba."""
    check_arguments(node, "a value and a type", 2)
    value, asked = translation.expr(node.args[0]), compile_time(translation.expr(node.args[1]))
    if asked is None:
        kinds: tuple[object, ...] = ()
    else:
        kinds = asked[0] if isinstance(asked[0], tuple) else asked
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
    return after((value,), translation.number(found))


def make_tuple(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``tuple`` of a tuple."""
    value = translation.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if value is None or not isinstance(value.type, TupleType):
        refuse(node, "the simulator runs tuple() of a tuple alone; write the items out, as in (a, b)")
    value = reusable_items(value)
    return after((value,), tuple_of(tuples.items(value)))


def type_of(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``type`` of a number, as in ``type(x)(0)``."""
    check_arguments(node, "one number", 1)
    value = translation.scalar(node.args[0])
    return after((value,), CompileTimeObject(obj=DTYPE[str(value.type)].type))


def limits(translation: Translation, node: ast.Call, used: bool) -> Expr:
    """``np.finfo(np.float32)`` and ``np.iinfo(np.int32)``, whose attributes are numbers."""
    obj = translation.constant_object(node.func)
    assert isinstance(obj, type)
    package_gaps.check(f"np.{obj.__name__}", ())
    name = array_members.asked_type(translation, node)
    fits, wanted = (is_float, "floats") if obj is np.finfo else (is_int, "integers")
    if name is None or not fits(name):
        refuse(node, f"{ast.unparse(node.func)}() takes one type of {wanted}")
    return CompileTimeObject(obj=obj(name))


#: The functions of Python, and its operators as functions.
BUILTINS: dict[object, Callable[[Translation, ast.Call, bool], Expr]] = {
    sum: total,
    isinstance: is_instance,
    tuple: make_tuple,
    type: type_of,
    np.finfo: limits,
    np.iinfo: limits,
    **{obj: partial(of_operator, obj) for obj in OPERATOR_FUNCTIONS},
}


def length(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    if len(node.args) != 1:
        refuse(node, "len() takes one argument, an array or a tuple")
    value = translation.unwrap_optional(node.args[0], translation.expr(node.args[0]))
    if isinstance(value.type, ArrayType) and value.type.ndim:
        return translation.dimension(node, value, 0)
    if isinstance(value.type, RecordsType) and value.type.ndim:
        return translation.dimension(node, records.field(node.args[0], value, value.type.fields[0]), 0)
    if isinstance(value.type, TupleType):
        return builders.after((value,), translation.number(len(value.type.items)))
    mistyped(node.args[0], value.type, "len() takes an array or a tuple")


def power(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    if len(node.args) != 2 or node.keywords:
        refuse(node, "pow() takes two numbers without names; for a remainder write a ** b % c")
    return translation.expr(ast.copy_location(ast.BinOp(node.args[0], ast.Pow(), node.args[1]), node))


def quotient_and_remainder(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``divmod``."""
    check_arguments(node, "two numbers", 2)
    left, right = ((builders.reusable(translation.scalar(part)), part) for part in node.args)
    quotient = arithmetic.binary(translation, node, "FloorDiv", left, right)
    remainder = arithmetic.binary(translation, node, "Mod", left, right)
    return builders.tuple_of((quotient, remainder))


def named_tuple(translation: Translation, node: ast.Call, obj: type) -> nodes.Expr:
    """``Point(x, y)`` of a namedtuple."""
    fields = tuple(getattr(obj, "_fields", ()))
    given = bind_arguments(node, obj.__name__, fields)
    values = {name: builders.reusable_items(translation.expr(part)) for name, part in given.items()}
    return builders.after(values.values(), builders.tuple_of(tuple(values[name] for name in fields), fields))


def print_values(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``print`` of literal texts and of numbers."""
    check_arguments(node, "texts and numbers of one line")
    parts: list[str] = []
    values: list[nodes.Expr] = []
    for part in node.args:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            parts.append(repr(part.value).replace("{", "{{").replace("}", "}}"))
            continue
        value = translation.as_number(part, translation.expr(part))
        if is_complex(str(value.type)):
            raise TypingError(f"print() does not take {value.type}; print .real and .imag")
        if value.type == "bool":
            raise TypingError("numba's print() does not take a bool; print int(...) of it")
        parts.append(f"{{{len(values)}}}")
        values.append(value)
    code = f"warp.print(({''.join(f'{part}, ' for part in parts)}), {{mask}})"
    return nodes.Apply(code=code, args=tuple(values), line=node.lineno)


def failure(translation: Translation, node: ast.Assert | ast.Raise) -> nodes.Expr:
    """Report a failed ``assert`` or a ``raise``, in which a thread ends, with the exception."""
    for part in ast.walk(node):
        if isinstance(part, ast.FormattedValue):
            refuse_construct(ast.copy_location(ast.JoinedStr([part]), part))
    kind = "failed-assertion" if isinstance(node, ast.Assert) else "raised-exception"
    text = ast.unparse(node).replace("{", "{{").replace("}", "}}")
    code = f"warp.failed({kind!r}, {text!r}, {{0}}, {{mask}}, {{line}})"
    return nodes.Apply(code=code, args=(CompileTimeObject(obj=_exception(translation, node)),), line=node.lineno)


def _exception(translation: Translation, node: ast.Assert | ast.Raise) -> RaisedException | None:
    """The exception of an ``assert`` or a ``raise``; None of a name that is no exception."""
    if isinstance(node, ast.Assert):
        kind: object = AssertionError
        given = [node.msg] if node.msg else []
    else:
        raised = node.exc
        if isinstance(raised, ast.Call):
            kind = translation.constant_object(raised.func)
            given = raised.args
        else:
            kind = translation.constant_object(raised or node)
            given = []
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return None
    return RaisedException(kind, tuple(_argument(translation, part) for part in given))


def _argument(translation: Translation, node: ast.expr) -> object:
    """The argument of an exception: a constant, or a name of one; the text of any other, as numba takes none."""
    value = node.value if isinstance(node, ast.Constant) else translation.constant_object(node)
    return value if isinstance(value, str | int | float) else ast.unparse(node)
