"""A limit on the time of a script that is run."""

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

#: A script that catches the exception is stopped so many times, and ended with the process then.
STRIKES = 5
#: Seconds between two of them, at most.
PAUSE = 1.0


class OutOfTime(BaseException):
    """A script ran for its whole time."""


@contextlib.contextmanager
def stopped_after(seconds: float, filename: str) -> Iterator[None]:
    """Raise OutOfTime where the code of ``filename`` is after so many seconds.

    A signal interrupts a call that waits, too. Windows has no such signal, and only the main thread gets one: elsewhere
    the exception comes at the next statement.
    """
    strikes = 0

    def strikes_at(frame: FrameType | None) -> bool:
        """Whether the code is running, and was not stopped too often."""
        nonlocal strikes
        while frame is not None and frame.f_code.co_filename != filename:
            frame = frame.f_back
        strikes += frame is not None
        if strikes > STRIKES:
            os.write(2, f"{filename} ran for {seconds:g} s and catches every exception; it is ended.\n".encode())
            os._exit(2)
        return frame is not None

    pause = min(seconds, PAUSE)
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():

        def handle(number: int, frame: FrameType | None) -> None:
            if strikes_at(frame):
                raise OutOfTime

        before = signal.signal(signal.SIGALRM, handle)
        timer = signal.setitimer(signal.ITIMER_REAL, seconds, pause)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, before)
        return

    thread, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            wait = pause
            if strikes_at(sys._current_frames().get(thread)):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTime))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
