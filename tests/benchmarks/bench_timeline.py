"""What a reader waits for on the timeline of a long launch, and on a page with many steppers."""

import pytest
from benchmarks.bench_stepper import FIRST_PICTURE

from course_lib.viewer import Stepper

# A drag over the whole timeline and back: the tasks of the page's main thread that take 50 ms or more.
DRAG = """async () => {
  const tasks = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: "longtask" });
  const { stepper } = document.querySelector(".tt-root");
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  for (let i = 0; i <= 80; i++) {
    stepper.go(Math.round((i <= 40 ? i / 40 : 2 - i / 40) * stepper.last));
    await frame();
  }
  await frame();
  return tasks;
}"""
#: Of a page with twenty steppers, each drawn.
TWENTY = '([...document.querySelectorAll(".tt-count")].filter((node) => node.textContent).length === 20)'


def bench_drag(show, launch_of, measured):
    """The longest task of a drag over the stepper of `best`, 57,000 steps of one block."""
    page = show(Stepper(launch_of("best")), own=True)
    measured("longest task of a drag over best", max(page.evaluate(DRAG), default=0), 100)


@pytest.mark.parametrize("name", ["tiled_16", "best"])
def bench_twenty(show, launch_of, measured, name):
    """Twenty steppers of a page, until each is drawn."""
    drawn = FIRST_PICTURE.replace('document.querySelector(".tt-count")?.textContent', TWENTY)
    page = show(*[Stepper(launch_of(name))] * 20, head=drawn, own=True)
    page.wait_for_function("() => window.drawn")
    measured(f"twenty steppers of {name}", page.evaluate("() => window.drawn"), 3000)
