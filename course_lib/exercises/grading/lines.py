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

#: Finds the lines of an answer that take part in something.
LineFinder = Callable[[Outcome], Iterable[int]]


def with_lines(lines: Iterable[int], advice: str) -> str:
    """Return advice with the lines that it is about in front of it, if there are any."""
    known = sorted(set(lines))
    if not known:
        return advice
    said = f"{in_lines(known)}: {advice}"
    return Hint(said, advice.id) if isinstance(advice, Hint) else said


def load_lines(*arrays: str) -> LineFinder:
    """The lines that load from these of the exercise's arrays."""
    return lambda outcome: _access_counts(outcome, "global", ("load",), arrays).keys()


def update_lines(outcome: Outcome) -> Iterable[int]:
    """The lines that add to what is in the output."""
    output = list(outcome.names)[-1]
    return _access_counts(outcome, "global", ("load", "atomic"), (output,)).keys()


def store_lines(outcome: Outcome) -> Iterable[int]:
    """The lines that store to the output."""
    output = list(outcome.names)[-1]
    return _access_counts(outcome, "global", ("store", "atomic"), (output,)).keys()


def shared_load_lines(outcome: Outcome) -> Iterable[int]:
    """The lines that load from shared memory."""
    return _access_counts(outcome, "shared", ("load",), ()).keys()


def lines_with_most_accesses(space: str, *ops: str, arrays: tuple[str, ...] = ()) -> LineFinder:
    """The lines with the most accesses of these kinds, to these arrays or to all, or with at least half as many."""

    def lines(outcome: Outcome) -> list[int]:
        counts = _access_counts(outcome, space, ops, arrays)
        return [line for line, count in counts.items() if 2 * count >= max(counts.values())]

    return lines


def lines_with_most_sectors(array: str, op: str) -> LineFinder:
    """The lines whose requests of this kind to an array in global memory have the most sectors."""

    def lines(outcome: Outcome) -> list[int]:
        costs = {
            row.line: row.sectors / row.requests
            for row in outcome.run.traffic.rows
            if (row.space, row.op, row.array) == ("global", op, outcome.own_name(array)) and row.requests
        }
        return [line for line, cost in costs.items() if cost == max(costs.values())]

    return lines


def _access_counts(outcome: Outcome, space: str, ops: tuple[str, ...], arrays: tuple[str, ...]) -> Counter[int]:
    """The accesses of these kinds by line, to these of the exercise's arrays, or to all if there are none of them."""
    own, found = [outcome.own_name(array) for array in arrays], Counter[int]()
    for row in outcome.run.traffic.rows:
        is_counted = not own or row.array in own
        if is_counted and row.space == space and row.op in ops:
            found[row.line] += row.accesses
    return found


# ---- what the text shows: empty for an answer without a source -------------------------------------------------------


def _lines_in_text(find: Callable[[Kernel], Iterable[int]]) -> LineFinder:
    def lines(outcome: Outcome) -> Iterable[int]:
        kernel = outcome.source.kernel if outcome.source else None
        return find(kernel) if kernel else ()

    return lines


def _sum_statements(kernel: Kernel) -> Iterator[ast.stmt]:
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


def _sum_loop_lines(kernel: Kernel, place: int) -> list[int]:
    """The lines of the loops around the sums at this place, innermost first."""
    return [kernel.loops_around(node)[place].lineno for node in _sum_statements(kernel)]


def _largest_arrays(kernel: Kernel) -> set[str]:
    """The shared arrays with the most elements."""
    sizes = {}
    for array, shape in kernel.shapes.items():
        known = [size.value if isinstance(size, ast.Constant) else kernel.constant(ast.unparse(size)) for size in shape]
        sizes[array] = math.prod(size for size in known if isinstance(size, int))
    return {array for array, size in sizes.items() if size == max(sizes.values())}


def shared_array_lines(kernel: Kernel, arrays: set[str]) -> Iterator[int]:
    """The lines that make these arrays in shared memory."""
    for node in kernel.nodes_of(ast.Assign):
        if "shared.array" in ast.unparse(node.value) and ast.unparse(node.targets[0]) in arrays:
            yield node.lineno


def _restarted_sums(kernel: Kernel) -> list[int]:
    """The lines that set a sum to a number, or to what is no sum of it, in a loop around an addition to it."""
    found = []
    for node in _sum_statements(kernel):
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]  # type: ignore[attr-defined]
        for other in kernel.nodes_of(ast.Assign):
            uses_target = any(same_text(target, part) for part in ast.walk(other.value))
            again = same_text(other.targets[0], target) and not uses_target
            if again and set(kernel.loops_around(other)) & set(kernel.loops_around(node)):
                found.append(other.lineno)
    return found


def _assignment_lines(kernel: Kernel, *words: str) -> Iterator[int]:
    """The lines of the assignments in which one of these words is."""
    found = (node for node in kernel.statements if isinstance(node, ast.Assign))
    return (node.lineno for node in found if any(word in ast.unparse(node) for word in words))


def index_computation_lines(lines: LineFinder, threads: bool = False) -> LineFinder:
    """The lines that compute, from other variables, names in the indices of what these lines access.

    ``threads``: also those that compute the number of a thread, from blockIdx, which is an index by itself.
    """

    def inside(kernel: Kernel, accesses: Iterable[int]) -> Iterator[int]:
        for node in filter(None, map(kernel.statement, accesses)):
            places = subscripts(node)
            whole_indices = {ast.unparse(index) for place in places for index in indices(place)}
            for used in {each.id for place in places for each in names_in(place.slice)}:
                assignments = [each for each in kernel.nodes_of(ast.Assign) if used in _bound_by(each)]
                earlier = [each for each in assignments if each.lineno < node.lineno]
                last = max(earlier, key=lambda each: each.lineno, default=None)
                if last is None:
                    continue
                if "blockIdx" in ast.unparse(last.value):
                    named = threads and used in whole_indices
                else:
                    named = bool({each.id for each in names_in(last.value)} & (kernel.locals - kernel.arrays))
                if named:
                    yield last.lineno

    return lambda outcome: _lines_in_text(lambda kernel: inside(kernel, lines(outcome)))(outcome)


def _bound_by(node: ast.Assign) -> set[str]:
    return {each.id for each in bound_names(node)}


def union_of_lines(*several: LineFinder) -> LineFinder:
    """All of these lines."""
    return lambda outcome: [line for lines in several for line in lines(outcome)]


def lines_matching(pattern: str) -> LineFinder:
    """The lines of the assignments and loops in which a regular expression is found."""

    def found(kernel: Kernel) -> Iterator[int]:
        for node in kernel.statements:
            part: ast.AST | None = node if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.For):
                part = node.iter
            if part is not None and re.search(pattern, ast.unparse(part)):
                yield node.lineno

    return _lines_in_text(found)


def call_lines(name: str) -> LineFinder:
    """The lines of the statements that call this function."""
    return _lines_in_text(
        lambda kernel: (each.lineno for each in kernel.nodes_of(ast.Call) if ast.unparse(each.func) == name)
    )


#: The lines that add to the sums, the innermost loops around them, the last of these, and the outermost loops.
sum_lines = _lines_in_text(lambda kernel: (node.lineno for node in _sum_statements(kernel)))
innermost_sum_loops = _lines_in_text(lambda kernel: _sum_loop_lines(kernel, 0))
last_sum_loop = _lines_in_text(lambda kernel: [max(_sum_loop_lines(kernel, 0), default=0)])
outermost_sum_loops = _lines_in_text(lambda kernel: _sum_loop_lines(kernel, -1))
#: The lines in loops that give a sum its first value again, or the loops of the sums if there are none.
restarted_sum_lines = _lines_in_text(lambda kernel: _restarted_sums(kernel) or _sum_loop_lines(kernel, 0))
#: The lines that compute with the numbers of blocks and threads; those of the barriers; those that make the
#: largest shared arrays, and those that use these.
thread_number_lines = _lines_in_text(lambda kernel: _assignment_lines(kernel, "blockIdx", "threadIdx", "grid("))
barrier_lines = _lines_in_text(lambda kernel: (node.lineno for node in kernel.barriers()))
largest_array_lines = _lines_in_text(lambda kernel: shared_array_lines(kernel, _largest_arrays(kernel)))
largest_array_access_lines = _lines_in_text(
    lambda kernel: (
        place.lineno for place in kernel.nodes_of(ast.Subscript) if array_of(place) in _largest_arrays(kernel)
    )
)


def enclosing_lines(kind: type[ast.For | ast.While | ast.If], lines: LineFinder) -> LineFinder:
    """The innermost loops or conditions around these lines."""

    def found(outcome: Outcome) -> Iterable[int]:
        def inside(kernel: Kernel) -> Iterator[int]:
            for node in filter(None, map(kernel.statement, lines(outcome))):
                around = [each.lineno for each in kernel.ancestors(node) if isinstance(each, kind)]
                yield from around[:1]

        return _lines_in_text(inside)(outcome)

    return found


def guard_lines(lines: LineFinder) -> LineFinder:
    """The conditions around these lines that compute an index of theirs, too."""

    def around_them(kernel: Kernel, accesses: Iterable[int]) -> Iterator[int]:
        for node in filter(None, map(kernel.statement, accesses)):
            own = {ast.unparse(index) for place in subscripts(node) for index in indices(place)}
            for owner in kernel.ancestors(node):
                if isinstance(owner, ast.If):
                    parts = [ast.unparse(part) for part in ast.walk(owner.test) if isinstance(part, ast.BinOp)]
                    if own & {*parts}:
                        yield owner.lineno

    return lambda outcome: _lines_in_text(lambda kernel: around_them(kernel, lines(outcome)))(outcome)


def fill_condition_lines(kernel: Kernel, array: str | None) -> set[int]:
    """The lines of the ifs around the stores into a shared array that all threads of a block enter, or none."""
    fills = [fill for fill in kernel.fills if array_of(fill.target) == array]
    owners = [node for fill in fills for node in kernel.ancestors(fill.statement) if isinstance(node, ast.If)]
    return {owner.lineno for owner in owners if kernel.is_uniform(owner.test)}
