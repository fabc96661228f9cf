"""tile-by-tile gpu: verify and time the ladder on this machine's GPU, and write recordings.

`tile-by-tile gpu record NAME` makes all of them, see :mod:`record`.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...lazy import called
from . import capstone
from .counters import NoProfilerError
from .device import NoGPUError, available, require
from .experiments import EXPERIMENTS, RECORDINGS, Experiment, Wanted, measure
from .record import command_of, name_of, store
from .record import main as record_folder
from .result_types import Item, Results, Size

MODULE = "course_lib.gpu"
#: Keys of a result that the printed line shows elsewhere, or that are too long for it.
UNPRINTED = ("rung", "pattern", "loop", "code", "text", "ends", "params", *"MNK")


def size(text: str) -> Size:
    """Parse 4096 or 1000x500x3000 as (M, N, K); M×K×N is written MxNxK, the order of the functions' arguments."""
    numbers = tuple(int(number) for number in text.lower().split("x"))
    if len(numbers) not in (1, 3) or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 4096 or 1000x500x3000 (MxNxK)")
    M, N, K = numbers * 3 if len(numbers) == 1 else numbers
    return M, N, K


def parser(experiments: Sequence[Experiment] = EXPERIMENTS, module: str = MODULE) -> argparse.ArgumentParser:
    """Return the command line's parser."""
    column = max(len(experiment.name) for experiment in experiments) + 2
    text = "\n".join(f"  {e.name:{column}}{e.about}{f' (needs {e.needs})' if e.needs else ''}" for e in experiments)
    program = called("gpu") if module == MODULE else f"python -m {module}"
    result = argparse.ArgumentParser(
        prog=program,
        description="Verify the ladder's kernels against float64, then time them with CUDA events.",
        epilog=f"what:\n{text}\n\nA kernel that computes a wrong result is reported as wrong and never timed.\n"
        "Without a CUDA GPU the command says so and ends with status 2.\n"
        f"`{program} record NAME` makes a folder with all recordings;\n"
        "in a copy of the repository, `python -m tools.lab` measures what models need: latencies, machine code, …;\n"
        f"`{called('gpu')} capstone my_kernel.py` times a kernel of your own beside the ladder (lesson 17).",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [*(experiment.name for experiment in experiments), "capstone"]
    result.add_argument("what", nargs="+", choices=names, metavar="what", help="one or more of those below")
    result.add_argument("--size", type=size, help="n, or MxNxK (default 4096; counters 1024 and 4096)")
    result.add_argument(
        "--rungs",
        type=lambda text: text.split(","),
        help="names of rungs, or of the parts of an experiment, separated by commas (default: all)",
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


def show(what: str, results: Results) -> None:
    """Print the results as a table."""
    yardstick = next((r["gflops"] for r in results if r.get("rung") == "cublas" and "gflops" in r), None)
    print(f"\n{what}")
    for result in results:
        name = name_of(result) or (f"stride {result['stride']}" if "stride" in result else "")
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


def _short(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], float):
        return f"median {sorted(value)[len(value) // 2]:.4g}"
    return f"{value:.4g}" if isinstance(value, float) else value


def main(
    arguments: Sequence[str] | None = None, experiments: Sequence[Experiment] = EXPERIMENTS, module: str = MODULE
) -> int:
    """Run the command; return the exit status: 0, 1 if a kernel is wrong, 2 without a GPU.

    experiments: what it can measure; module: its name after `python -m`.
    """
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given[:1] == ["capstone"]:
        return _capstone(given[1:])
    if given[:1] == ["record"] and available():
        return record_folder(given[1:], {e.name: e for e in experiments if e.recorded}, module)
    options = parser(experiments, module).parse_args(["verify"] if given[:1] == ["record"] else given)
    if "capstone" in options.what:
        parser(experiments, module).error(f"capstone is a command of its own: {called('gpu')} capstone")
    chosen = [e for name in options.what for e in experiments if e.name == name]
    if any(e.needs != RECORDINGS for e in chosen):
        try:
            require()
        except NoGPUError as reason:
            print(reason, file=sys.stderr)
            return 2
    warnings.filterwarnings("ignore", message=".*Grid size.*")
    warnings.filterwarnings("ignore", message=".*Host array used in CUDA kernel.*")
    return max(_recorded(experiment, options) for experiment in chosen)


def _capstone(arguments: Sequence[str]) -> int:
    """Verify and time readers' kernels; return 0, 1 if one is wrong, 2 without a GPU or without a kernel."""
    parser = argparse.ArgumentParser(prog=called("gpu") + " capstone", description=capstone.__doc__)
    parser.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="file",
        help="defines mine, TILE and THREADS (lesson 17); without one, the recorded kernels are timed again",
    )
    parser.add_argument("--size", type=size, default=(4096, 4096, 4096), help="n, or MxNxK (default 4096)")
    parser.add_argument("--repeats", type=int, default=20, help="timed launches per kernel (default 20)")
    parser.add_argument("--output", type=Path, help="folder to write the recording capstone.json to (default: none)")
    options = parser.parse_args(arguments)
    try:
        own = [capstone.kernel_in(path) for path in options.files] or [*capstone.recorded().values()]
        require()
    except (ValueError, NoGPUError) as reason:
        print(reason, file=sys.stderr)
        return 2
    texts = [path.read_text(encoding="utf-8") for path in options.files] or [*capstone.recorded_texts().values()]
    results = capstone.beside(own, options.size, options.repeats)
    for result, text in zip(results, texts, strict=False):  # those of the ladder come after them
        result["text"] = text
    show("ladder", results)
    if options.output:
        words = [path.as_posix() for path in options.files]
        words += ["--size", "x".join(map(str, options.size)), "--repeats", str(options.repeats)]
        command = f"python -m course_lib.gpu capstone {' '.join(words)}"
        store("capstone", command, results, options.output)
    return int(any("wrong" in result for result in results))


def _recorded(experiment: Experiment, options: argparse.Namespace) -> int:
    """Measure, print and record one experiment; return 1 if a result is wrong."""
    ask = Wanted(options.rungs, options.size, options.repeats, options.output, progress)
    try:
        results = measure(experiment, ask)
    except NoProfilerError as reason:
        print(f"nothing was measured of {experiment.name}: {reason}", file=sys.stderr)
        return 0
    if results:
        show(experiment.name, results)
    if options.output and experiment.recorded and experiment.needs != RECORDINGS:
        store(experiment.name, command_of(experiment, ask), results, options.output, options.rungs, options.add)
    return int(any("wrong" in result for result in results))
