"""Kernels for one shape of tile each, made by one factory: the parts of `product`, for any float32 matrices.

Idea: `best` is one tile shape. A small result has too few tiles of 128×256 to occupy a GPU, a thin one fills only a
part of each. `tile_kernel` makes the same kernel for other shapes, and for matrices stored transposed.
Work: the sum of a tile of C runs over K in units of 16; the units of all tiles are numbered, tile after tile. A block
takes the units of one whole tile, or any equal share of the units of the last tiles, wherever a tile ends: so every
multiprocessor has the same work, however few the tiles are. A tile that several blocks share is added up from their
partial sums by a second kernel, `add_parts`.
Edges: a tile that would stick out of C is moved back until it fits, so no load needs a test; what it computes twice
it stores once. K that is not a multiple of 16 has its ragged unit first, outside the loop.
Source: the shares are those of Osama et al., "Stream-K: work-centric parallel decomposition for dense matrix-matrix
multiplication on the GPU" (2023).
"""

from dataclasses import dataclass
from functools import cache

from numba import cuda, float32, uint64

from .vector import load4, store4

#: K in one unit of work: the depth of the tiles in shared memory.
UNIT = 16
#: Rows of tiles that neighbouring blocks walk down before they turn to the next column: what they share stays in L2.
BAND = 8
#: Added to a result before it is stored, so that the sum moves to another register: see best.py.
ZERO = float32(0)
#: Threads of a block of `add_parts`.
ADDERS = 256


@dataclass(frozen=True)
class Tile:
    """A shape of tile: rows×columns of C for a block, in threads of thread_rows×thread_columns results.

    The 32 lanes of a warp are lane_rows × 32 / lane_rows; a multiprocessor is to hold `blocks` at once, for which the
    registers of a thread are capped.
    """

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    blocks: int
    lane_rows: int = 8

    @property
    def threads(self):
        """Threads of a block."""
        return self.rows * self.columns // (self.thread_rows * self.thread_columns)

    @property
    def registers(self):
        """Registers a thread may have, that `blocks` fit on a multiprocessor of 65,536; the most is 255."""
        return min(255, 65536 // (self.blocks * self.threads) // 8 * 8)

    def __str__(self):
        return f"{self.rows}×{self.columns}"


@dataclass(frozen=True)
class Form:
    """How an operand lies in memory: along_k where neighbours follow each other along K; wide if on 16 bytes."""

    along_k: bool
    wide: bool


@cuda.jit(device=True)
def place(tile, rows, columns, M, N):
    """Return (top, left) of a tile, before it is moved back inside; bands of 8 rows of tiles, column after column."""
    down, across = (M + rows - 1) // rows, (N + columns - 1) // columns
    band = tile // (BAND * across)
    height = min(BAND, down - BAND * band)
    within = tile - band * BAND * across
    return (BAND * band + within % height) * rows, within // height * columns


def _along_k_wide(width, threads, fits):
    """Return what `_loader` does, for an operand along K in loads of 16 bytes: four lanes to a row of 16."""
    step, count = threads // 4, 4 * width // threads

    @cuda.jit(device=True)
    def fetch(X, first, start, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            row = first + thread // 4 + step * i
            if not fits:
                row = min(row, X.shape[0] - 1)
            k = start + thread % 4 * 4
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = load4(X, row, k)

    @cuda.jit(device=True)
    def fetch_ragged(X, first, limit, values):
        thread = cuda.threadIdx.x
        for i in range(4 * count):
            values[i] = 0
        if thread % 4 * 4 < limit:
            fetch(X, first, 0, values)

    @cuda.jit(device=True)
    def keep(tile, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            for e in range(4):
                tile[uint64(thread % 4 * 4 + e), uint64(thread // 4 + step * i)] = values[4 * i + e]

    return fetch, fetch_ragged, keep


def _along_k(width, threads, fits):
    """Return what `_loader` does, for an operand along K, element by element: 16 lanes to a row of 16."""
    step, count = threads // UNIT, UNIT * width // threads

    @cuda.jit(device=True)
    def fetch(X, first, start, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            row = first + thread // UNIT + step * i
            if not fits:
                row = min(row, X.shape[0] - 1)
            values[i] = X[uint64(row), uint64(start + thread % UNIT)]

    @cuda.jit(device=True)
    def fetch_ragged(X, first, limit, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            values[i] = 0
        if thread % UNIT < limit:
            fetch(X, first, 0, values)

    @cuda.jit(device=True)
    def keep(tile, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            tile[uint64(thread % UNIT), uint64(thread // UNIT + step * i)] = values[i]

    return fetch, fetch_ragged, keep


def _across_wide(width, threads, fits):
    """Return what `_loader` does, for an operand across K in loads of 16 bytes."""
    quads = width // 4
    step, count = threads // quads, 4 * width // threads

    @cuda.jit(device=True)
    def fetch(X, first, start, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            column = first + thread % quads * 4
            if not fits:
                column = min(column, X.shape[1] - 4)
            k = start + thread // quads + step * i
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = load4(X, k, column)

    @cuda.jit(device=True)
    def fetch_ragged(X, first, limit, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = 0.0, 0.0, 0.0, 0.0
            column, k = first + thread % quads * 4, thread // quads + step * i
            if not fits:
                column = min(column, X.shape[1] - 4)
            if k < limit:
                values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3] = load4(X, k, column)

    @cuda.jit(device=True)
    def keep(tile, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            four = values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]
            store4(tile, thread // quads + step * i, thread % quads * 4, four)

    return fetch, fetch_ragged, keep


def _across(width, threads, fits):
    """Return what `_loader` does, for an operand across K, element by element."""
    span = min(threads, width)
    step, pieces, count = max(1, threads // width), max(1, width // threads), UNIT * width // threads

    @cuda.jit(device=True)
    def fetch(X, first, start, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            column = first + thread % span + span * (i % pieces)
            if not fits:
                column = min(column, X.shape[1] - 1)
            values[i] = X[uint64(start + thread // span + step * (i // pieces)), uint64(column)]

    @cuda.jit(device=True)
    def fetch_ragged(X, first, limit, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            column, k = first + thread % span + span * (i % pieces), thread // span + step * (i // pieces)
            if not fits:
                column = min(column, X.shape[1] - 1)
            values[i] = X[uint64(k), uint64(column)] if k < limit else float32(0)

    @cuda.jit(device=True)
    def keep(tile, values):
        thread = cuda.threadIdx.x
        for i in range(count):
            k, column = thread // span + step * (i // pieces), thread % span + span * (i % pieces)
            tile[uint64(k), uint64(column)] = values[i]

    return fetch, fetch_ragged, keep


def _loader(width, threads, form, fits):
    """Return device functions (fetch, fetch_ragged, keep) for one operand's tile of `width`×16 elements.

    fetch(X, first, start, values) loads the thread's part of rows first … first + width - 1 of the operand, elements
    start … start + 15 along K; fetch_ragged(X, first, limit, values) those below `limit`, and zeros after them;
    keep(tile, values) stores them, K first. Where the tile does not fit, rows beyond the last repeat the last.
    """
    if form.along_k:
        return (_along_k_wide if form.wide else _along_k)(width, threads, fits)
    return (_across_wide if form.wide else _across)(width, threads, fits)


def _multiplier(tile):
    """Return device functions (load_fragments, two_steps, last_steps) for the results of one thread."""
    thread_rows, thread_columns = tile.thread_rows, tile.thread_columns
    row_step, column_step = 4 * tile.lane_rows, 128 // tile.lane_rows
    row_quads, column_quads = thread_rows // 4, thread_columns // 4

    @cuda.jit(device=True)
    def load_fragments(A_tile, B_tile, k, m, n, a, b):
        for j in range(column_quads):
            b[4 * j], b[4 * j + 1], b[4 * j + 2], b[4 * j + 3] = load4(B_tile, k, n + column_step * j)
        for i in range(row_quads):
            a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tile, k, m + row_step * i)

    @cuda.jit(device=True)
    def add_outer_product(a, b, acc):
        for j in range(thread_columns):
            for i in range(thread_rows):
                row = i if j % 2 == 0 else thread_rows - 1 - i
                acc[row, j] += a[row] * b[j]

    @cuda.jit(device=True)
    def two_steps(A_tile, B_tile, k, m, n, a0, b0, a1, b1, acc):
        load_fragments(A_tile, B_tile, k + 1, m, n, a1, b1)
        add_outer_product(a0, b0, acc)
        load_fragments(A_tile, B_tile, k + 2, m, n, a0, b0)
        add_outer_product(a1, b1, acc)

    return load_fragments, add_outer_product, two_steps


def _storer(wide, onto):
    """Return store_results(C, first, end, row, column, alpha, beta, a, b, c, d): four results, columns first … end."""
    if wide:

        @cuda.jit(device=True)
        def store_results(C, first, end, row, column, alpha, beta, a, b, c, d):
            if first <= column and column < end:
                if onto:
                    p, q, r, s = load4(C, row, column)
                    four = alpha * a + beta * p, alpha * b + beta * q, alpha * c + beta * r, alpha * d + beta * s
                    store4(C, row, column, four)
                else:
                    store4(C, row, column, (alpha * a, alpha * b, alpha * c, alpha * d))

    else:

        @cuda.jit(device=True)
        def store_one(C, first, end, row, column, alpha, beta, value):
            if first <= column and column < end:
                if onto:
                    C[uint64(row), uint64(column)] = alpha * value + beta * C[uint64(row), uint64(column)]
                else:
                    C[uint64(row), uint64(column)] = alpha * value

        @cuda.jit(device=True)
        def store_results(C, first, end, row, column, alpha, beta, a, b, c, d):
            store_one(C, first, end, row, column, alpha, beta, a)
            store_one(C, first, end, row, column + 1, alpha, beta, b)
            store_one(C, first, end, row, column + 2, alpha, beta, c)
            store_one(C, first, end, row, column + 3, alpha, beta, d)

    return store_results


@cache
def tile_kernel(tile, a_form, b_form, c_wide, fits, onto):
    """Return the kernel of one tile shape for operands of two forms; fits: C is no smaller, nor K than 16.

    kernel[whole + shares, tile.threads](A, B, C, M, N, alpha, beta, whole, shares, partial) computes the first M rows
    and N columns of C = alpha A·B + beta C. A is M×K, or K×M where a_form is not along_k, and B is K×N, or N×K where
    b_form is along_k; all are float32 and C-ordered. c_wide: C's rows begin on 16 bytes; onto: beta is not 0. The first
    `whole` blocks take a tile each; `shares` more blocks take equal shares of the tiles after those. Sums of part of a
    tile go to `partial`, float32 of (2 shares rows)×columns, from where `add_parts` brings them into C.
    """
    rows, columns, threads = tile.rows, tile.columns, tile.threads
    thread_rows, thread_columns = tile.thread_rows, tile.thread_columns
    warp_rows, lane_rows, lane_columns = tile.lane_rows * thread_rows, tile.lane_rows, 32 // tile.lane_rows
    warp_columns = lane_columns * thread_columns
    warps_across = columns // warp_columns
    row_step, column_step = 4 * lane_rows, 4 * lane_columns
    a_pitch = rows + (4 if a_form.along_k else 0)
    b_pitch = columns + (4 if b_form.along_k else 0)
    a_part, b_part = UNIT * rows // threads, UNIT * columns // threads
    a_along_k = a_form.along_k
    fetch_a, fetch_ragged_a, keep_a = _loader(rows, threads, a_form, fits)
    fetch_b, fetch_ragged_b, keep_b = _loader(columns, threads, b_form, fits)
    load_fragments, add_outer_product, two_steps = _multiplier(tile)
    store_results = _storer(c_wide, onto)
    column_quads = thread_columns // 4
    alone = tile.blocks == 1

    @cuda.jit(max_registers=tile.registers)
    def tile_product(A, B, C, M, N, alpha, beta, whole, shares, partial):
        A_tile = cuda.shared.array((UNIT, a_pitch), float32)
        B_tile = cuda.shared.array((UNIT, b_pitch), float32)
        acc = cuda.local.array((thread_rows, thread_columns), float32)
        a0 = cuda.local.array(thread_rows, float32)
        a1 = cuda.local.array(thread_rows, float32)
        a_next = cuda.local.array(a_part, float32)
        b0 = cuda.local.array(thread_columns, float32)
        b1 = cuda.local.array(thread_columns, float32)
        b_next = cuda.local.array(b_part, float32)
        K = A.shape[1] if a_along_k else A.shape[0]
        units = max(1, (K + UNIT - 1) // UNIT)
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        m = warp // warps_across * warp_rows + lane // lane_columns * 4
        n = warp % warps_across * warp_columns + lane % lane_columns * 4
        share = cuda.blockIdx.x - whole
        if share < 0:
            unit = cuda.blockIdx.x * units
            last = unit + units
        else:
            tiles = (M + rows - 1) // rows * ((N + columns - 1) // columns)
            shared_units = (tiles - whole) * units
            unit = whole * units + share * shared_units // shares
            last = whole * units + (share + 1) * shared_units // shares
        while unit < last:
            number = unit // units
            begin, end = unit - number * units, min(units, last - number * units)
            own_top, own_left = place(number, rows, columns, M, N)
            top, left = max(0, min(own_top, M - rows)), max(0, min(own_left, N - columns))
            for i in range(thread_rows):
                for j in range(thread_columns):
                    acc[i, j] = 0
            if begin == 0:
                fetch_ragged_a(A, top, K - UNIT * (units - 1), a_next)
                fetch_ragged_b(B, left, K - UNIT * (units - 1), b_next)
            else:
                fetch_a(A, top, K - UNIT * (units - begin), a_next)
                fetch_b(B, left, K - UNIT * (units - begin), b_next)
            cuda.syncthreads()  # nobody reads the tiles of the share's other part any more
            keep_a(A_tile, a_next)
            keep_b(B_tile, b_next)
            cuda.syncthreads()
            load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
            stop = K - UNIT * (units - end)
            for start in range(K - UNIT * (units - begin - 1), stop + UNIT, UNIT):
                two_steps(A_tile, B_tile, 0, m, n, a0, b0, a1, b1, acc)
                # Without the barriers of the warp the compiler puts the loads off until right before their use. A block
                # alone on its multiprocessor is faster with a branch around both; where several take turns, the tiles
                # are fetched one step apart, in the last round once more, for want of others.
                if alone or not fits:
                    if start < stop:
                        fetch_a(A, top, start, a_next)
                        fetch_b(B, left, start, b_next)
                    cuda.syncwarp()
                    two_steps(A_tile, B_tile, 2, m, n, a0, b0, a1, b1, acc)
                else:
                    fetch_b(B, left, max(0, min(start, stop - UNIT)), b_next)
                    cuda.syncwarp()
                    two_steps(A_tile, B_tile, 2, m, n, a0, b0, a1, b1, acc)
                    fetch_a(A, top, max(0, min(start, stop - UNIT)), a_next)
                    cuda.syncwarp()
                two_steps(A_tile, B_tile, 4, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, 6, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, 8, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, 10, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, 12, m, n, a0, b0, a1, b1, acc)
                load_fragments(A_tile, B_tile, 15, m, n, a1, b1)
                add_outer_product(a0, b0, acc)
                cuda.syncthreads()  # nobody reads the tiles any more
                keep_a(A_tile, a_next)
                keep_b(B_tile, b_next)
                cuda.syncthreads()  # the next tiles are complete
                load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
                add_outer_product(a1, b1, acc)
            if end - begin < units:
                slot = 2 * share + (1 if begin == 0 else 0)
                for i in range(thread_rows):
                    row = slot * rows + m + i // 4 * row_step + i % 4
                    for j in range(column_quads):
                        a, b, c, d = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
                        store4(partial, row, n + column_step * j, (a + ZERO, b + ZERO, c + ZERO, d + ZERO))
            else:
                for i in range(thread_rows):
                    row = top + m + i // 4 * row_step + i % 4
                    for j in range(column_quads):
                        col = left + n + column_step * j
                        a, b, c, d = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
                        if own_top <= row and row < M:
                            store_results(C, own_left, N, row, col, alpha, beta, a, b, c, d)
            unit = number * units + end

    return tile_product


@cache
def add_parts(tile, c_wide, onto, groups):
    """Return the kernel that brings the parts of shared tiles into C.

    kernel[(tiles - whole) rows columns groups / 1024, 256](C, M, N, alpha, beta, units, whole, shares, partial), for
    the same numbers as the kernel of `tile_kernel`; units: K in units of 16, at least 1. A thread adds up four
    results, of every part or, in `groups`, of every so many; the groups' sums meet in shared memory.
    """
    rows, columns = tile.rows, tile.columns
    quads, per_block = columns // 4, ADDERS // groups
    width = 4 * per_block
    store_results = _storer(c_wide, onto)

    @cuda.jit
    def add_parts(C, M, N, alpha, beta, units, whole, shares, partial):
        sums = cuda.shared.array((groups, width), float32)
        group, mine = cuda.threadIdx.x // per_block, cuda.threadIdx.x % per_block
        quad = cuda.blockIdx.x * per_block + mine
        number, row, column = quad // (rows * quads), quad // quads % rows, quad % quads * 4
        shared_units = ((M + rows - 1) // rows * ((N + columns - 1) // columns) - whole) * units
        first = ((number * units + 1) * shares - 1) // shared_units  # the block with the tile's first unit
        last = ((number + 1) * units * shares - 1) // shared_units  # and with its last
        if first < last:
            a, b, c, d = float32(0), float32(0), float32(0), float32(0)
            for share in range(first + group, last + 1, groups):
                slot = 2 * share + (1 if share == first else 0)
                p, q, r, s = load4(partial, slot * rows + row, column)
                a += p
                b += q
                c += r
                d += s
            if groups > 1:
                store4(sums, group, 4 * mine, (a, b, c, d))
                cuda.syncthreads()
                for other in range(1, groups):
                    p, q, r, s = load4(sums, other, 4 * mine)
                    a += p
                    b += q
                    c += r
                    d += s
            own_top, own_left = place(whole + number, rows, columns, M, N)
            row += max(0, min(own_top, M - rows))
            column += max(0, min(own_left, N - columns))
            if group == 0 and own_top <= row and row < M:
                store_results(C, own_left, N, row, column, alpha, beta, a, b, c, d)

    return add_parts
