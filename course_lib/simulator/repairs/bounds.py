"""Rows for indices outside an array: guards, and directions that are exchanged."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from ..edits import Change, expression
from ..findings import Finding
from ..launch_shape import y_and_x
from .kernel_syntax import Kernel, array_of, bound_names, indices, names_in, subscripts
from .table import Candidates, MakeCandidate, Texts, row


@row(
    "out-of-bounds",
    guard=Texts(
        "put `{guard}` around {lines}",
        "{outside}, and nothing keeps {them} away from {what}: put `{guard}` around {guarded}.",
    ),
    guard_of_other_lines=Texts(
        "put `{guard}` around {lines}",
        "this line is not inside the `if {test}` of line {at}: threads that have no element of {array} come here, too. "
        "That condition belongs around all lines that load or store.",
    ),
    guard_beside_another=Texts("put `{guard}` around {lines}"),
    too_many_by_one=Texts(
        "write `{new}` instead of `<=` in line {at}",
        "`{written}` also {holds} where both sides are equal, and that is one too many: numbers begin at 0, so the "
        "last one is the size minus 1.",
    ),
)
def guards(make: MakeCandidate, kernel: Kernel, finding: Finding) -> Candidates:
    """An if around the statement, or around the rest of the kernel: a grid has more threads than there are elements."""
    node = kernel.statement(finding.line)
    if node is None:
        return
    for changed in _less(kernel, node):
        compared, new = changed[0]
        written = "` and `".join(ast.unparse(old) for old, _ in changed)
        values = {"new": ast.unparse(new), "written": written, "at": compared.lineno}
        values["holds"] = "holds" if len(changed) == 1 else "hold"
        yield make("too-many-by-one", compared, *changed, **values)
    places = [part for part in subscripts(node) if array_of(part) in kernel.arrays]
    limits = _limits(kernel, places)
    if not limits:
        return
    shapes = (f"{name} < {array_of(place)}.shape[{dimension}]" for name, (place, dimension) in limits.items())
    test = expression(" and ".join(shapes))
    writes = any(isinstance(place.ctx, ast.Store) for place in places) or "atomic" in ast.unparse(node)
    values = {"guard": f"if {ast.unparse(test)}:", "what": "this line", "guarded": "it", **_outside(limits)}
    around = [owner for _, _, owner in kernel.enclosing_bodies(node) if isinstance(owner, ast.If)]
    tested = {each.id for owner in around for each in names_in(owner.test)}
    id = "guard-beside-another" if tested & set(limits) else "guard"
    if id == "guard" and (other := _guard_of_others(kernel, around, set(limits))):
        id, values = "guard-of-other-lines", values | {"test": ast.unparse(other.test), "at": other.lineno}
    if writes:  # a value that is only read here is used elsewhere
        lines = f"line {node.lineno}"
        change = (node, ast.If(test, [node], []))
        yield make(id, node, change, **values, lines=lines, must_fill=kernel.stored)
    for body, _, owner in kernel.enclosing_bodies(node):
        if owner is kernel.tree:
            known = [i for i, one in enumerate(body) if set(limits) & {each.id for each in bound_names(one)}]
            rest = body[known[-1] + 1 :] if known else []
            if rest not in ([], [node]) and not any("sync" in ast.unparse(one) for one in rest):
                first, *others = rest
                changes: tuple[Change, ...] = ((first, ast.If(test, rest, [])), *((one, ()) for one in others))
                lines = f"lines {first.lineno} to {rest[-1].end_lineno}"
                what = f"line {node.lineno}"
                values |= {"what": what, "guarded": lines}
                yield make(id, first, *changes, **values, lines=lines, must_fill=kernel.stored)


def _limits(kernel: Kernel, places: Sequence[ast.Subscript]) -> dict[str, tuple[ast.Subscript, int]]:
    """The numbers of threads in indices of these places, each with a place, first of a store, and the dimension."""
    limits: dict[str, tuple[ast.Subscript, int]] = {}
    for place in sorted(places, key=lambda part: not isinstance(part.ctx, ast.Store)):
        for dimension, index in enumerate(indices(place)):
            if isinstance(index, ast.Name) and index.id in kernel.thread_numbers:
                limits.setdefault(index.id, (place, dimension))
    return limits


def _outside(limits: dict[str, tuple[ast.Subscript, int]]) -> dict[str, str]:
    """Which threads are outside, in words: those beyond the rows of A, or the elements of C; and the arrays."""
    of = {name: array_of(place) for name, (place, _) in limits.items()}
    arrays = " and ".join(dict.fromkeys(of.values()))
    kinds = {
        name: ("row", "column")[dimension] if len(indices(place)) == 2 else "element"
        for name, (place, dimension) in limits.items()
    }
    if len(set(of.values())) > 1:
        lacking = " or a ".join(f"`{name}` that is no {kinds[name]} of {array}" for name, array in of.items())
        return {"outside": f"some threads have a {lacking}", "them": "them", "array": arrays}
    things = "elements" if len(limits) > 1 else f"{next(iter(kinds.values()))}s"
    return {"outside": f"there are more threads than {things} of {arrays}", "them": "the others", "array": arrays}


def _guard_of_others(kernel: Kernel, around: Sequence[ast.If], limits: set[str]) -> ast.If | None:
    """An if that tests some of these numbers and nothing else, and is not around the statement."""
    for other in kernel.nodes_of(ast.If):
        tested = {each.id for each in names_in(other.test) if each.id in kernel.locals} - {
            *kernel.sizes,
            *kernel.arguments,
        }
        if other not in around and tested and tested <= limits:
            return other
    return None


def _with_less(test: ast.Compare) -> ast.Compare:
    """A comparison with `<` in the place of each `<=`."""
    return ast.Compare(test.left, [ast.Lt() if isinstance(op, ast.LtE) else op for op in test.ops], test.comparators)


def _less(kernel: Kernel, node: ast.stmt) -> Iterator[list[tuple[ast.Compare, ast.Compare]]]:
    """`<` instead of `<=` in the conditions above a statement; each, then all of them."""
    tests = [owner.test for _, _, owner in kernel.enclosing_bodies(node) if isinstance(owner, ast.If)]
    found = [part for test in tests for part in ast.walk(test) if isinstance(part, ast.Compare)]
    changes = [(part, _with_less(part)) for part in found if any(isinstance(op, ast.LtE) for op in part.ops)]
    yield from ([change] for change in changes)
    if len(changes) > 1:
        yield changes


@row("sectors", "out-of-bounds", exchanged_x_and_y=Texts("{change}"))
def exchanged(make: MakeCandidate, kernel: Kernel, problem: Any) -> Candidates:
    """x and y exchanged: neighbouring threads access neighbouring elements, or each array has its own shape."""
    cost = not isinstance(problem, Finding)
    exchanges = cost and any(y_and_x(dims) != y_and_x(y_and_x(dims)) for dims in (kernel.grid, kernel.block))
    more = {"exchanges": exchanges, "must_fill": () if cost else kernel.stored}
    also = ", and exchange x and y of grid and block" if exchanges else ""
    for node in kernel.statements:
        match node:
            case ast.Assign([ast.Tuple([first, second]) as names], ast.Call() as call):
                if ast.unparse(call.func).endswith("grid"):
                    new = ast.Tuple([second, first], ast.Store())
                    text = f"write `{ast.unparse(new)} = {ast.unparse(call)}` in line {node.lineno}{also}"
                    yield make("exchanged-x-and-y", node, (names, new), change=text, **more)
    own = ("threadIdx", "blockIdx", "blockDim", "gridDim")
    parts = [
        part
        for part in kernel.nodes_of(ast.Attribute)
        if part.attr in "xy" and ast.unparse(part.value).rpartition(".")[2] in own
    ]
    if {part.attr for part in parts} == {"x", "y"}:
        other = {"x": "y", "y": "x"}
        changes = tuple((part, ast.Attribute(part.value, other[part.attr], ast.Load())) for part in parts)
        yield make(
            "exchanged-x-and-y", parts[0], *changes, change=f"exchange x and y in {lines_of(parts)}{also}", **more
        )


def lines_of(nodes: Sequence[ast.expr]) -> str:
    """Return the lines of nodes in words: line 3, or lines 3, 5."""
    lines = sorted({node.lineno for node in nodes})
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


ROWS = (exchanged, guards)
