"""Write what the simulator says of every kernel with a bug, and of its twin, into docs/verdicts.md.

    uv run python tools/verdicts.py

The tables stand between two marks; the words around them are written by hand. compute-sanitizer's verdicts are those
recorded on a GPU (see sanitize_bugs.py).
"""

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

import kernels_with_bugs as corpus  # noqa: E402

from course_lib.machine import measurements  # noqa: E402
from course_lib.simulator.findings import SimulatorError  # noqa: E402

PAGE = REPOSITORY / "docs" / "verdicts.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
FOUND, VALUES, SILENT, REFUSED = "found", "wrong values only", "silent", "refused"
INNOCENT, FALSE_ALARM = "innocent", "false alarm"


@dataclass(frozen=True)
class Verdict:
    """What is said of a bug and of its twin; ``sanitizer``: the tools that flagged it, or None (not recorded)."""

    name: str
    kind: str
    bug: str
    twin: str
    sanitizer: tuple[str, ...] | None

    @property
    def row(self) -> str:
        file = corpus.load(self.name).safe.__module__.split(".")[-1]
        link = f"[{self.name.replace('_', ' ')}](../tests/kernels_with_bugs/{file}.py)"
        tools = "not recorded" if self.sanitizer is None else ", ".join(self.sanitizer) or SILENT
        return f"| {link} | {self.kind} | {self.bug} | {self.twin} | {tools} |"


def judge(name: str) -> Verdict:
    """Simulate both kernels of a pair, and look up what was recorded of them."""
    pair = corpus.load(name)
    kind, rules = pair.expected[0].kind, {e.kind for e in pair.expected}.difference(corpus.SILENT_KINDS)
    bug, twin, races = REFUSED, REFUSED, ()
    with suppress(SimulatorError):
        findings, wrong = launch(pair, "bug")
        bug = FOUND if rules and rules <= {f.kind for f in findings} else VALUES if wrong else SILENT
        races = [f.threads for f in findings if f.kind == "race"]
    with suppress(SimulatorError):
        twin = FALSE_ALARM if any(launch(pair, "twin")) else INNOCENT
    if kind == "race":
        blocks_differ = any(one[0] != other[0] for one, other in races)
        kind = f"race {'between blocks' if blocks_differ else 'within a block'}"
    rows = [row for row in measurements.load("sanitizer").results if (row["kernel"], row["which"]) == (name, "bug")]
    return Verdict(name, kind, bug, twin, tuple(row["tool"] for row in rows if row["flagged"]) if rows else None)


def launch(pair, which: str):
    """The findings of one kernel of a pair, and the positions of the arrays whose values are wrong."""
    run, arguments = pair.simulated(which)
    return run.findings, pair.wrong(arguments)


def tables(verdicts: list[Verdict]) -> str:
    """Both tables: how many of each kind, and every kernel."""
    lines = [
        f"| kind of bug | kernels | {FOUND} | {VALUES} | {SILENT} | {REFUSED} | {FALSE_ALARM}s | compute-sanitizer |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    kinds = sorted({v.kind for v in verdicts}, key=lambda kind: (-sum(v.kind == kind for v in verdicts), kind))
    for title, some in [(kind, [v for v in verdicts if v.kind == kind]) for kind in kinds] + [("**all**", verdicts)]:
        recorded = [v.sanitizer for v in some if v.sanitizer is not None]
        counts = [sum(v.bug == verdict for v in some) for verdict in (FOUND, VALUES, SILENT, REFUSED)]
        counts.append(sum(v.twin != INNOCENT for v in some))
        tools = f"{sum(map(bool, recorded))} of {len(recorded)}" if recorded else "not recorded"
        lines.append("| " + " | ".join(map(str, (title, len(some), *counts, tools))) + " |")
    lines += ["", "| kernel | kind | bug | twin | compute-sanitizer |", "|---|---|---|---|---|"]
    return "\n".join(lines + [v.row for v in verdicts])


def page(text: str, table: str) -> str:
    """The page with these tables between its marks."""
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(), tables([judge(name) for name in corpus.NAMES])))
