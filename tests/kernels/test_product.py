"""Products of any shape on the simulator: equal to NumPy, without a finding, and planned as a GPU would be."""

from pathlib import Path

import numpy as np
import pytest

from course_lib import measurements, simulate
from course_lib.kernels.product import TILES, Gpu, Operands, launches, plan, plan_of, plans, workspace


def multiply(M, N, K, gpu, p=None, alpha=1, beta=0, transpose_a=False, transpose_b=False):
    """Run every launch of a product of whole numbers, in strict mode; return (C, what it should be, runs)."""
    rng = np.random.default_rng()
    A = rng.integers(-9, 10, (K, M) if transpose_a else (M, K)).astype("f4")
    B = rng.integers(-9, 10, (N, K) if transpose_b else (K, N)).astype("f4")
    C = rng.integers(-9, 10, (M, N)).astype("f4") if beta else np.full((M, N), np.nan, "f4")
    expected = alpha * ((A.T if transpose_a else A) @ (B.T if transpose_b else B)) + (beta * C if beta else 0)
    operands = Operands(A, B, C, np.float32(alpha), np.float32(beta), transpose_a, transpose_b)
    p = p or plan_of(operands, M, N, K, gpu)
    elements, count = workspace(p, operands, gpu)
    partial, tickets = np.full(elements, np.nan, "f4"), np.zeros(count, "u4")
    runs = [
        simulate(kernel)[grid, block](*arguments)
        for kernel, grid, block, arguments in launches(p, operands, partial, tickets, gpu)
    ]
    assert not tickets.any()
    return C, expected, runs


SHARED = [
    (p, size)
    for size in ((150, 261, 69), (148, 260, 68))
    for p in plans(*size, Gpu(3))
    if p.shares and (size[0] == 148 or p.tile.rows * p.tile.columns < 4096)
]


@pytest.mark.parametrize(("p", "size"), SHARED, ids=lambda x: str(getattr(x, "tile", x)))
def test_shares_of_tiles_add_up(p, size):
    """Every shape of tile whose last tiles several blocks share, of matrices on and off 16-byte rows."""
    C, expected, runs = multiply(*size, Gpu(3), p)
    np.testing.assert_array_equal(C, expected)
    assert [run.findings for run in runs] == [()] * len(runs)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("size", [(70, 45, 50), (68, 44, 48)], ids=str)
def test_transposed_operands_with_alpha_and_beta(size, transpose_a, transpose_b):
    """As BLAS has them: C = alpha A B + beta C."""
    C, expected, _ = multiply(*size, Gpu(2), None, 3, 2, transpose_a, transpose_b)
    np.testing.assert_array_equal(C, expected)


@pytest.mark.parametrize(
    "size",
    [(1, 1, 1), (3, 70, 50), (70, 2, 5000), (3, 172, 2050), (130, 257, 0), (33, 130, 2100), (131, 33, 70)],
    ids=str,
)
def test_thin_and_empty_products(size):
    """A few rows or columns, or as many beyond the last tile, are inner products; a sum of nothing is 0."""
    for transposed in (False, True):
        C, expected, _ = multiply(*size, Gpu(2), transpose_a=transposed, transpose_b=transposed)
        np.testing.assert_array_equal(C, expected)


def test_parts_are_added_to_c_once():
    """With beta 1 what C held counts, once, also where several blocks share a tile; above, C begins full of NaN."""
    C, expected, runs = multiply(129, 129, 300, Gpu(20), beta=1)
    np.testing.assert_array_equal(C, expected)
    assert any(run.traffic.select(array="tickets").accesses for run in runs)


def test_the_last_block_adds_up_every_part():
    """With tickets that do not begin at zero nobody is the last, and C is not written: the adding hangs on them."""
    size, gpu = (70, 44, 160), Gpu(3)
    p = next(p for p in plans(*size, gpu) if p.shares > p.tiles - p.whole)
    A, B = (np.random.default_rng().standard_normal(shape, np.float32) for shape in ((70, 160), (160, 44)))
    C = np.full((70, 44), np.nan, "f4")
    operands = Operands(A, B, C, np.float32(1), np.float32(0), False, False)
    elements, count = workspace(p, operands, gpu)
    partial, tickets = np.full(elements, np.nan, "f4"), np.full(count, 9, "u4")
    (kernel, grid, block, arguments), *_ = launches(p, operands, partial, tickets, gpu)
    simulate(kernel, strict=False)[grid, block](*arguments)
    assert np.isnan(C).any()


def test_the_rule_names_its_reasons():
    """Many tiles go whole to `best`, a last round is shared, few tiles are shared, thin results are inner products."""
    gpu = Gpu(132)
    assert plan(4096, 4096, 4096, gpu, plain=True).kernels == "best"
    assert (plan(3072, 3072, 3072, gpu).whole, plan(3072, 3072, 3072, gpu).shares) == (264, 132)
    assert plan(512, 512, 512, gpu).whole == 0
    assert plan(4096, 2, 4096, gpu).kernels == "inner products"
    assert plan(16, 4096, 4096, gpu).tile == TILES[5]


def test_the_recording_covers_the_shapes_and_every_product_was_right():
    """48 shapes, each with cuBLAS and cuBLASLt's fastest algorithm in the same run."""
    recording = measurements.load("product")
    assert recording.command == "python -m course_lib.gpu product --repeats 20"
    by_shape = {}
    for result in recording.results:
        by_shape.setdefault(tuple(result[key] for key in "MNK"), {})[result["rung"]] = result
        assert result["gflops"] * np.median(result["milliseconds"]) == pytest.approx(
            2 * result["M"] * result["N"] * result["K"] / 1e6
        )
    assert len(by_shape) == 48
    shares = []
    for results in by_shape.values():
        assert results["product"]["relative_error"] < 1e-5
        shares.append(results["product"]["gflops"] / max(results[r]["gflops"] for r in ("cublas", "cublaslt")))
    mean = np.exp(np.mean(np.log(shares)))
    assert f"it reaches {mean:.0%}".replace("%", " %") in (Path(__file__).parents[2] / "README.md").read_text(
        encoding="utf-8"
    ).replace("\n", " ")
    assert sum(share < 0.8 for share in shares) == 3
