"""The table of what may be wrong in a kernel, with changes that repair it, and `proven`, which tries them.

A row says *when* it applies, which *changes* of the tree it proposes, and the *words* for each: the sentence of a
repair, which `profile` prints, and that of a hint, which `check` prints. What has no words for a reader is not tried
for them.
"""

import ast
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ..edits import Change
from .kernel_syntax import Kernel, in_lines

#: The readers: `profile` prints repairs, `check` hints.
REPAIR, HINT = "repair", "hint"


class Texts(NamedTuple):
    """What is said of a change: as a repair, that is what to write; as a hint, that is what is wrong.

    Both have ``{names}`` of what the row fills in. Empty: it is not for this reader.
    """

    repair: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Candidate:
    """A change that may be a repair.

    Attributes:
        id: that of its words.
        line: where it is.
        changes: nodes of the kernel's tree, and what replaces them.
        certain: the text or the finding shows the mistake: there is nothing to prove by a launch.
        said: what the words name.
        words: the row's words for this id.
        added: a line of source to put after ``line``, ``indent`` columns deep; "" if lines change.
        exchanges: x and y of grid and block are exchanged, too.
        fills: the arrays that must be filled: a guard that hides a wrong index leaves some elements out.
        also: more lines that the hint is about.
    """

    id: str
    line: int
    changes: tuple[Change, ...] = ()
    said: Mapping[str, Any] = field(default_factory=dict)
    words: Texts = Texts()
    added: str = ""
    indent: int = 0
    exchanges: bool = False
    certain: bool = False
    fills: tuple[str, ...] = ()
    also: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The repair in words."""
        return self.words.repair.format(**self.said)

    @property
    def hint(self) -> str:
        """The mistake in words, with its line, or all of its lines if the words name no others."""
        lines, said = {self.line, *self.also}, self.words.hint.format(**self.said)
        if self.words.hint.startswith("lines {"):
            return said
        if "line" not in self.words.hint:
            lines |= {old.lineno for old, new in self.changes if isinstance(old, ast.expr)}
        return f"{in_lines(lines)}: {said}"

    def joined(self, others: Iterable["Candidate"]) -> "Candidate":
        """Return this candidate with the changes of others, too."""
        changes = tuple(change for each in (self, *others) for change in each.changes)
        return Candidate(self.id, self.line, changes, self.said, self.words, fills=self.fills, also=self.also)


#: What a row proposes for a kernel and a problem: a finding, a cost, an outcome, or nothing in particular.
Maker = Callable[[Kernel, Any], Iterator[Candidate]]


@dataclass(frozen=True)
class RepairRow:
    """One kind of mistake, or a few that are found alike: ``when`` are the problems that it answers.

    These are kinds of findings, counts of costs, or a stage of `check`.
    """

    when: frozenset[str]
    make: Maker
    words: Mapping[str, Texts]

    def candidates(self, kernel: Kernel, problem: Any, reader: str) -> Iterator[Candidate]:
        """Yield what the row proposes and has words for."""
        if any(getattr(words, reader) for words in self.words.values()):
            yield from (each for each in self.make(kernel, problem) if getattr(each.words, reader))


#: The fields of a candidate that a row may give beside what its words name.
_FIELDS = ("added", "indent", "exchanges", "certain", "fills", "also")


def row(*when: str, **words: Texts) -> Callable[[Callable[..., Iterator[Candidate]]], RepairRow]:
    """Make a row of a generator, which gets the kernel, the problem, and a function that makes a candidate.

    A key of ``words`` is an id with ``_`` for ``-``.
    """
    named = {id.replace("_", "-"): each for id, each in words.items()}

    def made(id: str, at: ast.expr | ast.stmt | int, /, *changes: Change, **more: Any) -> Candidate:
        fields = {name: more.pop(name) for name in _FIELDS if name in more}
        return Candidate(id, at if isinstance(at, int) else at.lineno, changes, more, named[id], **fields)

    def of(generator: Callable[..., Iterator[Candidate]]) -> RepairRow:
        return RepairRow(frozenset(when), partial(generator, made), named)

    return of


#: The table: the rows of all parts that were imported, in their order.
TABLE: list[RepairRow] = []


def register(*rows: RepairRow) -> None:
    """Add rows to the table; those that are in it stay once, also when a module is executed again."""
    known = set(map(id, TABLE))
    TABLE.extend(row for row in rows if id(row) not in known)


def candidates(
    kernel: Kernel, kind: str, problem: Any = None, reader: str = HINT, rows: Iterable[RepairRow] = ()
) -> Iterator[Candidate]:
    """Yield what ``rows``, then those of the table, propose for a kind of problem."""
    for each in (*rows, *TABLE):
        if kind in each.when:
            yield from each.candidates(kernel, problem, reader)


class Tries:
    """The budget for all tries of one launch or answer: how much work they may be.

    Work is counted, not timed, so that an answer gets the same hint on every machine, however busy it is. ``each`` try
    is so much by itself; whoever launches calls `spend` for more. ``seconds`` of the processor are a limit where work
    is not known: for a launch of any size.
    """

    def __init__(self, most: float, each: float = 1, seconds: float = math.inf) -> None:
        self._left, self._each, self._end = most, each, time.process_time() + seconds

    def spend(self, work: float) -> None:
        """Take so much work from the budget."""
        self._left -= work

    def left(self) -> bool:
        """Take one try; return whether there was one."""
        self.spend(self._each)
        return self._left >= 0 and time.process_time() <= self._end

    def of(self, found: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield what is found, one try each, for as long as the budget lasts."""
        for candidate in found:
            if not self.left():
                return
            yield candidate


def proven(found: Iterable[Candidate], holds: Callable[[Candidate], Any], tries: Tries) -> Candidate | None:
    """Return the first candidate for which ``holds(candidate)`` is true, or None; no try begins after the budget."""
    return next((candidate for candidate in tries.of(found) if holds(candidate)), None)
