"""What is sent to the browser: complete, small, and refused when it cannot be drawn."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.trace.record import Step, Trace, TraceAccess, TraceArray
from course_lib.viewer.payload import encode


def matrices(M, K, N, seed=0):
    rng = np.random.default_rng(seed)
    A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N)))
    return A, B, np.zeros((M, N), np.float32)


def decode(vectors, number, n):
    vector = vectors[number]
    return vector * n if len(vector) == 1 else vector


def test_every_access_survives(tiled_run):
    """Base and pattern give back the element numbers of each access, block by block and in order."""
    trace = tiled_run(*matrices(5, 7, 3)).trace
    sent = json.loads(encode(trace))
    names = [array["name"] for array in sent["arrays"]]

    for block in sent["blocks"]:
        steps = [step for step in trace.steps if list(step.block) == block["at"]]
        assert [step.line for step in steps] == [step[0] for step in block["steps"]]
        for step, (_, warp, threads, barrier, accesses, variables) in zip(steps, block["steps"], strict=True):
            assert (step.warp, step.threads.tolist()) == (warp, sent["vectors"][threads])
            assert step.barrier == bool(barrier)
            assert list(step.variables) == list(variables)
            for access, (op, array, lanes, base, pattern, values) in zip(step.accesses, accesses, strict=True):
                n = len(access.threads)
                flat = np.ravel_multi_index(tuple(access.index.T), trace.arrays[access.array].shape)
                assert access.array == names[array]
                assert access.threads.tolist() == decode(sent["vectors"], lanes, n)
                assert flat.tolist() == [base + i for i in decode(sent["vectors"], pattern, n)]
                assert (values == -1) == (access.op == "load") == (op == 0)
                if values != -1:
                    stored = np.array(decode(sent["vectors"], values, n), np.float32)
                    np.testing.assert_array_equal(access.values, stored)


def test_16x16_in_4x4_tiles_stays_small(tiled_run):
    """16 blocks of random float32 fit in 100 kB."""
    assert len(encode(tiled_run(*matrices(16, 16, 16), 4).trace)) < 100_000


def one_store(shape, value, index=(0, 0), dtype="float32"):
    """A trace of one thread that stores one value to C."""
    initial = np.zeros(shape, dtype)
    access = TraceAccess("store", "C", np.array([0]), np.array([index]), np.array([value], dtype))
    step = Step(2, (0, 0, 0), 0, np.array([0]), (access,))
    array = TraceArray("C", "global", dtype, shape, initial)
    lines = ((1, "def kernel(C):"), (2, "    C[0, 0] = 1"))
    return Trace("kernel", (1, 1, 1), (1, 1, 1), lines, {"C": array}, (step,))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_json_lacks(value):
    """nan and the infinities are sent as text, so that the browser can read the trace."""
    assert [str(np.float32(value))] in json.loads(encode(one_store((2, 3), value)))["vectors"]


def test_negative_index_counts_from_the_end():
    """numba wraps C[-1, -1] to the last element; so does the picture."""
    sent = json.loads(encode(one_store((2, 3), 7, index=(-1, -1))))
    assert 5 == sent["blocks"][0]["steps"][0][4][0][3]


def test_out_of_bounds_touches_nothing():
    """A lane outside its array is not drawn anywhere else."""
    assert [] == json.loads(encode(one_store((2, 3), 7, index=(0, 3))))["blocks"][0]["steps"][0][4]


def test_too_large_to_draw():
    """An array over 64 elements a side is refused by name."""
    with pytest.raises(ValueError, match="at most 64 elements a side; C is 65 × 3"):
        encode(one_store((65, 3), 1))


def test_run_without_trace():
    """A run made without trace=True says what to write instead."""
    from course_lib.viewer import Stepper

    with pytest.raises(ValueError, match=r"simulate\(kernel, trace=True\)"):
        Stepper(SimpleNamespace(trace=None))
