"""Runs a script as a program of its own, without a GPU, for a limited time, and collects the launches that it makes.

The program is a process (:mod:`process`) of an own session: when it ends, what it started and left running is ended,
too, so that nothing outlives the command.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import measurements
from .launches import Found, Judge, Launches, ScriptLaunch
from .process import Request
from .records import read
from .statements import compiled

#: How long a script may run, in seconds.
SECONDS = 120.0
#: Seconds between two looks at a program that runs.
LOOK = 1.0
#: A process that does not stop itself, because a call into C keeps the interpreter's lock, is ended so much later.
GRACE = 15.0
#: Seconds for which a program may handle an interrupt.
HANDLES = 5.0
_PACKAGES = Path(__file__).parents[3]
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {} import start; del sys.path[0]; start()"


@dataclass
class ScriptRun:
    """The launches of a script, and how it ended.

    Attributes:
        launches: those of all its processes.
        skipped: its statements that failed, if they are left out.
        notes: where it was told something else than a GPU tells.
        status: its exit status, as a shell gives it: of a signal, 128 and its number.
        stopped: where it was stopped after its time; empty if it was not.
    """

    launches: Launches = field(default_factory=Launches)
    skipped: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    status: int = 0
    stopped: str = ""


def run_script(
    path: Path,
    *,
    gpu: str = measurements.DEFAULT_GPU,
    limit: float = SECONDS,
    words: Sequence[str] = (),
    skip_failing: bool = False,
    max_steps: int | None = None,
    judge: Judge | None = None,
) -> ScriptRun:
    """Run a script with the arguments ``words`` for at most ``limit`` seconds, and judge its launches.

    ``judge`` and ``max_steps`` are those of :class:`Launches`. With ``skip_failing``, statements of the script that
    raise an exception are left out. Raises UsageError for a file that is no Python.
    """
    compiled(path, str(path))
    with tempfile.TemporaryDirectory(prefix="tile-by-tile-", ignore_cleanup_errors=True) as folder:
        request, records = Path(folder, "request"), Path(folder, "records")
        asked = Request(str(path), tuple(words), limit, skip_failing, gpu, max_steps, judge or Judge())
        request.write_bytes(pickle.dumps(asked))
        status, overdue = _run(request, records, limit)
        done = _collected(records, limit)
    done.status = 128 - status if status < 0 else status
    if overdue and not done.stopped:
        done.stopped = f"The script ran for {limit:g} s and was ended; it did not say where it was"
    return done


def _run(request: Path, records: Path, limit: float) -> tuple[int, bool]:
    """Run the process; return its status, and whether it was ended because it did not stop itself."""
    start = _START.format(f"{__package__}.process")
    command = [sys.executable, "-P", "-c", start, str(_PACKAGES), str(request), str(records)]
    sys.stdout.flush()
    sys.stderr.flush()
    process = subprocess.Popen(command, stdout=_stderr(), stderr=_stderr(), start_new_session=True)
    begun, overdue = None, False
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(LOOK), overdue
            now = time.monotonic()
            if begun is None and records.exists() and records.stat().st_size:
                begun = now
            if begun is not None and now > begun + limit + GRACE:
                overdue = True
                process.kill()
    except KeyboardInterrupt:
        _signal(process, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(HANDLES), False
        return -signal.SIGINT, False
    finally:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait()


def _stderr() -> int:
    """Return the file to which a program prints: stdout is the report's."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return 2


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a process and to those that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _collected(records: Path, limit: float) -> ScriptRun:
    """Return what a program's records say of it."""
    done = ScriptRun()
    judged: dict[Any, ScriptLaunch] = {}
    found: dict[Any, Found] = {}
    running: dict[int, ScriptLaunch] = {}
    counts: dict[int, tuple[int, int]] = {}
    for kind, process, values in read(records):
        match kind, values:
            case "begins", (launch,):
                running[process] = launch
            case "judged", (number, launch):
                judged[process, number] = launch
            case "times", (number, times):
                judged[process, number].times = times
            case "found", (key, each):
                found[process, key] = each
            case "launches", (key, number):
                found[process, key].launches = number
            case "returned", (number, more):
                running.pop(process, None)
                counts[process] = number, more
            case "note", (said,):
                done.notes[said] = None
            case "skipped", (said,):
                done.skipped.append(said)
            case "stopped", (line, of_thread):
                where = f"in line {line}" if line else _at_its_end(of_thread)
                done.stopped = f"The script ran for {limit:g} s and was stopped {where}"
    launches = done.launches
    launches.every += judged.values()
    known = {(process, each.first.number) for (process, _), each in judged.items()}
    launches.every += [each for process, each in running.items() if (process, each.first.number) not in known]
    launches.number = sum(number for number, _ in counts.values()) + len(running)
    launches.more = sum(more for _, more in counts.values())
    for each in found.values():
        before = launches.found.setdefault((each.code, each.problem.key), replace(each, launches=0))
        before.launches += each.launches
    return done


def _at_its_end(line: int) -> str:
    """Return for what a script waits that has run all of its statements; ``line`` is that of another thread."""
    return f"at its end, while another thread was in line {line}" if line else "at its end, waiting for processes"
