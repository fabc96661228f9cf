"""Twelve kernels, each with a well-known bug, in shapes that no other test here has; KERNELS says what repairs each."""

import math

import numpy as np
from numba import cuda, float32, int32

TILE = 32


@cuda.jit
def tree_sum(x, out):  # no barrier between the steps, one line reads and writes
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.blockIdx.x * 256 + t]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        step >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def turned_tile(src, dst):  # the columns of a tile whose rows have 32 words
    tile = cuda.shared.array((TILE, TILE), float32)
    u, v = cuda.threadIdx.x, cuda.threadIdx.y
    tile[v, u] = src[cuda.blockIdx.y * TILE + v, cuda.blockIdx.x * TILE + u]
    cuda.syncthreads()
    dst[cuda.blockIdx.x * TILE + v, cuda.blockIdx.y * TILE + u] = tile[u, v]


@cuda.jit
def running_sum(x, out):  # reads what others write in the same step
    s = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < cuda.blockDim.x:
        if t >= d:
            s[t] += s[t - d]
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@cuda.jit
def two_rows(x, out):  # the rows change places, and nobody waits
    s = cuda.shared.array((2, 96), int32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    now = 0
    for d in range(1, 8):
        s[1 - now, t] = s[now, t] + s[now, (t + d) % 96]
        now = 1 - now
    out[t] = s[now, t]


@cuda.jit
def axpy(a, x, y):  # more threads than elements
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y[i] = a * x[i] + y[i]


@cuda.jit
def decay(x, out):  # constants of double precision
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = 0.25 * x[i] + 1.5


@cuda.jit
def maximum(x, out):  # the barrier is for those alone that still compare
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = 32
    while half:
        if t < half:
            s[t] = max(s[t], s[t + half])
            cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def bins(x, counts):  # many threads add to one element
    i = cuda.grid(1)
    if i < x.size:
        b = x[i] % counts.size
        counts[b] = counts[b] + 1


@cuda.jit
def scaled_rows(A, out):  # neighbouring threads in a column
    row, col = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        out[row, col] = A[row, col] * float32(3)


@cuda.jit
def neighbours(x, out):  # a halo for which the tile has no room
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]
    if t == 0:
        s[64] = x[(i + 64) % x.size]
    cuda.syncthreads()
    out[i] = s[t] + s[t + 1]


@cuda.jit
def pivots(A, out):  # the next pivot is stored while others still read the last
    pivot = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(A.shape[0]):
        if t == 0:
            pivot[0] = A[k, k]
        cuda.syncthreads()
        total += A[k, t] / pivot[0]
    out[t] = total


@cuda.jit
def smoothed(x):  # blocks read what their neighbours write
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        x[i] = (x[i - 1] + x[i] + x[i + 1]) / float32(3)


def _rows(s):
    now = s.copy()
    for d in range(1, 8):
        now = now + np.roll(now, -d)
    return now


def _smooth(x):
    out = x.copy()
    out[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / np.float32(3)
    return out


def _pivots(A):
    return (A / np.diag(A)[:, None]).sum(0)


def real(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def whole(rng, *shape):
    return rng.integers(0, 99, shape).astype(np.int32)


def diagonal(A):
    return A + np.eye(*A.shape, dtype=np.float32) * 9


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def none(n):
    return zeros(n, dtype=np.int32)


def cut(n, width):
    return math.ceil(n / width)


def of(values, make):
    """Return a launch that takes a size and a source of random numbers."""
    return lambda n, rng: make(n, lambda *shape: values(rng, *shape))


#: Kernel: the rules whose repair is right (none: nothing may be advised), and a launch of a size: grid, block,
#: arguments, and what the last argument should hold.
KERNELS = {
    tree_sum: (
        ["barrier"],
        of(real, lambda n, x: (n, 256, (x(256 * n), zeros(n)), lambda x, out: x.reshape(n, 256).sum(1))),
    ),
    turned_tile: (
        ["padded-tile"],
        of(real, lambda n, x: ((n, 2), (32, 32), (x(64, 32 * n), zeros(32 * n, 64)), lambda src, dst: src.T)),
    ),
    running_sum: (
        ["read-barrier-write"],
        of(whole, lambda n, x: (1, 60 + n, (x(60 + n), none(60 + n)), lambda x, out: x.cumsum())),
    ),
    two_rows: (["barrier"], of(whole, lambda n, x: (1, 96, (x(96), none(96)), lambda x, out: _rows(x)))),
    axpy: (
        ["guard"],
        of(
            real,
            lambda n, x: (
                cut(50 * n, 64),
                64,
                (np.float32(2), x(50 * n), x(50 * n)),
                lambda a, x, y: a * x + y,
            ),
        ),
    ),
    decay: (["float32"], of(real, lambda n, x: (n, 64, (x(64 * n), zeros(64 * n)), lambda x, out: 0.25 * x + 1.5))),
    maximum: (
        ["barrier-out-of-an-if"],
        of(whole, lambda n, x: (n, 64, (x(64 * n), none(n)), lambda x, out: x.reshape(n, 64).max(1))),
    ),
    bins: (
        ["atomic"],
        of(whole, lambda n, x: (n, 64, (x(50 * n), none(10)), lambda x, out: np.bincount(x % 10, minlength=10))),
    ),
    scaled_rows: (
        ["exchanged-x-and-y"],
        of(
            real,
            lambda n, x: ((n, n), (16, 16), (x(16 * n, 16 * n), zeros(16 * n, 16 * n)), lambda A, out: 3 * A),
        ),
    ),
    neighbours: ([], of(real, lambda n, x: (n, 64, (x(64 * n), zeros(64 * n)), lambda x, out: x + np.roll(x, -1)))),
    pivots: (
        ["barrier"],
        of(real, lambda n, x: (1, 64, (diagonal(x(5 * n, 64)), zeros(64)), lambda A, out: _pivots(A))),
    ),
    smoothed: ([], of(real, lambda n, x: (n, 64, (x(64 * n),), _smooth))),
}
