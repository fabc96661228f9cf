"""The ladder: its order, its launch rules and the host version."""

import numpy as np
import pytest

from course_lib.kernels import LADDER, TENSOR_CORES, rung
from course_lib.kernels.host import matmul_host

RUNGS = (*LADDER, *TENSOR_CORES)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_host_equals_numpy(dtype, order):
    """Random rectangles in both memory orders, and the accumulator stays in the type of C."""
    rng = np.random.default_rng(7)
    A = np.asarray(rng.integers(-9, 10, (5, 8)), dtype, order=order)
    B = np.asarray(rng.integers(-9, 10, (8, 3)), dtype, order=order)
    C = np.full((5, 3), -1, dtype, order=order)
    matmul_host(A, B, C)
    np.testing.assert_array_equal(C, A @ B)


def test_host_of_empty_inner_dimension_is_zero():
    """A sum of nothing is 0 and is stored."""
    C = np.full((2, 3), 9.0)
    matmul_host(np.empty((2, 0)), np.empty((0, 3)), C)
    np.testing.assert_array_equal(C, np.zeros((2, 3)))


def test_names_are_unique_and_found():
    """A rung is found by its name, and a wrong name lists the right ones."""
    assert [rung(r.name) for r in RUNGS] == list(RUNGS)
    with pytest.raises(KeyError, match="tiled"):
        rung("tilde")


@pytest.mark.parametrize("r", RUNGS, ids=lambda r: r.name)
def test_a_block_is_legal(r):
    """At most 1,024 threads with the default parameters."""
    _, block = r.launch(20, 20, 20, **r.params)
    assert np.prod(block) <= 1024


def test_single_block_refuses_what_it_cannot_hold():
    """The message names the limit: one block has no room for 33 columns."""
    with pytest.raises(ValueError, match="32×32"):
        rung("single_block").launch(8, 33, 8)


@pytest.mark.parametrize(("name", "params"), [("tiled", {"tile_width": 0}), ("naive", {"block_width": 1.5})])
def test_a_size_that_no_kernel_can_have_is_refused(name, params):
    """By name or by place, before numba or a launch stumbles over it; a padding of 0 is one."""
    with pytest.raises(ValueError, match=r"_width is .*; give a whole number of at least 1"):
        rung(name).make(**params)
    with pytest.raises(ValueError, match="tile_width is 0"):
        rung("tiled").make(0)
    with pytest.raises(ValueError, match=r"padding is -1; .* at least 0"):
        rung("padded").make(16, padding=-1)
    rung("padded").make(16, padding=0)
