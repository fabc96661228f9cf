"""One verdict a launch: right, slow or wrong, with the lines that say why, and a repair that was tried."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...simulator.findings import Coordinates, Finding
from ...simulator.geometry import Launch
from ...simulator.hardware import WARP_SIZE
from ...simulator.run import Run, trimmed
from ...simulator.tables import plural
from ...trace.locate import Place, locate
from ...trace.replay import Timeline
from ...trace.structure import loops
from .costs import Cost
from .repairs import Repair

if TYPE_CHECKING:
    from ...trace.trace import Trace

#: Words of a verdict, and the colours of a terminal.
WORDS = {"RIGHT": "32", "SLOW": "33", "WRONG": "31", "REFUSED": "35"}
#: Columns of a line on the first screen.
WIDTH = 118


@dataclass(frozen=True)
class Opinion:
    """What is said of a launch first.

    Attributes:
        word: one of WORDS.
        says: the sentence beside it.
        finding, cost: what it is about, if anything.
        lines: (number, text, note) of source; the number is 0 in a line that a repair adds.
        repair: a repair that was launched, if one helps.
        more: how many further findings and costs there are.
    """

    word: str
    says: str
    finding: Finding | None = None
    cost: Cost | None = None
    lines: tuple[tuple[int, str, str], ...] = ()
    repair: Repair | None = None
    more: int = 0

    def text(self, launched: str, colours: bool = False) -> list[str]:
        """Return the verdict for a terminal; ``launched`` is the kernel and its launch."""
        word = f"\033[1;{WORDS[self.word]}m{self.word}\033[0m" if colours else self.word
        begin = f"{launched}  {self.word}  "
        head = textwrap.wrap(self.says, WIDTH, initial_indent=begin, subsequent_indent="    ")
        return [head[0].replace(begin, f"{launched}  {word}  ", 1), *head[1:], *self.source(), *self.advice()]

    def source(self) -> list[str]:
        """Return the lines of source that say why."""
        width = max((len(text) for _, text, note in self.lines if note), default=0)
        return [
            f"  {number or '+':>5} | {text:<{width}}  <- {note}" if note else f"  {number or '+':>5} | {text}"
            for number, text, note in self.lines
        ]

    def advice(self) -> list[str]:
        """Return the repair, in lines."""
        wraps = {"width": WIDTH, "subsequent_indent": "    "}
        given = (f"  repair: {self.repair.text}", f"  verified: {self.repair.proof}") if self.repair else ()
        return [line for part in given for line in textwrap.wrap(part, **wraps)]  # type: ignore[arg-type]


def verdict(
    run: Run, slow: tuple[Cost, ...], repair: Repair | None, trace: Trace | None, allowed: tuple[str, ...]
) -> Opinion:
    """Judge a launch. ``trace`` is its trace, or None; findings of the kinds ``allowed`` do not count."""
    found = [finding for finding in run.findings if finding.kind not in allowed]
    errors = [finding for finding in found if finding.severity == "error"]
    wide = [finding for finding in found if finding.kind == "float64"]
    source = dict(run.source.lines)
    if bool(errors) != bool(run.errors):  # the repair is of errors that are allowed
        repair = None
    if errors:
        races = [error for error in errors if error.kind == "race" and of_two_warps(run, error)]
        first = races[0] if races and errors[0].kind == "race" else errors[0]  # nobody disputes a race of two warps
        says, lines = _story(run, first, trace)
        return Opinion("WRONG", says, first, None, _source(source, lines, repair), repair, len(errors) - 1)
    if wide or slow:
        about: Finding | Cost = (repair.problem if repair else None) or (wide[0] if wide else slow[0])
        finding, cost = (about, None) if isinstance(about, Finding) else (None, about)
        line = about.line
        says = f"line {line}: {finding.message.partition(';')[0]}" if finding else str(about)
        more = len(wide) + len(slow) - 1
        return Opinion("SLOW", says, finding, cost, _source(source, {line: [""]}, repair), repair, more)
    if found:
        return Opinion("RIGHT", f"but see line {found[0].line}: {found[0].message}", found[0], more=len(found) - 1)
    return Opinion("RIGHT", "no findings")


def _source(
    source: dict[int, str], lines: dict[int, list[str]], repair: Repair | None
) -> tuple[tuple[int, str, str], ...]:
    """Return the lines with their notes, and those that a repair adds."""
    added = {change.line: change for change in repair.changes if change.added} if repair else {}
    shown = {*lines, *added}
    depth = min((len(source[n]) - len(source[n].lstrip()) for n in shown if n in source), default=0)
    found = []
    for number in sorted(shown):
        text = source.get(number, "")[depth:]
        for count, note in enumerate(lines.get(number, [""])):
            found.append((number, "" if count else text, note))
        if number in added:
            found.append((0, " " * (added[number].indent - depth) + added[number].added, ""))
    return tuple(found)


def _story(run: Run, finding: Finding, trace: Trace | None) -> tuple[str, dict[int, list[str]]]:
    """Return a finding in a sentence, and the notes of its lines."""
    launch = Launch.of(run.grid, run.block)
    if finding.kind != "race":
        other = finding.other_line if finding.other_line not in (None, finding.line) else None
        lines = {finding.line: [""], **({other: [""]} if other else {})}
        return f"{finding.kind}, line {finding.line}: {finding.message}", lines
    earlier = finding.line if finding.other_line is None else finding.other_line
    within = len({block for block, _ in finding.threads}) == 1
    iterations, around = _iterations(finding, trace) if within else ((0, 0), 0)
    notes: dict[int, list[str]] = {}
    assert finding.index is not None
    element = f"{finding.array}[{', '.join(map(str, finding.index))}]"
    accesses = [*zip((earlier, finding.line), finding.threads, finding.verbs, iterations, strict=True)]
    for line, thread, verb, iteration in sorted(accesses, key=lambda access: access[3]):
        who = launch.title(thread).partition(" of ")[0] if within else launch.title(thread)
        warp = f" (warp {linear(thread[1], run.block) // WARP_SIZE})" if within else ""
        when = f" in iteration {iteration}" if iteration else ""
        notes.setdefault(line, []).append(f"{who}{warp} {verb} {element}{when}")
    where = ""
    if iterations[0] and around:
        same = iterations[0] == iterations[1]
        where = f", {'within one iteration' if same else 'between two iterations'} of the loop in line {around}"
        notes.setdefault(around, [""])
    blocks = "" if within else " between two blocks"
    return f"race on {finding.array}{blocks}{where}: nothing orders the two accesses", notes


def of_two_warps(run: Run, race: Finding) -> bool:
    warps = {(block, linear(thread, run.block) // WARP_SIZE) for block, thread in race.threads}
    return len(warps) > 1


def linear(thread: Coordinates, block: Coordinates) -> int:
    """Return the number of a thread in its block, x fastest."""
    (x, y, z), (width, height, _) = thread, block
    return x + width * (y + height * z)


def _iterations(finding: Finding, trace: Trace | None) -> tuple[tuple[int, int], int]:
    """Return in which iteration of the innermost loop around both lines each access of a race is, and the loop's line.

    0 where that is not known: without a trace, or outside of loops.
    """
    found = trace.findings if trace is not None else ()
    own = [f for f in found if (f.key, f.threads, f.index) == (finding.key, finding.threads, finding.index)]
    places = locate(trace, own[0]) if trace is not None and own else ()
    if trace is None or len(places) != 2:
        return (0, 0), 0
    inside = loops(trace)
    first = finding.line if finding.other_line is None else finding.other_line
    others = [*_heads(inside, finding.line)]
    around = next((head for head in _heads(inside, first) if head in others), 0)
    if not around:
        return (0, 0), 0
    of_threads = {(place.block, place.thread): _count(trace, place, around, inside[around][1]) for place in places}
    one, two = (of_threads.get((block, linear(thread, trace.block)), 0) for block, thread in finding.threads)
    return (one, two), around


def _heads(inside: dict[int, tuple[int, int]], line: int) -> Iterator[int]:
    """Yield the lines of the loops around a line, innermost first."""
    head = inside.get(line, (0, 0))[0]
    while head:
        yield head
        head = inside[head][1]


def _count(trace: Trace, place: Place, head: int, outer: int) -> int:
    """Return how often a thread has begun the loop's body up to a place, since the loop around it began its own."""
    timeline = Timeline(trace, place.block)
    mine = timeline.of_thread(place.thread)[: place.position]
    lines = timeline.lines[: place.position]
    heads = [(lines == timeline.statement_of(line)) & mine for line in (head, outer)]
    since = heads[1].nonzero()[0][-1] if outer and heads[1].any() else 0
    return int(heads[0][since:].sum())


def launched(run: Run, times: int = 1) -> str:
    """Return the kernel and its launch in a few words."""
    often = f", {plural(times, 'time')}" if times > 1 else ""
    return f"{run.kernel_name} [{trimmed(run.grid)}, {trimmed(run.block)}]{often}"
