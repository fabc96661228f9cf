"""Tables of the functions of numbers that a kernel can call: a row each, with its arguments, types, result and code.

To add a function: add a row to the table of its module (``MATH``, ``NUMPY``, ``CMATH``, ``CUDA``, ``_LIBDEVICE``,
``_OF_HALF``), and its computation to :mod:`~course_lib.simulator.runtime.arithmetic` or, if the lanes of a warp do it
together, to :mod:`~course_lib.simulator.runtime.warp`. A call of anything else (it takes an array or a shape, or
allocates) has a function of its own, in :mod:`translation.calls`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..types import typing_rules
from ..types.float64_reasons import MATH_OF, OF, Widening
from ..types.typing_rules import complex_result
from ..types.value_types import TypingError, is_float, is_int

#: The type of the result, and the types to which the arguments are converted.
Overload = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """A function of numbers.

    ``rule`` returns its signature for the types of its arguments, or raises TypingError. ``code`` is that of
    :class:`~.nodes.Apply`. ``widening`` says why the result is float64 if no argument is.
    """

    name: str
    rule: Callable[..., Overload]
    code: str
    widening: Widening = OF
    complex: bool = False  # does it take complex numbers?
    counts: tuple[int, ...] = ()  # of its arguments, if it has other forms, too

    @property
    def arity(self) -> tuple[int, ...]:
        return self.counts or (operands_of(self.code),)


# --- signatures -------------------------------------------------------------------------------------------------------


def operands_of(code: str) -> int:
    return sum(part in code for part in ("{0}", "{1}", "{2}"))


def _overloads(text: str, converted: bool = False) -> Callable[..., Overload]:
    """The rule of :func:`.typing_rules.best`; ``converted``: the arguments are converted to the type of the result."""

    def rule(*given: str) -> Overload:
        result, wanted = typing_rules.best(text, *given)
        if converted:
            wanted = (result,) * len(given)
        return result, wanted

    return rule


#: One number, in float32 or else in float64; an integer in float64. Some functions also have a float16 form.
_IN_FLOAT = "q->d Q->d f->f d->d"
_math = _overloads(_IN_FLOAT, True)
_math_of_half = _overloads(f"{_IN_FLOAT} e->e", True)
_math2 = _overloads("qq->d QQ->d ff->f dd->d", True)
#: Small integers fit in float32.
_narrow = _overloads("f->f d->d")
_narrow2 = _overloads("ff->f dd->d")
_pow = _overloads("ff->f dd->d fi->f di->d", True)


def _math_test(a: str) -> Overload:
    return "bool", _math(a)[1]


#: The element types that cuda.selp does not take.
_NOT_CHOSEN = ("bool", "int8", "uint8", "float16")


def _selp(condition: str, a: str, b: str) -> Overload:
    if a != b or a in _NOT_CHOSEN:
        raise TypingError(
            "cuda.selp takes two numbers of one type, int16, int32, int64, unsigned, float32 or float64, and "
            f"is given {a} and {b}; write a if condition else b"
        )
    return a, ("bool", a, a)


def _bits(name: str, result: str = "", operand: Callable[[str], str] = lambda a: a) -> Callable[[str], Overload]:
    """An integer, converted to the type ``operand(type)``; the result has that type, or the type ``result``."""

    def rule(a: str) -> Overload:
        if not is_int(a):
            raise TypingError(f"cuda.{name} needs an integer, not {a}: convert it with int()")
        return result or operand(a), (operand(a),)

    return rule


def check_members(mask: str) -> None:
    if not is_int(mask):
        raise TypingError("the mask of a warp operation must be an integer, such as 0xFFFFFFFF")


def _vote(result: str, wanted: str = "bool") -> Callable[[str, str], Overload]:
    """Lanes vote on a condition; or on any value, if ``wanted`` is empty."""

    def rule(mask: str, value: str) -> Overload:
        check_members(mask)
        return result, (mask, wanted or value)

    return rule


#: The types that numba moves between lanes.
_moved = _overloads("i->i q->q f->f d->d")


def _shuffle(name: str) -> Callable[[str, str, str], Overload]:
    def rule(mask: str, value: str, lane: str) -> Overload:
        check_members(mask)
        if not is_int(lane):
            raise TypingError(f"the lane of cuda.{name} must be an integer, not {lane}: convert it with int()")
        kind, _ = _moved(value)
        return kind, (mask, kind, lane)

    return rule


def _round(a: str) -> Overload:
    return "int64", (a if is_float(a) else "int64",)


def _round_to(a: str, digits: str) -> Overload:
    kind, _ = _math2(a, "float32")
    return kind, (kind, "int64")


def _ufunc(name: str) -> Callable[..., Overload]:
    """The first of NumPy's loops to which the arguments convert safely; numba has none of float16.

    If another argument is a float, an integer converts to any float.
    """
    loops = [loop.split("->") for loop in getattr(np, name).types if not set(loop) & set("egGmMO")]

    def rule(*given: str) -> Overload:
        mixed = any(map(is_int, given)) and any(map(is_float, given))

        def converts(have: str, letter: str) -> bool:
            to_any_float = mixed and is_int(have) and letter in "fd"
            return to_any_float or np.can_cast(have, letter)

        for wanted, result in loops:
            if all(converts(have, letter) for have, letter in zip(given, wanted, strict=True)):
                return np.dtype(result).name, tuple(np.dtype(kind).name for kind in wanted)
        raise TypingError(f"np.{name} takes no {' and '.join(given)}: convert with int()")

    return rule


# --- the rows ---------------------------------------------------------------------------------------------------------

#: CUDA's fmin and fmax: if one number is NaN, the other one.
SMALLER = "min_or_max(np.fmin, {0}, {1}, True)"
LARGER = "min_or_max(np.fmax, {0}, {1}, True)"
MAGNITUDE = "magnitude({0})"
#: NumPy's names for the functions of math that it has.
_SAME_IN_NUMPY = (
    "sqrt sin cos tan sinh cosh tanh exp expm1 exp2 log log2 log10 log1p fabs floor ceil trunc degrees radians "
    "isnan isinf isfinite hypot fmod copysign"
).split()
_INVERSES = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
_IN_NUMPY = {name: name for name in _SAME_IN_NUMPY} | _INVERSES | {"atan2": "arctan2"}
_TESTS = ("isnan", "isinf", "isfinite")
_OF_TWO = ("atan2", "hypot", "fmod", "copysign")
#: Functions of two numbers that take small integers as float64.
_IN_DOUBLE = ("atan2", "hypot")
#: Functions that numba computes in float16.
_IN_HALF = ("sqrt", "sin", "cos", "exp", "exp2", "log", "log2", "log10", "floor", "ceil", "trunc", "fabs")
_OPERANDS = {1: "({0})", 2: "({0}, {1})"}
#: The rule and the code of each function of math.
_OF_MATH: dict[str, tuple[Callable[..., Overload], str]] = {
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
MATH = {name: Row(f"math.{name}", rule, code, widening=MATH_OF) for name, (rule, code) in _OF_MATH.items()}
#: The functions of math by the equivalent names of NumPy or SciPy, for advice in messages.
MATH_OF_NUMPY = {known: name for name, known in _IN_NUMPY.items()}
MATH_OF_NUMPY |= {name: name for name in ("erf", "erfc", "gamma")}
_UFUNCS = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh log log2 log10 deg2rad radians rad2deg "
    "degrees logical_not invert arctan2 hypot maximum minimum fmax fmin greater greater_equal less less_equal equal "
    "not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift"
)
#: NumPy's functions of numbers that numba's CUDA target takes.
NUMPY: dict[str, Row] = {}
for _name in _UFUNCS.split():
    _code = f"np.{_name}{_OPERANDS[getattr(np, _name).nin]}"
    NUMPY[_name] = Row(f"np.{_name}", _ufunc(_name), _code, widening=MATH_OF, complex=True)
for _name in ("maximum", "minimum", "fmax", "fmin"):
    NUMPY[_name] = replace(NUMPY[_name], code=f"min_or_max(np.{_name}, {{0}}, {{1}})")
#: Those of them that take numbers alone.
NUMPY_TESTS = {name: Row(f"np.{name}", _math_test, f"np.{name}({{0}})") for name in _TESTS}
_COMPARING = {"heq": "==", "hne": "!=", "hlt": "<", "hle": "<=", "hgt": ">", "hge": ">="}
_BETWEEN = {"hadd": "+", "hsub": "-", "hmul": "*", "hdiv": "/", **_COMPARING}
#: The code of each function of fp16.
_HALF_IN_NUMPY = "exp exp2 log log2 log10 sqrt sin cos floor ceil trunc rint abs".split()
_OF_HALF = {
    **{name: f"({{0}} {symbol} {{1}})" for name, symbol in _BETWEEN.items()},
    **{f"h{name}": f"np.{name}({{0}})" for name in _HALF_IN_NUMPY},
    "hneg": "(-{0})",
    "hfma": "fused({0}, {1}, {2})",
    "hmax": LARGER,
    "hmin": SMALLER,
    "hrsqrt": "cast(np.float32(1) / np.sqrt({0}.astype(np.float32)), {dtype})",
    "hrcp": "cast(np.float32(1) / {0}.astype(np.float32), {dtype})",
    "hexp10": "cast(np.power(np.float32(10), {0}.astype(np.float32)), {dtype})",
}
_HALF: dict[str, Row] = {}
for _name, _code in _OF_HALF.items():
    _result = "?" if _name in _COMPARING else "e"
    _given = "e" * operands_of(_code)
    _HALF[f"fp16.{_name}"] = Row(f"cuda.fp16.{_name}", _overloads(f"{_given}->{_result}"), _code)
#: The code of libdevice's functions by their names, without the f of the float32 versions.
_LIBDEVICE_OF_MATH = (
    "erf erfc lgamma pow fabs floor ceil trunc sqrt exp exp2 expm1 log log2 log10 log1p fmod hypot copysign "
    "sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh atan2"
).split()
_LIBDEVICE = {
    **{name: MATH[name].code for name in _LIBDEVICE_OF_MATH},
    "tgamma": MATH["gamma"].code,
    "cbrt": "np.cbrt({0})",
    "rint": "np.rint({0})",
    "fma": "fused({0}, {1}, {2})",
    "rsqrt": "(1 / np.sqrt({0}))",
    "exp10": "np.power({dtype}.type(10), {0})",
    "fmin": SMALLER,
    "fmax": LARGER,
}
#: Those that have a faster, less exact form in float32; the simulator computes it exactly.
_FAST = ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow")


def _of_libdevice(name: str, letter: str, code: str) -> Row:
    """The row of a function that takes and gives numbers of one type, in NumPy's letters."""
    return Row(f"libdevice.{name}", _overloads(f"{letter * operands_of(code)}->{letter}"), code)


LIBDEVICE: dict[str, Row] = {}
for _name, _code in _LIBDEVICE.items():
    LIBDEVICE[f"libdevice.{_name}"] = _of_libdevice(_name, "d", _code)
    LIBDEVICE[f"libdevice.{_name}f"] = _of_libdevice(f"{_name}f", "f", _code)
    if _name in _FAST:
        LIBDEVICE[f"libdevice.fast_{_name}f"] = _of_libdevice(f"fast_{_name}f", "f", _code)
_CHECKED = "warp.check_members({0}, {mask}, {line})\n"


def vote_code(name: str, more: str = ", {line}") -> str:
    """The code of a vote; ``more`` are the further arguments by which observers hear of it."""
    return f"{_CHECKED}warp.vote({name!r}, {{0}}, {{1}}, {{mask}}{more})"


def _row_of_shuffle(name: str) -> Row:
    code = f"{_CHECKED}warp.shuffle({name!r}, {{0}}, {{1}}, {{2}}, {{mask}}, {{line}})"
    return Row(f"cuda.{name}", _shuffle(name), code)


_WARP = {
    **{name: Row(f"cuda.{name}", _vote("bool"), vote_code(name)) for name in ("all_sync", "any_sync", "eq_sync")},
    "ballot_sync": Row("cuda.ballot_sync", _vote("int32"), vote_code("ballot_sync")),
    "match_any_sync": Row("cuda.match_any_sync", _vote("int32", ""), vote_code("match_any_sync")),
    **{name: _row_of_shuffle(name) for name in ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync")},
}


def _of_complex(name: str, code: str, overloads: str = "F->F D->D") -> Row:
    return Row(f"cmath.{name}", _overloads(overloads), code, complex=True)


#: The functions of cmath. NumPy and numba both follow C99, also for infinities and NaN, but where products overflow.
CMATH = {
    **{name: _of_complex(name, f"np.{name}({{0}})") for name in ("log", "log10", "sqrt", "tan", "tanh")},
    **{name: _of_complex(name, f"np.{in_numpy}({{0}})") for name, in_numpy in _INVERSES.items()},
    **{name: _of_complex(name, f"overflowed(np.{name}({{0}}), {{0}}, False)") for name in ("exp", "sin", "sinh")},
    **{name: _of_complex(name, f"overflowed(np.{name}({{0}}), {{0}}, True)") for name in ("cos", "cosh")},
    **{name: _of_complex(name, f"np.{name}({{0}})", "F->? D->?") for name in _TESTS},
    "phase": _of_complex("phase", "np.arctan2({0}.imag, {0}.real)", "F->f D->d"),
}
#: ``cmath.log`` of two numbers.
LOG_TO_BASE = _of_complex("log", "complex_quotient(np.log({0}), np.log({1}), warp.full, {mask}, {line})", "FF->F DD->D")


def _rect(r: str, phi: str) -> Overload:
    if not (is_float(r) and is_float(phi)):
        raise TypingError(f"cmath.rect takes two floats, and is given {r} and {phi}; convert them with float()")
    return complex_result(r, phi), (r, phi)


RECT = Row("cmath.rect", _rect, "rectangular({0}, {1})")
ROUND = Row("round", _round, "cast(np.rint({0}), {dtype})", counts=(1, 2))
ROUND_TO = Row("round", _round_to, "rounded({0}, {1})", widening=MATH_OF, counts=(1, 2))

#: The functions of numba.cuda.
CUDA: dict[str, Row] = {
    **_WARP,
    **_HALF,
    **LIBDEVICE,
    "libdevice.sad": Row("libdevice.sad", _overloads("iii->i"), "(np.abs({0} - {1}) + {2})"),
    "activemask": Row(
        "cuda.activemask",
        lambda: ("uint32", ()),
        "cast(warp.vote('ballot_sync', 0, np.True_, {mask}), {dtype})",
    ),
    "lanemask_lt": Row("cuda.lanemask_lt", lambda: ("uint32", ()), "warp.lanemask_lt()"),
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
    "cbrt": Row("cuda.cbrt", _narrow, "np.cbrt({0})", widening=MATH_OF),
}
