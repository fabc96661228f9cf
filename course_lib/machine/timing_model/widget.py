"""What warps wait for, by the timing model: one scheduler, its warps as rows over cycles, and four sliders."""

import base64
import functools
import json
import os
import pathlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import anywidget
import numpy as np
import traitlets

from ...simulator.formatting import plural
from ...simulator.hardware import SECTOR_BYTES
from ...trace.simulate import simulate
from ...trace.viewer.fallback import WithFallback
from ...trace.viewer.page import Bundle, page
from ..model.multiprocessor import Multiprocessor
from .instruction_streams import Instruction, InstructionStreams
from .simulation import REASONS
from .timing import SimulatedTiming, simulate_warps

BUNDLE = Bundle(
    "timing_model",
    pathlib.Path(__file__).parent,
    ("_plan", "_recorded", "_offers", "latency", "warps", "tile_width", "buffers"),
    "tile-by-tile-timing-model",
)

#: What the sliders offer: cycles, more than a hit in the first-level cache takes; warps of a scheduler; tile widths;
#: buffers and the kernels that have them.
LATENCIES = (40, 1200, 20)
WARPS = 16
TILE_WIDTHS = (4, 8, 16, 32)
KERNELS = {1: "tiled", 2: "prefetched"}
#: The settings, by the names of their traits, and the values that each can have.
OFFERED: dict[str, Sequence[int]] = {
    "latency": range(LATENCIES[0], LATENCIES[1] + 1, LATENCIES[2]),
    "warps": range(1, WARPS + 1),
    "tile_width": TILE_WIDTHS,
    "buffers": tuple(KERNELS),
}
#: The inner dimension of the product: every launch multiplies as much for an element of C, apart from padding by zeros.
DEPTH = 40
#: Cycles that are drawn. All launches share this axis, so that a drag shows what became longer.
SHOWN = 4000
#: The settings that a page without a kernel holds, beside the one at which it was saved; warps as far as blocks allow.
RECORDED_LATENCIES = (100, 300, 600, 900, 1200)
RECORDED_WARPS = (2, 4, 8, 16)
#: Shorter spans, in cycles, are drawn in stretches of about this length: in each the warp first issues, then waits for
#: one reason after the other. Single ones would be a pixel wide.
STRETCH = 40
#: Points of the curve of bytes in flight.
POINTS = 160


@functools.cache
def instructions(tile_width: int, buffers: int) -> Sequence[Sequence[Instruction]]:
    """Return the streams of the warps of one block, from a traced launch of the ladder's own kernel.

    Of a block that has more than WARPS warps, spread over the schedulers of a multiprocessor, those of one scheduler.
    """
    from ...kernels import rung  # numba: imported only by readers who simulate
    from .traced_block import traced_streams

    chosen = rung(KERNELS[buffers])
    kernel = chosen.make(tile_width=tile_width)
    grid, block = chosen.launch(tile_width, tile_width, DEPTH, tile_width=tile_width)
    A = np.ones((tile_width, DEPTH), np.float32)
    B = np.ones((DEPTH, tile_width), np.float32)
    run = simulate(kernel, trace=True)[grid, block](A, B, np.zeros((tile_width, tile_width), np.float32))
    warps = traced_streams(kernel, run.trace)
    return warps if len(warps) <= WARPS else warps[:: Multiprocessor.schedulers]


@functools.cache
def _streams(tile_width: int, buffers: int) -> InstructionStreams:
    return InstructionStreams(instructions(tile_width, buffers))


@dataclass(frozen=True)
class Plan:
    """One setting, as the model simulates it. `bandwidth`: bytes per cycle that memory delivers to this scheduler."""

    latency: int
    warps: int
    tile_width: int
    buffers: int
    timing: SimulatedTiming
    bandwidth: float

    @property
    def rate(self) -> float:
        """Bytes that arrive per cycle, on average over the launch."""
        return self.timing.bytes_loaded / self.timing.cycles

    @property
    def mean_latency(self) -> float:
        """Cycles from the request of a sector to its arrival, on average: the latency, and the time in the queue."""
        return sum(arrived - asked for asked, arrived in self.timing.fetches) / len(self.timing.fetches)

    def in_flight(self) -> list[float]:
        """Return the mean bytes in flight in each of POINTS equal parts of the cycles that are drawn."""
        edges = np.linspace(0, SHOWN, POINTS + 1)
        asked, arrived = np.array(self.timing.fetches).T
        # Byte-cycles before each edge: every sector counts from its request to its arrival.
        before = [float(np.sum(np.clip(edge, asked, arrived) - asked)) * SECTOR_BYTES for edge in edges]
        return list(np.diff(before) / (SHOWN / POINTS))

    def spans(self) -> list[list[list[int]]]:
        """Return for every warp [reason, first cycle, cycle after the last] as drawn: whole cycles, joined."""
        rows = []
        for spans in self.timing.spans:
            row: list[list[int]] = []
            for reason, first, last in _stretches(spans):
                if first >= SHOWN:
                    break
                number = REASONS.index(reason)
                begin = round(first)
                end = round(min(last, SHOWN))
                if row and row[-1][0] == number and row[-1][2] == begin:
                    row[-1][2] = end
                elif begin < end:
                    row.append([number, begin, end])
            rows.append(row)
        return rows

    def sentences(self) -> list[str]:
        """The content of the picture in words."""
        timing = self.timing
        kernel = f"{KERNELS[self.buffers]}, {'one buffer' if self.buffers == 1 else 'two buffers'}"
        barriers = sum(i.kind == "barrier" for i in instructions(self.tile_width, self.buffers)[0])
        waits = ", ".join(f"{reason} {100 * share:.0f} %" for reason, share in timing.waits.items())
        return [
            f"T = {self.tile_width}, {kernel}, {plural(self.warps, 'warp')} on the scheduler, "
            f"{self.latency:,} cycles from a load to its value",
            f"{timing.cycles:,.0f} cycles in all, {barriers} barriers a warp; "
            f"{100 * timing.issued / timing.cycles / timing.schedulers:.0f} % of the issue slots used",
            f"The warps' time: {waits}",
            f"Bytes in flight = latency × bandwidth: {timing.in_flight:,.0f} ≈ {self.mean_latency:,.0f} cycles × "
            f"{self.rate:.2f} bytes per cycle, on average",
            f"To use all {self.bandwidth:.1f} bytes per cycle, {self.latency:,} × {self.bandwidth:.1f} ≈ "
            f"{self.latency * self.bandwidth:,.0f} bytes must be in flight",
        ]

    def encoded(self) -> str:
        """Return all that the browser draws, as JSON."""
        setting = {name: getattr(self, name) for name in OFFERED}
        return json.dumps(
            {
                **setting,
                "reasons": REASONS,
                "shown": SHOWN,
                "end": round(self.timing.cycles),
                "rows": self.spans(),
                "in_flight": [round(level) for level in self.in_flight()],
                "needed": round(self.latency * self.bandwidth),
                "says": self.sentences(),
            },
            separators=(",", ":"),
        )


def _stretches(spans: Iterable[tuple[str, float, float]]) -> Iterator[tuple[str, float, float]]:
    """Merge short spans of a warp that follow each other into one for each reason."""
    lengths: dict[str, float] = {}  # of the short spans since the last one that was merged, by reason
    begin = merged_length = 0.0

    def merged() -> Iterator[tuple[str, float, float]]:
        first = begin
        for reason in REASONS:
            if reason in lengths:
                yield reason, first, first + lengths[reason]
                first += lengths[reason]

    for reason, first, last in spans:
        length = last - first
        if merged_length + length > STRETCH:
            yield from merged()
            lengths = {}
            merged_length = 0.0
        if length > STRETCH:
            yield reason, first, last
            continue
        if not lengths:
            begin = first
        lengths[reason] = lengths.get(reason, 0.0) + length
        merged_length += length
    yield from merged()


def plan(multiprocessor: Multiprocessor, latency: int, warps: int, tile_width: int, buffers: int) -> Plan:
    """Simulate a setting on one scheduler of the multiprocessor.

    The second-level cache serves every load that misses the first, each after the same `latency` cycles.

    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> one = timing_model.plan(H200, latency=400, warps=2, tile_width=8, buffers=1)
    >>> two = timing_model.plan(H200, latency=400, warps=2, tile_width=8, buffers=2)
    >>> two.timing.cycles < one.timing.cycles
    True
    """
    share = {level: rate / multiprocessor.schedulers for level, rate in multiprocessor.bytes_per_cycle.items()}
    latencies = {**multiprocessor.latency, "L2": float(latency)}
    multiprocessor = replace(multiprocessor, schedulers=1, bytes_per_cycle=share, latency=latencies, spread=())
    block = _streams(tile_width, buffers)
    timing = simulate_warps(block, multiprocessor, warps // len(block))
    return Plan(latency, warps, tile_width, buffers, timing, multiprocessor.bytes_per_cycle["L2"])


def recorded(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a `Waiting` (its traits by name) with recorded plans, for a page without a kernel.

    `_offers` then holds the settings that were simulated, and `_recorded` every plan by "latency,warps,T,buffers", as
    base64 of zlib's compressed JSON.
    """
    multiprocessor = Multiprocessor(**json.loads(state["_multiprocessor"]))
    latencies = sorted({*RECORDED_LATENCIES, state["latency"]})
    sizes = {width: len(instructions(width, 1)) for width in TILE_WIDTHS}
    warps = {
        width: sorted(count for count in {*RECORDED_WARPS, state["warps"]} if count % size == 0)
        for width, size in sizes.items()
    }
    settings = [
        (latency, count, width, buffers)
        for width in TILE_WIDTHS
        for count in warps[width]
        for buffers in KERNELS
        for latency in latencies
    ]
    plans = {",".join(map(str, setting)): json.loads(plan(multiprocessor, *setting).encoded()) for setting in settings}
    packed = zlib.compress(json.dumps(plans, separators=(",", ":")).encode(), 6)
    offers = json.loads(state["_offers"]) | {"latencies": latencies, "recorded": warps}
    return {**state, "_offers": json.dumps(offers), "_recorded": base64.b64encode(packed).decode("ascii")}


class Waiting(WithFallback, anywidget.AnyWidget):
    """What one scheduler's warps wait for, by the timing model: drag the latency, the warps, T; one buffer or two.

    ``multiprocessor``: a measured one, `timing_model.Multiprocessor`, of which all but the latency is kept;
    ``latency``: cycles from a load to its value, 20 to 1,200 in steps of 20, at first that of the second-level cache;
    ``warps``: those of the scheduler, whole blocks of T×T threads and at most 16; a change of T rounds them to whole
    blocks; ``tile_width``: 4, 8, 16 or 32; ``buffers``: 1 (tiled) or 2 (prefetched). All but the multiprocessor can be
    set from Python and follow the reader's sliders.
    Raises TraitError for a setting that the sliders do not offer.

    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> timing_model.Waiting(H200, warps=4, tile_width=8).warps
    4
    """

    # as text: of a path, anywidget keeps each widget for changes of the file
    _esm = BUNDLE.read("js")
    _css = BUNDLE.read("css")
    latency = traitlets.Int().tag(sync=True)
    warps = traitlets.Int(2).tag(sync=True)
    tile_width = traitlets.Int(8).tag(sync=True)
    buffers = traitlets.Int(1).tag(sync=True)
    _plan = traitlets.Unicode().tag(sync=True)
    _offers = traitlets.Unicode().tag(sync=True)
    _multiprocessor = traitlets.Unicode().tag(sync=True)  # for pages made of a notebook's widget states

    def __init__(
        self,
        multiprocessor: Multiprocessor,
        latency: int | None = None,
        warps: int = 2,
        tile_width: int = 8,
        buffers: int = 1,
    ) -> None:
        """Simulate the first setting, and the blocks of every tile width, so that no drag waits for the simulator."""
        self._measured = multiprocessor
        if latency is None:
            first, last, step = LATENCIES
            latency = min(max(round(multiprocessor.latency["L2"] / step) * step, first), last)
        widths = {width: len(instructions(width, 1)) for width in TILE_WIDTHS}
        for width in TILE_WIDTHS:
            instructions(width, 2)
        offers = json.dumps({"latency": LATENCIES, "warps": WARPS, "widths": widths})
        super().__init__(
            latency=latency,
            warps=warps,
            tile_width=tile_width,
            buffers=buffers,
            _offers=offers,
            _multiprocessor=json.dumps(asdict(multiprocessor)),
        )
        self.observe(self._replan, names=[*OFFERED])
        self._replan()

    @traitlets.validate(*OFFERED)
    def _one_of_those_offered(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        offered = OFFERED[name]
        if value not in offered:
            choices = (
                f"{offered[0]} to {offered[-1]} in steps of {offered.step}"
                if isinstance(offered, range)
                else ", ".join(map(str, offered))
            )
            raise traitlets.TraitError(f"{name} is {value}; choose from {choices}.")
        return value

    def _replan(self, change: object = None) -> None:
        """Simulate the current setting, with the warps of whole blocks."""
        size = len(instructions(self.tile_width, 1))
        whole = max(self.warps // size, 1) * size
        if whole != self.warps:
            self.warps = whole  # calls this method again
            return
        self.plan = plan(self._measured, self.latency, self.warps, self.tile_width, self.buffers)
        self._plan = self.plan.encoded()

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write the widget, at its current setting, as a page of its own; return the page's path.

        The page needs no kernel, no network and no other file. It cannot simulate new settings: its sliders select from
        a grid of recorded ones, and the page says so.
        """
        file = pathlib.Path(path)
        fallback = self.picture()._repr_html_()
        text = page("Waiting, by the timing model", recorded(self.get_state()), fallback, BUNDLE)
        file.write_text(text, encoding="utf-8")
        return file

    def picture(self) -> Any:
        """Draw the current setting: the warps over the cycles, and in words all that the widget says."""
        from ..figures import show
        from .drawing import draw

        ax = draw({"one scheduler": self.plan.timing}, (0, min(SHOWN, self.plan.timing.cycles)))
        ax.set_label(repr(self))
        return show(ax)

    def __repr__(self) -> str:
        return "\n".join(["Waiting, by the timing model:", *(f"  {each}." for each in self.plan.sentences())])
