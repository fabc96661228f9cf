"""Mistakes in a function that returns a number: what its text and its results show, and small changes.

A change is proven by the exercise's calls.
"""

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ....simulator.edits import expression
from ....simulator.repairs.bounds import lines_of
from ....simulator.repairs.kernel_syntax import Kernel, load_name, names_in
from ....simulator.repairs.table import Candidates, MakeCandidate, Texts, row
from ..exercise import Hint


class Operator(NamedTuple):
    """How an operator is written, what it gives, and what its right side is."""

    sign: str
    gives: str
    right: str = ""


OPERATORS: dict[type[ast.operator], Operator] = {
    ast.Add: Operator("+", "a sum", "a term"),
    ast.Sub: Operator("-", "a difference", "a term that is subtracted"),
    ast.Mult: Operator("*", "a product", "a factor"),
    ast.Div: Operator("/", "a quotient", "a divisor"),
    ast.FloorDiv: Operator("//", "a quotient without its remainder", "a divisor"),
    ast.Mod: Operator("%", "the remainder of a division", "the divisor of a remainder"),
    ast.Pow: Operator("**", "a power"),
    ast.BitXor: Operator("^", "the bits in which the two differ"),
    ast.BitOr: Operator("|", "the bits that are in one of the two"),
    ast.BitAnd: Operator("&", "the bits that are in both"),
}

#: The operators by which a missing parameter is tried, the likeliest first.
_TRIED_WITH_A_PARAMETER = (ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Add, ast.Sub)


def term_of(node: ast.BinOp) -> str:
    """What a side of an operation is: a factor, or a term."""
    return "factor" if isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv) else "term"


def unused_parameters(kernel: Kernel) -> list[str]:
    """The parameters that the function does not read: every one of an exercise matters."""
    read = {node.id for node in kernel.nodes_of(ast.Name) if isinstance(node.ctx, ast.Load)}
    return [parameter for parameter in kernel.arguments if parameter not in read]


@row(
    "unused",
    stands_for_a_parameter=Texts(
        hint="`{part}`: {old} stands where {parameter} belongs, so that the answer is the same whatever {parameter} is."
    ),
    parameter_missing=Texts(
        hint="`{part}` needs {parameter} as {role}: so far the answer is the same whatever {parameter} is."
    ),
    parameter_not_used=Texts(hint="{parameters} {are} not used, and the answer depends on {them}."),
)
def parameters_not_used(make: MakeCandidate, kernel: Kernel, unused: list[str]) -> Candidates:
    """A parameter that is not read: what stands in its place, or the factor or term that is missing beside a part."""
    for parameter in unused:
        for part in (*_numbers(kernel), *_read(kernel)):
            values = {"part": _around(kernel, part), "old": ast.unparse(part), "parameter": parameter}
            yield make("stands-for-a-parameter", part, (part, load_name(parameter)), **values)
        for part in _computed(kernel):
            for op in _TRIED_WITH_A_PARAMETER:
                values = {"part": ast.unparse(part), "parameter": parameter, "role": OPERATORS[op].right}
                yield make("parameter-missing", part, (part, ast.BinOp(part, op(), load_name(parameter))), **values)
    *before, last = unused
    values = {"parameters": f"{', '.join(before)} and {last}" if before else last}
    values |= {"are": "are", "them": "them"} if before else {"are": "is", "them": "it"}
    alone = len(kernel.tree.body) == 1  # a function of several lines may lack it in any of them
    yield make("parameter-not-used", kernel.tree.body[0] if alone else kernel.tree.lineno, certain=True, **values)


def _computed(kernel: Kernel) -> list[ast.expr]:
    """The parts of a function that may be a number: terms, names, numbers and calls."""
    kinds = (ast.BinOp, ast.Name, ast.Constant, ast.Call)
    found = [part for part in kernel.nodes_of(*kinds) if not isinstance(getattr(part, "ctx", None), ast.Store)]
    called = {node.func for node in kernel.nodes_of(ast.Call)}
    return [part for part in found if part not in called and isinstance(part, ast.expr)]


#: A relation of a result and the right one, with what is said if all results have it.
_RELATIONS: tuple[tuple[str, Callable[[float, float], float], str], ...] = (
    ("percent", lambda got, want: 100 * want - got, "this is the answer in percent: return a share, from 0 to 1."),
    (
        "complement",
        lambda got, want: 1 - want - got,
        "every result is 1 minus the right one: it is the share of the rest.",
    ),
    (
        "upside-down",
        lambda got, want: got * want - 1,
        "every result is 1 divided by the right one: the quotient is upside down.",
    ),
    ("one-less", lambda got, want: want - 1 - got, "every result is 1 less than the right one."),
    ("one-more", lambda got, want: want + 1 - got, "every result is 1 more than the right one."),
    (
        "rounded-down",
        lambda got, want: math.floor(want) - got,
        "every result is the right one without its digits after the point: // drops them, as int() does.",
    ),
    (
        "not-rounded-down",
        lambda got, want: math.floor(got) - want,
        "every result has digits after the point that the right one has not: round it down to a whole number.",
    ),
    (
        "not-rounded-up",
        lambda got, want: math.ceil(got) - want,
        "every result has digits after the point that the right one has not: round it up to a whole number.",
    ),
    ("sign", lambda got, want: want + got, "every result has the wrong sign."),
)


def relation(pairs: Sequence[tuple[float, float]]) -> Hint | None:
    """What all results, each with the right one, have in common."""
    finite = all(math.isfinite(got) and abs(got) < 1e100 for got, _ in pairs)
    if len(pairs) < 3 or not finite or len({want for _, want in pairs}) < 2:
        return None

    def zero(value: float, want: float) -> bool:
        return abs(value) <= 1e-9 * max(1.0, abs(want))

    for id, difference, text in _RELATIONS:
        if all(zero(difference(got, want), want) for got, want in pairs):
            return Hint(text, id)
    quotients = {round(got / want, 9) for got, want in pairs if want}
    if len(quotients) == 1 and all(want for _, want in pairs):
        (factor,) = quotients
        if factor not in (0, 1):
            return Hint(f"every result is {factor:g} times the right one.", "a-constant-factor")
    return None


@row(
    "formula",
    one_too_many_if_exact=Texts(
        hint="`{part}` is one too many where the division leaves no remainder: round up only what is left over."
    ),
)
def rounded_up_always(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``a // b + 1`` to round up."""
    for node in kernel.nodes_of(ast.BinOp):
        match node:
            case ast.BinOp(ast.BinOp(left, ast.FloorDiv(), right), ast.Add(), ast.Constant(1)):
                new = ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), left), ast.FloorDiv(), right))
                yield make("one-too-many-if-exact", node, (node, new), part=ast.unparse(node))


@row(
    "formula",
    precedence=Texts(hint="in `{part}` Python computes `{inner}` first: what belongs together needs parentheses."),
)
def missing_parentheses(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Parentheses that are missing: an operation that is done before the one that is meant."""
    for node in kernel.nodes_of(ast.BinOp):
        left, right = node.left, node.right
        values = {"part": ast.unparse(node)}
        if isinstance(right, ast.BinOp):
            first = ast.BinOp(left, node.op, right.left)
            new = ast.BinOp(first, right.op, right.right)
            yield make("precedence", node, (node, new), inner=ast.unparse(right), **values)
        if isinstance(left, ast.BinOp):
            new = ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right))
            yield make("precedence", node, (node, new), inner=ast.unparse(left), **values)
            if isinstance(left.left, ast.BinOp):  # a / b / c / d for (a / b) / (c / d)
                inner = left.left
                both = ast.BinOp(inner, left.op, ast.BinOp(left.right, node.op, right))
                yield make("precedence", node, (node, both), inner=ast.unparse(left), **values)
        if isinstance(left, ast.BinOp) and isinstance(right, ast.BinOp):
            middle = ast.BinOp(left.right, node.op, right.left)
            new = ast.BinOp(ast.BinOp(left.left, left.op, middle), right.op, right.right)
            yield make("precedence", node, (node, new), inner=ast.unparse(right), **values)


@row(
    "formula",
    larger_for_smaller=Texts(hint="`{part}` takes the {taken} of its values, and the {other} one is needed."),
)
def max_for_min(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """max instead of min, or the other way round."""
    for node in kernel.nodes_of(ast.Call):
        called = ast.unparse(node.func)
        if called in ("max", "min"):
            new = ast.Call(load_name("min" if called == "max" else "max"), node.args, node.keywords)
            taken, other = ("largest", "smallest") if called == "max" else ("smallest", "largest")
            yield make("larger-for-smaller", node, (node, new), part=ast.unparse(node), taken=taken, other=other)


@row(
    "formula",
    one_term_too_many=Texts(hint="`{part}` has one {term} too many: `{left}` alone is what is needed."),
    one_condition_too_many=Texts(hint="the condition `{part}` is one too many: without it the results are right."),
)
def surplus_parts(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A term of a sum or a product, or a condition beside others, that must go."""
    for node in kernel.nodes_of(ast.BinOp):
        for left in (node.left, node.right):
            values = {"part": ast.unparse(node), "left": ast.unparse(left), "term": term_of(node)}
            yield make("one-term-too-many", node, (node, left), **values)
    for test in kernel.nodes_of(ast.BoolOp):
        for part in test.values:
            others = [each for each in test.values if each is not part]
            left = ast.BoolOp(test.op, others) if len(others) > 1 else others[0]
            yield make("one-condition-too-many", test, (test, left), part=ast.unparse(part))


@row(
    "formula",
    other_operator=Texts(
        hint="`{part}`: the {sign} before `{right}` makes this {gives}, and what is needed here is {needed}."
    ),
    just_fits=Texts(hint="`{part}` {holds} where both sides are equal, and {must}."),
)
def wrong_operators(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Another operator of a term, or of a comparison."""
    for node in kernel.nodes_of(ast.BinOp):
        if operator := OPERATORS.get(type(node.op)):
            values = {"part": ast.unparse(node), "right": ast.unparse(node.right)}
            values |= {"sign": operator.sign, "gives": operator.gives}
            for other in OPERATORS:
                if other not in (type(node.op), ast.Pow):  # a power of a power may have millions of digits
                    new = ast.BinOp(node.left, other(), node.right)
                    yield make("other-operator", node, (node, new), needed=OPERATORS[other].gives, **values)
    pairs = ((ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt))
    for test in kernel.nodes_of(ast.Compare):
        for old, new_sign in pairs:
            if any(type(op) is old for op in test.ops):
                ops = [new_sign() if type(op) is old else op for op in test.ops]
                changed = ast.Compare(test.left, ops, test.comparators)
                values = {"holds": "also holds", "must": "must not hold there"}
                if new_sign in (ast.LtE, ast.GtE):
                    values = {"holds": "does not hold", "must": "must hold there, too"}
                yield make("just-fits", test, (test, changed), part=ast.unparse(test), **values)


@row(
    "formula",
    names_exchanged=Texts(hint="look at `{part}`: {one} and {other} are in each other's place."),
    stands_for_a_parameter=Texts(hint="`{part}`: {old} is right for some calls only: a parameter belongs there."),
    wrong_parameter=Texts(hint="`{part}`: {old} is the wrong parameter there."),
    one_name_or_number=Texts(hint="look at `{part}`: `{old}` is not what is needed there."),
    off_by_one=Texts(hint="look at `{part}`: `{old}` is one too {small} there."),
    off_by_one_throughout=Texts(hint="`{old}` is one too {small} in each of its places, in {lines}."),
)
def wrong_names_and_numbers(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Two names exchanged, another name or number, or one that is one too small or too large."""
    for statement in kernel.statements:
        if not isinstance(statement, ast.If | ast.For | ast.While):
            yield from _exchanges(make, kernel, statement)
    read = _read(kernel)
    for node in read:
        yield from _steps(make, kernel, node)
    for number in _numbers(kernel):
        for by, small in (("+ 1", "small"), ("- 1", "large")):
            values = {"part": _around(kernel, number), "old": ast.unparse(number), "small": small}
            yield make("off-by-one", number, (number, expression(f"{ast.unparse(number)} {by}")), **values)
    for part in (*read, *_numbers(kernel)):
        for new in _others(kernel, part):
            values = {"part": _around(kernel, part), "old": ast.unparse(part)}
            id = "one-name-or-number"
            if ast.unparse(new) in kernel.arguments and isinstance(part, ast.Constant):
                id = "stands-for-a-parameter"
            elif ast.unparse(new) in kernel.arguments and values["old"] in kernel.arguments:
                id = "wrong-parameter"
            yield make(id, part, (part, new), **values)
    for parameter in sorted({node.id for node in read}, key=lambda id: (id not in kernel.arguments, id)):
        places = [node for node in read if node.id == parameter]
        lines = lines_of(places)
        for by, small in (("+ 1", "small"), ("- 1", "large")) if len(places) > 1 else ():
            changes = [(node, expression(f"{parameter} {by}")) for node in places]
            yield make("off-by-one-throughout", places[0], *changes, old=parameter, small=small, lines=lines)


#: A function with more names and numbers than this has too many pairs of them to try all.
_MOST_PARTS = 6


@row(
    "formula",
    two_names_or_numbers=Texts(hint="look at `{part}`: `{one}` and `{other}` are not what is needed there{moved}."),
)
def two_names_and_numbers(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Two names or numbers of a short function that are others, or one too small or too large."""
    parts = sorted([*_read(kernel), *_numbers(kernel)], key=lambda node: (node.lineno, node.col_offset))
    for one, other in itertools.combinations(parts, 2) if len(parts) <= _MOST_PARTS else ():
        values = {"part": _shared(kernel, one, other), "one": ast.unparse(one), "other": ast.unparse(other)}
        for first, second in itertools.product(_others(kernel, one), _others(kernel, other)):
            values["moved"] = ""
            for new, left, old in ((second, one, other), (first, other, one)):
                if ast.unparse(new) == ast.unparse(left):
                    values["moved"] = f": `{ast.unparse(new)}` belongs in the place of `{ast.unparse(old)}`"
            yield make("two-names-or-numbers", one, (one, first), (other, second), **values)


def _read(kernel: Kernel) -> list[ast.Name]:
    """The places at which a parameter or a variable is read."""
    return [each for each in kernel.nodes_of(ast.Name) if isinstance(each.ctx, ast.Load) and each.id in kernel.locals]


def _numbers(kernel: Kernel) -> list[ast.Constant]:
    """The numbers of a function."""
    found = [node for node in kernel.nodes_of(ast.Constant) if isinstance(node.value, int | float)]
    return [node for node in found if not isinstance(node.value, bool)]


def _exchanges(make: MakeCandidate, kernel: Kernel, statement: ast.stmt) -> Candidates:
    """Two names of a statement exchanged."""
    read, shown = _read(kernel), ast.unparse(statement).splitlines()[0]
    for one, other in itertools.combinations(sorted({each.id for each in read}), 2):
        both = [each for each in names_in(statement) if each in read and each.id in (one, other)]
        if {each.id for each in both} == {one, other}:
            changes = [(each, load_name(other if each.id == one else one)) for each in both]
            yield make("names-exchanged", statement, *changes, part=shown, one=one, other=other)


def _steps(make: MakeCandidate, kernel: Kernel, node: ast.Name) -> Candidates:
    """A name that is one too small, or too large."""
    for by, small in (("+ 1", "small"), ("- 1", "large")):
        values = {"part": _around(kernel, node), "old": node.id, "small": small}
        yield make("off-by-one", node, (node, expression(f"{node.id} {by}")), **values)


def _others(kernel: Kernel, part: ast.expr) -> Iterator[ast.expr]:
    """The other names of a function, and 1, in the place of a name or a number."""
    for other in (*sorted({each.id for each in _read(kernel)}), "1"):
        if other != ast.unparse(part):
            yield expression(other)


def _shared(kernel: Kernel, one: ast.expr, other: ast.expr) -> str:
    """The smallest expression around both, or the statement of one."""
    around = [node for node in kernel.ancestors(other) if node in {*kernel.ancestors(one)}]
    return ast.unparse(around[0]).splitlines()[0].rstrip(":")


def _around(kernel: Kernel, node: ast.AST) -> str:
    """The expression around a name or a number."""
    above = kernel.parents[node]
    return ast.unparse(above if isinstance(above, ast.expr) else kernel.statement_of(node)).splitlines()[0].rstrip(":")


ROWS = (
    parameters_not_used,
    rounded_up_always,
    missing_parentheses,
    max_for_min,
    surplus_parts,
    wrong_operators,
    wrong_names_and_numbers,
    two_names_and_numbers,
)
