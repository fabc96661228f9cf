"""The lines of an answer that a hint is about, so that it can name all of them."""

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ...simulator.repairs.kernel_syntax import (
    Kernel,
    array_of,
    bound_names,
    in_lines,
    indices,
    names_in,
    same_text,
    subscripts,
)
from .exercise import Hint, Outcome

#: The lines of an answer that take part in something.
Lines = Callable[[Outcome], Iterable[int]]


def at(lines: Iterable[int], advice: str) -> str:
    """Return advice with the lines that it is about in front of it, if there are any."""
    known = sorted(set(lines))
    if not known:
        return advice
    said = f"{in_lines(known)}: {advice}"
    return Hint(said, advice.id) if isinstance(advice, Hint) else said


def loads(*arrays: str) -> Lines:
    """The lines that load from these of the exercise's arrays."""
    return lambda outcome: _accesses(outcome, "global", ("load",), arrays).keys()


def updates(outcome: Outcome) -> Iterable[int]:
    """The lines that add to what is in the output."""
    output = list(outcome.names)[-1]
    return _accesses(outcome, "global", ("load", "atomic"), (output,)).keys()


def stores(outcome: Outcome) -> Iterable[int]:
    """The lines that store to the output."""
    output = list(outcome.names)[-1]
    return _accesses(outcome, "global", ("store", "atomic"), (output,)).keys()


def tile_reads(outcome: Outcome) -> Iterable[int]:
    """The lines that load from shared memory."""
    return _accesses(outcome, "shared", ("load",), ()).keys()


def most(space: str, *ops: str, arrays: tuple[str, ...] = ()) -> Lines:
    """The lines with the most accesses of these kinds, to these arrays or to all, or with at least half as many."""

    def lines(outcome: Outcome) -> list[int]:
        counts = _accesses(outcome, space, ops, arrays)
        return [line for line, count in counts.items() if 2 * count >= max(counts.values())]

    return lines


def most_sectors(array: str, op: str) -> Lines:
    """The lines whose requests of this kind to an array in global memory have the most sectors."""

    def lines(outcome: Outcome) -> list[int]:
        costs = {
            row.line: row.sectors / row.requests
            for row in outcome.run.traffic.rows
            if (row.space, row.op, row.array) == ("global", op, outcome.own(array)) and row.requests
        }
        return [line for line, cost in costs.items() if cost == max(costs.values())]

    return lines


def _accesses(outcome: Outcome, space: str, ops: tuple[str, ...], arrays: tuple[str, ...]) -> Counter[int]:
    own, found = [outcome.own(array) for array in arrays], Counter[int]()
    for row in outcome.run.traffic.rows:
        if row.space == space and row.op in ops and (not own or row.array in own):
            found[row.line] += row.accesses
    return found


# ---- what the text shows: empty for an answer without a source -------------------------------------------------------


def _of_text(find: Callable[[Kernel], Iterable[int]]) -> Lines:
    def lines(outcome: Outcome) -> Iterable[int]:
        kernel = outcome.source.kernel if outcome.source else None
        return find(kernel) if kernel else ()

    return lines


def _sums(kernel: Kernel) -> Iterator[ast.stmt]:
    """The statements in loops that add something other than a number to a variable or an element."""
    for node in kernel.statements:
        match node:
            case ast.AugAssign(value=value) if not isinstance(value, ast.Constant):
                found = True
            case ast.Assign([target], ast.BinOp() as value):
                found = any(same_text(target, part) for part in ast.walk(value) if isinstance(part, ast.expr))
            case _:
                found = False
        if found and kernel.loops_around(node):
            yield node


def _largest(kernel: Kernel) -> set[str]:
    """The shared arrays with the most elements."""
    sizes = {}
    for array, shape in kernel.shapes.items():
        known = [size.value if isinstance(size, ast.Constant) else kernel.constant(ast.unparse(size)) for size in shape]
        sizes[array] = math.prod(size for size in known if isinstance(size, int))
    return {array for array, size in sizes.items() if size == max(sizes.values())}


def declarations(kernel: Kernel, arrays: set[str]) -> Iterator[int]:
    """The lines that make these arrays in shared memory."""
    for node in kernel.nodes_of(ast.Assign):
        if "shared.array" in ast.unparse(node.value) and ast.unparse(node.targets[0]) in arrays:
            yield node.lineno


def _begun_again(kernel: Kernel) -> list[int]:
    """The lines that set a sum to a number, or to what is no sum of it, in a loop around an addition to it."""
    found = []
    for node in _sums(kernel):
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]  # type: ignore[attr-defined]
        for other in kernel.nodes_of(ast.Assign):
            uses_target = any(same_text(target, part) for part in ast.walk(other.value))
            again = same_text(other.targets[0], target) and not uses_target
            if again and set(kernel.loops_around(other)) & set(kernel.loops_around(node)):
                found.append(other.lineno)
    return found


def _assigned(kernel: Kernel, *words: str) -> Iterator[int]:
    """The lines of the assignments in which one of these words is."""
    found = (node for node in kernel.statements if isinstance(node, ast.Assign))
    return (node.lineno for node in found if any(word in ast.unparse(node) for word in words))


def computed(lines: Lines, threads: bool = False) -> Lines:
    """The lines that compute, from other variables, names in the indices of what these lines access.

    ``threads``: also those that compute the number of a thread, from blockIdx, which is an index by itself.
    """

    def inside(kernel: Kernel, accesses: Iterable[int]) -> Iterator[int]:
        for node in filter(None, map(kernel.statement, accesses)):
            places = subscripts(node)
            alone = {ast.unparse(index) for place in places for index in indices(place)}
            for used in {each.id for place in places for each in names_in(place.slice)}:
                before = [n for n in kernel.nodes_of(ast.Assign) if n.lineno < node.lineno and used in _bound(n)]
                last = max(before, key=lambda n: n.lineno, default=None)
                if last is not None:
                    of_variables = {n.id for n in names_in(last.value)} & (kernel.locals - kernel.arrays)
                    of_blocks = "blockIdx" in ast.unparse(last.value)
                    if of_blocks and threads and used in alone or of_variables and not of_blocks:
                        yield last.lineno

    return lambda outcome: _of_text(lambda kernel: inside(kernel, lines(outcome)))(outcome)


def _bound(node: ast.Assign) -> set[str]:
    return {each.id for each in bound_names(node)}


def together(*several: Lines) -> Lines:
    """All of these lines."""
    return lambda outcome: [line for lines in several for line in lines(outcome)]


def written(pattern: str) -> Lines:
    """The lines of the assignments and loops in which a regular expression is found."""

    def found(kernel: Kernel) -> Iterator[int]:
        for node in kernel.statements:
            part = node.iter if isinstance(node, ast.For) else node if isinstance(node, ast.Assign) else None
            if part is not None and re.search(pattern, ast.unparse(part)):
                yield node.lineno

    return _of_text(found)


def written_calls(name: str) -> Lines:
    """The lines of the statements that call this function."""
    return _of_text(lambda kernel: (n.lineno for n in kernel.nodes_of(ast.Call) if ast.unparse(n.func) == name))


#: The lines that add to the sums, the innermost loops around them, and the outermost.
sums = _of_text(lambda kernel: (node.lineno for node in _sums(kernel)))
loops_of_sums = _of_text(lambda kernel: (kernel.loops_around(node)[0].lineno for node in _sums(kernel)))
last_loops = _of_text(lambda kernel: [max((kernel.loops_around(n)[0].lineno for n in _sums(kernel)), default=0)])
#: The lines in loops that give a sum its first value again, or the loops of the sums if there are none.
begun_again = _of_text(
    lambda kernel: _begun_again(kernel) or [kernel.loops_around(node)[0].lineno for node in _sums(kernel)]
)
outer_loops = _of_text(lambda kernel: (kernel.loops_around(node)[-1].lineno for node in _sums(kernel)))
#: The lines that compute with the numbers of blocks and threads; those of the barriers; those that make the
#: largest shared arrays, and those that use these.
thread_numbers = _of_text(lambda kernel: _assigned(kernel, "blockIdx", "threadIdx", "grid("))
barriers = _of_text(lambda kernel: (node.lineno for node in kernel.barriers()))
largest_arrays = _of_text(lambda kernel: declarations(kernel, _largest(kernel)))
uses_of_largest_arrays = _of_text(
    lambda kernel: (p.lineno for p in kernel.nodes_of(ast.Subscript) if array_of(p) in _largest(kernel))
)


def around(kind: type[ast.For | ast.While | ast.If], lines: Lines) -> Lines:
    """The innermost loops or conditions around these lines."""

    def found(outcome: Outcome) -> Iterable[int]:
        def inside(kernel: Kernel) -> Iterator[int]:
            for node in filter(None, map(kernel.statement, lines(outcome))):
                yield from [each.lineno for each in kernel.ancestors(node) if isinstance(each, kind)][:1]

        return _of_text(inside)(outcome)

    return found


def guards(lines: Lines) -> Lines:
    """The conditions around these lines that compute an index of theirs, too."""

    def around_them(kernel: Kernel, accesses: Iterable[int]) -> Iterator[int]:
        for node in filter(None, map(kernel.statement, accesses)):
            own = {ast.unparse(index) for place in subscripts(node) for index in indices(place)}
            for owner in kernel.ancestors(node):
                if isinstance(owner, ast.If):
                    parts = [ast.unparse(part) for part in ast.walk(owner.test) if isinstance(part, ast.BinOp)]
                    yield from [owner.lineno] * bool(own & {*parts})

    return lambda outcome: _of_text(lambda kernel: around_them(kernel, lines(outcome)))(outcome)


def conditions_of_fills(kernel: Kernel, array: str | None) -> set[int]:
    """The lines of the ifs around the stores into a shared array that all threads of a block enter, or none."""
    fills = [fill for fill in kernel.fills if array_of(fill.target) == array]
    owners = [node for fill in fills for node in kernel.ancestors(fill.statement) if isinstance(node, ast.If)]
    return {owner.lineno for owner in owners if kernel.is_uniform(owner.test)}
