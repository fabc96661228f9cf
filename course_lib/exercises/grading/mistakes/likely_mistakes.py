"""Rows of likely mistakes, each with the one change that repairs it: it is named if a launch proves the change."""

import ast
from collections import Counter
from typing import Any

from ....simulator.edits import Change, expression
from ....simulator.repairs.kernel_syntax import (
    Kernel,
    array_of,
    first_line,
    indices,
    is_number,
    load_name,
    names_in,
    same_text,
    subscripts,
)
from ....simulator.repairs.table import Candidate, Candidates, MakeCandidate, Texts, row
from .in_text import is_short_range


@row(
    "likely",
    bits_for_and=Texts(
        hint="{sign} combines bits, and is evaluated before any comparison: what is compared here is `{part}`. "
        "Between two conditions write {word}."
    ),
)
def bit_operators_in_conditions(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``a < m & b < n``, which compares ``m & b``, instead of ``a < m and b < n``."""
    for node in kernel.nodes_of(ast.Compare):
        for part in (parts := [node.left, *node.comparators]):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr):
                sign, word = ("&", "and") if isinstance(part.op, ast.BitAnd) else ("|", "or")
                change = (node, _conditions(parts, node.ops))
                yield make("bits-for-and", node, change, sign=sign, part=ast.unparse(part), word=word)


def _conditions(parts: list[ast.expr], ops: list[ast.cmpop]) -> ast.expr:
    """A chain of comparisons, cut in two at each part that combines bits."""
    for i, part in enumerate(parts):
        match part:
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as sign, right):
                before, after = ([*parts[:i], left], ops[:i]), ([right, *parts[i + 1 :]], ops[i:])
                word = ast.And() if isinstance(sign, ast.BitAnd) else ast.Or()
                return ast.BoolOp(word, [_conditions(*before), _conditions(*after)])
    return ast.Compare(parts[0], ops, parts[1:]) if ops else parts[0]


@row(
    "likely",
    sum_replaced=Texts(hint="`{name} = …` replaces the sum in every iteration; add to it with `{name} += …`."),
    sum_begins_again=Texts(hint="{name} starts again in every iteration: {advice}."),
)
def sums_replaced(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``acc = a * b`` in a loop instead of ``acc += a * b``: one of them, or all."""
    inside = {inner for loop in kernel.loops for inner in ast.walk(loop)}
    places: list[ast.Name | ast.Subscript] = [*kernel.nodes_of(ast.Name), *kernel.nodes_of(ast.Subscript)]
    stored = Counter(array_of(node) for node in places if isinstance(node.ctx, ast.Store))
    found: dict[str, list[Candidate]] = {}
    for node in kernel.nodes_of(ast.Assign):
        target = node.targets[0]
        if node in inside and isinstance(target, ast.Name | ast.Subscript):
            # A sum is also set to zero; a variable that is assigned only once is not a sum.
            base = array_of(target)
            if stored[base] < 2 or base in {part.id for part in names_in(node.value)}:
                continue
            computed = any(isinstance(part, ast.Subscript | ast.BinOp) for part in ast.walk(node.value))
            if isinstance(target, ast.Subscript) and not computed:
                continue  # the sums of an array are set to zero in a loop
            added = ast.AugAssign(target, ast.Add(), node.value)
            id = "sum-replaced" if computed else "sum-begins-again"
            values = {"name": ast.unparse(target), "advice": _begun_before(kernel, node)}
            found.setdefault(base, []).append(make(id, node, (node, added), **values))
    alone = [each for several in found.values() for each in several]
    yield from alone
    for several in [*found.values(), alone]:
        if len(several) > 1:
            yield several[0].joined(several[1:])


def _begun_before(kernel: Kernel, node: ast.Assign) -> str:
    """What to do about a sum that a line in a loop begins again, in words: a line before the loop may begin it, too."""
    loop = kernel.loops_around(node)[-1]
    for other in kernel.nodes_of(ast.Assign):
        if same_text(other.targets[0], node.targets[0]) and is_number(other.value) and other.lineno < loop.lineno:
            return f"line {other.lineno} sets it to zero before the loop, so take this line away"
    return "set it to zero once, before the loop"


@row(
    "likely",
    sum_begins_again=Texts(hint="{name} starts again in every iteration: set it to zero once, before the loop."),
)
def sums_restarted(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``acc = 0`` only in the loop that adds to acc, not before it."""
    first = kernel.tree.body[0]
    for loop in kernel.loops:
        added = {ast.unparse(node.target) for node in ast.walk(loop) if isinstance(node, ast.AugAssign)}
        for node in loop.body if loop is not first else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in added and is_number(node.value):
                begun = ast.If(ast.Constant(True), [node, first], [])
                target = ast.unparse(node.targets[0])
                yield make("sum-begins-again", node, (node, ast.Pass()), (first, begun), name=target)


@row("likely", other_width=Texts(hint="{other} is {value}; these tiles are {width} = {wide} wide."))
def wrong_tile_widths(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Another constant of the notebook instead of the width of the tiles."""
    width, known = kernel.width, kernel.names
    if width is None or not isinstance(known.get(width), int):
        return
    found = [node for node in kernel.nodes_of(ast.Name) if isinstance(node.ctx, ast.Load)]
    others = {node.id for node in found if type(known.get(node.id)) is int and known[node.id] != known[width]}
    for other in sorted(others - {width}):
        places = [node for node in found if node.id == other]
        values = {"other": other, "value": known[other], "width": width, "wide": known[width]}
        changes = [(place, load_name(width)) for place in places]
        yield make("other-width", min(place.lineno for place in places), *changes, **values)


@row(
    "likely",
    one_short_of_the_tile=Texts(
        hint="range({written}) leaves out the end of the tile: range({width}) already stops at {width} - 1."
    ),
    not_along_the_tile=Texts(
        hint="range({written}) is not the length of a tile: the outer loop goes from tile to tile, and inside a tile "
        "it is range({width})."
    ),
    longer_than_the_step=Texts(
        hint="the loop of line {outer} goes on by {width} in each iteration, so this one has {width} iterations, and "
        "not {written}."
    ),
    begins_inside_the_tile=Texts(
        hint="range({written}) begins at {first}, and the places in a tile begin at 0 in every iteration of the loop "
        "of line {outer}: inside a tile it is range({width})."
    ),
)
def wrong_tile_ranges(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A loop inside the loop over tiles that does not run over exactly one tile."""
    widths = list(dict.fromkeys(ast.unparse(size) for shape in kernel.shapes.values() for size in shape))
    for outer in kernel.nodes_of(ast.For):
        for loop in ast.walk(outer):
            if loop is outer or not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
                continue
            written = ", ".join(map(ast.unparse, loop.iter.args))
            if ast.unparse(loop.iter.func) != "range":
                continue
            first = ast.unparse(loop.iter.args[0]) if len(loop.iter.args) > 1 else "0"
            for width in widths:
                id = "one-short-of-the-tile" if written == f"{width} - 1" else "not-along-the-tile"
                id = id if first == "0" else "begins-inside-the-tile"
                if written != width:
                    new = ast.Call(loop.iter.func, [expression(width)], [])
                    values = {"written": written, "width": width, "first": first, "outer": outer.lineno}
                    yield make(id, loop, (loop.iter, new), **values)
            match outer.iter:
                case ast.Call(args=[_, _, step]) if not widths and is_short_range(loop.iter):
                    if loop.iter.args[0] in kernel.nodes_of(ast.Name):
                        new = ast.Call(loop.iter.func, [step], [])
                        values = {"written": written, "width": ast.unparse(step), "outer": outer.lineno}
                        yield make("longer-than-the-step", loop, (loop.iter, new), **values)


def _filled(kernel: Kernel, array: str) -> str:
    """How a shared array is filled, in words; empty if no statement shows it."""
    for statement, target, source in kernel.fills:
        if array_of(target) == array:
            return f"line {statement.lineno} fills `{ast.unparse(target)}` with `{ast.unparse(source)}`"
    return ""


def _sides(kernel: Kernel, stored: list[ast.Subscript]) -> dict[str, str]:
    """What is stored into places of shared arrays, and how it is read, in words."""
    read: dict[int, list[str]] = {}
    for array in dict.fromkeys(map(array_of, stored)):
        for node in kernel.statements:
            plain = not isinstance(node, ast.For | ast.While | ast.If)
            places = [
                each
                for each in subscripts(node)
                if plain and isinstance(each.ctx, ast.Load) and array_of(each) == array
            ]
            if places:
                read.setdefault(node.lineno, []).append(f"`{ast.unparse(places[0])}`")
                break
    reads = " and ".join(f"line {line} reads {' and '.join(places)}" for line, places in read.items())
    of = {fill.target: fill for fill in kernel.fills}
    shown = []
    for place in stored:
        fill, statement = of.get(place), kernel.statement_of(place)
        value: ast.expr = statement.value if isinstance(statement, ast.Assign) else place
        if fill is not None and fill.source in ast.walk(statement):
            value = fill.source
        shown.append(f"`{ast.unparse(value)}` as `{ast.unparse(place)}`")
    return {"stored": " and ".join(dict.fromkeys(shown)), "reads": reads or "other lines read it"}


def _same_names(kernel: Kernel, stored: ast.Subscript) -> str:
    """The text of a copy whose two sides have the same two names as indices, in another order; else empty."""
    for statement, target, source in kernel.fills:
        names = [ast.unparse(index) for index in indices(target)]
        if target is stored and [ast.unparse(index) for index in indices(source)] == names[::-1]:
            return f"{ast.unparse(target)} = {ast.unparse(source)}" if statement else ""
    return ""


@row(
    "likely",
    sides_do_not_match=Texts(
        hint="this stores {stored}, and {reads}: exchange the two indices, in the store or in the read, not in both."
    ),
    two_orders_in_a_copy=Texts(
        hint="the two sides of `{copy}` have the same indices in different orders, so the copy is transposed, and "
        "{reads}."
    ),
    swapped_indices=Texts(
        hint="the indices of {places} are the wrong way round for the way in which this kernel stores the tile{filled}."
    ),
)
def exchanged_indices(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Two indices of a shared array exchanged: in one place, in every place of one statement, or in all stores."""
    statements = [each for each in kernel.nodes if isinstance(each, ast.Assign | ast.AugAssign)]
    all_stores: list[ast.Subscript] = []
    # Indices exchanged in the store or in the load may have the same effect: the load is the more likely mistake.
    for statement in sorted(statements, key=lambda node: array_of(_target(node)) in kernel.shared):
        places = [
            each for each in subscripts(statement) if ast.unparse(each.value) in kernel.shared and _is_pair(each.slice)
        ]
        for chosen in [[place] for place in places] + ([places] if len(places) > 1 else []):
            changes = [exchanged(place) for place in chosen]
            if isinstance(statement, ast.Assign) and places == chosen == [statement.targets[0]]:
                all_stores.append(places[0])
                values, copy = _sides(kernel, places), _same_names(kernel, places[0])
                id = "two-orders-in-a-copy" if copy else "sides-do-not-match"
                yield make(id, statement, *changes, copy=copy, **values)
            else:
                shown = " and ".join(f"`{ast.unparse(place)}`" for place in chosen)
                filled = _filled(kernel, array_of(chosen[0]))
                yield make("swapped-indices", statement, *changes, places=shown, filled=filled and f": {filled}")
    if len(all_stores) > 1:
        lines = tuple(kernel.statement_of(place).lineno for place in all_stores)
        values = _sides(kernel, all_stores)
        yield make("sides-do-not-match", min(lines), *map(exchanged, all_stores), more_lines=lines, **values)


def _target(node: ast.Assign | ast.AugAssign) -> ast.expr:
    return node.target if isinstance(node, ast.AugAssign) else node.targets[0]


def _is_pair(index: ast.expr) -> bool:
    return isinstance(index, ast.Tuple) and len(index.elts) == 2


def exchanged(place: ast.Subscript) -> Change:
    """The change that exchanges two indices."""
    return place.slice, ast.Tuple(indices(place)[::-1], ast.Load())


@row(
    "likely",
    written_size=Texts(
        hint="{number} is right for some matrices only: other matrices have other sizes, so use {size}."
    ),
)
def literal_sizes(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A number in a loop, a guard or a product instead of a size of the matrices, right only for one launch."""
    for place in kernel.nodes_of(ast.Call, ast.Compare, ast.BinOp):
        numbers: list[ast.expr] = []
        if isinstance(place, ast.Call) and ast.unparse(place.func) == "range":
            numbers = place.args
        elif isinstance(place, ast.Compare):
            numbers = place.comparators
        elif isinstance(place, ast.BinOp) and isinstance(place.op, ast.Mult):
            numbers = [place.left, place.right]
        for number in numbers:
            if isinstance(number, ast.Constant) and type(number.value) is int and number.value > 2:
                for size in kernel.sizes:
                    yield make("written-size", number, (number, expression(size)), number=number.value, size=size)


@row(
    "likely",
    grid_by_rows=Texts(hint="cuda.grid(2) gives x first, which counts columns: `{y}, {x} = cuda.grid(2)`."),
    swapped_directions=Texts(hint="x and y are exchanged here: x counts columns and y counts rows."),
    directions_of_a_statement=Texts(hint="`{part}`: x and y of {number} are in each other's place."),
)
def exchanged_directions(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """x and y exchanged: in ``row, col = cuda.grid(2)``, in blockIdx, or in all of blockIdx, blockDim and threadIdx."""
    for node in kernel.nodes_of(ast.Assign):
        match node.targets:
            case [ast.Tuple([ast.Name(x), ast.Name(y)]) as both] if ast.unparse(node.value) == "cuda.grid(2)":
                yield make("grid-by-rows", node, (both, ast.Tuple(both.elts[::-1], ast.Store())), x=x, y=y)
    nodes = [node for node in kernel.nodes_of(ast.Attribute) if node.attr in ("x", "y")]
    for asked in (["cuda.blockIdx"], ["cuda.blockIdx", "cuda.blockDim", "cuda.threadIdx"]):
        places = [node for node in nodes if ast.unparse(node.value) in asked]
        if {place.attr for place in places} == {"x", "y"}:
            yield make("swapped-directions", min(place.lineno for place in places), *map(other_direction, places))
    for statement in dict.fromkeys(map(kernel.statement_of, nodes)):
        for number in ("blockIdx", "threadIdx"):
            places = [node for node in nodes if ast.unparse(node.value) == f"cuda.{number}"]
            places = [node for node in places if kernel.statement_of(node) is statement]
            if {place.attr for place in places} == {"x", "y"}:
                values = {"part": first_line(statement), "number": number}
                yield make("directions-of-a-statement", statement, *map(other_direction, places), **values)


def other_direction(node: ast.Attribute) -> Change:
    """The change of x to y, or of y to x."""
    return node, ast.Attribute(node.value, "y" if node.attr == "x" else "x", ast.Load())


@row("likely", counted_from_one=Texts(hint="this loop counts from 1 to {size}, and indices go from 0 to {size} - 1."))
def loops_from_one(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``range(1, n + 1)`` with a counter that is an index."""
    for loop in kernel.nodes_of(ast.For):
        match loop.iter:
            case ast.Call(func, [ast.Constant(1), ast.BinOp(size, ast.Add(), ast.Constant(1))]):
                yield make("counted-from-one", loop, (loop.iter, ast.Call(func, [size], [])), size=ast.unparse(size))


@row("lengths", other_length=Texts(hint="this loop goes over {written}, and must go over {size}."))
def wrong_loop_ends(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """Another size of the matrices as the end of a loop."""
    for loop in kernel.nodes_of(ast.For):
        if is_short_range(loop.iter):
            length, written = loop.iter.args[0], ast.unparse(loop.iter.args[0])
            for size in kernel.sizes if written in kernel.sizes else ():
                if written != size:
                    yield make("other-length", loop, (length, expression(size)), written=written, size=size)


@row(
    "likely",
    block_missing=Texts(
        hint="`{part}` is the place of the thread in its block alone, so that threads of other blocks have the same "
        "number: add `{missing}`{same}."
    ),
)
def numbers_without_blocks(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """A thread's number made of threadIdx alone: in one direction, or in all."""
    found = [
        node
        for node in kernel.nodes_of(ast.Attribute)
        if node.attr in ("x", "y") and ast.unparse(node.value) == "cuda.threadIdx"
    ]
    found = [node for node in found if "blockIdx" not in ast.unparse(kernel.statement_of(node))]
    for chosen in [[node] for node in found] + ([found] if len(found) > 1 else []):
        whole = [
            (each, expression(f"cuda.blockIdx.{each.attr} * cuda.blockDim.{each.attr} + cuda.threadIdx.{each.attr}"))
            for each in chosen
        ]
        at = kernel.statement_of(chosen[0])
        missing = f"cuda.blockIdx.{chosen[0].attr} * cuda.blockDim.{chosen[0].attr}"
        same = "".join(f", and the same with {node.attr} in line {node.lineno}" for node in chosen[1:])
        yield make("block-missing", at, *whole, part=ast.unparse(at), missing=missing, same=same)


@row(
    "likely",
    counts_tiles=Texts(
        hint="`{name}` counts tiles here, 0, 1, 2, …, and is used as the place where a tile begins: 0, {width}, …"
    ),
)
def counters_of_tiles(make: MakeCandidate, kernel: Kernel, _: Any) -> Candidates:
    """``range(K // TILE)`` with a counter that is used as if it went from tile to tile."""
    width = kernel.width
    for loop in kernel.nodes_of(ast.For):
        if width and is_short_range(loop.iter) and f"// {width}" in ast.unparse(loop.iter):
            for size in kernel.sizes:
                new = expression(f"range(0, {size}, {width})")
                yield make("counts-tiles", loop, (loop.iter, new), name=ast.unparse(loop.target), width=width)


ROWS = (
    bit_operators_in_conditions,
    sums_replaced,
    sums_restarted,
    wrong_tile_widths,
    wrong_tile_ranges,
    exchanged_indices,
    literal_sizes,
    exchanged_directions,
    numbers_without_blocks,
    counters_of_tiles,
    loops_from_one,
    wrong_loop_ends,
)
