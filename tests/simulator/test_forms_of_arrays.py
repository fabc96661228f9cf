"""Other forms of an array in a kernel: what NumPy gives, at the same addresses."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.simulator.language import packages


def reshaped(x, y, out):
    i = cuda.grid(1)
    deep = x.reshape((3, 8)).reshape(2, -1, 4)
    if i < 24:
        deep[i // 12, i // 4 % 3, i % 4] = 100 + i
        out[i] = y.reshape((3, 8))[i // 8, i % 8] + y.reshape(y.size)[23 - i]


def reshaped_part(x, y, out):
    i = cuda.grid(1)
    part = x.reshape(4, 6)[1:3].reshape(12)
    row = y.reshape(4, 6)[3].reshape((2, 3))
    if i < 12:
        part[-1 - i] += 1
        out[i] = y[i:].reshape(-1)[2]
    if i < 6:
        out[12 + i] = row[i // 3, i % 3]


def transposed(x, y, out):
    i = cuda.grid(1)
    turned = y.reshape(4, 6).transpose()
    if i < 24:
        out[i] = turned[i // 4, i % 4] + turned.T[i // 6, i % 6]


def flat(x, y, out):
    i = cuda.grid(1)
    part = x.reshape(4, 6)[1:, ::2]
    if i < len(part.flat):
        out[i] = y.reshape(4, 6)[1:, ::2].flat[i]
        part.flat[-1 - i] = -i
    if i == 20:
        for v in y.reshape(4, 6)[1:, ::2].T.flat:
            out[23] += v


def bits(x, y, out):
    i = cuda.grid(1)
    whole = x.view(np.int32)
    if i < 12:
        out[i] = whole[i] >> 23
        whole[i] = whole[i] & 0x7FFFFFFF
    elif i < 24:
        out[i] = (x[i].view(np.int32) >> 4) + (whole[12:].view(np.float32).view(np.int32)[i - 12] >> 4)


def sizes(x, y, out):
    wide = x.reshape(4, 6)
    if cuda.grid(1) == 0:
        out[0], out[1] = wide.strides
        out[2], out[3] = wide[::2, ::-3].strides
        out[4], out[5] = wide.T.strides
        out[6] = wide[1:, 2:4].nbytes
        out[7] = wide.view(np.int32).strides[0]


KERNELS = [reshaped, reshaped_part, transposed, flat, bits, sizes]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_it_equals_numpy(kernel, monkeypatch):
    """Python runs the same text over NumPy's arrays, thread by thread."""
    x = np.random.default_rng(8).normal(size=24).astype(np.float32)
    got, want = ((x.copy(), x.copy(), np.zeros(24)) for _ in range(2))
    run = simulate(kernel)[1, 32](*got)
    for thread in range(32):
        monkeypatch.setattr(cuda, "grid", lambda ndim, thread=thread: thread)
        kernel(*want)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
    assert {f.kind for f in run.findings} <= {"negative-index", "float64"}


def test_an_access_has_the_address_of_the_element():
    """Column accesses of a tile that was cut from one piece of shared memory have the conflicts of the same tile."""

    def cut(x):
        whole = cuda.shared.array(1024, float32)
        tile = whole.reshape((32, 32))
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        tile[j, i] = x[j, i]
        cuda.syncthreads()
        x[j, i] = tile[i, j]

    def plain(x):
        tile = cuda.shared.array((32, 32), float32)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        tile[j, i] = x[j, i]
        cuda.syncthreads()
        x[j, i] = tile[i, j]

    counts = []
    for kernel in (cut, plain):
        x = np.arange(1024, dtype=np.float32).reshape(32, 32)
        run = simulate(kernel)[1, (32, 32)](x)
        np.testing.assert_array_equal(x.T.ravel(), np.arange(1024))
        spaces = [run.traffic.select(space=space) for space in ("shared", "global")]
        counts.append([(part.requests, part.sectors, part.wavefronts) for part in spaces])
    assert counts[0] == counts[1]


def test_a_race_through_two_forms_is_a_race():
    def kernel(x):
        i = cuda.threadIdx.x
        wide = x.reshape(2, 32)
        wide[i // 32, i % 32] = 1
        x.view(np.int32)[63 - i] = 0

    run = simulate(kernel, strict=False)[1, 64](np.zeros(64, np.float32))
    assert [f.kind for f in run.errors] == ["race"]


def test_the_bounds_are_those_of_the_form():
    def kernel(x):
        wide = x.reshape(4, 6)
        wide[3, 6] = 1

    run = simulate(kernel, strict=False)[1, 1](np.zeros(24))
    assert [(f.kind, f.index) for f in run.errors] == [("out-of-bounds", (3, 6))]


@pytest.mark.parametrize("shape", [(5, 5), (-1, -1), (-1, 7)])
def test_a_shape_of_other_size_is_an_error(shape):
    def kernel(x):
        x.reshape(shape)[0, 0] = 1

    with pytest.raises(KernelError, match="elements"):
        simulate(kernel)[1, 1](np.zeros(24))


def test_what_numba_does_not_reshape():
    def every_second(x):
        x[::2].reshape(3, 4)[0, 0] = 1

    def turned(x):
        x.reshape(4, 6).T.reshape(24)[0] = 1

    for kernel in (every_second, turned):
        with pytest.raises(UnsupportedKernelError, match=r"line \d+: numba .* without gaps"):
            simulate(kernel)[1, 1](np.zeros(24))


def test_what_is_refused_by_name():
    def narrow(x):
        x.view(np.uint8)[0] = 1

    def named(x):
        x.reshape(shape=(4, 6))[0, 0] = 1

    def method(x):
        f = x.reshape
        f(24)[0] = 1

    for kernel, words in ((narrow, "same size"), (named, "without names"), (method, "is a method; call it")):
        with pytest.raises(UnsupportedKernelError, match=words):
            simulate(kernel)[1, 1](np.zeros(24, np.float32))


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 2), (5,), (0, 3)])
def test_loops_over_all_indices(shape, monkeypatch):
    monkeypatch.setattr(packages, "installed", lambda: packages.NUMBA_CUDA)

    def kernel(x, out):
        k = 0
        for index in np.ndindex(x.shape):
            out[0, k] = x[index]
            k += 1
        k = 0
        for index, value in np.ndenumerate(x):
            out[1, k] = value + 100 * index[0] + index[-1]
            k += 1

    x = np.random.default_rng(2).integers(0, 9, shape)
    got, want = np.zeros((2, 20)), np.zeros((2, 20))
    simulate(kernel)[1, 1](x, got)
    kernel(x, want)
    np.testing.assert_array_equal(got, want)
    with pytest.raises(UnsupportedKernelError, match="takes an array"):
        simulate(loops_over_two)[1, 1](x)


def loops_over_two(x):
    for i, v in np.ndenumerate(x, x):
        x[i] = v


def test_atomics_on_elements_viewed_as_another_type():
    def largest(x, best):
        """The largest float32: of positive floats, the order is that of their bits."""
        i = cuda.grid(1)
        bits = best.view(np.int32)
        old = bits[0] if i < 0 else 0
        mine = np.float32(x[i]).view(np.int32)
        while mine > old:
            seen = cuda.atomic.cas(bits, 0, old, mine)
            if seen == old:
                break
            old = seen

    def in_shared_memory(x, best):
        memory = cuda.shared.array(0, np.float32)
        bits = cuda.shared.array(0, np.int32)
        t = cuda.threadIdx.x
        if t == 0:
            memory[0] = 0
        cuda.syncthreads()
        cuda.atomic.max(bits, 0, np.float32(x[t]).view(np.int32))
        cuda.syncthreads()
        if t == 0:
            best[0] = memory[0]

    x = np.random.default_rng(3).random(64).astype(np.float32)
    for kernel in (largest, in_shared_memory):
        best = np.zeros(1, np.float32)
        run = simulate(kernel, trace=True)[1, 64, 0, 16](x, best)
        assert (best[0], run.findings) == (x.max(), ())
