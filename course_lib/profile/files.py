"""Kernels in files: a file is imported without a GPU, and the kernel is taken from it."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any


class UsageError(Exception):
    """What was asked for cannot be done; the message is one sentence for the person who asked."""


@dataclass(frozen=True)
class File:
    """An imported file. ``failure`` says where its import ended too early; what stands before that line is there."""

    path: Path
    module: ModuleType
    failure: str = ""

    def named(self, name: str) -> Any:
        """Return the object with this name, as ``kernel`` or ``Class.kernel``."""
        found: Any = self.module
        for part in name.split("."):
            if not hasattr(found, part):
                raise UsageError(f"{self.path} has no {name!r}; {self._offers()}{self._ended()}.")
            found = getattr(found, part)
        return found

    def kernel(self, name: str) -> Any:
        """Return the kernel, or the plain function, with this name."""
        found = self.named(name)
        if not isinstance(getattr(found, "py_func", found), FunctionType):
            raise UsageError(f"{name!r} in {self.path} is no kernel ({type(found).__name__}); {self._offers()}.")
        return found

    def _offers(self) -> str:
        kernels = [name for name, thing in vars(self.module).items() if _is_kernel(thing)]
        return f"its kernels are {', '.join(kernels)}" if kernels else "no function in it is decorated with @cuda.jit"

    def _ended(self) -> str:
        return f" ({self.failure})" if self.failure else ""


def _is_kernel(thing: Any) -> bool:
    """Whether this is a dispatcher of numba's that a host can launch."""
    plain = getattr(thing, "py_func", None)
    return isinstance(plain, FunctionType) and not getattr(thing, "targetoptions", {}).get("device")


def split(target: str) -> tuple[Path, str]:
    """Return the file and the kernel of ``my_kernel.py:kernel``."""
    path, _, name = target.rpartition(":")
    if not path or not name:
        raise UsageError(f"Name a file and the kernel in it, as my_kernel.py:kernel, not {target!r}.")
    return Path(path), name


def load(path: Path) -> File:
    """Import a file of kernels. What it prints goes to stderr.

    A file that launches its kernels at once fails without a GPU; what it defined before that is kept.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    name = f"profiled_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    failure = ""
    with _neighbours(path.parent), _signatures_wait(), contextlib.redirect_stdout(sys.stderr):
        try:
            spec.loader.exec_module(module)
        except SyntaxError as error:
            raise UsageError(f"{path}, line {error.lineno}, is not Python: {error.msg}.") from None
        except (Exception, SystemExit) as error:
            failure = f"its import ended {_line_of(error, path)}{_said(error)}"
    return File(path, module, failure)


def _line_of(error: BaseException, path: Path) -> str:
    lines, at = [], error.__traceback__
    while at is not None:
        if Path(at.tb_frame.f_code.co_filename) == path:
            lines.append(at.tb_lineno)
        at = at.tb_next
    return f"in line {lines[0]}, " if lines else ""


def _said(error: BaseException) -> str:
    """Return an error in one line."""
    if type(error).__name__ == "CudaSupportError":
        return "which needs a GPU"
    return f"with {type(error).__name__}: {textwrap.shorten(str(error), 100)}"


@contextlib.contextmanager
def _neighbours(folder: Path) -> Iterator[None]:
    """Let a file import the files beside it, as it can where Python runs it."""
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))


@contextlib.contextmanager
def _signatures_wait() -> Iterator[None]:
    """Let ``@cuda.jit`` with a signature compile nothing: that would need a GPU's driver.

    The simulator reads signatures from the source.
    """
    from numba import cuda

    original = cuda.jit

    def jit(function: Any = None, *others: Any, **options: Any) -> Any:
        if isinstance(function, FunctionType):
            return original(function, *others, **options)
        return original(**{name: value for name, value in options.items() if name != "signature"})

    cuda.jit = jit
    try:
        yield
    finally:
        cuda.jit = original
