"""The typed program of a kernel, from which code is generated.

A function consists of statements over expressions (:mod:`nodes`). Each statement has its source line; a variable has
one version for each of its types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .constants import Constants
from .nodes import Expr
from .reasons import Promotion, Why
from .source import Source
from .types import NONE, Type


@dataclass(frozen=True, eq=False)
class Block:
    """A list of statements; ``region`` is its number in the source (:mod:`regions`)."""

    region: int
    body: list[Stmt]
    ends: bool = False  # no lane reaches its end


@dataclass(frozen=True, eq=False)
class Convert:
    """Convert a variable from the type ``have`` to the type ``want``, where control flow merges."""

    name: str
    have: Type
    want: Type
    line: int


@dataclass(frozen=True, eq=False)
class Mark:
    """The start of a statement, for the trace."""

    line: int


@dataclass(frozen=True, eq=False)
class Assign:
    name: str
    value: Expr
    line: int
    region: int | None  # outside which the variable is not read


@dataclass(frozen=True, eq=False)
class Evaluate:
    """An expression that is evaluated only for its effect."""

    value: Expr


@dataclass(frozen=True, eq=False)
class If:
    test: Expr
    body: Block
    orelse: Block
    line: int


@dataclass(frozen=True, eq=False)
class Range:
    """``range(start, stop, step)`` in one integer type."""

    start: Expr
    stop: Expr
    step: Expr
    line: int


@dataclass(frozen=True, eq=False)
class Each:
    """The items of a tuple."""

    value: Expr
    line: int


@dataclass(frozen=True, eq=False)
class Numbered:
    inner: Iterable
    start: Expr


@dataclass(frozen=True, eq=False)
class Together:
    parts: tuple[Iterable, ...]


Iterable = Range | Each | Numbered | Together


@dataclass(eq=False)
class Loop:
    """A for loop (``iterable``) or a while loop (``test``).

    ``entry`` converts the variables from their types before the loop to those of an iteration. ``first`` are the
    statements of a for loop's iteration before the body. ``watched`` are the variables that a while loop assigns: if
    they do not change, it makes no progress. ``calls``: it calls device functions. ``endless``: only its breaks end it.
    """

    line: int
    entry: list[Stmt]
    iterable: Iterable | None
    test: Expr | None
    first: list[Stmt]
    body: Block
    orelse: Block | None
    endless: bool
    watched: tuple[tuple[str, Type], ...] | None
    calls: bool


@dataclass(frozen=True, eq=False)
class Break:
    pass


@dataclass(frozen=True, eq=False)
class Continue:
    pass


@dataclass(frozen=True, eq=False)
class Return:
    value: Expr
    line: int


Stmt = (
    Convert | Mark | Assign | Evaluate | If | Loop | Break | Continue | Return | Block
)  # a Block in a Block: a branch that is known to be taken


@dataclass(eq=False)
class Function:
    """A kernel or a device function, for given types of its arguments.

    ``foreign``: it is in another file than the kernel, so all its events are reported at the line of its call.
    ``partial``: some paths return nothing, so that a lane may not have the result.
    ``waits``: a thread may wait for others in one of its while loops, or in those of a function that it calls.
    ``unsure`` are the variables that are read where some path has not assigned them.
    """

    name: str
    source: Source
    kernel: bool
    foreign: bool
    parameters: list[tuple[str, Type]]
    constants: Constants
    body: Block = field(default_factory=lambda: Block(0, []))
    result: Type = NONE
    partial: bool = False
    result_why: Why = None
    barriers: bool = False
    waits: bool = False
    unsure: set[str] = field(default_factory=set)
    promotions: dict[tuple[int, str], Promotion] = field(default_factory=dict)


class CallDevice(Expr, acts=True):
    """A call of a device function; the arguments are evaluated in the order ``written``."""

    function: Function
    args: tuple[Expr, ...]
    written: tuple[int, ...]
    used: bool
    line: int


def _held(thing: object) -> Iterator[Any]:
    """The statements, iterables and expressions in ``thing``, in the order of fields; no part of an expression."""
    if isinstance(thing, (list, tuple)):
        for part in thing:
            yield from _held(part)
    elif isinstance(thing, Expr):
        yield thing
    elif isinstance(thing, (Stmt, Iterable)):
        yield thing
        yield from _held(tuple(vars(thing).values()))


def statements(body: list[Stmt]) -> Iterator[Stmt]:
    """All statements of ``body``, at any depth."""
    return (part for part in _held(body) if isinstance(part, Stmt))


def expressions(body: list[Stmt]) -> Iterator[Expr]:
    """All expressions of ``body``, each once."""
    return subexpressions(part for part in _held(body) if isinstance(part, Expr))


def subexpressions(nodes: Iterator[Expr]) -> Iterator[Expr]:
    """The expressions and all expressions inside them, each once."""
    seen: set[int] = set()
    for node in nodes:
        left = [node]
        while left:
            next_one = left.pop()
            if id(next_one) not in seen:
                seen.add(id(next_one))
                yield next_one
                left += reversed(next_one.operands)
