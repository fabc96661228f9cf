"""The two tracks under the picture, in Node.js: held against the statements' order, counted here line by line."""

import json
from pathlib import Path

import numpy as np
import pytest
from launches import samples as launches
from launches.samples import launch, product
from oracles.tracks import bars_of, lines_with, runs_of

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.payload import encode

WEB = Path(__file__).parents[3] / "course_lib" / "trace" / "viewer" / "web"
TRACKS = """
const [folder, cycles] = process.argv.slice(1);
const { open } = await import(`${folder}/trace.js`);
const { overlappedPairs, tracksOf } = await import(`${folder}/tracks.js`);
const trace = await open((await import("node:fs")).readFileSync(0, "utf8"));
const of = (block) => tracksOf(block, cycles ? JSON.parse(cycles) : null);
console.log(JSON.stringify(trace.blocks.map((block) => {
  const tracks = of(block);
  const { loads, multiplies, end } = tracks;
  return { loads, multiplies, end, ahead: overlappedPairs(tracks) };
})));
"""


@pytest.fixture
def tracks(node):
    """Of each block of a trace, its tracks, by the steps' order or by the cycles at which they end."""

    def read(trace, cycles=None):
        more = [] if cycles is None else [json.dumps([*map(int, cycles)])]
        said = node("--input-type=module", "-e", TRACKS, str(WEB), *more, given=encode(trace))
        return json.loads(said)

    return read


#: Launches, and how deep their tiles are; the last two hold several results in each thread.
TILED = {
    "tiled": (launches.LAUNCHES["tiled"], 2),
    "tiled_16": (launches.LAUNCHES["tiled_16"], 4),
    "tiled_two_warps": (launches.LAUNCHES["tiled_two_warps"], 8),
    "prefetched": (launches.LAUNCHES["prefetched"], 2),
    "prefetched_16": (launches.LAUNCHES["prefetched_16"], 4),
    "register_1d": (product("register_1d", 64, 16, 64), 8),
    "register_2d": (product("register_2d", 128, 16, 128), 8),
}


@pytest.mark.parametrize("name", TILED)
def test_a_bar_for_each_pair_of_tiles(tracks, name):
    """Loads last from the first load of a pair to the barrier after its last store; products from first to last."""
    run, depth = TILED[name]
    trace = run().trace
    pairs, buffers = -(-trace.arrays["A"].shape[1] // depth), 2 if "A_tiles" in trace.arrays else 1
    for at, shown in zip(trace.columns.blocks.tolist(), tracks(trace), strict=True):
        loads, multiplies = bars_of(Timeline(trace, tuple(at)), pairs)
        assert [(bar["from"], bar["to"]) for bar in shown["loads"]] == loads
        assert [(bar["from"], bar["to"]) for bar in shown["multiplies"]] == multiplies
        assert [bar["pair"] for bar in shown["loads"]] == [*range(pairs)]
        assert len({bar["buffer"] for bar in shown["loads"]}) == buffers
        overlaps = [
            load["from"] < product["to"] and product["from"] < load["to"]
            for load in shown["loads"]
            for product in shown["multiplies"]
        ]
        assert any(overlaps) == (buffers == 2), "one buffer alternates, two overlap"
        assert shown["ahead"] == [pairs - 1 if buffers == 2 else 0, pairs], "all but the last pair"


def test_guarded_tiles_have_the_bars_of_their_pairs(tracks):
    """Of matrices that no tile divides; of a pair whose elements are all outside there is no load."""
    run = product("tiled", 5, 7, 6, tile_width=4)()
    for shown in tracks(run.trace):
        assert [bar["pair"] for bar in shown["loads"]] == [0, 1] == [bar["pair"] for bar in shown["multiplies"]]
        starts = [bar["from"] for pair in zip(shown["loads"], shown["multiplies"], strict=True) for bar in pair]
        assert starts == sorted(starts)


def test_in_a_race_each_tile_has_its_own_bar(tracks):
    """Without the second barrier, warps store the next pair while others multiply: the bars overlap."""
    trace = launch("racy").trace
    shown = tracks(trace)[0]
    K, T = trace.arrays["A"].shape[1], next(a for a in trace.arrays.values() if a.space == "shared").shape[-1]
    pairs = [*range(-(-K // T))]
    assert [bar["pair"] for bar in shown["loads"]] == pairs == [bar["pair"] for bar in shown["multiplies"]]
    assert any(
        load["from"] < bar["to"] <= load["to"]
        for load, bar in zip(shown["loads"][1:], shown["multiplies"], strict=False)
    )


def test_register_tiles_multiply_between_their_loads(tracks):
    """A tile of A for each 16 columns, then B's elements one after another, each loaded before it is used."""
    trace = product("outer_product", 16, 32, 64)().trace
    shown = tracks(trace)[0]
    timeline = Timeline(trace, tuple(trace.columns.blocks[0].tolist()))
    tiles = [bar for bar in shown["loads"] if bar["pair"] is not None]
    others = [bar for bar in shown["loads"] if bar["pair"] is None]
    assert [bar["pair"] for bar in tiles] == [0, 1] == [bar["pair"] for bar in shown["multiplies"]]
    steps = sorted(step for warp in runs_of(timeline, lines_with(trace, "b = B[")) for each in warp for step in each)
    covered = {step for bar in others for step in range(bar["from"], bar["to"])}
    adds = {step for warp in runs_of(timeline, lines_with(trace, "acc[i] +=")) for each in warp for step in each}
    assert [bar["from"] for bar in others] == steps and covered >= set(steps)
    assert not covered & adds, "a value has arrived when it is used"


def test_a_load_that_feeds_its_own_statement_comes_before_its_multiply_add(tracks):
    """The naive kernel loads and multiplies in one statement: each has half of it."""
    trace = launch("naive_ragged").trace
    for at, shown in zip(trace.columns.blocks.tolist(), tracks(trace), strict=True):
        timeline = Timeline(trace, tuple(at))
        adds = sorted(step for warp in runs_of(timeline, lines_with(trace, "acc +=")) for each in warp for step in each)
        assert [(bar["from"], bar["to"]) for bar in shown["loads"]] == [(step, step + 0.5) for step in adds]
        assert [(bar["from"], bar["to"]) for bar in shown["multiplies"]] == [(step + 0.5, step + 1) for step in adds]


def test_without_multiply_adds_nothing_is_multiplied(tracks):
    """A copy has loads alone."""
    shown = tracks(launch("transpose").trace)[0]
    assert shown["loads"] and not shown["multiplies"]


def test_in_another_order_bars_are_in_its_cycles(tracks):
    """Cycles that a caller hands over replace the steps: warps that run at once end at the same cycle."""
    trace = launch("tiled_two_warps").trace
    timeline = Timeline(trace, (0, 0, 0))
    counts = np.zeros(timeline.warps.max() + 1, int)
    cycles = np.zeros(len(timeline), int)
    for i, warp in enumerate(timeline.warps.tolist()):
        counts[warp] += 10
        cycles[i] = counts[warp]
    shown = tracks(trace, cycles)[0]
    assert shown["end"] == cycles.max()
    (first, _), loads = shown["loads"], lines_with(trace, "= A[")
    assert first["from"] == min(cycles[np.flatnonzero(timeline.lines == loads[0])]) - 10
    assert first["to"] == max(cycles[: timeline.releases[0]])


HELD = """
const [folder] = process.argv.slice(1);
const { open } = await import(`${folder}/trace.js`);
const { copiesOf } = await import(`${folder}/tracks.js`);
const { operandsOf } = await import(`${folder}/operands.js`);
const trace = await open((await import("node:fs")).readFileSync(0, "utf8"));
console.log(JSON.stringify(trace.blocks.map((block) => [copiesOf(block).held, operandsOf(block)])));
"""


def held_of(node, trace):
    return json.loads(node("--input-type=module", "-e", HELD, str(WEB), given=encode(trace)))


def test_registers_hold_the_next_pair_from_its_loads_to_its_stores(node):
    """For each warp, the i-th execution of a load's line and of its variable's store; none in the tiled kernel."""
    trace = launch("prefetched").trace
    for at, (held, _) in zip(trace.columns.blocks.tolist(), held_of(node, trace), strict=True):
        timeline = Timeline(trace, tuple(at))
        wanted = []
        for name in "AB":
            lines = [*lines_with(trace, f"= {name}["), *lines_with(trace, f"= {name.lower()}_next")]
            wanted += [pair for warp in runs_of(timeline, lines) for pair in zip(*warp, strict=False)]
        assert sorted((each["load"], each["store"]) for each in held) == sorted(wanted)
    assert all(not held for held, _ in held_of(node, launch("tiled").trace))


def test_a_register_that_feeds_several_multiply_adds(node):
    """The element of B in the outer product: each load of a warp, and the multiply-adds up to its next."""
    trace = product("outer_product", 16, 32, 64)().trace
    for at, (_, operands) in zip(trace.columns.blocks.tolist(), held_of(node, trace), strict=True):
        timeline = Timeline(trace, tuple(at))
        (load,), (add,) = lines_with(trace, "b = B["), lines_with(trace, "acc[i] +=")
        wanted = []
        for warp, (loads, adds) in enumerate(runs_of(timeline, [load, add])):
            for start, end in zip(loads, [*loads[1:], len(timeline)], strict=True):
                uses = [step for step in adds if start < step < end]
                wanted.append({"warp": warp, "loaded": start, "uses": uses})
        (operand,) = operands
        assert operand["name"] == "b" and operand["most"] == max(len(each["uses"]) for each in wanted) > 1
        assert sorted(operand["held"], key=lambda each: each["loaded"]) == sorted(
            wanted, key=lambda each: each["loaded"]
        )
    assert all(not operands for _, operands in held_of(node, launch("tiled").trace))
