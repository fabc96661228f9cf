"""What one task may use of the machine, and a process of its own for it."""

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from . import walls

with contextlib.suppress(ImportError):  # Windows
    import resource


class Stopped(Exception):
    """A task exceeded a limit, or its process died; the message is a sentence."""


@dataclass(frozen=True)
class Limits:
    """The limits of one task: seconds of processor time, bytes of memory; ``student``: seconds of all tasks of one
    student; ``executes``: an answer is also executed where there are no walls."""

    seconds: int = 10
    memory: int = 1 << 30
    student: int = 60
    executes: bool = False

    @property
    def runs(self) -> bool:
        """Whether what comes from a student is executed or compiled: within walls, or because ``executes`` says so."""
        return self.executes or bool(walls.standing())


STANDARD = Limits()


class Fork:
    """A fork that answers requests, one after the other, within the limits of one task for all of them.

    ``begin`` is called in it, and returns what answers a request, a line without its end, by another one. Of the
    open descriptors it has only the one ``kept``.
    """

    def __init__(
        self, begin: Callable[[], Callable[[bytes], bytes]], limits: Limits, kept: int = 0, compiles: bool = False
    ) -> None:
        asked, self._asking = os.pipe()
        reading, replying = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            try:
                for low, high in pairwise((*sorted({2, asked, replying, max(kept, 2)}), 1 << 16)):
                    os.closerange(low + 1, high)  # `limit` replaces the inputs and outputs
                limit(limits, compiles)
                answer = begin()
                with os.fdopen(asked, "rb") as requests, os.fdopen(replying, "wb") as replies:
                    for request in requests:
                        replies.write(answer(request) + b"\n")
                        replies.flush()
            finally:
                os._exit(0)
        os.close(asked)
        os.close(replying)
        self._replies = os.fdopen(reading, "rb")

    def answer(self, request: bytes, most: int) -> bytes:
        """Return the reply, a line; or, without the line's end, ``most`` bytes of it and one, or what there is if the
        process died."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._asking, request + b"\n")
        return self._replies.readline(most + 1)

    def end(self) -> int:
        """End the process, if it has not died; return the signal that ended it, or 0."""
        os.close(self._asking)
        self._replies.close()
        os.kill(self._child, signal.SIGKILL)
        _, status = os.waitpid(self._child, 0)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def was_late(number: int) -> bool:
    """Whether a signal that ended a process was for its time."""
    return number in (signal.SIGXCPU, signal.SIGPROF, signal.SIGKILL)


def limit(limits: Limits, compiles: bool = False) -> None:
    """Limit this process, until it ends; its input and outputs are empty. One that ``compiles`` may write a file of
    some megabytes, and start processes."""

    def most(what: int, soft: int, hard: int) -> None:
        _, allowed = resource.getrlimit(what)
        hard = hard if allowed == resource.RLIM_INFINITY else min(hard, allowed)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(what, (min(soft, hard), hard))

    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(0, 2)
    most(resource.RLIMIT_CPU, limits.seconds, limits.seconds + 2)
    most(resource.RLIMIT_AS, limits.memory, limits.memory)
    size = 16 << 20 if compiles else 0  # no file can be written
    most(resource.RLIMIT_FSIZE, size, size)
    most(resource.RLIMIT_CORE, 0, 0)
    if not compiles:
        most(resource.RLIMIT_NPROC, 0, 0)
