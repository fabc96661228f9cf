"""A finding's kind, severity, key and rank come from one table."""

import pytest

from course_lib.simulator.findings import KINDS, Finding


def test_severity_is_the_kinds():
    for name, kind in KINDS.items():
        assert Finding(name, 3, "what").severity == kind.severity
    with pytest.raises(TypeError):
        Finding("race", 3, "what", severity="warning")


def test_a_kind_that_is_not_in_the_table_is_refused():
    with pytest.raises(ValueError, match="no kind of finding is called 'rase'; there are out-of-bounds, "):
        Finding("rase", 3, "what")


def test_rank_puts_errors_first_and_causes_before_what_follows_from_them():
    found = [
        Finding("float64", 1, ""),
        Finding("race", 4, "", array="B"),
        Finding("race", 4, "", array="A"),
        Finding("uninitialized-read", 4, ""),
        Finding("out-of-bounds", 4, ""),
        Finding("uninitialized-read", 2, ""),
    ]

    ranked = sorted(found, key=lambda finding: finding.rank)

    assert [(f.line, f.kind, f.array) for f in ranked] == [
        (2, "uninitialized-read", None),
        (4, "out-of-bounds", None),
        (4, "race", "A"),
        (4, "race", "B"),
        (4, "uninitialized-read", None),
        (1, "float64", None),
    ]
