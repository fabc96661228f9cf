"""Tables of the functions that a kernel can call: one row each, with arguments, types, result and implementation.

To add a function: add a row to the table of its module (``CUDA``, ``MATH``, ``NUMPY``, ``PYTHON``), and its
computation to :mod:`~course_lib.simulator.arithmetic` or, if the lanes of a warp do it together, to
:mod:`~course_lib.simulator.lanes.warp`. A call that is not a function of numbers only (it takes an array or a shape, or
allocates) is a *form* (:mod:`forms`): its row names the function that translates it. Intrinsics that are
defined outside the simulator describe themselves (:mod:`intrinsics`).
"""

import ast
import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from ..arithmetic import cast as machine_cast
from ..tables import plural
from . import allocations, conditions, forms, intrinsics, packages, python, refusals, tuples, types, views
from .context import Context
from .names import COORDINATES, Symbol, dtype_name, vector_of
from .nodes import Apply, Const, Expr, Given, Select, Static, elementwise, once, tuple_of
from .operators import cast, function_of
from .refusals import mistyped, refuse
from .source import Inner
from .types import NONE, ArrayType, TupleType, TypingError, describe_type, is_int

#: The type of the result, and the types to which the arguments are converted.
Signature = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """A function of numbers.

    ``rule`` returns its signature for the types of its arguments, or raises TypingError. ``code`` is that of
    :class:`~.nodes.Apply`. ``widened`` explains, followed by the types of the arguments, why the result is float64 if
    no argument is.
    """

    name: str
    rule: Callable[..., Signature]
    code: str
    widened: str = "of"
    complex: bool = False  # does it take complex numbers?
    counts: tuple[int, ...] = ()  # of its arguments, if it has other forms, too

    @property
    def arity(self) -> tuple[int, ...]:
        return self.counts or (operands_of(self.code),)

    def __call__(self, x: Context, node: ast.Call, used: bool = True) -> Expr:
        """Translate the call ``node`` of this function."""
        given = x.arguments(node, self.arity, self.name, real=not self.complex)
        kinds = tuple(str(value.type) for value in given)
        packages.check(self.name, kinds)
        result, wanted = self.rule(*kinds)
        places = zip(given, node.args, wanted, strict=True)
        parts: list[tuple[Expr, ast.AST]] = [
            (value, place) for value, place, kind in places if kind in (*types.FLOATS, value.type)
        ]
        reason = x.reason(node, result, parts, self.widened)
        operands = tuple(
            conditions.truth(x, v, node.lineno) if kind == "bool" else cast(v, kind)
            for v, kind in zip(given, wanted, strict=True)
        )
        return Apply(code=self.code, args=operands, type=result, line=node.lineno, why=reason)


# --- signatures -------------------------------------------------------------------------------------------------------


def operands_of(code: str) -> int:
    return sum(part in code for part in ("{0}", "{1}", "{2}"))


def _overloads(text: str, converted: bool = False) -> Callable[..., Signature]:
    """The rule of :func:`types.best`; ``converted``: the arguments are converted to the type of the result."""

    def rule(*given: str) -> Signature:
        result, wanted = types.best(text, *given)
        return result, (result,) * len(given) if converted else wanted

    return rule


#: One number, in float32 or else in float64; an integer in float64. Some functions also have a float16 form.
_IN_FLOAT = "q->d Q->d f->f d->d"
_math, _math_of_half = _overloads(_IN_FLOAT, True), _overloads(f"{_IN_FLOAT} e->e", True)
_math2 = _overloads("qq->d QQ->d ff->f dd->d", True)
#: Small integers fit in float32.
_narrow, _narrow2 = _overloads("f->f d->d"), _overloads("ff->f dd->d")
_pow = _overloads("ff->f dd->d fi->f di->d", True)


def _math_test(a: str) -> Signature:
    return "bool", _math(a)[1]


#: The element types that cuda.selp does not take.
_NOT_CHOSEN = ("bool", "int8", "uint8", "float16")


def _selp(condition: str, a: str, b: str) -> Signature:
    if a != b or a in _NOT_CHOSEN:
        raise TypingError(
            "cuda.selp takes two numbers of one type, int16, int32, int64, unsigned, float32 or float64, and "
            f"is given {a} and {b}; write a if condition else b"
        )
    return a, ("bool", a, a)


def _bits(name: str, result: str = "", operand: Callable[[str], str] = lambda a: a) -> Callable[[str], Signature]:
    """An integer, converted to the type ``operand(type)``; the result has that type, or the type ``result``."""

    def rule(a: str) -> Signature:
        if not is_int(a):
            raise TypingError(f"cuda.{name} needs an integer, not {a}: convert it with int()")
        return result or operand(a), (operand(a),)

    return rule


def _members(mask: str) -> None:
    if not is_int(mask):
        raise TypingError("the mask of a warp operation must be an integer, such as 0xFFFFFFFF")


def _vote(result: str, wanted: str = "bool") -> Callable[[str, str], Signature]:
    """Lanes vote on a condition; or on any value, if ``wanted`` is empty."""

    def rule(mask: str, value: str) -> Signature:
        _members(mask)
        return result, (mask, wanted or value)

    return rule


#: The types that numba moves between lanes.
_moved = _overloads("i->i q->q f->f d->d")


def _shuffle(name: str) -> Callable[[str, str, str], Signature]:
    def rule(mask: str, value: str, lane: str) -> Signature:
        _members(mask)
        if not is_int(lane):
            raise TypingError(f"the lane of cuda.{name} must be an integer, not {lane}: convert it with int()")
        kind, _ = _moved(value)
        return kind, (mask, kind, lane)

    return rule


def _round(a: str) -> Signature:
    return "int64", (a if types.is_float(a) else "int64",)


def _round_to(a: str, digits: str) -> Signature:
    kind, _ = _math2(a, "float32")
    return kind, (kind, "int64")


def _ufunc(name: str) -> Callable[..., Signature]:
    """The first of NumPy's loops to which the arguments convert safely; numba has none of float16.

    If another argument is a float, an integer converts to any float.
    """
    loops = [loop.split("->") for loop in getattr(np, name).types if not set(loop) & set("egGmMO")]

    def rule(*given: str) -> Signature:
        mixed = any(map(is_int, given)) and any(map(types.is_float, given))
        for wanted, result in loops:
            if all(
                np.can_cast(a, kind) or (mixed and is_int(a) and kind in "fd")
                for a, kind in zip(given, wanted, strict=True)
            ):
                return np.dtype(result).name, tuple(np.dtype(kind).name for kind in wanted)
        raise TypingError(f"np.{name} takes no {' and '.join(given)}: convert with int()")

    return rule


# --- the rows ---------------------------------------------------------------------------------------------------------

#: NumPy's names for the functions of math that it has.
_IN_NUMPY = {
    name: name
    for name in (
        "sqrt sin cos tan sinh cosh tanh exp expm1 exp2 log log2 log10 log1p fabs floor ceil trunc degrees radians "
        "isnan isinf isfinite hypot fmod copysign"
    ).split()
} | {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
_TESTS, _OF_TWO = ("isnan", "isinf", "isfinite"), ("atan2", "hypot", "fmod", "copysign")
#: Functions of two numbers that take small integers as float64.
_IN_DOUBLE = ("atan2", "hypot")
#: Functions that numba computes in float16.
_IN_HALF = ("sqrt", "sin", "cos", "exp", "exp2", "log", "log2", "log10", "floor", "ceil", "trunc", "fabs")
_OPERANDS = {1: "({0})", 2: "({0}, {1})"}

#: The rule and the code of each function of math.
_OF_MATH: dict[str, tuple[Callable[..., Signature], str]] = {
    **{name: (_math, f"np.{known}({{0}})") for name, known in _IN_NUMPY.items() if name not in _OF_TWO},
    **{name: (_math_of_half, f"np.{name}({{0}})") for name in _IN_HALF},
    **{name: (_math_test, f"np.{name}({{0}})") for name in _TESTS},
    **{name: (_narrow2, f"np.{_IN_NUMPY[name]}({{0}}, {{1}})") for name in _OF_TWO},
    **{name: (_math2, f"np.{_IN_NUMPY[name]}({{0}}, {{1}})") for name in _IN_DOUBLE},
    **{name: (_math, f"{name}({{0}})") for name in ("erf", "erfc", "gamma", "lgamma")},
    "ldexp": (_overloads("fi->f di->d"), "np.ldexp({0}, {1})"),
    "nextafter": (_narrow2, "np.nextafter({0}, {1})"),
    "remainder": (_narrow2, "remainder({0}, {1})"),
    "pow": (_pow, "power({0}, {1})"),
}
MATH = {name: Row(f"math.{name}", rule, code, widened="math of") for name, (rule, code) in _OF_MATH.items()}
#: The functions of math by the equivalent names of NumPy or SciPy, for advice in messages.
MATH_OF_NUMPY = {known: name for name, known in _IN_NUMPY.items()} | {n: n for n in ("erf", "erfc", "gamma")}

_UFUNCS = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh log log2 log10 deg2rad radians rad2deg "
    "degrees logical_not invert arctan2 hypot maximum minimum fmax fmin greater greater_equal less less_equal equal "
    "not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift"
)
#: NumPy's functions of numbers that numba's CUDA target takes.
NUMPY = {
    name: Row(
        f"np.{name}", _ufunc(name), f"np.{name}{_OPERANDS[getattr(np, name).nin]}", widened="math of", complex=True
    )
    for name in _UFUNCS.split()
}
for _name in ("maximum", "minimum", "fmax", "fmin"):
    NUMPY[_name] = replace(NUMPY[_name], code=f"extreme(np.{_name}, {{0}}, {{1}})")
#: Those of them that take numbers alone.
NUMPY_TESTS = {name: Row(f"np.{name}", _math_test, f"np.{name}({{0}})") for name in _TESTS}

_COMPARING = {"heq": "==", "hne": "!=", "hlt": "<", "hle": "<=", "hgt": ">", "hge": ">="}
_BETWEEN = {"hadd": "+", "hsub": "-", "hmul": "*", "hdiv": "/", **_COMPARING}
#: The code of each function of fp16.
_OF_HALF = {
    **{name: f"({{0}} {symbol} {{1}})" for name, symbol in _BETWEEN.items()},
    **{f"h{name}": f"np.{name}({{0}})" for name in ("exp", "exp2", "log", "log2", "log10", "sqrt", "sin", "cos")},
    **{f"h{name}": f"np.{name}({{0}})" for name in ("floor", "ceil", "trunc", "rint", "abs")},
    **{"hneg": "(-{0})", "hfma": "fused({0}, {1}, {2})", "hmax": forms.LARGER, "hmin": forms.SMALLER},
    "hrsqrt": "cast(np.float32(1) / np.sqrt({0}.astype(np.float32)), {dtype})",
    "hrcp": "cast(np.float32(1) / {0}.astype(np.float32), {dtype})",
    "hexp10": "cast(np.power(np.float32(10), {0}.astype(np.float32)), {dtype})",
}
_HALF = {
    name: Row(f"cuda.fp16.{name}", _overloads(f"{'e' * operands_of(code)}->{'?' if name in _COMPARING else 'e'}"), code)
    for name, code in _OF_HALF.items()
}

#: The code of libdevice's functions by their names, without the f of the float32 versions.
_LIBDEVICE = {
    **{
        name: MATH[name].code
        for name in (
            "erf erfc lgamma pow fabs floor ceil trunc sqrt exp exp2 expm1 log log2 log10 log1p fmod hypot copysign "
            "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh atan2"
        ).split()
    },
    **{"tgamma": MATH["gamma"].code, "cbrt": "np.cbrt({0})", "rint": "np.rint({0})", "fma": "fused({0}, {1}, {2})"},
    **{"rsqrt": "(1 / np.sqrt({0}))", "exp10": "np.power({dtype}.type(10), {0})"},
    **{"fmin": forms.SMALLER, "fmax": forms.LARGER},
}
#: Those that have a faster, less exact form in float32; the simulator computes it exactly.
_FAST = ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow")


LIBDEVICE = {
    f"libdevice.{found}": Row(f"libdevice.{found}", _overloads(f"{kind * operands_of(code)}->{kind}"), code)
    for name, code in _LIBDEVICE.items()
    for found, kind in ((name, "d"), (f"{name}f", "f"), *([(f"fast_{name}f", "f")] if name in _FAST else []))
}

_CHECKED = "w.check_members({0}, {mask}, {line})\n"


def _voting(name: str, told: str = ", {line}") -> str:
    """The code of a vote; ``told`` are the further arguments by which observers hear of it."""
    return f"{_CHECKED}w.vote({name!r}, {{0}}, {{1}}, {{mask}}{told})"


_WARP = {
    **{name: Row(f"cuda.{name}", _vote("bool"), _voting(name)) for name in ("all_sync", "any_sync", "eq_sync")},
    "ballot_sync": Row("cuda.ballot_sync", _vote("int32"), _voting("ballot_sync")),
    "match_any_sync": Row("cuda.match_any_sync", _vote("int32", ""), _voting("match_any_sync")),
    **{
        name: Row(
            f"cuda.{name}", _shuffle(name), f"{_CHECKED}w.shuffle({name!r}, {{0}}, {{1}}, {{2}}, {{mask}}, {{line}})"
        )
        for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")
    },
}


def match_all(x: Context, node: ast.Call, used: bool) -> Expr:
    """``cuda.match_all_sync(mask, value)``: (the lanes, True) if all lanes have one value, else (0, False)."""
    arguments = tuple(once(part) for part in x.arguments(node, (2,), "cuda.match_all_sync"))
    _members(str(arguments[0].type))
    same, lanes = (
        once(Apply(code=_voting(name, told), args=arguments, type=kind, line=node.lineno))
        for name, kind, told in (
            ("eq_sync", "bool", ", {line}, 'match_all_sync'"),
            ("match_any_sync", "int32", ""),
        )
    )
    zero = cast(x.number(0), "int32")
    return tuple_of((Select(test=same, yes=lanes, no=zero, type="int32", line=node.lineno), same))


def _of_complex(name: str, code: str, overloads: str = "F->F D->D") -> Row:
    return Row(f"cmath.{name}", _overloads(overloads), code, complex=True)


#: The functions of cmath. NumPy and numba both follow C99, also for infinities and NaN, but where products overflow.
CMATH = {
    **{
        name: _of_complex(name, f"np.{numpy}({{0}})")
        for name, numpy in {
            **{name: name for name in ("log", "log10", "sqrt", "tan", "tanh")},
            **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        }.items()
    },
    **{
        name: _of_complex(name, f"overflowed(np.{name}({{0}}), {{0}}, {name.startswith('cos')})")
        for name in ("exp", "sin", "cos", "sinh", "cosh")
    },
    **{name: _of_complex(name, f"np.{name}({{0}})", "F->? D->?") for name in ("isnan", "isinf", "isfinite")},
    "phase": _of_complex("phase", "np.arctan2({0}.imag, {0}.real)", "F->f D->d"),
}

LOG_TO_BASE = _of_complex("log", "complex_quotient(np.log({0}), np.log({1}), w.full, {mask}, {line})", "FF->F DD->D")


def _rect(r: str, phi: str) -> Signature:
    if not (types.is_float(r) and types.is_float(phi)):
        raise TypingError(f"cmath.rect takes two floats, and is given {r} and {phi}; convert them with float()")
    return types.complex_result(r, phi), (r, phi)


def polar(x: Context, node: ast.Call, used: bool) -> Expr:
    """``cmath.polar(z)``: (abs(z), cmath.phase(z))."""
    (value,) = x.arguments(node, (1,), "cmath.polar", real=False)
    if not types.is_complex(str(value.type)):
        raise TypingError(f"cmath.polar takes a complex number, not {value.type}; convert it with complex()")
    value, kind = once(value), types.PART[str(value.type)]
    parts = (forms.MAGNITUDE, CMATH["phase"].code)
    return tuple_of(tuple(Apply(code=part, args=(value,), type=kind, line=node.lineno) for part in parts))


#: All functions of cmath: those above, and those of other arguments or results.
CALLS_OF_CMATH: dict[str, forms.Form] = {
    **CMATH,
    "log": lambda x, node, used: (LOG_TO_BASE if len(node.args) == 2 else CMATH["log"])(x, node),
    "rect": Row("cmath.rect", _rect, "rectangular({0}, {1})"),
    "polar": polar,
}

#: The functions of numba.cuda, and the forms.
CUDA: dict[str, forms.Form] = {
    **_WARP,
    **{f"fp16.{name}": row for name, row in _HALF.items()},
    **LIBDEVICE,
    **{name: partial(forms.hinted, name) for name in (*forms.HINTED_LOADS, *forms.HINTED_STORES)},
    "libdevice.sad": Row("libdevice.sad", _overloads("iii->i"), "(np.abs({0} - {1}) + {2})"),
    **{f"libdevice.{name}": partial(forms.parts, name, "d->d") for name in forms.TUPLES},
    **{f"libdevice.{name}f": partial(forms.parts, name, "f->f") for name in forms.TUPLES},
    "match_all_sync": match_all,
    "activemask": Row(
        "cuda.activemask",
        lambda: ("uint32", ()),
        "cast(w.vote('ballot_sync', 0, np.True_, {mask}), {dtype})",
    ),
    "lanemask_lt": Row("cuda.lanemask_lt", lambda: ("uint32", ()), "w.lanemask_lt()"),
    "fma": Row("cuda.fma", _overloads("fff->f ddd->d"), "fused({0}, {1}, {2})"),
    "selp": Row("cuda.selp", _selp, "pick({0}, {1}, {2})"),
    "popc": Row("cuda.popc", _bits("popc"), "cast(bit_popc({0}), {dtype})"),
    "brev": Row(
        "cuda.brev",
        _bits("brev", operand=lambda a: "uint64" if a == "uint64" else "uint32"),
        "cast(bit_brev({0}), {dtype})",
    ),
    "clz": Row("cuda.clz", _bits("clz"), "cast(bit_clz({0}), {dtype})"),
    "ffs": Row("cuda.ffs", _bits("ffs", "uint32"), "cast(bit_ffs({0}), {dtype})"),
    "cbrt": Row("cuda.cbrt", _narrow, "np.cbrt({0})", widened="math of"),
    "const.array_like": allocations.constant_array,
    "grid": forms.grid,
    "gridsize": forms.gridsize,
    "cg.this_grid": forms.grid_group,
    "cg.this_grid().sync": partial(forms.syncthreads, grid=True),
    "syncthreads": forms.syncthreads,
    "syncwarp": forms.syncwarp,
    "nanosleep": forms.pause,
    "threadfence": forms.fence,
    "threadfence_block": partial(forms.fence, code=forms.BLOCK_FENCE),
    "threadfence_system": forms.fence,
    **{f"syncthreads_{name}": partial(forms.reduction, f"syncthreads_{name}") for name in ("count", "and", "or")},
    **{f"atomic.{name}": partial(forms.atomic, name) for name in forms.ATOMICS},
}


def _of_numpy(row: Row, x: Context, node: ast.Call, used: bool) -> Expr:
    """``np.sin(x)``; or ``np.sin(x, out)``, of numbers and elements of arrays, stored to all elements of ``out``."""
    if len(node.args) != row.arity[0] + 1:
        return row(x, node, used)
    text = ast.unparse(node)
    if node.keywords:
        refuse(node, f"numba takes no named arguments in {text}; write out the output's name alone")
    *inputs, array = (x.expr(part) for part in node.args)
    if not isinstance(array.type, ArrayType):
        takes = plural(row.arity[0], "argument")
        mistyped(node.args[-1], array.type, f"{row.name}() takes {takes} and perhaps an array for the result")
    for value, part in zip(inputs, node.args, strict=False):
        if isinstance(value.type, ArrayType) and value.type.ndim > array.type.ndim:
            refuse(node, f"{ast.unparse(part)} is {value.type}, and the result {array.type}; use parts of one shape")
        if not isinstance(value.type, ArrayType):
            x.as_number(part, value)
    elements = [value.type.dtype if isinstance(value.type, ArrayType) else str(value.type) for value in inputs]
    result, wanted = row.rule(*elements)
    if not np.can_cast(result, array.type.dtype, "same_kind"):
        raise TypingError(
            f"{row.name} gives {result}, which {ast.unparse(node.args[-1])} of {array.type.dtype} "
            "does not take; convert the array before the launch"
        )
    x.stored(node.args[-1], array, Const(type=result, value=np.dtype(result).type(0)))
    compute = function_of(row.code, len(inputs))

    def of_elements(*values: Any) -> Any:
        return compute(*(machine_cast(v, np.dtype(kind)) for v, kind in zip(values, wanted, strict=True)))

    return elementwise(array, of_elements, tuple(inputs), node.lineno)


ROUND = Row("round", _round, "cast(np.rint({0}), {dtype})", counts=(1, 2))
ROUND_TO = Row("round", _round_to, "rounded({0}, {1})", widened="math of", counts=(1, 2))
#: The functions of Python, its modules and NumPy.
PYTHON: dict[object, forms.Form] = {
    min: partial(forms.extreme, smaller=True),
    max: partial(forms.extreme, smaller=False),
    abs: forms.absolute,
    len: forms.length,
    pow: forms.power,
    divmod: forms.quotient_and_remainder,
    complex: forms.complex_number,
    print: forms.say,
    round: lambda x, node, used: (ROUND_TO if len(node.args) == 2 else ROUND)(x, node),
    **python.BUILTINS,
    math.frexp: partial(forms.parts, "frexp", "f->f d->d"),
    math.modf: partial(forms.parts, "modf", "d->d f->f"),
    **{getattr(math, name): row for name, row in MATH.items()},
    **{getattr(cmath, name): form for name, form in CALLS_OF_CMATH.items()},
    **{getattr(np, name): row for name, row in NUMPY_TESTS.items()},
    **{getattr(np, name): partial(_of_numpy, row) for name, row in NUMPY.items()},
}


# --- the call ---------------------------------------------------------------------------------------------------------


def call(x: Context, node: ast.Call, used: bool) -> Expr:
    """Translate a call; ``used``: its value is used."""
    made = _called(x, node, used)
    if used and isinstance(made, Apply) and made.type == NONE and ast.unparse(node.func) != "print":
        refuse(node, f"{ast.unparse(node)} has no value; write it as a statement of its own")
    return made


def _called(x: Context, node: ast.Call, used: bool) -> Expr:
    if any(isinstance(part, ast.Starred) for part in node.args):
        values = [Given(value, part) for part in node.args for value in tuples.unpacked(x, part)]
        node = ast.copy_location(ast.Call(node.func, [*values], node.keywords), node)
    if isinstance(node.func, ast.Attribute) and (made := _method(x, node, node.func, used)) is not None:
        return made
    thing = x.constant_object(node.func)
    if thing is None:
        target = x.expr(node.func)
        if not isinstance(target, Static):
            advice = "index it with [ ]" if isinstance(target.type, (ArrayType, TupleType)) else "leave out the ( )"
            refuse(node, f"{ast.unparse(node.func)} is {describe_type(target.type)}, and cannot be called; {advice}")
        thing = target.thing
    return _call_of(x, node, thing, used)


def _call_of(x: Context, node: ast.Call, thing: object, used: bool) -> Expr:
    if isinstance(thing, Symbol):
        return _cuda(x, node, thing, used)
    if isinstance(thing, Inner):
        return forms.inner(x, node, thing, used)
    if intrinsics.declared(thing) is not None:
        return intrinsics.call(x, node, thing)
    form = PYTHON.get(thing) if isinstance(thing, (type, type(abs), np.ufunc)) else None
    if form is not None:
        return form(x, node, used)
    if not isinstance(thing, str) and dtype_name(thing):
        return forms.conversion(x, node, thing)
    if isinstance(thing, type) and issubclass(thing, tuple) and hasattr(thing, "_fields"):
        return forms.named_tuple(x, node, thing)
    if getattr(thing, "__module__", None) in refusals.MODULES:
        _refuse_call(node, thing)
    if getattr(thing, "py_func", None) is not None:
        return forms.device(x, node, thing, used)
    if isinstance(thing, FunctionType) and (made := forms.overloaded(x, node, thing, used)) is not None:
        return made
    _refuse_call(node, thing)


#: The methods of arrays and numbers.
METHODS = (*views.METHODS, "bit_count")


def _method(x: Context, node: ast.Call, function: ast.Attribute, used: bool) -> Expr | None:
    """Translate the call of a method of an array or a number; None for other calls."""
    name = function.attr
    if name == "conjugate" and not (node.args or node.keywords):
        return forms.conjugate(x, node)
    if name not in METHODS or x.constant_object(function) is not None:
        return None
    owner = x.present(function.value, x.expr(function.value))
    if isinstance(owner.type, ArrayType) and name in views.METHODS:
        return views.METHODS[name](x, node, owner)
    if owner.is_scalar and name == "view":
        return views.number_as(x, node, owner)
    if owner.is_scalar and name == "bit_count" and not (node.args or node.keywords):
        packages.check("int.bit_count", (str(owner.type),))
        return CUDA["popc"](x, ast.copy_location(ast.Call(function, [function.value], []), node), used)
    return None


def _cuda(x: Context, node: ast.Call, symbol: Symbol, used: bool) -> Expr:
    name = ".".join(symbol.path)
    if not name:
        refuse(node, f"{ast.unparse(node.func)} is a module, and cannot be called; call one of its functions")
    vector = vector_of(symbol.thing)
    if vector is not None:
        return forms.vector(x, node, *vector)
    if name in CUDA:
        return CUDA[name](x, node, used)
    if getattr(symbol.thing, "py_func", None) is not None:
        return forms.device(x, node, symbol.thing, used)
    first = symbol.path[0]
    if name in ("shared.array", "local.array"):
        refuse(node, f"assign cuda.{name}(...) to a name first: tile = cuda.{name}(...)")
    if first == "atomic" and len(symbol.path) == 2:
        refuse(node, f"numba.cuda has no {name}; it has {', '.join(forms.ATOMICS)}")
    if first in (*COORDINATES, "laneid", "warpsize"):
        refuse(node, f"cuda.{name} is a value, and cannot be called; leave out the ( )")
    if first in refusals.CUDA or symbol.thing is not None:
        advice = refusals.CUDA.get(first, "call it outside the kernel, or leave it out")
        refuse(node, f"the simulator does not run cuda.{name}; {advice}")
    refuse(node, f"numba.cuda has no {name!r}; look up how it is spelled")


def _refuse_call(node: ast.Call, thing: object) -> NoReturn:
    """Refuse a call of ``thing``, which is not a function that a kernel can call."""
    text, name = ast.unparse(node.func), str(getattr(thing, "__name__", thing))
    home = str(getattr(thing, "__module__", None) or "")
    if home in refusals.MODULES:
        refuse(node, f"the simulator does not run {text}(); {refusals.MODULES[home]}")
    if home == "math":
        advice = refusals.MATH.get(name, "write it out with arithmetic and other functions of math")
        refuse(node, f"the simulator does not run math.{name}; {advice}")
    if isinstance(thing, np.ufunc) or home.split(".")[0] == "numpy":
        known = f"math.{MATH_OF_NUMPY[name]}" if name in MATH_OF_NUMPY else "math functions and single elements"
        advice = refusals.NUMPY.get(name, known)
        refuse(node, f"the simulator does not run {text}(), a NumPy function; use {advice}")
    if isinstance(thing, FunctionType):
        refuse(
            node,
            f"{text} is a plain Python function; decorate it with @cuda.jit(device=True) to call it from a kernel",
        )
    if type(thing).__name__ == "ExternFunction":
        refuse(node, f"{text} is only declared, and its code is in another language; write it in Python to run it here")
    if not callable(thing):
        refuse(node, f"{text} is no function, and cannot be called; leave out the ( )")
    owner = getattr(thing, "__self__", None)
    if owner is not None and type(owner) is not type(math):
        refuse(
            node,
            f"{text}() is a method of an object outside the kernel, of type {type(owner).__name__}, which no kernel "
            "calls; call it before the launch and pass its result",
        )
    advice = "write the operator itself" if home == "_operator" else refusals.BUILTINS.get(name, "")
    refuse(
        node,
        f"the simulator does not run {text}(); {advice or 'write it out with arithmetic, comparisons, if and for'}",
    )
