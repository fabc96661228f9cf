"""The order of the multiplications: down one column of results and up the next, so that operands are reused.

Idea: in our model registers are in two banks. A multiply-add that reads two of its three operands from one delays the
next by a cycle, unless the register was read just before and is kept for reuse. Down one column and up the next, every
multiplication shares an operand with the one before it. B's fragment, the longer one, is loaded first, and every result
has 0 added before it is stored. The machine code of the loop has as many instructions as that of whole_tiles, 2,350; 14
in 100 of its multiply-adds read two operands from one bank, instead of 20.
Measured on an H200: 12 % over whole_tiles at n = 4096, the last step of the ladder. The order alone is not the cause:
lesson 14 has what else was measured.
Launch: as large_tiles, blocks of 256 threads, 2×4 warps of 64×64, for a 128×256 tile of C; the tiles are 16 deep.
One block fills the register file of a multiprocessor: 239 registers per thread.
Loads: as whole_tiles, K (1/128 + 1/256) per element of C from global memory, K (1/8 + 1/16) from shared memory, and
more for the few rows and columns at the edges (course_lib.machine.model.global_loads_of_best).
Limit: 93 of 100 instructions are multiply-adds. The compiler assigns the registers, and differently for every order in
which this file could be written: hundreds were measured, from 36 to 53.1 TFLOP/s, and 0.4 to 4.6 where the results went
to local memory (course_lib/machine/measurements/nvidia-h200/attempts.json).
Source: Gray, "SGEMM" (maxas wiki, 2014), where registers are assigned by hand against the same conflicts. cuBLAS
multiplies this size with tiles of 256×128 too, as Nsight Compute's name of its kernel says (tilesize256x128x8, stage3).
"""

from numba import cuda, float32, uint64

from .edges import last_columns, last_rows
from .large_tiles import COLUMNS, DEPTH, PITCH, ROWS, keep, launch
from .rung import VECTORS, Rung, ready_made
from .vector import load4, store4
from .whole_tiles import FEW, fetch

#: Added to a result before it is stored, so that the sum moves to another register: else the vector stores bind
#: the registers of the results to groups of four in order, and more multiplications find two operands in one bank.
ZERO = float32(0)


@cuda.jit(device=True)
def load_fragments(A_tile, B_tile, k, m, n, a, b):
    """Load the thread's 16 elements of row k of B_tile and 8 of column k of A_tile."""
    for j in range(4):
        b[4 * j], b[4 * j + 1], b[4 * j + 2], b[4 * j + 3] = load4(B_tile, k, n + 16 * j)
    for i in range(2):
        a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tile, k, m + 32 * i)


@cuda.jit(device=True)
def add_outer_product(a, b, acc):
    """Add the products of two fragments to the thread's 8×16 results.

    Down one column and up the next, so that each multiplication shares an operand with the one before: a
    register that was just read need not be read again.
    """
    for j in range(16):
        for i in range(8):
            row = i if j % 2 == 0 else 7 - i
            acc[row, j] += a[row] * b[j]


@cuda.jit(device=True)
def two_steps(A_tile, B_tile, k, m, n, a0, b0, a1, b1, acc):
    """Multiply steps k and k + 1, each while the fragments of the following step are loaded."""
    load_fragments(A_tile, B_tile, k + 1, m, n, a1, b1)
    add_outer_product(a0, b0, acc)
    load_fragments(A_tile, B_tile, k + 2, m, n, a0, b0)
    add_outer_product(a1, b1, acc)


@cuda.jit
def best(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N, all float32 and C-ordered, in blocks of 256 threads."""
    A_tile = cuda.shared.array((DEPTH, PITCH), float32)
    B_tile = cuda.shared.array((DEPTH, COLUMNS), float32)
    acc = cuda.local.array((8, 16), float32)
    a0 = cuda.local.array(8, float32)
    a1 = cuda.local.array(8, float32)
    a_next = cuda.local.array(8, float32)
    b0 = cuda.local.array(16, float32)
    b1 = cuda.local.array(16, float32)
    b_next = cuda.local.array(16, float32)
    K, N = B.shape
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    m, n = warp // 4 * 64 + lane // 4 * 4, warp % 4 * 64 + lane % 4 * 4
    top, left = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS
    if left + FEW >= N:
        last_columns(A, B, C, top, left)
        return
    if top + FEW >= A.shape[0]:
        last_rows(A, B, C, top, left, B_tile)
        return
    inside = K % 4 == 0 and N % 4 == 0 and top + ROWS <= A.shape[0] and left + COLUMNS <= N
    for i in range(8):
        for j in range(16):
            acc[i, j] = 0
    fetch(A, B, inside, top, left, 0, a_next, b_next)
    keep(A_tile, B_tile, a_next, b_next)
    cuda.syncthreads()
    load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
    for start in range(DEPTH, K + DEPTH, DEPTH):
        two_steps(A_tile, B_tile, 0, m, n, a0, b0, a1, b1, acc)
        fetch(A, B, inside, top, left, start, a_next, b_next)
        two_steps(A_tile, B_tile, 2, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 4, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 6, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 8, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 10, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 12, m, n, a0, b0, a1, b1, acc)
        load_fragments(A_tile, B_tile, 15, m, n, a1, b1)
        add_outer_product(a0, b0, acc)
        cuda.syncthreads()  # no thread reads the tiles any more
        keep(A_tile, B_tile, a_next, b_next)
        cuda.syncthreads()  # the next tiles are complete
        load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
        add_outer_product(a1, b1, acc)
    if N % 4 == 0:
        for i in range(8):
            row = top + m + i // 4 * 32 + i % 4
            for j in range(4):
                col = left + n + 16 * j
                if row < C.shape[0] and col < N:
                    a, b, c, d = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
                    store4(C, row, col, (a + ZERO, b + ZERO, c + ZERO, d + ZERO))
    else:
        for i in range(8):
            row = top + m + i // 4 * 32 + i % 4
            for j in range(16):
                col = left + n + j // 4 * 16 + j % 4
                if row < C.shape[0] and col < N:
                    C[uint64(row), uint64(col)] = acc[i, j]


RUNG = Rung(
    "best",
    "All together, tuned",
    ready_made(best),
    launch,
    lesson="10_towards_cublas",
    change="whole_tiles, products in another order, B first",
    **VECTORS,
)
