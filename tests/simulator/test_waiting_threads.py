"""Threads that wait for others in a loop: for a lock, for a flag, for a ticket. A GPU runs them, and so does this."""

import numpy as np
import pytest
from nightly import at_night
from numba import cuda, float32, float64, int32
from oracles.sources import import_kernel, line_of

from course_lib import KernelError, simulate


@cuda.jit(device=True)
def take(mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def try_to_take(mutex):
    return cuda.atomic.cas(mutex, 0, 0, 1) == 0


@cuda.jit(device=True)
def give_back(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


def dot(a, b, c, mutex):
    """The classic: each block adds its part to the result under a lock."""
    cache = cuda.shared.array(64, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    cache[t] = a[i] * b[i]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            cache[t] += cache[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        c[0] += cache[0]
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def counted_under_a_lock(count, mutex):
    if cuda.threadIdx.x == 0:
        take(mutex)
        count[0] += 1
        give_back(mutex)


def counted_after_attempts(count, mutex, attempts):
    if cuda.threadIdx.x == 0:
        tried = 0
        while not try_to_take(mutex):
            tried += 1
        attempts[cuda.blockIdx.x] = tried
        count[0] += 1
        give_back(mutex)


def counted_without_a_fence(count, mutex):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        count[0] += 1
        cuda.atomic.exch(mutex, 0, 0)


def served_in_order(tickets, serving, order):
    """A ticket lock: each block waits for its number."""
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(tickets, 0, 1)
        while cuda.atomic.add(serving, 0, 0) != mine:
            pass
        cuda.threadfence()
        order[mine] = cuda.blockIdx.x
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


def waits_for_the_last_block(x, flag, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == cuda.gridDim.x - 1:
            x[0] = 7
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            out[cuda.blockIdx.x] = x[0]


def waits_together_for_the_last_block(x, flag, out):
    """All threads of a block go through the loop, with barriers in it, and one of them looks at the flag."""
    ready = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == cuda.gridDim.x - 1:
        if t == 0:
            x[0] = 7
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            ready[0] = 0
        cuda.syncthreads()
        while ready[0] == 0:
            cuda.syncthreads()
            if t == 0:
                ready[0] = cuda.atomic.add(flag, 0, 0)
                cuda.threadfence()
            cuda.syncthreads()
        out[cuda.grid(1)] = x[0]


def waits_together_for_nobody(flag, out):
    ready = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        ready[0] = 0
    cuda.syncthreads()
    while ready[0] == 0:
        cuda.syncthreads()
        if t == 0:
            ready[0] = cuda.atomic.add(flag, 0, 0)
        cuda.syncthreads()
    out[cuda.grid(1)] = 1


def looks_back(x, sums, flags, out):
    """A scan in one pass: each block waits for the sum of all blocks before it, and the last begins."""
    total = cuda.shared.array(1, float64)
    block = cuda.gridDim.x - 1 - cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t == 0:
        before = 0.0
        if block > 0:
            while cuda.atomic.add(flags, block - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = sums[block - 1]
        total[0] = before
        for k in range(cuda.blockDim.x):
            before += x[block * cuda.blockDim.x + k]
        sums[block] = before
        cuda.threadfence()
        cuda.atomic.exch(flags, block, 1)
    cuda.syncthreads()
    value = total[0]
    for k in range(t + 1):
        value += x[block * cuda.blockDim.x + k]
    out[block * cuda.blockDim.x + t] = value


def between_warps(out, first):
    """One warp waits for a flag that the other sets, and whichever runs first must let the other go on."""
    flag = cuda.shared.array(1, int32)
    box = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        flag[0] = 0
    cuda.syncthreads()
    if t // 32 == first:
        if t % 32 == 0:
            box[0] = 42
            cuda.threadfence_block()
            cuda.atomic.exch(flag, 0, 1)
    elif t % 32 == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence_block()
        out[cuda.blockIdx.x] = box[0]


def waits_for_nobody(flag, out):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    out[cuda.grid(1)] = 1


def lock_of_every_thread(count, mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    count[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


#: The warps add under a lock, with a fence after taking it and before giving it back.
UNDER_A_LOCK = """
from numba import cuda

def kernel(count, mutex):
    if cuda.threadIdx.x % 32 == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.{fence}()
        count[0] += 1
        cuda.{fence}()
        cuda.atomic.exch(mutex, 0, 0)
"""


def ints(count):
    return np.zeros(count, np.int32)


@pytest.mark.parametrize("schedule", ["in-order", "reversed", 3])
@pytest.mark.parametrize("trace", [False, True])
def test_dot_product_with_a_lock(schedule, trace):
    a, b = (np.random.default_rng(s).integers(-9, 9, 5 * 64).astype(np.float32) for s in (1, 2))
    c, mutex = np.zeros(1, np.float32), ints(1)
    run = simulate(dot, schedule=schedule, trace=trace)[5, 64](a, b, c, mutex)
    assert (c[0], mutex[0], run.findings) == (a @ b, 0, ())
    assert run.traffic.select(array="c", op="store").accesses == 5
    assert run.traffic.select(array="a").accesses == 5 * 64


@pytest.mark.parametrize("kernel", [counted_under_a_lock, counted_after_attempts])
def test_lock_in_a_device_function(kernel):
    count, mutex = ints(1), ints(1)
    run = simulate(kernel)[40, 64](count, mutex, *([ints(40)] if kernel is counted_after_attempts else []))
    assert (count[0], mutex[0], run.findings) == (40, 0, ())


def test_lock_without_a_fence_is_a_race():
    run = simulate(counted_without_a_fence, strict=False)[8, 32](ints(1), ints(1))
    assert {(f.kind, f.array) for f in run.findings} == {("race", "count")}


@pytest.mark.parametrize("between_blocks", [True, False])
@pytest.mark.parametrize("fence", ["threadfence", "threadfence_system", "threadfence_block"])
def test_the_scope_of_the_fences_around_a_lock(fence, between_blocks, tmp_path):
    """A fence of the block orders what its threads do under a lock, and nothing that other blocks do."""
    count = ints(1)
    grid, block = (6, 32) if between_blocks else (1, 192)
    run = simulate(import_kernel(UNDER_A_LOCK.format(fence=fence), tmp_path), strict=False)[grid, block](count, ints(1))
    races = between_blocks and fence == "threadfence_block"
    assert count[0] == 6
    assert {(f.kind, f.array) for f in run.findings} == ({("race", "count")} if races else set())


def test_blocks_are_served_in_the_order_of_their_tickets():
    order = ints(9) - 1
    assert simulate(served_in_order)[9, 32](ints(1), ints(1), order).findings == ()
    assert sorted(order) == list(range(9))


@pytest.mark.parametrize("trace", [False, True])
def test_earlier_blocks_wait_for_the_last_one(trace):
    out = ints(6)
    run = simulate(waits_for_the_last_block, trace=trace)[6, 32](ints(1), ints(1), out)
    assert (out.tolist(), run.findings) == ([7] * 5 + [0], ())


def test_blocks_with_barriers_in_their_loop_wait_for_one_that_begins_later():
    out = ints(20 * 1024)  # 16 blocks run together
    run = simulate(waits_together_for_the_last_block)[20, 1024](ints(1), ints(1), out)
    assert run.findings == ()
    assert out.tolist() == [7] * 19 * 1024 + [0] * 1024


def test_look_back_scan():
    x, out = np.arange(1.0, 97.0), np.zeros(96)
    run = simulate(looks_back)[6, 16](x, np.zeros(6), ints(6), out)
    np.testing.assert_array_equal(out, np.cumsum(x))
    assert run.findings == ()


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("schedule", ["in-order", "reversed"])
def test_a_warp_waits_for_another(first, schedule):
    out = ints(2)
    assert simulate(between_warps, schedule=schedule)[2, 64](out, first).findings == ()
    assert out.tolist() == [42, 42]


@pytest.mark.parametrize("kernel", [waits_for_nobody, waits_together_for_nobody, lock_of_every_thread])
def test_a_wait_that_nobody_ends_is_reported_at_its_loop(kernel):
    with pytest.raises(KernelError, match="waits for something that no other thread changes any more") as caught:
        simulate(kernel)[3, 64](ints(1), ints(256))
    assert caught.value.line == line_of(kernel, "while")


def test_arrays_hold_what_one_launch_left():
    """The launch begins anew when a thread is found to wait: nothing is added twice."""

    def kernel(count, mutex):
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(count, 1, 1)
            while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
                pass
            count[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)

    count = np.array([100, 1000], np.int32)
    run = simulate(kernel)[4, 32](count, ints(1))
    assert count.tolist() == [104, 1004]
    assert run.traffic.select(array="count", op="atomic").accesses == 4


@pytest.mark.parametrize("blocks", [90, at_night(180)])
def test_a_block_that_waits_looks_again_only_after_a_change(blocks):
    """So the time of a launch grows with its blocks, and not with their square."""
    flag = simulate(waits_for_the_last_block)[blocks, 32](ints(1), ints(1), ints(blocks)).traffic.select(array="flag")
    assert flag.accesses <= 8 * blocks
    x, out = np.ones(blocks), np.zeros(blocks)
    run = simulate(looks_back)[blocks, 1](x, np.zeros(blocks), ints(blocks), out)
    assert out.tolist() == [*range(1, blocks + 1)]
    assert run.traffic.select(array="flags").accesses <= 8 * blocks


def test_a_block_rests_until_any_word_of_its_loop_changes():
    """Each block waits for two words, which another block sets in an order of its own."""

    def kernel(words, out):
        b = cuda.blockIdx.x
        last = cuda.gridDim.x - 1
        if b < last:
            while cuda.atomic.add(words, b, 0) + cuda.atomic.add(words, last + b, 0) != 2:
                pass
            cuda.threadfence()
        else:
            for k in range(last):
                cuda.atomic.exch(words, last + last - 1 - k, 1)
                cuda.atomic.exch(words, k, 1)
        out[b] = 1

    out = ints(13)
    assert simulate(kernel)[13, 1](ints(24), out).findings == ()
    assert out.tolist() == [1] * 13


@pytest.mark.parametrize("together", [False, True])
def test_a_launch_that_waits_for_ever_says_what_it_did_before(together):
    def kernel(flag, out):
        out[0] = cuda.threadIdx.x
        if together or cuda.threadIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass

    with pytest.raises(KernelError, match="waits for something(.|\n)*Before that: race") as caught:
        simulate(kernel, trace=True)[3, 64](ints(1), ints(1))
    run = caught.value.run
    assert {finding.array for finding in run.findings} == {"out"}
    assert run.traffic.select(array="out").accesses == 3 * 64
    assert {step.line for step in run.trace.steps} >= {finding.line for finding in run.findings}


def test_a_loop_over_what_nobody_changes_never_ends():
    def search(x, out):
        low, high = 0, x.size
        while low < high:
            middle = (low + high) // 2
            if x[middle] < 5:
                low = middle
            else:
                high = middle
        out[cuda.grid(1)] = low

    with pytest.raises(KernelError, match="this loop never ends") as caught:
        simulate(search)[2, 32](np.arange(20), ints(64))
    assert caught.value.line == line_of(search, "while")
