"""The state that the viewer draws, compared with NumPy and with known properties of the algorithms."""

import numpy as np
import pytest
from launches.samples import matrices
from numba import cuda
from oracles.replay import State

from course_lib import simulate
from course_lib.trace import Trace
from course_lib.trace.finding_locations import locate
from course_lib.trace.kernel_structure import accumulators, roles, shown_source
from course_lib.trace.replay import Timeline, tiles


@pytest.mark.parametrize(("shape", "T"), [((4, 4, 4), 2), ((5, 7, 3), 2), ((9, 6, 10), 4), ((17, 5, 9), 8)])
def test_blocks_together_compute_the_product(tiled_run, shape, T):
    """The last state of every block holds its part of C, at ragged sizes and with two warps a block too."""
    A, B, C = matrices(*shape)
    trace = tiled_run(A, B, C, T).trace
    shown = np.full_like(C, np.nan)

    for block in {step.block for step in trace.steps}:
        timeline = Timeline(trace, block)
        state = State(timeline, len(timeline))
        stored = state.stored("C").reshape(C.shape)
        shown[stored] = state.values("C").reshape(C.shape)[stored]

    np.testing.assert_allclose(shown, A @ B, rtol=1e-5, atol=1e-5)


def test_shared_memory_fills_as_it_is_stored(tiled_run):
    """Before its stores a shared tile has no values, after them the tile of A; stores of other blocks are left out."""
    A, B, C = matrices(4, 4, 4)
    timeline = Timeline(tiled_run(A, B, C).trace, (0, 1, 0))
    at_load = timeline.lines.tolist().index(9) + 1

    before, after = State(timeline, at_load - 1), State(timeline, at_load)

    assert before.values("As").mask.all()
    np.testing.assert_array_equal(A[2:, :2].reshape(-1), after.values("As").filled(np.nan))
    assert after.values("Bs").mask.all()
    assert not after.stored("C").any()


def test_tiles_are_measured(naive_run, tiled_run):
    """A tiled block fetches T×T between barriers; a naive one a band of A and a band of B."""
    args = matrices(12, 8, 16)

    assert {"A": (4, 4), "B": (4, 4), "C": (4, 4)} == tiles(tiled_run(*args, 4).trace)
    assert {"A": (2, 8), "B": (8, 4), "C": (2, 4)} == tiles(naive_run(*args, block=(4, 2)).trace)


def test_the_accumulator_is_found(naive_run, tiled_run):
    """acc is updated from itself and ends in C; k, t, row and col do not."""
    for run in (naive_run, tiled_run):
        assert ("acc",) == accumulators(run(*matrices(4, 4, 4)).trace)


def test_roles_go_by_name(tiled_run):
    """A, B and C have the roles of their names; the shared tiles have none."""
    assert {"A": "A", "B": "B", "C": "C"} == roles(tiled_run(*matrices(3, 5, 4)).trace)


def test_roles_go_by_stores_and_loads_where_no_name_says_them():
    """The array that is stored is C, the first one loaded is A; an update of C loads it, too."""

    @cuda.jit
    def product(left, right, out):
        row, col = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            for k in range(left.shape[1]):
                out[row, col] += left[row, k] * right[k, col]

    run = simulate(product, trace=True)[1, (4, 4)](*matrices(3, 5, 4))
    assert {"left": "A", "right": "B", "out": "C"} == roles(run.trace)


def test_barriers_open_at_the_last_arrival(tiled_run):
    """Two warps of a block of 8×8: each release is a barrier step of warp 1, two per tile of K."""
    timeline = Timeline(tiled_run(*matrices(8, 16, 8), 8).trace, (0, 0, 0))
    released = [timeline.step(n) for n in timeline.releases]

    assert 4 == len(released)
    assert all(step.barrier and step.warp == 1 for step in released)


def test_a_lane_that_a_warp_operation_waits_for_is_located_where_its_warp_executes_that():
    """Lane 16 of the second warp never comes to it: the place has its number, and the operation's step."""

    def kernel(out):
        i = cuda.threadIdx.x
        if i < 48:
            out[i] = cuda.shfl_sync(0xFFFFFFFF, i, 0)

    run = simulate(kernel, strict=False, trace=True)[1, 64](np.zeros(64, "i4"))
    (finding,) = run.errors
    ((block, position, thread),) = locate(run.trace, finding)
    step = Timeline(run.trace, block).step(position)
    assert (thread, step.warp, step.line) == (48, 1, finding.line)


def asserts(x):
    i = cuda.threadIdx.x
    for k in range(6):
        assert k < 3 or i < 32
        x[i] = k


def passes_by(x):
    i = cuda.threadIdx.x
    for k in range(6):
        if k != 3 or i < 32:
            cuda.syncthreads()
        x[i] = k


def goes_elsewhere(x):
    i = cuda.threadIdx.x
    for k in range(6):
        if k < 3 or i < 32:
            cuda.syncthreads()
        x[i] = k


def wraps(x):
    row = x[0]
    for k in range(3, -3, -1):
        if row[k]:
            return


def leaves(x):
    row = x[0]
    for k in range(1, 6):
        if row[k]:
            return


@pytest.mark.parametrize("kernel", [asserts, passes_by, goes_elsewhere, wraps, leaves])
def test_what_goes_wrong_in_a_loop_is_located_in_its_iteration(kernel):
    """The fourth, or the next one: of a thread that waits for others, and where 3 comes before -1, the same element."""
    run = simulate(cuda.jit(debug=True, opt=False)(kernel), strict=False, trace=True)[1, 64](np.zeros((64, 4)))
    (finding,) = run.findings
    found = locate(run.trace, finding)
    assert [place.thread for place in found] == [thread[0] for _, thread in finding.threads]
    for block, position, thread in found:
        timeline = Timeline(run.trace, block)
        head = timeline.lines[:position] == timeline.statement_of(run.trace.source[0][0] + 2)
        iterations = np.count_nonzero(head & timeline.of_thread(thread)[:position])
        assert iterations - 1 == 3 + (kernel is wraps or (kernel is passes_by and thread == 32))


def test_source_leaves_out_what_no_step_runs():
    """Decorators and the docstring are removed, numbers and comments stay, and a nested function is dedented."""
    text = [
        "    @cuda.jit",
        "    def kernel(A):",
        '        """Double A.',
        "",
        '        In place."""',
        "        # one element a thread",
        "        A[0] *= 2",
    ]
    trace = Trace("kernel", (1, 1, 1), (1, 1, 1), tuple(enumerate(text, start=20)), {}, ())

    assert (
        (21, "def kernel(A):"),
        (25, "    # one element a thread"),
        (26, "    A[0] *= 2"),
    ) == shown_source(trace)


def test_a_constant_array_is_loaded_as_an_array_of_its_own_space():
    """A step that reads an array of the module, which the compiler puts into constant memory."""
    table = np.array([3, 1, 4], np.int64)

    def kernel(a):
        a[cuda.threadIdx.x] = table[cuda.threadIdx.x]

    run = simulate(kernel, trace=True)[1, 3](np.zeros(3, np.int64))
    timeline = Timeline(run.trace, (0, 0, 0))
    assert timeline.does("constant", "load").tolist() == timeline.does("global", "store").tolist() == [True]
    assert not timeline.does("global", "load").any()
