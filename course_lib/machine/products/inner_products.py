"""Products with a few rows or columns: every result is an inner product, divided among the threads of a block.

Idea: a result of four columns or fewer does not profit from a tile: almost every element in shared memory would be read
only once. Here the long operand is read once, in whole sectors, and the arithmetic waits for memory: the speed depends
on the bytes in flight, so a thread requests several vectors before it uses the first.
`along_k` is for a long operand that is contiguous along K: a block takes eight of its rows, and its threads take
elements along K in turn. `across` is for one that is contiguous the other way: each lane has a column, or four, and
groups of lanes take rows along K in turn. Where that makes too few blocks for a GPU, K is split into parts, and the
last block to take its ticket adds them up, in their order.
"""

from functools import cache
from math import ceil

from numba import cuda, float32, uint32, uint64

from ...kernels.registers import capped
from ...kernels.vector import load4

#: Threads of a block of `along_k`, its warps, and its rows of the long operand.
THREADS, WARPS, ROWS = 256, 8, 8
#: Threads of a block of `across`, its warps, its columns, and the rows that a thread loads before it uses the first.
THREADS_ACROSS, WARPS_ACROSS, COLUMNS, AHEAD = 1024, 32, 32, 4
#: Registers that each of so many threads may have on a multiprocessor of 65,536.
REGISTERS_ACROSS = 65536 // THREADS_ACROSS
#: Products with at most so many rows or columns, or with so many beyond the last whole tile, may be inner products.
FEW = 4
#: Blocks that saturate a multiprocessor's share of the memory bandwidth, of `along_k` and of `across`.
BLOCKS, BLOCKS_ACROSS = 4, 1


def split(end, K, is_along_k, wide, multiprocessors):
    """Return (rows or columns of a block, elements along K of a part, parts) for a long operand with `end` of them."""
    if is_along_k:
        each, least, busy = ROWS, 4 * THREADS, BLOCKS * multiprocessors
    else:
        each, least = COLUMNS, AHEAD * THREADS_ACROSS * (4 if wide else 1) // COLUMNS
        busy = BLOCKS_ACROSS * multiprocessors
    parts = min(max(1, busy // ceil(end / each)), max(1, K // least))
    chunk = max(1, ceil(K / parts / least)) * least
    return each, chunk, max(1, ceil(K / chunk))


@cache
def _access(short_along_k, flipped, onto):
    """Return device functions (short, store): load an element of the short operand; scale and store a result to C."""

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


@cuda.jit(device=True)
def is_last_part(ticket, tickets, number, parts):
    """Return whether this block is the last of `parts` blocks to call this; all stores of the others are then visible.

    ticket: a uint32 in shared memory; tickets[number] belongs to these blocks, and is zero before and after.
    """
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        ticket[0] = cuda.atomic.inc(tickets, number, parts - 1)  # after the last comes 0
        cuda.threadfence()
    cuda.syncthreads()
    return ticket[0] == parts - 1


def _adder(count, store):
    """Return add_parts(partial, C, top, end, first, alpha, beta), which adds up the parts of a block's results."""
    results = ROWS * count

    @cuda.jit(device=True)
    def add_parts(partial, C, top, end, first, alpha, beta):
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        for result in range(warp, results, WARPS):  # one warp a result; a lane adds every 32nd part
            w, c = top + result // count, result % count
            total = float32(0)
            if w < end:
                for part in range(lane, cuda.gridDim.y, 32):
                    total += partial[part * count + c, w]
            for halving in range(5):
                total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16 >> halving)
            if w < end and lane == 0:
                store(C, w, first + c, alpha, beta, total)

    return add_parts


@cache
def along_k(count, wide, short_along_k, flipped, onto):
    """Return the kernel for a long operand L of W×K: kernel[(ceil(W / 8), parts), 256](L, S, C, ...).

    Its arguments after C: alpha, beta, end, first, chunk, partial, tickets. It computes the results of rows 0 … end - 1
    of L with `count` columns of S (rows, if short_along_k) from `first` on, stored in C[w, c] or, flipped, C[c, w].
    Part p takes `chunk` elements of K, a multiple of 1024; with several parts the sums go to
    partial[p count + c - first, w] first. tickets: a uint32 for each block in x, zero before and after.
    """
    short, store = _access(short_along_k, flipped, onto)
    step = 4 * THREADS if wide else THREADS
    each = 4 if wide else 1
    results = ROWS * count

    add_parts = _adder(count, store)

    @cuda.jit
    def products_along_k(L, S, C, alpha, beta, end, first, chunk, partial, tickets):
        sums = cuda.local.array((ROWS, count), float32)
        shared = cuda.shared.array((WARPS, results), float32)
        ticket = cuda.shared.array(1, uint32)
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
        w, c = top + cuda.threadIdx.x // count, cuda.threadIdx.x % count
        inside = cuda.threadIdx.x < results and w < end
        total = float32(0)
        if inside:
            for other in range(WARPS):
                total += shared[other, cuda.threadIdx.x]
            if cuda.gridDim.y > 1:
                partial[cuda.blockIdx.y * count + c, w] = total
        if cuda.gridDim.y == 1:
            if inside:
                store(C, w, first + c, alpha, beta, total)
        elif is_last_part(ticket, tickets, cuda.blockIdx.x, cuda.gridDim.y):
            add_parts(partial, C, top, end, first, alpha, beta)

    return products_along_k


@cache
def across(count, wide, short_along_k, flipped, onto):
    """Return the kernel for a long operand L of K×W: kernel[(ceil(W / 32), parts), 1024](L, S, C, ...).

    The other arguments are those of `along_k`; `chunk` may have any value. A block has 32 columns, so that there are
    many blocks: a warp takes one row of them at a time or, if `wide`, four rows in 16-byte loads.
    """
    short, store = _access(short_along_k, flipped, onto)
    each = 4 if wide else 1
    lanes = COLUMNS // each
    groups, steps = THREADS_ACROSS // lanes, 2 if wide else 0
    sums_of_block = WARPS_ACROSS * count

    @capped(REGISTERS_ACROSS)
    def products_across(L, S, C, alpha, beta, end, first, chunk, partial, tickets):
        sums = cuda.local.array((count, each), float32)
        ahead = cuda.local.array((AHEAD, each), float32)
        shared = cuda.shared.array((sums_of_block, COLUMNS), float32)
        ticket = cuda.shared.array(1, uint32)
        warp, group, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x // lanes, cuda.threadIdx.x % lanes
        left, begin = cuda.blockIdx.x * COLUMNS, cuda.blockIdx.y * chunk
        stop = min(begin + chunk, L.shape[0])
        for c in range(count):
            for e in range(each):
                sums[c, e] = 0
        column = min(left + each * lane, L.shape[1] - each)
        for start in range(begin + group, stop, AHEAD * groups):
            for i in range(AHEAD):
                k = min(start + groups * i, stop - 1)
                if wide:
                    ahead[i, 0], ahead[i, 1], ahead[i, 2], ahead[i, 3] = load4(L, k, column)
                else:
                    ahead[i, 0] = L[uint64(k), uint64(column)]
            for i in range(AHEAD):
                k = start + groups * i
                if k < stop:
                    for c in range(count):
                        value = short(S, k, first + c)
                        for e in range(each):
                            sums[c, e] += ahead[i, e] * value
        for c in range(count):
            for e in range(each):
                total = sums[c, e]
                for step in range(steps):  # a warp's groups of lanes add up their sums
                    total += cuda.shfl_xor_sync(0xFFFFFFFF, total, lanes << step)
                if cuda.threadIdx.x % 32 < lanes:
                    shared[warp * count + c, each * lane + e] = total
        cuda.syncthreads()
        parts = cuda.gridDim.y
        c, w = cuda.threadIdx.x // COLUMNS, left + cuda.threadIdx.x % COLUMNS
        inside = c < count and w < end
        if inside:
            total = float32(0)
            for other in range(WARPS_ACROSS):
                total += shared[other * count + c, cuda.threadIdx.x % COLUMNS]
            if parts > 1:
                partial[cuda.blockIdx.y * count + c, w] = total
            else:
                store(C, w, first + c, alpha, beta, total)
        if parts > 1 and is_last_part(ticket, tickets, cuda.blockIdx.x, cuda.gridDim.y) and inside:
            total = float32(0)
            for part in range(parts):
                total += partial[part * count + c, w]
            store(C, w, first + c, alpha, beta, total)

    return products_across
