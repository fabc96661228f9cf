"""Find the bug in 60 seconds: twelve kernels of ``bugs.toml``, each a page with the stepper where it happens."""

import argparse
import html
import linecache
import math
import re
import tomllib
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numba import cuda, float32

from ...lazy import called
from ...machine.profile.arguments import in_order
from ...machine.profile.verdicts import of_two_warps
from ...simulator.run import Finding, Run
from ...trace.finding_locations import locate
from ...trace.replay import Timeline
from ...trace.simulate import simulate
from ...trace.viewer import Stepper
from ...trace.viewer.page import STEPPER, place
from .frame import Page, SidebarLink, assets, framed, write

FOLDER = Path(__file__).parent
_MARKS = re.compile(r"\s*# (?:bug|<-|counted)(?= |$)")
#: What tells of a kernel that breaks no rule: the view of the stepper, and the sentence with the counts of its line.
SLOW = {
    "wavefronts": ("banks", "Line {line}: {} wavefronts for each request; {} would do."),
    "sectors": ("warp", "Line {line}: {} sectors for each request; {} would do."),
}


@dataclass(frozen=True)
class Bug:
    """A row of the table. Lines count from 1 in the kernel as it is shown, decorator excluded."""

    number: int
    title: str
    symptom: str
    ask: str
    kind: str
    grid: Sequence[int]
    block: Sequence[int]
    arrays: Sequence[str]
    kernel: str
    cause: str

    def rows(self, twin: bool = False) -> list[str]:
        """Return the kernel's lines with their marks; ``twin``: those of the kernel without the bug."""
        unwanted = r"# bug\b" if twin else r"# twin: "
        return [line for line in self.kernel.strip().splitlines() if not re.search(unwanted, line)]

    def lines(self, twin: bool = False) -> list[str]:
        """Return the lines without marks."""
        return [_MARKS.sub("", line.replace("# twin: ", "")) for line in self.rows(twin)]

    def marked(self, mark: str, twin: bool = False) -> set[int]:
        """Return the numbers of the lines with a mark, such as ``<-``."""
        return {number for number, line in enumerate(self.rows(twin), 1) if f"# {mark}" in line}

    def run(self, twin: bool = False, trace: bool = False) -> tuple[Run, dict[str, np.ndarray]]:
        """Launch the kernel; return the run, and the arrays by name."""
        text = "\n".join(self.lines(twin)) + "\n"
        file = f"<bug {self.number}{' twin' if twin else ''}>"
        linecache.cache[file] = len(text), None, text.splitlines(True), file
        names: dict[str, Any] = {"cuda": cuda, "float32": float32}
        exec(compile(text, file, "exec"), names)
        name = text[4 : text.index("(")]
        parameters = [each.partition("=")[0] for each in self.arrays]
        values = in_order(name, parameters, self.arrays, [], self.number)
        run = simulate(names[name], strict=False, trace=trace)[tuple(self.grid), tuple(self.block)](*values)
        return run, dict(zip(parameters, values, strict=True))

    def finding(self, run: Run) -> Finding | None:
        """Return the finding to show, of threads of two warps if there is one; None of a kernel that breaks no rule."""
        found = [each for each in run.findings if each.kind == self.kind]
        return next((each for each in found if of_two_warps(run, each)), found[0]) if found else None

    def says(self) -> str:
        """Return what the simulator says of the kernel: its finding, or the counts of the line that costs."""
        if found := self.finding(self.run()[0]):
            return str(found).partition("; put ")[0]  # the page says what to do with this kernel
        (line,) = self.marked("counted")
        counts = [self.for_each_request(twin) for twin in (False, True)]
        return SLOW[self.kind][1].format(*counts, line=line)

    def for_each_request(self, twin: bool) -> int:
        """Return the wavefronts or the sectors for each request of the marked line."""
        (line,) = self.marked("counted", twin)
        counts = self.run(twin)[0].traffic.select(line=line, op="load")
        return math.ceil(getattr(counts, self.kind) / counts.requests)

    def stepper(self) -> Stepper:
        """Return the stepper at the moment at which it happens."""
        run, _ = self.run(trace=True)
        assert run.trace is not None
        if found := self.finding(run):
            return Stepper(run, **locate(run.trace, found)[0].choices(run.trace))
        time = Timeline.of(run.trace, (0, 0, 0))
        (line,) = self.marked("counted")
        first = int(np.flatnonzero(time.lines == time.statement_of(line))[0]) + 1
        shown = Stepper(run, step=first)
        shown.panel = SLOW[self.kind][0]
        return shown


@cache
def bugs() -> tuple[Bug, ...]:
    """Return the table's rows."""
    rows: list[dict[str, Any]] = tomllib.loads((FOLDER / "bugs.toml").read_text(encoding="utf-8"))["bug"]
    return tuple(Bug(number=number, **row) for number, row in enumerate(rows, 1))


def pages(more: Sequence[SidebarLink] = ()) -> dict[str, Page]:
    """Return the twelve pages by name; ``more`` are links of the sidebar above theirs."""
    own = [SidebarLink(f"bug_{bug.number:02}.html", f"{bug.number} · {bug.title}", "bugs") for bug in bugs()]
    side = [*more, *own]
    return {f"bug_{bug.number:02}.html": _page(bug, side) for bug in bugs()}


def _page(bug: Bug, side: Sequence[SidebarLink]) -> Page:
    """Return the page of a bug: the kernel's lines to choose from, and folded, cause, fixed kernel and stepper."""
    right, new = bug.marked("<-"), bug.marked("twin: ", twin=True)
    row = '<li><button type="button" data-right="{}"><code>{}</code></button></li>'
    lines = "".join(row.format(int(at in right), html.escape(line)) for at, line in enumerate(bug.lines(), 1))
    fixed = [html.escape(line) for line in bug.lines(twin=True)]
    twin = "\n".join(f'<span class="new">{line}</span>' if at in new else line for at, line in enumerate(fixed, 1))
    texts = {name: html.escape(getattr(bug, name)) for name in ("title", "symptom", "ask", "cause")}
    body = Template((FOLDER / "bug.html").read_text(encoding="utf-8")).substitute(
        number=bug.number,
        lines=lines,
        says=html.escape(bug.says()),
        twin=twin,
        **texts,
        stepper=place(bug.stepper().get_state()),
    )
    return Page(f"{bug.number} · {bug.title}", body, bug.symptom, tuple(side), (STEPPER,), "", "bugs")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages into a folder, and open the first one; return the exit status."""
    parser = argparse.ArgumentParser(prog=called("bugs"), description="Twelve kernels with a bug, one page each.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("tile-by-tile-bugs"), help="(tile-by-tile-bugs)")
    parser.add_argument("--write-only", action="store_true", help="do not open a browser")
    options = parser.parse_args(arguments)
    made = pages()
    write(options.folder, {**framed(made, home=next(iter(made))), **assets(made.values())})
    first = (options.folder / next(iter(made))).resolve()
    print(f"{options.folder}: {len(made)} pages; the first is {first}")
    if not options.write_only:
        webbrowser.open(first.as_uri())
    return 0
