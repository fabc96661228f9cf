"""Run compute-sanitizer's four tools on every kernel with a bug, and on its twin, on this machine's GPU.

    python tools/sanitize_bugs.py --output course_lib/machine/measurements/nvidia-h200

Writes sanitizer.json: for each kernel and tool whether it was flagged, the messages, and the text of their lines.
Kernels are compiled with debug=True, opt=False, so that the tools know the lines.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

import kernels_with_bugs as corpus  # noqa: E402

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 60


def launch(name, which):
    """Launch one kernel of the corpus on the GPU, with line information."""
    from numba import cuda

    pair = corpus.load(name)
    kernel = cuda.jit(debug=True, opt=False)(getattr(pair, which).py_func)
    kernel[pair.launch(which)](*pair.arguments())
    cuda.synchronize()


def verdict(name, which, tool):
    """Return what one tool says of one kernel."""
    options = f"--tool {tool} --print-limit 20".split()
    command = ["compute-sanitizer", *options, sys.executable, "-W", "ignore", __file__, "--launch", name, which]
    result = {"kernel": name, "which": which, "tool": tool}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {**result, "flagged": True, "messages": [f"did not end within {SECONDS} s"], "lines": []}
    report = [line.removeprefix("=========").strip() for line in done.stdout.splitlines() if line.startswith("=====")]
    summary = next((line for line in report if "SUMMARY" in line), None)
    if summary is None:
        return {**result, "failed": (done.stderr or done.stdout)[-300:]}
    count = int(re.search(r"SUMMARY: (\d+)", summary)[1])
    messages = [
        re.sub(r" by thread.*| at 0x\w+.*| at .*\+0x.*", "", line)
        for line in report
        if re.match(r"(Invalid|Error|Warning|Barrier|Uninitialized|Divergent|Program hit)", line)
    ]
    lines = {int(n) for line in report for n in re.findall(rf"{name}\.py:(\d+)", line)}
    lines = [corpus.load(name).line(n, which) for n in sorted(lines)]
    return {**result, "flagged": count > 0, "count": count, "messages": sorted(set(messages))[:6], "lines": lines}


def jobs_of(start):
    """Return (name, which, tool) of every run of the kernels whose names begin with one of `start`."""
    names = [name for name in corpus.NAMES if name.startswith(start)]
    return [(name, which, tool) for tool in TOOLS for name in names for which in ("bug", "twin")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for sanitizer.json")
    parser.add_argument(
        "--names",
        help="how the names of kernels begin, separated by commas: only they run, and replace their like there",
    )
    parser.add_argument("--launch", nargs=2, help=argparse.SUPPRESS)
    if "--launch" in sys.argv:
        return launch(*sys.argv[-2:])
    options = parser.parse_args()
    from course_lib.machine.gpu.device import NoGPUError, describe

    if shutil.which("compute-sanitizer") is None:
        sys.exit("compute-sanitizer is not on the PATH; it comes with the CUDA toolkit")
    try:
        provenance = describe()
    except NoGPUError as reason:
        print(reason, file=sys.stderr)
        return 2
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True, check=True).stdout
    provenance["compute-sanitizer"] = re.search(r"Version (\S+)", version)[1]
    start = tuple((options.names or "").split(","))
    jobs = jobs_of(start)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: verdict(*job), jobs))
    command = "python tools/sanitize_bugs.py --output course_lib/machine/measurements/nvidia-h200"
    recording = {"what": "sanitizer", "command": command, "provenance": provenance, "results": results}
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "sanitizer.json"
    if options.names and path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
        kept = [r for r in old["results"] if not r["kernel"].startswith(start)]
        own = {"command": f"{command} --names {options.names}", "provenance": provenance}
        every = [*kept, *({**result, **own} for result in results)]
        place = {job: number for number, job in enumerate(jobs_of(""))}
        every.sort(key=lambda r: place[r["kernel"], r["which"], r["tool"]])
        recording = {**old, "results": every}
    path.write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    for tool in TOOLS:
        rows = [r for r in results if r["tool"] == tool]
        print(tool, "flagged", sum(r.get("flagged", False) for r in rows), "failed", sum("failed" in r for r in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
