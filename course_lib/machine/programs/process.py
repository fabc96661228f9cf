"""The process of a program: a fresh interpreter, in which a script is what it is for ``python script.py``.

Its launches are simulated (:mod:`stand_ins`, :mod:`launches`), and all that is known is written at once
(:mod:`records`), so that nothing is lost if the program ends by ``os._exit`` or by a signal. :mod:`program` starts it.
"""

import contextlib
import copy
import os
import pickle
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from ...simulator.findings import LaunchError
from ...simulator.geometry import Launch
from ...simulator.run import trimmed
from .launches import Judge, Launches, ScriptLaunch
from .records import RecordWriter
from .stand_ins import without_device
from .statements import compiled, skip_into

#: The exit status of a program that was stopped after its time; the command has its own.
STOPPED = 2
#: What answers in place of numba is no part of the program's tracebacks.
_HERE = str(Path(__file__).parent)


#: What lives as long as the process: its launches.
_PROCESS: dict[str, "Kept"] = {}


@dataclass(frozen=True)
class Request:
    """A script to run, its arguments, the seconds that it may run, the GPU that it asks for, and how it is judged."""

    path: str
    words: Sequence[str]
    limit: float
    skip_failing: bool
    gpu: str
    max_steps: int | None
    judge: Judge


def main(request: Request, records: Path) -> None:
    """Run the script. What it prints goes to stderr; the process ends as the script does."""
    own = os.path.abspath(request.path)
    kept = _PROCESS["kept"] = Kept(RecordWriter(records), request, own)
    code = compiled(Path(request.path), own, request.skip_failing)
    module = ModuleType("__main__")
    vars(module).update(__file__=own, __cached__=None)
    sys.modules["__main__"] = module
    sys.argv[:] = [request.path, *request.words]
    sys.path.insert(0, os.path.dirname(os.path.realpath(own)))
    if request.skip_failing:
        skip_into(module, own, lambda said: kept.writer.write("skipped", said))
    kept.stack.enter_context(without_device(kept.launch, kept.note, request.gpu))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=kept.begin)
    kept.writer.write("runs")
    threading.Thread(target=stop, args=(request.limit,), daemon=True).start()
    _run(code, module)


def _run(code: CodeType, module: ModuleType) -> None:
    """Execute the script; end with the status that Python gives an exception, after the script's own hook."""
    try:
        exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException as error:
        trace = _of_program(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the files of this package."""
    kept = [each for each in _each(trace) if not each.tb_frame.f_code.co_filename.startswith(_HERE)]
    rest = None
    for each in reversed(kept):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


def _each(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


class Kept:
    """The launches of this process, each written when it begins, when it has run and when it is judged."""

    def __init__(self, writer: RecordWriter, request: Request, script: str) -> None:
        self.writer, self.script, self._request = writer, script, request
        self.stack = contextlib.ExitStack()  # never closed: threads and functions at the exit launch kernels, too
        self.begin()

    def begin(self) -> None:
        """Begin without launches, also in a process that was forked: the other one writes what was before."""
        self._one_by_one = threading.RLock()  # a program may launch in several threads
        judge = copy.copy(self._request.judge)
        self._launches = Launches(judge, self._request.max_steps, begins=self._begins, keeps=self._write)
        self._written: dict[Any, Any] = {}

    def launch(self, kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]) -> None:
        """Simulate a launch, and write what is known of it."""
        with self._one_by_one:
            try:
                self._launches.launch(kernel, grid, block, shared_bytes, arguments)
            finally:
                self._write()
                self.writer.write("returned", self._launches.number, self._launches.more)

    def note(self, said: str) -> None:
        """Write a sentence for the user, once."""
        if self._changed(("note", said), 1):
            self.writer.write("note", said)

    def _begins(self, launch: ScriptLaunch, grid: Any, block: Any) -> None:
        name = launch.name
        with contextlib.suppress(LaunchError):
            shape = Launch.of(grid, block)
            name = f"{name} [{trimmed(shape.grid)}, {trimmed(shape.block)}]"
        self.writer.write("begins", replace(launch, stopped=name))

    def _write(self) -> None:
        """Write what has changed: of launches and findings that are known, the number of times alone.

        A profile holds a trace, and a program may launch a kernel some thousand times.
        """
        for number, each in enumerate(self._launches.every):
            if self._changed(("judged", number), each.verdict or each.refused):
                self.writer.write("judged", number, each)
            if self._changed(("times", number), each.times):
                self.writer.write("times", number, each.times)
        for key, found in self._launches.found.items():
            if self._changed(("found", key), found.problem):
                self.writer.write("found", key, found)
            if self._changed(("launches", key), found.launches):
                self.writer.write("launches", key, found.launches)

    def _changed(self, key: Any, state: Any) -> bool:
        """Whether something is another object, or another number, than when this was asked before."""
        before, self._written[key] = self._written.get(key), state
        return before is not state and (not isinstance(state, int) or before != state)


def line_of(frame: FrameType | None, filename: str) -> int:
    """Return the innermost line of a file in the calls of a thread; 0 if there is none."""
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno


def stop(seconds: float) -> None:
    """End the process after so many seconds, wherever it is, and write where that was.

    Nothing is raised in the program: it could catch that.
    """
    threading.Event().wait(min(seconds, threading.TIMEOUT_MAX))
    kept = _PROCESS["kept"]
    frames = sys._current_frames()
    lines = {thread: line_of(frame, kept.script) for thread, frame in frames.items()}
    of_main = lines.pop(threading.main_thread().ident or 0, 0)
    kept.writer.write("stopped", of_main, max(lines.values(), default=0))
    os._exit(STOPPED)


def start() -> None:
    """Run the request of the file that the first argument names."""
    with open(sys.argv[1], "rb") as file:
        request = pickle.load(file)
    with contextlib.suppress(AttributeError):
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    main(request, Path(sys.argv[2]))
