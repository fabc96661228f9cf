"""Accesses, requests, sectors and wavefronts against numbers worked out by hand."""

import numpy as np
import pytest
from numba import complex64, cuda, float32, float64, int8, int32
from numba.types import float16
from oracles.sources import import_module

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.kernels.naive import naive


def strided(a, stride, start, out):
    i = cuda.grid(1)
    out[i] = a[start + i * stride]


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("stride", [0, 1, 2, 3, 7, 8, 9, 16, 33])
@pytest.mark.parametrize("start", [0, 1, 5])
def test_sectors_of_a_strided_load(itemsize, stride, start):
    a = np.zeros(33 * 40, f"i{itemsize}")
    run = simulate(strided)[1, 32](a, stride, start, np.zeros(32, a.dtype))
    expected = len({(start + i * stride) * itemsize // 32 for i in range(32)})
    load = run.traffic.select(op="load")
    assert (load.accesses, load.requests, load.sectors, load.bytes) == (32, 1, expected, 32 * itemsize)


@pytest.mark.parametrize("threads", [1, 5, 31, 33, 40, 100])
def test_partial_warps_and_several_blocks(threads):
    blocks = 3
    a = np.zeros(threads * blocks, "f4")
    run = simulate(strided)[blocks, threads](a, 1, 0, np.zeros_like(a))
    warps = [(b * threads + w, min(32, threads - w)) for b in range(blocks) for w in range(0, threads, 32)]
    load = run.traffic.select(op="load")
    assert load.accesses == threads * blocks
    assert load.requests == len(warps)
    assert load.sectors == sum(len({4 * (first + i) // 32 for i in range(n)}) for first, n in warps)


@pytest.mark.parametrize("block", [(7, 5), (45, 3), (16, 2), (64, 2), (3, 11), (1, 40)])
def test_requests_follow_warps_however_the_block_is_folded(block):
    shape = (block[1] * 2, block[0] * 3)
    A, out = np.zeros(shape, "f4"), np.zeros(shape, "f4")

    def copy(A, out):
        x, y = cuda.grid(2)
        out[y, x] = A[y, x]

    run = simulate(copy)[(3, 2), block](A, out)
    sectors = requests = 0
    for by in range(2):
        for bx in range(3):
            linear = [
                (by * block[1] + t // block[0]) * shape[1] + bx * block[0] + t % block[0]
                for t in range(block[0] * block[1])
            ]
            for w in range(0, len(linear), 32):
                requests += 1
                sectors += len({4 * i // 32 for i in linear[w : w + 32]})
    load = run.traffic.select(op="load")
    assert (load.requests, load.sectors) == (requests, sectors)


def test_per_thread_has_the_launch_s_shape_in_x_y_order():
    A, B, C = np.ones((6, 5), "f4"), np.ones((5, 10), "f4"), np.zeros((6, 10), "f4")
    run = simulate(naive)[(3, 2), (4, 4)](A, B, C)
    loads = run.traffic.per_thread(space="global", op="load")
    assert loads.shape == (3, 2, 4, 4)
    for bx, by, tx, ty in np.ndindex(loads.shape):
        inside = by * 4 + ty < 6 and bx * 4 + tx < 10
        assert loads[bx, by, tx, ty] == (10 if inside else 0)


def shared_kernel(dtype, words):
    def pattern(index, out):
        tile = cuda.shared.array(words, dtype)
        i = cuda.threadIdx.x
        for k in range(i, words, cuda.blockDim.x):
            tile[k] = k
        cuda.syncthreads()
        out[i] = tile[index[i]]

    return pattern


def busiest(index, itemsize):
    """Distinct words in the busiest bank."""
    words = {(i * itemsize + b) // 4 for i in index for b in range(0, itemsize, 4)}
    return max([0, *(sum(w % 32 == bank for w in words) for bank in range(32))])


def by_hand(index, itemsize):
    """(wavefronts, those without a conflict): half warps at 8 bytes, which merge if neighbours agree."""
    index = [int(i) for i in index]
    if itemsize <= 4 or any(all(index[i] == index[i ^ partner] for i in range(32)) for partner in (1, 2)):
        return busiest(index, itemsize), 1
    return busiest(index[:16], itemsize) + busiest(index[16:], itemsize), 2


@pytest.mark.parametrize(
    ("dtype", "itemsize"), [(int8, 1), (float16, 2), (float32, 4), (int32, 4), (float64, 8), (complex64, 8)]
)
@pytest.mark.parametrize("stride", [0, 1, 2, 3, 16, 17, 32, 33])
def test_wavefronts_of_a_strided_shared_load(dtype, itemsize, stride):
    index = np.arange(32) * stride
    run = simulate(shared_kernel(dtype, 1056))[1, 32](index, np.zeros(32, "c16"))
    load = run.traffic.select(space="shared", op="load")
    wavefronts, ideal = by_hand(index, itemsize)
    assert (load.wavefronts, load.bank_conflicts) == (wavefronts, wavefronts - ideal)


@pytest.mark.parametrize(("dtype", "itemsize"), [(float32, 4), (float64, 8)])
def test_wavefronts_of_random_indices(dtype, itemsize):
    rng = np.random.default_rng(5)
    kernel = shared_kernel(dtype, 1056)
    for most in (1056, 64, 20):
        for _ in range(5):
            index = rng.integers(0, most, 32)
            run = simulate(kernel)[1, 32](index, np.zeros(32, "f8"))
            load = run.traffic.select(space="shared", op="load")
            assert (load.wavefronts, load.wavefronts - load.bank_conflicts) == by_hand(index, itemsize)


def test_select_refuses_what_the_run_does_not_have():
    a = np.zeros(4, "f4")
    run = simulate(strided)[1, 4](a, 1, 0, a.copy())
    with pytest.raises(ValueError, match="no array 'b' in this run; it has 'a', 'out'"):
        run.traffic.select(array="b")
    with pytest.raises(ValueError, match="no op 'read'"):
        run.traffic.select(op="read")
    with pytest.raises(ValueError, match="no line 1 "):
        run.traffic.select(line=1)
    assert run.traffic.select(space="shared").accesses == 0


ELSEWHERE = """from numba import cuda


@cuda.jit(device=True)
def inner(a, i):
    return a[i]


@cuda.jit(device=True)
def both(a, i):
    return inner(a, i) + a[0]


@cuda.jit(device=True)
def wrong(a, i):
    return [a[i]]
"""


@cuda.jit(device=True)
def at_home(a, i):
    return a[i] + a[0]


def test_a_device_function_of_another_file_counts_on_the_line_that_calls_it(tmp_path):
    module = import_module(ELSEWHERE, tmp_path)
    both, wrong = module.both, module.wrong

    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = both(a, i)  # first
        out[i] += both(a, i + 1)  # second
        out[i] += at_home(a, i)  # third

    def refused(a, out):
        out[0] = wrong(a, 0)  # fourth

    a, out = np.arange(65), np.zeros(64, "i8")
    run = simulate(kernel)[2, 32](a, out)
    np.testing.assert_array_equal(out, 3 * np.arange(64) + 1)
    lines = {text.partition("# ")[2]: number for number, text in run.source.lines if "# " in text}
    home = next(number for number, text in run.source.lines if "return a[i] + a[0]" in text)
    assert {r.line for r in run.traffic.rows} == {home, lines["first"], lines["second"], lines["third"]}
    for line in (home, lines["first"], lines["second"]):
        assert run.traffic.select(array="a", line=line).accesses == 128
    shown = {n for n, _ in run.source.lines}
    assert sum(r.accesses for r in run.traffic.rows if r.line in shown) == run.traffic.accesses
    with pytest.raises(KernelError, match=rf"reads a\[65\].*\n  line +{lines['second']} [|] out\[i\] \+= both"):
        simulate(kernel)[1, 65](a, np.zeros(65, "i8"))
    with pytest.raises(UnsupportedKernelError, match=r"in the device function wrong: line 16: .*a list"):
        simulate(refused)[1, 1](a, out)
