"""Products on tensor cores: what one instruction does, and the rungs that use it, on the simulator."""

from fractions import Fraction

import numpy as np
import pytest
from launches.samples import matrices, multiply
from nightly import at_night, drawn
from numba import cuda, float32, int32, types, uint16
from numba.core import errors

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.kernels import TENSOR_CORES, rung
from course_lib.kernels.tensor_core import BF16, C_PLACES, TF32, mma_tf32
from course_lib.kernels.tensor_core_formats import cut_to_tf32, from_bfloat16, round_to_tf32, to_bfloat16, to_tf32
from course_lib.kernels.tensor_core_loads import load_matrices, load_matrices_transposed
from course_lib.kernels.vector import load2

#: By the name of the rung; those of the first are also those of a rung that is not named here.
SIZES = {
    "tensor_cores": [(37, 70, 18), (64, 33, 100), (1, 1, 1), (3, 2, 0), (0, 4, 4), (65, 31, 33), None],
    # an edge alone; whole tiles and what they leave over, on every side; rows that begin on 16 bytes alone; one tile,
    # which is copied three times
    "tensor_cores_tiled": [(37, 70, 18), (3, 2, 0), (0, 4, 4), (130, 136, 88), (128, 140, 44), (128, 128, 16), None],
    "tensor_cores_bf16": [(37, 70, 18), (3, 2, 0), (0, 4, 4), (130, 144, 144), (128, 136, 40), (128, 128, 32), None],
}
#: Those drawn anew, but for the first rung, and the largest; the default run has one of whole tiles.
ONLY_AT_NIGHT = [None, (130, 136, 88), (130, 144, 144), (128, 140, 44), (128, 136, 40)]
#: Of real numbers, which are rounded: a tile and what it leaves over.
ROUNDED = {"tensor_cores": (65, 31, 33), "tensor_cores_tiled": (128, 140, 20), "tensor_cores_bf16": (128, 136, 24)}
#: The relative error of one element, by the name of the rung: rounded and cut off TF32, and bfloat16.
UNIT = {"tensor_cores": 2.0**-11, "tensor_cores_tiled": 2.0**-10, "tensor_cores_bf16": 2.0**-8}


@pytest.mark.parametrize(
    ("r", "size"),
    [
        pytest.param(
            r, s, id=f"{r.name} {s}", marks=[pytest.mark.nightly] * (s in ONLY_AT_NIGHT[r is TENSOR_CORES[0] :])
        )
        for r in TENSOR_CORES
        for s in SIZES.get(r.name, SIZES["tensor_cores"])
    ],
)
def test_rung_is_right_and_silent(r, size):
    """Ragged rectangles, the last of sizes drawn anew, are exact; loads from shared memory have no bank conflict."""
    size = size or tuple(map(int, drawn().integers(1, 60, 3)))
    M, N, K = size
    A, B, _ = matrices(M, K, N, -9)
    C, run = multiply(r, A, B)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()
    loads = run.traffic.select(space="shared", op="load")
    assert loads.bank_conflicts == 0 and (loads.wavefronts or not all(size))


@pytest.mark.parametrize("r", TENSOR_CORES, ids=lambda r: r.name)
def test_real_numbers_are_rounded_once(r):
    """The result is that of rounded operands except for the sums, and within the bounds of its format."""
    M, N, K = ROUNDED.get(r.name, (128, 140, 20))
    rng = drawn()
    A, B = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N)))
    C, run = multiply(r, A, B)
    assert run.findings == ()
    magnitude = abs(A).astype(np.float64) @ abs(B)
    sums, unit = (K + 8) * 2.0**-22 * magnitude, UNIT.get(r.name, 2.0**-8)
    multiplied = r.multiplied(A).astype(np.float64) @ r.multiplied(B)
    assert (abs(C - multiplied) <= sums).all()
    assert (abs(C - A.astype(np.float64) @ B) <= sums + (2 * unit + unit**2) * magnitude).all()


def test_rounding_to_tf32():
    """It rounds to nearest, ties away from zero, for every number; and treats NaN as a GPU does."""
    rng = drawn()
    x = rng.integers(0, 2**32, 4096, np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (abs(x) < 3e38)]
    step = 2.0 ** np.maximum(np.frexp(x)[1] - 11.0, -136)
    exact = np.copysign(np.floor(abs(x.astype(np.float64)) / step + 0.5) * step, x)
    np.testing.assert_array_equal(round_to_tf32(x), exact)
    bits = np.array([0x3F801000, 0xBF801000, 0x3F800FFF, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FB97B8E], np.uint32)
    after = [0x3F802000, 0xBF802000, 0x3F800000, 0x7F800000, 0x7F800000, 0x7F800000, 0x7FB96000]
    assert round_to_tf32(bits.view(np.float32)).view(np.uint32).tolist() == after


def test_bfloat16():
    """It rounds to nearest, ties to even, for every number; NaN stays NaN, and representable numbers are unchanged."""
    rng = drawn()
    x = rng.integers(0, 2**32, 4096, np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (abs(x) < 3e38)]
    step = 2.0 ** np.maximum(np.frexp(x)[1] - 8.0, -133)
    np.testing.assert_array_equal(from_bfloat16(to_bfloat16(x)), np.round(x.astype(np.float64) / step) * step)
    bits = np.arange(2**16, dtype=np.uint16)
    there_and_back = to_bfloat16(from_bfloat16(bits))
    number = ~np.isnan(from_bfloat16(bits))
    np.testing.assert_array_equal(there_and_back[number], bits[number])
    assert np.isnan(from_bfloat16(there_and_back[~number])).all()


def fragments_of(form, A, B, C):
    """Return the fragments of matrices, by the rule written in the module, lane by lane: shape (items, 1, 32)."""
    lanes = [(lane // 4, lane % 4) for lane in range(32)]
    c = [[C[q, 2 * t], C[q, 2 * t + 1], C[q + 8, 2 * t], C[q + 8, 2 * t + 1]] for q, t in lanes]
    if form is TF32:
        a = [[A[q, t], A[q + 8, t], A[q, t + 4], A[q + 8, t + 4]] for q, t in lanes]
        b = [[B[t, q], B[t + 4, q]] for q, t in lanes]
        return [np.array(x, np.float32).T[:, None] for x in (a, b, c)]

    def pair(first, second):
        low, high = (int(to_bfloat16(x)) for x in (first, second))
        return low | high << 16

    a = [
        [pair(*A[r, k : k + 2]) for r, k in ((q, 2 * t), (q + 8, 2 * t), (q, 2 * t + 8), (q + 8, 2 * t + 8))]
        for q, t in lanes
    ]
    b = [[pair(*B[k : k + 2, q]) for k in (2 * t, 2 * t + 8)] for q, t in lanes]
    return [*(np.array(x, np.uint32).T[:, None] for x in (a, b)), np.array(c, np.float32).T[:, None]]


@pytest.mark.parametrize("form", [TF32, BF16], ids=["TF32", "BF16"])
def test_which_lane_holds_what(form):
    """Fragments filled by the written rule give the product of the matrices."""
    rng = drawn()
    shapes = (16, form.depth), (form.depth, 8), (16, 8)
    A, B, C = (rng.integers(-99, 99, shape).astype(np.float32) for shape in shapes)
    d = np.array(form.of_warps(*map(tuple, fragments_of(form, A, B, C))))
    np.testing.assert_array_equal(d, fragments_of(form, A, B, A @ B + C)[2])
    for places, shape in ((form.a_places, A.shape), (form.b_places, B.shape), (C_PLACES, C.shape)):
        held = {(int(r), int(c)) for r, c in zip(*(p.ravel() for p in places), strict=True)}
        assert len(held) == places[0].size == shape[0] * shape[1]


def sum_of(form, *terms, c=0.0):
    """Return the sum of up to eight products and c, in row 0 and column 0."""
    A, B, C = np.zeros((16, form.depth)), np.zeros((form.depth, 8)), np.zeros((16, 8))
    A[0, : len(terms)], B[: len(terms), 0], C[0, 0] = terms, 1, c
    return Fraction(float(form.of_warps(*map(tuple, fragments_of(form, A, B, C)))[0][0, 0]))


@pytest.mark.parametrize("form", [TF32, BF16], ids=["TF32", "BF16"])
def test_the_sum_cuts_off(form):
    """A term far below the largest is lost, and the rest is truncated, not rounded, to float32."""
    ulp = Fraction(1, 2**23)
    assert sum_of(form, 1, c=2.0**-23) == 1 + ulp
    assert sum_of(form, 1, c=1.9 * 2.0**-23) == 1 + ulp
    assert sum_of(form, -1, c=-1.9 * 2.0**-23) == -1 - ulp
    assert sum_of(form, 1, 2.0**-25, 2.0**-25, 2.0**-25, 2.0**-25) == 1 + ulp
    assert sum_of(form, 1, *[2.0**-26] * 7) == 1
    assert sum_of(form, 1, -(2.0**-26)) == 1


def test_operands_are_cut_off():
    """An operand that `to_tf32` has not rounded loses its last 13 bits, whatever they are."""
    rng = drawn()
    A, B, C = (rng.standard_normal(shape, np.float32) for shape in ((16, 8), (8, 8), (16, 8)))
    cut, whole = (
        np.array(TF32.of_warps(*map(tuple, fragments_of(TF32, *operands, C))))
        for operands in ((cut_to_tf32(A), cut_to_tf32(B)), (A, B))
    )
    np.testing.assert_array_equal(cut, whole)
    assert not np.array_equal(cut, np.array(TF32.of_warps(*map(tuple, fragments_of(TF32, round_to_tf32(A), B, C)))))


@pytest.mark.parametrize("lanes", [32, 20], ids=["a warp", "part of one"])
def test_rounding_in_a_kernel(lanes):
    """Each lane rounds its own number, for any number of lanes."""

    def kernel(x, out):
        i = cuda.threadIdx.x
        if i % 3 != 1:
            out[i] = to_tf32(x[i]) + to_tf32(float32(0))

    x = drawn().standard_normal(lanes, np.float32)
    out = np.zeros_like(x)
    assert simulate(kernel)[1, lanes](x, out).findings == ()
    np.testing.assert_array_equal(out, np.where(np.arange(lanes) % 3 != 1, round_to_tf32(x), 0))


def test_matrices_from_shared_memory():
    """Lane l gets word l % 4 of row l // 4 of each; of 16-bit elements two, and transposed those below each other."""

    def kernel(floats, bits, out, words, turned):
        tile = cuda.shared.array((32, 4), float32)
        halves = cuda.shared.array((32, 8), uint16)
        i = cuda.threadIdx.x
        for k in range(4):
            tile[i, k] = floats[i, k]
        for k in range(8):
            halves[i, k] = bits[i, k]
        cuda.syncthreads()
        out[0, i], out[1, i], out[2, i], out[3, i] = load_matrices(tile, i, 0)
        words[0, i], words[1, i], words[2, i], words[3, i] = load_matrices(halves, i, 0)
        turned[0, i], turned[1, i], turned[2, i], turned[3, i] = load_matrices_transposed(halves, i, 0)
        x, y = load2(tile, i, 2)
        out[4, i], out[5, i] = x, y

    rng = drawn()
    floats, bits = rng.random((32, 4), np.float32), rng.integers(0, 2**16, (32, 8)).astype(np.uint16)
    out, words, turned = np.zeros((6, 32), "f4"), np.zeros((4, 32), "u4"), np.zeros((4, 32), "u4")
    run = simulate(kernel)[1, 32](floats, bits, out, words, turned)
    assert run.findings == ()
    for lane in range(32):
        for m in range(4):
            row, word = 8 * m + lane // 4, lane % 4
            assert out[m, lane] == floats[row, word]
            assert words[m, lane] == int(bits[row, 2 * word]) | int(bits[row, 2 * word + 1]) << 16
            above, below = bits[8 * m + 2 * word, lane // 4], bits[8 * m + 2 * word + 1, lane // 4]
            assert turned[m, lane] == int(above) | int(below) << 16
    np.testing.assert_array_equal(out[4:], floats.T[2:])
    loads = run.traffic.select(space="shared", op="load", array="halves")
    assert (loads.requests, loads.wavefronts, loads.bank_conflicts) == (2, 8, 0)


def from_global(A, out):
    out[cuda.threadIdx.x] = load_matrices(A, cuda.threadIdx.x, 0)[0]


def of_int32(A, out):
    tile = cuda.shared.array((32, 4), int32)
    out[cuda.threadIdx.x] = load_matrices(tile, cuda.threadIdx.x, 0)[0]


def transposed_floats(A, out):
    tile = cuda.shared.array((32, 4), float32)
    out[cuda.threadIdx.x] = load_matrices_transposed(tile, cuda.threadIdx.x, 0)[0]


def rounded_double(A, out):
    out[cuda.threadIdx.x] = to_tf32(2.0)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (from_global, "matrices are loaded from shared memory, and A is in global memory; copy the tile"),
        (of_int32, "load_matrices: loads float32 or uint16, not int32"),
        (transposed_floats, "transposes matrices of uint16, not of float32"),
        (rounded_double, "to_tf32: takes a float32, not float64; convert it"),
    ],
)
def test_what_loads_and_rounding_refuse(kernel, words):
    with pytest.raises((KernelError, UnsupportedKernelError), match=words):
        simulate(kernel)[1, 32](np.zeros((32, 4), np.float32), np.zeros(32, np.float32))


def one_short(out):
    x = out[0]
    out[0] = mma_tf32((x, x, x), (x, x), (x, x, x, x))[0]


def of_float64(out):
    x = out[0]
    out[0] = mma_tf32((x, x, x, x), (x, 2.0), (x, x, x, x))[0]


@pytest.mark.parametrize(("kernel", "name", "count"), [(one_short, "A", 4), (of_float64, "B", 2)])
def test_other_fragments_are_refused(kernel, name, count):
    """The simulator and numba refuse them in the same words."""
    words = f"mma_tf32: the fragment of {name} is a tuple of {count} float32, not .*; write {count} items in "
    words += "parentheses, each converted"
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(kernel)[1, 32](np.zeros(32, np.float32))
    with pytest.raises(errors.TypingError, match=words):
        cuda.compile_ptx(kernel, (types.float32[::1],), cc=(9, 0))


class Ampere:
    """A device for numba to compile the device functions for."""

    compute_capability = (8, 0)


FLOATS, BITS = types.float32[:, ::1], types.uint16[:, ::1]


@pytest.mark.parametrize(
    ("name", "params", "kinds", "wanted"),
    [
        ("tensor_cores", {}, (FLOATS,) * 3, ("mma.sync.aligned.m16n8k8", "cvt.rna.tf32.f32")),
        at_night(
            "tensor_cores_tiled",
            {},
            (FLOATS,) * 3,
            ("mma.sync.aligned.m16n8k8", "ldmatrix", "cp.async.cg", "ld.shared.v2"),
        ),
        at_night(
            "tensor_cores_tiled", {"rounded": True}, (FLOATS,) * 3, ("mma.sync.aligned.m16n8k8", "cvt.rna.tf32.f32")
        ),
        at_night(
            "tensor_cores_bf16",
            {},
            (BITS, BITS, FLOATS),
            ("mma.sync.aligned.m16n8k16", "ldmatrix", ".trans", "cp.async.cg"),
        ),
    ],
)
def test_instructions_of_the_rungs(name, params, kinds, wanted, monkeypatch):
    """numba compiles each to its instruction, without results in local memory."""
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", Ampere)
    text, _ = cuda.compile_ptx(rung(name).make(**params).py_func, kinds, cc=(8, 0))
    assert all(instruction in text for instruction in wanted)
    assert ("cvt.rna" in text) == ("cvt.rna.tf32.f32" in wanted)
    assert "ld.local" not in text


def test_older_gpus_are_refused(monkeypatch):
    """Turing has tensor cores, but not for TF32."""

    class Turing:
        compute_capability = (7, 5)

    monkeypatch.setattr(cuda, "get_current_device", Turing)
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", Turing)
    with pytest.raises(errors.LoweringError, match=r"8\.0 \(Ampere\) or later, and this one has 7\.5; use a kernel"):
        cuda.compile_ptx(rung("tensor_cores").make().py_func, (types.float32[:, ::1],) * 3, cc=(7, 5))
