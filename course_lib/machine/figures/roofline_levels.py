"""The recorded load of a kernel on each level of the machine, and the roof that each level sets for its speed."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ...simulator.formatting import html_table, text_table
from ...trace.figures.canvas import BLOCK_EDGE, PICTURE_WIDTH, TEXT_SIZE, describe, legend, name_strips, new_axes
from ...trace.palette import COLOURS, FAINT, GROUND, ISSUING, SKY
from .. import measurements, model
from ..model.multiprocessor import Multiprocessor

#: Colours of the roofs, from the first level that a load meets to the last.
_COLOURS = {
    "instructions": ISSUING,
    "L1 and shared memory": COLOURS["shared"],
    "L2": SKY,
    "DRAM": COLOURS["C"],
    "arithmetic": FAINT,
}
#: In inches: the height of a rung's bars with its name, and of what is around all rungs.
_RUNG_HEIGHT, _AROUND_RUNGS = 1.9, 1.1
#: In bars: the thickness of a bar; from the middle of the first and of the last bar to the ends of the line of the
#: measured time; from the first up to the rung's name; and between the bars of two rungs, where that name is.
_BAR, _LINE_REACH, _NAME, _RUNG_GAP = 0.7, 0.5, 0.65, 1.6
#: As multiples of the measured time: where the times of the levels stand; and of the longest: the end of the axis.
_TIMES, _END = 1.02, 1.2


@dataclass(frozen=True)
class Level:
    """A rung's recorded counts for a whole launch, of bytes, requests, wavefronts and instructions.

    `asked`: bytes, None where no formula has them. `roofs` maps a level to the GFLOP/s that it would allow if nothing
    else took time. The recordings have no wavefronts
    of global loads: in the roof of L1 and shared memory each request for global memory counts as one wavefront, its
    minimum, so the true roof is at most this high.
    """

    rung: str
    n: int
    asked: float | None
    requests: float
    sector_bytes: float
    shared_wavefronts: float
    l2_bytes: float
    dram_bytes: float
    instructions: float
    milliseconds: float
    gflops: float
    roofs: dict[str, float]

    @property
    def name(self) -> str:
        """What tables and pictures call it."""
        base, unsigned, _ = self.rung.partition("_unsigned")
        return measurements.NAMES.get(base, base) + (", unsigned" if unsigned else "")

    @property
    def lowest(self) -> str:
        """The level with the lowest roof."""
        return min(self.roofs, key=self.roofs.__getitem__)

    def share(self, level: str) -> float:
        """Return the share of a level's roof that the kernel reaches, from 0 to 1."""
        return self.gflops / self.roofs[level]


class Levels(tuple[Level, ...]):
    """The rungs' levels, shown as a table: a column for each rung, and labels with units."""

    def of(self, rung: str) -> Level:
        """Return the level counts of one rung; raise KeyError if it is not among them."""
        for level in self:
            if level.rung == rung:
                return level
        raise KeyError(f"no {rung!r} here; there are {', '.join(level.rung for level in self)}")

    def _rows(self) -> list[tuple[str, ...]]:
        def row(label: str, value: str, scale: float = 1e9, digits: int = 3) -> tuple[str, ...]:
            return (label, *(said(getattr(level, value), scale, digits) for level in self))

        def said(amount: float | None, scale: float, digits: int) -> str:
            if amount is None:
                return "–"
            n = amount / scale
            return f"{n:#.{digits}g}" if 0 < n < 100 and digits else f"{n:,.0f}"

        return [
            ("", *(level.name for level in self)),
            row("loads asked for (GB)", "asked"),
            row("requests for global memory at L1 (10⁹)", "requests"),
            row("sectors that L1 is asked for (GB)", "sector_bytes"),
            row("wavefronts of shared memory (10⁹)", "shared_wavefronts"),
            row("through L2 (GB)", "l2_bytes"),
            row("read from DRAM (GB)", "dram_bytes"),
            row("instructions executed by warps (10⁹)", "instructions"),
            row("time (ms)", "milliseconds", 1),
            row("speed (GFLOP/s)", "gflops", 1, 0),
        ]

    def __repr__(self) -> str:
        return "\n".join([f"{self._title()}:", *text_table(self._rows())])

    def _repr_html_(self) -> str:
        return html_table(self._rows(), caption=self._title())

    def _title(self) -> str:
        return f"A whole launch, n = {self[0].n:,}, as recorded"


def levels(*rungs: str, gpu: str = measurements.DEFAULT_GPU) -> Levels:
    """Return the recorded counts and times of these rungs, with their default block or tile, at the ladder's n.

    Requests, sectors, wavefronts, bytes and instructions are those that Nsight Compute counted; the time is the
    ladder's. Of a variant (`measurements.IMPROVED`, "tiled_unsigned") all are in the recording of variants. The
    requested loads follow a formula: 2·n³ numbers of 4 bytes, divided by the tile's width. They are None for rungs with
    another tile than `tile_width`. Raise KeyError for rungs without counters.

    A roof divides the launch's flop by the time that one level alone would need: DRAM at the recorded speed of a copy;
    L2 at the recorded bytes per cycle of all multiprocessors; L1 and shared memory at the recorded cycles per request;
    instructions at one a cycle from each of a multiprocessor's schedulers; arithmetic at the recorded ceiling.

    >>> [level.rung for level in figures.levels("naive", "tiled")]
    ['naive', 'tiled']
    """
    ladder = measurements.load("ladder", gpu)
    counters = measurements.load("counters", gpu)
    ceilings = {result["ceiling"]: result for result in measurements.load("ceilings", gpu).results}
    latencies = measurements.load("latencies", gpu)
    multiprocessor = Multiprocessor.measured(latencies)
    copy = ceilings["copy"]["bytes_per_second"]
    (l1_cycles,) = (r["value"] for r in latencies.results if r["probe"] == "L1 read" and r["stride"] == 1)
    cycles = ladder.provenance["multiprocessors"] * multiprocessor.hertz
    found = []
    for name in rungs:
        if any(result["rung"] == name for result in ladder.results):
            timed = ladder.result(name)
            counted = counters.result(name, M=timed["M"])
        else:
            timed = counted = measurements.load("variants", gpu).result(name)
        n = timed["M"]
        params = timed["params"]
        tile = (params["tile_width"],) if "tile_width" in params else ()
        flop = model.flop(n, n, n)
        asked = 4.0 * model.global_loads(n, n, n, *tile) if tile or "block_width" in params else None
        wavefronts = counted["shared_load_wavefronts"] + counted["shared_store_wavefronts"]
        dram = counted["dram_read_bytes"] + counted["dram_write_bytes"]
        seconds = {
            "instructions": counted["instructions"] / multiprocessor.schedulers / cycles,
            "L1 and shared memory": (
                counted["global_load_requests"] * l1_cycles + wavefronts * multiprocessor.wavefront
            )
            / cycles,
            "L2": counted["l2_bytes"] / multiprocessor.bytes_per_cycle["L2"] / cycles,
            "DRAM": dram / copy,
            "arithmetic": flop / ceilings["float32"]["flop_per_second"],
        }
        found.append(
            Level(
                name,
                n,
                asked,
                counted["global_load_requests"],
                32.0 * counted["global_load_sectors"],
                wavefronts,
                counted["l2_bytes"],
                counted["dram_read_bytes"],
                counted["instructions"],
                flop / timed["gflops"] / 1e6,
                timed["gflops"],
                {level: flop / time / 1e9 for level, time in seconds.items()},
            )
        )
    return Levels(found)


def roofs(found: Sequence[Level]) -> Axes:
    """Draw how long each level alone would need for each rung's launch, and a line where the measured time is.

    The longest bar is the lowest roof, the limit set by these levels; if it is much shorter than the measured time,
    something else limits the kernel. Beside the line are the time and its share of the measured one.

    >>> print(str(figures.show(figures.roofs(figures.levels("tiled")))).splitlines()[0])
    Figure: The level that needs most time is the limit.
    """
    ax = new_axes(PICTURE_WIDTH, _RUNG_HEIGHT * len(found) + _AROUND_RUNGS)
    ticks: dict[float, str] = {}
    sentences = []
    for place, level in enumerate(found):
        base = -(len(_COLOURS) + _RUNG_GAP) * place
        times = {name: level.milliseconds * level.share(name) for name in _COLOURS}
        places = [base - order for order in range(len(times))]
        ax.barh(places, list(times.values()), _BAR, color=list(_COLOURS.values()))
        said = [f"{time:.3g} ms, {100 * level.share(name):.0f} %" for name, time in times.items()]
        for height, text in zip(places, said, strict=True):
            ax.text(_TIMES * level.milliseconds, height, f" {text}", va="center", color=GROUND, fontsize=TEXT_SIZE)
        ends = base + _LINE_REACH, places[-1] - _LINE_REACH
        ax.plot((level.milliseconds,) * 2, ends, color=GROUND, lw=BLOCK_EDGE)
        name = f"{level.name}: {level.milliseconds:.3g} ms"
        ax.text(0, base + _NAME, name, weight="bold", color=GROUND, va="bottom")
        ticks |= zip(places, times, strict=True)
        roofs = ", ".join(f"{name} {part} ({level.roofs[name]:,.0f})" for name, part in zip(times, said, strict=True))
        sentences.append(f"{level.name}: {level.milliseconds:.3g} ms ({level.gflops:,.0f} GFLOP/s); roofs: {roofs}")
    name_strips(ax, ticks)
    ax.set_xlim(0, _END * max(level.milliseconds for level in found))
    ax.set_xlabel(f"ms for a launch, n = {found[0].n:,}")
    ax.set_title("The level that needs most time is the limit")
    legend(ax, {}, Line2D([], [], color=GROUND, lw=BLOCK_EDGE, label="measured"))
    return describe(ax, *sentences)
