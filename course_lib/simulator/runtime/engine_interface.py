"""The part of the engine that lanes and arrays use."""

from collections.abc import Sequence
from typing import Any

from ..launch_shape import LaunchShape
from .arrays import Array
from .loops import IterationBudget
from .printed import Printed


class EngineInterface:
    """The engine, as lanes and arrays see it."""

    launch: LaunchShape
    observers: Sequence[Any]
    listeners: dict[str, list[Any]]  # by hook: the methods of the observers that override it
    arrays: Sequence[Array]  # those of global memory that the kernel may store to
    updates: bool  # it holds an atomic
    budget: IterationBudget
    printed: Printed
    raised: Exception | None  # the first exception in which a thread ended

    def report(self, hook: str, *event: Any) -> None:
        """Report an event to the observers that override this hook."""
        for listener in self.listeners[hook]:
            listener(*event)

    def watch(self, array: Array) -> None:
        """Set the watchers of ``array``: the functions of observers that see each access to it."""
        array.watchers = tuple(
            watcher for watcher in (each.watch(array) for each in self.observers) if watcher is not None
        )
