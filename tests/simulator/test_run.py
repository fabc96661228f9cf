"""How a run shows itself: which counts stand in its table and beside its source."""

import numpy as np
import pytest

from course_lib import simulate
from course_lib.kernels.tiled import tiled


@pytest.fixture(scope="module")
def run():
    A = np.arange(16, dtype=np.float32).reshape(4, 4)
    return simulate(tiled(2))[(2, 2), (2, 2)](A, A, np.zeros_like(A))


def heads(text, first):
    """The words of the first line that begins with `first`."""
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [first])


def test_a_table_has_every_count_unless_told(run):
    assert repr(run).startswith("tiled: grid 2×2, block 2×2\n") and repr(run).endswith("\nno findings")
    assert heads(repr(run), "line")[4:] == ["accesses", "requests", "sectors", "wavefronts", "conflicts"]
    assert heads(repr(run.source), "line") == ["line", "accesses", "requests", "sectors", "wavefronts"]


def test_only_leaves_out_columns_and_nothing_else(run):
    """The numbers stay the run's own, in the order of the table, and the run itself still shows everything."""
    few = run.only("sectors", "accesses")

    assert heads(repr(few), "line")[4:] == ["accesses", "sectors"]
    assert heads(repr(few.source), "line") == ["line", "accesses", "sectors"]
    assert few.traffic is run.traffic and few.findings is run.findings
    full, cut = repr(run).splitlines(), repr(few).splitlines()
    assert len(full) == len(cut)
    for whole, part in zip(full[2:-1], cut[2:-1], strict=True):
        words = whole.split()
        assert part.split() == [*words[:5], words[6]]
    assert "requests" in repr(run)


def test_only_holds_for_the_html_too(run):
    few = run.only("accesses")
    for shown in (few, few.source):
        assert "accesses" in shown._repr_html_() and "requests" not in shown._repr_html_()
    assert "requests" in run._repr_html_() and "requests" in run.source._repr_html_()
    assert all(row.count("<td") == 2 for row in few.source._repr_html_().split('<th scope="row">')[1:])
    assert 'style="text-align:left">source</th>' in few.source._repr_html_()  # above the lines, which begin there


def test_a_finding_spans_every_column_of_a_short_table():
    def store_beyond(A):
        A[4] = 1

    source = simulate(store_beyond, strict=False)[1, 1](np.zeros(4)).only("accesses").source
    assert 'colspan="2"' in source._repr_html_()
    assert "^ out-of-bounds" in repr(source)


@pytest.mark.parametrize("names, said", [(("loads",), "'loads' is not counted"), ((), "no count is named")])
def test_a_count_that_does_not_exist_is_named(run, names, said):
    for shown in (run, run.source):
        with pytest.raises(ValueError, match=f"{said}; a run counts accesses, requests, sectors"):
            shown.only(*names)
