"""What the threads of one block share: tiles, barriers, sums in shared memory, and the lanes of a warp."""

import numpy as np
from numba import cuda, float32, int32, int64

from .case import BUGS, normal, safe, vector, whole, zeros


def reversed_halves(x):
    """The numbers below 0, and those above, of each block of 50 in reversed order."""
    turned = x.reshape(-1, 50)[:, ::-1].ravel()
    return {1: np.minimum(turned, 0), 2: np.maximum(turned, 0)}


@safe(1, 64, vector(64), lambda x, out: {1: x[::-1]})
@cuda.jit
def reversed_block(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[63 - t]


BUGS[reversed_block] = """
syncwarp_between_warps: A syncwarp stands where a barrier is needed: it orders the lanes of one warp, not two warps.
- cuda.syncthreads() -> cuda.syncwarp()
? race s: out[t] = | s[t] = ~ uninitialized-read

shared_array_too_small: The shared array has the size of another block: the last warp writes behind its end.
- cuda.shared.array(64, float32) -> cuda.shared.array(32, float32)
? out-of-bounds s: s[t] =; out-of-bounds s: out[t] =

different_barriers: Half of the block waits at one barrier and half at another: two barriers in the source are not one.
- s[t] = x[t]
- cuda.syncthreads()
+ if t < 32:
+     s[t] = x[t]
+     cuda.syncthreads()  # of the first warp
+ else:
+     s[t] = x[t]
+     cuda.syncthreads()  # of the second
? barrier-divergence: # of the first warp | # of the second

barrier_under_condition_of_a_warp: The condition splits the block between warps, none of which is split itself.
-- s[63 - t] -> s[t]
- cuda.syncthreads()
+ if t < 32:
+     cuda.syncthreads()
? barrier-divergence: cuda.syncthreads(
@ answer=lambda x, out: {1: x}
"""


@safe(2, 64, vector(100), lambda x, out: {1: x[np.arange(x.size) // 64 * 64] - x})
@cuda.jit
def guarded(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.shape[0]:
        s[t] = x[i]
    cuda.syncthreads()
    if i >= x.shape[0]:
        return
    out[i] = s[0] - s[t]


BUGS[guarded] = """
early_return_before_barrier: Threads beyond the edge return before a barrier that the rest of their block waits at.
- if i < x.shape[0]:
-     s[t] = x[i]
- cuda.syncthreads()
- if i >= x.shape[0]:
-     return
+ if i >= x.shape[0]:
+     return
+ s[t] = x[i]
+ cuda.syncthreads()
? barrier-divergence: cuda.syncthreads( | return

early_return_of_a_whole_warp: A whole warp has nothing to do and returns; the block's other warps wait for it at the
barrier.
- if i < x.shape[0]:
-     s[t] = x[i]
- cuda.syncthreads()
- if i >= x.shape[0]:
-     return
+ if i >= x.shape[0]:
+     return
+ s[t] = x[i]
+ cuda.syncthreads()
? barrier-divergence: cuda.syncthreads( | return
@ grid=1
@ arguments=vector(32)

barrier_under_condition: The barrier stands inside the guard, so the threads at the ragged edge never reach it.
- cuda.syncthreads() ->     cuda.syncthreads()
? barrier-divergence: cuda.syncthreads(
@ grid=1
@ arguments=vector(50)
"""


@safe(1, 32, vector(32), lambda x, out: {1: x.reshape(-1, 2)[:, ::-1].ravel()})
@cuda.jit
def swapped_pairs(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    out[t] = s[t ^ 1]


BUGS[swapped_pairs] = """
missing_syncwarp: A lane reads what its neighbour in the same warp has just written: without syncwarp nothing orders the
two.
- cuda.syncwarp() ->
? race s: out[t] = | s[t] =

syncwarp_without_the_caller: All lanes of a warp pass a syncwarp whose mask names one half of them.
- cuda.syncwarp() -> cuda.syncwarp(0xFFFF)
? barrier-divergence: cuda.syncwarp(
"""


def arguments_of_first_positive(rng):
    x = (rng.random((6, 64)) < 0.3).astype(np.int32)
    x[0, 0], x[0, 1] = 1, 0
    return x, zeros(64, dtype=np.int64)


@safe(1, 64, arguments_of_first_positive, lambda x, out: {1: np.where(x.any(0), x.argmax(0), 6)})
@cuda.jit
def first_positive(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    found = x.shape[0]
    for r in range(x.shape[0]):
        s[t] = x[r, t]
        if s[t] > 0 and found == x.shape[0]:
            found = r
        cuda.syncthreads()
    out[t] = found


BUGS[first_positive] = """
barrier_after_break: A thread that finds what it looks for leaves the loop, and the barrier in it, before the others.
- if s[t] > 0 and found == x.shape[0]: -> if s[t] > 0:
- cuda.syncthreads()
+     break
+ cuda.syncthreads()
? barrier-divergence: cuda.syncthreads(
"""


@cuda.jit(device=True)
def publish(s, t, value):
    s[t] = value
    cuda.syncthreads()


@safe(1, 64, vector(40), lambda x, out: {1: x[::-1]})
@cuda.jit
def reversed_through_a_helper(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    value = float32(0)
    if t < x.shape[0]:
        value = x[t]
    publish(s, t, value)
    if t < x.shape[0]:
        out[t] = s[x.shape[0] - 1 - t]


BUGS[reversed_through_a_helper] = """
barrier_in_a_device_function: A helper synchronises, and only some threads call it.
- value = float32(0) ->
- if t < x.shape[0]:
-     value = x[t]
- publish(s, t, value)
- if t < x.shape[0]:
+ if t < x.shape[0]:
+     publish(s, t, x[t])
? barrier-divergence: cuda.syncthreads(
"""


@safe(1, 64, lambda rng: (normal(rng, 150), zeros(64)), lambda x, out: {1: np.pad(x, (0, 42)).reshape(3, 64).sum(0)})
@cuda.jit
def sums_of_strides(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for start in range(0, x.shape[0], 64):
        if start + t < x.shape[0]:
            s[t] = x[start + t]
        cuda.syncthreads()
        if start + t < x.shape[0]:
            acc += s[t]
    out[t] = acc


BUGS[sums_of_strides] = """
barrier_in_ragged_loop: Threads go round a loop with a barrier different numbers of times.
- for start in range(0, x.shape[0], 64):
-     if start + t < x.shape[0]:
-         s[t] = x[start + t]
+ for i in range(t, x.shape[0], 64):
+     s[t] = x[i]
- if start + t < x.shape[0]:
-     acc += s[t]
+ acc += s[t]
? barrier-divergence: cuda.syncthreads(
"""


@safe(2, 64, lambda rng: (normal(rng, 2, 64), zeros(2, 64)), lambda x, out: {1: x - (x[:, :1] + x[:, 63:]) / 2})
@cuda.jit
def centred(x, out):
    mean = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        mean[0] = (x[cuda.blockIdx.x, 0] + x[cuda.blockIdx.x, 63]) * float32(0.5)
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = x[cuda.blockIdx.x, t] - mean[0]


BUGS[centred] = """
broadcast_without_barrier: One thread computes a value for the block, and the others use it without waiting.
- cuda.syncthreads() ->
? race mean: out[cuda.blockIdx.x, t] = | mean[0] = ~ uninitialized-read
"""


@safe(1, 64, lambda rng: (normal(rng, 5, 64), zeros(64)), lambda x, out: {1: x.sum(0)[::-1]})
@cuda.jit
def double_buffered(x, out):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    s[0, t] = x[0, t]
    cuda.syncthreads()
    acc = float32(0)
    for r in range(x.shape[0]):
        if r + 1 < x.shape[0]:
            s[(r + 1) % 2, t] = x[r + 1, t]
        acc += s[r % 2, 63 - t]
        cuda.syncthreads()
    out[t] = acc


BUGS[double_buffered] = """
double_buffer_without_barrier: Two buffers, but no barrier in the loop: a fast warp fills the buffer that a slow one
still reads.
- acc += s[r % 2, 63 - t]
- cuda.syncthreads()
+ acc += s[r % 2, 63 - t]
? race s: acc += | s[(r + 1) % 2, t] = ~ uninitialized-read
"""


@safe(1, 64, whole(-50, 50, 64, 64), lambda x, out: {1: np.cumsum(x).astype(np.int32)})
@cuda.jit
def running_sum(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 64:
        before = 0
        if t >= step:
            before = s[t - step]
        cuda.syncthreads()
        s[t] = s[t] + before
        cuda.syncthreads()
        step *= 2
    out[t] = s[t]


BUGS[running_sum] = """
scan_in_place: A running sum in place reads its neighbour and writes its own element with no barrier between the two.
- cuda.syncthreads()
- s[t] = s[t] + before
+ s[t] = s[t] + before
? race s: s[t] = s[t] + before | before = s[t - step]
"""


@safe(1, 64, lambda rng: (normal(rng, 64), normal(rng, 64), zeros(64)), lambda x, y, out: {2: (x * y)[::-1]})
@cuda.jit
def product_of_reversed(x, y, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    a = s[63 - t]
    cuda.syncthreads()
    s[t] = y[t]
    cuda.syncthreads()
    out[t] = a * s[63 - t]


BUGS[product_of_reversed] = """
second_barrier_missing_after_staging: A shared buffer is used twice, for rows and then for columns, with no barrier
before it is filled again.
- cuda.syncthreads()
- s[t] = y[t]
+ s[t] = y[t]
? race s: s[t] = y[t] | a =
"""


T = 16
PADDED = T + 1


@safe((2, 3), (T, T), lambda rng: (normal(rng, 48, 32), zeros(32, 48)), lambda A, out: {1: A.T})
@cuda.jit
def transposed(A, out):
    tile = cuda.shared.array((T, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    tile[ty, tx] = A[row, col]
    cuda.syncthreads()
    out[cuda.blockIdx.x * T + ty, cuda.blockIdx.y * T + tx] = tile[tx, ty]


BUGS[transposed] = """
transpose_without_barrier: A tile is written by rows and read by columns, which other threads wrote.
- cuda.syncthreads() ->
? race tile: out[cuda.blockIdx.x * T + ty, cuda.blockIdx.y * T + tx] = | tile[ty, tx] = ~ uninitialized-read
"""


@safe(1, 32, vector(32), lambda x, out: {1: np.convolve(x, np.ones(3, np.float32), "same")})
@cuda.jit
def smoothed(x, out):
    s = cuda.shared.array(34, float32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    if t == 0:
        s[0] = float32(0)
    if t == 31:
        s[33] = float32(0)
    cuda.syncthreads()
    out[t] = s[t] + s[t + 1] + s[t + 2]


BUGS[smoothed] = """
uninitialised_halo: The tile has room for a halo of one element at each side, and only the right one is filled.
- if t == 0:
-     s[0] = float32(0)
? uninitialized-read s: out[t] =

shared_halo_out_of_bounds: The tile has no room for the halo: the last thread of a block writes one element too far.
- cuda.shared.array(34, float32) -> cuda.shared.array(33, float32)
? out-of-bounds s: s[33] =; out-of-bounds s: out[t] =
"""


@safe(1, (8, 4), lambda rng: (normal(rng, 4, 8), zeros(4, 8)), lambda A, out: {1: np.pad(A[:, :-1], ((0, 0), (1, 0)))})
@cuda.jit
def left_neighbours(A, out):
    tile = cuda.shared.array((4, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = A[ty, tx]
    cuda.syncthreads()
    if tx > 0:
        out[ty, tx] = tile[ty, tx - 1]


BUGS[left_neighbours] = """
negative_wrap_in_a_tile: The halo of a tile is forgotten at its left edge, where the index -1 reads the tile's last
column.
- if tx > 0:
-     out[ty, tx] = tile[ty, tx - 1]
+ out[ty, tx] = tile[ty, tx - 1]
? negative-index tile: out[ty, tx] =
"""


@safe(
    1,
    32,
    lambda rng: (rng.integers(60000, 90000, 32).astype(np.int32), zeros(1, dtype=np.int64)),
    lambda x, out: {1: np.array([(x.astype(np.int64) ** 2).sum()])},
)
@cuda.jit
def sum_of_squares(x, out):
    part = cuda.shared.array(32, int64)
    t = cuda.threadIdx.x
    part[t] = x[t] * x[t]
    cuda.syncthreads()
    if t == 0:
        total = int64(0)
        for k in range(32):
            total += part[k]
        out[0] = total


BUGS[sum_of_squares] = """
sum_wraps_round_in_32_bits: A product of two int32 arrays is added up in an int32 array, and the sum exceeds what 32
bits hold.
- cuda.shared.array(32, int64) -> cuda.shared.array(32, int32)
? wrong-value
"""


@safe(1, 64, whole(0, 9, 64, 64), lambda x, out: {1: x})
@cuda.jit
def large_ones_reversed(x, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[63 - t] if x[t] > 100 else x[t]


BUGS[large_ones_reversed] = """
race_that_this_input_does_not_reach: A tile is read without a barrier for elements above a threshold, and this input has
none.
- cuda.syncthreads() ->
? unseen
"""


@safe(2, 64, whole(0, 15, 128, 16), lambda x, out: {1: np.bincount(x, minlength=16).astype(np.int32)})
@cuda.jit
def counted(x, out):
    bins = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        bins[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, bins[t])


BUGS[counted] = """
uninitialised_shared_histogram: Each block counts in shared memory and never sets the counters to zero.
- if t < 16:
-     bins[t] = 0
- cuda.syncthreads()
? uninitialized-read bins: cuda.atomic.add(
"""


@safe(2, 128, lambda rng: (normal(rng, 256), zeros(2)), lambda x, out: {1: x.reshape(2, 128).sum(1)})
@cuda.jit
def tree_sums(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            other = s[t + step]
            s[t] = s[t] + other
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


BUGS[tree_sums] = """
reduction_without_barrier_between_steps: A tree sum in shared memory halves the stride without waiting for the step
before.
- cuda.syncthreads()
- step //= 2
+ step //= 2
- if t == 0:
+ cuda.syncthreads()
+ if t == 0:
? race s: other = | s[t] = s[t] + other

reduction_barrier_inside_the_step: The barrier of the tree sum stands inside `if t < step`, where only the adding
threads meet it.
- cuda.syncthreads()
- step //=
+     cuda.syncthreads()
+ step //=
? barrier-divergence:             cuda.syncthreads()
"""


@safe(1, 32, lambda rng: (normal(rng, 32), zeros(1)), lambda x, out: {1: np.array([x.sum()])})
@cuda.jit
def sum_of_a_warp(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if t < step:
            other = s[t + step]
            s[t] = s[t] + other
        cuda.syncwarp()
        step //= 2
    if t == 0:
        out[0] = s[0]


BUGS[sum_of_a_warp] = """
warp_reduction_without_syncwarp: The last steps of a sum, inside one warp, rely on the lanes running in step.
- cuda.syncwarp()
- step //= 2
+ step //= 2
? race s: other = | s[t] = s[t] + other
"""


@safe(2, 64, lambda rng: (normal(rng, 128), zeros(2)), lambda x, out: {1: x.reshape(2, 64).sum(1)})
@cuda.jit
def sums_of_blocks(x, out):
    total = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        total[0] = float32(0)
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = total[0]


BUGS[sums_of_blocks] = """
shared_sum_without_atomics: Every thread adds its element to one shared word with a plain addition.
- cuda.atomic.add(total, 0, x[cuda.grid(1)]) -> total[0] += x[cuda.grid(1)]
? race total: total[0] += | total[0] +=

atomic_and_plain_read: Threads add with atomics, and one reads the sum in the same phase with a plain load.
- x[cuda.grid(1)])
- cuda.syncthreads()
+ x[cuda.grid(1)])
? race total: out[cuda.blockIdx.x] = | cuda.atomic.add(
"""


@safe(2, 50, lambda rng: (*vector(100)(rng), zeros(100)), lambda x, less, more: reversed_halves(x), shared_bytes=400)
@cuda.jit
def reversed_parts(x, less, more):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    negative = cuda.shared.array(0, float32)
    positive = cuda.shared.array(0, float32)[50:]
    negative[t] = min(x[i], float32(0))
    positive[t] = max(x[i], float32(0))
    cuda.syncthreads()
    less[i] = negative[49 - t]
    more[i] = positive[49 - t]


BUGS[reversed_parts] = """
two_names_of_dynamic_shared_memory: Two arrays of dynamic shared memory begin at its first byte, and the kernel takes
them for two memories.
- cuda.shared.array(0, float32)[50:] -> cuda.shared.array(0, float32)
? aliased-memory negative: less[i] = | positive[t] =
"""


@safe(2, 64, lambda rng: (normal(rng, 128), zeros(4)), lambda x, out: {1: x.reshape(4, 32).sum(1)})
@cuda.jit
def sums_by_shuffles(x, out):
    i = cuda.grid(1)
    value = x[i]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        out[i // 32] = value


BUGS[sums_by_shuffles] = """
shuffle_without_the_last_step: A warp sum by shuffles halves its step down to 2 and forgets 1: odd lanes are not in the
sum.
- while step > 0: -> while step > 1:
? wrong-value
"""


@safe(1, 32, whole(0, 9, 20, 19), lambda x, out: {1: x[:-1] + x[1:]})
@cuda.jit
def sums_of_two(x, out):
    i = cuda.grid(1)
    value = x[min(i, x.size - 1)]
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, 1)
    if i < x.size - 1:
        out[i] = value


BUGS[sums_of_two] = """
shuffle_from_a_lane_that_left: Lanes beyond the end return first, and a shuffle for the whole warp names them.
- value = x[min(i, x.size - 1)]
+ if i >= x.size:
+     return
+ value = x[i]
? uninitialized-read: value +=
"""
