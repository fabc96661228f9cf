"""The simulator's findings beside compute-sanitizer's verdicts on the same kernels, as recorded on a GPU."""

import kernels_with_bugs as corpus
import pytest

from course_lib.machine import measurements

ROWS = {(r["kernel"], r["which"], r["tool"]): r for r in measurements.load("sanitizer").results}
#: The kernels that were judged; a new one is when somebody with a GPU runs tools/sanitize_bugs.py.
JUDGED = {kernel for kernel, *_ in ROWS}
TOOLS = {"racecheck": "race", "memcheck": "out-of-bounds", "synccheck": "barrier-divergence"}
#: racecheck takes a copy that nobody has waited for as a race with it; memcheck stops at a syncwarp without its caller,
#: and reports accesses that do not begin where their size asks for.
ALSO = {"racecheck": ("unfinished-copy",), "memcheck": ("barrier-divergence", "misaligned-access")}
#: Errors that the simulator finds and no tool reports, by the reason.
UNSEEN = {
    "racecheck watches shared memory, and these race in global memory": {
        "atomic_and_plain_read",
        "blocks_split_the_sum",
        "flag_without_atomics",
        "histogram_without_atomics",
        "initialised_by_the_first_block",
        "lock_of_each_block_for_one_sum",
        "lock_with_a_fence_of_the_block",
        "maximum_checked_then_stored",
        "missing_threadfence",
        "neighbour_block",
        "overwritten_after_a_release_without_a_fence",
        "read_outside_the_lock",
        "released_without_a_fence",
        "roots_joined_without_compare_and_swap",
        "row_index_without_block",
        "same_value_written_by_all",
        "scan_in_place",
        "scatter_to_neighbours_without_atomics",
        "stencil_in_place",
        "stride_of_one_block",
        "threadfence_of_the_block",
        "worklist_place_without_atomics",
    },
    "memcheck sees the bytes of an allocation: these miss a dimension or a local array and stay inside": {
        "inner_dimension_wraps_to_next_row",
        "local_array_out_of_bounds",
        "swapped_x_and_y",
    },
    "initcheck watches global memory, and these read shared or local words that nobody wrote": {
        "uninitialised_halo",
        "uninitialised_local",
        "uninitialised_shared_histogram",
        "uninitialised_tile_edge",
    },
    "threads that have left the kernel, or warps that skip the barrier as a whole, do not disturb this GPU's barrier": {
        "barrier_after_break",
        "barrier_in_a_device_function",
        "barrier_in_ragged_loop",
        "barrier_under_condition",
        "barrier_under_condition_of_a_warp",
        "early_return_before_barrier",
        "early_return_of_a_whole_warp",
        "reduction_barrier_inside_the_step",
    },
    "no tool asks which lanes of a warp reach an instruction for the whole warp": {
        "mma_under_condition",
        "shuffle_from_a_lane_that_left",
    },
}
#: They never end on the GPU; every tool waits in vain.
ENDLESS = {"barrier_in_the_inner_loop_under_the_guard", "locks_in_opposite_order"}
#: memcheck reports an access at the end of the locks' array, whichever lock a block waits for and however long the
#: array is. Only code for debug=True is flagged, and only if `%` computes the index: with lineinfo=True, or with
#: `& 1` for `% 2`, the kernel is not flagged. All of these compute the same.
OF_DEBUG_CODE = {"two_locks_for_one_sum"}


def errors(name, which):
    return corpus.load(name).simulated(which)[0].errors


def test_a_kernel_was_judged_by_every_tool():
    tools = ("memcheck", "racecheck", "initcheck", "synccheck")
    assert JUDGED <= {*corpus.SANITIZED}
    assert set(ROWS) == {(n, w, t) for n in JUDGED for w in ("bug", "twin") for t in tools}
    assert not [row for row in ROWS.values() if "failed" in row]


def test_no_tool_flags_a_twin():
    assert not [key for key, row in ROWS.items() if key[1] == "twin" and row["flagged"]]


@pytest.mark.parametrize("tool", TOOLS)
def test_what_a_tool_flags_the_simulator_finds(tool):
    flagged = {name for (name, which, t), row in ROWS.items() if t == tool and row["flagged"]} - ENDLESS - OF_DEBUG_CODE
    assert flagged
    for name in flagged:
        kinds = {f.kind for f in errors(name, "bug")}
        assert kinds & {TOOLS[tool], *ALSO.get(tool, ())}, name


def test_racecheck_and_the_simulator_name_the_same_lines():
    flagged = [name for (name, which, t), row in ROWS.items() if t == "racecheck" and row["flagged"]]
    for name in set(flagged) - ENDLESS:
        races = [f for f in errors(name, "bug") if f.kind in ("race", "unfinished-copy")]
        lines = {corpus.load(name).line(n) for f in races for n in (f.line, f.other_line)}
        assert lines <= set(ROWS[name, "bug", "racecheck"]["lines"]), name


def test_each_error_that_only_the_simulator_finds_has_a_reason():
    flagged = {name for (name, which, _), row in ROWS.items() if which == "bug" and row["flagged"]}
    alone = {name for name in JUDGED if name not in flagged and errors(name, "bug")}
    assert alone == set().union(*UNSEEN.values())
    assert ENDLESS <= flagged
