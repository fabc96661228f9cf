"""The history of warps and buffers: spans compared with a simple reading of the steps, one by one."""

import pytest
from launches.samples import launch
from oracles.strips import strips as strips_of
from oracles.strips import waiting

from course_lib.trace.replay import Timeline

NAMES = ["naive_ragged", "tiled_two_warps", "prefetched", "reduction", "histogram", "transpose", "divergent", "racy"]


@pytest.fixture(params=NAMES)
def timeline(request):
    trace = launch(request.param).trace
    return Timeline(trace, tuple(trace.columns.blocks[-1].tolist()))


def what_a_step_does(timeline, step):
    """Return the step's access to the farthest memory, stores before loads; an arrival at a barrier above all."""
    if step.barrier:
        return "barrier"
    arrays = timeline.trace.arrays
    order = ["shared load", "shared store", "global load", "global store"]
    best, said = -1, "other"
    for access in step.accesses:
        op = "load" if access.op == "load" else "store"
        place = f"{arrays[access.array].space} {op}"
        if place in order and order.index(place) > best:
            best, said = order.index(place), f"{op} {access.array}"
    return said


def test_a_warp_does_what_its_steps_do(timeline):
    """Every statement is in one span, that of its own warp and of its kind; between them the warp only waits."""
    strips = dict(strips_of(timeline))
    for position in range(1, len(timeline) + 1):
        step = timeline.step(position)
        for name, spans in strips.items():
            if not name.startswith("warp "):
                continue
            here = [what for first, last, what in spans if first < position <= last and what != "wait"]
            assert here == ([what_a_step_does(timeline, step)] if name == f"warp {step.warp}" else []), position


def test_a_warp_waits_from_its_arrival_until_the_barrier_opens(timeline):
    """The warps that wait after a step are those that have arrived since the last opening, and the spans agree."""
    strips = dict(strips_of(timeline))
    arrived = set()
    for position in range(1, len(timeline) + 1):
        step = timeline.step(position)
        if step.barrier:
            arrived.add(step.warp)
        if position in timeline.releases():
            arrived = set()
        assert set(waiting(timeline, position)) == arrived
        said = {
            int(name[5:])
            for name, spans in strips.items()
            for first, last, what in spans
            if what == "wait" and first <= position < last
        }
        ends = {int(name[5:]) for name, spans in strips.items() if (position - 1, position, "barrier") in spans}
        assert said - ends == arrived - ends, position


def test_spans_are_in_order_and_do_not_overlap(timeline):
    for name, spans in strips_of(timeline):
        ends = [0, *(last for _, last, _ in spans)]
        assert all(first >= end for (first, _, _), end in zip(spans, ends, strict=False)), name
        assert all(first < last for first, last, _ in spans), name
        assert ends[-1] <= len(timeline)


def test_a_buffer_is_stored_while_the_other_is_read():
    """In prefetching with one warp, each tile is stored, held and read from one buffer, then from the other."""
    timeline = Timeline(launch("prefetched").trace, (0, 0, 0))
    strips = dict(strips_of(timeline))
    assert set(strips) == {"warp 0", "A_tiles[0]", "A_tiles[1]", "B_tiles[0]", "B_tiles[1]"}
    lives = {name: [what for _, _, what in strips[name]] for name in strips}
    tile = ["store A_tiles", "held", "load A_tiles", "held", "load A_tiles"]
    assert lives["A_tiles[0]"] == 2 * tile
    assert lives["A_tiles[1]"] == [
        *tile,
        *tile,
        "store A_tiles",
    ]  # nothing that the iteration after the last fetches is read
    first, second = strips["A_tiles[0]"], strips["A_tiles[1]"]
    free = range(first[4][1], first[5][0])  # between the two tiles of the first buffer
    assert any(start in free for start, _, what in second if what.startswith("load"))
