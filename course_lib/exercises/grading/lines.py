"""The lines of an answer that a hint is about, so that it can name all of them."""

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ...simulator.repairs.kernel import Kernel, in_lines, same
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
    """The lines with the most accesses of these kinds, to these arrays or to all."""

    def lines(outcome: Outcome) -> list[int]:
        counts = _accesses(outcome, space, ops, arrays)
        return [line for line, count in counts.items() if count == max(counts.values())]

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
                found = any(same(target, part) for part in ast.walk(value) if isinstance(part, ast.expr))
            case _:
                found = False
        if found and kernel.loops_around(node):
            yield node


def _assigned(kernel: Kernel, *words: str) -> Iterator[int]:
    """The lines of the assignments in which one of these words is."""
    found = (node for node in kernel.statements if isinstance(node, ast.Assign))
    return (node.lineno for node in found if any(word in ast.unparse(node) for word in words))


#: The lines that add to the sums, the innermost loops around them, and the outermost.
sums = _of_text(lambda kernel: (node.lineno for node in _sums(kernel)))
loops_of_sums = _of_text(lambda kernel: (kernel.loops_around(node)[0].lineno for node in _sums(kernel)))
outer_loops = _of_text(lambda kernel: (kernel.loops_around(node)[-1].lineno for node in _sums(kernel)))
#: The lines that compute with the numbers of blocks and threads; those of the barriers; those that make shared arrays.
thread_numbers = _of_text(lambda kernel: _assigned(kernel, "blockIdx", "threadIdx", "grid("))
barriers = _of_text(lambda kernel: (node.lineno for node in kernel.barriers()))
shared_arrays = _of_text(lambda kernel: _assigned(kernel, "shared.array"))


def around(kind: type[ast.For | ast.If], lines: Lines) -> Lines:
    """The innermost loops or conditions around these lines."""

    def found(outcome: Outcome) -> Iterable[int]:
        def inside(kernel: Kernel) -> Iterator[int]:
            for node in filter(None, map(kernel.statement, lines(outcome))):
                yield from [each.lineno for each in kernel.above(node) if isinstance(each, kind)][:1]

        return _of_text(inside)(outcome)

    return found
