"""Signatures in decorators, such as ``@cuda.jit("int32(int32, int32)", device=True)``: numba casts to them.

If there are several, numba takes the one to which the arguments convert best. The rules are those of its table of
conversions; ``tests/simulator/test_signatures.py`` compares them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from .names import dtype_name
from .refusals import refuse
from .source import Source
from .types import CONFLICT, NONE, SCALARS, ArrayType, TupleType, Type, TypingError, describe_type, unify_types


@dataclass(frozen=True)
class Signature:
    """The types of the arguments, and of the result; None if the result is not declared."""

    arguments: tuple[Type, ...]
    result: Type | None

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.arguments))})"


# --- conversions ---------------------------------------------------------------------------------------------------

EXACT, PROMOTE, SAFE, UNSAFE = range(4)
#: numba's rules: (from, to, quality of the conversion, quality of the reverse).
_RULES = (
    ("bool", "int8", SAFE, UNSAFE),
    ("bool", "uint8", SAFE, UNSAFE),
    ("int8", "int16", PROMOTE, UNSAFE),
    ("uint8", "uint16", PROMOTE, UNSAFE),
    ("int16", "int32", PROMOTE, UNSAFE),
    ("uint16", "uint32", PROMOTE, UNSAFE),
    ("int32", "int64", PROMOTE, UNSAFE),
    ("uint32", "uint64", PROMOTE, UNSAFE),
    ("uint8", "int16", SAFE, UNSAFE),
    ("uint16", "int32", SAFE, UNSAFE),
    ("uint32", "int64", SAFE, UNSAFE),
    ("int8", "float16", SAFE, UNSAFE),
    ("int16", "float32", SAFE, UNSAFE),
    ("int32", "float64", SAFE, UNSAFE),
    ("int16", "float16", UNSAFE, UNSAFE),
    ("int32", "float32", UNSAFE, UNSAFE),
    ("int64", "float64", SAFE, UNSAFE),
    ("uint64", "float64", SAFE, UNSAFE),
    ("float16", "float32", PROMOTE, UNSAFE),
    ("float32", "float64", PROMOTE, UNSAFE),
    ("float32", "complex64", SAFE, None),
    ("float64", "complex128", SAFE, None),
    ("complex64", "complex128", PROMOTE, UNSAFE),
)


def _conversions() -> dict[tuple[str, str], int]:
    """The quality of each conversion: that of the worst step on the best path."""
    table: dict[tuple[str, str], int] = {(t, t): EXACT for t in SCALARS}
    for a, b, there, back in _RULES:
        table[a, b] = there
        if back is not None:
            table[b, a] = back
    for via in SCALARS:
        for a in SCALARS:
            for b in SCALARS:
                if (a, via) in table and (via, b) in table:
                    worst = max(table[a, via], table[via, b])
                    table[a, b] = min(table.get((a, b), worst), worst)
    return table


CONVERSIONS = _conversions()


def _rating(given: tuple[Type, ...], wanted: tuple[Type, ...]) -> tuple[int, int, int] | None:
    """Count the arguments that convert unsafely, safely and by promotion; None if one does not convert."""
    if len(given) != len(wanted):
        return None
    counts = [0, 0, 0, 0]
    for have, want in zip(given, wanted, strict=True):
        if have == want or (isinstance(want, ArrayType) and unify_types(have, want) != CONFLICT):
            continue
        how = CONVERSIONS.get((str(have), str(want)))
        if how is None:
            return None
        counts[how] += 1
    return counts[UNSAFE], counts[SAFE], counts[PROMOTE]


def choose(signatures: tuple[Signature, ...], given: tuple[Type, ...], name: str) -> Signature:
    """The signature to which ``given`` converts best. Raises TypingError if none does, or two equally well."""
    rated = [(rating, s) for s in signatures if (rating := _rating(given, s.arguments)) is not None]
    types = ", ".join(map(describe_type, given))
    if not rated:
        raise TypingError(
            f"{name} is compiled for {' and '.join(map(str, signatures))} alone, and is given ({types}); convert the "
            "arguments, or leave the signature out of its decorator"
        )
    best = min(rating for rating, _ in rated)
    found = [s for rating, s in rated if rating == best]
    if len(found) > 1:
        raise TypingError(
            f"{name} is given ({types}), which converts to {' and to '.join(map(str, found))} equally well; convert "
            "the arguments"
        )
    return found[0]


# --- reading a decorator -------------------------------------------------------------------------------------------

#: Names of numba's types that are not those of dtypes.
_ALIASES = {
    "void": NONE,
    "none": NONE,
    "boolean": "bool",
    "bool_": "bool",
    "b1": "bool",
    "char": "int8",
    "uchar": "uint8",
    "byte": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "intc": "int32",
    "uintc": "uint32",
    "int_": "int64",
    "uint": "uint64",
    "long_": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "intp": "int64",
    "uintp": "uint64",
    "ssize_t": "int64",
    "size_t": "uint64",
    "float_": "float32",
    "double": "float64",
    "c8": "complex64",
    "c16": "complex128",
} | {
    f"{letter}{size}": f"{kind}{8 * size}"
    for letter, kind in (("i", "int"), ("u", "uint"), ("f", "float"))
    for size in (1, 2, 4, 8)
    if (letter, size) != ("f", 1)
}


def declared(kernel: object, source: Source) -> tuple[Signature, ...]:
    """The signatures in the decorator of a kernel or a device function; if empty, it takes any types."""
    overloads = getattr(kernel, "overloads", None)
    if isinstance(overloads, dict) and overloads and getattr(kernel, "_can_compile", True) is False:
        return tuple(_of_overload(types, compiled) for types, compiled in overloads.items())
    for node in source.tree.decorator_list:
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "jit":
            given = node.args[:1] or [k.value for k in node.keywords if k.arg in ("func_or_sig", "argtypes")]
            if given:
                return _read(source, given[0])
    return ()


def _of_overload(types: Iterable[object], compiled: object) -> Signature:
    result = getattr(getattr(compiled, "signature", None), "return_type", None)
    return Signature(tuple(map(_of_object, types)), None if result is None else _of_object(result))


def _read(source: Source, node: ast.expr) -> tuple[Signature, ...]:
    """Read a decorator's first argument; an expression is evaluated with the function's globals."""
    if isinstance(node, ast.List):
        return tuple(found for part in node.elts for found in _read(source, part))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (_parse(node, node.value),)
    names = dict(source.function.__globals__)
    cells = zip(source.function.__code__.co_freevars, source.function.__closure__ or (), strict=False)
    names.update({name: cell.cell_contents for name, cell in cells})
    try:
        thing = eval(compile(ast.Expression(node), "<decorator>", "eval"), names)
    except Exception:
        refuse(node, f"the signature {ast.unparse(node)} cannot be read here; write it as a string, or leave it out")
    things = thing if isinstance(thing, list) else [thing]
    return tuple(found for one in things if (found := _of_signature(node, one)) is not None)


def _of_signature(node: ast.expr, thing: object) -> Signature | None:
    """A signature from a numba object; None for the decorated function itself."""
    if isinstance(thing, str):
        return _parse(node, thing)
    if isinstance(thing, tuple):
        return Signature(tuple(map(_of_object, thing)), None)
    if hasattr(thing, "args") and hasattr(thing, "return_type"):
        result = None if thing.return_type is None else _of_object(thing.return_type)
        return Signature(tuple(map(_of_object, thing.args)), result)
    return None


def _of_object(thing: object) -> Type:
    """Convert a numba type."""
    if hasattr(thing, "dtype") and hasattr(thing, "ndim"):
        return ArrayType(str(dtype_name(thing.dtype)), int(thing.ndim))
    if hasattr(thing, "types") and hasattr(thing, "count"):
        return TupleType(tuple(map(_of_object, thing.types)))
    name = str(getattr(thing, "name", thing))
    found = dtype_name(thing) or _ALIASES.get(name)
    if found is None:
        raise TypingError(f"the simulator knows no type {name}, which is in a signature; leave it out")
    return found


def _parse(node: ast.expr, text: str) -> Signature:
    """Parse a signature in a string, such as ``void(float32[:, :], int64)`` or ``(float32, float32)``."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        tree = ast.Constant(None)
    if isinstance(tree, ast.Call) and not tree.keywords:
        return Signature(tuple(_type(node, a) for a in tree.args), _type(node, tree.func))
    if isinstance(tree, ast.Tuple):
        return Signature(tuple(_type(node, a) for a in tree.elts), None)
    refuse(node, f"{text!r} is no signature; write one such as 'void(float32[:], int64)'")


def _type(node: ast.expr, tree: ast.expr) -> Type:
    text = ast.unparse(tree)
    if isinstance(tree, ast.Subscript):
        parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        element = _type(node, tree.value)
        if isinstance(element, str) and all(isinstance(part, ast.Slice) for part in parts):
            return ArrayType(element, len(parts))
    if isinstance(tree, (ast.Name, ast.Attribute)):
        name = text.split(".")[-1]
        found = name if name in SCALARS else _ALIASES.get(name)
        if found is not None:
            return found
    if isinstance(tree, ast.Call) and text.startswith(("UniTuple(", "types.UniTuple(")) and len(tree.args) == 2:
        count = tree.args[1]
        if isinstance(count, ast.Constant) and isinstance(count.value, int):
            return TupleType((_type(node, tree.args[0]),) * count.value)
    refuse(node, f"the simulator knows no type {text}, which is in a signature; leave the signature out")
