"""Barriers of the whole grid: cuda.cg.this_grid().sync()."""

import numpy as np
import pytest
from numba import cuda, float64, int32
from numba.cuda import cg

from course_lib import KernelError, LaunchError, UnsupportedKernelError, simulate


def sums(x, parts, out):
    """Each block adds a part; after the barrier every block adds all parts."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        total = 0.0
        for k in range(cuda.blockDim.x):
            total += x[i + k]
        parts[cuda.blockIdx.x] = total
    grid.sync()
    total = 0.0
    for b in range(cuda.gridDim.x):
        total += parts[b]
    out[i] = total


def neighbours(a, b, steps):
    """Repeated: each element becomes the sum of itself and its right neighbour, in other blocks too."""
    i = cuda.grid(1)
    for _ in range(steps):
        right = a[i + 1] if i + 1 < a.size else 0
        b[i] = a[i] + right
        cg.this_grid().sync()
        a[i] = b[i]
        cuda.cg.this_grid().sync()


def in_a_branch(x, out):
    """Blocks reach the barrier in different lines."""
    tile = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    tile[t] = t
    if cuda.blockIdx.x % 2:
        cuda.syncthreads()
        x[cuda.grid(1)] = tile[3 - t]
        cuda.cg.this_grid().sync()
    else:
        x[cuda.grid(1)] = 10
        cuda.cg.this_grid().sync()
    out[cuda.grid(1)] = x[(cuda.grid(1) + 4) % x.size]


def without_it(a, b):
    i = cuda.grid(1)
    b[i] = a[i]
    cuda.syncthreads()
    a[i] = b[(i + cuda.blockDim.x) % b.size]


def one_block_leaves(a):
    if cuda.blockIdx.x == 2:
        return
    cuda.cg.this_grid().sync()
    a[cuda.grid(1)] = 1


def one_thread_leaves(a):
    if cuda.grid(1) == 5:
        return
    cuda.cg.this_grid().sync()
    a[cuda.grid(1)] = 1


def waits_for_a_block_at_the_barrier(flag):
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    cuda.cg.this_grid().sync()
    cuda.atomic.exch(flag, 0, 1)


@pytest.mark.parametrize("grid", [1, 3, 1000])
@pytest.mark.parametrize("schedule", ["in-order", "reversed"])
def test_a_sum_over_all_blocks(grid, schedule):
    x, out = np.arange(4.0 * grid), np.zeros(4 * grid)
    run = simulate(sums, schedule=schedule)[grid, 4](x, np.zeros(grid), out)
    assert run.findings == () and (out == x.sum()).all()
    assert run.traffic.select(array="parts", op="load").accesses == 4 * grid * grid


@pytest.mark.parametrize("trace", [False, True])
def test_steps_that_depend_on_the_neighbour_block(trace):
    a = np.arange(24)
    want = a.copy()
    for _ in range(5):
        want += np.append(want[1:], 0)
    run = simulate(neighbours, trace=trace)[3, 8](a, np.zeros_like(a), 5)
    assert run.findings == () and (a == want).all()


def test_without_the_barrier_it_is_a_race():
    run = simulate(without_it, strict=False)[3, 8](np.zeros(24), np.zeros(24))
    assert {(f.kind, f.array) for f in run.findings} == {("race", "b")}


def test_blocks_may_reach_it_in_different_lines():
    x, out = np.zeros(16, np.int32), np.zeros(16, np.int32)
    assert simulate(in_a_branch)[4, 4](x, out).findings == ()
    assert x.tolist() == [10, 10, 10, 10, 3, 2, 1, 0] * 2
    assert out.tolist() == [*x[4:], *x[:4]]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (one_block_leaves, r"thread 0 of block 0 waits at this_grid\(\).sync\(\) .* 1 of 4 blocks ended without it"),
        (one_thread_leaves, r"reached this_grid\(\).sync\(\) in line \d+, but thread 1 of block 1 had returned"),
        (waits_for_a_block_at_the_barrier, "waits for something that no other thread changes any more"),
    ],
)
def test_who_does_not_come_is_named(kernel, words):
    with pytest.raises(KernelError, match=words):
        simulate(kernel)[4, 4](np.zeros(16, np.int32))


@pytest.mark.parametrize(
    ("block", "elements", "most"), [(1024, 1, 264), (32, 1, 4224), (64, 6144, 528), (64, 2560, 1320)]
)
def test_no_more_blocks_than_a_gpu_holds(block, elements, most):
    """A multiprocessor of an H100 holds 2,048 threads, 32 blocks and 228 KiB, of which each block reserves 1 KiB."""

    def kernel(x):
        tile = cuda.shared.array(elements, float64)
        tile[cuda.threadIdx.x % elements] = 1
        cuda.cg.this_grid().sync()

    with pytest.raises(LaunchError, match=f"holds at most {most:,} of them at once .* launch fewer"):
        simulate(kernel)[most + 1, block](np.zeros(1))


def test_what_groups_lack():
    def threads(x):
        cuda.cg.this_thread_block()

    def size(x):
        x[0] = cuda.cg.this_grid().size()

    def used(x):
        x[0] = cuda.cg.this_grid().sync()

    for kernel, words in ((threads, "one group"), (size, "one method"), (used, "no value")):
        with pytest.raises(UnsupportedKernelError, match=words):
            simulate(kernel)[1, 1](np.zeros(1))
