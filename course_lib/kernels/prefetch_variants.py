"""Tiles in shared memory with three switches, each measured alone: the place of the loads, buffers, barriers.

Not a rung: `tile-by-tile gpu prefetching` times every setting, and `docs/prefetching.md` shows what it found.

loads: where the loads of the next pair of tiles stand. "early" is before the products, so that they are under way while
the block computes and over its barrier; "late" after the products, before the barrier that ends them: no barrier is in
between, so the compiler may move them up; "behind" after that barrier, where no compiler may move them over it.
"copied" is as early, but asynchronous copies write to shared memory, without a register in between.
buffers: with two, the next pair is stored into another buffer than the one that is read.
barriers: those for each pair of tiles. One after the stores is always needed; the one that ends the products is needed
with one buffer, and where the loads are "behind" it.
Launch: blocks of T×T threads, rounded up to cover C. Indices and sizes are unsigned.
Loads: 2 K / T per element of C from global memory, exactly as many as tiled, whatever the switches.
"""

from functools import lru_cache

from numba import cuda, float32, uint32

from .async_copy import commit_copies, copy_async, wait_copies
from .rung import Rung, square_blocks

LOADS = ("early", "late", "behind", "copied")
#: Every setting of the switches that computes the product: (buffers, loads, barriers).
SETTINGS = (
    *((1, loads, 2) for loads in ("behind", "late", "early")),
    *((2, loads, 2) for loads in ("behind", "late", "early")),
    *((2, loads, 1) for loads in ("late", "early", "copied")),
)


@lru_cache
def prefetch_variants(tile_width=16, buffers=1, loads="early", barriers=2, dtype=float32):
    """Return the kernel for T×T tiles with these switches: `kernel[grid, block](A, B, C)`.

    Raise ValueError for a setting with which the kernel would be wrong.
    """
    if (buffers, loads, barriers) not in SETTINGS:
        raise ValueError(f"{buffers} buffers, loads {loads!r} and {barriers} barriers compute no product")
    T, rows = tile_width, buffers * tile_width
    early, late, behind, copied = (loads == name for name in LOADS)
    ends_products = barriers == 2
    two_buffers = buffers == 2

    @cuda.jit(device=True)
    def fetch(A, B, row, col, start):
        """Return the thread's element of both tiles at `start`, zeros outside of the matrices."""
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        M, K, N = uint32(A.shape[0]), uint32(A.shape[1]), uint32(B.shape[1])
        a, b = dtype(0), dtype(0)
        if row < M and start + tx < K:
            a = A[row, start + tx]
        if start + ty < K and col < N:
            b = B[start + ty, col]
        return a, b

    @cuda.jit(device=True)
    def copy(A, B, A_tiles, B_tiles, first, row, col, start):
        """Start the copies of the thread's element of both tiles at `start` into the rows from `first` on."""
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        M, K, N = uint32(A.shape[0]), uint32(A.shape[1]), uint32(B.shape[1])
        if row < M and start + tx < K:
            copy_async(A_tiles, first + ty, tx, A, row, start + tx)
        else:
            A_tiles[first + ty, tx] = 0
        if start + ty < K and col < N:
            copy_async(B_tiles, first + ty, tx, B, start + ty, col)
        else:
            B_tiles[first + ty, tx] = 0
        commit_copies()

    @cuda.jit
    def prefetch_variants(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of T×T threads."""
        A_tiles = cuda.shared.array((rows, T), dtype)
        B_tiles = cuda.shared.array((rows, T), dtype)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row, col = uint32(cuda.blockIdx.y) * uint32(T) + ty, uint32(cuda.blockIdx.x) * uint32(T) + tx
        K = uint32(A.shape[1])
        acc = dtype(0)
        a, b = fetch(A, B, row, col, uint32(0))
        A_tiles[ty, tx] = a
        B_tiles[ty, tx] = b
        cuda.syncthreads()  # the first pair is complete
        now = uint32(0)
        for start in range(uint32(T), K + uint32(T), uint32(T)):
            if early:
                a, b = fetch(A, B, row, col, start)
            if copied:
                copy(A, B, A_tiles, B_tiles, uint32(T) - now, row, col, start)
            for k in range(T):
                acc += A_tiles[now + ty, uint32(k)] * B_tiles[now + uint32(k), tx]
            if late:
                a, b = fetch(A, B, row, col, start)
            if ends_products:
                cuda.syncthreads()  # no thread reads this pair any more
            if behind:
                a, b = fetch(A, B, row, col, start)
            if two_buffers:
                now = uint32(T) - now
            if copied:
                wait_copies(0)
            else:
                A_tiles[now + ty, tx] = a
                B_tiles[now + ty, tx] = b
            cuda.syncthreads()  # the next pair is complete
        if row < uint32(C.shape[0]) and col < uint32(C.shape[1]):
            C[row, col] = acc

    return prefetch_variants


RUNG = Rung(
    "prefetch_variants",
    "Tiles with switches for loads, buffers and barriers",
    prefetch_variants,
    lambda M, N, K, tile_width=16, **switches: square_blocks(M, N, K, tile_width),
    params={"tile_width": 16, "buffers": 1, "loads": "early", "barriers": 2},
    dtypes=("float32",),
)
