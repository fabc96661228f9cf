"""What the blocks of a grid share: counters, locks, flags, tickets, and one sum of all."""

import numpy as np
from numba import cuda, int32

from .case import BUGS, normal, safe, summed, whole, word, zeros


@safe(2, 64, whole(0, 10, 100, 10), lambda x, bins: {1: np.bincount(x, minlength=10).astype(np.int32)})
@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(bins, x[i], 1)


BUGS[histogram] = """
histogram_without_atomics: Threads that meet the same value add to the same counter, each from the count it read.
- cuda.atomic.add(bins, x[i], 1) -> bins[x[i]] += 1
? race bins: bins[x[i]] += | bins[x[i]] +=

atomic_out_of_bounds: A histogram has one bin fewer than there are values.
- cuda.atomic.add(bins, x[i], 1) -> cuda.atomic.add(bins, x[i] + 1, 1)
? out-of-bounds bins: cuda.atomic.add(
"""


@safe(1, 32, whole(-9, 9, 32, 1), lambda x, count: {1: np.array([(x > 0).sum()], np.int32)})
@cuda.jit
def count_of_positive(x, count):
    i = cuda.grid(1)
    if x[i] > 0:
        cuda.atomic.add(count, 0, 1)


BUGS[count_of_positive] = """
lost_update_between_two_atomics: A counter is read by one atomic and written by another: each is whole, and what others
add between is lost.
- cuda.atomic.add(count, 0, 1)
+ before = cuda.atomic.add(count, 0, 0)
+ cuda.atomic.exch(count, 0, before + 1)
? wrong-value
"""


@safe(3, 32, whole(1, 1000, 90, 1), lambda x, greatest: {1: x.max(keepdims=True)})
@cuda.jit
def maximum(x, greatest):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(greatest, 0, x[i])


BUGS[maximum] = """
maximum_checked_then_stored: Each thread compares its value with the greatest so far, and stores it if it is greater:
others came between.
- cuda.atomic.max(greatest, 0, x[i])
+ if x[i] > greatest[0]:
+     greatest[0] = x[i]
? race greatest: if x[i] > greatest[0]: | greatest[0] =
"""


@safe(1, 64, whole(-9, 3, 64, 1), lambda x, flag: {1: np.ones(1, np.int32)})
@cuda.jit
def any_negative(x, flag):
    i = cuda.grid(1)
    if x[i] < 0:
        cuda.atomic.max(flag, 0, 1)


BUGS[any_negative] = """
same_value_written_by_all: Every thread that finds a negative element writes the same 1 to the same word: still a race.
- cuda.atomic.max(flag, 0, 1) -> flag[0] = 1
? race flag: flag[0] = | flag[0] =
"""


def arguments_of_worklist(rng):
    x = rng.integers(-9, 9, 50, np.int32)
    return x, np.full(64, -1, np.int32), word()


def right_worklist(x, found, length):
    negative = np.flatnonzero(x < 0)
    return {2: np.array([negative.size], np.int32)}


@safe(2, 32, arguments_of_worklist, right_worklist)
@cuda.jit
def worklist(x, found, length):
    i = cuda.grid(1)
    if i < x.size and x[i] < 0:
        cuda.atomic.max(found, cuda.atomic.add(length, 0, 1), i)


BUGS[worklist] = """
worklist_place_without_atomics: Threads append what they find to a list; each reads the list's length and writes it
back, larger by one.
- cuda.atomic.max(found, cuda.atomic.add(length, 0, 1), i)
+ cuda.atomic.max(found, length[0], i)
+ length[0] += 1
? race length: length[0] | length[0]
"""


def arguments_of_sums_of_neighbours(rng):
    degree = rng.integers(0, 5, 50)
    first = np.concatenate([[0], degree.cumsum()]).astype(np.int32)
    return first, rng.integers(0, 50, first[-1], np.int32), rng.integers(1, 9, 50, np.int32), zeros(50, dtype=np.int32)


def right_sums_of_neighbours(first, neighbours, value, total):
    sources = np.repeat(np.arange(50), np.diff(first))
    return {3: np.bincount(neighbours, weights=value[sources], minlength=50).astype(np.int32)}


@safe(2, 32, arguments_of_sums_of_neighbours, right_sums_of_neighbours)
@cuda.jit
def sums_of_neighbours(first, neighbours, value, total):
    v = cuda.grid(1)
    if v < value.size:
        for e in range(first[v], first[v + 1]):
            cuda.atomic.add(total, neighbours[e], value[v])


BUGS[sums_of_neighbours] = """
scatter_to_neighbours_without_atomics: Each vertex of a graph adds its value to its neighbours; two vertices may have
one neighbour.
- cuda.atomic.add(total, neighbours[e], value[v]) -> total[neighbours[e]] += value[v]
? race total: total[neighbours[e]] += | total[neighbours[e]] +=
"""


@cuda.jit(device=True)
def root(parent, i):
    above = cuda.atomic.add(parent, i, 0)
    while above != i:
        i = above
        above = cuda.atomic.add(parent, i, 0)
    return i


@safe(3, 16, lambda rng: (rng.integers(0, 24, (48, 2)), np.arange(24)), lambda edges, parent: {})
@cuda.jit
def joined(edges, parent):
    e = cuda.grid(1)
    a = root(parent, edges[e, 0])
    b = root(parent, edges[e, 1])
    while a != b and cuda.atomic.cas(parent, max(a, b), max(a, b), min(a, b)) != max(a, b):
        a = root(parent, a)
        b = root(parent, b)


BUGS[joined] = """
roots_joined_without_compare_and_swap: A thread looks for two roots and hangs one on the other; in between, another
thread may hang it elsewhere.
- while a != b and cuda.atomic.cas(parent, max(a, b), max(a, b), min(a, b)) != max(a, b):
-     a = root(parent, a)
-     b = root(parent, b)
+ if a != b:
+     parent[max(a, b)] = min(a, b)
? race parent: parent[max(a, b)] = | above = ~ race
"""


@safe(3, 32, whole(-9, 9, 96, 1), summed(1))
@cuda.jit
def total_of_all(x, total):
    i = cuda.grid(1)
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[i])


BUGS[total_of_all] = """
initialised_by_the_first_block: Thread 0 of the grid sets the sum to zero, and no other block waits for it.
- cuda.syncthreads()
+ if i == 0:
+     total[0] = 0
+ cuda.syncthreads()
? race total: total[0] = | cuda.atomic.add(
"""


@safe(
    4,
    32,
    lambda rng: (rng.integers(0, 9, 128), zeros(4, dtype=np.int64), zeros(128, dtype=np.int64)),
    lambda x, sums, out: {2: np.full(128, x.sum())},
)
@cuda.jit
def total_for_every_thread(x, sums, out):
    if cuda.threadIdx.x == 0:
        part = 0
        for k in range(cuda.blockDim.x):
            part += x[cuda.blockIdx.x * cuda.blockDim.x + k]
        sums[cuda.blockIdx.x] = part
    cuda.cg.this_grid().sync()
    total = 0
    for b in range(cuda.gridDim.x):
        total += sums[b]
    out[cuda.grid(1)] = total


BUGS[total_for_every_thread] = """
grid_sum_without_a_barrier_of_the_grid: Each block writes the sum of its part, and then every block reads the sums of
all blocks.
- cuda.cg.this_grid().sync() -> cuda.syncthreads()
? race sums: total += | sums[cuda.blockIdx.x] =
"""


@safe(3, 32, lambda rng: (rng.integers(0, 9, 80), zeros(80, dtype=np.int64)), lambda x, y: {0: 2 * x[::-1]})
@cuda.jit
def doubled_and_reversed(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = 2 * x[i]
    cuda.cg.this_grid().sync()
    if i < x.size:
        x[i] = y[x.size - 1 - i]


BUGS[doubled_and_reversed] = """
grid_barrier_after_a_return: Threads beyond the end return before a barrier of the grid, for which the others then wait
without end.
- if i < x.size:
-     y[i] = 2 * x[i]
+ if i >= x.size:
+     return
+ y[i] = 2 * x[i]
? barrier-divergence: cuda.cg.this_grid( | return
"""


@safe(4, 32, lambda rng: (normal(rng, 128), zeros(128), zeros(128)), lambda x, y, out: {2: np.roll(x * x, -32)})
@cuda.jit
def square_of_the_next_block(x, y, out):
    i = cuda.grid(1)
    j = (i + 32) % y.shape[0]
    y[i] = x[i] * x[i]
    cuda.syncthreads()
    out[i] = x[j] * x[j]


BUGS[square_of_the_next_block] = """
neighbour_block: Each thread reads what a thread of the next block has written in the same launch: nothing orders two
blocks.
- j = (i + 32) % y.shape[0] ->
- x[j] * x[j -> y[(i + 32) % y.shape[0]
? race y: out[i] = | y[i] =
"""


@safe(5, 32, whole(-9, 9, 10, 5, 1, 1), summed(3))
@cuda.jit
def sum_by_the_last_block(x, partial, tickets, out):
    ticket = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        partial[b] = x[2 * b] + x[2 * b + 1]
        cuda.threadfence()
        ticket[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    if ticket[0] == cuda.gridDim.x - 1 and t < cuda.gridDim.x:
        cuda.atomic.add(out, 0, partial[t])


BUGS[sum_by_the_last_block] = """
missing_threadfence: The last block to take a ticket adds up what all blocks stored, and no fence stands between store
and ticket.
- cuda.threadfence() ->
? race partial: cuda.atomic.add(out, 0, partial[t]) | partial[b] =

threadfence_of_the_block: The last block to take a ticket adds up what all blocks stored, and the fence between orders
one block only.
- cuda.threadfence() -> cuda.threadfence_block()
? race partial: cuda.atomic.add(out, 0, partial[t]) | partial[b] =
"""


@safe(2, 32, lambda rng: (word(), word(), word()), lambda flag, word, out: {2: np.array([7], np.int32)})
@cuda.jit
def handed_over(flag, word, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            word[0] = 7
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = word[0]


BUGS[handed_over] = """
flag_without_atomics: A block polls a flag with plain loads, and another one raises it with a plain store.
- cuda.atomic.exch(flag, 0, 1) -> flag[0] = 1
- cuda.atomic.add(flag, 0, 0) -> flag[0]
? race flag: while flag[0] == 0: | flag[0] = 1 ~ race

released_without_a_fence: One block writes and raises a flag without a fence; the other waits for the flag and reads the
word.
- cuda.threadfence()
- cuda.atomic.exch
+ cuda.atomic.exch
? race word: word[0] = 7 | out[0] = word[0]
"""


@safe(2, 32, whole(1, 9, 2, 1, 1), lambda x, flag, result: {2: x[1:]})
@cuda.jit
def overwritten(x, flag, result):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            result[0] = x[0]
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            result[0] = x[1]


BUGS[overwritten] = """
overwritten_after_a_release_without_a_fence: A block waits for the flag of another and writes over its result: with no
fence, the first may arrive last.
- cuda.threadfence()
- cuda.atomic.exch(flag, 0, 1)
+ cuda.atomic.exch(flag, 0, 1)
? race result: result[0] = x[1] | result[0] = x[0]
"""


@safe(4, 32, whole(1, 9, 4, 2, 1), summed(2))
@cuda.jit
def locked_sum(x, mutex, total):
    if cuda.threadIdx.x == 0:
        which = 0
        while cuda.atomic.cas(mutex, which, 0, 1) != 0:
            pass
        total[0] += x[cuda.blockIdx.x]
        cuda.threadfence()
        cuda.atomic.exch(mutex, which, 0)


BUGS[locked_sum] = """
two_locks_for_one_sum: Even and odd blocks take different locks, and add to the same sum.
- which = 0 -> which = cuda.blockIdx.x % 2
? race total: total[0] += | total[0] +=

lock_with_a_fence_of_the_block: Blocks add to a sum under a lock, and the fence before it is given back orders the
threads of one block only.
- cuda.threadfence() -> cuda.threadfence_block()
? race total: total[0] += | total[0] +=
"""


@safe(2, 32, whole(1, 9, 2, 2, 1), summed(2))
@cuda.jit
def sum_under_two_locks(x, mutex, total):
    if cuda.threadIdx.x == 0:
        one = 0
        while cuda.atomic.cas(mutex, one, 0, 1) != 0:
            pass
        while cuda.atomic.cas(mutex, 1 - one, 0, 1) != 0:
            pass
        total[0] += x[cuda.blockIdx.x]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 1 - one, 0)
        cuda.atomic.exch(mutex, one, 0)


BUGS[sum_under_two_locks] = """
locks_in_opposite_order: Even blocks take lock 0 and then lock 1, odd ones the reverse: two may wait for each other
without end.
- one = 0 -> one = cuda.blockIdx.x % 2
? unseen
"""


@safe(4, 32, whole(1, 9, 3, 1, 1, 1), summed(2))
@cuda.jit
def sum_read_by_the_last_block(x, mutex, total, seen):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x < cuda.gridDim.x - 1:
            while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
                pass
            total[0] += x[cuda.blockIdx.x]
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)
        else:
            while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
                pass
            seen[0] = total[0]
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)


BUGS[sum_read_by_the_last_block] = """
read_outside_the_lock: Blocks add to a sum under a lock; the block that comes last reads it without the lock.
- while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
-     pass
- seen[0] = total[0]
+ seen[0] = total[0]
- seen[0] = total[0]
- cuda.threadfence()
- cuda.atomic.exch(mutex, 0, 0)
+ seen[0] = total[0]
? race total: seen[0] = | total[0] +=
"""


@safe(3, 64, whole(1, 9, 6, 1, 1), summed(2))
@cuda.jit
def sum_of_warps(x, locks, total):
    mutex = locks
    cuda.syncthreads()
    if cuda.threadIdx.x % 32 == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += x[cuda.grid(1) // 32]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


BUGS[sum_of_warps] = """
lock_of_each_block_for_one_sum: Each block takes a lock in its own shared memory, and the sum that it guards belongs to
all blocks.
- mutex = locks
+ mutex = cuda.shared.array(1, int32)
+ if cuda.threadIdx.x == 0:
+     mutex[0] = 0
? race total: total[0] += | total[0] +=
"""
