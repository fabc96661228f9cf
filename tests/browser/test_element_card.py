"""What the stepper says of an element that a reader points at, compared with a count over the steps of the trace."""

import re
from collections import defaultdict

import numpy as np
import pytest
from nightly import at_night
from oracles.replay import assignments
from playwright.sync_api import expect

from course_lib.simulator.launch_shape import coordinates
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.digits import number
from course_lib.trace.viewer.words import label, shown_dimensions

from .conftest import stop_clock

DID = {"load": "read", "store": "written", "atomic": "updated", "result": "received"}
#: What the card says of every element of every array, at a step.
ALL_CARDS = """step => {
  const { scene } = document.querySelector(".tt-root").stepper;
  window.model.set("step", step);
  const [arrays] = scene.runs[0].views;
  return scene.trace.arrays.flatMap((array, number) => Array.from({ length: array.size }, (_, element) => {
    arrays.card.showFor(arrays.locate(number, element));
    const state = cardState(arrays.card);
    arrays.card.showFor(null);
    return state;
  }));
}"""
STATE = "() => shown().card"


def uses_of(trace, block, thread):
    """(array, element) -> [(position, line, op, threads)] of a block, by its steps; of local arrays, one thread's."""
    found = defaultdict(list)
    steps = [step for step in trace.steps if step.block == block]
    for position, step in enumerate(steps, start=1):
        for access in step.accesses:
            array = trace.arrays[access.array]
            users = defaultdict(list)
            for who, index in zip(access.threads.tolist(), access.index, strict=True):
                for w in range(access.width):
                    place = (*index[:-1], index[-1] + w) if len(index) else ()
                    users[int(np.ravel_multi_index(place, array.shape)) if place else 0].append(who)
            for element, threads in users.items():
                threads = [who for who in threads if array.space != "local" or who == thread]
                if threads:
                    found[array.name, element].append((position, step.line, access.op, threads))
    return found


def lanes_in(text):
    """The numbers of "lanes 0–3, 8"."""
    pairs = [part.split("–") for part in text.split(" ", 1)[1].split(", ")]
    return [lane for pair in pairs for lane in range(int(pair[0]), int(pair[-1]) + 1)]


def check_element(asked, uses, position, name):
    """Lanes, first accesses and counts of a card; ``name`` says a thread's position."""
    says = " ".join(asked["says"][1:])
    past = [use for use in uses if use[0] <= position]
    now = [(DID[op], threads[0] // 32, [who % 32 for who in threads]) for at, _, op, threads in uses if at == position]
    shown = re.findall(r"(\w+) by (lanes? [\d–, ]+) of warp (\d+)", says)
    assert [(did, int(warp), lanes_in(lanes)) for did, lanes, warp in shown] == now
    assert ("Not used in this step." in says) == (not now)

    def who(threads):
        return f"thread {name(threads[0])}" + (f" and {len(threads) - 1} more" if len(threads) > 1 else "")

    for op, did in DID.items():
        first = next(((at, who(threads)) for at, _, kind, threads in past if kind == op), None)
        stated = re.search(rf"First {did} in step (\d+) by (thread .*?(?: and \d+ more)?)\.", says)
        assert (stated and (int(stated[1]), stated[2])) == first
        count = re.search(rf"So far .*{did} (\d+) times?", says)
        assert int(count[1] if count else 0) == sum(len(threads) for _, _, kind, threads in past if kind == op)


@pytest.mark.parametrize(
    "name",
    ["tiled", "histogram", "complex", *map(at_night, ["reduction", "three_dimensions", "odd_blocks", "outer_product"])],
)
def test_every_element_says_who_uses_it(show, launch_of, name):
    """Its value, the lanes that use it now, the first to use it, and counts, by a walk over the trace's own steps."""
    trace = launch_of(name).trace
    block = tuple(trace.columns.blocks[-1].tolist())
    thread = min(trace.n_threads - 1, 3)
    place = coordinates(thread, trace.block)
    page = show(Stepper(launch_of(name), block=block, thread=place))
    timeline, uses = Timeline(trace, block), uses_of(trace, block, thread)
    dims = shown_dimensions(trace)
    touching = [i for i in range(1, len(timeline) + 1) if timeline.step(i).accesses]
    for position in (0, touching[len(touching) // 2], len(timeline)):
        cards = page.evaluate(ALL_CARDS, position)
        assert len(cards) == sum(array.size for array in trace.arrays.values())
        for asked in cards:
            key = asked["array"], asked["element"]
            check_element(asked, uses[key], position, lambda t: label(coordinates(t, trace.block), dims))
            values = timeline.values(asked["array"], position)
            value = (values[thread] if values.ndim > 1 else values)[asked["element"]]
            holds = "empty" if value is np.ma.masked else number(value)
            assert asked["says"][0].split(" = ")[1] == holds, key
    assert page.page_errors == []


def test_a_card_is_open_as_long_as_a_reader_points(show, launch_of):
    """Pointing shows a card, which follows the steps; leaving hides it, as Escape does."""
    page = show(Stepper(launch_of("tiled")), step=12, own=True)
    cells = page.locator("[data-space=shared] .tt-grid").first.locator(".tt-c")
    card = page.locator(".tt-element-card")
    cells.nth(1).hover()
    expect(card).to_contain_text("A_tile[0, 1]")
    page.locator(".tt-kernel").hover()
    expect(card).to_be_hidden()
    assert page.evaluate(STATE) is None
    cells.nth(1).click()
    expect(card).to_contain_text("A_tile[0, 1]")
    page.keyboard.press("ArrowRight")  # goes on stepping
    expect(page.locator(".tt-count")).to_contain_text("step 13 of")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    assert page.page_errors == []


def test_an_array_is_read_by_keyboard(show, launch_of):
    """The arrows go from element to element, whose value text is what the card says; playing is silent."""
    run = launch_of("tiled")
    page = show(Stepper(run, step=10))
    page.locator(".tt-root").press("Tab")  # so that focus is that of the keyboard
    array = page.locator(".tt-matrix-A svg")
    expect(array).to_have_attribute("aria-label", re.compile("arrow keys"))
    array.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowDown"):
        array.press(key)
    asked = page.evaluate(STATE)
    assert (asked["array"], asked["element"]) == ("A", 5)
    assert array.get_attribute("aria-description") == " ".join(asked["says"])
    assert page.evaluate("() => window.model.get('step')") == 10
    array.press("n")  # other keys are the stepper's
    step = page.evaluate("() => window.model.get('step')")
    assert step > 10
    text = array.get_attribute("aria-description")
    assert text == " ".join(page.evaluate(STATE)["says"])
    array.press("Escape")
    expect(page.locator(".tt-element-card")).to_be_hidden()


def test_playing_does_not_announce_the_element(show, launch_of):
    """While the page plays, the focused array keeps its value text, although the card follows the steps."""
    page = show(Stepper(launch_of("tiled"), step=8), own=True)
    stop_clock(page)
    page.locator(".tt-root").press("Tab")
    array = page.locator(".tt-matrix-A svg")
    array.focus()
    array.press("ArrowRight")
    text = array.get_attribute("aria-description")
    array.press(" ")
    page.clock.run_for(2000)
    assert page.evaluate("() => window.model.get('step')") > 10
    assert array.get_attribute("aria-description") == text != " ".join(page.evaluate(STATE)["says"])


def steps_behind(timeline, thread):
    """For a row of each list of the page, its place and the positions of its steps, from the columns of the trace."""
    columns, rows = timeline.columns, timeline.columns.rows("access", timeline.first, timeline.last)
    line = int(timeline.lines[timeline.of_thread(thread)][-3])
    position, who, _ = assignments(timeline, "acc")
    load = (columns.access["op"][rows] == 0) & (columns.access["array"][rows] == columns.arrays.index("A"))
    step = columns.access["step"][rows][load] - timeline.first
    first = timeline.lines[step].min()
    barriers = [number for number, text in timeline.trace.source if "syncthreads" in text]
    release = timeline.releases[0]
    arrivals = np.flatnonzero(np.isin(timeline.lines[:release], barriers)) + 1
    return {
        f".tt-line[data-line='{line}']": np.flatnonzero(timeline.of_thread(thread) & (timeline.lines == line)) + 1,
        ".tt-registers dl > div:has-text('acc')": position[who == thread],
        ".tt-labels span:has([aria-label='barrier 1'])": arrivals,
        f".tt-panel-warp .tt-costs tr:has-text('load A'):has-text('{first}')": step[timeline.lines[step] == first] + 1,
    }


def test_lines_registers_counts_costs_and_barriers_lead_to_their_steps(show, launch_of):
    """In turn, by clicks, and from the keyboard; with Shift back."""
    run = launch_of("tiled_two_warps")
    timeline, thread = Timeline(run.trace, (0, 0, 0)), 40
    last = len(timeline)
    page = show(Stepper(run), thread=(0, 5, 0), step=last, panel="warp")
    here = "() => window.model.get('step')"
    for row, found in steps_behind(timeline, thread).items():
        found = sorted({int(p) for p in np.concatenate([np.atleast_1d(part) for part in found])} - {last})
        assert len(found) > 1
        page.locator(".tt-end").click()
        for wanted in (found[0], found[1]):
            page.locator(row).click()
            assert page.evaluate(here) == wanted, row
        button = page.locator(f"{row} .tt-jump")
        button.press("Shift+Enter")
        assert page.evaluate(here) == found[0], row
        button.press("Enter")
        assert page.evaluate(here) == found[1], row
