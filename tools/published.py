"""Runs kernels of public projects on the simulator, and writes the table of docs/published.md.

    uv run --extra compiler --group published python tools/published.py FOLDER

FOLDER holds a checkout of each project of tools/published.toml, named owner+name, at the commit named there.
"""

import contextlib
import io
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba.cuda.random import init_xoroshiro128p_states_cpu, xoroshiro128p_dtype

from course_lib.machine.machine_code import machine_code
from course_lib.machine.machine_code.as_compiled import as_compiled
from course_lib.machine.profile import arguments, kernel_files
from course_lib.machine.simulated_launch import Simulated, simulated
from course_lib.simulator.findings import SimulatorError

LIST, PAGE = (Path(__file__).parents[1] / path for path in ("tools/published.toml", "docs/published.md"))
#: Iterations of a warp, so that a kernel that waits for what no launch gives ends.
STEPS = 2_000_000


def value(words: str, rng: np.random.Generator) -> Any:
    """Return an argument: a number, an array as the command `profile` takes it, or its elements: ``int64[20,24]``.

    ``states:32`` are states of numba's random numbers.
    """
    kind, _, size = words.partition(":")
    if kind == "states":
        states = np.zeros(int(size), xoroshiro128p_dtype)
        init_xoroshiro128p_states_cpu(states, 1, 0)
        return states
    if found := re.fullmatch(r"(\w+)\[(.*)\]", words):
        return np.array([float(part) for part in found[2].split(",")]).astype(found[1])
    return arguments.array("an array", words, rng) if kind in arguments.KINDS else arguments.scalar("a number", words)


def values(given: str) -> list[Any]:
    """Return the arguments of a launch, drawn anew."""
    rng = np.random.default_rng(0)
    return [value(words, rng) for words in given.split()]


def kernel_of(folder: Path, target: str) -> Any:
    """Return a kernel of a checkout; raise FileNotFoundError if the checkout lacks its file."""
    path, name = kernel_files.split(target)
    if not (folder / path).is_file():
        raise FileNotFoundError(folder / path)
    sys.path.insert(0, str(folder))
    sys.modules["cupy"] = cupy = ModuleType("cupy")  # what a file takes of CuPy before its kernels, NumPy has, too
    vars(cupy).update(vars(np))
    known = {*sys.modules}
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return kernel_files.load(folder / path, skip_failing=True).kernel(name)
    finally:
        sys.path.remove(str(folder))
        for other in {*sys.modules} - known:  # another project may have modules of the same names
            if str(folder) in str(getattr(sys.modules[other], "__file__", "")):
                del sys.modules[other]


def outcome(folder: Path, target: str, grid: str, block: str, given: str) -> tuple[str, str]:
    """Return what the simulator says of a kernel: no findings, the kinds of findings, or why it is refused.

    And its counts as written and as compiled.
    """
    try:
        kernel = kernel_of(folder, target)
    except FileNotFoundError:
        return "missing", ""
    sizes = arguments.numbers("grid", grid), arguments.numbers("block", block)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            made = simulated(kernel, *sizes, values(given), max_steps=STEPS)
    except SimulatorError as error:
        return f"refused: {error.without_option()}", ""
    return ", ".join(dict.fromkeys(finding.kind for finding in made.run.findings)) or "no findings", both(made)


def both(made: Simulated) -> str:
    """Return the counts of a launch as written and as compiled, of each space and operation in which they differ."""
    try:
        compared = as_compiled(machine_code(made.kernel, made.before), made)
    except ValueError as error:
        return f"not compiled: {error}"
    if compared.why:
        return f"not executed: {compared.why}"
    words = dict.fromkeys(word for row in compared.rows for word in row.causes)
    differ = [str(row) for row in compared.totals() if row.written != row.compiled]
    said = "; ".join(text.replace("as written ", "").replace("as compiled ", "") for text in differ)
    return f"{said} ({', '.join(words)})" if differ else "equal"


def main(folder: Path) -> int:
    """Run the list; rewrite the table in the page, unless a checkout is missing."""
    lines, said, compared = [], [], []
    projects = tomllib.loads(LIST.read_text("utf-8"))["project"]
    for project in projects:
        first = f"{project['name']} | {project['licence']}"
        for kernel in project["kernels"]:
            found, counts = outcome(folder / project["name"].replace("/", "+"), *kernel)
            said.append(found)
            compared.append(counts)
            lines.append(f"| {first} | `{kernel[0]}` | {found} | {counts} |")
            first = " | "
    ran = sum(not each.startswith(("refused", "missing")) for each in said)
    counts = f"{len(said)} kernels of {len(projects)} projects: {ran} ran ({ran / len(said):.0%}), "
    counts += f"{said.count('no findings')} of them without findings; {len(said) - ran} refused. "
    executed = sum(bool(each) and not each.startswith("not ") for each in compared)
    counts += (
        f"The machine code of {executed} was executed: {compared.count('equal')} have equal counts as written and "
    )
    counts += "as compiled."
    head = f"{counts}\n\n| project | licence | kernel | outcome | counts as written / as compiled |\n"
    head += "|---|---|---|---|---|\n"
    print(head, *lines, sep="\n")
    if "missing" in said:
        return 2
    before, begin, rest = PAGE.read_text("utf-8").partition("<!-- table: begin -->")
    table = head + "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n\n{table}\n\n<!-- table: end -->{rest.partition('end -->')[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) if len(sys.argv) == 2 else __doc__)
