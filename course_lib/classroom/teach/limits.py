"""What one task may use of the machine, a process of its own for it, and the line of JSON that comes back."""

import contextlib
import io
import json
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from multiprocessing.connection import Pipe
from typing import Any

from . import walls

with contextlib.suppress(ImportError):  # Windows
    import resource


class Stopped(Exception):
    """A task exceeded a limit, or its process died; the message is a sentence."""


@dataclass(frozen=True)
class Limits:
    """The limits of one task: seconds of processor time, bytes of memory; ``executes``: an answer is also executed
    where there are no walls."""

    seconds: int = 10
    memory: int = 1 << 30
    executes: bool = False

    @property
    def runs(self) -> bool:
        """Whether what comes from a student is executed: within walls, or because ``executes`` says so."""
        return self.executes or bool(walls.standing())


STANDARD = Limits()


def outcome(do: Callable[[], Any], limits: Limits) -> bytes:
    """Return what ``do`` returns, or why it does not, as a line of JSON for `told`; what it prints is not shown."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return json.dumps({"result": do()}, default=asdict).encode()
    except Stopped as stopped:
        said = str(stopped)
    except MemoryError:
        said = f"it needed more than {limits.memory >> 20:,} MiB of memory"
    except (ValueError, OSError) as error:
        return json.dumps({"error": str(error)[:500]}).encode()
    except BaseException as error:  # whatever an answer does to the grader, the batch goes on
        said = f"the grader failed with {type(error).__name__}: {str(error)[:300]}"
    return json.dumps({"stopped": said}).encode()


def told(line: bytes) -> Any:
    """Return the result in a line of JSON; raise ValueError or Stopped if it says so, or is none of `outcome`'s."""
    match json.loads(line):
        case {"result": result}:
            return result
        case {"error": str(said)}:
            raise ValueError(said)
        case {"stopped": str(said)}:
            raise Stopped(said[:500])
    raise Stopped("its process sent no answer")


def in_fork(
    do: Callable[[], Any], limits: Limits, most: int, readable: Sequence[str] | None = None, kept: int = 0
) -> bytes:
    """Return the `outcome` of ``do`` in a fork with these limits, inside the walls that there are.

    It may read what `walls.build` lets it, and its only open descriptor is the one ``kept``. It was stopped if it says
    more than ``most`` bytes, or died.
    """
    here, there = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            for low, high in pairwise((*sorted({2, there.fileno(), max(kept, 2)}), 1 << 16)):
                os.closerange(low + 1, high)  # `limit` replaces the inputs and outputs
            limit(limits)
            if walls.standing():
                walls.build(readable)
            there.send_bytes(outcome(do, limits))
        finally:
            os._exit(0)
    there.close()
    said = ""
    try:
        with here:
            return here.recv_bytes(most)
    except EOFError:
        pass
    except OSError:
        said = f"its result has more than {most >> 10:,} KiB"
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if not said and number in (signal.SIGXCPU, signal.SIGKILL):
        said = f"it needed more than {limits.seconds} seconds of processor time"
    said = said or f"its process died ({signal.Signals(number).name if number else 'without a result'})"
    return json.dumps({"stopped": said}).encode()


def silence() -> None:
    """Let this process read nothing, and print to nobody."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def limit(limits: Limits) -> None:
    """Limit this process, until it ends; its input and outputs are empty."""
    silence()
    most = {resource.RLIMIT_CPU: limits.seconds, resource.RLIMIT_AS: limits.memory}
    most |= dict.fromkeys((resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC), 0)
    for what, soft in most.items():
        hard = soft + 2 if what == resource.RLIMIT_CPU else soft
        _, allowed = resource.getrlimit(what)
        if allowed != resource.RLIM_INFINITY:  # root could raise it
            hard = min(hard, allowed)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some
            resource.setrlimit(what, (min(soft, hard), hard))
