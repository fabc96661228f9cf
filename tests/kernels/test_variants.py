"""Variants: each computes the product, loads as much as its rung, and differs from it where it says."""

import difflib
import inspect

import numpy as np
import pytest
from nightly import every

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.kernels import variants as made
from course_lib.machine.gpu import variants
from course_lib.machine.gpu.verification import judge, random_matrices

IN_NUMBA = {
    (case.rung.name, *case.params.items()): case
    for case in variants.cases()
    if case.language == "numba" and not case.rung.name.endswith("_uncached") and case.of not in variants.SLOW
}


@pytest.mark.parametrize("key", every(2, IN_NUMBA), ids=str)
def test_a_variant_computes_the_product(key):
    """Sizes that no tile divides, except for the kernels of one block; without any finding."""
    case = IN_NUMBA[key]
    for shape in ((45, 37, 67), (31, 17, 32)):
        params = {**case.rung.params, **case.params}
        try:
            grid, block = case.rung.launch(*shape, **params)
        except ValueError:
            continue
        A, B, C = random_matrices(*shape)
        run = simulate(case.rung.make(dtype=np.float32, **params))[grid, block](A, B, C)
        assert run.findings == ()
        assert judge(C, A.astype(float) @ B.astype(float)).correct
        break


@pytest.mark.parametrize(
    "variant", [made.naive_variant("signed", 16), made.naive_variant("uint64", 32), made.unsigned_loop()]
)
def test_the_loads_of_a_variant_are_those_of_the_rung(variant):
    """Index types and unrolled steps change no access."""

    def counted(r):
        A, B, C = random_matrices(33, 34, 35)
        grid, block = r.launch(33, 34, 35)
        traffic = simulate(r.make())[grid, block](A, B, C).traffic
        return [(t.accesses, t.requests, t.sectors) for t in (traffic.select(array=name) for name in "ABC")]

    assert counted(variant) == counted(rung("naive"))


def test_unsigned_indices_are_the_only_difference():
    """In the kernel `padded`: the thread's place and the two loads, three lines."""
    kernels = (r.make(dtype=np.float32) for r in (rung("padded"), made.unsigned_variant("padded")))
    old, new = (inspect.getsource(kernel.py_func).splitlines() for kernel in kernels)
    changed = [line for line in difflib.ndiff(old, new) if line.startswith("+")]
    assert len(changed) == 3
    assert all("uint64(" in line for line in changed)


def test_a_line_that_a_rung_does_not_have_cannot_be_changed():
    with pytest.raises(ValueError, match="'no such line' occurs 0 times in naive.py, so the variant wrong cannot"):
        made.variant("naive", "wrong", "", [("no such line", "")])


def test_every_case_has_its_own_name_and_parameters():
    names = [(case.rung.name, *case.params.items()) for case in variants.cases()]
    assert len(names) == len(set(names)) > 100
