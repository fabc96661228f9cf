"""Products with a few rows or columns: every result an inner product of its own, split among the threads of a block.

Idea: a result of four columns or fewer has no use for a tile: of the elements it would keep in shared memory, all but a
few are read once. Here the long operand is read once, in whole sectors, and the arithmetic waits for memory.
`along_k` is for a long operand whose neighbours in memory follow each other along K: a block takes four of its rows,
and its 256 threads take turns along K. `across` is for one that lies the other way: each lane has a column, or
four, and the 8 warps take turns along K. Where that makes too few blocks for a GPU, K is split into parts.
"""

from functools import cache

from numba import cuda, float32, uint64

from .vector import load4

THREADS = 256
WARPS = 8
#: Rows of the long operand in a block of `along_k`.
ROWS = 4
#: A product with this many rows or columns, or with so many beyond the last whole tile, is one of inner products.
FEW = 4


@cache
def _access(short_along_k, flipped, onto):
    """Return device functions (short, store): an element of the short operand, and a result on its way to C."""

    @cuda.jit(device=True)
    def short(S, k, c):
        if short_along_k:
            return S[uint64(c), uint64(k)]
        return S[uint64(k), uint64(c)]

    @cuda.jit(device=True)
    def store(C, w, c, alpha, beta, total):
        row, column = (c, w) if flipped else (w, c)
        if onto:
            C[uint64(row), uint64(column)] = alpha * total + beta * C[uint64(row), uint64(column)]
        else:
            C[uint64(row), uint64(column)] = alpha * total

    return short, store


@cache
def along_k(count, wide, short_along_k, flipped, onto):
    """Return the kernel for a long operand L of W×K: kernel[(ceil(W / 4), parts), 256](L, S, C, ...).

    Its arguments after C: alpha, beta, end, first, chunk, partial. It computes the results of rows 0 … end - 1 of L
    with `count` columns of S (rows, if short_along_k) from `first` on, stored in C[w, c] or, flipped, C[c, w].
    Part p takes `chunk` elements of K, a multiple of 1024; with several parts the sums go to
    partial[p count + c - first, w] instead.
    """
    short, store = _access(short_along_k, flipped, onto)
    step = 4 * THREADS if wide else THREADS
    each = 4 if wide else 1
    results = ROWS * count

    @cuda.jit
    def products_along_k(L, S, C, alpha, beta, end, first, chunk, partial):
        sums = cuda.local.array((ROWS, count), float32)
        shared = cuda.shared.array((WARPS, results), float32)
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        top, begin = cuda.blockIdx.x * ROWS, cuda.blockIdx.y * chunk
        for i in range(ROWS):
            for c in range(count):
                sums[i, c] = 0
        for k in range(begin + each * cuda.threadIdx.x, min(begin + chunk, L.shape[1]), step):
            for i in range(ROWS):
                row = min(top + i, end - 1)
                if wide:
                    p, q, r, s = load4(L, row, k)
                    for c in range(count):
                        sums[i, c] += p * short(S, k, first + c) + q * short(S, k + 1, first + c)
                        sums[i, c] += r * short(S, k + 2, first + c) + s * short(S, k + 3, first + c)
                else:
                    value = L[uint64(row), uint64(k)]
                    for c in range(count):
                        sums[i, c] += value * short(S, k, first + c)
        for i in range(ROWS):
            for c in range(count):
                total = sums[i, c]
                for halving in range(5):
                    total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16 >> halving)
                if lane == 0:
                    shared[warp, i * count + c] = total
        cuda.syncthreads()
        if cuda.threadIdx.x < results:
            w, c = top + cuda.threadIdx.x // count, cuda.threadIdx.x % count
            total = float32(0)
            for other in range(WARPS):
                total += shared[other, cuda.threadIdx.x]
            if w < end:
                if cuda.gridDim.y > 1:
                    partial[cuda.blockIdx.y * count + c, w] = total
                else:
                    store(C, w, first + c, alpha, beta, total)

    return products_along_k


@cache
def across(count, wide, short_along_k, flipped, onto):
    """Return the kernel for a long operand L of K×W: kernel[(ceil(W / 128), parts), 256](L, S, C, ...).

    Blocks of 32 columns where it is not `wide`. The other arguments are those of `along_k`; `chunk` is a multiple of 8.
    """
    short, store = _access(short_along_k, flipped, onto)
    each = 4 if wide else 1
    columns = 32 * each
    sums_of_block = WARPS * count

    @cuda.jit
    def products_across(L, S, C, alpha, beta, end, first, chunk, partial):
        sums = cuda.local.array((count, each), float32)
        shared = cuda.shared.array((sums_of_block, columns), float32)
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        left, begin = cuda.blockIdx.x * columns, cuda.blockIdx.y * chunk
        for c in range(count):
            for e in range(each):
                sums[c, e] = 0
        column = min(left + each * lane, L.shape[1] - each)
        for k in range(begin + warp, min(begin + chunk, L.shape[0]), WARPS):
            if wide:
                p, q, r, s = load4(L, k, column)
                for c in range(count):
                    value = short(S, k, first + c)
                    sums[c, 0] += p * value
                    sums[c, 1] += q * value
                    sums[c, 2] += r * value
                    sums[c, 3] += s * value
            else:
                value = L[uint64(k), uint64(column)]
                for c in range(count):
                    sums[c, 0] += value * short(S, k, first + c)
        for c in range(count):
            for e in range(each):
                shared[warp * count + c, each * lane + e] = sums[c, e]
        cuda.syncthreads()
        for i in range(cuda.threadIdx.x, count * columns, THREADS):
            c, w = i // columns, left + i % columns
            total = float32(0)
            for other in range(WARPS):
                total += shared[other * count + c, i % columns]
            if w < end:
                if cuda.gridDim.y > 1:
                    partial[cuda.blockIdx.y * count + c, w] = total
                else:
                    store(C, w, first + c, alpha, beta, total)

    return products_across


@cache
def add_thin_parts(count, flipped, onto):
    """Return the kernel that adds up the parts: kernel[ceil(count end / 256), 256](C, alpha, beta, ...).

    Its arguments after beta: end, first, parts, partial, as above.
    """
    _, store = _access(False, flipped, onto)

    @cuda.jit
    def add_thin_parts(C, alpha, beta, end, first, parts, partial):
        i = cuda.blockIdx.x * THREADS + cuda.threadIdx.x
        if i < count * end:
            c, w = i // end, i % end
            total = float32(0)
            for part in range(parts):
                total += partial[part * count + c, w]
            store(C, w, first + c, alpha, beta, total)

    return add_thin_parts
