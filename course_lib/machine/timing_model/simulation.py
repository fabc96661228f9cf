"""An event-driven simulation of a multiprocessor: which warps issue in each cycle, and what the others wait for.

The streams of instructions and the multiprocessor's numbers become flat arrays, on which :mod:`.event_loop` works.
"""

from collections.abc import Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...simulator.hardware import SECTOR_BYTES
from ..model.multiprocessor import LEVELS, Multiprocessor
from . import event_loop
from .instruction_streams import InstructionStreams

#: The reasons for waiting; the first one is for the cycles in which a warp issues.
REASONS = ("issuing", "global memory", "shared memory", "arithmetic", "barrier", "not selected")


class TimingSimulation:
    """Resident blocks of warps with these streams of instructions; in the place of each, ``rounds`` blocks in sequence.

    A warp whose stream is empty has left before its block began. `run` fills ``waits`` (cycles by index of the reason),
    ``issued`` and, for each warp, ``ended``, the cycle at which it ended. Of ``spans``, ``iterations``, ``fetches`` and
    ``left`` `timing.SimulatedTiming` says what they are.
    """

    def __init__(
        self,
        streams: InstructionStreams,
        multiprocessor: Multiprocessor,
        blocks: int,
        served: Mapping[str, str] | str,
        l1_bytes: int,
        *,
        rounds: int = 1,
        loaded_by: Mapping[str, float] | None = None,
        in_step: bool = False,
    ) -> None:
        """Allocate the arrays on which the event loop works; the parameters are those of `timing.simulate_warps`."""
        self.streams = streams
        instructions = streams.on(multiprocessor)
        sectors = streams.sectors_on(multiprocessor, served, loaded_by or {})
        resource_sets = streams.records[1]
        active_warps = int(np.count_nonzero(np.diff(streams.starts)))
        capacity = max(l1_bytes // SECTOR_BYTES, 1)
        accesses = (instructions["last_sector"] - instructions["first_sector"])[streams.numbers].sum()
        self.state = event_loop.State(
            machine=_machine(multiprocessor, capacity, rounds, active_warps, in_step),
            instructions=instructions,
            resource_sets=resource_sets,
            sectors=sectors,
            streams=streams.numbers,
            needs=streams.needs,
            accessed=streams.accessed,
            spread=np.array(multiprocessor.spread, np.float64),
            dram_spread=np.array(multiprocessor.dram_spread, np.float64),
            warps=self._warps(blocks, rounds, multiprocessor.schedulers),
            results=np.zeros(blocks * len(streams.numbers), event_loop.RESULT),
            begun=np.zeros(blocks * rounds * sum(streams.begun)),
            schedulers=_schedulers(multiprocessor.schedulers),
            unit_free=np.zeros(multiprocessor.schedulers * event_loop.UNITS),
            contention=np.zeros(multiprocessor.schedulers * len(resource_sets), event_loop.CONTENTION),
            blocks=_blocks(blocks, len(streams), active_warps),
            sector_states=_sector_states(blocks * rounds * len(sectors)),
            common=_common(blocks),
            waits=np.zeros(len(REASONS)),
            fetches=np.zeros(2 * blocks * rounds * int(accesses)),
        )

    def _warps(self, blocks: int, rounds: int, schedulers: int) -> np.ndarray:
        streams = self.streams
        warps = np.zeros((blocks, len(streams)), event_loop.WARP)
        block = np.arange(blocks)[:, None]
        begun = rounds * np.cumsum([0, *streams.begun])
        warps["block"] = block
        warps["scheduler"] = np.arange(warps.size).reshape(warps.shape) % schedulers
        warps["stream_start"] = streams.starts[:-1]
        warps["size"] = np.diff(streams.starts)
        warps["first_result"] = streams.starts[:-1] + block * len(streams.numbers)
        warps["first_begun"] = begun[:-1] + block * begun[-1]
        return warps.reshape(-1)

    def run(self) -> None:
        """Simulate until every warp has ended."""
        most_spans = 8 * (len(self.streams) + 2)
        spans: Any = np.zeros(max(16 * len(self.streams.numbers), most_spans) * event_loop.SPAN)
        if event_loop.COMPILED:
            spans = event_loop.run(self.state, spans, most_spans)
            warps = _objects(self.state.warps)
            (common,) = _objects(self.state.common)
            left = self.state.results["left"]
        else:
            self.state = event_loop.State(*map(_objects, self.state))
            spans = event_loop.run(self.state, spans.tolist(), most_spans)
            warps = self.state.warps
            (common,) = self.state.common
            left = np.array([result.left for result in self.state.results])
        self._warps_ended = warps
        self._left = left
        self.issued = float(common.issued)
        self.waits = [float(cycles) for cycles in self.state.waits]
        self.ended = [warp.ended for warp in warps]
        self._spans = np.array(spans[: common.spans * event_loop.SPAN]).reshape(-1, event_loop.SPAN)
        self._fetches = np.array(self.state.fetches[: 2 * common.fetched]).reshape(-1, 2)

    @property
    def spans(self) -> tuple[tuple[tuple[str, float, float], ...], ...]:
        warps, reasons, first, last = self._spans[np.argsort(self._spans[:, 0], kind="stable")].T
        names = [REASONS[reason] for reason in reasons.astype(int).tolist()]
        every = tuple(zip(names, first.tolist(), last.tolist(), strict=True))
        ends = np.searchsorted(warps, np.arange(len(self.ended) + 1)).tolist()
        return tuple(every[start:end] for start, end in pairwise(ends))

    @property
    def fetches(self) -> tuple[tuple[float, float], ...]:
        return tuple((requested, arrived) for requested, arrived in self._fetches.tolist())

    @property
    def iterations(self) -> tuple[tuple[float, ...], ...]:
        begun = np.array(self.state.begun).tolist()
        return tuple(tuple(begun[w.first_begun : w.first_begun + w.begun]) for w in self._warps_ended)

    @property
    def left(self) -> tuple[tuple[float, ...], ...]:
        left = self._left.tolist()
        return tuple(tuple(left[w.first_result : w.first_result + w.size]) for w in self._warps_ended)


def _machine(
    multiprocessor: Multiprocessor, capacity: int, rounds: int, active_warps: int, in_step: bool
) -> np.ndarray:
    """Return the record of the multiprocessor; capacity, rounds, active_warps, in_step: of one simulation."""
    machine = np.zeros(1, event_loop.MACHINE)
    machine["l1"], machine["l2"], machine["dram"] = (multiprocessor.latency[level] for level in ("L1", "L2", "DRAM"))
    machine["l2_rate"], machine["dram_rate"] = (multiprocessor.bytes_per_cycle[level] for level in LEVELS)
    machine["barrier"], machine["arrival"] = multiprocessor.barrier
    machine["barrier_path"] = multiprocessor.barrier_path
    machine["request"] = multiprocessor.request
    machine["dram_bytes"] = multiprocessor.dram_bytes
    machine["sector_bytes"] = SECTOR_BYTES
    machine["capacity"] = capacity
    machine["rounds"] = rounds
    machine["active_warps"] = active_warps
    machine["in_step"] = in_step
    return machine


def _schedulers(count: int) -> np.ndarray:
    """Return the records of schedulers that have no warp yet."""
    schedulers = np.zeros(count, event_loop.SCHEDULER)
    schedulers["last"] = schedulers["event"] = -1
    schedulers["next_ready"] = event_loop.INFINITE
    return schedulers


def _blocks(count: int, warps: int, active_warps: int) -> np.ndarray:
    """Return the records of blocks of so many warps that begin together."""
    blocks = np.zeros(count, event_loop.BLOCK)
    blocks["age"] = np.arange(count)
    blocks["running"] = active_warps
    blocks["first_warp"] = np.arange(count) * warps
    return blocks


def _sector_states(count: int) -> np.ndarray:
    """Return the records of sectors of which no cache holds any."""
    states = np.zeros(count, event_loop.SECTOR_STATE)
    states["arrives"] = states["dram_done"] = -1
    return states


def _common(blocks: int) -> np.ndarray:
    """Return the record of what all schedulers share, where so many blocks have begun."""
    common = np.zeros(1, event_loop.COMMON)
    common["begun"] = blocks
    common["oldest"] = common["newest"] = -1
    return common


def _objects(array: np.ndarray) -> list[Any]:
    """Return the items of an array as Python's numbers, or as objects with the attributes of its records."""
    names = array.dtype.names
    if names is None:
        return list(array.tolist())
    return [SimpleNamespace(**dict(zip(names, item, strict=True))) for item in array.tolist()]
