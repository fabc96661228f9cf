"""The corpus of kernels with bugs is what it says it is: judged by the per-thread reference, without the simulator."""

import kernels_with_bugs as corpus
import pytest
from nightly import every
from oracles import reference


def run(pair, which):
    """Run the bug or the twin of a pair on the reference; return the record, arguments and what stopped it."""
    grid, block = pair.launch(which)
    arguments = pair.arguments()
    record = reference.run(getattr(pair, which), grid, block, *arguments)
    return record, arguments


@pytest.mark.parametrize("name", every(3, corpus.REFERENCED))
def test_twin_is_innocent(name):
    """The twin computes the right values and breaks no rule."""
    pair = corpus.load(name)
    record, arguments = run(pair, "twin")
    assert pair.wrong(arguments) == []
    assert (record.races(), record.uninitialized) == (set(), [])
    assert (record.negative, record.out_of_bounds) == ([], [])


#: What the reference does not know. Those of asynchronous copies are judged by compute-sanitizer.
UNKNOWN = {
    "a copy is done at once": {name for name in corpus.REFERENCED if name.startswith("copy_")},
    "one thread runs after another": {"lost_update_between_two_atomics"},
    "any address can be loaded": {"wide_load_of_a_shifted_row"},
    "a syncwarp is for the lanes that arrive": {"syncwarp_without_the_caller"},
    "a value from another lane has no line": {"shuffle_from_a_lane_that_left"},
}
KNOWN = sorted({*corpus.REFERENCED}.difference(*UNKNOWN.values()))


@pytest.mark.parametrize("name", every(3, KNOWN))
def test_bug_is_guilty_as_charged(name):
    """The reference finds in the bug what the corpus expects, at the tagged lines."""
    pair = corpus.load(name)
    kinds = {e.kind for e in pair.expected}
    if "barrier-divergence" in kinds:
        with pytest.raises(reference.Divergence):
            run(pair, "bug")
    else:
        record, arguments = run(pair, "bug")
        for expected in pair.expected:
            assert_found(expected, pair, record, arguments)


def assert_found(expected, pair, record, arguments):
    noted = {"uninitialized-read": record.uninitialized, "negative-index": record.negative}
    noted["out-of-bounds"] = record.out_of_bounds
    if expected.kind == "race":
        pairs = {(array, line, other) for array, lines in record.races()
                 for line in lines for other in (lines - {line} or lines)}  # fmt: skip
        wanted = {(expected.array, a, b) for a in expected.lines for b in expected.other_lines}
        assert wanted & pairs
    elif expected.kind in noted:
        assert {(expected.array, line) for line in expected.lines} & set(noted[expected.kind])
    elif expected.kind == "wrong-value":
        assert pair.wrong(arguments)
    elif expected.kind == "extra-stores":
        twin = run(pair, "twin")[0]
        stores = {"space": "global", "op": "store"}
        assert record.counts(**stores)["accesses"] > twin.counts(**stores)["accesses"]
    elif expected.kind == "unseen":
        assert record.races() == set() and pair.wrong(arguments) == []
    else:
        assert expected.kind == "float64"
