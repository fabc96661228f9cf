"""Products of few multiplications, or of few results: every thread reads its operands from global memory.

Idea: a tile in shared memory pays if each of its elements serves many multiplications. With K of a few dozens, or with
a few thousand results, the time is that of the launch, of the first loads and of the stores; a kernel with little code,
no barrier and no shared memory has the shortest of all three.
Work: a thread computes rows×columns results, and a warp's lanes are spread across and down C, so that loads of B and
stores of C are consecutive. Where few results have a long K, the warps of a block take slices of it and add their sums
through shared memory, and several blocks take parts of K; the last to take its ticket adds them up, in order.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil

from numba import cuda, float32, uint32, uint64

from .inner_products import is_last_part

#: Warps and threads of a block, and the steps along K whose operands a thread loads before it uses the first.
WARPS, THREADS, AHEAD = 8, 256, 4
ZERO = float32(0)


@dataclass(frozen=True)
class Direct:
    """The results of a thread, rows×columns, the lanes of a warp across C, and the slices of K in a block."""

    lanes: int
    rows: int
    columns: int
    slices: int

    @property
    def height(self):
        """Rows of C for a block."""
        return WARPS // self.slices * 32 // self.lanes * self.rows

    @property
    def width(self):
        """Columns of C for a block."""
        return self.lanes * self.columns

    def blocks(self, M, N):
        """Return the number of blocks down and across an M×N result."""
        return ceil(M / self.height), ceil(N / self.width)


#: The choice of `planning.plan`: results for results of every form, without and with slices of K.
DIRECT = tuple(
    Direct(lanes, rows, columns, slices)
    for slices in (1, WARPS)
    for lanes, rows, columns in (
        *((32, 4, 4), (32, 4, 1), (32, 1, 1), (16, 4, 1), (8, 4, 2), (8, 4, 1)),
        *(((4, 4, 1),) if slices == 1 else ((16, 4, 4), (4, 2, 1))),
    )
)


@cache
def direct(shape, a_along_k, b_along_k, onto):
    """Return the kernel: kernel[(ceil(M / height), ceil(N / width), parts), 256](A, B, C, ...).

    Its arguments after C: alpha, beta, K, chunk, partial, tickets. Part p takes `chunk` elements of K; with several
    parts the sums go to partial[p, …] first. tickets: a uint32 for each block of a part, zero before and after.
    """
    lanes, rows, columns, slices = shape.lanes, shape.rows, shape.columns, shape.slices
    height, width, down, results = shape.height, shape.width, 32 // shape.lanes, shape.rows * shape.columns

    @cuda.jit(device=True)
    def load_a(A, row, k):
        return A[uint64(row), uint64(k)] if a_along_k else A[uint64(k), uint64(row)]

    @cuda.jit(device=True)
    def load_b(B, k, column):
        return B[uint64(column), uint64(k)] if b_along_k else B[uint64(k), uint64(column)]

    @cuda.jit(device=True)
    def add_products(a, b, acc):
        for u in range(AHEAD):
            for i in range(rows):
                for j in range(columns):
                    acc[i, j] += a[u, i] * b[u, j]

    @cuda.jit(device=True)
    def store(C, row, column, alpha, beta, total):
        if row < C.shape[0] and column < C.shape[1]:
            if onto:
                C[uint64(row), uint64(column)] = alpha * total + beta * C[uint64(row), uint64(column)]
            else:
                C[uint64(row), uint64(column)] = alpha * total

    @cuda.jit
    def products_directly(A, B, C, alpha, beta, K, chunk, partial, tickets):
        a = cuda.local.array((AHEAD, rows), float32)
        b = cuda.local.array((AHEAD, columns), float32)
        acc = cuda.local.array((rows, columns), float32)
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        top = cuda.blockIdx.x * height + (warp // slices * down + lane // lanes) * rows
        left = cuda.blockIdx.y * width + lane % lanes
        begin = cuda.blockIdx.z * chunk
        end = min(begin + chunk, K)
        for i in range(rows):
            for j in range(columns):
                acc[i, j] = 0
        # Selected after loading, the zeros keep the compiler from mixing loads and multiplications, which then would
        # wait step by step. With slices there are more warps to fill such waits, and the plain loop has less to do.
        whole = 0 if slices == 1 else (end - begin) // AHEAD * AHEAD
        for start in range(begin + warp % slices * AHEAD, begin + whole, AHEAD * slices):
            for u in range(AHEAD):
                for i in range(rows):
                    a[u, i] = load_a(A, min(top + i, C.shape[0] - 1), start + u)
                for j in range(columns):
                    b[u, j] = load_b(B, start + u, min(left + lanes * j, C.shape[1] - 1))
            add_products(a, b, acc)
        if whole // AHEAD % slices == warp % slices:
            for start in range(begin + whole, end, AHEAD):
                for u in range(AHEAD):
                    k, there = min(start + u, end - 1), start + u < end
                    for i in range(rows):
                        value = load_a(A, min(top + i, C.shape[0] - 1), k)
                        a[u, i] = value if there else ZERO
                    for j in range(columns):
                        value = load_b(B, k, min(left + lanes * j, C.shape[1] - 1))
                        b[u, j] = value if there else ZERO
                add_products(a, b, acc)
        if slices == 1:
            for i in range(rows):
                for j in range(columns):
                    store(C, top + i, left + lanes * j, alpha, beta, acc[i, j])
        else:
            sums = cuda.shared.array((slices, results, 32), float32)
            ticket = cuda.shared.array(1, uint32)
            for i in range(rows):
                for j in range(columns):
                    sums[warp, i * columns + j, lane] = acc[i, j]
            cuda.syncthreads()
            for result in range(warp, results, slices):  # a warp adds the slices of every eighth result
                row, column = top + result // columns, left + lanes * (result % columns)
                total = float32(0)
                for other in range(slices):
                    total += sums[other, result, lane]
                if cuda.gridDim.z == 1:
                    store(C, row, column, alpha, beta, total)
                elif row < C.shape[0] and column < C.shape[1]:
                    partial[cuda.blockIdx.z, uint64(row), uint64(column)] = total
            if cuda.gridDim.z > 1 and is_last_part(
                ticket, tickets, cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x, cuda.gridDim.z
            ):
                for result in range(warp, results, slices):
                    row, column = top + result // columns, left + lanes * (result % columns)
                    if row < C.shape[0] and column < C.shape[1]:
                        total = float32(0)
                        for part in range(cuda.gridDim.z):
                            total += partial[part, uint64(row), uint64(column)]
                        store(C, row, column, alpha, beta, total)

    return products_directly
