"""What one task may use of the machine, and a process of its own for it."""

import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Pipe

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
        """Whether what comes from a student is executed: within walls, or because ``executes`` says so."""
        return self.executes or bool(walls.standing())


STANDARD = Limits()


def in_fork(do: Callable[[], bytes], limits: Limits, most: int, kept: int = 0) -> bytes:
    """Return what ``do`` returns in a fork with these limits, whose only open descriptor is the one ``kept``.

    Raise Stopped if that is more than ``most`` bytes, or the process died.
    """
    here, there = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            for low, high in pairwise((*sorted({2, there.fileno(), max(kept, 2)}), 1 << 16)):
                os.closerange(low + 1, high)  # `limit` replaces the inputs and outputs
            limit(limits)
            there.send_bytes(do())
        finally:
            os._exit(0)
    there.close()
    try:
        with here:
            return here.recv_bytes(most)
    except EOFError:
        pass
    except OSError:
        raise Stopped(f"its result has more than {most >> 20} MiB") from None
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGXCPU, signal.SIGKILL):
        raise Stopped(f"it needed more than {limits.seconds} seconds of processor time")
    raise Stopped(f"its process died ({signal.Signals(number).name if number else 'without a result'})")


def limit(limits: Limits) -> None:
    """Limit this process, until it ends; its input and outputs are empty."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(0, 2)
    most = {resource.RLIMIT_CPU: limits.seconds, resource.RLIMIT_AS: limits.memory}
    most |= dict.fromkeys((resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC), 0)
    for what, soft in most.items():
        hard = soft + 2 if what == resource.RLIMIT_CPU else soft
        _, allowed = resource.getrlimit(what)
        if allowed != resource.RLIM_INFINITY:  # root could raise it
            hard = min(hard, allowed)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(what, (min(soft, hard), hard))
