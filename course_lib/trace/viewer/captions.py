"""What a block does in a frame of its animation, counted, and in one sentence: the text of static pictures.

``web/animation.js`` counts and says the same for the frames that it plays; a test compares the two for all launches.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ...simulator.formatting import plural
from ..columns import OPS, RESUMED, ElementAccesses
from ..data_flow import statements
from ..kernel_structure import accumulators
from ..replay import BlockAnimation
from ..trace import Fragment, Pieces

LOAD, RESULT = OPS.index("load"), OPS.index("result")


@dataclass
class Facts:
    """Numbers are elements that threads load or store, each thread's counted.

    threads: that access memory or multiply. fetched: loaded from global memory; distinct: different elements among
    these; origin: their arrays. shared: stored to shared memory; reads: how often each of these is read before it is
    overwritten, least and most. read: from shared memory; held: different elements among these; empty: of these, those
    that nobody has stored. multiplied: multiply-adds; added: additions to a sum of what is no product. stored and
    updated: to global memory, and there by atomics; into: their arrays.
    """

    lanes: dict[int, int] = field(default_factory=dict)
    fetched: int = 0
    distinct: int = 0
    origin: list[str] = field(default_factory=list)
    shared: int = 0
    reads: tuple[int, int] | None = None
    read: int = 0
    held: int = 0
    empty: int = 0
    multiplied: int = 0
    added: int = 0
    stored: int = 0
    updated: int = 0
    into: list[str] = field(default_factory=list)

    @property
    def threads(self) -> int:
        return sum(mask.bit_count() for mask in self.lanes.values())

    def take_part(self, warp: int, lanes: int) -> None:
        """Note that lanes of a warp take part."""
        self.lanes[warp] = self.lanes.get(warp, 0) | lanes


def facts_of(animation: BlockAnimation) -> list[Facts]:
    """Return the facts of each frame."""
    found = [Facts() for _ in animation.frames]
    for name, array in animation.trace.arrays.items():
        if array.space != "local":
            _count_accesses(animation, found, name)
    _count_multiply_adds(animation, found)
    return found


def _count_accesses(animation: BlockAnimation, found: list[Facts], name: str) -> None:
    """Count the accesses of an array of global or shared memory."""
    accesses, array = animation.accesses(name), animation.trace.arrays[name]
    ends = [end for _, end in animation.frames]
    frame = np.searchsorted(ends, accesses.position)
    written = _reads_of_stored(accesses, frame, array.size)
    first_store = np.full(array.size, len(frame))
    np.minimum.at(first_store, accesses.element[accesses.store], np.flatnonzero(accesses.store))
    for number in np.unique(frame).tolist():
        facts, now = found[number], np.flatnonzero(frame == number)
        loads = now[~accesses.store[now]]
        elements, at = np.unique(accesses.element[loads], return_index=True)
        if array.space == "global":
            facts.fetched += len(loads)
            facts.distinct += len(elements)
            facts.updated += int(accesses.atomic[now].sum())
            facts.stored += int((accesses.store[now] & ~accesses.atomic[now]).sum())
            continue
        facts.read += len(loads)
        facts.held += len(elements)
        facts.empty += int((first_store[elements] > loads[at]).sum())
        facts.shared += len(np.unique(accesses.element[now[accesses.store[now]]]))
        if len(counts := written.get(number, ())):
            low, high = int(np.min(counts)), int(np.max(counts))
            before = facts.reads or (low, high)
            facts.reads = min(low, before[0]), max(high, before[1])


def _reads_of_stored(accesses: ElementAccesses, frame: np.ndarray, size: int) -> dict[int, np.ndarray]:
    """Return for each frame how often each element that it stores is read, before a later frame stores it."""
    stores, loads = np.flatnonzero(accesses.store), np.flatnonzero(~accesses.store)
    _, first = np.unique(frame[stores] * size + accesses.element[stores], return_index=True)
    first = stores[first]
    first = first[np.lexsort((first, accesses.element[first]))]
    element, after = accesses.element[first], np.append(first[1:], 0)
    many = len(frame) + 1
    after[np.append(element[1:] != element[:-1], True)] = many - 1
    places = np.sort(accesses.element[loads] * many + loads)
    read = np.searchsorted(places, element * many + after) - np.searchsorted(places, element * many + first)
    return {number: read[frame[first] == number] for number in np.unique(frame[first]).tolist()}


def _count_multiply_adds(animation: BlockAnimation, found: list[Facts]) -> None:
    """Count multiply-adds and additions, and note the lanes that take part and the arrays, in the animation's order."""
    trace, columns = animation.trace, animation.columns
    sums = {columns.names.index(name) for name in accumulators(trace) if name in columns.names}
    arrays = [(name, trace.arrays[name].space, name in accumulators(trace)) for name in columns.arrays]
    products = {each.line: each.products for each in statements(trace)}
    accesses = _rows(animation, "access", "array", "op", "lanes", "width")
    variables = _rows(animation, "variable", "name")
    begun: dict[tuple[int, int], int] = {}
    steps = zip(
        animation.order.tolist(),
        animation.lines.tolist(),
        animation.warps.tolist(),
        animation.lanes.tolist(),
        strict=True,
    )
    number = 0
    for position, (at, line, warp, mask) in enumerate(steps, start=1):
        number += position > animation.frames[number][1]
        facts = found[number]
        at_once = _matrix_products(animation, animation.first + at)
        facts.multiplied += at_once
        results, does, factor = 0, set[bool](), products.get(line, 1)
        for array, op, lanes, width in accesses.get(at, ()):
            facts.take_part(warp, lanes)
            name, space, gathers = arrays[array]
            if space == "local" and gathers:
                does.add(op == LOAD)
                results += lanes.bit_count() * width * (op != LOAD)
            elif space == "global" and name not in (names := facts.origin if op == LOAD else facts.into):
                names.append(name)
        results *= len(does) == 2  # read, added to and stored
        for (variable,) in variables.get(at, ()):
            if variable in sums:
                held = mask & begun.get((warp, variable), 0)
                results += held.bit_count() * (not at_once)
                facts.take_part(warp, held)
                begun[warp, variable] = begun.get((warp, variable), 0) | mask
        facts.multiplied += factor * results
        facts.added += results * (not factor)


def _rows(animation: BlockAnimation, table: str, *names: str) -> dict[int, list[tuple[int, ...]]]:
    """Return the rows of a table by the recorded numbers of the steps to which they belong."""
    rows = animation.table(table)
    found: dict[int, list[tuple[int, ...]]] = {}
    for step, *row in zip(
        (rows["step"] - animation.first).tolist(), *(rows[name].tolist() for name in names), strict=True
    ):
        found.setdefault(step, []).append(tuple(row))
    return found


def _matrix_products(animation: BlockAnimation, step: int) -> int:
    """Return the multiply-adds of the matrices that a step multiplies with one instruction."""
    columns = animation.columns
    operations = [each for each in animation.trace.matrices if each.line == columns.step["line"][step]]
    if not operations or columns.step["flags"][step] & RESUMED:
        return 0
    matrices: list[Fragment | Pieces] = [*operations[0].fragments, *operations[0].pieces]
    shapes = {each.name: each for each in reversed(matrices)}
    if not {"A", "B"} <= shapes.keys():
        return 0
    times = int((columns.product["step"] == step).sum()) if operations[0].pieces else 1
    return times * shapes["A"].rows * shapes["A"].columns * shapes["B"].columns


def says(facts: Facts) -> str:
    """Return what a frame shows: ``16 threads copy 32 numbers of A and B to shared memory; …``."""
    *rest, last = [*_reads(facts), *_stores(facts)] or [_verb(facts, "compute")]
    listed = f"{', '.join(rest)}{',' if len(rest) > 1 else ''} and {last}" if rest else last
    later = ""
    if facts.shared and facts.reads and facts.reads[1]:
        least, most = facts.reads
        later = f"; each will be read {_times(least) if least == most else f'{least:,} to {_times(most)}'}"
    return f"{plural(facts.threads, 'thread')} {listed}{later}."


def _reads(facts: Facts) -> Iterator[str]:
    """Yield what threads load, copy and compute, and what they store to shared memory."""
    copies = facts.fetched and facts.shared and not facts.read
    if copies:
        numbers = f"{plural(facts.fetched, 'number')} of {_listed(facts.origin)}"
        yield f"{_verb(facts, 'copy')} {numbers} to shared memory"
        return
    adds = _arithmetic(facts)
    if facts.fetched:
        different = f" ({facts.distinct:,} different)" if facts.distinct < facts.fetched else ""
        use = f" for {adds}" if adds and not facts.read else ""
        yield f"{_verb(facts, 'load')} {plural(facts.fetched, 'number')} of {_listed(facts.origin)}{different}{use}"
    does_more = facts.fetched or facts.shared
    if facts.read and does_more and adds:
        yield f"{_verb(facts, 'do')} {adds} with {_shared_numbers(facts)} in shared memory"
    elif facts.read:
        often = f", {_times(facts.read)} in all" if facts.read > facts.held else ""
        use = f", for {adds}" if adds else ""
        yield f"{_verb(facts, 'read')} {_shared_numbers(facts)} in shared memory{often}{use}"
    elif adds and not facts.fetched:
        yield f"{_verb(facts, 'do')} {adds}"
    if facts.shared:
        yield f"{_verb(facts, 'store')} {plural(facts.shared, 'number')} to shared memory"


def _stores(facts: Facts) -> Iterator[str]:
    """Yield what threads store to global memory and update there."""
    for verb, count in (("store", facts.stored), ("update", facts.updated)):
        if count:
            yield f"{_verb(facts, verb)} {plural(count, 'number')} of {_listed(facts.into)}"


def _arithmetic(facts: Facts) -> str:
    kinds = (facts.multiplied, "multiply-add"), (facts.added, "addition")
    return " and ".join(plural(count, what) for count, what in kinds if count)


def _shared_numbers(facts: Facts) -> str:
    if facts.empty == facts.held:
        return plural(facts.held, "empty element")
    return plural(facts.held, "number") + (f" ({facts.empty:,} empty)" if facts.empty else "")


def _verb(facts: Facts, of_several: str) -> str:
    """Return the verb as it is said of one thread, or of several."""
    of_one = {"copy": "copies", "do": "does"}.get(of_several, f"{of_several}s")
    return of_one if facts.threads == 1 else of_several


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
