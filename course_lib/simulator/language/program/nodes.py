"""The nodes of the typed program's expressions, and the code that is generated for each.

An expression has a type, and the reason if that is float64 by accident (:mod:`..types.float64_reasons`). Operators and
most functions apply the code of a row of :mod:`..tables.functions` or :mod:`..tables.operators` to operands of the
row's types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, dataclass_transform

import numpy as np

from ..types.float64_reasons import Why
from ..types.value_types import COMPILE_TIME, DTYPE, NONE, SCALARS, ArrayType, OptionalType, TupleType, Type
from .writer import Code, SharedDeclaration, Writer

#: How an element is accessed.
ACCESSES = ("load", "store", "atomic")
#: Longer code gets a name, because Python allows 200 nested parentheses.
LONG = 1000


@dataclass_transform(eq_default=False, kw_only_default=True, frozen_default=True)
class Node:
    """A part of an expression. The fields of a subclass are those of a frozen dataclass, given by name.

    ``own_effect``: the node must run in program order, under the mask of the lanes that evaluate it, even if its
    operands need not: it accesses memory, calls, or assigns a variable of the generated code.
    """

    _own_effect: ClassVar[bool]

    def __init_subclass__(cls, own_effect: bool = False) -> None:
        dataclass(frozen=True, eq=False, kw_only=True)(cls)
        cls._own_effect = own_effect


class Expr(Node):
    """An expression; ``type`` is one of the types in :mod:`..types.value_types`: NONE and COMPILE_TIME are, too."""

    type: Type
    why: Why = None

    def write(self, out: Writer) -> Code:
        """Write the statements of the node's effects; return the code of its value."""
        raise NotImplementedError

    @property
    def has_own_effect(self) -> bool:
        return self._own_effect

    @cached_property
    def operands(self) -> tuple[Expr, ...]:
        """The expressions in the node's fields, in order; fields may hold tuples of them."""
        return tuple(_expressions_in(getattr(self, name) for name in self.__dataclass_fields__))

    @cached_property
    def must_be_ordered(self) -> bool:
        """Whether it must run in program order, under the mask of the lanes that evaluate it."""
        return self.has_own_effect or any(operand.must_be_ordered for operand in self.operands)

    @cached_property
    def must_be_evaluated(self) -> bool:
        """Whether it must be evaluated even if its value is not used."""
        return self.has_own_effect or any(operand.must_be_evaluated for operand in self.operands)

    @property
    def is_scalar(self) -> bool:
        return self.type in SCALARS

    @property
    def array_type(self) -> ArrayType:
        assert isinstance(self.type, ArrayType)
        return self.type

    @property
    def tuple_type(self) -> TupleType:
        assert isinstance(self.type, TupleType)
        return self.type


class Const(Expr):
    """A number known at compile time; ``literal``: numba knows it when it types the kernel."""

    value: np.generic
    literal: bool = True

    def write(self, out: Writer) -> Code:
        return Code(out.module.constant(self.value), True, True)


class Nothing(Expr):
    type: Type = NONE

    def write(self, out: Writer) -> Code:
        return Code("None")


class CompileTimeObject(Expr):
    """An object that exists only while the kernel is compiled: a module, a function, a type."""

    obj: object
    type: Type = COMPILE_TIME

    def write(self, out: Writer) -> Code:
        return Code(out.module.object_name(self.obj), True, True)


class Local(Expr):
    """A variable; ``maybe_unassigned``: some path has not assigned it."""

    name: str
    line: int = 0
    maybe_unassigned: bool = False

    @property
    def has_own_effect(self) -> bool:
        return self.maybe_unassigned

    def write(self, out: Writer) -> Code:
        code = out.version(self.name, self.type)
        chosen = out.module.diverging_arrays and isinstance(self.type, ArrayType)
        if self.maybe_unassigned:
            assigned, line = out.mask_of_assigned(self.name), out.at(self.line)
            out.emit(f"warp.report_missing('variable', {assigned}, {out.mask}, {self.name!r}, {line})")
            if isinstance(self.type, OptionalType):
                missing = out.cast("None", NONE, self.type)
            elif isinstance(self.type, ArrayType):
                dtype, ndim = out.module.dtype(self.type.dtype), self.type.ndim
                missing = f"warp.no_array({self.name!r}, {dtype}, {ndim}, {out.mask})"
                missing = f"as_view({missing})" if self.type.view else missing
            else:
                missing = out.module.constant(DTYPE[str(self.type)].type(0))
            out.emit(f"if {code} is None: {code} = {missing}")
        return Code(f"array_of({code}, {out.mask})") if chosen else Code(code, True)


class LoopValue(Expr):
    """The value that a for loop assigns in an iteration: the iterator's value, or the part of it at ``path``."""

    path: tuple[int, ...]

    def write(self, out: Writer) -> Code:
        return Code(out.loop_value + "".join(f"[{i}]" for i in self.path))


class Apply(Expr):
    """An operation applied to ``args``; ``text`` is the source of a comparison, for the trace.

    ``code`` is Python: ``{0}``, ``{1}`` are the operands, ``{dtype}`` is that of the result, and ``warp`` is the warp.
    If it names ``{mask}``, the lanes that take part, or ``{line}``, it must run in program order, and once.
    ``{program_point}`` is this execution's place in program order, ``{enclosing_line}`` the line of the if or loop
    around it.
    ``sites`` are the accesses that it makes, (op, elements a lane); ``{sites}`` in its code. ``stores`` is the array
    that it changes, and ``variable`` the one that the source indexes, if it is one. ``diverging_arrays``: its value may
    be another array in each lane. ``{load}``, ``{store}`` and ``{atomic}`` begin the call that accesses a whole array.
    """

    code: str
    line: int
    type: Type = NONE
    args: tuple[Expr, ...] = ()
    text: str = ""
    sites: tuple[tuple[str, int], ...] = ()
    stores: Expr | None = None
    variable: str = ""
    diverging_arrays: bool = False

    @property
    def has_own_effect(self) -> bool:
        return "{mask}" in self.code or "{line}" in self.code

    def write(self, out: Writer) -> Code:
        """Write the operation: pure arithmetic as an expression, all else as statements of its own."""
        if self.stores is not None:
            out.function.stored.append(self.stores)
        operands = [_operand(out, operand) for operand in self.args]
        if self.text and out.module.tracing == "values" and not out.function.in_other_file:
            return self._write_tested(out, operands)
        code = self._code(out, operands)
        if not self.has_own_effect:
            return Code(code)
        *before, last = code.split("\n")
        for line in before:
            out.emit(line)
        if self.type == NONE:
            out.emit(last)
            return Code("None")
        return out.temporary(last, self._name_of_result(last))

    def _name_of_result(self, code: str) -> str:
        """A name for the value in the generated code: the element of an array, or the result of what is called."""
        if self.sites:
            return f"{self.variable or 'array'}_element"
        called = re.search(r"warp\.(\w+)\(", code) or re.search(r"(\w+)\(", code)
        return f"{called[1]}_result" if called else "value"

    def _write_tested(self, out: Writer, operands: list[str]) -> Code:
        """Write a comparison whose operands and outcome a trace shows."""
        left = out.temporary(operands[0], "left").text
        right = out.temporary(operands[1], "right").text
        truth = out.temporary(self._code(out, [left, right]), "truth")
        out.emit(f"warp.report('tested', {self.line}, {self.text!r}, ({left}, {right}), {truth.text}, {out.mask})")
        return truth

    def _code(self, out: Writer, operands: list[str]) -> str:
        """The code of the operation on these operands."""
        sites = ", ".join(out.site(self.line, *accesses, self.variable) for accesses in self.sites)
        words = {"mask": out.mask, "line": out.at(self.line), "sites": sites}
        if "{dtype}" in self.code:
            words["dtype"] = out.module.dtype(str(self.type))
        if "{program_point}" in self.code:
            words |= {"program_point": out.next_program_point(), "enclosing_line": out.enclosing_line()}
        out.module.found_diverging_arrays |= self.diverging_arrays
        for how in ACCESSES:
            words[how] = f"{how}_through({sites}, " if out.module.diverging_arrays else f"{sites}.{how}("
        return self.code.format(*operands, **words)


def _operand(out: Writer, operand: Expr) -> str:
    code = out.text(operand)
    return code if len(code) < LONG else out.temporary(code).text


class Cast(Expr):
    """``value`` converted to ``type``, item by item if it is a tuple; see :meth:`.Writer.cast`."""

    value: Expr

    def write(self, out: Writer) -> Code:
        code = out.expr(self.value)
        if isinstance(self.type, (TupleType, OptionalType)) and not code.name:
            code = out.temporary(code.text)
        return Code(out.cast(code.text, self.value.type, self.type))


class Temporary(Expr, own_effect=True):
    """``value`` in a temporary variable, which begins with ``name``: its first use assigns it, later uses read it."""

    value: Expr
    name: str = "value"

    @cached_property
    def must_be_evaluated(self) -> bool:
        return self.value.must_be_evaluated

    def write(self, out: Writer) -> Code:
        if self not in out.evaluated:
            code = out.expr(self.value)
            out.evaluated[self] = code if code.final else out.temporary(code.text, self.name)
        return out.evaluated[self]


class After(Expr):
    """``value``, after ``first`` is evaluated for its effects."""

    first: tuple[Expr, ...]
    value: Expr

    def write(self, out: Writer) -> Code:
        for part in self.first:
            out.expr(part)
        return out.expr(self.value)


class MakeTuple(Expr):
    items: tuple[Expr, ...]

    def write(self, out: Writer) -> Code:
        return Code(out.items(self.items))


class Item(Expr):
    """Item ``index`` of a tuple; the index is known at compile time."""

    value: Expr
    index: int

    def write(self, out: Writer) -> Code:
        return Code(f"{out.text(self.value)}[{self.index}]")


class Slice(Node):
    """``start:stop:step`` of one dimension; None where it is left out."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


class MakeView(Expr):
    """A part of an array: an index or a slice for each dimension."""

    array: Expr
    parts: tuple[Expr | Slice, ...]
    line: int

    def write(self, out: Writer) -> Code:
        array = out.text(self.array)
        selection = ""
        for part in self.parts:
            if isinstance(part, Slice):
                bounds = ["None" if each is None else out.text(each) for each in (part.start, part.stop, part.step)]
                selection += f"({', '.join(bounds)}), "
            else:
                selection += f"{out.text(part)}, "
        return Code(f"view({array}, ({selection}), {out.at(self.line)})")


class Select(Expr):
    """``yes if test else no``; each side is evaluated only in its own lanes."""

    test: Expr
    yes: Expr
    no: Expr
    line: int

    @cached_property
    def must_be_ordered(self) -> bool:
        return self.type not in SCALARS or any(each.must_be_ordered for each in self.operands)

    def write(self, out: Writer) -> Code:
        test = out.text(self.test)
        if self.is_scalar and not (self.yes.must_be_ordered or self.no.must_be_ordered):
            return Code(f"pick({test}, {out.text(self.yes)}, {out.text(self.no)})")
        yes, no = out.new_name(f"then_{self.line}"), out.new_name(f"else_{self.line}")
        result = out.new_name("chosen")
        out.emit(f"{result} = None")
        out.emit(f"{yes}, {no} = split({out.mask}, {test})")
        for mask, side in ((yes, self.yes), (no, self.no)):
            with out.under(mask):
                code = out.text(side)
                out.emit(f"{result} = {out.blended(mask, code, result, self.type)}")
        return Code(result, True, True)


class Logical(Expr):
    """``and`` or ``or`` of conditions; each is evaluated only in lanes that the earlier ones do not decide."""

    conjunction: bool
    parts: tuple[Expr, ...]

    def write(self, out: Writer) -> Code:
        combine = "both" if self.conjunction else "either"
        first, *rest = self.parts
        left = out.expr(first)
        for part in rest:
            every_lane_may_evaluate = out.module.tracing != "values"  # a trace records only what a lane evaluates
            if every_lane_may_evaluate and not part.must_be_ordered:
                left = Code(f"{combine}({left.text}, {out.text(part)})")
                continue
            result, undecided = out.new_name("condition"), out.new_name("undecided")
            out.emit(f"{result} = {left.text}")
            masks = f"{undecided}, _" if self.conjunction else f"_, {undecided}"
            out.emit(f"{masks} = split({out.mask}, {result})")
            with out.under(undecided):
                code = out.text(part)
                out.emit(f"{result} = {combine}({result}, {code})")
            left = Code(result, True)
        return left


class Allocate(Expr, own_effect=True):
    space: str
    name: str
    shape: tuple[int, ...]
    line: int
    dynamic: bool = False  # its size is given by the launch
    alignment: int = 0  # bytes, as the kernel asks for them
    record: tuple[int, int, int, int] | None = None  # a field: number, byte in a record, its bytes, their dimensions

    @property
    def bytes(self) -> int:
        return prod(self.shape) * DTYPE[self.array_type.dtype].itemsize

    def write(self, out: Writer) -> Code:
        number = -1 if self.dynamic else out.module.arrays.setdefault(self, len(out.module.arrays))
        if self.space == "local":
            out.own_arrays.append(number)
        else:
            declared = SharedDeclaration(self.name, self.bytes, prod(self.shape), out.at(self.line))
            out.module.shared.setdefault(number, declared)
        dtype = out.module.dtype(self.array_type.dtype)
        arguments = f"{number}, {self.name!r}, {dtype}, {self.shape!r}, {out.mask}"
        if self.space == "shared" and (self.alignment or self.record):
            arguments += f", alignment={self.alignment}"
        if self.record:
            arguments += f", record={self.record}"
        return Code(f"warp.{self.space}_array({arguments})")


class ConstantArray(Expr):
    """An array from outside the kernel, or a field of its records, as it was when the kernel was compiled."""

    name: str
    array: np.ndarray
    field: str = ""

    def write(self, out: Writer) -> Code:
        return Code(out.module.constant_array(self.name, self.array, self.field), True, True)


class CallWarp(Expr, own_effect=True):
    """``function`` applied to the lanes' values (:mod:`..translation.custom_intrinsics`).

    ``whole_warp``: all lanes of the warp must arrive, because a lane's result depends on the others' values.
    """

    function: Callable[..., object]
    name: str
    args: tuple[Expr, ...]
    line: int
    whole_warp: bool = True

    def write(self, out: Writer) -> Code:
        values = out.items(self.args)
        kinds = self.type.items if isinstance(self.type, TupleType) else (self.type,)
        dtypes = "".join(f"{out.module.dtype(str(kind))}, " for kind in kinds)
        function = out.module.object_name(self.function)
        if self.whole_warp:
            line = out.at(self.line)
            out.module.warp_functions.setdefault((line, self.name), self.function)
            call = f"warp.apply_to_warp({function}, {self.name!r}, {values}, ({dtypes}), {out.mask}, {line})"
        else:
            call = f"warp.apply_to_lanes({function}, {values}, ({dtypes}))"
        result = out.temporary(call)
        return result if isinstance(self.type, TupleType) else Code(f"{result.text}[0]")


def _expressions_in(values: Iterable[object]) -> Iterator[Expr]:
    for value in values:
        if isinstance(value, Expr):
            yield value
        elif isinstance(value, tuple):
            yield from _expressions_in(value)
        elif isinstance(value, Slice):
            yield from _expressions_in(vars(value).values())
