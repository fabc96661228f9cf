"""Frequent mistakes of students, and what repairs them: one table of rules, whose words are in `HINTS` by their ids.

A rule of the first kind needs no launch: no correct kernel has such a text. The others propose changes: each is made in
a copy of the kernel, which is launched, and a mistake is named only if its repair gives the right values.
"""

import ast
import builtins
import difflib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any, TypeGuard, TypeVar

from ...simulator.edits import edited, expression
from .exercise import Hint
from .source import Submission

HINTS = {
    # seen in the text
    "call-without-parentheses": "{name} without () calls nothing: write {name}().",
    "part-of-cuda": "{name} is a part of cuda: write cuda.{name}.",
    "unknown-width": "{name} is not known here; the width of the tiles is called {width}.",
    "misspelt-name": "the name {name} is not known here; did you mean {similar}?",
    "array-renamed": "`{name} = …` stores nothing into the array; it gives the name to something else. "
    "Store an element: `{name}[…] = …`.",
    "all-in-every-thread": "the loops over {names} go through all of {output}, in every thread that comes here. "
    "Threads share the work: at least one of these indices is the thread's own, made of blockIdx, blockDim and "
    "threadIdx.",
    "mixed-directions": "`{part}` mixes two directions: multiply blockIdx.{of} by blockDim.{of}, the threads of a "
    "block in the same direction.",
    # likely mistakes
    "bits-for-and": "{sign} combines bits, and is evaluated before any comparison: what is compared here is `{part}`. "
    "Between two conditions write {word}.",
    "grid-by-rows": "cuda.grid(2) gives x first, which counts columns: `{y}, {x} = cuda.grid(2)`.",
    "sum-replaced": "`{name} = …` replaces the sum in every iteration; add to it with `{name} += …`.",
    "sum-begins-again": "{name} starts again in every iteration: set it to zero once, before the loop.",
    "other-width": "{other} is {value}; these tiles are {width} = {wide} wide.",
    "one-short-of-the-tile": "range({written}) leaves out the end of the tile: range({width}) already stops at "
    "{width} - 1.",
    "not-along-the-tile": "range({written}) is not the length of a tile: the outer loop goes from tile to tile, and "
    "inside a tile it is range({width}).",
    "sides-do-not-match": "the two sides of `{statement}` do not match: the indices of one of them are the wrong way "
    "round.",
    "swapped-indices": "the indices of {places} are the wrong way round: exchanged, they name the element "
    "that is needed.",
    "written-size": "{number} is right for some matrices only: other matrices have other sizes, so use {size}.",
    "swapped-directions": "x and y look swapped here: x counts columns and y counts rows.",
    "other-length": "this loop goes over {written}, and must go over {size}.",
    # one change at an unknown place: the advice names the place, but not the change
    "subtracted": "`{name} -= …` subtracts; a sum needs `{name} += …`.",
    "order-of-indices": "look at `{place}`: its indices are not in the right order.",
    "one-name-or-number": "look at `{place}`: one name or number of it is not the right one.",
}

_WAITS = {"syncthreads", "syncwarp", "threadfence"}
_OF_CUDA = {"blockIdx", "threadIdx", "blockDim", "gridDim", "shared", "local", "atomic", "grid", *_WAITS}
_WIDTHS = ("T", "TILE", "TILE_WIDTH", "BLOCK", "BLOCK_SIZE", "width")
#: Limit for likely repairs, so that a student need not wait: a launch on small matrices takes some hundredths of a
#: second.
_MOST = 40
#: Limit for the nodes of syntax of all kernels that are changed at an unknown place. A wrong kernel fails at its first
#: launch, after 25 to 60 µs for each node.
_MOST_NODES = 50_000
#: The comment above the lines that a student writes.
_MARK = "# your code here"

Change = tuple[ast.AST, ast.AST]
Changes = tuple[Change, ...]
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Mistake:
    """A mistake: its id in `HINTS`, its line, what is wrong there, and the changes of the tree that repair it."""

    id: str
    line: int
    what: str
    changes: Changes = ()

    @property
    def advice(self) -> Hint:
        """The advice for a reader, with the line."""
        return Hint(f"line {self.line}: {self.what}", self.id)


def _mistake(id: str, at: ast.expr | ast.stmt | int, *changes: Change, **words: Any) -> Mistake:
    return Mistake(id, at if isinstance(at, int) else at.lineno, HINTS[id].format(**words), changes)


class KernelText:
    """The syntax tree of a submission, and what the rules need of it."""

    def __init__(self, source: Submission, output: str = "") -> None:
        assert source.tree is not None
        self.source, self.tree, self.output = source, source.tree, output
        self.nodes = list(ast.walk(source.tree))

    def every(self, *kinds: type[Node]) -> list[Node]:
        """The nodes of these kinds, outer ones first."""
        return [node for node in self.nodes if isinstance(node, kinds)]

    @cached_property
    def loops(self) -> list[ast.For | ast.While]:
        return [node for node in self.nodes if isinstance(node, ast.For | ast.While)]

    @cached_property
    def width(self) -> str | None:
        """The name that is the size of the kernel's shared arrays."""
        for call in self.every(ast.Call):
            if ast.unparse(call.func).endswith("shared.array") and call.args:
                if names := _names(call.args[0]):
                    return names[0].id
        return None

    @cached_property
    def shared(self) -> set[str]:
        """The names of the kernel's arrays in shared memory, also those that are given to one later."""
        found: set[str] = set()
        for node in self.every(ast.Assign):
            value = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(node.targets[0], ast.Name) and (
                ast.unparse(value).endswith("shared.array") or ast.unparse(value) in found
            ):
                found.add(node.targets[0].id)
        return found

    @cached_property
    def unknown(self) -> list[ast.Name]:
        """The names that nothing defines, in the order of the text."""
        names = self.every(ast.Name)
        known = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        known |= {*self.arguments, *self.source.known}
        return sorted((n for n in names if n.id not in known), key=lambda n: (n.lineno, n.col_offset))

    @property
    def arguments(self) -> list[str]:
        return [argument.arg for argument in self.tree.args.args]

    @cached_property
    def sizes(self) -> list[str]:
        """The variables that hold sizes of the matrices, and the shapes of the arguments, as expressions."""
        shaped = [node for node in self.every(ast.Assign) if ".shape" in ast.unparse(node.value)]
        named = {name.id for node in shaped for target in node.targets for name in _names(target)}
        return [*sorted(named), *(f"{array}.shape[{i}]" for array in self.arguments for i in (0, 1))]


#: A rule: what it finds in a kernel.
Rule = Callable[[KernelText], Iterator[Mistake]]


# ---- seen in the text -----------------------------------------------------------------------------------------


def _without_parentheses(kernel: KernelText) -> Iterator[Mistake]:
    for node in kernel.every(ast.Expr):
        name = ast.unparse(node.value)
        if isinstance(node.value, ast.Attribute | ast.Name) and name.split(".")[-1] in _WAITS:
            yield _mistake("call-without-parentheses", node, name=name)


def _unknown_names(kernel: KernelText) -> Iterator[Mistake]:
    """A part of cuda without cuda, a usual name of the tiles' width, or a name that is similar to one of the kernel."""
    used = {node.id for node in kernel.every(ast.Name)} | set(kernel.arguments)
    used -= {node.id for node in kernel.unknown if not hasattr(builtins, node.id)}
    for node in kernel.unknown:
        name = node.id
        if name in _OF_CUDA:
            yield _mistake("part-of-cuda", node, name=name)
        elif kernel.width and name in _WIDTHS:
            yield _mistake("unknown-width", node, name=name, width=kernel.width)
        elif not hasattr(builtins, name):
            for similar in difflib.get_close_matches(name, sorted(used), 1):
                # one common letter of two is not similar: As is rather a tile of A than A
                if len(name) > 2 or name.lower() == similar.lower():
                    yield _mistake("misspelt-name", node, name=name, similar=similar)


def _array_renamed(kernel: KernelText) -> Iterator[Mistake]:
    """``tile = A[row, col]``, or ``C = acc``, instead of a store to an element of the array."""
    for node in kernel.every(ast.Assign):
        name, value = ast.unparse(node.targets[0]), ast.unparse(node.value)
        known = value in kernel.shared or value.startswith(("cuda.", f"{name}["))
        if name in kernel.shared | {kernel.output} and not known:
            yield _mistake("array-renamed", node, name=name)


def _all_in_every_thread(kernel: KernelText) -> Iterator[Mistake]:
    """A store whose indices are all counted by loops from 0: then every thread stores all of the output."""
    loops = [node for node in kernel.every(ast.For) if _is_short_range(node.iter)]
    counted = {node.target.id for node in loops if isinstance(node.target, ast.Name)}
    for node in kernel.every(ast.Subscript):
        if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == kernel.output:
            names = {name.id for name in _names(node.slice)}
            if names and names <= counted:
                shown = " and ".join(sorted(names))
                yield _mistake("all-in-every-thread", node, names=shown, output=kernel.output)


def _mixed_directions(kernel: KernelText) -> Iterator[Mistake]:
    """``blockIdx.y * blockDim.x``, which is correct only if blocks are square."""
    for node in kernel.every(ast.BinOp):
        if isinstance(node.op, ast.Mult):
            sides = [ast.unparse(side).split(".") for side in (node.left, node.right)]
            found = {side[-2]: side[-1] for side in sides if len(side) > 1}
            if found.keys() == {"blockIdx", "blockDim"} and found["blockIdx"] != found["blockDim"]:
                yield _mistake("mixed-directions", node, part=ast.unparse(node), of=found["blockIdx"])


# ---- likely mistakes ------------------------------------------------------------------------------------------


def _bits_for_and(kernel: KernelText) -> Iterator[Mistake]:
    """``a < m & b < n``, which compares ``m & b``, instead of ``a < m and b < n``."""
    for node in kernel.every(ast.Compare):
        for part in (parts := [node.left, *node.comparators]):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr):
                sign, word = ("&", "and") if isinstance(part.op, ast.BitAnd) else ("|", "or")
                change = (node, _conditions(parts, node.ops))
                yield _mistake("bits-for-and", node, change, sign=sign, part=ast.unparse(part), word=word)


def _conditions(parts: list[ast.expr], ops: list[ast.cmpop]) -> ast.expr:
    """A chain of comparisons, cut in two at each part that combines bits."""
    for i, part in enumerate(parts):
        match part:
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as sign, right):
                before, after = ([*parts[:i], left], ops[:i]), ([right, *parts[i + 1 :]], ops[i:])
                word = ast.And() if isinstance(sign, ast.BitAnd) else ast.Or()
                return ast.BoolOp(word, [_conditions(*before), _conditions(*after)])
    return ast.Compare(parts[0], ops, parts[1:]) if ops else parts[0]


def _forgotten_sums(kernel: KernelText) -> Iterator[Mistake]:
    """``acc = a * b`` in a loop instead of ``acc += a * b``: one of them, or all."""
    inside = {inner for loop in kernel.loops for inner in ast.walk(loop)}
    places = [node for node in kernel.nodes if isinstance(node, ast.Name | ast.Subscript)]
    stored = Counter(base_of(node) for node in places if isinstance(node.ctx, ast.Store))
    found: dict[str, list[Mistake]] = {}
    for node in kernel.every(ast.Assign):
        target = node.targets[0]
        if node in inside and isinstance(target, ast.Name | ast.Subscript):
            # A sum is also set to zero; a variable that is assigned only once is not a sum.
            base, name = base_of(target), ast.unparse(target)
            if stored[base] < 2 or base in {part.id for part in _names(node.value)}:
                continue
            computed = any(isinstance(part, ast.Subscript | ast.BinOp) for part in ast.walk(node.value))
            if isinstance(target, ast.Subscript) and not computed:
                continue  # the sums of an array are set to zero in a loop
            added = ast.AugAssign(target, ast.Add(), node.value)
            id = "sum-replaced" if computed else "sum-begins-again"
            found.setdefault(base, []).append(_mistake(id, node, (node, added), name=name))
    alone = [repair for repairs in found.values() for repair in repairs]
    yield from alone
    for repairs in [*found.values(), alone]:
        if len(repairs) > 1:
            changes = tuple(change for repair in repairs for change in repair.changes)
            yield Mistake(repairs[0].id, repairs[0].line, repairs[0].what, changes)


def base_of(place: ast.AST) -> str:
    """The name of the variable or of the array that a place belongs to."""
    while isinstance(place, ast.Subscript):
        place = place.value
    return place.id if isinstance(place, ast.Name) else ""


def _sums_begun_in_the_loop(kernel: KernelText) -> Iterator[Mistake]:
    """``acc = 0`` only in the loop that adds to acc, not before it."""
    first = kernel.tree.body[0]
    for loop in kernel.loops:
        added = {ast.unparse(node.target) for node in ast.walk(loop) if isinstance(node, ast.AugAssign)}
        for node in loop.body if loop is not first else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in added and _is_number(node.value):
                begun = ast.If(ast.Constant(True), [node, first], [])
                name = ast.unparse(node.targets[0])
                yield _mistake("sum-begins-again", node, (node, ast.Pass()), (first, begun), name=name)


def _is_number(value: ast.expr) -> bool:
    """Whether ``value`` is a number such as 0, 0.0 or float32(0)."""
    return isinstance(value.args[0] if isinstance(value, ast.Call) and value.args else value, ast.Constant)


def _other_widths(kernel: KernelText) -> Iterator[Mistake]:
    """Another constant of the notebook instead of the width of the tiles."""
    width, known = kernel.width, kernel.source.known
    if width is None or not isinstance(known.get(width), int):
        return
    names = [node for node in kernel.every(ast.Name) if isinstance(node.ctx, ast.Load)]
    others = {node.id for node in names if type(known.get(node.id)) is int and known[node.id] != known[width]}
    for other in sorted(others - {width}):
        places = [node for node in names if node.id == other]
        words = {"other": other, "value": known[other], "width": width, "wide": known[width]}
        changes = [(place, _name(width)) for place in places]
        yield _mistake("other-width", min(place.lineno for place in places), *changes, **words)


def _too_long_ranges(kernel: KernelText) -> Iterator[Mistake]:
    """A loop inside the loop over tiles that does not run over exactly one tile."""
    width = kernel.width
    for outer in kernel.every(ast.For) if width else ():
        for loop in ast.walk(outer):
            if width and loop is not outer and isinstance(loop, ast.For) and _is_short_range(loop.iter):
                written = ast.unparse(loop.iter.args[0])
                id = "one-short-of-the-tile" if written == f"{width} - 1" else "not-along-the-tile"
                if written != width:
                    yield _mistake(id, loop, (loop.iter.args[0], _name(width)), written=written, width=width)


def _swapped_indices(kernel: KernelText) -> Iterator[Mistake]:
    """Two indices of a shared array exchanged: in one place, or in every place of one statement."""
    statements = kernel.every(ast.Assign, ast.AugAssign)
    # Indices exchanged in the store or in the load may have the same effect: the load is the more likely mistake.
    for statement in sorted(statements, key=lambda node: ast.unparse(node).split("[")[0] in kernel.shared):
        subscripts = [node for node in ast.walk(statement) if isinstance(node, ast.Subscript)]
        places = [node for node in subscripts if ast.unparse(node.value) in kernel.shared and _is_pair(node.slice)]
        for chosen in [[place] for place in places] + ([places] if len(places) > 1 else []):
            changes = [change for place in chosen for change in _exchanged(place)]
            if isinstance(statement, ast.Assign) and chosen == [statement.targets[0]] and places == chosen:
                yield _mistake("sides-do-not-match", statement, *changes, statement=ast.unparse(statement))
            else:
                shown = " and ".join(f"`{ast.unparse(place)}`" for place in chosen)
                yield _mistake("swapped-indices", statement, *changes, places=shown)


def _written_sizes(kernel: KernelText) -> Iterator[Mistake]:
    """A number in a loop, a guard or a product instead of a size of the matrices, right only for one launch."""
    for place in kernel.every(ast.Call, ast.Compare, ast.BinOp):
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
                    change = (number, expression(size))
                    yield _mistake("written-size", number, change, number=number.value, size=size)


def _swapped_directions(kernel: KernelText) -> Iterator[Mistake]:
    """x and y exchanged: in ``row, col = cuda.grid(2)``, in blockIdx, or in all of blockIdx, blockDim and threadIdx."""
    for node in kernel.every(ast.Assign):
        match node.targets:
            case [ast.Tuple([ast.Name(x), ast.Name(y)]) as both] if ast.unparse(node.value) == "cuda.grid(2)":
                yield _mistake("grid-by-rows", node, (both, ast.Tuple(both.elts[::-1], ast.Store())), x=x, y=y)
    nodes = [node for node in kernel.every(ast.Attribute) if node.attr in ("x", "y")]
    for asked in (["cuda.blockIdx"], ["cuda.blockIdx", "cuda.blockDim", "cuda.threadIdx"]):
        places = [node for node in nodes if ast.unparse(node.value) in asked]
        if {place.attr for place in places} == {"x", "y"}:
            changes = [_turned(place) for place in places]
            yield _mistake("swapped-directions", min(place.lineno for place in places), *changes)


def _other_lengths(kernel: KernelText) -> Iterator[Mistake]:
    """Another size of the matrices as the end of a loop."""
    for loop in kernel.every(ast.For):
        if _is_short_range(loop.iter):
            length, written = loop.iter.args[0], ast.unparse(loop.iter.args[0])
            for size in kernel.sizes if written in kernel.sizes else ():
                if written != size:
                    yield _mistake("other-length", loop, (length, expression(size)), written=written, size=size)


# ---- one change at an unknown place ---------------------------------------------------------------------------


def _subtracted(kernel: KernelText) -> Iterator[Mistake]:
    for node in kernel.every(ast.AugAssign):
        if isinstance(node.op, ast.Sub):
            added = ast.AugAssign(node.target, ast.Add(), node.value)
            yield _mistake("subtracted", node, (node, added), name=ast.unparse(node.target))


def _one_name_or_number(kernel: KernelText) -> Iterator[Mistake]:
    """One name or number of an index, a guard or a statement; kinds of changes that are few come first."""
    places = [node for node in kernel.every(ast.Subscript) if not _is_shape(node)]
    arrays = {place.value.id for place in places if isinstance(place.value, ast.Name)}
    read = sorted(arrays | set(kernel.arguments[:-1]))
    names = sorted({name.id for place in places for name in _names(place.slice)})
    counted = [loop.target.id for loop in kernel.every(ast.For) if isinstance(loop.target, ast.Name)]
    # the parts of the kernel in which a number may be one too many
    parts: list[ast.expr | ast.stmt] = []
    for node in kernel.every(ast.For, ast.If, ast.Assign, ast.AugAssign):
        parts.append(node.iter if isinstance(node, ast.For) else node.test if isinstance(node, ast.If) else node)
    sums = _sums(kernel)
    kinds: list[list[tuple[ast.expr | ast.stmt, Changes]]] = [
        [(place, (change,)) for place in places for change in _exchanged(place)],
        [(p, ((p.value, _name(array)),)) for p in places for array in read if array != ast.unparse(p.value)],
        [(part, change) for part in parts for change in _other_names(part, sums, (ast.Load, ast.Store))],
        [(part, (_turned(node),)) for part in parts for node in ast.walk(part) if _is_direction(node)],
        [(part, change) for part in parts for change in _other_names(_without_arrays(part), names)],
        [(place, change) for place in places for change in _other_names(place.slice, names)],
        [(part, change) for part in parts for change in _other_name_throughout(part, names)],
        [(place, (change,)) for place in places for change in _counter_added(place, counted)],
        [(part, (change,)) for part in parts for change in _other_numbers(part)],
    ]
    for kind in sorted(kinds, key=len):
        for place, changes in kind:
            shown = ast.unparse(place).splitlines()[0].rstrip(":")
            id = "order-of-indices" if isinstance(changes[0][1], ast.Tuple) else "one-name-or-number"
            yield _mistake(id, place, *changes, place=shown)


def _other_names(part: ast.AST | None, names: list[str], uses: tuple[type, ...] = (ast.Load,)) -> Iterator[Changes]:
    """Another of these names in the place of one of them."""
    for node in _names(part) if part is not None else ():
        if node.id in names and isinstance(node.ctx, uses):
            yield from (((node, ast.Name(name, node.ctx)),) for name in names if name != node.id)


def _other_name_throughout(part: ast.AST, names: list[str]) -> Iterator[Changes]:
    """Another name, in all its places in a statement: in an index, and in the guard of that index."""
    used = [node for node in _names(part) if isinstance(node.ctx, ast.Load)]
    for name in names:
        same = [node for node in used if node.id == name]
        for other in names if len(same) > 1 else ():
            if other != name:
                yield tuple((node, _name(other)) for node in same)


def _sums(kernel: KernelText) -> list[str]:
    """The variables that are added to."""
    stored = [node.id for node in kernel.every(ast.Name) if isinstance(node.ctx, ast.Store)]
    loaded = {node.value.id for node in kernel.every(ast.Assign) if isinstance(node.value, ast.Name)}
    return sorted({name for name in stored if stored.count(name) > 1} | loaded & set(stored))


def _without_arrays(part: ast.expr | ast.stmt) -> ast.AST | None:
    """The part of a statement without array elements: a comparison, or the computation of an index."""
    asked = part.value if isinstance(part, ast.Assign) else part if isinstance(part, ast.expr) else None
    if asked is None or any(isinstance(node, ast.Subscript) and not _is_shape(node) for node in ast.walk(asked)):
        return None
    return asked


def _counter_added(place: ast.Subscript, counted: list[str]) -> Iterator[Change]:
    """The counter of a loop is missing from an index."""
    used = {name.id for name in _names(place.slice)}
    for index in place.slice.elts if isinstance(place.slice, ast.Tuple) else [place.slice]:
        for name in counted:
            if name not in used:
                yield index, ast.BinOp(_name(name), ast.Add(), index)


def _other_numbers(part: ast.AST) -> Iterator[Change]:
    for node in ast.walk(part):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield from ((node, expression(str(node.value + by))) for by in (-1, 1))


# ---- parts of a tree ------------------------------------------------------------------------------------------


def _names(part: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(part) if isinstance(node, ast.Name)]


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _is_pair(index: ast.expr) -> TypeGuard[ast.Tuple]:
    return isinstance(index, ast.Tuple) and len(index.elts) == 2


def _is_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _is_short_range(called: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(called, ast.Call) and ast.unparse(called.func) == "range" and len(called.args) == 1


def _is_direction(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether this is the x or the y in the number of a block or a thread."""
    return isinstance(node, ast.Attribute) and node.attr in ("x", "y") and isinstance(node.value, ast.Attribute)


def _turned(node: ast.Attribute) -> Change:
    return node, ast.Attribute(node.value, "y" if node.attr == "x" else "x", ast.Load())


def _exchanged(place: ast.Subscript) -> Iterator[Change]:
    if _is_pair(place.slice):
        yield place.slice, ast.Tuple(place.slice.elts[::-1], ast.Load())


# ---- the table ------------------------------------------------------------------------------------------------

#: The rules of each kind, in their order.
RULES: dict[str, tuple[Rule, ...]] = {
    "text": (_without_parentheses, _unknown_names, _array_renamed),
    "threads": (_all_in_every_thread,),
    "blocks": (_mixed_directions,),
    "likely": (
        _bits_for_and,
        _forgotten_sums,
        _sums_begun_in_the_loop,
        _other_widths,
        _too_long_ranges,
        _swapped_indices,
        _written_sizes,
        _swapped_directions,
    ),
    "lengths": (_other_lengths,),
    "places": (_subtracted, _one_name_or_number),
}


def candidates(source: Submission, *kinds: str, output: str = "") -> Iterator[Mistake]:
    """What the rules of these kinds find; nothing if no source can be read."""
    if source.tree is not None:
        kernel = KernelText(source, output)
        for kind in kinds:
            for rule in RULES[kind]:
                yield from rule(kernel)


def repaired(source: Submission, repair: Mistake) -> FunctionType:
    """The kernel with the changes of a repair."""
    assert source.tree is not None
    return edited(source.function, source.tree, repair.changes, source.lines.items(), source.known)


def proven(
    source: Submission, repairs: Iterable[Mistake], is_right: Callable[[FunctionType], bool], most: int = _MOST
) -> Mistake | None:
    """The first repair that makes ``is_right(kernel)`` true, of ``most`` that are tried; else None."""
    return next((r for r in itertools.islice(repairs, most) if is_right(repaired(source, r))), None)


def likely(source: Submission, is_right: Callable[[FunctionType], bool], fixed: tuple[str, ...] = ()) -> Mistake | None:
    """The first likely mistake whose repair is proven, or None; lines in ``fixed`` are right."""
    found = candidates(source, "likely")
    return proven(source, (r for r in found if source.lines.get(r.line, "").strip() not in fixed), is_right)


def somewhere(source: Submission, is_right: Callable[[FunctionType], bool], given: str = "") -> Mistake | None:
    """The line and the expression in which one change makes ``is_right(kernel)`` true, or None."""
    written = min((number for number, line in source.lines.items() if _MARK in line), default=0)
    theirs = {line.strip() for line in given.splitlines()}
    # lines above the mark, or of the kernel as it was given, are the lesson's: the student's lines come first
    found = sorted(
        candidates(source, "places"),
        key=lambda repair: repair.line < written or source.lines[repair.line].strip() in theirs,
    )
    nodes = sum(1 for _ in ast.walk(source.tree)) if source.tree else 1
    return proven(source, found, is_right, _MOST_NODES // nodes)


def remarks_on_text(source: Submission, alone: bool = False) -> tuple[str, ...]:
    """Remarks that do not affect the grade, but are useful on a GPU; ``alone``: one thread, as on the host."""
    remarks = []
    if not source.decorated and not alone:
        remarks.append("this is a plain Python function; for a GPU, put @cuda.jit on the line above its def.")
    nodes = list(ast.walk(source.tree)) if source.tree else []
    if any(isinstance(node, ast.Call) and ast.unparse(node.func) == "print" for node in nodes):
        remarks.append("check shows nothing that a kernel prints: launch it with simulate to read it.")
    for node in nodes:
        match node:
            case ast.Assign([ast.Name(name), *_], ast.Constant(float(value))):
                remarks.append(
                    f"line {node.lineno}: {name} = {value} is a double-precision number (float64), and so is every sum "
                    f"with it; float32({value:g}) keeps the arithmetic in single precision."
                )
    return tuple(remarks)
