"""Two launches beside each other: what they do at the same common step, judged by the variables and values of each."""

import numpy as np
import pytest
from launches.samples import launch, product

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import compare
from course_lib.trace.viewer.alignment import MATCHES, Alignment, partner


@pytest.fixture(scope="module")
def runs():
    return launch("naive_16"), launch("tiled_16")


@pytest.fixture(scope="module")
def timelines(runs):
    return [Timeline(run.trace, (0, 0, 0)) for run in runs]


@pytest.mark.parametrize("match", MATCHES)
def test_every_statement_of_both_has_its_step(timelines, match):
    """A step takes each launch on by one statement at most, and one of them by one; both end alignment."""
    alignment = Alignment([(t, 5) for t in timelines], match)
    walk = np.array([alignment.positions(step) for step in range(alignment.last + 1)])
    assert walk[0].tolist() == [0, 0]
    assert walk[-1].tolist() == [len(timeline) for timeline in timelines]
    moves = np.diff(walk, axis=0)
    assert set(moves.max(axis=1).tolist()) == {1}
    assert moves.min() >= 0
    for position, _ in walk.tolist():
        assert alignment.positions(alignment.step(position))[0] == position
    for cut in alignment.cuts:
        assert alignment.positions(alignment.step(cut[0])) == cut or cut == alignment.cuts[-1]


def test_matched_by_iteration_both_multiply_the_same_k(timelines):
    """Where naive has set its k, tiled has set its own, which is the same column of A."""
    alignment = Alignment([(t, 5) for t in timelines], "iteration")
    naive, tiled = (
        [t.state(p) for p in cut] for t, cut in zip(timelines, zip(*alignment.cuts[1:-1], strict=True), strict=True)
    )
    ks = [int(state.variable("k")[5]) for state in naive]
    assert ks == list(range(16))
    assert ks == [int(state.variable("start")[5] + state.variable("k")[5]) for state in tiled]


def test_matched_by_outer_iteration_a_tile_is_beside_a_column(timelines):
    """Tiled has four tiles, and naive the first four of its sixteen iterations beside them."""
    alignment = Alignment([(t, 0) for t in timelines], "outer iteration")
    starts = [int(timelines[1].state(cut[1]).variable("start")[0]) for cut in alignment.cuts[1:-1]]
    assert starts == [0, 4, 8, 12]
    assert [int(timelines[0].state(cut[0]).variable("k")[0]) for cut in alignment.cuts[1:-1]] == [0, 1, 2, 3]


def test_matched_by_phase_each_kind_is_beside_its_own(timelines):
    """The n-th barrier of one is beside the n-th of the other; naive, which has none, waits until tiled stores C."""
    two = [Timeline(launch(name).trace, (0, 0, 0)) for name in ("tiled", "prefetched")]
    cuts = Alignment([(t, 0) for t in two], "phase").cuts[1:-1]
    passed = [[int(np.searchsorted(t.releases(), p, "right")) for t, p in zip(two, cut, strict=True)] for cut in cuts]
    after = [both for both, cut in zip(passed, cuts, strict=True) if (cut[0], "barrier") in two[0].phases[0]]
    assert after == [[1, 1], [2, 2], [3, 3], [4, 4]]
    alignment = Alignment([(t, 0) for t in timelines], "phase")
    stores = tuple(int(t.touches("C").position[t.touches("C").store].min()) for t in timelines)
    assert alignment.cuts[-2] == stores


def test_matched_by_element_both_store_the_same_element_of_c(runs):
    """In blocks of another shape it is another block and another thread that stores the element."""
    naive, wide = runs[0], product("naive", 16, 16, 16, block_width=8)()
    for block, thread in ((0, 0), (6, 9), (15, 15)):
        row, column = 4 * (block // 4) + thread // 4, 4 * (block % 4) + thread % 4
        number, who = partner(naive.trace, wide.trace, block, thread, "element")
        assert (8 * (number // 2) + who // 8, 8 * (number % 2) + who % 8) == (row, column)
        assert partner(naive.trace, wide.trace, block, thread, "phase") == (min(block, 3), thread)
    stepper = compare(naive, wide, match="element", block=(2, 1))
    alignment = stepper._alignment()
    scenes = stepper._scenes(alignment.step(alignment.cuts[1][0]))
    mine, theirs = ([(i, g.texts[i]) for g in scene.grids if g.name == "C" for i in g.mine] for scene in scenes)
    assert mine == theirs
    assert [i for i, _ in mine] == [16 * 4 + 8]


def test_a_comparison_takes_its_own_steps(runs):
    """As many as it has, more than either launch; a step beyond is refused, and a match that has fewer goes back."""
    stepper = compare(*runs, match="phase")
    last = stepper._alignment().last
    assert last > max(len(stepper.timeline), 69)
    stepper.step = last
    assert [scene.position for scene in stepper._scenes()] == [39, 69]
    stepper.match = "statement"
    assert stepper.step == 69
    with pytest.raises(Exception, match="There is no step 70"):
        stepper.step = 70
    assert '"match": "statement"' in str(stepper.get_state()).replace("'", '"')


def test_what_cannot_be_matched(runs):
    with pytest.raises(ValueError, match="cannot be matched by 'barrier'; choose from statement, iteration"):
        compare(*runs, match="barrier")
    with pytest.raises(ValueError, match=r"compute no C = A·B of one shape: match them by another of statement"):
        compare(runs[0], launch("stencil"), match="element")
    with pytest.raises(ValueError, match="of one shape"):
        compare(runs[0], launch("naive"), match="element")
