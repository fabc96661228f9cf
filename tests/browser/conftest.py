"""Fixtures for tests that look at the course through JupyterLab in a real browser.

`open_notebook(notebook)` opens a notebook in JupyterLab and returns an `OpenNotebook`. The notebook is either
a name relative to notebooks/ ("02_naive.ipynb"), opened in a tab, or a list of code cells in a notebook beside them:

    def test_slider_moves(open_notebook):
        notebook = open_notebook(["import ipywidgets", "ipywidgets.IntSlider(value=3)"])
        notebook.run_all()
        expect(notebook.cell(1).locator(".widget-readout")).to_have_text("3")
        notebook.page.keyboard.press("ArrowRight")

`notebook.page` is Playwright's page; `playwright.sync_api.expect` waits for what a widget draws later. A list of cells
takes the place of that of the test before, in the same page and with the same kernel, which has forgotten everything
(`LabPage`); whoever changes Lab itself, its theme say, changes it back. Lab is painted if `painted=True` is given.
JupyterLab serves a temporary copy of notebooks/, so a test may edit and save; it starts once for all test files,
outside the repository, with the course's own configuration and none of the user's.

`show(stepper, ...)` puts steppers on a page of their own, without JupyterLab, and returns the page;
`launch_of(name)` runs a launch of tests/launches/samples.py, once a session, and `walk(name, ...)` shows it.

Also here: `lab` (the running server: `.url`, `.token`, `.folder`), `browser` (Playwright's Chromium), `visit()` (an
empty page for a test that goes to an address) and `new_page()` (an empty page in a context of its own). `drawn(root)`
waits for a stepper on such a page, and `stop_clock(page)` stops a clock that the test moves.

Without Chromium these tests skip and say how to get it; where the environment sets CI, they fail instead.
"""

import functools
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from lab_server import PATIENCE, Lab, jupyter_lab
from playwright.sync_api import BrowserContext, Locator, Page, expect, sync_playwright

import course_lib.trace.viewer
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

REPOSITORY = Path(__file__).parents[2]
# The headless shell draws the same without the windows of a whole browser: a page costs it a fifth.
CHROMIUM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: JupyterLab asks whether to show them; the question would cover a corner of what a test looks at.
NEWS = "@jupyterlab/apputils-extension:announcements"
expect.set_options(timeout=1000 * PATIENCE)
VIEWER = Path(course_lib.trace.viewer.__file__).parent
SHOWN = Path(__file__).with_name("shown.js").read_text(encoding="utf-8")
# As much of anywidget's model as the modules use.
MODEL = """const modelOf = (state) => {
    const listeners = {};
    return {
      get: (name) => state[name],
      set(name, value) {
        if (state[name] === value) return;
        state[name] = value;
        for (const listener of listeners[`change:${name}`] ?? []) listener();
      },
      on: (names, listener) => names.split(" ").forEach((name) => (listeners[name] ??= []).push(listener)),
      off() {},
      save_changes() {},
    };
  };"""
#: One widget; what it saves waits in `saved`.
ALONE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A widget</title>
<style>%(theme)s</style><style>%(css)s</style><main><h1>A widget</h1><div id="place"></div></main>
<script type="module">
  %(model)s
  const url = URL.createObjectURL(new Blob([%(esm)s], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const state = %(state)s;
  const model = modelOf(state);
  window.saved = [];
  model.save_changes = () => window.saved.push({ ...state });
  document.addEventListener("keydown", () => { window.leaked = true; });
  widget.render({ model, el: document.getElementById("place") });
</script>"""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">%(head)s<title>Stepper</title>
<style>%(theme)s</style><style>%(css)s</style><main><h1>A launch</h1>%(places)s</main>
<script type="module">
  %(model)s
  %(shown)s
  if (!window.widget) {
    const url = URL.createObjectURL(new Blob([%(esm)s], { type: "text/javascript" }));
    window.widget = (await import(url)).default;
  }
  window.undo = [];
  window.models = %(states)s.map((state, number) => {
    const model = modelOf(state);
    window.undo.push(window.widget.render({ model, el: document.getElementById(`place${number}`) }));
    return model;
  });
  window.model = window.models[0]; // for the test to speak in the kernel's place
</script>"""
#: A few frames, in which a stepper fits itself into a new size.
FITTED = "async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); }"
#: What a step is, as a reader chooses in the menu.
STATEMENTS = """() => {
  for (const { stepper } of document.querySelectorAll(".tt-root")) if (!stepper.comparesRuns) stepper.setUnit(2);
}"""
#: Remove what the test before showed: whatever follows would lay it out again.
CLEARED = "() => { window.undo?.forEach((undo) => undo()); document.body.replaceChildren(); }"
#: The colours of JupyterLab's themes, as far as the stepper uses them.
THEMES = {
    "light": "",
    "dark": """:root { --jp-layout-color1: #111111; --jp-layout-color2: #424242; --jp-border-color2: #616161;
  --jp-content-font-color1: rgba(255, 255, 255, 1); --jp-brand-color1: #2196f3;
  --jp-mirror-editor-keyword-color: #66bb6a; --jp-mirror-editor-number-color: #66bb6a; }
  body { background: #111111; color: #ffffff }""",
}


@dataclass(frozen=True)
class OpenNotebook:
    """A notebook that is open in JupyterLab, its kernel ready."""

    page: Page
    page_errors: list[str]

    def run_all(self) -> None:
        """Run all cells and wait until the last one is done."""
        finished = self.page.evaluate(
            """seconds => Promise.race([
                window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => true),
                new Promise(resolve => setTimeout(() => resolve(false), 1000 * seconds)),
            ])""",
            PATIENCE,
        )
        assert finished, f"the notebook still runs after {PATIENCE} s"

    def cell(self, index: int) -> Locator:
        """The cell with this index, Markdown cells counted too."""
        return self.page.locator(".jp-NotebookPanel:visible .jp-Notebook .jp-Cell").nth(index)

    def outputs(self, index: int) -> Locator:
        """What that cell shows below its code, one match per output."""
        return self.cell(index).locator(".jp-OutputArea-output")

    def cells(self) -> list[dict]:
        """The notebook's cells as JupyterLab holds them now (nbformat 4: cell_type, source, outputs...)."""
        return self.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.model.toJSON().cells")


def find_chromium(playwright) -> str | None:
    """The system's Chromium or Chrome; else the one `playwright install chromium` has put there."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    downloaded = playwright.chromium.executable_path
    return downloaded if Path(downloaded).exists() else None


@pytest.fixture(scope="session")
def chromium():
    """The browser's path. Playwright has stopped again: while it runs, so does its event loop, in every other test."""
    with sync_playwright() as playwright:
        path = find_chromium(playwright)
    if path is None:
        refuse = pytest.fail if os.environ.get("CI") else pytest.skip
        refuse(
            "no Chromium or Chrome found: install one (Debian: apt-get install chromium-headless-shell), "
            "or run: uv run playwright install chromium"
        )
    return path


def drawn(root: Locator) -> Locator:
    """Wait until a stepper has drawn and fitted the trace that it was told last: before, a key may find no focus."""
    root.wait_for()
    root.evaluate("root => root.stepper.drawn")
    return root


def stop_clock(page: Page) -> None:
    """From now on `page.clock.run_for` alone moves the page's clock; once installed, it also goes on by itself."""
    page.clock.install(time=0)
    page.clock.pause_at(1)


def violations(page, part=None, **options) -> list[str]:
    """What axe-core finds, a line an element: the rule, the element and what is wrong with it."""
    found = Axe().run(page, part, {"resultTypes": ["violations"], **options}).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary'][:200]}" for rule in found for node in rule["nodes"]
    ]


@pytest.fixture(scope="package")
def browser(chromium):
    """One for all tests of this folder, which run in one process (conftest.py at the top level)."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def lab(chromium, tmp_path_factory):
    """Needs the browser, so that without one nothing is started in vain."""
    folder, private = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("jupyter")
    shutil.copytree(REPOSITORY / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    quiet = private / "config" / "labconfig" / "page_config.json"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps({"disabledExtensions": {NEWS: True}}), encoding="utf-8")
    with jupyter_lab(folder, private, "--expose-app-in-browser") as running:
        yield running


def new_context(browser) -> BrowserContext:
    # animations start by themselves, but not for a reader who wants no motion
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(1000 * PATIENCE)
    return context


@pytest.fixture
def new_page(browser):
    contexts = []

    def new_page() -> Page:
        contexts.append(new_context(browser))
        return contexts[-1].new_page()

    yield new_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def visited(browser):
    """The context of the page of `visit`."""
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def visit(visited, request):
    """Empty the page that one test after another visits, at its usual size; it costs half as much as a `new_page`.

    The page lists its `errors` and what it `asked` for. A test that changes more than size, colours and network, say
    the clock, asks for a `new_page`.
    """
    failed = request.session.testsfailed
    listening = []

    def visit(offline: bool = False) -> Page:
        page = visited.pages[0] if visited.pages else visited.new_page()
        page.goto("about:blank")
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="null")
        visited.set_offline(offline)
        page.errors, page.asked = [], []
        listeners = {
            "pageerror": lambda error: page.errors.append(str(error)),
            "request": lambda request: page.asked.append(request.url),
        }
        for event, listener in listeners.items():
            page.on(event, listener)
            listening.append((page, event, listener))
        return page

    yield visit
    for page, event, listener in listening:
        page.remove_listener(event, listener)
    for page in visited.pages if request.session.testsfailed > failed else visited.pages[1:]:
        page.close()


@pytest.fixture(scope="session")
def launch_of():
    from launches.samples import launch

    return functools.cache(launch)


def resize(page: Page, size: tuple[int, int]) -> None:
    """Give a page a size, and its steppers time to fit themselves into it."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate(FITTED)


@pytest.fixture(scope="package")
def reused(browser):
    """A page for one test after another, made when the first needs it; the viewer's module stays, compiled."""
    context = new_context(browser)
    pages: list[Page] = []

    def reused() -> Page:
        if not pages or pages[0].is_closed():
            pages[:] = [context.new_page()]
        page = pages[0]
        page.evaluate(CLEARED)
        page.mouse.move(0, 0)
        return page

    yield reused
    context.close()


@pytest.fixture
def show(new_page, reused, request):
    """Put steppers on a page: `show(stepper, theme=..., size=(853, 480), _other=...)`; names of traits are states.

    `head` is HTML for the page's head. One page shows what one test after another puts there: a test that changes more
    than what is on it asks for its `own`. Only a `painted` page has pixels. Unless `all_of_them` are to be drawn, those
    in sight are. A step is a statement of any warp, or with ``frames`` a frame.
    """
    failed = request.session.testsfailed
    errors: list[str] = []
    shown: list[Page] = []

    def on_error(error) -> None:
        errors.append(str(error))

    def show(
        *steppers: Stepper | dict,
        theme: str = "",
        size: tuple[int, int] = (1280, 900),
        head: str = "",
        own: bool = False,
        painted: bool = False,
        all_of_them: bool = True,
        frames: bool = False,
        **more,
    ) -> Page:
        page = new_page() if own else reused()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.page_errors = errors
        page.on("pageerror", on_error)
        shown.append(page)
        names = ("_data", "_tiles", "tile_width", "step", "block", "thread")
        states = [s if isinstance(s, dict) else {name: getattr(s, name) for name in names} for s in steppers]
        page.set_content(
            PAGE
            % {
                "head": head,
                "model": MODEL,
                "shown": SHOWN,
                "theme": theme if painted else f"{theme} html {{ opacity: 0 }}",
                "css": (VIEWER / "stepper.css").read_text(encoding="utf-8"),
                "esm": json.dumps((VIEWER / "stepper.js").read_text(encoding="utf-8")),
                "states": json.dumps([state | more for state in states]),
                "places": "".join(f'<div id="place{number}"></div>' for number in range(len(states))),
            }
        )
        for number in range(len(states)) if all_of_them else [0]:
            if number:  # the first one is in sight
                page.evaluate("id => document.getElementById(id).scrollIntoView()", f"place{number}")
            page.locator(f"#place{number} :is(.tt-root, .tt-unreadable)").wait_for()
        if not frames:
            page.evaluate(STATEMENTS)
        page.evaluate(f"() => {{ scrollTo(0, 0); return ({FITTED})(); }}")
        assert page.page_errors == []
        return page

    yield show
    for page in shown:
        page.remove_listener("pageerror", on_error)
        if request.session.testsfailed > failed:  # who knows what it left behind
            page.close()


@pytest.fixture
def alone(visit):
    """Show the module of one widget, as `ALONE` says: `alone(widget, bundle, ("question", ...))`, with its traits."""

    def alone(widget, bundle, traits, theme: str = "") -> Page:
        page = visit()
        state = json.dumps({name: getattr(widget, name) for name in traits})
        css, esm = bundle.read("css"), json.dumps(bundle.read("js"))
        page.set_content(ALONE % {"theme": theme, "css": css, "model": MODEL, "esm": esm, "state": state})
        page.locator("#place > *").wait_for()
        return page

    return alone


@pytest.fixture
def walk(show, launch_of):
    """A page with a stepper, and the steps of its first block."""

    def walk(name, **state):
        run = launch_of(name)
        return show(Stepper(run), **state), Timeline(run.trace, (0, 0, 0))

    return walk


class LabPage:
    """A page of JupyterLab with one notebook in it, which takes the cells of one test after another.

    To load a page costs five seconds of processor time and to start a kernel three, so both stay, and the kernel
    forgets what it was told. Where it does not answer, it is started anew.
    """

    NAME = "notebooks/shared.ipynb"
    # What was imported stays in memory, of which the course's score is all that shows.
    FORGET = """\
import sys
if "ipywidgets" in sys.modules:
    sys.modules["ipywidgets"].Widget.close_all()
if "course_lib.exercises.progress" in sys.modules:
    sys.modules["course_lib.exercises.progress"].score().clear()
    sys.modules["course_lib.exercises.progress"].score.cache_clear()
get_ipython().reset()"""
    TAKE = """async ([notebook, code, seconds]) => {
      const panel = window.jupyterapp.shell.currentWidget;
      panel.content.model.fromJSON(notebook);
      panel.content.mode = "command";
      panel.content.activate();
      const forget = () => panel.sessionContext.session.kernel.requestExecute({ code, silent: true }).done;
      const late = new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
      if (!(await Promise.race([forget(), late]))) {
        await panel.sessionContext.restartKernel();
        await forget();
      }
    }"""
    OPEN = """path => {
      const kernel = { id: window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id };
      window.jupyterapp.commands.execute("docmanager:open", { path, kernel });
    }"""

    def __init__(self, browser, lab: Lab):
        self._context = new_context(browser)
        self.page = self._context.new_page()
        self.page_errors = []
        self.page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        nbformat.write(notebook_of([]), lab.folder / self.NAME)
        # A workspace of its own: otherwise JupyterLab first restores the tabs of the page before.
        workspace = f"test-{time.monotonic_ns()}"
        self.page.goto(f"{lab.url}lab/workspaces/{workspace}/tree/{self.NAME}?token={lab.token}")
        self._wait_for(self.NAME)

    def _wait_for(self, path: str) -> None:
        """Wait until a notebook is shown and its kernel is ready."""
        self.page.wait_for_function(
            """path => {
              const panel = window.jupyterapp?.shell.currentWidget;
              return panel?.context?.path === path && panel.sessionContext.session?.kernel?.status === 'idle';
            }""",
            arg=path,
            polling=200,
        )

    def take(self, sources: list[str]) -> None:
        """Put code cells in the place of those of the test before."""
        self.page_errors.clear()
        self.page.evaluate(self.TAKE, [notebook_of(sources), self.FORGET, 10])

    def open(self, path: str) -> None:
        """Open another notebook in a tab of its own, with the same kernel."""
        self.page_errors.clear()
        self.page.evaluate(self.OPEN, path)
        self._wait_for(path)
        self.page.locator(".jp-NotebookPanel:visible .jp-Notebook .jp-Cell").first.wait_for()

    def close_tab(self) -> None:
        """Close the tab that is shown."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.dispose()")
        self._wait_for(self.NAME)

    def close(self) -> None:
        self._context.close()


def notebook_of(sources: list[str]) -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture(scope="package")
def lab_pages(browser, lab):
    """The `LabPage` of all tests, none before the first; a test that failed takes it away."""
    pages: list[LabPage] = []
    yield pages
    for page in pages:
        page.close()


@pytest.fixture
def open_notebook(browser, lab, lab_pages, request):
    failed = request.session.testsfailed
    tabs = []

    def open_notebook(notebook: str | list[str], painted: bool = False) -> OpenNotebook:
        if not lab_pages:
            lab_pages.append(LabPage(browser, lab))
        (shared,) = lab_pages
        shared.page.evaluate("opacity => (document.documentElement.style.opacity = opacity)", int(painted))
        if isinstance(notebook, str):
            tabs.append(notebook)
            shared.open(f"notebooks/{notebook}")
        else:
            shared.take(notebook)
        return OpenNotebook(shared.page, shared.page_errors)

    yield open_notebook
    if request.session.testsfailed > failed:
        while lab_pages:
            lab_pages.pop().close()
    else:
        for _ in tabs:
            lab_pages[0].close_tab()
