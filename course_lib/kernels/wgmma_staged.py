"""Copies two tiles ahead, and products that begin before the last have ended: bfloat16 and float16.

Idea: `wgmma_swizzled` copies, waits, multiplies and waits again. Here four pairs of tiles, 192 KiB of dynamic shared
memory, take turns. While the tensor cores multiply pair k - 1, the threads start the products of pair k, then the
copies of pair k + 2, and only then wait for the products of k - 1: one group is always in flight. One barrier for each
pair of tiles suffices. Those of k + 2 go where the tiles of k - 2 were: every thread waited for their products before
the barrier.
Launch: blocks of 256 threads, two warpgroups, one for each 128×256 tile of C, in bands; `dynamic_bytes` of dynamic
shared memory. One block fills a multiprocessor.
Edges: as `wgmma_swizzled`, whose tiles these are.
Loads: K (1/128 + 1/256) elements of 2 bytes per element of C from global memory, in 16 bytes.
Limit: nine tenths of cuBLAS at n = 8192 (recording "wgmma"). The threads that start the
products compute the addresses of the copies too, which `wgmma_bulk` leaves to the TMA; and nothing multiplies
while a block stores its results.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on wgmma and cp.async; the schedule is derived here.
"""

from functools import cache

from numba import cuda, float32, int32, uint16, uint32, uint64

from .async_copy import commit_copies, copy8_async, wait_copies
from .rung import VECTORS, Rung
from .tensor_core_formats import as_bfloat16, lines_of_bfloat16
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
from .wgmma_results import bands, corner_of_tile, store_results
from .wgmma_swizzled import COLUMNS, DEPTH, PANEL, RESULTS, ROWS, place_in_A, place_in_B

#: Pairs of tiles; how many pairs ahead the copies are; where the B of a pair begins; elements of it, bytes of all.
STAGES, AHEAD = 4, 2
B_START = ROWS * DEPTH
PAIR = B_START + DEPTH * COLUMNS
DYNAMIC_BYTES = 2 * STAGES * PAIR
wait = wait_for_products(COLUMNS)
FORMS = {"bfloat16": BF16, "float16": F16}


@cuda.jit(device=True)
def bring(A, B, tiles, pair, top, left):
    """Start to copy a pair of tiles to its place, zeros outside; beyond the last, nothing. A group of copies.

    Every 8 rows of A, or of B, a thread's pieces are placed alike, so that only the first place is computed. Tiles
    inside A and B are copied without a test for each piece.
    """
    start, first, thread = pair * DEPTH, pair % STAGES * PAIR, uint32(cuda.threadIdx.x)
    row, a = int32(thread // uint32(8)), int32(thread % uint32(8) * uint32(8))
    k, b = int32(thread // uint32(32)), int32(thread % uint32(32) * uint32(8))
    to_a, to_b = first + place_in_A(row, a), first + B_START + place_in_B(k, b)
    if start + DEPTH <= B.shape[0] and top + ROWS <= A.shape[0] and left + COLUMNS <= B.shape[1]:
        for i in range(4):
            copy8_async(tiles, to_a + 32 * 64 * i, A, top + row + 32 * i, start + a)
        for i in range(8):
            copy8_async(tiles, to_b + 8 * 64 * i, B, start + k + 8 * i, left + b)
    elif start < B.shape[0]:
        for i in range(4):
            inside = top + row + 32 * i < A.shape[0] and start + a < A.shape[1]
            copy8_async(tiles, to_a + 32 * 64 * i, A, top + row + 32 * i, start + a, inside)
        for i in range(8):
            inside = start + k + 8 * i < B.shape[0] and left + b < B.shape[1]
            copy8_async(tiles, to_b + 8 * 64 * i, B, start + k + 8 * i, left + b, inside)
    commit_copies()


@cuda.jit(device=True)
def store_tiles(A, B, tiles, top, left, start):
    """Store the tiles at `start` to the first pair element by element, zeros outside."""
    for i in range(cuda.threadIdx.x, ROWS * DEPTH, 2 * THREADS):
        row, k = i // DEPTH, i % DEPTH
        tiles[place_in_A(row, k)] = bits_or_zero(A, top + row, start + k)
    for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, 2 * THREADS):
        k, col = i // COLUMNS, i % COLUMNS
        tiles[B_START + place_in_B(k, col)] = bits_or_zero(B, start + k, left + col)


def products_of_pairs(form, columns):
    """Return the device function that multiplies a pair of tiles, for a format and so many columns of C."""
    multiply = products(FORMS[form], columns)

    @cuda.jit(device=True)
    def multiply_pair(tiles, first, rows, acc, later):
        """Start the products of the pair of tiles at `first` as one group; `later` is 0 for the first pair."""
        a = descriptor(tiles, first + rows * DEPTH, 0, 1024, 128)
        b = descriptor(tiles, first + B_START, 2 * PANEL, 1024, 128)
        fence_registers()
        for i in range(4):  # 16 columns of A, 16 rows of B: in units of 16 bytes, as descriptors count
            multiply(acc, a + uint64(2 * i), b + uint64(128 * i), later + i > 0)
        commit_products()

    return multiply_pair


@cache
def wgmma_staged(dtype=float32, form="bfloat16"):
    """Return the kernel for one of the formats of 16 bits: "bfloat16" or "float16"."""
    multiply_pair = products_of_pairs(form, COLUMNS)

    @cuda.jit
    def wgmma_staged(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, uint16 with the bits of the format, C is M×N, float32; C-ordered."""
        tiles = cuda.shared.array(0, uint16, 1024)
        acc = cuda.local.array(RESULTS, float32)
        top, left = corner_of_tile(ROWS, COLUMNS)
        if top >= C.shape[0]:
            return
        rows = int32(uint32(cuda.threadIdx.x) // uint32(THREADS)) * 64
        if B.shape[0] > 0 and A.shape[1] % 8 == 0 and B.shape[1] % 8 == 0:
            bring(A, B, tiles, 0, top, left)
            bring(A, B, tiles, 1, top, left)
            wait_copies(1)
            fence_proxy()
            cuda.syncthreads()
            pair = 0
            while True:  # at least once: the results then stay in their registers, which no instruction copies
                multiply_pair(tiles, pair % STAGES * PAIR, rows, acc, pair)
                bring(A, B, tiles, pair + AHEAD, top, left)
                wait_copies(1)
                fence_proxy()
                wait(acc, 1)
                cuda.syncthreads()  # the next pair of tiles is there for all, and the one before this is read
                pair += 1
                if pair * DEPTH >= B.shape[0]:
                    break
            wait(acc, 0)
        else:
            for start in range(0, max(1, B.shape[0]), DEPTH):
                store_tiles(A, B, tiles, top, left, start)
                fence_proxy()
                cuda.syncthreads()
                multiply_pair(tiles, 0, rows, acc, start)
                wait(acc, 0)
                cuda.syncthreads()
        store_results(C, top + rows, left, acc, COLUMNS)

    return wgmma_staged


RUNG = Rung(
    "wgmma_staged",
    "Copies two tiles ahead",
    wgmma_staged,
    bands(ROWS, COLUMNS),
    dynamic_bytes=DYNAMIC_BYTES,
    operand=lines_of_bfloat16,
    multiplied=as_bfloat16,
    **VECTORS,
)
