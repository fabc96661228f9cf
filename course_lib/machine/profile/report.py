"""A profile as text, as data for other programs, and as a page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ...simulator.findings import Finding
from ...simulator.run import COUNTS
from ...simulator.testing import Exceeded
from ...trace.viewer.page import document, module, place, style
from ...trace.viewer.stepper import Stepper
from .profiling import Profile

_STYLE = """<style>
.profile { line-height: 1.45; }
.profile h2 { font-size: 1rem; margin: 1.4rem 0 0.4rem; }
.profile .wide { overflow-x: auto; }
.profile table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.85rem; }
.profile :is(td, th) { padding: 0.15rem 0.6rem; text-align: right; white-space: nowrap; }
.profile .lines th:last-child { text-align: left; }
.profile td[colspan] { white-space: normal; }
.profile thead th { border-bottom: 1px solid currentColor; }
.profile li { margin: 0.2rem 0; }
</style>"""


def verdict(profile: Profile, found: Sequence[Finding], over: Sequence[Exceeded]) -> list[str]:
    """Return what fails the launch, one sentence each."""
    return [*([profile.failed] if profile.failed else []), *map(str, over), *map(str, found)]


def _sections(profile: Profile) -> list[tuple[str, str]]:
    """Return the parts that are sentences, each with its heading."""
    return [
        ("Occupancy", str(profile.residency)),
        *([("Time", str(profile.time))] if profile.time else []),
        *([("Not known", " ".join(profile.notes))] if profile.notes else []),
    ]


def _clean(profile: Profile) -> str:
    """Return the verdict of a launch that nothing fails."""
    allowed = dict.fromkeys(finding.kind for finding in profile.run.findings)
    return f"None but what is allowed: {', '.join(allowed)}" if allowed else "None"


def as_text(profile: Profile, fails: Sequence[str]) -> str:
    """Return the profile for a terminal."""
    run = profile.run
    lines = [profile.run.heading(), "", "Findings", *(f"  {line}" for line in fails or [_clean(profile)]), "", "Lines"]
    lines += [str(run.source), "", "Traffic", repr(run.traffic)]
    for heading, words in _sections(profile):
        lines += ["", heading, f"  {words}"]
    return "\n".join(lines)


def as_data(profile: Profile, fails: Sequence[str]) -> dict[str, Any]:
    """Return the profile as JSON holds it."""
    run, time = profile.run, profile.time
    return {
        "kernel": run.kernel_name,
        "grid": run.grid,
        "block": run.block,
        "clean": not fails,
        "failures": list(fails),
        "findings": [asdict(finding) | {"severity": finding.severity} for finding in run.findings],
        "totals": {count: getattr(run.traffic, count) for count in COUNTS},
        "traffic": [asdict(row) for row in run.traffic.rows],
        "occupancy": asdict(profile.residency),
        "time": asdict(time) if time else None,
        "notes": list(profile.notes),
    }


def as_page(profile: Profile, fails: Sequence[str], wanted: Mapping[str, np.ndarray] | None = None) -> str:
    """Return the profile as a page that needs no network and no other file, with a live stepper.

    ``wanted`` maps arrays to what they should hold, which the stepper shows where it has all blocks of the launch.
    """
    run, traced = profile.run, profile.traced
    says = "".join(f"<li>{html.escape(line)}</li>" for line in fails)
    body = [
        f"<h1>{html.escape(profile.run.heading())}</h1>",
        f"<p>Findings:</p><ul>{says}</ul>" if says else f"<p>Findings: {_clean(profile).lower()}.</p>",
    ]
    parts = [_STYLE]
    if traced is not None:
        body.append(place(Stepper(traced, wanted=wanted if traced.grid == run.grid else None).get_state()))
        parts.append(style())
    body += [
        f'<h2>Lines</h2><div class="wide lines" tabindex="0" role="region" aria-label="Lines">'
        f"{run.source._repr_html_()}</div>",
        f'<h2>Traffic</h2><div class="wide" tabindex="0" role="region" aria-label="Traffic">'
        f"{run.traffic._repr_html_()}</div>",
        *(f"<h2>{heading}</h2><p>{html.escape(words)}</p>" for heading, words in _sections(profile)),
    ]
    inside = '<div class="profile">' + "\n".join(body) + "</div>"
    return document(profile.run.heading(), inside, "\n".join(parts), module() if traced is not None else "")
