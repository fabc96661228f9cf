"""``simulate(kernel).check_all(launch)``: kernels that hold for all sizes, and the smallest launch that fails."""

import inspect

import kernels_with_bugs as corpus
import numpy as np
import pytest
from numba import cuda
from oracles import launches

from course_lib import LaunchError, Stepper, simulate
from course_lib.kernels import rung
from course_lib.simulator.check_all import product_of, widths

BY_DAY = ("no_guard", "grid_rounded_down", "early_return_before_barrier", "swapped_x_and_y")
#: Their twins hold for every size, or for whole blocks; the others were written for the one launch of the corpus.
EVERY_SIZE = (
    "barrier_in_the_inner_loop_under_the_guard early_return_before_barrier grid_rounded_down guard_of_one_dimension "
    "inner_dimension_wraps_to_next_row neighbour_beyond_the_end no_guard off_by_one_edge product_with_the_transpose "
    "product_with_the_transpose_of_a_rectangle stencil_in_place store_outside_the_guard stride_of_one_block "
    "swapped_x_and_y_under_a_guard uninitialised_tile_edge"
).split()
WHOLE_BLOCKS = (
    "accumulator_in_float64 column_from_block_y conditional_expression_in_float64 division_by_two index_times_float32 "
    "loop_to_block_size_minus_one missing_first_barrier missing_second_barrier negative_wrap one_tile_too_many "
    "stale_double_buffer swapped_x_and_y"
).split()
#: These pass one launch of whole, square blocks.
PASS_ONCE = {
    "barrier_in_the_inner_loop_under_the_guard", "early_return_before_barrier", "grid_rounded_down",
    "guard_of_one_dimension", "no_guard", "off_by_one_edge", "store_outside_the_guard", "swapped_x_and_y",
    "swapped_x_and_y_under_a_guard", "uninitialised_tile_edge",
}  # fmt: skip


@cuda.jit
def one_too_few(x, out):
    i = cuda.grid(1)
    if i < x.size - (1 if x.size == 37 or x.size > 61 else 0):
        out[i] = 2 * x[i]


def doubled(n):
    x = np.arange(1, n + 1, dtype=np.int32)
    return -(-n // 16), 16, (x, np.zeros_like(x)), {"out": 2 * x}


@pytest.mark.parametrize(
    "name",
    [name if name in BY_DAY else pytest.param(name, marks=pytest.mark.nightly) for name in EVERY_SIZE + WHOLE_BLOCKS],
)
def test_bugs_that_one_launch_does_not_show(name):
    """The bug is found, by a kind that the corpus expects; its twin has no finding in as many launches."""
    pair = corpus.load(name)
    names = inspect.signature(launches.launch_of(pair, "twin")).parameters
    width = int(np.lcm(*launches.blocks(pair)))
    values = dict.fromkeys(names, (width, 2 * width, 3 * width)) if name in WHOLE_BLOCKS else {}
    sizes = launches.ROUND_SIZES[launches.kind_of_launch(pair)](*launches.blocks(pair))
    once = {name: (size,) for name, size in zip(names, sizes, strict=True)}

    twin = simulate(pair.twin).check_all(launches.launch_of(pair, "twin"), allow=(), launches=60, **values)
    friendly, bug = (
        simulate(pair.bug).check_all(launches.launch_of(pair, "bug"), allow=(), launches=60, **sizes)
        for sizes in (once, values)
    )

    assert twin.holds, twin
    assert friendly.holds == (name in PASS_ONCE), friendly
    assert not bug.holds
    kind = bug.reason.split(" (")[0]
    assert kind in pair.kinds or "wrong-value" in pair.kinds, bug


def test_the_smallest_launch_is_named():
    """As trying every size in turn tells; and the stepper shows it beside what is right."""
    failing = [n for n in range(1, 131) if wrong(n)]
    found, later = (simulate(one_too_few).check_all(launch) for launch in (doubled, lambda n: doubled(max(1, n - 30))))

    assert failing[:2] == [37, 62]
    assert found.sizes == {"n": 37} and later.sizes == {"n": 62 + 30}
    assert found.reason == "out[36] holds 0, and 74 is right" and not found
    assert "beside" not in repr(found) and Stepper(found.run, wanted=found.wanted).trace is found.run.trace


def wrong(n):
    """Whether `out` holds something else after a launch than it should."""
    grid, block, (x, out), wanted = doubled(n)
    simulate(one_too_few)[grid, block](x, out)
    return (out != wanted["out"]).any()


def test_a_kernel_that_holds_says_for_what():
    """How many launches, and up to which sizes; 0 elements have no launch."""
    found = simulate(one_too_few).check_all(doubled, n=(0, 1, 16, 17))

    assert found and found.holds
    assert repr(found) == "no finding for 3 launches up to n=17; 1 further size has no launch"


def test_products_need_no_launch_of_their_own():
    """A kernel (A, B, C), with sizes or without, is launched as a product; the widths of its tiles are known."""
    kernel = rung("tiled").make(tile_width=4)

    assert 4 in widths(kernel)
    assert product_of(kernel)(5, 9, 3)[:2] == ((3, 2), (4, 4))
    assert product_of(kernel, (8, 2))(5, 9, 3)[:2] == ((2, 3), (8, 2))
    found = simulate(kernel).check_all(launches=12)
    assert found.holds and found.launches + found.without == 12 and [*found.largest] == ["M", "N", "K"]


def test_every_value_is_tried():
    """However few launches are allowed: each value of each size, with changing partners."""
    seen = []

    def launch(n, block):
        seen.append((n, block))
        x = np.arange(n, dtype=np.int32)
        return max(1, -(-n // block)), block, (x, np.zeros_like(x)), {"out": 2 * x}

    simulate(one_too_few).check_all(launch, launches=30, n=range(1, 31), block=(1, 31, 33))

    assert {n for n, _ in seen} == set(range(1, 31))
    assert {block for _, block in seen} == {1, 31, 33}
    assert len(set(seen)) == len(seen) == 30


def test_a_launch_that_is_refused_fails():
    """A block of 1,025 threads is a mistake of the launch; so is a grid of no blocks for elements that there are."""

    def launch(n):
        return -(-n // 1024), n, (np.zeros(n, np.int32), np.zeros(n, np.int32))

    assert "the launch is refused: the block" in repr(simulate(one_too_few).check_all(launch, n=(1, 1025)))
    assert "the launch is refused" in repr(
        simulate(one_too_few).check_all(lambda n: (n // 2, *launch(n)[1:]), n=(1, 2))
    )


@cuda.jit
def down_the_columns(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def test_x_may_run_down_the_columns():
    """As in many published kernels: a launch of whole blocks tells which way. float64 is no mistake of a size."""
    found = simulate(down_the_columns).check_all(launches=12)

    assert found.holds, found
    assert "float64" in simulate(down_the_columns).check_all(launches=12, allow=()).reason


@cuda.jit
def endless(x, out):
    i = 0
    while x[0] == 3:
        i += 1


def test_a_loop_without_end_fails():
    """With its line, at the size that does not end."""
    found = simulate(endless, max_steps=300).check_all(lambda n: (1, 1, (np.full(1, n), np.zeros(1))), n=range(1, 9))

    assert found.sizes == {"n": 3} and "still running after 300 iterations" in found.reason


@cuda.jit
def backwards(x, out):
    tile = cuda.shared.array(0, np.int32)
    i, n = cuda.threadIdx.x, cuda.blockDim.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[n - 1 - i]


def test_dynamic_shared_memory():
    """Enough for 64 threads is too little for 65."""

    def launch(n):
        x = np.arange(n, dtype=np.int32)
        return 1, n, (x, np.zeros_like(x)), {"out": x[::-1]}

    assert simulate(backwards).check_all(launch, n=(1, 33, 64), shared_bytes=256).holds
    found = simulate(backwards).check_all(launch, n=range(60, 70), shared_bytes=256)
    assert found.sizes == {"n": 65} and "out-of-bounds" in found.reason


@pytest.mark.parametrize(
    ("launch", "options", "message"),
    [
        (lambda n: (1, 1), {}, "must return grid, block, a tuple of arguments"),
        (lambda n: (1, 1, np.zeros(n)), {}, "must return grid, block, a tuple of arguments"),
        (lambda n: None, {}, "no size has a launch"),
        (lambda *n: None, {}, "takes sizes by name"),
        (lambda: None, {}, "takes sizes by name"),
        (doubled, {"m": (1,)}, "has no size 'm'; it has n"),
        (doubled, {"n": ()}, "no value of 'n' to try"),
        (doubled, {"n": 16}, r"n is 16; give whole numbers to try, as n=\(16, 17\)"),
        (doubled, {"launches": 0}, "launches is 0; try at least 1"),
        (lambda n: (*doubled(n)[:3], {"y": np.zeros(n)}), {"n": (4,)}, "says what 'y' should hold"),
        (lambda n: (*doubled(n)[:3], {"out": np.zeros(n + 1)}), {"n": (4,)}, r"should hold \(5,\) elements"),
        (None, {}, "cannot be guessed"),
    ],
)
def test_launches_that_are_none(launch, options, message):
    """Each is one sentence."""
    with pytest.raises(LaunchError, match=message):
        simulate(one_too_few).check_all(launch, **options)
