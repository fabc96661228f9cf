"""A test suite as a project writes it for numba's CUDA simulator, in which every test passes.

Most of its kernels have a bug that the simulator of numba does not show: the line with it is marked. What becomes of it
is tested in ``test_suite_for_cudasim.py``; pytest does not collect a file of this name by itself.
"""

import numpy as np
from numba import cuda, float32

THREADS, ONE_MORE = 64, 65


@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + x[i]


@cuda.jit
def seen(labels, flags):
    i = cuda.grid(1)
    if i < labels.size:
        flags[labels[i]] = 1  # race


@cuda.jit
def histogram(labels, counts):
    i = cuda.grid(1)
    if i < labels.size:
        counts[labels[i]] += 1  # race


@cuda.jit
def right_neighbours(x, out):
    held = cuda.shared.array(ONE_MORE, float32)
    i = cuda.threadIdx.x
    held[i] = x[i]
    cuda.syncthreads()
    right = held[i + 1]  # uninitialized-read
    out[i] = right if i + 1 < x.size else x[i]


@cuda.jit
def reversed_in_block(x, out):
    held = cuda.shared.array(THREADS, float32)
    i = cuda.threadIdx.x
    if i >= x.size:
        return
    held[i] = x[i]
    cuda.syncthreads()  # barrier-divergence
    out[i] = held[x.size - 1 - i]


@cuda.jit
def smoothed(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = (x[i - 1] + x[i]) * float32(0.5)  # negative-index


@cuda.jit
def halved(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 0.5  # float64


@cuda.jit
def padded(x, out):
    held = cuda.shared.array(THREADS + 1, float32)  # refused
    i = cuda.threadIdx.x
    held[i + 1] = x[i]
    cuda.syncthreads()
    out[i] = held[x.size - i]


@cuda.jit
def announced(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1
        print(f"x[{i}] is {x[i]}")  # refused


def test_doubled():
    x = np.arange(100, dtype=np.float32)
    out = cuda.device_array_like(x)
    doubled[2, THREADS](cuda.to_device(x), out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * x)


def test_seen():
    labels = np.array([1, 1, 0, 1, 3], dtype=np.int32)
    flags = np.zeros(4, dtype=np.int32)
    seen[1, THREADS](labels, flags)
    assert flags.tolist() == [1, 1, 0, 1]


def test_histogram():
    labels = np.arange(THREADS, dtype=np.int32) % 4
    counts = np.zeros(4, dtype=np.int32)
    histogram[1, THREADS](labels, counts)
    assert counts.tolist() == [16, 16, 16, 16]


def test_right_neighbours():
    x = np.arange(THREADS, dtype=np.float32)
    out = np.zeros_like(x)
    right_neighbours[1, THREADS](x, out)
    np.testing.assert_array_equal(out, np.append(x[1:], x[-1]))


def test_reversed_in_block():
    x = np.arange(40, dtype=np.float32)
    out = np.zeros_like(x)
    reversed_in_block[1, THREADS](x, out)
    np.testing.assert_array_equal(out, x[::-1])


def test_smoothed():
    x = np.arange(40, dtype=np.float32)
    out = np.zeros_like(x)
    smoothed[1, THREADS](x, out)
    np.testing.assert_array_equal(out, (np.roll(x, 1) + x) / 2)


def test_halved():
    x = np.arange(40, dtype=np.float32)
    out = np.zeros_like(x)
    halved[1, THREADS](x, out)
    np.testing.assert_array_equal(out, x / 2)


def test_padded():
    x = np.arange(THREADS, dtype=np.float32)
    out = np.zeros_like(x)
    padded[1, THREADS](x, out)
    np.testing.assert_array_equal(out, x[::-1])


def test_announced():
    x = np.zeros(4, dtype=np.float32)
    announced[1, 4](x)
    assert x.tolist() == [1, 1, 1, 1]
