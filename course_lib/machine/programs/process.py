"""A process of a program: its launches are simulated (:mod:`stand_ins`, :mod:`launches`).

All that is known is written at once (:mod:`records`), so that nothing is lost if the process ends by ``os._exit`` or by
a signal. :mod:`start` begins with it, in each process of the program that imports numba.
"""

import contextlib
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from ...simulator.findings import LaunchError
from ...simulator.launch_shape import LaunchShape
from ...simulator.run import trimmed
from ...simulator.simulation import RUNNING
from ..simulated_launch import Simulated
from . import this_process
from .launches import Found, Launches, LaunchHandler, Policy, ScriptLaunch
from .records import RecordWriter
from .stand_ins import CUDASIM, without_device

#: The file of a program's folder with what was asked for.
REQUEST = "request"
#: What answers in place of numba is no part of the program's tracebacks.
_HERE = str(Path(__file__).parent)


@dataclass(frozen=True)
class Request:
    """How launches are judged, and what a launch raises."""

    handler: LaunchHandler = field(default_factory=LaunchHandler)
    policy: Policy = field(default_factory=Policy)
    max_steps: int | None = None


def begin(folder: Path, gpu: str) -> Callable[[], None]:
    """Simulate the launches of this process, and write what is found in them into a folder.

    ``gpu`` is the recorded GPU that the program asks for. Return what must be called before the process is ended in the
    middle of a launch.
    """
    os.environ.pop(CUDASIM, None)
    recorder = LaunchRecorder(RecordWriter(folder))
    this_process.run_by(recorder.simulated)
    this_process.put_in_place(without_device(this_process.launch, recorder.note, gpu))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.begin_forked)
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = show_exception
    return recorder.write_unfinished


def show_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an exception as Python does, without the files of this package in its traceback."""
    of_program = without_ours(trace)
    sys.__excepthook__(kind, error.with_traceback(of_program), of_program)


def without_ours(trace: TracebackType | None) -> TracebackType | None:
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


class LaunchRecorder:
    """The launches of this process, each written when it begins, when it has run and when it is judged."""

    def __init__(self, writer: RecordWriter) -> None:
        self.writer = writer
        self._request = writer.folder.joinpath(REQUEST).read_bytes()
        self._begin()

    def begin_forked(self) -> None:
        """Begin without launches in a process that was forked: the other one writes what was before."""
        self.writer.begin()
        self._begin()

    def _begin(self) -> None:
        self._one_by_one = threading.RLock()  # a program may launch in several threads
        self._written_states: dict[Any, Any] = {}
        self._running: ScriptLaunch | None = None
        vars(self).pop("_launches", None)

    @cached_property
    def _launches(self) -> Launches:
        """The launches; made for the first one, because a handler may import numba, which the program imports now."""
        request: Request = pickle.loads(self._request)
        return Launches(request.handler, request.policy, request.max_steps, begins=self._begins, keeps=self._write)

    def simulated(
        self, kernel: Any, grid: Any, block: Any, arguments: Sequence[Any], *, shared_bytes: int = 0, **settings: Any
    ) -> Simulated | None:
        """Simulate a launch, and write what is known of it. The ``settings`` are those of the command."""
        __tracebackhide__ = True  # pytest shows the line that launches
        with self._one_by_one:
            try:
                return self._launches.launch(kernel, grid, block, shared_bytes, arguments)
            finally:
                self._running = None
                self._write()
                counts = self._launches.number, self._launches.more, self._launches.refused
                self.writer.write("returned", *counts)

    def write_unfinished(self) -> None:
        """Write what is found so far in the launch that runs, because the process is ended."""
        own = self._running
        if own is None:
            return
        for finding in [each for judges in list(RUNNING) for judge in judges for each in judge.findings_so_far()]:
            key = own.code, finding.key
            known = self._launches.found.get(key)
            if known is None:
                self.writer.write("found", key, Found(own.code, finding, own.first))
            else:
                self.writer.write("launches", key, known.launches + 1)

    def note(self, said: str) -> None:
        """Write a sentence for the user, once."""
        if self._changed(("note", said), 1):
            self.writer.write("note", said)

    def _begins(self, launch: ScriptLaunch, grid: Any, block: Any) -> None:
        self._running = launch
        name = launch.name
        with contextlib.suppress(LaunchError):
            shape = LaunchShape.of(grid, block)
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
        before, self._written_states[key] = self._written_states.get(key), state
        return before is not state and (not isinstance(state, int) or before != state)
