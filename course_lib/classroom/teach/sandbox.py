"""Fresh processes with limits, in which answers are judged: one for each task, with a copy of a prepared interpreter.

A server, a child of the grader with an environment of its own and an empty folder, imports the course once. For each
task it forks a process, which the operating system limits in processor time, memory and files, which may only read the
course, with `walls` where there are any, and which ends with its task. A server that does not answer in time is ended
and replaced.
"""

import contextlib
import gc
import io
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy

from ...machine.compiler import build
from . import calls, walls
from .limits import STANDARD, Fork, Limits, Stopped

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
    """Answer requests, one a line, until there are no more; ``executes`` as in `Limits`."""
    walls.hide()
    if Limits(executes=executes).runs:
        calls.start(executes)  # before the course is imported: it holds nothing of it
    from ...exercises import EXERCISES  # the course: imported here, once
    from ...exercises.grading.routines import Routine
    from .cells import places
    from .judge import prepare, ready
    from .tasks import TASKS

    prepare()
    together = OneStudent()
    gc.freeze()
    _reply(_READY)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        limits = Limits(**request["limits"])
        task = TASKS[request["task"]]
        do = compiled if request["task"] == "time" else forked if hasattr(os, "fork") else _result
        if request["task"] != "judge":
            together.end()  # the answers of a student come after the reading of the notebook
        else:
            name, lesson, _, *seed = request["arguments"]
            with contextlib.suppress(Exception):  # the process that judges meets the same fault, and names it
                for each in places(lesson):
                    ready(each, lesson, *seed)
            if do is forked and not isinstance(EXERCISES[name], Routine):
                do = together.do
        _reply(request["nonce"].encode() + do(task, request["arguments"], limits))


def _reply(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _result(task: Any, arguments: list[Any], limits: Limits) -> bytes:
    """Do a task, and return a line of JSON, whatever happens."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # without a fork, replies go there
            return json.dumps({"result": task(*arguments)}).encode()
    except Stopped as stopped:
        return json.dumps({"stopped": str(stopped)}).encode()
    except MemoryError:
        return json.dumps({"stopped": f"it needed more than {limits.memory >> 20:,} MiB of memory"}).encode()
    except (ValueError, OSError) as error:
        return json.dumps({"error": str(error)[:500]}).encode()
    except BaseException as error:  # whatever an answer does to the grader, the batch goes on
        return json.dumps({"stopped": f"the grader failed with {type(error).__name__}: {str(error)[:300]}"}).encode()


def compiled(task: Any, arguments: list[Any], limits: Limits) -> bytes:
    """The same for a task that compiles: it may also run the disassembler, and write what that reads into one file.

    The file is removed with its folder after the task.
    """
    if not limits.runs:
        return json.dumps({"stopped": f"it was not compiled: {walls.NONE}"}).encode()
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, "kernel.cubin")
        own.touch()
        return forked(task, arguments, limits, own) if hasattr(os, "fork") else _result(task, arguments, limits)


def forked(task: Any, arguments: list[Any], limits: Limits, own: Path | None = None) -> bytes:
    """Do a task in a process of its own, with limits; return what `_result` says, or why there is none. One with a file
    of its ``own`` compiles."""
    fork = _fork(partial(task, *arguments), limits, own, calls.connection())  # a file of 100 MB is not sent
    reply = _answer(fork, [], limits)
    fork.end()
    return reply


def _fork(task: Any, limits: Limits, own: Path | None = None, kept: int = 0) -> Fork:
    """A process that does a task for each request, which are its arguments."""

    def begin() -> Callable[[bytes], bytes]:
        build.own = own
        if walls.standing():
            walls.build(_readable(), own, build.programs() if own else ())
        return lambda arguments: _result(task, json.loads(arguments), limits)

    return Fork(begin, limits, kept, compiles=own is not None)


def _answer(fork: Fork, arguments: list[Any], limits: Limits) -> bytes:
    try:
        return fork.answer(json.dumps(arguments).encode(), _MOST_BYTES, limits.seconds)
    except Stopped as stopped:
        return json.dumps({"stopped": str(stopped)}).encode()


class OneStudent:
    """A process for the answers of one student that are not executed, with the limits of one answer for each.

    One without a verdict ends it; unless it was the first, it is judged once more in a new process, where nothing is
    left of earlier ones.
    """

    _fork: Fork | None = None

    def do(self, task: Any, arguments: list[Any], limits: Limits) -> bytes:
        """Return what `_result` says about an answer, or why there is nothing."""

        def timed(*arguments: Any) -> Any:
            signal.setitimer(signal.ITIMER_PROF, limits.seconds)
            return task(*arguments)

        earlier = self._fork
        self._fork = earlier or _fork(timed, replace(limits, seconds=limits.student + limits.seconds))
        reply = _answer(self._fork, arguments, limits)
        if reply.startswith(b'{"result"'):
            return reply
        self.end()
        return self.do(task, arguments, limits) if earlier else reply

    def end(self) -> None:
        """End the process, before another student's turn."""
        if self._fork:
            self._fork.end()
        self._fork = None


def _readable() -> list[str]:
    """What a process that judges may read: Python, the packages and the course, and the fonts of a picture."""
    packages = {str(Path(module.__file__ or "").parents[1]) for module in (numpy, numba) if module.__file__}
    return [sys.base_prefix, sys.prefix, *packages, str(Path(__file__).parents[3]), "/usr/lib", "/lib", "/usr/share"]


# ---- the grader's side -----------------------------------------------------------------------------------------


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A server that does tasks, one after the other; replaced where it does not answer. Close it, or use ``with``."""

    def __init__(self, limits: Limits = STANDARD) -> None:
        self.limits = limits
        self._folder = tempfile.TemporaryDirectory()
        self._server: subprocess.Popen[bytes] | None = None
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and remove its folder."""
        self._end()
        self._folder.cleanup()

    def do(self, task: str, *arguments: Any) -> Any:
        """Return what the task returns; raise Stopped if it exceeds a limit, ValueError if the task raises it."""
        seconds = self.limits.seconds * _PATIENCE + (_PREPARING if task == "judge" else 0)
        if self._server is None:
            self._begin()
        assert self._server is not None and self._server.stdin is not None
        nonce = secrets.token_hex(16)
        request = {"task": task, "arguments": arguments, "limits": vars(self.limits), "nonce": nonce}
        try:
            self._server.stdin.write(json.dumps(request).encode() + b"\n")
            self._server.stdin.flush()
            line = self._reply(seconds)
        except BrokenPipeError:
            line = b""
        if not line.startswith(nonce.encode()):
            self._end()
            raise Stopped(f"it was not judged within {seconds:g} seconds, and its process was ended")
        reply = json.loads(line.removeprefix(nonce.encode()))
        if "error" in reply:
            raise ValueError(reply["error"])
        if "stopped" in reply:
            raise Stopped(reply["stopped"])
        return reply["result"]

    def _begin(self) -> None:
        self._server = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
            env=_environment(self._folder.name),
            start_new_session=True,
        )
        self._replies = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(self._server.stdout, self._replies), daemon=True).start()

        if self._reply(_STARTING) != _READY + b"\n":
            self._end()
            raise RuntimeError("the process that judges did not start; its error is above")

    def _command(self) -> list[str]:
        package = Path(__file__).parents[3]
        serving = f"from course_lib.classroom.teach.sandbox import serve; serve({self.limits.executes})"
        code = f"import sys; sys.path.insert(0, {str(package)!r}); {serving}"
        return [sys.executable, "-I", "-c", code]

    def _reply(self, seconds: float) -> bytes:
        """The next line of the server; none where it ended, or takes too long."""
        try:
            return self._replies.get(timeout=seconds)
        except queue.Empty:
            return b""

    def _end(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        assert server.stdin is not None
        if hasattr(os, "killpg"):  # with the process of its task
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(server.pid, signal.SIGKILL)
        server.kill()
        with contextlib.suppress(BrokenPipeError):
            server.stdin.close()
        server.wait()


def _listen(lines: Any, replies: queue.SimpleQueue[bytes]) -> None:
    with lines:
        for line in lines:
            replies.put(line)
    replies.put(b"")  # it ended


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
