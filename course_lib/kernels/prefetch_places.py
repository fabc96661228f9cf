"""Tiles in shared memory whose loads of the next pair are at a chosen place among the products, and stay there.

Not a rung: `tile-by-tile gpu prefetching_pairs` times it, and `docs/prefetching.md` shows what the place alone changes.
Otherwise the compiler chooses the place: it may move a load up or down between two barriers. A barrier of the warp
(`syncwarp`) before and after each load holds the load where it is; in the machine code it is a NOP. So kernels with two
places have the same instructions, in another order.

a_after, b_after: the multiply-adds of a pair of tiles before the load of A, and before that of B. A multiple of 4 keeps
the reads of A's tile four numbers wide.
Launch: blocks of T×T threads, rounded up to cover C. Indices and sizes are unsigned.
Loads: 2 K / T per element of C from global memory, exactly as many as tiled, wherever they are.
"""

from functools import lru_cache

from numba import cuda, float32, uint32

from .rung import Rung, square_blocks


@lru_cache
def prefetch_places(tile_width=32, a_after=0, b_after=0, dtype=float32):
    """Return the kernel for T×T tiles, one buffer, with its loads at these places: `kernel[grid, block](A, B, C)`.

    Raise ValueError if B's load is before A's, or a place is outside of the products.
    """
    T = tile_width
    if not 0 <= a_after <= b_after <= T:
        raise ValueError(f"the loads cannot be after {a_after} and {b_after} of {T} multiply-adds")

    @cuda.jit(device=True)
    def fetch_a(A, row, start):
        """Return the thread's element of the tile of A at `start`, zero outside of the matrix."""
        k = start + uint32(cuda.threadIdx.x)
        return A[row, k] if row < uint32(A.shape[0]) and k < uint32(A.shape[1]) else dtype(0)

    @cuda.jit(device=True)
    def fetch_b(B, col, start):
        """Return the thread's element of the tile of B at `start`, zero outside of the matrix."""
        k = start + uint32(cuda.threadIdx.y)
        return B[k, col] if k < uint32(B.shape[0]) and col < uint32(B.shape[1]) else dtype(0)

    @cuda.jit
    def prefetch_places(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of T×T threads."""
        A_tile = cuda.shared.array((T, T), dtype)
        B_tile = cuda.shared.array((T, T), dtype)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        row, col = uint32(cuda.blockIdx.y) * uint32(T) + ty, uint32(cuda.blockIdx.x) * uint32(T) + tx
        K = uint32(A.shape[1])
        acc = dtype(0)
        A_tile[ty, tx] = fetch_a(A, row, uint32(0))
        B_tile[ty, tx] = fetch_b(B, col, uint32(0))
        cuda.syncthreads()  # the first pair is complete
        for start in range(uint32(T), K + uint32(T), uint32(T)):
            for k in range(a_after):
                acc += A_tile[ty, uint32(k)] * B_tile[uint32(k), tx]
            cuda.syncwarp()
            a = fetch_a(A, row, start)
            cuda.syncwarp()
            for k in range(a_after, b_after):
                acc += A_tile[ty, uint32(k)] * B_tile[uint32(k), tx]
            cuda.syncwarp()
            b = fetch_b(B, col, start)
            cuda.syncwarp()
            for k in range(b_after, T):
                acc += A_tile[ty, uint32(k)] * B_tile[uint32(k), tx]
            cuda.syncthreads()  # no thread reads this pair any more
            A_tile[ty, tx] = a
            B_tile[ty, tx] = b
            cuda.syncthreads()  # the next pair is complete
        if row < uint32(C.shape[0]) and col < uint32(C.shape[1]):
            C[row, col] = acc

    return prefetch_places


RUNG = Rung(
    "prefetch_places",
    "Tiles whose loads of the next pair are at a chosen place",
    prefetch_places,
    lambda M, N, K, tile_width=32, **places: square_blocks(M, N, K, tile_width),
    params={"tile_width": 32, "a_after": 0, "b_after": 0},
    dtypes=("float32",),
)
