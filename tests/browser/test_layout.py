"""How the stepper fits a page: small screens, both themes, many steppers."""

import itertools
from pathlib import Path

import pytest
from nightly import NIGHTLY, at_night, every
from oracles.scene import scene_of
from playwright.sync_api import expect

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.digits import short

SCREENS = [(1280, 720), (853, 480), (390, 844)]
TOUCHED = list(itertools.product(["tiled_16", "bank_conflicts", "outer_product", "naive", "complex"], SCREENS))
SIGHT = (Path(__file__).parent / "sight.js").read_text(encoding="utf-8").partition("\n")[2]
ALONE = "<style>body { margin: 0 } h1 { display: none }</style>"
VISIBLE = """(name) => {
  const node = document.querySelector(name);
  const box = node.getBoundingClientRect();
  const root = document.querySelector(".tt-root").getBoundingClientRect();
  const clipped = [Math.max(box.top, root.top, 0), Math.min(box.bottom, root.bottom, innerHeight)];
  return { share: (clipped[1] - clipped[0]) / box.height, left: box.left, right: box.right, height: box.height };
}"""

# Of each text with a digit: its size in pixels, as the page shows it, its class and the text.
DIGITS = """() => [...document.querySelectorAll(".tt-root *")].flatMap((node) => {
  const text = [...node.childNodes].map((child) => (child.nodeType === 3 ? child.data : "")).join("");
  const hidden = !node.getClientRects().length || getComputedStyle(node).visibility === "hidden";
  if (!/\\d/.test(text) || hidden || /^(title|option|style)$/i.test(node.tagName)) return [];
  const scale = node instanceof SVGElement ? node.getScreenCTM().a : 1;
  return [[scale * Number.parseFloat(getComputedStyle(node).fontSize), node.getAttribute("class"), text]];
})"""


@pytest.mark.parametrize("name", ["tiled_16", *map(at_night, ["tiled", "best"])])
def test_source_and_matrices_are_in_sight_together(show, resize, launch_of, name):
    """1280×720 at 150 % is 853×480: the matrices, the source and the controls share the page, nothing beside it."""
    sizes = [(853, 480), (900, 700), (1280, 720), (1920, 1080)]
    page = show(Stepper(launch_of(name), step=30), size=sizes[-1], panel="arrays")
    for size in sizes:
        resize(page, size)
        controls, product, source = (
            page.evaluate(VISIBLE, f".tt-{part}") for part in ("controls", "product", "source")
        )
        assert controls["share"] == 1, size
        assert product["share"] > 0.98 and product["height"] > 100, size
        assert source["share"] > 0.98 and source["height"] > 100, size
        assert product["right"] <= source["left"] and source["right"] <= size[0], size
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0], size
        assert page.locator(".tt-root").bounding_box()["height"] <= size[1] - 90, size
        frame, line = (page.locator(name).bounding_box() for name in (".tt-source", ".tt-source .tt-current"))
        assert frame["y"] <= line["y"] and line["y"] + line["height"] <= frame["y"] + frame["height"] + 1, size


def test_controls_stay_while_the_rest_scrolls(show, launch_of):
    """However far memory, source and lens are scrolled, the buttons and the tabs do not move."""
    page = show(Stepper(launch_of("best"), step=3000), panel="launch")
    fixed = (".tt-play", ".tt-tab-launch", ".tt-legend")
    before = [page.locator(name).bounding_box() for name in fixed]
    for name in (".tt-memory", ".tt-source", ".tt-lens"):
        page.evaluate("name => (document.querySelector(name).scrollTop = 1e6)", name)
        assert page.evaluate("name => document.querySelector(name).scrollTop", name) > 0, name
    assert [page.locator(name).bounding_box() for name in fixed] == before


@pytest.mark.parametrize("name", ["tiled", "bank_conflicts", at_night("best")])
def test_a_lens_is_in_sight_beside_the_matrices(show, resize, launch_of, name):
    """In a window of 1440×900 nobody scrolls to see what a view shows first: its picture lies inside its frame."""
    stepper = Stepper(launch_of(name))
    page = show(stepper, size=(1440, 900), step=scene_of(stepper).position)
    for lens in ("warp", "banks", "waits", "launch"):
        page.evaluate("lens => window.model.set('panel', lens)", lens)
        resize(page, (1440, 900))
        frame, product = page.evaluate(VISIBLE, ".tt-lens"), page.evaluate(VISIBLE, ".tt-product")
        assert frame["share"] == 1 and product["share"] == 1, lens
        picture = f".tt-lens-{lens} :is(svg, canvas)"
        top, bottom, end = page.evaluate(
            """([picture, frame]) => {
              const box = (name) => document.querySelector(name).getBoundingClientRect();
              const [inner, outer] = [box(picture), box(frame)];
              return [inner.top, inner.bottom, outer.bottom];
            }""",
            [picture, ".tt-lens"],
        )
        assert min(bottom, end) - top > 0.75 * (bottom - top), lens


@pytest.mark.parametrize("name", ["tensor_cores", at_night("tensor_cores_bf16")])
def test_all_rows_of_a_fragment_are_in_sight(show, resize, launch_of, name):
    """Beside the matrices and below the line that multiplies them, whose source gives way."""
    stepper = Stepper(launch_of(name))
    line, timeline = stepper.trace.matrices[0].line, stepper.timeline
    step = next(s for s in range(1, len(timeline) + 1) if timeline.step(s).line == line)
    page = show(stepper, size=(1280, 900), panel="fragments", step=step)
    for size in ((1280, 900), (1440, 900)):
        resize(page, size)
        ends = page.locator(".tt-fragment").evaluate_all("nodes => nodes.map((n) => n.getBoundingClientRect().bottom)")
        frame = page.locator(".tt-lens").bounding_box()
        assert len(ends) == 3 and max(ends) <= frame["y"] + frame["height"] + 1, size
        source, current = (page.locator(name).bounding_box() for name in (".tt-source", ".tt-source .tt-current"))
        assert source["y"] < current["y"], size
        assert current["y"] + current["height"] <= source["y"] + source["height"], size


def test_a_small_launch_leaves_no_empty_page(show, launch_of):
    """The stepper is as high as what it shows, and does not shrink from one step, or one lens, to the next."""
    page = show(Stepper(launch_of("stencil"), step=3), panel="warp")
    high = page.locator(".tt-root").bounding_box()["height"]
    page.evaluate("() => window.model.set('step', 1)")
    page.evaluate("() => window.model.set('panel', 'waits')")
    assert page.locator(".tt-root").bounding_box()["height"] == pytest.approx(high, abs=0.5)
    page = show(Stepper(launch_of("stencil"), step=1), panel="waits")
    assert page.locator(".tt-root").bounding_box()["height"] < min(high - 50, 650)


@pytest.mark.parametrize("name", ["stencil", "reduction", "histogram", "transpose"])
def test_small_arrays_show_their_numbers(show, launch_of, name):
    """A kernel without matrices is as good as a product: every element of its arrays is readable."""
    run = launch_of(name)
    page = show(Stepper(run))
    state = page.evaluate("() => document.querySelector('.tt-root').stepper.state()")
    for grid in state["grids"]:
        assert grid["texts"] is not None, grid["name"]
    sides = page.locator(".tt-others .tt-c").evaluate_all("nodes => nodes.map((n) => n.getBoundingClientRect().width)")
    assert min(sides) >= 15


def test_a_large_array_is_magnified(show, launch_of):
    """Heat without numbers, and a lens with the numbers of what the thread touches, or of what is pointed at."""
    run = launch_of("naive_65")
    page = show(Stepper(run), size=(1280, 900))
    page.evaluate("() => window.model.set('step', document.querySelector('.tt-root').stepper.last)")
    C = run.trace.arrays["C"]
    box = page.locator(".tt-matrix-C canvas").bounding_box()
    # the middle of the element in row 9 and column 12, which the first block stores
    x = box["x"] + box["width"] * 12.5 / C.shape[1]
    y = box["y"] + box["height"] * 9.5 / C.shape[0]
    page.mouse.move(x, y)
    (lens,) = page.evaluate("() => document.querySelector('.tt-root').stepper.stage.runs[0].views[0].state().lenses")
    held = dict(zip(lens["elements"], lens["texts"], strict=True))
    assert lens["array"] == "C" and len(held) >= 24
    assert held[9 * C.shape[1] + 12] == short(C.final[9, 12])


#: Of each of so many steps and the start: the number of arrows.
ARROWS = """(steps) => Array.from({ length: steps + 1 }, (_, step) => {
  window.model.set("step", step);
  return document.querySelectorAll(".tt-magnified:not([hidden]) .tt-arrow").length;
})"""


def test_an_arrow_leads_only_from_what_the_line_reads(show, launch_of):
    """Not from the part of an array that stays in sight while a line only sets a register."""
    run = launch_of("tiled")
    page = show(Stepper(run), size=(853, 480))
    steps = [step for step in run.trace.steps if step.block == (0, 0, 0)]
    start, *arrows = page.evaluate(ARROWS, len(steps))
    reading = [any(access.op == "load" for access in step.accesses) for step in steps]
    assert start == 0 and any(arrows)
    assert [step.line for step, arrow, reads in zip(steps, arrows, reading, strict=True) if arrow and not reads] == []


@pytest.mark.parametrize(
    "name, lenses",
    [
        ("bank_conflicts", ("warp", "banks", "arrays")),
        at_night("groups_in_flight", ("fragments",)),
        at_night("tensor_cores", ("fragments",)),
        at_night("naive_65", ("warp", "arrays")),
        at_night("tensor_cores_bf16", ("fragments", "banks")),
        at_night("exchanges", ("warp", "arrays")),
        at_night("best", ("arrays", "warp", "banks", "waits", "launch")),
    ],
)
def test_no_digit_is_smaller_than_nine_pixels(show, resize, launch_of, name, lenses):
    """In lanes, addresses, banks, fragments, elements, indices and the labels of the timeline, at each of the sizes."""
    stepper = Stepper(launch_of(name))
    page = show(stepper, step=scene_of(stepper).position)
    last = page.evaluate("() => document.querySelector('.tt-root').stepper.last")
    for size, lens in itertools.product(SCREENS, lenses):
        page.evaluate("lens => window.model.set('panel', lens)", lens)
        resize(page, size)
        for step in (scene_of(stepper).position, last // 2, last):
            page.evaluate("step => window.model.set('step', step)", step)
            drawn = page.evaluate(DIGITS)
            assert len(drawn) > 30, "most of the picture has no digits"
            assert [each for each in drawn if each[0] < 8.95] == [], (size, lens, step)


@pytest.mark.parametrize(
    "case", [*every(4, TOUCHED), ("racy", (853, 480)), *(at_night(("best", size)) for size in SCREENS)], ids=str
)
def test_what_the_line_touches_is_in_sight(show, launch_of, case):
    """At 1280×720, at 150 % and on a phone: the line, and each array that it touches, with digits of 9 pixels."""
    name, size = case
    all_in_sight(show(Stepper(launch_of(name)), size=size, head=ALONE))


@pytest.mark.parametrize("name", ["tensor_cores", *map(at_night, ["groups_in_flight", "tensor_cores_bf16"])])
def test_what_the_line_touches_is_in_sight_beside_the_fragments(show, resize, launch_of, name):
    """Below the source, or on a phone above the view."""
    page = show(Stepper(launch_of(name)), panel="fragments", head=ALONE)
    for size in SCREENS:
        resize(page, size)
        all_in_sight(page)


@pytest.mark.parametrize("panel, sizes", [("compare", SCREENS), ("arrays", SCREENS[-1:])])
def test_what_the_lines_of_two_runs_touch_is_in_sight(show, resize, launch_of, panel, sizes):
    """Of both runs, in the view of their counts, with which the page opens, and in that of their arrays."""
    page = show(Stepper(launch_of("naive_16")), _other=Stepper(launch_of("tiled_16"))._data, panel=panel, head=ALONE)
    for size in sizes:
        resize(page, size)
        all_in_sight(page, runs=2)


def all_in_sight(page, runs=1):
    last = page.evaluate("() => document.querySelector('.tt-root').stepper.last")
    findings = page.evaluate("() => document.querySelector('.tt-root').stepper.stage.places.map(({ step }) => step)")
    found = page.evaluate(SIGHT, sorted({round(i * last / 30) for i in range(1, 31)} - {0} | set(findings)))
    assert len({each["run"] for each in found if each["arrays"]}) == runs
    for each in found:
        assert each["line"], each
        for array, (seen, legible) in each["arrays"].items():
            assert seen and legible, (array, each)


def test_the_theme_changes_the_pixels(show, launch_of):
    """Canvases know no style sheet: they are painted again when the page takes another theme."""
    page = show(Stepper(launch_of("naive_65"), step=10), panel="waits")
    pixel = (
        """() => [...document.querySelector(".tt-matrix-C canvas").getContext("2d").getImageData(3, 3, 1, 1).data]"""
    )
    light = page.evaluate(pixel)
    page.evaluate(
        """() => {
          document.documentElement.style.setProperty("--jp-layout-color1", "#111111");
          document.documentElement.style.setProperty("--jp-content-font-color1", "#ffffff");
          document.body.dataset.jpThemeLight = "false";
        }"""
    )
    page.wait_for_function(f"before => String(({pixel})()) !== String(before)", arg=light)
    dark = page.evaluate(pixel)
    assert sum(dark[:3]) < sum(light[:3])


def test_nothing_moves_where_motion_is_unwanted(show, launch_of):
    """With prefers-reduced-motion no element has a transition or an animation."""
    page = show(Stepper(launch_of("tiled")), own=True)
    moving = """() => [...document.querySelectorAll(".tt-root, .tt-root *")].filter((node) => {
      const style = getComputedStyle(node);
      return style.transitionDuration !== "0s" || style.animationName !== "none";
    }).length"""
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(moving) > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(moving) == 0


def test_many_steppers_on_a_page(show, launch_of):
    """Each has a name of its own, and the last one steps as if it were alone."""
    many = 20 if NIGHTLY else 5
    page = show(*[Stepper(launch_of("tiled"))] * many)
    names = page.locator(".tt-root").evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))")
    assert len(set(names)) == many
    last = page.locator(".tt-root").last
    for _ in range(9):
        last.press("ArrowRight")
    expect(last.locator(".tt-count")).to_contain_text("step 9 of")
    expect(page.locator(".tt-count").first).to_contain_text("step 0 of")


def test_a_stepper_is_drawn_when_it_comes_near_to_what_is_in_sight(show, launch_of):
    """Of ten on a page the last is not drawn until the reader scrolls to it; the first ones are at once."""
    page = show(*[Stepper(launch_of("tiled"))] * 10, all_of_them=False)
    last = page.locator("#place9")
    assert page.locator("#place0 .tt-count").text_content()
    assert page.locator(".tt-root").count() < 5 and not last.locator(".tt-root").count()
    last.scroll_into_view_if_needed()
    expect(last.locator(".tt-count")).to_contain_text("step 0 of")
    assert last.locator(".tt-root").get_attribute("aria-label").startswith("Stepper 10 ")


def test_a_page_that_is_printed_has_all_its_steppers(show, launch_of):
    page = show(*[Stepper(launch_of("tiled"))] * 7, all_of_them=False)
    assert page.locator(".tt-root").count() < 7
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".tt-root")).to_have_count(7)


def test_a_drag_over_a_long_launch_replays_few_steps(show, launch_of):
    """A moment after it was drawn, the page holds copies of the memory, and goes from the nearest."""
    page = show(Stepper(launch_of("register_2d")), own=True)
    page.wait_for_function("() => !document.querySelector('.tt-root').stepper.scouts.length")
    most = page.evaluate("""() => {
      const { stepper } = document.querySelector(".tt-root");
      const { machine } = stepper.stage;
      const apply = machine.apply;
      let [replayed, most] = [0, 0];
      machine.apply = (...step) => (replayed++, apply.apply(machine, step));
      for (const share of [0.99, 0.5, 0.7, 0.2, 1, 0.1]) {
        replayed = 0;
        stepper.go(Math.round(share * stepper.last));
        most = Math.max(most, replayed);
      }
      return { most, every: machine.every, last: stepper.last };
    }""")
    assert 0 < most["most"] <= most["every"] < most["last"] / 10


def test_how_many_lanes_share_a_word_fits_its_bank(show, launch_of):
    """Thirty-two lanes read one word of A's tile: what says so stays inside the word's frame."""
    stepper = Stepper(launch_of("bank_conflicts"))
    page = show(stepper, step=scene_of(stepper).position, panel="banks")
    crowd = page.locator(".tt-banks .tt-crowd").filter(has_text="32×").first
    inside = """node => {
      const [text, word] = [node, node.previousElementSibling].map((each) => each.getBoundingClientRect());
      return text.left >= word.left && text.right <= word.right;
    }"""
    assert crowd.evaluate(inside)


@pytest.mark.parametrize(
    "name, size", [("best", (390, 844)), at_night("tiled", (853, 480)), at_night("best", (1280, 720))]
)
def test_the_threads_element_of_C_is_outlined_before_the_first_step(show, launch_of, name, size):
    """It is the one that the thread stores, in the matrix and in its magnified part, drawn over the block's frame."""
    trace = launch_of(name).trace
    page = show(Stepper(launch_of(name)), size=size, step=0)
    stored = Timeline(trace, (0, 0, 0)).touches("C")
    wanted = sorted({int(e) for e in stored.element[stored.store & (stored.thread == 0)]})
    state = page.evaluate("() => document.querySelector('.tt-root').stepper.state()")
    assert next(grid for grid in state["grids"] if grid["name"] == "C")["owned"] == wanted != []
    lenses = [lens for lens in state["lenses"] if lens["array"] == "C"]
    assert [[lens["elements"][i] for i in lens["owned"]] for lens in lenses] == [
        [element for element in lens["elements"] if element in wanted] for lens in lenses
    ]
    assert lenses and all(lens["owned"] for lens in lenses)
    order = page.locator(".tt-matrix-C svg, svg.tt-matrix-C").first.evaluate(
        "svg => [...svg.children].map((node) => node.getAttribute('class'))"
    )
    assert order.index("tt-outline") < order.index("tt-own-thread")


def test_two_runs_have_matrices_as_large_as_one(show, resize, launch_of):
    """On a page of every size but 853×480, where the sentences in half the width take two lines more."""
    runs = [launch_of(name) for name in ("naive_16", "tiled_16")]
    scale = "() => +getComputedStyle(document.querySelector('.tt-product')).getPropertyValue('--tt-scale')"
    sizes = {(1280, 720): 0.95, (390, 844): 0.99, (1600, 1200): 1, (853, 480): 0.7}
    found = []
    for other in ("", Stepper(runs[1])._data):
        page = show(Stepper(runs[0], step=9), _other=other, panel="arrays")
        found.append([resize(page, size) or page.evaluate(scale) for size in sizes])
        assert page.evaluate("document.documentElement.scrollWidth") <= 853
    for one, two, least in zip(*found, sizes.values(), strict=True):
        assert two >= least * one
