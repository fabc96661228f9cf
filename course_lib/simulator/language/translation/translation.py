"""The translation of one function, as far as all parts of the language need it: names, constants, elements, reasons.

The modules for conditions, tuples, calls and allocations take a :class:`Translation`; :mod:`expressions` combines them.
"""

import ast
import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Container
from dataclasses import replace
from enum import Enum, EnumMeta
from types import ModuleType
from typing import Any

import numpy as np

from ...formatting import plural
from ...hardware import WARP_SIZE
from ...launch_shape import LaunchShape
from ..program import builders, nodes
from ..program.builders import cast
from ..program.statement_nodes import Function
from ..source.constants import Constants, is_constant
from ..source.errors import refuse
from ..source.function import Inner, Source, inner
from ..source.literals import NUMBERS
from ..source.names import COORDINATES, KernelName, Symbol, cuda_name, is_cuda_module
from ..tables import package_gaps
from ..tables.unsupported_features import ABSENT, CUDA, NOT_TAKEN, ORIGINS
from ..types import float64_reasons
from ..types.float64_reasons import Promotion, Reason, TypedOperand, Why, Widening
from ..types.record_types import type_of_records, unfit_records
from ..types.types_of_objects import of_value, part_of_cuda, vector_of
from ..types.value_types import (
    COMPILE_TIME,
    DOUBLE,
    DTYPE,
    SCALARS,
    ArrayType,
    FromEnd,
    OptionalType,
    TupleType,
    Type,
    TypingError,
    describe_type,
    is_complex,
    is_int,
)
from ..types.variables import Variables
from .translated_expression import Translated

#: Kinds of global objects whose attributes numba can read in a kernel.
KNOWN_OWNERS = (tuple, Enum, np.ndarray, np.generic, np.dtype, *NUMBERS)
AXES = {"x": 0, "y": 1, "z": 2}
#: The code of numba.cuda's values that are not called; they are int32.
VALUES = {
    (name, axis): f"warp.{attribute}[{number}]"
    for name, attribute in (("threadIdx", "thread_index"), ("blockIdx", "block_index"))
    for axis, number in AXES.items()
} | {("laneid",): "warp.lanes.lane"}


class ProgramFacts:
    """What the translations of a kernel and of its device functions find out together about the program.

    Attributes:
        sources: the kernel's source, and those of device functions in its file.
        cooperative: the kernel has a barrier of the whole grid.
        fences, copies, products: the kernel calls threadfence; it starts asynchronous copies, products of warpgroups.
        syncwarps: it calls syncwarp.
        partial_syncwarps: it calls syncwarp with a mask that may name a part of the warp.
        uses_grid_size: the program contains the size of the grid.
        filled_parts: the parts of arrays to which a statement stores one number because it gives few indices, by line.
        dynamic: the element type of the dynamic shared memory, once it is known.
        functions: the compiled device functions, by what they were compiled for.
        lookups: the look-ups of global names: a function, its arguments, and its result.
    """

    def __init__(self, launch: LaunchShape, kernel: Source) -> None:
        self.launch, self.sources = launch, [kernel]
        self.fences = self.copies = self.products = self.cooperative = False
        self.syncwarps = self.partial_syncwarps = self.uses_grid_size = False
        self.filled_parts: dict[int, str] = {}
        self.dynamic: str | None = None
        self.functions: dict[tuple[object, ...], Function] = {}
        self.lookups: list[tuple[Callable[..., object], tuple[Any, ...], object]] = []


class Translation(ABC):
    """One function while it is translated.

    ``function`` is the typed program that it becomes, and ``env`` holds its variables at the current statement.
    """

    functions: Container[str]  # of numba.cuda that the simulator runs

    def __init__(
        self, facts: ProgramFacts, source: Source, arguments: Variables, stack: tuple[object, ...], kernel: bool
    ):
        self.facts, self.source, self.locals, self.stack = facts, source, source.locals, stack
        self.env: Variables = dict(arguments)
        self.function = Function(
            source=source,
            kernel=kernel,
            in_other_file=source.filename != facts.sources[0].filename,
            parameters=[(name, variable.type) for name, variable in arguments.items() if variable.type != COMPILE_TIME],
            constants=Constants(source.function, tuple(variable.type for variable in arguments.values())),
        )
        #: promotions found before the types were final, until a later pass confirms them
        self.possible_promotions: dict[tuple[int, str], Promotion] = {}
        #: what each operation in a loop gave in the earlier passes, too: numba keeps all its types
        self.operation_types: dict[tuple[ast.AST, str], str] = {}
        self.calls = False
        self.skips_refused = False  # leave out the statements that are refused?
        #: variables that are None before a loop, and a number or an array in it
        self.none_before_loop: set[str] = set()

    @abstractmethod
    def expr(self, node: ast.AST) -> nodes.Expr:
        """Translate any expression."""

    @abstractmethod
    def element(self, node: ast.Subscript) -> tuple[nodes.Expr, tuple[nodes.Expr, ...]]:
        """Translate a subscript of one element to (array, indices)."""

    @abstractmethod
    def device(self, node: ast.Call, source: Source, values: list[nodes.Expr], result: Type | None) -> Function:
        """The typed program of the device function called in ``node``, with its declared ``result``."""

    def defined(self, node: ast.FunctionDef | ast.Lambda) -> nodes.Expr:
        """The function that ``node`` defines inside this one, known while the kernel is compiled."""
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            refuse(node, f"numba compiles no decorator inside a kernel; leave out that of {node.name}")
        values: list[object] = []
        for part in node.args.defaults:
            default = self.expr(part)
            if not isinstance(default, nodes.Const):
                refuse(
                    node, f"the default {ast.unparse(part)} of an inner function is no constant; pass it in each call"
                )
            values.append(default.value)
        read = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & self.locals
        more: set[str] = set()  # what the inner functions that it uses read
        for name in read & self.env.keys():
            obj = self.env[name].const
            if isinstance(obj, tuple) and isinstance(obj[0], Inner):
                more |= {*obj[0].free}
        constants = {
            name: variable.const for name, variable in self.env.items() if isinstance(variable.const, np.generic)
        }
        made = inner(self.source, node, tuple(values), more, constants)
        for name in made.free:
            if name not in self.env:
                refuse(node, f"{made.name} reads {name}, which has no value yet; assign it before the function")
        return nodes.CompileTimeObject(obj=made)

    def scalar(self, node: ast.AST) -> nodes.Expr:
        """Translate an expression that must be a number."""
        return self.as_number(node, self.unwrap_optional(node, self.expr(node)))

    def unwrap_optional(self, node: ast.AST, value: nodes.Expr) -> nodes.Expr:
        """The number or the array that an optional ``value`` holds; a thread in which it is None is reported."""
        if not isinstance(value.type, OptionalType):
            return value
        if isinstance(value, nodes.Local) and value.name in self.none_before_loop:
            package_gaps.check("value in a variable that is None before the loop", ())
        of = value.type.of
        dtype, ndim = (of.dtype, of.ndim) if isinstance(of, ArrayType) else (of, 0)
        text = ast.unparse(node).replace("{", "{{").replace("}", "}}")  # as a part of the code of an Apply
        code = f"warp.unwrap_optional({{0}}, {text!r}, {dtype!r}, {ndim}, {{mask}}, {{line}})"
        return nodes.Apply(code=code, args=(value,), type=of, line=getattr(node, "lineno", 0), why=value.why)

    def arguments(self, node: ast.Call, counts: tuple[int, ...], what: str, real: bool = True) -> list[nodes.Expr]:
        """Translate the arguments of a function that takes numbers, without names."""
        if node.keywords or len(node.args) not in counts:
            takes = " or ".join([*map(str, counts[:-1]), plural(counts[-1], "argument")])
            given = "the name " + str(node.keywords[0].arg) if node.keywords else str(len(node.args))
            refuse(node, f"{what}() takes {takes} without names, and is given {given}{NOT_TAKEN.get(what, '')}")
        values = [self.scalar(a) for a in node.args]
        for value in values:
            if real and is_complex(str(value.type)):
                raise TypingError(f"{what} does not take {value.type}; give it .real, .imag or abs() of it")
        return values

    def as_number(self, node: ast.AST, value: nodes.Expr) -> nodes.Expr:
        """The value of ``node``; refused unless it is a number."""
        if not value.is_scalar:
            text = ast.unparse(node)
            refuse(node, f"{text} is {describe_type(value.type)}, where a number is needed{way_to_number(node, value)}")
        return value

    def integer_index(self, node: ast.AST, part: ast.AST, index: nodes.Expr) -> nodes.Expr:
        """``index``, the value of ``part`` of ``node``; refused unless it is an integer."""
        if not (isinstance(index.type, str) and is_int(index.type)):
            text = ast.unparse(part)
            advice = f": convert it with int({text})" if index.is_scalar else way_to_number(part, index)
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                if all(is_int(str(self.expr(side).type)) for side in (part.left, part.right)):
                    advice = f": write {ast.unparse(ast.BinOp(part.left, ast.FloorDiv(), part.right))}"
            refuse(node, f"the index {text} is {describe_type(index.type)}; an index must be an integer{advice}")
        if isinstance(index, nodes.Const) and int(index.value) < 0 and not _is_computed(part):
            return replace(index, type="int64", value=FromEnd(int(index.value)))
        return index

    def number(self, value: object, literal: bool = True, reason: Why = None) -> nodes.Const:
        """A constant of the type that numba gives it; ``literal``: numba knows its value when it types the kernel."""
        kind = of_value(value)
        if kind is None:
            raise TypingError(f"{value!r} does not fit in 64 bits; write it as a float")
        return nodes.Const(type=kind, value=DTYPE[kind].type(value), literal=literal, why=reason)

    def constant_object(self, node: ast.AST) -> object:
        """The compile-time object that an expression of names and attributes refers to, or None."""
        if isinstance(node, Translated):
            return (builders.compile_time(node.value) or (None,))[0]
        if isinstance(node, ast.Name):
            if node.id not in self.locals:
                return self._global(node)
            variable = self.env.get(node.id)
            if variable is None or variable.type != COMPILE_TIME:
                return None
            if variable.maybe_unassigned or not isinstance(variable.const, tuple):
                refuse(node, f"{node.id!r} does not mean one thing on every path; use its value directly")
            return variable.const[0]
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return None
        owner = self.constant_object(node.value)
        if isinstance(node, ast.Subscript):  # a member of an enumeration
            name = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(owner, EnumMeta) and isinstance(name, str):
                return owner.__members__.get(name)
            return None
        return None if owner is None else self._part_of(owner, node)

    def _part_of(self, owner: object, node: ast.Attribute) -> object:
        """The attribute of a compile-time object."""
        if isinstance(owner, Symbol):
            obj = getattr(owner.obj, node.attr, None)
            is_known = node.attr in self.functions or node.attr in CUDA or (node.attr,) in VALUES
            if not owner.path and obj is None and not is_known:
                refuse(node, f"numba.cuda has no {node.attr!r}; {ABSENT.get(node.attr) or spelled(node, owner.obj)}")
            if owner.path and owner.path[0] in COORDINATES and node.attr not in AXES:
                refuse(node, f"{owner} has no {node.attr!r}; write {owner}.x, .y or .z")
            return part_of_cuda((*owner.path, node.attr), obj)
        if isinstance(owner, ModuleType):
            if not hasattr(owner, node.attr):
                refuse(node, f"{ast.unparse(node.value)} has no {node.attr!r}; {spelled(node, owner)}")
            self.facts.lookups.append((getattr, (owner, node.attr, None), getattr(owner, node.attr)))
            obj = self.function.constants.value(ast.unparse(node), getattr(owner, node.attr), node.lineno)
            if isinstance(obj, KernelName):
                return part_of_cuda(tuple(obj.__name__.split(".")), obj)
            return Symbol((), obj) if is_cuda_module(obj) else obj
        obj = getattr(owner, node.attr, None)
        of_enum = isinstance(owner, EnumMeta) and isinstance(obj, owner)
        if is_constant(obj) and not (of_enum or isinstance(owner, KNOWN_OWNERS)):
            kind = "class" if isinstance(owner, type) else "object"
            refuse(
                node,
                f"no kernel knows {ast.unparse(node.value)}, a Python {kind}; "
                f"give the value of {ast.unparse(node)} a name of its own outside the kernel",
            )
        self.facts.lookups.append((getattr, (owner, node.attr, None), obj))
        return obj

    def _global(self, node: ast.Name) -> object:
        try:
            obj = self.source.lookup(node.id)
        except KeyError:
            of_cuda = node.id in (*COORDINATES, "atomic", "local", "shared") or node.id in self.functions
            advice = ORIGINS.get(node.id, "define it, or pass it as an argument")
            if of_cuda:
                advice = f"write cuda.{node.id}"
            refuse(node, f"the name {node.id!r} is not defined; {advice}")
        except ValueError:
            refuse(
                node,
                f"the name {node.id!r} has no value yet in the enclosing function; assign it before the launch",
            )
        self.facts.lookups.append((self.source.lookup, (node.id,), obj))
        obj = self.function.constants.value(node.id, obj, node.lineno)
        if is_cuda_module(obj):
            return Symbol((), obj)
        in_cuda = cuda_name(obj) if not isinstance(obj, NUMBERS) else None
        if in_cuda and getattr(obj, "__module__", "") == "numba.cuda.stubs" and not vector_of(obj):
            refuse(
                node, f"numba compiles no {node.id} that is imported by itself; import cuda, and write cuda.{in_cuda}"
            )
        return part_of_cuda(tuple(in_cuda.split(".")), obj) if in_cuda else obj

    def wrap(self, obj: object, node: ast.AST) -> nodes.Expr:
        """A compile-time object as an expression: a constant if it is a number, else a :class:`.CompileTimeObject`."""
        if isinstance(obj, (*NUMBERS, np.generic)) and of_value(obj):
            kind = type(obj)
            named = Reason(f"{ast.unparse(node)}, a Python {kind.__name__}") if kind in (float, complex) else None
            return self.number(obj, reason=named)
        if isinstance(obj, tuple):
            return builders.tuple_of(tuple(self.wrap(t, node) for t in obj), tuple(getattr(obj, "_fields", ())))
        if isinstance(obj, Symbol):
            value = self._cuda_value(obj, node)
            if value is not None:
                return value
        if obj is None:
            return nodes.Nothing()
        if isinstance(obj, np.ndarray):
            return self.constant_array(obj, node)
        return nodes.CompileTimeObject(obj=obj)

    def constant_array(self, array: np.ndarray, node: ast.AST) -> nodes.Expr:
        """An array of the module or of an enclosing function, which numba copies into the code of the kernel."""
        kind, name = array.dtype.name, ast.unparse(node)
        if not array.flags.c_contiguous and not array.flags.f_contiguous:
            refuse(node, f"{name} is not contiguous; freeze a copy, np.ascontiguousarray(...)")
        if array.dtype.names:
            if reason := unfit_records(array):
                refuse(node, f"{name} {reason}")
            of = type_of_records(array)
            parts: list[nodes.Expr] = []
            for field, part in zip(of.fields, of.items, strict=True):
                parts.append(nodes.ConstantArray(name=f"{name}.{field}", array=array, field=field, type=part))
            return nodes.MakeTuple(items=tuple(parts), type=of)
        if kind not in SCALARS or not array.dtype.isnative:
            refuse(node, f"{name} is an array of {array.dtype}; the simulator runs numbers: convert it")
        return nodes.ConstantArray(name=name, array=array, type=ArrayType(kind, array.ndim))

    def _cuda_value(self, symbol: Symbol, node: ast.AST) -> nodes.Expr | None:
        """``threadIdx.x``, ``laneid`` and the like; None if ``symbol`` is not a number."""
        path, launch = symbol.path, self.facts.launch
        if path in VALUES:
            return nodes.Apply(code=VALUES[path], type="int32", line=getattr(node, "lineno", 0))
        if len(path) == 2 and path[1] in AXES and path[0] in ("blockDim", "gridDim"):
            self.facts.uses_grid_size |= path[0] == "gridDim"
            sizes = launch.block if path[0] == "blockDim" else launch.grid
            size = sizes[AXES[path[1]]]
            return self.number(np.int32(size), literal=False)
        if path == ("warpsize",):
            return self.number(np.int32(WARP_SIZE), literal=False)
        return None

    def dimension(self, node: ast.expr, array: nodes.Expr, axis: int) -> nodes.Expr:
        return nodes.Apply(code=f"np.int64({{0}}.shape[{axis}])", args=(array,), type="int64", line=node.lineno)

    def reason(
        self, node: ast.expr | ast.stmt, result: Type, operands: list[tuple[nodes.Expr, ast.AST]], widening: Widening
    ) -> Why:
        """Return why the ``result`` of ``node`` is of double precision; record a warning if nobody asked for that.

        ``widening`` says how the operation widens if none of its ``operands`` is of double precision.
        """
        asked = any(value.type in DOUBLE and not value.why for value, _ in operands)
        if result not in DOUBLE or asked:
            return None
        text, line = ast.unparse(node), node.lineno
        parts = [TypedOperand(value.type, value.why, ast.unparse(tree)) for value, tree in operands]
        if (accident := float64_reasons.accidental_double(line, text, result, parts)) is not None:
            self.function.promotions.setdefault((line, accident.operand), accident.warning)
            return replace(accident.why, reported=True)
        in_float32 = float64_reasons.in_float32(node, parts)
        narrowed = in_float32 if widening.of_operands_alone else ""
        words = f"{text}, {widening.words} {' and '.join(str(part.type) for part in parts)}"
        reason = float64_reasons.reason_of_operands(result, parts, Reason(words, names=text, narrowed=narrowed))
        if isinstance(reason, Reason):
            constant = all(_is_constant(value) for value, _ in operands)
            reason = replace(reason, computed="" if constant else in_float32, constant=constant)
        if reason and any(part.type in DOUBLE for part in parts):
            for key, promotion in self.possible_promotions.items():
                if promotion.line == line and promotion.expression == text:
                    self.function.promotions.setdefault(key, promotion)
        return reason

    def view_of(self, node: ast.AST, array: nodes.Expr, parts: list[nodes.Expr | nodes.Slice]) -> nodes.Expr:
        """A part of ``array``; dimensions without an entry in ``parts`` are taken whole, and None is a new one."""
        of = array.array_type
        taken = [part for part in parts if not isinstance(part, nodes.Nothing)]
        parts = parts + [nodes.Slice()] * (of.ndim - len(taken))
        left = [part for part in parts if isinstance(part, (nodes.Slice, nodes.Nothing))]
        kind = ArrayType(of.dtype, len(left), view=True)
        return nodes.MakeView(array=array, parts=tuple(parts), type=kind, line=getattr(node, "lineno", 0))

    def load(self, node: ast.expr, array: nodes.Expr, indices: tuple[nodes.Expr, ...]) -> nodes.Expr:
        return builders.load(array, indices, array.array_type.dtype, node.lineno)

    def filled(self, node: ast.expr, array: nodes.Expr, value: nodes.Expr) -> nodes.Expr:
        """Store the number ``value`` to all elements of ``array``, one after another."""
        return builders.elementwise(array, unchanged, (self.value_to_store(node, array, value),), node.lineno)

    def value_to_store(self, node: ast.AST, array: nodes.Expr, value: nodes.Expr) -> nodes.Expr:
        """Convert ``value`` to be stored in an element of ``array``; refused if that is impossible."""
        if isinstance(array, nodes.ConstantArray):
            refuse(node, f"{array.name} is a constant of the kernel, and cannot be written; pass it as an argument")
        value = self.unwrap_optional(node, value)
        if not value.is_scalar:
            refuse(
                node,
                f"{ast.unparse(node)} holds one number, and cannot take {describe_type(value.type)}; "
                "store one number at a time",
            )
        if is_complex(str(value.type)):
            cast(value, array.array_type.dtype)  # refused if the array holds real numbers
        self.warn_if_narrowed(node, ast.unparse(node), array.array_type.dtype, value)
        return value

    def warn_if_narrowed(self, node: ast.AST, target: str, element: Type, value: nodes.Expr) -> None:
        """Record a warning if ``value`` was computed in double precision by accident, and ``target`` holds less."""
        why, line = value.why, getattr(node, "lineno", 0)
        if not isinstance(why, Reason) or element in DOUBLE:
            return
        if why.computed and not why.reported:
            self.function.promotions.setdefault(
                (line, target), float64_reasons.narrowing_store(line, target, element, why)
            )


def _is_constant(value: nodes.Expr) -> bool:
    """Whether the compiler knows a number: it is a constant, or computed from constants alone."""
    if isinstance(value, nodes.Const):
        return True
    return isinstance(value.why, Reason) and value.why.constant


def of_literal(text: str) -> Reason:
    return Reason(f"the literal {text}", names=text)


def unchanged(value: Any) -> Any:
    return value


def way_to_number(node: ast.AST, value: nodes.Expr) -> str:
    """The end of a message: how to get a number from ``value``, the value of ``node``."""
    text = ast.unparse(node)
    if isinstance(value.type, ArrayType):
        return f"; write an element, {_element(node, value.type.ndim)}"
    if isinstance(value.type, OptionalType):
        return f"; write int({text})" if is_int(str(value.type.of)) else "; begin with a number in the place of None"
    if isinstance(value.type, TupleType) and value.type.items:
        return f"; write an item, such as {text}[0]"
    if isinstance(value, nodes.CompileTimeObject) and isinstance(value.obj, Symbol):
        if value.obj.path[:1] in [(name,) for name in COORDINATES]:
            return f"; write cuda.{value.obj.path[0]}.x, .y or .z"
    return ""


def _element(array: ast.AST, dimensions: int) -> str:
    """An element of an array, in words: of a row ``A[row, :]`` it is ``A[row, i]``."""
    used = {node.id for node in ast.walk(array) if isinstance(node, ast.Name)}
    counters = [ast.Name(letter) for letter in "ijklmnop" if letter not in used][:dimensions]
    match array:
        case ast.Subscript(whole, ast.Tuple(places)):
            slices = [place for place in places if isinstance(place, ast.Slice)]
            if slices and all(ast.unparse(each) == ":" for each in slices):
                indices = [counters.pop(0) if place in slices else place for place in places]
                return ast.unparse(ast.Subscript(whole, ast.Tuple([*indices, *counters])))
    return f"{ast.unparse(array)}[{', '.join(map(ast.unparse, counters)) or '()'}]"


def spelled(node: ast.Attribute, owner: object) -> str:
    """Return what to write for a name that ``owner`` does not have."""
    known = [name for name in dir(owner) if not name.startswith("_")]
    meant = [each for each in known if each.lower() == node.attr.lower()] or difflib.get_close_matches(
        node.attr, known, 1
    )
    module = "cuda" if is_cuda_module(owner) else ast.unparse(node.value)
    return f"write {module}.{meant[0]}" if meant else "look up how it is spelled"


def _is_computed(part: ast.AST) -> bool:
    """Whether an index is the result of an operator, as ``n - 1`` is, even of constants; ``-1`` and ``-N`` are not."""
    original = part.original if isinstance(part, Translated) else part
    return any(isinstance(node, ast.BinOp) for node in ast.walk(original))
