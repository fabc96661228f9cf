"""How long the stepper takes in a browser: to its first picture, and for a step, alone, among many and in Lab."""

import json
import statistics
from collections.abc import Callable

import pytest
from browser.test_stepper import SETUP, OnPage, many_beside_a_busy_kernel
from oracles.scene import scene_of

from course_lib.trace.viewer import Stepper

# A step in each frame, as fast as the frames come; their mean time in ms.
FRAMES = """async ([root, key, steps]) => {
  await new Promise(requestAnimationFrame);
  const started = performance.now();
  for (let i = 0; i < steps; i++) {
    root.dispatchEvent(new KeyboardEvent("keydown", { key }));
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return (performance.now() - started) / steps;
}"""
# From each key press to the first task after the frame that shows the step, in ms.
REPAINTS = """async (root) => {
  const times = [];
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setTimeout(resolve, 30 + ((i * 13) % 29)));
    const pressed = performance.now();
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => {
      const after = new MessageChannel();
      after.port1.onmessage = resolve;
      after.port2.postMessage(0);
    });
    times.push(performance.now() - pressed);
  }
  return times;
}"""
# From the page's start, in ms.
FIRST_PICTURE = """<script>
  new MutationObserver((_, observer) => {
    if (!document.querySelector(".tt-count")?.textContent) return;
    observer.disconnect();
    window.drawn = performance.now() - started;
  }).observe(document, { childList: true, subtree: true });
  const started = performance.now();
</script>"""


def tasks_of(browser, act: Callable[[], object]) -> list[float]:
    """The milliseconds of processor time of each task of the pages' main threads meanwhile, longest first."""
    browser.start_tracing(categories=["toplevel"])
    act()
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = (event for event in events if event["name"] == "thread_name")
    main = {(each["pid"], each["tid"]) for each in threads if each["args"]["name"] == "CrRendererMain"}
    tasks = (each for each in events if each["name"].endswith("RunTask") and (each["pid"], each["tid"]) in main)
    return sorted((each["tdur"] / 1000 for each in tasks if "tdur" in each), reverse=True)


class Ticks:
    """What a page's main thread has worked, in milliseconds of processor time, which work beside it hardly changes.

    All of it counts: script, style, layout, painting; only what other threads make of the painting does not.
    """

    def __init__(self, page):
        self._page = page
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def total(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(1000 * metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def per_step(self, root, steps: int = 5) -> float:
        """The time from a key press to the end of its painting: the least of four rounds forward and back."""
        self._page.evaluate(FRAMES, [root, "ArrowRight", 3])
        times = []
        for key in ("ArrowRight", "ArrowLeft") * 4:
            before = self.total()
            self._page.evaluate(FRAMES, [root, key, steps])
            times.append((self.total() - before) / steps)
        return min(times)


@pytest.mark.parametrize(
    "name",
    ["naive_16", "tiled_16", "prefetched", "outer_product", "best", "reduction", "racy", "bank_conflicts",
     "register_2d", "tensor_cores"],
)  # fmt: skip
def bench_step(show, launch_of, measured, name):
    """From the key to the end of its painting the main thread works 10 ms at most, in each view."""
    stepper = Stepper(launch_of(name))
    page = show(stepper, step=scene_of(stepper).position)
    root = page.locator(".tt-root").element_handle()
    ticks = Ticks(page)
    for panel in page.evaluate("() => document.querySelector('.tt-root').stepper.scene.panelNames"):
        page.evaluate("panel => window.model.set('panel', panel)", panel)
        measured(f"step of {name}, {panel}", ticks.per_step(root), 10)


@pytest.mark.parametrize(
    "name, limit", [("naive_16", 300), ("tiled_16", 300), ("prefetched", 300), ("reduction", 300), ("best", 2000)]
)
def bench_first_picture(show, launch_of, measured, name, limit):
    """The least of three pages."""
    stepper, times = Stepper(launch_of(name)), []
    for _ in range(3):
        page = show(stepper, head=FIRST_PICTURE)
        times.append(page.evaluate("() => window.drawn"))
        page.close()
    measured(f"first picture of {name}", min(times), limit)


@pytest.mark.parametrize("name", ["tiled_16", "register_2d", "best"])
def bench_opening(browser, show, launch_of, measured, name):
    """A large launch opens in several tasks; the longest, in milliseconds of processor time."""

    def opened() -> None:
        page = show(Stepper(launch_of(name)), own=True, frames=True)
        page.wait_for_function("() => !document.querySelector('.tt-root').stepper.pendingSnapshots.length")

    measured(f"longest task, opening {name}", tasks_of(browser, opened)[0], 100)


def bench_step_of_twenty(show, launch_of, measured):
    """The last of twenty steppers on a page, in sight, and one that is alone."""
    for number, name in ((1, "step of one alone"), (20, "step of the last of twenty")):
        page = show(*[Stepper(launch_of("tiled"))] * number)
        root = page.locator(".tt-root").last.element_handle()
        root.scroll_into_view_if_needed()
        measured(name, Ticks(page).per_step(root), 10)


def bench_repaint(open_notebook, measured):
    """A step through 16×16 matrices in 4×4 tiles, in Lab: the median of 20."""
    launch = "A, B = np.random.default_rng(3).standard_normal((2, 16, 16))\nC = np.zeros((16, 16))\n"
    launch += "Stepper(simulate(tiled(4), trace=True)[(4, 4), (4, 4)](A, B, C))"
    notebook = open_notebook([SETUP, launch])
    notebook.run_all()
    root = OnPage(notebook, 1).root
    root.evaluate(REPAINTS)
    measured("step to repaint, in Lab", statistics.median(root.evaluate(REPAINTS)), 16)


def bench_frames_beside_a_busy_kernel(open_notebook, measured):
    """The last of twenty steppers has a step in every frame, for which the main thread, Lab included, works two thirds
    of it at most.
    """
    notebook, roots = many_beside_a_busy_kernel(open_notebook, "while True:\n    pass")
    root = roots.nth(19).element_handle()
    measured("frame's work, kernel busy", Ticks(notebook.page).per_step(root, steps=3), 2 / 3 * 1000 / 60)
    measured("frame, kernel busy", notebook.page.evaluate(FRAMES, [root, "ArrowRight", 15]))
