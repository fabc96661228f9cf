"""The map of the course: what each rung of the ladder costs, how fast it is, and which lesson explains it."""

from dataclasses import dataclass, replace

from ..kernels import LADDER, Rung
from ..kernels.variants import naive_variant
from ..machine import figures, measurements
from ..machine.gpu.measuring import widest
from ..machine.model import loads_per_output
from ..trace.palette import KERNELS
from . import lessons

_IMPROVED = "naive, 32 steps unrolled, unsigned in numba"


@dataclass(frozen=True)
class Milestone:
    """One kernel: global loads and 32-byte sectors per element of C, GFLOP/s, and the lesson that explains it.

    ``loads`` follows from a formula, ``sectors`` was counted by the GPU's hardware counters (None if it was not),
    ``speeds`` are medians of the measured launches (None for each that was not recorded), ``change`` says what the
    kernel changes, and from which one.
    """

    rung: str
    title: str
    lesson: str
    change: str
    loads: float
    sectors: float | None
    speeds: measurements.Speeds

    @property
    def name(self) -> str:
        """The name that `change` of other kernels uses."""
        return measurements.NAMES.get(self.rung, self.rung)

    @property
    def cells(self) -> list[str]:
        """What the map says of it."""
        values = self.loads, self.sectors, self.speeds.written, self.speeds.unsigned, self.speeds.c
        numbers = ("–" if value is None else f"{value:,.0f}" for value in values)
        return [f"{self.name}: {self.title}", self.change, *numbers]

    @property
    def recorded(self) -> bool:
        """Whether its speed is recorded: that of a new rung is not, until somebody measures it."""
        return bool(self.speeds.written or self.speeds.unsigned)

    @property
    def speed(self) -> float:
        """GFLOP/s in numba as written; of the improved naive kernel, with its unsigned indices."""
        speed = self.speeds.written or self.speeds.unsigned
        if speed is None:
            raise ValueError(f"no speed of {self.rung} is recorded; `tile-by-tile gpu ladder` measures it")
        return speed


@dataclass(frozen=True, repr=False)
class CourseMap:
    """The milestones, and the sentence on the limit. `steps` are the milestones whose speed is recorded."""

    gpu: str
    n: int
    milestones: tuple[Milestone, ...]
    end: str

    @property
    def steps(self) -> tuple[Milestone, ...]:
        return tuple(step for step in self.milestones if step.recorded)

    def markdown(self) -> str:
        """Return the table of all milestones, with links to the lessons, and the sentence on the limit."""
        lines = [
            f"{self.gpu}, float32, n = {self.n:,}; loads and sectors are per element of C, the last columns GFLOP/s.",
            "",
            "| lesson | kernel | what it changes | loads | sectors | numba | numba, unsigned | CUDA C |",
            "|---|---|---|---:|---:|---:|---:|---:|",
        ]
        for step in self.milestones:
            number, name = step.lesson[:2], step.lesson[3:].replace("_", " ")
            there = (lessons.home() / f"{step.lesson}.ipynb").exists()  # an edition may have fewer lessons
            where = f"[{number} {name}]({step.lesson}.ipynb)" if there else f"{number} {name}"
            lines.append(f"| {where} | {' | '.join(step.cells)} |")
        return "\n".join([*lines, "", self.end])


def milestones() -> list[Rung]:
    """Return the rungs that a lesson explains, in the order of the lessons, and after `naive` the same, improved."""
    right = replace(
        naive_variant("uint64", 32), title="One thread per element, indices and loop improved", change=_IMPROVED
    )
    rungs = [each for rung in LADDER if rung.lesson for each in ((rung, right) if rung.name == "naive" else (rung,))]
    return sorted(rungs, key=lambda rung: rung.lesson)


def course_map(gpu: str = measurements.DEFAULT_GPU) -> CourseMap:
    """Return the CourseMap from a GPU's recordings: speeds of its ladder and variants, sectors of its counters at
    that n.

    >>> course_map().n
    4096
    """
    ladder, counters, speeds = (
        measurements.load("ladder", gpu),
        measurements.load("counters", gpu),
        measurements.speeds(gpu),
    )
    n = ladder.result("naive")["M"]
    counted = {
        r["rung"]: r["global_load_sectors"] / n**2 for r in counters.results if r["M"] == n and "skipped" not in r
    }
    counted[measurements.IMPROVED] = counted["naive"]  # the same loads
    unknown = measurements.Speeds(None, None, None)
    steps = []
    for step in milestones():
        loads = float(loads_per_output(n, n, n, *(step.tile(**{**step.params, **widest(step)}) or ())))
        sectors, found = counted.get(step.name), speeds.get(step.name, unknown)
        steps.append(Milestone(step.name, step.title, step.lesson, step.change, loads, sectors, found))
    return CourseMap(ladder.provenance["gpu"], n, tuple(steps), _end(gpu))


def ladder(rung: str = "", gpu: str = measurements.DEFAULT_GPU) -> figures.Picture:
    """Show the speeds of the kernels from the first one up to ``rung``, and of the last one.

    Without ``rung`` these are the first and the last kernel: a lesson shows only what it has explained. A bar is the
    kernel in numba: up to `naive` as it is written, after it with unsigned indices where they are recorded.

    Raises ValueError for a kernel that is not on the map, or whose speed is not recorded.

    >>> ladder("per_column")
    Figure: The ladder on an NVIDIA H200: 3 of 22 kernels.
      One thread per row: 24; One thread per column: 60; All together, tuned: 52,570 (GFLOP/s, n = 4,096).
    """
    course = course_map(gpu)
    steps, names = course.steps, [step.rung for step in course.steps]
    if rung and rung not in names:
        raise ValueError(
            f"there is no {rung!r} on the ladder; its kernels are {', '.join(names)}: those with a recorded speed"
        )
    shown = [*steps[: names.index(rung or names[0]) + 1], steps[-1]]
    written = names[: names.index("naive") + 1]
    speeds = {s.title: round((s.rung not in written and s.speeds.unsigned) or s.speed) for s in shown}
    colours = {step.title: KERNELS[step.rung] for step in shown if step.rung in KERNELS}
    title = f"The ladder on an {course.gpu}: {len(speeds)} of {len(steps)} kernels"
    return figures.show(figures.bars(speeds, title, f"GFLOP/s, n = {course.n:,}", colours))


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
        f"Tensor cores multiply shorter numbers, less exactly: up to {beyond} (lessons 15 and 16)."
    )
