"""TF32 with wgmma: the operand that is stored the wrong way comes from registers.

Idea: of elements of 16 bits a tensor core reads a B that is stored row by row, of TF32 only one that is stored column
by column, as A is for the transposed product. So a block computes C^T = B^T A^T: A, row by row, is the second operand,
from shared memory, and B^T the first, which a warpgroup may give in registers, loaded in whatever order they need. The
loads for the next products run while those before multiply, in two sets of registers. The rest is `wgmma_bulk`.
A warp loads columns of B in which 16 lanes ask all 32 banks: the swizzle moves pieces among four neighbours for the
four rows of these lanes, so that they take two pieces of four columns, one of each half of a panel.
Accuracy: the tensor core cuts the elements off to TF32, with relative errors of up to 2**-10, as `tensor_cores_tiled`.
Launch: blocks of 256 threads, two warpgroups, one for each 256×128 tile of C, in bands; `dynamic_bytes` of dynamic
shared memory. One block fills a multiprocessor.
Edges: none to test. Rows of A and B must begin on 16-byte boundaries; other matrices are refused at the launch.
Loads: K (1/128 + 1/256) per element of C from global memory, by the TMA; from shared memory, of B, K / 256.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on wgmma, cp.async.bulk.tensor and mbarrier; the layout
is derived here.
"""

from functools import cache

from numba import cuda, float32, int32, uint32, uint64

from .bulk_copy import WithMaps, expect_bytes, init_barrier, tile_copy, wait_barrier
from .rung import VECTORS, Rung
from .tensor_core_formats import as_tf32, with_whole_lines
from .vector import load2
from .warpgroup import TF32, commit_products, descriptor, fence_proxy, fence_registers, products, wait_for_products
from .wgmma_results import bands, corner_of_tile, fitting_width, store_pair

#: The tile of C of a block, and the depth of the tiles of A and B.
ROWS, COLUMNS, DEPTH = 256, 128, 32
#: Pairs of tiles; how many pairs ahead the copies are; the elements of a panel of B, of a pair, and where its B begins.
STAGES, AHEAD = 4, 3
PANEL = DEPTH * 32
B_START = ROWS * DEPTH
PAIR = B_START + DEPTH * COLUMNS
B_BOX = (DEPTH, 32)
copy_B = tile_copy(*B_BOX)


@cuda.jit(device=True)
def first_column():
    """Return the first of the thread's two columns of B's tile."""
    thread = uint32(cuda.threadIdx.x)
    warp, q = int32(thread // uint32(32)), int32(thread % uint32(32) // uint32(4))
    return warp // 2 * 32 + (q // 2 % 2 * 4 + warp % 2 * 2 + q // 4) * 4 + q % 2 * 2


@cuda.jit(device=True)
def load_fragments(tiles, first, b):
    """Load the warp's 16 columns of B of a pair of tiles, of which neighbours are eight rows apart in B^T."""
    col, t = first_column(), int32(uint32(cuda.threadIdx.x) % uint32(4))
    piece = col % 32 // 4 ^ t
    place = first + B_START + col // 32 * PANEL + t * 32 + col % 4
    for step in range(DEPTH // 8):  # rows t and t + 4 of eight, whose pieces change places with 4 more
        x = load2(tiles, place + 256 * step + piece * 4)
        y = load2(tiles, place + 256 * step + 128 + (piece ^ 4) * 4)
        b[step, 0], b[step, 1], b[step, 2], b[step, 3] = x[0], x[1], y[0], y[1]


@cuda.jit(device=True)
def store_results(C, top, left, acc, rows):
    """Store the results of C^T: items 0 and 2 of four are side by side, 0 and 1 below each other."""
    row, col = top + cuda.threadIdx.x % 4 * 2, left + first_column()
    for j in range(rows // 8):
        store_pair(C, row + 8 * j, col, acc[4 * j], acc[4 * j + 2])
        store_pair(C, row + 8 * j + 1, col, acc[4 * j + 1], acc[4 * j + 3])


@cache
def wgmma_tf32(dtype=float32, rows=ROWS):
    """Return the kernel for tiles of C with so many rows, a multiple of 8 up to 256."""
    multiply, wait = products(TF32, rows, registers=True), wait_for_products(rows)
    A_box, results = (rows, DEPTH), rows // 2
    copy_A = tile_copy(*A_box)

    @cuda.jit(device=True)
    def bring(A, B, tiles, barriers, pair, top, left):
        """Start to copy a pair of tiles to its place; one thread calls it."""
        stage = pair % STAGES
        expect_bytes(barriers, stage, 4 * DEPTH * (rows + COLUMNS))
        copy_A(tiles, stage * PAIR, A, top, pair * DEPTH, barriers, stage)
        for panel in range(COLUMNS // 32):
            place = stage * PAIR + B_START + panel * PANEL
            copy_B(tiles, place, B, pair * DEPTH, left + 32 * panel, barriers, stage)

    @cuda.jit(device=True)
    def multiply_pair(tiles, barriers, pair, b, acc):
        """Start the products of a pair of tiles as one group, once it is there; then wait for those before."""
        first = pair % STAGES * PAIR
        wait_barrier(barriers, pair % STAGES, pair // STAGES % 2)
        load_fragments(tiles, first, b)
        a = descriptor(tiles, first, 0, 1024, 128)
        fence_registers()
        for i in range(DEPTH // 8):  # 8 columns of A: 2 units of 16 bytes, as descriptors count
            multiply(acc, (b[i, 0], b[i, 1], b[i, 2], b[i, 3]), a + uint64(2 * i), pair + i > 0)
        commit_products()
        wait(acc, 1)
        cuda.syncthreads()  # all have multiplied the pair before this

    @cuda.jit
    def wgmma_tf32(A, B, C):
        """Compute C = A @ B in TF32; A is M×K, B is K×N, C is M×N, float32 and C-ordered, in blocks of 256 threads."""
        tiles = cuda.shared.array(0, float32, 1024)
        barriers = cuda.shared.array(STAGES, uint64)
        acc = cuda.local.array(results, float32)
        b0 = cuda.local.array((4, 4), float32)
        b1 = cuda.local.array((4, 4), float32)
        top, left = corner_of_tile(rows, COLUMNS)
        if top >= C.shape[0]:
            return
        pairs = max(1, (B.shape[0] + DEPTH - 1) // DEPTH)
        if cuda.threadIdx.x == 0:
            for stage in range(STAGES):
                init_barrier(barriers, stage, 1)
            fence_proxy()
            for pair in range(min(AHEAD, pairs)):
                bring(A, B, tiles, barriers, pair, top, left)
        cuda.syncthreads()  # the barriers are there for all
        pair = 0
        while True:  # at least once: the results then stay in their registers, which no instruction copies
            multiply_pair(tiles, barriers, pair, b0, acc)
            if cuda.threadIdx.x == 0 and pair + AHEAD < pairs:
                bring(A, B, tiles, barriers, pair + AHEAD, top, left)
            if pair + 1 >= pairs:
                break
            multiply_pair(tiles, barriers, pair + 1, b1, acc)
            if cuda.threadIdx.x == 0 and pair + 1 + AHEAD < pairs:
                bring(A, B, tiles, barriers, pair + 1 + AHEAD, top, left)
            pair += 2
            if pair >= pairs:
                break
        wait(acc, 0)
        store_results(C, top, left, acc, rows)

    return WithMaps(wgmma_tf32, A_box, B_BOX)


def fitted(M, N, multiprocessors):
    """Return the parameters with which a GPU with so many multiprocessors computes an M×N result fastest."""
    return {"rows": fitting_width(M, -(-N // COLUMNS), range(128, 257, 8), multiprocessors)}


RUNG = Rung(
    "wgmma_tf32",
    "A warpgroup, TF32",
    wgmma_tf32,
    bands(ROWS, COLUMNS),
    params={"rows": 256},
    dynamic_bytes=4 * STAGES * PAIR,
    operand=with_whole_lines,
    multiplied=as_tf32,
    **VECTORS,
)
