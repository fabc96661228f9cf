"""The trace as it is sent to the browser, read back by a reader that shares no code with the writer."""

import numpy as np
import pytest
from launches.decode import Payload
from launches.samples import launch, numbers
from nightly import at_night

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.trace.viewer import payload
from course_lib.trace.viewer.payload import encode


def store(C, row, column, value):
    C[row, column] = value


def one_store(shape, value, index=(0, 0), dtype="float32"):
    """A trace of one thread that stores one value."""
    return simulate(store, trace=True)[1, 1](np.zeros(shape, dtype), *index, np.dtype(dtype).type(value)).trace


@pytest.mark.parametrize(
    ("name", "M", "K", "N"),
    [("naive_ragged", 3, 5, 3), ("tiled_two_warps", 8, 16, 8), at_night("vectorized", 128, 16, 128)],
)
def test_the_product_can_be_replayed_from_what_was_sent(name, M, K, N):
    """The stores of the payload make C = A·B out of the zeros that it begins with."""
    sent = Payload(encode(launch(name).trace))
    np.testing.assert_array_equal(sent.after("C"), numbers(M, K) @ numbers(K, N, seed=1))


def test_arrays_of_any_order_are_replayed():
    """Elements are numbered by rows whatever lies next to what in memory."""
    A, B = np.asfortranarray(numbers(5, 6)), np.asfortranarray(numbers(6, 7, seed=1))
    C = np.zeros((5, 7), np.float32, order="F")
    step = rung("naive")
    run = simulate(step.make(), trace=True)[step.launch(5, 7, 6, block_width=4)](A, B, C)
    sent = Payload(encode(run.trace))
    np.testing.assert_array_equal(sent.after("C"), A @ B)
    assert {a["name"]: a["strides"] for a in sent.head["arrays"]} == {"A": [1, 5], "B": [1, 6], "C": [1, 5]}


def test_atomics_send_what_memory_holds_afterwards():
    """A histogram's bins hold their counts, not the ones that were added."""
    sent = Payload(encode(launch("histogram").trace))
    counts = np.bincount(numbers(50).astype(int), minlength=10)
    np.testing.assert_array_equal(sent.after("counts"), counts)


@pytest.mark.parametrize(
    "name", ["tiled", "bank_conflicts", at_night("padded"), at_night("vectorized"), "transpose", "outer_product"]
)
def test_the_figures_of_all_requests_add_up_to_the_traffic(name):
    """Accesses, requests, sectors, wavefronts and conflicts, line by line, as the observers counted them."""
    run = launch(name)
    sent = Payload(encode(run.trace))
    counted = {}
    for step in range(len(sent["step_line"])):
        for a in range(sent["step_access"][step], sent["step_access"][step + 1]):
            array = sent.head["arrays"][sent["access_array"][a]]
            key = (int(sent["step_line"][step]), array["name"], ("load", "store", "atomic")[sent["access_op"][a]])
            figures = [int(sent["access_lanes"][a]).bit_count(), 1]
            figures += [int(sent[f"access_{what}"][a]) for what in ("sectors", "wavefronts", "conflicts")]
            counted[key] = [x + y for x, y in zip(counted.get(key, [0] * 5), figures, strict=True)]
    rows = {
        (r.line, r.array, r.op): [r.accesses, r.requests, r.sectors, r.wavefronts, r.bank_conflicts]
        for r in run.traffic.rows
    }
    assert rows == counted
    assert [vars(row) for row in run.traffic.rows] == sent.head["traffic"]


@pytest.mark.parametrize(
    ("name", "kind", "places"),
    [("racy", "race", 2), ("race_in_a_warp", "race", 2), ("out_of_bounds", "out-of-bounds", 1)],
)
def test_findings_come_with_their_places(name, kind, places):
    """A finding names its steps, and the thread that made each was active there."""
    run = launch(name)
    sent = Payload(encode(run.trace))
    findings = [f for f in sent.head["findings"] if f["kind"] == kind]
    assert [(f.line, f.message) for f in run.findings if f.kind == kind] == [
        (f["line"], f["message"]) for f in findings
    ]
    for finding in findings:
        assert places == len(finding["at"])
        for place, line in zip(finding["at"], (finding["line"], finding["other_line"]), strict=False):
            block = sent.head["blocks"][place["block"]]
            row = block["first"] + place["step"] - 1
            warp, lane = divmod(place["thread"], 32)
            assert warp == sent["step_warp"][row]
            assert int(sent["step_lanes"][row]) >> lane & 1
            assert sent["step_line"][row] in (line, finding["line"], finding["other_line"])


def test_misses_are_sent():
    """The last thread with an element reads x[50], which is outside; those behind it store beyond the end too."""
    sent = Payload(encode(launch("out_of_bounds").trace))
    misses = {}
    for step in range(len(sent["step_line"])):
        for row in range(sent["step_outside"][step], sent["step_outside"][step + 1]):
            array = sent.head["arrays"][sent["outside_array"][row]]["name"]
            lanes = [lane for lane in range(32) if int(sent["outside_lanes"][row]) >> lane & 1]
            index = sent.spread(sent["outside_index"][row], len(lanes))
            misses |= {(array, lane): at for lane, (at,) in zip(lanes, index, strict=True)}
    of_x = {("x", lane): lane + 33 for lane in range(17, 32)}
    assert misses == of_x | {("out", lane): lane + 32 for lane in range(18, 32)}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_json_lacks(value):
    """nan and the infinities are in the columns as they are."""
    np.testing.assert_array_equal(Payload(encode(one_store((2, 3), value))).after("C")[0, 0], np.float32(value))


@pytest.mark.parametrize(
    ("value", "dtype", "sent"),
    [(2**40 + 1, "int64", 2**40 + 1), (2**60, "int64", str(2**60)), (1 + 2j, "complex64", "(1+2j)"), (7, "uint8", 7)],
)
def test_values_keep_their_digits(value, dtype, sent):
    """What no JavaScript number holds is sent as text."""
    ((_, _, _, _, values),) = Payload(encode(one_store((2, 3), value, dtype=dtype))).accesses(0)
    assert [sent] == values


def test_negative_index_counts_from_the_end():
    """numba wraps C[-1, -1] to the last element; so does the picture."""
    sent = Payload(encode(one_store((2, 3), 7, index=(-1, -1))))
    assert [5] == [element for *_, elements, _ in sent.accesses(0) for element in elements]


def test_arrays_too_large_to_draw(monkeypatch):
    """The refusal names the array, its size, the limit and the way out."""
    monkeypatch.setattr(payload, "MAX_ELEMENTS", 100)
    with pytest.raises(ValueError, match=r"195 elements \(C is 65 × 3\).*at most 100.*smaller launch"):
        encode(one_store((65, 3), 1))


def test_trace_too_large_to_send(monkeypatch):
    """The refusal names the limit and the way out."""
    monkeypatch.setattr(payload, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"takes more than the 0 MB.*fewer blocks"):
        encode(one_store((65, 3), 1))


@pytest.mark.nightly
def test_the_largest_kernel_can_be_sent():
    """A launch of best, the smallest that fills a block, is not refused."""
    assert encode(launch("best").trace)
