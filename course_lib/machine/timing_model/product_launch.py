"""The time of a launch of C = A·B on large matrices, from one block's machine code.

    code = machine_code(kernel, signature)
    launch = ProductLaunch(code, launch, (4096, 4096, 4096), multiprocessor, gpu)
    launch.timing().cycles, launch.gflops()

The emulator runs one block on a part of the matrices, with few columns of A; the iterations of its main loop are
simulated as many blocks execute them, and scaled to those that the large matrices need.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ...simulator.hardware import WARP_SIZE, ceil_div
from ...simulator.occupancy import occupancy
from ..machine_code.emulator import MAX_INSTRUCTIONS, BlockRun, run_block
from ..machine_code.instructions import MachineCode
from ..model.multiprocessor import Multiprocessor
from .from_machine_code import block_streams
from .instruction_streams import Instruction, InstructionStreams
from .simulation import REASONS
from .timing import SimulatedTiming, launch_cycles, simulate_warps

#: Blocks simulated in sequence in each place: the first ones begin in step, later ones do not.
ROUNDS = 2
#: Lengths of K that are run: the first in which the main loop has enough iterations alike.
DEPTHS = (96, 192, 384)
#: Instructions of a block for each k, all of its warps together, after which a run is given up.
_FOR_EACH_K = 2_000
#: The fewest iterations that are simulated; more, as long as a warp then executes no more than so many instructions.
FEWEST, INSTRUCTIONS = 6, 3000


class WrongBlock(ValueError):
    """The block does not compute its part of the product."""


@dataclass(frozen=True)
class LaunchTiming:
    """A simulated launch: cycles, and each reason's share of the warps' time."""

    cycles: float
    waits: Mapping[str, float]


@dataclass(frozen=True)
class ProductLaunch:
    """A launch of a kernel for C = A·B on large float32 matrices in C order.

    launch(M, N, K): its grid and block; size: M, N and K. blocks: those that a multiprocessor holds, None for as many
    as fit. part: None for a block that runs for all that it computes; else the rows and columns of C for which it runs,
    because its main loop reads all of a large matrix in each iteration, so that the first-level cache keeps nothing for
    the next one, as it would in a small run: then only the first iteration counts. cached: whether the second-level
    cache holds A and B when the launch begins. banks: whether registers wait for their banks, as in a GPU.
    """

    code: MachineCode
    launch: Callable[[int, int, int], tuple[Sequence[int], Sequence[int]]]
    size: tuple[int, int, int]
    multiprocessor: Multiprocessor
    gpu: Mapping[str, Any]
    blocks: int | None = None
    part: tuple[int, int] | None = None
    cached: bool = False
    banks: bool = True
    in_c: bool = False

    def gflops(self) -> float:
        """Return the speed, counting the multiplications that the product needs."""
        return 2 * prod(self.size) * self.multiprocessor.hertz / self.timing().cycles / 1e9

    def timing(self) -> LaunchTiming:
        """Simulate blocks of the kernel, and scale to the iterations that a block needs by its multiply-adds; once."""
        return self._timing

    @cached_property
    def _timing(self) -> LaunchTiming:
        """Blocks launched in sequence read one band of one matrix, until that is done, and all of the other one."""
        M, N, K = self.size
        band, other, lines = ("B", "A", M) if self.down_first else ("A", "B", N)
        _, begins, bands = np.unique(dict(zip("AB", self._places(), strict=True))[band], True, True)
        wave = np.arange(len(bands)) // self._together
        new = wave == (begins // self._together)[bands]  # blocks that begin together with the first one of their band
        again = "L2" if 4 * K * lines <= self.gpu["l2_bytes"] else "DRAM"
        shares = defaultdict[tuple[str, str], float](float)
        shares["DRAM", "DRAM"] += float(np.mean(wave == 0))
        shares["DRAM", again] += float(np.mean(new & (wave > 0)))
        shares["L2", again] += float(np.mean(~new))
        chosen = {("L2", "L2"): 1.0} if self.cached else shares
        waves = [(self._wave({band: one, other: two}), share) for (one, two), share in chosen.items() if share]
        parts = [(wave, share * wave.cycles) for wave, share in waves]
        each = sum(cycles for _, cycles in parts)
        return replace(
            _mixed(*parts), cycles=launch_cycles(each, len(bands), self.resident, self.gpu["multiprocessors"])
        )

    def _wave(self, served: Mapping[str, str]) -> LaunchTiming:
        """Simulate blocks that begin together, with the levels that serve A and B; cycles: those of each block.

        Blocks that do nothing but wait for the same lines go in step, and all of them wait for DRAM. Others drift
        apart, and take turns in being first. These are in step for the time in which they wait for global memory.
        """
        apart = self._simulated(served, in_step=False)
        if "DRAM" not in served.values():
            return _mixed((apart, self._cycles(apart)))
        together = self._simulated(served, in_step=True)
        waiting = apart.waits["global memory"]
        return _mixed((together, waiting * self._cycles(together)), (apart, (1 - waiting) * self._cycles(apart)))

    def _simulated(self, served: Mapping[str, str], in_step: bool) -> SimulatedTiming:
        # how many of the first blocks, as many as run together, load the same of A, and the same of B
        places = {name: place[: self._together] for name, place in zip("AB", self._places(), strict=True)}
        return simulate_warps(
            self._streams,
            self.multiprocessor,
            self.resident,
            served,
            self.code.shared_bytes,
            rounds=1 if self.part else ROUNDS,
            loaded_by={name: len(place) / len(np.unique(place)) for name, place in places.items()},
            in_step=in_step,
        )

    def _cycles(self, timing: SimulatedTiming) -> float:
        """Return the cycles of a block, with the iterations that it needs."""
        each = np.mean(timing.ended) if self.part else timing.cycles_per_iteration()
        return self.iterations * float(each)

    @cached_property
    def grid(self) -> tuple[int, ...]:
        return tuple(self.launch(*self.size)[0])

    @cached_property
    def block(self) -> tuple[int, ...]:
        return tuple(self.launch(*self.size)[1])

    @cached_property
    def resident(self) -> int:
        """The blocks that a multiprocessor holds at once in this launch; raise ValueError if none fits."""
        blocks = self.blocks
        if blocks is None:
            fit = occupancy(prod(self.block), self.code.registers, self.code.shared_bytes, self.gpu).blocks
            blocks = min(fit, ceil_div(prod(self.grid), self.gpu["multiprocessors"]))
        if not blocks:
            raise ValueError("no block of this launch fits on a multiprocessor")
        return blocks

    @cached_property
    def down_first(self) -> bool:
        """Whether neighbouring blocks of the grid compute different rows of C."""
        M, N, K = self.size
        return self.launch(M, N // 2, K)[0][0] == self.grid[0]

    @cached_property
    def tile(self) -> tuple[int, int]:
        """The rows and columns of C for which a block runs."""
        if self.part:
            return self.part
        x, y = (*self.grid, 1)[:2]
        down, across = (x, y) if self.down_first else (y, x)
        return ceil_div(self.size[0], down), ceil_div(self.size[1], across)

    @cached_property
    def _found(self) -> tuple[list[list[Instruction]], list[list[Instruction]], int, BlockRun]:
        """The streams of a block's warps, the iterations of them that are simulated, the run, and its length of K.

        Raise ValueError if the block does not compute its part of the product.
        """
        _, N, K = self.size
        columns = self.tile[1]
        for depth in DEPTHS:
            run = self.run(depth)
            pitches = {"A": (4 * depth, 4 * K), **dict.fromkeys("BC", (4 * columns, 4 * N))}
            streams = block_streams(run, pitches)
            if not self.banks:
                streams = [[each._replace(reads=(0, 0)) for each in stream] for stream in streams]
            loop = [_alike(stream, bool(self.part)) for stream in streams]
            if self.part or min(len({i.iteration for i in each}) for each in loop) >= FEWEST - 2:
                return streams, loop, depth, run
        raise ValueError("the main loop has too few iterations to be simulated")

    def run(self, depth: int, filled: Sequence[int] | None = None) -> BlockRun:
        """Run a block of the launch on its rows of A and columns of B, with a K of `depth`; raise WrongBlock.

        filled: the columns of A and rows of B that are not zero, if not all. A long K takes little time with few of
        them, and the run has the accesses to shared memory of these alone.
        """
        rows, columns = self.tile
        rng = np.random.default_rng(0)
        A = np.zeros((rows, depth), np.float32)
        B = np.zeros((depth, columns), np.float32)
        some = np.arange(depth) if filled is None else np.array(filled)
        A[:, some] = rng.random((rows, len(some)), np.float32)
        B[some] = rng.random((len(some), columns), np.float32)
        C = np.zeros((rows, columns), np.float32)
        sizes = tuple(map(np.int32, (rows, columns, depth))) if self.in_c else ()
        run = run_block(
            self.code,
            (A, B, C, *sizes),
            self.block,
            self.grid,
            names="ABCMNK",
            pointers=self.in_c,
            zeros=filled is not None,
            most=max(MAX_INSTRUCTIONS, _FOR_EACH_K * depth),
        )
        if not np.allclose(C, A @ B, rtol=1e-5):
            raise WrongBlock(f"the first block's part of C is wrong for a K of {depth}")
        return run

    @property
    def first_run(self) -> tuple[BlockRun, int]:
        """The run that is simulated, and the length of K in it."""
        return self._found[3], self._found[2]

    @property
    def loop(self) -> list[list[Instruction]]:
        """Of the streams of a block's warps, the iterations of the main loop that are simulated."""
        return self._found[1]

    @cached_property
    def _streams(self) -> InstructionStreams:
        return InstructionStreams(self.loop)

    @property
    def iterations(self) -> float:
        """The iterations of its main loop that a block executes in the launch.

        They follow from the multiplications: those that the product needs, of all that the block makes in a small run.
        """
        streams, loop, depth, _ = self._found
        products = sum(i.kind == "multiply-add" for stream in streams for i in stream)
        if not products:
            raise ValueError("the machine code has no multiply-adds")
        needed = prod(self.tile) * depth / WARP_SIZE
        simulated = sum(i.kind == "multiply-add" for stream in loop for i in stream)
        iterations = len({i.iteration for stream in loop for i in stream})
        products_of_one = simulated / iterations * (1 if self.part else needed / products)
        return prod(self.size) / prod(self.grid) / WARP_SIZE / products_of_one

    @property
    def _together(self) -> int:
        return int(self.resident * self.gpu["multiprocessors"])

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, for every block in launch order, the row and the column of its block of C.

        Those of a row read the same rows of A, those of a column the same columns of B.
        """
        down, across = np.divmod(np.arange(prod(self.grid)), self.grid[0])
        return (across, down) if self.down_first else (down, across)


def _mixed(*parts: tuple[SimulatedTiming | LaunchTiming, float]) -> LaunchTiming:
    """Combine timings with the cycles that are spent in each."""
    whole = sum(cycles for _, cycles in parts)
    waits = {reason: sum(cycles * timing.waits[reason] for timing, cycles in parts) / whole for reason in REASONS}
    return LaunchTiming(whole, waits)


def _alike(stream: Sequence[Instruction], once: bool) -> list[Instruction]:
    """Return the iterations of the main loop that multiply and load from global memory as most do; if `once`, one.

    The first one of kernels that load ahead multiplies nothing, and the last ones load nothing.
    """
    loaded, products = Counter[int](), Counter[int]()
    for i in stream:
        if i.iteration:
            loaded[i.iteration] += len(i.sectors) * (i.kind in ("load", "copy"))
            products[i.iteration] += i.kind == "multiply-add"
    numbers = sorted(products)
    if once or not numbers:
        return only(stream, set(numbers[:1]))
    usual = [float(np.median([*counts.values()])) for counts in (loaded, products)]
    # the last iteration leaves the loop, and may do some of what comes after it
    chosen = [n for n in numbers[:-1] if loaded[n] >= usual[0] / 2 and products[n] >= usual[1] / 2]
    long = sum(i.iteration in chosen for i in stream) / max(len(chosen), 1)
    return only(stream, set(chosen[: max(FEWEST, int(INSTRUCTIONS / max(long, 1)))]))


def only(stream: Sequence[Instruction], iterations: set[int]) -> list[Instruction]:
    """Return these iterations of a stream, without the code around the loop."""
    kept = [place for place, each in enumerate(stream) if each.iteration in iterations]
    new_places = {place: number for number, place in enumerate(kept)}
    return [
        stream[place]._replace(needs=tuple(new_places[need] for need in stream[place].needs if need in new_places))
        for place in kept
    ]
