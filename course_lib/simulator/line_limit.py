"""A call of a Python function with a limit for the lines that it executes."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

#: Limit for the lines that one call executes, including libraries: a median in NumPy takes about a hundred.
MOST_LINES = 100_000


class Endless(BaseException):
    """A call executes too many lines; not an Exception, so that the function does not catch it."""

    def __init__(self, line: int) -> None:
        self.line = line


def bounded(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the result of the call; raise Endless if it executes too many lines."""
    left, file = float(MOST_LINES), function.__code__.co_filename

    def look(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        nonlocal left
        # A loop on one line is a single line to Python 3.11: there its instructions are counted, ten for a line.
        frame.f_trace_opcodes = frame.f_code.co_filename == file
        left -= 0.1 if event == "opcode" else 1
        if left < 0 and frame.f_code.co_filename == file:
            raise Endless(frame.f_lineno)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        return function(*arguments)
    finally:
        sys.settrace(before)
