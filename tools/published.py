"""Runs kernels of public projects on the simulator, and writes the table of docs/published.md.

    uv run python tools/published.py FOLDER

FOLDER holds a checkout of each project of tools/published.toml, named owner+name, at the commit named there.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numba.cuda.random import init_xoroshiro128p_states_cpu, xoroshiro128p_dtype

from course_lib import simulate
from course_lib.machine.profile import arguments, files
from course_lib.simulator.findings import SimulatorError

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "published.md"
#: Iterations of a warp, so that a kernel that waits for what no launch gives ends.
STEPS = 2_000_000


def value(words: str, rng: np.random.Generator) -> Any:
    """Return an argument: a number, an array as the command `profile` takes it, or its elements: ``int64[20,24]``.

    ``states:32`` are states of numba's random numbers.
    """
    if words.startswith("states:"):
        states = np.zeros(int(words.partition(":")[2]), xoroshiro128p_dtype)
        init_xoroshiro128p_states_cpu(states, 1, 0)
        return states
    if found := re.fullmatch(r"(\w+)\[(.*)\]", words):
        return np.array([float(part) for part in found[2].split(",")]).astype(found[1])
    is_array = words.partition(":")[0] in arguments.KINDS
    return arguments.array("an array", words, rng) if is_array else arguments.scalar("a number", words)


def outcome(folder: Path, target: str, grid: str, block: str, given: str) -> str:
    """Return what the simulator says of a kernel: no findings, the kinds of findings, or why it is refused."""
    path, name = files.split(target)
    if not (folder / path).is_file():
        return "missing"
    sys.path.insert(0, str(folder))
    sys.modules.setdefault("cupy", np)  # what a file takes of CuPy before its kernels, NumPy has, too
    rng = np.random.default_rng(0)
    values = [value(words, rng) for words in given.split()]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            kernel = files.load(folder / path).kernel(name)
            launch = simulate(kernel, strict=False, max_steps=STEPS)
            run = launch[arguments.numbers("grid", grid), arguments.numbers("block", block)](*values)
    except SimulatorError as error:
        return f"refused: {error.without_option()}"
    finally:
        sys.path.remove(str(folder))
    return ", ".join(dict.fromkeys(finding.kind for finding in run.findings)) or "no findings"


def rows(folder: Path) -> list[tuple[str, ...]]:
    """Return (project, licence, kernel, outcome) of every kernel of the list."""
    found = []
    for project in tomllib.loads((ROOT / "tools" / "published.toml").read_text("utf-8"))["project"]:
        checkout = folder / project["name"].replace("/", "+")
        found += [(project["name"], project["licence"], row[0], outcome(checkout, *row)) for row in project["kernels"]]
    return found


def page(table: list[tuple[str, ...]]) -> str:
    """Return the summary and the table, as Markdown."""
    ran = sum(not row[3].startswith("refused") for row in table)
    clean = sum(row[3] == "no findings" for row in table)
    lines = [
        f"{len(table)} kernels of {len({row[0] for row in table})} projects: {ran} ran ({ran / len(table):.0%}), "
        f"{clean} of them without findings; {len(table) - ran} refused.\n",
        "| project | licence | kernel | outcome |\n|---|---|---|---|",
    ]
    for before, (name, licence, target, said) in zip([("",), *table], table, strict=False):
        first = f"{name} | {licence}" if name != before[0] else " | "
        lines.append(f"| {first} | `{target}` | {said} |")
    return "\n".join(lines)


def main() -> int:
    """Run the list; rewrite the table in the page, unless a checkout is missing."""
    if len(sys.argv) != 2:
        sys.exit("Give one folder with checkouts, each named owner+name: tools/published.py FOLDER")
    table = rows(Path(sys.argv[1]))
    print(written := page(table))
    if missing := [f"{name}: {target}" for name, _, target, said in table if said == "missing"]:
        print("\nMissing, so the page is left as it is:", *missing, sep="\n  ", file=sys.stderr)
        return 2
    before, begin, rest = PAGE.read_text("utf-8").partition("<!-- table: begin -->")
    PAGE.write_text(f"{before}{begin}\n\n{written}\n\n<!-- table: end -->{rest.partition('end -->')[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
