"""What is done with a module as soon as a program has imported it: standard library only, and no module of ours."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Called with a module that was imported.
Then = Callable[[ModuleType], object]


class ImportWatch(MetaPathFinder):
    """Finds nothing itself; it lets the other finders find some modules, and calls a function after each has run."""

    def __init__(self, thens: Mapping[str, Then]) -> None:
        self.thens = thens

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return what the other finders find, with the function to be called; None for any other module."""
        then = self.thens.get(name)
        if then is None:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    _call_after(spec.loader, then)
                return spec
        return None


def _call_after(loader: Any, then: Then) -> None:
    """Let a loader, which is that of one module, call a function when the module has run."""
    own = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        loader.exec_module = own
        own(module)
        then(module)

    loader.exec_module = exec_module


@contextlib.contextmanager
def when_imported(thens: Mapping[str, Then]) -> Iterator[None]:
    """Call functions with modules, by name: at once those that are imported, later ones when they are."""
    for name, then in thens.items():
        if name in sys.modules:
            then(sys.modules[name])
    watch = ImportWatch(thens)
    sys.meta_path.insert(0, watch)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(watch)
