"""Mutation of `product`'s kernels: a changed guard, barrier or index shows in values, findings or counts."""

import inspect

import numpy as np
import pytest
from nightly import NIGHTLY
from oracles import closed_forms
from oracles.mutation import mutants
from oracles.sources import import_module

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.machine.products import inner_products, tile, tile_loads, widened
from course_lib.machine.products import multiplication as product
from course_lib.machine.products.multiplication import Gpu, Operands, ProductPlan
from course_lib.machine.products.tile import Tile

#: The nightly run tries all mutants, over a thousand; the default run every n-th of a module.
BY_DAY = {tile: 900, tile_loads: 300, inner_products: 300, widened: 40}

#: Small shapes of tile with the features of the large ones: several blocks on a multiprocessor, with warps beside each
#: other; slices of 8 and of 4 rows of results; a block alone, with warps below each other and few lanes so.
TURNS = Tile(64, 32, 8, 4, blocks=4)
TWO_SLICES = Tile(64, 32, 8, 8, blocks=2, slices=2)
FOUR_SLICES = Tile(32, 32, 4, 4, blocks=1, slices=4)
LOW = Tile(32, 64, 4, 8, blocks=1, lane_rows=4)
#: Its slices exchange their sums in four rounds.
NARROW = Tile(128, 16, 8, 4, blocks=1, slices=4)


def tiled(M, N, K, shape, shares=0, copied=False):
    """Return a plan of tiles of one shape, the last two shared, or the only one, if there are shares."""
    tiles = ProductPlan(M, N, K, shape, M, N).tiles
    return ProductPlan(M, N, K, shape, M, N, tiles - min(2, tiles) * (shares > 0), shares, copied)


#: Plans, beta, whether A and B are transposed.
TILED = [
    (tiled(20, 40, 40, LOW), 0, False, False),
    (tiled(33, 30, 20, TURNS), 0, True, True),
    (tiled(70, 44, 32, TURNS), 2, False, True),
    (tiled(70, 45, 37, TURNS, 3), 0, False, False),
    (tiled(64, 64, 52, TURNS, 5), 2, True, False),
    (tiled(288, 64, 3, FOUR_SLICES), 0, False, False),
    (tiled(36, 40, 132, FOUR_SLICES, 5), 0, False, True),
    (tiled(70, 61, 66, TWO_SLICES, 3), 2, True, True),
    (tiled(100, 16, 66, NARROW), 0, False, False),
]
COPIED = [(tiled(70, 45, 21, TURNS, copied=True), 0, False, False)]
THIN = [
    (ProductPlan(3, 70, 1070), 0, False, False),
    (ProductPlan(3, 70, 1030), 2, False, True),
    (ProductPlan(70, 2, 2100), 2, False, False),
    (ProductPlan(70, 2, 1029), 0, True, True),
    (ProductPlan(9, 3, 2049), 0, False, False),
    (ProductPlan(3, 72, 1070), 0, False, False),
    (ProductPlan(66, 34, 20, TURNS, 64, 32, 1), 0, False, False),  # beside a tile
]
#: What is launched to detect a module's mutants, and the names that `product` takes from it, or `tile`.
LAUNCHED = {
    tile: (TILED, ("tile_kernel",)),
    tile_loads: (TILED, ("loader",)),
    inner_products: (THIN, ("along_k", "across")),
    widened: (COPIED, ("widened",)),
}
#: Many times the iterations of the loops of any launch.
STEPS = 100_000
#: Mutants that compute the same, by what was changed and the text of the line, with the reason.
EQUIVALENT = {
    **{
        (what, "row = i if j % 2 == 0 else thread_rows - 1 - i"): "the order of the rows only saves register reads"
        for what in ("drop the left of thread_rows - 1 - i", "drop the left of j % 2", "drop the right of j % 2")
    },
    ("delete cuda.syncwarp()", "cuda.syncwarp()"): "it keeps the compiler from moving loads; other lanes' are not used",
    ("one round fewer: range(after, stop + depth, depth)", "for start in range(after, stop + depth, depth):"): (
        "the last round begins at `stop` anyway"
    ),
    ("drop the left of begin + q", "i, j = (begin + q) // column_quads, (begin + q) % column_quads * 4"): (
        "of the two the remainder: column_quads divides `begin`"
    ),
    ("without the guard not fits", "if not fits:"): "where tiles fit, the last row that they load is there",
    ("delete cuda.threadfence()", "cuda.threadfence()"): "of two fences around an atomic the second: to the simulator "
    "what follows an atomic is ordered by it",
}


def verdict(cases, patient=True):
    """Return the kinds of error found and other differences, over all launches or up to the first that detects one."""
    seen, rng, gpu = set(), np.random.default_rng(3), Gpu(6)
    for p, beta, transpose_a, transpose_b in cases:
        M, N, K = p.M, p.N, p.K
        A, B, C = (rng.integers(-9, 10, shape).astype("f4") for shape in ((M, K), (K, N), (M, N)))
        expected = 3 * (A @ B) + beta * C
        A, B = (np.ascontiguousarray(X.T) if flip else X for X, flip in ((A, transpose_a), (B, transpose_b)))
        if not beta:
            C[:] = np.nan
        operands = Operands(A, B, C, np.float32(3), np.float32(beta), transpose_a, transpose_b)
        elements, count = product.workspace(p, operands, gpu)
        memory = np.full(elements, np.nan, "f4"), np.zeros(count, "u4")
        forms = closed_forms.product_traffic(product.steps(p, operands, *memory, gpu))
        try:
            for (kernel, grid, block, arguments), form in zip(
                product.launches(p, operands, *memory, gpu), forms, strict=True
            ):
                run = simulate(kernel, strict=False, max_steps=STEPS)[grid, block](*arguments)
                seen |= {f.kind for f in run.findings}
                if closed_forms.counted(run) != form:
                    seen.add("counts")
        except UnsupportedKernelError:  # as numba would refuse it
            return {"refused"}
        except KernelError as error:  # a loop that never ends
            return {error.args[0]}
        if not np.array_equal(C, expected):
            seen.add("wrong-value")
        if memory[1].any():
            seen.add("tickets-left")
        if seen and not patient:
            break
    return seen


@pytest.mark.parametrize("module", LAUNCHED, ids=lambda module: module.__name__.rpartition(".")[2])
@pytest.mark.nightly  # tests/machine/products/test_product.py tries other sizes in the default run
def test_the_kernels_are_silent(module):
    """Unchanged they break no rule, are right, and have the traffic of the formulas."""
    assert verdict(LAUNCHED[module][0]) == set()


@pytest.mark.parametrize(
    ("module", "mutant"),
    [
        pytest.param(module, mutant, id=f"{module.__name__.rpartition('.')[2]}-{mutant}")
        for module in LAUNCHED
        for mutant in mutants(inspect.getsource(module), 1 if NIGHTLY else BY_DAY[module])
    ],
)
def test_mutant_is_noticed(module, mutant, tmp_path, monkeypatch):
    """A finding, a wrong value or another count shows the mutant."""
    cases, names = LAUNCHED[module]
    changed = import_module(mutant.source, tmp_path, "course_lib.machine.products")
    if module is tile_loads:
        monkeypatch.setattr(tile, "loader", changed.loader)
        monkeypatch.setattr(product, "tile_kernel", tile.tile_kernel.__wrapped__)  # not those kept from before
    else:
        for name in names:
            monkeypatch.setattr(product, name, getattr(changed, name))
    seen = verdict(cases, patient=False)
    print(f"{module.__name__.rpartition('.')[2]:17} {mutant!s:60} {', '.join(sorted(seen))}")
    assert seen or (mutant.what, mutant.text) in EQUIVALENT


@pytest.mark.nightly  # when all mutants are made
def test_equivalent_mutants_exist():
    """Every exception still matches a line of the source."""
    made = {(mutant.what, mutant.text) for module in LAUNCHED for mutant in mutants(inspect.getsource(module))}
    assert set(EQUIVALENT) <= made
