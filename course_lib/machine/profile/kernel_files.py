"""Kernels in files: a file is imported without a GPU, and the kernel is taken from it."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..patched_attributes import replaced
from ..programs.stand_ins import kernels_defined
from ..programs.statements import UsageError, compiled, error_in_words, left_out, place_of, skip_into


@dataclass(frozen=True)
class File:
    """An imported file. ``skipped`` says which of its statements failed, and why; ``ended``, which one ended it."""

    path: Path
    module: ModuleType
    skipped: tuple[str, ...] = ()
    ended: str = ""

    @property
    def failures(self) -> str:
        """What did not run, in words; empty if all of it did."""
        parts = [f"statements that fail are left out: {left_out(self.skipped, 3)}"] if self.skipped else []
        if self.ended:
            parts.append(
                f"it ended in {self.ended}; nothing after that ran (--skip-failing leaves out statements that raise an "
                "exception)"
            )
        return "; ".join(parts)

    def named(self, name: str) -> Any:
        """Return the object with this name, as ``kernel`` or ``Class.kernel``."""
        found: Any = self.module
        for part in name.split("."):
            if not hasattr(found, part):
                missing = f" ({self.failures})" if self.failures else ""
                raise UsageError(f"{self.path} has no {name!r}; {self._offers()}{missing}.")
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


def load(path: Path, words: Sequence[str] = (), skip_failing: bool = False) -> File:
    """Import a file of kernels. What it prints goes to stderr, and ``words`` are the arguments that the file reads.

    The file ends at the first statement that fails, as a launch does, for which there is no GPU: nothing after it runs.
    With ``skip_failing``, a statement that raises an exception is left out, and the next one runs; sys.exit() ends the
    file all the same.
    """
    code = compiled(path, str(path), skip_failing)
    module = ModuleType(f"profiled_{path.stem}")
    module.__file__ = str(path)
    module.__package__ = _package(path.resolve().parent)
    sys.modules.setdefault(module.__name__, module)
    skipped: list[str] = []
    ended = ""
    if skip_failing:
        skip_into(module, str(path), skipped.append)
    folder = str(path.resolve().parent)  # its files may be imported, as where Python runs it
    as_a_script = replaced(sys, argv=[str(path), *words])
    sys.path.insert(0, folder)
    try:
        with as_a_script, kernels_defined(), contextlib.redirect_stdout(sys.stderr):
            exec(code, vars(module))
    except (Exception, SystemExit) as error:
        ended = f"line {place_of(error, str(path))}, {error_in_words(error)}"
    finally:  # folders that the file itself adds stay: its functions may import from them later
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
    return File(path, module, tuple(skipped), ended)


def _package(folder: Path) -> str:
    """Return the package of the files in a folder, whose relative imports then work; "" if it is none.

    Packages that are not imported yet get their files alone: what their __init__ imports may need a GPU.
    """
    if not (folder / "__init__.py").is_file():
        return ""
    above = _package(folder.parent)
    package = f"{above}.{folder.name}" if above else folder.name
    if package not in sys.modules:
        sys.modules[package] = module = ModuleType(package)
        module.__path__ = [str(folder)]
    return package
