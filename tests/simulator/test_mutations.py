"""Mutation: change one barrier, guard, bound or index term of a course kernel, and the simulator notices."""

import inspect
import os

import numpy as np
import pytest
from oracles.mutation import mutants
from oracles.sources import import_kernel

from course_lib import simulate
from course_lib.kernels import LADDER

#: (M, N, K), parameters: ragged rectangles of several tiles, in blocks of one warp and of several.
LAUNCHES = [((7, 9, 5), 4), ((11, 18, 21), 8), ((9, 6, 14), 8)]

#: The rungs that are mutated; at night all of them, over a thousand mutants.
EVERY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MUTATED = [r for r in LADDER if EVERY or r.name in ("naive", "single_block", "tiled", "prefetched")]


def all_mutants():
    for rung in MUTATED:
        kernel = rung.make()
        module = inspect.getmodule(kernel.py_func)
        for mutant in mutants(inspect.getsource(module), kernel.py_func.__name__):
            yield rung, mutant


def verdict(rung, make):
    """Return the kinds of error found and whether a value is wrong, over all launches."""
    seen = set()
    rng = np.random.default_rng(3)
    for (M, N, K), width in LAUNCHES:
        params = {name: max(width, M, N, K) if name == "width" else width for name in rung.params}
        grid, block = rung.launch(M, N, K, **params)
        if rung.name == "naive":  # the one kernel that takes its block from the launch, so not a square one
            grid, block = (grid[0], 2 * grid[1]), (width, width // 2)
        A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
        C = np.full((M, N), np.nan, np.float32)
        run = simulate(make(**params), strict=False)[grid, block](A, B, C)
        seen |= {f.kind for f in run.findings}
        if not np.allclose(C, A @ B, rtol=1e-4, atol=1e-4):
            seen.add("wrong-value")
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
    seen = verdict(rung, factory(rung, mutant.source, tmp_path))
    print(f"{rung.name:13} {mutant!s:60} {', '.join(sorted(seen))}")
    assert seen
