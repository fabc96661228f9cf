"""A process in which notebooks are read and answers are judged, with limits of time and memory.

Nothing in it executes the text of a student: kernels are simulated, other functions are interpreted. But a file may be
slow to read, and a launch may be long or large. A task that exceeds a limit ends its process, and another process does
the next task.
"""

import contextlib
import io
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .judge import TASKS, prepare

with contextlib.suppress(ImportError):  # Windows has neither limit; there the clock alone ends a task
    import resource

#: The time on the clock, in processor seconds of a task: other work slows it down.
_PATIENCE = 6
#: Seconds more of the clock for what is done once for all answers to an exercise.
_PREPARING = 60
#: Seconds until the course is imported, on a machine that does much else.
_STARTING = 300
#: A process is replaced after so many tasks: what it caches of their kernels takes memory.
_TASKS = 200
_READY = b"ready\n"


class Stopped(Exception):
    """A task exceeded a limit, or its process died; the message is a sentence."""


@dataclass(frozen=True)
class Limits:
    """The limits of one task: seconds of processor time, bytes of memory."""

    seconds: int = 10
    memory: int = 1 << 30


STANDARD = Limits()


# ---- the process that judges -----------------------------------------------------------------------------------


def serve() -> None:
    """Answer each request by a line, until there are no more."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what is printed is no reply
    prepare()
    replies.write(_READY)
    while True:
        try:
            name, arguments, limits = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _limit(limits)
        replies.write(outcome(lambda: TASKS[name](*arguments), limits) + b"\n")  # noqa: B023  it is called here


def _limit(limits: Limits) -> None:
    """Let the system end this process after so many more seconds, and refuse it more memory than that."""
    if "resource" in globals():
        until = math.ceil(time.process_time()) + limits.seconds
        for what, most in ((resource.RLIMIT_CPU, until), (resource.RLIMIT_AS, limits.memory)):
            _, hard = resource.getrlimit(what)
            with contextlib.suppress(ValueError, OSError):  # macOS refuses some
                resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def outcome(do: Callable[[], Any], limits: Limits) -> bytes:
    """Return what ``do`` returns, or why it does not, as a line of JSON for `result_in`; without what it prints."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return json.dumps({"result": do()}, default=asdict).encode()
    except MemoryError:
        said = f"it needed more than {limits.memory >> 20:,} MiB of memory"
    except (ValueError, OSError) as error:
        return json.dumps({"error": str(error)[:500]}).encode()
    except Exception as error:  # whatever an answer does to the grader, the batch goes on
        said = f"the grader failed with {type(error).__name__}: {str(error)[:300]}"
    return json.dumps({"stopped": said}).encode()


def result_in(line: bytes) -> Any:
    """Return the result in a line of `outcome`; raise ValueError or Stopped if it says so."""
    match json.loads(line):
        case {"result": result}:
            return result
        case {"error": str(said)}:
            raise ValueError(said)
        case {"stopped": str(said)}:
            raise Stopped(said)
    raise Stopped("its process sent no answer")


# ---- the process that grades -----------------------------------------------------------------------------------


class Worker(contextlib.AbstractContextManager["Worker"]):
    """A process that does tasks, one after the other, replaced where it exceeds a limit. Use ``with``."""

    def __init__(self, limits: Limits = STANDARD) -> None:
        self.limits = limits
        self._folder = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[bytes] | None = None
        self._done = 0
        self._reader = ThreadPoolExecutor(1)

    def __exit__(self, *error: object) -> None:
        """End the process and remove its folder."""
        self._end()
        self._reader.shutdown()
        self._folder.cleanup()

    def do(self, task: str, *arguments: Any) -> Any:
        """Return what the task returns; raise Stopped if it exceeds a limit, ValueError if the task raises it."""
        seconds = self.limits.seconds * _PATIENCE + (_PREPARING if task == "judge" else 0)
        if self._done >= _TASKS:
            self._end()
        process = self._process or self._begin()
        assert process.stdin is not None
        self._done += 1
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(pickle.dumps((task, arguments, self.limits)))
            process.stdin.flush()
        line = self._reply(process, seconds)
        if line:
            return result_in(line)
        self._end()
        if line is None:
            raise Stopped(f"it was not judged within {seconds:g} seconds, and its process was ended")
        if process.returncode == -getattr(signal, "SIGXCPU", 0):
            raise Stopped(f"it needed more than {self.limits.seconds} seconds of processor time")
        raise Stopped(f"its process died with the status {process.returncode}")

    def _begin(self) -> subprocess.Popen[bytes]:
        self._process = process = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
            env=_environment(self._folder.name),
            start_new_session=True,  # an interrupt of the keyboard is for the process that grades
        )
        self._done = 0
        if self._reply(process, _STARTING) != _READY:
            self._end()
            raise RuntimeError("the process that judges did not start; its error is above")
        return process

    def _command(self) -> list[str]:
        package = Path(__file__).parents[3]
        code = f"import sys; sys.path.insert(0, {str(package)!r}); from {__name__} import serve; serve()"
        return [sys.executable, "-I", "-c", code]

    def _reply(self, process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """The next line of the process; an empty one where it ended, None where it takes too long."""
        assert process.stdout is not None
        try:
            line = self._reader.submit(process.stdout.readline).result(seconds)
        except TimeoutError:
            return None
        if not line:
            process.wait(seconds)
        return line

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(BrokenPipeError), process:  # which closes its pipes, and waits for it
                process.kill()


def _environment(folder: str) -> dict[str, str]:
    """Return the environment of the process: sets have the same order in each, and libraries start no threads."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    own = dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR"), folder)
    return {**kept, **single, **own, "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"}
