"""Comparisons and conditions: ``<``, ``and``, ``or``, ``not``."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce

from ..program.builders import after, applied, cast, reusable, reusable_items
from ..program.nodes import Apply, CompileTimeObject, Const, Expr, Logical, Select, Temporary
from ..source.errors import refuse
from ..tables import operators
from ..types import float64_reasons, typing_rules
from ..types.float64_reasons import TypedOperand
from ..types.unification import unify_types
from ..types.value_types import DTYPE, NONE, SCALARS, OptionalType, TupleType, Type, TypingError, describe_type
from . import tuples
from .translated_expression import Translated
from .translation import Translation


def truth(translation: Translation, value: Expr, line: int) -> Expr:
    """``value`` as a condition: a number that is not 0, a tuple that is not empty."""
    if value.type == "bool":
        return value
    if isinstance(value.type, TupleType):
        return after((value,), translation.number(len(value.type.items) > 0))
    if value.type == NONE:
        return after((value,), translation.number(False))
    if not value.is_scalar:
        how = "x is not None" if isinstance(value.type, OptionalType) else "x > 0"
        raise TypingError(f"{describe_type(value.type)} is not a condition; write a comparison, as in {how}")
    if value.type == "float16":
        raise TypingError("numba cannot take a float16 as a condition; compare it, as in x != 0")
    if isinstance(value, Const):
        return replace(translation.number(bool(value.value)), literal=value.literal)
    zero = Const(type=value.type, value=DTYPE[str(value.type)].type(0))
    return applied(operators.COMPARISONS["NotEq"], (value, zero), "bool", line)


def condition(translation: Translation, node: ast.expr) -> Expr:
    """Translate ``node`` as a condition; since only its truth is needed, ``n and x`` may mix types."""
    if isinstance(node, ast.BoolOp):
        ends = isinstance(node.op, ast.Or)
        parts: list[Expr] = []
        for operand in node.values:
            parts.append(condition(translation, operand))
            if decided(translation, operand) is ends:  # no lane evaluates the next one
                break
        return logical(translation, not ends, parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if isinstance(node.operand, ast.Name):
            value = translation.unwrap_optional(node.operand, translation.expr(node.operand))
            return negated(truth(translation, value, node.lineno), node.lineno)
        return negated(condition(translation, node.operand), node.lineno)
    value = translation.expr(node)
    if value.type == OptionalType("bool"):  # which numba takes, but no other type that may be None
        value = translation.unwrap_optional(node, value)
    return truth(translation, value, node.lineno)


def decided(translation: Translation, node: ast.expr) -> bool | None:
    """The outcome of a condition, if numba drops the other branch: of a constant, or one operator between constants.

    Each part of ``and``, ``or`` and a chain of comparisons is a branch of its own.
    """
    match node:
        case ast.Name(name) if name in translation.env and translation.env[name].outcome is not None:
            return translation.env[name].outcome
        case ast.UnaryOp(ast.Not(), ast.Compare(_, [ast.In()], _)) | ast.Compare(_, [ast.NotIn()], _):
            return None  # it is not one operator to numba
        case ast.UnaryOp(ast.Not(), operand):
            outcome = decided(translation, operand)
            return None if outcome is None else not outcome
        case ast.BoolOp(op, values):
            ends = isinstance(op, ast.Or)
            outcomes = []
            for part in values:
                outcomes.append(decided(translation, part))
                if outcomes[-1] is ends:
                    return ends
            return None if None in outcomes else not ends
        case ast.Compare(left, [_, _, *_], comparators):
            return decided(translation, ast.BoolOp(ast.And(), [*_links(node, [left, *comparators])]))
        case ast.Compare(left, _, [right]) | ast.BinOp(left, _, right):
            parts = [left, right]
        case _:
            parts = [node]
    value = translation.expr(node) if all(_known(translation, part) for part in parts) else None
    if value is not None and isinstance(value.type, TupleType):
        value = truth(translation, value, node.lineno)
    return bool(value.value) if isinstance(value, Const) else None


def _known(translation: Translation, node: ast.expr) -> bool:
    """Whether numba knows the value of ``node`` before it infers types, if it is a constant."""
    if isinstance(node, ast.Name) and node.id in translation.env:
        return not translation.env[node.id].joined
    if not isinstance(node, (ast.Name, ast.Attribute)):  # it makes the tuples that a kernel writes out at run time
        return not any(isinstance(part, (ast.Name, ast.Tuple)) for part in ast.walk(node))
    value = translation.expr(node)
    return not isinstance(value, Const) or value.literal


def negated(value: Expr, line: int) -> Expr:
    return applied(operators.NOT, (value,), "bool", line)


def logical(translation: Translation, conjunction: bool, parts: list[Expr]) -> Expr:
    """``and`` or ``or`` of conditions; a constant if they are constants."""
    first, *rest = parts
    for part in list(rest):
        if not (isinstance(first, Const) and isinstance(part, Const)):
            break
        if conjunction:
            yes = bool(first.value and part.value)
        else:
            yes = bool(first.value or part.value)
        first = replace(translation.number(yes), literal=first.literal and part.literal)
        del rest[0]
    if not rest:
        return first
    return Logical(conjunction=conjunction, parts=(first, *rest), type="bool")


def compare(translation: Translation, node: ast.Compare) -> Expr:
    if len(node.ops) > 1:
        return _chain(translation, node)
    if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return _identity(translation, node, isinstance(node.ops[0], ast.Is))
    texts = [_text(translation, part) for part in (node.left, node.comparators[0])]
    if None not in texts and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return translation.number((texts[0] == texts[1]) == isinstance(node.ops[0], ast.Eq))
    left, right = translation.expr(node.left), translation.expr(node.comparators[0])
    return compared(translation, node, type(node.ops[0]).__name__, left, right)


def _text(translation: Translation, node: ast.expr) -> str | None:
    """A string that is known when the kernel is compiled."""
    obj = node.value if isinstance(node, ast.Constant) else translation.constant_object(node)
    return obj if isinstance(obj, str) else None


def _chain(translation: Translation, node: ast.Compare) -> Expr:
    """``a < b < c``: c is evaluated in the lanes where a < b."""
    *between, last = node.comparators
    sides = [node.left, *(Translated(reusable(translation.scalar(part)), part) for part in between), last]
    return logical(translation, True, [compare(translation, link) for link in _links(node, sides)])


def _links(node: ast.Compare, sides: list[ast.expr]) -> list[ast.Compare]:
    """The comparisons of a chain, each of two neighbours."""
    pairs = zip(sides, node.ops, sides[1:], strict=False)
    return [ast.copy_location(ast.Compare(a, [op], [b]), node) for a, op, b in pairs]


def compared(translation: Translation, node: ast.Compare, name: str, left: Expr, right: Expr) -> Expr:
    """Compare ``left`` and ``right``; ``name`` is the operator's name in Python's syntax tree."""
    if name in ("In", "NotIn"):
        found = _membership(translation, node, left, right)
        return found if name == "In" else negated(found, node.lineno)
    if name not in operators.COMPARISONS:
        refuse(node, f"{ast.unparse(node)}: compare numbers with < <= > >= == !=")
    if isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
        if name in STRICT:
            return _ordered(translation, node, name, left, right)
        result = _equal(translation, node, left, right)
        return result if name == "Eq" else negated(result, node.lineno)
    members = _members((left, right))
    if members is not None and name in ("Eq", "NotEq"):
        return translation.number((members[0] is members[1]) == (name == "Eq"))
    if name in ("Eq", "NotEq") and NONE in (left.type, right.type):
        for value in (left, right):
            if isinstance(value.type, OptionalType):
                return _is_none(value, node.lineno, name == "Eq")
    left = translation.unwrap_optional(node.left, left)
    right = translation.unwrap_optional(node.comparators[-1], right)
    for value in (left, right):
        if not value.is_scalar:
            refuse(node, f"{ast.unparse(node)} compares {describe_type(value.type)}; compare single numbers")
    kind = typing_rules.comparison(str(left.type), str(right.type), name not in ("Eq", "NotEq"))
    if "uint64" in (left.type, right.type) and kind == "float64":
        left, right = cast(left, kind), cast(right, kind)
    result = applied(operators.COMPARISONS[name], (left, right), "bool", node.lineno)
    return replace(result, text=ast.unparse(node)) if isinstance(result, Apply) else result


def _members(values: Sequence[Expr]) -> tuple[Enum, Enum] | None:
    """Both values, if they are members of enumerations; else None."""
    objects = [value.obj for value in values if isinstance(value, CompileTimeObject)]
    members = [obj for obj in objects if isinstance(obj, Enum)]
    return (members[0], members[1]) if len(members) == 2 else None


#: For each order comparison, the one that decides at the first items that differ.
STRICT = {"Lt": "Lt", "LtE": "Lt", "Gt": "Gt", "GtE": "Gt"}


def _ordered(translation: Translation, node: ast.Compare, name: str, left: Expr, right: Expr) -> Expr:
    """``left < right`` of tuples: the first items that differ decide, then the lengths."""
    sides = reusable_items(left), reusable_items(right)
    a, b = map(tuples.items, sides)
    lengths = (translation.number(len(part), literal=False) for part in (a, b))
    result = applied(operators.COMPARISONS[name], tuple(lengths), "bool", node.lineno)
    for one, other in reversed(list(zip(a, b, strict=False))):
        equal = _equal(translation, node, one, other)
        rest = applied(operators.AND, (equal, result), "bool", node.lineno)
        decides = compared(translation, node, STRICT[name], one, other)
        result = applied(operators.OR, (decides, rest), "bool", node.lineno)
    return after(sides, result)


def _equal(translation: Translation, node: ast.Compare, left: Expr, right: Expr) -> Expr:
    """``left == right``, of numbers or tuples of them."""
    if not (isinstance(left.type, TupleType) and isinstance(right.type, TupleType)):
        return compared(translation, node, "Eq", left, right)
    sides = left, right = reusable_items(left), reusable_items(right)
    assert isinstance(left.type, TupleType) and isinstance(right.type, TupleType)
    if len(left.type.items) != len(right.type.items):
        return after(sides, translation.number(False))
    result: Expr = translation.number(True)
    for a, b in zip(tuples.items(left), tuples.items(right), strict=True):
        result = applied(operators.AND, (result, _equal(translation, node, a, b)), "bool", node.lineno)
    return after(sides, result)


def _membership(translation: Translation, node: ast.Compare, left: Expr, right: Expr) -> Expr:
    """``left in right``, of a number and a tuple."""
    if not isinstance(right.type, TupleType):
        refuse(
            node,
            f"{ast.unparse(node)}: a kernel can look for a number only in a tuple, such as "
            "(1, 2, 4); loop over an array and compare",
        )
    tuples.item_type(right, node.comparators[-1])
    left = reusable(left)
    result, *parts = (_equal(translation, node, left, item) for item in tuples.items(right))
    for part in parts:
        result = applied(operators.OR, (result, part), "bool", node.lineno)
    return result


def _identity(translation: Translation, node: ast.Compare, same: bool) -> Expr:
    """``x is None``, which is known when the kernel is compiled, as are other types; ``x is True`` of a bool."""
    sides = (node.left, node.comparators[0])
    values = [translation.expr(side) for side in sides]
    if any(isinstance(side, ast.Constant) and isinstance(side.value, bool) for side in sides):
        if all(value.type == "bool" for value in values):
            found = applied(operators.COMPARISONS["Eq"], tuple(values), "bool", node.lineno)
            return found if same else negated(found, node.lineno)
        return after(values, translation.number(not same))
    members = _members(values)
    if members is not None:
        return translation.number((members[0] is members[1]) == same)
    if not any(isinstance(side, ast.Constant) and side.value is None for side in sides):
        refuse(node, f"{ast.unparse(node)}: is compares with None only; compare numbers with == or !=")
    for value in values:
        if isinstance(value.type, OptionalType):
            return _is_none(value, node.lineno, same)
    both_are_none = all(value.type == NONE for value in values)
    return after(values, translation.number(both_are_none == same))


def _is_none(value: Expr, line: int, same: bool) -> Expr:
    have = Apply(code="{0}[0]", args=(value,), type="bool", line=line)
    return negated(have, line) if same else have


def and_or(translation: Translation, node: ast.BoolOp) -> Expr:
    """``and`` and ``or`` as values: the value of the operand that decides."""
    decision = _decision(translation, node)
    chosen = decision.value({True, False})
    assert chosen is not None
    values = _values_in(chosen)
    kind = reduce(unify_types, (value.type for value in values))
    if kind not in SCALARS:
        refuse(node, f"{ast.unparse(node)} has no type that holds all its values; write it with if and else")
    if kind == "bool":  # a condition needs no value in separate lanes
        return decision.truth
    operands = tuple(TypedOperand(value.type, value.why) for value in values)
    types = " and ".join(str(value.type) for value in values)
    widened = float64_reasons.Reason(f"{ast.unparse(node)}, of {types}")
    reason = float64_reasons.reason_of_operands(kind, operands, widened)
    return Temporary(value=_selected(chosen, kind, node.lineno), type=kind, why=reason)


@dataclass(frozen=True)
class Alternatives:
    """The value is ``ended`` in the lanes in which ``test`` has the outcome ``ending``, and ``rest`` in the others.

    None: no lane has that value.
    """

    test: Expr
    ending: bool
    ended: "Chosen | None"
    rest: "Chosen | None"


#: The value of ``and`` or ``or``: that of one operand, or one of several.
Chosen = Expr | Alternatives


@dataclass(frozen=True)
class Decision(ABC):
    """An operand of ``and`` or ``or``: its ``truth``, and the ``outcomes`` (True, False) that this may have."""

    truth: Expr
    outcomes: frozenset[bool]

    @abstractmethod
    def value(self, wanted: set[bool]) -> Chosen | None:
        """The operand's value in the lanes in which its outcome is one of ``wanted``; None if there are none.

        In ``a and b or c`` the value of a is never the result, so its type does not affect that of the result.
        """


@dataclass(frozen=True)
class DecidingNumber(Decision):
    """An operand that is a number."""

    number: Expr

    def value(self, wanted: set[bool]) -> Chosen | None:
        return self.number if wanted & self.outcomes else None


@dataclass(frozen=True)
class Junction(Decision):
    """An operand that is an ``and`` (a ``conjunction``) or an ``or``, of ``operands``.

    ``ends_early``: the outcome of the last one is known to end the evaluation, so that there is none of those after it.
    """

    conjunction: bool
    operands: tuple[Decision, ...]
    ends_early: bool

    def value(self, wanted: set[bool]) -> Chosen | None:
        return self._value_from(0, wanted)

    def _value_from(self, number: int, wanted: set[bool]) -> Chosen | None:
        """The value in the lanes that evaluate the operand of this number."""
        operand, ending = self.operands[number], not self.conjunction
        is_last = number + 1 == len(self.operands)
        if is_last and not self.ends_early:
            return operand.value(wanted)
        rest = None if is_last else self._value_from(number + 1, wanted)
        if ending not in wanted:  # no operand has ended the evaluation
            return rest
        ended = operand.value({ending})
        if ended is None and rest is None:
            return None
        return Alternatives(operand.truth, ending, ended, rest)


def _decision(translation: Translation, node: ast.expr) -> Decision:
    """Translate an operand of ``and`` or ``or``, which may be another ``and`` or ``or``."""
    if not isinstance(node, ast.BoolOp):
        number = reusable(translation.as_number(node, translation.expr(node)))
        test = truth(translation, number, node.lineno)
        outcome = decided(translation, node)
        return DecidingNumber(test, frozenset({True, False} if outcome is None else {outcome}), number)
    conjunction = isinstance(node.op, ast.And)
    ending = not conjunction
    operands: list[Decision] = []
    for operand in node.values:
        operands.append(_decision(translation, operand))
        if operands[-1].outcomes == {ending}:  # no lane evaluates the next one
            break
    outcomes = operands[-1].outcomes & {conjunction}
    if any(ending in operand.outcomes for operand in operands):
        outcomes |= {ending}
    test = logical(translation, conjunction, [operand.truth for operand in operands])
    return Junction(test, outcomes, conjunction, tuple(operands), len(operands) < len(node.values))


def _values_in(chosen: Chosen | None) -> list[Expr]:
    if chosen is None:
        return []
    if isinstance(chosen, Alternatives):
        return _values_in(chosen.ended) + _values_in(chosen.rest)
    return [chosen]


def _selected(chosen: Chosen, kind: Type, line: int) -> Expr:
    """The expression of the value, converted to ``kind``."""
    if isinstance(chosen, Expr):
        return cast(chosen, kind)
    if chosen.ended is None or chosen.rest is None:
        only = chosen.rest if chosen.ended is None else chosen.ended
        assert only is not None
        return after((chosen.test,), _selected(only, kind, line))
    ended, rest = _selected(chosen.ended, kind, line), _selected(chosen.rest, kind, line)
    yes, no = (ended, rest) if chosen.ending else (rest, ended)
    return Select(test=chosen.test, yes=yes, no=no, type=kind, line=line)
