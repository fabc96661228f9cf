"""What the page shows of a launch is what the scene says: every grid, request, count and word, step by step."""

import json
import re

import numpy as np
import pytest
from launches.samples import product
from nightly import NIGHTLY, at_night, every
from oracles.replay import assignments
from oracles.scene import Scene
from playwright.sync_api import expect

from course_lib.simulator.launch_shape import coordinates
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.lane_exchanges import Exchanged

# Large launches take seconds on the Python side, so a few of their steps stand for all. By default those that another
# one resembles are left out: best has the registers of outer_product, and padded is bank_conflicts without conflicts.
STEPS = {"bank_conflicts": 4, "outer_product": 6, "racy": 12, "tensor_cores": 6, "groups_in_flight": 4,
         "naive_ragged": 40, "tiled": 40}  # fmt: skip
LEFT_OUT = {"best": 2, "padded": 4, "register_2d": 3, "vectorized": 3, "eight_blocks_a_side": 6}
#: At most so many steps of the others.
MANY = 40 if NIGHTLY else 6
SMALL = ("tiled_two_warps", "reduction", "histogram", "transpose", "returns_early",
         "race_in_a_warp", "out_of_bounds_2d", "divergent", "odd_blocks", "three_dimensions", "complex",
         "large_integers", "exchanges", "exchange", "lock", "four_blocks_a_side", "uninitialized",
         "prefetched")  # fmt: skip
RESEMBLED = ("stencil", "device_function", "out_of_bounds", "half", "one_thread", "shuffles")


def steps_of(name, timeline):
    """The steps to look at: all of a short walk, and always the ends and those at which a rule is broken."""
    last = len(timeline)
    count = min((STEPS | LEFT_OUT).get(name, MANY), last)
    chosen = {int(step) for step in np.linspace(0, last, count + 1)}
    found = {p for _, positions in Scene(timeline, 0, 0).findings for p in positions}
    lines = {operation.line for operation in timeline.trace.matrices}
    multiply = [step for step in range(1, last + 1) if lines and timeline.step(step).line in lines]
    arrived = (np.flatnonzero(timeline.does("local", "result"))[:1] + 1).tolist()
    return sorted(chosen | set(sorted(found)[:6]) | {*multiply[:2], *multiply[-2:], *arrived})


def on_page(page, step, run=0):
    """What the page shows at a step, without the hint at the keys and the kernel's name that only a page gives."""
    text = page.evaluate(  # as a text, which Playwright does not look through
        """([step, run]) => {
          window.model.set("step", step);
          return JSON.stringify(shown(run));
        }""",
        [step, run],
    )
    state = json.loads(text)
    state["says"] = state["says"].removesuffix(" Space plays and stops, → steps.")
    return state


def used(wanted):
    """The registers that the current line uses or the step has set."""
    text = next((text for line, text, *_ in wanted["source"] if line == wanted["line"]), "")
    words = {*wanted["changed"], *re.findall(r"[A-Za-z_]\w*", text)}
    return [[name, value] for name, value in wanted["registers"] if name in words]


def compare_grid(shown, wanted, scale=None):
    """Texts and dots only where the page has room for them; ``scale``: of the colours, where another run shares it."""
    where = wanted["name"]
    assert shown["states"] == wanted["states"], where
    assert (shown["rows"], shown["columns"]) == (wanted["rows"], wanted["columns"]), where
    if shown["texts"] is not None and wanted["texts"] is not None:
        assert shown["texts"] == wanted["texts"], where
    assert shown["mine"] == wanted["mine"], where
    if len(wanted["dots"]) <= 256:
        assert shown["dots"] == wanted["dots"], where
    assert shown["outside"] == [list(place) for place in wanted["outside"]], where
    for marks in ("wrong", "frame", "owned", "owned_by_warp"):
        assert shown[marks] == wanted[marks], (where, marks)
    if wanted["counts"] is not None:
        assert (shown["counts"], shown["most"]) == (wanted["counts"], wanted["most"] and (scale or wanted["most"])), (
            where
        )
    if wanted["filled"] is not None:
        assert shown["counts"] == wanted["filled"], where
    assert shown["tile"] in (wanted["tile"], None), where  # left out where its lines would lie too close


def compare_exchanges(shown, wanted, where):
    """What each lane gives and gets in words, and a line for each value that goes from a lane to one."""
    assert [each["says"] for each in shown] == [each["says"] for each in wanted], where
    for drawn, each in zip(shown, wanted, strict=True):
        exchange = Exchanged(*(each[name] for name in ("operation", "gave", "source", "got")))
        actions = [" ".join(exchange.action(lane) or ["takes no part"]) for lane in range(32)]
        assert drawn["gets"] == actions, where
        pairs = [
            [s, lane] for lane, s in enumerate(each["source"]) if s is not None and each["got"][lane] != "undefined"
        ]
        assert sorted(drawn["lines"]) == sorted(pairs), where
        gives = [f"gives {text}" if text is not None else "takes no part" for text in each["gave"]]
        assert drawn["gives"] == (gives if any(s is not None for s in each["source"]) else []), where


def compare_scene(shown, wanted, where):
    """Sentence, findings, registers, grids, requests, strips."""
    assert shown["says"] == wanted["says"], where
    assert shown["line"] == wanted["line"], where
    assert shown["source"] == [[line, runs, loads] for line, _, runs, loads in wanted["source"]], where
    assert (shown["registers"], sorted(shown["changed"])) == (used(wanted), wanted["changed"]), where
    assert shown["truth"] == wanted["truth"], where
    assert shown["ticks"] == wanted["ticks"], where
    costs = [
        [*row[: 5 if row[0] == "global" else 6], pytest.approx(row[4] / row[3] if row[3] else 0, abs=0.0051), row[6]]
        for row in wanted["costs"]
    ]
    assert sorted([*shown["costs"], *shown.get("bank_costs", [])]) == costs, where
    assert (shown.get("found", []), shown["broken"]) == (wanted["found"], wanted["broken"]), where
    assert shown["where"] == wanted["where"], where
    assert shown["who"] == wanted["who"], where
    compare_exchanges(shown["exchanges"], wanted["exchanges"], where)
    assert shown["strips"] == wanted["strips"], where
    assert shown["timeline"] == [strip for strip in wanted["strips"] if strip[0].startswith("warp ")], where
    assert shown["waiting"] == wanted["waiting"], where
    assert shown.get("matrices", []) == wanted["matrices"], where
    assert shown.get("in_flight", "") == wanted["in_flight"], where
    assert len(shown["findings"]) == len(wanted["findings"]), where
    grids = {grid["name"]: grid for grid in [*shown["grids"], *shown["variables"]]}
    for grid in wanted["grids"]:
        compare_grid(grids[grid["name"]], grid)
    requests = [*shown["requests"], *shown.get("banked", [])]
    key = lambda request: (request["says"], str(request["lanes"]))  # noqa: E731
    assert sorted(requests, key=key) == sorted(wanted["requests"], key=key), where


@pytest.mark.parametrize("name", [*every(2, SMALL), *every(2, STEPS), *map(at_night, (*LEFT_OUT, *RESEMBLED))])
def test_page_shows_the_scene(show, launch_of, name):
    """Sentence, findings, line, registers, grids and requests, in the last block, by a thread in its middle."""
    trace = launch_of(name).trace
    block = tuple(trace.columns.blocks[-1].tolist())
    timeline = Timeline(trace, block)
    thread = min(timeline.n_threads - 1, 5)
    page = show(Stepper(launch_of(name), block=block, thread=coordinates(thread, trace.block)))
    for step in steps_of(name, timeline):
        shown, scene = on_page(page, step), Scene(timeline, step, thread)
        compare_scene(shown, scene.data(), f"{name}, step {step}")
    launch = shown["launch"] | {"rows": [row[:5] for row in shown["launch"]["rows"]]}
    assert launch == scene.launch
    assert shown["title"] == [trace.kernel_name, scene.where.partition("     ")[0], f"step {step} of {len(timeline)}"]
    assert page.page_errors == []


def multiply_adds(run, element):
    """(positions, sums) of the multiply-adds by which one thread computes an element of C, from the trace's steps."""
    trace = run.trace
    for at in trace.columns.blocks.tolist():
        timeline = Timeline(trace, tuple(at))
        accesses = timeline.accesses("C")
        stores = np.flatnonzero(accesses.store & (accesses.element == element))
        if len(stores):
            thread = accesses.thread[stores[0]]
            position, who, value = assignments(timeline, "acc")
            mine = who == thread
            return timeline, int(thread), position[mine][1:].tolist(), value[mine][1:].tolist()
    raise AssertionError(element)


def test_two_runs_are_in_step_by_multiply_adds(show, launch_of):
    """At each common step both have the same partial sum of the same element; each is its own scene at that step."""
    runs = launch_of("naive_16"), launch_of("tiled_16")
    page = show(Stepper(runs[0], block=(1, 2), thread=(1, 3)), _other=Stepper(runs[1])._data)
    element = 16 * (4 * 2 + 3) + 4 * 1 + 1
    (one, thread, at, sums), (other, _, there, same) = (multiply_adds(run, element) for run in runs)
    assert sums == same and len(sums) == 16
    for step in (1, 7, 16):
        for number, (timeline, position) in enumerate(((one, at[step - 1]), (other, there[step - 1]))):
            shown = on_page(page, step, number)
            wanted = Scene(timeline, position, thread).data()
            assert shown["where"][1:3] == [thread, position]
            assert shown["registers"] == used(wanted)
            assert f"{step} of 16: " in shown["says"] and shown["says"].endswith(f"; acc = {sums[step - 1]:.0f}.")
            lit = [sum(state in "RW" for state in grid["states"]) for grid in shown["grids"]]
            assert sum(lit) == 2  # the two elements that it multiplies
    assert shown["last"] == 17
    assert page.page_errors == []


@pytest.mark.parametrize("lead", [0, 1])
def test_the_statements_of_one_of_two_runs(show, launch_of, lead):
    """Its scene at each statement; the other run has done as many multiply-adds of the same element."""
    runs = launch_of("naive_16"), launch_of("tiled_16")
    page = show(Stepper(runs[0], block=(1, 2), thread=(1, 3)), _other=Stepper(runs[1])._data)
    both = [multiply_adds(run, 16 * (4 * 2 + 3) + 4 * 1 + 1) for run in runs]
    timeline, thread, done, _ = both[lead]
    other, _, at, _ = both[1 - lead]
    page.evaluate("run => window.model.set('statements_of', run)", lead + 1)
    kernel, last = timeline.trace.kernel_name, len(timeline)
    expect(page.locator(".tt-mode")).to_have_text(f"statements of {kernel}")
    for step in (1, done[0] - 1, done[0], done[0] + 1, done[9], done[9] + 2, last - 1):
        shown, beside = on_page(page, step, lead), on_page(page, step, 1 - lead)
        wanted = Scene(timeline, step, thread).data()
        assert shown["says"] == f"{kernel}: {wanted['says']}"
        assert (shown["line"], shown["where"]) == (wanted["line"], wanted["where"])
        grids = {grid["name"]: grid for grid in [*shown["grids"], *shown["variables"]]}
        for grid in wanted["grids"]:
            compare_grid(grids[grid["name"]], grid, scale=4)  # naive's, of which 4 threads in a row load an element
        assert beside["where"][2] == [0, *at][sum(each <= step for each in done)]
    assert on_page(page, last, 1 - lead)["where"][2] == len(other)
    assert shown["last"] == last and page.page_errors == []


def test_two_runs_stay_where_they_are_when_a_step_becomes_another(show, launch_of):
    """By u, which goes through the common steps and the statements of each run, and by the button beside it."""
    page = show(Stepper(launch_of("naive_16"), step=7), _other=Stepper(launch_of("tiled_16"))._data)
    at = "() => [0, 1].map((run) => shown(run).where[2])"
    places = page.evaluate(at)
    for leave in (lambda: page.locator(".tt-root").press("u"), page.locator(".tt-mode").click):
        for mode in ("statements of naive", "statements of tiled", "same multiply-add"):
            leave()
            expect(page.locator(".tt-mode")).to_have_text(mode)
            assert page.evaluate(at) == places
    expect(page.locator(".tt-count")).to_have_text("step 7 of 17")


def test_bars_are_the_launches_counts(show):
    """At the end of launches of one block, the counters' figures."""
    runs = product("naive", 8, 16, 8, block_width=8)(), product("tiled", 8, 16, 8, tile_width=8)()
    page = show(Stepper(runs[0]), _other=Stepper(runs[1])._data)
    shown = on_page(page, 17)["compare"]
    assert [name for name, *_ in shown["bars"]][:3] == ["sectors", "bank conflicts", "barriers"]
    barriers = {"naive": 0, "tiled": 2 * 16 // 8}
    for (name, *bars), *_ in zip(shown["bars"], strict=True):
        for run, (now, total) in zip(runs, bars, strict=True):
            count = run.traffic.select
            wanted = {
                "sectors": count(space="global").sectors,
                "bank conflicts": count(space="shared").bank_conflicts,
                "barriers": barriers[run.trace.kernel_name],
                "global loads": count(space="global", op="load").accesses,
                "global stores": count(space="global", op="store").accesses,
                "shared loads": count(space="shared", op="load").accesses,
                "wavefronts": count(space="shared").wavefronts,
                "statements": len(Timeline(run.trace, (0, 0, 0))),
            }[name]
            assert [now, total] == [wanted, wanted], (name, run.trace.kernel_name)


def test_two_runs_have_one_scale(show):
    """Before the first step, the loads of all blocks; then of one; an element with more loads has a stronger colour."""
    runs = product("naive", 16, 16, 16, block_width=4)(), product("tiled", 16, 16, 16, tile_width=4)()
    page = show(Stepper(runs[0]), _other=Stepper(runs[1])._data)
    for step, loads, scale in ((0, (16, 4), 16), (17, (4, 1), 4)):
        for run, each in enumerate(loads):
            shown = on_page(page, step, run)
            grids = {grid["name"]: grid for grid in shown["grids"]}
            assert shown["scale"] == scale == grids["A"]["most"] == grids["B"]["most"]
            assert max(grids["A"]["counts"]) == max(grids["B"]["counts"]) == each
    fills = page.locator(".tt-matrix-A .tt-c >> nth=0")
    assert fills.count() == 1
    strengths = [
        page.locator(".tt-run")
        .nth(run)
        .locator(".tt-matrix-A .tt-c")
        .first.evaluate("node => Number.parseFloat(node.style.getPropertyValue('--tint'))")
        for run in (0, 1)
    ]
    assert strengths[0] == 4 * strengths[1] > 0


def test_a_choice_in_the_second_run_is_made_in_the_first(show, launch_of):
    """By element, in blocks of another shape: a click on C chooses who stores it."""
    runs = launch_of("naive_16"), product("naive", 16, 16, 16, block_width=8)()
    page = show(Stepper(runs[0]), _other=Stepper(runs[1])._data, step=3)
    matrix = page.locator(".tt-matrix-C svg").nth(1).bounding_box()
    page.mouse.click(matrix["x"] + matrix["width"] * 0.9, matrix["y"] + matrix["height"] * 0.3)
    state = page.evaluate("() => [0, 1].map((run) => shown(run))")
    owned = [next(grid for grid in each["grids"] if grid["name"] == "C")["owned"] for each in state]
    assert owned[0] == owned[1] == [state[1]["card"]["element"]]
    row, column = divmod(owned[0][0], 16)
    assert page.evaluate("() => window.model.get('block')")[:2] == [column // 4, row // 4]
    assert page.page_errors == []


@pytest.mark.parametrize("name", ["tensor_cores", at_night("tensor_cores_bf16")])
def test_page_shows_the_fragments_of_the_scene(show, launch_of, name):
    """Of threads of the warp that multiplies and of another, each with its own sentence and its own elements."""
    trace = launch_of(name).trace
    timeline = Timeline(trace, (0, 0, 0))
    lines = {operation.line for operation in trace.matrices}
    multiply = [step for step in range(1, len(timeline) + 1) if timeline.step(step).line in lines]
    page = show(Stepper(launch_of(name)))
    rows = set()
    for step in (multiply[0], multiply[-1]):
        for thread in (0, 13, 31, 64 + 22, 127):
            x, y = thread % trace.block[0], thread // trace.block[0]
            page.evaluate("thread => window.model.set('thread', thread)", [x, y, 0])
            (wanted,) = Scene(timeline, step, thread).data()["matrices"]
            assert on_page(page, step)["matrices"] == [wanted], (step, thread)
            rows.add((wanted["says"], *(len(mine) for _, _, mine in wanted["held"])))
    assert {len(row) for row in rows} == {4}
    assert {0} < {row[1] for row in rows}
    assert page.page_errors == []


@pytest.mark.parametrize("name", ["complex", "large_integers", "half", "naive_16"])
def test_numbers_stay_in_their_cells(show, launch_of, name):
    """No text is wider or higher than its element, so that none prints over another."""
    page = show(Stepper(launch_of(name), step=3))
    sizes = page.locator(".tt-texts .tt-t").evaluate_all(
        """texts => texts.filter((text) => text.textContent).map((text) => {
          const { width, height } = text.getBBox();
          return [text.textContent, width, height];
        })"""
    )
    assert len(sizes) >= 24
    assert [each for each in sizes if each[1] > 20 or each[2] > 20] == []
