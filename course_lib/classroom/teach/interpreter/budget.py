"""What one call may cost: a step for each node that is evaluated, and for each element that is made or read.

An operation pays before it begins, so that no value is larger than what is left, and memory is limited with time.
"""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any

import numpy as np

from ....simulator.line_limit import MOST_LINES, Endless

#: The steps of one call. `bounded`, by which `check` calls a function, counts ten instructions as a line.
MOST_STEPS = 10 * MOST_LINES
#: The bits of a whole number, as 2 ** 4000; no exercise needs more than 64.
MOST_BITS = 4_096
#: Calls of functions inside each other: Python's own limit, which also counts the calls below an answer.
DEEPEST = 1_000


class Unlisted(BaseException):
    """An answer uses what no table lists, so a person reads it; the message is a sentence.

    It is not an Exception, so that neither the answer nor what calls it takes it for an error of the answer.

    >>> Program("f", tuple(ast.parse("f = lambda x: x.to_bytes(2)").body), {})(None, (1,))
    Traceback (most recent call last):
    course_lib.classroom.teach.interpreter.budget.Unlisted: line 1: the grader does not evaluate `.to_bytes`, so a...
    """


class TooLarge(Unlisted):
    """An answer asks for more at once than the interpreter makes: Python might make it, so it is no error.

    >>> Program("f", tuple(ast.parse("f = lambda n: 2**n").body), {})(None, (5_000,))
    Traceback (most recent call last):
    course_lib.classroom.teach.interpreter.budget.TooLarge: line 1: ...a whole number of more than 4,096 bits...
    """


class StepBudget:
    """What is left of the steps of a call, and the line in which it is."""

    def __init__(self) -> None:
        self.left = MOST_STEPS
        self.line = 0

    def pay(self, steps: int) -> None:
        """Take steps from what is left; raise Endless if there are not so many."""
        self.left -= steps
        if self.left < 0:
            raise Endless(self.line)

    def room(self, elements: int) -> None:
        """Pay for the elements that an operation makes or reads; raise TooLarge if they are too many for one."""
        if elements > MOST_STEPS:
            raise self.too_large(f"more than {MOST_STEPS:,} elements at once")
        self.pay(elements)

    def bits(self, bits: int) -> None:
        """Pay for a whole number of so many bits; raise TooLarge if it has too many."""
        if bits > MOST_BITS:
            raise self.too_large(f"a whole number of more than {MOST_BITS:,} bits")
        self.pay(bits >> 6)

    def read(self, *values: Any) -> None:
        """Pay for all elements of these values, also of those inside them."""
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if isinstance(value, str | range):
                self.room(length(value))
            elif isinstance(value, np.ndarray):
                self.room(value.size)
            elif isinstance(value, dict):
                self.room(2 * len(value))
                waiting += [*value.keys(), *value.values()]
            elif isinstance(value, list | tuple | set | frozenset | KeysView | ValuesView | ItemsView):
                self.room(len(value))
                waiting += value
            elif isinstance(value, BaseException):
                waiting += value.args
            elif type(value) is int:
                self.pay(value.bit_length() >> 6)

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items, each for a step."""
        for item in items:
            self.pay(1)
            yield item

    def unlisted(self, what: str) -> Unlisted:
        """Return what to raise for something that no table lists."""
        return Unlisted(sentence(self.line, what))

    def too_large(self, what: str) -> TooLarge:
        """Return what to raise for something that is larger than the interpreter makes."""
        return TooLarge(sentence(self.line, what))


def sentence(line: int, what: str) -> str:
    """Return the sentence on something in a line that no table lists.

    >>> sentence(3, "`yield`")
    'line 3: the grader does not evaluate `yield`, so a person reads this answer.'
    """
    return f"line {line}: the grader does not evaluate {what}, so a person reads this answer."


def length(value: Any) -> int:
    """The number of elements; that of a range may be too large for Python's ``len``."""
    if isinstance(value, range):
        return max(0, -(-(value.stop - value.start) // value.step))
    return len(value)
