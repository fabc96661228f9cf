"""Mutation: change one barrier, guard, bound or index term of a course kernel, and the simulator notices."""

import inspect
from itertools import islice

import numpy as np
import pytest
from launches.samples import QUICK
from nightly import NIGHTLY
from oracles.mutation import mutants
from oracles.sources import import_kernel

from course_lib import UnsupportedKernelError, simulate
from course_lib.kernels import LADDER, TENSOR_CORES, edges, vector

#: (M, N, K), width: ragged rectangles of several tiles, in blocks of one warp and of several; the first ends in the
#: second half of a tile that is twice as wide as its block.
LAUNCHES = [((7, 13, 5), 4), ((11, 18, 21), 8), ((9, 6, 14), 8)]

#: The rungs that are mutated: by day those before the register tiles and the first on tensor cores, at night all.
BY_DAY = (*QUICK, *TENSOR_CORES[:1])
MUTATED = (*LADDER, *TENSOR_CORES) if NIGHTLY else BY_DAY
#: Of the tiled kernels on tensor cores, which have large tiles alone, every so many-th mutant; by day, of the others.
SAMPLED, SAMPLED_BY_DAY = 14, 13

INSIDE = "inside = K % 4 == 0 and N % 4 == 0 and top + ROWS <= A.shape[0] and left + COLUMNS <= N"
#: Mutants that may compute the same, by what was changed and the text of the line, with the reason.
EQUIVALENT = {
    **{
        (what, "if start < A.shape[1]:"): "the guards inside copy nothing either, and nobody reads their zeros"
        for what in ("without the guard start < A.shape[1]", "<= in start < A.shape[1]")
    },
    ("one iteration fewer: range(0, ahead, T)", "for start in range(0, ahead, T):"): "likewise, at ahead - T",
    (
        "one iteration fewer: range(0, ROWS, 4)",
        "for i in range(0, ROWS, 4):",
    ): "the last one begins at ROWS - 4 anyway",
    ("one iteration fewer: range(0, T, 8)", "for k in range(0, T, 8):"): "likewise, at T - 8",
    ("swap the last two indices of acc[i, j]", "acc[i, j] = 0"): "every element of a square array is set to zero",
    ("drop the left of 7 - i", "row = i if j % 2 == 0 else 7 - i"): "the order of the rows only saves register reads",
    ("drop the left of j % 2", "row = i if j % 2 == 0 else 7 - i"): "likewise",
    ("drop the right of j % 2", "row = i if j % 2 == 0 else 7 - i"): "likewise",
    **{
        (f"drop the {side} of {size} % 4", INSIDE): "whole tiles take the slower, general loads too"
        for side in ("left", "right")
        for size in "KN"
    },
}

#: Modules of device functions, mutated for a rung that calls them.
HELPERS = {"vectorized": vector, "best": edges}


def all_mutants():
    """Yield (rung, the module that is changed, mutant)."""
    for rung in MUTATED:
        module = inspect.getmodule(rung.make().py_func)
        for changed in filter(None, (module, HELPERS.get(rung.name))):
            made = mutants(inspect.getsource(changed), 1 if NIGHTLY else SAMPLED_BY_DAY)
            for mutant in islice(made, 0, None, SAMPLED if rung in TENSOR_CORES[1:] else 1):
                yield rung, changed, mutant


def launches(rung):
    """Yield (M, N, K), grid, block, parameters: of every launch several blocks, or tiles, with ragged edges."""
    if rung in TENSOR_CORES[1:]:  # edges; whole tiles, copied to every stage, and what they leave over; unaligned rows
        rounded = {"rounded": True} if rung.name == "tensor_cores_tiled" else {}
        for (M, N, K), params in (((70, 66, 5), rounded), ((133, 136, 104), {}), ((128, 128, 18), {})):
            yield (M, N, K), *rung.launch(M, N, K), {**rung.params, **params}
    elif rung.params:
        for (M, N, K), width in LAUNCHES:
            params = {name: max(width, M, N, K) if name == "width" else width for name in rung.params}
            if "stages" in params:  # as few as there can be: then they are used again on small matrices, too
                params["stages"] = 2
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
        # and, last, so few rows and columns left over that a kernel may compute them in another way
        whole = (rows + 5, columns + 7, 33), (2 * rows + 8, 2 * columns + 8, 36)
        few = (rows + 3, columns + 2, 35), (rows + 3, columns + 20, 37)
        for M, N, K in ((7, 9, 5), *whole, *few):
            yield (M, N, K), *rung.launch(M, N, K), {}


def verdict(rung, make, patient=True):
    """Return the kinds of error found and whether a value is wrong, over all launches or up to the first that tells."""
    seen = set()
    rng = np.random.default_rng(3)
    for (M, N, K), grid, block, params in launches(rung):
        A, B = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N)))
        C = np.full((M, N), np.nan, np.float32)
        try:
            run = simulate(make(**params), strict=False)[grid, block](rung.operand(A), rung.operand(B), C)
        except UnsupportedKernelError:  # as numba would refuse it
            return {"refused"}
        seen |= {f.kind for f in run.findings}
        if not np.allclose(C, rung.multiplied(A, **params) @ rung.multiplied(B, **params), rtol=1e-4, atol=1e-4):
            seen.add("wrong-value")
        if seen and not patient:
            break
    return seen


def factory(rung, source, folder):
    """Return the `make` of a rung for a changed source of its module."""
    made = rung.make()
    name = made.py_func.__name__
    wanted = rung.make.__name__ if hasattr(rung.make.__wrapped__, "cache_info") else name
    whole = import_kernel(source, folder, wanted, "course_lib.kernels")
    return whole if hasattr(whole, "cache_info") else (lambda **params: whole)


def replace_device_functions(rung, helper, source, folder, monkeypatch):
    """Let the rung call the device functions of a changed source of a helper module."""
    functions = {name: getattr(value, "py_func", None) for name, value in vars(helper).items()}
    names = [name for name, function in functions.items() if inspect.getmodule(function) is helper]
    changed = import_kernel(source, folder, names[-1], "course_lib.kernels").py_func.__globals__
    for name in names:
        for module in (inspect.getmodule(rung.make().py_func), *HELPERS.values()):
            if getattr(module, name, None) is getattr(helper, name):
                monkeypatch.setattr(module, name, changed[name])


@pytest.mark.parametrize("rung", MUTATED, ids=lambda rung: rung.name)
def test_course_kernels_are_silent(rung):
    """The unchanged kernel breaks no rule and is right, on the launches of its mutants."""
    assert verdict(rung, rung.make) == set()


@pytest.mark.parametrize(
    ("rung", "module", "mutant"), [pytest.param(r, h, m, id=f"{r.name}-{m}") for r, h, m in all_mutants()]
)
def test_mutant_is_noticed(rung, module, mutant, tmp_path, monkeypatch):
    """A finding or a wrong value gives the mutant away."""
    if module is HELPERS.get(rung.name):
        replace_device_functions(rung, module, mutant.source, tmp_path, monkeypatch)
        make = rung.make
    else:
        make = factory(rung, mutant.source, tmp_path)
    seen = verdict(rung, make, patient=False)
    print(f"{module.__name__.rpartition('.')[2]:17} {mutant!s:60} {', '.join(sorted(seen))}")
    assert seen or (mutant.what, mutant.text) in EQUIVALENT


@pytest.mark.nightly  # the kernels that they belong to are mutated then
def test_equivalent_mutants_exist():
    """No exception outlives the line it was made for."""
    assert set(EQUIVALENT) <= {(mutant.what, mutant.text) for *_, mutant in all_mutants()}
