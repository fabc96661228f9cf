"""Runs a program without a GPU, and collects what is found in its launches.

The program is what Python runs for the same words: ``python script.py`` or ``python -m module``, as a process of its
own. PYTHONPATH has the folder ``startup`` for it and its children, whose file Python imports at the start of each
(:mod:`start`); the rest is as it is.
"""

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from .. import measurements
from .launches import Found, Launches, ScriptLaunch
from .process import REQUEST, Request
from .records import LOST, alive, read
from .stand_ins import CUDASIM
from .start import FOLDER, MAIN, SETTINGS, WAS_STOPPED

#: Seconds between two looks at a program that has a limit.
POLL_SECONDS = 1.0
#: A process that does not stop itself, because a call into C keeps the interpreter's lock, is ended so much later.
GRACE_SECONDS = 15.0
#: Seconds for which a program of an own session may handle an interrupt.
INTERRUPT_SECONDS = 5.0
#: Seconds for which processes may still end after the main one, as workers do whose connection is closed.
LEAVING_SECONDS = 3.0
_STARTUP = Path(__file__).parent / "startup"
_SKIPPING_FAILURES = "import sys; sys.path.insert(0, sys.argv.pop(1)); from {} import run; del sys.path[0]; run()"
#: Signals that the command hands on to the program; where these are not, there is nothing to hand on.
_HANDED_ON = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2") if hasattr(signal, name)]
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


@dataclass(frozen=True)
class PythonProgram:
    """What is run, and how.

    Attributes:
        words: what follows ``python``: a script or ``-m`` and a module, and its arguments.
        gpu: the recorded one that it asks for.
        limit: seconds that it may run; None for any time. A program with a limit has a session of its own.
        apart: it has a session of its own, prints to stderr, and what it leaves running is ended.
        skip_failing: statements of the script that raise an exception are left out.
    """

    words: tuple[str, ...]
    gpu: str = measurements.DEFAULT_GPU
    limit: float | None = None
    apart: bool = False
    skip_failing: bool = False

    @property
    def script(self) -> str:
        """The script's file, as in its tracebacks; "" of a module."""
        return "" if self.words[0].startswith("-") else os.path.abspath(self.words[0])

    @property
    def command(self) -> list[str]:
        """What is executed."""
        if not self.skip_failing:
            return [sys.executable, *self.words]
        course = str(Path(__file__).parents[3])
        return [
            sys.executable,
            "-P",
            "-c",
            _SKIPPING_FAILURES.format(f"{__package__}.skip_failures"),
            course,
            *self.words,
        ]


@dataclass
class ProgramRun:
    """The launches of a program, and how it ended.

    Attributes:
        launches: those of all its processes.
        skipped: its statements that failed, if they are left out.
        notes: where it was told something else than a GPU tells.
        status: its exit status, as a shell gives it: of a signal, 128 and its number.
        stopped: where it was stopped after its time; empty if it was not.
        left: its processes that still run.
        lost: whether something that was found could not be written.
    """

    launches: Launches = field(default_factory=Launches)
    skipped: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    status: int = 0
    stopped: str = ""
    left: list[int] = field(default_factory=list)
    lost: bool = False


def run_program(program: PythonProgram, request: Request) -> ProgramRun:
    """Run a program to its end, judge its launches as the request says, and return what is known of them."""
    with tempfile.TemporaryDirectory(prefix="tile-by-tile-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings = {"gpu": program.gpu, "limit": program.limit, "script": program.script}
        folder.joinpath(SETTINGS).write_text(json.dumps(settings), encoding="utf-8")
        folder.joinpath(REQUEST).write_bytes(pickle.dumps(request))
        status, overdue = _run(program, folder)
        left = _left(folder, 0 if program.apart else LEAVING_SECONDS)
        stopped = _stopped(folder, program) or (
            f"The program ran for {program.limit:g} s and was ended; it did not say where it was" if overdue else ""
        )
        if left and (program.apart or stopped):
            for process in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, _KILL)
            left = []
        done = _collected(folder)
        done.lost = folder.joinpath(LOST).exists()
    done.status = 128 - status if status < 0 else status
    done.stopped, done.left = stopped, left
    return done


def _left(folder: Path, seconds: float) -> list[int]:
    """Return the processes that still run after so many seconds."""
    end = time.monotonic() + seconds
    while (left := alive(folder)) and time.monotonic() < end:
        time.sleep(POLL_SECONDS / 20)
    return left


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a program and of the processes that it starts."""
    path = os.pathsep.join(filter(None, (str(_STARTUP), os.environ.get("PYTHONPATH"))))
    own = {name: value for name, value in os.environ.items() if name != CUDASIM}
    return own | {FOLDER: str(folder), "PYTHONPATH": path}


def _run(program: PythonProgram, folder: Path) -> tuple[int, bool]:
    """Run the main process; return its status, and whether it was ended because it did not stop itself."""
    own_session = program.apart or program.limit is not None
    sys.stdout.flush()
    sys.stderr.flush()
    stdout = _stderr() if program.apart else None
    process = subprocess.Popen(program.command, stdout=stdout, env=environment(folder), start_new_session=own_session)
    begun = None
    overdue = False
    interrupts = _Interrupts(process, own_session)
    try:
        with _handled({signal.SIGINT: interrupts.handle} | dict.fromkeys(_HANDED_ON, interrupts.hand_on)):
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(POLL_SECONDS if own_session else None), overdue
                now = time.monotonic()
                if begun is None and folder.joinpath(MAIN).exists():
                    begun = now
                late = begun is not None and program.limit is not None and now > begun + program.limit + GRACE_SECONDS
                if late or (interrupts.first is not None and now > interrupts.first + INTERRUPT_SECONDS):
                    overdue = late
                    process.kill()
    finally:
        if program.apart or folder.joinpath(WAS_STOPPED).exists() or overdue:
            _signal(process, own_session, _KILL)
        process.wait()


def _stderr() -> int:
    """Return the file to which a program prints whose report is on stdout."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        return 2


class _Interrupts:
    """Signals of the command, which its program gets, too."""

    def __init__(self, process: subprocess.Popen[bytes], own_session: bool) -> None:
        self.process, self.own_session = process, own_session
        self.first: float | None = None  # when a program of an own session was first interrupted

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the program, unless the terminal does: its Ctrl-C is for all processes of the command's group."""
        if self.own_session:
            self.first = self.first or time.monotonic()
        if self.own_session or not _at_terminal():
            _signal(self.process, self.own_session, number)

    def hand_on(self, number: int, frame: FrameType | None) -> None:
        self.process.send_signal(number)


def _at_terminal() -> bool:
    """Whether the command is in the foreground of a terminal."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return os.name == "nt"  # where Ctrl-C is for all processes of the console


def _signal(process: subprocess.Popen[bytes], group: bool, number: int) -> None:
    """Send a signal to a process, or to the group that it leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if group and hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


@contextlib.contextmanager
def _handled(handlers: Mapping[signal.Signals, Any]) -> Iterator[None]:
    """Handle signals for a while; in a thread that is not the main one, leave them as they are."""
    before: dict[signal.Signals, Any] = {}
    try:
        with contextlib.suppress(ValueError):
            for number, handler in handlers.items():
                before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopped(folder: Path, program: PythonProgram) -> str:
    """Return where a program was when its time was over; "" if it was not."""
    try:
        (file, line), (other, line_of_other) = json.loads(folder.joinpath(WAS_STOPPED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    in_file = f" of {other or file}" if not program.script else ""
    if line:
        where = f"in line {line}{in_file}"
    elif line_of_other:
        where = f"at its end, while another thread was in line {line_of_other}{in_file}"
    else:
        where = "at its end, waiting for processes"
    return f"The program ran for {program.limit:g} s and was stopped {where}"


def _collected(folder: Path) -> ProgramRun:
    """Return what the records of a program's processes say."""
    done = ProgramRun()
    judged: dict[Any, ScriptLaunch] = {}
    found: dict[Any, Found] = {}
    running: dict[str, ScriptLaunch] = {}
    counts: dict[str, tuple[int, int, int]] = {}
    for kind, process, values in read(folder):
        match kind, values:
            case "begins", (launch,):
                running[process] = launch
            case "judged", (number, launch):
                judged[process, number] = launch
            case "times", (number, times) if (process, number) in judged:
                judged[process, number].times = times
            case "found", (key, each):
                found[process, key] = each
            case "launches", (key, number) if (process, key) in found:
                found[process, key].launches = number
            case "returned", (number, more, refused):
                running.pop(process, None)
                counts[process] = number, more, refused
            case "note", (said,):
                done.notes[said] = None
            case "skipped", (said,):
                done.skipped.append(said)
    launches = done.launches
    launches.every += judged.values()
    known = {(process, each.first.number) for (process, _), each in judged.items()}
    launches.every += [each for process, each in running.items() if (process, each.first.number) not in known]
    launches.number = sum(number for number, _, _ in counts.values()) + len(running)
    launches.more = sum(more for _, more, _ in counts.values())
    launches.refused = sum(refused for _, _, refused in counts.values())
    for each in found.values():
        before = launches.found.get((each.code, each.problem.key))
        if before is None:
            launches.found[each.code, each.problem.key] = each
        else:
            before.launches += each.launches
    return done
