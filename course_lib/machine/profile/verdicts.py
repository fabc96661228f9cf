"""One verdict a launch: right, slow, suspect or wrong, with the lines that say why, and a repair that was tried.

What may change values is told before what costs time, and nothing that was found is left out.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...simulator.checks.races.rules import VERBS
from ...simulator.findings import KINDS, Finding
from ...simulator.geometry import Launch, coordinates, linear
from ...simulator.hardware import WARP_SIZE
from ...simulator.run import Run, trimmed
from ...simulator.tables import plural
from ...trace.locate import locate
from ...trace.replay import Timeline
from ...trace.structure import loops
from ...trace.trace import Trace
from .costs import Cost
from .repairs import Repair

#: Words of a verdict, and the colours of a terminal.
WORDS = {"RIGHT": "32", "SLOW": "33", "SUSPECT": "91", "WRONG": "31", "REFUSED": "35", "STOPPED": "35"}
#: Columns of a line on the first screen.
WIDTH = 118


@dataclass(frozen=True)
class Opinion:
    """What is said of a launch first.

    Attributes:
        word: one of WORDS.
        says: the sentence beside it.
        lines: (number, text, note) of source; the number is 0 in a line that a repair adds.
        repair: a repair that was launched, if one helps.
        problems: the findings and costs, that first which it is about.
        also: the others, those of one kind in one sentence.
    """

    word: str
    says: str
    lines: tuple[tuple[int, str, str], ...] = ()
    repair: Repair | None = None
    problems: tuple[Finding | Cost, ...] = ()
    also: tuple[str, ...] = ()

    def text(self, launched: str, colours: bool = False) -> list[str]:
        """Return the verdict for a terminal; ``launched`` is the kernel and its launch."""
        return [*self.head(launched, colours), *self.source(), *self.rest(), *self.advice()]

    def head(self, launched: str, colours: bool = False) -> list[str]:
        """Return the word and the sentence."""
        word = f"\033[1;{WORDS[self.word]}m{self.word}\033[0m" if colours else self.word
        begin = f"{launched}  {self.word}  "
        head = textwrap.wrap(self.says, WIDTH, initial_indent=begin, subsequent_indent="    ")
        return [head[0].replace(begin, f"{launched}  {word}  ", 1), *head[1:]]

    def source(self) -> list[str]:
        """Return the lines of source that say why."""
        width = max((len(text) for _, text, note in self.lines if note), default=0)
        return [
            f"  {number or '+':>5} | {text:<{width}}  <- {note}" if note else f"  {number or '+':>5} | {text}"
            for number, text, note in self.lines
        ]

    def rest(self) -> list[str]:
        """Return what else was found, in lines."""
        return [line for said in self.also for line in wrapped(f"  also {said}")]

    def advice(self) -> list[str]:
        """Return the repair, in lines."""
        advised = bool(self.problems) and isinstance(self.problems[0], Cost) and self.problems[0].advises
        none = ("  no repair is known",) if self.word == "SLOW" and not advised else ()
        what = "repair of what is slow" if self.word == "SUSPECT" else "repair"
        given = (f"  {what}: {self.repair.text}", f"  verified: {self.repair.proof}") if self.repair else none
        return [line for part in given for line in wrapped(part)]


def wrapped(text: str) -> list[str]:
    """Return a text in lines of the first screen."""
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ")


def verdict(
    run: Run,
    slow: tuple[Cost, ...],
    repair: Repair | None,
    trace: Trace | None,
    allowed: tuple[str, ...],
    failed: str = "",
) -> Opinion:
    """Judge a launch. ``trace`` is its trace, or None; findings of the kinds ``allowed`` do not count.

    ``failed`` says why the launch stopped, if it did.
    """
    found = [finding for finding in run.findings if finding.kind not in allowed]
    errors = [finding for finding in found if finding.severity == "error"]
    suspect = [finding for finding in found if finding.severity != "error" and KINDS[finding.kind].values]
    wide = [finding for finding in found if finding.severity != "error" and not KINDS[finding.kind].values]
    every: list[Finding | Cost] = [*errors, *suspect, *wide, *slow]
    source = dict(run.source.lines)
    if bool(errors) != bool(run.errors):  # the repair is of errors that are allowed
        repair = None
    if failed:
        return Opinion("WRONG", failed, problems=tuple(every), also=_also(every))
    if not every:
        return Opinion("RIGHT", "no findings" + " but those that are allowed" * bool(run.findings))
    about = repair.problem if repair and repair.problem else every[0]
    if errors or suspect:
        about = leading(run, errors) if errors else suspect[0]
    others = [each for each in every if each is not about]
    problems, also = (about, *others), _also(others)
    if errors:
        says, lines = _story(run, leading(run, errors), trace)
        return Opinion("WRONG", says, _source(source, lines, repair), repair, problems, also)
    if isinstance(about, Cost):
        says = str(about)
    elif suspect:
        says = f"{about.kind}, line {about.line}: {about.message}"
    else:
        says = f"line {about.line}: {about.message.partition(';')[0]}"
    word = "SUSPECT" if suspect else "SLOW"
    return Opinion(word, says, _source(source, {about.line: [""]}, repair), repair, problems, also)


def _also(found: Sequence[Finding | Cost]) -> tuple[str, ...]:
    """Return one sentence for each kind: the first of it, and the lines of the others."""
    kinds: dict[str, list[Finding | Cost]] = {}
    for each in found:
        kinds.setdefault(each.kind if isinstance(each, Finding) else "slow", []).append(each)
    said = []
    for kind, (first, *others) in kinds.items():
        sentence = f"{kind}, line {first.line}: {first.message}" if isinstance(first, Finding) else f"slow, {first}"
        places = sorted({each.line for each in others} - {first.line})
        more = f"; and in line{'s' * (len(places) > 1)} {', '.join(map(str, places))}" if places else ""
        said.append(sentence + more)
    return tuple(said)


def leading(run: Run, findings: Sequence[Finding]) -> Finding:
    """Return the finding that is told first: of races one of two warps, which nobody disputes."""
    races = [each for each in findings if each.kind == "race" and of_two_warps(run, each)]
    return races[0] if races and findings[0].kind == "race" else findings[0]


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
    finding, iterations, around = _nearest(finding, trace) if within else (finding, (0, 0), 0)
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


def _nearest(finding: Finding, trace: Trace | None) -> tuple[Finding, tuple[int, int], int]:
    """Return a race of one block, the iteration of the innermost loop around both lines of each access, and its line.

    If more than one iteration separates the pair that was found, it is one of the same iteration, or of neighbouring
    ones, if there is one of two warps. The numbers are 0 where they are not known: without a trace, or outside loops.
    """
    found = trace.findings if trace is not None else ()
    own = [f for f in found if (f.key, f.threads, f.index) == (finding.key, finding.threads, finding.index)]
    places = locate(trace, own[0]) if trace is not None and own else ()
    if trace is None or len(places) != 2:
        return finding, (0, 0), 0
    inside = loops(trace)
    first = finding.line if finding.other_line is None else finding.other_line
    others = [*_heads(inside, finding.line)]
    around = next((head for head in _heads(inside, first) if head in others), 0)
    if not around:
        return finding, (0, 0), 0
    timeline, outer = Timeline(trace, places[0].block), inside[around][1]
    of_threads = {place.thread: (place.position, place.thread) for place in places}
    pair = [of_threads[linear(thread, trace.block)] for _, thread in finding.threads]
    one, two = (_count(timeline, position, thread, around, outer) for position, thread in pair)
    ordered = any("threadfence" in text for _, text in trace.source)  # fences order accesses without a barrier
    if not ordered and abs(one - two) > 1 and len({thread // WARP_SIZE for _, thread in pair}) == 2:
        finding, pair = _neighbours(finding, timeline, first, around, pair)
        one, two = (_count(timeline, position, thread, around, outer) for position, thread in pair)
    return finding, (one, two), around


def _neighbours(
    finding: Finding, timeline: Timeline, first: int, head: int, pair: list[tuple[int, int]]
) -> tuple[Finding, list[tuple[int, int]]]:
    """Return the race as a pair of two warps of one iteration or two neighbouring ones, as (position, thread)."""
    name = str(finding.array)
    touches = timeline.touches(name)
    lines, warps = timeline.lines[touches.position - 1], touches.thread // WARP_SIZE
    barriers = np.searchsorted(timeline.releases, touches.position)
    begun = np.zeros(len(lines), np.int64)  # iterations that the thread has begun
    begins = timeline.lines == timeline.statement_of(head)
    for thread in np.unique(touches.thread).tolist():
        at, mine = np.flatnonzero(begins & timeline.of_thread(thread)), touches.thread == thread
        begun[mine] = np.searchsorted(at, touches.position[mine])
    is_verb = touches.store.astype(int) + touches.atomic == np.array([[VERBS.index(verb)] for verb in finding.verbs])
    ones, others = (
        np.flatnonzero((lines == timeline.statement_of(line)) & does).tolist()
        for line, does in zip((first, finding.line), is_verb, strict=True)
    )
    for apart in (0, 1, -1):
        held: dict[tuple[int, int, int], list[int]] = {}
        for one in ones:
            held.setdefault((touches.element[one], barriers[one], begun[one] + apart), []).append(one)
        for other in sorted(others, key=begun.__getitem__):
            for one in held.get((touches.element[other], barriers[other], begun[other]), ()):
                if warps[one] != warps[other]:
                    threads = [int(touches.thread[one]), int(touches.thread[other])]
                    array, size = timeline.trace.arrays[name], timeline.trace.block
                    named = tuple((timeline.block, coordinates(thread, size)) for thread in threads)
                    index = tuple(map(int, np.unravel_index(int(touches.element[one]), array.shape)))
                    positions = [int(touches.position[one]), int(touches.position[other])]
                    return replace(finding, threads=named, index=index), [*zip(positions, threads, strict=True)]
    return finding, pair


def _heads(inside: dict[int, tuple[int, int]], line: int) -> Iterator[int]:
    """Yield the lines of the loops around a line, innermost first."""
    head = inside.get(line, (0, 0))[0]
    while head:
        yield head
        head = inside[head][1]


def _count(timeline: Timeline, position: int, thread: int, head: int, outer: int) -> int:
    """Return how often a thread has begun the loop's body up to a position, since the loop around it began its own."""
    mine = timeline.of_thread(thread)[:position]
    lines = timeline.lines[:position]
    heads = [(lines == timeline.statement_of(line)) & mine for line in (head, outer)]
    since = heads[1].nonzero()[0][-1] if outer and heads[1].any() else 0
    return int(heads[0][since:].sum())


def launched(run: Run, times: int = 1) -> str:
    """Return the kernel and its launch in a few words."""
    often = f", {plural(times, 'time')}" if times > 1 else ""
    return f"{run.kernel_name} [{trimmed(run.grid)}, {trimmed(run.block)}]{often}"
