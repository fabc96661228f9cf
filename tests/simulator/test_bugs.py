"""Every kernel with a bug is caught, at its lines, and its innocent twin is silent and right."""

import kernels_with_bugs as corpus
import pytest
from kernels_with_bugs import case

from course_lib import simulate


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


@pytest.mark.parametrize("row", ["a: b\n- x -> y\n", "a: b\n? race", "a: b\nrace\n- x -> y"])
def test_a_row_changes_something_and_expects_something(row):
    with pytest.raises(ValueError, match="nothing is"):
        case.bug(row, next(iter(case.BUGS)))


@pytest.mark.parametrize("old", ["s[t]", "s[t + 1]", "s[t] = 1\nt = 2"])
def test_an_edit_applies_once(old):
    """Not where its text stands twice, or never."""
    with pytest.raises(LookupError, match="stands [02] times"):
        case.edited("def f(s):\n    s[t] = 1\n    s[t] = 2\n", old, "")


def test_lines_of_an_edit_are_indented_as_the_first_one():
    text = "if a:\n    x = 1\n    y = 2\nz = 3\n"
    assert case.edited(text, "x = 1\ny = 2", "if b:\n    x = 3") == "if a:\n    if b:\n        x = 3\nz = 3\n"
    assert case.edited(text, "y = 2", "") == "if a:\n    x = 1\nz = 3\n"


def stores(result):
    return result.traffic.select(space="global", op="store").accesses


@pytest.mark.parametrize("name", corpus.NAMES)
def test_twin_is_silent(name):
    """No finding of any kind, and the values are NumPy's."""
    pair = corpus.load(name)
    result, arguments = pair.simulated("twin")
    assert result.findings == ()
    assert pair.wrong(arguments) == []


@pytest.mark.parametrize("name", [n for n in corpus.NAMES if n.startswith(("missing", "off_by", "different"))])
def test_strict_raises(name):
    """By default the launch raises one short error that names the line, and still carries the run."""
    from course_lib import KernelError

    pair = corpus.load(name)
    grid, block = pair.launch("bug")
    with pytest.raises(KernelError) as caught:
        simulate(pair.bug)[grid, block](*pair.arguments())
    assert any(str(f.line) in str(caught.value) for f in caught.value.run.findings)
    assert caught.value.run.findings == pair.simulated("bug")[0].findings
