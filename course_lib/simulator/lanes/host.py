"""The part of the engine that lanes and arrays use."""

from collections.abc import Sequence
from typing import Any, Protocol

from ..geometry import Launch
from .arrays import Array
from .loops import Steps
from .printed import Printed


class Host(Protocol):
    """The engine, as lanes and arrays see it."""

    launch: Launch
    arrays: Sequence[Array]  # those of global memory that the kernel may store to
    updates: bool  # it holds an atomic
    steps: Steps
    printed: Printed

    def tell(self, hook: str, *event: Any) -> None:
        """Report an event to the observers that override this hook."""

    def watch(self, array: Array) -> None:
        """Set the watchers of ``array``: the functions of observers that see each access to it."""

    def hears(self, hook: str) -> bool:
        """Whether an observer overrides this hook."""
