"""The animation serves the reader: when it starts, that any act pauses it, what it shows in a race and counts."""

import re
from collections import Counter
from pathlib import Path

import nightly
import numpy as np
import pytest
from launches import uses as kernels
from launches.samples import numbers
from oracles import uses
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

from .conftest import VIEWER, drawn, resize, stop_clock

#: Until all observers of what is in sight have heard of the page as it is now.
SEEN = """() => new Promise((done) => {
  new IntersectionObserver((_, observer) => (observer.disconnect(), done())).observe(document.body);
})"""
PLAYS, PAUSED = re.compile("Pause"), re.compile("Play")
#: The keys that the stepper knows, as its list of keys has them, and those of the picture.
KNOWN = re.findall(r'^  \[\[(.*?)\], "', Path(VIEWER, "web", "keys.js").read_text(encoding="utf-8"), re.MULTILINE)
KEYS = [key for row in KNOWN for key in re.findall(r'"(.*?)"', row)]
ENTERS = ["Enter", "Shift+ArrowRight", "Shift+ArrowLeft", "Tab"]
KEYS_BY_DAY = ["ArrowRight", "End", "Home", "e", "n", "t", "Enter"]
LONG = 20_000  # ms, in which any of these animations ends


def run_of(kernel):
    grid, block, arguments = kernels.arguments_of(kernel)
    return simulate(kernel, trace=True, strict=False)[grid, block](*(a.copy() for a in arguments))


def see(page, top=None, number=0):
    """Scroll until the top of a stepper is there in the window, in pixels; without it, all steppers out of sight."""
    if top is None:
        page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    else:
        root = "document.querySelectorAll('.tt-root')[number]"
        page.evaluate(f"([number, top]) => scrollBy(0, {root}.getBoundingClientRect().top - top)", [number, top])
    page.evaluate(SEEN)


@pytest.fixture
def cinema(show):
    """Steppers of a page for a reader who likes motion, with room above and below them; nothing plays yet."""

    def cinema(*steppers, size=(1280, 900), **more):
        page = show(*steppers, frames=True, own=True, size=size, **more)
        page.add_style_tag(content="main > div { margin: 1000px 0 } main { padding-bottom: 2000px }")
        see(page)
        stop_clock(page)
        page.emulate_media(reduced_motion="no-preference")
        return page

    return cinema


def begin(page, frames=2):
    """Scroll to the stepper, whose animation plays so many frames."""
    see(page, 20)
    expect(page.locator(".tt-play")).to_have_attribute("title", PLAYS)
    page.clock.run_for(2000)  # and it is saved
    for _ in range(frames - 1):
        page.clock.run_for(1600)


def state(page):
    return page.evaluate("() => [model.get('step'), document.querySelector('.tt-count').textContent]")


def check_it_stays(page, what):
    """Nothing moves any more, whatever time passes and wherever the reader scrolls; only Play moves the animation."""
    expect(page.locator(".tt-play").first, what).to_have_attribute("title", PAUSED)
    here = state(page)
    page.clock.run_for(3000)
    see(page)
    see(page, 20)
    page.clock.run_for(LONG)
    assert state(page) == here, what
    assert page.page_errors == [], what


def test_it_starts_where_most_of_it_is_in_sight(cinema, launch_of):
    """Not before, and not with its bar above the window; it pauses where less is in sight, and then goes on."""
    page = cinema(Stepper(launch_of("tiled_16")))
    play, high = page.locator(".tt-play"), page.locator(".tt-root").evaluate("root => root.offsetHeight")
    assert high < 850
    for top in (900, 900 - 0.4 * high, -0.3 * high, -0.95 * high):
        see(page, top)
        page.clock.run_for(LONG)
        assert state(page)[0] == 0, top
        expect(play).to_have_attribute("title", PAUSED)
    see(page, 900 - 0.75 * high)
    expect(play).to_have_attribute("title", PLAYS)
    page.clock.run_for(1700)
    here = state(page)
    assert here[1] == "frame 1 of 9"
    see(page, -0.3 * high)
    page.clock.run_for(LONG)
    assert state(page) == here
    see(page, 5)
    page.clock.run_for(1700)
    assert state(page)[1] == "frame 2 of 9"


@pytest.mark.parametrize("size", [(1280, 250), (390, 340)])
def test_it_starts_in_a_window_that_is_lower_than_the_picture(cinema, launch_of, size):
    """Where the picture fills most of the window, with its bar in sight or not; not at an edge of the window."""
    for top in (10, -60):
        page = cinema(Stepper(launch_of("tiled_16")), size=size)
        high = page.locator(".tt-root").evaluate("root => root.offsetHeight")
        assert high > size[1]
        for away in (0.7 * size[1], 0.3 * size[1] - high):
            see(page, away)
            page.clock.run_for(LONG)
            assert state(page)[0] == 0
        see(page, top)
        expect(page.locator(".tt-play")).to_have_attribute("title", PLAYS)
        page.clock.run_for(1700)
        assert state(page)[1] == "frame 1 of 9"


def test_each_of_several_steppers_starts_where_it_is_seen(cinema, launch_of):
    """The others wait at their start."""
    page = cinema(*[Stepper(launch_of("tiled_16"))] * 3)
    counts = page.locator(".tt-count")
    for number in (1, 0, 2):
        see(page, 30, number)
        expect(page.locator(".tt-play").nth(number)).to_have_attribute("title", PLAYS)
        page.clock.run_for(1700)
        expect(counts.nth(number)).to_have_text("frame 1 of 9")
    page.clock.run_for(LONG)
    expect(counts.nth(1)).to_have_text("frame 1 of 9")
    expect(counts.nth(2)).to_have_text("frame 9 of 9")


@pytest.mark.parametrize("other", [None, "naive_16"])
def test_it_plays_once_and_stays_at_its_end(cinema, launch_of, other):
    """An animation of one run, and two runs beside each other; Play then begins again."""
    beside = {"_other": Stepper(launch_of(other))._data} if other else {}
    page = cinema(Stepper(launch_of("tiled_16")), **beside)
    begin(page, 1)
    last = page.evaluate("() => document.querySelector('.tt-root').stepper.end")
    seen = [state(page)[0]]
    while seen[-1] != last:
        page.clock.run_for(1600)
        seen.append(state(page)[0])
        assert seen[-1] > seen[-2]
    check_it_stays(page, "the end")
    assert state(page)[0] == last
    page.locator(".tt-play").click()
    page.clock.run_for(1700)
    assert state(page)[0] == seen[0]


def test_a_reader_who_wants_no_motion_starts_it(cinema, launch_of):
    page = cinema(Stepper(launch_of("tiled")))
    page.emulate_media(reduced_motion="reduce")
    see(page, 20)
    check_it_stays(page, "no motion")
    assert state(page)[0] == 0


#: Close what an act has opened, and go to the start.
RESET = """async () => {
  const root = document.querySelector(".tt-root");
  if (document.fullscreenElement) await document.exitFullscreen();
  dispatchEvent(new Event("afterprint"));
  for (const [place, close] of [["keys", "toggleLegend"], ["choices", "toggleMenu"]]) {
    if (!root.querySelector(`.tt-${place}`).hidden) root.stepper[close]();
  }
  root.stepper.setSpeed(2);
  root.stepper.setTraits({ step: 0, block: [0, 0, 0], thread: [0, 0, 0], panel: "" });
  root.stepper.setUnit(0);
}"""


def again(page):
    """Play from the start as a reader does, at the usual speed."""
    page.evaluate(RESET)
    see(page, 20)
    page.evaluate("() => document.querySelector('.tt-root').stepper.togglePlaying()")
    page.clock.run_for(2000)
    page.clock.run_for(1600)
    assert state(page)[1].startswith("frame 2 of")
    expect(page.locator(".tt-play")).to_have_attribute("title", PLAYS)


@pytest.mark.nightly
def test_any_key_pauses_it_for_good(cinema, launch_of):
    """Keys of the list, at night all, on the stepper, of an animation that began by itself or that a reader plays."""
    page = cinema(Stepper(launch_of("racy")))
    begin(page)
    every = [*KEYS, *ENTERS]
    assert set(KEYS_BY_DAY) < set(every)
    for number, key in enumerate(every if nightly.NIGHTLY else KEYS_BY_DAY):
        if number:
            again(page)
        before = state(page)
        page.locator(".tt-root").press(key)
        after = state(page)
        check_it_stays(page, key)
        assert state(page) == after, key
        if key in ("ArrowRight", "ArrowLeft", "Home", "End", "e", "E", "n", "p", "l", "Enter"):
            assert after != before, key
        if key == "End":
            assert re.fullmatch(r"frame (\d+) of \1", after[1])
        if key == "e":
            assert page.locator(".tt-status .tt-wrong").count() >= 1
        if key == "Home":
            assert after[0] == 0


def click(where):
    return lambda page: page.locator(where).first.click()


def choose(name, number=1):
    def act(page):
        page.locator(".tt-menu").click()
        page.evaluate("() => document.querySelector('.tt-root').stepper.play()")  # the menu is an act of its own
        page.locator(f".tt-{name}").select_option(index=number)

    return act


def press_in_the_menu(name):
    def act(page):
        page.locator(".tt-menu").click()
        page.evaluate("() => document.querySelector('.tt-root').stepper.play()")
        page.locator(f".tt-{name}").click()

    return act


def drag(page):
    box = page.locator(".tt-scrub").bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + box["height"] - 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + box["height"] - 5)
    page.mouse.up()


def swipe(page):
    page.evaluate("""() => {
      const place = document.querySelector(".tt-memory");
      for (const [what, clientX] of [["touchstart", 300], ["touchend", 100]]) {
        const touch = new Touch({ identifier: 1, target: place, clientX });
        place.dispatchEvent(new TouchEvent(what, { bubbles: true, touches: [touch], changedTouches: [touch] }));
      }
    }""")


def follow_link(page):
    page.evaluate("""() => {
      const link = Object.assign(document.createElement("a"), { href: "#step=7", textContent: "a step" });
      document.querySelector("h1").append(link);
      link.click();
    }""")


ACTS = {
    **{name: click(f".tt-{name}") for name in ("start", "back", "forward", "end", "next-finding")},
    **{name: click(f".tt-{name}") for name in ("mode", "menu", "play")},
    **{name: choose(name) for name in ("block", "thread", "unit", "speed")},
    **{name: press_in_the_menu(name) for name in ("help", "full")},
    "a tab": click(".tt-tabs button"),
    "the timeline": click(".tt-scrub"),
    "a barrier": click(".tt-labels span"),
    "a drag": drag,
    "a swipe": swipe,
    "an element of C": click(".tt-matrix-C .tt-c"),
    "an element of A": click(".tt-matrix-A .tt-c"),
    "two clicks": lambda page: page.locator(".tt-memory").dblclick(position={"x": 3, "y": 3}),
    "a line": click(".tt-line[data-line] .tt-jump"),
    "a thread": click(".tt-of-threads .tt-c"),
    "an arrow on an element": lambda page: page.locator(".tt-memory [role=application]").first.press("ArrowDown"),
    "a link": follow_link,
    "from Python": lambda page: page.evaluate("() => model.set('step', 12)"),
    "print": lambda page: page.evaluate("() => dispatchEvent(new Event('beforeprint'))"),
    "in another view": lambda page: page.evaluate("""() => {
      const el = document.body.appendChild(document.createElement("div"));
      window.widget.render({ model, el });
      model.set("thread", [1, 0, 0]);
    }"""),
}


ACTS_BY_DAY = ("forward", "next-finding", "speed", "the timeline", "a drag", "an element of C", "a link", "from Python")


def test_any_act_pauses_it_for_good(cinema, launch_of):
    """Buttons and lists, places that can be clicked or dragged, a link, and what the kernel asks for; at night all."""
    page = cinema(Stepper(launch_of("racy")))
    begin(page)
    for number, name in enumerate(ACTS if nightly.NIGHTLY else ACTS_BY_DAY):
        if number:
            again(page)
        ACTS[name](page)
        after = state(page)
        check_it_stays(page, name)
        assert state(page) == after, name
    page.locator(".tt-play").first.click()
    page.clock.run_for(3000)
    assert state(page) != after, "Play moves it"


def test_a_key_on_a_page_of_one_stepper_pauses_it(cinema, launch_of):
    """Without the focus; keys that are not the stepper's leave it playing."""
    page = cinema(Stepper(launch_of("tiled_16")), _saved=1)
    begin(page)
    page.keyboard.press("x")
    expect(page.locator(".tt-play")).to_have_attribute("title", PLAYS)
    page.keyboard.press("End")
    assert state(page)[1] == "frame 9 of 9"
    check_it_stays(page, "End")
    page.evaluate("() => (location.hash = '#step=3')")
    expect(page.locator(".tt-count")).to_contain_text("step 3 of")
    check_it_stays(page, "an address")


def test_a_step_that_is_asked_for_does_not_play(cinema, launch_of):
    page = cinema(Stepper(launch_of("tiled_16"), step=9))
    see(page, 20)
    check_it_stays(page, "a step")


@pytest.mark.parametrize("kernel", [*kernels.RACES, *kernels.ORDERED], ids=lambda kernel: kernel.__name__)
def test_in_a_frame_stands_what_its_threads_read(show, kernel):
    """What is marked as read in a frame has the value, or is empty, as each thread found it when it read it."""
    run = run_of(kernel)
    timeline = Timeline(run.trace, (0, 0, 0))
    page = show(Stepper(run), frames=True)
    animation = page.evaluate("""() => {
      const { animation } = document.querySelector(".tt-root").stepper.scene.runs[0];
      return [animation.frames.map(({ step }) => step), [...animation.frameOf]];
    }""")
    checked = 0
    for number, step in enumerate(animation[0]):
        page.evaluate(
            "step => { document.querySelector('.tt-root').stepper.setUnit(0); model.set('step', step) }", step
        )
        shown = page.evaluate("() => shown()")
        assert shown["frame"] == number
        for grid in shown["grids"]:
            accesses = timeline.accesses(grid["name"])
            ringed = set(grid["mine"])
            for position, element, thread, store in zip(
                accesses.position.tolist(),
                accesses.element.tolist(),
                accesses.thread.tolist(),
                accesses.store.tolist(),
                strict=True,
            ):
                marked = grid["states"][element] == "R" or (element in ringed and thread == shown["where"][1])
                in_frame = animation[1][position - 1] == number
                if store or not in_frame or not marked or not grid["texts"]:
                    continue
                value = timeline.values(grid["name"], position - 1)[element]
                found = "" if value is np.ma.masked else float(value)
                text = grid["texts"][element]
                assert (text and float(text)) == found, (grid["name"], element, position)
                checked += 1
    assert checked


@pytest.mark.parametrize("kernel", kernels.PRODUCTS, ids=lambda kernel: kernel.__name__)
def test_the_counter_counts_uses(show, kernel):
    """As often as numbers that know their origin say; a kernel that uses none claims nothing."""
    page = show(Stepper(run_of(kernel)), frames=True)
    resize(page, (1280, 900))
    counts = uses.count_block(kernel, *kernels.arguments_of(kernel))
    said = page.locator(".tt-uses").text_content()
    number = re.search(r"used (once|[\d.]+)", said)
    assert (float(number[1].replace("once", "1")) if number else 0) == pytest.approx(
        counts.used / counts.fetched, abs=0.05
    )
    assert bool(number) == bool(said)


@pytest.mark.parametrize("names", [("naive_16", "tiled_16"), ("tiled_16", "prefetched_16")])
def test_the_counter_says_how_many_numbers_the_other_kernel_loads(show, launch_of, names):
    """Of all steps, whatever is loaded so far: how many times as many, or as many."""
    page = show(Stepper(launch_of(names[0])), _other=Stepper(launch_of(names[1]))._data, step=5)
    loads = []
    for trace in (launch_of(name).trace for name in names):
        timeline = Timeline(trace, tuple(trace.columns.blocks[0].tolist()))
        touched = [timeline.accesses(array.name) for array in trace.arrays.values() if array.space == "global"]
        loads.append(sum(int((~each.store).sum()) for each in touched))
    assert page.locator(".tt-counter b").all_text_contents() == [str(number) for number in loads]
    said = [re.findall(r"^\w+|\d+", line.text_content()) for line in page.locator(".tt-other-run").all()]
    first, second = (name.partition("_")[0] for name in names)
    if loads[0] == loads[1]:
        assert said == [[second, str(loads[1])], [first, str(loads[0])]]
    else:
        assert said == [[], [first, str(loads[0] // loads[1])]]


#: Two kernels whose blocks do different work: their rungs, sizes (M, K, N) and parameters.
UNLIKE = [
    (("naive", (8, 16, 8), {"block_width": 4}), ("tiled", (8, 16, 8), {"tile_width": 8})),
    (("tiled", (8, 16, 16), {"tile_width": 8}), ("outer_product", (16, 32, 64), {})),
    (("outer_product", (16, 32, 64), {}), ("register_1d", (64, 16, 64), {})),
    (("register_1d", (64, 16, 64), {}), ("register_2d", (128, 8, 128), {})),
]


@pytest.mark.parametrize("pair", nightly.every(2, UNLIKE), ids=lambda pair: "_".join(name for name, *_ in pair))
def test_kernels_of_different_work_are_compared_by_each_multiply_add(show, pair):
    """Its loads from shared and from global memory, as numbers that know their origin count them."""
    runs, wanted = [], []
    for name, (M, K, N), params in pair:
        arguments = numbers(M, K), numbers(K, N, seed=1), np.zeros((M, N), np.float32)
        grid, block = rung(name).launch(M, N, K, **params)
        kernel = rung(name).make(**params)
        runs.append(simulate(kernel, trace=True)[grid, block](*arguments))
        counts = uses.count_block(kernel, grid, block, arguments)
        wanted.append([counts.shared / counts.multiplied, counts.fetched / counts.multiplied])
    page = show(Stepper(runs[0]), _other=Stepper(runs[1])._data, step=2)
    for run, each in zip(page.locator(".tt-run").all(), wanted, strict=True):
        said = [float(text) for text in run.locator(".tt-counter b").all_text_contents()]
        assert said == [float(f"{number:.2g}") for number in each]


@pytest.mark.parametrize("name", ["naive", "tiled", "naive_ragged", "racy", "outer_product", "prefetched", "stencil"])
def test_the_counter_says_how_often_numbers_are_loaded(show, launch_of, name):
    """By all blocks before the first step, and then by one: the least and the most of those that are loaded."""
    trace = launch_of(name).trace
    page = show(Stepper(launch_of(name)), frames=True)
    blocks = [tuple(at) for at in trace.columns.blocks.tolist()]
    for key, of in (("Home", blocks), ("End", blocks[:1])):
        page.locator(".tt-root").press(key)
        counts = Counter()
        for array in (array for array in trace.arrays.values() if array.space == "global"):
            for block in of:
                accesses = Timeline(trace, block).accesses(array.name)
                counts.update((array.name, element) for element in accesses.element[~accesses.store].tolist())
        said = page.locator(".tt-counter p", has_text="each loaded").text_content().replace("once", "1×")
        least, *_, most = [int(number) for number in re.findall(r"\d+", said)] * 2
        assert (least, most) == (min(counts.values()), max(counts.values())), (key, said)


#: A stepper, and cells below it that JupyterLab shows once the stepper's has run.
LAB_CELLS = [
    """\
import numpy as np
from course_lib import simulate
from course_lib.kernels.tiled import tiled
from course_lib.trace.viewer import Stepper
A, B, C = np.ones((16, 16), "f4"), np.ones((16, 16), "f4"), np.zeros((16, 16), "f4")
run = simulate(tiled(4), trace=True)[(4, 4), (4, 4)](A, B, C)""",
    "Stepper(run)",
    *["\n".join(["# read this"] * 20)] * 3,
]


@pytest.mark.nightly
def test_in_jupyterlab_it_waits_until_its_bar_is_seen(open_notebook):
    """After Shift+Enter the next cell is shown; most of the picture may be in sight, and its bar above the window."""
    notebook = open_notebook(LAB_CELLS)
    page, size = notebook.page, notebook.page.viewport_size
    page.set_viewport_size({"width": 1366, "height": 768})
    page.emulate_media(reduced_motion="no-preference")
    try:
        notebook.cell(0).click()
        page.keyboard.press("Escape")
        for _ in range(2):
            page.keyboard.press("Shift+Enter")
        root = drawn(notebook.cell(1).locator(".tt-root"))
        root.evaluate("root => root.stepper.setSpeed(0)")  # it is not at its end before the test is
        high = root.evaluate("root => root.offsetHeight")
        for top, title in ((-0.37 * high, PAUSED), (None, PLAYS), (-0.37 * high, PAUSED)):
            root.evaluate(
                """(root, top) => {
              root.scrollIntoView({ block: "center" });
              let place = root.parentElement;
              while (place.scrollHeight <= place.clientHeight || getComputedStyle(place).overflowY === "visible") {
                place = place.parentElement;
              }
              if (top !== null) place.scrollTop += root.getBoundingClientRect().top - top;
            }""",
                top,
            )
            expect(root.locator(".tt-play")).to_have_attribute("title", title)
            shown = root.evaluate("root => root.getBoundingClientRect().top")
            assert (shown < 0) == (top is not None)
    finally:
        page.emulate_media(reduced_motion="reduce")
        page.set_viewport_size(size)
    assert notebook.page_errors == []
