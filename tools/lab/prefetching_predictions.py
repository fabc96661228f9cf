"""What the timing model predicts of the launches of `gpu prefetching`. Needs their recording and the compiler.

A prediction takes some ten seconds of a processor, so those are made that docs/prefetching.md shows.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from course_lib.machine import measurements
from course_lib.machine.gpu import prefetching
from course_lib.machine.gpu.cuda_c import compiled
from course_lib.machine.gpu.experiments import Wanted
from course_lib.machine.gpu.prefetching import SQUARE, SWEPT, PrefetchCase
from course_lib.machine.gpu.result_types import Result, Results
from course_lib.machine.machine_code import machine_code
from course_lib.machine.machine_code.compiling import disassembled
from course_lib.machine.machine_code.find import available, how
from course_lib.machine.machine_code.instructions import MachineCode, from_listing
from course_lib.machine.model.multiprocessor import Multiprocessor
from course_lib.machine.timing_model.product_launch import ProductLaunch

#: The name of the recording.
WHAT = "prefetching_predictions"
#: What tells a result from others.
ABOUT = ("rung", "of", "language", "params", *"MNK", "warps", "loads")
#: The settings that are predicted with 64 resident warps; with those of FEW by the width of tiles, SWEPT.
FULL = (*SWEPT, (2, "early", 2), (2, "copied", 1))
FEW = {8: 24, 16: 24, 32: 32}


def shown() -> Iterator[PrefetchCase]:
    """Yield the cases that are predicted: those of which the page shows a gain."""
    for case in prefetching.cases():
        if case.of == "prefetch_variants":
            width, *setting = case.params.values()
            if case.warps == 64 and tuple(setting) in FULL or case.warps == FEW[width] and tuple(setting) in SWEPT:
                yield case
        elif case.size == SQUARE and case.params.get("tile_width", 32) == 32 and case.params.get("stages", 3) == 3:
            yield case


def predicted(ask: Wanted) -> Results:
    """Write the prediction of each of those cases to the folder that is asked for: GFLOP/s, and shares of all waits.

    Return nothing else to print. Without the compiler, say so and write nothing.
    """
    if not available():
        print(f"nothing was predicted, because that needs machine code: {how()}", file=sys.stderr)
        return []
    results = [prediction(case) for case in ask.progress([*shown()], str)]
    origin = measurements.load("prefetching").provenance
    recording = {"what": WHAT, "command": f"python -m tools.lab {WHAT}", "provenance": origin, "results": results}
    folder = ask.folder or Path(".")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{WHAT}.json").write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    return []


@lru_cache
def _multiprocessor() -> Multiprocessor:
    return Multiprocessor.measured(measurements.load("latencies"))


def prediction(case: PrefetchCase) -> Result:
    """Return the prediction of one case, with what tells it from others."""
    recorded = measured(case)
    code = replace(machine_code_of(case, recorded), shared_bytes=recorded["shared_bytes"])
    launch = partial(case.rung.launch, **case.params)
    gpu = measurements.load("prefetching").provenance
    blocks = recorded["blocks_per_multiprocessor"]
    in_c = case.language == "CUDA C"
    launch_model = ProductLaunch(code, launch, case.size, _multiprocessor(), gpu, blocks, in_c=in_c)
    about = {key: recorded[key] for key in ABOUT if key in recorded}
    return {**about, "gflops": launch_model.gflops(), "waits": dict(launch_model.timing().waits)}


def measured(case: PrefetchCase) -> Result:
    """Return the recorded result of a case."""
    about = {"params": {**case.rung.params, **case.params}, "warps": case.warps, "M": case.size[0]}
    return measurements.load("prefetching").result(case.rung.name, **about)


def machine_code_of(case: PrefetchCase, recorded: Result) -> MachineCode:
    """Return the machine code of a case, compiled here."""
    if case.language != "CUDA C":
        return machine_code(case.rung.make(dtype=np.float32, **case.params), (np.zeros((8, 8), np.float32),) * 3)
    listing = disassembled(compiled(case.of, case.params, "sm_90").code)
    static = recorded["shared_bytes"] - recorded["filler_bytes"]
    return MachineCode(case.of, from_listing(listing, {}), recorded["registers"], static, 0, 0)
