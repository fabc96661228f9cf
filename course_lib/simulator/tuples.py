"""Tuples, and what a for loop runs through.

A tuple is a Python tuple of lane vectors in the generated code; where its items are known apart (``Value.items``), an
item is taken when the kernel is compiled, and only an index that the threads work out is looked up at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import typing_rules
from .values import ArrayType, TupleType, Value, describe_type, plural

#: What to write instead of a loop over these.
NO_LOOP = {
    "reversed": "write range(n - 1, -1, -1)",
    "prange": "write range(...); every thread runs the whole loop",
    "map": "call the function in the loop",
    "filter": "write an if in the loop",
}


@dataclass(frozen=True)
class Iterable:
    """What a for loop runs through: an iterator of (value, mask), and what is bound to each value."""

    code: str
    item: Callable[[str], Value]


class Tuples:
    """The part of :class:`compiler.Function` that compiles tuples, and the heads of for loops."""

    def tuple_of(self, items: tuple[Value, ...]) -> Value:
        code = f"({''.join(f'{i.code}, ' for i in items)})"
        return Value(code, TupleType(tuple(i.type for i in items)), items=items)

    def on_Tuple(self, node):
        if any(isinstance(e, ast.Starred) for e in node.elts):
            self.refuse(node, "* cannot unpack in a kernel; write the items out")
        return self.tuple_of(tuple(self.expr(e) for e in node.elts))

    def item(self, value: Value, i: int) -> Value:
        """Item ``i`` of a tuple."""
        if value.items:
            return value.items[i]
        return Value(f"{value.code}[{i}]", value.type.items[i])

    def items(self, value: Value) -> tuple[Value, ...]:
        return tuple(self.item(value, i) for i in range(len(value.type.items)))

    def item_type(self, value: Value, node):
        """The one type of a tuple's items, which numba asks of a tuple that it runs through at run time."""
        kinds = tuple(dict.fromkeys(value.type.items))
        if len(kinds) != 1:
            if not kinds:
                self.refuse(
                    node,
                    f"{ast.unparse(node)} is an empty tuple, whose items have no type for numba; leave "
                    "out what runs through it",
                )
            types = ", ".join(map(describe_type, kinds))
            self.refuse(
                node,
                f"{ast.unparse(node)} has items of different types ({types}); numba runs through tuples "
                "of one type: convert the items",
            )
        return kinds[0]

    def tuple_item(self, node, owner: Value, place: ast.AST) -> Value:
        """``owner[place]`` of a tuple."""
        count, text = len(owner.type.items), ast.unparse(node)
        if isinstance(place, ast.Slice):
            bounds = [b if b is None else self.expr(b) for b in (place.lower, place.upper, place.step)]
            if any(b is not None and not (b.is_const and typing_rules.is_int(b.type)) for b in bounds):
                self.refuse(node, f"{text}: the bounds of a tuple's slice must be literal integers, as in t[0:2]")
            items = self.items(owner)[slice(*(b if b is None else int(b.const) for b in bounds))]
            return self.tuple_of(items)
        index = self.scalar(place)
        self.check_index(node, place, index)
        if index.is_const:
            if not -count <= int(index.const) < count:
                self.refuse(node, f"{text}: the tuple has {plural(count, 'item')}; its numbers begin at 0")
            return self.item(owner, int(index.const) % count)
        kind = self.item_type(owner, node.value)
        result = self.fresh("t")
        self.emit(f"{result} = item_at({owner.code}, {index.code}, w.full, {self.mask}, {node.lineno}, {text!r})")
        return Value(result, kind)

    def combined(self, node, op: str, left: Value, right: Value) -> Value:
        """An operator between tuples: concatenation."""
        if op == "Add" and isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
            return self.tuple_of(self.items(left) + self.items(right))
        self.refuse(
            node,
            f"{ast.unparse(node)}: the operands are {describe_type(left.type)} and "
            f"{describe_type(right.type)}; + joins two tuples, anything else needs their items",
        )

    # --- what a for loop runs through ------------------------------------------------------------------------

    def iterable(self, node, live: str, whole: bool) -> Iterable:
        """The iterator of ``for ... in node`` over the lanes of ``live``; ``whole``: none leaves before its end."""
        if isinstance(node, ast.Call):
            thing = self.constant_object(node.func)
            special = {range: self.range_loop, enumerate: self.enumerate_loop, zip: self.zip_loop}.get(
                thing if isinstance(thing, type) else None
            )
            if special is not None:
                return special(node, live, whole)
            name = getattr(thing, "__name__", None)
            if callable(thing) and name in NO_LOOP:
                self.refuse(node, f"a kernel does not loop over {name}(...); {NO_LOOP[name]}")
        value = self.expr(node)
        if isinstance(value.type, TupleType):
            kind = self.item_type(value, node)
            return Iterable(
                f"each(w.steps, {live}, {self.saved(value).code}, {node.lineno})", lambda name: Value(name, kind)
            )
        if isinstance(value.type, ArrayType) and value.type.ndim == 1:
            zero, one = self.unit.constant(np.int64(0)), self.unit.constant(np.int64(1))
            code = (
                f"iterate(w.steps, {live}, {zero}, dim({value.code}, 0), {one}, {self.unit.dtype('int64')}.type, "
                f"{node.lineno}, {whole})"
            )
            return Iterable(code, lambda name: self.load(node, value, (Value(name, "int64"),)))
        if isinstance(value.type, ArrayType):
            self.refuse(
                node,
                f"{ast.unparse(node)} has {value.type.ndim} dimensions; loop over range(...) and use single elements",
            )
        advice = f"; write range({ast.unparse(node)})" if typing_rules.is_int(value.type) else ""
        self.refuse(
            node,
            "a kernel loops over range(...), a tuple or an array, and "
            f"{ast.unparse(node)} is {describe_type(value.type)}{advice}",
        )

    def range_loop(self, node, live: str, whole: bool) -> Iterable:
        if node.keywords or not 1 <= len(node.args) <= 3:
            self.refuse(node, "range() takes a stop, or a start and a stop, and perhaps a step, without names")
        arguments = [self.saved(self.scalar(a)) for a in node.args]
        kind = typing_rules.range_type([(a.type, a.literal) for a in arguments])
        codes = [self.converted(a, kind).strip() for a in arguments]
        zero, one = (self.unit.constant(typing_rules.DTYPE[kind].type(v)) for v in (0, 1))
        start, stop, step = {1: (zero, codes[0], one), 2: (*codes, one)}.get(len(codes), codes)
        bounds = f"{start}, {stop}, {step}, {self.unit.dtype(kind)}.type"
        return Iterable(f"iterate(w.steps, {live}, {bounds}, {node.lineno}, {whole})", lambda name: Value(name, kind))

    def enumerate_loop(self, node, live: str, whole: bool) -> Iterable:
        if node.keywords or not 1 <= len(node.args) <= 2:
            self.refuse(node, "enumerate() takes what to run through, and perhaps the first number, without names")
        inner = self.iterable(node.args[0], live, whole)
        start = self.number(0) if len(node.args) == 1 else self.saved(self.scalar(node.args[1]))
        if not typing_rules.is_int(start.type):
            self.refuse(
                node, f"enumerate() counts from {ast.unparse(node.args[1])}, which is {start.type}; give an integer"
            )
        first = self.converted(start, "int64")
        return Iterable(
            f"numbered({inner.code}, {first})",
            lambda name: self.tuple_of((Value(f"{name}[0]", "int64"), inner.item(f"{name}[1]"))),
        )

    def zip_loop(self, node, live: str, whole: bool) -> Iterable:
        if node.keywords or not node.args:
            self.refuse(node, "zip() takes what to run through, such as zip(a, b)")
        parts = [self.iterable(a, live, False) for a in node.args]
        return Iterable(
            f"together([{', '.join(p.code for p in parts)}])",
            lambda name: self.tuple_of(tuple(p.item(f"{name}[{i}]") for i, p in enumerate(parts))),
        )
