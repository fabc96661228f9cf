"""Names: imported on first use, of packages that are not installed, and of the program itself."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package.

    Args:
        package: the package's name.
        homes: the module of each name, relative to the package, such as ``{"check": ".exercises"}``. A name that ends
            its own module is that module: ``{"figures": ".machine.figures"}``.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(homes[name], package)
        except ModuleNotFoundError as error:
            raise of_an_extra(error, f"{package}.{name}") from None
        thing = module if homes[name].rpartition(".")[2] == name else getattr(module, name)
        setattr(sys.modules[package], name, thing)
        return thing

    return get, lambda: sorted(homes)


class Fallback(MetaPathFinder):
    """Lets a finder of ours, which is imported then, find a package that no other finder finds.

    Args:
        package: the package's name.
        home: the module of the finder's class, and the class: ``course_lib.room.module:Class``.
    """

    def __init__(self, package: str, home: str) -> None:
        self.package, self._home = package, home
        self._finder: MetaPathFinder | None = None

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return how our finder loads a module of the package."""
        if name.partition(".")[0] != self.package:
            return None
        if self._finder is None:
            module, _, finder = self._home.partition(":")
            self._finder = getattr(import_module(module), finder)()
        return self._finder.find_spec(name, path, target)


def fall_back(package: str, home: str) -> None:
    """Let imports of a package that is not installed be answered by a finder of ours, asked after all others."""
    sys.meta_path.append(Fallback(package, home))


def called(command: str) -> str:
    """Return a command as it was called: ``tile-by-tile profile``, or ``python -m course_lib profile``."""
    words = sys.orig_argv
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    if not module.startswith(__package__):
        return f"tile-by-tile {command}".rstrip()
    return f"python -m {module} {'' if module.endswith(f'.{command}') else command}".rstrip()


def ended(name: str, run: Callable[[], int], more: type[Exception] = OSError) -> int:
    """Run a command and return its exit status; a file that cannot be read or written, an exception of the type
    ``more`` and Ctrl-C end it with one sentence after its ``name``."""
    try:
        return run()
    except BrokenPipeError:
        raise
    except (OSError, more) as error:
        said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
        print(f"{name}: {said}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130


#: Packages that are imported, and that an extra does not name, but the package here brings.
_BROUGHT_BY = {
    "IPython": "ipywidgets",
    "PIL": "matplotlib",
    "llvmlite": "numba",
    "nbclient": "nbconvert",
    "nbformat": "nbconvert",
    "traitlets": "ipywidgets",
}


def _rows_of(extra: str) -> list[str]:
    """Return what an extra of the installed course requires, with what the extras that it names require."""
    rows = [row.partition(";") for row in requires("tile-by-tile") or ()]
    own = [row.strip() for row, _, when in rows if re.search(rf"extra == .{extra}\b", when)]
    named = [re.fullmatch(r"tile-by-tile\[(.*)\]", row) for row in own]
    more = [row for found in named if found for other in found[1].split(",") for row in _rows_of(other.strip())]
    return list(dict.fromkeys([row for row, found in zip(own, named, strict=True) if not found] + more))


def install(extra: str) -> str:
    """Return what to type to install an extra's packages, in the project or outside: no index has the course itself."""
    if Path(__file__).parents[1].joinpath("pyproject.toml").is_file():
        return f"uv sync --extra {extra}"
    return "pip install " + " ".join(f'"{row}"' for row in _rows_of(extra))


def of_an_extra(error: ModuleNotFoundError, what: str) -> ModuleNotFoundError:
    """Return the error that says which extra ``what`` needs; ``error`` itself if no extra brings the package."""
    package = (error.name or "").partition(".")[0]
    named = _BROUGHT_BY.get(package, package)
    for extra in ("course", "lab", "teach") if named else ():
        if any(re.match(rf"{named}(?![\w-])", row) for row in _rows_of(extra)):
            says = f"{what} needs {package}, of the extra {extra}: {install(extra)}"
            return ModuleNotFoundError(says, name=error.name)
    return error


def is_missing(package: str) -> bool:
    """Whether a package can be imported neither from a file nor as a module that a program made."""
    return sys.modules.get(package) is None and find_spec(package) is None


def lacking(what: str, package: str) -> ModuleNotFoundError:
    """Return the error for a package that is missing, which says what needs it, and which extra brings it."""
    return of_an_extra(ModuleNotFoundError(f"No module named {package!r}", name=package), what)
