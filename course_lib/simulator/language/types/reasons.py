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


@dataclass(frozen=True)
class TypedOperand:
    """An operand: its type, the reason for it, and its text in the source."""

    type: Type
    why: Why
    text: str = ""


def of_parts(result: Type, parts: Sequence[TypedOperand], widened: Reason) -> Why:
    """The reason why ``result``, computed from ``parts``, is double; ``widened`` if the operation itself widens."""
    if isinstance(result, TupleType):
        return tuple(of_parts(kind, [_item(part, i) for part in parts], widened) for i, kind in enumerate(result.items))
    if result not in DOUBLE:
        return None
    double = [part.why for part in parts if part.type in DOUBLE]
    if not all(double):
        return None
    if not double:
        return widened
    known = [why for why in double if isinstance(why, Reason)]
    computed = next((why.computed for why in known if why.computed), "")
    constant = all(why.constant for why in known)
    return replace(known[0], computed=computed, reported=any(why.reported for why in known), constant=constant)


def _item(part: TypedOperand, i: int) -> TypedOperand:
    kind = part.type.items[i] if isinstance(part.type, TupleType) else part.type
    return TypedOperand(kind, item_why(part.why, i), part.text)


def item_why(why: Why, i: int) -> Why:
    return why[i] if isinstance(why, tuple) else None


def promotion(
    line: int, expression: str, result: Type, parts: Sequence[TypedOperand]
) -> tuple[Promotion, str, Reason] | None:
    """The warning that ``expression``, double by accident, widens a single-precision operand; None if it does not.

    With it come the text of the operand that causes this, and the reason of the result.
    """
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
    operand = why.words if why.clause else f"{why.words}{',' * (',' in why.words)} is {cause.type}"
    single = "complex64" if result == "complex128" else str(narrow.type)
    advice = f"{single}({cause.text})"
    if isinstance(cause.why, Reason):
        made = cause.why.narrowed or cause.why.computed
        advice = made if made and single == "float32" else f"{single}({cause.why.names or cause.text})"
    return Promotion(line, operand, expression, advice, single, str(result)), cause.text, why


def narrowing_store(line: int, target: str, element: Type, why: Reason) -> Promotion:
    """The warning that the value of ``target``, an element of less than double precision, was computed in double."""
    narrow = element if element in SINGLE and element != "float16" else "float32"
    wide = "complex128" if narrow == "complex64" else "float64"
    cause = why.words if why.clause else f"{why.words}{',' * (',' in why.words)} is {wide}"
    return Promotion(line, cause, f"the value stored in {target}", why.computed, str(narrow), wide)


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
    if isinstance(part.why, Reason) and not part.text.isidentifier() and part.why.computed:
        return part.why.computed
    names = part.why.names if isinstance(part.why, Reason) else ""
    return f"float32({names or part.text})"


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _stated(part: TypedOperand) -> Reason:
    """The reason of an operand, with the operand named."""
    assert isinstance(part.why, Reason)
    if part.why.names == part.text:
        return part.why
    origin = part.why.origin or part.why.words
    return Reason(f"{part.text} is {part.type}: {origin}", clause=True, origin=origin)


def of_merge(a: Type, b: Type) -> Reason:
    """The reason for a double type that results from two types that are not double."""
    one, other = (f"an {kind}" if str(kind).startswith("int") else f"a {kind}" for kind in (a, b))
    return Reason(f"{one} and {other} that meet")
