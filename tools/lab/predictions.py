"""The errors of the timing model in what it predicts: the largest first, and the order of cases."""

import json
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import numpy as np

from course_lib.machine import measurements
from course_lib.machine.gpu.experiments import Wanted
from course_lib.machine.gpu.result_types import Result, Results
from course_lib.machine.timing_model import predictions

#: Relative difference of speed above which two cases have an order; repeats on another day differ by up to 2 %.
TELLS = 0.03
#: Kernels for which the order over resident warps is reported.
TILES = ("tiled", "prefetched")


def judged(ask: Wanted) -> Results:
    """Print every prediction beside the measurement, the largest errors first; return nothing else to print.

    The predictions go to the folder that is asked for; if it has recordings of its own, these are what is predicted.
    """
    folder = ask.folder
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    gpu: str | Path = folder if folder and (folder / "latencies.json").is_file() else measurements.DEFAULT_GPU
    results = predictions.rows(ask.progress, gpu)
    print(table(results))
    if folder:
        origin = {name: measurements.load(name, gpu).provenance for name in predictions.READS}
        recording = {
            "what": "predictions",
            "command": "python -m tools.lab predictions",
            "provenance": origin["ladder"],
        }
        text = json.dumps({**recording, "results": results, "notes": {"origin": origin}}, indent=1)
        (folder / "predictions.json").write_text(text + "\n", encoding="utf-8")
    return []


def ordered(results: Iterable[Result], what: str) -> tuple[list[tuple[Result, Result]], int]:
    """Return the pairs of cases that the model puts in the wrong order, and the number of pairs that have an order.

    Cases are the results `what` of TILES. Two of them have an order if one is faster by more than TELLS and in all of
    its repeats; it comes first in the pair. The pair with the largest error comes first.
    """
    chosen = [r for r in results if r["what"] == what and r["rung"] in TILES]
    chosen.sort(key=lambda r: -r["measured"])
    pairs = [
        (a, b)
        for a, b in combinations(chosen, 2)
        if a["measured"] / b["measured"] - 1 > TELLS and a["repeats"][0] > b["repeats"][1]
    ]
    wrong = [(a, b) for a, b in pairs if a["predicted"] < b["predicted"]]
    return sorted(wrong, key=lambda pair: _ratio(pair, "predicted") / _ratio(pair, "measured")), len(pairs)


def _ratio(pair: tuple[Result, Result], key: str) -> float:
    return float(pair[0][key] / pair[1][key])


def table(results: Iterable[Result]) -> str:
    """Return the predictions as text, in each part the largest errors first."""
    lines = []
    results = list(results)
    for what in ("probe", "cached", "residency", "ladder", "capstone"):
        part = sorted((r for r in results if r["what"] == what), key=lambda r: -abs(r["error"]))
        errors = [100 * abs(r["error"]) for r in part]
        lines.append(f"{what}: median error {np.median(errors):.1f} %, worst {errors[0]:.1f} %")
        for r in part:
            name = r.get("probe") or r["rung"]
            which = {k: r[k] for k in predictions.WHICH if k in r} | dict(r.get("params", {}))
            lines.append(
                f"  {100 * r['error']:+5.0f} %  {name:22}{which!s:48}predicted {r['predicted']:10.2f}"
                f"  measured {r['measured']:10.2f} {r['unit']}"
            )
    for what in ("cached", "residency"):
        wrong, pairs = ordered(results, what)
        lines.append(
            f"order, {what}: {len(wrong)} of {pairs} pairs are wrong that differ by over {100 * TELLS:.0f} % and in "
            "every repeat"
        )
        for pair in wrong:
            ratios = f"predicted {_ratio(pair, 'predicted'):5.2f}  measured {_ratio(pair, 'measured'):5.2f}"
            lines.append(f"  {_case(pair[0])} over {_case(pair[1])}: {ratios}")
    return "\n".join(lines)


def _case(r: Result) -> str:
    return f"{r['rung']} of T = {r['params'].get('tile_width')} with {r['warps']} warps"
