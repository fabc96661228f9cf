"""What a kernel of the capstone costs: counted in one launch of several tiles, and timed from its machine code."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..machine import measurements
from ..machine.machine_code import NoMachineCode, machine_code
from ..machine.machine_code.emulator import run_block
from ..machine.machine_code.operations import UnknownInstruction
from ..machine.machine_code.show import MATRICES, InnerLoop, show_machine_code
from ..machine.model.multiprocessor import Multiprocessor
from ..machine.timing_model.error_bound import largest_error
from ..machine.timing_model.from_machine_code import main_loop
from ..machine.timing_model.product_launch import ProductLaunch, WrongBlock
from ..machine.timing_model.register_banks import lost_in_queues
from ..simulator.hardware import WARP_SIZE, WORD_BYTES, ceil_div
from ..simulator.observer import Observer
from ..simulator.occupancy import occupancy
from ..simulator.simulation import Simulation
from .grading.grades import run_uncounted

MOST_REGISTERS = 255
#: The fewest registers of a thread beside its sums.
_BESIDE_SUMS = 3
#: Rows and columns of the matrices whose product is timed, as nearly as whole tiles allow.
_LARGE = 4096
#: Tiles of C in each direction of the launch that is counted, and lengths of K, of which one is drawn.
_TILES, _DEPTHS = 3, (192, 240)
#: Lengths of K, of which one is drawn, for which a block must be right, too: longer than in the large launch, and
#: whole tiles, as in that. Where machine code runs it, the columns of A and rows of B that are not zero: so many at
#: both ends, and so many that are drawn.
_LONG_DEPTHS, _FILLED_AT_ENDS, _FILLED_AT_RANDOM = (4160, 4224, 4288), 32, 16
#: The largest error of an element of C, as a part of the same sum of absolute products: float32 stays below a tenth of
#: it for these lengths of K, and numbers of 11 bits, as in float16 and TF32, are above it.
_LARGEST_ERROR = 1e-5
#: The names of the costs that the machine code has.
WAVEFRONTS, INSTRUCTIONS = "wavefronts of shared memory", "executed instructions"
#: Cycles in the queue of a register bank, for each multiplication, that are worth a hint.
_CYCLES_IN_QUEUE = 0.15
#: Results of a thread that may be doubled.
_FEW_RESULTS = 64
#: Of the instructions that a longer K adds, the part that must be in the loop that is simulated.
_SHARE_IN_LOOP = 0.9
#: Instructions of the large launch that are run, to see that they are those that are simulated.
_FIRST_INSTRUCTIONS = 8_000

Size = tuple[int, int]


class WrongProduct(ValueError):
    """The kernel's C is not A @ B in the launch that is counted."""


@dataclass(frozen=True)
class Costs:
    """The costs of a kernel. Counts are for each multiplication of a warp, which are 32 multiplications.

    The simulator counts `sectors` of global memory, `barriers`, and `loads` from shared memory: those of the source, of
    which one that a thread repeats before the next barrier counts once. ``overlap``: of the elements of A and B that
    are stored to shared memory, the share that was loaded only between barriers between which tiles are read, too.

    The machine code has `wavefronts` of loads from shared memory, `reads`, which are these loads, and `instructions`;
    ``gflops`` is the model's speed on large matrices on the recorded GPU. All of them are None where there is no such
    code, or the model cannot time it, and ``unknown`` says why; ``compiled``: whether there is code. ``advice``: what
    it says to change, most important first, each after the name of the cost that it lowers, "" for the speed alone.
    ``doubt``: why it is not known whether a GPU can make the launch; "" if one can, or if nothing speaks against it.
    """

    sectors: float
    barriers: float
    loads: float
    overlap: float
    wavefronts: float | None = None
    reads: float | None = None
    instructions: float | None = None
    gflops: float | None = None
    unknown: str = ""
    compiled: bool = False
    advice: tuple[tuple[str, str], ...] = ()
    doubt: str = ""

    @property
    def least(self) -> float | None:
        """The lower end of the speed."""
        return None if self.gflops is None else self.gflops * (1 - largest_error())


class _TileTraffic(Observer):
    """Counts waits at barriers, and follows elements of A and B, which all differ, to shared memory."""

    def start(self, prepared: Any) -> None:
        super().start(prepared)
        self.waits = 0
        self._interval: Counter[Any] = Counter()  # of a warp of a chunk of blocks: the barriers that it has passed
        self._loaded: dict[int, list[np.ndarray]] = defaultdict(list)  # by interval
        self._reads: Counter[int] = Counter()
        self._stored: list[np.ndarray] = []
        self.loads = 0.0  # from shared memory, once for each address in an interval
        self._addresses: defaultdict[Any, set[Hashable]] = defaultdict(set)

    def watch(self, array: Any) -> Any:
        return None if array.space == "local" else self._seen

    def _seen(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        vector, space = site.vector, pattern.array.space
        if (space, site.op) == ("shared", "load"):
            count = vector.count(pattern.mask)
            self._reads[self._interval[vector]] += count
            address = base, pattern.once("address", lambda: _address(pattern))
            if address not in self._addresses[vector]:
                self._addresses[vector].add(address)
                self.loads += count / pattern.width  # a vector is one load, and is seen element by element
        elif (space, site.op) == ("global", "load"):
            self._loaded[self._interval[vector]].append(_values_of_lanes(vector, pattern, value))
        elif space == "shared":
            self._stored.append(_values_of_lanes(vector, pattern, value))

    def copy_started(self, site: Any, pattern: Any, base: int, values: tuple[Any, ...]) -> None:
        here = self._loaded[self._interval[site.vector]]
        here += [_values_of_lanes(site.vector, pattern, value) for value in values]

    def barrier(self, arrivals: Any, complete: bool) -> None:
        for vector, mask in arrivals:
            self.waits += vector.warps_active(mask)
            self._interval[vector] += 1
            self._addresses[vector].clear()

    def overlap(self) -> float:
        """Return `Costs.overlap`; an element that is also loaded at another time counts as loaded then."""
        most = max(self._reads.values(), default=0)
        early: list[np.ndarray] = []
        apart: list[np.ndarray] = []
        for interval, values in self._loaded.items():
            (early if self._reads[interval] > most / 2 else apart).extend(values)
        stored = np.intersect1d(_distinct(self._stored), _distinct(early + apart))
        return float(np.isin(stored, _distinct(apart), invert=True).mean()) if stored.size else 0.0


def _address(pattern: Any) -> Hashable:
    """Return what two accesses of a warp have in common if their lanes access the same elements, beside their base."""
    offsets, mask = pattern.offsets, pattern.vector.full(pattern.mask)
    return pattern.array.name, pattern.width, b"" if offsets is None else offsets.tobytes(), mask.tobytes()


def _values_of_lanes(vector: Any, pattern: Any, value: Any) -> np.ndarray:
    """Return the values of the lanes that take part."""
    return np.unique(np.broadcast_to(value, vector.shape)[vector.full(pattern.mask)])


def _distinct(values: list[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([np.empty(0, np.float32), *values]))


class _LongProduct(NamedTuple):
    """A length of K, and the columns of A and rows of B that are not zero."""

    K: int
    filled: tuple[int, ...]


def costs(kernel: Any, tile: Size, threads: Size, seed: int = 0, timed: bool = True) -> Costs:
    """Count a launch of several tiles, whose K the seed draws; simulate the machine code for its speed.

    Raise WrongProduct if this launch computes something else, and SimulatorError if it cannot run.
    """
    (down, across), rng = tile, np.random.default_rng([seed, *tile])
    M, N, K = _TILES * down, _TILES * across, int(rng.choice(_DEPTHS))
    A, B = _matrices(rng, M, N, K)
    C = np.full((M, N), np.nan, np.float32)
    flow = _TileTraffic()
    run = Simulation(kernel, watching=(flow,))[(_TILES, _TILES), threads](A, B, C)
    if not _is_product(C, A, B):
        raise WrongProduct(f"C is not A @ B for M, N and K of {M}, {N} and {K}")
    multiplications = M * N * K / WARP_SIZE
    counted = Costs(
        run.traffic.select(space="global", op="load").sectors / multiplications,
        flow.waits / multiplications,
        flow.loads / WARP_SIZE / multiplications,
        flow.overlap(),
    )
    K = int(rng.choice(_LONG_DEPTHS))
    some = {
        *range(_FILLED_AT_ENDS),
        *range(K - _FILLED_AT_ENDS, K),
        *rng.choice(K, _FILLED_AT_RANDOM, replace=False).tolist(),
    }
    long = _LongProduct(K, tuple(sorted(some)))
    found = (
        _with_machine_code(kernel, tile, threads, long, counted)
        if timed
        else replace(counted, unknown="it was not compiled")
    )
    if found.gflops is None:  # then no machine code has shown that C is right
        _long_product(kernel, tile, threads, K, rng)
    return found if found.compiled else replace(found, doubt=room_in_doubt(tile, threads))


def _with_machine_code(kernel: Any, tile: Size, threads: Size, long: _LongProduct, counted: Costs) -> Costs:
    """Add what the machine code tells, or why it tells nothing."""
    try:
        return _timed_by_the_model(kernel, tile, threads, long, counted)
    except WrongProduct:
        raise
    except NoMachineCode as error:
        return replace(counted, unknown=str(error))
    except UnknownInstruction as error:
        told = f"the model does not know {error}, which its machine code has"
        return replace(counted, unknown=told, compiled=True)
    except ValueError as error:
        return replace(counted, unknown=str(error), compiled=True)


def no_room(kernel: Any, threads: Size) -> str:
    """Say why no GPU can launch blocks of so many threads, as far as there is machine code; "" if one can."""
    try:
        code = machine_code(kernel, MATRICES)
    except ValueError:  # the launches say better what is wrong with the kernel
        return ""
    size, gpu = prod(threads), measurements.load("ladder").provenance
    if occupancy(size, code.registers, code.shared_bytes, gpu).blocks:
        return ""
    return (
        f"no GPU can launch this kernel: it has {code.registers} registers for each of {size:,} threads, "
        f"{code.registers * size:,} in all, and a multiprocessor has {gpu['registers_per_multiprocessor']:,}. Let a "
        "thread compute fewer elements, or a block have fewer threads"
    )


def room_in_doubt(tile: Size, threads: Size) -> str:
    """Say why blocks of so many threads may have no room, where no machine code tells their registers; "" if not.

    A thread that keeps its sums in registers, as all fast kernels do, has one for each, and three more: for an element
    of A, for one of B, and for the loop. A kernel with its sums elsewhere may need fewer.
    """
    size, results = prod(threads), ceil_div(prod(tile), prod(threads))
    gpu, least = measurements.load("ladder").provenance, min(results + _BESIDE_SUMS, MOST_REGISTERS)
    if occupancy(size, least, 0, gpu).blocks:
        return ""
    return (
        f"with its {results} sums in registers, each of {size:,} threads has at least {least} of them, and a "
        f"multiprocessor has no room for such a block: only the compiler tells whether a GPU can launch this kernel"
    )


def _long_product(kernel: Any, tile: Size, threads: Size, K: int, rng: np.random.Generator) -> None:
    """Raise WrongProduct if C of one tile is wrong for a long K."""
    M, N = tile
    A, B = _matrices(rng, M, N, K)
    C = np.full((M, N), np.nan, np.float32)
    run_uncounted(kernel, ((1, 1), threads), (A, B, C), most_steps(tile, threads, K))
    if not _is_product(C, A, B):
        raise WrongProduct(f"C is not A @ B for M, N and K of {M}, {N} and {K}")


def most_steps(tile: Size, threads: Size, K: int) -> int:
    """Return how many iterations of loops a warp may make: four loops around each multiplication, in 3×3 blocks."""
    return max(200_000, 4 * 3 * 3 * K * ceil_div(prod(tile), prod(threads)))


def _matrices(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B, in which no number is there twice."""
    numbers = (rng.permutation((M + N) * K) + 1) / np.float32(1 << 22)
    return numbers[: M * K].astype(np.float32).reshape(M, K), numbers[M * K :].astype(np.float32).reshape(K, N)


def _is_product(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> bool:
    product = A.astype(np.float64) @ B  # of positive numbers: it is the sum of absolute products, too
    return bool((np.abs(C - product) <= _LARGEST_ERROR * product).all())


def _timed_by_the_model(kernel: Any, tile: Size, threads: Size, long: _LongProduct, counted: Costs) -> Costs:
    """Add what the machine code tells: its instructions, and the speed of a launch on large matrices."""
    down, across = tile
    launch = ProductLaunch(
        machine_code(kernel, MATRICES),
        lambda M, N, K: ((ceil_div(N, across), ceil_div(M, down)), threads),
        (_LARGE // down * down, _LARGE // across * across, _LARGE),
        Multiprocessor.measured(measurements.load("latencies")),
        measurements.load("ladder").provenance,
    )
    _check(launch, long)
    simulated = [each for stream in launch.loop for each in stream]
    read = [i for i in simulated if i.kind == "shared load"]
    each = launch.iterations / len({i.iteration for i in simulated}) / (down * across * _LARGE / WARP_SIZE)
    lost = sum(max(i.wavefronts - ceil_div(i.bytes, WORD_BYTES), 0) for i in read)
    found = replace(
        counted,
        compiled=True,
        wavefronts=sum(i.wavefronts for i in read) * each,
        reads=len(read) * each,
        instructions=len(simulated) * each,
        gflops=launch.gflops(),
    )
    advice = _advice(show_machine_code(kernel, MATRICES, threads), down * across / prod(threads), lost * each, found)
    return replace(found, advice=(*advice,))


def _advice(loop: InnerLoop, results: float, lost: float, costs: Costs) -> Iterator[tuple[str, str]]:
    """Say what the inner loop's machine code tells a thread with so many results to change.

    lost: wavefronts for a multiplication that bank conflicts cost.
    """
    counts, code = loop.counts, loop.code
    products = max(counts.get("multiply-add", 0), 1)
    if code.spilled_bytes:
        told = f"a thread spills {code.spilled_bytes} bytes of registers to memory: let it compute fewer elements."
        yield INSTRUCTIONS, told
    elif code.registers == MOST_REGISTERS:
        told = (
            f"a thread uses all {MOST_REGISTERS} registers: try fewer numbers, and keep them if the prediction rises."
        )
        yield "", told
    if counts.get("address", 0) > products / 2:
        yield (
            INSTRUCTIONS,
            f"the inner loop has {counts['address'] / products:.1f} instructions of addresses for a multiplication. "
            "numba tests whether a signed index is negative, and one of 64 bits takes two registers: make indices of "
            "uint32(cuda.threadIdx.x).",
        )
    if costs.wavefronts and lost > costs.wavefronts / 3:
        yield (
            WAVEFRONTS,
            f"bank conflicts cost {lost:.2g} of {costs.wavefronts:.2g} wavefronts of shared memory for a "
            "multiplication: let neighbouring threads read neighbouring elements, or make the rows of the tile longer.",
        )
    if products <= results:
        yield (
            "",
            "the inner loop stayed rolled, with one k in each iteration: write two steps in it, and read the elements "
            "of the next k into other variables before you multiply these.",
        )
    if results <= _FEW_RESULTS and code.registers + results * 3 / 2 <= MOST_REGISTERS:
        yield (
            "",
            f"a thread keeps {results:.0f} results in {code.registers} registers: with twice as many, such as 8×16 in "
            "a tile of 128×256, each element that it reads is used more often, and sectors and barriers fall.",
        )
    if (queue := lost_in_queues([each.text for each in loop.body])) > _CYCLES_IN_QUEUE:
        yield (
            "",
            f"a multiplication waits {queue:.2f} cycles in the queue of a register bank. The compiler chooses the "
            "registers: try another order of the multiplications, and keep it only if the predicted speed rises.",
        )


def _executed(run: Any, first: int = 0, last: float = math.inf) -> int:
    """Return how many of the instructions that all warps of a run executed are at these places of the code."""
    return sum(first <= place <= last for warp in run.executed for place in warp)


def _check(launch: ProductLaunch, long: _LongProduct) -> None:
    """Raise ValueError if the loop that is simulated is not what the large launch does, or not all that it does.

    Raise WrongProduct if C is wrong for a long K.
    """
    run, _ = launch.first_run
    try:
        longer = launch.run(*long)
    except WrongBlock as error:
        raise WrongProduct(str(error)) from error
    first, last = main_loop(run) or (0, -1)
    added = _executed(longer) - _executed(run)
    added_in_loop = _executed(longer, first, last) - _executed(run, first, last)
    if added_in_loop < _SHARE_IN_LOOP * added:
        part = added_in_loop / added
        raise ValueError(f"only {100 * part:.0f} % of the work for each k is in one loop, and the model simulates one")
    M, N, K = launch.size
    large = tuple(np.zeros(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    begun = run_block(launch.code, large, launch.block, launch.grid, until=_FIRST_INSTRUCTIONS)
    if not {*chain(*begun.executed)} <= {*chain(*run.executed)}:
        raise ValueError(
            f"on matrices of {M:,} rows it does something else than on those of a tile, which are simulated"
        )
