"""Texts that a program executes: ``exec`` and ``eval`` keep them, so that a kernel in one can be read."""

import __future__

import builtins
import contextlib
import itertools
import linecache
import sys
from collections.abc import Iterator, Mapping
from typing import Any

#: Numbers the texts.
_TEXTS = itertools.count(1)
#: What a text takes over from the code that executes it.
_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_EXEC = builtins.exec
_EVAL = builtins.eval
_COMPILE = builtins.compile


def _kept(text: str) -> str:
    """Keep a text where :mod:`inspect` looks for it; return the name of its file."""
    file = f"<text {next(_TEXTS)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return file


def _defines(source: Any) -> bool:
    """Whether this may be a text with a function."""
    return isinstance(source, str) and ("def " in source or "lambda" in source)


def _compile(
    source: Any, filename: Any, mode: str, flags: int = 0, dont_inherit: bool = False, *rest: Any, **named: Any
) -> Any:
    """Compile as Python's own ``compile`` does; keep a text with a function that has no file."""
    if not dont_inherit:
        flags |= sys._getframe(1).f_code.co_flags & _FUTURE
    if _defines(source) and filename == "<string>" and mode in ("exec", "eval"):
        filename = _kept(source)
    return _COMPILE(source, filename, mode, flags, True, *rest, **named)


def _exec(
    source: Any,
    /,
    globals: dict[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    **closure: Any,
) -> None:
    """Execute code as Python's own ``exec`` does; keep a text with a function where :mod:`inspect` looks for it."""
    frame = sys._getframe(1)
    if globals is None:
        globals = frame.f_globals
        locals = frame.f_locals if locals is None else locals
    if _defines(source):
        source = _COMPILE(source, _kept(source), "exec", frame.f_code.co_flags & _FUTURE, dont_inherit=True)
    _EXEC(source, globals, globals if locals is None else locals, **closure)


def _eval(source: Any, /, globals: dict[str, Any] | None = None, locals: Mapping[str, Any] | None = None) -> Any:
    """Compute as Python's own ``eval`` does; keep a text with a lambda where :mod:`inspect` looks for it."""
    frame = sys._getframe(1)
    if globals is None:
        globals = frame.f_globals
        locals = frame.f_locals if locals is None else locals
    if _defines(source):
        source = source.lstrip(" \t")
        source = _COMPILE(source, _kept(source), "eval", frame.f_code.co_flags & _FUTURE, dont_inherit=True)
    return _EVAL(source, globals, globals if locals is None else locals)


@contextlib.contextmanager
def readable_texts() -> Iterator[None]:
    """Keep the texts that are executed, for a while."""
    before = builtins.exec, builtins.eval, builtins.compile
    builtins.exec = _exec
    builtins.eval = _eval
    builtins.compile = _compile
    try:
        yield
    finally:
        builtins.exec, builtins.eval, builtins.compile = before
