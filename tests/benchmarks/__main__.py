"""Measure what a reader waits for, and print each figure beside that of the last time.

    uv run python tests/benchmarks              # everything, in a few minutes
    uv run python tests/benchmarks play step    # the benchmarks whose names contain one of these
    uv run python tests/benchmarks --limits     # and fail where a figure exceeds its limit

The figures are kept in build/benchmarks.json. They hold for one machine, and for what else it does meanwhile.
"""

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
RECORD = TESTS.parent / "build" / "benchmarks.json"


@dataclass(frozen=True)
class Figure:
    value: float
    limit: float | None = None
    unit: str = "ms"

    @property
    def exceeds(self) -> bool:
        return self.limit is not None and self.value > self.limit


@dataclass
class Figures:
    """A plugin of pytest with the fixture `measured(name, value, limit=None, unit="ms")`; less is better."""

    now: dict[str, Figure] = field(default_factory=dict)

    @pytest.fixture
    def measured(self):
        def measured(name: str, *figure, **named) -> None:
            self.now[name] = Figure(*figure, **named)

        return measured

    def table(self, last: dict[str, float]) -> str:
        lines = [f"\n{'':<40}{'now':>10}{'last':>10}{'ratio':>8}{'limit':>9}"]
        for name, now in self.now.items():
            before = last.get(name)
            then, ratio = ("", "") if before is None else (f"{before:,.1f}", f"{now.value / before:.2f}")
            limit = "" if now.limit is None else f"{now.limit:,.0f}"
            line = f"{name:<40}{now.value:>10,.1f}{then:>10}{ratio:>8}{limit:>9} {now.unit}"
            lines.append(line + "  exceeds its limit" * now.exceeds)
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="run the benchmarks whose names contain one of these")
    parser.add_argument("--limits", action="store_true", help="fail where a figure exceeds its limit")
    options = parser.parse_args()
    sys.path[0] = str(TESTS)  # in the place of this folder, whose `simulator` is another
    figures = Figures()
    settings = ("addopts=--import-mode=importlib", "python_files=bench_*.py", "python_functions=bench_*")
    arguments = [str(Path(__file__).parent), "-p", "browser.conftest", "-k", " or ".join(options.names)]
    status = pytest.main(arguments + [f"--override-ini={each}" for each in settings], plugins=[figures])
    last = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    print(figures.table(last))
    RECORD.parent.mkdir(exist_ok=True)
    record = last | {name: figure.value for name, figure in figures.now.items()}
    RECORD.write_text(json.dumps(record, indent=1), encoding="utf-8")
    exceeded = any(figure.exceeds for figure in figures.now.values())
    return int(status) or int(options.limits and exceeded)


if __name__ == "__main__":
    sys.exit(main())
