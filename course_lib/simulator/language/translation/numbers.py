"""Conversions, and the functions of numbers whose rules need more than a row of a table."""

import ast
from dataclasses import replace
from functools import reduce

from ...formatting import plural
from ..program import builders, nodes
from ..program.builders import cast
from ..source.errors import refuse
from ..tables import package_gaps
from ..tables.functions import LARGER, MAGNITUDE, SMALLER
from ..types import typing_rules, unification
from ..types.float64_reasons import MATH_OF, OF
from ..types.types_of_objects import dtype_name
from ..types.typing_rules import complex_result
from ..types.value_types import PART, OptionalType, TupleType, TypingError, is_complex, is_float, is_int
from . import conditions, tuples
from .translation import Translation

#: The functions of libdevice that return a tuple: the code of its items, and the type of the second if it is another.
TUPLES = {
    "frexp": (("cast(np.frexp({0})[0], {dtype})", "cast(np.frexp({0})[1], {dtype})"), "int32"),
    "modf": (("np.modf({0})[0]", "np.modf({0})[1]"), ""),
    "sincos": (("np.sin({0})", "np.cos({0})"), ""),
}


def vector(translation: Translation, node: ast.Call, kind: str, count: int) -> nodes.Expr:
    """``cuda.float32x4(...)``, of numbers and of shorter vectors of the same type: a tuple with x, y, z and w."""
    values: list[nodes.Expr] = []
    for part in node.args:
        value = translation.expr(part)
        if isinstance(value.type, TupleType) and value.type.fields and {*value.type.items} == {kind}:
            values += tuples.items(builders.reusable_items(value))
        else:
            values.append(cast(translation.as_number(part, value), kind))
    if len(values) != count or node.keywords:
        refuse(
            node,
            f"{ast.unparse(node.func)}() takes {plural(count, 'number')}, or vectors of {kind} that hold them",
        )
    return builders.tuple_of(tuple(values), tuple("xyzw"[:count]))


def conversion(translation: Translation, node: ast.Call, obj: object) -> nodes.Expr:
    """``float32(x)``, ``int(x)``: the kernel itself asks for the type."""
    if obj is not int:
        _refuse_none(translation, node)
    (value,) = translation.arguments(node, (1,), ast.unparse(node.func), real=False)
    have = str(value.type)
    if obj is float and have == "bool":
        raise TypingError("numba has no float() of a bool; write float32(x), or 1.0 if x else 0.0")
    if obj is float:
        kind = have if is_float(have) else "float64"
    elif obj is int:
        kind = have if is_int(have) else "int64"
    else:
        kind = str(dtype_name(obj))
    result = conditions.truth(translation, value, node.lineno) if kind == "bool" else cast(value, kind)
    if isinstance(result, nodes.Const):
        return replace(result, literal=False, why=None)
    return replace(result, why=None)


def _refuse_none(translation: Translation, node: ast.Call) -> None:
    """Refuse arguments that may be None, which numba takes for a number in arithmetic, and not here."""
    for part in node.args:
        if isinstance(translation.expr(part).type, OptionalType):
            translation.as_number(part, translation.expr(part))


def complex_number(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``complex(x)``, which is complex64 only for a float32, and ``complex(real, imaginary)``."""
    _refuse_none(translation, node)
    values = translation.arguments(node, (1, 2), "complex", real=False)
    kind = complex_result(*(str(value.type) for value in values))
    if len(values) == 1:
        return replace(cast(values[0], kind), why=None)
    operands = tuple(cast(value, PART[kind]) for value in values)
    return nodes.Apply(code="complex_of({0}, {1})", args=operands, type=kind, line=node.lineno)


def conjugate(translation: Translation, node: ast.Call) -> nodes.Expr:
    """``x.conjugate()`` of a number; a real one is unchanged."""
    assert isinstance(node.func, ast.Attribute)
    value = translation.scalar(node.func.value)
    if value.type == "bool":
        raise TypingError("a bool has no conjugate; leave it out")
    if not is_complex(str(value.type)):
        return value
    return nodes.Apply(code="np.conjugate({0})", args=(value,), type=value.type, line=node.lineno, why=value.why)


def min_or_max(translation: Translation, node: ast.Call, used: bool, smaller: bool) -> nodes.Expr:
    """``min`` and ``max``."""
    whole = translation.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if whole is not None and isinstance(whole.type, TupleType) and whole.type.items:
        package_gaps.check("min() and max() of a tuple", ())
        whole = builders.reusable_items(whole)
        items = tuples.items(whole)
        result = _min_or_max_of(translation, node, smaller, list(items), node.args * len(items))
        return builders.after((whole,), result)
    if len(node.args) < 2 or node.keywords:
        refuse(
            node,
            "min() and max() take two or more numbers without names, or a tuple; compare the elements of an array in a "
            "loop",
        )
    if any(isinstance(translation.expr(a).type, OptionalType) for a in node.args):
        package_gaps.check("min() and max() of what may be None", ())
    return _min_or_max_of(translation, node, smaller, [translation.scalar(a) for a in node.args], node.args)


def _min_or_max_of(
    translation: Translation, node: ast.Call, smaller: bool, values: list[nodes.Expr], trees: list[ast.expr]
) -> nodes.Expr:
    """numba has CUDA's function for two arguments of float32 or float64; else it takes a later one that compares so."""
    for value, part in zip(values, trees, strict=True):
        translation.as_number(part, value)
    kind = reduce(unification.unify, (str(value.type) for value in values))
    typing_rules.comparison(kind, kind)
    reason = translation.reason(node, kind, list(zip(values, trees, strict=True)), OF)
    of_two_floats = len(node.args) == 2 and all(str(value.type) in ("float32", "float64") for value in values)
    if is_int(kind):
        code = "np.minimum({0}, {1})" if smaller else "np.maximum({0}, {1})"
    elif of_two_floats:
        code = SMALLER if smaller else LARGER
    else:
        code = "later_if(np.less, {0}, {1})" if smaller else "later_if(np.greater, {0}, {1})"
    result, *rest = (cast(value, kind) for value in values)
    for value in rest:
        result = nodes.Apply(code=code, args=(result, value), type=kind, line=node.lineno)
    return replace(result, why=reason)


def absolute(translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    (value,) = translation.arguments(node, (1,), "abs", real=False)
    have = str(value.type)
    if is_complex(have):
        return nodes.Apply(code=MAGNITUDE, args=(value,), type=PART[have], line=node.lineno, why=value.why)
    kind = "int8" if have == "bool" else have
    return nodes.Apply(code="np.abs({0})", args=(cast(value, kind),), type=kind, line=node.lineno, why=value.why)


def parts(name: str, overloads: str, translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """A function of ``TUPLES``: ``math.frexp(x)``, ``libdevice.sincos(x)``."""
    (value,) = translation.arguments(node, (1,), ast.unparse(node.func))
    codes, other = TUPLES[name]
    kind = typing_rules.best(overloads, str(value.type))[0]
    reason = translation.reason(node, kind, [(value, node.args[0])], MATH_OF)
    number = builders.reusable(cast(value, kind))
    line = node.lineno
    first = nodes.Apply(code=codes[0], args=(number,), type=kind, line=line, why=reason)
    if not other:
        second = nodes.Apply(code=codes[1], args=(number,), type=kind, line=line, why=reason)
    else:
        second = nodes.Apply(code=codes[1], args=(number,), type=other, line=line)
    return builders.tuple_of((first, second))
