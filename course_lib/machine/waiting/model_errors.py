"""Errors of the model of waiting as recorded (`python -m tools.lab waiting`), and its reasons beside the profiler's."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ...simulator.tables import html_table, text_table
from .. import measurements
from ..gpu.types import Result


@cache
def largest_error() -> float:
    """Return the largest relative error of the recorded predictions for kernels as students write them: 0.1 is 10 %."""
    results = measurements.load("waiting").results
    return max(abs(float(r["error"])) for r in results if r["what"] == "capstone")


@dataclass(frozen=True, repr=False)
class Reasons:
    """The reasons why the warps of kernels wait, in rows: case, as the profiler sampled them, as the model says."""

    rows: tuple[tuple[str, str, str], ...]

    def __repr__(self) -> str:
        return "\n".join(text_table([_TITLES, *self.rows], left=range(3)))

    def _repr_html_(self) -> str:
        # a line ends after a comma
        rows = ([text.replace(" ", "\xa0").replace(",\xa0", ", ") for text in row] for row in self.rows)
        return html_table([_TITLES, *rows], left=range(3))


_TITLES = ("", "measured", "modelled")


def reasons(results: Iterable[Result]) -> Reasons:
    """Return the three largest reasons for waiting of each result, as Nsight Compute samples them and as modelled.

    Those of a kernel that was not counted are "not recorded".
    """

    def largest(waits: Result | None) -> str:
        if waits is None:
            return "not recorded"
        first = sorted(waits.items(), key=lambda item: -item[1])[:3]
        return ", ".join(f"{reason.removesuffix(' memory')} {100 * share:.0f} %" for reason, share in first)

    def name(r: Result) -> str:
        width = [f"T = {r['params']['tile_width']}"] if "tile_width" in r["params"] else []
        return ", ".join([r["rung"], *width, *([f"{r['warps']} warps"] if "warps" in r else [])])

    return Reasons(tuple((name(r), largest(r.get("measured_waits")), largest(r["predicted_waits"])) for r in results))
