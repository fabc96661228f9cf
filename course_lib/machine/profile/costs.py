"""Lines that ask more of the memory system than they need: bank conflicts, and accesses that are not coalesced."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from ...simulator.hardware import SECTOR_BYTES, ceil_div
from ...simulator.run import Run
from ..timing_model.instruction_streams import Instruction

#: A line is slow if its requests cost so many times what they need, and the rest is this share of the launch's whole.
TIMES, SHARE = 2.0, 0.1
#: Atomics are slow from so many lanes on a word on in global memory, which then takes twice the sectors of neighbouring
#: elements, and from so many wavefronts on in shared memory, where one warp alone then takes longer, as the recording
#: says (``counters/atomic_rounds.py``). A few lanes that meet are common.
MANY = {"serialized": 8.0, "atomic_wavefronts": 16.0}


@dataclass(frozen=True)
class Cost:
    """A line's accesses to an array: ``value`` wavefronts (shared memory), sectors (global), or those of atomics.

    ``least`` would do for its ``requests``, if the lanes of a warp accessed different banks, neighbouring elements, or
    different words. ``share``: the part of the launch's time that this would save, by the timing model; None where
    it has no time.
    """

    line: int
    array: str
    op: str
    count: str
    requests: int
    value: int
    least: int
    share: float | None = None

    @property
    def key(self) -> tuple[int, str, str, str]:
        """What costs of several launches share that are told once."""
        return self.line, self.array, self.op, self.count

    @property
    def advises(self) -> bool:
        """Whether its text says what to change."""
        return self.count in MANY

    def __str__(self) -> str:
        one = self.value / self.requests
        best = self.least / self.requests
        if self.advises:
            what = (
                f"{one:.3g} lanes of a warp update one word of {self.array} one after another, at each atomic"
                if self.count == "serialized"
                else f"{one:.3g} wavefronts for each atomic of a warp on {self.array}, whose lanes update one word one "
                "after another"
            )
            advice = "add up within the warp or the block first, so that one thread updates it"
            return f"line {self.line}: {what}; {advice}"
        ways = f"a {one / best:.0f}-way bank conflict" if one % best == 0 else "bank conflicts"
        why = f"would do ({ways})" if self.count == "wavefronts" else "would do for neighbouring elements"
        each = f"{self.op} of {self.array} by a warp"
        time = "" if self.share is None else f"; by the model, this costs {self.share:.0%} of the launch's time"
        return f"line {self.line}: {one:.3g} {self.count} for each {each}, {best:.3g} {why}{time}"


def with_ideal_access(cost: Cost, program: Sequence[Instruction]) -> list[Instruction]:
    """Return a warp's program in which the accesses of a line take no more wavefronts, or sectors, than would do."""
    shared = cost.count == "wavefronts"
    part = cost.least / cost.value
    kind = f"shared {cost.op}" if shared else cost.op

    def is_of_the_cost(each: Instruction) -> bool:
        if (each.line, each.kind) != (cost.line, kind):
            return False
        return shared or bool(each.sectors and each.sectors[0][0] == cost.array)

    def reduced_to_ideal(each: Instruction) -> Instruction:
        if not is_of_the_cost(each):
            return each
        sectors = each.sectors if shared else each.sectors[: ceil(len(each.sectors) * part)]
        return each._replace(wavefronts=ceil(each.wavefronts * part), sectors=sectors)

    return [reduced_to_ideal(each) for each in program]


def costs(run: Run) -> tuple[Cost, ...]:
    """Return the lines that cost too much, the worst first."""
    sums: dict[tuple[int, str, str, str], list[int]] = {}
    for row in run.traffic.rows:
        if row.space not in ("shared", "global") or "." in row.array:
            continue  # the fields of a record are neighbours, and come together
        if row.op == "atomic":
            count = "atomic_wavefronts" if row.space == "shared" else "serialized"
            value = getattr(row, count)
            least = row.requests
        elif row.space == "shared":
            count = "wavefronts"
            value = row.wavefronts
            least = row.wavefronts - row.bank_conflicts
        else:
            count = "sectors"
            value = row.sectors
            least = row.requests * max(1, ceil_div(row.accesses * row.itemsize, row.requests * SECTOR_BYTES))
        found = sums.setdefault((row.line, row.array, row.op, count), [0, 0, 0])
        found[:] = (old + new for old, new in zip(found, (row.requests, value, least), strict=True))
    every = [Cost(*key, *numbers) for key, numbers in sums.items()]
    whole = {count: sum(cost.value for cost in every if cost.count == count) for count in ("wavefronts", "sectors")}
    whole |= dict.fromkeys(MANY, sum(whole.values()))
    slow = [
        cost
        for cost in every
        if cost.value >= MANY.get(cost.count, TIMES) * cost.least
        and cost.value - cost.least >= SHARE * whole[cost.count]
    ]
    return tuple(sorted(slow, key=lambda cost: cost.least - cost.value))
