"""The stepper's ES module on a page of its own, without JupyterLab: every step against the Python side."""

import numpy as np
import pytest
from nightly import at_night
from numba import cuda, float32
from oracles.replay import State
from oracles.stops import line_runs
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.kernels.naive import naive
from course_lib.kernels.prefetched import prefetched
from course_lib.kernels.tiled import tiled
from course_lib.trace.replay import Timeline
from course_lib.trace.structure import shown_source
from course_lib.trace.viewer import Stepper
from course_lib.trace.viewer.digits import short
from course_lib.trace.viewer.words import sentence

WALK = """async () => {
  const root = document.querySelector(".tt-root");
  const text = (name) => root.querySelector(name).textContent;
  const texts = (name) => [...root.querySelectorAll(name)].map((node) => node.textContent);
  const seen = [];
  for (let last = ""; last !== text(".tt-count"); ) {
    last = text(".tt-count");
    seen.push({
      count: last,
      says: text(".tt-sentence"),
      shared: texts("[data-space=shared] .tt-t"),
      accumulators: texts(".tt-of-threads .tt-t"),
      C: texts(".tt-matrix-C .tt-t"),
      runs: texts(".tt-lines .tt-runs").map(Number),
      loads: texts(".tt-lines .tt-loads").map(Number),
      current: root.querySelector(".tt-current")?.dataset.line ?? null,
    });
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  }
  return seen;
}"""


def launch(kernel, grid, block, M, K, N):
    """Run a kernel with a trace on random float32 matrices."""
    rng = np.random.default_rng(3)
    A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N)))
    return simulate(kernel, trace=True)[grid, block](A, B, np.zeros((M, N), np.float32))


def expected(timeline, n, thread):
    """What the page must say after n steps of the block, from the Python side."""
    state = State(timeline, n)
    text = lambda values: ["" if value is np.ma.masked else short(value) for value in values]  # noqa: E731
    shared = [a.name for a in timeline.trace.arrays.values() if a.space == "shared"]
    accumulators = state.variable("acc")
    return {
        "count": f"step {n} of {len(timeline)}",
        "says": sentence(timeline, n, thread),
        "shared": [t for name in shared for t in text(state.values(name))],
        "accumulators": text(accumulators),
        "C": text(state.values("C")),
        "runs": [int(line_runs(timeline, n, line)[thread]) for line, _ in shown_source(timeline.trace)],
        "loads": [int(state.counts("global", "load", line)[thread]) for line, _ in shown_source(timeline.trace)],
        "current": str(timeline.steps[n - 1].line) if n else None,
    }


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "shape", "at", "thread"),
    [
        (tiled(2), (2, 3), (2, 2), (5, 7, 3), (1, 2, 0), (0, 0, 0)),
        (naive, (2, 2), (4, 2), (3, 5, 6), (1, 1, 0), (1, 0, 0)),
        at_night(prefetched(2), (2, 2), (2, 2), (4, 5, 3), (0, 1, 0), (1, 1, 0)),
        at_night(tiled(8), (2, 1), (8, 8), (7, 6, 10), (0, 0, 0), (3, 5, 0)),
    ],
    ids=["tiled, ragged", "naive, ragged", "two buffers", "two warps"],
)
def test_every_step_agrees_with_python(show, *, kernel, grid, block, shape, at, thread):
    """Browser and Python replay the same trace: sentence, counts, contents and current line."""
    run = launch(kernel, grid, block, *shape)
    page = show(Stepper(run, block=at, thread=thread))
    seen = page.evaluate(WALK)

    timeline = Timeline(run.trace, at)
    linear = thread[0] + block[0] * thread[1]
    assert len(timeline) + 1 == len(seen)
    for n, found in enumerate(seen):
        wanted = expected(timeline, n, linear)
        found["says"] = found["says"].removesuffix(" Space plays and stops, → steps.")
        assert wanted == found, f"step {n}"


def test_going_back_undoes_a_step(show):
    """Forward and back again gives the same page, from anywhere."""
    page = show(Stepper(launch(tiled(2), (2, 2), (2, 2), 4, 4, 4), step=19))
    root = page.locator(".tt-root")
    before = root.inner_html()
    root.press("ArrowRight")
    assert before != root.inner_html()
    root.press("ArrowLeft")
    assert before == root.inner_html()


def test_a_late_echo_of_the_kernel_does_not_take_a_step_back(show):
    """The kernel answers every saved step; by then the reader may have gone on."""
    page = show(Stepper(launch(tiled(2), (2, 2), (2, 2), 4, 4, 4), step=19))
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


def test_click_on_C_chooses_its_block_and_thread(show):
    """C[3, 2] belongs to thread (0, 1) of block (1, 1)."""
    page = show(Stepper(launch(tiled(2), (2, 2), (2, 2), 4, 4, 4)))
    page.locator(".tt-matrix-C .tt-c").nth(3 * 4 + 2).click()
    chosen = [page.locator(f".tt-{name} option:checked").inner_text() for name in ("block", "thread")]
    assert ["(1, 1)", "(0, 1)"] == chosen


@pytest.mark.parametrize("n, T", [(4, 2), (16, 4)])
def test_nothing_is_cut_off(show, resize, n, T):
    """At any width the stepper fits the page; only the source scrolls, inside its own frame."""
    page = show(Stepper(launch(tiled(T), (n // T, n // T), (T, T), n, n, n), step=30))
    for width in (1200, 800, 480):
        resize(page, (width, 900))
        wider = page.evaluate(
            """() => [...document.querySelectorAll(
                 ".tt-root, .tt-body, .tt-memory, .tt-program, .tt-row, .tt-row > div, .tt-lens")]
               .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.className)"""
        )
        assert [] == wider, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def without_first_write(x):
    """Read shared memory to which nothing was stored."""
    part = cuda.shared.array(4, float32)
    i = cuda.threadIdx.x
    if i < 4:
        x[i + 4 * cuda.blockIdx.x] = part[3 - i]


def guarded(x):
    """Let a block beyond the end of the array return early, in fewer steps."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    x[i] += 1
    x[i] *= 2


def test_reading_what_was_never_stored(show):
    """Vectors are drawn too; an element that nothing was stored to stays empty when it is read."""
    run = simulate(without_first_write, trace=True, strict=False)[1, 4](np.ones(4, np.float32))
    stepper = Stepper(run, step=len(Stepper(run).timeline))
    page = show(stepper)

    says = page.locator(".tt-sentence").inner_text()
    assert "Thread 0 reads part[3] = empty; writes x[0] = " in says
    assert says == sentence(stepper.timeline, stepper.step, 0)
    assert page.locator("[data-space=shared] .tt-t").all_text_contents() == [""] * 4
    assert not page.locator(".tt-matrix-C").count()


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


def test_play_steps_at_its_speed_until_pause(show):
    """Twice a second; after pause no time brings another step."""
    page = show(Stepper(launch(tiled(2), (2, 2), (2, 2), 4, 4, 4)), own=True)
    page.clock.install(time=0)
    page.clock.pause_at(1)
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


def test_it_keeps_the_rules_of_vs_code(show):
    """Nothing that the page's policy forbids is tried, in no view, and nothing at all is asked of the network."""
    requests = []
    watch = (
        "addEventListener('securitypolicyviolation', (event) => (window.broken ??= []).push(event.violatedDirective))"
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{VS_CODE}"><script>{watch}</script>'
    page = show(Stepper(launch(tiled(8), (2, 1), (8, 8), 7, 6, 10)), head=policy)
    page.on("request", lambda request: requests.append(request.url))
    root = page.locator(".tt-root")
    for lens in page.evaluate("() => document.querySelector('.tt-root').stepper.stage.names"):
        page.evaluate("lens => window.model.set('panel', lens)", lens)
        root.press("ArrowRight")
    assert page.locator(".tt-count").text_content().startswith("step 4 of")
    assert [] == page.evaluate("() => window.broken ?? []") == requests == page.page_errors
    page.evaluate("() => fetch('data:,').catch(() => {})")
    page.wait_for_function("() => window.broken")
    assert ["connect-src"] == page.evaluate("() => window.broken")  # the policy holds
