"""What the compiler knows of an expression: its code, its numba type, and its value if that is constant."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from . import typing_rules

#: The value of what is not known while the kernel is compiled.
MISSING = object()


@dataclass(frozen=True)
class ArrayType:
    """The type of an array: the name of its dtype and its number of dimensions."""

    dtype: str
    ndim: int

    def __str__(self):
        return f"a {self.ndim}-dimensional array of {self.dtype}"


@dataclass(frozen=True)
class TupleType:
    """The type of a tuple: the types of its items."""

    items: tuple

    def __str__(self):
        return f"a tuple ({', '.join(map(describe_type, self.items))})" if self.items else "an empty tuple"


@dataclass(frozen=True)
class Symbol:
    """A compile-time name: ``cuda.shared.array`` is ``Symbol("cuda", ("shared", "array"))``."""

    root: str
    path: tuple[str, ...] = ()
    #: what the package that the kernel imported has under this name
    thing: object = field(default=None, compare=False, repr=False)

    def __str__(self):
        return ".".join((self.root, *self.path))


#: What has parts x, y and z: ``cuda.threadIdx`` and the like.
COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
#: The type of None.
NONE = "none"
#: The type of a variable whose versions cannot be unified where control flow merges.
CONFLICT = "conflict"
#: The type of what exists only while the kernel is compiled: a module, a function, a type, ``cuda.threadIdx``.
COMPILE_TIME = "compile-time"


@dataclass(frozen=True)
class Value:
    """An expression, compiled.

    ``type`` is the name of a dtype, an ArrayType, a TupleType, NONE or COMPILE_TIME. ``const`` is its value where that
    is known now, and ``literal`` says that numba knows it too when it types the kernel. ``items`` are the items of a
    tuple where they are known apart. ``origin`` says why it is float64 where the kernel did not ask for float64.
    """

    code: str
    type: object
    const: object = MISSING
    literal: bool = False
    origin: str | None = None
    items: tuple = field(default=())

    @property
    def is_const(self) -> bool:
        return self.const is not MISSING

    @property
    def is_scalar(self) -> bool:
        return self.type in typing_rules.SCALARS

    @property
    def pure_name(self) -> bool:
        return self.code.isidentifier()


@dataclass(frozen=True)
class Variable:
    """A local name at one point of the program; ``maybe`` where some path has not assigned it."""

    type: object
    origin: str | None = None
    const: object = MISSING
    maybe: bool = False

    def without_const(self) -> Variable:
        return replace(self, const=MISSING)


def merge(a: Variable | None, b: Variable | None) -> Variable:
    """The variable where two paths meet (None: not assigned on that path)."""
    if a is None or b is None:
        return replace(a or b, maybe=True, const=MISSING)
    maybe = a.maybe or b.maybe
    const = a.const if type(a.const) is type(b.const) and a.const is not MISSING and a.const == b.const else MISSING
    kind = unify_types(a.type, b.type)
    origin = None
    if kind in typing_rules.DOUBLE:
        asked = [v for v in (a, b) if v.type in typing_rules.DOUBLE]
        if all(v.origin for v in asked):
            origin = asked[0].origin if asked else f"an {a.type} and a {b.type} that meet"
    return Variable(kind, origin, const, maybe)


def unify_types(a, b):
    """The common type of two versions of a variable, or CONFLICT."""
    if a == b:
        return a
    if a in typing_rules.SCALARS and b in typing_rules.SCALARS:
        return typing_rules.unify(a, b)
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        items = tuple(unify_types(x, y) for x, y in zip(a.items, b.items, strict=True))
        return CONFLICT if CONFLICT in items else TupleType(items)
    return CONFLICT


def version_name(name: str, kind) -> str:
    """The name, in the generated code, of the version of variable ``name`` that has type ``kind``."""
    return f"v_{name}_{_tag(kind)}"


def _tag(kind) -> str:
    if isinstance(kind, ArrayType):
        return f"A{_tag(kind.dtype)}{kind.ndim}"
    if isinstance(kind, TupleType):
        return "T" + "".join(_tag(k) for k in kind.items) + "E"
    return {"bool": "b", "none": "n"}.get(kind) or kind[0] + "".join(c for c in kind if c.isdigit())


@dataclass(frozen=True)
class Promotion:
    """Arithmetic in which a float32 became float64 although nobody asked for float64.

    ``narrow`` and ``wide`` are these two types, or others of their kind: float16, complex64; complex128.
    """

    line: int
    operand: str
    expression: str
    narrow: str = "float32"
    wide: str = "float64"


@dataclass(frozen=True)
class DeviceFunction:
    """A compiled device function: its name in the generated code, what it returns, and whether it holds barriers."""

    name: str
    result: object
    barriers: bool


def plural(count: int, noun: str) -> str:
    """``1 item`` or ``2 items``."""
    return f"{count} {noun}" + "s" * (count != 1)


def describe_type(kind) -> str:
    """``kind`` as a message names it."""
    if kind == COMPILE_TIME:
        return "an object that a kernel cannot compute with"
    if kind == NONE:
        return "None"
    return str(kind)
