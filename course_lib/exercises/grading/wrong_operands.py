"""The elements that a wrong kernel multiplies and adds, held against those that the exercise's formula needs."""

import ast
import itertools
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ...trace.finding_locations import Place
from ...trace.replay import Timeline
from ...trace.trace import Dim3, Trace
from .exercise import Array, Outcome, Task

#: The first tag. Sums, products and multiples of tags are outside the band in which all of them are.
_FIRST_TAG = np.float32(1.5)
#: How many float32 numbers are in the band of tags.
_MOST_TAGS = 1 << 15

Operand = tuple[str, int]
"""An array of the exercise, and the row-major number of an element."""
Term = tuple[Operand, ...]
"""The elements that are multiplied with each other, or the one that is added."""


OutputFor = Callable[[tuple[Array, ...]], Array]
"""The output of the kernel for other inputs of the same shapes."""


class Misread(NamedTuple):
    """A step that reads something that the element does not need.

    ``operands`` are what it reads. ``unneeded`` is the one that no term has, and ``missing`` the one that belongs to
    the others; without ``unneeded`` the operands are needed, but not together, or they have been added before:
    ``repeated``.
    """

    place: Place
    operands: tuple[Operand, ...]
    unneeded: Operand | None = None
    missing: Operand | None = None
    repeated: bool = False


class WrongSum(NamedTuple):
    """A step after which the variable that is stored later has a ``value`` other than the ``right`` one."""

    place: Place
    variable: str
    value: float
    right: float


class _ReadRecorder:
    """An array whose elements a formula reads: notes which."""

    def __init__(self, name: str, array: Array, recorded: list[Operand]):
        self._name, self._array, self._recorded = name, array, recorded
        self.shape, self.size = array.shape, array.size

    def __getitem__(self, index: Any) -> Any:
        place = tuple(int(i) for i in np.atleast_1d(index))
        self._recorded.append((self._name, int(np.ravel_multi_index(place, self.shape))))
        return float(self._array[place])


def needed_terms(task: Task, inputs: Sequence[Array], shape: tuple[int, ...], element: int) -> list[Term]:
    """Return the terms of an element of the output, of this shape, as ``task.element`` computes it."""
    (assigned,) = ast.parse(task.element).body
    assert isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Subscript)
    indices = ast.unparse(assigned.targets[0].slice).strip("()").split(", ")
    recorded: list[Operand] = []
    terms: list[Term] = []

    def total(summands: Any) -> float:
        result = 0.0
        for each in summands:
            terms.append(tuple(recorded))
            recorded.clear()
            result += each
        return result

    arrays = {
        n: _ReadRecorder(n, a, recorded) for n, a in zip(task.parameters, (*inputs, np.zeros(shape)), strict=True)
    }
    place = dict(zip(indices, map(int, np.unravel_index(element, shape)), strict=True))
    names = {"sum": total, "float32": float, "int": int, "min": min, "range": range}
    formula = compile(ast.Expression(assigned.value), "<the exercise's formula>", "eval")
    eval(formula, {"__builtins__": {}, **names, **arrays, **place})
    return terms + ([tuple(recorded)] if recorded else [])


def with_tags(inputs: Sequence[Array]) -> tuple[Array, ...] | None:
    """Return arrays like ``inputs`` in which no number occurs twice; None if there are too many, or not in float32."""
    size = sum(array.size for array in inputs)
    if size > _MOST_TAGS or any(array.dtype != np.float32 for array in inputs):
        return None
    tags = (_FIRST_TAG.view(np.uint32) + np.arange(size, dtype=np.uint32)).view(np.float32)
    ends = np.cumsum([array.size for array in inputs])[:-1]
    return tuple(part.reshape(each.shape) for part, each in zip(np.split(tags, ends), inputs, strict=True))


class Computation:
    """How the thread of a store has computed the stored element of the output, compared with the exercise's formula.

    ``outcome`` is the traced launch, and ``tagged`` the same on numbers `with_tags`: there, a number says which element
    it is, wherever it was copied to. ``stored`` is the place of the store. If the thread stores several elements after
    the same reads, what one of them needs is right; and ``output_for``, which returns the output for other inputs,
    tells whether what none of them needs is in this one.
    """

    def __init__(
        self, task: Task, outcome: Outcome, tagged: Outcome, stored: Place, element: int, output_for: OutputFor
    ):
        """Read what the thread has read and stored, and compute the terms of what it stored after the same reads."""
        tags = {
            float(tag): (name, number)
            for name, array in zip(task.parameters, tagged.inputs, strict=False)
            for number, tag in enumerate(array.flat)
        }
        self.outcome, self.stored = outcome, stored
        self._timeline = Timeline.of(outcome.run.trace, stored.block)
        self._multiplying = _multiplying(outcome.source.tree if outcome.source else None)
        self._reads = _ThreadReads(Timeline.of(tagged.run.trace, stored.block), stored.thread, tags, self._multiplying)
        self._output = outcome.own_name(task.output)
        self._begin, elements = self._reads.reads_before(self._output, element)
        shape = outcome.got.shape
        self.terms = [term for each in sorted(elements) for term in needed_terms(task, outcome.inputs, shape, each)]
        self._stores_one_element = len(elements) == 1
        self._values = {
            (name, number): float(value)
            for name, array in zip(task.parameters, outcome.inputs, strict=False)
            for number, value in enumerate(array.flat)
        }
        self._wanted = float(outcome.want.flat[element])
        self._element, self._output_for = element, output_for
        self._places = {name: place for place, name in enumerate(task.parameters)}
        self._in_element: dict[Term, bool] = {}

    @cached_property
    def _steps(self) -> list[tuple[int, list[Operand]]]:
        return self._reads.steps(self._begin, self.stored.position)

    def _at(self, position: int) -> Place:
        return Place(self.stored.block, position, self.stored.thread)

    def first_wrong_step(self) -> Misread | WrongSum | None:
        """The first step that makes the element wrong; None if each step by itself is right."""
        found = [each for each in (self._misread(), self._wrong_sum()) if each is not None]
        return min(found, key=lambda each: each.place.position, default=None)

    def _misread(self) -> Misread | None:
        union = {operand for term in self.terms for operand in term}
        terms = [Counter(term) for term in self.terms]
        wanted, added = Counter(map(_key, self.terms)), Counter[Term]()
        for position, read in self._steps:
            place, operands, key = self._at(position), tuple(read), _key(read)
            multiplied = int(self._timeline.lines[position - 1]) in self._multiplying
            unneeded = next((each for each in operands if each not in union and self._is_in_element((each,))), None)
            if unneeded:
                rest = Counter(operands) - Counter([unneeded])
                left = {other for term in terms if multiplied and rest and rest <= term for other in term - rest}
                fits = [other for other in left if other[0] == unneeded[0]] or [*left]
                return Misread(place, operands, unneeded, fits[0] if len(fits) == 1 else None)
            if multiplied and not any(Counter(operands) <= term for term in terms) and self._is_in_element(key):
                return Misread(place, operands)
            if self._stores_one_element and multiplied and key in wanted:
                added[key] += 1
                if added[key] > wanted[key]:
                    return Misread(place, operands, repeated=True)
        return None

    def _is_in_element(self, operands: Term) -> bool:
        """Whether the product of these operands is in the element: there is a difference, of first or higher order.

        That is so if the thread stores nothing else.
        """
        if self._stores_one_element:
            return True
        if operands not in self._in_element:
            total = 0.0
            for changed in itertools.product((0, 1), repeat=len(operands)):
                inputs = tuple(array.copy() for array in self.outcome.inputs)
                for (name, number), more in zip(operands, changed, strict=True):
                    inputs[self._places[name]].flat[number] += more
                total += (-1) ** sum(changed) * float(self._output_for(inputs).flat[self._element])
            self._in_element[operands] = total != 0
        return self._in_element[operands]

    @property
    def terms_read(self) -> int | None:
        """How many of the element's terms the thread reads, each in one step; None if it reads them in another way."""
        done = {_key(operands) for _, operands in self._steps} & set(map(_key, self.terms))
        return len(done) if self._stores_one_element and done else None

    def _wrong_sum(self) -> WrongSum | None:
        """The first assignment of the stored variable that does not add what its step multiplies.

        Only where the element is a sum of products. A step that reads part of a term may add anything.
        """
        products = {_key(term): math.prod(self._values[operand] for operand in term) for term in self.terms}
        left, name = Counter(map(_key, self.terms)), self._variable
        in_all = sum(products[term] * count for term, count in left.items())
        if name is None or not self._stores_one_element or in_all != self._wanted:
            return None
        reads, total, unsure, last = dict(self._steps), 0.0, False, self._begin
        for position, value in self._assignments(name):
            unsure = unsure or bool(self._reads.steps(last, position - 1))
            last, used = position, _key(reads.get(position, []))
            right = value
            if used in products and not unsure:
                right = total + (products[used] if left[used] > 0 else 0)
                left[used] -= 1
            elif not used and not unsure:
                right = total if value == 0 or math.isnan(value) else value
            if value != right:
                return WrongSum(self._at(position), name, value, right)
            total, unsure = value, False
        return None

    @property
    def _variable(self) -> str | None:
        """The variable that the store stores; None if it stores an expression of several, or none."""
        line = int(self._timeline.lines[self.stored.position - 1])
        tree = self.outcome.source.tree if self.outcome.source else None
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or line):
                names = set(_names(node.value)) & set(self._timeline.columns.names)
                return names.pop() if len(names) == 1 else None
        return None

    def _assignments(self, name: str) -> list[tuple[int, float]]:
        """The (position, value) of the thread's assignments to a variable up to the store."""
        found = []
        mine = np.flatnonzero(self._timeline.of_thread(self.stored.thread))
        for position in (mine[(mine >= self._begin) & (mine < self.stored.position)] + 1).tolist():
            step = self._timeline.step(position)
            if name in step.variables:
                values = np.asarray(step.variables[name])
                found.append((position, float(values[list(step.threads).index(self.stored.thread)].real)))
        return found


def _key(operands: Sequence[Operand]) -> Term:
    """The same for the same operands in any order."""
    return tuple(sorted(operands))


def _multiplying(tree: ast.FunctionDef | None) -> frozenset[int]:
    """The lines of the statements that multiply two elements of arrays."""

    def indexed(node: ast.AST) -> bool:
        return any(isinstance(each, ast.Subscript) for each in ast.walk(node))

    lines: set[int] = set()
    for statement in ast.walk(tree) if tree else ():
        if isinstance(statement, ast.Assign | ast.AugAssign):
            products = (node for node in ast.walk(statement) if isinstance(node, ast.BinOp))
            if any(isinstance(node.op, ast.Mult) and indexed(node.left) and indexed(node.right) for node in products):
                lines.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return frozenset(lines)


def _names(node: ast.AST) -> Iterator[str]:
    """The names in an expression, without those of arrays and of their indices, and of functions."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call):
        for argument in node.args:
            yield from _names(argument)
    elif not isinstance(node, ast.Subscript):
        for child in ast.iter_child_nodes(node):
            yield from _names(child)


class _ThreadReads:
    """The operands that one thread reads in each step of its block."""

    def __init__(self, timeline: Timeline, thread: int, tags: Mapping[float, Operand], multiplying: frozenset[int]):
        self.timeline, self.thread, self._multiplying = timeline, thread, multiplying
        self._found: dict[int, list[tuple[str, Operand]]] = {}  # by position, with the space
        self._staged: set[str] = set()  # arrays of the exercise that are copied into shared memory
        self._fills = {
            int(position)
            for name, array in timeline.trace.arrays.items()
            if array.space == "shared"
            for position in self._positions_of_thread(name, store=True)
        }
        for name, array in timeline.trace.arrays.items():
            self._record_loads(name, array.space, tags)

    def _positions_of_thread(self, name: str, store: bool) -> np.ndarray:
        accesses = self.timeline.accesses(name)
        found: np.ndarray = accesses.position[(accesses.thread == self.thread) & (accesses.store == store)]
        return found

    def _record_loads(self, name: str, space: str, tags: Mapping[float, Operand]) -> None:
        """Note the operands of an array's loads; a number is what the element held before the step."""
        accesses, array = self.timeline.accesses(name), self.timeline.trace.arrays[name]
        initial = None if array.initial is None else np.ascontiguousarray(array.initial).reshape(-1)
        held: dict[tuple[int, int], float] = {}
        late: list[tuple[tuple[int, int], float]] = []  # stored in this step
        now = 0
        columns = (accesses.position, accesses.thread, accesses.element, accesses.store, accesses.new, accesses.value)
        for position, thread, element, store, new, value in zip(*(each.tolist() for each in columns), strict=True):
            if position != now:
                held.update(late)
                now, late = position, []
            key = (element, thread if space == "local" else -1)
            if new:
                late.append((key, value))
                if space == "shared" and value in tags:
                    self._staged.add(tags[value][0])
            if not store and thread == self.thread:
                number = held.get(key, None if initial is None else initial[element].item())
                if number is not None and number in tags:
                    self._found.setdefault(position, []).append((space, tags[number]))

    @cached_property
    def _used(self) -> list[tuple[int, list[Operand]]]:
        """The (position, operands) of all steps that use operands."""
        found = []
        for position in sorted(self._found.keys() - self._fills):
            operands = [operand for _, operand in self._found[position]]
            ahead = all(space == "global" and name in self._staged for space, (name, _) in self._found[position])
            if not ahead or int(self.timeline.lines[position - 1]) in self._multiplying:  # else it is for a tile
                found.append((position, operands))
        return found

    def steps(self, begin: int, end: int) -> list[tuple[int, list[Operand]]]:
        """Return (position, operands) of the steps after position ``begin``, up to ``end``, that use operands."""
        first, last = (bisect_right(self._used, place, key=itemgetter(0)) for place in (begin, end))
        return self._used[first:last]

    def reads_before(self, output: str, element: int) -> tuple[int, set[int]]:
        """Return the position after which the thread computes ``element``, and what it stores from the same reads."""
        accesses = self.timeline.accesses(output)
        mine = (accesses.thread == self.thread) & accesses.store
        groups: list[tuple[int, set[int]]] = []
        last = 0
        for at, stored in zip(accesses.position[mine].tolist(), accesses.element[mine].tolist(), strict=True):
            if not groups or (stored not in groups[-1][1] and self.steps(last, at)):
                groups.append((last, set()))
            groups[-1][1].add(stored)
            last = at
        return next(group for group in groups if element in group[1])


def have_equal_steps(one: Trace, other: Trace, block: Dim3) -> bool:
    """Whether a block does the same statements in both launches, by the same threads, each of which reads for itself.

    In a warp that exchanges values or multiplies matrices, a lane reads for others.
    """
    if len(one.columns.exchange["step"]) or one.matrices:
        return False
    a, b = Timeline.of(one, block), Timeline.of(other, block)
    return len(a) == len(b) and bool((a.lines == b.lines).all() and (a.lanes == b.lanes).all())
