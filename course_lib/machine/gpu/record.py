"""python -m course_lib.gpu record NAME: a folder with all recordings of this machine's GPU.

Each measurement runs in a process of its own: an error on the GPU ends that process, and the next one begins anew. What
the folder has already is kept, so that an interrupted command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

from .. import measurements
from .device import describe

#: What is recorded, in this order: what others are compared with comes first, what takes minutes last.
RECORDED = tuple(
    "verify ceilings conflicts mistake ladder latencies machine_code instructions residency cached counters exact "
    "patterns tiles ragged tensor wgmma series waiting".split()
)
#: Measures one thing and writes it to a folder; returns the exit status and what was said.
Measure = Callable[[str, Path, int], tuple[int, str]]


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    result = argparse.ArgumentParser(
        prog="python -m course_lib.gpu record",
        description="Make a folder with all recordings of this GPU; what it has already is kept.",
        epilog="Read them with course_lib.machine.measurements.load(WHAT, NAME); "
        "python -m course_lib.measurements NAME prints their tables.",
    )
    result.add_argument("name", type=_name, help="the folder's name, for example nvidia-h100")
    result.add_argument("what", nargs="*", metavar="WHAT", help=f"some of {', '.join(RECORDED)} (default: all)")
    result.add_argument("--repeats", type=int, default=20, help="timed launches per kernel (default 20)")
    result.add_argument("--output", type=Path, default=measurements.FOLDER, help="where the folder is (default: here)")
    return result


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name of a folder such as nvidia-h100: a-z, 0-9, '-', '.', '_'"
        )
    return text


def main(arguments: Sequence[str]) -> int:
    """Run the command; return 0, 1 if a kernel is wrong or a measurement failed, 2 if the folder is another GPU's."""
    commands = parser()
    options = commands.parse_args(arguments)
    unknown = [what for what in options.what if what not in RECORDED]
    if unknown:
        commands.error(f"{unknown[0]!r} is not recorded; choose from {', '.join(RECORDED)}")
    folder = options.output / options.name
    other = owner(folder)
    gpu = describe()["gpu"]
    if other not in (None, gpu):
        print(f"{folder} has recordings of an {other}, and this is an {gpu}; choose another name", file=sys.stderr)
        return 2
    return record_all(folder, options.what or RECORDED, options.repeats)


def owner(folder: Path) -> str | None:
    """Return the GPU of the recordings in a folder; None if it has none."""
    for path in sorted(folder.glob("*.json")):
        return str(json.loads(path.read_text(encoding="utf-8"))["provenance"]["gpu"])
    return None


def measure(what: str, folder: Path, repeats: int) -> tuple[int, str]:
    """Run one measurement in a process of its own."""
    words = [sys.executable, "-m", "course_lib.gpu", what, "--repeats", str(repeats), "--output", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def reason(status: int, said: str) -> str:
    """Return the last line that a process said, or its status if it said nothing."""
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), f"status {status}")


def record_all(folder: Path, chosen: Sequence[str], repeats: int, measure: Measure = measure) -> int:
    """Record what the folder lacks, saying what is done; return 0, or 1 if something is wrong or failed."""
    status = 0
    for number, what in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {what:15}", end="", flush=True)
        path = folder / f"{what}.json"
        if path.exists():
            print("kept, as it was recorded already")
            continue
        start = perf_counter()
        code, said = measure(what, folder, repeats)
        seconds = perf_counter() - start
        if path.exists():
            print(f"recorded in {seconds:.0f} s{', with a WRONG result' if code else ''}")
        else:
            print(f"skipped: {reason(code, said)}")
        status = max(status, min(code, 1))
    print(f"{folder} has {len(list(folder.glob('*.json')))} recordings; run the command again for what was skipped")
    return status
