"""An asynchronous copy reads its source until the wait that covers it: nobody may write it before."""

import numpy as np
import pytest
from kernels_with_bugs.copies import BYTES, ELEMENTS, SIDE, copy, place
from numba import cuda, float32, uint16, uint64
from oracles.sources import line_of

from course_lib import simulate
from course_lib.kernels.async_copy import commit_copies, copy4_async, copy_async, wait_copies
from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, wait_barrier


def by_its_thread(A, out, early):
    s = cuda.shared.array((1, 32), float32)
    t = cuda.threadIdx.x
    copy_async(s, 0, t, A, 0, t)  # copy
    commit_copies()
    if early:
        A[0, t] = 1  # write
    wait_copies(0)
    if not early:
        A[0, t] = 1
    out[t] = s[0, t]


def after_a_barrier(A, out, early):
    """Another thread writes, and a barrier orders it after the start of the copy, but not after its end."""
    s = cuda.shared.array((1, 32), float32)
    t = cuda.threadIdx.x
    copy_async(s, 0, t, A, 0, t)  # copy
    commit_copies()
    if not early:
        wait_copies(0)
    cuda.syncthreads()
    A[0, 31 - t] = 1  # write
    wait_copies(0)
    out[t] = s[0, t]


def one_group_too_few(A, out, early):
    s = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    copy_async(s, 0, t, A, 0, t)
    commit_copies()
    copy_async(s, 1, t, A, 1, t)  # copy
    commit_copies()
    wait_copies(1)
    A[0, t] = 1
    if not early:
        wait_copies(0)
    A[1, t] = 1  # write
    wait_copies(0)
    out[t] = s[0, t] + s[1, t]


def wide_and_atomic(A, out, early):
    s = cuda.shared.array((1, 32), float32)
    t = cuda.threadIdx.x
    if t < 8:
        copy4_async(s, 0, 4 * t, A, 0, 4 * t)  # copy
    commit_copies()
    if not early:
        wait_copies(0)
    if t == 7:
        cuda.atomic.add(A, (0, 31), 1)  # write
    wait_copies(0)
    cuda.syncthreads()
    out[t] = s[0, t]


@pytest.mark.parametrize("kernel", [by_its_thread, after_a_barrier, one_group_too_few, wide_and_atomic])
def test_a_source_that_is_written_before_the_wait(kernel):
    """A finding with both lines, and none where the write comes after the wait."""

    def launch(early):
        A = np.zeros((2, 32), np.float32)
        return simulate(kernel, strict=False)[1, 32](A, np.zeros(32, np.float32), early).findings

    found, *races = launch(True)  # of another thread, without a barrier after the wait: a race of the same lines, too
    lines = line_of(kernel, "# copy"), line_of(kernel, "# write")
    assert (found.kind, found.other_line, found.line, found.array) == ("unfinished-copy", *lines, "A")
    assert f"while the asynchronous copy that line {lines[0]} started may still read it" in found.message
    assert {(f.kind, f.other_line, f.line) for f in races} <= {("race", *lines)}
    assert launch(False) == ()


@pytest.mark.parametrize(("row", "col"), [(0, 0), (-60, 8)])
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("at", [(3, 9), (3, 70)], ids=["inside the box", "outside"])
def test_the_source_of_a_bulk_copy(row, col, early, at):
    """It is read until the phase that counts its bytes: the elements of the box that are inside the matrix."""

    def kernel(A, out, row, col, early, y, x):  # noqa: PLR0917 (a kernel)
        tile = cuda.shared.array(ELEMENTS, uint16, 1024)
        barriers = cuda.shared.array(1, uint64)
        t = cuda.threadIdx.x
        if t == 0:
            init_barrier(barriers, 0, 1)
            expect_bytes(barriers, 0, BYTES)
            copy(tile, 0, A, row, col, barriers, 0)  # copy
        cuda.syncthreads()
        if not early:
            wait_barrier(barriers, 0, 0)
        if t == 40:
            A[y, x] = 1  # write
        wait_barrier(barriers, 0, 0)
        out[t] = tile[place(0, t)]

    A, out = np.zeros((70, 80), np.uint16), np.zeros((2, SIDE), np.uint16)
    (found, *more) = simulate(kernel, strict=False)[1, SIDE](A, out[0], row, col, early, *at).findings or (None,)
    used = row <= at[0] < row + SIDE and col <= at[1] < col + SIDE
    if early and used:
        lines = line_of(kernel, "# copy"), line_of(kernel, "# write")
        assert more == [] and (found.kind, found.other_line, found.line) == ("unfinished-copy", *lines)
        assert "thread 40 of block 0 writes A[3, " in found.message
    else:
        assert found is None


def in_the_same_interval(A, out):
    """The write follows no barrier after the wait: one warp may write before another has waited."""
    s = cuda.shared.array((1, 64), float32)
    t = cuda.threadIdx.x
    copy_async(s, 0, t, A, 0, t)  # copy
    commit_copies()
    cuda.syncthreads()
    wait_copies(0)
    A[0, 63 - t] = 1  # write
    out[t] = s[0, t]


@pytest.mark.parametrize("schedule", ["in-order", "reversed", 3])
def test_a_write_after_the_wait_of_another_thread(schedule):
    A, out = np.zeros((1, 64), np.float32), np.zeros(64, np.float32)
    found = simulate(in_the_same_interval, strict=False, schedule=schedule)[1, 64](A, out).findings
    lines = {line_of(in_the_same_interval, "# copy"), line_of(in_the_same_interval, "# write")}
    assert found and all({f.line, f.other_line} == lines for f in found)
    assert {f.kind for f in found} <= {"race", "unfinished-copy"}
