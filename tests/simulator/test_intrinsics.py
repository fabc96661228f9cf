"""Intrinsics that are defined outside the simulator, and say themselves what they are."""

import numpy as np
import pytest
from numba import cuda
from oracles.sources import import_module

from course_lib import KernelError, UnsupportedKernelError, simulate


def prefix_and_total(values, pair):
    """What a warp computes of one number and one pair a lane: (warps, 32) each."""
    assert values.shape[1] == 32 and all(part.shape == values.shape for part in pair)
    return np.cumsum(values, axis=1), np.broadcast_to(pair[0].sum(axis=1, keepdims=True), values.shape) + pair[1]


class Intrinsic:
    __simulated_as__ = ("warp", prefix_and_total, ("float32", "int64"))


class Typed:
    @staticmethod
    def kinds(value):
        if value != "float32":
            raise TypeError(f"takes float32, not {value}")
        return value

    __simulated_as__ = ("warp", np.negative, kinds)


class Unknown:
    __simulated_as__ = ("teleport", 3)


class Pair:
    __simulated_as__ = ("load", 2)


scan, negated, unknown, load2 = Intrinsic(), Typed(), Unknown(), Pair()


def test_a_warp_computes_together():
    def kernel(a, out, totals):
        i = cuda.grid(1)
        out[i], totals[i] = scan(a[i], (i, 2 * i))
        out[i] = negated(out[i])

    a = np.random.default_rng(0).random(3 * 64).astype("f4")
    out, totals = np.zeros(3 * 64, "f4"), np.zeros(3 * 64, "i8")
    run = simulate(kernel)[3, 64](a, out, totals)
    warps, ids = a.reshape(-1, 32), np.arange(3 * 64).reshape(-1, 32)
    np.testing.assert_array_equal(out.reshape(-1, 32), -np.cumsum(warps, axis=1))
    np.testing.assert_array_equal(totals.reshape(-1, 32), ids.sum(axis=1, keepdims=True) + 2 * ids)
    assert run.findings == ()


@pytest.mark.parametrize("first", ["x", "y"])
def test_an_access_to_a_field_is_aligned_by_its_place_in_the_record(first):
    """Records have 16 bytes: x begins at byte 0 or, after y, at byte 4, where no access of 8 bytes may begin."""

    def kernel(records, out):
        out[0] = load2(records.x, 1)[0]

    names = {"x": ["x", "y"], "y": ["y", "x"]}[first]
    records = np.ones(3, np.dtype([(name, "f4") for name in (*names, "z", "w")]))
    findings = simulate(kernel, strict=False)[1, 1](records, np.zeros(1, "f4")).findings
    assert [f.kind for f in findings] == ["misaligned-access"] * (first == "y")


def test_a_lane_that_does_not_arrive_is_reported():
    def kernel(a):
        i = cuda.grid(1)
        if i != 5:
            a[i] = negated(a[i])

    run = simulate(kernel, strict=False)[1, 32](np.zeros(32, "f4"))
    assert [f.threads[0] for f in run.findings] == [((0, 0, 0), (5, 0, 0))]


def test_a_warp_of_fewer_lanes_cannot():
    def kernel(a):
        a[cuda.grid(1)] = negated(a[cuda.grid(1)])

    with pytest.raises(KernelError, match="a multiple of 32"):
        simulate(kernel)[1, 40](np.zeros(40, "f4"))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("a[0] = negated(1)", "takes float32, not int64"),
        ("a[0] = negated(a)", "takes numbers and tuples of numbers"),
        ("unknown(a)", "'teleport', which the simulator does not know"),
        ("a[0] = cmath.isclose(a[0], 1)", "cmath.*real and .imag"),
        ("a[0] = random.xoroshiro128p_uniform_float32(a, 0)", "has no field 's0'; pass an array of records"),
    ],
)
def test_it_is_refused_by_name(statement, words, folder):
    module = import_module(f"import cmath\nfrom numba.cuda import random\ndef kernel(a):\n    {statement}\n", folder)
    module.negated, module.unknown = negated, unknown
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(module.kernel)[1, 32](np.zeros(32, "f4"))
