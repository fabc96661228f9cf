"""Launches by name: `launch("tiled")` runs one with a trace; `python tests/launches/samples.py FOLDER` writes all."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import kernels_with_bugs as corpus

from course_lib import simulate
from course_lib.kernels import LADDER, rung
from launches import kernels

#: Rungs that are simulated in a moment: those before the register tiles.
QUICK = LADDER[: LADDER.index(rung("register_1d"))]


def numbers(*shape, seed=0):
    """Small whole numbers as float32, the same ones every time."""
    return np.random.default_rng(seed).integers(1, 10, shape).astype(np.float32)


def matrices(M, K, N, lowest=1):
    """A (M×K) and B (K×N) of small whole numbers, and a C (M×N) of zeros, which no product of positive ones equals."""
    rng = np.random.default_rng(3)
    A, B = (rng.integers(lowest, 10, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    return A, B, np.zeros((M, N), np.float32)


def multiply(r, A, B, **params):
    """Run a rung of the ladder on the simulator; return C, which holds NaN where nothing was stored, and the run."""
    (M, K), N = A.shape, B.shape[1]
    params, C = {**r.params, **params}, np.full((M, N), np.nan, np.float32)
    launched = simulate(r.make(**params))[*r.launch(M, N, K, **params), 0, r.dynamic_bytes]
    return C, launched(r.operand(A), r.operand(B), C)


def product(name, M, K, N, **params):
    """A rung of the ladder on C = A·B."""
    step = rung(name)

    def run():
        grid, block = step.launch(M, N, K, **params)
        A, B = (step.operand(X) for X in (numbers(M, K), numbers(K, N, seed=1)))
        arguments = A, B, np.zeros((M, N), np.float32)
        return simulate(step.make(**params), trace=True)[grid, block](*arguments)

    return run


def plain(kernel, grid, block, *arguments):
    """A kernel on copies of its arguments."""
    return lambda: simulate(kernel, trace=True, strict=False)[grid, block](*(a.copy() for a in arguments))


def bug(name, which="bug"):
    """One of the kernels with bugs."""

    def run():
        pair = corpus.load(name)
        launcher = simulate(getattr(pair, which), trace=True, strict=False)[pair.launch(which)]
        return launcher(*pair.arguments(seed=0))

    return run


COMPLEX = (numbers(3, 4) / 7 - 1j * numbers(3, 4, seed=1) * 10.0 ** np.arange(-2, 10, 3)).astype(np.complex64)
LARGE = numbers(3, 4).astype(np.int64) * np.int64(10) ** np.arange(0, 19, 5) + 1


LAUNCHES = {
    "naive": product("naive", 4, 4, 4, block_width=2),
    "naive_ragged": product("naive", 3, 5, 3, block_width=2),
    "naive_16": product("naive", 16, 16, 16, block_width=4),
    "naive_65": product("naive", 65, 3, 65, block_width=16),
    "tiled": product("tiled", 4, 4, 4, tile_width=2),
    "tiled_16": product("tiled", 16, 16, 16, tile_width=4),
    "tiled_two_warps": product("tiled", 8, 16, 8, tile_width=8),
    "prefetched": product("prefetched", 8, 8, 8, tile_width=2),
    "prefetched_16": product("prefetched", 16, 16, 16, tile_width=4),
    "bank_conflicts": product("bank_conflicts", 32, 32, 32, tile_width=32),
    "padded": product("padded", 32, 32, 32, tile_width=32),
    "outer_product": product("outer_product", 16, 16, 64),
    "register_2d": product("register_2d", 128, 8, 128),
    "register_2d_deep": product("register_2d", 128, 16, 128),
    "vectorized": product("vectorized", 128, 16, 128),
    "best": product("best", 128, 16, 256),
    "tensor_cores": product("tensor_cores", 16, 16, 8),
    "tensor_cores_bf16": product("tensor_cores_bf16", 16, 16, 8),
    "groups_in_flight": plain(
        kernels.groups_in_flight, 1, 128, numbers(64, 64), numbers(64, 64, seed=1), np.zeros((64, 64), np.float32)
    ),
    "reduction": plain(kernels.reduction, 2, kernels.THREADS, numbers(100), np.zeros(1, np.float32)),
    "stencil": plain(kernels.stencil, 2, 32, numbers(50), np.zeros(50, np.float32)),
    "histogram": plain(kernels.histogram, 2, 32, numbers(50).astype(np.int32), np.zeros(10, np.int32)),
    "transpose": plain(kernels.transpose, (2, 2), (8, 8), numbers(12, 10), np.zeros((10, 12), np.float32)),
    "device_function": plain(kernels.with_a_device_function, 2, 32, numbers(50), np.zeros(50, np.float32)),
    # the second block returns before it assigns what the first gathers in
    "returns_early": plain(kernels.row_sums, 2, 4, numbers(4, 3), np.zeros(4, np.float32)),
    "racy": bug("missing_second_barrier"),
    "race_in_a_warp": bug("missing_syncwarp"),
    "out_of_bounds": plain(kernels.beyond_the_end, 2, 32, numbers(50), np.zeros(50, np.float32)),
    "out_of_bounds_2d": plain(kernels.one_row_too_many, 1, (4, 4), numbers(4, 4), np.zeros((4, 4), np.float32)),
    "divergent": bug("early_return_before_barrier"),
    # blocks of which no warp is full, several elements a thread, an array of three dimensions
    "odd_blocks": plain(kernels.two_each, (2, 1), (5, 8), numbers(8, 3), numbers(3, 20), np.zeros((8, 20), np.float32)),
    "three_dimensions": plain(kernels.planes, 2, (4, 3, 3), numbers(3, 3, 8), np.zeros((3, 3, 8), np.float32)),
    "complex": plain(kernels.doubled, 1, 12, COMPLEX, np.zeros((3, 4), np.complex64)),
    "large_integers": plain(kernels.doubled, 1, 12, LARGE, np.zeros((3, 4), np.int64)),
    "half": plain(kernels.doubled, 1, 12, (numbers(3, 4) / 7).astype(np.float16), np.zeros((3, 4), np.float16)),
    "one_thread": plain(kernels.doubled, 1, 1, numbers(1, 1), np.zeros((1, 1), np.float32)),
    # what lanes get from other lanes, and votes
    "shuffles": plain(kernels.shuffled, 2, 64, numbers(128), np.zeros(128, np.float32), np.zeros(2, np.int32)),
    # blocks that read what other blocks have stored
    "exchange": plain(kernels.exchange, 2, 1, np.zeros(2, np.int32), np.zeros(2, np.int32)),
    "lock": plain(kernels.count_under_a_lock, 3, 2, np.zeros(1, np.int32), np.zeros(1, np.int32)),
    "four_blocks_a_side": product("naive", 7, 3, 8, block_width=2),
    "eight_blocks_a_side": product("tiled", 16, 4, 15, tile_width=2),
    "exchanges": plain(kernels.exchanges, 2, 45, numbers(90) / 4, np.zeros((11, 90), np.float32)),
    "uninitialized": bug("uninitialised_tile_edge"),
}
#: Those that take a second or more: tests of all launches leave them to the night.
SLOW = ("best", "register_2d_deep", "padded", "vectorized")


@lru_cache(16)
def launch(name):
    """Run one of LAUNCHES; the run has a trace, which no test changes."""
    return LAUNCHES[name]()


if __name__ == "__main__":
    from course_lib.trace.viewer.payload import encode

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in LAUNCHES:
        text = encode(launch(name).trace)
        (folder / f"{name}.json").write_text(text)
        print(f"{name}: {len(text):,} characters")
