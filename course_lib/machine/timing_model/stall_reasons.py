"""Errors of the timing model as recorded (`python -m tools.lab predictions`), and its reasons beside the profiler's."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...simulator.formatting import html_table, text_table
from .. import measurements
from ..gpu.result_types import Result
from .predictions import STALLS, counted_of

#: A stall that is a part of a reason is named from this share of all waiting on.
NAMED_FROM = 0.05


@dataclass(frozen=True, repr=False)
class Reasons:
    """The reasons why the warps of kernels wait, in rows: case, as the profiler sampled them, as the model says.

    A reason of the model is the sum of several of the profiler's stalls: beside it are the names of the larger ones.
    """

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

    Of a reason that sums up several stalls, those of at least 5 % of the waiting follow by the names of Nsight
    Compute, in percent where they are several. The reasons of a kernel that was not counted are "not recorded".

    >>> results = measurements.load("predictions").results
    >>> counted = [result for result in results if result["what"] == "ladder"]
    >>> len(timing_model.reasons(counted).rows) == len(counted)
    True
    """

    def largest(waits: Result | None, stalls: Result) -> str:
        if waits is None:
            return "not recorded"
        first = sorted(waits.items(), key=lambda item: -item[1])[:3]
        return ", ".join(
            f"{reason.removesuffix(' memory')} {100 * share:.0f} %{_named(reason, stalls)}" for reason, share in first
        )

    def name(r: Result) -> str:
        width = [f"T = {r['params']['tile_width']}"] if "tile_width" in r["params"] else []
        return ", ".join([r["rung"], *width, *([f"{r['warps']} warps"] if "warps" in r else [])])

    return Reasons(
        tuple(
            (
                name(r),
                largest(r.get("measured_waits"), stalls_of(r) if "measured_waits" in r else {}),
                largest(r["predicted_waits"], {}),
            )
            for r in results
        )
    )


def _named(reason: str, stalls: Result) -> str:
    """Return the larger stalls of a reason that can have several, in parentheses; one alone without its number."""
    parts = {name: stalls.get(name, 0.0) for name in STALLS[reason]}
    found = sorted((name for name in parts if parts[name] >= NAMED_FROM), key=lambda name: -parts[name])
    if len(parts) == 1 or not found:
        return ""
    return f" ({', '.join(f'{name} {100 * parts[name]:.0f}' if len(found) > 1 else name for name in found)})"


def stalls_of(result: Result) -> Result:
    """Return each stall's share of the waiting that Nsight Compute sampled of a result of the recording `predictions`.

    The stalls that the model does not have are left out, as in the result's own reasons. Raise KeyError if the launch
    of the result was not counted.

    >>> results = measurements.load("predictions").results
    >>> tiled = next(each for each in results if each["what"] == "ladder" and each["rung"] == "tiled")
    >>> stalls = timing_model.stalls_of(tiled)
    >>> stalls["mio_throttle"] > stalls["short_scoreboard"]
    True
    """
    if result["what"] == "ladder":
        counted = counted_of(result, measurements.load("counters"))
        if counted is None:
            raise KeyError(f"no counters of {result['rung']} in the recording 'counters'")
    else:
        case = ("rung", "params", "warps")
        found = [
            each
            for each in measurements.load(result["what"]).results
            if all(each.get(key) == result[key] for key in case)
        ]
        if not found:
            raise KeyError(
                f"no counters of {result['rung']} with {result['warps']} warps in the recording {result['what']!r}"
            )
        counted = found[0]
    amounts = {name: counted[f"stalled_{name}_percent"] for names in STALLS.values() for name in names}
    return {name: amount / sum(amounts.values()) for name, amount in amounts.items()}
