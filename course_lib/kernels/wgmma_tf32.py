"""TF32 with wgmma: the operand that is stored the wrong way comes from registers.

Idea: of elements of 16 bits a tensor core reads a B that is stored row by row, of TF32 only one that is stored column
by column, as A is for the transposed product. So a block computes C^T = B^T A^T: A, row by row, is the second operand,
from shared memory, and B^T the first, which a warpgroup may give in registers, loaded in whatever order they need. The
loads for the next products run while those before multiply, in two sets of registers. The rest is `wgmma_staged`.
Accuracy: the tensor core cuts the elements off to TF32, with relative errors of up to 2**-10, as `tensor_cores_tiled`.
Launch: blocks of 256 threads, two warpgroups, one for each 256×128 tile of C, in bands; `dynamic_bytes` of dynamic
shared memory. One block fills a multiprocessor.
Edges: pieces outside of A and B become zeros. Where rows do not begin on 16-byte boundaries, so that no piece can be
copied, the tiles are stored element by element.
Loads: K (1/128 + 1/256) per element of C from global memory, in 16 bytes; from shared memory, of B, K / 256.
Source: NVIDIA, "Parallel Thread Execution ISA", the section on wgmma; the layout is derived here.
"""

from numba import cuda, float32, int32, uint32, uint64

from .async_copy import commit_copies, copy4_async, wait_copies
from .tensor_core_loads import load2
from .vector import element_or_zero
from .warpgroup import (
    TF32,
    THREADS,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    wait_for_products,
)
from .wgmma_results import corner_of_tile, launch_tiles, store_pair

#: The tile of C of a block, the depth of the tiles of A and B, and the results of a thread.
ROWS, COLUMNS, DEPTH, RESULTS = 256, 128, 32, 128
#: Pairs of tiles; how many pairs ahead the copies are; the elements of a pair, and where its B begins.
STAGES, AHEAD = 4, 2
B_START = ROWS * DEPTH
PAIR = B_START + DEPTH * COLUMNS
multiply, wait = products(TF32, ROWS, registers=True), wait_for_products(ROWS)


@cuda.jit(device=True)
def place_in_A(row, k):
    """Return where A[row, k] of a tile is: rows of 128 bytes, whose pieces of 16 bytes change places."""
    return row * DEPTH + (k ^ row % 8 * 4)


@cuda.jit(device=True)
def place_in_B(k, col):
    """Return where B[k, col] of a tile is: elements of four rows below each other are in different banks."""
    return k * COLUMNS + (col ^ k % 4 * 8)


@cuda.jit(device=True)
def bring(A, B, tiles, pair, top, left):
    """Start to copy a pair of tiles to its place, zeros outside; beyond the last, nothing. A group of copies.

    Every 8 rows of A, or 4 of B, a thread's pieces are placed alike, so that only the first place is computed. Tiles
    inside A and B are copied without a test for each piece.
    """
    start, first, thread = pair * DEPTH, pair % STAGES * PAIR, uint32(cuda.threadIdx.x)
    row, a = int32(thread // uint32(8)), int32(thread % uint32(8) * uint32(4))
    k, b = int32(thread // uint32(32)), int32(thread % uint32(32) * uint32(4))
    to_a, to_b = first + place_in_A(row, a), first + B_START + place_in_B(k, b)
    if start + DEPTH <= B.shape[0] and top + ROWS <= A.shape[0] and left + COLUMNS <= B.shape[1]:
        for i in range(8):
            copy4_async(tiles, to_a + 32 * DEPTH * i, A, top + row + 32 * i, start + a)
        for i in range(4):
            copy4_async(tiles, to_b + 8 * COLUMNS * i, B, start + k + 8 * i, left + b)
    elif start < B.shape[0]:
        for i in range(8):
            inside = top + row + 32 * i < A.shape[0] and start + a < A.shape[1]
            copy4_async(tiles, to_a + 32 * DEPTH * i, A, top + row + 32 * i, start + a, inside)
        for i in range(4):
            inside = start + k + 8 * i < B.shape[0] and left + b < B.shape[1]
            copy4_async(tiles, to_b + 8 * COLUMNS * i, B, start + k + 8 * i, left + b, inside)
    commit_copies()


@cuda.jit(device=True)
def store_tiles(A, B, tiles, top, left, start):
    """Store the tiles at `start` to the first pair element by element, zeros outside."""
    for i in range(cuda.threadIdx.x, ROWS * DEPTH, 2 * THREADS):
        row, k = i // DEPTH, i % DEPTH
        tiles[place_in_A(row, k)] = element_or_zero(A, top + row, start + k)
    for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, 2 * THREADS):
        k, col = i // COLUMNS, i % COLUMNS
        tiles[B_START + place_in_B(k, col)] = element_or_zero(B, start + k, left + col)


@cuda.jit(device=True)
def load_fragments(tiles, first, b):
    """Load the warp's 16 columns of B of a pair of tiles, of which neighbours are eight rows apart in B^T."""
    thread = uint32(cuda.threadIdx.x)
    col = int32(thread // uint32(32) * uint32(16) + thread % uint32(32) // uint32(4) * uint32(2))
    place = first + B_START + place_in_B(int32(thread % uint32(4)), col)
    for step in range(DEPTH // 8):
        x = load2(tiles, place + 8 * COLUMNS * step)
        y = load2(tiles, place + 8 * COLUMNS * step + 4 * COLUMNS)
        b[step, 0], b[step, 1], b[step, 2], b[step, 3] = x[0], x[1], y[0], y[1]


@cuda.jit(device=True)
def multiply_pair(tiles, first, b, acc, later):
    """Start the products of the pair of tiles at `first` as one group; `later` is 0 for the first pair."""
    load_fragments(tiles, first, b)
    a = descriptor(tiles, first, 0, 1024, 128)
    fence_registers()
    for i in range(DEPTH // 8):  # 8 columns of A: 2 units of 16 bytes, as descriptors count
        multiply(acc, (b[i, 0], b[i, 1], b[i, 2], b[i, 3]), a + uint64(2 * i), later + i > 0)
    commit_products()


@cuda.jit(device=True)
def advance(A, B, tiles, pair, b, acc, top, left):
    """Start the products of a pair of tiles and the copies of a later one; then wait for the products before."""
    multiply_pair(tiles, pair % STAGES * PAIR, b, acc, pair)
    bring(A, B, tiles, pair + AHEAD, top, left)
    wait_copies(1)
    fence_proxy()
    wait(acc, 1)
    cuda.syncthreads()  # the next pair of tiles is there for all, and the one before this is read


@cuda.jit(device=True)
def store_results(C, top, left, acc):
    """Store the results of C^T: items 0 and 2 of four are side by side, 0 and 1 below each other."""
    lane = cuda.threadIdx.x % 32
    row, col = top + lane % 4 * 2, left + cuda.threadIdx.x // 32 * 16 + lane // 4 * 2
    for j in range(ROWS // 8):
        store_pair(C, row + 8 * j, col, acc[4 * j], acc[4 * j + 2])
        store_pair(C, row + 8 * j + 1, col, acc[4 * j + 1], acc[4 * j + 3])


@cuda.jit
def wgmma_tf32(A, B, C):
    """Compute C = A @ B in TF32; A is M×K, B is K×N, C is M×N, float32 and C-ordered, in blocks of 256 threads."""
    tiles = cuda.shared.array(0, float32, 1024)
    acc = cuda.local.array(RESULTS, float32)
    b0 = cuda.local.array((4, 4), float32)
    b1 = cuda.local.array((4, 4), float32)
    top, left = corner_of_tile(ROWS, COLUMNS)
    if top >= C.shape[0]:
        return
    if B.shape[0] > 0 and A.shape[1] % 4 == 0 and B.shape[1] % 4 == 0:
        bring(A, B, tiles, 0, top, left)
        bring(A, B, tiles, 1, top, left)
        wait_copies(1)
        fence_proxy()
        cuda.syncthreads()
        pair = 0
        while True:  # at least once: the results then stay in their registers, which no instruction copies
            advance(A, B, tiles, pair, b0, acc, top, left)
            if (pair + 1) * DEPTH >= B.shape[0]:
                break
            advance(A, B, tiles, pair + 1, b1, acc, top, left)
            pair += 2
            if pair * DEPTH >= B.shape[0]:
                break
        wait(acc, 0)
    else:
        for start in range(0, max(1, B.shape[0]), DEPTH):
            store_tiles(A, B, tiles, top, left, start)
            fence_proxy()
            cuda.syncthreads()
            multiply_pair(tiles, 0, b0, acc, start)
            wait(acc, 0)
            cuda.syncthreads()
    store_results(C, top, left, acc)


def launch(M, N, K, **params):
    """Return (grid, block) for an M×N result: two warpgroups per 256×128 tile of C."""
    return launch_tiles(M, N, ROWS, COLUMNS)


def dynamic_bytes(**params):
    """Return the bytes of dynamic shared memory per block: four pairs of tiles."""
    return STAGES * PAIR * 4
