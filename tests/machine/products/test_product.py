"""Products of any shape on the simulator: equal to NumPy, without a finding, and planned as a GPU would be."""

import random
from pathlib import Path

import numpy as np
import pytest
from nightly import NIGHTLY, at_night
from oracles import closed_forms

from course_lib import simulate
from course_lib.machine import measurements, products
from course_lib.machine.products.direct import DIRECT
from course_lib.machine.products.measure import COUNTED, RANDOM_COUNT, RANDOM_SEEDS, random_shapes
from course_lib.machine.products.multiplication import (
    TILES,
    Gpu,
    Operands,
    ProductPlan,
    launches,
    plan,
    plan_of,
    plans,
    steps,
    workspace,
)
from course_lib.machine.products.planning import direct_plans
from course_lib.machine.products.quotient import quotients

#: Tiles that divide a product: by day one with two slices, nightly all.
WHOLE_TILES = TILES if NIGHTLY else [t for t in TILES if t.slices == 2]


def multiply(M, N, K, gpu, p=None, alpha=1, beta=0, transpose_a=False, transpose_b=False):
    """Run every launch of a product of whole numbers, in strict mode; return (C, the right result, runs).

    Every count of every array is compared with its formula.
    """
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
    assert [closed_forms.counted(run) for run in runs] == closed_forms.product_traffic(
        steps(p, operands, partial, tickets, gpu)
    )
    return C, expected, runs


SIZE, ROUGH, LARGE, SMALL = (68, 72, 132), (37, 45, 137), (132, 260, 68), (30, 60, 36)


def shared_plans():
    """Yield (plan, size): for every shape of tile the last two, or the only one, shared by one block more.

    The nightly run has rows on and off 16 bytes, and the largest tiles with edges; the default run has one shape.
    """
    for number, tile in enumerate(TILES if NIGHTLY else [t for t in TILES if str(t) == "64×64"][:1]):
        large = tile.rows * tile.columns >= 128 * 128
        sizes = (SMALL, LARGE) if large else (SIZE, ROUGH) if number % 2 == 0 else (ROUGH, SIZE)
        for M, N, K in sizes if NIGHTLY else sizes[1:]:
            tiles = ProductPlan(M, N, K, tile, M, N).tiles
            left = min(2, tiles)
            yield ProductPlan(M, N, K, tile, M, N, tiles - left, left + 1), (M, N, K)


@pytest.mark.parametrize(("p", "size"), list(shared_plans()), ids=lambda x: str(getattr(x, "tile", x)))
def test_shares_of_tiles_add_up(p, size):
    """All shapes of tile whose last tiles several blocks share are tried, with rows on and off 16 bytes."""
    C, expected, runs = multiply(*size, Gpu(3), p)
    np.testing.assert_array_equal(C, expected)
    assert [run.findings for run in runs] == [()] * len(runs)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.nightly
def test_rows_off_16_bytes_are_copied(transposed):
    """Both operands are copied to rows of a multiple of 4, padded with zeros; C is unchanged, and nothing is added."""
    p = next(p for p in plans(*ROUGH, Gpu(2), False) if p.copied and p.tile.rows == 64)
    C, expected, runs = multiply(*ROUGH, Gpu(2), p, transpose_a=transposed, transpose_b=transposed)
    np.testing.assert_array_equal(C, expected)
    assert [run.findings for run in runs] == [()] * len(runs)
    assert len(runs) > 2


@pytest.mark.parametrize("size", [(37, 45, 33), at_night((64, 128, 20)), at_night((65, 130, 3))], ids=str)
def test_a_ragged_unit_among_few_is_multiplied_alone(size):
    """Units may follow it or not, on whole tiles and their edges."""
    gpu = Gpu(3)
    p = next(p for p in plans(*size, gpu, size[2] == 20) if p.tile.rows == 64 and p.short and not p.copied)
    C, expected, runs = multiply(*size, gpu, p)
    np.testing.assert_array_equal(C, expected)
    assert [run.findings for run in runs] == [()] * len(runs)


def test_a_quotient_rounds_down():
    """It equals a // b up to the largest numbers of 32 bits; inactive lanes may divide by anything."""
    a = np.array([0, 1, 7, 2**32 - 1, 5], np.int64)
    b = np.array([3, 1, 2, 10, 0], np.int64)
    assert quotients(a, b).tolist() == [0, 1, 3, (2**32 - 1) // 10, 5]


@pytest.mark.parametrize(
    ("transpose_a", "transpose_b"), [(True, False), (False, True), at_night(False, False), at_night(True, True)]
)
@pytest.mark.parametrize("size", [(70, 45, 50), at_night((68, 44, 48))], ids=str)
def test_transposed_operands_with_alpha_and_beta(size, transpose_a, transpose_b):
    """The result follows BLAS: C = alpha A B + beta C."""
    C, expected, _ = multiply(*size, Gpu(2), None, 3, 2, transpose_a, transpose_b)
    np.testing.assert_array_equal(C, expected)


@pytest.mark.parametrize(
    "size",
    [(1, 1, 1), (70, 2, 5000)]
    + [at_night(s) for s in [(3, 70, 50), (130, 257, 0), (131, 33, 70), (3, 172, 2050), (33, 130, 2100)]],
    ids=str,
)
def test_thin_and_empty_products(size):
    """A few rows or columns, or as many beyond the last tile, are inner products; a sum of nothing is 0."""
    for transposed in (False, True):
        C, expected, _ = multiply(*size, Gpu(2), transpose_a=transposed, transpose_b=transposed)
        np.testing.assert_array_equal(C, expected)


def test_parts_are_added_to_c_once():
    """With beta 1 the contents of C count once, also where several blocks share a tile; above, C begins full of NaN."""
    size, gpu = (36, 40, 300), Gpu(5)
    p = next(p for p in plans(*size, gpu) if p.shares and p.tile.rows == 32)
    C, expected, (run, *_) = multiply(*size, gpu, p, beta=1)
    np.testing.assert_array_equal(C, expected)
    assert run.traffic.select(array="tickets").accesses == p.shares or p.shares > p.tiles


def test_the_last_block_adds_up_every_part():
    """With tickets that do not begin at zero no block is the last, and C is not written: the sum depends on them."""
    size, gpu = (70, 44, 160), Gpu(3)
    p = next(p for p in plans(*size, gpu) if p.shares > p.tiles - p.whole and p.tile.rows == 64)
    A, B = (np.random.default_rng().standard_normal(shape, np.float32) for shape in ((70, 160), (160, 44)))
    C = np.full((70, 44), np.nan, "f4")
    operands = Operands(A, B, C, np.float32(1), np.float32(0), False, False)
    elements, count = workspace(p, operands, gpu)
    partial, tickets = np.full(elements, np.nan, "f4"), np.full(count, 9, "u4")
    (kernel, grid, block, arguments), *_ = launches(p, operands, partial, tickets, gpu)
    simulate(kernel, strict=False)[grid, block](*arguments)
    assert np.isnan(C).any()


@pytest.mark.parametrize("seed", range(60 if NIGHTLY else 4))
def test_products_without_shared_memory(seed):
    """Plans, sizes, scalars and layouts are random: values and, in `multiply`, every count of every array agree."""
    draw = random.Random(seed)
    M, N = (draw.choice((1, 2, 3, 5, 8, 16, 20, 33, 44, 65, 140)) for _ in "MN")
    K, gpu = draw.choice((0, 1, 3, 20, 33, 64, 65, 132, 300)), Gpu(draw.choice((1, 2, 5, 13)))
    p = draw.choice(direct_plans(M, N, K, gpu))
    flipped = draw.random() < 0.5, draw.random() < 0.5
    C, expected, runs = multiply(M, N, K, gpu, p, draw.choice((1, 2)), draw.choice((0, 2)), *flipped)
    np.testing.assert_array_equal(C, expected)
    assert [run.findings for run in runs] == [()]


def test_every_kernel_without_shared_memory_has_its_products():
    """The rule takes them for a short K and for few results, none beside the first choice of large products."""
    gpu = Gpu(132)
    assert {plan(*size, gpu).kernels for size in ((64, 700, 3), (500, 300, 4), (30, 40, 900))} == {"direct"}
    assert plan(4000, 4000, 4000, gpu).direct is None
    assert {p.direct for size in ((500, 300, 40), (500, 300, 4)) for p in direct_plans(*size, gpu)} == set(DIRECT)


def test_the_rule_names_its_reasons():
    """Many whole tiles go to `best`, a last round is shared, few tiles are shared, thin results are inner products."""
    gpu = Gpu(132)
    assert plan(2048, 2048, 2048, gpu, plain=True).kernels == "best"
    assert (plan(3072, 3072, 3072, gpu).whole, plan(3072, 3072, 3072, gpu).shares) == (264, 132)
    assert plan(768, 768, 768, gpu).whole == 0
    assert plan(4095, 4095, 4095, gpu, wide=False).copied
    assert plan(4096, 2, 4096, gpu).kernels == "inner products"
    assert plan(16, 4096, 4096, gpu).tile.rows == 16


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
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    assert f"Over 48 shapes it reaches {np.exp(np.mean(np.log(shares))):.0%}".replace("%", " %") in readme
    M, N, K = list(by_shape)[np.argmin(shares)]
    least = f"{min(shares):.0%}".replace("%", " %")
    assert f"The least is {least}, for {M}×{N} results of {K} products each." in readme
    assert min(shares) >= 0.8
    squares = {M: share for (M, N, K), share in zip(by_shape, shares, strict=True) if M == N == K}
    assert min(share for n, share in squares.items() if n >= 2048) >= 1


def test_the_readme_says_what_random_shapes_lack():
    """Its numbers are those of the recording: launches alone, the other shapes, and three kinds below 90 %."""
    times = {}
    for r in measurements.load("random-products").results:
        times.setdefault(tuple(r[key] for key in ("seed", *"MNK")), {})[r["rung"]] = np.median(r["milliseconds"])
    rivals = {shape: min(t for rung, t in each.items() if rung != "product") for shape, each in times.items()}
    share = {shape: rivals[shape] / each["product"] for shape, each in times.items()}
    short = [shape for shape, milliseconds in rivals.items() if milliseconds < 6.5e-3]
    rest = [shape for shape in share if shape not in short]
    mean = {kind: np.exp(np.mean([np.log(share[s]) for s in group])) for kind, group in ((0, short), (1, rest))}
    needed = np.exp((len(share) * np.log(1.1) - len(short) * np.log(mean[0])) / len(rest))
    low = [shape for shape in share if share[shape] < 0.9]
    thin = [shape for shape in low if min(shape[1:3]) <= 8]
    odd = [shape for shape in low if shape not in thin and shape[3] <= 64 and shape[2] % 4]
    page = Path(products.__file__).with_name("README.md").read_text(encoding="utf-8")
    text, rows = " ".join(page.split()), [row.split("|") for row in page.splitlines() if row.count("|") == 4]
    assert f"for {len(short)} of the {len(share)} shapes" in text
    assert f"reaches {mean[0]:.0%} there, and at most {max(share[s] for s in short):.0%}".replace("%", " %") in text
    assert f"reaches {mean[1]:.0%} on the other {len(rest)}".replace("%", " %") in text
    assert f"have to reach {needed:.0%}".replace("%", " %") in text
    assert f"{len(low)} shapes are below 90 %" in text
    counted = [int(row[2]) for row in rows if row[2].strip().isdigit()]
    assert counted == [len(odd), len(thin), len(low) - len(odd) - len(thin)]


def test_the_recording_covers_the_random_shapes_of_both_seeds():
    """README states what the shapes of the second seed, with which nothing was tuned, reach."""
    by_shape = {}
    for result in measurements.load("random-products").results:
        shape = result["seed"], *(result[key] for key in "MNK")
        by_shape.setdefault(shape, {})[result["rung"]] = np.median(result["milliseconds"])
        assert result.get("relative_error", 0) < 1e-5
    assert list(by_shape) == [(seed, *shape) for seed in RANDOM_SEEDS for shape in random_shapes(seed)]
    shares = [min(t["cublas"], t["cublaslt"]) / t["product"] for (seed, *_), t in by_shape.items() if seed == 2]
    assert len(shares) == RANDOM_COUNT
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").replace("\n", " ")
    reached = f"{np.exp(np.mean(np.log(shares))):.0%}, and {sum(s < 0.9 for s in shares)} of them are below 90 %"
    assert f"On 100 random shapes it reaches {reached.replace('%,', ' %,')}" in readme


@pytest.mark.parametrize("tile", WHOLE_TILES, ids=lambda t: f"{t}-{t.slices}")
def test_whole_tiles(tile):
    """Sizes have two tiles down, or across, and two units of K, all of them whole."""
    down, across = (2, 1) if tile.rows < tile.columns else (1, 2)
    size = down * tile.rows, across * tile.columns, 2 * tile.depth
    p = ProductPlan(*size, tile, *size[:2], whole=2)
    C, expected, _ = multiply(*size, Gpu(1), p)
    np.testing.assert_array_equal(C, expected)


@pytest.mark.parametrize("seed", range(300 if NIGHTLY else 1))
def test_closed_forms_of_any_plan(seed):
    """Sizes, GPUs, operands and plans are random: values and, in `multiply`, every count of every array agree."""
    draw = random.Random(seed)
    while True:
        M, N = (draw.choice((1, 2, 3, 5, 8, 16, 20, 33, 44, 65, 68, 72, 129, 132, 140)) for _ in "MN")
        K = draw.choice((0, 1, 3, 20, 33, 64, 65, 132, 150, *((300, 513, 2500) if M * N < 3000 else ())))
        gpu, flipped = Gpu(draw.choice((1, 2, 3, 5, 13))), (draw.random() < 0.5, draw.random() < 0.5)
        found = [p for p in plans(M, N, K, gpu, False) if p.tiles * p.tile.rows * p.tile.columns * (K + 99) < 2e6]
        if min(M, N) > 4 and found:
            break
    p = draw.choice(found)
    C, expected, _ = multiply(M, N, K, gpu, p, 1, draw.choice((0, 2)), *flipped)
    np.testing.assert_array_equal(C, expected)


@pytest.mark.nightly
def test_counts_are_those_of_the_gpu():
    """Global accesses and shared loads of every launch are equal; the compiler may execute more stores.

    It executes stores in which no lane takes part, and it loads the short operand's elements once for all rows.
    """
    for size, found in zip(COUNTED, measurements.load("product-counts").results, strict=True):
        if np.prod(size) > 2e6:  # these take the simulator long
            continue
        _, _, (run,) = multiply(*size, Gpu(132))
        ours = {}
        for space, kinds in (("global", ("requests", "sectors")), ("shared", ("requests", "wavefronts"))):
            for op in ("load", "store"):
                asked = run.traffic.select(space=space, op=op)
                ours |= {f"{space}_{op}_{kind}": getattr(asked, kind) for kind in kinds}
        differing = {name for name, count in ours.items() if found[name] != count}
        hoisted = {"global_load_requests", "global_load_sectors"} if found["kernel"] == "along_k" else set()
        assert differing <= hoisted | {"shared_store_requests", "shared_store_wavefronts"}
        assert 1 <= found["shared_store_requests"] / ours["shared_store_requests"] < 1.12
