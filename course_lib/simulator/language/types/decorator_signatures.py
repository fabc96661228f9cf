"""Signatures in decorators, such as ``@cuda.jit("int32(int32, int32)", device=True)``: numba casts to them.

If there are several, numba takes the one to which the arguments convert best. The package that decorated a kernel reads
its signatures.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from ..source.errors import refuse
from ..source.function import Source
from . import stand_in_types
from .types_of_objects import dtype_name
from .typing_rules import Cost, cost
from .unification import unify_types
from .value_types import CONFLICT, NONE, SCALARS, ArrayType, TupleType, Type, TypingError, describe_type


class ArrayLayout(NamedTuple):
    """How an array lies in memory: without gaps in C's or Fortran's order, else "A", and whether it may be changed."""

    order: str
    writeable: bool = True

    def __str__(self) -> str:
        return _ORDERS[self.order] + ("" if self.writeable else ", read-only")

    def is_taken_as(self, other: "ArrayLayout") -> bool:
        """Whether numba passes such an array where a signature has another one."""
        return other.order in ("A", self.order) and self.writeable >= other.writeable


_ORDERS = {"C": " in C order", "F": " in Fortran order", "A": " of any strides"}


@dataclass(frozen=True)
class DeclaredSignature:
    """The types of the arguments, and of the result; None if the result is not declared.

    ``layouts``: those of its arrays; None for all else.
    """

    arguments: tuple[Type, ...]
    result: Type | None
    layouts: tuple[ArrayLayout | None, ...]

    def __str__(self) -> str:
        return _described(self.arguments, self.layouts)


def _described(types: Sequence[Type], layouts: Sequence[ArrayLayout | None]) -> str:
    words = (describe_type(kind) + str(layout or "") for kind, layout in zip(types, layouts, strict=True))
    return f"({', '.join(words)})"


#: For each package of numba, the modules that have its types and read its signatures; "" is that of a plain function.
_READERS = {
    "numba": [("numba.core.types", "numba.core.sigutils"), ("numba.cuda.types", "numba.cuda.core.sigutils")],
    "numba_cuda_mlir": [("numba_cuda_mlir.types", "numba_cuda_mlir.numba_cuda.core.sigutils")],
}
_READERS[""] = [names for rows in _READERS.values() for names in rows]


def _reader(kernel: object) -> tuple[Any, Callable[[Any], Any]]:
    """Return the class of the types of the package that decorated a kernel, and what normalizes its signatures.

    Where the package is not installed, they are those of :mod:`stand_in_types`.
    """
    for types, sigutils in _READERS.get(type(kernel).__module__.partition(".")[0], _READERS[""]):
        with suppress(ImportError):
            return import_module(types).Type, import_module(sigutils).normalize_signature
    return stand_in_types.NumbaType, stand_in_types.normalize_signature


def _rating(
    given: tuple[Type, ...], layouts: tuple[ArrayLayout | None, ...], signature: DeclaredSignature
) -> Cost | None:
    """The cost of the conversions; None if an argument does not convert. Without a layout, an array has any."""
    wanted = signature.arguments
    if len(given) != len(wanted):
        return None
    other_layouts = 0
    for layout, of_signature in zip(layouts, signature.layouts, strict=True):
        if layout is None or of_signature is None or layout == of_signature:
            continue
        if not layout.is_taken_as(of_signature):
            return None
        other_layouts += 1
    converted: list[str] = []
    to: list[str] = []
    for have, want in zip(given, wanted, strict=True):
        if have == want or (isinstance(want, ArrayType) and unify_types(have, want) != CONFLICT):
            continue
        if have not in SCALARS or want not in SCALARS:
            return None
        converted.append(str(have))
        to.append(str(want))
    found = cost(converted, to)
    if found is None:
        return None
    unsafe, safe, promoted = found
    return unsafe, safe + other_layouts, promoted


def choose(
    signatures: tuple[DeclaredSignature, ...],
    given: tuple[Type, ...],
    name: str,
    layouts: tuple[ArrayLayout | None, ...] | None = None,
) -> DeclaredSignature:
    """The signature to which ``given`` converts best. Raises TypingError if none does, or two equally well.

    ``layouts``: those of the arrays that are given, if they are known.
    """
    layouts = layouts or (None,) * len(given)
    rated = [(rating, s) for s in signatures if (rating := _rating(given, layouts, s)) is not None]
    types = _described(given, layouts)
    if not rated:
        raise TypingError(
            f"{name} is compiled for {' and '.join(map(str, signatures))} alone, and is given {types}; convert the "
            "arguments, or leave the signature out of its decorator"
        )
    best = min(rating for rating, _ in rated)
    found = [s for rating, s in rated if rating == best]
    if len(found) > 1:
        raise TypingError(
            f"{name} is given {types}, which converts to {' and to '.join(map(str, found))} equally well; convert "
            "the arguments"
        )
    return found[0]


def declared(kernel: object, source: Source) -> tuple[DeclaredSignature, ...]:
    """The signatures in the decorator of a kernel or a device function; if empty, it takes any types."""
    overloads = getattr(kernel, "overloads", None)
    if isinstance(overloads, dict) and overloads and getattr(kernel, "_can_compile", True) is False:
        results = (getattr(getattr(made, "signature", None), "return_type", None) for made in overloads.values())
        return tuple(map(_signature, overloads, results))
    if (given := getattr(kernel, "waiting_for", None)) is not None:
        return _of_things(kernel, source.tree, given)
    for node in source.tree.decorator_list:
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "jit":
            given = node.args[:1] or [k.value for k in node.keywords if k.arg in ("func_or_sig", "argtypes")]
            if given:
                return _read(kernel, source, given[0])
    return ()


def _signature(arguments: Iterable[object], result: object) -> DeclaredSignature:
    given = tuple(arguments)
    layouts = tuple(
        ArrayLayout(str(one.layout), bool(getattr(one, "mutable", True))) if hasattr(one, "layout") else None
        for one in given
    )
    return DeclaredSignature(tuple(map(_of_object, given)), None if result is None else _of_object(result), layouts)


def _read(kernel: object, source: Source, node: ast.expr) -> tuple[DeclaredSignature, ...]:
    """Read a decorator's first argument; its names are the function's globals."""
    names = dict(source.function.__globals__)
    cells = zip(source.function.__code__.co_freevars, source.function.__closure__ or (), strict=False)
    names.update({name: cell.cell_contents for name, cell in cells})
    try:
        obj = _value(node, names, _reader(kernel)[0])
    except Exception:
        refuse(node, f"the signature {ast.unparse(node)} cannot be read here; write it as a string, or leave it out")
    return _of_things(kernel, node, obj)


def _of_things(kernel: object, node: ast.AST, obj: object) -> tuple[DeclaredSignature, ...]:
    """The signatures in the first argument of a decorator: one or a list."""
    objects = obj if isinstance(obj, list) else [obj]
    return tuple(found for one in objects if (found := _of_signature(kernel, node, one)) is not None)


def _value(node: ast.expr | None, names: Mapping[str, Any], kinds: Any) -> Any:
    """The value of a text, a type of numba, one of its arrays, or a signature; raises an exception for all else.

    Nothing else is computed, since nobody may trust the text of a decorator.
    """

    def checked(obj: Any) -> Any:
        is_kind = isinstance(obj, kinds) or (isinstance(obj, type) and issubclass(obj, kinds))
        if is_kind or isinstance(obj, (str, tuple, list, ModuleType)) or hasattr(obj, "return_type"):
            return obj
        raise ValueError

    match node:
        case None:
            return None
        case ast.Constant(str() | int() as value):
            return value
        case ast.Name(name):
            return checked(names[name])
        case ast.Attribute(owner, name) if isinstance(module := _value(owner, names, kinds), ModuleType):
            return checked(getattr(module, name))
        case ast.Subscript(owner, index) if isinstance(kind := _value(owner, names, kinds), kinds):
            return checked(kind[_value(index, names, kinds)])
        case ast.Slice(lower, upper, step):
            return slice(*(_value(part, names, kinds) for part in (lower, upper, step)))
        case ast.Tuple(parts):
            return tuple(_value(part, names, kinds) for part in parts)
        case ast.List(parts):
            return [_value(part, names, kinds) for part in parts]
        case ast.Call(called, given, []) if isinstance(kind := _value(called, names, kinds), (kinds, type)):
            return checked(kind(*(_value(part, names, kinds) for part in given)))
    raise ValueError


def _of_signature(kernel: object, node: ast.AST, obj: object) -> DeclaredSignature | None:
    """A signature from a text or an object of numba; None for the decorated function itself."""
    if not isinstance(obj, (str, tuple)) and not hasattr(obj, "return_type"):
        return None
    try:
        arguments, result = _reader(kernel)[1](obj)
    except Exception as error:
        refuse(node, f"{obj!r} is no signature ({error}); write one such as 'void(float32[:], int64)'")
    try:
        return _signature(arguments, result)
    except TypingError as error:
        refuse(node, str(error))


def _of_object(obj: object) -> Type:
    if hasattr(obj, "dtype") and hasattr(obj, "ndim"):
        return ArrayType(str(dtype_name(obj.dtype)), int(obj.ndim))
    if hasattr(obj, "types") and hasattr(obj, "count"):
        return TupleType(tuple(map(_of_object, obj.types)))
    name = str(getattr(obj, "name", obj))
    found = NONE if name == "none" else dtype_name(obj)
    if found is None:
        raise TypingError(f"the simulator knows no type {name}, which is in a signature; leave it out")
    return found
