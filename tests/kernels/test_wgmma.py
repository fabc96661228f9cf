"""Products of warpgroups: where a descriptor finds a tile, what one instruction does, and the rungs, simulated."""

from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
from kernels_with_bugs.copies import multiply as multiply_by_8
from launches.samples import matrices, multiply
from nightly import at_night, every
from numba import cuda, float32, uint16, uint64
from numba.core import errors

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.kernels import WGMMA, rung
from course_lib.kernels.llvm.warpgroup import require_hopper
from course_lib.kernels.tensor_core_formats import with_whole_lines
from course_lib.kernels.warpgroup import (
    BF16,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    result_places,
    wait_for_products,
)
from course_lib.machine import measurements
from tools.lab.wgmma import FORMS, OPERANDS, once
from tools.lab.wgmma import operands as random_operands

SIZES = [(37, 70, 18), at_night((3, 2, 0)), at_night((130, 136, 72))]


@pytest.mark.parametrize("r", every(2, WGMMA), ids=lambda r: r.name)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_rung_is_right_and_breaks_no_rule(r, size):
    """Sizes that no tile divides, and none; integers of few bits, whose sums are exact."""
    M, N, K = size
    A, B, _ = matrices(M, K, N, -9)
    C, run = multiply(r, A, B)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()


@pytest.mark.parametrize(
    ("columns", "size"), [at_night(256, (20, 40, 640)), at_night(128, (20, 130, 520)), at_night(192, (20, 200, 392))]
)
def test_pairs_of_tiles_share_their_places_in_turn(columns, size):
    """More pairs than places: eight of the narrow tile at the edge, six and four of tiles with 128 and 192 columns."""
    M, N, K = size
    A, B, _ = matrices(M, K, N, -9)
    C, run = multiply(rung("wgmma_bulk"), A, B, columns=columns)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()


def test_rows_off_sixteen_bytes_are_stored_one_by_one():
    r, (A, B, C) = rung("wgmma_staged"), matrices(5, 19, 7, -9)
    a, b = (r.operand(X)[:, : X.shape[1]].copy() for X in (A, B))
    launch = *r.launch(5, 7, 19, **r.params), 0, r.dynamic_bytes
    run = simulate(r.make(**r.params))[launch](a, b, C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()


def test_shared_memory_is_passed_as_nsight_compute_counted():
    """On an H200 64×256×16 took 16 + 64 passes: 20,971,520 for 262,144 of them, of 21,495,808 bank reads / 32."""
    _, run = multiply(rung("wgmma_staged"), np.ones((128, 64), np.float32), np.ones((64, 256), np.float32))
    reads = run.traffic.select(space="shared", op="load")
    assert (reads.wavefronts, reads.bank_conflicts) == (4 * 2 * (16 + 64), 0)


def test_plain_tiles_are_stored_with_conflicts_and_swizzled_ones_without():
    ones = np.ones((128, 64), np.float32), np.ones((64, 256), np.float32)
    plain, turned = (multiply(rung(name), *ones)[1].traffic for name in ("wgmma", "wgmma_swizzled"))
    assert plain.select(space="shared", op="store").bank_conflicts > 0
    assert turned.select(space="shared", op="store").bank_conflicts == 0


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("case", [OPERANDS[i] for i in (1, 5, 7)], ids=str)
def test_one_instruction_simulated_is_the_sum_that_was_compared_with_the_gpu(name, case):
    A, B, C = random_operands(name, case, 2)
    D = np.zeros_like(C)
    simulate(once(name))[2, 128](A, B, C, D)
    form = FORMS[name]
    np.testing.assert_array_equal(
        D, np.stack([form.sums(form.numbers(a), form.numbers(b), c) for a, b, c in zip(A, B, C, strict=True)])
    )


def test_recorded_bits_are_all_those_of_the_meaning():
    """At least 256,000 results of each form and kind of operands were compared on an H200, the special values too."""
    compared = [r for r in measurements.load("wgmma").results if "compared" in r]
    assert {(r["instruction"], str(r["operands"])) for r in compared} == {(f, str(o)) for f in FORMS for o in OPERANDS}
    assert all(r["compared"] >= 256_000 and r["different"] == 0 for r in compared)


def test_recorded_rungs_were_right_and_spilled_nothing():
    results = [r for r in measurements.load("wgmma").results if "sum_error" in r]
    assert {r["rung"] for r in results} <= {r.name for r in WGMMA} and results
    assert all(r["sum_error"] < 1e-4 and r["local_bytes"] == 0 for r in results)


def swizzled_copy(swizzle):
    """Return a kernel that multiplies 64×16 by 16×64 tiles whose rows of `swizzle` bytes are swizzled."""
    do, wait = products(BF16, 64), wait_for_products(64)
    row = swizzle // 2

    @cuda.jit
    def kernel(A, B, C):
        A_tile = cuda.shared.array(4096, uint16, 1024)
        B_tile = cuda.shared.array(1024, uint16, 1024)
        acc = cuda.local.array(32, float32)
        t = cuda.threadIdx.x
        for i in range(t, 4096, 128):
            A_tile[i] = 0
        cuda.syncthreads()
        for i in range(t, 1024, 128):
            byte = i // 16 * swizzle + i % 16 * 2
            A_tile[(byte ^ byte // 128 % (swizzle // 16) * 16) // 2] = A[i // 16, i % 16]
            k, n = i // 64, i % 64
            byte = n // row * 16 * swizzle + k * swizzle + n % row * 2
            B_tile[(byte ^ byte // 128 % (swizzle // 16) * 16) // 2] = B[k, n]
        fence_proxy()
        cuda.syncthreads()
        a = descriptor(A_tile, 0, 0, 16 * row, swizzle)
        b = descriptor(B_tile, 0, 16 * swizzle, 8 * swizzle, swizzle)
        fence_registers()
        do(acc, a, b, 0)
        commit_products()
        wait(acc, 0)
        for i in range(32):
            C[t // 32 * 16 + t % 32 // 4 + i // 2 % 2 * 8, t % 4 * 2 + i // 4 * 8 + i % 2] = acc[i]

    return kernel


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_every_swizzle_finds_what_the_formula_placed(swizzle):
    A, B, C = matrices(64, 16, 64, -9)
    operand = rung("wgmma").operand
    run = simulate(swizzled_copy(swizzle))[1, 128](operand(A)[:, :16].copy(), operand(B), C)
    np.testing.assert_array_equal(C, A @ B)
    assert run.findings == ()


def test_every_result_has_one_place():
    for columns in (8, 64, 256):
        places = set(zip(*(p.reshape(-1).tolist() for p in result_places(columns)), strict=True))
        assert len(places) == 64 * columns


def test_padding_begins_each_row_on_a_line():
    X = np.arange(15, dtype=np.float32).reshape(3, 5)
    assert with_whole_lines(X).shape == (3, 32)
    np.testing.assert_array_equal(with_whole_lines(X)[:, :5], X)


def test_a_block_of_half_a_warpgroup_is_refused():
    A, B, C = random_operands("wgmma_bf16", OPERANDS[0], 1)
    with pytest.raises(KernelError, match="launch a multiple of 128 threads"):
        simulate(once("wgmma_bf16"))[1, 64](A, B, C, C.copy())


def test_a_swizzle_that_the_hardware_lacks_is_refused():
    @cuda.jit
    def kernel(C):
        tile = cuda.shared.array(1024, uint16, 1024)
        C[0] = descriptor(tile, 0, 0, 1024, 256)

    with pytest.raises(UnsupportedKernelError, match="one of the literal numbers 0, 128, 64, 32"):
        simulate(kernel)[1, 128](np.zeros(1, np.uint64))


def test_a_swizzled_tile_must_ask_for_its_alignment():
    @cuda.jit
    def kernel(C):
        tile = cuda.shared.array(1024, uint16)
        C[0] = descriptor(tile, 0, 0, 1024, 128)

    with pytest.raises(KernelError, match="give cuda.shared.array the alignment 1024"):
        simulate(kernel)[1, 128](np.zeros(1, np.uint64))


def test_a_descriptor_beyond_all_tiles_is_a_finding_and_without_any_an_error():
    """Its first eight elements begin after the last tile; a plain number is refused where the block has no tile."""

    @cuda.jit
    def kernel(C):
        tile = cuda.shared.array(1024, uint16, 1024)
        acc = cuda.local.array(4, float32)
        b = descriptor(tile, 4096, 128, 256, 0)
        multiply_by_8(acc, descriptor(tile, 0, 1024, 128, 0), b, 0)

    @cuda.jit
    def without(C):
        acc = cuda.local.array(4, float32)
        multiply_by_8(acc, uint64(0), uint64(0), 0)

    findings = simulate(kernel, strict=False)[1, 128](np.zeros(1, np.float32)).findings
    (beyond,) = [finding for finding in findings if finding.kind == "out-of-bounds"]
    assert "the descriptor of B reaches element 4103 of tile, which has 1024" in str(beyond)
    with pytest.raises(KernelError, match="the descriptor of A describes shared memory, and this block has none"):
        simulate(without)[1, 128](np.zeros(1, np.float32))


def test_other_blocks_get_their_products_where_a_descriptor_is_wrong():
    """Of two blocks that run together, the first one's descriptor is beyond its tile; the tile has ones in bfloat16."""
    wait = wait_for_products(8)

    @cuda.jit
    def kernel(C):
        tile = cuda.shared.array(1024, uint16, 1024)
        acc = cuda.local.array(4, float32)
        t, block = cuda.threadIdx.x, cuda.blockIdx.x
        for i in range(t, 1024, 128):
            tile[i] = 0x3F80
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        b = descriptor(tile, 4096 if block == 0 else 0, 128, 256, 0)
        multiply_by_8(acc, descriptor(tile, 0, 1024, 128, 0), b, 0)
        commit_products()
        wait(acc, 0)
        C[block, t] = acc[0]

    C = np.zeros((2, 128), np.float32)
    findings = simulate(kernel, strict=False)[2, 128](C).findings
    assert "out-of-bounds" in {finding.kind for finding in findings}
    np.testing.assert_array_equal(C[1], 16)


def test_columns_that_the_hardware_lacks_are_refused():
    with pytest.raises(ValueError, match="not by 12"):
        products(BF16, 12)


@pytest.mark.parametrize(
    ("capability", "version", "words"),
    [((8, 6), "0.30.4", "this one has 8.6"), ((10, 0), "0.30.4", "has 10.0"), ((9, 0), "0.22.1", "this is 0.22.1")],
)
def test_what_cannot_compile_it_says_so_in_a_sentence(monkeypatch, capability, version, words):
    gpu = SimpleNamespace(compute_capability=capability)
    monkeypatch.setattr(cuda, "get_current_device", lambda: gpu, raising=False)
    monkeypatch.setattr(metadata, "version", lambda package: version)
    with pytest.raises(errors.LoweringError, match=words):
        require_hopper()


def test_a_gpu_and_compiler_that_have_it_are_not_refused(monkeypatch):
    monkeypatch.setattr(cuda, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)), raising=False)
    monkeypatch.setattr(metadata, "version", lambda package: "0.30.4")
    require_hopper()
