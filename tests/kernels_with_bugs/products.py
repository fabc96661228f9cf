"""Products of matrices, from one thread an element to double-buffered tiles."""

from numba import cuda, float32

from .case import BUGS, factors, product, safe

T = 8


@safe((2, 2), (4, 4), factors(7, 7, 7), product)
@cuda.jit
def naive(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


BUGS[naive] = """
product_with_the_transpose: B is read by rows, as in a published listing: the result is A times the transpose of B.
- B[k, col] -> B[col, k]
? wrong-value

product_with_the_transpose_of_a_rectangle: B is read by rows, and B is no square: the same slip leaves the array.
- B[k, col] -> B[col, k]
? out-of-bounds B: acc +=
@ arguments=factors(7, 5, 6)

store_outside_the_guard: The loop is guarded, the store after it is not, as in a published listing.
-     C[row, col] = acc -> C[row, col] = acc
? out-of-bounds C: C[row, col] =
@ arguments=factors(7, 5, 6)

accumulator_in_float64: `acc = 0.0` is a float64, so every product is added in float64; a GPU does that 2 to 64 times
slower.
- float32(0) -> 0.0
? float64: acc +=

accumulator_as_an_integer: `acc = 0` is an int64; adding a float32 to it makes a float64.
- float32(0) -> 0
? float64: acc +=
"""


@safe(1, 33, factors(3, 4, 33), product)
@cuda.jit
def per_column(A, B, C):
    col = cuda.grid(1)
    for row in range(A.shape[0]):
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


BUGS[per_column] = """
accumulator_not_reset: Each thread computes several rows and starts the next one with the sum of the last.
- for row in range(A.shape[0]):
-     acc = float32(0)
+ acc = float32(0)
+ for row in range(A.shape[0]):
? wrong-value
"""


@safe((1, 1, 3), (4, 8), factors(8, 15, 4), product)
@cuda.jit
def split_sum(A, B, C):
    col, row = cuda.threadIdx.x, cuda.threadIdx.y
    part = A.shape[1] // cuda.gridDim.z
    first = cuda.blockIdx.z * part
    acc = float32(0)
    for k in range(first, first + part):
        acc += A[row, k] * B[k, col]
    cuda.atomic.add(C, (row, col), acc)


BUGS[split_sum] = """
blocks_split_the_sum: Several blocks each add their part of the K loop to one element of C without an atomic.
- cuda.atomic.add(C, (row, col), acc) -> C[row, col] += acc
? race C: C[row, col] += | C[row, col] +=
"""


@safe(1, (T, T), factors(T, T, T), product)
@cuda.jit
def single_block(A, B, C):
    A_s = cuda.shared.array((T, T), float32)
    B_s = cuda.shared.array((T, T), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    A_s[y, x] = A[y, x]
    B_s[y, x] = B[y, x]
    cuda.syncthreads()
    acc = float32(0)
    for k in range(T):
        acc += A_s[y, k] * B_s[k, x]
    C[y, x] = acc


BUGS[single_block] = """
single_block_without_barrier: Both matrices are copied to shared memory and used at once, without the barrier that a
single block needs.
- cuda.syncthreads() ->
? race A_s: acc += | A_s[y, x] =; race B_s: acc += | B_s[y, x] = ~ uninitialized-read

swapped_indices_of_the_tile: The tile is filled at [tx, ty] and read at [ty, k]: the product uses the transposed tile.
- A_s[y, x] = A[y, x] -> A_s[x, y] = A[y, x]
? wrong-value
"""


@safe((2, 2), (T, T), factors(16, 24, 16), product)
@cuda.jit
def tiled(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], T):
        if row < A.shape[0] and start + tx < A.shape[1]:
            A_tile[ty, tx] = A[row, start + tx]
        else:
            A_tile[ty, tx] = float32(0)
        if start + ty < B.shape[0] and col < B.shape[1]:
            B_tile[ty, tx] = B[start + ty, col]
        else:
            B_tile[ty, tx] = float32(0)
        cuda.syncthreads()
        for k in range(T):
            a = A_tile[ty, k]
            acc += a * B_tile[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


BUGS[tiled] = """
missing_first_barrier: The tile is used before every thread has filled its part of it: the barrier after the loads is
missing.
- cuda.syncthreads()
- for k
+ for k
? race A_tile: a = A_tile | = A[row; race B_tile: acc += a * | = B[start ~ uninitialized-read

missing_second_barrier: The next tile overwrites the one that slower warps still read: the barrier after the products is
missing.
-     cuda.syncthreads()
- if row < C
+ if row < C
? race A_tile: a = A_tile | = A[row; race B_tile: acc += a * | = B[start

column_from_block_y: The column of B comes from blockIdx.y, as in a published listing: off the diagonal it is another
tile.
- B[start + ty, col] -> B[start + ty, cuda.blockIdx.y * T + tx]
? wrong-value

loop_to_block_size_minus_one: The product over a tile stops one element early, as in a published listing: k runs to
BLOCK_SIZE - 1.
- for k in range(T) -> for k in range(T - 1)
? wrong-value

ragged_tile_dropped: The loop runs over whole tiles only, K // T of them: the last, ragged one is left out.
- A.shape[1], T) -> A.shape[1] // T * T, T)
? wrong-value
@ arguments=factors(16, 20, 16)

stores_once_per_tile: C is stored inside the loop over tiles, as in a published listing: right in the end, K / T times
as often.
- if row < C.shape[0] ->     if row < C.shape[0]
-     C[row, col] = ->         C[row, col] =
? extra-stores

uninitialised_tile_edge: The guard skips loads beyond the edge, and nobody puts zeros there: the product reads what was
never written.
- else:
-     A_tile[ty, tx] = float32(0)
+
- else:
-     B_tile[ty, tx] = float32(0)
? uninitialized-read A_tile: a = A_tile; uninitialized-read B_tile: acc += a *
@ arguments=factors(13, 5, 11)

barrier_in_the_inner_loop_under_the_guard: Products and a barrier in the innermost loop are guarded together: edge
threads miss every barrier of it.
-- acc += a * B_tile[k, tx]
++ acc += a * B_tile[k, tx]
++ cuda.syncthreads()
- for k in range(T):
+ if row < C.shape[0] and col < C.shape[1]:
+     for k in range(T):
-     a = A_tile[ty, k] ->         a = A_tile[ty, k]
-     acc += a * B_tile[k, tx]
-     cuda
+         acc += a * B_tile[k, tx]
+         cuda
? barrier-divergence:                 cuda.syncthreads()
@ arguments=factors(13, 20, 11)
"""


@safe((2, 2), (T, T), factors(16, 24, 16), product)
@cuda.jit
def prefetched(A, B, C):
    A_tiles = cuda.shared.array((2, T, T), float32)
    B_tiles = cuda.shared.array((2, T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    A_tiles[0, ty, tx] = A[row, tx]
    B_tiles[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc = float32(0)
    now = 0
    for start in range(T, A.shape[1] + T, T):
        if start < A.shape[1]:
            A_tiles[1 - now, ty, tx] = A[row, start + tx]
            B_tiles[1 - now, ty, tx] = B[start + ty, col]
        for k in range(T):
            a = A_tiles[now, ty, k]
            acc += a * B_tiles[now, k, tx]
        cuda.syncthreads()
        now = 1 - now
    C[row, col] = acc


BUGS[prefetched] = """
stale_double_buffer: The prefetch stores into the buffer that is being read instead of the other one.
- A_tiles[1 - now, ty, tx] -> A_tiles[now, ty, tx]
- B_tiles[1 - now, ty, tx] -> B_tiles[now, ty, tx]
- now = 1 - now ->
? race A_tiles: a = A_tiles | start + tx]; race B_tiles: acc += a * | start + ty, col]

one_tile_too_many: The prefetch loop fetches a tile in its last iteration too, beyond the matrices, as in a published
listing.
- if start < A.shape[1]: -> if start < A.shape[1] + T:
? out-of-bounds A: A_tiles[1 - now; out-of-bounds B: B_tiles[1 - now

forgets_to_switch_buffers: The new tile goes into the other buffer, but the reader never switches to it: no rule broken,
wrong product.
- now = 1 - now ->
? wrong-value
"""
