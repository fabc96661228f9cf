"""Every control of the stepper, by mouse and by key: where it goes, what it says, and that nothing leaks."""

import json
import re

import numpy as np
import pytest
from oracles.stops import next_stop
from playwright.sync_api import expect

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.scene import Scene
from course_lib.trace.viewer.words import ORDER, sentence


@pytest.fixture
def walk(show, launch_of):
    """A page with a stepper, and the steps of its first block."""

    def walk(name, **state):
        run = launch_of(name)
        page = show(Stepper(run), **state)
        return page, Timeline(run.trace, (0, 0, 0))

    return walk


def step(page):
    return int(page.evaluate("() => document.querySelector('.tt-count').textContent").split()[1])


def test_keys_walk_by_barrier_phase_and_iteration(walk):
    """From the start to the end, every stop is the one that the trace's reading names; and back again."""
    page, timeline = walk("tiled")
    page.locator(".tt-root").focus()
    for forward, back, unit in (
        ("n", "p", "barrier"),
        (".", ",", "phase"),
        ("PageDown", "PageUp", "barrier"),
        ("l", None, "iteration"),  # L goes to an earlier iteration of the loop around the line, often not the last stop
    ):
        stops = [0]
        while stops[-1] < len(timeline):
            stops.append(next_stop(timeline, unit, stops[-1], 0))
            page.keyboard.press(forward)
            assert step(page) == stops[-1], forward
        assert len(stops) > 4, forward
        for stop in reversed(stops[:-1]) if back else ():
            page.keyboard.press(back)
            assert step(page) == stop, back


def test_the_unit_of_a_step_moves_the_buttons(walk):
    """By phase, the arrow and the button go a phase; u goes through the units; the barrier's button goes to one."""
    page, timeline = walk("prefetched")
    page.locator(".tt-forward").click()
    assert step(page) == 1
    page.locator(".tt-next").click()
    assert step(page) == next_stop(timeline, "barrier", 1, 0)
    page.locator(".tt-root").press("Home")
    page.locator(".tt-unit").select_option(label="this phase")
    page.locator(".tt-forward").click()
    first = next_stop(timeline, "phase", 0, 0)
    assert step(page) == first
    page.locator(".tt-root").press("ArrowRight")
    assert step(page) == next_stop(timeline, "phase", first, 0)
    page.locator(".tt-back").click()
    assert step(page) == first
    page.locator(".tt-root").press("u")
    expect(page.locator(".tt-unit option:checked")).to_have_text("barrier")
    page.locator(".tt-root").press("ArrowRight")
    assert step(page) == next_stop(timeline, "barrier", first, 0)


def test_best_is_walked_in_its_phases(walk):
    """The 58,000 statements of the largest launch are a walk of few stops."""
    page, timeline = walk("best")
    assert len(timeline) > 50_000
    stops = 0
    page.locator(".tt-root").focus()
    while step(page) < len(timeline):
        page.keyboard.press(".")
        stops += 1
    assert 5 <= stops <= min(25, len(timeline.phases[0]) + 1)


def test_to_the_next_finding(walk, launch_of):
    """Button, key, mark on the timeline and list lead to the broken rule; lines, thread and sentence are in red."""
    page, timeline = walk("racy")
    found = Scene(timeline, 0, 0).findings
    position = min(positions[0] for _, positions in found)
    page.locator(".tt-fault").click()
    assert step(page) == position
    text = next(text for text, positions in found if positions[0] == position)
    message = text.split(": ", 1)[1]
    expect(page.locator(".tt-say .tt-wrong").first).to_contain_text(message)
    run = launch_of("racy")
    finding = next(f for f in run.findings if f.message == message)
    broken = {int(n) for n in page.locator(".tt-broken").evaluate_all("nodes => nodes.map((n) => n.dataset.line)")}
    assert {finding.line, finding.other_line} <= broken
    assert page.locator(".tt-accumulators .tt-faults rect").count() >= 2
    assert page.locator(".tt-shared .tt-faults rect").count() == 1
    assert page.locator(".tt-found-list .tt-here").count() >= 1
    assert page.locator(".tt-ticks .tt-found").count() >= 1
    page.locator(".tt-root").press("e")
    later = step(page)
    assert later != position
    page.locator(".tt-root").press("E")
    assert step(page) == position
    page.locator(".tt-found-list .tt-go").nth(1).click()
    assert step(page) in {p for _, positions in found for p in positions}


def test_no_finding_no_button(walk):
    """A kernel that breaks no rule has nothing to walk to, and no lens for it."""
    page, _ = walk("tiled")
    expect(page.locator(".tt-fault")).to_be_hidden()
    assert page.locator(".tt-tab-findings").count() == 0
    page.locator(".tt-root").press("e")
    assert step(page) == 0


def test_access_beyond_the_edge_is_drawn_there(walk, launch_of):
    """A row too many: the crosses stand below the last row of A, and the sentence says what was missed."""
    page, timeline = walk("out_of_bounds_2d")
    page.locator(".tt-root").press("e")
    state = page.evaluate("() => document.querySelector('.tt-root').stepper.state()")
    grid = next(grid for grid in state["grids"] if grid["outside"])
    assert {row for row, _ in grid["outside"]} == {grid["rows"]}
    boxes = page.locator(".tt-beyond").evaluate_all("nodes => nodes.map((n) => n.getBoundingClientRect().top)")
    name = grid["name"]
    edge = page.locator(f'.tt-grid[aria-label="{name}"] .tt-c').last.evaluate("n => n.getBoundingClientRect().bottom")
    assert boxes and min(boxes) > edge - 2
    assert "(out of bounds)" in state["says"]


def test_views_by_mouse_and_key(walk):
    """A click, and v, opens another view; the one that is open says so."""
    page, _ = walk("tiled_16")
    for lens in ("launch", "waits", "banks", "warp"):
        page.locator(f".tt-tab-{lens}").click()
        expect(page.locator(f".tt-lens-{lens}")).to_be_visible()
        expect(page.locator(f".tt-tab-{lens}")).to_have_attribute("aria-selected", "true")
        expect(page.locator('[role="tabpanel"]:visible')).to_have_count(1)
        page.locator(".tt-root").press("v")
        expect(page.locator(f".tt-lens-{lens}")).to_be_hidden()
        page.locator(".tt-root").press("V")
        expect(page.locator(f".tt-lens-{lens}")).to_be_visible()


def test_an_element_of_a_fragment_chooses_its_thread(walk):
    """Only a launch that multiplies matrices in registers has the view; a click on an element takes its lane."""
    page, _ = walk("tiled_16")
    assert page.locator(".tt-tab-fragments").count() == 0
    page, timeline = walk("tensor_cores")
    (operation,) = timeline.trace.matrices
    first = next(s for s in range(1, len(timeline) + 1) if timeline.step(s).line == operation.line)
    page.evaluate("step => window.model.set('step', step - 1)", first)
    page.locator(".tt-tab-fragments").click()
    sentence = page.locator(".tt-lens-fragments p:not(.tt-flight)")
    expect(sentence).to_contain_text(f"Line {operation.line} does (mma_tf32)")
    assert page.locator(".tt-lens-fragments .tt-mine-lane").count() == 0
    page.locator(".tt-root").press("ArrowRight")
    assert page.locator(".tt-lens-fragments .tt-mine-lane").count() == 10
    page.locator(".tt-fragment").first.locator("[data-lane]").nth(13).click()
    lane = next(lane for lane, held in enumerate(operation.fragments[0].held) if 13 in held)
    assert page.evaluate("() => window.model.get('thread')") == [lane, timeline.step(first).warp, 0]
    expect(page.locator(".tt-multiplied b")).to_contain_text(f"For mma_tf32, lane {lane} holds A: [")
    page.locator(".tt-root").press("v")
    expect(page.locator(".tt-lens-fragments")).to_be_hidden()
    page.locator(".tt-root").press("V")
    expect(page.locator(".tt-lens-fragments")).to_be_visible()
    assert page.page_errors == []


@pytest.mark.parametrize(
    "panels, tabs, columns",
    [
        ([], [], None),
        (["launch"], ["Launch"], 3),
        (["warp", "launch"], ["Warp", "Launch"], 6),
        (["banks", "launch"], ["Banks", "Launch"], 6),
    ],
)
def test_only_the_chosen_views_are_offered(walk, panels, tabs, columns):
    """A lesson that has not come to sectors, banks or waiting shows none of them, in no table either."""
    page, _ = walk("tiled_16", panels=panels, step=20)
    assert page.locator(".tt-tabs button:visible").all_text_contents() == tabs
    assert page.locator(".tt-lens").is_visible() == bool(tabs)
    for _ in range(len(tabs) + 1):
        page.locator(".tt-root").press("v")
    if columns:
        page.evaluate("() => window.model.set('panel', 'launch')")
        assert page.locator(".tt-lens-launch th").count() == columns
    page.set_viewport_size({"width": 853, "height": 480})
    expect(page.locator(".tt-tabs button:visible")).to_have_text(["Arrays", *tabs] if tabs else [])
    assert page.page_errors == []


def test_a_finding_is_always_offered(walk):
    """What broke a rule is shown whatever else is not."""
    page, _ = walk("race_in_a_warp", panels=[])
    assert page.locator(".tt-tabs button:visible").all_text_contents() == ["Findings"]


def test_keys_are_listed(walk):
    """? shows the list of the keys and Escape or ? hides it; the button does the same and says whether it is open."""
    page, _ = walk("tiled")
    page.locator(".tt-root").press("?")
    expect(page.locator(".tt-keys")).to_be_visible()
    expect(page.locator(".tt-keys")).to_contain_text("to the next finding")
    page.locator(".tt-root").press("Escape")
    expect(page.locator(".tt-keys")).to_be_hidden()
    page.locator(".tt-help").click()
    expect(page.locator(".tt-help")).to_have_attribute("aria-expanded", "true")
    page.locator(".tt-keys .tt-close").click()  # without a keyboard, where the list covers the button
    expect(page.locator(".tt-keys")).to_be_hidden()
    expect(page.locator(".tt-help")).to_be_focused()


def test_text_size(walk):
    """One setting, by key, by list and from the kernel, makes all text larger."""
    page, _ = walk("tiled")
    size = "() => parseFloat(getComputedStyle(document.querySelector('.tt-sentence')).fontSize)"
    before = page.evaluate(size)
    page.locator(".tt-root").press("]")
    assert page.evaluate(size) == pytest.approx(before * 1.25)
    page.locator(".tt-text").select_option(label="200 %")
    assert page.evaluate(size) == pytest.approx(before * 2)
    page.wait_for_function("() => !Object.keys(document.querySelector('.tt-root').stepper.unsaved.values).length")
    page.evaluate("() => window.model.set('text_size', 1.5)")
    assert page.evaluate(size) == pytest.approx(before * 1.5)
    page.locator(".tt-root").press("[")
    assert page.evaluate(size) == pytest.approx(before * 1.25)


def test_full_screen(walk):
    """f fills the screen with the stepper and gives it back; the button does too."""
    page, _ = walk("tiled", own=True)
    page.locator(".tt-root").press("f")
    page.wait_for_function("() => document.fullscreenElement?.classList.contains('tt-root')")
    page.locator(".tt-root").press("f")
    page.wait_for_function("() => !document.fullscreenElement")
    page.locator(".tt-full").click()
    page.wait_for_function("() => document.fullscreenElement?.classList.contains('tt-root')")


def test_click_on_the_strip_goes_there(walk):
    """In the view of the waiting warps, a click on the time line goes to that step."""
    page, timeline = walk("tiled_two_warps", panel="waits")
    box = page.locator(".tt-strip").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    assert abs(step(page) - len(timeline) / 2) <= 1
    release = timeline.releases()[0]
    page.evaluate("step => window.model.set('step', step)", release - 1)
    arrived = {timeline.step(p).warp for p in range(1, release) if timeline.step(p).barrier}
    waiting = page.locator(".tt-waiting").get_attribute("data-waiting").split()
    assert {int(warp) for warp in waiting} == arrived
    assert arrived


def test_two_runs_in_step(show, launch_of):
    """Beside each other at the same number of statements, the shorter at its end; bars hold each one's counts."""
    slow, fast = launch_of("bank_conflicts"), launch_of("padded")
    page = show(Stepper(slow, step=900), _other=Stepper(fast)._data)
    expect(page.locator(".tt-kernel")).to_have_text("bank_conflicts | padded")
    assert page.locator(".tt-source").count() == 2
    rows = page.locator(".tt-compare-row")
    conflicts = rows.filter(has_text="bank conflicts").locator("b").all_text_contents()
    wanted = []
    for run in (slow, fast):
        timeline = Timeline(run.trace, (0, 0, 0))
        steps = (timeline.step(p) for p in range(1, 901))
        wanted.append(sum(access.conflicts for s in steps for access in s.accesses))
    assert [int(text) for text in conflicts] == wanted
    assert wanted[0] > wanted[1]
    page.locator(".tt-tab-banks").click()
    assert page.locator(".tt-lens-banks .tt-costs").count() == 2


def test_two_runs_say_what_each_did_and_broke(show, launch_of):
    """Sentences, findings and marks on the timeline are those of both; e goes to the second run's finding."""
    good, racy = launch_of("tiled"), launch_of("racy")
    page = show(Stepper(good), _other=Stepper(racy)._data)
    root, timeline = page.locator(".tt-root"), Timeline(racy.trace, (0, 0, 0))
    (text, (position, *_)), *_ = sorted(Scene(timeline, 0, 0).findings, key=lambda finding: finding[1][0])
    assert page.locator(".tt-fault").is_visible()
    assert page.locator(".tt-found").count() > 0
    root.press("e")
    assert step(page) == position
    thread = tuple(page.evaluate("() => window.model.get('thread')"))
    says = page.locator(".tt-sentence").all_text_contents()
    end = Timeline(good.trace, (0, 0, 0))
    told = sentence(timeline, position, thread[0] + 8 * thread[1])
    assert says[1] == f"tiled (2), step {position} of {len(timeline)}: {told}"
    at = min(position, len(end))
    assert says[0].startswith(f"tiled (1), step {at} of {len(end)}: Line {end.step(at).line},")
    assert text.split(": ", 1)[1].split(";")[0] in page.locator(".tt-say .tt-wrong").first.text_content()


def test_a_shorter_run_does_not_hold_up_the_longer_one(show, launch_of):
    """Beyond the end of the first run n and . still go forward, to where the second stops, and back to its stops."""
    page = show(Stepper(launch_of("naive")), _other=Stepper(launch_of("tiled"))._data)
    first, second = (Timeline(launch_of(name).trace, (0, 0, 0)) for name in ("naive", "tiled"))
    beyond = [release for release in second.releases() if release > len(first)]
    page.evaluate("step => window.model.set('step', step)", len(first))
    for release in [*beyond, len(second)]:
        page.locator(".tt-root").press("n")
        assert step(page) == release
    page.locator(".tt-root").press("p")
    assert step(page) == beyond[-1]


def test_arrows_step_after_a_click_on_a_tab(walk):
    """By mouse a tab gives the keys back; by keyboard the arrows go from tab to tab."""
    page, _ = walk("tiled", step=3)
    tab = page.get_by_role("tab", name="Waiting")
    tab.click()
    page.keyboard.press("ArrowRight")
    assert step(page) == 4
    expect(tab).to_have_attribute("aria-selected", "true")
    tab.focus()
    page.keyboard.press("ArrowRight")
    assert step(page) == 4
    expect(page.get_by_role("tab", name="Launch")).to_have_attribute("aria-selected", "true")


def test_another_run_keeps_where_the_reader_is(walk, launch_of):
    """What arrives from the kernel replaces the trace alone: step, thread, view, speed and unit stay."""
    page, _ = walk("tiled", step=9, thread=[1, 0, 0], panel="waits")
    page.locator(".tt-unit").select_option(label="barrier")
    page.evaluate("data => window.model.set('_data', data)", Stepper(launch_of("naive"))._data)
    expect(page.locator(".tt-kernel")).to_have_text("naive")
    assert step(page) == 9
    expect(page.get_by_role("tab", name="Waiting")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".tt-thread")).to_have_value("1")
    expect(page.locator(".tt-unit option:checked")).to_have_text("barrier")
    assert page.page_errors == []


@pytest.mark.parametrize(
    "name, counted", [("racy", "instructions"), ("out_of_bounds", "accesses"), ("divergent", "threads")]
)
def test_findings_say_what_they_count(walk, launch_of, name, counted):
    """Instructions that raced, accesses that missed, threads that did not come."""
    page, _ = walk(name, panel="findings")
    heads = page.locator(".tt-found-head").all_text_contents()
    numbers = [finding.count for finding in launch_of(name).findings]
    assert [f", {n} {counted}" for n in numbers if n > 1] == [
        f", {h.rpartition(', ')[2]}" for h in heads if counted in h
    ]
    assert any(n > 1 for n in numbers)


def test_the_order_of_waiting_is_explained(walk):
    page, _ = walk("tiled_two_warps", panel="waits")
    expect(page.locator(".tt-lens-waits")).to_contain_text(ORDER)


def test_a_page_with_a_kernel_offers_no_links(walk):
    page, _ = walk("tiled")
    expect(page.locator(".tt-link")).to_be_hidden()


def test_two_views_of_one_model(walk):
    """Each follows the other, before either has told the kernel."""
    page, timeline = walk("tiled", step=3)
    page.evaluate("""() => {
        const el = document.body.appendChild(document.createElement("div"));
        window.widget.render({ model: window.model, el });
    }""")
    first, second = page.locator(".tt-root").first, page.locator(".tt-root").nth(1)
    second.wait_for()
    page.evaluate("() => (window.told = 0, window.model.save_changes = () => (window.told += 1))")
    for number, (root, key) in enumerate(
        [(first, "ArrowRight"), (second, "ArrowRight"), (first, "End"), (second, "t")]
    ):
        root.press(key)
        steps = [4, 5, len(timeline), len(timeline)]
        for view in (first, second):
            expect(view.locator(".tt-count")).to_have_text(f"step {steps[number]} of {len(timeline)}")
    expect(first.locator(".tt-thread")).to_have_value("1")
    page.wait_for_function("() => window.told > 0")
    assert page.page_errors == []


UNREADABLE = "This trace can't be read; run the cell again."
#: What may be wrong with the head of a trace, beside its version.
DAMAGES = {
    "no arrays": lambda head: head.pop("arrays"),
    "no shape": lambda head: head["arrays"][0].update(shape=None),
    "an array less than the accesses name": lambda head: head["arrays"].pop(),
    "no source": lambda head: head.update(source=None),
    "more steps than there are": lambda head: head["blocks"][0].update(steps=10**6),
    "cut off": lambda head: head.update(packed=head["packed"][:-400]),
}


def test_a_trace_that_cannot_be_read_is_refused_in_a_sentence(show, launch_of):
    """Wherever the damage shows, on reading or only when the page is built from it; a good trace after it is drawn."""
    stepper = Stepper(launch_of("tiled"))
    newer = "This trace is of a newer version of the course; update and run the cell again."
    cases = {"{": UNREADABLE, '{"version": 3}': UNREADABLE, '{"version": 4}': newer}
    for change in DAMAGES.values():
        head = json.loads(stepper._data)
        change(head)
        cases[json.dumps(head)] = UNREADABLE
    page = show({"_data": "", "step": 0, "block": [0, 0, 0], "thread": [0, 0, 0]})
    for (text, says), what in zip(cases.items(), ["no JSON", "older", "newer", *DAMAGES], strict=True):
        page.evaluate("text => window.model.set('_data', text)", text)
        expect(page.locator(".tt-unreadable"), what).to_have_text(says)
        assert page.locator(".tt-root").count() == 0, what
        page.evaluate("text => window.model.set('_data', text)", stepper._data)
        expect(page.locator(".tt-count"), what).to_have_text(f"step 0 of {len(stepper.timeline)}")
        assert page.page_errors == [], what


def test_a_wrong_value_is_marked_with_the_wanted_one(show, launch_of):
    """Where an exercise knows the right result, each wrong element is ringed once it is stored, and said."""
    run = launch_of("tiled")
    wanted = np.array(Timeline(run.trace, (0, 0, 0)).state(31).values("C")).reshape(4, 4)
    right = wanted.copy()
    right[0, 1] += 2
    stepper = Stepper(run, step=0, thread=(1, 0), wanted={"C": right})
    timeline = stepper.timeline
    page = show(stepper, _wanted=stepper._wanted)
    rings = page.locator(".tt-matrix-C .tt-faults rect")
    assert rings.count() == 0
    touches = timeline.touches("C")
    position = int(touches.position[touches.store][0])
    page.evaluate("step => window.model.set('step', step)", position)
    assert (
        Scene(timeline, position, 1, stepper._wrong).wrong_now == page.locator(".tt-say .tt-wrong").all_text_contents()
    )
    assert "was wanted" in page.locator(".tt-say .tt-wrong").first.text_content()
    assert rings.count() >= 1


def test_condition_says_its_truth(walk):
    """Beside the line, with the numbers of the chosen thread, as the sentence has them: a ragged edge's guard fails."""
    page, timeline = walk("naive_ragged", block=[1, 1, 0], thread=[1, 1, 0])
    block = page.evaluate("() => document.querySelector('.tt-root').stepper.stage.machine.block.at")
    guarded = Timeline(timeline.trace, tuple(block))
    positions = [p for p in range(1, len(guarded) + 1) if guarded.step(p).conditions]
    assert positions
    page.evaluate("step => window.model.set('step', step)", positions[0])
    truth = page.locator(".tt-truth").text_content()
    assert re.fullmatch(r"(\d+ < \d+: (true|false)(, )?)+", truth)
    assert "false" in truth
    said = page.locator(".tt-sentence").text_content()
    for part in truth.split(", "):
        assert part.replace(":", " is") in said
