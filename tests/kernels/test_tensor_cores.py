"""Products on tensor cores: what one instruction does, and the rungs that use it, on the simulator."""

import importlib
from fractions import Fraction

import numpy as np
import pytest
from numba import cuda, types
from numba.core import errors

from course_lib import KernelError, UnsupportedKernelError, model, simulate
from course_lib.kernels import TENSOR_CORES, rung, tensor_core
from course_lib.kernels.tensor_core import mma_tf32, mma_tf32_of_warps, round_to_tf32

SIZES = [(37, 70, 18), (64, 33, 100), (1, 1, 1), (3, 2, 0), (0, 4, 4), (65, 31, 33)]


def multiply(r, A, B):
    """Run a rung on the simulator; return C and the run."""
    (M, K), N = A.shape, B.shape[1]
    C = np.full((M, N), np.nan, np.float32)
    return C, simulate(r.make(**r.params))[r.launch(M, N, K, **r.params)](A, B, C)


def assert_modelled(run, r, size):
    """Hold the closed forms equal to what was counted, array by array."""
    modelled = {key: count for key, count in model.traffic(r.name, *size, **r.params).items() if count.accesses}
    assert modelled.keys() == {(row.space, row.op, row.array) for row in run.traffic.rows if row.accesses}
    for (space, op, array), count in modelled.items():
        part = run.traffic.select(space=space, op=op, array=array)
        sectors, wavefronts = (part.sectors, 0) if space == "global" else (0, part.wavefronts)
        assert count == model.Count(part.accesses, part.requests, sectors, wavefronts), (op, array)


@pytest.mark.parametrize("r", TENSOR_CORES, ids=lambda r: r.name)
@pytest.mark.parametrize("size", [*SIZES, None], ids=str)
def test_rung_is_right_silent_and_modelled(r, size):
    """Ragged rectangles, the last of sizes drawn anew: exact for whole numbers, else within the bounds of TF32."""
    rng = np.random.default_rng()
    M, N, K = size = size or tuple(map(int, rng.integers(1, 130, 3)))
    A, B = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    C, run = multiply(r, A, B)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()
    assert_modelled(run, r, size)

    A, B = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N)))
    C, run = multiply(r, A, B)
    assert run.findings == ()
    magnitude = abs(A).astype(np.float64) @ abs(B)
    sums = (K + 8) * 2.0**-23 * magnitude
    rounded = round_to_tf32(A).astype(np.float64) @ round_to_tf32(B)
    assert (abs(C - rounded) <= sums).all()
    assert (abs(C - A.astype(np.float64) @ B) <= sums + (2 * 2.0**-11 + 2.0**-22) * magnitude).all()


@pytest.mark.parametrize("r", TENSOR_CORES, ids=lambda r: r.name)
def test_what_the_ladder_asks_of_a_rung(r):
    """It is found by name, says its idea and its source, and no load from shared memory meets a bank twice."""
    assert rung(r.name) is r
    text = importlib.import_module(f"course_lib.kernels.{r.name}").__doc__
    assert all(f"\n{part}: " in text for part in ("Idea", "Launch", "Loads", "Source"))
    _, run = multiply(r, np.ones((70, 40), np.float32), np.ones((40, 70), np.float32))
    loads = run.traffic.select(space="shared", op="load")
    assert loads.wavefronts == loads.requests > 0
    assert r.shared_bytes() <= 48 * 1024


def test_rounding_to_tf32():
    """To nearest, ties away from zero, for every number; and what a GPU does to NaN."""
    rng = np.random.default_rng()
    x = rng.integers(0, 2**32, 4096, np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (abs(x) < 3e38)]
    step = 2.0 ** np.maximum(np.frexp(x)[1] - 11.0, -136)
    exact = np.copysign(np.floor(abs(x.astype(np.float64)) / step + 0.5) * step, x)
    np.testing.assert_array_equal(round_to_tf32(x), exact)
    bits = np.array([0x3F801000, 0xBF801000, 0x3F800FFF, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FB97B8E], np.uint32)
    after = [0x3F802000, 0xBF802000, 0x3F800000, 0x7F800000, 0x7F800000, 0x7F800000, 0x7FB96000]
    assert round_to_tf32(bits.view(np.float32)).view(np.uint32).tolist() == after


def test_which_lane_holds_what():
    """Fragments filled by the written rule, element by element, give the product of the matrices."""
    rng = np.random.default_rng()
    A, B, C = (rng.integers(-99, 99, shape).astype(np.float32) for shape in ((16, 8), (8, 8), (16, 8)))
    lanes = [(lane // 4, lane % 4) for lane in range(32)]
    a = np.array([[A[q, t], A[q + 8, t], A[q, t + 4], A[q + 8, t + 4]] for q, t in lanes]).T[:, None]
    b = np.array([[B[t, q], B[t + 4, q]] for q, t in lanes]).T[:, None]
    c = np.array([[C[q, 2 * t], C[q, 2 * t + 1], C[q + 8, 2 * t], C[q + 8, 2 * t + 1]] for q, t in lanes]).T[:, None]
    d = np.array(mma_tf32_of_warps(tuple(a), tuple(b), tuple(c)))[:, 0].T
    D = A @ B + C
    wanted = [[D[q, 2 * t], D[q, 2 * t + 1], D[q + 8, 2 * t], D[q + 8, 2 * t + 1]] for q, t in lanes]
    np.testing.assert_array_equal(d, wanted)


def test_the_sum_cuts_off():
    """A term far below the largest is lost, and what is left is cut, not rounded, to float32."""

    def total(*terms, c=0.0):
        """The sum of up to eight products and c, in row 0 and column 0: lanes 0 to 3 hold A[0, :] and B[:, 0]."""
        a, b, start = (np.zeros((n, 1, 32), np.float32) for n in (4, 2, 4))
        for k, term in enumerate(terms):
            a[2 * (k // 4), 0, k % 4], b[k // 4, 0, k % 4] = term, 1
        start[0, 0, 0] = c
        return Fraction(float(mma_tf32_of_warps(tuple(a), tuple(b), tuple(start))[0][0, 0]))

    ulp = Fraction(1, 2**23)
    assert total(1, c=2.0**-23) == 1 + ulp
    assert total(1, c=1.9 * 2.0**-23) == 1 + ulp
    assert total(-1, c=-1.9 * 2.0**-23) == -1 - ulp
    assert total(1, 2.0**-25, 2.0**-25, 2.0**-25, 2.0**-25) == 1 + ulp
    assert total(1, *[2.0**-26] * 7) == 1
    assert total(1, -(2.0**-26)) == 1


def test_lanes_that_do_not_arrive_are_reported():
    def kernel(out):
        lane = cuda.threadIdx.x
        if lane != 7:
            zero = out[lane]
            out[lane] = mma_tf32((zero, zero, zero, zero), (zero, zero), (zero, zero, zero, zero))[0]

    run = simulate(kernel, strict=False)[1, 32](np.zeros(32, np.float32))
    assert [(f.kind, f.threads[0]) for f in run.findings] == [("barrier-divergence", ((0, 0, 0), (7, 0, 0)))]


def one_short(out):
    x = out[0]
    out[0] = mma_tf32((x, x, x), (x, x), (x, x, x, x))[0]


def of_float64(out):
    x = out[0]
    out[0] = mma_tf32((x, x, x, x), (x, 2.0), (x, x, x, x))[0]


@pytest.mark.parametrize(("kernel", "name", "count"), [(one_short, "A", 4), (of_float64, "B", 2)])
def test_other_fragments_are_refused(kernel, name, count):
    """By the simulator and by numba in the same words."""
    words = f"mma_tf32: the fragment of {name} is a tuple of {count} float32, not .*; convert each item"
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(kernel)[1, 32](np.zeros(32, np.float32))
    with pytest.raises(errors.TypingError, match=words):
        cuda.compile_ptx(kernel, (types.float32[::1],), cc=(9, 0))


def test_part_of_a_warp_is_refused():
    def kernel(out):
        x = out[0]
        out[cuda.threadIdx.x] = mma_tf32((x, x, x, x), (x, x), (x, x, x, x))[0]

    with pytest.raises(KernelError, match="a multiple of 32"):
        simulate(kernel)[1, 40](np.zeros(40, np.float32))


def test_instructions_of_the_rung():
    """Every mma that numba writes, in a loop or unrolled, rounds each of its six operands."""
    matrix = types.float32[:, ::1]
    text, _ = cuda.compile_ptx(rung("tensor_cores").make().py_func, (matrix,) * 3, cc=(8, 0))
    assert text.count("mma.sync.aligned.m16n8k8") in (1, 4)
    assert text.count("cvt.rna.tf32.f32") == 6 * text.count("mma.sync")


def test_older_gpus_are_refused(monkeypatch):
    """Turing has tensor cores, but not for TF32."""

    class Turing:
        compute_capability = (7, 5)

    monkeypatch.setattr(tensor_core.cuda, "get_current_device", Turing)
    with pytest.raises(errors.LoweringError, match=r"8\.0 \(Ampere\) or later, and this one has 7\.5; take a kernel"):
        cuda.compile_ptx(rung("tensor_cores").make().py_func, (types.float32[:, ::1],) * 3, cc=(7, 5))
