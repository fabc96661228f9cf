"""The view of waiting in the order of the model: its bars are the simulation's, and a click goes to a statement."""

import ast
import textwrap

import numpy as np
import pytest

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, timing_model
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper, compare


def played(name, K):
    """Return a run of a kernel with two warps, the orders of its statements, and the timing."""
    kernel, (A, B) = rung(name).make(tile_width=8), np.ones((2, 32, 32), np.float32)
    run = simulate(kernel, trace=True)[1, (8, 8)](A[:8, :K].copy(), B[:K, :8].copy(), np.zeros((8, 8), np.float32))
    machine = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    return (
        run,
        timing_model.orders(kernel, run.trace, machine),
        timing_model.simulate_blocks(kernel, run.trace, machine),
    )


@pytest.fixture
def ordered(show):
    """A page in the view of waiting, the timeline of its block, and the orders that it offers."""
    run, orders, timing = played("tiled", 16)
    stepper = Stepper(run, orders=orders)
    page = show(stepper, _orders=stepper._orders, panel="waits")
    yield page, Timeline(run.trace, (0, 0, 0)), orders, timing
    assert page.page_errors == []


def state(page, step, run=0):
    page.evaluate("step => window.model.set('step', step)", step)
    return page.evaluate("run => shown(run)", run)


def drawn(spans):
    """Return a strip's spans as the timing has them: (reason, first, last)."""
    return [(what.removeprefix("wait for "), first, last) for first, last, what in spans]


def waited(spans, memory):
    """Return the cycles that spans of (reason, first, last) give to waiting for a memory."""
    return {at for why, first, last in spans if why == memory for at in range(round(first), round(last))}


def test_bars_are_the_plays(ordered):
    """In each order a warp's bars end with its statements, and where the player says that it waits at a barrier."""
    page, timeline, orders, timing = ordered
    select = page.locator(".tt-ordered select")
    assert state(page, 30)["order"] == "the simulator's"
    for name, cycles in orders.items():
        select.select_option(label=name)
        shown = state(page, 30)
        assert shown["order"] == name
        for warp, (_, spans) in enumerate(shown["strips"]):
            ends = {cycle for cycle, of in zip(cycles, timeline.warps, strict=True) if of == warp and cycle}
            of_memory = {at for _, *each in cycles.waits[warp] for at in each}
            assert {to for _, to, what in spans if what != "wait"} <= ends | of_memory
            assert ends <= {to for _, to, _ in spans}
            assert [start for start, _, _ in spans[1:]] == [to for _, to, _ in spans[:-1]]
    select.select_option(index=1)
    for warp, (_, spans) in enumerate(state(page, 30)["strips"]):
        for memory in ("global memory", "shared memory"):
            shown = waited(drawn(spans), memory)
            assert shown == {at for at in waited(timing.spans[warp], memory) if at < spans[-1][1]} and shown
        waits = [(first, last) for reason, first, last in timing.spans[warp] if reason == "barrier"]
        for first, last, what in spans:
            if what == "wait":
                assert any(begin - 1 <= first and last <= end + 1 for begin, end in waits)


def test_a_click_goes_to_the_statement_of_its_warp(ordered):
    """The one that the warp is in at that cycle; the sentence says where the warps are when it ends."""
    page, timeline, orders, _ = ordered
    page.locator(".tt-ordered select").select_option(index=1)
    (cycles, _), strip = orders.values(), page.locator(".tt-strip").bounding_box()
    for warp, share in ((0, 0.3), (1, 0.3), (1, 0.8)):
        page.mouse.click(strip["x"] + share * strip["width"], strip["y"] + (warp + 0.5) / 2 * strip["height"])
        step = page.evaluate("() => window.model.get('step')")
        assert timeline.warps[step - 1] == warp
        at = share * max(cycles)
        before = max(c for c, of in zip(cycles[: step - 1], timeline.warps, strict=False) if of == warp)
        assert before <= at + 2 and at <= cycles[step - 1] + 2
        line = next(
            int(timeline.lines[i])
            for i in range(len(cycles))
            if timeline.warps[i] == 0 and cycles[i] > cycles[step - 1]
        )
        says = page.locator(".tt-waiting").text_content()
        assert says.startswith(f"At cycle {cycles[step - 1]} of {max(cycles)}: warp 0 ")
        assert f"warp 0 is in line {line}," in says or "warp 0 waits at the barrier" in says


def test_arrows_lead_from_loads_to_uses(show):
    """By the source's syntax: the next statement of the warp that reads the variable which holds what was loaded."""
    run, orders, _ = played("prefetched", 32)
    page = show(stepper := Stepper(run, orders=orders), _orders=stepper._orders, panel="waits")
    page.locator(".tt-ordered select").select_option(index=1)
    timeline = Timeline(run.trace, (0, 0, 0))
    first, tree = (
        run.trace.source[0][0],
        ast.parse(textwrap.dedent("\n".join(text for _, text, *_ in run.trace.source))),
    )
    held, reads = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.lineno + first - 1, set()).add(node.id)
        if isinstance(node, ast.Assign) and ast.unparse(node.value)[:2] in ("A[", "B["):
            held[node.lineno + first - 1] = node.targets[0].id
    steps = [*zip(timeline.lines.tolist(), timeline.warps.tolist(), strict=True)]
    wanted = []
    for i, (line, warp) in enumerate(steps):
        uses = (j for j in range(i + 1, len(steps)) if steps[j][1] == warp and held[line] in reads.get(steps[j][0], ()))
        if line in held and (use := next(uses, None)) is not None:
            wanted.append([i + 1, use + 1])
    assert sorted(state(page, 30)["arrows"]) == wanted and len(wanted) == 2 * 2 * 4
    assert page.page_errors == []


def test_two_runs_show_how_prefetching_shortens_the_wait(show):
    """One choice of order and one axis for both; the prefetched kernel multiplies while its loads are under way."""
    (tiled, *_), (prefetched, *_) = both = [played(name, 32) for name in ("tiled", "prefetched")]
    stepper = compare(tiled, prefetched, orders=[orders for _, orders, _ in both])
    page = show(stepper, _other=stepper._other, _orders=stepper._orders, panel="waits")
    page.locator(".tt-ordered select").first.select_option(index=1)
    lengths, multiplied = [], []
    for number, (run, orders, timing) in enumerate(both):
        shown, cycles, timeline = state(page, 12, number), next(iter(orders.values())), Timeline(run.trace, (0, 0, 0))
        lengths.append(len(waited(timing.spans[0], "global memory")))
        assert shown["range"] == [0, max(max(next(iter(orders.values()))) for _, orders, _ in both)]
        for warp, (_, spans) in enumerate(shown["strips"]):
            for memory in ("global memory", "shared memory"):
                wanted = waited(timing.spans[warp], memory)
                assert waited(drawn(spans), memory) == {at for at in wanted if at < spans[-1][1]}
            mine = [step for step, of in enumerate(timeline.warps, 1) if of == warp]
            ends = {step: cycles[step - 1] for step in mine}
            begins = dict(zip(mine[1:], ends.values(), strict=False))  # tiled uses what it loads in the same statement
            arrows = [(load, use) for load, use in shown["arrows"] if load in ends]
            under = [range((begins if load == use else ends)[load], ends[use]) for load, use in arrows]
            assert any(map(len, under))
            adds = waited(drawn(spans), "multiply")
            multiplied.append([bool(adds.intersection(arrow)) for arrow in under])
    assert lengths[1] < lengths[0] / 2
    assert not any(map(any, multiplied[:2])), "tiled multiplies only when what it loads has come"
    assert multiplied[2:] == [[False, False] + 6 * [True]] * 2, (
        "prefetched has nothing to multiply before its first pair"
    )
    assert page.page_errors == []


def test_wheel_and_keys_zoom_and_the_playhead_follows_the_animation(ordered):
    """Around the pointer, and around the playhead, which is where the last statement of the frame has been issued."""
    page, timeline, orders, _ = ordered
    page.locator(".tt-ordered select").select_option(index=1)
    cycles, strip = next(iter(orders.values())), page.locator(".tt-strip")
    box, end = strip.bounding_box(), max(cycles)
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 5)
    page.mouse.wheel(0, -100)
    view = "document.querySelector('.tt-root').stepper.scene.panels.get('waits').views[0]"
    page.wait_for_function(f"() => Math.abs({view}.range.from - {0.375 * end}) < {0.01 * end}")
    assert state(page, 0)["range"] == [0, end / 2]  # where the playhead is
    strip.press("-")
    assert state(page, 0)["range"] == [0, end]
    for frame in page.evaluate("() => document.querySelector('.tt-root').stepper.scene.runs[0].animation.frames"):
        page.evaluate(
            "step => { document.querySelector('.tt-root').stepper.setUnit(0); model.set('step', step) }", frame["step"]
        )
        left = page.locator(".tt-strip .tt-playhead").evaluate("node => parseFloat(node.style.left)")
        assert left == pytest.approx(100 * cycles[frame["step"] - 1] / end, abs=0.01)


def test_another_block_has_the_simulators_order(ordered):
    """Only the first block is simulated; a stepper without orders offers none."""
    page, *_ = ordered
    page.locator(".tt-ordered select").select_option(index=2)
    page.evaluate("() => window.model.set('_orders', '')")
    page.wait_for_function("() => document.querySelector('.tt-ordered').hidden")
    assert state(page, 5)["order"] == "the simulator's"
