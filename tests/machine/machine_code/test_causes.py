"""Each word of `CAUSES` is said of a kernel that shows it, and not of its twin, which differs in one thing."""

import numpy as np
import pytest
from numba import cuda, float32, int32

from course_lib.machine.machine_code import available, machine_code
from course_lib.machine.machine_code.as_compiled import as_compiled
from course_lib.machine.machine_code.causes import CAUSES
from course_lib.machine.simulated_launch import simulated

pytestmark = pytest.mark.skipif(not available(), reason="the compiler is not installed")

THREADS = 64


def loaded_twice(barrier):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        first = x[i]
        if barrier:
            cuda.syncthreads()
        out[i] = first * x[i]

    return kernel


def row_of(words):
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((THREADS, words), float32)
        t = cuda.threadIdx.x
        for k in range(4):
            tile[t, k] = x[t]
        cuda.syncthreads()
        total = float32(0)
        for k in range(4):
            total += tile[THREADS - 1 - t, k]
        out[t] = total

    return kernel


def same_element_each_time(barrier):
    @cuda.jit
    def kernel(x, count, out):
        i = cuda.grid(1)
        total = float32(0)
        for _ in range(count):
            if barrier:
                cuda.syncthreads()
            total += x[i] + total
        out[i] = total

    return kernel


@cuda.jit
def summed_by_warps(A, out):
    lane = cuda.threadIdx.x % 32
    row = cuda.grid(1) // 32
    total = float32(0)
    for k in range(lane, A.shape[1], 32):
        total += A[row, k]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if lane == 0:
        out[row] = total


@cuda.jit
def squares(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * x[i]


@cuda.jit
def counted(places, out):
    cuda.atomic.add(out, places[cuda.grid(1)], 1)


def shared_sum(kind):
    @cuda.jit
    def kernel(x, out):
        total = cuda.shared.array(1, kind)
        t = cuda.threadIdx.x
        if t == 0:
            total[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(total, 0, x[t])
        cuda.syncthreads()
        if t == 0:
            out[0] = total[0]

    return kernel


def by_warps(same):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i % 64 < 32:
            y = x[i] + float32(1)
        else:
            y = x[i if same else 63 - i] * float32(3)
        out[i] = y

    return kernel


def needed_by_one_warp(known):
    @cuda.jit
    def kernel(x, place, out):
        tile = cuda.shared.array(THREADS, float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        y = float32(1)
        if t >= 32:
            y = tile[3 if known else place]
        out[t] = y

    return kernel


@cuda.jit
def stored_by_one(x, out):
    tile = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        tile[0] = x[0]
    cuda.syncthreads()
    out[t] = tile[0]


def ones(kind=np.float32, shape=THREADS):
    return np.ones(shape, kind)


def rows(kernel, *given):
    """Return the rows of a launch of one block, of a thread for each element of the last array."""
    made = simulated(kernel, 1, len(given[-1]), given)
    found = as_compiled(machine_code(kernel, made.before), made)
    assert not found.why
    return found.rows


def said_of(kernel, *given):
    """Return the words that are said of it."""
    return {word for row in rows(kernel, *given) for word in row.causes}


PLACES = np.arange(THREADS, dtype=np.int32)
#: For each word: a launch, and its twin.
CASES = {
    "joined": ((loaded_twice(barrier=False), ones(), ones()), (loaded_twice(barrier=True), ones(), ones())),
    "widened": ((row_of(4), ones(), ones()), (row_of(5), ones(), ones())),
    "hoisted": (
        (same_element_each_time(barrier=False), ones(), 6, ones()),
        (same_element_each_time(barrier=True), ones(), 6, ones()),
    ),
    "split": ((summed_by_warps, ones(shape=(2, 100)), ones()), (summed_by_warps, ones(shape=(2, 128)), ones())),
    "in parts": ((squares, ones(np.complex64), ones(np.complex64)), (squares, ones(np.float64), ones(np.float64))),
    "moved": ((by_warps(same=True), ones(), ones()), (by_warps(same=False), ones(), ones())),
    "ahead": (
        (needed_by_one_warp(known=True), ones(), 3, ones()),
        (needed_by_one_warp(known=False), ones(), 3, ones()),
    ),
    "retried": ((shared_sum(float32), ones(), ones()), (shared_sum(int32), ones(np.int32), ones(np.int32))),
    "repeated": ((counted, PLACES // 2, ones(np.int32)), (counted, PLACES, ones(np.int32))),
    "no lane": ((stored_by_one, ones(), ones()), (stored_by_one, ones(shape=32), ones(shape=32))),
}


def test_every_word_has_a_case():
    assert {*CASES} == {*CAUSES}


@pytest.mark.parametrize("word", CASES)
def test_a_word_is_said_of_its_cause_alone(word):
    """The twins have a barrier more, another size, type or place."""
    shown, twin = CASES[word]
    assert word in said_of(*shown)
    assert word not in said_of(*twin)


def test_a_sum_of_floats_in_shared_memory_is_a_loop():
    """Each of the 32 rounds of two warps loads, and compares and swaps, which is two wavefronts."""
    found = {(row.space, row.op): row for row in rows(shared_sum(float32), ones(), ones()) if "retried" in row.causes}
    assert {key: row.compiled for key, row in found.items()} == {
        ("shared", "atomic"): (64, 128),
        ("shared", "load"): (64, 64),
    }


def test_the_parts_of_a_complex_number_are_accesses_of_their_own():
    (row,) = (row for row in rows(squares, ones(np.complex64), ones(np.complex64)) if row.op == "store")
    assert (row.written.requests, row.compiled.requests, row.causes) == (2, 4, ("in parts",))
