"""The table of what may be wrong in a kernel, with changes that repair it, and `first_proven`, which tries them.

A row says *when* it applies, which *changes* of the tree it proposes, and the *texts* for each: the sentence of a
repair, which `profile` prints, and that of a hint, which `check` prints. What has no text for a reader is not tried
for them.
"""

import ast
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
        id: that of its texts.
        line: where it is.
        changes: nodes of the kernel's tree, and what replaces them.
        certain: the text or the finding shows the mistake: there is nothing to prove by a launch.
        values: those of the names in the texts.
        texts: the row's texts for this id.
        added: a line of source to put after ``line``, ``indent`` columns deep; "" if lines change.
        exchanges: x and y of grid and block are exchanged, too.
        must_fill: the arrays that must be filled: a guard that hides a wrong index leaves some elements out.
        more_lines: others that the hint is about.
    """

    id: str
    line: int
    changes: tuple[Change, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    texts: Texts = Texts()
    added: str = ""
    indent: int = 0
    exchanges: bool = False
    certain: bool = False
    must_fill: tuple[str, ...] = ()
    more_lines: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The repair in words."""
        return self.texts.repair.format(**self.values)

    @property
    def hint(self) -> str:
        """The mistake in words, with its line, or all of its lines if the words name no others."""
        lines, mistake = {self.line, *self.more_lines}, self.texts.hint.format(**self.values)
        if self.texts.hint.startswith("lines {"):
            return mistake
        if "line" not in self.texts.hint:
            lines |= {old.lineno for old, new in self.changes if isinstance(old, ast.expr)}
        return f"{in_lines(lines)}: {mistake}"

    def joined(self, others: Iterable["Candidate"]) -> "Candidate":
        """Return this candidate with the changes of others, too."""
        changes = tuple(change for each in (self, *others) for change in each.changes)
        return replace(self, changes=changes)


#: Makes a candidate of a row: `row` says how.
MakeCandidate = Callable[..., Candidate]
Candidates = Iterator[Candidate]
#: What a row proposes for a kernel and a problem: a finding, a cost, an outcome, or nothing in particular.
CandidateGenerator = Callable[[Kernel, Any], Candidates]


@dataclass(frozen=True)
class RepairRow:
    """One kind of mistake, or a few that are found alike: ``when`` are the problems that it answers.

    These are kinds of findings, counts of costs, or a stage of `check`.
    """

    when: frozenset[str]
    propose: CandidateGenerator
    texts: Mapping[str, Texts]

    def candidates(self, kernel: Kernel, problem: Any, reader: str) -> Candidates:
        """Yield what the row proposes and has texts for."""
        if any(getattr(texts, reader) for texts in self.texts.values()):
            yield from (each for each in self.propose(kernel, problem) if getattr(each.texts, reader))


#: The fields of a candidate that a row may give beside the values of its texts.
_FIELDS = ("added", "indent", "exchanges", "certain", "must_fill", "more_lines")


def row(*when: str, **texts: Texts) -> Callable[[Callable[..., Candidates]], RepairRow]:
    """Make a row of a generator, which gets the kernel, the problem, and a function that makes a candidate.

    A key of ``texts`` is an id with ``_`` for ``-``.
    """
    named = {id.replace("_", "-"): each for id, each in texts.items()}

    def make(id: str, at: ast.expr | ast.stmt | int, /, *changes: Change, **more: Any) -> Candidate:
        fields = {name: more.pop(name) for name in _FIELDS if name in more}
        return Candidate(id, at if isinstance(at, int) else at.lineno, changes, more, named[id], **fields)

    def row_of(generator: Callable[..., Candidates]) -> RepairRow:
        return RepairRow(frozenset(when), partial(generator, make), named)

    return row_of


#: The table: the rows of all parts that were imported, in their order.
TABLE: list[RepairRow] = []


def register(*rows: RepairRow) -> None:
    """Add rows to the table; those that are in it stay once, also when a module is executed again."""
    known = set(map(id, TABLE))
    TABLE.extend(row for row in rows if id(row) not in known)


def candidates(
    kernel: Kernel, kind: str, problem: Any = None, reader: str = HINT, rows: Iterable[RepairRow] = ()
) -> Candidates:
    """Yield what ``rows``, then those of the table, propose for a kind of problem."""
    for each in (*rows, *TABLE):
        if kind in each.when:
            yield from each.candidates(kernel, problem, reader)


class TryBudget:
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

    def of(self, found: Iterable[Candidate]) -> Candidates:
        """Yield what is found, one try each, for as long as the budget lasts."""
        for candidate in found:
            if not self.left():
                return
            yield candidate


def first_proven(found: Iterable[Candidate], holds: Callable[[Candidate], Any], tries: TryBudget) -> Candidate | None:
    """Return the first candidate for which ``holds(candidate)`` is true, or None; no try begins after the budget."""
    return next((candidate for candidate in tries.of(found) if holds(candidate)), None)
