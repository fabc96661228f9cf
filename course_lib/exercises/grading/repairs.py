"""Find the cause of a wrong kernel by repairs: undo one likely mistake at a time, and launch the kernel again.

A cause that is found in this way is certain: with that change, the kernel gives the right values.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import FunctionType
from typing import Any, TypeGuard

from ...simulator.language.source import defined, parsed
from .causes import Cause, shared_arrays, tile_width
from .source import Submission, read, written

#: A repair: the nodes to replace, with their replacements, and the cause that it would prove.
Candidate = tuple[tuple[tuple[ast.AST, ast.AST], ...], Cause]

#: The file of changed kernels.
_FILE = "<a changed kernel>"

_BEGINS_AGAIN = "{} starts again in every iteration: set it to zero once, before the loop."

#: Limit for repairs, so that a student need not wait: a launch on small matrices takes some hundredths of a second.
_MOST = 40


def cause_by_repair(
    source: Submission, is_right: Callable[[FunctionType], bool], fixed: tuple[str, ...] = ()
) -> Cause | None:
    """The first likely mistake whose repair makes ``is_right(kernel)`` true, or None; lines in ``fixed`` are right."""
    if source.tree is None:
        return None
    candidates = _candidates(source.tree, source)
    own = (found for found in candidates if source.lines.get(found[1].line, "").strip() not in fixed)
    return _first_right(source, own, is_right)


def cause_by_length(source: Submission, is_right: Callable[[FunctionType], bool]) -> Cause | None:
    """The loop over a wrong size of the matrices, if another size makes the kernel right; else None."""
    return _first_right(source, _other_lengths(source.tree), is_right) if source.tree else None


def _first_right(
    source: Submission, candidates: Iterable[Candidate], is_right: Callable[[FunctionType], bool]
) -> Cause | None:
    for changes, cause in itertools.islice(candidates, _MOST):
        if is_right(repaired(source, changes)):
            return cause
    return None


def _candidates(tree: ast.FunctionDef, source: Submission) -> Iterator[Candidate]:
    yield from _forgotten_sums(tree)
    yield from _sums_begun_in_the_loop(tree)
    yield from _other_widths(tree, source)
    yield from _too_long_ranges(tree)
    yield from _swapped_indices(tree)
    yield from _written_sizes(tree)
    yield from _exchanged_directions(tree)


def _forgotten_sums(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """``acc = a * b`` in a loop instead of ``acc += a * b``: one of them, or all."""
    inside = {inner for loop in ast.walk(tree) if isinstance(loop, ast.For | ast.While) for inner in ast.walk(loop)}
    stored = Counter(
        _base(node) for node in ast.walk(tree) if isinstance(node, _PLACES) and isinstance(node.ctx, ast.Store)
    )
    found: dict[str, list[Candidate]] = {}
    for node in ast.walk(tree):
        if node in inside and isinstance(node, ast.Assign) and isinstance(node.targets[0], _PLACES):
            target, name = node.targets[0], ast.unparse(node.targets[0])
            # A sum is also set to zero; a variable that is assigned only once is not a sum.
            used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
            if stored[_base(target)] < 2 or _base(target) in used:
                continue
            added = ast.AugAssign(target, ast.Add(), node.value)
            computed = any(isinstance(part, ast.Subscript | ast.BinOp) for part in ast.walk(node.value))
            if isinstance(target, ast.Subscript) and not computed:
                continue  # the sums of an array are set to zero in a loop
            replaces = f"`{name} = …` replaces the sum in every iteration; add to it with `{name} += …`."
            cause = Cause(node.lineno, replaces if computed else _BEGINS_AGAIN.format(name))
            found.setdefault(_base(target), []).append((((node, added),), cause))
    alone = [candidate for candidates in found.values() for candidate in candidates]
    yield from alone
    for candidates in [*found.values(), alone]:
        if len(candidates) > 1:
            yield tuple(change for changes, _ in candidates for change in changes), candidates[0][1]


def _sums_begun_in_the_loop(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """``acc = 0`` only in the loop that adds to acc, not before it."""
    first = tree.body[0]
    for loop in ast.walk(tree):
        if loop is first or not isinstance(loop, ast.For | ast.While):
            continue
        added = {ast.unparse(node.target) for node in ast.walk(loop) if isinstance(node, ast.AugAssign)}
        for node in loop.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in added and _is_number(node.value):
                begun = ast.If(ast.Constant(True), [node, first], [])
                what = _BEGINS_AGAIN.format(ast.unparse(node.targets[0]))
                yield ((node, ast.Pass()), (first, begun)), Cause(node.lineno, what)


def _is_number(value: ast.expr) -> bool:
    """Whether ``value`` is a number such as 0, 0.0 or float32(0)."""
    return isinstance(value.args[0] if isinstance(value, ast.Call) and value.args else value, ast.Constant)


#: The kinds of targets for a sum: a variable, or an element of an array.
_PLACES = (ast.Name, ast.Subscript)


def _base(place: ast.AST) -> str:
    """The name of the variable or of the array that a place belongs to."""
    while isinstance(place, ast.Subscript):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def _other_widths(tree: ast.FunctionDef, source: Submission) -> Iterator[Candidate]:
    """Another constant of the notebook instead of the width of the tiles."""
    width, known = tile_width(tree), source.known
    if width is None or not isinstance(known.get(width), int):
        return
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    others = {node.id for node in names if type(known.get(node.id)) is int and known[node.id] != known[width]}
    for other in sorted(others - {width}):
        places = [node for node in names if node.id == other]
        changes = tuple((place, ast.Name(width, ast.Load())) for place in places)
        line = min(place.lineno for place in places)
        yield changes, Cause(line, f"{other} is {known[other]}; these tiles are {width} = {known[width]} wide.")


def _too_long_ranges(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """A loop inside the loop over tiles that does not run over exactly one tile."""
    width = tile_width(tree)
    if width is None:
        return
    for outer in ast.walk(tree):
        if not isinstance(outer, ast.For):
            continue
        for loop in ast.walk(outer):
            if loop is outer or not isinstance(loop, ast.For) or not _is_short_range(loop.iter):
                continue
            length = loop.iter.args[0]
            written = ast.unparse(length)
            if written != width:
                if written == f"{width} - 1":
                    what = f"leaves out the end of the tile: range({width}) already stops at {width} - 1."
                else:
                    what = (
                        "is not the length of a tile: the outer loop goes from tile to tile, and inside a tile it is "
                        f"range({width})."
                    )
                cause = Cause(loop.lineno, f"range({written}) {what}")
                yield ((length, ast.Name(width, ast.Load())),), cause


def _other_lengths(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """Another size of the matrices as the end of a loop."""
    sizes = [*_sizes(tree), *_shapes(tree)]
    for loop in ast.walk(tree):
        if isinstance(loop, ast.For) and _is_short_range(loop.iter):
            length, written = loop.iter.args[0], ast.unparse(loop.iter.args[0])
            for size in sizes if written in sizes else ():
                if written != size:
                    cause = Cause(loop.lineno, f"this loop goes over {written}, and must go over {size}.")
                    yield ((length, ast.parse(size, mode="eval").body),), cause


def _sizes(tree: ast.FunctionDef) -> list[str]:
    """The variables that hold sizes of the matrices."""
    shaped = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and ".shape" in ast.unparse(node.value)]
    targets = [part for node in shaped for target in node.targets for part in ast.walk(target)]
    return sorted({part.id for part in targets if isinstance(part, ast.Name)})


def _shapes(tree: ast.FunctionDef) -> list[str]:
    """The shapes of the kernel's arguments, as expressions."""
    return [f"{array.arg}.shape[{i}]" for array in tree.args.args for i in (0, 1)]


def _exchanged_directions(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """x and y exchanged: in the index of the block, or in all of blockIdx, blockDim and threadIdx."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in ("x", "y")]
    for asked in (["cuda.blockIdx"], ["cuda.blockIdx", "cuda.blockDim", "cuda.threadIdx"]):
        places = [node for node in nodes if ast.unparse(node.value) in asked]
        if {place.attr for place in places} == {"x", "y"}:
            changes = tuple((p, ast.Attribute(p.value, "y" if p.attr == "x" else "x", ast.Load())) for p in places)
            line = min(place.lineno for place in places)
            yield changes, Cause(line, "x and y look swapped here: x counts columns and y counts rows.")


def _written_sizes(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """A number in a loop, a guard or a product instead of a size of the matrices, right only for one launch."""
    asked = _shapes(tree)
    for place in ast.walk(tree):
        if isinstance(place, ast.Call) and ast.unparse(place.func) == "range":
            numbers = place.args
        elif isinstance(place, ast.Compare):
            numbers = place.comparators
        elif isinstance(place, ast.BinOp) and isinstance(place.op, ast.Mult):
            numbers = [place.left, place.right]
        else:
            continue
        for number in numbers:
            if isinstance(number, ast.Constant) and type(number.value) is int and number.value > 2:
                for size in [*_sizes(tree), *asked]:
                    cause = Cause(
                        number.lineno,
                        f"{number.value} is right for some matrices only: other matrices have other sizes, so use "
                        f"{size}.",
                    )
                    yield ((number, ast.parse(size, mode="eval").body),), cause


def _is_short_range(called: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(called, ast.Call) and ast.unparse(called.func) == "range" and len(called.args) == 1


def _swapped_indices(tree: ast.FunctionDef) -> Iterator[Candidate]:
    """Two indices of a shared array exchanged: in one place, or in every place of one statement."""
    arrays = shared_arrays(tree)
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AugAssign)]
    # Indices exchanged in the store or in the load may have the same effect: the load is the more likely mistake.
    for statement in sorted(statements, key=lambda node: ast.unparse(node).split("[")[0] in arrays):
        places = [
            node
            for node in ast.walk(statement)
            if isinstance(node, ast.Subscript)
            and ast.unparse(node.value) in arrays
            and isinstance(node.slice, ast.Tuple)
            and len(node.slice.elts) == 2
        ]
        for chosen in [[place] for place in places] + ([places] if len(places) > 1 else []):
            changes = tuple((place, _exchanged(place)) for place in chosen)
            shown = " and ".join(f"`{ast.unparse(place)}`" for place in chosen)
            if isinstance(statement, ast.Assign) and chosen == [statement.targets[0]] and places == chosen:
                what = (
                    f"the two sides of `{ast.unparse(statement)}` do not match: the indices of one of them are the "
                    "wrong way round."
                )
            else:
                what = (
                    f"the indices of {shown} are the wrong way round: the first counts rows of the tile, the second "
                    "columns."
                )
            yield changes, Cause(statement.lineno, what)


def _exchanged(place: ast.Subscript) -> ast.Subscript:
    assert isinstance(place.slice, ast.Tuple)
    first, second = place.slice.elts
    return ast.Subscript(place.value, ast.Tuple([second, first], ast.Load()), place.ctx)


def _replaced(part: Any, changes: Mapping[ast.AST, ast.AST], above: Set[ast.AST]) -> Any:
    """Return a part of the tree with these nodes replaced; only the nodes ``above`` them are copied."""
    if isinstance(part, list):
        return [_replaced(item, changes, above) for item in part]
    if part in changes:
        return changes[part]
    if part not in above:
        return part
    fields = {name: _replaced(value, changes, above) for name, value in ast.iter_fields(part)}
    return ast.copy_location(type(part)(**fields), part)


def spread(source: Submission) -> Submission:
    """The same kernel with each statement on a separate line, and no loop as the first statement of a while."""
    assert source.tree is not None
    tree = copy.deepcopy(_undecorated(source.tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.While) and isinstance(node.body[0], ast.For | ast.While):
            node.body.insert(0, ast.copy_location(ast.Pass(), node))
    count = itertools.count(1)

    def number(node: ast.AST, line: int) -> None:
        line = next(count) if isinstance(node, ast.stmt) else line
        if "lineno" in node._attributes:
            vars(node).update(lineno=line, end_lineno=line)
        for child in ast.iter_child_nodes(node):
            number(child, line)

    number(tree, 0)
    function = _defined(tree, source)
    parsed(function, tree, written(tree))
    laid_out = read(function)
    assert laid_out is not None
    return laid_out


def repaired(source: Submission, changes: tuple[tuple[ast.AST, ast.AST], ...]) -> FunctionType:
    """Return the changed function. The simulator takes its syntax tree from here: writing and reading a text takes as
    long as a launch."""
    above = set[ast.AST]()
    for old, new in changes:
        ast.fix_missing_locations(ast.copy_location(new, old))
        parent = source.parents.get(old)
        while parent is not None and parent not in above:
            above.add(parent)
            parent = source.parents.get(parent)
    tree = _undecorated(_replaced(source.tree, dict(changes), above))
    function = _defined(tree, source)
    parsed(function, tree, tuple(source.lines.items()))
    return function


def _undecorated(tree: ast.FunctionDef) -> ast.FunctionDef:
    bare = copy.copy(tree)
    bare.decorator_list, bare.returns = [], None
    return bare


def _defined(tree: ast.FunctionDef, source: Submission) -> FunctionType:
    return defined(tree, _FILE, dict(source.known), source.function.__defaults__)
