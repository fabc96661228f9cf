"""A profile as text, as data for other programs, and as a page."""

import html
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ...simulator.findings import Finding
from ...simulator.formatting import as_code
from ...simulator.run import COUNTS, AnnotatedSource
from ...simulator.testing import Exceeded
from ...trace.finding_locations import locate
from ...trace.viewer.page import document, module, place, style
from ..machine_code.as_compiled import WITHOUT
from ..machine_code.find import how
from ..programs.launches import Code, Found, ScriptLaunch
from .costs import Cost
from .profiling import Profile
from .verdicts import WORDS, LaunchVerdict, launched, wrapped

VERSION = metadata.version("tile-by-tile")

_STYLE = f"<style>\n{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"


@dataclass(frozen=True)
class ProfiledLaunch:
    """A launch and what is said of it.

    Attributes:
        launched: the kernel, its grid and block, and how often.
        verdict: the first words on it.
        profile: all that is known; None for a kernel that is refused.
        fails: why the command fails, one sentence each; of these, ``over`` are the budgets that are exceeded.
        wanted: what arrays should hold, by name.
        script_launch: the launches of a script that are alike, of which this is the first; None if no script makes it.
        found: what was found in all launches of the script.
        script: the file that makes it, if a script does.
    """

    launched: str
    verdict: LaunchVerdict
    profile: Profile | None = None
    fails: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    wanted: Mapping[str, np.ndarray] = field(default_factory=dict)
    script_launch: ScriptLaunch | None = None
    found: Mapping[tuple[Code, Hashable], Found] = field(default_factory=dict)
    script: str = ""

    def others(self) -> str:
        """Say in how many launches of the kernel the verdict's problem was found, if this one is not the only one."""
        if self.script_launch is None or not self.verdict.problems:
            return ""
        found = self.found.get((self.script_launch.code, self.verdict.problems[0].key))
        return f" (in {found.launches:,} launches of {self.script_launch.name})" if found and found.launches > 1 else ""

    def where(self) -> list[str]:
        """Return in lines which launch of a script this is, and in how many others it is so."""
        if self.script_launch is None or self.verdict.word in ("RIGHT", "STOPPED"):
            return []
        file = self.script_launch.code[0]
        script = os.path.abspath(self.script)
        kernel = "" if file == script else f"; {self.script_launch.name} is in {Path(file).name}"
        return wrapped(f"  {self.script_launch.first.in_words(script)}{self.others()}{kernel}")


def first_screen(launches: Sequence[ProfiledLaunch], colours: bool = False) -> str:
    """Return one verdict a launch, and what else there is to see."""
    lines = []
    first_of: dict[Any, ProfiledLaunch] = {}
    for each, often in _grouped(launches):
        said = each.verdict
        keys = frozenset(each.key for each in said.problems) or said.says
        code = each.script_launch.code if each.script_launch else None
        repair = said.repair.text if said.repair else None
        same = each.script, code, said.word, keys, repair
        first = first_of.setdefault(same, each)
        if said.lines and first is not each and first.profile:  # a loop over sizes repeats its verdict
            lines += replace(said, says=f"as {_titled(first, each)}").head(each.launched, colours)
        else:
            lines += [
                *said.head(each.launched + often, colours),
                *said.source(),
                *each.where(),
                *said.rest(),
                *said.advice(),
            ]
        lines += [f"  over budget: {line}" for line in each.over]
        if each.profile is not None and (compiled := each.profile.compiled):
            lines.append(f"  compiled: {compiled}")
    counts = [f"{n} {word}" for word in WORDS if (n := sum(each.verdict.word == word for each in launches))]
    return "\n".join([*lines, f"{', '.join(counts)}; no GPU was used. --all prints the tables, --html FILE the steps."])


def _grouped(launches: Sequence[ProfiledLaunch]) -> Iterator[tuple[ProfiledLaunch, str]]:
    """Yield each launch, and what to add to its name; of launches in which nothing is found, one of a name."""
    right: dict[Any, list[ProfiledLaunch]] = {}
    for each in launches:
        if each.profile is not None and each.verdict.word == "RIGHT" and not each.over:
            name = each.script, each.launched, each.verdict.says, each.profile.compiled
            right.setdefault(name, []).append(each)
    first = {id(alike[0]): alike for alike in right.values()}
    others = {id(each) for alike in right.values() for each in alike[1:]}
    for each in launches:
        if id(each) not in others:
            alike = first.get(id(each), [each])
            yield each, f", with {len(alike)} sets of arguments" if len(alike) > 1 else ""


def _titled(first: ProfiledLaunch, other: ProfiledLaunch) -> str:
    """Return the name of a launch, with its number if that of another one is the same."""
    assert first.profile is not None
    name = launched(first.profile.run)
    same = other.profile is not None and launched(other.profile.run) == name
    return f"{name}, launch {first.script_launch.first.number}" if same and first.script_launch else name


def _sections(profile: Profile) -> list[tuple[str, str]]:
    """Return the parts that are sentences, each with its heading."""
    return [
        ("Occupancy", str(profile.residency)),
        *([("Time", str(profile.time))] if profile.time else []),
        *([("Not known", " ".join(profile.notes))] if profile.notes else []),
    ]


def as_text(judged: ProfiledLaunch) -> str:
    """Return all tables of a launch for a terminal."""
    profile = judged.profile
    if profile is None:
        return judged.launched
    run = profile.run
    found = [*map(str, run.findings), *map(str, profile.slow)]
    lines = [run.heading(), "", "Findings", *(f"  {line}" for line in found or ["None"]), "", "Lines"]
    lines += [str(AnnotatedSource(run.source.lines, run.source.rows, ())), "", "Traffic", repr(run.traffic)]
    for heading, words in _sections(profile):
        lines += ["", heading, f"  {words}"]
    return "\n".join(lines)


def machine_code(judged: ProfiledLaunch) -> str:
    """Return the counts as written and as compiled, and the inner loop, by lines and in order; or how to get them."""
    loop = judged.profile.loop if judged.profile else None
    if judged.profile is None or loop is None:
        return f"{judged.launched}: no machine code is known; {how()}. {WITHOUT}."
    compared = judged.profile.compared
    comparison = f"{judged.launched}\n{compared}\n\n" if compared else ""
    return f"{comparison}{loop}\n\n{loop.listing()}"


def as_data(judged: ProfiledLaunch) -> dict[str, Any]:
    """Return a launch as JSON holds it."""
    verdict, profile = judged.verdict, judged.profile
    first: dict[str, Any] = {
        "launch": judged.launched,
        "script": judged.script,
        "times": judged.script_launch.times if judged.script_launch else 1,
        "first": asdict(judged.script_launch.first) if judged.script_launch else None,
        "verdict": verdict.word,
        "says": verdict.says,
        "also": list(verdict.also),
    }
    if profile is None:
        return first
    run, time, repair = profile.run, profile.time, verdict.repair
    return first | {
        "kernel": run.kernel_name,
        "grid": run.grid,
        "block": run.block,
        "failures": list(judged.fails),
        "findings": [asdict(finding) | {"severity": finding.severity} for finding in run.findings],
        "costs": [asdict(cost) for cost in profile.slow],
        "repair": repair
        and {"proof": repair.proof, "changes": [{"id": c.id, "line": c.line, "text": c.text} for c in repair.changes]},
        "totals": {count: getattr(run.traffic, count) for count in COUNTS},
        "traffic": [asdict(row) for row in run.traffic.rows],
        "occupancy": asdict(profile.residency),
        "time": asdict(time) if time else None,
        "machine_code": profile.loop.counts if profile.loop else None,
        "as_compiled": profile.compared.as_data() if profile.compared else None,
        "spilled_bytes": profile.loop.code.spilled_bytes if profile.loop else None,
        "notes": list(profile.notes),
    }


def as_found(found: Found, script: str) -> dict[str, Any]:
    """Return what was found in any launch of a script as JSON holds it."""
    kinds = {Finding: "finding", Cost: "cost", Exceeded: "budget"}
    problem: Any = found.problem
    severity = {"severity": problem.severity} if isinstance(problem, Finding) else {}
    return {
        "what": kinds[type(problem)],
        "script": script,
        "kernel": found.code[1],
        "file": found.code[0],
        **asdict(problem),
        **severity,
        "launches": found.launches,
        "first": asdict(found.first),
    }


def as_page(launches: Sequence[ProfiledLaunch], command: str) -> str:
    """Return the launches as a page that needs no network and no other file, each with a live stepper.

    A stepper begins at the finding that is told first; it shows what arrays should hold where it has all blocks.
    ``command`` is what made the page.
    """
    body = ["<h1>Profile of kernels, without a GPU</h1>"]
    steppers = False
    for each in launches:
        body.append(f"<h2>{html.escape(each.launched)}: {each.verdict.word}</h2>")
        body.append(f"<p>{html.escape(each.verdict.says)}</p>")
        if lines := [*each.verdict.source(), *each.where(), *each.verdict.rest(), *each.verdict.advice()]:
            body.append(f'<pre class="wide" tabindex="0">{html.escape(chr(10).join(lines))}</pre>')
        if each.profile is not None:
            body += _launch(each, each.profile)
            steppers = steppers or each.profile.traced is not None
    footer = f"Made by <code>{html.escape(command)}</code> of tile-by-tile {VERSION}."
    body.append(f"<footer><p>{footer} The counts are those of the source as written; no GPU was used.</p></footer>")
    inside = '<div class="profile">' + "\n".join(body) + "</div>"
    parts = "\n".join([_STYLE, style()] if steppers else [_STYLE])
    return document("Profile of kernels", inside, parts, module() if steppers else "")


def _launch(judged: ProfiledLaunch, profile: Profile) -> Iterator[str]:
    run, traced = profile.run, profile.traced
    if problems := [*judged.over, *map(str, run.findings)]:
        yield f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in problems)}</ul>"
    if traced is not None and traced.trace is not None:
        from ...trace.viewer.stepper import Stepper  # of the extra `course`

        wanted = judged.wanted if traced.grid == run.grid and judged.wanted else None
        told_first = next((each.key for each in judged.verdict.problems if isinstance(each, Finding)), None)
        found = sorted(traced.trace.findings, key=lambda each: each.key != told_first)
        places = [at.choices(traced.trace) for each in found for at in locate(traced.trace, each)[:1]]
        yield place(Stepper(traced, wanted=wanted, **(places or [{}])[0]).get_state())
    yield _wide("Lines", judged.launched, run.source._repr_html_(), "lines")
    yield _wide("Traffic", judged.launched, run.traffic._repr_html_())
    if profile.compared:
        yield _wide("As written and as compiled", judged.launched, profile.compared._repr_html_())
    if profile.loop:
        yield f"<h3>Machine code</h3>{profile.loop._repr_html_()}"
    for heading, words in _sections(profile):
        yield f"<h3>{heading}</h3><p>{as_code(words)}</p>"


def _wide(name: str, of: str, table: str, kind: str = "") -> str:
    label = html.escape(f"{name} of {of}")
    return f'<h3>{name}</h3><div class="wide {kind}" tabindex="0" role="region" aria-label="{label}">{table}</div>'
