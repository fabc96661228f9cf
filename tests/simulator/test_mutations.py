"""Mutation: change one barrier, guard, bound or index term of a course kernel, and the simulator notices."""

import inspect
import os

import numpy as np
import pytest
from oracles.mutation import mutants
from oracles.sources import import_kernel

from course_lib import UnsupportedKernelError, simulate
from course_lib.kernels import LADDER

#: (M, N, K), width: ragged rectangles of several tiles, in blocks of one warp and of several.
LAUNCHES = [((7, 9, 5), 4), ((11, 18, 21), 8), ((9, 6, 14), 8)]

#: The rungs that are mutated: those before the register tiles, at night all of them, over 1,200 mutants.
EVERY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MUTATED = LADDER if EVERY else LADDER[: [r.name for r in LADDER].index("register_1d")]

#: Mutants that compute the same, by what was changed and the text of the line, with the reason.
EQUIVALENT = {
    ("one round fewer: range(0, ROWS, 4)", "for i in range(0, ROWS, 4):"): "the last round begins at ROWS - 4 anyway",
    ("swap the last two indices of acc[i, j]", "acc[i, j] = 0"): "every element of a square array is set to zero",
    ("drop the left of 7 - i", "row = i if j % 2 == 0 else 7 - i"): "the order of the rows only saves register reads",
    ("drop the left of j % 2", "row = i if j % 2 == 0 else 7 - i"): "likewise",
    ("drop the right of j % 2", "row = i if j % 2 == 0 else 7 - i"): "likewise",
    **{
        (f"drop the {side} of {size} % 4", "whole = K % 4 == 0 and N % 4 == 0"): "always the slower, general loads"
        for side in ("left", "right")
        for size in "KN"
    },
}


def all_mutants():
    for rung in MUTATED:
        module = inspect.getmodule(rung.make().py_func)
        for mutant in mutants(inspect.getsource(module)):
            yield rung, mutant


def launches(rung):
    """Yield (M, N, K), grid, block, parameters: of every launch several blocks, or tiles, with ragged edges."""
    if rung.params:
        for (M, N, K), width in LAUNCHES:
            params = {name: max(width, M, N, K) if name == "width" else width for name in rung.params}
            grid, block = rung.launch(M, N, K, **params)
            if rung.name in ("naive", "uncoalesced"):  # these take their block from the launch, so not a square one
                grid, block = (grid[0], 2 * grid[1]), (width, width // 2)
                if rung.name == "uncoalesced":
                    grid = (grid[0], 2 * -(-N // width))
            yield (M, N, K), grid, block, params
    elif rung.name == "per_element":
        for M, N, K in ((7, 9, 5), (11, 18, 21), (1, 70, 2)):
            yield (M, N, K), *rung.launch(M, N, K), {}
    else:  # a block computes a tile of C of fixed size
        rows = next(M for M in range(1, 1025) if rung.launch(M + 1, 1, 1)[0][1] > 1)
        columns = next(N for N in range(1, 1025) if rung.launch(1, N + 1, 1)[0][0] > 1)
        # K: less than one tile, one more than whole tiles, and such that rows are whole vectors but tiles are not
        for M, N, K in ((7, 9, 5), (rows + 5, columns + 7, 33), (rows + 8, columns + 4, 36)):
            yield (M, N, K), *rung.launch(M, N, K), {}


def verdict(rung, make, patient=True):
    """Return the kinds of error found and whether a value is wrong, over all launches or up to the first that tells."""
    seen = set()
    rng = np.random.default_rng(3)
    for (M, N, K), grid, block, params in launches(rung):
        A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
        C = np.full((M, N), np.nan, np.float32)
        try:
            run = simulate(make(**params), strict=False)[grid, block](A, B, C)
        except UnsupportedKernelError:  # as numba would refuse it
            return {"refused"}
        seen |= {f.kind for f in run.findings}
        if not np.allclose(C, A @ B, rtol=1e-4, atol=1e-4):
            seen.add("wrong-value")
        if seen and not patient:
            break
    return seen


def factory(rung, source, folder):
    """Return the `make` of a rung for a changed source of its module."""
    made = rung.make()
    name = made.py_func.__name__
    wanted = rung.make.__name__ if hasattr(rung.make, "cache_info") else name
    whole = import_kernel(source, folder, wanted, "course_lib.kernels")
    return whole if hasattr(whole, "cache_info") else (lambda **params: whole)


@pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
def test_course_kernels_are_silent(rung):
    """The unchanged kernel breaks no rule and is right."""
    assert verdict(rung, rung.make) == set()


@pytest.mark.parametrize(("rung", "mutant"), [pytest.param(r, m, id=f"{r.name}-{m}") for r, m in all_mutants()])
def test_mutant_is_noticed(rung, mutant, tmp_path):
    """A finding or a wrong value gives the mutant away."""
    seen = verdict(rung, factory(rung, mutant.source, tmp_path), patient=False)
    print(f"{rung.name:13} {mutant!s:60} {', '.join(sorted(seen))}")
    assert bool(seen) == ((mutant.what, mutant.text) not in EQUIVALENT)


@pytest.mark.skipif(not EVERY, reason="the kernels that they belong to are mutated at night")
def test_equivalent_mutants_exist():
    """No exception outlives the line it was made for."""
    assert set(EQUIVALENT) <= {(mutant.what, mutant.text) for _, mutant in all_mutants()}
