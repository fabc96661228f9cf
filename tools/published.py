"""Runs kernels of public projects on the simulator, and writes the table of docs/published.md.

    uv run python tools/published.py FOLDER

FOLDER holds a checkout of each project of tools/published.toml, named owner+name, at the commit named there. The
kernels were chosen, and their launches written, before any of them was run. Their code is not a part of this project.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
import tomllib
from collections import Counter
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
    if words.partition(":")[0] in arguments.KINDS:
        return arguments.array("an array", words, rng)
    return arguments.scalar("a number", words)


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
    except files.UsageError as error:
        return f"refused: {error}"
    except SimulatorError as error:
        return f"refused: {error.without_option()}"
    finally:
        sys.path.remove(str(folder))
    kinds = Counter(finding.kind for finding in run.findings)
    return ", ".join(kinds) or "no findings"


def rows(folder: Path) -> list[tuple[str, ...]]:
    """Return (project, licence, kernel, outcome) of every kernel of the list."""
    listed = tomllib.loads((ROOT / "tools" / "published.toml").read_text("utf-8"))["project"]
    found = []
    for project in listed:
        checkout = folder / project["name"].replace("/", "+")
        for target, grid, block, given in project["kernels"]:
            said = outcome(checkout, target, grid, block, given) if checkout.is_dir() else "missing"
            found.append((project["name"], project["licence"], target, said.replace(str(checkout) + "/", "")))
    return found


def page(table: list[tuple[str, ...]]) -> str:
    """Return the summary and the table, as Markdown."""
    refused = [row for row in table if row[3].startswith("refused")]
    clean = sum(row[3] == "no findings" for row in table)
    lines = [
        f"{len(table)} kernels of {len({row[0] for row in table})} projects: {len(table) - len(refused)} ran "
        f"({(len(table) - len(refused)) / len(table):.0%}), {clean} of them without findings; {len(refused)} refused.",
        "",
        "| project | licence | kernel | outcome |",
        "|---|---|---|---|",
    ]
    last = ""
    for name, licence, target, said in table:
        shown = ("", "") if name == last else (name, licence)
        lines.append(f"| {shown[0]} | {shown[1]} | `{target}` | {said.replace('|', chr(92) + '|')} |")
        last = name
    return "\n".join(lines)


def main() -> int:
    """Run the list; rewrite the table in the page, unless a checkout is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="checkouts, each in a folder owner+name")
    table = rows(parser.parse_args().folder)
    missing = sorted({f"{name}: {target}" for name, _, target, said in table if said == "missing"})
    written = page(table)
    print(written)
    if missing:
        print("\nMissing, so the page is left as it is:", *missing, sep="\n  ", file=sys.stderr)
        return 2
    begin, end = "<!-- table: begin -->", "<!-- table: end -->"
    text = PAGE.read_text("utf-8")
    before, after = text.partition(begin)[0], text.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n\n{written}\n\n{end}{after}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
