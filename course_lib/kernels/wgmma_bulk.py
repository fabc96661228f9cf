"""Tiles brought by Hopper's Tensor Memory Accelerator (TMA): one thread starts the copies, none computes an address.

Idea: in `wgmma_staged` every thread computes where its twelve pieces of 16 bytes come from and go to, and tests edges.
Here thread 0 asks the TMA for whole tiles, which it swizzles, and fills with zeros outside of A and B. All
threads wait at a barrier in shared memory, which counts the bytes that have come. The shared memory is as large as that
of `wgmma_staged`: it holds four pairs of tiles, or six or eight pairs if they are narrower. A pair is copied to the
place of the last one that all have multiplied, so all other places hold pairs that have come or are on their way.
Measured on an H200, n = 8192: 8 % over wgmma_staged, and 99 % of cuBLAS with C in float32.
Launch: blocks of 256 threads, two warpgroups, one for each 128×256 tile of C, in bands; `dynamic_bytes` of dynamic
shared memory. One block fills a multiprocessor, so that tiles are computed in rounds. `fitted` chooses narrower tiles
where a GPU needs less time for their rounds: on an H200, 128 columns at n = 1024.
Edges: none to test, and where the last column of tiles has 64 columns or fewer it loads and multiplies no more.
Rows of A and B must begin on 16-byte boundaries; other matrices are refused at the launch.
Loads: K (1/128 + 1/256) elements of 2 bytes per element of C from global memory, by the TMA.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on wgmma, cp.async.bulk.tensor and mbarrier.
"""

from functools import cache, partial
from typing import Any

from numba import cuda, float32, int32, uint16, uint32, uint64

from .bulk_copy import WithMaps, expect_bytes, init_barrier, tile_copy, wait_barrier
from .rung import VECTORS, Rung
from .tensor_core_formats import as_bfloat16, as_float16, lines_of_bfloat16, lines_of_float16
from .warpgroup import THREADS, fence_proxy, wait_for_products
from .wgmma_results import bands, corner_of_tile, fitting_width, store_results
from .wgmma_staged import B_START, DYNAMIC_BYTES, PAIR, STAGES, products_of_pairs
from .wgmma_swizzled import COLUMNS, DEPTH, PANEL, ROWS

#: What one copy brings: all rows of A's tile, and a panel of B's.
A_BOX, B_BOX = (ROWS, DEPTH), (DEPTH, 64)
#: The columns of a tile at the right edge of C, where no more are left.
NARROW = 64
copy_A, copy_B = tile_copy(*A_BOX), tile_copy(*B_BOX)


def stages_of(columns):
    """Return how many pairs of tiles with so many columns fit into the shared memory of four of the widest."""
    return STAGES * PAIR // (B_START + DEPTH * columns)


def one_tile(form, columns):
    """Return the device function that computes a tile of C with so many columns, a multiple of 64."""
    multiply_pair, wait = products_of_pairs(form, columns), wait_for_products(columns)
    results, panels, stages = columns // 2, columns // 64, stages_of(columns)
    pair_size = B_START + panels * PANEL
    ahead = stages - 1  # the pair before the one that is multiplied has been read: its place is free

    @cuda.jit(device=True)
    def bring(A, B, tiles, barriers, pair, top, left):
        """Start to copy a pair of tiles to its place; one thread calls it."""
        stage = pair % stages
        expect_bytes(barriers, stage, 2 * pair_size)
        copy_A(tiles, stage * pair_size, A, top, pair * DEPTH, barriers, stage)
        for panel in range(panels):
            place = stage * pair_size + B_START + panel * PANEL
            copy_B(tiles, place, B, pair * DEPTH, left + 64 * panel, barriers, stage)

    @cuda.jit(device=True)
    def compute(A, B, C, tiles, barriers, top, left):
        """Compute the tile of C that begins at [top, left]."""
        acc = cuda.local.array(results, float32)
        rows = int32(uint32(cuda.threadIdx.x) // uint32(THREADS)) * 64
        pairs = max(1, (B.shape[0] + DEPTH - 1) // DEPTH)
        if cuda.threadIdx.x == 0:
            for stage in range(stages):
                init_barrier(barriers, stage, 1)
            fence_proxy()
            for pair in range(min(ahead, pairs)):
                bring(A, B, tiles, barriers, pair, top, left)
        cuda.syncthreads()  # the barriers are there for all
        pair = 0
        while True:  # at least once: the results then stay in their registers, which no instruction copies
            wait_barrier(barriers, pair % stages, pair // stages % 2)
            multiply_pair(tiles, pair % stages * pair_size, rows, acc, pair)
            wait(acc, 1)
            cuda.syncthreads()  # all have multiplied the pair before this
            if cuda.threadIdx.x == 0 and pair + ahead < pairs:
                bring(A, B, tiles, barriers, pair + ahead, top, left)
            pair += 1
            if pair >= pairs:
                break
        wait(acc, 0)
        store_results(C, top + rows, left, acc, columns)

    return compute


@cache
def wgmma_bulk(dtype=float32, form="bfloat16", columns=COLUMNS):
    """Return the kernel for "bfloat16" or "float16", and tiles of C with so many columns, a multiple of 64."""
    compute_wide, compute_narrow = one_tile(form, columns), one_tile(form, NARROW)
    most = stages_of(NARROW)

    @cuda.jit
    def wgmma_bulk(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, uint16 with the bits of the format, C is M×N, float32; C-ordered."""
        tiles = cuda.shared.array(0, uint16, 1024)
        barriers = cuda.shared.array(most, uint64)
        top, left = corner_of_tile(ROWS, columns)
        if top < C.shape[0] and left + NARROW < C.shape[1]:
            compute_wide(A, B, C, tiles, barriers, top, left)
        elif top < C.shape[0]:
            compute_narrow(A, B, C, tiles, barriers, top, left)

    return WithMaps(wgmma_bulk, A_BOX, B_BOX)


def fitted(M, N, multiprocessors):
    """Return the parameters with which a GPU with so many multiprocessors computes an M×N result fastest."""
    return {"columns": fitting_width(N, -(-M // ROWS), (128, 192, 256), multiprocessors)}


#: What both rungs of this kernel share: the width of their tiles is a parameter.
_SHARED: dict[str, Any] = {
    "launch": bands(ROWS, COLUMNS),
    "params": {"columns": 256},
    "dynamic_bytes": DYNAMIC_BYTES,
    **VECTORS,
}
RUNG = Rung(
    "wgmma_bulk",
    "Tiles from the TMA",
    wgmma_bulk,
    operand=lines_of_bfloat16,
    multiplied=as_bfloat16,
    **_SHARED,
)
FLOAT16 = Rung(
    "wgmma_float16",
    "The same in float16",
    partial(wgmma_bulk, form="float16"),
    operand=lines_of_float16,
    multiplied=as_float16,
    **_SHARED,
)
