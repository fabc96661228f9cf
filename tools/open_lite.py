"""Open a lesson of a JupyterLite site in Chromium and run it to its end; fail if a cell does.

    uv run python tools/open_lite.py https://OWNER.github.io/REPOSITORY/lite express.ipynb

The site is one that `tools/build_lite.py` writes. A cell that is meant to raise an exception is told by its tag.
"""

import argparse
import sys
from typing import Any

from playwright.sync_api import Error, Page, sync_playwright

#: Runs all cells and keeps, in the page, whether they have ended.
RUN_ALL = """() => {
    window.ended = false;
    window.jupyterapp.commands.execute("notebook:run-all-cells").finally(() => { window.ended = true; });
}"""
CELLS = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells"


def open_lesson(page: Page, site: str, lesson: str) -> None:
    """Open a lesson of a site, and wait until its cells are there."""
    page.goto(f"{site.rstrip('/')}/lab/index.html?path={lesson}")
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").first.wait_for(timeout=120_000)
    page.wait_for_function("() => window.jupyterapp.shell.currentWidget?.context?.isReady")


def run_all(page: Page, seconds: float) -> list[dict[str, Any]]:
    """Run all cells of the lesson that is open, and return them with their outputs."""
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'",
        timeout=1000 * seconds,
    )
    page.evaluate(RUN_ALL)
    page.wait_for_function("() => window.ended", timeout=1000 * seconds)
    return page.evaluate(CELLS)


def failures(cells: list[dict[str, Any]]) -> list[str]:
    """Return a line for each code cell that did not run, or raised what it is not meant to raise."""
    found = []
    for cell in cells:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] != "code" or not source:
            continue
        says = [f"{each['ename']}: {each['evalue']}" for each in cell["outputs"] if each["output_type"] == "error"]
        if cell["execution_count"] is None:
            says = ["did not run"]
        if says and "raises-exception" not in cell["metadata"].get("tags", ()):
            found.append(f"{cell.get('id', '?')}: {says[0]}")
    return found


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(description="Run a lesson of a JupyterLite site to its end.")
    parser.add_argument("site", help="address of the site: the folder that has lab/index.html")
    parser.add_argument("lesson", help="the lesson's file, such as express.ipynb")
    parser.add_argument("--seconds", type=float, default=600, help="how long the cells may take (600)")
    parser.add_argument("--chromium", help="the browser's program; without it, the one that playwright installed")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium)
        page = browser.new_page()
        refused: list[str] = []
        page.on("requestfailed", lambda request: refused.append(request.url))
        try:
            open_lesson(page, options.site, options.lesson)
            cells = run_all(page, options.seconds)
        except Error as error:
            away = f"; these addresses did not answer: {', '.join(refused[:3])}" if refused else ""
            print(f"{options.lesson} did not run to its end: {error.message.splitlines()[0]}{away}", file=sys.stderr)
            return 1
        finally:
            browser.close()
    found = failures(cells)
    print("\n".join(found) or f"{options.lesson}: {sum(c['cell_type'] == 'code' for c in cells)} cells ran.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
