"""Runs test suites of public projects under numba's CUDA simulator and under this one, and prints what both say.

    uv run --with click --with pandas --with opencv-python-headless --with pyproj --with netCDF4 --with isodate \
        --with scipy python tools/public_test_suites.py FOLDER [OWNER/NAME ...] [--ours]

    uv run --with numba-cuda --with cupy-cuda12x --with pytest-cov --with pytest-durations --with psutil --with attrs \
        --with sympy --with lxml --with networkx --with Pint --with rdflib --with scipy --with pandas \
        python tools/public_test_suites.py FOLDER ccam80/cubie

FOLDER holds a checkout of each project of tools/public_test_suites.toml, named owner+name, at the commit named there.
``--ours`` leaves numba's simulator out, which takes up to half an hour for a suite.
"""

import os
import re
import resource
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("public_test_suites.toml")
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
SIMULATORS = {
    "numba's simulator": (PYTEST, {"NUMBA_ENABLE_CUDASIM": "1"}),
    "tile-by-tile run": (("-m", "course_lib", "run", *PYTEST), {}),
}


@dataclass(frozen=True)
class Outcome:
    """What a suite says under a simulator: pytest's last line, processor time of all processes, what was found."""

    said: str
    seconds: float
    found: str


def outcome(suite: dict[str, Any], checkout: Path, simulator: str) -> Outcome:
    """Run a suite; its failures and the findings are printed as it prints them."""
    words, variables = SIMULATORS[simulator]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *words, *suite["tests"]],
        cwd=checkout / suite["folder"],
        env=os.environ | variables | {"PYTHONPATH": str((checkout / suite["path"]).resolve())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(done.stdout)
    seconds = sum(getattr(after, part) - getattr(before, part) for part in ("ru_utime", "ru_stime"))
    said = re.findall(r"^=*\s*(\d+ (?:passed|failed|skipped|error)[^=]*?) in [\d.]+s", done.stdout, re.M)
    found = re.findall(r"^(\d+ launch.*);", done.stdout, re.M)
    return Outcome(said[-1] if said else f"status {done.returncode}", seconds, found[-1] if found else "")


def main(folder: Path, names: list[str], ours: bool) -> int:
    """Run the suites of the list, or those that are named."""
    rows = []
    for suite in tomllib.loads(LIST.read_text("utf-8"))["suite"]:
        checkout = folder / suite["name"].replace("/", "+")
        if suite["name"] not in names and (names or "alone" in suite):
            continue
        if not checkout.is_dir():
            rows.append(f"{suite['name']} is missing: check out {suite['commit']} as {checkout}")
            continue
        for simulator in list(SIMULATORS)[ours:]:
            told = outcome(suite, checkout, simulator)
            rows.append(
                f"{suite['name']}, {simulator}: {told.said}; {told.seconds:.0f} s of the processor; {told.found}"
            )
    print(*rows, sep="\n")
    return 2 if any(" is missing: " in row for row in rows) else 0


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if each != "--ours"]
    sys.exit(main(Path(given[0]), given[1:], "--ours" in sys.argv) if given else __doc__)
