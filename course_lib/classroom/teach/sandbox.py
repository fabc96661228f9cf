"""Fresh processes with limits, in which answers are judged: one for each task, with a copy of a prepared interpreter.

A server, a child of the grader with an environment of its own and an empty folder, imports the course once. For each
task it forks a process, which the operating system limits in processor time, memory and files, which may only read the
course, with `walls` where there are any, and which ends with its task. A server that does not answer in time is ended
and replaced.
"""

import contextlib
import gc
import os
import pickle
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy

from . import calls, walls
from .limits import STANDARD, Limits, Stopped, in_fork, outcome, told

#: Bytes of a result: a verdict with a picture has some hundred thousand.
_MOST_BYTES = 8 << 20
#: The time on the clock, in processor seconds of a task: other work slows it down.
_PATIENCE = 6
#: Seconds more of the clock for what is done once for all answers to an exercise.
_PREPARING = 60
#: Seconds until the course is imported, on a machine that does much else.
_STARTING = 300
_READY = b"ready"


# ---- the server's side -----------------------------------------------------------------------------------------


def serve(executes: bool) -> None:
    """Answer each request by a line, until there are no more; ``executes`` as in `Limits`."""
    walls.hide()
    if Limits(executes=executes).runs:
        calls.start(executes)  # before the course is imported: it holds nothing of it
    from .judge import TASKS, prepare, ready  # the course: imported here, once

    prepare()
    gc.freeze()
    _reply(_READY)
    while True:
        try:
            nonce, name, arguments, limits = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if name == "judge":
            lesson, answers, *seed = arguments
            with contextlib.suppress(Exception):  # the process that judges meets the same fault, and names it
                for exercise in answers:
                    ready(exercise, lesson, *seed)
        _reply(nonce + forked(partial(TASKS[name], *arguments), limits).replace(b"\n", b" "))


def _reply(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def forked(task: Callable[[], Any], limits: Limits) -> bytes:
    """Do a task in a process of its own where the system can fork; return its `outcome`."""
    if not hasattr(os, "fork"):
        return outcome(task, limits)
    return in_fork(task, limits, _MOST_BYTES, _readable(), calls.connection())


def _readable() -> list[str]:
    """What a process that judges may read: Python, the packages and the course, and the fonts of a picture."""
    packages = {str(Path(module.__file__ or "").parents[1]) for module in (numpy, numba) if module.__file__}
    return [sys.base_prefix, sys.prefix, *packages, str(Path(__file__).parents[3]), "/usr/lib", "/lib", "/usr/share"]


# ---- the grader's side -----------------------------------------------------------------------------------------


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A server that does tasks, one after the other; replaced where it does not answer. Use ``with``."""

    def __init__(self, limits: Limits = STANDARD) -> None:
        self.limits = limits
        self._folder = tempfile.TemporaryDirectory()
        self._server: subprocess.Popen[bytes] | None = None
        self._reader = ThreadPoolExecutor(1)

    def __exit__(self, *error: object) -> None:
        """End the server and remove its folder."""
        self._end()
        self._reader.shutdown()
        self._folder.cleanup()

    def do(self, task: str, *arguments: Any) -> Any:
        """Return what the task returns; raise Stopped if it exceeds a limit, ValueError if the task raises it."""
        seconds = self.limits.seconds * _PATIENCE + (_PREPARING if task == "judge" else 0)
        server = self._server or self._begin()
        assert server.stdin is not None
        nonce = secrets.token_hex(16).encode()
        try:
            server.stdin.write(pickle.dumps((nonce, task, arguments, self.limits)))
            server.stdin.flush()
            line = self._reply(server, seconds)
        except BrokenPipeError:
            line = b""
        if not line.startswith(nonce):
            self._end()
            raise Stopped(f"it was not judged within {seconds:g} seconds, and its process was ended")
        return told(line.removeprefix(nonce))

    def _begin(self) -> subprocess.Popen[bytes]:
        self._server = server = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
            env=_environment(self._folder.name),
            start_new_session=True,
        )
        if self._reply(server, _STARTING) != _READY + b"\n":
            self._end()
            raise RuntimeError("the process that judges did not start; its error is above")
        return server

    def _command(self) -> list[str]:
        package = Path(__file__).parents[3]
        serving = f"from course_lib.classroom.teach.sandbox import serve; serve({self.limits.executes})"
        code = f"import sys; sys.path.insert(0, {str(package)!r}); {serving}"
        return [sys.executable, "-I", "-c", code]

    def _reply(self, server: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line of the server; none where it ended, or takes too long."""
        assert server.stdout is not None
        try:
            return self._reader.submit(server.stdout.readline).result(seconds)
        except TimeoutError:
            return b""

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        with contextlib.suppress(BrokenPipeError), server:  # which closes its pipes, and waits for it
            if hasattr(os, "killpg"):  # with the process of its task
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(server.pid, signal.SIGKILL)
            server.kill()


def _environment(folder: str) -> dict[str, str]:
    """Return the server's environment: without names, keys and settings of the person who grades."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {
        **kept,
        **single,
        "HOME": folder,
        "TMPDIR": folder,
        "MPLCONFIGDIR": folder,
        "PYTHONHASHSEED": "0",
        "LANG": "C.UTF-8",
    }
