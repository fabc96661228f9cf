"""bfloat16 on tensor cores: half the bytes, and 16 products where there were 8, for fewer digits.

Idea: the same kernel for elements of 16 bits. One mma multiplies 16×16 by 16×8, twice as much as in TF32 in the same
time, and the 16 bytes of a copy or of a row of ldmatrix hold eight elements. The sums are float32 still. What is left
of each element of A and B is 8 significant bits: a relative error of up to 2**-8, eight times that of rounded TF32.
A lane's registers hold two elements each, neighbours along K. B stored row by row has its neighbours along N, and
ldmatrix.trans exchanges them on the way from shared memory.
A and B come as uint16, the bits of bfloat16 (`to_bfloat16`), for NumPy has no such type; C is float32.
Launch: blocks of 128 threads, 2×2 warps of 64×64, for a 128×128 tile of C; the tiles of A and B are 32 deep.
Edges: what is no whole tile, or has rows that do not begin on 16-byte boundaries, is loaded element by element.
Loads: K (1/128 + 1/128) elements of 2 bytes per element of C from global memory.
Limit: mma.sync itself reaches 641 TFLOP/s on an H200 (recording "tensor"), less than wgmma, which `wgmma` takes.
Source: NVIDIA, "Parallel Thread Execution ISA", the sections on mma.sync, ldmatrix and cp.async; the layout is derived
here.
"""

from numba import cuda, float32, uint16, uint32, uint64

from .async_copy import commit_copies, copy8_async, wait_copies
from .rung import VECTORS, Rung, ready_made
from .tensor_core import mma_bf16
from .tensor_core_formats import as_bfloat16, to_bfloat16
from .tensor_core_loads import load_matrices, load_matrices_transposed
from .tensor_core_tiles import COLUMNS, ROWS, STAGES, WARP_COLUMNS, WARP_ROWS, corner_of_tile, launch

DEPTH = 32
A_ROWS, B_ROWS = STAGES * ROWS, STAGES * DEPTH


@cuda.jit(device=True)
def start_copies(A, B, A_tiles, B_tiles, stage, top, left, start, end):
    """Start to copy the tiles at `start` to a stage, 16 bytes at a time; beyond the last tiles these again, unused."""
    row, k = uint32(cuda.threadIdx.x) // uint32(4), uint32(cuda.threadIdx.x) // uint32(16)
    a, b = cuda.threadIdx.x % 4 * 8, cuda.threadIdx.x % 16 * 8
    start = start if start < end else end - DEPTH
    for i in range(4):
        copy8_async(A_tiles, ROWS * stage + 32 * i + row, a ^ row // 2 % 4 * 8, A, top + row + 32 * i, start + a)
    for i in range(4):
        copy8_async(B_tiles, DEPTH * stage + 8 * i + k, b ^ 8 * k, B, start + 8 * i + k, left + b)
    commit_copies()


@cuda.jit(device=True)
def bits_or_zero(X, row, column):
    """Return X[row, column], or 0 outside."""
    if row < X.shape[0] and column < X.shape[1]:
        return X[uint64(row), uint64(column)]
    return uint16(0)


@cuda.jit(device=True)
def store_tiles(A, B, A_tiles, B_tiles, top, left, start):
    """Store the tiles at `start` to stage 0 element by element, zeros outside."""
    for i in range(cuda.threadIdx.x, ROWS * DEPTH, cuda.blockDim.x):
        row, k = i // DEPTH, i % DEPTH
        A_tiles[row, k ^ row // 2 % 4 * 8] = bits_or_zero(A, top + row, start + k)
    for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, cuda.blockDim.x):
        k, col = i // COLUMNS, i % COLUMNS
        B_tiles[k, col ^ k % 8 * 8] = bits_or_zero(B, start + k, left + col)


@cuda.jit(device=True)
def load_fragments(A_tiles, B_tiles, stage, step, a, b):
    """Load the warp's fragments of step 0 or 1 of a stage: 4 of 16 rows of A, 8 of 8 columns of B."""
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = warp // 2 * WARP_ROWS + lane % 16
    piece = lane // 16 ^ row // 2 % 4
    for i in range(4):
        x = load_matrices(A_tiles, ROWS * stage + 16 * i + row, 8 * piece ^ 16 * step)
        a[i, 0], a[i, 1], a[i, 2], a[i, 3] = x
    k, col = DEPTH * stage + 16 * step + lane % 16, warp % 2 * WARP_COLUMNS + (lane // 16 ^ lane % 8) * 8
    for j in range(4):
        x = load_matrices_transposed(B_tiles, k, col ^ 16 * j)
        b[2 * j, 0], b[2 * j, 1], b[2 * j + 1, 0], b[2 * j + 1, 1] = x


@cuda.jit(device=True)
def multiply(a, b, acc):
    """Add the products of the fragments to the warp's results, down one column and up the next."""
    for j in range(8):
        for n in range(4):
            i = 3 - n if j % 2 else n
            c = acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3]
            d = mma_bf16((a[i, 0], a[i, 1], a[i, 2], a[i, 3]), (b[j, 0], b[j, 1]), c)
            acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3] = d


@cuda.jit(device=True)
def store_results(C, top, left, acc):
    """Store the thread's results as mma leaves them: items 0 and 1 side by side, 0 and 2 eight rows apart."""
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = top + warp // 2 * WARP_ROWS + lane // 4
    col = left + warp % 2 * WARP_COLUMNS + lane % 4 * 2
    for i in range(4):
        for j in range(8):
            for e in range(4):
                y, x = row + 16 * i + e // 2 * 8, col + 8 * j + e % 2
                if y < C.shape[0] and x < C.shape[1]:
                    C[uint64(y), uint64(x)] = acc[i, j, e]


@cuda.jit(device=True)
def advance(A, B, A_tiles, B_tiles, now, following, free, top, left, start, end, a0, b0, a1, b1, acc):
    """Multiply stage `now`, whose first fragments are in a0 and b0, and load those of the following stage.

    Meanwhile the tiles at `start` are on their way to the stage that was used before. Their addresses are computed only
    after the first products, and from unsigned numbers, because the registers then suffice: with the copies first, as
    in TF32, 64 bytes of each thread are in local memory, and the kernel is 2 % slower.
    """
    load_fragments(A_tiles, B_tiles, now, 1, a1, b1)
    multiply(a0, b0, acc)
    start_copies(A, B, A_tiles, B_tiles, free, top, left, start, end)
    wait_copies(1)
    cuda.syncthreads()  # the following stage is there for all, and this one is read
    load_fragments(A_tiles, B_tiles, following, 0, a0, b0)
    multiply(a1, b1, acc)


@cuda.jit
def tensor_cores_bf16(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, uint16 with the bits of bfloat16, C is M×N, float32; all C-ordered."""
    A_tiles = cuda.shared.array((A_ROWS, DEPTH), uint16)
    B_tiles = cuda.shared.array((B_ROWS, COLUMNS), uint16)
    acc = cuda.local.array((4, 8, 4), float32)
    a0 = cuda.local.array((4, 4), uint32)
    a1 = cuda.local.array((4, 4), uint32)
    b0 = cuda.local.array((8, 2), uint32)
    b1 = cuda.local.array((8, 2), uint32)
    K, N = B.shape
    top, left = corner_of_tile()
    if top >= A.shape[0]:
        return
    for i in range(4):
        for j in range(8):
            for e in range(4):
                acc[i, j, e] = 0
    end = 0  # what the copies bring; from there on the tiles are stored element by element
    if K % 8 == 0 and N % 8 == 0 and top + ROWS <= A.shape[0] and left + COLUMNS <= N:
        end = K // DEPTH * DEPTH
    if end > 0:
        start_copies(A, B, A_tiles, B_tiles, 0, top, left, 0, end)
        start_copies(A, B, A_tiles, B_tiles, 1, top, left, DEPTH, end)
        wait_copies(1)
        cuda.syncthreads()
        load_fragments(A_tiles, B_tiles, 0, 0, a0, b0)
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
        load_fragments(A_tiles, B_tiles, 0, 0, a0, b0)
        multiply(a0, b0, acc)
        load_fragments(A_tiles, B_tiles, 0, 1, a0, b0)
        multiply(a0, b0, acc)
    store_results(C, top, left, acc)


RUNG = Rung(
    "tensor_cores_bf16",
    "Tensor cores, bfloat16",
    ready_made(tensor_cores_bf16),
    launch,
    operand=to_bfloat16,
    multiplied=as_bfloat16,
    **VECTORS,
)
