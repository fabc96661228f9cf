"""Copies that run beside the threads, and tensor cores: who waits for them, and who may touch their tiles."""

import numpy as np
from numba import cuda, float32, uint16, uint64

from course_lib.kernels.async_copy import commit_copies, copy4_async, copy_async, wait_copies
from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, tile_copy, wait_barrier
from course_lib.kernels.tensor_core import mma_tf32
from course_lib.kernels.tensor_core_formats import from_bfloat16, to_bfloat16
from course_lib.kernels.tensor_core_loads import load_matrices
from course_lib.kernels.warpgroup import (
    BF16,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    wait_for_products,
)

from .case import BUGS, normal, safe, zeros

SIDE = 64
ELEMENTS = SIDE * SIDE
BYTES = 2 * ELEMENTS
copy = tile_copy(SIDE, SIDE)


@cuda.jit(device=True)
def place(row, col):
    """Return where the element of a tile is: the eight pieces of a row change places."""
    return row * 64 + (col ^ row % 8 * 8)


def bits(rng, tiles):
    """Return a row of so many tiles, and a result of zeros of the same shape."""
    A = rng.integers(0, 2**16, (SIDE, tiles * SIDE)).astype(np.uint16)
    return A, np.zeros_like(A)


def unchanged(A, C):
    """Return {1: A}: the kernels copy."""
    return {1: A}


multiply, wait = products(BF16, 8), wait_for_products(8)


@cuda.jit(device=True)
def fill(A, B, A_tile, B_tile, start):
    """Store A[:, start : start + 16] and B[start : start + 16] to the tiles."""
    row, half = cuda.threadIdx.x // 2, cuda.threadIdx.x % 2
    for i in range(8):
        A_tile[512 * half + 8 * row + i] = A[row, start + 8 * half + i]
    B_tile[cuda.threadIdx.x] = B[start + cuda.threadIdx.x // 8, cuda.threadIdx.x % 8]


@cuda.jit(device=True)
def corner():
    """Return row and column of the thread's first result; the others are beside it, and eight rows below."""
    return cuda.threadIdx.x // 32 * 16 + cuda.threadIdx.x % 32 // 4, cuda.threadIdx.x % 4 * 2


def operands(rng, depth):
    """Return A (64×depth) and B (depth×8) as the bits of bfloat16, and a C of zeros."""
    A, B = (to_bfloat16(rng.standard_normal(shape)) for shape in ((64, depth), (depth, 8)))
    return A, B, np.zeros((64, 8), np.float32)


def sum_and_product(A, B, C):
    """Return {2: C + A B}."""
    return {2: C + from_bfloat16(A) @ from_bfloat16(B)}


@safe(2, 64, lambda rng: (normal(rng, 1, 128), zeros(128)), lambda x, out: {1: x.reshape(2, 64)[:, ::-1].ravel()})
@cuda.jit
def reversed_copy(x, out):
    tile = cuda.shared.array((1, 64), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    copy_async(tile, 0, t, x, 0, i)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    out[i] = tile[0, 63 - t]


BUGS[reversed_copy] = """
copy_read_without_barrier: Every thread waits for its own copies, which says nothing of its neighbour's: a barrier is
missing.
- cuda.syncthreads() ->
? race tile: out[i] = | copy_async( ~ uninitialized-read unfinished-copy

copy_barrier_before_wait: The barrier comes before the wait: the neighbour may arrive at it with its copy still on the
way.
- wait_copies(0)
- cuda.syncthreads()
+ cuda.syncthreads()
+ wait_copies(0)
? race tile: out[i] = | copy_async( ~ uninitialized-read unfinished-copy
"""


@safe(2, 64, lambda rng: (normal(rng, 1, 128), zeros(128)), lambda x, out: {1: 2 * x[0]})
@cuda.jit
def doubled_copy(x, out):
    tile = cuda.shared.array((1, 64), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    copy_async(tile, 0, t, x, 0, i)
    commit_copies()
    wait_copies(0)
    out[i] = float32(2) * tile[0, t]


BUGS[doubled_copy] = """
copy_read_before_wait: A thread reads what it copies asynchronously before it has waited for the copy.
- wait_copies(0)
- out[i] = float32(2) * tile[0, t]
+ out[i] = float32(2) * tile[0, t]
+ wait_copies(0)
? unfinished-copy tile: out[i] = | copy_async( ~ uninitialized-read
"""


@safe(1, 64, lambda rng: (normal(rng, 4, 64), zeros(64)), lambda x, out: {1: x.sum(axis=0)[::-1]})
@cuda.jit
def sum_of_rows(x, out):
    tile = cuda.shared.array((1, 64), float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for r in range(x.shape[0]):
        copy_async(tile, 0, t, x, r, t)
        commit_copies()
        wait_copies(0)
        cuda.syncthreads()
        acc += tile[0, 63 - t]
        cuda.syncthreads()
    out[t] = acc


BUGS[sum_of_rows] = """
copy_into_a_stage_in_use: The copies of the next tile start before everyone has finished reading the stage that they
fill.
- acc += tile[0, 63 - t]
- cuda.syncthreads()
+ acc += tile[0, 63 - t]
? race tile: copy_async( | acc += ~ uninitialized-read unfinished-copy
"""


@safe(1, 32, lambda rng: (normal(rng, 32, 4), zeros(4, 32)), lambda x, out: {1: x.reshape(4, 32)})
@cuda.jit
def matrices_of_a_warp(x, out):
    tile = cuda.shared.array((32, 4), float32)
    i = cuda.threadIdx.x
    copy4_async(tile, i, 0, x, i, 0)
    commit_copies()
    wait_copies(0)
    cuda.syncthreads()
    y = load_matrices(tile, i, 0)
    out[0, i] = y[0]
    out[1, i] = y[1]
    out[2, i] = y[2]
    out[3, i] = y[3]


BUGS[matrices_of_a_warp] = """
copy_read_by_matrices_before_wait: A warp loads matrices from a tile whose rows are still on their way: the wait comes
after.
- wait_copies(0)
+ y = load_matrices(tile, i, 0)
+ wait_copies(0)
- cuda.syncthreads()
- y = load_matrices(tile, i, 0)
? unfinished-copy tile: y = | copy4_async( ~ uninitialized-read race
"""


@safe(1, 64, lambda rng: (normal(rng, 2, 64), zeros(64)), lambda x, out: {1: x[0, ::-1]})
@cuda.jit
def older_of_two(x, out):
    tile = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    copy_async(tile, 0, t, x, 0, t)
    commit_copies()
    copy_async(tile, 1, t, x, 1, t)
    commit_copies()
    wait_copies(1)
    cuda.syncthreads()
    out[t] = tile[0, 63 - t]
    wait_copies(0)


BUGS[older_of_two] = """
copy_waits_for_one_group_too_few: Two groups are on their way and the older one is needed, but the wait lets two be
outstanding.
- wait_copies(1) -> wait_copies(2)
? unfinished-copy tile: out[t] = | copy_async(tile, 0, t, x, 0, t) ~ race uninitialized-read
"""


@safe(1, 64, lambda rng: bits(rng, 1), unchanged)
@cuda.jit
def one_bulk_copy(A, C):
    tile = cuda.shared.array(ELEMENTS, uint16, 1024)
    barriers = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        init_barrier(barriers, 0, 1)
        fence_proxy()
        expect_bytes(barriers, 0, BYTES)
        copy(tile, 0, A, 0, 0, barriers, 0)
    cuda.syncthreads()
    wait_barrier(barriers, 0, 0)
    for col in range(SIDE):
        C[cuda.threadIdx.x, col] = tile[place(cuda.threadIdx.x, col)]


BUGS[one_bulk_copy] = """
bulk_read_before_wait: A barrier of the block does not wait for the copy engine: only the barrier that counts its bytes
does.
- wait_barrier(barriers, 0, 0) ->
- for col in range(SIDE):
-     C[cuda.threadIdx.x, col] = tile[place(cuda.threadIdx.x, col)]
+ for col in range(SIDE):
+     C[cuda.threadIdx.x, col] = tile[place(cuda.threadIdx.x, col)]
+ wait_barrier(barriers, 0, 0)
? unfinished-copy tile: C[cuda.threadIdx.x, col] = | copy(tile, 0, A, 0, 0, barriers, 0)
? ~ wrong-value uninitialized-read

bulk_barrier_used_before_it_is_made: All threads wait at a barrier that one of them makes: they must meet in between.
- cuda.syncthreads() ->
? race barriers: wait_barrier( | init_barrier( ~ race

bulk_expects_too_many_bytes: A phase that waits for more bytes than are copied never completes: on a GPU the kernel
never ends.
- expect_bytes(barriers, 0, BYTES) -> expect_bytes(barriers, 0, 2 * BYTES)
? barrier-divergence barriers: wait_barrier( ~ unfinished-copy uninitialized-read wrong-value
"""


@safe(1, 64, lambda rng: bits(rng, 2), unchanged)
@cuda.jit
def two_bulk_copies(A, C):
    tile = cuda.shared.array(ELEMENTS, uint16, 1024)
    barriers = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        init_barrier(barriers, 0, 1)
        fence_proxy()
    cuda.syncthreads()
    for i in range(2):
        if cuda.threadIdx.x == 0:
            expect_bytes(barriers, 0, BYTES)
            copy(tile, 0, A, 0, SIDE * i, barriers, 0)
        wait_barrier(barriers, 0, i)
        for col in range(SIDE):
            C[cuda.threadIdx.x, SIDE * i + col] = tile[place(cuda.threadIdx.x, col)]
        cuda.syncthreads()


BUGS[two_bulk_copies] = """
bulk_overwrites_a_tile_in_use: The copy engine may overwrite a tile only after every thread has read it.
- for col in range(SIDE):
-     C[cuda.threadIdx.x, SIDE * i + col] = tile[place(cuda.threadIdx.x, col)]
- cuda.syncthreads()
+ for col in range(SIDE):
+     C[cuda.threadIdx.x, SIDE * i + col] = tile[place(cuda.threadIdx.x, col)]
? race tile: C[cuda.threadIdx.x, SIDE * i + col] = | copy( ~ unfinished-copy wrong-value barrier-divergence

bulk_phase_waited_for_twice: The second tile arrives in the second phase of its barrier, whose parity is 1.
- wait_barrier(barriers, 0, i) -> wait_barrier(barriers, 0, 0)
? barrier-divergence barriers: wait_barrier(
@ block=32
@ answer=lambda A, C: {1: np.append(A[:32], C[32:], axis=0)}
"""


def arguments_of_few_rows(rng):
    A, B = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((4, 8), (8, 8)))
    return A, B, zeros(4, 8)


@safe(1, 32, arguments_of_few_rows, lambda A, B, C: {2: A @ B})
@cuda.jit
def few_rows(A, B, C):
    q, t = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4
    zero = float32(0)
    left = A[q, t] if q < A.shape[0] else zero
    right = A[q, t + 4] if q < A.shape[0] else zero
    d = mma_tf32((left, zero, right, zero), (B[t, q], B[t + 4, q]), (zero, zero, zero, zero))
    if q < A.shape[0]:
        C[q, 2 * t] = d[0]
        C[q, 2 * t + 1] = d[1]


BUGS[few_rows] = """
mma_under_condition: The guard of a matrix with few rows stands around the mma, for which all 32 lanes of a warp must
arrive.
- left = A[q, t] if q < A.shape[0] else zero
- right = A[q, t + 4] if q < A.shape[0] else zero
- d = mma_tf32((left, zero, right, zero), (B[t, q], B[t + 4, q]), (zero, zero, zero, zero))
+
- C[q, 2 * t] = d[0]
+ a, b = (A[q, t], zero, A[q, t + 4], zero), (B[t, q], B[t + 4, q])
+ d = mma_tf32(a, b, (zero, zero, zero, zero))
+ C[q, 2 * t] = d[0]
? barrier-divergence: d =
"""


@safe(1, 128, lambda rng: operands(rng, 16), sum_and_product)
@cuda.jit
def warpgroup(A, B, C):
    A_tile = cuda.shared.array(1024, uint16, 128)
    B_tile = cuda.shared.array(128, uint16, 128)
    acc = cuda.local.array(4, float32)
    fill(A, B, A_tile, B_tile, 0)
    fence_proxy()
    cuda.syncthreads()
    a, b = descriptor(A_tile, 0, 1024, 128, 0), descriptor(B_tile, 0, 128, 256, 0)
    fence_registers()
    multiply(acc, a, b, 0)
    commit_products()
    wait(acc, 0)
    row, col = corner()
    for i in range(4):
        C[row + i // 2 * 8, col + i % 2] = acc[i]


BUGS[warpgroup] = """
wgmma_by_three_warps: A condition keeps one warp from the product: all four of a warpgroup must arrive.
- fence_registers()
- multiply(acc, a, b, 0)
- commit_products()
- wait(acc, 0)
+ if cuda.threadIdx.x < 96:
+     fence_registers()
+     multiply(acc, a, b, 0)
+     commit_products()
+     wait(acc, 0)
? barrier-divergence: multiply( ~ uninitialized-read

wgmma_descriptor_beyond_the_tile: The distance between the halves of A is twice what it is: the second half is beyond
the tile.
- descriptor(A_tile, 0, 1024, 128, 0) -> descriptor(A_tile, 0, 2048, 128, 0)
? out-of-bounds A_tile: multiply( ~ wrong-value uninitialized-read

wgmma_group_not_committed: What was not committed belongs to no group, and no wait waits for it.
- commit_products() ->
? unfinished-product acc: C[row + i // 2 * 8, col + i % 2] = | multiply( ~ uninitialized-read

wgmma_proxy_fence_after_the_barrier: Each thread fences its own stores: after the barrier it is too late for those of
others.
- fence_proxy()
- cuda.syncthreads()
+ cuda.syncthreads()
+ fence_proxy()
? missing-fence B_tile: multiply(

wgmma_result_read_before_wait: The results are stored before the product that makes them was waited for: the registers
hold what was there.
- wait(acc, 0) ->
- for i in range(4):
-     C[row + i // 2 * 8, col + i % 2] = acc[i]
+ for i in range(4):
+     C[row + i // 2 * 8, col + i % 2] = acc[i]
+ wait(acc, 0)
? unfinished-product acc: C[row + i // 2 * 8, col + i % 2] = | multiply( ~ uninitialized-read

wgmma_waits_for_one_group_too_few: Two groups are on their way, and the wait leaves one of them there.
- wait(acc, 0) -> wait(acc, 1)
? unfinished-product acc: C[row + i // 2 * 8, col + i % 2] = | multiply( ~ uninitialized-read

wgmma_without_proxy_fence: Tensor cores read shared memory on a way of their own, which a barrier alone does not order
after stores.
- fence_proxy() ->
? missing-fence A_tile: multiply(

wgmma_with_the_wrong_swizzle: The tiles are stored plainly, and the descriptor of A says that rows of 32 bytes were
swizzled.
-- 1024, uint16, 128 -> 1024, uint16, 256
- A_tile, 0, 1024, 128, 0 -> A_tile, 0, 0, 256, 32
? wrong-value
"""


@safe(1, 128, lambda rng: operands(rng, 16), sum_and_product)
@cuda.jit
def warpgroup_adds(A, B, C):
    A_tile = cuda.shared.array(1024, uint16, 128)
    B_tile = cuda.shared.array(128, uint16, 128)
    acc = cuda.local.array(4, float32)
    fill(A, B, A_tile, B_tile, 0)
    fence_proxy()
    cuda.syncthreads()
    a, b = descriptor(A_tile, 0, 1024, 128, 0), descriptor(B_tile, 0, 128, 256, 0)
    row, col = corner()
    for i in range(4):
        acc[i] = C[row + i // 2 * 8, col + i % 2]
    fence_registers()
    multiply(acc, a, b, 1)
    commit_products()
    wait(acc, 0)
    for i in range(4):
        C[row + i // 2 * 8, col + i % 2] = acc[i]


BUGS[warpgroup_adds] = """
wgmma_without_register_fence: The sums begin with C, which ordinary loads bring to the registers: a fence orders them
before the product.
- fence_registers() ->
? missing-fence acc: multiply( | acc[i] =
"""


@safe(1, 128, lambda rng: operands(rng, 48), sum_and_product)
@cuda.jit
def warpgroup_loop(A, B, C):
    A_tile = cuda.shared.array(1024, uint16, 128)
    B_tile = cuda.shared.array(128, uint16, 128)
    acc = cuda.local.array(4, float32)
    a, b = descriptor(A_tile, 0, 1024, 128, 0), descriptor(B_tile, 0, 128, 256, 0)
    for start in range(0, A.shape[1], 16):
        fill(A, B, A_tile, B_tile, start)
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        multiply(acc, a, b, start)
        commit_products()
        wait(acc, 0)
        cuda.syncthreads()
    row, col = corner()
    for i in range(4):
        C[row + i // 2 * 8, col + i % 2] = acc[i]


BUGS[warpgroup_loop] = """
wgmma_tile_overwritten_before_wait: The next tiles are stored while the product still reads the last: a barrier does not
wait for tensor cores.
- for start in range(0, A.shape[1], 16):
+ row, half, t = cuda.threadIdx.x // 2, cuda.threadIdx.x % 2, cuda.threadIdx.x
+ for start in range(0, A.shape[1], 16):
- fill(A, B, A_tile, B_tile, start)
+ for i in range(8):
+     A_tile[512 * half + 8 * row + i] = A[row, start + 8 * half + i]
+ B_tile[t] = B[start + t // 8, t % 8]
- wait(acc, 0) ->
- row, col = corner()
+ wait(acc, 0)
+ row, col = corner()
? unfinished-product B_tile: B_tile[t] = | multiply(
"""
