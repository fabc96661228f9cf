"""What a reader waits for on the timeline of a long launch, and on a page with many steppers."""

import pytest
from benchmarks.bench_stepper import FIRST_PICTURE, tasks_of
from browser.test_stepper import SETUP

from course_lib.trace.viewer import Stepper

# A drag over the whole timeline and back.
DRAG = """async () => {
  const { stepper } = document.querySelector(".tt-root");
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  for (let i = 0; i <= 80; i++) {
    stepper.go(Math.round((i <= 40 ? i / 40 : 2 - i / 40) * stepper.last));
    await frame();
  }
  await frame();
}"""
# What is in sight of a page with twenty steppers is drawn.
IN_SIGHT = """((places) => places.length === 20 && places.every((place) =>
  place.getBoundingClientRect().top > innerHeight || place.querySelector(".tt-count")?.textContent
))([...document.querySelectorAll("[id^=place]")])"""


def bench_drag(browser, show, launch_of, measured):
    """The longest task of a drag over the stepper of `best`, 57,000 steps of one block, a moment after it was drawn."""
    page = show(Stepper(launch_of("best")), own=True)
    page.wait_for_function("() => !document.querySelector('.tt-root').stepper.pendingSnapshots.length")
    tasks = tasks_of(browser, lambda: page.evaluate(DRAG))
    measured("longest task of a drag over best", tasks[0], 100)
    measured("drag over best, 80 places", sum(tasks))


@pytest.mark.parametrize("name", ["tiled_16", "best"])
def bench_twenty(browser, show, launch_of, measured, name):
    """A page of twenty steppers, until what is in sight of it is drawn."""
    drawn = FIRST_PICTURE.replace('document.querySelector(".tt-count")?.textContent', IN_SIGHT)
    pages, steppers = [], [Stepper(launch_of(name))] * 20

    def draw() -> None:
        pages.append(show(*steppers, head=drawn, own=True, all_of_them=False))
        pages[0].wait_for_function("() => window.drawn")

    tasks = tasks_of(browser, draw)
    measured(f"twenty steppers of {name}", pages[0].evaluate("() => window.drawn"), 3000)
    measured(f"twenty steppers of {name}, work", sum(tasks))


def bench_rerun(open_notebook, measured):
    """What the kernel and the page hold more after 20 further runs of a cell with a stepper of 21,000 steps."""
    launch = """from pathlib import Path
from course_lib.kernels.tiled import tiled
A, B = np.ones((2, 64, 64), np.float32)
Stepper(simulate(tiled(16), trace=True)[(4, 4), (16, 16)](A, B, np.zeros((64, 64), np.float32)))"""
    status = "print('held', Path('/proc/self/status').read_text().partition('VmRSS:')[2].split()[0])"
    notebook = open_notebook([SETUP, launch, status])
    session = notebook.page.context.new_cdp_session(notebook.page)

    def held() -> tuple[float, float]:
        """Megabytes of the kernel and of the page."""
        notebook.cell(1).locator(".tt-place").scroll_into_view_if_needed()
        notebook.cell(1).locator(".tt-count").wait_for()
        session.send("HeapProfiler.collectGarbage")
        kernel = int(notebook.outputs(2).text_content().split()[1])
        return kernel / 1000, session.send("Runtime.getHeapUsage")["usedSize"] / 1e6

    for _ in range(3):
        notebook.run_all()
    before = held()
    for _ in range(20):
        notebook.run_all()
    for place, old, new in zip(("kernel", "page"), before, held(), strict=True):
        measured(f"{place} after 20 re-runs", new - old, unit="MB more")
