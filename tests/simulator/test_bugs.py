"""Every kernel with a bug is caught, at its lines, and its innocent twin is silent and right."""

import kernels_with_bugs as corpus
import pytest


def matches(finding, expected):
    """Say whether a finding is the expected one: kind, both lines and array."""
    if finding.kind != expected.kind or expected.array not in (None, finding.array):
        return False
    if not expected.other_lines:
        return finding.line in expected.lines
    other = finding.line if finding.other_line is None else finding.other_line
    one_way = finding.line in expected.lines and other in expected.other_lines
    symmetric = finding.kind == "race" or len(expected.other_lines) == len(expected.lines) == 1
    other_way = finding.line in expected.other_lines and other in expected.lines
    return one_way or (symmetric and other_way)


@pytest.mark.parametrize("name", corpus.NAMES)
def test_bug_is_caught(name):
    """The findings name what is wrong and where; nothing else is found."""
    pair = corpus.load(name)
    result, arguments = pair.simulated("bug")
    found = [(f.kind, f.line, f.other_line, f.array) for f in result.findings]
    for expected in pair.expected:
        if expected.kind == "wrong-value":
            assert pair.wrong(arguments)
        elif expected.kind == "extra-stores":
            assert stores(result) > stores(pair.simulated("twin")[0])
        elif expected.kind == "unseen":
            assert (result.findings, pair.wrong(arguments)) == ((), [])
        else:
            assert any(matches(f, expected) for f in result.findings), (expected, found)
    assert {f.kind for f in result.findings} <= pair.kinds - set(corpus.SILENT_KINDS), found


def stores(result):
    return result.traffic.select(space="global", op="store").accesses


@pytest.mark.parametrize("name", corpus.NAMES)
def test_twin_is_silent(name):
    """No finding of any kind, and the values are NumPy's."""
    pair = corpus.load(name)
    result, arguments = pair.simulated("twin")
    assert result.findings == ()
    assert pair.wrong(arguments) == []
