"""Comparisons, ``and``, ``or`` and ``not``: what decides which lanes go where."""

from __future__ import annotations

import ast
from dataclasses import replace

from . import typing_rules
from .values import NONE, TupleType, Value, describe_type, unify_types

COMPARISONS = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!="}


class Conditions:
    """The part of :class:`compiler.Function` that compares, and that evaluates under a condition."""

    def truth(self, value: Value) -> Value:
        """``value`` as a condition: a number that is not 0, a tuple that is not empty."""
        if value.type == "bool":
            return value
        if isinstance(value.type, TupleType) or value.type == NONE:
            return self.number(value.type != NONE and len(value.type.items) > 0)
        if not value.is_scalar:
            raise typing_rules.TypingError(
                f"{describe_type(value.type)} is not a condition; compare a number, as in x > 0"
            )
        if value.type == "float16":
            raise typing_rules.TypingError("numba cannot take a float16 as a condition; compare it, as in x != 0")
        if value.is_const:
            return replace(self.number(bool(value.const)), literal=value.literal)
        zero = self.unit.constant(typing_rules.DTYPE[value.type].type(0))
        return Value(f"({value.code} != {zero})", "bool")

    def condition(self, node: ast.AST) -> Value:
        """``node`` where only its truth is asked for, so that ``n and x`` need not have a type of its own."""
        if isinstance(node, ast.BoolOp):
            return self.conditions(node, self.condition)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.negated(self.condition(node.operand))
        return self.truth(self.expr(node))

    def negated(self, value: Value) -> Value:
        return self.folded(f"(~{value.code})", "bool", (value,))

    def on_Compare(self, node):
        if len(node.ops) > 1:
            return self.chain(node)
        left, right, op = node.left, node.comparators[0], node.ops[0]
        if isinstance(op, (ast.Is, ast.IsNot)):
            return self.identity(node, isinstance(op, ast.Is))
        return self.compared(node, type(op).__name__, self.expr(left), self.expr(right))

    def chain(self, node) -> Value:
        """``a < b < c``: c is evaluated in the lanes where a < b."""
        left, middle = self.scalar(node.left), self.scalar(node.comparators[0])
        shared = [self.saved(middle)]
        first = self.compared(node, type(node.ops[0]).__name__, left, shared[0])
        links = []
        for position in range(1, len(node.ops)):

            def link(_, position=position):
                right = self.scalar(node.comparators[position])
                if position + 1 < len(node.ops):
                    right = self.saved(right)
                result = self.compared(node, type(node.ops[position]).__name__, shared[-1], right)
                shared.append(right)
                return result

            links.append((None, link))
        return self.joined(True, first, links)

    def compared(self, node, name: str, left: Value, right: Value) -> Value:
        """``left`` and ``right`` under the comparison that Python's syntax tree calls ``name``."""
        if name in ("In", "NotIn"):
            found = self.membership(node, left, right)
            return found if name == "In" else self.negated(found)
        if name not in COMPARISONS:
            self.refuse(node, f"{ast.unparse(node)}: compare numbers with < <= > >= == !=")
        if isinstance(left.type, TupleType) and isinstance(right.type, TupleType) and name in ("Eq", "NotEq"):
            result = self.equal(node, left, right)
            return result if name == "Eq" else self.negated(result)
        for value in (left, right):
            if not value.is_scalar:
                self.refuse(node, f"{ast.unparse(node)} compares {describe_type(value.type)}; compare single numbers")
        kind = typing_rules.comparison(left.type, right.type, name not in ("Eq", "NotEq"))
        x, y = left, right
        if "uint64" in (left.type, right.type) and kind == "float64":
            x, y = (Value(self.converted(v, kind), kind) for v in (left, right))
        return self.folded(f"({x.code} {COMPARISONS[name]} {y.code})", "bool", (left, right))

    def equal(self, node, left: Value, right: Value) -> Value:
        """``left == right``, of numbers or tuples of them."""
        if not (isinstance(left.type, TupleType) and isinstance(right.type, TupleType)):
            return self.compared(node, "Eq", left, right)
        if len(left.type.items) != len(right.type.items):
            return self.number(False)
        result = self.number(True)
        for a, b in zip(self.items(left), self.items(right), strict=True):
            part = self.equal(node, a, b)
            result = self.folded(f"({result.code} & {part.code})", "bool", (result, part))
        return result

    def membership(self, node, left: Value, right: Value) -> Value:
        """``left in right``, of a number and a tuple."""
        if not isinstance(right.type, TupleType):
            self.refuse(
                node,
                f"{ast.unparse(node)}: a kernel can look for a number only in a tuple, such as "
                "(1, 2, 4); loop over an array and compare",
            )
        self.item_type(right, node.comparators[-1])
        left = self.saved(left)
        parts = [self.equal(node, left, item).code for item in self.items(right)]
        return Value(f"({' | '.join(parts)})", "bool")

    def identity(self, node, same: bool) -> Value:
        """``x is None``, which is known when the kernel is compiled."""
        sides = [self.expr(side) for side in (node.left, node.comparators[0])]
        if not any(isinstance(s, ast.Constant) and s.value is None for s in (node.left, node.comparators[0])):
            self.refuse(node, f"{ast.unparse(node)}: is compares with None only; compare numbers with == or !=")
        return self.number((sides[0].type == sides[1].type == NONE) == same)

    def on_BoolOp(self, node):
        if all(self.is_condition(v) for v in node.values):
            return self.conditions(node, self.expr)
        parts: list[tuple[str, Value]] = []
        names: list[str] = []
        outer, self.lines = self.lines, []
        self.decide(node, (True, False), parts, names)
        self.lines, lines = outer, self.lines
        kind = parts[0][1].type
        for _, value in parts[1:]:
            kind = unify_types(kind, value.type)
        if kind not in typing_rules.SCALARS:
            self.refuse(node, f"{ast.unparse(node)} has no type that holds all its values; write it with if and else")
        result = self.fresh("t")
        self.emit(f"{' = '.join(names)} = False")
        self.lines += lines
        self.emit(f"{result} = None")
        for mask, value in parts:
            self.emit(f"if {mask} is not False: {result} = blend({mask}, {self.converted(value, kind)}, {result})")
        asked = [v.origin for _, v in parts if v.type in typing_rules.DOUBLE]
        origin = None
        if kind in typing_rules.DOUBLE and all(asked):
            origin = asked[0] if asked else f"{ast.unparse(node)}, of {' and '.join(v.type for _, v in parts)}"
        return Value(result, kind, origin=origin)

    def is_condition(self, node) -> bool:
        """Is ``node`` a bool, as far as that can be said without compiling it?"""
        if isinstance(node, ast.BoolOp):
            return all(self.is_condition(v) for v in node.values)
        if isinstance(node, ast.Name) and node.id in self.locals:
            return getattr(self.env.get(node.id), "type", None) == "bool"
        return (
            isinstance(node, ast.Compare)
            or isinstance(node, ast.Constant)
            and isinstance(node.value, bool)
            or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        )

    def decide(self, node, wanted: tuple, parts: list, names: list) -> tuple[str, str]:
        """Evaluate ``node`` under the mask; return the masks of the lanes where it is true and where it is false.

        The values with which it ends in a ``wanted`` outcome (True, False) go to ``parts``, each with its mask: in
        ``a and b or c`` the value of a is never the result, and has no say in its type. The masks that the generated
        code makes on the way go to ``names``: the caller sets them to False first, as not all of it runs.
        """
        if not isinstance(node, ast.BoolOp):
            value = self.saved(self.scalar(node))
            truth = self.truth(value)
            if truth.is_const and truth.literal:
                yes, no = (self.mask, "False") if truth.const else ("False", self.mask)
            else:
                yes, no = self.fresh("m"), self.fresh("m")
                names += (yes, no)
                self.emit(f"{yes}, {no} = split({self.mask}, {truth.code})")
            lanes = {(True, False): self.mask, (True,): yes, (False,): no}.get(wanted, "False")
            if lanes != "False":
                if lanes == self.mask:  # under a name that keeps its lanes
                    lanes = self.fresh("m")
                    names.append(lanes)
                    self.emit(f"{lanes} = {self.mask}")
                parts.append((lanes, value))
            return yes, no
        conjunction = isinstance(node.op, ast.And)
        stops = (False,) if conjunction else (True,)
        before, depth, leaving = self.mask, self.indent, []
        for position, operand in enumerate(node.values):
            last = position + 1 == len(node.values)
            asked = wanted if last else tuple(w for w in wanted if w in stops)
            yes, no = self.decide(operand, asked, parts, names)
            goes, stays = (yes, no) if conjunction else (no, yes)
            leaving.append(stays)
            if goes == "False":
                break
            if not last:
                self.emit(f"if {goes} is not False:")
                self.indent += 1
                self.emit("pass")
                self.mask = goes
        self.mask, self.indent = before, depth
        out = self.fresh("m")
        names.append(out)
        lanes = [m for m in leaving if m != "False"]
        code = lanes[0] if lanes else "False"
        for more in lanes[1:]:
            code = f"unite({code}, {more})"
        self.emit(f"{out} = {code}")
        return (goes, out) if conjunction else (out, goes)

    def conditions(self, node, evaluate) -> Value:
        """``and`` and ``or`` of conditions: what stands on the right runs in the lanes that the left leaves open."""
        first, *rest = node.values
        return self.joined(isinstance(node.op, ast.And), evaluate(first), [(v, evaluate) for v in rest])

    def joined(self, conjunction: bool, left: Value, rest) -> Value:
        """``left`` and each (node, how to evaluate it) of ``rest``, in the lanes that are not decided before it."""
        combine = "both" if conjunction else "either"
        for right_node, evaluate in rest:
            mask = self.fresh("m")
            with self.under(mask) as lines:
                right = evaluate(right_node)
            if not lines:
                if left.is_const and right.is_const:
                    yes = left.const and right.const if conjunction else left.const or right.const
                    left = replace(self.number(bool(yes)), literal=left.literal and right.literal)
                else:
                    left = Value(f"{combine}({left.code}, {right.code})", "bool")
                continue
            result = self.fresh("t")
            self.emit(f"{result} = {left.code}")
            self.emit(
                f"{mask}, {mask}_ = split({self.mask}, {result})"
                if conjunction
                else f"{mask}_, {mask} = split({self.mask}, {result})"
            )
            self.emit(f"if {mask} is not False:")
            self.lines += lines
            self.emit(f"    {result} = {combine}({result}, {right.code})")
            left = Value(result, "bool")
        return left
