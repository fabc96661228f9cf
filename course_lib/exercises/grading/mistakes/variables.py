"""Rows of likely mistakes in what variables hold: sums of two variables, sizes that change, buffers that do not."""

import ast
from typing import Any

from ....simulator.edits import Change, expression
from ....simulator.repairs.kernel_syntax import Kernel, array_of, bound_names, indices, is_number, load_name, names_in
from ....simulator.repairs.table import Candidates, MakeCandidate, Texts, row
from .in_text import ExerciseFacts


def added_to(node: ast.stmt) -> str:
    """The variable to which a statement adds, as ``x += …`` or ``x = x + …``; empty if it adds to none."""
    match node:
        case ast.AugAssign(ast.Name(id), ast.Add() | ast.Sub()):
            return id
        case ast.Assign([ast.Name(id)], ast.BinOp() as value) if id in {each.id for each in names_in(value)}:
            return id
    return ""


def _added(kernel: Kernel) -> dict[str, ast.stmt]:
    """The variables to which something is added, each with the first statement that does it."""
    added = {added_to(node): node for node in reversed(kernel.statements)}
    added.pop("", None)
    return added


def _begun(kernel: Kernel) -> dict[str, ast.Assign]:
    """The variables that are set to a number, each with a statement that does it."""
    return {
        node.targets[0].id: node
        for node in kernel.nodes_of(ast.Assign)
        if isinstance(node.targets[0], ast.Name) and is_number(node.value)
    }


def _never_used(kernel: Kernel) -> list[str]:
    """The variables that are set to a number, and neither read nor added to: a sum has another name there."""
    read = {each.id for each in kernel.nodes_of(ast.Name) if isinstance(each.ctx, ast.Load)}
    return sorted(_begun(kernel).keys() - read - _added(kernel).keys())


@row(
    "likely",
    two_names_of_a_sum=Texts(
        hint="this adds to `{grown}`, and what line {at} stores is `{stored}`: the sum must have one name."
    ),
    begun_as_another=Texts(
        hint="this adds to `{grown}`, and what line {at} sets to its first value is `{begun}`: the sum must have one "
        "name."
    ),
)
def sums_with_two_names(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """A sum that begins as one variable, or is stored as one, and grows as another."""
    added, begun = _added(kernel), _begun(kernel)
    for first in _never_used(kernel):
        for other in sorted(added.keys() - begun.keys()):
            renamed = [(each, ast.Name(other, each.ctx)) for each in kernel.nodes_of(ast.Name) if each.id == first]
            values = {"grown": other, "begun": first, "at": begun[first].lineno}
            yield make("begun-as-another", added[other], *renamed, **values)
    for store in kernel.nodes_of(ast.Assign):
        if array_of(store.targets[0]) != exercise.output or not isinstance(store.targets[0], ast.Subscript):
            continue
        for stored in dict.fromkeys(each.id for each in names_in(store.value)):
            if stored in added or stored in kernel.arrays:
                continue
            for other, node in added.items():
                # the one of the two that begins as a number is meant
                old, new = (other, stored) if stored in begun and other not in begun else (stored, other)
                changes: list[Change] = [
                    (each, ast.Name(new, each.ctx)) for each in kernel.nodes_of(ast.Name) if each.id == old
                ]
                values = {"grown": other, "stored": stored, "at": store.lineno}
                yield make("two-names-of-a-sum", node, *changes, **values)


@row(
    "refused",
    no_first_value=Texts(
        hint="nothing gives `{name}` a first value: a sum begins with 0, before the loop of line {loop}."
    ),
)
def sums_without_start(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A sum that grows in a loop, and that no line begins, not even under another name."""
    if _never_used(kernel):
        return
    bound = [each.id for each in bound_names(kernel.tree)]
    for node in kernel.nodes_of(ast.AugAssign):
        if isinstance(node.target, ast.Name) and bound.count(node.target.id) == 1:
            for loop in kernel.loops_around(node):
                begun = ast.Assign([ast.Name(node.target.id, ast.Store())], ast.Constant(0.0))
                values = {"name": node.target.id, "loop": loop.lineno}
                yield make("no-first-value", node, (loop, (begun, loop)), **values)


@row(
    "likely",
    never_added_to=Texts(hint="{others} grow{s} here, and nothing is ever added to `{never}`, which is needed, too."),
)
def sums_never_added_to(make: MakeCandidate, kernel: Kernel, exercise: ExerciseFacts) -> Candidates:
    """One of several sums that stays at its first value, where the others grow: the text shows it."""
    grown, begun = dict[str, ast.stmt](), set[str]()
    for node in kernel.statements:
        match node:
            case ast.AugAssign(target, ast.Add() | ast.Sub()):
                grown[ast.unparse(target)] = node
            case ast.Assign(targets, value) if is_number(value):
                begun |= {ast.unparse(each) for each in targets if isinstance(each, ast.Name) or _has_fixed_place(each)}
            case ast.Assign(targets):
                grown |= {ast.unparse(target): node for target in targets}
    for never in sorted(begun - grown.keys()):
        tree = expression(never)
        alike = [sum for sum in sorted(begun & grown.keys()) if _is_sibling(tree, expression(sum))]
        if isinstance(tree, ast.Subscript):
            places = [
                each
                for each in _targets(kernel)
                if isinstance(each, ast.Subscript) and array_of(each) == array_of(tree)
            ]
            stored = all(map(_has_fixed_place, places))
        else:
            stored = exercise.output in {array_of(t) for each in _uses(kernel, never) for t in each.targets}
        if alike and stored:
            last = max((grown[sum] for sum in alike), key=lambda node: node.lineno)
            *before, end = (f"`{sum}`" for sum in alike)
            others = f"{', '.join(before)} and {end}" if before else end
            values = {"never": never, "others": others, "s": "s" * (len(alike) == 1)}
            yield make("never-added-to", last, certain=True, **values)


@row(
    "likely",
    same_product_twice=Texts(
        hint="lines {lines} add the same product, `{product}`, so that these sums are equal: each needs a factor of "
        "its own."
    ),
)
def repeated_products(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Two sums that grow by the same product, one after the other: the text shows it."""
    for body in kernel.all_bodies:
        added = [each for each in body if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add)]
        products: dict[str, dict[str, int]] = {}
        for node in added:
            if isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Mult):
                sums = products.setdefault(ast.unparse(node.value), {})
                sums.setdefault(ast.unparse(node.target), node.lineno)
        for product, sums in products.items():
            if len(sums) > 1:
                *before, last = map(str, sums.values())
                lines = f"{', '.join(before)} and {last}"
                yield make("same-product-twice", int(last), certain=True, lines=lines, product=product)


def _uses(kernel: Kernel, variable: str) -> list[ast.Assign]:
    return [node for node in kernel.nodes_of(ast.Assign) if variable in {each.id for each in names_in(node.value)}]


def _targets(kernel: Kernel) -> list[ast.expr]:
    """The places of all assignments."""
    plain = [target for node in kernel.nodes_of(ast.Assign) for target in node.targets]
    return [*plain, *(node.target for node in kernel.nodes_of(ast.AugAssign))]


def _has_fixed_place(target: ast.expr) -> bool:
    """Whether this is an element whose indices are numbers."""
    return isinstance(target, ast.Subscript) and all(isinstance(index, ast.Constant) for index in indices(target))


def _is_sibling(one: ast.expr, other: ast.expr) -> bool:
    """Whether two sums belong together: two variables, or two elements of an array."""
    return type(one) is type(other) and (isinstance(one, ast.Name) or array_of(one) == array_of(other))


@row(
    "likely",
    size_overwritten=Texts(hint="`{statement}` gives {name} another value than line {at}, which was the right one."),
    other_size=Texts(hint="`{statement}`: {name} is used below as another size than {written}."),
    sizes_of_a_shape=Texts(
        hint="`{statement}`: a shape has the number of rows first, then that of columns, so {name} and {other} are in "
        "each other's place."
    ),
)
def wrong_sizes(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A size that gets a second, wrong value, or that is taken from another dimension or matrix."""
    first: dict[str, ast.Assign] = {}
    for node in kernel.nodes_of(ast.Assign):
        bound = {each.id for target in node.targets for each in bound_names(target)}
        if ".shape" not in ast.unparse(node.value):
            continue
        for again in sorted(bound & first.keys()):
            values = {"statement": _as_written(kernel, node), "name": again, "at": first[again].lineno}
            yield make("size-overwritten", node, (node, ()), **values)
        first |= {id: node for id in bound if id not in first}
    shapes = [f"{array}.shape[{n}]" for array in kernel.arguments for n in (0, 1)]
    for node in kernel.nodes_of(ast.Assign):
        for target, value in _pairs(node):
            if isinstance(target, ast.Name) and ast.unparse(value) in shapes:
                values = {"statement": _as_written(kernel, node), "name": target.id, "written": ast.unparse(value)}
                others = [shape for shape in shapes if shape != ast.unparse(value)]
                yield from (make("other-size", node, (value, expression(shape)), **values) for shape in others)
        match node:
            case ast.Assign([ast.Tuple([ast.Name(one), ast.Name(two)]) as names], ast.Attribute(attr="shape")):
                values = {"statement": _as_written(kernel, node), "name": one, "other": two}
                yield make("sizes-of-a-shape", node, (names, ast.Tuple(names.elts[::-1], ast.Store())), **values)


def _as_written(kernel: Kernel, node: ast.stmt) -> str:
    """The first line of a statement in the source."""
    return dict(kernel.lines)[node.lineno].strip()


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return [*zip(target.elts, value.elts, strict=False)]
    return [(target, value)]


@row(
    "likely",
    the_same_buffer=Texts(
        hint="`{statement}` gives `{name}` the same value in every iteration: the buffers must take turns, so that no "
        "iteration stores into the one that is read."
    ),
    no_turn=Texts(
        hint="nothing gives `{name}` another value before this line stores into a buffer: the buffers must take turns, "
        "so that no iteration stores into the one that is read."
    ),
    buffers_in_turn=Texts(
        hint="`{statement}` does not let the buffers take turns: from iteration to iteration `{name}` must be {numbers}"
    ),
)
def buffers_not_alternating(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """The number of a buffer, an index of a shared array, that does not alternate from iteration to iteration."""
    buffers = {
        index.id: kernel.shapes[array_of(place)][0]
        for place in kernel.nodes_of(ast.Subscript)
        if array_of(place) in kernel.shapes and len(kernel.shapes[array_of(place)]) == len(indices(place)) > 1
        for index in indices(place)[:1]
        if isinstance(index, ast.Name)
    }
    for node in kernel.statements:
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        if not isinstance(target, ast.Name) or target.id not in buffers or not kernel.loops_around(node):
            continue
        fixed = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        id = "the-same-buffer" if fixed else "buffers-in-turn"
        change = (node, _in_turn(target.id, buffers[target.id]))
        values = {"statement": ast.unparse(node), "name": target.id, "numbers": _numbers_in_turn(buffers[target.id])}
        yield make(id, node, change, **values)
    changed = {each.id for loop in kernel.loops for each in bound_names(loop)}
    for index in sorted(buffers.keys() - changed):
        for fill in kernel.fills:
            if any(each.id == index for each in names_in(fill.target.slice)) and kernel.loops_around(fill.statement):
                new = (_in_turn(index, buffers[index]), fill.statement)
                yield make("no-turn", fill.statement, (fill.statement, new), name=index)


def _numbers_in_turn(buffers: ast.expr) -> str:
    """The numbers of so many buffers one after the other, twice, in words."""
    match buffers:
        case ast.Constant(int(count)) if count < 5:
            return f"{', '.join(map(str, [*range(count)] * 2))}, …"
    return f"0, 1, …, {ast.unparse(buffers)} - 1, and then 0 again."


def _in_turn(index: str, buffers: ast.expr) -> ast.Assign:
    """A statement that gives the number of the next of the buffers to a variable."""
    following = ast.BinOp(load_name(index), ast.Add(), ast.Constant(1))
    return ast.Assign([ast.Name(index, ast.Store())], ast.BinOp(following, ast.Mod(), buffers))


ROWS = (
    sums_with_two_names,
    sums_without_start,
    sums_never_added_to,
    repeated_products,
    wrong_sizes,
    buffers_not_alternating,
)
