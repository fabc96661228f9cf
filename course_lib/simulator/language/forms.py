"""Forms: calls that are not functions of numbers only, each with the function that translates it."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType

from ..tables import plural
from . import conditions, nodes, overloads, packages, records, signatures, tuples, types
from .context import Context
from .names import GRID_GROUP, dtype_name
from .operators import cast, cut
from .program import CallDevice
from .refusals import bound, check_arguments, mistyped, refuse, refuse_construct
from .source import Inner, Source, read

#: ``form(context, call, used)`` translates a call; ``used``: its value is used.
Form = Callable[["Context", ast.Call, bool], nodes.Expr]

#: The arguments of each atomic after the array.
ATOMICS = dict.fromkeys(
    ("add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor", "exch", "inc", "dec"),
    ("the index", "the value"),
) | {
    "cas": ("the index", "the expected value", "the new value"),
    "compare_and_swap": ("the expected value", "the new value"),
}
#: The element types that numba supports for each atomic.
_WHOLE = ("int32", "uint32", "int64", "uint64")
ATOMIC_TYPES = dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), ("float32", "float64", *_WHOLE)) | (
    dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), _WHOLE)
    | dict.fromkeys(("inc", "dec"), ("uint32", "uint64"))
)

FENCE, BLOCK_FENCE = (f"w.tell('fence', {{mask}}, {block_only})" for block_only in (False, True))
#: CUDA's fmin and fmax: if one number is NaN, the other one.
SMALLER, LARGER = "extreme(np.fmin, {0}, {1}, True)", "extreme(np.fmax, {0}, {1}, True)"
MAGNITUDE = "magnitude({0})"
#: The functions of libdevice that return a tuple: the code of its items, and the type of the second if it is another.
TUPLES = {
    "frexp": (("cast(np.frexp({0})[0], {dtype})", "cast(np.frexp({0})[1], {dtype})"), "int32"),
    "modf": (("np.modf({0})[0]", "np.modf({0})[1]"), ""),
    "sincos": (("np.sin({0})", "np.cos({0})"), ""),
}


# --- where a thread is ------------------------------------------------------------------------------------------------


def _dimensions(x: Context, node: ast.Call, name: str) -> int:
    argument = x.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if (count := nodes.literal_integer(argument)) is not None and 1 <= count <= 3:
        return count
    refuse(node, f"cuda.{name}() takes a literal number of dimensions: 1, 2 or 3")


def grid(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    count = _dimensions(x, node, "grid")
    items = tuple(nodes.Apply(code=f"w.global_id({d})", type="int64", line=node.lineno) for d in range(count))
    return items[0] if count == 1 else nodes.tuple_of(items)


def gridsize(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    count, launch = _dimensions(x, node, "gridsize"), x.analysis.launch
    x.analysis.asks_grid = True
    items = tuple(x.number(launch.grid[d] * launch.block[d], literal=False) for d in range(count))
    return items[0] if count == 1 else nodes.tuple_of(items)


# --- barriers ---------------------------------------------------------------------------------------------------------


def _barrier(
    x: Context, node: ast.Call, args: tuple[nodes.Expr, ...] = (), reduction: str = "None", grid: bool = False
) -> nodes.Expr:
    """A barrier of the block, or of the whole ``grid``; ``reduction`` names what it does with ``args``."""
    x.made.barriers = True
    code = f"(yield Barrier({{place}}, {{line}}, {{branch}}, {{mask}}, {reduction}, {grid}))"
    return nodes.Apply(code=code, args=args, type="int32" if args else types.NONE, line=node.lineno)


def syncthreads(x: Context, node: ast.Call, used: bool, grid: bool = False) -> nodes.Expr:
    """A barrier of the block, or ``cg.this_grid().sync()``."""
    check_arguments(node, "no arguments", 0)
    x.analysis.cooperative |= grid
    return _barrier(x, node, grid=grid)


def grid_group(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """``cg.this_grid()``: an object with one method."""
    check_arguments(node, "no arguments", 0)
    return nodes.Static(thing=GRID_GROUP)


def reduction(name: str, x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    (value,) = x.arguments(node, (1,), f"cuda.{name}")
    if not types.is_int(str(value.type)):
        raise types.TypingError(
            f"cuda.{name} takes an integer, not {value.type}; write int({ast.unparse(node.args[0])})"
        )
    return _barrier(x, node, (conditions.truth(x, value, node.lineno),), f"({name!r}, {{0}})")


def syncwarp(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    check_arguments(node, "at most 1 mask", 0, 1)
    members = x.scalar(node.args[0]) if node.args else x.number(0xFFFFFFFF)
    if not types.is_int(str(members.type)):
        raise types.TypingError("the mask of a warp operation must be an integer, such as 0xFFFFFFFF")
    x.analysis.syncwarps = True
    x.analysis.groups |= not (isinstance(members, nodes.Const) and int(members.value) in (0xFFFFFFFF, -1))
    return nodes.Apply(code="w.syncwarp({0}, {mask}, {line})", args=(members,), line=node.lineno)


def fence(x: Context, node: ast.Call, used: bool, code: str = FENCE) -> nodes.Expr:
    check_arguments(node, "no arguments", 0)
    x.analysis.fences = True
    return nodes.Apply(code=code, line=node.lineno)


def pause(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """``cuda.nanosleep(nanoseconds)``."""
    (value,) = x.arguments(node, (1,), "cuda.nanosleep")
    return nodes.after((value,), nodes.Nothing())


# --- atomics ----------------------------------------------------------------------------------------------------------


def atomic(name: str, x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """``cuda.atomic.<name>(...)``."""
    takes = ("the array", *ATOMICS[name])
    said = f"{', '.join(takes[:-1])} and {takes[-1]}"
    check_arguments(node, f"{len(takes)} arguments, {said}", len(takes))
    array = x.expr(node.args[0])
    if not isinstance(array.type, types.ArrayType):
        mistyped(node.args[0], array.type, f"cuda.atomic.{name} takes {said}")
    place: ast.expr
    if name == "compare_and_swap":
        place, values = ast.copy_location(ast.Constant(0), node), node.args[1:]
    else:
        place, values = node.args[1], node.args[2:]
    if isinstance(place, ast.Tuple) and len(place.elts) == 1:
        refuse(node, f"numba does not take a tuple of one index here; write {ast.unparse(place.elts[0])}")
    subscript = ast.copy_location(ast.Subscript(node.args[0], _place(x, place), ast.Load()), node)
    array, indices = x.element(subscript)
    dtype = array.array_type.dtype
    _check_atomic(name, dtype, ast.unparse(node.args[0]), array.array_type.ndim)
    numbers = [x.scalar(v) for v in values]
    element = ast.unparse(ast.Subscript(node.args[0], node.args[1], ast.Load()))
    for number in numbers:
        x.kept_in(node, element, dtype, number)
    operands = tuple(cast(number, dtype) for number in numbers)
    return nodes.atomic(name, array, indices, operands, node.lineno, used)


def _place(x: Context, place: ast.expr) -> ast.expr:
    """The index of an atomic operation, of which numba cuts floats."""
    if isinstance(place, ast.Tuple):
        return ast.copy_location(ast.Tuple([_place(x, part) for part in place.elts], ast.Load()), place)
    if isinstance(place, (ast.Slice, ast.Starred)) or (isinstance(place, ast.Constant) and place.value in (None, ...)):
        return place
    value = x.present(place, x.expr(place))
    if isinstance(value.type, types.TupleType):
        return nodes.Given(nodes.after((value,), nodes.tuple_of(tuple(map(cut, tuples.items(value))))), place)
    return nodes.Given(cut(value), place)


def _check_atomic(name: str, dtype: str, text: str, ndim: int) -> None:
    """Raise TypingError if numba does not have this atomic."""
    if not ndim:
        raise types.TypingError(f"cuda.atomic.{name} does not take an array without dimensions; pass one of shape (1,)")
    if name == "compare_and_swap" and ndim != 1:
        raise types.TypingError(
            f"cuda.atomic.{name} takes an array of one dimension; use cuda.atomic.cas with an index"
        )
    allowed = ATOMIC_TYPES[name]
    if dtype not in allowed:
        raise types.TypingError(
            f"cuda.atomic.{name} needs an array of {', '.join(allowed[:-1])} or {allowed[-1]}, and {text} "
            f"holds {dtype}; convert the array before the launch"
        )


#: The functions of numba-cuda that load or store an element with a hint for the caches, which changes no value.
HINTED_LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
HINTED_STORES = ("stcg", "stcs", "stwb", "stwt")


def hinted(name: str, x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """``cuda.ldcs(array, index)`` and ``cuda.stcs(array, index, value)``."""
    packages.check(f"cuda.{name}", ())
    loads = name in HINTED_LOADS
    check_arguments(node, f"an array, an index{'' if loads else ' and a value'}", 3 - loads)
    place = ast.copy_location(ast.Subscript(node.args[0], node.args[1], ast.Load()), node)
    array, index = x.element(place)
    if loads:
        return x.load(place, array, index)
    return nodes.store(array, index, x.stored(place, array, x.scalar(node.args[2])), node.lineno)


def vector(x: Context, node: ast.Call, kind: str, count: int) -> nodes.Expr:
    """``cuda.float32x4(...)``, of numbers and of shorter vectors of the same type: a tuple with x, y, z and w."""
    values: list[nodes.Expr] = []
    for part in node.args:
        value = x.expr(part)
        if isinstance(value.type, types.TupleType) and value.type.fields and {*value.type.items} == {kind}:
            values += tuples.items(nodes.settled(value))
        else:
            values.append(cast(x.as_number(part, value), kind))
    if len(values) != count or node.keywords:
        refuse(
            node,
            f"{ast.unparse(node.func)}() takes {plural(count, 'number')}, or vectors of {kind} that hold them",
        )
    return nodes.tuple_of(tuple(values), tuple("xyzw"[:count]))


# --- conversions, and Python's functions ------------------------------------------------------------------------------


def conversion(x: Context, node: ast.Call, thing: object) -> nodes.Expr:
    """``float32(x)``, ``int(x)``: the kernel itself asks for the type."""
    if thing is not int:
        _refuse_none(x, node)
    (value,) = x.arguments(node, (1,), ast.unparse(node.func), real=False)
    have = str(value.type)
    if thing is float and have == "bool":
        raise types.TypingError("numba has no float() of a bool; write float32(x), or 1.0 if x else 0.0")
    if thing is float:
        kind = have if types.is_float(have) else "float64"
    elif thing is int:
        kind = have if types.is_int(have) else "int64"
    else:
        kind = str(dtype_name(thing))
    result = conditions.truth(x, value, node.lineno) if kind == "bool" else cast(value, kind)
    return replace(result, literal=False, why=None) if isinstance(result, nodes.Const) else replace(result, why=None)


def _refuse_none(x: Context, node: ast.Call) -> None:
    """Refuse arguments that may be None, which numba takes for a number in arithmetic, and not here."""
    for part in node.args:
        if isinstance(x.expr(part).type, types.OptionalType):
            x.as_number(part, x.expr(part))


def complex_number(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """``complex(x)``, which is complex64 only for a float32, and ``complex(real, imaginary)``."""
    _refuse_none(x, node)
    values = x.arguments(node, (1, 2), "complex", real=False)
    kind = types.complex_result(*(str(v.type) for v in values))
    if len(values) == 1:
        return replace(cast(values[0], kind), why=None)
    operands = tuple(cast(v, types.PART[kind]) for v in values)
    return nodes.Apply(code="complex_of({0}, {1})", args=operands, type=kind, line=node.lineno)


def conjugate(x: Context, node: ast.Call) -> nodes.Expr:
    """``x.conjugate()`` of a number; a real one is unchanged."""
    assert isinstance(node.func, ast.Attribute)
    value = x.scalar(node.func.value)
    if value.type == "bool":
        raise types.TypingError("a bool has no conjugate; leave it out")
    if not types.is_complex(str(value.type)):
        return value
    return nodes.Apply(code="np.conjugate({0})", args=(value,), type=value.type, line=node.lineno, why=value.why)


def extreme(x: Context, node: ast.Call, used: bool, smaller: bool) -> nodes.Expr:
    """``min`` and ``max``."""
    whole = x.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    if whole is not None and isinstance(whole.type, types.TupleType) and whole.type.items:
        packages.check("min() and max() of a tuple", ())
        whole = nodes.settled(whole)
        items = tuples.items(whole)
        return nodes.after((whole,), _extreme_of(x, node, smaller, list(items), node.args * len(items)))
    if len(node.args) < 2 or node.keywords:
        refuse(
            node,
            "min() and max() take two or more numbers without names, or a tuple; compare the elements of an array in a "
            "loop",
        )
    if any(isinstance(x.expr(a).type, types.OptionalType) for a in node.args):
        packages.check("min() and max() of what may be None", ())
    return _extreme_of(x, node, smaller, [x.scalar(a) for a in node.args], node.args)


def _extreme_of(
    x: Context, node: ast.Call, smaller: bool, values: list[nodes.Expr], places: list[ast.expr]
) -> nodes.Expr:
    """numba has CUDA's function for two arguments of float32 or float64; else it takes a later one that compares so."""
    for value, part in zip(values, places, strict=True):
        x.as_number(part, value)
    kind = reduce(types.unify, (str(value.type) for value in values))
    types.comparison(kind, kind)
    reason = x.reason(node, kind, list(zip(values, places, strict=True)), "of")
    code = "later_if(np.less, {0}, {1})" if smaller else "later_if(np.greater, {0}, {1})"
    if types.is_int(kind):
        code = "np.minimum({0}, {1})" if smaller else "np.maximum({0}, {1})"
    elif len(node.args) == 2 and all(str(value.type) in ("float32", "float64") for value in values):
        code = SMALLER if smaller else LARGER
    result, *rest = (cast(value, kind) for value in values)
    for value in rest:
        result = nodes.Apply(code=code, args=(result, value), type=kind, line=node.lineno)
    return replace(result, why=reason)


def absolute(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    (value,) = x.arguments(node, (1,), "abs", real=False)
    have = str(value.type)
    if types.is_complex(have):
        return nodes.Apply(code=MAGNITUDE, args=(value,), type=types.PART[have], line=node.lineno, why=value.why)
    kind = "int8" if have == "bool" else have
    return nodes.Apply(code="np.abs({0})", args=(cast(value, kind),), type=kind, line=node.lineno, why=value.why)


def length(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    if len(node.args) != 1:
        refuse(node, "len() takes one argument, an array or a tuple")
    value = x.present(node.args[0], x.expr(node.args[0]))
    if isinstance(value.type, types.ArrayType) and value.type.ndim:
        return x.dimension(node, value, 0)
    if isinstance(value.type, types.RecordsType) and value.type.ndim:
        return x.dimension(node, records.field(node.args[0], value, value.type.fields[0]), 0)
    if isinstance(value.type, types.TupleType):
        return nodes.after((value,), x.number(len(value.type.items)))
    mistyped(node.args[0], value.type, "len() takes an array or a tuple")


def parts(name: str, overloads: str, x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """A function of ``TUPLES``: ``math.frexp(x)``, ``libdevice.sincos(x)``."""
    (value,) = x.arguments(node, (1,), ast.unparse(node.func))
    codes, other = TUPLES[name]
    kind = types.best(overloads, str(value.type))[0]
    reason = x.reason(node, kind, [(value, node.args[0])], "math of")
    number = nodes.once(cast(value, kind))
    kinds = zip(codes, (kind, other or kind), (reason, None if other else reason), strict=True)
    return nodes.tuple_of(
        tuple(nodes.Apply(code=c, args=(number,), type=k, line=node.lineno, why=w) for c, k, w in kinds)
    )


def power(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    if len(node.args) != 2 or node.keywords:
        refuse(node, "pow() takes two numbers without names; for a remainder write a ** b % c")
    return x.expr(ast.copy_location(ast.BinOp(node.args[0], ast.Pow(), node.args[1]), node))


def quotient_and_remainder(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    check_arguments(node, "two numbers", 2)
    a, b = (nodes.once(x.scalar(part)) for part in node.args)
    return nodes.tuple_of(tuple(x.binary(node, name, a, b, node.args[0], node.args[1]) for name in ("FloorDiv", "Mod")))


def named_tuple(x: Context, node: ast.Call, thing: type) -> nodes.Expr:
    """``Point(x, y)`` of a namedtuple."""
    fields = tuple(getattr(thing, "_fields", ()))
    given = bound(node, thing.__name__, fields)
    values = {name: nodes.settled(x.expr(part)) for name, part in given.items()}
    return nodes.after(values.values(), nodes.tuple_of(tuple(values[name] for name in fields), fields))


def say(x: Context, node: ast.Call, used: bool) -> nodes.Expr:
    """``print`` of literal texts and of numbers."""
    check_arguments(node, "texts and numbers of one line")
    parts: list[str] = []
    values: list[nodes.Expr] = []
    for part in node.args:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            parts.append(repr(part.value).replace("{", "{{").replace("}", "}}"))
            continue
        value = x.as_number(part, x.expr(part))
        if types.is_complex(str(value.type)):
            raise types.TypingError(f"print() does not take {value.type}; print .real and .imag")
        if value.type == "bool":
            raise types.TypingError("numba's print() does not take a bool; print int(...) of it")
        parts.append(f"{{{len(values)}}}")
        values.append(value)
    code = f"w.say(({''.join(f'{part}, ' for part in parts)}), {{mask}})"
    return nodes.Apply(code=code, args=tuple(values), line=node.lineno)


def failure(node: ast.Assert | ast.Raise) -> nodes.Expr:
    """Report a failed ``assert`` or a ``raise``, in which a thread ends."""
    for part in ast.walk(node):
        if isinstance(part, ast.FormattedValue):
            refuse_construct(ast.copy_location(ast.JoinedStr([part]), part))
    kind = "failed-assertion" if isinstance(node, ast.Assert) else "raised-exception"
    text = ast.unparse(node).replace("{", "{{").replace("}", "}}")
    code = f"w.failed({kind!r}, {text!r}, {{mask}}, {{line}})"
    return nodes.Apply(code=code, line=node.lineno)


# --- device functions -------------------------------------------------------------------------------------------------


def device(x: Context, node: ast.Call, thing: object, used: bool) -> nodes.Expr:
    """A call of a device function, which is compiled once for each combination of argument types."""
    source = read(thing)
    x.analysis.found.append((read, (thing,), source))
    return _called(x, node, source, used, signatures.declared(thing, source))


def overloaded(x: Context, node: ast.Call, function: object, used: bool) -> nodes.Expr | None:
    """A call of a function for which numba's ``@overload`` gives another; None if it has none for these types."""
    if not overloads.templates(function):
        return None
    given = [nodes.Given(x.expr(part), part) for part in node.args]
    named = [(str(part.arg), nodes.Given(x.expr(part.value), part.value)) for part in node.keywords]
    kinds = [_kind_of_argument(part.value) for part in given]
    found = overloads.implementation(function, kinds, {name: _kind_of_argument(part.value) for name, part in named})
    if found is None:
        return None
    node = ast.copy_location(ast.Call(node.func, [*given], [ast.keyword(*part) for part in named]), node)
    return _called(x, node, read(found), used)


def _kind_of_argument(value: nodes.Expr) -> types.Type:
    """The type of an argument for an overload, which may take functions."""
    thing = nodes.compile_time(value)
    is_function = thing is not None and (isinstance(thing[0], Inner) or hasattr(thing[0], "py_func"))
    return overloads.FUNCTION if is_function else value.type


def inner(x: Context, node: ast.Call, source: Inner, used: bool) -> nodes.Expr:
    """A call of a function that the kernel defines; the variables of the kernel that it reads are arguments too."""
    if node.keywords:
        refuse(node, f"numba takes no names in the call of a function that a kernel defines; give {source.name} values")
    owner: Source | None = x.source
    while owner is not source.outer and owner is not None:
        owner = owner.outer if isinstance(owner, Inner) else None
    if owner is not None and source.rest:
        refuse(
            node, f"numba compiles no *{source.rest} of a function that a kernel defines and calls; name each argument"
        )
    unknown = [name for name in source.free if name not in source.known]
    if owner is None and unknown:
        refuse(
            node,
            f"{source.name} reads {', '.join(unknown)} of the function that defines it, and is called outside of "
            "that, where numba knows only constants; pass the values as arguments",
        )
    free: dict[str, nodes.Expr] = {
        name: x.number(source.known[name])
        if owner is None
        else x.expr(ast.copy_location(ast.Name(name, ast.Load()), node))
        for name in source.free
    }
    return _called(x, node, source, used, free=free)


def _called(
    x: Context,
    node: ast.Call,
    source: Source,
    used: bool,
    declared: tuple[signatures.Signature, ...] = (),
    *,
    free: Mapping[str, nodes.Expr] = MappingProxyType({}),
) -> nodes.Expr:
    """The call of ``source``; ``free`` are the values of further parameters."""
    if source.key in x.stack:
        names = [str(getattr(key, "__name__", getattr(key, "name", "a lambda"))) for key in x.stack]
        cycle = [*names[x.stack.index(source.key) :], source.name]
        refuse(node, f"{', which calls '.join(cycle)}: the simulator does not run recursion; write a loop")
    parameters, given = source.parameters, {**_values(x, node, source), **free}
    values = [given[p] for p in parameters]
    result = None
    if declared:
        signature = signatures.choose(declared, tuple(v.type for v in values), source.name)
        values = [
            v if isinstance(kind, types.ArrayType) else replace(cast(v, kind), why=None)
            for v, kind in zip(values, signature.arguments, strict=True)
        ]
        result = signature.result
    callee = x.device(node, source, values, result)
    x.calls = True
    x.made.barriers = x.made.barriers or callee.barriers
    x.made.waits = x.made.waits or callee.waits
    kept = [p for p in parameters if nodes.compile_time(given[p]) is None]
    return CallDevice(
        function=callee,
        args=tuple(v for v in values if nodes.compile_time(v) is None),
        written=tuple(kept.index(p) for p in given if p in kept),
        used=used,
        type=callee.result,
        line=node.lineno,
        why=callee.result_why,
    )


def _values(x: Context, node: ast.Call, source: Source) -> dict[str, nodes.Expr]:
    """The values of a device function's parameters, in the order written: given, then by default."""
    parameters, defaults = source.own, source.defaults
    parts = bound(node, source.name, parameters, len(defaults), source.rest)
    absent = dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True))
    values = {p: x.expr(part) for p, part in parts.items()}
    values |= {p: x.wrap(absent[p], node) for p in parameters if p not in parts}
    rest = tuple(map(x.expr, node.args[len(parameters) :]))
    return values | ({source.rest: nodes.tuple_of(rest)} if source.rest else {})
