"""bfloat16 as fast as the library: copies two tiles ahead, and the next products begin before the last have ended.

Idea: `wgmma_swizzled` copies, waits, multiplies and waits again. Here four pairs of tiles, 192 KiB of dynamic shared
memory, take turns. While the tensor cores multiply pair k - 1, the threads start the products of pair k, then the
copies of pair k + 2, and only then wait for the products of k - 1: the tensor cores never run dry. One barrier for each
pair of tiles suffices. Those of k + 2 go where the tiles of k - 2 were: every thread waited for their products before
the barrier.
Launch: blocks of 256 threads, two warpgroups, one for each 128×256 tile of C, in bands; `dynamic_bytes` of dynamic
shared memory. One block fills a multiprocessor.
Edges: as `wgmma_swizzled`, whose tiles these are.
Loads: K (1/128 + 1/256) elements of 2 bytes per element of C from global memory, in 16 bytes.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on wgmma and cp.async; the schedule is derived here.
"""

from functools import cache

from numba import cuda, float32, uint16

from .async_copy import commit_copies, copy8_async, wait_copies
from .tensor_cores_bf16 import bits_or_zero
from .warpgroup import (
    BF16,
    F16,
    THREADS,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    wait_for_products,
)
from .wgmma_results import corner_of_tile, launch_tiles, store_results
from .wgmma_swizzled import COLUMNS, DEPTH, PANEL, RESULTS, ROWS, place_in_A, place_in_B

#: Pairs of tiles; how many pairs ahead the copies are; the elements of a pair, and where its B begins.
STAGES, AHEAD = 4, 2
B_START = ROWS * DEPTH
PAIR = B_START + DEPTH * COLUMNS
wait = wait_for_products(COLUMNS)
FORMS = {"bfloat16": BF16, "float16": F16}


@cuda.jit(device=True)
def start_copies(A, B, tiles, first, top, left, start):
    """Start to copy the tiles at `start` to the pair at `first`, 16 bytes at a time, zeros outside."""
    row, k = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8 * 8
    for i in range(0, ROWS, 32):
        inside = top + row + i < A.shape[0] and start + k < A.shape[1]
        copy8_async(tiles, first + place_in_A(row + i, k), A, top + row + i, start + k, inside)
    k, col = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32 * 8
    for i in range(0, DEPTH, 8):
        inside = start + k + i < B.shape[0] and left + col < B.shape[1]
        copy8_async(tiles, first + B_START + place_in_B(k + i, col), B, start + k + i, left + col, inside)


@cuda.jit(device=True)
def store_tiles(A, B, tiles, first, top, left, start):
    """Store the tiles at `start` to the pair at `first` element by element, zeros outside."""
    for i in range(cuda.threadIdx.x, ROWS * DEPTH, 2 * THREADS):
        row, k = i // DEPTH, i % DEPTH
        tiles[first + place_in_A(row, k)] = bits_or_zero(A, top + row, start + k)
    for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, 2 * THREADS):
        k, col = i // COLUMNS, i % COLUMNS
        tiles[first + B_START + place_in_B(k, col)] = bits_or_zero(B, start + k, left + col)


@cuda.jit(device=True)
def bring(A, B, tiles, pair, top, left):
    """Start to copy a pair of tiles to its place; beyond the last, nothing. Either is a group of copies."""
    if pair * DEPTH < B.shape[0]:
        start_copies(A, B, tiles, pair % STAGES * PAIR, top, left, pair * DEPTH)
    commit_copies()


@cache
def wgmma_staged(dtype=float32, form="bfloat16"):
    """Return the kernel for one of the formats of 16 bits: "bfloat16" or "float16"."""
    multiply = products(FORMS[form], COLUMNS)

    @cuda.jit(device=True)
    def multiply_pair(tiles, first, rows, acc, later):
        """Start the products of the pair of tiles at `first` as one group; `later` is 0 for the first pair."""
        fence_registers()
        for k in range(0, DEPTH, 16):
            a = descriptor(tiles, first + rows * DEPTH + k, 0, 1024, 128)
            b = descriptor(tiles, first + B_START + k * 64, 2 * PANEL, 1024, 128)
            multiply(acc, a, b, later + k > 0)
        commit_products()

    @cuda.jit
    def wgmma_staged(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, uint16 with the bits of the format, C is M×N, float32; C-ordered."""
        tiles = cuda.shared.array(0, uint16, 1024)
        acc = cuda.local.array(RESULTS, float32)
        top, left = corner_of_tile(ROWS, COLUMNS)
        if top >= C.shape[0]:
            return
        rows = cuda.threadIdx.x // THREADS * 64
        if A.shape[1] % 8 == 0 and B.shape[1] % 8 == 0:
            bring(A, B, tiles, 0, top, left)
            bring(A, B, tiles, 1, top, left)
            pair = 0
            while True:  # at least once: the results then stay in their registers, which no instruction copies
                wait_copies(1)
                fence_proxy()
                cuda.syncthreads()  # this pair of tiles is there for all, and the pair before the last is read
                multiply_pair(tiles, pair % STAGES * PAIR, rows, acc, pair)
                bring(A, B, tiles, pair + AHEAD, top, left)
                wait(acc, 1)
                pair += 1
                if pair * DEPTH >= B.shape[0]:
                    break
            wait(acc, 0)
        else:
            for start in range(0, B.shape[0], DEPTH):
                store_tiles(A, B, tiles, 0, top, left, start)
                fence_proxy()
                cuda.syncthreads()
                multiply_pair(tiles, 0, rows, acc, start)
                wait(acc, 0)
                cuda.syncthreads()
        store_results(C, top + rows, left, acc, COLUMNS)

    return wgmma_staged


def launch(M, N, K, **params):
    """Return (grid, block) for an M×N result: two warpgroups per 128×256 tile of C."""
    return launch_tiles(M, N, ROWS, COLUMNS)


def dynamic_bytes(**params):
    """Return the bytes of dynamic shared memory per block: four pairs of tiles."""
    return STAGES * PAIR * 2
