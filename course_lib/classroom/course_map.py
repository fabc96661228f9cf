"""The map of the course: what each rung of the ladder costs, how fast it is, and which lesson explains it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..kernels import LADDER, Rung
from ..machine import measurements
from ..machine.model import loads_per_output
from ..simulator.tables import aligned
from . import lessons


@dataclass(frozen=True)
class Milestone:
    """One rung: global loads and 32-byte sectors per element of C, GFLOP/s, and the lesson that explains it.

    ``loads`` follows from a formula, ``sectors`` was counted by the GPU's hardware counters (None if it was not),
    ``speed`` is the median of the measured launches.
    """

    rung: str
    title: str
    lesson: str
    loads: float
    sectors: float | None
    speed: float


@dataclass(frozen=True, repr=False)
class Roadmap:
    """The milestones as a table, and the sentence on the limit: Markdown with links in a notebook, else plain text."""

    gpu: str
    n: int
    steps: tuple[Milestone, ...]
    end: str

    def __iter__(self) -> Iterator[Milestone]:
        return iter(self.steps)

    def step(self, name: str) -> Milestone:
        """Return the step of the rung called ``name``; raise KeyError if the map has none."""
        for step in self.steps:
            if step.rung == name:
                return step
        raise KeyError(f"no rung {name!r} on the map; it has {', '.join(step.rung for step in self.steps)}")

    def _cells(self) -> list[list[str]]:
        return [
            [
                step.title,
                f"{step.loads:,.0f}",
                "–" if step.sectors is None else f"{step.sectors:,.0f}",
                f"{step.speed:,.0f}",
            ]
            for step in self.steps
        ]

    def __repr__(self) -> str:
        head = ["kernel", "loads", "sectors", "GFLOP/s", "lesson"]
        rows = [head, *([*cells, step.lesson[:2]] for cells, step in zip(self._cells(), self.steps, strict=True))]
        return "\n".join([f"{self.gpu}, n = {self.n:,}, per element of C:", *aligned(rows), self.end])

    def _repr_markdown_(self) -> str:
        lines = [
            f"{self.gpu}, float32, n = {self.n:,}; loads and sectors are per element of C.",
            "",
            "| lesson | kernel | loads | sectors | GFLOP/s |",
            "|---|---|---:|---:|---:|",
        ]
        for step, cells in zip(self.steps, self._cells(), strict=True):
            number, name = step.lesson[:2], step.lesson[3:].replace("_", " ")
            there = (lessons.home() / f"{step.lesson}.ipynb").exists()  # an edition may have fewer lessons
            where = f"[{number} {name}]({step.lesson}.ipynb)" if there else f"{number} {name}"
            lines.append(f"| {where} | {' | '.join(cells)} |")
        return "\n".join([*lines, "", self.end])


def milestones() -> list[Rung]:
    """Return the rungs that a lesson explains, in the order of the lessons."""
    return sorted((rung for rung in LADDER if rung.lesson), key=lambda rung: rung.lesson)


def roadmap(gpu: str = measurements.DEFAULT_GPU) -> Roadmap:
    """Return the Roadmap from a GPU's recordings: speeds of its ladder, sectors of its counters at the same n."""
    ladder, counters = measurements.load("ladder", gpu), measurements.load("counters", gpu)
    counted = {(r["rung"], r["M"]): r["global_load_sectors"] for r in counters.results if "skipped" not in r}
    steps = []
    for step in milestones():
        result = ladder.result(step.name)
        n = result["M"]
        tile = step.tile(**result["params"]) or ()
        sectors = counted.get((step.name, n))
        steps.append(
            Milestone(
                step.name,
                result["title"],
                step.lesson,
                float(loads_per_output(n, n, n, *tile)),
                None if sectors is None else sectors / n**2,
                result["gflops"],
            )
        )
    return Roadmap(ladder.provenance["gpu"], n, tuple(steps), _end(gpu))


def _end(gpu: str) -> str:
    """Return the sentence on the limit of the ladder: the rate of multiply-adds alone; and on tensor cores."""
    (limit,) = (r["flop_per_second"] for r in measurements.load("ceilings", gpu).results if r["ceiling"] == "float32")
    speeds: dict[str, float] = {}
    what = [name for name in ("tensor", "wgmma") if name in measurements.kinds(gpu)]
    for result in (each for name in what for each in measurements.load(name, gpu).results):
        if result.get("rung", "").startswith(("tensor_cores", "wgmma")) and "inputs" not in result:
            form = result["format"].split(",")[0]
            speeds[form] = max(speeds.get(form, 0), result["gflops"])
    beyond = ", ".join(f"{speed:,.0f} in {form}" for form, speed in speeds.items())
    return (
        f"The ladder ends at the chip: multiply-adds alone reach {limit / 1e9:,.0f} GFLOP/s in float32. "
        f"Tensor cores multiply shorter numbers, less exactly: up to {beyond} (lessons 16 and 17)."
    )
