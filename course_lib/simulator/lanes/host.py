"""What lanes and arrays ask of the engine that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..geometry import Launch
from .arrays import Array
from .loops import Steps
from .printed import Printed


class Host(Protocol):
    """The engine, as what it runs sees it."""

    launch: Launch
    arrays: Sequence[Array]  # those of global memory that the kernel may store to
    updates: bool  # it holds an atomic
    steps: Steps
    printed: Printed

    def tell(self, hook: str, *event: Any) -> None:
        """Pass an event on to the observers that have this hook."""

    def watch(self, array: Array) -> None:
        """Ask the observers who of them is to see each access of ``array``."""

    def hears(self, hook: str) -> bool:
        """Does an observer have this hook?"""
