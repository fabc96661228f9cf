"""The reason why a value is float64 (or complex128) although the kernel does not ask for it.

The kernel *asks for* double precision by an array's type or ``float64(x)``. Any other value of double precision has
a reason, in words: it is a literal, a Python number, or the result of mixing types. The reason of a tuple is the tuple
of its items' reasons.

The result of an operation is of double precision because some of its operands are. If the kernel asks for one of these,
it asks for the result. If all have reasons, the first is that of the result. If no operand is of double precision, the
operation itself widens them, and that is the reason.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from .value_types import DOUBLE, TupleType, Type


@dataclass(frozen=True)
class Reason:
    """The reason why a value is of double precision, in words.

    ``names`` is the expression that the words already name, as in "the literal 2.5"; ``clause``: they have a verb, as
    in "x is float64: the literal 2.5", where "the literal 2.5" is the ``origin``. ``narrowed`` is what to write for the
    expression to get a float32. ``computed`` is what to write for the arithmetic that made the value, so that it is
    done in float32; it is empty where there was none, as for a literal. ``reported``: a warning has been given.
    ``constant``: it was computed from constants alone, which the compiler does.
    """

    words: str
    names: str = ""
    clause: bool = False
    narrowed: str = ""
    origin: str = ""
    computed: str = ""
    reported: bool = False
    constant: bool = False


Why = Reason | tuple["Why", ...] | None
#: Types of less than double precision.
SINGLE = ("float16", "float32", "complex64")


@dataclass(frozen=True)
class Promotion:
    """Arithmetic in float64 that the kernel does not ask for: with a float32, or for an element that is no float64.

    ``narrow`` and ``wide`` are these two types, or similar ones: float16 or complex64; complex128. ``advice`` is what
    to write to stay in ``narrow``.
    """

    line: int
    operand: str
    expression: str
    advice: str
    narrow: str = "float32"
    wide: str = "float64"


class Widening(NamedTuple):
    """How an operation makes a value of double precision: ``words``, which the types of its operands follow.

    ``of_operands_alone``: it does so because of their types alone; converted to float32, they give a float32.
    """

    words: str
    of_operands_alone: bool = False


#: The operations that widen: of a function whose result has a type of its own, of one of math, and of a division.
OF = Widening("of")
MATH_OF = Widening("math of", of_operands_alone=True)
QUOTIENT_OF = Widening("a quotient of")


class AccidentalDouble(NamedTuple):
    """An operation that widens an operand by accident: the warning, the operand's text, and the result's reason."""

    warning: Promotion
    operand: str
    why: Reason


@dataclass(frozen=True)
class TypedOperand:
    """An operand: its type, the reason for it, and its text in the source."""

    type: Type
    why: Why
    text: str = ""


def reason_of_operands(result: Type, parts: Sequence[TypedOperand], widened: Reason) -> Why:
    """The reason why ``result``, computed from ``parts``, is double; ``widened`` if the operation itself widens."""
    if isinstance(result, TupleType):
        reasons_of_items = []
        for i, kind in enumerate(result.items):
            items = [_item(part, i) for part in parts]
            reasons_of_items.append(reason_of_operands(kind, items, widened))
        return tuple(reasons_of_items)
    if result not in DOUBLE:
        return None
    double = [part.why for part in parts if part.type in DOUBLE]
    if not all(double):
        return None  # the kernel asks for one of them
    if not double:
        return widened
    reasons = [why for why in double if isinstance(why, Reason)]
    computed = [why.computed for why in reasons if why.computed]
    return replace(
        reasons[0],
        computed=computed[0] if computed else "",
        reported=any(why.reported for why in reasons),
        constant=all(why.constant for why in reasons),
    )


def _item(part: TypedOperand, i: int) -> TypedOperand:
    kind = part.type.items[i] if isinstance(part.type, TupleType) else part.type
    return TypedOperand(kind, item_why(part.why, i), part.text)


def item_why(why: Why, i: int) -> Why:
    return why[i] if isinstance(why, tuple) else None


def accidental_double(
    line: int, expression: str, result: Type, parts: Sequence[TypedOperand]
) -> AccidentalDouble | None:
    """Whether ``expression``, double by accident, widens a single-precision operand; None if it does not."""
    narrow = next((part for part in parts if part.type in SINGLE), None)
    double = next((part for part in parts if part.type in DOUBLE), None)
    cause = double or next((part for part in parts if part.type not in SINGLE), None)
    if narrow is None or cause is None:
        return None
    if cause is double:
        why = _stated(double)
    else:
        words = f"{cause.text} is {cause.type}, and {narrow.type} with {cause.type} gives {result}"
        why = Reason(words, clause=True)
    single = "complex64" if result == "complex128" else str(narrow.type)
    warning = Promotion(line, _clause(why, str(cause.type)), expression, _narrowed(cause, single), single, str(result))
    return AccidentalDouble(warning, cause.text, why)


def _narrowed(cause: TypedOperand, single: str) -> str:
    """What to write for the operand that widens, so that it is of the type ``single``."""
    if not isinstance(cause.why, Reason):
        return f"{single}({cause.text})"
    in_float32 = cause.why.narrowed or cause.why.computed
    if in_float32 and single == "float32":
        return in_float32
    return f"{single}({cause.why.names or cause.text})"


def _clause(why: Reason, kind: str) -> str:
    """A reason as a clause, which says of what has it that it is of this type."""
    if why.clause:
        return why.words
    comma = "," if "," in why.words else ""
    return f"{why.words}{comma} is {kind}"


def narrowing_store(line: int, target: str, element: Type, why: Reason) -> Promotion:
    """The warning that the value of ``target``, an element of less than double precision, was computed in double."""
    narrow = str(element) if element in SINGLE and element != "float16" else "float32"
    wide = "complex128" if narrow == "complex64" else "float64"
    return Promotion(line, _clause(why, wide), f"the value stored in {target}", why.computed, narrow, wide)


def in_float32(node: ast.AST, parts: Sequence[TypedOperand]) -> str:
    """What to write for the arithmetic ``node``, of ``parts``, so that it is done in float32."""
    match node, [_converted(part) for part in parts]:
        case ast.BinOp(op=operation), [left, right]:
            return ast.unparse(ast.BinOp(_parsed(left), operation, _parsed(right)))
        case ast.Call(function), converted:
            return f"{ast.unparse(function)}({', '.join(converted)})"
        case _, converted:  # an augmented assignment: the first operand that is float64 decides
            double = (text for part, text in zip(parts, converted, strict=True) if part.type in DOUBLE)
            return next(double, converted[0])


def _converted(part: TypedOperand) -> str:
    """What to write for an operand, so that it is a float32."""
    if not isinstance(part.why, Reason):
        return f"float32({part.text})"
    if part.why.computed and not part.text.isidentifier():
        return part.why.computed
    return f"float32({part.why.names or part.text})"


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _stated(part: TypedOperand) -> Reason:
    """The reason of an operand, with the operand named."""
    assert isinstance(part.why, Reason)
    if part.why.names == part.text:
        return part.why
    origin = part.why.origin or part.why.words
    return Reason(f"{part.text} is {part.type}: {origin}", clause=True, origin=origin)


def reason_of_merge(a: Type, b: Type) -> Reason:
    """The reason for a double type that results from two types that are not double."""
    return Reason(f"{_with_article(a)} and {_with_article(b)} that meet")


def _with_article(kind: Type) -> str:
    """``an int32``, ``a float32``."""
    article = "an" if str(kind).startswith("int") else "a"
    return f"{article} {kind}"
