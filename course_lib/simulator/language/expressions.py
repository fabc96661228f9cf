"""The types of expressions: each node of Python's syntax tree becomes a node of the typed program.

What stands in a kernel is refused here or in the modules that this one calls (:mod:`conditions`, :mod:`tuples`,
:mod:`calls`) if numba or the simulator has no such thing; nothing later refuses.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..machine.masks import Vector
from . import calls, conditions, operators, tuples, types, why
from .constants import Constants
from .names import COORDINATES, Symbol, cuda_name, is_cuda_module, part_of_cuda
from .nodes import (
    Apply,
    Const,
    Elementwise,
    Expr,
    Frozen,
    Load,
    Local,
    MakeView,
    Nothing,
    Operation,
    Select,
    Slice,
    Static,
)
from .operators import NUMBERS, applied, cast, python_constant
from .refusals import CUDA, NOT_TAKEN, refuse, refused_expression
from .source import Source
from .types import COMPILE_TIME, CONFLICT, DTYPE, NONE, ArrayType, TupleType, TypingError, describe_type, plural
from .variables import Numbers, Variables
from .why import Part, Promotion, Reason, Why

if TYPE_CHECKING:
    from .infer import Analysis

AXES = {"x": 0, "y": 1, "z": 2}


def _nullary(name: str, code: str, kind: str) -> Operation:
    return Operation(name, code, lambda args, result: args == () and result == kind)


def _of_array(name: str, code: str) -> Operation:
    return Operation(name, code, lambda args, result: isinstance(args[0], ArrayType) and result == "int64")


#: The values of numba.cuda that are not called, an operation each.
VALUES = {
    (name, axis): _nullary(f"{name}.{axis}", f"w.{attribute}[{number}]", "int32")
    for name, attribute in (("threadIdx", "thread"), ("blockIdx", "block"))
    for axis, number in AXES.items()
} | {("laneid",): _nullary("laneid", "w.lanes.lane", "int32")}
SIZE = _of_array("size", "np.int64({0}.size)")
TRANSPOSED = Operation(
    ".T",
    "transposed({0})",
    lambda args, result: isinstance(args[0], ArrayType) and result == ArrayType(args[0].dtype, args[0].ndim, view=True),
)
SHAPE = [_of_array(f"shape[{axis}]", f"dim({{0}}, {axis})") for axis in range(32)]


class Expressions:
    """What the expressions of one function mean, given its variables ``env`` at the point where they stand."""

    def __init__(self, analysis: Analysis, source: Source, arguments: Variables, stack: tuple[object, ...]):
        self.analysis, self.source, self.locals, self.stack = analysis, source, source.locals, stack
        self.foreign = source.filename != analysis.sources[0].filename
        self.env: Variables = dict(arguments)
        self.constants = Constants(source.function, tuple(variable.type for variable in arguments.values()))
        self.unsure: set[str] = set()
        self.promotions: dict[tuple[int, str], Promotion] = {}
        #: promotions that a pass saw before the types were settled, until a later pass confirms them
        self.suspected: dict[tuple[int, str], Promotion] = {}
        self.barriers = self.calls = False

    def expr(self, node: ast.AST) -> Expr:
        """The meaning of any expression."""
        try:
            return self._expr(node)
        except TypingError as error:
            refuse(node, f"{error} (in {ast.unparse(node)})")

    def _expr(self, node: ast.AST) -> Expr:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp():
                return self._binary_operator(node)
            case ast.UnaryOp():
                return self._unary_operator(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Compare():
                return conditions.compare(self, node)
            case ast.BoolOp():
                return conditions.and_or(self, node)
            case ast.Tuple():
                return tuples.make(self, node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return calls.call(self, node, used=True)
        refused_expression(node)

    def scalar(self, node: ast.AST) -> Expr:
        """The meaning of an expression that must be a number."""
        value = self.expr(node)
        if not value.is_scalar:
            self.refuse_as_number(node, value)
        return value

    def arguments(self, node: ast.Call, counts: tuple[int, ...], what: str, real: bool = True) -> list[Expr]:
        """The arguments of a function that takes numbers, without names."""
        if node.keywords or len(node.args) not in counts:
            takes = " or ".join([*map(str, counts[:-1]), plural(counts[-1], "argument")])
            given = "the name " + str(node.keywords[0].arg) if node.keywords else str(len(node.args))
            refuse(node, f"{what}() takes {takes} without names, and is given {given}{NOT_TAKEN.get(what, '')}")
        values = [self.scalar(a) for a in node.args]
        for value in values:
            if real and types.is_complex(str(value.type)):
                raise TypingError(f"{what} does not take {value.type}; give it .real, .imag or abs() of it")
        return values

    def refuse_as_number(self, node: ast.AST, value: Expr) -> NoReturn:
        text = ast.unparse(node)
        refuse(node, f"{text} is {describe_type(value.type)}, where a number is needed{way_to_number(text, value)}")

    def integer_index(self, node: ast.AST, part: ast.AST, index: Expr) -> Expr:
        """The index that ``part`` of ``node`` gives; refused unless it is an integer."""
        if not (isinstance(index.type, str) and types.is_int(index.type)):
            text = ast.unparse(part)
            advice = f": convert it with int({text})" if index.is_scalar else way_to_number(text, index)
            refuse(node, f"the index {text} is {describe_type(index.type)}; an index must be an integer{advice}")
        return index

    # --- constants and names -------------------------------------------------------------------------------

    def number(self, value: object, literal: bool = True, reason: Why = None) -> Const:
        """A constant of the type that numba gives it; ``literal``: numba, too, knows it when it types the kernel."""
        kind = types.of_value(value)
        if kind is None:
            raise TypingError(f"{value!r} does not fit in 64 bits; write it as a float")
        return Const(type=kind, value=DTYPE[kind].type(value), literal=literal, why=reason)

    def _constant(self, node: ast.Constant) -> Expr:
        if node.value is None:
            return Nothing()
        if not isinstance(node.value, NUMBERS):
            refuse(
                node,
                f"{ast.unparse(node)} is a {type(node.value).__name__}; the simulator runs integers, "
                "floats, complex numbers and bools",
            )
        asked = isinstance(node.value, (float, complex))
        return self.number(node.value, reason=of_literal(ast.unparse(node)) if asked else None)

    def _name(self, node: ast.Name) -> Expr:
        name = node.id
        if name not in self.locals:
            return self.wrap(self.constant_object(node), node)
        variable = self.env.get(name)
        if variable is None:
            refuse(node, f"the variable {name!r} has no value yet; assign it first")
        if variable.type == COMPILE_TIME:
            return self.wrap(self.constant_object(node), node)
        if variable.type == CONFLICT:
            refuse(
                node,
                f"{name!r} has different kinds of values on different paths, which no type holds; use two names",
            )
        if variable.type == NONE:
            return Nothing()
        if variable.maybe:
            self.unsure.add(name)
            if not isinstance(variable.type, str):
                refuse(node, f"{name!r} is not assigned on every path; assign it before the if or the loop")
        if isinstance(variable.const, np.generic):
            return Const(type=variable.type, value=variable.const, why=variable.why)
        if isinstance(variable.const, Numbers) and isinstance(variable.type, TupleType):
            numbers = (self.number(item, literal=False) for item in variable.const.items)
            return tuples.of(tuple(numbers), variable.type.fields)
        return Local(type=variable.type, name=name, line=node.lineno, unsure=variable.maybe, why=variable.why)

    def constant_object(self, node: ast.AST) -> object:
        """The compile-time object that an expression of names and attributes stands for, or None."""
        if isinstance(node, ast.Name):
            if node.id not in self.locals:
                return self._global(node)
            variable = self.env.get(node.id)
            if variable is None or variable.type != COMPILE_TIME:
                return None
            if variable.maybe or not isinstance(variable.const, tuple):
                refuse(node, f"{node.id!r} does not mean one thing on every path; use its value directly")
            return variable.const[0]
        if not isinstance(node, ast.Attribute):
            return None
        owner = self.constant_object(node.value)
        if owner is None:
            return None
        if isinstance(owner, Symbol):
            thing = getattr(owner.thing, node.attr, None)
            if not owner.path and thing is None:
                refuse_unknown(node, owner.thing, node.attr)
            return part_of_cuda((*owner.path, node.attr), thing)
        if isinstance(owner, ModuleType):
            if not hasattr(owner, node.attr):
                refuse(node, f"{ast.unparse(node.value)} has no {node.attr!r}; look up how it is spelled")
            thing = self.constants.value(ast.unparse(node), getattr(owner, node.attr), node.lineno)
            return Symbol((), thing) if is_cuda_module(thing) else thing
        return getattr(owner, node.attr, None)

    def _global(self, node: ast.Name) -> object:
        try:
            thing = self.source.lookup(node.id)
        except KeyError:
            refuse(node, f"the name {node.id!r} is not defined; define it, or pass it as an argument")
        except ValueError:
            refuse(
                node,
                f"the name {node.id!r} has no value yet in the enclosing function; assign it before the launch",
            )
        thing = self.constants.value(node.id, thing, node.lineno)
        if is_cuda_module(thing):
            return Symbol((), thing)
        known = cuda_name(thing) if not isinstance(thing, NUMBERS) else None
        return part_of_cuda((known,), thing) if known else thing

    def wrap(self, thing: object, node: ast.AST) -> Expr:
        """A compile-time object as an expression: numbers become constants, the rest stays at compile time."""
        if isinstance(thing, (*NUMBERS, np.generic)) and types.of_value(thing):
            kind = type(thing)
            named = Reason(f"{ast.unparse(node)}, a Python {kind.__name__}") if kind in (float, complex) else None
            return self.number(thing, reason=named)
        if isinstance(thing, tuple):
            return tuples.of(tuple(self.wrap(t, node) for t in thing), tuple(getattr(thing, "_fields", ())))
        if isinstance(thing, Symbol):
            value = self._cuda_value(thing, node)
            if value is not None:
                return value
        if thing is None:
            return Nothing()
        if isinstance(thing, np.ndarray):
            return self.frozen(thing, node)
        return Static(thing=thing)

    def frozen(self, array: np.ndarray, node: ast.AST) -> Expr:
        """An array from outside, which numba copies into the code of the kernel."""
        kind = array.dtype.name
        if kind not in types.SCALARS or not array.dtype.isnative:
            refuse(node, f"{ast.unparse(node)} is an array of {array.dtype}; the simulator runs numbers: convert it")
        if not array.flags.c_contiguous and not array.flags.f_contiguous:
            refuse(node, f"{ast.unparse(node)} is not contiguous; freeze a copy, np.ascontiguousarray(...)")
        return Frozen(name=ast.unparse(node), array=array, type=ArrayType(kind, array.ndim))

    def _cuda_value(self, symbol: Symbol, node: ast.AST) -> Expr | None:
        """``threadIdx.x``, ``laneid`` and the like; None for what is no number."""
        path, launch = symbol.path, self.analysis.launch
        if path in VALUES:
            return Apply(operation=VALUES[path], args=(), type="int32", line=getattr(node, "lineno", 0))
        if len(path) == 2 and path[1] in AXES and path[0] in ("blockDim", "gridDim"):
            self.analysis.asks_grid |= path[0] == "gridDim"
            size = (launch.block if path[0] == "blockDim" else launch.grid)[AXES[path[1]]]
            return self.number(np.int32(size), literal=False)
        if path == ("warpsize",):
            return self.number(np.int32(32), literal=False)
        return None

    def _attribute(self, node: ast.Attribute) -> Expr:
        thing = self.constant_object(node)
        if thing is not None:
            return self.wrap(thing, node)
        owner = self.expr(node.value)
        if isinstance(owner.type, ArrayType):
            return self._of_array(node, owner, owner.type)
        if isinstance(owner.type, TupleType) and node.attr in owner.type.fields:
            return tuples.item(owner, owner.type.fields.index(node.attr))
        if isinstance(owner, Static) and isinstance(owner.thing, np.dtype) and node.attr == "type":
            return owner
        if isinstance(owner.type, str) and owner.is_scalar and owner.type != "bool" and node.attr in ("real", "imag"):
            kind = types.PART.get(owner.type, owner.type)
            return applied(operators.PARTS[node.attr], (owner,), kind, node.lineno, owner.why)
        refuse(
            node,
            f"{ast.unparse(node.value)} is {describe_type(owner.type)}, of which the simulator runs no "
            f".{node.attr}; write it out with arithmetic and the functions of math",
        )

    def _of_array(self, node: ast.Attribute, array: Expr, kind: ArrayType) -> Expr:
        if node.attr == "shape":
            return tuples.of(tuple(self.dimension(node, array, axis) for axis in range(kind.ndim)))
        if node.attr == "size":
            return Apply(operation=SIZE, args=(array,), type="int64", line=node.lineno)
        if node.attr == "ndim":
            return self.number(kind.ndim)
        if node.attr == "dtype":
            return Static(thing=DTYPE[kind.dtype])
        if node.attr == "T":
            kind = ArrayType(kind.dtype, kind.ndim, view=True)
            return Apply(operation=TRANSPOSED, args=(array,), type=kind, line=node.lineno)
        refuse(
            node,
            f"the simulator does not run .{node.attr} of an array in a kernel; "
            "it knows shape, size, ndim, dtype, T and fill, elements such as A[i, j], and parts such as A[i] and "
            "A[1:, ::2]",
        )

    def dimension(self, node: ast.expr, array: Expr, axis: int) -> Expr:
        return Apply(operation=SHAPE[axis], args=(array,), type="int64", line=node.lineno)

    # --- why a result is float64 --------------------------------------------------------------------------------

    def reason(
        self, node: ast.expr | ast.stmt, result: types.Type, operands: list[tuple[Expr, ast.AST]], widened: str
    ) -> Why:
        """Why the ``result`` of ``node`` is of double precision; what nobody asked for is recorded for a warning.

        ``widened`` are the words for an operation that makes it so, before the types of its ``operands``.
        """
        if result not in types.DOUBLE:
            return None
        text, line = ast.unparse(node), node.lineno
        parts = [Part(value.type, value.why, ast.unparse(place)) for value, place in operands]
        found = why.promotion(line, text, result, parts)
        if found is not None:
            self.promotions.setdefault((line, why.culprit(parts)), found)
            return why.reason(found, parts)
        of = why.of_parts(result, parts, f"{text}, {widened} {' and '.join(str(part.type) for part in parts)}")
        if of and any(part.type in types.DOUBLE for part in parts):
            for key, known in self.suspected.items():
                if known.line == line and known.expression == text:
                    self.promotions.setdefault(key, known)
        return of

    # --- operators -------------------------------------------------------------------------------------------

    def _binary_operator(self, node: ast.BinOp) -> Expr:
        folded = python_constant(node)
        if folded is not None:
            text = ast.unparse(node)
            reason = of_literal(text) if operators.is_double_asked(node) else Reason(f"{text}, a quotient of integers")
            return self.number(folded, reason=reason if isinstance(folded, (float, complex)) else None)
        left, right = self.expr(node.left), self.expr(node.right)
        if not (left.is_scalar and right.is_scalar) and any(isinstance(v.type, TupleType) for v in (left, right)):
            return tuples.combined(node, type(node.op).__name__, left, right)
        return self.binary(node, type(node.op).__name__, left, right, node.left, node.right)

    def binary(self, node: ast.expr | ast.stmt, op: str, left: Expr, right: Expr, a: ast.AST, b: ast.AST) -> Expr:
        """``left op right``, which stand as ``a`` and ``b`` in ``node``."""
        for value, part in ((left, a), (right, b)):
            if not value.is_scalar:
                self.refuse_as_number(part, value)
        line, x, y = node.lineno, str(left.type), str(right.type)
        literal = isinstance(right, Const) and right.literal and types.is_int(y)
        if op == "Pow" and literal and not types.is_complex(x):
            result = x if types.is_float(x) else "int64"
            first = second = result = "float32" if result == "float16" else result
        else:
            result, first, second = types.binary(op, x, y)
        reason = self.reason(node, result, [(left, a), (right, b)], "a quotient of")
        small = isinstance(right, Const) and literal and abs(int(right.value)) <= 0x10000
        if op == "Pow" and types.is_float(result) and small:
            exponent = cast(right, "int64")
            return applied(operators.LITERAL_POWER, (cast(left, first), exponent), result, line, reason)
        if types.is_complex(result) and op in operators.COMPLEX:
            operands = (cast(left, first), cast(right, second))
            return applied(operators.COMPLEX[op], operands, result, line, reason)
        if op == "Pow":
            second = first if types.is_float(first) else second
            return applied(operators.BINARY[op], (cast(left, first), cast(right, second)), result, line, reason)
        promoted = np.promote_types(x, y).name if op not in ("LShift", "RShift") else ""
        if not (promoted == result and (op != "Div" or types.is_float(promoted))):
            left, right = cast(left, first), cast(right, second)
        if op == "FloorDiv" and not types.is_float(result) and not (isinstance(right, Const) and right.value != -1):
            return applied(operators.INTEGER_QUOTIENT, (cast(left, result), cast(right, result)), result, line, reason)
        return applied(operators.BINARY[op], (left, right), result, line, reason)

    def _unary_operator(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return conditions.condition(self, node)
        folded = python_constant(node)
        if folded is not None and not isinstance(folded, (float, complex)):
            return self.number(folded)
        value = self.scalar(node.operand)
        op = type(node.op).__name__
        result, working = types.unary(op, str(value.type))
        operand = cast(value, working)
        if op != "UAdd":
            operand = applied(operators.UNARY[op], (operand,), working, node.lineno)
        return with_why(cast(operand, result), value.why)

    def _conditional(self, node: ast.IfExp) -> Expr:
        test = conditions.condition(self, node.test)
        if isinstance(test, Const) and test.literal:
            return self.expr(node.body if test.value else node.orelse)
        yes, no = self.expr(node.body), self.expr(node.orelse)
        kind = types.unify_types(yes.type, no.type)
        if kind in (CONFLICT, COMPILE_TIME):
            refuse(
                node,
                f"the two sides of {ast.unparse(node)} are {describe_type(yes.type)} and "
                f"{describe_type(no.type)}; give both sides the same kind of value",
            )
        parts = (Part(yes.type, yes.why), Part(no.type, no.why))
        reason = why.of_parts(kind, parts, why.meeting(yes.type, no.type))
        yes, no = cast(yes, kind), cast(no, kind)
        return Select(test=test, yes=yes, no=no, type=kind, line=node.lineno, why=reason)

    # --- elements --------------------------------------------------------------------------------------------

    def place(self, node: ast.Subscript) -> tuple[Expr, tuple[Expr, ...]]:
        """(array, indices) of a subscript that is assigned; ``A[i][j]`` counts as ``A[i, j]``."""
        owner, chain = self._owner(node)
        if not chain:
            refuse(node, f"{ast.unparse(node)} is an item of a tuple, and cannot be assigned; write a new tuple")
        return self._indexed(node, owner, chain)

    def element(self, node: ast.Subscript) -> tuple[Expr, tuple[Expr, ...]]:
        """(array, indices) of a subscript that is one element."""
        array, indices = self.place(node)
        assert isinstance(array.type, ArrayType)
        if len(indices) < array.type.ndim:
            refuse(
                node,
                f"{ast.unparse(node)} is part of an array, not an element; write a loop over single elements, with "
                "one index for each dimension",
            )
        return array, indices

    def _owner(self, node: ast.Subscript) -> tuple[Expr, list[ast.Subscript]]:
        """What is subscripted: the first value of a chain of subscripts that is no tuple, and the rest of the chain."""
        chain: list[ast.Subscript] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            chain.insert(0, base)
            base = base.value
        owner = self.expr(base)
        while chain and isinstance(owner.type, TupleType):
            owner = tuples.item_of(self, chain[0], owner, chain[0].slice)
            del chain[0]
        return owner, chain

    def _indexed(self, node: ast.AST, array: Expr, chain: list[ast.Subscript]) -> tuple[Expr, tuple[Expr, ...]]:
        """(array, indices) of a chain of subscripts: fewer than its dimensions where a part of it is meant."""
        base = chain[0].value
        if isinstance(array, Static) and hasattr(array.thing, "__getitem__"):
            refuse(
                node,
                f"{ast.unparse(base)} is a {type(array.thing).__name__} outside the kernel, of which a kernel knows "
                "nothing; make it a tuple, or pass a NumPy array as an argument",
            )
        if not isinstance(array.type, ArrayType):
            refuse(
                node,
                f"{ast.unparse(base)} is {describe_type(array.type)}, and has no elements; pass an "
                "array as an argument",
            )
        indices: tuple[Expr, ...] = ()
        for link in chain:
            parts = link.slice.elts if isinstance(link.slice, ast.Tuple) else [link.slice]
            if any(isinstance(p, ast.Slice) or is_ellipsis(p) for p in parts):
                array, indices = self._slice(link, array, indices, parts), ()
                continue
            found = tuple(self.expr(p) for p in parts)
            if len(found) == 1 and isinstance(found[0].type, TupleType):
                found = tuples.items(found[0])
                parts = [link] * len(found)
            indices += tuple(self.integer_index(node, p, i) for i, p in zip(found, parts, strict=True))
        assert isinstance(array.type, ArrayType)
        if len(indices) > array.type.ndim:
            refuse(
                node,
                f"{ast.unparse(base)} has {plural(array.type.ndim, 'dimension')} and is given "
                f"{len(indices)} indices; give one index for each dimension",
            )
        return array, indices

    def _slice(self, node: ast.Subscript, array: Expr, indices: tuple[Expr, ...], parts: list[ast.expr]) -> Expr:
        """The part of ``array`` at ``indices`` and at ``parts``, of which some are slices."""
        assert isinstance(array.type, ArrayType)
        missing = array.type.ndim - len(indices) - sum(not is_ellipsis(p) for p in parts)
        if missing < 0 or sum(map(is_ellipsis, parts)) > 1:
            refuse(
                node,
                f"{ast.unparse(node)} has more indices than {ast.unparse(node.value)} has dimensions, "
                f"{array.type.ndim}; give one for each",
            )
        places: list[Expr | Slice] = [*indices]
        for part in parts:
            if is_ellipsis(part):
                places += [Slice()] * missing
            elif isinstance(part, ast.Slice):
                bounds = [None if b is None else self._bound(node, b) for b in (part.lower, part.upper, part.step)]
                places.append(Slice(start=bounds[0], stop=bounds[1], step=bounds[2]))
            else:
                places.append(self.integer_index(node, part, self.expr(part)))
        return self.part(node, array, places)

    def _bound(self, node: ast.AST, part: ast.expr) -> Expr | None:
        value = self.expr(part)
        return None if value.type == NONE else self.integer_index(node, part, value)

    def part(self, node: ast.AST, array: Expr, places: list[Expr | Slice]) -> Expr:
        """A part of ``array``; dimensions without a place are taken whole."""
        assert isinstance(array.type, ArrayType)
        places = places + [Slice()] * (array.type.ndim - len(places))
        kind = ArrayType(array.type.dtype, sum(isinstance(p, Slice) for p in places), view=True)
        return MakeView(array=array, parts=tuple(places), type=kind, line=getattr(node, "lineno", 0))

    def _subscript(self, node: ast.Subscript) -> Expr:
        owner, chain = self._owner(node)
        if not chain:
            return owner
        array, indices = self._indexed(node, owner, chain)
        assert isinstance(array.type, ArrayType)
        if len(indices) == array.type.ndim:
            if not indices and isinstance(array, MakeView):
                return array
            return self.load(node, array, indices)
        return self.part(node, array, [*indices]) if indices else array

    def load(self, node: ast.expr, array: Expr, indices: tuple[Expr, ...]) -> Expr:
        assert isinstance(array.type, ArrayType)
        return Load(array=array, index=indices, type=array.type.dtype, line=node.lineno)

    def filled(self, node: ast.expr, array: Expr, value: Expr) -> Expr:
        """The number ``value`` in every element of ``array``, one after another."""
        return Elementwise(array=array, function=itself, inputs=(self.stored(node, array, value),), line=node.lineno)

    def refuse_in_array(self, target: ast.Subscript, node: ast.AST, value: Expr) -> NoReturn:
        """Refuse what is no number, and is to be stored in an element or a part of an array."""
        array, index = self.place(target)
        assert isinstance(array.type, ArrayType)
        if len(index) == array.type.ndim:
            self.refuse_as_number(node, value)
        refuse(
            target,
            f"{ast.unparse(target)} is part of an array, and takes one number for all of its elements; "
            f"{ast.unparse(node)} is {describe_type(value.type)}: copy it in a loop over single elements",
        )

    def stored(self, node: ast.AST, array: Expr, value: Expr) -> Expr:
        """``value``, which is to be stored in an element of ``array``: refused if it cannot."""
        assert isinstance(array.type, ArrayType)
        if isinstance(array, Frozen):
            refuse(node, f"{array.name} is a constant of the kernel, and cannot be written; pass it as an argument")
        if not value.is_scalar:
            refuse(
                node,
                f"{ast.unparse(node)} holds one number, and cannot take {describe_type(value.type)}; "
                "store one number at a time",
            )
        if types.is_complex(str(value.type)):
            cast(value, array.type.dtype)  # refused if the array holds real numbers
        return value


def of_literal(text: str) -> Reason:
    return Reason(f"the literal {text}", names=text)


def itself(value: Vector) -> Vector:
    """What a number becomes that fills an array."""
    return value


def refuse_unknown(node: ast.AST, module: object, name: str) -> None:
    """Refuse a name that numba.cuda has not, unless the simulator has something better to say of it."""
    if name in calls.CUDA or name in CUDA:
        return
    meant = next((known for known in dir(module) if known.lower() == name.lower()), None)
    refuse(node, f"numba.cuda has no {name!r}; " + (f"write cuda.{meant}" if meant else "look up how it is spelled"))


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def with_why(value: Expr, reason: Why) -> Expr:
    """``value`` with a reason for its type."""
    return value if value.why == reason else replace(value, why=reason)


def way_to_number(text: str, value: Expr) -> str:
    """How to write a number instead of ``text``, which stands for ``value``: the end of a message."""
    if isinstance(value.type, ArrayType) and value.type.ndim:
        return f"; write an element, {text}[{', '.join('ijklmnop'[: value.type.ndim])}]"
    if isinstance(value.type, TupleType) and value.type.items:
        return f"; write an item, such as {text}[0]"
    if isinstance(value, Static) and isinstance(value.thing, Symbol):
        if value.thing.path[:1] in [(name,) for name in COORDINATES]:
            return f"; write cuda.{value.thing.path[0]}.x, .y or .z"
    return ""
