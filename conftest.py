"""Profiles of the tests, the order in which they run, and how a lesson is executed.

nbval runs a lesson's cells from top to bottom. Pictures are compared too, which nbval leaves out. With `--nightly` the
cells run once more from bottom to top. A student goes back: after Run All every cell, run again and in any order, shows
what it showed before. In the second run each cell meets what all later cells left behind.
"""

from __future__ import annotations

import base64
import gc
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.manager import run_kernel
from nbformat import from_dict
from nbformat.v4 import new_code_cell
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams
from PIL import Image, ImageChops
from xdist.scheduler import LoadFileScheduling, Scheduling

import course_lib
from course_lib.trace.png import packed_in

#: Two pictures are the same if no more than this share of their pixels differs visibly: letters are drawn a little
#: differently from machine to machine.
MAY_DIFFER = 0.002
VISIBLY = 64

BROWSER = "tests/browser/"
#: Those of its files that mostly need JupyterLab.
LAB = tuple(f"{BROWSER}test_{name}.py" for name in ("exercises_lab", "lab", "links_lab", "stepper", "waiting_lab"))
#: Begun first, since they take longest: the files that are left in the end are short, and keep all workers busy.
LONGEST = (
    BROWSER,
    "tests/exercises",
    "notebooks",
    "tests/simulator/test_mutations.py",
    "tests/simulator/test_differential.py",
    "tests/classroom/publish",
    "tests/trace/viewer",
    "tests/kernels",
    "tests/machine/timing_model",
    "tests/machine/test_figures.py",
    "tests/classroom/teach",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="run everything: the default tests and the long ones")
    parser.addoption("--no-skips", action="store_true", help="a test that is skipped, or a file of tests, fails")


def pytest_configure(config: pytest.Config) -> None:
    """Set the profile before test modules are imported; worker processes inherit it."""
    gc.set_threshold(20_000, 20, 20)
    share_bytecode(config.rootpath / ".pytest_cache" / "bytecode")
    config.addinivalue_line("markers", "nightly: runs only with --nightly")
    if config.getoption("nightly"):
        os.environ["TILE_BY_TILE_PROFILE"] = "nightly"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _unless_skipped(report, item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _unless_skipped(report, collector.config)


def _unless_skipped(report: Any, config: pytest.Config) -> Any:
    """Return the report, as that of a failure if it is of a skip and ``--no-skips`` was given."""
    if report.skipped and config.getoption("no_skips") and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped: {report.longrepr}"
    return report


def share_bytecode(folder: Path) -> None:
    """Keep compiled modules in a folder of the tests' own if the environment says to write none beside the sources.

    Otherwise each of some forty processes compiles its packages again: `import numba` takes 2 s instead of 0.6.
    """
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """Leave imported modules and collected tests out of the search for garbage, which took 7 % of the time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the nightly tests to `--nightly`, and sort the files.

    The tests of one file keep their order, and their worker (`OneBrowser`).
    """
    if not config.getoption("nightly"):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]

    def place(item: pytest.Item) -> int:
        return next((rank for rank, start in enumerate(LONGEST) if item.nodeid.startswith(start)), len(LONGEST))

    items.sort(key=place)


class OneBrowser(LoadFileScheduling):
    """Scheduling by files, but two groups of browser tests: those that need JupyterLab, and the others.

    One worker runs a group, in one browser.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(LAB):
            return "JupyterLab"
        return BROWSER if nodeid.startswith(BROWSER) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    return OneBrowser(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, list[Any], list[Any]]:
    collected = yield
    kind = Lesson if file_path.parent.name == "notebooks" else Notebook
    for number, file in enumerate(collected):
        if isinstance(file, IPyNbFile):
            collected[number] = notebook = kind.from_parent(parent, path=file_path)
            if file_path.parent.name == "solutions":
                notebook.add_marker("nightly")  # by day tests/exercises checks the kernels of the solutions
    return collected


@cache
def kernel_server() -> subprocess.Popen[str]:
    """Return the process whose forks are this worker's kernels; it ends with the worker."""
    command = [sys.executable, "-P", str(Path(course_lib.__file__).parents[1] / "tests" / "kernel_server.py")]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


class ForkedKernel(RunningKernel):
    """A fresh kernel for one lesson, forked from `kernel_server`, which has imported the other packages."""

    def __init__(self, folder: Path, private: Path, timeout: float) -> None:
        file = private / "connection.json"
        self.channels = tempfile.TemporaryDirectory()  # a socket's path is short
        write_connection_file(
            str(file), transport="ipc", ip=f"{self.channels.name}/channel", key=os.urandom(16).hex().encode()
        )
        server = kernel_server()
        server.stdin.write(f"{file}\t{folder}\n")
        server.stdin.flush()
        self.process = int(server.stdout.readline())
        self.kc = BlockingKernelClient(connection_file=str(file))
        self.kc.load_connection_file()
        self.kc.start_channels(hb=False)  # on a busy machine a kernel that lives may miss heartbeats
        self.kc.wait_for_ready(timeout)

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """nbval lays out each message for a log that nobody reads, which takes a third of its time."""
        return getattr(self.kc, f"get_{stream}_msg")(timeout=timeout)

    def is_alive(self) -> bool:
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        return True

    def interrupt(self) -> None:
        os.kill(self.process, signal.SIGINT)

    def stop(self) -> None:
        self.kc.stop_channels()
        if self.is_alive():
            os.kill(self.process, signal.SIGKILL)
        self.channels.cleanup()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingKernelClient]:
    """The client of a fresh kernel, for tests of what a notebook's cells do there."""
    if sys.platform != "linux":
        with run_kernel() as started:
            yield started
        return
    kernel = ForkedKernel(tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("kernel"), 600)
    yield kernel.kc
    kernel.stop()


class Notebook(IPyNbFile):
    """A notebook whose kernel has sockets of its own.

    nbval starts a kernel with ports that were free a moment ago: of two workers that start one at the same time, one
    may take the other's.
    """

    def setup(self) -> None:
        if sys.platform != "linux":
            return super().setup()
        private = self.config._tmp_path_factory.mktemp("kernel")
        timeout = self.config.option.nbval_kernel_startup_timeout
        self.kernel = ForkedKernel(self.path.parent, private, timeout)
        self.setup_sanitize_files()


class Lesson(Notebook):
    """A notebook whose cells run twice in one kernel, the second time from the last to the first and only at night.

    After its last cell runs what holds the comparisons of its text, in ``tests/notebooks/comparisons``.
    """

    def collect(self) -> Iterator[Cell]:
        forth = list(super().collect())
        held = self.config.rootpath / "tests" / "notebooks" / "comparisons" / f"{self.path.stem}.py"
        if held.exists():
            alone = f"exec({held.read_text(encoding='utf-8')!r}, dict(globals()))"  # its names are its own
            cell = new_code_cell(alone)  # type: ignore[no-untyped-call]
            here = {"name": "comparisons", "cell_num": len(forth), "options": defaultdict(bool, check=True)}
            forth.append(IPyNbCell.from_parent(self, cell=cell, **here))
        for cells, again in ((forth, ""), (reversed(forth), ", run again")):
            for cell in cells:
                item = Cell.from_parent(
                    self, name=cell.name + again, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
                )
                item.output_timeout = 120  # seconds; a busy machine may be slow to deliver what a cell showed
                if again:
                    item.add_marker("nightly")
                yield item


class Cell(IPyNbCell):
    """A cell that shows what is stored, pictures included."""

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        same = super().compare_outputs(test, ref, skip_compare)
        shown, stored = pictures(test), pictures(ref)
        if len(shown) == len(stored) and all(map(same_picture, shown, stored)):
            return same
        self.comparison_traceback.append("another picture")
        return False


def different_cells(session: pytest.Session, path: Path, outputs: list[Any]) -> dict[str, str]:
    """Return what differs between the outputs of a notebook's code cells and those that are stored, by the cells' ids.

    outputs: for each cell those of another run, as they are stored.
    """
    notebook = Notebook.from_parent(session, path=path)
    notebook.setup_sanitize_files()
    found = {}
    for each, shown in zip(notebook.collect(), outputs, strict=True):
        cell = Cell.from_parent(notebook, name=each.name, cell_num=each.cell_num, cell=each.cell, options=each.options)
        raised = [output["evalue"] for output in shown if output["output_type"] == "error"]
        if raised and not cell.options["check_exception"]:
            found[cell.cell.id] = f"raises {raised[0]}"
        elif cell.options["check"]:
            run, stored = ([*map(from_dict, each)] for each in (shown, cell.cell.outputs))
            if not cell.compare_outputs(coalesce_streams(run), coalesce_streams(stored)):
                found[cell.cell.id] = "\n".join(map(str, cell.comparison_traceback))
    return found


def pictures(outputs: Any) -> list[str]:
    """The PNGs of a cell's outputs, in base64."""
    return [packed for output in outputs if (packed := packed_in(output.get("data", {}).get("text/html", "")))]


def same_picture(one: str, other: str) -> bool:
    """Whether two PNGs, in base64, look the same."""
    if one == other:
        return True
    first, second = (Image.open(io.BytesIO(base64.b64decode(data))).convert("RGBA") for data in (one, other))
    if first.size != second.size:
        return False
    difference = np.asarray(ImageChops.difference(first, second))
    return bool((difference.max(axis=-1) > VISIBLY).mean() <= MAY_DIFFER)
