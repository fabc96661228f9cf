"""The types that the measurements share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

#: One result of a recording, and a list of them: JSON-ready.
Result = dict[str, Any]
Results = list[Result]
#: (M, N, K).
Size = tuple[int, int, int]
#: The rungs or patterns to measure; None for all.
Names = Sequence[str] | None
Item = TypeVar("Item")


class Progress(Protocol):
    """Yields the items, and shows the progress."""

    def __call__(self, items: Iterable[Item], label: Callable[[Item], str]) -> Iterator[Item]: ...
