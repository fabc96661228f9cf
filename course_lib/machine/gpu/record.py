"""Recordings: one is written, or added to; `record NAME` makes a folder with all of this machine's GPU.

Each measurement of a folder runs in a process of its own: an error on the GPU ends that process, and the next one
begins anew. What the folder has already is kept, so that an interrupted command goes on where it stopped.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from ...kernels import LADDER, TENSOR_CORES
from .. import measurements
from .device import describe
from .experiments import Experiment, Wanted
from .result_types import Names, Results

#: Measures one thing and writes it to a folder; returns the exit status and what was said.
Measure = Callable[[str, Path, int], tuple[int, str]]
#: Parameters that distinguish the results of one name.
ABOUT = tuple(
    "stride lanes warps blocks apart bytes spacing step requests rows pitch copies barriers values readers".split()
)


def command_of(experiment: Experiment, ask: Wanted) -> str:
    """Return the command that makes this recording again."""
    words = [f"python -m {experiment.module} {experiment.name}"]
    words += ["--size", "x".join(map(str, ask.size))] if ask.size else []
    words += ["--rungs", ",".join(ask.names)] if ask.names else []
    return " ".join([*words, "--repeats", str(ask.repeats)])


def store(what: str, command: str, results: Results, folder: Path, names: Names = None, add: bool = False) -> None:
    """Write a recording to the folder; with `add`, replace only the results of these names in the one that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    recording = {"what": what, "command": command, "provenance": describe(), "results": results}
    path = folder / f"{what}.json"
    if add and path.exists():
        recording = added(json.loads(path.read_text(encoding="utf-8")), recording, names)
    path.write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")


def added(old: dict[str, Any], new: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return the recording `old` with those results of `new` whose names begin with one of `names`.

    They replace results of the same name and parameters, and keep their own provenance. Rungs are placed in the order
    of the ladder, other results after those that were there.
    """

    def identity(result: dict[str, Any]) -> tuple[Any, ...]:
        return name_of(result), str(result.get("params")), *(result.get(about) for about in (*"MNK", *ABOUT))

    def place(result: dict[str, Any]) -> tuple[Any, ...]:
        size = tuple(result.get(axis, 0) for axis in "MNK") if old["what"] in ("counters", "exact") else ()
        return size, old["what"] == "counters" and "skipped" in result, order.get(name_of(result), len(order))

    order = {r.name: i for i, r in enumerate((*LADDER, *TENSOR_CORES))}
    fresh = {
        identity(result): {**result, "command": new["command"], "provenance": new["provenance"]}
        for result in new["results"]
        if "probe" in result or name_of(result).startswith(tuple(names or ("",)))
    }
    results = [fresh.pop(identity(result), result) for result in old["results"]]
    return {**old, "results": sorted([*results, *fresh.values()], key=place)}


def name_of(result: dict[str, Any]) -> str:
    """Return the name of what was measured, if it has one."""
    kinds = ("rung", "pattern", "probe", "ceiling", "instruction", "program", "exercise")
    return next((result[key] for key in kinds if key in result), "")


def _folder(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no name of a folder such as nvidia-h100: a-z, 0-9, '-', '.', '_'"
        )
    return text


def main(arguments: Sequence[str], experiments: Mapping[str, Experiment], module: str) -> int:
    """Run the command; return 0, 1 if a kernel is wrong or a measurement failed, 2 if the folder is another GPU's.

    experiments: those that can be recorded, by name; module: the command that measures one of them.
    """
    commands = argparse.ArgumentParser(
        prog=f"python -m {module} record",
        description="Make a folder with all recordings of this GPU; what it has already is kept.",
        epilog="Read them with course_lib.machine.measurements.load(WHAT, NAME).",
    )
    commands.add_argument("name", type=_folder, help="the folder's name, for example nvidia-h100")
    commands.add_argument("what", nargs="*", metavar="WHAT", help=f"some of {', '.join(experiments)} (default: all)")
    commands.add_argument("--repeats", type=int, default=20, help="timed launches per kernel (default 20)")
    commands.add_argument(
        "--output", type=Path, default=measurements.FOLDER, help="where the folder is (default: here)"
    )
    options = commands.parse_args(arguments)
    unknown = [what for what in options.what if what not in experiments]
    if unknown:
        commands.error(f"{unknown[0]!r} is not recorded; choose from {', '.join(experiments)}")
    folder = options.output / options.name
    other = owner(folder)
    gpu = describe()["gpu"]
    if other not in (None, gpu):
        print(f"{folder} has recordings of an {other}, and this is an {gpu}; choose another name", file=sys.stderr)
        return 2

    return record_all(folder, options.what or list(experiments), options.repeats, partial(in_a_process, module))


def owner(folder: Path) -> str | None:
    """Return the GPU of the recordings in a folder; None if it has none."""
    for path in sorted(folder.glob("*.json")):
        return str(json.loads(path.read_text(encoding="utf-8"))["provenance"]["gpu"])
    return None


def in_a_process(module: str, what: str, folder: Path, repeats: int) -> tuple[int, str]:
    """Run one measurement in a process of its own."""
    words = [sys.executable, "-m", module, what, "--repeats", str(repeats), "--output", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def reason(status: int, said: str) -> str:
    """Return the last line that a process said, or its status if it said nothing."""
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), f"status {status}")


def record_all(folder: Path, chosen: Sequence[str], repeats: int, measure: Measure) -> int:
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
