"""Kernels for one shape of tile each, made by one factory: the parts of `product`, for any float32 matrices.

Idea: `best` is one tile shape. A small result has too few tiles of 128×256 to occupy a GPU, a thin one fills only a
part of each. `tile_kernel` makes the same kernel for other shapes, and for matrices stored transposed.
Work: the sum of a tile of C runs over K in units of 16; the units of all tiles are numbered, tile after tile. A block
takes the units of one whole tile, or any equal share of the units of the last tiles, wherever a tile ends: so every
multiprocessor has the same work, however few the tiles are. The blocks of a shared tile store their partial sums, and
each takes a ticket; the block with the last ticket adds them up, in their order. No block waits, and no second launch
is needed.
Slices: a small tile has few results, so few warps. Several groups of warps, each with a slice of every unit of K, give
it more; at the end they exchange halves of their results through shared memory and add them up.
Edges: a tile that would exceed C is moved back until it fits, so no load needs a test; results computed twice are
stored once. If K is not a multiple of 16, its ragged unit comes first, outside the loop; where K has few units, no more
of it is multiplied than there is.
Source: the shares are those of Osama et al., "Stream-K: work-centric parallel decomposition for dense matrix-matrix
multiplication on the GPU" (2023).
"""

from dataclasses import dataclass
from functools import cache

from numba import cuda, float32, int64, uint32, uint64

from ...kernels.registers import capped
from ...kernels.vector import load4, store4
from .quotient import quotient
from .tile_loads import UNIT, loader

#: Rows of tiles in a band; blocks go down a band column by column, so that neighbours share data in the L2 cache.
BAND = 8
#: Vectors of partial sums that a thread requests at once.
LOADS = 16
#: Added to a result before it is stored, so that the sum moves to another register: see best.py.
ZERO = float32(0)


@dataclass(frozen=True)
class Tile:
    """A shape of tile: rows×columns of C for a block, in threads of thread_rows×thread_columns results.

    The 32 lanes of a warp are lane_rows × 32 / lane_rows. The registers of a thread are limited so that a
    multiprocessor holds `blocks` blocks at once.
    """

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    blocks: int
    lane_rows: int = 8
    slices: int = 1

    @property
    def depth(self):
        """The depth of the tiles in shared memory, which is that of one unit of work along K."""
        return UNIT * self.slices

    @property
    def threads(self):
        """Threads of a block."""
        return self.slices * self.rows * self.columns // (self.thread_rows * self.thread_columns)

    @property
    def registers(self):
        """The most registers of a thread with which `blocks` blocks fit on a multiprocessor of 65,536; at most 255."""
        return min(255, 65536 // (self.blocks * self.threads) // 8 * 8)

    def __str__(self):
        return f"{self.rows}×{self.columns}"


@cuda.jit(device=True)
def place(tile, rows, columns, M, N):
    """Return (top, left) of a tile, before it is moved back inside; bands of 8 rows of tiles, column after column."""
    down, across = (M + rows - 1) // rows, (N + columns - 1) // columns
    band = quotient(tile, BAND * across)
    height = min(BAND, down - BAND * band)
    within = tile - band * BAND * across
    column = quotient(within, height)
    return (BAND * band + within - column * height) * rows, column * columns


@cuda.jit(device=True)
def moved_back(own, last, quads):
    """Return where a tile begins: at `own`, but at most at `last`, rounded up to loads of 16 bytes."""
    return max(0, min(own, (last + 3) // 4 * 4 if quads else last))


def _multiplier(tile):
    """Return device functions (load_fragments, add_outer_product, two_steps) for the results of one thread."""
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


def _ragged_multiplier(load_fragments, add_outer_product, loaders):
    """Return multiply_ragged(operands, tiles, ...), which multiplies the `steps` elements of K of a ragged unit alone.

    Meanwhile it loads the next unit, at `steps` along K, into the tiles, if that begins before `stop`.
    """
    (fetch_a, _, keep_a), (fetch_b, _, keep_b) = loaders

    @cuda.jit(device=True)
    def multiply_ragged(operands, tiles, thread, top, left, m, n, steps, stop, a_next, b_next, a, b, acc):
        (A, B), (A_tile, B_tile) = operands, tiles
        if steps < stop:
            fetch_a(A, thread, top, steps, a_next)
            fetch_b(B, thread, left, steps, b_next)
        k = 0
        while cuda.all_sync(0xFFFFFFFF, k < steps):  # as in store_row, the vote keeps this a loop
            load_fragments(A_tile, B_tile, k, m, n, a, b)
            add_outer_product(a, b, acc)
            k += 1
        cuda.syncthreads()  # no thread reads the tiles any more
        keep_a(A_tile, thread, 0, a_next)
        keep_b(B_tile, thread, 0, b_next)
        cuda.syncthreads()

    return multiply_ragged


def _quad_storer(tile, onto):
    """Return store_tile(C, buffer, results, ...) for a C whose rows begin on 16 bytes: four results at a time.

    The thread's first result is row `mine` and column `n` of the tile at (top, left), of which rows from own_top and
    columns from own_left on are stored, up to row M and column N of C. `buffer` is not used.
    """
    kept, row_step, column_step = tile.thread_rows // tile.slices, 4 * tile.lane_rows, 128 // tile.lane_rows
    column_quads = tile.thread_columns // 4

    @cuda.jit(device=True)
    def store_tile(C, buffer, results, own_top, own_left, top, left, mine, n, M, N, alpha, beta):
        for i in range(kept):
            row = top + mine + i // 4 * row_step + i % 4
            for j in range(column_quads):
                column = left + n + column_step * j
                a, b, c, d = results[i, 4 * j], results[i, 4 * j + 1], results[i, 4 * j + 2], results[i, 4 * j + 3]
                if own_top <= row and row < M and own_left <= column and column < N:
                    if onto:
                        p, q, r, s = load4(C, row, column)
                        four = alpha * a + beta * p, alpha * b + beta * q, alpha * c + beta * r, alpha * d + beta * s
                        store4(C, row, column, four)
                    else:
                        store4(C, row, column, (alpha * a, alpha * b, alpha * c, alpha * d))

    return store_tile


def _row_storer(tile, onto):
    """Return store_tile as `_quad_storer` does, for a C with rows of any alignment, through `buffer` in shared memory.

    Directly from registers a warp would store every fourth column of eight rows at a time, parts of 24 sectors, and the
    L2 cache takes a part of a sector no faster than a whole one. From shared memory it stores 32 neighbours, 5 sectors.
    """
    kept, row_step, columns = tile.thread_rows // tile.slices, 4 * tile.lane_rows, tile.columns
    lane_columns, thread_columns = 32 // tile.lane_rows, tile.thread_columns
    warp_columns, column_quads = lane_columns * thread_columns, thread_columns // 4
    bits, warp_bits = columns.bit_length() - 1, warp_columns.bit_length() - 1

    def storer(i):
        """Return a function that stores row i of a thread's results; registers need a constant i."""

        @cuda.jit(device=True)
        def store_row(C, buffer, results, own_top, own_left, top, left, M, N, alpha, beta):
            lane, part = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32 * (32 * thread_columns)
            cuda.syncwarp()  # no lane reads the row before any more
            for j in range(column_quads):
                a, b, c, d = results[i, 4 * j], results[i, 4 * j + 1], results[i, 4 * j + 2], results[i, 4 * j + 3]
                place = part + lane // lane_columns * warp_columns + (lane % lane_columns + lane_columns * j) * 4
                store4(buffer, place >> bits, place & (columns - 1), (a + ZERO, b + ZERO, c + ZERO, d + ZERO))
            cuda.syncwarp()
            # The vote, whose result the compiler cannot know, keeps this a loop: unrolled code would take longer to
            # fetch than to run. One iteration loads four results before it stores the first.
            place = int64(lane)
            while cuda.all_sync(0xFFFFFFFF, place < 32 * thread_columns):
                four = cuda.local.array(4, float32)
                for u in range(4):
                    row = top + (place + 32 * u >> warp_bits) * 4 + i // 4 * row_step + i % 4
                    column, at = left + (place + 32 * u & (warp_columns - 1)), part + place + 32 * u
                    if own_top <= row and row < M and own_left <= column and column < N:
                        four[u] = alpha * buffer[uint64(at >> bits), uint64(at & (columns - 1))]
                        if onto:
                            four[u] += beta * C[uint64(row), uint64(column)]
                for u in range(4):
                    row = top + (place + 32 * u >> warp_bits) * 4 + i // 4 * row_step + i % 4
                    column = left + (place + 32 * u & (warp_columns - 1))
                    if own_top <= row and row < M and own_left <= column and column < N:
                        C[uint64(row), uint64(column)] = four[u]
                place += 128

        return store_row

    def storers(i):
        """Return a function that stores a thread's rows from i on."""
        store_row = storer(i)
        if i + 1 == kept:
            return store_row
        store_rest = storers(i + 1)

        @cuda.jit(device=True)
        def store_rows(C, buffer, results, own_top, own_left, top, left, M, N, alpha, beta):
            store_row(C, buffer, results, own_top, own_left, top, left, M, N, alpha, beta)
            store_rest(C, buffer, results, own_top, own_left, top, left, M, N, alpha, beta)

        return store_rows

    store_rows = storers(0)

    @cuda.jit(device=True)
    def store_tile(C, buffer, results, own_top, own_left, top, left, mine, n, M, N, alpha, beta):
        lane = cuda.threadIdx.x % 32
        first_row, first_column = top + mine - lane // lane_columns * 4, left + n - lane % lane_columns * 4
        cuda.syncthreads()  # no thread reads the tiles any more
        store_rows(C, buffer, results, own_top, own_left, first_row, first_column, M, N, alpha, beta)

    return store_tile


def _halver(tile, kept, bit):
    """Return halve(buffer, upper, acc), which adds the sums of two slices whose numbers differ in one bit.

    Of the first 2 `kept` rows of its results a thread gives half to its partner, through shared memory, and gets the
    other half's sums in return; these are its first `kept` rows afterwards. upper: the thread keeps the second half.
    """
    column_quads, threads, columns = tile.thread_columns // 4, tile.threads, tile.columns
    quads = kept * column_quads
    at_once = max(1, min(quads, tile.depth * columns // (4 * threads)))
    across = bit * threads // tile.slices

    def exchanger(begin):
        """Return a function that exchanges quads of results from `begin` on, as many at once as the buffer holds."""

        @cuda.jit(device=True)
        def exchange(buffer, upper, acc):
            cuda.syncthreads()  # no thread reads the tiles, or the last exchange, any more
            for q in range(at_once):
                i, j = (begin + q) // column_quads, (begin + q) % column_quads * 4
                place = 4 * (q * threads + cuda.threadIdx.x)
                a = acc[i, j] if upper else acc[kept + i, j]
                b = acc[i, j + 1] if upper else acc[kept + i, j + 1]
                c = acc[i, j + 2] if upper else acc[kept + i, j + 2]
                d = acc[i, j + 3] if upper else acc[kept + i, j + 3]
                store4(buffer, place // columns, place % columns, (a, b, c, d))
            cuda.syncthreads()
            for q in range(at_once):
                i, j = (begin + q) // column_quads, (begin + q) % column_quads * 4
                place = 4 * (q * threads + (cuda.threadIdx.x ^ across))
                a, b, c, d = load4(buffer, place // columns, place % columns)
                acc[i, j] = a + (acc[kept + i, j] if upper else acc[i, j])
                acc[i, j + 1] = b + (acc[kept + i, j + 1] if upper else acc[i, j + 1])
                acc[i, j + 2] = c + (acc[kept + i, j + 2] if upper else acc[i, j + 2])
                acc[i, j + 3] = d + (acc[kept + i, j + 3] if upper else acc[i, j + 3])

        return exchange

    first, second, third, fourth = (exchanger(part * at_once) for part in range(4))

    @cuda.jit(device=True)
    def halve(buffer, upper, acc):
        first(buffer, upper, acc)
        if quads > at_once:
            second(buffer, upper, acc)
        if quads > 2 * at_once:
            third(buffer, upper, acc)
            fourth(buffer, upper, acc)

    return halve


def _adder(tile):
    """Return add_parts(partial, one, other, sums), which adds a tile's parts from blocks `one` to `other`, in order."""
    kept, thread_columns, threads = tile.thread_rows // tile.slices, tile.thread_columns, tile.threads
    column_quads = thread_columns // 4
    at_once = max(1, LOADS // (kept * column_quads))

    @cuda.jit(device=True)
    def add_parts(partial, one, other, sums):
        for i in range(kept):
            for j in range(thread_columns):
                sums[i, j] = 0
        for first in range(one, other + 1, at_once):
            for p in range(at_once):
                there, part = first + p <= other, min(first + p, other)
                slot = 2 * part + (1 if part == one else 0)
                for i in range(kept):
                    for j in range(column_quads):
                        quad = (i * column_quads + j) * threads + cuda.threadIdx.x
                        a, b, c, d = load4(partial, slot, 4 * quad)
                        sums[i, 4 * j] += a if there else ZERO
                        sums[i, 4 * j + 1] += b if there else ZERO
                        sums[i, 4 * j + 2] += c if there else ZERO
                        sums[i, 4 * j + 3] += d if there else ZERO

    return add_parts


@cache
def tile_kernel(tile, a_form, b_form, c_wide, fits, onto, short=False):
    """Return the kernel of one tile shape for operands of two forms; fits: C and K are at least as large as a tile.

    short: K has a ragged unit and few others, and the tile one slice; then only the elements of the ragged unit are
    multiplied.

    kernel[whole + shares, tile.threads](A, B, C, M, N, alpha, beta, whole, shares, partial, tickets) computes the first
    M rows and N columns of C = alpha A·B + beta C. A is M×K, or K×M where a_form is not along_k, and B is K×N, or N×K
    where b_form is along_k; all are float32 and C-ordered. c_wide: C's rows begin on 16 bytes; onto: beta is not 0. The
    first `whole` blocks take a tile each; `shares` more blocks take equal shares of the tiles after those. Partial sums
    go to `partial`, float32 of 2 shares rows and as many columns as a tile has results; the last of a tile's blocks to
    take one of its `tickets`, a uint32 for each shared tile, zero before and after, adds them.
    """
    rows, columns, threads, depth, slices = tile.rows, tile.columns, tile.threads, tile.depth, tile.slices
    thread_rows, thread_columns, per_slice = tile.thread_rows, tile.thread_columns, threads // slices
    warp_rows, lane_rows, lane_columns = tile.lane_rows * thread_rows, tile.lane_rows, 32 // tile.lane_rows
    warp_columns = lane_columns * thread_columns
    warps_across = columns // warp_columns
    row_step = 4 * lane_rows
    a_pitch = rows + (4 if a_form.along_k else 0)
    b_pitch = columns + (4 if b_form.along_k else 0)
    a_part, b_part = UNIT * rows // per_slice, UNIT * columns // per_slice
    a_along_k = a_form.along_k
    a_quads, b_quads = a_form.wide and not a_form.along_k, b_form.wide and not b_form.along_k
    loaders = loader(rows, per_slice, a_form, fits), loader(columns, per_slice, b_form, fits)
    (fetch_a, fetch_ragged_a, keep_a), (fetch_b, fetch_ragged_b, keep_b) = loaders
    load_fragments, add_outer_product, two_steps = _multiplier(tile)
    multiply_ragged = _ragged_multiplier(load_fragments, add_outer_product, loaders)
    column_quads, half, quarter = thread_columns // 4, thread_rows // 2, thread_rows // 4
    kept = thread_rows // slices
    halve, halve_again = _halver(tile, half, 1), _halver(tile, quarter, 2)
    alone, add_parts = tile.blocks == 1, _adder(tile)

    store_tile = (_quad_storer if c_wide else _row_storer)(tile, onto)

    @capped(tile.registers)
    def tile_product(A, B, C, M, N, alpha, beta, whole, shares, partial, tickets):
        A_tile = cuda.shared.array((depth, a_pitch), float32)
        B_tile = cuda.shared.array((depth, b_pitch), float32)
        ticket = cuda.shared.array(1, uint32)
        progress = cuda.shared.array(3, int64)
        acc = cuda.local.array((thread_rows, thread_columns), float32)
        a0 = cuda.local.array(thread_rows, float32)
        a1 = cuda.local.array(thread_rows, float32)
        a_next = cuda.local.array(a_part, float32)
        b0 = cuda.local.array(thread_columns, float32)
        b1 = cuda.local.array(thread_columns, float32)
        b_next = cuda.local.array(b_part, float32)
        sums = cuda.local.array((kept, thread_columns), float32)
        K = A.shape[1] if a_along_k else A.shape[0]
        units = max(1, (K + depth - 1) // depth)
        slice = cuda.threadIdx.x // per_slice if slices > 1 else 0
        thread = cuda.threadIdx.x % per_slice if slices > 1 else cuda.threadIdx.x
        at = UNIT * slice
        warp, lane = thread // 32, thread % 32
        m = warp // warps_across * warp_rows + lane // lane_columns * 4
        n = warp % warps_across * warp_columns + lane % lane_columns * 4
        share = cuda.blockIdx.x - whole
        tiles = (M + rows - 1) // rows * ((N + columns - 1) // columns)
        shared_units = (tiles - whole) * units
        if share < 0:
            number = int64(cuda.blockIdx.x)
            unit = number * units
            last = unit + units
        else:
            unit = whole * units + quotient(share * shared_units, shares)
            last = whole * units + quotient((share + 1) * shared_units, shares)
            number = quotient(unit, units)
        while unit < last:
            begin, end = unit - number * units, min(units, last - number * units)
            own_top, own_left = place(number, rows, columns, M, N)
            top, left = moved_back(own_top, M - rows, a_quads), moved_back(own_left, N - columns, b_quads)
            for i in range(thread_rows):
                for j in range(thread_columns):
                    acc[i, j] = 0
            if begin == 0:
                fetch_ragged_a(A, thread, top, at, K - depth * (units - 1), a_next)
                fetch_ragged_b(B, thread, left, at, K - depth * (units - 1), b_next)
            else:
                fetch_a(A, thread, top, K - depth * (units - begin) + at, a_next)
                fetch_b(B, thread, left, K - depth * (units - begin) + at, b_next)
            cuda.syncthreads()  # no thread reads the tiles of the share's other part any more
            if alone and cuda.threadIdx.x == 0:
                progress[0], progress[1], progress[2] = number, unit, last
            keep_a(A_tile, thread, at, a_next)
            keep_b(B_tile, thread, at, b_next)
            cuda.syncthreads()
            after, stop = K - depth * (units - begin - 1), K - depth * (units - end)
            if short and begin == 0:
                operands, tiles_here = (A, B), (A_tile, B_tile)
                multiply_ragged(operands, tiles_here, thread, top, left, m, n, after, stop, a_next, b_next, a0, b0, acc)
                after += depth
            load_fragments(A_tile, B_tile, at, m, n, a0, b0)
            for start in range(after, stop + depth, depth):
                two_steps(A_tile, B_tile, at, m, n, a0, b0, a1, b1, acc)
                # Without the barriers of the warp the compiler delays the loads until right before their use. A block
                # alone on its multiprocessor is faster with a branch around both; where several share it, the tiles are
                # fetched one iteration ahead, also in the last round, where the data are not used.
                if alone or not fits:
                    if start < stop:
                        fetch_a(A, thread, top, start + at, a_next)
                        fetch_b(B, thread, left, start + at, b_next)
                    cuda.syncwarp()
                    two_steps(A_tile, B_tile, at + 2, m, n, a0, b0, a1, b1, acc)
                else:
                    fetch_b(B, thread, left, max(0, min(start, stop - depth)) + at, b_next)
                    cuda.syncwarp()
                    two_steps(A_tile, B_tile, at + 2, m, n, a0, b0, a1, b1, acc)
                    fetch_a(A, thread, top, max(0, min(start, stop - depth)) + at, a_next)
                    cuda.syncwarp()
                two_steps(A_tile, B_tile, at + 4, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, at + 6, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, at + 8, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, at + 10, m, n, a0, b0, a1, b1, acc)
                two_steps(A_tile, B_tile, at + 12, m, n, a0, b0, a1, b1, acc)
                load_fragments(A_tile, B_tile, at + 15, m, n, a1, b1)
                add_outer_product(a0, b0, acc)
                cuda.syncthreads()  # no thread reads the tiles any more
                keep_a(A_tile, thread, at, a_next)
                keep_b(B_tile, thread, at, b_next)
                cuda.syncthreads()  # the next tiles are complete
                load_fragments(A_tile, B_tile, at, m, n, a0, b0)
                add_outer_product(a1, b1, acc)
            if alone:  # from shared memory these need no registers in the loop, where they are scarce
                number, unit, last = progress[0], progress[1], progress[2]
                begin, end = unit - number * units, min(units, last - number * units)
                own_top, own_left = place(number, rows, columns, M, N)
                top, left = moved_back(own_top, M - rows, a_quads), moved_back(own_left, N - columns, b_quads)
            mine = m  # the row of the thread's first result after adding up the slices
            if slices > 1:
                halve(B_tile, slice % 2 == 1, acc)
                mine += slice % 2 * (half // 4 * row_step + half % 4)
            if slices > 2:
                halve_again(B_tile, slice // 2 == 1, acc)
                mine += slice // 2 * (quarter // 4 * row_step + quarter % 4)
            if end - begin == units:
                store_tile(C, B_tile, acc, own_top, own_left, top, left, mine, n, M, N, alpha, beta)
            else:
                slot = 2 * share + (1 if begin == 0 else 0)
                for i in range(kept):
                    for j in range(column_quads):
                        a, b, c, d = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
                        quad = (i * column_quads + j) * threads + cuda.threadIdx.x
                        store4(partial, slot, 4 * quad, (a + ZERO, b + ZERO, c + ZERO, d + ZERO))
                cuda.syncthreads()
                begun, done = (number - whole) * units, (number - whole + 1) * units
                one = quotient((begun + 1) * shares - 1, shared_units)  # the block with the tile's first unit
                other = quotient(done * shares - 1, shared_units)  # the block with its last unit
                # The fences make this block's stores visible to the block that takes a later ticket. Between barriers
                # the fence of one thread is enough, and costs less than one by every thread.
                if cuda.threadIdx.x == 0:
                    cuda.threadfence()
                    ticket[0] = cuda.atomic.inc(tickets, number - whole, other - one)  # after the last comes 0
                    cuda.threadfence()
                cuda.syncthreads()
                if ticket[0] == other - one:
                    add_parts(partial, one, other, sums)
                    store_tile(C, B_tile, sums, own_top, own_left, top, left, mine, n, M, N, alpha, beta)
            unit = number * units + end
            number += 1

    return tile_product
