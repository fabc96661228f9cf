"""The history of warps and buffers, with which the page's is compared."""

from launches.samples import launch
from oracles.strips import strips

from course_lib.trace.replay import Timeline


def test_a_buffer_is_stored_while_the_other_is_read():
    """In prefetching with one warp, each tile is stored, held and read from one buffer, then from the other."""
    timeline = Timeline(launch("prefetched").trace, (0, 0, 0))
    spans = dict(strips(timeline))
    assert set(spans) == {"warp 0", "A_tiles[0]", "A_tiles[1]", "B_tiles[0]", "B_tiles[1]"}
    lives = {name: [what for _, _, what in spans[name]] for name in spans}
    tile = ["store A_tiles", "held", "load A_tiles", "held", "load A_tiles"]
    assert lives["A_tiles[0]"] == 2 * tile
    assert lives["A_tiles[1]"] == [*tile, *tile, "store A_tiles"]  # of the iteration after the last nothing is read
    first, second = spans["A_tiles[0]"], spans["A_tiles[1]"]
    free = range(first[4][1], first[5][0])  # between the two tiles of the first buffer
    assert any(start in free for start, _, what in second if what.startswith("load"))
