"""How the stepper fits a page: small screens, both themes, many steppers."""

import itertools

import pytest
from nightly import at_night
from oracles.scene import scene_of
from playwright.sync_api import expect

from course_lib.trace.viewer import Stepper

from .conftest import resize

SCREENS = [(1280, 720), (853, 480), (390, 844)]
# Of each text with a digit: its size in pixels, as the page shows it, its class and the text.
DIGITS = """() => [...document.querySelectorAll(".tt-root *")].flatMap((node) => {
  const text = [...node.childNodes].map((child) => (child.nodeType === 3 ? child.data : "")).join("");
  const hidden = !node.getClientRects().length || getComputedStyle(node).visibility === "hidden";
  if (!/\\d/.test(text) || hidden || /^(title|option|style)$/i.test(node.tagName)) return [];
  const scale = node instanceof SVGElement ? node.getScreenCTM().a : 1;
  return [[scale * Number.parseFloat(getComputedStyle(node).fontSize), node.getAttribute("class"), text]];
})"""


WINDOWS = [(1024, 768), (1280, 720), (1366, 768), (1440, 900), (1920, 1080), (2560, 1440)]
#: What scrolls inside the stepper; the lines around the current one that are cut; the sizes of digits and indices.
ROOM = """() => {
  const root = document.querySelector(".tt-root");
  const shown = [...root.querySelectorAll("*")].filter((node) => node.getClientRects().length);
  const scrolls = shown.filter((node) => {
    const { overflowX, overflowY } = getComputedStyle(node);
    const bars = [overflowX, overflowY].some((each) => /auto|scroll/.test(each));
    return bars && (node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1);
  });
  const lines = [...root.querySelectorAll(".tt-run")].flatMap((run) => {
    const box = run.querySelector(".tt-lines").getBoundingClientRect();
    const all = [...run.querySelectorAll(".tt-line[data-line]")].filter((node) => node.getClientRects().length);
    const at = all.indexOf(run.querySelector(".tt-current"));
    return all.slice(Math.max(0, at - 2), at < 0 ? 0 : at + 3).filter((node) => {
      const { left, right, top, bottom } = node.querySelector(".tt-code").getBoundingClientRect();
      return left < box.left - 1 || right > box.right + 1 || top < box.top - 2 || bottom > box.bottom + 2;
    });
  });
  const size = (node) => node.getScreenCTM().a * Number.parseFloat(getComputedStyle(node).fontSize);
  const of = (places) => [...root.querySelectorAll(places)].filter((node) => node.textContent).map(size);
  return {
    scrolls: scrolls.map((node) => node.className),
    lines: lines.map((node) => node.textContent),
    tiles: Math.min(...of("[data-space=shared] .tt-t")),
    sums: Math.min(...of(".tt-of-threads .tt-t")),
    indices: Math.min(...of(".tt-index")),
    wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""
OVERLAP = """() => [...document.querySelectorAll(".tt-figure > figcaption, .tt-counter")].some((_, i, all) => {
  const [a, ...rest] = all.slice(i).map((each) => each.getBoundingClientRect());
  return rest.some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2);
})"""


@pytest.mark.parametrize("runs", [1, 2])
def test_room_is_given_up_in_order(show, launch_of, runs):
    """From Lab beside its file browser to a large screen, and on a phone: tiles have their digits, the current line and
    its neighbours are whole, and nothing scrolls inside. Of two runs, which have the same sums, these may be smaller.
    """
    other = {"_other": Stepper(launch_of("naive_16"))._data} if runs == 2 else {}
    page = show(Stepper(launch_of("tiled_16")), step=12, **other)
    for size in [(919, 768), (1240, 800), (1473, 1080), (1920, 1080), (2560, 1440), (390, 844)]:
        resize(page, size)
        found = page.evaluate(ROOM)
        assert (found["scrolls"], found["lines"], found["wide"]) == ([], [], 0), size
        least = 20 if size[0] >= 1473 else 12 if size[0] > 400 else 9
        assert found["tiles"] >= least and found["sums"] >= (least if runs == 1 else 8.95), (size, found)
        assert found["indices"] >= 10.9, size


def test_the_numbers_of_a_condition_leave_its_line_whole(show, launch_of):
    """They go below the line where there is no room beside it."""
    page = show(Stepper(launch_of("prefetched_16")), step=60)
    for size in [(919, 768), (1280, 900), (1920, 1080), (390, 844)]:
        resize(page, size)
        assert page.evaluate(ROOM)["lines"] == [], size
        said, lines = (page.locator(place).bounding_box() for place in (".tt-condition", ".tt-lines"))
        assert said["x"] + said["width"] <= lines["x"] + lines["width"], size
        assert said["y"] + said["height"] <= lines["y"] + lines["height"], size


@pytest.mark.parametrize("name", ["racy", "prefetched_16"])
def test_a_narrow_source_has_every_line_of_code(show, launch_of, name):
    """A call by itself, as of a barrier, too; only comments and blank lines go. The other lines are a click away."""
    page = show(Stepper(launch_of(name)), size=(390, 844))
    seen_lines = """lines => lines.map((line) => {
      const text = line.querySelector(".tt-code").textContent;
      return [text, line.getClientRects().length > 0];
    })"""
    assert page.locator(".tt-line .tt-runs:visible").count() == 0, "it is narrow"
    lines = page.locator(".tt-line[data-line]").evaluate_all(seen_lines)
    assert [seen for _, seen in lines] == [bool(text.split("#")[0].strip()) for text, _ in lines]
    page.get_by_role("button", name="all lines").click()
    assert all(seen for _, seen in page.locator(".tt-line[data-line]").evaluate_all(seen_lines))


@pytest.mark.parametrize("size", [(1040, 640), at_night((390, 844))])
def test_two_runs_have_their_tiles_in_sight_and_say_where_the_sums_are(show, launch_of, size):
    """Beside the matrices, without scrolling inside the run; C says that nothing is stored, as long as that is so."""
    runs = [Stepper(launch_of(name)) for name in ("naive_16", "tiled_16")]
    page = show(runs[0], _other=runs[1]._data, size=size, step=5)
    expect(page.locator(".tt-mode")).to_have_text("same multiply-add")
    for run in page.locator(".tt-run").all():
        asides = run.locator(".tt-figure[data-space=shared], .tt-of-threads")
        ends = [each.bounding_box()["y"] + each.bounding_box()["height"] for each in asides.all()]
        assert ends and max(ends) <= size[1] + page.evaluate("() => scrollY")
    captions = page.locator(".tt-matrix-C figcaption")
    expect(captions).to_have_text(["C 16×16, not stored yet"] * 2)
    looks = "() => [...document.querySelectorAll('.tt-matrix-C rect')].map((each) => each.getAttribute('class'))"
    for key in ("End", "Home", *["ArrowRight"] * 17):
        page.locator(".tt-root").press(key)
        if key == "End":
            expect(captions).to_have_text(["C 16×16"] * 2)
            at_once = page.evaluate(looks)
    assert page.evaluate(looks) == at_once, "step by step all elements look as they do after one jump"


@pytest.mark.parametrize("runs", [1, 2])
def test_a_view_that_a_reader_opens_is_in_sight(show, launch_of, runs):
    """Where the width leaves no room beside the picture, as in a notebook beside a list of files; also of two runs."""
    other = {"_other": Stepper(launch_of("naive_16"))._data} if runs == 2 else {}
    page = show(Stepper(launch_of("tiled_16")), size=(860, 640), **other)
    page.locator(".tt-tab-launch").click()
    seen = """() => {
      const box = (name) => document.querySelector(name).getBoundingClientRect();
      const [body, panel] = [box(".tt-body"), box(".tt-panel")];
      return Math.min(body.bottom, panel.bottom) - Math.max(body.top, panel.top);
    }"""
    assert page.evaluate(seen) > 100


def test_no_caption_is_over_another_or_the_counter(show, launch_of):
    page = show(Stepper(launch_of("groups_in_flight")))
    for size in (*SCREENS, *WINDOWS):
        resize(page, size)
        assert not page.evaluate(OVERLAP), size


@pytest.mark.parametrize("name", ["stencil", "reduction", "histogram", "transpose"])
def test_small_arrays_show_their_numbers(show, launch_of, name):
    """A kernel without matrices is as good as a product: every element of its arrays is readable."""
    page = show(Stepper(launch_of(name)))
    for grid in page.evaluate("() => shown()")["grids"]:
        assert grid["texts"] is not None, grid["name"]
    widths = "nodes => nodes.map((n) => n.getBoundingClientRect().width)"
    assert min(page.locator("[data-space=global] .tt-c").evaluate_all(widths)) >= 15


@pytest.mark.parametrize(
    "name, panels",
    [
        ("tiled_16", ("banks", "")),
        at_night("bank_conflicts", ("warp", "banks", "")),
        at_night("groups_in_flight", ("fragments",)),
        at_night("tensor_cores", ("fragments",)),
        at_night("naive_65", ("warp", "")),
        at_night("tensor_cores_bf16", ("fragments", "banks")),
        at_night("exchanges", ("warp", "")),
        at_night("best", ("", "warp", "banks", "waits", "launch")),
    ],
)
def test_no_digit_is_smaller_than_nine_pixels(show, launch_of, name, panels):
    """In lanes, addresses, banks, fragments, elements, indices and the labels of the timeline, at each of the sizes."""
    stepper = Stepper(launch_of(name))
    page = show(stepper, step=scene_of(stepper).position)
    last = page.evaluate("() => document.querySelector('.tt-root').stepper.last")
    for size, panel in itertools.product(SCREENS, panels):
        page.evaluate("panel => window.model.set('panel', panel)", panel)
        resize(page, size)
        for step in (scene_of(stepper).position, last):
            page.evaluate("step => window.model.set('step', step)", step)
            drawn = page.evaluate(DIGITS)
            assert len(drawn) > 20, "most of the picture has no digits"
            assert [each for each in drawn if each[0] < 8.95] == [], (size, panel, step)


def test_the_theme_changes_the_pixels(show, launch_of):
    """Canvases know no style sheet: they are painted again when the page takes another theme."""
    page = show(Stepper(launch_of("naive_65"), step=10), panel="waits")
    drawn = "document.querySelector('.tt-matrix-C canvas').getContext('2d')"
    pixel = f"() => [...{drawn}.getImageData(3, 3, 1, 1).data]"
    light = page.evaluate(pixel)
    page.add_style_tag(content=":root { --jp-layout-color1: #111111; --jp-content-font-color1: #ffffff }")
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }")
    page.wait_for_function(f"before => String(({pixel})()) !== String(before)", arg=light)
    assert sum(page.evaluate(pixel)[:3]) < sum(light[:3])


def test_nothing_moves_where_motion_is_unwanted(show, launch_of):
    """With prefers-reduced-motion no element has a transition or an animation."""
    page = show(Stepper(launch_of("tiled")), own=True)
    moving = """() => [...document.querySelectorAll(".tt-root, .tt-root *")].filter((node) => {
      const style = getComputedStyle(node);
      return style.transitionDuration !== "0s" || style.animationName !== "none";
    }).length"""
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page.emulate_media(reduced_motion=motion)
        assert (page.evaluate(moving) > 0) == moves, motion


def test_a_stepper_is_drawn_when_it_comes_near_to_what_is_in_sight(show, launch_of):
    """Of ten on a page the last is not drawn until the reader scrolls to it; the first ones are at once."""
    page = show(*[Stepper(launch_of("tiled"))] * 10, all_of_them=False)
    last = page.locator("#place9")
    assert page.locator("#place0 .tt-count").text_content()
    assert page.locator(".tt-root").count() < 8 and not last.locator(".tt-root").count()
    last.scroll_into_view_if_needed()
    expect(last.locator(".tt-count")).to_contain_text("frame 0 of")
    assert last.locator(".tt-root").get_attribute("aria-label").startswith("Stepper 10 ")


def test_a_page_that_is_printed_has_all_its_steppers(show, launch_of):
    page = show(*[Stepper(launch_of("tiled"))] * 10, all_of_them=False)
    assert page.locator(".tt-root").count() < 8  # what is drawn is lower than its empty place, and others come near
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".tt-root")).to_have_count(10)


def test_a_drag_over_a_long_launch_replays_few_steps(show, launch_of):
    """A moment after it was drawn, the page holds copies of the memory, and goes from the nearest."""
    page = show(Stepper(launch_of("register_2d")), own=True)
    page.wait_for_function("() => !document.querySelector('.tt-root').stepper.pendingSnapshots.length")
    most = page.evaluate("""() => {
      const { stepper } = document.querySelector(".tt-root");
      const { replay } = stepper.scene;
      const apply = replay.apply;
      let [replayed, most] = [0, 0];
      replay.apply = (...step) => (replayed++, apply.apply(replay, step));
      for (const share of [0.99, 0.5, 0.7, 0.2, 1, 0.1]) {
        replayed = 0;
        stepper.go(Math.round(share * stepper.last));
        most = Math.max(most, replayed);
      }
      return { most, every: replay.snapshotInterval, last: stepper.last };
    }""")
    assert 0 < most["most"] <= most["every"] < most["last"] / 10


def test_how_many_lanes_share_a_word_fits_its_bank(show, launch_of):
    """Thirty-two lanes read one word of A's tile: what says so stays inside the word's frame."""
    stepper = Stepper(launch_of("bank_conflicts"))
    page = show(stepper, step=scene_of(stepper).position, panel="banks")
    crowd = page.locator(".tt-banks .tt-lane-count").filter(has_text="32×").first
    inside = """node => {
      const [text, word] = [node, node.previousElementSibling].map((each) => each.getBoundingClientRect());
      return text.left >= word.left && text.right <= word.right;
    }"""
    assert crowd.evaluate(inside)


@pytest.mark.parametrize("touch, least", [(False, 24), (True, 44)])
def test_targets_have_their_size(browser, launch_of, tmp_path, touch, least):
    """By mouse the names of barriers; for a finger one row of buttons, the views' tabs, and the timeline."""
    size = {"width": 390, "height": 844} if touch else {"width": 1366, "height": 768}
    context = browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, reduced_motion="reduce")
    page = context.new_page()
    page.goto(Stepper(launch_of("tiled_16")).save(tmp_path / "page.html").as_uri())
    page.locator(".tt-tab-warp").wait_for()
    boxes = page.locator(".tt-root :is(.tt-controls, .tt-tabs) button:visible:not(.tt-jump)").evaluate_all(
        "nodes => nodes.map((node) => [node.closest('.tt-tabs') !== null, node.getBoundingClientRect().toJSON()])"
    )
    assert all(min(box["width"], box["height"]) >= (44 if touch else 24) for _, box in boxes)
    assert len({box["y"] for tab, box in boxes if not tab}) == 1
    reach = """([node, least]) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      const [x, y, far] = [(left + right) / 2, (top + bottom) / 2, least / 2 - 1];
      const inside = (x, y) => node.contains(document.elementFromPoint(x, y));
      return [inside(x, y - far), inside(x, y + far)];
    }"""
    target = page.locator(".tt-scrub" if touch else ".tt-labels span:has(.tt-jump) >> nth=0")
    assert page.evaluate(reach, [target.element_handle(), least]) == [True, True]
    context.close()
