"""The file of a program: it is compiled as a whole, also with statements that may fail."""

import ast
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType

from .host_api import NeedsGPU

#: The function that a statement's failure calls, by a name that no file has.
_SKIP = "__skip_statement__"


class UsageError(Exception):
    """A request that cannot be done; the message is one sentence for the user."""


def left_out(skipped: Sequence[str], most: int) -> str:
    """Return the first statements that failed, and how many more there are."""
    more = f" (and {len(skipped) - most} more)" if len(skipped) > most else ""
    return "; ".join(skipped[:most]) + more


def compiled(path: Path, filename: str, skip_failing: bool = False) -> CodeType:
    """Compile a file as that of ``filename``; raise UsageError if it is none, or no Python.

    With ``skip_failing``, a statement that raises an exception calls what :func:`skip_into` defines.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    try:
        tree = ast.parse(path.read_bytes(), filename)
        return compile(_with_guards(tree) if skip_failing else tree, filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise UsageError(
            f"{path}{f', line {error.lineno},' if error.lineno else ''} is not Python: {error.msg}."
        ) from None
    except ValueError:
        raise UsageError(f"{path} is no Python file.") from None


def skip_into(module: ModuleType, filename: str, tell: Callable[[str], object]) -> None:
    """Let a module that :func:`compiled` made of statements that may fail tell of each that does."""

    def skip(line: int) -> None:
        error = sys.exception()
        if not isinstance(error, Exception):
            raise
        place = place_of(error, filename)
        tell(f"line {place}{'' if place == line else f', called from line {line}'}, {error_in_words(error)}")

    vars(module)[_SKIP] = skip


def place_of(error: BaseException, filename: str) -> int:
    """Return the line of a file where it was when an error was raised: the innermost one. 0 if it was nowhere in it."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == filename]
    return lines[-1] if lines else 0


def _with_guards(tree: ast.Module) -> ast.Module:
    """Return a file in which a statement that fails calls ``_SKIP`` with its line, and the next one runs.

    It is compiled as a whole: what a name means in the rest of it changes the code of its functions.
    """
    body: list[ast.stmt] = []
    for statement in tree.body:
        from_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if from_future or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            body.append(statement)  # a docstring and these come first
            continue
        (guard,) = ast.parse(f"try:\n    pass\nexcept:\n    {_SKIP}({statement.lineno})").body
        assert isinstance(guard, ast.Try)
        guard.body = [statement]
        body.append(guard)
    return ast.Module(body, [])


def error_in_words(error: BaseException) -> str:
    if type(error).__name__ == "CudaSupportError":
        return "which needs a GPU"
    if isinstance(error, NeedsGPU):
        return str(error)
    return f"{type(error).__name__}: {textwrap.shorten(str(error), 240).rstrip('.')}".removesuffix(": ")
