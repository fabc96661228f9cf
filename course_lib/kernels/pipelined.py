"""Tiles by asynchronous copies: two or three pairs in flight while one is used, and no register in between.

Idea: `prefetched` holds the next tile in registers until it can be stored. cp.async copies from global to shared
memory by itself: a thread starts the copies of later tiles, closes them into a group, and waits only for the group
that it needs now. With S stages S - 1 pairs of tiles are in flight, so the work on S - 1 tiles hides each load.
Launch: blocks of T×T threads, rounded up to cover C, as before; S times the shared memory of tiled.
Loads: 2 K / T per element of C from global memory, exactly as many as tiled; the instructions that stored them to
shared memory are gone, their wavefronts are not: at L1 and shared memory 9 % more are counted than of tiled (T = 32).
Source: the CUDA C++ Programming Guide on asynchronous copies (cp.async, compute capability 8.0 and later).
"""

from functools import lru_cache

from numba import cuda, float32, uint64

from .async_copy import commit_copies, copy_async, wait_copies
from .rung import Rung, square_blocks


@lru_cache
def pipelined(tile_width=16, stages=3, dtype=float32):
    """Return the kernel for `stages` pairs of tiles of tile_width×tile_width elements: `kernel[grid, block](A, B, C)`.

    Raise ValueError for fewer than two stages.
    """
    if stages < 2:
        raise ValueError(f"a pipeline has two stages or more, not {stages}")
    T = tile_width
    rows = stages * T
    ahead = (stages - 1) * T
    pending = stages - 2

    @cuda.jit(device=True)
    def fetch(A, B, A_tiles, B_tiles, stage, row, col, start):
        """Start the copies of the thread's element of both tiles at `start` into the rows from `stage` on."""
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        if start < A.shape[1]:
            if row < A.shape[0] and start + tx < A.shape[1]:
                copy_async(A_tiles, stage + ty, tx, A, row, start + tx)
            else:
                A_tiles[stage + ty, tx] = 0
            if start + ty < A.shape[1] and col < B.shape[1]:
                copy_async(B_tiles, stage + ty, tx, B, start + ty, col)
            else:
                B_tiles[stage + ty, tx] = 0
        commit_copies()  # after the last tile an empty group: there stays one group for each tile

    @cuda.jit
    def pipelined(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of T×T threads."""
        A_tiles = cuda.shared.array((rows, T), dtype)
        B_tiles = cuda.shared.array((rows, T), dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
        K = A.shape[1]
        acc = dtype(0)
        now, free = 0, ahead
        for start in range(0, ahead, T):
            fetch(A, B, A_tiles, B_tiles, start, row, col, start)
        for start in range(0, K, T):
            wait_copies(pending)  # this thread's part of the oldest pair has arrived
            cuda.syncthreads()  # all threads' have, and no thread reads the stage that is filled next
            fetch(A, B, A_tiles, B_tiles, free, row, col, start + ahead)
            for k in range(T):
                acc += A_tiles[uint64(now + ty), k] * B_tiles[uint64(now + k), tx]
            free = now
            now += T
            if now == rows:
                now = 0
        if row < C.shape[0] and col < C.shape[1]:
            C[row, col] = acc

    return pipelined


RUNG = Rung(
    "pipelined",
    "Asynchronous copies, three buffers",
    pipelined,
    square_blocks,
    params={"tile_width": 16, "stages": 3},
    lesson="05_prefetching",
    change="prefetched, copies without a register, three buffers",
)
