"""Every control of the stepper, by mouse and by key: where it goes, what it says, and that nothing leaks."""

import json
import re

import numpy as np
import pytest
from oracles.scene import Scene
from oracles.stops import next_stop
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.kernels.tiled import tiled
from course_lib.trace.finding_locations import locate
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

#: What the rows of the warps' histories do not say.
ORDER = (
    "Order is not time: the simulator runs one warp after another, each up to its next barrier. "
    "A GPU interleaves the warps."
)


def step(page):
    return page.evaluate("() => window.model.get('step')")


def test_keys_walk_by_barrier_and_iteration(walk):
    """From the start to the end, every stop is the one that the trace's reading names; and back again."""
    page, timeline = walk("tiled")
    page.locator(".tt-root").focus()
    for forward, back, unit in (
        ("n", "p", "barrier"),
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


def test_what_a_step_is_moves_the_buttons(walk):
    """By default a frame, then a statement of the chosen thread, then one of any warp; u goes round."""
    page, timeline = walk("tiled_two_warps", thread=[0, 5, 0], frames=True)
    page.locator(".tt-forward").click()
    assert step(page) == timeline.releases[0]
    expect(page.locator(".tt-count")).to_have_text("frame 1 of 5")
    page.locator(".tt-mode").click()  # to the first statement of the thread in this frame
    mine = (np.flatnonzero(timeline.of_thread(40)) + 1).tolist()
    assert step(page) == mine[0]
    page.locator(".tt-root").press("ArrowRight")
    assert step(page) == mine[1]
    page.locator(".tt-root").press("u")
    page.locator(".tt-root").press("ArrowRight")
    assert step(page) == mine[1] + 1
    page.locator(".tt-root").press("u")
    expect(page.locator(".tt-count")).to_have_text("frame 1 of 5")
    page.locator(".tt-root").press("End")
    expect(page.locator(".tt-count")).to_have_text("frame 5 of 5")


def test_to_the_next_finding(walk, launch_of):
    """Button, key, mark on the timeline and list lead to the broken rule; lines, thread and sentence are in red."""
    page, timeline = walk("racy")
    found = Scene(timeline, 0, 0).findings
    position = min(positions[0] for _, positions in found)
    page.evaluate("() => window.model.set('panel', 'findings')")
    page.locator(".tt-next-finding").click()
    assert step(page) == position
    text = next(text for text, positions in found if positions[0] == position)
    message = text.split(": ", 1)[1]
    expect(page.locator(".tt-status .tt-wrong").first).to_contain_text(message)
    run = launch_of("racy")
    finding = next(f for f in run.findings if f.message == message)
    broken = {int(n) for n in page.locator(".tt-broken").evaluate_all("nodes => nodes.map((n) => n.dataset.line)")}
    assert {finding.line, finding.other_line} <= broken
    assert page.locator(".tt-of-threads .tt-faults rect").count() >= 2
    assert page.locator("[data-space=shared] .tt-faults rect").count() == 1
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
    """A kernel that breaks no rule has nothing to walk to, and no panel for it."""
    page, _ = walk("tiled")
    expect(page.locator(".tt-next-finding")).to_be_hidden()
    assert page.locator(".tt-tab-findings").count() == 0
    page.locator(".tt-root").press("e")
    assert step(page) == 0


def test_access_beyond_the_edge_is_drawn_there(walk, launch_of):
    """A row too many: the crosses stand below the last row of A, and the sentence says what was missed."""
    page, timeline = walk("out_of_bounds_2d")
    page.locator(".tt-root").press("e")
    state = page.evaluate("() => shown()")
    grid = next(grid for grid in state["grids"] if grid["outside"])
    assert {row for row, _ in grid["outside"]} == {grid["rows"]}
    boxes = page.locator(".tt-beyond").evaluate_all("nodes => nodes.map((n) => n.getBoundingClientRect().top)")
    name = grid["name"]
    cells = page.locator(".tt-figure", has=page.locator("figcaption", has_text=re.compile(rf"^{name} "))).locator(
        ".tt-c"
    )
    edge = cells.last.evaluate("n => n.getBoundingClientRect().bottom")
    assert boxes and min(boxes) > edge - 2
    assert "(out of bounds)" in state["says"]


def test_views_by_mouse_and_key(walk):
    """All are closed at first; a click opens one, which says so, and closes it again; v opens the next one."""
    page, _ = walk("tiled_16")
    expect(page.locator(".tt-panel")).to_be_hidden()
    for panel in ("launch", "waits", "banks", "warp"):
        page.locator(f".tt-tab-{panel}").click()
        expect(page.locator(f".tt-panel-{panel}")).to_be_visible()
        expect(page.locator(f".tt-tab-{panel}")).to_have_attribute("aria-expanded", "true")
        expect(page.locator(".tt-panel > div:visible")).to_have_count(1)
        page.locator(".tt-root").press("v")
        expect(page.locator(f".tt-panel-{panel}")).to_be_hidden()
        page.locator(".tt-root").press("V")
        expect(page.locator(f".tt-panel-{panel}")).to_be_visible()
    page.locator(".tt-tab-warp").click()
    expect(page.locator(".tt-panel")).to_be_hidden()


def test_an_element_of_a_fragment_chooses_its_thread(walk):
    """Only a launch that multiplies matrices in registers has the view; a click on an element takes its lane."""
    page, _ = walk("tiled_16")
    assert page.locator(".tt-tab-fragments").count() == 0
    page, timeline = walk("tensor_cores")
    (operation,) = timeline.trace.matrices
    first = next(s for s in range(1, len(timeline) + 1) if timeline.step(s).line == operation.line)
    page.evaluate("step => window.model.set('step', step - 1)", first)
    page.locator(".tt-tab-fragments").click()
    sentence = page.locator(".tt-panel-fragments p:not(.tt-in-flight)")
    expect(sentence).to_contain_text(f"Line {operation.line} does (mma_tf32)")
    assert page.locator(".tt-panel-fragments .tt-mine-lane").count() == 0
    page.locator(".tt-root").press("ArrowRight")
    assert page.locator(".tt-panel-fragments .tt-mine-lane").count() == 10
    page.locator(".tt-fragment").first.locator("[data-lane]").nth(13).click()
    lane = next(lane for lane, held in enumerate(operation.fragments[0].held) if 13 in held)
    assert page.evaluate("() => window.model.get('thread')") == [lane, timeline.step(first).warp, 0]
    expect(page.locator(".tt-multiplied b")).to_contain_text(f"For mma_tf32, lane {lane} holds A: [")
    assert page.page_errors == []


@pytest.mark.parametrize(
    "name, panels, tabs, columns",
    [
        ("tiled_16", [], [], None),
        ("tiled_16", ["launch"], ["Launch"], 3),
        ("tiled_16", ["warp", "launch"], ["Warp", "Launch"], 6),
        ("tiled_16", ["banks", "launch"], ["Banks", "Launch"], 6),
        ("race_in_a_warp", [], ["Findings"], None),  # what broke a rule is shown whatever else is not
    ],
)
def test_only_the_chosen_views_are_offered(walk, name, panels, tabs, columns):
    """A lesson that has not come to sectors, banks or waiting shows none of them, in no table either."""
    page, _ = walk(name, panels=panels, step=20)
    assert page.locator(".tt-tabs button:visible").all_text_contents() == tabs
    assert not page.locator(".tt-panel").is_visible()
    for _ in range(len(tabs) + 1):
        page.locator(".tt-root").press("v")
    if columns:
        page.evaluate("() => window.model.set('panel', 'launch')")
        assert page.locator(".tt-panel-launch th").count() == columns
    page.set_viewport_size({"width": 853, "height": 480})
    expect(page.locator(".tt-tabs button:visible")).to_have_text(tabs)
    assert page.page_errors == []


def test_keys_are_listed(walk):
    """? shows the list of the keys and Escape or ? hides it; the button does the same and says whether it is open."""
    page, _ = walk("tiled")
    page.locator(".tt-root").press("?")
    expect(page.locator(".tt-keys")).to_be_visible()
    expect(page.locator(".tt-keys")).to_contain_text("to the next finding")
    page.locator(".tt-root").press("Escape")
    expect(page.locator(".tt-keys")).to_be_hidden()
    page.locator(".tt-menu").click()
    expect(page.locator(".tt-link")).to_be_hidden()  # only a page without a kernel has an address for its steps
    page.locator(".tt-help").click()
    expect(page.locator(".tt-choices")).to_be_hidden()
    page.locator(".tt-keys .tt-close").click()  # without a keyboard, where the list covers the button
    expect(page.locator(".tt-keys")).to_be_hidden()
    expect(page.locator(".tt-menu")).to_be_focused()


def test_full_screen(walk):
    """f fills the screen with the stepper and gives it back; the button does too."""
    page, _ = walk("tiled", own=True)
    page.locator(".tt-root").press("f")
    page.wait_for_function("() => document.fullscreenElement?.classList.contains('tt-root')")
    page.locator(".tt-root").press("f")
    page.wait_for_function("() => !document.fullscreenElement")
    page.locator(".tt-menu").click()
    page.locator(".tt-full").click()
    page.wait_for_function("() => document.fullscreenElement?.classList.contains('tt-root')")


def test_click_on_the_strip_goes_there(walk):
    """In the view of the waiting warps, a click on the time line goes to that step."""
    page, timeline = walk("tiled_two_warps", panel="waits")
    box = page.locator(".tt-strip").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5)
    assert abs(step(page) - len(timeline) / 2) <= 1
    release = timeline.releases[0]
    page.evaluate("step => window.model.set('step', step)", release - 1)
    arrived = {timeline.step(p).warp for p in range(1, release) if timeline.step(p).barrier}
    waiting = page.locator(".tt-waiting").get_attribute("data-waiting").split()
    assert {int(warp) for warp in waiting} == arrived
    assert arrived
    expect(page.locator(".tt-panel-waits")).to_contain_text(ORDER)


def test_two_runs_in_step(show, launch_of):
    """Beside each other at the same multiply-add; in the end the bars hold each one's counts."""
    slow, fast = launch_of("bank_conflicts"), launch_of("padded")
    page = show(Stepper(slow), _other=Stepper(fast)._data, panel="compare")
    expect(page.locator(".tt-kernel")).to_have_text("bank_conflicts | padded")
    assert page.locator(".tt-source").count() == 2
    page.locator(".tt-root").press("End")
    expect(page.locator(".tt-count")).to_have_text("step 33 of 33")
    rows = page.locator(".tt-compare-row")
    conflicts = rows.filter(has_text="bank conflicts").locator("b").all_text_contents()
    wanted = [run.traffic.select(space="shared").bank_conflicts for run in (slow, fast)]
    assert [int(text) for text in conflicts] == wanted
    assert wanted[0] > wanted[1]
    page.locator(".tt-tab-banks").click()
    assert page.locator(".tt-panel-banks .tt-costs").count() == 2


def test_a_finding_of_the_second_run_is_found(show, launch_of):
    """e goes to the statement of the second run in which its finding is, and to the next one."""
    good, racy = launch_of("tiled"), launch_of("racy")
    page = show(Stepper(good), _other=Stepper(racy)._data)
    assert page.locator(".tt-next-finding").is_visible()
    assert page.locator(".tt-found").count() > 0
    found = [locate(racy.trace, finding)[0] for finding in racy.findings]
    here = sorted(place.position for place in found if place.block == found[0].block)
    for position in dict.fromkeys(here):
        page.locator(".tt-root").press("e")
        expect(page.locator(".tt-mode")).to_have_text("statements of tiled (2)")
        assert step(page) == position
        assert page.locator(".tt-run").nth(1).locator(".tt-current").count() == 1


def test_arrows_step_after_a_click_on_a_tab_or_a_button(walk):
    """By mouse they give the keys back; by keyboard the arrows go from tab to tab, and Enter opens one."""
    page, _ = walk("tiled", step=1)
    tab = page.locator(".tt-tab-waits")
    for place in (page.locator(".tt-forward"), tab):
        place.click()
        page.keyboard.press("ArrowRight")
    assert step(page) == 4
    page.locator(".tt-menu").click()
    expect(page.locator(".tt-block")).to_be_focused()
    page.keyboard.press("Escape")
    expect(tab).to_have_attribute("aria-expanded", "true")
    tab.focus()
    page.keyboard.press("ArrowRight")
    assert step(page) == 4
    expect(page.locator(".tt-tab-launch")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".tt-tab-launch")).to_have_attribute("aria-expanded", "true")


def test_another_run_keeps_where_the_reader_is(walk, launch_of):
    """What arrives from the kernel replaces the trace alone: step, thread, view, speed and unit stay."""
    page, _ = walk("tiled", step=9, thread=[1, 0, 0], panel="waits")
    page.locator(".tt-menu").click()
    page.locator(".tt-unit").select_option(label="a statement of this thread")
    page.evaluate("data => window.model.set('_data', data)", Stepper(launch_of("naive"))._data)
    expect(page.locator(".tt-kernel")).to_have_text("naive")
    assert step(page) == 9
    expect(page.locator(".tt-tab-waits")).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".tt-thread")).to_have_value("1")
    expect(page.locator(".tt-unit option:checked")).to_have_text("a statement of this thread")
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


def test_two_views_of_one_model(walk):
    """Each follows the other, before either has told the kernel."""
    page, timeline = walk("tiled", step=3)
    page.evaluate("""() => {
        const el = document.body.appendChild(document.createElement("div"));
        window.widget.render({ model: window.model, el });
    }""")
    first, second = page.locator(".tt-root").first, page.locator(".tt-root").nth(1)
    second.wait_for()
    page.evaluate("() => (window.saved = 0, window.model.save_changes = () => (window.saved += 1))")
    for number, (root, key) in enumerate(
        [(first, "ArrowRight"), (second, "ArrowRight"), (first, "End"), (second, "t")]
    ):
        root.press(key)
        steps = [4, 5, len(timeline), len(timeline)]
        for view in (first, second):
            expect(view.locator(".tt-count")).to_have_text(f"step {steps[number]} of {len(timeline)}")
    expect(first.locator(".tt-thread")).to_have_value("1")
    page.wait_for_function("() => window.saved > 0")
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
    "a grid of other blocks": lambda head: head.update(grid=[10**6, 1, 1]),
}


def test_a_trace_that_cannot_be_read_is_refused_in_a_sentence(show, launch_of):
    """Wherever the damage shows, on reading or only when the page is built from it; a good trace after it is drawn."""
    stepper = Stepper(launch_of("tiled"))
    newer = "This trace is of a newer version of the course; update and run the cell again."
    cases = {"{": UNREADABLE, '{"version": 4}': UNREADABLE, '{"version": 5}': newer}
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
        expect(page.locator(".tt-count"), what).to_have_text("frame 0 of 5")
        assert page.page_errors == [], what


def test_a_wrong_value_is_marked_with_the_wanted_one(show, launch_of):
    """Where an exercise knows the right result, each wrong element is ringed once it is stored, and said."""
    run = launch_of("tiled")
    wanted = np.array(Timeline(run.trace, (0, 0, 0)).values("C", 31)).reshape(4, 4)
    right = wanted.copy()
    right[0, 1] += 2
    stepper = Stepper(run, step=0, thread=(1, 0), wanted={"C": right})
    timeline = stepper.timeline
    page = show(stepper, _wanted=stepper._wanted)
    rings = page.locator(".tt-matrix-C .tt-faults rect")
    assert rings.count() == 0
    accesses = timeline.accesses("C")
    position = int(accesses.position[accesses.store][0])
    page.evaluate("step => window.model.set('step', step)", position)
    shown = page.locator(".tt-status .tt-wrong")
    assert Scene(timeline, position, 1, stepper._wrong).wrong_now == shown.all_text_contents()
    assert "was wanted" in shown.first.text_content()
    assert rings.count() >= 1


def test_condition_says_its_truth(walk):
    """Beside the line, with the numbers of the chosen thread, as the sentence has them: a ragged edge's guard fails."""
    page, timeline = walk("naive_ragged", block=[1, 1, 0], thread=[1, 1, 0])
    block = page.evaluate("() => document.querySelector('.tt-root').stepper.scene.replay.block.at")
    guarded = Timeline(timeline.trace, tuple(block))
    positions = [p for p in range(1, len(guarded) + 1) if guarded.step(p).conditions]
    assert positions
    page.evaluate("step => window.model.set('step', step)", positions[0])
    truth = page.locator(".tt-condition").text_content()
    assert re.fullmatch(r"(\d+ < \d+: (true|false)(, )?)+", truth)
    assert "false" in truth
    said = page.locator(".tt-sentence").text_content()
    for part in truth.split(", "):
        assert part.replace(":", " is") in said


def test_a_step_that_is_no_number_is_the_first_one(walk):
    page, _ = walk("tiled", step="x")
    expect(page.locator(".tt-count")).to_have_text("step 0 of 31")
    assert page.page_errors == []


def test_tab_stops_at_few_places(show, launch_of):
    """At most ten in a stepper with a view open; the arrow keys reach the rest."""
    page = show(Stepper(launch_of("tiled_16")), panel="warp", step=20)
    stops = page.evaluate(
        """() => [...document.querySelectorAll(".tt-root, .tt-root *")]
          .filter((node) => node.tabIndex >= 0 && node.getClientRects().length).length"""
    )
    assert 3 <= stops <= 10


def test_the_keys_of_a_saved_page_need_no_focus(show, launch_of):
    """Of its only stepper; a page of several waits until one of them is chosen."""
    page = show(Stepper(launch_of("tiled")), _saved=1)
    page.keyboard.press("ArrowRight")
    assert step(page) == 1
    page = show(*[Stepper(launch_of("tiled"))] * 2, _saved=1)
    page.keyboard.press("ArrowRight")
    assert step(page) == 0


def test_a_view_that_goes_leaves_nothing(show, launch_of):
    """Where a front end keeps the place of a closed view, it is empty, and the trace can be freed."""
    page = show(Stepper(launch_of("tiled")))
    left = page.evaluate(
        """() => {
          const root = document.querySelector(".tt-root");
          const { stepper } = root;
          window.undo.forEach((undo) => undo());
          window.undo = [];
          return [root.childElementCount, root.isConnected, stepper.scene, "stepper" in root];
        }"""
    )
    assert left == [0, False, None, False]


def test_what_is_not_computed_yet_is_empty(show):
    """A lesson fills C with NaN to find elements that nobody stores; the picture does not open with it."""
    A = np.ones((4, 4), np.float32)
    run = simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, A, np.full((4, 4), np.nan, np.float32))
    page = show(Stepper(run))
    numbers = page.locator(".tt-matrix-C .tt-t")
    assert numbers.all_text_contents() == [""] * 16
    page.locator(".tt-root").press("End")
    assert numbers.all_text_contents()[:2] == ["4", "4"]
