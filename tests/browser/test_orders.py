"""The view of waiting in the order of the model: its bars are the play's, and a click goes to a statement."""

import ast
import textwrap

import numpy as np
import pytest

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, waiting
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper


@pytest.fixture
def ordered(show, launch_of):
    """A page in the view of waiting, the timeline of its block, and the orders that it offers."""
    kernel, run = rung("tiled").make(tile_width=8), launch_of("tiled_two_warps")
    machine = waiting.Machine.measured(measurements.load("latencies"))
    orders = waiting.orders(kernel, run.trace, machine)
    stepper = Stepper(run, orders=orders)
    page = show(stepper, _orders=stepper._orders, panel="waits")
    yield page, Timeline(run.trace, (0, 0, 0)), orders, waiting.play(kernel, run.trace, machine)
    assert page.page_errors == []


def state(page, step):
    page.evaluate("step => window.model.set('step', step)", step)
    return page.evaluate("() => document.querySelector('.tt-root').stepper.state()")


def test_bars_are_the_plays(ordered):
    """In each order a warp's bars end with its statements, and where the player says that it waits at a barrier."""
    page, timeline, orders, play = ordered
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
            waits = {at for why, *each in play.spans[warp] if why == memory for at in range(*map(round, each))}
            shown = {at for first, last, what in spans if what == f"wait for {memory}" for at in range(first, last)}
            assert shown == {at for at in waits if at < spans[-1][1]} and shown
        waits = [(first, last) for reason, first, last in play.spans[warp] if reason == "barrier"]
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
    kernel, (A, B) = rung("prefetched").make(tile_width=8), np.ones((2, 32, 32), np.float32)
    run = simulate(kernel, trace=True)[(1, 1), (8, 8)](A[:8], B[:, :8].copy(), np.zeros((8, 8), np.float32))
    orders = waiting.orders(kernel, run.trace, waiting.Machine.measured(measurements.load("latencies")))
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


def test_wheel_and_keys_zoom_and_the_playhead_follows_the_film(ordered):
    """Around the pointer, and around the playhead, which is where the last statement of the frame has been issued."""
    page, timeline, orders, _ = ordered
    page.locator(".tt-ordered select").select_option(index=1)
    cycles, strip = next(iter(orders.values())), page.locator(".tt-strip")
    box, end = strip.bounding_box(), max(cycles)
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 5)
    page.mouse.wheel(0, -100)
    view = "document.querySelector('.tt-root').stepper.stage.open.get('waits').views[0]"
    page.wait_for_function(f"() => Math.abs({view}.sight.from - {0.375 * end}) < {0.01 * end}")
    assert state(page, 0)["sight"] == [0, end / 2]  # where the playhead is
    strip.press("-")
    assert state(page, 0)["sight"] == [0, end]
    for frame in page.evaluate("() => document.querySelector('.tt-root').stepper.stage.runs[0].film.frames"):
        page.evaluate(
            "step => { document.querySelector('.tt-root').stepper.setUnit(0); model.set('step', step) }", frame["step"]
        )
        left = page.locator(".tt-playhead").evaluate("node => parseFloat(node.style.left)")
        assert left == pytest.approx(100 * cycles[frame["step"] - 1] / end, abs=0.01)


def test_another_block_has_the_simulators_order(ordered):
    """Only the first block is played; a stepper without orders offers none."""
    page, *_ = ordered
    page.locator(".tt-ordered select").select_option(index=2)
    page.evaluate("() => window.model.set('_orders', '')")
    page.wait_for_function("() => document.querySelector('.tt-ordered').hidden")
    assert state(page, 5)["order"] == "the simulator's"
