"""Tensor cores fed as the fastest float32 kernels are: tiles for blocks and warps, and copies on their way meanwhile.

Idea: a warp computes 64×64 results, so every fragment that it loads is used 4 or 8 times; the fragments of the next
step are loaded while this one multiplies, in two sets of registers; and asynchronous copies bring the tiles two stages
ahead. Three pairs of tiles 16 deep fill the 48 KiB of shared memory that a block may declare. The numbers of the stages
are unrolled, so no address is computed in the loop. The places of a row's 16-byte pieces in shared memory depend on
the row (exclusive or), which gives every lane of a load banks of its own without a word of padding.
Transposed: a lane holds four items of the first operand of an mma, and the first two of them are two rows apart. B has
two neighbours side by side where A has them below each other, so B's transpose comes first: (A B)^T = B^T A^T, and what
`load2` brings is in the registers where the instruction wants it.
Accuracy: nothing is rounded, as a copy from memory to memory cannot; the tensor core cuts the elements off, with
relative errors of up to 2**-10. With rounded=True `to_tf32` rounds every fragment: products of random matrices are
then 2.7 times as exact, as exact as those of cuBLAS in TF32, and a fifth of the speed is gone.
Launch: blocks of 128 threads, 2×2 warps of 64×64, for a 128×128 tile of C; two fill a multiprocessor's registers.
Edges: what is no whole tile, or has rows that do not begin on 16-byte boundaries, is loaded element by element.
Loads: K (1/128 + 1/128) per element of C from global memory, in 16 bytes; from shared memory K (1/64 + 1/64), 32
wavefronts for 32 mma of a warp.
Limit: mma.sync itself reaches 322 TFLOP/s on an H200 (recording "tensor"); `wgmma_tf32` takes wgmma, as cuBLAS does.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on mma.sync, ldmatrix and cp.async; the layout is derived
here.
"""

from functools import cache

from numba import cuda, float32, uint64

from .async_copy import commit_copies, copy4_async, wait_copies
from .rung import VECTORS, Rung
from .tensor_core import mma_tf32
from .tensor_core_formats import as_tf32, to_tf32
from .tensor_core_loads import load_matrices
from .tensor_core_tiles import COLUMNS, ROWS, STAGES, WARP_COLUMNS, WARP_ROWS, corner_of_tile, launch
from .vector import element_or_zero, load2

DEPTH = 16
A_ROWS, B_ROWS = STAGES * ROWS, STAGES * DEPTH


@cuda.jit(device=True)
def start_copies(A, B, A_tiles, B_tiles, stage, top, left, start, end):
    """Start to copy the tiles at `start` to a stage, 16 bytes at a time; beyond the last tiles these again, unused."""
    row, k = cuda.threadIdx.x // 4, cuda.threadIdx.x // 32
    a, b = cuda.threadIdx.x % 4 * 4, cuda.threadIdx.x % 32 * 4
    start = start if start < end else end - DEPTH
    for i in range(4):
        copy4_async(A_tiles, ROWS * stage + 32 * i + row, a ^ row // 2 % 4 * 4, A, top + row + 32 * i, start + a)
    for i in range(4):
        copy4_async(B_tiles, DEPTH * stage + 4 * i + k, b ^ 8 * k, B, start + 4 * i + k, left + b)
    commit_copies()


@cuda.jit(device=True)
def store_tiles(A, B, A_tiles, B_tiles, top, left, start):
    """Store the tiles at `start` to stage 0 element by element, zeros outside."""
    for i in range(cuda.threadIdx.x, ROWS * DEPTH, cuda.blockDim.x):
        row, k = i // DEPTH, i % DEPTH
        A_tiles[row, k ^ row // 2 % 4 * 4] = element_or_zero(A, top + row, start + k)
    for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, cuda.blockDim.x):
        k, col = i // COLUMNS, i % COLUMNS
        B_tiles[k, col ^ k % 4 * 8] = element_or_zero(B, start + k, left + col)


@cuda.jit(device=True)
def load_fragments(A_tiles, B_tiles, stage, step, a, b):
    """Load the warp's fragments of step 0 or 1 of a stage: 4 of 16 columns of B, 8 of 8 rows of A."""
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    q, t = lane // 4, lane % 4
    k, col = DEPTH * stage + 8 * step + t, (warp % 2 * WARP_COLUMNS + 2 * q) ^ 8 * t
    for i in range(4):
        x = load2(B_tiles, k, col ^ 16 * i)
        y = load2(B_tiles, k + 4, col ^ 16 * i)
        b[i, 0], b[i, 1], b[i, 2], b[i, 3] = x[0], x[1], y[0], y[1]
    row = warp // 2 * WARP_ROWS + lane // 16 * 8 + lane % 8
    piece = lane // 8 % 2 ^ row // 2 % 4
    for j in range(4):
        x = load_matrices(A_tiles, ROWS * stage + 16 * j + row, 4 * piece ^ 8 * step)
        a[2 * j, 0], a[2 * j, 1], a[2 * j + 1, 0], a[2 * j + 1, 1] = x


@cuda.jit(device=True)
def round_fragments(a, b):
    """Round the fragments to TF32."""
    for i in range(4):
        for e in range(4):
            b[i, e] = to_tf32(b[i, e])
    for j in range(8):
        for e in range(2):
            a[j, e] = to_tf32(a[j, e])


@cuda.jit(device=True)
def multiply(a, b, acc):
    """Add the products of the fragments to the warp's results, down one column and up the next."""
    for j in range(8):
        for n in range(4):
            i = 3 - n if j % 2 else n
            c = acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3]
            d = mma_tf32((b[i, 0], b[i, 1], b[i, 2], b[i, 3]), (a[j, 0], a[j, 1]), c)
            acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3] = d


@cuda.jit(device=True)
def store_results(C, top, left, acc):
    """Store the thread's results as mma leaves them: items 0 and 1 below each other, 0 and 2 side by side."""
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = top + warp // 2 * WARP_ROWS + lane % 4 * 2
    col = left + warp % 2 * WARP_COLUMNS + lane // 4 * 2
    for i in range(4):
        for j in range(8):
            for e in range(4):
                y, x = row + 8 * j + e % 2, col + 16 * i + e // 2
                if y < C.shape[0] and x < C.shape[1]:
                    C[uint64(y), uint64(x)] = acc[i, j, e]


@cache
def tensor_cores_tiled(dtype=float32, rounded=False):
    """Return the kernel; rounded: A and B are rounded to TF32, not cut off."""

    @cuda.jit(device=True)
    def fragments(A_tiles, B_tiles, stage, step, a, b):
        """Load the fragments of a step, rounded or as they are."""
        load_fragments(A_tiles, B_tiles, stage, step, a, b)
        if rounded:
            round_fragments(a, b)

    @cuda.jit(device=True)
    def advance(A, B, A_tiles, B_tiles, now, following, free, top, left, start, end, a0, b0, a1, b1, acc):
        """Multiply stage `now`, whose first fragments are in a0 and b0, and load those of the following stage.

        Meanwhile the tiles at `start` are on their way to the stage that was used before.
        """
        fragments(A_tiles, B_tiles, now, 1, a1, b1)
        start_copies(A, B, A_tiles, B_tiles, free, top, left, start, end)
        multiply(a0, b0, acc)
        wait_copies(1)
        cuda.syncthreads()  # the following stage is there for all, and this one is read
        fragments(A_tiles, B_tiles, following, 0, a0, b0)
        multiply(a1, b1, acc)

    @cuda.jit
    def tensor_cores_tiled(A, B, C):
        """Compute C = A @ B in TF32; A is M×K, B is K×N, C is M×N, float32 and C-ordered, in blocks of 128 threads."""
        A_tiles = cuda.shared.array((A_ROWS, DEPTH), float32)
        B_tiles = cuda.shared.array((B_ROWS, COLUMNS), float32)
        acc = cuda.local.array((4, 8, 4), float32)
        a0 = cuda.local.array((8, 2), float32)
        a1 = cuda.local.array((8, 2), float32)
        b0 = cuda.local.array((4, 4), float32)
        b1 = cuda.local.array((4, 4), float32)
        K, N = B.shape
        top, left = corner_of_tile()
        if top >= A.shape[0]:
            return
        for i in range(4):
            for j in range(8):
                for e in range(4):
                    acc[i, j, e] = 0
        end = 0  # what the copies bring; from there on the tiles are stored element by element
        if K % 4 == 0 and N % 4 == 0 and top + ROWS <= A.shape[0] and left + COLUMNS <= N:
            end = K // DEPTH * DEPTH
        if end > 0:
            start_copies(A, B, A_tiles, B_tiles, 0, top, left, 0, end)
            start_copies(A, B, A_tiles, B_tiles, 1, top, left, DEPTH, end)
            wait_copies(1)
            cuda.syncthreads()
            fragments(A_tiles, B_tiles, 0, 0, a0, b0)
            for start in range(0, end, 3 * DEPTH):
                later = start + 2 * DEPTH
                advance(A, B, A_tiles, B_tiles, 0, 1, 2, top, left, later, end, a0, b0, a1, b1, acc)
                if start + DEPTH >= end:
                    break
                advance(A, B, A_tiles, B_tiles, 1, 2, 0, top, left, later + DEPTH, end, a0, b0, a1, b1, acc)
                if start + 2 * DEPTH >= end:
                    break
                advance(A, B, A_tiles, B_tiles, 2, 0, 1, top, left, later + 2 * DEPTH, end, a0, b0, a1, b1, acc)
        wait_copies(0)
        for start in range(end, K, DEPTH):
            cuda.syncthreads()  # no thread reads stage 0 any more
            store_tiles(A, B, A_tiles, B_tiles, top, left, start)
            cuda.syncthreads()
            fragments(A_tiles, B_tiles, 0, 0, a0, b0)
            multiply(a0, b0, acc)
            fragments(A_tiles, B_tiles, 0, 1, a0, b0)
            multiply(a0, b0, acc)
        store_results(C, top, left, acc)

    return tensor_cores_tiled


RUNG = Rung(
    "tensor_cores_tiled",
    "Tensor cores, tiles and copies",
    tensor_cores_tiled,
    launch,
    params={"rounded": False},
    multiplied=as_tf32,
    **VECTORS,
)
