"""Translate expressions: each node of Python's syntax tree becomes a typed node.

Code that numba or the simulator does not support is refused here or in the modules that this one calls
(:mod:`conditions`, :mod:`tuples`, :mod:`calls`), never later.
"""

import ast
from dataclasses import replace
from types import FunctionType
from typing import NoReturn

import numpy as np

from ...findings import UnsupportedKernelError
from ...formatting import plural
from ..program.builders import after, applied, cast, cut, tuple_of
from ..program.nodes import CompileTimeObject, Const, Expr, Local, MakeView, Nothing, Select, Slice
from ..source.errors import refuse
from ..source.literals import NUMBERS, python_constant
from ..source.names import GRID_GROUP, Symbol
from ..tables import operators
from ..types import float64_reasons, typing_rules
from ..types.float64_reasons import Reason, TypedOperand, Why
from ..types.types_of_objects import of_value
from ..types.unification import unify_types
from ..types.value_types import (
    COMPILE_TIME,
    CONFLICT,
    NONE,
    PART,
    ArrayType,
    OptionalType,
    RecordsType,
    TupleType,
    TypingError,
    describe_type,
    is_complex,
)
from ..types.variables import LiteralNumbers
from . import arithmetic, array_members, calls, conditions, records, tuples
from .refusals import mistyped, refuse_construct
from .translated_expression import Translated
from .translation import Translation, of_literal


class Expressions(Translation):
    """Translates the expressions of one function; ``env`` holds its variables at the current statement."""

    def expr(self, node: ast.AST) -> Expr:
        form = getattr(self, f"visit_{type(node).__name__}", None)
        if form is None:
            refuse_construct(node)
        try:
            value: Expr = form(node)
            return value
        except TypingError as error:
            refuse(node, f"{error} (in {ast.unparse(node)})")

    functions = calls.CUDA

    # functions of (translation, node), which are the methods of these nodes
    visit_Compare = conditions.compare
    visit_BoolOp = conditions.and_or
    visit_Tuple = tuples.make
    visit_Lambda = Translation.defined

    def visit_Call(self, node: ast.Call) -> Expr:
        return calls.call(self, node, used=True)

    def visit_Constant(self, node: ast.Constant) -> Expr:
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

    def visit_Name(self, node: ast.Name) -> Expr:
        """A variable with its known value, or what a global name means."""
        if isinstance(node, Translated):
            return node.value
        name = node.id
        if name not in self.locals:
            return self.wrap(self.constant_object(node), node)
        variable = self.env.get(name)
        if variable is None:
            refuse(node, f"the variable {name!r} has no value yet; give it one in an earlier line")
        if variable.type == COMPILE_TIME:
            return self.wrap(self.constant_object(node), node)
        if variable.type == CONFLICT:
            refuse(
                node,
                f"{name!r} has different kinds of values on different paths, which no type holds; use two names",
            )
        if variable.type == NONE:
            return Nothing()
        if variable.maybe_unassigned:
            self.function.maybe_unassigned.add(name)
            if not isinstance(variable.type, (str, ArrayType, OptionalType)):
                refuse(node, f"{name!r} is not assigned on every path; assign it before the if or the loop")
        if isinstance(variable.const, np.generic):
            return Const(type=variable.type, value=variable.const, why=variable.why)
        if isinstance(variable.const, LiteralNumbers) and isinstance(variable.type, TupleType):
            numbers = (self.number(item, literal=False) for item in variable.const.items)
            return tuple_of(tuple(numbers), variable.type.fields)
        return Local(
            type=variable.type,
            name=name,
            line=node.lineno,
            maybe_unassigned=variable.maybe_unassigned,
            why=variable.why,
        )

    def visit_Attribute(self, node: ast.Attribute) -> Expr:
        """An attribute of a compile-time object, an array, a record, a named tuple, or a number."""
        obj = self.constant_object(node)
        if obj is not None:
            return self.wrap(obj, node)
        owner = self.unwrap_optional(node.value, self.expr(node.value))
        if isinstance(owner.type, ArrayType):
            return self._of_array(node, owner, owner.type)
        if isinstance(owner.type, RecordsType):
            if owner.type.ndim and node.attr in ("shape", "size", "ndim"):
                return self._of_array(node, *records.of_numbers(node, owner))
            value = records.field(node, owner, node.attr)
            return self.load(node, value, ()) if is_field(value) else value
        if isinstance(owner.type, TupleType) and node.attr in owner.type.fields:
            return tuples.item(owner, owner.type.fields.index(node.attr))
        if isinstance(owner, CompileTimeObject):
            made = self._of_compile_time(owner, node.attr)
            if made is not None:
                return made
        if node.attr in ("real", "imag") and owner.is_scalar and owner.type != "bool":
            kind = PART.get(str(owner.type), str(owner.type))
            return applied(f"{{0}}.{node.attr}", (owner,), kind, node.lineno, owner.why)
        advice = f"the simulator does not run its .{node.attr}: write it out with arithmetic and the functions of math"
        if node.attr in (*array_members.ATTRIBUTES, *array_members.METHODS):
            advice = f"only an array has .{node.attr}: name the array instead"
        mistyped(node.value, owner.type, advice)

    def _of_compile_time(self, owner: CompileTimeObject, name: str) -> Expr | None:
        """An attribute of the group of the grid, of a dtype or of the limits of a type; None for others."""
        obj = owner.obj
        if obj == GRID_GROUP:
            return CompileTimeObject(obj=Symbol((*GRID_GROUP.path, name)))
        if isinstance(obj, np.dtype) and name == "type":
            return owner
        if isinstance(obj, (np.finfo, np.iinfo)) and of_value(getattr(obj, name, None)):
            return self.number(getattr(obj, name))
        return None

    def _of_array(self, node: ast.Attribute, array: Expr, kind: ArrayType) -> Expr:
        if node.attr in array_members.ATTRIBUTES:
            return array_members.ATTRIBUTES[node.attr](self, node, array)
        if node.attr in ("real", "imag") and is_complex(kind.dtype):
            refuse(node, f"the simulator takes .{node.attr} of single elements; write A[i].{node.attr}")
        if node.attr == "real":
            return array
        if node.attr in array_members.METHODS:
            refuse(node, f"{ast.unparse(node)} is a method; call it")
        refuse(
            node,
            f"the simulator does not run .{node.attr} of an array in a kernel; it knows "
            f"{', '.join((*array_members.ATTRIBUTES, *array_members.METHODS))}, and parts such as A[1:, ::2]",
        )

    # --- operators -------------------------------------------------------------------------------------------

    def _folded(self, node: ast.BinOp | ast.UnaryOp) -> Expr | None:
        """The number that Python makes of an operator between literals."""
        folded = python_constant(node)
        if not isinstance(folded, (float, complex)):
            return None if folded is None else self.number(folded)
        text = ast.unparse(node)
        literals = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
        if any(isinstance(value, (float, complex)) for value in literals):
            reason = of_literal(text)
        else:
            reason = Reason(f"{text}, a quotient of integers")
        return self.number(folded, reason=reason)

    def visit_BinOp(self, node: ast.BinOp) -> Expr:
        if (folded := self._folded(node)) is not None:
            return folded
        left, right = self.expr(node.left), self.expr(node.right)
        if isinstance(left.type, TupleType) or isinstance(right.type, TupleType):
            return tuples.combined(node, type(node.op).__name__, left, right)
        return arithmetic.binary(self, node, type(node.op).__name__, (left, node.left), (right, node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return conditions.condition(self, node)
        if (folded := self._folded(node)) is not None:
            return folded
        value = self.scalar(node.operand)
        op = type(node.op).__name__
        result, working = typing_rules.unary(op, str(value.type))
        operand = cast(value, working)
        if op != "UAdd":
            operand = applied(operators.UNARY_OPERATORS[op], (operand,), working, node.lineno)
        return with_why(cast(operand, result), value.why)

    def test(self, node: ast.expr) -> tuple[Expr, bool | None]:
        """A condition, and its outcome if numba drops the other branch."""
        try:
            return conditions.condition(self, node), conditions.decided(self, node)
        except (UnsupportedKernelError, TypingError):
            if not self.skips_refused:
                raise
            return self.number(True, literal=False), None

    def visit_IfExp(self, node: ast.IfExp) -> Expr:
        test, outcome = self.test(node.test)
        if outcome is not None:
            return after((test,), self.expr(node.body if outcome else node.orelse))
        yes, no = self.expr(node.body), self.expr(node.orelse)
        kind = unify_types(yes.type, no.type)
        if kind in (CONFLICT, COMPILE_TIME):
            refuse(
                node,
                f"the two sides of {ast.unparse(node)} are {describe_type(yes.type)} and "
                f"{describe_type(no.type)}; give both sides the same kind of value",
            )
        parts = (TypedOperand(yes.type, yes.why), TypedOperand(no.type, no.why))
        reason = float64_reasons.reason_of_operands(kind, parts, float64_reasons.reason_of_merge(yes.type, no.type))
        yes, no = cast(yes, kind), cast(no, kind)
        return Select(test=test, yes=yes, no=no, type=kind, line=node.lineno, why=reason)

    def target(self, node: ast.Subscript) -> tuple[Expr, tuple[Expr, ...]]:
        """Translate the target of an assignment to (array, indices); ``A[i][j]`` is the same as ``A[i, j]``."""
        owner, chain = self._owner(node)
        if not chain and is_field(owner):
            return owner, ()
        if not chain and isinstance(owner.type, RecordsType):
            refuse(node, f"{ast.unparse(node)} is a whole record, which takes a record alone; store to its fields")
        if not chain:
            what = "an item of a tuple or an array in a record"
            refuse(node, f"{ast.unparse(node)} is {what}; write a new tuple, or store to the array's elements")
        return self._indexed(node, owner, chain)

    def element(self, node: ast.Subscript) -> tuple[Expr, tuple[Expr, ...]]:
        array, indices = self.target(node)
        if len(indices) < array.array_type.ndim:
            refuse(
                node,
                f"{ast.unparse(node)} is part of an array, not an element; give one index for each dimension, such as "
                "(i, j), and write a loop where you mean several elements",
            )
        return array, indices

    def _owner(self, node: ast.Subscript) -> tuple[Expr, list[ast.Subscript]]:
        """Split a chain of subscripts: the first value that is not a tuple, and the subscripts after it."""
        chain: list[ast.Subscript] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            chain.insert(0, base)
            base = base.value
        owner = self.unwrap_optional(base, self.expr(base))
        while chain and isinstance(owner.type, (TupleType, RecordsType)):
            if isinstance(owner.type, RecordsType):
                owner = records.at(self, chain[0], owner)
            else:
                owner = tuples.item_of(self, chain[0], owner, chain[0].slice)
            owner = self.unwrap_optional(chain[0], owner) if chain[1:] else owner
            del chain[0]
        return owner, chain

    def _indexed(self, node: ast.AST, array: Expr, chain: list[ast.Subscript]) -> tuple[Expr, tuple[Expr, ...]]:
        """(array, indices) of a chain of subscripts; there are fewer indices than dimensions for a part of an array."""
        base = chain[0].value
        outside = array.obj if isinstance(array, CompileTimeObject) else None
        if isinstance(outside, FunctionType) or hasattr(outside, "py_func"):
            refuse(
                node,
                f"{ast.unparse(base)} is a function, and no kernel launches another: launch it after this one, or make "
                f"it a device function and call {ast.unparse(base)}(...)",
            )
        if hasattr(outside, "__getitem__"):
            refuse(
                node,
                f"{ast.unparse(base)} is a {type(outside).__name__} outside the kernel, which a kernel cannot "
                "read; make it a tuple, or pass a NumPy array as an argument",
            )
        if not isinstance(array.type, ArrayType):
            mistyped(base, array.type, "only an array has elements: pass one as an argument")
        indices: tuple[Expr, ...] = ()
        for link in chain:
            given = link.slice.elts if isinstance(link.slice, ast.Tuple) else [link.slice]
            parts = [self._written(part) for part in given]
            if isinstance(link.slice, ast.Constant) and isinstance(link.slice.value, str):
                mistyped(base, array.type, f"it has no field {link.slice.value!r}; pass an array of records")
            if any(map(is_slice, parts)):
                array = self._slice(link, array, indices, parts)
                indices = ()
            else:
                indices += self._integer_indices(node, link, parts)
        if len(indices) > array.array_type.ndim:
            refuse(
                node,
                f"{ast.unparse(base)} has {plural(array.array_type.ndim, 'dimension')} and is given "
                f"{len(indices)} indices; give one index for each dimension",
            )
        return array, indices

    def _integer_indices(self, node: ast.AST, link: ast.Subscript, parts: list[ast.expr]) -> tuple[Expr, ...]:
        """The indices in one pair of square brackets, also those in a tuple."""
        values: list[Expr] = []
        for part in parts:
            values += tuples.unpacked(self, part)
        is_tuple = len(values) == 1 and isinstance(values[0].type, TupleType)
        if is_tuple:
            values = [*tuples.items(values[0])]
        origins: list[ast.expr] = parts
        if is_tuple or len(values) != len(parts):
            origins = [link] * len(values)
        return tuple(self.integer_index(node, origin, value) for value, origin in zip(values, origins, strict=True))

    def _slice(self, node: ast.Subscript, array: Expr, indices: tuple[Expr, ...], parts: list[ast.expr]) -> Expr:
        """The part of ``array`` at ``indices`` and then at ``parts``, some of which are slices."""
        taking_a_dimension = [part for part in parts if not is_ellipsis(part) and not is_new_axis(part)]
        missing = array.array_type.ndim - len(indices) - len(taking_a_dimension)
        if missing < 0 or sum(map(is_ellipsis, parts)) > 1:
            refuse(
                node,
                f"{ast.unparse(node)} has more indices than {ast.unparse(node.value)} has dimensions, "
                f"{array.array_type.ndim}; give one for each",
            )
        chosen: list[Expr | Slice] = [*indices]
        for part in parts:
            if is_ellipsis(part):
                chosen += [Slice()] * missing
            elif is_new_axis(part):
                chosen.append(Nothing())
            elif isinstance(part, ast.Slice):
                start = self._bound(node, part.lower)
                stop = self._bound(node, part.upper)
                step = self._bound(node, part.step)
                chosen.append(Slice(start=start, stop=stop, step=step))
            else:
                chosen.append(self.integer_index(node, part, self.expr(part)))
        return self.view_of(node, array, chosen)

    def _written(self, part: ast.expr) -> ast.expr:
        """Return an index; a slice that is a constant from outside the kernel as it would be written."""
        obj = self.constant_object(part) if isinstance(part, ast.Name | ast.Attribute) else None
        if not isinstance(obj, slice):
            return part
        bounds = [None if each is None else ast.Constant(each) for each in (obj.start, obj.stop, obj.step)]
        return ast.fix_missing_locations(ast.copy_location(ast.Slice(*bounds), part))

    def _bound(self, node: ast.AST, part: ast.expr | None) -> Expr | None:
        """A bound or the step of a slice; None if it is left out."""
        if part is None:
            return None
        value = self.unwrap_optional(part, self.expr(part))
        return None if value.type == NONE else self.integer_index(node, part, cut(value))

    def visit_Subscript(self, node: ast.Subscript) -> Expr:
        member = self.constant_object(node)
        if member is not None:
            return self.wrap(member, node)
        owner, chain = self._owner(node)
        if not chain:
            return self.load(node, owner, ()) if is_field(owner) else owner
        array, indices = self._indexed(node, owner, chain)
        if len(indices) == array.array_type.ndim:
            if not indices and isinstance(array, MakeView):
                return array
            return self.load(node, array, indices)
        return self.view_of(node, array, [*indices]) if indices else array

    def refuse_in_array(self, target: ast.Subscript, node: ast.AST, value: Expr) -> NoReturn:
        """Refuse a value that is not a number as the new value of an element or a part of an array."""
        array, index = self.target(target)
        if len(index) == array.array_type.ndim:
            self.as_number(node, value)
        refuse(
            target,
            f"{ast.unparse(target)} is part of an array, and takes one number for all of its elements; "
            f"{ast.unparse(node)} is {describe_type(value.type)}: copy it in a loop over single elements",
        )


def is_slice(node: ast.expr) -> bool:
    """Whether an index chooses a part of an array, not one number along a dimension."""
    return isinstance(node, ast.Slice) or is_ellipsis(node) or is_new_axis(node)


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def is_new_axis(node: ast.expr) -> bool:
    """Whether it is ``None`` or ``np.newaxis`` in the place of an index."""
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Attribute) and node.attr == "newaxis"


def is_field(value: Expr) -> bool:
    """Whether it is the field of one record, which is an element and not an array."""
    return isinstance(value.type, ArrayType) and value.type.view and not value.type.ndim


def with_why(value: Expr, reason: Why) -> Expr:
    return value if value.why == reason else replace(value, why=reason)
