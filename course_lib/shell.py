"""The common part of all commands where they meet the shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps

#: The exit status of a command whose reader has ended, as a shell gives it: 128 + SIGPIPE.
UNREAD = 141
Main = Callable[[Sequence[str] | None], int]


def command(main: Main) -> Callable[..., int]:
    """Make a command end without a trace where the reader of what it prints has ended, as in ``command | head``."""

    @wraps(main)
    def run(arguments: Sequence[str] | None = None) -> int:
        try:
            try:
                return main(arguments)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it once more at its end
            return UNREAD

    return run
