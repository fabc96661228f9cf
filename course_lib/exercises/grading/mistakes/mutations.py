"""Rows of mutations, small changes of any statement, condition, operator, name or number.

Each is tried at every place where it can be made, after the likely mistakes, and says where it helps.
"""

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from ....simulator.edits import Change, expression
from ....simulator.repairs.kernel_syntax import (
    Kernel,
    array_of,
    bound_names,
    first_line,
    if_or_loop,
    in_lines,
    indices,
    is_number,
    is_shape,
    load_name,
    names_in,
    same_text,
    subscripts,
)
from ....simulator.repairs.table import Candidates, MakeCandidate, Texts, row
from .formulas import OPERATORS, term_of
from .in_text import ExerciseFacts
from .likely_mistakes import exchanged, other_direction

Changes = tuple[Change, ...]


# ---- guards ---------------------------------------------------------------------------------------------------------


@row(
    "out-of-bounds",
    index_without_guard=Texts(
        hint="nothing keeps `{place}` inside {array}: load it only where {missing}, and use 0 elsewhere."
    ),
    guard_lacks_an_index=Texts(
        hint="the condition of `{place}`{at} does not test all of its indices against the shape of {array}: {missing} "
        "is missing."
    ),
)
def unguarded_loads(make: MakeCandidate, kernel: Kernel, finding: Any) -> Candidates:
    """A load of a matrix whose condition does not test what it indexes: 0 outside, as zeros do no harm to a sum."""
    for node in kernel.statements:
        if not isinstance(node, ast.Assign):
            continue
        places = [each for each in subscripts(node.value) if array_of(each) in kernel.arrays]
        if len(places) != 1:
            continue
        (place,) = places
        array = ast.unparse(place.value)
        tests = [f"{ast.unparse(index)} < {array}.shape[{n}]" for n, index in enumerate(indices(place))]
        full = expression(" and ".join(tests))
        above = kernel.parents[place]
        zero = expression("0")
        if isinstance(above, ast.IfExp) and above.body is place:
            changes: Changes = ((above.test, full),)
            written: ast.expr | None = above.test
        elif isinstance(above, ast.Assign):
            owner = kernel.parents[node]
            written = owner.test if isinstance(owner, ast.If) and node in owner.body else None
            new = ast.IfExp(full, place, zero)
            changes = ((place, new),)
        else:
            written, changes = None, ((place, ast.IfExp(full, place, zero)),)
        tested = (
            set()
            if written is None
            else {ast.unparse(each) for each in ast.walk(written) if isinstance(each, ast.expr)}
        )
        values = {"place": ast.unparse(place), "array": array, "at": ""}
        lacking = [t for t, index in zip(tests, indices(place), strict=True) if ast.unparse(index) not in tested]
        id = "guard-lacks-an-index" if written is not None else "index-without-guard"
        if lacking or written is None:
            yield make(id, node, *changes, missing=" and ".join(f"`{t}`" for t in lacking or tests), **values)
        if written is None:
            continue
        # the whole of the condition, with other sizes or other comparisons than it has
        wrong = [t for t in tests if t not in lacking]
        yield make(id, node, *changes, missing=" and ".join(f"`{t}`" for t in lacking or wrong), **values)


@row(
    "out-of-bounds",
    guard_lacks_an_index=Texts(
        hint="the condition of `{place}`{at} does not test all of its indices against the shape of {array}: {missing} "
        "is missing."
    ),
)
def unguarded_stores(make: MakeCandidate, kernel: Kernel, finding: Any) -> Candidates:
    """A store whose if tests one of its indices, and not the other."""
    node = kernel.statement(finding.line)
    owner = kernel.parents[node] if node is not None else None
    if not isinstance(node, ast.Assign) or not isinstance(owner, ast.If) or node not in owner.body:
        return
    tested = {ast.unparse(each) for each in ast.walk(owner.test) if isinstance(each, ast.expr)}
    for place in (target for target in node.targets if isinstance(target, ast.Subscript)):
        array = array_of(place)
        tests = {
            ast.unparse(index): f"{ast.unparse(index)} < {array}.shape[{n}]" for n, index in enumerate(indices(place))
        }
        lacking = [test for index, test in tests.items() if index not in tested]
        if array in kernel.arrays and len(lacking) == 1 < len(tests):
            both = ast.BoolOp(ast.And(), [owner.test, expression(lacking[0])])
            values = {"place": ast.unparse(place), "array": array, "missing": f"`{lacking[0]}`"}
            yield make("guard-lacks-an-index", owner, (owner.test, both), at=f" (line {owner.lineno})", **values)


@row(
    "out-of-bounds",
    range_beyond_the_size=Texts(
        hint="in the last threads `{end}` is beyond `{size}`, and no thread may go beyond that."
    ),
)
def ranges_beyond_sizes(make: MakeCandidate, kernel: Kernel, finding: Any) -> Candidates:
    """A range that begins and ends with a thread's number: the last threads' shares are shorter."""
    named = [size for size in kernel.sizes if size.isidentifier()]
    products = [f"{one} * {other}" for one, other in itertools.combinations(named, 2)]
    for loop in kernel.nodes_of(ast.For):
        match loop.iter:
            case ast.Call(ast.Name("range"), [_, end, *_]) if kernel.thread_numbers & {
                each.id for each in names_in(end)
            }:
                for size in (*products, *kernel.sizes):
                    new = expression(f"min({ast.unparse(end)}, {size})")
                    yield make("range-beyond-the-size", loop, (end, new), end=ast.unparse(end), size=size)


@row(
    "uninitialized-read",
    never_filled=Texts(hint="{array} is read here, and no line stores anything into it{like}."),
)
def arrays_never_filled(make: MakeCandidate, kernel: Kernel, finding: Any) -> Candidates:
    """A shared array into which nothing is stored: the text shows it."""
    used = [each for each in kernel.nodes_of(ast.Name) if each.id == finding.array]
    handed_on = any(
        not isinstance(kernel.parents[each], ast.Subscript) for each in used if isinstance(each.ctx, ast.Load)
    )
    stored = {array_of(place) for place in kernel.nodes_of(ast.Subscript) if isinstance(place.ctx, ast.Store)}
    if finding.array in kernel.shared - stored and not handed_on:
        like = "".join(
            f": fill it, as line {fill.statement.lineno} fills {array_of(fill.target)}" for fill in kernel.fills[:1]
        )
        yield make("never-filled", finding.line, certain=True, array=finding.array, like=like)


@row(
    "wrong",
    half_a_guard=Texts(hint="`{test}` does not test {name}: a thread whose {name} is outside comes here, too."),
)
def incomplete_guards(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A condition that tests one of a thread's two numbers."""
    for guard in kernel.nodes_of(ast.If):
        tested = {each.id for each in names_in(guard.test)}
        for lacking in sorted(kernel.thread_numbers - tested) if tested & kernel.thread_numbers else ():
            for size in kernel.sizes:
                both = ast.BoolOp(ast.And(), [guard.test, expression(f"{lacking} < {size}")])
                yield make("half-a-guard", guard, (guard.test, both), test=ast.unparse(guard.test), name=lacking)


@row(
    "wrong",
    for_the_others=Texts(
        hint="what this if does happens where `{written}` holds, and it must happen where that does not hold."
    ),
)
def negated_conditions(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A condition that must hold where it does not."""
    for guard in kernel.nodes_of(ast.If):
        others = ast.UnaryOp(ast.Not(), guard.test)
        yield make("for-the-others", guard, (guard.test, others), written=ast.unparse(guard.test))


@row(
    "wrong",
    or_for_and=Texts(hint="`{test}` holds where one of the two does, and both must: write and."),
    too_many_by_one=Texts(
        hint="`{written}` also {holds} where both sides are equal, and that is one too many: numbers begin at 0, so "
        "the last one is the size minus 1."
    ),
    not_if_equal=Texts(hint="`{written}` also holds where both sides are equal, and must not hold there."),
    one_too_few=Texts(hint="`{written}` leaves out the last one that is needed: `{new}` does not."),
    compared_with_another_size=Texts(hint="`{written}` compares with {size}, which is {of}{used}."),
    sizes_exchanged=Texts(hint="{size} in `{written}` and {other} in `{beside}` are in each other's place."),
)
def wrong_comparisons(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Conditions: or instead of and, <= instead of <, and other sizes, one or two of them exchanged."""
    for test in kernel.nodes_of(ast.BoolOp):
        if isinstance(test.op, ast.Or):
            yield make("or-for-and", test, (test, ast.BoolOp(ast.And(), test.values)), test=ast.unparse(test))
    wider: list[tuple[ast.Compare, ast.Compare, str]] = []
    for node in kernel.nodes_of(ast.Compare):
        for old, new, id in _OTHER_SIGNS:
            if any(isinstance(op, old) for op in node.ops):
                signs = [new() if isinstance(op, old) else op for op in node.ops]
                changed = ast.Compare(node.left, signs, node.comparators)
                wider += [(node, changed, id)]
                values = {"written": ast.unparse(node), "new": ast.unparse(changed), "holds": "holds"}
                yield make(id, node, (node, changed), **values)
    several = [each for each in wider if each[2] == "too-many-by-one"]
    if len(several) > 1:
        node = several[0][0]
        less = [(old, new) for old, new, _ in several]
        written = "` and `".join(ast.unparse(old) for old, _ in less)
        yield make("too-many-by-one", node, *less, written=written, new="", holds="hold")
    named = [size for size in kernel.sizes if size.isidentifier()]
    sizes = named if len(named) > 1 else kernel.sizes
    compared = [
        (node, part)
        for node in kernel.nodes_of(ast.Compare)
        for part in (node.left, *node.comparators)
        if ast.unparse(part) in sizes
    ]
    for node, part in compared:
        for size in sizes:
            if size != ast.unparse(part):
                values = {"written": ast.unparse(node), "size": ast.unparse(part)}
                values["of"] = _size_of(kernel, ast.unparse(part)) or "the size of something else"
                values["used"] = _used_as(kernel, node)
                yield make("compared-with-another-size", node, (part, expression(size)), **values)
    for (node, part), (beside, other) in itertools.combinations(compared, 2):
        if not same_text(part, other):
            values = {"written": ast.unparse(node), "size": ast.unparse(part)}
            values |= {"beside": ast.unparse(beside), "other": ast.unparse(other)}
            exchange = [(part, expression(ast.unparse(other))), (other, expression(ast.unparse(part)))]
            yield make("sizes-exchanged", node, *exchange, **values)


def _size_of(kernel: Kernel, size: str) -> str:
    """What a size is the number of, in words: the columns of B; empty if the text does not show it."""
    for node in kernel.nodes_of(ast.Assign):
        target, value = node.targets[0], node.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = [*zip(target.elts, value.elts, strict=False)]
        for one, other in pairs:
            names = list(map(ast.unparse, one.elts)) if isinstance(one, ast.Tuple) else []
            if size in names and isinstance(other, ast.Attribute) and other.attr == "shape":
                return _size_of(kernel, f"{ast.unparse(other)}[{names.index(size)}]")
            if ast.unparse(one) == size and is_shape(other):
                return _size_of(kernel, ast.unparse(other))
    match expression(size):
        case ast.Subscript(ast.Attribute(ast.Name(array), "shape"), ast.Constant(0)):
            return f"the number of rows of {array}"
        case ast.Subscript(ast.Attribute(ast.Name(array), "shape"), ast.Constant(1)):
            return f"the number of columns of {array}"
    return ""


def _used_as(kernel: Kernel, compared: ast.Compare) -> str:
    """What the other side of a comparison is an index of, in words."""
    left = ast.unparse(compared.left)
    for place in subscripts(kernel.tree):
        written = [ast.unparse(index) for index in indices(place)]
        if array_of(place) in kernel.arrays and left in written and len(written) == 2:
            return f", and {left} is a {('row', 'column')[written.index(left)]} of {array_of(place)}"
    return ""


_OTHER_SIGNS: tuple[tuple[type[ast.cmpop], type[ast.cmpop], str], ...] = (
    (ast.LtE, ast.Lt, "too-many-by-one"),
    (ast.GtE, ast.Gt, "not-if-equal"),
    (ast.Lt, ast.LtE, "one-too-few"),
    (ast.Gt, ast.GtE, "one-too-few"),
)


# ---- statements -----------------------------------------------------------------------------------------------------


@row(
    "wrong",
    belongs_into=Texts(
        hint="`{statement}` comes after the {owner} in line {at}, and belongs into it: look at its indentation."
    ),
    belongs_inside=Texts(hint="`{statement}` comes before the loop in line {at}, and belongs into it."),
    belongs_after=Texts(
        hint="`{statement}` is inside the {owner} in line {at}, and belongs after it: look at its indentation."
    ),
    belongs_before=Texts(hint="`{statement}` is inside the {owner} in line {at}, and belongs before it."),
    comes_too_late=Texts(hint="`{statement}` comes too late: it belongs before line {at}."),
    comes_too_early=Texts(hint="`{statement}` comes too early: it belongs after line {at}{outside}."),
    not_needed=Texts(hint="`{statement}` does harm: without this line the result is right."),
)
def misplaced_statements(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A statement that belongs elsewhere: into or out of a loop or an if, or before or after others."""
    bound = Counter(each.id for each in bound_names(kernel.tree))
    twice = {name for name, times in bound.items() if times > 1}
    for node in kernel.statements:
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr) or "shared.array" in ast.unparse(node):
            continue
        chain = kernel.enclosing_bodies(node)
        body, i, _ = chain[0]
        values = {"statement": first_line(node)}
        alone = ast.Pass() if len(body) == 1 else ()
        after = body[i + 1] if i + 1 < len(body) else None
        if isinstance(after, ast.For | ast.While):
            first = after.body[0]
            yield make("belongs-inside", node, (first, (node, first)), (node, alone), at=after.lineno, **values)
        late = _until_needed(node, reversed(body[:i]), twice)
        early = _until_needed(node, body[i + 1 :], twice)
        for earlier, later in itertools.zip_longest(late, early):  # the shortest way first
            if later is not None:
                end = later.end_lineno or later.lineno
                holds = isinstance(later, ast.For | ast.While | ast.If)
                outside = f", outside the {if_or_loop(later)} of line {later.lineno}" if holds else ""
                values["outside"] = outside
                yield make("comes-too-early", node, (later, (later, node)), (node, ()), at=end, **values)
            if earlier is not None:
                yield make("comes-too-late", node, (earlier, (node, earlier)), (node, ()), at=earlier.lineno, **values)
        for _, _, around in chain[:-1]:
            kind, at = if_or_loop(around), around.lineno  # type: ignore[attr-defined]
            yield make("belongs-after", node, *_moved(around, node, after=True), owner=kind, at=at, **values)
            yield make("belongs-before", node, *_moved(around, node, after=False), owner=kind, at=at, **values)
        above = body[i - 1] if i else None
        while isinstance(above, ast.For | ast.While | ast.If):
            last = above.body[-1]
            changes: Changes = ((last, (last, node)), (node, alone))
            yield make("belongs-into", node, *changes, owner=if_or_loop(above), at=above.lineno, **values)
            above = last
        if not {each.id for each in bound_names(node)} - twice:
            yield make("not-needed", node, (node, alone), **values)


def _until_needed(node: ast.stmt, others: Iterable[ast.stmt], twice: set[str]) -> Iterator[ast.stmt]:
    """The statements past which a move of this one changes something, up to one without which it cannot be.

    The order of two statements matters if one stores what the other uses, or if one is a barrier. A name that is not
    among those that are bound ``twice`` must be bound before it is used.
    """
    own, used = _stored(node), _used(node)
    for other in others:
        theirs = _stored(other)
        bound = {each.id for each in bound_names(other)} & used | {each.id for each in bound_names(node)} & _used(other)
        if bound - twice:
            return
        is_ordered_by_data = theirs & used or own & _used(other)
        if is_ordered_by_data or any("sync" in ast.unparse(each) for each in (node, other)):
            yield other


def _stored(node: ast.stmt) -> set[str]:
    """The variables and arrays that a statement stores to."""
    places = (each for each in ast.walk(node) if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store))
    return {*(each.id for each in bound_names(node)), *map(array_of, places)}


def _used(node: ast.stmt) -> set[str]:
    """The variables and arrays that a statement names."""
    return {each.id for each in names_in(node)}


def _moved(around: ast.AST, node: ast.stmt, after: bool) -> Changes:
    """The changes that move a statement out of one that is around it."""
    inner = _without(around, node)
    return ((around, (inner, node) if after else (node, inner)),)


def _without(part: Any, node: ast.stmt) -> Any:
    """A copy of a statement without one that it holds."""
    if isinstance(part, list):
        left = [_without(each, node) for each in part if each is not node]
        return left or [ast.copy_location(ast.Pass(), node)]
    if not isinstance(part, ast.For | ast.While | ast.If):
        return part
    fields = dict(ast.iter_fields(part))
    fields["body"] = _without(part.body, node)
    fields["orelse"] = _without(part.orelse, node) if part.orelse else []
    return ast.copy_location(type(part)(**fields), part)


# ---- operators ------------------------------------------------------------------------------------------------------

#: What is likely to be meant.
_INSTEAD: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Mult, ast.Sub),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.FloorDiv: (ast.Mod, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.Div: (ast.FloorDiv, ast.Mult),
}


@row(
    "wrong",
    other_operator=Texts(hint="`{part}`: {sign} makes this {gives}, and what is needed here is {needed}."),
    subtracted=Texts(hint="`{name} -= …` subtracts; a sum needs `{name} += …`."),
)
def wrong_operators(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Another operator, in one place or in all that look alike."""
    for sum in kernel.nodes_of(ast.AugAssign):
        if isinstance(sum.op, ast.Sub):
            added = ast.AugAssign(sum.target, ast.Add(), sum.value)
            yield make("subtracted", sum, (sum, added), name=ast.unparse(sum.target))
    found = [node for node in kernel.nodes_of(ast.BinOp) if type(node.op) in _INSTEAD]
    for node in found:
        alike = [each for each in found if type(each.op) is type(node.op) and _alike(each, node)]
        for other in _INSTEAD[type(node.op)]:
            operator = OPERATORS[type(node.op)]
            values = {"part": ast.unparse(node), "sign": operator.sign, "gives": operator.gives}
            values["needed"] = OPERATORS[other].gives
            yield make("other-operator", node, (node, ast.BinOp(node.left, other(), node.right)), **values)
            if len(alike) > 1 and alike[0] is node:
                changes = [(each, ast.BinOp(each.left, other(), each.right)) for each in alike]
                yield make("other-operator", node, *changes, **values)


def _alike(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions are equal but for x and y."""
    texts = [ast.unparse(each) for each in (one, other)]
    return texts[0] == texts[1] or len({text.replace(".y", ".x") for text in texts}) == 1


@row(
    "wrong",
    one_term_too_many=Texts(hint="`{part}` has one {term} too many: `{left}` alone is what is needed."),
)
def surplus_terms(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A term or a factor too many, in one place or in all places where it is written."""
    found = kernel.nodes_of(ast.BinOp)
    done = set()
    for node in found:
        alike = [each for each in found if same_text(each, node)]
        for left in (node.left, node.right) if not subscripts(node) else ():
            values = {"part": ast.unparse(node), "left": ast.unparse(left), "term": term_of(node)}
            yield make("one-term-too-many", node, (node, left), **values)
        text = ast.unparse(node)
        if text not in done and len(alike) > 1:
            done.add(text)
            for side in ("left", "right"):
                changes = [(each, getattr(each, side)) for each in alike]
                values = {"part": text, "left": ast.unparse(getattr(node, side)), "term": term_of(node)}
                yield make("one-term-too-many", node, *changes, **values)


@row(
    "wrong",
    offset_of_another_index=Texts(hint="`{place}`: the {offset} belongs to the other index, that of the {kind}."),
)
def offsets_of_other_indices(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A number that is added to a row instead of a column, or the other way round."""
    for place in subscripts(kernel.tree):
        own = indices(place)
        for n, index in enumerate(own) if len(own) == 2 else ():
            match index:
                case ast.BinOp(left, ast.Add() | ast.Sub() as op, ast.Constant() as right):
                    moved = [ast.BinOp(own[1 - n], op, right), left]
                    new = ast.Tuple(moved if n else moved[::-1], ast.Load())
                    values = {"place": ast.unparse(place), "kind": ("column", "row")[n]}
                    values["offset"] = f"{OPERATORS[type(op)].sign} {ast.unparse(right)}"
                    yield make("offset-of-another-index", place, (place.slice, new), **values)


@row(
    "wrong",
    length_of_a_row=Texts(
        hint="`{row}` and `{column}` divide by {written}{which}: divide a place by the length of a row, then the "
        "quotient is its row, and the remainder its column."
    ),
)
def wrong_row_lengths(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``i // M`` and ``i % M`` with another size than the length of a row."""
    divided = [each for each in kernel.nodes_of(ast.BinOp) if isinstance(each.op, ast.FloorDiv)]
    left_over = [each for each in kernel.nodes_of(ast.BinOp) if isinstance(each.op, ast.Mod)]
    for row_, column in itertools.product(divided, left_over):
        written = ast.unparse(row_.right)
        if same_text(row_.left, column.left) and same_text(row_.right, column.right) and written in kernel.sizes:
            for size in kernel.sizes if written in kernel.sizes else ():
                changes = (row_.right, expression(size)), (column.right, expression(size))
                values = {"row": ast.unparse(row_), "column": ast.unparse(column), "written": written}
                known = _size_of(kernel, written)
                values["which"] = known and f", which is {known}"
                if size != written:
                    yield make("length-of-a-row", row_, *changes, **values)


@row(
    "wrong",
    same_element_twice=Texts(hint="`{part}` is added twice here, and another element not at all."),
)
def elements_added_twice(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """An element that a sum of a few has twice, in the place of a neighbour."""
    statements: list[ast.Assign | ast.AugAssign] = [*kernel.nodes_of(ast.Assign), *kernel.nodes_of(ast.AugAssign)]
    for statement in statements:
        terms = [term for term in _terms(statement.value) if isinstance(term, ast.Subscript)]
        for one, other in itertools.combinations(terms, 2):
            for n, index in enumerate(indices(other)) if same_text(one, other) else ():
                for by in ("1", "2", "-1", "-2"):
                    changed = [*indices(other)]
                    changed[n] = ast.BinOp(index, ast.Add(), expression(by))
                    new = changed[0] if len(changed) == 1 else ast.Tuple(changed, ast.Load())
                    yield make("same-element-twice", statement, (other.slice, new), part=ast.unparse(other))


def _terms(value: ast.expr) -> Iterator[ast.expr]:
    """The terms of a sum."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        yield from (*_terms(value.left), *_terms(value.right))
    else:
        yield value


@row(
    "wrong",
    "fractions",
    cut_to_whole_numbers=Texts(hint="`{part}` cuts off the digits after the point, and the elements may be fractions."),
)
def fractions_cut_off(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A conversion of elements to whole numbers."""
    for node in kernel.nodes_of(ast.Call):
        if ast.unparse(node.func) in ("int", "round", "math.floor", "math.ceil", "int32", "int64") and node.args:
            alike = [each for each in kernel.nodes_of(ast.Call) if same_text(each.func, node.func) and each.args]
            if alike[0] is node and any(isinstance(each, ast.Subscript) for each in ast.walk(node)):
                changes = [(each, each.args[0]) for each in alike]
                yield make("cut-to-whole-numbers", node, *changes, part=ast.unparse(node))


# ---- names, indices and numbers -------------------------------------------------------------------------------------


@row(
    "wrong",
    thread_and_block=Texts(hint="`{part}`: {old} is {is_now}, and {wanted} is needed in its place: {new}."),
    in_each_others_place=Texts(hint="`{part}`: {old} and {new} are in each other's place."),
)
def exchanged_thread_numbers(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """blockIdx, blockDim, gridDim and threadIdx in each other's place, in one statement or in all."""
    parts = [each for each in kernel.nodes_of(ast.Attribute) if each.attr in "xyz" and _number(each)]
    pairs = [("blockIdx", "threadIdx"), ("blockDim", "gridDim"), ("blockDim", "blockIdx")]
    if any(_number(part) == "gridDim" for part in parts):  # the one that few kernels need
        pairs.sort(key=lambda pair: "gridDim" not in pair)
    for one, other in pairs:
        both = [part for part in parts if _number(part) in (one, other)]
        groups = [[each] for each in both]
        by_statement: dict[ast.stmt, list[ast.Attribute]] = {}
        for part in both:
            by_statement.setdefault(kernel.statement_of(part), []).append(part)
        groups += [*by_statement.values(), both]
        for chosen in groups:
            changes = [(part, _renamed(part, other if _number(part) == one else one)) for part in chosen]
            for part in chosen[:1]:
                at, old, new = kernel.statement_of(part), _number(part), _number(changes[0][1])
                values = {
                    "part": first_line(at),
                    "old": old,
                    "new": new,
                    "is_now": _NUMBERS[old],
                    "wanted": _NUMBERS[new],
                }
                id = "thread-and-block" if {_number(place) for place in chosen} == {old} else "in-each-others-place"
                yield make(id, at, *changes, **values)


_NUMBERS = {
    "blockIdx": "the number of the block",
    "blockDim": "the number of threads of a block",
    "gridDim": "the number of blocks",
    "threadIdx": "the place of the thread in its block",
}


def _number(part: ast.Attribute) -> str:
    """Which of the numbers of blocks and threads this is the x, y or z of; empty for another attribute."""
    name = ast.unparse(part.value).rpartition(".")[2]
    return name if name in ("blockIdx", "blockDim", "gridDim", "threadIdx") else ""


def _renamed(part: ast.Attribute, new: str) -> ast.Attribute:
    base = part.value
    renamed: ast.expr = (
        ast.Attribute(base.value, new, ast.Load()) if isinstance(base, ast.Attribute) else load_name(new)
    )
    return ast.Attribute(renamed, part.attr, ast.Load())


@row(
    "wrong",
    sums_exchanged=Texts(hint="lines {first} and {second}: `{one}` and `{other}` are in each other's place."),
)
def exchanged_sums(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Two sums that grow by each other's products."""
    for body in kernel.all_bodies:
        sums = [node for node in body if isinstance(node, ast.AugAssign)]
        for one, other in itertools.combinations(sums, 2):
            if not same_text(one.target, other.target):
                changes = [
                    (node, ast.AugAssign(new.target, node.op, node.value)) for node, new in ((one, other), (other, one))
                ]
                values = {"one": ast.unparse(one.target), "other": ast.unparse(other.target)}
                yield make("sums-exchanged", one, *changes, first=one.lineno, second=other.lineno, **values)


@row(
    "wrong",
    start_of_the_tile=Texts(
        hint="{name} is missing from the indices of {places}{conditions}: every iteration of the loop in line {loop} "
        "uses the same elements."
    ),
)
def tile_starts_missing(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """The counter of a loop over tiles is missing from the loads, and from their guards: in a statement, or in all."""
    for loop in kernel.nodes_of(ast.For):
        if not isinstance(loop.target, ast.Name):
            continue
        counter = loop.target.id
        counted = _depends_on(counter, loop)
        lacking: list[tuple[ast.stmt, ast.Subscript, list[list[Change]]]] = []
        for node in _in_loops(loop):
            if not isinstance(node, ast.Assign | ast.If):
                continue
            places = [each for each in subscripts(node) if array_of(each) in kernel.arrays]
            used_names = {used.id for place in places for used in names_in(place.slice)}
            if not places or counted & used_names:
                continue
            options = []
            for used in dict.fromkeys(node.id for each in places for node in names_in(each.slice)):
                inside = [each for part in _read(node) for each in names_in(part) if each.id == used]
                changes: list[Change] = [(n, ast.BinOp(load_name(counter), ast.Add(), load_name(used))) for n in inside]
                options.append(changes)
            lacking.append((node, places[0], options))
        for chosen in [[each] for each in lacking] + ([lacking] if len(lacking) > 1 else []):
            for combined in itertools.islice(itertools.product(*(options for _, _, options in chosen)), 30):
                place = chosen[0][1]
                values = {"name": counter, "loop": loop.lineno}
                values["places"] = " and ".join(f"`{ast.unparse(each)}`" for _, each, _ in chosen)
                guarded = any(isinstance(each, ast.If | ast.IfExp) for one, *_ in chosen for each in ast.walk(one))
                values["conditions"] = ", and from their conditions" if guarded else ""
                lines = tuple(each.lineno for _, each, _ in chosen)
                all_changes = [c for each in combined for c in each]
                yield make("start-of-the-tile", place, *all_changes, more_lines=lines, **values)


def _depends_on(counter: str, loop: ast.For) -> set[str]:
    """The names in a loop's body that are computed from its counter, and the counter."""
    found = {counter}
    for node in _in_loops(loop):
        if isinstance(node, ast.Assign | ast.AugAssign) and found & {each.id for each in names_in(node.value)}:
            found |= {each.id for each in bound_names(node)}
    return found


def _in_loops(loop: ast.For) -> Iterator[ast.stmt]:
    """The statements of a loop's body, and of the bodies of loops in it."""
    for node in loop.body:
        yield node
        if isinstance(node, ast.For):
            yield from _in_loops(node)


@row(
    "wrong",
    the_same_in_every_iteration=Texts(
        hint="`{statement}` comes before the loop of line {loop}, so {name} is the same in all of its iterations: it "
        "belongs into the loop, and depends on {counter}."
    ),
)
def loads_before_loops(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """An element that is loaded once before a loop, and is needed anew in each iteration."""
    for loop in kernel.nodes_of(ast.For):
        body, i, _ = kernel.enclosing_bodies(loop)[0]
        counter = ast.unparse(loop.target)
        used = {each.id for each in names_in(loop)}
        for node in body[:i] if counter.isidentifier() else ():
            match node:
                case ast.Assign([ast.Name(held)], ast.Subscript() as place) if held in used and not is_shape(place):
                    values = {"statement": first_line(node), "loop": loop.lineno, "name": held, "counter": counter}
                    first = loop.body[0]
                    for new in _counted(place, counter):
                        inside = ast.Assign([ast.Name(held, ast.Store())], new)
                        changes = (node, ast.Pass()), (first, (inside, first))
                        yield make("the-same-in-every-iteration", node, *changes, **values)


def _counted(place: ast.Subscript, counter: str) -> Iterator[ast.expr]:
    """An element with the counter of a loop in the place of one of its indices."""
    own = indices(place)
    for n in range(len(own)):
        parts = [*own[:n], load_name(counter), *own[n + 1 :]]
        index = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
        yield ast.Subscript(place.value, index, ast.Load())


def _read(node: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that are read, without the place that it stores to."""
    if isinstance(node, ast.Assign):
        return [node.value]
    return (
        [node.test, *(each.value for each in ast.walk(node) if isinstance(each, ast.Assign))]
        if isinstance(node, ast.If)
        else []
    )


@row(
    "wrong",
    indices_of_a_statement=Texts(hint="the order of the indices is wrong in {places}."),
    names_exchanged=Texts(hint="look at `{place}`: {one} and {other} are in each other's place."),
)
def exchanges_in_statements(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """In all of a statement: indices that are exchanged, or two names."""
    for node in kernel.nodes_of(ast.Assign, ast.AugAssign):
        pairs = [place for place in subscripts(node) if len(indices(place)) == 2]
        read = [place for place in pairs if isinstance(place.ctx, ast.Load)]
        for chosen in (pairs, read):
            if len(chosen) > 1:
                *before, last = dict.fromkeys(f"`{ast.unparse(place)}`" for place in chosen)
                places = f"{', '.join(before)} and {last}" if before else last
                yield make("indices-of-a-statement", node, *map(exchanged, chosen), places=places)
        in_indices = {each.id for place in subscripts(node) for each in names_in(place.slice)}
        if isinstance(node, ast.Assign) and not subscripts(node):  # the computation of indices
            in_indices = {each.id for each in names_in(node.value)} & kernel.locals - kernel.arrays
        for one, other in itertools.combinations(sorted(in_indices), 2):
            changes = _exchange([node], one, other)
            yield make("names-exchanged", node, *changes, place=first_line(node), one=one, other=other)
    for body in kernel.all_bodies:
        nodes = [each for each in body if isinstance(each, ast.Assign | ast.AugAssign) and subscripts(each)]
        in_indices = {each.id for node in nodes for place in subscripts(node) for each in names_in(place.slice)}
        for one, other in itertools.combinations(sorted(in_indices), 2) if len(nodes) > 1 else ():
            changes = _exchange(nodes, one, other)
            first = kernel.statement_of(changes[0][0])
            yield make("names-exchanged", first, *changes, place=first_line(first), one=one, other=other)


def _exchange(nodes: Sequence[ast.stmt], one: str, other: str) -> list[Change]:
    """The exchange of two names where these statements read them."""
    both = [
        each for node in nodes for each in names_in(node) if isinstance(each.ctx, ast.Load) and each.id in (one, other)
    ]
    return [(each, load_name(other if each.id == one else one)) for each in both]


@row(
    "wrong",
    names_of_a_place=Texts(hint="{which}. The number of a row is multiplied by the length of a row."),
)
def names_of_addresses(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """The names in places like ``row * width + k`` in each other's places, in each array of a statement by itself."""
    for node in kernel.nodes_of(ast.Assign, ast.AugAssign):
        options = [
            _permuted(place.slice)
            for place in subscripts(node)
            if len(indices(place)) == 1 and 2 <= len(names_in(place.slice)) <= 3
        ]
        combinations = sorted(itertools.product(*options), key=lambda each: sum(len(changes) for _, changes in each))
        for combined in combinations if len(options) <= 2 else ():
            if which := "; ".join(sentence for sentence, _ in combined if sentence):
                yield make("names-of-a-place", node, *(c for _, each in combined for c in each), which=which)


def _permuted(index: ast.expr) -> list[tuple[str, Changes]]:
    """The names of an index in every order, each with what is said of it; empty words for the order that they have."""
    names = sorted(names_in(index), key=lambda node: node.col_offset)
    found: list[tuple[str, Changes]] = []
    for order in itertools.permutations([each.id for each in names]):
        changes = tuple((each, load_name(new)) for each, new in zip(names, order, strict=True) if each.id != new)
        moved = " and ".join(each.id for each in names if any(each is old for old, _ in changes))
        place = "in each other's place" if len(changes) == 2 else "in the wrong order"
        found.append((f"in `{ast.unparse(index)}` {moved} are {place}" if changes else "", changes))
    return found


@row(
    "wrong",
    order_of_indices=Texts(hint="look at `{place}`: its indices are not in the right order."),
    one_name_or_number=Texts(hint="look at `{place}`: {old} is {wrong}{needed}."),
)
def one_name_or_number(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """One name or number of an index, a guard or a statement; kinds of changes that are few come first."""
    places = subscripts(kernel.tree)
    arrays = {place.value.id for place in places if isinstance(place.value, ast.Name)}
    read = sorted(arrays | set(kernel.arguments[:-1]))
    names = sorted({each.id for place in places for each in names_in(place.slice)} | set(_counters(kernel)))
    counted = _counters(kernel)
    # the parts of the kernel in which a number may be one too many
    parts: list[ast.expr | ast.stmt] = []
    for node in kernel.nodes_of(ast.For, ast.If, ast.Assign, ast.AugAssign):
        match node:
            case ast.For(iter=part) | ast.If(test=part):
                parts.append(part)
            case ast.Assign() | ast.AugAssign():
                parts.append(node)
    sums = _sums(kernel)
    tests = [(node, part) for node in kernel.nodes_of(ast.IfExp) for part in [node.test]]
    numbers = {each.value for each in kernel.nodes_of(ast.Constant) if type(each.value) is int and each.value > 1}
    products = [place for node in kernel.nodes_of(ast.AugAssign) for place in subscripts(node.value)]
    added = {used.id for node in kernel.nodes_of(ast.AugAssign) for used in names_in(node.value)}
    factors = sorted(added - {*names, *arrays})
    first: list[tuple[ast.expr | ast.stmt, Changes]] = [
        *(
            (place, change)
            for place in products
            for change in _other_names(place.slice, names)
            if _is_counted(change, counted)
        ),
        *((place, (change,)) for place in products for change in _other_numbers(place.slice, numbers)),
    ]
    kinds: list[list[tuple[ast.expr | ast.stmt, Changes]]] = [
        [(place, (exchanged(place),)) for place in places if len(indices(place)) == 2],
        [
            (each, ((each.value, load_name(array)),))
            for each in places
            for array in read
            if array != ast.unparse(each.value)
        ],
        [(each, change) for each in kernel.nodes_of(ast.AugAssign) for change in _other_names(each.value, factors)],
        [(part, change) for part in parts for change in _other_names(part, sums, (ast.Load, ast.Store))],
        [(part, (other_direction(node),)) for part in parts for node in ast.walk(part) if _is_direction(node)],
        [(part, change) for part in parts for change in _other_names(_without_arrays(part), names)],
        [(place, change) for place in places for change in _other_names(place.slice, names)],
        [(part, change) for part in parts for change in _other_name_throughout(part, names)],
        [(place, (change,)) for place in places for change in _counter_added(place, counted)],
        [(test, change) for _, test in tests for change in _other_names(test, sorted({*names, *kernel.sizes}))],
        [(part, (change,)) for part in parts for change in _other_numbers(part, numbers)],
    ]
    for kind in [first, *sorted(kinds, key=len)]:
        for place, changes in kind:
            old, new = changes[0]
            id = "order-of-indices" if isinstance(new, ast.Tuple) else "one-name-or-number"
            assert isinstance(old, ast.expr) and isinstance(new, ast.expr)
            values = {"place": first_line(place), "old": _what(old, new), "wrong": _how_wrong(old, new)}
            values["needed"] = _where_set(kernel, place, new) or _as_stored(kernel, place, new)
            yield make(id, place, *changes, **values)


def _what(old: ast.expr, new: ast.expr) -> str:
    """What is wrong with a name or a number, in words, without what is right."""
    match new:
        case ast.BinOp(left, _, right) if old in (left, right):
            other = right if old is left else left
            return f"`{ast.unparse(old)}` without {ast.unparse(other)}"
        case ast.Attribute(attr=direction) if isinstance(old, ast.Attribute) and direction in "xy":
            return f"the {old.attr} of `{ast.unparse(old)}`"
    return f"{'the number ' if isinstance(old, ast.Constant) else ''}`{ast.unparse(old)}`"


def _how_wrong(old: ast.expr, new: ast.expr) -> str:
    """What is said of a name or a number: how far a number is from the one that is needed, if it is near."""
    match old, new:
        case ast.Constant(int(one)), ast.Constant(int(other)) if abs(other - one) == 1:
            return f"one too {'small' if one < other else 'large'} there"
    return "not what is needed there"


def _as_stored(kernel: Kernel, place: ast.AST, new: ast.expr) -> str:
    """Where an element of a shared array is stored with the number that is needed, in words; else empty."""
    for statement, target, _ in kernel.fills:
        numbers = [ast.unparse(each) for each in ast.walk(target.slice) if isinstance(each, ast.Constant)]
        if ast.unparse(new) in numbers and array_of(target) == array_of(place):
            return f": line {statement.lineno} stores `{ast.unparse(target)}`"
    return ""


def _where_set(kernel: Kernel, place: ast.AST, new: ast.expr) -> str:
    """Where the name that is needed in a place gets its value, in words: in a loop around it, or in the only line."""
    if not isinstance(new, ast.Name):
        return ""
    for loop in kernel.loops_around(place):
        if isinstance(loop, ast.For) and new.id in {each.id for each in bound_names(loop.target)}:
            return f": what the loop of line {loop.lineno} counts is"
    lines = {each.lineno for each in bound_names(kernel.tree) if each.id == new.id}
    return f": another name is, which line {min(lines)} sets" if len(lines) == 1 else ""


def _is_counted(change: Changes, counted: list[str]) -> bool:
    """Whether the new name is the counter of a loop."""
    new = change[0][1]
    return isinstance(new, ast.Name) and new.id in counted


def _counters(kernel: Kernel) -> list[str]:
    return [loop.target.id for loop in kernel.nodes_of(ast.For) if isinstance(loop.target, ast.Name)]


def _other_names(part: ast.AST | None, names: list[str], uses: tuple[type, ...] = (ast.Load,)) -> Iterator[Changes]:
    """Another of these names in the place of one of them."""
    for node in names_in(part) if part is not None else ():
        if node.id in names and isinstance(node.ctx, uses):
            for other in names:
                if other != node.id:
                    yield ((node, ast.Name(other, node.ctx) if other.isidentifier() else expression(other)),)


def _other_name_throughout(part: ast.AST, names: list[str]) -> Iterator[Changes]:
    """Another name, in all its places in a statement: in an index, and in the guard of that index."""
    used = [node for node in names_in(part) if isinstance(node.ctx, ast.Load)]
    for one in names:
        places = [node for node in used if node.id == one]
        for other in names if len(places) > 1 else ():
            if other != one:
                yield tuple((node, load_name(other)) for node in places)


def _sums(kernel: Kernel) -> list[str]:
    """The variables that are added to."""
    stored = [node.id for node in kernel.nodes_of(ast.Name) if isinstance(node.ctx, ast.Store)]
    loaded = {node.value.id for node in kernel.nodes_of(ast.Assign) if isinstance(node.value, ast.Name)}
    return sorted({each for each in stored if stored.count(each) > 1} | loaded & set(stored))


def _without_arrays(part: ast.expr | ast.stmt) -> ast.AST | None:
    """The part of a statement without array elements: a comparison, or the computation of an index."""
    value = part.value if isinstance(part, ast.Assign) else part
    if not isinstance(value, ast.expr) or subscripts(value):
        return None
    return value


def _counter_added(place: ast.Subscript, counted: list[str]) -> Iterator[Change]:
    """The counter of a loop is missing from an index."""
    used = {each.id for each in names_in(place.slice)}
    for index in indices(place):
        for counter in counted:
            if counter not in used:
                yield index, ast.BinOp(load_name(counter), ast.Add(), index)


def _other_numbers(part: ast.AST, numbers: set[int]) -> Iterator[Change]:
    """A number that is one more or less, or another one of the kernel's."""
    for node in ast.walk(part):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            others = (node.value - 1, node.value + 1, *sorted(numbers))
            yield from ((node, expression(str(n))) for n in dict.fromkeys(others) if n != node.value)


def _is_direction(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether this is the x or the y in the number of a block or a thread."""
    return isinstance(node, ast.Attribute) and node.attr in ("x", "y") and isinstance(node.value, ast.Attribute)


# ---- costs ----------------------------------------------------------------------------------------------------------


@row(
    "barriers",
    barrier_not_needed=Texts(
        hint="this barrier is not needed: without it, the other barriers still keep all threads from reading or "
        "storing too early."
    ),
    barrier_in_a_loop=Texts(
        hint="this barrier is inside the loop of line {at}, where nothing is stored that another thread reads: it "
        "belongs after that loop, so that the block waits once."
    ),
)
def surplus_barriers(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Barriers that order nothing, or as often as an inner loop runs."""
    for node in kernel.barriers():
        chain = kernel.enclosing_bodies(node)
        yield make("barrier-not-needed", node, (node, ast.Pass() if len(chain[0][0]) == 1 else ()))
        for (_, _, around), _ in itertools.pairwise(chain):
            if isinstance(around, ast.For | ast.While):
                yield make("barrier-in-a-loop", node, *_moved(around, node, after=True), at=around.lineno)


@row(
    "loads",
    one_loop_for_both=Texts(
        hint="the loops of lines {one} and {other} each load `{place}`: in one loop both sums use the element that was "
        "loaded once."
    ),
    loaded_twice=Texts(hint="lines {one} and {other} both load `{place}`: load it once, into a variable."),
)
def repeated_loads(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """An element that two loops over the same numbers load, or two statements after each other: the text shows it."""
    for body in kernel.all_bodies:
        for one, other in itertools.combinations(body, 2):
            loops = isinstance(one, ast.For) and isinstance(other, ast.For)
            if isinstance(one, ast.For) and isinstance(other, ast.For):
                if not (same_text(one.iter, other.iter) and same_text(one.target, other.target)):
                    continue
            elif not (isinstance(one, _PLAIN) and isinstance(other, _PLAIN)):
                continue
            loaded = [_loaded(kernel, node) for node in (one, other)]
            between = body[body.index(one) : body.index(other)]
            bound = {node.id for each in between for node in bound_names(each)}
            for place in sorted(loaded[0] & loaded[1]):
                inside = {each.id for each in names_in(expression(place))}
                counted = {each.id for each in bound_names(one.target)} if isinstance(one, ast.For) else set()
                if not inside & bound - counted:
                    id = "one-loop-for-both" if loops else "loaded-twice"
                    yield make(id, other, certain=True, one=one.lineno, other=other.lineno, place=place)


def _loaded(kernel: Kernel, node: ast.stmt) -> set[str]:
    """The elements of the kernel's arguments that a statement loads, as texts."""
    return {ast.unparse(place) for place in subscripts(node) if _is_loaded(kernel, place)}


_PLAIN = (ast.Assign, ast.AugAssign)


@row(
    "stores",
    stored_in_the_loop=Texts(
        hint="{output} is stored in every iteration of the loop of line {loop}: this belongs after that loop, with the "
        "indentation of line {loop}."
    ),
)
def stores_in_loops(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """A store of the output in a loop that adds to its sum."""
    for node in kernel.nodes_of(ast.Assign):
        loops = kernel.loops_around(node)
        if array_of(node.targets[0]) == exercise.output and isinstance(node.targets[0], ast.Subscript):
            for loop in loops[:1]:
                changes = _moved(loop, node, after=True)
                yield make("stored-in-the-loop", node, *changes, output=exercise.output, loop=loop.lineno)


@row(
    "loads",
    whole_sum_added=Texts(
        hint="`{place} += …` loads {output} first, and `{sum}` is the whole sum already: store it by `=`{again}."
    ),
)
def sums_added_twice(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """``C[row, col] += acc`` in the place of ``=``, below a store of 0."""
    for node in kernel.nodes_of(ast.AugAssign):
        match node:
            case ast.AugAssign(ast.Subscript() as place, ast.Add(), ast.Name(sum)) if (
                array_of(place) == exercise.output
            ):
                begun = [
                    each
                    for each in kernel.nodes_of(ast.Assign)
                    if same_text(each.targets[0], place) and is_number(each.value)
                ]
                again = f", and take {in_lines([each.lineno for each in begun])} away" if begun else ""
                changes = [(node, ast.Assign([place], node.value)), *((each, ()) for each in begun)]
                values = {"place": ast.unparse(place), "output": exercise.output, "sum": sum, "again": again}
                yield make("whole-sum-added", node, *changes, **values)


def _is_loaded(kernel: Kernel, place: ast.Subscript) -> bool:
    """Whether this is a load of an element of one of the kernel's arguments."""
    return isinstance(place.ctx, ast.Load) and array_of(place) in kernel.arrays


ROWS = (
    unguarded_loads,
    unguarded_stores,
    ranges_beyond_sizes,
    arrays_never_filled,
    incomplete_guards,
    exchanged_sums,
    exchanges_in_statements,
    negated_conditions,
    wrong_comparisons,
    fractions_cut_off,
    elements_added_twice,
    tile_starts_missing,
    loads_before_loops,
    offsets_of_other_indices,
    wrong_row_lengths,
    surplus_terms,
    wrong_operators,
    names_of_addresses,
    misplaced_statements,
    exchanged_thread_numbers,
    one_name_or_number,
    surplus_barriers,
    repeated_loads,
    stores_in_loops,
    sums_added_twice,
)
