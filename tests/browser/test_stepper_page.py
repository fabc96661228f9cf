"""The stepper's ES module on a page of its own, without JupyterLab: every step against the Python side."""

import numpy as np
import pytest
from numba import cuda
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

from .conftest import resize, stop_clock


def test_going_back_undoes_a_step(show, launch_of):
    """Forward and back again gives the same page, from anywhere."""
    page = show(Stepper(launch_of("tiled"), step=19))
    root = page.locator(".tt-root")
    before = root.inner_html()
    root.press("ArrowRight")
    assert before != root.inner_html()
    root.press("ArrowLeft")
    assert before == root.inner_html()


def test_a_late_echo_of_the_kernel_does_not_take_a_step_back(show, launch_of):
    """The kernel answers every saved step; by then the reader may have gone on."""
    page = show(Stepper(launch_of("tiled"), step=19))
    root = page.locator(".tt-root")
    root.evaluate(  # all at once, so that nothing is saved between
        """(root) => {
          const right = () => root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
          right();
          right();
          window.model.set("step", 20);
          right();
        }"""
    )
    assert root.locator(".tt-count").text_content().startswith("step 22 of")
    page.wait_for_function("() => !Object.keys(document.querySelector('.tt-root').stepper.unsaved.values).length")
    page.evaluate("window.model.set('step', 5)")
    assert root.locator(".tt-count").text_content().startswith("step 5 of")


def test_click_on_C_chooses_its_block_and_thread(show, launch_of):
    """C[3, 2] belongs to thread (0, 1) of block (1, 1)."""
    page = show(Stepper(launch_of("tiled")))
    page.locator(".tt-matrix-C .tt-c").nth(3 * 4 + 2).click()
    chosen = [page.locator(f".tt-{name} option:checked").inner_text() for name in ("block", "thread")]
    assert ["(1, 1)", "(0, 1)"] == chosen


@pytest.mark.parametrize("name", ["tiled", "tiled_16"])
def test_nothing_is_cut_off(show, launch_of, name):
    """At any width the stepper fits the page; only the source scrolls, inside its own frame."""
    page = show(Stepper(launch_of(name), step=30))
    for width in (1200, 800, 480):
        resize(page, (width, 900))
        wider = page.evaluate(
            """() => [...document.querySelectorAll(
                 ".tt-root, .tt-body, .tt-memory, .tt-program, .tt-panel")]
               .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.className)"""
        )
        assert [] == wider, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("names", [("tiled_16",), ("naive_16", "tiled_16")], ids=" and ".join)
def test_what_is_counted_is_not_cut_off(show, launch_of, names):
    """Before the first statement, where all blocks are counted, and at the end, where one is."""
    run, *others = (Stepper(launch_of(name)) for name in names)
    page = show(run, _other=others[0]._data if others else "")
    for key in ("Home", "End"):
        page.locator(".tt-root").press(key)
        cut = page.evaluate(
            """() => [...document.querySelectorAll(".tt-counter p")]
               .filter((line) => line.scrollWidth > line.clientWidth).map((line) => line.textContent)"""
        )
        assert cut == [], key


def test_the_menu_shows_its_choices_whole(show, launch_of):
    """Also the longest, of two runs in step."""
    run, other = (Stepper(launch_of(name)) for name in ("naive_16", "tiled_16"))
    page = show(run, _other=other._data)
    page.locator(".tt-menu").click()
    cut = page.evaluate(
        """() => {
          const menu = document.querySelector(".tt-choices").getBoundingClientRect();
          return [...document.querySelectorAll(".tt-choices :is(select, button)")]
            .filter((each) => each.getBoundingClientRect().right > menu.right).map((each) => each.className);
        }"""
    )
    assert cut == []


def guarded(x):
    """Let a block beyond the end of the array return early, in fewer steps."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    x[i] += 1
    x[i] *= 2


def test_a_shorter_block_ends_the_walk(show):
    """From the end of a long block, choosing a short one goes to its last step."""
    run = simulate(guarded, trace=True)[2, 32](np.ones(32, np.float32))
    lengths = [len(Timeline(run.trace, (block, 0, 0))) for block in (0, 1)]
    assert lengths[1] < lengths[0]
    page = show(Stepper(run, step=lengths[0]))
    page.locator(".tt-root").press("b")
    expect(page.locator(".tt-count")).to_have_text(f"step {lengths[1]} of {lengths[1]}")
    page.locator(".tt-root").press("b")
    expect(page.locator(".tt-count")).to_have_text(f"step {lengths[1]} of {lengths[0]}")


def test_play_steps_at_its_speed_until_pause(show, launch_of):
    """Twice a second; after pause no time brings another step."""
    page = show(Stepper(launch_of("tiled")), own=True)
    stop_clock(page)
    root, count = page.locator(".tt-root"), page.locator(".tt-count")
    root.press(" ")
    page.clock.run_for(1000)
    expect(count).to_contain_text("step 2 of")
    root.press(" ")
    page.clock.run_for(10_000)
    expect(count).to_contain_text("step 2 of")


# As VS Code writes it for the outputs of a notebook (notebook.experimental.enableCsp), with blob: for the module,
# which anywidget imports from one wherever it runs.
VS_CODE = """default-src 'none'; script-src https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval' blob:;
style-src https://*.vscode-cdn.net 'unsafe-inline'; img-src https://*.vscode-cdn.net https: http: data:;
font-src https://*.vscode-cdn.net https:; connect-src https:; child-src https: data:;"""


def test_it_keeps_the_rules_of_vs_code(show, launch_of):
    """Nothing that the page's policy forbids is tried, in no view, and nothing at all is asked of the network."""
    requests = []
    watch = (
        "addEventListener('securitypolicyviolation', (event) => (window.broken ??= []).push(event.violatedDirective))"
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{VS_CODE}"><script>{watch}</script>'
    page = show(Stepper(launch_of("tiled_two_warps")), head=policy)
    page.on("request", lambda request: requests.append(request.url))
    root = page.locator(".tt-root")
    for panel in page.evaluate("() => document.querySelector('.tt-root').stepper.scene.panelNames"):
        page.evaluate("panel => window.model.set('panel', panel)", panel)
        root.press("ArrowRight")
    assert page.locator(".tt-count").text_content().startswith("step 4 of")
    assert [] == page.evaluate("() => window.broken ?? []") == requests == page.page_errors
    page.evaluate("() => fetch('data:,').catch(() => {})")
    page.wait_for_function("() => window.broken")
    assert ["connect-src"] == page.evaluate("() => window.broken")  # the policy holds
