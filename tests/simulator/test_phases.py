"""Barriers in shared memory and bulk copies: what they bring, and what a message says where they cannot work."""

import numpy as np
import pytest
from kernels_with_bugs.copies import BYTES, ELEMENTS, SIDE, copy, place
from numba import cuda, uint16, uint64

from course_lib import KernelError, simulate
from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, tensor_map, tile_copy, wait_barrier


def brings_one_tile(A, C, row, col, threads, arrivals, count, index, first):  # noqa: PLR0917 (a kernel)
    tile = cuda.shared.array(2 * 4096, uint16, 1024)
    barriers = cuda.shared.array(2, uint64)
    if cuda.threadIdx.x < threads:
        init_barrier(barriers, 0, arrivals)
        for _ in range(count):
            expect_bytes(barriers, 0, BYTES)
        copy(tile, first, A, row, col, barriers, index)
    cuda.syncthreads()
    wait_barrier(barriers, 0, 0)
    for i in range(SIDE):
        C[i, cuda.threadIdx.x] = tile[first + place(i, cuda.threadIdx.x)]


def bring(A, row=0, col=0, *, threads=1, arrivals=1, count=1, index=0, first=0):
    """Return the tile of A at [row, col] as a kernel finds it, and what was found."""
    C = np.zeros((SIDE, SIDE), np.uint16)
    run = simulate(brings_one_tile, strict=False)[1, SIDE](A, C, row, col, threads, arrivals, count, index, first)
    return C, run.findings


@pytest.mark.parametrize("row", [-3, 0, 7, 200])
@pytest.mark.parametrize("col", [-64, 0, 9, 70])
def test_a_tile_is_the_part_of_the_matrix_with_zeros_outside(row, col):
    A = np.random.default_rng(0).integers(1, 2**16, (70, 80)).astype(np.uint16)
    padded = np.pad(A, 300)[300 + row : 364 + row, 300 + col : 364 + col]
    C, findings = bring(A, row, col, first=ELEMENTS)
    np.testing.assert_array_equal(C, padded)
    assert findings == ()


def test_blocks_in_which_other_threads_copy_get_their_own_tiles():
    """Thread 2 starts the copy of block 0, and thread 0 that of block 2."""

    def kernel(A, C):
        tile = cuda.shared.array(4096, uint16, 1024)
        barriers = cuda.shared.array(1, uint64)
        block, t = cuda.blockIdx.x, cuda.threadIdx.x
        if t == 2 - block:
            init_barrier(barriers, 0, 1)
            expect_bytes(barriers, 0, BYTES)
            copy(tile, 0, A, SIDE * block, 0, barriers, 0)
        cuda.syncthreads()
        wait_barrier(barriers, 0, 0)
        for i in range(SIDE):
            C[SIDE * block + i, t] = tile[place(i, t)]

    A = np.random.default_rng(0).integers(1, 2**16, (3 * SIDE, SIDE)).astype(np.uint16)
    C = np.zeros_like(A)
    assert simulate(kernel)[3, SIDE](A, C).findings == ()
    np.testing.assert_array_equal(C, A)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"threads": 2}, "more arrivals in a phase than the 1"),
        ({"threads": 2, "arrivals": 2}, "one thread starts a bulk copy"),
        ({"count": 2}, "more arrivals in a phase than the 1"),
        ({"arrivals": 0}, "at least one arrival, not 0"),
        ({"index": 1}, r"barriers\[1\] is no barrier yet; call init_barrier"),
        ({"index": 2}, r"barriers has 2 barriers, and no \[2\]"),
        ({"first": 256}, "goes to a multiple of 1024 bytes"),
        ({"first": 8192}, "goes beyond its 8192 elements"),
    ],
    ids=str,
)
def test_what_the_hardware_cannot_do_is_an_error_with_its_line(change, words):
    with pytest.raises(KernelError, match=f"^line [0-9]+: .*{words}"):
        bring(np.zeros((64, 64), np.uint16), **change)


def test_rows_off_sixteen_bytes_are_refused_by_the_simulator_and_at_a_launch():
    A = np.zeros((64, 65), np.uint16)
    with pytest.raises(KernelError, match="rows in C order that begin on 16-byte boundaries; pad those of A"):
        bring(A)
    with pytest.raises(ValueError, match="these are 130 bytes apart"):
        tensor_map(A, (64, 64))


def test_a_phase_for_which_nobody_arrives_is_found_and_does_not_hang():
    _, findings = bring(np.zeros((64, 64), np.uint16), arrivals=2)
    (found,) = (f for f in findings if f.kind == "barrier-divergence")
    assert "waits for a phase of barriers[0] that never completes: missing are 1 of its 2 arrivals" in found.message


def test_a_barrier_that_nobody_makes_is_found_and_does_not_hang():
    def kernel(C):
        barriers = cuda.shared.array(1, uint64)
        wait_barrier(barriers, 0, 0)
        C[cuda.threadIdx.x] = 1

    C = np.zeros(64)
    run = simulate(kernel, strict=False)[1, 64](C)
    assert [f.kind for f in run.findings] == ["barrier-divergence", "uninitialized-read"]
    assert "missing are init_barrier" in run.findings[0].message
    assert (C == 1).all()


@pytest.mark.parametrize("box", [(0, 64), (257, 64), (64, 16)])
def test_a_box_that_the_copy_engine_lacks_is_refused(box):
    with pytest.raises(ValueError, match="1 to 256 rows of 128 bytes"):
        tile_copy(*box)
