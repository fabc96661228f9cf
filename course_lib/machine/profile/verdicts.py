"""One verdict a launch: right, slow, suspect or wrong, with the lines that say why, and a repair that was tried.

What may change values is told before what costs time, and nothing that was found is left out.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from ...simulator.findings import KINDS, Finding
from ...simulator.formatting import plural
from ...simulator.hardware import WARP_SIZE
from ...simulator.launch_shape import linear
from ...simulator.run import Run, trimmed
from ...trace.racing_pair import pair_of
from ...trace.trace import Trace
from .costs import Cost
from .repairs import Repair

#: Words of a verdict, and the colours of a terminal.
WORDS = {"RIGHT": "32", "SLOW": "33", "SUSPECT": "91", "WRONG": "31", "REFUSED": "35", "STOPPED": "35"}
#: Columns of a line on the first screen.
WIDTH = 118


@dataclass(frozen=True)
class LaunchVerdict:
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
) -> LaunchVerdict:
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
        return LaunchVerdict("WRONG", failed, problems=tuple(every), also=_also(every))
    if not every:
        return LaunchVerdict("RIGHT", "no findings" + " but those that are allowed" * bool(run.findings))
    about = repair.problem if repair and repair.problem else every[0]
    if errors or suspect:
        about = leading(run, errors) if errors else suspect[0]
    others = [each for each in every if each is not about]
    problems = (about, *others)
    also = _also(others)
    if errors:
        says, lines = _story(run, leading(run, errors), trace)
        return LaunchVerdict("WRONG", says, _source(source, lines, repair), repair, problems, also)
    if isinstance(about, Cost):
        says = str(about)
    elif suspect:
        says = f"{about.kind}, line {about.line}: {about.message}"
    else:
        says = f"line {about.line}: {about.message.partition(';')[0]}"
    word = "SUSPECT" if suspect else "SLOW"
    return LaunchVerdict(word, says, _source(source, {about.line: [""]}, repair), repair, problems, also)


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
    if finding.kind != "race":
        other = finding.other_line if finding.other_line not in (None, finding.line) else None
        lines = {finding.line: [""], **({other: [""]} if other else {})}
        return f"{finding.kind}, line {finding.line}: {finding.message}", lines
    pair = pair_of(run, finding, trace)
    notes: dict[int, list[str]] = {}
    for line, said in pair.accesses:
        notes.setdefault(line, []).append(said)
    if pair.where:
        notes.setdefault(pair.loop, [""])
    blocks = "" if pair.within else " between two blocks"
    where = f", {pair.where}" if pair.where else ""
    return f"race on {finding.array}{blocks}{where}: nothing orders the two accesses", notes


def of_two_warps(run: Run, race: Finding) -> bool:
    warps = {(block, linear(thread, run.block) // WARP_SIZE) for block, thread in race.threads}
    return len(warps) > 1


def launched(run: Run, times: int = 1) -> str:
    """Return the kernel and its launch in a few words."""
    often = f", {plural(times, 'time')}" if times > 1 else ""
    return f"{run.kernel_name} [{trimmed(run.grid)}, {trimmed(run.block)}]{often}"
