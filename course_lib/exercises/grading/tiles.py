"""The width of the tiles that an exercise's blocks compute, in the course or in a student's variant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Blocks are 8×8 threads, two warps, so that a missing barrier between warps has an effect.
TILE = 8
_WIDTH = ContextVar("the width of the tiles", default=TILE)


def width() -> int:
    """The width of the tiles that are judged now: `TILE`, or that of a student's variant."""
    return _WIDTH.get()


@contextmanager
def tiles_of(other: int) -> Iterator[None]:
    """Judge with tiles and blocks of another width, where an exercise names no other size."""
    token = _WIDTH.set(other)
    try:
        yield
    finally:
        _WIDTH.reset(token)
