"""python -m course_lib.gpu: verify and time the ladder on this machine's GPU, and write recordings.

`python -m course_lib.gpu record NAME` makes all of them, see :mod:`record`.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from . import capstone
from .counters import NoProfilerError
from .device import NoGPUError, available, describe, require
from .record import main as record_folder
from .types import Item, Names, Results

SIZES = (128, 256, 512, 1024, 2048, 4096, 8192)
RAGGED_SIZES = (
    *((n, n, n) for n in (4096, 4095, 4097)),
    *((1000, 500, 3000), (1024, 512, 3072), (1000, 3000, 500), (1024, 3072, 512)),
)
WHAT = {
    "verify": "compare every rung with float64 on random rectangles; no timing",
    "ladder": "every rung and cuBLAS on one size: GFLOP/s, registers, shared memory, spills, occupancy",
    "series": "host, naive, tiled, best and cuBLAS on squares from 128 to 8192",
    "tiles": "tile width against speed",
    "ragged": "the best kernel on sizes that no tile divides",
    "tensor": "the rungs on tensor cores beside best, cuBLAS and the instructions alone: GFLOP/s, errors, bits, clocks",
    "wgmma": "the rungs with wgmma beside cuBLAS and the instruction alone: GFLOP/s, errors, bits; what inputs change",
    "mistake": "launches timed without synchronising, beside the true times",
    "ceilings": "copy bandwidth and float32 rate of the GPU",
    "conflicts": "shared memory read with 1-way to 32-way bank conflicts",
    "counters": "requests, sectors, wavefronts, bytes and stalls of every rung, from Nsight Compute (needs ncu)",
    "exact": "requests and sectors of every rung on small sizes, to compare with the simulator (needs ncu)",
    "patterns": "requests, sectors and wavefronts of access patterns, for the same (needs ncu)",
    "instructions": "the machine instructions of the inner loops (needs nvdisasm)",
    "machine_code": "the loops' whole machine code, with the compiler's control information (needs nvdisasm)",
    "roofline": "attainable beside measured and what warps wait for, of the recorded ladder (needs no GPU)",
    "latencies": "latencies and rates of a multiprocessor, each by a kernel of its own",
    "cached": "the cases of residency, of matrices that the second-level cache keeps",
    "residency": "tiled, prefetched and pipelined while few or many warps share a multiprocessor (stalls need ncu)",
    "waiting": "what the model of waiting predicts beside what was measured (needs no GPU)",
    "launch": "launch every rung once, for a profiler",
    "capstone": "a kernel of your own beside the ladder: `capstone my_kernel.py`, with the file of lesson 18",
}
#: Parameters that distinguish the results of one probe.
PROBED = tuple(
    "stride warps blocks apart bytes spacing step requests rows pitch copies barriers values readers".split()
)
#: Keys of a result that the printed line shows elsewhere, or that are too long for it.
UNPRINTED = ("rung", "pattern", "loop", "code", "ends", "params", *"MNK")


def size(text: str) -> tuple[int, int, int]:
    """Parse 4096 or 1000x500x3000 as (M, N, K); M×K×N is written MxNxK, the order of the functions' arguments."""
    numbers = tuple(int(number) for number in text.lower().split("x"))
    if len(numbers) not in (1, 3) or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 4096 or 1000x500x3000 (MxNxK)")
    M, N, K = numbers * 3 if len(numbers) == 1 else numbers
    return M, N, K


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    text = "\n".join(f"  {name:15}{meaning}" for name, meaning in WHAT.items())
    result = argparse.ArgumentParser(
        prog="python -m course_lib.gpu",
        description="Verify the ladder's kernels against float64, then time them with CUDA events.",
        epilog=f"what:\n{text}\n\nA kernel that computes a wrong result is reported as wrong and never timed.\n"
        "Without a CUDA GPU the command says so and ends with status 2.\n"
        "`python -m course_lib.gpu record NAME` makes a folder with all recordings.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    result.add_argument("what", nargs="+", choices=list(WHAT), metavar="what", help="one or more of those below")
    result.add_argument("--size", type=size, help="n, or MxNxK (default 4096; counters 1024 and 4096)")
    result.add_argument(
        "--rungs",
        type=lambda text: text.split(","),
        help="names, separated by commas (default: all); of patterns, their beginnings; of latencies, the parts",
    )
    result.add_argument("--repeats", type=int, default=20, help="timed launches per kernel (default 20)")
    result.add_argument(
        "--add",
        action="store_true",
        help="keep the other results of the recordings in --output, and add those of --rungs",
    )
    result.add_argument("--output", type=Path, help="folder to write recordings to, as WHAT.json (default: none)")
    return result


def progress(items: Iterable[Item], label: Callable[[Item], str]) -> Iterator[Item]:
    """Yield the items, with a progress bar on standard error if that is a terminal."""
    with tqdm(list(items), file=sys.stderr, disable=None, leave=False) as bar:
        for item in bar:
            bar.set_description_str(label(item))
            yield item


def record(what: str, options: argparse.Namespace) -> Results | None:
    """Do one kind of measurement and return its results; None where there is nothing to record."""
    from ..waiting.probes import disassembly, latencies
    from . import counters, experiments, tensor, wgmma

    n = options.size or (4096, 4096, 4096)
    names, repeats = options.rungs, options.repeats

    def sizes(default: Any) -> Any:
        return (options.size,) if options.size else default

    def sides(default: Sequence[int]) -> Sequence[int]:
        return (options.size[0],) if options.size else default

    ways: dict[str, Callable[[], Results | None]] = {
        "verify": lambda: verify_all(names),
        "roofline": lambda: roofline_of(options.output),
        "launch": lambda: experiments.launch_once(names, options.size or (1024, 1024, 1024)),
        "ladder": lambda: experiments.ladder(names, n, repeats, progress),
        "series": lambda: experiments.series(names, sides(SIZES), repeats, progress),
        "tiles": lambda: experiments.tiles(names, n, repeats, progress),
        "ragged": lambda: experiments.ragged(names, sizes(RAGGED_SIZES), repeats, progress),
        "mistake": lambda: experiments.mistake(names, n, repeats, progress),
        "tensor": lambda: tensor.tensor(names, sides(tensor.SQUARES), repeats, progress),
        "wgmma": lambda: wgmma.wgmma(names, sides(wgmma.SQUARES), repeats, progress),
        "exact": lambda: counters.exact_counters(names),
        "patterns": lambda: counters.pattern_counters(names),
        "counters": lambda: counters.counters(names, sizes(counters.COUNTER_SIZES)),
        "instructions": lambda: counters.instructions(names),
        "machine_code": lambda: disassembly.machine_code(names, progress),
        "latencies": lambda: latencies.latencies(names, repeats, progress),
        "residency": lambda: counters.residency(repeats, progress, False),
        "cached": lambda: counters.residency(repeats, progress, True),
        "ceilings": lambda: experiments.ceilings(repeats, progress),
        "conflicts": lambda: experiments.conflicts(repeats, progress),
    }
    return ways[what]()


def command_of(what: str, options: argparse.Namespace) -> str:
    """Return the command that makes this recording again."""
    words = ["python -m course_lib.gpu", what]
    words += ["--size", "x".join(map(str, options.size))] if options.size else []
    words += ["--rungs", ",".join(options.rungs)] if options.rungs else []
    return " ".join([*words, "--repeats", str(options.repeats)])


def added(old: dict[str, Any], new: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return the recording `old` with those results of `new` whose names begin with one of `names`.

    They replace results of the same name and parameters, are placed in the order of the ladder or of the list of
    patterns, and keep their own provenance.
    """
    from ...kernels import LADDER, TENSOR_CORES
    from .patterns import patterns

    def identity(result: dict[str, Any]) -> tuple[Any, ...]:
        return _name(result), str(result.get("params")), *(result.get(about) for about in (*"MNK", *PROBED))

    def place(result: dict[str, Any]) -> tuple[Any, ...]:
        size = tuple(result.get(axis, 0) for axis in "MNK") if old["what"] in ("counters", "exact") else ()
        return size, old["what"] == "counters" and "skipped" in result, order.get(_name(result), len(order))

    rungs = [r.name for r in (*LADDER, *TENSOR_CORES)]
    order = {name: i for i, name in enumerate([*rungs, *(p.name for p in patterns())])}
    fresh = [
        {**result, "command": new["command"], "provenance": new["provenance"]}
        for result in new["results"]
        if "probe" in result or _name(result).startswith(tuple(names or ("",)))
    ]
    replaced = {identity(result) for result in fresh}
    kept = [result for result in old["results"] if identity(result) not in replaced]
    return {**old, "results": sorted([*kept, *fresh], key=place)}


def roofline_of(folder: Path | None) -> Results:
    """Return the roofline of the recordings in `folder`, by default of those that come with the course."""
    from .. import measurements
    from .ceilings import roofline

    where = (folder,) if folder else ()
    try:
        counters = measurements.load("counters", *where)
    except FileNotFoundError:
        counters = None
    return roofline(measurements.load("ladder", *where), measurements.load("ceilings", *where), counters)


def judge_the_model(folder: Path | None) -> int:
    """Print every prediction of the model of waiting beside the measurement, largest errors first; return 0.

    folder: where the predictions go; if it has recordings of its own, what is predicted and compared.
    """
    from .. import measurements
    from ..waiting import predictions as waiting
    from ..waiting.judgement import table

    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    gpu = folder if folder and (folder / "latencies.json").is_file() else measurements.DEFAULT_GPU
    results = waiting.rows(progress, gpu)
    print(table(results))
    if folder:
        origin = {name: measurements.load(name, gpu).provenance for name in waiting.READS}
        recording = {"what": "waiting", "command": "python -m course_lib.gpu waiting", "provenance": origin["ladder"]}
        text = json.dumps({**recording, "results": results, "notes": {"origin": origin}}, indent=1)
        (folder / "waiting.json").write_text(text + "\n", encoding="utf-8")
    return 0


def verify_all(names: Names) -> Results:
    """Verify every rung on fresh random rectangles; return one result for each."""
    from ...kernels import LADDER, TENSOR_CORES, WGMMA
    from .verification import verify

    results = []
    rungs = [r for r in (*LADDER, *TENSOR_CORES, *WGMMA) if not names or r.name in names]
    for r in progress(rungs, lambda r: r.name):
        for M, N, K in ((257, 129, 65), (64, 132, 100), (31, 17, 32), (1, 1, 1), (3, 2, 0)):
            try:
                verdict = verify(r, M, N, K)
            except ValueError:
                continue
            result = {"rung": r.name, "M": M, "N": N, "K": K, "relative_error": verdict.relative_error}
            results.append(result if verdict.correct else {**result, "wrong": "over the tolerance"})
    return results


def show(what: str, results: Results) -> None:
    """Print the results as a table."""
    yardstick = next((r["gflops"] for r in results if r.get("rung") == "cublas" and "gflops" in r), None)
    print(f"\n{what}")
    for result in results:
        name = _name(result) or f"stride {result.get('stride')}"
        size_text = "×".join(str(result[k]) for k in "MNK") if "M" in result else ""
        if "wrong" in result or "skipped" in result:
            text = result.get("wrong") and f"WRONG: {result['wrong']}" or f"skipped: {result['skipped']}"
        elif "gflops" in result:
            share = f"{result['gflops'] / yardstick:7.1%} of cuBLAS" if yardstick and what == "ladder" else ""
            text = f"{result['gflops']:10.1f} GFLOP/s {share} {result.get('registers', '')}"
        elif what == "counters":
            kinds = ("global_load_sectors", "shared_load_wavefronts", "l2_bytes", "dram_read_bytes")
            text = "  ".join(f"{kind} {_short(result[kind])}" for kind in kinds)
        else:
            text = "  ".join(f"{k} {_short(v)}" for k, v in result.items() if k not in UNPRINTED)
        print(f"  {name:18} {size_text:16} {str(result.get('params') or ''):22} {text}")


def _name(result: dict[str, Any]) -> str:
    """Return the name of what was measured, if it has one."""
    return next((result[key] for key in ("rung", "pattern", "probe", "ceiling", "instruction") if key in result), "")


def _short(value: float) -> str:
    if isinstance(value, list) and value and isinstance(value[0], float):
        return f"median {sorted(value)[len(value) // 2]:.4g}"
    return f"{value:.4g}" if isinstance(value, float) else value


def store(what: str, command: str, results: Results, folder: Path, names: Names = None, add: bool = False) -> None:
    """Write a recording to the folder; with `add`, replace only the results of these names in the one that is there."""
    folder.mkdir(parents=True, exist_ok=True)
    recording = {"what": what, "command": command, "provenance": describe(), "results": results}
    path = folder / f"{what}.json"
    if add and path.exists():
        recording = added(json.loads(path.read_text(encoding="utf-8")), recording, names)
    path.write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status: 0, 1 if a kernel is wrong, 2 without a GPU."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == ["capstone"]:
        return capstone.main(given[1:], size, show, store)
    if given[:1] == ["record"] and available():
        return record_folder(given[1:])
    options = parser().parse_args(["verify"] if given[:1] == ["record"] else given)
    if options.what == ["roofline"]:
        show("roofline", roofline_of(options.output))
        return 0
    if options.what == ["waiting"]:
        return judge_the_model(options.output)
    for alone in {"waiting", "capstone"}.intersection(options.what):
        parser().error(f"{alone} is a command of its own: python -m course_lib.gpu {alone}")
    if not available():
        try:
            require()
        except NoGPUError as reason:
            print(reason, file=sys.stderr)
            return 2
    warnings.filterwarnings("ignore", message=".*Grid size.*")
    warnings.filterwarnings("ignore", message=".*Host array used in CUDA kernel.*")
    status = 0
    for what in options.what:
        try:
            results = record(what, options)
        except NoProfilerError as reason:
            print(f"nothing was measured of {what}: {reason}", file=sys.stderr)
            continue
        if results is None:
            continue
        show(what, results)
        status = max(status, int(any("wrong" in result for result in results)))
        if options.output:
            store(what, command_of(what, options), results, options.output, options.rungs, options.add)
    return status
