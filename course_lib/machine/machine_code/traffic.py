"""The requests, sectors and wavefronts of a launch as compiled: of its machine code, executed by all of its warps.

They are what Nsight Compute counts. A request to shared memory counts also for a warp of which no lane takes part,
since the profiler counts the instruction; one to global memory does not. An asynchronous copy is a load of global and a
store of shared memory.
"""

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...simulator.counters.bank_conflicts import NOBODY, busiest, in_groups
from ...simulator.counters.copy_wavefronts import WIDE_BYTES, copy_costs
from ...simulator.counters.sectors import distinct
from ...simulator.device_memory import AllocationView
from ...simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES
from ..simulated_launch import Simulated
from .accesses import ATOMICS, MEMORY, WarpAccess
from .emulator import run_launch
from .instructions import MachineCode

#: The place of an instruction in the code, and the space that it accesses.
Place = tuple[int, str]
#: The wavefronts of an atomic on shared memory that compares, for each one that others have.
COMPARED = 2


@dataclass
class InstructionTraffic:
    """What one instruction of the machine code did in a launch, in one space.

    executed: warps that executed it; requests: those of them with an active lane; lanes: active lanes; bytes: of one
    lane's access; arrays: the lanes by the parameter that they accessed, "" for shared and local memory; how: of an
    atomic, what it does.
    """

    space: str
    op: str
    bytes: int = 0
    executed: int = 0
    requests: int = 0
    lanes: int = 0
    sectors: int = 0
    wavefronts: int = 0
    how: str = ""
    arrays: Counter[str] = field(default_factory=Counter)

    @property
    def counted(self) -> int:
        """The requests that Nsight Compute counts."""
        return self.requests if self.space == "global" else self.executed


def launch_traffic(
    code: MachineCode,
    arguments: Sequence[Any],
    block: Sequence[int],
    grid: Sequence[int],
    *,
    names: Sequence[str] = (),
    dynamic_bytes: int = 0,
    **limits: int,
) -> Mapping[Place, InstructionTraffic]:
    """Run a launch, and return what each instruction that accesses memory did, by its place in the code and the space.

    Arrays in `arguments` are changed. Raise ValueError as `run_launch` does.
    """
    found: dict[Place, InstructionTraffic] = {}
    kinds = {place: kinds_of(each.operation) for place, each in enumerate(code.instructions)}

    def note(place: int, warps: np.ndarray, access: WarpAccess | None) -> None:
        for space, op in kinds[place]:
            sums = found.setdefault((place, space), InstructionTraffic(space, op))
            sums.executed += int(np.count_nonzero(warps))
            if access is not None:
                _add(sums, access)

    run_launch(code, arguments, block, grid, note, names=names, dynamic_bytes=dynamic_bytes, **limits)
    return found


def checked_traffic(
    code: MachineCode, launch: Simulated, names: Sequence[str], most: int
) -> Mapping[Place, InstructionTraffic]:
    """Return the traffic of a launch that was simulated, by executing its machine code with the same arguments.

    names: those of the parameters; most: as `run_launch` takes it. Raise ValueError as `run_launch` does, and if the
    machine code leaves other values than the simulator, where their order cannot be why.
    """
    run = launch.run
    arguments = copy.deepcopy([_plain(value) for value in launch.before])
    traffic = launch_traffic(
        code, arguments, run.block, run.grid, names=names, dynamic_bytes=launch.shared_bytes, most=most
    )
    atomics = any(op == "atomic" for each in code.instructions for _, op in kinds_of(each.operation))
    if run.errors or atomics:
        return traffic
    for value, right in zip(arguments, map(_plain, launch.after), strict=True):
        if isinstance(value, np.ndarray):
            exact = value.dtype.kind not in "fc"
            close = np.array_equal(value, right) if exact else np.allclose(value, right, 1e-3, 1e-5, equal_nan=True)
            if not close:
                raise ValueError("it leaves other values than the source, so that its counts are not shown")
    return traffic


def _plain(value: Any) -> Any:
    """Return an argument of a launch as the emulator takes it: of an allocation, its array."""
    return value.values if isinstance(value, AllocationView) else value


def kinds_of(operation: str) -> tuple[tuple[str, str], ...]:
    """Return the spaces that an operation accesses, and how; none for an operation that does not access memory."""
    name = operation.partition(".")[0]
    if name in ATOMICS:
        return ((ATOMICS[name], "atomic"),)
    if name not in MEMORY:
        return ()
    space, op = MEMORY[name]
    return (("global", "load"), ("shared", "store")) if op == "copy" else ((space, op),)


def _add(sums: InstructionTraffic, access: WarpAccess) -> None:
    active = access.active.reshape(-1, WARP_SIZE)
    rows = active.any(axis=1)
    active = active[rows].T
    addresses = access.addresses.reshape(-1, WARP_SIZE)[rows].T
    sums.bytes, sums.how = access.bytes, access.how
    sums.requests += active.shape[1]
    sums.lanes += int(np.count_nonzero(active))
    if access.stored is not None:
        _add_copy(sums, access, addresses, access.stored.reshape(-1, WARP_SIZE)[rows].T, active)
        return
    for name, lanes in access.by_array:
        sums.arrays[name] += lanes
    if access.space == "global":
        sums.sectors += int(_sectors(access, addresses, active).sum())
    elif access.space == "shared":
        sums.wavefronts += int(_wavefronts(access, addresses, active).sum())


def _add_copy(
    sums: InstructionTraffic, access: WarpAccess, loaded: np.ndarray, stored: np.ndarray, active: np.ndarray
) -> None:
    """Add the side of a copy that is in the space of these sums."""
    wavefronts, sectors = copy_costs(stored // access.bytes, loaded // access.bytes, active, access.bytes)
    if sums.space == "shared":
        sums.arrays[""] += int(np.count_nonzero(active))
        sums.wavefronts += wavefronts
        return
    for name, lanes in access.by_array:
        sums.arrays[name] += lanes
    sums.sectors += sectors if access.bytes == WIDE_BYTES else int(_sectors(access, loaded, active).sum())


def _sectors(access: WarpAccess, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return the sectors of each warp: columns of addresses."""
    sectors = addresses // SECTOR_BYTES
    if access.op != "atomic":
        return distinct(sectors[:, None, :, None], active[:, None, :, None]).ravel()
    # a sector is served as often as the most lanes on one of its words ask for
    words = np.where(active, addresses // access.bytes, NOBODY)
    each = SECTOR_BYTES // access.bytes
    return np.array([_rounds(column[column != NOBODY], each) for column in words.T])


def _rounds(words: np.ndarray, each: int) -> int:
    """Return the rounds of all sectors, each of so many words: of a sector, the most lanes on one word."""
    word, lanes = np.unique(words, return_counts=True)
    most: dict[int, int] = {}
    for sector, number in zip((word // each).tolist(), lanes.tolist(), strict=True):
        most[sector] = max(most.get(sector, 0), number)
    return sum(most.values())


def _wavefronts(access: WarpAccess, addresses: np.ndarray, active: np.ndarray) -> np.ndarray:
    words = np.where(active, addresses // WORD_BYTES, NOBODY)
    each = max(1, access.bytes // WORD_BYTES)
    if access.op != "atomic" or access.how in ("POPC", "CAS", "CAST"):
        needed = busiest(words, 1) if each == 1 else in_groups(words, each)[0]
        return needed * (COMPARED if access.how in ("CAS", "CAST") else 1)
    # lanes on one word, and words in one bank, come one after another
    return np.array([np.bincount(column[column != NOBODY] % BANKS).max() for column in words.T])


def by_kind(traffic: Mapping[Place, InstructionTraffic]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return for each space and operation the requests, and its sectors (global) or wavefronts (shared)."""
    sums: dict[tuple[str, str], list[int]] = {}
    for each in traffic.values():
        if each.space in ("global", "shared"):
            total = sums.setdefault((each.space, each.op), [0, 0])
            total[0] += each.counted
            total[1] += each.sectors if each.space == "global" else each.wavefronts
    return {key: (requests, amount) for key, (requests, amount) in sums.items()}
